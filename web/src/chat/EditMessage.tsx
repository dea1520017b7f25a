// SPDX-License-Identifier: Apache-2.0
// Edits a message in place. An edited user message is sent and answered again; an edited answer is only
// changed.
import { useEffect, useRef, useState } from "react";
import type { Entry } from "../api/types";
import { Button, toastError } from "../ui";
import { useRoom } from "./runtime";
import { useChatUi } from "./ui";

export function EditMessage({ entry }: { entry: Entry }) {
  const room = useRoom();
  const busy = room.store((s) => s.busy.has("edit:" + entry.id));
  const [text, setText] = useState(entry.text);
  const field = useRef<HTMLTextAreaElement>(null);

  useEffect(() => {
    const one = field.current!;
    one.focus({ preventScroll: true });
    one.setSelectionRange(one.value.length, one.value.length);
    one.closest("article")?.scrollIntoView({ block: "nearest" });
  }, []);

  const close = () => {
    useChatUi.setState({ editing: null });
    document.querySelector<HTMLElement>(`article[data-entry="${CSS.escape(entry.id)}"]`)?.focus();
  };
  const may = text.trim() !== "" && !busy;
  const save = async () => {
    if (!may) return;
    if (text === entry.text && entry.role !== "user") return close();
    try {
      await room.head.edit(entry, text);
      useChatUi.setState({ editing: null });
    } catch (error) {
      toastError(error, { label: "Try again", run: save }); // the text stays in the field
    }
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      close();
    } else if (event.key === "Enter" && (event.metaKey || event.ctrlKey || (entry.role === "user" && !event.shiftKey))) {
      event.preventDefault();
      void save();
    }
  };
  return (
    <div className="chat-edit">
      <textarea
        ref={field}
        className="ui-input"
        aria-label="Edit message"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="chat-edit-foot">
        <span>{entry.role === "user" ? "A new version; it is answered anew." : "A new version; nothing is answered."}</span>
        <Button small onClick={close} disabled={busy}>
          Cancel
        </Button>
        <Button small variant="primary" busy={busy} disabled={!may} onClick={() => void save()}>
          Save
        </Button>
      </div>
    </div>
  );
}
