// SPDX-License-Identifier: Apache-2.0
//
// foreign.mjs: imports of other programs' files over HTTP, and of what Claude Code, Codex and OpenCode
// themselves have written, with a model on this machine. (The programs are run without their launchers,
// which install scripts make.)
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test, finish, start, call, must, scratch, assert, eventually } from './lib.mjs';
import { CRLF, Wire } from './help/wire.mjs';
import { model } from './help/models.mjs';
import { file } from './help/packages.mjs';

const files = join(dirname(fileURLToPath(import.meta.url)), '../foreign');
const packed = (folder) => execFileSync('tar', ['cf', '-', '-C', folder, '.']);
const send = (s, from, body, query = '', options = {}) => call(s, 'POST', `/ramet/v1/import?from=${from}${query}`, { body, ...options });
const bring = async (s, from, body, options) => {
  const r = await send(s, from, body, '', options);
  assert.equal(r.status, 200, r.text);
  return r.body;
};

test('every format over HTTP, and again', async () => {
  const s = await start();
  for (const from of ['claude-code', 'codex', 'opencode', 'chatgpt', 'claude-ai', 'open-webui', 'librechat', 'openai-jsonl']) {
    const body = packed(join(files, from));
    const first = await bring(s, from, body);
    assert.ok(first.sessions_added >= 2 && first.entries_added > 4, from);
    assert.equal(first.messages, first.entries_added + (first.entries_shared ?? 0), from); // left out when 0
    const again = await bring(s, from, body);
    assert.equal(again.entries_added, 0, from);
    assert.equal(again.sessions_added, 0, from);
    assert.equal(again.sessions_known, first.sessions_added, from);
  }
  const { hits } = await must(s, 'GET', 'search?q=cosine');
  assert.equal(hits.length, 2);
});

test('what is imported belongs to the caller', async () => {
  const s = await start();
  const body = readFileSync(join(files, 'open-webui/chat-export-1.json'));
  const r = await bring(s, 'open-webui', body, { user: 'ann' });
  assert.deepEqual(r, { sessions_added: 2, entries_added: 6, sessions_known: 0, conversations: 2, messages: 9, forks_added: 1, entries_shared: 3, bytes_shared: 231 });
  const { sessions } = await must(s, 'GET', 'sessions', { user: 'ann' });
  assert.deepEqual(sessions.map((x) => x.owner), ['ann', 'ann']);
  assert.equal((await must(s, 'GET', 'sessions', { user: 'eve' })).sessions.length, 0);
  assert.equal((await bring(s, 'open-webui', body, { user: 'eve' })).sessions_added, 2);
  const fork = sessions.find((x) => x.parent_id ?? x.forked_at ?? /Clone/.test(x.title));
  const { entries } = await must(s, 'GET', `sessions/${fork.id}/entries`, { user: 'ann' });
  assert.equal(entries.at(-1).text, 'On we go.');
  const image = entries[0].parts.find((p) => p.type === 'file');
  assert.equal((await call(s, 'GET', `/ramet/v1/attachments/${image.attachment_id}`, { user: 'ann' })).status, 200);
  assert.equal((await call(s, 'GET', `/ramet/v1/attachments/${image.attachment_id}`, { user: 'bob' })).status, 404);
});

test('what is wrong is refused, and nothing is added', async () => {
  const s = await start({ args: ['--admins', '*'] });
  const refused = async (status, code, from, body, query) => {
    const r = await send(s, from, body, query);
    assert.equal(r.status, status, r.text);
    assert.equal(r.body.code, code);
    return r.body;
  };
  await refused(400, 'invalid_request', 'word', '{}');
  await refused(400, 'invalid_request', 'codex', '{}', '&owners=true');
  await refused(400, 'invalid_request', 'chatgpt', 'PK\x03\x04…');
  await refused(422, 'import_damaged', 'chatgpt', '[{"id":"x","mapping":{}},{"id":');
  await refused(422, 'import_damaged', 'chatgpt', '{"messages":[]}');
  await refused(422, 'import_damaged', 'codex', '');
  const tar = packed(join(files, 'codex'));
  const cut = await refused(422, 'import_damaged', 'codex', tar.subarray(0, 3000));
  assert.match(cut.error, /cut off/);
  assert.equal((await must(s, 'GET', 'sessions')).sessions.length, 0);
});

/** A log of many conversations: each of `lines` messages. */
const log = (conversations, lines) => Array.from({ length: conversations }, (_, i) => JSON.stringify({ messages:
  Array.from({ length: lines }, (_, k) => ({ role: k % 2 ? 'assistant' : 'user', content: `${i} ${k} ${'x'.repeat(400)}` })) })).join('\n');

