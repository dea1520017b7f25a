// SPDX-License-Identifier: Apache-2.0
//
// Bodies: who may have one read, how much of them is held, and for how long.
import { test, finish, start, call, must, metric, ramet, scratch, assert, slow, sleep, eventually } from './lib.mjs';
import { CRLF, Wire, talk, get } from './help/wire.mjs';

const HOST = `Host: localhost${CRLF}`;
const EXPECT = `Expect: 100-continue${CRLF}`;
const key = async (db, user) => {
  const r = await ramet(['--db', db, 'token', 'create', '--user', user, '--json']);
  assert.equal(r.code, 0, r.err);
  return JSON.parse(r.out).secret;
};
/** A server where callers need a key, and the keys of some: {s, ann, bob …}. */
async function guarded(users, args = []) {
  const db = scratch('store.db'), keys = {};
  for (const u of users) keys[u] = await key(db, u);
  return { ...keys, s: await start({ db, args: ['--auth', 'tokens', ...args] }) };
}
const bearer = (token) => `Authorization: Bearer ${token}${CRLF}`;
const head = (path, length, more = '') => `POST ${path} HTTP/1.1${CRLF}${HOST}Content-Type: application/json${CRLF}` +
  `${length === 'chunked' ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`}${CRLF}${more}${CRLF}`;
const SESSIONS = '/ramet/v1/sessions';
/** A body of exactly `n` bytes that makes a session. */
const sized = (n) => `{"title":"big"}${' '.repeat(n - 15)}`;
/** Says it wants to send `n` bytes: the status that it is answered with, 100 when it may. */
async function knock(s, path, n, more) {
  const w = new Wire(s.port).send(head(path, n, EXPECT + more));
  await w.until(/^HTTP\/1\.1 \d+ [^]*\r\n\r\n/);
  return Object.assign(w, { status: Number(w.got.slice(9, 12)) });
}

// ------------------------------------------------------------------ who asks comes first

test('a stranger is refused by his header alone, in the words of each protocol', async () => {
  const { s } = await guarded(['ann']);
  const shapes = {
    '/ramet/v1/sessions': (b) => b.code === 'unauthenticated' && b.request_id,
    '/api/tasks': (b, text) => text.trim() === 'Unauthorized',
    '/v1/conversations/c/entries': (b) => b.code === 'unauthenticated' && b.requestId,
    '/a2a/echo': () => true,
    '/ramet/v1/attachments': (b) => b.code === 'unauthenticated',
    '/v1/attachments': (b) => b.code === 'unauthenticated',
  };
  for (const [path, fits] of Object.entries(shapes))
    for (const [length, more] of [[8 << 20, ''], ['chunked', ''], [8 << 20, EXPECT], [2, EXPECT]]) {
      // Nothing of the body is sent, and nothing is waited for.
      const [a, ...rest] = await talk(s, head(path, length, more));
      assert.equal(a.status, 401, `${path} ${length} ${more}: ${a.text}`);
      assert.ok(fits(a.body, a.text), a.text);
      assert.match(a.headers['www-authenticate'] ?? '', /Bearer/);
      assert.equal(a.headers.connection, 'close');
      assert.deepEqual(rest, []);
    }
});

test('whatever names him wrongly is no better, whatever names him rightly is let in', async () => {
  const { s, ann } = await guarded(['ann']);
  const signed = await call(s, 'POST', '/login', { json: { token: ann } });
  const cookie = signed.headers.getSetCookie()[0].split(';')[0];
  for (const [more, path] of [[bearer('rmt_wrong')], [`X-API-Key: rmt_wrong${CRLF}`], [`Cookie: ${cookie}x${CRLF}`], [`X-User-Id: ann${CRLF}`],
                              [`X-Ramet-Share: rms_wrong${CRLF}`], ['', `${SESSIONS}?share=rms_wrong`], ['', `${SESSIONS}?user_id=ann`]]) {
    const w = await knock(s, path ?? SESSIONS, 1 << 20, more);
    assert.equal(w.status, 401, `${more} ${path}`);
    await w.end();
  }
  const other = await knock(s, `${SESSIONS}?user_id=bob`, 1 << 20, bearer(ann));
  assert.equal(other.status, 403, 'his key, another name');
  for (const more of [bearer(ann), `X-API-Key: ${ann}${CRLF}`, `Cookie: ${cookie}${CRLF}`]) {
    const w = await knock(s, SESSIONS, 1 << 20, more);
    assert.equal(w.status, 100, more);
    w.got = '';
    w.send(sized(1 << 20) + get('/healthz'));
    await w.until(/"ok"/);
    assert.deepEqual(w.answers().map((a) => a.status), [201, 200], 'and the next request on the connection');
    w.close();
  }
  const w = await knock(s, '/ramet/v1/tokens', 1 << 20, bearer(ann));
  assert.equal(w.status, 403, 'not an administrator');
  w.close();
});

test('a share link that is not good is refused by the header alone, in the words of each protocol', async () => {
  const { s, ann, bob } = await guarded(['ann', 'bob']);
  await must(s, 'POST', 'sessions', { token: ann, json: { id: 'a' } });
  const link = await must(s, 'POST', 'sessions/a/shares', { token: ann, json: { write: true } });
  const revoked = await must(s, 'POST', 'sessions/a/shares', { token: ann, json: { write: true } });
  assert.equal((await call(s, 'DELETE', `sessions/a/shares/${revoked.id}`, { token: ann })).status, 204);
  const shared = (token) => `${bearer(bob)}X-Ramet-Share: ${token}${CRLF}`;
  for (const path of [`${SESSIONS}/a/entries`, '/api/sessions/a/events', '/v1/conversations/a/entries', '/ramet/v1/attachments'])
    for (const token of ['rms_wrong', 'nonsense', revoked.token])
      for (const length of [8 << 20, 'chunked']) {
        // Nothing of the body is sent, and nothing is waited for.
        const [a, ...rest] = await talk(s, head(path, length, shared(token)));
        assert.equal(a.status, path.startsWith('/api/') ? 403 : 404, `${path} ${token} ${length}: ${a.text}`);
        assert.equal(a.headers.connection, 'close');
        assert.deepEqual(rest, []);
      }
  const w = await knock(s, `${SESSIONS}/a/entries`, 1 << 20, shared(link.token));
  assert.equal(w.status, 100, 'a good one');
  w.close();
});

test('a short body of a stranger is dropped, and his connection goes on', async () => {
  const { s, ann } = await guarded(['ann']);
  const body = JSON.stringify({ title: 'x'.repeat(400) });
  const whole = (more) => head(SESSIONS, body.length, more) + body;
  const list = await talk(s, whole('') + whole(bearer(ann)) + head(SESSIONS, 200000) + 'x'.repeat(200000) + whole(bearer(ann)), { n: 4 });
  assert.deepEqual(list.map((a) => a.status), [401, 201, 401, 201]);
  assert.equal((await must(s, 'GET', 'sessions', { token: ann })).sessions.length, 2);
});

test('who need not say who he is may send 64 KiB', async () => {
  const { s, ann } = await guarded(['ann']);
  for (const [length, body] of [[65537, ''], ['chunked', `11000${CRLF}${'x'.repeat(0x11000)}${CRLF}`]]) {
    const [a] = await talk(s, head('/login', length) + body, { n: 1 });
    assert.equal(a.status, 413, a.text);
  }
  const text = JSON.stringify({ token: ann });
  const [a] = await talk(s, head('/login', 50000) + text + ' '.repeat(50000 - text.length), { n: 1 });
  assert.equal(a.status, 200, a.text);
});

test('body-max is the ceiling of every protocol', async () => {
  const s = await start({ args: ['--body-max', '65536'] });
  for (const path of [SESSIONS, '/api/tasks', '/v1/conversations/c/entries', '/a2a/echo']) {
    const [a] = await talk(s, head(path, 65537, bearer('ann')), { n: 1 });
    assert.equal(a.status, 413, `${path}: ${a.text}`);
  }
});

// ------------------------------------------------------------------ how much is held

const M = 1 << 20;
const tight = ['--body-max', `${M}`, '--bodies-max', `${2 * M}`, '--bodies-per-user', `${M}`];

test('all bodies have a limit, and one user a share of it', async () => {
  const { s, ann, bob, eve } = await guarded(['ann', 'bob', 'eve'], tight);
  const first = await knock(s, SESSIONS, M, bearer(ann));
  assert.equal(first.status, 100);
  const more = await knock(s, SESSIONS, 100000, bearer(ann));
  assert.equal(more.status, 429, 'his share');
  const [full] = more.answers();
  assert.equal(full.headers['retry-after'], '1');
  assert.equal(full.body.code, 'too_many_bodies');
  const his = await knock(s, SESSIONS, M, bearer(bob));
  assert.equal(his.status, 100, 'others have theirs');
  const late = await knock(s, SESSIONS, 100000, bearer(eve));
  assert.equal(late.status, 503, 'all of it');
  assert.equal(late.answers()[0].headers['retry-after'], '1');
  // What came with its header is small, and takes nothing.
  assert.equal((await call(s, 'POST', 'sessions', { token: ann, json: {} })).status, 201);
  // Memory comes back when a request was answered, and when a client has gone.
  first.got = '';
  first.send(sized(M));
  await first.until(/ 201 /);
  his.close();
  for (const who of [ann, bob])
    await eventually(async () => {
      const w = await knock(s, SESSIONS, M, bearer(who));
      w.close();
      assert.equal(w.status, 100);
    });
  first.close();
});

test('a body in chunks is counted as it grows', async () => {
  const { s, ann } = await guarded(['ann'], tight);
  const first = await knock(s, SESSIONS, 700000, bearer(ann));
  assert.equal(first.status, 100);
  const w = new Wire(s.port).send(head(SESSIONS, 'chunked', bearer(ann)));
  for (let i = 0; i < 8; i++) w.send(`10000${CRLF}${' '.repeat(0x10000)}${CRLF}`);
  await w.until(/too_many_bodies/);
  assert.equal(w.answers()[0].status, 429);
  await w.end();
  first.close();
});

test('strangers cannot use up what users need', async () => {
  const { s, ann } = await guarded(['ann'], ['--body-max', '65536', '--bodies-max', `${M}`]);
  // One address may hold 64 KiB of bodies whose sender is not known.
  const held = await knock(s, '/login', 50000, '');
  assert.equal(held.status, 100);
  const [a] = await talk(s, head('/login', 50000, EXPECT), { n: 1 });
  assert.equal(a.status, 429);
  assert.equal(a.headers['retry-after'], '1');
  const body = JSON.stringify({ title: 'in two pieces' });
  const w = new Wire(s.port).send(head(SESSIONS, 30000, bearer(ann)) + body);
  w.send(' '.repeat(30000 - body.length));
  await w.until(/ 201 /);
  w.close();
  held.close();
  await eventually(async () => assert.equal((await call(s, 'POST', '/login', { body: `{"token":"${ann}"}${' '.repeat(49000)}`, headers: { 'Content-Type': 'application/json' } })).status, 200));
});

// ------------------------------------------------------------------ for how long

test('a stranger has request-seconds, whatever he sends; a user must keep sending', async () => {
  const { s, ann } = await guarded(['ann'], ['--request-seconds', '1']);
  const slowly = new Wire(s.port).send(head(SESSIONS, 64000));
  const drip = slowly.drip(Array(64).fill('x'.repeat(1000)), 40);
  const stuck = await knock(s, SESSIONS, M, bearer(ann));
  stuck.got = '';
  stuck.send(' '.repeat(M - 10));
  await Promise.all([slowly.end(20000 * slow), stuck.end(20000 * slow), drip]);
  assert.match(slowly.got, /^HTTP\/1\.1 408 /);
  assert.match(stuck.got, /^HTTP\/1\.1 408 /);
  // One that comes at a good rate has longer than that.
  const steady = new Wire(s.port).send(head(SESSIONS, M, bearer(ann)));
  const body = sized(M);
  await steady.drip(Array.from({ length: 32 }, (_, i) => body.slice(i * 32768, (i + 1) * 32768)), 50);
  await steady.until(/ 201 /, 20000 * slow);
  steady.close();
});

// ------------------------------------------------------------------ beside other things

test('an upload is read when it is known whose it is, and answered in its middle when it is not wanted', async () => {
  const { s, ann } = await guarded(['ann'], ['--attachment-max', `${M}`]);
  const w = await knock(s, '/ramet/v1/attachments?name=a', 300000, bearer(ann));
  assert.equal(w.status, 100);
  w.got = '';
  w.send('x'.repeat(300000));
  await w.until(/"sha256"/);
  assert.equal(w.answers()[0].body.size, 300000);
  w.close();
  const big = new Wire(s.port).send(head('/ramet/v1/attachments?name=b', 'chunked', bearer(ann)));
  for (let i = 0; i < 20 && !big.over; i++) big.send(`10000${CRLF}${'x'.repeat(0x10000)}${CRLF}`);
  await big.until(/too_large/);
  big.close();
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_connections') <= 2));
});

test('an idempotency key holds for a body that was admitted first', async () => {
  const { s, ann } = await guarded(['ann']);
  const once = async (text, of = 'k1') => {
    const [a] = await talk(s, head(SESSIONS, text.length, `${bearer(ann)}Idempotency-Key: ${of}${CRLF}`) + text, { n: 1 });
    return a;
  };
  const one = await once(sized(200000)), two = await once(sized(200000));
  assert.deepEqual([one.status, two.status, two.headers['idempotency-replayed']], [201, 201, 'true']);
  assert.equal(one.body.id, two.body.id);
  assert.equal((await once(sized(200001))).status, 409);
  const w = await knock(s, SESSIONS, 20, `Idempotency-Key: k1${CRLF}`);
  assert.equal(w.status, 401, 'the key is nobody’s');
});

test('a server that stops takes the rest of a body that it has admitted', async () => {
  const { s, ann } = await guarded(['ann']);
  const w = await knock(s, SESSIONS, 200000, bearer(ann));
  assert.equal(w.status, 100);
  w.got = '';
  s.child.kill('SIGTERM');
  await eventually(() => assert.match(s.err, /stopping/));
  w.send(sized(200000));
  await w.until(/ 201 /);
  assert.deepEqual(await s.end, { code: 0, signal: null });
});

await finish();
