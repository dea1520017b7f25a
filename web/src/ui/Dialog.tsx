// SPDX-License-Identifier: Apache-2.0
// A modal dialog: it traps the focus and returns it when closed; Esc and a click outside close it. The
// backdrop is our own, because that of Radix adds a style element, which the content security policy
// forbids.
import { Dialog as Radix } from "radix-ui";
import { useState, type CSSProperties, type FormEvent, type ReactNode } from "react";
import { cx } from "./cx";
import { IconButton } from "./Button";
import { IconClose } from "./icons";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The accessible name. */
  title: string;
  /** One line under the title, said with it. */
  said?: ReactNode;
  children?: ReactNode;
  /** The row of buttons. */
  foot?: ReactNode;
  width?: number;
  /** The body and foot become a form; Enter in a field submits it. */
  onSubmit?: () => void;
  /** Return false to keep it open on Esc or on a click outside. */
  mayClose?: () => boolean;
  /** It has closed, and the focus is about to go back; preventDefault() keeps it from going. */
  onClosed?: (event: Event) => void;
  /** Near the top, as the palette stands. */
  top?: boolean;
  /** No visible title and no close button. */
  bare?: boolean;
  className?: string;
}

/** Where the focus is, or what it came from when it is in a menu that is about to go. */
function focusedNow(): HTMLElement | null {
  let at = document.activeElement as HTMLElement | null;
  for (let menu = at?.closest('[role="menu"]'); menu; menu = at?.closest('[role="menu"]'))
    at = document.getElementById(menu.getAttribute("aria-labelledby") ?? "");
  return at;
}

/** What had the focus before it opened; the kit below knows only triggers, and our dialogs have none. */
function useOpener(open: boolean): HTMLElement | null {
  const [seen, setSeen] = useState<{ open: boolean; opener: HTMLElement | null }>({ open: false, opener: null });
  // While rendering: in an effect, the dialog's own field already has the focus.
  if (seen.open !== open) setSeen({ open, opener: open ? focusedNow() : seen.opener });
  return seen.opener;
}

export function Dialog(props: DialogProps) {
  const {
    open,
    onOpenChange,
    title,
    said,
    children,
    foot,
    width,
    onSubmit,
    mayClose,
    onClosed,
    top,
    bare,
    className,
  } = props;
  const opener = useOpener(open);
  const keep = (event: Event) => {
    if (mayClose && !mayClose()) event.preventDefault();
  };
  const inside = (
    <>
      {bare ? (
        children
      ) : (
        <div className="ui-dialog-body">
          {said && <Radix.Description className="ui-dialog-said">{said}</Radix.Description>}
          {children}
        </div>
      )}
      {foot && <div className="ui-dialog-foot">{foot}</div>}
    </>
  );
  const style = width ? ({ "--ui-dialog-width": `${width}px` } as CSSProperties) : undefined;
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <div className="ui-scrim" aria-hidden="true" />
        <Radix.Content
          className={cx("ui-dialog", top && "ui-dialog-top", className)}
          style={style}
          onEscapeKeyDown={keep}
          onCloseAutoFocus={(event) => {
            onClosed?.(event);
            if (!event.defaultPrevented) opener?.focus({ preventScroll: true });
            event.preventDefault();
          }}
          onInteractOutside={(event) => {
            // A toast may be pressed while a dialog is open; it may be gone by now.
            if ((event.target as Element | null)?.closest?.(".ui-toast")) event.preventDefault();
            else keep(event);
          }}
          {...(said && !bare ? {} : { "aria-describedby": undefined })}
        >
          {bare ? (
            <Radix.Title className="sr-only">{title}</Radix.Title>
          ) : (
            <div className="ui-dialog-head">
              <Radix.Title>{title}</Radix.Title>
              <Radix.Close asChild>
                <IconButton plain small label="Close" icon={<IconClose />} />
              </Radix.Close>
            </div>
          )}
          {onSubmit ? (
            <form
              className="ui-dialog-form"
              onSubmit={(event: FormEvent) => {
                event.preventDefault();
                event.stopPropagation();
                onSubmit();
              }}
            >
              {inside}
            </form>
          ) : (
            inside
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
