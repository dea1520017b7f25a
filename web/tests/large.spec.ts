// SPDX-License-Identifier: Apache-2.0
// A chat of 5,000 messages: opens at its end, reads what comes into view, and versions are quick.
import { composer, expect, messages, say, test } from './lib';

const ALL = 5000;

test('5,000 messages: the end at once, the rest by scrolling, versions without delay', async ({ page, api }) => {
  test.setTimeout(60_000);
  const id = await api.chat('A long story');
  for (let from = 0; from < ALL; from += 1000)
    await api.post(`sessions/${id}/entries`, {
      entries: Array.from({ length: 1000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', text: `line ${from + i}` })),
    });
  const last = (await api.get(`sessions/${id}/entries?tail=true&limit=1`)).entries[0];
  await api.post(`sessions/${id}/entries/${last.id}/edit`, { entry: { text: 'line 4999, told anew' } });

  await page.goto(`/chat/${id}`);
  await expect(messages(page).last()).toContainText('told anew');
  await expect(messages(page).last()).toBeInViewport();
  expect(await messages(page).count()).toBeLessThan(400);

  // As many messages stay on the page, whatever way one has scrolled.
  const log = page.getByRole('log');
  const first = async () => Number(/\d+/.exec(await messages(page).first().locator('.chat-body').innerText())![0]);
  for (let at = await first(); at > 4700; ) {
    await messages(page).first().scrollIntoViewIfNeeded();
    await expect.poll(first).toBeLessThan(at);
    at = await first();
  }
  expect(await messages(page).count()).toBeLessThan(700);
  await expect(log).toBeVisible();

  await page.reload();
  await expect(messages(page).last()).toContainText('told anew');
  const clicked = Date.now();
  await messages(page).last().getByRole('button', { name: 'Previous version' }).click();
  await expect(messages(page).last()).not.toContainText('told anew');
  test.info().annotations.push({ type: 'another version, ms', description: String(Date.now() - clicked) });
  await composer(page).focus();
  await say(page, 'the end');
  await expect(messages(page).last()).toBeInViewport();
  expect((await api.get(`sessions/${id}`)).head.length).toBe(ALL + 2);
});

test('a hit far back is opened where it stands', async ({ page, api }) => {
  const id = await api.chat('Far back');
  const { entries } = await api.post(`sessions/${id}/entries`, {
    entries: Array.from({ length: 1000 }, (_, i) => ({ role: i % 2 ? 'assistant' : 'user', text: `line ${i}` })),
  });
  await page.goto(`/chat/${id}?entry=${entries[200].id}`);
  const target = page.locator(`article[data-entry="${entries[200].id}"]`);
  await expect(target).toBeInViewport();
  await page.reload();
  await expect(target).toBeInViewport();
});
