// SPDX-License-Identifier: Apache-2.0
//
// api.mjs: the native API as its contract says. Every answer is checked against the OpenAPI document of
// the server that gave it; at the end every route must have been called with success.
import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load as npm } from './help/packages.mjs';
import {
  test, finish, start, call, enc, sse, ramet, raw, scratch, eventually, assert, onPostgres, storeBytes,
} from './lib.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const sha = (s) => createHash('sha256').update(s).digest('hex');

// ------------------------------------------------------------------ answers against the document

let doc = null; // the OpenAPI document
let patterns = []; // [{re, path, operations}]
const hit = new Set(); // operationIds that were answered with success

async function load(server) {
  doc ??= (await call(server, 'GET', '/openapi.json')).body;
  patterns = Object.entries(doc.paths).map(([path, operations]) => ({
    re: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`), path, operations }))
    .sort((a, b) => (a.path.split('{').length - b.path.split('{').length));
}

const resolve = (s) => (s.$ref ? doc.components.schemas[s.$ref.split('/').pop()] : s);
const typeOf = (v) => (v === null ? 'null' : Array.isArray(v) ? 'array' : typeof v);

/** A strict reading of the document: members that it does not name are wrong, too. */
function fits(value, schema, at) {
  const s = resolve(schema);
  if (s.anyOf) {
    const problems = [];
    for (const one of s.anyOf) {
      try { fits(value, one, at); return; } catch (e) { problems.push(e.message); }
    }
    assert.fail(problems.join('; or '));
  }
  if (s.type) {
    const types = [s.type].flat();
    const is = typeOf(value);
    assert.ok(types.includes(is) || (is === 'number' && types.includes('integer') && Number.isInteger(value)),
              `${at} is ${is}, not ${types}`);
    if (value === null) return;
  }
  if (s.enum) assert.ok(s.enum.includes(value), `${at} is ${value}, not one of ${s.enum}`);
  if (s.format === 'date-time') assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, at);
  if (s.properties) {
    for (const name of s.required ?? []) assert.ok(name in value, `${at}.${name} is missing`);
    for (const [name, v] of Object.entries(value)) {
      assert.ok(s.properties[name], `${at}.${name} is not in the document`);
      fits(v, s.properties[name], `${at}.${name}`);
    }
  }
  if (s.items) value.forEach((v, i) => fits(v, s.items, `${at}[${i}]`));
}

/** A call whose answer is checked against the document. */
async function api(server, method, path, options = {}) {
  await load(server);
  const r = await call(server, method, path, options);
  const full = (path.startsWith('/') ? path : `/ramet/v1/${path}`).split('?')[0];
  const found = patterns.find((p) => p.re.test(full) && p.operations[method.toLowerCase()]);
  if (!found) return r;
  const op = found.operations[method.toLowerCase()];
  const told = op.responses[r.status];
  const where = `${method} ${path} → ${r.status}`;
  if (r.status < 300) {
    hit.add(op.operationId);
    const schema = (told ?? Object.values(op.responses)[0]).content?.['application/json']?.schema;
    if (schema) fits(r.body, schema, where);
  } else {
    assert.ok(told, `${where} ${r.text}: the document does not tell of this status`);
    fits(r.body, doc.components.schemas.Error, where);
    assert.ok(told.description.includes(`\`${r.body.code}\``), `${where}: ${r.body.code} is not in the document`);
    assert.equal(r.body.request_id, r.headers.get('x-request-id'));
  }
  return r;
}

