// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Entry, Session } from "../api/types";
import { goesWords } from "./DeleteDialog";
import { timeLeft } from "./EphemeralBar";
import { pointWords } from "./ForkSessionDialog";

const chat = (length: number) => ({ head: { length } }) as Session;
const entry = (position: number, role: string, text: string) => ({ position, role, text }) as Entry;

describe("words", () => {
  it("of a fork point", () => {
    expect(pointWords(chat(12), null, "after")).toBe("At the end: all 12 messages are kept.");
    expect(pointWords(chat(1), null, "after")).toBe("At the end: its message is kept.");
    expect(pointWords(chat(0), null, "after")).toBe("At the start: nothing was said yet.");
    expect(pointWords(chat(9), entry(3, "assistant", "By\n night  train."), "after")).toBe(
      "After the answer “By night train.”: 4 messages are kept.",
    );
    expect(pointWords(chat(9), entry(2, "user", "And back?"), "before")).toBe(
      "Before the message “And back?”, which becomes the draft: 2 messages are kept.",
    );
    expect(pointWords(chat(9), entry(0, "user", "Hi"), "before")).toMatch(/nothing is kept\.$/);
    const long = pointWords(chat(1), entry(0, "user", "x".repeat(300)), "after");
    expect(long).toContain("…”");
    expect(long.length).toBeLessThan(140);
  });

  it("of what is deleted", () => {
    const gone = (n: number, entries: number) => ({
      sessions: Array.from({ length: n }, (_, i) => `s${i}`),
      entries,
      dry_run: true,
    });
    expect(goesWords(gone(1, 1), "Trip")).toBe(
      "“Trip” goes, with 1 message that no other chat holds.",
    );
    expect(goesWords(gone(3, 20), "Trip")).toBe(
      "3 chats go, with 20 messages that no other chat holds.",
    );
    expect(goesWords(gone(1, 0), "Trip")).toBe("“Trip” goes. No message is lost with it.");
  });

  it("of the time that a side question has", () => {
    const now = Date.parse("2026-11-15T12:00:00Z");
    const at = (minutes: number) => new Date(now + minutes * 60_000).toISOString();
    expect(timeLeft(at(24 * 60), now)).toBe("24 hours");
    expect(timeLeft(at(100), now)).toBe("2 hours");
    expect(timeLeft(at(40), now)).toBe("40 minutes");
    expect(timeLeft(at(1), now)).toBe("1 minute");
    expect(timeLeft(at(-5), now)).toBe("0 minutes");
    expect(timeLeft(at(72 * 60), now)).toBe("3 days");
  });
});
