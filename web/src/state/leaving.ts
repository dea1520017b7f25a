// SPDX-License-Identifier: Apache-2.0
// Sessions that this window is deleting or has deleted. Reads of them are cancelled, since they could only
// fail. If the server refuses the deletion, `onStay` listeners read the session again.
import { cancelReads } from "../api/ramet";

const leaving = new Set<string>();
const listeners = new Map<string, Set<() => void>>();

export const isLeaving = (id: string): boolean => leaving.has(id);

export function leave(id: string): void {
  leaving.add(id);
  cancelReads(id);
}

export function stay(id: string): void {
  if (leaving.delete(id)) for (const listener of listeners.get(id) ?? []) listener();
}

/** Returns how to take the listener back. */
export function onStay(id: string, listener: () => void): () => void {
  const mine = listeners.get(id) ?? new Set();
  listeners.set(id, mine.add(listener));
  return () => {
    mine.delete(listener);
    if (mine.size === 0 && listeners.get(id) === mine) listeners.delete(id);
  };
}
