// SPDX-License-Identifier: Apache-2.0
//
// kagent_input.mjs: bad input on every route of kagent and A2A. The routes are those of the server's
// own OpenAPI document: one that has no row here fails the run. Each is called with every id, member
// and parameter wrong in every way; the answer has the right status and shape and names what is
// wrong, and nothing has changed.
import { test, finish, start, call, enc, assert } from './lib.mjs';

const AGENT = 'ns__NS__a';
const OWNER = { 'X-User-Id': 'owner', 'X-Agent-Name': AGENT };
const STRANGER = { 'X-User-Id': 'stranger', 'X-Agent-Name': AGENT };
const LONG = 'x'.repeat(300);
const task = (id, more = {}) => ({ kind: 'task', id, contextId: 'in', status: { state: 'completed' }, history: [], ...more });
const said = (more = {}) => ({ kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'x' }], ...more });

/** By operation: values for its path, a body that does, the status for who may not see it. */
const rows = {
  kagentHealth: {}, kagentVersion: {}, kagentMe: {}, kagentListSessions: {}, kagentToolServers: {}, kagentNamespaces: {},
  kagentListFeedback: {}, kagentListAgents: {},
  kagentCreateSession: { body: { agent_ref: AGENT, id: 'in', name: 'n', source: 'user' }, stranger: 409 },
  kagentListAgentSessions: { path: { namespace: 'ns', name: 'a' }, stranger: 404 },
  kagentGetSession: { path: { session_id: 'in' }, stranger: 404 },
  kagentPutSession: { path: { session_id: 'in' }, body: { name: 'x', agent_ref: AGENT }, stranger: 404 },
  kagentPatchSession: { path: { session_id: 'in' }, body: { name: 'x', agent_ref: AGENT }, stranger: 404 },
  kagentDeleteSession: { path: { session_id: 'in' }, stranger: 200, unknown: 200 }, // what is not there is deleted
  kagentAddEvent: { path: { session_id: 'in' }, body: { id: 'e9', data: '{}' }, stranger: 404 },
  kagentForkSession: { path: { session_id: 'in' }, body: { rewind_before_invocation_id: 'i1' }, stranger: 404 },
  kagentRewindSession: { path: { session_id: 'in' }, body: { rewind_before_invocation_id: 'i1' }, stranger: 404 },
  kagentUndo: { path: { session_id: 'in' }, body: {}, stranger: 404 },
  kagentRedo: { path: { session_id: 'in' }, body: {}, stranger: 404 },
  kagentListTasks: { path: { session_id: 'in' }, stranger: 404 },
  kagentPutHistory: { path: { session_id: 'in' }, body: [], stranger: 404 },
  kagentPutTask: { body: task('t1'), stranger: 404 },
  kagentGetTask: { path: { task_id: 't1' }, stranger: 404 },
  kagentDeleteTask: { path: { task_id: 't1' }, stranger: 204, unknown: 204 },
  kagentShare: { path: { session_id: 'in' }, body: { read_only: true }, stranger: 404 },
  kagentListShares: { path: { session_id: 'in' }, stranger: 404 },
  kagentUnshare: { path: { session_id: 'in', token: 'none' }, stranger: 404 },
  kagentGetAgent: { path: { namespace: 'ns', name: 'a' }, stranger: 404 },
  kagentFeedback: { body: { is_positive: true, feedback_text: 'x', issue_type: 'factual', message_id: 1 } },
  a2aCard: { path: { agent: 'echo' }, plain: true }, a2aCardUnder: { path: { agent: 'echo', '*rest': '.well-known/agent-card.json' }, plain: true },
  a2aKagentCard: { path: { namespace: 'kagent', name: 'echo' }, plain: true },
  a2aKagentCardUnder: { path: { namespace: 'kagent', name: 'echo', '*rest': '.well-known/agent-card.json' }, plain: true },
  a2aCall: { path: { agent: 'echo' }, rpc: true }, a2aCallUnder: { path: { agent: 'echo', '*rest': 'v1' }, rpc: true },
  a2aKagentCall: { path: { namespace: 'kagent', name: 'echo' }, rpc: true },
  a2aKagentCallUnder: { path: { namespace: 'kagent', name: 'echo', '*rest': 'v1' }, rpc: true },
};

