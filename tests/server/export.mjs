// SPDX-License-Identifier: Apache-2.0
//
// Exports and imports over HTTP: formats, who sees what, uploads that break off, damage, limits, a
// server that is killed in the middle.
import { test, finish, start, call, must, ramet, scratch, assert, newSession, append, eventually } from './lib.mjs';
import { CRLF, Wire } from './help/wire.mjs';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import net from 'node:net';

const file = async (s, path, options = {}) => {
  const r = await fetch(`${s.url}/ramet/v1${path}`, { headers: options.user ? { 'X-User-Id': options.user } : {} });
  assert.equal(r.status, 200, await r.clone().text());
  return { text: await r.text(), headers: r.headers };
};
const send = (s, body, query = '', options = {}) => call(s, 'POST', `/ramet/v1/import${query}`, { body, ...options });

async function planted(s, id = 'trip', options = {}) {
  await newSession(s, { id, title: '<i>Trip</i>' }, options);
  await append(s, id, ['one', 'two <script>', 'three'], options);
  const { entries } = await must(s, 'GET', `sessions/${id}/entries`, options);
  await must(s, 'POST', `sessions/${id}/rewind`, { json: { at: { entry_id: entries[1].id } }, ...options });
  await append(s, id, ['other'], options);
  await must(s, 'POST', `sessions/${id}/fork`, { json: { id: `${id}-fork` }, ...options });
}

test('there and back over HTTP', async () => {
  const a = await start({ args: ['--admins', '*'] }), b = await start({ args: ['--admins', '*'] });
  await planted(a);
  const { text, headers } = await file(a, '/export?all_users=true&with_adk=true');
  assert.equal(headers.get('content-type'), 'application/x-ndjson');
  let r = await send(b, text, '?owners=true');
  assert.equal(r.status, 200, r.text);
  assert.deepEqual(r.body, { sessions_added: 2, entries_added: 4, sessions_known: 0 });
  assert.equal((await file(b, '/export?all_users=true&with_adk=true')).text, text);
  r = await send(b, text, '?owners=true');
  assert.deepEqual(r.body, { sessions_added: 0, entries_added: 0, sessions_known: 2 });
  const found = await must(b, 'GET', 'search?q=other&user_id=local');
  assert.equal(found.hits.length, 1);
});

