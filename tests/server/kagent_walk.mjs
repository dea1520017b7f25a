// SPDX-License-Identifier: Apache-2.0
//
// kagent_walk.mjs: random walks through a session of kagent: turns with and without an answer, in
// whichever order their messages and events arrive, turns that this server runs, forks, rewinds
// through REST, ADK events and A2A, undo and redo, in forks of forks. A model applies ADK's rule: a
// rewind before an invocation returns to what counted when that invocation began. After every step
// the messages and the events are those of the model, and ADK's rule over the record of events says
// the same.
//
// SEED repeats a walk, WALKS and STEPS make it longer.
import { test, finish, start, call, must, enc, assert } from './lib.mjs';

const AGENT = 'kagent__NS__echo', KEY = 'kagent_rewind_before_invocation_id';
const headers = { 'X-User-Id': 'walker', 'X-Agent-Name': AGENT };
const walks = Number(process.env.WALKS ?? 4), steps = Number(process.env.STEPS ?? 40);
let seed = Number(process.env.SEED ?? Date.now() % 1000000);
console.log(`# seed ${seed}`);
const random = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
const pick = (list) => list[random(list.length)];

let s, counter = 0;
const api = (method, path, json) => call(s, method, `/api${path}`, { headers, json });
const data = async (method, path, json) => {
  const r = await api(method, path, json);
  assert.ok(r.status < 300, `${method} ${path}: ${r.status} ${r.text}`);
  return r.body.data;
};

// ------------------------------------------------------------------ what a runtime sends

const event = (invocation, author, { rewind, delta = {} } = {}) => ({
  id: `ev${++counter}`, invocation_id: invocation, author, timestamp: 1.5,
  actions: { state_delta: delta, artifact_delta: {}, ...(rewind ? { rewind_before_invocation_id: rewind } : {}) } });
const post = (id, e) => data('POST', `/sessions/${enc(id)}/events`, { id: e.id, data: JSON.stringify(e) });
const message = (id, role, text, invocation) => ({ kind: 'message', messageId: id, role, parts: [{ kind: 'text', text }],
  ...(invocation ? { metadata: { kagent_invocation_id: invocation } } : {}) });
const task = (id, context, history, state, metadata) => data('POST', '/tasks', { kind: 'task', id, contextId: context, status: { state }, history, metadata });

// ------------------------------------------------------------------ the model

/** What counts (`now`), what counted when each invocation began, and the moves that can be undone. */
class Session {
  constructor(id, now = []) {
    Object.assign(this, { id, now, began: new Map(now.map((t, i) => [t.name, now.slice(0, i)])), undo: [], redo: [] });
  }
  begin(turn) {
    this.began.set(turn.name, this.now);
    this.now = [...this.now, turn];
  }
  move(to) {
    this.undo.push(this.now);
    this.redo = [];
    this.now = to;
  }
}

// ------------------------------------------------------------------ steps

/** A turn of kagent's runtime. Messages and events may come in any order that a runtime has. */
async function turn(x, answered) {
  const n = ++counter, name = `i${n}`, id = `${x.id}-t${n}`;
  const u = message(`u${n}`, 'user', `q${n}`), a = message(`a${n}`, 'agent', `a${n}`, name);
  const metadata = random(2) ? { kagent_invocation_id: name } : undefined;
  const asks = () => task(id, x.id, [u], 'submitted');
  const happens = (author) => post(x.id, event(name, author, { delta: random(2) ? { [`k${random(3)}`]: n } : {} }));
  const ends = () => (answered ? task(id, x.id, [u, a], 'completed', metadata) : task(id, x.id, [u], 'failed', metadata));
  const heads = () => (random(2) ? post(x.id, event('header_update', 'system', { delta: { headers: { n } } })) : null);
  const orders = [[asks, heads, () => happens('user'), () => answered && happens('agent'), ends], [heads, () => happens('user'), asks, () => answered && happens('agent'), ends],
                  [heads, () => happens('user'), () => answered && happens('agent'), ends]];
  for (const step of pick(orders)) await step();
  x.begin({ name, events: true, texts: answered ? [`q${n}`, `a${n}`] : [`q${n}`] });
}

/** A turn that this server runs: it has no events. */
async function served(x) {
  const text = `s${++counter}`;
  const { result, error } = (await call(s, 'POST', '/api/a2a/kagent/echo', { headers, json: { jsonrpc: '2.0', id: 1, method: 'message/send',
    params: { message: { kind: 'message', messageId: `m${counter}`, role: 'user', contextId: x.id, parts: [{ kind: 'text', text }] } } } })).body;
  assert.equal(error, undefined);
  x.begin({ name: result.id, events: false, texts: [text, text] });
}

const moves = {
  rest: (x, name) => api('POST', `/sessions/${enc(x.id)}/rewind`, { rewind_before_invocation_id: name }).then((r) => r.status < 300),
  a2a: async (x, name) => {
    const { result } = (await call(s, 'POST', '/api/a2a/kagent/echo', { headers, json: { jsonrpc: '2.0', id: 1, method: 'message/send',
      params: { message: { kind: 'message', messageId: `m${++counter}`, role: 'user', contextId: x.id, parts: [{ kind: 'text', text: '' }], metadata: { [KEY]: name } } } } })).body;
    return result.status.state === 'completed';
  },
};
async function rewind(x) {
  const name = random(12) ? pick([...x.began.keys()]) : 'nowhere';
  const to = x.began.get(name);
  assert.equal(await moves[pick(Object.keys(moves))](x, name), to !== undefined, name);
  if (to) x.move(to);
}

