// SPDX-License-Identifier: Apache-2.0
//
// openai.mjs: the OpenAI-compatible API with OpenAI's own client. The model is a stand-in, whose log
// shows what each answer was made of. Every object and event is checked against help/openai_schema.mjs.
import { load } from './help/packages.mjs';
import { startModel } from './help/model.mjs';
import { valid } from './help/openai_schema.mjs';
import { test, finish, start, call, must, newSession, ramet, scratch, storeBytes, eventually, slow, assert } from './lib.mjs';

const { default: OpenAI } = await load('openai');
const model = await startModel();
const agent = (more = '') => ['--agent', `gpt=openai,url=${model.url},model=m1,models=m2,backoff_ms=10,retries=0${more}`];
const server = await start({ args: agent(), keep: true });

/** A client of a user of its own, unless one is given: lists of different tests never meet. */
let users = 0;
function client(user = `user${++users}`, at = server) {
  const fetchChecked = async (url, init) => {
    const r = await fetch(url, init);
    if (!r.ok) valid('error', await r.clone().json());
    return r;
  };
  return Object.assign(new OpenAI({ baseURL: `${at.url}/openai/v1`, apiKey: 'made-up', maxRetries: 0, fetch: fetchChecked,
    defaultHeaders: { 'X-User-Id': user } }), { user });
}
/** What the model was sent: the texts of its messages. */
const prompt = (entry = model.log.at(-1)) => entry.body.messages.map((m) => m.content);
const say = async (c, input, more = {}) => valid('response', plain(await c.responses.create({ model: 'gpt', input, ...more })));
/** Without what the client adds to an object. */
const plain = ({ output_text, _request_id, ...rest }) => (void output_text, void _request_id, JSON.parse(JSON.stringify(rest)));
const textOf = (r) => r.output.filter((o) => o.type === 'message').map((o) => o.content[0].text).join('');
async function all(stream) {
  const got = [];
  for await (const e of stream) got.push(valid('event', e));
  return got;
}
const refused = (promise, status, code, about) => assert.rejects(promise, (e) => {
  assert.equal(e.status, status, e.message);
  if (code) assert.equal(e.code, code);
  if (about) assert.match(e.message, about);
  return true;
});

// ------------------------------------------------------------------ models

test('models are agents, and the models of each', async () => {
  const c = client();
  const listed = valid('models', (await call(server, 'GET', '/openai/v1/models')).body).data.map((m) => m.id);
  assert.deepEqual(listed, ['gpt', 'gpt/m1', 'gpt/m2', 'echo']);
  assert.equal((await c.models.retrieve('gpt/m2')).id, 'gpt/m2');
  await refused(c.models.retrieve('nothing'), 404, 'model_not_found');
  for (const [asked, sent] of [['gpt', 'm1'], ['gpt/m2', 'm2'], ['m2', 'm2'], ['gpt/other', 'other']]) {
    await say(c, 'hi', { model: asked });
    assert.equal(model.log.at(-1).body.model, sent);
  }
  assert.equal(textOf(await say(c, 'to echo', { model: 'echo' })), 'to echo');
  await refused(say(c, 'hi', { model: 'gpt-9' }), 404, 'model_not_found');
});

// ------------------------------------------------------------------ responses

test('a response is recorded, and is there under its id', async () => {
  const c = client();
  const r = await say(c, 'Hello', { instructions: 'Be brief.', metadata: { topic: 'x' }, temperature: 0.5 });
  assert.equal(textOf(r), 'You said: Hello');
  assert.equal(r.status, 'completed');
  assert.deepEqual(r.metadata, { topic: 'x' });
  assert.equal(r.temperature, 0.5);
  assert.ok(r.usage.input_tokens > 0 && r.usage.output_tokens > 0);
  assert.deepEqual(prompt(), ['Be brief.', 'Hello']);
  assert.equal(model.log.at(-1).body.temperature, 0.5);
  const again = valid('response', plain(await c.responses.retrieve(r.id)));
  assert.deepEqual(again, r);
  const items = valid('items', (await call(server, 'GET', `/openai/v1/responses/${r.id}/input_items`, { user: c.user })).body);
  assert.deepEqual(items.data.map((i) => [i.role, i.content[0].text]), [['user', 'Hello']]);
  await refused(client().responses.retrieve(r.id), 404);
  // The instructions belong to the turn: they are not carried over.
  await say(c, 'again', { previous_response_id: r.id });
  assert.deepEqual(prompt(), ['Hello', 'You said: Hello', 'again']);
});

