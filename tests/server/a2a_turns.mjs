// SPDX-License-Identifier: Apache-2.0
//
// a2a_turns.mjs: a turn as A2A tells it: questions and answers as messages, the same parts on a
// stream as in the history, the times of its statuses, subscriptions, tasks that were cut off, and
// the envelope of a call.
import { test, finish, start, call, must, eventually, assert } from './lib.mjs';
import { all, client, generations, message, textOf } from './help/a2a.mjs';

const URI = 'urn:ramet:ext:session-rewind:v1', KEY = 'kagent_rewind_before_invocation_id';
const paths = { plain: '/a2a/echo', kagent: '/api/a2a/kagent/echo' };
const entries = async (s, id) => (await must(s, 'GET', `sessions/${id}/entries?limit=1000&versions=false`)).entries;

async function rpc(s, method, params, { version, path = paths.plain, body, headers = {} } = {}) {
  const answer = await fetch(s.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...(version ? { 'A2A-Version': version } : {}), ...headers },
                                             body: body ?? JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }) });
  const text = await answer.text();
  return { status: answer.status, ...(text.startsWith('{') ? JSON.parse(text) : {}),
           events: text.startsWith('data: ') ? text.split('\n\n').filter((e) => e.startsWith('data: ')).map((e) => JSON.parse(e.slice(6)).result) : undefined };
}

for (const version of generations)
  for (const [where, path] of Object.entries(paths)) {
    const name = `${version} at the ${where} path`;

    test(`${name}: a question and its answer belong to the history`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const asked = await c.send(message('/ask which?\nthanks'));
      assert.equal(asked.status.state, 'input-required');
      assert.deepEqual(asked.history.at(-1), asked.status.message, 'the question is the last message');
      const given = message('green', { taskId: asked.id });
      const done = await c.send(given);
      const told = (await c.get(done.id)).history;
      assert.deepEqual(told.map((m) => [m.role, textOf(m)]), [['user', '/ask which?\nthanks'], ['agent', 'which?'], ['user', 'green'], ['agent', 'You answered: green\nthanks']]);
      assert.deepEqual([told[1].messageId, told[2].messageId], [asked.status.message.messageId, given.messageId]);
      assert.deepEqual(done.history, told);
      assert.equal(textOf(done.artifacts), 'You answered: green\nthanks', 'a question is no answer');
      const native = await entries(s, done.contextId);
      assert.deepEqual(native.map((e) => [e.role, e.text, e.turn_id === done.id]),
                       [['user', '/ask which?\nthanks', true], ['assistant', 'which?', true], ['user', 'green', true], ['assistant', 'You answered: green\nthanks', true]]);
      assert.deepEqual([native[1].parts[1].data.type, native[2].format, native[2].id], ['question', 'a2a', given.messageId]);
    });

    test(`${name}: the id of an answer may not be that of another message, and nothing changes`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const one = await c.send(message('one'));
      const asked = await c.send(message('/ask which?', { contextId: one.contextId }));
      const before = await entries(s, one.contextId);
      await assert.rejects(c.send(message('other words', { taskId: asked.id, messageId: one.history[0].messageId })));
      assert.deepEqual(await entries(s, one.contextId), before);
      assert.equal((await c.get(asked.id)).status.state, 'input-required');
      assert.equal((await c.send(message('green', { taskId: asked.id }))).status.state, 'completed');
    });

    test(`${name}: stream and history carry the same parts in the same order`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      for (const text of ['/think hm\nyes', '/think a\n/tool look {"a":1}\n/think b\n/plan x; y\nwords', '/plan x; y\nwords', '/tool look {"a":1}\n/tool look {"a":2}\nend', '/fail 1 too bad']) {
        const events = await all(c.stream(message(text)));
        const live = events.filter((e) => e.kind === 'status-update' && !e.final && !e.status.message?.metadata?.adk_partial).flatMap((e) => e.status.message?.parts ?? []);
        const task = await c.get(events[0].id), told = task.history.filter((m) => m.role === 'agent');
        const kinds = (parts) => parts.filter((p) => p.kind !== 'text' || p.metadata).map((p) => p.data ?? [p.text, p.metadata]);
        assert.deepEqual(kinds(live), kinds(told.flatMap((m) => m.parts)), text);
        assert.ok(task.history.every((m) => m.parts.length && m.parts.some((p) => p.kind !== 'text' || p.text)), `${text}: no empty messages`);
        const thoughts = told.flatMap((m) => m.parts).filter((p) => p.metadata?.kagent_thought || p.metadata?.[`${URI}/thought`]).length;
        assert.equal(thoughts, where === 'kagent' ? 0 : text.split('/think').length - 1, text);
        if (where !== 'kagent') assert.equal(JSON.stringify(kinds(live)).includes('"plan"'), text.includes('/plan'), 'plans');
        const said = told.map((m) => textOf(m.parts.filter((p) => p.kind === 'text' && !p.metadata))).filter(Boolean);
        const chunks = events.filter((e) => e.kind === 'artifact-update' && e.lastChunk).map((e) => textOf(e.artifact));
        assert.deepEqual(chunks, where === 'kagent' ? said : said.length ? [said.join('\n\n')] : [], text);
      }
    });

    test(`${name}: a status has the same time on the stream and when it is read`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const time = (t) => t.status.timestamp;
      const events = await all(c.stream(message('/ask a?\nend')));
      const asking = await c.get(events[0].id);
      assert.deepEqual([asking.status.state, time(asking)], ['input-required', time(events.at(-1))]);
      assert.ok(time(asking) >= time(events[0]), 'it asked after it began');
      if (version === '1.0') {
        const after = new Date(new Date(time(asking)).getTime() - 1).toISOString();
        const found = await rpc(s, 'ListTasks', { contextId: asking.contextId, statusTimestampAfter: after }, { version, path });
        assert.deepEqual(found.result.tasks.map((t) => t.id), [asking.id]);
      }
      const rest = await all(c.stream(message('b', { taskId: asking.id })));
      const done = await c.get(asking.id);
      assert.deepEqual([done.status.state, time(done)], ['completed', time(rest.at(-1))]);
      assert.ok(time(done) >= time(asking));
      assert.equal(time(await c.send(message('/fail no')).then((t) => c.get(t.id).then((u) => (assert.equal(time(u), time(t)), u)))).endsWith('Z'), true);
    });

    test(`${name}: a task that was cut off is found, says so, and comes back with an undo`, async () => {
      const s = await start();
      const c = await client(version, s.url + path);
      const [one, two] = [await c.send(message('one', { contextId: 'c' })), await c.send(message('/fail two', { contextId: 'c' }))];
      const rewound = await c.send(message('', { contextId: 'c', metadata: { [KEY]: one.id } }));
      assert.deepEqual(rewound.history ?? [], []);
      const key = version === '1.0' && where === 'plain' ? `${URI}/offHead` : 'kagent_off_head';
      for (const t of [one, two]) {
        const left = await c.get(t.id);
        assert.deepEqual([left.history, left.status, left.metadata], [t.history, left.status, { [key]: true }]);
        assert.equal(left.status.state, t.status.state);
        const rest = (await must(s, 'GET', `/api/tasks/${t.id}?user_id=local`)).data;
        assert.deepEqual(rest.metadata, { kagent_off_head: true });
      }
      await must(s, 'POST', 'sessions/c/undo', { json: {} });
      assert.equal((await c.get(one.id)).metadata, undefined);
    });
  }

