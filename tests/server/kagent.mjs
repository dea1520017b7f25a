// SPDX-License-Identifier: Apache-2.0
//
// kagent.mjs: kagent's session API as its clients use it: literal calls of the Python clients, forks
// and rewinds over both logs, ADK's rule against a model, tasks that grow, and bad input.
import { test, finish, start, call, must, ramet, scratch, append, assert, enc, sleep } from './lib.mjs';

const AGENT = 'ns__NS__a';
const as = (user, agent = AGENT) => ({ headers: { 'X-User-Id': user, ...(agent ? { 'X-Agent-Name': agent } : {}) } });
const k = (s, method, path, json, options = as('u1')) => call(s, method, path, { ...options, json });
/** `data` of a call that must succeed. */
const ok = async (s, method, path, json, options) => {
  const r = await k(s, method, path, json, options);
  assert.ok(r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
  return r.body?.data;
};
const refused = async (s, status, method, path, json, options) => {
  const r = await k(s, method, path, json, options);
  assert.equal(r.status, status, `${method} ${path}: ${r.text}`);
  assert.deepEqual(Object.keys(r.body), ['error'], r.text);
  assert.equal(typeof r.body.error, 'string');
  assert.ok(r.text.endsWith('\n'));
  return r.body.error;
};
const make = (s, id, more = {}, options) => ok(s, 'POST', '/api/sessions', { agent_ref: AGENT, id, ...more }, options);

// ---- events

let counter = 0;
const event = (invocation, { author = 'agent', delta, rewind, id = `ev${++counter}`, text } = {}) => ({
  id, invocation_id: invocation, author, timestamp: 1.5,
  content: text ? { role: author === 'user' ? 'user' : 'model', parts: [{ text }] } : null,
  actions: { state_delta: delta ?? {}, artifact_delta: {}, ...(rewind ? { rewind_before_invocation_id: rewind } : {}) },
});
const send = (s, session, e, options = as('u1')) =>
  k(s, 'POST', `/api/sessions/${enc(session)}/events`, { id: e.id, data: JSON.stringify(e) }, options);
const add = async (s, session, ...events) => {
  for (const e of events) {
    const r = await send(s, session, e);
    assert.equal(r.status, 201, r.text);
  }
};
const events = async (s, session, query = '') =>
  (await ok(s, 'GET', `/api/sessions/${enc(session)}?order=asc&limit=-1${query}`)).events;
const read = async (s, session, query) => (await events(s, session, query)).map((e) => JSON.parse(e.data));
const effective = (s, session) => read(s, session, '&view=effective');

/** ADK's rule (contract 3.2). */
function rule(list) {
  const kept = [];
  for (let i = list.length - 1; i >= 0; i--) {
    const before = list[i].actions?.rewind_before_invocation_id;
    if (!before) { kept.push(list[i]); continue; }
    const j = list.slice(0, i).findIndex((e) => e.invocation_id === before);
    if (j >= 0) i = j;
  }
  return kept.reverse();
}
/** State as a runtime of ADK has it after it has replayed the record. */
function replay(list) {
  const state = {};
  for (const e of list) Object.assign(state, e.actions?.state_delta ?? {});
  return Object.fromEntries(Object.entries(state).filter(([, v]) => v !== null).sort(([a], [b]) => (a < b ? -1 : 1)));
}
const sorted = (o) => Object.fromEntries(Object.entries(o).sort(([a], [b]) => (a < b ? -1 : 1)));
async function agrees(s, session) {
  const record = await read(s, session);
  const shown = await effective(s, session);
  assert.deepEqual(shown.map((e) => e.id), rule(record).map((e) => e.id), JSON.stringify(
    record.map((e) => `${e.id}/${e.invocation_id}${e.actions.rewind_before_invocation_id ? '->' + e.actions.rewind_before_invocation_id : ''}`)));
  const { state } = await ok(s, 'GET', `/api/sessions/${enc(session)}?view=effective`);
  assert.deepEqual(sorted(state), replay(record));
  return shown;
}

// ---- messages and tasks

const message = (id, role, text, { invocation, task = '', context = '', metadata } = {}) => ({
  kind: 'message', messageId: id, role, parts: [{ kind: 'text', text }], taskId: task, contextId: context,
  ...(invocation || metadata ? { metadata: { ...(invocation ? { kagent_invocation_id: invocation } : {}), ...metadata } } : {}),
});
const task = (id, context, history, { state = 'completed', ...more } = {}) => ({
  kind: 'task', id, contextId: context, status: { state, message: null, timestamp: '2026-01-02T03:04:05.123456+00:00' },
  history, artifacts: null, metadata: null, ...more,
});
const post = (s, t, options) => ok(s, 'POST', '/api/tasks', t, options);
const tasks = async (s, session, options) => (await ok(s, 'GET', `/api/sessions/${enc(session)}/tasks`, undefined, options)) ?? [];
const ids = (list) => list.flatMap((t) => t.history.map((m) => m.messageId));
const texts = (list) => list.flatMap((t) => t.history.map((m) => m.parts[0].text));

/** A conversation of n turns: events and tasks as the Python agent sends them. */
async function converse(s, session, n, { from = 1 } = {}) {
  for (let i = from; i < from + n; i++) {
    await add(s, session, event('header_update', { author: 'system', delta: { headers: { n: i } } }));
    await post(s, task(`${session}-t${i}`, session, [message(`${session}-u${i}`, 'user', `q${i}`)], { state: 'submitted' }));
    await add(s, session, event(`${session}-i${i}`, { author: 'user', text: `q${i}` }));
    await add(s, session, event(`${session}-i${i}`, { delta: { last: i }, text: `a${i}` }));
    await post(s, task(`${session}-t${i}`, session, [
      message(`${session}-u${i}`, 'user', `q${i}`), message(`${session}-u${i}`, 'user', `q${i}`),
      message(`${session}-a${i}`, 'agent', `a${i}`, { invocation: `${session}-i${i}` })]));
  }
}
const upTo = (n) => Array.from({ length: n }, (_, i) => [`q${i + 1}`, `a${i + 1}`]).flat();

let server;
const shared = async () => {
  if (server?.child.exitCode !== null) server = await start({ keep: true });
  return server;
};

// ------------------------------------------------------------------ the Python clients, literally

test('the calls of the Python session service', async () => {
  const s = await shared();
  const h = { headers: { 'X-Agent-Name': 'ns__NS__a' } };
  let r = await call(s, 'POST', '/api/sessions?user_id=u1',
    { ...h, json: '{"user_id": "u1", "agent_ref": "ns__NS__a", "id": "s1", "name": "hello...", "source": null}' });
  assert.equal(r.status, 201, r.text);
  assert.equal(r.body.error, false);
  assert.equal(r.body.message, 'Successfully created session');
  const { created_at, updated_at, ...rest } = r.body.data;
  assert.deepEqual(rest, { id: 's1', name: 'hello...', user_id: 'u1', agent_id: 'ns__NS__a' });
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/);
  assert.match(updated_at, /Z$/);

  const data = '{"id":"0b1c","invocation_id":"e-1","author":"user","timestamp":1.25e3, "branch":null,"actions":{"state_delta":{},"artifact_delta":{},"requested_auth_configs":{}},"content":{"parts":[{"text":"h\\u00e9 é"}],"role":"user"},"x":0.10}';
  r = await call(s, 'POST', '/api/sessions/s1/events?user_id=u1', { ...h, json: { id: '0b1c', data } });
  assert.equal(r.status, 201, r.text);
  assert.equal(r.body.message, 'Event added to session successfully');
  assert.equal(r.body.data.data, data);
  assert.deepEqual(Object.keys(r.body.data), ['id', 'session_id', 'user_id', 'created_at', 'updated_at', 'data']);
  assert.doesNotMatch(r.body.data.created_at, /^0001/);

  r = await call(s, 'GET', '/api/sessions/s1?user_id=u1&order=asc&limit=-1', h);
  assert.equal(r.status, 200);
  assert.equal(r.body.data.session.id, 's1');
  assert.equal(r.body.data.session.user_id, 'u1');
  assert.equal(r.body.data.events[0].data, data, 'byte for byte');
  assert.equal(r.body.message, 'Successfully retrieved session');
  r = await call(s, 'GET', '/api/sessions/s1?user_id=u1&order=asc&limit=3', h);
  assert.equal(r.body.data.events.length, 1);

  r = await call(s, 'GET', '/api/sessions?user_id=u1', h);
  assert.deepEqual(r.body.data.map((x) => x.id), ['s1']);
  r = await call(s, 'GET', '/api/sessions?user_id=nobody', h);
  assert.equal(r.status, 200);
  assert.ok(!('data' in r.body), 'an empty list has no data');
  r = await call(s, 'DELETE', '/api/sessions/s1?user_id=u1', h);
  assert.deepEqual([r.status, r.body.data, r.body.message], [200, {}, 'Session deleted successfully']);
  assert.equal((await call(s, 'GET', '/api/sessions/s1?user_id=u1&order=asc&limit=-1', h)).status, 404);
  assert.equal((await call(s, 'DELETE', '/api/sessions/s1?user_id=u1', h)).status, 200, 'deleted is deleted');
  // v0.8: no user in the query of POST, X-User-ID per call
  r = await call(s, 'POST', '/api/sessions', { headers: { 'X-User-ID': 'u8', 'X-Agent-Name': 'ns__NS__a' },
    json: { user_id: 'u8', agent_ref: 'ns__NS__a' } });
  assert.deepEqual([r.status, r.body.data.user_id], [201, 'u8']);
});

