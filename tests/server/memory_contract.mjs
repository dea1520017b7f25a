// SPDX-License-Identifier: Apache-2.0
//
// memory_contract.mjs: memory-service by a typed client: the points that its contract calls easy to
// miss, one test each, and what goes beyond one conversation: pages over many forks, texts given
// for the search, events of members, a server that is killed, many members and forks.
import http from 'node:http';
import { test, finish, start, assert, scratch, enc, ramet, run, eventually, frames } from './lib.mjs';
import { MemoryClient, MemoryError } from './help/memory_client.mjs';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const admins = ['--admins', 'alice', '--auditors', 'charlie', '--indexers', 'dave'];
const begin = async (more = {}) => {
  const s = await start({ args: admins, ...more });
  const as = (user, client) => new MemoryClient(s.url, { user, client });
  return { s, as, alice: as('alice'), bob: as('bob'), agent: as('alice', 'agent-1') };
};
const say = (text, more = {}) => ({ channel: 'history', contentType: 'history', content: [{ role: 'USER', text }], ...more });
const at = (conversation, e) => ({ forkedAtConversationId: conversation, ...(e && { forkedAtEntryId: e.id }) });
const words = (p) => p.data.map((e) => e.content[0]?.text ?? e.content[0]);
const refused = async (promise, status, code) => {
  const e = await promise.then((v) => assert.fail(`not refused: ${JSON.stringify(v)}`), (x) => x);
  if (!(e instanceof MemoryError)) throw e;
  assert.deepEqual([e.status, e.code], [status, code], e.message);
  return e;
};
/** Every page of a list, in one. */
const all = async (list, q = {}) => {
  const out = [];
  for (let afterCursor, p; afterCursor !== null; afterCursor = p.afterCursor) {
    p = await list({ ...q, afterCursor });
    out.push(...p.data);
  }
  return out;
};

test('point 1: a fork by an entry answers with the entry (201), by a conversation with 200', async () => {
  const { alice } = await begin();
  const a = await alice.appendEntry('root', say('A'));
  const e = await alice.appendEntry('f', say('B', at('root', a)));
  assert.equal(e.conversationId, 'f');
  const f = await alice.createConversation({ ...at('root', a), title: 'by hand' }); // the client wants 200
  assert.deepEqual([f.forkedAtConversationId, f.forkedAtEntryId, f.title, f.accessLevel], ['root', a.id, 'by hand', 'owner']);
  assert.equal((await alice.createConversation({ id: 'plain' })).id, 'plain'); // and 201
});

test('point 2: who may not see the parent learns nothing of its entries', async () => {
  const { alice, bob } = await begin();
  const a = await alice.appendEntry('root', say('A'));
  for (const e of [a, { id: randomUUID() }]) await refused(bob.appendEntry('f', say('x', at('root', e))), 403, 'forbidden');
  await refused(bob.createConversation({ id: 'f', ...at('root', { id: randomUUID() }) }), 403, 'forbidden');
  await refused(alice.appendEntry('f', say('x', at('root', { id: randomUUID() }))), 404, 'not_found');
  await refused(alice.getConversation('f'), 404, 'not_found');
});

test('point 3: the path of a fork: each ancestor up to its boundary, none of a blank parent', async () => {
  const { alice } = await begin();
  const [, b] = [await alice.appendEntry('root', say('A')), await alice.appendEntry('root', say('B')), await alice.appendEntry('root', say('C'))];
  await alice.appendEntry('f1', say('D', at('root', b)));
  const e = await alice.appendEntry('f1', say('E'));
  await alice.appendEntry('f2', say('F', at('f1', e)));
  await alice.appendEntry('f2', say('G'));
  await alice.appendEntry('root', say('late'));
  assert.deepEqual(words(await alice.listEntries('f2')), ['A', 'D', 'F', 'G']);
  assert.deepEqual(words(await alice.listEntries('root')), ['A', 'B', 'C', 'late']);
  await alice.appendEntry('blank', say('X', at('f1')));
  assert.deepEqual(words(await alice.listEntries('blank')), ['X']);
  assert.ok(!('forkedAtEntryId' in await alice.getConversation('blank')));
});

test('point 4: without a channel: all of a client\'s, or history alone', async () => {
  const { as, alice, agent } = await begin();
  await alice.appendEntry('c', say('h'));
  await agent.appendEntry('c', { channel: 'context', contentType: 'x', content: ['ctx'] });
  await agent.appendEntry('c', { channel: 'journal', contentType: 'x', content: ['log'] });
  assert.deepEqual(words(await agent.listEntries('c')), ['h', 'ctx', 'log']);
  assert.deepEqual(words(await alice.listEntries('c')), ['h']);
  assert.deepEqual(words(await as('alice', 'agent-2').listEntries('c')), ['h']);
  assert.deepEqual(words(await agent.listEntries('c', { clientId: 'agent-2' })), ['h', 'ctx', 'log']);
  await refused(alice.listEntries('c', { channel: 'journal' }), 403, 'forbidden');
});

