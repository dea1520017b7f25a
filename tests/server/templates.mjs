// SPDX-License-Identifier: Apache-2.0
//
// templates.mjs: templates over HTTP, and that every face shows what a chat was filled with.
import { test, finish, start, call, must, enc, newSession, ramet, assert } from './lib.mjs';
import { startModel } from './help/model.mjs';
import { client, closeAll, memory } from './help/grpc.mjs';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const texts = async (s, id, query = '', options) => (await must(s, 'GET', at(id, `/entries${query}`), options)).entries.map((e) => e.text);
const FILLED = ['Go to Porto, not {{else}} or {city}.', 'Porto: "yes"'];
const NAMES = ['Go to {{city}}, not {{else}} or {city}.', '{{city}}: "yes"'];

/** A server with a session `t` of ann, pinned after two messages; what came later is a third one. */
async function begin(options = {}) {
  const s = await start(options);
  const ann = { user: 'ann' };
  await newSession(s, { id: 't', title: 'To {{city}}' }, ann);
  const entries = [{ id: 'q', role: 'user', text: NAMES[0] }, { id: 'a', role: 'assistant', text: NAMES[1] }];
  await must(s, 'POST', at('t', '/entries'), { ...ann, json: { entries } });
  const made = await must(s, 'POST', 'templates', { ...ann, json: { session_id: 't', name: 'Trip', placeholders: ['city'] } });
  await must(s, 'POST', at('t', '/entries'), { ...ann, json: { entries: [{ role: 'user', text: 'later' }] } });
  const chat = (values, more = {}, o = ann) => call(s, 'POST', `templates/${made.id}/sessions`, { ...o, json: { values, ...more } });
  return { s, ann, made, chat };
}

test('made, described, listed, changed, used, unpinned', async () => {
  const { s, ann, made, chat } = await begin();
  assert.deepEqual([made.name, made.placeholders, made.session_id, made.entry_id, made.length, made.created_by],
                   ['Trip', ['city'], 't', 'a', 2, 'ann']);
  assert.deepEqual(await must(s, 'GET', `templates/${made.id}`, ann), made);
  const r = await chat({ city: 'Porto' }, { id: 'c', tags: ['x'] });
  assert.equal(r.status, 201, r.text);
  assert.equal(r.headers.get('location'), '/ramet/v1/sessions/c');
  assert.deepEqual([r.body.id, r.body.head.length, r.body.forked_from.session_id, r.body.forked_from.entry_id, r.body.title, r.body.tags],
                   ['c', 2, 't', 'a', 'Fork of To Porto', ['x']]);
  assert.deepEqual(await texts(s, 'c', '', ann), FILLED);
  assert.deepEqual(await texts(s, 'c', '?view=context', ann), FILLED);
  assert.deepEqual(await texts(s, 'c', '?view=record', ann), NAMES);
  const [c, t] = [await must(s, 'GET', at('c', '/entries'), ann), await must(s, 'GET', at('t', '/entries'), ann)];
  assert.deepEqual(c.entries.map((e) => [e.id, e.prefix_hash]), t.entries.slice(0, 2).map((e) => [e.id, e.prefix_hash]));
  assert.deepEqual(await must(s, 'GET', at('c', '/template'), ann), { template_id: made.id, values: { city: 'Porto' } });
  assert.deepEqual(await must(s, 'GET', at('t', '/template'), ann), { template_id: null, values: {} });
  const second = await must(s, 'POST', 'templates', { ...ann, json: { session_id: 't', entry_id: 'q', name: 'Short' } });
  const page = await must(s, 'GET', 'templates?limit=1', ann);
  assert.deepEqual(page.templates.map((x) => x.id), [second.id]);
  const rest = await must(s, 'GET', `templates?limit=1&cursor=${page.next_cursor}`, ann);
  assert.deepEqual([rest.templates.map((x) => x.id), rest.next_cursor], [[made.id], null]);
  const changed = await must(s, 'PATCH', `templates/${made.id}`, { ...ann, json: { name: 'Other', placeholders: [] } });
  assert.deepEqual([changed.name, changed.placeholders, changed.length], ['Other', [], 2]);
  assert.equal((await chat({}, { id: 'plain' })).status, 201);
  assert.deepEqual(await texts(s, 'plain', '', ann), NAMES);
  assert.equal((await call(s, 'DELETE', `templates/${made.id}`, ann)).status, 204);
  const gone = await call(s, 'GET', `templates/${made.id}`, ann);
  assert.deepEqual([gone.status, gone.body.code], [404, 'template_not_found']);
  assert.deepEqual(await texts(s, 'c', '', ann), FILLED, 'its chats stay');
});

