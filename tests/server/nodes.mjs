// SPDX-License-Identifier: Apache-2.0
//
// nodes.mjs: three servers on one PostgreSQL database, of which any answers any request: events,
// running answers, moves, sign-ins, a node that dies, and work that is to be done once.
import { chmodSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import http from 'node:http';
import {
  test, finish, start, call, must, sse, enc, newSession, append, eventParser, eventually, goesOn, ramet,
  run, scratch, sleep, slow, assert,
} from './lib.mjs';

if (process.env.ENGINE === 'sqlite') {
  console.log('1..0 # SKIP nodes share a PostgreSQL database');
  process.exit(0);
}

const script = join(dirname(fileURLToPath(import.meta.url)), '..', 'lib', 'postgres.sh');
const folder = scratch('pg');
chmodSync(dirname(folder), 0o755); // PostgreSQL runs as another user
async function postgres(...args) {
  const r = await run(script, args);
  assert.equal(r.code, 0, r.err);
  return r.out.trim();
}
const sql = (text) => postgres('psql', folder, '-Atc', text);
/** Nodes that have said within the last ten seconds that they live; one that leaves says so. */
const living = () => sql('SELECT count(*) FROM node WHERE seen>extract(epoch FROM now())*1000000-10000000');
let db, n = [], made = 0;
const node = (i) => n[i % n.length];
const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const session = (s, id) => must(s, 'GET', at(id));
const entries = async (s, id, query = '') =>
  (await must(s, 'GET', at(id, `/entries?limit=1000&versions=false${query}`))).entries;
const texts = async (s, id, query) => (await entries(s, id, query)).map((e) => e.text);
const turns = async (s, id) => (await must(s, 'GET', at(id, '/turns'))).turns;
const count = (to) => Array.from({ length: to }, (_, i) => i + 1).join(' ');
const fresh = async (s = n[0]) => (await newSession(s, { id: `s${++made}` })).id;

/** POSTs a message and reads the events of its turn. */
function say(s, id, json, { headers = {} } = {}) {
  return new Promise((done, fail) => {
    const all = { Accept: 'text/event-stream', 'Content-Type': 'application/json', ...headers };
    const out = { events: [] };
    const parser = eventParser((e) => out.events.push({ ...e, json: JSON.parse(e.data) }));
    const request = http.request(`${s.url}/ramet/v1/${at(id, '/messages')}`, { method: 'POST', headers: all, agent: false }, (answer) => {
      out.status = answer.statusCode;
      out.headers = answer.headers;
      answer.setEncoding('utf8');
      answer.on('data', (d) => { if (out.status === 200) parser.feed(d); });
      answer.on('error', () => {});
      out.over = new Promise((over) => answer.on('close', over));
      done(out);
    });
    out.of = (type) => out.events.filter((e) => e.event === type).map((e) => e.json);
    out.text = () => out.of('turn.delta').map((e) => e.text).join('');
    out.until = (holds) => eventually(() => assert.ok(holds(out), JSON.stringify(out.events.map((e) => e.event))), 5000 * slow);
    out.end = async () => { await out.over; return out.of('turn.done').at(-1); };
    out.close = () => request.destroy();
    request.on('error', (e) => (out.status ? undefined : fail(e)));
    request.end(JSON.stringify(typeof json === 'string' ? { text: json } : json));
  });
}
const done = (window, status = 'done') =>
  window.until((x) => x.events.some((e) => e.event === 'turn.done' && e.json.status === status), 20000 * slow);
/** The words of a window, each of which must begin where the one before it ended. */
function words(window, type = 'turn.delta') {
  let text = '';
  for (const e of window.events.filter((x) => x.event === type)) {
    if (type === 'turn.delta') assert.equal(e.json.offset, [...text].length, 'no word is missing, none comes twice');
    text += e.json.text;
  }
  return text;
}

/** Three nodes, which stay from test to test; a test that failed has stopped them. */
async function nodes() {
  if (!db) {
    db = await postgres('start', folder);
    const main = Number(readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.on('exit', () => { try { process.kill(main, 'SIGQUIT'); } catch { /* it has ended */ } });
  }
  n = n.filter((s) => s.child.exitCode === null && s.child.signalCode === null);
  while (n.length < 3) n.push(await start({ db, keep: true }));
}
const check = (name, run_, options) => test(name, async () => { await nodes(); await run_(); }, options);

check('a database, and three nodes on it', async () => {
  assert.equal(await living(), '3');
});

// ------------------------------------------------------------------ events

check('what one writes, all tell: in the same order, at once', async () => {
  const id = await fresh();
  const windows = await Promise.all(n.map((s) => sse(s, `?session=${id}`)));
  const at0 = Date.now();
  await append(n[0], id, 'first');
  await Promise.all(windows.map((w) => w.until((x) => x.events.length === 1)));
  assert.ok(Date.now() - at0 < 900 * slow, 'not by the look each second');
  await Promise.all(Array.from({ length: 60 }, (_, i) => append(node(i), id, `e${i}`).catch(() => append(node(i), id, `e${i}`))));
  await Promise.all(windows.map((w) => w.until((x) => x.events.length === 61)));
  const shape = (w) => w.events.map((e) => [e.json.number, e.json.entry.text]);
  assert.deepEqual(shape(windows[1]), shape(windows[0]));
  assert.deepEqual(shape(windows[2]), shape(windows[0]));
  assert.deepEqual(windows[0].events.map((e) => e.json.entry.text), await texts(n[2], id));
  windows.forEach((w) => w.close());
});

check('Last-Event-ID of one node goes on at another, without a gap or a repetition', async () => {
  const id = await fresh();
  const seen = [];
  let last, stop = false, wrote = 0;
  const writer = (async () => {
    while (!stop) await append(node(wrote), id, `w${wrote++}`);
  })();
  for (let i = 0; i < 12; i++) {
    const w = await sse(node(i), `?session=${id}`, { lastEventId: last ?? 0 });
    const few = i % 3 + 2;
    await w.until((x) => x.events.length >= few);
    w.close();
    seen.push(...w.events.map((e) => e.json));
    last = w.lastId();
  }
  stop = true;
  await writer;
  const w = await sse(n[2], `?session=${id}`, { lastEventId: last });
  await eventually(() => assert.ok(seen.length + w.events.length >= wrote + 1));
  await sleep(100);
  seen.push(...w.events.map((e) => e.json));
  w.close();
  const own = seen.filter((e) => e.type === 'entry.appended');
  assert.deepEqual(own.map((e) => e.entry.text), Array.from({ length: wrote }, (_, i) => `w${i}`));
  assert.equal(new Set(own.map((e) => e.number)).size, wrote);
});

check('a connection that listens is lost: it comes back, and nothing is lost with it', async () => {
  const id = await fresh();
  const w = await sse(n[1], `?session=${id}`);
  const cut = () => sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid<>pg_backend_pid() AND query LIKE 'LISTEN%'");
  assert.equal(await cut(), '3');
  for (let i = 0; i < 20; i++) {
    await append(n[0], id, `x${i}`);
    await sleep(60);
    if (i === 8) await cut();
  }
  // That it was made may have got its number only after the stream had begun.
  const own = () => w.events.filter((e) => e.json.type === 'entry.appended');
  await w.until(() => own().length === 20, 5000 * slow);
  assert.deepEqual(own().map((e) => e.json.entry.text), Array.from({ length: 20 }, (_, i) => `x${i}`));
  w.close();
  await eventually(async () =>
    assert.equal(await sql("SELECT count(*) FROM pg_stat_activity WHERE pid<>pg_backend_pid() AND query LIKE 'LISTEN%'"), '3'), 5000 * slow);
});

// ------------------------------------------------------------------ words

check('an answer is watched on every node: each word once, entries in their place', async () => {
  const id = await fresh();
  const windows = await Promise.all(n.map((s) => sse(s, `?session=${id}`)));
  const w = await say(n[0], id, '/think deep and long\n/tool look {"a": 1}\n/plan one; two\n/slow 2\n' + count(60));
  assert.equal((await w.end()).status, 'done');
  for (const window of windows) {
    await done(window);
    assert.equal(words(window), count(60));
    assert.equal(words(window, 'turn.thinking'), 'deep and long');
    const shape = (list) => list.filter((e) => /^(turn|entry)\./.test(e.event) && e.event !== 'turn.started')
      .map((e) => e.event + (e.json.entry?.id ?? e.json.offset ?? ''));
    assert.deepEqual(shape(window.events), shape(w.events));
    assert.equal(window.events.filter((e) => e.event === 'turn.started').length, 1);
    window.close();
  }
});

check('large words, beyond what one notification holds, in every script', async () => {
  const id = await fresh();
  const alphabet = ['ä', '中', '😀', 'a"b', '\\n\\', "'x'", 'é', '{}', 'ℵ'];
  const word = (size, k) => Array.from({ length: size }, (_, i) => alphabet[(i * 7 + k) % alphabet.length]).join('');
  const text = [word(3000, 1), word(20000, 2), 'kurz', word(9000, 3), word(120000, 4), 'ende'].join(' ');
  const window = await sse(n[2], `?session=${id}`);
  const w = await say(n[0], id, text);
  assert.equal((await w.end()).status, 'done');
  await done(window);
  assert.equal(words(window), text);
  assert.equal((await texts(n[1], id))[1], text);
  window.close();
});

check('many answers at once, each watched elsewhere', async () => {
  const ids = await Promise.all(Array.from({ length: 30 }, () => fresh()));
  const windows = await Promise.all(ids.map((id, i) => sse(node(i + 1), `?session=${id}`)));
  await Promise.all(ids.map(async (id, i) => {
    const w = await say(node(i), id, `/tool a {}\n/slow 1\n${id} ${count(80)}`);
    assert.equal((await w.end()).status, 'done');
  }));
  for (const [i, window] of windows.entries()) {
    await done(window);
    assert.equal(words(window), `${ids[i]} ${count(80)}`);
    window.close();
  }
});

check('who comes late on another node has the text so far, and goes on from there', async () => {
  const id = await fresh();
  const w = await say(n[0], id, '/think hm\n/tool x {}\n/plan a; b\n/slow 5\n' + count(4000));
  await w.until((x) => x.of('turn.delta').length > 20);
  for (let i = 1; i < 5; i++) {
    const window = await sse(node(i), `?session=${id}`);
    const { running, head } = await session(node(i), id);
    assert.equal(running.turn_id, w.of('turn.started')[0].turn_id);
    assert.equal(running.branch_id, head.branch_id);
    assert.equal(running.agent, 'echo');
    assert.ok(running.plan);
    await goesOn(window, running, count(4000));
    window.close();
  }
  await must(n[1], 'POST', at(id, '/cancel'), { json: {} });
  await w.end();
  await eventually(async () => assert.equal((await session(n[1], id)).running, null));
});

check('a node that starts in mid-answer learns of it', async () => {
  const id = await fresh();
  const w = await say(n[0], id, '/slow 20\n' + count(200));
  await w.until((x) => x.of('turn.delta').length > 5);
  const late = await start({ db });
  await eventually(async () => assert.ok((await session(late, id)).running?.text));
  const window = await sse(late, `?session=${id}`);
  const { running } = await session(late, id);
  assert.ok(count(200).startsWith(running.text));
  await done(window);
  const rest = window.events.filter((e) => e.event === 'turn.delta').map((e) => e.json);
  assert.ok(rest[0].offset <= running.text.length);
  for (let i = 1; i < rest.length; i++) assert.equal(rest[i].offset, rest[i - 1].offset + rest[i - 1].text.length);
  assert.equal(running.text.slice(0, rest[0].offset) + rest.map((e) => e.text).join(''), count(200));
  window.close();
});

check('the connections of all nodes are cut in mid-answer: not a word is lost or doubled', async () => {
  const id = await fresh();
  const window = await sse(n[1], `?session=${id}`), joined = await sse(n[2], `?session=${id}`);
  const w = await say(n[0], id, '/slow 10\n' + count(300));
  for (let i = 0; i < 2; i++) {
    await sleep(600);
    await sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid<>pg_backend_pid() AND (query LIKE 'LISTEN%' OR query LIKE '%unnest($1::text[])%')");
  }
  assert.equal((await w.end()).status, 'done');
  for (const x of [window, joined]) {
    await done(x);
    assert.equal(words(x), count(300));
    x.close();
  }
});

// ------------------------------------------------------------------ asking another node

check('the same key on another node joins what runs, and gets what it came to', async () => {
  const id = await fresh();
  const headers = { 'Idempotency-Key': `k-${id}` };
  const message = '/think hm\n/tool look {"a": 1}\n/slow 10\n' + count(120);
  const w = await say(n[0], id, message, { headers });
  await w.until((x) => x.of('turn.delta').length > 10);
  const joined = await Promise.all([say(n[1], id, message, { headers }), say(n[2], id, message, { headers })]);
  const json = call(n[1], 'POST', at(id, '/messages'), { json: { text: message }, headers });
  await w.end();
  const ids = w.of('entry.appended').map((e) => e.entry.id);
  for (const j of joined) {
    assert.equal((await j.end()).status, 'done');
    assert.equal(j.headers['idempotency-replayed'], 'true');
    assert.equal(words(j), count(120));
    assert.deepEqual(j.of('entry.appended').map((e) => e.entry.id), ids);
  }
  const answer = await json;
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.body.entries.map((e) => e.id), ids);
  const after = await say(n[2], id, message, { headers });
  await after.end();
  assert.deepEqual(after.of('entry.appended').map((e) => e.entry.id), ids);
  assert.equal((await turns(n[1], id)).length, 1);
  // at once, before the other node can have heard of it
  const quick = await fresh(), both = { 'Idempotency-Key': `k-${quick}` };
  const pair = await Promise.all([0, 1, 2].map((i) => say(n[i], quick, '/slow 5\n' + count(40), { headers: both })));
  for (const p of pair) {
    assert.equal(p.status, 200);
    assert.equal((await p.end()).status, 'done');
    assert.equal(words(p), count(40));
  }
  assert.equal((await entries(n[0], quick)).length, 2);
});

check('cancel from another node: it has happened when it is answered', async () => {
  for (let i = 0; i < 6; i++) {
    const id = await fresh();
    const w = await say(n[0], id, '/slow 5\n' + count(1000));
    await w.until((x) => x.of('turn.delta').length > 3 * i);
    const other = node(1 + i % 2);
    const turn = await must(other, 'POST', at(id, '/cancel'), { json: {} });
    assert.equal(turn.status, 'cancelled');
    const all = await entries(n[2], id);
    assert.equal(all[1].parts.at(-1).data.turn, 'cancelled');
    assert.ok(count(1000).startsWith(all[1].text ?? ''));
    assert.equal((await session(other, id)).running, null);
    assert.equal((await w.end()).status, 'cancelled');
    const again = await call(other, 'POST', at(id, '/cancel'), { json: { turn_id: turn.id } });
    assert.deepEqual([again.status, again.body.code], [409, 'turn_over']);
  }
});

check('a question is seen and answered on another node', async () => {
  const id = await fresh();
  const window = await sse(n[1], `?session=${id}`);
  const w = await say(n[0], id, '/permit May I?\nthen');
  await window.until((x) => x.events.some((e) => e.event === 'turn.question'));
  const { turn_id, question } = window.events.find((e) => e.event === 'turn.question').json;
  await eventually(async () => assert.deepEqual((await session(n[2], id)).running?.question, question));
  const reply = (s, json) => call(s, 'POST', at(id, `/turns/${turn_id}/answer`), { json });
  const brief = ({ status, body }) => [status, body.code, body.field];
  assert.deepEqual(brief(await reply(n[2], { question_id: 'other', answer: 'allow' })), [404, 'question_not_found', 'question_id']);
  assert.deepEqual(brief(await reply(n[2], { question_id: question.id, answer: 'maybe' })), [400, 'invalid_request', 'answer']);
  assert.equal((await reply(n[2], { question_id: question.id, answer: 'allow' })).status, 200);
  assert.equal((await w.end()).status, 'done');
  assert.deepEqual((await texts(n[1], id)).slice(1, 3), ['May I?', 'allow'], 'both are entries');
  assert.match((await texts(n[1], id))[3], /You answered: allow/);
  assert.equal((await reply(n[1], { question_id: question.id, answer: 'allow' })).status, 409);
  window.close();
  // Over A2A: the message is kept as it was sent, by the node that runs the turn.
  const rpc = async (s, message) => (await must(s, 'POST', '/a2a/echo', { json: { jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } } }));
  const said = (text, more) => ({ kind: 'message', messageId: `${text.length} ${id}`, role: 'user', parts: [{ kind: 'text', text }], ...more });
  const asked = (await rpc(n[0], said('/ask which?\nend', { contextId: `a2a ${id}` }))).result;
  assert.equal(asked.status.state, 'input-required');
  const taken = await rpc(n[2], said('other', { taskId: asked.id, messageId: `${'/ask which?\nend'.length} ${id}` }));
  assert.ok(taken.error, 'an id that another message has is refused');
  const { result: done, error } = await rpc(n[2], said('that', { taskId: asked.id }));
  assert.equal(error, undefined, JSON.stringify(error));
  assert.deepEqual(done.history.map((m) => m.parts[0].text), ['/ask which?\nend', 'which?', 'that', 'You answered: that\nend']);
  assert.equal((await entries(n[1], `a2a ${id}`))[2].format, 'a2a');
});