test('point 5: a channel that is named is held to its rules, a default one is not', async () => {
  const { alice } = await begin();
  const odd = { contentType: 'anything', content: [1, 'two', { three: 3 }] };
  assert.equal((await alice.appendEntry('c', odd)).channel, 'history');
  await refused(alice.appendEntry('c', { ...odd, channel: 'history' }), 400, 'validation_error');
  await refused(alice.appendEntry('c', { ...odd, channel: 'HISTORY' }), 400, 'validation_error');
  assert.equal((await alice.appendEntry('c', say('x', { contentType: 'history/lc4j', content: [{ role: 'system', text: 'x' }] }))).contentType, 'history/lc4j');
});

test('point 6: empty pages have null cursors and an empty list', async () => {
  const { s, alice } = await begin();
  await alice.createConversation({ id: 'c' });
  const text = async (path) => (await fetch(s.url + path, { headers: alice.headers })).text();
  assert.equal(await text('/v1/conversations/c/entries'), '{"data":[],"afterCursor":null,"beforeCursor":null}');
  assert.equal(await text('/v1/conversations?archived=only'), '{"data":[],"afterCursor":null}');
  assert.equal(await text('/v1/conversations/c/children'), '{"data":[],"afterCursor":null}');
  assert.equal(await text('/v1/ownership-transfers'), '{"data":[],"afterCursor":null}');
  assert.deepEqual(await alice.listForks('c'), { conversationIds: ['c'], forkPoints: [] });
});

test('point 7: conversations come newest first, everything else oldest first', async () => {
  const { alice } = await begin();
  for (const id of ['one', 'two', 'three']) await alice.appendEntry(id, say(id));
  assert.deepEqual((await all((q) => alice.listConversations(q), { limit: 1 })).map((c) => c.id), ['three', 'two', 'one']);
  for (const id of ['k1', 'k2', 'k3']) await alice.appendEntry(id, say(id, { startedByConversationId: 'one' }));
  assert.deepEqual((await all((q) => alice.listChildren('one', q), { limit: 1 })).map((c) => c.id), ['k1', 'k2', 'k3']);
  for (const u of ['zed', 'bob', 'ann']) await alice.share('one', u, 'reader');
  assert.deepEqual((await all((q) => alice.listMemberships('one', q), { limit: 1 })).map((m) => m.userId), ['alice', 'zed', 'bob', 'ann']);
  for (const id of ['three', 'one', 'two']) {
    if (id !== 'one') await alice.share(id, 'bob', 'reader');
    await alice.createTransfer(id, 'bob');
  }
  assert.deepEqual((await all((q) => alice.listTransfers(q), { limit: 1 })).map((t) => t.conversationId), ['three', 'one', 'two']);
});

test('point 8: no group id anywhere, no client id on a conversation', async () => {
  const { agent, as } = await begin(); // the client looks for both in every answer
  await agent.appendEntry('c', say('x', { agentId: 'planner' }));
  assert.equal((await agent.getConversation('c')).agentId, 'planner');
  assert.equal((await agent.listEntries('c')).data[0].clientId, 'agent-1');
  assert.equal((await as('charlie').adminGetConversation('c')).clientId, 'agent-1');
  await refused(as('bob').adminGetConversation('c'), 403, 'forbidden');
});

test('point 9: ids are decoded once, a slash in one stays in its segment', async () => {
  const { s, alice } = await begin();
  for (const id of ['a/b', '50%25', 'x%2Fy', 'sp ace', 'ünï', 'a..b', '日本']) {
    await alice.appendEntry(id, say(id));
    assert.equal((await alice.getConversation(id)).id, id);
    assert.deepEqual(words(await alice.listEntries(id)), [id]);
  }
  const raw = await fetch(`${s.url}/v1/conversations/a/../b`, { headers: alice.headers });
  assert.equal(raw.status, 404);
});

test('point 10: sync makes roots alone, and says when an epoch moved', async () => {
  const { alice, agent } = await begin();
  const a = await alice.appendEntry('root', say('A'));
  const first = await agent.syncEntries('new', { contentType: 'x', content: ['1'], ...at('root', a) });
  assert.deepEqual([first.epoch, first.noOp, first.epochIncremented], [1, false, true]);
  assert.ok(!('forkedAtConversationId' in await agent.getConversation('new')));
  const there = await agent.syncEntries('root', { contentType: 'x', content: ['1'] });
  assert.deepEqual([there.epoch, there.epochIncremented], [1, false]);
  const grown = await agent.syncEntries('root', { contentType: 'x', content: ['1', '2'] });
  assert.deepEqual([grown.epoch, grown.epochIncremented, grown.entry.content], [1, false, ['2']]);
  const other = await agent.syncEntries('root', { contentType: 'x', content: ['3'] });
  assert.deepEqual([other.epoch, other.epochIncremented], [2, true]);
  assert.deepEqual(await agent.syncEntries('root', { contentType: 'x', content: ['3'] }), { epoch: 2, noOp: true, epochIncremented: false });
  const before = (await agent.getConversation('root')).updatedAt;
  await agent.syncEntries('none', { contentType: 'x', content: [] });
  await refused(agent.getConversation('none'), 404, 'not_found');
  assert.equal((await agent.getConversation('root')).updatedAt, before);
});

