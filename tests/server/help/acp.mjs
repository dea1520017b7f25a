// SPDX-License-Identifier: Apache-2.0
//
// acp.mjs: an editor in raw lines, for tests of `ramet acp`.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, RAMET, scratch, slow } from '../lib.mjs';

export const TOLD = join(dirname(fileURLToPath(import.meta.url)), 'acp_agent.mjs');

/**
 * Starts `ramet acp` with an agent and says hello. `caps` are the told agent's; `agent` is another
 * one's command line, `args` all of ramet's, `patience` how long an answer may take.
 */
export async function editor({ db = scratch('store.db'), caps = {}, env = {}, agent, args, patience = 15000,
                               initialize = { protocolVersion: 1, clientCapabilities: {} } } = {}) {
  const received = scratch('agent.log');
  const words = args ?? ['acp', '--db', db, '--name', 'told', '--', ...(agent ?? [process.execPath, TOLD])];
  const child = spawn(RAMET, words, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, RAMET_DB: '',
    ACP_CAPS: JSON.stringify(caps), ACP_LOG: received, ...env } });
  const e = { child, pid: child.pid, db, log: [], lines: [], err: '', requests: {} };
  const waits = new Map();
  let next = 0, rest = [];
  child.stderr.on('data', (d) => (e.err += d));
  child.stdin.on('error', () => {});
  const take = (line) => {
    e.lines.push(line);
    const m = JSON.parse(line);
    e.log.push(m);
    if (!m.method) {
      waits.get(JSON.stringify(m.id))?.(m);
    } else if (m.id !== undefined) {
      const answer = e.requests[m.method];
      e.send({ id: m.id, ...(answer ? { result: answer(m.params) } : { error: { code: -32601, message: 'no' } }) });
    }
  };
  child.stdout.on('data', (d) => {
    for (let i; (i = d.indexOf(10)) >= 0; d = d.subarray(i + 1)) {
      take(Buffer.concat([...rest, d.subarray(0, i)]).toString());
      rest = [];
    }
    if (d.length) rest.push(d);
  });
  e.closed = new Promise((done) => child.on('close', (code, signal) => done({ code, signal })));
  e.raw = (line) => child.stdin.write(line + '\n');
  e.send = (m) => e.raw(JSON.stringify({ jsonrpc: '2.0', ...m }));
  e.answer = (id) => new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`no answer to ${id}\n${e.err}`)), patience * slow);
    waits.set(JSON.stringify(id), (m) => { clearTimeout(timer); done(m); });
  });
  /** The whole answer. */
  e.call = (method, params) => {
    const id = next++;
    const answer = e.answer(id);
    e.send({ id, method, params });
    return answer;
  };
  /** Its result. */
  e.ask = async (method, params) => {
    const m = await e.call(method, params);
    assert.ok('result' in m, `${method}: ${JSON.stringify(m.error)}`);
    return m.result;
  };
  e.fails = async (method, params) => {
    const m = await e.call(method, params);
    assert.ok(m.error, `${method} must be refused: ${JSON.stringify(m.result)}`);
    return m.error;
  };
  e.open = async (more = {}) => (await e.ask('session/new', { cwd: '/tmp', mcpServers: [], ...more })).sessionId;
  e.prompt = (sessionId, text) => e.ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  /** The updates of a session since a place in the log. */
  e.updates = (sessionId, from = 0) => e.log.slice(from)
    .filter((m) => m.method === 'session/update' && m.params.sessionId === sessionId).map((m) => m.params.update);
  /** What the agent says to a prompt. */
  e.says = async (sessionId, text) => {
    const from = e.log.length;
    await e.prompt(sessionId, text);
    return e.updates(sessionId, from).filter((u) => u.sessionUpdate === 'agent_message_chunk')
      .map((u) => u.content.text).join('');
  };
  /** The history as load tells it: [kind, text, id]. */
  e.load = async (sessionId, more = {}) => {
    const from = e.log.length;
    await e.ask('session/load', { sessionId, cwd: '/tmp', mcpServers: [], ...more });
    return e.updates(sessionId, from).filter((u) => u.content?.text || u.toolCallId || u.entries)
      .map((u) => [u.sessionUpdate, u.content?.text ?? u.toolCallId ?? u.entries[0].content, u.messageId]);
  };
  /** Lines that the agent got. */
  e.received = () => (existsSync(received) ? readFileSync(received, 'utf8').trim().split('\n').filter(Boolean) : []);
  e.got = (method) => e.received().map((l) => JSON.parse(l)).filter((m) => m.method === method);
  e.end = async () => {
    child.stdin.end();
    const how = await e.closed;
    assert.doesNotMatch(e.err, /Sanitizer|runtime error/, e.err);
    return how;
  };
  e.hello = await e.ask('initialize', initialize);
  return e;
}
