// SPDX-License-Identifier: Apache-2.0
//
// Share links and members.
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { act, answered, composer, expect, messages, type Page, startServer, test } from './lib';

const RAMET = process.env.RAMET ?? join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'build', 'ramet');

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Share' });

async function open(page: Page, id: string) {
  await page.goto('/chat/' + id);
  const line = page.locator(`[data-row="${id}"]`);
  await line.hover();
  await line.getByRole('button', { name: 'Chat actions' }).click();
  await page.getByRole('menuitem', { name: 'Share' }).click();
  await expect(dialog(page).getByRole('region', { name: 'Members' })).toBeVisible();
}

test('a link opens the chat for somebody else, until it is ended', async ({ page, api, another, server }) => {
  const id = await api.chat('Shared', ['Hello?', 'Hello, world.']);
  await open(page, id);
  const links = dialog(page).getByRole('region', { name: 'Links' });
  await expect(links).toContainText('No link is open.');
  await links.getByRole('button', { name: 'Create link' }).click();
  const link = await links.getByRole('textbox', { name: 'New link' }).inputValue();
  expect(link).toMatch(new RegExp(`/chat/${id}\\?share=`));
  await expect(links.getByRole('listitem')).toHaveCount(1);
  await expect(links.getByRole('listitem')).toContainText('Read');

  const stranger = await another({ extraHTTPHeaders: { 'X-User-Id': 'stranger' } });
  const other = await stranger.newPage();
  await other.goto(link.replace(/^https?:\/\/[^/]+/, server.url));
  await expect(messages(other)).toHaveCount(2);
  await expect(messages(other).nth(1)).toContainText('Hello, world.');
  await expect(other.getByRole('button', { name: 'New chat' })).toHaveCount(0);
  await act(other, messages(other).nth(1), 'Fork chat from here');
  await other.getByRole('dialog', { name: 'Fork chat' }).getByRole('button', { name: 'Fork', exact: true }).click();
  await expect(other.getByRole('button', { name: 'New chat' })).toBeVisible();
  await expect(messages(other)).toHaveCount(2);
  const [fork] = (await api.as('stranger').get('sessions')).sessions;
  expect(fork).toMatchObject({ owner: 'stranger', visibility: 'private' });

  await links.getByRole('button', { name: 'End link' }).click();
  await expect(links).toContainText('No link is open.');
  await expect(links.getByRole('textbox', { name: 'New link' })).toHaveCount(0);
});

/** A key for a user of a server that wants one. */
const makeKey = (db: string, user: string) =>
  /rmt_\S+/.exec(execFileSync(RAMET, ['--db', db, 'token', 'create', '--user', user], { encoding: 'utf8' }))![0];

