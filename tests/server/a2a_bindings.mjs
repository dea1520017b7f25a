// SPDX-License-Identifier: Apache-2.0
//
// a2a_bindings.mjs: every method of A2A 1.0 over every binding, and every method of 0.3, from one
// table; the states of a task over each; cards and the parameters in all their spellings. Requests
// are made here, byte by byte, not by an SDK (a2a.mjs has those).
import { test, finish, start, call, eventually, ramet, scratch, slow, assert } from './lib.mjs';
import { writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { over, overGrpc, overJsonRpc, overRest, Service } from './help/a2a_wire.mjs';

const URI = 'urn:ramet:ext:session-rewind:v1';
let count = 0;
const say = (text, more = {}) => ({ messageId: `m${++count}`, role: 'ROLE_USER', parts: [].concat(text).map((t) => (typeof t === 'string' ? { text: t } : t)), ...more });
const ok = async (answer) => {
  const r = await answer;
  assert.ok(!r.error, JSON.stringify(r.error));
  return r.result ?? r.events;
};
/** What differs between two runs: ids and times. */
const plain = (v) => JSON.parse(JSON.stringify(v, (k, x) => (['id', 'contextId', 'taskId', 'messageId', 'timestamp', `${URI}/invocationId`, 'nextPageToken', 'referenceTaskIds'].includes(k) ? undefined : x)));
/** Members with their default values may be left out. */
const lean = (v) => (Array.isArray(v) ? v.map(lean) : v && typeof v === 'object'
  ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, lean(x)]).filter(([, x]) => x !== '' && x !== 0 && x !== false && x !== undefined && !(Array.isArray(x) && !x.length))) : v);

// ------------------------------------------------------------------ every method

/** [method, what it gives], in an order in which each finds what it needs; `had` holds earlier results. */
const methods = [
  ['SendMessage', () => ({ message: say(['hello', { data: { a: [1, 'x', null, true] } }, { raw: 'AAEC/w==', filename: 'f.bin', mediaType: 'application/octet-stream' },
    { url: 'https://example.org/x.png', mediaType: 'image/png' }], { metadata: { some: { key: [1.5] } } }) }),
   (r, had) => { had.task = r.task; assert.equal(r.task.status.state, 'TASK_STATE_COMPLETED'); return r; }],
  ['SendStreamingMessage', (had) => ({ message: say('one two', { contextId: had.task.contextId, referenceTaskIds: [had.task.id], extensions: ['https://example.org/unknown'] }) }),
   (r, had) => { had.second = r[0].task; assert.deepEqual(r[0].task.history[0].referenceTaskIds, [had.task.id]); return r; }],
  ['GetTask', (had) => ({ id: had.task.id }), (r, had) => { assert.equal(r.id, had.task.id); assert.equal(r.history.length, 2); return r; }],
  ['GetTask', (had) => ({ id: had.task.id, historyLength: 1 }), (r) => { assert.equal(r.history.length, 1); return r; }],
  ['GetTask', (had) => ({ id: had.task.id, historyLength: 0 }), (r) => { assert.ok(!r.history); return r; }],
  ['ListTasks', (had) => ({ contextId: had.task.contextId, includeArtifacts: true }),
   (r, had) => { assert.deepEqual(r.tasks.map((t) => t.id), [had.second.id, had.task.id]); assert.equal(r.totalSize, 2); assert.ok(r.tasks.every((t) => t.artifacts.length)); return r; }],
  ['ListTasks', (had) => ({ contextId: had.task.contextId, pageSize: 1, status: 'TASK_STATE_COMPLETED', historyLength: 0 }),
   (r, had) => { assert.deepEqual(r.tasks.map((t) => t.id), [had.second.id]); had.page = r.nextPageToken; assert.ok(had.page); assert.ok(!r.tasks[0].artifacts); return r; }],
  ['ListTasks', (had) => ({ contextId: had.task.contextId, pageSize: 1, pageToken: had.page }),
   (r, had) => { assert.deepEqual([r.tasks.map((t) => t.id), r.nextPageToken ?? '', r.totalSize], [[had.task.id], '', 2]); return r; }],
  ['ListTasks', (had) => ({ contextId: had.task.contextId, status: 'TASK_STATE_FAILED' }), (r) => { assert.ok(!r.tasks?.length); return r; }],
  ['ListTasks', (had) => ({ contextId: had.task.contextId, statusTimestampAfter: had.task.status.timestamp }),
   (r, had) => { assert.ok(r.tasks.some((t) => t.id === had.second.id)); assert.equal(r.tasks.length <= 2, true); return {}; }],
  ['ListTasks', () => ({ statusTimestampAfter: '2100-01-01T00:00:00.000Z' }), (r) => { assert.ok(!r.tasks?.length); return r; }],
  ['SendMessage', () => ({ message: say('/ask which?\nend'), configuration: { returnImmediately: false } }),
   (r, had) => { had.asks = r.task; assert.equal(r.task.status.state, 'TASK_STATE_INPUT_REQUIRED'); return r; }],
  ['CreateTaskPushNotificationConfig', (had) => ({ taskId: had.asks.id, id: 'hook', url: 'https://example.org/hook', token: 't', authentication: { scheme: 'Bearer', credentials: 'c' } }),
   (r) => { assert.deepEqual([r.url, r.token, r.authentication], ['https://example.org/hook', 't', { scheme: 'Bearer', credentials: 'c' }]); return r; }],
  ['GetTaskPushNotificationConfig', (had) => ({ taskId: had.asks.id, id: 'hook' }), (r) => { assert.equal(r.url, 'https://example.org/hook'); return r; }],
  ['ListTaskPushNotificationConfigs', (had) => ({ taskId: had.asks.id }), (r) => { assert.deepEqual(r.configs.map((c) => c.id), ['hook']); return r; }],
  ['DeleteTaskPushNotificationConfig', (had) => ({ taskId: had.asks.id, id: 'hook' }), (r) => { assert.deepEqual(r, {}); return r; }],
  ['ListTaskPushNotificationConfigs', (had) => ({ taskId: had.asks.id }), (r) => { assert.ok(!r.configs?.length); return r; }],
  ['CancelTask', (had) => ({ id: had.asks.id }), (r) => { assert.equal(r.status.state, 'TASK_STATE_CANCELED'); return r; }],
  ['GetExtendedAgentCard', () => ({}), (r) => { assert.equal(r.skills.length, 2); return r; }],
];