test('a session, its tree, as a text', async () => {
  const s = await start();
  await planted(s);
  const one = await file(s, '/sessions/trip-fork/export');
  assert.equal(one.text.match(/"type":"session"/g).length, 1);
  assert.equal((await file(s, '/sessions/trip/export?tree=true')).text.match(/"type":"session"/g).length, 2);
  const html = await file(s, '/sessions/trip/export?format=html&tree=true');
  assert.equal(html.headers.get('content-type'), 'text/html; charset=utf-8');
  assert.match(html.headers.get('content-security-policy'), /default-src 'none'/);
  assert.match(html.text, /&lt;i&gt;Trip/);
  assert.doesNotMatch(html.text, /<script|https?:/);
  assert.match((await file(s, '/sessions/trip/export?format=md')).text, /^## /);
  const { entries } = await must(s, 'GET', 'sessions/trip/entries');
  await must(s, 'POST', 'sessions/trip/overlays', { json: { entry_id: entries[0].id, action: 'replace', text: 'hush' } });
  assert.match((await file(s, '/sessions/trip/export?format=md&view=context')).text, /> hush/);
  assert.match((await file(s, '/sessions/trip/export?path=true&view=context')).text, /"text":"hush"/);
  const both = await call(s, 'GET', '/ramet/v1/sessions/trip/export?view=context');
  assert.equal(both.status, 400);
  assert.equal(both.body.field, 'context');
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions/trip/export?view=both')).status, 400);
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions/trip/export?format=pdf')).status, 400);
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions/trip/export?branch=b99&format=md')).status, 404);
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions/nothing/export')).status, 404);
});

test('others see nothing, and own what they import', async () => {
  const s = await start(), t = await start();
  await planted(s, 'trip', { user: 'ann' });
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions/trip/export', { user: 'eve' })).status, 404);
  assert.doesNotMatch((await file(s, '/export', { user: 'eve' })).text, /trip/);
  const { text } = await file(s, '/export', { user: 'ann' });
  assert.equal((await send(t, text, '', { user: 'bob' })).status, 200);
  const got = await must(t, 'GET', 'sessions/trip', { user: 'bob' });
  assert.equal(got.owner, 'bob');
  const r = await send(t, text, '', { user: 'eve' });
  assert.equal(r.status, 409);
  assert.equal(r.body.code, 'import_conflict');
});

test('only administrators act for all users', async () => {
  const db = scratch('store.db');
  const r = await ramet(['--db', db, 'token', 'create', '--user', 'ann', '--json']);
  const token = JSON.parse(r.out).secret;
  const s = await start({ db, args: ['--auth', 'tokens'] });
  assert.equal((await call(s, 'GET', '/ramet/v1/export?all_users=true', { token })).status, 403);
  assert.equal((await send(s, '{}\n', '?owners=true', { token })).status, 403);
  const own = await fetch(`${s.url}/ramet/v1/export`, { headers: { Authorization: `Bearer ${token}` } });
  assert.match(await own.text(), /"trees":0/);
});

test('damage is told with its line, and adds nothing', async () => {
  const s = await start(), t = await start();
  await planted(s);
  const { text } = await file(s, '/export');
  for (const [bad, line] of [[text.replace('"two', '"twa'), /^line \d+: entry /], ['', /^line 1/], ['{"type":"x"}\n', /^line 1/],
    [text.slice(0, -30), /^line \d+/], [text.replace('"version":1', '"version":2'), /^line 1: .*newer Ramet/]]) {
    const r = await send(t, bad);
    assert.equal(r.status, 422, r.text);
    assert.equal(r.body.code, 'import_damaged');
    assert.match(r.body.error, line);
  }
  assert.equal((await must(t, 'GET', 'sessions')).sessions.length, 0);
  assert.equal((await call(await start({ args: ['--import-max', '1024'] }), 'POST', '/ramet/v1/import', { body: text })).status, 413);
});

test('an upload that broke off is resumed', async () => {
  const s = await start(), t = await start();
  await planted(s);
  for (let i = 0; i < 4; i++) await append(s, 'trip', Array.from({ length: 250 }, (_, k) => `${i} ${k} ${'x'.repeat(2000)}`));
  const { text } = await file(s, '/export');
  const bytes = Buffer.from(text), half = bytes.length >> 1;
  const w = new Wire(t.port).send(`POST /ramet/v1/import?upload=up-1 HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Length: ${bytes.length}${CRLF}${CRLF}`);
  w.socket.write(bytes.subarray(0, half));
  const offset = async () => (await must(t, 'GET', 'import/up-1')).offset;
  await eventually(async () => assert.ok(await offset() > 100000));
  w.close();
  const wrong = await eventually(async () => {
    const r = await send(t, bytes.subarray(600), '?upload=up-1&offset=600');
    assert.equal(r.status, 409, r.text);
    return r;
  });
  assert.equal(wrong.body.field, 'offset');
  const there = await offset();
  assert.ok(there <= half);
  const r = await send(t, bytes.subarray(there), `?upload=up-1&offset=${there}`);
  assert.equal(r.status, 200, r.text);
  assert.equal(r.body.sessions_added, 2);
  assert.equal(await offset(), 0);
});

/** Passes bytes on to a port, and breaks the first connection that has sent `most` of them. */
function breaker(port, most) {
  let broken = false;
  const server = net.createServer((from) => {
    const to = net.connect(port, '127.0.0.1');
    let n = 0;
    from.on('data', (d) => {
      n += d.length;
      to.write(d);
      if (broken || n < most) return;
      broken = true;
      from.destroy();
      to.destroy();
    });
    to.on('data', (d) => from.write(d));
    for (const [a, b] of [[from, to], [to, from]]) {
      a.on('error', () => b.destroy());
      a.on('close', () => b.destroy());
    }
  });
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

test('the tool resumes by itself', async () => {
  const db = scratch('store.db'), path = scratch('file.jsonl');
  const token = JSON.parse((await ramet(['--db', db, 'token', 'create', '--user', 'ann', '--json'])).out).secret;
  const s = await start(), t = await start({ db, args: ['--auth', 'tokens'] });
  await planted(s);
  for (let i = 0; i < 4; i++) await append(s, 'trip', Array.from({ length: 250 }, (_, k) => `${i} ${k} ${'x'.repeat(2000)}`));
  const { text } = await file(s, '/export');
  writeFileSync(path, text);
  const between = await breaker(t.port, 1 << 20);
  const r = await ramet(['--server', `http://127.0.0.1:${between.address().port}`, '--token', token, 'import', path]);
  between.close();
  assert.equal(r.code, 0, r.err);
  assert.match(r.out, /^added 2 sessions with 1,004 entries/);
});

/** How many entries the store has, visible or not. */
function entries(s) {
  const sql = 'SELECT count(*) FROM entry';
  return Number(/^postgres/.test(s.db) ? execFileSync('psql', ['-qAt', '-d', s.db.replace(/([?&])(pgbouncer|partitions)=\d+/g, '$1'), '-c', sql]) : execFileSync('sqlite3', [s.db, sql]));
}

test('a server that is killed in the middle leaves nothing behind', async () => {
  const s = await start();
  await newSession(s, { id: 'long' });
  for (let i = 0; i < 20; i++) await append(s, 'long', Array.from({ length: 500 }, (_, k) => `message ${i} ${k} ${'x'.repeat(300)}`));
  const { text } = await file(s, '/export');
  for (const written of [0, 1, 4000]) {
    const db = scratch(`killed-${written}.db`);
    let t = await start({ db });
    const sent = send(t, text).catch(() => null);
    await eventually(() => assert.ok(entries(t) >= written));
    t.child.kill('SIGKILL');
    await t.end;
    await sent;
    const checked = await ramet(['--db', db, 'fsck']);
    assert.equal(checked.code, 0, checked.out + checked.err);
    t = await start({ db });
    const r = await send(t, text);
    assert.equal(r.status, 200, r.text);
    assert.equal(r.body.sessions_added + r.body.sessions_known, 1);
    assert.equal((await file(t, '/export')).text, text);
    await t.stop();
  }
});

await finish();
