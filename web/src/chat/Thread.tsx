// SPDX-License-Identifier: Apache-2.0
// The list of messages and the scroll position in it. The window of entries grows at both ends while
// scrolling. Messages in view stay in place when others grow, and a reader at the end stays at the end until
// he scrolls up.
import { ThreadPrimitive } from "@assistant-ui/react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { Button, ContextMenu, IconArrowDown, Spinner, type MenuEntry } from "../ui";
import { attempt, messageItems } from "./actions";
import { BrokenAnswer, ChatMessage } from "./Message";
import { RewindRow } from "./RewindRow";
import { useRoom } from "./runtime";

const components = { Message: ChatMessage };
const NEAR_END = 40;

type Anchor = { element: HTMLElement; top: number };

/** The first message in view; binary search, as it runs with every scroll. */
const firstInView = (column: HTMLElement, top: number): HTMLElement | null => {
  const all = column.querySelectorAll<HTMLElement>("article");
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.getBoundingClientRect().bottom > top) high = middle;
    else low = middle + 1;
  }
  return all[low] ?? null;
};

function useKeptPlace() {
  const box = useRef<HTMLDivElement>(null);
  const column = useRef<HTMLDivElement>(null);
  /** The end is followed. The reader alone ends that, by scrolling up. */
  const stick = useRef(true);
  /** Where the view was left by the last scroll, the reader's or the page's own. */
  const left = useRef(0);
  const anchor = useRef<Anchor | null>(null);
  /** Entry that shall come into the middle as soon as it is drawn. */
  const wanted = useRef<string | null>(null);
  const [atEnd, setAtEnd] = useState(true);

  const toGo = () => {
    const view = box.current!;
    return view.scrollHeight - view.scrollTop - view.clientHeight;
  };
  const hold = () => {
    const element = firstInView(column.current!, box.current!.getBoundingClientRect().top);
    anchor.current = element && { element, top: element.getBoundingClientRect().top };
  };

  /**
   * The view has scrolled. An event of the page's own scroll to the end may come when the answer has grown
   * again: that the end is not in view says nothing then. Growing never moves the view up, readers do.
   */
  const note = useCallback(() => {
    if (wanted.current !== null) return;
    const up = box.current!.scrollTop < left.current - 1;
    left.current = box.current!.scrollTop;
    if (up) stick.current = toGo() < 2; // what shrinks moves the view up, too, to its very end
    else if (toGo() < NEAR_END) stick.current = true;
    setAtEnd(stick.current);
    hold();
  }, []);

  /** Something has grown or gone. */
  const keep = useCallback(() => {
    const view = box.current!;
    if (wanted.current !== null) {
      const id = CSS.escape(wanted.current);
      const one = column.current!.querySelector(`article[data-entry="${id}"]`);
      if (!one) return;
      wanted.current = null;
      one.scrollIntoView({ block: "center" });
      stick.current = toGo() < NEAR_END;
      left.current = view.scrollTop;
      return note();
    }
    const held = anchor.current;
    if (stick.current) view.scrollTop = view.scrollHeight;
    else if (held?.element.isConnected) {
      const moved = held.element.getBoundingClientRect().top - held.top;
      if (Math.abs(moved) >= 1) view.scrollTop += moved;
    } else hold();
    left.current = view.scrollTop;
    setAtEnd(stick.current || toGo() < NEAR_END);
  }, [note]);

  useLayoutEffect(() => {
    const watch = new ResizeObserver(keep);
    watch.observe(column.current!);
    watch.observe(box.current!);
    return () => watch.disconnect();
  }, [keep]);

  const toEnd = useCallback(() => {
    wanted.current = null;
    stick.current = true;
    keep();
  }, [keep]);
  /** Brings an entry into the middle as soon as it is drawn; null: stays where it is. */
  const aim = useCallback(
    (entry: string | null) => {
      wanted.current = entry;
      keep();
    },
    [keep],
  );
  return { box, column, aim, note, keep, toEnd, atEnd };
}

