// SPDX-License-Identifier: Apache-2.0
//
// Search over titles and content, with the jump to the hit, on abandoned branches too.
import { expect, messages, type Page, test } from './lib';

const box = (page: Page) => page.getByRole('searchbox', { name: 'Search' });
const found = (page: Page) => page.getByRole('region', { name: 'Found' });

test('messages are found as one types, and a hit opens its chat there', async ({ page, api }) => {
  const id = await api.chat('Trip', ['How do I reach Lisbon?', 'By the night train.', 'Thanks.', 'Bon voyage.']);
  await api.chat('Other', ['Nothing of that kind', 'Indeed.']);
  await page.goto('/');
  await box(page).fill('night tra');
  const hit = found(page).getByRole('link', { name: /night train/ });
  await expect(hit.locator('mark')).toHaveText(['night', 'train']);
  await hit.click();
  const entry = (await api.get(`sessions/${id}/entries`)).entries[1].id;
  await expect(page).toHaveURL(new RegExp(`/chat/${id}\\?entry=${entry}$`));
  await expect(messages(page).filter({ hasText: 'night train' })).toBeInViewport();
});

test('a hit on an abandoned branch says so and opens that branch', async ({ page, api }) => {
  const id = await api.chat('Trip', ['Where to?', 'To the marmalade factory.']);
  const { entries } = await api.get(`sessions/${id}/entries`);
  await api.post(`sessions/${id}/rewind`, { at: { entry_id: entries[0].id } });
  await api.post(`sessions/${id}/entries`, { entries: [{ role: 'assistant', text: 'To the sea.' }] });
  await page.goto('/');
  await box(page).fill('marmalade');
  const hit = found(page).getByRole('link', { name: /marmalade/ });
  await expect(hit).toContainText('abandoned branch');
  await hit.click();
  await expect(page).toHaveURL(new RegExp(`/chat/${id}\\?entry=${entries[1].id}&branch=b\\d+`));
  await expect(messages(page).locator('.chat-body')).toHaveText([/Where to/, /marmalade/]);
  await expect(page.getByText('This is an abandoned branch.')).toBeVisible();
  await page.getByRole('button', { name: 'Back' }).click();
  await expect(messages(page).locator('.chat-body')).toHaveText([/Where to/, /sea/]);
});

test('hits are walked by arrows, more come on demand', async ({ page, api }) => {
  await api.chat('Long', Array.from({ length: 30 }, (_, i) => `pumpkin ${i}`));
  await page.goto('/');
  await box(page).fill('pumpkin');
  await expect(found(page).getByRole('link')).toHaveCount(20);
  await box(page).press('ArrowDown');
  await expect(found(page).getByRole('link').nth(0)).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await expect(found(page).getByRole('link').nth(1)).toBeFocused();
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  await expect(box(page)).toBeFocused();
  await found(page).getByRole('button', { name: 'More' }).click();
  await expect(found(page).getByRole('link')).toHaveCount(30);
});

test('titles are found, archived ones too; filters count; nothing found says how to search', async ({ page, api }) => {
  const id = await api.chat('Quarterly numbers', ['walnut']);
  await api.patch(`sessions/${id}`, { archived: true });
  await api.chat('Tagged', ['walnut'], { tags: ['nuts'] });
  await page.goto('/');
  await box(page).fill('xylophone');
  await expect(found(page).getByText('Nothing found')).toBeVisible();
  await box(page).press('Escape');
  await expect(box(page)).toHaveValue('');
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Tagged' })).toBeVisible();

  await box(page).fill('walnut');
  await expect(found(page).getByRole('link')).toHaveCount(2);
  await page.getByRole('button', { name: 'Filter', exact: true }).click();
  await page.getByRole('menuitemcheckbox', { name: /^nuts/ }).click();
  await expect(found(page).getByRole('link')).toHaveCount(1);
  await page.getByRole('button', { name: 'Remove filter nuts' }).click();

  await box(page).fill('quarterly');
  const hit = found(page).getByRole('link', { name: /Quarterly numbers/ });
  await expect(hit).toContainText('archived');
  await hit.click();
  await expect(page).toHaveURL(new RegExp(`/chat/${id}$`));
});
