// SPDX-License-Identifier: Apache-2.0
//
// agentpod.mjs: AgentPod's branching API as a client of its plan uses it (help/agentpod.mts, whose types
// are checked here): every route, what the first implementation had wrong, who may see what, versions of
// messages, events, the two tables as views, and sessions of the other faces.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test, finish, start, call, must, ramet, run, scratch, newSession, append, assert, enc, sse, onPostgres, eventually } from './lib.mjs';
import { editor } from './help/acp.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const BOX = '/api/v2/sandboxes';

// ------------------------------------------------------------------ the typed client

const client = join(here, 'help/agentpod.mts'), web = join(here, '../../web');

let typed;
/** The client, its types taken off. */
async function types() {
  if (typed) return typed;
  const { default: ts } = await import(join(web, 'node_modules/typescript/lib/typescript.js'));
  const out = scratch('agentpod.mjs');
  writeFileSync(out, ts.transpileModule(readFileSync(client, 'utf8'), { compilerOptions: { target: 'ES2022', module: 'ES2022' } }).outputText);
  return (typed = await import(out));
}

test('the types of the client are right', async () => {
  const project = scratch('tsconfig.json');
  writeFileSync(project, JSON.stringify({ files: [client], compilerOptions: {
    noEmit: true, strict: true, noUncheckedIndexedAccess: true, noUnusedLocals: true, noUnusedParameters: true,
    target: 'ES2022', module: 'ES2022', moduleResolution: 'bundler', lib: ['ES2022', 'DOM'], types: [],
  } }));
  const r = await run(join(here, '../../tools/web'), ['run', 'node_modules/.bin/tsc', '-p', project]);
  assert.equal(r.code, 0, r.out + r.err);
});

/** A client of a user in a sandbox. */
async function pod(s, user = 'ann', sandbox = 'default') {
  const { AgentPod } = await types();
  return new AgentPod(s.url, sandbox, { 'X-User-Id': user });
}
const as = (user) => ({ user });
const ann = as('ann'), bob = as('bob');
const path = (...parts) => [BOX, ...parts.map(enc)].join('/');
const refused = async (promise, status, error, details) => {
  const e = await promise.then(() => null, (x) => x);
  assert.ok(e, `it should have been refused with ${status}`);
  assert.equal(e.status, status, e.message);
  if (error) assert.equal(e.body.error, error);
  if (details) assert.match(e.body.details, details);
  assert.deepEqual(Object.keys(e.body).filter((k) => !['error', 'details'].includes(k)), []);
};
const talk = [['user', 'one'], ['assistant', 'two'], ['user', 'three'], ['assistant', 'four']];
/** A session of ann's with m1 … m4. */
async function chat(s, id, more = {}, who = ann) {
  await newSession(s, { id, ...more }, who);
  await append(s, id, talk.map(([role, text], i) => ({ id: `m${i + 1}`, role, text })), who);
  return id;
}
const entries = async (s, id, who = ann) => (await must(s, 'GET', `sessions/${enc(id)}/entries?limit=1000`, who)).entries;
const texts = async (s, id, who) => (await entries(s, id, who)).map((e) => e.text);
const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Rows of a query on the store itself. */
function rows(db, sql) {
  if (!onPostgres) {
    const out = execFileSync('sqlite3', ['-json', db, sql], { encoding: 'utf8' });
    return out.trim() ? JSON.parse(out) : [];
  }
  const url = db.replace(/([?&])(pgbouncer|partitions)=\d+/g, '$1');
  const out = execFileSync('psql', ['-qAt', '-d', url, '-c', `SELECT row_to_json(r) FROM (${sql}) r`], { encoding: 'utf8' });
  return out.split('\n').filter(Boolean).map((l) => JSON.parse(l));
}
const tagsOf = (v) => (Array.isArray(v) ? v : JSON.parse(v));

// ------------------------------------------------------------------ every row of the table

test('each route answers in the shapes of the plan', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root', { title: 'Trip' });
  const fork = await c.createSessionFork('root', {
    messageId: 'm2', messageRole: 'assistant', reason: 'by train', tags: [' Fast ', 'fast', 'Rail'],
    agentConfig: { provider: 'acme', model: 'm-1', agent: 'echo', temperature: 0.10 },
  });
  assert.match(fork.createdAt, iso);
  assert.deepEqual({ ...fork, id: 'x', createdAt: 'y' }, {
    id: 'x', parentSessionId: 'root', forkedAtMessageId: 'm2', forkType: 'explicit', createdAt: 'y', createdBy: 'user',
    tags: ['fast', 'rail'],
    metadata: { reason: 'by train', agentConfig: { provider: 'acme', model: 'm-1', agent: 'echo', temperature: 0.1 },
                originalTitle: 'Fork of Trip' },
  });
  const raw = await call(s, 'POST', path('default', 'sessions', 'root', 'fork'), { ...ann, json: {} });
  assert.equal(raw.status, 201);
  assert.deepEqual(Object.keys(raw.body), ['id', 'parentSessionId', 'forkedAtMessageId', 'forkType', 'createdAt', 'createdBy', 'tags', 'metadata']);
  // It is applied, too: the fork has that agent.
  const made = await must(s, 'GET', `sessions/${fork.id}`, ann);
  assert.deepEqual([made.agent.name, made.agent.provider, made.agent.model], ['echo', 'acme', 'm-1']);
  const deep = await c.createSessionFork(fork.id);
  const list = await c.listSessionForks();
  assert.deepEqual(list.forks.map((f) => f.id), [deep.id, raw.body.id, fork.id], 'newest first');
  assert.deepEqual(list.forks[2], fork);
  assert.deepEqual(list.rootSessions, ['root']);
  assert.deepEqual(await c.getSessionAncestry(deep.id), { ancestry: ['root', fork.id, deep.id] });
  assert.deepEqual(await c.getSessionAncestry('root'), { ancestry: ['root'] });
  assert.deepEqual((await c.getSessionChildren('root')).children.map((f) => f.id), [raw.body.id, fork.id]);
  assert.deepEqual((await c.getSessionChildren('root')).children[1], fork);
  assert.deepEqual(await c.getSessionChildren(deep.id), { children: [] });
  assert.deepEqual(await c.getSessionForkInfo(fork.id), { fork, ancestry: ['root', fork.id], childCount: 1, depth: 1 });
  assert.deepEqual(await c.getSessionBranches('root'), { branches: [], currentBranch: null, currentBranchId: null });
  assert.deepEqual(await c.addSessionTag(fork.id, 'Night Train'), { success: true, tags: ['fast', 'night train', 'rail'] });
  assert.deepEqual(await c.removeSessionTag(fork.id, 'NIGHT train '), { success: true, tags: ['fast', 'rail'] });
  assert.deepEqual(await c.removeSessionTag(fork.id, 'was never there'), { success: true, tags: ['fast', 'rail'] });
  assert.deepEqual(await c.setSessionTags(fork.id, ['B', 'a']), { success: true, tags: ['a', 'b'] });
  assert.deepEqual(await c.setSessionTags(fork.id, []), { success: true, tags: [] });
  assert.deepEqual(await c.getForkStatistics(), {
    totalSessions: 4, rootSessions: 1, forkedSessions: 3, maxDepth: 2,
    byType: { explicit: 3, autoEdit: 0, autoRegenerate: 0 }, topTags: [],
  });
  const { tree } = new (await types()).ForkStore();
  assert.equal(typeof tree, 'function');
});

