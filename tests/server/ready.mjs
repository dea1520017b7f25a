// SPDX-License-Identifier: Apache-2.0
//
// ready.mjs: what is done for a turn before its message is stored, and what is kept for the next one:
// threads that get ready, history that is read ahead, connections to the model. None of it may show.
import { test, finish, start, call, must, enc, newSession, append, eventually, metric, sleep, slow,
         assert } from './lib.mjs';
import { startModel } from './help/model.mjs';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const send = (s, session, json) =>
  call(s, 'POST', at(session, '/messages'), { json: typeof json === 'string' ? { text: json } : json });
const done = async (s, session, json) => {
  const r = await send(s, session, json);
  assert.equal(r.status, 200, r.text);
  assert.equal(r.body.status, 'done', r.text);
  return r.body;
};
const entries = async (s, session) =>
  (await must(s, 'GET', at(session, '/entries?limit=1000&versions=false'))).entries;
const times = (n, run) => Promise.all(Array.from({ length: n }, (_, i) => run(i)));
const threads = (s) => Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${s.pid}/status`, 'utf8'))[1]);
const agentOf = (model, name, more = '') => ['--agent', `${name}=openai,url=${model.url},model=${name},retries=0${more}`];

test('what the model says comes behind the message, however soon it is said', async () => {
  let asked = 0;
  const model = http.createServer((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      asked++;
      res.setHeader('Content-Type', 'text/event-stream');
      res.end('data: {"choices":[{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n');
    });
  });
  await new Promise((ready) => model.listen(0, '127.0.0.1', ready));
  const s = await start({ args: ['--agent', `m=openai,url=http://127.0.0.1:${model.address().port}/v1,model=m`] });
  await times(6, async (n) => {
    await newSession(s, { id: `s${n}` });
    for (let i = 0; i < 20; i++)
      await done(s, `s${n}`, `s${n} says ${i}`);
    assert.deepEqual((await entries(s, `s${n}`)).map((e) => e.text),
                     Array.from({ length: 20 }, (_, i) => [`s${n} says ${i}`, 'yes']).flat());
  });
  assert.equal(asked, 120);
  await s.stop();
  model.closeAllConnections();
  model.close();
});

test('a message that is refused never reaches a model, and takes no room', async () => {
  const model = await startModel();
  const s = await start({ args: [...agentOf(model, 'm'), '--turns', '2', '--turn-queue', '0'] });
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'other' }, { user: 'ann' });
  await append(s, 'a', [{ id: 'x', role: 'user', text: 'one' }, 'two']);
  const bad = [{ text: 'late', expected_head: '0'.repeat(64) }, { text: 'again', id: 'x' }, { text: 'no', replace: 'none' },
               { text: 'no', fork: { at: { entry_id: 'none' } } }];
  for (let i = 0; i < 10; i++)
    for (const json of bad)
      assert.ok((await send(s, 'a', json)).status >= 400, JSON.stringify(json));
  assert.equal((await call(s, 'POST', at('other', '/messages'), { json: { text: 'mine' }, user: 'bob' })).status, 404);
  const slowly = send(s, 'a', '!slow 400');
  await eventually(() => assert.equal(model.log.length, 1));
  for (let i = 0; i < 10; i++)
    assert.equal((await send(s, 'a', 'while it runs')).status, 409);
  assert.equal((await slowly).body.status, 'done');
  assert.equal(model.log.length, 1);
  await newSession(s, { id: 'b' });
  await Promise.all([done(s, 'a', '!slow 200'), done(s, 'b', '!slow 200')]);
  assert.equal(model.log.length, 3);
  await eventually(async () => assert.equal(await metric(s, 'ramet_turns_running'), 0));
  await s.stop();
  await model.stop();
});

test('a history that was read ahead is the one that the model gets, whatever is appended meanwhile', async () => {
  const model = await startModel();
  const s = await start({ args: agentOf(model, 'm') });
  await newSession(s, { id: 'a' });
  for (const k of [1, 2]) // more than is read ahead
    await append(s, 'a', Array.from({ length: 600 }, (_, i) => `before ${k}.${i}`));
  await newSession(s, { id: 'b' });
  await times(2, async (n) => {
    const id = 'ab'[n];
    for (let i = 0; i < 30; i++)
      await Promise.all([done(s, id, `${id} asks ${i}`), append(s, id, `beside ${i}`), append(s, id, [`this ${i}`, `that ${i}`])]);
  });
  const path = { a: [], b: [] };
  for (const id of ['a', 'b'])
    for (let after = '', more = true; more;) {
      const page = await must(s, 'GET', at(id, `/entries?limit=1000&versions=false${after}`));
      path[id].push(...page.entries.map((e) => e.text));
      after = `&after=${enc(page.entries.at(-1).id)}`;
      more = page.more_after;
    }
  assert.equal(path.b.length, 30 * 5);
  // Where something came in between, the model was asked anew, and that is what counts.
  const last = new Map(model.log.map(({ body }) => [body.messages.at(-1).content, body]));
  assert.equal(last.size, 60);
  for (const body of last.values()) {
    const got = body.messages.map((m) => m.content), [id] = got.at(-1).split(' ');
    assert.deepEqual(got, path[id].slice(0, path[id].indexOf(got.at(-1)) + 1));
  }
  await s.stop();
  await model.stop();
});