const rest = (path = {}) => ({ path: { agent: 'echo', ...path }, plain: true, headers: { 'A2A-Version': '1.0' } });
Object.assign(rows, {
  a2aRootCard: { plain: true }, a2aRootCardOld: { plain: true },
  a2aRestSend: rest(), a2aRestStream: rest(), a2aRestTasks: rest(), a2aRestCard: rest(), a2aRestTask: rest({ task: 'none' }), a2aRestTaskVerb: rest({ task: 'none:cancel' }),
  a2aRestAddConfig: rest({ task: 'none' }), a2aRestConfigs: rest({ task: 'none' }),
  a2aRestConfig: rest({ task: 'none', config: 'none' }), a2aRestDeleteConfig: rest({ task: 'none', config: 'none' }),
});

let server, routes;
async function prepared() {
  if (server && server.child.exitCode === null) return server;
  server = await start({ keep: true });
  const put = async (path, json) => {
    const r = await call(server, 'POST', path, { headers: OWNER, json });
    assert.equal(r.status, 201, r.text);
  };
  await put('/api/sessions', { agent_ref: AGENT, id: 'in', name: 'n' });
  await put('/api/sessions', { agent_ref: 'kagent/echo', id: 'ctx' });
  await put('/api/sessions/in/events', { id: 'e1', data: '{"invocation_id":"i1","author":"user"}' });
  await put('/api/tasks', task('t1', { history: [said()] }));
  const doc = (await call(server, 'GET', '/openapi.json')).body;
  routes = Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, o]) => ({ path, method: method.toUpperCase(), ...o })))
    .filter((r) => /^(kagent|a2a)[A-Z]/.test(r.operationId));
  return server;
}
const fill = (path, values = {}) => path.replace(/\{([^}]+)\}/g, (_, name) => (name === '*rest' ? values[name] : enc(values[name])));
/** All that could have changed. */
async function everything(s) {
  const out = [];
  for (const path of ['/api/sessions', '/api/sessions/in?order=asc', '/api/sessions/in/tasks', '/api/sessions/in/shares', '/api/sessions/ctx/tasks', '/api/feedback'])
    for (const headers of [OWNER, STRANGER]) out.push((await call(s, 'GET', path, { headers })).text);
  return out;
}
async function unchanged(s, before, what) {
  assert.deepEqual(await everything(s), before, `${what} changed something`);
}
/** The error of a kagent route. */
function refused(r, statuses, names, what) {
  assert.ok([statuses].flat().includes(r.status), `${what}: ${r.status} ${r.text}`);
  if (r.status < 400) return;
  assert.deepEqual(Object.keys(r.body), ['error'], `${what}: ${r.text}`);
  assert.equal(typeof r.body.error, 'string');
  if (names) assert.match(r.body.error, names, what);
}
/** Wrong values for what the document says a member is. */
const wrongFor = (schema) => {
  const all = [7, 'x', true, {}, []];
  const fits = { string: (v) => typeof v === 'string', boolean: (v) => typeof v === 'boolean', integer: (v) => typeof v === 'number' };
  return schema.type ? all.filter((v) => !fits[schema.type]?.(v)) : [];
};

test('every route has its row', async () => {
  await prepared();
  assert.deepEqual(routes.map((r) => r.operationId).sort(), Object.keys(rows).sort());
});

