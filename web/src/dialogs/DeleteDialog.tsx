// SPDX-License-Identifier: Apache-2.0
//
// The question before a chat is deleted: it says what goes and what stays, as the server's dry run
// tells. Afterwards a toast offers Undo.

import { useState } from "react";
import { errorText } from "../api/client";
import type { Deleted } from "../api/types";
import { needSession, previewDelete } from "../state/sessions";
import { Button, Checkbox, Dialog, IconDelete, Note, Spinner } from "../ui";
import { closeDialog, giveFocusBack } from "./dialogs";
import { deleteWithUndo, titleOf } from "./deleting";
import { useLoaded } from "./useLoaded";

const NAMED = 5;

const counted = (n: number, one: string, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** What goes, in a sentence. */
export function goesWords(gone: Deleted, title: string): string {
  const what = gone.sessions.length === 1 ? `“${title}” goes` : `${gone.sessions.length} chats go`;
  if (gone.entries === 0) return `${what}. No message is lost with ${gone.sessions.length === 1 ? "it" : "them"}.`;
  return `${what}, with ${counted(gone.entries, "message")} that no other chat holds.`;
}

export function DeleteDialog({ sessionId }: { sessionId: string }) {
  const [withForks, setWithForks] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const loaded = useLoaded(sessionId, async () => {
    const session = await needSession(sessionId);
    const [alone, all] = await Promise.all([
      previewDelete(sessionId, false),
      previewDelete(sessionId, true),
    ]);
    return { session, alone, all };
  });

  const run = async () => {
    if (busy || !loaded.value) return;
    setBusy(true);
    setError(null);
    try {
      await deleteWithUndo(sessionId, withForks);
      closeDialog();
    } catch (e) {
      setBusy(false);
      setError(errorText(e));
    }
  };

  const forks = loaded.value ? loaded.value.all.sessions.length - 1 : 0;
  const gone = withForks ? loaded.value?.all : loaded.value?.alone;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Delete chat"
      width={420}
      onSubmit={() => void run()}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button
            type="submit"
            variant="danger"
            icon={<IconDelete />}
            busy={busy}
            disabled={!loaded.value}
            autoFocus
          >
            Delete
          </Button>
        </>
      }
    >
      {gone ? (
        <>
          <p>{goesWords(gone, loaded.value!.session.title || "New chat")}</p>
          {withForks && (
            <ul className="dlg-gone">
              {gone.sessions.slice(0, NAMED).map((id) => (
                <li key={id} className="truncate">
                  {titleOf(id)}
                </li>
              ))}
              {gone.sessions.length > NAMED && <li>and {gone.sessions.length - NAMED} more</li>}
            </ul>
          )}
          {forks > 0 && (
            <Checkbox
              label={forks === 1 ? "Delete its fork too" : `Delete its ${forks} forks too`}
              hint={withForks ? undefined : "Else they stay, with the history that they share."}
              checked={withForks}
              onChange={(e) => setWithForks(e.target.checked)}
            />
          )}
          <p className="muted">It can be brought back with Undo.</p>
        </>
      ) : loaded.error ? (
        <Note tone="error" action={{ label: "Try again", run: loaded.again }}>
          {loaded.error}
        </Note>
      ) : (
        <Spinner label="Looking what would go" />
      )}
      {error && <Note tone="error">{error}</Note>}
    </Dialog>
  );
}
