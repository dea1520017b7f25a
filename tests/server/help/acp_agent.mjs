#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
//
// acp_agent.mjs: an ACP agent that does what it is told, line by line, so that every trap of the
// protocol can be laid. It keeps its sessions in memory, and in a file when ACP_KEEP names one.
//
//   ACP_CAPS   JSON: its agentCapabilities            ACP_LOG    every line that it gets goes there
//   ACP_SETUP  JSON: joined to answers of new, load, resume and fork
//   ACP_EARLY  its own fork replays the history before it answers, under the new id
//   ACP_FORK   JSON of an error: what its own fork answers
//   ACP_PIDS   its process id goes there, a line each
//   ACP_HOLD   `initialize` is answered once this file exists
//   ACP_ODD    words: early-new (commands are told before session/new is answered), null (load is answered
//              with null), replay (resume replays), open (load of an unknown session opens an empty one)
//
// The last text block of a prompt is a list of steps, parted by ';' (see `steps`). What is none of
// them is answered with all that the model would see: the texts of the session so far, then those of
// this prompt, each in brackets.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { execFileSync, spawn } from 'node:child_process';

const caps = JSON.parse(process.env.ACP_CAPS ?? '{}');
const setup = JSON.parse(process.env.ACP_SETUP ?? '{}');
const keep = process.env.ACP_KEEP;
if (process.env.ACP_PIDS) appendFileSync(process.env.ACP_PIDS, `${process.pid}\n`);
const odd = (process.env.ACP_ODD ?? '').split(' ');
const sessions = new Map(keep && existsSync(keep) ? JSON.parse(readFileSync(keep, 'utf8')) : []);
const waits = new Map();
const cancels = new Map();
let asked = 0, counted = 0;
let made = sessions.size;
const put = (line) => process.stdout.write(line + '\n');
const send = (m) => put(JSON.stringify({ jsonrpc: '2.0', ...m }));
const update = (sessionId, u) => send({ method: 'session/update', params: { sessionId, update: u } });
const save = () => { if (keep) writeFileSync(keep, JSON.stringify([...sessions])); };
const ask = (method, params) => new Promise((done) => {
  const id = asked++;
  waits.set(String(id), done);
  send({ id, method, params });
});
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const text = (t) => ({ type: 'text', text: t });
class Refusal extends Error {
  constructor(code, message, data) { super(message); Object.assign(this, { code, data }); }
}
const known = (id) => {
  if (!sessions.has(id)) throw new Refusal(-32603, 'Internal error', { details: `Session not found: ${id}` });
  return sessions.get(id);
};
const replay = (as, session) => {
  session.history.forEach((t, i) => update(as, {
    sessionUpdate: i % 2 ? 'agent_message_chunk' : 'user_message_chunk', messageId: `${as}-${i}`, content: text(t) }));
};

const steps = {
  say: (s, words) => update(s.id, { sessionUpdate: 'agent_message_chunk', content: text(words) }),
  as: (s, words) => {
    const [id, ...rest] = words.split(' ');
    update(s.id, { sessionUpdate: 'agent_message_chunk', messageId: id, content: text(rest.join(' ')) });
  },
  think: (s, words) => update(s.id, { sessionUpdate: 'agent_thought_chunk', content: text(words) }),
  tool: (s, id) => {
    update(s.id, { sessionUpdate: 'tool_call', toolCallId: id, title: `tool ${id}`, status: 'pending', rawInput: { a: 1 } });
    update(s.id, { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'in_progress' });
    update(s.id, { sessionUpdate: 'tool_call_update', toolCallId: id, status: 'completed', rawOutput: { b: 2 } });
  },
  plan: (s, words) => update(s.id, { sessionUpdate: 'plan', entries: [{ content: words, priority: 'high', status: 'pending' }] }),
  title: (s, words) => update(s.id, { sessionUpdate: 'session_info_update', title: words }),
  commands: (s, words) => update(s.id, { sessionUpdate: 'available_commands_update',
    availableCommands: words.split(',').map((name) => ({ name, description: `own ${name}` })) }),
  update: (s, json) => update(s.id, JSON.parse(json)),
  'update-of': (s, path) => update(s.id, JSON.parse(readFileSync(path, 'utf8'))),
  line: (s, line) => put(line.replaceAll('SESSION', s.id)),
  many: (s, n) => { for (let i = 0; i < Number(n); i++) steps.say(s, `${i} `); },
  each: (s, n) => { for (let i = 0; i < Number(n); i++) steps.as(s, `m-${++counted} ${i} `); },
  permit: async (s, id) => steps.say(s, JSON.stringify(await ask('session/request_permission', { sessionId: s.id,
    toolCall: { toolCallId: id || 'p' }, options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }] }))),
  read: async (s, path) => steps.say(s, JSON.stringify(await ask('fs/read_text_file', { sessionId: s.id, path }))),
  write: async (s, words) => {
    const [path, ...rest] = words.split(' ');
    steps.say(s, JSON.stringify(await ask('fs/write_text_file', { sessionId: s.id, path, content: rest.join(' ') })));
  },
  /** A terminal request; what it has answered goes on the next line. TERM is the last terminal. */
  term: async (s, words) => {
    const at = words.indexOf(' ');
    const params = JSON.parse(at < 0 ? '{}' : words.slice(at + 1));
    const r = await ask(`terminal/${at < 0 ? words : words.slice(0, at)}`, { sessionId: s.id, ...(s.terminal ? { terminalId: s.terminal } : {}), ...params });
    s.terminal = r.terminalId ?? s.terminal;
    steps.say(s, `${JSON.stringify(r)}\n`);
  },
  /** Reads nothing for so long. */
  deaf: (s, ms) => { process.stdin.pause(); setTimeout(() => process.stdin.resume(), Number(ms)); },
  ask: async (s, words) => {
    const at = words.indexOf(' ');
    steps.say(s, JSON.stringify(await ask(words.slice(0, at), { sessionId: s.id, ...JSON.parse(words.slice(at + 1)) })));
  },
  run: (s, words) => { execFileSync('sh', ['-c', words]); },
  /** Starts a process that holds the standard output; its id goes to a file. `detached`: in a session of its own. */
  helper: (s, words) => {
    const [path, detached] = words.split(' ');
    const child = spawn('sleep', ['1000'], { stdio: ['ignore', 'inherit', 'ignore'], detached: Boolean(detached) });
    writeFileSync(path, String(child.pid));
  },
  err: (s, words) => { process.stderr.write(`${words}\n`); },
  sleep: (s, ms) => sleep(Number(ms)),
  wait: (s) => new Promise((done) => cancels.set(s.id, done)),
  die: () => process.exit(3),
  refuse: (s, words) => { throw new Refusal(Number(words.split(' ')[0]), words, { sessionId: s.id }); },
};