test('a stream has the events of the contract, and one id', async () => {
  const c = client();
  const got = await all(await c.responses.create({ model: 'gpt', input: '!say one two', stream: true }));
  const kinds = got.map((e) => e.type).filter((t, i, list) => t !== list[i - 1]);
  assert.deepEqual(kinds, ['response.created', 'response.in_progress', 'response.output_item.added', 'response.content_part.added',
    'response.output_text.delta', 'response.output_text.done', 'response.content_part.done', 'response.output_item.done', 'response.completed']);
  assert.equal(got.map((e) => (e.type === 'response.output_text.delta' ? e.delta : '')).join(''), 'one two');
  assert.deepEqual(got.map((e) => e.sequence_number), got.map((e) => e.sequence_number).toSorted((a, b) => a - b));
  const ids = new Set(got.map((e) => e.response?.id).filter(Boolean)), items = new Set(got.map((e) => e.item?.id ?? e.item_id).filter(Boolean));
  assert.equal(ids.size, 1);
  assert.equal(items.size, 1);
  assert.deepEqual(plain(await c.responses.retrieve([...ids][0])), plain(got.at(-1).response));
});

test('thinking, text and calls are items in their order, streamed and not', async () => {
  const c = client();
  const got = await all(await c.responses.create({ model: 'gpt', input: '!think I wonder | hello there', stream: true }));
  assert.deepEqual(got.at(-1).response.output.map((o) => o.type), ['reasoning', 'message']);
  assert.equal(got.filter((e) => e.type === 'response.output_item.added').length, 2);
  assert.deepEqual(got.filter((e) => e.type === 'response.output_item.done').map((e) => e.item), got.at(-1).response.output);
  const r = await say(c, '!think I wonder | hello there');
  assert.deepEqual(r.output.map((o) => o.content[0].text), ['I wonder ', 'hello there'].map((t, i) => (i ? t : got.at(-1).response.output[0].content[0].text)));
});

test('a stream is resumed at any number, also in the middle of a text', async () => {
  const c = client();
  const whole = await all(await c.responses.create({ model: 'gpt', input: '!think a b | Grüße an alle 🌱 hier', stream: true }));
  const id = whole[0].response.id, last = whole.at(-1).sequence_number;
  for (const e of whole) {
    const rest = await all(await c.responses.retrieve(id, { stream: true, starting_after: e.sequence_number }));
    const heard = whole.filter((x) => x.sequence_number <= e.sequence_number);
    const textIn = (events) => events.map((x) => (x.type === 'response.output_text.delta' ? x.delta : '')).join('');
    assert.equal(textIn(heard) + textIn(rest), 'Grüße an alle 🌱 hier', `after ${e.sequence_number}`);
    if (e.sequence_number < last) {
      assert.equal(rest.at(-1).type, 'response.completed');
      assert.equal(rest.at(-1).sequence_number, last);
    }
    assert.ok(rest.every((x) => x.sequence_number > e.sequence_number));
  }
});

test('a response in the background is followed, or cancelled', async () => {
  const c = client();
  const r = await say(c, '!count 4 60', { background: true });
  assert.equal(r.status, 'in_progress');
  const done = await eventually(async () => {
    const now = valid('response', plain(await c.responses.retrieve(r.id)));
    assert.equal(now.status, 'completed');
    return now;
  }, 10000 * slow);
  assert.equal(textOf(done), '1 2 3 4');
  const other = await say(c, '!count 1000 50', { background: true });
  const stream = await c.responses.retrieve(other.id, { stream: true });
  const cancelled = valid('response', plain(await c.responses.cancel(other.id)));
  assert.equal(cancelled.status, 'cancelled');
  assert.equal((await all(stream)).at(-1).response.status, 'cancelled');
  assert.equal(plain(await c.responses.cancel(r.id)).status, 'completed');
});