for (const keep of [false, true])
  check(`a move on another node ${keep ? 'that lets the turn run' : 'ends the turn'}`, async () => {
    const moves = [
      (s, id) => must(s, 'POST', at(id, '/rewind'), { json: { at: { entry_id: 'first' }, keep_running: keep } }),
      (s, id) => must(s, 'POST', at(id, '/edit'), { json: { entry_id: 'first', text: 'other', keep_running: keep } }),
    ];
    for (const [i, move] of moves.entries()) {
      const id = await fresh();
      await append(n[0], id, [{ role: 'user', text: 'x', id: 'first' }, { role: 'assistant', text: 'y' }]);
      const whole = count(keep ? 500 : 4000);
      const w = await say(n[0], id, `/slow 5\n${whole}`);
      await w.until((x) => x.of('turn.delta').length > 10);
      const branch = w.of('turn.started')[0].branch_id;
      await move(node(i + 1), id);
      const [turn] = await turns(n[2], id);
      assert.equal(turn.status, keep ? 'running' : 'cancelled');
      assert.equal((await w.end()).status, keep ? 'done' : 'cancelled');
      const answer = (await entries(n[1], id, `&branch=${branch}`)).at(-1);
      assert.equal(answer.turn_id, turn.id);
      if (keep) assert.equal(answer.text, whole);
      assert.ok(!(await texts(n[0], id)).some((t) => (t ?? '').startsWith('1 2 3')), 'not on the head');
    }
  });