test('a subscription of 1.0 goes on behind a question; one of 0.3 ends there', async () => {
  const s = await start();
  for (const path of Object.values(paths)) {
    const [old, young] = [await client('0.3', s.url + path), await client('1.0', s.url + path)];
    const asked = await young.send(message('/ask a?\n/ask b?\nend'));
    const ends = await all(old.resubscribe(asked.id));
    assert.deepEqual([ends.at(-1).status.state, ends.at(-1).final], ['input-required', true]);
    const seen = [];
    const whole = (async () => {
      for await (const e of young.resubscribe(asked.id)) seen.push(e);
    })();
    await eventually(async () => assert.ok(seen.length));
    for (const word of ['x', 'y']) await young.send(message(word, { taskId: asked.id }));
    await whole;
    const states = seen.filter((e) => e.status && !e.status.message?.metadata?.adk_partial && !(e.status.state === 'working' && e.status.message)).map((e) => e.status.state);
    assert.deepEqual(states, ['input-required', 'input-required', 'working', 'input-required', 'working', 'completed']);
    assert.deepEqual(seen.filter((e) => e.status?.state === 'input-required').map((e) => textOf(e.status.message)), ['a?', 'a?', 'b?']);
  }
});

test('DELETE of a task, as kagent: 204 whatever there is, and only what the caller may write goes', async () => {
  const s = await start();
  const c = await client('0.3', s.url + paths.kagent, { headers: { 'X-User-Id': 'ann' } });
  const tasks = [];
  for (const text of ['one', 'two', 'three']) tasks.push(await c.send(message(text, { contextId: 'c' })));
  const http = (method, id, user = 'ann', more = {}) => call(s, method, `/api/tasks/${id}`, { headers: { 'X-User-Id': user, ...more } });
  const listed = async () => (await must(s, 'GET', '/api/sessions/c/tasks?user_id=ann')).data.map((t) => t.id);
  for (const [id, user] of [['never', 'ann'], [tasks[0].id, 'bob']]) {
    const r = await http('DELETE', id, user);
    assert.deepEqual([r.status, r.text], [204, '']);
  }
  assert.deepEqual(await listed(), tasks.map((t) => t.id), 'nothing of another user');
  const { data: { token } } = await must(s, 'POST', '/api/sessions/c/shares?user_id=ann', { json: {} });
  assert.equal((await http('DELETE', tasks[0].id, 'bob', { 'X-Share-Token': token })).status, 403, 'a link that only reads');
  assert.deepEqual(await listed(), tasks.map((t) => t.id));
  assert.deepEqual([(await http('DELETE', tasks[0].id)).status, (await http('DELETE', tasks[0].id)).status, (await http('GET', tasks[0].id)).status], [204, 204, 404]);
  await c.send(message('', { contextId: 'c', metadata: { [KEY]: tasks[2].id } }));
  assert.equal((await http('GET', tasks[2].id)).body.data.metadata.kagent_off_head, true);
  assert.deepEqual([(await http('DELETE', tasks[2].id)).status, (await http('GET', tasks[2].id)).status], [204, 404], 'off the head');
  await must(s, 'POST', '/api/sessions/c/undo?user_id=ann');
  assert.deepEqual(await listed(), [tasks[1].id], 'it stays deleted');
});

