// SPDX-License-Identifier: Apache-2.0
import { describe, expect, test } from "vitest";
import type { Entry, EntryPage, Move, TurnEvent } from "../api/types";
import {
  addAfter,
  addBefore,
  allowed,
  answerStart,
  append,
  asideOf,
  canRedo,
  charsOf,
  cutAt,
  endOf,
  isEnd,
  isMark,
  keepSame,
  lastMove,
  threadOf,
  turn,
  WINDOW,
  type Thread,
} from "./thread";
import { entryAt as entry } from "./testing";

const page = (from: number, to: number, length = to, branch = "b1"): EntryPage => ({
  entries: Array.from({ length: to - from }, (_, i) => entry(from + i)),
  head: { branch_id: branch, length, entry_id: "e" + (length - 1), prefix_hash: "h" + (length - 1) },
  more_before: from > 0,
  more_after: to < length,
});
const thread = (from: number, to: number, length = to, branch = "b1"): Thread =>
  threadOf(page(from, to, length, branch), null);

const event = (some: object): TurnEvent =>
  ({ session_id: "s", tree_id: "t", turn_id: "t1", branch_id: "b1", ...some }) as TurnEvent;
const started = event({ type: "turn.started", agent: "echo" });
const said = (offset: number, text: string) => event({ type: "turn.delta", offset, text });

describe("entries that are appended", () => {
  test("the next one goes to the end, and the head with it", () => {
    const { thread: now, gap } = append(thread(0, 2), "b1", entry(2));
    expect(gap).toBe(false);
    expect(now.entries.map((one) => one.id)).toEqual(["e0", "e1", "e2"]);
    expect(now.head).toEqual({ branch_id: "b1", length: 3, entry_id: "e2", prefix_hash: "h2" });
  });
  test("the same one twice changes nothing", () => {
    const once = append(thread(0, 2), "b1", entry(2)).thread;
    expect(append(once, "b1", entry(2))).toEqual({ thread: once, gap: false });
  });
  test("one of another branch is not ours", () => {
    const before = thread(0, 2);
    expect(append(before, "b2", entry(2))).toEqual({ thread: before, gap: false });
  });
  test("one that leaves a hole, or is another in the same place, is a gap", () => {
    expect(append(thread(0, 2), "b1", entry(3)).gap).toBe(true);
    expect(append(thread(0, 2), "b1", entry(1, { id: "other" })).gap).toBe(true);
  });
  test("outside of the window it is counted and not shown", () => {
    const { thread: now } = append(thread(0, 2, 10), "b1", entry(10));
    expect(now.entries).toHaveLength(2);
    expect(now.head.length).toBe(11);
    expect(now.moreAfter).toBe(true);
  });
});

describe("pages", () => {
  test("an older one goes before; the end falls off and is remembered", () => {
    const { thread: now, gap } = addBefore(thread(100, 100 + WINDOW), page(0, 100, 100 + WINDOW));
    expect(gap).toBe(false);
    expect(now.entries).toHaveLength(WINDOW);
    expect(now.entries[0]!.position).toBe(0);
    expect(now.moreBefore).toBe(false);
    expect(now.moreAfter).toBe(true);
  });
  test("a newer one goes after; the beginning falls off", () => {
    const { thread: now } = addAfter(thread(0, WINDOW, WINDOW + 50), page(WINDOW, WINDOW + 50));
    expect(now.entries.at(-1)!.position).toBe(WINDOW + 49);
    expect(now.entries).toHaveLength(WINDOW);
    expect(now.moreBefore).toBe(true);
    expect(now.moreAfter).toBe(false);
  });
  test("a page that does not fit is a gap", () => {
    expect(addBefore(thread(100, 110), page(0, 50, 110)).gap).toBe(true);
    expect(addAfter(thread(0, 10, 50), page(20, 30, 50)).gap).toBe(true);
  });
  test("what is the same stays the same object", () => {
    const old = thread(0, 3);
    const same = keepSame(old, thread(0, 3));
    expect(same.entries).toBe(old.entries);
    const next = thread(0, 3);
    next.entries[1] = entry(1, { versions: { number: 1, count: 2 } });
    const changed = keepSame(old, next);
    expect(changed.entries[0]).toBe(old.entries[0]);
    expect(changed.entries[1]).not.toBe(old.entries[1]);
  });
});

