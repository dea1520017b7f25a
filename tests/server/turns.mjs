// SPDX-License-Identifier: Apache-2.0
//
// turns.mjs: messages that get an answer: streamed, recorded, and never in the wrong place. The
// agent is echo, in all its moods, and a model that logs what it was sent.
import { test, finish, start, call, must, sse, enc, newSession, append, eventParser, eventually,
         goesOn, metric, ramet, scratch, sleep, slow, assert } from './lib.mjs';
import { startModel } from './help/model.mjs';
import { authority } from './help/authority.mjs';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const send = (s, session, json, options = {}) =>
  call(s, 'POST', at(session, '/messages'), { ...options, json: typeof json === 'string' ? { text: json } : json });
const told = async (s, session, json, options) => {
  const r = await send(s, session, json, options);
  assert.equal(r.status, 200, r.text);
  return r.body;
};
const entries = async (s, session, query = '') =>
  (await must(s, 'GET', at(session, `/entries?limit=1000&versions=false${query}`))).entries;
const texts = async (s, session, query) => (await entries(s, session, query)).map((e) => e.text);
const session = (s, id) => must(s, 'GET', at(id));
const turns = async (s, id) => (await must(s, 'GET', at(id, '/turns'))).turns;
const count = (n) => Array.from({ length: n }, (_, i) => i + 1).join(' ');
/** The mark of an answer that was cut off. */
const cut = (entry) => entry.parts.at(-1).data;

/**
 * POSTs and reads events: {status, events, text(), until(), over, close()}. `over` is a promise of the end
 * of the stream.
 */
function stream(s, path, json, { headers = {}, user } = {}) {
  return new Promise((done, fail) => {
    const all = { Accept: 'text/event-stream', 'Content-Type': 'application/json', ...headers };
    if (user) all['X-User-Id'] = user;
    const out = { events: [] };
    const parser = eventParser((e) => out.events.push({ ...e, json: JSON.parse(e.data) }));
    const request = http.request(`${s.url}/ramet/v1/${path}`, { method: 'POST', headers: all, agent: false }, (answer) => {
      out.status = answer.statusCode;
      out.headers = answer.headers;
      out.raw = '';
      answer.setEncoding('utf8');
      answer.on('data', (d) => { out.raw += d; if (out.status === 200) parser.feed(d); });
      answer.on('error', () => {});
      out.over = new Promise((over) => answer.on('close', over));
      done(out);
    });
    out.close = () => request.destroy();
    out.of = (type, id) => out.events.filter((e) => e.event === type && (!id || e.json.session_id === id)).map((e) => e.json);
    out.text = (id) => out.of('turn.delta', id).map((e) => e.text).join('');
    out.until = (holds, ms) => eventually(() => assert.ok(holds(out), JSON.stringify(out.events.map((e) => e.event))), ms ?? 5000 * slow);
    out.end = async () => { await out.over; return out.of('turn.done').at(-1); };
    request.on('error', (e) => (out.status ? undefined : fail(e)));
    request.end(JSON.stringify(typeof json === 'string' ? { text: json } : json));
  });
}
const say = (s, id, json, options) => stream(s, at(id, '/messages'), json, options);

// ------------------------------------------------------------------ one turn

test('a message is appended, answered and recorded', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const done = await told(s, 'a', 'hello big  world');
  assert.equal(done.session_id, 'a');
  assert.equal(done.status, 'done');
  assert.deepEqual(done.entries.map((e) => [e.role, e.text]), [['user', 'hello big  world'], ['assistant', 'hello big  world']]);
  assert.ok(done.entries.every((e) => e.turn_id === done.turn_id));
  assert.equal(done.entries[1].author, 'echo');
  assert.ok(done.entries[1].usage.output > 0);
  assert.deepEqual(await texts(s, 'a'), ['hello big  world', 'hello big  world']);
  const [turn] = await turns(s, 'a');
  assert.equal(turn.id, done.turn_id);
  assert.equal(turn.status, 'done');
  assert.equal(turn.agent, 'echo');
  assert.equal(turn.entry_id, done.entries[0].id);
  assert.deepEqual(await must(s, 'GET', at('a', `/turns/${turn.id}`)), turn);
  assert.equal((await session(s, 'a')).running, null);
  assert.equal((await call(s, 'GET', at('a', '/turns/none'))).status, 404);
});

test('events come as the answer is made', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', '/think let me see\n/tool look {"a": 1}\n/plan one; two\nthis is it');
  const done = await w.end();
  assert.deepEqual([...new Set(w.events.map((e) => e.event))],
    ['turn.started', 'entry.appended', 'turn.thinking', 'turn.plan', 'turn.delta', 'turn.done']);
  assert.equal(w.text(), 'this is it');
  assert.equal(done.status, 'done');
  assert.ok(w.events.every((e) => e.json.session_id === 'a' && e.json.turn_id === done.turn_id && e.id === ''));
  const all = await entries(s, 'a');
  assert.deepEqual(w.of('entry.appended').map((e) => e.entry.id), all.map((e) => e.id));
  assert.deepEqual(all.map((e) => [e.role, e.parts.map((p) => p.type).join()]), [
    ['user', 'text'], ['assistant', 'thinking'], ['assistant', 'tool_call'], ['tool', 'tool_result'], ['assistant', 'text,data']]);
  assert.equal(all[2].parts[0].id, all[3].parts[0].id);
  assert.deepEqual(all[3].parts[0].output, { echo: { a: 1 } });
  assert.equal(all[4].parts[1].data.type, 'plan');
  assert.deepEqual(all.map((e) => !!e.usage), [false, false, false, false, true]);
});

test('who asked hears every word, however quick the agent is', async () => {
  const s = await start();
  await Promise.all(Array.from({ length: 24 }, async (_, n) => {
    await newSession(s, { id: `s${n}` });
    for (let i = 0; i < 60; i++) {
      const w = await say(s, `s${n}`, `quick ${i}`);
      assert.equal((await w.end()).status, 'done');
      assert.equal(w.text(), `quick ${i}`);
    }
  }));
});

test('parts, files, an id, another agent, and a session of its own agent', async () => {
  const s = await start({ args: ['--agent', 'loud=echo,think=hm', '--default-agent', 'echo'] });
  await newSession(s, { id: 'a', agent: 'loud' });
  const up = await call(s, 'POST', 'attachments?name=f.txt', { body: 'x', headers: { 'Content-Type': 'text/plain' } });
  let done = await told(s, 'a', { parts: [{ type: 'text', text: 'see' }], attachments: [up.body.id], id: 'm1' });
  assert.equal(done.entries[0].id, 'm1');
  assert.deepEqual(done.entries[0].parts.map((p) => p.type), ['text', 'file']);
  assert.deepEqual(done.entries[1].parts, [{ type: 'thinking', text: 'hm' }, { type: 'text', text: 'see' }]);
  done = await told(s, 'a', { text: 'x', agent: 'echo' });
  assert.equal(done.entries[1].author, 'echo');
  assert.equal((await session(s, 'a')).agent.name, 'loud', 'the session keeps its agent');
  const agents = (await must(s, 'GET', 'agents')).agents;
  assert.deepEqual(agents.map((a) => [a.name, a.default]).sort(), [['echo', true], ['loud', false]]);
});

test('a fork keeps the agent, or changes it', async () => {
  const s = await start({ args: ['--agent', 'loud=echo,think=hm', '--agent', 'calm=echo,think=well', '--default-agent', 'echo'] });
  await newSession(s, { id: 'a', agent: 'loud' });
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'same' } });
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'other', agent: 'calm' } });
  for (const [id, name, thought] of [['a', 'loud', 'hm'], ['same', 'loud', 'hm'], ['other', 'calm', 'well']]) {
    const done = await told(s, id, 'x');
    assert.deepEqual([done.entries[1].author, done.entries[1].parts[0].text], [name, thought]);
  }
  // also for one answer alone
  const anew = await must(s, 'POST', at('other', '/regenerate'), { json: { agent: 'loud' } });
  assert.deepEqual([anew.entries[0].author, anew.entries[0].parts[0].text], ['loud', 'hm']);
  assert.equal((await turns(s, 'other'))[0].agent, 'loud');
  assert.equal((await session(s, 'other')).agent.name, 'calm');
});

test('agents of a configuration file', async () => {
  const file = scratch('ramet.conf');
  const begin = (text) => { writeFileSync(file, text); return start({ args: ['--config', file] }); };
  const s = await begin('agent = one=echo,think=hm\n[agent two]\nkind = echo\nthink = "a, \\"b\\" \\\\ c"\n\n[agent three]\nkind=echo\n');
  assert.deepEqual((await must(s, 'GET', 'agents')).agents.map((a) => a.name), ['one', 'two', 'three', 'echo']);
  await newSession(s, { id: 'a' });
  const thought = async (agent) => (await told(s, 'a', { text: 'x', agent })).entries[1].parts[0].text;
  assert.deepEqual([await thought('one'), await thought('two')], ['hm', 'a, \\"b\\" \\\\ c']);
  for (const [text, says] of [['[agent x]\nthink = y\n', /ramet\.conf:3: \[agent x\] has no kind/], ['[other]\n', /:1: .*\[agent NAME\]/],
                              ['[agent x]\nkind = none\n', /there is no kind 'none'/], ['default-agent = x\n', /default agent/]])
    await assert.rejects(begin(text), says);
});

