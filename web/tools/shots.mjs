// SPDX-License-Identifier: Apache-2.0
//
// shots.mjs: the pictures of docs/images, of the sample conversation on a server of their own.
//
//   node tools/shots.mjs      with build/ramet, or the program that RAMET names
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'docs', 'images');
const folder = mkdtempSync(join(tmpdir(), 'ramet-shots.'));
const server = spawn(process.env.RAMET ?? join(root, 'build', 'ramet'), [
  'serve', '--listen', '127.0.0.1:0', '--db', join(folder, 'ramet.db'), '--default-user', 'ann',
]);
const url = await new Promise((done) => server.stdout.once('data', (said) => done(/http:\/\/\S+/.exec(said)[0])));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid() === 0 ? ['--no-sandbox'] : [],
});
const open = async (options = {}) => {
  const context = await browser.newContext({
    baseURL: url, viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options,
  });
  return context.newPage();
};
const shoot = async (page, name) => {
  await page.waitForTimeout(700); // pictures and tooltips have settled
  await page.screenshot({ path: join(out, `${name}.png`) });
};

try {
  mkdirSync(out, { recursive: true });
  const page = await open();
  await page.goto('/');
  await page.getByRole('link', { name: 'Open the sample chat' }).waitFor();
  const { sessions } = await (await fetch(`${url}/ramet/v1/sessions`)).json();
  const id = (title) => encodeURIComponent(sessions.find((each) => each.title === title).id);
  const chat = `/chat/${id('A weekend in Lisbon')}`;
  const answered = (at) => at.getByRole('article').nth(5).waitFor();

  await page.goto(chat);
  await answered(page);
  await page.getByRole('radio', { name: 'Tree' }).click();
  await shoot(page, 'chat');
  await page.goto(`/compare?side=${id('By night bus')}&side=${id('With two children')}`);
  await page.getByText('Which seat is best?').first().waitFor();
  await shoot(page, 'compare');
  await page.goto(chat.replace('/chat/', '/timeline/'));
  await page.getByText('By night bus').first().waitFor();
  await shoot(page, 'timeline');

  const dark = await open({ colorScheme: 'dark' });
  await dark.goto(chat);
  await answered(dark);
  await shoot(dark, 'dark');
  const phone = await open({ viewport: { width: 375, height: 720 }, hasTouch: true, isMobile: true });
  await phone.goto(chat);
  await answered(phone);
  await shoot(phone, 'phone');
} finally {
  await browser.close();
  server.kill();
  await new Promise((done) => server.once('close', done));
  rmSync(folder, { recursive: true, force: true });
}
