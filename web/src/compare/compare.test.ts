// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Comparison, Entry } from "../api/types";
import { alike, partner, rowsOf } from "./rows";
import { costs, money, short, spent, tokens } from "./usage";
import { joinCrumbs, wordDifferences } from "./words";

const entry = (role: string, text: string) => ({ role, text, parts: [] }) as unknown as Entry;
const [q, a1, a2, p] = [
  entry("user", "q"),
  entry("assistant", "a1"),
  entry("assistant", "a2"),
  entry("user", "p"),
];

const comparison = (sides: Entry[][], turns: number[][][]) =>
  ({ shared: 0, sides: sides.map((entries) => ({ entries })), turns }) as unknown as Comparison;

describe("rows", () => {
  it("shows once what all sides begin a turn with", () => {
    const rows = rowsOf(
      comparison(
        [
          [q, a1, p],
          [q, a2],
        ],
        [
          [
            [0, 2],
            [0, 2],
          ],
          [
            [2, 3],
            [2, 2],
          ],
        ],
      ),
    );
    expect(rows).toEqual([
      { same: [q], cells: [[a1], [a2]] },
      { same: [], cells: [[p], []] },
    ]);
  });
  it("alike stops at the first difference, in role too", () => {
    expect(
      alike([
        [q, a1],
        [q, a1, p],
        [q, a2],
      ]),
    ).toBe(1);
    expect(alike([[q], [entry("assistant", "q")]])).toBe(0);
    expect(alike([[], [q]])).toBe(0);
    expect(
      alike([
        [q, a1],
        [q, a1],
      ]),
    ).toBe(2);
  });
  it("looks at the parts where there is no text", () => {
    const call = (name: string) =>
      ({
        role: "assistant",
        text: "",
        parts: [{ type: "tool_call", name }],
      }) as unknown as Entry;
    expect(alike([[call("a")], [call("b")]])).toBe(0);
  });
  it("sets an entry against the same one of its role", () => {
    expect(partner(a2, [q, a2], [a1])).toBe(a1);
    expect(partner(p, [q, a2, p], [q, a1])).toBeNull();
  });
});

describe("differences", () => {
  const kinds = async (a: string, b: string) =>
    (await wordDifferences(a, b))!.map((d) => [d.kind, d.text]);
  it("are told word by word, what was left out first", async () => {
    expect(await kinds("take the slow train", "take the fast train")).toEqual([
      ["same", "take the "],
      ["left out", "slow"],
      ["added", "fast"],
      ["same", " train"],
    ]);
    expect(await kinds("same", "same")).toEqual([["same", "same"]]);
    expect(await kinds("", "new")).toEqual([["added", "new"]]);
  });
  it("give each text back", async () => {
    const [a, b] = ["one two  three\n\nfour, five", "one deux trois\n\nfour five six"];
    const pieces = (await wordDifferences(a, b))!;
    const side = (but: string) =>
      pieces
        .filter((x) => x.kind !== but)
        .map((x) => x.text)
        .join("");
    expect([side("added"), side("left out")].map((t) => t.replace(/\s+/g, " "))).toEqual(
      [a, b].map((t) => t.replace(/\s+/g, " ")),
    );
  });
  it("joins changes that little parts, and keeps what is longer than they are", () => {
    expect(
      joinCrumbs([
        { text: "a", kind: "left out" },
        { text: "b", kind: "added" },
        { text: " ", kind: "same" },
        { text: "c", kind: "left out" },
        { text: "d", kind: "added" },
      ]),
    ).toEqual([
      { text: "a c", kind: "left out" },
      { text: "b d", kind: "added" },
    ]);
    const long = [
      { text: "a", kind: "left out" },
      { text: " and so on ", kind: "same" },
      { text: "c", kind: "added" },
    ] as const;
    expect(joinCrumbs(long)).toEqual(long);
  });
  it("are not looked for in what is too long", async () => {
    expect(await wordDifferences("a".repeat(60_000), "b".repeat(60_000))).toBeNull();
  });
});

describe("usage", () => {
  it("is short", () => {
    expect([0, 999, 1000, 12_400, 999_960, 3_200_000].map(short)).toEqual([
      "0",
      "999",
      "1k",
      "12.4k",
      "1M",
      "3.2M",
    ]);
    expect(tokens({ entries: 1, input: 1200, output: 34 } as never)).toBe("1.2k in · 34 out");
    expect(tokens({ entries: 0 } as never)).toBe("");
    expect(money(0.0123, "USD")).toMatch(/0\.0123/);
    expect(money(1, "not a currency")).toBe("1.00 not a currency");
    expect(
      costs({
        costs: [
          { cost: 1, currency: "x" },
          { cost: 2, currency: "y" },
        ],
      } as never),
    ).toBe("1.00 x + 2.00 y");
  });
  it("knows the time from the first to the last message", () => {
    const at = (s: number) => new Date(s * 1000).toISOString();
    expect(spent({ first_at: at(1), last_at: at(13) } as never)).toBe(12_000);
    expect(spent({ first_at: null, last_at: null } as never)).toBeNull();
  });
});
