// SPDX-License-Identifier: Apache-2.0
//
// Read replicas, and attachments, of a store in PostgreSQL: servers of its own, one of them a
// streaming replica of the other, whose replay is held and which is killed.
import http from 'node:http';
import { chmodSync, readdirSync } from 'node:fs';
import { createHash, randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  test, finish, start, call, must, newSession, append, ramet, run, scratch, assert, eventually, slow,
} from './lib.mjs';

if (process.env.ENGINE === 'sqlite') {
  console.log('1..0 # SKIP only PostgreSQL has replicas');
  process.exit(0);
}

const script = join(dirname(fileURLToPath(import.meta.url)), '..', 'lib', 'postgres.sh');
const folder = { primary: scratch('primary'), replica: scratch('replica') };
// PostgreSQL runs as another user.
chmodSync(dirname(folder.primary), 0o755);

async function postgres(...args) {
  const r = await run(script, args);
  assert.equal(r.code, 0, r.err);
  return r.out.trim();
}
const sql = (where, text) => postgres('psql', folder[where], '-Atc', text);
const db = {};
let node;

test('a primary, a replica, a node that reads from it', async () => {
  db.primary = await postgres('start', folder.primary);
  db.replica = await postgres('replica', folder.replica, folder.primary);
  node = await start({ db: db.primary, args: ['--db-read', db.replica], keep: true });
});

/** A write: its position. */
async function write(session, text) {
  const r = await call(node, 'POST', `sessions/${session}/entries`, { json: { entries: [{ role: 'user', text }] } });
  assert.equal(r.status, 201, r.text);
  const position = r.headers.get('x-ramet-position');
  assert.match(position, /^[0-9A-F]+\/[0-9A-F]+$/);
  return position;
}

async function texts(session, position) {
  const headers = position ? { 'X-Ramet-Position': position } : {};
  const page = await must(node, 'GET', `sessions/${session}/entries?limit=200`, { headers });
  return page.entries.map((e) => e.text);
}

/** Runs with a replica that gets everything and shows nothing of it. */
async function held(work) {
  await sql('replica', 'SELECT pg_wal_replay_pause()');
  await eventually(async () =>
    assert.equal(await sql('replica', 'SELECT pg_get_wal_replay_pause_state()'), 'paused'));
  try {
    await work();
  } finally {
    await sql('replica', 'SELECT pg_wal_replay_resume()');
  }
}

const reads = async () =>
  Number(await sql('replica', "SELECT count(*) FROM pg_stat_activity WHERE application_name='ramet'"));

test('pages come from the replica, and writes tell their position', async () => {
  await eventually(async () => assert.ok(await reads() > 0));
  await newSession(node, { id: 'one' });
  const position = await write('one', 'first');
  assert.deepEqual(await texts('one', position), ['first']);
  await held(async () => {
    await write('one', 'second');
    assert.deepEqual(await texts('one'), ['first'], 'who gives no position sees what the replica has');
  });
  await eventually(async () => assert.deepEqual(await texts('one'), ['first', 'second']));
});

test('a read that carries a position sees that write', async () => {
  await newSession(node, { id: 'two' });
  await held(async () => {
    const position = await write('two', 'mine');
    const began = Date.now();
    assert.deepEqual(await texts('two', position), ['mine'], 'from the primary');
    assert.ok(Date.now() - began < 2000 * slow, 'the wait is bounded');
  });
  for (let i = 0; i < 50; i++) {
    const position = await write('two', `e${i}`);
    assert.equal((await texts('two', position)).at(-1), `e${i}`);
  }
});

test('a replica that comes after is waited for', async () => {
  await newSession(node, { id: 'three' });
  let position;
  await held(async () => { position = await write('three', 'soon'); });
  assert.deepEqual(await texts('three', position), ['soon']);
});

test('what the replica does not have yet is found', async () => {
  await held(async () => {
    await newSession(node, { id: 'new' });
    assert.equal((await must(node, 'GET', 'sessions/new')).id, 'new');
    assert.equal((await call(node, 'GET', 'sessions/none')).status, 404);
  });
});

test('who may do what, turns and attachments are asked at the primary', async () => {
  await newSession(node, { id: 'held' });
  await held(async () => {
    const up = await must(node, 'POST', 'attachments?name=a', { body: 'bytes' });
    assert.equal((await call(node, 'GET', `attachments/${up.id}`)).text, 'bytes');
    const done = await must(node, 'POST', 'sessions/held/messages', { json: { text: 'hello' } });
    const { turns } = await must(node, 'GET', 'sessions/held/turns');
    assert.equal(turns[0].id, done.turn_id ?? done.turn?.id ?? turns[0].id);
    const share = await must(node, 'POST', 'sessions/held/shares', { json: {} });
    const shown = { headers: { 'X-Ramet-Share': share.token }, user: 'stranger' };
    await must(node, 'GET', 'sessions/held/entries', shown);
    await must(node, 'DELETE', `sessions/held/shares/${share.id}`);
    assert.equal((await call(node, 'GET', 'sessions/held/entries', shown)).status, 404);
  });
});

test('a position that makes no sense is refused, one that never comes is not waited for long', async () => {
  for (const bad of ['x', '1', '1/', '/1', '1/G', '123456789/1', '1/2/3']) {
    const r = await call(node, 'GET', 'sessions/one', { headers: { 'X-Ramet-Position': bad } });
    assert.equal(r.status, 400, bad);
    assert.equal(r.body.field, 'X-Ramet-Position');
  }
  const began = Date.now();
  await must(node, 'GET', 'sessions/one', { headers: { 'X-Ramet-Position': '7FFFFFFF/FFFFFFFF' } });
  assert.ok(Date.now() - began < 2000 * slow);
});

