// SPDX-License-Identifier: Apache-2.0
//
// acp-real.mjs: `ramet acp` with agents and clients that others have written: the clients of the ACP
// SDK (1.9 and 2.4) and its example agent (no fork, load or list), acpx, opencode (its own fork, early
// replay), codex-acp and claude-agent-acp (their own fork, system prompts), qwen-code (no fork). A model
// on this machine keeps what it was sent: that proves that an emulated fork has the context of a native
// one. (opencode is run without its launcher, which an install script makes.)
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { test, alongside, finish, assert, scratch, sleep, RAMET } from './lib.mjs';
import { editor, TOLD } from './help/acp.mjs';
import { file, load } from './help/packages.mjs';
import { model } from './help/models.mjs';

const patience = 60000; // they are large programs

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
  const seen = m.about('Who am I?');
  assert.ok(/My name is Ada\.[\s\S]*ANSWER[\s\S]*Who am I\?/.test(seen), 'the fork has the context, in order');
  assert.equal(/<conversation>/.test(seen), !native);
  await e.prompt(s, '/rewind');
  await e.prompt(s, 'Begin anew.');
  assert.ok(!m.about('Begin anew.').includes('is Ada'), 'what was left is not told');
  await e.prompt(s, '/undo');
  await e.prompt(s, 'And now?');
  assert.ok(/is Ada\.[\s\S]*And now\?/.test(m.about('And now?')), 'what was undone is told again');
  const { turns } = await e.ask('_ramet/session/tree', { sessionId: f });
  const g = (await e.ask('session/fork', { sessionId: f, cwd, _meta: { ramet: { fork: { messageId: turns.at(-1).messageId, position: 'before' } } } })).sessionId;
  await e.prompt(g, 'At a message.');
  const at = m.about('At a message.');
  assert.ok(/My name is Ada\.[\s\S]*ANSWER[\s\S]*At a message\./.test(at), 'emulated: the same context');
  assert.ok(at.includes('<conversation>') && !at.includes('Who am I'));
  assert.ok((await e.load(f, { cwd })).every(([, text]) => !/<conversation>/.test(text)));
  assert.equal((await e.ask('session/list', { cwd })).sessions.length, 3);
}

