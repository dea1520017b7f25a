// SPDX-License-Identifier: Apache-2.0
//
// overlays.mjs: what the model sees of a history, and what it was sent for a turn.
import { test, finish, start, call, must, enc, newSession, append, eventually, ramet, sleep, assert } from './lib.mjs';
import { startModel } from './help/model.mjs';
import http from 'node:http';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const overlay = (s, session, json, options = {}) => call(s, 'POST', at(session, '/overlays'), { ...options, json });
const context = async (s, session, query = '') =>
  (await must(s, 'GET', at(session, `/entries?limit=1000&view=context${query}`))).entries;
const ids = async (s, session) => (await context(s, session)).map((e) => e.id);
const say = (s, id, text, more = {}) => must(s, 'POST', at(id, '/messages'), { json: { text, ...more } });
const prompt = (s, id, turn) => must(s, 'GET', at(id, `/turns/${turn}/prompt`));

async function withEntries(id = 'a') {
  const s = await start();
  await newSession(s, { id });
  await must(s, 'POST', at(id, '/entries'), { json: { entries: ['e1', 'e2', 'e3', 'e4'].map((e) => ({ id: e, role: 'user', text: `text of ${e}` })) } });
  return s;
}

test('an overlay moves the head to a branch that carries it, and the record stays', async () => {
  const s = await withEntries();
  const before = await must(s, 'GET', at('a'));
  const r = await overlay(s, 'a', { entry_id: 'e2', action: 'hide', reason: 'wrong' });
  assert.equal(r.status, 201, r.text);
  assert.match(r.body.id, /^o\d+$/);
  assert.equal(r.body.head.prefix_hash, before.head.prefix_hash);
  assert.equal(r.body.head.length, 4);
  assert.notEqual(r.body.head.branch_id, before.head.branch_id);
  const b = await overlay(s, 'a', { entry_id: 'e3', action: 'replace', text: 'short' });
  assert.deepEqual(await ids(s, 'a'), ['e1', 'e3', 'e4']);
  const [, third] = await context(s, 'a');
  assert.equal(third.text, 'short');
  assert.deepEqual(third.parts, [{ type: 'text', text: 'short' }]);
  assert.equal((await must(s, 'GET', at('a', '/entries'))).entries[2].text, 'text of e3', 'record is the default');
  const { overlays } = await must(s, 'GET', at('a', '/overlays'));
  assert.deepEqual(overlays.map((o) => [o.id, o.entry_id, o.action, o.text]),
                   [[r.body.id, 'e2', 'hide', undefined], [b.body.id, 'e3', 'replace', 'short']]);
  const { moves } = await must(s, 'GET', at('a', '/head-log'));
  assert.deepEqual(moves.map((m) => [m.kind, m.reason]), [['overlay', ''], ['overlay', 'wrong']]);
  const gone = await call(s, 'DELETE', at('a', `/overlays/${r.body.id}`));
  assert.equal(gone.status, 200, gone.text);
  assert.deepEqual(await ids(s, 'a'), ['e1', 'e2', 'e3', 'e4']);
  await must(s, 'POST', at('a', '/undo'), { json: {} });
  assert.deepEqual(await ids(s, 'a'), ['e1', 'e3', 'e4']);
});

test('a fork keeps what stood when it was made', async () => {
  const s = await withEntries();
  await overlay(s, 'a', { entry_id: 'e3', action: 'hide_before' });
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  await overlay(s, 'a', { entry_id: 'e4', action: 'hide' });
  assert.deepEqual(await ids(s, 'f'), ['e3', 'e4']);
  assert.deepEqual(await ids(s, 'a'), ['e3']);
});

test('what cannot be is refused by name', async () => {
  const s = await withEntries();
  for (const [json, status, code, field] of [
    [{ entry_id: 'nobody', action: 'hide' }, 404, 'entry_not_found', 'entry_id'],
    [{ entry_id: 'e1', action: 'burn' }, 400, 'invalid_request', 'action'],
    [{ entry_id: 'e1', action: 'replace' }, 400, 'invalid_request', 'text'],
    [{ entry_id: 'e1', action: 'hide', text: 'x' }, 400, 'invalid_request', 'text'],
    [{ entry_id: 'e1', action: 'hide', when: 'later' }, 400, 'invalid_request', 'when'],
    [{ entry_id: 'e1', action: 'hide', expected_head: '0'.repeat(64) }, 409, 'head_moved', 'expected_head'],
    [{ entry_id: 'e1', action: 'replace', text: 'x'.repeat((1 << 20) + 1) }, 413, 'too_large', 'text'],
  ]) {
    const r = await overlay(s, 'a', json);
    assert.deepEqual([r.status, r.body.code, r.body.field], [status, code, field], r.text);
  }
  for (const id of ['o99', 'nonsense']) {
    const r = await call(s, 'DELETE', at('a', `/overlays/${id}`));
    assert.deepEqual([r.status, r.body.code], [404, 'overlay_not_found']);
  }
  assert.equal((await call(s, 'GET', at('a', '/entries?view=other'))).status, 400);
  assert.equal((await must(s, 'GET', at('a', '/head-log'))).moves.length, 0);
});