/** How many messages came while the end was out of view: those behind the ones that were seen there. */
function useNews(atEnd: boolean): number {
  const room = useRoom();
  const length = room.store((s) => s.thread.head.length);
  const turn = room.store((s) => s.thread.answer?.turnId ?? null);
  const branch = room.store((s) => s.thread.head.branch_id);
  const [seen, setSeen] = useState({ length, turn, branch });
  // On another path the count begins again.
  if ((atEnd || seen.branch !== branch) && (seen.length !== length || seen.turn !== turn || seen.branch !== branch))
    setSeen({ length, turn, branch });
  if (atEnd) return 0;
  // An answer counts as soon as it begins. When it is stored, the one that was seen to begin is not new.
  const begun = turn !== null && turn !== seen.turn ? 1 : 0;
  const known = seen.turn !== null && turn !== seen.turn ? 1 : 0;
  return Math.max(0, length - seen.length + begun - known);
}

/** Asks for more when it comes near the view. */
function More({ box, load }: { box: React.RefObject<HTMLDivElement | null>; load: () => Promise<unknown> }) {
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const watch = new IntersectionObserver(
      (seen) => {
        if (seen.some((one) => one.isIntersecting)) void load().catch(() => {}); // tried again by a scroll
      },
      { root: box.current, rootMargin: "800px 0px" },
    );
    watch.observe(mark.current!);
    return () => watch.disconnect();
  });
  return (
    <div ref={mark} className="chat-more">
      <Spinner label="Loading" />
    </div>
  );
}

export function Thread({ place, empty }: { place: number; empty: ReactNode }) {
  const room = useRoom();
  const { box, column, aim, note, keep, toEnd, atEnd } = useKeptPlace();
  const entries = room.store((s) => s.thread.entries);
  const moreBefore = room.store((s) => s.thread.moreBefore);
  const moreAfter = room.store((s) => s.thread.moreAfter);
  const running = room.store((s) => s.thread.answer !== null);
  const sent = room.store((s) => s.pending.length);
  const asked = room.store((s) => s.asked);
  const news = useNews(atEnd);
  const target = room.store((s) => s.target);
  const ready = room.store((s) => s.status === "ready");
  const over = useRef<string | null>(null);
  const first = entries[0]?.id;
  const last = entries.at(-1)?.id;

  // The entry that the address asks for comes into the middle, once each time it is asked for.
  useLayoutEffect(() => {
    aim(ready ? target : null);
  }, [ready, target, place, aim]);

  useLayoutEffect(keep, [keep, entries]);
  // What the user has just asked for is followed from here on.
  const followed = useRef(asked);
  useLayoutEffect(() => {
    if (asked === followed.current) return;
    followed.current = asked;
    toEnd();
  }, [asked, toEnd]);

  const items = (): MenuEntry[] => {
    const entry = room.state.thread.entries.find((one) => one.id === over.current);
    return entry ? messageItems(room, entry) : [];
  };
  /** The browser's own menu where it is of more use: on links, pictures, fields and what is selected. */
  const onContextMenuCapture = (event: React.MouseEvent) => {
    const at = event.target as HTMLElement;
    const article = at.closest<HTMLElement>("article[data-entry]");
    const theirs = at.closest("a, img, textarea, input") || getSelection()?.isCollapsed === false;
    if (!article || theirs) return event.stopPropagation();
    over.current = article.dataset.entry!;
  };
  const jump = () =>
    attempt(async () => {
      if (moreAfter) await room.history.toEnd();
      toEnd();
    });
  const nothing = ready && entries.length === 0 && sent === 0 && !running;
  return (
    <ThreadPrimitive.Root className="chat-thread">
      <ContextMenu items={items}>
        <div className="chat-scroll" ref={box} onScroll={note} onContextMenuCapture={onContextMenuCapture}>
          <div className="chat-column" ref={column} role="log" aria-label="Messages" aria-busy={running}>
            {moreBefore && <More key={"before" + first} box={box} load={room.history.loadBefore} />}
            {nothing && empty}
            <ThreadPrimitive.Messages components={components} />
            <BrokenAnswer />
            <RewindRow />
            {moreAfter && <More key={"after" + last} box={box} load={room.history.loadAfter} />}
          </div>
        </div>
      </ContextMenu>
      {(!atEnd || moreAfter) && (
        <Button
          small
          className="chat-jump"
          icon={<IconArrowDown />}
          onClick={() => void jump()}
        >
          {news === 0 ? "Newest" : `${news} new`}
        </Button>
      )}
    </ThreadPrimitive.Root>
  );
}
