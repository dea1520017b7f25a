// SPDX-License-Identifier: Apache-2.0
// The frame: the sidebar (a drawer on a phone), the view selected by the address, and the overlays above
// both. Views that a first visit does not need are loaded on demand.
import { QueryClientProvider } from "@tanstack/react-query";
import { lazy, Suspense, useCallback, useEffect, useState } from "react";
import { shareToken } from "./api/client";
import { live } from "./api/events";
import { useCommands } from "./app/commands";
import { newChat } from "./app/newchat";
import { useRoute, type Route } from "./app/router";
import { Chat } from "./chat/Chat";
import { Home } from "./chat/Home";
import { useCompare } from "./compare/open";
import { Dialogs } from "./dialogs/Dialogs";
import { Gate } from "./dialogs/Gate";
import { Keys } from "./keys/Keys";
import { Sidebar } from "./sidebar/Sidebar";
import { EmptyState, IconButton, IconSidebar, Spinner, Toaster, TooltipProvider, cx } from "./ui";
import "./app/frame.css";
import { queryClient } from "./state/query";

const Timeline = lazy(() => import("./timeline/Timeline"));
const CompareDialog = lazy(() =>
  import("./compare/CompareDialog").then((m) => ({ default: m.CompareDialog })),
);
const SessionComparisonView = lazy(() => import("./compare/SessionComparisonView"));

const phone = matchMedia("(max-width: 760px)");
const narrow = () => phone.matches;

const KEY = "ramet.sidebar";
const remembered = () => {
  try {
    return localStorage.getItem(KEY) !== "closed";
  } catch {
    return true;
  }
};

function View({ route }: { route: Route }) {
  if (route.view === "home") return <Home />;
  if (route.view === "chat") return <Chat key={route.id} id={route.id} />;
  if (route.view === "timeline") return <Timeline sessionId={route.id} />;
  if (route.view === "compare") return <SessionComparisonView sides={route.query.getAll("side")} />;
  return (
    <EmptyState title="Nothing here">
      <p>There is no such page. The chats are in the sidebar.</p>
    </EmptyState>
  );
}

function Frame() {
  const route = useRoute();
  // A visitor with a share link sees only that chat.
  const shared = shareToken() !== null;
  const [open, setOpen] = useState(() => !shared && !narrow() && remembered());

  // Created before anything below uses it: a visitor with a link gets the events of that chat only.
  const [hub] = useState(() => live(route.id));
  useEffect(() => hub.start(), [hub]);
  useEffect(() => {
    const fit = () => setOpen(!shared && !narrow() && remembered());
    phone.addEventListener("change", fit);
    return () => phone.removeEventListener("change", fit);
  }, [shared]);
  const toggle = useCallback(() => {
    setOpen((was) => {
      if (!narrow()) {
        try {
          localStorage.setItem(KEY, was ? "closed" : "open");
        } catch {
          // not kept
        }
      }
      return !was;
    });
  }, []);
  const close = useCallback(() => {
    if (narrow()) setOpen(false);
  }, []);
  useCommands({ "view.sidebar": toggle, "chat.new": newChat });

  return (
    <div className={cx("frame", open && "frame-open")}>
      {!shared && (
        <aside className="frame-side" aria-label="Chats" inert={!open}>
          <Sidebar currentId={route.view === "chat" ? route.id : ""} onNavigate={close} />
        </aside>
      )}
      {open && <div className="frame-scrim" onClick={() => setOpen(false)} />}
      <main className="frame-main">
        {!shared && (
          <div className="frame-toggle">
            <IconButton
              label={open ? "Hide the sidebar" : "Show the sidebar"}
              icon={<IconSidebar />}
              onClick={toggle}
              aria-expanded={open}
            />
          </div>
        )}
        <Suspense fallback={<div className="frame-wait"><Spinner label="Loading" /></div>}>
          <View route={route} />
        </Suspense>
      </main>
    </div>
  );
}

function Comparing() {
  const open = useCompare((s) => s.open);
  return <Suspense>{open && <CompareDialog />}</Suspense>;
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <TooltipProvider>
        <Gate>
          <Frame />
          <Dialogs />
          <Comparing />
          <Keys />
        </Gate>
        <Toaster />
      </TooltipProvider>
    </QueryClientProvider>
  );
}
