// SPDX-License-Identifier: Apache-2.0
//
// The rows of the sidebar, computed from the known sessions: pure functions, no requests.
//
// The server lists sessions by their last change: of a tree, any part may be on a page that was not read yet. Trees
// of which a part is missing are read as a whole (GET /tree), in which a deleted session is a placeholder.

import type { Session } from "../api/types";

/** A deleted session that still has forks. */
export interface Place {
  id: string;
  parentId: string | null;
}

export interface Filter {
  tag: string | null;
  agent: string | null;
  archived: boolean;
  /** instead: deleted chats that can be restored, archived or not */
  deleted: boolean;
}

export const NO_FILTER: Filter = { tag: null, agent: null, archived: false, deleted: false };

export function filterIsOn(f: Filter): boolean {
  return f.tag !== null || f.agent !== null || f.archived || f.deleted;
}

export function filterKey(f: Filter): string {
  return JSON.stringify([f.tag, f.agent, f.archived, f.deleted]);
}

export function sessionMatches(s: Session, f: Filter): boolean {
  return (
    s.archived === f.archived &&
    (f.tag === null || s.tags.includes(f.tag)) &&
    (f.agent === null || s.agent?.name === f.agent)
  );
}

/** Of a deleted one, archived or not. */
export function deletedMatches(s: Session, f: Filter): boolean {
  return sessionMatches(s, { ...f, archived: s.archived });
}

/** The reason that the server gives the forks of a message to several agents. */
export const FAN_OUT = "fan-out";

/** What tells a fork from its siblings: the agent that was asked, or why it was made. */
export function forkSign(s: Session): string {
  const reason = s.forked_from?.reason ?? "";
  return reason === FAN_OUT ? (s.agent?.name ?? reason) : reason;
}

export function isEphemeral(s: Session): boolean {
  return s.expires_at !== null;
}

// ------------------------------------------------------------------ list

export type ListRow =
  | { kind: "heading"; key: string; text: string }
  | { kind: "session"; key: string; session: Session };

const DAY = 86_400_000;

function startOfDay(now: Date): number {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime();
}

/** "Today", "Yesterday", … of a time, in the reader's time zone. */
export function ageHeading(at: string, now: Date): string {
  const t = Date.parse(at);
  const today = startOfDay(now);
  if (t >= today) return "Today";
  if (t >= today - DAY) return "Yesterday";
  if (t >= today - 7 * DAY) return "Last 7 days";
  if (t >= today - 30 * DAY) return "Last 30 days";
  const d = new Date(t);
  return d.toLocaleDateString("en", { month: "long", year: "numeric" });
}

function newestFirst(a: Session, b: Session): number {
  if (a.updated_at !== b.updated_at) return a.updated_at < b.updated_at ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}

function underHeadings(sessions: readonly Session[], at: (s: Session) => string, now: Date): ListRow[] {
  const rows: ListRow[] = [];
  let heading = "";
  for (const session of sessions) {
    const text = ageHeading(at(session), now);
    if (text !== heading) rows.push({ kind: "heading", key: `h:${text}`, text });
    heading = text;
    rows.push({ kind: "session", key: session.id, session });
  }
  return rows;
}

/** The list: what matches and is no side question, by last change, under headings of age. The
 * chat that is open stands in it even if it is a side question, so that one sees where one is. */
export function listRows(
  sessions: Iterable<Session>,
  filter: Filter,
  now: Date,
  currentId?: string | null,
): ListRow[] {
  const shown = [...sessions].filter(
    (s) => sessionMatches(s, filter) && (!isEphemeral(s) || s.id === currentId),
  );
  shown.sort(newestFirst);
  return underHeadings(shown, (s) => s.updated_at, now);
}

/** Deleted chats, the last deleted one first, under headings of age. */
export function deletedRows(sessions: Iterable<Session>, filter: Filter, now: Date): ListRow[] {
  const at = (s: Session) => s.deleted_at ?? s.updated_at;
  const shown = [...sessions].filter((s) => deletedMatches(s, filter));
  shown.sort((a, b) => (at(a) !== at(b) ? (at(a) < at(b) ? 1 : -1) : a.id < b.id ? 1 : -1));
  return underHeadings(shown, at, now);
}

// ------------------------------------------------------------------ tree

export interface TreeNode {
  id: string;
  /** null: a place holder of a deleted session */
  session: Session | null;
  children: TreeNode[];
  /** false: it is only shown for the sake of what is below it */
  matches: boolean;
  /** the newest change in it and below */
  changed: string;
  /** when it was made; a deleted one: before its oldest fork */
  made: string;
}

export interface TreeRow {
  key: string;
  id: string;
  session: Session | null;
  level: number;
  childCount: number;
  open: boolean;
  matches: boolean;
  posInSet: number;
  setSize: number;
}