/** Calls the API with a key. */
const keyed = (url: string, token: string) => async (method: string, path: string, json?: unknown) => {
  const answer = await fetch(`${url}/ramet/v1/${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(json === undefined ? {} : { 'Content-Type': 'application/json' }) },
    body: json === undefined ? undefined : JSON.stringify(json),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.status === 204 ? undefined : await answer.json();
};

test('where people sign in, a link opens without an account, and forking asks for a sign-in', async ({ another }) => {
  const server = await startServer(['--auth', 'tokens']);
  const context = await another({ extraHTTPHeaders: {}, baseURL: server.url });
  try {
    const [ann, bob] = [makeKey(server.db, 'ann'), makeKey(server.db, 'bob')];
    const call = keyed(server.url, ann);
    const { id } = await call('POST', 'sessions', { title: 'Shared' });
    await call('POST', `sessions/${id}/entries`, { entries: [{ role: 'user', text: 'Hello?' }, { role: 'assistant', text: 'Hello, world.' }] });
    const link = await call('POST', `sessions/${id}/shares`, {});
    const page = await context.newPage();
    await page.goto(`/chat/${id}?share=${link.token}`);
    await expect(messages(page)).toHaveCount(2);
    await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveCount(0);
    await expect(page.getByText('You may read this chat.')).toBeVisible();

    // It follows what is said there.
    await call('POST', `sessions/${id}/entries`, { entries: [{ role: 'user', text: 'And now?' }] });
    await expect(messages(page)).toHaveCount(3);

    await page.getByRole('button', { name: 'Fork chat', exact: true }).click();
    await expect(page.getByText('Sign in to fork this chat.')).toBeVisible();
    await page.getByRole('button', { name: 'Not now' }).click();
    await expect(page.getByLabel('API key')).toHaveCount(0);
    await expect(messages(page)).toHaveCount(3);
    await page.getByRole('button', { name: 'Fork chat', exact: true }).click();
    await page.getByLabel('API key').fill(bob);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('dialog', { name: 'Fork chat' }).getByRole('button', { name: 'Fork', exact: true }).click();
    await expect(page.getByRole('button', { name: 'New chat' })).toBeVisible();
    await expect(messages(page)).toHaveCount(3);
    const [fork] = (await keyed(server.url, bob)('GET', 'sessions')).sessions;
    expect(fork).toMatchObject({ owner: 'bob', visibility: 'private' });
  } finally {
    await context.close();
    await server.stop();
  }
});

test('a link that was made for writing writes without an account, as a guest; an ended one says so', async ({ another, allow }) => {
  allow(/404/);
  const server = await startServer(['--auth', 'tokens']);
  const context = await another({ extraHTTPHeaders: {}, baseURL: server.url });
  try {
    const call = keyed(server.url, makeKey(server.db, 'ann'));
    const { id } = await call('POST', 'sessions', { title: 'Shared', agent: 'echo' });
    await call('POST', `sessions/${id}/entries`, { entries: [{ role: 'user', text: 'Hello?' }] });
    const link = await call('POST', `sessions/${id}/shares`, { write: true });
    const page = await context.newPage();
    await page.goto(`/chat/${id}?share=${link.token}`);
    await expect(messages(page)).toHaveCount(1);
    await composer(page).fill('by a guest');
    await page.keyboard.press('Enter');
    await expect(messages(page)).toHaveCount(3);
    await answered(page);
    await expect(page.getByRole('button', { name: 'Attach files' })).toHaveCount(0);
    const { entries } = await call('GET', `sessions/${id}/entries`);
    expect(entries.slice(1).map((entry: { text: string; author: string }) => [entry.text, entry.author])).toEqual([
      ['by a guest', `link:${link.id}`],
      ['by a guest', 'echo'],
    ]);
    await call('DELETE', `sessions/${id}/shares/${link.id}`);
    await page.reload();
    await expect(page.getByText('This link has ended')).toBeVisible();
  } finally {
    await context.close();
    await server.stop();
  }
});

test('where nobody signs in, a page that a link opened has the rights of the link alone', async ({ page, api, server }) => {
  const id = await api.chat('Shared', ['Hello?', 'Hello, world.']);
  const other = await api.chat('Other', ['Secret?']);
  const link = await api.post(`sessions/${id}/shares`);
  const alone: (string | undefined)[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/ramet/v1/')) alone.push(request.headers()['x-ramet-share-only']);
  });
  // The owner's own browser.
  await page.goto(`${server.url}/chat/${id}?share=${link.token}`);
  await expect(messages(page)).toHaveCount(2);
  await expect(page.getByText('You may read this chat.')).toBeVisible();
  await expect(composer(page)).toHaveCount(0);
  expect(new Set(alone)).toEqual(new Set(['true']));
  // Without the header the owner is the owner.
  await page.goto(`/chat/${other}`);
  await expect(composer(page)).toBeVisible();
});

test('members are added, raised and removed, a tree is handed over, a chat made private', async ({ page, api, user }) => {
  const id = await api.chat('Team', ['Hello?']);
  await open(page, id);
  const members = dialog(page).getByRole('region', { name: 'Members' });
  await expect(members.getByRole('listitem')).toHaveText([`${user} (you)Owner`]);
  await members.getByRole('textbox', { name: 'User' }).fill('bob');
  await members.getByLabel('Level', { exact: true }).selectOption('writer');
  await members.getByRole('button', { name: 'Add member' }).click();
  const bobs = members.getByRole('combobox', { name: 'Level of bob' });
  await expect(bobs).toHaveValue('writer');
  expect((await api.as('bob').get(`sessions/${id}`)).title).toBe('Team');
  await bobs.selectOption('manager');
  await expect(bobs).toBeEnabled();
  await expect(bobs).toHaveValue('manager');
  await members.getByRole('button', { name: 'Remove bob' }).click();
  await expect(members.getByRole('listitem')).toHaveCount(1);
  await expect(api.as('bob').get(`sessions/${id}`)).rejects.toThrow(/404/);

  await members.getByRole('textbox', { name: 'User' }).fill('carol');
  await members.getByRole('button', { name: 'Add member' }).click();
  await expect(members.getByRole('combobox', { name: 'Level of carol' })).toHaveValue('writer');
  const seen = dialog(page).getByRole('combobox', { name: 'Who sees this chat' });
  await seen.selectOption('private');
  await expect(seen).toBeEnabled();
  await expect(seen).toHaveValue('private');
  await expect(api.as('carol').get(`sessions/${id}`)).rejects.toThrow(/404/);
  await seen.selectOption('tree');
  await expect(seen).toHaveValue('tree');

  await members.getByRole('combobox', { name: 'Level of carol' }).selectOption('owner');
  await expect(members).toContainText('The tree will be carol’s, and you its manager.');
  expect((await api.get(`sessions/${id}/members`)).members).toContainEqual({ user, level: 'owner' });
  await members.getByRole('button', { name: 'Hand over' }).click();
  await expect(members.getByRole('listitem').filter({ hasText: 'carol' })).toHaveText('carolOwner');
  expect((await api.get(`sessions/${id}/members`)).members).toContainEqual({ user: 'carol', level: 'owner' });
});

test('a reader sees members, and cannot make links', async ({ page, api, user }) => {
  const id = await api.as('carol').chat('Carol’s', ['Hello?']);
  await api.as('carol').put(`sessions/${id}/members/${user}`, { level: 'reader' });
  await open(page, id);
  await expect(dialog(page)).toContainText('Links are made by the chat’s owner');
  await expect(dialog(page).getByRole('button', { name: 'Add member' })).toHaveCount(0);
  await dialog(page).getByRole('button', { name: 'Leave' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(api.get(`sessions/${id}`)).rejects.toThrow(/404/);
});

