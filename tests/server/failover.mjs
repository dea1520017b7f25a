// SPDX-License-Identifier: Apache-2.0
//
// Fail-over: two PostgreSQL servers, the second a synchronous replica of the first; two nodes, a
// load through both. The first server is killed, the second one promoted: nothing that was
// acknowledged is lost, nothing is there twice, every history is one line.
import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  test, finish, start, call, must, newSession, ramet, run, scratch, sleep, assert, eventually, postgresScript, slow,
} from './lib.mjs';

const folder = { first: scratch('first'), second: scratch('second') };
chmodSync(dirname(folder.first), 0o755); // PostgreSQL runs as another user

async function postgres(...args) {
  const r = await run(postgresScript, args, { env: { PG_FSYNC: 'on' } });
  assert.equal(r.code, 0, r.err);
  return r.out.trim();
}
const sql = (where, text) => postgres('psql', folder[where], '-Atc', text);

/** One URL of both: postgres://…?host=A,B&port=1,2 */
function together(...urls) {
  const of = (name) => urls.map((u) => new RegExp(`[?&]${name}=([^&]*)`).exec(u)[1]).join(',');
  return `${urls[0].split('?')[0]}?host=${of('host')}&port=${of('port')}&target_session_attrs=read-write`;
}

let url;
const nodes = [];
const WRITERS = 6;

test('two servers, two nodes', async () => {
  const first = await postgres('start', folder.first);
  const second = await postgres('replica', folder.second, folder.first);
  await sql('first', "ALTER SYSTEM SET synchronous_standby_names='*'");
  await sql('first', 'SELECT pg_reload_conf()');
  url = together(first, second);
  for (let i = 0; i < 2; i++) nodes.push(await start({ db: url, keep: true }));
  for (let w = 0; w < WRITERS; w++) {
    await newSession(nodes[0], { id: `log-${w}` });
    await newSession(nodes[1], { id: `move-${w}` });
  }
  await newSession(nodes[0], { id: 'counter' });
  await eventually(async () => assert.equal(await sql('first', 'SELECT sync_state FROM pg_stat_replication'), 'sync'));
});

// ------------------------------------------------------------------ the load

const refusals = new Map(); // what was said while no server took writes
let lastRefusal = 0, firstRefusal = 0, running = true, again = 0;
const anyNode = () => nodes[Math.floor(Math.random() * nodes.length)];

/** Sends a request, through any node, until it is not refused for the moment. */
async function send(path, json, key) {
  for (let tries = 0;; tries++) {
    const r = await call(anyNode(), 'POST', path, { json, headers: key ? { 'Idempotency-Key': key } : {} });
    if (r.status !== 503) {
      if (tries) again++;
      return r;
    }
    assert.match(r.body?.code ?? '', /^(io_error|store_busy)$/, r.text);
    assert.match(r.text, /database/);
    refusals.set(r.body.code, (refusals.get(r.body.code) ?? 0) + 1);
    lastRefusal = Date.now();
    firstRefusal ||= lastRefusal;
    await sleep(20 + Math.random() * 50);
  }
}

const good = (r) => assert.ok(r.status < 300, `${r.status} ${r.text}`);
const entry = (id) => ({ role: 'user', id, text: `text of ${id}` });

/** Appends with ids, alone or three at once: those that were acknowledged. */
async function logger(w, done) {
  for (let i = 0; running; i++) {
    const ids = i % 5 ? [`${w}-${i}`] : [0, 1, 2].map((k) => `${w}-${i}.${k}`);
    good(await send(`sessions/log-${w}/entries`, { entries: ids.map(entry) }));
    done.push(...ids);
  }
}

/** Forks the log of another, under an id of its own or under a key. */
async function forker(w, done) {
  for (let i = 0; running; i++) {
    const from = `log-${(w + 1) % WRITERS}`, id = i % 2 ? `fork-${w}-${i}` : undefined;
    const r = await send(`sessions/${from}/fork`, id ? { id } : {}, `fork ${w} ${i}`);
    good(r);
    done.push({ from, id: r.body.session?.id ?? r.body.id });
    await sleep(20);
  }
}

/** Appends, goes back, and undoes that: how many of each. */
async function mover(w, done) {
  const path = `sessions/move-${w}`;
  for (let i = 0; running; i++) {
    const id = `m-${w}-${i}`;
    good(await send(`${path}/entries`, { entries: [entry(id), entry(`${id}b`)] }));
    done.entries.push(id, `${id}b`);
    good(await send(`${path}/rewind`, { at: { entry_id: id } }, `rewind ${w} ${i}`));
    done.moves++;
    if (i % 3) continue;
    good(await send(`${path}/undo`, {}, `undo ${w} ${i}`));
    done.moves++;
  }
}

