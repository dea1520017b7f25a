// SPDX-License-Identifier: Apache-2.0
// Two windows follow each other; a connection that is lost and comes back loses nothing.
import { act, answered, Api, composer, expect, messages, say, startServer, test } from './lib';

test('two windows follow each other, word by word and move by move', async ({ page, window, api }) => {
  const id = await api.chat('Shared', ['one', 'two']);
  const other = await window();
  await page.goto(`/chat/${id}`);
  await other.goto(`/chat/${id}`);
  await expect(messages(other)).toHaveCount(2);

  await composer(page).fill('/slow 30\n/count 2000');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(other).last()).toContainText('1 2 3 4 5');
  await other.getByRole('button', { name: 'Stop', exact: true }).click();
  for (const each of [page, other]) {
    await answered(each);
    await expect(messages(each)).toHaveCount(4);
  }
  const [said, heard] = await Promise.all([page, other].map((each) => messages(each).last().locator('.chat-body').innerText()));
  expect(said).toBe(heard);

  await act(other, messages(other).nth(1), 'Rewind to here');
  await expect(messages(page)).toHaveCount(2);
  await expect(page.getByText('2 later messages set aside')).toBeVisible();
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await expect(messages(other)).toHaveCount(4);

  await act(page, messages(page).nth(3), 'Edit');
  await page.getByRole('textbox', { name: 'Edit message' }).fill('omega');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(messages(other).nth(3)).toContainText('omega');
  await expect(messages(other).nth(3)).toContainText('2/2');
  await messages(other).nth(3).getByRole('button', { name: 'Previous version' }).click();
  await expect(messages(page).nth(3)).toContainText('1 2 3 4 5');
});

test('a window opened in mid-answer goes on from there', async ({ page, window, api }) => {
  const id = await api.chat('Long', []);
  await page.goto(`/chat/${id}`);
  await composer(page).fill('/slow 30\n/count 60');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(messages(page).last()).toContainText('1 2 3');
  const other = await window();
  await other.goto(`/chat/${id}`);
  await page.reload();
  for (const each of [page, other]) {
    await expect(messages(each).last()).toContainText('60');
    await expect(messages(each)).toHaveCount(2);
    const text = await messages(each).last().locator('.chat-body').innerText();
    expect(text.trim().split(/\s+/)).toEqual(Array.from({ length: 60 }, (_, i) => String(i + 1)));
  }
});

test('what is written while the server is away is sent when it is back', async ({ another, user, allow }) => {
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
    await expect(messages(page)).toHaveCount(2);
    await composer(page).fill('are you there?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(messages(page)).toHaveCount(3);

    server = await startServer([], { db, port: Number(new URL(url).port) });
    // What others did meanwhile comes, too.
    await expect(page.getByText(/^Offline/)).toHaveCount(0);
    await expect.poll(() => api.texts(id)).toEqual(['one', 'two', 'are you there?', 'are you there?']);
    await expect(messages(page)).toHaveCount(4);
    await say(page, 'good');
    expect(await api.texts(id)).toHaveLength(6);
  } finally {
    await context.close();
    await server.stop();
  }
});

test('offline in the browser: shown, and nothing is lost', async ({ page, context, api, allow }) => {
  allow(/ERR_INTERNET_DISCONNECTED|Failed to load resource/);
  const id = await api.chat('Tunnel', ['one', 'two']);
  await page.goto(`/chat/${id}`);
  await expect(messages(page)).toHaveCount(2);
  await context.setOffline(true);
  await expect(page.getByText(/^Offline/)).toBeVisible();
  await api.post(`sessions/${id}/entries`, { entries: [{ role: 'user', text: 'meanwhile' }, { role: 'assistant', text: 'elsewhere' }] });
  await context.setOffline(false);
  await expect(page.getByText(/^Offline/)).toHaveCount(0);
  await expect(messages(page)).toHaveCount(4);
  await expect(messages(page).last()).toContainText('elsewhere');
});

test('an answer that the server was killed over is shown, tried again, or gone on from', async ({ another, user, allow }) => {
  allow(/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/);
  let server = await startServer();
  const { url, db } = server;
  const api = new Api(url, user);
  const id = await api.chat('Killed', ['one', 'two']);
  const context = await another({ baseURL: url });
  const again = async () => (server = await startServer([], { db, port: Number(new URL(url).port) }));
  try {
    const page = await context.newPage();
    await page.goto(`/chat/${id}`);
    await composer(page).fill('/slow 30\n/count 900');
    await page.keyboard.press('Enter');
    await expect(messages(page).last()).toContainText('1 2 3 4 5');
    await server.kill();
    await again();
    const broken = page.getByRole('article', { name: /^Interrupted answer/ });
    await expect(broken).toContainText('1 2 3 4 5');
    await expect(broken.getByRole('note')).toContainText('The server was stopped');
    await page.reload();
    await expect(broken).toContainText('1 2 3 4 5');
    await broken.getByRole('button', { name: 'Try again' }).click();
    await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
    await expect(broken).toHaveCount(0);
    await expect(messages(page).last()).toContainText('1 2 3');
    await server.kill();
    await again();
    await broken.getByRole('button', { name: 'Go on from here' }).click();
    await expect(messages(page)).toHaveCount(6);
    await answered(page);
    const said = await api.texts(id);
    expect(said[3]).toMatch(/^1 2 3/);
    expect(said.slice(4)).toEqual(['Go on from where you stopped.', 'Go on from where you stopped.']);
    await expect(messages(page).nth(3).getByRole('note')).toContainText('The server was stopped');
  } finally {
    await context.close();
    await server.stop();
  }
});
