// SPDX-License-Identifier: Apache-2.0
// Differences between two texts, word by word. The library is loaded on first use.

export interface Piece {
  text: string;
  kind: "same" | "added" | "left out";
}

/** Two texts that have little in common would take long and show nothing. */
const TIMEOUT_MS = 250;
const MAX_LENGTH = 100_000;

/** Null when they are too long or too different to be worth marking. */
export async function wordDifferences(base: string, text: string): Promise<Piece[] | null> {
  if (base === text) return [{ text, kind: "same" }];
  if (base.length + text.length > MAX_LENGTH) return null;
  const { diffWordsWithSpace } = await import("diff");
  const changes = diffWordsWithSpace(base, text, { timeout: TIMEOUT_MS });
  if (!changes) return null;
  return joinCrumbs(
    changes.map(({ value, added, removed }) => ({
      text: value,
      kind: added ? "added" : removed ? "left out" : "same",
    })),
  );
}

interface Change {
  left: string;
  added: string;
}

/** What stayed the same between two changes, and is shorter than both of them, only breaks them up. */
const isCrumb = (same: string, before: Change, after: Change): boolean => {
  const length = same.trim().length;
  const size = ({ left, added }: Change) => Math.max(left.length, added.length);
  return !same.includes("\n") && length <= size(before) && length <= size(after);
};

/** Runs of changes become one each: what was left out, then what was added. Crumbs go into both. */
export function joinCrumbs(pieces: readonly Piece[]): Piece[] {
  const runs: (Change | string)[] = [];
  for (const { text, kind } of pieces) {
    let last = runs.at(-1);
    if (kind === "same") {
      runs.push(text);
      continue;
    }
    if (last === undefined || typeof last === "string") runs.push((last = { left: "", added: "" }));
    if (kind === "left out") last.left += text;
    else last.added += text;
  }
  const joined: (Change | string)[] = [];
  for (const run of runs) {
    const same = joined.at(-1);
    const before = joined.at(-2);
    if (typeof run === "object" && typeof same === "string" && typeof before === "object") {
      if (isCrumb(same, before, run)) {
        joined.pop();
        before.left += same + run.left;
        before.added += same + run.added;
        continue;
      }
    }
    joined.push(typeof run === "string" ? run : { ...run });
  }
  return joined.flatMap((run): Piece[] =>
    typeof run === "string"
      ? [{ text: run, kind: "same" }]
      : [
          { text: run.left, kind: "left out" as const },
          { text: run.added, kind: "added" as const },
        ].filter((piece) => piece.text !== ""),
  );
}
