// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { LiveEvent, Session } from "../api/types";
import { NO_FILTER } from "./forest";
import { leave } from "./leaving";
import {
  catchUp,
  deleteSession,
  hearEvent,
  loadSessions,
  pageOf,
  putSessions,
  reloadSessions,
  restoreSession,
  reveal,
  setFilter,
  setFolded,
  setMode,
  toggleMarked,
  useSessions,
} from "./sessions";

// A server of a few sessions, which answers as the real one does.
let store: Session[] = [];
let calls: string[] = [];
let failing = false;

function session(id: string, parent: string | null = null, more: Partial<Session> = {}): Session {
  return {
    id,
    tree_id: "t",
    title: `Title of ${id}`,
    owner: "ann",
    visibility: "tree",
    agent: null,
    tags: [],
    head: { branch_id: "b1", length: 0, entry_id: null, prefix_hash: "0" },
    forked_from: parent ? { session_id: parent, entry_id: null, side: "after", type: "explicit", reason: "", created_by: { kind: "user", id: "ann" } } : null,
    running: null,
    metadata: {},
    archived: false,
    expires_at: null,
    created_at: "2026-11-15T10:00:00.000Z",
    updated_at: "2026-11-15T10:00:00.000Z",
    ...more,
  };
}

function answer(method: string, url: URL): unknown {
  const [, , , noun, id, rest] = url.pathname.split("/");
  if (noun === "tags") return { tags: [], next_cursor: null };
  if (!id) {
    const tag = url.searchParams.get("tag");
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const archived = url.searchParams.get("archived") === "only";
    const all = store.filter((s) => s.archived === archived && (!tag || s.tags.includes(tag)));
    const next = from + 2 < all.length ? String(from + 2) : null;
    return { sessions: all.slice(from, from + 2), next_cursor: next };
  }
  if (rest === "tree")
    return {
      sessions: [
        ...store.map((s) => ({ ...s, path: [] })),
        { id: "gone", deleted: true, depth: 1, path: ["root", "gone"] },
      ],
      next_cursor: null,
    };
  if (rest === "restore") return session(id);
  if (method === "DELETE") return { sessions: [id], entries: 0, dry_run: false };
  return store.find((s) => s.id === id);
}

const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
  await vi.advanceTimersByTimeAsync(1000);
};
const ids = () => [...useSessions.getState().byId.keys()].sort();
const event = (type: string, session_id: string, more: object = {}) =>
  hearEvent({ type, session_id, tree_id: "t", number: 1, at: "2026-11-15T12:00:00.000Z", ...more } as LiveEvent);

