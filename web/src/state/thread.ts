// SPDX-License-Identifier: Apache-2.0
// The content of a chat: a window of one path's entries, oldest first and without gaps, and the answer in
// progress. Everything here is pure: a thread and an event give a new thread.
//
// Invariants: entries are consecutive positions of the path of `head`; `head.length` counts all of
// the path, including what is outside the window; `answer` is a turn that writes to this path.
import type { Entry, EntryPage, Head, Move, Question, Running, TurnEvent } from "../api/types";

/** Entries of one request, and at most in the window. */
export const PAGE = 100;
export const WINDOW = 300;

export type Answer = {
  turnId: string;
  branchId: string;
  agent: string;
  /** Said so far and not an entry yet. */
  text: string;
  /** Characters said before that, which are in entries. */
  base: number;
  thinking: string;
  question: Question | null;
  plan: unknown;
};

export type Thread = {
  entries: Entry[];
  moreBefore: boolean;
  moreAfter: boolean;
  head: Head;
  answer: Answer | null;
};

/** `gap`: something was missed, and the path must be read again. */
export type Step = { thread: Thread; gap: boolean };

const NO_HASH = "0".repeat(64);
export const emptyThread = (): Thread => ({
  entries: [],
  moreBefore: false,
  moreAfter: false,
  head: { branch_id: null, length: 0, entry_id: null, prefix_hash: NO_HASH },
  answer: null,
});

/** The server counts characters, JavaScript counts halves of some. */
export const charsOf = (text: string): number => {
  let n = 0;
  for (let i = 0; i < text.length; n++) i += text.codePointAt(i)! > 0xffff ? 2 : 1;
  return n;
};
const afterChars = (text: string, n: number): string => [...text].slice(n).join("");

export const answerOf = (running: Running | null | undefined): Answer | null =>
  running
    ? {
        turnId: running.turn_id,
        branchId: running.branch_id,
        agent: running.agent,
        text: running.text,
        base: running.offset,
        thinking: running.thinking,
        question: running.question ?? null,
        plan: running.plan ?? null,
      }
    : null;

/** Of a page and the session's running turn, if it writes to the page's path. */
export const threadOf = (page: EntryPage, running: Running | null | undefined): Thread => ({
  entries: page.entries,
  moreBefore: page.more_before,
  moreAfter: page.more_after,
  head: page.head,
  answer: running && running.branch_id === page.head.branch_id ? answerOf(running) : null,
});

const sameEntry = (a: Entry, b: Entry) =>
  a.id === b.id &&
  a.prefix_hash === b.prefix_hash &&
  a.versions?.number === b.versions?.number &&
  a.versions?.count === b.versions?.count &&
  a.feedback === b.feedback;

/** The new thread with the old one's objects where they are the same, so that nothing is rendered again. */
export const keepSame = (old: Thread, now: Thread): Thread => {
  const known = new Map(old.entries.map((entry) => [entry.id, entry]));
  const entries = now.entries.map((entry) => {
    const before = known.get(entry.id);
    return before && sameEntry(before, entry) ? before : entry;
  });
  const same =
    entries.length === old.entries.length && entries.every((entry, i) => entry === old.entries[i]);
  return { ...now, entries: same ? old.entries : entries };
};

/** An older page before the window; what is too much falls off the end. */
export const addBefore = (thread: Thread, page: EntryPage): Step => {
  const first = thread.entries[0];
  const last = page.entries.at(-1);
  if (!first || (last && last.position !== first.position - 1)) return { thread, gap: true };
  const entries = [...page.entries, ...thread.entries];
  return {
    thread: {
      ...thread,
      entries: entries.slice(0, WINDOW),
      moreBefore: page.more_before,
      moreAfter: thread.moreAfter || entries.length > WINDOW,
    },
    gap: false,
  };
};

/** A newer page after the window; what is too much falls off the beginning. */
export const addAfter = (thread: Thread, page: EntryPage): Step => {
  const last = thread.entries.at(-1);
  const first = page.entries[0];
  if (!last || (first && first.position !== last.position + 1)) return { thread, gap: true };
  const entries = [...thread.entries, ...page.entries];
  return {
    thread: {
      ...thread,
      entries: entries.slice(-WINDOW),
      moreBefore: thread.moreBefore || entries.length > WINDOW,
      moreAfter: page.more_after,
      head: page.head,
    },
    gap: false,
  };
};

