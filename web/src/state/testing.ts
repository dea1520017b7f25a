// SPDX-License-Identifier: Apache-2.0
// Helpers for the tests of state.
import type { Entry } from "../api/types";

/** An entry as the server returns it, alternating between user and assistant. */
export const entryAt = (position: number, some: Partial<Entry> = {}): Entry =>
  ({
    id: "e" + position,
    position,
    branch_id: "b1",
    role: position % 2 ? "assistant" : "user",
    text: "text " + position,
    parts: [{ type: "text", text: "text " + position }],
    turn_id: null,
    author: "ann",
    prefix_hash: "h" + position,
    versions: { number: 1, count: 1 },
    ...some,
  }) as Entry;
