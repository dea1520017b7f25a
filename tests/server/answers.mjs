// SPDX-License-Identifier: Apache-2.0
//
// answers.mjs: long answers of every face. They are made piece by piece as the client takes them, hold the
// same bytes as short ones, and end when what they show is gone.
import net from 'node:net';
import { test, finish, start, call, must, metric, append, newSession, assert, enc, slow, eventually } from './lib.mjs';

const COUNT = 8, ENTRIES = 40, BYTES = 250000, FORKS = 160, GONE = 150, META = 60000, SESSIONS = 4200;
const PIECE = 6e6; // a piece of 2 MiB and an entry, in a buffer that doubles
const AGENT = 'ns__NS__a';
const long = (i) => `${i} ${'x'.repeat(BYTES)}`;
const kagent = { 'X-User-Id': 'ann', 'X-Agent-Name': AGENT };
const bearer = (user) => ({ Authorization: `Bearer ${user}` });
const ann = { user: 'ann' }, kim = { 'X-User-Id': 'kim' };

let server;
/** One server with: `a`, a long history; `k`, a long adk log; `m`, entries with numbers; `root`, many forks; and
 *  many sessions of kim's. */
async function store() {
  if (server && server.child.exitCode === null) return server;
  const s = await start({ keep: true, args: ['--stall-seconds', '3600'] });
  await newSession(s, { id: 'a' }, ann);
  for (let i = 0; i < ENTRIES; i += 2)
    await append(s, 'a', [{ role: 'user', text: long(i) }, { role: 'assistant', text: long(i + 1) }], ann);
  const post = async (path, json, headers) => {
    const r = await call(s, 'POST', path, { json, headers });
    assert.ok(r.status < 300, `${path}: ${r.status} ${r.text.slice(0, 200)}`);
  };
  await post('/api/sessions', { agent_ref: AGENT, id: 'k' }, kagent);
  for (let i = 0; i < ENTRIES; i++) {
    const event = { id: `e${i}`, invocation_id: `i${i}`, author: 'agent', content: long(i), actions: { state_delta: { [`k${i % 3}`]: i } } };
    await post('/api/sessions/k/events', { id: `e${i}`, data: JSON.stringify(event) }, kagent);
  }
  for (let i = 0; i < ENTRIES; i++)
    await post('/v1/conversations/m/entries', { channel: 'history', contentType: 'history', seq: i, content: [{ role: 'USER', text: long(i) }] }, bearer('ann'));
  await post('/ramet/v1/sandboxes', { id: 'box' }, { 'X-User-Id': 'ann' });
  await newSession(s, { id: 'root', sandbox: 'box' }, ann);
  await append(s, 'root', [{ id: 'q', role: 'user', text: 'question' }, { id: 'r', role: 'assistant', text: 'answer' }], ann);
  const forked = (from, i) => call(s, 'POST', `/api/v2/sandboxes/box/sessions/${from}/fork`,
    { ...ann, json: { messageId: 'r', agentConfig: { note: `${i} ${'m'.repeat(META)}` } } });
  const forks = [];
  for (let i = 0; i < FORKS; i++) forks.push((await forked('root', i)).body.id);
  // One is gone, and stands in the tree for its fork.
  await forked(forks[GONE], FORKS);
  await must(s, 'DELETE', `sessions/${forks[GONE]}`, ann);
  for (let i = 0; i < SESSIONS; i += 60)
    await Promise.all(Array.from({ length: 60 }, (_, k) => post('/api/sessions', { agent_ref: AGENT, id: `s${i + k}`, name: '"'.repeat(480) }, kim)));
  return (server = s);
}

// ------------------------------------------------------------------ requests

