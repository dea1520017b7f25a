// SPDX-License-Identifier: Apache-2.0
// Shown before everything else: nothing is displayed or requested before the user is known. If a sign-in
// ends later, the page stays as it is and continues after the next one.

import { type ReactNode, useEffect } from "react";
import { onUnauthenticated } from "../api/client";
import { askSignIn, findMe, useMe } from "../state/me";
import { EmptyState, Button, Spinner } from "../ui";
import "./dialogs.css";
import { Login } from "./Login";

export function Gate({ children }: { children: ReactNode }) {
  const { me, signIn, error } = useMe();
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
              again
              onDone={() => {
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
  if (signIn) return <Login signIn={signIn} again={false} onDone={() => undefined} />;
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
