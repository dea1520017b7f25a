// SPDX-License-Identifier: Apache-2.0
// A small box next to the element that opened it.
import { Popover as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx";

interface PopoverProps {
  /** The accessible name of the box. */
  label: string;
  trigger?: ReactElement;
  /** Beside this element when there is no trigger (a row, a point of a drawing). */
  anchor?: ReactElement;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  side?: "top" | "right" | "bottom" | "left";
  align?: "start" | "center" | "end";
  className?: string;
  children: ReactNode;
}

export function Popover({
  label,
  trigger,
  anchor,
  open,
  onOpenChange,
  side,
  align = "start",
  className,
  children,
}: PopoverProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      {trigger && <Radix.Trigger asChild>{trigger}</Radix.Trigger>}
      {anchor && <Radix.Anchor asChild>{anchor}</Radix.Anchor>}
      <Radix.Portal>
        <Radix.Content
          className={cx("ui-popover", className)}
          aria-label={label}
          side={side}
          align={align}
          sideOffset={4}
          collisionPadding={8}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
