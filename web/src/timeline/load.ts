// SPDX-License-Identifier: Apache-2.0
// Reads a tree and its branches, and reads them again when something happens there.
//
// Two requests are enough to draw a tree of any size. The first message of a branch is requested per
// session: for a small tree before it is drawn, otherwise when its rows become visible.
import { useCallback, useEffect, useRef, useState } from "react";
import { errorText } from "../api/client";
import { live } from "../api/events";
import { getTree, listBranches, listTreeBranches } from "../api/ramet";
import type { Branch, LiveEvent, Session } from "../api/types";

/** A tree of at most so many sessions is drawn with all its words. */
const SMALL = 40;
const AT_ONCE = 4;
const GREAT = 1000;
const REFRESH_MS = 400;
const REFRESH_GREAT_MS = 5000;

export interface Tree {
  sessions: Session[];
  /** By session, oldest first. */
  branches: ReadonlyMap<string, readonly Branch[]>;
}

interface Loaded {
  tree: Tree | null;
  error: string | null;
  retry: () => void;
  /** The rows of these sessions' branches are in sight. */
  inSight: (sessionIds: readonly string[]) => void;
}

async function readAll<T>(read: (cursor: string | null) => Promise<{ list: T[]; next: string | null }>): Promise<T[]> {
  const all: T[] = [];
  for (let cursor: string | null = null; ; ) {
    const { list, next } = await read(cursor);
    for (const one of list) all.push(one);
    if (next === null) return all;
    cursor = next;
  }
}

async function readTree(id: string, signal: AbortSignal): Promise<Tree> {
  const [sessions, all] = await Promise.all([
    readAll((cursor) =>
      getTree(id, { cursor }, signal).then((page) => ({ list: page.sessions, next: page.next_cursor })),
    ),
    readAll((cursor) =>
      listTreeBranches(id, { cursor }, signal).then((page) => ({ list: page.branches, next: page.next_cursor })),
    ),
  ]);
  const branches = new Map<string, Branch[]>();
  for (const one of all) {
    const list = branches.get(one.session_id!);
    if (list) list.push(one);
    else branches.set(one.session_id!, [one]);
  }
  return { sessions, branches };
}

/** What the branches of a session say, as long as they are as many and as long. */
class Words {
  private known = new Map<string, { stamp: string; branches: readonly Branch[] }>();
  private asked = new Set<string>();

  private stamp = (branches: readonly Branch[]) => branches.map((b) => `${b.branch_id}:${b.length}`).join(" ");

  /** Whether something new came. Sessions of one branch say everything in their titles. */
  async read(ids: readonly string[], tree: Tree): Promise<boolean> {
    const wanted = ids.filter((id) => {
      const list = tree.branches.get(id) ?? [];
      return list.length > 1 && !this.asked.has(id) && this.known.get(id)?.stamp !== this.stamp(list);
    });
    for (const id of wanted) this.asked.add(id);
    const left = [...wanted];
    const work = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        try {
          const { branches } = await listBranches(id);
          this.known.set(id, { stamp: this.stamp(tree.branches.get(id)!), branches });
        } finally {
          this.asked.delete(id);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return wanted.length > 0;
  }

  /** The tree with all the words that are known. */
  in(tree: Tree): Tree {
    const branches = new Map(tree.branches);
    for (const [id, { branches: said }] of this.known) {
      const words = new Map(said.map((one) => [one.branch_id, one]));
      const list = branches.get(id);
      if (list)
        branches.set(
          id,
          list.map((one) => {
            const { preview, entry_id } = words.get(one.branch_id) ?? one;
            return { ...one, preview, entry_id };
          }),
        );
    }
    return { sessions: tree.sessions, branches };
  }
}

const touches = (event: LiveEvent, tree: string): boolean =>
  event.type === "reset" ||
  ((event.type.startsWith("session.") || event.type === "entry.appended") &&
    "tree_id" in event &&
    event.tree_id === tree);

export function useTree(sessionId: string): Loaded {
  const [tree, setTree] = useState<Tree | null>(null);
  const [error, setError] = useState<string | null>(null);
  const words = useRef(new Words());
  const [turn, setTurn] = useState(0);
  const retry = useCallback(() => setTurn((t) => t + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    const load = async () => {
      try {
        const read = await readTree(sessionId, abort.signal);
        if (read.sessions.length <= SMALL) await words.current.read([...read.branches.keys()], read);
        if (abort.signal.aborted) return;
        setTree(words.current.in(read));
        setError(null);
      } catch (e) {
        if (!abort.signal.aborted) setError(errorText(e));
      }
    };
    void load();
    return () => abort.abort();
  }, [sessionId, turn]);

  const treeId = tree?.sessions.find((s) => !s.deleted)?.tree_id;
  const great = (tree?.sessions.length ?? 0) > GREAT;
  useEffect(() => {
    if (!treeId) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          retry();
        },
        great ? REFRESH_GREAT_MS : REFRESH_MS,
      );
    };
    const stop = live(sessionId).onEvent((event) => {
      if (touches(event, treeId)) later();
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [treeId, great, sessionId, retry]);

  const inSight = useCallback(
    (ids: readonly string[]) => {
      if (!tree) return;
      words.current.read(ids, tree).then(
        (more) => more && setTree((now) => now && words.current.in(now)),
        () => undefined, // asked again when they come into sight the next time
      );
    },
    [tree],
  );
  return { tree, error, retry, inSight };
}