/** All count in one session, each behind the head that it has seen. */
async function counter(w, done) {
  while (running) {
    const seen = await call(anyNode(), 'GET', 'sessions/counter');
    if (seen.status === 503) { await sleep(50); continue; }
    const head = seen.body.head;
    const id = `c-${w}-${done.length}-${head.length}`;
    const r = await send('sessions/counter/entries',
      { entries: [{ role: 'user', id, text: String(head.length) }], expected_head: head });
    if (r.status === 409) continue; // another was first, or the first attempt of this one was
    good(r);
    done.push(id);
  }
}

const logs = Array.from({ length: WRITERS }, () => []);
const forks = [], counts = [];
const moves = Array.from({ length: WRITERS }, () => ({ entries: [], moves: 0 }));

test('the first server is killed, the second one takes over', async () => {
  const work = Promise.all([
    ...logs.map((done, w) => logger(w, done)), ...[0, 1].map((w) => forker(w, forks)),
    ...moves.map((done, w) => mover(w, done)), ...[0, 1, 2].map((w) => counter(w, counts)),
  ]);
  const total = () => logs.reduce((n, l) => n + l.length, 0);
  const failed = work.catch((e) => e);
  const rest = async (ms) => {
    const e = await Promise.race([sleep(ms), failed]);
    if (e instanceof Error) throw e;
  };
  const until = async (holds, least, most, what) => {
    const began = Date.now();
    while (Date.now() - began < least || !holds()) {
      assert.ok(Date.now() - began < most * slow, what());
      await rest(20);
    }
  };
  await until(() => total() > 50, 1500, 20000, () => `${total()} entries before the end of the first server`);
  const before = total();
  assert.equal(lastRefusal, 0, 'nothing was refused before');
  await postgres('kill', folder.first);
  await until(() => firstRefusal, 1000, 10000, () => 'writes are refused while there is no server');
  await postgres('promote', folder.second);
  const promoted = Date.now(), held = total();
  await until(() => total() >= held + before, 0, 20000,
    () => `it goes on by itself: ${before} entries before, ${total() - held} after`);
  running = false;
  await work;
  console.log(`# refused: ${[...refusals].map((r) => r.join(' ')).join(', ')}; ${again} requests were sent again; ` +
    `the last refusal ${lastRefusal - promoted} ms after the promotion`);
  console.log(`# ${total()} entries in logs, ${forks.length} forks, ${counts.length} counted, ` +
    `${moves.reduce((n, m) => n + m.moves, 0)} moves`);
}, { seconds: 90 });

// ------------------------------------------------------------------ what must be there

async function history(session) {
  const all = [];
  for (let more = true; more;) {
    const after = all.length ? `&after=${all.at(-1).id}` : '';
    const page = await must(anyNode(), 'GET', `sessions/${session}/entries?limit=1000${after}`);
    all.push(...page.entries);
    more = page.entries.length === 1000;
  }
  return all;
}

test('every acknowledged entry is there, once and in order', async () => {
  for (const [w, ids] of logs.entries())
    assert.deepEqual((await history(`log-${w}`)).map((e) => e.id), ids);
});

test('nobody has won a head that another has won', async () => {
  const all = await history('counter');
  all.forEach((e, i) => assert.equal(e.text, String(i)));
  const there = new Set(all.map((e) => e.id));
  assert.equal(there.size, all.length);
  for (const id of counts) assert.ok(there.has(id), `${id} was acknowledged`);
});

test('forks are there, once, and what they are forks of', async () => {
  const { sessions } = JSON.parse((await ramet(['stat', '--json', '--db', url])).out);
  assert.equal(sessions, 2 * WRITERS + 1 + forks.length, 'sessions in the store');
  assert.equal(new Set(forks.map((f) => f.id)).size, forks.length);
  for (const { from, id } of forks.filter((_, i) => i % 5 === 0)) {
    const mine = (await history(id)).map((e) => e.id), source = logs[Number(from.slice(4))];
    assert.deepEqual(mine, source.slice(0, mine.length), id);
  }
});

test('moves were made once each', async () => {
  for (const [w, m] of moves.entries()) {
    const log = await must(anyNode(), 'GET', `sessions/move-${w}/head-log?limit=1`);
    assert.equal(log.moves[0].number, m.moves, `moves of move-${w}`);
    const record = [];
    for (let more = true; more;) {
      const page = await must(anyNode(), 'GET', `sessions/move-${w}/record?limit=500&from=${record.length}`);
      record.push(...page.entries.map((e) => e.id));
      more = page.entries.length === 500;
    }
    assert.deepEqual(record.sort(), [...m.entries].sort());
  }
});

test('fsck finds nothing', async () => {
  const r = await ramet(['fsck', '--db', url]);
  assert.equal(r.code, 0, r.out + r.err);
});

test('the servers are put away', async () => {
  for (const node of [...nodes]) await node.stop();
  for (const which of ['second', 'first']) await postgres('remove', folder[which]);
});

await finish();
