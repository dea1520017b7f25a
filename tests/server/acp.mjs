// SPDX-License-Identifier: Apache-2.0
//
// acp.mjs: `ramet acp` between an editor in raw lines and an agent that does what it is told: every
// trap of the protocol, forks, moves, and what is left in the record.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { test, alongside, finish, assert, scratch, ramet, start, call, storeBytes, slow, eventually, RAMET } from './lib.mjs';
import { editor, TOLD } from './help/acp.mjs';

const all = { loadSession: true, sessionCapabilities: { fork: {}, list: {}, resume: {}, close: {}, delete: {} } };
const json = async (args) => JSON.parse((await ramet([...args, '--json'])).out);
const entries = async (db, id) => (await json(['log', id, '--db', db])).entries;
const texts = (history) => history.map(([, text]) => text);
const asked = (list) => list.filter((x) => x.role === 'user').map((x) => x.text);

// ------------------------------------------------------------------ what goes through

test('the proxy adds what the agent lacks and keeps what it has', async () => {
  const e = await editor({ caps: { promptCapabilities: { image: true }, sessionCapabilities: { list: { x: 1 } }, odd: [1] } });
  const { agentCapabilities: caps, agentInfo } = e.hello;
  assert.deepEqual(agentInfo, { name: 'told', version: '1' });
  assert.equal(caps.loadSession, true);
  assert.deepEqual(caps.odd, [1]);
  assert.deepEqual(caps.promptCapabilities, { image: true });
  assert.deepEqual(caps.sessionCapabilities.list, { x: 1 });
  for (const name of ['fork', 'list', 'resume', 'close', 'delete']) assert.ok(caps.sessionCapabilities[name], name);
  assert.ok(caps.sessionCapabilities.fork._meta.ramet.messageId);
  assert.ok(caps._meta.ramet.methods.includes('_ramet/session/rewind'));
  assert.deepEqual(await e.end(), { code: 0, signal: null });
});

test('a newer protocol version is offered as 1', async () => {
  const e = await editor({ initialize: { protocolVersion: 2, clientCapabilities: { a: 1 } } });
  assert.equal(e.got('initialize')[0].params.protocolVersion, 1);
  assert.deepEqual(e.got('initialize')[0].params.clientCapabilities, { a: 1 });
  await e.end();
});

test('lines that need no change go through byte for byte', async () => {
  const e = await editor({});
  const line = '{"jsonrpc":"2.0",  "id":9007199254740993,"params":{"z":1,"a":0.10, "u":"\\u00e9"},"method":"_agent/odd"}';
  e.raw(line);
  await eventually(() => assert.ok(e.received().includes(line)));
  await eventually(() => assert.ok(e.lines.some((l) => l.includes('"id":9007199254740993'))));
  const s = await e.open();
  const out = '{"jsonrpc":"2.0","method":"_odd/told",  "params":{"b":1.0,"a":[ ]}}';
  await e.prompt(s, `line ${out}`);
  assert.ok(e.lines.includes(out));
  await e.prompt(s, 'line {"method":"session/update","params":{"update":{"x":1,"sessionUpdate":"brand_new"},"sessionId":"SESSION"},"jsonrpc":"2.0"}');
  assert.ok(e.lines.some((l) => l.startsWith('{"method":"session/update","params":{"update":{"x":1')));
  await e.end();
});

test('wrong lines are answered and the connection lives', async () => {
  const e = await editor({});
  const errors = () => e.log.filter((m) => m.id === null).map((m) => m.error.code);
  e.raw('');
  e.raw('   ');
  e.raw('{not json');
  e.raw('[{"jsonrpc":"2.0","id":1,"method":"session/list"}]');
  e.raw('{"id":1,"method":"session/list"}');
  await eventually(() => assert.deepEqual(errors(), [-32700, -32600, -32600]));
  assert.ok(await e.open());
  assert.ok(e.received().every((l) => !l.startsWith('[')));
  await e.end();
});

test('a line of over 64 MiB is refused, one of 40 MiB is not', async () => {
  const e = await editor({ patience: 60000 });
  const s = await e.open();
  e.raw(`{"jsonrpc":"2.0","id":"big","method":"_agent/odd","params":{"x":"${'y'.repeat(65 << 20)}"}}`);
  await eventually(() => assert.equal(e.log.find((m) => m.id === null)?.error.code, -32600), 60000);
  const got = (await e.ask('_agent/odd', { x: 'y'.repeat(40 << 20) })).got;
  assert.equal(got.x.length, 40 << 20);
  assert.ok(await e.says(s, 'hello'));
  await e.end();
}, { seconds: 120 });

test('requests of the agent reach the editor, with ids of its own', async () => {
  const e = await editor({});
  e.requests['session/request_permission'] = () => ({ outcome: { outcome: 'selected', optionId: 'yes' } });
  e.requests['fs/read_text_file'] = (p) => ({ content: `of ${p.path}` });
  const s = await e.open();
  assert.match(await e.says(s, 'permit; read /a'), /selected.*of \/a/);
  await e.end();
});

test('cancel, and $/cancel_request', async () => {
  const e = await editor({});
  const s = await e.open();
  const turn = e.call('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'say on it; wait' }] });
  await eventually(() => assert.ok(e.updates(s).some((u) => u.content?.text === 'on it')));
  e.send({ method: '$/cancel_request', params: { requestId: 'x' } });
  e.send({ method: 'session/cancel', params: { sessionId: s } });
  assert.equal((await turn).result.stopReason, 'cancelled');
  assert.equal(e.got('$/cancel_request')[0].params.requestId, 'x');
  assert.deepEqual((await entries(e.db, s)).at(-1).parts[0].data, { turn: 'cancelled' });
  await e.end();
});

// ------------------------------------------------------------------ the record

test('one entry a message, a tool call, a plan', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'think let me; think see; say Hello; say there; plan first; plan second; tool c1; as m-7 One; as m-7 Two; say bye');
  const list = await entries(e.db, s);
  assert.deepEqual(list.map((x) => x.role), ['user', ...Array(6).fill('assistant')]);
  assert.deepEqual(list[1].parts, [{ type: 'thinking', text: 'let mesee' }]);
  assert.equal(list[2].text, 'Hellothere');
  assert.equal(list[3].parts[0].data.entries[0].content, 'second');
  assert.deepEqual(list[4].parts.map((x) => x.type), ['tool_call', 'tool_result']);
  assert.deepEqual(list[4].parts[1].output, { b: 2 });
  assert.equal(list[5].id, 'm-7');
  assert.equal(list[5].text, 'OneTwo');
  assert.equal(list[6].text, 'bye');
  assert.equal(list[6].format, 'acp');
  assert.equal(list[6].usage.input, 2);
  assert.equal(new Set(list.map((x) => x.turn_id)).size, 1);
  const ids = new Set(list.map((x) => x.id));
  for (const u of e.updates(s).filter((x) => /_chunk$/.test(x.sessionUpdate))) assert.ok(ids.has(u.messageId), u.messageId);
  const again = await e.load(s);
  assert.deepEqual(again.map(([kind]) => kind), ['user_message_chunk', 'agent_thought_chunk', 'agent_thought_chunk',
    'agent_message_chunk', 'agent_message_chunk', 'plan', 'tool_call', 'agent_message_chunk', 'agent_message_chunk', 'agent_message_chunk']);
  assert.ok(again.every(([, , id]) => id === undefined || ids.has(id)));
  await e.end();
});