test('what cannot be taken changes nothing', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const head = (await session(s, 'a')).head;
  const bad = async (json, status, code, field) => {
    const r = await send(s, 'a', json);
    assert.deepEqual([r.status, r.body.code, r.body.field], [status, code, field], r.text);
  };
  await bad({}, 400, 'invalid_request', 'text');
  await bad({ text: 'a', parts: [] }, 400, 'invalid_request', 'text');
  await bad({ text: 'a', more: 1 }, 400, 'invalid_request', 'more');
  await bad({ text: 'a', agent: 'nobody' }, 422, 'agent_not_found', 'agent');
  await bad({ text: 'a', replace: 'none' }, 404, 'entry_not_found', 'replace');
  await bad({ text: 'a', attachments: ['none'] }, 404, 'attachment_not_found', 'entries[0].parts');
  await bad({ text: 'a', fork: { at: { entry_id: 'none' } } }, 404, 'entry_not_found', 'fork.at.entry_id');
  await bad({ text: 'a', fork: { nothing: 1 } }, 400, 'invalid_request', 'fork.nothing');
  await bad({ text: 'a', fork: {}, expected_head: '1'.repeat(64) }, 409, 'head_moved', 'expected_head');
  await bad({ text: 'a', expected_head: '1'.repeat(64) }, 409, 'head_moved', 'expected_head');
  assert.equal((await send(s, 'none', 'x')).status, 404);
  assert.equal((await send(s, 'a', 'x', { user: 'eve' })).status, 404);
  assert.deepEqual((await session(s, 'a')).head, head);
  assert.deepEqual(await turns(s, 'a'), []);
  const list = (await must(s, 'GET', 'sessions')).sessions.map((x) => x.id);
  assert.deepEqual(list, ['a']);
});

test('an agent that fails: what came stands, and is marked', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const done = await told(s, 'a', '/fail after 2\none two three four');
  assert.equal(done.status, 'failed');
  assert.match(done.error, /told to fail/);
  assert.equal(done.entries[1].text, 'one two ');
  assert.equal(cut(done.entries[1]).turn, 'failed');
  assert.match(cut(done.entries[1]).error, /told to fail/);
  assert.equal((await turns(s, 'a'))[0].status, 'failed');
  assert.match((await turns(s, 'a'))[0].error, /told to fail/);
  const w = await say(s, 'a', '/fail');
  assert.equal((await w.end()).status, 'failed');
  assert.deepEqual((await entries(s, 'a')).at(-1).parts.map((p) => p.type), ['data']);
  assert.equal((await told(s, 'a', 'well')).status, 'done', 'it goes on');
});

// ------------------------------------------------------------------ nothing is lost

test('a client that goes away: the answer is recorded all the same', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', `/slow 2\n${count(100)}`);
  await w.until((x) => x.of('turn.delta').length > 5);
  w.close();
  await eventually(async () => assert.equal((await turns(s, 'a'))[0].status, 'done'));
  assert.equal((await texts(s, 'a'))[1], count(100));
});

test('a second message while a turn runs is refused with that turn', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', `/slow 20\n${count(50)}`);
  await w.until((x) => x.of('turn.delta').length > 1);
  const r = await send(s, 'a', 'me too');
  assert.equal(r.status, 409);
  assert.equal(r.body.code, 'turn_running');
  assert.equal(r.body.turn_id, w.of('turn.started')[0].turn_id);
  const both = await Promise.all([send(s, 'a', 'x'), send(s, 'a', 'y')]);
  assert.deepEqual(both.map((x) => x.status), [409, 409]);
  assert.equal((await w.end()).status, 'done');
  assert.deepEqual(await texts(s, 'a'), [`/slow 20\n${count(50)}`, count(50)]);
  const race = await Promise.all(Array.from({ length: 8 }, () => send(s, 'a', '/slow 60\na b c d e f')));
  assert.deepEqual(race.map((x) => x.status).sort(), [200, 409, 409, 409, 409, 409, 409, 409]);
  assert.equal((await texts(s, 'a')).length, 4);
});

test('the same key joins the running turn, or gets what it came to', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const headers = { 'Idempotency-Key': 'k1' };
  const json = { text: `/slow 10\n${count(60)}` };
  const w = await say(s, 'a', json, { headers });
  await w.until((x) => x.of('turn.delta').length > 10);
  const joined = await say(s, 'a', json, { headers });
  const whole = send(s, 'a', json, { headers });
  assert.equal(joined.headers['idempotency-replayed'], 'true');
  await w.end();
  assert.equal((await joined.end()).status, 'done');
  assert.equal(joined.text(), count(60));
  assert.equal(joined.of('turn.started')[0].turn_id, w.of('turn.started')[0].turn_id);
  assert.deepEqual(joined.of('entry.appended'), w.of('entry.appended'));
  const late = await say(s, 'a', json, { headers });
  await late.end();
  assert.deepEqual(late.of('entry.appended'), w.of('entry.appended'));
  assert.deepEqual(late.events.map((e) => e.event), ['turn.started', 'entry.appended', 'entry.appended', 'turn.done']);
  const again = await send(s, 'a', json, { headers });
  assert.deepEqual(again.body, (await whole).body);
  assert.deepEqual(again.body.entries, w.of('entry.appended').map((e) => e.entry));
  assert.equal((await texts(s, 'a')).length, 2);
  const other = await send(s, 'a', 'something else', { headers });
  assert.deepEqual([other.status, other.body.code], [409, 'idempotency_mismatch']);
});

test('the same key forks once', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await told(s, 'a', { text: 'one', id: 'e1' });
  const headers = { 'Idempotency-Key': 'k2' };
  const json = { text: 'two', fork: { at: { entry_id: 'e1', side: 'before' } } };
  const all = await Promise.all(Array.from({ length: 5 }, () => told(s, 'a', json, { headers })));
  assert.equal(new Set(all.map((x) => x.session_id)).size, 1);
  assert.equal(new Set(all.map((x) => x.turn_id)).size, 1);
  assert.notEqual(all[0].session_id, 'a');
  assert.deepEqual(await texts(s, all[0].session_id), ['two', 'two']);
  assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 2);
  assert.deepEqual(await texts(s, 'a'), ['one', 'one']);
});

test('the same key makes one version', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await told(s, 'a', { text: 'one', id: 'e1' });
  for (const [route, json] of [['/messages', { text: 'two', replace: 'e1' }], ['/regenerate', {}]]) {
    const options = { json, headers: { 'Idempotency-Key': 'k3' } };
    const all = await Promise.all(Array.from({ length: 4 }, () => must(s, 'POST', at('a', route), options)));
    const branch = (await session(s, 'a')).head.branch_id;
    await told(s, 'a', 'go on');
    assert.deepEqual(await must(s, 'POST', at('a', route), options), all[0]);
    for (const one of all) assert.deepEqual(one, all[0]);
    assert.equal((await session(s, 'a')).head.branch_id, branch, route);
  }
  assert.equal((await must(s, 'GET', at('a', '/branches'))).branches.length, 3);
});

test('one step can fork and send', async () => {
  const s = await start({ args: ['--agent', 'loud=echo,think=hm', '--default-agent', 'echo'] });
  await newSession(s, { id: 'a' });
  await told(s, 'a', { text: 'one', id: 'e1' });
  await told(s, 'a', { text: 'two', id: 'e2' });
  const w = await say(s, 'a', { text: 'other', agent: 'loud', fork: { id: 'f', at: { entry_id: 'e2', side: 'before' }, reason: 'try' } });
  assert.equal((await w.end()).session_id, 'f');
  assert.deepEqual(await texts(s, 'f'), ['one', 'one', 'other', 'other']);
  const f = await session(s, 'f');
  assert.equal(f.agent.name, 'loud');
  assert.equal(f.forked_from.reason, 'try');
  assert.deepEqual(await texts(s, 'a'), ['one', 'one', 'two', 'two']);
  // a fork whose message cannot be taken is not there afterwards
  const r = await send(s, 'a', { text: 'x', id: 'e1', fork: {} });
  assert.equal(r.status, 409, r.text);
  assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 2);
});

// ------------------------------------------------------------------ cancel

test('cancel keeps what came so far, at any point', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  assert.equal((await call(s, 'POST', at('a', '/cancel'), { json: {} })).status, 404);
  for (const [mood, ms] of [['/slow 5', 0], ['/slow 5', 10], ['/slow 3', 60], ['/think hm\n/slow 5', 30], ['/slow 10\n/tool x {}', 25], ['/ask', 30]]) {
    const before = (await entries(s, 'a')).length;
    const w = await say(s, 'a', `${mood}\n${count(2000)}`);
    await sleep(ms);
    const turn = await must(s, 'POST', at('a', '/cancel'), { json: ms % 20 ? {} : { turn_id: w.of('turn.started')[0]?.turn_id } });
    assert.equal(turn.status, 'cancelled');
    assert.ok(turn.ended_at);
    assert.equal((await w.end()).status, 'cancelled');
    const own = (await entries(s, 'a')).slice(before);
    assert.deepEqual(cut(own.at(-1)), { turn: 'cancelled' });
    const text = own.slice(1).filter((e) => !e.parts.some((p) => p.data?.type === 'question')).map((e) => e.text).join('');
    assert.equal(text, w.text(), 'what was told is what is kept');
    assert.ok(count(2000).startsWith(text));
    assert.deepEqual(w.of('entry.appended').map((e) => e.entry.id), own.map((e) => e.id));
    await sleep(30);
    assert.equal((await entries(s, 'a')).length, before + own.length, 'nothing comes late');
    const again = await call(s, 'POST', at('a', '/cancel'), { json: { turn_id: turn.id } });
    assert.deepEqual([again.status, again.body.code], [409, 'turn_over']);
  }
  const w = await say(s, 'a', '/slow 10\na b c d e f g');
  assert.equal((await call(s, 'POST', at('a', '/cancel'), { json: {}, user: 'eve' })).status, 404);
  await must(s, 'PUT', at('a', '/members/rea'), { json: { level: 'reader' } });
  assert.equal((await call(s, 'POST', at('a', '/cancel'), { json: {}, user: 'rea' })).status, 403);
  assert.equal((await w.end()).status, 'done');
});