test('an upload that broke off is resumed', async () => {
  const s = await start();
  const bytes = Buffer.from(log(40, 50)), half = bytes.length >> 1;
  const w = new Wire(s.port).send(`POST /ramet/v1/import?from=openai-jsonl&upload=up-1 HTTP/1.1${CRLF}Host: localhost${CRLF}Content-Length: ${bytes.length}${CRLF}${CRLF}`);
  w.socket.write(bytes.subarray(0, half));
  const offset = async () => (await must(s, 'GET', 'import/up-1')).offset;
  await eventually(async () => assert.ok(await offset() > 100000));
  w.close();
  const r = await eventually(async () => {
    const there = await offset();
    const answer = await send(s, 'openai-jsonl', bytes.subarray(there), `&upload=up-1&offset=${there}`);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  });
  assert.equal(r.body.sessions_added, 40);
  assert.equal(r.body.entries_added, 2000);
  assert.equal(await offset(), 0);
});

test('a server that is killed in the middle', async () => {
  const db = scratch('store.db');
  let s = await start({ db });
  const body = log(200, 20);
  const lost = send(s, 'openai-jsonl', body).catch((e) => e);
  const count = async () => (await must(s, 'GET', 'sessions?limit=1000')).sessions.length;
  await eventually(async () => assert.ok(await count() > 5));
  s.child.kill('SIGKILL');
  await lost;
  s = await start({ db });
  const before = await count();
  const r = await bring(s, 'openai-jsonl', body);
  assert.equal(r.sessions_known + r.sessions_added, 200);
  assert.ok(r.sessions_known >= before);
  assert.equal(await count(), 200);
  const { sessions } = await must(s, 'GET', 'sessions?limit=1000');
  for (const x of sessions.filter((_, i) => i % 20 === 0)) assert.equal(x.head.length, 20);
  assert.equal((await bring(s, 'openai-jsonl', body)).entries_added, 0);
});

// ---- what the programs themselves have written

function home() {
  const at = scratch('home');
  for (const d of ['config/opencode', 'work', '.codex']) mkdirSync(join(at, d), { recursive: true });
  return { at, work: join(at, 'work'), env: { HOME: at, XDG_CONFIG_HOME: join(at, 'config'), XDG_DATA_HOME: join(at, 'data'), XDG_CACHE_HOME: join(at, 'cache'), XDG_STATE_HOME: join(at, 'state') } };
}

