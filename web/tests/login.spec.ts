// SPDX-License-Identifier: Apache-2.0
//
// Signing in and out where the server asks for it.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, realIssuer } from '../../tests/server/help/provider.mjs';
import { expect, messages, say, type Server, startServer, test as base } from './lib';

const here = dirname(fileURLToPath(import.meta.url));
const RAMET = process.env.RAMET ?? join(here, '..', '..', 'build', 'ramet');

const makeToken = (db: string, user: string) => {
  const out = execFileSync(RAMET, ['--db', db, 'token', 'create', '--user', user], { encoding: 'utf8' });
  return /rmt_\S+/.exec(out)![0];
};

const test = base.extend<{ guarded: Server; token: string }>({
  guarded: async ({}, use) => {
    const server = await startServer(['--auth', 'tokens']);
    await use(server);
    await server.stop();
  },
  token: async ({ guarded }, use) => use(makeToken(guarded.db, 'ann')),
  // Who is there is told by signing in alone.
  context: async ({ another }, use) => use(await another({ extraHTTPHeaders: {} })),
});

test('a key opens the page, one that ends is asked for again, signing out closes it', async ({ page, guarded, token, context, allow }) => {
  allow(/401/);
  await page.goto(guarded.url + '/');
  const key = page.getByLabel('API key');
  await key.fill('rmt_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert')).toHaveText('This key is not known here, or it has ended.');
  await key.fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('button', { name: 'New chat' })).toBeVisible();
  await expect(page.getByText('ann', { exact: true })).toBeVisible();

  // The page behind stays as it was.
  const search = page.getByRole('searchbox', { name: 'Search' });
  await search.fill('half a word');
  await expect(page.getByText('Nothing found')).toBeVisible();
  await context.clearCookies();
  await search.fill('half a word more');
  await expect(page.getByText('Your sign-in has ended.')).toBeVisible();
  await key.fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('Your sign-in has ended.')).toHaveCount(0);
  await expect(search).toHaveValue('half a word more');

  await page.reload();
  await expect(page.getByRole('button', { name: 'New chat' })).toBeVisible();
  await page.getByRole('button', { name: 'Settings' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page.getByLabel('API key')).toBeVisible();
  await page.reload();
  await expect(page.getByLabel('API key')).toBeVisible();
});

test('without a sign-in no request fails', async ({ page, guarded }) => {
  await page.goto(guarded.url + '/');
  await expect(page.getByLabel('API key')).toBeFocused();
});

test('one signs in at an issuer of identities, comes back to where one was, and signs out', async ({ page, context }) => {
  const port = await freePort();
  const issuer = await realIssuer([`http://127.0.0.1:${port}/login/callback`]);
  const server = await startServer(['--auth', 'oidc', '--oidc-issuer', issuer.url, '--oidc-client-id', 'ramet-page'], { port });
  try {
    // The issuer's own pages ask for a font elsewhere.
    await context.route(/^https:/, (route) => route.fulfill({ contentType: 'text/css', body: '' }));
    await page.goto(`${server.url}/compare`);
    await expect(page.getByText(`At ${issuer.url}`)).toBeVisible();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await expect(page).toHaveURL(new RegExp(`^${issuer.url}/`));
    await page.locator('input[name=login]').fill('ann');
    await page.locator('input[name=password]').fill('x');
    await page.locator('button[type=submit]').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page).toHaveURL(`${server.url}/compare`);
    await expect(page.getByText('ann', { exact: true })).toBeVisible();
    await page.getByRole('button', { name: 'New chat' }).click();
    await say(page, 'hello');
    await page.reload();
    await expect(messages(page)).toHaveCount(2);
    await page.getByRole('button', { name: 'Settings' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole('link', { name: 'Sign in' })).toBeVisible();
    await expect(messages(page)).toHaveCount(0);
  } finally {
    await page.close();
    await server.stop();
    await issuer.stop();
  }
});

base('where nobody signs in, nobody is asked to', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'Settings' }).click();
  await expect(page.getByRole('menuitem', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expect(page.getByRole('menuitem', { name: 'Sign out' })).toHaveCount(0);
});