/** A request of HTTP/1.0 whose answer is not read until read() is called: {text, over}. */
function unread(s, { method = 'GET', path, headers = {}, body = '' }) {
  const bare = { text: '', over: false };
  const socket = (bare.socket = net.connect(s.port, '127.0.0.1'));
  socket.setEncoding('utf8');
  socket.on('data', (d) => { bare.text += d; if (!bare.reads) socket.pause(); });
  socket.on('error', () => (bare.over = true));
  socket.on('close', () => (bare.over = true));
  bare.read = () => { bare.reads = true; socket.resume(); };
  bare.body = () => bare.text.slice(bare.text.indexOf('\r\n\r\n') + 4);
  const lines = Object.entries({ Host: 'localhost', ...headers, ...(body ? { 'Content-Length': Buffer.byteLength(body) } : {}) });
  socket.write(`${method} ${path} HTTP/1.0\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join('')}\r\n${body}`);
  return bare;
}
const begun = async (s, asked) => {
  for (const each of asked) await eventually(() => assert.match(each.text, /^HTTP\/1\.\d 200/, each.text.slice(0, 300)), 30000 * slow);
  await eventually(async () => assert.equal(await metric(s, 'ramet_http_queue'), 1), 30000 * slow);
};
const ended = async (asked) => {
  for (const each of asked) each.read();
  for (const each of asked) await eventually(() => assert.ok(each.over), 60000 * slow);
};
async function fetched(s, { method = 'GET', path, headers = {}, body }) {
  const r = await fetch(s.url + path, { method, headers: { ...headers, 'Accept-Encoding': 'identity' }, body });
  const text = await r.text();
  assert.equal(r.status, 200, text.slice(0, 300));
  return { text, headers: r.headers, body: JSON.parse(text) };
}
const get = (s, path, headers) => fetched(s, { path, headers });
/** What stands between two texts, the last of which is the last one of its kind. */
const between = (text, from, to) => text.slice(text.indexOf(from) + from.length, text.lastIndexOf(to));

const rpc = (method, params, version = '1.0', path = '/a2a/echo') => ({
  method: 'POST', path, headers: { 'Content-Type': 'application/json', 'X-User-Id': 'ann', 'A2A-Version': version },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});

// ------------------------------------------------------------------ the routes

const entriesOf = (query, id = 'a') => ({ path: `/v1/conversations/${id}/entries?limit=1000${query}`, headers: bearer('ann') });
/** Entries of memory-service, from pages of two, as bytes. */
async function smallPages(s, query, id = 'a') {
  let texts = [], after = '';
  do {
    const p = await get(s, `/v1/conversations/${id}/entries?limit=2${query}${after}`, bearer('ann'));
    assert.ok(p.headers.get('content-length'), 'a small page is sent at once');
    texts.push(between(p.text, '{"data":[', '],"afterCursor"'));
    after = p.body.afterCursor && `&afterCursor=${p.body.afterCursor}`;
  } while (after);
  return texts.join(',');
}
const data = (text) => between(text, '{"data":[', '],"afterCursor"');
const numbers = (list, of) => list.map((x) => parseInt(of(x)));
const all = Array.from({ length: ENTRIES }, (_, i) => i);
const textsOf = (task) => task.history.map((m) => m.parts[0].text);

