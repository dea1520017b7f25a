// SPDX-License-Identifier: Apache-2.0
// The message composer: keeps a draft per session, and accepts dropped and pasted files.
import { shareToken } from "../api/client";
import { ComposerPrimitive, useAui, useAuiState } from "@assistant-ui/react";
import { useEffect } from "react";
import { openFork } from "../dialogs/dialogs";
import { getDraft, keepDraft, onDraft } from "../state/drafts";
import { mayWrite } from "../state/session";
import { Button, IconArrowUp, IconAttach, IconButton, IconFork, IconQueue, IconStop, Note } from "../ui";
import { attempt } from "./actions";
import { AgentPicker } from "./AgentPicker";
import { ComposerFiles } from "./Attachments";
import { FanOut } from "./FanOut";
import { useRoom } from "./runtime";
import { focusComposer, useChatUi } from "./ui";

/** Keeps what is typed, and takes what others put there. */
function useKeptDraft(session: string): void {
  const aui = useAui();
  useEffect(() => {
    const composer = aui.composer();
    if (composer.getState().text === "") composer.setText(getDraft(session));
    const stop = onDraft((id, text) => {
      if (id === session) aui.composer().setText(text);
    });
    let last = composer.getState().text;
    const off = aui.subscribe(() => {
      const { text } = aui.composer().getState();
      if (text === last) return;
      last = text;
      keepDraft(session, text);
    });
    return () => {
      stop();
      off();
    };
  }, [aui, session]);
}

function SendOrStop() {
  const room = useRoom();
  const running = room.store((s) => s.thread.answer !== null);
  const stopping = room.store((s) => s.busy.has("stop"));
  const uploading = useAuiState((s) => s.composer.attachments.some((one) => one.status.type === "running"));
  const empty = useAuiState((s) => s.composer.isEmpty);
  return (
    <>
      {running && (
        <IconButton
          label="Stop"
          className="chat-stop"
          icon={<IconStop />}
          busy={stopping}
          onClick={() => void attempt(room.stop)}
        />
      )}
      {(!running || !empty) && (
        <ComposerPrimitive.Send asChild disabled={uploading || undefined}>
          <IconButton
            plain
            label={running ? "Queue" : "Send"}
            title={running ? "Send when the answer has ended (at once to a fork: Ctrl+Enter)" : undefined}
            className="chat-send"
            icon={running ? <IconQueue /> : <IconArrowUp />}
            // The button goes or changes under the pointer: who writes on finds the field.
            onClick={() => keyboard() && focusComposer()}
          />
        </ComposerPrimitive.Send>
      )}
    </>
  );
}

/** A finger that opens a chat has not asked for a keyboard over half of it. */
const keyboard = () => matchMedia("(pointer: fine)").matches;

export function Composer({ fresh, setFresh }: { fresh?: string; setFresh: (agent: string) => void }) {
  const room = useRoom();
  const write = room.store(mayWrite);
  useKeptDraft(room.id);
  // Opening a chat, and being let to write in it.
  useEffect(() => {
    if (write && keyboard() && !document.querySelector("[role=dialog]")) focusComposer();
  }, [room, write]);
  /** Ctrl+Enter does not wait for the answer. */
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    useChatUi.setState({ forking: event.ctrlKey || event.metaKey });
  };
  if (!write)
    return (
      <div className="chat-composer-box">
        <Note>
          You may read this chat. To go on from here, fork it.{" "}
          <Button small icon={<IconFork />} onClick={() => openFork({ sessionId: room.id })}>
            Fork chat
          </Button>
        </Note>
      </div>
    );
  return (
    <div className="chat-composer-box">
      <ComposerPrimitive.AttachmentDropzone className="chat-dropzone">
        <ComposerPrimitive.Root className="chat-composer">
          <ComposerFiles />
          <ComposerPrimitive.Input
            aria-label="Message"
            data-composer=""
            placeholder="Write a message"
            rows={1}
            maxRows={12}
            cancelOnEscape={false}
            onKeyDown={onKeyDown}
            unstable_focusOnRunStart={false}
            unstable_focusOnScrollToBottom={false}
            unstable_focusOnThreadSwitched={false}
          />
          <div className="chat-composer-foot">
            {/* Files and forks belong to a user, and the agent to the chat: a link gives none of them. */}
            {!shareToken() && (
              <>
                <ComposerPrimitive.AddAttachment asChild multiple>
                  <IconButton label="Attach files" icon={<IconAttach />} />
                </ComposerPrimitive.AddAttachment>
                <FanOut />
                <AgentPicker fresh={fresh} setFresh={setFresh} />
              </>
            )}
            <span className="chat-gap" />
            <SendOrStop />
          </div>
        </ComposerPrimitive.Root>
      </ComposerPrimitive.AttachmentDropzone>
    </div>
  );
}
