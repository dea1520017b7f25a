// SPDX-License-Identifier: Apache-2.0
//
// a2a.mjs: agents of this server over A2A, with both generations of the SDK as clients, and with
// plain requests where the SDK would hide what is on the wire.
import { test, finish, start, call, must, ramet, enc, newSession, eventually, scratch, sleep, slow, assert } from './lib.mjs';
import { all, bindings, client, client as connect, generations, message, textOf } from './help/a2a.mjs';

const URI = 'urn:ramet:ext:session-rewind:v1';
const KEY = 'kagent_rewind_before_invocation_id';
const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const at1 = (session) => at(session, '/entries');
const entries = async (s, id, options) => (await must(s, 'GET', at(id, '/entries?limit=1000&versions=false'), options)).entries;
const texts = async (s, id, options) => (await entries(s, id, options)).map((e) => e.text);
const said = (task) => (task.history ?? []).map((m) => textOf(m));
const stamp = (m) => m.metadata?.kagent_invocation_id ?? m.metadata?.[`${URI}/invocationId`];
/** The conversation as kagent's page reads it: all tasks in order, each message once. */
async function kagentTexts(s, id, { user = 'local', version } = {}) {
  const r = await call(s, 'GET', `/api/sessions/${enc(id)}/tasks?user_id=${user}`, { headers: version ? { 'A2A-Version': version } : {} });
  assert.equal(r.status, 200, r.text);
  const seen = new Set();
  return (r.body.data ?? []).flatMap((t) => t.history ?? [])
    .filter((m) => !seen.has(m.messageId) && seen.add(m.messageId)).map((m) => textOf(m));
}
/** The same history in every face. What holds no text is compared elsewhere: an entry that only marks
 * where a turn was cut off is no message. */
async function histories(s, id, expected) {
  const said = (list) => list.filter(Boolean);
  assert.deepEqual(await texts(s, id), expected);
  assert.deepEqual(said(await kagentTexts(s, id)), said(expected));
  assert.deepEqual(said(await kagentTexts(s, id, { version: '1.0' })), said(expected));
  const listed = (await rpc(s, 'ListTasks', { contextId: id }, { version: '1.0' })).body.result.tasks;
  assert.deepEqual(said(listed.reverse().flatMap((t) => (t.history ?? []).map((m) => textOf(m)))), said(expected));
}
const paths = { plain: '/a2a/echo', kagent: '/api/a2a/kagent/echo' };

