// SPDX-License-Identifier: Apache-2.0
// The command palette: finds commands and chats by a few letters.
import { Command } from "cmdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useRef, useState } from "react";
import { listSessions } from "../api/ramet";
import type { Session } from "../api/types";
import { canRun, runCommand } from "../app/commands";
import { chatPath, navigate } from "../app/router";
import { bindingsOf, useSettings } from "../state/settings";
import { Ago, Dialog, IconChat, Kbd } from "../ui";
import { COMMAND_IDS, COMMANDS, GROUPS, type CommandId } from "./table";
import "./keys.css";
import { useDebounced } from "../ui/useDebounced";

const CHATS = 8;
const PAUSE_MS = 120;

/** Chats whose title holds the words; the newest when there are none. */
function useChats(open: boolean, words: string): Session[] {
  const title = useDebounced(words, words ? PAUSE_MS : 0, words);
  const { data } = useQuery({
    queryKey: ["palette", title],
    queryFn: ({ signal }) => listSessions({ limit: CHATS, title: title || undefined, archived: "include" }, signal),
    enabled: open,
    placeholderData: keepPreviousData,
  });
  return data?.sessions ?? []; // without the server the commands are still of use
}

export default function Palette({
  open,
  onOpenChange,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
}) {
  const [text, setText] = useState("");
  const bindings = useSettings((s) => s.bindings);
  const chats = useChats(open, text.trim());
  /** Done when the focus is back where it was: many commands are about the focused message. */
  const chosen = useRef<(() => void) | null>(null);
  const ready = useMemo(
    () => (open ? COMMAND_IDS.filter((id) => !(COMMANDS[id].hidden ?? false) && canRun(id)) : []),
    [open],
  );
  const choose = (run: () => void) => {
    chosen.current = run;
    onOpenChange(false);
  };
  const item = (id: CommandId) => {
    const keys = bindingsOf(id, bindings)[0];
    return (
      <Command.Item
        key={id}
        value={COMMANDS[id].title}
        keywords={[COMMANDS[id].group]}
        onSelect={() => choose(() => runCommand(id))}
      >
        <span className="truncate">{COMMANDS[id].title}</span>
        {keys && <Kbd keys={keys} />}
      </Command.Item>
    );
  };
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Command palette"
      bare
      top
      className="palette"
      onClosed={() => {
        const run = chosen.current;
        chosen.current = null;
        setText("");
        if (run) setTimeout(run);
      }}
    >
      <Command label="Command palette" loop>
        <Command.Input
          className="palette-input"
          placeholder="What do you want to do?"
          value={text}
          onValueChange={setText}
        />
        <Command.List label="Commands and chats">
          <Command.Empty>Nothing is called that.</Command.Empty>
          {GROUPS.map((group) => {
            const ids = ready.filter((id) => COMMANDS[id].group === group);
            return (
              ids.length > 0 && (
                <Command.Group key={group} heading={group}>
                  {ids.map(item)}
                </Command.Group>
              )
            );
          })}
          {chats.length > 0 && (
            <Command.Group heading="Chats">
              {chats.map((chat) => (
                <Command.Item
                  key={chat.id}
                  value={`chat ${chat.id}`}
                  keywords={[chat.title, text]}
                  onSelect={() => choose(() => navigate(chatPath(chat.id)))}
                >
                  <IconChat />
                  <span className="truncate">{chat.title || "New chat"}</span>
                  <span className="muted">
                    <Ago at={chat.updated_at} />
                  </span>
                </Command.Item>
              ))}
            </Command.Group>
          )}
        </Command.List>
      </Command>
    </Dialog>
  );
}
