// SPDX-License-Identifier: Apache-2.0
// What is written while an answer is made, or while the server is away: queued, changed, taken away, sent.
import { answered, Api, composer, expect, messages, startServer, test, type Page } from './lib';

const queued = (page: Page) => page.getByRole('article', { name: 'Queued message' });
const SLOW = '/slow 20\n/count 9000';
const stop = (page: Page) => page.getByRole('button', { name: 'Stop', exact: true });

test('Enter while an answer is made queues; edited, removed, sent in order when it ends', async ({ page, api }) => {
  const id = await api.chat('Queue', ['one', 'two']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill(SLOW);
  await page.keyboard.press('Enter');
  await expect(messages(page).last()).toContainText('1 2 3');
  for (const text of ['first', 'second', 'third']) {
    await composer(page).fill(text);
    await page.keyboard.press('Enter');
    await expect(composer(page)).toHaveValue('');
  }
  await expect(queued(page)).toHaveCount(3);
  await expect(queued(page).first()).toContainText('Queued until the answer ends');
  // By the button, too.
  await composer(page).fill('fourth');
  await page.getByRole('button', { name: 'Queue', exact: true }).click();
  await expect(queued(page)).toHaveCount(4);
  await expect(composer(page)).toBeFocused();
  await queued(page).nth(1).getByRole('button', { name: 'Remove queued message' }).click();
  await expect(queued(page).locator('.chat-body')).toHaveText(['first', 'third', 'fourth']);
  await queued(page).nth(1).getByRole('button', { name: 'Edit queued message' }).click();
  const field = page.getByRole('textbox', { name: 'Edit queued message' });
  await expect(field).toBeFocused();
  await field.fill('third, better');
  await page.keyboard.press('Enter');
  await expect(queued(page).locator('.chat-body')).toHaveText(['first', 'third, better', 'fourth']);
  // They are still there after a reload.
  await page.reload();
  await expect(queued(page)).toHaveCount(3);
  expect(await api.texts(id)).toHaveLength(3);
  await stop(page).click();
  await expect(queued(page)).toHaveCount(0);
  await answered(page);
  await expect(messages(page)).toHaveCount(10);
  const said = await api.texts(id);
  expect(said.slice(4)).toEqual(['first', 'first', 'third, better', 'third, better', 'fourth', 'fourth']);
});

test('what is queued in one chat is sent while another is open', async ({ page, api }) => {
  const id = await api.chat('Here', ['one', 'two']);
  await api.chat('There', ['x', 'y']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill(SLOW);
  await page.keyboard.press('Enter');
  await expect(messages(page).last()).toContainText('1 2 3');
  await composer(page).fill('later');
  await page.keyboard.press('Enter');
  await expect(queued(page)).toHaveCount(1);
  await page.getByRole('link', { name: 'There' }).click();
  await expect(messages(page)).toHaveCount(2);
  const { turns } = await api.get(`sessions/${id}/turns`);
  await api.post(`sessions/${id}/cancel`, { turn_id: turns[0].id });
  await expect.poll(async () => (await api.texts(id)).slice(4)).toEqual(['later', 'later']);
});

test('Ctrl+Enter sends it at once, to a fork', async ({ page, api }) => {
  const id = await api.chat('Fork it', ['one', 'two']);
  await page.goto(`/chat/${id}`);
  await composer(page).fill(SLOW);
  await page.keyboard.press('Enter');
  await expect(messages(page).last()).toContainText('1 2 3');
  await composer(page).fill('meanwhile');
  await page.keyboard.press('Control+Enter');
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(messages(page).last()).toContainText('meanwhile');
  await answered(page);
  const { sessions } = await api.get(`sessions/${id}/children`);
  expect(sessions).toHaveLength(1);
  expect((await api.texts(sessions[0].id)).slice(-2)).toEqual(['meanwhile', 'meanwhile']);
  expect((await api.get(`sessions/${id}`)).running).toBeTruthy();
  await page.goBack();
  await expect(queued(page)).toHaveCount(0);
  await stop(page).click();
  await answered(page);
});

test('without a connection: queued, edited, removed, sent when it is back', async ({ another, user, allow }) => {
  allow(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/);
  let server = await startServer(['--stop-seconds', '0']);
  const { url, db } = server;
  const api = new Api(url, user);
  const id = await api.chat('Away', ['one', 'two']);
  const context = await another({ baseURL: url });
  try {
    const page = await context.newPage();
    await page.goto(`/chat/${id}`);
    await expect(messages(page)).toHaveCount(2);
    await server.halt();
    await expect(page.getByText(/^Offline/)).toBeVisible();
    for (const text of ['not this', 'but that']) {
      await composer(page).fill(text);
      await page.keyboard.press('Enter');
    }
    await expect(queued(page)).toHaveCount(2);
    await expect(queued(page).first()).toContainText('Queued until the server is back');
    await queued(page).first().getByRole('button', { name: 'Remove queued message' }).click();
    await queued(page).first().getByRole('button', { name: 'Edit queued message' }).click();
    await page.getByRole('textbox', { name: 'Edit queued message' }).fill('but that, please');
    await page.getByRole('button', { name: 'Save' }).click();
    server = await startServer([], { db, port: Number(new URL(url).port) });
    await expect.poll(() => api.texts(id)).toEqual(['one', 'two', 'but that, please', 'but that, please']);
    await expect(queued(page)).toHaveCount(0);
    await expect(messages(page)).toHaveCount(4);
  } finally {
    await context.close();
    await server.stop();
  }
});
