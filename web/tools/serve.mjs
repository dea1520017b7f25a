// SPDX-License-Identifier: Apache-2.0
//
// serve.mjs: a server with a scratch store and a browser, for the tools of this folder.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Runs `work({url, browser, api})`; server, store and browser are gone afterwards. */
export async function withServer(args, work) {
  const folder = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'ramet-tool.'));
  const program = process.env.RAMET ?? join(root, 'build', 'ramet');
  const server = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--db', join(folder, 'ramet.db'), '--default-user', 'ann', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((done) => server.once('close', done));
  let browser;
  try {
    const url = await new Promise((done, fail) => {
      server.stdout.once('data', (said) => done(/http:\/\/\S+/.exec(said)[0]));
      server.once('close', () => fail(new Error('the server does not start')));
    });
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/google-chrome'].find((each) => existsSync(each)),
      args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
    });
    const api = async (method, path, json) => {
      const answer = await fetch(`${url}/ramet/v1/${path}`, {
        method,
        headers: json ? { 'Content-Type': 'application/json' } : {},
        body: json && JSON.stringify(json),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
      return text ? JSON.parse(text) : undefined;
    };
    await work({ url, browser, api });
  } finally {
    await browser?.close();
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}