const answerAfterEntry = (answer: Answer | null, entry: Entry): Answer | null => {
  if (!answer || entry.turn_id !== answer.turnId) return answer;
  if (entry.role === "user") return answer.question ? { ...answer, question: null } : answer;
  if (entry.role !== "assistant") return answer;
  const planned = entry.parts.some((part) => isPlan(part.data));
  return {
    ...answer,
    // The text of a question is no part of the answer.
    base: answer.base + (asks(entry) ? 0 : charsOf(entry.text)),
    text: "",
    thinking: "",
    question: null,
    plan: planned ? null : answer.plan,
  };
};

/** An entry was appended to a branch of the session. */
export const append = (thread: Thread, branch: string, entry: Entry): Step => {
  if (branch !== thread.head.branch_id) return { thread, gap: false };
  const { length } = thread.head;
  if (entry.position < length) {
    const known = thread.entries.find((one) => one.position === entry.position);
    return { thread, gap: known !== undefined && known.id !== entry.id };
  }
  if (entry.position > length) return { thread, gap: true };
  let { entries, moreBefore } = thread;
  if (!thread.moreAfter) {
    entries = [...entries, entry];
    if (entries.length > 2 * WINDOW) {
      entries = entries.slice(-WINDOW);
      moreBefore = true;
    }
  }
  return {
    thread: {
      ...thread,
      entries,
      moreBefore,
      head: { branch_id: branch, length: length + 1, entry_id: entry.id, prefix_hash: entry.prefix_hash },
      answer: answerAfterEntry(thread.answer, entry),
    },
    gap: false,
  };
};

const delta = (answer: Answer, offset: number, text: string): Answer | "gap" => {
  const have = answer.base + charsOf(answer.text);
  if (offset > have) return "gap";
  const fresh = offset === have ? text : afterChars(text, have - offset);
  return fresh === "" ? answer : { ...answer, text: answer.text + fresh, question: null };
};

/** A turn of the session went on. */
export const turn = (thread: Thread, event: TurnEvent): Step => {
  if (event.branch_id !== thread.head.branch_id) return { thread, gap: false };
  const { answer } = thread;
  const mine = answer?.turnId === event.turn_id;
  const set = (now: Answer | null): Step => ({
    thread: now === answer ? thread : { ...thread, answer: now },
    gap: false,
  });
  switch (event.type) {
    case "turn.started":
      if (mine) return set(answer);
      return set({
        turnId: event.turn_id,
        branchId: event.branch_id,
        agent: event.agent,
        text: "",
        base: 0,
        thinking: "",
        question: null,
        plan: null,
      });
    case "turn.done":
      return set(mine ? null : answer);
    case "turn.delta": {
      if (!mine) return { thread, gap: true };
      const now = delta(answer, event.offset, event.text);
      return now === "gap" ? { thread, gap: true } : set(now);
    }
    case "turn.thinking":
      return mine ? set({ ...answer, thinking: answer.thinking + event.text }) : { thread, gap: true };
    case "turn.question":
      return mine ? set({ ...answer, question: event.question }) : { thread, gap: true };
    case "turn.plan":
      return mine ? set({ ...answer, plan: event.plan }) : { thread, gap: true };
  }
};

// ---------------------------------------------------------------- what may be done with an entry

export type PlanStep = { content: string; status: string };
export type Plan = { type: "plan"; entries: PlanStep[] };
export const isPlan = (data: unknown): data is Plan =>
  typeof data === "object" &&
  data !== null &&
  (data as Plan).type === "plan" &&
  Array.isArray((data as Plan).entries);

/** Whether a data part only marks a question to the user, or its answer: the text says it. */
export const isMark = (data: unknown): boolean => {
  const mark = data as { type?: unknown; kind?: unknown; question_id?: unknown } | null | undefined;
  return (
    (mark?.type === "question" && mark.kind !== undefined) || (mark?.type === "answer" && mark.question_id !== undefined)
  );
};

/** Whether an entry is a question to the user. */
const asks = (entry: Entry): boolean =>
  entry.role === "assistant" && entry.parts.some((part) => part.type === "data" && isMark(part.data));

