// SPDX-License-Identifier: Apache-2.0
// Parses tags as people type them, and assigns colours. The colour is derived from the name, unless the
// user chose another one, which is kept in the browser.

import { create } from "zustand";

export const TAG_MAX = 50;
export const TAGS_MAX = 64;

/** The hues of the theme, as people call them: the index is the number of the hue. */
export const HUE_NAMES = [
  "Green",
  "Blue",
  "Amber",
  "Purple",
  "Red",
  "Teal",
  "Indigo",
  "Olive",
] as const;

/** As the server keeps it: trimmed, lower case. "" when nothing is left. */
export function normalTag(text: string): string {
  return text.trim().toLowerCase();
}

/** The tags of a line: parted by commas, each once. */
export function tagsOf(line: string): string[] {
  return [...new Set(line.split(",").map(normalTag).filter(Boolean))];
}

/** Why a tag cannot be added, or null. */
export function tagFault(tag: string, have: readonly string[]): string | null {
  if ([...tag].length > TAG_MAX) return `A tag has at most ${TAG_MAX} characters.`;
  if (have.length >= TAGS_MAX) return `A chat has at most ${TAGS_MAX} tags.`;
  return null;
}

/** Tags in use that are not on the chat yet and hold the text; those that begin with it first,
 * then the most used. */
export function suggestTags(
  inUse: readonly { tag: string; sessions: number }[],
  have: readonly string[],
  text: string,
  limit = 8,
): string[] {
  const part = normalTag(text);
  return inUse
    .filter((t) => !have.includes(t.tag) && t.tag.includes(part) && t.tag !== part)
    .sort((a, b) => {
      const begins = Number(b.tag.startsWith(part)) - Number(a.tag.startsWith(part));
      return begins || b.sessions - a.sessions || (a.tag < b.tag ? -1 : 1);
    })
    .slice(0, limit)
    .map((t) => t.tag);
}

// ------------------------------------------------------------------ chosen colours

const KEY = "ramet.tag-hues";

function readChosen(): Record<string, number> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null) return {};
    const sound = ([, hue]: [string, unknown]) =>
      Number.isInteger(hue) && (hue as number) >= 0 && (hue as number) < HUE_NAMES.length;
    return Object.fromEntries(Object.entries(kept).filter(sound));
  } catch {
    return {};
  }
}

interface HueState {
  chosen: Record<string, number>;
  choose: (tag: string, hue: number) => void;
}

export const useTagHues = create<HueState>((set, get) => ({
  chosen: readChosen(),
  choose: (tag, hue) => {
    const chosen = { ...get().chosen, [tag]: hue };
    set({ chosen });
    try {
      localStorage.setItem(KEY, JSON.stringify(chosen));
    } catch {
      // A browser that keeps nothing shows the colour until the page is left.
    }
  },
}));

/** The hue that the user chose for the tag; undefined: the one derived from its name. */
export function useTagHue(tag: string): number | undefined {
  return useTagHues((s) => s.chosen[tag]);
}
