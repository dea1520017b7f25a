// SPDX-License-Identifier: Apache-2.0
// Settings of this browser: theme and keys. Windows of one browser share them.
import { useSyncExternalStore } from "react";
import { create } from "zustand";
import { COMMANDS, COMMAND_IDS, type CommandId } from "../keys/table";

export type Theme = "system" | "light" | "dark";
export type Bindings = Partial<Record<CommandId, readonly string[]>>;

export interface Settings {
  theme: Theme;
  /** Only what differs from keys/table.ts. */
  bindings: Bindings;
}

const KEY = "ramet.settings";
const MAX_KEYS = 4;
const MAX_LENGTH = 40;

const isTheme = (value: unknown): value is Theme =>
  value === "system" || value === "light" || value === "dark";

function readBindings(value: unknown): Bindings {
  const bindings: Bindings = {};
  if (typeof value !== "object" || value === null) return bindings;
  for (const id of COMMAND_IDS) {
    const keys = (value as Record<string, unknown>)[id];
    if (!Array.isArray(keys)) continue;
    bindings[id] = keys
      .filter((k): k is string => typeof k === "string" && k !== "" && k.length <= MAX_LENGTH)
      .slice(0, MAX_KEYS);
  }
  return bindings;
}

/** What was stored, or the usual where it cannot be used: a browser may hold anything. */
export function readSettings(text: string | null): Settings {
  let value: unknown = null;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    // Not ours: start with the defaults.
  }
  const stored = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    theme: isTheme(stored.theme) ? stored.theme : "system",
    bindings: readBindings(stored.bindings),
  };
}

export function bindingsOf(id: CommandId, bindings: Bindings): readonly string[] {
  return bindings[id] ?? COMMANDS[id].keys;
}

/** A sequence and its own beginning cannot both be had. */
export function keysClash(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b} `) || b.startsWith(`${a} `);
}

/** The command that already has these keys. */
export function boundTo(keys: string, bindings: Bindings): CommandId[] {
  return COMMAND_IDS.filter((id) => bindingsOf(id, bindings).some((k) => keysClash(k, keys)));
}

/** The bindings with these keys given to the command, and taken from the command that had them. */
export function withKeys(id: CommandId, keys: string, bindings: Bindings): Bindings {
  const next: Bindings = { ...bindings };
  for (const holder of boundTo(keys, bindings))
    next[holder] = bindingsOf(holder, bindings).filter((k) => !keysClash(k, keys));
  next[id] = [...bindingsOf(id, next), keys].slice(-MAX_KEYS);
  return next;
}

function load(): Settings {
  try {
    return readSettings(localStorage.getItem(KEY));
  } catch {
    return readSettings(null);
  }
}

export const useSettings = create<Settings>(() => load());

function save(change: Partial<Settings>): void {
  useSettings.setState(change);
  try {
    localStorage.setItem(KEY, JSON.stringify(useSettings.getState()));
  } catch {
    // Storage is forbidden or full: the settings last as long as this window.
  }
}

export function setTheme(theme: Theme): void {
  save({ theme });
}

/** null: as in the table again. */
export function setKeys(id: CommandId, keys: readonly string[] | null): void {
  const bindings = { ...useSettings.getState().bindings };
  const usual = COMMANDS[id].keys;
  if (!keys || (keys.length === usual.length && keys.every((k, i) => k === usual[i])))
    delete bindings[id];
  else bindings[id] = keys.slice(0, MAX_KEYS);
  save({ bindings });
}

export function setBindings(bindings: Bindings): void {
  save({ bindings });
}

function showTheme({ theme }: Settings): void {
  document.documentElement.style.colorScheme = theme === "system" ? "light dark" : theme;
}

const system = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark now, by the setting or by the system. */
export const useDark = (): boolean =>
  useSyncExternalStore(
    (changed) => {
      const off = useSettings.subscribe(changed);
      system?.addEventListener("change", changed);
      return () => {
        off();
        system?.removeEventListener("change", changed);
      };
    },
    () => {
      const { theme } = useSettings.getState();
      return theme === "system" ? (system?.matches ?? false) : theme === "dark";
    },
  );

/** Called once, before the first view is drawn. */
export function startSettings(): void {
  showTheme(useSettings.getState());
  useSettings.subscribe(showTheme);
  addEventListener("storage", (event) => {
    if (event.key === KEY) useSettings.setState(readSettings(event.newValue));
  });
}
