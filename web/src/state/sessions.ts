// SPDX-License-Identifier: Apache-2.0
//
// The sessions that the page knows, and what is done to them as a whole.
//
// `byId` is a cache: lists and trees are made from it (forest.ts), so that a filter shows at once
// what is known already, and its pages from the server complete it. Live events keep it fresh.
// Every action changes the cache with the server's answer, never before it.

import { create } from "zustand";
import { errorText, get as read, path, shareToken } from "../api/client";
import * as ramet from "../api/ramet";
import type { AgentInfo, Deleted, ForkIn, LiveEvent, Session, TagCount } from "../api/types";
import {
  ancestorsOf,
  type Filter,
  filterKey,
  NO_FILTER,
  type Place,
  treesToRead,
} from "./forest";
import { isLeaving, leave, stay } from "./leaving";

const PAGE = 200;
const REFRESH_MS = 120;

export type Mode = "list" | "tree";

interface Page {
  /** of the next page; null: there is none */
  cursor: string | null;
  begun: boolean;
  busy: boolean;
  error: string | null;
}

const NEW_PAGE: Page = { cursor: null, begun: false, busy: false, error: null };

interface SessionsState {
  byId: ReadonlyMap<string, Session>;
  places: ReadonlyMap<string, Place>;
  /** deleted ones that can be restored, as far as they were asked for */
  deleted: ReadonlyMap<string, Session>;
  treesRead: ReadonlySet<string>;
  pages: Readonly<Record<string, Page>>;
  filter: Filter;
  mode: Mode;
  folded: ReadonlySet<string>;
  /** marked for a comparison, in that order */
  marked: readonly string[];
  /** with a turn under way */
  running: ReadonlySet<string>;
  tags: readonly TagCount[];
  agents: readonly AgentInfo[];
}

// ------------------------------------------------------------------ kept in the browser

function kept<T>(key: string, sound: (value: unknown) => value is T, otherwise: T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "null");
    return sound(value) ? value : otherwise;
  } catch {
    return otherwise;
  }
}

function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
}

const MODE_KEY = "ramet.sidebar.mode";
const FOLDED_KEY = "ramet.sidebar.folded";
const FOLDED_MAX = 1000;

const isMode = (v: unknown): v is Mode => v === "list" || v === "tree";
const isIds = (v: unknown): v is string[] =>
  Array.isArray(v) && v.every((x) => typeof x === "string");

export const useSessions = create<SessionsState>(() => ({
  byId: new Map(),
  places: new Map(),
  deleted: new Map(),
  treesRead: new Set(),
  pages: {},
  filter: NO_FILTER,
  mode: kept(MODE_KEY, isMode, "list"),
  folded: new Set(kept(FOLDED_KEY, isIds, [])),
  marked: [],
  running: new Set(),
  tags: [],
  agents: [],
}));

const { getState: get, setState: set } = useSessions;

export function pageOf(state: SessionsState): Page {
  return state.pages[filterKey(state.filter)] ?? NEW_PAGE;
}

// ------------------------------------------------------------------ the cache

/** Sessions as the server has just returned them. */
export function putSessions(sessions: readonly Session[]): void {
  if (sessions.length === 0) return;
  const byId = new Map(get().byId);
  const places = new Map(get().places);
  const running = new Set(get().running);
  for (const s of sessions) {
    byId.set(s.id, s);
    places.delete(s.id);
    if (s.running) running.add(s.id);
    else running.delete(s.id);
  }
  set({ byId, places, running });
}

/** When sessions were dropped, counted in drops: an answer to what was asked before tells of them as
 * they were. */
const dropped = new Map<string, number>();
let drops = 0;
const still = (sessions: readonly Session[], asked: number) =>
  sessions.filter((s) => (dropped.get(s.id) ?? 0) <= asked);

/** Deleted ones: a place holder stays where forks are below. */
export function dropSessions(ids: readonly string[]): void {
  const byId = new Map(get().byId);
  const places = new Map(get().places);
  drops++;
  for (const id of ids) {
    waiting.delete(id);
    dropped.set(id, drops);
    const s = byId.get(id);
    if (!s) continue;
    byId.delete(id);
    places.set(id, { id, parentId: s.forked_from?.session_id ?? null });
  }
  const gone = new Set(ids);
  set({ byId, places, marked: get().marked.filter((id) => !gone.has(id)) });
}

/** Reads the deleted ones anew, if they are shown: nothing tells which of them were removed for good. */
function rereadDeleted(): void {
  if (!get().filter.deleted) return;
  set({ deleted: new Map(), pages: { ...get().pages, [filterKey(get().filter)]: NEW_PAGE } });
  void loadSessions();
}

function putDeleted(sessions: readonly Session[]): void {
  set({ deleted: new Map([...get().deleted, ...sessions.map((s) => [s.id, s] as const)]) });
}

function dropDeleted(id: string): void {
  const deleted = new Map(get().deleted);
  if (deleted.delete(id)) set({ deleted });
}

