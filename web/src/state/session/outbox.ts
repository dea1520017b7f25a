// SPDX-License-Identifier: Apache-2.0
// Messages on their way to the server. Each is shown at once and kept in the browser until the server has
// stored it, under one idempotency key, so that sending it again stores it once.
//
// While an answer is made, or the server is away, messages are queued: they are sent one by one, each when the
// answer to the one before has ended.
import { live } from "../../api/events";
import { ApiError, errorText, isCode, newKey } from "../../api/client";
import * as api from "../../api/ramet";
import * as turns from "../../api/turns";
import { isFresh, noLongerFresh } from "../../app/newchat";
import { FAN_OUT } from "../forest";
import { leave } from "../leaving";
import type { History } from "./history";
import { writeOutbox } from "./pending";
import { contentOf, filePart, type FileRef, type Pending, type SessionModel } from "./state";

export type FannedOut = { started: turns.Started[]; failed: { agent: string; error: unknown }[] };

export class Outbox {
  /** The question that this chat began with, while nobody could be asked it. */
  private begun: string | null = null;

  constructor(
    private readonly model: SessionModel,
    private readonly history: History,
  ) {}

  async send(text: string, files: FileRef[] = [], agent?: string): Promise<void> {
    const one: Pending = { id: newKey(), key: newKey(), text, files, agent, state: "sending" };
    const { model } = this;
    if (this.mustWait()) one.state = "queued";
    this.setPending([...model.state.pending, one]);
    model.ask();
    if (model.state.viewing !== null || model.state.thread.moreAfter) {
      model.set({ viewing: null });
      await this.history.toEnd();
    }
    if (one.state === "queued") this.flush();
    else await this.push(one);
  }

  /** Sends it at once to a new fork that begins at the present end, and gives the fork's id. */
  async sendAsFork(text: string, files: FileRef[] = [], agent?: string): Promise<string | undefined> {
    return this.model.once("fork-send", async () => {
      const content = contentOf(text, files.map(filePart));
      const started = await turns.sendMessage(this.model.id, { fork: {}, agent, ...content });
      return started.session_id;
    });
  }

  retry = (id: string): void => {
    const one = this.model.state.pending.find((each) => each.id === id);
    if (one) void this.push(one);
  };

  /** Holds a queued message back while it is edited; with a text, that is what it says from now on. */
  hold(id: string, held: boolean, text?: string): void {
    this.change(id, { held, ...(text === undefined ? {} : { text, key: newKey() }) });
    if (!held) this.flush();
  }

  get hasQueue(): boolean {
    return this.model.state.pending.some((one) => one.state === "queued");
  }

  private mustWait(): boolean {
    return this.hasQueue || this.model.state.thread.answer !== null || live().state() === "offline";
  }

  /** Sends the first queued message if nothing is in its way. */
  flush(): void {
    const { pending, thread, status, viewing } = this.model.state;
    const first = pending.find((one) => one.state === "queued");
    if (!first || first.held || thread.answer || viewing !== null || live().state() === "offline") return;
    if (status !== "ready" && status !== "fresh") return;
    if (pending.some((one) => one.state === "sending")) return;
    void this.push(first);
  }

  /** Takes back what could not be sent; returns its text. */
  discard(id: string): string {
    const { pending } = this.model.state;
    this.setPending(pending.filter((each) => each.id !== id));
    return pending.find((each) => each.id === id)?.text ?? "";
  }

  /** A pending message that has become an entry is no longer pending. */
  settle(): void {
    const { pending, thread } = this.model.state;
    if (pending.length === 0) return;
    const stored = new Set(thread.entries.map((entry) => entry.id));
    const left = pending.filter((one) => !stored.has(one.id));
    if (left.length !== pending.length) this.setPending(left);
  }

  /** Creates the session when this is its first message. */
  async ensureSession(agent?: string): Promise<void> {
    const { id } = this.model;
    if (!isFresh(id)) return;
    try {
      await api.createSession({ id, agent });
    } catch (error) {
      if (!isCode(error, "session_exists")) throw error;
    }
    noLongerFresh(id);
    await this.history.load();
  }

  /** Asks all of them. Who could not be asked is in `failed`, and has no fork; when nobody could be, it throws. */
  fanOut(text: string, files: FileRef[], agents: string[]): Promise<FannedOut | undefined> {
    return this.model.once("fan-out", async () => {
      const content = contentOf(text, files.map(filePart));
      const begins = isFresh(this.model.id) || this.begun === text;
      if (begins) return this.fanOutFresh(text, content, agents);
      return { started: await turns.fanOut(this.model.id, { ...content, agents }), failed: [] };
    });
  }

  /** A chat that begins with it keeps the question, and the forks have the answers: none of them is empty. */
  private async fanOutFresh(text: string, content: ReturnType<typeof contentOf>, agents: string[]): Promise<FannedOut> {
    const { id } = this.model;
    await this.ensureSession(agents[0]);
    if (this.begun !== text) await api.appendEntries(id, [{ role: "user", ...content }]);
    // Asked again after a failure, the question is there already.
    this.begun = text;
    const asked = await Promise.allSettled(agents.map((agent) => this.askInFork(agent)));
    const started = asked.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = asked.flatMap((one, i) =>
      one.status === "rejected" ? [{ agent: agents[i]!, error: one.reason as unknown }] : [],
    );
    if (started.length === 0) throw failed[0]!.error;
    this.begun = null;
    return { started, failed };
  }

  private async askInFork(agent: string): Promise<turns.Started> {
    const fork = await api.fork(this.model.id, { agent, reason: FAN_OUT });
    try {
      return await turns.regenerate(fork.id, { agent });
    } catch (error) {
      leave(fork.id); // the event of its creation makes the sidebar read it, which could only fail
      await api.deleteSession(fork.id).catch(() => undefined);
      throw error;
    }
  }

  private setPending(pending: Pending[]): void {
    this.model.set({ pending });
    writeOutbox(this.model.id, pending);
  }

  private change(id: string, some: Partial<Pending>): void {
    this.setPending(this.model.state.pending.map((one) => (one.id === id ? { ...one, ...some } : one)));
  }

  private async push(one: Pending): Promise<void> {
    await this.model.once("push:" + one.id, async () => {
      this.change(one.id, { state: "sending", error: undefined });
      const content = contentOf(one.text, one.files.map(filePart));
      try {
        await this.ensureSession(one.agent);
        await turns.sendMessage(this.model.id, { id: one.id, agent: one.agent, ...content }, one.key);
        if (this.model.state.pending.some((each) => each.id === one.id)) this.history.refresh();
      } catch (error) {
        // Both end by themselves: the server comes back, and the answer that is in the way ends.
        const waits = (error instanceof ApiError && error.status === 0) || isCode(error, "turn_running");
        this.change(one.id, waits ? { state: "queued" } : { state: "failed", error: errorText(error) });
        if (isCode(error, "turn_running")) this.history.refresh();
      }
    });
  }
}
