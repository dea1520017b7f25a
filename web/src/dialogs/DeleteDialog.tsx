// SPDX-License-Identifier: Apache-2.0
// Asks before a chat is deleted and lists what is removed and what stays, according to the server's dry
// run. Afterwards a toast offers Undo.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { errorText } from "../api/client";
import type { Deleted } from "../api/types";
import { needSession, previewDelete } from "../state/sessions";
import { Button, Checkbox, Dialog, IconDelete, Note, Spinner } from "../ui";
import { closeDialog, giveFocusBack } from "./dialogs";
import { deleteWithUndo, titleOf } from "./deleting";

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
  const loaded = useQuery({
    queryKey: ["delete preview", sessionId],
    queryFn: async () => {
      const session = await needSession(sessionId);
      const [alone, all] = await Promise.all([
        previewDelete(sessionId, false),
        previewDelete(sessionId, true),
      ]);
      return { session, alone, all };
    },
  });
  const remove = useMutation({
    mutationFn: () => deleteWithUndo(sessionId, withForks),
    onSuccess: closeDialog,
  });
  const run = () => {
    if (loaded.data && !remove.isPending) remove.mutate();
  };

  const forks = loaded.data ? loaded.data.all.sessions.length - 1 : 0;
  const gone = withForks ? loaded.data?.all : loaded.data?.alone;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Delete chat"
      width={420}
      onSubmit={run}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button
            type="submit"
            variant="danger"
            icon={<IconDelete />}
            busy={remove.isPending}
            disabled={!loaded.data}
            autoFocus
          >
            Delete
          </Button>
        </>
      }
    >
      {gone ? (
        <>
          <p>{goesWords(gone, loaded.data!.session.title || "New chat")}</p>
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
        <Note tone="error" action={{ label: "Try again", run: () => void loaded.refetch() }}>
          {errorText(loaded.error)}
        </Note>
      ) : (
        <Spinner label="Looking what would go" />
      )}
      {remove.error && <Note tone="error">{errorText(remove.error)}</Note>}
    </Dialog>
  );
}
