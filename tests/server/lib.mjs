// SPDX-License-Identifier: Apache-2.0
//
// lib.mjs: what the tests of the server share: TAP, servers of their own on free ports with scratch
// stores, requests, streams of events, raw sockets.
//
//   import { test, finish, start, call, sse, assert } from './lib.mjs';
//   test('it answers', async () => { const s = await start(); ... });
//   await finish();
//
// Tests run one after the other, in the order in which they stand. A server that a test has started
// is stopped, by its pid, when the test ends (`start({keep: true})`: when all have ended), and must
// then have ended with exit code 0 and without a word of a sanitizer.
//
// Stores are files, or databases of their own on the server that RAMET_TEST_DB names. Tests whose
// names stand in LEAVE_OUT, a line each, are not run and not counted (tests/run).
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import http from 'node:http';
import net from 'node:net';
import assert from 'node:assert/strict';

export { assert };
const here = dirname(fileURLToPath(import.meta.url));
export const RAMET = process.env.RAMET ?? join(here, '..', '..', 'build', 'ramet');
/** Times of the tests are for the release build and files; sanitizers are slower, and a database is. */
export const slow = (/\/t?san\//.test(RAMET) ? 5 : 1) * (process.env.RAMET_TEST_DB ? 3 : 1);

const root = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'ramet-server.'));
let scratchNumber = 0;
const database = process.env.RAMET_TEST_DB;
export const postgresScript = join(here, '..', 'lib', 'postgres.sh');
const databases = [];
/** A new path in the scratch folder, which goes when the suite ends; of a store the URL of a new database. */
export function scratch(name = 'file') {
  const path = join(root, `${++scratchNumber}-${name}`);
  return database && /\.db$/.test(name) ? scratchDatabase(`server_${process.pid}_${scratchNumber}`) : path;
}
/** The first one is made a store and serves as a template: that is faster. */
function scratchDatabase(name) {
  const sh = (...args) => execFileSync(postgresScript, args, { encoding: 'utf8' }).trim();
  const template = `server_${process.pid}`;
  if (!databases.length) {
    const url = sh('database', database, template);
    databases.push(template);
    // Not through pgbouncer, which would keep it in use.
    execFileSync(RAMET, ['token', 'list', '--db', bounced(url) ? directly(url) : url], { stdio: 'ignore' });
  }
  databases.push(name);
  return sh('database', database, name, template);
}
/** Whether it is a scratch database behind pgbouncer, and its URL past that. */
const bounced = (url) => /pgbouncer=1/.test(database ?? '') && url.endsWith(database.slice(database.indexOf('?')));
const directly = (url) => process.env.RAMET_TEST_DIRECT.replace(/\/[^/?]+\?/, `/${/\/([^/?]+)\?/.exec(url)[1]}?`);
export const onPostgres = Boolean(database);
/** All that a store holds, as it lies in its files, or as the database tells it. */
export function storeBytes(db) {
  if (!onPostgres) return Buffer.concat([db, `${db}-wal`].map((path) => readFileSync(path)));
  const url = db.replace(/[?&](pgbouncer|partitions)=\d+/g, '');
  return execFileSync('pg_dump', ['-a', '-d', url], { maxBuffer: 1 << 30 });
}
function databasesDrop() {
  for (const name of databases) execFileSync(postgresScript, ['drop', database, name]);
}
export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Tries again until it does not throw: for what is true only a moment after an answer. */
export async function eventually(run, ms = 2000 * slow) {
  for (const end = Date.now() + ms;;)
    try {
      return await run();
    } catch (e) {
      if (Date.now() > end) throw e;
      await sleep(20);
    }
}

// ------------------------------------------------------------------ TAP

const tests = [];
const running = new Set();
/** Servers that ended by a fault of theirs, whoever waited for what. */
const crashed = [];

/** A test that gives {skip: why} was not made. */
export function test(name, run, { seconds = 60 } = {}) {
  tests.push({ name, run, seconds });
}

/** One that waits more than it does: it runs while the others do. It must not start servers. */
export function alongside(name, run, options) {
  if (process.argv[2] && !name.includes(process.argv[2])) return;
  const done = Promise.resolve().then(run);
  done.catch(() => {});
  test(name, () => done, options);
}

