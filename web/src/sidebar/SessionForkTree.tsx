// SPDX-License-Identifier: Apache-2.0
// The tree: chats with their forks below them. It is an ARIA tree rendered as a flat list, so that only
// visible rows are in the page; aria-level gives the depth.

import { type CSSProperties, type KeyboardEvent, useEffect, useMemo } from "react";
import { chatPath, follow, navigate } from "../app/router";
import { openDelete, openRename } from "../dialogs/dialogs";
import { buildForest, type TreeRow, treeRows } from "../state/forest";
import { reveal, setFolded, toggleMarked, useSessions } from "../state/sessions";
import {
  ContextMenu,
  cx,
  IconChat,
  IconChevronRight,
  IconDelete,
  IconEphemeral,
  IconFork,
} from "../ui";
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
import { placeItems, sessionItems, titleOf } from "./SessionMenu";

/** Deeper levels are not indented further: titles need the room. */
const INDENT_LEVELS = 9;
const takesFocus = () => true;

function Sign({ row }: { row: TreeRow }) {
  if (!row.session) return <IconDelete size={14} />;
  if (row.session.expires_at) return <IconEphemeral size={14} />;
  return row.session.forked_from ? <IconFork size={14} /> : <IconChat size={14} />;
}

interface RowProps {
  row: TreeRow;
  current: boolean;
  active: boolean;
  marking: boolean;
  marked: boolean;
  onFocus: () => void;
  onKeyDown: (e: KeyboardEvent) => void;
  onNavigate: () => void;
}

function Row({ row, current, active, marking, marked, onFocus, onKeyDown, onNavigate }: RowProps) {
  const s = row.session;
  const title = s ? titleOf(s) : "Deleted chat";
  const items = () => (s ? sessionItems(s) : placeItems(row.id));
  const style = { "--level": Math.min(row.level, INDENT_LEVELS) - 1 } as CSSProperties;
  return (
    <ContextMenu items={items}>
      <div
        className={rowClass(s, current, cx("side-tree-row", (!s || !row.matches) && "side-grey"))}
        style={style}
        data-row={row.key}
        data-focus
        role="treeitem"
        aria-label={title}
        aria-description={(s && saidOf(s, row.childCount)) || undefined}
        aria-level={row.level}
        aria-posinset={row.posInSet}
        aria-setsize={row.setSize}
        aria-expanded={row.childCount ? row.open : undefined}
        aria-current={current ? "page" : undefined}
        tabIndex={active ? 0 : -1}
        onFocus={onFocus}
        onKeyDown={onKeyDown}
      >
        {row.childCount ? (
          <span
            className={cx("side-twist", row.open && "side-twist-open")}
            aria-hidden="true"
            onClick={() => setFolded(row.id, row.open)}
          >
            <IconChevronRight size={14} />
          </span>
        ) : (
          <span className="side-twist" aria-hidden="true" />
        )}
        {marking && s && (
          <input
            type="checkbox"
            className="side-mark"
            aria-label={`Mark ${title}`}
            checked={marked}
            tabIndex={active ? 0 : -1}
            onChange={() => toggleMarked(s.id)}
          />
        )}
        {s ? (
          <a
            className="side-link"
            href={chatPath(s.id)}
            tabIndex={-1}
            onClick={(e) => {
              follow(e);
              if (e.defaultPrevented) onNavigate();
            }}
          >
            <Sign row={row} />
            <RowTitle session={s} />
          </a>
        ) : (
          <span className="side-link">
            <Sign row={row} />
            <span className="truncate">{title}</span>
          </span>
        )}
        <RunningSign id={row.id} />
        {s && <TagDots tags={s.tags} />}
        {row.childCount > 0 && (
          <span className="side-count" aria-hidden="true" title={`Forks: ${row.childCount}`}>
            {row.childCount}
          </span>
        )}
        <RowMenu items={items} active={active} />
      </div>
    </ContextMenu>
  );
}

export function SessionForkTree({ currentId, onNavigate }: { currentId: string; onNavigate: () => void }) {
  const byId = useSessions((s) => s.byId);
  const places = useSessions((s) => s.places);
  const filter = useSessions((s) => s.filter);
  const folded = useSessions((s) => s.folded);
  const marked = useSessions((s) => s.marked);
  const forest = useMemo(() => buildForest(byId, places, filter), [byId, places, filter]);
  const rows = useMemo(() => treeRows(forest, folded), [forest, folded]);
  const { scroller, size, items, walk } = useSideRows({ rows, heightOf: rowHeight, takesFocus, currentId });
  const known = byId.has(currentId);
  useEffect(() => {
    if (known) reveal(currentId);
  }, [currentId, known]);

  const parentIndex = (at: number) => {
    const level = rows[at]!.level;
    for (let i = at - 1; i >= 0; i--) if (rows[i]!.level < level) return i;
    return at;
  };
  const act: Record<string, (row: TreeRow, at: number) => void> = {
    ArrowRight: (row, at) => {
      if (row.childCount && !row.open) setFolded(row.id, false);
      else if (row.open) walk.focusRow(at + 1);
    },
    ArrowLeft: (row, at) => {
      if (row.open) setFolded(row.id, true);
      else walk.focusRow(parentIndex(at));
    },
    Enter: (row) => {
      if (!row.session) return;
      navigate(chatPath(row.id));
      onNavigate();
    },
    " ": (row) => row.childCount && setFolded(row.id, row.open),
    F2: (row) => row.session && openRename(row.id),
    Delete: (row) => row.session && openDelete(row.id),
  };
  const onKeyDown = (e: KeyboardEvent, at: number) => {
    if (e.target !== e.currentTarget) return;
    if (walkKey(e, at, rows.length, walk.focusRow)) return;
    if (e.altKey || e.ctrlKey || e.metaKey || !(e.key in act)) return;
    e.preventDefault();
    e.stopPropagation();
    act[e.key]!(rows[at]!, at);
  };

  return (
    <div className="side-scroll" ref={scroller}>
      <div
        className="side-window"
        role="tree"
        aria-label="Chats and their forks"
        style={{ height: size }}
      >
        <Places
          rows={rows}
          items={items}
          draw={(row, at) => (
            <Row
              row={row}
              current={row.id === currentId}
              active={walk.active === row.key}
              marking={marked.length > 0}
              marked={marked.includes(row.id)}
              onFocus={() => walk.setActive(row.key)}
              onKeyDown={(e) => onKeyDown(e, at)}
              onNavigate={onNavigate}
            />
          )}
        />
      </div>
    </div>
  );
}