test('the tool sends the position of its last write', async () => {
  const heard = [];
  const between = http.createServer((from, to) => {
    heard.push([from.method, from.headers['x-ramet-position']]);
    const on = http.request(node.url + from.url, { method: from.method, headers: { ...from.headers, host: `127.0.0.1:${node.port}` } }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
    });
    from.pipe(on);
  });
  await new Promise((done) => between.listen(0, '127.0.0.1', done));
  await newSession(node, { id: 'tool' });
  const input = Array.from({ length: 1500 }, (_, i) => JSON.stringify({ role: 'user', text: `n${i}` })).join('\n');
  const r = await ramet(['--server', `http://127.0.0.1:${between.address().port}`, 'append', 'tool', '--format', 'jsonl'], { input });
  between.close();
  assert.equal(r.code, 0, r.err);
  const wrote = heard.findIndex(([method]) => method === 'POST');
  assert.ok(wrote >= 0 && wrote < heard.length - 1, JSON.stringify(heard));
  assert.match(heard.at(-1)[1] ?? '', /^[0-9A-F]+\/[0-9A-F]+$/);
});

test('a replica that is gone is left out, and comes back', async () => {
  const before = await texts('two');
  await postgres('kill', folder.replica);
  for (let i = 0; i < 20; i++) assert.deepEqual(await texts('two'), before);
  await write('two', 'meanwhile');
  await postgres('start', folder.replica);
  await eventually(async () => assert.ok(await reads() > 0), 10000 * slow);
  await eventually(async () => assert.equal((await texts('two')).at(-1), 'meanwhile'));
});

test('a replica that was never there stops nobody', async () => {
  const s = await start({ db: db.primary, args: ['--db-read', 'postgres://ramet@127.0.0.1:1/ramet', '--db-read', db.replica] });
  assert.equal((await must(s, 'GET', 'sessions/one')).id, 'one');
});

test('settings that make no sense are told', async () => {
  for (const [store, read, words] of [[db.primary, 'file.db', /postgres:\/\//], [scratch('f.sqlite'), db.replica, /PostgreSQL/]]) {
    const r = await ramet(['serve', '--listen', '127.0.0.1:0', '--db', store, '--db-read', read]);
    assert.notEqual(r.code, 0);
    assert.match(r.err, words);
  }
  const s = await start();
  const made = await call(s, 'POST', 'sessions', { json: { id: 'plain' } });
  assert.equal(made.headers.get('x-ramet-position'), null, 'a file has none');
  await must(s, 'GET', 'sessions/plain', { headers: { 'X-Ramet-Position': '0/1' } });
});

// ------------------------------------------------------------------ attachments

const sha = (bytes) => createHash('sha256').update(bytes).digest('hex');

async function upDown(up, down, bytes) {
  const a = await must(up, 'POST', `attachments?sha256=${sha(bytes)}`, { body: bytes });
  assert.equal(a.size, bytes.length);
  const r = await fetch(`${down.url}/ramet/v1/attachments/${a.id}`);
  assert.equal(r.status, 200);
  assert.equal(r.headers.get('etag'), `"${sha(bytes)}"`);
  assert.equal(sha(Buffer.from(await r.arrayBuffer())), sha(bytes));
  return a;
}

test('attachments lie in the database, in parts, and every node has them', async () => {
  const other = await start({ db: db.primary });
  for (const size of [0, 1, 262144, 262145, 5000000]) await upDown(node, other, randomBytes(size));
  const bytes = randomBytes(300000);
  const count = () => sql('primary', `SELECT count(*) FROM attach_part WHERE sha='\\x${sha(bytes)}'`);
  const twice = [await upDown(node, other, bytes), await upDown(other, node, bytes)];
  assert.equal(await count(), '2');
  await must(node, 'DELETE', `attachments/${twice[0].id}`);
  assert.equal(await count(), '2');
  await must(other, 'DELETE', `attachments/${twice[1].id}`);
  assert.equal(await count(), '0');
});

test('the same content from many at once', async () => {
  const bytes = randomBytes(600000);
  const made = await Promise.all(Array.from({ length: 12 }, () => upDown(node, node, bytes)));
  assert.equal(new Set(made.map((a) => a.id)).size, 12);
  assert.equal(await sql('primary', `SELECT count(*) FROM attach_part WHERE sha='\\x${sha(bytes)}'`), '3');
  assert.equal((await ramet(['--db', db.primary, 'fsck'])).code, 0);
});

test('attachments in a folder that nodes share', async () => {
  const files = scratch('files');
  const args = ['--attachments', files];
  const a = await start({ db: db.primary, args }), b = await start({ db: db.primary, args });
  const bytes = randomBytes(700000);
  await upDown(a, b, bytes);
  assert.deepEqual(readdirSync(join(files, sha(bytes).slice(0, 2))), [sha(bytes).slice(2)]);
  assert.equal(await sql('primary', `SELECT count(*) FROM attach_part WHERE sha='\\x${sha(bytes)}'`), '0');
});

test('and the servers go', async () => {
  await node.stop();
  await postgres('remove', folder.replica);
  await postgres('remove', folder.primary);
});

await finish();