/** Runs a program to its end; what it printed. */
const run = (h, env, program, ...args) => new Promise((done, fail) => {
  const p = spawn(program, args, { cwd: h.work, env: { ...process.env, PWD: h.work, ...h.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '', err = '';
  p.stdout.on('data', (d) => (out += d));
  p.stderr.on('data', (d) => (err += d));
  const late = setTimeout(() => p.kill('SIGKILL'), 120000);
  p.on('error', fail);
  p.on('close', (code) => {
    clearTimeout(late);
    if (code === 0) done(out);
    else fail(new Error(`${program} ${args.join(' ')}: ${code}\n${out.slice(-2000)}\n${err.slice(-2000)}`));
  });
});

/** A conversation of two turns, a fork of it, and then one turn more; what is stored of both. */
async function forked(s, from, source, more) {
  const first = await bring(s, from, source());
  assert.equal(first.conversations, 2);
  assert.equal(first.forks_added, 1);
  assert.ok(first.entries_shared >= 2);
  const again = await bring(s, from, source());
  assert.equal(again.entries_added, 0);
  assert.equal(again.sessions_known, 2);
  await more();
  const grown = await bring(s, from, source());
  assert.equal(grown.sessions_added, 0);
  assert.equal(grown.entries_added, 2);
  const { sessions } = await must(s, 'GET', 'sessions');
  assert.equal(sessions.length, 2);
  assert.equal(new Set(sessions.map((x) => x.tree_id)).size, 1);
  const paths = await Promise.all(sessions.map(async (x) => (await must(s, 'GET', `sessions/${x.id}/entries`)).entries));
  return paths.map((p) => p.filter((e) => !/^</.test(e.text) && e.role !== 'system').map((e) => e.text.replaceAll('"', ''))).sort((a, b) => a.length - b.length);
}

const arch = process.arch;

test('Claude Code wrote it', async () => {
  const m = await model(), h = home(), s = await start();
  const claude = await file(`@anthropic-ai/claude-code-linux-${arch}/claude`, 'writers');
  const env = { ANTHROPIC_BASE_URL: m.at, ANTHROPIC_API_KEY: 'none', IS_SANDBOX: '1', CLAUDE_CONFIG_DIR: join(h.at, '.claude'), DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  const say = async (...words) => JSON.parse(await run(h, env, claude, '-p', '--output-format', 'json', ...words)).session_id;
  const one = await say('My name is Ada.');
  await say('--resume', one, 'Who am I?');
  const two = await say('--resume', one, '--fork-session', 'Other way.');
  const paths = await forked(s, 'claude-code', () => packed(join(h.at, '.claude/projects')), () => say('--resume', two, 'And on.'));
  assert.deepEqual(paths, [['My name is Ada.', 'ANSWER1.', 'Who am I?', 'ANSWER2.'],
    ['My name is Ada.', 'ANSWER1.', 'Who am I?', 'ANSWER2.', 'Other way.', 'ANSWER3.', 'And on.', 'ANSWER4.']]);
  m.stop();
}, { seconds: 180 });

test('Codex wrote it', async () => {
  const m = await model(), h = home(), s = await start();
  const codex = [process.execPath, await file('@openai/codex/bin/codex.js', 'writers'), 'exec', '--skip-git-repo-check'];
  writeFileSync(join(h.at, '.codex/config.toml'), `model = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "${m.url}"\nwire_api = "responses"\nrequires_openai_auth = false\n`);
  const say = (...words) => run(h, { CODEX_HOME: join(h.at, '.codex') }, ...codex, '--json', ...words);
  const id = (out) => JSON.parse(out.split('\n').find((l) => l.includes('thread.started'))).thread_id;
  const one = id(await say('My name is Ada.'));
  await say('resume', one, 'Who am I?');
  const two = id(await say('fork', one, 'Other way.'));
  const paths = await forked(s, 'codex', () => packed(join(h.at, '.codex/sessions')), () => say('resume', two, 'And on.'));
  assert.deepEqual(paths, [['My name is Ada.', 'ANSWER1.', 'Who am I?', 'ANSWER2.'],
    ['My name is Ada.', 'ANSWER1.', 'Who am I?', 'ANSWER2.', 'Other way.', 'ANSWER3.', 'And on.', 'ANSWER4.']]);
  m.stop();
}, { seconds: 180 });

test('OpenCode wrote it', async () => {
  const m = await model(), h = home(), s = await start();
  const opencode = await file(`opencode-linux-${arch}/bin/opencode`);
  writeFileSync(join(h.at, 'config/opencode/opencode.json'), JSON.stringify({ model: 'fake/m', small_model: 'fake/m', autoupdate: false, share: 'disabled',
    provider: { fake: { npm: '@ai-sdk/openai-compatible', options: { baseURL: m.url, apiKey: 'none' }, models: { m: {} } } } }));
  const ask = (...words) => run(h, {}, opencode, ...words);
  const list = async () => JSON.parse(await ask('session', 'list', '--format', 'json')).map((x) => x.id);
  await ask('run', '--title', 'Names', 'My name is Ada.');
  const [one] = await list();
  const server = spawn(opencode, ['serve', '--port', '0'], { cwd: h.work, env: { ...process.env, PWD: h.work, ...h.env }, stdio: ['ignore', 'pipe', 'inherit'] });
  let paths;
  try {
    const url = await new Promise((done) => { let out = ''; server.stdout.on('data', (d) => { out += d; const found = /http:\/\/[\d.]+:\d+/.exec(out); if (found) done(found[0]); }); });
    const post = async (path, body) => { const r = await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }); assert.equal(r.status, 200, await r.clone().text()); return r.json(); };
    const two = (await post(`/session/${one}/fork`, {})).id;
    const say = (text) => post(`/session/${two}/message`, { parts: [{ type: 'text', text }] });
    await say('Other way.');
    const folder = join(h.at, 'exported');
    mkdirSync(folder);
    const write = async () => { for (const id of [one, two]) writeFileSync(join(folder, `${id}.json`), await ask('export', id)); };
    await write();
    paths = await forked(s, 'opencode', () => packed(folder), async () => { await say('And on.'); await write(); });
  } finally {
    server.kill();
  }
  assert.deepEqual(paths.map((p) => p.filter((t) => !/ANSWER/.test(t))), [['My name is Ada.'], ['My name is Ada.', 'Other way.', 'And on.']]);
  m.stop();
}, { seconds: 180 });

await finish();