const routes = {
  'memory-service, along the path': { ask: entriesOf(''), same: async (s, text) => assert.equal(data(text), await smallPages(s, '')) },
  'memory-service, from the end': { ask: entriesOf('&tail=true'), same: async (s, text) => assert.equal(data(text), await smallPages(s, '')) },
  'memory-service, all forks': { ask: entriesOf('&forks=all'), same: async (s, text) => assert.equal(data(text), await smallPages(s, '&forks=all')) },
  'memory-service, all forks from the end': { ask: entriesOf('&forks=all&tail=true'), same: async (s, text) => assert.equal(data(text), await smallPages(s, '&forks=all')) },
  'memory-service, by number': { ask: entriesOf('&fromSeq=1', 'm'), same: async (s, text) => assert.equal(data(text), await smallPages(s, '&fromSeq=1', 'm')) },
  'memory-service, by number from the end': { ask: entriesOf('&fromSeq=1&tail=true', 'm'), same: async (s, text) => assert.equal(data(text), await smallPages(s, '&fromSeq=1', 'm')) },
  'memory-service, conversations': {
    ask: { path: '/v1/conversations?limit=1000&mode=all', headers: bearer('ann') },
    async same(s, text) {
      let texts = [], after = '';
      do {
        const p = await get(s, `/v1/conversations?limit=9&mode=all${after}`, bearer('ann'));
        texts.push(data(p.text));
        after = p.body.afterCursor && `&afterCursor=${enc(p.body.afterCursor)}`;
      } while (after);
      assert.equal(data(text), texts.join(','));
    },
  },
  'kagent, events': {
    ask: { path: '/api/sessions/k', headers: kagent },
    async same(s, text) {
      const { data: { events } } = JSON.parse(text);
      assert.deepEqual(numbers(events, (e) => JSON.parse(e.data).content), [...all].reverse());
      const one = await get(s, '/api/sessions/k?limit=1', kagent);
      assert.ok(one.headers.get('content-length'));
      assert.deepEqual(events[0], one.body.data.events[0]);
    },
  },
  'kagent, events in order, with the state': {
    ask: { path: '/api/sessions/k?order=asc&view=effective', headers: kagent },
    async same(s, text) {
      const { data: { events, state, session } } = JSON.parse(text);
      assert.deepEqual(numbers(events, (e) => JSON.parse(e.data).content), all);
      assert.deepEqual(state, { k0: 39, k1: 37, k2: 38 });
      assert.equal(session.id, 'k');
    },
  },
  'kagent, the newest events': {
    ask: { path: `/api/sessions/k?limit=${ENTRIES - 3}`, headers: kagent },
    async same(s, text) {
      assert.deepEqual(numbers(JSON.parse(text).data.events, (e) => JSON.parse(e.data).content), all.slice(3).reverse());
    },
  },
  'kagent, tasks': {
    ask: { path: '/api/sessions/a/tasks', headers: { 'X-User-Id': 'ann' } },
    async same(s, text) {
      const ids = JSON.parse(text).data.map((t) => t.id);
      assert.equal(ids.length, ENTRIES / 2);
      const each = await Promise.all(ids.map(async (id) => between((await get(s, `/api/tasks/${enc(id)}`, { 'X-User-Id': 'ann' })).text, '"data":', ',"message":')));
      assert.equal(between(text, '"data":[', '],"message":'), each.join(','));
    },
  },
  'kagent, sessions': {
    short: true, // for the buffers of the sockets
    ask: { path: '/api/sessions', headers: kim },
    async same(s, text) {
      const list = JSON.parse(text).data;
      assert.deepEqual(list.map((x) => x.id).sort(), Array.from({ length: SESSIONS }, (_, i) => `s${i}`).sort());
      for (const shown of [list[0], list.at(-5), list.at(-1)])
        assert.deepEqual((await get(s, `/api/sessions/${enc(shown.id)}?limit=1`, kim)).body.data.session, shown);
    },
  },
  'A2A, a page of tasks': {
    ask: rpc('ListTasks', { contextId: 'a', pageSize: 100, includeArtifacts: true }),
    async same(s, text) {
      const { tasks } = JSON.parse(text).result;
      assert.equal(tasks.length, ENTRIES / 2);
      const each = await Promise.all(tasks.map(async ({ id }) => between((await fetched(s, rpc('GetTask', { id }))).text, '"result":', '}')));
      assert.equal(between(text, '"tasks":[', '],"nextPageToken"'), each.join(','));
    },
  },
  'A2A, one long task': {
    before: (s) => fork(s, 'inherited'),
    ask: rpc('tasks/get', { id: 'inherited' }, '0.3'),
    async same(s, text) {
      const task = JSON.parse(text).result;
      assert.deepEqual(numbers(textsOf(task), (t) => t), all);
      const few = JSON.parse((await fetched(s, rpc('tasks/get', { id: 'inherited', historyLength: 3 }, '0.3'))).text).result;
      assert.deepEqual(task.history.slice(-3), few.history);
      assert.deepEqual({ ...task, history: few.history }, few);
    },
  },
  'native, sessions': { ask: { path: '/ramet/v1/sessions?limit=1000', headers: { 'X-User-Id': 'ann' } }, same: sessionPages('sessions') },
  'native, tree': { ask: { path: '/ramet/v1/sessions/root/tree', headers: { 'X-User-Id': 'ann' } }, same: sessionPages('sessions/root/tree', /"deleted":true/) },
  'native, children': { ask: { path: '/ramet/v1/sessions/root/children', headers: { 'X-User-Id': 'ann' } }, same: sessionPages('sessions/root/children') },
  'native, comparison': {
    before: async (s) => { await newSession(s, { id: 'other' }, ann); await append(s, 'other', ['other'], ann); },
    ask: { path: '/ramet/v1/compare?side=a&side=other&limit=1000', headers: { 'X-User-Id': 'ann' } },
    async same(s, text) {
      const got = JSON.parse(text), entries = [];
      for (let from = 0; from < ENTRIES; from += 4)
        entries.push(between((await get(s, `/ramet/v1/sessions/a/entries?versions=false&limit=4&from=${from}`, { 'X-User-Id': 'ann' })).text, '"entries":[', '],"head"'));
      assert.deepEqual(got.sides.map((x) => x.entries.length), [ENTRIES, 1]);
      assert.deepEqual(got.sides[0].entries, JSON.parse(`[${entries}]`));
      const short = (await get(s, '/ramet/v1/compare?side=a&side=other&limit=1', { 'X-User-Id': 'ann' })).body;
      for (const side of [...got.sides, ...short.sides]) delete side.entries;
      assert.deepEqual(got.sides, short.sides);
      assert.ok(got.turns.length >= 1);
    },
  },
  'AgentPod, forks': {
    ask: { path: '/api/v2/sandboxes/box/forks', headers: { 'X-User-Id': 'ann' } },
    async same(s, text) {
      const { forks, rootSessions } = JSON.parse(text);
      assert.deepEqual(rootSessions, ['root']);
      assert.deepEqual(numbers(forks, (f) => f.metadata.agentConfig.note), Array.from({ length: FORKS + 1 }, (_, i) => FORKS - i).filter((i) => i !== GONE));
      for (const f of [forks[0], forks.at(-1)])
        assert.deepEqual((await get(s, `/api/v2/sandboxes/box/sessions/${enc(f.id)}/fork-info`, { 'X-User-Id': 'ann' })).body.fork, f);
    },
  },
  'AgentPod, children': {
    ask: { path: '/api/v2/sandboxes/box/sessions/root/children', headers: { 'X-User-Id': 'ann' } },
    async same(s, text) {
      assert.deepEqual(JSON.parse(text).children, (await get(s, '/api/v2/sandboxes/box/forks', { 'X-User-Id': 'ann' })).body.forks.slice(1));
    },
  },
};
/** A list of sessions of the native API against its pages of nine, as bytes. */
function sessionPages(path, has = /./) {
  return async (s, text) => {
    assert.match(text, has);
    let texts = [], cursor = '';
    do {
      const p = await get(s, `/ramet/v1/${path}?limit=9${cursor}`, { 'X-User-Id': 'ann' });
      assert.ok(p.headers.get('content-length'));
      texts.push(between(p.text, '{"sessions":[', '],"next_cursor"'));
      cursor = p.body.next_cursor && `&cursor=${enc(p.body.next_cursor)}`;
    } while (cursor);
    assert.equal(between(text, '{"sessions":[', '],"next_cursor"'), texts.join(','));
  };
}
const fork = (s, id) => must(s, 'POST', 'sessions/a/fork', { ...ann, json: { id } });