// ------------------------------------------------------------------ moves in mid-turn

/** A session with a turn in mid-answer. */
async function midway(s, id, extra = '', words = 400) {
  await newSession(s, { id });
  await told(s, id, { text: 'first', id: 'm1' });
  const w = await say(s, id, { text: `/slow 5\n${extra}${count(words)}`, id: 'm2' });
  await w.until((x) => x.of('turn.delta').length > 5);
  return w;
}

const moves = {
  rewind: (s, id, more) => must(s, 'POST', at(id, '/rewind'), { json: { at: { entry_id: 'm1' }, ...more } }),
  switch: async (s, id, more) => must(s, 'POST', at(id, '/switch'), { json: { branch_id: (await must(s, 'GET', at(id, '/branches'))).branches.find((b) => !b.current).branch_id, ...more } }),
  edit: (s, id, more) => must(s, 'POST', at(id, '/edit'), { json: { entry_id: 'm1', text: 'anew', ...more } }),
  'old edit': (s, id, more) => must(s, 'POST', at(id, '/entries/m1/edit'), { json: { entry: { text: 'anew' }, ...more } }),
  undo: (s, id, more) => must(s, 'POST', at(id, '/undo'), { json: more }),
  sync: (s, id, more) => must(s, 'POST', at(id, '/sync'), { json: { entries: [{ role: 'user', text: 'first' }], ...more } }),
  'edit and resend': (s, id, more) => told(s, id, { text: 'anew', replace: 'm1', ...more }),
  regenerate: (s, id, more) => must(s, 'POST', at(id, '/regenerate'), { json: { agent: 'echo', ...more } }),
};

for (const keep of [false, true])
  test(`moves in mid-turn${keep ? ' that let it run' : ''}: its words land on its branch alone`, async () => {
    const s = await start();
    for (const [name, move] of Object.entries(moves)) {
      const id = `${name} ${keep}`;
      await newSession(s, { id });
      await told(s, id, { text: 'first', id: 'm1' });
      if (name === 'undo' || name === 'switch') // a move to take back
        await must(s, 'POST', at(id, '/rewind'), { json: { at: { entry_id: 'm1' } } });
      // What is to be cut off lasts; what is regenerated is awaited once more.
      const pace = name === 'regenerate' ? 2 : 5, whole = count(keep ? 200 : name === 'regenerate' ? 1000 : 4000);
      const w = await say(s, id, { text: `/slow ${pace}\n${whole}`, id: 'm2' });
      await w.until((x) => x.of('turn.delta').length > 5);
      const branch = w.of('turn.started')[0].branch_id;
      await move(s, id, keep ? { keep_running: true } : {});
      const head = (await session(s, id)).head;
      assert.notEqual(head.branch_id, branch, name);
      const done = await w.end();
      assert.equal(done.status, keep ? 'done' : 'cancelled', name);
      const there = await entries(s, id, `&branch=${branch}`);
      assert.equal(there.at(-1).text, w.text(), name);
      assert.equal(there.at(-1).branch_id, branch);
      if (keep) assert.equal(there.at(-1).text, whole, name);
      else assert.deepEqual(cut(there.at(-1)), { turn: 'cancelled' }, name);
      assert.deepEqual((await session(s, id)).head, head, `${name}: the new head stays as it was`);
      const turn = (await turns(s, id)).find((t) => t.branch_id === branch && t.id === done.turn_id);
      assert.equal(turn.status, done.status);
    }
  });

test('moves in mid-turn from elsewhere: another user, and the tool on the file', async () => {
  const s = await start();
  const bob = (name) => (x, id) => must(x, 'POST', at(id, `/${name}`), { json: name === 'rewind' ? { at: { entry_id: 'm1' } } : { entry_id: 'm1', text: 'anew' }, user: 'bob' });
  const tool = (...words) => async (x, id) => {
    const r = await ramet([...words.slice(0, 1), id, ...words.slice(1), '--db', s.db, '-u', (await session(s, id)).owner]);
    assert.equal(r.code, 0, r.err);
  };
  for (const [name, move] of [['rewind by bob', bob('rewind')], ['edit by bob', bob('edit')],
                              ['rewind by the tool', tool('rewind', 'm1')], ['edit by the tool', tool('edit', 'm1', 'anew')]]) {
    await newSession(s, { id: name });
    await must(s, 'PUT', at(name, '/members/bob'), { json: { level: 'writer' } });
    await told(s, name, { text: 'first', id: 'm1' });
    const w = await say(s, name, `/slow 20\n${count(1000)}`);
    await w.until((x) => x.of('turn.delta').length > 3);
    await move(s, name);
    const head = (await session(s, name)).head;
    const done = await w.end();
    assert.equal(done.status, 'cancelled', name);
    assert.deepEqual((await session(s, name)).head, head, 'the new head stays as it was');
    const own = (await entries(s, name, `&branch=${done.branch_id}`)).at(-1);
    assert.deepEqual([own.text, cut(own)], [w.text(), { turn: 'cancelled' }], name);
    assert.equal((await told(s, name, 'well')).status, 'done');
  }
});

test('a turn that was let run is not cancelled by a later move; running tells its branch', async () => {
  const s = await start();
  const w = await midway(s, 'a');
  const branch = w.of('turn.started')[0].branch_id;
  await moves.rewind(s, 'a', { keep_running: true });
  await moves.edit(s, 'a', {});
  const now = await session(s, 'a');
  assert.equal(now.running.branch_id, branch);
  await sleep(1000);
  assert.notEqual(now.head.branch_id, branch);
  const beside = await told(s, 'a', 'beside it');
  assert.equal(beside.status, 'done');
  assert.equal((await w.end()).status, 'done');
  assert.equal((await entries(s, 'a', `&branch=${branch}`)).at(-1).text, count(400));
  assert.deepEqual(await texts(s, 'a'), ['anew', 'beside it', 'beside it']);
});

test('a fork in mid-turn has what was there, and the turn goes on', async () => {
  const s = await start();
  const w = await midway(s, 'a');
  const f = await must(s, 'POST', at('a', '/fork'), { json: {} });
  assert.equal(f.running, null);
  assert.equal((await told(s, f.id, 'mine')).status, 'done');
  const [first, answer, second] = await texts(s, f.id);
  assert.deepEqual([first, answer, second], ['first', 'first', `/slow 5\n${count(400)}`]);
  assert.equal((await w.end()).status, 'done');
  assert.equal((await texts(s, 'a')).at(-1), count(400));
});

test('a session that is deleted in mid-turn ends it, and works when it is restored', async () => {
  const s = await start();
  const w = await midway(s, 'a', '', 4000);
  await must(s, 'DELETE', at('a'));
  assert.equal((await w.end()).status, 'cancelled');
  await must(s, 'POST', at('a', '/restore'), { json: {} });
  assert.equal((await turns(s, 'a'))[0].status, 'cancelled');
  assert.equal((await told(s, 'a', 'well')).status, 'done');
});

// ------------------------------------------------------------------ versions

test('edit, edit and resend, and regenerate make versions', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const one = await told(s, 'a', { text: '/history\nhi', id: 'm1' });
  const two = await told(s, 'a', { text: '/history\nho', replace: 'm1', id: 'm2' });
  assert.equal(two.entries[1].text, 'user: /history\nho\n\nho'.replace('\n\nho', two.entries[1].text.slice('user: /history\nho'.length)));
  let page = (await must(s, 'GET', at('a', '/entries'))).entries;
  assert.deepEqual(page[0].versions, { number: 2, count: 2 });
  const anew = await must(s, 'POST', at('a', '/regenerate'), { json: {} });
  page = (await must(s, 'GET', at('a', '/entries'))).entries;
  assert.equal(page.length, 2);
  assert.deepEqual(page[1].versions, { number: 2, count: 2 });
  assert.deepEqual(anew.entries.map((e) => e.role), ['assistant']);
  assert.equal(anew.entries[0].text, two.entries[1].text, 'it was given the same history');
  const named = await must(s, 'POST', at('a', '/regenerate'), { json: { entry_id: page[1].id } });
  assert.equal((await must(s, 'GET', at('a', '/entries'))).entries[1].versions.count, 3);
  assert.equal(named.status, 'done');
  assert.equal((await call(s, 'POST', at('a', '/regenerate'), { json: { entry_id: 'none' } })).status, 404);
  const edited = await must(s, 'POST', at('a', '/edit'), { json: { entry_id: 'm2', text: 'only this', id: 'm3' } });
  assert.deepEqual(edited.entries.map((e) => [e.id, e.role, e.text]), [['m3', 'user', 'only this']]);
  assert.deepEqual(await texts(s, 'a'), ['only this']);
  assert.equal((await must(s, 'GET', at('a', '/entries'))).entries[0].versions.count, 3);
  assert.equal(one.status, 'done');
});

// ------------------------------------------------------------------ questions

