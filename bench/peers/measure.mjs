// SPDX-License-Identifier: Apache-2.0
//
// measure.mjs: what the peers share: a clock, medians, a scratch folder, an HTTP client, programs that
// are started and stopped, shells of SQL, sizes of stores.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
export const postgresScript = join(here, '..', '..', 'tests', 'lib', 'postgres.sh');

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b), mid = sorted.length >> 1;
  return sorted.length % 2 ? sorted[mid] : (sorted[mid - 1] + sorted[mid]) / 2;
}

/** Milliseconds that a call takes, and what it returns. */
export async function timed(run) {
  const began = performance.now();
  const result = await run();
  return { ms: performance.now() - began, result };
}

// ------------------------------------------------------------------ scratch folder and programs

export const root = mkdtempSync(join(process.env.TMPDIR ?? tmpdir(), 'ramet-peers.'));
const programs = new Set();
const cleanups = [];

export function folder(name) {
  const path = join(root, name);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Runs when the benchmark ends, the last one first. */
export const atEnd = (run) => cleanups.push(run);

export async function cleanUp() {
  const ended = [...programs].map((program) => halt(program, 'SIGKILL'));
  await Promise.all(ended);
  for (const run of cleanups.splice(0).reverse())
    try {
      await run();
    } catch (e) {
      console.error(`cleaning up: ${e.message}`);
    }
  rmSync(root, { recursive: true, force: true });
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => cleanUp().then(() => process.exit(130)));
process.on('unhandledRejection', (e) => {
  console.error(e);
  cleanUp().then(() => process.exit(1));
});

const MAX_SAID_BYTES = 65536;
/** Starts a program: {child, ended, said(): its first output}. It ends with the benchmark. */
export function launch(program, args, { env = {}, cwd, stdin = 'ignore' } = {}) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: [stdin, 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { if (output.length < MAX_SAID_BYTES) output += data; });
  const started = { child, said: () => output, hasEnded: false };
  programs.add(started);
  started.ended = new Promise((done) => {
    const end = (how) => {
      programs.delete(started);
      started.hasEnded = true;
      done(how);
    };
    child.on('close', (code, signal) => end(code ?? signal));
    child.on('error', (e) => end(e.message));
  });
  return started;
}

/** Stops a program: SIGTERM, unless another signal is named. */
export async function halt(program, signal = 'SIGTERM') {
  program.child.kill(signal);
  await program.ended;
}

/** What a program says when it is ready, as a match. */
export const ready = (program, pattern) => until(() => {
  if (program.hasEnded) throw new Error(`it ended: ${program.said().slice(-300)}`);
  return pattern.exec(program.said());
}, 'starting');

/** Tries until it gives something. */
export async function until(run, what, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    const found = await run();
    if (found) return found;
  }
  throw new Error(`${what}: nothing within ${seconds} seconds`);
}

export function freePort() {
  return new Promise((done) => {
    const server = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

// ------------------------------------------------------------------ HTTP

/**
 * A client with kept connections: ask(method, path, body) gives the parsed answer or throws. A server may
 * close a connection that was idle while another peer was measured: then the request is sent on a new one.
 */
export function client(base, connections = 1) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(base);
  const ask = (method, path, body, again = true) => new Promise((done, fail) => {
    const data = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    const headers = data ? { 'Content-Type': 'application/json', 'Content-Length': data.length } : {};
    const request = http.request({ hostname, port, method, path, agent, headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', fail);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode >= 300) return fail(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
        try {
          done(text ? JSON.parse(text) : null);
        } catch (e) {
          fail(e);
        }
      });
    });
    request.setTimeout(600000, () => request.destroy(new Error(`${method} ${path}: no answer`)));
    request.on('error', (e) => {
      if (again && request.reusedSocket && e.code === 'ECONNRESET') ask(method, path, body, false).then(done, fail);
      else fail(e);
    });
    request.end(data);
  });
  return { ask, close: () => agent.destroy() };
}