function within(promise, ms, what) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`${what}: nothing within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The end of a server's log; of a sanitizer's report the beginning, which says what went wrong and where. */
const lastWords = (log) => {
  const report = log.search(/==\d+==ERROR|runtime error/);
  return report < 0 ? log.slice(-2000) : log.slice(report, report + 4000);
};

export async function finish() {
  let failed = 0;
  const only = process.argv[2];
  const leftOut = (process.env.LEAVE_OUT ?? '').split('\n');
  const chosen = tests.filter((t) => !leftOut.includes(t.name) && (!only || t.name.includes(only)));
  for (const [i, t] of chosen.entries()) {
    let problem = null, result = null;
    const logs = [];
    const began = Date.now();
    try {
      result = await within(Promise.resolve().then(t.run), t.seconds * 1000 * slow, 'the test');
    } catch (e) {
      problem = e;
    }
    for (const server of [...running])
      if (!server.kept || problem) {
        const wrong = await server.stop().then(() => null, (e) => e);
        problem ??= wrong;
        logs.push(lastWords(server.err));
      }
    for (const server of crashed.splice(0)) {
      problem ??= new Error(`a server crashed: ${server.child.signalCode ?? server.child.exitCode}`);
      logs.push(lastWords(server.err));
    }
    if (problem) failed++;
    console.log(`${problem ? 'not ok' : 'ok'} ${i + 1} - ${t.name}${!problem && result?.skip ? ` # SKIP ${result.skip}` : ''}`);
    if (process.env.TIMES) console.log(`# ${Date.now() - began} ms`);
    if (problem) console.log([problem.stack ?? problem, ...logs].join('\n').replace(/^/gm, '#   '));
  }
  for (const server of [...running])
    await server.stop().catch((e) => { failed++; console.log(`Bail out! ${e.message}`); });
  console.log(`1..${chosen.length}`);
  databasesDrop();
  rmSync(root, { recursive: true, force: true });
  process.exit(failed ? 1 : 0);
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    for (const server of running) server.child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
    process.exit(130);
  });

// ------------------------------------------------------------------ processes

/** Runs a program: {code, signal, out, err}. */
export function run(program, args, { env = {}, input } = {}) {
  return new Promise((done) => {
    const child = spawn(program, args, { env: { ...process.env, RAMET_DB: '', ...env } });
    let out = '', err = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (err += d));
    child.on('close', (code, signal) => done({ code, signal, out, err }));
    child.stdin.on('error', () => {});
    child.stdin.end(input ?? '');
  });
}

/** Runs the tool. */
export const ramet = (args, options) => run(RAMET, args, options);

/**
 * Starts a server and waits until it is ready: {url, port, pid, db, out, err, child, stop(), end}.
 * `end` is a promise of {code, signal}; stop() sends SIGTERM and checks how it ended. `through` is a
 * command that runs the rest of its words.
 */