async function good(server, method, path, options) {
  const r = await api(server, method, path, options);
  assert.ok(r.status >= 200 && r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
  return r.body;
}

/** A call that must fail so; field NULL: whatever. */
async function bad(server, method, path, options, status, code, field) {
  const r = await api(server, method, path, options);
  assert.equal(r.status, status, `${method} ${path} ${JSON.stringify(options.json)}: ${r.text}`);
  assert.equal(r.body.code, code, r.text);
  if (field) assert.equal(r.body.field, field, r.text);
  return r;
}

const post = (json, more = {}) => ({ json, ...more });
const user = (text, more = {}) => ({ role: 'user', text, ...more });
const answer = (text, more = {}) => ({ role: 'assistant', text, ...more });
const texts = (page) => page.entries.map((e) => e.text);

/** A session with entries e1 … en, user and assistant in turn. */
async function talk(server, id, n = 4, more = {}) {
  await good(server, 'POST', 'sessions', post({ id, ...more }));
  const entries = Array.from({ length: n }, (_, i) =>
    ({ id: `e${i + 1}`, role: i % 2 ? 'assistant' : 'user', text: `text ${i + 1}` }));
  return n ? good(server, 'POST', `sessions/${enc(id)}/entries`, post({ entries })) : null;
}

let s; // one server for all tests that do not need their own; after a failure, another one on its store
const db = scratch('api.db');
async function ready() {
  if (!s || s.child.exitCode !== null) s = await start({ db, keep: true, args: ['--admins', 'root'] });
}

// ------------------------------------------------------------------ sessions

test('a session is made, read, changed, listed', async () => {
  await ready();
  const made = await api(s, 'POST', 'sessions', post({
    id: 'a b/%✓', title: 'To Lisbon', agent: { name: 'claude', model: 'opus', options: { t: 0.10 } },
    tags: [' Travel ', 'train'], metadata: { k: [1.0] }, visibility: 'private' }));
  assert.equal(made.status, 201);
  assert.equal(made.headers.get('location'), `/ramet/v1/sessions/${enc('a b/%✓')}`);
  assert.deepEqual(made.body.tags, ['train', 'travel']);
  assert.equal(made.body.visibility, 'private');
  assert.equal(made.body.running, null);
  assert.deepEqual(made.body.head, { branch_id: made.body.head.branch_id, length: 0, entry_id: null, prefix_hash: '0'.repeat(64) });
  assert.match(made.text, /"options":\{"t":0\.10?\}/);
  const read = await api(s, 'GET', `sessions/${enc('a b/%✓')}`);
  assert.deepEqual(read.body, { ...made.body, level: 'owner' });
  const again = await call(s, 'GET', `sessions/${enc('a b/%✓')}`, { headers: { 'If-None-Match': read.headers.get('etag') } });
  assert.equal(again.status, 304);
  const named = await good(s, 'POST', 'sessions', post({ agent: 'echo' }));
  assert.equal(named.agent.name, 'echo');
  assert.match(named.id, /^[0-9a-f-]{36}$/);
  const path = `sessions/${enc('a b/%✓')}`;
  let p = await good(s, 'PATCH', path, post({ title: 'By train', archived: true, visibility: 'tree' }));
  assert.deepEqual([p.title, p.archived, p.visibility, p.agent.name], ['By train', true, 'tree', 'claude']);
  p = await good(s, 'PATCH', path, post({ title: null, agent: null, metadata: null, archived: false }));
  assert.deepEqual([p.title, p.agent, p.metadata, p.archived], ['', null, {}, false]);
  p = await good(s, 'PATCH', path, post({}));
  assert.equal(p.archived, false);
  await bad(s, 'POST', 'sessions', post({ id: 'a b/%✓' }), 409, 'session_exists');
  await bad(s, 'GET', 'sessions/nobody', {}, 404, 'session_not_found');
  await bad(s, 'POST', 'sessions', post({ id: '' }), 400, 'invalid_id', 'id');
  await bad(s, 'POST', 'sessions', post({ id: 'x'.repeat(256) }), 400, 'invalid_id', 'id');
  await bad(s, 'POST', 'sessions', post({ title: 'x'.repeat(501) }), 413, 'title_too_long', 'title');
  await bad(s, 'POST', 'sessions', post({ tags: ['x'.repeat(51)] }), 400, 'invalid_tag');
  await bad(s, 'POST', 'sessions', post({ ephemeral_seconds: 0 }), 400, 'invalid_request', 'ephemeral_seconds');
});

test('lists page and filter', async () => {
  await ready();
  for (let i = 0; i < 7; i++)
    await good(s, 'POST', 'sessions', post({ id: `l${i}`, title: `List ${i}`, tags: i % 2 ? ['odd'] : [], agent: i < 3 ? 'echo' : 'other' }, { user: 'lena' }));
  const seen = [];
  let cursor = null, pages = 0;
  do {
    const page = await good(s, 'GET', `sessions?limit=3${cursor ? `&cursor=${enc(cursor)}` : ''}`, { user: 'lena' });
    seen.push(...page.sessions.map((x) => x.id));
    if (!pages++) await good(s, 'POST', 'sessions', post({ id: 'meanwhile' }, { user: 'lena' }));
    cursor = page.next_cursor;
  } while (cursor);
  assert.deepEqual(seen, ['l6', 'l5', 'l4', 'l3', 'l2', 'l1', 'l0']);
  const ids = async (q) => (await good(s, 'GET', `sessions?${q}`, { user: 'lena' })).sessions.map((x) => x.id);
  assert.deepEqual(await ids('tag=odd'), ['l5', 'l3', 'l1']);
  assert.deepEqual(await ids('agent=echo&title=list'), ['l2', 'l1', 'l0']);
  await good(s, 'PATCH', 'sessions/l0', post({ archived: true }, { user: 'lena' }));
  assert.deepEqual(await ids('archived=only'), ['l0']);
  assert.equal((await ids('archived=include')).length, 8);
  assert.equal((await ids('owner=lena')).length, 7);
  const tree = (await good(s, 'GET', 'sessions/l3', { user: 'lena' })).tree_id;
  assert.deepEqual(await ids(`tree=${enc(tree)}`), ['l3']);
  for (const limit of ['0', '1001', '-1', 'x', '1.5', '', '99999999999999999999'])
    await bad(s, 'GET', `sessions?limit=${limit}`, {}, 400, 'invalid_request', 'limit');
  await bad(s, 'GET', 'sessions?archived=maybe', {}, 400, 'invalid_request', 'archived');
  await bad(s, 'GET', 'sessions?colour=red', {}, 400, 'invalid_request', 'colour');
  await bad(s, 'GET', 'sessions?limit=1&limit=2', {}, 400, 'invalid_request', 'limit');
  await bad(s, 'GET', 'sessions?cursor=zzz', {}, 400, 'invalid_cursor');
  await bad(s, 'GET', 'sessions?title=%ff', {}, 400, 'invalid_request');
});

test('bad bodies are refused by name and change nothing', async () => {
  await ready();
  await talk(s, 'shapes', 2);
  const before = (await good(s, 'GET', 'sessions/shapes/entries')).head;
  const E = 'sessions/shapes/entries';
  const deep = '['.repeat(200) + ']'.repeat(200);
  const cases = [
    [E, '{', 'body'], [E, '[]', 'body'], [E, '"x"', 'body'], [E, '{"entries": [{"role": "user"', 'body'],
    [E, '{}', 'entries'], [E, '{"entries": null}', 'entries'], [E, '{"entries": {}}', 'entries'],
    [E, '{"entries": [1]}', 'entries[0]'], [E, '{"entries": [{"text": "x"}]}', 'entries[0].role'],
    [E, '{"entries": [{"role": "king"}]}', 'entries[0].role'], [E, '{"entries": [{"role": "user", "colour": 1}]}', 'entries[0].colour'],
    [E, '{"entries": [{"role": "user", "text": 1}]}', 'entries[0].text'],
    [E, '{"entries": [{"role": "user", "text": "a\\u0000b"}]}', 'entries[0].text'],
    [E, '{"entries": [{"role": "user", "usage": {"input": -1}}]}', 'entries[0].usage.input'],
    [E, '{"entries": [{"role": "user", "usage": {"input": 1.5}}]}', 'entries[0].usage.input'],
    [E, '{"entries": [{"role": "user", "state_delta": []}]}', 'entries[0].state_delta'],
    [E, '{"entries": [{"role": "user", "role": "user"}]}', 'body'], [E, '{"entries": [], "entries": []}', 'body'],
    [E, `{"entries": [{"role": "user", "format": "x", "body": ${deep}}]}`, 'body'],
    [E, Buffer.from('{"entries": [{"role": "user", "text": "\xff"}]}', 'latin1'), 'body'],
    [E, '{"entries": [], "expected_head": 7}', 'expected_head'], [E, '{"entries": [], "expected_head": {"length": 1}}', 'expected_head.prefix_hash'],
    [E, '{"entries": [{"role": "user"}], "branch_id": "x"}', 'branch_id'],
    ['sessions/shapes/fork', '{"at": {}}', 'at.entry_id'], ['sessions/shapes/fork', '{"at": {"entry_id": null}}', 'at.entry_id'],
    ['sessions/shapes/fork', '{"at": {"entry_id": "e1", "side": "left"}}', 'at.side'], ['sessions/shapes/fork', '{"at": "e1"}', 'at'],
    ['sessions/shapes/fork', '{"cut": "deep"}', 'cut'], ['sessions/shapes/fork', '{"tags": [1]}', 'tags[0]'],
    ['sessions/shapes/fork', '{"agent": 3}', 'agent'], ['sessions/shapes/fork', '{"agent": {"nick": "x"}}', 'agent.nick'],
    ['sessions/shapes/fork', '{"ephemeral_seconds": "x"}', 'ephemeral_seconds'], ['sessions/shapes/fork', '{"type": "x"}', 'type'],
    ['sessions/shapes/rewind', '{}', 'at'], ['sessions/shapes/switch', '{}', 'branch_id'], ['sessions/shapes/undo', '{"x": 1}', 'x'],
    ['sessions', '{"metadata": []}', 'metadata'], ['sessions', '{"visibility": "all"}', 'visibility'], ['sessions', '{"title": 1}', 'title'],
  ];
  for (const [path, body, field] of cases) {
    const r = await api(s, 'POST', path, { body, headers: { 'Content-Type': 'application/json' } });
    assert.deepEqual([r.status, r.body.code, r.body.field], [400, 'invalid_request', field], `${path} ${body}: ${r.text}`);
  }
  assert.deepEqual((await good(s, 'GET', E)).head, before);
  for (const type of ['text/plain', 'multipart/form-data; boundary=x'])
    await bad(s, 'POST', 'sessions', { body: '{}', headers: { 'Content-Type': type } }, 415, 'unsupported_media_type', 'Content-Type');
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await bad(s, 'POST', 'sessions', { body: 'title=x', headers: form }, 415, 'unsupported_media_type', 'Content-Type');
  await good(s, 'POST', 'sessions', { body: ' {}', headers: form }); // what curl -d says of everything
  for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/vnd.ramet+json'])
    await good(s, 'POST', 'sessions', { body: '{}', headers: { 'Content-Type': type } });
  const bare = await raw(s.port, `POST /ramet/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
  assert.match(bare, /^HTTP\/1\.1 201 /, 'no Content-Type is taken for JSON');
});

// ------------------------------------------------------------------ entries

test('entries are appended once, all or nothing, and read in pages', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'p' }));
  const body = '{"b":[1.10,1e400,"\\u00e9"], "z" : {}}';
  const batch = `{"entries": [{"id": "e1", "role": "user", "text": "one"},
    {"id": "e/2 ✓", "role": "assistant", "format": "x", "body": ${body}, "text": "two", "turn_id": "t", "channel": "side",
     "author": "me", "usage": {"input": 3, "output": 4, "cached": 1, "cost": 0.25, "currency": "EUR"}, "state_delta": {"a": 1}}]}`;
  const first = await api(s, 'POST', 'sessions/p/entries', { json: batch });
  assert.equal(first.status, 201, first.text);
  assert.ok(first.text.includes(body), 'the body is kept byte for byte');
  assert.equal(first.body.head.length, 2);
  assert.equal(first.body.added, 2);
  const again = await api(s, 'POST', 'sessions/p/entries', { json: batch });
  assert.equal(again.status, 200);
  assert.deepEqual(again.body.entries, first.body.entries);
  await bad(s, 'POST', 'sessions/p/entries', post({ entries: [user('more'), user('other', { id: 'e1' })] }), 409, 'entry_exists');
  const part = await api(s, 'POST', 'sessions/p/entries', post({ entries: [user('one', { id: 'e1' }), user('three', { id: 'e3' })] }));
  assert.deepEqual([part.status, part.body.added, part.body.head.length], [201, 1, 3]);
  const one = await api(s, 'GET', `sessions/p/entries/${enc('e/2 ✓')}`);
  assert.deepEqual([one.body.usage.cost, one.body.usage.currency, one.body.channel, one.body.author], [0.25, 'EUR', 'side', 'me']);
  await bad(s, 'GET', 'sessions/p/entries/none', {}, 404, 'entry_not_found');
  await bad(s, 'POST', 'sessions/nobody/entries', post({ entries: [user('x')] }), 404, 'session_not_found');
  await bad(s, 'POST', 'sessions/p/entries', post({ entries: [] }), 400, 'invalid_request');

  await bad(s, 'POST', 'sessions/p/entries', post({ entries: Array.from({ length: 1001 }, () => user('x')) }), 413, 'batch_too_large');
  await good(s, 'POST', 'sessions/p/entries', post({ entries: [answer('raw', { id: 'a1', format: 'adk', body: { secret: 1 } })], log: 'adk' }));
  assert.equal((await good(s, 'GET', 'sessions/p/entries')).entries.length, 3);
  assert.deepEqual(texts(await good(s, 'GET', 'sessions/p/entries?log=adk')), ['raw']);
  assert.deepEqual(texts(await good(s, 'GET', 'sessions/p/record?log=adk')), ['raw']);

  await talk(s, 'pages', 10);
  const page = (q) => good(s, 'GET', `sessions/pages/entries?${q}`);
  const ids = async (q) => (await page(q)).entries.map((e) => e.id);
  assert.deepEqual(await ids('limit=3'), ['e1', 'e2', 'e3']);
  assert.deepEqual(await ids('limit=3&after=e3'), ['e4', 'e5', 'e6']);
  assert.deepEqual(await ids('tail=true&limit=2'), ['e9', 'e10']);
  assert.deepEqual(await ids('tail=true&limit=2&before=e9'), ['e7', 'e8']);
  assert.deepEqual(await ids('limit=2&from=8'), ['e9', 'e10']);
  assert.deepEqual(await ids('after=e2&before=e5'), ['e3', 'e4']);
  assert.deepEqual(await ids('channel=none'), []);
  const mid = await page('limit=3&after=e3&view=record');
  assert.deepEqual([mid.more_before, mid.more_after, mid.head.length], [true, true, 10]);
  const all = await page('limit=1000');
  assert.deepEqual([all.more_before, all.more_after], [false, false]);
  await bad(s, 'GET', 'sessions/pages/entries?after=none', {}, 404, 'entry_not_found');
  await bad(s, 'GET', 'sessions/pages/entries?view=other', {}, 400, 'invalid_request', 'view');
  await bad(s, 'GET', 'sessions/pages/entries?tail=yes', {}, 400, 'invalid_request', 'tail');
  await bad(s, 'GET', 'sessions/pages/entries?branch=17', {}, 400, 'invalid_request', 'branch');
  await bad(s, 'GET', 'sessions/pages/entries?branch=b999999', {}, 404, 'branch_not_found');
  const tagged = await api(s, 'GET', 'sessions/pages/entries?limit=5');
  const etag = tagged.headers.get('etag');
  assert.ok(etag.startsWith(`"${tagged.body.head.prefix_hash}-`));
  assert.equal((await call(s, 'GET', 'sessions/pages/entries?limit=5', { headers: { 'If-None-Match': etag } })).status, 304);
  await good(s, 'POST', 'sessions/pages/entries', post({ entries: [user('new')] }));
  assert.equal((await call(s, 'GET', 'sessions/pages/entries?limit=5', { headers: { 'If-None-Match': etag } })).status, 200);
});

test('pages that are read while the session grows neither skip nor repeat', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'grow' }));
  let stop = false, n = 0;
  const writer = (async () => {
    while (!stop && n < 400) {
      await good(s, 'POST', 'sessions/grow/entries', post({ entries: [user(String(n)), user(String(n + 1))] }));
      n += 2;
    }
  })();
  const seen = [];
  let after = null;
  while (seen.length < 200) {
    const page = await good(s, 'GET', `sessions/grow/entries?limit=7${after ? `&after=${after}` : ''}`);
    seen.push(...texts(page));
    after = page.entries.at(-1)?.id ?? after;
  }
  stop = true;
  await writer;
  assert.deepEqual(seen, seen.map((_, i) => String(i)));
});

test('expected_head makes any write conditional', async () => {
  await ready();
  await talk(s, 'x', 2);
  const old = (await good(s, 'GET', 'sessions/x')).head;
  const oldTag = (await call(s, 'GET', 'sessions/x')).headers.get('etag');
  await good(s, 'POST', 'sessions/x/entries', post({ entries: [user('more', { id: 'e3' })], expected_head: old }));
  const now = (await good(s, 'GET', 'sessions/x')).head;
  const writes = [
    ['POST', 'entries', { entries: [user('y')] }], ['POST', 'fork', {}], ['POST', 'rewind', { at: { entry_id: 'e1' } }],
    ['POST', 'undo', {}], ['POST', 'redo', {}], ['POST', 'switch', { branch_id: now.branch_id }], ['POST', 'sync', { entries: [] }],
    ['PATCH', '', { title: 'z' }], ['PUT', 'tags', { tags: ['z'] }], ['POST', 'tags', { tags: ['z'] }], ['POST', 'promote', {}],
    ['PUT', 'members/zoe', { level: 'reader' }], ['POST', 'shares', {}], ['PUT', 'entries/e1/feedback', { value: 'up' }],
    ['POST', 'entries/e1/edit', { entry: { text: 'z' } }], ['POST', 'entries/e2/regenerate', {}],
  ];
  for (const [method, path, json] of writes)
    for (const expected_head of [old, old.prefix_hash]) {
      const r = await bad(s, method, `sessions/x${path ? `/${path}` : ''}`, post({ ...json, expected_head }), 409, 'head_moved', 'expected_head');
      assert.deepEqual(r.body.head, now, path);
    }
  for (const path of [`tags/z`, 'members/zoe', ''])
    await bad(s, 'DELETE', `sessions/x${path ? `/${path}` : ''}?expected_head=${old.prefix_hash}`, {}, 409, 'head_moved');
  await bad(s, 'POST', 'sessions/x/entries', post({ entries: [user('y')] }, { headers: { 'If-Match': oldTag } }), 409, 'head_moved');
  await bad(s, 'POST', 'sessions/x/entries', post({ entries: [user('y')], expected_head: 'abc' }), 400, 'invalid_request', 'expected_head');
  assert.deepEqual((await good(s, 'GET', 'sessions/x')).head, now);
  assert.deepEqual((await good(s, 'GET', 'sessions/x')).tags, []);
  const tag = (await call(s, 'GET', 'sessions/x/entries')).headers.get('etag');
  await good(s, 'PUT', 'sessions/x/tags', post({ tags: ['z'] }, { headers: { 'If-Match': tag } }));
  await good(s, 'POST', 'sessions/x/tags', post({ tags: ['y'], expected_head: now }));
});

// ------------------------------------------------------------------ forks and moves