test('the fork point follows the role', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  await append(s, 'root', { id: 'm5', role: 'tool', text: 'five' }, ann);
  const cut = async (input) => texts(s, (await c.createSessionFork('root', input)).id);
  assert.deepEqual(await cut({ messageId: 'm3', messageRole: 'user' }), ['one', 'two'], 'before what the user said');
  assert.deepEqual(await cut({ messageId: 'm2', messageRole: 'assistant' }), ['one', 'two'], 'after an answer');
  assert.deepEqual(await cut({ messageId: 'm3' }), ['one', 'two'], 'the role of the message itself');
  assert.deepEqual(await cut({ messageId: 'm2' }), ['one', 'two']);
  assert.deepEqual(await cut({ messageId: 'm1' }), [], 'before the first one');
  assert.deepEqual(await cut({ messageId: 'm5' }), ['one', 'two', 'three', 'four', 'five']);
  assert.deepEqual(await cut({}), ['one', 'two', 'three', 'four', 'five'], 'all of it');
  const f = await c.createSessionFork('root', { messageId: 'm3' });
  assert.equal(f.forkedAtMessageId, 'm3', 'the one that was clicked');
  assert.equal((await c.createSessionFork('root')).forkedAtMessageId, 'm5', 'the end');
});

test('a fork that is refused leaves nothing', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const before = await c.getForkStatistics();
  await refused(c.createSessionFork('root', { messageId: 'nowhere' }), 404, 'Message not found', /nowhere/);
  await refused(c.createSessionFork('root', { tags: ['x'.repeat(51)] }), 400, 'Invalid request', /51|50/);
  await refused(c.createSessionFork('root', { tags: ['  '] }), 400);
  await refused(c.createSessionFork('root', { tags: Array.from({ length: 65 }, (_, i) => `t${i}`) }), 400);
  await refused(c.createSessionFork('root', { reason: 'x'.repeat(2001) }), 413);
  await refused(c.createSessionFork('root', { agentConfig: { model: 7 } }), 400, undefined, /agentConfig.model/);
  assert.deepEqual(await c.getForkStatistics(), before);
  // With a key it is done once.
  const once = () => call(s, 'POST', path('default', 'sessions', 'root', 'fork'),
                          { ...ann, json: { messageId: 'm2' }, headers: { 'Idempotency-Key': 'k1' } });
  const [a, b] = [await once(), await once()];
  assert.equal(a.text, b.text);
  assert.equal(b.headers.get('idempotency-replayed'), 'true');
  assert.equal((await c.listSessionForks()).forks.length, 1);
});

test('types of forks are recorded', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const edit = await c.createSessionFork('root', { messageId: 'm3', forkType: 'auto-edit' });
  assert.deepEqual([edit.forkType, edit.createdBy], ['auto-edit', 'system']);
  await must(s, 'POST', 'sessions/root/fork', { ...ann, json: { type: 'auto-regenerate', created_by: { kind: 'system', id: 'x' } } });
  await c.createSessionFork('root');
  const n = await c.getForkStatistics();
  assert.deepEqual(n.byType, { explicit: 1, autoEdit: 1, autoRegenerate: 1 });
  assert.deepEqual([n.totalSessions, n.forkedSessions, n.rootSessions], [4, 3, 1]);
});

// ------------------------------------------------------------------ tags

test('tags: of roots, with odd characters, together', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  assert.deepEqual((await c.addSessionTag('root', 'Keep')).tags, ['keep'], 'a root can be tagged');
  assert.deepEqual((await c.getSessionForkInfo('root')).fork.tags, ['keep']);
  assert.equal((await c.getSessionForkInfo('root')).fork.parentSessionId, null);
  const odd = ['a/b', '100%', 'ü😀', 'two words', '?x=1&y#z', '..', '%2f', '"quoted"', "it's", '{a,b}', '\\n', 'x'.repeat(50), '😀'.repeat(50)];
  for (const tag of odd) assert.ok((await c.addSessionTag('root', tag)).tags.includes(tag.toLowerCase()), tag);
  assert.deepEqual(new Set((await c.getSessionForkInfo('root')).fork.tags), new Set(['keep', ...odd]));
  assert.deepEqual(new Set(tagsOf(rows(s.db, `SELECT tags FROM session_forks WHERE id='root'`)[0].tags)), new Set(['keep', ...odd]));
  assert.equal((await c.getForkStatistics()).topTags.length, 10, 'the ten most used');
  // A path that ends with .. is another one before it is sent.
  for (const tag of odd.filter((t) => t !== '..')) assert.ok(!(await c.removeSessionTag('root', tag)).tags.includes(tag), tag);
  assert.deepEqual((await c.setSessionTags('root', ['keep'])).tags, ['keep']);
  for (const bad of ['', '   ', 'x'.repeat(51), 'a\u0000b']) await refused(c.addSessionTag('root', bad), 400, 'Invalid request');
  await refused(c.setSessionTags('root', ['ok', '']), 400);
  await refused(c.setSessionTags('root', Array.from({ length: 65 }, (_, i) => `t${i}`)), 400);
  assert.deepEqual((await c.getSessionForkInfo('root')).fork.tags, ['keep'], 'nothing of what was refused');
  // No update is lost.
  await Promise.all(Array.from({ length: 20 }, (_, i) => c.addSessionTag('root', `p${i}`)));
  assert.equal((await c.getSessionForkInfo('root')).fork.tags.length, 21);
  const f = await c.createSessionFork('root', { tags: ['p1', 'p2'] });
  await c.createSessionFork('root', { tags: ['p2'] });
  assert.deepEqual((await c.getForkStatistics()).topTags.slice(0, 3), [{ tag: 'p2', count: 3 }, { tag: 'p1', count: 2 }, { tag: 'keep', count: 1 }]);
  assert.deepEqual(f.tags, ['p1', 'p2']);
});

// ------------------------------------------------------------------ who may see what

