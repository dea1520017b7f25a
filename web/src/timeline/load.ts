// SPDX-License-Identifier: Apache-2.0
// Reads a tree and the branches in it, and again when something happens there.
//
// The branches of a session are a request of their own. A small tree gets all of them before it is
// drawn, so that nothing moves afterwards; in a great one they come with the current session, and
// where they are asked for.
import { useCallback, useEffect, useRef, useState } from "react";
import { errorText } from "../api/client";
import { live } from "../api/events";
import { getTree, listBranches } from "../api/ramet";
import type { Branch, LiveEvent, Session } from "../api/types";

/** A tree of at most so many sessions is read with all its branches. */
const SMALL = 40;
const AT_ONCE = 4;
const GREAT = 1000;
const REFRESH_MS = 400;
const REFRESH_GREAT_MS = 5000;

export interface Tree {
  sessions: Session[];
  branches: ReadonlyMap<string, readonly Branch[]>;
}

interface Loaded {
  tree: Tree | null;
  error: string | null;
  retry: () => void;
  /** Sessions whose branches are not known. */
  more: ReadonlySet<string>;
  expand: (sessionId: string) => Promise<void>;
}

async function readSessions(id: string, signal: AbortSignal): Promise<Session[]> {
  const sessions: Session[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof getTree>> = await getTree(id, { cursor }, signal);
    sessions.push(...page.sessions);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return sessions;
}

/** What changes whenever the branches of a session may have. */
const stamp = (session: Session) =>
  `${session.updated_at} ${session.head?.prefix_hash} ${session.head?.branch_id}`;

class Branches {
  private known = new Map<string, { stamp: string; branches: readonly Branch[] }>();
  private wanted = new Set<string>();

  async read(
    sessions: readonly Session[],
    current: string,
  ): Promise<ReadonlyMap<string, readonly Branch[]>> {
    const small = sessions.length <= SMALL;
    const asked = sessions.filter(
      (s) => !s.deleted && (small || s.id === current || this.wanted.has(s.id)),
    );
    const stale = asked.filter((s) => this.known.get(s.id)?.stamp !== stamp(s));
    const work = async () => {
      for (let s = stale.pop(); s; s = stale.pop())
        this.known.set(s.id, {
          stamp: stamp(s),
          branches: (await listBranches(s.id)).branches,
        });
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return new Map(asked.map((s) => [s.id, this.known.get(s.id)!.branches]));
  }
  want(id: string): void {
    this.wanted.add(id);
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
  const cache = useRef(new Branches());
  const [turn, setTurn] = useState(0);
  const retry = useCallback(() => setTurn((t) => t + 1), []);

  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      try {
        const sessions = await readSessions(sessionId, abort.signal);
        const branches = await cache.current.read(sessions, sessionId);
        if (abort.signal.aborted) return;
        setTree({ sessions, branches });
        setError(null);
      } catch (e) {
        if (!abort.signal.aborted) setError(errorText(e));
      }
    };
    void read();
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

  const expand = useCallback(
    async (id: string) => {
      if (!tree) return;
      cache.current.want(id);
      const branches = await cache.current.read(tree.sessions, sessionId);
      setTree({ sessions: tree.sessions, branches });
    },
    [tree, sessionId],
  );
  const more = new Set(
    tree?.sessions.filter((s) => !s.deleted && !tree.branches.has(s.id)).map((s) => s.id),
  );
  return { tree, error, retry, more, expand };
}
