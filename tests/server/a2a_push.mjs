// SPDX-License-Identifier: Apache-2.0
//
// a2a_push.mjs: push notifications of A2A tasks: over every binding and both versions, with the SDK
// as client and a plain HTTP server that receives them.
import { createServer } from 'node:http';
import { test, finish, start, call, must, ramet, enc, eventually, scratch, slow, onPostgres, assert } from './lib.mjs';
import { bindings, client, generations, message, textOf } from './help/a2a.mjs';

const allow = ['--private-push-urls', 'on'];
const plain = '/a2a/echo';

/** A receiver: {url, got, answers}: each answer is a status for the next request, then 200. */
async function receiver() {
  const r = { got: [], answers: [], open: 0, most: 0, hold: null, seen: [], endless: false, cut: 0 };
  const http = createServer(async (req, res) => {
    let text = '';
    r.most = Math.max(r.most, ++r.open);
    r.seen.push(req.url);
    res.on('close', () => { if (!res.writableFinished) { r.cut++; r.onClose?.(); } });
    for await (const piece of req) text += piece;
    const status = r.answers.length ? r.answers.shift() : 200;
    if (r.hold) await r.hold;
    r.got.push({ status, path: req.url, headers: req.headers, body: JSON.parse(text) });
    r.open--;
    res.writeHead(status);
    if (!r.endless) return res.end();
    const more = () => { while (!res.destroyed && res.write('x'.repeat(16384))); };
    res.on('drain', more);
    more();
  });
  await new Promise((go) => http.listen(0, '127.0.0.1', go));
  r.port = http.address().port;
  r.url = `http://127.0.0.1:${r.port}/hook`;
  r.states = (path = '/hook') => r.got.filter((g) => g.path === path && g.status === 200)
    .map((g) => (g.body.task ?? g.body).status.state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-'));
  r.close = () => new Promise((go) => { http.close(go); http.closeAllConnections(); });
  return r;
}
const ends = (r, path) => eventually(async () => assert.match(r.states(path).at(-1) ?? '', /completed|failed|canceled/), 20000 * slow);

/** One set of words for both SDKs: {set, get, list, remove}. */
function configs(version, c) {
  const { raw, types } = c;
  if (version === '0.3') return {
    set: async (taskId, config) => (await raw.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: config })).pushNotificationConfig,
    get: async (id, pushNotificationConfigId) => (await raw.getTaskPushNotificationConfig({ id, pushNotificationConfigId })).pushNotificationConfig,
    list: async (id) => (await raw.listTaskPushNotificationConfig({ id })).map((x) => x.pushNotificationConfig),
    remove: (id, pushNotificationConfigId) => raw.deleteTaskPushNotificationConfig({ id, pushNotificationConfigId }),
    auth: (scheme, credentials) => ({ schemes: [scheme], credentials }), key: 'pushNotificationConfig',
  };
  const T = types.TaskPushNotificationConfig;
  const plainly = (x) => { const { taskId, ...rest } = T.toJSON(x); void taskId; return rest; };
  return {
    set: async (taskId, config) => plainly(await raw.createTaskPushNotificationConfig(T.fromJSON({ taskId, ...config }))),
    get: async (taskId, id) => plainly(await raw.getTaskPushNotificationConfig(types.GetTaskPushNotificationConfigRequest.fromJSON({ taskId, id }))),
    list: async (taskId) => (await raw.listTaskPushNotificationConfig(types.ListTaskPushNotificationConfigsRequest.fromJSON({ taskId }))).configs.map(plainly),
    remove: (taskId, id) => raw.deleteTaskPushNotificationConfig(types.DeleteTaskPushNotificationConfigRequest.fromJSON({ taskId, id })),
    auth: (scheme, credentials) => ({ scheme, credentials }), key: 'taskPushNotificationConfig',
  };
}