/** Every route of a session, with a body that would do. */
const sessionRoutes = (id) => [
  ['POST', 'fork', {}], ['GET', 'ancestry'], ['GET', 'children'], ['GET', 'fork-info'], ['GET', 'branches'],
  ['POST', 'branches/switch', { messageId: 'm1', branchNumber: 1 }], ['POST', 'messages/sync', { messages: [] }],
  ['POST', 'tags', { tag: 'x' }], ['PUT', 'tags', { tags: ['x'] }], ['DELETE', 'tags/x'], ['DELETE', 'tree'],
  ['GET', `compare/${enc(id)}`],
];
const sandboxRoutes = [['GET', 'forks'], ['GET', 'forks/statistics'], ['GET', 'events']];
async function allRefused(s, user, sandbox, session, error) {
  for (const [method, rest, json] of sessionRoutes(session)) {
    const r = await call(s, method, `${BOX}/${enc(sandbox)}/sessions/${enc(session)}/${rest}`, { user, json });
    assert.equal(r.status, 404, `${method} ${rest}: ${r.status} ${r.text}`);
    assert.equal(r.body.error, rest === 'fork-info' && error === 'Session not found' ? 'Fork info not found' : error, `${method} ${rest}`);
  }
}

test('foreign users, foreign sandboxes, unknown sessions: 404 on each route, and nothing changes', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  await must(s, 'POST', 'sandboxes', { ...ann, json: { id: 'work' } });
  await must(s, 'POST', 'sandboxes', { ...bob, json: { id: 'his' } });
  await chat(s, 'job', { sandbox: 'work' });
  const before = [await c.listSessionForks(), await entries(s, 'root'), await entries(s, 'job')];
  await allRefused(s, 'bob', 'default', 'root', 'Session not found'); // another's session in one's own default
  await allRefused(s, 'bob', 'work', 'job', 'Sandbox not found'); // another's sandbox
  await allRefused(s, 'ann', 'his', 'root', 'Sandbox not found');
  await allRefused(s, 'ann', 'work', 'root', 'Session not found'); // one's own session, another sandbox
  await allRefused(s, 'ann', 'default', 'job', 'Session not found');
  await allRefused(s, 'ann', 'default', 'nowhere', 'Session not found');
  await allRefused(s, 'ann', 'nowhere', 'root', 'Sandbox not found');
  for (const [method, rest] of sandboxRoutes)
    for (const [user, sandbox] of [['bob', 'work'], ['ann', 'nowhere'], ['ann', 'his']]) {
      const r = await call(s, method, `${BOX}/${sandbox}/${rest}`, { user });
      assert.deepEqual([r.status, r.body.error], [404, 'Sandbox not found'], rest);
    }
  assert.deepEqual([await c.listSessionForks(), await entries(s, 'root'), await entries(s, 'job')], before);
  await refused((await pod(s, 'ann')).compareSessions('root', 'job'), 404, 'Session not found');
  // Each has his own default.
  assert.deepEqual((await (await pod(s, 'bob')).listSessionForks()), { forks: [], rootSessions: [] });
  assert.deepEqual((await c.listSessionForks()).rootSessions, ['root']);
  const w = await pod(s, 'ann', 'work');
  assert.deepEqual((await w.listSessionForks()).rootSessions, ['job']);
  const f = await w.createSessionFork('job');
  assert.deepEqual((await w.listSessionForks()).forks.map((x) => x.id), [f.id], 'a fork stays in its parent\'s sandbox');
  assert.equal((await c.getForkStatistics()).totalSessions, 1);
});

test('members, private forks and deleted parents', async () => {
  const s = await start(), c = await pod(s), b = await pod(s, 'bob');
  await chat(s, 'root');
  await must(s, 'PUT', 'sessions/root/members/bob', { ...ann, json: { level: 'reader' } });
  assert.deepEqual((await b.listSessionForks()).rootSessions, ['root'], 'a member has it in his default, too');
  await refused(b.createSessionFork('root'), 403, 'Forbidden');
  await refused(b.addSessionTag('root', 'x'), 403, 'Forbidden');
  await refused(b.deleteForkTree('root'), 403, 'Forbidden');
  await refused(b.setMessages('root', []), 403, 'Forbidden');
  const mine = await must(s, 'POST', 'sessions/root/fork', { ...bob, json: { visibility: 'private', id: 'secret' } });
  await must(s, 'PUT', 'sessions/root/members/bob', { ...ann, json: { level: 'writer' } });
  const below = await b.createSessionFork(mine.id);
  assert.deepEqual((await c.listSessionForks()).forks.map((f) => [f.id, f.parentSessionId]), [[below.id, null]], 'a private one is not named');
  assert.equal((await c.getForkStatistics()).totalSessions, 2);
  assert.deepEqual((await c.getSessionAncestry(below.id)).ancestry, ['root', below.id]);
  assert.deepEqual((await b.getSessionAncestry(below.id)).ancestry, ['root', 'secret', below.id]);
  assert.deepEqual(new Set((await c.deleteForkTree('root', true)).deleted), new Set(['root', below.id]), 'neither taken nor named');
  // A session that is gone: its forks stay, and know where they came from.
  await must(s, 'DELETE', 'sessions/root', ann);
  const list = await b.listSessionForks();
  assert.deepEqual(list.rootSessions, []);
  assert.deepEqual(list.forks.map((f) => [f.id, f.parentSessionId]), [[below.id, 'secret'], ['secret', 'root']]);
});

// ------------------------------------------------------------------ branches

const shape = (r) => r.branches.map((b) => [b.branchId, b.isCurrent, b.parentBranchId, b.branchType]);