// ------------------------------------------------------------------ forks

test('A, B, C in a conversation; D after B is a fork; E goes on in the conversation', async () => {
  const c = client();
  const x = valid('conversation', plain(await c.conversations.create({ metadata: { of: 'story' } })));
  const [a, b] = [await say(c, 'A', { conversation: x.id }), await say(c, 'B', { conversation: x.id })];
  await say(c, 'C', { conversation: x.id });
  assert.deepEqual(a.conversation, { id: x.id });
  const { data: d, response } = await c.responses.create({ model: 'gpt', input: 'D', previous_response_id: b.id }).withResponse();
  assert.deepEqual(prompt(), ['A', 'You said: A', 'B', 'You said: B', 'D']);
  const fork = response.headers.get('ramet-session'), origin = response.headers.get('ramet-parent');
  assert.match(response.headers.get('ramet-branch'), /^b\d+$/);
  await say(c, 'E', { conversation: x.id });
  assert.deepEqual(prompt(), ['A', 'You said: A', 'B', 'You said: B', 'C', 'You said: C', 'E']);
  // The fork is a session like any other, and its response goes on in it.
  const shown = await must(server, 'GET', `sessions/${fork}`, { user: c.user });
  assert.equal(shown.forked_from.session_id ?? shown.forked_from, origin);
  const after = await c.responses.create({ model: 'gpt', input: 'F', previous_response_id: d.id }).withResponse();
  assert.equal(after.response.headers.get('ramet-session'), fork);
  assert.equal(after.response.headers.get('ramet-parent'), null);
  assert.deepEqual(valid('conversations', (await call(server, 'GET', `/openai/v1/conversations/${x.id}/forks`, { user: c.user })).body).data.length, 1);
  await refused(say(c, 'no', { previous_response_id: b.id, conversation: x.id }), 400, 'mutually_exclusive_parameters');
  await refused(say(c, 'no', { previous_response_id: 'resp_00000000000000000000000000000000' }), 404, 'previous_response_not_found');
  await refused(say(c, 'no', { previous_response_id: 'nonsense' }), 404, 'previous_response_not_found');
});

test('of 32 clients on one response, one goes on and the others are forks', async () => {
  const c = client();
  const first = await say(c, 'the root');
  const before = model.log.length;
  const answers = await Promise.all(Array.from({ length: 32 }, (_, i) =>
    c.responses.create({ model: 'gpt', input: `client ${i}`, previous_response_id: first.id }).withResponse()));
  const sessions = answers.map((a) => a.response.headers.get('ramet-session'));
  assert.equal(new Set(sessions).size, 32);
  assert.equal(answers.filter((a) => !a.response.headers.get('ramet-parent')).length, 1);
  // The model may be asked twice for one of them: it is asked while the message is being stored.
  const prompts = new Set(model.log.slice(before).map((e) => JSON.stringify(prompt(e))));
  assert.deepEqual([...prompts].toSorted(),
    Array.from({ length: 32 }, (_, i) => JSON.stringify(['the root', 'You said: the root', `client ${i}`])).toSorted());
  answers.forEach((a, i) => assert.equal(textOf(a.data), `You said: client ${i}`));
});

test('a conversation in which a response is made is locked; after a rewind it goes on from there', async () => {
  const c = client();
  const x = await c.conversations.create();
  await say(c, 'one', { conversation: x.id });
  const running = await say(c, '!count 1000 50', { conversation: x.id, background: true });
  await refused(say(c, 'two', { conversation: x.id }), 400, 'conversation_locked');
  await refused(c.conversations.items.create(x.id, { items: [{ type: 'message', role: 'user', content: 'x' }] }), 400, 'conversation_locked');
  await c.responses.cancel(running.id);
  const session = x.id.slice(5).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const entries = (await must(server, 'GET', `sessions/${session}/entries`, { user: c.user })).entries;
  await must(server, 'POST', `sessions/${session}/rewind`, { user: c.user, json: { at: { entry_id: entries[1].id } } });
  await say(c, 'three', { conversation: x.id });
  assert.deepEqual(prompt(), ['one', 'You said: one', 'three']);
});