test('a fork shares the history up to the cut and tells where it cut', async () => {
  await ready();
  await talk(s, 'f', 4);
  const r = await api(s, 'POST', 'sessions/f/fork', post({
    at: { entry_id: 'e2' }, id: 'f2', title: 'Second', reason: 'why not', tags: ['b', 'a'], agent: 'gpt', visibility: 'private',
    type: 'auto-edit', created_by: { kind: 'system', id: 'cron' }, metadata: { a: 1 }, ephemeral_seconds: 3600 }));
  assert.equal(r.status, 201);
  assert.deepEqual(r.body.cut, { policy: 'exact', entry_id: 'e2', side: 'after', position: 2 });
  assert.deepEqual(r.body.forked_from, { session_id: 'f', entry_id: 'e2', side: 'after', type: 'auto-edit', reason: 'why not', created_by: { kind: 'system', id: 'cron' } });
  assert.deepEqual([r.body.tags, r.body.agent.name, r.body.visibility, r.body.head.length], [['a', 'b'], 'gpt', 'private', 2]);
  assert.notEqual(r.body.expires_at, null);
  assert.equal((await good(s, 'POST', 'sessions/f2/promote')).expires_at, null);
  const a = await good(s, 'GET', 'sessions/f/entries?limit=2&versions=false'), b = await good(s, 'GET', 'sessions/f2/entries?versions=false');
  assert.deepEqual(a.entries, b.entries);
  const head = await good(s, 'POST', 'sessions/f/fork');
  assert.deepEqual([head.head.length, head.cut.entry_id, head.title], [4, 'e4', 'Fork of text 1']);
  const blank = await good(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: 'e1', side: 'before' } }));
  assert.deepEqual([blank.head.length, blank.cut], [0, { policy: 'exact', entry_id: 'e1', side: 'before', position: 0 }]);
  const count = (await good(s, 'GET', 'sessions/f/children')).sessions.length;
  await bad(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: 'none' } }), 404, 'entry_not_found');
  await bad(s, 'POST', 'sessions/f2/fork', post({ at: { entry_id: 'e3' } }), 404, 'entry_not_found');
  await bad(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: '' } }), 400, 'invalid_id');
  await bad(s, 'POST', 'sessions/f/fork', post({ id: 'f2' }), 409, 'session_exists');
  assert.equal((await good(s, 'GET', 'sessions/f/children')).sessions.length, count);
  const main = (await good(s, 'GET', 'sessions/f')).head.branch_id;
  const files = await good(s, 'GET', 'sessions/f/rewind/files?entry_id=e1');
  assert.deepEqual([files.available, files.changes], [false, []], 'an agent without files');
  assert.equal((await call(s, 'POST', '/ramet/v1/sessions/f/rewind', post({ at: { entry_id: 'e1' }, files: 'restore' }))).status, 409);
  await good(s, 'POST', 'sessions/f/rewind', post({ at: { entry_id: 'e1' } }));
  await bad(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: 'e3' } }), 404, 'entry_not_found');
  const abandoned = await good(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: 'e3' }, branch_id: main }));
  assert.equal(abandoned.head.length, 3);
  await bad(s, 'POST', 'sessions/f/fork', post({ at: { entry_id: 'e3' }, branch_id: 'b999999' }), 404, 'branch_not_found');
});

test('a cut that would part a tool call from its result', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'tools' }));
  await good(s, 'POST', 'sessions/tools/entries', post({ entries: [
    user('go', { id: 'e1' }),
    { id: 'call', role: 'assistant', parts: [{ type: 'tool_call', id: 't1', name: 'look', input: {} }] },
    { id: 'res', role: 'tool', parts: [{ type: 'tool_result', id: 't1', output: 'seen' }] }] }));
  const cut = async (policy) => (await good(s, 'POST', 'sessions/tools/fork', post({ at: { entry_id: 'call' }, cut: policy }))).cut;
  assert.deepEqual(await cut('exact'), { policy: 'exact', entry_id: 'call', side: 'after', position: 2 });
  assert.equal((await cut('snap_before')).position, 1);
  assert.equal((await cut('snap_after')).position, 3);
});

test('rewind, undo, redo, switch, sync and the head log', async () => {
  await ready();
  await talk(s, 'm', 4);
  const main = (await good(s, 'GET', 'sessions/m')).head.branch_id;
  const back = await good(s, 'POST', 'sessions/m/rewind', post({ at: { entry_id: 'e3', side: 'before' }, reason: 'again', keep_running: true }));
  assert.deepEqual([back.head.length, back.cut.entry_id, back.cut.side], [2, 'e3', 'before']);
  assert.equal((await good(s, 'POST', 'sessions/m/undo')).head.length, 4);
  assert.equal((await good(s, 'POST', 'sessions/m/redo', { json: {} })).head.length, 2);
  await bad(s, 'POST', 'sessions/m/redo', {}, 409, 'nothing_to_redo');
  assert.equal((await good(s, 'POST', 'sessions/m/switch', post({ branch_id: main }))).head.branch_id, main);
  await bad(s, 'POST', 'sessions/m/switch', post({ branch_id: 'b999999' }), 404, 'branch_not_found');
  await bad(s, 'POST', 'sessions/m/switch', post({ branch_id: 'main' }), 404, 'branch_not_found');
  const other = (await good(s, 'GET', 'sessions/f')).head.branch_id;
  await bad(s, 'POST', 'sessions/m/switch', post({ branch_id: other }), 404, 'branch_not_found');
  const synced = await good(s, 'POST', 'sessions/m/sync', post({ entries: [user('text 1'), answer('another'), user('third')] }));
  assert.deepEqual([synced.head.length, synced.sync], [3, { matched: 1, added: 2, moved: true }]);
  const same = await good(s, 'POST', 'sessions/m/sync', post({ entries: [user('text 1'), answer('another')] }));
  assert.deepEqual([same.head.length, same.sync.added], [2, 0]);
  const log = await good(s, 'GET', 'sessions/m/head-log');
  assert.deepEqual(log.moves.map((x) => x.kind), ['sync', 'sync', 'switch', 'redo', 'undo', 'rewind']);
  const page = await good(s, 'GET', 'sessions/m/head-log?limit=4');
  const rest = await good(s, 'GET', `sessions/m/head-log?limit=4&cursor=${page.next_cursor}`);
  assert.deepEqual([...page.moves, ...rest.moves], log.moves);
  assert.equal(rest.next_cursor, null);
  assert.equal(log.moves.at(-1).reason, 'again');
  await bad(s, 'GET', 'sessions/m/head-log?cursor=x', {}, 400, 'invalid_cursor');
  await talk(s, 'unmoved', 1);
  await bad(s, 'POST', 'sessions/unmoved/undo', {}, 409, 'nothing_to_undo');
  await bad(s, 'POST', 'sessions/m/rewind', post({ at: { entry_id: 'none' } }), 404, 'entry_not_found');
  const record = await good(s, 'GET', 'sessions/m/record');
  assert.deepEqual([record.total, record.entries.length], [6, 6]);
  const later = await good(s, 'GET', 'sessions/m/record?from=4&limit=1');
  assert.deepEqual([texts(later), later.more_after], [['another'], true]);
});

test('merge: fast_forward, splice, pick, land', async () => {
  await ready();
  await talk(s, 'into', 2);
  const fork = async (id, n) => {
    await good(s, 'POST', 'sessions/into/fork', post({ id }));
    await good(s, 'POST', `sessions/${id}/entries`, post({ entries: Array.from({ length: n }, (_, i) =>
      answer(`${id} ${i}`, { id: `${id}-${i}`, usage: { input: 3, output: 1 } })) }));
  };
  await fork('one', 2);
  await fork('two', 2);
  const merge = (json, more) => good(s, 'POST', 'sessions/into/merge', post(json, more));
  const show = await merge({ from: 'one', mode: 'splice', dry_run: true });
  assert.deepEqual([show.count, texts(show), show.entries[0].origins[0].entry_id], [2, ['one 0', 'one 1'], 'one-0']);
  assert.equal((await good(s, 'GET', 'sessions/into')).head.length, 2);
  const forward = await merge({ from: { session_id: 'one' }, mode: 'fast_forward' });
  assert.deepEqual([forward.head.length, forward.head.entry_id, forward.merge], [4, 'one-1', { mode: 'fast_forward', count: 2 }]);
  assert.equal((await good(s, 'GET', 'sessions/one')).merged_into, 'into');
  const refused = await bad(s, 'POST', 'sessions/into/merge', post({ from: 'two', mode: 'fast_forward' }), 409, 'merge_refused', 'mode');
  assert.match(refused.body.error, /2 entries of its own/);
  const spliced = await merge({ from: 'two', mode: 'splice' }, { headers: { 'Idempotency-Key': 'merge-once' } });
  assert.equal(spliced.head.length, 6);
  assert.equal((await merge({ from: 'two', mode: 'splice' }, { headers: { 'Idempotency-Key': 'merge-once' } })).head.length, 6);
  const { entries } = await good(s, 'GET', 'sessions/into/entries');
  const copy = entries.at(-1);
  assert.deepEqual([copy.text, copy.usage, copy.origins.map((o) => [o.session_id, o.entry_id])], ['two 1', null, [['two', 'two-1']]]);
  assert.ok(!('origins' in entries[2]));
  const from = await good(s, 'GET', `sessions/into/entries/${copy.id}/origins`);
  assert.deepEqual(from.origins, copy.origins);
  const to = await good(s, 'GET', 'sessions/two/entries/two-1/destinations');
  assert.deepEqual(to.destinations.map((o) => [o.session_id, o.entry_id]), [['into', copy.id]]);
  const picked = await merge({ mode: 'pick', entries: [{ session_id: 'one', entry_id: 'one-0' }, { entry_id: 'e1' }] });
  assert.equal(picked.head.length, 8);
  await talk(s, 'elsewhere', 1);
  await bad(s, 'POST', 'sessions/into/merge', post({ from: 'elsewhere', mode: 'splice' }), 409, 'merge_refused', 'from');
  const { token } = await good(s, 'POST', 'sessions/elsewhere/shares', post({}));
  const landed = await merge({ from: { share: token }, mode: 'land', text: 'in short' });
  assert.equal(landed.head.length, 9);
  assert.equal((await good(s, 'POST', 'sessions/into/undo')).head.length, 8);
  assert.deepEqual((await good(s, 'GET', 'sessions/into/head-log')).moves.map((m) => [m.kind, m.reason]), [
    ['undo', ''], ['merge', 'land'], ['merge', 'pick'], ['merge', 'splice'], ['merge', 'fast_forward']]);
  for (const [json, status, code, field] of [
    [{ from: 'two' }, 400, 'invalid_request', 'mode'], [{ from: 'two', mode: 'octopus' }, 400, 'invalid_request', 'mode'],
    [{ from: 'none', mode: 'splice' }, 404, 'session_not_found', 'from'], [{ mode: 'splice' }, 400, 'invalid_request', 'from'],
    [{ from: { session_id: 'two', branch_id: 'x' }, mode: 'splice' }, 400, 'invalid_request', 'from'],
    [{ from: { session_id: 'two', branch_id: 'b999999' }, mode: 'splice' }, 404, 'branch_not_found', 'from'],
    [{ from: 'two', mode: 'pick', entries: [{}] }, 400, 'invalid_request', null],
    [{ from: 'two', mode: 'land', text: '' }, 400, 'invalid_request', 'text'],
    [{ from: 'two', mode: 'land', agent: 'nobody' }, 422, 'agent_not_found', 'agent'],
    [{ from: 'two', mode: 'land', text: 'x'.repeat(17 << 20) }, 413, 'entry_too_large', 'text'],
    [{ from: 'two', mode: 'splice', agent: 'echo' }, 400, 'invalid_request', 'agent'],
    [{ from: 'elsewhere', mode: 'land', agent: 'echo' }, 409, 'merge_refused', 'text'],
    [{ from: { share: 'rs_x' }, mode: 'land', text: 'x' }, 404, 'share_not_found', null]])
    await bad(s, 'POST', 'sessions/into/merge', post(json), status, code, field);
});

