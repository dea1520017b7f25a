// SPDX-License-Identifier: Apache-2.0
// The dialog "Fork chat": describes the cut in words and asks for the settings of the new chat.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { errorText, shareToken } from "../api/client";
import * as ramet from "../api/ramet";
import type { Entry, Session } from "../api/types";
import { chatPath, navigate } from "../app/router";
import { Markdown } from "../chat/Markdown";
import { setDraft } from "../state/drafts";
import { forkSession, loadAgents, loadTags, needSession, useSessions } from "../state/sessions";
import { tagsOf } from "../state/tags";
import { Button, Checkbox, Dialog, IconClose, IconFork, Note, Select, TextField, toast } from "../ui";
import { ChatTag } from "./ChatTag";
import { closeDialog, type ForkPlace, giveFocusBack } from "./dialogs";
import { TagInput } from "./TagInput";

const EPHEMERAL_SECONDS = 24 * 60 * 60;
const QUOTED = 80;

function quote(text: string): string {
  const line = [...text.trim().replace(/\s+/g, " ")];
  return `“${line.length > QUOTED ? line.slice(0, QUOTED - 1).join("") + "…" : line.join("")}”`;
}

/** A sentence whose quote is drawn as the message is. */
function Quoting({ text }: { text: string }) {
  const begin = text.indexOf("“") + 1;
  const end = text.lastIndexOf("”");
  if (begin === 0 || end < begin) return text;
  return (
    <>
      {text.slice(0, begin)}
      <span className="dlg-quote">
        <Markdown text={text.slice(begin, end)} />
      </span>
      {text.slice(end)}
    </>
  );
}

const SPEAKERS: Record<string, string> = {
  user: "the message",
  assistant: "the answer",
  tool: "the tool’s result",
  system: "the instruction",
};

/** The fork point as one says it. */
export function pointWords(session: Session, entry: Entry | null, side: "before" | "after"): string {
  const all = session.head.length;
  if (!entry && all === 0) return "At the start: nothing was said yet.";
  if (!entry) return `At the end: ${all === 1 ? "its message is" : `all ${all} messages are`} kept.`;
  const said = entry.text.trim() ? `${SPEAKERS[entry.role]} ${quote(entry.text)}` : SPEAKERS[entry.role];
  const kept = entry.position + (side === "after" ? 1 : 0);
  const count = kept === 1 ? "1 message is kept" : `${kept} messages are kept`;
  return side === "after"
    ? `After ${said}: ${count}.`
    : `Before ${said}, which becomes the draft: ${kept ? count : "nothing is kept"}.`;
}

/** Says so when the cut had to move off the place that was asked for. */
function sayMoved(fork: Session, place: ForkPlace): void {
  const { cut } = fork;
  if (!cut || !place.entryId) return;
  if (cut.entry_id === place.entryId && cut.side === (place.side ?? "after")) return;
  if (place.side === "before") return;
  toast("The cut was moved a little, so that no tool call lost its result.");
}

export function ForkSessionDialog({ place }: { place: ForkPlace }) {
  const { sessionId, entryId, branchId, side = "after" } = place;
  const [reason, setReason] = useState("");
  const [title, setTitle] = useState("");
  const [tags, setTags] = useState<string[]>([]);
  const [tagText, setTagText] = useState("");
  const [agent, setAgent] = useState("");
  const [ephemeral, setEphemeral] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const agents = useSessions((s) => s.agents);
  const point = useQuery({
    queryKey: ["fork point", sessionId, entryId, branchId],
    queryFn: async () => ({
      session: await needSession(sessionId),
      entry: entryId ? await ramet.getEntry(sessionId, entryId, branchId) : null,
    }),
  });
  useEffect(() => {
    void loadTags();
    loadAgents().catch(() => undefined);
  }, []);

  const submit = async () => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      const fork = await forkSession(sessionId, {
        ...(entryId ? { at: { entry_id: entryId, side } } : {}),
        ...(branchId ? { branch_id: branchId } : {}),
        ...(title.trim() ? { title: title.trim() } : {}),
        ...(reason.trim() ? { reason: reason.trim() } : {}),
        tags: [...new Set([...tags, ...tagsOf(tagText)])],
        ...(agent ? { agent } : {}),
        ...(ephemeral ? { ephemeral_seconds: EPHEMERAL_SECONDS } : {}),
      });
      const draft = place.draft ?? (side === "before" ? point.data?.entry?.text : undefined);
      if (draft) setDraft(fork.id, draft);
      sayMoved(fork, place);
      closeDialog();
      const there = chatPath(fork.id, { focus: "message" });
      // A visitor with a share link now owns a chat, and gets the whole page.
      if (shareToken()) location.assign(there);
      else navigate(there);
    } catch (e) {
      setBusy(false);
      setError(errorText(e));
    }
  };

  const session = point.data?.session;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      // The new chat's composer takes the focus.
      onClosed={(e) => (busy ? e.preventDefault() : giveFocusBack(e))}
      title="Fork chat"
      onSubmit={() => void submit()}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button type="submit" variant="primary" icon={<IconFork />} busy={busy} disabled={!session}>
            Fork
          </Button>
        </>
      }
    >
      <div className="dlg-point">
        {point.error ? (
          errorText(point.error)
        ) : session ? (
          <Quoting text={pointWords(session, point.data!.entry, side)} />
        ) : (
          "…"
        )}
      </div>
      <TextField
        label="Reason"
        autoFocus
        maxLength={2000}
        placeholder="What do you want to try?"
        value={reason}
        onChange={(e) => setReason(e.target.value)}
      />
      <TextField
        label="Title"
        maxLength={500}
        placeholder={session ? `Fork of ${session.title || "this chat"}` : ""}
        value={title}
        onChange={(e) => setTitle(e.target.value)}
      />
      <div className="dlg-stack">
        <TagInput
          label="Tags"
          have={tags}
          onAdd={(more) => setTags([...tags, ...more])}
          text={tagText}
          onText={setTagText}
          placeholder="Parted by commas"
        />
        {tags.length > 0 && (
          <div className="dlg-tags">
            {tags.map((tag) => (
              <ChatTag key={tag} name={tag}>
                <button
                  type="button"
                  className="dlg-tag-remove"
                  aria-label={`Remove tag ${tag}`}
                  onClick={() => setTags(tags.filter((t) => t !== tag))}
                >
                  <IconClose size={12} />
                </button>
              </ChatTag>
            ))}
          </div>
        )}
      </div>
      <Select label="Agent" value={agent} onChange={(e) => setAgent(e.target.value)}>
        <option value="">
          {session?.agent?.name ? `As before (${session.agent.name})` : "As before"}
        </option>
        {agents.map((a) => (
          <option key={a.name} value={a.name}>
            {a.name}
          </option>
        ))}
      </Select>
      <Checkbox
        label="Ephemeral"
        hint="A side question: it goes after 24 hours unless you keep it, and is not in the list."
        checked={ephemeral}
        onChange={(e) => setEphemeral(e.target.checked)}
      />
      {error && <Note tone="error">{error}</Note>}
    </Dialog>
  );
}