test('point 11: a sequence number twice and a pending transfer are conflicts', async () => {
  const { alice } = await begin();
  const a = await alice.appendEntry('c', say('x', { seq: 7 }));
  await refused(alice.appendEntry('c', say('y', { seq: 7 })), 409, 'conflict');
  await refused(alice.appendEntries('c', { entries: [say('y', { seq: 8 }), say('z', { seq: 8 })] }), 409, 'conflict');
  assert.equal((await alice.appendEntry('f', say('y', { seq: 7, ...at('c', a) }))).seq, 7);
  await alice.share('c', 'bob', 'writer');
  const t = await alice.createTransfer('c', 'bob');
  const again = await refused(alice.createTransfer('f', 'bob'), 409, 'TRANSFER_ALREADY_PENDING');
  assert.deepEqual(again.details, { existingTransferId: t.id });
  assert.deepEqual(words(await alice.listEntries('c')), ['x']);
});

test('point 12: a linked attachment gets another id, of another tree it is 403, deleted 404', async () => {
  const { s, alice, bob } = await begin();
  const file = await alice.upload('bytes');
  const withFile = (id, more = {}) => say('see', { content: [{ role: 'USER', text: 'see', attachments: [{ attachmentId: id }] }], ...more });
  const a = await alice.appendEntry('c', withFile(file.id));
  assert.equal(a.content[0].attachments[0].attachmentId, file.id);
  const again = await alice.appendEntry('f', withFile(file.id, at('c', a)));
  const id = again.content[0].attachments[0].attachmentId;
  assert.notEqual(id, file.id);
  const bytes = (who, x) => fetch(`${s.url}/v1/attachments/${x}`, { headers: who.headers });
  assert.equal(await (await bytes(alice, id)).text(), 'bytes');
  assert.equal((await bytes(bob, id)).status, 403);
  await alice.share('c', 'bob', 'reader');
  assert.equal(await (await bytes(bob, id)).text(), 'bytes');
  await refused(alice.appendEntry('elsewhere', withFile(file.id)), 403, 'forbidden');
  await refused(alice.getConversation('elsewhere'), 404, 'not_found');
  const gone = await alice.upload('gone');
  await alice.deleteAttachment(gone.id);
  await refused(alice.appendEntry('f2', withFile(gone.id, at('c', a))), 404, 'not_found');
  await refused(alice.getConversation('f2'), 404, 'not_found');
  await refused(alice.deleteAttachment(file.id), 409, 'conflict');
  assert.equal(await (await bytes(alice, file.id)).text(), 'bytes'); // and it is all there
});

test('point 13: archived trees are read, not written, forked or shared', async () => {
  const { alice, agent } = await begin();
  const a = await alice.appendEntry('c', say('A'));
  await alice.appendEntry('f', say('B', at('c', a)));
  await alice.share('c', 'bob', 'reader');
  await alice.updateConversation('f', { archived: true });
  assert.deepEqual(words(await alice.listEntries('c')), ['A']);
  assert.equal((await alice.listForks('c')).forkPoints.length, 1);
  assert.deepEqual((await alice.listChildren('c')).data, []);
  for (const no of [
    () => alice.appendEntry('c', say('x')), () => alice.appendEntry('n', say('x', at('c', a))), () => alice.createConversation(at('c', a)),
    () => alice.appendEntry('n', say('x', { startedByConversationId: 'c' })), () => agent.syncEntries('c', { contentType: 'x', content: [1] }),
    () => alice.updateConversation('c', { title: 'x' }), () => alice.listMemberships('c'), () => alice.share('c', 'eve', 'reader'),
    () => alice.updateMembership('c', 'bob', 'writer'), () => alice.deleteMembership('c', 'bob'), () => alice.createTransfer('c', 'bob'),
  ]) await refused(no(), 404, 'not_found');
  await alice.updateConversation('c', { archived: false });
  await alice.appendEntry('f', say('again'));
});

test('point 14: transfers: bad requests, and fields that are empty', async () => {
  const { alice, bob } = await begin();
  await alice.appendEntry('c', say('A'));
  await alice.share('c', 'bob', 'manager');
  await refused(alice.createTransfer('c', 'alice'), 400, 'bad_request');
  await refused(alice.createTransfer('c', 'stranger'), 400, 'bad_request');
  await refused(alice.createTransfer('', 'bob'), 400, 'validation_error');
  await refused(alice.createTransfer('c', ''), 400, 'validation_error');
  await refused(bob.createTransfer('c', 'alice'), 403, 'permission_denied');
  const t = await alice.createTransfer('c', 'bob');
  assert.deepEqual(await bob.getTransfer(t.id), t);
  await refused(alice.acceptTransfer(t.id), 403, 'permission_denied');
  await bob.deleteTransfer(t.id);
  await refused(bob.acceptTransfer(t.id), 404, 'not_found');
  await refused(alice.getTransfer('no-uuid'), 400, 'invalid_request');
});