test('the calls of the Python task store', async () => {
  const s = await shared();
  await make(s, 'ts');
  const h = { headers: { 'X-Agent-Name': 'ns__NS__a' } };
  const body = '{"artifacts": null, "contextId": "ts", "history": [{"contextId": "ts", "extensions": null, "kind": "message", "messageId": "m1", "metadata": null, "parts": [{"kind": "text", "metadata": null, "text": ""}, {"kind": "data", "metadata": {"adk_type": "function_call"}, "data": {"id": "c1", "name": "f", "args": {"x": 1}}}], "referenceTaskIds": null, "role": "user", "taskId": "tt1"}], "id": "tt1", "kind": "task", "metadata": {"a": 1}, "status": {"message": null, "state": "working", "timestamp": "2026-01-02T03:04:05.123456+00:00"}}';
  let r = await call(s, 'POST', '/api/tasks', { ...h, json: body });
  assert.equal(r.status, 201, r.text);
  assert.equal(r.body.error, false);
  assert.equal(r.body.message, 'Successfully created task');
  r = await call(s, 'GET', '/api/tasks/tt1', h);
  assert.equal(r.status, 200);
  assert.equal(r.body.message, 'Successfully retrieved task');
  assert.equal(r.body.error, false);
  const t = r.body.data;
  assert.deepEqual([t.kind, t.id, t.contextId, t.status], ['task', 'tt1', 'ts', { state: 'working', timestamp: '2026-01-02T03:04:05.123456+00:00' }]);
  assert.deepEqual(t.metadata, { a: 1 });
  assert.deepEqual([t.history[0].messageId, t.history[0].role, t.history[0].contextId, t.history[0].taskId], ['m1', 'user', 'ts', 'tt1']);
  assert.deepEqual(t.history[0].parts[0], { kind: 'text', metadata: null, text: '' }, 'an empty text stays a text');
  assert.equal(t.history[0].parts[1].data.name, 'f');
  r = await call(s, 'DELETE', '/api/tasks/tt1', h);
  assert.deepEqual([r.status, r.text], [204, '']);
  r = await call(s, 'GET', '/api/tasks/tt1', h);
  assert.deepEqual([r.status, r.body], [404, { error: 'Task not found' }]);
  assert.equal(await refused(s, 409, 'POST', '/api/tasks', body), 'Task ID is already in use');
});

// ------------------------------------------------------------------ sessions

test('sessions: upsert, rename, lists, agents, other users', async () => {
  const s = await shared();
  const u = as('lister');
  await make(s, 'l1', { name: 'one' }, u);
  await sleep(5);
  await make(s, 'l2', { name: 'two', source: 'agent' }, u);
  await sleep(5);
  const again = await make(s, 'l1', { name: 'renamed' }, u);
  assert.equal(again.name, 'renamed');
  const list = await ok(s, 'GET', '/api/sessions', undefined, u);
  assert.deepEqual(list.map((x) => [x.id, x.name, x.source]), [['l1', 'renamed', undefined], ['l2', 'two', 'agent']]);
  assert.deepEqual((await ok(s, 'GET', '/api/sessions/agent/ns/a', undefined, u)).map((x) => x.id), ['l1'], 'not those of agents');
  assert.equal(await refused(s, 404, 'GET', '/api/sessions/agent/ns/unknown', undefined, u), 'Agent not found');
  assert.equal(await refused(s, 409, 'POST', '/api/sessions', { agent_ref: AGENT, id: 'l1' }, as('thief')), 'Session ID is already in use');
  assert.equal(await refused(s, 404, 'GET', '/api/sessions/l1', undefined, as('thief')), 'Session not found');
  assert.equal(await refused(s, 404, 'GET', '/api/sessions/l1/tasks', undefined, as('thief')), 'Session not found for given ID');
  for (const method of ['PUT', 'PATCH']) {
    const r = await ok(s, method, '/api/sessions/l2', { name: `by ${method}` }, u);
    assert.equal(r.name, `by ${method}`);
    assert.equal(await refused(s, 400, method, '/api/sessions/l2', {}, u), 'at least one of name or agent_ref is required');
  }
  assert.equal((await ok(s, 'PUT', '/api/sessions/l2', { agent_ref: 'kagent/my-agent' }, u)).agent_id, 'kagent__NS__my_agent');
  const agents = await ok(s, 'GET', '/api/agents', undefined, u);
  assert.ok(agents.some((a) => a.id === 'kagent__NS__echo' && a.agent.metadata.name === 'echo' && a.agent.spec.type === 'Declarative'));
  assert.ok(agents.some((a) => a.id === AGENT && a.agent.spec.type === 'BYO' && a.deploymentReady && a.accepted));
  assert.deepEqual((await ok(s, 'GET', '/api/agents?namespace=ns', undefined, u)).map((a) => a.id), [AGENT]);
  await refused(s, 400, 'GET', '/api/agents?namespace=No_Label', undefined, u);
  assert.equal((await ok(s, 'GET', '/api/agents/kagent/echo', undefined, u)).agent.metadata.namespace, 'kagent');
  assert.equal(await refused(s, 404, 'GET', '/api/agents/x/y', undefined, u), 'Agent not found');
  assert.ok((await ok(s, 'GET', '/api/namespaces', undefined, u)).some((n) => n.name === 'kagent'));
  assert.deepEqual((await k(s, 'GET', '/api/toolservers')).body.data, undefined);
});

test('updated_at is that of the last message, event or task', async () => {
  const s = await shared();
  await make(s, 'upd');
  let last = '';
  const later = async (what) => {
    const { updated_at } = (await ok(s, 'GET', '/api/sessions/upd')).session;
    assert.ok(updated_at > last, `${what}: ${updated_at}, before ${last}`);
    assert.equal((await ok(s, 'GET', '/api/sessions')).find((x) => x.id === 'upd').updated_at, updated_at);
    last = updated_at;
    await sleep(3);
  };
  await later('made');
  await add(s, 'upd', event('u1', { author: 'user' }));
  await later('an event');
  await post(s, task('upd-t', 'upd', [], { state: 'submitted' }));
  await later('a task');
  await post(s, task('upd-t', 'upd', [], { state: 'working' }));
  await later('its status');
  await post(s, task('upd-t', 'upd', [message('upd-u', 'user', 'q')]));
  await later('a message');
});

test('a deleted id begins anew, empty', async () => {
  const s = await shared();
  await make(s, 'phoenix', { name: 'old' });
  await converse(s, 'phoenix', 1);
  await ok(s, 'DELETE', '/api/sessions/phoenix');
  const r = await make(s, 'phoenix', { name: 'new' });
  assert.equal(r.name, 'new');
  assert.deepEqual(await events(s, 'phoenix'), []);
  assert.deepEqual(await tasks(s, 'phoenix'), []);
  await converse(s, 'phoenix', 1);
  assert.deepEqual(texts(await tasks(s, 'phoenix')), ['q1', 'a1']);
});

