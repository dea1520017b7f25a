// SPDX-License-Identifier: Apache-2.0
// Menus from data: the same entries serve the three dots (Menu) and the right click (ContextMenu).
import { ContextMenu as RadixContext, DropdownMenu as RadixMenu } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx";
import { IconCheck, IconChevronRight } from "./icons";
import { Kbd } from "./Kbd";
import { Spinner } from "./Spinner";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  /** Shown at the right, as in the table of bindings. */
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  busy?: boolean;
  /** A check mark; the entry is then a checkbox. */
  checked?: boolean;
  onSelect?: () => void;
  /** A menu of its own. */
  items?: MenuEntry[];
}

export type MenuEntry = MenuItem | "line" | { said: string };

interface MenuProps {
  items: MenuEntry[] | (() => MenuEntry[]);
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  /** Where the focus goes when it closes; the trigger when not given. */
  onCloseAutoFocus?: (event: Event) => void;
}

type Kit = typeof RadixMenu | typeof RadixContext;

function Entry({ kit, item }: { kit: Kit; item: MenuItem }) {
  const Radix = kit as typeof RadixMenu;
  const className = cx("ui-menu-item", item.danger && "ui-menu-item-danger");
  const disabled = item.disabled || item.busy;
  const face = (
    <>
      {item.busy ? <Spinner /> : item.icon}
      <span className="truncate">{item.label}</span>
      {item.keys && (
        <span aria-hidden="true">
          <Kbd keys={item.keys} />
        </span>
      )}
    </>
  );
  if (item.items)
    return (
      <Radix.Sub>
        <Radix.SubTrigger className={className} disabled={disabled}>
          {face}
          <IconChevronRight />
        </Radix.SubTrigger>
        <Radix.Portal>
          <Radix.SubContent className="ui-menu" collisionPadding={8}>
            <Entries kit={kit} items={item.items} />
          </Radix.SubContent>
        </Radix.Portal>
      </Radix.Sub>
    );
  if (item.checked !== undefined)
    return (
      <Radix.CheckboxItem
        className={className}
        checked={item.checked}
        disabled={disabled}
        onSelect={item.onSelect}
      >
        {face}
        <Radix.ItemIndicator>
          <IconCheck />
        </Radix.ItemIndicator>
      </Radix.CheckboxItem>
    );
  return (
    <Radix.Item className={className} disabled={disabled} onSelect={item.onSelect}>
      {face}
    </Radix.Item>
  );
}

function Entries({ kit, items }: { kit: Kit; items: MenuEntry[] }) {
  const Radix = kit as typeof RadixMenu;
  return items.map((item, i) => {
    if (item === "line") return <Radix.Separator key={i} className="ui-menu-line" />;
    if ("said" in item)
      return (
        <Radix.Label key={i} className="ui-menu-said">
          {item.said}
        </Radix.Label>
      );
    return <Entry key={item.label} kit={kit} item={item} />;
  });
}

/** The entries are asked for when the menu opens, so a long list of rows costs nothing. */
function Listed({ kit, items }: { kit: Kit; items: MenuProps["items"] }) {
  return <Entries kit={kit} items={typeof items === "function" ? items() : items} />;
}

/** trigger: one button (IconButton, Button). */
export function Menu({
  trigger,
  items,
  open,
  onOpenChange,
  onCloseAutoFocus,
  align = "end",
}: MenuProps & { trigger: ReactElement; align?: "start" | "center" | "end" }) {
  return (
    <RadixMenu.Root modal={false} open={open} onOpenChange={onOpenChange}>
      <RadixMenu.Trigger asChild>{trigger}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content
          className="ui-menu"
          align={align}
          sideOffset={4}
          collisionPadding={8}
          onCloseAutoFocus={onCloseAutoFocus}
        >
          <Listed kit={RadixMenu} items={items} />
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

/** children: the one element that is right-clicked (or long-pressed). */
export function ContextMenu({
  children,
  items,
  onOpenChange,
  onCloseAutoFocus,
  disabled,
}: Omit<MenuProps, "open"> & { children: ReactElement; disabled?: boolean }) {
  return (
    <RadixContext.Root modal={false} onOpenChange={onOpenChange}>
      <RadixContext.Trigger asChild disabled={disabled}>
        {children}
      </RadixContext.Trigger>
      <RadixContext.Portal>
        <RadixContext.Content
          className="ui-menu"
          collisionPadding={8}
          onCloseAutoFocus={onCloseAutoFocus}
        >
          <Listed kit={RadixContext} items={items} />
        </RadixContext.Content>
      </RadixContext.Portal>
    </RadixContext.Root>
  );
}
