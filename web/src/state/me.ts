// SPDX-License-Identifier: Apache-2.0
// The user of the page, and how the server identified that user.

import { create } from "zustand";
import { ApiError, errorText, isCode, shareToken } from "../api/client";
import { getMe } from "../api/ramet";
import type { Me } from "../api/types";

/** What `/login` returns to a program: how to sign in, and the signed-in user. */
export interface SignIn {
  auth: "local" | "tokens" | "oidc";
  user: string | null;
  issuer: string | null;
  /** false: an issuer is set, but no browser can sign in there */
  login?: boolean;
}

interface MeState {
  /** null: not known yet, or not signed in */
  me: Me | null;
  /** set while a sign-in is required */
  signIn: SignIn | null;
  error: string | null;
  /** the page was opened by a link that has ended */
  ended: boolean;
  /** what a visitor with a link wants to do, and needs a sign-in for */
  wish: (() => void) | null;
}

export const useMe = create<MeState>(() => ({ me: null, signIn: null, error: null, ended: false, wish: null }));

const UNKNOWN: SignIn = { auth: "tokens", user: null, issuer: null };

async function readSignIn(): Promise<SignIn | null> {
  const answer = await fetch("/login", { headers: { Accept: "application/json" } });
  const json = answer.headers.get("Content-Type")?.startsWith("application/json") ?? false;
  return answer.ok && json ? ((await answer.json()) as SignIn) : null;
}

/** Identifies the user, without a request that fails where a sign-in is required. */
export async function findMe(): Promise<void> {
  useMe.setState({ error: null });
  try {
    // A link opens its chat without an account.
    const signIn = shareToken() ? null : await readSignIn();
    if (signIn && signIn.auth !== "local" && signIn.user === null) {
      useMe.setState({ me: null, signIn });
      return;
    }
    useMe.setState({ me: await getMe(), signIn: null });
  } catch (e) {
    if (e instanceof ApiError && e.status === 401) await askSignIn();
    else if (isCode(e, "share_not_found")) useMe.setState({ ended: true });
    else useMe.setState({ error: e instanceof ApiError ? e.message : `The server cannot be reached: ${errorText(e)}` });
  }
}

/** The server no longer accepts the credential: a sign-in ended, or a key was revoked. */
export async function askSignIn(): Promise<void> {
  if (useMe.getState().signIn) return;
  const signIn = await readSignIn().catch(() => null);
  useMe.setState({ signIn: signIn ?? UNKNOWN });
}

/** Does what needs a user: at once, or on a page that a link opened after a sign-in, where there is one. */
export async function withUser(run: () => void): Promise<void> {
  const signIn = shareToken() ? await readSignIn().catch(() => null) : null;
  if (signIn && signIn.auth !== "local" && signIn.user === null) useMe.setState({ signIn, wish: run });
  else run();
}

/** Goes on with what the sign-in was for, or leaves it. */
export function endWish(signedIn: boolean): void {
  const { wish } = useMe.getState();
  useMe.setState({ wish: null, signIn: null });
  if (signedIn) wish?.();
}

/** Who said something: people who came by a link have no names. */
export const nameOf = (author: string): string => (author.startsWith("link:") ? "Guest" : author);

/** With an API key. Throws a line for people. */
export async function signInWith(token: string): Promise<void> {
  const answer = await fetch("/login", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ token }),
  });
  if (answer.status === 401) throw new Error("This key is not known here, or it has ended.");
  if (!answer.ok) {
    const body = (await answer.json().catch(() => ({}))) as { error?: string };
    throw new Error(body.error ?? `The server answered ${answer.status}.`);
  }
  await findMe();
}

export async function signOut(): Promise<void> {
  const answer = await fetch("/logout", { method: "POST", headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  // Nothing of what was seen stays in the page.
  location.assign("/");
}