test('what cannot be is refused by name, and changes nothing', async () => {
  const { s, ann, made, chat } = await begin();
  for (const [values, status, code, field] of [
    [{}, 400, 'invalid_request', 'values.city'],
    [{ city: 'x', town: 'y' }, 400, 'invalid_request', 'values.town'],
    [{ city: 5 }, 400, 'invalid_request', 'values.city'],
    [{ city: 'a\u0000b' }, 400, 'invalid_request', 'values.city'],
    [{ city: 'x'.repeat(65537) }, 413, 'too_large', 'values.city'],
    ['x', 400, 'invalid_request', 'values'],
  ]) {
    const r = await chat(values, { id: 'c' });
    assert.deepEqual([r.status, r.body.code, r.body.field], [status, code, field], r.text);
  }
  assert.equal((await call(s, 'GET', at('c'), ann)).status, 404);
  for (const [json, status, code, field] of [
    [{ session_id: 't' }, 400, 'invalid_request', 'name'],
    [{ name: 'x' }, 400, 'invalid_request', 'session_id'],
    [{ session_id: 't', name: 'x', entry_id: 'nobody' }, 404, 'entry_not_found', 'entry_id'],
    [{ session_id: 'nobody', name: 'x' }, 404, 'session_not_found', 'session_id'],
    [{ session_id: 't', name: 'x', placeholders: ['a b'] }, 400, 'invalid_request', 'placeholders[0]'],
    [{ session_id: 't', name: 'x', placeholders: Array.from({ length: 101 }, (_, i) => `n${i}`) }, 413, 'too_large', 'placeholders'],
    [{ session_id: 't', name: 'x', more: 1 }, 400, 'invalid_request', 'more'],
  ]) {
    const r = await call(s, 'POST', 'templates', { ...ann, json });
    assert.deepEqual([r.status, r.body.code], [status, code], r.text);
    if (field) assert.equal(r.body.field, field, r.text);
  }
  assert.equal((await must(s, 'GET', 'templates', ann)).templates.length, 1);
  // another user knows nothing of it; a reader may have a private chat
  for (const [method, path, json] of [['GET', ''], ['PATCH', '', { name: 'x' }], ['DELETE', ''], ['POST', '/sessions', { values: { city: 'x' } }]]) {
    const r = await call(s, method, `templates/${made.id}${path}`, { user: 'eve', json });
    assert.deepEqual([r.status, r.body.code], [404, 'template_not_found'], r.text);
  }
  await must(s, 'PUT', at('t', '/members/rita'), { ...ann, json: { level: 'reader' } });
  const rita = { user: 'rita' };
  assert.equal((await chat({ city: 'x' }, {}, rita)).status, 403);
  assert.equal((await chat({ city: 'x' }, { visibility: 'private' }, rita)).status, 201);
  assert.equal((await call(s, 'DELETE', `templates/${made.id}`, rita)).status, 403);
});

test('a key makes one chat; a list of what was read is no change', async () => {
  const { s, ann, made } = await begin();
  const headers = { 'Idempotency-Key': 'one' };
  const ask = () => call(s, 'POST', `templates/${made.id}/sessions`, { ...ann, headers, json: { values: { city: 'Porto' } } });
  const [first, again] = [await ask(), await ask()];
  assert.equal(first.status, 201, first.text);
  assert.equal(again.body.id, first.body.id);
  const id = first.body.id;
  const list = (await must(s, 'GET', at(id, '/entries'), ann)).entries.map(({ id: e, role, text }) => ({ id: e, role, text }));
  const synced = await must(s, 'POST', at(id, '/sync'), { ...ann, json: { entries: [...list, { role: 'user', text: '{{city}} stays' }] } });
  assert.deepEqual([synced.head.length, synced.head.branch_id], [3, first.body.head.branch_id]);
  const append = await call(s, 'POST', at(id, '/entries'), { ...ann, json: { entries: [list[0]] } });
  assert.equal(append.status, 200, append.text);
  assert.equal(append.body.entries[0].text, FILLED[0]);
  assert.deepEqual(await texts(s, id, '', ann), [...FILLED, '{{city}} stays']);
});

