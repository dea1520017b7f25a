// SPDX-License-Identifier: Apache-2.0
//
// auth.mjs: who asks, in every mode: what is taken, and above all what is not.
import { writeFileSync } from 'node:fs';
import crypto from 'node:crypto';
import { test, finish, start, call, must, ramet, raw, scratch, sleep, assert, newSession, append, onPostgres } from './lib.mjs';
import { Issuer, makeKey, sign, signature } from './help/issuer.mjs';
import { freePort, realIssuer } from './help/provider.mjs';

/** Who the server takes the caller for. */
const me = (s, options = {}, query = '') => must(s, 'GET', `me${query}`, options);
const status = async (s, options = {}, path = 'me', method = 'GET') => (await call(s, method, path, options)).status;
/** A request with headers that fetch does not let through (Host): [status, text]. */
async function plain(s, method, path, headers, body = '') {
  const lines = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`).join('');
  const got = await raw(s.port, `${method} ${path} HTTP/1.1\r\n${lines}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  return [Number(got.split(' ')[1]), got];
}
const refused = (r, code, text) => {
  assert.equal(r.status, code, `${text}: ${r.text}`);
  assert.ok(r.body.code && r.body.error && r.body.request_id, r.text);
};
const key = async (db, ...args) => {
  const r = await ramet(['--db', db, 'token', 'create', ...args, '--json']);
  assert.equal(r.code, 0, r.err);
  const made = JSON.parse(r.out);
  return { ...made, token: made.secret };
};

// ------------------------------------------------------------------ local

test('local: bearer text, user_id, X-User-Id, default user, in that order', async () => {
  const s = await start({ args: ['--default-user', 'nobody'] });
  const user = async (options, query) => (await me(s, options, query)).user;
  assert.equal(await user(), 'nobody');
  assert.equal(await user({ user: 'h' }), 'h');
  assert.equal(await user({ user: 'h' }, '?user_id=q'), 'q');
  assert.equal(await user({ user: 'h', token: 'b' }, '?user_id=q'), 'b');
  assert.equal(await user({ headers: { Authorization: 'bearer  b ' } }), 'b');
  assert.equal(await user({ headers: { Authorization: 'Basic eDp5' } }), 'nobody');
  assert.equal(await user({}, `?user_id=${encodeURIComponent('Zoë /%')}`), 'Zoë /%');
  assert.equal((await me(s, { headers: { 'X-Client-ID': 'desk' } })).client, 'desk');
  assert.equal((await me(s)).auth, 'local');
});

test('local: the default user is "local"; an empty one refuses who does not say', async () => {
  assert.equal((await me(await start())).user, 'local');
  const s = await start({ args: ['--default-user', ''] });
  const r = await call(s, 'GET', 'me');
  refused(r, 401, 'no default user');
  assert.match(r.headers.get('www-authenticate'), /^Bearer/);
  assert.equal((await me(s, { user: 'ann' })).user, 'ann');
});

test('local: a user is an id', async () => {
  const s = await start();
  for (const [options, query, field] of [
    [{}, '?user_id=', 'user_id'],
    [{}, '?user_id=a%01b', 'user_id'],
    [{}, '?user_id=%C2%85', 'user_id'],
    [{}, '?user_id=%FF', 'path'],
    [{}, `?user_id=${'x'.repeat(256)}`, 'user_id'],
    [{}, '?user_id=a&user_id=b', 'user_id'],
    [{ user: 'x'.repeat(256) }, '', 'X-User-Id'],
    [{ token: 'x'.repeat(256) }, '', 'Authorization'],
    [{ headers: { 'X-Client-ID': 'x'.repeat(256) } }, '', 'X-Client-ID'],
  ]) {
    const r = await call(s, 'GET', `me${query}`, options);
    refused(r, 400, query + JSON.stringify(options));
    assert.equal(r.body.field, field);
  }
  assert.equal((await me(s, { user: 'x'.repeat(255) })).user.length, 255);
});

test('local: only on loopback', async () => {
  for (const listen of ['0.0.0.0:0', '[::]:0', '10.1.2.3:0', '[::ffff:10.0.0.1]:0']) {
    const r = await ramet(['serve', '--listen', listen, '--db', scratch('store.db')]);
    assert.notEqual(r.code, 0, listen);
    assert.match(r.err, /loopback/, listen);
    assert.doesNotMatch(r.out, /listening/);
  }
  for (const listen of ['127.0.0.2:0', '[::1]:0']) {
    const s = await start({ listen }).catch((e) => (/assign requested|not supported/.test(e.message) ? null : Promise.reject(e)));
    if (s) assert.equal((await me(s)).user, 'local', listen);
  }
});

test('local: Host must be this machine (no DNS rebinding)', async () => {
  const s = await start();
  const ask = async (host) => (await plain(s, 'GET', '/ramet/v1/me', host === null ? {} : { Host: host }))[0];
  for (const host of [`127.0.0.1:${s.port}`, '127.0.0.1', `localhost:${s.port}`, 'LocalHost', `127.9.9.9:${s.port}`,
                      `[::1]:${s.port}`, '[::1]'])
    assert.equal(await ask(host), 200, host);
  for (const host of ['evil.example', `evil.example:${s.port}`, `localhost.evil.example:${s.port}`, `127.0.0.1.nip.io:${s.port}`,
                      `localhost.:${s.port}`, `localhost:${s.port + 1}`, 'localhost:80', '0.0.0.0', '[::]', '127.1', '2130706433',
                      `x@localhost:${s.port}`, `localhost:${s.port}x`, 'localhost:', 'localhost:0', '10.0.0.1', '[::1', `[::1]x`])
    assert.equal(await ask(host), 421, host);
  const [, text] = await plain(s, 'GET', '/healthz', { Host: 'evil.example' });
  assert.match(text, /^HTTP\/1.1 421 /);
  assert.match(text, /"code":"misdirected_request"/);
  assert.equal(await ask(null), 400);
  assert.equal(await ask(''), 400);
});

test('local: a write of a foreign page is refused', async () => {
  const s = await start({ args: ['--cors-origins', 'https://app.example, http://localhost:5173'] });
  const write = (origin, more = {}, method = 'POST') =>
    call(s, method, method === 'POST' ? 'sessions' : 'sessions/none', { json: {}, headers: { ...(origin ? { Origin: origin } : {}), ...more } });
  for (const origin of [null, `http://127.0.0.1:${s.port}`, `http://localhost:${s.port}`, `http://[::1]:${s.port}`,
                        'https://app.example', 'http://localhost:5173'])
    assert.equal((await write(origin)).status, 201, origin);
  for (const origin of ['null', 'https://evil.example', `http://evil.example:${s.port}`, 'http://localhost', `http://localhost:${s.port + 1}`,
                        `https://localhost:${s.port}`, `http://localhost:${s.port}.evil.example`, `http://localhost:${s.port}@evil.example`,
                        'https://app.example.evil', 'file://', 'rubbish', `chrome-extension://localhost:${s.port}`])
    for (const method of ['POST', 'DELETE', 'PATCH', 'PUT']) {
      const r = await write(origin, {}, method);
      refused(r, 403, `${method} ${origin}`);
      assert.equal(r.body.code, 'foreign_origin');
    }
  for (const site of ['cross-site', 'same-site'])
    assert.equal((await write(null, { 'Sec-Fetch-Site': site })).status, 403);
  assert.equal((await write(null, { 'Sec-Fetch-Site': 'same-origin' })).status, 201);
  assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 7);
});

