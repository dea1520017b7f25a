// SPDX-License-Identifier: Apache-2.0
// Signing in, with an API key or at the issuer that the server trusts.

import { useState } from "react";
import { errorText } from "../api/client";
import { type SignIn, signInWith } from "../state/me";
import { Button, Note, TextField } from "../ui";

function KeyForm({ onDone }: { onDone: () => void }) {
  const [token, setToken] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const submit = async () => {
    if (busy || token.trim() === "") return;
    setBusy(true);
    setError(null);
    try {
      await signInWith(token.trim());
      onDone();
    } catch (e) {
      setError(errorText(e));
      setBusy(false);
    }
  };
  return (
    <form
      className="dlg-stack"
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
    >
      <TextField
        label="API key"
        type="password"
        autoComplete="current-password"
        autoFocus
        spellCheck={false}
        value={token}
        error={error}
        hint={
          <>
            Made by <code>ramet token create</code>
          </>
        }
        onChange={(e) => setToken(e.target.value)}
      />
      <Button type="submit" variant="primary" busy={busy} disabled={token.trim() === ""}>
        Sign in
      </Button>
    </form>
  );
}

interface LoginProps {
  signIn: SignIn;
  why: string;
  onDone: () => void;
  /** not given: there is no other way */
  onCancel?: () => void;
}

export function Login({ signIn, why, onDone, onCancel }: LoginProps) {
  const next = encodeURIComponent(location.pathname + location.search);
  return (
    <main className="dlg-login">
      <h1>Ramet</h1>
      <p>{why}</p>
      {signIn.auth === "oidc" && signIn.login !== false && (
        <a className="ui-button ui-button-primary" href={`/login/start?next=${next}`}>
          Sign in
        </a>
      )}
      {signIn.auth === "oidc" && signIn.issuer && <p className="muted">At {signIn.issuer}</p>}
      {signIn.auth === "oidc" && signIn.login === false && (
        <Note tone="warn">
          Signing in with a browser is not set up here: <code>oidc-client-id</code> is not set.
        </Note>
      )}
      {signIn.auth === "tokens" && <KeyForm onDone={onDone} />}
      {signIn.auth === "local" && (
        <Note tone="warn">
          This server wants to be told who asks: its <code>default-user</code> is empty.
        </Note>
      )}
      {onCancel && <Button onClick={onCancel}>Not now</Button>}
    </main>
  );
}
