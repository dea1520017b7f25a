// SPDX-License-Identifier: Apache-2.0
//
// acp-agent.mjs: `ramet acp --agent NAME`: Ramet as an agent for an editor.
import http from 'node:http';
import { test, finish, assert, call, eventually, ramet, scratch, start } from './lib.mjs';
import { editor } from './help/acp.mjs';

const agent = ({ db = scratch('store.db'), args = ['--db', db], name = 'echo', ...more } = {}) =>
  editor({ db, args: ['acp', ...args, '--agent', name], ...more });

test('new, prompt, load, resume, list, close, delete', async () => {
  const e = await agent();
  assert.equal(e.hello.agentInfo.name, 'ramet');
  const { sessionId: s, configOptions } = await e.ask('session/new', { cwd: '/tmp', mcpServers: [] });
  assert.equal(configOptions[0].currentValue, 'echo');
  assert.equal(await e.says(s, 'hello there'), 'hello there');
  const history = await e.load(s);
  assert.deepEqual(history.map(([kind, text]) => [kind, text]), [['user_message_chunk', 'hello there'], ['agent_message_chunk', 'hello there']]);
  await e.ask('session/resume', { sessionId: s, cwd: '/tmp' });
  const [one] = (await e.ask('session/list', { cwd: '/tmp' })).sessions;
  assert.deepEqual([one.sessionId, one.title], [s, 'hello there']);
  assert.ok(e.updates(s).some((u) => u.sessionUpdate === 'session_info_update' && u.title === 'hello there'));
  await e.ask('session/close', { sessionId: s });
  assert.equal((await e.load(s)).length, 2);
  await e.ask('session/delete', { sessionId: s });
  assert.deepEqual((await e.ask('session/list', {})).sessions, []);
  assert.equal((await e.fails('session/load', { sessionId: s, cwd: '/tmp', mcpServers: [] })).code, -32002);
  assert.deepEqual(await e.end(), { code: 0, signal: null });
});

