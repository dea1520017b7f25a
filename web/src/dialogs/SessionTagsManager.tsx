// SPDX-License-Identifier: Apache-2.0
// The dialog "Tags" of a chat: add, remove, choose colours. Every change takes effect immediately.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { errorText } from "../api/client";
import { addTags, loadTags, needSession, removeTag, useSessions } from "../state/sessions";
import { HUE_NAMES, useTagHue, useTagHues } from "../state/tags";
import { Button, Dialog, hueOf, IconButton, IconClose, Menu, Note } from "../ui";
import { ChatTag } from "./ChatTag";
import { closeDialog, giveFocusBack } from "./dialogs";
import { TagInput } from "./TagInput";

function HueButton({ tag }: { tag: string }) {
  const choose = useTagHues((s) => s.choose);
  const hue = useTagHue(tag) ?? hueOf(tag);
  return (
    <Menu
      align="start"
      items={HUE_NAMES.map((name, i) => ({
        label: name,
        icon: <span className={`dlg-hue ui-tag-hue-${i}`} />,
        checked: i === hue,
        onSelect: () => choose(tag, i),
      }))}
      trigger={
        <IconButton
          plain
          small
          label={`Colour of ${tag}`}
          icon={<span className={`dlg-hue ui-tag-hue-${hue}`} />}
        />
      }
    />
  );
}

export function SessionTagsManager({ sessionId }: { sessionId: string }) {
  const loaded = useQuery({ queryKey: ["session", sessionId], queryFn: () => needSession(sessionId) });
  const session = useSessions((s) => s.byId.get(sessionId)) ?? loaded.data;
  const [text, setText] = useState("");
  const add = useMutation({
    mutationFn: (tags: string[]) => addTags(sessionId, tags),
    // Put a tag that could not be added back into the field.
    onError: (_, tags) => setText(tags.join(", ")),
  });
  const remove = useMutation({ mutationFn: (tag: string) => removeTag(sessionId, tag) });
  const error = add.error ?? remove.error ?? loaded.error;
  useEffect(() => void loadTags(), []);

  const tags = session?.tags ?? [];
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Tags"
      said={session ? session.title || "New chat" : undefined}
      width={400}
      foot={<Button onClick={closeDialog}>Done</Button>}
    >
      {tags.length > 0 ? (
        <ul className="dlg-tag-rows" aria-label="Tags of this chat">
          {tags.map((tag) => (
            <li key={tag}>
              <HueButton tag={tag} />
              <ChatTag name={tag} />
              <span className="dlg-fill" />
              <IconButton
                plain
                small
                label={`Remove tag ${tag}`}
                icon={<IconClose />}
                busy={remove.isPending && remove.variables === tag}
                onClick={() => remove.mutate(tag)}
              />
            </li>
          ))}
        </ul>
      ) : (
        <p className="muted">
          No tags yet. A tag groups chats across trees: filter by it in the sidebar.
        </p>
      )}
      <TagInput
        label="Add tag"
        autoFocus
        have={tags}
        text={text}
        onText={setText}
        onAdd={(more) => add.mutate(more)}
        placeholder="A word, then Enter"
      />
      {error && <Note tone="error">{errorText(error)}</Note>}
    </Dialog>
  );
}