test('a question waits for its answer, and is shown to who comes late', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', '/permit May I?\nthen');
  await w.until((x) => x.of('turn.question').length);
  const { turn_id, question } = w.of('turn.question')[0];
  assert.deepEqual([question.kind, question.text, question.options.map((o) => o.id)], ['permission', 'May I?', ['allow', 'deny']]);
  assert.deepEqual((await session(s, 'a')).running.question, question);
  const reply = (json, options) => call(s, 'POST', at('a', `/turns/${turn_id}/answer`), { json, ...options });
  assert.deepEqual((({ status, body }) => [status, body.code])(await reply({ question_id: 'other', answer: 'allow' })), [404, 'question_not_found']);
  assert.deepEqual((({ status, body }) => [status, body.field])(await reply({ question_id: question.id, answer: 'maybe' })), [400, 'answer']);
  assert.equal((await reply({ question_id: question.id, answer: 'allow' }, { user: 'eve' })).status, 404);
  assert.equal((await call(s, 'POST', at('a', '/turns/none/answer'), { json: { question_id: 'q', answer: 'x' } })).status, 404);
  assert.equal((await reply({ question_id: question.id, answer: 'allow' })).status, 200);
  assert.equal((await w.end()).status, 'done');
  const [, asked, given] = await entries(s, 'a');
  assert.deepEqual([asked.role, asked.id, asked.text, asked.parts[1].data.options], ['assistant', question.id, 'May I?', question.options], 'a question is an entry');
  assert.deepEqual([given.role, given.text, given.author, given.turn_id, given.parts[1].data], ['user', 'allow', 'local', turn_id, { type: 'answer', question_id: question.id }], 'so is its answer');
  assert.match((await texts(s, 'a'))[3], /You answered: allow/);
  const over = await reply({ question_id: question.id, answer: 'allow' });
  assert.deepEqual([over.status, over.body.code], [409, 'turn_over']);
  const v = await say(s, 'a', '/ask What?');
  await v.until((x) => x.of('turn.question').length);
  const ask = v.of('turn.question')[0];
  await must(s, 'POST', at('a', `/turns/${ask.turn_id}/answer`), { json: { question_id: ask.question.id, answer: 'any text' } });
  await v.end();
  assert.match((await texts(s, 'a')).at(-1), /You answered: any text/);
  // What is made anew is the whole answer of the turn, its question included.
  const anew = call(s, 'POST', at('a', '/regenerate'), { json: {} });
  const again = await eventually(async () => {
    const { running } = await session(s, 'a');
    assert.ok(running?.question);
    return running;
  });
  assert.deepEqual((await texts(s, 'a')).slice(-2), ['/ask What?', 'What?']);
  await must(s, 'POST', at('a', `/turns/${again.turn_id}/answer`), { json: { question_id: again.question.id, answer: 'other' } });
  assert.equal((await anew).status, 200);
  assert.deepEqual((await texts(s, 'a')).slice(-4), ['/ask What?', 'What?', 'other', 'You answered: other']);
});

test('an answer is durable when it was accepted, and refused when it cannot be stored', async () => {
  const db = scratch('store.db');
  let s = await start({ db });
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', '/ask What?');
  await w.until((x) => x.of('turn.question').length);
  const { turn_id, question } = w.of('turn.question')[0];
  const reply = (answer) => call(s, 'POST', at('a', `/turns/${turn_id}/answer`), { json: { question_id: question.id, answer } });
  const many = await Promise.all(['one', 'two', 'three'].map(reply));
  // The turn goes on at once, and may be over when the last one comes.
  assert.equal(many.filter((r) => r.status === 200).length, 1, 'one of them counts');
  for (const r of many.filter((x) => x.status !== 200))
    assert.ok(['question_not_found', 'turn_over'].includes(r.body.code), r.text);
  s.child.kill('SIGKILL');
  await new Promise((gone) => s.child.once('exit', gone));
  s = await start({ db });
  const kept = (await entries(s, 'a')).map((e) => e.text);
  assert.deepEqual(kept.slice(0, 2), ['/ask What?', 'What?']);
  assert.equal(kept[2], ['one', 'two', 'three'][many.findIndex((r) => r.status === 200)]);
});

// ------------------------------------------------------------------ windows

test('deltas reach every window that watches, and no other', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'b' });
  const tree = (await session(s, 'a')).tree_id;
  await must(s, 'PUT', at('a', '/members/rea'), { json: { level: 'reader' } });
  const mine = await sse(s, '?session=a'), byTree = await sse(s, `?tree=${enc(tree)}`), all = await sse(s);
  const rea = await sse(s, '?session=a', { user: 'rea' }), eve = await sse(s, '', { user: 'eve' }), other = await sse(s, '?session=b');
  const w = await say(s, 'a', '/tool x {}\n/slow 2\n' + count(50));
  await w.end();
  for (const window of [mine, byTree, all, rea]) {
    await window.until((x) => x.events.some((e) => e.event === 'turn.done'));
    const own = window.events.filter((e) => /^(turn|entry)\./.test(e.event));
    assert.equal(own.filter((e) => e.event === 'turn.delta').map((e) => e.json.text).join(''), count(50));
    // in the order of the one who asked, entries among the words
    const shape = (list) => list.map((e) => e.event + (e.json.entry?.id ?? e.json.offset ?? ''));
    assert.deepEqual(shape(own.filter((e) => e.event !== 'turn.started')), shape(w.events.filter((e) => e.event !== 'turn.started')));
    assert.equal(own.filter((e) => e.event === 'turn.started').length, 1);
  }
  await sleep(50);
  assert.deepEqual([eve, other].map((x) => x.events.filter((e) => /^turn/.test(e.event)).length), [0, 0]);
  for (const x of [mine, byTree, all, rea, eve, other]) x.close();
});

test('a window that is reloaded in mid-answer goes on from there', async () => {
  const s = await start();
  const w = await midway(s, 'a', '/think deep\n/tool x {}\n', 4000);
  for (let i = 0; i < 5; i++) {
    const window = await sse(s, '?session=a');
    const { running, head } = await session(s, 'a');
    assert.equal(running.turn_id, w.of('turn.started')[0].turn_id);
    assert.equal(running.branch_id, head.branch_id);
    assert.equal(running.entry_id, 'm2');
    assert.equal(running.agent, 'echo');
    await goesOn(window, running, count(4000));
    window.close();
  }
  await must(s, 'POST', at('a', '/cancel'), { json: {} });
  assert.equal((await w.end()).status, 'cancelled');
  assert.equal((await session(s, 'a')).running, null);
});

test('a window that takes nothing slows nobody', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  await newSession(s, { id: 'a' });
  const stuck = await sse(s, '?session=a');
  stuck.answer.pause();
  const lazy = await say(s, 'a', '/count 100000');
  assert.equal((await lazy.end()).status, 'done');
  assert.equal(lazy.text(), count(100000), 'who asked gets all of it, in fewer pieces when he is slow');
  assert.equal((await texts(s, 'a'))[1], count(100000));
  stuck.close();
});

