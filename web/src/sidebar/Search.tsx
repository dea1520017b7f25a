// SPDX-License-Identifier: Apache-2.0
// Search results: chats by title, and messages by content, including abandoned branches. A hit opens its
// chat at that message.

import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import type { KeyboardEvent } from "react";
import { errorText } from "../api/client";
import * as ramet from "../api/ramet";
import type { Hit, Session } from "../api/types";
import { chatPath, follow } from "../app/router";
import { putSessions, useSessions } from "../state/sessions";
import {
  Ago,
  Button,
  EmptyState,
  IconAgent,
  IconAlert,
  IconChat,
  IconSearch,
  IconTool,
  Note,
  Spinner,
} from "../ui";
import { useDebounced } from "../ui/useDebounced";
import { titleOf } from "./SessionMenu";

const WAIT_MS = 180;
const HITS = 20;
const TITLES = 5;

/** The words as they are typed: the last one may be a beginning. */
export function searchWords(text: string): string {
  const q = text.trim();
  return /[\p{L}\p{N}]$/u.test(q) && !q.includes('"') ? `${q}*` : q;
}

/** The text around a hit, cut where it matched. Marks count characters, not UTF-16 units. */
export function highlightPieces(hit: Pick<Hit, "highlight" | "marks">): { text: string; on: boolean }[] {
  const chars = [...hit.highlight];
  const pieces: { text: string; on: boolean }[] = [];
  let at = 0;
  const take = (end: number, on: boolean) => {
    const text = chars.slice(at, end).join("");
    if (text) pieces.push({ text, on });
    at = Math.max(at, end);
  };
  for (const mark of hit.marks) {
    take(mark.start, false);
    take(mark.start + mark.length, true);
  }
  take(chars.length, false);
  return pieces;
}

export const hitPath = (hit: Hit): string =>
  chatPath(hit.session_id, { entry: hit.entry_id, branch: hit.abandoned ? hit.branch_id : undefined });

interface Found {
  titles: Session[];
  hits: Hit[];
  cursor: string | null;
  bounded: boolean;
}

const ROLE_ICONS = { user: IconChat, assistant: IconAgent, tool: IconTool, system: IconAlert };
const ROLES = { user: "Message", assistant: "Answer", tool: "Tool", system: "Instruction" };

function HitRow({ hit, onNavigate }: { hit: Hit; onNavigate: () => void }) {
  const Icon = ROLE_ICONS[hit.role];
  return (
    <li>
      <a
        className="side-hit"
        data-hit
        href={hitPath(hit)}
        onClick={(e) => {
          follow(e);
          if (e.defaultPrevented) onNavigate();
        }}
      >
        <span className="side-hit-head">
          <span className="truncate">{hit.title || "New chat"}</span>
          <span className="muted">
            <Ago at={hit.created_at} />
          </span>
        </span>
        <span className="side-hit-text">
          {highlightPieces(hit).map((piece, i) =>
            piece.on ? <mark key={i}>{piece.text}</mark> : <span key={i}>{piece.text}</span>,
          )}
        </span>
        <span className="side-hit-foot muted">
          <Icon size={12} /> {ROLES[hit.role]}
          {hit.abandoned && <span className="side-abandoned">abandoned branch</span>}
        </span>
      </a>
    </li>
  );
}

/** Arrows walk through what was found, and from its top back to the field. */
function walkHits(e: KeyboardEvent<HTMLElement>): void {
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  const all = [...e.currentTarget.querySelectorAll<HTMLElement>("[data-hit]")];
  const at = all.indexOf(document.activeElement as HTMLElement);
  const next = all[at + (e.key === "ArrowDown" ? 1 : -1)];
  e.preventDefault();
  e.stopPropagation();
  if (next) next.focus();
  else if (e.key === "ArrowUp") document.querySelector<HTMLElement>("[data-search]")?.focus();
}

/** Titles come with the first page. */
async function findPage(
  text: string,
  of: { tag?: string; agent?: string },
  cursor: string | null,
  signal: AbortSignal,
): Promise<Found> {
  const [hits, titles] = await Promise.all([
    ramet.search({ q: searchWords(text), limit: HITS, ...of, cursor }, signal),
    cursor === null
      ? ramet.listSessions({ title: text.trim(), limit: TITLES, archived: "include", ...of }, signal)
      : { sessions: [] },
  ]);
  putSessions(titles.sessions);
  return { titles: titles.sessions, hits: hits.hits, cursor: hits.next_cursor, bounded: hits.bounded };
}

function useFound(text: string) {
  const { tag, agent } = useSessions((s) => s.filter);
  const typed = useDebounced(text, WAIT_MS, "");
  const of = { tag: tag ?? undefined, agent: agent ?? undefined };
  const { data, error, isFetching, refetch, fetchNextPage } = useInfiniteQuery({
    queryKey: ["search", typed, of],
    queryFn: ({ pageParam, signal }) => findPage(typed, of, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.cursor,
    enabled: typed !== "",
    placeholderData: keepPreviousData,
  });
  const last = data?.pages.at(-1);
  const found: Found | null = last
    ? { ...last, titles: data!.pages[0]!.titles, hits: data!.pages.flatMap((page) => page.hits) }
    : null;
  return {
    found,
    error: error && errorText(error),
    busy: isFetching || typed !== text,
    next: () => fetchNextPage(),
    again: () => void refetch(),
  };
}

export function SearchResults({ text, onNavigate }: { text: string; onNavigate: () => void }) {
  const { found, error, busy, next, again } = useFound(text);
  const none = found && found.hits.length === 0 && found.titles.length === 0;
  return (
    <div className="side-scroll side-found" role="region" aria-label="Found" onKeyDown={walkHits}>
      <p className="sr-only" role="status">
        {found && !busy ? `${found.hits.length} messages and ${found.titles.length} chats found` : ""}
      </p>
      {error && (
        <Note tone="error" action={{ label: "Try again", run: again }}>
          {error}
        </Note>
      )}
      {!found && !error && (
        <div className="side-wait">
          <Spinner label="Searching" />
        </div>
      )}
      {found && found.titles.length > 0 && (
        <>
          <h2 className="side-heading">Chats</h2>
          <ul>
            {found.titles.map((s) => (
              <li key={s.id}>
                <a
                  className="side-hit side-hit-title"
                  data-hit
                  href={chatPath(s.id)}
                  onClick={(e) => {
                    follow(e);
                    if (e.defaultPrevented) onNavigate();
                  }}
                >
                  <IconChat size={14} />
                  <span className="truncate">{titleOf(s)}</span>
                  {s.archived && <span className="side-abandoned">archived</span>}
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
      {found && found.hits.length > 0 && (
        <>
          <h2 className="side-heading">Messages</h2>
          <ul>
            {found.hits.map((hit) => (
              <HitRow
                key={`${hit.session_id} ${hit.branch_id} ${hit.entry_id}`}
                hit={hit}
                onNavigate={onNavigate}
              />
            ))}
          </ul>
          {found.cursor && (
            <div className="side-wait">
              <Button small busy={busy} onClick={() => void next()}>
                More
              </Button>
            </div>
          )}
          {found.bounded && <p className="side-hint muted">Ranked among the newest matches only.</p>}
        </>
      )}
      {none && (
        <EmptyState icon={<IconSearch size={20} />} title="Nothing found">
          <p>
            All words must occur. “A phrase” in quotes is found as it stands, <code>-word</code> leaves
            out.
          </p>
        </EmptyState>
      )}
    </div>
  );
}
