// SPDX-License-Identifier: Apache-2.0
// The row that a rewind, an edit or a new answer in mid-chat leaves at the end of the chat until it is dismissed or a
// message is sent.
import { asideOf } from "../state/thread";
import { Button, IconButton, IconClose, IconRewind, IconUndo } from "../ui";
import { mayWrite } from "../state/session";
import { useShallow } from "zustand/react/shallow";
import { attempt } from "./actions";
import { useRoom } from "./runtime";

export function RewindRow() {
  const room = useRoom();
  const aside = room.store(
    useShallow((s) => (s.viewing === null && s.pending.length === 0 ? asideOf(s.thread, s.moves) : null)),
  );
  const dismissed = room.store((s) => s.dismissed);
  const busy = room.store((s) => s.busy.has("undo"));
  const write = room.store(mayWrite);
  if (!aside || aside.move === dismissed) return null;
  const what = aside.count === 1 ? "1 later message set aside" : `${aside.count} later messages set aside`;
  return (
    <div className="chat-aside" role="status">
      <IconRewind />
      <span>{what}</span>
      {write && (
        <Button small icon={<IconUndo />} busy={busy} onClick={() => void attempt(room.head.undo)}>
          Undo
        </Button>
      )}
      <IconButton small plain label="Dismiss" icon={<IconClose />} onClick={() => room.dismissRewind(aside.move)} />
    </div>
  );
}