test('who asked and takes nothing slows nobody, either', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  await newSession(s, { id: 'a' });
  const body = JSON.stringify({ text: '/count 300000' });
  const socket = net.connect({ port: s.port, host: '127.0.0.1' });
  socket.pause();
  socket.on('error', () => {});
  socket.write(`POST /ramet/v1/sessions/a/messages HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n` +
               `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  const window = await sse(s, '?session=a');
  await eventually(async () => assert.equal((await turns(s, 'a'))[0]?.status, 'done'), 10000 * slow);
  assert.equal((await texts(s, 'a'))[1], count(300000));
  socket.destroy();
  window.close();
});

// ------------------------------------------------------------------ fan-out

test('fan-out to eight', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `e${i}`);
  const s = await start({ args: names.flatMap((n, i) => ['--agent', `${n}=echo,delay_ms=${i}`]) });
  await newSession(s, { id: 'a' });
  await told(s, 'a', 'before');
  const before = (await session(s, 'a')).head;
  const w = await stream(s, at('a', '/fan-out'), { text: count(30), agents: names });
  await w.over;
  const done = w.of('turn.done');
  assert.equal(done.length, 8);
  const groups = new Set(w.of('turn.started').map((e) => e.group));
  assert.equal(groups.size, 1);
  for (const d of done) {
    assert.equal(d.status, 'done');
    assert.equal(w.text(d.session_id), count(30));
    assert.deepEqual((await texts(s, d.session_id)).slice(-2), [count(30), count(30)]);
    const [turn] = await turns(s, d.session_id);
    assert.equal(turn.group, [...groups][0]);
    assert.equal((await session(s, d.session_id)).agent.name, turn.agent);
  }
  assert.deepEqual((await session(s, 'a')).head, before);
  const json = await must(s, 'POST', at('a', '/fan-out'), { json: { text: 'x', agents: names } });
  assert.equal(json.turns.length, 8);
  assert.deepEqual(await Promise.all(json.turns.map(async (t) => (await session(s, t.session_id)).agent.name)), names);
  const sides = json.turns.map((t) => `side=${enc(t.session_id)}`).join('&');
  assert.equal((await must(s, 'GET', `compare?${sides}`)).shared, 2);
  await must(s, 'PUT', at('a', '/members/rea'), { json: { level: 'reader' } });
  for (const [agents, status, more] of [[[], 400], [['echo', 'nobody'], 422], [Array(17).fill('echo'), 400], [['echo'], 403, { user: 'rea' }],
                                        [['echo'], 409, { headers: { 'If-Match': `"${'1'.repeat(64)}"` } }]]) {
    const r = await call(s, 'POST', at('a', '/fan-out'), { json: { text: 'x', agents }, ...more });
    assert.equal(r.status, status, r.text);
  }
  const stale = await call(s, 'POST', at('a', '/fan-out'), { json: { text: 'x', agents: ['echo'], expected_head: '1'.repeat(64) } });
  assert.deepEqual([stale.status, stale.body.code, stale.body.field], [409, 'head_moved', 'expected_head']);
  const present = await must(s, 'POST', at('a', '/fan-out'), { json: { text: 'x', agents: ['echo', 'echo'], expected_head: before.prefix_hash } });
  assert.deepEqual(present.turns.map((t) => t.status), ['done', 'done']);
  // who has a link forks for himself
  const { token } = await must(s, 'POST', at('a', '/shares'), { json: {} });
  const guest = await must(s, 'POST', at('a', '/fan-out'), { json: { text: 'x', agents: ['echo', 'echo'] }, user: 'gus', headers: { 'X-Ramet-Share': token } });
  assert.deepEqual(guest.turns.map((t) => t.status), ['done', 'done']);
  assert.equal((await call(s, 'GET', at(guest.turns[0].session_id))).status, 404);
  assert.equal((await must(s, 'GET', at('a', '/children'))).sessions.length, 18, 'what was refused left nothing');
});

test('one of a fan-out is cancelled, and one fails: the others go on', async () => {
  const s = await start({ args: ['--agent', 'weak=echo,fail_after=3', '--default-agent', 'echo'] });
  await newSession(s, { id: 'a' });
  const w = await stream(s, at('a', '/fan-out'), { text: `/slow 10\n${count(60)}`, agents: ['echo', 'echo', 'weak'] });
  await w.until((x) => x.of('turn.delta').length > 6);
  const [one, two, weak] = w.of('turn.started').map((e) => e.session_id);
  await must(s, 'POST', at(two, '/cancel'), { json: {} });
  await w.over;
  assert.deepEqual([one, two, weak].map((id) => w.of('turn.done', id)[0].status), ['done', 'cancelled', 'failed']);
  assert.equal((await texts(s, one))[1], count(60));
  for (const id of [two, weak]) assert.ok(count(60).startsWith((await texts(s, id))[1]));
  // and who asked may go
  const v = await stream(s, at('a', '/fan-out'), { text: `/slow 5\n${count(60)}`, agents: ['echo', 'echo'] });
  await v.until((x) => x.of('turn.delta').length > 6);
  v.close();
  for (const { session_id: id } of v.of('turn.started')) {
    await eventually(async () => assert.equal((await turns(s, id))[0].status, 'done'));
    assert.equal((await texts(s, id))[1], count(60));
  }
});

/** [session, turn, status] of what a fan-out answered. */
const fanned = (json) => json.turns.map((t) => [t.session_id, t.turn_id, t.status]);
const forksOf = async (s, id) => (await must(s, 'GET', at(id, '/children?limit=1000'))).sessions.filter((x) => !x.deleted);

test('fan-out: the same key joins what runs, or tells what it came to', async () => {
  const db = scratch('fan.db');
  let s = await start({ db });
  await newSession(s, { id: 'a' });
  await told(s, 'a', 'before');
  const headers = { 'Idempotency-Key': 'f1' };
  const json = { text: `/slow 10\n${count(40)}`, agents: ['echo', 'echo', 'echo'] };
  const post = (body = json) => call(s, 'POST', at('a', '/fan-out'), { json: body, headers });
  const w = await stream(s, at('a', '/fan-out'), json, { headers });
  assert.equal(w.headers['idempotency-replayed'], undefined);
  await w.until((x) => x.of('turn.delta').length > 10);
  const joined = await stream(s, at('a', '/fan-out'), json, { headers });
  const waits = post();
  await Promise.all([w.over, joined.over]);
  assert.equal(joined.headers['idempotency-replayed'], 'true');
  const started = (x) => x.of('turn.started').map((e) => [e.session_id, e.turn_id, e.group]);
  assert.equal(started(w).length, 3);
  assert.deepEqual(started(joined), started(w));
  for (const [id] of started(w)) {
    assert.equal(joined.text(id), count(40));
    assert.deepEqual(joined.of('entry.appended', id), w.of('entry.appended', id));
    assert.equal(joined.of('turn.done', id)[0].status, 'done');
  }
  const answer = await waits;
  assert.equal(answer.body.group, started(w)[0][2]);
  assert.deepEqual(fanned(answer.body), started(w).map(([id, turn]) => [id, turn, 'done']));
  const later = await post();
  assert.equal(later.headers.get('idempotency-replayed'), 'true');
  assert.deepEqual(later.body, answer.body);
  const other = await post({ ...json, text: 'other' });
  assert.deepEqual([other.status, other.body.code], [409, 'idempotency_mismatch']);
  assert.equal((await post({ ...json, agents: ['echo'] })).status, 409);
  assert.equal((await forksOf(s, 'a')).length, 3);
  await s.stop();
  s = await start({ db });
  assert.deepEqual((await post()).body, answer.body, 'also after a restart');
  await must(s, 'DELETE', at(answer.body.turns[1].session_id));
  assert.equal((await post()).status, 404, 'what was deleted is not made anew');
  assert.equal((await forksOf(s, 'a')).length, 2);
});

test('fan-out: many with the same key at once make one', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const options = { json: { text: `/slow 2\n${count(20)}`, agents: Array(8).fill('echo') }, headers: { 'Idempotency-Key': 'f2' } };
  const all = await Promise.all(Array.from({ length: 6 }, () => must(s, 'POST', at('a', '/fan-out'), options)));
  for (const one of all) assert.deepEqual(one, all[0]);
  assert.ok(all[0].turns.every((t) => t.status === 'done' && t.entries[1].text === count(20)));
  assert.deepEqual((await forksOf(s, 'a')).map((x) => x.id).sort(), all[0].turns.map((t) => t.session_id).sort());
  for (const t of all[0].turns) assert.equal((await turns(s, t.session_id)).length, 1);
});

test('fan-out: kill -9 between the forks: the same request completes it, at the same place', async () => {
  for (const [after, first] of [[1, 'before'], [5, 'before'], [1, null]]) {
    const db = scratch('fankill.db');
    let s = await start({ db });
    await newSession(s, { id: 'a' });
    if (first) await told(s, 'a', { text: first, id: 'm1' });
    const options = { json: { text: 'go', agents: Array(8).fill('echo') }, headers: { 'Idempotency-Key': 'f3' } };
    const tree = (await session(s, 'a')).tree_id;
    const events = await sse(s, `?tree=${enc(tree)}`);
    const lost = call(s, 'POST', at('a', '/fan-out'), options).catch(() => null);
    await events.until((x) => x.events.filter((e) => e.event === 'session.forked').length >= after);
    s.child.kill('SIGKILL');
    await lost;
    await s.end;
    s = await start({ db, args: ['--turns', '9', '--turn-queue', '0'] });
    const there = (await forksOf(s, 'a')).map((x) => x.id);
    assert.ok(there.length >= after, `${there.length}`);
    await told(s, 'a', 'meanwhile');
    if (first) await must(s, 'POST', at('a', '/edit'), { json: { entry_id: 'm1', text: 'something else' } });
    const done = await must(s, 'POST', at('a', '/fan-out'), options);
    const ids = done.turns.map((t) => t.session_id);
    assert.equal(new Set(ids).size, 8);
    assert.deepEqual((await forksOf(s, 'a')).map((x) => x.id).sort(), [...ids].sort(), 'none twice');
    for (const id of there) assert.ok(ids.includes(id), 'and those that were there are among them');
    for (const t of done.turns) {
      const own = await turns(s, t.session_id);
      assert.deepEqual(own.map((x) => [x.id, x.status, x.group]), [[t.turn_id, t.status, done.group]]);
      assert.ok(['done', 'interrupted'].includes(t.status), t.status);
      const before = first ? [first, first] : [];
      assert.deepEqual(await texts(s, t.session_id), [...before, 'go', ...(t.status === 'done' ? ['go'] : [])]);
    }
    assert.deepEqual(await must(s, 'POST', at('a', '/fan-out'), options), done);
    await eventually(() => must(s, 'POST', at('a', '/fan-out'), { json: options.json }), 2000 * slow); // there is room for all again
    events.close();
  }
});

test('fan-out: one that could not begin leaves nothing, and its key may try again', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await told(s, 'a', 'before');
  await must(s, 'PUT', at('a', '/members/bob'), { json: { level: 'writer' } });
  const up = await call(s, 'POST', 'attachments?name=f.txt', { body: 'x', headers: { 'Content-Type': 'text/plain' } });
  const json = { text: 'see', attachments: [up.body.id], agents: ['echo', 'echo'] };
  const options = { json, user: 'bob', headers: { 'Idempotency-Key': 'f4' } };
  const fork = { json: { ...json, agents: undefined, fork: {} }, user: 'bob', headers: { 'Idempotency-Key': 'f5' } };
  for (let i = 0; i < 3; i++) {
    assert.equal((await call(s, 'POST', at('a', '/fan-out'), options)).body.code, 'attachment_not_found');
    assert.equal((await call(s, 'POST', at('a', '/messages'), fork)).body.code, 'attachment_not_found');
  }
  assert.deepEqual(await forksOf(s, 'a'), []);
  const often = { ...fork, headers: { 'Idempotency-Key': 'f6' } };
  for (let i = 0; i < 64; i++) assert.equal((await call(s, 'POST', at('a', '/messages'), often)).status, 404);
  assert.equal((await call(s, 'POST', at('a', '/messages'), often)).body.code, 'idempotency_mismatch', 'there is an end to it');
  await append(s, 'a', { role: 'user', parts: [{ type: 'file', attachment_id: up.body.id }] });
  const done = await must(s, 'POST', at('a', '/fan-out'), options);
  assert.deepEqual(done.turns.map((t) => t.status), ['done', 'done']);
  for (const t of done.turns) assert.equal((await texts(s, t.session_id)).length, 5, 'from the head as it is now');
  const one = await must(s, 'POST', at('a', '/messages'), fork);
  assert.deepEqual(await must(s, 'POST', at('a', '/messages'), fork), one);
  assert.equal((await forksOf(s, 'a')).length, 3);
  await must(s, 'DELETE', at(one.session_id));
  assert.equal((await call(s, 'POST', at('a', '/messages'), fork)).status, 404);
  assert.equal((await forksOf(s, 'a')).length, 2, 'what was deleted is not made anew');
});

// ------------------------------------------------------------------ limits

test('so many run, so many wait, the rest is told to come again', async () => {
  const s = await start({ args: ['--turns', '2', '--turn-queue', '2'] });
  for (let i = 0; i < 6; i++) await newSession(s, { id: `s${i}` });
  const headers = { 'Idempotency-Key': 'k' };
  const running = await Promise.all([0, 1, 2, 3].map((i) => say(s, `s${i}`, `/slow 10\n${count(20 + i)}`, { headers })));
  const joined = await say(s, 's3', `/slow 10\n${count(23)}`, { headers });
  const r = await send(s, 's4', 'x');
  assert.deepEqual([r.status, r.body.code, r.headers.get('retry-after')], [503, 'too_busy', '1']);
  assert.deepEqual(await turns(s, 's4'), []);
  assert.equal((await send(s, 's4', { text: 'x', fork: {} })).status, 503);
  assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 6);
  for (const [i, w] of running.entries()) {
    assert.equal((await w.end()).status, 'done');
    assert.equal(w.text(), count(20 + i));
  }
  await joined.end();
  assert.equal(joined.text(), count(23), 'one that is there already can be joined');
  assert.equal((await told(s, 's4', 'x')).status, 'done');
  // one that waits can be cancelled
  const two = await Promise.all([0, 1].map((i) => say(s, `s${i}`, `/slow 10\n${count(20)}`)));
  const waits = await say(s, 's2', 'me');
  await must(s, 'POST', at('s2', '/cancel'), { json: {} });
  assert.equal((await waits.end()).status, 'cancelled');
  for (const w of two) assert.equal((await w.end()).status, 'done');
  assert.equal((await told(s, 's2', 'x')).status, 'done');
});

test('time limits: too long, too quiet, not answered', async () => {
  const s = await start({ args: ['--turn-seconds', '2', '--turn-idle-seconds', '1', '--question-seconds', '1'] });
  for (const id of ['a', 'b', 'c']) await newSession(s, { id });
  const [long, quiet, asks] = await Promise.all([
    say(s, 'a', `/slow 50\n${count(1000)}`), say(s, 'b', '/slow 20000\none two'), say(s, 'c', '/ask')]);
  assert.match((await long.end()).error, /longer than 2 seconds/);
  assert.match((await quiet.end()).error, /nothing for 1 seconds/);
  assert.match((await asks.end()).error, /nobody answered/);
  for (const id of ['a', 'b', 'c']) assert.equal((await turns(s, id))[0].status, 'failed');
  assert.ok(count(1000).startsWith((await texts(s, 'a'))[1]));
  assert.equal((await texts(s, 'a'))[1], long.text());
  assert.equal((await told(s, 'b', 'x')).status, 'done');
});

test('an answer over the limit is cut off', async () => {
  const s = await start({ args: ['--answer-max', '1024'] });
  await newSession(s, { id: 'a' });
  const done = await told(s, 'a', '/count 1000');
  assert.equal(done.status, 'failed');
  assert.match(done.error, /answer-max/);
  assert.ok(count(1000).startsWith(done.entries[1].text) && done.entries[1].text.length > 1000);
});

test('signs of life on a quiet turn, also where JSON is waited for', async () => {
  const s = await start({ args: ['--heartbeat-seconds', '1'] });
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', '/slow 2500\none two');
  const json = send(s, 'a', 'x');
  assert.equal((await json).status, 409);
  await w.end();
  assert.match(w.raw, /\n: \n\n/);
  const r = await send(s, 'a', '/slow 2500\none two');
  assert.match(r.text, /^ +\{/);
  assert.equal(r.body.status, 'done');
}, { seconds: 30 });

// ------------------------------------------------------------------ titles

test('an agent finds a title, and the history stays clean', async () => {
  const s = await start({ args: ['--agent', 'namer=echo', '--default-agent', 'echo', '--title-agent', 'namer'] });
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'b', title: 'Mine' });
  const events = await sse(s, '?session=a');
  await told(s, 'a', 'hello');
  await told(s, 'b', 'hello');
  await eventually(async () => assert.match((await session(s, 'a')).title, /^Give this conversation a title/));
  assert.ok([...(await session(s, 'a')).title].length <= 60);
  assert.equal((await session(s, 'b')).title, 'Mine');
  assert.deepEqual(await texts(s, 'a'), ['hello', 'hello']);
  await eventually(async () => {
    assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 2);
    assert.deepEqual((await must(s, 'GET', at('a', '/children'))).sessions.filter((x) => !x.deleted), []);
  });
  assert.equal((await turns(s, 'a')).length, 1);
  events.close();
  // one that fails is no harm
  const weak = await start({ args: ['--agent', 'namer=echo,fail_after=1', '--default-agent', 'echo', '--title-agent', 'namer'] });
  await newSession(weak, { id: 'a' });
  assert.equal((await told(weak, 'a', 'hello')).status, 'done');
  await eventually(async () => assert.equal(await metric(weak, 'ramet_turns_running'), 0));
  assert.equal((await session(weak, 'a')).title, 'hello');
  assert.deepEqual((await must(weak, 'GET', 'sessions')).sessions.map((x) => x.id), ['a']);
  assert.deepEqual(await texts(weak, 'a'), ['hello', 'hello']);
  const bad = await start({ args: ['--title-agent', 'nobody'] }).then(() => null, (e) => e);
  assert.match(bad.message, /title-agent/);
});

/** A model that always says the same; `asked` is what it was sent last. */
async function saying(answer) {
  const out = { answer };
  const server = http.createServer(async (q, r) => {
    let body = '';
    for await (const part of q) body += part;
    out.asked = JSON.parse(body).messages.at(-1).content;
    r.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const chunk = (delta, finish_reason = null) => r.write(`data: ${JSON.stringify({ choices: [{ delta, finish_reason }] })}\n\n`);
    chunk({ content: out.answer });
    chunk({}, 'stop');
    r.end('data: [DONE]\n\n');
  });
  await new Promise((up) => server.listen(0, '127.0.0.1', up));
  out.url = `http://127.0.0.1:${server.address().port}/v1`;
  out.stop = () => server.close();
  return out;
}

test('an agent refines suggestions, and only leaves places out', async () => {
  const model = await saying('keep: 2\ntags: trains, mine, Lisbon by night');
  const s = await start({ args: ['--agent', `chooser=openai,url=${model.url},model=m`, '--default-agent', 'echo', '--suggest-agent', 'chooser'] });
  await newSession(s, { id: 'a', tags: ['mine'] });
  await append(s, 'a', [
    { id: 'e1', role: 'user', text: 'Which train goes to Lisbon?' }, { id: 'e2', role: 'assistant', text: 'The train at nine goes to Lisbon.' },
    { id: 'e3', role: 'user', text: 'No, I meant the night train to Lisbon.' }, { id: 'e4', role: 'assistant', text: 'At ten.' },
    { id: 'e5', role: 'user', text: 'Try again, please.' }, { id: 'e6', role: 'assistant', text: 'The night train to Lisbon goes at ten.' }]);
  const get = (query = '') => must(s, 'GET', at('a', `/suggestions${query}`));
  const plain = await get('?refine=false');
  assert.deepEqual(plain.suggestions.map((x) => [x.entry_id, x.kind]), [['e3', 'correction'], ['e5', 'retry']]);
  assert.ok(!('refined_by' in plain));
  const refined = await get();
  assert.deepEqual(refined.suggestions, plain.suggestions.slice(1));
  assert.deepEqual([refined.tags, refined.refined_by], [['trains', 'Lisbon by night'], 'chooser']);
  assert.match(model.asked, /^1\. correction \(.*\): No, I meant the night train to Lisbon\.$/m);
  assert.match(model.asked, /^Tags: .*train/m);
  model.answer = 'keep: none\ntags: travel';
  assert.deepEqual((await get()).suggestions, []);
  for (const odd of ['all of them are good', 'keep: 1, 7\ntags: x', 'keep: the second\ntags: x', 'keep: 1', '']) {
    model.answer = odd;
    assert.deepEqual(await get(), plain, odd);
  }
  model.answer = 'keep: 1\ntags: ,';
  assert.deepEqual([(await get()).suggestions.length, (await get()).tags], [1, plain.tags]);
  model.stop();
  assert.deepEqual(await get(), plain, 'one that cannot be asked is no harm');
  assert.deepEqual((await must(s, 'GET', 'sessions')).sessions.map((x) => x.id), ['a']);
  assert.equal((await entries(s, 'a')).length, 6);
});

test('tags are given when that is asked for, and by an agent when there is one', async () => {
  const text = 'Which train to Lisbon is the night train to Lisbon?';
  const off = await start();
  await newSession(off, { id: 'a' });
  await told(off, 'a', text);
  const on = await start({ args: ['--auto-tag', 'on'] });
  await newSession(on, { id: 'a' });
  await newSession(on, { id: 'b', tags: ['mine'] });
  await told(on, 'b', text);
  await told(on, 'a', text);
  await eventually(async () => assert.deepEqual((await session(on, 'a')).tags, ['lisbon', 'night', 'train']));
  assert.deepEqual((await session(on, 'b')).tags, ['mine']);
  assert.deepEqual((await session(off, 'a')).tags, []);
  const model = await saying('keep: none\ntags: Night Train, travel ,,');
  const chosen = await start({ args: ['--auto-tag', 'on', '--agent', `chooser=openai,url=${model.url},model=m`, '--default-agent', 'echo', '--suggest-agent', 'chooser'] });
  await newSession(chosen, { id: 'a' });
  await told(chosen, 'a', text);
  await eventually(async () => assert.deepEqual((await session(chosen, 'a')).tags, ['night train', 'travel']));
  assert.deepEqual(await texts(chosen, 'a'), [text, text]);
  model.stop();
  const bad = await start({ args: ['--suggest-agent', 'nobody'] }).then(() => null, (e) => e);
  assert.match(bad.message, /suggest-agent/);
});

// ------------------------------------------------------------------ ends

test('kill -9 in mid-turn: interrupted, never one that looks whole', async () => {
  const db = scratch('kill.db');
  let s = await start({ db });
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'b' });
  await told(s, 'b', 'whole');
  const w = await say(s, 'a', `/tool x {}\n/slow 5\n${count(1000)}`);
  await w.until((x) => x.of('turn.delta').length > 5);
  s.child.kill('SIGKILL');
  await s.end;
  s = await start({ db });
  const [turn] = await turns(s, 'a');
  assert.equal(turn.status, 'interrupted');
  assert.ok(turn.ended_at);
  assert.equal((await turns(s, 'b'))[0].status, 'done');
  assert.equal((await session(s, 'a')).running, null);
  const own = await entries(s, 'a');
  assert.deepEqual(own.map((e) => e.role), ['user', 'assistant', 'tool']);
  assert.equal((await told(s, 'a', 'again')).status, 'done');
  const fsck = await must(s, 'POST', 'store/fsck', { json: {} });
  assert.equal(fsck.fault_count, 0);
});

