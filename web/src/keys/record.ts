// SPDX-License-Identifier: Apache-2.0
// Which keys may be bound, and how a new binding is recorded from the keyboard.
import { stepOf, type KeyPress } from "./keys";

/** How long the recorder waits for another step of a sequence. */
export const RECORD_MS = 900;

/** Browsers do not let a page have these, in tabs. */
const KEPT = new Set(["mod+t", "mod+n", "mod+w", "mod+q", "mod+shift+n", "mod+shift+w", "mod+tab"]);
/** These move the focus, press buttons and close things: bound, they would take that away. */
const PLAIN = new Set(["tab", "shift+tab", "enter", "escape", " ", "backspace", "delete"]);
const ARROWS = /^(shift\+)?(arrow|page|home|end)/;

/** Why this step cannot be bound; null: it can. */
export function refusal(step: string): string | null {
  if (KEPT.has(step)) return "The browser keeps this one for itself.";
  if (PLAIN.has(step) || ARROWS.test(step)) return "This key is needed to move about.";
  return null;
}

/** The steps so far with one more; the same when the press is a modifier alone. */
export function withStep(steps: string, press: KeyPress): string {
  const step = stepOf(press);
  if (!step) return steps;
  return steps ? `${steps} ${step}` : step;
}

/** mod+… combinations stand alone; plain keys may begin a sequence of two. */
export function isWhole(steps: string): boolean {
  return steps.startsWith("mod+") || steps.startsWith("alt+") || steps.includes(" ");
}
