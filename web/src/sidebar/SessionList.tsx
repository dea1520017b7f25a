// SPDX-License-Identifier: Apache-2.0
// The list: chats by their last change, grouped by age.

import { type KeyboardEvent, useMemo } from "react";
import { chatPath, follow } from "../app/router";
import { openDelete, openRename } from "../dialogs/dialogs";
import { type ListRow, listRows } from "../state/forest";
import { toggleMarked, useSessions } from "../state/sessions";
import { ContextMenu, IconEphemeral, IconFork } from "../ui";
import {
  Places,
  rowClass,
  rowHeight,
  RowMenu,
  RowTitle,
  RunningSign,
  saidOf,
  TagDots,
  useSideRows,
  walkKey,
} from "./rows";
import { sessionItems, titleOf } from "./SessionMenu";

const HEADING = 28;
const heightOf = (row: ListRow) => (row.kind === "heading" ? HEADING : rowHeight());
const takesFocus = (row: ListRow) => row.kind === "session";

export function SessionList({ currentId, onNavigate }: { currentId: string; onNavigate: () => void }) {
  const byId = useSessions((s) => s.byId);
  const filter = useSessions((s) => s.filter);
  const marked = useSessions((s) => s.marked);
  const rows = useMemo(
    () => listRows(byId.values(), filter, new Date(), currentId),
    [byId, filter, currentId],
  );
  const { scroller, size, items, keys: chats, walk } = useSideRows({ rows, heightOf, takesFocus, currentId });

  const onKeyDown = (e: KeyboardEvent, id: string) => {
    if (walkKey(e, chats.indexOf(id), chats.length, walk.focusRow)) return;
    if (e.key === "F2") openRename(id);
    else if (e.key === "Delete") openDelete(id);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };

  const row = (r: ListRow) => {
    if (r.kind === "heading") return <h2 className="side-heading">{r.text}</h2>;
    const s = r.session;
    const active = walk.active === s.id;
    return (
      <ContextMenu items={() => sessionItems(s)}>
        <div className={rowClass(s, s.id === currentId)} data-row={s.id}>
          {marked.length > 0 && (
            <input
              type="checkbox"
              className="side-mark"
              aria-label={`Mark ${titleOf(s)}`}
              checked={marked.includes(s.id)}
              tabIndex={active ? 0 : -1}
              onChange={() => toggleMarked(s.id)}
            />
          )}
          <a
            data-focus
            className="side-link"
            href={chatPath(s.id)}
            aria-current={s.id === currentId ? "page" : undefined}
            aria-description={saidOf(s) || undefined}
            tabIndex={active ? 0 : -1}
            onFocus={() => walk.setActive(s.id)}
            onKeyDown={(e) => onKeyDown(e, s.id)}
            onClick={(e) => {
              follow(e);
              if (e.defaultPrevented) onNavigate();
            }}
          >
            {s.expires_at ? <IconEphemeral size={14} /> : s.forked_from ? <IconFork size={14} /> : null}
            <RowTitle session={s} />
          </a>
          <RunningSign id={s.id} />
          <TagDots tags={s.tags} />
          <RowMenu items={() => sessionItems(s)} active={active} />
        </div>
      </ContextMenu>
    );
  };

  return (
    <div className="side-scroll" ref={scroller} role="navigation" aria-label="Chats by age">
      <div className="side-window" style={{ height: size }}>
        <Places rows={rows} items={items} draw={row} />
      </div>
    </div>
  );
}