function parentOf(s: Session): string | null {
  return s.forked_from?.session_id ?? null;
}

/** Sessions whose parent is unknown: one of each tree that has to be read as a whole. */
export function treesToRead(
  byId: ReadonlyMap<string, Session>,
  places: ReadonlyMap<string, Place>,
  read: ReadonlySet<string>,
): Session[] {
  const found = new Map<string, Session>();
  for (const s of byId.values()) {
    const parent = parentOf(s);
    if (!parent || byId.has(parent) || places.has(parent)) continue;
    if (!read.has(s.tree_id) && !found.has(s.tree_id)) found.set(s.tree_id, s);
  }
  return [...found.values()];
}

/** A tree's nodes, each after its parent; without recursion, since a chain of forks may be
 * thousands deep. */
function inOrder(root: TreeNode): TreeNode[] {
  const order = [root];
  for (let i = 0; i < order.length; i++) order.push(...order[i]!.children);
  return order;
}

function byCreation(a: TreeNode, b: TreeNode): number {
  if (a.made !== b.made) return a.made < b.made ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** From the leaves up: leaves out what is of no use, orders forks, finds the newest change. */
function settle(root: TreeNode): boolean {
  for (const node of inOrder(root).reverse()) {
    node.children = node.children.filter((c) => c.matches || c.children.length > 0);
    node.children.sort(byCreation);
    for (const child of node.children)
      if (child.changed > node.changed) node.changed = child.changed;
    if (!node.session) node.made = node.children[0]?.made ?? "";
  }
  return root.matches || root.children.length > 0;
}

/** The trees, the one with the newest change first; in each, forks in the order they were made.
 * What neither matches nor has something below that does is left out. */
export function buildForest(
  byId: ReadonlyMap<string, Session>,
  places: ReadonlyMap<string, Place>,
  filter: Filter,
): TreeNode[] {
  const nodes = new Map<string, TreeNode>();
  for (const p of places.values())
    if (!byId.has(p.id))
      nodes.set(p.id, { id: p.id, session: null, children: [], matches: false, changed: "", made: "" });
  for (const s of byId.values())
    nodes.set(s.id, {
      id: s.id,
      session: s,
      children: [],
      matches: sessionMatches(s, filter),
      changed: s.updated_at,
      made: s.created_at,
    });
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.session ? parentOf(node.session) : (places.get(node.id)?.parentId ?? null);
    const above = parent ? nodes.get(parent) : undefined;
    if (above && above !== node) above.children.push(node);
    else roots.push(node);
  }
  return roots.filter(settle).sort((a, b) => {
    if (a.changed !== b.changed) return a.changed < b.changed ? 1 : -1;
    return a.id < b.id ? 1 : -1;
  });
}

/** The rows that are seen: children of what is folded are left out. */
export function treeRows(forest: readonly TreeNode[], folded: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const stack: { nodes: readonly TreeNode[]; next: number }[] = [{ nodes: forest, next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1]!;
    const node = top.nodes[top.next];
    if (!node) {
      stack.pop();
      continue;
    }
    top.next++;
    const open = node.children.length > 0 && !folded.has(node.id);
    rows.push({
      key: node.id,
      id: node.id,
      session: node.session,
      level: stack.length,
      childCount: node.children.length,
      open,
      matches: node.matches,
      posInSet: top.next,
      setSize: top.nodes.length,
    });
    if (open) stack.push({ nodes: node.children, next: 0 });
  }
  return rows;
}

/** Ids from the root's side down to a session's parent: what must be open for it to be seen. */
export function ancestorsOf(
  id: string,
  byId: ReadonlyMap<string, Session>,
  places: ReadonlyMap<string, Place>,
): string[] {
  const up: string[] = [];
  const seen = new Set([id]);
  let at: string | null = id;
  for (;;) {
    const s: Session | undefined = byId.get(at);
    const parent: string | null = s ? parentOf(s) : (places.get(at)?.parentId ?? null);
    if (!parent || seen.has(parent)) return up.reverse();
    seen.add(parent);
    up.push(parent);
    at = parent;
  }
}

/** How many sessions that are known descend from it. */
export function descendantCount(id: string, byId: ReadonlyMap<string, Session>): number {
  const below = new Map<string, string[]>();
  for (const s of byId.values()) {
    const parent = parentOf(s);
    if (!parent) continue;
    const list = below.get(parent);
    if (list) list.push(s.id);
    else below.set(parent, [s.id]);
  }
  let count = 0;
  const todo = [id];
  while (todo.length > 0) {
    const next = below.get(todo.pop()!) ?? [];
    count += next.length;
    todo.push(...next);
  }
  return count;
}