test('ids: unknown, too long, not UTF-8, with control characters', async () => {
  const s = await prepared(), before = await everything(s);
  for (const route of routes) {
    const row = rows[route.operationId];
    for (const name of Object.keys(row.path ?? {}).filter((n) => n !== '*rest')) {
      for (const [value, statuses] of [['no-such', row.unknown ?? 404], [LONG, [400, 404]], ['%ff', 400], ['a%00b', [400, 404]], ['a%0ab', [400, 404]], ['', [200, 404, 405]]]) {
        const path = fill(route.path, { ...row.path, [name]: '\u0001' }).replace('%01', value);
        const json = row.rpc ? { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } } : row.body;
        const r = await call(s, route.method, path, { headers: { ...OWNER, ...row.headers }, json });
        const what = `${route.method} ${path.slice(0, 80)}`;
        const allowed = [...[statuses].flat(), ...(row.unknown && statuses !== 400 ? [row.unknown] : [])];
        assert.ok(allowed.includes(r.status), `${what}: ${r.status} ${r.text}`);
        // A path that cannot be read is no route's yet: the server itself answers.
        if (!['', '%ff', 'a%00b'].includes(value) && r.status >= 400 && !row.plain && !row.rpc) refused(r, r.status, null, what);
        if (r.status === 400) assert.equal(typeof (r.body?.error?.message ?? r.body?.error), 'string', what);
      }
    }
  }
  await unchanged(s, before, 'a bad id');
});

test('another user finds nothing', async () => {
  const s = await prepared(), before = await everything(s);
  for (const route of routes) {
    const row = rows[route.operationId];
    if (!row.stranger) continue;
    const r = await call(s, route.method, fill(route.path, row.path), { headers: STRANGER, json: row.body });
    refused(r, row.stranger, null, `${route.method} ${route.path}`);
  }
  await unchanged(s, before, 'a stranger');
});

test('bodies: no JSON, no object, not UTF-8, too deep', async () => {
  const s = await prepared(), before = await everything(s);
  for (const route of routes) {
    const row = rows[route.operationId];
    if (!row.body) continue;
    const path = fill(route.path, row.path);
    const bad = ['{', '7', '"x"', 'null x', '{"a":1,"a":2}', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), '['.repeat(2000) + ']'.repeat(2000)];
    if (!Array.isArray(row.body)) bad.push('[]');
    for (const body of bad) {
      const r = await call(s, route.method, path, { headers: { ...OWNER, 'Content-Type': 'application/json' }, body });
      refused(r, 400, /^Invalid request body/, `${route.method} ${path} ${String(body).slice(0, 20)}`);
    }
  }
  await unchanged(s, before, 'a bad body');
});

test('members: of another type, too long, with U+0000, missing', async () => {
  const s = await prepared(), before = await everything(s);
  const limits = { name: 413, agent_ref: 400, id: 400, rewind_before_invocation_id: 400, feedback_text: 413, issue_type: 413 };
  for (const route of routes) {
    const row = rows[route.operationId];
    const members = route.requestBody?.content['application/json'].schema.properties ?? {};
    const path = fill(route.path, row.path);
    for (const [name, schema] of Object.entries(members)) {
      for (const value of wrongFor(schema))
        refused(await call(s, route.method, path, { headers: OWNER, json: { ...row.body, [name]: value } }), 400, new RegExp(name),
                `${route.operationId} ${name}=${JSON.stringify(value)}`);
      if (schema.type !== 'string' || name === 'data' || name === 'source') continue;
      refused(await call(s, route.method, path, { headers: OWNER, json: { ...row.body, [name]: 'x'.repeat(20000) } }), limits[name], null, `${route.operationId} long ${name}`);
      refused(await call(s, route.method, path, { headers: OWNER, json: { ...row.body, [name]: 'a\0b' } }), 400, new RegExp(name), `${route.operationId} ${name} with U+0000`);
    }
  }
  const missing = { kagentCreateSession: ['agent_ref'], kagentAddEvent: ['data'], kagentFeedback: ['feedback_text'], kagentRewindSession: ['rewind_before_invocation_id'], kagentPutTask: ['status'] };
  for (const [operation, names] of Object.entries(missing))
    for (const name of names) {
      const route = routes.find((r) => r.operationId === operation), json = { ...rows[operation].body, [name]: undefined };
      const spelled = name === 'feedback_text' ? /feedbackText/ : new RegExp(name);
      refused(await call(s, route.method, fill(route.path, rows[operation].path), { headers: OWNER, json }), 400, spelled, `${operation} without ${name}`);
    }
  await unchanged(s, before, 'a bad member');
});

