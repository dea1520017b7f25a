// SPDX-License-Identifier: Apache-2.0
// The visible window of the history: read, extended at both ends, and updated by live events.
//
// Reads and events race. Events that arrive during a read wait and are applied to its result.
// Entries are identified by position and id, deltas of an answer by their offset, so
// applying an event twice changes nothing; a gap found while applying one starts another read.
import { ApiError, errorText, isCancelled } from "../../api/client";
import * as api from "../../api/ramet";
import type { EntryPage, LiveEvent } from "../../api/types";
import { isLeaving } from "../leaving";
import { addAfter, addBefore, keepSame, PAGE, threadOf, WINDOW, type Thread } from "../thread";
import type { SessionModel } from "./state";

const USAGE_DELAY_MS = 60;
/** Entries of one request when all are read. */
const WHOLE = 1000;

export class History {
  private reading = 0;
  private generation = 0;
  private waiting: LiveEvent[] = [];
  private usageTimer: ReturnType<typeof setTimeout> | undefined;

  /** `apply` takes an event; `onRead` runs behind each read that was shown. */
  constructor(
    private readonly model: SessionModel,
    private readonly apply: (event: LiveEvent) => void,
    private readonly onRead: () => void,
  ) {}

  /** Takes an event now, or behind the reads that are under way. */
  take(event: LiveEvent): void {
    if (this.reading > 0) this.waiting.push(event);
    else this.apply(event);
  }

  /** Shows what `page` brings, unless a later read has begun. */
  async read(page: () => Promise<Thread>): Promise<void> {
    const generation = ++this.generation;
    const { model } = this;
    this.reading++;
    try {
      const thread = await page();
      if (generation !== this.generation) return;
      model.set({ status: "ready", error: "", thread: keepSame(model.state.thread, thread) });
      this.onRead();
    } catch (error) {
      if (generation === this.generation && !isCancelled(error)) await this.failed(error);
    } finally {
      this.reading--;
      if (this.reading === 0) this.drain();
    }
  }

  private async failed(error: unknown): Promise<void> {
    const { model } = this;
    const { status, viewing, target } = model.state;
    const gone = error instanceof ApiError && (error.status === 404 || error.status === 403);
    if (gone && viewing === null && target === null) model.set({ status: "gone", error: errorText(error) });
    else if (gone) {
      // What the address asks for is not there any more: show the head.
      model.set({ target: null, viewing: null });
      await this.load();
    } else if (status === "ready") throw error;
    else model.set({ status: "failed", error: errorText(error) });
  }

  private drain(): void {
    const events = this.waiting;
    this.waiting = [];
    for (const event of events) this.apply(event);
  }

  /** From the beginning: the newest page, or the one around what the address asks for. */
  load = (): Promise<void> =>
    this.read(async () => {
      const { target, viewing } = this.model.state;
      const branch = viewing ?? undefined;
      return this.withSession(
        target === null ? this.page({ tail: true, limit: PAGE, branch }) : this.pageAround(target, branch),
      );
    });

  /** The same window again, on whatever path is the present one now. */
  reload = (): Promise<void> =>
    this.read(async () => {
      const branch = this.model.state.viewing ?? undefined;
      const page = this.page({ ...this.window(), branch });
      // The path is shorter than where the window began.
      const whole = page.then((p) => (p.entries.length === 0 && p.head.length > 0 ? this.tail() : p));
      return this.withSession(whole);
    });

  private async withSession(page: Promise<EntryPage>): Promise<Thread> {
    const { id } = this.model;
    const [session, moves, entries] = await Promise.all([api.getSession(id), api.listMoves(id), page]);
    this.model.setSession(session, { moves: moves.moves });
    this.countUsage();
    return threadOf(entries, session.running);
  }

  /** Where the shown window is, with room for what was appended since. */
  window(): { from: number; limit: number } {
    const { entries } = this.model.state.thread;
    return {
      from: entries[0]?.position ?? 0,
      limit: Math.min(WINDOW, Math.max(PAGE, entries.length + 20)),
    };
  }

  private async pageAround(entry: string, branch: string | undefined) {
    const { position } = await api.getEntry(this.model.id, entry, branch);
    return this.page({ from: Math.max(0, position - PAGE / 2), limit: PAGE, branch });
  }

  page = (query: api.EntryQuery) => api.listEntries(this.model.id, { ...query, feedback: true });

  tail = () => this.page({ tail: true, limit: PAGE, branch: this.model.state.viewing ?? undefined });

  /** Reads again in the background: if that fails, the next connection reads it. */
  refresh = (): void => {
    this.reload().catch(() => {});
  };

  loadBefore = (): Promise<void> =>
    this.model.once("before", async () => {
      const { thread, viewing } = this.model.state;
      const first = thread.entries[0];
      if (!first || !thread.moreBefore) return;
      const page = await this.page({ before: first.id, tail: true, limit: PAGE, branch: viewing ?? undefined });
      if (this.model.step(addBefore(this.model.state.thread, page))) this.refresh();
    });

  loadAfter = (): Promise<void> =>
    this.model.once("after", async () => {
      const { thread, viewing } = this.model.state;
      const last = thread.entries.at(-1);
      if (!last || !thread.moreAfter) return;
      const page = await this.page({ after: last.id, limit: PAGE, branch: viewing ?? undefined });
      if (this.model.step(addAfter(this.model.state.thread, page))) this.refresh();
    });

  /** The newest page, wherever the window was. */
  toEnd = (): Promise<void> => {
    this.model.set({ target: null });
    return this.read(async () =>
      threadOf(await this.tail(), (await api.getSession(this.model.id)).running),
    );
  };

  /** The first page, wherever the window was. */
  toStart = (): Promise<void> => {
    const branch = this.model.state.viewing ?? undefined;
    this.model.set({ target: null });
    return this.read(async () =>
      threadOf(await this.page({ from: 0, limit: PAGE, branch }), (await api.getSession(this.model.id)).running),
    );
  };

  /** The whole path, for printing. */
  loadAll = (): Promise<void> => {
    const branch = this.model.state.viewing ?? undefined;
    return this.read(async () => {
      let page = await this.page({ from: 0, limit: WHOLE, branch });
      const entries = [...page.entries];
      while (page.more_after) {
        page = await this.page({ after: entries.at(-1)!.id, limit: WHOLE, branch });
        entries.push(...page.entries);
      }
      return threadOf({ ...page, entries, more_before: false }, (await api.getSession(this.model.id)).running);
    });
  };

  countUsage(): void {
    clearTimeout(this.usageTimer);
    this.usageTimer = setTimeout(() => {
      const { id } = this.model;
      if (isLeaving(id)) return; // there may be nothing to count
      api.getUsage(id).then(
        (usage) => this.model.set({ usage }),
        () => {},
      );
    }, USAGE_DELAY_MS);
  }
}