test('while a turn runs it is refused, or waits for the end', async () => {
  const s = await start({ args: ['--agent', 'slow=echo,delay_ms=100', '--default-agent', 'slow'] });
  await newSession(s, { id: 'a' });
  await append(s, 'a', ['first']);
  const [first] = (await must(s, 'GET', at('a', '/entries'))).entries;
  const done = say(s, 'a', Array.from({ length: 20 }, (_, i) => i).join(' '));
  await eventually(async () => assert.ok((await must(s, 'GET', at('a'))).running));
  const no = await overlay(s, 'a', { entry_id: first.id, action: 'hide' });
  assert.deepEqual([no.status, no.body.code], [409, 'turn_running']);
  // a dropped connection drops it
  const dropped = http.request(`${s.url}/ramet/v1/${at('a', '/overlays')}`, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
  dropped.on('error', () => {});
  dropped.end(JSON.stringify({ entry_id: first.id, action: 'replace', text: 'dropped', when: 'idle' }));
  await sleep(300);
  dropped.destroy();
  const yes = await overlay(s, 'a', { entry_id: first.id, action: 'hide', when: 'idle' });
  assert.equal(yes.status, 201, yes.text);
  assert.equal((await done).status, 'done');
  const { moves } = await must(s, 'GET', at('a', '/head-log'));
  assert.equal(moves.length, 1);
  assert.equal(yes.body.head.length, 3, 'behind the answer');
  assert.equal((await context(s, 'a')).length, 2);
});

test('the model is sent the context view, and the prompt of a turn is exactly what it was sent', async () => {
  const model = await startModel();
  const s = await start({ args: ['--agent', `m=openai,url=${model.url},model=m1,system=Be brief.,temperature=0.5`, '--default-agent', 'm'] });
  const exact = async (done, n) => {
    const p = await prompt(s, done.session_id, done.turn_id);
    const { messages, ...settings } = model.log[n].body;
    assert.equal(p.known, true, JSON.stringify(p));
    assert.equal(JSON.stringify(p.messages), JSON.stringify(messages));
    assert.equal(JSON.stringify(p.settings), JSON.stringify(settings));
    assert.equal(p.instructions, 'Be brief.');
    assert.equal(p.usage.output, done.entries.at(-1).usage.output);
  };
  await newSession(s, { id: 'a' });
  const one = await say(s, 'a', 'my secret is 1234');
  const two = await say(s, 'a', 'and the weather?');
  await exact(one, 0);
  await exact(two, 1);
  await overlay(s, 'a', { entry_id: one.entries[0].id, action: 'replace', text: 'my secret is ****' });
  await overlay(s, 'a', { entry_id: one.entries[1].id, action: 'hide' });
  const three = await say(s, 'a', 'go on');
  assert.ok(!model.log[2].raw.includes('1234'), model.log[2].raw);
  assert.ok(model.log[2].raw.includes('****'));
  await exact(three, 2);
  await exact(one, 0);
  await exact(two, 1);
  // later moves and overlays change nothing about what was sent
  await overlay(s, 'a', { entry_id: two.entries[0].id, action: 'hide' });
  await exact(three, 2);
  const cli = await ramet(['show', 'a', '@-1', '--prompt', '--server', s.url]);
  assert.equal(cli.code, 0, cli.err);
  assert.deepEqual(JSON.parse(cli.out).messages, model.log[2].body.messages);
  for (const where of [['--server', s.url], ['--db', s.db]]) {
    const byTurn = await ramet(['show', three.turn_id, '--prompt', ...where]);
    assert.equal(byTurn.code, 0, byTurn.err);
    assert.deepEqual(JSON.parse(byTurn.out).messages, model.log[2].body.messages);
  }
  assert.equal((await must(s, 'GET', `turns/${three.turn_id}`)).session_id, 'a');
  for (const [turn, options] of [['nobody'], [three.turn_id, { user: 'eve' }]]) {
    const r = await call(s, 'GET', `turns/${turn}`, options);
    assert.deepEqual([r.status, r.body.code, r.body.field], [404, 'turn_not_found', 'turn']);
  }
  // a turn that was never sent anywhere
  await newSession(s, { id: 'b' });
  const none = await call(s, 'GET', at('a', '/turns/nobody/prompt'));
  assert.deepEqual([none.status, none.body.code], [404, 'turn_not_found']);
  await model.stop();
});

test('a call that the user is asked for is in the prompt', async () => {
  const model = await startModel();
  const s = await start({ args: ['--agent', `m=openai,url=${model.url},model=m1,tool_calls=ask`, '--default-agent', 'm'] });
  await newSession(s, { id: 'a' });
  const done = say(s, 'a', '!tools weather {"city": "Lisbon"}');
  const question = await eventually(async () => {
    const { running } = await must(s, 'GET', at('a'));
    assert.ok(running?.question);
    return { turn: running.turn_id, id: running.question.id };
  });
  await must(s, 'POST', at('a', `/turns/${question.turn}/answer`), { json: { question_id: question.id, answer: 'sunny' } });
  const ended = await done;
  const p = await prompt(s, 'a', ended.turn_id);
  assert.equal(p.known, true);
  assert.equal(JSON.stringify(p.messages), JSON.stringify(model.log.at(-1).body.messages));
  await model.stop();
});

test('a turn of no agent has no prompt', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const done = await say(s, 'a', 'hello');
  const p = await prompt(s, 'a', done.turn_id);
  assert.deepEqual(p.messages, [{ role: 'user', content: 'hello' }]);
  assert.equal(p.known, true);
});

await finish();
