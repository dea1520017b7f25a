// SPDX-License-Identifier: Apache-2.0
// A chat at /chat/ID: header, messages, composer, and its key commands.
import { lazy, Suspense, useEffect, useState, type ReactNode } from "react";
import { live } from "../api/events";
import { useCommands } from "../app/commands";
import { newChat } from "../app/newchat";
import { chatPath, navigate, timelinePath, useRoute } from "../app/router";
import { shareToken } from "../api/client";
import { openCompare } from "../compare/open";
import { openShare, openTags } from "../dialogs/dialogs";
import { EphemeralBar } from "../dialogs/EphemeralBar";
import { ChatTag } from "../dialogs/ChatTag";
import { mayWrite, roomOf, type Room } from "../state/session";
import { useSessions } from "../state/sessions";
import { allowed, canRedo, lastMove } from "../state/thread";
import {
  Button,
  cx,
  EmptyState,
  IconButton,
  IconCompare,
  IconHistory,
  IconOffline,
  IconTag,
  IconTree,
  IconShare,
  Spinner,
} from "../ui";
import { attempt, copyEntry, forkFrom, regenerate, rewindTo, startEdit } from "./actions";
import { Composer } from "./Composer";
import { RametRuntime, useRoom } from "./runtime";
import { Thread } from "./Thread";
import { BranchUsage } from "./Usage";
import { useOffline } from "./useLink";
import { currentEntry, isFieldEmpty, scrollToStart, focusComposer, focusMessage, resetChatUi, useChatUi } from "./ui";
import "./chat.css";

const HeadLog = lazy(() => import("./HeadLog"));

function Moves() {
  const open = useChatUi((s) => s.moves);
  return <Suspense>{open && <HeadLog />}</Suspense>;
}

function Head() {
  const room = useRoom();
  const session = room.store((s) => s.session);
  const fresh = room.store((s) => s.status === "fresh");
  // The one that the sidebar shows: it hears of a title that the server makes.
  const listed = useSessions((s) => s.byId.get(room.id)?.title);
  const title = session ? listed || session.title || "New chat" : fresh ? "A new chat" : "";
  useEffect(() => {
    document.title = title ? `${title} – Ramet` : "Ramet";
  }, [title]);
  return (
    <header className="chat-head">
      <h1 className={cx("truncate", !session && "chat-head-new")} title={title}>
        {title}
      </h1>
      {session && session.tags.length > 0 && (
        <div className="chat-head-tags">
          {session.tags.map((tag) => (
            <ChatTag key={tag} name={tag} />
          ))}
        </div>
      )}
      <span className="chat-gap" />
      <BranchUsage />
      {session && !shareToken() && (
        <>
          <IconButton label="Tags" icon={<IconTag />} onClick={() => openTags(room.id)} />
          <IconButton label="Compare" icon={<IconCompare />} onClick={() => openCompare([room.id])} />
          <IconButton label="Timeline" icon={<IconTree />} onClick={() => navigate(timelinePath(room.id))} />
          <IconButton label="Share" icon={<IconShare />} onClick={() => openShare(room.id)} />
        </>
      )}
      {session && (
        <IconButton
          label="Moves"
          icon={<IconHistory />}
          onClick={() => useChatUi.setState({ moves: true })}
        />
      )}
    </header>
  );
}

function OfflineBar() {
  const offline = useOffline();
  if (!offline) return null;
  return (
    <div className="chat-bar chat-bar-warn" role="status">
      <IconOffline />
      <span>Offline. What you see stays, what you send waits.</span>
      <Button small onClick={() => live().retry()}>
        Try now
      </Button>
    </div>
  );
}

/** Another branch than the present one is shown. */
function ViewingBar() {
  const room = useRoom();
  const viewing = room.store((s) => s.viewing);
  const busy = room.store((s) => s.busy.has("switch"));
  const write = room.store(mayWrite);
  if (viewing === null) return null;
  const back = () => {
    navigate(chatPath(room.id), true);
    void attempt(() => room.head.view(null));
  };
  const go = () =>
    attempt(async () => {
      await room.head.switchToViewed();
      navigate(chatPath(room.id), true);
    });
  return (
    <div className="chat-bar" role="status">
      <IconHistory />
      <span>{write ? "This is an abandoned branch." : "This is another version of the chat."}</span>
      {write && (
        <Button small busy={busy} onClick={() => void go()}>
          Switch to it
        </Button>
      )}
      <Button small onClick={back}>
        Back
      </Button>
    </div>
  );
}

