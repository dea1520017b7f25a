// SPDX-License-Identifier: Apache-2.0
//
// a2a_agent.mjs: remote agents of both generations of A2A as the agents of sessions: the SDK serves
// them, Ramet is their client. What they remember is asked of them: a fork or a rewind must never
// reach into the memory of what it left.
import { test, finish, start, call, must, enc, newSession, append, eventually, sleep, slow, assert } from './lib.mjs';
import { createServer } from 'node:http';
import { remotes, startAgent } from './help/a2a.mjs';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const told = (s, session, json) => must(s, 'POST', at(session, '/messages'), { json: typeof json === 'string' ? { text: json } : json });
const answer = async (s, session, json) => {
  const done = await told(s, session, json);
  assert.equal(done.status, 'done', JSON.stringify(done));
  return done.entries.filter((e) => e.role === 'assistant').map((e) => e.text).join('|');
};
const entries = async (s, session) => (await must(s, 'GET', at(session, '/entries?limit=1000&versions=false'))).entries;
const texts = async (s, session) => (await entries(s, session)).map((e) => e.text);
const recall = async (s, session) => JSON.parse(await answer(s, session, 'recall'));
const fork = (s, session, json = {}) => must(s, 'POST', at(session, '/fork'), { json });

/** A server whose default agent is a remote one. */
async function withAgent(version, run, { settings = '', ...options } = {}) {
  const remote = await startAgent(version, options);
  try {
    const s = await start({ args: ['--agent', `far=a2a,url=${remote.url}${settings}`] });
    await run(s, remote);
    await s.stop();
  } finally {
    await remote.stop();
  }
}

