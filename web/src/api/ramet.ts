// SPDX-License-Identifier: Apache-2.0
// Every call that the page makes, by name.
import { BASE, cancelBelow, del, get, patch, path, post, put, request, type Options } from "./client";
import type {
  AgentInfo,
  Appended,
  At,
  Attachment,
  Branch,
  Comparison,
  CutPolicy,
  Deleted,
  Entry,
  EntryPage,
  Feedback,
  ForkIn,
  ForkPoint,
  Hit,
  Level,
  Me,
  Member,
  Move,
  Page,
  Part,
  Session,
  Share,
  SharedSession,
  TagCount,
  Tags,
  Turn,
  UsageReport,
  Verdict,
} from "./types";

const at = (id: string, ...rest: string[]) => path("sessions", id, ...rest);

type Moving = { keep_running?: boolean; expected_head?: string };

// Sessions
export type SessionQuery = {
  limit?: number;
  cursor?: string | null;
  agent?: string;
  tag?: string;
  tree?: string;
  title?: string;
  owner?: string;
  archived?: "exclude" | "include" | "only";
  /** Instead: deleted ones that the caller may restore. */
  deleted?: boolean;
};
export const listSessions = (query: SessionQuery = {}, signal?: AbortSignal) =>
  get<Page<"sessions", Session>>("/sessions", query, signal);
/** Cancels what is being read of a session. */
export const cancelReads = (id: string): void => cancelBelow(at(id));
export const getSession = (id: string, signal?: AbortSignal) => get<Session>(at(id), {}, signal);
export const createSession = (
  body: {
    id?: string;
    title?: string;
    agent?: string;
    tags?: string[];
    metadata?: Record<string, unknown>;
    ephemeral_seconds?: number;
    visibility?: "tree" | "private";
  } = {},
  o?: Options,
) => post<Session>("/sessions", body, o);
export const updateSession = (
  id: string,
  body: {
    title?: string | null;
    agent?: string | null;
    archived?: boolean;
    metadata?: Record<string, unknown>;
    visibility?: "tree" | "private";
  },
) => patch<Session>(at(id), body);
export const deleteSession = (id: string, query: { tree?: boolean; dry_run?: boolean } = {}) =>
  del<Deleted>(at(id), query);
export const restoreSession = (id: string, tree = false) => post<Session>(at(id, "restore"), tree ? { tree } : {});
export const promoteSession = (id: string) => post<Session>(at(id, "promote"));

// Lineage
export const listAncestry = (id: string) => get<Page<"sessions", Session>>(at(id, "ancestry"));
export const listChildren = (id: string, query: { limit?: number; cursor?: string | null } = {}) =>
  get<Page<"sessions", Session>>(at(id, "children"), query);
export const getTree = (
  id: string,
  query: { limit?: number; cursor?: string | null } = {},
  signal?: AbortSignal,
) => get<Page<"sessions", Session>>(at(id, "tree"), query, signal);
/** The branches of all its sessions, without their words. */
export const listTreeBranches = (id: string, query: { cursor?: string | null } = {}, signal?: AbortSignal) =>
  get<Page<"branches", Branch>>(at(id, "tree", "branches"), query, signal);
export const listForkPoints = (id: string) => get<Page<"fork_points", ForkPoint>>(at(id, "fork-points"));
export const getUsage = (id: string) => get<UsageReport>(at(id, "usage"));

// Entries
export type EntryQuery = {
  limit?: number;
  after?: string;
  before?: string;
  tail?: boolean;
  from?: number;
  branch?: string;
  /** With what the caller thinks of each. */
  feedback?: boolean;
};
export const listEntries = (id: string, query: EntryQuery = {}, signal?: AbortSignal) =>
  get<EntryPage>(at(id, "entries"), query, signal);
export const getEntry = (id: string, entry: string, branch?: string) =>
  get<Entry>(at(id, "entries", entry), { branch });
export const listBranches = (id: string, query: { at?: string; branch?: string } = {}) =>
  get<Page<"branches", Branch>>(at(id, "branches"), query);
export const listMoves = (id: string, query: { limit?: number; cursor?: string | null } = {}) =>
  get<Page<"moves", Move>>(at(id, "head-log"), query);
export const putFeedback = (id: string, entry: string, value: "up" | "down" | null) =>
  put<Feedback>(at(id, "entries", entry, "feedback"), { value });