test('point 15: ids: conversations are texts, all else UUIDs', async () => {
  const { s, alice } = await begin(); // the client holds ids of entries, transfers and attachments to it
  await alice.appendEntry('not a uuid', say('A'));
  // what another face has written has ids of another form
  const native = await fetch(`${s.url}/ramet/v1/sessions/${enc('not a uuid')}/entries`, {
    method: 'POST', headers: { ...alice.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ entries: [{ id: 'msg-1', role: 'user', text: 'native' }] }),
  });
  assert.equal(native.status, 201, await native.text());
  const p = await alice.listEntries('not a uuid');
  assert.deepEqual(words(p), ['A', 'native']);
  const id = p.data[1].id;
  assert.deepEqual(words(await alice.listEntries('not a uuid', { beforeCursor: id })), ['A']);
  await alice.appendEntry('f', say('B', at('not a uuid', { id })));
  assert.deepEqual(words(await alice.listEntries('f')), ['A', 'B']);
  assert.equal((await alice.getConversation('f')).forkedAtEntryId, id);
  assert.deepEqual(words(await alice.listEntries('f', { forks: 'all', afterCursor: id })), ['B']);
});

test('rows of the contract: requests', async () => {
  const { s, alice, agent } = await begin();
  await alice.appendEntry('c', say('A'));
  const ask = async (method, path, { headers = alice.headers, body } = {}) => {
    const r = await fetch(s.url + path, { method, headers: { 'Content-Type': 'application/json', ...headers }, body });
    const text = await r.text();
    return { status: r.status, headers: r.headers, code: text && JSON.parse(text).code };
  };
  const is = async (status, code, ...rest) => {
    const r = await ask(...rest);
    assert.deepEqual([r.status, r.code], [status, code], rest.join(' '));
    return r;
  };
  const found = await ask('GET', '/v1/conversations');
  assert.deepEqual([found.headers.get('x-content-type-options'), found.headers.get('referrer-policy')], ['nosniff', 'strict-origin-when-cross-origin']);
  const long = await ask('GET', '/v1/conversations', { headers: { ...alice.headers, 'X-Request-ID': 'x'.repeat(129) } });
  assert.match(long.headers.get('x-request-id'), /^[A-Za-z0-9._-]{1,128}$/);
  assert.notEqual(long.headers.get('x-request-id'), 'x'.repeat(129));
  await is(404, 'not_found', 'GET', '/v1/nowhere', { headers: {} });
  await is(400, 'invalid_request', 'POST', '/v1/conversations', { body: '{"title":' });
  await is(400, 'invalid_request', 'POST', '/v1/conversations/c/entries', { body: '[]' });
  await is(413, 'payload_too_large', 'POST', '/v1/conversations/c/entries', { body: `{"content":["${'x'.repeat(21 << 20)}"]}` });
  for (const q of ['limit=1001', 'limit=x', 'limit=-1']) await is(400, 'invalid_request', 'GET', `/v1/conversations?${q}`, { headers: {} });
  for (const q of ['fromSeq=-1', 'fromSeq=4294967296', 'fromSeq=x', 'upToEntryId=x', 'beforeCursor=x', 'tail=2'])
    await is(400, 'invalid_request', 'GET', `/v1/conversations/c/entries?${q}`, { headers: {} });
  await refused(agent.listEntries('c', { channel: 'context', epoch: 'odd' }), 400, 'bad_request');
  assert.equal((await alice.listEntries('c', { epoch: 'odd', agentId: 'x', forks: 'odd' })).data.length, 1); // not looked at
  for (const body of [{ archived: 'x' }, { metadata: [] }, { title: {} }]) await refused(alice.updateConversation('c', body), 400, 'invalid_request');
  await refused(alice.updateConversation('c', { title: 'x'.repeat(501) }), 400, 'validation_error');
  assert.deepEqual((await alice.listConversations({ mode: 'odd', ancestry: 'odd' })).data.map((x) => x.id), ['c']);
  for (const call of [(c) => c.listEntries('c'), (c) => c.listForks('c'), (c) => c.listChildren('c'), (c) => c.listMemberships('c'), (c) => c.updateConversation('c', {})])
    await refused(call(new MemoryClient(s.url, { user: 'eve' })), 403, 'forbidden');
  for (const call of [() => alice.listEntries('no'), () => alice.listForks('no'), () => alice.listChildren('no'), () => alice.listMemberships('no'), () => alice.updateConversation('no', { title: 'x' })])
    assert.equal((await refused(call(), 404, 'not_found')).error, 'conversation not found: no');
  await is(401, 'unauthenticated', 'GET', '/v1/conversations', { headers: { 'X-Client-ID': 'agent-1' } });
});

