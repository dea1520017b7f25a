// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { describe, expect, it } from "vitest";
import { suggestTags, tagFault, tagsOf, useTagHues } from "./tags";

describe("tags", () => {
  it("are read from a line as the server keeps them", () => {
    expect(tagsOf(" Travel, by  Train ,,travel")).toEqual(["travel", "by  train"]);
    expect(tagsOf("  ")).toEqual([]);
  });

  it("have limits, counted in characters", () => {
    expect(tagFault("a".repeat(50), [])).toBeNull();
    expect(tagFault("é".repeat(50), [])).toBeNull();
    expect(tagFault("a".repeat(51), [])).toMatch(/50/);
    expect(tagFault("a", Array.from({ length: 64 }, (_, i) => `t${i}`))).toMatch(/64/);
  });

  it("are suggested from those in use", () => {
    const inUse = [
      { tag: "cheap", sessions: 1 },
      { tag: "train", sessions: 2 },
      { tag: "travel", sessions: 9 },
      { tag: "by train", sessions: 99 },
    ];
    expect(suggestTags(inUse, [], "")).toEqual(["by train", "travel", "train", "cheap"]);
    expect(suggestTags(inUse, [], "Tra")).toEqual(["travel", "train", "by train"]);
    expect(suggestTags(inUse, ["travel"], "tra")).toEqual(["train", "by train"]);
    expect(suggestTags(inUse, [], "", 2)).toHaveLength(2);
  });

  it("keep the colour that somebody chose", () => {
    useTagHues.getState().choose("travel", 3);
    expect(useTagHues.getState().chosen.travel).toBe(3);
    expect(JSON.parse(localStorage.getItem("ramet.tag-hues")!)).toEqual({ travel: 3 });
  });
});
