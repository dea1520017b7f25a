// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import { markFormulas, splitThoughts } from "./source";

describe("thoughts", () => {
  test("are taken out of the text, and nothing else is", () => {
    expect(splitThoughts("plain")).toEqual([{ kind: "text", text: "plain" }]);
    expect(splitThoughts("<think>\nhm\n</think>\n\nSo.")).toEqual([
      { kind: "thinking", text: "hm", open: false },
      { kind: "text", text: "\n\nSo." },
    ]);
    expect(splitThoughts("a\n<thinking>b</thinking> c")).toMatchObject([
      { text: "a" },
      { kind: "thinking", text: "b" },
      { text: " c" },
    ]);
    expect(splitThoughts("<think>on and")).toEqual([{ kind: "thinking", text: "on and", open: true }]);
  });
  test("in code and in mid-sentence it is text", () => {
    for (const text of ["use `<think>` here", "```\n<think>x</think>\n```\n", "```\n<think>open", "the <think> tag"])
      expect(splitThoughts(text)).toEqual([{ kind: "text", text }]);
  });
});

describe("formulas", () => {
  test.each([
    ["a $x^2$ b", "a $$x^2$$ b"],
    ["\\(a_b\\) and \\(c\\)", "$$a_b$$ and $$c$$"],
    ["$$x$$", "$$\\displaystyle x$$"],
    ["\\[\nx = 1\n\\]", "$$\\displaystyle x = 1$$"],
    ["$$\nx\n$$", "$$\nx\n$$"],
    ["$\\frac{1}{2}$", "$$\\frac{1}{2}$$"],
  ])("%s", (text, marked) => expect(markFormulas(text)).toBe(marked));
  test.each([
    "it costs $5 and $10",
    "`$x$` and `\\(y\\)`",
    "```\n$x$\n```",
    "an escaped \\$x$",
    "US$5, US$6",
  ])("%s is none", (text) => expect(markFormulas(text)).toBe(text));
});
