// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { beforeEach, expect, test } from "vitest";
import { addDraft, getDraft, keepDraft, onDraft, setDraft } from "./drafts";
import { readOutbox, writeOutbox } from "./session/pending";

beforeEach(() => localStorage.clear());

test("a draft is kept for its session, and forgotten when it is empty", () => {
  keepDraft("a", "half");
  expect(getDraft("a")).toBe("half");
  expect(getDraft("b")).toBe("");
  expect(localStorage.getItem("ramet.draft.a")).toBe("half");
  keepDraft("a", "");
  expect(localStorage.getItem("ramet.draft.a")).toBeNull();
});

test("the composer hears what others set, not what it keeps itself", () => {
  const heard: string[] = [];
  const off = onDraft((session, text) => heard.push(session + ":" + text));
  keepDraft("c", "typed");
  setDraft("c", "from a rewind");
  off();
  setDraft("c", "later");
  expect(heard).toEqual(["c:from a rewind"]);
});

test("what is typed is never lost to a draft that comes", () => {
  keepDraft("d", "typed");
  addDraft("d", "came");
  expect(getDraft("d")).toBe("came\n\ntyped");
  keepDraft("e", "");
  addDraft("e", "came");
  expect(getDraft("e")).toBe("came");
});

test("messages that were being sent wait for their user after a reload", () => {
  writeOutbox("s", [{ id: "1", key: "k", text: "x", files: [], state: "sending" }]);
  expect(readOutbox("s")).toMatchObject([{ id: "1", key: "k", text: "x", state: "failed" }]);
  writeOutbox("s", [{ id: "1", key: "k", text: "x", files: [], state: "queued", held: true }]);
  expect(readOutbox("s")).toMatchObject([{ id: "1", state: "queued", held: false }]);
  writeOutbox("s", []);
  expect(readOutbox("s")).toEqual([]);
  localStorage.setItem("ramet.outbox.s", "{not json");
  expect(readOutbox("s")).toEqual([]);
});
