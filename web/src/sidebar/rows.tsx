// SPDX-License-Identifier: Apache-2.0
// Shared by the rows of the list and the tree: virtual scrolling, keyboard focus, and the marks next to a
// title.

import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Session } from "../api/types";
import { FAN_OUT, forkSign } from "../state/forest";
import { useTagHue } from "../state/tags";
import { loadSessions, useSessions } from "../state/sessions";
import { cx, hueOf, IconButton, IconDots, Menu, type MenuEntry } from "../ui";

const DOTS = 3;
/** How near to the end the next page is asked for. */
const AHEAD = 15;

const coarse = () => matchMedia("(pointer: coarse)").matches;
export const rowHeight = () => (coarse() ? 44 : 32);

function Dot({ tag }: { tag: string }) {
  const hue = useTagHue(tag) ?? hueOf(tag);
  return (
    <span className={`side-tag ui-tag-hue-${hue}`}>
      <span className="side-dot" />
      <span className="side-tag-name">{tag}</span>
    </span>
  );
}

/** Tags with their colours and names; where the row has no room for names, dots. */
export function TagDots({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null;
  return (
    <span className="side-dots" aria-hidden="true" title={tags.join(", ")}>
      {tags.slice(0, DOTS).map((tag) => (
        <Dot key={tag} tag={tag} />
      ))}
      {tags.length > DOTS && <span className="side-more-dots">+{tags.length - DOTS}</span>}
    </span>
  );
}

export function RunningSign({ id }: { id: string }) {
  const running = useSessions((s) => s.running.has(id));
  return running ? <span className="side-running" role="img" aria-label="Answering" /> : null;
}

/** The title, and why it was forked or whom it asks: forks of one chat often have the same title. */
export function RowTitle({ session: s }: { session: Session }) {
  const title = s.title || "New chat";
  const reason = forkSign(s);
  return (
    <span className="truncate" title={reason ? `${title} (${reason})` : title}>
      {title}
      {reason && (
        <span className="side-reason" aria-hidden="true">
          {reason}
        </span>
      )}
    </span>
  );
}

/** What a screen reader says after the title. */
export function saidOf(s: Session, forks = 0): string {
  const said = [];
  const sign = forkSign(s);
  if (sign) said.push(s.forked_from?.reason === FAN_OUT ? `answered by ${sign}` : `forked because: ${sign}`);
  if (s.expires_at) said.push("side question");
  if (s.archived) said.push("archived");
  if (forks) said.push(forks === 1 ? "1 fork" : `${forks} forks`);
  if (s.tags.length) said.push(`tagged ${s.tags.join(", ")}`);
  return said.join(", ");
}

export function RowMenu({ items, active }: { items: () => MenuEntry[]; active: boolean }) {
  return (
    <Menu
      items={items}
      trigger={
        <IconButton
          plain
          small
          className="side-row-menu"
          label="Chat actions"
          icon={<IconDots />}
          tabIndex={active ? 0 : -1}
          // The row handles keys, except those pressed on its button.
          onKeyDown={(e) => e.stopPropagation()}
          onClick={(e) => e.stopPropagation()}
        />
      }
    />
  );
}

// ------------------------------------------------------------------ window

interface RowsProps<R extends { key: string }> {
  rows: readonly R[];
  heightOf: (row: R) => number;
  /** whether the focus comes to it */
  takesFocus: (row: R) => boolean;
  currentId: string;
}

/** The rows in sight, and the focus in them. The chat that is opened comes into view. */
export function useSideRows<R extends { key: string }>({ rows, heightOf, takesFocus, currentId }: RowsProps<R>) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => heightOf(rows[i]!),
    getItemKey: (i) => rows[i]!.key,
    overscan: 12,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= rows.length - AHEAD) void loadSessions();
  }, [last, rows.length]);

  const keys = useMemo(() => rows.filter(takesFocus).map((r) => r.key), [rows, takesFocus]);
  const scrollTo = useCallback(
    (key: string) => virtual.scrollToIndex(rows.findIndex((r) => r.key === key), { align: "auto" }),
    [virtual, rows],
  );
  const walk = useWalk(keys, currentId || null, scroller, scrollTo);
  // The chat that is opened is in view, wherever rows that come later move it, until the user looks elsewhere.
  const place = keys.indexOf(currentId);
  const looked = useRef("");
  useEffect(() => {
    const box = scroller.current;
    const look = () => (looked.current = currentId);
    const signs = ["wheel", "pointerdown", "keydown"] as const;
    for (const sign of signs) box?.addEventListener(sign, look, { passive: true });
    return () => {
      for (const sign of signs) box?.removeEventListener(sign, look);
    };
  }, [currentId]);
  useEffect(() => {
    if (place >= 0 && looked.current !== currentId) scrollTo(currentId);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [currentId, place]);
  return { scroller, size: virtual.getTotalSize(), items, keys, walk };
}

interface PlacesProps<R> {
  rows: readonly R[];
  items: readonly VirtualItem[];
  draw: (row: R, index: number) => ReactNode;
}

export function Places<R>({ rows, items, draw }: PlacesProps<R>) {
  return items.map((item) => (
    <div
      key={item.key}
      role="none"
      className="side-place"
      style={{ height: item.size, transform: `translateY(${item.start}px)` }}
    >
      {draw(rows[item.index]!, item.index)}
    </div>
  ));
}

// ------------------------------------------------------------------ focus

interface Walk {
  /** key of the row that Tab comes to */
  active: string | null;
  setActive: (key: string) => void;
  /** moves the focus to a row, into view first */
  focusRow: (index: number) => void;
}

/** One row is in the order of Tab, arrows go on from there. Rows carry `data-row={key}`; what takes
 * the focus in them, `data-focus`. */
function useWalk(
  keys: readonly string[],
  current: string | null,
  scroller: RefObject<HTMLDivElement | null>,
  scrollTo: (key: string) => void,
): Walk {
  const [chosen, setActive] = useState<string | null>(null);
  const wanted = useRef<string | null>(null);
  const active =
    chosen !== null && keys.includes(chosen)
      ? chosen
      : current !== null && keys.includes(current)
        ? current
        : (keys[0] ?? null);
  const focusRow = useCallback(
    (index: number) => {
      const key = keys[index];
      if (key === undefined) return;
      setActive(key);
      wanted.current = key;
      scrollTo(key);
    },
    [keys, scrollTo],
  );
  // The row may be drawn only after the window has moved.
  useEffect(() => {
    if (wanted.current === null) return;
    const row = scroller.current?.querySelector(`[data-row="${CSS.escape(wanted.current)}"]`);
    const target = row?.matches("[data-focus]") ? row : row?.querySelector("[data-focus]");
    if (!(target instanceof HTMLElement)) return;
    wanted.current = null;
    target.focus({ preventScroll: true });
  });
  return { active, setActive, focusRow };
}

/** Up, Down, Home and End; true when it was one of them. */
export function walkKey(e: KeyboardEvent, at: number, count: number, go: (i: number) => void): boolean {
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 }[e.key];
  if (to === undefined || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return false;
  e.preventDefault();
  e.stopPropagation();
  go(Math.min(Math.max(to, 0), count - 1));
  return true;
}

export const rowClass = (s: Session | null, current: boolean, more?: string | false) =>
  cx(
    "side-row",
    current && "side-current",
    s?.expires_at && "side-faint",
    s?.archived && "side-archived",
    more,
  );
