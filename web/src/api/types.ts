// SPDX-License-Identifier: Apache-2.0
// Names for the shapes of the API. Their members come from schema.ts, which is generated from
// /openapi.json; this file only marks the members that every response contains.
import type { components } from "./schema";

type S = components["schemas"];
type Have<T, K extends keyof T> = Omit<T, K> & { [P in K]-?: NonNullable<T[P]> };

export type Head = Have<S["Head"], "length" | "prefix_hash">;
export type Agent = S["Agent"];
export type AgentInfo = S["AgentInfo"];
export type ForkedFrom = S["ForkedFrom"];
export type Question = S["Question"];
export type Running = S["Running"];
export type Turn = S["Turn"];
export type Cut = S["Cut"];
export type Move = S["Move"];
export type Branch = S["Branch"];
export type Tags = S["Tags"];
export type TagCount = S["TagCount"];
export type Member = S["Member"];
export type Level = Member["level"];
export type Comparison = S["Comparison"];
export type CompareSide = S["CompareSide"];
export type Verdict = S["Verdict"];
export type Hit = S["Hit"];
export type Attachment = S["Attachment"];
export type Share = S["Share"];
export type SharedSession = S["SharedSession"];
export type Me = S["Me"];
export type Usage = S["Usage"];
export type UsageSum = S["UsageSum"];
export type UsageReport = S["UsageReport"];
export type Feedback = S["Feedback"];
export type ForkPoint = S["ForkPoint"];
export type Deleted = S["Deleted"];

/** A session that is there. Place holders of deleted ones (in trees) have `deleted` and little else. */
export type Session = Have<
  S["Session"],
  | "tree_id"
  | "title"
  | "owner"
  | "visibility"
  | "tags"
  | "archived"
  | "created_at"
  | "updated_at"
> & { head: Head; metadata: Record<string, unknown> };

export type Part = S["Part"] & { type: S["Part"]["type"] };
export type Role = S["Entry"]["role"];
export type Vote = "up" | "down";
export type Entry = Omit<S["Entry"], "parts" | "feedback"> & {
  parts: Part[];
  /** What the caller thinks of it. */
  feedback?: Vote | null;
};
export type EntryPage = { entries: Entry[]; head: Head; more_before: boolean; more_after: boolean };
export type Appended = { entries: Entry[]; head: Head; added: number };

export type At = { entry_id: string; side: "before" | "after" };
export type CutPolicy = "exact" | "snap_before" | "snap_after";
export type ForkIn = {
  at?: At;
  branch_id?: string;
  cut?: CutPolicy;
  title?: string;
  reason?: string;
  tags?: string[];
  agent?: string;
  visibility?: "tree" | "private";
  ephemeral_seconds?: number;
  metadata?: Record<string, unknown>;
  expected_head?: string;
};

export type Page<K extends string, T> = { [P in K]: T[] } & { next_cursor: string | null };

/** Events of the event stream. Those of turns are not replayed (see `running` of a session). */
export type SessionEvent = {
  type:
    | "session.created"
    | "session.updated"
    | "session.forked"
    | "session.rewound"
    | "session.switched"
    | "session.merged"
    | "session.deleted"
    | "session.restored";
  number: number;
  session_id: string;
  tree_id: string;
  branch_id?: string;
  at: string;
};
export type EntryEvent = {
  type: "entry.appended";
  session_id: string;
  tree_id: string;
  branch_id: string;
  turn_id?: string;
  entry: Entry;
};
export type TurnEvent = { session_id: string; tree_id: string; turn_id: string; branch_id: string } & (
  | { type: "turn.started"; agent: string }
  | { type: "turn.delta"; offset: number; text: string }
  | { type: "turn.thinking"; text: string }
  | { type: "turn.question"; question: Question }
  | { type: "turn.plan"; plan: unknown }
  | { type: "turn.done"; status: Turn["status"]; error?: string }
);
export type ResetEvent = { type: "reset" };
export type LiveEvent = SessionEvent | EntryEvent | TurnEvent | ResetEvent;