check('one branch, one turn, whichever nodes are asked', async () => {
  const id = await fresh();
  const all = await Promise.all(n.map((s) => call(s, 'POST', at(id, '/messages'), { json: { text: '/slow 20\n' + count(20) } })));
  assert.deepEqual(all.map((r) => r.status).sort(), [200, 409, 409]);
  assert.equal((await entries(n[0], id)).length, 2);
  for (const r of all.filter((x) => x.status === 409)) {
    assert.equal(r.body.code, 'turn_running');
    assert.ok(r.body.turn_id);
  }
});

// ------------------------------------------------------------------ a node that dies

/** A node of its own that runs a turn and asks a question, and a window on another one. */
async function doomed() {
  const s = await start({ db });
  const id = await fresh(), ask = await fresh();
  const w = await say(s, id, '/slow 50\n' + count(10000)), q = await say(s, ask, '/permit May I?');
  await q.until((x) => x.of('turn.question').length);
  await w.until((x) => x.of('turn.delta').length > 3);
  const window = await sse(n[1], `?session=${id}`);
  await window.until((x) => x.events.some((e) => e.event === 'turn.delta'));
  const { turn_id, question } = q.of('turn.question')[0];
  const answer = () => call(n[2], 'POST', at(ask, `/turns/${turn_id}/answer`), { json: { question_id: question.id, answer: 'allow' } });
  return { s, id, ask, w, window, answer, told: n.map((x) => x.err.length) };
}