for (const version of generations)
  for (const binding of bindings[version]) {
    const name = `${version}, ${binding}`;

    test(`${name}: set, get, list and delete, and what is delivered`, async () => {
      const s = await start({ args: allow });
      const r = await receiver();
      const c = await client(version, s.url + plain, { binding }), p = configs(version, c);
      const task = await c.send(message('/ask which?\nend'), { blocking: true });
      const given = { id: 'one', url: r.url, token: 'a token', authentication: p.auth('Bearer', 'a credential') };
      assert.deepEqual(await p.set(task.id, given), given);
      assert.deepEqual(await p.get(task.id, 'one'), given);
      await p.set(task.id, { id: 'two', url: `${r.url}/two` });
      assert.deepEqual((await p.list(task.id)).map((x) => x.id), ['one', 'two']);
      await p.remove(task.id, 'two');
      await p.remove(task.id, 'two');
      assert.deepEqual((await p.list(task.id)).map((x) => x.id), ['one']);
      await assert.rejects(p.get(task.id, 'two'), /not found|NotFound/i);
      await assert.rejects(p.set('no such task', given), /NotFound|no task/i);
      await eventually(async () => assert.deepEqual(r.states(), ['input-required']), 5000 * slow);
      await c.send(message('green', { taskId: task.id }));
      await ends(r);
      const last = r.got.at(-1), told = last.body.task ?? last.body;
      assert.equal('task' in last.body, version === '1.0');
      assert.deepEqual([told.id, told.contextId], [task.id, task.contextId]);
      assert.match(textOf(told.artifacts), /You answered: green/);
      for (const g of r.got.filter((x) => x.path === '/hook')) {
        assert.equal(g.headers['x-a2a-notification-token'], 'a token');
        assert.equal(g.headers.authorization, 'Bearer a credential');
        assert.equal(g.headers['content-type'], version === '1.0' ? 'application/a2a+json' : 'application/json');
      }
      assert.deepEqual(r.states().at(-1), 'completed');
      await r.close();
    });

    test(`${name}: a destination that comes with the message`, async () => {
      const s = await start({ args: allow });
      const r = await receiver();
      const c = await client(version, s.url + plain, { binding }), p = configs(version, c);
      const task = await c.send(message('/slow 20 a b c'), { blocking: false, [p.key]: { id: 'mine', url: r.url } });
      await ends(r);
      assert.deepEqual((await p.list(task.id)).map((x) => x.url), [r.url]);
      const states = r.states();
      assert.deepEqual(states, [...new Set(states)], 'each state once');
      assert.equal(states.at(-1), 'completed');
      await r.close();
    });
  }

const ask = (s, method, params, { version = '1.0', headers = {} } = {}) => call(s, 'POST', plain, {
  headers: { 'A2A-Version': version, ...headers }, json: { jsonrpc: '2.0', id: 1, method, params } }).then((x) => x.body);
const young = (text, more = {}) => ({ message: { messageId: `m${Math.random()}`, role: 'ROLE_USER', parts: [{ text }] }, ...more });
const sent = async (s, text, configuration) => (await ask(s, 'SendMessage', young(text, configuration ? { configuration } : {}))).result.task;

test('an address of this machine is refused, by literal and when a name leads there', async () => {
  const s = await start();
  const r = await receiver();
  const task = await sent(s, 'hello');
  const set = (url, more = {}) => ask(s, 'CreateTaskPushNotificationConfig', { taskId: task.id, id: 'x', url, ...more });
  for (const url of [r.url, 'http://10.1.2.3/x', 'http://192.168.0.1', 'http://[::1]/x', 'http://169.254.169.254/latest'])
    assert.match((await set(url)).error.message, /private or loopback/, url);
  for (const url of ['ftp://example.org/x', 'example.org', 'http://', `http://example.org/${'x'.repeat(3000)}`])
    assert.equal((await set(url)).error.code, -32602, url);
  for (const more of [{ token: 'a\r\nX-Evil: 1' }, { authentication: { scheme: 'Bearer', credentials: 'x\ny' } }, { token: 'x'.repeat(5000) }])
    assert.equal((await set('https://example.org/', more)).error.code, -32602, JSON.stringify(more).slice(0, 60));
  assert.ok((await set(`http://localhost:${r.port}/hook`)).result);
  const watch = await start({ args: allow });
  const other = await sent(watch, 'hello', { taskPushNotificationConfig: { url: r.url } });
  await ends(r);
  assert.ok(r.got.every((g) => g.body.task.id === other.id), 'nothing came from the server that may not');
  await r.close();
});

test('a receiver that fails is tried again, one delivery at a time, in order', async () => {
  const s = await start({ args: allow });
  const r = await receiver();
  r.answers = [500, 503];
  const task = await sent(s, '/ask a?\n/ask b?\nend', { taskPushNotificationConfig: { url: r.url } });
  await eventually(async () => assert.equal(r.states().length, 1), 20000 * slow);
  assert.deepEqual(r.got.slice(0, 3).map((g) => g.status), [500, 503, 200]);
  for (const text of ['x', 'y']) {
    const before = r.states().length;
    await ask(s, 'SendMessage', { message: { ...young(text).message, taskId: task.id } });
    await eventually(async () => assert.ok(r.states().length > before), 20000 * slow);
  }
  await ends(r);
  const asked = r.got.filter((g) => g.status === 200 && g.body.task.status.message).map((g) => textOf(g.body.task.status.message));
  assert.deepEqual(asked, ['a?', 'b?']);
  assert.equal(r.most, 1);
  await r.close();
});