test('the envelope: a call without an id, other content types, parts without a kind, the words of errors', async () => {
  const s = await start();
  const send = (parts, more = {}) => ({ message: { kind: 'message', messageId: 'm', role: 'user', parts, ...more } });
  for (const path of Object.values(paths)) {
    const bare = (method, params) => rpc(s, '', {}, { path, body: JSON.stringify({ jsonrpc: '2.0', method, params }) });
    assert.deepEqual([(await bare('no/such')).error.code, (await bare('tasks/get')).error.code, (await bare('tasks/get', { id: 'x' })).error.code], [-32601, -32602, -32001]);
    const answered = await bare('message/send', send([{ kind: 'text', text: 'hi' }], { messageId: `b ${path}`, contextId: `b ${path}` }));
    assert.deepEqual([answered.id, answered.result.status.state], [null, 'completed']);
    for (const type of ['text/plain', 'application/xml', 'application/jsonx', 'multipart/form-data; boundary=x']) {
      const r = await rpc(s, 'tasks/get', { id: 'x' }, { path, headers: { 'Content-Type': type } });
      assert.deepEqual([r.status, r.error.code, r.error.data[0].reason], [200, -32005, 'CONTENT_TYPE_NOT_SUPPORTED'], type);
      assert.match(r.error.message, /not supported/);
    }
    for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/a2a+json'])
      assert.equal((await rpc(s, 'tasks/get', { id: 'x' }, { path, headers: { 'Content-Type': type } })).error.code, -32001, type);
    for (const parts of [[{ text: 'x' }], [{ kind: 'text', text: 'x' }, { data: {} }], [{ kind: 5, text: 'x' }]]) {
      const r = await rpc(s, 'message/send', send(parts), { path });
      assert.equal(r.error?.code, -32602, JSON.stringify(parts));
      assert.match(r.error.message, /parts\[\d\]\.kind/);
    }
    for (const [method, params, version, words] of [['tasks/get', { id: 'x' }, undefined, /not found/i], ['no/such', {}, undefined, /not found/i], ['GetTask', { id: 'x' }, '1.0', /not found/i]])
      assert.match((await rpc(s, method, params, { path, version })).error.message, words, method);
    const done = await rpc(s, 'SendMessage', { message: { messageId: `w ${path}`, role: 'ROLE_USER', parts: [{ text: 'x' }] } }, { path, version: '1.0' });
    assert.match((await rpc(s, 'SubscribeToTask', { id: done.result.task.id }, { path, version: '1.0' })).error.message, /not supported/);
  }
});

await finish();