test('branches: edits, regenerations, switches', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  await must(s, 'POST', 'sessions/root/entries/m3/edit', { ...ann, json: { entry: { id: 'e3', text: 'three again' } } });
  let r = await c.getSessionBranches('root');
  assert.deepEqual(shape(r), [['m3-branch-1', false, null, 'explicit'], ['m3-branch-2', true, null, 'auto-edit']]);
  assert.deepEqual(Object.keys(r.branches[0]), ['sessionId', 'branchId', 'messageId', 'branchNumber', 'branchCount', 'parentBranchId',
                                                'isCurrent', 'branchType', 'entryId', 'createdAt']);
  assert.deepEqual(r.branches.map((b) => [b.messageId, b.branchNumber, b.branchCount, b.entryId]), [['m3', 1, 2, 'm3'], ['m3', 2, 2, 'e3']]);
  assert.equal(r.currentBranchId, 'm3-branch-2');
  assert.deepEqual(r.currentBranch, r.branches[1]);
  await append(s, 'root', { id: 'a4', role: 'assistant', text: 'four again' }, ann);
  await must(s, 'POST', 'sessions/root/entries/a4/regenerate', { ...ann, json: { entries: [{ id: 'a5', role: 'assistant', text: 'and again' }] } });
  r = await c.getSessionBranches('root');
  assert.deepEqual(shape(r).slice(2), [['a4-branch-1', false, 'm3-branch-2', 'auto-edit'], ['a4-branch-2', true, 'm3-branch-2', 'auto-regenerate']]);
  assert.equal(r.currentBranchId, 'a4-branch-2', 'the one furthest down');
  // Back to the original, and a fork there: all versions carry its id.
  r = await c.switchBranch('root', { messageId: 'm3', branchNumber: 1 });
  assert.equal(r.success, true);
  assert.deepEqual(await texts(s, 'root'), ['one', 'two', 'three', 'four']);
  assert.equal(r.currentBranchId, 'm3-branch-1');
  assert.deepEqual(r.branches.filter((b) => b.isCurrent).map((b) => b.branchId), ['m3-branch-1']);
  r = await c.switchBranch('root', { messageId: 'a4', branchNumber: 1 });
  assert.deepEqual(await texts(s, 'root'), ['one', 'two', 'three again', 'four again']);
  const f = await c.createSessionFork('root', { messageId: 'm3' });
  assert.deepEqual(await texts(s, f.id), ['one', 'two'], 'm3 means its version that is shown');
  const moves = async () => (await must(s, 'GET', 'sessions/root/head-log', ann)).moves.length;
  const n = await moves();
  await c.switchBranch('root', { messageId: 'a4', branchNumber: 1 });
  assert.equal(await moves(), n, 'the one that is shown already: nothing moves');
  await refused(c.switchBranch('root', { messageId: 'm3', branchNumber: 3 }), 404, 'Branch not found');
  await refused(c.switchBranch('root', { messageId: 'm1', branchNumber: 1 }), 404, 'Branch not found');
  // A fork that edits what it inherited has both, and its parent is as it was.
  const own = await c.createSessionFork('root');
  await must(s, 'POST', `sessions/${own.id}/entries/m1/edit`, { ...ann, json: { entry: { text: 'uno' } } });
  assert.deepEqual((await c.getSessionBranches(own.id)).branches.map((b) => [b.branchId, b.isCurrent]), [['m1-branch-1', false], ['m1-branch-2', true]]);
  assert.equal((await c.getSessionBranches('root')).branches.length, 4);
  await viewsAgree(s, c, ['root', own.id, f.id]);
  // What was pruned is a version no more, in the API and in the view.
  for (const id of ['root', own.id]) {
    const { head } = await must(s, 'GET', `sessions/${id}`, ann);
    await must(s, 'POST', `sessions/${id}/branches/${head.branch_id}/prune`, { ...ann, json: { others: true } });
    await viewsAgree(s, c, ['root', own.id, f.id]);
  }
  assert.deepEqual((await c.getSessionBranches(own.id)).branches, []);
});

/** The view has what the API tells, of each session, in the plan's columns. */
async function viewsAgree(s, c, ids) {
  for (const id of ids) {
    const want = (await c.getSessionBranches(id)).branches;
    const have = rows(s.db, `SELECT * FROM message_branches WHERE session_id='${id}'`);
    const pick = (b) => [b.branchId, b.messageId, b.branchNumber, b.parentBranchId, b.isCurrent];
    const sort = (v) => v.map(String).sort();
    assert.deepEqual(sort(have.map((r) => [r.branch_id, r.message_id, r.branch_number, r.parent_branch_id, Boolean(r.is_current)])), sort(want.map(pick)), id);
    for (const r of have)
      assert.deepEqual(Object.keys(r), ['id', 'session_id', 'branch_id', 'message_id', 'branch_number', 'parent_branch_id', 'is_current', 'created_at', 'sandbox_id']);
  }
  const all = rows(s.db, 'SELECT id,session_id,branch_id FROM message_branches');
  assert.equal(new Set(all.map((r) => r.id)).size, all.length, 'ids are unique');
  assert.equal(new Set(all.map((r) => `${r.session_id} ${r.branch_id}`)).size, all.length);
}

test('messages/sync: the first difference, the head, the branch', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const list = talk.map(([role, text], i) => ({ id: `m${i + 1}`, role, text }));
  const none = await c.setMessages('root', list);
  assert.deepEqual([none.success, none.divergenceIndex, none.moved, none.added, none.messageCount, none.branches], [true, null, false, 0, 4, []]);
  const longer = await c.setMessages('root', [...list, { id: 'm5', role: 'user', text: 'five' }]);
  assert.deepEqual([longer.divergenceIndex, longer.moved, longer.added, longer.branches.length], [4, false, 1, 0], 'more of it moves nothing');
  // The same id with another text is another version of it.
  const edited = await c.setMessages('root', [list[0], list[1], { id: 'm3', role: 'user', text: 'THREE' }]);
  assert.deepEqual([edited.divergenceIndex, edited.moved, edited.added], [2, true, 1]);
  assert.deepEqual(shape(edited), [['m3-branch-1', false, null, 'explicit'], ['m3-branch-2', true, null, 'auto-edit']]);
  assert.equal(edited.currentBranchId, 'm3-branch-2');
  assert.deepEqual(await texts(s, 'root'), ['one', 'two', 'THREE']);
  const anew = await c.setMessages('root', [list[0], { id: 'n2', role: 'assistant', text: 'zwei' }]);
  assert.deepEqual(anew.branches.filter((b) => b.messageId === 'm2').map((b) => [b.branchNumber, b.branchType]), [[1, 'explicit'], [2, 'auto-regenerate']]);
  // All versions carry the original's id: the list that a client has may name them so.
  const known = await c.setMessages('root', [list[0], { id: 'm2', role: 'assistant', text: 'zwei' }]);
  assert.deepEqual([known.divergenceIndex, known.moved, known.added], [null, false, 0]);
  const back = await c.switchBranch('root', { messageId: 'm3', branchNumber: 1 });
  assert.deepEqual(await texts(s, 'root'), ['one', 'two', 'three', 'four', 'five']);
  assert.equal(back.branches.length, 4);
  const shorter = await c.setMessages('root', list.slice(0, 2));
  assert.deepEqual([shorter.divergenceIndex, shorter.moved, shorter.added], [2, true, 0], 'a prefix is a rewind');
  assert.deepEqual(await texts(s, 'root'), ['one', 'two']);
  const empty = await c.setMessages('root', []);
  assert.deepEqual([empty.divergenceIndex, empty.moved, await texts(s, 'root')], [0, true, []]);
  await must(s, 'POST', 'sessions/root/undo', { ...ann, json: {} });
  assert.deepEqual(await texts(s, 'root'), ['one', 'two']);
  await refused(c.setMessages('root', [list[0], list[1], list[2], list[2]]), 400);
  assert.deepEqual(await texts(s, 'root'), ['one', 'two']);
  await viewsAgree(s, c, ['root']);
});

test('an id on several branches is numbered together', async () => {
  const s = await start(), c = await pod(s);
  await newSession(s, { id: 'r' }, ann);
  const m = (id, text, role = 'user') => ({ id, role, text });
  await c.setMessages('r', [m('a', '1'), m('b', '1')]);
  await c.setMessages('r', [m('a', '1'), m('b', '2')]);
  await c.setMessages('r', [m('a', '2'), m('b', '3')]);
  await c.setMessages('r', [m('a', '2'), m('b', '4')]);
  const r = await c.getSessionBranches('r');
  assert.deepEqual(r.branches.map((b) => b.branchId).sort(), ['a-branch-1', 'a-branch-2', 'b-branch-1', 'b-branch-2', 'b-branch-3', 'b-branch-4']);
  for (let i = 1; i <= 4; i++) {
    await c.switchBranch('r', { messageId: 'b', branchNumber: i });
    assert.equal((await texts(s, 'r'))[1], String(i));
  }
  await viewsAgree(s, c, ['r']);
});

