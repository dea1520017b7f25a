// SPDX-License-Identifier: Apache-2.0
// Connects the room of a session to assistant-ui's runtime: its messages and the composer. All state is in
// the room; the runtime only reads it.
import {
  AssistantRuntimeProvider,
  useExternalStoreRuntime,
  type AppendMessage,
  type AttachmentAdapter,
  type ThreadMessage,
} from "@assistant-ui/react";
import { createContext, useContext, useMemo, type ReactNode } from "react";
import { newKey, shareToken } from "../api/client";
import { chatPath, navigate } from "../app/router";
import { deleteAttachment, uploadAttachment } from "../api/ramet";
import { addDraft } from "../state/drafts";
import { mayWrite, type FileRef, type Room } from "../state/session";
import { toastError } from "../ui";
import { repositoryOf } from "./items";
import { useChatUi } from "./ui";

const RoomContext = createContext<Room | null>(null);

/** The room of the chat that this stands in. */
export const useRoom = (): Room => {
  const room = useContext(RoomContext);
  if (!room) throw new Error("outside of a chat");
  return room;
};

const textOf = (message: AppendMessage): string =>
  message.content.map((part) => (part.type === "text" ? part.text : "")).join("");

const filesOf = (message: AppendMessage): FileRef[] =>
  (message.attachments ?? []).map((one) => ({
    id: one.id,
    name: one.name,
    media_type: one.contentType ?? "application/octet-stream",
  }));

const kindOf = (type: string) => (type.startsWith("image/") ? "image" : "file");

/** Attachment of the composer -> attachment of the server. */
const uploaded = new Map<string, string>();
/** Those that were taken away before they were uploaded. */
const unwanted = new Set<string>();
const forget = (id: string) => deleteAttachment(id).catch(() => {}); // it expires by itself

/** Those of the composer that are uploaded. */
export const storedFiles = (list: readonly { id: string; name: string; contentType?: string }[]): FileRef[] =>
  list.flatMap((one) => {
    const id = uploaded.get(one.id);
    return id ? [{ id, name: one.name, media_type: one.contentType ?? "" }] : [];
  });

/** A file is uploaded when it is added; its id is that of the attachment from then on. */
const attachments: AttachmentAdapter = {
  accept: "*",
  async *add({ file }) {
    const base = {
      id: newKey(),
      type: kindOf(file.type),
      name: file.name,
      contentType: file.type,
      file,
    } as const;
    yield { ...base, status: { type: "running", reason: "uploading", progress: 0 } };
    try {
      const stored = await uploadAttachment(file);
      if (unwanted.delete(base.id)) return void forget(stored.id);
      uploaded.set(base.id, stored.id);
      yield { ...base, status: { type: "requires-action", reason: "composer-send" } };
    } catch (error) {
      if (unwanted.delete(base.id)) return;
      toastError(error);
      yield { ...base, status: { type: "incomplete", reason: "error" } };
    }
  },
  async remove(attachment) {
    const id = uploaded.get(attachment.id);
    uploaded.delete(attachment.id);
    if (id) await forget(id);
    else if (attachment.status.type === "running") unwanted.add(attachment.id);
  },
  send(attachment) {
    const id = uploaded.get(attachment.id);
    if (!id) return Promise.reject(new Error(`${attachment.name} is not uploaded.`));
    return Promise.resolve({ ...attachment, id, status: { type: "complete" }, content: [] });
  },
};

/** To this chat, or to a fork of it where that was asked for and an answer is in the way. */
async function sendNew(room: Room, text: string, files: FileRef[], agent?: string): Promise<void> {
  const { forking } = useChatUi.getState();
  useChatUi.setState({ forking: false });
  // A visitor with a link has no forks: the message waits.
  if (!forking || shareToken() || room.state.thread.answer === null) return room.outbox.send(text, files, agent);
  try {
    const fork = await room.outbox.sendAsFork(text, files, agent);
    if (fork) navigate(chatPath(fork));
  } catch (error) {
    addDraft(room.id, text);
    toastError(error);
  }
}

export function RametRuntime({ room, agent, children }: { room: Room; agent?: string; children: ReactNode }) {
  const thread = room.store((s) => s.thread);
  const pending = room.store((s) => s.pending);
  const write = room.store(mayWrite);
  const { entries, moreAfter } = thread;
  const turnId = thread.answer?.turnId;
  // Not with every word of an answer: what the repository holds of it is that it is there.
  const messageRepository = useMemo(
    () => repositoryOf({ thread, pending }),
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [entries, moreAfter, turnId, pending],
  );
  const runtime = useExternalStoreRuntime<ThreadMessage>({
    messageRepository,
    // Always: one may write while an answer is made. What is sent then is queued, or goes to a fork.
    isRunning: false,
    isDisabled: !write,
    adapters: { attachments },
    onNew: (message) => sendNew(room, textOf(message), filesOf(message), agent),
    onCancel: () => room.stop().then(() => {}),
  });
  return (
    <RoomContext.Provider value={room}>
      <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>
    </RoomContext.Provider>
  );
}
