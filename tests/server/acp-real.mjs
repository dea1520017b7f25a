// SPDX-License-Identifier: Apache-2.0
//
// acp-real.mjs: `ramet acp` with agents and a client that others have written: the client and the
// example agent of the ACP SDK (no fork, load or list), opencode (its own fork, early replay) and
// qwen-code (no fork). A model on this machine keeps what it was sent: that proves that an emulated
// fork has the context of a native one. (opencode is run without its launcher, which an install script makes.)
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { test, finish, assert, scratch, RAMET } from './lib.mjs';
import { editor } from './help/acp.mjs';
import { file, load } from './help/packages.mjs';

/** A model that says ANSWER and its number; `seen` is what it was asked, without system texts and titles. */
async function model() {
  const asked = [];
  const server = http.createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d));
    q.on('end', () => {
      const request = body ? JSON.parse(body) : {};
      const flat = (c) => (typeof c === 'string' ? c : (c ?? []).map((x) => x.text ?? '').join('\n'));
      const texts = (request.messages ?? []).filter((m) => m.role !== 'system').map((m) => flat(m.content));
      if (!/title/i.test(texts[0] ?? '')) asked.push(texts);
      const say = `ANSWER${asked.length}.`;
      if (!request.stream) {
        r.setHeader('content-type', 'application/json');
        r.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: say }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
        return;
      }
      r.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = (delta, finish_reason = null) => r.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
      chunk({ role: 'assistant', content: say });
      chunk({}, 'stop');
      r.end('data: [DONE]\n\n');
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { asked, url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() };
}

function home() {
  const at = scratch('home');
  for (const d of ['config/opencode', 'work']) mkdirSync(join(at, d), { recursive: true });
  return { at, work: join(at, 'work'), env: { HOME: at, XDG_CONFIG_HOME: join(at, 'config'), XDG_DATA_HOME: join(at, 'data'), XDG_CACHE_HOME: join(at, 'cache'), XDG_STATE_HOME: join(at, 'state') } };
}

/** Forks at the head and in the past, and what the model saw of it. */
async function forks(e, cwd, m, native) {
  const s = (await e.ask('session/new', { cwd, mcpServers: [] })).sessionId;
  await e.prompt(s, 'My name is Ada.');
  const from = e.log.length;
  const f = (await e.ask('session/fork', { sessionId: s, cwd, mcpServers: [] })).sessionId;
  const before = e.log.slice(from).findIndex((x) => x.params?.sessionId === f);
  const answered = e.log.slice(from).findIndex((x) => x.result?.sessionId === f);
  assert.ok(before < 0 || before > answered, 'nothing about the fork before it is named');
  await e.prompt(f, 'Who am I?');
  const seen = m.asked.at(-1).join('\n');
  assert.match(seen, /My name is Ada\.[\s\S]*ANSWER[\s\S]*Who am I\?/, 'the fork has the context, in order');
  assert.equal(/<conversation>/.test(seen), !native);
  await e.prompt(s, '/rewind');
  await e.prompt(s, 'Begin anew.');
  assert.doesNotMatch(m.asked.at(-1).join('\n'), /Ada/);
  await e.prompt(s, '/undo');
  await e.prompt(s, 'And now?');
  assert.match(m.asked.at(-1).join('\n'), /Ada[\s\S]*And now\?/);
  const { turns } = await e.ask('_ramet/session/tree', { sessionId: f });
  const g = (await e.ask('session/fork', { sessionId: f, cwd, _meta: { ramet: { fork: { messageId: turns.at(-1).messageId, position: 'before' } } } })).sessionId;
  await e.prompt(g, 'At a message.');
  const at = m.asked.at(-1).join('\n');
  assert.match(at, /Ada[\s\S]*At a message\./);
  assert.doesNotMatch(at, /Who am I/);
  assert.ok((await e.load(f, { cwd })).every(([, text]) => !/<conversation>/.test(text)));
  assert.equal((await e.ask('session/list', { cwd })).sessions.length, 3);
}

test('the SDK\'s client and its example agent, which has neither fork nor load nor list', async () => {
  const acp = await load('acp-1.x', 'agents');
  const agent = await file('acp-1.x/dist/examples/agent.js');
  const child = spawn(RAMET, ['acp', '--db', scratch('store.db'), '--', process.execPath, agent], { stdio: ['pipe', 'pipe', 'inherit'] });
  const updates = [];
  const client = { requestPermission: async (p) => ({ outcome: { outcome: 'selected', optionId: p.options[0].optionId } }),
    sessionUpdate: async (p) => void updates.push(p) };
  const c = new acp.ClientSideConnection(() => client, acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
  const hello = await c.initialize({ protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  assert.ok(hello.agentCapabilities.loadSession);
  const { sessionId } = await c.newSession({ cwd: '/tmp', mcpServers: [] });
  assert.equal((await c.prompt({ sessionId, prompt: [{ type: 'text', text: 'hello' }] })).stopReason, 'end_turn');
  const fork = await (c.unstable_forkSession ?? c.forkSession).call(c, { sessionId, cwd: '/tmp' });
  assert.notEqual(fork.sessionId, sessionId);
  updates.length = 0;
  await c.loadSession({ sessionId: fork.sessionId, cwd: '/tmp', mcpServers: [] });
  assert.equal(updates.find((u) => u.update.sessionUpdate === 'user_message_chunk').update.content.text, 'hello');
  assert.equal((await c.prompt({ sessionId: fork.sessionId, prompt: [{ type: 'text', text: 'again' }] })).stopReason, 'end_turn');
  child.stdin.end();
  assert.equal(await new Promise((done) => child.on('close', done)), 0);
});

test('opencode: its own fork where it will do, emulated where not', async () => {
  const m = await model(), h = home();
  writeFileSync(join(h.at, 'config/opencode/opencode.json'), JSON.stringify({ model: 'fake/m', small_model: 'fake/m', autoupdate: false, share: 'disabled',
    provider: { fake: { npm: '@ai-sdk/openai-compatible', options: { baseURL: m.url, apiKey: 'none' }, models: { m: {} } } } }));
  const e = await editor({ agent: [await file(`opencode-linux-${process.arch}/bin/opencode`), 'acp'], env: h.env });
  await forks(e, h.work, m, true);
  await e.end();
  m.stop();
}, { seconds: 120 });

test('qwen-code, which has no fork', async () => {
  const m = await model(), h = home();
  const e = await editor({ agent: [await file('.bin/qwen'), '--acp'], env: { ...h.env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: m.url, OPENAI_MODEL: 'm' } });
  await e.ask('authenticate', { methodId: 'openai' });
  await forks(e, h.work, m, false);
  await e.end();
  m.stop();
}, { seconds: 120 });

await finish();