/** A JSON-RPC call as bytes: {status, headers, text, body, events}. */
async function rpc(s, method, params, { version, path = paths.plain, id = 7, body, headers = {} } = {}) {
  const all = { 'Content-Type': 'application/json', ...(version ? { 'A2A-Version': version } : {}), ...headers };
  const answer = await fetch(s.url + path, { method: 'POST', headers: all, body: body ?? JSON.stringify({ jsonrpc: '2.0', id, method, params }) });
  const text = await answer.text(), type = answer.headers.get('content-type') ?? '';
  return { status: answer.status, headers: answer.headers, text, body: type.includes('json') ? JSON.parse(text) : undefined,
           events: type.includes('event-stream') ? text.split('\n\n').filter((e) => e.startsWith('data: ')).map((e) => JSON.parse(e.slice(6))) : undefined };
}
const fails = async (promise, pattern) => assert.rejects(promise, (e) => {
  assert.match(`${e.name} ${e.message} ${e.code ?? e.errorResponse?.error?.code ?? ''}`, pattern);
  return true;
});
/** No key of a result may be in snake_case. */
function strict(v, where = '') {
  if (Array.isArray(v)) v.forEach((x, i) => strict(x, `${where}[${i}]`));
  else if (v && typeof v === 'object')
    for (const [k, x] of Object.entries(v)) {
      assert.ok(k.includes(':') || !k.includes('_'), `${where}.${k}`);
      if (k === 'timestamp') assert.match(x, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      if (k === 'state') assert.match(x, /^TASK_STATE_/);
      if (k === 'role') assert.match(x, /^ROLE_/);
      assert.notEqual(k, 'kind', where);
      strict(x, `${where}.${k}`);
    }
}

// ------------------------------------------------------------------ cards

test('cards: one for both generations, and one of 1.0 for those who name it', async () => {
  const s = await start({ args: ['--agent', 'my-agent=echo', '--default-agent', 'my-agent'] });
  for (const path of ['/a2a/my-agent', '/api/a2a/kagent/my-agent', '/api/a2a/kagent/my_agent'])
    for (const rest of ['', '/', '/.well-known/agent-card.json', '/.well-known/agent.json', '/deep/er/.well-known/agent-card.json']) {
      const r = await call(s, 'GET', path + rest);
      assert.equal(r.status, 200, path + rest);
      const card = r.body, kagent = path.startsWith('/api');
      assert.match(r.headers.get('cache-control'), /max-age=\d+/);
      assert.equal((await call(s, 'GET', path + rest, { headers: { 'If-None-Match': r.headers.get('etag') } })).status, 304);
      const known = ['name', 'description', 'supportedInterfaces', 'version', 'capabilities', 'defaultInputModes', 'defaultOutputModes', 'skills'];
      for (const k of known) assert.ok(card[k], k);
      assert.equal(card.name, kagent ? 'my_agent' : 'my-agent');
      assert.deepEqual(card.supportedInterfaces.map((i) => [i.protocolBinding, i.protocolVersion, i.url.replace(s.url, ''), i.tenant]),
        kagent ? [['JSONRPC', '1.0', '/api/a2a/kagent/my-agent', undefined], ['JSONRPC', '0.3', '/api/a2a/kagent/my-agent', undefined]]
          : [['JSONRPC', '1.0', '/a2a/my-agent', undefined], ['HTTP+JSON', '1.0', '/a2a/my-agent/v1', undefined],
             ['GRPC', '1.0', `127.0.0.1:${s.port}`, 'my-agent'], ['JSONRPC', '0.3', '/a2a/my-agent', undefined]]);
      const extension = card.capabilities.extensions.find((e) => e.uri === URI);
      assert.deepEqual([extension.required, extension.params.metadataKey], [false, KEY]);
      assert.deepEqual([card.capabilities.streaming, card.capabilities.pushNotifications], [true, true]);
      for (const k of ['protocolVersion', 'url', 'preferredTransport']) assert.ok(card[k], k);
      const pure = await call(s, 'GET', path + rest, { headers: { 'A2A-Version': '1.0' } });
      assert.deepEqual(Object.keys(pure.body).filter((k) => !known.includes(k)), []);
      assert.deepEqual(pure.body.supportedInterfaces, card.supportedInterfaces);
      assert.notEqual(pure.headers.get('etag'), r.headers.get('etag'));
      for (const one of [r, pure]) assert.equal(one.headers.get('vary'), 'A2A-Version, Host');
      assert.deepEqual((await call(s, 'GET', `${path + rest}?A2A-Version=1.0`)).body, pure.body);
      assert.deepEqual((await call(s, 'GET', path + rest, { headers: { 'A2A-Version': '0.3' } })).body, card);
    }
  assert.deepEqual(await call(s, 'GET', '/api/a2a/kagent/nobody').then((r) => [r.status, r.text]), [404, 'Agent kagent/nobody not found\n']);
  assert.equal((await call(s, 'POST', '/a2a/nobody', { json: {} })).status, 404);
  assert.equal((await call(s, 'GET', '/a2a/echo/elsewhere')).status, 404);
  assert.equal((await call(s, 'DELETE', '/a2a/echo')).status, 405);
});

test('cards: the public address stands there, and nothing of this machine', async () => {
  const s = await start({ args: ['--public-url', 'https://agents.example.org/base/'] });
  for (const path of Object.values(paths)) {
    const { text, body } = await call(s, 'GET', path);
    assert.doesNotMatch(text, /localhost|127\.0\.0\.1|token/i);
    assert.equal(body.supportedInterfaces[0].url, `https://agents.example.org/base${path}`);
  }
});

// ------------------------------------------------------------------ messages

const ways = generations.flatMap((version) => Object.keys(paths).flatMap((where) =>
  (where === 'plain' ? bindings[version] : ['JSONRPC']).map((binding) => [version, where, binding])));
for (const [version, where, binding] of ways)
  for (const path of [paths[where]]) {
    const name = `${version} at the ${where} path${binding === 'JSONRPC' ? '' : `, ${binding}`}`;
    const client = (v, base, options) => connect(v, base, { binding, ...options });

    test(`${name}: send`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const task = await c.send(message('hello there'));
      assert.deepEqual([task.kind, task.status.state], ['task', 'completed']);
      assert.deepEqual(said(task), ['hello there', 'hello there']);
      assert.equal(textOf(task.artifacts), 'hello there');
      assert.deepEqual(task.history.map((m) => m.role), ['user', 'agent']);
      assert.ok(task.history.every((m) => m.contextId === task.contextId && m.taskId === task.id));
      if (where === 'kagent' || version === '0.3') assert.ok(task.history.every((m) => m.metadata.kagent_invocation_id === task.id));
      else assert.ok(task.history.every((m) => m.metadata[`${URI}/invocationId`] === task.id));
      const again = await c.get(task.id);
      assert.deepEqual({ ...again, status: again.status.state }, { ...task, status: 'completed' });
      const next = await c.send(message('and now', { contextId: task.contextId }));
      assert.equal(next.contextId, task.contextId);
      assert.notEqual(next.id, task.id);
      assert.deepEqual(await texts(s, task.contextId), ['hello there', 'hello there', 'and now', 'and now']);
      const [e] = await entries(s, task.contextId);
      assert.deepEqual([e.format, e.id, e.turn_id], ['a2a', task.history[0].messageId, task.id]);
      const own = await c.send(message('by my own id', { contextId: 'my own context' }));
      assert.equal(own.contextId, 'my own context');
      assert.equal((await must(s, 'GET', at('my own context'))).agent.name, 'echo');
    });

    test(`${name}: stream`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const events = await all(c.stream(message('/tool look {"a":1}\none two three')));
      assert.equal(events[0].kind, 'task');
      assert.equal(events[0].status.state, 'working');
      assert.deepEqual(said(events[0]), ['/tool look {"a":1}\none two three']);
      const last = events.at(-1);
      assert.deepEqual([last.kind, last.status.state, last.final], ['status-update', 'completed', true]);
      assert.equal(events.filter((e) => e.final).length, 1);
      assert.ok(events.slice(1).every((e) => e.taskId === events[0].id && e.contextId === events[0].contextId));
      const data = events.flatMap((e) => e.status?.message?.parts ?? []).filter((p) => p.kind === 'data');
      assert.deepEqual(data.map((p) => p.data.args ?? p.data.response), [{ a: 1 }, { echo: { a: 1 } }]);
      const artifacts = events.filter((e) => e.kind === 'artifact-update');
      assert.equal(textOf(artifacts.at(-1).artifact), 'one two three');
      assert.equal(artifacts.at(-1).lastChunk, true);
      const partial = events.filter((e) => e.status?.message?.metadata?.adk_partial).map((e) => e.status.message);
      if (where === 'kagent') assert.deepEqual([partial.map(textOf).join(''), artifacts.length], ['one two three', 1]);
      else assert.deepEqual(artifacts.slice(0, -1).map((e) => [e.append ?? false, textOf(e.artifact)]), [[false, 'one '], [true, 'two '], [true, 'three']]);
      assert.equal((await c.get(events[0].id)).history.length, 4);
    });

    test(`${name}: a question, on send and on a stream`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const asked = await c.send(message('/ask which colour?\nthanks'));
      assert.equal(asked.status.state, 'input-required');
      assert.equal(textOf(asked.status.message), 'which colour?');
      const shown = await c.get(asked.id);
      assert.deepEqual([shown.status.state, textOf(shown.status.message)], ['input-required', 'which colour?']);
      const done = await c.send(message('green', { taskId: asked.id, contextId: asked.contextId }));
      assert.deepEqual([done.id, done.status.state], [asked.id, 'completed']);
      assert.match(textOf(done.artifacts), /You answered: green\s+thanks/);
      const events = await all(c.stream(message('/ask a?\n/ask b?\nend', { contextId: asked.contextId })));
      assert.deepEqual([events.at(-1).status.state, textOf(events.at(-1).status.message), events.at(-1).final], ['input-required', 'a?', true]);
      const more = await all(c.stream(message('x', { taskId: events[0].id })));
      assert.deepEqual([more[0].kind, more.at(-1).status.state, textOf(more.at(-1).status.message)], ['task', 'input-required', 'b?']);
      const rest = await all(c.stream(message('y', { taskId: events[0].id })));
      assert.equal(rest.at(-1).status.state, 'completed');
      const permit = await c.send(message('/permit really?\nok', { contextId: asked.contextId }));
      assert.equal(permit.status.state, 'input-required');
      const { data } = permit.status.message.parts.find((p) => p.kind === 'data');
      assert.ok((where === 'kagent' ? data.args.originalFunctionCall.args : data).options.length >= 2);
      const given = await c.send(message([{ kind: 'data', data: { decision_type: 'approve' } }, { kind: 'text', text: 'Approved' }], { taskId: permit.id }));
      assert.equal(given.status.state, 'completed');
      assert.match(textOf(given.artifacts), /You answered: allow/);
    });

    test(`${name}: cancel`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      let id;
      const events = [];
      for await (const e of c.stream(message('/slow 40 ' + 'word '.repeat(500)))) {
        events.push(e);
        id ??= e.id;
        if (events.length === 4) {
          const task = await c.cancel(id);
          assert.deepEqual([task.id, task.status.state], [id, 'canceled']);
        }
      }
      assert.deepEqual([events.at(-1).status.state, events.at(-1).final], ['canceled', true]);
      assert.equal((await c.get(id)).status.state, 'canceled');
      await fails(c.cancel(id), /NotCancelable|-32002/);
      await fails(c.cancel('none'), /NotFound|-32001/);
    });

    test(`${name}: several subscribers, and one that comes back`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const words = Array.from({ length: 40 }, (_, i) => `w${i}`).join(' ');
      let id;
      const dropped = await all(c.stream(message(`/slow 25 ${words}`)), (e) => (id ??= e.id, e.kind !== 'task'));
      assert.ok(dropped.length >= 2);
      const many = await Promise.all([0, 30, 120].map(async (ms) => {
        await sleep(ms);
        return all(c.resubscribe(id));
      }));
      for (const events of many) {
        assert.equal(events[0].kind, 'task');
        assert.deepEqual([events[0].id, events[0].status.state], [id, 'working']);
        assert.equal(said(events[0])[0], `/slow 25 ${words}`);
        assert.deepEqual([events.at(-1).status.state, events.at(-1).final], ['completed', true]);
        assert.equal(textOf(events.filter((e) => e.kind === 'artifact-update').at(-1).artifact), words);
        const live = where === 'kagent'
          ? events.filter((e) => e.status?.message).map((e) => textOf(e.status.message)).join('')
          : textOf(events[0].artifacts) + events.filter((e) => e.kind === 'artifact-update' && !e.lastChunk).map((e) => textOf(e.artifact)).join('');
        assert.equal(live, words, 'nothing is missing and nothing comes twice');
      }
      await fails(all(c.resubscribe(id)), version === '1.0' ? /UnsupportedOperation|-32004/ : /-32602|not running/);
      await fails(all(c.resubscribe('none')), /NotFound|-32001/);
    });

    test(`${name}: where a message goes: contexts and tasks that fit, and those that do not`, async () => {
      const s = await start({ args: ['--agent', 'other=echo'] });
      const c = await client(version, s.url + path, { headers: { 'X-User-Id': 'ann' } });
      const task = await c.send(message('one'));
      const waits = await c.send(message('/ask a?', { contextId: task.contextId }));
      const inferred = await c.send(message('b', { taskId: waits.id }));
      assert.equal(inferred.contextId, task.contextId);
      await fails(c.send(message('x', { taskId: task.id, contextId: 'another' })), /-32602|context/);
      await fails(c.send(message('x', { taskId: task.id })), version === '1.0' ? /UnsupportedOperation|-32004/ : /-32602|over/);
      await fails(c.send(message('x', { taskId: 'invented' })), /NotFound|-32001/);
      const bob = await client(version, s.url + path, { headers: { 'X-User-Id': 'bob' } });
      await fails(bob.send(message('x', { contextId: task.contextId })), /-32602|taken|exist/i);
      await fails(bob.get(task.id), /NotFound|-32001/);
      await fails(bob.cancel(task.id), /NotFound|-32001/);
      const other = await client(version, s.url + path.replace('echo', 'other'), { headers: { 'X-User-Id': 'ann' } });
      await fails(other.send(message('x', { contextId: task.contextId })), /another agent/);
      await fails(other.get(task.id), /NotFound|-32001/);
      assert.deepEqual(await texts(s, task.contextId, { user: 'ann' }), ['one', 'one', '/ask a?', 'a?', 'b', 'You answered: b']);
      await newSession(s, { id: 'native' }, { user: 'ann' });
      const there = await c.send(message('in a session of the native API', { contextId: 'native' }));
      assert.equal(there.contextId, 'native');
      const busy = all(c.stream(message('/slow 50 a b c d e f g h', { contextId: 'native' })));
      await eventually(async () => assert.ok((await must(s, 'GET', at('native'), { user: 'ann' })).running));
      await fails(c.send(message('x', { contextId: 'native' })), /UnsupportedOperation|-32004|runs/);
      await busy;
    });

    test(`${name}: the length of a history; an answer at once`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const task = await c.send(message('/tool look\nend'), { historyLength: 1 });
      assert.deepEqual(said(task), ['end']);
      assert.equal((await c.get(task.id)).history.length, 4);
      assert.equal((await c.get(task.id, 2)).history.length, 2);
      assert.equal((await c.get(task.id, 100)).history.length, 4);
      const zero = await c.get(task.id, 0);
      assert.equal(zero.history?.length ?? 0, version === '1.0' ? 0 : 4);
      const from = Date.now();
      const now = await c.send(message('/slow 100 a b c d e f'), { blocking: false });
      assert.equal(now.status.state, 'working');
      assert.ok(Date.now() - from < 400 * slow);
      await eventually(async () => assert.equal((await c.get(now.id)).status.state, 'completed'), 5000 * slow);
      const failed = await c.send(message('/fail it is late'));
      assert.deepEqual([failed.status.state, textOf(failed.status.message)], ['failed', 'it is late']);
      assert.equal((await c.get(failed.id)).status.state, 'failed');
    });

    // -------------------------------------------------------------- rewinds

    test(`${name}: rewind by a control message, with and without the extension`, async () => {
      const db = scratch('store.db');
      let s = await start({ db });
      let c = await client(version, s.url + path), context;
      const tasks = [];
      for (const text of ['one', 'two', 'three', 'four']) {
        tasks.push(await c.send(message(text, { contextId: context })));
        context = tasks[0].contextId;
      }
      const control = (id, more = {}) => message('', { contextId: context, metadata: { [KEY]: id }, ...more });
      const events = await all(c.stream(control(tasks[3].id)));
      assert.deepEqual(events.map((e) => [e.kind, e.status.state]), [['task', 'completed'], ['status-update', 'completed']]);
      assert.equal(events[1].final, true);
      assert.equal(events[0].contextId, context);
      assert.deepEqual(said(events[0]), ['one', 'one', 'two', 'two', 'three', 'three']);
      await histories(s, context, ['one', 'one', 'two', 'two', 'three', 'three']);
      const left = await c.get(tasks[3].id);
      const offHead = where === 'plain' && version === '1.0' ? `${URI}/offHead` : 'kagent_off_head';
      assert.deepEqual([said(left), left.status.state, left.metadata[offHead]], [['four', 'four'], 'completed', true], 'a task that was cut off is found, and says so');
      assert.deepEqual(await c.get(events[0].id), { ...events[0], status: events[1].status }, 'the task of a rewind is found');

      const active = await client(version, s.url + path, { extensions: [URI] });
      const done = await active.send(control(stamp(tasks[2].history[1]), { extensions: [URI] }));
      assert.deepEqual([done.kind, done.status.state, said(done)], ['task', 'completed', ['one', 'one', 'two', 'two']]);
      assert.ok(done.history.every((m) => m.metadata.kagent_invocation_id || where === 'x'), 'an active extension uses its own key');

      const annulled = await c.send(control(tasks[3].id));
      assert.equal(annulled.status.state, 'completed', 'an invocation that a rewind annulled is known');
      const prefixed = await c.send(message('', { contextId: context, metadata: { [`${URI}/${KEY}`]: tasks[1].id } }));
      assert.deepEqual(said(prefixed), ['one', 'one']);

      const both = await c.send(message('instead', { contextId: context, metadata: { [KEY]: tasks[0].id } }));
      assert.deepEqual([both.status.state, said(both)], ['completed', ['instead', 'instead']]);
      await histories(s, context, ['instead', 'instead']);

      for (const bad of [control('no such invocation'), message('', { contextId: 'no such session', metadata: { [KEY]: tasks[0].id } })]) {
        const failed = await all(c.stream(bad));
        assert.deepEqual(failed.map((e) => [e.kind, e.status.state, e.final]), [['status-update', 'failed', true]]);
        assert.ok(textOf(failed[0].status.message));
        const task = await c.send({ ...bad, messageId: 'again' });
        assert.deepEqual([task.kind, task.status.state], ['task', 'failed']);
        await fails(c.get(task.id), /NotFound|-32001/);
      }
      const bob = await client(version, s.url + path, { headers: { 'X-User-Id': 'bob' } });
      assert.equal((await bob.send(control(both.id))).status.state, 'failed');
      assert.deepEqual(await texts(s, context), ['instead', 'instead']);
      await must(s, 'POST', at(context, '/undo'), { json: {} });
      const before = await texts(s, context);
      await s.stop();
      s = await start({ db });
      c = await client(version, s.url + path);
      await histories(s, context, before);
      assert.equal((await c.get(tasks[0].id)).status.state, 'completed');
    });

    test(`${name}: a rewind ends the turn that runs, and nothing of it lands behind`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const one = await c.send(message('one'));
      const turn = all(c.stream(message('/slow 30 ' + 'late '.repeat(200), { contextId: one.contextId })));
      await eventually(async () => assert.ok((await must(s, 'GET', at(one.contextId))).running?.text));
      const done = await c.send(message('', { contextId: one.contextId, metadata: { [KEY]: one.id } }));
      assert.deepEqual([done.status.state, said(done)], ['completed', []]);
      assert.equal((await turn).at(-1).status.state, 'canceled');
      assert.deepEqual(await texts(s, one.contextId), []);
      assert.equal((await must(s, 'GET', at(one.contextId))).running, null);
      const next = await c.send(message('next', { contextId: one.contextId }));
      assert.deepEqual(said(next), ['next', 'next']);
    });

    test(`${name}: fork, rewind in the fork, fork of that, and on in each`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const tasks = [];
      for (const text of ['a', 'b', 'c'])
        tasks.push(await c.send(message(text, { contextId: 'root' })));
      const fork = (id, json = {}) => must(s, 'POST', at(id, '/fork'), { json });
      const one = (await fork('root')).id;
      const rewound = await c.send(message('', { contextId: one, metadata: { [KEY]: tasks[1].id } }));
      assert.deepEqual(said(rewound), ['a', 'a']);
      assert.ok(rewound.history.every((m) => m.contextId === one));
      await c.send(message('d', { contextId: one }));
      const two = (await fork(one)).id;
      const inside = await c.send(message('', { contextId: two, metadata: { [KEY]: tasks[0].id } }));
      assert.deepEqual(said(inside), [], 'an inherited turn is a place to rewind to');
      await must(s, 'POST', at(two, '/undo'), { json: {} });
      for (const [id, text] of [['root', 'r'], [one, 'o'], [two, 't']]) await c.send(message(text, { contextId: id }));
      const doubled = (list) => list.flatMap((t) => [t, t]);
      await histories(s, 'root', doubled(['a', 'b', 'c', 'r']));
      await histories(s, one, doubled(['a', 'd', 'o']));
      await histories(s, two, doubled(['a', 'd', 't']));
      const three = await must(s, 'POST', `/api/sessions/${two}/fork?user_id=local`, { json: { rewind_before_invocation_id: stamp((await c.get((await c.send(message('x', { contextId: two }))).id)).history[0]) } });
      await c.send(message('k', { contextId: three.data.id }));
      await histories(s, three.data.id, doubled(['a', 'd', 't', 'k']));
      await histories(s, two, doubled(['a', 'd', 't', 'x']));
    });
  }

