// SPDX-License-Identifier: Apache-2.0
// The entry point of the page.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./ui/theme.css";
import { App } from "./App";
import { startSettings } from "./state/settings";

// A newer build has other chunk names: reload, but never in a loop.
window.addEventListener("vite:preloadError", (event) => {
  const last = Number(sessionStorage.getItem("ramet.reloaded") ?? 0);
  if (Date.now() - last < 60_000) return;
  event.preventDefault();
  sessionStorage.setItem("ramet.reloaded", String(Date.now()));
  location.reload();
});

startSettings();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