async function interrupted({ id, ask, window, answer, told }) {
  await window.until((x) => x.events.some((e) => e.event === 'turn.done'), 40000 * slow);
  assert.deepEqual(window.events.filter((e) => e.event === 'turn.done').map((e) => e.json.status), ['interrupted']);
  for (const s of n) {
    assert.equal((await turns(s, id))[0].status, 'interrupted');
    assert.equal((await turns(s, ask))[0].status, 'interrupted');
    await eventually(async () => assert.equal((await session(s, id)).running, null), 10000 * slow);
  }
  const over = await answer();
  assert.deepEqual([over.status, over.body.code], [409, 'turn_over']);
  const said = n.map((s, i) => /of a node that is gone were interrupted" turns=(\d+)/.exec(s.err.slice(told[i]))?.[1]).filter(Boolean);
  assert.deepEqual(said, ['2'], 'by one of them');
  assert.equal((await call(n[0], 'POST', at(id, '/messages'), { json: { text: 'again' } })).status, 200, 'it goes on');
  window.close();
}

check('kill -9 of a node in mid-turn: interrupted elsewhere, once, and watchers are told', async () => {
  const d = await doomed();
  d.s.child.kill('SIGKILL');
  await d.s.end;
  const began = Date.now();
  await interrupted(d);
  assert.ok(Date.now() - began < 12000 * slow, 'it was on the same machine');
});

/**
 * Stops a process. One of its threads takes the signal, and on a busy machine the others go on working
 * until that one gets a processor: wait until all of them stand still.
 */
async function standStill({ child }) {
  child.kill('SIGSTOP');
  const state = (thread) => /\) (\S)/.exec(readFileSync(`/proc/${child.pid}/task/${thread}/stat`, 'utf8'))[1];
  await eventually(() => assert.deepEqual([...new Set(readdirSync(`/proc/${child.pid}/task`).map(state))], ['T']), 10000 * slow);
}