test('tasks and messages: every member of another type', async () => {
  const s = await prepared(), before = await everything(s);
  const wrong = {
    id: [7, {}, true], contextId: [7, {}, []], status: [7, 'x', [], {}, { state: 7 }, { state: 'sleeping' }, { state: 'working', timestamp: 7 }, { state: 'working', timestamp: 'now' }],
    history: [7, 'x', {}, [7], [null]], artifacts: [7, 'x', {}, [7], [{}], [{ artifactId: 'a' }]], metadata: [7, 'x', []],
  };
  const inMessage = { messageId: [7, '', LONG, undefined], role: [7, 'nobody', undefined], parts: [7, 'x', {}, undefined, [7], [{}], [{ kind: 'video' }], [{ kind: 'text' }], [{ kind: 'text', text: 7 }],
    [{ text: 'x' }], [{ kind: 'file' }], [{ kind: 'file', file: 7 }], [{ kind: 'data' }]], metadata: [7, 'x', []] };
  const post = (json) => call(s, 'POST', '/api/tasks', { headers: OWNER, json });
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) refused(await post(task('t9', { [name]: value })), 400, new RegExp(name === 'history' || name === 'status' ? 'history|status|state|timestamp' : name), `${name}=${JSON.stringify(value)}`);
  for (const [name, values] of Object.entries(inMessage))
    for (const value of values) {
      const m = said({ messageId: 'm9', [name]: value }), what = `${name}=${JSON.stringify(value)?.slice(0, 60)}`;
      refused(await post(task('t9', { history: [m] })), 400, new RegExp(name === 'parts' ? 'parts' : name), what);
      refused(await call(s, 'PUT', '/api/sessions/in/effective_history', { headers: OWNER, json: [m] }), 400, new RegExp(name), what);
    }
  for (const version of ['2.0', 'x', '1', '0.3.0.1'])
    for (const [method, path, json] of [['GET', '/api/tasks/t1'], ['GET', '/api/sessions/in/tasks'], ['POST', '/api/tasks', task('t9')], ['PUT', '/api/sessions/in/effective_history', []]])
      refused(await call(s, method, path, { headers: { ...OWNER, 'A2A-Version': version }, json }), 400, /^Unsupported A2A version/, `${method} ${path} ${version}`);
  // What cannot be stored leaves no session behind that was made for it.
  for (const more of [{ id: LONG }, { history: [said({ messageId: LONG })] }, { history: [said({ parts: [{ kind: 'text', text: 'x'.repeat(17 << 20) }] })] }]) {
    const r = await post(task('t9', { contextId: 'never-made', ...more }));
    refused(r, [400, 413], null, JSON.stringify(more).slice(0, 60));
    refused(await call(s, 'GET', '/api/sessions/never-made', { headers: OWNER }), 404, null, 'the session');
  }
  await unchanged(s, before, 'a bad task');
});

test('parameters: of another form, too long, not UTF-8', async () => {
  const s = await prepared(), before = await everything(s);
  for (const [path, names] of [['/api/sessions/in?limit=x', /limit/], ['/api/sessions/in?limit=1.5', /limit/], ['/api/sessions/in?limit=99999999999999999999', /limit/],
    ['/api/sessions/in?after=yesterday', /after/], ['/api/sessions/in?view=odd', /view/], ['/api/agents?namespace=No_Label', /namespace/i], ['/api/agents?namespace=' + LONG, /namespace/i]])
    refused(await call(s, 'GET', path, { headers: OWNER }), 400, names, path);
  for (const route of routes.filter((r) => r.method === 'GET' && /^kagent/.test(r.operationId) && !['kagentHealth', 'kagentVersion'].includes(r.operationId)))
    for (const user of [LONG, 'a%0ab'])
      refused(await call(s, 'GET', `${fill(route.path, rows[route.operationId].path)}?user_id=${user}`), 400, null, `${route.path} as ${user.slice(0, 9)}`);
  await unchanged(s, before, 'a bad parameter');
});