test('sessions of kagent and of the native API are contexts, and the other way round', async () => {
  const db = scratch('store.db');
  let s = await start({ db });
  const made = await must(s, 'POST', '/api/sessions?user_id=local', { json: { agent_ref: 'kagent/echo', name: 'mine', id: 'k' } });
  assert.equal(made.data.id, 'k');
  await newSession(s, { id: 'n', title: 'native' });
  for (const version of generations)
    for (const id of ['k', 'n']) {
      const c = await client(version, s.url + paths.kagent);
      assert.equal((await c.send(message(`hello ${version}`, { contextId: id }))).contextId, id);
    }
  await must(s, 'POST', at('n', '/messages'), { json: { text: 'from the native API' } });
  const said3 = ['hello 0.3', 'hello 0.3', 'hello 1.0', 'hello 1.0'];
  await histories(s, 'k', said3);
  await histories(s, 'n', [...said3, 'from the native API', 'from the native API']);
  const c = await client('1.0', s.url + paths.plain);
  const task = await c.send(message('over A2A', { contextId: 'a' }));
  const list = await must(s, 'GET', '/api/sessions/agent/kagent/echo?user_id=local');
  assert.ok(['a', 'k'].every((id) => list.data.some((x) => x.id === id)));
  const agents = await fetch(`${s.url}${paths.kagent}/`, { method: 'POST', headers: { 'Content-Type': 'application/json', 'x-kagent-source': 'agent', 'X-User-Id': 'local' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message: message('of an agent', { contextId: 'sub' }) } }) });
  assert.equal((await agents.json()).result.status.state, 'completed');
  assert.equal((await must(s, 'GET', '/api/sessions/sub?user_id=local')).data.session.source, 'agent');
  assert.ok((await must(s, 'GET', '/api/sessions/agent/kagent/echo?user_id=local')).data.every((x) => x.id !== 'sub'));
  const kept = (await must(s, 'GET', `/api/tasks/${task.id}?user_id=local`)).data;
  assert.deepEqual([kept.id, kept.contextId, kept.status.state], [task.id, 'a', 'completed']);
  await s.stop();
  s = await start({ db });
  await histories(s, 'k', said3);
  await histories(s, 'a', ['over A2A', 'over A2A']);
});

