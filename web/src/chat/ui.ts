// SPDX-License-Identifier: Apache-2.0
// State of a chat in this window only: which message is being edited, whose versions are listed, and which
// message commands act on.
import { useLayoutEffect } from "react";
import { create } from "zustand";
import type { Entry } from "../api/types";
import type { Room } from "../state/session";

type ChatUi = {
  /** Entry that is being edited, and the session it is in. */
  editing: string | null;
  /** Entry whose versions are listed. */
  listing: string | null;
  /** The head log is open. */
  moves: boolean;
  /** "Ask several agents" is open. */
  asking: boolean;
  /** What is sent next goes to a fork at once if an answer is being made. */
  forking: boolean;
};

export const useChatUi = create<ChatUi>(() => ({
  editing: null,
  listing: null,
  moves: false,
  asking: false,
  forking: false,
}));

export const resetChatUi = (): void =>
  useChatUi.setState({ editing: null, listing: null, moves: false, asking: false, forking: false });

export const articles = (): HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>("article[data-entry]"),
];

const focused = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>("article[data-entry]") ?? null;

/** The entry that a command acts on: the focused one, else the last. */
export const currentEntry = (room: Room): Entry | null => {
  const { entries } = room.state.thread;
  const id = focused()?.dataset.entry;
  return entries.find((one) => one.id === id) ?? entries.at(-1) ?? null;
};

/** Position of a message that had the focus when it was taken away, until the end of that drawing. */
let lost: number | null = null;

/** A message with the focus that is replaced by another version of it hands the focus on. */
export const useHandedFocus = (article: React.RefObject<HTMLElement | null>, position: number): void =>
  useLayoutEffect(() => {
    const element = article.current!;
    if (lost === position) {
      lost = null;
      element.focus({ preventScroll: true });
    }
    return () => {
      if (!element.contains(document.activeElement)) return;
      lost = position;
      queueMicrotask(() => (lost = null));
    };
  }, [article, position]);

/** Moves the focus from message to message. */
export const focusMessage = (by: 1 | -1): void => {
  const all = articles();
  const at = focused();
  // Below the last message is the composer, above which they begin.
  if (at && by > 0 && at === all.at(-1)) return focusComposer();
  const next = at ? all.indexOf(at) + by : all.length - 1;
  const one = all[Math.max(0, Math.min(all.length - 1, next))];
  one?.focus({ preventScroll: true });
  one?.scrollIntoView({ block: "nearest" });
};

/** The composer of the chat that is shown. */
export const focusComposer = (): void => {
  const field = document.querySelector<HTMLTextAreaElement>("textarea[data-composer]");
  if (!field) return;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
};

/** Whether keys that move a cursor have nothing to move through. */
export const isFieldEmpty = (): boolean => {
  const at = document.activeElement;
  return !(at instanceof HTMLTextAreaElement || at instanceof HTMLInputElement) || at.value === "";
};

export const scrollToStart = (): void => {
  const view = document.querySelector(".chat-scroll");
  if (view) view.scrollTop = 0;
};

/** Up and Down walk through the buttons of a list. */
export const stepThrough = (event: React.KeyboardEvent<HTMLElement>): void => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll("button")];
  const next = all.indexOf(document.activeElement as HTMLButtonElement) + by;
  all[Math.max(0, Math.min(all.length - 1, next))]?.focus();
};