test('branches are named, chosen, pruned and restored', async () => {
  await ready();
  await talk(s, 'twigs', 3);
  const old = (await good(s, 'GET', 'sessions/twigs')).head.branch_id;
  await good(s, 'POST', 'sessions/twigs/rewind', post({ at: { entry_id: 'e1' } }));
  await good(s, 'POST', 'sessions/twigs/entries', post({ entries: [user('another', { id: 'e4' })] }));
  const at = `sessions/twigs/branches/${old}`;
  const named = await good(s, 'PATCH', at, post({ name: 'the long way', favourite: true }));
  assert.equal(named.name, 'the long way');
  assert.equal(named.favourite, true);
  assert.equal((await good(s, 'GET', 'sessions/twigs')).favourite, old);
  assert.notEqual((await good(s, 'GET', 'sessions/twigs')).head.branch_id, old, 'the head stays');
  await bad(s, 'PATCH', at, post({ name: 'n'.repeat(101) }), 413, 'too_large');
  const nowhere = await bad(s, 'PATCH', 'sessions/twigs/branches/nowhere', post({ name: 'x' }), 404, 'branch_not_found');
  assert.equal(nowhere.body.error, 'session twigs has no such branch');
  const head = (await good(s, 'GET', 'sessions/twigs')).head.branch_id;
  await bad(s, 'POST', `sessions/twigs/branches/${head}/prune`, post({}), 409, 'branch_needed');
  assert.deepEqual(await good(s, 'POST', `${at}/prune`, post({ dry_run: true })),
                   { branches: [old], entries: 2, kept: [], dry_run: true });
  await good(s, 'POST', 'sessions/twigs/fork', post({ id: 'needs', branch_id: old, at: { entry_id: 'e2' } }));
  const refused = await bad(s, 'POST', `${at}/prune`, post({}), 409, 'branch_needed');
  assert.match(refused.body.error, /session needs needs its entry 2/);
  const others = await good(s, 'POST', `sessions/twigs/branches/${head}/prune`, post({ others: true, dry_run: true }));
  assert.deepEqual(others, { branches: [], entries: 0, dry_run: true,
                             kept: [{ branch_id: old, reason: 'session needs needs its entry 2' }] });
  await talk(s, 'free', 2);
  const gone = (await good(s, 'GET', 'sessions/free')).head.branch_id;
  const now = await good(s, 'POST', 'sessions/free/rewind', post({ at: { entry_id: 'e1' } }));
  await good(s, 'POST', `sessions/free/branches/${now.head.branch_id}/prune`, post({ others: true }));
  assert.deepEqual((await good(s, 'GET', 'sessions/free/branches')).branches.map((b) => b.branch_id), [now.head.branch_id]);
  const pruned = (await good(s, 'GET', 'sessions/free/branches?pruned=true')).branches;
  assert.equal(pruned[0].branch_id, gone);
  assert.match(pruned[0].pruned_at, /Z$/);
  await bad(s, 'POST', 'sessions/free/undo', post({}), 409, 'branch_pruned');
  await bad(s, 'POST', 'sessions/free/switch', post({ branch_id: gone }), 409, 'branch_pruned');
  await bad(s, 'GET', `sessions/free/entries?branch=${gone}`, {}, 409, 'branch_pruned');
  assert.equal((await good(s, 'GET', 'sessions/free/record')).total, 1);
  await bad(s, 'GET', `sessions/free/suggestions?branch=${gone}`, {}, 409, 'branch_pruned');
  assert.deepEqual((await good(s, 'POST', `sessions/free/branches/${gone}/restore`, post({ all: true }))).branches, [gone]);
  assert.equal((await good(s, 'POST', 'sessions/free/undo', post({}))).head.branch_id, gone);
});

test('suggestions', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'hints' }));
  await good(s, 'POST', 'sessions/hints/entries', post({ entries: [
    user('Which train goes to Lisbon?', { id: 'h1' }), answer('The train at nine goes to Lisbon.', { id: 'h2' }),
    user('No, I meant the night train to Lisbon.', { id: 'h3' })] }));
  const { suggestions, tags } = await good(s, 'GET', 'sessions/hints/suggestions');
  assert.deepEqual(suggestions.map((x) => [x.entry_id, x.kind]), [['h3', 'correction']]);
  assert.match(suggestions[0].why, /corrects/);
  assert.deepEqual(tags, ['lisbon', 'train']);
  assert.deepEqual((await good(s, 'GET', 'sessions/hints')).tags, [], 'suggestions only');
});

test('an ETag of a page changes with all that it shows', async () => {
  await ready();
  await talk(s, 'tag', 4);
  const read = async () => {
    const r = await api(s, 'GET', 'sessions/tag/entries');
    return [r.headers.get('etag'), r.body];
  };
  const [first, page] = await read();
  await good(s, 'POST', 'sessions/tag/entries/e3/edit', post({ entry: { text: 'else' } }));
  await good(s, 'POST', 'sessions/tag/undo');
  const [second, again] = await read();
  assert.deepEqual(again.head, page.head);
  assert.deepEqual(again.entries[2].versions, { number: 1, count: 2 });
  assert.notEqual(second, first);
  assert.equal((await read())[0], second);
});

test('edits and regenerations are versions', async () => {
  await ready();
  await talk(s, 'v', 4);
  const edited = await api(s, 'POST', 'sessions/v/entries/e3/edit', post({ entry: { id: 'e3b', text: 'text 3, better' } }));
  assert.equal(edited.status, 201);
  assert.deepEqual([edited.body.entries[0].role, edited.body.head.length], ['user', 3]);
  const again = await good(s, 'POST', 'sessions/v/entries/e2/regenerate', post({ entries: [answer('new', { id: 'e2b' })] }));
  assert.equal(again.head.length, 2);
  const empty = await good(s, 'POST', 'sessions/v/entries/e2b/regenerate');
  assert.deepEqual([empty.entries, empty.head.length], [[], 1]);
  await good(s, 'POST', 'sessions/v/entries', post({ entries: [answer('third', { id: 'e2c' })] }));
  const { branches } = await good(s, 'GET', 'sessions/v/branches?at=e2c');
  assert.deepEqual(branches.map((b) => [b.entry_id, b.number, b.type, b.current]),
    [['e2', 1, 'explicit', false], ['e2b', 2, 'auto-regenerate', false], ['e2c', 3, 'auto-regenerate', true]]);
  const page = await good(s, 'GET', 'sessions/v/entries');
  assert.deepEqual(page.entries.map((e) => e.versions), [{ number: 1, count: 1 }, { number: 3, count: 3 }]);
  await good(s, 'POST', 'sessions/v/switch', post({ branch_id: branches[0].branch_id }));
  const at = await good(s, 'GET', 'sessions/v/branches?at=e3b');
  assert.deepEqual(at.branches.map((b) => b.entry_id), ['e3', 'e3b']);
  const all = await good(s, 'GET', 'sessions/v/branches');
  assert.equal(all.branches.length, 4);
  const first = all.branches[0].branch_id;
  assert.deepEqual(texts(await good(s, 'GET', `sessions/v/entries?branch=${first}`)), ['text 1', 'text 2', 'text 3', 'text 4']);
  assert.equal((await good(s, 'GET', `sessions/v/entries/e4?branch=${first}`)).text, 'text 4');
  await bad(s, 'GET', 'sessions/v/branches?at=none', {}, 404, 'entry_not_found');
  await bad(s, 'GET', 'sessions/v/branches?branch=b1', {}, 400, 'invalid_request', 'branch');
  await bad(s, 'POST', 'sessions/v/entries/none/edit', post({ entry: { text: 'x' } }), 404, 'entry_not_found');
  await bad(s, 'POST', 'sessions/v/entries/e1/edit', post({}), 400, 'invalid_request', 'entry');
});

// ------------------------------------------------------------------ lineage

test('ancestry, children, tree and fork points', async () => {
  await ready();
  await talk(s, 'r', 2);
  for (const [from, id] of [['r', 'r1'], ['r1', 'r1a'], ['r', 'r2'], ['r1a', 'r1aa']])
    await good(s, 'POST', `sessions/${from}/fork`, post({ id }));
  const ids = (x) => x.sessions.map((y) => y.id);
  assert.deepEqual(ids(await good(s, 'GET', 'sessions/r1aa/ancestry')), ['r', 'r1', 'r1a', 'r1aa']);
  assert.deepEqual(ids(await good(s, 'GET', 'sessions/r/children')), ['r1', 'r2']);
  const tree = await good(s, 'GET', 'sessions/r2/tree');
  assert.deepEqual(ids(tree).sort(), ['r', 'r1', 'r1a', 'r1aa', 'r2']);
  const node = tree.sessions.find((x) => x.id === 'r1aa');
  assert.deepEqual([node.depth, node.path], [3, ['r', 'r1', 'r1a', 'r1aa']]);
  assert.equal(tree.next_cursor, null);
  const seen = [];
  let cursor = '';
  for (let more = true; more;) {
    const page = await good(s, 'GET', `sessions/r/tree?limit=2${cursor}`);
    seen.push(...ids(page));
    more = page.next_cursor !== null;
    cursor = `&cursor=${enc(page.next_cursor)}`;
  }
  assert.deepEqual(seen, ids(tree));
  await bad(s, 'GET', 'sessions/r/tree?cursor=none', {}, 400, 'invalid_cursor');
  const branches = await good(s, 'GET', 'sessions/r2/tree/branches');
  assert.deepEqual(branches.branches.map((b) => b.session_id).sort(), ['r', 'r1', 'r1a', 'r1aa', 'r2']);
  assert.deepEqual(branches.branches.map((b) => [b.base, b.length, b.current]), [[0, 2, true], ...Array(4).fill([2, 2, true])]);
  const first = await good(s, 'GET', 'sessions/r2/tree/branches?limit=4');
  assert.equal(first.branches.length, 4);
  assert.deepEqual((await good(s, 'GET', `sessions/r2/tree/branches?cursor=${first.next_cursor}`)).branches, branches.branches.slice(4));
  await bad(s, 'GET', 'sessions/r/tree/branches?cursor=none', {}, 400, 'invalid_cursor');
  const points = await good(s, 'GET', 'sessions/r/fork-points');
  assert.deepEqual(points.fork_points.map((p) => [p.position, p.entry_id, p.session_id]), ['r1', 'r1a', 'r2', 'r1aa'].map((id) => [2, 'e2', id]));
  await good(s, 'DELETE', 'sessions/r1');
  const gone = (await good(s, 'GET', 'sessions/r1aa/ancestry')).sessions;
  assert.deepEqual(gone.map((x) => [x.id, !!x.deleted]), [['r', false], ['r1', true], ['r1a', false], ['r1aa', false]]);
});

test('usage and state', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'u' }));
  await good(s, 'POST', 'sessions/u/entries', post({ entries: [
    user('a', { id: 'e1', state_delta: { a: 1, b: { c: 2 } } }),
    answer('b', { id: 'e2', usage: { input: 10, output: 5, cost: 0.001 }, state_delta: { a: null, d: 'x' } })] }));
  await good(s, 'POST', 'sessions/u/fork', post({ id: 'u2' }));
  await good(s, 'POST', 'sessions/u2/entries', post({ entries: [answer('c', { usage: { input: 1, output: 1 } })] }));
  const usage = await good(s, 'GET', 'sessions/u2/usage');
  assert.deepEqual([usage.own.input, usage.path.input, usage.tree.input, usage.path.cost, usage.path.currency], [1, 11, 11, 0.001, 'USD']);
  assert.deepEqual((await good(s, 'GET', 'sessions/u/state')).state, { b: { c: 2 }, d: 'x' });
  assert.deepEqual((await good(s, 'GET', 'sessions/u/state?at=e1')).state, { a: 1, b: { c: 2 } });
  await bad(s, 'GET', 'sessions/u/state?at=none', {}, 404, 'entry_not_found');
});

// ------------------------------------------------------------------ tags, members, deleting