test('a task that waits is told to whoever subscribes, also in the tasks of kagent', async () => {
  const s = await start();
  for (const version of generations) {
    const c = await client(version, s.url + paths.kagent);
    const asked = await c.send(message('/ask what?\nend'));
    const events = await all(c.resubscribe(asked.id), (e) => e.kind === 'status-update');
    assert.deepEqual(events.map((e) => [e.kind, e.status.state]), [['task', 'input-required'], ['status-update', 'input-required']]);
    assert.equal(textOf(events[1].status.message), 'what?');
    const [shown] = (await must(s, 'GET', `/api/sessions/${asked.contextId}/tasks?user_id=local`)).data;
    assert.equal(shown.status.state, 'input-required');
    const listening = all(c.stream(message('this', { taskId: asked.id })));
    assert.equal((await listening).at(-1).status.state, 'completed');
    await fails(c.send(message('more', { taskId: asked.id })), /-32602|-32004|Unsupported|over/);
  }
});

test('one who reads slowly holds nobody up, and has the whole answer in the end', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  const numbers = Array.from({ length: 40000 }, (_, i) => i + 1).join(' ');
  for (const path of Object.values(paths)) {
    const answer = await fetch(s.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message: message('/count 40000', { contextId: path }) } }) });
    await eventually(async () => assert.equal((await must(s, 'GET', at(path))).running, null), 20000 * slow);
    const events = (await answer.text()).split('\n\n').filter((e) => e.startsWith('data: ')).map((e) => JSON.parse(e.slice(6)).result);
    assert.deepEqual([events[0].kind, events.at(-1).status.state], ['task', 'completed']);
    assert.equal(textOf(events.filter((e) => e.kind === 'artifact-update').at(-1).artifact), numbers);
  }
});