test('events: order, limit, after, doubles, whose they are', async () => {
  const s = await shared();
  await make(s, 'order');
  for (let i = 1; i <= 4; i++) { await add(s, 'order', event(`o${i}`, { id: `o${i}` })); await sleep(3); }
  const get = async (q) => (await ok(s, 'GET', `/api/sessions/order${q}`)).events;
  assert.deepEqual((await get('')).map((e) => e.id), ['o4', 'o3', 'o2', 'o1'], 'newest first');
  assert.deepEqual((await get('?order=desc&limit=2')).map((e) => e.id), ['o4', 'o3']);
  assert.deepEqual((await get('?order=asc&limit=2')).map((e) => e.id), ['o1', 'o2']);
  assert.deepEqual((await get('?order=asc&limit=0')).length, 4);
  const two = (await get('?order=asc'))[1];
  assert.deepEqual((await get(`?order=asc&after=${enc(two.created_at)}`)).map((e) => e.id), ['o3', 'o4']);
  assert.deepEqual((await get(`?limit=1&after=${enc(two.created_at)}`)).map((e) => e.id), ['o4']);
  assert.equal(await refused(s, 400, 'GET', '/api/sessions/order?limit=x'), 'Failed to parse limit');
  assert.equal(await refused(s, 400, 'GET', '/api/sessions/order?after=x'), 'Failed to parse after timestamp');
  await refused(s, 400, 'GET', '/api/sessions/order?view=x');
  const e = event('dup', { id: 'dup' });
  assert.equal((await send(s, 'order', e)).status, 201);
  assert.equal((await send(s, 'order', e)).status, 201, 'the same again');
  assert.equal((await send(s, 'order', { ...e, author: 'other' })).status, 409);
  assert.equal((await events(s, 'order')).length, 5);
  assert.equal(await refused(s, 403, 'POST', '/api/sessions/order/events', { id: 'x', data: '{}' }, as('u1', 'ns__NS__b')), 'Session does not belong to this agent');
  assert.equal(await refused(s, 403, 'POST', '/api/sessions/order/events', { id: 'x', data: '{}' }, as('u1', null)), 'Session does not belong to this agent');
  assert.equal(await refused(s, 400, 'POST', '/api/sessions/order/events', { id: 'x', data: '{}' }, { headers: {} }), 'Failed to get user ID: user_id is required');
  assert.equal(await refused(s, 404, 'POST', '/api/sessions/none/events', { id: 'x', data: '{}' }), 'Session not found');
});

test('an agent in nobody\'s name reaches its own sessions alone', async () => {
  const s = await shared();
  await make(s, 'mine');
  await make(s, 'other', { agent_ref: 'ns/b' }, as('u1', 'ns__NS__b'));
  const bare = { headers: { 'X-Agent-Name': 'ns__NS__a' } };
  assert.equal((await k(s, 'GET', '/api/sessions/mine', undefined, bare)).status, 200);
  await refused(s, 404, 'GET', '/api/sessions/other', undefined, bare);
  await refused(s, 403, 'POST', '/api/tasks', task('x', 'other', []), bare);
  assert.equal((await k(s, 'POST', '/api/sessions/mine/events', { id: 'nn', data: '{"invocation_id":"x"}' }, bare)).status, 201);
  const list = await ok(s, 'GET', '/api/sessions', undefined, bare);
  assert.ok(list.some((x) => x.id === 'mine') && !list.some((x) => x.id === 'other'));
  await post(s, task('orphan', 'not-there-yet', [message('om', 'user', 'hi')]), bare);
  assert.deepEqual(texts(await tasks(s, 'not-there-yet', bare)), ['hi'], 'a session is made for a task that comes first');
});

test('with tokens that needs the role agent, and agents that are listed', async () => {
  const db = scratch('tokens.db');
  const key = async (user, ...more) => {
    const r = await ramet(['--db', db, 'token', 'create', '--user', user, ...more, '--json']);
    assert.equal(r.code, 0, r.err);
    return JSON.parse(r.out).secret;
  };
  const user = await key('u1'), bot = await key('bot', '--roles', 'agent');
  const s = await start({ db, args: ['--auth', 'tokens', '--kagent-agents', 'listed'] });
  const by = (token, headers = {}) => ({ token, headers });
  let r = await call(s, 'GET', '/api/sessions');
  assert.deepEqual([r.status, r.text], [401, 'Unauthorized\n']);
  r = await call(s, 'POST', '/api/sessions', { ...by(user), json: { agent_ref: 'x/y' } });
  assert.deepEqual([r.status, r.body], [400, { error: 'Agent ref is invalid, please check the agent ref x/y' }]);
  r = await call(s, 'POST', '/api/sessions', { ...by(user), json: { agent_ref: 'kagent/echo', id: 'tk' } });
  assert.equal(r.status, 201, r.text);
  const e = { json: { id: 'e', data: '{"invocation_id":"i","author":"user"}' } };
  const name = { 'X-Agent-Name': 'kagent__NS__echo' };
  assert.equal((await call(s, 'POST', '/api/sessions/tk/events?user_id=u1', { ...by(bot, name), ...e })).status, 201);
  assert.equal((await call(s, 'GET', '/api/sessions/tk', by(bot, name))).status, 200);
  assert.equal((await call(s, 'GET', '/api/sessions/tk', by(bot, { 'X-Agent-Name': 'kagent__NS__other' }))).status, 404);
  assert.equal((await call(s, 'GET', '/api/sessions/tk?user_id=u1', by(bot))).status, 403, 'without its name it is only itself');
  const stranger = await key('u2');
  assert.equal((await call(s, 'GET', '/api/sessions/tk', by(stranger, name))).status, 404, 'a user with that header is still a user');
});

test('shares', async () => {
  const s = await shared();
  await make(s, 'shared');
  await converse(s, 'shared', 2);
  const share = await ok(s, 'POST', '/api/sessions/shared/shares');
  assert.deepEqual([share.read_only, share.session_id, share.user_id], [true, 'shared', 'u1']);
  const guest = { headers: { 'X-User-Id': 'guest', 'X-Share-Token': share.token } };
  const seen = await ok(s, 'GET', '/api/sessions/shared', undefined, guest);
  assert.equal(seen.read_only, true);
  assert.deepEqual(seen.events, [], 'events may hold credentials');
  assert.deepEqual(texts(await tasks(s, 'shared', guest)), upTo(2));
  await refused(s, 403, 'PUT', '/api/sessions/shared', { name: 'x' }, guest);
  await refused(s, 403, 'POST', '/api/sessions/shared/rewind', { rewind_before_invocation_id: 'shared-i1' }, guest);
  const fork = await ok(s, 'POST', '/api/sessions/shared/fork', { rewind_before_invocation_id: 'shared-i2' }, guest);
  assert.equal(fork.user_id, 'guest');
  assert.deepEqual(texts(await tasks(s, fork.id, as('guest'))), ['q1', 'a1']);
  const r = await k(s, 'GET', '/api/sessions/shared', undefined, { headers: { 'X-Share-Token': 'nonsense' } });
  assert.deepEqual([r.status, r.text], [403, 'Forbidden\n']);
  assert.equal((await ok(s, 'GET', '/api/sessions/shared/shares')).length, 1);
  await refused(s, 404, 'GET', '/api/sessions/shared/shares', undefined, as('guest'));
  assert.deepEqual(await ok(s, 'DELETE', `/api/sessions/shared/shares/${share.token}`), {});
  assert.equal((await k(s, 'GET', '/api/sessions/shared', undefined, guest)).status, 403);
  assert.equal(await refused(s, 404, 'DELETE', '/api/sessions/shared/shares/none'), 'Share not found');
});

