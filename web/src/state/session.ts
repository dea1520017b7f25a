// SPDX-License-Identifier: Apache-2.0
// A session that is shown: its store, what the live events do to it, and everything that can be done
// in it. There is one room a session; a few that nobody shows any more are kept, to be there at once.
//
// Reads and events race: while a read is under way, events wait and are applied to what it brings.
// Entries are told apart by position and id, words of an answer by their offset, so that applying an
// event twice changes nothing; a hole found while applying one makes the room read anew.
import { create, type StoreApi, type UseBoundStore } from "zustand";
import { ApiError, errorText, isCode, newKey } from "../api/client";
import { live } from "../api/events";
import * as api from "../api/ramet";
import * as turns from "../api/turns";
import type { Branch, Entry, LiveEvent, Move, Part, Session, UsageReport, Vote } from "../api/types";
import { isFresh, noLongerFresh } from "../app/newchat";
import {
  addAfter,
  addBefore,
  answerStart,
  append,
  cutAt,
  emptyThread,
  keepSame,
  PAGE,
  threadOf,
  turn as turnStep,
  WINDOW,
  type Step,
  type Thread,
} from "./thread";
import { readOutbox, writeOutbox } from "./outbox";
import { isLeaving } from "./sessions";

export type FileRef = { id: string; name: string; media_type: string };

/** A message that was sent and is not known to be stored. */
export type Pending = {
  id: string;
  key: string;
  text: string;
  files: FileRef[];
  agent?: string;
  state: "sending" | "failed";
  error?: string;
  /** It failed because the server could not be reached: it is sent by itself when it can. */
  waits?: boolean;
};

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
  /** What is under way, by name: it cannot be started twice. */
  busy: ReadonlySet<string>;
  /** A branch that is looked at without being the head. */
  viewing: string | null;
  /** The entry that the address asks for. */
  target: string | null;
};

const filePart = (file: FileRef): Part => ({
  type: "file",
  attachment_id: file.id,
  name: file.name,
  ...(file.media_type ? { media_type: file.media_type } : {}),
});

/** A message's body: its text alone, or with files. */
const contentOf = (text: string, files: Part[]) =>
  files.length === 0 ? { text } : { parts: [{ type: "text" as const, text }, ...files] };

const dismissKey = (id: string) => "ramet.aside." + id;
const readDismissed = (id: string): number => {
  try {
    return Number(localStorage.getItem(dismissKey(id)) ?? 0);
  } catch {
    return 0;
  }
};

