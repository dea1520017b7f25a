// SPDX-License-Identifier: Apache-2.0
//
// versions.spec.ts: the picker of a message's versions, and who may only browse.
import { act, answered, expect, messages, say, test, type Page } from './lib';

const previous = (page: Page, n: number) => messages(page).nth(n).getByRole('button', { name: 'Previous version' });
const next = (page: Page, n: number) => messages(page).nth(n).getByRole('button', { name: 'Next version' });

async function edit(page: Page, n: number, text: string) {
  await act(page, messages(page).nth(n), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill(text);
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(messages(page).nth(n)).toContainText(text);
  await answered(page);
}

test('edit, pick, reload: the same version is shown; a list with previews', async ({ page, api }) => {
  await page.goto('/');
  await say(page, 'first');
  await expect(page.getByRole('button', { name: 'Next version' })).toHaveCount(0); // one version: no picker
  await say(page, 'on and on');
  await edit(page, 0, 'second');
  await edit(page, 0, 'third');
  await expect(messages(page).nth(0)).toContainText('3/3');
  await expect(next(page, 0)).toBeDisabled();
  await previous(page, 0).click();
  await expect(messages(page).nth(0)).toContainText('2/3');
  await expect(messages(page).nth(1)).toContainText('second');
  await previous(page, 0).click();
  await expect(messages(page).nth(0)).toContainText('1/3');
  await expect(messages(page)).toHaveCount(4); // what followed the first version is there again
  await expect(previous(page, 0)).toBeDisabled();
  await page.reload();
  await expect(messages(page).nth(0)).toContainText('1/3');
  await expect(messages(page)).toHaveCount(4);
  const id = page.url().split('/').at(-1)!;
  expect(await api.texts(id)).toEqual(['first', 'first', 'on and on', 'on and on']);

  // By keys, on the message that has versions.
  await page.keyboard.press('Control+]');
  await expect(messages(page).nth(0)).toContainText('2/3');
  await page.keyboard.press('Control+[');
  await expect(messages(page).nth(0)).toContainText('1/3');

  // The list, by its key, with previews.
  await messages(page).nth(0).focus();
  await page.keyboard.press('Control+Shift+B');
  const list = page.getByRole('dialog', { name: 'Versions of this message' });
  await expect(list.getByRole('listitem')).toHaveCount(3);
  await expect(list.getByRole('listitem').nth(1)).toContainText('second');
  await list.getByRole('button', { name: /second/ }).click();
  await expect(messages(page).nth(0)).toContainText('2/3');
  await messages(page).nth(0).getByRole('button', { name: 'Version 2 of 3' }).click();
  await list.getByRole('button', { name: 'Compare versions' }).click();
  await expect(page).toHaveURL(/\/compare\?side=/);
});

test('regenerated answers are versions; a turn that runs goes on while another version is read', async ({ page, api }) => {
  const id = await api.chat('Runs', ['/slow 50\n/count 60']);
  await page.goto(`/chat/${id}`);
  await act(page, messages(page).nth(0), 'Regenerate');
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await answered(page);
  await act(page, messages(page).nth(1), 'Regenerate');
  await expect(messages(page).nth(1)).toContainText('1 2 3 4');
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toHaveCount(0, { timeout: 20_000 });
  await expect(messages(page).nth(1)).toContainText('2/2');
  await expect(messages(page).nth(1)).toContainText('59 60');
});

test('who may not write browses versions, and the head stays', async ({ page, api, user }) => {
  const ann = api.as(`${user}-owner`);
  const id = await ann.chat('Shared', ['one', 'two']);
  const entry = (await ann.get(`sessions/${id}/entries`)).entries[1].id;
  await ann.post(`sessions/${id}/edit`, { entry_id: entry, text: 'two, again' });
  await ann.put(`sessions/${id}/members/${user}`, { level: 'reader' });
  const head = (await ann.get(`sessions/${id}`)).head.branch_id;
  await page.goto(`/chat/${id}`);
  await expect(messages(page).nth(1)).toContainText('2/2');
  await expect(page.getByRole('textbox', { name: 'Message', exact: true })).toHaveCount(0);
  await previous(page, 1).click();
  await expect(messages(page).nth(1)).toContainText('1/2');
  await expect(messages(page).nth(1)).not.toContainText('again');
  await next(page, 1).click();
  await expect(messages(page).nth(1)).toContainText('two, again');
  await previous(page, 1).click();
  await expect(messages(page).nth(1)).toContainText('1/2');
  await page.getByRole('button', { name: 'Back', exact: true }).click();
  await expect(messages(page).nth(1)).toContainText('2/2');
  expect((await ann.get(`sessions/${id}`)).head.branch_id).toBe(head);
  await messages(page).nth(1).click({ button: 'right' });
  await expect(page.getByRole('menuitem', { name: 'Copy', exact: true })).toBeVisible();
  for (const name of ['Edit', 'Regenerate', 'Rewind to here'])
    await expect(page.getByRole('menuitem', { name, exact: true })).toHaveCount(0);
});