test('a receiver that does not answer delays no other receiver, task or user, and gets few requests at once', async () => {
  const s = await start({ args: allow });
  const held = await receiver(), quick = await receiver();
  let release, ended = 0;
  held.hold = new Promise((go) => (release = go));
  held.onClose = () => ended++;
  const send = async (who, url) => (await ask(s, 'SendMessage', young('hello', { configuration: { taskPushNotificationConfig: { url } } }), { headers: { 'X-User-Id': who } })).result.task;
  const waiting = [];
  for (let i = 0; i < 30; i++) waiting.push(await send('ann', `${held.url}/${i}`));
  await eventually(async () => assert.ok(held.open > 0), 10000 * slow);
  await send('ann', `${quick.url}/ann`);
  await ends(quick, '/hook/ann');
  await send('bob', `${quick.url}/bob`);
  await ends(quick, '/hook/bob');
  await send('bob', `${held.url}/bob`);
  await eventually(async () => assert.ok(held.seen.includes('/hook/bob')), 10000 * slow);
  assert.equal(ended, 0, 'all this came while the first requests were open');
  assert.ok(held.most <= 4 + 1, `${held.most} requests of two users at once`);
  release();
  for (let i = 0; i < 30; i++) await ends(held, `/hook/${i}`);
  assert.equal(new Set(held.got.map((g) => g.body.task.id)).size, waiting.length + 1);
  await Promise.all([held.close(), quick.close()]);
}, { seconds: 120 });

test('a user with many receivers that do not answer delays no other user', async () => {
  const s = await start({ args: allow });
  const quick = await receiver(), held = [];
  for (let i = 0; i < 24; i++) held.push(await receiver());
  let release, ended = 0;
  const hold = new Promise((go) => (release = go));
  for (const r of held) Object.assign(r, { hold, onClose: () => ended++ });
  const send = async (who, url) => (await ask(s, 'SendMessage', young('hello', { configuration: { taskPushNotificationConfig: { url } } }), { headers: { 'X-User-Id': who } })).result.task;
  for (let i = 0; i < 48; i++) await send('ann', held[i % 24].url);
  const open = () => held.reduce((n, r) => n + r.open, 0);
  await eventually(async () => assert.equal(open(), 16), 10000 * slow);
  await send('bob', quick.url);
  await ends(quick);
  assert.deepEqual([ended, open()], [0, 16], 'no more than these of one user');
  release();
  const completed = () => new Set(held.flatMap((r) => r.got).map((g) => g.body.task).filter((t) => t.status.state === 'TASK_STATE_COMPLETED').map((t) => t.id));
  await eventually(async () => assert.equal(completed().size, 48), 60000 * slow);
  await Promise.all([...held, quick].map((r) => r.close()));
}, { seconds: 120 });

test('an answer without end is not read to its end, and its status counts', async () => {
  const s = await start({ args: allow });
  const r = await receiver();
  r.endless = true;
  const task = await sent(s, '/ask which?\nend', { taskPushNotificationConfig: { url: r.url } });
  await eventually(async () => assert.equal(r.cut, 1), 10000 * slow);
  assert.deepEqual(r.states(), ['input-required']);
  r.endless = false;
  await ask(s, 'SendMessage', { message: { ...young('green').message, taskId: task.id } });
  await ends(r);
  assert.equal(r.states().filter((x) => x === 'input-required').length, 1, 'sent once');
  await r.close();
});

