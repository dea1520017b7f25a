// SPDX-License-Identifier: Apache-2.0
// Cards of merges: where a copied message came from, and where a message went.
import { useQuery } from "@tanstack/react-query";
import { shareToken } from "../api/client";
import { listDestinations } from "../api/ramet";
import type { Entry } from "../api/types";
import { chatPath, follow } from "../app/router";
import { needSession, useSessions } from "../state/sessions";
import { IconMerge } from "../ui";
import { useRoom } from "./runtime";

/** A link to a chat, by its title as soon as that is known. */
function ChatLink({ id, entry }: { id: string; entry?: string }) {
  const listed = useSessions((s) => s.byId.get(id)?.title);
  const { data } = useQuery({
    queryKey: ["title", id],
    queryFn: () => needSession(id),
    enabled: listed === undefined,
    retry: false,
  });
  return (
    <a href={chatPath(id, { entry })} onClick={follow}>
      {listed || data?.title || "another chat"}
    </a>
  );
}

export function Origins({ entry }: { entry: Entry }) {
  if (!entry.origins?.length) return null;
  return (
    <div className="chat-origin" role="note" aria-label="Origin">
      <IconMerge size={13} />
      <span>
        Brought from{" "}
        {entry.origins.map((one, i) => (
          <span key={one.session_id + one.entry_id}>
            {i > 0 && ", "}
            <ChatLink id={one.session_id} entry={one.entry_id} />
          </span>
        ))}
      </span>
    </div>
  );
}

/** Where the message that the address names, or else the last one, was brought. Others are not asked about: it would
 * be a request for each message of a chat. */
export function Destinations() {
  const room = useRoom();
  const head = room.store((s) => (s.viewing === null ? s.thread.head : null));
  const target = room.store((s) => s.target);
  const entry = target ?? head?.entry_id ?? null;
  const { data } = useQuery({
    queryKey: ["destinations", room.id, entry],
    queryFn: () => listDestinations(room.id, entry!),
    enabled: head !== null && entry !== null && !shareToken(),
    staleTime: 0,
    retry: false,
  });
  const gone = data?.destinations ?? [];
  if (gone.length === 0) return null;
  return (
    <div className="chat-origin chat-merged" role="note" aria-label="Destination">
      <IconMerge size={13} />
      <span>
        Brought into{" "}
        {gone.map((one, i) => (
          <span key={one.session_id + one.entry_id}>
            {i > 0 && ", "}
            <ChatLink id={one.session_id} entry={one.entry_id} />
          </span>
        ))}
      </span>
    </div>
  );
}
