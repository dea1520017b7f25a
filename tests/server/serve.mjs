// SPDX-License-Identifier: Apache-2.0
//
// Starting and stopping, settings, what the server tells about itself, the log.
import net from 'node:net';
import http from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  test, finish, start, call, must, metric, readMetrics, ramet, scratch, raw, append, newSession, assert, slow, sse, eventually, run,
} from './lib.mjs';

/** `ramet serve` that must not start: {code, err}. */
const refused = async (...args) => {
  const { code, out, err } = await ramet(['serve', '--db', scratch('no.db'), ...args]);
  assert.equal(out, '', 'nothing on standard output');
  assert.match(err, /^ramet: [^\n]+\n$/, 'one line tells why');
  return { code, err };
};

// ------------------------------------------------------------------ starting

test('it says where it listens when it is ready', async () => {
  const s = await start();
  await eventually(() => assert.match(s.out, /\/docs/));
  assert.equal(s.out.split('\n')[0], `listening on http://127.0.0.1:${s.port}`);
  assert.ok(s.out.includes(s.db));
  assert.equal(s.err, '');
  const r = await call(s, 'GET', '/healthz');
  assert.equal(r.status, 200);
  assert.deepEqual(r.body, { status: 'ok' });
});

test('port 0 gives two servers two ports', async () => {
  const a = await start(), b = await start();
  assert.notEqual(a.port, b.port);
});

test('on IPv6', async () => {
  const s = await start({ listen: '[::1]:0' });
  assert.equal(s.url, `http://[::1]:${s.port}`);
  assert.equal((await call(s, 'GET', '/healthz')).status, 200);
});

test('a port that is taken', async () => {
  const s = await start();
  const { code, err } = await refused('--listen', `127.0.0.1:${s.port}`);
  assert.equal(code, 6);
  assert.match(err, new RegExp(`${s.port}`));
});

test('addresses that are none', async () => {
  for (const listen of ['7077', '127.0.0.1', '127.0.0.1:x', '127.0.0.1:70000', ':80', '::1:80', '127.0.0.1:-1'])
    assert.equal((await refused('--listen', listen)).code, 2, listen);
});

test('auth local stays on loopback', async () => {
  for (const listen of ['0.0.0.0:0', '[::]:0'])
    assert.equal((await refused('--listen', listen)).code, 2, listen);
});

test('a store that is none', async () => {
  const db = scratch('text.db');
  writeFileSync(db, 'this is not a store, but a text of some length\n'.repeat(100));
  const { code, err } = await ramet(['serve', '--listen', '127.0.0.1:0', '--db', db]);
  assert.equal(code, 7);
  assert.match(err, /^ramet: [^\n]+\n$/);
});

test('errors for programs', async () => {
  const { code, err } = await ramet(['serve', '--json', '--listen', 'x']);
  assert.equal(code, 2);
  assert.equal(JSON.parse(err).field, 'listen');
});

// ------------------------------------------------------------------ settings

const withFile = async (text, ...args) => {
  const file = scratch('ramet.conf');
  writeFileSync(file, text);
  const r = await refused('--config', file, ...args);
  return { ...r, err: r.err.replaceAll(file, 'FILE') };
};

test('a file of settings; a flag goes before it', async () => {
  const file = scratch('ramet.conf');
  const db = scratch('file.db');
  writeFileSync(file, `# comment\n\n  log-format=json\r\n access-log = on \ndefault-user = "the user"\nstreams = 3\n`);
  const s = await start({ db, args: ['--config', file, '--streams', '4'] });
  assert.equal((await must(s, 'GET', 'me')).user, 'the user');
  await s.stop();
  // A request is logged when it is over, which may be after the stop began.
  const lines = s.err.split('\n').filter((l) => l.startsWith('{')).map((l) => JSON.parse(l));
  assert.ok(lines.some((l) => l.path === '/ramet/v1/me'), s.err);
});

test('a file of settings with faults', async () => {
  for (const [text, says] of [
    ['\n\nlsten = 1\n', /FILE:3: there is no setting 'lsten'/],
    ['streams 5', /FILE:1: .*name = value/],
    ['streams = many', /FILE:1: streams is 'many'; it must be a whole number from 1 to/],
    ['streams = 0', /FILE:1: streams/],
    ['streams = 99999999999999999999', /FILE:1: streams/],
    ['streams = 5\nauth = local\nstreams = 6', /FILE:3: streams is set twice/],
    ['auth = open', /FILE:1: auth is 'open'; it must be one of local\|tokens\|oidc/],
    ['access-log = yes', /FILE:1: access-log/],
    ['a\0b = 1', /FILE is no text/],
    ['x'.repeat(2 ** 20 + 1), /FILE is over 1 MiB/],
  ]) {
    const { code, err } = await withFile(text);
    assert.equal(code, 2);
    assert.match(err, says);
  }
  assert.match((await refused('--config', scratch('none'))).err, /cannot be read: No such file/);
});