test('every method gives the same over every binding', async () => {
  const s = await start();
  const given = {};
  for (const [binding, run] of Object.entries(over)) {
    const had = {};
    given[binding] = [];
    for (const [method, params, check] of methods) {
      const r = await ok(run(s, method, params(had)));
      given[binding].push([method, lean(plain(check(r, had)))]);
    }
  }
  assert.deepEqual(given['HTTP+JSON'], given.JSONRPC);
  assert.deepEqual(given.GRPC, given.JSONRPC);
  const named = new Set([...methods.map(([m]) => m), 'SubscribeToTask']);
  assert.deepEqual(Object.values(Service.service).map((m) => m.path.split('/').pop()).filter((m) => !named.has(m)), [], 'no method is left out');
});

test('HTTP+JSON: statuses and content types', async () => {
  const s = await start();
  const sent = await overRest(s, 'SendMessage', { message: say('x') });
  assert.deepEqual([sent.status, sent.type], [200, 'application/a2a+json']);
  const { task } = sent.result;
  const made = await overRest(s, 'CreateTaskPushNotificationConfig', { taskId: task.id, id: 'a', url: 'https://example.org/' });
  assert.equal(made.status, 201);
  assert.equal((await overRest(s, 'DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'a' })).status, 204);
  const post = (headers, body) => fetch(`${s.url}/a2a/echo/v1/message:send`, { method: 'POST', headers: { 'A2A-Version': '1.0', ...headers }, body });
  const body = JSON.stringify({ message: say('x') });
  for (const type of ['application/json', 'application/a2a+json', 'Application/JSON; charset=utf-8']) assert.equal((await post({ 'Content-Type': type }, body)).status, 200, type);
  for (const [type, b, reason] of [['text/plain', body, 'CONTENT_TYPE_NOT_SUPPORTED'], ['application/json', '{', 'INVALID_PARAMS'], ['application/json', '[]', 'INVALID_PARAMS']]) {
    const r = await post({ 'Content-Type': type }, b);
    assert.deepEqual([r.status, (await r.json()).error.details[0].reason], [400, reason], b);
  }
  assert.equal((await fetch(`${s.url}/a2a/echo/v1/message:send?A2A-Version=1.0`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })).status, 200);
  assert.equal((await call(s, 'POST', `/a2a/echo/v1/tasks/${task.id}`, { json: {}, headers: { 'A2A-Version': '1.0' } })).status, 404);
  const none = await call(s, 'GET', '/a2a/nobody/v1/tasks', { headers: { 'A2A-Version': '1.0' } });
  assert.deepEqual([none.status, none.body.error.status], [404, 'NOT_FOUND']);
});

/** The literal bytes of the specification's examples; what it leaves open is `…` there. */
const examples = [
  ['POST', '/a2a/echo', { 'A2A-Version': '1.0' }, '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"ROLE_USER","parts":[{"text":"tell me a joke"}],"messageId":"9229e770-767c-417b-a0b0-f0741243c589"}}}',
   (r) => [r.id, r.result.task.status.state], [1, 'TASK_STATE_COMPLETED']],
  ['POST', '/a2a/echo/v1/message:send', { 'A2A-Version': '1.0' }, '{"message":{"messageId":"uuid","role":"ROLE_USER","parts":[{"text":"Hello"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}',
   (r) => [r.task.history.length], [2]],
  ['POST', '/a2a/echo', {}, '{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"tell me a joke"}],"messageId":"9229e770-767c-417b-a0b0-f0741243c580"},"metadata":{}}}',
   (r) => [r.id, r.result.kind, r.result.status.state], [1, 'task', 'completed']],
  ['POST', '/a2a/echo', {}, '{"jsonrpc":"2.0","id":"req-003","method":"message/send","params":{"message":{"role":"user","parts":[{"kind":"text","text":"Analyze this image and highlight any faces."},{"kind":"file","file":{"name":"input_image.png","mimeType":"image/png","bytes":"iVBORw0KGgoAAAANSUhEUgAAAAUA"}}],"messageId":"6dbc13b5-bd57-4c2b-b503-24e381b6c8d6"}}}',
   (r) => [r.result.history[0].parts[1].file.bytes, r.result.history[0].parts[1].file.name], ['iVBORw0KGgoAAAANSUhEUgAAAAUA', 'input_image.png']],
  ['POST', '/a2a/echo', { 'A2A-Version': '1.0' }, '{"jsonrpc":"2.0","id":2,"method":"ListTasks","params":{"context_id":"none","page_size":"10","status":1}}',
   (r) => [r.result.tasks, r.result.totalSize], [[], 0]],
];
test('the examples of the specifications, byte by byte', async () => {
  const s = await start();
  for (const [verb, path, headers, body, look, expected] of examples) {
    const r = await fetch(s.url + path, { method: verb, headers: { 'Content-Type': 'application/json', ...headers }, body });
    assert.equal(r.status, 200);
    assert.deepEqual(look(await r.json()), expected, body);
  }
});

/**
 * Every method as the bytes that a client sends: [method, JSON-RPC of 1.0, HTTP+JSON, JSON-RPC of 0.3, what the answers have in common].
 * HTTP+JSON is "VERB PATH" or "VERB PATH BODY"; {names} stand for what earlier calls gave; null: the version has no such method.
 */
const literal = [
  ['SendMessage',
   '{"jsonrpc":"2.0","id":"req-001","method":"SendMessage","params":{"message":{"messageId":"{new}","role":"ROLE_USER","parts":[{"text":"What is the weather today?"},{"data":{"unit":"C","days":[1,2.5,null]}},{"raw":"iVBORw0KGgo=","filename":"sky.png","mediaType":"image/png"},{"url":"https://example.org/a.pdf","mediaType":"application/pdf"}],"metadata":{"k":{"v":[true]}}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":10},"metadata":{}}}',
   'POST /message:send {"message":{"messageId":"{new}","role":"ROLE_USER","parts":[{"text":"What is the weather today?"},{"data":{"unit":"C","days":[1,2.5,null]}},{"raw":"iVBORw0KGgo=","filename":"sky.png","mediaType":"image/png"},{"url":"https://example.org/a.pdf","mediaType":"application/pdf"}],"metadata":{"k":{"v":[true]}}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":10}}',
   '{"jsonrpc":"2.0","id":"req-001","method":"message/send","params":{"message":{"kind":"message","messageId":"{new}","role":"user","parts":[{"kind":"text","text":"What is the weather today?"},{"kind":"data","data":{"unit":"C","days":[1,2.5,null]}},{"kind":"file","file":{"bytes":"iVBORw0KGgo=","name":"sky.png","mimeType":"image/png"}},{"kind":"file","file":{"uri":"https://example.org/a.pdf","mimeType":"application/pdf"}}],"metadata":{"k":{"v":[true]}}},"configuration":{"acceptedOutputModes":["text/plain"],"historyLength":10,"blocking":true},"metadata":{}}}',
   (r, had) => { const t = r.task ?? r; had.task = t.id; had.context = t.contextId; const [asked] = t.history; return [stateOf(t), asked.parts.length, asked.parts[1].data, asked.parts[2].raw ?? asked.parts[2].file.bytes, asked.parts[3].url ?? asked.parts[3].file.uri, asked.metadata.k]; },
   ['completed', 4, { unit: 'C', days: [1, 2.5, null] }, 'iVBORw0KGgo=', 'https://example.org/a.pdf', { v: [true] }]],
  ['SendStreamingMessage',
   '{"jsonrpc":"2.0","id":2,"method":"SendStreamingMessage","params":{"message":{"messageId":"{new}","contextId":"{context}","role":"ROLE_USER","parts":[{"text":"write a long paper"}],"referenceTaskIds":["{task}"]}}}',
   'POST /message:stream {"message":{"messageId":"{new}","contextId":"{context}","role":"ROLE_USER","parts":[{"text":"write a long paper"}],"referenceTaskIds":["{task}"]}}',
   '{"jsonrpc":"2.0","id":2,"method":"message/stream","params":{"message":{"kind":"message","messageId":"{new}","contextId":"{context}","role":"user","parts":[{"kind":"text","text":"write a long paper"}],"referenceTaskIds":["{task}"]}}}',
   (r) => { const all = r.map((e) => e.task ?? e.statusUpdate ?? e.artifactUpdate ?? e); return [stateOf(all[0]), all.some((e) => e.artifact && e.lastChunk), stateOf(all.at(-1)), all[0].history[0].referenceTaskIds.length]; },
   ['working', true, 'completed', 1]],
  ['GetTask',
   '{"jsonrpc":"2.0","id":3,"method":"GetTask","params":{"id":"{task}","historyLength":1}}', 'GET /tasks/{task}?historyLength=1',
   '{"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"id":"{task}","historyLength":1,"metadata":{}}}', (r, had) => [r.id === had.task, r.history.length, stateOf(r)], [true, 1, 'completed']],
  ['ListTasks',
   '{"jsonrpc":"2.0","id":4,"method":"ListTasks","params":{"contextId":"{context}","status":"TASK_STATE_COMPLETED","pageSize":1,"historyLength":0,"statusTimestampAfter":"2024-03-15T10:00:00Z","includeArtifacts":false}}',
   'GET /tasks?contextId={context}&status=TASK_STATE_COMPLETED&pageSize=1&historyLength=0&statusTimestampAfter=2024-03-15T10:00:00Z&includeArtifacts=false', null,
   (r) => [r.tasks.length, r.pageSize, r.totalSize, r.nextPageToken !== '', 'history' in r.tasks[0], 'artifacts' in r.tasks[0]], [1, 1, 2, true, false, false]],
  ['SendMessage',
   '{"jsonrpc":"2.0","id":5,"method":"SendMessage","params":{"message":{"messageId":"{new}","role":"ROLE_USER","parts":[{"text":"/ask Where to?\\nend"}]}}}',
   'POST /message:send {"message":{"messageId":"{new}","role":"ROLE_USER","parts":[{"text":"/ask Where to?\\nend"}]}}',
   '{"jsonrpc":"2.0","id":5,"method":"message/send","params":{"message":{"kind":"message","messageId":"{new}","role":"user","parts":[{"kind":"text","text":"/ask Where to?\\nend"}]}}}',
   (r, had) => { const t = r.task ?? r; had.asks = t.id; return [stateOf(t), t.status.message.parts[0].text]; }, ['input-required', 'Where to?']],
  ['CreateTaskPushNotificationConfig',
   '{"jsonrpc":"2.0","id":6,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"{asks}","id":"c1","url":"https://client.example.org/hook","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}}',
   'POST /tasks/{asks}/pushNotificationConfigs {"id":"c1","url":"https://client.example.org/hook","token":"t","authentication":{"scheme":"Bearer","credentials":"c"}}',
   '{"jsonrpc":"2.0","id":6,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"{asks}","pushNotificationConfig":{"id":"c1","url":"https://client.example.org/hook","token":"t","authentication":{"schemes":["Bearer"],"credentials":"c"}}}}',
   (r, had) => { const c = r.pushNotificationConfig ?? r; return [r.taskId === had.asks, c.id, c.url, c.token, c.authentication.credentials]; }, [true, 'c1', 'https://client.example.org/hook', 't', 'c']],
  ['GetTaskPushNotificationConfig',
   '{"jsonrpc":"2.0","id":7,"method":"GetTaskPushNotificationConfig","params":{"taskId":"{asks}","id":"c1"}}', 'GET /tasks/{asks}/pushNotificationConfigs/c1',
   '{"jsonrpc":"2.0","id":7,"method":"tasks/pushNotificationConfig/get","params":{"id":"{asks}","pushNotificationConfigId":"c1"}}', (r) => [(r.pushNotificationConfig ?? r).id], ['c1']],
  ['ListTaskPushNotificationConfigs',
   '{"jsonrpc":"2.0","id":8,"method":"ListTaskPushNotificationConfigs","params":{"taskId":"{asks}","pageSize":10}}', 'GET /tasks/{asks}/pushNotificationConfigs?pageSize=10',
   '{"jsonrpc":"2.0","id":8,"method":"tasks/pushNotificationConfig/list","params":{"id":"{asks}"}}', (r) => [(r.configs ?? r).length], [1]],
  ['DeleteTaskPushNotificationConfig',
   '{"jsonrpc":"2.0","id":9,"method":"DeleteTaskPushNotificationConfig","params":{"taskId":"{asks}","id":"c1"}}', 'DELETE /tasks/{asks}/pushNotificationConfigs/c1',
   '{"jsonrpc":"2.0","id":9,"method":"tasks/pushNotificationConfig/delete","params":{"id":"{asks}","pushNotificationConfigId":"c1"}}', (r) => [r ? Object.keys(r).length : 0], [0]],
  ['SubscribeToTask',
   '{"jsonrpc":"2.0","id":10,"method":"SubscribeToTask","params":{"id":"{asks}"}}', 'GET /tasks/{asks}:subscribe', '{"jsonrpc":"2.0","id":10,"method":"tasks/resubscribe","params":{"id":"{asks}"}}',
   (r) => [stateOf(r[0].task ?? r[0])], ['input-required']],
  ['CancelTask', '{"jsonrpc":"2.0","id":11,"method":"CancelTask","params":{"id":"{asks}"}}', 'POST /tasks/{asks}:cancel {}', '{"jsonrpc":"2.0","id":11,"method":"tasks/cancel","params":{"id":"{asks}"}}', (r) => [stateOf(r)], ['canceled']],
  ['GetExtendedAgentCard', '{"jsonrpc":"2.0","id":12,"method":"GetExtendedAgentCard"}', 'GET /extendedAgentCard', '{"jsonrpc":"2.0","id":12,"method":"agent/getAuthenticatedExtendedCard"}', (r) => [r.name, r.skills.length], ['echo', 2]],
];
const stateOf = (t) => t.status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-');

/** Sends the bytes and reads the answer; of a subscription, which goes on, the first event. */
async function literally(s, kind, bytes, first) {
  const [, verb, path, body] = kind === 'HTTP+JSON' ? /^(\S+) (\S+)(?: ([^]*))?$/.exec(bytes) : [null, 'POST', '', bytes];
  const r = await fetch(`${s.url}/a2a/echo${kind === 'HTTP+JSON' ? '/v1' : ''}${path}`, { method: verb, body,
    headers: { ...(body ? { 'Content-Type': kind === 'HTTP+JSON' ? 'application/a2a+json' : 'application/json' } : {}), ...(kind === '0.3' ? {} : { 'A2A-Version': '1.0' }) } });
  assert.ok(r.status < 300, `${bytes}: ${r.status}`);
  const id = kind === 'HTTP+JSON' ? undefined : JSON.parse(body).id;
  const open = (json) => { if (id === undefined) return json; assert.deepEqual([json.jsonrpc, json.id, json.error], ['2.0', id, undefined], bytes); return json.result; };
  if (!/event-stream/.test(r.headers.get('content-type') ?? '')) {
    const text = await r.text();
    return text ? open(JSON.parse(text)) : {};
  }
  const events = [], decoder = new TextDecoder();
  let text = '';
  for await (const piece of r.body) {
    text += decoder.decode(piece, { stream: true });
    for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) if (text.startsWith('data: ')) events.push(open(JSON.parse(text.slice(6, end))));
    if (first && events.length) break;
  }
  return events;
}
for (const [column, kind] of ['JSONRPC', 'HTTP+JSON', '0.3'].entries())
  test(`${kind}: every method, in its literal bytes`, async () => {
    const s = await start(), had = {};
    for (const row of literal) {
      const [method, look, expected] = [row[0], row[4], row[5]], bytes = row[1 + column];
      if (!bytes) continue;
      const filled = bytes.replace(/\{(new|task|context|asks)\}/g, (_, name) => (name === 'new' ? `literal-${++count}` : had[name]));
      assert.deepEqual(look(await literally(s, kind, filled, method === 'SubscribeToTask'), had), expected, filled);
    }
    const given = new Set(literal.map(([m]) => m));
    assert.deepEqual(Object.values(Service.service).map((m) => m.path.split('/').pop()).filter((m) => !given.has(m)), [], 'no method is left out');
  });

// ------------------------------------------------------------------ 0.3

const old = (text, more = {}) => ({ kind: 'message', messageId: `m${++count}`, role: 'user', parts: [{ kind: 'text', text }], ...more });
const overOld = (s, method, params, more) => overJsonRpc(s, method, params, { ...more, version: null });
const oldMethods = [
  ['message/send', () => ({ message: old('hello') }), (r, had) => { had.task = r; assert.deepEqual([r.kind, r.status.state], ['task', 'completed']); }],
  ['message/stream', (had) => ({ message: old('one', { contextId: had.task.contextId }) }), (r) => assert.deepEqual([r[0].kind, r.at(-1).kind, r.at(-1).final], ['task', 'status-update', true])],
  ['tasks/get', (had) => ({ id: had.task.id, historyLength: 1 }), (r) => assert.equal(r.history.length, 1)],
  ['message/send', () => ({ message: old('/ask which?') }), (r, had) => { had.asks = r; assert.equal(r.status.state, 'input-required'); }],
  ['tasks/pushNotificationConfig/set', (had) => ({ taskId: had.asks.id, pushNotificationConfig: { url: 'https://example.org/h', authentication: { schemes: ['Basic'], credentials: 'c' } } }),
   (r, had) => assert.deepEqual(r, { taskId: had.asks.id, pushNotificationConfig: { id: had.asks.id, url: 'https://example.org/h', authentication: { schemes: ['Basic'], credentials: 'c' } } })],
  ['tasks/pushNotificationConfig/get', (had) => ({ id: had.asks.id }), (r) => assert.equal(r.pushNotificationConfig.url, 'https://example.org/h')],
  ['tasks/pushNotificationConfig/list', (had) => ({ id: had.asks.id }), (r) => assert.equal(r.length, 1)],
  ['tasks/pushNotificationConfig/delete', (had) => ({ id: had.asks.id, pushNotificationConfigId: had.asks.id }), (r) => assert.equal(r, null)],
  ['tasks/pushNotificationConfig/list', (had) => ({ id: had.asks.id }), (r) => assert.deepEqual(r, [])],
  ['tasks/cancel', (had) => ({ id: had.asks.id }), (r) => assert.equal(r.status.state, 'canceled')],
  ['agent/getAuthenticatedExtendedCard', () => undefined, (r) => assert.deepEqual([r.protocolVersion, r.skills.length], ['0.3.0', 2])],
];
test('every method of 0.3', async () => {
  const s = await start();
  const had = {};
  for (const [method, params, check] of oldMethods) {
    const r = await overOld(s, method, params(had));
    assert.ok(!r.error, `${method}: ${JSON.stringify(r.error)}`);
    check('result' in r ? r.result : r.events, had);
  }
});

// ------------------------------------------------------------------ errors

/** reason → the code of each binding. */
const codes = {
  TASK_NOT_FOUND: [-32001, 404, 'NOT_FOUND'], TASK_NOT_CANCELABLE: [-32002, 400, 'FAILED_PRECONDITION'], UNSUPPORTED_OPERATION: [-32004, 400, 'FAILED_PRECONDITION'],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400, 'INVALID_ARGUMENT'], VERSION_NOT_SUPPORTED: [-32009, 400, 'FAILED_PRECONDITION'], INVALID_PARAMS: [-32602, 400, 'INVALID_ARGUMENT'],
};
const names = Object.keys(over);
test('every error has its code and its reason over every binding', async () => {
  const s = await start({ args: ['--agent', 'other=echo'] });
  const { task } = await ok(overJsonRpc(s, 'SendMessage', { message: say('x') }));
  const cases = [
    ['TASK_NOT_FOUND', 'GetTask', { id: 'none' }], ['TASK_NOT_FOUND', 'CancelTask', { id: 'none' }], ['TASK_NOT_FOUND', 'SubscribeToTask', { id: 'none' }],
    ['TASK_NOT_FOUND', 'SendMessage', { message: say('x', { taskId: 'none' }) }], ['TASK_NOT_FOUND', 'GetTaskPushNotificationConfig', { taskId: task.id, id: 'none' }],
    ['TASK_NOT_FOUND', 'GetTask', { id: task.id }, { agent: 'other' }], ['TASK_NOT_FOUND', 'GetTask', { id: task.id }, { headers: { 'X-User-Id': 'eve' } }],
    ['TASK_NOT_CANCELABLE', 'CancelTask', { id: task.id }], ['UNSUPPORTED_OPERATION', 'SubscribeToTask', { id: task.id }],
    ['UNSUPPORTED_OPERATION', 'SendMessage', { message: say('x', { taskId: task.id }) }],
    ['CONTENT_TYPE_NOT_SUPPORTED', 'SendMessage', { message: say('x'), configuration: { acceptedOutputModes: ['image/png'] } }],
    ['VERSION_NOT_SUPPORTED', 'GetTask', { id: task.id }, { version: '9.9' }],
    ['INVALID_PARAMS', 'SendMessage', { message: { ...say('x'), messageId: '' } }], ['INVALID_PARAMS', 'SendMessage', { message: say([]) }],
    ['INVALID_PARAMS', 'SendMessage', { message: { ...say('x'), role: 'ROLE_AGENT' } }], ['INVALID_PARAMS', 'ListTasks', { pageSize: 101 }],
    ['INVALID_PARAMS', 'ListTasks', { pageToken: 'made up' }], ['INVALID_PARAMS', 'GetTask', { id: task.id, historyLength: -1 }],
    ['INVALID_PARAMS', 'CreateTaskPushNotificationConfig', { taskId: task.id, url: 'http://127.0.0.1/x' }],
  ];
  for (const [reason, method, params, more] of cases)
    for (const [i, binding] of names.entries()) {
      const { error } = await over[binding](s, method, params, more);
      // JSON-RPC's own errors carry no reason.
      assert.deepEqual([error?.code, error?.reason], [codes[reason][i], i === 0 && reason === 'INVALID_PARAMS' ? undefined : reason], `${binding} ${method} ${JSON.stringify(params)}`);
      assert.ok(error.message && error.same !== false);
    }
  for (const run of [overRest, overGrpc]) assert.equal((await run(s, 'GetTask', { id: task.id }, { version: null })).error.reason, 'VERSION_NOT_SUPPORTED');
  assert.equal((await overGrpc(s, 'GetTask', { id: task.id }, { agent: 'nobody' })).error.code, 'NOT_FOUND');
  assert.match((await overJsonRpc(s, 'GetTask', { id: task.id, tenant: 'other' })).error.message, /tenant/);
  assert.equal((await ok(overJsonRpc(s, 'GetTask', { id: task.id, tenant: 'echo' }))).id, task.id);
});