test('ids that an agent uses again are not used again', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'as m One; tool t');
  await e.prompt(s, 'as m Two; tool t');
  const answers = (await entries(e.db, s)).filter((x) => x.text === 'One' || x.text === 'Two');
  assert.equal(answers[0].id, 'm');
  assert.notEqual(answers[1].id, 'm');
  assert.ok(e.updates(s).some((u) => u.messageId === answers[1].id));
  const tools = (await e.load(s)).filter(([kind]) => kind === 'tool_call').map(([, id]) => id);
  assert.equal(new Set(tools).size, 2);
  await e.end();
});

test('the turn is in the store before its answer comes, and a server shows it within a second', async () => {
  const server = await start();
  const e = await editor({ db: server.db });
  const s = await e.open();
  await e.prompt(s, 'hello');
  assert.equal((await entries(e.db, s)).length, 2);
  await eventually(async () => {
    const r = await call(server, 'GET', `sessions/${s}/entries`, { user: 'local' });
    assert.equal(r.body.entries.length, 2);
  }, 1000 * slow);
  await e.end();
});

test('a refused prompt leaves nothing, one that failed midway what was said', async () => {
  const e = await editor({});
  const s = await e.open();
  const error = await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'refuse -32000 log in' }] });
  assert.equal(error.code, -32000);
  assert.deepEqual(await entries(e.db, s), []);
  await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'say half; refuse -32603 no' }] });
  const list = await entries(e.db, s);
  assert.equal(list[1].text, 'half');
  assert.deepEqual(list[2].parts[0].data, { turn: 'failed' });
  await e.end();
});

for (const over of ['a file', 'a server'])
  test(`inline data over 256 KiB is an attachment in ${over}, and whole when it is loaded`, async () => {
    const server = over === 'a server' ? await start() : null;
    const e = await editor(server ? { db: server.db, args: ['acp', '--server', server.url, '--name', 'told', '--', process.execPath, TOLD] } : {});
    const s = await e.open();
    const data = randomBytes(700001).toString('base64'), blob = randomBytes(400000).toString('base64');
    const prompt = [{ type: 'image', mimeType: 'image/png', data, _meta: { mine: 1 } },
      { type: 'resource', resource: { uri: 'file:///x', mimeType: 'application/pdf', blob } }, { type: 'text', text: 'say seen' }];
    await e.ask('session/prompt', { sessionId: s, prompt });
    const from = e.log.length;
    await e.load(s);
    const again = e.updates(s, from).filter((u) => u.sessionUpdate === 'user_message_chunk').map((u) => u.content);
    assert.deepEqual(again, prompt);
    const list = server ? (await call(server, 'GET', `sessions/${s}/entries`)).body.entries : await entries(e.db, s);
    assert.deepEqual(list[0].parts.map((x) => x.type), ['file', 'file', 'text']);
    assert.ok(JSON.stringify(list[0]).length < 10000);
    await e.end();
  });

for (const over of ['a file', 'a server'])
  test(`a media type that would be two headers makes no attachment in ${over}`, async () => {
    const server = over === 'a server' ? await start() : null;
    const e = await editor(server ? { db: server.db, args: ['acp', '--server', server.url, '--name', 'told', '--', process.execPath, TOLD] } : {});
    const s = await e.open();
    const image = { type: 'image', mimeType: 'image/png\r\nX-User-Id: mallory', data: randomBytes(300000).toString('base64') };
    await e.ask('session/prompt', { sessionId: s, prompt: [image, { type: 'text', text: 'say seen' }] });
    const list = server ? (await call(server, 'GET', `sessions/${s}/entries`)).body.entries : await entries(e.db, s);
    assert.ok(!JSON.stringify(list[0].parts).includes('attachment'));
    const from = e.log.length;
    await e.load(s);
    assert.deepEqual(e.updates(s, from).find((u) => u.sessionUpdate === 'user_message_chunk').content, image);
    await e.end();
  });

test('large data in what a tool answers, and very long texts, are attachments, too', async () => {
  const e = await editor({});
  const s = await e.open();
  const data = randomBytes(300000).toString('base64'), odd = `${'A'.repeat(300 << 10)}=`, long = 'lorem '.repeat(1 << 20);
  const image = { type: 'content', content: { type: 'image', mimeType: 'image/png', data } };
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', status: 'completed',
    content: [image, { type: 'diff', path: '/a', oldText: null, newText: long }], rawOutput: { content: [{ type: 'image', data, mimeType: 'image/png', _meta: { mine: 1 } }], odd: { data: odd } } };
  const wanted = scratch('tool.json');
  writeFileSync(wanted, JSON.stringify(call));
  await e.prompt(s, `update-of ${wanted}; say ${long.slice(0, 5 << 20)}; say bye`);
  const list = await entries(e.db, s);
  assert.equal(list.at(-1).text, 'bye');
  assert.ok(JSON.stringify(list.slice(1)).length < 1 << 20, 'the entries are small');
  const from = e.log.length;
  await e.load(s);
  const told = e.updates(s, from);
  assert.deepEqual(told.find((u) => u.toolCallId), call);
  assert.equal(told.find((u) => u.sessionUpdate === 'agent_message_chunk').content.text, long.slice(0, 5 << 20).trim());
  await e.end();
}, { seconds: 120 });

test('half a pair of surrogates goes through as it came, and is recorded as U+FFFD', async () => {
  const e = await editor({});
  const s = await e.open();
  const line = '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"SESSION","update":{"sessionUpdate":"agent_message_chunk","messageId":"h","content":{"type":"text","text":"a\\ud83d"}}}}';
  await e.prompt(s, `line ${line}`);
  assert.ok(e.lines.includes(line.replace('SESSION', s)));
  assert.equal((await entries(e.db, s)).at(-1).text, 'a\ufffd');
  await e.end();
});

