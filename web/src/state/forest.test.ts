// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import type { Session } from "../api/types";
import {
  ageHeading,
  ancestorsOf,
  buildForest,
  descendantCount,
  type Filter,
  listRows,
  NO_FILTER,
  type Place,
  treeRows,
  treesToRead,
} from "./forest";

let clock = 0;

function session(id: string, parent: string | null = null, more: Partial<Session> = {}): Session {
  const at = new Date(Date.UTC(2026, 10, 15, 12, 0, ++clock)).toISOString();
  return {
    id,
    tree_id: "t",
    title: id,
    owner: "ann",
    visibility: "tree",
    agent: null,
    tags: [],
    head: { branch_id: "b1", length: 0, entry_id: null, prefix_hash: "0".repeat(64) },
    forked_from: parent
      ? {
          session_id: parent,
          entry_id: "e",
          side: "after",
          type: "explicit",
          reason: "",
          created_by: { kind: "user", id: "ann" },
        }
      : null,
    archived: false,
    expires_at: null,
    created_at: at,
    updated_at: at,
    ...more,
  } as Session;
}

const known = (...all: Session[]) => new Map(all.map((s) => [s.id, s]));
const places = (...all: Place[]) => new Map(all.map((p) => [p.id, p]));
const NONE = places();
const ids = (rows: { id: string; level: number }[]) => rows.map((r) => `${r.level} ${r.id}`);

function rowsOf(
  byId: Map<string, Session>,
  gone: Map<string, Place> = NONE,
  filter: Filter = NO_FILTER,
  folded: string[] = [],
) {
  return treeRows(buildForest(byId, gone, filter), new Set(folded));
}

describe("the list", () => {
  const now = new Date(2026, 10, 15, 12);
  const day = (n: number) => new Date(2026, 10, 15 - n, 11).toISOString();

  it("names ages by calendar days", () => {
    expect(ageHeading(day(0), now)).toBe("Today");
    expect(ageHeading(new Date(2026, 10, 14, 23, 59).toISOString(), now)).toBe("Yesterday");
    expect(ageHeading(day(6), now)).toBe("Last 7 days");
    expect(ageHeading(day(29), now)).toBe("Last 30 days");
    expect(ageHeading(day(90), now)).toBe("August 2026");
  });

  it("orders by the last change, under a heading each", () => {
    const all = [
      session("old", null, { updated_at: day(3) }),
      session("new", null, { updated_at: day(0) }),
      session("older", null, { updated_at: day(4) }),
    ];
    const rows = listRows(all, NO_FILTER, now);
    expect(rows.map((r) => (r.kind === "heading" ? r.text : r.session.id))).toEqual([
      "Today",
      "new",
      "Last 7 days",
      "old",
      "older",
    ]);
  });

  it("hides side questions, but not the one that is open", () => {
    const all = [session("a"), session("side", "a", { expires_at: day(-1) })];
    const seen = (current?: string) =>
      listRows(all, NO_FILTER, now, current).flatMap((r) => (r.kind === "session" ? r.key : []));
    expect(seen()).toEqual(["a"]);
    expect(seen("side")).toEqual(["side", "a"]);
  });

  it("hears the filters", () => {
    const all = [
      session("a", null, { tags: ["x"] }),
      session("b", null, { agent: { name: "echo" } }),
      session("c", null, { archived: true, tags: ["x"] }),
    ];
    const seen = (f: Partial<Filter>) =>
      listRows(all, { ...NO_FILTER, ...f }, now).flatMap((r) => (r.kind === "session" ? r.key : []));
    expect(seen({ tag: "x" })).toEqual(["a"]);
    expect(seen({ agent: "echo" })).toEqual(["b"]);
    expect(seen({ archived: true })).toEqual(["c"]);
  });
});

