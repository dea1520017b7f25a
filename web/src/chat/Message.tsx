// SPDX-License-Identifier: Apache-2.0
// One message: an entry, a message being sent, or the answer in progress. Each is an article.
import { useAuiState } from "@assistant-ui/react";
import { memo, useDeferredValue, useMemo, useRef, useState, type ReactNode } from "react";
import type { Entry, Part } from "../api/types";
import { addDraft } from "../state/drafts";
import { nameOf, useMe } from "../state/me";
import { mayWrite, type Pending } from "../state/session";
import { endOf, endWords, isMark, isPlan } from "../state/thread";
import {
  Button,
  cx,
  IconAlert,
  IconButton,
  IconClose,
  IconDots,
  IconEdit,
  IconHelpful,
  IconNotHelpful,
  IconQueue,
  Menu,
  Spinner,
} from "../ui";
import { attempt, messageItems, regenerate } from "./actions";
import { MessageFiles, PendingFiles } from "./Attachments";
import { EditMessage } from "./EditMessage";
import type { Item } from "./items";
import { Markdown } from "./Markdown";
import { MessageBranchPicker } from "./MessageBranchPicker";
import { PlanCard } from "./Plan";
import { QuestionCard } from "./Question";
import { useRoom } from "./runtime";
import { splitThoughts } from "./source";
import { jsonText, Fold, Thinking, ToolCall, ToolResult } from "./ToolCall";
import { focusComposer, useChatUi, useHandedFocus } from "./ui";
import { AnswerUsage } from "./Usage";
import { useOffline } from "./useLink";

/** The text of an answer; thoughts that the model wrote into it are folded like others. */
function Said({ text, running }: { text: string; running?: boolean }) {
  const pieces = useMemo(() => splitThoughts(text), [text]);
  return pieces.map((piece, i) =>
    piece.kind === "thinking" ? (
      <Thinking key={i} text={piece.text} running={running && piece.open} />
    ) : (
      <Markdown key={i} text={piece.text} />
    ),
  );
}

function PartView({ part, role }: { part: Part; role: Entry["role"] }): ReactNode {
  switch (part.type) {
    case "text":
      return role === "assistant" ? <Said text={part.text ?? ""} /> : <Markdown text={part.text ?? ""} />;
    case "thinking":
      return <Thinking text={part.text ?? ""} />;
    case "tool_call":
      return <ToolCall part={part} />;
    case "tool_result":
      return <ToolResult part={part} />;
    case "file":
      return null;
    case "data":
      if (isPlan(part.data)) return <PlanCard plan={part.data} />;
      if (isMark(part.data)) return null;
      return <Fold face={<span>Data</span>}>{() => <pre tabIndex={0}>{jsonText(part.data)}</pre>}</Fold>;
  }
}

/** A turn that did not end well says why, and can be tried again. */
function Ending({ entry, end }: { entry: Entry; end: { turn: string; error?: string } }) {
  const room = useRoom();
  const busy = room.store((s) => s.busy.has("regenerate:" + entry.id) || s.thread.answer !== null);
  const last = room.store((s) => s.thread.head.entry_id === entry.id);
  return (
    <div className={cx("chat-end", end.turn === "failed" && "chat-end-failed")}>
      {end.turn === "failed" && <IconAlert />}
      <span role="note">{endWords(end)}</span>
      {last && (
        <Button small variant="ghost" busy={busy} onClick={() => void regenerate(room, entry)}>
          Try again
        </Button>
      )}
    </div>
  );
}

function Dots({ entry }: { entry: Entry }) {
  const room = useRoom();
  const busy = room.store((s) => [...s.busy].some((name) => name.endsWith(":" + entry.id)));
  return (
    <Menu
      trigger={<IconButton small plain label="Message actions" icon={<IconDots />} busy={busy} className="chat-dots" />}
      align={entry.role === "user" ? "end" : "start"}
      items={() => messageItems(room, entry)}
      onCloseAutoFocus={(event) => {
        // What an item opened (an editor, the composer) has the focus already.
        if (useChatUi.getState().editing === entry.id) event.preventDefault();
      }}
    />
  );
}