test('no secret of an MCP server gets into the store', async () => {
  const e = await editor({});
  const s = await e.open({ mcpServers: [{ name: 'm', command: '/bin/tool', args: [], env: [{ name: 'K', value: 'hush-env' }] },
    { type: 'http', name: 'h', url: 'http://x', headers: [{ name: 'A', value: 'hush-header' }] }] });
  await e.prompt(s, 'hello');
  await e.ask('session/fork', { sessionId: s, cwd: '/tmp' });
  assert.equal(e.got('session/new')[1].params.mcpServers[0].env[0].value, 'hush-env');
  const bytes = storeBytes(e.db).toString('latin1');
  assert.ok(!bytes.includes('hush-env') && !bytes.includes('hush-header'));
  assert.ok(bytes.includes('/bin/tool'));
  await e.end();
});

// ------------------------------------------------------------------ forks

test('options of a fork: servers of the source where none are given, folders never', async () => {
  for (const caps of [{}, all]) {
    const e = await editor({ caps });
    const s = await e.open({ additionalDirectories: ['/x'], mcpServers: [{ name: 'm', command: '/bin/m', args: [], env: [] }] });
    await e.prompt(s, 'one');
    const method = caps.loadSession ? 'session/fork' : 'session/new';
    await e.ask('session/fork', { sessionId: s, cwd: '/elsewhere' });
    const inherited = e.got(method).at(-1).params;
    assert.equal(inherited.cwd, '/elsewhere');
    assert.equal(inherited.mcpServers[0].name, 'm');
    assert.equal(inherited.additionalDirectories, undefined);
    const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp', mcpServers: [], additionalDirectories: ['/y'] })).sessionId;
    const given = e.got(method).at(-1).params;
    assert.deepEqual([given.mcpServers, given.additionalDirectories], [[], ['/y']]);
    await eventually(() => assert.ok(e.updates(f).some((u) => u.sessionUpdate === 'session_info_update' && u._meta.ramet.forkedFrom === s), 'its lineage is told'));
    await e.end();
  }
});

test('a fork that is closed leaves the source as it was', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'say one');
  const before = await e.load(s), f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  await e.prompt(f, 'say a summary');
  await e.ask('session/close', { sessionId: f });
  assert.deepEqual(await e.load(s), before);
  assert.equal(await e.says(s, 'two'), '[say one][say one][two]', 'the same inner session, without the summary');
  await e.end();
});

test('an emulated fork: same context, lazily and once, never shown', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'say My name is Ada');
  const prompts = e.got('session/prompt').length;
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.notEqual(f, s);
  assert.equal(e.got('session/prompt').length, prompts, 'a fork costs no turn');
  assert.deepEqual(e.got('session/new').at(-1).params.mcpServers, []);
  await e.prompt(f, 'say Two');
  const blocks = e.got('session/prompt').at(-1).params.prompt;
  assert.equal(blocks.length, 2);
  assert.equal(blocks[0].type, 'text');
  assert.match(blocks[0].text, /User:\nsay My name is Ada\n\nAssistant:\nMy name is Ada\n<\/conversation>\n$/);
  await e.prompt(f, 'say Three');
  assert.equal(e.got('session/prompt').at(-1).params.prompt.length, 1, 'only once');
  assert.deepEqual((await entries(e.db, f)).map((x) => x.text),
    ['say My name is Ada', 'My name is Ada', 'say Two', 'Two', 'say Three', 'Three']);
  assert.ok(texts(await e.load(f)).every((t) => !/conversation/.test(t)));
  assert.ok(!storeBytes(e.db).includes('<conversation>'), 'it is not in the store, so no export can have it');
  const ff = (await e.ask('session/fork', { sessionId: f, cwd: '/tmp' })).sessionId;
  await e.prompt(ff, 'deeper');
  assert.equal(e.got('session/prompt').at(-1).params.prompt[0].text.split('<conversation>').length, 2);
  assert.equal((await e.load(s)).length, 2, 'the source is as it was');
  await e.end();
});

test('the transcript is never put before a slash command', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'one');
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  await e.prompt(f, '/compact now');
  assert.equal(e.got('session/prompt').at(-1).params.prompt.length, 1);
  await e.prompt(f, 'then');
  assert.equal(e.got('session/prompt').at(-1).params.prompt.length, 2);
  await e.end();
});

test('where the agent takes a system prompt, the transcript goes there', async () => {
  const e = await editor({ caps: { sessionCapabilities: { systemPrompt: {} } } });
  const s = await e.open();
  await e.prompt(s, 'my name is Ada');
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  const { systemPrompt } = e.got('session/new').at(-1).params;
  assert.equal(systemPrompt.mode, 'append');
  assert.match(systemPrompt.content[0].text, /Ada/);
  await e.prompt(f, 'who');
  assert.equal(e.got('session/prompt').at(-1).params.prompt.length, 1);
  await e.end();
});

test('the agent forks itself when it holds exactly the head; its replay is kept back', async () => {
  const e = await editor({ caps: all, env: { ACP_EARLY: '1' } });
  const s = await e.open();
  await e.prompt(s, 'one');
  const from = e.log.length;
  const answer = e.answer(77);
  e.send({ id: 77, method: 'session/fork', params: { sessionId: s, cwd: '/tmp', mcpServers: [], _meta: { keep: 1, ramet: {} } } });
  const f = (await answer).result.sessionId;
  assert.deepEqual(e.got('session/fork')[0].params._meta, { keep: 1 });
  assert.equal(e.got('session/new').length, 1);
  assert.equal(e.log[from].id, 77, 'nothing comes before the answer that names the session');
  await eventually(() => assert.ok(e.updates(f).some((u) => u.availableCommands?.some((c) => c.name === 'compact'))));
  assert.ok(!e.updates(f).some((u) => /chunk/.test(u.sessionUpdate)));
  assert.equal(await e.says(f, 'two'), '[one][[one]][two]');
  assert.equal((await entries(e.db, f)).length, 4);
  await e.end();
});

for (const [what, error] of [['-32601', { code: -32601, message: 'Method not found' }],
  ['an unknown session', { code: -32603, message: 'Internal error', data: { details: 'Session not found' } }]])
  test(`the agent's own fork answers ${what}: emulated`, async () => {
    const e = await editor({ caps: all, env: { ACP_FORK: JSON.stringify(error) } });
    const s = await e.open();
    await e.prompt(s, 'one');
    const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
    assert.match(await e.says(f, 'two'), /one/);
    await e.end();
  });

test('any other refusal is passed on with its code', async () => {
  const e = await editor({ caps: all, env: { ACP_FORK: '{"code":-32044,"message":"not here"}' } });
  const s = await e.open();
  await e.prompt(s, 'one');
  assert.equal((await e.fails('session/fork', { sessionId: s, cwd: '/other' })).code, -32044);
  await e.end();
  const g = await editor({});
  const t = await g.open();
  await g.prompt(t, 'one');
  assert.equal((await g.fails('session/fork', { sessionId: t, cwd: '/login' })).code, -32000);
  await g.end();
});

