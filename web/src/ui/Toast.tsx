// SPDX-License-Identifier: Apache-2.0
// Short messages at the lower edge, with at most one action ("Undo", "Try again"). Errors stay until they
// are closed; others disappear by themselves, but not while they have the pointer or the focus.
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Button, IconButton } from "./Button";
import { cx } from "./cx";
import { IconClose } from "./icons";

export interface ToastIn {
  text: string;
  tone?: "plain" | "error";
  action?: { label: string; run: () => void | Promise<unknown> };
  /** How long it stays; Infinity: until it is closed. */
  ms?: number;
  /** A newer toast with the same key takes the place of the older one. */
  key?: string;
}

interface Toast extends ToastIn {
  id: number;
}

const SHOWN = 4;
let last = 0;

const useToasts = create<{ toasts: Toast[] }>(() => ({ toasts: [] }));

export function toast(said: ToastIn | string): number {
  const one: Toast = { ...(typeof said === "string" ? { text: said } : said), id: ++last };
  useToasts.setState(({ toasts }) => ({
    toasts: [...toasts.filter((t) => !one.key || t.key !== one.key), one].slice(-SHOWN),
  }));
  return one.id;
}

export function toastError(error: unknown, action?: ToastIn["action"]): number {
  const text = error instanceof Error ? error.message : String(error);
  return toast({ text, tone: "error", action, key: text });
}

export function toastClose(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((t) => t.id !== id) }));
}

function ToastBox({ one }: { one: Toast }) {
  const [held, setHeld] = useState(false);
  const [busy, setBusy] = useState(false);
  const ms = one.ms ?? (one.tone === "error" ? Infinity : one.action ? 10_000 : 5_000);
  useEffect(() => {
    if (held || busy || ms === Infinity) return;
    const timer = setTimeout(() => toastClose(one.id), ms);
    return () => clearTimeout(timer);
  }, [held, busy, ms, one.id]);
  const run = async () => {
    setBusy(true);
    try {
      await one.action!.run();
      toastClose(one.id);
    } catch (error) {
      toastClose(one.id);
      toastError(error, one.action);
    }
  };
  return (
    <div
      className={cx("ui-toast", one.tone === "error" && "ui-toast-error")}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="ui-toast-text">{one.text}</span>
      {one.action && (
        <Button small busy={busy} onClick={() => void run()}>
          {one.action.label}
        </Button>
      )}
      <IconButton plain label="Dismiss" icon={<IconClose />} onClick={() => toastClose(one.id)} />
    </div>
  );
}

/** Stands once in the app. */
export function Toaster() {
  const toasts = useToasts((s) => s.toasts);
  return (
    <div className="ui-toasts" role="region" aria-label="Notifications" aria-live="polite">
      {toasts.map((one) => (
        <ToastBox key={one.id} one={one} />
      ))}
    </div>
  );
}
