// SPDX-License-Identifier: Apache-2.0
// Makes src/api/schema.ts from the server's /openapi.json.
//   npm run types            writes it, from the server at RAMET_URL or the usual port
//   npm run types -- --check says whether it is stale (exit 1)
import { readFileSync, writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";

const out = new URL("../src/api/schema.ts", import.meta.url);
const url = new URL("/openapi.json", process.env.RAMET_URL ?? "http://127.0.0.1:7077");
const answer = await fetch(url);
if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
const document = await answer.json();
document.info.version = "";
// Only shapes: calls are written by hand in src/api/ramet.ts. The other protocols are no business
// of the page.
const wanted = new Set();
const gather = (value) => {
  if (Array.isArray(value)) return value.forEach(gather);
  if (value === null || typeof value !== "object") return;
  const name = value.$ref?.replace("#/components/schemas/", "");
  if (name && !wanted.has(name)) {
    wanted.add(name);
    gather(document.components.schemas[name]);
  }
  Object.values(value).forEach(gather);
};
gather(Object.entries(document.paths).filter(([path]) => path.startsWith("/ramet/v1/")));
document.paths = {};
document.components = {
  schemas: Object.fromEntries(
    Object.entries(document.components.schemas).filter(([name]) => wanted.has(name)),
  ),
};
const text =
  "// SPDX-License-Identifier: Apache-2.0\n" +
  "// Made from /openapi.json by `npm run types`; do not edit.\n" +
  astToString(await openapi(document));
if (process.argv.includes("--check")) {
  if (readFileSync(out, "utf8") !== text) {
    console.error("src/api/schema.ts is stale: npm run types");
    process.exit(1);
  }
} else {
  writeFileSync(out, text);
}