test('every face shows it filled', async () => {
  const { s, ann, chat } = await begin();
  await must(s, 'POST', at('t', '/rewind'), { ...ann, json: { at: { entry_id: 'a' } } });
  assert.equal((await chat({ city: 'Porto' }, { id: 'c', title: 'Chat' })).status, 201);
  const messages = [{ id: 'q', role: 'user', text: FILLED[0] }, { id: 'a', role: 'assistant', text: FILLED[1] }];
  const before = (await must(s, 'GET', at('c'), ann)).head;
  const pod = await call(s, 'POST', '/api/v2/sandboxes/default/sessions/c/messages/sync', { ...ann, json: { messages } });
  assert.equal(pod.status, 200, pod.text);
  assert.deepEqual((await must(s, 'GET', at('c'), ann)).head, before, 'what AgentPod shows is what it is compared with');
  const kagent = await call(s, 'GET', '/api/sessions/c?user_id=ann&order=asc&limit=-1', ann);
  assert.ok(!kagent.text.includes('Go to {{city}}'), kagent.text);
  const tasks = await call(s, 'GET', '/api/sessions/c/tasks?user_id=ann', ann);
  assert.ok(tasks.text.includes('Go to Porto, not') && !tasks.text.includes('Go to {{city}}'), tasks.text);
  const rpc = await call(s, 'POST', '/a2a/echo', {
    ...ann, headers: { 'A2A-Version': '1.0' }, json: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: { contextId: 'c', includeArtifacts: true, historyLength: 100 } },
  });
  assert.ok(!rpc.text.includes('Go to {{city}}'), rpc.text);
  const answer = await fetch(`${s.url}/v1/conversations/c/entries`, { headers: { Authorization: 'Bearer ann' } });
  const rest = await answer.text();
  assert.ok(rest.includes('Go to Porto, not') && !rest.includes('Go to {{city}}'), rest);
  const grpc = client(s.port);
  const listed = await grpc.call(memory.EntriesService, 'listEntries', { conversationId: 'c' }, { authorization: 'Bearer ann' });
  const bytes = JSON.stringify(listed, (k, v) => v);
  assert.ok(bytes.includes('Go to Porto, not') && !bytes.includes('Go to {{city}}'), bytes);
  const hits = (await must(s, 'GET', 'search?q=go&session=c', ann)).hits;
  assert.deepEqual(hits.map((h) => [h.session_id, h.entry_id]), [['c', 'q']]);
  assert.ok(JSON.stringify(hits).includes('Porto'), JSON.stringify(hits));
  assert.deepEqual((await must(s, 'GET', 'search?q=porto', ann)).hits, [], 'values are not indexed');
  for (const format of ['md', 'html']) {
    const text = (await call(s, 'GET', at('c', `/export?format=${format}`), ann)).text;
    assert.ok(text.includes('Go to Porto, not') && !text.includes('Go to {{city}}'), text);
  }
  const share = await must(s, 'POST', at('c', '/shares'), { ...ann, json: {} });
  const seen = await call(s, 'GET', `${at('c', '/entries')}?share=${share.token}`, { user: 'eve' });
  assert.deepEqual(seen.body.entries.map((e) => e.text), FILLED);
  const two = await must(s, 'GET', 'compare?side=c&side=t', ann);
  assert.equal(two.shared, 2, 'by what was appended, not by what is shown');
  closeAll();
});