check('a node that stands still loses its turns, and records nothing when it goes on', async () => {
  const d = await doomed();
  await standStill(d.s);
  const began = Date.now();
  const r = await d.answer();
  assert.deepEqual([r.status, r.body.code], [503, 'node_gone'], r.text);
  assert.ok(Date.now() - began < 8000 * slow, 'the wait is bounded');
  await interrupted(d);
  assert.ok(Date.now() - began > 10000, 'it may only be slow');
  const before = (await entries(n[0], d.id)).length;
  d.s.child.kill('SIGCONT');
  assert.equal((await d.w.end()).status, 'interrupted');
  assert.equal((await entries(n[0], d.id)).length, before);
  const id = await fresh(d.s);
  assert.equal((await must(d.s, 'POST', at(id, '/messages'), { json: { text: 'well' } })).status, 'done', 'it lives again');
}, { seconds: 120 });

check('a node that stops takes its leave: its turns are ended, nobody waits for it', async () => {
  const id = await fresh();
  const leaving = await start({ db, args: ['--turn-stop-seconds', '0'] });
  const window = await sse(n[1], `?session=${id}`);
  await say(leaving, id, '/slow 20\n' + count(10000));
  await window.until((x) => x.events.some((e) => e.event === 'turn.delta'));
  await leaving.stop();
  await done(window, 'cancelled');
  assert.equal(await living(), String(n.length));
  assert.equal((await turns(n[2], id))[0].status, 'cancelled');
  window.close();
});