test('two clients rewind one session at once: one order, and both see it', async () => {
  const s = await start();
  const [old, young] = [await client('0.3', s.url + paths.kagent), await client('1.0', s.url + paths.plain)];
  for (let round = 0; round < 5; round++) {
    const tasks = [], contextId = `race ${round}`;
    for (const text of ['a', 'b', 'c', 'd']) tasks.push(await old.send(message(text, { contextId })));
    const got = await Promise.all([[old, 1], [young, 3], [old, 2], [young, 1]].map(([c, i]) =>
      c.send(message('', { contextId, metadata: { [KEY]: tasks[i].id } }))));
    assert.ok(got.every((t) => t.status.state === 'completed'));
    const now = await texts(s, contextId);
    assert.ok([2, 4, 6].includes(now.length), JSON.stringify(now));
    assert.ok(got.some((t) => JSON.stringify(said(t)) === JSON.stringify(now)), 'the last of them is what stands');
    const log = (await must(s, 'GET', at(contextId, '/head-log'))).moves ?? [];
    assert.equal(log.filter((m) => m.kind === 'rewind').length, 4);
  }
});

// ------------------------------------------------------------------ long ones

for (const version of generations)
  test(`${version}: a stream stays within what readers take: the newest messages, and how many there are before them`, async () => {
    const s = await start();
    await newSession(s, { id: 'long', agent: 'echo' });
    const big = 'x'.repeat(480_000), n = 9; // more than the 4 MiB that the SDK takes
    for (let i = 0; i < n; i++) await must(s, 'POST', at1('long'), { json: { entries: [{ id: `b${i}`, role: 'user', text: `${i} ${big}`, turn_id: `t${i}` }] } });
    for (const path of version === '1.0' ? Object.values(paths) : [paths.kagent]) {
      const c = await client(version, s.url + path);
      const cut = (await c.send(message('cut', { contextId: 'long' }))).id;
      const events = await all(c.stream(message('', { contextId: 'long', metadata: { [KEY]: cut } })));
      assert.deepEqual(events.map((e) => e.kind), ['task', 'status-update']);
      assert.equal(events[1].status.state, 'completed');
      const [task] = events, shown = task.history.map((m) => m.messageId), omitted = task.metadata[`${URI}/historyOmitted`];
      assert.ok(shown.length >= 3 && omitted >= 3, `${shown.length} shown`);
      assert.deepEqual(shown, Array.from({ length: n }, (_, i) => `b${i}`).slice(omitted), 'the newest of them, in order');
      const whole = await c.send(message('', { contextId: 'long', metadata: { [KEY]: (await c.send(message('again', { contextId: 'long' }))).id } }));
      assert.deepEqual([whole.history.length, whole.metadata], [n, undefined], 'an answer that is no stream has all');
      const few = await all(c.stream(message('', { contextId: 'long', metadata: { [KEY]: (await c.send(message('and', { contextId: 'long' }))).id } }), { historyLength: 2 }));
      assert.deepEqual([few[0].history.map((m) => m.messageId), few[0].metadata], [[`b${n - 2}`, `b${n - 1}`], undefined], 'as few as were asked for');
      if (version !== '1.0') continue;
      // A long answer comes in pieces.
      const words = `w ${'\u0001'.repeat(720_000)}`;
      const told = await all(c.stream(message(words, { contextId: `words ${path}` })));
      let text = '';
      for (const e of told) if (e.kind === 'artifact-update') text = (e.append ? text : '') + textOf(e.artifact);
      assert.ok(text === words, `${text.length} of ${words.length}`);
      assert.equal(told.at(-1).status.state, 'completed');
      assert.equal(told.filter((e) => e.lastChunk).length, 1);
      assert.ok(textOf((await c.get(told[0].id)).artifacts) === words);
    }
  });

test('who writes through a link is named in the message, whatever he says himself', async () => {
  const s = await start();
  const kagent = (path, json, headers) => must(s, 'POST', path, { json, headers: { 'X-User-Id': 'ann', ...headers } }).then((r) => r.data);
  for (const id of ['open', 'closed']) await kagent('/api/sessions', { id, agent_ref: 'kagent/echo' });
  const link = await kagent('/api/sessions/open/shares', { read_only: false });
  const reading = await kagent('/api/sessions/open/shares', { read_only: true });
  for (const version of generations) {
    const by = (user, token) => client(version, s.url + paths.kagent, { headers: { 'X-User-Id': user, ...(token ? { 'X-Share-Token': token } : {}) } });
    const own = await (await by('ann')).send(message('mine', { contextId: 'open' }));
    assert.equal(own.history[0].metadata.initiated_by, undefined);
    const guest = await by('guest', link.token);
    const task = await guest.send(message('theirs', { contextId: 'open', metadata: { initiated_by: 'boss', kept: [1.50, 'x'] } }));
    assert.equal(task.status.state, 'completed');
    const { kagent_invocation_id: invocation, ...rest } = task.history[0].metadata;
    assert.deepEqual([invocation, rest], [task.id, { kept: [1.5, 'x'], initiated_by: 'guest' }]);
    const stored = (await entries(s, 'open', { user: 'ann' })).find((e) => e.id === task.history[0].messageId);
    assert.deepEqual([stored.author, stored.body.metadata.initiated_by, stored.text], ['guest', 'guest', 'theirs']);
    const shown = await must(s, 'GET', '/api/sessions/open/tasks', { user: 'ann' });
    assert.equal(shown.data.find((t) => t.id === task.id).history[0].metadata.initiated_by, 'guest');
    await fails((await by('guest', reading.token)).send(message('no', { contextId: 'open' })), /./);
    await fails(guest.send(message('no', { contextId: 'closed' })), /./);
  }
  assert.deepEqual(await texts(s, 'open', { user: 'ann' }), ['mine', 'mine', 'theirs', 'theirs', 'mine', 'mine', 'theirs', 'theirs']);
  assert.deepEqual(await texts(s, 'closed', { user: 'ann' }), []);
});

// ------------------------------------------------------------------ lists

test('1.0: tasks are listed by context, state and time, in pages, the newest first', async () => {
  const s = await start();
  const c = await client('1.0', s.url + paths.plain);
  for (let i = 0; i < 5; i++) await c.send(message(`t${i}`, { contextId: i < 3 ? 'one' : 'two' }));
  await c.send(message('/fail x', { contextId: 'two' }));
  const whole = await c.list({});
  assert.deepEqual([whole.totalSize, whole.pageSize, whole.nextPageToken ?? ''], [6, 50, '']);
  const times = whole.tasks.map((t) => t.status.timestamp);
  assert.deepEqual(times, [...times].sort().reverse());
  assert.ok(whole.tasks.every((t) => !t.artifacts?.length));
  assert.equal((await c.list({ contextId: 'one' })).totalSize, 3);
  assert.equal((await c.list({ contextId: 'none' })).totalSize ?? 0, 0);
  assert.deepEqual((await c.list({ status: 'TASK_STATE_FAILED' })).tasks.map((t) => said(t)[0]), ['/fail x']);
  const pages = [];
  for (let pageToken; ;) {
    const page = await c.list({ pageSize: 4, pageToken });
    pages.push(page.tasks.length);
    pageToken = page.nextPageToken;
    if (!pageToken) break;
  }
  assert.deepEqual(pages, [4, 2]);
  assert.equal(textOf((await c.list({ contextId: 'one', includeArtifacts: true, historyLength: 0 })).tasks[0].artifacts), 't2');
  const raw = (await rpc(s, 'ListTasks', {}, { version: '1.0' })).body.result;
  assert.equal(raw.nextPageToken, '');
  for (const bad of [{ pageSize: 0 }, { pageSize: 101 }, { pageToken: 'x' }, { status: 'x' }, { statusTimestampAfter: 'x' }, { historyLength: -1 }])
    assert.equal((await rpc(s, 'ListTasks', bad, { version: '1.0' })).body.error.code, -32602, JSON.stringify(bad));
});

