// SPDX-License-Identifier: Apache-2.0
// A session that is shown: its state, the effect of live events on it, and every action in it. There is one
// room per session; a few that are no longer shown are kept, so that returning to them is instant.
import { isCode } from "../../api/client";
import { live } from "../../api/events";
import * as api from "../../api/ramet";
import type { Entry, LiveEvent, Vote } from "../../api/types";
import { isFresh } from "../../app/newchat";
import { onStay } from "../leaving";
import { append, turn as turnStep, type Step } from "../thread";
import { findBroken, forgetHeard, keepHeard } from "./broken";
import { Head } from "./head";
import { History } from "./history";
import { Outbox } from "./outbox";
import { SessionModel, type SessionState } from "./state";

export class Room {
  private readonly model: SessionModel;
  readonly history: History;
  readonly outbox: Outbox;
  readonly head: Head;
  private users = 0;
  private stops: (() => void)[] = [];

  constructor(readonly id: string) {
    this.model = new SessionModel(id);
    this.history = new History(
      this.model,
      (event) => this.apply(event),
      () => {
        this.outbox.settle();
        this.outbox.flush();
        findBroken(this.model).catch(() => {}); // asked again by the next read
      },
    );
    this.outbox = new Outbox(this.model, this.history);
    this.head = new Head(this.model, this.history);
  }

  get idle(): boolean {
    return this.users === 0 && this.stops.length === 0;
  }
  get store() {
    return this.model.store;
  }
  get state(): SessionState {
    return this.model.state;
  }

  /** Shown from here on; the function that it returns ends that. */
  enter(target: string | null, branch: string | null): () => void {
    rooms.set(this.id, this);
    this.users++;
    if (this.stops.length === 0) {
      const hub = live(this.id);
      addEventListener("pagehide", this.keep);
      this.stops = [
        hub.onEvent(this.onEvent),
        hub.onOpen(this.onOpen),
        hub.subscribe(this.keep),
        onStay(this.id, this.onOpen),
        () => removeEventListener("pagehide", this.keep),
      ];
    }
    this.model.set({ target, viewing: branch });
    if (!isFresh(this.id)) void this.history.load();
    return () => {
      this.users--;
      this.rest();
    };
  }

  /** The connection has changed, or the page is left: an answer that is being made may never be heard of again. */
  private keep = (): void => {
    const { answer, head } = this.state.thread;
    if (answer && answer.text + answer.thinking !== "") keepHeard(this.id, answer, head.entry_id);
  };

  /** Nobody shows it any more: it stops listening, once what is queued here is sent. */
  private rest(): void {
    if (this.users > 0 || this.outbox.hasQueue) return;
    for (const stop of this.stops) stop();
    this.stops = [];
    forgetIdle();
  }

  // -------------------------------------------------------------- live events

  private onOpen = (): void => {
    if (this.state.status === "fresh") return this.outbox.flush();
    if (this.state.status !== "ready") void this.history.load();
    else this.history.refresh(); // and then sends what is queued
  };

  private onEvent = (event: LiveEvent): void => {
    if (event.type !== "reset" && event.session_id !== this.id) return;
    if (this.state.status !== "fresh") this.history.take(event);
  };

  private step(step: Step): void {
    if (this.model.step(step)) this.history.refresh();
  }

  private apply(event: LiveEvent): void {
    switch (event.type) {
      case "entry.appended":
        this.step(append(this.state.thread, event.branch_id, event.entry));
        return this.outbox.settle();
      case "reset":
      case "session.rewound":
      case "session.switched":
      case "session.merged":
        return this.history.refresh();
      case "session.restored":
        return void this.history.load();
      case "session.updated":
        return void api.getSession(this.id).then(
          (session) => this.model.setSession(session),
          () => {},
        );
      case "session.deleted":
        return this.model.set({ status: "gone" });
      case "session.created":
      case "session.forked":
        return;
      default: {
        const before = this.state.thread.answer;
        this.step(turnStep(this.state.thread, event));
        // Versions and what the turn cost come with a read alone.
        if (event.type === "turn.done" && before?.turnId === event.turn_id) this.history.refresh();
        if (event.type === "turn.started") this.rest();
        if (event.type === "turn.done") forgetHeard(this.id);
      }
    }
  }

  // -------------------------------------------------------------- the answer being made, and the rest

  stop = (): Promise<unknown> =>
    this.model.once("stop", async () => {
      const turn = this.state.thread.answer?.turnId;
      try {
        await api.cancelTurn(this.id, turn);
      } catch (error) {
        if (!isCode(error, "turn_over") && !isCode(error, "turn_not_found")) throw error;
      }
    });

  reply(question: string, answer: string): Promise<unknown> {
    return this.model.once("reply:" + question, async () => {
      const turn = this.state.thread.answer;
      if (!turn) return;
      await api.answerQuestion(this.id, turn.turnId, question, answer);
      const now = this.state.thread.answer;
      if (now?.question?.id === question)
        this.model.set({ thread: { ...this.state.thread, answer: { ...now, question: null } } });
    });
  }

  /** The same vote again takes it back. */
  vote(entry: Entry, vote: Vote): Promise<unknown> {
    return this.model.once("vote:" + entry.id, async () => {
      const value = entry.feedback === vote ? null : vote;
      await api.putFeedback(this.id, entry.id, value);
      const { thread } = this.state;
      const entries = thread.entries.map((one) =>
        one.id === entry.id ? { ...one, feedback: value ?? undefined } : one,
      );
      this.model.set({ thread: { ...thread, entries } });
    });
  }

  async setAgent(agent: string): Promise<void> {
    await this.model.once("agent", async () => {
      this.model.setSession(await api.updateSession(this.id, { agent }));
    });
  }

  dismissRewind(move: number): void {
    this.model.dismiss(move);
  }
}

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
