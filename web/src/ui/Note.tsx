// SPDX-License-Identifier: Apache-2.0
// A message of a view about itself: it is empty (with a suggestion), or failed (with a retry).
import type { ReactNode } from "react";
import { Button } from "./Button";
import { cx } from "./cx";

export function EmptyState({
  icon,
  title,
  children,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="ui-empty">
      {icon}
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface NoteProps {
  tone?: "plain" | "warn" | "error";
  children: ReactNode;
  /** "Try again" and the like. */
  action?: { label: string; run: () => void; busy?: boolean };
}

export function Note({ tone = "plain", children, action }: NoteProps) {
  return (
    <div
      className={cx("ui-note", tone !== "plain" && `ui-note-${tone}`)}
      role={tone === "error" ? "alert" : undefined}
    >
      <div>{children}</div>
      {action && (
        <Button small busy={action.busy} onClick={action.run}>
          {action.label}
        </Button>
      )}
    </div>
  );
}