for (const version of remotes) {
  for (const style of ['artifact', 'status'])
    test(`${version}: words of an agent that tells them as ${style} come as they are said, once`, () => withAgent(version, async (s) => {
      await newSession(s, { id: 'a' });
      assert.equal(await answer(s, 'a', 'two words'), 'heard: two words');
      assert.equal(await answer(s, 'a', 'Grüße 🌱'), 'heard: Grüße 🌱');
      assert.deepEqual(await texts(s, 'a'), ['two words', 'heard: two words', 'Grüße 🌱', 'heard: Grüße 🌱']);
      assert.equal((await entries(s, 'a'))[1].author, 'far');
      const tool = await told(s, 'a', 'tool');
      const kinds = tool.entries.map((e) => e.parts[0].type);
      assert.deepEqual(kinds, ['text', 'tool_call', 'tool_result', 'text']);
      assert.deepEqual([tool.entries[1].parts[0].name, tool.entries[1].parts[0].input], ['look', { at: 'sky' }]);
      assert.deepEqual(tool.entries[2].parts[0].output, { result: 'blue' });
      assert.equal(tool.entries[3].text, 'done');
    }, { style }));

  test(`${version}: an agent that does not stream, and one that answers with a message`, () => withAgent(version, async (s) => {
    await newSession(s, { id: 'a' });
    assert.equal(await answer(s, 'a', 'one two'), 'heard: one two');
    assert.equal(await answer(s, 'a', 'plain word'), 'heard: word');
    const tool = await told(s, 'a', 'tool');
    assert.equal(tool.entries.at(-1).text, 'done');
    assert.equal(await answer(s, 'a', 'slow 30 a b c'), 'a b c');
  }, { streaming: false }));

  test(`${version}: when the overlays change, what is left is told in a new context`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    const one = await told(s, 'a', 'my pin is 1234');
    for (const e of one.entries) await must(s, 'POST', at('a', '/overlays'), { json: { entry_id: e.id, action: 'replace', text: 'a pin' } });
    const done = await told(s, 'a', 'recall');
    assert.equal(new Set(remote.log.map((l) => l.contextId)).size, 2);
    const sent = remote.log.at(-1).message;
    assert.ok(JSON.stringify(sent).includes('a pin') && !JSON.stringify(sent).includes('1234'), JSON.stringify(sent));
    const prompt = await must(s, 'GET', at('a', `/turns/${done.turn_id}/prompt`));
    assert.equal(prompt.known, true);
    assert.equal(prompt.messages[0].messageId, sent.messageId);
  }));

  for (const history of ['context', 'every-turn'])
    test(`${version}: what is hidden is in no transcript (${history}), in a fork neither, until it is revealed`, () => withAgent(version, async (s, remote) => {
      const overlay = (entry, action) => must(s, 'POST', at('a', '/overlays'), { json: { entry_id: entry.id, action } });
      const sent = async (id) => {
        await told(s, id, 'recall');
        return JSON.stringify(remote.log.at(-1).message);
      };
      await newSession(s, { id: 'a' });
      await told(s, 'a', 'first of all');
      const one = await told(s, 'a', 'my pin is 1234');
      for (const e of one.entries) await overlay(e, 'hide');
      const hidden = await sent('a');
      assert.ok(/first of all/.test(hidden) && !/1234/.test(hidden), hidden);
      const forked = await sent((await fork(s, 'a')).id);
      assert.ok(/first of all/.test(forked) && !/1234/.test(forked), forked);
      const last = await told(s, 'a', 'from here on');
      await overlay(last.entries[0], 'hide_before');
      const above = await sent('a');
      assert.ok(/from here on/.test(above) && !/first of all|1234/.test(above), above);
      // The record is what it was, and A2A shows it.
      assert.match(JSON.stringify(await entries(s, 'a')), /1234/);
      for (const o of (await must(s, 'GET', at('a', '/overlays'))).overlays) await must(s, 'DELETE', at('a', `/overlays/${o.id}`));
      assert.match(await sent('a'), /1234/);
    }, { settings: `,history=${history}` }));

  test(`${version}: after an erasure, what is left is told in a new context`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    const one = await told(s, 'a', 'my pin is 1234');
    await told(s, 'a', 'my name is Ada');
    const contexts = () => new Set(remote.log.map((l) => l.contextId)).size;
    let n = contexts();
    assert.equal(n, 1);
    for (const e of one.entries) { // the question, then the answer
      await must(s, 'POST', 'erase', { json: { entry: { session_id: 'a', entry_id: e.id } } });
      await told(s, 'a', 'and now');
      assert.equal(contexts(), ++n);
      assert.match(JSON.stringify(remote.log.at(-1).message), /\[erased\].*my name is Ada/);
      await told(s, 'a', 'go on');
      assert.equal(contexts(), n, 'it holds what is left');
    }
    assert.doesNotMatch(JSON.stringify(remote.log.at(-2).message), /1234/);
  }));

  test(`${version}: one context for one branch; a fork, a rewind and an edit open new ones`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    await answer(s, 'a', 'one');
    await answer(s, 'a', 'two');
    assert.deepEqual(await recall(s, 'a'), ['one', 'heard: one', 'two', 'heard: two', 'recall']);
    assert.equal(new Set(remote.log.map((l) => l.contextId)).size, 1);
    const marked = () => remote.log.at(-1).message.parts.filter((p) => p.metadata?.['urn:ramet:ext:transcript:v1']);
    assert.equal(marked().length, 0);

    const b = await fork(s, 'a', { at: { entry_id: (await entries(s, 'a'))[1].id } });
    const known = await recall(s, b.id);
    assert.equal(known.length, 2);
    assert.match(known[0], /User: one\n\nAssistant: heard: one/);
    assert.doesNotMatch(known[0], /two/);
    assert.equal(marked().length, 1);
    assert.equal(remote.log.at(-1).message.parts.length, 2);
    await answer(s, b.id, 'more');
    assert.equal(marked().length, 0, 'the transcript comes once');
    assert.equal((await recall(s, b.id)).filter((t) => /User: one/.test(t)).length, 2, 'as the first message and in the first answer');
    assert.ok((await recall(s, 'a')).every((t) => !/more/.test(t)), 'the source does not know what the fork says');

    const before = (await entries(s, 'a'))[2].id;
    await must(s, 'POST', at('a', '/rewind'), { json: { at: { entry_id: before, side: 'before' } } });
    assert.doesNotMatch(JSON.stringify(await recall(s, 'a')), /two/);
    await must(s, 'POST', at('a', '/undo'), { json: {} });
    const back = await recall(s, 'a');
    assert.ok(back.includes('two') && back.every((t) => !/User:/.test(t)), 'undo leads back to the context that was there');

    await answer(s, 'a', { text: 'three', replace: before });
    const edited = JSON.stringify(await recall(s, 'a'));
    assert.ok(/three/.test(edited) && !/two/.test(edited));
    for (const id of ['a', b.id])
      assert.doesNotMatch(JSON.stringify(await entries(s, id)), /conversation so far(?!.*heard)|"synthetic"/, 'what was made up is in no entry of the user');
    for (const e of (await entries(s, b.id)).filter((x) => x.role === 'user'))
      assert.doesNotMatch(e.text, /conversation so far/);
  }));

  test(`${version}: the agent is told who writes through a link`, () => withAgent(version, async (s, remote) => {
    const kagent = (path, json, headers) => must(s, 'POST', path, { json, headers: { 'X-User-Id': 'ann', ...headers } }).then((r) => r.data ?? r.result);
    await kagent('/api/sessions', { id: 'a', agent_ref: 'kagent/far' });
    const { token } = await kagent('/api/sessions/a/shares', { read_only: false });
    const send = (text, headers) => kagent('/api/a2a/kagent/far', { jsonrpc: '2.0', id: 1, method: 'message/send',
      params: { message: { kind: 'message', messageId: text, role: 'user', contextId: 'a', parts: [{ kind: 'text', text }] } } }, headers);
    await send('mine');
    assert.equal(remote.log.at(-1).message.metadata?.initiated_by, undefined);
    await send('theirs', { 'X-User-Id': 'guest', 'X-Share-Token': token });
    assert.equal(remote.log.at(-1).message.metadata.initiated_by, 'guest');
  }));

  test(`${version}: what others said between two answers is told in a new context`, () => withAgent(version, async (s) => {
    await newSession(s, { id: 'a' });
    await answer(s, 'a', 'one');
    await append(s, 'a', { role: 'assistant', text: 'from elsewhere' });
    const known = await recall(s, 'a');
    assert.match(known[0], /from elsewhere/);
    assert.equal((await recall(s, 'a')).length, 4);
    await told(s, 'a', 'fail it is late');
    assert.match((await recall(s, 'a'))[0], /fail it is late/);
  }));

  test(`${version}: an agent that remembers nothing is told everything each time`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    await answer(s, 'a', 'one');
    await answer(s, 'a', 'two');
    assert.match((await recall(s, 'a'))[0], /User: one\n\nAssistant: heard: one\n\nUser: two/);
    assert.equal(new Set(remote.log.map((l) => l.contextId)).size, 3);
  }, { settings: ',history=every-turn' }));

  test(`${version}: an agent that reads the session back gets it as its context, and nothing else`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    await answer(s, 'a', 'one');
    const b = await fork(s, 'a');
    await answer(s, b.id, 'two');
    assert.deepEqual(remote.log.map((l) => l.contextId), ['a', b.id]);
    assert.deepEqual(remote.log[1].message.parts.map((p) => p.text), ['two']);
    assert.equal(remote.log[1].message.messageId, (await entries(s, b.id))[2].id);
  }, { settings: ',history=reads-back' }));

  test(`${version}: an agent that records its answer itself, as kagent's do, is not recorded twice`, () => withAgent(version, async (s, remote) => {
    const posted = [];
    remote.executor.onAnswer = async ({ taskId, contextId, user, answer: said }) => {
      const task = (history, state) => ({ kind: 'task', id: taskId, contextId, history, status: { state, timestamp: new Date().toISOString() }, artifacts: null, metadata: null });
      const agent = { ...said, metadata: { kagent_invocation_id: `e-${taskId}`, kagent_author: 'far' } };
      for (const body of [task([user], 'submitted'), task([user, agent], 'working'), task([user, agent], 'completed')]) {
        const r = await call(s, 'POST', '/api/tasks?user_id=local', { json: body, headers: { 'X-Agent-Name': 'kagent__NS__far' } });
        posted.push(r.status);
      }
    };
    await newSession(s, { id: 'a' });
    const turn = await told(s, 'a', 'one');
    assert.deepEqual(posted, [201, 201, 201]);
    assert.equal(turn.status, 'done', turn.error);
    assert.deepEqual(await texts(s, 'a'), ['one', 'heard: one']);
    await told(s, 'a', 'two');
    assert.deepEqual(await texts(s, 'a'), ['one', 'heard: one', 'two', 'heard: two']);
    const shown = (await must(s, 'GET', '/api/sessions/a/tasks?user_id=local')).data.flatMap((t) => t.history.map((m) => m.parts[0].text));
    assert.deepEqual([...new Set(shown)], ['one', 'heard: one', 'two', 'heard: two']);
    const b = await fork(s, 'a', { at: { entry_id: (await entries(s, 'a'))[1].id } });
    await told(s, b.id, 'three');
    assert.deepEqual(await texts(s, b.id), ['one', 'heard: one', 'three', 'heard: three']);
    assert.deepEqual(await texts(s, 'a'), ['one', 'heard: one', 'two', 'heard: two']);
    remote.executor.onAnswer = undefined;
    await told(s, 'a', 'four');
    assert.deepEqual((await texts(s, 'a')).slice(-2), ['four', 'heard: four'], 'one that does not is');
  }, { settings: ',history=reads-back,user=on' }));

  test(`${version}: a question of the agent is one to the user, and the turn goes on`, () => withAgent(version, async (s) => {
    await newSession(s, { id: 'a' });
    const turn = told(s, 'a', 'ask which colour?');
    const running = await eventually(async () => {
      const r = (await must(s, 'GET', at('a'))).running;
      assert.ok(r?.question);
      return r;
    });
    assert.deepEqual([running.question.kind, running.question.text], ['input', 'which colour?']);
    await must(s, 'POST', at('a', `/turns/${running.turn_id}/answer`), { json: { question_id: running.question.id, answer: 'green' } });
    assert.equal((await turn).entries.at(-1).text, 'answered: green');
  }));

  test(`${version}: a cancel reaches the agent, at once`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    const turn = told(s, 'a', `slow 100 ${'word '.repeat(200)}`);
    await eventually(async () => assert.match((await must(s, 'GET', at('a'))).running.text, /word/));
    const from = Date.now();
    await must(s, 'POST', at('a', '/cancel'), { json: {} });
    assert.equal((await turn).status, 'cancelled');
    assert.ok(Date.now() - from < 1000 * slow);
    await eventually(() => assert.equal(remote.executor.stopped.size, 1));
    assert.match((await recall(s, 'a'))[0], /slow 100/, 'the context of a turn that was cut off is not used again');
  }));

  test(`${version}: failures tell why; a stream that breaks off is taken up again`, () => withAgent(version, async (s, remote) => {
    await newSession(s, { id: 'a' });
    const failed = await told(s, 'a', 'fail no such luck');
    assert.equal(failed.status, 'failed');
    assert.match(failed.error, /no such luck/);
    remote.breakNext();
    assert.equal(await answer(s, 'a', 'slow 60 a b c d e f'), 'a b c d e f');
    await remote.stop();
    const gone = await told(s, 'a', 'hello');
    assert.equal(gone.status, 'failed');
    assert.match(gone.error, /cannot be reached/);
  }, { settings: ',retries=1,backoff_ms=10' }));
}