test('compare', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const f = await c.createSessionFork('root', { messageId: 'm2' });
  await append(s, f.id, ['x', 'y', 'z'], ann);
  assert.deepEqual(await c.compareSessions('root', f.id), {
    sessionA: 'root', sessionB: f.id, divergenceIndex: 2, commonMessageCount: 2, uniqueToA: 2, uniqueToB: 3,
  });
  const same = await c.createSessionFork('root');
  assert.deepEqual(await c.compareSessions(same.id, 'root'), {
    sessionA: same.id, sessionB: 'root', divergenceIndex: 4, commonMessageCount: 4, uniqueToA: 0, uniqueToB: 0,
  });
  await chat(s, 'other');
  assert.equal((await c.compareSessions('root', 'root')).uniqueToA, 0);
  await append(s, 'other', 'more', ann);
  await refused(c.compareSessions('root', 'nowhere'), 404, 'Session not found');
});

test('merge, as natively', async () => {
  const s = await start();
  await chat(s, 'a');
  const fork = await must(s, 'POST', path('default', 'sessions', 'a', 'fork'), { json: { reason: 'aside' }, ...ann });
  await append(s, fork.id, [{ id: 'm5', role: 'user', text: 'five' }], ann);
  const merge = (json, who = ann) => call(s, 'POST', path('default', 'sessions', 'a', 'merge'), { json: { from: fork.id, ...json }, ...who });
  const show = await merge({ mode: 'splice', dry_run: true });
  assert.deepEqual([show.status, show.body.count, show.body.entries[0].text], [200, 1, 'five'], show.text);
  const done = await merge({ mode: 'fast_forward' });
  assert.deepEqual([done.status, done.body.id], [200, 'a'], done.text);
  assert.equal((await must(s, 'GET', '/ramet/v1/sessions/a', ann)).head.entry_id, 'm5');
  const info = await must(s, 'GET', path('default', 'sessions', fork.id, 'fork-info'), ann);
  assert.equal(info.fork.metadata.mergedInto, 'a');
  const again = await merge({ mode: 'splice' });
  assert.deepEqual([again.status, Object.keys(again.body).sort()], [409, ['details', 'error']]);
  assert.equal((await merge({ mode: 'splice' }, bob)).status, 404);
});

test('the tree is deleted, after a dry run, and can be brought back', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const a = await c.createSessionFork('root'), b = await c.createSessionFork(a.id), d = await c.createSessionFork(b.id);
  const other = await c.createSessionFork('root');
  const dry = await c.deleteForkTree(a.id, true);
  assert.deepEqual([new Set(dry.deleted), dry.dryRun], [new Set([a.id, b.id, d.id]), true]);
  assert.equal((await c.getForkStatistics()).forkedSessions, 4);
  const gone = await c.deleteForkTree(a.id);
  assert.deepEqual([new Set(gone.deleted), gone.dryRun], [new Set([a.id, b.id, d.id]), false]);
  assert.deepEqual((await c.listSessionForks()).forks.map((f) => f.id), [other.id]);
  await refused(c.getSessionForkInfo(b.id), 404, 'Fork info not found');
  await refused(c.deleteForkTree(a.id), 404, 'Session not found');
  assert.equal(rows(s.db, `SELECT id FROM session_forks WHERE id='${b.id}'`).length, 0);
  await must(s, 'POST', `sessions/${a.id}/restore`, { ...ann, json: { tree: true } });
  assert.equal((await c.getForkStatistics()).forkedSessions, 4);
});

// ------------------------------------------------------------------ the views

test('session_forks has the plan\'s columns, and a report runs on it', async () => {
  const s = await start(), c = await pod(s), { ForkStore } = await types();
  await chat(s, 'root', { title: 'Trip' });
  await must(s, 'POST', 'sandboxes', { ...ann, json: { id: 'work' } });
  await chat(s, 'job', { sandbox: 'work' });
  const a = await c.createSessionFork('root', { messageId: 'm3', reason: 'why', tags: ['x', 'y'], agentConfig: { model: 'm', provider: 'p' } });
  const b = await c.createSessionFork(a.id, { forkType: 'auto-edit', messageId: 'm2' });
  await must(s, 'PATCH', `sessions/${b.id}`, { ...ann, json: { merged_into: 'root' } });
  const fork = (await c.getSessionForkInfo(b.id)).fork;
  assert.equal(fork.metadata.mergedInto, 'root');
  const all = rows(s.db, 'SELECT * FROM session_forks ORDER BY created_at,id');
  const columns = ['id', 'parent_session_id', 'forked_at_message_id', 'fork_type', 'created_at', 'created_by', 'tags', 'reason',
                   'agent_config', 'merged_into', 'sandbox_id', 'original_title'];
  for (const r of all) assert.deepEqual(Object.keys(r), columns);
  const by = Object.fromEntries(all.map((r) => [r.id, r]));
  assert.deepEqual(Object.keys(by).sort(), ['job', 'root', a.id, b.id].sort());
  const x = by[a.id], json = (v) => (typeof v === 'string' ? JSON.parse(v) : v);
  assert.deepEqual([x.parent_session_id, x.forked_at_message_id, x.fork_type, x.created_by, tagsOf(x.tags), x.reason, json(x.agent_config), x.merged_into, x.sandbox_id, x.original_title],
    ['root', 'm3', 'explicit', 'user', ['x', 'y'], 'why', { model: 'm', provider: 'p' }, null, 'default', 'Fork of Trip']);
  const at = Date.parse(`${x.created_at.replace(' ', 'T').slice(0, 23)}Z`);
  assert.ok(Math.abs(at - Date.parse(a.createdAt)) <= 1, 'to the millisecond, which SQLite rounds');
  assert.deepEqual([by[b.id].fork_type, by[b.id].created_by, by[b.id].merged_into, by[b.id].parent_session_id], ['auto-edit', 'system', 'root', a.id]);
  assert.deepEqual([by.root.parent_session_id, by.root.reason, by.root.agent_config, tagsOf(by.root.tags)], [null, null, null, []]);
  assert.equal(by.job.sandbox_id, 'work');
  // A report as it would be written for the plan's tables.
  const report = rows(s.db, `WITH RECURSIVE t(id,depth) AS (SELECT id,0 FROM session_forks WHERE parent_session_id IS NULL
    UNION ALL SELECT f.id,t.depth+1 FROM session_forks f JOIN t ON f.parent_session_id=t.id)
    SELECT depth,count(*) AS n FROM t GROUP BY depth ORDER BY depth`);
  assert.deepEqual(report.map((r) => [r.depth, r.n]), [[0, 2], [1, 1], [2, 1]]);
  const store = new ForkStore();
  store.load({ forks: [(await c.getSessionForkInfo('root')).fork, ...(await c.listSessionForks()).forks], rootSessions: [] });
  assert.deepEqual(store.tree()[0].children[0].children[0].path, ['root', a.id, b.id]);
});