for (const [name, route] of Object.entries(routes)) {
  test(`${name}: an answer that is not read holds a piece, and loses no byte`, async () => {
    const s = await store();
    await route.before?.(s);
    const whole = await fetched(s, route.ask);
    assert.ok(Buffer.byteLength(whole.text) > (route.short ? 4.1e6 : 8e6));
    assert.equal(whole.headers.get('content-length'), null);
    await route.same(s, whole.text);
    const asked = Array.from({ length: COUNT }, () => unread(s, route.ask));
    await begun(s, asked);
    const held = await metric(s, 'ramet_answers_buffered_bytes');
    assert.ok((held > 0 || route.short) && held < COUNT * PIECE, `${held} bytes`);
    await ended(asked);
    for (const each of asked) assert.ok(each.body() === whole.text, 'byte by byte');
    if (!route.ask.method) {
      const head = await fetch(s.url + route.ask.path, { method: 'HEAD', headers: route.ask.headers });
      assert.deepEqual([head.status, await head.text()], [200, '']);
    }
    await eventually(async () => assert.equal(await metric(s, 'ramet_answers_buffered_bytes'), 0), 20000 * slow);
  }, { seconds: 120 });
}

// ------------------------------------------------------------------ what happens meanwhile

/** Answers about a session of its own, a fork of `a`. */
const about = (id, user) => ({
  'memory-service, entries': { path: `/v1/conversations/${id}/entries?limit=1000`, headers: bearer(user) },
  'memory-service, all forks': { path: `/v1/conversations/${id}/entries?limit=1000&forks=all`, headers: bearer(user) },
  'kagent, tasks': { path: `/api/sessions/${id}/tasks`, headers: { 'X-User-Id': user } },
  'kagent, a task': { path: `/api/tasks/${id}`, headers: { 'X-User-Id': user } },
  'A2A, a task': { ...rpc('GetTask', { id }), headers: { ...rpc('').headers, 'X-User-Id': user } },
});