test('tags', async () => {
  await ready();
  await talk(s, 't', 0);
  assert.deepEqual((await good(s, 'PUT', 'sessions/t/tags', post({ tags: ['B', 'a/b c'] }))).tags, ['a/b c', 'b']);
  assert.deepEqual((await good(s, 'POST', 'sessions/t/tags', post({ tags: ['c'] }))).tags, ['a/b c', 'b', 'c']);
  assert.deepEqual((await good(s, 'DELETE', `sessions/t/tags/${enc('a/b c')}`)).tags, ['b', 'c']);
  assert.ok((await good(s, 'GET', 'tags')).tags.some((x) => x.tag === 'c' && x.sessions === 1));
  await bad(s, 'PUT', 'sessions/t/tags', post({ tags: [''] }), 400, 'invalid_tag');
  await bad(s, 'PUT', 'sessions/t/tags', post({ tags: Array.from({ length: 65 }, (_, i) => `t${i}`) }), 400, 'too_many_tags');
});

test('members see what they may, others nothing', async () => {
  await ready();
  await talk(s, 'mem', 2);
  await bad(s, 'GET', 'sessions/mem', { user: 'ann' }, 404, 'session_not_found');
  assert.deepEqual(await good(s, 'PUT', 'sessions/mem/members/ann', post({ level: 'reader' })), { user: 'ann', level: 'reader' });
  assert.equal((await good(s, 'GET', 'sessions/mem', { user: 'ann' })).level, 'reader');
  assert.equal((await good(s, 'GET', 'sessions/mem')).level, 'owner');
  await bad(s, 'POST', 'sessions/mem/entries', post({ entries: [user('x')] }, { user: 'ann' }), 403, 'forbidden');
  await bad(s, 'POST', 'sessions/mem/fork', post({}, { user: 'ann' }), 403, 'forbidden');
  const own = await good(s, 'POST', 'sessions/mem/fork', post({ visibility: 'private' }, { user: 'ann' }));
  await bad(s, 'GET', `sessions/${own.id}`, {}, 404, 'session_not_found');
  assert.equal((await good(s, 'GET', `sessions/${own.id}`, { user: 'ann' })).level, 'owner', 'a private one is its owner\'s');
  const list = await good(s, 'GET', 'sessions/mem/members');
  assert.deepEqual(list.members.map((m) => [m.user, m.level]).sort(), [['ann', 'reader'], ['local', 'owner']]);
  await bad(s, 'PUT', 'sessions/mem/members/ann', post({ level: 'king' }), 400, 'invalid_request', 'level');
  await bad(s, 'DELETE', 'sessions/mem/members/bob', {}, 404, 'member_not_found');
  assert.equal((await api(s, 'DELETE', 'sessions/mem/members/ann', { user: 'ann' })).status, 204);
  await bad(s, 'GET', 'sessions/mem', { user: 'ann' }, 404, 'session_not_found');
});

test('deleting tells what goes, and can be taken back', async () => {
  await ready();
  await talk(s, 'd', 2);
  await good(s, 'POST', 'sessions/d/fork', post({ id: 'd1' }));
  await good(s, 'POST', 'sessions/d1/entries', post({ entries: [user('own')] }));
  const dry = await good(s, 'DELETE', 'sessions/d?tree=true&dry_run=true');
  assert.deepEqual([dry.sessions.sort(), dry.entries, dry.dry_run], [['d', 'd1'], 3, true]);
  const gone = await api(s, 'DELETE', 'sessions/d1');
  assert.deepEqual([gone.status, gone.body], [200, { sessions: ['d1'], entries: 1, dry_run: false }]);
  await bad(s, 'GET', 'sessions/d1', {}, 404, 'session_not_found');
  await bad(s, 'POST', 'sessions', post({ id: 'd1' }), 409, 'session_deleted');
  const tree = `sessions?deleted=true&tree=${(await good(s, 'GET', 'sessions/d')).tree_id}`;
  const listed = (await good(s, 'GET', tree)).sessions;
  assert.deepEqual(listed.map((x) => [x.id, x.head.length]), [['d1', 3]]);
  assert.ok(listed[0].deleted_at >= listed[0].created_at, listed[0].deleted_at);
  assert.deepEqual((await good(s, 'GET', tree, { user: 'ann' })).sessions, []);
  assert.equal((await good(s, 'POST', 'sessions/d1/restore')).id, 'd1');
  assert.deepEqual((await good(s, 'GET', tree)).sessions, []);
  await bad(s, 'GET', 'sessions?deleted=yes', {}, 400, 'invalid_request', 'deleted');
  await good(s, 'DELETE', 'sessions/d?tree=true');
  await good(s, 'POST', 'sessions/d/restore', post({ tree: true }));
  await good(s, 'GET', 'sessions/d1');
  await bad(s, 'DELETE', 'sessions/d?tree=1', {}, 400, 'invalid_request', 'tree');
});

// ------------------------------------------------------------------ compare, search

test('compare and verdicts', async () => {
  await ready();
  await talk(s, 'c@b1', 3);
  await good(s, 'POST', `sessions/${enc('c@b1')}/fork`, post({ id: 'c2', at: { entry_id: 'e2' } }));
  await good(s, 'POST', 'sessions/c2/entries', post({ entries: [user('else', { usage: { input: 7 } })] }));
  const both = await good(s, 'GET', `compare?side=${enc('c@b1')}&side=c2`);
  assert.deepEqual([both.shared, both.sides.map((x) => x.session_id)], [2, ['c@b1', 'c2']]);
  assert.deepEqual([texts(both.sides[1]), both.sides[1].usage.input], [['else'], 7]);
  const main = (await good(s, 'GET', 'sessions/c2')).head.branch_id;
  await good(s, 'POST', 'sessions/c2/rewind', post({ at: { entry_id: 'e1' } }));
  const branch = await good(s, 'GET', `compare?side=c2&side=${enc(`c2@${main}`)}&limit=5`);
  assert.deepEqual([branch.shared, branch.sides[1].branch_id, branch.sides[1].own], [1, main, 2]);
  await bad(s, 'GET', 'compare?side=c2', {}, 400, 'invalid_request');
  await bad(s, 'GET', 'compare', {}, 400, 'invalid_request', 'side');
  await bad(s, 'GET', 'compare?side=c2&side=c2@b999999', {}, 404, 'session_not_found');
  const sides = ['c@b1', `c2@${main}`];
  const v = await api(s, 'POST', 'compare/verdict', post({ sides, winner: sides[1], reason: 'shorter' }));
  assert.deepEqual([v.status, v.body.winner, v.body.sides[1].branch_id], [201, 1, main]);
  const objects = await good(s, 'POST', 'compare/verdict', post({ sides: [{ session_id: 'c@b1' }, { session_id: 'c2', branch_id: main }], winner: 0 }));
  assert.equal(objects.winner, 0);
  assert.equal((await good(s, 'POST', 'compare/verdict', post({ sides, winner: null }))).winner, null);
  assert.equal((await good(s, 'POST', 'compare/verdict', post({ sides, winner: 'c2' }))).winner, 1);
  for (const winner of ['nobody', 2, -1, true]) await bad(s, 'POST', 'compare/verdict', post({ sides, winner }), 400, 'invalid_request', 'winner');
  await bad(s, 'POST', 'compare/verdict', post({ sides }), 400, 'invalid_request', 'winner');
  const list = await good(s, 'GET', 'compare/verdicts?session=c2&limit=3');
  assert.equal(list.verdicts.length, 3);
  assert.equal((await good(s, 'GET', `compare/verdicts?session=c2&cursor=${list.next_cursor}`)).verdicts.length, 1);
});

test('search', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'find', tags: ['needle'], agent: 'echo' }));
  await good(s, 'POST', 'sessions/find/entries', post({ entries: [user('a zebra crosses the Straße', { id: 'z1' }), answer('zebra zebra', { id: 'z2' })] }));
  const r = await good(s, 'GET', 'search?q=zebra');
  assert.deepEqual(r.hits.map((h) => h.entry_id).sort(), ['z1', 'z2']);
  const one = await good(s, 'GET', `search?q=${enc('zebra straße')}&session=find&tag=needle&agent=echo&role=user&since=2020-01-01T00:00:00Z&limit=1`);
  const [hit1] = one.hits;
  assert.deepEqual([hit1.entry_id, hit1.session_id, hit1.abandoned], ['z1', 'find', false]);
  const mark = hit1.marks.at(-1);
  assert.equal([...hit1.highlight].slice(mark.start, mark.start + mark.length).join(''), 'Straße');
  await good(s, 'POST', 'sessions/find/rewind', post({ at: { entry_id: 'z1' } }));
  assert.equal((await good(s, 'GET', 'search?q=zebra')).hits.find((h) => h.entry_id === 'z2').abandoned, true);
  assert.deepEqual((await good(s, 'GET', 'search?q=zebra', { user: 'stranger' })).hits, []);
  await bad(s, 'GET', 'search', {}, 400, 'invalid_request', 'q');
  await bad(s, 'GET', 'search?q=x&limit=201', {}, 400, 'invalid_request', 'limit');
  await bad(s, 'GET', 'search?q=x&since=yesterday', {}, 400, 'invalid_request', 'since');
});

// ------------------------------------------------------------------ attachments, shares, feedback