test('rows of the contract: appends', async () => {
  const { alice, agent, bob } = await begin();
  const one = await alice.appendEntry('c', { entries: [say('only')] }); // a bare object
  assert.equal(one.content[0].text, 'only');
  const no = async (body, code = 'validation_error', who = alice) => (await refused(who.appendEntry('c', body), 400, code)).details;
  await no({ content: [{}] });
  await no({ contentType: 'x' }, 'invalid_request');
  await no(say('x', { channel: 'odd' }));
  await no(say('x', { seq: 4294967296 }), 'invalid_request');
  await no(say('x', { agentId: 'x'.repeat(256) }), 'validation_error', agent);
  await no(say('x', { contentType: `history/${'x'.repeat(120)}` }));
  await no(say('x', { indexedContent: 'x'.repeat(100001) }));
  await no({ channel: 'journal', contentType: 'x', content: [1], indexedContent: 'x' }, 'validation_error', agent);
  // who and what an entry keeps; a conversation keeps the agent that it was made with
  const e = await agent.appendEntry('c', say('y', { agentId: 'helper', userId: 'alice' }));
  assert.deepEqual([e.userId, e.clientId, e.agentId], ['alice', 'agent-1', 'helper']);
  assert.ok(!('agentId' in await alice.getConversation('c')));
  // a title that is missing comes from the first history entry of an append
  await alice.createConversation({ id: 'untitled' });
  await agent.appendEntry('untitled', { channel: 'journal', contentType: 'x', content: [{ text: 'no title' }] });
  assert.equal((await alice.getConversation('untitled')).title, '');
  await alice.appendEntry('untitled', say('t'.repeat(50)));
  assert.equal((await alice.getConversation('untitled')).title, 't'.repeat(40));
  const before = await alice.getConversation('untitled');
  await alice.appendEntry('untitled', say('later'));
  const after = await alice.getConversation('untitled');
  assert.deepEqual([after.title, after.updatedAt > before.updatedAt], [before.title, true]);
  // children: a tree of their own with the members and the owner of the parent, and nothing of its entries
  await alice.share('c', 'bob', 'writer');
  const kid = await bob.appendEntry('kid', say('k', { startedByConversationId: 'c', startedByEntryId: one.id }));
  const k = await alice.getConversation('kid');
  assert.deepEqual([k.ownerUserId, k.startedByConversationId, k.startedByEntryId, k.accessLevel], ['alice', 'c', one.id, 'owner']);
  assert.deepEqual(words(await bob.listEntries('kid')), ['k']);
  assert.ok(kid.id);
  await refused(bob.appendEntry('kid2', say('x', { startedByConversationId: 'c', startedByEntryId: randomUUID() })), 400, 'validation_error');
  await refused(bob.appendEntry('kid2', say('x', { startedByConversationId: 'no' })), 404, 'not_found');
  await alice.updateMembership('c', 'bob', 'reader');
  await refused(bob.appendEntry('kid2', say('x', { startedByConversationId: 'c' })), 403, 'forbidden');
  await refused(bob.appendEntry('c', say('x')), 403, 'forbidden');
  await bob.appendEntry('kid', say('he is a writer there still'));
  // a reader's fork by hand is his own
  const own = await bob.createConversation(at('c', one));
  await refused(alice.getConversation(own.id), 403, 'forbidden');
  await bob.appendEntry(own.id, say('mine'));
  await refused(alice.share('c', 'x'.repeat(256), 'reader'), 400, 'validation_error');
});

test('rows of the contract: attachments', async () => {
  const { s, alice, bob } = await begin();
  const form = (fill) => {
    const f = new FormData();
    fill(f);
    return fetch(`${s.url}/v1/attachments`, { method: 'POST', headers: alice.headers, body: f });
  };
  const none = await form((f) => f.append('other', 'x'));
  assert.deepEqual([none.status, (await none.json()).code], [400, 'invalid_request']);
  const big = await form((f) => f.append('file', new Blob([Buffer.alloc((10 << 20) + 1)]), 'big'));
  assert.ok([400, 413].includes(big.status), `${big.status}`);
  assert.equal((await alice.upload(Buffer.alloc(10 << 20), { name: 'just' })).size, 10 << 20);
  for (const expiresIn of ['PT0H', 'PT25H', 'PT1441M', '1h', 'PT1S', '']) await refused(alice.upload('x', { expiresIn }), 400, 'invalid_request');
  const a = await alice.upload('x', { expiresIn: 'PT90M', type: 'Text/Plain; charset=utf-8' });
  const life = (Date.parse(a.expiresAt) - Date.now()) / 60000;
  assert.ok(life > 85 && life < 91, `${life}`);
  const r = await fetch(`${s.url}/v1/attachments/${a.id}`, { headers: alice.headers });
  assert.equal(r.headers.get('content-type'), 'text/plain');
  assert.equal((await fetch(`${s.url}/v1/attachments/${a.id}`, { headers: bob.headers })).status, 403);
  await refused(bob.deleteAttachment(a.id), 403, 'permission_denied');
  const link = await alice.downloadUrl(a.id, { disposition: 'inline' });
  assert.match(link.url, /^\/v1\/attachments\/download\/[^/]+\/a\.txt\?disposition=inline$/);
  assert.equal(link.expiresIn, 300);
  const bare = await fetch(s.url + link.url);
  assert.deepEqual([bare.status, bare.headers.get('etag'), bare.headers.get('content-disposition')?.split(';')[0]], [200, `"${a.sha256}"`, 'inline']);
  assert.equal((await fetch(s.url + link.url, { headers: { 'If-None-Match': `"${a.sha256}"` } })).status, 304);
  assert.equal((await fetch(s.url + link.url.replace('inline', 'odd'))).status, 400);
  assert.equal((await fetch(`${s.url}/v1/attachments/download/odd/a.txt`)).status, 403);
  // what is no id of an attachment is left alone; what an attachment knows of itself is filled in
  const e = await alice.appendEntry('c', say('x', { content: [{ text: 'x', attachments: [{ attachmentId: 'odd' }, { attachmentId: a.id, name: 'mine' }, { href: 'http://x', contentType: 'a/b' }] }] }));
  assert.deepEqual(e.content[0].attachments, [{ attachmentId: 'odd' }, { attachmentId: a.id, contentType: a.contentType, name: 'mine' }, { href: 'http://x', contentType: 'a/b' }]);
  await refused(bob.appendEntry('his', say('x', { content: [{ text: 'x', attachments: [{ attachmentId: a.id }] }] })), 403, 'forbidden');
  await refused(alice.appendEntry('c', say('x', { content: [{ text: 'x', attachments: [{ attachmentId: randomUUID() }] }] })), 404, 'not_found');
});