test('a session made elsewhere is continued here, and the other way round', async () => {
  const c = client();
  const s = await newSession(server, { agent: { name: 'gpt' } }, { user: c.user });
  await must(server, 'POST', `sessions/${s.id}/messages`, { user: c.user, json: { text: 'from the page' } });
  const conv = `conv_${s.id.replaceAll('-', '')}`;
  await say(c, 'from the client', { conversation: conv });
  assert.deepEqual(prompt(), ['from the page', 'You said: from the page', 'from the client']);
  await must(server, 'POST', `sessions/${s.id}/messages`, { user: c.user, json: { text: 'the page again' } });
  assert.equal(prompt().length, 5);
  const named = await newSession(server, { id: 'a name, not a UUID' }, { user: c.user });
  const made = await say(c, 'hi', { conversation: `conv_x${Buffer.from(named.id).toString('hex')}` });
  assert.equal(made.conversation.id, `conv_x${Buffer.from(named.id).toString('hex')}`);
});

// ------------------------------------------------------------------ tools and formats

const tools = [{ type: 'function', name: 'look', description: 'looks', parameters: { type: 'object', properties: { at: { type: 'string' } } }, strict: true }];

test('a tool is called by a response, and its output answers the call', async () => {
  const c = client();
  const r = await say(c, '!tools look {"at":"sky"}; look {"at":"sea"}', { tools, tool_choice: 'auto', parallel_tool_calls: true });
  assert.deepEqual(r.output.map((o) => [o.type, o.name, o.arguments]), [['function_call', 'look', '{"at":"sky"}'], ['function_call', 'look', '{"at":"sea"}']]);
  assert.deepEqual(model.log.at(-1).body.tools, [{ type: 'function', function: { name: 'look', description: 'looks', parameters: tools[0].parameters, strict: true } }]);
  const outputs = r.output.map((o, i) => ({ type: 'function_call_output', call_id: o.call_id, output: `result ${i}` }));
  const done = await say(c, outputs, { previous_response_id: r.id, tools });
  assert.equal(textOf(done), 'The tools said: result 0, result 1');
  // A call and its output are never parted.
  await refused(say(c, 'never mind', { previous_response_id: r.id, tools }), 400, 'invalid_value', new RegExp(r.output[0].call_id));
  await refused(say(c, outputs.slice(1), { previous_response_id: r.id, tools }), 400, 'invalid_value', new RegExp(r.output[0].call_id));
  await refused(say(c, [{ type: 'function_call_output', call_id: 'call_none', output: 'x' }], { previous_response_id: done.id }), 400, 'invalid_value', /call_none/);
  const streamed = await all(await c.responses.create({ model: 'gpt', input: '!tools look {"at":"x"}', tools, stream: true }));
  assert.deepEqual(streamed.find((e) => e.type === 'response.function_call_arguments.done').arguments, '{"at":"x"}');
});

test('a custom tool gets a text', async () => {
  const c = client();
  const custom = [{ type: 'custom', name: 'patch', description: 'applies a patch' }];
  const r = await say(c, '!tools patch {"input":"*** Begin"}', { tools: custom });
  assert.deepEqual(r.output.map((o) => [o.type, o.name, o.input]), [['custom_tool_call', 'patch', '*** Begin']]);
  const done = await say(c, [{ type: 'custom_tool_call_output', call_id: r.output[0].call_id, output: 'ok' }], { previous_response_id: r.id, tools: custom });
  assert.equal(textOf(done), 'The tools said: ok');
});

