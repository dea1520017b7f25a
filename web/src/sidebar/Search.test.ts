// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Hit } from "../api/types";
import { highlightPieces, hitPath, searchWords } from "./Search";

describe("search", () => {
  it("takes the last word as a beginning, but not what is quoted or already one", () => {
    expect(searchWords(" night tra ")).toBe("night tra*");
    expect(searchWords("größ")).toBe("größ*");
    expect(searchWords('"night train"')).toBe('"night train"');
    expect(searchWords("tra*")).toBe("tra*");
  });

  it("cuts the text at its marks, which count characters", () => {
    const pieces = highlightPieces({ highlight: "🚂 by train", marks: [{ start: 5, length: 5 }] });
    expect(pieces).toEqual([
      { text: "🚂 by ", on: false },
      { text: "train", on: true },
    ]);
    expect(highlightPieces({ highlight: "plain", marks: [] })).toEqual([{ text: "plain", on: false }]);
    expect(
      highlightPieces({
        highlight: "aab",
        marks: [
          { start: 0, length: 2 },
          { start: 1, length: 2 },
        ],
      }).map((p) => p.text),
    ).toEqual(["aa", "b"]);
  });

  it("jumps to the hit, on its branch when that was abandoned", () => {
    const hit = { session_id: "a b", entry_id: "e1", branch_id: "b7", abandoned: false } as Hit;
    expect(hitPath(hit)).toBe("/chat/a%20b?entry=e1");
    expect(hitPath({ ...hit, abandoned: true })).toBe("/chat/a%20b?entry=e1&branch=b7");
  });
});
