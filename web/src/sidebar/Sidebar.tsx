// SPDX-License-Identifier: Apache-2.0
// The sidebar: new chat, search, the chats as a list or a tree, and the signed-in user.

import { type KeyboardEvent, useEffect, useRef, useState } from "react";
import { live } from "../api/events";
import { runCommand, useCommands, useKeysOf } from "../app/commands";
import { isFresh, newChat } from "../app/newchat";
import { comparePath, navigate } from "../app/router";
import { openDelete, openRename, openShare, openTags } from "../dialogs/dialogs";
import { deletedMatches, filterIsOn, isEphemeral, sessionMatches } from "../state/forest";
import { signOut, useMe } from "../state/me";
import {
  catchUp,
  clearMarked,
  hearEvent,
  loadAgents,
  loadSessions,
  loadTags,
  needTree,
  pageOf,
  setMode,
  useSessions,
} from "../state/sessions";
import { setTheme, type Theme, useSettings } from "../state/settings";
import {
  Button,
  EmptyState,
  IconButton,
  IconChat,
  IconClose,
  IconCompare,
  IconKeyboard,
  IconList,
  IconNew,
  IconSearch,
  IconSettings,
  IconSignOut,
  IconTree,
  Kbd,
  Menu,
  type MenuEntry,
  Note,
  Segments,
  Spinner,
  toastError,
} from "../ui";
import { DeletedList } from "./DeletedList";
import { ClearFilter, FilterButton, FilterChips } from "./Filters";
import { SearchResults } from "./Search";
import { SessionForkTree } from "./SessionForkTree";
import { SessionList } from "./SessionList";
import { archiveWithUndo } from "./SessionMenu";
import "./sidebar.css";

interface SidebarProps {
  /** the chat that is open, "" when none is */
  currentId: string;
  /** something was opened: a drawer may close */
  onNavigate: () => void;
}

function useSidebarData(): void {
  useEffect(() => {
    void loadSessions();
    void loadTags();
    loadAgents().catch(() => undefined);
    const offEvents = live().onEvent(hearEvent);
    const offOpen = live().onOpen(() => void catchUp());
    return () => {
      offEvents();
      offOpen();
    };
  }, []);
}

function useSidebarCommands(currentId: string, focusSearch: () => void): void {
  const current = () => useSessions.getState().byId.get(currentId);
  const when = () => current() !== undefined;
  useCommands({
    "view.search": focusSearch,
    "view.tree": () => setMode(useSessions.getState().mode === "tree" ? "list" : "tree"),
    "chat.tags": { run: () => openTags(currentId), when },
    "chat.share": { run: () => openShare(currentId), when },
    "chat.rename": { run: () => openRename(currentId), when },
    "chat.archive": { run: () => archiveWithUndo(current()!, !current()!.archived), when },
    "chat.delete": { run: () => openDelete(currentId), when },
  });
}

// ------------------------------------------------------------------ parts

interface SearchBoxProps {
  text: string;
  onText: (text: string) => void;
  field: React.RefObject<HTMLInputElement | null>;
}

function SearchBox({ text, onText, field }: SearchBoxProps) {
  const keys = useKeysOf("view.search");
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape" && text !== "") {
      e.preventDefault();
      e.stopPropagation();
      onText("");
    } else if (e.key === "ArrowDown") {
      e.preventDefault();
      document.querySelector<HTMLElement>("[data-hit], [data-focus][tabindex='0']")?.focus();
    }
  };
  return (
    <div className="side-search">
      <IconSearch size={14} />
      <input
        ref={field}
        type="search"
        aria-label="Search"
        placeholder="Search"
        data-search
        autoComplete="off"
        value={text}
        onKeyDown={onKeyDown}
        onChange={(e) => onText(e.target.value)}
      />
      {text === "" ? (
        keys && (
          <span aria-hidden="true">
            <Kbd keys={keys} />
          </span>
        )
      ) : (
        <IconButton
          plain
          small
          label="Clear"
          icon={<IconClose size={14} />}
          onClick={() => {
            onText("");
            field.current?.focus();
          }}
        />
      )}
    </div>
  );
}

/** Why there are no rows, and what to do about it. */
function Empty() {
  const filter = useSessions((s) => s.filter);
  const page = useSessions(pageOf);
  if (page.error)
    return (
      <Note tone="error" action={{ label: "Try again", run: () => void loadSessions() }}>
        {page.error}
      </Note>
    );
  if (!page.begun)
    return (
      <div className="side-wait">
        <Spinner label="Loading" />
      </div>
    );
  if (filter.archived && !filter.tag && !filter.agent)
    return (
      <EmptyState title="The archive is empty">
        <p>Archived chats leave the list, and keep everything.</p>
        <ClearFilter />
      </EmptyState>
    );
  if (filter.deleted && !filter.tag && !filter.agent)
    return (
      <EmptyState title="Nothing is deleted">
        <p>Deleted chats can be restored from here until the server removes them for good.</p>
        <ClearFilter />
      </EmptyState>
    );
  if (filterIsOn(filter))
    return (
      <EmptyState title="No chat fits">
        <ClearFilter />
      </EmptyState>
    );
  return (
    <EmptyState icon={<IconChat size={20} />} title="No chats yet">
      <p>Write a message to begin. Forks of a chat gather below it here.</p>
    </EmptyState>
  );
}