test('pages over all forks and by sequence number are the list in pieces', async () => {
  const { alice, agent } = await begin();
  let random = 12345;
  const pick = (n) => ((random = (random * 48271) % 2147483647) >> 8) % n;
  const talks = ['t0'], entries = [];
  for (let i = 0; i < 120; i++) {
    const fork = entries.length && pick(6) === 0, id = fork ? `t${talks.length}` : talks[pick(talks.length)];
    const parent = fork && talks[pick(talks.length)];
    const anchor = fork && (await alice.listEntries(parent, { limit: 1000 })).data;
    const more = fork && anchor.length ? at(parent, anchor[pick(anchor.length)]) : {};
    if (fork) talks.push(id);
    const body = pick(4) ? say(`e${i}`, more) : { channel: 'context', contentType: 'x', content: [`e${i}`], ...more };
    entries.push(await agent.appendEntry(id, { ...body, ...(pick(3) ? { seq: 1000 - i } : {}) }));
    if (fork && !more.forkedAtConversationId) talks.pop(), entries.pop();
  }
  const compare = async (who, id, q) => {
    const whole = await who.listEntries(id, { ...q, limit: 1000 });
    const ids = whole.data.map((e) => e.id);
    assert.deepEqual((await all((x) => who.listEntries(id, { ...x, ...q }), { limit: 7 })).map((e) => e.id), ids);
    const back = [];
    for (let x = { tail: true }, p; x; x = p.beforeCursor && { beforeCursor: p.beforeCursor }) {
      p = await who.listEntries(id, { ...q, ...x, limit: 7 });
      back.unshift(...p.data.map((e) => e.id));
    }
    assert.deepEqual(back, ids);
    return whole.data;
  };
  const order = (e) => `${e.createdAt}`;
  for (const who of [alice, agent]) {
    const tree = await compare(who, 't0', { forks: 'all' });
    const want = entries.filter((e) => who === agent || e.channel === 'history').map((e) => e.id).sort();
    assert.deepEqual(tree.map((e) => e.id).sort(), want);
    assert.deepEqual(tree.map(order), tree.map(order).sort());
    const bound = tree[Math.floor(tree.length / 2)];
    assert.deepEqual((await compare(who, 't0', { forks: 'all', upToEntryId: bound.id })).map((e) => e.id),
      tree.slice(0, tree.indexOf(bound) + 1).map((e) => e.id));
    const last = talks.at(-1);
    for (const q of [{ fromSeq: 900 }, { fromSeq: 900, forks: 'all' }]) {
      const got = await compare(who, last, q);
      const from = q.forks ? tree : (await who.listEntries(last, { limit: 1000 })).data;
      assert.deepEqual(got.map((e) => e.id), from.filter((e) => e.seq >= 900).sort((x, y) => x.seq - y.seq || (x.id < y.id ? -1 : 1)).map((e) => e.id));
    }
  }
  await compare(agent, talks.at(-1), { channel: 'context', forks: 'all', epoch: 'all' });
  await refused(alice.listEntries('t0', { forks: 'all', afterCursor: randomUUID() }), 400, 'bad_request');
  const hidden = entries.find((e) => e.channel === 'context');
  assert.match((await refused(alice.listEntries('t0', { forks: 'all', afterCursor: hidden.id }), 400, 'bad_request')).error, /in visible results/);
});

test('texts that are given later are searched', async () => {
  const { alice, as } = await begin();
  const dave = as('dave');
  const e = await alice.appendEntry('c', { contentType: 'x', content: [{ blob: 1 }] });
  const f = await alice.appendEntry('c', say('harbour', { indexedContent: 'boats' }));
  const found = async (query) => (await alice.search({ query, groupByConversation: false })).data.map((h) => h.entryId);
  assert.deepEqual(await found('boats'), [f.id]);
  assert.deepEqual(await found('harbour'), [f.id]);
  assert.deepEqual((await dave.unindexed()).data.map((u) => u.entry.id), [e.id]);
  assert.deepEqual(await dave.index([{ conversationId: 'c', entryId: e.id, indexedContent: 'a picture of a lighthouse' }]), { indexed: 1 });
  assert.deepEqual(await found('lighthouse'), [e.id]);
  assert.match((await alice.search({ query: 'lighthouse' })).data[0].highlights, /<em>lighthouse<\/em>/);
  await dave.index({ entries: [{ conversationId: 'c', entryId: e.id, indexedContent: 'a picture of a windmill' }] });
  assert.deepEqual([await found('lighthouse'), await found('windmill')], [[], [e.id]]);
  assert.equal((await alice.listEntries('c')).data[0].indexedContent, 'a picture of a windmill');
  assert.deepEqual((await dave.unindexed()).data, []);
});

