// SPDX-License-Identifier: Apache-2.0
// Deleted chats that can still be restored, by when they were deleted. In the list and the tree alike: a
// deleted chat has no forks here.

import { type KeyboardEvent, useMemo } from "react";
import type { Session } from "../api/types";
import { chatPath, navigate } from "../app/router";
import { deletedRows, type ListRow } from "../state/forest";
import { restoreSession, useSessions } from "../state/sessions";
import { Button, IconEphemeral, IconFork, IconUndo, toast, toastError } from "../ui";
import { Places, rowClass, rowHeight, RowTitle, TagDots, useSideRows, walkKey } from "./rows";
import { titleOf } from "./SessionMenu";

const HEADING = 28;
const heightOf = (row: ListRow) => (row.kind === "heading" ? HEADING : rowHeight());
const takesFocus = (row: ListRow) => row.kind === "session";

export function DeletedList({ onNavigate }: { onNavigate: () => void }) {
  const deleted = useSessions((s) => s.deleted);
  const filter = useSessions((s) => s.filter);
  const rows = useMemo(() => deletedRows(deleted.values(), filter, new Date()), [deleted, filter]);
  const { scroller, size, items, keys, walk } = useSideRows({ rows, heightOf, takesFocus, currentId: "" });

  const restore = async (s: Session) => {
    const at = keys.indexOf(s.id);
    try {
      await restoreSession(s.id, false);
      // The focus stays in the list: its row is gone.
      walk.focusRow(at + 1 < keys.length ? at + 1 : at - 1);
      toast({
        text: `Restored “${titleOf(s)}”`,
        action: {
          label: "Open",
          run: () => {
            navigate(chatPath(s.id));
            onNavigate();
          },
        },
      });
    } catch (e) {
      toastError(e);
    }
  };

  const row = (r: ListRow) => {
    if (r.kind === "heading") return <h2 className="side-heading">{r.text}</h2>;
    const s = r.session;
    const when = `Deleted ${new Date(s.deleted_at ?? s.updated_at).toLocaleString()}`;
    return (
      <div className={rowClass(s, false, "side-deleted")} data-row={s.id} title={when}>
        <span className="side-link">
          {s.expires_at ? <IconEphemeral size={14} /> : s.forked_from ? <IconFork size={14} /> : null}
          <RowTitle session={s} />
        </span>
        <TagDots tags={s.tags} />
        <Button
          small
          variant="ghost"
          data-focus
          aria-label={`Restore ${titleOf(s)}`}
          aria-description={when}
          icon={<IconUndo size={14} />}
          tabIndex={walk.active === s.id ? 0 : -1}
          onFocus={() => walk.setActive(s.id)}
          onKeyDown={(e: KeyboardEvent) => void walkKey(e, keys.indexOf(s.id), keys.length, walk.focusRow)}
          onClick={() => void restore(s)}
        >
          Restore
        </Button>
      </div>
    );
  };

  return (
    <>
      <div className="side-scroll" ref={scroller} role="region" aria-label="Deleted chats">
        <div className="side-window" style={{ height: size }}>
          <Places rows={rows} items={items} draw={row} />
        </div>
      </div>
      <p className="side-hint muted">They can be restored until the server removes them for good.</p>
    </>
  );
}
