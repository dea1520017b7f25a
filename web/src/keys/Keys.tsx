// SPDX-License-Identifier: Apache-2.0
// Mounted once in the app: handles key events, and opens the palette and the sheet, which are loaded on
// first use.
import { lazy, Suspense, useEffect, useState } from "react";
import { useCommands } from "../app/commands";
import { navigate, route, timelinePath } from "../app/router";
import { openCompare } from "../compare/open";
import { setTheme } from "../state/settings";
import { listenKeys } from "./keys";

const Palette = lazy(() => import("./Palette"));
const Sheet = lazy(() => import("./Sheet"));

const inChat = () => route().id !== "";

export function Keys() {
  const [open, setOpen] = useState<"palette" | "sheet" | null>(null);
  const [seen, setSeen] = useState({ palette: false, sheet: false });
  const show = (what: "palette" | "sheet") => {
    setSeen((s) => ({ ...s, [what]: true }));
    setOpen((now) => (now === what ? null : what));
  };
  useEffect(() => listenKeys(), []);
  useCommands({
    "view.palette": () => show("palette"),
    "view.keys": () => show("sheet"),
    "view.timeline": { run: () => navigate(timelinePath(route().id)), when: inChat },
    "view.compare": () => openCompare(inChat() ? [route().id] : []),
    "view.light": () => setTheme("light"),
    "view.dark": () => setTheme("dark"),
    "view.system": () => setTheme("system"),
  });
  const change = (what: "palette" | "sheet") => (on: boolean) => setOpen(on ? what : null);
  return (
    <Suspense>
      {seen.palette && <Palette open={open === "palette"} onOpenChange={change("palette")} />}
      {seen.sheet && <Sheet open={open === "sheet"} onOpenChange={change("sheet")} />}
    </Suspense>
  );
}
