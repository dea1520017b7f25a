// SPDX-License-Identifier: Apache-2.0
// Live events: one connection for the whole page. After an interruption it continues with Last-Event-ID, so
// that no recorded event is missed. Events that are not replayed (those of a turn in progress) are covered
// by reloading: `onOpen` reports that the connection is back.
import { errorOf, headersOf, shareToken, urlOf, type Query } from "./client";
import { messages } from "./sse";
import type { LiveEvent } from "./types";

export type LinkState = "connecting" | "live" | "offline";

type Listener = (event: LiveEvent) => void;

const FIRST_PAUSE_MS = 250;
const LAST_PAUSE_MS = 10_000;
/** The server says something at least every 15 seconds. */
const SILENCE_MS = 40_000;
/** A browser gives a host six connections: hidden windows close theirs. */
const HIDDEN_MS = 60_000;

export class Live {
  private listeners = new Set<Listener>();
  private opens = new Set<() => void>();
  private states = new Set<() => void>();
  private current: LinkState = "connecting";
  private last: string | null = null;
  private abort: AbortController | null = null;
  private wake: (() => void) | null = null;
  private running = false;
  private resting = false;
  private hideTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private query: Query = {}) {}

  /** Begins to listen; the first call alone counts. */
  start(): void {
    if (this.running) return;
    this.running = true;
    window.addEventListener("online", this.retry);
    window.addEventListener("offline", this.lost);
    document.addEventListener("visibilitychange", this.seen);
    void this.loop();
  }

  stop(): void {
    this.running = false;
    window.removeEventListener("online", this.retry);
    window.removeEventListener("offline", this.lost);
    document.removeEventListener("visibilitychange", this.seen);
    clearTimeout(this.hideTimer);
    this.abort?.abort();
    this.wake?.();
  }

  onEvent(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Called whenever the connection stands (again). */
  onOpen(listener: () => void): () => void {
    this.opens.add(listener);
    return () => this.opens.delete(listener);
  }

  /** For useSyncExternalStore. */
  subscribe = (listener: () => void): (() => void) => {
    this.states.add(listener);
    return () => this.states.delete(listener);
  };
  state = (): LinkState => this.current;

  /** Tries at once instead of waiting out the pause. */
  retry = (): void => this.wake?.();

  private lost = (): void => {
    this.abort?.abort();
  };

  private seen = (): void => {
    clearTimeout(this.hideTimer);
    if (document.hidden) {
      this.hideTimer = setTimeout(() => {
        this.resting = true;
        this.abort?.abort();
      }, HIDDEN_MS);
    } else {
      this.resting = false;
      this.retry();
    }
  };

  private setState(state: LinkState): void {
    if (state === this.current) return;
    this.current = state;
    for (const listener of this.states) listener();
  }

  private sleep(ms: number): Promise<void> {
    return new Promise((done) => {
      const finish = () => {
        clearTimeout(timer);
        this.wake = null;
        done();
      };
      const timer = ms === Infinity ? undefined : setTimeout(finish, ms);
      this.wake = finish;
    });
  }

  private async loop(): Promise<void> {
    let pause = FIRST_PAUSE_MS;
    while (this.running) {
      const opened = await this.connect().catch(() => false);
      if (!this.running) return;
      if (this.resting) {
        await this.sleep(Infinity);
        pause = FIRST_PAUSE_MS;
        continue;
      }
      this.setState("offline");
      pause = opened ? FIRST_PAUSE_MS : Math.min(pause * 2, LAST_PAUSE_MS);
      await this.sleep(navigator.onLine ? pause + Math.random() * pause : LAST_PAUSE_MS);
    }
  }

  /** True when it stood for a while. */
  private async connect(): Promise<boolean> {
    const abort = (this.abort = new AbortController());
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => abort.abort(), SILENCE_MS);
    };
    let opened = false;
    /** Something arrived, at least a sign of life: without missed events the server sends nothing else. */
    const heard = () => {
      alive();
      if (opened) return;
      opened = true;
      this.setState("live");
      for (const listener of this.opens) listener();
    };
    try {
      alive();
      const headers = headersOf({ Accept: "text/event-stream" });
      if (this.last !== null) headers["Last-Event-ID"] = this.last;
      const answer = await fetch(urlOf("/events", this.query), { headers, signal: abort.signal });
      if (!answer.ok) throw await errorOf(answer);
      for await (const message of messages(answer, heard)) {
        if (message.id !== null) this.last = message.id;
        if (message.data) this.tell(JSON.parse(message.data) as LiveEvent);
      }
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
    return opened;
  }

  private tell(event: LiveEvent): void {
    for (const listener of this.listeners) listener(event);
  }
}

let hub: Live | null = null;

/**
 * The page's connection. Who came by a share link hears of its session alone, so the session must be
 * named the first time then.
 */
export const live = (session?: string): Live => {
  hub ??= new Live(shareToken() && session ? { session } : {});
  return hub;
};
