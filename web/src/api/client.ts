// SPDX-License-Identifier: Apache-2.0
// The only module that calls the server: base path, errors, Idempotency-Key, and retries. Every POST
// carries a key, so that repeating it after a lost response takes effect once.

export const BASE = "/ramet/v1";

const TRIES = 3;
const PAUSE_MS = 300;

/** An answer that is no success, or none at all (`status` 0: the server could not be reached). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field: string | null = null,
    readonly requestId: string | null = null,
    /** The whole answer: `head` of head_moved, `turn_id` of turn_running. */
    readonly body: Record<string, unknown> = {},
  ) {
    super(message);
    this.name = "ApiError";
  }
}

export const isCode = (error: unknown, code: string): error is ApiError =>
  error instanceof ApiError && error.code === code;

/** One line for people. */
export const errorText = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;
export type Options = {
  query?: Query;
  body?: unknown;
  /** Sent as it is, with its own Content-Type. */
  raw?: Blob;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** On a page that a share link opened: as the user, beside the link. */
  asUser?: boolean;
  /** Of a POST; made when not given. Keep it over the tries of one intent. */
  key?: string;
};

let share: string | null =
  typeof location === "undefined" ? null : new URLSearchParams(location.search).get("share");
let unauthenticated: (() => void) | null = null;

/** The token of the share link that the page was opened with. Every call has the rights of the link alone, but for
 * those that need a user (`asUser`). */
export const setShareToken = (token: string | null) => {
  share = token;
};
export const shareToken = () => share;

/** Called whenever the server cannot identify the user. */
export const onUnauthenticated = (call: () => void) => {
  unauthenticated = call;
};

/** A UUID. `crypto.randomUUID` is given to https and loopback alone. */
export const newKey = (): string => {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

/** A path of the API, each piece percent-encoded. */
export const path = (...pieces: string[]): string => pieces.map((p) => "/" + encodeURIComponent(p)).join("");

export const urlOf = (to: string, query?: Query): string => {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === null) continue;
    for (const one of Array.isArray(value) ? value : [value]) params.append(name, String(one));
  }
  const text = params.toString();
  return BASE + to + (text ? "?" + text : "");
};

export const headersOf = (extra?: Record<string, string>, asUser = false): Record<string, string> => ({
  "X-Client-ID": "ramet-page",
  ...(share ? { "X-Ramet-Share": share } : {}),
  ...(share && !asUser ? { "X-Ramet-Share-Only": "true" } : {}),
  ...extra,
});

export const errorOf = async (answer: Response): Promise<ApiError> => {
  const body = (await answer.json().catch(() => ({}))) as Record<string, unknown>;
  // A visitor with a link is asked to sign in before what needs it (needUser).
  if (answer.status === 401 && !share) unauthenticated?.();
  return new ApiError(
    answer.status,
    typeof body.code === "string" ? body.code : "http_" + answer.status,
    typeof body.error === "string" ? body.error : `The server answered ${answer.status}.`,
    typeof body.field === "string" ? body.field : null,
    typeof body.request_id === "string" ? body.request_id : answer.headers.get("X-Request-ID"),
    body,
  );
};

const pause = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((done) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), done()), { once: true });
  });

const mayTryAgain = (method: string, status: number) =>
  status === 0 || (status === 503 && method !== "DELETE") || (status === 502 && method === "GET");

/** The answer when it is a success; throws ApiError, or AbortError when the caller gave up. */
export const request = async (method: string, to: string, o: Options = {}): Promise<Response> => {
  const headers = headersOf(o.headers, o.asUser);
  if (o.body !== undefined) headers["Content-Type"] = "application/json";
  if (o.raw) headers["Content-Type"] = o.raw.type || "application/octet-stream";
  if (method === "POST") headers["Idempotency-Key"] = o.key ?? newKey();
  const body = o.raw ?? (o.body === undefined ? undefined : JSON.stringify(o.body));
  for (let attempt = 1; ; attempt++) {
    let failure: ApiError;
    try {
      const answer = await fetch(urlOf(to, o.query), { method, headers, body, signal: o.signal });
      if (answer.ok) return answer;
      failure = await errorOf(answer);
    } catch (error) {
      if (o.signal?.aborted) throw error;
      failure = new ApiError(0, "unreachable", "The server cannot be reached.");
    }
    const again = attempt < TRIES && navigator.onLine && mayTryAgain(method, failure.status);
    if (!again) throw failure;
    await pause(PAUSE_MS * 2 ** (attempt - 1), o.signal);
  }
};

const json = async <T>(method: string, to: string, o?: Options): Promise<T> => {
  const answer = await request(method, to, o);
  return (answer.status === 204 ? undefined : await answer.json()) as T;
};

const reading = new Map<AbortController, string>();

export const get = async <T>(to: string, query?: Query, signal?: AbortSignal): Promise<T> => {
  const cancel = new AbortController();
  const forward = () => cancel.abort(signal!.reason);
  if (signal?.aborted) forward();
  signal?.addEventListener("abort", forward, { once: true });
  reading.set(cancel, to);
  try {
    return await json<T>("GET", to, { query, signal: cancel.signal });
  } finally {
    reading.delete(cancel);
    signal?.removeEventListener("abort", forward);
  }
};

/** Cancels what is being read at a path and below it. */
export const cancelBelow = (below: string): void => {
  for (const [cancel, to] of reading)
    if (to === below || to.startsWith(`${below}/`)) cancel.abort(new DOMException("Cancelled", "AbortError"));
};

export const isCancelled = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

export const post = <T>(to: string, body: unknown = {}, o: Options = {}) =>
  json<T>("POST", to, { ...o, body });
export const put = <T>(to: string, body: unknown) => json<T>("PUT", to, { body });
export const patch = <T>(to: string, body: unknown) => json<T>("PATCH", to, { body });
export const del = <T>(to: string, query?: Query) => json<T>("DELETE", to, { query });
