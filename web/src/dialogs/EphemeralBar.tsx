// SPDX-License-Identifier: Apache-2.0
// The bar above a side question: its expiry, Keep and Close. Esc closes one without messages; one with
// messages is closed only by its button.

import { useEffect, useState } from "react";
import type { Session } from "../api/types";
import { getDraft } from "../state/drafts";
import { hasOwnEntries, keepSession } from "../state/sessions";
import { Button, IconEphemeral, toast, toastError } from "../ui";
import "./dialogs.css";
import { deleteWithUndo } from "./deleting";

const HOUR = 3_600_000;

/** "23 hours", "40 minutes": how long it still has. */
export function timeLeft(expiresAt: string, now: number): string {
  const ms = Math.max(0, Date.parse(expiresAt) - now);
  const minutes = Math.ceil(ms / 60_000);
  if (minutes <= 90) return minutes === 1 ? "1 minute" : `${minutes} minutes`;
  if (ms <= 48 * HOUR) return `${Math.round(ms / HOUR)} hours`;
  return `${Math.round(ms / (24 * HOUR))} days`;
}

/** The time, to the minute, while it is shown. */
function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const isBusyElsewhere = () =>
  document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]') !== null;

export function EphemeralBar({ session }: { session: Session }) {
  const [busy, setBusy] = useState<"keep" | "close" | null>(null);
  const now = useMinute();
  const { id } = session;

  const run = async (what: "keep" | "close", go: () => Promise<unknown>) => {
    if (busy) return;
    setBusy(what);
    try {
      await go();
    } catch (e) {
      toastError(e, { label: "Try again", run: () => run(what, go) });
    } finally {
      setBusy(null);
    }
  };
  const close = () => run("close", () => deleteWithUndo(id, false, "Closed the side question"));
  const keep = () =>
    run("keep", async () => {
      await keepSession(id);
      toast("Kept: it is a chat like any other now");
    });

  useEffect(() => {
    const onKey = async (e: KeyboardEvent) => {
      if (e.key !== "Escape" || e.defaultPrevented || e.isComposing || isBusyElsewhere()) return;
      if (session.running || getDraft(id).trim() !== "") return;
      try {
        if (!(await hasOwnEntries(id))) await close();
      } catch {
        // Not known whether something was said: it stays.
      }
    };
    const listen = (e: KeyboardEvent) => void onKey(e);
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  });

  if (!session.expires_at) return null;
  return (
    <div className="dlg-ephemeral" role="region" aria-label="Side question">
      <IconEphemeral />
      <span className="dlg-fill">
        Side question. It goes in {timeLeft(session.expires_at, now)} unless you keep it.
      </span>
      <Button small busy={busy === "keep"} disabled={busy !== null} onClick={() => void keep()}>
        Keep
      </Button>
      <Button small busy={busy === "close"} disabled={busy !== null} onClick={() => void close()}>
        Close
      </Button>
    </div>
  );
}
