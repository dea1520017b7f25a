// SPDX-License-Identifier: Apache-2.0
//
// HTTP itself, byte by byte: framing, limits, slow clients, conditions, compression, stopping.
import { gunzipSync } from 'node:zlib';
import {
  test, finish, start, call, must, metric, newSession, append, assert, slow, sleep, sse, eventually,
} from './lib.mjs';
import { CRLF, HOST, Wire, talk, get, post, isError } from './help/wire.mjs';

const alive = async (s) => assert.equal((await call(s, 'GET', '/healthz')).status, 200);

// ------------------------------------------------------------------ methods and connections

test('HEAD is GET without a body, and the connection goes on', async () => {
  const s = await start();
  const one = await talk(s, get('/healthz'), { n: 1 });
  const w = new Wire(s.port).send(`HEAD /healthz HTTP/1.1${CRLF}${HOST}${CRLF}`);
  await w.until(/\r\n\r\n/);
  const [head] = w.answers({ head: true });
  assert.equal(head.status, 200);
  assert.equal(head.headers['content-length'], one[0].headers['content-length']);
  assert.equal(head.headers['content-type'], one[0].headers['content-type']);
  w.got = '';
  w.send(get('/healthz'));
  await w.until(/"ok"/);
  w.close();
});

test('HEAD on a stream of events ends at once', async () => {
  const s = await start();
  const w = new Wire(s.port).send(`HEAD /ramet/v1/events HTTP/1.1${CRLF}${HOST}${CRLF}`);
  await w.until(/\r\n\r\n/);
  assert.equal(w.answers({ head: true })[0].status, 200);
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_streams'), 0));
  w.close();
});

test('OPTIONS names the methods', async () => {
  const s = await start();
  const r = await call(s, 'OPTIONS', 'sessions');
  assert.equal(r.status, 204);
  assert.match(r.headers.get('allow'), /\bGET\b/);
  assert.match(r.headers.get('allow'), /\bPOST\b/);
  assert.match(r.headers.get('allow'), /\bOPTIONS\b/);
  const [all] = await talk(s, `OPTIONS * HTTP/1.1${CRLF}${HOST}${CRLF}`, { n: 1 });
  assert.equal(all.status, 204);
  assert.match(all.headers.allow, /PATCH/);
});

test('404 and 405 are JSON, name the request and keep the connection', async () => {
  const s = await start();
  const list = await talk(s, get('/nowhere') + post('/nowhere', '{"a":1}') +
    `PUT /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Content-Length: 2${CRLF}${CRLF}{}` + get('/healthz'), { n: 4 });
  isError(list[0], 404, 'not_found');
  isError(list[1], 404, 'not_found');
  isError(list[2], 405, 'method_not_allowed');
  assert.match(list[2].headers.allow, /POST/);
  assert.equal(list[3].status, 200);
});

test('many requests on one connection, sent at once, are answered in their order', async () => {
  const s = await start();
  const { id } = await newSession(s);
  let all = '';
  for (let i = 0; i < 50; i++) {
    const more = `X-Request-ID: r${i}${CRLF}`;
    all += i % 3 === 0 ? get('/healthz', more)
      : i % 3 === 1 ? get(`/ramet/v1/sessions/${id}`, more)
      : post(`/ramet/v1/sessions/${id}/entries`, `{"entries":[{"role":"user","text":"${i}"}]}`, more);
  }
  const list = await talk(s, all, { n: 50 });
  assert.deepEqual(list.map((a) => a.headers['x-request-id']), list.map((_, i) => `r${i}`));
  assert.ok(list.every((a) => a.status === 200 || a.status === 201), JSON.stringify(list.find((a) => a.status > 201)));
  const page = await must(s, 'GET', `sessions/${id}`);
  assert.equal(page.head.length, 16);
});

test('HTTP/1.0 and Connection: close end the connection', async () => {
  const s = await start();
  const [old] = await talk(s, `GET /healthz HTTP/1.0${CRLF}${HOST}${CRLF}`);
  assert.equal(old.status, 200);
  const [one] = await talk(s, get('/healthz', `Connection: close${CRLF}`));
  assert.equal(one.headers.connection, 'close');
});

// ------------------------------------------------------------------ headers of an answer