test('attachments are streamed in and out', async () => {
  await ready();
  const bytes = Buffer.alloc(3 << 20, 'ramet ');
  const up = await api(s, 'POST', `attachments?name=${enc('a "b" ✓.txt')}&sha256=${sha(bytes)}`, { body: bytes, headers: { 'Content-Type': 'text/plain' } });
  assert.equal(up.status, 201, up.text);
  assert.deepEqual([up.body.size, up.body.sha256, up.body.name, up.body.media_type], [bytes.length, sha(bytes), 'a "b" ✓.txt', 'text/plain']);
  const { id } = up.body;
  const down = await fetch(`${s.url}/ramet/v1/attachments/${id}`);
  const got = Buffer.from(await down.arrayBuffer());
  hit.add('downloadAttachment');
  assert.equal(sha(got), sha(bytes));
  assert.equal(down.headers.get('content-type'), 'text/plain');
  assert.match(down.headers.get('content-disposition'), /^attachment; filename="a _b_ .*\.txt"; filename\*=UTF-8''a%20%22b%22%20%E2%9C%93\.txt$/);
  assert.equal(down.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(down.headers.get('etag'), `"${sha(bytes)}"`);
  assert.equal((await call(s, 'GET', `attachments/${id}`, { headers: { 'If-None-Match': `"${sha(bytes)}"` } })).status, 304);
  assert.deepEqual((await good(s, 'GET', `attachments/${id}/info`)).sha256, sha(bytes));
  const head = await fetch(`${s.url}/ramet/v1/attachments/${id}`, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  await bad(s, 'GET', `attachments/${id}/info`, { user: 'stranger' }, 404, 'attachment_not_found');
  await good(s, 'POST', 'sessions', post({ id: 'files' }));
  await good(s, 'POST', 'sessions/files/entries', post({ entries: [{ role: 'user', parts: [{ type: 'file', attachment_id: id, name: 'x' }] }] }));
  assert.equal((await good(s, 'GET', `attachments/${id}/info`)).expires_at, null);
  await bad(s, 'DELETE', `attachments/${id}`, {}, 409, 'attachment_in_use');
  await bad(s, 'POST', 'sessions/files/entries', post({ entries: [{ role: 'user', parts: [{ type: 'file', attachment_id: 'none' }] }] }), 404, 'attachment_not_found');

  const small = Buffer.from('small');
  const digest = createHash('sha256').update(small).digest('base64');
  for (const headers of [{ 'Content-Digest': `sha-256=:${digest}:` }, { Digest: `SHA-256=${digest}` }]) {
    const r = await api(s, 'POST', 'attachments', { body: small, headers: { ...headers, 'Content-Disposition': 'attachment; filename="n \\"q\\".bin"' } });
    assert.deepEqual([r.status, r.body.name], [201, 'n "q".bin']);
    assert.equal((await api(s, 'DELETE', `attachments/${r.body.id}`)).status, 204);
    await bad(s, 'GET', `attachments/${r.body.id}`, {}, 404, 'attachment_not_found');
  }
  await bad(s, 'POST', 'attachments', { body: small, headers: { 'Content-Digest': 'sha-256=:AAAA:' } }, 400, 'invalid_request', 'Content-Digest');
  await bad(s, 'POST', `attachments?sha256=${sha('other')}`, { body: small }, 422, 'digest_mismatch');
  await bad(s, 'POST', 'attachments', { body: small, headers: { 'Content-Type': 'multipart/form-data; boundary=x' } }, 415, 'unsupported_media_type', 'Content-Type');
  await bad(s, 'POST', 'attachments?colour=red', { body: small }, 400, 'invalid_request', 'colour');
  assert.equal((await api(s, 'POST', 'attachments', { body: '' })).body.size, 0);
});

test('share links show one session, and end', async () => {
  await ready();
  await talk(s, 'sh', 2);
  const share = await good(s, 'POST', 'sessions/sh/shares', post({ expires_seconds: 3600 }));
  assert.equal(share.write, false);
  const via = { user: 'guest', headers: { 'X-Ramet-Share': share.token } };
  const opened = await good(s, 'GET', 'share', via);
  assert.deepEqual([opened.session.id, opened.share.id], ['sh', share.id]);
  assert.equal(opened.share.token, undefined);
  assert.equal((await good(s, 'GET', `sessions/sh/entries?share=${share.token}`, { user: 'guest' })).entries.length, 2);
  assert.equal((await good(s, 'GET', 'sessions/sh', via)).level, 'reader');
  await bad(s, 'POST', 'sessions/sh/entries', post({ entries: [user('x')] }, via), 403, 'forbidden');
  const fork = await good(s, 'POST', 'sessions/sh/fork', post({ visibility: 'private' }, via));
  assert.equal(fork.owner, 'guest');
  const list = await good(s, 'GET', 'sessions/sh/shares');
  assert.deepEqual(list.shares.map((x) => [x.id, x.token]), [[share.id, undefined]]);
  const write = await good(s, 'POST', 'sessions/sh/shares', post({ write: true }));
  await good(s, 'POST', 'sessions/sh/entries', post({ entries: [user('by link')] }, { user: 'guest', headers: { 'X-Ramet-Share': write.token } }));
  assert.equal((await good(s, 'GET', 'sessions/sh', { user: 'guest', headers: { 'X-Ramet-Share': write.token } })).level, 'writer');
  assert.equal((await api(s, 'DELETE', `sessions/sh/shares/${share.id}`)).status, 204);
  await bad(s, 'GET', 'share', via, 404, 'share_not_found');
  await bad(s, 'DELETE', `sessions/sh/shares/${share.id}`, {}, 404, 'share_not_found');
  await bad(s, 'GET', 'share', {}, 400, 'invalid_request', 'share');
  await bad(s, 'POST', 'sessions/sh/shares', post({ expires_seconds: -1 }), 400, 'invalid_request', 'expires_seconds');
});

test('feedback stands beside the entry', async () => {
  await ready();
  await talk(s, 'fb', 2);
  const before = await good(s, 'GET', 'sessions/fb/entries');
  const put = await good(s, 'PUT', 'sessions/fb/entries/e2/feedback', post({ value: 'up', comment: 'good' }));
  assert.deepEqual([put.user, put.value, put.comment], ['local', 'up', 'good']);
  const list = await good(s, 'GET', 'sessions/fb/entries/e2/feedback');
  assert.deepEqual(list.feedback.map((f) => [f.user, f.value, f.comment]), [['local', 'up', 'good']]);
  assert.deepEqual(await good(s, 'GET', 'sessions/fb/entries'), before);
  assert.deepEqual((await good(s, 'GET', 'sessions/fb/entries?feedback=true')).entries.map((e) => e.feedback), [undefined, 'up']);
  await good(s, 'PUT', 'sessions/fb/entries/e2/feedback', post({ value: null }));
  assert.deepEqual((await good(s, 'GET', 'sessions/fb/entries/e2/feedback')).feedback, []);
  await bad(s, 'PUT', 'sessions/fb/entries/e2/feedback', post({}), 400, 'invalid_request', 'value');
  await bad(s, 'PUT', 'sessions/fb/entries/e2/feedback', post({ value: 'meh' }), 400, 'invalid_request', 'value');
  await bad(s, 'PUT', 'sessions/fb/entries/none/feedback', post({ value: 'up' }), 404, 'entry_not_found');
});

// ------------------------------------------------------------------ idempotency

const key = (k, more = {}) => ({ headers: { 'Idempotency-Key': k }, ...more });

/** The same request twice with one key: answered with the same bytes; another body is refused. */
async function twice(path, json, k, want, other, more = {}) {
  const options = (body) => ({ [path.startsWith('attachments') ? 'body' : 'json']: body, ...key(k, more) });
  const a = await api(s, 'POST', path, options(json));
  const b = await api(s, 'POST', path, options(json));
  assert.deepEqual([a.status, b.status], [want, want], `${path}: ${a.text} ${b.text}`);
  assert.equal(a.text, b.text, path);
  assert.deepEqual([a.headers.get('idempotency-replayed'), b.headers.get('idempotency-replayed')], [null, 'true'], path);
  await bad(s, 'POST', path, options(other), 409, 'idempotency_mismatch', 'idempotency_key');
  if (!path.includes('?') && !more.user) await bad(s, 'POST', `${path}?user_id=local`, options(json), 409, 'idempotency_mismatch');
  const full = `/ramet/v1/${path}`.split('?')[0];
  keyed.add(patterns.find((p) => p.re.test(full) && p.operations.post).operations.post.operationId);
  return a.body;
}
const keyed = new Set(); // operationIds that were answered twice

test('a repeated request with the same key is answered once', async () => {
  await ready();
  await talk(s, 'i', 2);
  const title = { title: 'other' };
  const spaced = '{ }'; // {} in other bytes
  await twice('sessions', { title: 'once' }, 'k1', 201, title);
  await twice('sessions/i/entries', { entries: [user('three'), answer('four', { id: 'e4' })] }, 'k1', 201, { entries: [user('three')] });
  assert.equal((await good(s, 'GET', 'sessions/i')).head.length, 4);
  await twice('sessions/i/fork', {}, 'k2', 201, title);
  assert.equal((await good(s, 'GET', 'sessions/i/children')).sessions.length, 1);
  const branch_id = (await good(s, 'GET', 'sessions/i')).head.branch_id;
  await twice('sessions/i/rewind', { at: { entry_id: 'e2' } }, 'k', 200, { at: { entry_id: 'e1' } });
  await twice('sessions/i/undo', {}, 'k', 200, spaced);
  await twice('sessions/i/redo', {}, 'k', 200, spaced);
  await twice('sessions/i/switch', { branch_id }, 'k', 200, { branch_id: 'b99' });
  await twice(`sessions/i/branches/${branch_id}/prune`, { others: true }, 'k', 200, {});
  await twice(`sessions/i/branches/${branch_id}/restore`, {}, 'k', 200, { all: true });
  await twice('sessions/i/sync', { entries: [user('text 1')] }, 'k', 200, { entries: [] });
  await twice('sessions/i/overlays', { entry_id: 'e1', action: 'hide' }, 'k', 201, { entry_id: 'e1', action: 'replace', text: 'x' });
  await good(s, 'POST', 'sessions/i/undo', post({}));
  await twice('sessions/i/tags', { tags: ['t'] }, 'k', 200, { tags: ['u'] });
  await twice('sessions/i/shares', {}, 'k', 201, { write: true });
  await twice('sessions/i/entries/e1/edit', { entry: { text: 'new' } }, 'k', 201, { entry: { text: 'newer' } });
  await talk(s, 'i4', 2);
  await twice('sessions/i4/edit', { entry_id: 'e1', text: 'new' }, 'k', 201, { entry_id: 'e1', text: 'newer' });
  await talk(s, 'i3', 2);
  await twice('sessions/i3/entries/e2/regenerate', { entries: [answer('another')] }, 'k', 201, {});
  assert.equal((await good(s, 'GET', 'sessions/i3/branches')).branches.length, 2);
  await good(s, 'DELETE', 'sessions/i3');
  await twice('sessions/i3/restore', {}, 'k', 200, { tree: true });
  await twice('sessions/i/promote', {}, 'k', 200, spaced);
  await good(s, 'POST', 'sessions/i/fork', post({ id: 'i2' }));
  await twice('compare/verdict', { sides: ['i', 'i2'], winner: null }, 'k', 201, { sides: ['i', 'i2'], winner: 0 });
  assert.equal((await good(s, 'GET', 'compare/verdicts?session=i2')).verdicts.length, 1);
  assert.equal((await good(s, 'GET', 'sessions/i/shares')).shares.length, 1);
  await good(s, 'POST', 'sessions/i2/entries', post({ entries: [answer('more')] }));
  await twice('sessions/i/merge', { from: 'i2', mode: 'fast_forward' }, 'k', 200, { from: 'i2', mode: 'splice' });
  await twice('attachments?name=x', 'the bytes', 'file', 201, 'other bytes');
  await bad(s, 'POST', 'sessions', post(title, key('k1')), 409, 'idempotency_mismatch');
  await good(s, 'POST', 'sessions', post(title, key('k1', { user: 'ann' })));
  await bad(s, 'POST', 'sessions', post({}, key('x'.repeat(256))), 400, 'invalid_request', 'Idempotency-Key');
  await bad(s, 'POST', 'sessions/i/fork', post({ at: { entry_id: 'none' } }, key('again')), 404, 'entry_not_found');
  await good(s, 'POST', 'sessions/i/fork', post({}, key('again')));
  const empty = await raw(s.port, 'POST /ramet/v1/sessions HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key:\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}');
  assert.match(empty, /^HTTP\/1\.1 400 [^]*Idempotency-Key/);
  const many = await Promise.all(Array.from({ length: 20 }, () => call(s, 'POST', 'sessions', post({ title: 'race' }, key('race')))));
  assert.equal(new Set(many.map((r) => r.text)).size, 1);
});

test('upkeep hears the key too, and keeps no secret that can be read', async () => {
  await ready();
  const root = { user: 'root' };
  const count = async () => (await good(s, 'GET', 'tokens', root)).tokens.length;
  const before = await count();
  const secretKey = 'e7f0e5b2-unguessable-5d1f';
  const token = await twice('tokens', { user: 'ann', note: 'twice' }, secretKey, 201, { user: 'bob' }, root);
  assert.equal(await count(), before + 1);
  const share = await twice('sessions/i/shares', { expires_seconds: 60 }, secretKey, 201, {});
  const kept = storeBytes(s.db);
  for (const secret of [token.secret, share.token, secretKey]) {
    assert.equal(kept.indexOf(secret), -1);
    assert.equal(kept.indexOf(Buffer.from(secret).toString('hex')), -1);
  }
  await twice('store/gc', { dry_run: true }, 'k', 200, {}, root);
  await twice('store/gc', {}, 'k2', 200, { dry_run: true }, root);
  await twice('store/index', {}, 'k', 200, { rebuild: true }, root);
  await talk(s, 'after the index', 1);
  await twice('store/index', { rebuild: true }, 'k2', 200, {}, root);
  await twice('store/fsck', {}, 'k', 200, '{ }', root);
  const many = await Promise.all(Array.from({ length: 6 }, () => call(s, 'POST', 'store/fsck', post({}, key('race', root)))));
  assert.deepEqual([...new Set(many.map((r) => `${r.status} ${r.text}`))].length, 1);
  assert.equal(many.filter((r) => !r.headers.get('idempotency-replayed')).length, 1, 'one of them is kept');
  // A key is of who asks, though the work is nobody's.
  const own = await start({ args: ['--admins', 'root,rita'] });
  const made = [];
  for (const name of ['root', 'rita']) made.push(await call(own, 'POST', 'tokens', post({ user: 'x' }, key('k', { user: name }))));
  assert.deepEqual(made.map((r) => [r.status, r.headers.get('idempotency-replayed')]), [[201, null], [201, null]]);
  assert.notEqual(made[0].text, made[1].text);
  await bad(s, 'POST', 'tokens', post({ user: 'ann', note: 'twice' }, key(secretKey, { user: 'ann' })), 403, 'forbidden');
});

test('sandboxes', async () => {
  await ready();
  const box = await twice('sandboxes', { id: 'box' }, 'k', 201, { id: 'other' });
  assert.deepEqual([box.id, typeof box.created_at], ['box', 'string']);
  assert.deepEqual((await good(s, 'GET', 'sandboxes')).sandboxes.map((b) => b.id), ['default', 'box']);
  await good(s, 'POST', 'sessions', post({ id: 'boxed', sandbox: 'box' }));
  assert.deepEqual((await good(s, 'GET', 'sessions?sandbox=box')).sessions.map((x) => x.id), ['boxed']);
  await bad(s, 'POST', 'sessions', post({ sandbox: 'nowhere' }), 404, 'sandbox_not_found');
  await bad(s, 'GET', 'sessions?sandbox=nowhere', {}, 404, 'sandbox_not_found');
  await bad(s, 'POST', 'sandboxes', post({ id: 'box' }), 409, 'sandbox_exists');
  assert.deepEqual(await good(s, 'DELETE', 'sandboxes/box'), { id: 'box', trees: 1 });
  await bad(s, 'DELETE', 'sandboxes/box', {}, 404, 'sandbox_not_found');
});

test('holds and retention', async () => {
  await ready();
  const root = { user: 'root' };
  await good(s, 'POST', 'sessions', post({ id: 'stale', tags: ['stale'] }));
  assert.equal((await good(s, 'PUT', 'sessions/stale/hold', post({ reason: 'case 7' }))).session_id, 'stale');
  assert.deepEqual((await good(s, 'GET', 'sessions/stale/hold')).holds.map((h) => h.reason), ['case 7']);
  assert.deepEqual((await good(s, 'GET', 'holds', root)).holds.map((h) => h.session_id), ['stale']);
  await bad(s, 'DELETE', 'sessions/stale', {}, 409, 'held', 'session');
  await good(s, 'DELETE', 'sessions/stale/hold');
  const rules = [{ name: 'stale', older_than_seconds: 0, tag: 'stale' }];
  assert.equal((await good(s, 'PUT', 'retention', post({ rules }, root))).tried_at, null);
  await bad(s, 'POST', 'retention/run', post({}, root), 409, 'dry_run_first', 'dry_run');
  await twice('retention/run', { dry_run: true }, 'k', 200, {}, root);
  assert.ok((await good(s, 'GET', 'retention', root)).tried_at);
  assert.equal((await good(s, 'GET', 'sessions/stale/retention/explain')).rule, 'stale');
  const done = await twice('retention/run', {}, 'k2', 200, { dry_run: true }, root);
  assert.deepEqual(done.removals.map((r) => r.session_id), ['stale']);
  assert.deepEqual((await good(s, 'GET', 'retention/log', root)).removals.map((r) => r.session_id), ['stale']);
  await bad(s, 'GET', 'sessions/stale', {}, 404, 'session_not_found');
  assert.deepEqual((await good(s, 'PUT', 'retention', post({ rules: [] }, root))).rules, []);
});

test('templates', async () => {
  await ready();
  await talk(s, 'pinned', 2);
  const { id } = await twice('templates', { session_id: 'pinned', name: 'Two', placeholders: ['city'] }, 'k', 201, { session_id: 'pinned', name: 'Other' });
  assert.deepEqual((await good(s, 'GET', 'templates')).templates.map((t) => t.id), [id]);
  assert.equal((await good(s, 'GET', `templates/${id}`)).name, 'Two');
  assert.equal((await good(s, 'PATCH', `templates/${id}`, post({ name: 'Three' }))).name, 'Three');
  const chat = await twice(`templates/${id}/sessions`, { values: { city: 'Porto' } }, 'k', 201, { values: { city: 'Faro' } });
  assert.deepEqual((await good(s, 'GET', `sessions/${chat.id}/template`)).values, { city: 'Porto' });
  await bad(s, 'POST', `templates/${id}/sessions`, post({ values: {} }), 400, 'invalid_request', 'values.city');
  await good(s, 'DELETE', `templates/${id}`);
  await bad(s, 'GET', `templates/${id}`, {}, 404, 'template_not_found');
});

test('erasure', async () => {
  await ready();
  await talk(s, 'leak', 2);
  const { entries } = await good(s, 'GET', 'sessions/leak/entries');
  const entry = (at) => ({ entry: { session_id: 'leak', entry_id: entries[at].id } });
  const done = await twice('erase', entry(0), 'k', 200, entry(1));
  assert.equal(done.receipt.entries, 1);
  assert.equal((await good(s, 'GET', 'sessions/leak/entries')).entries[0].text, '[erased]');
  assert.equal((await good(s, 'GET', 'sessions/leak/erasures')).erasures[0].entries, 1);
});

test('every POST hears the key', async () => {
  await load(s);
  const turns = ['sendMessage', 'regenerate', 'fanOut', 'cancelTurn', 'answerQuestion']; // have their own rules: turns.mjs
  const same = ['useNearby', 'importFile']; // asked twice, it is done once: below, and export.mjs
  const posts = operations().filter((op) => op.path.startsWith('/ramet/v1') && op.method === 'POST').map((op) => op.operationId)
    .filter((id) => !turns.includes(id) && !same.includes(id));
  assert.ok(posts.length > 15);
  assert.deepEqual(posts.filter((id) => !keyed.has(id)), []);
});

test('a kept answer survives a restart', async () => {
  const db = scratch('once.db');
  const one = await start({ db });
  const send = (server) => call(server, 'POST', 'sessions', post({ title: 'x' }, { headers: { 'Idempotency-Key': 'k' } }));
  const a = await send(one);
  await one.stop();
  const two = await start({ db });
  const b = await send(two);
  assert.deepEqual([a.status, b.status, a.text, b.headers.get('idempotency-replayed')], [201, 201, b.text, 'true']);
});

// ------------------------------------------------------------------ live, about, upkeep

test('events', async () => {
  await ready();
  await talk(s, 'ev', 0);
  const stream = await sse(s, '?session=ev');
  hit.add('streamEvents');
  await good(s, 'POST', 'sessions/ev/entries', post({ entries: [user('hello')] }));
  const e = await stream.next();
  assert.deepEqual([e.event, e.json.session_id], ['entry.appended', 'ev']);
  stream.close();
  const replay = await sse(s, `?session=ev&after=${Number(e.id) - 1}`);
  assert.equal((await replay.next()).id, e.id);
  replay.close();
  await bad(s, 'GET', 'events?session=nobody', {}, 404, 'session_not_found');
  await bad(s, 'GET', 'events?tree=nothing', {}, 404, 'tree_not_found');
  await bad(s, 'GET', 'events', { headers: { 'Last-Event-ID': 'x' } }, 400, 'invalid_request', 'Last-Event-ID');
  await bad(s, 'GET', 'events?after=-1', {}, 400, 'invalid_request', 'after');
});

test('who asks, who answers, how it is used', async () => {
  await ready();
  const me = await good(s, 'GET', 'me', { user: 'root', headers: { 'X-Client-ID': 'tests' } });
  assert.deepEqual([me.user, me.client, me.auth, me.admin], ['root', 'tests', 'local', true]);
  assert.ok(Array.isArray((await good(s, 'GET', 'agents')).agents));
  const stats = await good(s, 'GET', 'statistics?days=7');
  assert.ok(stats.active_users >= 2 && stats.forks > 5 && stats.forked_share > 0 && stats.forked_share <= 1, JSON.stringify(stats));
  await bad(s, 'GET', 'statistics?days=400', {}, 400, 'invalid_request', 'days');
});

/** A model server at the first of the usual ports that is free; undefined: none is. */
async function modelServer(answer) {
  for (const port of [1234, 8000, 8080, 11434]) {
    const server = http.createServer((_, out) => answer(out));
    const there = await new Promise((done) => server.once('error', () => done(false)).listen(port, '127.0.0.1', () => done(true)));
    if (there) return { url: `http://127.0.0.1:${port}/v1`, close: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }) };
  }
  return undefined;
}