test('A2A: every parameter of every method of another type', async () => {
  const s = await prepared(), before = await everything(s);
  const message = { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] };
  const young = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] };
  const sends = (m) => [
    [{}, /message/], [{ message: 7 }, /message/], [{ message: [] }, /message/],
    ...[7, '', LONG, 'a\u0001b', undefined].map((v) => [{ message: { ...m, messageId: v } }, /messageId/]),
    ...[7, {}, []].map((v) => [{ message: { ...m, contextId: v } }, /contextId/]), ...[7, {}, []].map((v) => [{ message: { ...m, taskId: v } }, /taskId/]),
    [{ message: { ...m, contextId: LONG } }, /context|id|session/i],
    ...[7, 'agent', 'nobody', undefined].map((v) => [{ message: { ...m, role: v } }, /role/]),
    ...[7, 'x', {}, [], [7], [{}], undefined].map((v) => [{ message: { ...m, parts: v } }, /parts/]),
    ...[7, 'x', []].map((v) => [{ message: { ...m, metadata: v } }, /metadata/]),
    ...[7, {}, ''].map((v) => [{ message: { ...m, metadata: { kagent_rewind_before_invocation_id: v } } }, /kagent_rewind_before_invocation_id/]),
    ...[7, 'x', []].map((v) => [{ message: m, configuration: v }, /configuration/]),
    ...[-1, 'x', 1.5, 1e12].map((v) => [{ message: m, configuration: { historyLength: v } }, /historyLength/]),
    ...[7, 'x', {}].map((v) => [{ message: m, configuration: { acceptedOutputModes: v } }, /acceptedOutputModes/]),
    [{ message: m, configuration: { blocking: 'x', returnImmediately: 'x' } }, /blocking|returnImmediately/],
  ];
  const ids = [[{}, /id/], ...[7, '', {}, [], null].map((v) => [{ id: v }, /id/])];
  const lists = [...[0, 101, 'x', 1.5].map((v) => [{ pageSize: v }, /pageSize/]), ...[7, {}, 'x', 'p1', 'p1.2', 'p1.2.', 'p1.x.y', 'p-1.1.x'].map((v) => [{ pageToken: v }, /pageToken/]),
    ...[70, 'odd'].map((v) => [{ status: v }, /status/]), ...[7, 'now'].map((v) => [{ statusTimestampAfter: v }, /statusTimestampAfter/]),
    ...['x', 1].map((v) => [{ includeArtifacts: v }, /includeArtifacts/]), [{ contextId: 7 }, /contextId/], [{ historyLength: -1 }, /historyLength/]];
  const calls = [['message/send', sends(message)], ['message/stream', sends(message)], ['tasks/get', [...ids, [{ id: 'x', historyLength: 'x' }, /historyLength/]]], ['tasks/cancel', ids], ['tasks/resubscribe', ids],
    ['SendMessage', sends(young)], ['SendStreamingMessage', sends(young)], ['GetTask', ids], ['CancelTask', ids], ['SubscribeToTask', ids], ['ListTasks', lists]];
  for (const path of ['/a2a/echo', '/api/a2a/kagent/echo/'])
    for (const [method, cases] of calls)
      for (const [params, names] of [...cases, ['x', /params/], [[], /params/]]) {
        const version = /^[A-Z]/.test(method) ? { 'A2A-Version': '1.0' } : {};
        const r = await call(s, 'POST', path, { headers: { ...OWNER, ...version }, json: { jsonrpc: '2.0', id: 'q', method, params } });
        const body = r.body ?? JSON.parse(r.text.replace(/^data: /, '')), what = `${path} ${method} ${JSON.stringify(params).slice(0, 90)}: ${r.text}`;
        assert.deepEqual([r.status, body.id, body.error?.code], [200, 'q', -32602], what);
        assert.match(body.error.message, names, what);
      }
  await unchanged(s, before, 'a bad call');
});

await finish();
