// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { layout, type GraphNode, type Layout, type Order } from "./layout";

const node = (id: number, parent: number | null, at = id): GraphNode => ({
  id: String(id),
  parent: parent === null ? null : String(parent),
  at,
});

/** The same numbers every time. */
function numbers(seed: number) {
  return (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
}

const shapes: Record<string, (n: number) => GraphNode[]> = {
  chain: (n) => Array.from({ length: n }, (_, i) => node(i, i ? i - 1 : null)),
  star: (n) => Array.from({ length: n }, (_, i) => node(i, i ? 0 : null)),
  comb: (n) => Array.from({ length: n }, (_, i) => node(i, i ? (i % 2 ? i - 1 : i - 2) : null)),
  binary: (n) => Array.from({ length: n }, (_, i) => node(i, i ? (i - 1) >> 1 : null)),
  random: (n) => {
    const next = numbers(7);
    return Array.from({ length: n }, (_, i) => node(i, i ? next(i) : null, next(1000)));
  },
};

function check(nodes: GraphNode[], { rows, lanes }: Layout<GraphNode>) {
  expect(rows.map((r) => r.row)).toEqual(nodes.map((_, i) => i));
  expect(new Set(rows.map((r) => r.node.id)).size).toBe(nodes.length);
  const ends: { to: number; id: string }[] = [];
  for (const r of rows) {
    expect(r.parentRow).toBeLessThan(r.row);
    expect(r.lane).toBeLessThan(lanes);
    if (r.parentRow >= 0) {
      const parent = rows[r.parentRow]!;
      expect(parent.node.id).toBe(r.node.parent);
      expect(parent.railTo).toBeGreaterThanOrEqual(r.row);
      expect(parent.railTo === r.row).toBe(r.lane === parent.lane);
    }
    const last = ends[r.lane];
    if (last) {
      if (last.id === r.node.parent) expect(last.to).toBe(r.row);
      else expect(last.to).toBeLessThan(r.row);
    }
    ends[r.lane] = { to: r.railTo, id: r.node.id };
  }
}

describe("layout", () => {
  for (const order of ["time", "branch"] as Order[])
    for (const [name, make] of Object.entries(shapes))
      it(`keeps its invariants: ${name} by ${order}`, () => {
        for (const n of [0, 1, 2, 7, 200]) {
          const nodes = make(n);
          check(nodes, layout(nodes, order));
        }
      });

  for (const [name, make] of Object.entries(shapes))
    it(`needs few lanes for ten thousand nodes: ${name}`, () => {
      const placed = layout(make(10_000), "branch");
      expect(placed.rows).toHaveLength(10_000);
      expect(placed.lanes).toBeLessThanOrEqual(Math.log2(10_000) + 1);
    });

  it("stands in order of time", () => {
    const rows = layout([node(0, null, 0), node(1, 0, 9), node(2, 0, 3)], "time").rows;
    expect(rows.map((r) => r.node.id)).toEqual(["0", "2", "1"]);
    expect(rows.map((r) => r.lane)).toEqual([0, 1, 0]);
  });

  it("takes a node without its parent for a root", () => {
    const rows = layout([{ id: "a", parent: "gone", at: 0 }], "time").rows;
    expect(rows[0]).toMatchObject({ parentRow: -1, lane: 0 });
  });
});
