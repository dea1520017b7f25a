// SPDX-License-Identifier: Apache-2.0
// Every command that has a key or is in the palette, declared once. The palette, the sheet, the menus
// and the tooltips read it; the view that can run a command provides it (app/commands.ts).
//
// Keys: "mod" is Cmd on Apple's keyboards and Ctrl elsewhere, a space separates the steps of a
// sequence. A binding that browsers reserve (mod+shift+t, and mod+[ in some) has an alternative.
//
// Plain keys of the group Message act on the message that has the focus, and do nothing without one. Nothing
// that asks a model is on a plain letter.

export interface CommandRow {
  title: string;
  group: string;
  keys: readonly string[];
  /** Does nothing worth a row in the palette (it is the palette, or moves the focus). */
  hidden?: boolean;
}

const row = (group: string, title: string, keys: readonly string[] = [], hidden = false) => ({
  title,
  group,
  keys,
  hidden,
});

export const COMMANDS = {
  "message.versions": row("Message", "Versions of this message", ["mod+shift+b", "b"]),
  "message.fork": row("Message", "Fork chat from here", ["mod+shift+f", "f"]),
  "message.previous": row("Message", "Previous version", ["mod+[", "["]),
  "message.next": row("Message", "Next version", ["mod+]", "]"]),
  "message.edit": row("Message", "Edit", ["e"]),
  "message.regenerate": row("Message", "Regenerate", ["shift+r"]),
  "message.rewind": row("Message", "Rewind to here", ["w"]),
  "message.copy": row("Message", "Copy", ["c"]),
  "message.up": row("Message", "Message above", ["alt+arrowup", "k"], true),
  "message.down": row("Message", "Message below", ["alt+arrowdown", "j"], true),

  "chat.new": row("Chat", "New chat", ["mod+shift+o", "n"]),
  "chat.write": row("Chat", "Write a message", ["i"]),
  "chat.stop": row("Chat", "Stop the answer", ["mod+."]),
  "chat.undo": row("Chat", "Undo the last move", ["u"]),
  "chat.redo": row("Chat", "Redo", ["shift+u"]),
  "chat.start": row("Chat", "Start of the chat", ["mod+home"]),
  "chat.print": row("Chat", "Print the whole chat", ["mod+p"]),
  "chat.moves": row("Chat", "Moves of the head", ["g h"]),
  "chat.ask": row("Chat", "Ask several agents", ["g a"]),
  "chat.tags": row("Chat", "Tags", ["t"]),
  "chat.share": row("Chat", "Share and members", ["s"]),
  "chat.rename": row("Chat", "Rename"),
  "chat.archive": row("Chat", "Archive"),
  "chat.delete": row("Chat", "Delete"),

  "view.palette": row("View", "Command palette", ["mod+k"], true),
  "view.keys": row("View", "Keyboard shortcuts", ["?"]),
  "view.search": row("View", "Search", ["/"]),
  "view.sidebar": row("View", "Show or hide the sidebar", ["mod+\\"]),
  "view.tree": row("View", "Switch between list and tree", ["mod+shift+t", "g t"]),
  "view.timeline": row("View", "Timeline", ["g l"]),
  "view.compare": row("View", "Compare", ["g c"]),
  "view.light": row("View", "Light theme"),
  "view.dark": row("View", "Dark theme"),
  "view.system": row("View", "Theme of the system"),
} satisfies Record<string, CommandRow>;

export type CommandId = keyof typeof COMMANDS;

export const COMMAND_IDS = Object.keys(COMMANDS) as CommandId[];
export const GROUPS = ["Message", "View", "Chat"] as const;
