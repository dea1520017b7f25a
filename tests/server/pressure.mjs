// SPDX-License-Identifier: Apache-2.0
//
// Many requests at once: how users share the threads, and what becomes of work that nobody waits for.
import http from 'node:http';
import net from 'node:net';
import { execFileSync, spawn } from 'node:child_process';
import {
  test, finish, start, call, must, metric, append, newSession, assert, slow, eventually,
} from './lib.mjs';

/** A session whose whole history a read has to go through. */
async function longSession(s, id, user, entries = 12000) {
  await newSession(s, { id }, { user });
  const batch = Array.from({ length: 1000 }, (_, i) => `entry ${i}`);
  for (let i = 0; i < entries; i += batch.length) await append(s, id, batch, { user });
}
/** No entry is in that channel, so all are looked at. */
const scan = (id) => `/ramet/v1/sessions/${id}/entries?channel=nothing&limit=1000`;

/** A request on a connection of its own: {done: promise of the status, request}. */
function ask(s, path, user) {
  const asked = { status: 0 };
  asked.done = new Promise((done) => {
    asked.request = http.get(s.url + path, { agent: false, headers: { 'X-User-Id': user } }, (answer) => {
      answer.resume();
      answer.on('end', () => done((asked.status = answer.statusCode)));
    });
    asked.request.on('error', () => done(0));
  });
  return asked;
}

const queued = async (s, n) => eventually(async () => assert.ok(await metric(s, 'ramet_http_queue') >= n), 20000 * slow);
const answered = async (s, route) => {
  const text = await (await fetch(`${s.url}/metrics`)).text();
  const line = new RegExp(`^ramet_http_requests_total{face="native",route="${route}",status="200"} (\\d+)$`, 'm').exec(text);
  return line ? Number(line[1]) : 0;
};

test('many requests of one user do not delay the request of another', async () => {
  const s = await start({ args: ['--threads', '4'] });
  await longSession(s, 'long', 'ann');
  await newSession(s, { id: 'short' }, { user: 'bob' });
  const many = Array.from({ length: 60 }, () => ask(s, scan('long'), 'ann'));
  await queued(s, 40);
  const before = many.filter((r) => r.status).length;
  assert.equal(await ask(s, '/ramet/v1/sessions/short', 'bob').done, 200);
  const meanwhile = many.filter((r) => r.status).length - before;
  assert.ok(meanwhile < 20, `${meanwhile} requests of ann were answered before that of bob`);
  const all = await Promise.all(many.map((r) => r.done));
  assert.deepEqual(new Set(all), new Set([200]));
}, { seconds: 120 });

test('one user alone may use more than a share', async () => {
  const s = await start({ args: ['--threads', '8', '--user-share', '1'] });
  await newSession(s, { id: 'a' });
  const all = await Promise.all(Array.from({ length: 64 }, (_, i) =>
    must(s, 'POST', 'sessions/a/entries', { json: { entries: [{ role: 'user', text: `${i}` }] } })));
  assert.equal(all.length, 64);
  assert.equal((await must(s, 'GET', 'sessions/a/entries?limit=100')).entries.length, 64);
});

test('work whose client has left stops', async () => {
  const s = await start({ args: ['--threads', '4'] });
  await longSession(s, 'long', 'ann');
  const many = Array.from({ length: 80 }, () => ask(s, scan('long'), 'ann'));
  await queued(s, 60);
  for (const r of many) r.request.destroy();
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_queue') <= 1), 30000 * slow);
  const finished = await answered(s, 'listEntries');
  const cancelled = await metric(s, 'ramet_requests_cancelled_total');
  assert.ok(cancelled > 0 && finished + cancelled <= 80, `${finished} finished, ${cancelled} cancelled`);
  assert.ok(finished < 40, `${finished} of 80 reads went on to their end`);
}, { seconds: 120 });

test('a client that has only ended its side is not taken for one that has left', async () => {
  const s = await start({ args: ['--threads', '2'] });
  await longSession(s, 'long', 'ann');
  const many = Array.from({ length: 12 }, () => ask(s, scan('long'), 'ann'));
  await queued(s, 6);
  const half = net.connect({ port: s.port, host: '127.0.0.1', allowHalfOpen: true });
  half.on('error', () => {});
  half.resume();
  half.end(`GET ${scan('long')} HTTP/1.1\r\nHost: localhost\r\nX-User-Id: ann\r\nConnection: close\r\n\r\n`);
  await Promise.all(many.map((r) => r.done));
  await eventually(async () => assert.equal(await answered(s, 'listEntries'), 13), 20000 * slow);
  assert.equal(await metric(s, 'ramet_requests_cancelled_total'), 0);
  half.destroy();
}, { seconds: 120 });

test('a statement of the database is cancelled when nobody waits for it', async () => {
  const s = await start();
  await newSession(s, { id: 'a' }, { user: 'ann' });
  const url = s.db.replace(/[?&](pgbouncer|partitions)=\d+/g, '');
  const sql = (text) => execFileSync('psql', ['-X', '-q', '-At', '-d', url, '-c', text], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  const holder = spawn('psql', ['-X', '-q', '-d', url], { stdio: ['pipe', 'ignore', 'ignore'] });
  try {
    holder.stdin.write('BEGIN; LOCK TABLE session IN ACCESS EXCLUSIVE MODE;\n');
    await eventually(() => assert.equal(sql("SELECT count(*) FROM pg_locks WHERE mode='AccessExclusiveLock' AND granted AND relation='session'::regclass"), '1'), 10000 * slow);
    const asked = ask(s, '/ramet/v1/sessions/a/entries', 'ann');
    await eventually(() => assert.notEqual(sql('SELECT count(*) FROM pg_locks WHERE NOT granted'), '0'), 10000 * slow);
    asked.request.destroy();
    await eventually(async () => assert.equal(await metric(s, 'ramet_requests_cancelled_total'), 1), 20000 * slow);
    await eventually(() => assert.equal(sql('SELECT count(*) FROM pg_locks WHERE NOT granted'), '0'), 10000 * slow);
  } finally {
    holder.stdin.end('ROLLBACK;\n');
    await new Promise((done) => holder.on('close', done));
  }
  assert.equal((await call(s, 'GET', 'sessions/a/entries', { user: 'ann' })).status, 200);
});

await finish();
