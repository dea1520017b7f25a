// SPDX-License-Identifier: Apache-2.0
// Tags: the colour comes from the name, so that it is the same everywhere without being stored.
import type { ReactNode } from "react";
import { cx } from "./cx";

const HUES = 8;

/** FNV-1a of the name: a hue from 0 to 7. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % HUES;
}

export function Tag({ name, hue, children }: { name: string; hue?: number; children?: ReactNode }) {
  return (
    <span className={cx("ui-tag", `ui-tag-hue-${(hue ?? hueOf(name)) % HUES}`)} title={name}>
      <span className="truncate">{name}</span>
      {children}
    </span>
  );
}