test('fork at the head, at a message, and in mid-turn', async () => {
  const e = await agent();
  const s = await e.open();
  await e.prompt(s, 'one');
  await e.prompt(s, 'two');
  const f = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.equal(await e.says(f, '/history'), 'user: one\nassistant: one\nuser: two\nassistant: two\nuser: /history');
  const ids = (await e.load(s)).map(([, , id]) => id);
  const g = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp', _meta: { ramet: { fork: { messageId: ids[2], position: 'before' } } } })).sessionId;
  assert.equal((await e.load(g)).length, 2);
  assert.equal((await e.fails('session/fork', { sessionId: s, cwd: '/tmp', _meta: { ramet: { fork: { messageId: 'gone' } } } })).code, -32602);
  const turn = e.call('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: '/slow 300\na b c d e f g h i j' }] });
  await eventually(() => assert.ok(e.updates(s).some((u) => u.content?.text === 'a ')));
  const h = (await e.ask('session/fork', { sessionId: s, cwd: '/tmp' })).sessionId;
  assert.equal((await e.load(h)).length, 4);
  e.send({ method: 'session/cancel', params: { sessionId: s } });
  assert.equal((await turn).result.stopReason, 'cancelled');
  const r = await e.ask('_ramet/session/rewind', { sessionId: s });
  assert.equal(r.messages, 4);
  await e.end();
});

test('tools, plans, thoughts, permissions and failures', async () => {
  const e = await agent();
  e.requests['session/request_permission'] = (p) => ({ outcome: { outcome: 'selected', optionId: p.options[1].optionId } });
  const s = await e.open();
  const from = e.log.length;
  const result = await e.prompt(s, '/think hm\n/plan a; b\n/tool look {"x":1}\n/permit May I?\n/usage 7 5 0\nend');
  assert.deepEqual(result.usage, { totalTokens: 12, inputTokens: 7, outputTokens: 5 });
  const kinds = e.updates(s, from).map((u) => u.sessionUpdate);
  for (const kind of ['agent_thought_chunk', 'plan', 'tool_call', 'tool_call_update', 'agent_message_chunk']) assert.ok(kinds.includes(kind), kind);
  assert.match(e.updates(s, from).map((u) => u.content?.text ?? '').join(''), /answered: deny/);
  assert.equal((await e.fails('session/prompt', { sessionId: s, prompt: [{ type: 'text', text: '/fail no way' }] })).message, 'no way');
  assert.equal((await e.fails('session/prompt', { sessionId: 'none', prompt: [{ type: 'text', text: 'x' }] })).code, -32002);
  assert.equal((await e.fails('session/none', {})).code, -32601);
  e.raw('[]');
  e.raw('{');
  await eventually(() => assert.deepEqual(e.log.filter((m) => m.id === null).map((m) => m.error.code), [-32600, -32700]));
  await e.end();
});

test('on a server: its agents are modes and an option, their models another', async () => {
  const asked = [];
  const model = http.createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d));
    q.on('end', () => {
      asked.push(JSON.parse(body).model);
      r.setHeader('content-type', 'application/json');
      r.end(JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }], usage: { prompt_tokens: 20, completion_tokens: 1 } }));
    });
  });
  await new Promise((done) => model.listen(0, '127.0.0.1', done));
  const server = await start({ args: ['--agent', 'slow=echo,delay_ms=1,context=1000',
    '--agent', `ai=openai,url=http://127.0.0.1:${model.address().port}/v1,model=small,models=small large,context=8000`] });
  const e = await agent({ args: ['--server', server.url, '--user', 'ada'] });
  const { sessionId, configOptions, modes } = await e.ask('session/new', { cwd: '/tmp', mcpServers: [] });
  assert.deepEqual(configOptions.map((o) => [o.id, o.category, o.currentValue]), [['agent', 'mode', 'echo']]);
  assert.deepEqual(configOptions[0].options.map((o) => o.value).sort(), ['ai', 'echo', 'slow']);
  assert.equal(modes.currentModeId, 'echo');
  assert.deepEqual(modes.availableModes.map((m) => m.id).sort(), ['ai', 'echo', 'slow']);
  const from = () => e.log.length;
  let at = from();
  const set = await e.ask('session/set_config_option', { sessionId, configId: 'agent', value: 'slow' });
  assert.equal(set.configOptions[0].currentValue, 'slow');
  assert.deepEqual(e.updates(sessionId, at), [{ sessionUpdate: 'current_mode_update', currentModeId: 'slow' }]);
  assert.equal((await e.fails('session/set_config_option', { sessionId, configId: 'agent', value: 'nobody' })).code, -32602);
  assert.equal((await e.fails('session/set_config_option', { sessionId, configId: 'model', value: 'large' })).code, -32602, 'echo has none');
  assert.equal((await e.fails('session/set_mode', { sessionId, modeId: 'nobody' })).code, -32602);
  assert.equal((await e.fails('session/set_mode', { sessionId: 'none', modeId: 'ai' })).code, -32002);
  at = from();
  assert.equal(await e.says(sessionId, 'a b'), 'a b');
  assert.deepEqual(e.updates(sessionId, at).find((u) => u.sessionUpdate === 'usage_update'), { sessionUpdate: 'usage_update', used: 4, size: 1000 });
  at = from();
  await e.ask('session/set_mode', { sessionId, modeId: 'ai' });
  const told = e.updates(sessionId, at).find((u) => u.sessionUpdate === 'config_option_update').configOptions;
  assert.deepEqual(told[1].options.map((o) => o.value), ['small', 'large']);
  assert.equal(await e.says(sessionId, 'x'), 'yes');
  const large = await e.ask('session/set_config_option', { sessionId, configId: 'model', value: 'large' });
  assert.equal(large.configOptions[1].currentValue, 'large');
  await e.says(sessionId, 'y');
  assert.deepEqual(asked, ['small', 'large']);
  at = from();
  await call(server, 'PATCH', `sessions/${sessionId}`, { user: 'ada', json: { agent: { name: 'echo' } } });
  assert.equal(await e.says(sessionId, 'z'), 'z');
  assert.ok(e.updates(sessionId, at).some((u) => u.currentModeId === 'echo'), 'somebody else has changed it');
  const f = await e.ask('session/fork', { sessionId, cwd: '/tmp' });
  assert.equal(f.modes.currentModeId, 'echo');
  await e.end();
  model.close();
  const r = await ramet(['acp', '--server', server.url, '--agent', 'nobody']);
  assert.equal(r.code, 2);
  assert.match(r.err, /nobody/);
});

await finish();
