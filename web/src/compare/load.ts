// SPDX-License-Identifier: Apache-2.0
// Reads a comparison, and again when one of its sides grows or moves.
import { useCallback, useEffect, useMemo, useState } from "react";
import { errorText } from "../api/client";
import { live } from "../api/events";
import { compare, getSession } from "../api/ramet";
import type { Comparison, Session } from "../api/types";

const FIRST = 100;
export const MOST = 1000;
const REFRESH_MS = 250;

interface Loaded {
  comparison: Comparison | null;
  /** By id: whether they are of one tree, and what they are answering just now. */
  sessions: ReadonlyMap<string, Session>;
  /** What is being answered, by session. */
  answering: ReadonlyMap<string, string>;
  error: string | null;
  retry: () => void;
  /** Reads more of each side; null when there is no more, or no more to be had. */
  more: (() => void) | null;
}

const told = (sessions: Iterable<Session>): Map<string, string> => {
  const texts = new Map<string, string>();
  for (const s of sessions) if (s.running) texts.set(s.id, s.running.text ?? "");
  return texts;
};

export function useComparison(sides: readonly string[]): Loaded {
  const [comparison, setComparison] = useState<Comparison | null>(null);
  const [sessions, setSessions] = useState<ReadonlyMap<string, Session>>(new Map());
  const [answering, setAnswering] = useState<ReadonlyMap<string, string>>(new Map());
  const [error, setError] = useState<string | null>(null);
  const [limit, setLimit] = useState(FIRST);
  const [turn, setTurn] = useState(0);
  const retry = useCallback(() => setTurn((t) => t + 1), []);
  const key = sides.join("\n");

  useEffect(() => {
    const abort = new AbortController();
    const read = async () => {
      const found = await compare(key.split("\n"), limit, abort.signal);
      const ids = [...new Set(found.sides.map((s) => s.session_id))];
      const all = await Promise.all(ids.map((id) => getSession(id, abort.signal)));
      if (abort.signal.aborted) return;
      setComparison(found);
      setSessions(new Map(all.map((s) => [s.id, s])));
      setAnswering(told(all));
      setError(null);
    };
    read().catch((e) => !abort.signal.aborted && setError(errorText(e)));
    return () => abort.abort();
  }, [key, limit, turn]);

  const ids = useMemo(() => new Set(comparison?.sides.map((s) => s.session_id)), [comparison]);
  useEffect(() => {
    if (ids.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = live().onEvent((event) => {
      if (event.type === "turn.delta" && ids.has(event.session_id))
        setAnswering((was) => {
          const before = was.get(event.session_id) ?? "";
          return new Map(was).set(event.session_id, before.slice(0, event.offset) + event.text);
        });
      else if (
        event.type === "reset" ||
        (ids.has(event.session_id) && /^(session\.|entry\.|turn\.(started|done))/.test(event.type))
      ) {
        clearTimeout(timer);
        timer = setTimeout(retry, REFRESH_MS);
      }
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [ids, retry]);

  const longer = comparison?.sides.some((s) => s.own > s.entries.length) ?? false;
  const more = longer && limit < MOST ? () => setLimit(MOST) : null;
  return { comparison, sessions, answering, error, retry, more };
}