/** How a turn ended that did not end well, according to its last entry. */
export const endOf = (entry: Entry): { turn: string; error?: string } | null => {
  for (const part of entry.parts) {
    const data = part.data as { turn?: unknown; error?: unknown } | null | undefined;
    if (part.type === "data" && data && typeof data.turn === "string")
      return { turn: data.turn, error: typeof data.error === "string" ? data.error : undefined };
  }
  return null;
};

const endings: Record<string, string> = {
  cancelled: "Stopped",
  interrupted: "The server was stopped before this was done.",
};
export const endWords = (end: { turn: string; error?: string }): string =>
  endings[end.turn] ?? end.error ?? "The answer failed.";

export type Allowed = {
  copy: boolean;
  edit: boolean;
  regenerate: boolean;
  fork: boolean;
  rewind: boolean;
  feedback: boolean;
};

/**
 * The items of a message's menu. `write`: the caller may write here; who may not, may still fork (a
 * private fork needs no more than to read) and say what he thinks.
 */
export const allowed = (thread: Thread, entry: Entry, write: boolean): Allowed => {
  const last = entry.position === thread.head.length - 1;
  const person = entry.role === "user";
  const answer = entry.role === "assistant";
  return {
    copy: true,
    edit: write && (person || (answer && entry.text !== "")),
    regenerate: write && (answer || (person && last && thread.answer === null)),
    fork: person || answer,
    rewind: write && (person || answer) && entry.position > 0,
    feedback: answer,
  };
};

/** Nothing comes after this answer: a rewind to it sets nothing aside. */
export const isEnd = (thread: Thread, entry: Entry): boolean =>
  entry.role === "assistant" && entry.position === thread.head.length - 1 && thread.answer === null;

/** Where a fork or rewind at this entry cuts: before a user's message, after an answer. */
export const cutAt = (entry: Entry) =>
  entry.role === "user"
    ? { at: { entry_id: entry.id, side: "before" as const }, cut: "snap_before" as const }
    : { at: { entry_id: entry.id, side: "after" as const }, cut: "snap_after" as const };

/** The first entry of the answer that this entry belongs to: regenerating begins there. */
export const answerStart = (thread: Thread, entry: Entry): Entry => {
  let i = thread.entries.findIndex((one) => one.id === entry.id);
  let first = entry;
  while (entry.turn_id && --i >= 0) {
    const before = thread.entries[i]!;
    if (before.turn_id !== entry.turn_id || before.role === "user" || before.role === "system") break;
    first = before;
  }
  return first;
};

// ---------------------------------------------------------------- moves of the head

/** The move that undo would take back: undos and redos cancel each other, newest first. */
export const lastMove = (moves: Move[]): Move | null => {
  let undone = 0;
  for (const move of moves) {
    if (move.kind === "undo") undone++;
    else if (undone > 0) undone--;
    else return move;
  }
  return null;
};

export const canRedo = (moves: Move[]): boolean => {
  let undone = 0;
  for (const move of moves) {
    if (move.kind === "undo") undone++;
    else if (move.kind === "redo") undone--;
    else break;
  }
  return undone > 0;
};

export type Aside = { move: number; count: number; by: string | null };

/** Where the path left the one that the head moved away from: behind the last entry that both have. */
const parted = (thread: Thread, branch: string): number => {
  const first = thread.entries.find((entry) => entry.branch_id === branch);
  return first ? first.position : thread.head.length;
};

/**
 * What a rewind, an edit or a new answer set aside, as long as the user has said nothing else since. A message
 * that was replaced is a version of the new one and not counted.
 */
export const asideOf = (thread: Thread, moves: Move[]): Aside | null => {
  const move = lastMove(moves);
  // A redo does again what an undo took back: which move that was is not needed to know what is set aside.
  const kinds = ["rewind", "redo", "edit", "regenerate"];
  if (!move || !kinds.includes(move.kind)) return null;
  const { head } = thread;
  if (move.to !== head.branch_id || thread.moreAfter) return null;
  const at = parted(thread, head.branch_id);
  const own = thread.entries.filter((entry) => entry.branch_id === head.branch_id);
  const replaced = own.length > 0 || thread.answer !== null;
  if (move.kind === "rewind" ? replaced : own.slice(1).some((entry) => entry.role === "user")) return null;
  const count = move.from_length - at - (replaced ? 1 : 0);
  return count > 0 ? { move: move.number, count, by: move.by } : null;
};
