// SPDX-License-Identifier: Apache-2.0
// The dialog "Rename chat". With an empty title, the chat is named by its first message again.

import { useState } from "react";
import { errorText } from "../api/client";
import { renameSession, useSessions } from "../state/sessions";
import { Button, Dialog, TextField } from "../ui";
import { closeDialog, giveFocusBack } from "./dialogs";

export function RenameDialog({ sessionId }: { sessionId: string }) {
  const [title, setTitle] = useState(useSessions.getState().byId.get(sessionId)?.title ?? "");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const save = async () => {
    if (busy) return;
    setBusy(true);
    try {
      await renameSession(sessionId, title);
      closeDialog();
    } catch (e) {
      setBusy(false);
      setError(errorText(e));
    }
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => open || closeDialog()}
      onClosed={giveFocusBack}
      title="Rename chat"
      width={420}
      onSubmit={() => void save()}
      foot={
        <>
          <Button onClick={closeDialog}>Cancel</Button>
          <Button type="submit" variant="primary" busy={busy}>
            Save
          </Button>
        </>
      }
    >
      <TextField
        label="Title"
        autoFocus
        maxLength={500}
        value={title}
        error={error}
        placeholder="The first line of the first message"
        onFocus={(e) => e.target.select()}
        onChange={(e) => setTitle(e.target.value)}
      />
    </Dialog>
  );
}
