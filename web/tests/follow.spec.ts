// SPDX-License-Identifier: Apache-2.0
// The view follows an answer until its reader scrolls up, and brings him back.
import { act, answered, composer, expect, messages, test, type Page } from './lib';

const scroller = (page: Page) => page.locator('.chat-scroll');
/** How far the end is below the view. */
const toGo = (page: Page) => scroller(page).evaluate((box) => Math.round(box.scrollHeight - box.scrollTop - box.clientHeight));
const top = (page: Page) => scroller(page).evaluate((box) => box.scrollTop);
const newest = (page: Page) => page.getByRole('button', { name: /^(Newest|\d+ new)$/ });
const TALL = Array.from({ length: 40 }, (_, i) => `Message ${i}\n\n- one\n- two\n- three`);

test('the view follows the answer in a tall chat, from the moment of sending', async ({ page, api }) => {
  const id = await api.chat('Tall', TALL);
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(40);
  // From the middle of the chat, too.
  await scroller(page).evaluate((box) => (box.scrollTop = 500));
  await expect(newest(page)).toBeVisible();
  await composer(page).fill('/slow 2\n/count 2500');
  await page.keyboard.press('Enter');
  for (const word of [100, 500, 1000, 1500, 2000, 2500]) {
    await expect(messages(page).last()).toContainText(` ${word}`);
    await expect.poll(() => toGo(page), `at ${word}`).toBeLessThan(40);
    await expect(newest(page)).toHaveCount(0);
  }
  await answered(page);
  await expect.poll(() => toGo(page)).toBeLessThan(40);

  // So it is with an edited message and an answer made again.
  await scroller(page).evaluate((box) => (box.scrollTop = 0));
  await act(page, messages(page).nth(40), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('/slow 2\n/count 900');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(messages(page).last()).toContainText(' 899 900');
  await answered(page);
  await expect.poll(() => toGo(page)).toBeLessThan(40);
});

test('scrolling up ends it, by however little; a button brings back, with a count of what is new', async ({ page, api }) => {
  const id = await api.chat('Up', TALL);
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(40);
  await composer(page).fill('/slow 10\n/count 9000');
  await page.keyboard.press('Enter');
  await expect(messages(page).last()).toContainText(' 200');
  await scroller(page).hover();
  await page.mouse.wheel(0, -20);
  await expect(newest(page)).toHaveText('Newest');
  const at = await top(page);
  await expect(messages(page).last()).toContainText(' 400');
  expect(await top(page)).toBe(at);
  await newest(page).click();
  await expect(newest(page)).toHaveCount(0);
  await expect(messages(page).last()).toContainText(' 600');
  await expect.poll(() => toGo(page)).toBeLessThan(40);
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await answered(page);

  await scroller(page).hover();
  await page.mouse.wheel(0, -2000);
  await expect(newest(page)).toHaveText('Newest');
  await api.post(`sessions/${id}/entries`, { entries: [{ role: 'user', text: 'and' }, { role: 'assistant', text: 'more' }] });
  await expect(newest(page)).toHaveText('2 new');
  await api.post(`sessions/${id}/messages`, { text: 'a third' });
  await expect(newest(page)).toHaveText('4 new');
  await newest(page).click();
  await expect(newest(page)).toHaveCount(0);
  await expect(messages(page).last()).toBeInViewport();
});
