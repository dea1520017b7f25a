// SPDX-License-Identifier: Apache-2.0
// The nodes of a tree: its sessions, and within them the branches that edits, regenerations and rewinds
// left. Pure; requests are in load.ts.
import type { Branch, Session } from "../api/types";
import type { GraphNode } from "./layout";

export interface TimelineNode extends GraphNode {
  kind: "session" | "branch";
  /** Null for a place holder of a deleted session, and in tests of the layout. */
  session: Session | null;
  sessionId: string;
  branch: Branch | null;
  /** The session's head is here. */
  head: boolean;
  /** Messages on its path, and how many of them it shares with its parent; null: not known. */
  length: number | null;
  base: number | null;
}

const timeOf = (at: string | undefined): number => (at ? Date.parse(at) : 0);

const branchKey = (sessionId: string, branchId: string) => `${sessionId}\n${branchId}`;

/** The nearest ancestor that is shown; `path` names the ids from the root, the session itself last. */
function parentOf(session: Session, known: ReadonlySet<string>): string | null {
  const path = session.path ?? [];
  for (let i = path.length - 2; i >= 0; i--) if (known.has(path[i]!)) return path[i]!;
  const from = session.forked_from?.session_id;
  return from && known.has(from) ? from : null;
}

/** Branches with something of their own, and the one that the head is on. */
function worthShowing(branch: Branch, session: Session): boolean {
  return (branch.length ?? 0) > (branch.base ?? 0) || branch.branch_id === session.head?.branch_id;
}

/** Sessions come as the server lists a tree: parents before their forks. */
export function buildGraph(
  sessions: readonly Session[],
  branches: ReadonlyMap<string, readonly Branch[]>,
): TimelineNode[] {
  const known = new Set(sessions.map((s) => s.id));
  const nodes: TimelineNode[] = [];
  /** Node of a branch, of any session: a fork's first branch leaves one of its parent's. */
  const nodeOf = new Map<string, string>();
  for (const session of sessions) {
    const [first, ...others] = branches.get(session.id) ?? [];
    const left = first?.parent_id ? nodeOf.get(first.parent_id) : undefined;
    if (first) nodeOf.set(first.branch_id, session.id);
    const shown = others.filter((branch) => worthShowing(branch, session));
    const headBelow = shown.some((b) => b.branch_id === session.head?.branch_id);
    nodes.push({
      id: session.id,
      kind: "session",
      parent: left ?? parentOf(session, known),
      at: timeOf(session.created_at),
      session: session.deleted ? null : session,
      sessionId: session.id,
      branch: first ?? null,
      head: !session.deleted && !headBelow,
      length: first?.length ?? session.head?.length ?? null,
      base: first?.base ?? null,
    });
    for (const branch of shown) {
      const id = branchKey(session.id, branch.branch_id);
      nodeOf.set(branch.branch_id, id);
      nodes.push({
        id,
        kind: "branch",
        parent: (branch.parent_id && nodeOf.get(branch.parent_id)) || session.id,
        at: timeOf(branch.created_at),
        session,
        sessionId: session.id,
        branch,
        head: branch.branch_id === session.head?.branch_id,
        length: branch.length ?? null,
        base: branch.base ?? null,
      });
    }
  }
  return nodes;
}

const HOW: Record<string, string> = {
  "auto-edit": "Edited",
  "auto-regenerate": "Regenerated",
  explicit: "Rewound",
};

/** "Edited after message 12". */
export function branchWords(node: TimelineNode): string {
  const how = HOW[node.branch?.type ?? ""] ?? "Branch";
  if (node.base === null) return how;
  return node.base === 0 ? `${how} from the start` : `${how} after message ${node.base}`;
}

export function nodeTitle(node: TimelineNode): string {
  if (!node.session) return "Deleted chat";
  if (node.kind === "branch") {
    const own = (node.length ?? 0) > (node.base ?? 0);
    return node.branch?.preview || (own ? "…" : "No messages yet");
  }
  return node.session.title || "New chat";
}

/** What stands on the other side of "@" in a comparison. */
export function sideOf(node: TimelineNode): string {
  return node.kind === "branch" || (!node.head && node.branch)
    ? `${node.sessionId}@${node.branch!.branch_id}`
    : node.sessionId;
}