test('1.0: a list of all is in order over every session, page by page', async () => {
  const s = await start();
  const n = 620, ids = Array.from({ length: n }, (_, i) => `many${i}`), mine = ids.filter((_, i) => i % 10);
  const some = async (list, work) => { for (let at = 0; at < list.length; at += 20) await Promise.all(list.slice(at, at + 20).map(work)); };
  const say = (id, text) => must(s, 'POST', at1(id), { json: { entries: [{ role: 'user', text }] } });
  await some(ids, async (id, i) => {
    await newSession(s, { id, agent: mine.includes(id) ? 'echo' : 'other' });
    await say(id, id);
  });
  // The oldest sessions speak again last; tasks come from elsewhere with times of their own.
  await some(mine.filter((_, i) => i % 7 === 0).reverse(), (id) => say(id, 'again'));
  const dated = mine.filter((_, i) => i % 31 === 0);
  await some(dated, (id, i) => must(s, 'POST', '/api/tasks?user_id=local', { json: { kind: 'task', id: `${id}-dated`, contextId: id, history: [],
    status: { state: 'completed', timestamp: `${i % 2 ? 2019 : 2040}-01-01T00:00:${String(dated.indexOf(id)).padStart(2, '0')}Z` } } }));
  const fork = (await must(s, 'POST', at(mine[3], '/fork'), { json: {} })).id;
  const seen = [], sizes = [];
  for (let pageToken, more = true; more;) {
    const { tasks, nextPageToken, totalSize } = (await rpc(s, 'ListTasks', { pageSize: 100, pageToken }, { version: '1.0' })).body.result;
    seen.push(...tasks);
    sizes.push(totalSize);
    // What comes meanwhile neither repeats nor hides another.
    if (seen.length === 100) await say((await newSession(s, { agent: 'echo' })).id, 'late');
    pageToken = nextPageToken;
    more = pageToken !== '';
  }
  const times = seen.map((t) => t.status.timestamp);
  assert.deepEqual(times, [...times].sort().reverse(), 'the newest first, over all pages');
  assert.deepEqual([...new Set(seen.map((t) => t.id))].length, seen.length, 'none twice');
  assert.deepEqual([...new Set(seen.map((t) => t.contextId))].sort(), [...mine, fork].sort(), 'none left out');
  assert.equal(seen.length, mine.length + mine.filter((_, i) => i % 7 === 0).length + dated.length + 1);
  assert.deepEqual(sizes, sizes.map(() => seen.length), 'every page tells how many there are');
  for (const pageSize of [1, 7, 100]) {
    const one = (await rpc(s, 'ListTasks', { pageSize, status: 'TASK_STATE_COMPLETED' }, { version: '1.0' })).body.result;
    assert.equal(one.totalSize, seen.length + 1, 'with what came meanwhile');
  }
  assert.ok(times[0].startsWith('2040') && times.at(-1).startsWith('2019'));
  const after = (await rpc(s, 'ListTasks', { pageSize: 100, statusTimestampAfter: '2039-01-01T00:00:00Z' }, { version: '1.0' })).body.result;
  assert.deepEqual(after.tasks.map((t) => t.id), seen.filter((t) => t.status.timestamp > '2039').map((t) => t.id));
}, { seconds: 120 });

// ------------------------------------------------------------------ the wire

test('strict readers of 1.0 find no foreign key in any result of the plain path', async () => {
  const s = await start();
  let sent = 0;
  const send = (text, more = {}) => rpc(s, 'SendStreamingMessage', { message: { messageId: `m${++sent}`, role: 'ROLE_USER', parts: [{ text }], contextId: 'c', ...more } }, { version: '1.0' });
  const streamed = await send('/think hm\n/tool look {"a":1}\n/ask who?\nend');
  assert.match(streamed.headers.get('content-type'), /^text\/event-stream/);
  assert.equal(streamed.headers.get('x-accel-buffering'), 'no');
  assert.doesNotMatch(streamed.text, /\r/);
  streamed.events.forEach((e) => strict(e.result));
  const taskId = streamed.events[0].result.task.id;
  (await send('me', { taskId })).events.forEach((e) => { strict(e.result); assert.equal(e.id, 7); });
  strict((await rpc(s, 'GetTask', { id: taskId }, { version: '1.0' })).body.result);
  strict((await rpc(s, 'ListTasks', { includeArtifacts: true }, { version: '1.0' })).body.result);
  const plain = await rpc(s, 'SendMessage', { message: { messageId: 'p', role: 'ROLE_USER', parts: [{ text: 'x' }] } }, { version: '1.0' });
  strict(plain.body.result);
  assert.deepEqual(Object.keys(plain.body.result), ['task']);
  const active = await rpc(s, 'GetTask', { id: taskId }, { version: '1.0', headers: { 'A2A-Extensions': `x:y, ${URI}` } });
  assert.equal(active.headers.get('a2a-extensions'), URI);
  assert.equal(active.body.result.history[0].metadata.kagent_invocation_id, taskId);
  const old = await rpc(s, 'tasks/get', { id: taskId }, { headers: { 'X-A2A-Extensions': URI } });
  assert.equal(old.headers.get('x-a2a-extensions'), URI);
});