/** An agent that answers with these bytes, whatever is asked. */
async function withBytes(answers, run, settings = ',version=0.3,idle_s=1,first_byte_s=1,timeout_s=3,retries=0') {
  const log = [];
  const http = createServer((req, res) => {
    let body = '';
    req.on('data', (d) => (body += d));
    req.on('end', () => {
      log.push({ url: req.url, headers: req.headers, body });
      answers(req, res, log.length, body);
    });
  });
  await new Promise((go) => http.listen(0, '127.0.0.1', go));
  try {
    const s = await start({ args: ['--agent', `far=a2a,url=http://127.0.0.1:${http.address().port}/x${settings}`], env: { KEY: 's3cret' } });
    await newSession(s, { id: 'a' });
    await run(s, log, http.address().port);
    await s.stop();
  } finally {
    http.closeAllConnections();
    await new Promise((go) => http.close(go));
  }
}
const events = (...list) => (req, res) => {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const e of list) res.write(typeof e === 'string' ? e : `data: ${JSON.stringify({ jsonrpc: '2.0', id: '1', result: e })}\n\n`);
  res.end();
};
const done = { kind: 'status-update', taskId: 't', contextId: 'c', final: true, status: { state: 'completed' } };

test('an agent over HTTP+JSON: its paths, with and without a tenant, with a fixed version; what it refuses', async () => {
  for (const tenant of [undefined, 'one/two']) {
    const front = tenant ? '/one%2Ftwo' : '';
    await withAgent('1.0 HTTP+JSON', async (s, remote) => {
      await newSession(s, { id: 'a' });
      assert.equal(await answer(s, 'a', 'one'), 'heard: one');
      assert.deepEqual(remote.calls, [`POST ${front}/message:stream`]);
      remote.breakNext();
      assert.equal(await answer(s, 'a', 'slow 60 a b c d'), 'a b c d');
      assert.match(remote.calls.at(-1), tenant ? /^GET \/one%2Ftwo\/tasks\/[^/]+:subscribe$/ : /^GET \/tasks\/[^/]+:subscribe$/);
      const turn = told(s, 'a', `slow 100 ${'word '.repeat(200)}`);
      await eventually(async () => assert.match((await must(s, 'GET', at('a'))).running.text, /word/));
      await must(s, 'POST', at('a', '/cancel'), { json: {} });
      assert.equal((await turn).status, 'cancelled');
      await eventually(() => assert.equal(remote.executor.stopped.size, 1));
    }, { tenant });
  }
  const remote = await startAgent('1.0 HTTP+JSON');
  const s = await start({ args: ['--agent', `far=a2a,url=${remote.url}/rpc,version=1.0,binding=HTTP+JSON,stream=off`] });
  await newSession(s, { id: 'a' });
  assert.equal(await answer(s, 'a', 'one'), 'heard: one');
  assert.deepEqual(remote.calls, ['POST /message:send']);
  await remote.stop();
  await withBytes((req, res) => { res.writeHead(400, { 'Content-Type': 'application/json' }); res.end('{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"not like this"}}'); },
    async (server) => assert.match((await told(server, 'a', 'x')).error, /refused: not like this/), ',version=1.0,binding=HTTP+JSON,retries=0');
});

