// SPDX-License-Identifier: Apache-2.0
// Shown before everything else: nothing is displayed or requested before the user is known. If a sign-in
// ends later, the page stays as it is and continues after the next one.

import { type ReactNode, useEffect } from "react";
import { onUnauthenticated } from "../api/client";
import { askSignIn, endWish, findMe, useMe } from "../state/me";
import { EmptyState, Button, Spinner } from "../ui";
import "./dialogs.css";
import { Login } from "./Login";

export function Gate({ children }: { children: ReactNode }) {
  const { me, signIn, error, ended, wish } = useMe();
  useEffect(() => {
    onUnauthenticated(() => void askSignIn());
    void findMe();
  }, []);
  if (me)
    return (
      <>
        {signIn && (
          <div className="dlg-login-over" role="dialog" aria-modal="true" aria-label="Sign in">
            <Login
              signIn={signIn}
              why={wish ? "Sign in to fork this chat." : "Your sign-in has ended. Drafts are kept."}
              onCancel={wish ? () => endWish(false) : undefined}
              onDone={() => {
                endWish(true);
                // Somebody else must not see what the one before had open.
                if (useMe.getState().me?.user !== me.user) location.reload();
              }}
            />
          </div>
        )}
        <div className="dlg-behind" inert={signIn !== null}>
          {children}
        </div>
      </>
    );
  if (signIn) return <Login signIn={signIn} why="Sign in to see your chats." onDone={() => undefined} />;
  if (ended)
    return (
      <main className="dlg-ended">
        <EmptyState title="This link has ended">
          <p>Whoever shared the chat can make another one.</p>
          <Button onClick={() => location.assign("/")}>Go to your chats</Button>
        </EmptyState>
      </main>
    );
  if (error)
    return (
      <EmptyState title="The server cannot be reached">
        <p>{error}</p>
        <Button onClick={() => void findMe()}>Try again</Button>
      </EmptyState>
    );
  return (
    <div className="dlg-wait">
      <Spinner label="Loading" />
    </div>
  );
}