test('flags with faults', async () => {
  assert.match((await refused('--streams', 'x')).err, /--streams is 'x'/);
  assert.match((await refused('--auth', 'none')).err, /one of local\|tokens\|oidc/);
  assert.match((await refused('--lisen', '1')).err, /did you mean '--listen'/);
});

test('docs/server.md has the settings as they are', async () => {
  const { out } = await ramet(['help', '--settings']);
  const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');
  const between = page.split('<!-- settings -->\n')[1]?.split('<!-- /settings -->')[0];
  assert.equal(between, out);
});

test('docs/server.md tells every metric', async () => {
  const s = await start();
  const page = readFileSync(new URL('../../docs/server.md', import.meta.url), 'utf8');
  const names = [...readMetrics((await call(s, 'GET', '/metrics')).text).keys()];
  assert.deepEqual(names.filter((n) => !new RegExp(`\`${n}[\`{]`).test(page)), []);
  const told = [...page.matchAll(/`(ramet_[a-z_]+|process_[a-z_]+)[`{]/g)].map((m) => m[1]);
  assert.deepEqual(told.filter((n) => !names.includes(n)), []);
});

test('the tour of the README', async () => {
  const page = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const block = page.split('<!-- http')[1].split('```')[1].trim().split('\n');
  const s = await start();
  const [first, ...rest] = block;
  assert.equal(first, '$ api=http://127.0.0.1:7077/ramet/v1');
  assert.ok(rest.length >= 6);
  for (let i = 0; i < rest.length; i += 2) {
    const { out } = await run('bash', ['-c', rest[i].slice(2)], { env: { api: `${s.url}/ramet/v1` } });
    const escaped = rest[i + 1].split('…').map((t) => t.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    assert.match(out, new RegExp(`^${escaped.join('.*')}`), rest[i]);
  }
});

// ------------------------------------------------------------------ stopping

test('SIGTERM and SIGINT end it with 0', async () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    const s = await start();
    s.child.kill(signal);
    assert.deepEqual(await s.end, { code: 0, signal: null });
    assert.match(s.err, /msg=stopping/);
    assert.match(s.err, /msg=stopped/);
  }
});

test('what was acknowledged before SIGKILL is there afterwards', async () => {
  const s = await start();
  await newSession(s, { id: 'kept' });
  await append(s, 'kept', 'one');
  s.child.kill('SIGKILL');
  await s.end;
  const again = await start({ db: s.db });
  assert.equal((await must(again, 'GET', 'sessions/kept/entries')).entries[0].text, 'one');
});

test('a stop lets running requests finish, and takes no new ones', async () => {
  const s = await start();
  await newSession(s, { id: 'x' });
  // The header is sent, half of the body is missing: the request is under way.
  const body = JSON.stringify({ entries: [{ role: 'user', text: 'late' }] });
  const socket = net.connect(s.port, '127.0.0.1');
  let got = '';
  socket.on('data', (d) => (got += d));
  socket.on('error', () => {});
  socket.write(`POST /ramet/v1/sessions/x/entries HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`);
  await sleep(200);
  s.child.kill('SIGTERM');
  await sleep(200);
  const refusedNow = await new Promise((done) => {
    const other = net.connect(s.port, '127.0.0.1', () => { other.destroy(); done(false); });
    other.on('error', () => done(true));
  });
  assert.ok(refusedNow, 'a new connection is refused');
  socket.write(body.slice(10));
  assert.deepEqual(await s.end, { code: 0, signal: null });
  await sleep(50);
  assert.match(got, /^HTTP\/1\.1 201 /);
  const again = await start({ db: s.db });
  assert.equal((await must(again, 'GET', 'sessions/x/entries')).entries.length, 1);
});

test('a stop ends streams and idle connections at once', async () => {
  const s = await start();
  const stream = await sse(s);
  const agent = new http.Agent({ keepAlive: true });
  await new Promise((done) => http.get(`${s.url}/healthz`, { agent }, (r) => r.resume().on('end', done)));
  const before = Date.now();
  await s.stop();
  assert.ok(Date.now() - before < 2000 * slow, `${Date.now() - before} ms`);
  await stream.closed;
  agent.destroy();
});

