// SPDX-License-Identifier: Apache-2.0
// The dialog Compare is opened by a call from anywhere; CompareDialog.tsx shows it.
import { create } from "zustand";

/** More do not fit side by side. */
export const MAX_SIDES = 4;

export const useCompare = create<{ open: boolean; marked: readonly string[] }>(() => ({
  open: false,
  marked: [],
}));

/** With these chats marked already. */
export function openCompare(marked: readonly string[] = []): void {
  useCompare.setState({ open: true, marked: marked.slice(0, MAX_SIDES) });
}

export function closeCompare(): void {
  useCompare.setState({ open: false });
}