// ------------------------------------------------------------------ SQL shells

const DONE = Buffer.from('<done>\n');

/**
 * A shell of SQL that stays open (sqlite3 or psql): run(sql) waits until the statements have been
 * executed and gives what they printed.
 */
function sqlShell(program, args, mark) {
  const process_ = launch(program, args, { stdin: 'pipe' });
  let waiting = null, chunks = [], errors = '';
  process_.child.stdout.on('data', (data) => {
    chunks.push(data);
    const tail = data.length < DONE.length ? Buffer.concat(chunks.slice(-DONE.length)) : data;
    if (!waiting || !tail.subarray(-DONE.length).equals(DONE)) return;
    const { done, fail } = waiting, all = Buffer.concat(chunks);
    waiting = null;
    chunks = [];
    if (errors) fail(new Error(errors.slice(0, 500)));
    else done(all.subarray(0, -DONE.length).toString());
    errors = '';
  });
  process_.child.stderr.on('data', (data) => (errors += data));
  process_.child.stdin.on('error', () => {});
  process_.ended.then((how) => waiting?.fail(new Error(`${program} ended: ${how} ${errors}`)));
  return {
    pid: process_.child.pid,
    run: (sql) => new Promise((done, fail) => {
      waiting = { done, fail };
      process_.child.stdin.write(`${sql};\n${mark}\n`);
    }),
    close: () => {
      process_.child.stdin.end();
      return process_.ended;
    },
  };
}

export async function sqliteShell(path) {
  const shell = sqlShell('sqlite3', ['-batch', path], '.print <done>');
  await shell.run('PRAGMA busy_timeout=60000; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL');
  return shell;
}

export async function postgresShell(url) {
  const shell = sqlShell('psql', ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=0', url], '\\echo <done>');
  await shell.run('SET client_min_messages = error');
  return shell;
}

export const quoted = (text) => `'${String(text).replaceAll("'", "''")}'`;

// ------------------------------------------------------------------ sizes

/** Bytes of an SQLite file in use, its log included. */
export function sqliteBytes(path) {
  const sql = 'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size';
  return Number(execFileSync('sqlite3', ['-batch', '-cmd', '.timeout 60000', '-readonly', path, sql], { encoding: 'utf8' }));
}

/** A size that has stayed the same for a second. */
export async function settled(bytes) {
  for (let last = bytes(), since = Date.now(); ; await sleep(250)) {
    const now = bytes();
    if (now !== last) [last, since] = [now, Date.now()];
    else if (Date.now() - since > 1000) return now;
  }
}

/** Bytes of the files in a folder. */
export function folderBytes(path) {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .reduce((sum, file) => sum + (file.isFile() ? statSync(join(file.parentPath ?? file.path, file.name)).size : 0), 0);
}

// ------------------------------------------------------------------ PostgreSQL

let server;
/** A database of its own on a PostgreSQL server with durable commits, which the first call starts. */
export function postgresDatabase(name) {
  const sh = (...args) => execFileSync(postgresScript, args, { encoding: 'utf8', env: { ...process.env, PG_FSYNC: 'on' } }).trim();
  if (!server) {
    execFileSync('chmod', ['755', root]); // the server runs as another user
    const dir = join(root, 'postgres');
    server = sh('start', dir);
    atEnd(() => sh('remove', dir));
  }
  return sh('database', server, name);
}

/** Bytes of all tables and indexes of a database, once the space of removed rows can be used again. */
export function postgresBytes(url) {
  return Number(execFileSync('psql', ['-X', '-q', '-A', '-t', url, '-c', 'VACUUM', '-c',
    "SELECT coalesce(sum(pg_total_relation_size(oid)), 0) FROM pg_class WHERE relkind IN ('r', 'm') AND relnamespace NOT IN (SELECT oid FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema'))"],
  { encoding: 'utf8' }));
}
