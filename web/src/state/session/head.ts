// SPDX-License-Identifier: Apache-2.0
// Moves through the history: edits, regenerations, rewinds, undo, versions, and viewing a branch without
// moving to it.
import { ApiError, isCode } from "../../api/client";
import * as api from "../../api/ramet";
import * as turns from "../../api/turns";
import type { Branch, Entry } from "../../api/types";
import { takeBackDraft } from "../drafts";
import { answerStart, cutAt, lastMove, threadOf } from "../thread";
import type { History } from "./history";
import { contentOf, mayWrite, type Broken, type SessionModel } from "./state";

export class Head {
  constructor(
    private readonly model: SessionModel,
    private readonly history: History,
  ) {}

  edit(entry: Entry, text: string): Promise<unknown> {
    const { id } = this.model;
    return this.model.once("edit:" + entry.id, async () => {
      if (entry.role === "user") {
        const files = entry.parts.filter((part) => part.type === "file");
        await turns.sendMessage(id, { replace: entry.id, ...contentOf(text, files) });
        this.model.ask();
      } else {
        await api.edit(id, { entry_id: entry.id, text });
      }
      await this.present();
    });
  }

  regenerate(entry: Entry, agent?: string): Promise<unknown> {
    return this.model.once("regenerate:" + entry.id, async () => {
      const at = entry.role === "user" ? entry : answerStart(this.model.state.thread, entry);
      await turns.regenerate(this.model.id, { entry_id: at.id, agent });
      this.model.ask();
      await this.present();
    });
  }

  /** Stores what was heard of an interrupted answer, so that the agent knows where it was. */
  keepBroken(broken: Broken): Promise<unknown> {
    return this.model.once("keep-broken", async () => {
      await api.appendEntries(this.model.id, [
        {
          role: "assistant",
          parts: [
            { type: "text", text: broken.text },
            { type: "data", data: { turn: "interrupted" } },
          ],
        },
      ]);
      this.model.set({ broken: null });
      await this.present();
    });
  }

  rewind(entry: Entry): Promise<unknown> {
    return this.model.once("rewind:" + entry.id, async () => {
      await api.rewind(this.model.id, cutAt(entry));
      await this.present();
    });
  }

  undo = (): Promise<unknown> => this.move("undo", api.undo);
  redo = (): Promise<unknown> => this.move("redo", api.redo);

  /** After a move of this window's own, no other branch is looked at any more. */
  private present(): Promise<void> {
    this.model.set({ viewing: null, target: null });
    return this.history.reload();
  }

  private move(name: "undo" | "redo", call: typeof api.undo): Promise<unknown> {
    const { model } = this;
    return model.once(name, async () => {
      const known = model.state.moves[0]?.number ?? 0;
      const rewound = name === "undo" && lastMove(model.state.moves)?.kind === "rewind";
      const head = model.state.viewing === null ? model.state.thread.head : model.state.session?.head;
      try {
        await call(model.id, { expected_head: head?.prefix_hash });
      } catch (error) {
        // Whatever the error is: if another user has moved the head meanwhile, report that.
        if (!(error instanceof ApiError) || error.status !== 409) throw error;
        const who = await this.whoMoved(known, isCode(error, "head_moved"));
        if (who === null) throw error;
        this.history.refresh();
        throw new Error(`${who}. The ${name} was not done; look, and try again.`);
      }
      if (rewound) takeBackDraft(model.id);
      await this.present();
    });
  }

  /** The user who moved the head since it was shown; null: it has not moved. */
  private async whoMoved(known: number, moved: boolean): Promise<string | null> {
    const [log, page] = await Promise.all([
      api.listMoves(this.model.id, { limit: 1 }),
      this.history.page({ tail: true, limit: 1 }),
    ]);
    const move = log.moves[0];
    if (move && move.number > known)
      return `${move.by ?? "Somebody"} moved this chat meanwhile (${move.kind})`;
    return moved ? `${page.entries[0]?.author ?? "Somebody"} wrote in this chat meanwhile` : null;
  }

  // -------------------------------------------------------------- versions and branches

  versions(entry: Entry): Promise<Branch[]> {
    const query = { at: entry.id, branch: this.model.state.viewing ?? undefined };
    return api.listBranches(this.model.id, query).then((list) => list.branches);
  }

  /** The next version in a direction; undefined at either end. */
  async neighbour(entry: Entry, by: 1 | -1): Promise<void> {
    const wanted = (entry.versions?.number ?? 1) + by;
    if (wanted < 1 || wanted > (entry.versions?.count ?? 1)) return;
    await this.model.once("versions", async () => {
      const version = (await this.versions(entry)).find((one) => one.number === wanted);
      if (version) await this.show(version.branch_id);
    });
  }

  /** Shows a version: by moving the head, or, for a reader, by looking at its branch. */
  async choose(version: Branch): Promise<void> {
    await this.model.once("versions", () => this.show(version.branch_id));
  }

  private show(branch: string): Promise<void> {
    return mayWrite(this.model.state) ? this.switchTo(branch) : this.lookAt(branch);
  }

  private async switchTo(branch: string): Promise<void> {
    const { model, history } = this;
    const window = history.window();
    await history.read(async () => {
      // Both at once: the entries of that branch are the same before and after.
      const [session, page] = await Promise.all([
        api.switchTo(model.id, branch, { keep_running: true }),
        history.page({ branch, ...window }),
      ]);
      model.setSession(session, { viewing: null, target: null });
      return threadOf(page, session.running);
    });
    void api.listMoves(model.id).then((log) => model.set({ moves: log.moves }));
    history.countUsage();
  }

  private lookAt(branch: string): Promise<void> {
    const { model, history } = this;
    return history.read(async () => {
      const page = await history.page({ branch, ...history.window() });
      model.set({ viewing: branch === model.state.session?.head.branch_id ? null : branch });
      return threadOf(page, model.state.session?.running);
    });
  }

  /** Makes the branch that is looked at the present one. */
  switchToViewed = (): Promise<unknown> =>
    this.model.once("switch", async () => {
      const { viewing } = this.model.state;
      if (viewing !== null) await api.switchTo(this.model.id, viewing, { keep_running: true });
      this.model.set({ viewing: null });
      await this.history.reload();
    });

  /** A branch of the head log, looked at without moving. */
  view = async (branch: string | null): Promise<void> => {
    this.model.set({ viewing: branch, target: null });
    await this.history.read(async () =>
      threadOf(await this.history.tail(), this.model.state.session?.running),
    );
  };
}
