// SPDX-License-Identifier: Apache-2.0
//
// opencode.mjs: the real OpenCode (npm `opencode-ai`, run without its launcher, which an install script
// makes), offline, with a stand-in for its model, and a door before it that a test can hold shut.
import { spawn } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { assert, eventually, scratch, slow } from '../lib.mjs';
import { file } from './packages.mjs';

const flat = (c) => (typeof c === 'string' ? c : (c ?? []).map((x) => x.text ?? '').join('\n'));

/**
 * A model that speaks chat completions. It answers `re: ` and the last line that it was told, thinks
 * before it, and keeps what it was asked: `seen(text)` is the conversation that ended with a message with
 * that text, as [role, text] without the system's. Commands in that line:
 *   TOOL NAME JSON   calls a tool, and says `done` behind its result
 *   HOLD             says one word, and the rest when `release()` is called
 *   FAIL             answers 400
 */
export async function standIn() {
  const asked = [];
  const held = [];
  const server = http.createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d));
    q.on('end', () => {
      if (!q.url.endsWith('/chat/completions')) return void r.end('{"data":[]}');
      const { messages, tools } = JSON.parse(body);
      const turn = messages.filter((m) => m.role !== 'system').map((m) => [m.role, flat(m.content)]);
      asked.push(turn);
      const role = turn.at(-1)[0], text = turn.at(-1)[1].split('\n').at(-1);
      if (/FAIL/.test(text)) {
        r.writeHead(400, { 'content-type': 'application/json' });
        return void r.end(JSON.stringify({ error: { message: 'the model says no', type: 'invalid_request_error' } }));
      }
      r.writeHead(200, { 'content-type': 'text/event-stream' });
      const put = (delta, finish_reason = null, usage = undefined) => r.write(`data: ${JSON.stringify({ id: 'x',
        object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }], usage })}\n\n`);
      const end = (why) => {
        put({}, why, { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 });
        r.end('data: [DONE]\n\n');
      };
      const call = /TOOL (\w+) (\{.*\})/.exec(text);
      put({ role: 'assistant', reasoning_content: 'Let me think.' });
      if (role === 'user' && call && tools) {
        put({ content: 'I look.' });
        put({ tool_calls: [{ index: 0, id: `call_${asked.length}`, type: 'function', function: { name: call[1], arguments: call[2] } }] });
        return void end('tool_calls');
      }
      const say = role === 'tool' ? 'done' : `re: ${text}`;
      for (const word of say.match(/\S+\s*/g).slice(0, /HOLD/.test(say) ? 1 : undefined)) put({ content: word });
      if (!/HOLD/.test(say)) return void end('stop');
      held.push(() => {
        put({ content: say.replace(/^\S+\s*/, '') });
        end('stop');
      });
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    asked, held, url: `http://127.0.0.1:${server.address().port}/v1`,
    seen: (text) => asked.findLast((t) => t.at(-1)[0] === 'user' && t.at(-1)[1].includes(text)) ?? assert.fail(`the model was never asked: ${text}`),
    release: () => held.splice(0).forEach((go) => go()),
    stop: () => { server.close(); server.closeAllConnections(); },
  };
}

/** A server of OpenCode in a git folder of its own: {url, call, kill, restart, stop, model, work}. */
export async function startOpenCode({ password, snapshot = true, permission = { bash: 'ask' } } = {}) {
  const program = await file(`opencode-linux-${process.arch}/bin/opencode`).catch((e) => ({ skip: `opencode-ai is not installed: ${e.message.split('\n')[0]}` }));
  if (program.skip) return program;
  const model = await standIn();
  const at = scratch('opencode'), work = join(at, 'work');
  for (const d of ['config/opencode', 'work']) mkdirSync(join(at, d), { recursive: true });
  execFileSync('git', ['init', '-q', work]);
  execFileSync('git', ['-C', work, '-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a']);
  writeFileSync(join(at, 'config/opencode/opencode.json'), JSON.stringify({ model: 'fake/m', small_model: 'fake/m', autoupdate: false, share: 'disabled',
    snapshot, permission, enabled_providers: ['fake'],
    provider: { fake: { npm: '@ai-sdk/openai-compatible', options: { baseURL: model.url, apiKey: 'none' }, models: { m: {} } } } }));
  const env = { ...process.env, HOME: at, XDG_CONFIG_HOME: join(at, 'config'), XDG_DATA_HOME: join(at, 'data'), XDG_CACHE_HOME: join(at, 'cache'),
    XDG_STATE_HOME: join(at, 'state'), PWD: work, ...(password ? { OPENCODE_SERVER_PASSWORD: password } : {}) };
  const o = { model, work, url: null, port: 0 };
  const headers = password ? { Authorization: `Basic ${Buffer.from(`opencode:${password}`).toString('base64')}` } : {};
  o.call = async (method, path, json) => {
    const r = await fetch(o.url + path, { method, headers: { ...headers, 'Content-Type': 'application/json' }, body: json && JSON.stringify(json) });
    const text = await r.text();
    assert.ok(r.ok, `OpenCode: ${method} ${path}: ${r.status} ${text}`);
    return text ? JSON.parse(text) : null;
  };
  o.run = async () => {
    o.child = spawn(program, ['serve', '--port', String(o.port), '--hostname', '127.0.0.1'], { cwd: work, env, stdio: ['ignore', 'pipe', 'inherit'] });
    o.ended = new Promise((done) => o.child.on('close', done));
    let out = '';
    o.url = await new Promise((done, fail) => {
      o.child.stdout.on('data', (d) => {
        const said = /(http:\/\/127\.0\.0\.1:(\d+))/.exec((out += d));
        if (said) done(said[1]);
      });
      o.child.on('close', () => fail(new Error(`OpenCode ended: ${out}`)));
    });
    o.port = Number(new URL(o.url).port);
    await eventually(() => o.call('GET', '/global/health'), 20000 * slow);
  };
  o.kill = async (signal = 'SIGKILL') => {
    o.child.kill(signal);
    await o.ended;
  };
  o.stop = async () => {
    model.release();
    await o.kill();
    model.stop();
  };
  /** Its sessions that are not of a subagent, newest first. */
  o.sessions = async () => (await o.call('GET', '/session?limit=1000')).filter((s) => !s.parentID);
  /** The messages of one, as [role, text] without what is synthetic. */
  o.texts = async (id) => (await o.call('GET', `/session/${id}/message`)).map((m) => [m.info.role, m.parts.filter((p) => p.type === 'text' && !p.synthetic).map((p) => p.text).join('\n')]);
  await o.run();
  return o;
}

/** A door before a server: `hold(test)` keeps responses to requests that the test is true for; `held` waits for one. */
export async function door(to) {
  let test = () => false, arrived;
  const server = http.createServer((q, r) => {
    const ask = http.request(to() + q.url, { method: q.method, headers: { ...q.headers, host: '127.0.0.1' } }, async (a) => {
      if (test(q)) {
        const parts = [];
        for await (const d of a) parts.push(d);
        arrived(Buffer.concat(parts).toString());
        return; // never answered
      }
      r.writeHead(a.statusCode, a.headers);
      r.flushHeaders();
      a.on('error', () => r.destroy());
      a.pipe(r);
      r.on('close', () => a.destroy());
    });
    ask.on('error', () => r.destroy());
    q.pipe(ask);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    hold: (which) => { test = which; return new Promise((done) => (arrived = done)); },
    open: () => { test = () => false; },
    stop: () => { server.close(); server.closeAllConnections(); },
  };
}