function ChatCommands() {
  const room = useRoom();
  const entry = () => currentEntry(room);
  const can = (what: "edit" | "regenerate" | "fork" | "rewind") => () => {
    const one = entry();
    const write = mayWrite(room.state) && room.state.viewing === null;
    return one !== null && allowed(room.state.thread, one, write)[what];
  };
  const some = () => entry() !== null;
  const version = (by: 1 | -1) => ({
    // The focused message, else the last one that has versions.
    run: () => {
      const { entries } = room.state.thread;
      const one = entry();
      const chosen =
        one && (one.versions?.count ?? 1) > 1
          ? one
          : [...entries].reverse().find((each) => (each.versions?.count ?? 1) > 1);
      return chosen ? room.head.neighbour(chosen, by) : undefined;
    },
    when: () => room.state.thread.entries.some((each) => (each.versions?.count ?? 1) > 1),
  });
  useCommands({
    "message.copy": { run: () => copyEntry(entry()!), when: some },
    "message.edit": { run: () => startEdit(entry()!), when: can("edit") },
    "message.regenerate": { run: () => regenerate(room, entry()!), when: can("regenerate") },
    "message.fork": { run: () => forkFrom(room, entry()!), when: can("fork") },
    "message.rewind": { run: () => rewindTo(room, entry()!), when: can("rewind") },
    "message.versions": { run: () => useChatUi.setState({ listing: entry()!.id }), when: some },
    "message.previous": version(-1),
    "message.next": version(1),
    "message.up": { run: () => focusMessage(-1), when: some },
    "message.down": { run: () => focusMessage(1), when: some },
    "chat.write": focusComposer,
    "chat.stop": { run: room.stop, when: () => room.state.thread.answer !== null },
    "chat.undo": { run: room.head.undo, when: () => mayWrite(room.state) && lastMove(room.state.moves) !== null },
    "chat.redo": { run: room.head.redo, when: () => mayWrite(room.state) && canRedo(room.state.moves) },
    "chat.moves": { run: () => useChatUi.setState({ moves: true }), when: () => room.state.session !== null },
    "chat.start": {
      run: async () => {
        if (room.state.thread.moreBefore) await room.history.toStart();
        requestAnimationFrame(scrollToStart);
      },
      when: () => isFieldEmpty() && room.state.thread.entries.length > 0,
    },
    "chat.print": {
      run: async () => {
        await room.history.loadAll();
        requestAnimationFrame(() => requestAnimationFrame(() => window.print()));
      },
      when: () => room.state.session !== null,
    },
    "chat.ask": () => useChatUi.setState({ asking: true }),
  });
  return null;
}

function Gone({ room }: { room: Room }) {
  const status = room.store((s) => s.status);
  const error = room.store((s) => s.error);
  if (status === "gone")
    return (
      <EmptyState title="This chat is not there">
        <p>It was deleted, or it is somebody else’s.</p>
        <Button onClick={newChat}>Begin another</Button>
      </EmptyState>
    );
  return (
    <EmptyState title="The chat could not be read">
      <p>{error}</p>
      <Button onClick={() => void room.history.load()}>Try again</Button>
    </EmptyState>
  );
}

const hint = (
  <EmptyState title="Nothing said yet">
    <p>Write below. Every message can later be edited, forked or rewound to; nothing is ever lost.</p>
  </EmptyState>
);

function Shown({ room, place, empty }: { room: Room; place: number; empty: ReactNode }) {
  const status = room.store((s) => s.status);
  const session = room.store((s) => s.session);
  if (status === "gone" || status === "failed") return <Gone room={room} />;
  if (status === "loading")
    return (
      <div className="frame-wait">
        <Spinner label="Loading the chat" />
      </div>
    );
  return (
    <>
      {session?.expires_at && <EphemeralBar session={session} />}
      <ViewingBar />
      <OfflineBar />
      <Thread place={place} empty={empty} />
      {status === "fresh" && <FreshEmpty>{empty}</FreshEmpty>}
    </>
  );
}

/** A chat that the server does not know yet has no thread to stand in. */
function FreshEmpty({ children }: { children: ReactNode }) {
  const sent = useRoom().store((s) => s.pending.length);
  return sent === 0 ? <div className="chat-fresh">{children}</div> : null;
}

export function Chat({ id, empty = hint }: { id: string; empty?: ReactNode }) {
  const route = useRoute();
  const room = roomOf(id);
  const [agent, setAgent] = useState<string>();
  const target = route.query.get("entry");
  const branch = route.query.get("branch");
  const focus = route.query.get("focus") === "message";
  const gone = room.store((s) => s.status === "gone");

  useEffect(() => room.enter(target, branch), [room, target, branch]);
  useEffect(() => resetChatUi, [id]);
  useEffect(() => {
    if (!focus) return;
    focusComposer();
    navigate(chatPath(id), true);
  }, [focus, id]);

  return (
    <RametRuntime room={room} agent={agent}>
      <div className="chat">
        <Head />
        <Shown room={room} place={route.key} empty={empty} />
        {!gone && <Composer fresh={agent} setFresh={setAgent} />}
      </div>
      <Moves />
      <ChatCommands />
    </RametRuntime>
  );
}