test('fork at a message, before and after, ours and AIR\'s; an unknown one is -32602', async () => {
  const e = await editor({ caps: all });
  const s = await e.open();
  for (const t of ['one', 'two', 'three']) await e.prompt(s, t);
  const list = await entries(e.db, s);
  const fork = async (meta) => {
    const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp', _meta: meta })).sessionId;
    return (await entries(e.db, f)).map((x) => x.id);
  };
  const ids = list.map((x) => x.id);
  assert.deepEqual(await fork({ ramet: { fork: { messageId: ids[2], position: 'before' } } }), ids.slice(0, 2));
  assert.deepEqual(await fork({ ramet: { fork: { messageId: ids[2] } } }), ids.slice(0, 3));
  assert.deepEqual(await fork({ jetbrains: { air: { fork: { version: 1, messageId: `${ids[3]}:segment:2` } } } }), ids.slice(0, 4));
  const print = `sha256:${createHash('sha256').update(list[1].text).digest('hex')}`;
  assert.deepEqual(await fork({ jetbrains: { air: { fork: { version: 1, messageId: 'gone', messageFingerprint: print, messageOccurrence: 1 } } } }), ids.slice(0, 2));
  assert.equal(e.got('session/fork').length, 0, 'an anchor is never handed to the agent');
  for (const meta of [{ ramet: { fork: { messageId: 'gone' } } }, { jetbrains: { air: { fork: { version: 1, messageId: 'gone' } } } }]) {
    const error = await e.fails('session/fork', { sessionId: s, cwd: '/tmp', _meta: meta });
    assert.equal(error.code, -32602);
    assert.equal(error.data.messageId, 'gone');
  }
  assert.equal((await e.fails('session/fork', { sessionId: s, cwd: '/tmp', _meta: { ramet: { fork: { messageId: ids[0], position: 'beside' } } } })).code, -32602);
  await e.end();
});

test('a fork in mid-turn ends before the running turn', async () => {
  const e = await editor({ caps: all });
  const s = await e.open();
  await e.prompt(s, 'one');
  const turn = e.call('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'say begun; wait' }] });
  await eventually(() => assert.ok(e.updates(s).some((u) => u.content?.text === 'begun')));
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.equal(e.got('session/fork').length, 0);
  assert.equal((await entries(e.db, f)).length, 2);
  assert.doesNotMatch(await e.says(f, 'two'), /begun/);
  e.send({ method: 'session/cancel', params: { sessionId: s } });
  assert.equal((await turn).result.stopReason, 'cancelled');
  assert.equal((await entries(e.db, s)).length, 5);
  await e.end();
});

test('mode and options of the source are set again in the fork', async () => {
  const setup = { modes: { currentModeId: 'ask', availableModes: [{ id: 'ask', name: 'Ask' }, { id: 'code', name: 'Code' }] },
    configOptions: [{ id: 'model', name: 'Model', type: 'select', currentValue: 'a', options: [{ value: 'a', name: 'A' }, { value: 'b', name: 'B' }] }],
    models: { odd: 1 } };
  const e = await editor({ env: { ACP_SETUP: JSON.stringify(setup) } });
  const s = await e.open();
  await e.ask('session/set_mode', { sessionId: s, modeId: 'code' });
  await e.ask('session/set_config_option', { sessionId: s, configId: 'model', value: 'b' });
  await e.prompt(s, 'one');
  const f = await e.ask('session/fork', { sessionId: s, cwd: '/tmp' });
  assert.equal(f.modes.currentModeId, 'code');
  assert.equal(f.configOptions[0].currentValue, 'b');
  assert.deepEqual(f.models, { odd: 1 });
  assert.equal(e.got('session/set_mode').at(-1).params.sessionId, f.sessionId);
  assert.equal(e.got('session/set_config_option').at(-1).params.value, 'b');
  await e.end();
});

test('a fork of a session that is not open, after the proxy was killed', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'one');
  e.child.kill('SIGKILL');
  await e.closed;
  const g = await editor({ db: e.db });
  const f = (await g.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.match(await g.says(f, 'two'), /User:\none\n/);
  assert.equal((await g.load(s)).length, 2);
  await g.end();
});

// ------------------------------------------------------------------ moves

test('rewind, undo and redo under the same id', async () => {
  const e = await editor({});
  const s = await e.open();
  for (const t of ['one', 'two', 'three']) await e.prompt(s, `say ${t}`);
  const ids = (await entries(e.db, s)).map((x) => x.id);
  const r = await e.ask('_ramet/session/rewind', { sessionId: s, messageId: ids[1] });
  assert.deepEqual([r.sessionId, r.messageId, r.messages], [s, ids[1], 2]);
  assert.equal((await e.ask('_ramet/session/undo', { sessionId: s })).messages, 6);
  assert.equal((await e.ask('_ramet/session/rewind', { sessionId: s, messageId: ids[2], position: 'before' })).messages, 2);
  assert.ok(e.updates(s).some((u) => u.sessionUpdate === 'session_info_update' && u._meta.ramet.messages === 2));
  const said = await e.says(s, 'other');
  assert.match(said, /User:\nsay one\n/);
  assert.doesNotMatch(said, /two/);
  assert.notEqual(e.got('session/prompt').at(-1).params.sessionId, s, 'a new session underneath');
  assert.equal((await e.ask('_ramet/session/undo', { sessionId: s })).messages, 6);
  const made = e.got('session/new').length;
  assert.match(await e.says(s, 'four'), /^\[say one\].*\[say two\].*\[say three\].*\[four\]$/, 'the first inner session still holds that');
  assert.equal(e.got('session/new').length, made);
  assert.equal((await e.fails('_ramet/session/rewind', { sessionId: s, messageId: 'gone' })).code, -32602);
  assert.equal((await e.fails('_ramet/session/rewind', { sessionId: 'none' })).code, -32602);
  assert.equal((await e.fails('_ramet/session/undo', { sessionId: 'none' })).code, -32002);
  assert.equal((await e.ask('_ramet/session/rewind', { sessionId: s, turns: 2 })).messages, 4);
  assert.equal((await e.ask('_ramet/session/undo', { sessionId: s })).messages, 8);
  assert.equal((await e.ask('_ramet/session/redo', { sessionId: s })).messages, 4);
  await e.ask('_ramet/session/undo', { sessionId: s });
  const tree = await e.ask('_ramet/session/tree', { sessionId: s });
  assert.equal(tree.turns.length, 4);
  const other = tree.branches.find((b) => b.preview === 'other').branch;
  const cmp = await e.ask('_ramet/session/compare', { sessionId: s, branch: other });
  assert.equal(cmp.shared, 2);
  assert.ok(cmp.sides[1].messages.some((x) => x.text === 'other'));
  await e.end();
});

