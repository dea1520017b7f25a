// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { chatPath, comparePath, parse, timelinePath } from "./router";

test("ids survive the way through the address", () => {
  for (const id of ["trip", "a/b", "100%", "☃ snow", "?x=1#y", "%2F"]) {
    const url = new URL(chatPath(id, { entry: "e/1", branch: undefined }), "http://x");
    const route = parse(url.pathname, url.search);
    expect(route).toMatchObject({ view: "chat", id });
    expect(route.query.get("entry")).toBe("e/1");
    expect(route.query.has("branch")).toBe(false);
    expect(parse(timelinePath(id), "")).toMatchObject({ view: "timeline", id });
  }
});

test("sides of a comparison, and places that are none", () => {
  const url = new URL(comparePath(["a", "b@b2"]), "http://x");
  expect(parse(url.pathname, url.search).query.getAll("side")).toEqual(["a", "b@b2"]);
  expect(parse("/", "").view).toBe("home");
  expect(parse("/chat", "").view).toBe("unknown");
  expect(parse("/else", "").view).toBe("unknown");
  expect(parse("/chat/%E0%A4%A", "").id).toBe("%E0%A4%A");
});
