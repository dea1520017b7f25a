// SPDX-License-Identifier: Apache-2.0
// Selects the chats to compare: those of the same tree first, then the newest others.
import { useEffect, useState } from "react";
import { errorText } from "../api/client";
import { getTree, listSessions } from "../api/ramet";
import type { Session } from "../api/types";
import { comparePath, navigate } from "../app/router";
import { ago, Button, Checkbox, Dialog, Note, Spinner, TextField } from "../ui";
import { closeCompare, MAX_SIDES, useCompare } from "./open";
import "./compare.css";

const LISTED = 100;
const FEW = 8;
const PAUSE_MS = 150;

interface Offer {
  family: Session[];
  others: Session[];
}

/** A deleted chat is a place holder and cannot be compared; one that was never sent is not there yet. */
async function readOffer(
  first: string | undefined,
  title: string,
  signal: AbortSignal,
): Promise<Offer> {
  const [tree, all] = await Promise.all([
    first === undefined ? null : getTree(first, { limit: LISTED }, signal).catch(() => null),
    listSessions({ limit: LISTED, title: title || undefined, archived: "include" }, signal),
  ]);
  const called = (s: Session) => s.title.toLowerCase().includes(title.toLowerCase());
  const family = (tree?.sessions ?? []).filter((s) => !s.deleted && called(s));
  const known = new Set(family.map((s) => s.id));
  return { family, others: all.sessions.filter((s) => !known.has(s.id)) };
}

const hintOf = (chat: Session): string =>
  [
    chat.head.length === 1 ? "1 message" : `${chat.head.length} messages`,
    chat.agent?.name,
    ago(chat.updated_at),
  ]
    .filter(Boolean)
    .join(" · ");

function Rows({
  chats,
  marked,
  onMark,
}: {
  chats: Session[];
  marked: readonly string[];
  onMark: (id: string) => void;
}) {
  return chats.map((chat) => (
    <Checkbox
      key={chat.id}
      label={chat.title || "New chat"}
      hint={hintOf(chat)}
      checked={marked.includes(chat.id)}
      disabled={!marked.includes(chat.id) && marked.length >= MAX_SIDES}
      onChange={() => onMark(chat.id)}
    />
  ));
}

function Choice({ given }: { given: readonly string[] }) {
  const [marked, setMarked] = useState<readonly string[]>(given);
  const [title, setTitle] = useState("");
  const [offer, setOffer] = useState<Offer | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [turn, setTurn] = useState(0);
  const first = given[0];
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => {
        readOffer(first, title.trim(), abort.signal)
          .then((found) => {
            setOffer(found);
            setError(null);
          })
          .catch((e) => !abort.signal.aborted && setError(errorText(e)));
      },
      title ? PAUSE_MS : 0,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [first, title, turn]);
  const mark = (id: string) =>
    setMarked((was) => (was.includes(id) ? was.filter((m) => m !== id) : [...was, id]));
  const count = (offer?.family.length ?? 0) + (offer?.others.length ?? 0);
  const go = () => {
    if (marked.length < 2) return;
    closeCompare();
    navigate(comparePath([...marked]));
  };
  return (
    <Dialog
      open
      onOpenChange={(on) => !on && closeCompare()}
      title="Compare"
      said="Two to four chats, side by side."
      onSubmit={go}
      foot={
        <>
          <Button onClick={closeCompare}>Cancel</Button>
          <Button type="submit" variant="primary" disabled={marked.length < 2}>
            Compare
          </Button>
        </>
      }
    >
      {(count > FEW || title) && (
        <TextField label="Find a chat" value={title} onChange={(e) => setTitle(e.target.value)} />
      )}
      {error && (
        <Note tone="error" action={{ label: "Try again", run: () => setTurn(turn + 1) }}>
          {error}
        </Note>
      )}
      {!offer && !error && <Spinner label="Loading" />}
      {offer && (
        <div className="compare-choice">
          {offer.family.length > 0 && (
            <fieldset>
              <legend>Same tree</legend>
              <Rows chats={offer.family} marked={marked} onMark={mark} />
            </fieldset>
          )}
          {offer.others.length > 0 && (
            <fieldset>
              <legend>{offer.family.length > 0 ? "Other chats" : "Chats"}</legend>
              <Rows chats={offer.others} marked={marked} onMark={mark} />
            </fieldset>
          )}
          {count === 0 && (
            <p className="muted">{title ? "No chat is called that." : "There is no chat yet."}</p>
          )}
          {count === 1 && !title && (
            <p className="muted">Fork it from a message, and there are two.</p>
          )}
        </div>
      )}
    </Dialog>
  );
}

/** Stands once in the app. */
export function CompareDialog() {
  const { open, marked } = useCompare();
  return open ? <Choice given={marked} /> : null;
}