// ------------------------------------------------------------------ events

test('a store is kept up to date by events alone', async () => {
  const s = await start(), c = await pod(s), { ForkStore } = await types();
  const live = await sse(s, '', { user: 'ann', path: path('default', 'events') });
  assert.equal(live.status, 200);
  await must(s, 'POST', 'sandboxes', { ...ann, json: { id: 'work' } });
  await chat(s, 'elsewhere', { sandbox: 'work' });
  await chat(s, 'hers', {}, bob);
  await chat(s, 'root', { title: 'Trip' });
  const f = await c.createSessionFork('root', { messageId: 'm3', tags: ['x'], agentConfig: { model: 'a\nb' } });
  const g = await c.createSessionFork(f.id);
  await c.addSessionTag(f.id, 'y');
  await c.setMessages('root', [{ id: 'm1', role: 'user', text: 'uno' }]);
  await must(s, 'POST', 'sessions/root/entries/m1/edit', { ...ann, json: { entry: { text: 'eins' } } });
  await c.switchBranch('root', { messageId: 'm1', branchNumber: 1 });
  await must(s, 'POST', 'sessions/root/rewind', { ...ann, json: { at: { entry_id: 'm1', side: 'before' } } });
  await append(s, 'root', { id: 'late', role: 'user', text: 'a fourth' }, ann); // a version by a plain append
  await c.deleteForkTree(g.id);
  const list = await c.listSessionForks(), branches = await c.getSessionBranches('root');
  const roots = await Promise.all(list.rootSessions.map(async (id) => (await c.getSessionForkInfo(id)).fork));
  const want = new Map([...roots, ...list.forks].map((x) => [x.id, x]));
  const check = (stream) => {
    const store = new ForkStore();
    for (const e of stream.events) {
      assert.equal(e.event, e.json.type);
      assert.equal(e.json.sandboxId, 'default');
      assert.ok(!['elsewhere', 'hers'].includes(e.json.sessionId), 'of another sandbox, or user');
      store.apply(e.json);
    }
    assert.deepEqual(store.sessions, want);
    assert.deepEqual(store.branches.get('root'), branches);
    assert.equal(branches.branches.length, 4);
    assert.deepEqual(store.info('root', 'm1'), { messageId: 'm1', branchNumber: 4, branchCount: 4, isOnActiveBranch: true });
  };
  await eventually(() => check(live));
  // An event tells how things stand when it is read: all may be known before the last one is there.
  const said = () => live.events.filter((e) => e.event === 'message.created').flatMap((e) => e.json.messages);
  await live.until(() => said().length >= 5);
  assert.deepEqual(said().slice(0, 5).map((m) => m.id), ['m1', 'm2', 'm3', 'm4', 'm1']);
  // Who comes back gets what he missed.
  const again = await sse(s, '', { user: 'ann', path: path('default', 'events'), lastEventId: 0 });
  await eventually(() => check(again));
  const work = await sse(s, '?after=0', { user: 'ann', path: path('work', 'events') });
  await work.until((x) => x.events.some((e) => e.event === 'message.created'));
  assert.deepEqual(new Set(work.events.map((e) => e.json.sessionId)), new Set(['elsewhere']));
  const bad = await sse(s, '', { user: 'ann', path: path('default', 'events'), lastEventId: 'x' });
  assert.equal(bad.status, 400);
  for (const x of [live, again, work]) x.close();
});

// ------------------------------------------------------------------ sandboxes

test('sandboxes: made, listed, removed, natively and by the command', async () => {
  const s = await start();
  const made = await call(s, 'POST', 'sandboxes', { ...ann, json: { id: 'proj/1 ü' } });
  assert.equal(made.status, 201);
  assert.deepEqual(Object.keys(made.body), ['id', 'owner', 'created_at']);
  for (const [user, id] of [['ann', 'proj/1 ü'], ['bob', 'proj/1 ü'], ['ann', 'default']]) {
    const r = await call(s, 'POST', 'sandboxes', { user, json: { id } });
    assert.deepEqual([r.status, r.body.code], [409, 'sandbox_exists']);
  }
  assert.equal((await call(s, 'POST', 'sandboxes', { ...ann, json: { id: '' } })).status, 400);
  const list = async (who) => (await must(s, 'GET', 'sandboxes', who)).sandboxes.map((b) => b.id);
  assert.deepEqual(await list(ann), ['default', 'proj/1 ü']);
  assert.deepEqual(await list(bob), ['default']);
  const foreign = await call(s, 'POST', 'sessions', { ...bob, json: { id: 'x', sandbox: 'proj/1 ü' } });
  assert.deepEqual([foreign.status, foreign.body.code], [404, 'sandbox_not_found']);
  assert.equal((await call(s, 'GET', 'sessions/x', bob)).status, 404, 'nothing was made');
  await newSession(s, { id: 'x', sandbox: 'proj/1 ü' }, ann);
  await newSession(s, { id: 'y', sandbox: 'default' }, ann);
  const inside = async (box) => (await must(s, 'GET', `sessions?sandbox=${enc(box)}`, ann)).sessions.map((x) => x.id);
  assert.deepEqual([await inside('proj/1 ü'), await inside('default')], [['x'], ['y']]);
  assert.equal((await call(s, 'GET', `sessions?sandbox=nowhere`, ann)).status, 404);
  const c = await pod(s, 'ann', 'proj/1 ü');
  assert.deepEqual((await c.listSessionForks()).rootSessions, ['x']);
  assert.equal((await call(s, 'DELETE', `sandboxes/${enc('proj/1 ü')}`, bob)).status, 404);
  assert.equal((await call(s, 'DELETE', 'sandboxes/default', ann)).status, 400);
  assert.deepEqual(await must(s, 'DELETE', `sandboxes/${enc('proj/1 ü')}`, ann), { id: 'proj/1 ü', trees: 1 });
  assert.deepEqual((await (await pod(s)).listSessionForks()).rootSessions, ['y', 'x'], 'its sessions stay');
  // The command, on the store and on the server.
  for (const where of [['--db', s.db], ['--server', s.url]]) {
    const name = where[0].slice(2);
    const cli = async (...args) => {
      const r = await ramet([...where, '--user', 'ann', ...args]);
      assert.equal(r.code, 0, r.err);
      return r.out.trim();
    };
    assert.equal(await cli('sandbox', 'add', name, '-q'), name);
    assert.match(await cli('sandbox', 'list'), new RegExp(`SANDBOX[\\s\\S]*default[\\s\\S]*${name}`));
    assert.deepEqual(JSON.parse(await cli('sandbox', 'list', '--json')).sandboxes.map((b) => b.id), ['default', name]);
    const id = await cli('new', '-q', '--sandbox', name);
    assert.equal(await cli('list', '-q', '--sandbox', name), id);
    assert.deepEqual(JSON.parse(await cli('sandbox', 'rm', name, '--json')), { id: name, trees: 1 });
    for (const [args, code] of [[['rm', name], 3], [['add', 'default'], 5], [['rm', 'default'], 2], [['add'], 2], [['x'], 2], [['list', 'y'], 2]])
      assert.equal((await ramet([...where, '--user', 'ann', 'sandbox', ...args])).code, code, args.join(' '));
  }
});