test('X-Request-ID is echoed, and made when it is missing or unfit', async () => {
  const s = await start();
  const of = async (id) => (await talk(s, get('/nowhere', id === undefined ? '' : `X-Request-ID: ${id}${CRLF}`), { n: 1 }))[0];
  assert.equal((await of('abc-123')).body.request_id, 'abc-123');
  assert.equal((await of('x'.repeat(128))).headers['x-request-id'], 'x'.repeat(128));
  const made = new Set();
  for (const bad of [undefined, 'x'.repeat(129), 'a b', 'a"b', 'a\\b', 'a\xe4', ''])
    made.add((await of(bad)).headers['x-request-id']);
  assert.equal(made.size, 7, 'each is another');
  for (const id of made) assert.match(id, /^[0-9a-f]{32}$/);
});

test('security headers', async () => {
  const s = await start();
  const json = await call(s, 'GET', '/ramet/v1/me');
  assert.equal(json.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(json.headers.get('referrer-policy'), 'no-referrer');
  assert.equal(json.headers.get('cache-control'), 'no-store');
  const page = await call(s, 'GET', '/docs');
  assert.match(page.headers.get('content-type'), /^text\/html/);
  assert.equal(page.headers.get('x-frame-options'), 'DENY');
  assert.match(page.headers.get('content-security-policy'), /default-src 'none'.*frame-ancestors 'none'/);
});

test('large answers are compressed when the client takes it', async () => {
  const s = await start();
  const plain = await call(s, 'GET', '/openapi.json', { headers: { 'Accept-Encoding': 'identity' } });
  assert.ok(plain.text.length > 4096);
  assert.equal(plain.headers.get('content-encoding'), null);
  assert.match(plain.headers.get('vary'), /Accept-Encoding/);
  for (const [accept, packed] of [['gzip', true], ['deflate, gzip;q=0.5', true], ['*', true], ['br , GZIP', true],
                                  ['gzip;q=0', false], ['gzip;q=0.0', false], ['br', false], ['xgzip', false]]) {
    const [a] = await talk(s, get('/openapi.json', `Accept-Encoding: ${accept}${CRLF}`), { n: 1 });
    assert.equal(a.headers['content-encoding'], packed ? 'gzip' : undefined, accept);
    if (packed) {
      assert.equal(gunzipSync(Buffer.from(a.text, 'latin1')).toString(), plain.text);
      assert.match(a.headers.etag, /^W\//);
    }
  }
  const [small] = await talk(s, get('/healthz', `Accept-Encoding: gzip${CRLF}`), { n: 1 });
  assert.equal(small.headers['content-encoding'], undefined);
});

test('If-None-Match', async () => {
  const s = await start();
  const { id } = await newSession(s);
  for (const path of ['/openapi.json', `/ramet/v1/sessions/${id}`]) {
    const first = await call(s, 'GET', path, { headers: { 'Accept-Encoding': 'identity' } });
    const tag = first.headers.get('etag');
    assert.ok(tag, `${path} has an ETag`);
    for (const [list, hit] of [[tag, true], [`"a", ${tag}`, true], [`W/${tag}`, true], ['*', true],
                               ['"a"', false], [tag.slice(0, -2) + '"', false]]) {
      const text = get(path, `If-None-Match: ${list}${CRLF}`) + get('/healthz');
      const [a, next] = await talk(s, text, { n: 2 });
      assert.equal(a.status, hit ? 304 : 200, `${path} ${list}`);
      assert.equal(a.headers.etag?.replace('W/', ''), tag);
      assert.equal(next.status, 200);
    }
  }
});

// ------------------------------------------------------------------ the request target

test('paths are split first and decoded once', async () => {
  const s = await start();
  await newSession(s, { id: 'a/b' });
  assert.equal((await call(s, 'GET', 'sessions/a%2Fb')).body.id, 'a/b');
  assert.equal((await call(s, 'GET', 'sessions/a%2fb')).body.id, 'a/b');
  for (const [path, status] of [
    ['/ramet/v1/sessions/a/b', 404], ['/ramet/v1/sessions/x%2F..%2F..', 404], ['/ramet/v1/../v1/me', 404],
    ['/ramet//v1/me', 404], ['//ramet/v1/me', 404], ['/ramet/v1/me/', 404], ['/ramet/v1/./me', 404],
    ['/ramet%2Fv1%2Fme', 404], ['/ramet/v1/sessions/%252e', 404], ['/ramet/v1/%6De', 200],
    ['/../../etc/passwd', 404], ['/..%2f..%2fetc%2fpasswd', 404], ['/%2e%2e/%2e%2e/etc/passwd', 404],
    ['/ramet/v1/sessions/%00', 400], ['/ramet/v1/sessions/a%00b', 400], ['/ramet/v1/sessions/%', 400],
    ['/ramet/v1/sessions/%4', 400], ['/ramet/v1/sessions/%zz', 400], ['/ramet/v1/sessions/%ff', 400],
    ['/ramet/v1/sessions/%c0%af', 400], ['/ramet/v1/sessions/%ed%a0%80', 400], ['/ramet/v1/sessions/\xff', 400],
    ['/ramet/v1/sessions/a b', 400], ['/ramet/v1/sessions/a\tb', 400], ['ramet/v1/me', 400], ['*', 400],
    ['/ramet/v1/sessions?limit=%ff', 400], ['/ramet/v1/sessions?limit=%00', 400], ['/ramet/v1/sessions?a=%', 400],
    [`/${'a/'.repeat(100)}`, 400], [`/ramet/v1/sessions?${'limit=1&'.repeat(100)}`, 400],
  ]) {
    const [a] = await talk(s, get(path), { n: 1 });
    assert.equal(a.status, status, `${path}: ${a.text}`);
    if (status !== 200) isError(a, status, a.body.code);
  }
});

test('an absolute target is taken, but not for another host', async () => {
  const s = await start();
  const to = (target) => talk(s, `GET ${target} HTTP/1.1${CRLF}${HOST}${CRLF}`, { n: 1 });
  assert.equal((await to('http://localhost/healthz'))[0].status, 200);
  assert.equal((await to('HTTP://LOCALHOST/healthz?'))[0].status, 200);
  isError((await to('http://elsewhere/healthz'))[0], 400, 'invalid_request');
});

// ------------------------------------------------------------------ where a request ends

test('a request whose end is in doubt is refused, and nothing behind it is read', async () => {
  const s = await start();
  const path = '/ramet/v1/sessions';
  const smuggled = get('/healthz');
  for (const [name, header, body] of [
    ['no Host', null, ''],
    ['two hosts', `${HOST}Host: other${CRLF}`, ''],
    ['two lengths', `${HOST}Content-Length: 2${CRLF}Content-Length: 3${CRLF}`, '{}'],
    ['two equal lengths', `${HOST}Content-Length: 2${CRLF}Content-Length: 2${CRLF}`, '{}'],
    ['length and chunks', `${HOST}Content-Length: 2${CRLF}Transfer-Encoding: chunked${CRLF}`, `0${CRLF}${CRLF}`],
    ['an unknown coding', `${HOST}Transfer-Encoding: gzip, chunked${CRLF}`, `0${CRLF}${CRLF}`],
    ['two codings', `${HOST}Transfer-Encoding: chunked${CRLF}Transfer-Encoding: chunked${CRLF}`, `0${CRLF}${CRLF}`],
    ['identity', `${HOST}Transfer-Encoding: identity${CRLF}`, '{}'],
    ['a blank before the colon', `${HOST}Content-Length : 2${CRLF}`, '{}'],
  ]) {
    const text = `POST ${path} HTTP/1.1${CRLF}${header ?? ''}${CRLF}${body}${smuggled}`;
    const list = await talk(s, text);
    assert.equal(list.length, 1, `${name}: one answer`);
    isError(list[0], 400, 'invalid_request');
    assert.equal(list[0].headers.connection, 'close', name);
  }
  assert.deepEqual((await must(s, 'GET', 'sessions')).sessions, [], 'nothing was made');
});

test('what is no HTTP at all is refused once, in our own form, and the server goes on', async () => {
  const s = await start();
  const chunked = `POST /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Transfer-Encoding: chunked${CRLF}${CRLF}`;
  const length = (n) => post('/ramet/v1/sessions', '{}').replace(/Length: \d+/, `Length: ${n}`);
  for (const [name, bytes, status, code] of [
    ['a line without colon', `GET /healthz HTTP/1.1${CRLF}${HOST}garbage${CRLF}${CRLF}`, 400],
    ['no version', `GET /healthz${CRLF}${CRLF}`, 400],
    ['no request line', `garbage${CRLF}${CRLF}`, 400],
    ['another protocol', `GET /healthz HTTQ/1.1${CRLF}${HOST}${CRLF}`, 400],
    ['a method that is none', get('/healthz').replace('GET', 'G(T'), 400],
    ['HTTP/2, almost (what is, goes to gRPC)', `PRJ * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}`, 505, 'http_version'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    ...['abc', '-1', '+2', '0x2', '2,2', '2 2', '', '2.0', '\t'].map((n) => [`a length that is '${n}'`, length(n), 400]),
    ['a length past counting', length('99999999999999999999'), 413, 'too_large'],
    ['lines that end with LF', get('/healthz').replaceAll(CRLF, '\n'), 400],
    ['a header line that ends with LF', get('/healthz').replace(HOST, 'Host: localhost\n'), 400],
    ['an empty line of LF', get('/healthz').slice(0, -2) + '\n', 400],
    ['a lone CR', get('/healthz', `X: a\rb${CRLF}`), 400],
    ['a NUL in a value', get('/healthz', `X: a\0b${CRLF}`), 400],
    ['a NUL in the value that decides', get('/healthz', `X-User-Id: alice\0bob${CRLF}`), 400],
    ['a NUL in a name', get('/healthz', `X\0Y: a${CRLF}`), 400],
    ['a NUL in the target', get('/heal\0thz'), 400],
    ['another control character', get('/healthz', `X: a\x01b${CRLF}`), 400],
    ['a folded line', get('/healthz', `X: a${CRLF} b: c${CRLF}`), 400],
    ['an empty name', get('/healthz', `: a${CRLF}`), 400],
    ['a chunk size that is none', `${chunked}zz${CRLF}ab${CRLF}0${CRLF}${CRLF}`, 400],
    ['an empty chunk size', `${chunked}${CRLF}`, 400],
    ['a signed chunk size', `${chunked}+2${CRLF}{}${CRLF}0${CRLF}${CRLF}`, 400],
    ['a chunk that is longer', `${chunked}2${CRLF}{}{}${CRLF}0${CRLF}${CRLF}`, 400],
    ['a chunk size that ends with LF', `${chunked}2\n{}${CRLF}0${CRLF}${CRLF}`, 400],
    ['a chunk that ends with LF', `${chunked}2${CRLF}{}\n0${CRLF}${CRLF}`, 400],
    ['a last chunk that ends with LF', `${chunked}2${CRLF}{}${CRLF}0\n\n`, 400],
    ['an empty line of LF behind the chunks', `${chunked}2${CRLF}{}${CRLF}0${CRLF}\n`, 400],
    ['an extension with LF', `${chunked}2;x\ny${CRLF}{}${CRLF}0${CRLF}${CRLF}`, 400],
    ['an extension without end', `${chunked}2;${'x'.repeat(9000)}${CRLF}{}${CRLF}0${CRLF}${CRLF}`, 400],
    ['a trailer with NUL', `${chunked}2${CRLF}{}${CRLF}0${CRLF}X: \0${CRLF}${CRLF}`, 400],
    ['a chunk size past counting', `${chunked}fffffffffffffffff${CRLF}{}${CRLF}`, 413, 'too_large'],
    ['a header past all bounds', get('/healthz', `X: ${'x'.repeat(100000)}${CRLF}`), 431, 'header_too_large'],
    ['a target past all bounds', get(`/${'x'.repeat(100000)}`), 414, 'uri_too_long'],
  ]) {
    const list = await talk(s, bytes + get('/readyz'));
    assert.equal(list.length, 1, `${name}: one answer, not ${JSON.stringify(list)}`);
    isError(list[0], status, code ?? 'invalid_request');
    assert.equal(list[0].headers.connection, 'close', name);
    await alive(s);
  }
  assert.deepEqual((await must(s, 'GET', 'sessions')).sessions, [], 'nothing was made');
});

test('chunks in any cut make the same body', async () => {
  const s = await start();
  const body = JSON.stringify({ title: 'cut to pieces' });
  const head = `POST /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Content-Type: application/json${CRLF}` +
    `Transfer-Encoding: chunked${CRLF}${CRLF}`;
  const one = [...body].map((c) => `1;ext=1${CRLF}${c}${CRLF}`).join('') + `0${CRLF}X-Trailer: 1${CRLF}${CRLF}`;
  const [a] = await talk(s, head + one, { n: 1 });
  assert.equal(a.status, 201, a.text);
  assert.equal(a.body.title, 'cut to pieces');
  const w = new Wire(s.port);
  await w.drip([...head, ...one.slice(0, 40)].map((c) => c), 0);
  await w.drip([one.slice(40, 41), one.slice(41, 50), one.slice(50)], 20);
  await w.until(/"title":"cut to pieces"/);
  w.close();
});

// ------------------------------------------------------------------ sizes

test('a header over the limit', async () => {
  const s = await start({ args: ['--header-max', '4096'] });
  isError((await talk(s, get('/healthz', `X: ${'x'.repeat(4200)}${CRLF}`)))[0], 431, 'header_too_large');
  isError((await talk(s, get(`/${'x'.repeat(2100)}`)))[0], 414, 'uri_too_long');
  assert.equal((await talk(s, get('/healthz', `X: ${'x'.repeat(2000)}${CRLF}`), { n: 1 }))[0].status, 200);
});

test('a body over the limit is refused before it is there', async () => {
  const s = await start({ args: ['--body-max', '1048576'] });
  const head = (n, more = '') => `POST /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Content-Type: application/json${CRLF}` +
    `Content-Length: ${n}${CRLF}${more}${CRLF}`;
  const w = new Wire(s.port).send(head(1048577));
  await w.until(/too_large/);
  isError(w.answers()[0], 413, 'too_large');
  w.close();
  // All of a much longer one is sent by a client that does not listen: it still gets the answer.
  const much = new Wire(s.port).send(head(64 << 20));
  for (let i = 0; i < 40 && !much.over; i++) {
    much.send('x'.repeat(65536));
    await sleep(1);
  }
  await much.until(/too_large/);
  isError(much.answers()[0], 413, 'too_large');
  await much.end();
  await alive(s);
});

test('a chunked body over the limit is refused as soon as it is', async () => {
  const s = await start({ args: ['--body-max', '65536'] });
  const w = new Wire(s.port).send(`POST /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Transfer-Encoding: chunked${CRLF}${CRLF}`);
  for (let i = 0; i < 8; i++) w.send(`2000${CRLF}${' '.repeat(8192)}${CRLF}`);
  await sleep(200);
  assert.equal(w.got, '', 'as much as is allowed');
  w.send(`1${CRLF}x${CRLF}`);
  await w.until(/too_large/);
  isError(w.answers()[0], 413, 'too_large');
  assert.equal(w.answers()[0].headers.connection, 'close');
  await w.end();
});

test('Expect: 100-continue', async () => {
  const s = await start({ args: ['--body-max', '65536'] });
  const head = (path, n) => `POST ${path} HTTP/1.1${CRLF}${HOST}Content-Type: application/json${CRLF}` +
    `Content-Length: ${n}${CRLF}Expect: 100-continue${CRLF}${CRLF}`;
  const w = new Wire(s.port).send(head('/ramet/v1/sessions', 2));
  await w.until(/^HTTP\/1\.1 100 /);
  w.send('{}');
  await w.until(/HTTP\/1\.1 201 /);
  w.close();
  for (const [path, n, status] of [['/nowhere', 2, 404], ['/healthz', 2, 405], ['/ramet/v1/sessions', 65537, 413]]) {
    const [a] = await talk(s, head(path, n));
    isError(a, status, a.body.code);
  }
});

test('an encoded body is refused', async () => {
  const s = await start();
  const [a] = await talk(s, post('/ramet/v1/sessions', '{}', `Content-Encoding: gzip${CRLF}`), { n: 1 });
  isError(a, 415, 'unsupported_encoding');
});

// ------------------------------------------------------------------ time

test('clients that are slow are closed, and hold up nobody', async () => {
  const s = await start({ args: ['--request-seconds', '1', '--idle-seconds', '2', '--workers', '1', '--threads', '1'] });
  const upload = `POST /ramet/v1/attachments HTTP/1.1${CRLF}${HOST}Content-Length: 100000${CRLF}${CRLF}`;
  const body = `POST /ramet/v1/sessions HTTP/1.1${CRLF}${HOST}Content-Length: 1000${CRLF}${CRLF}`;
  const kinds = { line: '', header: `GET /healthz HTTP/1.1${CRLF}X: `, body, upload };
  const wires = Object.values(kinds).flatMap((first) => Array.from({ length: 40 }, () => new Wire(s.port).send(first)));
  const before = Date.now();
  const drips = wires.map((w) => w.drip('x'.repeat(200), 50));
  await sleep(200);
  for (let i = 0; i < 20; i++) {
    const start = Date.now();
    await newSession(s);
    assert.ok(Date.now() - start < 500 * slow, 'others are served');
  }
  await Promise.all(wires.map((w) => w.end(5000 * slow)));
  await Promise.all(drips);
  assert.ok(Date.now() - before < 6000 * slow, `${Date.now() - before} ms`);
  for (const w of wires.slice(80)) assert.match(w.got, /^HTTP\/1\.1 408 .*request_timeout/s);
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_connections') < 10));
});

test('a connection may be idle for a while only, but a quick one goes on', async () => {
  const s = await start({ args: ['--idle-seconds', '1'] });
  const w = new Wire(s.port);
  for (let i = 0; i < 5; i++) {
    w.send(get('/healthz'));
    await sleep(500);
    assert.ok(!w.over, 'used now and then');
  }
  assert.equal(w.answers().length, 5);
  const ms = await w.end(5000 * slow);
  assert.ok(ms < 3000 * slow, `${ms} ms`);
});

test('a client that leaves in the middle of an answer leaves nothing behind', async () => {
  const s = await start();
  const { id } = await must(s, 'POST', 'attachments?name=x.bin', { body: Buffer.alloc(16 << 20, 'x') });
  const before = await metric(s, 'ramet_http_connections');
  const wires = Array.from({ length: 10 }, () => new Wire(s.port, { paused: true }).send(get(`/ramet/v1/attachments/${id}`)));
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_connections'), before + 10));
  await sleep(100);
  wires.forEach((w) => w.close());
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_connections') <= before));
  const whole = await fetch(`${s.url}/ramet/v1/attachments/${id}`);
  assert.equal((await whole.arrayBuffer()).byteLength, 16 << 20);
});

// ------------------------------------------------------------------ uploads

test('a long upload, whole or in chunks, arrives as it was', async () => {
  const s = await start();
  const bytes = Buffer.alloc(5 << 20);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (i * 2654435761) >>> 13;
  const whole = await must(s, 'POST', 'attachments?name=a', { body: bytes });
  const w = new Wire(s.port).send(`POST /ramet/v1/attachments?name=b HTTP/1.1${CRLF}${HOST}Transfer-Encoding: chunked${CRLF}${CRLF}`);
  for (let at = 0, n = 1; at < bytes.length; at += n, n = (n * 7 + 3) % 40000 + 1)
    w.send(`${Math.min(n, bytes.length - at).toString(16)}${CRLF}${bytes.subarray(at, at + n).toString('latin1')}${CRLF}`);
  w.send(`0${CRLF}${CRLF}`);
  await w.until(/"sha256"/);
  const [a] = w.answers();
  w.close();
  assert.equal(a.status, 201);
  assert.equal(a.body.sha256, whole.sha256);
  assert.equal(a.body.size, whole.size);
});

test('an upload over its limit, and one that breaks off', async () => {
  const s = await start({ args: ['--attachment-max', '1048576'] });
  const head = `POST /ramet/v1/attachments HTTP/1.1${CRLF}${HOST}`;
  isError((await talk(s, `${head}Content-Length: 99999999${CRLF}${CRLF}`))[0], 413, 'too_large');
  const w = new Wire(s.port).send(`${head}Transfer-Encoding: chunked${CRLF}${CRLF}`);
  for (let i = 0; i < 40 && !w.over; i++) w.send(`10000${CRLF}${'x'.repeat(65536)}${CRLF}`);
  await w.until(/too_large/);
  assert.equal(w.answers()[0].status, 413);
  w.close();
  for (let i = 0; i < 20; i++) {
    const broken = new Wire(s.port).send(`${head}Content-Length: 1000000${CRLF}${CRLF}${'x'.repeat(20000 * i)}`);
    await sleep(5);
    broken.close();
  }
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_connections') <= 2), 10000 * slow);
  assert.equal(await metric(s, 'ramet_attachments'), 0);
});

test('a client that ends its side: answered when its request is whole, else let go', async () => {
  const s = await start({ args: ['--request-seconds', '60', '--idle-seconds', '60'] });
  const bytes = 'x'.repeat(300_000), head = `POST /ramet/v1/attachments HTTP/1.1${CRLF}${HOST}`;
  const half = (text) => {
    const w = new Wire(s.port, { allowHalfOpen: true });
    w.socket.end(text, 'latin1');
    return w;
  };
  const asked = [], left = [];
  for (let i = 0; i < 20; i++) {
    asked.push(half(get('/healthz')), half(get('/healthz') + get('/readyz')));
    left.push(half('GET /heal'), half(`GET /healthz HTTP/1.1${CRLF}Host: `), half(get('/healthz') + 'GET /'),
              half(`${head}Content-Length: ${bytes.length}${CRLF}${CRLF}${bytes.slice(i + 1)}`));
  }
  for (const w of asked.concat(left)) await w.end();
  assert.deepEqual(asked.map((w) => w.answers().map((a) => a.status).join()), Array(20).fill(['200', '200,200']).flat());
  for (const [i, w] of left.entries()) assert.deepEqual(w.answers().map((a) => a.status), i % 4 === 2 ? [200] : []);
  await eventually(async () => assert.ok(await metric(s, 'ramet_http_connections') <= 1));
});

test('a client that ends its side right behind its request is answered, whoever runs it', async () => {
  const s = await start();
  const { id } = await newSession(s);
  const entry = (i) => post(`/ramet/v1/sessions/${id}/entries`, `{"entries":[{"role":"user","text":"${i}"}]}`);
  const page = get(`/ramet/v1/sessions/${id}/entries`);
  const wires = [], wanted = [];
  for (let i = 0; i < 60; i++) {
    const [text, statuses] = i % 3 === 0 ? [entry(i), '200'] : i % 3 === 1 ? [page, '200'] : [entry(i) + page + get('/healthz'), '200,200,200'];
    const w = new Wire(s.port, { allowHalfOpen: true });
    w.socket.end(text, 'latin1');
    wires.push(w);
    wanted.push(statuses.replaceAll('201', '200'));
  }
  for (const w of wires) await w.end(30000 * slow);
  const got = wires.map((w) => w.answers().map((a) => (a.status === 201 ? 200 : a.status)).join());
  assert.deepEqual(got, wanted);
  assert.equal((await must(s, 'GET', `sessions/${id}`)).head.length, 40);
  // A stream goes on, too.
  const w = new Wire(s.port, { allowHalfOpen: true });
  w.socket.end(get(`/ramet/v1/events?session=${id}`), 'latin1');
  await w.until(/HTTP\/1\.1 200 /);
  await append(s, id, 'told to one who only listens');
  await w.until(/event: /);
  w.close();
});

// ------------------------------------------------------------------ how many

test('connections past the limit are told so', async () => {
  const s = await start({ args: ['--connections', '10'] });
  const wires = Array.from({ length: 10 }, () => new Wire(s.port).send(get('/healthz')));
  for (const w of wires) await w.until(/"ok"/);
  const [a] = await talk(s, get('/healthz'));
  isError(a, 503, 'too_many_connections');
  assert.equal(a.headers['retry-after'], '1');
  assert.equal(a.headers.connection, 'close');
  wires[0].close();
  await eventually(async () => assert.equal((await talk(s, get('/healthz'), { n: 1 }))[0].status, 200));
  wires.forEach((w) => w.close());
});

test('connections of one address past the limit are told so', async () => {
  const s = await start({ args: ['--connections-per-address', '4'] });
  const wires = Array.from({ length: 4 }, () => new Wire(s.port).send(get('/healthz')));
  for (const w of wires) await w.until(/"ok"/);
  isError((await talk(s, get('/healthz')))[0], 503, 'too_many_connections');
  for (const w of wires) {
    w.send(get('/healthz'));
    await w.until(/"ok".*"ok"/s);
    w.close();
  }
  await eventually(async () => assert.equal((await talk(s, get('/healthz'), { n: 1 }))[0].status, 200));
});

// ------------------------------------------------------------------ streams

test('a reader of events that is too slow is dropped', async () => {
  const s = await start({ args: ['--stream-bytes', '65536', '--stall-seconds', '1'] });
  const { id } = await newSession(s);
  const quick = await sse(s, `?session=${id}`);
  const lazy = new Wire(s.port, { paused: true }).send(get(`/ramet/v1/events?session=${id}`));
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_streams'), 2));
  const entries = Array.from({ length: 200 }, (_, i) => ({ role: 'user', text: `entry ${i} ${'x'.repeat(2000)}` }));
  for (let i = 0; i < 60 && (await metric(s, 'ramet_http_streams')) > 1; i++) {
    await must(s, 'POST', `sessions/${id}/entries`, { json: { entries } });
    await quick.until(() => quick.events.length >= (i + 1) * entries.length);
  }
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_streams'), 1), 20000 * slow);
  assert.ok((await metric(s, 'ramet_live_dropped_total')) >= 1);
  const { entries: [last] } = await append(s, id, 'the last one');
  await quick.until(() => quick.events.some((e) => e.data.includes(last.id)));
  quick.close();
  lazy.socket.resume();
  await lazy.end();
}, { seconds: 120 });

// ------------------------------------------------------------------ stopping

test('what is running when the server stops is finished, what comes then is not taken', async () => {
  const s = await start();
  const { id } = await newSession(s);
  const idle = new Wire(s.port).send(get('/healthz'));
  await idle.until(/"ok"/);
  const body = JSON.stringify({ entries: [{ role: 'user', text: 'written while it stops' }] });
  const half = new Wire(s.port).send(post(`/ramet/v1/sessions/${id}/entries`, body).slice(0, -20));
  const events = await sse(s, '');
  await sleep(100);
  s.child.kill('SIGTERM');
  await idle.end(2000 * slow);
  await events.closed;
  await sleep(100);
  const late = new Wire(s.port).send(get('/healthz'));
  await late.end();
  assert.equal(late.error, 'ECONNREFUSED');
  half.send(body.slice(-20));
  await half.until(/HTTP\/1\.1 20[01] /);
  assert.equal(half.answers()[0].headers.connection, 'close');
  assert.deepEqual(await s.end, { code: 0, signal: null });
  const again = await start({ db: s.db });
  assert.equal((await must(again, 'GET', `sessions/${id}`)).head.length, 1, 'it is there');
});

test('a client that does not finish its request does not hold the end up for long', async () => {
  const s = await start({ args: ['--stop-seconds', '1'] });
  const half = new Wire(s.port).send(post('/ramet/v1/sessions', '{}').slice(0, -1));
  await sleep(100);
  const before = Date.now();
  s.child.kill('SIGTERM');
  assert.deepEqual(await s.end, { code: 0, signal: null });
  assert.ok(Date.now() - before < 4000 * slow);
  await half.end();
});

test('under load it stops in order', async () => {
  const s = await start();
  const { id } = await newSession(s);
  let going = true, good = 0;
  const loops = Array.from({ length: 32 }, async () => {
    while (going) {
      try {
        const r = await call(s, 'POST', `sessions/${id}/entries`, { json: { entries: [{ role: 'user', text: 'x' }] } });
        if (r.status < 300) good++;
      } catch { going = false; }
    }
  });
  await sleep(500);
  s.child.kill('SIGTERM');
  assert.deepEqual(await s.end, { code: 0, signal: null });
  going = false;
  await Promise.all(loops);
  const again = await start({ db: s.db });
  const { head } = await must(again, 'GET', `sessions/${id}`);
  assert.ok(head.length >= good, `${head.length} of ${good} acknowledged`);
});

await finish();
