// SPDX-License-Identifier: Apache-2.0
// Deletes a chat, with Undo.

import { chatPath, navigate, route } from "../app/router";
import { deleteSession, restoreSession, useSessions } from "../state/sessions";
import { toast } from "../ui";

export const titleOf = (id: string) => {
  const s = useSessions.getState().byId.get(id);
  return s ? s.title || "New chat" : "A chat that is not loaded";
};

/** Deletes, leaves the chat if it is open, and offers the way back. */
export async function deleteWithUndo(id: string, tree: boolean, said?: string): Promise<void> {
  const { byId, places } = useSessions.getState();
  const title = titleOf(id);
  const parent = byId.get(id)?.forked_from?.session_id;
  const here = route();
  const gone = await deleteSession(id, tree);
  const wasOpen = here.view === "chat" && gone.sessions.includes(here.id);
  if (wasOpen) navigate(parent && !places.has(parent) ? chatPath(parent) : "/");
  const count = gone.sessions.length;
  toast({
    text: said ?? (count === 1 ? `Deleted “${title}”` : `Deleted ${count} chats`),
    action: {
      label: "Undo",
      run: async () => {
        await restoreSession(id, tree);
        if (wasOpen) navigate(chatPath(here.id));
      },
    },
  });
}
