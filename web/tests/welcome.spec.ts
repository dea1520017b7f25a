// SPDX-License-Identifier: Apache-2.0
// The first visit: a sample to play with, made once; and how a model is connected.
import http from 'node:http';
import { composer, expect, messages, startServer, test } from './lib';

test.describe('the first visit', () => {
  test.use({ firstVisit: true });

  test('brings a sample conversation with forks and versions, once', async ({ page, context, api }) => {
    await page.goto('/');
    const sample = page.getByRole('link', { name: 'A weekend in Lisbon' }).or(page.getByRole('treeitem', { name: /A weekend in Lisbon/ }));
    await expect(sample.first()).toBeVisible();
    await expect.poll(async () => (await api.get('sessions')).sessions.length).toBe(3);
    const { sessions } = await api.get('sessions');
    expect(sessions.map((each: { title: string }) => each.title).sort()).toEqual(['A weekend in Lisbon', 'By night bus', 'With two children']);
    const root = sessions.find((each: { title: string }) => each.title === 'A weekend in Lisbon');
    await expect.poll(async () => (await api.get(`sessions/${root.id}`)).head.length).toBe(6);

    await page.goto(`/chat/${encodeURIComponent(root.id)}`);
    await expect(messages(page)).toHaveCount(6);
    await expect(messages(page).nth(1).getByRole('table')).toBeVisible();
    await expect(messages(page).nth(3)).toContainText('2/2');
    await messages(page).nth(3).getByRole('button', { name: 'Previous version' }).click();
    await expect(messages(page)).toHaveCount(4);

    // Neither a second window nor a user who took it away gets it again.
    await page.goto('/');
    const other = await context.newPage();
    await other.goto('/');
    await expect(composer(other)).toBeVisible();
    await api.delete(`sessions/${root.id}?tree=true`);
    await expect.poll(async () => (await api.get('sessions')).sessions.length).toBe(0);
    await other.reload();
    await expect(composer(other)).toBeVisible();
    await other.waitForTimeout(300);
    expect((await api.get('sessions')).sessions).toEqual([]);
  });

  test('is nothing new for who has chats', async ({ page, api }) => {
    await api.chat('Mine', ['hello', 'hello']);
    await page.goto('/');
    await expect(page.getByText('Mine').first()).toBeVisible();
    await page.waitForTimeout(300);
    expect((await api.get('sessions')).sessions).toHaveLength(1);
  });
});

test('echo answers until a model is connected, and the page says how', async ({ page }) => {
  await page.goto('/');
  const note = page.getByRole('region', { name: 'Connect a model' });
  await expect(note).toContainText('Echo answers until you connect a model.');
  await note.getByText(/^How to connect/).click();
  await expect(note.getByLabel('Start the server with')).toContainText('ramet serve --agent local=openai,url=http://127.0.0.1:');
  await expect(note.getByLabel('or put into the file that --config names')).toContainText('[agent local]');
});

test('a model server on this machine is offered, never taken unasked', async ({ browser }) => {
  let port = 0;
  const model = http.createServer((_, out) => out.end('{"data": [{"id": "qwen3:4b"}]}'));
  for (const each of [11434, 8080, 1234, 8000]) {
    const there = await new Promise<boolean>((done) =>
      model.once('error', () => done(false)).listen(each, '127.0.0.1', () => done(true)),
    );
    if (there) {
      port = each;
      break;
    }
  }
  test.skip(!port, 'all of the usual ports are in use');
  const server = await startServer();
  const context = await browser.newContext({ baseURL: server.url });
  try {
    const page = await context.newPage();
    await page.addInitScript(() => localStorage.setItem('ramet.sample', 'none'));
    await page.goto('/');
    const note = page.getByRole('region', { name: 'Connect a model' });
    await note.getByRole('button', { name: /qwen3:4b/ }).click();
    await note.getByText(/^How to connect/).click();
    await expect(note.getByLabel('Start the server with')).toContainText(`url=http://127.0.0.1:${port}/v1,model=qwen3:4b`);
    const { agents } = await (await fetch(`${server.url}/ramet/v1/agents`)).json();
    expect(agents.map((each: { name: string }) => each.name)).toEqual(['echo']);
  } finally {
    await context.close();
    await server.stop();
    await new Promise((done) => (model.closeAllConnections(), model.close(done)));
  }
});
