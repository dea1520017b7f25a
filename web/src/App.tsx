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

const WIDTH_KEY = "ramet.sidebar.width";
const WIDTH = { least: 220, usual: 272, most: 560, step: 16 };

/** The edge between sidebar and view: dragged, or moved by the arrow keys; twice clicked it is as usual. */
function Grip() {
  const [width, setWidth] = useState(() => {
    try {
      return Number(localStorage.getItem(WIDTH_KEY)) || WIDTH.usual;
    } catch {
      return WIDTH.usual;
    }
  });
  const go = (to: number) => setWidth(Math.round(Math.min(WIDTH.most, Math.max(WIDTH.least, to))));
  useEffect(() => {
    document.documentElement.style.setProperty("--side", `${width}px`);
    try {
      localStorage.setItem(WIDTH_KEY, String(width));
    } catch {
      // not kept
    }
  }, [width]);
  return (
    <div
      className="frame-grip"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the sidebar"
      aria-valuenow={width}
      aria-valuemin={WIDTH.least}
      aria-valuemax={WIDTH.most}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && go(event.clientX)}
      onDoubleClick={() => go(WIDTH.usual)}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -WIDTH.step, ArrowRight: WIDTH.step }[event.key];
        if (!by) return;
        event.preventDefault();
        go(width + by);
      }}
    />
  );
}

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
    <div className={cx("frame", open && "frame-open", shared && "frame-shared")}>
      {!shared && (
        <aside className="frame-side" aria-label="Chats" inert={!open}>
          <Sidebar currentId={route.view === "chat" ? route.id : ""} onNavigate={close} />
        </aside>
      )}
      {open && !shared && <Grip />}
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