test('events: members, archiving, channels, details', async () => {
  const { s, alice, bob, agent } = await begin();
  await alice.appendEntry('c', say('one'));
  await alice.share('c', 'bob', 'reader');
  await alice.updateMembership('c', 'bob', 'manager');
  await alice.updateConversation('c', { archived: true });
  await alice.updateConversation('c', { archived: false });
  const t = await alice.createTransfer('c', 'bob');
  await bob.acceptTransfer(t.id);
  await alice.deleteMembership('c', 'alice');
  const got = (await frames(s, '/v1/events?after=start', 9, bob.headers)).slice(0, 9);
  assert.deepEqual(got.map(({ event, kind, data }) => [kind, event, data.user ?? data.archived ?? null, data.role ?? null]), [
    ['conversation', 'created', null, null], ['entry', 'created', null, null],
    ['membership', 'created', 'bob', 'reader'], ['membership', 'updated', 'bob', 'manager'],
    ['conversation', 'updated', true, null], ['conversation', 'updated', false, null],
    ['membership', 'updated', 'alice', 'manager'], ['membership', 'updated', 'bob', 'owner'],
    ['conversation', 'updated', null, null],
  ]);
  assert.ok(got.every((e) => e.cursor && e.data.conversation_group));
  const last = await frames(s, `/v1/events?after=${got[8].cursor}`, 1, bob.headers);
  assert.deepEqual([last[0].kind, last[0].event, last[0].data.user], ['membership', 'deleted', 'alice']);
  assert.deepEqual((await frames(s, '/v1/events?after=start&kinds=membership', 1, bob.headers))[0].kind, 'membership');
  // channels of a client, what they hold; a replay goes on behind the last cursor
  const ctx = { channel: 'context', contentType: 'x' };
  await agent.appendEntries('d', { entries: [{ ...ctx, content: ['\n', 1] }, say('two')] });
  const full = await frames(s, '/v1/events?after=start&kinds=entry&entry_channels=context&detail=full', 1, agent.headers);
  assert.deepEqual([full[0].data.entry_channel, full[0].data.content, typeof full[0].cursor], ['context', ['\n', 1], 'string']);
  const roles = await frames(s, '/v1/events?after=start&kinds=entry&entry_roles=USER', 1, agent.headers);
  assert.equal(roles[0].data.entry_role, 'USER');
  assert.equal((await fetch(`${s.url}/v1/events?after=odd`, { headers: bob.headers })).status, 400);
});

test('a server that is killed between upload and append', async () => {
  const db = scratch('memory.db');
  const first = await begin({ db });
  const a = await first.alice.appendEntry('c', say('A'));
  const file = await first.alice.upload('kept');
  // and in the middle of appends that refer to it
  const many = Array.from({ length: 20 }, (_, i) =>
    first.alice.appendEntry(`f${i}`, say('x', { ...at('c', a), content: [{ text: 'x', attachments: [{ attachmentId: file.id }] }] })).then(() => i, () => null));
  await eventually(() => first.alice.getConversation('f0'));
  first.s.child.kill('SIGKILL');
  const done = (await Promise.all(many)).filter((i) => i !== null);
  await first.s.stop().catch(() => {});
  const { s, alice } = await begin({ db });
  const bytes = async (id) => (await fetch(`${s.url}/v1/attachments/${id}`, { headers: alice.headers })).text();
  for (let i = 0; i < 20; i++) {
    const c = await alice.getConversation(`f${i}`).catch((e) => e);
    if (c instanceof MemoryError) { // all of it or nothing
      assert.equal(c.status, 404);
      assert.ok(!done.includes(i), `f${i} was acknowledged`);
      continue;
    }
    const [e] = (await alice.listEntries(`f${i}`)).data;
    assert.equal(await bytes(e.content[0].attachments[0].attachmentId), 'kept');
  }
  const again = await alice.appendEntry('late', say('x', { ...at('c', a), content: [{ text: 'x', attachments: [{ attachmentId: file.id }] }] }));
  assert.equal(await bytes(again.content[0].attachments[0].attachmentId), 'kept');
  await s.stop();
  const fsck = await ramet(['fsck', '--db', db]);
  assert.equal(fsck.code, 0, fsck.out + fsck.err);
});

