// SPDX-License-Identifier: Apache-2.0
// The messages of a chat for assistant-ui's message repository: each with its parent. The text of an
// answer in progress is not included: it changes many times a second, and the one message that shows it
// reads it directly. Versions are not included either: the server counts them, and the repository would
// number them in the order in which it sees them.
import { fromThreadMessageLike, type ThreadMessage } from "@assistant-ui/react";
import type { Entry } from "../api/types";
import type { Pending, SessionState } from "../state/session";

export type Item =
  | { kind: "entry"; entry: Entry }
  | { kind: "pending"; pending: Pending }
  | { kind: "answer"; turnId: string };

type Repository = {
  headId: string | null;
  messages: { message: ThreadMessage; parentId: string | null }[];
};

const DONE = { type: "complete", reason: "stop" } as const;
const made = new WeakMap<object, ThreadMessage>();

const message = (
  id: string,
  role: "user" | "assistant" | "system",
  text: string,
  item: Item,
): ThreadMessage =>
  fromThreadMessageLike({ id, role, content: text, metadata: { custom: { item } } }, id, DONE);

const ofEntry = (entry: Entry): ThreadMessage => {
  let one = made.get(entry);
  if (!one) {
    const role = entry.role === "tool" ? "assistant" : entry.role;
    one = message(entry.id, role, entry.text, { kind: "entry", entry });
    made.set(entry, one);
  }
  return one;
};

const ofPending = (pending: Pending): ThreadMessage => {
  let one = made.get(pending);
  if (!one) {
    one = message(pending.id, "user", pending.text, { kind: "pending", pending });
    made.set(pending, one);
  }
  return one;
};

export const repositoryOf = (state: Pick<SessionState, "thread" | "pending">): Repository => {
  const messages: Repository["messages"] = [];
  let parentId: string | null = null;
  const add = (one: ThreadMessage) => {
    messages.push({ message: one, parentId });
    parentId = one.id;
  };
  const { entries, answer, moreAfter } = state.thread;
  const stored = new Set<string>();
  for (const entry of entries) {
    stored.add(entry.id);
    add(ofEntry(entry));
  }
  if (!moreAfter) {
    const pending = state.pending.filter((one) => !stored.has(one.id));
    for (const one of pending) if (one.state !== "queued") add(ofPending(one));
    if (answer) add(message("turn:" + answer.turnId, "assistant", "", { kind: "answer", turnId: answer.turnId }));
    for (const one of pending) if (one.state === "queued") add(ofPending(one));
  }
  return { headId: parentId, messages };
};