// Two threads that take the listening socket out of one epoll set are apart by nanoseconds: the
// library that is loaded first makes that milliseconds.
test('a stop while connections come and go', async () => {
  const code = scratch('slow.c'), library = scratch('slow.so');
  writeFileSync(code, `
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <sys/epoll.h>
    #include <unistd.h>
    int epoll_ctl(int set, int op, int fd, struct epoll_event *e)
    {
        int (*real)(int, int, int, struct epoll_event *) = dlsym(RTLD_NEXT, "epoll_ctl");
        if (op == EPOLL_CTL_DEL)
            usleep(2000);
        return real(set, op, fd, e);
    }`);
  const made = await run('gcc', ['-shared', '-fPIC', '-o', library, code, '-ldl']);
  assert.equal(made.code, 0, made.err);
  for (let round = 0; round < 12; round++) {
    const s = await start({ env: {
      LD_PRELOAD: library, ASAN_OPTIONS: `verify_asan_link_order=0:${process.env.ASAN_OPTIONS ?? ''}`,
    } });
    let on = true;
    const visit = () => {
      if (!on) return;
      const socket = net.connect(s.port, '127.0.0.1');
      socket.write('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
      socket.on('data', () => socket.destroy());
      socket.on('error', () => {});
      socket.on('close', () => setImmediate(visit));
    };
    for (let i = 0; i < 20; i++) visit();
    await sleep(40 + Math.random() * 30);
    await s.stop().finally(() => (on = false));
  }
});

test('a second signal ends it at once', async () => {
  const s = await start();
  const socket = net.connect(s.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /ramet/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  await sleep(200);
  s.child.kill('SIGTERM');
  await sleep(300);
  assert.equal(s.child.exitCode, null, 'it waits for the request');
  s.child.kill('SIGINT');
  const { code } = await s.end;
  assert.equal(code, 130);
  socket.destroy();
});

test('a request that never ends is given up after stop-seconds', async () => {
  const s = await start({ args: ['--stop-seconds', '1'] });
  const socket = net.connect(s.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /ramet/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{');
  await sleep(200);
  const before = Date.now();
  await s.stop();
  const took = Date.now() - before;
  assert.ok(took >= 500 && took < 5000 * slow, `${took} ms`);
  socket.destroy();
});

// ------------------------------------------------------------------ about itself

test('unknown paths are 404, known ones with another method 405', async () => {
  const s = await start();
  for (const path of ['/nothing', '/ramet/v1/nothing', '/healthz/x', '/ramet/v2/sessions']) {
    const r = await call(s, 'GET', path);
    assert.equal(r.status, 404, path);
    assert.equal(r.body.code, 'not_found');
    assert.equal(r.body.request_id, r.headers.get('x-request-id'));
  }
  const r = await call(s, 'DELETE', '/healthz');
  assert.equal(r.status, 405);
  assert.equal(r.body.code, 'method_not_allowed');
  assert.equal(r.headers.get('allow'), 'GET, HEAD, OPTIONS');
  const sessions = await call(s, 'PUT', 'sessions');
  assert.equal(sessions.status, 405);
  for (const m of ['GET', 'HEAD', 'POST', 'OPTIONS']) assert.ok(sessions.headers.get('allow').includes(m), m);
});

test('HEAD is GET without the body, OPTIONS tells the methods', async () => {
  const s = await start();
  for (const path of ['/healthz', '/openapi.json', '/']) {
    const head = await call(s, 'HEAD', path), get = await call(s, 'GET', path);
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal(head.headers.get('content-type'), get.headers.get('content-type'));
  }
  const r = await call(s, 'OPTIONS', 'sessions');
  assert.equal(r.status, 204);
  assert.match(r.headers.get('allow'), /POST/);
  assert.equal((await call(s, 'OPTIONS', '/nothing')).status, 404);
});

test('documents have an ETag', async () => {
  const s = await start();
  for (const [path, type] of [['/openapi.json', /^application\/json/], ['/docs', /^text\/html/]]) {
    const r = await call(s, 'GET', path);
    assert.equal(r.status, 200);
    assert.match(r.headers.get('content-type'), type);
    const tag = r.headers.get('etag');
    assert.ok(tag);
    const again = await call(s, 'GET', path, { headers: { 'If-None-Match': tag } });
    assert.equal(again.status, 304);
    assert.equal(again.text, '');
    assert.equal((await call(s, 'GET', path, { headers: { 'If-None-Match': '"other"' } })).status, 200);
  }
});

test('/readyz tells that it is ready', async () => {
  const s = await start();
  const r = await call(s, 'GET', '/readyz');
  assert.equal(r.status, 200);
  assert.deepEqual(r.body, { status: 'ready' });
});

test('after a failed write: 503, reads go on', async () => {
  const db = scratch('full.db');
  const small = ['bash', '-c', 'ulimit -f 600; exec "$@"', 'small'];
  const s = await start({ db, through: small });
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'kept');
  let r;
  for (let i = 0; i < 40 && r?.status !== 503; i++) {
    const text = Array.from({ length: 20000 }, () => Math.random().toString(36).slice(2, 6)).join('');
    r = await call(s, 'POST', 'sessions/a/entries', { json: { entries: [{ role: 'user', text }] } });
  }
  assert.equal(r.status, 503, r.text);
  assert.ok(['disk_full', 'store_stopped'].includes(r.body.code), r.text);
  // There may be room for something smaller.
  let again;
  for (let i = 0; i < 200 && again?.status !== 503; i++)
    again = await call(s, 'POST', 'sessions', { json: {} });
  assert.equal(again.status, 503);
  const ready = await call(s, 'GET', '/readyz');
  assert.equal(ready.status, 503);
  assert.equal(ready.body.code, 'store_stopped');
  assert.equal((await call(s, 'GET', '/healthz')).status, 200);
  assert.equal((await must(s, 'GET', 'sessions/a/entries?limit=1')).entries[0].text, 'kept');
  assert.equal(await metric(s, 'ramet_store_up'), 0);
  await eventually(() => assert.match(s.err, /the store takes no writes/), 4000);
});

test('/metrics is Prometheus text', async () => {
  const s = await start();
  await newSession(s, { id: 'm' });
  await append(s, 'm', ['a', 'b']);
  await call(s, 'GET', '/nothing');
  const r = await call(s, 'GET', '/metrics');
  assert.equal(r.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  const all = readMetrics(r.text);
  for (const name of ['ramet_http_requests_total', 'ramet_http_request_seconds', 'ramet_commits_total',
    'ramet_commit_batch_size', 'ramet_http_queue', 'ramet_http_connections', 'ramet_http_streams', 'ramet_store_bytes',
    'ramet_events_total', 'ramet_search_lag_events', 'ramet_forks_total', 'ramet_rewinds_total',
    'ramet_switches_total', 'process_resident_memory_bytes', 'process_open_fds'])
    assert.ok(all.has(name), name);
  assert.ok(all.get('process_resident_memory_bytes').samples[0].value > 1e6);
  await eventually(async () => {
    const now = readMetrics((await call(s, 'GET', '/metrics')).text);
    const requests = now.get('ramet_http_requests_total').samples;
    assert.equal(requests.find((x) => x.labels.face === 'none').labels.status, '404');
    assert.equal(requests.filter((x) => x.labels.face === 'native' && x.labels.status === '201').length, 2);
  });
});

test('histograms add up', async () => {
  const s = await start();
  for (let i = 0; i < 20; i++) await call(s, 'GET', '/healthz');
  const health = await eventually(async () => {
    const { samples } = readMetrics((await call(s, 'GET', '/metrics')).text).get('ramet_http_request_seconds');
    const mine = samples.filter((x) => x.labels.route === 'health');
    assert.equal(mine.find((x) => x.name.endsWith('_count')).value, 20);
    return mine;
  });
  const buckets = health.filter((x) => x.name.endsWith('_bucket'));
  for (let i = 1; i < buckets.length; i++) assert.ok(buckets[i].value >= buckets[i - 1].value);
  assert.equal(buckets.at(-1).labels.le, '+Inf');
  assert.equal(buckets.at(-1).value, 20);
});

test('how many writes shared a commit', async () => {
  const s = await start();
  for (let i = 0; i < 8; i++) await newSession(s, { id: `b${i}` });
  await Promise.all(Array.from({ length: 64 }, (_, i) => append(s, `b${i % 8}`, 'word')));
  await eventually(async () => {
    const { samples } = readMetrics((await call(s, 'GET', '/metrics')).text).get('ramet_commit_batch_size');
    const of = (end) => samples.filter((x) => x.name.endsWith(end));
    const buckets = of('_bucket'), count = of('_count')[0].value;
    assert.ok(of('_sum')[0].value >= 72);
    for (let i = 1; i < buckets.length; i++) assert.ok(buckets[i].value >= buckets[i - 1].value);
    assert.equal(buckets.at(-1).value, count);
    assert.ok(buckets[0].value >= 8, 'the sessions were made one by one');
    assert.equal(await metric(s, 'ramet_commits_total'), count);
  }, 10000 * slow);
});

test('forks, rewinds and switches are counted', async () => {
  const s = await start();
  await newSession(s, { id: 'f' });
  const { entries } = await append(s, 'f', ['a', 'b']);
  await must(s, 'POST', 'sessions/f/fork', { json: {} });
  await must(s, 'POST', 'sessions/f/fork', { json: { at: { entry_id: entries[0].id } } });
  await must(s, 'POST', 'sessions/f/rewind', { json: { at: { entry_id: entries[0].id } } });
  const { branches } = await must(s, 'GET', 'sessions/f/branches');
  await must(s, 'POST', 'sessions/f/switch', { json: { branch_id: branches[0].branch_id } });
  assert.equal((await call(s, 'POST', 'sessions/none/fork', { json: {} })).status, 404);
  assert.equal(await metric(s, 'ramet_forks_total', { type: 'explicit', face: 'native' }), 2);
  assert.equal(await metric(s, 'ramet_rewinds_total'), 1);
  assert.equal(await metric(s, 'ramet_switches_total'), 1);
});

// ------------------------------------------------------------------ other origins

test('CORS: nobody by default', async () => {
  const s = await start();
  const r = await call(s, 'GET', '/healthz', { headers: { Origin: 'https://page.example' } });
  assert.equal(r.headers.get('access-control-allow-origin'), null);
});

test('CORS: a named origin, with preflight', async () => {
  const origin = 'https://page.example';
  const s = await start({ args: ['--cors-origins', `https://a.example, ${origin}`] });
  const r = await call(s, 'GET', 'sessions', { headers: { Origin: origin } });
  assert.equal(r.headers.get('access-control-allow-origin'), origin);
  assert.equal(r.headers.get('access-control-allow-credentials'), 'true');
  assert.equal(r.headers.get('vary'), 'Origin');
  const p = await call(s, 'OPTIONS', 'sessions', {
    headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' },
  });
  assert.equal(p.status, 204);
  assert.match(p.headers.get('access-control-allow-methods'), /POST/);
  assert.match(p.headers.get('access-control-allow-headers'), /Content-Type/);
  const w = await call(s, 'POST', 'sessions', { headers: { Origin: origin }, json: {} });
  assert.equal(w.status, 201, w.text);
  for (const other of ['https://other.example', 'null', `${origin}.evil.example`, 'https://page']) {
    const o = await call(s, 'GET', 'sessions', { headers: { Origin: other } });
    assert.equal(o.headers.get('access-control-allow-origin'), null, other);
  }
  const wrong = await call(s, 'POST', 'sessions', { headers: { Origin: 'https://other.example' }, json: {} });
  assert.equal(wrong.status, 403);
});

test('CORS: errors can be read, too', async () => {
  const origin = 'https://page.example';
  const s = await start({ args: ['--cors-origins', origin] });
  for (const path of ['sessions/none', '/nothing', 'sessions?limit=x']) {
    const r = await call(s, 'GET', path, { headers: { Origin: origin } });
    assert.ok(r.status >= 400);
    assert.equal(r.headers.get('access-control-allow-origin'), origin, path);
  }
});

test('CORS: * goes without cookies', async () => {
  const s = await start({ args: ['--auth', 'tokens', '--cors-origins', '*'] });
  const r = await call(s, 'GET', '/healthz', { headers: { Origin: 'https://page.example' } });
  assert.equal(r.headers.get('access-control-allow-origin'), '*');
  assert.equal(r.headers.get('access-control-allow-credentials'), null);
});

// ------------------------------------------------------------------ the log

const lines = (s) => s.err.split('\n').filter((l) => l.startsWith('time=') || l.startsWith('{'));

test('no line for a request by default', async () => {
  const s = await start();
  await call(s, 'GET', '/healthz');
  await s.stop();
  assert.doesNotMatch(s.err, /msg=request/);
});

test('access log: logfmt', async () => {
  const s = await start({ args: ['--access-log', 'on'] });
  await call(s, 'GET', 'sessions?limit=2', { user: 'ann', headers: { 'X-Request-ID': 'abc-1', 'X-Client-ID': 'c 1' } });
  await s.stop();
  const line = lines(s).find((l) => l.includes('msg=request'));
  assert.match(line, /^time=\S+Z level=info msg=request method=GET path=\/ramet\/v1\/sessions query="limit=2" /);
  assert.match(line, / status=200 bytes=\d+ ms=\d+\.\d{3} .*user=ann client="c 1" remote=127\.0\.0\.1 request_id=abc-1$/);
});

test('access log: JSON, with whatever a client sends', async () => {
  const s = await start({ args: ['--access-log', 'on', '--log-format', 'json'] });
  await raw(s.port, 'GET /a%0Ab"\\\xff%1b[31m HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await call(s, 'GET', `/x?a=%0a%22%5c&${'b'.repeat(3000)}=1`);
  await s.stop();
  const all = lines(s);
  assert.ok(all.length >= 3);
  for (const l of all) assert.equal(typeof JSON.parse(l).msg, 'string');
  assert.equal(JSON.parse(all.find((l) => l.includes('/x'))).status, 404);
  assert.ok(all.every((l) => l.length < 16384 && !/[\x00-\x1f\x7f]/.test(l)));
});

test('secrets are not logged', async () => {
  const s = await start({ args: ['--access-log', 'on', '--log-level', 'debug', '--slow-ms', '1'] });
  const secret = 'sEcReT123', user = { 'X-User-Id': 'ann' };
  await call(s, 'GET', `sessions?share=${secret}`, { headers: { Cookie: `ramet=${secret}` } });
  await call(s, 'GET', `/login/callback?code=${secret}&state=${secret}`);
  await call(s, 'GET', `/x?token=${secret}&ACCESS_TOKEN=${secret}`);
  await call(s, 'GET', `/api/sessions?user_id=ann&session-key=${secret}`);
  await call(s, 'PUT', `/api/v2/sandboxes/default/events?token=${secret}`, { headers: user });
  await call(s, 'GET', '/ramet/v1/sessions', { headers: { 'X-Ramet-Share': secret } });
  // Links carry them in their path, whatever else is wrong with the request.
  for (const path of [`/v1/attachments/download/${secret}/a.txt`, `/v1/attachments/download/${secret}`, `/v1/attachments/download/${secret}/a/b`,
                      `/api/sessions/s1/shares/${secret}`, `/api/sessions/s1/shares/${secret}/x`])
    for (const method of ['GET', 'DELETE', 'POST']) await call(s, method, path, { headers: user });
  await call(s, 'GET', 'sessions?limit=7&user_id=ann');
  await s.stop();
  assert.ok(lines(s).length >= 20);
  assert.ok(!s.err.includes(secret), s.err);
  assert.match(s.err, /path="?\/v1\/attachments\/download\/\*\*\*\/a\.txt"? /);
  assert.match(s.err, /path="?\/api\/sessions\/s1\/shares\/\*\*\*"? /);
  assert.match(s.err, /query="limit=7&user_id=ann"/, 'what the table knows is shown');
});

test('slow requests are logged', async () => {
  const s = await start({ args: ['--slow-ms', '1000'] });
  const body = '{}';
  const socket = net.connect(s.port, '127.0.0.1');
  socket.write(`POST /ramet/v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{`);
  await sleep(1200);
  socket.write('}');
  await new Promise((done) => socket.once('data', done));
  socket.destroy();
  await call(s, 'GET', '/healthz');
  await s.stop();
  const slowLines = lines(s).filter((l) => l.includes('slow request'));
  assert.equal(slowLines.length, 1, body);
  assert.match(slowLines[0], /level=warn .*path=\/ramet\/v1\/sessions/);
});

test('the tool against something that is no Ramet server says so', async () => {
  const other = http.createServer((req, res) => res.end('{}'));
  await new Promise((done) => other.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${other.address().port}`;
  for (const words of [['new'], ['list'], ['show', 'abcd'], ['fsck'], ['stat'], ['gc'], ['search', 'x'], ['tag'], ['token', 'list']]) {
    const { code, err } = await ramet([...words, '--server', url]);
    assert.equal(code, 70, `${words}: ${err}`);
    assert.match(err, /^ramet: http:\/\/127\.0\.0\.1:\d+ (answered without|did not answer)/, `${words}`);
  }
  other.close();
});

await finish();
