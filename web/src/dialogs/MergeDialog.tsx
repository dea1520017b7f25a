// SPDX-License-Identifier: Apache-2.0
// The dialog "Bring into…": copies messages of a chat, or a summary of it, to the end of another chat of its
// tree. It shows what would be appended before anything is written.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { errorText, isCancelled, isCode } from "../api/client";
import * as ramet from "../api/ramet";
import type { Session } from "../api/types";
import { chatPath, navigate } from "../app/router";
import { Button, Dialog, IconMerge, Note, Segments, Select, Spinner, toast } from "../ui";
import { closeDialog, giveFocusBack, type MergePlace } from "./dialogs";

type Mode = "splice" | "pick" | "land";

const MAX_SHOWN = 20;
const RUNNING_MS = 2000;
const titleOf = (session: Session | undefined) => session?.title || "New chat";
const countWords = (n: number) => (n === 1 ? "1 message" : `${n.toLocaleString()} messages`);

/** The other chats of the tree. */
function useTargets(sessionId: string) {
  return useQuery({
    queryKey: ["merge targets", sessionId],
    queryFn: async ({ signal }) => {
      const { sessions } = await ramet.getTree(sessionId, { limit: 1000 }, signal);
      return {
        source: sessions.find((one) => one.id === sessionId),
        targets: sessions.filter((one) => one.id !== sessionId && !one.deleted),
      };
    },
  });
}

/** What splice and pick would append; a summary is its own preview. */
function Preview({ target, body }: { target: string; body: ramet.MergeIn }) {
  const { data, error } = useQuery({
    queryKey: ["merge preview", target, body],
    queryFn: () => ramet.previewMerge(target, body),
    retry: false,
  });
  if (isCode(error, "turn_running")) return null;
  if (error) return <Note tone="error">{errorText(error)}</Note>;
  if (!data) return <Spinner label="Looking" />;
  return (
    <section className="dlg-stack" aria-label="What would be brought">
      <span className="ui-hint" role="status">
        {countWords(data.count)} would be appended
      </span>
      <ol className="dlg-merge-rows">
        {data.entries.slice(0, MAX_SHOWN).map((entry, i) => (
          <li key={i} className="truncate">
            <span className="muted">{entry.role}</span> {entry.text || "…"}
          </li>
        ))}
        {data.count > MAX_SHOWN && <li className="muted">and {countWords(data.count - MAX_SHOWN)} more</li>}
      </ol>
    </section>
  );
}

export function MergeDialog({ place }: { place: MergePlace }) {
  const { sessionId, entryId, branchId } = place;
  const { data, error: unread } = useTargets(sessionId);
  const [chosen, setChosen] = useState("");
  const [mode, setMode] = useState<Mode>(entryId ? "pick" : "splice");
  const [text, setText] = useState("");
  const [busy, setBusy] = useState<"" | "merge" | "write">("");
  const [error, setError] = useState<string | null>(null);
  const cancel = useRef<AbortController | null>(null);
  // A client that goes away while it waits merges nothing.
  useEffect(() => () => cancel.current?.abort(), []);

  const targets = data?.targets ?? [];
  const parent = data?.source?.forked_from?.session_id;
  const target = chosen || (targets.find((one) => one.id === parent) ?? targets[0])?.id || "";
  const named = titleOf(targets.find((one) => one.id === target));
  const from = branchId ? { session_id: sessionId, branch_id: branchId } : sessionId;
  const body: ramet.MergeIn =
    mode === "pick" ? { from, mode, entries: [{ entry_id: entryId! }] } : { from, mode };
  // Turns of other chats are not in the events of this page.
  const { data: now } = useQuery({
    queryKey: ["merge target", target],
    queryFn: ({ signal }) => ramet.getSession(target, signal),
    enabled: target !== "",
    staleTime: 0,
    refetchInterval: RUNNING_MS,
  });
  const waits = Boolean(now?.running);

  const attempt = async (what: "merge" | "write", run: (signal: AbortSignal) => Promise<void>) => {
    if (busy) return;
    cancel.current = new AbortController();
    setBusy(what);
    setError(null);
    try {
      await run(cancel.current.signal);
    } catch (e) {
      if (!isCancelled(e)) setError(errorText(e));
    }
    setBusy("");
  };
  const write = () =>
    attempt("write", async (signal) => {
      const { entries } = await ramet.previewMerge(target, { from, mode: "land" }, signal);
      setText(entries.map((entry) => entry.text).join("\n\n"));
    });
  const submit = () =>
    attempt("merge", async (signal) => {
      const wish = mode === "land" ? { ...body, text: text.trim() } : body;
      const done = await ramet.merge(target, { ...wish, when: "idle" }, signal);
      closeDialog();
      navigate(chatPath(target));
      toast({
        text: `${countWords(done.merge?.count ?? 0)} brought into “${named}”`,
        action: { label: "Undo", run: () => ramet.undo(target, { expected_head: done.head.prefix_hash }) },
      });
    });

  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Bring into…"
      onSubmit={() => void submit()}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button
            type="submit"
            variant="primary"
            icon={<IconMerge />}
            busy={busy === "merge"}
            disabled={!target || (mode === "land" && text.trim() === "")}
          >
            Bring
          </Button>
        </>
      }
    >
      {unread && <Note tone="error">{errorText(unread)}</Note>}
      {data && targets.length === 0 && <Note>This tree has no other chat. Fork this one first.</Note>}
      <Select label="Into" autoFocus value={target} onChange={(e) => setChosen(e.target.value)}>
        {targets.map((one) => (
          <option key={one.id} value={one.id}>
            {titleOf(one)}
          </option>
        ))}
      </Select>
      <Segments<Mode>
        label="What to bring"
        value={mode}
        onChange={setMode}
        options={[
          ...(entryId ? [{ value: "pick" as const, label: "This message" }] : []),
          { value: "splice", label: "All that is new" },
          { value: "land", label: "A summary" },
        ]}
      />
      {mode !== "land" && target && <Preview target={target} body={body} />}
      {mode === "land" && (
        <div className="ui-field">
          <label className="ui-label" htmlFor="merge-summary">
            Summary
          </label>
          <textarea
            id="merge-summary"
            className="ui-input dlg-merge-text"
            rows={8}
            value={text}
            placeholder="Write it, or have the agent of the chat write one and change it."
            onChange={(e) => setText(e.target.value)}
          />
          <div>
            <Button small busy={busy === "write"} disabled={!target} onClick={() => void write()}>
              Have it written
            </Button>
          </div>
        </div>
      )}
      {waits && (
        <div role="status">
          <Note>“{named}” is being answered. What you bring waits for the end of the answer.</Note>
        </div>
      )}
      {error && <Note tone="error">{error}</Note>}
    </Dialog>
  );
}