const names = { user: "Message of", assistant: "Answer of", tool: "Tool of", system: "System" };

const isQuiet = (entry: Entry) =>
  entry.role === "tool" ||
  (entry.role === "assistant" &&
    entry.text === "" &&
    entry.parts.every((part) => part.type === "tool_call" || part.type === "thinking"));

const EntryMessage = memo(function EntryMessage({ entry }: { entry: Entry }) {
  const room = useRoom();
  const editing = useChatUi((s) => s.editing === entry.id);
  const target = room.store((s) => s.target === entry.id);
  const open = room.store((s) => s.thread.answer?.question?.id === entry.id);
  const me = useMe((s) => s.me?.user);
  const end = endOf(entry);
  const files = entry.parts.filter((part) => part.type === "file");
  const others = entry.role === "user" && entry.author !== null && entry.author !== me;
  const quiet = isQuiet(entry);
  const article = useRef<HTMLElement>(null);
  useHandedFocus(article, entry.position);
  if (open) return null; // the card of the question shows it
  return (
    <article
      ref={article}
      className={cx(
        "chat-message",
        "chat-" + entry.role,
        quiet && "chat-quiet",
        target && "chat-target",
        editing && "chat-editing",
      )}
      data-entry={entry.id}
      aria-label={`${names[entry.role]} ${entry.author ? nameOf(entry.author) : entry.role}`}
      tabIndex={-1}
    >
      {others && <div className="chat-author">{nameOf(entry.author!)}</div>}
      {editing ? (
        <EditMessage entry={entry} />
      ) : (
        <div className="chat-body">
          <MessageFiles parts={files} />
          {entry.parts.map((part, i) =>
            end && part.type === "data" && !isPlan(part.data) ? null : (
              <PartView key={i} part={part} role={entry.role} />
            ),
          )}
        </div>
      )}
      {end && !editing && <Ending entry={entry} end={end} />}
      <div className="chat-foot">
        <MessageBranchPicker entry={entry} />
        <AnswerUsage entry={entry} />
        {entry.feedback === "up" && (
          <span className="chat-vote" role="img" aria-label="You found this helpful">
            <IconHelpful />
          </span>
        )}
        {entry.feedback === "down" && (
          <span className="chat-vote" role="img" aria-label="You did not find this helpful">
            <IconNotHelpful />
          </span>
        )}
        <Dots entry={entry} />
      </div>
    </article>
  );
});

/** A message that waits for the end of the answer, or for the server. */
function QueuedMessage({ pending }: { pending: Pending }) {
  const room = useRoom();
  const offline = useOffline();
  const [text, setText] = useState(pending.text);
  const save = () => {
    if (text.trim() === "") return;
    room.outbox.hold(pending.id, false, text);
    focusComposer();
  };
  const edit = () => {
    setText(pending.text);
    room.outbox.hold(pending.id, true);
  };
  const leave = () => {
    room.outbox.hold(pending.id, false);
    focusComposer();
  };
  const remove = () => {
    room.outbox.discard(pending.id);
    focusComposer();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && !event.shiftKey) save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <article className="chat-message chat-user chat-queued" aria-label="Queued message" tabIndex={-1}>
      {pending.held ? (
        <div className="chat-edit">
          <textarea
            className="ui-input"
            autoFocus
            aria-label="Edit queued message"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <div className="chat-edit-foot">
            <span>It waits while you edit it.</span>
            <Button small onClick={leave}>
              Cancel
            </Button>
            <Button small variant="primary" disabled={text.trim() === ""} onClick={save}>
              Save
            </Button>
          </div>
        </div>
      ) : (
        <>
          <div className="chat-body">
            <PendingFiles files={pending.files} />
            <Markdown text={pending.text} />
          </div>
          <div className="chat-queued-foot">
            <IconQueue size={14} />
            <span role="note">{offline ? "Queued until the server is back" : "Queued until the answer ends"}</span>
            <IconButton small plain label="Edit queued message" icon={<IconEdit />} onClick={edit} />
            <IconButton small plain label="Remove queued message" icon={<IconClose />} onClick={remove} />
          </div>
        </>
      )}
    </article>
  );
}

