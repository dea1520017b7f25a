// SPDX-License-Identifier: Apache-2.0
// The tree of a chat as a graph of lanes: where forks and branches leave, and where the heads are. Only
// visible rows are in the page, so that ten thousand are as fast as ten.
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { chatPath, comparePath, follow, navigate } from "../app/router";
import { ChatTag } from "../dialogs/ChatTag";
import {
  Ago,
  Button,
  cx,
  EmptyState,
  IconBack,
  IconBranch,
  IconButton,
  IconCompare,
  Note,
  Segments,
  Spinner,
} from "../ui";
import { branchWords, buildGraph, nodeTitle, sideOf, type TimelineNode } from "./graph";
import { graphWidth, Lanes, MAX_LANES } from "./Lanes";
import { layout, type Layout, type Order, type Placed } from "./layout";
import { useTree } from "./load";
import { Preview } from "./Preview";
import "./timeline.css";

const MAX_SIDES = 4;
const OVERSCAN = 12;
/** Scrolling past a row requests nothing. */
const REST_MS = 60;
const rowHeight = () => (matchMedia("(pointer: coarse)").matches ? 48 : 34);

const pathOf = (node: TimelineNode): string =>
  node.kind === "branch" && !node.head
    ? chatPath(node.sessionId, {
        entry: node.branch?.entry_id ?? undefined,
        branch: node.branch?.branch_id,
      })
    : chatPath(node.sessionId);

interface RowProps {
  placed: Placed<TimelineNode>;
  of: number;
  /** Of a row, in pixels. */
  height: number;
  left: number;
  current: boolean;
  active: boolean;
  marked: boolean;
  markable: boolean;
  /** Its chat has more than one line, so that it matters where the head is. */
  several: boolean;
  described: string | undefined;
  onMark: (node: TimelineNode) => void;
  onActive: (row: number) => void;
  onRest: (row: number | null) => void;
}

function Facts({ node, several }: { node: TimelineNode; several: boolean }) {
  const { session } = node;
  const own = node.length !== null && node.base !== null ? node.length - node.base : node.length;
  const at = node.branch?.created_at ?? session?.created_at;
  return (
    <>
      {node.head && several && <span className="timeline-head">head</span>}
      {node.kind === "session" && session && session.tags.length > 0 && (
        <span className="timeline-tags">
          {session.tags.slice(0, 3).map((tag) => (
            <ChatTag key={tag} name={tag} />
          ))}
          {session.tags.length > 3 && <span className="muted">+{session.tags.length - 3}</span>}
        </span>
      )}
      <span className="timeline-fill" />
      {node.kind === "branch" && <span className="timeline-how">{branchWords(node)}</span>}
      {node.kind === "session" && node.parent !== null && node.base !== null && (
        <span className="timeline-how">
          {node.base === 0 ? "From the start" : `After message ${node.base}`}
        </span>
      )}
      <span className="timeline-count nums">
        {own === null || !session
          ? ""
          : own === 1
            ? "1 message"
            : `${own.toLocaleString()} messages`}
      </span>
      <span className="timeline-when">{at && <Ago at={at} />}</span>
    </>
  );
}

