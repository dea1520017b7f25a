// SPDX-License-Identifier: Apache-2.0
//
// Tests of the page in a browser: Debian's Chromium (as a program without windows where it is
// installed, which needs half the time), or the one that CHROMIUM names, on a server of their own
// (tests/lib.ts). TAP=1 prints TAP, for tests/run.
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

const chromium = process.env.CHROMIUM ?? ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome'].find((path) => existsSync(path));

export default defineConfig({
  testDir: 'tests',
  outputDir: process.env.TEST_OUTPUT ?? '../build/web/test-results',
  fullyParallel: true,
  workers: Number(process.env.WEB_WORKERS ?? 2),
  timeout: 60_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.TAP),
  reporter: process.env.TAP ? './tests/tap.ts' : 'list',
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    contextOptions: { reducedMotion: 'reduce' },
    actionTimeout: 15_000,
    trace: process.env.TAP ? 'off' : 'retain-on-failure',
    launchOptions: { executablePath: chromium, args: ['--disable-gpu', '--js-flags=--no-opt --no-maglev', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])] },
  },
});
