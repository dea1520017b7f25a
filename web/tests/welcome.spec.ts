// SPDX-License-Identifier: Apache-2.0
// The first visit: a sample to play with, made once; and how a model is connected.
import http from 'node:http';
import { composer, expect, messages, say, startServer, test } from './lib';

test('the first visit brings a sample conversation with forks and versions, once', async ({ another, api }) => {
  const context = await another({ firstVisit: true });
  const page = await context.newPage();
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
  await say(other, 'hello'); // when that is answered, all that comes with a visit has been done
  expect((await api.get('sessions')).sessions).toHaveLength(1);
});

test('the first visit is nothing new for who has chats', async ({ another, api }) => {
  const page = await (await another({ firstVisit: true })).newPage();
  await api.chat('Mine', ['hello', 'hello']);
  await page.goto('/');
  await expect(page.getByText('Mine').first()).toBeVisible();
  await say(page, 'hello');
  expect((await api.get('sessions')).sessions).toHaveLength(2);
});

test('echo answers until a model is connected, and the page says how', async ({ page }) => {
  await page.goto('/');
  const note = page.getByRole('region', { name: 'Connect a model' });
  await expect(note).toContainText('Echo answers until you connect a model.');
  await note.getByText(/^How to connect|^Or configure it/).click(); // the latter while another test has a model server
  await expect(note.getByLabel('Start the server with')).toContainText('ramet serve --agent local=openai,url=http://127.0.0.1:');
  await expect(note.getByLabel('or put into the file that --config names')).toContainText('[agent local]');
});

test('a model server on this machine is offered, never taken unasked', async ({ another }) => {
  let port = 0;
  const model = http.createServer((request, out) => {
    if (request.method === 'GET') return void out.end('{"data": [{"id": "llama3.2"}, {"id": "qwen3:4b"}]}');
    let body = '';
    request.on('data', (piece) => (body += piece));
    request.on('end', () => {
      const choices = [{ index: 0, delta: { content: `I am ${JSON.parse(body).model}` }, finish_reason: 'stop' }];
      out.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(`data: ${JSON.stringify({ choices })}\n\ndata: [DONE]\n\n`);
    });
  });
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
  const context = await another({ baseURL: server.url });
  try {
    const page = await context.newPage();
    await page.goto('/');
    const note = page.getByRole('region', { name: 'Connect a model' });
    await expect(note).toContainText('A model server runs on this machine');
    const agents = async () => (await (await fetch(`${server.url}/ramet/v1/agents`)).json()).agents.map((each: { name: string }) => each.name);
    expect(await agents()).toEqual(['echo']);
    await note.getByText('Or configure it').click();
    await expect(note.getByLabel('Start the server with')).toContainText(`url=http://127.0.0.1:${port}/v1,model=llama3.2`);

    // Asked to, the server uses it at once.
    await note.getByRole('combobox', { name: /^Model of/ }).selectOption('qwen3:4b');
    await note.getByRole('button', { name: /^Use / }).click();
    await expect(note).toContainText(/qwen3:4b of .+ answers new chats now, as the agent local/);
    await expect(page.getByRole('button', { name: 'Agent: local' })).toBeVisible();
    await note.getByText('How to keep it').click();
    await expect(note.getByLabel('Start the server with')).toContainText('model=qwen3:4b');
    expect(await agents()).toEqual(['echo', 'local']);
    await say(page, 'who are you?');
    await expect(messages(page).last()).toContainText('I am qwen3:4b');
    await page.goto('/');
    await expect(composer(page)).toBeVisible();
    await expect(page.getByText('Echo answers until')).toHaveCount(0);
  } finally {
    await context.close();
    await server.stop();
    await new Promise((done) => (model.closeAllConnections(), model.close(done)));
  }
});