export const listFeedback = (id: string, entry: string) =>
  get<Page<"feedback", Feedback>>(at(id, "entries", entry, "feedback"));

/** All or none. */
export const appendEntries = (id: string, entries: { role: Entry["role"]; text?: string; parts?: Part[] }[]) =>
  post<Appended>(at(id, "entries"), { entries });

// Moves
export const fork = (id: string, body: ForkIn, o?: Options) =>
  post<Session>(at(id, "fork"), body, { asUser: true, ...o });
export const rewind = (
  id: string,
  body: { at: At; cut?: CutPolicy; reason?: string } & Moving,
  o?: Options,
) => post<Session>(at(id, "rewind"), body, o);
export const undo = (id: string, body: Moving = {}, o?: Options) => post<Session>(at(id, "undo"), body, o);
export const redo = (id: string, body: Moving = {}, o?: Options) => post<Session>(at(id, "redo"), body, o);
export const switchTo = (id: string, branch_id: string, body: Moving = {}, o?: Options) =>
  post<Session>(at(id, "switch"), { branch_id, ...body }, o);
export const edit = (
  id: string,
  body: { entry_id: string; text?: string; parts?: Part[] } & Moving,
  o?: Options,
) => post<Appended>(at(id, "edit"), body, o);

// Turns (those that stream are in turns.ts)
export const cancelTurn = (id: string, turn_id?: string) =>
  post<Turn>(at(id, "cancel"), turn_id ? { turn_id } : {});
export const listTurns = (id: string, limit = 20) => get<Page<"turns", Turn>>(at(id, "turns"), { limit });
export const getTurn = (id: string, turn: string) => get<Turn>(at(id, "turns", turn));
export const answerQuestion = (id: string, turn: string, question_id: string, answer: unknown) =>
  post<Turn>(at(id, "turns", turn, "answer"), { question_id, answer });

// Tags, members, share links
export const setTags = (id: string, tags: string[]) => put<Tags>(at(id, "tags"), { tags });
export const addTags = (id: string, tags: string[]) => post<Tags>(at(id, "tags"), { tags });
export const removeTag = (id: string, tag: string) => del<Tags>(at(id, "tags", tag));
export const listTags = () => get<Page<"tags", TagCount>>("/tags");
export const listMembers = (id: string) => get<Page<"members", Member>>(at(id, "members"));
export const setMember = (id: string, user: string, level: Level) =>
  put<Member>(at(id, "members", user), { level });
export const removeMember = (id: string, user: string) => del<void>(at(id, "members", user));
export const listShares = (id: string) => get<Page<"shares", Share>>(at(id, "shares"));
export const createShare = (id: string, body: { write?: boolean; expires_seconds?: number }) =>
  post<Share>(at(id, "shares"), body);
export const revokeShare = (id: string, share: string) => del<void>(at(id, "shares", share));
export const openShare = () => get<SharedSession>("/share");

// Compare, search
export const compare = (sides: string[], limit?: number, signal?: AbortSignal) =>
  get<Comparison>("/compare", { side: sides, limit }, signal);
export const addVerdict = (body: { sides: string[]; winner: number | string | null; reason?: string }) =>
  post<Verdict>("/compare/verdict", body);
export const listVerdicts = (session?: string) => get<Page<"verdicts", Verdict>>("/compare/verdicts", { session });
export type SearchQuery = {
  q: string;
  session?: string;
  tree?: string;
  tag?: string;
  agent?: string;
  role?: string;
  limit?: number;
  cursor?: string | null;
};
export const search = (query: SearchQuery, signal?: AbortSignal) =>
  get<Page<"hits", Hit> & { bounded: boolean }>("/search", query, signal);

// Attachments
export const uploadAttachment = async (file: File, signal?: AbortSignal): Promise<Attachment> => {
  const answer = await request("POST", "/attachments", { query: { name: file.name }, raw: file, signal });
  return (await answer.json()) as Attachment;
};
export const attachmentUrl = (id: string) => BASE + path("attachments", id);
export const getAttachment = (id: string) => get<Attachment>(path("attachments", id, "info"));
export const deleteAttachment = (id: string) => del<void>(path("attachments", id));

// About
export const getMe = () => get<Me>("/me");
export const listAgents = () => get<Page<"agents", AgentInfo>>("/agents");
