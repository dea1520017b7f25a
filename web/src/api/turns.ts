// SPDX-License-Identifier: Apache-2.0
// Turns: sending a message, regenerating an answer, asking several agents. Each is posted as a stream of
// which only the beginning matters here: after that, live events deliver the same output to every window,
// and the server records the answer in any case.
import { errorOf, headersOf, newKey, path, urlOf, ApiError } from "./client";
import { messages } from "./sse";
import type { ForkIn, LiveEvent, Part } from "./types";

export type Started = { session_id: string; turn_id: string };

type Content = { text?: string; parts?: Part[] };
export type MessageIn = Content & {
  id?: string;
  agent?: string;
  fork?: ForkIn;
  replace?: string;
  keep_running?: boolean;
  expected_head?: string;
};

const TRIES = 3;
/** Streams that are left to run out. A browser gives a host six connections: more are cut. */
const LEFT_OPEN = 2;
const leftOpen = new Set<AbortController>();

const runOut = async (events: AsyncGenerator<unknown>, abort: AbortController) => {
  const oldest = leftOpen.values().next().value;
  if (leftOpen.size >= LEFT_OPEN && oldest) oldest.abort();
  leftOpen.add(abort);
  try {
    while (!(await events.next()).done);
  } catch {
    // no longer needed
  } finally {
    leftOpen.delete(abort);
  }
};

/** Posts, and gives the first `want` turns that began. */
const begin = async (to: string, body: unknown, want: number, key: string): Promise<Started[]> => {
  const headers = headersOf({
    Accept: "text/event-stream",
    "Content-Type": "application/json",
    "Idempotency-Key": key,
  });
  for (let attempt = 1; ; attempt++) {
    const abort = new AbortController();
    try {
      const answer = await fetch(urlOf(to), {
        method: "POST",
        headers,
        body: JSON.stringify(body),
        signal: abort.signal,
      });
      if (!answer.ok) throw await errorOf(answer);
      const started = new Map<string, Started>();
      const events = messages(answer);
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const message = next.value;
        const event = JSON.parse(message.data) as LiveEvent;
        if (!("turn_id" in event) || event.turn_id === undefined) continue;
        started.set(event.turn_id, { session_id: event.session_id, turn_id: event.turn_id });
        if (started.size < want) continue;
        void runOut(events, abort);
        return [...started.values()];
      }
      throw new TypeError("the stream ended early");
    } catch (error) {
      if (error instanceof ApiError && error.status !== 503) throw error;
      if (attempt >= TRIES || !navigator.onLine)
        throw error instanceof ApiError
          ? error
          : new ApiError(0, "unreachable", "The server cannot be reached.");
      await new Promise((done) => setTimeout(done, 300 * attempt));
    }
  }
};

export const sendMessage = async (session: string, body: MessageIn, key = newKey()): Promise<Started> =>
  (await begin(path("sessions", session, "messages"), body, 1, key))[0]!;

export const regenerate = async (
  session: string,
  body: { entry_id?: string; agent?: string; keep_running?: boolean; expected_head?: string },
  key = newKey(),
): Promise<Started> => (await begin(path("sessions", session, "regenerate"), body, 1, key))[0]!;

export const fanOut = (
  session: string,
  body: Content & { agents: string[]; expected_head?: string },
  key = newKey(),
): Promise<Started[]> => begin(path("sessions", session, "fan-out"), body, body.agents.length, key);