describe("an answer in the making", () => {
  const begun = turn(thread(0, 1), started).thread;
  test("words go on from their offset, however often they come", () => {
    let now = turn(begun, said(0, "hello ")).thread;
    now = turn(now, said(6, "there")).thread;
    expect(turn(now, said(6, "there")).thread).toBe(now);
    expect(turn(now, said(0, "hello there")).thread).toBe(now);
    now = turn(now, said(4, "o there you")).thread;
    expect(now.answer!.text).toBe("hello there you");
  });
  test("characters are counted as the server does", () => {
    expect(charsOf("a😀b")).toBe(3);
    let now = turn(begun, said(0, "😀 ")).thread;
    now = turn(now, said(2, "ok")).thread;
    expect(now.answer!.text).toBe("😀 ok");
  });
  test("missed words are a gap, and so are those of an unknown turn", () => {
    expect(turn(begun, said(5, "x")).gap).toBe(true);
    expect(turn(thread(0, 1), said(0, "x")).gap).toBe(true);
  });
  test("a turn on another branch is not ours", () => {
    const before = thread(0, 1);
    expect(turn(before, { ...started, branch_id: "b9" })).toEqual({ thread: before, gap: false });
  });
  test("an entry takes its words out of the answer, which counts on", () => {
    let now = turn(begun, said(0, "hello")).thread;
    now = append(now, "b1", entry(1, { turn_id: "t1", text: "hello" })).thread;
    expect(now.answer).toMatchObject({ text: "", base: 5 });
    now = turn(now, said(5, " more")).thread;
    expect(now.answer!.text).toBe(" more");
    expect(turn(now, event({ type: "turn.done", status: "done" })).thread.answer).toBeNull();
  });
  test("a reload goes on where the session says it is", () => {
    const running = {
      turn_id: "t1",
      branch_id: "b1",
      entry_id: "e0",
      text: "hello ",
      offset: 3,
      thinking: "",
      agent: "echo",
      question: null,
      plan: null,
    };
    const now = threadOf(page(0, 1), running);
    expect(turn(now, said(9, "there")).thread.answer!.text).toBe("hello there");
    expect(threadOf(page(0, 1, 1, "b2"), running).answer).toBeNull();
  });
  test("a question is there until something is said", () => {
    const question = { id: "q1", kind: "input", text: "?", options: null };
    let now = turn(begun, event({ type: "turn.question", question })).thread;
    expect(now.answer!.question).toEqual(question);
    now = turn(now, said(0, "ok")).thread;
    expect(now.answer!.question).toBeNull();
  });
  test("the entries of a question and its answer are no part of what is said", () => {
    const question = { id: "e1", kind: "input", text: "which?", options: null };
    const parts = [
      { type: "text" as const, text: "which?" },
      { type: "data" as const, data: { type: "question", ...question } },
    ];
    let now = append(begun, "b1", entry(1, { id: "e1", role: "assistant", turn_id: "t1", text: "which?", parts })).thread;
    now = turn(now, event({ type: "turn.question", question })).thread;
    expect(now.answer!.question).toEqual(question);
    now = append(now, "b1", entry(2, { role: "user", turn_id: "t1", text: "that" })).thread;
    expect(now.answer!.question).toBeNull();
    const step = turn(now, said(0, "ok"));
    expect(step.gap).toBe(false);
    expect(step.thread.answer!.text).toBe("ok");
    expect(isMark(parts[1]!.data)).toBe(true);
    expect(isMark({ question_id: 1 })).toBe(false);
  });
});