test('local: a read of a foreign page is refused, before it costs anything', async () => {
  const s = await start({ args: ['--cors-origins', 'https://app.example'] });
  // fetch() sends Sec-Fetch-* of its own.
  const read = async (path, headers, method = 'GET') => plain(s, method, path, { Host: `localhost:${s.port}`, ...headers });
  const paths = ['/ramet/v1/me', '/ramet/v1/sessions', '/ramet/v1/store/backup', '/ramet/v1/events', '/ramet/v1/search?q=x', '/api/sessions', '/v1/conversations',
                 '/a2a/echo', '/api/v2/sandboxes', '/healthz', '/metrics', '/openapi.json'];
  const img = { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' };
  const link = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', 'Sec-Fetch-User': '?1' };
  let known = 0;
  for (const path of paths) {
    const [usual] = await read(path, {}, path.endsWith('events') || path.endsWith('backup') ? 'HEAD' : 'GET');
    if (usual >= 400) continue;
    known++;
    // Another port of this machine is another origin on the same site.
    for (const site of ['cross-site', 'same-site'])
      for (const method of ['GET', 'HEAD'])
        for (const how of [img, { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }, { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', Origin: 'https://evil.example' }]) {
          const [got, text] = await read(path, { ...how, 'Sec-Fetch-Site': site }, method);
          assert.equal(got, 403, `${method} ${path} ${site}`);
          if (method === 'GET') assert.match(text, /a page of another origin/);
        }
  }
  assert.ok(known >= 8, `${known}`);
  for (const origin of ['https://evil.example', 'null', `http://localhost:${s.port + 1}`])
    assert.equal((await read('/ramet/v1/me', { Origin: origin }))[0], 403, `an old browser: ${origin}`);
  const cors = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty', Origin: 'https://app.example' };
  assert.equal((await read('/ramet/v1/me', cors))[0], 200, 'an origin that is named');
  for (const site of ['same-origin', 'none']) assert.equal((await read('/ramet/v1/me', { ...img, 'Sec-Fetch-Site': site }))[0], 200, site);
  // A link may lead to the page and to the documents, and nowhere else.
  for (const path of ['/', '/docs', '/login']) assert.ok((await read(path, { ...link, 'Sec-Fetch-Site': 'cross-site' }))[0] < 400, path);
  for (const path of ['/ramet/v1/sessions', '/ramet/v1/store/backup', '/api/sessions'])
    assert.equal((await read(path, { ...link, 'Sec-Fetch-Site': 'cross-site' }))[0], 403, path);
});

test('local: cors-origins * is refused at the start, elsewhere it is not', async () => {
  for (const list of ['*', 'https://app.example, *']) {
    const r = await ramet(['serve', '--db', scratch('x.db'), '--listen', '127.0.0.1:0', '--cors-origins', list]);
    assert.equal(r.code, 2, r.err);
    assert.match(r.err, /cors-origins is \*.*auth local/);
  }
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens', '--cors-origins', '*'] });
  const headers = { Origin: 'https://evil.example' };
  assert.equal((await call(s, 'GET', 'me', { token, headers })).headers.get('access-control-allow-origin'), '*');
});

test('roles: lists by setting, a * at the end is a prefix', async () => {
  const s = await start({ args: ['--admins', 'root, ops-*', '--auditors', 'eve', '--indexers', '*'] });
  const roles = async (user) => { const m = await me(s, { user }); return m.roles; };
  assert.deepEqual((await roles('root')), ['admin', 'indexer']);
  assert.deepEqual((await roles('ops-')), ['admin', 'indexer']);
  assert.deepEqual((await roles('ops-7')), ['admin', 'indexer']);
  assert.deepEqual((await roles('ops')), ['indexer']);
  assert.deepEqual((await roles('eve')), ['auditor', 'indexer']);
  assert.deepEqual((await roles('Root')), ['indexer']);
  assert.deepEqual((await roles('rootx')), ['indexer']);
  assert.equal(await status(s, { user: 'root' }, 'store'), 200);
  assert.equal(await status(s, { user: 'local' }, 'store'), 403);
  assert.equal(await status(s, { user: 'local', json: {} }, 'store/gc', 'POST'), 403);
});

test('local: sign-in pages say that none is needed', async () => {
  const s = await start();
  assert.match((await call(s, 'GET', '/login')).text, /nobody needs to sign in/);
  const json = { headers: { Accept: 'application/json' } };
  assert.deepEqual((await call(s, 'GET', '/login', json)).body, { auth: 'local', user: null, issuer: null, login: false });
  assert.equal(await status(s, { json: { token: 'x' } }, '/login', 'POST'), 404);
  assert.equal(await status(s, {}, '/login/start'), 404);
  assert.equal(await status(s, {}, '/login/callback?code=x&state=y'), 404);
  assert.equal(await status(s, {}, '/logout', 'POST'), 204);
});

// ------------------------------------------------------------------ tokens

test('tokens: good, missing, unknown, expired, revoked', async () => {
  const db = scratch('store.db');
  const ann = await key(db, '--user', 'ann', '--client', 'desk', '--roles', 'auditor');
  const late = await key(db, '--user', 'ann', '--expires', '1s');
  const s = await start({ db, args: ['--auth', 'tokens', '--admins', 'ann', '--header-max', '65536'] });
  const who = await me(s, { token: ann.token });
  assert.equal(who.user, 'ann');
  assert.equal(who.client, 'desk');
  assert.equal(who.auth, 'tokens');
  assert.deepEqual([...who.roles].sort(), ['admin', 'auditor']);
  assert.equal((await me(s, { headers: { 'X-API-Key': ann.token } })).user, 'ann');
  assert.equal((await me(s, { token: ann.token, headers: { 'X-Client-ID': 'other' } })).client, 'desk');

  const bad = ['rmt_', 'rmt_x', `${ann.token}x`, ann.token.slice(0, -1), ann.token.toUpperCase(), 'ann', ann.id, 'x'.repeat(17000),
               ann.token.slice(0, -1) + (ann.token.endsWith('0') ? '1' : '0')];
  for (const headers of [{}, { Authorization: 'Basic YW5uOmFubg==' }, { Authorization: 'Bearer' }, { Authorization: ann.token },
                         { 'X-User-Id': 'ann' }, { Cookie: `ramet_session=${ann.token}` }, { Cookie: 'ramet_session=' },
                         ...bad.map((t) => ({ Authorization: `Bearer ${t}` })), ...bad.map((t) => ({ 'X-API-Key': t })),
                         { Authorization: 'Bearer wrong', 'X-API-Key': ann.token }]) {
    const r = await call(s, 'GET', 'me', { headers });
    refused(r, 401, JSON.stringify(headers).slice(0, 100));
    assert.equal(r.body.code, 'unauthenticated');
    assert.match(r.headers.get('www-authenticate'), /^Bearer/);
    assert.ok(!r.text.includes('rmt_'), 'an answer never holds a token');
  }
  await sleep(1100);
  assert.equal(await status(s, { token: late.token }), 401);
  assert.equal((await ramet(['--db', db, 'token', 'revoke', ann.id])).code, 0);
  assert.equal(await status(s, { token: ann.token }), 401);
  assert.ok(!s.err.includes(ann.token) && !s.err.includes(late.token), 'the log never holds a token');
});

test('tokens: another user_id is 403, on reads and writes', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  assert.equal((await me(s, { token, user: 'ann' }, '?user_id=ann')).user, 'ann');
  for (const [options, query, field] of [[{ user: 'bob' }, '', 'X-User-Id'], [{}, '?user_id=bob', 'user_id'], [{}, '?user_id=', 'user_id'],
                                         [{ user: 'ann' }, '?user_id=bob', 'user_id'], [{ user: 'bob' }, '?user_id=ann', 'X-User-Id']]) {
    const r = await call(s, 'GET', `me${query}`, { token, ...options });
    refused(r, 403, query);
    assert.equal(r.body.field, field);
    assert.equal(await status(s, { token, ...options, json: {} }, `sessions${query}`, 'POST'), 403);
  }
  assert.equal(await status(s, { token }, 'me?user_id=ann&user_id=bob'), 400);
  assert.equal((await must(s, 'GET', 'sessions', { token })).sessions.length, 0);
});

test('tokens: users do not see each other; health and documents need no token', async () => {
  const db = scratch('store.db');
  const ann = (await key(db, '--user', 'ann')).token, bob = (await key(db, '--user', 'bob')).token;
  const s = await start({ db, args: ['--auth', 'tokens'] });
  await newSession(s, { id: 'a' }, { token: ann });
  assert.equal(await status(s, { token: ann }, 'sessions/a'), 200);
  assert.equal(await status(s, { token: bob }, 'sessions/a'), 404);
  assert.equal(await status(s, {}, 'sessions/a'), 401);
  for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs', '/login']) assert.equal(await status(s, {}, path), 200, path);
  assert.equal(await status(s, { token: bob }, 'store'), 403);
});

test('tokens: a share link works beside a token, by header and by query', async () => {
  const db = scratch('store.db');
  const ann = (await key(db, '--user', 'ann')).token, bob = (await key(db, '--user', 'bob')).token;
  const s = await start({ db, args: ['--auth', 'tokens'] });
  await newSession(s, { id: 'a' }, { token: ann });
  await append(s, 'a', ['hello'], { token: ann });
  const share = await must(s, 'POST', 'sessions/a/shares', { token: ann, json: {} });
  assert.equal(await status(s, { token: bob, headers: { 'X-Ramet-Share': share.token } }, 'sessions/a'), 200);
  assert.equal(await status(s, { token: bob }, `sessions/a?share=${share.token}`), 200);
  assert.equal(await status(s, { token: bob }, 'sessions/a?share=wrong'), 404);
  assert.equal(await status(s, {}, `sessions/a?share=${share.token}`), 401);
});

/** What the holder of a link may do with nothing but the link: `own` is what the caller would have beside it. */
async function linkAlone(s, ann, own = {}) {
  await newSession(s, { id: 'a' }, ann);
  await newSession(s, { id: 'other' }, ann);
  await append(s, 'a', ['hello'], ann);
  const [entry] = (await must(s, 'GET', 'sessions/a/entries', ann)).entries;
  const read = await must(s, 'POST', 'sessions/a/shares', { ...ann, json: {} });
  const write = await must(s, 'POST', 'sessions/a/shares', { ...ann, json: { write: true } });
  const by = (link, more = {}) => ({ ...own, ...more, headers: { 'X-Ramet-Share': link.token, 'X-Ramet-Share-Only': 'true' } });
  const session = await must(s, 'GET', 'sessions/a', by(read));
  assert.deepEqual([session.level, session.head.length], ['reader', 1]);
  assert.equal((await must(s, 'GET', 'sessions/a/entries', by(read))).entries.length, 1);
  assert.equal(await status(s, own, `sessions/a/entries?share=${read.token}&share_only=true`), 200);
  const me = await must(s, 'GET', 'me', by(read));
  assert.deepEqual([me.user, me.admin], [`link:${read.id}`, false]);
  // Nothing else, whoever else the caller is.
  assert.equal(await status(s, by(read), 'sessions/other'), 404);
  for (const path of ['sessions', 'agents', 'tags', 'store', 'templates', 'sessions/a/shares', 'sessions/a/members', 'export'])
    assert.equal(await status(s, by(read), path), 401, path);
  const post = async (link, path, json) => (await call(s, 'POST', path, by(link, { json }))).status;
  assert.equal(await post(read, '/ramet/v1/sessions/a/messages', { text: 'x' }), 403);
  assert.equal(await post(read, '/ramet/v1/sessions/a/rewind', { at: { entry_id: entry.id, side: 'before' } }), 403);
  for (const link of [read, write]) {
    assert.equal(await post(link, '/ramet/v1/sessions', {}), 401);
    assert.equal(await post(link, '/ramet/v1/sessions/a/fork', {}), 401);
    assert.equal(await post(link, '/ramet/v1/sessions/a/fan-out', { text: 'x', agents: ['echo'] }), 401);
    assert.equal(await post(link, '/ramet/v1/sessions/a/messages', { text: 'x', fork: {} }), 401);
  }
  // A link for writing writes.
  assert.equal(await post(write, '/ramet/v1/sessions/a/messages', { text: 'by link' }), 200);
  const { entries } = await must(s, 'GET', 'sessions/a/entries', by(write));
  assert.deepEqual(entries.map((e) => [e.text, e.author]).slice(1), [['by link', `link:${write.id}`], ['by link', 'echo']]);
  // An ended link opens nothing.
  assert.equal((await call(s, 'DELETE', `/ramet/v1/sessions/a/shares/${read.id}`, ann)).status, 204);
  assert.equal(await status(s, by(read), 'sessions/a'), 404);
  assert.equal(await status(s, by(read), 'me'), 404);
  assert.equal(await status(s, { ...own, headers: { 'X-Ramet-Share-Only': 'true' } }, 'me'), 400);
  assert.equal(await status(s, by({ token: 'rms_wrong' }), 'me'), 404);
}

test('tokens: a share link alone opens its session without an account', async () => {
  const db = scratch('store.db');
  const ann = (await key(db, '--user', 'ann')).token;
  const s = await start({ db, args: ['--auth', 'tokens'] });
  await linkAlone(s, { token: ann });
});

test('tokens: a share link alone is all that a request has, also with the key of the owner', async () => {
  const db = scratch('store.db');
  const ann = (await key(db, '--user', 'ann')).token;
  const s = await start({ db, args: ['--auth', 'tokens'] });
  await linkAlone(s, { token: ann }, { token: ann });
});

test('local: a share link alone is all that a request has, also of the default user', async () => {
  const s = await start({});
  await linkAlone(s, {});
});

// ------------------------------------------------------------------ tokens in a browser

const jar = (r) => (r.headers.getSetCookie?.() ?? []).map((c) => c.split(';')[0]).filter((c) => !c.endsWith('=')).join('; ');
const form = (fields) => ({ body: new URLSearchParams(fields).toString(), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });

test('login: a form takes an API key into a cookie; sign-out ends it', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  const page = await call(s, 'GET', '/login?next=/docs');
  assert.match(page.text, /name="token"/);
  assert.match(page.text, /value="\/docs"/);
  const policy = page.headers.get('content-security-policy');
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /script|unsafe/);
  assert.doesNotMatch(page.text, /<script|style=|<style| on[a-z]+=/i);
  assert.equal((await call(s, 'GET', '/login/style.css')).headers.get('content-type'), 'text/css');

  const r = await call(s, 'POST', '/login', form({ token, next: '/docs' }));
  assert.equal(r.status, 303, r.text);
  assert.equal(r.headers.get('location'), '/docs');
  const set = r.headers.get('set-cookie');
  for (const part of [/^ramet_session=/, /; HttpOnly/, /; SameSite=Strict/, /; Path=\//, /; Max-Age=43200/]) assert.match(set, part);
  assert.doesNotMatch(set, /Secure|Domain/);
  assert.ok(!set.includes(token) && !Buffer.from(set.split('=')[1].split(';')[0], 'base64url').includes('rmt_'), 'the key is not readable in it');
  const headers = { Cookie: `other=1; ${jar(r)}` };
  assert.equal((await me(s, { headers })).user, 'ann');
  assert.match((await call(s, 'GET', '/login', { headers })).text, /signed in as <b>ann<\/b>/);
  const asked = async (more) => (await call(s, 'GET', '/login', { headers: { ...more, Accept: 'application/json' } })).body;
  assert.deepEqual(await asked(headers), { auth: 'tokens', user: 'ann', issuer: null, login: true });
  assert.deepEqual(await asked({}), { auth: 'tokens', user: null, issuer: null, login: true });
  assert.equal(await status(s, { headers }, 'me?user_id=bob'), 403);

  const out = await call(s, 'POST', '/logout', { headers: { ...headers, Accept: 'text/html' } });
  assert.equal(out.status, 303);
  assert.match(out.headers.get('set-cookie'), /^ramet_session=; .*Max-Age=0/);
  assert.equal(await status(s, { headers }), 401, 'a copy of the cookie is over, too');
  assert.equal(await status(s, {}, '/logout'), 405, 'no sign-out by a link');
  assert.ok(!s.err.includes(token));
});

test('login: JSON for a page of ours; wrong keys; a revoked key ends its sign-ins', async () => {
  const db = scratch('store.db');
  const { token, id } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  const r = await call(s, 'POST', '/login', { json: { token } });
  assert.equal(r.status, 200);
  assert.equal(r.body.user, 'ann');
  const headers = { Cookie: jar(r) };
  assert.equal(await status(s, { headers }), 200);
  for (const wrong of ['', 'x', `${token}x`, 'a'.repeat(20000)]) {
    const json = await call(s, 'POST', '/login', { json: { token: wrong } });
    refused(json, 401, wrong);
    assert.equal(json.headers.get('set-cookie'), null);
    const html = await call(s, 'POST', '/login', form({ token: wrong }));
    assert.equal(html.status, 401);
    assert.match(html.text, /unknown, expired or revoked/);
    assert.equal(html.headers.get('set-cookie'), null);
  }
  for (const body of ['', 'token', 'token=%', 'token=%zz', 'token=%00', '{', '[]'])
    assert.equal(await status(s, { body, headers: { 'Content-Type': body[0] === '{' ? 'application/json' : 'application/x-www-form-urlencoded' } },
                              '/login', 'POST'), 401, body);
  assert.equal(await status(s, { body: 'x'.repeat(100000) }, '/login', 'POST'), 413);
  assert.equal((await ramet(['--db', db, 'token', 'revoke', id])).code, 0);
  assert.equal(await status(s, { headers }), 401);
});

test('login: next stays here', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', '\\\\evil', 'javascript:alert(1)', '/a\r\nSet-Cookie: x=y', '/a b', '/ä', '', 'x'.repeat(3000)])
    assert.equal((await call(s, 'POST', '/login', form({ token, next }))).headers.get('location'), '/', next);
  const page = await call(s, 'GET', `/login?next=${encodeURIComponent('/"><script>x</script>')}`);
  assert.doesNotMatch(page.text, /<script/);
});

test('login: a cookie that was changed, or is of another server, is nothing', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  const cookie = jar(await call(s, 'POST', '/login', { json: { token } }));
  const [name, value] = cookie.split('=');
  for (let i = 0; i < value.length; i += 7) {
    const changed = value.slice(0, i) + (value[i] === 'A' ? 'B' : 'A') + value.slice(i + 1);
    assert.equal(await status(s, { headers: { Cookie: `${name}=${changed}` } }), 401, `byte ${i}`);
  }
  for (const v of [value.slice(1), value.slice(0, -4), `${value}AAAA`, 'A'.repeat(5000), 'AAAA', '%', ''])
    assert.equal(await status(s, { headers: { Cookie: `${name}=${v}` } }), 401);
  assert.equal(await status(s, { headers: { Cookie: `ramet_login=${value}` } }), 401);
  // Nodes on one database answer for each other; else each start has its own key.
  const beside = await start({ db, args: ['--auth', 'tokens'] });
  assert.equal(await status(beside, { headers: { Cookie: cookie } }), onPostgres ? 200 : 401);
  const other = await start({ args: ['--auth', 'tokens'] });
  assert.equal(await status(other, { headers: { Cookie: cookie } }), 401);
});

