// SPDX-License-Identifier: Apache-2.0
// Every move of the head, newest first. Each can be viewed, and the last one undone.
import { useState } from "react";
import { listMoves } from "../api/ramet";
import type { Move } from "../api/types";
import { mayWrite } from "../state/session";
import { canRedo, lastMove } from "../state/thread";
import { Ago, Button, cx, Dialog, IconRedo, IconUndo } from "../ui";
import { attempt } from "./actions";
import { useRoom } from "./runtime";
import { stepThrough, useChatUi } from "./ui";

const kinds: Record<Move["kind"], string> = {
  rewind: "Rewound",
  undo: "Took a move back",
  redo: "Did it again",
  switch: "Chose a version",
  edit: "Edited a message",
  regenerate: "Asked for another answer",
  sync: "Took over a list",
  merge: "Brought in another chat",
  overlay: "Changed what the model sees",
};

const messages = (n: number) => (n === 1 ? "1 message" : `${n} messages`);

function Moves() {
  const room = useRoom();
  const moves = room.store((s) => s.moves);
  const head = room.store((s) => s.session?.head.branch_id);
  const viewing = room.store((s) => s.viewing);
  const write = room.store(mayWrite);
  const busy = room.store((s) => s.busy.has("undo") || s.busy.has("redo"));
  const [older, setOlder] = useState<Move[]>([]);
  const [cursor, setCursor] = useState<string | null | undefined>(undefined);
  const shown = viewing ?? head;
  const last = moves.at(-1);
  const all = [...moves, ...older.filter((move) => !last || move.number < last.number)];
  const more = cursor === undefined ? (last?.number ?? 1) > 1 : cursor !== null;
  const loadOlder = () =>
    attempt(async () => {
      const from = cursor ?? (await listMoves(room.id, { limit: moves.length })).next_cursor;
      const page = await listMoves(room.id, { cursor: from });
      setOlder([...older, ...page.moves]);
      setCursor(page.next_cursor);
    });
  if (moves.length === 0) return <p>Nothing was moved in this chat. Rewind, edit and regenerate move it.</p>;
  return (
    <>
      {write && (
        <div className="chat-moves-bar">
          <Button
            small
            icon={<IconUndo />}
            busy={busy}
            disabled={lastMove(moves) === null}
            onClick={() => void attempt(room.head.undo)}
          >
            Step back
          </Button>
          <Button
            small
            icon={<IconRedo />}
            busy={busy}
            disabled={!canRedo(moves)}
            onClick={() => void attempt(room.head.redo)}
          >
            Step forward
          </Button>
        </div>
      )}
      <ol className="chat-moves" onKeyDown={stepThrough}>
        {all.map((move) => (
          <li key={move.number}>
            <button
              type="button"
              className={cx("chat-move", move.to === shown && "chat-move-shown")}
              aria-current={move.to === shown || undefined}
              title="Look at the chat as it was then"
              onClick={() => void attempt(() => room.head.view(move.to === head ? null : move.to))}
            >
              <b>{kinds[move.kind]}</b>
              <span>
                {messages(move.from_length)} → {messages(move.to_length)}
              </span>
              <span className="chat-move-by">
                {move.by ?? "system"} · <Ago at={move.created_at} />
              </span>
              {move.reason && <q>{move.reason}</q>}
            </button>
          </li>
        ))}
        {!more && all.length > 0 && (
          <li>
            <button
              type="button"
              className={cx("chat-move", all.at(-1)!.from === shown && "chat-move-shown")}
              onClick={() => void attempt(() => room.head.view(all.at(-1)!.from === head ? null : all.at(-1)!.from))}
            >
              <b>As it began</b>
              <span>{messages(all.at(-1)!.from_length)}</span>
            </button>
          </li>
        )}
      </ol>
      {more && (
        <Button small variant="ghost" onClick={() => void loadOlder()}>
          Older moves
        </Button>
      )}
    </>
  );
}

export default function HeadLog() {
  const open = useChatUi((s) => s.moves);
  return (
    <Dialog
      open={open}
      onOpenChange={(moves) => useChatUi.setState({ moves })}
      title="Moves"
      said="Where this chat has been. Nothing that was said is ever lost."
      width={460}
    >
      {open && <Moves />}
    </Dialog>
  );
}