describe("what may be done with a message", () => {
  const five = thread(0, 5);
  const at = (n: number, write = true, role?: Entry["role"]) =>
    allowed(five, role ? entry(n, { role }) : five.entries[n]!, write);
  test("user: edit, fork, rewind, but not on the first; regenerate when it is unanswered", () => {
    expect(at(2)).toMatchObject({ edit: true, regenerate: false, fork: true, rewind: true, feedback: false });
    expect(at(0).rewind).toBe(false);
    expect(at(4)).toMatchObject({ regenerate: true, rewind: true });
    expect(allowed(turn(five, started).thread, five.entries[4]!, true).regenerate).toBe(false);
  });
  test("answers: everything", () => {
    expect(at(1)).toMatchObject({ edit: true, regenerate: true, fork: true, rewind: true, feedback: true });
    expect(allowed(thread(0, 2), entry(1), true).rewind).toBe(true);
  });
  test("a rewind to the last answer sets nothing aside", () => {
    expect(isEnd(thread(0, 2), entry(1))).toBe(true);
    expect(isEnd(five, five.entries[1]!)).toBe(false);
    expect(isEnd(thread(0, 1), entry(0))).toBe(false);
  });
  test("system and tool: neither", () => {
    for (const role of ["system", "tool"] as const)
      expect(at(1, true, role)).toMatchObject({ edit: false, regenerate: false, fork: false, rewind: false });
  });
  test("who may not write still copies, forks and votes", () => {
    expect(at(1, false)).toEqual({
      copy: true,
      edit: false,
      regenerate: false,
      fork: true,
      rewind: false,
      feedback: true,
    });
  });
  test("a cut is before a user's message and after an answer", () => {
    expect(cutAt(entry(2))).toEqual({ at: { entry_id: "e2", side: "before" }, cut: "snap_before" });
    expect(cutAt(entry(1))).toEqual({ at: { entry_id: "e1", side: "after" }, cut: "snap_after" });
  });
  test("an answer begins with the first entry of its turn", () => {
    const entries = [
      entry(0, { turn_id: "t" }),
      entry(1, { turn_id: "t" }),
      entry(2, { turn_id: "t", role: "tool" }),
      entry(3, { turn_id: "t" }),
    ];
    expect(answerStart({ ...five, entries }, entries[3]!).id).toBe("e1");
    expect(answerStart(five, five.entries[3]!).id).toBe("e3");
  });
  test("how a turn ended is told by its last entry", () => {
    const failed = entry(1, { parts: [{ type: "data", data: { turn: "failed", error: "no" } }] });
    expect(endOf(failed)).toEqual({ turn: "failed", error: "no" });
    expect(endOf(entry(1))).toBeNull();
  });
});

describe("moves of the head", () => {
  let number = 0;
  const move = (kind: Move["kind"], from: string, to: string, from_length: number, to_length: number): Move => ({
    number: ++number,
    kind,
    from,
    to,
    from_length,
    to_length,
    by: "ann",
    reason: "",
    created_at: "",
  });
  const log = (...moves: Move[]) => moves.reverse();
  const rewind = move("rewind", "b1", "b2", 10, 4);
  const rewound = thread(0, 4, 4, "b2");

  test("a rewind is told as long as nothing was said since", () => {
    expect(asideOf(rewound, log(rewind))).toMatchObject({ count: 6, by: "ann" });
    const spoken = append(rewound, "b2", entry(4, { branch_id: "b2" })).thread;
    expect(asideOf(spoken, log(rewind))).toBeNull();
    expect(asideOf(turn(rewound, { ...started, branch_id: "b2" }).thread, log(rewind))).toBeNull();
  });
  test("an undo ends it, a redo brings it back", () => {
    const undo = move("undo", "b2", "b1", 4, 10);
    const redo = move("redo", "b1", "b2", 10, 4);
    expect(asideOf(thread(0, 10), log(rewind, undo))).toBeNull();
    expect(canRedo(log(rewind, undo))).toBe(true);
    expect(canRedo(log(rewind, undo, redo))).toBe(false);
    expect(asideOf(rewound, log(rewind, undo, redo))).toMatchObject({ count: 6 });
  });
  test("the undo of the second of two rewinds shows the first again", () => {
    const second = move("rewind", "b2", "b3", 4, 2);
    const undo = move("undo", "b3", "b2", 2, 4);
    expect(lastMove(log(rewind, second, undo))).toBe(rewind);
    expect(asideOf(rewound, log(rewind, second, undo))).toMatchObject({ count: 6 });
  });
  test("so do an edit and a new answer in mid-chat, until the user goes on", () => {
    const edit = log(move("edit", "b1", "b2", 10, 4));
    const edited = append(rewound, "b2", entry(4, { branch_id: "b2" })).thread;
    expect(asideOf(edited, edit)).toMatchObject({ count: 5 });
    const answered = append(edited, "b2", entry(5, { branch_id: "b2" })).thread;
    expect(asideOf(answered, edit)).toMatchObject({ count: 5 });
    expect(asideOf(append(answered, "b2", entry(6, { branch_id: "b2" })).thread, edit)).toBeNull();
    const again = log(move("regenerate", "b1", "b3", 10, 5));
    const running = turn(thread(0, 5, 5, "b3"), { ...started, branch_id: "b3" }).thread;
    expect(asideOf(running, again)).toMatchObject({ count: 4 });
    // The last answer: its version alone is another.
    expect(asideOf(turn(thread(0, 9, 9, "b3"), { ...started, branch_id: "b3" }).thread, again)).toBeNull();
  });
  test("no other move leaves a row", () => {
    expect(asideOf(rewound, log(move("switch", "b1", "b2", 10, 4)))).toBeNull();
    expect(asideOf(rewound, [])).toBeNull();
  });
});
