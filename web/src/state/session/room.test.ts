// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError } from "../../api/client";
import type { Branch, Entry, LiveEvent } from "../../api/types";
import { entryAt as entry } from "../testing";

const api = vi.hoisted(() => ({
  getSession: vi.fn(),
  listMoves: vi.fn(),
  listEntries: vi.fn(),
  listBranches: vi.fn(),
  getUsage: vi.fn(),
  getEntry: vi.fn(),
  rewind: vi.fn(),
  undo: vi.fn(),
  redo: vi.fn(),
  switchTo: vi.fn(),
}));
const turns = vi.hoisted(() => ({ sendMessage: vi.fn(), regenerate: vi.fn() }));
type Hub = {
  hear: (event: unknown) => void;
  open: () => void;
  onEvent: (listener: (event: unknown) => void) => () => void;
  onOpen: (listener: () => void) => () => void;
  subscribe: (listener: () => void) => () => void;
  state: () => string;
};
const hub = vi.hoisted((): Hub => ({
  hear: (() => {}),
  open: (): void => {},
  onEvent(listener: (event: unknown) => void) {
    hub.hear = listener;
    return () => {};
  },
  onOpen(listener: () => void) {
    hub.open = listener;
    return () => {};
  },
  subscribe: () => () => {},
  state: () => "live",
}));
vi.mock("../../api/ramet", () => api);
vi.mock("../../api/turns", () => turns);
vi.mock("../../api/events", () => ({ live: () => hub }));

const { Room } = await import("./room");

const head = (length: number, branch = "b1") => ({
  branch_id: branch,
  length,
  entry_id: length ? "e" + (length - 1) : null,
  prefix_hash: "h" + (length - 1),
});
const page = (length: number, branch = "b1") => ({
  entries: Array.from({ length }, (_, i) => entry(i)),
  head: head(length, branch),
  more_before: false,
  more_after: false,
});
const session = (length: number, some: object = {}) => ({
  id: "s",
  head: head(length),
  running: null,
  level: "owner",
  ...some,
});
const appended = (one: Entry): LiveEvent =>
  ({ type: "entry.appended", session_id: "s", tree_id: "t", branch_id: "b1", entry: one });

const tick = () => new Promise((done) => setTimeout(done, 0));
const ids = (room: InstanceType<typeof Room>) => room.state.thread.entries.map((one) => one.id);

const enter = async (length = 2, some: object = {}) => {
  api.getSession.mockResolvedValue(session(length, some));
  api.listEntries.mockResolvedValue(page(length));
  const room = new Room("s");
  room.enter(null, null);
  await tick();
  return room;
};

beforeEach(() => {
  localStorage.clear();
  vi.resetAllMocks();
  api.listMoves.mockResolvedValue({ moves: [], next_cursor: null });
  api.getUsage.mockResolvedValue(null);
});
afterEach(() => vi.restoreAllMocks());

test("events that come while a page is read are applied to what it brings", async () => {
  const room = await enter();
  let give!: (value: unknown) => void;
  api.listEntries.mockReturnValueOnce(new Promise((done) => (give = done)));
  const reading = room.history.reload();
  hub.hear(appended(entry(2)));
  hub.hear(appended(entry(3)));
  expect(ids(room)).toEqual(["e0", "e1"]);
  give(page(3)); // it has the first of the two already
  await reading;
  expect(ids(room)).toEqual(["e0", "e1", "e2", "e3"]);
});

test("a hole makes it read anew, and so does a connection that is back", async () => {
  const room = await enter();
  api.listEntries.mockResolvedValue(page(5));
  hub.hear(appended(entry(4)));
  await tick();
  expect(ids(room)).toHaveLength(5);
  api.listEntries.mockResolvedValue(page(6));
  hub.open();
  await tick();
  expect(ids(room)).toHaveLength(6);
});

test("events of other sessions are not ours; that ours is deleted needs no question", async () => {
  const room = await enter();
  hub.hear({ ...appended(entry(2)), session_id: "other" });
  expect(ids(room)).toHaveLength(2);
  api.getSession.mockClear();
  hub.hear({ type: "session.deleted", session_id: "s" });
  expect(room.state.status).toBe("gone");
  expect(api.getSession).not.toHaveBeenCalled();
});

test("a message is shown at once, and is an entry when the server has it", async () => {
  const room = await enter();
  turns.sendMessage.mockResolvedValue({ session_id: "s", turn_id: "t" });
  const sent = room.outbox.send("hello");
  expect(room.state.pending).toMatchObject([{ text: "hello", state: "sending" }]);
  const { id } = room.state.pending[0]!;
  expect(localStorage.getItem("ramet.outbox.s")).toContain(id);
  hub.hear(appended(entry(2, { id })));
  await sent;
  expect(room.state.pending).toEqual([]);
  expect(ids(room)).toEqual(["e0", "e1", id]);
  expect(localStorage.getItem("ramet.outbox.s")).toBeNull();
});

test("what could not be sent is sent with the same key when the server is back", async () => {
  const room = await enter();
  turns.sendMessage.mockRejectedValueOnce(new ApiError(0, "unreachable", "away"));
  await room.outbox.send("hello");
  expect(room.state.pending).toMatchObject([{ state: "queued" }]);
  turns.sendMessage.mockResolvedValue({ session_id: "s", turn_id: "t" });
  hub.open();
  await tick();
  expect(turns.sendMessage).toHaveBeenCalledTimes(2);
  const [first, second] = turns.sendMessage.mock.calls;
  expect(first![2]).toBe(second![2]);
  expect(first![1]).toEqual(second![1]);
});