test('a client without a token is refused over every binding', async () => {
  const s = await start({ args: ['--auth', 'tokens'] });
  for (const binding of names) {
    const r = binding === 'JSONRPC' ? { code: (await call(s, 'POST', '/a2a/echo', { json: { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'x' } } })).status }
      : (await over[binding](s, 'GetTask', { id: 'x' })).error;
    assert.equal(r.code, binding === 'GRPC' ? 'UNAUTHENTICATED' : 401, binding);
  }
});

// ------------------------------------------------------------------ the states of a task

/** One set of words for a state machine over any binding, 0.3 included. */
const ways = {
  ...Object.fromEntries(names.map((b) => [b, { run: over[b], methods: ['SendMessage', 'CancelTask', 'SubscribeToTask', 'GetTask'], make: say,
    now: { returnImmediately: true }, state: (t) => t.status.state.replace('TASK_STATE_', '').toLowerCase().replace('_', '-'), task: (r) => r.task ?? r,
    codes: { over: 'UNSUPPORTED_OPERATION', busy: 'UNSUPPORTED_OPERATION', deaf: 'UNSUPPORTED_OPERATION', none: 'TASK_NOT_FOUND', cancel: 'TASK_NOT_CANCELABLE' }, why: (e) => e.reason }])),
  '0.3': { run: overOld, methods: ['message/send', 'tasks/cancel', 'tasks/resubscribe', 'tasks/get'], make: old, now: { blocking: false }, state: (t) => t.status.state, task: (r) => r,
           codes: { over: -32602, busy: -32004, deaf: -32602, none: -32001, cancel: -32002 }, why: (e) => e.code },
};
for (const [name, w] of Object.entries(ways))
  test(`${name}: every allowed and every forbidden move of a task`, async () => {
    const s = await start();
    const [sendMethod, cancelMethod, subscribeMethod, getMethod] = w.methods;
    const send = (text, more = {}, configuration) => w.run(s, sendMethod, { message: w.make(text, more), ...(configuration ? { configuration } : {}) });
    const cancel = (id) => w.run(s, cancelMethod, { id }), subscribe = (id) => w.run(s, subscribeMethod, { id });
    const get = async (id) => w.task(await ok(w.run(s, getMethod, { id })));
    const forbidden = async (answer, why, what) => {
      const r = await answer;
      assert.equal(r.error && w.why(r.error), why, what);
    };
    const become = (id, state) => eventually(async () => assert.equal(w.state(await get(id)), state), 10000 * slow);
    /** A task in a state. */
    const make = {
      working: async () => w.task(await ok(send(`/slow 50 ${'word '.repeat(400)}`, {}, w.now))),
      'input-required': async () => w.task(await ok(send('/ask which?\nend'))),
      completed: async () => w.task(await ok(send('hello'))),
      failed: async () => w.task(await ok(send('/fail so be it'))),
      canceled: async () => {
        const t = await make.working();
        await ok(cancel(t.id));
        await become(t.id, 'canceled');
        return t;
      },
    };
    for (const state of ['completed', 'failed', 'canceled']) {
      const t = await make[state]();
      assert.equal(w.state(await get(t.id)), state);
      await forbidden(cancel(t.id), w.codes.cancel, `cancel, ${state}`);
      await forbidden(send('more', { taskId: t.id }), w.codes.over, `send, ${state}`);
      await forbidden(subscribe(t.id), w.codes.deaf, `subscribe, ${state}`);
      assert.equal(w.state(await get(t.id)), state, 'nothing has changed');
      const next = w.task(await ok(send('a new one', { contextId: t.contextId })));
      assert.notEqual(next.id, t.id);
    }
    const busy = await make.working();
    assert.equal(w.state(busy), 'working');
    await forbidden(send('more', { taskId: busy.id }), w.codes.busy, 'a message to a task at work');
    await forbidden(send('more', { contextId: busy.contextId }), w.codes.busy, 'a second task in its context');
    let opened;
    const begun = new Promise((done) => (opened = done));
    const heard = w.run(s, subscribeMethod, { id: busy.id }, { opened });
    await Promise.race([begun, heard]);
    await ok(cancel(busy.id));
    const events = await ok(heard);
    assert.equal(w.state((events[0].task ?? events[0])), 'working');
    assert.equal(w.state((events.at(-1).statusUpdate ?? events.at(-1))), 'canceled');
    const asks = await make['input-required']();
    await forbidden(send('x', { taskId: asks.id, contextId: 'another' }), name === '0.3' ? -32602 : name === 'JSONRPC' ? undefined : 'INVALID_PARAMS', 'an answer in another context');
    assert.equal(w.state(await get(asks.id)), 'input-required');
    const done = w.task(await ok(send('green', { taskId: asks.id })));
    assert.deepEqual([done.id, w.state(done)], [asks.id, 'completed']);
    const dropped = await make['input-required']();
    assert.equal(w.state(w.task(await ok(cancel(dropped.id)))), 'canceled');
    for (const answer of [cancel('none'), subscribe('none'), send('x', { taskId: 'none' }), w.run(s, getMethod, { id: 'none' })]) await forbidden(answer, w.codes.none, 'no such task');
  });

