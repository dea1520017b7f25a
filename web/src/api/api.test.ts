// SPDX-License-Identifier: Apache-2.0
// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, get, onUnauthenticated, path, post, urlOf } from "./client";
import { Live } from "./events";
import { Splitter } from "./sse";
import { sendMessage } from "./turns";
import type { LiveEvent } from "./types";

const answer = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
const stream = (...pieces: string[]) =>
  new Response(
    new ReadableStream({
      start(out) {
        for (const piece of pieces) out.enqueue(new TextEncoder().encode(piece));
        out.close();
      },
    }),
  );

let calls: [string, RequestInit][];
const serve = (...answers: (() => Response | Promise<Response>)[]) => {
  calls = [];
  vi.stubGlobal("fetch", async (url: string, init: RequestInit) => {
    calls.push([url, init]);
    const next = answers.length > 1 ? answers.shift()! : answers[0]!;
    return next();
  });
};
const lost = () => Promise.reject(new TypeError("network"));
const header = (n: number, name: string) => (calls[n]![1].headers as Record<string, string>)[name];

beforeEach(() => vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 50 }));
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("paths are encoded piece by piece, queries value by value", () => {
  expect(path("sessions", "a/b %☃", "entries")).toBe("/sessions/a%2Fb%20%25%E2%98%83/entries");
  expect(urlOf("/compare", { side: ["a", "b@b1"], limit: undefined, x: null })).toBe(
    "/ramet/v1/compare?side=a&side=b%40b1",
  );
});

test("an error has what the server said", async () => {
  serve(() => answer(409, { code: "head_moved", error: "moved", field: "expected_head", request_id: "r1", head: {} }));
  const error = (await post("/x").catch((e: unknown) => e)) as ApiError;
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 409, code: "head_moved", message: "moved", field: "expected_head", requestId: "r1" });
  expect(calls).toHaveLength(1);
});

test("a lost POST is tried again with the same key", async () => {
  serve(lost, lost, () => answer(201, { id: "s" }));
  expect(await post("/sessions", {})).toEqual({ id: "s" });
  expect(calls).toHaveLength(3);
  const keys = calls.map((_, i) => header(i, "Idempotency-Key"));
  expect(keys[0]).toBeTruthy();
  expect(new Set(keys).size).toBe(1);
});

test("a refusal is not tried again; a server that stays away is said", async () => {
  serve(() => answer(400, { code: "invalid_request", error: "no" }));
  await expect(get("/x")).rejects.toMatchObject({ code: "invalid_request" });
  expect(calls).toHaveLength(1);
  serve(lost);
  await expect(get("/x")).rejects.toMatchObject({ status: 0, code: "unreachable" });
  expect(calls).toHaveLength(3);
});

test("401 is told to who asked for it", async () => {
  const told = vi.fn();
  onUnauthenticated(told);
  serve(() => answer(401, { code: "unauthenticated", error: "who?" }));
  await expect(get("/me")).rejects.toMatchObject({ status: 401 });
  expect(told).toHaveBeenCalledOnce();
});

test("events are cut wherever the pieces end", () => {
  const text = ": hi\nretry: 1000\nid: 0\n\nid: 1\nevent: a\ndata: {\"x\":1}\ndata: 2\n\nevent: b\r\ndata:3\r\n\r\n";
  for (let size = 1; size < text.length; size += 3) {
    const splitter = new Splitter();
    const out = [];
    for (let i = 0; i < text.length; i += size) out.push(...splitter.feed(text.slice(i, i + size)));
    expect(out).toEqual([
      { id: "0", event: "message", data: "" },
      { id: "1", event: "a", data: '{"x":1}\n2' },
      { id: null, event: "b", data: "3" },
    ]);
  }
});

test("the connection goes on after the last event, and says when it stands again", async () => {
  const one = 'id: 7\nevent: session.updated\ndata: {"type":"session.updated","session_id":"s"}\n\n';
  let open: ((response: Response) => void) | undefined;
  serve(
    () => stream("id: 5\n\n", one),
    lost,
    () => new Promise<Response>((done) => (open = done)),
  );
  const hub = new Live();
  const heard: LiveEvent[] = [];
  let opened = 0;
  hub.onEvent((event) => heard.push(event));
  hub.onOpen(() => opened++);
  hub.start();
  await vi.waitFor(() => expect(calls).toHaveLength(3), { timeout: 10_000 });
  expect(heard).toHaveLength(1);
  expect(hub.state()).toBe("offline");
  expect(header(0, "Last-Event-ID")).toBeUndefined();
  expect(header(2, "Last-Event-ID")).toBe("7");
  open!(new Response(new ReadableStream({ start: (out) => out.enqueue(new TextEncoder().encode(": ramet\nretry: 1000\n")) })));
  await vi.waitFor(() => expect(hub.state()).toBe("live"));
  expect(opened).toBe(2);
  hub.stop();
});

test("a message is sent once however often it is tried, and known by its turn", async () => {
  const begun = 'event: turn.started\ndata: {"type":"turn.started","session_id":"s","turn_id":"t1","branch_id":"b1"}\n\n';
  serve(lost, () => stream(begun));
  expect(await sendMessage("s", { text: "hi" }, "key-1")).toEqual({ session_id: "s", turn_id: "t1" });
  expect(header(0, "Idempotency-Key")).toBe("key-1");
  expect(header(1, "Idempotency-Key")).toBe("key-1");
});