test('two servers on one file: each leaves the other its turns', async () => {
  const db = scratch('two.db');
  const one = await start({ db });
  await newSession(one, { id: 'a' });
  await newSession(one, { id: 'b' });
  const json = { text: `/slow 10\n${count(400)}` }, headers = { 'Idempotency-Key': 'k' };
  const a = await say(one, 'a', json, { headers }), b = await say(one, 'b', `/slow 10\n${count(400)}`);
  await a.until((x) => x.of('turn.delta').length > 3);
  const two = await start({ db });
  assert.equal((await turns(two, 'a'))[0].status, 'running');
  const r = await send(two, 'a', 'x');
  assert.deepEqual([r.status, r.body.code, r.body.turn_id], [409, 'turn_running', a.of('turn.started')[0].turn_id]);
  const same = await send(two, 'a', json, { headers });
  assert.deepEqual([same.status, same.body.code, same.body.turn_id], [r.status, r.body.code, r.body.turn_id], 'its words are not to be had here');
  assert.equal((await must(two, 'POST', at('b', '/cancel'), { json: {} })).status, 'cancelled');
  assert.equal((await a.end()).status, 'done');
  assert.equal((await texts(two, 'a'))[1], count(400));
  assert.equal((await told(two, 'a', json, { headers })).entries[1].text, count(400));
  assert.equal((await b.end()).status, 'cancelled', 'it learns that at its end');
  assert.equal((await told(two, 'b', 'well')).status, 'done');
});

