// SPDX-License-Identifier: Apache-2.0
// The state of one session, and the store that holds it. The parts of a room (history, outbox, head) read
// and change it only through a SessionModel.
import { create, type StoreApi, type UseBoundStore } from "zustand";
import type { Move, Part, Session, UsageReport } from "../../api/types";
import { isFresh } from "../../app/newchat";
import { emptyThread, type Step, type Thread } from "../thread";
import { readOutbox } from "./pending";

export type FileRef = { id: string; name: string; media_type: string };

/** A message that was sent and is not known to be stored. */
export type Pending = {
  id: string;
  key: string;
  text: string;
  files: FileRef[];
  agent?: string;
  /** Queued: it is sent by itself when the answer ends and the server can be reached. */
  state: "queued" | "sending" | "failed";
  error?: string;
  /** Being edited while it is queued: it is not sent meanwhile. */
  held?: boolean;
};

/** An answer that was never stored, to the message that is the head. */
export type Broken = { turnId: string; agent: string; head: string | null; text: string; thinking: string };

export type SessionState = {
  status: "loading" | "fresh" | "ready" | "gone" | "failed";
  error: string;
  session: Session | null;
  thread: Thread;
  /** Newest first: the first page of the head log. */
  moves: Move[];
  /** Number of the rewind whose row was dismissed here. */
  dismissed: number;
  usage: UsageReport | null;
  pending: Pending[];
  /** The last answer, if the server was stopped while it was made: what this browser has seen of it. */
  broken: Broken | null;
  /** How often this window has asked for an answer: its view follows each from the beginning. */
  asked: number;
  /** What is under way, by name: it cannot be started twice. */
  busy: ReadonlySet<string>;
  /** A branch that is looked at without being the head. */
  viewing: string | null;
  /** The entry that the address asks for. */
  target: string | null;
};

export const mayWrite = (state: SessionState): boolean =>
  state.session === null || (state.session.level ?? "writer") !== "reader";

export const filePart = (file: FileRef): Part => ({
  type: "file",
  attachment_id: file.id,
  name: file.name,
  ...(file.media_type ? { media_type: file.media_type } : {}),
});

/** A message's body: its text alone, or with files. */
export const contentOf = (text: string, files: Part[]) =>
  files.length === 0 ? { text } : { parts: [{ type: "text" as const, text }, ...files] };

const dismissKey = (id: string) => "ramet.aside." + id;
const readDismissed = (id: string): number => {
  try {
    return Number(localStorage.getItem(dismissKey(id)) ?? 0);
  } catch {
    return 0;
  }
};

export class SessionModel {
  readonly store: UseBoundStore<StoreApi<SessionState>>;

  constructor(readonly id: string) {
    this.store = create<SessionState>(() => ({
      status: isFresh(id) ? "fresh" : "loading",
      error: "",
      session: null,
      thread: emptyThread(),
      moves: [],
      dismissed: readDismissed(id),
      usage: null,
      pending: readOutbox(id),
      broken: null,
      asked: 0,
      busy: new Set(),
      viewing: null,
      target: null,
    }));
  }

  get state(): SessionState {
    return this.store.getState();
  }
  set(some: Partial<SessionState>): void {
    this.store.setState(some);
  }
  /** The caller's level comes with a read alone, not with the answer of a write. */
  setSession(session: Session, some: Partial<SessionState> = {}): void {
    this.set({ session: { ...session, level: session.level ?? this.state.session?.level }, ...some });
  }
  /** True: there is a gap, and the history must be read again. */
  step({ thread, gap }: Step): boolean {
    if (thread !== this.state.thread) this.set({ thread });
    return gap;
  }
  /** The user asks for an answer, in this window. */
  ask(): void {
    this.set({ asked: this.state.asked + 1 });
  }
  dismiss(move: number): void {
    this.set({ dismissed: move });
    try {
      localStorage.setItem(dismissKey(this.id), String(move));
    } catch {
      // Until the page is reloaded, then.
    }
  }

  /** Runs it unless it is under way. The caller reports what goes wrong. */
  async once<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
    if (this.state.busy.has(name)) return undefined;
    this.set({ busy: new Set([...this.state.busy, name]) });
    try {
      return await run();
    } finally {
      const busy = new Set(this.state.busy);
      busy.delete(name);
      this.set({ busy });
    }
  }
}