function Rows({ currentId, onNavigate }: SidebarProps) {
  const mode = useSessions((s) => s.mode);
  const deleted = useSessions((s) => s.filter.deleted);
  const filled = useSessions((s) =>
    s.filter.deleted
      ? [...s.deleted.values()].some((x) => deletedMatches(x, s.filter))
      : [...s.byId.values()].some(
          (x) =>
            sessionMatches(x, s.filter) &&
            (s.mode === "tree" || !isEphemeral(x) || x.id === currentId),
        ),
  );
  // Only when everything was read is it known that nothing is forked.
  const flat = useSessions((s) => {
    const { begun, cursor } = pageOf(s);
    return begun && cursor === null && ![...s.byId.values()].some((x) => x.forked_from !== null);
  });
  if (!filled)
    return (
      <div className="side-scroll">
        <Empty />
      </div>
    );
  if (deleted) return <DeletedList onNavigate={onNavigate} />;
  if (mode === "list") return <SessionList currentId={currentId} onNavigate={onNavigate} />;
  return (
    <>
      <SessionForkTree currentId={currentId} onNavigate={onNavigate} />
      {flat && (
        <p className="side-hint muted">
          Nothing is forked yet: “Fork chat from here” in a message’s menu starts a branch.
        </p>
      )}
    </>
  );
}

function MarkedBar() {
  const marked = useSessions((s) => s.marked);
  if (marked.length === 0) return null;
  return (
    <div className="side-marked" role="group" aria-label="Marked chats">
      <span className="side-fill">{marked.length === 1 ? "1 marked" : `${marked.length} marked`}</span>
      <Button
        small
        variant="primary"
        icon={<IconCompare size={14} />}
        disabled={marked.length < 2}
        onClick={() => {
          navigate(comparePath([...marked]));
          clearMarked();
        }}
      >
        Compare
      </Button>
      <IconButton small label="Unmark all" icon={<IconClose />} onClick={clearMarked} />
    </div>
  );
}

const THEMES: { theme: Theme; label: string }[] = [
  { theme: "system", label: "As the system" },
  { theme: "light", label: "Light" },
  { theme: "dark", label: "Dark" },
];

function UserMenu() {
  const me = useMe((s) => s.me);
  const items = (): MenuEntry[] => [
    { said: "Theme" },
    ...THEMES.map(({ theme, label }) => ({
      label,
      checked: useSettings.getState().theme === theme,
      onSelect: () => setTheme(theme),
    })),
    "line",
    {
      label: "Keyboard shortcuts",
      icon: <IconKeyboard />,
      onSelect: () => runCommand("view.keys"),
    },
    ...(me && me.auth !== "local"
      ? [
          {
            label: "Sign out",
            icon: <IconSignOut />,
            onSelect: () => void signOut().catch((e: unknown) => toastError(e)),
          },
        ]
      : []),
  ];
  return (
    <div className="side-user">
      <span className="side-face" aria-hidden="true">
        {[...(me?.user ?? "?")][0]?.toUpperCase()}
      </span>
      <span className="side-fill truncate" title={me?.user}>
        {me?.user}
      </span>
      <Menu items={items} trigger={<IconButton label="Settings" icon={<IconSettings />} />} />
    </div>
  );
}

// ------------------------------------------------------------------ the whole

export function Sidebar({ currentId, onNavigate }: SidebarProps) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const mode = useSessions((s) => s.mode);
  const newKeys = useKeysOf("chat.new");
  useSidebarData();
  useEffect(() => {
    if (currentId && !isFresh(currentId)) void needTree(currentId);
  }, [currentId, mode]);
  useSidebarCommands(currentId, () => {
    // A sidebar that is hidden cannot take the focus: it comes first.
    if (field.current?.closest("[inert]")) runCommand("view.sidebar");
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.select();
    });
  });
  return (
    <div className="side">
      <div className="side-top">
        <Button
          className="side-new"
          icon={<IconNew />}
          title={newKeys ? `New chat (${newKeys})` : undefined}
          onClick={() => {
            newChat();
            onNavigate();
          }}
        >
          New chat
        </Button>
        <SearchBox text={text} onText={setText} field={field} />
        <div className="side-bar">
          <Segments
            label="View"
            value={mode}
            onChange={setMode}
            options={[
              { value: "list", label: "List", icon: <IconList size={14} /> },
              { value: "tree", label: "Tree", icon: <IconTree size={14} /> },
            ]}
          />
          <span className="side-fill" />
          <FilterButton />
        </div>
        <FilterChips />
      </div>
      {text.trim() === "" ? (
        <Rows currentId={currentId} onNavigate={onNavigate} />
      ) : (
        <SearchResults text={text} onNavigate={onNavigate} />
      )}
      <MarkedBar />
      <UserMenu />
    </div>
  );
}
