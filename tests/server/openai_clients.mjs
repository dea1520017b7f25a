// SPDX-License-Identifier: Apache-2.0
//
// openai_clients.mjs: clients that are built on OpenAI's API, unmodified, against the server: the
// Agents SDK, the AI SDK, LangChain. The model is a stand-in, whose log shows what it was sent.
import { load } from './help/packages.mjs';
import { startModel } from './help/model.mjs';
import { test, finish, start, must, assert } from './lib.mjs';

const { default: OpenAI } = await load('openai', 'openai');
const model = await startModel();
const server = await start({ args: ['--agent', `gpt=openai,url=${model.url},model=m1`], keep: true });
const baseURL = `${server.url}/openai/v1`, apiKey = 'made-up';
/** What the model was sent last: role and text of each message. */
const prompt = () => model.log.at(-1).body.messages.map((m) => `${m.role}: ${m.content ?? m.tool_calls.map((c) => c.function.name)}`);
const client = () => new OpenAI({ baseURL, apiKey, maxRetries: 0 });

test('the Agents SDK: a loop of tool calls in a conversation of several turns', async () => {
  const agents = await load('@openai/agents', 'openai'), { z } = await load('zod', 'openai');
  agents.setTracingDisabled(true);
  agents.setDefaultOpenAIClient(client());
  const seen = [];
  const look = agents.tool({ name: 'look', description: 'looks', parameters: z.object({ at: z.string() }),
    execute: async ({ at }) => (seen.push(at), `saw ${at}`) });
  const agent = new agents.Agent({ name: 'watcher', instructions: 'Be brief.', model: 'gpt', tools: [look] });
  const session = new agents.OpenAIConversationsSession({ client: client() });
  const first = await agents.run(agent, '!tools look {"at":"sky"}; look {"at":"sea"}', { session });
  assert.equal(first.finalOutput, 'The tools said: saw sky, saw sea');
  assert.deepEqual(seen, ['sky', 'sea']);
  assert.equal((await agents.run(agent, 'second', { session })).finalOutput, 'You said: second');
  const told = ['system: Be brief.', 'user: !tools look {"at":"sky"}; look {"at":"sea"}', 'assistant: look,look', 'tool: saw sky', 'tool: saw sea',
    'assistant: The tools said: saw sky, saw sea', 'user: second'];
  assert.deepEqual(prompt(), told);
  const streamed = await agents.run(agent, 'third', { session, stream: true });
  await streamed.completed;
  assert.equal(streamed.finalOutput, 'You said: third');
  assert.deepEqual(prompt(), [...told, 'assistant: You said: second', 'user: third']);
  assert.ok((await session.getItems()).length >= 9);
  await session.popItem();
  await session.popItem();
  assert.equal((await agents.run(agent, 'instead', { session })).finalOutput, 'You said: instead');
  assert.deepEqual(prompt(), [...told, 'assistant: You said: second', 'user: instead']);
});

test('the AI SDK: responses and chat, whole and streamed', async () => {
  const { generateText, streamText } = await load('ai', 'openai'), { createOpenAI } = await load('@ai-sdk/openai', 'openai');
  const provider = createOpenAI({ baseURL, apiKey });
  for (const of of [provider('gpt'), provider.chat('gpt')]) {
    const opening = { role: 'user', content: `hello ${of.provider}` };
    const one = await generateText({ model: of, messages: [opening] });
    assert.equal(one.text, `You said: ${opening.content}`);
    const stream = streamText({ model: of, messages: [opening, ...one.response.messages, { role: 'user', content: 'more' }] });
    let text = '';
    for await (const delta of stream.textStream) text += delta;
    assert.equal(text, 'You said: more');
    assert.deepEqual(prompt(), [`user: ${opening.content}`, `assistant: You said: ${opening.content}`, 'user: more']);
    const found = (await must(server, 'GET', 'sessions')).sessions.filter((s) => (s.title ?? '').startsWith(opening.content));
    assert.equal(found.length, 1, 'one session');
  }
});

test('LangChain: chat and responses', async () => {
  const { ChatOpenAI } = await load('@langchain/openai', 'openai');
  for (const useResponsesApi of [false, true]) {
    const chat = new ChatOpenAI({ model: 'gpt', apiKey, useResponsesApi, maxRetries: 0, configuration: { baseURL } });
    const opening = `from LangChain ${useResponsesApi}`;
    const one = await chat.invoke(opening);
    assert.equal(one.text, `You said: ${opening}`);
    let text = '';
    for await (const piece of await chat.stream([['human', opening], ['ai', one.text], ['human', 'more']])) text += piece.text;
    assert.equal(text, 'You said: more');
    assert.deepEqual(prompt(), [`user: ${opening}`, `assistant: You said: ${opening}`, 'user: more']);
  }
});

await finish();