beforeEach(() => {
  vi.useFakeTimers();
  calls = [];
  failing = false;
  store = [];
  vi.stubGlobal("fetch", (input: string, init?: RequestInit): Promise<Response> => Promise.resolve(served(input, init)));
  const served = (input: string, init?: RequestInit): Response => {
    const method = init?.method ?? "GET";
    const url = new URL(input, "http://localhost");
    calls.push(`${method} ${url.pathname}${url.search}`);
    if (failing) return new Response('{"code":"x","error":"The disk is full."}', { status: 500 });
    const body = answer(method, url);
    return new Response(JSON.stringify(body ?? { error: "no such session" }), { status: body ? 200 : 404 });
  };
  useSessions.setState(useSessions.getInitialState(), true);
  setMode("list");
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("pages", () => {
  it("are read one after the other, to the end and no further", async () => {
    store = [session("a"), session("b"), session("c")];
    await loadSessions();
    expect(ids()).toEqual(["a", "b"]);
    await loadSessions();
    expect(ids()).toEqual(["a", "b", "c"]);
    const before = calls.length;
    await loadSessions();
    expect(calls.length).toBe(before);
  });

  it("do not bring back what was deleted after they were asked for", async () => {
    store = [session("a"), session("b")];
    const page = loadSessions();
    event("session.deleted", "a");
    await page;
    expect(ids()).toEqual(["b"]);
    await catchUp();
    expect(ids()).toEqual(["a", "b"]);
  });

  it("say why they failed, and can be tried again", async () => {
    failing = true;
    await loadSessions();
    expect(pageOf(useSessions.getState()).error).toBe("The disk is full.");
    failing = false;
    store = [session("a")];
    await loadSessions();
    expect(pageOf(useSessions.getState())).toMatchObject({ error: null, begun: true });
    expect(ids()).toEqual(["a"]);
  });

  it("of a filter are pages of their own", async () => {
    store = [session("a"), session("b"), session("c"), session("d", null, { tags: ["x"] })];
    await loadSessions();
    setFilter({ tag: "x" });
    await settle();
    expect(ids()).toEqual(["a", "b", "d"]);
    setFilter(NO_FILTER);
    await settle();
    expect(calls.filter((c) => !c.includes("tag=x") && c.includes("/sessions?"))).toHaveLength(2);
  });
});

describe("the tree", () => {
  it("reads a tree whose parent is missing, once, with place holders", async () => {
    store = [session("leaf", "gone"), session("root")];
    setMode("tree");
    await loadSessions();
    await settle();
    expect(useSessions.getState().places.get("gone")).toEqual({ id: "gone", parentId: "root" });
    expect(calls.filter((c) => c.endsWith("/tree"))).toHaveLength(1);
    await reloadSessions();
    await settle();
    expect(calls.filter((c) => c.endsWith("/tree"))).toHaveLength(2);
  });

  it("is not read for the list", async () => {
    store = [session("leaf", "gone")];
    await loadSessions();
    await settle();
    expect(calls.some((c) => c.endsWith("/tree"))).toBe(false);
  });

  it("opens what is folded above a chat, and keeps folds over a reload", () => {
    putSessions([session("r"), session("a", "r"), session("b", "a")]);
    setFolded("r", true);
    setFolded("b", true);
    expect(JSON.parse(localStorage.getItem("ramet.sidebar.folded")!)).toEqual(["r", "b"]);
    reveal("b");
    expect([...useSessions.getState().folded]).toEqual(["b"]);
  });
});

describe("live events", () => {
  it("bring new chats, many at once with one request each", async () => {
    store = [session("n")];
    event("session.created", "n");
    event("session.updated", "n");
    event("session.rewound", "n");
    await settle();
    expect(ids()).toEqual(["n"]);
    expect(calls.filter((c) => c === "GET /ramet/v1/sessions/n")).toHaveLength(1);
  });

  it("move a chat up when something is said in it, without a request", () => {
    putSessions([session("a")]);
    event("entry.appended", "a", { entry: { created_at: "2026-11-15T13:00:00.000Z" } });
    expect(useSessions.getState().byId.get("a")!.updated_at).toBe("2026-11-15T13:00:00.000Z");
    expect(calls).toEqual([]);
  });

  it("read a chat anew that had no title when something is said", async () => {
    store = [session("a")];
    putSessions([session("a", null, { title: "" })]);
    event("entry.appended", "a", { entry: { created_at: "2026-11-15T13:00:00.000Z" } });
    await settle();
    expect(useSessions.getState().byId.get("a")!.title).toBe("Title of a");
  });

  it("take deleted ones away, keep their place, and ask nothing about them", async () => {
    putSessions([session("r"), session("a", "r"), session("b", "a")]);
    toggleMarked("a");
    event("session.updated", "a");
    event("session.deleted", "a");
    await settle();
    expect(ids()).toEqual(["b", "r"]);
    expect(useSessions.getState().places.get("a")).toEqual({ id: "a", parentId: "r" });
    expect(useSessions.getState().marked).toEqual([]);
    expect(calls.some((c) => c.includes("/sessions/a"))).toBe(false);
  });

  it("ask nothing about one that this window is deleting, until it is restored", async () => {
    store = [session("left")];
    leave("left");
    event("session.forked", "left");
    await settle();
    expect(calls).toEqual([]);
    event("session.restored", "left");
    await settle();
    expect(ids()).toEqual(["left"]);
  });

  it("show who answers", () => {
    event("turn.started", "a");
    expect(useSessions.getState().running.has("a")).toBe(true);
    event("turn.done", "a");
    expect(useSessions.getState().running.has("a")).toBe(false);
  });

  it("begin anew after a gap", async () => {
    putSessions([session("stale")]);
    store = [session("fresh")];
    hearEvent({ type: "reset" });
    await settle();
    expect(ids()).toEqual(["fresh"]);
  });
});

describe("actions", () => {
  it("delete and restore", async () => {
    putSessions([session("a")]);
    await deleteSession("a", false);
    expect(ids()).toEqual([]);
    await restoreSession("a", false);
    expect(ids()).toEqual(["a"]);
    expect(useSessions.getState().places.has("a")).toBe(false);
  });

  it("change nothing when they fail", async () => {
    putSessions([session("a")]);
    failing = true;
    await expect(deleteSession("a", false)).rejects.toThrow("The disk is full.");
    expect(ids()).toEqual(["a"]);
  });

  it("mark at most four for a comparison", () => {
    for (const id of ["a", "b", "c", "d", "e"]) toggleMarked(id);
    expect(useSessions.getState().marked).toEqual(["b", "c", "d", "e"]);
    toggleMarked("c");
    expect(useSessions.getState().marked).toEqual(["b", "d", "e"]);
  });
});
