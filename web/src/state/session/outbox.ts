// SPDX-License-Identifier: Apache-2.0
// Messages on their way to the server. Each is shown at once and kept in the browser until the server has
// stored it, under one idempotency key, so that sending it again stores it once.
import { ApiError, errorText, isCode, newKey } from "../../api/client";
import * as api from "../../api/ramet";
import * as turns from "../../api/turns";
import { isFresh, noLongerFresh } from "../../app/newchat";
import type { History } from "./history";
import { writeOutbox } from "./pending";
import { contentOf, filePart, type FileRef, type Pending, type SessionModel } from "./state";

export class Outbox {
  constructor(
    private readonly model: SessionModel,
    private readonly history: History,
  ) {}

  async send(text: string, files: FileRef[] = [], agent?: string): Promise<void> {
    const one: Pending = { id: newKey(), key: newKey(), text, files, agent, state: "sending" };
    const { model } = this;
    this.setPending([...model.state.pending, one]);
    if (model.state.viewing !== null || model.state.thread.moreAfter) {
      model.set({ viewing: null });
      await this.history.toEnd();
    }
    await this.push(one);
  }

  retry = (id: string): void => {
    const one = this.model.state.pending.find((each) => each.id === id);
    if (one) void this.push(one);
  };

  /** Sends what failed because the server could not be reached. */
  resend(): void {
    for (const one of this.model.state.pending) if (one.waits) void this.push(one);
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

  fanOut(text: string, files: FileRef[], agents: string[]): Promise<turns.Started[] | undefined> {
    return this.model.once("fan-out", async () => {
      await this.ensureSession();
      return turns.fanOut(this.model.id, { ...contentOf(text, files.map(filePart)), agents });
    });
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
      this.change(one.id, { state: "sending", error: undefined, waits: false });
      const content = contentOf(one.text, one.files.map(filePart));
      try {
        await this.ensureSession(one.agent);
        await turns.sendMessage(this.model.id, { id: one.id, agent: one.agent, ...content }, one.key);
        if (this.model.state.pending.some((each) => each.id === one.id)) this.history.refresh();
      } catch (error) {
        const waits = error instanceof ApiError && error.status === 0;
        const text = waits ? "The server cannot be reached. It is sent when it can." : errorText(error);
        this.change(one.id, { state: "failed", error: text, waits });
      }
    });
  }
}