test('formats, sampling and reasoning go through; what no agent has is refused by name', async () => {
  const c = client();
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
  const r = await c.responses.parse({ model: 'gpt', input: '!say {"a":"b"}', top_p: 0.9, max_output_tokens: 99, reasoning: { effort: 'low' },
    text: { format: { type: 'json_schema', name: 'thing', schema, strict: true } } });
  assert.deepEqual(r.output_parsed, { a: 'b' });
  const sent = model.log.at(-1).body;
  assert.deepEqual([sent.top_p, sent.max_tokens, sent.reasoning_effort], [0.9, 99, 'low']);
  assert.deepEqual(sent.response_format, { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } });
  for (const tool of [{ type: 'web_search' }, { type: 'file_search', vector_store_ids: ['x'] }, { type: 'code_interpreter', container: { type: 'auto' } }])
    await refused(say(c, 'x', { tools: [tool] }), 400, 'unsupported_value', new RegExp(tool.type));
  await refused(say(c, 'x', { truncation: 'auto' }), 400, 'unsupported_value', /truncation/);
  await refused(say(c, 'x', { model: 'echo', tools }), 400, 'unsupported_value', /tools/);
  await refused(say(c, 'x', { nonsense: 1 }), 400, undefined, /nonsense/);
  await refused(say(c, [{ role: 'nobody', content: 'x' }]), 400, 'invalid_value', /role/);
  await refused(say(c, [{ role: 'user', content: [{ type: 'input_file', file_id: 'file_1' }] }]), 400, 'invalid_value', /file_id/);
  await refused(say(c, 'x', { metadata: { a: 'b'.repeat(513) } }), 400, 'invalid_value', /metadata/);
  await refused(c.responses.create({ model: 'gpt' }), 400, 'missing_required_parameter');
});

test('an image is shown to the model', async () => {
  const c = client(), url = 'data:image/png;base64,iVBORw0KGgo=';
  await say(c, [{ role: 'user', content: [{ type: 'input_text', text: 'what is this' }, { type: 'input_image', image_url: url, detail: 'low' }] }]);
  assert.deepEqual(model.log.at(-1).body.messages[0].content, [{ type: 'text', text: 'what is this' }, { type: 'image_url', image_url: { url } }]);
});

test('errors of the model, and answers that end early', async () => {
  const c = client();
  const failed = await say(c, '!status 500');
  assert.equal(failed.status, 'failed');
  assert.match(failed.error.message, /500/);
  const cut = await say(c, '!length of it');
  assert.deepEqual([cut.status, cut.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }]);
  assert.equal((await say(c, '!filter it')).incomplete_details.reason, 'content_filter');
  assert.equal((await all(await c.responses.create({ model: 'gpt', input: '!status 500', stream: true }))).at(-1).type, 'response.failed');
  // A failed response is a place to go on from, too.
  await say(c, 'next', { previous_response_id: cut.id });
  assert.equal(prompt().at(-1), 'next');
});

test('a deleted response is forgotten; its history stays', async () => {
  const c = client();
  const a = await say(c, 'A'), b = await say(c, 'B', { previous_response_id: a.id });
  valid('deleted', (await call(server, 'DELETE', `/openai/v1/responses/${a.id}`, { user: c.user })).body);
  await refused(c.responses.retrieve(a.id), 404);
  await refused(say(c, 'C', { previous_response_id: a.id }), 404, 'previous_response_not_found');
  await say(c, 'C', { previous_response_id: b.id });
  assert.deepEqual(prompt(), ['A', 'You said: A', 'B', 'You said: B', 'C']);
});

// ------------------------------------------------------------------ conversations