/** Drawn once: while one scrolls, rows come and go, and those that stay are left alone. */
const Row = memo(function Row(props: RowProps) {
  const { placed, of, height, left, current, active, marked, markable, described } = props;
  const { node, row } = placed;
  const title = nodeTitle(node);
  return (
    <div
      role="listitem"
      aria-setsize={of}
      aria-posinset={row + 1}
      className={cx(
        "timeline-row",
        `timeline-${node.kind}`,
        current && "timeline-current",
        marked && "timeline-marked",
        node.session?.expires_at != null && "timeline-faint",
      )}
      style={{ top: row * height, height, paddingLeft: left }}
      onPointerEnter={(e) => e.pointerType === "mouse" && props.onRest(row)}
      onPointerLeave={() => props.onRest(null)}
    >
      {node.session ? (
        <a
          className="timeline-link truncate"
          href={pathOf(node)}
          tabIndex={active ? 0 : -1}
          data-row={row}
          aria-current={current ? "page" : undefined}
          aria-describedby={described}
          onClick={follow}
          onFocus={() => {
            props.onActive(row);
            props.onRest(row);
          }}
          onBlur={() => props.onRest(null)}
        >
          {title}
        </a>
      ) : (
        <span
          className="timeline-link truncate muted"
          tabIndex={active ? 0 : -1}
          data-row={row}
          onFocus={() => props.onActive(row)}
        >
          {title}
        </span>
      )}
      <Facts node={node} several={props.several} />
      {node.session && (
        <input
          type="checkbox"
          className="timeline-mark"
          aria-label={`Mark ${title}`}
          title="Mark it to compare"
          checked={marked}
          disabled={!marked && !markable}
          tabIndex={active ? 0 : -1}
          onChange={() => props.onMark(node)}
        />
      )}
    </div>
  );
});

/** The row that a key leads to from this one; null: the key is none of ours. */
function rowFor(
  event: KeyboardEvent,
  at: number,
  rows: Layout<TimelineNode>["rows"],
  page: number,
): number | null {
  const last = rows.length - 1;
  const clamp = (row: number) => Math.max(0, Math.min(last, row));
  switch (event.key) {
    case "ArrowDown":
      return clamp(at + 1);
    case "ArrowUp":
      return clamp(at - 1);
    case "PageDown":
      return clamp(at + page);
    case "PageUp":
      return clamp(at - page);
    case "Home":
      return 0;
    case "End":
      return last;
    case "ArrowLeft":
      return rows[at]!.parentRow >= 0 ? rows[at]!.parentRow : at;
    case "ArrowRight": {
      const child = rows.findIndex((r) => r.parentRow === at);
      return child < 0 ? at : child;
    }
    default:
      return null;
  }
}

interface GraphProps {
  placed: Layout<TimelineNode>;
  currentId: string;
  marks: readonly string[];
  onMark: (node: TimelineNode) => void;
  inSight: (sessionIds: readonly string[]) => void;
}

function Graph({ placed, currentId, marks, onMark, inSight }: GraphProps) {
  const { rows, lanes } = placed;
  const scroller = useRef<HTMLDivElement>(null);
  const [height] = useState(rowHeight);
  const start = Math.max(
    0,
    rows.findIndex((r) => r.node.id === currentId),
  );
  const [active, setActive] = useState(start);
  const [rest, setRest] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
    initialOffset: Math.max(0, (start - 8) * height),
  });
  const lines = useMemo(
    () => new Set(rows.filter((r) => r.node.kind === "branch").map((r) => r.node.sessionId)),
    [rows],
  );
  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  const left = graphWidth(Math.min(lanes, MAX_LANES)) + 8;

  useEffect(() => {
    const shown = rows.slice(from, to + 1).filter((r) => r.node.kind === "branch");
    const timer = setTimeout(() => inSight([...new Set(shown.map((r) => r.node.sessionId))]), REST_MS);
    return () => clearTimeout(timer);
  }, [rows, from, to, inSight]);
  useEffect(() => {
    if (wanted.current === null) return;
    const link = scroller.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"]`);
    if (!link) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  });
  const move = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / height) - 1);
    const next = rowFor(event, active, rows, page);
    if (next === null) return;
    event.preventDefault();
    wanted.current = next;
    setActive(next);
    virtual.scrollToIndex(next);
  };
  const at = Math.min(active, rows.length - 1);
  const shown = rest !== null && rest >= from && rest <= to ? rows[rest] : undefined;
  const below =
    shown &&
    (shown.row + 1) * height - (virtual.scrollOffset ?? 0) <
      (scroller.current?.clientHeight ?? 0) - 220;
  return (
    <div className="timeline-scroll" ref={scroller} onKeyDown={move}>
      <div
        role="list"
        aria-label="Chats and branches"
        className="timeline-rows"
        style={{ height: virtual.getTotalSize() }}
      >
        {to >= from && (
          <Lanes
            rows={rows}
            from={from}
            to={to}
            lanes={lanes}
            height={height}
            currentId={currentId}
          />
        )}
        {items.map(({ index }) => {
          const one = rows[index]!;
          const marked = marks.includes(one.node.id);
          return (
            <Row
              key={one.node.id}
              placed={one}
              of={rows.length}
              height={height}
              left={left}
              current={one.node.kind === "session" && one.node.id === currentId}
              active={index === at}
              marked={marked}
              markable={marks.length < MAX_SIDES}
              several={lines.has(one.node.sessionId)}
              described={rest === index ? "timeline-preview" : undefined}
              onMark={onMark}
              onActive={setActive}
              onRest={setRest}
            />
          );
        })}
        {shown && (
          <Preview
            id="timeline-preview"
            node={shown.node}
            style={
              below
                ? { top: (shown.row + 1) * height, left }
                : { bottom: virtual.getTotalSize() - shown.row * height, left }
            }
          />
        )}
      </div>
    </div>
  );
}