test('a link that was followed is in the list of who followed it', async () => {
  const s = await shared();
  await make(s, 'open', { agent_ref: 'ns/visited', name: 'Open' });
  await post(s, task('open-t', 'open', [message('open-u', 'user', 'q')]));
  const by = (user, token) => ({ headers: { 'X-User-Id': user, ...(token ? { 'X-Share-Token': token } : {}) } });
  const listed = async (user) => {
    const r = await k(s, 'GET', '/api/sessions/agent/ns/visited', undefined, by(user));
    return r.status === 404 ? [] : (r.body.data ?? []).map((x) => [x.id, x.share_read_only]);
  };
  const links = {};
  for (const read_only of [true, false]) links[read_only] = await ok(s, 'POST', '/api/sessions/open/shares', { read_only });
  assert.deepEqual(await listed('visitor'), [], 'who has not come does not see it');
  await ok(s, 'GET', '/api/sessions/open', undefined, by('visitor', links.true.token));
  await ok(s, 'GET', '/api/sessions/open/tasks', undefined, by('writer', links.false.token));
  assert.deepEqual(await listed('visitor'), [['open', true]]);
  assert.deepEqual(await listed('writer'), [['open', false]]);
  assert.deepEqual((await ok(s, 'GET', '/api/sessions/agent/ns/visited')).map((x) => [x.id, x.share_token]), [['open', undefined]], 'the owner has it as his own');
  assert.ok(!((await k(s, 'GET', '/api/sessions', undefined, by('visitor'))).body.data ?? []).some((x) => x.id === 'open'));
  // What stands there opens it, for that user alone.
  const token = (await ok(s, 'GET', '/api/sessions/agent/ns/visited', undefined, by('visitor')))[0].share_token;
  assert.notEqual(token, links.true.token, 'the token itself is not kept');
  assert.deepEqual(texts(await tasks(s, 'open', by('visitor', token))), ['q']);
  await refused(s, 403, 'POST', '/api/sessions/open/rewind', { rewind_before_invocation_id: 'x' }, by('visitor', token));
  assert.equal((await k(s, 'GET', '/api/sessions/open', undefined, by('thief', token))).status, 403);
  await refused(s, 404, 'GET', '/api/sessions/open', undefined, by('visitor'));
  await ok(s, 'DELETE', `/api/sessions/open/shares/${links.true.token}`);
  assert.deepEqual(await listed('visitor'), []);
  assert.deepEqual(await listed('writer'), [['open', false]]);
});

test('feedback, health, version, me', async () => {
  const s = await shared();
  const u = as('critic');
  assert.ok(!('data' in (await k(s, 'GET', '/api/feedback', undefined, u)).body));
  assert.equal(await refused(s, 400, 'POST', '/api/feedback', { is_positive: true, feedback_text: '' }, u), 'Missing required field: feedbackText');
  assert.deepEqual(await ok(s, 'POST', '/api/feedback', { is_positive: false, feedback_text: 'no', issue_type: 'factual', message_id: 4294967290 }, u), {});
  assert.deepEqual(await ok(s, 'POST', '/api/feedback', { is_positive: true, feedback_text: 'yes' }, u), {});
  const list = await ok(s, 'GET', '/api/feedback', undefined, u);
  assert.deepEqual(list.map((f) => [f.is_positive, f.feedback_text, f.issue_type, f.message_id]), [[false, 'no', 'factual', 4294967290], [true, 'yes', undefined, undefined]]);
  assert.deepEqual((await call(s, 'GET', '/health')).body, { error: false, data: { status: 'OK' }, message: 'OK' });
  assert.deepEqual(Object.keys((await call(s, 'GET', '/version')).body), ['kagent_version', 'git_commit', 'build_date']);
  assert.deepEqual((await call(s, 'GET', '/api/me?user_id=me1')).body, { sub: 'me1' });
});

// ------------------------------------------------------------------ fork

test('fork: everything before the invocation, nothing of it, the source untouched', async () => {
  const s = await shared();
  await make(s, 'src', { name: 'My chat' });
  await converse(s, 'src', 3);
  const before = [await events(s, 'src'), await tasks(s, 'src')];
  const r = await k(s, 'POST', '/api/sessions/src/fork', { rewind_before_invocation_id: 'src-i3' });
  assert.equal(r.status, 201, r.text);
  assert.deepEqual([r.body.data.name, r.body.data.user_id, r.body.data.agent_id], ['Fork of My chat', 'u1', AGENT]);
  const id = r.body.data.id;
  const list = await tasks(s, id);
  assert.equal(list.length, 1, 'one effective task');
  assert.deepEqual(texts(list), upTo(2));
  assert.deepEqual(ids(list), ['src-u1', 'src-a1', 'src-u2', 'src-a2'], 'message ids are kept');
  assert.equal(list[0].status.state, 'completed');
  assert.equal(list[0].contextId, id);
  assert.ok(list[0].history.every((m) => m.contextId === id && m.taskId === list[0].id));
  const got = await events(s, id);
  assert.deepEqual(got.map((e) => e.data), before[0].slice(0, 7).map((e) => e.data), 'with the header update before it');
  assert.ok(got.every((e) => e.session_id === id));
  const own = got.map((e) => e.id);
  assert.ok(own.every((x) => !before[0].some((e) => e.id === x)), 'ids of its own');
  assert.deepEqual((await events(s, id)).map((e) => e.id), own, 'and stable');
  assert.deepEqual([await events(s, 'src'), await tasks(s, 'src')], before);
  assert.equal((await ok(s, 'GET', `/api/tasks/${enc(list[0].id)}`)).history.length, 4);
  await converse(s, id, 1, { from: 7 });
  assert.deepEqual(texts(await tasks(s, id)), [...upTo(2), 'q7', 'a7']);
  assert.deepEqual([await events(s, 'src'), await tasks(s, 'src')], before);
  await agrees(s, id);
});

test('fork: no id, unknown id, the first invocation', async () => {
  const s = await shared();
  await make(s, 'edges', { name: 'E' });
  await converse(s, 'edges', 2);
  for (const body of [undefined, {}, { rewind_before_invocation_id: null }, { rewind_before_invocation_id: '' }]) {
    const r = await k(s, 'POST', '/api/sessions/edges/fork', body);
    assert.equal(r.status, 201, r.text);
    assert.equal(r.body.message, 'Successfully forked session');
    assert.deepEqual(texts(await tasks(s, r.body.data.id)), upTo(2));
    assert.equal((await events(s, r.body.data.id)).length, 6);
  }
  const unknown = await k(s, 'POST', '/api/sessions/edges/fork', { rewind_before_invocation_id: 'nope' });
  assert.equal(unknown.status, 201);
  assert.match(unknown.body.message, /nope was not found/);
  assert.deepEqual(texts(await tasks(s, unknown.body.data.id)), upTo(2));
  await make(s, 'plain');
  await add(s, 'plain', event('p1', { author: 'user' }), event('p1'));
  await post(s, task('p-t', 'plain', [message('p-u', 'user', 'q'), message('p-a', 'agent', 'a', { invocation: 'p1' })]));
  const first = await ok(s, 'POST', '/api/sessions/plain/fork', { rewind_before_invocation_id: 'p1' });
  assert.deepEqual(await events(s, first.id), []);
  const list = await tasks(s, first.id);
  assert.deepEqual(list.map((t) => [t.status.state, t.history]), [['completed', []]]);
  assert.equal(await refused(s, 404, 'POST', '/api/sessions/none/fork', {}), 'Session not found');
  await refused(s, 404, 'POST', '/api/sessions/edges/fork', {}, as('stranger'));
});

test('fork: however events and messages arrived', async () => {
  const s = await shared();
  const orders = {
    eventsFirst: async (id, i) => {
      await add(s, id, event(`${id}${i}`, { author: 'user' }), event(`${id}${i}`));
      await post(s, task(`${id}-t${i}`, id, [message(`${id}-u${i}`, 'user', `q${i}`), message(`${id}-a${i}`, 'agent', `a${i}`, { invocation: `${id}${i}` })]));
    },
    tasksFirst: async (id, i) => {
      await post(s, task(`${id}-t${i}`, id, [message(`${id}-u${i}`, 'user', `q${i}`), message(`${id}-a${i}`, 'agent', `a${i}`, { invocation: `${id}${i}` })]));
      await add(s, id, event(`${id}${i}`, { author: 'user' }), event(`${id}${i}`));
    },
    noTasksYet: async (id, i) => {
      await post(s, task(`${id}-t${i}`, id, [message(`${id}-u${i}`, 'user', `q${i}`)], { state: 'working' }));
      await add(s, id, event(`${id}${i}`, { author: 'user' }), event(`${id}${i}`));
      if (i < 3)
        await post(s, task(`${id}-t${i}`, id, [message(`${id}-u${i}`, 'user', `q${i}`), message(`${id}-a${i}`, 'agent', `a${i}`, { invocation: `${id}${i}` })]));
    },
    noEvents: async (id, i) => {
      await post(s, task(`${id}-t${i}`, id, [message(`${id}-u${i}`, 'user', `q${i}`), message(`${id}-a${i}`, 'agent', `a${i}`, { metadata: { adk_invocation_id: `${id}${i}` } })]));
    },
  };
  for (const [id, turn] of Object.entries(orders)) {
    await make(s, id);
    for (let i = 1; i <= 3; i++) await turn(id, i);
    const fork = await ok(s, 'POST', `/api/sessions/${id}/fork`, { rewind_before_invocation_id: `${id}3` });
    assert.deepEqual(texts(await tasks(s, fork.id)), upTo(2), id);
    assert.deepEqual((await read(s, fork.id)).map((e) => e.invocation_id), id === 'noEvents' ? [] : [1, 1, 2, 2].map((n) => `${id}${n}`), id);
    await ok(s, 'POST', `/api/sessions/${id}/rewind`, { rewind_before_invocation_id: `${id}2` });
    assert.deepEqual(texts(await tasks(s, id)), upTo(1), id);
    if (id !== 'noEvents') assert.equal((await agrees(s, id)).length, 2, id);
  }
});

