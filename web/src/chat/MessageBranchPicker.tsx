// SPDX-License-Identifier: Apache-2.0
// ‹ 2/3 › on a message with versions, and the list of them with previews. For users who may write, choosing
// a version moves the head; for others it only shows the version.
import { useQuery } from "@tanstack/react-query";
import { errorText } from "../api/client";
import { keysOf } from "../app/commands";
import { comparePath, navigate } from "../app/router";
import type { Entry } from "../api/types";
import {
  Ago,
  Button,
  cx,
  IconButton,
  IconChevronLeft,
  IconChevronRight,
  IconCompare,
  Note,
  Popover,
  Spinner,
} from "../ui";
import { attempt } from "./actions";
import { useRoom } from "./runtime";
import { stepThrough, useChatUi } from "./ui";

const kinds: Record<string, string> = { "auto-edit": "edited", "auto-regenerate": "regenerated" };

const COMPARED_MAX = 4;

function VersionList({ entry }: { entry: Entry }) {
  const room = useRoom();
  const { data: list, error } = useQuery({
    queryKey: ["versions", room.id, entry.id],
    queryFn: () => room.head.versions(entry),
  });
  const close = () => useChatUi.setState({ listing: null });
  if (error) return <Note tone="error">{errorText(error)}</Note>;
  if (!list) return <Spinner label="Loading" />;
  const compare = () => {
    close();
    const near = list.slice(-COMPARED_MAX).map((one) => `${room.id}@${one.branch_id}`);
    navigate(comparePath(near));
  };
  return (
    <>
      <ol className="chat-versions" onKeyDown={stepThrough}>
        {list.map((one) => (
          <li key={one.branch_id}>
            <button
              type="button"
              className={cx("chat-version", one.current && "chat-version-current")}
              aria-current={one.entry_id === entry.id || undefined}
              autoFocus={one.entry_id === entry.id}
              onClick={() => {
                close();
                void attempt(() => room.head.choose(one));
              }}
            >
              <span className="chat-version-head">
                <b>{one.number}</b>
                <span>{kinds[one.type] ?? "first"}</span>
                <Ago at={one.created_at} />
              </span>
              <span className="chat-version-preview">{one.preview || "(no text)"}</span>
            </button>
          </li>
        ))}
      </ol>
      {list.length > 1 && (
        <Button small variant="ghost" icon={<IconCompare />} onClick={compare}>
          Compare versions
        </Button>
      )}
    </>
  );
}

export function MessageBranchPicker({ entry }: { entry: Entry }) {
  const room = useRoom();
  const busy = room.store((s) => s.busy.has("versions"));
  const listing = useChatUi((s) => s.listing === entry.id);
  const { number, count } = entry.versions ?? { number: 1, count: 1 };
  if (count < 2 && !listing) return null;
  const go = (by: 1 | -1) => void attempt(() => room.head.neighbour(entry, by));
  return (
    <div className="chat-picker" role="group" aria-label="Versions">
      <IconButton
        small
        plain
        label="Previous version"
        title={"Previous version " + (keysOf("message.previous") ?? "")}
        icon={<IconChevronLeft />}
        disabled={busy || number <= 1}
        onClick={() => go(-1)}
      />
      <Popover
        label="Versions of this message"
        className="chat-versions-box"
        open={listing}
        onOpenChange={(open) => useChatUi.setState({ listing: open ? entry.id : null })}
        trigger={
          <button type="button" className="chat-picker-count" aria-label={`Version ${number} of ${count}`}>
            {number}/{count}
          </button>
        }
      >
        <VersionList entry={entry} />
      </Popover>
      <IconButton
        small
        plain
        label="Next version"
        title={"Next version " + (keysOf("message.next") ?? "")}
        icon={<IconChevronRight />}
        disabled={busy || number >= count}
        onClick={() => go(1)}
      />
    </div>
  );
}