test('conversations and their items', async () => {
  const c = client();
  const x = await c.conversations.create({ metadata: { a: 'b' }, items: [{ type: 'message', role: 'user', content: 'one' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'two' }] }] });
  assert.deepEqual((await c.conversations.update(x.id, { metadata: { c: 'd' } })).metadata, { c: 'd' });
  assert.deepEqual(valid('conversation', plain(await c.conversations.retrieve(x.id))).metadata, { c: 'd' });
  const added = await c.conversations.items.create(x.id, { items: Array.from({ length: 20 }, (_, i) => ({ type: 'message', role: 'user', content: `item ${i}` })) });
  assert.equal(added.data.length, 20);
  const seen = [];
  for await (const item of c.conversations.items.list(x.id, { limit: 7 })) seen.push(valid('item', item));
  assert.equal(seen.length, 22);
  assert.equal(seen[0].content[0].text, 'item 19');
  assert.equal(seen.at(-1).content[0].text, 'one');
  const forwards = [];
  for await (const item of c.conversations.items.list(x.id, { limit: 5, order: 'asc' })) forwards.push(item.id);
  assert.deepEqual(forwards, seen.map((i) => i.id).toReversed());
  assert.deepEqual(await c.conversations.items.retrieve(seen[3].id, { conversation_id: x.id }), seen[3]);
  // The last one is rewound, another one hidden.
  await c.conversations.items.delete(seen[0].id, { conversation_id: x.id });
  await c.conversations.items.delete(seen[5].id, { conversation_id: x.id });
  const left = [];
  for await (const item of c.conversations.items.list(x.id)) left.push(item.id);
  assert.deepEqual(left, seen.map((i) => i.id).filter((_, i) => i !== 0 && i !== 5));
  await refused(c.conversations.items.create(x.id, { items: Array.from({ length: 21 }, () => ({ type: 'message', role: 'user', content: 'x' })) }), 400);
  const fork = valid('conversation', (await call(server, 'POST', '/openai/v1/conversations', { user: c.user, json: { fork: { conversation: x.id, item_id: seen.at(-1).id } } })).body);
  const inFork = [];
  for await (const item of c.conversations.items.list(fork.id)) inFork.push(item.content[0].text);
  assert.deepEqual(inFork, ['one']);
  valid('deleted', plain(await c.conversations.delete(x.id)));
  await refused(c.conversations.retrieve(x.id), 404);
  await c.conversations.retrieve(fork.id);
});

// ------------------------------------------------------------------ chat completions

const chat = async (c, messages, more = {}) => {
  const { data, response } = await c.chat.completions.create({ model: 'gpt', messages, ...more }).withResponse();
  return { ...valid('chat', plain(data)), session: response.headers.get('ramet-session'), parent: response.headers.get('ramet-parent') };
};
const user = (content) => ({ role: 'user', content });
const system = (content) => ({ role: 'system', content });

test('a list that grows is one session; a difference is a fork', async () => {
  const c = client();
  const list = [system('It is Monday.'), user('hi')];
  const first = await chat(c, list);
  list.push(first.choices[0].message, user('more'));
  list[0] = system('It is Tuesday.'); // belongs to the turn
  const second = await chat(c, list);
  assert.equal(second.session, first.session);
  assert.deepEqual(prompt(), ['It is Tuesday.', 'hi', 'You said: hi', 'more']);
  const entries = async (s) => (await must(server, 'GET', `sessions/${s}/entries`, { user: c.user })).entries.map((e) => e.text);
  assert.deepEqual(await entries(first.session), ['hi', 'You said: hi', 'more', 'You said: more']);
  // An edit, and a regeneration.
  const edited = await chat(c, [...list.slice(0, 3), user('other')]);
  assert.equal(edited.parent, first.session);
  assert.deepEqual(await entries(edited.session), ['hi', 'You said: hi', 'other', 'You said: other']);
  const again = await chat(c, list);
  assert.equal(again.parent, first.session);
  // Each of them goes on where it is.
  const on = await chat(c, [...list.slice(0, 3), user('other'), edited.choices[0].message, user('and on')]);
  assert.equal(on.session, edited.session);
  assert.notEqual((await chat(client(), list.slice(0, 2))).session, first.session);
  const fresh = await c.chat.completions.create({ model: 'gpt', messages: [user('hi')] }, { headers: { 'Ramet-Session': 'new' } }).withResponse();
  assert.equal(fresh.response.headers.get('ramet-parent'), null);
  assert.notEqual(fresh.response.headers.get('ramet-session'), first.session);
});