function PendingMessage({ pending }: { pending: Pending }) {
  const room = useRoom();
  const back = () => {
    addDraft(room.id, room.outbox.discard(pending.id));
    focusComposer();
  };
  return (
    <article
      className={cx("chat-message", "chat-user", "chat-pending")}
      aria-label="Message being sent"
      aria-busy={pending.state === "sending"}
      tabIndex={-1}
    >
      <div className="chat-body">
        <PendingFiles files={pending.files} />
        <Markdown text={pending.text} />
      </div>
      <div className="chat-foot">
        {pending.state === "failed" && (
          <div className="chat-end chat-end-failed" role="alert">
            <IconAlert />
            <span>{pending.error}</span>
            <Button small variant="ghost" onClick={() => room.outbox.retry(pending.id)}>
              Try again
            </Button>
            <Button small variant="ghost" onClick={back}>
              Take back
            </Button>
          </div>
        )}
      </div>
    </article>
  );
}

function AnswerMessage({ turnId }: { turnId: string }) {
  const room = useRoom();
  const answer = room.store((s) => (s.thread.answer?.turnId === turnId ? s.thread.answer : null));
  // Words come faster than Markdown can be drawn: the newest that there is time for.
  const text = useDeferredValue(answer?.text ?? "");
  if (!answer) return null;
  const waits = text === "" && answer.thinking === "" && !answer.question && !answer.plan;
  return (
    <article
      className="chat-message chat-assistant chat-running"
      aria-label={`Answer of ${answer.agent}`}
      aria-busy="true"
      data-turn={turnId}
      tabIndex={-1}
    >
      <div className="chat-body">
        {answer.thinking !== "" && <Thinking text={answer.thinking} running={text === ""} />}
        {text !== "" && <Said text={text} running />}
        {waits && <Spinner label={`${answer.agent} answers`} />}
        {isPlan(answer.plan) && <PlanCard plan={answer.plan} running />}
        {answer.question && <QuestionCard key={answer.question.id} question={answer.question} />}
      </div>
      <div className="chat-foot" />
    </article>
  );
}

const GO_ON = "Go on from where you stopped.";

/** What was heard of an answer before the server was killed. */
export function BrokenAnswer() {
  const room = useRoom();
  const broken = room.store((s) => (s.pending.length === 0 && s.thread.answer === null ? s.broken : null));
  const last = room.store((s) => s.thread.entries.at(-1));
  const write = room.store(mayWrite);
  const busy = room.store((s) => s.busy.has("keep-broken") || s.busy.has("regenerate:" + last?.id));
  if (!broken || !last || broken.head !== last.id) return null;
  const goOn = () =>
    attempt(async () => {
      await room.head.keepBroken(broken);
      await room.outbox.send(GO_ON);
    });
  return (
    <article className="chat-message chat-assistant" aria-label={`Interrupted answer of ${broken.agent}`} tabIndex={-1}>
      <div className="chat-body">
        {broken.thinking !== "" && <Thinking text={broken.thinking} />}
        {broken.text !== "" && <Said text={broken.text} />}
      </div>
      <div className="chat-end">
        <IconAlert />
        <span role="note">{endWords({ turn: "interrupted" })}</span>
        {write && (
          <>
            <Button small variant="ghost" busy={busy} onClick={() => void regenerate(room, last)}>
              Try again
            </Button>
            {broken.text !== "" && (
              <Button small variant="ghost" busy={busy} onClick={() => void goOn()}>
                Go on from here
              </Button>
            )}
          </>
        )}
      </div>
    </article>
  );
}

/** Which of the three kinds a message of the repository is. */
export function ChatMessage() {
  const item = useAuiState((s) => s.message.metadata.custom["item"]) as Item | undefined;
  if (!item) return null;
  switch (item.kind) {
    case "entry":
      return <EntryMessage entry={item.entry} />;
    case "pending":
      return item.pending.state === "queued" ? (
        <QueuedMessage pending={item.pending} />
      ) : (
        <PendingMessage pending={item.pending} />
      );
    case "answer":
      return <AnswerMessage turnId={item.turnId} />;
  }
}
