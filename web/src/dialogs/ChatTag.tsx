// SPDX-License-Identifier: Apache-2.0
import type { ReactNode } from "react";
import { useTagHue } from "../state/tags";
import { Tag } from "../ui";

/** A tag in the colour that the user chose for it. */
export function ChatTag({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <Tag name={name} hue={useTagHue(name)}>
      {children}
    </Tag>
  );
}