export class Room {
  readonly store: UseBoundStore<StoreApi<SessionState>>;
  private users = 0;
  private stops: (() => void)[] = [];
  private reading = 0;
  private generation = 0;
  private waiting: LiveEvent[] = [];
  private usageTimer: ReturnType<typeof setTimeout> | undefined;

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
      busy: new Set(),
      viewing: null,
      target: null,
    }));
  }

  get idle(): boolean {
    return this.users === 0;
  }
  get state(): SessionState {
    return this.store.getState();
  }
  private set(some: Partial<SessionState>): void {
    this.store.setState(some);
  }
  /** The caller's level comes with a read alone, not with the answer of a write. */
  private setSession(session: Session, some: Partial<SessionState> = {}): void {
    this.set({ session: { ...session, level: session.level ?? this.state.session?.level }, ...some });
  }

  /** Shown from here on; the answer takes it back. */
  enter(target: string | null, branch: string | null): () => void {
    rooms.set(this.id, this);
    if (this.users++ === 0) {
      const hub = live(this.id);
      this.stops = [hub.onEvent(this.hear), hub.onOpen(this.back)];
    }
    this.set({ target, viewing: branch });
    if (!isFresh(this.id)) void this.load();
    return () => {
      if (--this.users > 0) return;
      for (const stop of this.stops) stop();
      this.stops = [];
      forgetIdle();
    };
  }

  // -------------------------------------------------------------- reading

  /** Reads session, entries and moves as one: events that come meanwhile are applied afterwards. */
  private async read(page: () => Promise<Thread>): Promise<void> {
    const generation = ++this.generation;
    this.reading++;
    try {
      const thread = await page();
      if (generation !== this.generation) return;
      this.set({ status: "ready", error: "", thread: keepSame(this.state.thread, thread) });
      this.settle();
    } catch (error) {
      if (generation !== this.generation) return;
      const gone = error instanceof ApiError && (error.status === 404 || error.status === 403);
      if (gone && this.state.viewing === null && this.state.target === null)
        this.set({ status: "gone", error: errorText(error) });
      else if (this.state.status === "ready" && !gone) throw error;
      else if (gone) await this.unaim();
      else this.set({ status: "failed", error: errorText(error) });
    } finally {
      this.reading--;
      if (this.reading === 0) this.drain();
    }
  }

  /** What the address asks for is not there (any more): show the head. */
  private async unaim(): Promise<void> {
    this.set({ target: null, viewing: null });
    await this.load();
  }

  private drain(): void {
    const events = this.waiting;
    this.waiting = [];
    for (const event of events) this.apply(event);
  }

  /** From the beginning: the newest page, or the one around what the address asks for. */
  load = (): Promise<void> =>
    this.read(async () => {
      const { target, viewing } = this.state;
      const branch = viewing ?? undefined;
      const [session, moves, page] = await Promise.all([
        api.getSession(this.id),
        api.listMoves(this.id),
        target === null
          ? this.page({ tail: true, limit: PAGE, branch })
          : this.pageAround(target, branch),
      ]);
      this.setSession(session, { moves: moves.moves });
      this.countUsage();
      return threadOf(page, session.running);
    });

  private async pageAround(entry: string, branch: string | undefined) {
    const { position } = await api.getEntry(this.id, entry, branch);
    return this.page({ from: Math.max(0, position - PAGE / 2), limit: PAGE, branch });
  }

  /** The same window once more, on whatever path is the present one now. */
  reload = (): Promise<void> =>
    this.read(async () => {
      const { thread, viewing } = this.state;
      const from = thread.entries[0]?.position ?? 0;
      const limit = Math.min(WINDOW, Math.max(PAGE, thread.entries.length + 20));
      const branch = viewing ?? undefined;
      const [session, moves, page] = await Promise.all([
        api.getSession(this.id),
        api.listMoves(this.id),
        this.page({ from, limit, branch }),
      ]);
      this.setSession(session, { moves: moves.moves });
      this.countUsage();
      // The path is shorter than where the window began, or grew past it while it was at the end.
      const lost = page.entries.length === 0 && page.head.length > 0;
      if (lost) return threadOf(await this.tail(), session.running);
      return threadOf(page, session.running);
    });

  private page = (query: api.EntryQuery) => api.listEntries(this.id, { ...query, feedback: true });

  private tail = () =>
    this.page({ tail: true, limit: PAGE, branch: this.state.viewing ?? undefined });

  private refresh = (): void => {
    this.reload().catch(() => {}); // the connection will say; it is read anew when it is back
  };

  loadBefore = (): Promise<void> =>
    this.once("before", async () => {
      const first = this.state.thread.entries[0];
      if (!first || !this.state.thread.moreBefore) return;
      const branch = this.state.viewing ?? undefined;
      const query = { before: first.id, tail: true, limit: PAGE, branch };
      this.step(addBefore(this.state.thread, await this.page(query)));
    });

  loadAfter = (): Promise<void> =>
    this.once("after", async () => {
      const last = this.state.thread.entries.at(-1);
      if (!last || !this.state.thread.moreAfter) return;
      const query = { after: last.id, limit: PAGE, branch: this.state.viewing ?? undefined };
      this.step(addAfter(this.state.thread, await this.page(query)));
    });

  /** The newest page, wherever the window was. */
  toEnd = (): Promise<void> => {
    this.set({ target: null });
    return this.read(async () => threadOf(await this.tail(), (await api.getSession(this.id)).running));
  };

  private countUsage(): void {
    clearTimeout(this.usageTimer);
    this.usageTimer = setTimeout(() => {
      if (isLeaving(this.id)) return; // nobody will look, and there may be nothing to count
      api.getUsage(this.id).then(
        (usage) => this.set({ usage }),
        () => {},
      );
    }, 60);
  }

  // -------------------------------------------------------------- live events

  private back = (): void => {
    if (this.state.status === "fresh") return;
    if (this.state.status !== "ready") void this.load();
    else this.refresh();
    for (const one of this.state.pending) if (one.waits) void this.push(one);
  };

  private hear = (event: LiveEvent): void => {
    if (event.type !== "reset" && event.session_id !== this.id) return;
    if (this.state.status === "fresh") return;
    if (this.reading > 0) this.waiting.push(event);
    else this.apply(event);
  };

  private step({ thread, gap }: Step): void {
    if (thread !== this.state.thread) this.set({ thread });
    if (gap) this.refresh();
  }

  private apply(event: LiveEvent): void {
    switch (event.type) {
      case "reset":
        return this.refresh();
      case "entry.appended":
        this.step(append(this.state.thread, event.branch_id, event.entry));
        this.settle();
        return;
      case "session.rewound":
      case "session.switched":
      case "session.merged":
        return this.refresh();
      case "session.restored":
        return void this.load();
      case "session.updated":
        void api.getSession(this.id).then((session) => this.setSession(session), () => {});
        return;
      case "session.deleted":
        return this.set({ status: "gone" });
      case "session.created":
      case "session.forked":
        return;
      default: {
        const before = this.state.thread.answer;
        this.step(turnStep(this.state.thread, event));
        // Versions and what the turn cost come with a read alone.
        if (event.type === "turn.done" && before?.turnId === event.turn_id) this.refresh();
      }
    }
  }

  // -------------------------------------------------------------- doing

  /** Runs it unless it is under way. What goes wrong is the caller's to say. */
  private async once<T>(name: string, run: () => Promise<T>): Promise<T | undefined> {
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

  /** A pending message that has become an entry is no longer pending. */
  private settle(): void {
    const { pending, thread } = this.state;
    if (pending.length === 0) return;
    const stored = new Set(thread.entries.map((entry) => entry.id));
    const left = pending.filter((one) => !stored.has(one.id));
    if (left.length !== pending.length) this.setPending(left);
  }

  private setPending(pending: Pending[]): void {
    this.set({ pending });
    writeOutbox(this.id, pending);
  }

  private changePending(id: string, some: Partial<Pending>): void {
    this.setPending(this.state.pending.map((one) => (one.id === id ? { ...one, ...some } : one)));
  }

  /** Sends a message. It is shown at once, and kept until the server has it. */
  async send(text: string, files: FileRef[] = [], agent?: string): Promise<void> {
    const one: Pending = {
      id: newKey(),
      key: newKey(),
      text,
      files,
      agent,
      state: "sending",
    };
    this.setPending([...this.state.pending, one]);
    if (this.state.viewing !== null || this.state.thread.moreAfter) {
      this.set({ viewing: null });
      await this.toEnd();
    }
    await this.push(one);
  }

  retry = (id: string): void => {
    const one = this.state.pending.find((each) => each.id === id);
    if (one) void this.push(one);
  };

  /** Takes back what could not be sent; gives its text. */
  discard(id: string): string {
    const one = this.state.pending.find((each) => each.id === id);
    this.setPending(this.state.pending.filter((each) => each.id !== id));
    return one?.text ?? "";
  }

  private async push(one: Pending): Promise<void> {
    await this.once("push:" + one.id, async () => {
      this.changePending(one.id, { state: "sending", error: undefined, waits: false });
      try {
        await this.make(one.agent);
        await turns.sendMessage(
          this.id,
          {
            id: one.id,
            agent: one.agent,
            ...contentOf(one.text, one.files.map(filePart)),
          },
          one.key,
        );
        if (this.state.pending.some((each) => each.id === one.id)) this.refresh();
      } catch (error) {
        const waits = error instanceof ApiError && error.status === 0;
        const text = waits ? "The server cannot be reached. It is sent when it can." : errorText(error);
        this.changePending(one.id, { state: "failed", error: text, waits });
      }
    });
  }

  /** Makes the session when this is its first message. */
  private async make(agent: string | undefined): Promise<void> {
    if (!isFresh(this.id)) return;
    try {
      await api.createSession({ id: this.id, agent });
    } catch (error) {
      if (!isCode(error, "session_exists")) throw error;
    }
    noLongerFresh(this.id);
    await this.load();
  }

  /** Makes the session ready to be written to; for what needs it before a message (a fan-out). */
  ensure = (agent?: string): Promise<void> => this.make(agent);

  edit(entry: Entry, text: string): Promise<unknown> {
    return this.once("edit:" + entry.id, async () => {
      if (entry.role === "user") {
        const files = entry.parts.filter((part) => part.type === "file");
        await turns.sendMessage(this.id, { replace: entry.id, ...contentOf(text, files) });
      } else {
        await api.edit(this.id, { entry_id: entry.id, text });
      }
      await this.present();
    });
  }

  regenerate(entry: Entry, agent?: string): Promise<unknown> {
    return this.once("regenerate:" + entry.id, async () => {
      const at = entry.role === "user" ? entry : answerStart(this.state.thread, entry);
      await turns.regenerate(this.id, { entry_id: at.id, agent });
      await this.present();
    });
  }

  /** After a move of one's own: no other branch is looked at any more. */
  private present(): Promise<void> {
    this.set({ viewing: null, target: null });
    return this.reload();
  }

  rewind(entry: Entry): Promise<unknown> {
    return this.once("rewind:" + entry.id, async () => {
      await api.rewind(this.id, cutAt(entry));
      await this.present();
    });
  }

  undo = (): Promise<unknown> => this.move("undo", api.undo);
  redo = (): Promise<unknown> => this.move("redo", api.redo);

  private move(name: "undo" | "redo", call: typeof api.undo): Promise<unknown> {
    return this.once(name, async () => {
      const known = this.state.moves[0]?.number ?? 0;
      const head = this.state.viewing === null ? this.state.thread.head : this.state.session?.head;
      try {
        await call(this.id, { expected_head: head?.prefix_hash });
      } catch (error) {
        // Whatever stands in the way: if somebody moved meanwhile, that is why.
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
        const who = await this.whoMoved(known, isCode(error, "head_moved"));
        if (who === null) throw error;
        this.refresh();
        throw new Error(`${who}. The ${name} was not done; look, and try again.`);
      }
      await this.present();
    });
  }

  /** Who made the head another than was shown; null: nobody moved it. */
  private async whoMoved(known: number, moved: boolean): Promise<string | null> {
    const [log, page] = await Promise.all([
      api.listMoves(this.id, { limit: 1 }),
      this.page({ tail: true, limit: 1 }),
    ]);
    const move = log.moves[0];
    if (move && move.number > known)
      return `${move.by ?? "Somebody"} moved this chat meanwhile (${move.kind})`;
    return moved ? `${page.entries[0]?.author ?? "Somebody"} wrote in this chat meanwhile` : null;
  }

  dismissAside(move: number): void {
    this.set({ dismissed: move });
    try {
      localStorage.setItem(dismissKey(this.id), String(move));
    } catch {
      // until the reload, then
    }
  }

  // -------------------------------------------------------------- versions and branches

  versions(entry: Entry): Promise<Branch[]> {
    const query = { at: entry.id, branch: this.state.viewing ?? undefined };
    return api.listBranches(this.id, query).then((list) => list.branches);
  }

  /** The version beside this one; nothing at either end. */
  async neighbour(entry: Entry, by: 1 | -1): Promise<void> {
    const wanted = (entry.versions?.number ?? 1) + by;
    if (wanted < 1 || wanted > (entry.versions?.count ?? 1)) return;
    await this.once("versions", async () => {
      const version = (await this.versions(entry)).find((one) => one.number === wanted);
      if (version) await this.show(version.branch_id);
    });
  }

  /** Shows a version: by moving the head, or, for who may not, by looking at its branch. */
  async choose(version: Branch): Promise<void> {
    await this.once("versions", () => this.show(version.branch_id));
  }

  private async show(branch: string): Promise<void> {
    const write = mayWrite(this.state);
    const from = this.state.thread.entries[0]?.position ?? 0;
    const limit = Math.min(WINDOW, Math.max(PAGE, this.state.thread.entries.length + 20));
    if (write) {
      // Both at once: the entries of that branch are the same before and after.
      await this.read(async () => {
        const [session, page] = await Promise.all([
          api.switchTo(this.id, branch, { keep_running: true }),
          this.page({ branch, from, limit }),
        ]);
        this.setSession(session, { viewing: null, target: null });
        return threadOf(page, session.running);
      });
      void api.listMoves(this.id).then((log) => this.set({ moves: log.moves }));
      this.countUsage();
    } else {
      await this.read(async () => {
        const page = await this.page({ branch, from, limit });
        this.set({ viewing: branch === this.state.session?.head.branch_id ? null : branch });
        return threadOf(page, this.state.session?.running);
      });
    }
  }

  /** Makes the branch that is looked at the present one. */
  switchToViewed = (): Promise<unknown> =>
    this.once("switch", async () => {
      const { viewing } = this.state;
      if (viewing !== null) await api.switchTo(this.id, viewing, { keep_running: true });
      this.set({ viewing: null });
      await this.reload();
    });

  /** A branch of the head log, looked at without moving. */
  view = async (branch: string | null): Promise<void> => {
    this.set({ viewing: branch, target: null });
    await this.read(async () =>
      threadOf(
        await this.tail(),
        this.state.session?.running,
      ),
    );
  };

  // -------------------------------------------------------------- the rest

  stop = (): Promise<unknown> =>
    this.once("stop", async () => {
      const turn = this.state.thread.answer?.turnId;
      try {
        await api.cancelTurn(this.id, turn);
      } catch (error) {
        if (!isCode(error, "turn_over") && !isCode(error, "turn_not_found")) throw error;
      }
    });

  reply(question: string, answer: string): Promise<unknown> {
    return this.once("reply:" + question, async () => {
      const turn = this.state.thread.answer;
      if (!turn) return;
      await api.answerQuestion(this.id, turn.turnId, question, answer);
      const now = this.state.thread.answer;
      if (now?.question?.id === question)
        this.set({ thread: { ...this.state.thread, answer: { ...now, question: null } } });
    });
  }

  /** The same vote once more takes it back. */
  vote(entry: Entry, vote: Vote): Promise<unknown> {
    return this.once("vote:" + entry.id, async () => {
      const value = entry.feedback === vote ? null : vote;
      await api.putFeedback(this.id, entry.id, value);
      const { thread } = this.state;
      const entries = thread.entries.map((one) =>
        one.id === entry.id ? { ...one, feedback: value ?? undefined } : one,
      );
      this.set({ thread: { ...thread, entries } });
    });
  }

  async setAgent(agent: string): Promise<void> {
    await this.once("agent", async () => {
      this.setSession(await api.updateSession(this.id, { agent }));
    });
  }

  fanOut(text: string, files: FileRef[], agents: string[]): Promise<turns.Started[] | undefined> {
    return this.once("fan-out", async () => {
      await this.make(undefined);
      return turns.fanOut(this.id, { ...contentOf(text, files.map(filePart)), agents });
    });
  }
}

export const mayWrite = (state: SessionState): boolean =>
  state.session === null || (state.session.level ?? "writer") !== "reader";

const IDLE_ROOMS = 8;
const rooms = new Map<string, Room>();

const forgetIdle = (): void => {
  const idle = [...rooms.values()].filter((room) => room.idle);
  for (const room of idle.slice(0, -IDLE_ROOMS)) rooms.delete(room.id);
};

export const roomOf = (id: string): Room => {
  let room = rooms.get(id);
  if (!room) rooms.set(id, (room = new Room(id)));
  return room;
};

/** A piece of a session that is shown. */
export const useSession = <T>(id: string, select: (state: SessionState) => T): T => roomOf(id).store(select);