// ------------------------------------------------------------------ parameters

test('parameters: both spellings, numbers and names of enums; a filter always filters', async () => {
  const s = await start();
  const one = (await ok(overJsonRpc(s, 'SendMessage', { message: say('one') }))).task;
  await ok(overJsonRpc(s, 'SendMessage', { message: say('two') }));
  const list = async (params) => (await ok(overJsonRpc(s, 'ListTasks', params))).tasks.map((t) => t.id);
  for (const params of [{ contextId: one.contextId }, { context_id: one.contextId }, { context_id: one.contextId, page_size: 5, status: 3 }, { contextId: one.contextId, status: 'TASK_STATE_COMPLETED', pageSize: '5' }])
    assert.deepEqual(await list(params), [one.id], JSON.stringify(params));
  assert.deepEqual(await list({ status: 4 }), []);
  assert.equal((await list({})).length, 2);
  for (const params of [{ contextID: 'x' }, { context: 'x' }, { filter: 'x' }, { contextId: 'a', context_id: 'a' }])
    assert.equal((await overJsonRpc(s, 'ListTasks', params)).error.code, -32602, JSON.stringify(params));
  assert.equal((await overRest(s, 'ListTasks', { contextID: 'x' })).error.reason, 'INVALID_PARAMS');
  assert.equal((await ok(overRest(s, 'ListTasks', { context_id: one.contextId }))).tasks.length, 1);
  const { task } = await ok(overJsonRpc(s, 'SendMessage', { message: { message_id: 'snake', context_id: one.contextId, role: 1, parts: [{ text: 'x', media_type: 'text/plain' }], reference_task_ids: [one.id], more: 1 },
    configuration: { history_length: 1, return_immediately: false, accepted_output_modes: ['text/plain'] }, later: { some: 'thing' } }));
  assert.deepEqual([task.contextId, task.history.length], [one.contextId, 1]);
  const whole = await ok(overJsonRpc(s, 'GetTask', { id: task.id }));
  assert.deepEqual([whole.history[0].messageId, whole.history[0].referenceTaskIds], ['snake', [one.id]]);
});