test('the adk log of a runtime is filled too', async () => {
  const s = await start();
  const ann = { user: 'ann' };
  const runtime = { headers: { 'X-User-Id': 'ann', 'X-Agent-Name': 'ns__NS__a' } };
  await must(s, 'POST', '/api/sessions', { ...runtime, json: { agent_ref: 'ns__NS__a', id: 't' } });
  const event = (id, text) => ({ id, invocation_id: 'i1', author: 'user', timestamp: 1, content: { role: 'user', parts: [{ text }] }, actions: {} });
  const send = (session, e) => call(s, 'POST', `/api/sessions/${session}/events`, { ...runtime, json: { id: e.id, data: JSON.stringify(e) } });
  const first = await send('t', event('ev1', 'Go to {{city}}'));
  assert.equal(first.status, 201, first.text);
  await must(s, 'POST', at('t', '/entries'), { ...ann, json: { entries: [{ role: 'user', text: 'Go to {{city}}' }] } });
  const made = await must(s, 'POST', 'templates', { ...ann, json: { session_id: 't', name: 'x', placeholders: ['city'] } });
  assert.equal((await send('t', event('ev2', 'later'))).status, 201);
  await must(s, 'POST', `templates/${made.id}/sessions`, { ...ann, json: { values: { city: 'Porto' }, id: 'c' } });
  const { events } = (await call(s, 'GET', '/api/sessions/c?order=asc&limit=-1', runtime)).body.data;
  assert.deepEqual(events.map((e) => JSON.parse(e.data).content.parts[0].text), ['Go to Porto']);
});

test('the model is sent the values, and the prompt that is kept has them', async () => {
  const model = await startModel();
  const { s, ann, chat } = await begin({ args: ['--agent', `m=openai,url=${model.url},model=m1`, '--default-agent', 'm'] });
  assert.equal((await chat({ city: 'Porto' }, { id: 'c', agent: 'm' })).status, 201);
  const done = await must(s, 'POST', at('c', '/messages'), { ...ann, json: { text: '{{city}}?' } });
  assert.deepEqual(model.log[0].body.messages.map((m) => m.content), [...FILLED, '{{city}}?']);
  const p = await must(s, 'GET', at('c', `/turns/${done.turn_id}/prompt`), ann);
  assert.equal(p.known, true);
  assert.equal(JSON.stringify(p.messages), JSON.stringify(model.log[0].body.messages));
  await model.stop();
});

test('a file of a tree has the values, and an import brings them back', async () => {
  const { s, ann, chat } = await begin();
  assert.equal((await chat({ city: 'Porto' }, { id: 'c' })).status, 201);
  const text = (await call(s, 'GET', at('t', '/export?format=jsonl&tree=true'), ann)).text;
  const other = await start();
  const r = await call(other, 'POST', 'import', { ...ann, body: text, headers: { 'Content-Type': 'application/x-ndjson' } });
  assert.equal(r.status, 200, r.text);
  assert.deepEqual(await texts(other, 'c', '', ann), FILLED);
  assert.deepEqual(await texts(other, 'c', '?view=record', ann), NAMES);
  assert.equal((await must(other, 'GET', 'templates', ann)).templates[0].name, 'Trip');
  assert.equal((await call(other, 'GET', at('t', '/export?format=jsonl&tree=true'), ann)).text, text, 'the same bytes');
  const bad = await call(await start(), 'POST', 'import', { ...ann, body: text.replace('Porto', 'Paris'), headers: { 'Content-Type': 'application/x-ndjson' } });
  assert.equal(bad.status, 422, bad.text);
});

test('the command works on a server as on a file', async () => {
  const { s } = await begin();
  const run = (...args) => ramet([...args, '--server', s.url, '--user', 'ann']);
  const list = await run('template', 'list', '--json');
  assert.equal(JSON.parse(list.out).templates[0].name, 'Trip', list.err);
  const made = await run('template', 'new', 'Trip', 'city=Porto', '--id', 'cli', '-q');
  assert.equal(made.code, 0, made.err);
  assert.match((await run('log', 'cli')).out, /Go to Porto, not/);
  assert.match((await run('log', 'cli', '--record')).out, /Go to \{\{city\}\}, not/);
  assert.equal((await run('template', 'values', 'cli')).out, 'city=Porto\n');
  assert.match((await run('template', 'set', 'Trip', '--name', 'Tour')).err, /changed the template 'Tour'/);
  assert.equal((await run('template', 'rm', 'Tour')).code, 0);
  assert.equal(JSON.parse((await run('template', 'list', '--json')).out).templates.length, 0);
});

await finish();
