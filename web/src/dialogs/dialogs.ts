// SPDX-License-Identifier: Apache-2.0
// Which dialog is open. Any part of the page opens one by a call; Dialogs.tsx shows it.

import { create } from "zustand";
import { shareToken } from "../api/client";
import { withUser } from "../state/me";

export interface ForkPlace {
  sessionId: string;
  /** the head when not given */
  entryId?: string;
  /** `after` keeps the entry (when not given), `before` cuts it off */
  side?: "before" | "after";
  /** the branch whose path holds the entry, when it is not the present one */
  branchId?: string;
  /** the text that stands in the new composer; with `before`, the entry's when not given */
  draft?: string;
}

export type OpenDialog =
  | ({ kind: "fork" } & ForkPlace)
  | { kind: "tags"; sessionId: string }
  | { kind: "share"; sessionId: string }
  | { kind: "rename"; sessionId: string }
  | { kind: "delete"; sessionId: string };

export const useDialog = create<{ dialog: OpenDialog | null }>(() => ({ dialog: null }));

let before: HTMLElement | null = null;

/** What has the focus; for an entry of a menu, which goes with it, the button of that menu. */
function focused(): HTMLElement | null {
  const now = document.activeElement;
  const menu = now?.closest('[role="menu"]');
  const button = menu && document.getElementById(menu.getAttribute("aria-labelledby") ?? "");
  return button ?? (now instanceof HTMLElement ? now : null);
}

const open = (dialog: OpenDialog) => {
  before = focused();
  useDialog.setState({ dialog });
};

/** When a dialog has closed: the focus goes back to where it was. */
export const giveFocusBack = (event: Event) => {
  if (!before?.isConnected) return;
  event.preventDefault();
  before.focus({ preventScroll: true }); // it may be in a list whose rows come and go
};


/** A fork belongs to somebody: a visitor with a link signs in first. */
export const openFork = (place: ForkPlace) => {
  if (shareToken()) void withUser(() => open({ kind: "fork", ...place }));
  else open({ kind: "fork", ...place });
};
export const openTags = (sessionId: string) => open({ kind: "tags", sessionId });
export const openShare = (sessionId: string) => open({ kind: "share", sessionId });
export const openRename = (sessionId: string) => open({ kind: "rename", sessionId });
export const openDelete = (sessionId: string) => open({ kind: "delete", sessionId });
export const closeDialog = () => useDialog.setState({ dialog: null });
