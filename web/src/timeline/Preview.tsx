// SPDX-License-Identifier: Apache-2.0
// What a node is about, beside it, while the pointer or the focus rests on it.
import { type CSSProperties, useEffect, useState } from "react";
import { errorText } from "../api/client";
import { listEntries } from "../api/ramet";
import type { Entry } from "../api/types";
import { ChatTag } from "../dialogs/ChatTag";
import { Ago, Spinner } from "../ui";
import { branchWords, nodeTitle, type TimelineNode } from "./graph";

const LAST = 2;
const PAUSE_MS = 150;
const CACHED = 200;
const cache = new Map<string, Entry[]>();

async function lastEntries(node: TimelineNode, signal: AbortSignal): Promise<Entry[]> {
  const key = `${node.id}\n${node.length}\n${node.session?.updated_at}`;
  const known = cache.get(key);
  if (known) return known;
  const branch = node.kind === "branch" ? node.branch!.branch_id : undefined;
  const { entries } = await listEntries(
    node.sessionId,
    { tail: true, limit: LAST, branch },
    signal,
  );
  if (cache.size >= CACHED) cache.delete(cache.keys().next().value!);
  cache.set(key, entries);
  return entries;
}

export function Preview({
  node,
  style,
  id,
}: {
  node: TimelineNode;
  id: string;
  style: CSSProperties;
}) {
  const [entries, setEntries] = useState<Entry[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { session } = node;
  useEffect(() => {
    setEntries(null);
    setError(null);
    if (!session) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      lastEntries(node, abort.signal)
        .then(setEntries)
        .catch((e) => !abort.signal.aborted && setError(errorText(e)));
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [node, session]);
  return (
    <div className="timeline-preview" role="tooltip" id={id} style={style}>
      <strong className="timeline-preview-title">{nodeTitle(node)}</strong>
      <div className="timeline-preview-facts muted">
        {node.kind === "branch" && <span>{branchWords(node)}</span>}
        {node.length !== null && (
          <span>{node.length === 1 ? "1 message" : `${node.length} messages`}</span>
        )}
        {session?.agent?.name && <span>{session.agent.name}</span>}
        {session && <Ago at={session.updated_at} />}
      </div>
      {session?.forked_from?.reason && <p>{session.forked_from.reason}</p>}
      {session && session.tags.length > 0 && (
        <div className="timeline-preview-facts">
          {session.tags.map((tag) => (
            <ChatTag key={tag} name={tag} />
          ))}
        </div>
      )}
      {session && !entries && !error && <Spinner />}
      {error && <p className="muted">{error}</p>}
      {entries?.map((entry) => (
        <p key={entry.id} className="timeline-preview-entry">
          <span className="muted">{entry.role} </span>
          {entry.text}
        </p>
      ))}
      {!session && <p className="muted">It was deleted; what was forked from it stays.</p>}
    </div>
  );
}