test('errors have their codes, in the words of their version, and change nothing', async () => {
  const s = await start();
  const m = (more = {}) => ({ messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'x' }], ...more });
  const young = (more = {}) => ({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], ...more });
  const bodies = [['{', -32700, null], ['', -32700, null], ['[]', -32600, null], ['{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', -32600, 1],
    ['{"jsonrpc":"2.0","method":"tasks/get"}', -32602, null], ['{"jsonrpc":"2.0","method":"no/such"}', -32601, null], ['{"jsonrpc":"2.0","id":null,"method":"tasks/get","params":{"id":"x"}}', -32001, null],
    ['{"jsonrpc":"2.0","method":"tasks/get","params":[]}', -32602, null], ['{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', -32600, null],
    ['{"jsonrpc":"2.0","id":"a","method":5}', -32600, 'a'], ['{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":[]}', -32602, 'a'],
    ['{"jsonrpc":"2.0","id":1.5,"method":"no/such"}', -32601, 1.5], ['{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', -32700, null]];
  for (const path of Object.values(paths))
    for (const [body, code, id] of bodies) {
      const r = await rpc(s, '', {}, { path, body });
      assert.equal(r.status, 200);
      assert.deepEqual([r.body.jsonrpc, r.body.id, r.body.error.code], ['2.0', id, code], body);
      assert.ok(r.body.error.message);
    }
  const cases = [
    ['SendMessage', { message: young() }, undefined, -32601], ['message/send', { message: m() }, '1.0', -32601], ['tasks/list', {}, undefined, -32601],
    ['message/send', {}, undefined, -32602], ['message/send', { message: 5 }, undefined, -32602], ['message/send', { message: m({ role: 'agent' }) }, undefined, -32602],
    ['message/send', { message: m({ parts: [] }) }, undefined, -32602], ['message/send', { message: m({ parts: [{ kind: 'odd' }] }) }, undefined, -32602],
    ['message/send', { message: m({ messageId: 5 }) }, undefined, -32602], ['message/send', { message: m({ messageId: undefined }) }, undefined, -32602],
    ['message/send', { message: m({ messageId: 'a\nb' }) }, undefined, -32602], ['message/send', { message: m({ messageId: 'x'.repeat(256) }) }, undefined, -32602], ['message/send', { message: m({ contextId: 5 }) }, undefined, -32602],
    ['message/send', { message: m({ parts: [{ kind: 'text', text: 'a\0b' }] }) }, undefined, -32602],
    ['message/send', { message: m({ contextId: 'x'.repeat(256) }) }, undefined, -32602],
    ['message/send', { message: m({ metadata: { [KEY]: 5 } }) }, undefined, -32602], ['message/send', { message: m({ metadata: { [KEY]: '' } }) }, undefined, -32602],
    ['message/send', { message: m(), configuration: { historyLength: -1 } }, undefined, -32602],
    ['message/send', { message: m(), configuration: { historyLength: 'x' } }, undefined, -32602],
    ['message/send', { message: m(), configuration: { pushNotificationConfig: { url: 'ftp://h' } } }, undefined, -32602],
    ['message/send', { message: m(), configuration: { acceptedOutputModes: ['image/png'] } }, undefined, -32005],
    ['SendMessage', { message: young(), configuration: { taskPushNotificationConfig: { url: 'ftp://h' } } }, '1.0', -32602],
    ['message/send', { message: m({ taskId: 'none' }) }, undefined, -32001], ['tasks/get', { id: 'none' }, undefined, -32001], ['tasks/get', {}, undefined, -32602],
    ['tasks/cancel', { id: 'none' }, undefined, -32001], ['GetTask', { id: 'none' }, '1.0', -32001], ['GetTask', { id: 5 }, '1.0', -32602],
    ['tasks/pushNotificationConfig/set', { taskId: 'x' }, undefined, -32001], ['tasks/pushNotificationConfig/get', { id: 'x' }, undefined, -32001],
    ['tasks/pushNotificationConfig/list', { id: 'x' }, undefined, -32001], ['tasks/pushNotificationConfig/delete', { id: 'x' }, undefined, -32602],
    ['CreateTaskPushNotificationConfig', {}, '1.0', -32602], ['ListTaskPushNotificationConfigs', {}, '1.0', -32602],
    ['GetTaskPushNotificationConfig', { taskId: 'x', id: 'y' }, '1.0', -32001], ['DeleteTaskPushNotificationConfig', { taskId: 'x', id: 'y' }, '1.0', -32001],
    ['ListTasks', { contextID: 'x' }, '1.0', -32602], ['ListTasks', { contextId: 'a', context_id: 'b' }, '1.0', -32602]];
  for (const [method, params, version, code] of cases)
    for (const path of Object.values(paths)) {
      const r = await rpc(s, method, params, { version, path });
      assert.equal(r.status, 200);
      assert.equal(r.body.error?.code, code, `${method} ${JSON.stringify(params)}: ${r.text}`);
      if (code > -32010 && code < -32000) {
        const [info] = r.body.error.data;
        assert.deepEqual([info['@type'], info.domain], ['type.googleapis.com/google.rpc.ErrorInfo', 'a2a-protocol.org']);
        assert.match(info.reason, /^[A-Z_]+$/);
      }
    }
  for (const [method, version] of [['GetTask', '2.0'], ['tasks/get', 'x']]) {
    const r = await rpc(s, method, { id: 'x' }, { version });
    assert.deepEqual([r.status, r.body.error.code, r.body.error.data[0].reason], [200, -32009, 'VERSION_NOT_SUPPORTED']);
    for (const body of [undefined, '{']) { // kagent's controller looks at the version first, and says it in plain text
      const k = await rpc(s, method, { id: 'x' }, { version, path: paths.kagent, body });
      assert.deepEqual([k.status, k.headers.get('content-type').split(';')[0], k.text], [400, 'text/plain', `Unsupported A2A version: ${version}\n`]);
    }
  }
  const streamed = await rpc(s, 'message/stream', { message: m({ parts: [] }) });
  assert.equal(streamed.events[0].error.code, -32602, 'a stream of 0.3 has its error as an event');
  assert.equal((await rpc(s, 'SendStreamingMessage', { message: young({ parts: [] }) }, { version: '1.0' })).body.error.code, -32602);
  assert.equal((await rpc(s, 'GetTask', { id: 'x' }, { path: `${paths.plain}?A2A-Version=1.0` })).body.error.code, -32001);
  assert.deepEqual((await must(s, 'GET', 'sessions')).sessions, []);
});

test('a stranger gets nothing where a token is needed, but the card', async () => {
  const db = scratch('store.db');
  const token = async (user, ...more) => JSON.parse((await ramet(['--db', db, 'token', 'create', '--user', user, ...more, '--json'])).out).secret;
  const [ann, bob, agent] = [await token('ann'), await token('bob'), await token('robot', '--roles', 'agent')];
  const s = await start({ db, args: ['--auth', 'tokens'] });
  for (const version of generations)
    for (const path of Object.values(paths)) {
      const [a, b] = await Promise.all([ann, bob].map((t) => client(version, s.url + path, { headers: { Authorization: `Bearer ${t}` } })));
      const task = await a.send(message('mine'));
      assert.equal(task.status.state, 'completed');
      await fails(b.get(task.id), /NotFound|-32001/);
      await fails(b.send(message('x', { contextId: task.contextId })), /-32602|taken|context/);
      if (path !== paths.kagent) continue;
      const robot = await client(version, s.url + path, { headers: { Authorization: `Bearer ${agent}`, 'X-Agent-Name': 'kagent__NS__parent', 'X-User-Id': 'ann' } });
      await fails(robot.get(task.id), /NotFound|-32001/);
      const own = await robot.send(message('of an agent'));
      assert.equal((await robot.get(own.id)).status.state, 'completed');
      assert.equal((await a.get(own.id)).status.state, 'completed', 'it is a session of the user');
    }
  for (const path of Object.values(paths)) {
    const card = await call(s, 'GET', path);
    assert.equal(card.status, 200);
    assert.ok(card.body.securitySchemes.bearer);
    assert.equal((await call(s, 'POST', path, { json: { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } } })).status, 401);
  }
});