test('slash commands work in any editor and are not recorded', async () => {
  const e = await editor({});
  const s = await e.open();
  await eventually(() => assert.ok(e.updates(s).some((u) => u.availableCommands?.some((c) => c.name === 'rewind'))));
  for (const t of ['one', 'two']) await e.prompt(s, t);
  assert.match(await e.says(s, '/rewind'), /last question is: one/);
  assert.match(await e.says(s, '/undo'), /last question is: two/);
  const f = /Forked: (\S+)\nA side way/.exec(await e.says(s, '/fork 1 A side way'))[1];
  assert.deepEqual(asked(await entries(e.db, f)), ['one']);
  assert.match(await e.says(s, '/tree'), /A side way/);
  assert.match(await e.says(s, '/btw what is this'), /\[what is this\]$/);
  assert.equal((await entries(e.db, s)).length, 4);
  assert.equal(e.got('session/prompt').filter((m) => /^\//.test(m.params.prompt.at(-1).text)).length, 0);
  assert.match(await e.says(s, 'three'), /^\[one\]\[\[one\]\]\[two\].*\[three\]$/, 'the question aside has left no trace');
  assert.match(await e.says(s, '/rewind 99'), /not so many/);
  await e.end();
});

test('an agent\'s own command of the name wins, ramet-NAME always works', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'commands undo,compact; say x');
  const names = e.updates(s).filter((u) => u.availableCommands).at(-1).availableCommands.map((c) => c.name);
  assert.deepEqual(names, ['undo', 'compact', 'rewind', 'ramet-undo', 'fork', 'tree', 'btw', 'land']);
  await e.prompt(s, '/undo');
  assert.equal(e.got('session/prompt').at(-1).params.prompt[0].text, '/undo');
  assert.match(await e.says(s, '/ramet-rewind 1'), /Rewound/);
  assert.match(await e.says(s, '/ramet-undo'), /Undone/);
  await e.end();
});

test('/land and _ramet/session/merge', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'one');
  assert.match(await e.says(s, '/land x'), /no fork/);
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/', mcpServers: [] })).sessionId;
  await e.prompt(f, 'aside');
  assert.match(await e.says(f, '/land in short: yes'), new RegExp(`Landed in ${s}, which has 3 messages`));
  assert.match(await e.says(f, '/land'), /Purpose[^]*Landed in/);
  const all = await entries(e.db, s);
  assert.equal(all.length, 4);
  assert.equal(all[2].text, 'in short: yes');
  assert.match(all[3].text, /Open points/);
  assert.equal((await entries(e.db, f)).length, 4, 'the fork stays clean');
  const merged = await e.ask('_ramet/session/merge', { sessionId: s, from: f, mode: 'splice' });
  assert.deepEqual([merged.sessionId, merged.messages], [s, 6]);
  await assert.rejects(e.ask('_ramet/session/merge', { sessionId: s, from: f, mode: 'octopus' }));
  await e.end();
});

test('/btw through the agent\'s own fork, which is closed and deleted', async () => {
  const e = await editor({ caps: all, env: { ACP_EARLY: '1' } });
  const s = await e.open();
  await e.prompt(s, 'one');
  assert.equal(await e.says(s, '/btw why'), '[one][[one]][why]');
  const side = e.got('session/prompt').at(-1).params.sessionId;
  assert.notEqual(side, s);
  await eventually(() => assert.equal(e.got('session/delete')[0]?.params.sessionId, side));
  assert.equal(e.got('session/close')[0].params.sessionId, side);
  assert.ok(!e.log.some((m) => m.params?.sessionId === side));
  assert.equal(await e.says(s, 'two'), '[one][[one]][two]');
  await e.end();
});

test('somebody else writes to the session: the agent gets it before the next prompt', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'one');
  await ramet(['append', s, 'from elsewhere', '--db', e.db]);
  assert.match(await e.says(s, 'two'), /from elsewhere/);
  await e.end();
});

test('the overlays of the session change: the agent gets what is left before the next prompt', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'my pin is 1234');
  const hidden = [];
  for (const word of ['@1', '@2']) hidden.push((await ramet(['hide', s, word, '--db', e.db])).code);
  assert.deepEqual(hidden, [0, 0]);
  await ramet(['append', s, 'from elsewhere', '--db', e.db]);
  assert.doesNotMatch(await e.says(s, 'two'), /1234/);
  const n = e.got('session/new').length;
  await e.says(s, 'three');
  assert.equal(e.got('session/new').length, n, 'it holds what is left');
  await ramet(['hide', s, '@3', '--db', e.db]);
  await e.says(s, 'four');
  assert.equal(e.got('session/new').length, n + 1);
  await e.end();
});

test('something of the session is erased: the agent gets what is left in a new inner session', async () => {
  const env = { ACP_KEEP: scratch('agent.json') };
  const e = await editor({ caps: { loadSession: true }, env });
  const s = await e.open();
  await e.prompt(s, 'my pin is 1234');
  await e.prompt(s, 'say two');
  const n = e.got('session/new').length;
  const erase = async (entry) => assert.equal((await ramet(['erase', s, entry, '--yes', '--db', e.db])).code, 0);
  for (const [i, entry] of ['@1', '@2'].entries()) { // the question, then the answer
    await erase(entry);
    await e.prompt(s, 'say three');
    assert.equal(e.got('session/new').length, n + i + 1);
    assert.match(JSON.stringify(e.got('session/prompt').at(-1)), /\[erased\].*say two.*say three/s);
  }
  assert.doesNotMatch(JSON.stringify(e.got('session/prompt').at(-1)), /1234/);
  await e.prompt(s, 'say four');
  assert.equal(e.got('session/new').length, n + 2, 'it holds what is left');
  await e.end();
  await erase('@4');
  const next = await editor({ caps: { loadSession: true }, env, db: e.db });
  await next.load(s);
  assert.equal(next.got('session/load').length, 0, 'nor is it loaded again');
  await next.end();
});

// ------------------------------------------------------------------ load, list, resume, close, delete

for (const [how, caps, method] of [['resume', { sessionCapabilities: { resume: {} } }, 'session/resume'],
  ['load', { loadSession: true }, 'session/load'], ['the emulation', {}, 'session/new']])
  test(`loading after a restart: the inner side gets ${how}`, async () => {
    const env = { ACP_KEEP: scratch('agent.json') };
    const e = await editor({ caps, env });
    const s = await e.open();
    await e.prompt(s, 'one');
    await e.end();
    const g = await editor({ db: e.db, caps, env });
    const history = await g.load(s);
    assert.deepEqual(history.map(([kind]) => kind), ['user_message_chunk', 'agent_message_chunk']);
    assert.deepEqual(history.map(([, , id]) => id), (await entries(e.db, s)).map((x) => x.id));
    assert.equal(g.received().map((l) => JSON.parse(l).method).at(-1), method);
    assert.match(await g.says(s, 'two'), how === 'the emulation' ? /User:\none\n.*\[two\]$/s : /^\[one\]\[\[one\]\]\[two\]$/);
    await g.end();
  });

