// SPDX-License-Identifier: Apache-2.0
// The page with a model behind it: the agent of kind openai on a stub of the protocol.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { answered, Api, composer, expect, messages, startServer, test } from './lib';

interface Chunk {
  delta?: Record<string, unknown>;
  finish?: string;
  usage?: Record<string, unknown>;
}

/** Streams what `answer` gives for the messages that it was sent. */
async function stub(answer: (messages: { role: string; content: string }[]) => Chunk[]) {
  const server = http.createServer((request, out) => {
    let body = '';
    request.on('data', (piece) => (body += piece));
    const respond = async () => {
      const said = JSON.parse(body).messages;
      if (said.at(-1).content === 'fail') {
        out.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error": {"message": "the stub does not like this"}}');
        return;
      }
      out.writeHead(200, { 'Content-Type': 'text/event-stream' });
      for (const { delta, finish, usage } of answer(said)) {
        const choices = usage ? [] : [{ index: 0, delta: delta ?? {}, finish_reason: finish ?? null }];
        out.write(`data: ${JSON.stringify({ choices, usage })}\n\n`);
        await new Promise((done) => setTimeout(done, 15));
      }
      out.end('data: [DONE]\n\n');
    };
    request.on('end', () => void respond());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return { url, close: () => new Promise((done) => (server.closeAllConnections(), server.close(done))) };
}

test('a model answers: Markdown, thinking, a tool call, tokens; and what went wrong is said', async ({ another, user }) => {
  const model = await stub((said) => {
    const asked = said.at(-1)!.content;
    if (asked === 'tool')
      return [
        { delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'weather', arguments: '{"city":' } }] } },
        { delta: { tool_calls: [{ index: 0, function: { arguments: '"Lisbon"}' } }] } },
        { finish: 'tool_calls' },
      ];
    const words = ['Here is a **list**:\n\n', '- one\n', '- two\n\n', '```js\n', 'const a = 1;\n', '```\n'];
    return [
      { delta: { reasoning_content: 'Let me see.' } },
      ...words.map((content) => ({ delta: { content } })),
      { finish: 'stop' },
      { usage: { prompt_tokens: 11, completion_tokens: 22, cost: 0.0123 } },
    ];
  });
  const server = await startServer(['--agent', `model=openai,url=${model.url},model=stub,retries=0`]);
  const context = await another({ baseURL: server.url });
  try {
    const page = await context.newPage();
    await page.goto('/');
    await expect(composer(page)).toBeVisible();
    await expect(page.getByText('Echo answers until you connect a model')).toHaveCount(0);

    await composer(page).fill('list');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const answer = messages(page).nth(1);
    await expect(answer.getByRole('listitem')).toHaveText(['one', 'two']);
    await expect(answer.locator('strong')).toHaveText('list');
    await expect(answer.locator('pre')).toContainText('const a = 1;');
    await answered(page);

    await composer(page).fill('tool');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(messages(page).last()).toContainText('weather');
    await answered(page);

    await composer(page).fill('fail');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible();
    const id = new URL(page.url()).pathname.split('/')[2]!;
    const api = new Api(server.url, user);
    const { path } = await api.get(`sessions/${id}/usage`);
    expect([path.input, path.output, path.cost]).toEqual([11, 22, 0.0123]);
    await expect(answer.getByTitle('11 tokens in, 22 out, US$0.0123')).toBeVisible();
  } finally {
    await context.close();
    await server.stop();
    await model.close();
  }
});