test('0.3: all schemes that a client gave are told, and the first is used', async () => {
  const s = await start({ args: allow });
  const r = await receiver();
  const old = (method, params) => ask(s, method, params, { version: '0.3' });
  const task = await sent(s, '/ask which?\nend');
  const pushNotificationConfig = { id: 'two', url: r.url, authentication: { schemes: ['Basic', 'Bearer'], credentials: 'c' } };
  assert.deepEqual((await old('tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig })).result.pushNotificationConfig, pushNotificationConfig);
  assert.deepEqual((await old('tasks/pushNotificationConfig/get', { id: task.id, pushNotificationConfigId: 'two' })).result.pushNotificationConfig, pushNotificationConfig);
  assert.deepEqual((await ask(s, 'GetTaskPushNotificationConfig', { taskId: task.id, id: 'two' })).result.authentication, { scheme: 'Basic', credentials: 'c' });
  await eventually(async () => assert.ok(r.got.length), 10000 * slow);
  assert.equal(r.got[0].headers.authorization, 'Basic c');
  for (const schemes of [['a,b'], [1], [null]])
    assert.equal((await old('tasks/pushNotificationConfig/set', { taskId: task.id, pushNotificationConfig: { ...pushNotificationConfig, authentication: { schemes } } })).error.code, -32602, JSON.stringify(schemes));
  await r.close();
});

test('what is stored is sealed, survives a restart, and is delivered by the next server', async () => {
  const db = scratch('store.db');
  let s = await start({ db, args: allow });
  const r = await receiver();
  r.answers = Array(50).fill(500);
  const task = await sent(s, 'hello', { taskPushNotificationConfig: { id: 'hook', url: `${r.url}?secret-of-the-url`, token: 'secret-of-the-token' } });
  await eventually(async () => assert.ok(r.got.length), 5000 * slow);
  await s.stop();
  if (!onPostgres) {
    const { readFileSync } = await import('node:fs');
    for (const end of ['', '-wal'])
      try {
        assert.ok(!readFileSync(db + end).includes('secret-of-the-'), 'sealed');
      } catch (e) {
        if (e.code !== 'ENOENT') throw e;
      }
  }
  r.answers = [];
  const before = r.got.length;
  s = await start({ db, args: allow });
  await eventually(async () => assert.ok(r.got.slice(before).some((g) => g.status === 200)), 30000 * slow);
  const g = r.got.at(-1);
  assert.deepEqual([g.body.task.id, g.body.task.status.state, g.headers['x-a2a-notification-token'], g.path],
                   [task.id, 'TASK_STATE_COMPLETED', 'secret-of-the-token', '/hook?secret-of-the-url']);
  await r.close();
});

test('with several servers on one store, one of them delivers', async () => {
  const db = scratch('store.db');
  const servers = [await start({ db, args: allow }), await start({ db, args: allow })];
  const r = await receiver();
  const tasks = [];
  for (let i = 0; i < 12; i++) tasks.push(await sent(servers[i % 2], `/slow 5 ${i}`, { returnImmediately: true, taskPushNotificationConfig: { url: `${r.url}/${i}` } }));
  for (let i = 0; i < 12; i++) await ends(r, `/hook/${i}`);
  for (let i = 0; i < 12; i++) {
    const states = r.states(`/hook/${i}`);
    assert.deepEqual(states, [...new Set(states)], `${i}: each state once`);
    assert.ok(r.got.filter((g) => g.path === `/hook/${i}`).every((g) => g.body.task.id === tasks[i].id));
  }
  await r.close();
});

test('nobody else sees or changes a destination; a task and a user have only so many', async () => {
  const s = await start({ args: allow });
  const r = await receiver();
  const ann = { headers: { 'X-User-Id': 'ann' } }, bob = { headers: { 'X-User-Id': 'bob' } };
  const task = (await ask(s, 'SendMessage', young('hi'), ann)).result.task;
  await must(s, 'PUT', `sessions/${enc(task.contextId)}/members/bob`, { user: 'ann', json: { level: 'reader' } });
  const set = (id, who) => ask(s, 'CreateTaskPushNotificationConfig', { taskId: task.id, id, url: r.url }, who);
  assert.ok((await set('a', ann)).result);
  assert.match((await set('a', bob)).error.message, /already in use/);
  assert.ok((await set('b', bob)).result);
  const list = async (who) => (await ask(s, 'ListTaskPushNotificationConfigs', { taskId: task.id }, who)).result.configs.map((x) => x.id);
  assert.deepEqual([await list(ann), await list(bob)], [['a'], ['b']]);
  await ask(s, 'DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'a' }, bob);
  assert.deepEqual(await list(ann), ['a']);
  for (let i = 0; i < 8; i++) assert.ok((await set(`n${i}`, ann)).result);
  assert.match((await set('too many', ann)).error.message, /may have 10/);
  const page = (await ask(s, 'ListTaskPushNotificationConfigs', { taskId: task.id, pageSize: 4 }, ann)).result;
  assert.deepEqual([page.configs.length, page.nextPageToken], [4, 'n2']);
  const rest = (await ask(s, 'ListTaskPushNotificationConfigs', { taskId: task.id, pageToken: 'n2' }, ann)).result;
  assert.deepEqual([rest.configs.map((x) => x.id), rest.nextPageToken], [['n3', 'n4', 'n5', 'n6', 'n7'], '']);
  assert.equal((await ask(s, 'ListTaskPushNotificationConfigs', { taskId: task.id }, { headers: { 'X-User-Id': 'eve' } })).error.code, -32001);
  await r.close();
});

test('nothing is sent for a task that is gone, and its rows go with the session and the user', async () => {
  const db = scratch('store.db');
  const s = await start({ db, args: allow });
  const r = await receiver();
  r.answers = Array(100).fill(500);
  const task = await sent(s, 'hello', { taskPushNotificationConfig: { id: 'x', url: r.url } });
  await eventually(async () => assert.ok(r.got.length), 5000 * slow);
  await must(s, 'DELETE', `sessions/${enc(task.contextId)}`);
  r.answers = [];
  const other = await sent(s, 'another', { taskPushNotificationConfig: { id: 'x', url: `${r.url}/other` } });
  await ends(r, '/hook/other');
  assert.deepEqual(r.states(), []);
  assert.ok(other);
  await s.stop();
  const fsck = await ramet(['--db', db, 'fsck']);
  assert.equal(fsck.code, 0, fsck.out + fsck.err);
  await r.close();
});

await finish();
