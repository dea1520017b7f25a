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


// ------------------------------------------------------------------ answers that are not read

/** A session of `n` entries with `bytes` of text each. */
async function largeSession(s, id, n, bytes) {
  await newSession(s, { id });
  for (let i = 0; i < n; i++) await append(s, id, `${i} ${'x'.repeat(bytes)}`);
}
/** A request whose answer is not read: {socket, text, over}. */
function unreadAnswer(s, path) {
  const bare = { text: '', over: false };
  const socket = (bare.socket = net.connect(s.port, '127.0.0.1'));
  socket.setEncoding('latin1');
  socket.on('data', (d) => { bare.text += d; if (!bare.reads) socket.pause(); });
  socket.on('error', () => (bare.over = true));
  socket.on('close', () => (bare.over = true));
  bare.read = () => { bare.reads = true; socket.resume(); };
  socket.write(`GET ${path} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
  return bare;
}
const body = (bare) => JSON.parse(bare.text.slice(bare.text.indexOf('\r\n\r\n') + 4));

test('long pages that nobody reads take a piece of memory each', async () => {
  const s = await start({ args: ['--stall-seconds', '3600'] });
  const count = 30, entries = 24;
  await largeSession(s, 'a', entries, 250000);
  const whole = await must(s, 'GET', 'sessions/a/entries?limit=1000');
  const before = await metric(s, 'process_resident_memory_bytes');
  const paths = ['entries?limit=1000', 'entries?limit=1000&tail=true', 'record?limit=1000'];
  const asked = Array.from({ length: count }, (_, i) => unreadAnswer(s, `/ramet/v1/sessions/a/${paths[i % 3]}`));
  for (const each of asked) await eventually(() => assert.match(each.text, /^HTTP\/1\.\d 200/), 30000 * slow);
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_queue'), 1), 30000 * slow);
  const grown = (await metric(s, 'process_resident_memory_bytes')) - before;
  if (!/san\//.test(process.env.RAMET ?? '')) assert.ok(grown < 320e6, `${grown} bytes more`);
  assert.ok(await metric(s, 'ramet_answers_buffered_bytes') < count * 8e6);
  // What is appended and moved meanwhile is not in them.
  await append(s, 'a', 'later');
  await must(s, 'POST', 'sessions/a/rewind', { json: { at: { entry_id: whole.entries[1].id } } });
  for (const each of asked) each.read();
  for (const [i, each] of asked.entries()) {
    await eventually(() => assert.ok(each.over), 60000 * slow);
    const got = body(each);
    assert.deepEqual(got.entries.map((e) => e.id), whole.entries.map((e) => e.id));
    assert.deepEqual(got.entries.map((e) => e.text), whole.entries.map((e) => e.text));
    assert.equal(got.more_after, false);
    if (i % 3 === 2) assert.equal(got.total, entries);
    else assert.deepEqual([got.head, got.more_before], [whole.head, false]);
  }
  await eventually(async () => assert.equal(await metric(s, 'ramet_answers_buffered_bytes'), 0), 20000 * slow);
}, { seconds: 180 });

test('a long page ends early like any other, and the next goes on', async () => {
  const s = await start();
  await largeSession(s, 'a', 15, 1500000);
  const first = await must(s, 'GET', 'sessions/a/entries?limit=100');
  assert.equal(first.more_after, true, 'over 32 MiB');
  const next = await must(s, 'GET', `sessions/a/entries?limit=100&after=${first.entries.at(-1).id}`);
  assert.deepEqual([...first.entries, ...next.entries].map((e) => parseInt(e.text)), Array.from({ length: 15 }, (_, i) => i));
  assert.equal(next.more_after, false);
  assert.equal(next.more_before, true);
  const tail = await must(s, 'GET', 'sessions/a/entries?limit=100&tail=true');
  assert.equal(parseInt(tail.entries.at(-1).text), 14, 'the newest are there');
  assert.deepEqual([tail.more_before, tail.more_after], [true, false]);
  const before = await must(s, 'GET', `sessions/a/entries?limit=100&before=${first.entries[4].id}`);
  assert.deepEqual([before.entries.length, before.more_before, before.more_after], [4, false, true]);
  const some = await must(s, 'GET', 'sessions/a/entries?limit=3&from=1');
  assert.deepEqual([some.entries.map((e) => e.position), some.more_before, some.more_after], [[1, 2, 3], true, true]);
  const head = await call(s, 'HEAD', 'sessions/a/entries?limit=100');
  assert.deepEqual([head.status, head.text], [200, '']);
}, { seconds: 120 });

test('a client that loses access in the middle of a page gets no more of it', async () => {
  const s = await start();
  await largeSession(s, 'a', 20, 300000);
  await must(s, 'PUT', 'sessions/a/members/bob', { json: { level: 'reader' } });
  const socket = net.connect(s.port, '127.0.0.1');
  let text = '', over = false;
  socket.setEncoding('latin1');
  socket.once('data', () => socket.pause());
  socket.on('data', (d) => (text += d));
  socket.on('close', () => (over = true));
  socket.write('GET /ramet/v1/sessions/a/entries?limit=100 HTTP/1.1\r\nHost: localhost\r\nX-User-Id: bob\r\n\r\n');
  await eventually(() => assert.match(text, /^HTTP\/1\.1 200/), 20000 * slow);
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_queue'), 1));
  await must(s, 'DELETE', 'sessions/a/members/bob');
  socket.resume();
  await eventually(() => assert.ok(over), 20000 * slow);
  assert.doesNotMatch(text, /"more_after"/);
  assert.ok(!text.endsWith('0\r\n\r\n'), 'the body has no end');
});

test('answers that stay in memory are bounded, and given up when nobody takes them', async () => {
  const s = await start({ args: ['--answers-bytes', '33554432', '--stall-seconds', '2'] });
  await newSession(s, { id: 'a' });
  const { entries: [{ id }] } = await append(s, 'a', 'x'.repeat(3000000));
  const asked = Array.from({ length: 12 }, () => unreadAnswer(s, `/ramet/v1/sessions/a/entries/${id}`));
  for (const each of asked) await eventually(() => assert.match(each.text, /^HTTP/), 30000 * slow);
  const refused = asked.filter((each) => /^HTTP\/1\.\d 503/.test(each.text));
  assert.ok(refused.length > 0 && refused.length < 12, `${refused.length} of 12 refused`);
  assert.match(refused[0].text, /Retry-After: 1/);
  assert.match(refused[0].text, /too_many_answers/);
  assert.ok(await metric(s, 'ramet_answers_buffered_bytes') <= 33554432);
  await eventually(async () => assert.equal(await metric(s, 'ramet_answers_buffered_bytes'), 0), 20000 * slow);
  for (const each of asked) each.read();
  for (const each of asked) await eventually(() => assert.ok(each.over), 20000 * slow);
  assert.equal((await must(s, 'GET', `sessions/a/entries/${id}`)).text.length, 3000000);
}, { seconds: 120 });

await finish();