alongside('the SDK\'s client and its example agent, which has neither fork nor load nor list', async () => {
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

alongside('opencode: its own fork where it will do, emulated where not', async () => {
  const m = await model(), h = home();
  writeFileSync(join(h.at, 'config/opencode/opencode.json'), JSON.stringify({ model: 'fake/m', small_model: 'fake/m', autoupdate: false, share: 'disabled',
    provider: { fake: { npm: '@ai-sdk/openai-compatible', options: { baseURL: m.url, apiKey: 'none' }, models: { m: {} } } } }));
  const e = await editor({ patience, agent: [await file(`opencode-linux-${process.arch}/bin/opencode`), 'acp'], env: h.env });
  await forks(e, h.work, m, true);
  await e.end();
  m.stop();
}, { seconds: 120 });

/** The client of SDK 2.4 (it checks the shape of all that comes) with a program: {ask, updates, end}. */
async function sdk2(args, run) {
  const acp = await import(pathToFileURL(await file('acp-2.x/dist/v1/unstable/acp.js')));
  const child = spawn(RAMET, ['acp', '--db', scratch('store.db'), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = new Promise((done) => child.on('close', done));
  const updates = [];
  const { agent, client, protocol } = acp.methods;
  assert.ok(agent && protocol);
  await acp.client({ name: 'test' })
    .onRequest(client.session.requestPermission, ({ params }) => ({ outcome: { outcome: 'selected', optionId: params.options[0].optionId } }))
    .onNotification(client.session.update, ({ params }) => void updates.push(params))
    .connectWith(acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)),
      async (c) => run({ ask: (method, params) => c.request(method, params), methods: agent, updates, version: acp.PROTOCOL_VERSION }));
  child.stdin.end();
  assert.equal(await closed, 0);
}

/** What that client does with either end of Ramet. */
async function sdk2Forks({ ask, methods, updates, version }) {
  const hello = await ask(methods.initialize, { protocolVersion: version, clientCapabilities: {}, clientInfo: { name: 'test', version: '1' } });
  assert.ok(hello.agentCapabilities.sessionCapabilities.fork);
  const { sessionId } = await ask(methods.session.new, { cwd: '/tmp', mcpServers: [] });
  const prompt = async (id, text) => assert.equal((await ask(methods.session.prompt, { sessionId: id, prompt: [{ type: 'text', text }] })).stopReason, 'end_turn');
  await prompt(sessionId, 'hello');
  const kinds = new Set(updates.map((u) => u.update.sessionUpdate));
  const fork = await ask(methods.session.fork, { sessionId, cwd: '/tmp' });
  assert.notEqual(fork.sessionId, sessionId);
  updates.length = 0;
  await ask(methods.session.load, { sessionId: fork.sessionId, cwd: '/tmp', mcpServers: [] });
  assert.equal(updates.find((u) => u.update.sessionUpdate === 'user_message_chunk').update.content.text, 'hello');
  await prompt(fork.sessionId, 'again');
  await ask(methods.session.close, { sessionId: fork.sessionId });
  await ask(methods.session.resume, { sessionId: fork.sessionId, cwd: '/tmp' });
  const { sessions } = await ask(methods.session.list, {});
  assert.deepEqual(sessions.map((x) => x.sessionId).sort(), [sessionId, fork.sessionId].sort());
  await ask(methods.session.delete, { sessionId });
  assert.equal((await ask(methods.session.list, {})).sessions.length, 1);
  return { sessionId: fork.sessionId, kinds };
}

alongside('the client of SDK 2.4 with the example agent of 1.9', async () => {
  await sdk2(['--', process.execPath, await file('acp-1.x/dist/examples/agent.js')], sdk2Forks);
}, { seconds: 120 });

test('the client of SDK 2.4 with Ramet as an agent: modes, options, usage, titles', async () => {
  const config = scratch('ramet.conf');
  writeFileSync(config, '[agent echo]\nkind = echo\ncontext = 1000\n');
  await sdk2(['--config', config, '--agent', 'echo'], async (c) => {
    const { sessionId, kinds } = await sdk2Forks(c);
    for (const kind of ['session_info_update', 'usage_update', 'agent_message_chunk']) assert.ok(kinds.has(kind), kind);
    await c.ask(c.methods.session.setMode, { sessionId, modeId: 'echo' });
    const { configOptions } = await c.ask(c.methods.session.setConfigOption, { sessionId, configId: 'agent', value: 'echo' });
    assert.equal(configOptions[0].currentValue, 'echo');
  });
}, { seconds: 120 });

/** Agents that want a newer Node than the one that runs this: made where they install. */
const newer = (run) => async () => {
  const node = await file(`node-linux-${process.arch}/bin/node`, 'agents22').catch((e) => ({ skip: `not installed: ${e.message.split('\n')[0]}` }));
  return node.skip ? node : run(node);
};

test('codex-acp: its own fork, and the transcript as a system prompt', newer(async (node) => {
  const m = await model(), h = home();
  mkdirSync(join(h.at, '.codex'));
  writeFileSync(join(h.at, '.codex/config.toml'), `model = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "${m.url}"\nwire_api = "responses"\nrequires_openai_auth = false\n`);
  const e = await editor({ patience, agent: [node, await file('@agentclientprotocol/codex-acp/dist/index.js', 'agents22')], env: { ...h.env, CODEX_HOME: join(h.at, '.codex') } });
  await forks(e, h.work, m, true);
  await e.end();
  m.stop();
}), { seconds: 120 });

test('claude-agent-acp: its own fork, and the transcript as a system prompt', newer(async (node) => {
  const m = await model(), h = home();
  const e = await editor({ patience, agent: [node, await file('@agentclientprotocol/claude-agent-acp/dist/index.js', 'agents22')],
    env: { ...h.env, ANTHROPIC_BASE_URL: m.at, ANTHROPIC_API_KEY: 'none', IS_SANDBOX: '1', CLAUDE_CONFIG_DIR: join(h.at, '.claude'), DISABLE_TELEMETRY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } });
  await forks(e, h.work, m, true);
  await e.end();
  m.stop();
}), { seconds: 120 });

test('qwen-code, which has no fork', async () => {
  const m = await model(), h = home();
  const e = await editor({ patience, agent: [await file('.bin/qwen'), '--acp'], env: { ...h.env, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: m.url, OPENAI_MODEL: 'm' } });
  await e.ask('authenticate', { methodId: 'openai' });
  await forks(e, h.work, m, false);
  await e.end();
  m.stop();
}, { seconds: 120 });

alongside('acpx as a client: one question, a session of several processes', newer(async (node) => {
  const h = home(), db = scratch('store.db');
  const acpx = await file('acpx/dist/cli.js', 'agents22');
  const run = async (...words) => {
    const child = spawn(node, [acpx, '--cwd', h.work, '--approve-all', '--format', 'json', '--ttl', '1', '--agent', `${RAMET} acp --db ${db} --name told -- ${process.execPath} ${TOLD}`, ...words],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...h.env } });
    let out = '';
    child.stdout.on('data', (d) => (out += d));
    assert.equal(await new Promise((done) => child.on('close', done)), 0, out);
    return out.trim().split('\n').map((l) => JSON.parse(l));
  };
  const said = (lines) => lines.map((m) => m.params?.update).filter((u) => u?.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');
  assert.equal(said(await run('exec', 'hi')), '[hi]');
  assert.match(said(await run('exec', 'permit')), /selected/);
  await run('sessions', 'new');
  assert.equal(said(await run('prompt', 'say one')), 'one');
  await sleep(3000); // its own process has left the session: the next one resumes
  const two = await run('prompt', 'two');
  assert.ok(two.some((m) => m.method === 'session/resume' || m.method === 'session/load'), JSON.stringify(two).slice(0, 2000));
  assert.match(said(two), /User:\nsay one\n[\s\S]*\[two\]$/);
}), { seconds: 120 });

await finish();