test('fork of a fork, rewind in it, and on: every history is right', async () => {
  const s = await shared();
  await make(s, 'n0', { name: 'N' });
  await converse(s, 'n0', 4);
  const f1 = (await ok(s, 'POST', '/api/sessions/n0/fork', { rewind_before_invocation_id: 'n0-i4' })).id;
  await ok(s, 'POST', `/api/sessions/${f1}/rewind`, { rewind_before_invocation_id: 'n0-i3' });
  assert.deepEqual(texts(await tasks(s, f1)), upTo(2), 'a rewind inside what was inherited keeps what is before');
  await agrees(s, f1);
  const f2 = (await ok(s, 'POST', `/api/sessions/${f1}/fork`, { rewind_before_invocation_id: 'n0-i2' })).id;
  for (const id of ['n0', f1, f2]) await converse(s, id, 1, { from: 9 });
  assert.deepEqual(texts(await tasks(s, 'n0')), [...upTo(4), 'q9', 'a9']);
  assert.deepEqual(texts(await tasks(s, f1)), [...upTo(2), 'q9', 'a9']);
  assert.deepEqual(texts(await tasks(s, f2)), [...upTo(1), 'q9', 'a9']);
  for (const id of ['n0', f1, f2]) await agrees(s, id);
  await ok(s, 'POST', `/api/sessions/${f1}/undo`);
  assert.deepEqual(texts(await tasks(s, f1)), upTo(3));
  await agrees(s, f1);
  // the same in the native API
  const native = await must(s, 'GET', `sessions/${f2}/entries`, { user: 'u1' });
  assert.deepEqual(native.entries.map((e) => e.text), [...upTo(1), 'q9', 'a9']);
});

test('the effective history counts, not the record', async () => {
  const s = await shared();
  await make(s, 'eff');
  await converse(s, 'eff', 3);
  await ok(s, 'POST', '/api/sessions/eff/rewind', { rewind_before_invocation_id: 'eff-i2' });
  await converse(s, 'eff', 1, { from: 5 });
  const fork = await ok(s, 'POST', '/api/sessions/eff/fork', {});
  assert.deepEqual(texts(await tasks(s, fork.id)), ['q1', 'a1', 'q5', 'a5']);
  const got = await read(s, fork.id);
  assert.ok(got.every((e) => !e.actions.rewind_before_invocation_id), 'what was rewound is not there, nor that it was');
  assert.deepEqual(got.map((e) => e.id), (await effective(s, 'eff')).map((e) => e.id));
  const gone = await ok(s, 'POST', '/api/sessions/eff/fork', { rewind_before_invocation_id: 'eff-i3' });
  assert.deepEqual(texts(await tasks(s, gone.id)), ['q1', 'a1', 'q2', 'a2'], 'an invocation that was rewound is a boundary still');
  await agrees(s, gone.id);
});

test('camelCase and PascalCase events are read alike', async () => {
  const s = await shared();
  const shapes = {
    camel: (i, w, d) => ({ id: `c${i}`, invocationId: `c-${i}`, author: i % 2 ? 'user' : 'agent', actions: { stateDelta: d ?? {}, ...(w ? { rewindBeforeInvocationId: w } : {}) } }),
    pascal: (i, w, d) => ({ ID: `p${i}`, InvocationID: `p-${i}`, Author: 'agent', Timestamp: '2026-01-01T00:00:00Z', Actions: { StateDelta: d ?? {}, ...(w ? { RewindBeforeInvocationID: w } : {}) } }),
  };
  for (const [id, shape] of Object.entries(shapes)) {
    await make(s, id);
    const send1 = (n, e) => k(s, 'POST', `/api/sessions/${id}/events`, { id: `${id}${n}`, data: JSON.stringify(e) });
    for (let i = 1; i <= 3; i++) assert.equal((await send1(i, shape(i, null, { n: i }))).status, 201);
    const fork = await ok(s, 'POST', `/api/sessions/${id}/fork`, { rewind_before_invocation_id: `${id[0]}-2` });
    assert.equal((await events(s, fork.id)).length, 1);
    assert.equal((await send1(9, shape(9, `${id[0]}-2`))).status, 201);
    assert.equal((await events(s, id, '&view=effective')).length, 1, `${id}: a rewind event of the runtime moves the head`);
    assert.equal((await events(s, id)).length, 4);
    assert.deepEqual((await ok(s, 'GET', `/api/sessions/${id}?view=effective`)).state, { n: 1 });
    assert.deepEqual((await must(s, 'GET', `sessions/${id}/state`, { user: 'u1' })).state, { n: 1 }, 'natively, too');
  }
});

// ------------------------------------------------------------------ rewind

test('rewind: persists, undo, redo, unknown, annulled ones are known', async () => {
  const s = await shared();
  await make(s, 'rw');
  await converse(s, 'rw', 3);
  const record = (await events(s, 'rw')).length;
  let r = await k(s, 'POST', '/api/sessions/rw/rewind', { rewind_before_invocation_id: 'rw-i2' });
  assert.deepEqual([r.status, r.body.data.id], [200, 'rw']);
  assert.deepEqual(texts(await tasks(s, 'rw')), upTo(1));
  const all = await read(s, 'rw');
  assert.equal(all.length, record + 1, 'everything stays in the log, and one event more');
  const marker = all.at(-1);
  assert.deepEqual(Object.keys(marker), ['id', 'invocation_id', 'author', 'timestamp', 'actions']);
  assert.deepEqual(Object.keys(marker.actions), ['rewind_before_invocation_id', 'state_delta', 'artifact_delta']);
  assert.match(marker.invocation_id, /^e-[0-9a-f-]{36}$/);
  assert.equal(marker.author, 'user');
  assert.equal(typeof marker.timestamp, 'number');
  assert.deepEqual(marker.actions.state_delta, { headers: { n: 2 }, last: 1 }, 'the header update before it stays');
  await agrees(s, 'rw');
  assert.match(await refused(s, 400, 'POST', '/api/sessions/rw/rewind', { rewind_before_invocation_id: 'nope' }), /Invocation ID not found/);
  assert.match(await refused(s, 400, 'POST', '/api/sessions/rw/rewind', {}), /required/);
  assert.equal((await read(s, 'rw')).length, record + 1, 'nothing changed');
  await ok(s, 'POST', '/api/sessions/rw/undo');
  assert.deepEqual(texts(await tasks(s, 'rw')), upTo(3));
  assert.equal((await read(s, 'rw')).at(-1).actions.rewind_before_invocation_id, marker.invocation_id, 'undo rewinds before the rewind');
  await agrees(s, 'rw');
  await ok(s, 'POST', '/api/sessions/rw/redo');
  assert.deepEqual(texts(await tasks(s, 'rw')), upTo(1));
  await agrees(s, 'rw');
  r = await k(s, 'POST', '/api/sessions/rw/rewind', { rewind_before_invocation_id: 'rw-i3' });
  assert.equal(r.status, 200, 'an invocation that was annulled is known');
  assert.deepEqual(texts(await tasks(s, 'rw')), upTo(2));
  await agrees(s, 'rw');
  await make(s, 'unmoved');
  await refused(s, 409, 'POST', '/api/sessions/unmoved/undo');
  await refused(s, 409, 'POST', '/api/sessions/unmoved/redo');
  const native = await must(s, 'GET', 'sessions/rw/entries', { user: 'u1' });
  assert.deepEqual(native.entries.map((e) => e.text), upTo(2));
});