export default function Timeline({ sessionId }: { sessionId: string }) {
  const { tree, error, retry, inSight } = useTree(sessionId);
  const [wish, setWish] = useState<Order | null>(null);
  const [marks, setMarks] = useState<string[]>([]);
  const nodes = useMemo(() => (tree ? buildGraph(tree.sessions, tree.branches) : null), [tree]);
  const byTime = useMemo(() => (nodes ? layout(nodes, "time") : null), [nodes]);
  // A great tree in order of time needs more lanes than a screen has.
  const order: Order = wish ?? (byTime && byTime.lanes > MAX_LANES ? "branch" : "time");
  const placed = useMemo(
    () => (nodes && order === "branch" ? layout(nodes, "branch") : byTime),
    [nodes, order, byTime],
  );
  const marked = (nodes ?? []).filter((n) => marks.includes(n.id));
  const mark = useCallback(
    (node: TimelineNode) =>
      setMarks((was) =>
        was.includes(node.id) ? was.filter((id) => id !== node.id) : [...was, node.id],
      ),
    [],
  );
  const chats = tree?.sessions.length ?? 0;
  const root = tree?.sessions[0];
  return (
    <div className="ui-view timeline">
      <header className="ui-view-head">
        <IconButton
          label="Back to the chat"
          icon={<IconBack />}
          onClick={() => navigate(chatPath(sessionId))}
        />
        <h1>Timeline</h1>
        {root && (
          <span className="timeline-of truncate muted">
            {root.deleted ? "Deleted chat" : root.title} ·{" "}
            {chats === 1 ? "1 chat" : `${chats.toLocaleString()} chats`}
          </span>
        )}
        <span className="timeline-fill" />
        {marked.length > 0 && (
          <Button
            small
            variant="primary"
            icon={<IconCompare size={14} />}
            disabled={marked.length < 2}
            title={marked.length < 2 ? "Mark one more" : undefined}
            onClick={() =>
              navigate(comparePath(marks.map((id) => sideOf(marked.find((n) => n.id === id)!))))
            }
          >
            Compare
          </Button>
        )}
        <Segments<Order>
          label="Order"
          value={order}
          onChange={setWish}
          options={[
            { value: "time", label: "By time" },
            { value: "branch", label: "By branch" },
          ]}
        />
      </header>
      {error && (
        <div className="timeline-note">
          <Note tone="error" action={{ label: "Try again", run: retry }}>
            {error}
          </Note>
        </div>
      )}
      {!placed && !error && (
        <div className="timeline-wait">
          <Spinner label="Loading" />
        </div>
      )}
      {placed && (
        <Graph
          placed={placed}
          currentId={sessionId}
          marks={marks}
          onMark={mark}
          inSight={inSight}
        />
      )}
      {placed && placed.rows.length === 1 && (
        <EmptyState icon={<IconBranch size={22} />} title="One line so far">
          <p>
            Fork this chat from a message, edit one or ask for another answer: each becomes a lane
            here.
          </p>
        </EmptyState>
      )}
    </div>
  );
}
