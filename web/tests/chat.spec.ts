// SPDX-License-Identifier: Apache-2.0
//
// chat.spec.ts: a chat is begun, answered, stopped, tried again; what an answer is made of.
import { act, answered, composer, expect, messages, say, test } from './lib';

const send = (page: import('./lib').Page) => page.getByRole('button', { name: 'Send', exact: true });
const stop = (page: import('./lib').Page) => page.getByRole('button', { name: 'Stop', exact: true });

test('a chat begins at / and has a place with its first message', async ({ page, api }) => {
  await page.goto('/');
  await composer(page).fill('Hello there');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/chat\/[^/?]+$/);
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).nth(0).locator('.chat-body')).toHaveText('Hello there');
  await expect(messages(page).nth(1).locator('.chat-body')).toHaveText('Hello there');
  await answered(page);
  const id = page.url().split('/').at(-1)!;
  expect(await api.texts(id)).toEqual(['Hello there', 'Hello there']);
  await page.reload();
  await expect(messages(page)).toHaveCount(2);
});

test('New chat leaves nothing behind until something is said', async ({ page, api }) => {
  await page.goto('/');
  await page.getByRole('button', { name: 'New chat' }).click();
  await expect(page).toHaveURL(/\/chat\//);
  await expect(composer(page)).toBeFocused();
  await composer(page).fill('a draft');
  await page.reload();
  await expect(composer(page)).toHaveValue('a draft');
  expect((await api.get('sessions')).sessions).toEqual([]);
  await send(page).click();
  await expect(messages(page)).toHaveCount(2);
  await expect(composer(page)).toHaveValue('');
});

test('an answer streams, is drawn as Markdown, and code has colours', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/slow 150\nSome **bold** words\n\n```js\nconst x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |');
  await send(page).click();
  await expect(stop(page)).toBeVisible();
  await expect(messages(page).last()).toHaveAttribute('aria-busy', 'true');
  await expect(messages(page).last().locator('strong')).toHaveText('bold');
  await expect(stop(page)).toHaveCount(0);
  await expect(messages(page).last().locator('.hljs-keyword')).toHaveText('const');
  await expect(messages(page).last().getByText('js', { exact: true })).toBeVisible();
  await expect(messages(page).last().getByRole('table')).toBeVisible();
});

test('nothing of an answer is run or fetched from elsewhere', async ({ page }) => {
  await page.goto('/');
  await say(
    page,
    'x <script>window.hacked=1</script> <img src=x onerror="window.hacked=2"> ![far](https://example.com/a.png) [bad](javascript:window.hacked=3)',
  );
  const answer = messages(page).last();
  await expect(answer.locator('img, script')).toHaveCount(0);
  await expect(answer.getByRole('link', { name: 'far' })).toBeVisible();
  expect(await answer.locator('a[href^="javascript"]').count()).toBe(0);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('Stop ends an answer; what came is kept, and it can be tried again', async ({ page, api }) => {
  await page.goto('/');
  await composer(page).fill('/slow 60\n/count 500');
  await send(page).click();
  await expect(messages(page).last()).toContainText('1 2 3');
  await stop(page).click();
  await expect(stop(page)).toHaveCount(0);
  await expect(messages(page)).toHaveCount(2);
  await expect(messages(page).last()).toContainText('1 2 3');
  const id = page.url().split('/').at(-1)!;
  expect((await api.get(`sessions/${id}/turns`)).turns[0].status).toBe('cancelled');
  await expect(page.getByRole('note').getByText('Stopped')).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(stop(page)).toBeVisible();
  await stop(page).click();
  await expect(messages(page).last().getByRole('button', { name: 'Version 2 of 2' })).toBeVisible();
});

test('an answer that failed says why and can be tried again', async ({ page }) => {
  await page.goto('/');
  await say(page, '/fail after 2 the model is gone');
  await expect(page.getByRole('note').getByText(/told to fail/)).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(messages(page).last().getByRole('button', { name: 'Version 2 of 2' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('note').getByText(/told to fail/)).toBeVisible();
});

test('tools are folded, thoughts too, plans are cards', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/think about it\n/tool weather {"city": "Lisbon"}\n/plan look; tell\nIt is sunny.');
  await send(page).click();
  await expect(messages(page)).toHaveCount(5);
  await expect(messages(page).last()).toContainText('It is sunny.');
  await expect(page.getByText('Lisbon"')).toHaveCount(1); // what was sent, and nothing else
  await page.getByRole('button', { name: 'Tool weather, done' }).click();
  await expect(messages(page).nth(2).locator('pre').first()).toContainText('"city": "Lisbon"');
  await page.getByRole('button', { name: 'Result of weather' }).click();
  await expect(messages(page).nth(3).locator('pre')).toContainText('echo');
  await page.getByRole('button', { name: 'Thoughts' }).click();
  await expect(messages(page).nth(1)).toContainText('about it');
  const plan = page.getByRole('region', { name: 'Plan' });
  await expect(plan.getByRole('listitem')).toHaveText(['look', 'tell']);
});

test('a permission is asked for by a card, and survives a reload', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/permit May I delete it?');
  await send(page).click();
  const card = page.getByRole('region', { name: 'Question' });
  await expect(card).toContainText('May I delete it?');
  await page.reload();
  await card.getByRole('button', { name: /allow/i }).click();
  await expect(card).toHaveCount(0);
  await expect(messages(page).last()).toContainText('allow');
});

test('a question is answered by a text', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/ask Which town?');
  await send(page).click();
  const card = page.getByRole('region', { name: 'Question' });
  await card.getByRole('textbox', { name: 'Answer' }).fill('Porto');
  await card.getByRole('button', { name: 'Answer' }).click();
  await expect(messages(page).last()).toContainText('Porto');
  await expect(card).toHaveCount(0);
});

test('a reload in mid-answer goes on from there, and loses no word', async ({ page }) => {
  await page.goto('/');
  await composer(page).fill('/slow 40\n/count 120');
  await send(page).click();
  await expect(messages(page).last()).toContainText('1 2 3 4 5');
  await page.reload();
  await expect(stop(page)).toBeVisible();
  await expect(messages(page).last()).toContainText('1 2 3 4 5');
  await expect(stop(page)).toHaveCount(0, { timeout: 15_000 });
  const numbers = Array.from({ length: 120 }, (_, i) => i + 1).join(' ');
  await expect(messages(page).last().locator('.chat-body')).toHaveText(numbers);
});

test('usage stands under an answer, and for the branch: own and path', async ({ page, api }) => {
  await page.goto('/');
  await say(page, '/usage 120 30 100\nfirst');
  await expect(messages(page).last().getByTitle('120 tokens in, 30 out, 100 cached')).toBeVisible();
  const id = page.url().split('/').at(-1)!;
  const fork = await api.post(`sessions/${id}/fork`, {});
  await page.goto(`/chat/${fork.id}`);
  await expect(messages(page)).toHaveCount(2);
  await say(page, '/usage 7 3\nsecond');
  await page.getByRole('button', { name: /Usage/ }).click();
  const row = (name: string) => page.getByRole('dialog', { name: 'Usage' }).getByRole('row', { name });
  await expect(row('Own')).toContainText('7');
  await expect(row('Own')).not.toContainText('120');
  await expect(row('Path')).toContainText('127');

  // What it cost, of an answer and of the branch.
  await api.post(`sessions/${fork.id}/entries`, {
    entries: [{ role: 'assistant', text: 'dear', usage: { input: 10, output: 20, cost: 0.5, currency: 'EUR' } }],
  });
  await expect(messages(page).last().getByTitle('10 tokens in, 20 out, €0.50')).toBeVisible();
  await page.reload();
  await page.getByRole('button', { name: /Usage: .*€0.50/ }).click();
  await expect(row('Own')).toContainText('€0.50');
});

test('a chat that is not there says so', async ({ page, allow }) => {
  allow(/404/);
  await page.goto('/chat/nowhere');
  await expect(page.getByText('This chat is not there')).toBeVisible();
});

test('odd ids have their place, too', async ({ page, api }) => {
  const { id } = await api.post('sessions', { id: `a/b %2F ☃?# ${Date.now()}`, title: 'Odd' });
  await page.goto(`/chat/${encodeURIComponent(id)}`);
  await say(page, 'hi');
  await act(page, messages(page).last(), 'Helpful');
  await expect(page.getByRole('img', { name: 'You found this helpful' })).toBeVisible();
});
