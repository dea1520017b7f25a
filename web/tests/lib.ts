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
import { test as base, expect, type BrowserContext, type BrowserContextOptions, type Locator, type Page } from '@playwright/test';

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
  /** Kills it, as a power cut would; its store stays. */
  kill(): Promise<void>;
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
  const kill = async () => {
    child.kill('SIGKILL');
    await end;
  };
  return { url, db: store, pid: child.pid!, kill, halt, stop };
}

// ------------------------------------------------------------------ the API

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

/** Notes every console error, exception and failed request of the windows of a context. */
function watch(context: BrowserContext, note: (problem: string) => void): void {
  context.on('page', (page) => {
    page.on('console', (line) => {
      if (line.type() === 'error') note(`console: ${line.text()} (${line.location().url})`);
    });
    page.on('pageerror', (error) => note(`exception: ${error.stack ?? error.message}`));
    page.on('requestfailed', (request) => {
      // A page that is left gives up what it still waits for.
      const why = request.failure()?.errorText ?? '';
      if (why !== 'net::ERR_ABORTED') note(`request: ${request.method()} ${request.url()}: ${why}`);
    });
    page.on('response', (answer) => {
      if (answer.status() >= 400) note(`answer: ${answer.request().method()} ${answer.url()}: ${answer.status()}`);
    });
  });
}

/** Was here before: the page does not make its sample. about:blank has no storage. */
const visited = () =>
  location.protocol === 'about:' || localStorage.getItem('ramet.sample') || localStorage.setItem('ramet.sample', 'none');

interface Each {
  user: string;
  api: Api;
  /** A problem whose text fits is no failure of this test. */
  allow(what: RegExp): void;
  /** A second window, of the same user. */
  window(): Promise<Page>;
  /** A browser of its own, watched like the first: another user, a phone, another server. */
  another(options?: BrowserContextOptions & { firstVisit?: boolean }): Promise<BrowserContext>;
}

interface Inner {
  problems: { all: string[]; allowed: RegExp[] };
  guard: void;
}

/** What all tests of a worker share: one server, and one window of one browser, so that the files of
 * the page are fetched and compiled once. */
interface Shared {
  server: Server;
  shared: {
    context: BrowserContext;
    /** The window, with nothing of an earlier test in it. */
    page(): Promise<Page>;
    /** Who is told of problems. */
    listen(note: (problem: string) => void): void;
  };
}

/** Leaves nothing of a test behind: windows, what they keep, and what was said about them. */
async function tidy(context: BrowserContext, kept: Page, blank: string): Promise<void> {
  for (const page of context.pages()) if (page !== kept) await page.close();
  await Promise.all([context.setOffline(false), context.clearCookies(), context.clearPermissions(), kept.unrouteAll()]);
  await kept.emulateMedia({ colorScheme: null });
  // A document of the same origin that does nothing: the page has stopped when its storage is emptied.
  await kept.goto(blank);
  await kept.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
}

export const test = base.extend<Each & Inner, Shared>({
  server: [
    async ({}, use) => {
      if (process.env.RAMET_WEB_DEV) {
        await use({ url: process.env.RAMET_WEB_DEV, db: '', pid: 0, kill: async () => {}, halt: async () => {}, stop: async () => {} });
        return;
      }
      const server = await startServer(['--agent', 'second=echo', '--agent', 'third=echo', '--default-agent', 'echo']);
      await use(server);
      await server.stop();
    },
    { scope: 'worker' },
  ],
  shared: [
    async ({ browser, server }, use) => {
      const context = await browser.newContext({
        baseURL: server.url,
        viewport: { width: 1280, height: 800 },
        locale: 'en-GB',
        reducedMotion: 'reduce',
      });
      await context.addInitScript(visited);
      let note: (problem: string) => void = () => undefined;
      watch(context, (problem) => note(problem));
      let kept: Page | null = null;
      const page = async () => {
        if (kept && !kept.isClosed())
          try {
            await tidy(context, kept, `${server.url}/healthz`);
            return kept;
          } catch {
            await kept.close();
          }
        return (kept = await context.newPage());
      };
      await use({ context, page, listen: (to) => (note = to) });
      await context.close();
    },
    { scope: 'worker' },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  user: async ({}, use) => use(`ann-${process.pid}-${++users}`),
  api: async ({ server, user }, use) => use(new Api(server.url, user)),
  problems: async ({}, use) => use({ all: [], allowed: [] }),
  allow: async ({ problems }, use) => use((what) => void problems.allowed.push(what)),
  context: async ({ shared, user, problems, actionTimeout }, use) => {
    const { context, listen } = shared;
    await shared.page();
    listen((problem) => problems.all.push(problem));
    context.setDefaultTimeout(actionTimeout);
    await context.setExtraHTTPHeaders({ 'X-User-Id': user });
    await use(context);
    listen(() => undefined);
  },
  page: async ({ context }, use) => use(context.pages()[0] ?? (await context.newPage())),
  window: async ({ context }, use) => use(() => context.newPage()),
  another: async ({ browser, server, user, problems, actionTimeout }, use) => {
    const made: BrowserContext[] = [];
    await use(async ({ firstVisit, ...options } = {}) => {
      const context = await browser.newContext({ baseURL: server.url, extraHTTPHeaders: { 'X-User-Id': user }, ...options });
      context.setDefaultTimeout(actionTimeout);
      if (!firstVisit) await context.addInitScript(visited);
      watch(context, (problem) => problems.all.push(problem));
      made.push(context);
      return context;
    });
    await Promise.all(made.map((each) => each.close()));
  },
  guard: [
    async ({ problems }, use) => {
      await use();
      expect(
        problems.all.filter((each) => !problems.allowed.some((what) => what.test(each))),
        'console errors and failed requests',
      ).toEqual([]);
    },
    { auto: true },
  ],
});

// ------------------------------------------------------------------ what every part does

export const PHONE = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true };

export const composer = (page: Page) => page.getByRole('textbox', { name: 'Message', exact: true });
export const messages = (page: Page) => page.getByRole('article');

/** Waits until no answer is under way: words are shown while they come, and recorded after the last. */
export async function answered(page: Page) {
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0);
}

/** Types a message, sends it and waits until it is answered. */
export async function say(page: Page, text: string) {
  const before = await messages(page).count();
  await composer(page).fill(text);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(page)).toHaveCount(before + 2);
  await answered(page);
}

/** Opens the menu of a message and chooses an item. */
export async function act(page: Page, message: Locator, item: string) {
  await message.hover();
  await message.getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
}