test('chunks, usage, several choices, tools', async () => {
  const c = client();
  const chunks = [];
  for await (const k of await c.chat.completions.create({ model: 'gpt', messages: [user('!count 5')], stream: true, stream_options: { include_usage: true } }))
    chunks.push(valid('chunk', k));
  assert.equal(chunks.map((k) => k.choices[0]?.delta.content ?? '').join(''), '1 2 3 4 5');
  assert.ok(chunks.at(-1).usage.completion_tokens > 0 && !chunks.at(-1).choices.length);
  assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
  const raw = await call(server, 'POST', '/v1/chat/completions', { user: c.user, json: { messages: [user('x')], stream: true } });
  assert.match(raw.text, /data: \[DONE\]\n\n$/);
  const three = await chat(c, [user('choose')], { n: 3 });
  assert.equal(three.choices.length, 3);
  const versions = (await must(server, 'GET', `sessions/${three.session}/entries?versions=true`, { user: c.user })).entries;
  assert.equal(versions[1].versions.count, 3);
  // Any of them is gone on with.
  const next = await chat(c, [user('choose'), three.choices[0].message, user('then')]);
  assert.ok([three.session].includes(next.session) || next.parent === three.session);
  const asked = [user('!tools look {"at":"sky"}')], chatTools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
  const called = await chat(c, asked, { tools: chatTools });
  assert.equal(called.choices[0].finish_reason, 'tool_calls');
  const told = await chat(c, [...asked, called.choices[0].message, { role: 'tool', tool_call_id: called.choices[0].message.tool_calls[0].id, content: 'blue' }], { tools: chatTools });
  assert.equal(told.choices[0].message.content, 'The tools said: blue');
  assert.equal(told.session, called.session);
  await refused(chat(c, [user('x'), { role: 'tool', tool_call_id: 'call_none', content: 'y' }]), 400, 'invalid_value', /call_none/);
  await refused(chat(c, []), 400);
});

test('a client that grows, edits, regenerates and branches its list at random is followed exactly', async () => {
  const c = client();
  let seed = 7;
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const lists = [[user('start')]];
  const steps = 150;
  for (let i = 0; i < steps; i++) {
    let list = lists[random(lists.length)].slice();
    const kind = random(10);
    if (kind < 5 || list.length < 3) list.push(...(list.at(-1).role === 'user' ? [] : [user(`word ${i}`)]));
    else if (kind < 7) list = [...list.slice(0, 2 * random(Math.floor(list.length / 2))), user(`edit ${i}`)];
    else list = list.slice(0, 1 + 2 * random(Math.ceil(list.length / 2)));
    if (!list.length || list[0].content !== 'start') list = [user('start'), ...list.slice(1)];
    if (list.at(-1).role !== 'user') list.push(user(`again ${i}`));
    const got = await chat(c, list);
    assert.deepEqual(prompt(), list.map((m) => m.content));
    list.push({ role: 'assistant', content: got.choices[0].message.content });
    const read = (await must(server, 'GET', `sessions/${got.session}/entries?limit=1000`, { user: c.user })).entries;
    assert.deepEqual(read.map((e) => e.text), list.map((m) => m.content), `step ${i}`);
    lists.push(list);
  }
}, { seconds: 120 });

// ------------------------------------------------------------------ what is recorded

const sessionsOf = async (c, at = server) => (await must(at, 'GET', 'sessions', { user: c.user })).sessions.length;

test('store: false records nothing, and sees the history that it names', async () => {
  const c = client();
  const a = await say(c, 'written down');
  assert.ok(storeBytes(server.db).includes('written down'));
  const r = await say(c, 'never to be written', { previous_response_id: a.id, store: false });
  assert.equal(textOf(r), 'You said: never to be written');
  assert.equal(r.store, false);
  assert.deepEqual(prompt(), ['written down', 'You said: written down', 'never to be written']);
  await refused(c.responses.retrieve(r.id), 404);
  await refused(say(c, 'x', { previous_response_id: r.id }), 404, 'previous_response_not_found');
  const events = await all(await c.responses.create({ model: 'gpt', input: '!think never | to be written', store: false, stream: true }));
  assert.deepEqual(events.at(-1).response.output.map((o) => o.type), ['reasoning', 'message']);
  const called = await say(c, '!tools look {"at":"never to be written"}', { store: false, tools });
  assert.equal(called.output[0].type, 'function_call');
  const several = await c.chat.completions.create({ model: 'gpt', n: 2, store: false, messages: [user('never to be written')] });
  assert.equal(several.choices.length, 2);
  assert.equal(await sessionsOf(c), 1);
  assert.ok(!storeBytes(server.db).includes('never to be written'));
  await refused(say(c, 'x', { store: false, background: true }), 400, 'invalid_value');
});