// ------------------------------------------------------------------ signing in

check('who signed in on one node is known on all, until he signs out on one', async () => {
  const a = await start({ db, args: ['--auth', 'tokens'] }), b = await start({ db, args: ['--auth', 'tokens'] });
  const made_ = await ramet(['--db', db, '--user', 'ann', 'token', 'create', '--json']);
  assert.equal(made_.code, 0, made_.err);
  const { secret, token } = JSON.parse(made_.out);
  const signed = await call(a, 'POST', '/login', { json: { token: secret ?? token } });
  assert.equal(signed.status, 200, signed.text);
  const cookie = signed.headers.get('set-cookie').split(';')[0];
  const list = (s) => call(s, 'GET', 'sessions', { headers: { Cookie: cookie } });
  assert.equal((await list(a)).status, 200);
  assert.equal((await list(b)).status, 200);
  const c = await start({ db, args: ['--auth', 'tokens'] });
  assert.equal((await list(c)).status, 200, 'also on one that starts later');
  const own = await start({ db, args: ['--auth', 'tokens', '--cookie-key', 'a key that only this one server has'] });
  assert.equal((await list(own)).status, 401);
  const out = await call(b, 'POST', '/logout', { headers: { Cookie: cookie, Origin: b.url } });
  assert.equal(out.status, 204, out.text);
  for (const s of [a, b, c]) assert.equal((await list(s)).status, 401);
});