test('moves through the native API append rewind events as well', async () => {
  const s = await shared();
  await make(s, 'nat');
  await converse(s, 'nat', 3);
  const u = { user: 'u1' };
  await must(s, 'POST', 'sessions/nat/rewind', { ...u, json: { at: { entry_id: 'nat-u3', side: 'before' } } });
  assert.deepEqual(texts(await tasks(s, 'nat')), upTo(2));
  assert.equal((await agrees(s, 'nat')).at(-1).invocation_id, 'header_update');
  await must(s, 'POST', 'sessions/nat/rewind', { ...u, json: { at: { entry_id: 'nat-u2', side: 'after' } } });
  assert.deepEqual((await agrees(s, 'nat')).map((e) => e.invocation_id), ['header_update', 'nat-i1', 'nat-i1', 'header_update'], 'an invocation is not parted');
  await must(s, 'POST', 'sessions/nat/undo', u);
  await agrees(s, 'nat');
  await must(s, 'POST', 'sessions/nat/entries/nat-u1/edit', { ...u, json: { entry: { text: 'edited' } } });
  await agrees(s, 'nat');
  const { branches } = await must(s, 'GET', 'sessions/nat/branches', u);
  for (const b of branches) {
    await must(s, 'POST', 'sessions/nat/switch', { ...u, json: { branch_id: b.branch_id } });
    await agrees(s, 'nat');
  }
  await must(s, 'POST', 'sessions/nat/sync', { ...u, json: { entries: [{ role: 'user', text: 'anew' }] } });
  await agrees(s, 'nat');
  assert.deepEqual(texts(await tasks(s, 'nat')), ['anew']);
});

test('ADK\'s rule: the examples', async () => {
  const s = await shared();
  const cases = [
    ['A1 B2 R3>2 C4', 'A C'], ['A1 B2 R3>2 C4 R5>3', 'A B'], ['A1 B2 R3>9 C4', 'A B C'], ['A1 B2 R3>2 C4 R5>1 D6', 'D'],
    ['A1 B2 R3>2 C4 R5>2 D6', 'A D'], ['H0 A1 H0 B2 R3>2 H0 C4', 'H A H H C'], ['A1 B2 C3 R4>2 D5 E6', 'A D E'],
    ['A1 B2 R3>2 R4>3 R5>4 C6', 'A C'], ['A1 R2>1 B3 R4>3', ''], ['A1 B2 A1 R3>1 C4', 'C'], ['A1 B2 R3>1 B2 R4>2 C5', 'A C'],
  ];
  for (const [n, [list, want]] of cases.entries()) {
    const id = `table${n}`;
    await make(s, id);
    for (const [i, word] of list.split(' ').entries()) {
      const [, name, inv, before] = /^([A-Z])(\d+)(?:>(\d+))?$/.exec(word);
      await add(s, id, event(`i${inv}`, { id: `${name}${i}-${n}`, author: 'user', rewind: before && `i${before}`, delta: before ? {} : { [name]: i } }));
    }
    const record = await read(s, id);
    assert.deepEqual(rule(record).map((e) => e.id[0]).join(' '), want, `the model on ${list}`);
    assert.deepEqual((await effective(s, id)).map((e) => e.id[0]).join(' '), want, list);
  }
});

test('ADK\'s rule: at random, through every face', async () => {
  const s = await shared();
  let seed = Number(process.env.SEED ?? Date.now() % 100000);
  console.log(`# seed ${seed}`);
  const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
  const rounds = Number(process.env.ROUNDS ?? 6);
  for (let round = 0; round < rounds; round++) {
    const sessions = [`rand${round}-${process.pid}`];
    await make(s, sessions[0]);
    for (let step = 0; step < 60; step++) {
      const id = sessions[random(sessions.length)];
      const inv = `r${random(12)}`;
      switch (random(13)) {
        case 10: {
          const { branches } = await must(s, 'GET', `sessions/${id}/branches`, { user: 'u1' });
          await must(s, 'POST', `sessions/${id}/switch`, { user: 'u1', json: { branch_id: branches[random(branches.length)].branch_id } });
          break;
        }
        case 11: {
          const list = [message(`${id}-u${step}`, 'user', 'q'), message(`${id}-a${step}`, 'agent', 'a', { invocation: inv })];
          await post(s, task(`${id}-t${step}`, id, list));
          break;
        }
        case 12: {
          const all = (await tasks(s, id)).flatMap((t) => t.history);
          await ok(s, 'PUT', `/api/sessions/${id}/effective_history`, all.slice(0, random(all.length + 1)));
          break;
        }
        case 0: await k(s, 'POST', `/api/sessions/${id}/rewind`, { rewind_before_invocation_id: inv }); break;
        case 1: await k(s, 'POST', `/api/sessions/${id}/undo`); break;
        case 2: await k(s, 'POST', `/api/sessions/${id}/redo`); break;
        case 3: {
          // as the runtime makes it: with the delta that makes the state what it was
          const record = await read(s, id);
          const j = record.findIndex((e) => e.invocation_id === inv);
          if (j < 0) break;
          const now = replay(record), then = replay(record.slice(0, j)), delta = {};
          for (const x in then) if (then[x] !== now[x]) delta[x] = then[x];
          for (const x in now) if (!(x in then)) delta[x] = null;
          await send(s, id, event(`e-${++counter}`, { author: 'user', rewind: inv, delta }));
          break;
        }
        case 4: {
          if (sessions.length > 3) break;
          const r = await k(s, 'POST', `/api/sessions/${id}/fork`, random(2) ? { rewind_before_invocation_id: inv } : {});
          sessions.push(r.body.data.id);
          break;
        }
        case 5: {
          const { entries } = await must(s, 'GET', `sessions/${id}/entries?limit=100`, { user: 'u1' });
          if (entries.length)
            await must(s, 'POST', `sessions/${id}/rewind`, { user: 'u1', json: { at: { entry_id: entries[random(entries.length)].id, side: random(2) ? 'before' : 'after' } } });
          break;
        }
        case 6: await append(s, id, `m${step}`, { user: 'u1' }); break;
        case 7: await send(s, id, event('header_update', { author: 'system', delta: { headers: step } })); break;
        default: {
          const r = await send(s, id, event(inv, { author: random(2) ? 'user' : 'agent', delta: random(2) ? { [`k${random(4)}`]: random(3) ? random(5) : null } : {} }));
          assert.ok([201, 409].includes(r.status), r.text);
        }
      }
      await agrees(s, id);
    }
    for (const id of sessions) await agrees(s, id);
  }
}, { seconds: 180 });

test('state: app: and user: keys are not rewound', async () => {
  const s = await shared();
  await make(s, 'st');
  await add(s, 'st', event('s1', { author: 'user', delta: { a: 1, 'app:x': 1 } }),
    event('s2', { author: 'user', delta: { a: 2, b: 2, 'app:x': 2, 'user:y': 'z', 'temp': null } }));
  await ok(s, 'POST', '/api/sessions/st/rewind', { rewind_before_invocation_id: 's2' });
  const { state } = await ok(s, 'GET', '/api/sessions/st?view=effective');
  assert.deepEqual(state, { a: 1, 'app:x': 2, 'user:y': 'z' });
  assert.deepEqual((await read(s, 'st')).at(-1).actions.state_delta, { a: 1, b: null });
});

test('what comes late of a turn that was rewound never lands on the new head', async () => {
  const s = await shared();
  await make(s, 'late');
  await converse(s, 'late', 2);
  await add(s, 'late', event('late-i3', { author: 'user' }));
  const t3 = (more = []) => task('late-t3', 'late', [message('late-u3', 'user', 'q3'), ...more], { state: 'working' });
  await post(s, t3());
  await ok(s, 'POST', '/api/sessions/late/rewind', { rewind_before_invocation_id: 'late-i3' });
  assert.deepEqual(texts(await tasks(s, 'late')), upTo(2));
  const r = await send(s, 'late', event('late-i3'));
  assert.equal(r.status, 409, r.text);
  await post(s, t3([message('late-a3', 'agent', 'a3', { invocation: 'late-i3' })]));
  assert.deepEqual(texts(await tasks(s, 'late')), upTo(2));
  await agrees(s, 'late');
  await ok(s, 'POST', '/api/sessions/late/undo');
  assert.deepEqual(texts(await tasks(s, 'late')), upTo(3), 'it stands where the turn was');
});