test('openai-record: always, and asked', async () => {
  const always = await start({ args: [...agent(), '--openai-record', 'always'] });
  const a = client('ann', always);
  const r = await say(a, 'kept', { store: false });
  assert.equal(textOf(await plain(await a.responses.retrieve(r.id))), 'You said: kept');
  const asked = await start({ args: [...agent(), '--openai-record', 'asked'] });
  const b = client('ann', asked);
  await b.chat.completions.create({ model: 'gpt', messages: [user('not kept')] });
  assert.equal(await sessionsOf(b, asked), 0);
  await b.chat.completions.create({ model: 'gpt', messages: [user('kept')], store: true });
  await say(b, 'kept, too');
  assert.equal(await sessionsOf(b, asked), 2);
});

test('a client that sends its whole input each time, as Codex does, is one session', async () => {
  const always = await start({ args: [...agent(), '--openai-record', 'always'] });
  const c = client('ann', always);
  const input = [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: '!tools look {"at":"sky"}' }] }];
  const ask = async () => {
    const { data, response } = await c.responses.create({ model: 'gpt', input, store: false, stream: true, tools, include: ['reasoning.encrypted_content'] }).withResponse();
    return { events: await all(data), session: response.headers.get('ramet-session') };
  };
  const first = await ask();
  input.push(...first.events.at(-1).response.output);
  input.push({ type: 'function_call_output', call_id: input.at(-1).call_id, output: 'blue' });
  const second = await ask();
  assert.equal(second.session, first.session);
  assert.equal(textOf(second.events.at(-1).response), 'The tools said: blue');
  assert.deepEqual(model.log.at(-1).body.messages.map((m) => m.role), ['system', 'user', 'assistant', 'tool']);
  const read = (await must(always, 'GET', `sessions/${first.session}/entries`, { user: 'ann' })).entries;
  assert.equal(read.filter((e) => e.role === 'user').length, 1);
  assert.equal(await sessionsOf(c, always), 1);
});

// ------------------------------------------------------------------ durability and identity

test('after a kill nothing of a completed response is lost, and one that was being made has failed', async () => {
  const db = scratch('store.db');
  let s = await start({ args: agent(), db });
  const who = client('ann', s);
  const done = await say(who, 'kept');
  const half = await say(who, '!count 1000 40', { background: true });
  await eventually(async () => assert.ok(model.log.some((e) => prompt(e).at(-1) === '!count 1000 40' && !e.closed)));
  s.child.kill('SIGKILL');
  await s.end;
  s = await start({ args: agent(), db });
  const c = client('ann', s);
  assert.deepEqual(plain(await c.responses.retrieve(done.id)), done);
  assert.equal(valid('response', plain(await c.responses.retrieve(half.id))).status, 'failed');
  const told = await all(await c.responses.retrieve(half.id, { stream: true, starting_after: 500 }));
  assert.deepEqual(told.map((e) => e.type), ['response.failed']);
  await say(c, 'on', { previous_response_id: done.id });
  assert.deepEqual(prompt(), ['kept', 'You said: kept', 'on']);
});

test('with tokens the bearer counts; in local mode it is ignored', async () => {
  const db = scratch('store.db');
  const made = await ramet(['token', 'create', '--user', 'ann', '--db', db]);
  const token = /rmt_\S+|\b[A-Za-z0-9_-]{30,}\b/.exec(made.out)[0];
  const s = await start({ args: [...agent(), '--auth', 'tokens'], db });
  const c = new OpenAI({ baseURL: `${s.url}/openai/v1`, apiKey: token, maxRetries: 0 });
  assert.equal((await c.responses.create({ input: 'x' })).output_text, 'You said: x');
  const wrong = new OpenAI({ baseURL: `${s.url}/openai/v1`, apiKey: 'wrong', maxRetries: 0 });
  await refused(wrong.responses.create({ input: 'x' }), 401);
  assert.equal((await call(server, 'GET', '/openai/v1/nothing')).status, 404);
  valid('error', (await call(server, 'GET', '/openai/v1/nothing')).body);
});

await finish();