test('commands that are told before the session is named wait for its answer', async () => {
  const e = await editor({ env: { ACP_ODD: 'early-new' } });
  const from = e.log.length;
  const s = await e.open();
  assert.equal(e.log[from].result?.sessionId, s, 'the answer is the first');
  await eventually(() => assert.ok(e.updates(s).some((u) => u.availableCommands?.some((c) => c.name === 'compact'))));
  await e.end();
});

test('odd agents: load answered with null, a resume that replays, servers that resume does not name', async () => {
  const env = { ACP_KEEP: scratch('agent.json'), ACP_ODD: 'null replay' };
  for (const caps of [{ loadSession: true }, { sessionCapabilities: { resume: {} } }]) {
    const e = await editor({ caps, env });
    const s = await e.open();
    await e.prompt(s, 'one');
    await e.end();
    const g = await editor({ db: e.db, caps, env });
    assert.deepEqual(await g.ask('session/resume', { sessionId: s, cwd: '/tmp' }), {});
    assert.deepEqual(g.got(caps.loadSession ? 'session/load' : 'session/resume')[0].params.mcpServers, []);
    assert.ok(!g.updates(s).some((u) => /chunk/.test(u.sessionUpdate)), 'its replay is kept back');
    assert.equal(await g.says(s, 'two'), '[one][[one]][two]');
    assert.equal((await g.load(s)).length, 4);
    await g.end();
  }
});

test('an agent that opens whatever it is asked for: what it does not list is not there', async () => {
  const e = await editor({ caps: all, env: { ACP_ODD: 'open' } });
  for (const method of ['session/load', 'session/fork']) {
    const error = await e.fails(method, { sessionId: 'nobody', cwd: '/tmp', mcpServers: [] });
    assert.deepEqual([error.code, error.data], [-32002, { sessionId: 'nobody' }], method);
  }
  assert.deepEqual((await e.ask('session/list', {})).sessions, []);
  await e.end();
});

test('resume does not replay', async () => {
  const e = await editor({});
  const s = await e.open();
  await e.prompt(s, 'one');
  await e.end();
  const g = await editor({ db: e.db });
  await g.ask('session/resume', { sessionId: s, cwd: '/tmp' });
  assert.ok(!g.updates(s).some((u) => /chunk/.test(u.sessionUpdate)));
  assert.match(await g.says(s, 'two'), /User:\none\n/);
  await g.end();
});

test('a session that only the agent knows: listed, loaded, recorded, forked', async () => {
  const keep = scratch('agent.json');
  writeFileSync(keep, JSON.stringify([['old-1', { id: 'old-1', cwd: '/tmp', history: ['hi', 'ho', 'what', 'that'] }],
    ['old-2', { id: 'old-2', cwd: '/tmp', history: ['hi', 'ho'] }]]));
  const e = await editor({ caps: all, env: { ACP_KEEP: keep } });
  const list = (await e.ask('session/list', {})).sessions.map((x) => x.sessionId);
  assert.deepEqual(list, ['old-1', 'old-2']);
  assert.deepEqual(texts(await e.load('old-1')), ['hi', 'ho', 'what', 'that']);
  const stored = await entries(e.db, 'old-1');
  assert.deepEqual(stored.map((x) => [x.id, x.text]), [['old-1-0', 'hi'], ['old-1-1', 'ho'], ['old-1-2', 'what'], ['old-1-3', 'that']]);
  assert.equal(new Set(stored.map((x) => x.turn_id)).size, 2);
  const f = (await e.ask('session/fork', { sessionId: 'old-2', cwd: '/tmp', _meta: { ramet: { fork: { messageId: 'old-2-0' } } } })).sessionId;
  assert.deepEqual((await entries(e.db, f)).map((x) => x.text), ['hi']);
  const again = (await e.ask('session/list', {})).sessions;
  assert.deepEqual(again.map((x) => x.sessionId).sort(), [f, 'old-1', 'old-2'].sort());
  assert.equal(again.find((x) => x.sessionId === f)._meta.ramet.forkedFrom, 'old-2');
  assert.equal(again.find((x) => x.sessionId === f)._meta.ramet.forkPoint.messageId, 'old-2-0');
  await e.end();
});

test('neither side knows it: -32002 with the id', async () => {
  for (const caps of [{}, all]) {
    const e = await editor({ caps });
    for (const method of ['session/load', 'session/resume', 'session/fork']) {
      const error = await e.fails(method, { sessionId: 'nobody', cwd: '/tmp', mcpServers: [] });
      assert.equal(error.code, -32002, method);
      assert.deepEqual(error.data, { sessionId: 'nobody' });
    }
    await e.end();
  }
});

test('list pages, by folder, with a title; a wrong cursor is refused', async () => {
  const e = await editor({});
  for (let i = 0; i < 60; i++) await e.open({ cwd: i % 2 ? '/a' : '/b' });
  const seen = [];
  let cursor;
  do {
    const page = await e.ask('session/list', { cwd: '/a', ...(cursor ? { cursor } : {}) });
    seen.push(...page.sessions);
    cursor = page.nextCursor;
  } while (cursor);
  assert.equal(seen.length, 30);
  assert.ok(seen.every((x) => x.cwd === '/a' && /^\d{4}-/.test(x.updatedAt)));
  assert.equal((await e.fails('session/list', { cursor: 'r:nonsense' })).code, -32602);
  assert.equal((await e.fails('session/list', { cursor: 'nonsense' })).code, -32602);
  const s = await e.open();
  await e.prompt(s, 'title A fine name; say x');
  assert.equal((await e.ask('session/list', {})).sessions.find((x) => x.sessionId === s).title, 'A fine name');
  await e.end();
});

test('close never deletes; delete is passed on, remembered and idempotent', async () => {
  for (const caps of [all, { sessionCapabilities: { list: {} } }]) {
    const e = await editor({ caps });
    const s = await e.open(), t = await e.open();
    await e.prompt(s, 'one');
    await e.prompt(t, 'two');
    await e.ask('session/close', { sessionId: t });
    assert.equal((await e.load(t)).length, 2);
    await e.ask('session/delete', { sessionId: s });
    await e.ask('session/delete', { sessionId: s });
    assert.deepEqual((await e.ask('session/list', {})).sessions.map((x) => x.sessionId), [t]);
    assert.equal(e.got('session/delete').length > 0, Boolean(caps.loadSession));
    await e.end();
  }
});