test('two clients rewind at once: one order, both see it', async () => {
  const s = await shared();
  await make(s, 'race');
  await converse(s, 'race', 5);
  const all = await Promise.all([2, 3, 4, 5, 2, 3].map((n) => k(s, 'POST', '/api/sessions/race/rewind', { rewind_before_invocation_id: `race-i${n}` })));
  assert.ok(all.every((r) => r.status === 200));
  const shown = await agrees(s, 'race');
  const invs = new Set(shown.map((e) => e.invocation_id).filter((x) => x.startsWith('race')));
  assert.deepEqual(texts(await tasks(s, 'race')), upTo(invs.size));
});

// ------------------------------------------------------------------ tasks

test('tasks: growing upserts store what is new', async () => {
  const s = await shared();
  await make(s, 'grow');
  const history = [];
  for (let i = 0; i < 30; i++) {
    history.push(message(`g${i}`, i % 2 ? 'agent' : 'user', `text ${i}`));
    await post(s, task('grow-t', 'grow', history, { state: i === 29 ? 'completed' : 'working' }));
  }
  const list = await tasks(s, 'grow');
  assert.equal(list.length, 1);
  assert.deepEqual(ids(list), history.map((m) => m.messageId));
  const { entries } = await must(s, 'GET', 'sessions/grow/record?limit=1000', { user: 'u1' });
  assert.equal(entries.length, 30, 'nothing is stored twice');
  assert.deepEqual((await must(s, 'GET', 'sessions/grow/head-log', { user: 'u1' })).moves, []);
  // in the other shape, and with other white space
  const v10 = { id: 'grow-t', contextId: 'grow', status: { state: 'TASK_STATE_COMPLETED' },
    history: history.map((m) => ({ messageId: m.messageId, role: m.role === 'user' ? 'ROLE_USER' : 'ROLE_AGENT', parts: [{ text: m.parts[0].text }] })) };
  const r = await k(s, 'POST', '/api/tasks', v10, { headers: { ...as('u1').headers, 'A2A-Version': '1.0' } });
  assert.equal(r.status, 201, r.text);
  assert.deepEqual((await must(s, 'GET', 'sessions/grow/head-log', { user: 'u1' })).moves, []);
});

test('tasks: missing and changed messages move the head, other tasks keep theirs', async () => {
  const s = await shared();
  await make(s, 'sync');
  const m = (id, text = id) => message(id, id.startsWith('u') ? 'user' : 'agent', text);
  await post(s, task('A', 'sync', [m('u1'), m('a1')]));
  await post(s, task('B', 'sync', [m('u2'), m('a2')]));
  await post(s, task('A', 'sync', [m('u1'), m('a1'), m('a1b')]));
  assert.deepEqual(ids(await tasks(s, 'sync')), ['u1', 'a1', 'a1b', 'u2', 'a2']);
  const native = async () => (await must(s, 'GET', 'sessions/sync/entries', { user: 'u1' })).entries.map((e) => e.text);
  assert.deepEqual(await native(), ['u1', 'a1', 'u2', 'a2', 'a1b'], 'new ones of any task go to the end');
  const moves = async () => (await must(s, 'GET', 'sessions/sync/head-log', { user: 'u1' })).moves.length;
  assert.equal(await moves(), 0);
  await post(s, task('A', 'sync', [m('u1'), m('a1', 'changed'), m('a1b')]));
  assert.deepEqual(await native(), ['u1', 'changed', 'u2', 'a2', 'a1b']);
  assert.equal(await moves(), 1);
  await post(s, task('A', 'sync', [m('u1')]));
  assert.deepEqual(await native(), ['u1', 'u2', 'a2']);
  assert.equal(await moves(), 2);
  await post(s, task('A', 'sync', null, { state: 'failed' }));
  assert.deepEqual(await native(), ['u1', 'u2', 'a2'], 'no history says nothing about it');
  assert.equal((await ok(s, 'GET', '/api/tasks/A')).status.state, 'failed');
  await post(s, task('B', 'sync', [m('u1'), m('u2'), m('a2')]));
  assert.deepEqual(await native(), ['u1', 'u2', 'a2'], 'a message of another task stays there');
  await must(s, 'POST', 'sessions/sync/undo', { user: 'u1' });
  assert.deepEqual(await native(), ['u1', 'changed', 'u2', 'a2', 'a1b'], 'the old branch is there');
  await make(s, 'elsewhere');
  assert.equal(await refused(s, 409, 'POST', '/api/tasks', task('A', 'elsewhere', [])), 'Task ID is already in use');
});

test('tasks: both shapes by A2A-Version', async () => {
  const s = await shared();
  await make(s, 'shape');
  const at = (v) => ({ headers: { ...as('u1').headers, 'A2A-Version': v } });
  const parts03 = [{ kind: 'text', text: 'x' }, { kind: 'file', file: { uri: 'http://h/f', name: 'f', mimeType: 'text/plain' } },
    { kind: 'file', file: { bytes: 'aGk=', name: 'b' } }, { kind: 'data', data: { a: 1 }, metadata: { m: 1 } }];
  const parts10 = [{ text: 'x' }, { url: 'http://h/f', filename: 'f', mediaType: 'text/plain' }, { raw: 'aGk=', filename: 'b' },
    { data: { a: 1 }, metadata: { m: 1 } }];
  await post(s, { ...task('S03', 'shape', [{ ...message('x3', 'agent', ''), parts: parts03 }], { state: 'input-required' }),
    artifacts: [{ artifactId: 'r', name: 'n', parts: parts03 }] });
  await ok(s, 'POST', '/api/tasks', { id: 'S10', contextId: 'shape', status: { state: 'TASK_STATE_COMPLETED', timestamp: '2026-01-01T00:00:00Z' },
    history: [{ messageId: 'x10', role: 'ROLE_AGENT', parts: parts10 }] }, at('1.0'));
  const old = await tasks(s, 'shape', at('0.3'));
  assert.deepEqual(old.map((t) => [t.kind, t.status.state]), [['task', 'input-required'], ['task', 'completed']]);
  for (const t of old) assert.deepEqual([t.history[0].role, t.history[0].kind, t.history[0].parts], ['agent', 'message', parts03]);
  assert.deepEqual(old[0].artifacts[0].parts, parts03);
  const neu = await tasks(s, 'shape', at('1.0'));
  assert.deepEqual(neu.map((t) => [t.kind, t.status.state]), [[undefined, 'TASK_STATE_INPUT_REQUIRED'], [undefined, 'TASK_STATE_COMPLETED']]);
  for (const t of neu) assert.deepEqual([t.history[0].role, t.history[0].kind, t.history[0].parts], ['ROLE_AGENT', undefined, parts10]);
  assert.deepEqual(neu[0].artifacts[0].parts, parts10);
  assert.match(neu[0].status.timestamp, /^2026-01-02T03:04:05\.123Z$/);
  for (const [method, path, json] of [['GET', '/api/sessions/shape/tasks'], ['GET', '/api/tasks/S03'], ['POST', '/api/tasks', task('S', 'shape', [])]])
    assert.equal(await refused(s, 400, method, path, json, at('2.0')), 'Unsupported A2A version: 2.0');
});

test('effective_history is the same sync', async () => {
  const s = await shared();
  await make(s, 'eh');
  await converse(s, 'eh', 3);
  const all = (await tasks(s, 'eh')).flatMap((t) => t.history);
  let r = await k(s, 'PUT', '/api/sessions/eh/effective_history', all.slice(0, 2));
  assert.equal(r.status, 200, r.text);
  assert.deepEqual(texts(await tasks(s, 'eh')), upTo(1));
  await agrees(s, 'eh');
  r = await k(s, 'PUT', '/api/sessions/eh/effective_history', { messages: [...all.slice(0, 2), message('new', 'user', 'new')] });
  assert.equal(r.status, 200, r.text);
  assert.deepEqual(texts([r.body.data]), [...upTo(1), 'new']);
  assert.deepEqual(texts(await tasks(s, 'eh')), [...upTo(1), 'new']);
  for (const bad of ['{', '{}', '[1]', '[{"messageId":"x"}]', '"x"']) await refused(s, 400, 'PUT', '/api/sessions/eh/effective_history', bad);
  assert.deepEqual(texts(await tasks(s, 'eh')), [...upTo(1), 'new']);
});

