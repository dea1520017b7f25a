// SPDX-License-Identifier: Apache-2.0
//
// memory.mjs: memory-service as its clients use it: conversations, entries, forks made by the first
// entry, members, transfers, attachments, search, events and chat, with node's fetch.
import { test, finish, start, assert, enc, eventually, frames, sse } from './lib.mjs';
import { randomUUID, createHash } from 'node:crypto';
import http from 'node:http';

const alice = { Authorization: 'Bearer alice' };
const bob = { Authorization: 'Bearer bob' };
const agent = (user = 'alice', client = 'agent-1') => ({ Authorization: `Bearer ${user}`, 'X-Client-ID': client });
const admins = ['--admins', 'alice', '--auditors', 'charlie', '--indexers', 'dave'];

async function ask(s, method, path, json, headers = alice) {
  const r = await fetch(s.url + path, {
    method, headers: { ...(json === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
    body: json === undefined ? undefined : JSON.stringify(json), redirect: 'manual',
  });
  const text = await r.text();
  let body = null;
  try { body = text ? JSON.parse(text) : null; } catch { /* bytes */ }
  return { status: r.status, headers: r.headers, text, body };
}
const ok = async (s, status, method, path, json, headers) => {
  const r = await ask(s, method, path, json, headers);
  assert.equal(r.status, status, `${method} ${path}: ${r.status} ${r.text}`);
  assert.ok(!/conversationGroupId/.test(r.text));
  return r.body;
};
const refused = async (s, status, code, method, path, json, headers) => {
  const r = await ask(s, method, path, json, headers);
  assert.equal(r.status, status, `${method} ${path}: ${r.status} ${r.text}`);
  assert.equal(r.body.code, code, r.text);
  assert.equal(typeof r.body.error, 'string');
  assert.equal(r.body.requestId, r.headers.get('x-request-id'));
  assert.match(r.headers.get('content-type'), /^application\/json; charset=utf-8/);
  return r.body;
};
const c = (id) => `/v1/conversations/${enc(id)}`;
const say = (text, more = {}) => ({ channel: 'history', contentType: 'history', content: [{ role: 'USER', text }], ...more });
const append = (s, id, text, more, headers) => ok(s, 201, 'POST', `${c(id)}/entries`, say(text, more), headers);
const page = (s, id, query = '', headers) => ok(s, 200, 'GET', `${c(id)}/entries${query}`, undefined, headers);
const texts = (p) => p.data.map((e) => e.content[0]?.text ?? e.content[0]);
const begin = () => start({ args: admins });

test('conversations: made, read, changed, listed', async () => {
  const s = await begin();
  const made = await ok(s, 201, 'POST', '/v1/conversations', { title: 'A trip', metadata: { a: 1.50 }, agentId: 'x' });
  assert.equal(made.accessLevel, 'owner');
  assert.equal(made.ownerUserId, 'alice');
  assert.ok(!('clientId' in made) && !('forkedAtEntryId' in made));
  const got = await ok(s, 200, 'GET', c(made.id));
  assert.equal(got.title, 'A trip');
  assert.deepEqual(got.metadata, { a: 1.5 });
  await refused(s, 404, 'not_found', 'GET', c('none'));
  assert.equal((await refused(s, 403, 'forbidden', 'GET', c(made.id), undefined, bob)).error, 'forbidden');
  await refused(s, 400, 'validation_error', 'POST', '/v1/conversations', { title: 'x'.repeat(501) });
  await refused(s, 400, 'validation_error', 'POST', '/v1/conversations', { id: '  ' });
  await refused(s, 409, 'conflict', 'POST', '/v1/conversations', { id: made.id });
  await refused(s, 400, 'invalid_request', 'PATCH', c(made.id), { title: 5 });
  assert.equal((await ok(s, 200, 'PATCH', c(made.id), { title: null })).title, '');
  assert.deepEqual((await ok(s, 200, 'PATCH', c(made.id), { metadata: { b: 2 } })).metadata, { b: 2 });
  const odd = 'a/b %2F ü';
  await append(s, odd, 'odd');
  assert.equal((await ok(s, 200, 'GET', c(odd))).id, odd);
  await refused(s, 404, 'not_found', 'GET', '/v1/conversations/a/../b');
  await refused(s, 404, 'not_found', 'GET', '/v1/nothing');
});

test('order of checks: limit, parameters, credentials', async () => {
  const s = await begin();
  const none = {};
  assert.equal((await refused(s, 400, 'invalid_request', 'GET', '/v1/conversations?limit=0', undefined, none)).error,
    'limit must be between 1 and 1000');
  await refused(s, 400, 'invalid_request', 'GET', '/v1/ownership-transfers/x', undefined, none);
  await refused(s, 400, 'invalid_request', 'GET', '/v1/attachments/x', undefined, none);
  const bad = await refused(s, 400, 'invalid_request', 'GET', `${c('a')}/entries?tail=maybe`, undefined, none);
  assert.match(bad.error, /tail/);
  assert.equal((await refused(s, 401, 'unauthenticated', 'GET', '/v1/conversations', undefined, none)).error, 'missing credentials');
  await refused(s, 401, 'unauthenticated', 'GET', '/v1/conversations', undefined, { 'X-API-Key': 'k' });
  await refused(s, 401, 'unauthenticated', 'GET', '/v1/conversations', undefined, { Authorization: 'Basic x' });
  assert.deepEqual(await ok(s, 200, 'GET', '/v1/conversations'), { data: [], afterCursor: null });
  await refused(s, 400, 'invalid_request', 'GET', '/v1/conversations?archived=maybe');
  assert.deepEqual(await ok(s, 200, 'GET', '/v1/health', undefined, none), { status: 'ok' });
  const r = await ask(s, 'GET', '/v1/conversations', undefined, { ...alice, 'X-Request-ID': 'abc.DEF-1_2' });
  assert.equal(r.headers.get('x-request-id'), 'abc.DEF-1_2');
  assert.equal(r.headers.get('x-content-type-options'), 'nosniff');
});

test('append makes a conversation; titles are cut at a character; rules of the channel history', async () => {
  const s = await begin();
  const e = await append(s, 'one', 'ü'.repeat(30), { seq: 4 });
  assert.equal(e.conversationId, 'one');
  assert.equal(e.userId, 'alice');
  assert.equal(e.seq, 4);
  assert.ok(!('epoch' in e));
  assert.equal((await ok(s, 200, 'GET', c('one'))).title, 'ü'.repeat(20));
  await refused(s, 409, 'conflict', 'POST', `${c('one')}/entries`, say('again', { seq: 4 }));
  const wrong = async (body, message) => {
    const b = await refused(s, 400, 'validation_error', 'POST', `${c('one')}/entries`, body);
    if (message) assert.equal(b.details.message, message);
  };
  await wrong(say('x', { contentType: 'text' }), "History channel entries must use 'history' or 'history/<subtype>' as the contentType");
  await wrong({ channel: 'history', contentType: 'history', content: [{}, {}] }, 'History channel entries must contain exactly 1 content object');
  await wrong({ channel: 'history', contentType: 'history', content: [{ role: 'USER' }] },
    "History channel content must have at least one of 'text', 'events', or 'attachments'");
  await wrong({ channel: 'history', contentType: 'history', content: [{ role: 'X', text: 'a' }] },
    "History channel content must have a 'role' field with value 'USER' or 'AI'");
  await wrong({ channel: 'history', contentType: 'history', content: [{ text: 'a', attachments: {} }] },
    "History channel 'attachments' field must be an array");
  await wrong({ channel: 'history', contentType: 'history', content: [{ text: 'a', attachments: [{}] }] },
    "History channel attachment at index 0 must have an 'href' or 'attachmentId' field");
  await wrong({ channel: 'history', contentType: 'history', content: [{ text: 'a', attachments: [{ href: 'x' }] }] },
    "History channel attachment at index 0 must have a 'contentType' field");
  await wrong(say('x', { userId: 'bob' }), 'userId does not match the authenticated user');
  await wrong(say('x', { agentId: 'bob' }));
  await wrong({ contentType: ' ', content: [] });
  await wrong({ contentType: 'x', content: Array(1001).fill(0) });
  const denied = await refused(s, 403, 'forbidden', 'POST', `${c('one')}/entries`, { channel: 'context', contentType: 'x', content: [] });
  assert.ok(denied.details.message);
  assert.match((await refused(s, 400, 'validation_error', 'POST', `${c('one')}/entries`, say('x', { epoch: 2 }))).error,
    /epoch can only be set for context entries/);
  await refused(s, 400, 'invalid_request', 'POST', `${c('one')}/entries`, say('x', { seq: -1 }));
  await refused(s, 400, 'invalid_request', 'POST', `${c('one')}/entries`, say('x', { forkedAtEntryId: 'x' }));
  await refused(s, 400, 'invalid_request', 'POST', `${c('one')}/entries`, { contentType: 'x' });
  await refused(s, 400, 'invalid_request', 'POST', `${c('one')}/entries`, { entries: [] });
  const loose = await ok(s, 201, 'POST', `${c('one')}/entries`, { contentType: 'any', content: [1.10, 'two'] });
  assert.deepEqual(loose.content, [1.1, 'two']);
  const batch = await ok(s, 201, 'POST', `${c('one')}/entries`, { entries: ['a', 'b', 'c'].map((t) => say(t)) });
  assert.deepEqual(batch.map((x) => x.content[0].text), ['a', 'b', 'c']);
  assert.deepEqual(texts(await page(s, 'one')).slice(-3), ['a', 'b', 'c']);
  await refused(s, 403, 'forbidden', 'POST', `${c('one')}/entries`, say('x'), bob);
});

test('pages in three directions, upToEntryId, fromSeq', async () => {
  const s = await begin();
  const ids = [];
  for (let i = 0; i < 7; i++) ids.push((await append(s, 'p', `m${i}`, { seq: 100 - i })).id);
  let p = await page(s, 'p', '?limit=3');
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m0', 'm1', 'm2'], ids[2], null]);
  p = await page(s, 'p', `?limit=3&afterCursor=${ids[2]}`);
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m3', 'm4', 'm5'], ids[5], ids[3]]);
  p = await page(s, 'p', `?limit=3&afterCursor=${ids[5]}`);
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m6'], null, ids[6]]);
  p = await page(s, 'p', '?limit=3&tail=true');
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m4', 'm5', 'm6'], null, ids[4]]);
  p = await page(s, 'p', `?limit=3&beforeCursor=${ids[4]}`);
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m1', 'm2', 'm3'], ids[3], ids[1]]);
  p = await page(s, 'p', `?limit=3&beforeCursor=${ids[1]}`);
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [['m0'], ids[0], null]);
  p = await page(s, 'p', `?limit=3&beforeCursor=${ids[0]}`);
  assert.deepEqual([texts(p), p.afterCursor, p.beforeCursor], [[], null, null]);
  p = await page(s, 'p', `?upToEntryId=${ids[2]}&tail=true&limit=2`);
  assert.deepEqual(texts(p), ['m1', 'm2']);
  p = await page(s, 'p', '?fromSeq=96&limit=2');
  assert.deepEqual([texts(p), p.afterCursor], [['m4', 'm3'], ids[3]]);
  await refused(s, 400, 'bad_request', 'GET', `${c('p')}/entries?tail=true&afterCursor=${ids[0]}`);
  assert.match((await refused(s, 400, 'bad_request', 'GET', `${c('p')}/entries?afterCursor=${randomUUID()}`)).error, /^afterCursor entry not found$/);
  await refused(s, 400, 'invalid_request', 'GET', `${c('p')}/entries?afterCursor=x`);
  await refused(s, 404, 'not_found', 'GET', `${c('p')}/entries?upToEntryId=${randomUUID()}`);
  await refused(s, 400, 'bad_request', 'GET', `${c('p')}/entries?channel=odd`);
  await refused(s, 403, 'forbidden', 'GET', `${c('p')}/entries?channel=context`);
});

test('a fork is made by its first entry, in one commit', async () => {
  const s = await begin();
  const [a, b, cc] = [await append(s, 'root', 'A'), await append(s, 'root', 'B'), await append(s, 'root', 'C')];
  const e = await append(s, 'f1', 'D', { forkedAtConversationId: 'root', forkedAtEntryId: b.id });
  assert.equal(e.conversationId, 'f1');
  const e2 = await append(s, 'f1', 'E', { forkedAtConversationId: 'elsewhere' });
  const f1 = await ok(s, 200, 'GET', c('f1'));
  assert.deepEqual([f1.forkedAtConversationId, f1.forkedAtEntryId, f1.title, f1.accessLevel], ['root', b.id, 'D', 'owner']);
  await append(s, 'f2', 'F', { forkedAtConversationId: 'f1', forkedAtEntryId: e2.id });
  await append(s, 'f2', 'G');
  const p = await page(s, 'f2');
  assert.deepEqual(texts(p), ['A', 'D', 'F', 'G']);
  assert.deepEqual(p.data.map((x) => x.conversationId), ['root', 'f1', 'f2', 'f2']);
  assert.deepEqual(texts(await page(s, 'root')), ['A', 'B', 'C']);
  // at an inherited entry, at the very first, and blank
  await append(s, 'f3', 'H', { forkedAtConversationId: 'f1', forkedAtEntryId: a.id });
  assert.deepEqual(texts(await page(s, 'f3')), ['H']);
  const f3 = await ok(s, 200, 'GET', c('f3'));
  assert.deepEqual([f3.forkedAtConversationId, f3.forkedAtEntryId], ['f1', a.id]);
  await append(s, 'f4', 'I', { forkedAtConversationId: 'root' });
  const f4 = await ok(s, 200, 'GET', c('f4'));
  assert.ok(!('forkedAtEntryId' in f4));
  assert.deepEqual(texts(await page(s, 'f4')), ['I']);
  assert.deepEqual(texts(await page(s, 'f4', '?forks=all')), ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I']);
  // by POST /v1/conversations: 200
  const made = await ok(s, 200, 'POST', '/v1/conversations', { forkedAtConversationId: 'root', forkedAtEntryId: cc.id });
  assert.deepEqual(texts(await page(s, made.id)), ['A', 'B']);
  // what is refused leaves nothing behind
  const fork = (id, more, headers) => ask(s, 'POST', `${c(id)}/entries`, say('x', more), headers);
  const check = async (status, code, more, headers) => {
    const id = randomUUID(), r = await fork(id, more, headers);
    assert.deepEqual([r.status, r.body.code], [status, code], r.text);
    await refused(s, 404, 'not_found', 'GET', c(id));
  };
  await check(404, 'not_found', { forkedAtConversationId: 'none', forkedAtEntryId: a.id });
  await check(403, 'forbidden', { forkedAtConversationId: 'root', forkedAtEntryId: randomUUID() }, bob);
  await check(404, 'not_found', { forkedAtConversationId: 'root', forkedAtEntryId: randomUUID() });
  await check(400, 'validation_error', { forkedAtConversationId: 'root', forkedAtEntryId: e.id });
  await check(400, 'validation_error', { forkedAtConversationId: 'root', startedByConversationId: 'root' });
  await ok(s, 201, 'POST', `${c('root')}/memberships`, { userId: 'bob', accessLevel: 'reader' });
  await check(403, 'forbidden', { forkedAtConversationId: 'root', forkedAtEntryId: b.id }, bob);
  const plain = randomUUID();
  await append(s, plain, 'root after all', { forkedAtEntryId: a.id });
  assert.ok(!('forkedAtConversationId' in await ok(s, 200, 'GET', c(plain))));
});

test('first appends of the same id at once: one conversation, all entries', async () => {
  const s = await begin();
  const a = await append(s, 'root', 'A');
  const all = await Promise.all(Array.from({ length: 16 }, (_, i) =>
    ask(s, 'POST', `${c('new')}/entries`, say(`m${i}`, { forkedAtConversationId: 'root', forkedAtEntryId: a.id }))));
  for (const r of all) assert.equal(r.status, 201, r.text);
  assert.equal((await page(s, 'new')).data.length, 16);
  assert.equal((await ok(s, 200, 'GET', '/v1/conversations?mode=all')).data.length, 2);
});

test('lists: modes, ancestry, archive, titles, pages', async () => {
  const s = await begin();
  const a = await append(s, 'r1', 'first trip');
  await append(s, 'r2', 'second');
  await append(s, 'r1f', 'fork of it', { forkedAtConversationId: 'r1', forkedAtEntryId: a.id });
  await append(s, 'kid', 'child', { startedByConversationId: 'r2' });
  const ids = async (query) => (await ok(s, 200, 'GET', `/v1/conversations${query}`)).data.map((x) => x.id);
  assert.deepEqual(await ids(''), ['r1f', 'r2']);
  assert.deepEqual(await ids('?mode=all'), ['r1f', 'r2', 'r1']);
  assert.deepEqual(await ids('?mode=roots'), ['r2', 'r1']);
  assert.deepEqual(await ids('?mode=all&ancestry=children'), ['kid']);
  assert.deepEqual(await ids('?mode=all&ancestry=all'), ['kid', 'r1f', 'r2', 'r1']);
  assert.deepEqual(await ids('?mode=all&query=TRIP'), ['r1']);
  const first = await ok(s, 200, 'GET', '/v1/conversations?mode=all&limit=2');
  assert.equal(first.afterCursor, 'r2');
  assert.deepEqual(await ids('?mode=all&limit=2&afterCursor=r2'), ['r1']);
  assert.deepEqual(await ids('?mode=all&afterCursor=unknown'), []);
  const kids = await ok(s, 200, 'GET', `${c('r2')}/children`);
  assert.deepEqual(kids.data.map((x) => [x.id, x.startedByConversationId]), [['kid', 'r2']]);
  // the whole tree and what it has started
  assert.equal((await ok(s, 200, 'PATCH', c('r2'), { archived: true, title: 'no' })).archived, true);
  assert.equal((await ok(s, 200, 'GET', c('kid'))).archived, true);
  assert.equal((await ok(s, 200, 'GET', c('r2'))).title, 'second');
  await refused(s, 404, 'not_found', 'PATCH', c('r2'), { archived: true });
  await refused(s, 404, 'not_found', 'PATCH', c('r2'), { title: 'x' });
  await refused(s, 404, 'not_found', 'POST', `${c('r2')}/entries`, say('x'));
  await refused(s, 404, 'not_found', 'GET', `${c('r2')}/memberships`);
  await refused(s, 404, 'not_found', 'POST', `${c(randomUUID())}/entries`, say('x', { forkedAtConversationId: 'r2' }));
  assert.equal((await page(s, 'r2')).data.length, 1);
  assert.deepEqual(await ids('?archived=only&ancestry=all'), ['kid', 'r2']);
  await ok(s, 200, 'PATCH', c('r2'), { archived: false });
  await refused(s, 409, 'conflict', 'PATCH', c('r2'), { archived: false });
  await ok(s, 200, 'PATCH', c('r1f'), { archived: true });
  assert.equal((await ok(s, 200, 'GET', c('r1'))).archived, true);
});

test('channels, clients, epochs and sync across forks', async () => {
  const s = await begin();
  const one = agent(), two = agent('alice', 'agent-2');
  const context = (content) => ({ channel: 'context', contentType: 'ctx', content });
  const h = await append(s, 'x', 'hello');
  let r = await ok(s, 200, 'POST', `${c('x')}/entries/sync`, { contentType: 'ctx', content: ['a', { n: 1 }] }, one);
  assert.deepEqual([r.epoch, r.noOp, r.epochIncremented, r.entry.content.length], [1, false, false, 2]);
  r = await ok(s, 200, 'POST', `${c('x')}/entries/sync`, { contentType: 'ctx', content: ['a', { n: 1 }] }, one);
  assert.deepEqual([r.epoch, r.noOp, r.epochIncremented, 'entry' in r], [1, true, false, false]);
  r = await ok(s, 200, 'POST', `${c('x')}/entries/sync`, { contentType: 'ctx', content: ['a', { n: 1 }, 'b'] }, one);
  assert.deepEqual([r.epoch, r.entry.content], [1, ['b']]);
  const anchor = await append(s, 'x', 'anchor');
  await append(s, 'xf', 'fork', { forkedAtConversationId: 'x', forkedAtEntryId: anchor.id });
  r = await ok(s, 200, 'POST', `${c('xf')}/entries/sync`, { contentType: 'ctx', content: ['a', { n: 1 }, 'b', 'c'] }, one);
  assert.deepEqual([r.epoch, r.entry.content], [1, ['c']]);
  r = await ok(s, 200, 'POST', `${c('xf')}/entries/sync`, { contentType: 'ctx', content: ['other'] }, one);
  assert.deepEqual([r.epoch, r.epochIncremented], [2, true]);
  assert.deepEqual((await page(s, 'xf', '?channel=context', one)).data.map((e) => e.content), [['other']]);
  assert.equal((await page(s, 'xf', '?channel=context&epoch=1', one)).data.length, 3);
  assert.equal((await page(s, 'xf', '?channel=context&epoch=all', one)).data.length, 4);
  assert.deepEqual((await page(s, 'x', `?channel=context&upToEntryId=${anchor.id}`, one)).data.map((e) => e.content), [['a', { n: 1 }], ['b']]);
  assert.equal((await page(s, 'xf', '?channel=context', two)).data.length, 0);
  r = await ok(s, 200, 'POST', `${c('xf')}/entries/sync`, { contentType: 'ctx', content: [] }, one);
  assert.deepEqual([r.epoch, r.entry.content], [3, []]);
  assert.deepEqual(await ok(s, 200, 'POST', `${c('none')}/entries/sync`, { contentType: 'ctx', content: [] }, one),
    { epoch: null, noOp: true, epochIncremented: false });
  r = await ok(s, 200, 'POST', `${c('born')}/entries/sync`, { contentType: 'ctx', content: [1] }, one);
  assert.deepEqual([r.epoch, r.epochIncremented], [1, true]);
  await refused(s, 403, 'forbidden', 'POST', `${c('born')}/entries/sync`, { contentType: 'ctx', content: [1] }, two);
  await refused(s, 403, 'forbidden', 'POST', `${c('born')}/entries`, context([1]), two);
  await refused(s, 400, 'validation_error', 'POST', `${c('born')}/entries/sync`, { contentType: 'ctx', content: [1] });
  await append(s, 'born', 'anyone', {}, two);
  // a caller with a client sees all channels, without one history alone
  assert.equal((await page(s, 'x', '', one)).data.length, 4);
  assert.deepEqual(texts(await page(s, 'x')), ['hello', 'anchor']);
  // journal anchors: the same client alone; context: never
  const j = await ok(s, 201, 'POST', `${c('x')}/entries`, { channel: 'JOURNAL', contentType: 'log', content: [1] }, one);
  const k = await ok(s, 201, 'POST', `${c('x')}/entries`, context(['z']), one);
  assert.equal(k.epoch, 1);
  await append(s, 'jf', 'from journal', { forkedAtConversationId: 'x', forkedAtEntryId: j.id }, one);
  await refused(s, 403, 'forbidden', 'POST', `${c('jx')}/entries`, say('x', { forkedAtConversationId: 'x', forkedAtEntryId: j.id }), two);
  await refused(s, 400, 'validation_error', 'POST', `${c('jx')}/entries`, say('x', { forkedAtConversationId: 'x', forkedAtEntryId: k.id }), one);
  const points = async (headers, path = `${c('x')}/forks`) => (await ok(s, 200, 'GET', path, undefined, headers)).forkPoints.map((p) => p.entryId);
  assert.deepEqual(await points(one), [anchor.id, j.id]);
  assert.deepEqual(await points(two), [anchor.id]);
  assert.deepEqual(await points(alice), [anchor.id]);
  assert.deepEqual(await points(alice, `/v1/admin${c('x').slice(3)}/forks`), [anchor.id, j.id]);
  assert.equal((await ok(s, 200, 'GET', `/v1/admin${c('born').slice(3)}`)).clientId, 'agent-1');
  await refused(s, 403, 'forbidden', 'GET', `/v1/admin${c('born').slice(3)}`, undefined, bob);
  assert.ok(h.id);
});

test('what an agent reads for its model is the context view: pages, epochs, sequence numbers, forks and sync', async () => {
  const s = await begin();
  const one = agent();
  const put = (content, seq) => ok(s, 201, 'POST', `${c('x')}/entries`, { channel: 'context', contentType: 'ctx', content, seq }, one);
  const overlay = (json, id = 'x') => ok(s, 201, 'POST', `/ramet/v1/sessions/${id}/overlays`, json);
  const content = async (query, id = 'x') => (await page(s, id, query, one)).data.map((e) => e.content);
  const said = await append(s, 'x', 'my pin is 1234', { seq: 1 });
  const a = await put(['a'], 2), secret = await put(['pin 1234'], 3), long = await put(['long'], 4), d = await put(['d'], 5);
  await append(s, 'x', 'thanks', { seq: 6 });
  await overlay({ entry_id: secret.id, action: 'hide' });
  await overlay({ entry_id: long.id, action: 'replace', text: 'short' });
  await overlay({ entry_id: said.id, action: 'hide' });
  const short = [{ role: 'AI', text: 'short' }], seen = [['a'], short, ['d']];
  const role = (await page(s, 'x', '?channel=context', one)).data[1].content[0].role;
  short[0].role = role;
  for (const query of ['', '&tail=true', '&epoch=1', '&epoch=all', '&fromSeq=0', '&forks=all', `&upToEntryId=${d.id}`])
    assert.deepEqual(await content(`?channel=context${query}`), seen, query);
  // one entry a page, in every order: a replaced entry is a cursor as well
  for (const query of ['', '&fromSeq=0', '&forks=all']) {
    const got = [];
    for (let after = ''; ;) {
      const p = await page(s, 'x', `?channel=context&limit=1${query}${after}`, one);
      got.push(...p.data.map((e) => e.content));
      if (!p.afterCursor) break;
      after = `&afterCursor=${p.afterCursor}`;
    }
    assert.deepEqual(got, seen, `pages of one${query}`);
  }
  // the reader of other channels chooses
  const text = 'my pin is 1234';
  assert.deepEqual(texts(await page(s, 'x', '?channel=history')), [text, 'thanks']);
  assert.deepEqual(texts(await page(s, 'x', '?channel=history&view=record')), [text, 'thanks']);
  for (const query of ['?channel=history&view=context', '?channel=history&view=context&fromSeq=0', '?channel=history&view=context&forks=all'])
    assert.deepEqual(texts(await page(s, 'x', query)), ['thanks'], query);
  assert.deepEqual(await content('?view=context'), [...seen, [{ role: 'USER', text: 'thanks' }]]);
  assert.deepEqual(await content('?channel=context&view=record'), [['a'], ['pin 1234'], ['long'], ['d']]);
  await refused(s, 400, 'bad_request', 'GET', `${c('x')}/entries?view=other`, undefined, one);
  // what it read is what it has: sent back, nothing is written; grown, only the rest
  const sync = (items) => ok(s, 200, 'POST', `${c('x')}/entries/sync`, { contentType: 'ctx', content: items }, one);
  assert.deepEqual(await sync(seen.flat()), { epoch: 1, noOp: true, epochIncremented: false });
  const grown = await sync([...seen.flat(), 'e']);
  assert.deepEqual([grown.epoch, grown.epochIncremented, grown.entry.content], [1, false, ['e']]);
  // a fork keeps what stood when it was made
  await append(s, 'f', 'fork', { forkedAtConversationId: 'x' , forkedAtEntryId: (await append(s, 'x', 'anchor')).id });
  await overlay({ entry_id: a.id, action: 'hide' });
  assert.deepEqual(await content('?channel=context', 'f'), [...seen, ['e']]);
  assert.deepEqual(await content('?channel=context'), [short, ['d'], ['e']]);
});

test('navigation: from the root, from a fork, options', async () => {
  const s = await begin();
  await append(s, 'root', 'A');
  const b = await append(s, 'root', 'B');
  const d = await append(s, 'f1', 'D', { forkedAtConversationId: 'root', forkedAtEntryId: b.id });
  const e = await append(s, 'f2', 'E', { forkedAtConversationId: 'root', forkedAtEntryId: b.id });
  await append(s, 'blank', 'X', { forkedAtConversationId: 'root' });
  const root = await ok(s, 200, 'GET', `${c('root')}/forks`);
  assert.deepEqual(root.conversationIds, ['root', 'f1', 'f2', 'blank']);
  assert.equal(root.forkPoints.length, 1);
  assert.equal(root.forkPoints[0].entryId, b.id);
  assert.deepEqual(root.forkPoints[0].options.map((o) => [o.conversationId, o.entryId, o.preview]),
    [['root', b.id, 'B'], ['f1', d.id, 'D'], ['f2', e.id, 'E']]);
  const f2 = await ok(s, 200, 'GET', `${c('f2')}/forks`);
  assert.equal(f2.forkPoints[0].entryId, e.id);
  assert.equal(f2.forkPoints[0].options.length, 3);
  assert.deepEqual((await ok(s, 200, 'GET', `${c('blank')}/forks`)).forkPoints, []);
});

test('members and transfers are the tree\'s', async () => {
  const s = await begin();
  const a = await append(s, 'm', 'A');
  await append(s, 'mf', 'F', { forkedAtConversationId: 'm', forkedAtEntryId: a.id });
  const members = `${c('mf')}/memberships`;
  assert.equal((await ok(s, 201, 'POST', members, { userId: 'bob', accessLevel: 'writer' })).accessLevel, 'writer');
  await refused(s, 409, 'conflict', 'POST', members, { userId: 'bob', accessLevel: 'writer' });
  await refused(s, 400, 'validation_error', 'POST', members, { userId: '', accessLevel: 'writer' });
  await refused(s, 400, 'validation_error', 'POST', members, { userId: 'x', accessLevel: 'owner' });
  await refused(s, 400, 'validation_error', 'POST', members, { userId: 'x', accessLevel: 'king' });
  await refused(s, 403, 'forbidden', 'POST', members, { userId: 'x', accessLevel: 'reader' }, bob);
  assert.equal((await ok(s, 200, 'GET', c('m'), undefined, bob)).accessLevel, 'writer');
  await ok(s, 200, 'PATCH', `${members}/bob`, { accessLevel: 'manager' });
  await refused(s, 400, 'validation_error', 'PATCH', `${members}/alice`, { accessLevel: 'reader' }, bob);
  await refused(s, 404, 'not_found', 'PATCH', `${members}/zoe`, { accessLevel: 'reader' });
  await refused(s, 400, 'validation_error', 'DELETE', `${members}/alice`);
  await refused(s, 404, 'not_found', 'DELETE', `${members}/zoe`);
  assert.deepEqual((await ok(s, 200, 'GET', members)).data.map((x) => [x.conversationId, x.userId, x.accessLevel]),
    [['mf', 'alice', 'owner'], ['mf', 'bob', 'manager']]);
  const t = '/v1/ownership-transfers';
  await refused(s, 400, 'validation_error', 'POST', t, { conversationId: 'm', newOwnerUserId: '' });
  await refused(s, 400, 'bad_request', 'POST', t, { conversationId: 'm', newOwnerUserId: 'alice' });
  await refused(s, 400, 'bad_request', 'POST', t, { conversationId: 'm', newOwnerUserId: 'zoe' });
  await refused(s, 403, 'permission_denied', 'POST', t, { conversationId: 'm', newOwnerUserId: 'alice' }, bob);
  await refused(s, 404, 'not_found', 'POST', t, { conversationId: 'none', newOwnerUserId: 'bob' });
  const made = await ok(s, 201, 'POST', t, { conversationId: 'm', newOwnerUserId: 'bob' });
  assert.deepEqual([made.fromUserId, made.toUserId, made.conversationId], ['alice', 'bob', 'm']);
  const again = await refused(s, 409, 'TRANSFER_ALREADY_PENDING', 'POST', t, { conversationId: 'mf', newOwnerUserId: 'bob' });
  assert.equal(again.details.existingTransferId, made.id);
  const zoe = { Authorization: 'Bearer zoe' };
  await refused(s, 404, 'not_found', 'GET', `${t}/${made.id}`, undefined, zoe);
  await refused(s, 403, 'permission_denied', 'DELETE', `${t}/${made.id}`, undefined, zoe);
  await refused(s, 403, 'permission_denied', 'POST', `${t}/${made.id}/accept`);
  assert.equal((await ok(s, 200, 'GET', `${t}?role=recipient`, undefined, bob)).data[0].id, made.id);
  assert.deepEqual((await ok(s, 200, 'GET', `${t}?role=recipient`)).data, []);
  await ok(s, 204, 'POST', `${t}/${made.id}/accept`, undefined, bob);
  await refused(s, 404, 'not_found', 'POST', `${t}/${made.id}/accept`, undefined, bob);
  const m = await ok(s, 200, 'GET', c('mf'));
  assert.deepEqual([m.ownerUserId, m.accessLevel], ['bob', 'manager']);
  // a member who leaves is offered nothing any more
  await ok(s, 201, 'POST', t, { conversationId: 'm', newOwnerUserId: 'alice' }, bob);
  await ok(s, 204, 'DELETE', `${members}/alice`, undefined, bob);
  assert.deepEqual((await ok(s, 200, 'GET', t, undefined, bob)).data, []);
});

async function upload(s, bytes, { name = 'a.txt', type = 'text/plain', query = '', headers = alice } = {}) {
  const form = new FormData();
  form.append('note', 'x');
  form.append('file', new Blob([bytes], { type }), name);
  const r = await fetch(`${s.url}/v1/attachments${query}`, { method: 'POST', headers, body: form });
  return { status: r.status, body: await r.json() };
}
const withFile = (id) => ({ content: [{ role: 'USER', text: 'see', attachments: [{ attachmentId: id }] }] });

test('attachments: uploads, downloads, ranges, links, deleting', async () => {
  const s = await begin();
  const bytes = Buffer.from('0123456789'.repeat(30000) + '\r\n--x');
  const { status, body: a } = await upload(s, bytes, { query: '?expiresIn=PT2H' });
  assert.equal(status, 201, JSON.stringify(a));
  assert.equal(a.sha256, createHash('sha256').update(bytes).digest('hex'));
  assert.deepEqual([a.size, a.status, a.filename, a.contentType, a.href], [bytes.length, 'ready', 'a.txt', 'text/plain', `/v1/attachments/${a.id}`]);
  assert.match(a.expiresAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const path = `/v1/attachments/${a.id}`;
  const get = (p, headers = alice) => fetch(s.url + p, { headers, redirect: 'manual' });
  let r = await get(path);
  assert.ok(Buffer.from(await r.arrayBuffer()).equals(bytes));
  assert.equal(r.headers.get('cache-control'), 'private, max-age=300, immutable');
  assert.equal(r.headers.get('etag'), `"${a.sha256}"`);
  assert.equal(r.headers.get('content-disposition'), null);
  r = await get(`${path}?disposition=inline`, { ...alice, Range: 'bytes=5-9' });
  assert.deepEqual([r.status, await r.text(), r.headers.get('content-range')], [206, '56789', `bytes 5-9/${bytes.length}`]);
  assert.match(r.headers.get('content-disposition'), /^inline; filename="a.txt"/);
  r = await get(path, { ...alice, 'If-None-Match': `"${a.sha256}"` });
  assert.deepEqual([r.status, r.headers.get('etag')], [304, `"${a.sha256}"`]);
  await refused(s, 400, 'invalid_request', 'GET', `${path}?disposition=odd`);
  await refused(s, 403, 'permission_denied', 'GET', path, undefined, bob);
  await refused(s, 404, 'not_found', 'GET', `/v1/attachments/${randomUUID()}`);
  const link = await ok(s, 200, 'GET', `${path}/download-url?disposition=attachment`);
  assert.equal(link.expiresIn, 300);
  r = await get(link.url, {});
  assert.deepEqual([r.status, (await r.arrayBuffer()).byteLength], [200, bytes.length]);
  await refused(s, 403, 'permission_denied', 'GET', link.url.replace(/\.([0-9a-f])/, '.0$1'), undefined, {});
  await refused(s, 403, 'permission_denied', 'DELETE', path, undefined, bob);
  assert.equal((await upload(s, 'x', { query: '?expiresIn=P1D' })).status, 400);
  const html = (await upload(s, '<b>', { type: 'text/html', name: 'x.html' })).body;
  r = await get(`/v1/attachments/${html.id}`);
  assert.equal(r.headers.get('content-type'), 'application/octet-stream');
  assert.match(r.headers.get('content-disposition'), /^attachment/);
  await ok(s, 204, 'DELETE', `/v1/attachments/${html.id}`);
  await refused(s, 404, 'not_found', 'DELETE', `/v1/attachments/${html.id}`);
});

test('one request that forks, appends and refers to an attachment', async () => {
  const s = await begin();
  const fresh = (await upload(s, 'fresh')).body;
  const a = await append(s, 'root', 'A');
  const fork = { forkedAtConversationId: 'root', forkedAtEntryId: a.id };
  const e = await append(s, 'f1', 'see', { ...fork, ...withFile(fresh.id) });
  assert.deepEqual(e.content[0].attachments, [{ attachmentId: fresh.id, contentType: 'text/plain', name: 'a.txt' }]);
  // already linked, in the fork-creating append
  const e2 = await append(s, 'f2', 'see', { ...fork, ...withFile(fresh.id) });
  const second = e2.content[0].attachments[0].attachmentId;
  assert.notEqual(second, fresh.id);
  assert.equal((await fetch(`${s.url}/v1/attachments/${second}`, { headers: alice }).then((r) => r.text())), 'fresh');
  await refused(s, 409, 'conflict', 'DELETE', `/v1/attachments/${second}`);
  // of another tree; deleted; of another user
  await refused(s, 403, 'forbidden', 'POST', `${c('other')}/entries`, say('x', withFile(fresh.id)));
  const gone = (await upload(s, 'gone')).body;
  await ok(s, 204, 'DELETE', `/v1/attachments/${gone.id}`);
  const id = randomUUID();
  await refused(s, 404, 'not_found', 'POST', `${c(id)}/entries`, say('x', { ...fork, ...withFile(gone.id) }));
  await refused(s, 404, 'not_found', 'GET', c(id));
  const his = (await upload(s, 'his', { headers: bob })).body;
  await refused(s, 403, 'forbidden', 'POST', `${c('root')}/entries`, say('x', withFile(his.id)));
});

test('a file is fetched, but not from private addresses', async () => {
  const site = http.createServer((q, r) => { r.setHeader('Content-Type', 'text/css'); r.end('fetched'); });
  await new Promise((done) => site.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${site.address().port}/a`;
  try {
    const closed = await begin(), open = await start({ args: ['--private-source-urls', 'on'] });
    let a = await ok(closed, 201, 'POST', '/v1/attachments', { sourceUrl: url });
    assert.deepEqual([a.status, a.size, a.sourceUrl], ['downloading', null, url]);
    await eventually(() => refused(closed, 422, 'invalid_request', 'GET', `/v1/attachments/${a.id}`));
    a = await ok(open, 201, 'POST', '/v1/attachments', { sourceUrl: url, name: 'a.css' });
    await eventually(async () => {
      const r = await fetch(`${open.url}/v1/attachments/${a.id}`, { headers: alice, redirect: 'manual' });
      assert.deepEqual([r.status, await r.text(), r.headers.get('content-type')], [200, 'fetched', 'text/css']);
    });
    await refused(closed, 400, 'invalid_request', 'POST', '/v1/attachments', { sourceUrl: 'file:///etc/passwd' });
  } finally {
    site.close();
  }
});

test('search, index, unindexed, capabilities', async () => {
  const s = await begin();
  const e = await append(s, 'q1', 'lisbon is warm');
  await append(s, 'q1', 'lisbon again');
  await append(s, 'q2', 'hidden lisbon', {}, bob);
  const find = '/v1/conversations/search';
  let r = await ok(s, 200, 'POST', find, { query: 'lisbon' });
  assert.deepEqual([r.data.length, r.data[0].conversationId, r.data[0].kind], [1, 'q1', 'fulltext']);
  r = await ok(s, 200, 'POST', find, { query: 'lisbon', groupByConversation: false, limit: 1 });
  assert.equal(r.data.length, 1);
  r = await ok(s, 200, 'POST', find, { query: 'lisbon', groupByConversation: false, limit: 1, afterCursor: r.afterCursor });
  assert.deepEqual([r.data.length, r.afterCursor], [1, null]);
  for (const bad of [{}, { query: '' }, { query: 'x', limit: 0 }, { query: 'x', searchType: 'odd' }, { query: 'x', searchType: [] }])
    await refused(s, 400, 'validation_error', 'POST', find, bad);
  assert.deepEqual((await refused(s, 501, 'search_type_unavailable', 'POST', find, { query: 'x', searchType: 'semantic' })).details.availableTypes, ['fulltext']);
  const dave = { Authorization: 'Bearer dave' };
  await refused(s, 403, 'forbidden', 'GET', '/v1/conversations/unindexed', undefined, bob);
  assert.equal((await ok(s, 200, 'GET', '/v1/conversations/unindexed', undefined, dave)).data.length, 3);
  assert.deepEqual(await ok(s, 200, 'POST', '/v1/conversations/index', [{ conversationId: 'q1', entryId: e.id, indexedContent: 'w' }], dave), { indexed: 1 });
  const left = await ok(s, 200, 'GET', '/v1/conversations/unindexed?limit=1', undefined, dave);
  assert.equal(left.data[0].entry.content[0].text, 'lisbon again');
  assert.equal((await ok(s, 200, 'GET', `/v1/conversations/unindexed?afterCursor=${left.afterCursor}`, undefined, dave)).data.length, 1);
  assert.equal((await page(s, 'q1')).data[0].indexedContent, 'w');
  await refused(s, 403, 'permission_denied', 'GET', '/v1/capabilities', undefined, bob);
  const can = await ok(s, 200, 'GET', '/v1/capabilities', undefined, agent('bob'));
  assert.equal(can.features.fulltext_search_enabled, true);
  assert.equal(can.features.private_source_urls_enabled, false);
});

test('pages of search and of entries without an index end early by their size', async () => {
  const s = await begin();
  const dave = { Authorization: 'Bearer dave' }, n = 12;
  for (let i = 0; i < n; i++) await append(s, 'long', `lisbon ${i} ${'x'.repeat(400000)}`);
  const follow = async (ask) => {
    const pages = [];
    for (let after; ; after = pages.at(-1).afterCursor) {
      pages.push(await ask(after));
      if (!pages.at(-1).afterCursor) return pages;
    }
  };
  const found = await follow((afterCursor) =>
    ok(s, 200, 'POST', '/v1/conversations/search', { query: 'lisbon', groupByConversation: false, includeEntry: true, limit: 100, afterCursor }));
  const lacking = await follow((after) => ok(s, 200, 'GET', `/v1/conversations/unindexed?limit=100${after ? `&afterCursor=${after}` : ''}`, undefined, dave));
  for (const pages of [found, lacking]) {
    assert.ok(pages.length > 1);
    for (const p of pages) assert.ok(p.data.length && p.data.length < n);
    assert.deepEqual(pages.flatMap((p) => p.data).map((x) => parseInt(x.entry.content[0].text.slice(7))).sort((a, b) => a - b), Array.from({ length: n }, (_, i) => i));
  }
});

test('events, live and replayed', async () => {
  const s = await begin();
  const e = await append(s, 'ev', 'one');
  const old = await frames(s, '/v1/events?after=start', 2, alice);
  assert.deepEqual(old.map((x) => [x.event, x.kind]), [['created', 'conversation'], ['created', 'entry']]);
  assert.equal(old[1].data.entry, e.id);
  assert.equal(old[1].data.entry_role, 'USER');
  const live = frames(s, `/v1/events?after=${old[1].cursor}&kinds=entry`, 1, alice);
  const two = await append(s, 'ev', 'two');
  await append(s, 'hers', 'not his', {}, bob);
  assert.equal((await live)[0].data.entry, two.id);
});

test('a removed member hears of it, and nothing after; full events describe the conversation', async () => {
  const s = await begin();
  await append(s, 'ours', 'one');
  await ok(s, 201, 'POST', `${c('ours')}/memberships`, { userId: 'bob', accessLevel: 'writer' });
  const stream = await sse(s, '', { path: '/v1/events', headers: bob });
  await ok(s, 204, 'DELETE', `${c('ours')}/memberships/bob`);
  await append(s, 'ours', 'not for him');
  await append(s, 'his', 'for him', {}, bob);
  await stream.until((x) => x.events.some((e) => e.json.kind === 'entry'));
  stream.close();
  assert.deepEqual(stream.events.map(({ json }) => [json.event, json.kind, json.data.user ?? json.data.conversation]),
    [['deleted', 'membership', 'bob'], ['created', 'conversation', 'his'], ['created', 'entry', 'his']]);
  const again = await frames(s, '/v1/events?after=start&kinds=membership', 1, bob);
  assert.equal(again.at(-1).event, 'deleted');
  const full = await sse(s, '', { path: '/v1/events?detail=full&kinds=conversation', headers: alice });
  await ok(s, 201, 'POST', '/v1/conversations', { id: 'new', title: 'A "new"\none', metadata: { a: 1 } });
  await ok(s, 200, 'PATCH', c('new'), { archived: true });
  await full.until((x) => x.events.length >= 2);
  full.close();
  const [made, changed] = full.events.map((e) => e.json);
  assert.deepEqual([made.event, made.data.id, made.data.conversation, made.data.title, made.data.metadata], ['created', 'new', 'new', 'A "new"\none', { a: 1 }]);
  assert.deepEqual([changed.event, changed.data.id, changed.data.archived], ['updated', 'new', true]);
  assert.ok(!('clientId' in made.data));
});

test('administrators: conversations of one user, and the words of refusals', async () => {
  const s = await begin();
  for (const [id, who] of [['a1', alice], ['b1', bob], ['b2', bob]]) await append(s, id, `of ${id}`, {}, who);
  const list = async (query) => (await ok(s, 200, 'GET', `/v1/admin/conversations?${query}`)).data.map((x) => x.id).sort();
  assert.deepEqual(await list('userId=bob'), ['b1', 'b2']);
  assert.deepEqual(await list('ownerUserId=bob'), ['b1', 'b2']);
  assert.deepEqual(await list('userId=nobody'), []);
  await refused(s, 409, 'conflict', 'PATCH', c('a1'), { archived: false });
  await ok(s, 200, 'PATCH', c('a1'), { archived: true });
  await refused(s, 404, 'not_found', 'PATCH', c('a1'), { archived: true });
  await ok(s, 200, 'PATCH', c('a1'), { archived: false });
  await refused(s, 403, 'forbidden', 'PATCH', c('a1'), { archived: false }, bob);
  assert.equal((await refused(s, 400, 'bad_request', 'GET', `${c('a1')}/entries?channel=none`)).error, 'invalid channel');
  assert.equal((await refused(s, 400, 'invalid_request', 'POST', '/v1/conversations/index', [])).error, 'at least one entry required');
  assert.equal((await refused(s, 400, 'invalid_request', 'POST', '/v1/conversations/index', { entries: [] })).error, 'at least one entry required');
  for (const [method, path] of [['POST', '/v1/conversations/index'], ['GET', '/v1/conversations/unindexed']])
    assert.equal((await refused(s, 403, 'forbidden', method, path, method === 'POST' ? [] : undefined, bob)).error, 'indexer or admin role required');
  assert.equal((await refused(s, 403, 'permission_denied', 'GET', '/v1/capabilities', undefined, bob)).error, 'client context or admin/auditor role required');
});

test('administrators: search in the conversations of everybody', async () => {
  const s = await begin();
  await append(s, 'a1', 'walrus of alice');
  await append(s, 'b1', 'walrus of bob', {}, bob);
  await append(s, 'b1', 'another walrus of bob', {}, bob);
  await append(s, 'b2', 'walrus put away', {}, bob);
  await ok(s, 200, 'PATCH', c('b2'), { archived: true }, bob);
  const path = '/v1/admin/conversations/search';
  const find = async (more, who) => (await ok(s, 200, 'POST', path, { query: 'walrus', ...more }, who)).data;
  const ids = (list) => list.map((h) => h.conversationId).sort();
  assert.deepEqual(ids(await find({})), ['a1', 'b1', 'b1']);
  assert.deepEqual(ids(await find({ includeArchived: true }, { Authorization: 'Bearer charlie' })), ['a1', 'b1', 'b1', 'b2']);
  assert.deepEqual(ids(await find({ userId: 'bob' })), ['b1', 'b1']);
  const [hit] = await find({ userId: 'alice' });
  assert.match(hit.highlights, /<em>walrus<\/em>/);
  assert.equal(hit.entry.content[0].text, 'walrus of alice');
  assert.equal(hit.entryId, hit.entry.id);
  assert.ok(!('entry' in (await find({ includeEntry: false }))[0]));
  const seen = [];
  for (let afterCursor = null, n = 0; n < 5; n++) {
    const p = await ok(s, 200, 'POST', path, { query: 'walrus', limit: 1, ...(afterCursor ? { afterCursor } : {}) });
    seen.push(...p.data.map((h) => h.entryId));
    if (!(afterCursor = p.afterCursor)) break;
  }
  assert.equal(new Set(seen).size, 3, 'page by page');
  await refused(s, 403, 'forbidden', 'POST', path, { query: 'walrus' }, bob);
  for (const bad of [{}, { query: '' }, { query: 'x'.repeat(1001) }, { query: 'x', limit: 0 }, { query: 'x', limit: 1001 }, { query: 'x', includeArchived: 1 }, { query: 'x', userId: 'u'.repeat(256) }])
    await refused(s, 400, 'validation_error', 'POST', path, bad);
});

test('administrators: attachments of everybody', async () => {
  const s = await begin();
  const put = async (name, text, who) => {
    const form = new FormData();
    form.append('file', new Blob([text], { type: 'text/plain' }), name);
    const r = await fetch(`${s.url}/v1/attachments`, { method: 'POST', headers: who, body: form });
    assert.equal(r.status, 201);
    return (await r.json()).id;
  };
  const mine = await put('a.txt', 'same', alice), his = await put('b.txt', 'same', bob), free = await put('c.txt', 'other', bob);
  const e = await ok(s, 201, 'POST', `${c('hers')}/entries`, { channel: 'history', contentType: 'history', content: [{ role: 'USER', text: 'see', attachments: [{ attachmentId: his }] }] }, bob);
  const path = '/v1/admin/attachments';
  const list = async (query = '', who = { Authorization: 'Bearer charlie' }) => (await ok(s, 200, 'GET', `${path}${query}`, undefined, who)).data;
  const ids = async (query) => (await list(query)).map((a) => a.id);
  const all = [mine, his, free].sort(); // ids tell nothing of when they were made
  assert.deepEqual(await ids(), all);
  assert.deepEqual(await ids('?userId=bob'), [his, free].sort());
  assert.deepEqual(await ids('?status=linked'), [his]);
  assert.deepEqual(await ids('?status=unlinked'), [mine, free].sort());
  assert.deepEqual(await ids('?status=expired'), []);
  assert.deepEqual(await ids(`?entryId=${e.id}`), [his]);
  const first = await ok(s, 200, 'GET', `${path}?limit=2`);
  assert.equal(first.afterCursor, all[1]);
  assert.deepEqual(await ids(`?limit=2&afterCursor=${all[1]}`), [all[2]]);
  const got = await ok(s, 200, 'GET', `${path}/${his}`);
  assert.deepEqual([got.id, got.filename, got.contentType, got.size, got.userId, got.entryId, got.expiresAt, got.refCount, got.archived],
    [his, 'b.txt', 'text/plain', 4, 'bob', e.id, null, 2, false]);
  assert.equal((await ask(s, 'GET', `${path}/${his}/content`)).text, 'same');
  const { url } = await ok(s, 200, 'GET', `${path}/${his}/download-url`);
  assert.equal((await ask(s, 'GET', url, undefined, {})).text, 'same');
  await refused(s, 409, 'conflict', 'DELETE', `${path}/${his}`);
  await refused(s, 403, 'forbidden', 'DELETE', `${path}/${free}`, undefined, { Authorization: 'Bearer charlie' });
  await ok(s, 204, 'DELETE', `${path}/${free}`);
  await refused(s, 404, 'not_found', 'GET', `${path}/${free}`);
  await refused(s, 404, 'not_found', 'GET', `${path}?entryId=${randomUUID()}`);
  for (const bad of ['?status=none', '?entryId=x', '?limit=0', '?limit=1001', '?afterCursor=x']) await refused(s, 400, 'invalid_request', 'GET', path + bad);
  for (const at of ['', `/${his}`, `/${his}/content`, `/${his}/download-url`]) await refused(s, 403, 'forbidden', 'GET', path + at, undefined, bob);
});

test('chat is refused in the words of memory-service', async () => {
  const s = await start({ args: [...admins, '--agent', 'echo=echo'] });
  const slow = fetch(`${s.url}${c('busy')}/chat`, { method: 'POST', headers: { ...alice, 'Content-Type': 'application/json' }, body: JSON.stringify({ message: '/slow 60000\na b c' }) });
  await eventually(async () => assert.equal((await ok(s, 200, 'GET', c('busy'))).hasResponseInProgress, true));
  await refused(s, 409, 'conflict', 'POST', `${c('busy')}/chat`, { message: 'again' });
  await ok(s, 200, 'DELETE', `${c('busy')}/response`);
  await (await slow).text();
});

test('chat in one step, also in a fork', async () => {
  const s = await start({ args: [...admins, '--agent', 'echo=echo'] });
  const chat = async (id, body) => {
    const r = await fetch(`${s.url}${c(id)}/chat`, { method: 'POST', headers: { ...alice, 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
    return { status: r.status, type: r.headers.get('content-type'), text: await r.text() };
  };
  const r = await chat('talk', { message: 'hello' });
  assert.equal(r.status, 200, r.text);
  assert.match(r.type, /^text\/event-stream/);
  const p = await page(s, 'talk');
  assert.deepEqual(p.data.map((e) => e.content[0].role), ['USER', 'AI']);
  assert.match(p.data[1].content[0].text, /hello/);
  const f = await chat('talk2', { message: 'other', forkedAtConversationId: 'talk', forkedAtEntryId: p.data[0].id });
  assert.equal(f.status, 200, f.text);
  assert.deepEqual((await page(s, 'talk2')).data.map((e) => e.conversationId), ['talk2', 'talk2']);
  assert.equal((await chat('talk3', { message: 'x', agent: 'nobody' })).status, 400);
  await refused(s, 404, 'not_found', 'GET', c('talk3'));
  await ok(s, 200, 'DELETE', `${c('talk')}/response`);
});

test('a stranger is told of conversations, as memory-service does, and of nothing else', async () => {
  const s = await begin();
  const make = async (json = {}) => (await ok(s, 201, 'POST', '/ramet/v1/sessions', json)).id;
  const open = await make(), hidden = await make({ visibility: 'private' });
  const fork = (await ok(s, 201, 'POST', `/ramet/v1/sessions/${open}/fork`, { visibility: 'private' })).id;
  await append(s, 'talk', 'mine');
  const none = randomUUID();
  const { id: file } = await ok(s, 201, 'POST', '/ramet/v1/attachments?name=a.txt', 'bytes', { ...alice, 'Content-Type': 'text/plain' });
  const his = (await upload(s, 'his')).body.id;
  const asks = (id) => [
    ['GET', c(id)], ['PATCH', c(id), { title: 'x' }], ['GET', `${c(id)}/entries`], ['GET', `${c(id)}/forks`], ['GET', `${c(id)}/children`],
    ['GET', `${c(id)}/memberships`], ['POST', `${c(id)}/memberships`, { userId: 'x', accessLevel: 'reader' }],
    ['DELETE', `${c(id)}/memberships/x`], ['POST', '/v1/ownership-transfers', { conversationId: id, newOwnerUserId: 'zoe' }],
    ['POST', `${c('new')}/entries`, say('x', { forkedAtConversationId: id, forkedAtEntryId: randomUUID() })],
    ['POST', '/v1/conversations', { forkedAtConversationId: id }],
    ['POST', `${c('new')}/entries`, say('x', { startedByConversationId: id })],
  ];
  const shape = async (id) => Promise.all(asks(id).map(async ([method, path, json]) => {
    const r = await ask(s, method, path, json, bob);
    return [method, path.replace(enc(id), 'ID'), r.status, r.body.code, r.body.error.replaceAll(id, 'ID')];
  }));
  const unknown = await shape(none);
  for (const row of unknown) assert.equal(row[2], 404, row.join(' '));
  for (const id of [open, hidden, fork]) assert.deepEqual(await shape(id), unknown, 'as if it were not there');
  for (const row of await shape('talk')) assert.equal(row[2], 403, row.join(' '));
  // Appending makes a conversation where there is none; a session that is there stays as it is.
  for (const id of [open, hidden]) await refused(s, 404, 'not_found', 'POST', `${c(id)}/entries`, say('x'), bob);
  for (const id of [open, hidden]) assert.equal((await ask(s, 'POST', '/v1/conversations', { id }, bob)).status, 409);
  for (const [method, path] of [['GET', ''], ['DELETE', ''], ['GET', '/download-url']]) {
    await refused(s, 404, 'not_found', method, `/v1/attachments/${file}${path}`, undefined, bob);
    await refused(s, 403, 'permission_denied', method, `/v1/attachments/${his}${path}`, undefined, bob);
  }
  await refused(s, 404, 'not_found', 'POST', `${c('b')}/entries`, say('x', withFile(file)), bob);
  await refused(s, 403, 'forbidden', 'POST', `${c('b')}/entries`, say('x', withFile(his)), bob);
});

await finish();