function setPage(key: string, change: Partial<Page>): void {
  set({ pages: { ...get().pages, [key]: { ...(get().pages[key] ?? NEW_PAGE), ...change } } });
}

async function readPage(filter: Filter, cursor: string | null): Promise<void> {
  const key = filterKey(filter);
  const asked = drops;
  setPage(key, { busy: true, error: null });
  try {
    const page = await ramet.listSessions({
      limit: PAGE,
      cursor,
      tag: filter.tag ?? undefined,
      agent: filter.agent ?? undefined,
      archived: filter.deleted ? "include" : filter.archived ? "only" : "exclude",
      deleted: filter.deleted || undefined,
    });
    if (filter.deleted) putDeleted(page.sessions);
    else putSessions(still(page.sessions, asked));
    setPage(key, { begun: true, busy: false, cursor: page.next_cursor });
    void readTrees();
  } catch (e) {
    setPage(key, { busy: false, error: errorText(e) });
  }
}

/** The next page of what the filter lets through; the first one when nothing was read yet. */
export async function loadSessions(): Promise<void> {
  const { filter } = get();
  const page = pageOf(get());
  if (page.busy || (page.begun && page.cursor === null)) return;
  await readPage(filter, page.cursor);
}

/** The newest ones once more: what was made before the live events began to come. */
export async function catchUp(): Promise<void> {
  const { filter } = get();
  if (!pageOf(get()).busy) await readPage(filter, null);
}

/** Reloads everything: after a gap in the events, or when another user signed in. */
export async function reloadSessions(): Promise<void> {
  set({
    byId: new Map(),
    places: new Map(),
    deleted: new Map(),
    treesRead: new Set(),
    pages: {},
    running: new Set(),
  });
  await Promise.all([loadSessions(), loadTags()]);
}

/** In the tree, parents that no page has brought yet. A tree is read once; see forest.ts. */
export async function readTrees(): Promise<void> {
  if (get().mode !== "tree") return;
  const todo = treesToRead(get().byId, get().places, get().treesRead);
  if (todo.length > 0) await readWhole(todo);
}

async function readWhole(todo: readonly Session[]): Promise<void> {
  set({ treesRead: new Set([...get().treesRead, ...todo.map((s) => s.tree_id)]) });
  for (const s of todo) {
    const asked = drops;
    try {
      for (let cursor: string | null = null, begun = false; !begun || cursor; begun = true) {
        const page = await ramet.getTree(s.id, { cursor });
        takeTree(still(page.sessions, asked));
        cursor = page.next_cursor;
      }
    } catch {
      // It is shown as a root until the next reload; everything that can be opened is there.
    }
  }
}

/** The chat that is open is always known, and in the tree with all of its tree. */
export async function needTree(id: string): Promise<void> {
  try {
    const s = await needSession(id);
    if (get().mode === "tree" && !get().treesRead.has(s.tree_id)) await readWhole([s]);
  } catch {
    // The view of the chat says what is wrong with it.
  }
}

function takeTree(tree: readonly Session[]): void {
  const places = new Map(get().places);
  for (const s of tree)
    if (s.deleted) places.set(s.id, { id: s.id, parentId: s.path?.at(-2) ?? null });
  set({ places });
  putSessions(tree.filter((s) => !s.deleted));
}

/** One session, from the cache or the server. */
export async function needSession(id: string): Promise<Session> {
  const known = get().byId.get(id);
  if (known) return known;
  const s = await ramet.getSession(id);
  putSessions([s]);
  return s;
}

export async function loadTags(): Promise<void> {
  if (shareToken()) return; // a link shows none
  try {
    set({ tags: (await ramet.listTags()).tags });
  } catch {
    // Suggestions only.
  }
}

/** anew: reload even if they are known. */
export async function loadAgents(anew = false): Promise<void> {
  if ((get().agents.length > 0 && !anew) || shareToken()) return; // a link shows none
  set({ agents: (await ramet.listAgents()).agents });
}

// ------------------------------------------------------------------ live

const waiting = new Set<string>();
let timer: ReturnType<typeof setTimeout> | undefined;

function refresh(id: string): void {
  waiting.add(id);
  timer ??= setTimeout(() => {
    timer = undefined;
    const ids = [...waiting];
    waiting.clear();
    for (const each of ids) void readOne(each);
  }, REFRESH_MS);
}

async function readOne(id: string): Promise<void> {
  if (isLeaving(id)) return;
  const asked = drops;
  try {
    putSessions(still([await ramet.getSession(id)], asked));
    void readTrees();
  } catch {
    // Deleted meanwhile, or the server is down: the next event or a reload will show it.
  }
}

function setRunning(id: string, on: boolean): void {
  if (get().running.has(id) === on) return;
  const running = new Set(get().running);
  if (on) running.add(id);
  else running.delete(id);
  set({ running });
}

