// SPDX-License-Identifier: Apache-2.0
//
// Share links and members.
import { act, expect, messages, type Page, test } from './lib';

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