test('the commands of the documents run', async () => {
  const doc = readFileSync(join(here, '../../docs/agentpod.md'), 'utf8');
  const db = scratch('store.db'), env = { RAMET_DB: db, RAMET_USER: 'ann' };
  const sh = async (line) => {
    const words = line.match(/'[^']*'|\S+/g).map((w) => w.replace(/^'|'$/g, ''));
    assert.equal(words[0], 'ramet', line);
    const r = await ramet(words.slice(1), { env });
    assert.equal(r.code, 0, `${line}: ${r.err}`);
    return r.out;
  };
  for (const line of /```sh\n([^`]*)```/.exec(doc)[1].trim().split('\n')) await sh(line);
  await sh('ramet sandbox add box');
  await sh('ramet new --id s --sandbox box');
  await ramet(['append', 's', '--format', 'jsonl'], { env, input: '{"id":"m1","role":"user","text":"hi"}\n' });
  const table = [...doc.matchAll(/^\| `([a-z_]+)` \| `(ramet [^`]*)` \|/gm)].map((m) => [m[1], m[2]]);
  assert.deepEqual(table.map(([name]) => name), ['fork_session', 'list_session_forks', 'get_session_ancestry', 'get_session_children',
    'add_session_tag', 'remove_session_tag', 'delete_fork_tree', 'list_session_branches']);
  table.push(table.splice(6, 1)[0]); // what is deleted is deleted last
  for (const [, line] of table)
    await sh(line.replace('SESSION', 's').replace('MESSAGE', 'm1').replace('SANDBOX', 'box').replace('TEXT', 'why').replace('TAG', 'x'));
  for (const report of /```sql\n([^`]*)```/.exec(doc)[1].trim().split(';\n')) rows(db, report.replace(/;$/, ''));
});

// ------------------------------------------------------------------ other faces

test('sessions of other faces show up with their lineage, and the reverse', async () => {
  const s = await start(), c = await pod(s);
  await newSession(s, { id: 'native' }, ann);
  await append(s, 'native', [{ id: 'n1', role: 'user', text: 'hello' }], ann);
  const nf = await must(s, 'POST', 'sessions/native/fork', { ...ann, json: { id: 'native-fork', reason: 'r', tags: ['T'] } });
  const k = (method, p, json) => must(s, method, `/api/${p}`, { ...ann, json });
  await k('POST', 'sessions', { id: 'kag', agent_ref: 'ns__NS__a', name: 'K' });
  const kf = (await k('POST', 'sessions/kag/fork', {})).data;
  const m = (method, p, json) => call(s, method, `/v1/${p}`, { headers: { Authorization: 'Bearer ann' }, json });
  const id = '3f1c0a52-6f0e-4b8e-9c1d-0a1b2c3d4e5f', fid = '3f1c0a52-6f0e-4b8e-9c1d-0a1b2c3d4e60';
  const first = await m('POST', `conversations/${id}/entries`, { channel: 'history', contentType: 'history', content: [{ role: 'USER', text: 'hi' }] });
  assert.equal(first.status, 201, first.text);
  const mf = await m('POST', `conversations/${fid}/entries`, { channel: 'history', contentType: 'history', content: [{ role: 'USER', text: 'hi there' }],
    forkedAtConversationId: id, forkedAtEntryId: first.body.id });
  assert.equal(mf.status, 201, mf.text);
  const e = await editor({ args: ['acp', '--server', s.url, '--user', 'ann', '--agent', 'echo'] });
  const acp = await e.open();
  await e.prompt(acp, 'one');
  const af = (await e.ask('session/fork', { sessionId: acp, cwd: '/tmp' })).sessionId;
  const list = await c.listSessionForks();
  assert.deepEqual(new Set(list.rootSessions), new Set(['native', 'kag', id, acp]));
  assert.deepEqual(Object.fromEntries(list.forks.map((f) => [f.id, f.parentSessionId])), { [nf.id]: 'native', [kf.id]: 'kag', [fid]: id, [af]: acp });
  assert.deepEqual(list.forks.find((f) => f.id === nf.id).tags, ['t']);
  for (const [fork, root] of [[nf.id, 'native'], [kf.id, 'kag'], [fid, id], [af, acp]]) {
    assert.deepEqual((await c.getSessionAncestry(fork)).ancestry, [root, fork]);
    assert.equal((await c.getSessionForkInfo(root)).childCount, 1);
  }
  // What is forked here is there in all of them.
  const mine = [];
  for (const root of ['native', 'kag', id, acp]) mine.push(await c.createSessionFork(root, { reason: 'here', tags: ['pod'] }));
  const natively = await must(s, 'GET', `sessions/${mine[0].id}`, ann);
  assert.deepEqual([natively.forked_from.session_id, natively.forked_from.reason, natively.tags], ['native', 'here', ['pod']]);
  assert.equal((await k('GET', `sessions/${mine[1].id}`)).data.session.id, mine[1].id);
  const remembered = await m('GET', `conversations/${mine[2].id}`);
  assert.equal(remembered.status, 200, remembered.text);
  assert.equal(remembered.body.forkedAtConversationId, id);
  assert.deepEqual((await e.load(mine[3].id)).map(([, text]) => text), ['one', 'one']);
  assert.ok((await e.ask('session/list', {})).sessions.some((x) => x.sessionId === mine[3].id));
  assert.equal((await e.end()).code, 0);
});

// ------------------------------------------------------------------ bad input, and who asks

test('bad input is refused by name and changes nothing', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const at = (rest) => `${BOX}/default/sessions/root/${rest}`;
  const before = [await c.getSessionForkInfo('root'), await entries(s, 'root'), await c.getForkStatistics()];
  const cases = [
    ['POST', 'fork', '[]', /object|body/i], ['POST', 'fork', '{', /./], ['POST', 'fork', { messageId: 7 }, /messageId/],
    ['POST', 'fork', { messageRole: 'tool' }, /messageRole/], ['POST', 'fork', { tags: 'x' }, /tags/], ['POST', 'fork', { tags: [7] }, /tags/],
    ['POST', 'fork', { reason: {} }, /reason/], ['POST', 'fork', { agentConfig: [] }, /agentConfig/], ['POST', 'fork', { agentConfig: { agent: '' } }, /agentConfig.agent/],
    ['POST', 'fork', { forkType: 'other' }, /forkType/], ['POST', 'fork', { messageId: '' }, /./], ['POST', 'fork', { messageId: 'x'.repeat(256) }, /./],
    ['POST', 'fork', { messageId: 'a\nb' }, /./], ['POST', 'fork', '{"reason":"a","reason":"b"}', /./],
    ['POST', 'tags', {}, /tag/], ['POST', 'tags', { tag: 7 }, /tag/], ['POST', 'tags', { tag: null }, /tag/], ['POST', 'tags', undefined, /./],
    ['PUT', 'tags', { tags: 'x' }, /tags/], ['PUT', 'tags', {}, /tags/], ['PUT', 'tags', { tags: [null] }, /tags/],
    ['DELETE', `tags/${'x'.repeat(51)}`, undefined, /tag/], ['DELETE', 'tags/%20', undefined, /tag/], ['DELETE', 'tree?dry_run=maybe', undefined, /dry_run/],
    ['POST', 'branches/switch', {}, /messageId/], ['POST', 'branches/switch', { messageId: 'm1' }, /branchNumber/],
    ['POST', 'branches/switch', { messageId: 'm1', branchNumber: 0 }, /branchNumber/], ['POST', 'branches/switch', { messageId: 'm1', branchNumber: '1' }, /branchNumber/],
    ['POST', 'branches/switch', { messageId: 'm1', branchNumber: 1.5 }, /branchNumber/],
    ['POST', 'messages/sync', {}, /messages/], ['POST', 'messages/sync', { messages: {} }, /messages/], ['POST', 'messages/sync', { messages: [7] }, /messages/],
    ['POST', 'messages/sync', { messages: [{ id: 'a', role: 'user' }] }, /text/], ['POST', 'messages/sync', { messages: [{ id: 'a', text: 'x' }] }, /role/],
    ['POST', 'messages/sync', { messages: [{ role: 'user', text: 'x' }] }, /id/], ['POST', 'messages/sync', { messages: [{ id: 'a', role: 'robot', text: 'x' }] }, /role/],
    ['POST', 'messages/sync', { messages: [{ id: '', role: 'user', text: 'x' }] }, /./], ['POST', 'messages/sync', { messages: [{ id: 'a', role: 'user', text: 'a\u0000' }] }, /./],
  ];
  for (const [method, rest, json, words] of cases) {
    const r = await call(s, method, at(rest), { ...ann, json });
    assert.equal(r.status, 400, `${method} ${rest} ${JSON.stringify(json)}: ${r.status} ${r.text}`);
    assert.deepEqual(Object.keys(r.body), ['error', 'details'], r.text);
    assert.match(r.body.details, words, `${method} ${rest} ${JSON.stringify(json)}`);
  }
  const key = await call(s, 'POST', at('messages/sync'), { ...ann, json: { messages: [] }, headers: { 'Idempotency-Key': 'x' } });
  assert.equal(key.status, 400);
  assert.deepEqual([await c.getSessionForkInfo('root'), await entries(s, 'root'), await c.getForkStatistics()], before);
  // What it does not know is not looked at.
  assert.equal((await call(s, 'POST', at('tags?x=1'), { ...ann, json: { tag: 'a', other: 1 } })).status, 200);
  const wrong = await call(s, 'PATCH', at('tags'), ann);
  assert.equal(wrong.status, 405);
});

test('with tokens: 401, and a token in the query', async () => {
  const db = scratch('store.db');
  const secret = (await ramet(['token', 'create', '--db', db, '--user', 'ann'])).out.trim();
  const s = await start({ db, args: ['--auth', 'tokens'] });
  const none = await call(s, 'GET', path('default', 'forks'));
  assert.deepEqual([none.status, none.body.error, typeof none.body.message], [401, 'Unauthorized', 'string']);
  assert.equal((await call(s, 'GET', `${path('default', 'forks')}?token=nonsense`)).status, 401);
  assert.equal((await call(s, 'GET', `${path('default', 'forks')}?token=${secret}`)).status, 200);
  assert.equal((await call(s, 'GET', path('default', 'forks'), { token: secret })).status, 200);
  assert.equal((await call(s, 'POST', 'sessions', { token: secret, json: { id: 's' } })).status, 201);
  assert.equal((await call(s, 'POST', `${path('default', 'sessions', 's', 'tags')}?token=${secret}`, { json: { tag: 'x' } })).status, 200);
  assert.equal((await call(s, 'GET', `sessions?token=${secret}`)).status, 401, 'there alone');
  const live = await sse(s, `?token=${secret}`, { path: path('default', 'events') });
  assert.equal(live.status, 200);
  live.close();
});

// ------------------------------------------------------------------ many

test('a thousand forks of one session, and 200 deep', async () => {
  const s = await start(), c = await pod(s);
  await chat(s, 'root');
  const some = async (n, run) => { for (let i = 0; i < n; i += 50) await Promise.all(Array.from({ length: Math.min(50, n - i) }, (_, k) => run(i + k))); };
  await some(1000, (i) => c.createSessionFork('root', { tags: [`t${i % 12}`, 'all'], messageId: `m${1 + (i % 4)}` }));
  let last = 'root';
  for (let i = 0; i < 200; i++) last = (await c.createSessionFork(last)).id;
  const list = await c.listSessionForks();
  assert.equal(list.forks.length, 1200);
  assert.equal(new Set(list.forks.map((f) => f.id)).size, 1200);
  const times = list.forks.map((f) => f.createdAt);
  assert.deepEqual(times, [...times].sort().reverse(), 'newest first');
  const { ancestry } = await c.getSessionAncestry(last);
  assert.equal(ancestry.length, 201);
  assert.deepEqual([ancestry[0], ancestry[200]], ['root', last]);
  assert.equal((await c.getSessionChildren('root')).children.length, 1001);
  assert.deepEqual(await c.getForkStatistics(), {
    totalSessions: 1201, rootSessions: 1, forkedSessions: 1200, maxDepth: 200, byType: { explicit: 1200, autoEdit: 0, autoRegenerate: 0 },
    topTags: [{ tag: 'all', count: 1000 }, ...['t0', 't1', 't2', 't3'].map((tag) => ({ tag, count: 84 })),
              ...['t10', 't11', 't4', 't5', 't6'].map((tag) => ({ tag, count: 83 }))],
  });
  assert.equal((await c.getSessionForkInfo(last)).depth, 200);
  assert.equal(Number(rows(s.db, 'SELECT count(*) AS n FROM session_forks')[0].n), 1201);
  assert.equal((await c.deleteForkTree(ancestry[100])).deleted.length, 101);
  assert.equal((await c.getForkStatistics()).maxDepth, 99);
});

await finish();