test("what the server refused waits for its user, who may take it back", async () => {
  const room = await enter();
  turns.sendMessage.mockRejectedValue(new ApiError(422, "bad_parts", "no such file"));
  await room.outbox.send("hello");
  expect(room.state.pending).toMatchObject([{ state: "failed", error: "no such file" }]);
  hub.open();
  await tick();
  expect(turns.sendMessage).toHaveBeenCalledTimes(1);
  expect(room.outbox.discard(room.state.pending[0]!.id)).toBe("hello");
  expect(room.state.pending).toEqual([]);
});

test("what is said while an answer is made is queued, and sent in its order when it ends", async () => {
  const room = await enter();
  const turn = { session_id: "s", tree_id: "t", branch_id: "b1" };
  hub.hear({ ...turn, type: "turn.started", turn_id: "t1", agent: "a" });
  await room.outbox.send("one");
  await room.outbox.send("two");
  expect(turns.sendMessage).not.toHaveBeenCalled();
  const [one, two] = room.state.pending;
  room.outbox.hold(one!.id, true);
  hub.hear({ ...turn, type: "turn.done", turn_id: "t1", status: "done" });
  await tick();
  expect(turns.sendMessage).not.toHaveBeenCalled(); // it is edited, and the next waits for it
  turns.sendMessage.mockResolvedValue({ session_id: "s", turn_id: "t2" });
  room.outbox.hold(one!.id, false, "one, edited");
  await tick();
  expect(turns.sendMessage).toHaveBeenCalledTimes(1);
  expect(turns.sendMessage.mock.calls[0]![1]).toMatchObject({ id: one!.id, text: "one, edited" });
  room.outbox.discard(two!.id);
  expect(room.outbox.hasQueue).toBe(false);
});

test("an action under way is not begun twice", async () => {
  const room = await enter(4);
  let done!: (value: unknown) => void;
  api.rewind.mockReturnValue(new Promise((resolve) => (done = resolve)));
  const first = room.head.rewind(entry(1));
  const second = room.head.rewind(entry(1));
  expect(room.state.busy.has("rewind:e1")).toBe(true);
  done(session(2));
  await Promise.all([first, second]);
  expect(api.rewind).toHaveBeenCalledTimes(1);
  expect(api.rewind.mock.calls[0]![1]).toEqual({ at: { entry_id: "e1", side: "after" }, cut: "snap_after" });
  expect(room.state.busy.size).toBe(0);
});

test("undo is for what is shown, and says who moved", async () => {
  const room = await enter(2);
  api.undo.mockRejectedValue(new ApiError(409, "head_moved", "moved"));
  api.listMoves.mockResolvedValue({ moves: [{ number: 3, kind: "rewind", by: "bob" }], next_cursor: null });
  await expect(room.head.undo()).rejects.toThrow("bob moved this chat meanwhile (rewind)");
  expect(api.undo.mock.calls[0]![1]).toEqual({ expected_head: "h1" });
  api.listMoves.mockResolvedValue({ moves: [{ number: 3, kind: "rewind", by: "bob" }], next_cursor: null });
  await tick();
  await expect(room.head.undo()).rejects.toThrow("ann wrote in this chat meanwhile");
  api.undo.mockRejectedValue(new ApiError(409, "nothing_to_undo", "no move is left to undo"));
  await expect(room.head.undo()).rejects.toThrow("no move is left to undo");
});

test("a version moves the head of who may write, and nothing of who may not", async () => {
  const version = { branch_id: "b2", number: 2 } as Branch;
  const writer = await enter(2);
  api.switchTo.mockResolvedValue(session(2, { head: head(2, "b2"), level: undefined }));
  api.listEntries.mockResolvedValue(page(2, "b2"));
  await writer.head.choose(version);
  expect(api.switchTo).toHaveBeenCalledWith("s", "b2", { keep_running: true });
  expect(writer.state.viewing).toBeNull();
  expect(writer.state.session!.level).toBe("owner");

  api.switchTo.mockClear();
  const reader = await enter(2, { level: "reader" });
  api.listEntries.mockResolvedValue(page(2, "b2"));
  await reader.head.choose(version);
  expect(api.switchTo).not.toHaveBeenCalled();
  expect(reader.state.viewing).toBe("b2");
  expect(reader.state.thread.head.branch_id).toBe("b2");
});

test("a session that is not there is gone; one that cannot be read says why", async () => {
  api.listEntries.mockRejectedValue(new ApiError(404, "session_not_found", "no such session"));
  api.getSession.mockRejectedValue(new ApiError(404, "session_not_found", "no such session"));
  const gone = new Room("s");
  gone.enter(null, null);
  await tick();
  expect(gone.state.status).toBe("gone");
  api.getSession.mockRejectedValue(new ApiError(0, "unreachable", "The server cannot be reached."));
  const away = new Room("s");
  away.enter(null, null);
  await tick();
  expect(away.state).toMatchObject({ status: "failed", error: "The server cannot be reached." });
});

test("the row of a rewind stays dismissed", async () => {
  const room = await enter();
  room.dismissRewind(7);
  expect(new Room("s").state.dismissed).toBe(7);
});
