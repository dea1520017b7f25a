// SPDX-License-Identifier: Apache-2.0
// The address of the page: /chat/ID[?entry=…&branch=…], /timeline/ID, /compare?side=…, /
import { useSyncExternalStore } from "react";

export type Route = {
  view: "home" | "chat" | "timeline" | "compare" | "unknown";
  /** Session of chat and timeline; empty when none is named. */
  id: string;
  query: URLSearchParams;
  /** Changes with every navigation, also to the same place. */
  key: number;
};

let key = 0;
let current: Route | null = null;
const listeners = new Set<() => void>();

const decode = (piece: string): string => {
  try {
    return decodeURIComponent(piece);
  } catch {
    return piece;
  }
};

export const parse = (pathname: string, search: string): Omit<Route, "key"> => {
  const [first = "", second = ""] = pathname.split("/").slice(1);
  const query = new URLSearchParams(search);
  if (first === "") return { view: "home", id: "", query };
  if ((first === "chat" || first === "timeline") && second !== "")
    return { view: first, id: decode(second), query };
  if (first === "compare") return { view: "compare", id: "", query };
  return { view: "unknown", id: "", query };
};

const changed = () => {
  current = { ...parse(location.pathname, location.search), key: ++key };
  for (const listener of listeners) listener();
};

export const route = (): Route => (current ??= { ...parse(location.pathname, location.search), key });

export const navigate = (to: string, replace = false): void => {
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  changed();
};

export const useRoute = (): Route =>
  useSyncExternalStore((listener) => {
    if (listeners.size === 0) window.addEventListener("popstate", changed);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) window.removeEventListener("popstate", changed);
    };
  }, route);

export const chatPath = (id: string, query: Record<string, string | undefined> = {}): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, value);
  const text = params.toString();
  return "/chat/" + encodeURIComponent(id) + (text ? "?" + text : "");
};
export const timelinePath = (id: string): string => "/timeline/" + encodeURIComponent(id);
export const comparePath = (sides: string[]): string =>
  "/compare?" + sides.map((side) => "side=" + encodeURIComponent(side)).join("&");

/** For onClick of a link: a plain click stays in the page, all others are the browser's. */
export const follow = (event: React.MouseEvent<HTMLAnchorElement>): void => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { pathname, search } = event.currentTarget;
  navigate(pathname + search);
};
