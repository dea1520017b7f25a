// SPDX-License-Identifier: Apache-2.0
//
// erase.mjs: taking content out of a store for good, and what every face shows of it afterwards.
import { test, finish, start, call, must, enc, newSession, assert } from './lib.mjs';

const secret = 'hunter2-swordfish';
const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const erase = (s, json, options = {}) => call(s, 'POST', 'erase', { ...options, json });
const entries = async (s, id, query = '') => (await must(s, 'GET', at(id, `/entries?limit=100${query}`))).entries;

async function withSecret(options) {
  const s = await start(options);
  await newSession(s, { id: 'a' });
  await must(s, 'POST', at('a', '/entries'), { json: { entries: [
    { id: 'e1', role: 'user', text: `the key is ${secret}`, usage: { input: 7 } },
    { id: 'e2', role: 'assistant', text: 'noted' }] } });
  return s;
}

test('an entry is gone from every fork, search and title, and keeps its place', async () => {
  const s = await withSecret();
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  const before = await must(s, 'GET', at('a'));
  const dry = await erase(s, { entry: { session_id: 'a', entry_id: 'e1' }, dry_run: true });
  assert.equal(dry.status, 200, dry.text);
  assert.equal(dry.body.receipt.dry_run, true);
  assert.equal((await entries(s, 'a'))[0].text, `the key is ${secret}`);
  const r = await erase(s, { entry: { session_id: 'f', entry_id: 'e1' }, reason: 'a leak' });
  assert.equal(r.status, 200, r.text);
  assert.equal(r.body.receipt.entries, 1);
  assert.deepEqual(r.body.receipt.places, [{ session_id: 'a', entries: 1 }]);
  assert.ok(r.body.receipt.went.length && r.body.receipt.stayed.length);
  assert.match(r.body.receipt.notes[0], /guess/);
  assert.match(r.body.receipt.notes[2], /Agents .* keep what they were sent/);
  for (const id of ['a', 'f']) {
    const [e] = await entries(s, id);
    assert.equal(e.text, '[erased]');
    assert.deepEqual(e.parts, [{ type: 'text', text: '[erased]' }]);
    assert.equal(e.erased.reason, 'a leak');
    assert.match(e.erased.at, /^20/);
    assert.equal(e.usage.input, 7);
    assert.equal(e.id, 'e1');
  }
  const after = await must(s, 'GET', at('a'));
  assert.deepEqual(after.head, before.head);
  assert.ok(!JSON.stringify(after).includes('hunter2'), 'the title');
  assert.ok(!JSON.stringify(await must(s, 'GET', at('f'))).includes('hunter2'));
  assert.equal((await must(s, 'GET', `search?q=swordfish`)).hits.length, 0);
  assert.equal((await must(s, 'GET', `search?q=noted`)).hits.length, 1);
  const fsck = await must(s, 'POST', 'store/fsck', { json: {} });
  assert.equal(fsck.fault_count, 0);
  assert.equal(fsck.erased, 1);
});

test('everybody who sees a history can ask what was erased of it', async () => {
  const s = await withSecret();
  const list = async (id, query = '') => (await must(s, 'GET', at(id, `/erasures${query}`))).erasures;
  assert.deepEqual(await list('a'), []);
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'before', at: { entry_id: 'e1', side: 'before' } } });
  const first = (await erase(s, { entry: { session_id: 'a', entry_id: 'e1' }, reason: 'a leak' })).body.receipt;
  await must(s, 'POST', at('a', '/entries'), { json: { entries: [{ id: 'e3', role: 'user', text: 'more' }] } });
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'after', at: { entry_id: 'e2' } } });
  const rest = (await erase(s, { session: 'a', reason: 'all of it' })).body.receipt;
  const by = first.by ? { by: first.by } : {};
  const one = { at: first.at, ...by, reason: 'a leak', entries: 1 };
  assert.deepEqual(await list('a'), [{ at: rest.at, ...by, reason: 'all of it', entries: 2 }, one]);
  assert.deepEqual(await list('after'), [{ at: rest.at, ...by, reason: 'all of it', entries: 1 }, one]);
  assert.deepEqual(await list('before'), []);
  assert.equal((await call(s, 'GET', at('none', '/erasures'))).status, 404);
  assert.equal((await call(s, 'GET', at('a', '/erasures?branch=b999'))).body.code, 'branch_not_found');
});

test('what is refused names the field and changes nothing', async () => {
  const s = await withSecret();
  for (const [json, status, field] of [
    [{}, 400, 'erase'],
    [{ entry: { session_id: 'a' } }, 400, undefined],
    [{ entry: 'e1' }, 400, undefined],
    [{ entry: { session_id: 'a', entry_id: 'e1' }, session: 'a' }, 400, 'session'],
    [{ entry: { session_id: 'a', entry_id: 'e1', branch_id: 'x' } }, 400, 'entry'],
    [{ session: 'a', user: 'ann' }, 400, 'erase'],
    [{ session: 'none' }, 404, 'session'],
    [{ tree: 'none' }, 404, 'tree'],
    [{ entry: { session_id: 'a', entry_id: 'none' } }, 404, 'entry_id'],
    [{ session: 'a', reason: 'x'.repeat(2001) }, 413, 'reason'],
    [{ session: 'a', unknown: 1 }, 400, undefined]]) {
    const r = await erase(s, json);
    assert.equal(r.status, status, `${JSON.stringify(json)}: ${r.text}`);
    if (field)
      assert.equal(r.body.field, field, r.text);
  }
  assert.equal((await entries(s, 'a'))[0].text, `the key is ${secret}`);
});