test('what a closed session still says goes nowhere, until it is open again', async () => {
  for (const caps of [{}, all]) {
    const e = await editor({ caps });
    const s = await e.open(), t = await e.open();
    await e.prompt(s, 'one');
    await e.prompt(s, '/rewind');
    await e.prompt(s, 'two'); // another inner session
    const inner = e.got('session/prompt').at(-1).params.sessionId;
    assert.notEqual(inner, s);
    await e.ask('session/close', { sessionId: s });
    const from = e.log.length;
    for (const id of [s, inner])
      await e.prompt(t, `line ${JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: id, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'late' } } } })}`);
    await e.prompt(t, `line ${JSON.stringify({ jsonrpc: '2.0', id: 'late', method: 'session/request_permission', params: { sessionId: inner, options: [] } })}`);
    await eventually(() => assert.ok(e.received().some((l) => l.includes('"late"') && l.includes('cancelled')), 'nobody is asked'));
    assert.ok(!e.lines.slice(from).some((l) => l.includes('late')));
    assert.equal((await e.load(s)).length, 2);
    assert.match(await e.says(s, 'three'), /two/);
    await e.end();
  }
});

test('after a rewind every id on the way is the right one', async () => {
  const e = await editor({});
  for (const method of ['fs/read_text_file', 'fs/write_text_file', 'terminal/create', 'terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release', 'elicitation/create', 'session/request_permission'])
    e.requests[method] = (p) => ({ got: p });
  const s = await e.open();
  await e.prompt(s, 'one');
  await e.ask('_ramet/session/rewind', { sessionId: s });
  await e.prompt(s, 'two');
  const inner = e.got('session/prompt').at(-1).params.sessionId;
  assert.notEqual(inner, s);
  for (const method of Object.keys(e.requests))
    assert.deepEqual(JSON.parse(await e.says(s, `ask ${method} {"terminalId":"t","odd":1.50}`)).got, { sessionId: s, terminalId: 't', odd: 1.5 }, method);
  for (const method of ['_session/steering', 'session/set_title'])
    assert.deepEqual((await e.ask(method, { x: 1, sessionId: s })).got, { x: 1, sessionId: inner }, method);
  for (const [method, more] of [['session/set_mode', { modeId: 'm' }], ['session/set_config_option', { configId: 'none', value: 'v' }]]) {
    await e.call(method, { sessionId: s, ...more });
    assert.equal(e.got(method).at(-1).params.sessionId, inner);
  }
  e.send({ method: 'session/cancel', params: { sessionId: s } });
  await eventually(() => assert.equal(e.got('session/cancel').at(-1)?.params.sessionId, inner));
  await e.prompt(s, 'update {"sessionUpdate":"notice","severity":"info","title":"child"}; line {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a-child-of-the-agent","update":{"sessionUpdate":"notice"}}}');
  assert.ok(e.log.some((m) => m.params?.sessionId === 'a-child-of-the-agent'), 'sessions that nobody opened pass as they are');
  assert.ok(!e.lines.some((l) => l.includes(`"sessionId":"${inner}"`) && !l.includes('"got"')));
  await e.end();
});

test('a prompt to a session that nobody knows is -32002', async () => {
  const e = await editor({});
  const error = await e.fails('session/prompt', { sessionId: 'nobody', prompt: [{ type: 'text', text: 'x' }] });
  assert.deepEqual([error.code, error.data], [-32002, { sessionId: 'nobody' }]);
  await e.end();
});

test('rewound sessions are listed once, and ids in answers are the editor\'s', async () => {
  const e = await editor({ caps: { sessionCapabilities: { list: {} } } });
  const s = await e.open();
  await e.prompt(s, 'one');
  await e.prompt(s, '/rewind');
  await e.prompt(s, 'two');
  assert.deepEqual((await e.ask('session/list', {})).sessions.map((x) => x.sessionId), [s]);
  const error = await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'refuse -32010 x' }] });
  assert.equal(error.data.sessionId, s);
  await e.prompt(s, 'update {"sessionUpdate":"subagent_update","sessionId":"inner-2"}; update {"sessionUpdate":"session_message","senderSessionId":"inner-2","recipientSessionId":"other"}');
  const [sub, msg] = e.updates(s).slice(-2);
  assert.equal(sub.sessionId, s);
  assert.deepEqual([msg.senderSessionId, msg.recipientSessionId], [s, 'other']);
  await e.end();
});

// ------------------------------------------------------------------ processes

test('the agent dies in mid-turn: every open request is answered, the record is marked', async () => {
  const e = await editor({});
  const s = await e.open();
  const other = await e.open();
  const waiting = e.call('session/prompt', { sessionId: other, prompt: [{ type: 'text', text: 'say w; wait' }] });
  const error = await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'say half; sleep 100; die' }] });
  assert.equal(error.code, -32603);
  assert.equal((await waiting).error.code, -32603);
  assert.equal((await e.closed).code, 3);
  const list = await entries(e.db, s);
  assert.equal(list[1].text, 'half');
  assert.deepEqual(list[2].parts[0].data, { turn: 'interrupted' });
  const g = await editor({ db: e.db });
  assert.equal((await g.load(s)).length, 2);
  await g.end();
});