test('a stop gives turns a little time, then cancels and records them', async () => {
  const db = scratch('stop.db');
  let s = await start({ db, args: ['--turn-stop-seconds', '1'] });
  for (const id of ['short', 'long', 'asks']) await newSession(s, { id });
  const ws = await Promise.all([say(s, 'short', `/slow 10\n${count(20)}`), say(s, 'long', `/slow 10\n${count(5000)}`), say(s, 'asks', '/ask')]);
  await ws[1].until((x) => x.of('turn.delta').length > 3);
  await s.stop();
  await Promise.all(ws.map((w) => w.over));
  assert.deepEqual(ws.map((w) => w.of('turn.done')[0]?.status), ['done', 'cancelled', 'cancelled']);
  s = await start({ db });
  assert.deepEqual(await Promise.all(['short', 'long', 'asks'].map(async (id) => (await turns(s, id))[0].status)), ['done', 'cancelled', 'cancelled']);
  assert.equal((await texts(s, 'long'))[1], ws[1].text());
  assert.equal(cut((await entries(s, 'long'))[1]).turn, 'cancelled');
  assert.equal((await texts(s, 'short'))[1], count(20));
});

test('200 turns at once without a lost word', async () => {
  const s = await start();
  const n = 200;
  const ids = Array.from({ length: n }, (_, i) => `s${i}`);
  await Promise.all(ids.map((id) => newSession(s, { id })));
  const watched = ids.filter((_, i) => i % 20 === 0);
  const windows = await Promise.all(watched.map((id) => sse(s, `?session=${id}`)));
  const ws = await Promise.all(ids.map((id, i) => (i % 4 ? say(s, id, `/slow 5\n${count(100)} of ${id}`) : null)));
  const js = await Promise.all(ids.map((id, i) => (i % 4 ? null : told(s, id, `/slow 5\n${count(100)} of ${id}`))));
  for (const [i, id] of ids.entries()) {
    const whole = `${count(100)} of ${id}`;
    if (ws[i]) {
      assert.equal((await ws[i].end()).status, 'done');
      assert.equal(ws[i].text(), whole);
    } else assert.equal(js[i].entries[1].text, whole);
    assert.equal((await texts(s, id))[1], whole);
  }
  for (const [i, w] of windows.entries()) {
    await w.until((x) => x.events.some((e) => e.event === 'turn.done'));
    assert.equal(w.events.filter((e) => e.event === 'turn.delta').map((e) => e.json.text).join(''), `${count(100)} of ${watched[i]}`);
    w.close();
  }
}, { seconds: 120 });

test('cancel and answer hear the key', async () => {
  const s = await start();
  await newSession(s, { id: 'k' });
  const w = await say(s, 'k', '/slow 50 a b c d e f g h');
  await w.until((x) => x.of('turn.delta').length > 1);
  const post = (rest, json, key) => call(s, 'POST', at('k', rest), { json, headers: { 'Idempotency-Key': key } });
  const one = await post('/cancel', {}, 'c');
  assert.deepEqual([one.status, one.body.status], [200, 'cancelled'], one.text);
  await w.over;
  const two = await post('/cancel', {}, 'c');
  assert.deepEqual([two.status, two.text, two.headers.get('idempotency-replayed')], [200, one.text, 'true']);
  assert.equal((await post('/cancel', { turn_id: one.body.id }, 'c')).body.code, 'idempotency_mismatch');
  const v = await say(s, 'k', '/ask which one?');
  await v.until((x) => x.of('turn.question').length);
  const { turn_id, question } = v.of('turn.question')[0];
  const answer = { question_id: question.id, answer: 'this one' };
  const first = await post(`/turns/${turn_id}/answer`, answer, 'a');
  assert.equal(first.status, 200, first.text);
  assert.equal((await v.end()).status, 'done');
  assert.equal((await post(`/turns/${turn_id}/answer`, answer, 'a')).text, first.text);
});

// ------------------------------------------------------------------ what the model is sent

/** A server whose default agent is a model of its own; log() gives what it was sent, oldest first. */
async function withModel(extra = '') {
  const model = await startModel();
  const s = await start({ args: ['--agent', `m=openai,url=${model.url},model=m${extra}`, '--default-agent', 'm'] });
  return { s, model, sent: () => model.log.map((r) => r.body), bytes: () => model.log.map((r) => r.raw) };
}
const said = (body) => body.messages.map((m) => `${m.role}: ${typeof m.content === 'string' ? m.content : JSON.stringify(m.content)}`);
/** The bytes of the messages, without the brackets that end the request. */
const open = (raw) => raw.replace(/\]\}\s*$/, '');