test('model servers of this machine are found, and nothing else is taken for one', async () => {
  await ready();
  const find = async (url) => (await good(s, 'GET', 'agents/nearby')).servers.find((each) => each.url === url);
  const models = Array.from({ length: 40 }, (_, i) => ({ id: `model-${i}` }));
  const answers = [
    ['a list of models', (out) => out.end(JSON.stringify({ object: 'list', data: models })), models.slice(0, 32).map((m) => m.id)],
    ['an empty list', (out) => out.end('{"data":[]}'), []],
    ['another program', (out) => out.end('<html>'), undefined],
    ['another JSON', (out) => out.end('[1]'), undefined],
    ['an error', (out) => { out.statusCode = 404; out.end('{"data":[]}'); }, undefined],
    ['too much', (out) => out.end(JSON.stringify({ data: [], more: 'x'.repeat(300000) })), undefined],
    ['silence', () => {}, undefined],
  ];
  for (const [what, answer, want] of answers) {
    const server = await modelServer(answer);
    if (!server) continue;
    const found = await find(server.url);
    await server.close();
    assert.deepEqual(found?.models, want, what);
  }
  const secured = await start({ args: ['--auth', 'tokens'] });
  assert.equal((await call(secured, 'GET', 'agents/nearby')).status, 401);
  assert.equal((await call(secured, 'POST', 'agents/nearby', { json: { url: 'http://127.0.0.1:1234/v1', model: 'x' } })).status, 401);
});

test('a model server of this machine is used when it is asked for, and no other', async () => {
  const own = await start();
  const url = 'http://127.0.0.1:1234/v1', use = (json) => good(own, 'POST', 'agents/nearby', post(json));
  const names = async () => (await good(own, 'GET', 'agents')).agents.map((a) => [a.name, a.default]);
  assert.deepEqual(await names(), [['echo', true]]);
  for (const [json, field] of [[{ url: 'http://127.0.0.1:1235/v1', model: 'x' }, 'url'], [{ url: 'http://example.com/v1', model: 'x' }, 'url'],
                               [{ url, model: '' }, 'model'], [{ url, model: 'x'.repeat(256) }, 'model'], [{ url }, 'model']])
    await bad(own, 'POST', 'agents/nearby', post(json), 400, 'invalid_request', field);
  assert.deepEqual(await names(), [['echo', true]]);
  const odd = 'a "b", \\ c';
  assert.deepEqual(await use({ url, model: 'x' }), { name: 'local' });
  assert.deepEqual(await use({ url, model: 'x' }), { name: 'local' }, 'it is there already');
  assert.deepEqual(await use({ url, model: odd }), { name: 'local-2' });
  assert.deepEqual(await use({ url, model: odd }), { name: 'local-2' });
  assert.deepEqual(await names(), [['echo', false], ['local', true], ['local-2', false]]);
});