test('a link of kagent lets read over A2A what it shares, and write when it says so', async () => {
  const s = await start();
  const owner = await client('0.3', s.url + paths.kagent, { headers: { 'X-User-Id': 'ann' } });
  const task = await owner.send(message('mine', { contextId: 'shared' }));
  await owner.send(message('not shared', { contextId: 'own' }));
  const link = async (json) => (await must(s, 'POST', '/api/sessions/shared/shares?user_id=ann', { json })).data.token;
  for (const [json, writes] of [[{}, false], [{ read_only: false }, true]]) {
    const guest = await client('0.3', s.url + paths.kagent, { headers: { 'X-User-Id': 'bob', 'X-Share-Token': await link(json) } });
    assert.deepEqual(said(await guest.get(task.id)).slice(0, 2), ['mine', 'mine']);
    const sent = guest.send(message('hello', { contextId: 'shared' }));
    if (writes) assert.equal((await sent).status.state, 'completed');
    else await assert.rejects(sent);
    await assert.rejects(guest.send(message('hello', { contextId: 'own' })));
    if (!writes) assert.equal(await guest.send(message('', { contextId: 'shared', metadata: { [KEY]: task.id } })).then((t) => t.status.state, () => 'refused') === 'completed', false);
  }
  assert.deepEqual(await texts(s, 'shared', { user: 'ann' }), ['mine', 'mine', 'hello', 'hello']);
  assert.deepEqual(await texts(s, 'own', { user: 'ann' }), ['not shared', 'not shared']);
});

// ------------------------------------------------------------------ anything at once

/** Numbers that are the same in every run. */
function dice(seed) {
  return (n) => ((seed = (seed * 1103515245 + 12345) % 2147483648) >> 8) % n;
}

test('many clients do anything at once: every face tells the same histories in the end', async () => {
  const s = await start({ args: ['--turns', '16'] });
  const clients = [await client('0.3', s.url + paths.kagent), await client('1.0', s.url + paths.plain)];
  const roll = dice(7), ids = ['none'], contexts = ['c0', 'c1', 'c2'];
  const deeds = [
    (c, contextId) => c.send(message(`/slow ${roll(5)} ${'w '.repeat(roll(30) + 1)}`, { contextId })).then((t) => ids.push(t.id)),
    (c, contextId, id, n = roll(20)) => all(c.stream(message(`/tool x {}\n/slow ${roll(9)} ${'w '.repeat(roll(40) + 1)}`, { contextId })), (e) => (e.kind === 'task' && ids.push(e.id), n-- < 0)),
    (c, contextId, id) => c.cancel(id),
    (c, contextId, id, n = roll(30)) => all(c.resubscribe(id), () => n-- < 0),
    (c, contextId, id) => c.send(message(roll(3) ? '' : 'and on', { contextId, metadata: { [KEY]: id } })),
    async (c, contextId) => {
      const t = await c.send(message('/ask q?\nend', { contextId }), { blocking: roll(2) === 0 });
      ids.push(t.id);
      if (roll(2)) await c.send(message('a', { taskId: t.id }));
      else await c.cancel(t.id);
    },
    (c, contextId) => call(s, 'POST', at(contextId, `/${roll(2) ? 'undo' : 'redo'}`), { json: {} }),
  ];
  let refused = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let i = 0; i < 25; i++)
      await deeds[roll(deeds.length)](clients[roll(2)], contexts[roll(3)], ids[roll(ids.length)]).catch((e) => {
        refused++;
        assert.doesNotMatch(String(e.message), /-32603|Internal/, 'what is refused is told as such');
      });
  }));
  assert.ok(refused > 0);
  for (const id of contexts) {
    for (let v; (v = (await must(s, 'GET', at(id))).running);) await call(s, 'POST', at(id, '/cancel'), { json: { turn_id: v.turn_id } });
    await histories(s, id, await texts(s, id));
  }
});

test('whatever is sent, the answer is one of JSON-RPC', async () => {
  const s = await start();
  const roll = dice(3);
  const bases = [
    ['message/send', { message: { ...message(['hi', { kind: 'data', data: { a: 1 } }, { kind: 'file', file: { uri: 'http://x', name: 'n' } }], { contextId: 'c', metadata: { [KEY]: 'x' } }) }, configuration: { historyLength: 2, acceptedOutputModes: ['text'], blocking: true } }],
    ['SendStreamingMessage', { message: { messageId: 'm2', role: 'ROLE_USER', contextId: 'c', parts: [{ text: 'hi' }, { data: [1] }, { url: 'http://x', filename: 'n' }], extensions: ['x'] }, configuration: { historyLength: 2 } }],
    ['GetTask', { id: 'x', historyLength: 1 }], ['ListTasks', { contextId: 'c', pageSize: 3, status: 'TASK_STATE_WORKING', statusTimestampAfter: '2026-01-01T00:00:00Z' }],
    ['tasks/resubscribe', { id: 'c' }], ['tasks/cancel', { id: 'c' }]];
  const odd = ['null', '5', '-1', '"x"', '""', '[]', '{}', 'true', '[[]]', '{"a":{"b":[null]}}', '"\\u0000"', '1e99', `"${'y'.repeat(300)}"`];
  for (let i = 0; i < 400; i++) {
    const [method, params] = bases[roll(bases.length)];
    let body = JSON.stringify({ jsonrpc: '2.0', id: i, method, params });
    const spots = [...body.matchAll(/:("(?:[^"\\]|\\.)*"|\d+|true|\[[^[\]{}]*\]|\{[^{}]*\})/g)];
    for (let k = roll(3); k >= 0; k--) {
      const place = roll(body.length);
      body = roll(4) ? body.replace(spots[roll(spots.length)][0], `:${odd[roll(odd.length)]}`)
        : body.slice(0, place) + String.fromCharCode(32 + roll(95)) + body.slice(place + roll(3));
    }
    const r = await rpc(s, method, {}, { body, path: Object.values(paths)[roll(2)], version: /^[A-Z]/.test(method) ? '1.0' : undefined });
    assert.equal(r.status, 200, body);
    for (const v of r.events ?? [r.body]) assert.ok('result' in v || (v.error.code < -32000 && v.error.code !== -32603 && v.error.message), `${body}: ${r.text}`);
  }
});

// ------------------------------------------------------------------ one behind the other

for (const path of Object.values(paths))
  for (const version of ['auto', '0.3', '1.0'])
    test(`Ramet behind Ramet at ${path}, version ${version}`, async () => {
      const far = await start();
      const s = await start({ args: ['--agent', `far=a2a,url=${far.url}${path},version=${version}`] });
      const say = async (text, context = 'a') => must(s, 'POST', at(context, '/messages'), { json: { text } });
      await newSession(s, { id: 'a' });
      assert.deepEqual((await say('one two')).entries.map((e) => e.text), ['one two', 'one two']);
      const asks = say('/ask who?\n/tool look {"a":1}\nlast words');
      const { running } = await eventually(async () => {
        const v = await must(s, 'GET', at('a'));
        assert.ok(v.running?.question);
        return v;
      });
      await must(s, 'POST', at('a', `/turns/${running.turn_id}/answer`), { json: { question_id: running.question.id, answer: 'me' } });
      const tools = await asks;
      assert.equal(tools.status, 'done', tools.error);
      assert.deepEqual(tools.entries.map((e) => e.parts.map((p) => p.type).join()), ['text', 'text,data', 'text,data', 'text', 'tool_call', 'tool_result', 'text']);
      assert.deepEqual(tools.entries.filter((e) => e.role === 'assistant' && e.text).map((e) => e.text.trim()), ['who?', 'You answered: me', 'last words']);
      assert.deepEqual(tools.entries[4].parts[0].input, { a: 1 });
      assert.equal((await say('/fail too bad')).error.includes('too bad'), true);
      const list = (await must(far, 'GET', 'sessions')).sessions;
      assert.equal(list.length, 1, 'one branch is one context there');
    });

await finish();
