// SPDX-License-Identifier: Apache-2.0
// Answers that a server was killed over. The server knows that they were interrupted, and not what they said: this
// browser keeps what it has seen of an answer while it is made, and shows it when it turns out that it was all.
import * as api from "../../api/ramet";
import type { Answer, Thread } from "../thread";
import type { Broken, SessionModel } from "./state";

const keyOf = (session: string) => "ramet.heard." + session;

const heard = (session: string): Broken | null => {
  try {
    return JSON.parse(localStorage.getItem(keyOf(session)) ?? "null") as Broken | null;
  } catch {
    return null;
  }
};

export const forgetHeard = (session: string): void => {
  try {
    localStorage.removeItem(keyOf(session));
  } catch {
    // nothing was kept either
  }
};

/** The connection was lost in mid-answer, or the page is left: what was said so far is kept. */
export const keepHeard = (session: string, answer: Answer, head: string | null): void => {
  const { turnId, agent, text, thinking } = answer;
  try {
    localStorage.setItem(keyOf(session), JSON.stringify({ turnId, agent, head, text, thinking } satisfies Broken));
  } catch {
    // it is shown without its text then
  }
};

/** Asks how the last turn ended when a message has no answer, and shows one that was interrupted. */
export async function findBroken(model: SessionModel): Promise<void> {
  const { id } = model;
  const { thread, viewing } = model.state;
  const open = (t: Thread) => t.answer === null && !t.moreAfter && t.entries.at(-1)?.role === "user";
  if (viewing !== null || !open(thread)) {
    if (model.state.broken) model.set({ broken: null });
    return;
  }
  const head = thread.head.entry_id;
  const last = (await api.listTurns(id, 1)).turns[0];
  const now = model.state.thread;
  if (!open(now) || now.head.entry_id !== head) return;
  if (last?.status !== "interrupted") {
    if (model.state.broken) model.set({ broken: null });
    return;
  }
  const known = heard(id);
  const mine = known?.turnId === last.id && known.head === head ? known : null;
  model.set({
    broken: { turnId: last.id, agent: last.agent ?? "assistant", head, text: mine?.text ?? "", thinking: mine?.thinking ?? "" },
  });
}