test('upkeep is for administrators', async () => {
  await ready();
  const root = { user: 'root' };
  for (const [method, path, json] of [['GET', 'store'], ['POST', 'store/gc', {}], ['POST', 'store/fsck', {}], ['POST', 'store/index', {}],
    ['GET', 'store/backup'], ['POST', 'tokens', { user: 'x' }], ['GET', 'tokens'], ['DELETE', 'tokens/x']])
    await bad(s, method, path, { json, user: 'ann' }, 403, 'forbidden');
  const stats = await good(s, 'GET', 'store', root);
  assert.ok(stats.sessions > 10);
  assert.equal((await good(s, 'POST', 'store/gc', post({ dry_run: true }, root))).dry_run, true);
  assert.equal((await good(s, 'POST', 'store/fsck', root)).fault_count, 0);
  await good(s, 'POST', 'store/index', post({ rebuild: true }, root));
  const copy = await fetch(`${s.url}/ramet/v1/store/backup`, { headers: { 'X-User-Id': 'root' } });
  hit.add('backupStore');
  const first = Buffer.from(await copy.arrayBuffer()).subarray(0, 15).toString();
  if (onPostgres) assert.equal(copy.status, 400); // it has its own means
  else assert.equal(first, 'SQLite format 3');
  const token = await good(s, 'POST', 'tokens', post({ user: 'ann', client: 'cli', roles: ['admin', 'auditor'], note: 'hers', expires_seconds: 60 }, root));
  assert.deepEqual([token.user, token.roles, typeof token.secret], ['ann', ['admin', 'auditor'], 'string']);
  const listed = async () => (await good(s, 'GET', 'tokens', root)).tokens.filter((t) => t.id === token.id).map((t) => [t.secret, t.revoked]);
  assert.deepEqual(await listed(), [[undefined, false]]);
  assert.equal((await api(s, 'DELETE', `tokens/${token.id}`, root)).status, 204);
  assert.deepEqual(await listed(), [[undefined, true]]);
  await bad(s, 'DELETE', 'tokens/none', root, 404, 'token_not_found');
});

test('turns', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'turns' }));
  const at = (rest) => `sessions/turns/${rest}`;
  const done = await good(s, 'POST', at('messages'), post({ text: 'hello', id: 'm1' }));
  assert.equal((await good(s, 'GET', at('turns'))).turns.length, 1);
  assert.equal((await good(s, 'GET', at(`turns/${done.turn_id}`))).status, 'done');
  await good(s, 'POST', at('regenerate'), post({}));
  await good(s, 'POST', at('edit'), post({ entry_id: 'm1', text: 'hullo' }));
  await good(s, 'POST', at('fan-out'), post({ text: 'x', agents: ['echo', { name: 'echo', model: 'm' }] }));
  const asked = call(s, 'POST', at('messages'), post({ text: '/permit' }));
  const running = await eventually(async () => {
    const { running } = await good(s, 'GET', 'sessions/turns');
    assert.ok(running?.question);
    return running;
  });
  await bad(s, 'POST', at('messages'), post({ text: 'x' }), 409, 'turn_running');
  const reply = (json) => post({ question_id: running.question.id, ...json });
  await bad(s, 'POST', at(`turns/${running.turn_id}/answer`), reply({ answer: 'perhaps' }), 400, 'invalid_request', 'answer');
  await bad(s, 'POST', at('turns/none/answer'), reply({ answer: 'allow' }), 404, 'turn_not_found');
  await good(s, 'POST', at(`turns/${running.turn_id}/answer`), reply({ answer: 'allow' }));
  assert.equal((await asked).body.status, 'done');
  const cut = call(s, 'POST', at('messages'), post({ text: '/ask' }));
  const turn = await eventually(() => good(s, 'POST', at('cancel'), post({})));
  assert.equal(turn.status, 'cancelled');
  assert.equal((await cut).body.status, 'cancelled');
  await bad(s, 'POST', at('cancel'), post({}), 404, 'turn_not_found');
  await bad(s, 'POST', at('cancel'), post({ turn_id: turn.id }), 409, 'turn_over');
  await bad(s, 'POST', at('messages'), post({ text: 'x', agent: 'nobody' }), 422, 'agent_not_found', 'agent');
});

test('overlays, and what an agent was sent', async () => {
  await ready();
  await talk(s, 'lay', 2);
  const { id, head } = await good(s, 'POST', 'sessions/lay/overlays', post({ entry_id: 'e1', action: 'hide' }));
  assert.equal(head.overlay_set, id);
  assert.deepEqual((await good(s, 'GET', 'sessions/lay/overlays')).overlays.map((o) => o.id), [id]);
  assert.deepEqual((await good(s, 'GET', 'sessions/lay/entries?view=context')).entries.map((e) => e.id), ['e2']);
  assert.equal((await good(s, 'DELETE', `sessions/lay/overlays/${id}`)).id, id);
  const { turn_id } = await good(s, 'POST', 'sessions/lay/messages', post({ text: 'well', agent: 'echo' }));
  assert.equal((await good(s, 'GET', `sessions/lay/turns/${turn_id}/prompt`)).known, true);
  assert.equal((await good(s, 'GET', `turns/${turn_id}`)).session_id, 'lay');
});

test('exports and imports', async () => {
  await ready();
  await good(s, 'POST', 'sessions', post({ id: 'exported' }));
  const one = await api(s, 'GET', 'sessions/exported/export'), all = await api(s, 'GET', 'export');
  assert.ok(one.text.endsWith('\n') && all.text.includes('"exported"'));
  assert.deepEqual(await good(s, 'POST', 'import', { body: one.text }), { sessions_added: 0, entries_added: 0, sessions_known: 1 });
  assert.deepEqual(await good(s, 'GET', 'import/none'), { upload: 'none', offset: 0 });
});

test('paths: encoded, unknown, reserved, other methods', async () => {
  await ready();
  for (const id of ['a/b', 'a%2Fb', '..', 'x y', '✓🌍', '?', '#', '+', 'a@b1']) {
    const made = await good(s, 'POST', 'sessions', post({ id: `p-${id}` }));
    assert.equal((await good(s, 'GET', `sessions/${enc(made.id)}`)).id, made.id);
  }
  const dots = await raw(s.port, 'GET /ramet/v1/sessions/%2e%2e HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  assert.match(dots, /^HTTP\/1\.1 404 [^]*session_not_found/);
  for (const path of ['nothing', 'templates/', 'sessions/', 'sessions/p/entries/'])
    assert.equal((await call(s, 'GET', path)).body.code, 'not_found', path);
  const wrong = await call(s, 'DELETE', 'sessions');
  assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'POST, GET, HEAD, OPTIONS']);
  const head = await fetch(`${s.url}/ramet/v1/sessions/p`, { method: 'HEAD' });
  assert.deepEqual([head.status, await head.text()], [200, '']);
});

// ------------------------------------------------------------------ the documents

const operations = () => Object.entries(doc.paths).flatMap(([path, ops]) =>
  Object.entries(ops).map(([method, op]) => ({ method: method.toUpperCase(), path, ...op })));

test('routes, OpenAPI, /docs and docs/api agree', async () => {
  await ready();
  await load(s);
  assert.deepEqual(JSON.parse((await ramet(['help', '--openapi'])).out), doc);
  let markdown = '';
  for (const name of (await ramet(['help', '--api', 'list'])).out.trim().split('\n')) {
    const kept = readFileSync(join(here, '..', '..', 'docs', 'api', `${name}.md`), 'utf8');
    assert.ok((await ramet(['help', '--api', name])).out === kept, `docs/api/${name}.md is what \`ramet help --api ${name}\` writes; run make docs`);
    markdown += kept;
  }
  const html = (await call(s, 'GET', '/docs')).text;
  const ids = new Set();
  for (const op of operations()) {
    assert.ok(!ids.has(op.operationId), `${op.operationId} twice`);
    ids.add(op.operationId);
    assert.ok(html.includes(`id="${op.operationId}"`) && html.includes(`<code>${op.path}</code>`), `${op.operationId} is in /docs`);
    assert.ok(markdown.includes(`### ${op.operationId}\n\n\`${op.method} ${op.path}\``), op.operationId);
    const names = [...op.path.matchAll(/\{([^}]+)\}/g)].map((m) => m[1]);
    assert.deepEqual(op.parameters.filter((p) => p.in === 'path').map((p) => p.name), names);
    for (const p of op.parameters) assert.ok(p.description, `${op.operationId} ${p.name} is told`);
  }
  const told = [...html.matchAll(/<section id="([^"]+)"><h3><b/g)].map((m) => m[1]);
  assert.deepEqual(told.sort(), [...ids].sort());
  for (const name of Object.keys(doc.components.schemas)) assert.ok(html.includes(`<section id="${name}">`), name);
  const links = [...html.matchAll(/href="#([^"]+)"/g)].map((m) => m[1]);
  for (const link of links) assert.ok(html.includes(`id="${link}"`), `a link to #${link}`);
  assert.doesNotMatch(html, /<script|<link|src=|@import|url\(/, 'the page needs nothing else');
  const used = JSON.stringify(doc).match(/#\/components\/schemas\/\w+/g);
  for (const ref of used) assert.ok(doc.components.schemas[ref.split('/').pop()], ref);
});

test('the OpenAPI document is valid', async () => {
  await ready();
  await load(s);
  const { Validator } = await npm('@seriousme/openapi-schema-validator');
  const result = await new Validator().validate(structuredClone(doc));
  assert.deepEqual([result.valid, result.errors], [true, undefined]);
}, { seconds: 120 });

test('the examples in docs/api work', async () => {
  const server = await start({ args: ['--admins', 'local'] });
  await load(server);
  const at = async (path, json, method = 'POST') => (await call(server, method, path, { json })).body;
  await at('sessions', { id: 'trip' });
  await at('sessions/trip/entries', { entries: [user('How do I get to Lisbon?', { id: 'e1' }), answer('By train.', { id: 'e2' })] });
  await at('sessions/trip/fork', { id: 'bus' });
  await at('sessions/trip/rewind', { at: { entry_id: 'e1' } });
  const put = { SHARE: (await at('sessions/trip/shares', {})).id, 'share=TOKEN': `share=${(await at('sessions/trip/shares', {})).token}`,
    '/TOKEN': `/${(await at('tokens', { user: 'x' })).id}`,
    ATTACHMENT: (await call(server, 'POST', 'attachments', { body: 'x' })).body.id,
    '/TURN': `/${(await at('sessions/trip/messages', { text: 'well' })).turn_id}` };
  await at('sessions/trip/members/ann', { level: 'reader' }, 'PUT');
  const exported = scratch('export.jsonl');
  writeFileSync(exported, (await call(server, 'GET', 'sessions/trip/export')).text);
  const markdown = (await ramet(['help', '--api', 'native'])).out;
  const examples = [...markdown.matchAll(/### (\w+)\n[^]*?```sh\n([^]*?)\n```/g)].map((m) => [m[1], m[2]]);
  assert.ok(examples.length > 50);
  for (const [name, text] of examples) {
    if (['deleteAttachment', 'streamEvents', 'createSession', 'cancelTurn', 'answerQuestion'].includes(name)) continue;
    if (onPostgres && name === 'backupStore') continue;
    await at('sessions/trip/sync', { entries: [user('How do I get to Lisbon?', { id: 'e1' })] });
    if (name === 'restoreSession') await at('sessions/trip', undefined, 'DELETE');
    if (name === 'pruneBranch') await at('sessions/trip/switch', { branch_id: 'b1' });
    if (name === 'redoMove') await at('sessions/trip/undo', {});
    if (name === 'releaseHold') await at('sessions/trip/hold', {}, 'PUT');
    if (name === 'runRetention') await at('retention', { rules: [] }, 'PUT');
    if (/Template$/.test(name)) put.TEMPLATE = (await at('templates', { session_id: 'trip', name: 'Trip', placeholders: ['city'] })).id;
    if (name === 'removeOverlay') put.OVERLAY = (await at('sessions/trip/overlays', { entry_id: 'e1', action: 'hide' })).id;
    const file = name === 'importFile' ? exported : '/dev/null';
    let command = text.replace('http://127.0.0.1:7077', server.url).replace('@ticket.txt', `@${file}`);
    for (const [from, to] of Object.entries(put)) command = command.replace(from, to);
    const out = execFileSync('bash', ['-c', `${command} -s -o /dev/null -w '%{http_code}'`], { encoding: 'utf8' });
    assert.match(out, /^2\d\d$/, `${name}: ${command}`);
  }
}, { seconds: 180 });

test('every route was called with success', async () => {
  const missing = operations().filter((op) => op.path.startsWith('/ramet/v1') && !hit.has(op.operationId)).map((op) => op.operationId);
  assert.deepEqual(missing, []);
});

await finish();