async function prompt({ sessionId, prompt: blocks }) {
  const s = known(sessionId);
  const texts = blocks.map((b) => b.text ?? `<${b.type}>`);
  const seen = [...s.history, ...texts];
  let stopReason = 'end_turn';
  let answer = '';
  const list = texts.at(-1).split(';').map((t) => t.trim());
  if (!list.every((t) => t.split(' ')[0] in steps)) {
    answer = seen.map((t) => `[${t}]`).join('');
    steps.say(s, answer);
  } else for (const t of list) {
    const at = t.indexOf(' ');
    const r = await steps[at < 0 ? t : t.slice(0, at)](s, at < 0 ? '' : t.slice(at + 1));
    if (r === 'cancelled') stopReason = r;
    answer = t;
  }
  s.history.push(texts.join('\n'), answer);
  save();
  return { stopReason, usage: { totalTokens: 3, inputTokens: 2, outputTokens: 1 } };
}

const open = (params) => {
  const id = `inner-${++made}`;
  sessions.set(id, { id, history: [], cwd: params.cwd });
  return id;
};
const methods = {
  initialize: async () => {
    while (process.env.ACP_HOLD && !existsSync(process.env.ACP_HOLD)) await sleep(10);
    return { protocolVersion: 1, agentCapabilities: caps, agentInfo: { name: 'told', version: '1' } };
  },
  'session/new': (p) => {
    if (!Array.isArray(p.mcpServers)) throw new Refusal(-32602, 'Invalid params');
    if (p.cwd === '/login') throw new Refusal(-32000, 'Authentication required');
    const sessionId = open(p);
    if (odd.includes('early-new')) steps.commands(sessions.get(sessionId), 'compact');
    return { sessionId, ...setup };
  },
  'session/load': (p) => {
    if (odd.includes('open') && !sessions.has(p.sessionId)) return setup;
    replay(p.sessionId, known(p.sessionId));
    return odd.includes('null') ? null : setup;
  },
  'session/resume': (p) => {
    const s = known(p.sessionId);
    if (odd.includes('replay')) replay(p.sessionId, s);
    return setup;
  },
  'session/fork': (p) => {
    if (process.env.ACP_FORK) throw Object.assign(new Refusal(), JSON.parse(process.env.ACP_FORK));
    const from = known(p.sessionId);
    const id = open(p);
    sessions.get(id).history.push(...from.history);
    if (process.env.ACP_EARLY) replay(id, from);
    setImmediate(() => steps.commands(sessions.get(id), 'compact'));
    return { sessionId: id, ...setup };
  },
  'session/list': () => ({ sessions: [...sessions.values()].map((s) => ({ sessionId: s.id, cwd: s.cwd, title: 'mine' })) }),
  'session/close': (p) => { known(p.sessionId); return {}; },
  'session/delete': (p) => { sessions.delete(p.sessionId); save(); return {}; },
  'session/prompt': prompt,
  'session/set_mode': (p) => { if (p.modeId === 'none') throw new Refusal(-32602, 'no such mode'); return {}; },
  'session/set_model': () => ({}),
  'session/set_config_option': (p) => ({ configOptions: setup.configOptions.map((o) => (o.id === p.configId ? { ...o, currentValue: p.value } : o)) }),
  '_agent/odd': (p) => ({ got: p }),
  '_session/steering': (p) => ({ got: p }),
  'session/set_title': (p) => ({ got: p }),
};
const needs = { 'session/load': caps.loadSession, 'session/resume': caps.sessionCapabilities?.resume,
  'session/fork': caps.sessionCapabilities?.fork || process.env.ACP_FORK, 'session/list': caps.sessionCapabilities?.list,
  'session/close': caps.sessionCapabilities?.close, 'session/delete': caps.sessionCapabilities?.delete };

createInterface({ input: process.stdin }).on('line', async (line) => {
  if (process.env.ACP_LOG) appendFileSync(process.env.ACP_LOG, line + '\n');
  const m = JSON.parse(line);
  if (!m.method) return waits.get(String(m.id))?.(m.result ?? m.error);
  if (m.method === 'session/cancel') return cancels.get(m.params.sessionId)?.('cancelled');
  if (m.id === undefined) return;
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|[-0-9.]+)/.exec(line)[1];
  const answer = (key, value) => put(`{"jsonrpc":"2.0","id":${id},"${key}":${JSON.stringify(value)}}`);
  try {
    if (!methods[m.method] || (m.method in needs && !needs[m.method])) throw new Refusal(-32601, `"Method not found": ${m.method}`);
    answer('result', await methods[m.method](m.params));
  } catch (e) {
    answer('error', { code: e.code ?? -32603, message: e.message, data: e.data });
  }
}).on('close', () => process.exit(0));
