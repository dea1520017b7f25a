// SPDX-License-Identifier: Apache-2.0
// The menu of a chat in the sidebar, shared by the three dots and the right click.

import type { Session } from "../api/types";
import { chatPath } from "../app/router";
import { copyText } from "../chat/copy";
import { openDelete, openFork, openRename, openShare, openTags } from "../dialogs/dialogs";
import {
  archiveSession,
  keepSession,
  restoreSession,
  toggleMarked,
  useSessions,
} from "../state/sessions";
import { isEphemeral } from "../state/forest";
import {
  IconArchive,
  IconCheck,
  IconCompare,
  IconDelete,
  IconEdit,
  IconFork,
  IconLink,
  IconTag,
  IconUndo,
  IconUsers,
  type MenuEntry,
  toast,
  toastError,
} from "../ui";

export const titleOf = (s: Session): string => s.title || "New chat";

/** Archives or brings back, and offers the other. */
export async function archiveWithUndo(s: Session, archived: boolean): Promise<void> {
  try {
    await archiveSession(s.id, archived);
    toast({
      text: archived ? `Archived “${titleOf(s)}”` : `“${titleOf(s)}” is back in the list`,
      action: { label: "Undo", run: () => archiveSession(s.id, !archived) },
    });
  } catch (e) {
    toastError(e, { label: "Try again", run: () => archiveWithUndo(s, archived) });
  }
}

async function copyLink(id: string): Promise<void> {
  try {
    await copyText(location.origin + chatPath(id));
    toast("Copied the link");
  } catch (e) {
    toastError(e);
  }
}

const tried = (run: () => Promise<unknown>) => () => void run().catch((e: unknown) => toastError(e));

export function sessionItems(s: Session): MenuEntry[] {
  const marked = useSessions.getState().marked.includes(s.id);
  return [
    { label: "Rename", icon: <IconEdit />, keys: "f2", onSelect: () => openRename(s.id) },
    { label: "Tags", icon: <IconTag />, onSelect: () => openTags(s.id) },
    { label: "Share", icon: <IconUsers />, onSelect: () => openShare(s.id) },
    { label: "Copy link", icon: <IconLink />, onSelect: () => void copyLink(s.id) },
    "line",
    { label: "Fork chat", icon: <IconFork />, onSelect: () => openFork({ sessionId: s.id }) },
    {
      label: marked ? "Unmark" : "Mark to compare",
      icon: <IconCompare />,
      onSelect: () => toggleMarked(s.id),
    },
    "line",
    ...(isEphemeral(s)
      ? [{ label: "Keep", icon: <IconCheck />, onSelect: tried(() => keepSession(s.id)) }]
      : []),
    {
      label: s.archived ? "Unarchive" : "Archive",
      icon: <IconArchive />,
      onSelect: () => void archiveWithUndo(s, !s.archived),
    },
    {
      label: "Delete",
      icon: <IconDelete />,
      danger: true,
      onSelect: () => openDelete(s.id),
    },
  ];
}

/** Of a deleted chat that has forks. */
export function placeItems(id: string): MenuEntry[] {
  return [
    { label: "Restore", icon: <IconUndo />, onSelect: tried(() => restoreSession(id, false)) },
  ];
}