test('the model gets exactly the effective history, and a fork the same bytes as its parent', async () => {
  const { s, model, sent, bytes } = await withModel();
  await newSession(s, { id: 'a' });
  await told(s, 'a', { id: 'u1', text: 'one' });
  await told(s, 'a', { id: 'u2', text: 'two' });
  const full = ['user: one', 'assistant: You said: one', 'user: two'];
  assert.deepEqual(said(sent().at(-1)), full);
  const parent = bytes().at(-1);

  // a fork at the head goes on where the parent stands
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  await told(s, 'f', 'three');
  assert.deepEqual(said(sent().at(-1)), [...full, 'assistant: You said: two', 'user: three']);
  assert.ok(bytes().at(-1).startsWith(open(parent)), `${bytes().at(-1)}\ndoes not begin with\n${open(parent)}`);
  assert.equal(sent().at(-1).prompt_cache_key, sent()[0].prompt_cache_key);
  assert.equal(sent().at(-1).prompt_cache_key, (await session(s, 'f')).cache_root);

  // fork and send in one step, before the second message
  const forked = await told(s, 'a', { text: 'else', fork: { at: { entry_id: 'u2', side: 'before' } } });
  assert.deepEqual(said(sent().at(-1)), [...full.slice(0, 2), 'user: else']);
  const shared = parent.slice(0, parent.indexOf('{"role":"user","content":"two"}'));
  assert.ok(shared.length > 100 && bytes().at(-1).startsWith(shared));
  assert.notEqual(forked.session_id, 'a');

  // edit and resend: the old version and its answer are not there
  await told(s, 'a', { text: 'two, better', replace: 'u2' });
  assert.deepEqual(said(sent().at(-1)), [...full.slice(0, 2), 'user: two, better']);
  assert.ok(bytes().at(-1).startsWith(shared));

  // regenerate: the same request again, to the byte
  const before = bytes().at(-1);
  await must(s, 'POST', at('a', '/regenerate'), { json: {} });
  assert.equal(bytes().at(-1), before);

  // rewind, and undo of it
  await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: 'u1' } } });
  await told(s, 'a', 'after the rewind');
  assert.deepEqual(said(sent().at(-1)), ['user: one', 'user: after the rewind']);
  assert.ok(bytes().at(-1).startsWith(open(bytes()[0])));
  await must(s, 'POST', at('a', '/undo'), {});
  await told(s, 'a', 'after the undo');
  assert.deepEqual(said(sent().at(-1)),
                   [...full.slice(0, 2), 'user: two, better', 'assistant: You said: two, better', 'user: after the undo']);
  assert.ok(bytes().at(-1).startsWith(open(before)));
  const prompts = JSON.stringify(sent().map((b) => b.messages));
  const headers = JSON.stringify(model.log.map((r) => [r.path, r.headers]));
  for (const id of ['u1', forked.turn_id, forked.session_id]) assert.ok(!headers.includes(id), `${id} is in the headers`);
  for (const id of ['"a"', 'u1', forked.turn_id, forked.session_id]) assert.ok(!prompts.includes(id), `${id} is in a prompt`);
  await model.stop();
});

test('a message that is refused does not reach the model', async () => {
  const { s, model } = await withModel();
  await newSession(s, { id: 'a' });
  await must(s, 'PUT', at('a', '/members/rea'), { json: { level: 'reader' } });
  assert.equal((await send(s, 'a', 'x', { user: 'rea' })).status, 403);
  assert.equal((await send(s, 'a', 'x', { user: 'eve' })).status, 404);
  assert.equal((await send(s, 'a', { text: 'x', expected_head: 'f'.repeat(64) })).status, 409);
  assert.equal(model.log.length, 0);
  const slow = told(s, 'a', '!slow 500');
  await eventually(() => assert.equal(model.log.length, 1));
  assert.equal((await send(s, 'a', 'x')).status, 409);
  await slow;
  assert.equal(model.log.length, 1);
  await model.stop();
});

test('the model is asked while the message is being stored; what moved meanwhile is asked anew', async () => {
  const { s, model } = await withModel();
  const tries = 30;
  let anew = 0;
  for (let i = 0; i < tries; i++) {
    const id = `s${i}`, from = model.log.length;
    await newSession(s, { id });
    await must(s, 'POST', at(id, '/entries'), { json: { entries: [{ role: 'user', text: 'first' }] } });
    const [turn] = await Promise.all([told(s, id, { id: `q${i}`, text: 'question' }),
      must(s, 'POST', at(id, '/entries'), { json: { entries: [{ role: 'user', text: 'between' }] } })]);
    assert.equal(turn.status, 'done', JSON.stringify(turn));
    const path = (await must(s, 'GET', at(id, '/entries'))).entries;
    const question = path.findIndex((e) => e.id === `q${i}`);
    const last = model.log.at(-1).body;
    assert.deepEqual(said(last), path.slice(0, question + 1).map((e) => `${e.role}: ${e.text}`));
    assert.deepEqual(path.filter((e) => e.role === 'assistant').map((e) => e.text), ['You said: question']);
    anew += model.log.length - from - 1;
  }
  if (process.env.TIMES) console.log(`# ${anew} of ${tries} were asked anew`);
  await model.stop();
});

test('a model that fails in every way leaves turns that say so', async () => {
  const { s, model } = await withModel(',retries=0');
  await newSession(s, { id: 'x' });
  for (const [text, status] of [['!status 401', 'failed'], ['!status 500', 'failed'], ['!status 429', 'failed'],
    ['!stop 2', 'failed'], ['!rubbish', 'done'], ['!garbled', 'failed'], ['fine', 'done']]) {
    const r = await told(s, 'x', text);
    assert.equal(r.status, status, `${text}: ${JSON.stringify(r)}`);
  }
  assert.deepEqual((await turns(s, 'x')).map((t) => t.status), ['done', 'failed', 'done', 'failed', 'failed', 'failed', 'failed']);
  await model.stop();
});

test('a model behind TLS answers; one that cannot be trusted is not told a word', async () => {
  const ours = authority(scratch('ours')), others = authority(scratch('others'));
  const good = await startModel({ tls: ours.sign('IP:127.0.0.1') });
  const wrong = await startModel({ tls: ours.sign('DNS:elsewhere.test') });
  const agent = (name, model, ca) => ['--agent', `${name}=openai,url=${model.url},model=m,ca_file=${ca.file}`];
  const s = await start({ args: [...agent('good', good, ours), ...agent('unknown', good, others), ...agent('wrong', wrong, ours)] });
  await newSession(s, { id: 'a' });
  const w = await say(s, 'a', '!count 500');
  assert.equal((await w.end()).status, 'done');
  assert.equal(w.text(), count(500));
  assert.equal((await texts(s, 'a'))[1], count(500));
  for (const [name, says] of [['unknown', /certificate/], ['wrong', /127\.0\.0\.1/]]) {
    const done = await told(s, 'a', { text: 'a secret', agent: name });
    assert.equal(done.status, 'failed');
    assert.match(done.error, /^the provider cannot be trusted, and was sent nothing: /);
    assert.match(done.error, says);
    assert.deepEqual(cut(done.entries[1]), { turn: 'failed', error: done.error });
    assert.equal((await turns(s, 'a'))[0].status, 'failed');
  }
  assert.deepEqual([good.log.length, wrong.log.length], [1, 0]);
  await Promise.all([good.stop(), wrong.stop()]);
});

// ------------------------------------------------------------------ merges

test('a merge waits for the end of a turn, or is refused', async () => {
  const s = await start({ args: ['--threads', '8'] });
  await newSession(s, { id: 'a' });
  await told(s, 'a', 'first');
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  await told(s, 'f', 'aside');
  const words = `/slow 40\n${count(60)}`;
  const w = await say(s, 'a', words);
  const merge = (json, more) => call(s, 'POST', at('a', '/merge'), { json: { from: 'f', mode: 'splice', ...json }, ...more });
  const refused = await merge();
  assert.deepEqual([refused.status, refused.body.code, refused.body.turn_id], [409, 'turn_running', w.events[0].json.turn_id]);
  // Two may wait at once here; a third is told to come again. A client that goes away merges nothing.
  const gone = new AbortController();
  const left = fetch(`${s.url}/ramet/v1/${at('a', '/merge')}`, { method: 'POST', signal: gone.signal,
    headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ from: 'f', mode: 'splice', when: 'idle' }) }).catch(() => 'gone');
  const waiting = merge({ when: 'idle', mode: 'land', text: 'in short' });
  await eventually(() => assert.ok(w.text().split(' ').length > 5));
  const busy = await merge({ when: 'idle' });
  assert.deepEqual([busy.status, busy.body.code], [503, 'too_busy']);
  gone.abort();
  assert.equal(await left, 'gone');
  await told(s, 'f', 'later');
  assert.equal((await waiting).status, 200);
  assert.equal((await w.end()).status, 'done');
  assert.deepEqual(await texts(s, 'a'), ['first', 'first', words, count(60), 'in short']);
  const [landed] = (await entries(s, 'a')).slice(-1);
  const [last] = (await entries(s, 'f')).slice(-1);
  assert.deepEqual(landed.origins.map((o) => o.entry_id), [last.id], 'the source as it is by then');
  assert.equal((await session(s, 'f')).merged_into, 'a');
});

test('a summary is written by an agent, and landed', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await told(s, 'a', 'first');
  await must(s, 'POST', at('a', '/fork'), { json: { id: 'f' } });
  await told(s, 'f', 'aside');
  const merge = (json) => call(s, 'POST', at('a', '/merge'), { json: { from: 'f', mode: 'land', ...json } });
  const before = (await must(s, 'GET', at('a', '/tree'))).sessions.length;
  const show = await merge({ dry_run: true });
  assert.equal(show.status, 200, show.text);
  const [{ text, origins }] = show.body.entries;
  // echo says what it was asked: the template.
  for (const heading of ['## Purpose', '## Conclusions', '## Evidence', '## Open points']) assert.ok(text.includes(heading), text);
  assert.equal(origins[0].session_id, 'f');
  assert.equal((await texts(s, 'a')).length, 2);
  const sent = await merge({ text: text.replace('## Evidence', '## Proof') });
  assert.equal(sent.status, 200, sent.text);
  assert.ok((await texts(s, 'a')).at(-1).includes('## Proof'));
  const written = await merge({ agent: 'echo' });
  assert.deepEqual([written.status, written.body.merge], [200, { mode: 'land', count: 1 }]);
  assert.deepEqual(await texts(s, 'f'), ['first', 'first', 'aside', 'aside'], 'the source stays clean');
  assert.equal((await must(s, 'GET', at('a', '/tree'))).sessions.length, before, 'and so does the tree');
  const nobody = await merge({ agent: 'nobody' });
  assert.deepEqual([nobody.status, nobody.body.code], [422, 'agent_not_found']);
  const nothing = await call(s, 'POST', at('f', '/merge'), { json: { from: 'f', mode: 'land' } });
  assert.deepEqual([nothing.status, nothing.body.code], [409, 'merge_refused'], 'no model is asked in vain');
});

await finish();