test('a card with no interface that is spoken here is told', async () => {
  await withBytes((req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ name: 'n', supportedInterfaces: [{ url: 'h:1', protocolBinding: 'GRPC', protocolVersion: '1.0' }], capabilities: {} }));
  }, async (s) => assert.match((await told(s, 'a', 'x')).error, /no interface over JSON-RPC or HTTP\+JSON/), ',retries=0');
});

test('whatever a remote agent sends, the turn ends and says how', async () => {
  const bad = [
    [events('data: {broken\n\n'), /no JSON/],
    [events('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}}\n\n'), /boom/],
    [events('data: []\n\n'), /neither/],
    [events(), /broke off/],
    [(q, res) => { res.writeHead(500); res.end('inner trouble'); }, /500: inner trouble/],
    [(q, res) => { res.writeHead(302, { Location: '/y' }); res.end(); }, /302/],
    [(q, res) => { res.writeHead(200, { 'Content-Type': 'application/json' }); res.end('{"jsonrpc":"2.0","id":"1","error":{"code":-32601,"message":"no such method"}}'); }, /no such method/],
    [(q, res) => res.socket.destroy(), /cannot be reached/],
    [() => {}, /nothing came within 1 s/],
    [events({ kind: 'status-update', taskId: 't', contextId: 'c', final: true, status: { state: 'auth-required' } }), /sign in/],
    [events({ kind: 'status-update', taskId: 't', contextId: 'c', final: true, status: { state: 'rejected', message: { kind: 'message', messageId: 'm', role: 'agent', parts: [{ kind: 'text', text: 'not you' }] } } }), /not you/],
  ];
  for (const [answers, pattern] of bad)
    await withBytes(answers, async (s) => {
      const r = await told(s, 'a', 'hello');
      assert.equal(r.status, 'failed', JSON.stringify(r));
      assert.match(r.error, pattern);
    });
}, { seconds: 120 });