// ------------------------------------------------------------------ once for all

check('clean-up is done once, not once a node', async () => {
  const many = await Promise.all([1, 2, 3].map(() => start({ db })));
  const runs = async (job) => Number(await sql(`SELECT coalesce(sum(runs),0) FROM job WHERE name='${job}'`));
  const before = await runs('prune'), began = Date.now();
  const id = await fresh();
  while (Date.now() - began < 22000) {
    await append(many[made++ % 3], id, 'x');
    await sleep(500);
  }
  const did = await runs('prune') - before, most = Math.ceil((Date.now() - began) / 8000) + 1;
  assert.ok(did >= 1 && did <= most, `${did} runs by ${n.length + many.length} nodes`);
}, { seconds: 90 });

check('through pgbouncer nothing could be heard: it is told', async () => {
  const s = await start({ db: `${db}&pgbouncer=1`, args: ['--db-direct', db] });
  const t = await start({ db: `${db}&pgbouncer=1` });
  assert.doesNotMatch(s.err, /pgbouncer/);
  assert.match(t.err, /db-direct/);
  const id = await fresh(s);
  const window = await sse(s, `?session=${id}`), other = await sse(t, `?session=${id}`);
  const w = await say(n[0], id, count(30));
  await w.end();
  await done(window);
  assert.equal(words(window), count(30));
  await other.until((x) => x.events.filter((e) => e.event === 'entry.appended').length === 2, 5000 * slow);
  window.close();
  other.close();
});

check('all of them end well', async () => {
  for (const s of n.splice(0)) await s.stop();
  assert.equal(await living(), '0');
  assert.equal(await sql("SELECT count(*) FROM turn WHERE status=1"), '0');
  assert.equal((await ramet(['--db', db, 'fsck'])).code, 0);
  await postgres('remove', folder);
}, { seconds: 120 });

await finish();
