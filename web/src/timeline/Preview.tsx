// SPDX-License-Identifier: Apache-2.0
// A preview of a node, shown while the pointer or the focus rests on it.
import { useQuery } from "@tanstack/react-query";
import type { CSSProperties } from "react";
import { errorText } from "../api/client";
import { listEntries } from "../api/ramet";
import type { Entry } from "../api/types";
import { ChatTag } from "../dialogs/ChatTag";
import { Ago, Spinner } from "../ui";
import { useDebounced } from "../ui/useDebounced";
import { branchWords, nodeTitle, type TimelineNode } from "./graph";

const LAST = 2;
const PAUSE_MS = 150;
const CACHED_MS = 300_000;

async function lastEntries(node: TimelineNode, signal: AbortSignal): Promise<Entry[]> {
  const branch = node.kind === "branch" ? node.branch!.branch_id : undefined;
  const { entries } = await listEntries(
    node.sessionId,
    { tail: true, limit: LAST, branch },
    signal,
  );
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
  const { session } = node;
  const rested = useDebounced<TimelineNode | null>(node, PAUSE_MS, null) === node;
  const { data: entries, error } = useQuery({
    queryKey: ["last entries", node.id, node.length, session?.updated_at],
    queryFn: ({ signal }) => lastEntries(node, signal),
    enabled: rested && session !== null,
    staleTime: Infinity,
    gcTime: CACHED_MS,
  });
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
      {error && <p className="muted">{errorText(error)}</p>}
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