describe("the tree", () => {
  it("puts forks below their parents, in the order they were made", () => {
    const byId = known(session("r"), session("a", "r"), session("b", "r"), session("aa", "a"));
    expect(ids(rowsOf(byId))).toEqual(["1 r", "2 a", "3 aa", "2 b"]);
  });

  it("tells child counts, and places among siblings", () => {
    const rows = rowsOf(known(session("r"), session("a", "r"), session("b", "r")));
    expect(rows[0]).toMatchObject({ childCount: 2, open: true, posInSet: 1, setSize: 1 });
    expect(rows[2]).toMatchObject({ id: "b", posInSet: 2, setSize: 2, childCount: 0, open: false });
  });

  it("folds", () => {
    const byId = known(session("r"), session("a", "r"), session("aa", "a"), session("b", "r"));
    expect(ids(rowsOf(byId, NONE, NO_FILTER, ["a"]))).toEqual(["1 r", "2 a", "2 b"]);
    expect(ids(rowsOf(byId, NONE, NO_FILTER, ["r"]))).toEqual(["1 r"]);
  });

  it("shows the tree with the newest change first", () => {
    const byId = known(session("r1"), session("r2"), session("fork", "r1"));
    expect(ids(rowsOf(byId))).toEqual(["1 r1", "2 fork", "1 r2"]);
  });

  it("keeps a deleted parent as a row without a session", () => {
    const byId = known(session("r"), session("leaf", "gone"));
    const rows = rowsOf(byId, places({ id: "gone", parentId: "r" }));
    expect(ids(rows)).toEqual(["1 r", "2 gone", "3 leaf"]);
    expect(rows[1]!.session).toBeNull();
  });

  it("keeps it among its siblings by the age of its forks", () => {
    const byId = known(session("r"), session("a", "r"), session("leaf", "gone"), session("z", "r"));
    const rows = rowsOf(byId, places({ id: "gone", parentId: "r" }));
    expect(ids(rows)).toEqual(["1 r", "2 a", "2 gone", "3 leaf", "2 z"]);
  });

  it("leaves out a deleted one with nothing below", () => {
    expect(ids(rowsOf(known(session("r")), places({ id: "gone", parentId: "r" })))).toEqual(["1 r"]);
  });

  it("forgets the place holder of what is back", () => {
    const byId = known(session("r"), session("back", "r"));
    const rows = rowsOf(byId, places({ id: "back", parentId: "r" }));
    expect(rows.find((r) => r.id === "back")!.session).not.toBeNull();
  });

  it("with a filter, shows parents for the sake of what matches", () => {
    const byId = known(session("r"), session("a", "r"), session("b", "a", { tags: ["x"] }));
    const rows = rowsOf(byId, NONE, { ...NO_FILTER, tag: "x" });
    expect(rows.map((r) => [r.id, r.matches])).toEqual([
      ["r", false],
      ["a", false],
      ["b", true],
    ]);
  });

  it("shows an archived parent of what is not archived, and no other archived one", () => {
    const byId = known(
      session("r", null, { archived: true }),
      session("a", "r"),
      session("z", null, { archived: true }),
    );
    expect(ids(rowsOf(byId))).toEqual(["1 r", "2 a"]);
  });

  it("is a root when the parent is not to be seen", () => {
    expect(ids(rowsOf(known(session("orphan", "elsewhere"))))).toEqual(["1 orphan"]);
  });

  it("takes a chain of ten thousand forks", () => {
    const chain = Array.from({ length: 10_000 }, (_, i) => session(`s${i}`, i ? `s${i - 1}` : null));
    const rows = rowsOf(known(...chain));
    expect(rows).toHaveLength(10_000);
    expect(rows.at(-1)!.level).toBe(10_000);
  });

  it("does not loop over parents that name each other", () => {
    expect(rowsOf(known(session("a", "b"), session("b", "a")))).toEqual([]);
    expect(ancestorsOf("a", known(session("a", "b"), session("b", "a")), NONE)).toEqual(["b"]);
  });
});

describe("what is missing", () => {
  it("is read once a tree", () => {
    const byId = known(session("x", "far"), session("y", "far"), session("z"));
    expect(treesToRead(byId, NONE, new Set()).map((s) => s.tree_id)).toEqual(["t"]);
    expect(treesToRead(byId, NONE, new Set(["t"]))).toEqual([]);
    expect(treesToRead(byId, places({ id: "far", parentId: null }), new Set())).toEqual([]);
  });

  it("knows the way up and what is below", () => {
    const byId = known(session("r"), session("leaf", "gone"), session("under", "leaf"));
    const gone = places({ id: "gone", parentId: "r" });
    expect(ancestorsOf("under", byId, gone)).toEqual(["r", "gone", "leaf"]);
    expect(descendantCount("gone", byId)).toBe(2);
    expect(descendantCount("under", byId)).toBe(0);
  });
});