test('a partial message is said once, whole messages stand apart, files and data are told', async () => {
  const status = (text, metadata, id = text) => ({ kind: 'status-update', taskId: 't', contextId: 'c', final: false, status: { state: 'working',
    message: { kind: 'message', messageId: id, role: 'agent', parts: [{ kind: 'text', text }], metadata } } });
  await withBytes(events(status('Hel', { kagent_adk_partial: true }), ': a comment\n\n', status('lo', { kagent_adk_partial: true }), status('Hello'), status('Bye'), status('Bye'),
    { kind: 'artifact-update', taskId: 't', contextId: 'c', lastChunk: true, artifact: { artifactId: 'x', parts: [{ kind: 'text', text: 'Bye' }] } },
    { kind: 'artifact-update', taskId: 't', contextId: 'c', lastChunk: true, artifact: { artifactId: 'y', parts: [{ kind: 'file', file: { uri: 'https://h/f', name: 'f' } }] } }, done),
  async (s) => {
    const r = await told(s, 'a', 'x');
    assert.deepEqual(r.entries.filter((e) => e.role === 'assistant').map((e) => e.parts), [[{ type: 'text', text: 'Hello\n\nBye' }],
      [{ type: 'file', url: 'https://h/f', name: 'f' }]]);
  });
});

