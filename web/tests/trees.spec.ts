// SPDX-License-Identifier: Apache-2.0
// The tree where there are more chats than the first page: forks are found, the open chat is shown and marked.
import { expect, messages, test } from './lib';

test('the open chat is shown and marked, however old; nothing says that nothing is forked', async ({ page, api }) => {
  const old = await api.chat('Old one', ['a', 'b']);
  const fork = await api.post(`sessions/${old}/fork`, { title: 'Old fork' });
  await api.post(`sessions/${fork.id}/entries`, { entries: [{ role: 'user', text: 'c' }] });
  for (let i = 0; i < 21; i++)
    await Promise.all(Array.from({ length: 10 }, (_, k) => api.post('sessions', { title: `Chat ${10 * i + k}` })));
  await page.addInitScript(() => localStorage.setItem('ramet.sidebar.mode', '"tree"'));
  await page.goto(`/chat/${fork.id}`);
  await expect(messages(page)).toHaveCount(3);
  const row = page.getByRole('treeitem', { name: 'Old fork' });
  await expect(row).toHaveAttribute('aria-current', 'page');
  await expect(row).toBeInViewport();
  await expect(row).toHaveAttribute('aria-level', '2');
  await expect(page.getByText('Nothing is forked yet')).toHaveCount(0);

  // A dialog that closes leaves the list where it is.
  const list = page.locator('.side-scroll');
  await list.hover();
  await page.mouse.wheel(0, -1500);
  await expect(row).not.toBeInViewport();
  const at = await list.evaluate((box) => box.scrollTop);
  await page.getByRole('button', { name: 'Tags', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Tags' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  expect(await list.evaluate((box) => box.scrollTop)).toBe(at);
});
