// SPDX-License-Identifier: Apache-2.0
//
// SessionTagsManager: add, remove, suggestions, colours.
import { expect, type Page, test } from './lib';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Tags' });
const field = (page: Page) => dialog(page).getByRole('textbox', { name: 'Add tag' });
const open = (page: Page) => page.getByRole('button', { name: 'Tags', exact: true }).click();

test('tags are added, suggested, coloured and removed', async ({ page, api }) => {
  await api.chat('Other', ['x'], { tags: ['travel', 'work'] });
  const id = await api.chat('Tagged', ['x'], { tags: ['old'] });
  await page.goto('/chat/' + id);
  await open(page);

  const inUse = dialog(page).getByRole('group', { name: 'In use' });
  await expect(inUse.getByRole('button')).toHaveText(['travel', 'work']);
  await field(page).fill('tra');
  await expect(inUse.getByRole('button')).toHaveText(['travel']);
  await inUse.getByRole('button', { name: 'travel' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Remove tag travel' })).toBeVisible();
  await expect(field(page)).toHaveValue('');

  await field(page).fill('Night Train');
  await field(page).press('Enter');
  await expect(dialog(page).getByRole('button', { name: 'Remove tag night train' })).toBeVisible();
  await field(page).fill('a, b');
  await field(page).press('Enter');
  await expect(dialog(page).getByRole('button', { name: /^Remove tag/ })).toHaveCount(5);
  await dialog(page).getByRole('button', { name: 'Remove tag old' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Remove tag old' })).toHaveCount(0);

  await field(page).fill('x'.repeat(51));
  await field(page).press('Enter');
  await expect(dialog(page).getByRole('alert')).toHaveText('A tag has at most 50 characters.');
  await expect(field(page)).toHaveValue('x'.repeat(51));

  await dialog(page).getByRole('button', { name: 'Colour of travel' }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Purple' }).click();
  const tag = dialog(page).getByRole('listitem').filter({ hasText: 'travel' }).locator('.ui-tag');
  await expect(tag).toHaveClass(/ui-tag-hue-3/);
  await dialog(page).getByRole('button', { name: 'Colour of a', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: 'Red' }).click();
  await dialog(page).getByRole('button', { name: 'Done' }).click();
  await expect(page.getByRole('button', { name: 'Tags', exact: true })).toBeFocused();

  // The chosen colour is everywhere that the tag is.
  const head = page.locator('header').locator('.ui-tag', { hasText: 'travel' });
  await expect(head).toHaveClass(/ui-tag-hue-3/);
  await page.getByRole('button', { name: 'Timeline', exact: true }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Tagged' }).locator('.ui-tag', { hasText: /^a$/ })).toHaveClass(/ui-tag-hue-4/);
  await page.getByRole('button', { name: 'Back to the chat' }).click();

  await page.reload();
  await expect(head).toHaveClass(/ui-tag-hue-3/);
  await open(page);
  await expect(dialog(page).getByRole('button', { name: /^Remove tag/ })).toHaveCount(4);
  await expect(tag).toHaveClass(/ui-tag-hue-3/);
  expect((await api.get(`sessions/${id}`)).tags).toEqual(['a', 'b', 'night train', 'travel']);
});