test('what is appended and moved meanwhile is not in an answer', async () => {
  const s = await store();
  await fork(s, 'moving');
  for (const [name, ask] of Object.entries(about('moving', 'ann'))) {
    if (name.includes('forks')) continue; // other tests append to the tree
    const whole = await fetched(s, ask);
    const asked = [unread(s, ask), unread(s, ask)];
    await begun(s, asked);
    const { entries: [{ id }] } = await append(s, 'moving', ['later'], ann);
    await must(s, 'POST', 'sessions/moving/rewind', { ...ann, json: { at: { entry_id: id, side: 'before' } } });
    await ended(asked);
    for (const each of asked) assert.ok(each.body() === whole.text, name);
  }
}, { seconds: 120 });

test('a client that loses access, and one whose session is deleted, gets no more', async () => {
  const s = await store();
  const lost = async (what, asks, lose) => {
    const asked = Object.entries(asks).map(([name, ask]) => ({ name, ...{ bare: unread(s, ask) } }));
    await begun(s, asked.map((x) => x.bare));
    await lose();
    await ended(asked.map((x) => x.bare));
    for (const { name, bare } of asked) assert.throws(() => JSON.parse(bare.body()), SyntaxError, `${what}: ${name}`);
  };
  await fork(s, 'shared');
  await must(s, 'PUT', 'sessions/shared/members/bob', { ...ann, json: { level: 'reader' } });
  await lost('access', about('shared', 'bob'), () => must(s, 'DELETE', 'sessions/shared/members/bob', ann));
  await fork(s, 'deleted');
  await lost('deleted', about('deleted', 'ann'), () => must(s, 'DELETE', 'sessions/deleted', ann));
  // A list goes on without a session that is gone.
  const list = { path: '/ramet/v1/sessions/root/children', headers: { 'X-User-Id': 'ann' } };
  const { sessions } = (await fetched(s, list)).body;
  const bare = unread(s, list);
  await begun(s, [bare]);
  await must(s, 'DELETE', `sessions/${sessions.at(-1).id}`, ann);
  await ended([bare]);
  assert.deepEqual(JSON.parse(bare.body()).sessions, sessions.slice(0, -1));
}, { seconds: 120 });

test('a chunked answer breaks off without its end', async () => {
  const s = await store();
  await fork(s, 'chunks');
  const socket = net.connect(s.port, '127.0.0.1');
  let text = '', over = false;
  socket.setEncoding('latin1');
  socket.once('data', () => socket.pause());
  socket.on('data', (d) => (text += d));
  socket.on('close', () => (over = true));
  socket.write('GET /v1/conversations/chunks/entries?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ann\r\n\r\n');
  await begun(s, [{ get text() { return text; } }]);
  await must(s, 'DELETE', 'sessions/chunks', ann);
  socket.resume();
  await eventually(() => assert.ok(over), 20000 * slow);
  assert.ok(!text.endsWith('0\r\n\r\n'));
});

test('clients that leave in the middle leave nothing behind', async () => {
  const s = await store();
  const asked = Object.values(about('a', 'ann')).slice(0, 3).map((ask) => unread(s, ask));
  await begun(s, asked);
  for (const each of asked) each.socket.destroy();
  await eventually(async () => assert.equal(await metric(s, 'ramet_answers_buffered_bytes'), 0), 20000 * slow);
});

test('thirty long answers of all faces, not read, take little memory', async () => {
  const s = await store();
  const asks = Object.values(routes).map((r) => r.ask);
  for (const ask of asks) await fetched(s, ask);
  const before = await metric(s, 'process_resident_memory_bytes');
  const asked = Array.from({ length: 30 }, (_, i) => unread(s, asks[i % asks.length]));
  await begun(s, asked);
  const grown = (await metric(s, 'process_resident_memory_bytes')) - before;
  if (!/san\//.test(process.env.RAMET ?? '')) assert.ok(grown < 320e6, `${grown} bytes more`);
  assert.ok(await metric(s, 'ramet_answers_buffered_bytes') < 30 * PIECE);
  await ended(asked);
}, { seconds: 180 });

await finish();
