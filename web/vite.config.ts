// SPDX-License-Identifier: Apache-2.0
// Build and developer server of the page. `npm run dev` hands /ramet and /openapi.json on to a
// server that runs already (RAMET_URL, else the usual port).
import { defineConfig } from "vitest/config";
import react from "@vitejs/plugin-react";

const server = process.env.RAMET_URL ?? "http://127.0.0.1:7077";
const proxied = ["/ramet", "/openapi.json", "/login", "/logout"];

// The server writes for its own origin alone.
const hand = { target: server, changeOrigin: true, headers: { origin: server } };

/** Every browser that can run the page takes woff2: the older kinds of KaTeX's fonts are left out. */
const newFontsOnly = {
  name: "new-fonts-only",
  enforce: "pre" as const,
  transform: (code: string, id: string) =>
    /katex.*\.css/.test(id) ? code.replace(/,\s*url\([^)]*\.(woff|ttf)\)\s*format\([^)]*\)/g, "") : null,
};

export default defineConfig({
  plugins: [newFontsOnly, react()],
  build: {
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    sourcemap: false,
    chunkSizeWarningLimit: 700,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: Object.fromEntries(proxied.map((path) => [path, hand])),
  },
  test: {
    // What needs a document says so at its top.
    environment: "node",
    // What one file mocks is nothing to another, in whatever order they run.
    isolate: true,
    pool: "threads",
    maxWorkers: 1,
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