test('a user named twice by a trusted client is refused; by another, not looked at', async () => {
  const s = await start({ args: ['--trusted-clients', 'app-*'] });
  const ask = (headers) => new Promise((done, fail) =>
    http.get(`${s.url}/v1/conversations`, { headers }, (r) => r.resume().on('end', () => done(r.statusCode))).on('error', fail));
  const twice = { 'X-User-ID': ['carol', 'dave'] };
  assert.equal(await ask({ 'X-API-Key': 'app-1', 'X-User-ID': 'carol' }), 200);
  assert.equal(await ask({ 'X-API-Key': 'app-1', ...twice }), 400);
  assert.equal(await ask({ 'X-API-Key': 'app-1', 'X-User-ID': ['carol', ''] }), 200, 'only what is not empty counts');
  assert.equal(await ask({ Authorization: 'Bearer alice', ...twice }), 200);
});

test('the page of the documents: what it shows is run', async () => {
  const text = readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'memory.md'), 'utf8');
  const [setup, curl] = [...text.matchAll(/```sh\n([^]*?)```/g)].map((m) => m[1]);
  const { s, alice } = await begin();
  const entry = (await alice.appendEntry('trip', say('By bus?'))).id, file = (await alice.upload('a map')).id;
  const made = await run('bash', ['-c', curl], { env: { base: s.url, entry, file } });
  const e = JSON.parse(made.out);
  assert.deepEqual([e.conversationId, e.content[0].attachments[0].attachmentId], ['by-train', file], made.out);
  // with tokens: a trusted client acts for a user
  const [serve, token] = setup.trim().split('\n').map((line) => line.match(/'[^']*'|\S+/g).map((w) => w.replaceAll("'", '')));
  const db = scratch('tokens.db');
  const args = serve.slice(2).filter((w, i, all) => w !== '--db' && all[i - 1] !== '--db');
  const made2 = await ramet([...token.slice(1), '--db', db]);
  assert.equal(made2.code, 0, made2.err);
  const key = /ramet_\S+|rt_\S+|[A-Za-z0-9_-]{30,}/.exec(made2.out)[0];
  const t = await start({ args, db });
  const by = new MemoryClient(t.url, { user: key });
  assert.equal((await by.appendEntry('mine', say('x', { channel: 'history' }))).userId, 'alice');
  const bob = new MemoryClient(t.url, { user: key });
  bob.headers['X-User-ID'] = 'bob';
  const his = await bob.appendEntry('his', say('x'));
  assert.deepEqual([his.userId, his.clientId], ['bob', 'chat-backend']);
  await refused(by.getConversation('his'), 403, 'forbidden');
});

// SCALE=full: as many as the contract's clients may have; else a tenth.
const tenth = process.env.SCALE === 'full' ? 1 : 10;

test('many members, forks of one root and forks of forks: pages stay right', async () => {
  const { alice } = await begin();
  const members = 1000 / tenth, wide = 10000 / tenth, deep = 1000 / tenth;
  const inTurns = async (n, run, lanes = 16) => {
    let next = 0;
    await Promise.all(Array.from({ length: lanes }, async () => { while (next < n) await run(next++); }));
  };
  const a = await alice.appendEntry('root', say('A'));
  await inTurns(members, (i) => alice.share('root', `user-${i}`, 'reader'));
  const seen = (await all((q) => alice.listMemberships('root', q), { limit: 73 })).map((m) => m.userId);
  assert.deepEqual([seen.length, new Set(seen).size, seen[0]], [members + 1, members + 1, 'alice']);

  await inTurns(wide, (i) => alice.appendEntry(`wide-${i}`, say(`w${i}`, at('root', a))));
  const listed = (await all((q) => alice.listConversations(q), { mode: 'all', limit: 997 })).map((x) => x.id);
  assert.deepEqual([listed.length, new Set(listed).size, listed.at(-1)], [wide + 1, wide + 1, 'root']);
  const nav = await alice.listForks('root');
  assert.deepEqual([nav.conversationIds.length, nav.forkPoints.length, nav.forkPoints[0].options.length], [wide + 1, 1, wide + 1]);
  const pages = await all((q) => alice.listEntries('wide-3', { ...q, forks: 'all' }), { limit: 1000 });
  assert.deepEqual([pages.length, new Set(pages.map((e) => e.id)).size], [wide + 1, wide + 1]);
  assert.deepEqual(pages.map((e) => e.createdAt), pages.map((e) => e.createdAt).sort());

  let parent = 'chain', anchor = await alice.appendEntry('chain', say('top'));
  for (let i = 0; i < deep; i++) {
    await alice.appendEntry(`deep-${i}`, say(`d${i}`, at(parent, anchor)));
    anchor = await alice.appendEntry(`deep-${i}`, say(`e${i}`));
    parent = `deep-${i}`;
  }
  const want = [...Array.from({ length: deep }, (_, i) => `d${i}`), `e${deep - 1}`];
  assert.deepEqual((await all((q) => alice.listEntries(parent, q), { limit: 37 })).map((e) => e.content[0].text), want);
  assert.deepEqual(words(await alice.listEntries(parent, { tail: true, limit: 3 })), want.slice(-3));
  const way = await alice.listForks(parent);
  assert.deepEqual([way.conversationIds.length, way.forkPoints.length], [deep + 1, deep]);
}, { seconds: process.env.SCALE === 'full' ? 600 : 60 });

await finish();
