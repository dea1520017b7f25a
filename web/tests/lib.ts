// SPDX-License-Identifier: Apache-2.0
//
// lib.ts: what the tests in a browser share.
//
//   import { test, expect } from './lib';
//   test('a chat is answered', async ({ page, api }) => { … });
//
// A worker has one server on a free port with a scratch store; every test is a user of its own
// there, so tests see nothing of each other. A console error, an exception or a failed request in
// any window of a test fails it, unless the test has said `allow(/…/)` about its text.
//
// RAMET is the program (build/ramet). With RAMET_WEB_DEV=http://127.0.0.1:5173 the page comes from
// Vite, and the server is the one that Vite was told.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test as base, expect, type BrowserContext, type Locator, type Page } from '@playwright/test';

export { expect };
export type { BrowserContext, Locator, Page };

const here = dirname(fileURLToPath(import.meta.url));
const RAMET = process.env.RAMET ?? join(here, '..', '..', 'build', 'ramet');
export const slow = /\/san\//.test(RAMET) ? 5 : 1;

// ------------------------------------------------------------------ servers

export interface Server {
  url: string;
  db: string;
  pid: number;
  /** Ends it and removes its store. */
  stop(): Promise<void>;
  /** Ends it; its store stays, for another one. */
  halt(): Promise<void>;
}

/** Starts `ramet serve`; the store lies in a scratch folder of its own unless one is named. */
export async function startServer(args: string[] = [], { db, port = 0 }: { db?: string; port?: number } = {}): Promise<Server> {
  const store = db ?? join(mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'ramet-web.')), 'ramet.db');
  const child: ChildProcess = spawn(RAMET, ['serve', '--listen', `127.0.0.1:${port}`, '--db', store, '--turn-stop-seconds', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stderr!.on('data', (bytes) => (err += bytes));
  const end = new Promise<void>((done) => child.on('close', () => done()));
  const url = await new Promise<string>((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`the server does not start: ${out}${err}`)), 10_000 * slow);
    child.stdout!.on('data', (bytes) => {
      out += bytes;
      const said = /listening on (http:\/\/\S+)\n/.exec(out);
      if (said) {
        clearTimeout(timer);
        done(said[1]!);
      }
    });
    void end.then(() => fail(new Error(`the server ended: ${err}`)));
  });
  const halt = async () => {
    child.kill('SIGTERM');
    await end;
    if (/Sanitizer|runtime error/.test(err)) throw new Error(err);
  };
  const stop = async () => {
    await halt();
    rmSync(dirname(store), { recursive: true, force: true });
  };
  return { url, db: store, pid: child.pid!, halt, stop };
}

// ------------------------------------------------------------------ the API

/* eslint-disable @typescript-eslint/no-explicit-any -- answers are looked at by tests, as they come */
export class Api {
  constructor(
    readonly url: string,
    readonly user: string,
  ) {}

  async call(method: string, path: string, json?: unknown): Promise<any> {
    const answer = await fetch(path.startsWith('/') ? this.url + path : `${this.url}/ramet/v1/${path}`, {
      method,
      headers: { 'X-User-Id': this.user, ...(json === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  }
  get(path: string) {
    return this.call('GET', path);
  }
  post(path: string, json: unknown = {}) {
    return this.call('POST', path, json);
  }
  put(path: string, json: unknown) {
    return this.call('PUT', path, json);
  }
  patch(path: string, json: unknown) {
    return this.call('PATCH', path, json);
  }
  delete(path: string) {
    return this.call('DELETE', path);
  }
  /** The same server as somebody else. */
  as(user: string) {
    return new Api(this.url, user);
  }

  /** A session with these texts, user and assistant by turns; gives its id. */
  async chat(title: string, texts: string[] = [], more: object = {}): Promise<string> {
    const session = await this.post('sessions', { title, ...more });
    if (texts.length)
      await this.post(`sessions/${session.id}/entries`, {
        entries: texts.map((text, i) => ({ role: i % 2 ? 'assistant' : 'user', text })),
      });
    return session.id;
  }
  /** The texts of the effective history. */
  async texts(session: string): Promise<string[]> {
    const all: string[] = [];
    for (let after = ''; ; ) {
      const page = await this.get(`sessions/${session}/entries?limit=1000${after && `&after=${encodeURIComponent(after)}`}`);
      for (const entry of page.entries) all.push(entry.text);
      if (!page.more_after) return all;
      after = page.entries.at(-1).id;
    }
  }
}

// ------------------------------------------------------------------ fixtures

let users = 0;

interface Each {
  user: string;
  api: Api;
  /** A problem whose text fits is no failure of this test. */
  allow(what: RegExp): void;
  /** A second window, of the same user. */
  window(): Promise<Page>;
}

interface Wish {
  /** Whether the browser has never been here: then the page makes its sample conversation. */
  firstVisit: boolean;
}

export const test = base.extend<Each & Wish & { guard: void; allowed: RegExp[] }, { server: Server }>({
  firstVisit: [false, { option: true }],
  server: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      if (process.env.RAMET_WEB_DEV) {
        await use({ url: process.env.RAMET_WEB_DEV, db: '', pid: 0, halt: async () => {}, stop: async () => {} });
        return;
      }
      const server = await startServer(['--agent', 'second=echo', '--agent', 'third=echo', '--default-agent', 'echo']);
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  // eslint-disable-next-line no-empty-pattern
  user: async ({}, use) => use(`ann-${process.pid}-${++users}`),
  api: async ({ server, user }, use) => use(new Api(server.url, user)),
  extraHTTPHeaders: async ({ user }, use) => use({ 'X-User-Id': user }),
  // eslint-disable-next-line no-empty-pattern
  allowed: async ({}, use) => use([]),
  allow: async ({ allowed }, use) => use((what) => void allowed.push(what)),
  window: async ({ context }, use) => use(() => context.newPage()),
  guard: [
    async ({ context, allowed, firstVisit }, use) => {
      // about:blank has no storage.
      if (!firstVisit)
        await context.addInitScript(() => location.protocol === 'about:' || localStorage.setItem('ramet.sample', 'none'));
      const problems: string[] = [];
      const watch = (page: Page) => {
        page.on('console', (line) => {
          if (line.type() === 'error') problems.push(`console: ${line.text()} (${line.location().url})`);
        });
        page.on('pageerror', (error) => problems.push(`exception: ${error.stack ?? error.message}`));
        page.on('requestfailed', (request) => {
          // A page that is left gives up what it still waits for.
          const why = request.failure()?.errorText ?? '';
          if (why !== 'net::ERR_ABORTED') problems.push(`request: ${request.method()} ${request.url()}: ${why}`);
        });
        page.on('response', (answer) => {
          if (answer.status() >= 400) problems.push(`answer: ${answer.request().method()} ${answer.url()}: ${answer.status()}`);
        });
      };
      context.on('page', watch);
      await use();
      expect(
        problems.filter((each) => !allowed.some((what) => what.test(each))),
        'console errors and failed requests',
      ).toEqual([]);
    },
    { auto: true },
  ],
});

// ------------------------------------------------------------------ what every part does

export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
export const messages = (page: Page) => page.getByRole('article');

/** Types a message, sends it and waits until it is answered. */
export async function say(page: Page, text: string) {
  const before = await messages(page).count();
  await composer(page).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(page)).toHaveCount(before + 2);
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0);
}

/** Opens the menu of a message and chooses an item. */
export async function act(page: Page, message: Locator, item: string) {
  await message.hover();
  await message.getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}
