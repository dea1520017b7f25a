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

export const onDraft = (listener: (session: string, text: string) => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