test('an extension that the agent requires and that is unknown here is refused by its name', async () => {
  await withBytes((req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify({ name: 'n', protocolVersion: '0.3.0', capabilities: { extensions: [{ uri: 'https://example.org/known-to-nobody', required: true }] } }));
  }, async (s) => {
    const r = await told(s, 'a', 'x');
    assert.equal(r.status, 'failed');
    assert.match(r.error, /requires the extension 'https:\/\/example.org\/known-to-nobody'/);
  }, ',retries=0');
});

test('a card is read once, and its address only followed on the same host; the key stays there', async () => {
  await withBytes((req, res, n, body) => {
    if (req.url === '/x/.well-known/agent-card.json') {
      res.writeHead(200, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ name: 'n', url: 'http://other.invalid/rpc', protocolVersion: '0.3.0', capabilities: { streaming: true } }));
    } else {
      assert.equal(JSON.parse(body).method, 'message/stream');
      events(done)(req, res);
    }
  }, async (s, log) => {
    await told(s, 'a', 'one');
    await told(s, 'a', 'two');
    assert.deepEqual(log.map((l) => l.url), ['/x/.well-known/agent-card.json', '/x', '/x']);
    assert.ok(log.every((l) => l.headers.authorization === 'Bearer s3cret'));
    assert.equal(log[1].headers['x-user-id'], 'local');
    assert.equal(log[1].headers['a2a-version'], undefined);
  }, ',key=$KEY,user=on,retries=0');
  await withBytes((req, res) => { res.writeHead(403); res.end('s3cret is not welcome'); }, async (s) => {
    const { error } = await told(s, 'a', 'x');
    assert.match(error, /403: \*{6} is not welcome/);
  }, ',key=$KEY,version=1.0');
});

test('settings that do not do are refused, and name what is wrong', async () => {
  for (const [text, pattern] of [['a2a', /url is missing/], ['a2a,url=ftp://x', /url is 'ftp:\/\/x'/], ['a2a,url=http://h/?q', /without a query/],
    ['a2a,url=http://h,version=2', /auto, 0.3 or 1.0/], ['a2a,url=http://h,binding=GRPC', /auto, JSONRPC or HTTP\+JSON/],
    ['a2a,url=http://h,version=0.3,binding=HTTP+JSON', /JSONRPC with version=0.3/], ['a2a,url=http://h,history=none', /context, reads-back or every-turn/],
    ['a2a,url=http://h,idle_s=never', /idle_s/], ['a2a,url=http://h,stream=maybe', /stream/], ['a2a,url=http://u:p@h/', /url is/]])
    await assert.rejects(start({ args: ['--agent', `far=${text}`] }), pattern);
});

await finish();
