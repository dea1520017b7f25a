// SPDX-License-Identifier: Apache-2.0
// The menu of a message and its actions, shared by the three dots, the right click and the keyboard.
import { shareToken } from "../api/client";
import { keysOf } from "../app/commands";
import type { Entry } from "../api/types";
import { openFork } from "../dialogs/dialogs";
import { lendDraft } from "../state/drafts";
import { mayWrite, type Room } from "../state/session";
import { useSessions } from "../state/sessions";
import { allowed, cutAt, isEnd } from "../state/thread";
import {
  IconAgent,
  IconCopy,
  IconEdit,
  IconFork,
  IconHelpful,
  IconNotHelpful,
  IconRegenerate,
  IconRewind,
  toast,
  toastError,
  type MenuEntry,
} from "../ui";
import { copyText } from "./copy";
import { focusComposer, useChatUi } from "./ui";

/** Does it; what goes wrong is said, and can be tried again. */
export const attempt = async (run: () => Promise<unknown>): Promise<void> => {
  try {
    await run();
  } catch (error) {
    toastError(error, { label: "Try again", run });
  }
};

export const copyEntry = (entry: Entry) =>
  attempt(async () => {
    await copyText(entry.text);
    toast({ text: "Copied", key: "copied", ms: 2000 });
  });

export const startEdit = (entry: Entry): void => useChatUi.setState({ editing: entry.id });

export const forkFrom = (room: Room, entry: Entry): void => {
  const { at } = cutAt(entry);
  openFork({
    sessionId: room.id,
    entryId: at.entry_id,
    side: at.side,
    branchId: room.state.viewing ?? undefined,
  });
};

/** At once. What a cut user message said becomes the draft. */
export const rewindTo = (room: Room, entry: Entry) =>
  attempt(async () => {
    if (isEnd(room.state.thread, entry)) return void toast({ text: "Nothing comes after this message" });
    await room.head.rewind(entry);
    if (entry.role === "user") lendDraft(room.id, entry.text);
    focusComposer();
  });

export const regenerate = (room: Room, entry: Entry, agent?: string) =>
  attempt(() => room.head.regenerate(entry, agent));

const otherAgents = (room: Room, entry: Entry): MenuEntry[] => {
  const agents = useSessions.getState().agents;
  if (agents.length < 2) return [];
  return [
    {
      label: "Answer by",
      icon: <IconAgent />,
      items: agents.map((agent) => ({
        label: agent.name,
        onSelect: () => void regenerate(room, entry, agent.name),
      })),
    },
  ];
};

export const messageItems = (room: Room, entry: Entry): MenuEntry[] => {
  const can = allowed(room.state.thread, entry, mayWrite(room.state) && room.state.viewing === null);
  const items: MenuEntry[] = [
    { label: "Copy", icon: <IconCopy />, keys: keysOf("message.copy"), onSelect: () => void copyEntry(entry) },
  ];
  if (can.edit)
    items.push({
      label: "Edit",
      icon: <IconEdit />,
      keys: keysOf("message.edit"),
      onSelect: () => startEdit(entry),
    });
  if (can.regenerate)
    items.push(
      {
        label: "Regenerate",
        icon: <IconRegenerate />,
        keys: keysOf("message.regenerate"),
        onSelect: () => void regenerate(room, entry),
      },
      ...otherAgents(room, entry),
    );
  if (can.fork || can.rewind) items.push("line");
  if (can.fork)
    items.push({
      label: "Fork chat from here",
      icon: <IconFork />,
      keys: keysOf("message.fork"),
      onSelect: () => forkFrom(room, entry),
    });
  if (can.rewind)
    items.push({
      label: "Rewind to here",
      icon: <IconRewind />,
      keys: keysOf("message.rewind"),
      onSelect: () => void rewindTo(room, entry),
    });
  if (can.feedback && !shareToken())
    items.push(
      "line",
      {
        label: "Helpful",
        icon: <IconHelpful />,
        disabled: room.state.busy.has("vote:" + entry.id),
        onSelect: () => void attempt(() => room.vote(entry, "up")),
      },
      {
        label: "Not helpful",
        icon: <IconNotHelpful />,
        disabled: room.state.busy.has("vote:" + entry.id),
        onSelect: () => void attempt(() => room.vote(entry, "down")),
      },
    );
  return items;
};