test('two agents at one address: each request has the key of its own', async () => {
  const model = await startModel();
  const s = await start({ args: [...agentOf(model, 'm1', ',key=key-one'), ...agentOf(model, 'm2', ',key=key-two'), ...agentOf(model, 'm3')] });
  await times(6, async (n) => {
    await newSession(s, { id: `s${n}` });
    for (let i = 0; i < 9; i++)
      await done(s, `s${n}`, { text: 'hello', agent: `m${1 + (n + i) % 3}` });
  });
  assert.equal(model.log.length, 54);
  const keys = { m1: 'Bearer key-one', m2: 'Bearer key-two', m3: undefined };
  for (const { body, headers } of model.log) assert.equal(headers.authorization, keys[body.model]);
  const used = new Map();
  for (const { body, connection } of model.log) used.set(connection, (used.get(connection) ?? new Set()).add(body.model));
  assert.ok(used.size < 54, 'connections are used again');
  for (const who of used.values()) assert.equal(who.size, 1, 'but not by another agent');
  await s.stop();
  await model.stop();
});

test('a kept connection that the model has closed: one request, on a fresh one', async () => {
  let model = await startModel({ keepAlive: 1 });
  const { port } = model;
  const s = await start({ args: agentOf(model, 'm') });
  await newSession(s, { id: 'a' });
  for (let i = 0; i < 4; i++) {
    assert.equal((await done(s, 'a', `ask ${i}`)).entries.at(-1).text, `You said: ask ${i}`);
    await sleep(i % 2 ? 0 : 1200);
  }
  assert.deepEqual(model.log.map((l) => l.body.messages.at(-1).content), ['ask 0', 'ask 1', 'ask 2', 'ask 3']);
  await model.stop();
  model = await startModel({ port }); // it went away, and is back
  await done(s, 'a', 'ask 4');
  assert.equal(model.log.length, 1);
  assert.equal(model.log[0].body.messages.length, 9);
  await s.stop();
  await model.stop();
});

test('a turn is cancelled while the connection is being made', async () => {
  const mute = net.createServer((c) => c.on('error', () => {})); // it takes the connection, and never says hello
  await new Promise((ready) => mute.listen(0, '127.0.0.1', ready));
  const s = await start({ args: ['--agent', `m=openai,url=https://127.0.0.1:${mute.address().port}/v1,model=m`] });
  await newSession(s, { id: 'a' });
  for (const ms of [0, 5, 30, 100]) {
    const turn = send(s, 'a', 'hello');
    await eventually(async () => assert.ok((await must(s, 'GET', at('a'))).running));
    await sleep(ms);
    const start = Date.now();
    assert.equal((await call(s, 'POST', at('a', '/cancel'), { json: {} })).status, 200);
    assert.equal((await turn).body.status, 'cancelled');
    assert.ok(Date.now() - start < 500 * slow);
  }
  await eventually(async () => assert.equal(await metric(s, 'ramet_turns_running'), 0));
  await s.stop();
  mute.close();
});

test('threads are kept for the next turns, and not more than a few', async () => {
  const s = await start();
  await times(60, (n) => newSession(s, { id: `s${n}` }));
  const idle = threads(s);
  for (let i = 0; i < 20; i++) await done(s, 's0', 'one after the other');
  assert.ok(threads(s) <= idle + 2, `${threads(s)} threads, ${idle} before`);
  await times(60, (n) => done(s, `s${n}`, '/slow 20\nmany at once here'));
  await eventually(() => assert.ok(threads(s) <= idle + 16, `${threads(s)} threads, ${idle} before`));
  await times(60, (n) => done(s, `s${n}`, 'once more'));
  await s.stop();
});

test('the server stops in the midst of turns that begin, run and end', async () => {
  for (let i = 0; i < 5; i++) {
    const s = await start({ args: ['--turns', '4', '--turn-stop-seconds', '0'] });
    await times(12, (n) => newSession(s, { id: `s${n}` }));
    const all = times(12, async (n) => { for (let k = 0; k < 50; k++) await send(s, `s${n}`, '/slow 1\na few words').catch(() => {}); });
    await sleep(20 + 15 * i);
    await s.stop();
    await all;
  }
});

await finish();