/** What an event of the live stream changes here. */
export function hearEvent(e: LiveEvent): void {
  if (e.type === "reset") {
    void reloadSessions();
    return;
  }
  const known = get().byId.get(e.session_id);
  switch (e.type) {
    case "session.deleted":
      dropSessions([e.session_id]);
      rereadDeleted();
      break;
    case "turn.started":
      setRunning(e.session_id, true);
      break;
    case "turn.done":
      setRunning(e.session_id, false);
      break;
    case "entry.appended":
      // A chat without a title takes it from its first message.
      if (known?.title) putSessions([{ ...known, updated_at: e.entry.created_at }]);
      else refresh(e.session_id);
      break;
    case "session.updated":
      refresh(e.session_id);
      void loadTags();
      break;
    case "session.created":
    case "session.forked":
    case "session.rewound":
    case "session.switched":
    case "session.merged":
      refresh(e.session_id);
      break;
    case "session.restored":
      dropDeleted(e.session_id);
      stay(e.session_id); // it may have been restored from another window
      refresh(e.session_id);
      break;
  }
}

// ------------------------------------------------------------------ the view

export function setMode(mode: Mode): void {
  set({ mode });
  keep(MODE_KEY, mode);
  void readTrees();
}

export function setFilter(change: Partial<Filter>): void {
  set({ filter: { ...get().filter, ...change } });
  if (change.deleted) rereadDeleted();
  else void loadSessions();
}

export function setFolded(id: string, fold: boolean): void {
  const folded = new Set(get().folded);
  if (fold) folded.add(id);
  else folded.delete(id);
  set({ folded });
  keep(FOLDED_KEY, [...folded].slice(-FOLDED_MAX));
}

/** Opens what is folded above a session. */
export function reveal(id: string): void {
  const { byId, places, folded } = get();
  const above = ancestorsOf(id, byId, places).filter((a) => folded.has(a));
  if (above.length === 0) return;
  const open = new Set(folded);
  for (const a of above) open.delete(a);
  set({ folded: open });
  keep(FOLDED_KEY, [...open]);
}

export const MARKED_MAX = 4;

export function toggleMarked(id: string): void {
  const { marked } = get();
  if (marked.includes(id)) set({ marked: marked.filter((m) => m !== id) });
  else set({ marked: [...marked, id].slice(-MARKED_MAX) });
}

export function clearMarked(): void {
  set({ marked: [] });
}

// ------------------------------------------------------------------ what is done to a session

async function taken(answer: Promise<Session>): Promise<Session> {
  const s = await answer;
  putSessions([s]);
  return s;
}

/** An empty title lets the server name it by its first message. */
export function renameSession(id: string, title: string): Promise<Session> {
  return taken(ramet.updateSession(id, { title: title.trim() || null }));
}

export function archiveSession(id: string, archived: boolean): Promise<Session> {
  return taken(ramet.updateSession(id, { archived }));
}

export function setVisibility(id: string, visibility: Session["visibility"]): Promise<Session> {
  return taken(ramet.updateSession(id, { visibility }));
}

/** What deleting would take: the session alone, or it with everything below. */
export function previewDelete(id: string, tree: boolean): Promise<Deleted> {
  return ramet.deleteSession(id, { dry_run: true, tree });
}

export async function deleteSession(id: string, tree: boolean): Promise<Deleted> {
  leave(id);
  const gone = await ramet.deleteSession(id, tree ? { tree } : {}).catch((error: unknown) => {
    stay(id);
    throw error;
  });
  dropSessions(gone.sessions);
  void loadTags();
  return gone;
}

/** With `tree`: all that the same delete took. */
export async function restoreSession(id: string, tree: boolean): Promise<Session> {
  const s = await taken(ramet.restoreSession(id, tree));
  dropDeleted(id);
  stay(id);
  if (tree) takeTree((await ramet.getTree(id)).sessions);
  void loadTags();
  return s;
}

/** An ephemeral session stays for good. */
export function keepSession(id: string): Promise<Session> {
  return taken(ramet.promoteSession(id));
}

function putTags(id: string, tags: string[]): void {
  const s = get().byId.get(id);
  if (s) putSessions([{ ...s, tags }]);
  void loadTags();
}

export async function addTags(id: string, tags: string[]): Promise<string[]> {
  const all = await ramet.addTags(id, tags);
  putTags(id, all.tags);
  return all.tags;
}

export async function removeTag(id: string, tag: string): Promise<string[]> {
  const all = await ramet.removeTag(id, tag);
  putTags(id, all.tags);
  return all.tags;
}

/** A cut never parts a tool call from its result: it goes to the nearest place on its side. */
export async function forkSession(id: string, wish: ForkIn): Promise<Session> {
  const cut = wish.at?.side === "before" ? "snap_before" : "snap_after";
  const s = await taken(ramet.fork(id, { ...wish, cut }));
  reveal(s.id);
  if (wish.tags?.length) void loadTags();
  return s;
}

/** Whether anything was ever said in the session itself, inherited history not counted. */
export async function hasOwnEntries(id: string): Promise<boolean> {
  const record = await read<{ total: number }>(path("sessions", id, "record"), { limit: 1 });
  return record.total > 0;
}