test('a prompt that was cancelled when the agent died is -32800; what it said on standard error is passed on', async () => {
  const e = await editor({});
  const s = await e.open(), t = await e.open();
  const one = e.call('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: 'err some words of mine; say x; sleep 60000' }] });
  await eventually(() => assert.ok(e.updates(s).some((u) => u.content?.text === 'x')));
  assert.match(e.err, /some words of mine/);
  e.send({ method: 'session/cancel', params: { sessionId: s } });
  const two = e.call('session/prompt', { sessionId: t, prompt: [{ type: 'text', text: 'sleep 300; die' }] });
  assert.equal((await one).error.code, -32800);
  assert.equal((await two).error.code, -32603);
  await e.closed;
});

alongside('the editor goes: the agent and what it started end with it', async () => {
  const pid = scratch('pid');
  const stubborn = "process.on('SIGTERM',()=>{});process.stdin.on('data',()=>console.log(JSON.stringify({jsonrpc:'2.0',id:0,result:{protocolVersion:1}})));setInterval(()=>{},1000)";
  const script = `trap '' TERM; sleep 1000 & echo $! > ${pid}; exec ${process.execPath} -e "${stubborn}"`;
  const e = await editor({ agent: ['sh', '-c', script] });
  const began = Date.now();
  await e.end();
  const took = Date.now() - began;
  assert.ok(took > 4500 && took < 9000 * slow, `${took} ms`);
  const state = () => /^State:\s+(\S)/m.exec(readFileSync(`/proc/${readFileSync(pid, 'utf8').trim()}/status`, 'utf8'))[1];
  assert.ok((() => { try { return state() === 'Z'; } catch { return true; } })(), 'what the agent has started is gone');
});

test('an agent that cannot be started, and one on a terminal', async () => {
  const r = await ramet(['acp', '--db', scratch('store.db'), '--', '/no/such/agent']);
  assert.equal(r.code, 127);
  assert.match(r.err, /no\/such\/agent/);
  const out = execFileSync('script', ['-qec', `${RAMET} acp --db '${scratch('store.db')}' -- echo log in please`, '/dev/null'],
    { encoding: 'utf8', timeout: 20000, stdio: ['ignore', 'pipe', 'pipe'] });
  assert.match(out, /log in please/);
});

test('two proxies on one store', async () => {
  const e = await editor({}), g = await editor({ db: e.db });
  const [s, t] = [await e.open(), await g.open()];
  assert.notEqual(s, t, 'the id that both agents give is taken once');
  for (let i = 0; i < 5; i++) await Promise.all([e.prompt(s, `e${i}`), g.prompt(t, `g${i}`)]);
  assert.equal((await entries(e.db, s)).length, 10);
  assert.equal((await entries(e.db, t)).length, 10);
  await e.end();
  await g.end();
});

test('through a server instead of a file', async () => {
  const server = await start();
  const e = await editor({ args: ['acp', '--server', server.url, '--user', 'ada', '--name', 'told', '--', process.execPath, TOLD] });
  const s = await e.open();
  await e.prompt(s, 'one');
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.match(await e.says(f, 'two'), /one/);
  assert.match(await e.says(s, '/rewind'), /beginning/);
  assert.equal((await e.load(f)).length, 4);
  const r = await call(server, 'GET', `sessions/${f}/entries`, { user: 'ada' });
  assert.equal(r.body.entries.length, 4);
  await e.end();
});

for (const prefix of ['', '_'])
  test(`in a conductor's chain: ${prefix}proxy/initialize`, async () => {
    const agent = spawn(process.execPath, [TOLD], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ACP_CAPS: '{}' } });
    const link = spawn(RAMET, ['acp', '--db', scratch('store.db'), '--name', 'told'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const put = (to, m) => to.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
    const answers = new Map(), updates = [], cancels = [], ids = new Set();
    const lines = (from, hear) => createInterface({ input: from.stdout }).on('line', (l) => hear(JSON.parse(l)));
    lines(link, (m) => {
      if (m.method === `${prefix}proxy/successor`) return put(agent, { id: m.id, ...m.params });
      if (m.method === '$/cancel_request') return cancels.push(m.params.requestId);
      if (m.method === 'session/request_permission') return put(link, { id: m.id, result: { outcome: { outcome: 'selected', optionId: 'yes' } } });
      if (m.method) return updates.push(m.params.update);
      if (ids.delete(m.id)) return put(agent, { id: m.id - 1000, result: m.result });
      return answers.get(m.id)?.(m);
    });
    lines(agent, (m) => {
      if (!m.method) return put(link, m);
      if (m.id !== undefined) ids.add(m.id + 1000);
      return put(link, { ...(m.id === undefined ? {} : { id: m.id + 1000 }), method: `${prefix}proxy/successor`, params: { method: m.method, params: m.params } });
    });
    let next = 0;
    const ask = async (method, params) => {
      const id = next++;
      put(link, { id, method, params });
      const m = await new Promise((done) => answers.set(id, done));
      assert.ok(m.result, JSON.stringify(m));
      return m.result;
    };
    const hello = await ask(`${prefix}proxy/initialize`, { protocolVersion: 1 });
    assert.ok(hello.agentCapabilities.sessionCapabilities.fork);
    const { sessionId } = await ask('session/new', { cwd: '/tmp', mcpServers: [] });
    await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'permit' }] });
    assert.ok(updates.some((u) => /selected/.test(u.content?.text)));
    const waits = ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'say on it; wait' }] });
    await eventually(() => assert.ok(updates.some((u) => u.content?.text === 'on it')));
    put(link, { method: '$/cancel_request', params: { requestId: next - 1 } });
    await eventually(() => assert.ok(cancels.length), 2000);
    assert.notEqual(cancels[0], next - 1, 'it has the id that the request has on this way');
    put(link, { method: 'session/cancel', params: { sessionId } });
    assert.equal((await waits).stopReason, 'cancelled');
    const fork = await ask('session/fork', { sessionId, cwd: '/tmp' });
    await ask('session/prompt', { sessionId: fork.sessionId, prompt: [{ type: 'text', text: 'two' }] });
    assert.match(updates.at(-1).content.text, /permit[\s\S]*\[two\]$/);
    link.stdin.end();
    agent.stdin.end();
    assert.equal(await new Promise((done) => link.on('close', done)), 0);
  });

test('the agent has ended when its process has, whoever holds its output', async () => {
  const e = await editor();
  const s = await e.open(), path = scratch('pid');
  const error = await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: `helper ${path} detached; die` }] });
  process.kill(Number(readFileSync(path, 'utf8')), 'SIGKILL');
  assert.match(error.message, /exit code 3/);
  assert.equal((await e.closed).code, 3);
});

test('without an agent and without a conductor there is nobody', async () => {
  const r = await ramet(['acp', '--db', scratch('store.db')], { input: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n' });
  assert.equal(JSON.parse(r.out).error.code, -32600);
});

test('it adds less than a millisecond a message, and its memory stays flat', async () => {
  const e = await editor({ env: { ASAN_OPTIONS: [process.env.ASAN_OPTIONS, 'quarantine_size_mb=1'].filter(Boolean).join(':') } });
  const s = await e.open();
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${e.pid}/status`, 'utf8'))[1]);
  await e.prompt(s, 'each 1000');
  const before = memory();
  for (let i = 0; i < 10; i++) await e.prompt(s, 'each 1000');
  const grown = memory() - before;
  assert.ok(grown < 8192 * slow, `${grown} KiB more`);
  const times = [];
  for (let i = 0; i < 1000; i++) {
    const began = process.hrtime.bigint();
    await e.ask('_agent/odd', { i });
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  times.sort((a, b) => a - b);
  assert.ok(times[500] < slow, `${times[500]} ms, the agent's part included`); // `make bench` has the p99
  assert.equal((await json(['show', s, '--db', e.db])).head.length, 11011);
  console.log(`# there and back, the agent's part included: p50 ${times[500].toFixed(2)} ms, p99 ${times[990].toFixed(2)} ms`);
  await e.end();
}, { seconds: 120 });

await finish();