/** As the runtime makes it: an event, with the delta that makes the state what it was. */
async function runtimeRewinds(x) {
  const record = await events(x.id);
  const name = pick(record.filter((e) => e.author !== 'system' && !e.actions[`rewind_before_invocation_id`]).map((e) => e.invocation_id));
  if (!name || !x.began.has(name)) return;
  const replay = (list) => Object.fromEntries(Object.entries(Object.assign({}, ...list.map((e) => e.actions.state_delta))).filter(([, v]) => v !== null));
  const now = replay(record), then = replay(record.slice(0, record.findIndex((e) => e.invocation_id === name))), delta = {};
  for (const k in then) if (JSON.stringify(then[k]) !== JSON.stringify(now[k])) delta[k] = then[k];
  for (const k in now) if (!(k in then)) delta[k] = null;
  await post(x.id, event(`e-${++counter}`, 'user', { rewind: name, delta }));
  x.move(x.began.get(name));
}

async function undoRedo(x, which) {
  const other = which === 'undo' ? 'redo' : 'undo', to = x[which].at(-1);
  const r = await api('POST', `/sessions/${enc(x.id)}/${which}`);
  assert.equal(r.status < 300, to !== undefined, r.text);
  if (!to) return;
  x[which].pop();
  x[other].push(x.now);
  x.now = to;
}

async function fork(x, all) {
  if (all.length > 5) return;
  const name = random(4) ? pick([...x.began.keys()]) : random(2) ? 'nowhere' : undefined;
  const made = await data('POST', `/sessions/${enc(x.id)}/fork`, name ? { rewind_before_invocation_id: name } : {});
  all.push(new Session(made.id, x.began.get(name) ?? x.now));
}

// ------------------------------------------------------------------ what must hold

const events = async (id, query = '') => (await data('GET', `/sessions/${enc(id)}?order=asc&limit=-1${query}`)).events.map((e) => JSON.parse(e.data));
/** ADK's rule. */
function rule(list) {
  const kept = [];
  for (let i = list.length - 1; i >= 0; i--) {
    const before = list[i].actions?.rewind_before_invocation_id;
    const j = before ? list.slice(0, i).findIndex((e) => e.invocation_id === before) : -1;
    if (!before) kept.push(list[i]);
    else if (j >= 0) i = j;
  }
  return kept.reverse();
}
async function agrees(x, what) {
  const tasks = (await data('GET', `/sessions/${enc(x.id)}/tasks`)) ?? [];
  const said = tasks.flatMap((t) => t.history.map((m) => m.parts[0].text));
  const expected = x.now.flatMap((t) => t.texts);
  const path = await events(x.id, '&view=effective'), record = await events(x.id);
  const names = [...new Set(path.filter((e) => e.author !== 'system').map((e) => e.invocation_id))];
  const told = JSON.stringify(record.map((e) => `${e.invocation_id}${e.actions.rewind_before_invocation_id ? `->${e.actions.rewind_before_invocation_id}` : ''}`));
  assert.deepEqual(said, expected, `${what}: messages; ${told}`);
  assert.deepEqual(names, x.now.filter((t) => t.events).map((t) => t.name), `${what}: events; ${told}`);
  assert.deepEqual(path.map((e) => e.id), rule(record).map((e) => e.id), `${what}: ADK's rule; ${told}`);
  // Every message names an invocation that leads back to just before it.
  assert.ok(tasks.flatMap((t) => t.history).every((m) => m.metadata?.kagent_invocation_id), `${what}: invocations`);
}

for (let walk = 0; walk < walks; walk++)
  test(`walk ${walk}: messages and events agree after every step`, async () => {
    s ??= await start({ keep: true });
    const all = [new Session(`walk${walk}`)];
    await data('POST', '/sessions', { agent_ref: 'kagent/echo', id: all[0].id });
    const own = walk % 2; // in every other walk this server runs turns, too
    for (let step = 0; step < steps; step++) {
      const x = pick(all), known = x.began.size > 0, dice = random(20);
      const [what, run] = dice < 5 || !known ? ['turn', () => turn(x, true)] : dice < 8 ? ['unanswered', () => turn(x, false)] : dice < 9 && own ? ['served', () => served(x)]
        : dice < 13 ? ['rewind', () => rewind(x)] : dice < 15 ? ['runtime', () => runtimeRewinds(x)] : dice < 17 ? ['undo', () => undoRedo(x, 'undo')]
          : dice < 18 ? ['redo', () => undoRedo(x, 'redo')] : ['fork', () => fork(x, all)];
      await run();
      await agrees(x, `walk ${walk}, step ${step}, ${what} in ${x.id}`);
      if (what === 'fork') await agrees(all.at(-1), `walk ${walk}, step ${step}, the fork of ${x.id}`);
    }
    for (const x of all) await agrees(x, `walk ${walk}, at the end, ${x.id}`);
    await must(s, 'GET', 'sessions', { user: 'walker' });
  }, { seconds: 240 });

await finish();