test('an event stream that comes back gets the placeholder', async () => {
  const s = await withSecret();
  await erase(s, { entry: { session_id: 'a', entry_id: 'e1' } });
  const r = await fetch(`${s.url}/ramet/v1/events?session=a`, { headers: { ...s.headers, 'Last-Event-ID': '0' } });
  const reader = r.body.getReader();
  let seen = '';
  while (!seen.includes('session.updated') && !seen.includes('event: reset'))
    seen += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  assert.ok(!seen.includes('swordfish'), seen);
});

test('an answer kept for a key is gone, and the request is not done again', async () => {
  const s = await withSecret();
  const post = () => call(s, 'POST', at('a', '/entries'),
    { json: { entries: [{ id: 'e3', role: 'user', text: secret }] }, headers: { 'Idempotency-Key': 'k1' } });
  assert.equal((await post()).status, 201);
  await erase(s, { entry: { session_id: 'a', entry_id: 'e3' } });
  const again = await post();
  assert.equal(again.status, 409, again.text);
  assert.equal(again.body.code, 'answer_erased');
  assert.equal((await entries(s, 'a')).length, 3);
});

test('the receipt is given again under its key, whatever is erased in between', async () => {
  const s = await withSecret();
  const headers = { 'Idempotency-Key': 'k1' };
  const json = { entry: { session_id: 'a', entry_id: 'e1' }, reason: 'a leak' };
  const first = await erase(s, json, { headers });
  assert.equal(first.status, 200, first.text);
  assert.equal(first.body.receipt.entries, 1);
  assert.equal((await erase(s, { session: 'a' })).body.receipt.entries, 1);
  const again = await erase(s, json, { headers });
  assert.deepEqual(again.body, first.body);
  const other = await erase(s, { session: 'a' }, { headers });
  assert.equal(other.body.code, 'idempotency_mismatch', other.text);
});

test('every face shows the placeholder', async () => {
  const s = await start();
  const headers = { 'X-User-Id': 'ann', Authorization: 'Bearer ann', 'content-type': 'application/json' };
  const ask = async (method, path, json, status = 200) => {
    const r = await fetch(s.url + path, { method, headers, body: json && JSON.stringify(json) });
    const text = await r.text();
    assert.equal(r.status, status, `${method} ${path}: ${text}`);
    return text;
  };
  await ask('POST', '/ramet/v1/sessions', { id: 'a' }, 201);
  await ask('POST', '/ramet/v1/sessions/a/entries', { entries: [
    { id: 'e1', role: 'user', text: `the key is ${secret}`, turn_id: 't1' },
    { id: 'e2', role: 'assistant', text: 'noted', turn_id: 't1' }] }, 201);
  await ask('POST', '/ramet/v1/sessions/a/fork', { id: 'f', at: { entry_id: 'e2' } }, 201);
  await ask('POST', '/ramet/v1/erase', { entry: { session_id: 'a', entry_id: 'e1' } });
  const rpc = (method, params) => ask('POST', '/a2a/echo', { jsonrpc: '2.0', id: 1, method, params });
  const sent = JSON.parse(await rpc('message/send', { message: { kind: 'message', role: 'user', messageId: 'm1',
    parts: [{ kind: 'text', text: `the key is ${secret}` }] } })).result;
  const task = () => rpc('tasks/get', { id: sent.id, historyLength: 10 });
  assert.ok((await task()).includes('swordfish'));
  await ask('POST', '/ramet/v1/erase', { session: sent.contextId });
  for (const text of [await ask('GET', '/api/sessions/a/tasks?user_id=ann'),
                      await ask('GET', '/v1/conversations/a/entries'),
                      await ask('GET', '/ramet/v1/sessions/a/export?format=md'),
                      await ask('GET', '/ramet/v1/sessions/a/export?format=html'),
                      await ask('GET', '/ramet/v1/sessions/a/export?format=jsonl'),
                      await task()]) {
    assert.ok(!text.includes('swordfish'), text);
    assert.ok(text.includes('erased'), text);
  }
  for (const path of ['/api/sessions/a?user_id=ann', '/api/v2/sandboxes/default/sessions/a/branches',
                      '/api/v2/sandboxes/default/sessions/a/compare/f', '/ramet/v1/sessions/a/branches?at=e1',
                      '/ramet/v1/compare?side=a&side=f'])
    assert.ok(!(await ask('GET', path)).includes('swordfish'), path);
});

test('a session, a tree, and a user', async () => {
  const s = await withSecret();
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  await must(s, 'POST', at('f', '/entries'), { json: { entries: [{ id: 'e3', role: 'user', text: secret }] } });
  const one = await erase(s, { session: 'f' });
  assert.equal(one.body.receipt.entries, 1, one.text);
  assert.equal((await entries(s, 'a'))[0].erased, undefined);
  const tree = await erase(s, { tree: (await must(s, 'GET', at('a'))).tree_id });
  assert.equal(tree.body.receipt.entries, 2, tree.text);
  assert.equal(tree.body.receipt.already, 1);
  assert.equal((await must(s, 'POST', 'store/fsck', { json: {} })).fault_count, 0);
});

await finish();