// ------------------------------------------------------------------ cards

test('the card at the root, and which agent it is', async () => {
  const s = await start({ args: ['--agent', 'one=echo', '--agent', 'two=echo', '--a2a-root', 'two', '--default-agent', 'one'] });
  for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json']) {
    const r = await call(s, 'GET', path);
    assert.deepEqual([r.status, r.body.name, r.headers.get('vary')], [200, 'two', 'A2A-Version, Host']);
    assert.deepEqual(r.body, (await call(s, 'GET', '/a2a/two')).body);
  }
  const { task } = await ok(overGrpc(s, 'SendMessage', { message: say('x') }, { agent: null }));
  assert.equal((await ok(overGrpc(s, 'GetTask', { id: task.id }, { agent: 'two' }))).id, task.id);
  const by = await start({ args: ['--agent', 'one=echo', '--default-agent', 'one', '--a2a-cards', 'pure'] });
  const card = (await call(by, 'GET', '/.well-known/agent-card.json')).body;
  assert.deepEqual([card.name, card.url, card.protocolVersion], ['one', undefined, undefined]);
  assert.match((await ramet(['--db', scratch('store.db'), 'serve', '--listen', '127.0.0.1:0', '--a2a-root', 'nobody'])).err, /a2a-root/);
});

test('a card names only what reaches its agent', async () => {
  const kinds = async (s, headers) => (await call(s, 'GET', '/a2a/echo', { headers })).body.supportedInterfaces.map((i) => [i.protocolBinding, i.protocolVersion, i.url]);
  const own = await start({ args: ['--public-url', 'https://agents.example.org'] });
  assert.deepEqual((await kinds(own)).find(([b]) => b === 'GRPC'), ['GRPC', '1.0', 'agents.example.org:443']);
  const below = await start({ args: ['--public-url', 'https://example.org/agents/'] });
  assert.deepEqual((await kinds(below)).map(([b]) => b), ['JSONRPC', 'HTTP+JSON', 'JSONRPC']);
  const off = await start({ args: ['--http2', 'off'] });
  assert.deepEqual((await kinds(off)).map(([b]) => b), ['JSONRPC', 'HTTP+JSON', 'JSONRPC']);
});

