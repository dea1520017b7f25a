// SPDX-License-Identifier: Apache-2.0
// Maps key events to commands. Pure, except for the event listener at the end.
import { canRun, runCommand } from "../app/commands";
import { bindingsOf, useSettings, type Bindings } from "../state/settings";
import { COMMAND_IDS, COMMANDS, type CommandId } from "./table";

/** How long a sequence waits for its next step. */
export const SEQUENCE_MS = 1500;

/** What a held key may do again and again. */
const REPEATS = new Set<CommandId>([
  "message.previous",
  "message.next",
  "message.up",
  "message.down",
]);

const MODIFIERS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead"]);

export interface KeyPress {
  key: string;
  code: string;
  ctrlKey: boolean;
  metaKey: boolean;
  shiftKey: boolean;
  altKey: boolean;
  getModifierState?: (name: string) => boolean;
}

const letterOf = (code: string) => /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase();

/**
 * "mod+shift+b", "?", "arrowup"; "" for a modifier alone. Shift is told with letters and named keys
 * only: what it makes of the others ("?") depends on the keyboard.
 */
export function stepOf(press: KeyPress): string {
  if (MODIFIERS.has(press.key)) return "";
  const altGr = press.getModifierState?.("AltGraph") ?? false;
  const alt = press.altKey && !altGr;
  const mod = (press.ctrlKey && !altGr) || press.metaKey;
  let key = press.key.toLowerCase();
  // Option and Ctrl+Option write other letters, and keyboards of other scripts have none of ours.
  const letter = letterOf(press.code);
  if (letter && (alt || mod) && !/^[a-z]$/.test(key)) key = letter;
  const shift = press.shiftKey && (key.length > 1 || key === " " || /^\p{L}$/u.test(key));
  return [mod && "mod", alt && "alt", shift && "shift", key].filter(Boolean).join("+");
}

/** Keys that write nothing into a field work there too. */
export function worksInFields(keys: string): boolean {
  return /^(mod|alt)\+/.test(keys) || /^f\d+$/.test(keys);
}

export interface Match {
  id: CommandId | null;
  /** The steps so far begin a longer sequence. */
  waits: boolean;
}

export function match(steps: string, bindings: Bindings, may: (id: CommandId) => boolean): Match {
  let waits = false;
  for (const id of COMMAND_IDS)
    for (const keys of bindingsOf(id, bindings)) {
      if (keys === steps && may(id)) return { id, waits: false };
      if (keys.startsWith(`${steps} `)) waits = true;
    }
  return { id: null, waits };
}

function inField(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  if (!element?.closest) return false;
  if (element.isContentEditable) return true;
  const field = element.closest("input, textarea, select");
  return (
    field !== null && !/^(checkbox|radio|button|range)$/.test((field as HTMLInputElement).type)
  );
}

/** Menus, dialogs and lists with keys of their own keep the plain ones. */
function inLayer(target: EventTarget | null): boolean {
  return (target as HTMLElement | null)?.closest?.('[role="menu"], [role="dialog"]') != null;
}

/** A message has the focus, itself or a part of it. */
function onMessage(target: EventTarget | null): boolean {
  return (target as HTMLElement | null)?.closest?.("article[data-entry]") != null;
}

/** Nothing in particular has the focus, or a message as a whole: what is typed there is meant to be said. */
function isLoose(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !element?.matches || element.matches("body, html, article");
}

/** The character that the press writes, or the beginning of one that an input method composes. */
const writes = (event: KeyboardEvent, step: string): boolean =>
  !worksInFields(step) && event.key !== " " && ([...event.key].length === 1 || event.key === "Process");

/** Puts the focus into the composer before the browser writes the character there. */
function writeOn(begun: string): void {
  const field = document.querySelector<HTMLTextAreaElement>("textarea[data-composer]");
  if (!field) return;
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  // Steps of a sequence that was none. The command tells the field's owner, as typing does.
  if (begun) document.execCommand("insertText", false, begun);
}

/** Handles key events until the returned function is called. */
export function listenKeys(
  target: Pick<Window, "addEventListener" | "removeEventListener"> = window,
): () => void {
  let steps = "";
  let since = 0;
  const hear = (raw: Event) => {
    const event = raw as KeyboardEvent;
    if (event.defaultPrevented || event.isComposing) return;
    const step = stepOf(event);
    if (!step) return;
    const layered = inLayer(event.target);
    if (!worksInFields(step) && (inField(event.target) || layered)) {
      steps = "";
      return;
    }
    const bindings = useSettings.getState().bindings;
    const placed = worksInFields(step) || onMessage(event.target);
    const may = (id: CommandId) =>
      (placed || COMMANDS[id].group !== "Message") &&
      canRun(id) &&
      (!layered || id === "view.palette" || id === "view.keys");
    const going = steps && event.timeStamp - since < SEQUENCE_MS ? `${steps} ${step}` : step;
    let found = match(going, bindings, may);
    let taken = going;
    if (!found.id && !found.waits && going !== step) {
      found = match(step, bindings, may);
      taken = step;
    }
    const begun = going === step ? "" : steps;
    steps = found.waits ? taken : "";
    since = event.timeStamp;
    if (found.waits) return;
    if (!found.id) {
      if (!layered && isLoose(event.target) && writes(event, step)) writeOn(/^\S$/.test(begun) ? begun : "");
      return;
    }
    event.preventDefault();
    if (!event.repeat || REPEATS.has(found.id)) runCommand(found.id);
  };
  target.addEventListener("keydown", hear);
  return () => target.removeEventListener("keydown", hear);
}