export async function start({ args = [], db = scratch('store.db'), env = {}, keep = false,
                              listen = '127.0.0.1:0', through = [] } = {}) {
  const past = bounced(db) ? ['--db-direct', directly(db)] : [];
  const [program, ...words] = [...through, RAMET, 'serve', '--listen', listen, '--db', db, ...past, ...args];
  const child = spawn(program, words,
                      { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const server = { child, db, pid: child.pid, out: '', err: '', kept: keep };
  running.add(server);
  child.stdout.on('data', (d) => (server.out += d));
  child.stderr.on('data', (d) => (server.err += d));
  server.end = new Promise((done) => child.on('close', (code, signal) => {
    running.delete(server);
    if (/^SIG(SEGV|ABRT|BUS|FPE|ILL)$/.test(signal) || /Sanitizer|runtime error/.test(server.err)) crashed.push(server);
    done({ code, signal });
  }));
  server.stop = async () => {
    child.kill('SIGTERM');
    const { code, signal } = await within(server.end, 20000 * slow, 'stopping the server')
      .catch((e) => { child.kill('SIGKILL'); throw e; });
    assert.deepEqual({ code, signal }, { code: 0, signal: null },
      `how the server ended: ${code ?? signal}\n${server.err.slice(-2000)}`);
    assert.doesNotMatch(server.err, /Sanitizer|runtime error/);
  };
  const ready = new Promise((done, fail) => {
    const look = () => {
      const said = /^listening on (http:\/\/\S+:(\d+))\n/m.exec(server.out);
      if (said) done(said);
    };
    child.stdout.on('data', look);
    server.end.then(({ code }) => fail(new Error(`the server ended with ${code}: ${server.err}`)));
  });
  const [, url, port] = await within(ready, 10000 * slow, 'starting the server');
  return Object.assign(server, { url, port: Number(port) });
}

// ------------------------------------------------------------------ requests

/**
 * One request to the API (paths without a leading / are under /ramet/v1/): {status, headers, text,
 * body}. `json` is sent as it is when it is a string.
 */
export async function call(server, method, path, { user, token, headers = {}, json, body } = {}) {
  const all = { ...headers };
  if (user) all['X-User-Id'] = user;
  if (token) all.Authorization = `Bearer ${token}`;
  if (json !== undefined) all['Content-Type'] ??= 'application/json';
  const url = server.url + (path.startsWith('/') ? path : `/ramet/v1/${path}`);
  const answer = await fetch(url, {
    method, headers: all, redirect: 'manual',
    body: json === undefined ? body : typeof json === 'string' ? json : JSON.stringify(json),
  });
  const text = await answer.text();
  let parsed;
  if (/[/+]json/.test(answer.headers.get('content-type') ?? '') && text) parsed = JSON.parse(text);
  return { status: answer.status, headers: answer.headers, text, body: parsed };
}

/** The body of a call that must succeed. */
export async function must(server, method, path, options) {
  const r = await call(server, method, path, options);
  assert.ok(r.status >= 200 && r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
  return r.body;
}

export const enc = encodeURIComponent;
export const newSession = (server, json = {}, options = {}) =>
  must(server, 'POST', 'sessions', { ...options, json });
export const append = (server, session, texts, options = {}) =>
  must(server, 'POST', `sessions/${enc(session)}/entries`, {
    ...options,
    json: { entries: [texts].flat().map((t) => (typeof t === 'string' ? { role: 'user', text: t } : t)) },
  });

/** Writes bytes to a socket and gives back everything that came until it was closed, or for `ms`. */
export function raw(port, bytes, { ms = 3000 } = {}) {
  return new Promise((done) => {
    const socket = net.connect(port, '127.0.0.1');
    let got = '';
    const end = () => { socket.destroy(); done(got); };
    const timer = setTimeout(end, ms);
    socket.setEncoding('latin1');
    socket.on('data', (d) => (got += d));
    socket.on('close', () => { clearTimeout(timer); done(got); });
    socket.on('error', () => {});
    socket.write(bytes);
  });
}

// ------------------------------------------------------------------ streams of events

/** A strict parser of text/event-stream: feed(text) calls on({id, event, data}) as a browser would. */
export function eventParser(on, { comment = () => {} } = {}) {
  let rest = [], id = '', event = '', data = [];
  const line = (l) => {
    if (l === '') {
      if (data.length) on({ id, event: event || 'message', data: data.join('\n') });
      event = '';
      data = [];
      return;
    }
    if (l[0] === ':') { comment(l); return; }
    const colon = l.indexOf(':');
    const name = colon < 0 ? l : l.slice(0, colon);
    const value = colon < 0 ? '' : l.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') id = value;
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else assert.equal(name, 'retry', `a field of an event stream: ${l}`);
  };
  return {
    feed(text) {
      rest.push(text);
      if (!/[\r\n]/.test(text)) return;
      const lines = rest.join('').split(/\r\n|\n|\r/);
      rest = [lines.pop()];
      lines.forEach(line);
    },
    lastId: () => id,
  };
}

/**
 * Opens /ramet/v1/events (or another path): {events, comments, next(ms), until(pred, ms), close(),
 * closed, lastId(), status, headers}. Each event has `json`, its data read, and `at`, when it came.
 */
export function sse(server, query = '', { user, token, lastEventId, headers = {}, path = '/ramet/v1/events' } = {}) {
  return new Promise((done, fail) => {
    const all = { Accept: 'text/event-stream', ...headers };
    if (user) all['X-User-Id'] = user;
    if (token) all.Authorization = `Bearer ${token}`;
    if (lastEventId !== undefined) all['Last-Event-ID'] = String(lastEventId);
    const stream = { events: [], comments: [], taken: 0 };
    let wake = () => {};
    const parser = eventParser((e) => {
      stream.events.push({ ...e, json: JSON.parse(e.data), at: Date.now() });
      wake();
    }, { comment: (c) => { stream.comments.push(c); wake(); } });
    stream.lastId = parser.lastId;
    const request = http.get(server.url + path + query, { headers: all, agent: false }, (answer) => {
      stream.status = answer.statusCode;
      stream.headers = answer.headers;
      stream.answer = answer;
      answer.setEncoding('utf8');
      stream.closed = new Promise((over) => answer.on('close', over));
      answer.on('error', () => {});
      if (answer.statusCode !== 200) {
        stream.text = '';
        answer.on('data', (d) => (stream.text += d));
        answer.on('end', () => done(stream));
        return;
      }
      answer.on('data', (d) => parser.feed(d));
      done(stream);
    });
    request.on('error', (e) => (stream.status ? undefined : fail(e)));
    stream.close = () => request.destroy();
    /** Waits until the test of the stream holds. */
    stream.until = async (holds, ms = 5000 * slow) => {
      const end = Date.now() + ms;
      while (!holds(stream)) {
        const left = end - Date.now();
        assert.ok(left > 0, `the stream did not get there within ${ms} ms; it has ` +
          JSON.stringify(stream.events.map((e) => [e.id, e.event]).slice(-20)));
        await Promise.race([new Promise((go) => (wake = go)), sleep(Math.min(left, 50))]);
      }
      return stream;
    };
    /** The next event that was not taken yet. */
    stream.next = async (ms) => {
      await stream.until(() => stream.events.length > stream.taken, ms);
      return stream.events[stream.taken++];
    };
  });
}

/** What the first events of a stream say, `want` of them or a few more. */
export async function frames(server, path, want, headers) {
  const stream = await sse(server, '', { path, headers });
  assert.equal(stream.status, 200);
  await stream.until((x) => x.events.length >= want);
  stream.close();
  return stream.events.map((e) => e.json);
}

/**
 * A window that was opened in mid-answer, and what `running` of its session said afterwards: the
 * words go on from there, and together they are a beginning of `whole`.
 */
export async function goesOn(window, running, whole) {
  const from = running.offset + running.text.length;
  const words = () => window.events.filter((e) => e.event === 'turn.delta').map((e) => e.json);
  await window.until(() => words().some((e) => e.offset >= from));
  let text = running.text;
  for (const e of words().filter((each) => each.offset >= from)) {
    assert.equal(e.offset, running.offset + text.length, 'no word is missing');
    text += e.text;
  }
  assert.ok(text.length > running.text.length && whole.startsWith(text), text);
}

// ------------------------------------------------------------------ metrics

/** Reads Prometheus text 0.0.4 strictly: Map name → {type, help, samples: [{name, labels, value}]}. */
export function readMetrics(text) {
  const families = new Map();
  const done = new Set();
  let current = null;
  assert.ok(text.endsWith('\n'), 'metrics end with a line end');
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    const type = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|summary|untyped)$/.exec(line);
    if (help) {
      assert.ok(!families.has(help[1]), `${help[1]} has one HELP`);
      current = { name: help[1], help: help[2], samples: [] };
      families.set(help[1], current);
      continue;
    }
    if (type) {
      assert.equal(type[1], current?.name, 'TYPE follows the HELP of the same name');
      assert.equal(current.type, undefined, `${type[1]} has one TYPE`);
      current.type = type[2];
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    assert.ok(sample, `a line of metrics: ${line}`);
    const ends = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }[current.type] ?? [''];
    assert.ok(ends.some((e) => sample[1] === current.name + e), `${sample[1]} stands under ${current.name}`);
    const labels = {};
    let left = sample[2] ?? '';
    while (left) {
      const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/.exec(left);
      assert.ok(label, `labels: ${line}`);
      assert.ok(!(label[1] in labels), `a label twice: ${line}`);
      labels[label[1]] = label[2];
      left = left.slice(label[0].length);
    }
    const key = sample[1] + JSON.stringify(Object.entries(labels).sort());
    assert.ok(!done.has(key), `a sample twice: ${line}`);
    done.add(key);
    const value = sample[3] === '+Inf' ? Infinity : Number(sample[3]);
    assert.ok(!Number.isNaN(value), `a value: ${line}`);
    current.samples.push({ name: sample[1], labels, value });
  }
  for (const f of families.values()) assert.ok(f.type, `${f.name} has a TYPE`);
  return families;
}

/** The value of one metric, with labels that fit. */
export async function metric(server, name, labels = {}) {
  const families = readMetrics((await call(server, 'GET', '/metrics')).text);
  for (const f of families.values())
    for (const s of f.samples)
      if (s.name === name && Object.entries(labels).every(([k, v]) => s.labels[k] === String(v))) return s.value;
  return undefined;
}