test('sessions of the native API are tasks here, and the other way round', async () => {
  const s = await shared();
  await must(s, 'POST', 'sessions', { user: 'u1', json: { id: 'native', title: 'Native', agent: 'echo' } });
  const turn = await must(s, 'POST', 'sessions/native/messages', { user: 'u1', json: { text: 'hello' } });
  const list = await tasks(s, 'native');
  assert.equal(list.length, 1);
  assert.deepEqual([list[0].id, list[0].status.state, list[0].contextId], [turn.turn_id ?? list[0].id, 'completed', 'native']);
  assert.deepEqual(list[0].history.map((m) => m.role), ['user', 'agent']);
  const inv = list[0].history[1].metadata.kagent_invocation_id;
  assert.equal(list[0].history[0].metadata.kagent_invocation_id, inv);
  const fork = await ok(s, 'POST', '/api/sessions/native/fork', { rewind_before_invocation_id: inv });
  assert.deepEqual((await tasks(s, fork.id)).map((t) => t.history), [[]]);
  assert.ok((await ok(s, 'GET', '/api/sessions/agent/kagent/echo')).some((x) => x.id === 'native'));
});

test('every task of a list is found by its id', async () => {
  const s = await shared(), u = { user: 'u1' };
  await must(s, 'POST', 'sessions', { ...u, json: { id: 'loose~1', agent: 'echo' } });
  const add1 = (list) => must(s, 'POST', `sessions/${enc('loose~1')}/entries`, { ...u, json: { entries: list } });
  await add1([{ role: 'assistant', text: 'hello' }, { role: 'user', text: 'q1' }, { role: 'assistant', text: 'a1' }, { role: 'assistant', text: 'b1' }]);
  await must(s, 'POST', `sessions/${enc('loose~1')}/messages`, { ...u, json: { text: 'turn' } });
  await add1([{ role: 'assistant', text: 'x', id: 'a~b' }, { role: 'user', text: 'q2' }]);
  const fork = await ok(s, 'POST', `/api/sessions/${enc('loose~1')}/fork`, {});
  await must(s, 'POST', `sessions/${fork.id}/entries`, { ...u, json: { entries: [{ role: 'user', text: 'more' }] } });
  for (const [id, want] of [['loose~1', ['hello', 'q1+a1+b1', 'turn+turn', 'x', 'q2']], [fork.id, ['hello+q1+a1+b1+turn+turn+x+q2', 'more']]]) {
    const list = await tasks(s, id);
    assert.deepEqual(list.map((t) => texts([t]).join('+')), want);
    for (const t of list) assert.deepEqual(await ok(s, 'GET', `/api/tasks/${enc(t.id)}`), t);
    for (const t of list) await refused(s, 404, 'GET', `/api/tasks/${enc(t.id)}`, undefined, as('stranger'));
  }
  const [, q1] = await tasks(s, 'loose~1');
  await refused(s, 404, 'GET', `/api/tasks/${enc(q1.id.replace(q1.history[0].messageId, q1.history[1].messageId))}`); // no task begins there
  assert.equal((await k(s, 'DELETE', `/api/tasks/${enc(q1.id)}`)).status, 204);
  assert.ok(!(await tasks(s, 'loose~1')).some((t) => t.id === q1.id));
});

test('everything is there after a restart', async () => {
  const first = await start();
  await make(first, 'r');
  await converse(first, 'r', 3);
  await ok(first, 'POST', '/api/sessions/r/rewind', { rewind_before_invocation_id: 'r-i3' });
  const fork = (await ok(first, 'POST', '/api/sessions/r/fork', { rewind_before_invocation_id: 'r-i2' })).id;
  const seen = [];
  for (const id of ['r', fork]) seen.push(await tasks(first, id), await events(first, id), await effective(first, id));
  await first.stop();
  const second = await start({ db: first.db });
  const now = [];
  for (const id of ['r', fork]) now.push(await tasks(second, id), await events(second, id), await effective(second, id));
  assert.deepEqual(now, seen);
  await ok(second, 'POST', '/api/sessions/r/undo');
  assert.deepEqual(texts(await tasks(second, 'r')), upTo(3));
});

// ------------------------------------------------------------------ bad input

test('bad input on every route: refused in its shape, and nothing changed', async () => {
  const s = await shared();
  await make(s, 'bad');
  await converse(s, 'bad', 1);
  const before = [await events(s, 'bad'), await tasks(s, 'bad')];
  for (const json of ['{', '[]', '7', '{"agent_ref": 7}', '{"agent_ref":"a/b","agent_ref":"a/b"}'])
    assert.match(await refused(s, 400, 'POST', '/api/sessions', json), /^Invalid request body/);
  assert.equal(await refused(s, 400, 'POST', '/api/sessions', {}), 'agent_ref is required');
  await refused(s, 400, 'POST', '/api/sessions', { agent_ref: AGENT, id: 'x'.repeat(300) });
  await refused(s, 400, 'POST', '/api/sessions', { agent_ref: AGENT, source: 'robot' });
  await refused(s, 413, 'POST', '/api/sessions', { agent_ref: AGENT, name: 'x'.repeat(600) });
  for (const json of ['{', { id: 'x' }, { id: 'x', data: '{' }, { id: 'x', data: '[]' }, { id: 'x', data: {} }, { id: 'x'.repeat(300), data: '{}' }])
    await refused(s, 400, 'POST', '/api/sessions/bad/events', json);
  for (const json of ['{', '[]', { rewind_before_invocation_id: 7 }]) {
    await refused(s, 400, 'POST', '/api/sessions/bad/fork', json);
    await refused(s, 400, 'POST', '/api/sessions/bad/rewind', json);
  }
  await refused(s, 400, 'POST', '/api/sessions/bad/fork', { rewind_before_invocation_id: 'x'.repeat(300) });
  const bad = (t) => refused(s, 400, 'POST', '/api/tasks', t);
  const one = (m) => bad(task('bt', 'bad', [m]));
  for (const json of ['{', '[]', {}, { id: 'bt', contextId: 'bad' }, { id: 7, status: { state: 'working' } }]) await bad(json);
  await bad(task('bt', 'bad', 'x'));
  await bad(task('bt', 'bad', [], { state: 'sleeping' }));
  await bad(task('bt', 'bad', [], { artifacts: [{}] }));
  await bad(task('bt', 'bad', [], { metadata: [] }));
  assert.match(await bad({ ...task('bt', 'bad', []), status: { state: 'working', timestamp: 'yesterday' } }), /^Invalid legacy task payload/);
  await one({ ...message('m', 'user', ''), parts: [{ kind: 'video', text: 'x' }] });
  await one({ ...message('m', 'user', ''), parts: 'x' });
  await one({ ...message('m', 'nobody', '') });
  await one({ ...message('', 'user', '') });
  await one({ ...message('m'.repeat(300), 'user', '') });
  await one({ ...message('m', 'user', ''), metadata: 'x' });
  await one(7);
  for (const path of ['', '/tasks', '/shares']) await refused(s, 404, 'GET', `/api/sessions/none${path}`);
  for (const path of ['/fork', '/rewind', '/undo', '/redo', '/shares']) await refused(s, 404, 'POST', `/api/sessions/none${path}`, {});
  await refused(s, 404, 'PUT', '/api/sessions/none', { name: 'x' });
  await refused(s, 404, 'PUT', '/api/sessions/none/effective_history', []);
  await refused(s, 404, 'GET', '/api/tasks/none');
  assert.equal((await k(s, 'DELETE', '/api/tasks/none')).status, 204, 'as kagent: what is not there is deleted');
  await refused(s, 404, 'GET', '/api/tasks/bad-t1', undefined, as('stranger'));
  await refused(s, 400, 'POST', '/api/feedback', { is_positive: 'x', feedback_text: 'y' });
  await refused(s, 400, 'POST', '/api/sessions/bad/shares', { read_only: 'x' });
  await refused(s, 400, 'GET', '/api/sessions?user_id=' + 'x'.repeat(300));
  assert.equal((await k(s, 'POST', '/health')).status, 405);
  assert.deepEqual([await events(s, 'bad'), await tasks(s, 'bad')], before);
});

await finish();
