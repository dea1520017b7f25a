// SPDX-License-Identifier: Apache-2.0
// The commands that are available now. A view provides its commands while it is mounted; keys, palette,
// sheet and menus run them by id. Names and keys of commands are in keys/table.ts.
import { useEffect, useLayoutEffect, useRef } from "react";
import type { CommandId } from "../keys/table";
import { bindingsOf, useSettings } from "../state/settings";
import { toastError } from "../ui/Toast";

export interface Handler {
  run: () => void | Promise<unknown>;
  /** May it be done now? Always when not given. */
  when?: () => boolean;
}

export type Handlers = Partial<Record<CommandId, Handler | (() => void | Promise<unknown>)>>;

/** The last provider of a command has it; when that one unmounts, the provider before gets it back. */
const provided: { get: () => Handlers }[] = [];

function handlerOf(id: CommandId): Handler | null {
  for (let i = provided.length - 1; i >= 0; i--) {
    const found = provided[i]!.get()[id];
    if (found) return typeof found === "function" ? { run: found } : found;
  }
  return null;
}

/** Outside of React; returns how to take it back. */
export function provideCommands(handlers: Handlers): () => void {
  const one = { get: () => handlers };
  provided.push(one);
  return () => void provided.splice(provided.indexOf(one), 1);
}

/** Provides commands while the component is mounted; the newest closures are always used. */
export function useCommands(handlers: Handlers): void {
  const newest = useRef(handlers);
  useLayoutEffect(() => {
    newest.current = handlers;
  });
  useEffect(() => {
    const one = { get: () => newest.current };
    provided.push(one);
    return () => void provided.splice(provided.indexOf(one), 1);
  }, []);
}

export function canRun(id: CommandId): boolean {
  const handler = handlerOf(id);
  return handler !== null && (handler.when?.() ?? true);
}

/** False if no view provides it now. A failure is shown in a toast with "Try again". */
export function runCommand(id: CommandId): boolean {
  const handler = handlerOf(id);
  if (!handler || !(handler.when?.() ?? true)) return false;
  const fail = (error: unknown) =>
    toastError(error, { label: "Try again", run: () => void runCommand(id) });
  try {
    const done = handler.run();
    if (done instanceof Promise) done.catch(fail);
  } catch (error) {
    fail(error);
  }
  return true;
}

/** The first key of a command as it is bound in this browser, for tooltips and menus. */
export function useKeysOf(id: CommandId): string | undefined {
  return useSettings((s) => bindingsOf(id, s.bindings)[0]);
}

/** The same outside of React. */
export function keysOf(id: CommandId): string | undefined {
  return bindingsOf(id, useSettings.getState().bindings)[0];
}