test('login: writes with a cookie must come from our own pages', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens', '--cors-origins', 'https://app.example'] });
  const cookie = jar(await call(s, 'POST', '/login', { json: { token } }));
  const write = (headers, path = 'sessions') => call(s, 'POST', path, { json: {}, headers });
  for (const more of [{ Origin: s.url }, { Origin: 'https://app.example' }, { 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Site': 'none' }, {}])
    assert.equal((await write({ Cookie: cookie, ...more })).status, 201, JSON.stringify(more));
  for (const more of [{ Origin: 'https://evil.example' }, { Origin: 'null' }, { Origin: s.url.replace(s.port, s.port + 1) },
                      { Origin: s.url.replace('127.0.0.1', 'localhost') }, { 'Sec-Fetch-Site': 'cross-site' }, { 'Sec-Fetch-Site': 'same-site' }]) {
    const r = await write({ Cookie: cookie, ...more });
    refused(r, 403, JSON.stringify(more));
    assert.equal(r.body.code, 'foreign_origin');
    assert.equal((await write({ Cookie: cookie, Authorization: 'Basic eDp5', ...more })).status, 403);
    assert.equal((await write({ Authorization: `Bearer ${token}`, ...more })).status, 201, 'a token is not sent by itself');
    assert.equal((await call(s, 'POST', '/login', { json: { token }, headers: more })).status, 403, 'nobody is signed in from elsewhere');
    assert.equal((await write({ Cookie: cookie, ...more }, '/logout')).status, 403);
  }
  assert.equal(await status(s, { headers: { Cookie: cookie, Origin: 'https://evil.example' } }), 200, 'reads are CORS’s matter');
});

test('login: behind https the cookie is Secure and bound to the host', async () => {
  const db = scratch('store.db');
  const { token } = await key(db, '--user', 'ann');
  const s = await start({ db, args: ['--auth', 'tokens'] });
  const proxy = { 'X-Forwarded-Proto': 'https' };
  const r = await call(s, 'POST', '/login', { json: { token }, headers: proxy });
  assert.match(r.headers.get('set-cookie'), /^__Host-ramet_session=.*; Secure$/);
  assert.equal(await status(s, { headers: { ...proxy, Cookie: jar(r) } }), 200);
  assert.equal(await status(s, { headers: { ...proxy, Cookie: jar(r).replace('__Host-', '') } }), 401);
});

// ------------------------------------------------------------------ oidc

/** A server that trusts the issuer; by a file when one is given. */
const trusting = (issuer, { jwks = `${issuer.url}/jwks`, args = [] } = {}) =>
  start({ args: ['--auth', 'oidc', '--oidc-issuer', issuer.url, '--oidc-jwks', jwks, '--oidc-audience', 'ramet', ...args] });

async function withIssuer(run) {
  const issuer = await new Issuer().start();
  try {
    await run(issuer);
  } finally {
    await issuer.stop();
  }
}

test('oidc: every algorithm that is allowed', () => withIssuer(async (issuer) => {
  const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];
  issuer.keys = algorithms.map((alg) => makeKey(`k-${alg}`, alg));
  const s = await trusting(issuer);
  for (const [i, alg] of algorithms.entries()) {
    const who = await me(s, { token: issuer.token({ sub: `u-${alg}` }, { key: issuer.keys[i] }) });
    assert.equal(who.user, `u-${alg}`);
    assert.equal(who.auth, 'oidc');
  }
  assert.equal(issuer.hits.jwks, 1, 'the keys were fetched once');
  const few = await trusting(issuer, { args: ['--oidc-algorithms', 'ES256'] });
  assert.equal(await status(few, { token: issuer.token({}, { key: issuer.keys[6] }) }), 200);
  for (const i of [0, 3, 7]) assert.equal(await status(few, { token: issuer.token({}, { key: issuer.keys[i] }) }), 401, algorithms[i]);
}));

test('oidc: a share link alone opens its session without an account, and is all that a request has', () => withIssuer(async (issuer) => {
  const ann = { token: issuer.token({ sub: 'ann' }) };
  await linkAlone(await trusting(issuer), ann);
  await linkAlone(await trusting(issuer), ann, ann);
}));

test('oidc: forged tokens', () => withIssuer(async (issuer) => {
  const [rsa] = issuer.keys, ec = makeKey('ec', 'ES256'), es384 = makeKey('ec3', 'ES384'), stranger = makeKey('one'), strangerEc = makeKey('ec', 'ES256');
  const pinned = makeKey('pinned', 'RS256', { alg: 'RS512' });
  issuer.keys.push(ec, es384, pinned);
  const s = await trusting(issuer, { args: ['--header-max', '65536'] });
  const good = issuer.token(), [head, body, sig] = good.split('.');
  assert.equal(await status(s, { token: good }), 200);
  const claims = issuer.claims();
  const pem = rsa.public.export({ type: 'spki', format: 'pem' }), der = rsa.public.export({ type: 'spki', format: 'der' });
  const b64 = (x) => Buffer.from(JSON.stringify(x)).toString('base64url');
  const bad = {
    'alg none': sign(claims, rsa, { alg: 'none' }),
    'alg none with a signature': `${b64({ alg: 'none', kid: 'one' })}.${body}.${sig}`,
    'alg nOnE': `${b64({ alg: 'nOnE', kid: 'one' })}.${body}.`,
    'HS256 with the public key as PEM': sign(claims, rsa, { alg: 'HS256', secret: pem }),
    'HS256 with the PEM without its last line end': sign(claims, rsa, { alg: 'HS256', secret: pem.trim() }),
    'HS256 with the public key as DER': sign(claims, rsa, { alg: 'HS256', secret: der }),
    'HS256 with the modulus': sign(claims, rsa, { alg: 'HS256', secret: rsa.jwk.n }),
    'HS512 with an empty secret': sign(claims, rsa, { alg: 'HS512', secret: '' }),
    'a stranger’s RSA key with our kid': sign(claims, stranger),
    'a stranger’s EC key with our kid': sign(claims, strangerEc),
    'a key that it brings along': sign(claims, stranger, { header: { jwk: stranger.jwk } }),
    'a key set that it names': sign(claims, stranger, { header: { jku: `${issuer.url}/jwks`, kid: 'elsewhere' } }),
    'the kid of another key': sign(claims, rsa, { header: { kid: 'ec' } }),
    'a kid that nobody has': sign(claims, rsa, { header: { kid: 'two' } }),
    'a kid that is a path': sign(claims, stranger, { header: { kid: '../../../../dev/null' } }),
    'a kid that is a number': sign(claims, rsa, { header: { kid: 1 } }),
    'RS256 by an EC key’s kid': sign(claims, rsa, { alg: 'RS256', header: { kid: 'ec' } }),
    'ES384 named, ES256 signed': sign(claims, ec, { header: { alg: 'ES384' } }),
    'ES256 with a P-384 key': `${b64({ alg: 'ES256', kid: 'ec3' })}.${body}.${signature('ES256', es384.private, `${b64({ alg: 'ES256', kid: 'ec3' })}.${body}`).toString('base64url')}`,
    'another algorithm than the key’s own': sign(claims, pinned, { alg: 'RS256' }),
    'RS256 signed, PS256 named': `${b64({ alg: 'PS256', kid: 'one' })}.${body}.${signature('RS256', rsa.private, `${b64({ alg: 'PS256', kid: 'one' })}.${body}`).toString('base64url')}`,
    'an extension that must be known': sign(claims, rsa, { header: { crit: ['b64'], b64: false } }),
    'other claims under the signature': `${head}.${b64({ ...claims, sub: 'root' })}.${sig}`,
    'another header over the signature': `${b64({ alg: 'RS256', kid: 'one', typ: 'x' })}.${body}.${sig}`,
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${good}.x`,
    'five parts': `${head}.${body}.${sig}.${sig}.${sig}`,
    'padding': `${good}=`,
    'standard base64': `${head}.${body}.${Buffer.from(sig, 'base64url').toString('base64')}`,
    'a signature that is cut': good.slice(0, -4),
    'too long': issuer.token({ more: 'x'.repeat(20000) }),
    'an API key': 'rmt_0123456789abcdef',
    'rubbish': 'a.b.c',
    'dots': '..',
  };
  for (const [what, token] of Object.entries(bad)) {
    const r = await call(s, 'GET', 'me', { token });
    refused(r, 401, what);
    assert.ok(!r.text.includes(token.slice(0, 20)));
  }
  assert.equal(await status(s, { token: sign(claims, pinned, { alg: 'RS512' }) }), 200);
  assert.equal(await status(s, { token: sign(claims, rsa, { header: { typ: 'at+jwt' } }) }), 200, 'RFC 9068');
  assert.equal(await status(s, { token: sign(claims, rsa, { header: { kid: undefined } }) }), 200, 'without a kid every key is tried');
  assert.equal(await status(s), 401);
  assert.ok(!s.err.includes(sig.slice(0, 30)), 'the log never holds a token');
}));

test('oidc: an EC signature has one length and one form', () => withIssuer(async (issuer) => {
  const ec = makeKey('ec', 'ES256');
  issuer.keys = [ec];
  const s = await trusting(issuer);
  const good = issuer.token(), text = good.slice(0, good.lastIndexOf('.')), sig = Buffer.from(good.split('.')[2], 'base64url');
  assert.equal(await status(s, { token: good }), 200);
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  const r = sig.subarray(0, 32), half = sig.subarray(32), zero = Buffer.alloc(32), one = Buffer.concat([Buffer.alloc(31), Buffer.from([1])]);
  const bad = {
    'DER': crypto.sign('sha256', Buffer.from(text), ec.private),
    'zeros': Buffer.alloc(64), 'r zero': Buffer.concat([zero, half]), 's zero': Buffer.concat([r, zero]),
    'ones': Buffer.concat([one, one]), 'r is the order': Buffer.concat([order, half]), 's is the order': Buffer.concat([r, order]),
    'all bits': Buffer.alloc(64, 255), 'swapped': Buffer.concat([half, r]), 'a byte more': Buffer.concat([sig, Buffer.alloc(1)]),
    'a byte less': sig.subarray(0, 63), 'half': r, 'twice': Buffer.concat([sig, sig]),
    'padded halves': Buffer.concat([Buffer.alloc(1), r, Buffer.alloc(1), half]), 'as of P-384': Buffer.concat([Buffer.alloc(16), r, Buffer.alloc(16), half]),
  };
  for (const [what, bytes] of Object.entries(bad))
    assert.equal(await status(s, { token: `${text}.${bytes.toString('base64url')}` }), 401, what);
}));

test('oidc: claims', () => withIssuer(async (issuer) => {
  const s = await trusting(issuer);
  const now = Math.floor(Date.now() / 1000);
  const ask = (more) => status(s, { token: issuer.token(more) });
  for (const [what, more] of Object.entries({
    'expired': { exp: now - 120 }, 'no exp': { exp: undefined }, 'exp a text': { exp: String(now + 600) }, 'exp null': { exp: null },
    'not yet': { nbf: now + 120 }, 'nbf a text': { nbf: 'soon' }, 'another issuer': { iss: 'https://evil.example' },
    'issuer with a slash': { iss: `${issuer.url}/` }, 'no issuer': { iss: undefined }, 'issuers': { iss: [issuer.url] },
    'another audience': { aud: 'other' }, 'no audience': { aud: undefined }, 'no audiences': { aud: [] }, 'audience in part': { aud: 'ramet-x' },
    'no user': { sub: undefined }, 'an empty user': { sub: '' }, 'a user that is no text': { sub: 7 }, 'a user with a line end': { sub: 'a\nb' },
    'a user with a NUL': { sub: 'a\u0000b' }, 'a long user': { sub: 'x'.repeat(256) }, 'endless roles': { roles: Array(500).fill('role') },
  })) assert.equal(await ask(more), 401, what);
  for (const [what, more] of Object.entries({
    'expired within the leeway': { exp: now - 30 }, 'nbf within the leeway': { nbf: now + 30 }, 'audiences': { aud: ['other', 'ramet'] },
    'a fraction of a second': { exp: now + 600.5 }, 'a long time': { exp: 9999999999 },
  })) assert.equal(await ask(more), 200, what);
  assert.deepEqual((await me(s, { token: issuer.token({ roles: ['x', 'y admin', 'y,admin', 7, 'auditor'], azp: 'page' }) })).roles, ['x', 'auditor']);
  assert.deepEqual((await me(s, { token: issuer.token({ roles: 'indexer, admin' }) })).roles, ['indexer', 'admin']);
  assert.equal((await me(s, { token: issuer.token({ client_id: 'page' }) })).client, 'page');
  assert.equal(await status(s, { token: issuer.token({ roles: ['administrator', 'xadmin'] }) }, 'store'), 403);
  assert.equal(await status(s, { token: issuer.token({ roles: 'admin' }) }, 'store'), 200);
  assert.equal(await status(s, { token: issuer.token() }, 'me?user_id=bob'), 403);
  assert.equal(await status(s, { token: issuer.token(), user: 'bob' }), 403);
  assert.equal(await status(s, { token: issuer.token(), user: 'ann' }, 'me?user_id=ann'), 200);
}));

test('oidc: the claims for user and roles are settings', () => withIssuer(async (issuer) => {
  const s = await trusting(issuer, { args: ['--oidc-user-claim', 'email', '--oidc-roles-claim', 'realm_access.roles', '--admins', 'ann@*'] });
  const who = await me(s, { token: issuer.token({ email: 'ann@example.org', email_verified: true, realm_access: { roles: ['auditor'] } }) });
  assert.equal(who.user, 'ann@example.org');
  assert.deepEqual([...who.roles].sort(), ['admin', 'auditor']);
  assert.equal(await status(s, { token: issuer.token({ email: 'ann@example.org', email_verified: false }) }), 401);
  assert.equal(await status(s, { token: issuer.token() }), 401);
}));

test('oidc: keys from a file; rotated ones are gone, a broken file changes nothing', () => withIssuer(async (issuer) => {
  const file = scratch('jwks.json');
  const save = (set = issuer.set()) => writeFileSync(file, typeof set === 'string' ? set : JSON.stringify(set));
  save();
  const s = await trusting(issuer, { jwks: file });
  const old = issuer.token();
  assert.equal(await status(s, { token: old }), 200);
  issuer.keys = [makeKey('two', 'ES256')];
  save();
  await sleep(1100);
  assert.equal(await status(s, { token: issuer.token() }), 200, 'an unknown kid makes it look again');
  assert.equal(await status(s, { token: old }), 401, 'the old key is gone');
  for (const rubbish of ['', '{', '[]', '{"keys": 7}', 'x'.repeat(2 << 20)]) {
    save(rubbish);
    await sleep(1100);
    assert.equal(await status(s, { token: sign(issuer.claims(), makeKey('three')) }), 401);
    assert.equal(await status(s, { token: issuer.token() }), 200, 'the last good set stays');
  }
  assert.equal(issuer.hits.jwks, 0);
}));

test('oidc: keys by URL: at most one fetch in a while, and the last good set stays', () => withIssuer(async (issuer) => {
  const s = await trusting(issuer, { args: ['--oidc-keys-seconds', '5'] });
  const old = issuer.token();
  assert.equal(await status(s, { token: old }), 200);
  issuer.keys = [makeKey('two')];
  const fresh = issuer.token();
  const unknown = () => status(s, { token: sign(issuer.claims(), makeKey(`x${Math.random()}`, 'ES256')) });
  assert.deepEqual(await Promise.all(Array.from({ length: 20 }, unknown)), Array(20).fill(401));
  assert.equal(await status(s, { token: fresh }), 401, 'it was fetched a moment ago');
  assert.equal(issuer.hits.jwks, 1);
  await sleep(5200);
  const many = await Promise.all(Array.from({ length: 20 }, () => status(s, { token: fresh })));
  assert.ok(many.every((x) => x === 200 || x === 503) && many.includes(200), String(many));
  assert.equal(issuer.hits.jwks, 2);
  assert.equal(await status(s, { token: fresh }), 200);
  assert.equal(await status(s, { token: old }), 401, 'the old key is gone');
  issuer.answer = (response) => response.writeHead(500).end('{"keys":[]}');
  await sleep(5200);
  assert.equal(await unknown(), 401);
  assert.equal(issuer.hits.jwks, 3);
  assert.equal(await status(s, { token: fresh }), 200, 'the last good set stays');
}), { seconds: 90 });

for (const [what, answer] of Object.entries({
  'is no JSON': (r) => r.writeHead(200).end('<html>'),
  'is endless': (r) => { r.writeHead(200); const more = () => { while (r.write('x'.repeat(65536))); }; r.on('drain', more); r.on('error', () => {}); more(); },
  'never comes': () => {},
  'is somewhere else': (r) => r.writeHead(302, { Location: '/jwks' }).end(),
}))
  test(`oidc: a key set that ${what} keeps nobody from starting, and lets nobody in`, () => withIssuer(async (issuer) => {
    issuer.answer = answer;
    const s = await trusting(issuer);
    const r = await call(s, 'GET', 'me', { token: issuer.token() });
    refused(r, 503, 'no keys yet');
    assert.equal(r.body.code, 'identity_unavailable');
    assert.equal(await status(s, {}, '/healthz'), 200);
    assert.equal(await status(s), 401);
  }));

test('oidc: discovery gives the keys; a document of another issuer does not', () => withIssuer(async (issuer) => {
  const args = ['--auth', 'oidc', '--oidc-issuer', issuer.url, '--oidc-client-id', 'ramet'];
  const s = await start({ args });
  assert.equal((await me(s, { token: issuer.token() })).user, 'ann');
  assert.deepEqual(issuer.hits, { jwks: 1, discovery: 1 });
  issuer.said = 'https://evil.example';
  const other = await start({ args });
  assert.equal(await status(other, { token: issuer.token() }), 503);
  assert.equal(issuer.hits.jwks, 1);
}));

test('oidc: settings that do not go together', async () => {
  const empty = scratch('jwks.json');
  writeFileSync(empty, '{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}');
  for (const [args, what] of [
    [[], /oidc-issuer/],
    [['--oidc-issuer', 'issuer'], /oidc-issuer/],
    [['--oidc-issuer', 'https://i.example'], /oidc-audience/],
    [['--oidc-issuer', 'https://i.example', '--oidc-audience', 'a', '--oidc-algorithms', 'HS256'], /oidc-algorithms/],
    [['--oidc-issuer', 'https://i.example', '--oidc-audience', 'a', '--oidc-algorithms', 'RS256,none'], /oidc-algorithms/],
    [['--oidc-issuer', 'https://i.example', '--oidc-audience', 'a', '--oidc-redirect', '/x'], /oidc-redirect/],
    [['--oidc-issuer', 'https://i.example', '--oidc-audience', 'a', '--oidc-jwks', scratch('none')], /oidc-jwks.*No such file/],
    [['--oidc-issuer', 'https://i.example', '--oidc-audience', 'a', '--oidc-jwks', empty], /no key that can be used/],
  ]) {
    const r = await ramet(['serve', '--listen', '127.0.0.1:0', '--db', scratch('store.db'), '--auth', 'oidc', ...args]);
    assert.notEqual(r.code, 0);
    assert.match(r.err, what);
  }
});

// ------------------------------------------------------------------ oidc in a browser

/** A browser as far as cookies and redirects go; SameSite as a browser has it. */
class Browser {
  constructor() {
    this.cookies = new Map(); // host → Map name → {value, same, path}
  }

  /** `from`: the site of the page that the request comes from; null: typed by hand. */
  async go(url, { from = null, method = 'GET', fields, headers = {} } = {}) {
    const at = new URL(url), own = this.cookies.get(at.host) ?? new Map();
    const foreign = from !== null && from !== at.host;
    const sent = [...own].filter(([, c]) => at.pathname.startsWith(c.path) && (!foreign || c.same === 'none' || (c.same === 'lax' && method === 'GET')))
      .map(([name, c]) => `${name}=${c.value}`);
    const r = await fetch(url, { method, redirect: 'manual', body: fields && new URLSearchParams(fields),
                                 headers: { Accept: 'text/html', ...(sent.length ? { Cookie: sent.join('; ') } : {}),
                                            ...(method === 'POST' ? { Origin: foreign ? `http://${from}` : at.origin } : {}), ...headers } });
    for (const line of r.headers.getSetCookie()) {
      const [pair, ...rest] = line.split('; '), name = pair.slice(0, pair.indexOf('=')), value = pair.slice(pair.indexOf('=') + 1);
      const attributes = Object.fromEntries(rest.map((x) => [x.split('=')[0].toLowerCase(), x.slice(x.indexOf('=') + 1)]));
      if (attributes['max-age'] === '0' || !value) own.delete(name);
      else own.set(name, { value, same: (attributes.samesite ?? 'lax').toLowerCase(), path: attributes.path ?? '/', line });
    }
    this.cookies.set(at.host, own);
    return { status: r.status, text: await r.text(), headers: r.headers, url, location: r.headers.get('location') && new URL(r.headers.get('location'), url).href };
  }
}

/** Signs in at the issuer's own pages, up to its redirect back to us (not followed). */
async function atIssuer(browser, url, login) {
  let r = await browser.go(url);
  for (let i = 0; i < 20; i++) {
    if (r.location?.includes('/login/callback')) return r.location;
    if (r.location) r = await browser.go(r.location);
    else {
      const action = /action="([^"]+)"/.exec(r.text)?.[1], prompt = /name="prompt" value="([^"]+)"/.exec(r.text)?.[1];
      assert.ok(action && prompt, `a form of the issuer: ${r.status} ${r.text.slice(0, 2000)}`);
      r = await browser.go(action, { method: 'POST', fields: prompt === 'login' ? { prompt, login, password: 'x' } : { prompt } });
    }
  }
  throw new Error('the issuer did not send the browser back');
}

async function withProvider(options, run) {
  const port = await freePort(), here = `http://127.0.0.1:${port}`;
  const issuer = await realIssuer([`${here}/login/callback`], options);
  try {
    const s = await start({ listen: `127.0.0.1:${port}`, args: ['--auth', 'oidc', '--oidc-issuer', issuer.url, '--oidc-client-id', 'ramet-page',
                            ...(options.secret ? ['--oidc-client-secret', options.secret] : [])] });
    await run(s, issuer, new Browser());
  } finally {
    await issuer.stop();
  }
}

for (const secret of [undefined, 'a secret: with +, & and %'])
  test(`sign-in at a real issuer, ${secret ? 'with a client secret' : 'as a public client'}`, () => withProvider({ secret }, async (s, issuer, browser) => {
    const page = await browser.go(`${s.url}/login?next=/docs`);
    assert.match(page.text, /href="\/login\/start\?next=%2Fdocs"/);
    const begin = await browser.go(`${s.url}/login/start?next=%2Fdocs`);
    assert.equal(begin.status, 303, begin.text);
    const asked = new URL(begin.location);
    assert.equal(asked.origin, issuer.url);
    assert.equal(asked.searchParams.get('code_challenge_method'), 'S256');
    for (const name of ['state', 'nonce', 'code_challenge']) assert.ok(asked.searchParams.get(name).length >= 43, name);
    const pending = browser.cookies.get(`127.0.0.1:${s.port}`).get('ramet_login');
    assert.match(pending.line, /HttpOnly; SameSite=Lax/);
    assert.ok(!pending.value.includes(asked.searchParams.get('state')));

    const callback = await atIssuer(browser, begin.location, 'ann');
    const landed = await browser.go(callback, { from: new URL(issuer.url).host });
    assert.equal(landed.status, 200, landed.text);
    assert.match(landed.text, /http-equiv="refresh" content="0;url=\/docs"/, 'a page of ours stands between');
    const own = browser.cookies.get(`127.0.0.1:${s.port}`);
    assert.match(own.get('ramet_session').line, /HttpOnly; SameSite=Strict/);
    assert.ok(!own.has('ramet_login'), 'the sign-in under way is over');
    const who = JSON.parse((await browser.go(`${s.url}/ramet/v1/me`, { from: `127.0.0.1:${s.port}` })).text);
    assert.equal(who.user, 'ann');
    assert.deepEqual(who.roles, ['auditor']);
    const headers = { Cookie: `ramet_session=${own.get('ramet_session').value}` };
    assert.equal(await status(s, { headers, json: {} }, 'sessions', 'POST'), 201);
    assert.equal(await status(s, { headers, user: 'bob' }), 403);
    assert.equal((await browser.go(callback)).status, 401, 'a callback is good once');

    const out = await browser.go(`${s.url}/logout`, { method: 'POST', from: `127.0.0.1:${s.port}` });
    assert.equal(out.status, 303);
    assert.equal((await browser.go(`${s.url}/ramet/v1/me`)).status, 401);
    assert.equal(await status(s, { headers }), 401, 'a copy of the cookie is over, too');
  }));

test('sign-in: callbacks that are not of this browser, or changed', () => withProvider({}, async (s, issuer, browser) => {
  const stranger = new Browser();
  const begin = await browser.go(`${s.url}/login/start`);
  const callback = await atIssuer(browser, begin.location, 'ann');
  const other = await stranger.go(`${s.url}/login/start`);
  const theirs = await atIssuer(stranger, other.location, 'mallory');
  const change = (url, changes) => {
    const u = new URL(url);
    for (const [k, v] of Object.entries(changes)) v === null ? u.searchParams.delete(k) : u.searchParams.set(k, v);
    return u.href;
  };
  const keep = structuredClone(browser.cookies);
  const ask = async (url, b = browser) => {
    b.cookies = structuredClone(keep);
    const r = await b.go(url, { from: new URL(issuer.url).host });
    assert.ok(![...b.cookies.values()].some((c) => c.has('ramet_session')), 'nobody is signed in');
    assert.doesNotMatch(r.text, /<script|javascript:/);
    return r.status;
  };
  assert.equal((await new Browser().go(callback)).status, 401, 'a browser without a sign-in under way');
  assert.equal(await ask(theirs), 401, 'another’s callback: nobody is signed in as mallory');
  assert.equal(await ask(change(callback, { state: 'x' })), 401);
  assert.equal(await ask(change(callback, { state: null })), 401);
  assert.equal(await ask(change(callback, { code: null })), 401);
  assert.equal(await ask(change(callback, { iss: 'https://evil.example' })), 401);
  assert.equal(await ask(change(callback, { code: null, error: '<script>alert(1)</script>' })), 401);
  assert.equal(await ask(change(theirs, { state: new URL(callback).searchParams.get('state') })), 401, 'their code with our state: PKCE');
  assert.equal(await ask(change(callback, { code: 'x' })), 401);
  browser.cookies = structuredClone(keep);
  assert.equal((await browser.go(change(callback, { session_state: 'more', scope: 'openid' }))).status, 200, 'what else an issuer adds does not matter');
}));

test('sign-in: an access token of the issuer is taken as a bearer token, an id_token for another client is not', () => withProvider({}, async (s, issuer) => {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer.url, aud: 'ramet-page', sub: 'ann', exp: now + 60, iat: now };
  assert.equal((await me(s, { token: sign(claims, issuer.signing, { header: { typ: 'at+jwt' } }) })).user, 'ann');
  assert.equal(await status(s, { token: sign({ ...claims, aud: 'another-page' }, issuer.signing) }), 401);
}));

test('sign-in: an issuer that does not answer', () => withIssuer(async (issuer) => {
  const s = await trusting(issuer, { args: ['--oidc-client-id', 'ramet'] });
  issuer.said = 'https://evil.example';
  assert.equal(await status(s, {}, '/login/start'), 503);
  assert.equal(await status(s, {}, '/login/start'), 503);
  assert.equal(issuer.hits.discovery, 1, 'it is not asked again at once');
  assert.equal(await status(s, { json: { token: 'x' } }, '/login', 'POST'), 404);
  const none = await trusting(issuer);
  assert.match((await call(none, 'GET', '/login')).text, /not set up/);
  assert.equal(await status(none, {}, '/login/start'), 404);
}));

await finish();
