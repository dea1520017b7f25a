// SPDX-License-Identifier: Apache-2.0
// Drafts: unsent text per session, kept in this browser. The composer saves what is typed; code that sets a
// draft elsewhere (a rewind, a fork, a failed message) notifies the composer that shows it.

const PREFIX = "ramet.draft.";
const listeners = new Set<(session: string, text: string) => void>();
const cache = new Map<string, string>();

const storage = (): Storage | null => {
  try {
    return window.localStorage;
  } catch {
    return null; // switched off: drafts live as long as the page
  }
};

export const getDraft = (session: string): string =>
  cache.get(session) ?? storage()?.getItem(PREFIX + session) ?? "";

/** Set by the composer itself: saved without a notification. */
export const keepDraft = (session: string, text: string): void => {
  cache.set(session, text);
  try {
    if (text === "") storage()?.removeItem(PREFIX + session);
    else storage()?.setItem(PREFIX + session, text);
  } catch {
    // full: it stays in memory
  }
};

export const setDraft = (session: string, text: string): void => {
  keepDraft(session, text);
  for (const listener of listeners) listener(session, text);
};

/** Puts a text before what is typed already, which is never lost. */
export const addDraft = (session: string, text: string): void => {
  const typed = getDraft(session);
  if (typed === text) return;
  setDraft(session, typed.trim() === "" ? text : text + "\n\n" + typed);
};

// ------------------------------------------------------------------ the draft of a rewind

const LENT = "ramet.lent.";
type Lent = { before: string; made: string };

/** Adds the text of a message that a rewind cut off; its undo takes it back. */
export const lendDraft = (session: string, text: string): void => {
  const before = getDraft(session);
  addDraft(session, text);
  const lent: Lent = { before, made: getDraft(session) };
  try {
    storage()?.setItem(LENT + session, JSON.stringify(lent));
  } catch {
    // it stays after an undo then
  }
};

/** The rewind was undone: what it had put there goes, unless it was changed. */
export const takeBackDraft = (session: string): void => {
  try {
    const lent = JSON.parse(storage()?.getItem(LENT + session) ?? "null") as Lent | null;
    storage()?.removeItem(LENT + session);
    if (lent && lent.made === getDraft(session)) setDraft(session, lent.before);
  } catch {
    // nothing that this page has written
  }
};

export const onDraft = (listener: (session: string, text: string) => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