test('security schemes say what the server asks for', async () => {
  const get = async (s, version) => (await call(s, 'GET', '/a2a/echo', { headers: version ? { 'A2A-Version': version } : {} })).body;
  const open = await start();
  assert.deepEqual([(await get(open)).securitySchemes, (await get(open, '1.0')).securityRequirements], [undefined, undefined]);
  const tokens = await start({ args: ['--auth', 'tokens'] });
  assert.deepEqual((await get(tokens, '1.0')).securitySchemes, { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer' } } });
  assert.deepEqual((await get(tokens, '1.0')).securityRequirements, [{ schemes: { bearer: { list: [] } } }]);
  const both = await get(tokens);
  assert.deepEqual([both.securitySchemes.bearer.type, both.securitySchemes.bearer.scheme, both.security], ['http', 'bearer', [{ bearer: [] }]]);
  assert.ok(both.supportsAuthenticatedExtendedCard);
  const keys = scratch('keys.json');
  writeFileSync(keys, JSON.stringify({ keys: [{ kty: 'EC', crv: 'P-256', kid: 'a', use: 'sig', ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }) }] }));
  const oidc = await start({ args: ['--auth', 'oidc', '--oidc-issuer', 'https://issuer.example.org/realm', '--oidc-jwks', keys, '--oidc-audience', 'ramet'] });
  const openIdConnectUrl = 'https://issuer.example.org/realm/.well-known/openid-configuration';
  assert.deepEqual((await get(oidc, '1.0')).securitySchemes, { bearer: { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } }, oidc: { openIdConnectSecurityScheme: { openIdConnectUrl } } });
  assert.deepEqual((await get(oidc, '1.0')).securityRequirements, [{ schemes: { oidc: { list: [] } } }]);
  const old = await get(oidc);
  assert.deepEqual([old.securitySchemes.oidc.type, old.securitySchemes.oidc.openIdConnectUrl, old.security], ['openIdConnect', openIdConnectUrl, [{ oidc: [] }]]);
  assert.equal((await call(tokens, 'GET', '/a2a/echo/v1/extendedAgentCard', { headers: { 'A2A-Version': '1.0' } })).status, 401);
});

await finish();
