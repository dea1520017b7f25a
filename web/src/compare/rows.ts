// SPDX-License-Identifier: Apache-2.0
// Arranges messages in rows, one per turn. What all sides have in common at the start of a turn is shown
// once. Pure.
import type { Comparison, Entry } from "../api/types";

export interface CompareRow {
  /** The beginning of the turn that is the same on every side. */
  same: Entry[];
  /** The rest, a cell a side; empty where a side has no such turn. */
  cells: Entry[][];
}

const face = (entry: Entry): string =>
  `${entry.role}\n${entry.text}\n${entry.text ? "" : JSON.stringify(entry.parts)}`;

/** How many entries at the beginning look alike in all cells. */
export function alike(cells: readonly (readonly Entry[])[]): number {
  const shortest = Math.min(...cells.map((cell) => cell.length));
  for (let i = 0; i < shortest; i++) {
    const first = face(cells[0]![i]!);
    if (cells.some((cell) => face(cell[i]!) !== first)) return i;
  }
  return shortest;
}

/** The turns as the server aligned them. */
export function rowsOf(comparison: Comparison): CompareRow[] {
  const turns = comparison.turns as number[][][];
  return turns.map((turn) => {
    const cells = comparison.sides.map((side, i) => {
      const [from, to] = turn[i] ?? [0, 0];
      return side.entries.slice(from, to);
    });
    const n = alike(cells);
    return { same: cells[0]!.slice(0, n), cells: cells.map((cell) => cell.slice(n)) };
  });
}

/** The entry that this one is set against: the same in order among those of its role. */
export function partner(
  entry: Entry,
  cell: readonly Entry[],
  base: readonly Entry[],
): Entry | null {
  const nth = cell.filter((e) => e.role === entry.role).indexOf(entry);
  return base.filter((e) => e.role === entry.role)[nth] ?? null;
}
