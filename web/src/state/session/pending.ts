// SPDX-License-Identifier: Apache-2.0
// Messages that were sent but not confirmed, kept in this browser across a reload together with their key,
// so that sending one again stores it once.
import type { Pending } from "./state";

const keyOf = (session: string) => "ramet.outbox." + session;

/**
 * After a reload they are no longer being sent: they are marked so, and wait for the user. Those that were
 * queued still are.
 */
export const readOutbox = (session: string): Pending[] => {
  try {
    const list = JSON.parse(localStorage.getItem(keyOf(session)) ?? "[]") as Pending[];
    return list.map((one) =>
      one.state === "queued"
        ? { ...one, held: false }
        : { ...one, state: "failed", error: "The page was left before this was sent." },
    );
  } catch {
    return [];
  }
};

export const writeOutbox = (session: string, pending: Pending[]): void => {
  try {
    if (pending.length === 0) localStorage.removeItem(keyOf(session));
    else localStorage.setItem(keyOf(session), JSON.stringify(pending));
  } catch {
    // it lives as long as the page then
  }
};
