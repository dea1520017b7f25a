// SPDX-License-Identifier: Apache-2.0
// Buttons. A busy one keeps its width and cannot be pressed again.
import type { ComponentProps, ReactNode } from "react";
import { cx } from "./cx";
import { Spinner } from "./Spinner";
import { Tooltip } from "./Tooltip";

interface ButtonProps extends ComponentProps<"button"> {
  variant?: "plain" | "primary" | "danger" | "ghost";
  small?: boolean;
  /** Under way: shows a spinner, and a second press does nothing. */
  busy?: boolean;
  icon?: ReactNode;
}

export function Button({
  variant = "plain",
  small,
  busy,
  icon,
  className,
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={cx(
        "ui-button",
        variant !== "plain" && `ui-button-${variant}`,
        small && "ui-button-small",
        className,
      )}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <Spinner /> : icon}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<"button">, "children"> {
  /** The accessible name, and the text of the tooltip. */
  label: string;
  icon: ReactNode;
  /** Shown in the tooltip, as in the table of bindings ("mod+k"). */
  keys?: string;
  small?: boolean;
  busy?: boolean;
  /** No tooltip, for a button whose meaning is clear from its context. */
  plain?: boolean;
}

export function IconButton({
  label,
  icon,
  keys,
  small,
  busy,
  plain,
  className,
  disabled,
  ...rest
}: IconButtonProps) {
  const button = (
    <button
      type="button"
      aria-label={label}
      {...rest}
      className={cx("ui-icon-button", small && "ui-icon-button-small", className)}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
    >
      {busy ? <Spinner /> : icon}
    </button>
  );
  return plain ? (
    button
  ) : (
    <Tooltip text={label} keys={keys}>
      {button}
    </Tooltip>
  );
}
