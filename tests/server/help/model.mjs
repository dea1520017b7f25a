// SPDX-License-Identifier: Apache-2.0
//
// model.mjs: a model provider for tests: the chat-completions API as it is spoken, streaming, tool
// calls, usage with cached tokens, errors; strict about what it is sent, and it keeps all of it.
//
//   import { startModel } from './help/model.mjs';
//   const model = await startModel();          // {url, port, log, stop()}
//   … --agent gpt=openai,url=${model.url},model=m1
//   model.log                                  // [{path, headers, raw, body}], oldest first
//   await startModel({ tls: { key, cert } })   // the same over TLS, HTTP/1.1 and 2; help/authority.mjs makes both
//
// By itself (`node model.mjs [PORT]`) it prints `listening on URL`, and GET /log gives the log.
//
// It answers "You said: TEXT" word by word. A last user message that begins with ! sets its mood:
//
//   !say TEXT            exactly that text
//   !count N [MS]        the numbers to N, MS milliseconds between them
//   !think A | B         thinks A, says B                !reasoning A | B   by the other name
//   !tools NAME JSON; …  calls tools, the arguments in pieces
//   !status N [TIMES]    an error of that status; TIMES: only so often for that text, then fine
//   !after N S           status N with Retry-After: S, once, then fine
//   !stop [N]            the stream stops after N words, without a finish_reason
//   !reset [N]           the connection breaks after N words
//   !slow MS             the headers come after MS       !silent MS         the first byte does
//   !pause MS            MS between the first word and the rest
//   !rubbish             comments, keep-alives, CRLF and unknown fields between the chunks
//   !garbled             a chunk that is no JSON
//   !error TEXT          an error in the stream
//   !length, !filter     that finish_reason             !nodone            no [DONE]
//   !whole               one JSON answer, not a stream   !noline            the last line has no end
//   !hang                [DONE], and the connection stays open
//   !long                a line of 2 MiB                 !bytes N           N KiB of answer
import http from 'node:http';
import http2 from 'node:http2';
import { fileURLToPath } from 'node:url';

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const words = (text) => text.match(/\s*\S+\s*/g) ?? [];
const tokens = (v) => Math.ceil(JSON.stringify(v).length / 4);

class Refused extends Error {
  constructor(status, message, code = null) {
    super(message);
    Object.assign(this, { status, code });
  }
}
const refuse = (message) => { throw new Refused(400, message, 'invalid_request_error'); };

/** What the real API refuses. */
function check(body) {
  if (typeof body.model !== 'string') refuse('you must provide a model parameter');
  if (!Array.isArray(body.messages) || !body.messages.length) refuse("'messages' is too short");
  let waiting = new Set();
  body.messages.forEach((m, i) => {
    const at = `messages.[${i}]`;
    if (waiting.size && m.role !== 'tool')
      refuse("An assistant message with 'tool_calls' must be followed by tool messages responding " +
             `to each 'tool_call_id'. Missing: ${[...waiting]}`);
    if (m.role === 'tool') {
      if (!waiting.delete(m.tool_call_id))
        refuse(`${at}: messages with role 'tool' must be a response to a preceding message`);
      if (typeof m.content !== 'string') refuse(`${at}.content is not a string`);
    } else if (m.role === 'assistant') {
      if (m.content == null && !m.tool_calls) refuse(`${at} has neither content nor tool_calls`);
      for (const c of m.tool_calls ?? []) {
        if (c.type !== 'function' || !/^[\w-]{1,64}$/.test(c.function?.name) || !c.id ||
            c.id.length > 40 || typeof c.function.arguments !== 'string')
          refuse(`${at}.tool_calls is not valid`);
        waiting.add(c.id);
      }
    } else if (m.role === 'user' || m.role === 'system') {
      const fine = typeof m.content === 'string' || (Array.isArray(m.content) && m.content.every((p) =>
        (p.type === 'text' && typeof p.text === 'string') ||
        (p.type === 'image_url' && typeof p.image_url?.url === 'string')));
      if (!fine) refuse(`${at}.content is not valid`);
    } else refuse(`${at}.role is '${m.role}'`);
  });
  if (waiting.size) refuse("An assistant message with 'tool_calls' must be followed by tool messages");
  if (body.prompt_cache_key?.length > 64) refuse("'prompt_cache_key': string too long");
}

const textOf = (m) => (typeof m.content === 'string' ? m.content
  : (m.content ?? []).map((p) => p.text ?? '').join(' '));

export async function startModel({ port = 0, key, keepAlive = 30000, tls } = {}) {
  const log = [];
  const seen = new Map(); // how often a text was answered with an error
  const caches = new Map(); // cache key -> lists of messages
  let number = 0;

  /** Tokens of the messages that an earlier request with the same key began with, too. */
  function cached(body) {
    const name = body.prompt_cache_key ?? body.user ?? '';
    const known = caches.get(name) ?? [];
    const mine = body.messages.map((m) => JSON.stringify(m));
    let best = 0;
    for (const old of known) {
      let n = 0;
      while (n < old.length && n < mine.length && old[n] === mine[n]) n++;
      best = Math.max(best, n);
    }
    caches.set(name, [...known, mine]);
    return body.messages.slice(0, best).reduce((sum, m) => sum + tokens(m), 0);
  }

  function fail(res, status, message, code = null, headers = {}) {
    res.writeHead(status, { 'Content-Type': 'application/json', ...headers });
    res.end(JSON.stringify({ error: { message, type: code ?? 'error', param: null, code } }));
  }

  async function answer(res, body) {
    const last = body.messages.filter((m) => m.role === 'user').at(-1);
    const text = last ? textOf(last) : '';
    const [, mood = '', rest = ''] = /^!(\w+)\s*([^]*)$/.exec(text) ?? [];
    const numbers = rest.split(/\s+/).map(Number);
    const toolsDone = body.messages.at(-1).role === 'tool';
    const often = seen.get(text) ?? 0;
    if (mood === 'status' && !(numbers[1] <= often)) {
      seen.set(text, often + 1);
      return fail(res, numbers[0], `the model says ${numbers[0]}`, `code_${numbers[0]}`);
    }
    if (mood === 'after' && !often) {
      seen.set(text, 1);
      return fail(res, numbers[0], 'slow down', 'rate_limit_exceeded', { 'Retry-After': rest.split(' ')[1] });
    }
    if (mood === 'slow') await sleep(numbers[0]);

    const id = `chatcmpl-${++number}`, created = Math.floor(Date.now() / 1000);
    const usage = { prompt_tokens: body.messages.reduce((sum, m) => sum + tokens(m), 0),
                    completion_tokens: 0, prompt_tokens_details: { cached_tokens: cached(body) } };
    const said = mood === 'say' ? rest : mood === 'count'
      ? Array.from({ length: numbers[0] }, (_, i) => i + 1).join(' ')
      : /^(think|reasoning)$/.test(mood) ? rest.split(' | ')[1]
      : mood === 'bytes' ? 'word '.repeat((numbers[0] * 1024) / 5) : toolsDone
      ? `The tools said: ${body.messages.slice(body.messages.findLastIndex((m) => m.role === 'assistant') + 1)
          .map((m) => m.content).join(', ')}` : `You said: ${text}`;

    if (mood === 'whole') {
      usage.completion_tokens = words(said).length;
      res.writeHead(200, { 'Content-Type': 'application/json' });
      return res.end(JSON.stringify({ id, object: 'chat.completion', created, model: body.model, usage,
        choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }] }, null, 2));
    }

    res.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-cache' });
    res.flushHeaders();
    if (mood === 'silent') await sleep(numbers[0]);
    const end = mood === 'rubbish' ? '\r\n\r\n' : '\n\n';
    const put = (data) => res.write(`data: ${data}${end}`);
    const chunk = (delta, finish = null) => put(JSON.stringify({
      id, object: 'chat.completion.chunk', created, model: body.model, system_fingerprint: null,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
      ...(body.stream_options?.include_usage ? { usage: null } : {}) }));

    chunk({ role: 'assistant', content: '' });
    if (/^(think|reasoning)$/.test(mood))
      for (const w of words(rest.split(' | ')[0]))
        chunk({ [mood === 'think' ? 'reasoning_content' : 'reasoning']: w });
    if (mood === 'long') res.write(`data: {"x":"${'y'.repeat(2 << 20)}"}\n\n`);
    let n = 0;
    const limit = mood === 'stop' || mood === 'reset' ? numbers[0] || 0 : Infinity;
    const tools = mood === 'tools' && !toolsDone;
    if (tools)
      rest.split(';').map((t) => /^\s*(\S+)\s*([^]*)$/.exec(t)).forEach(([, name, args], index) => {
        chunk({ tool_calls: [{ index, id: `call_${number}_${index}`, type: 'function',
                               function: { name, arguments: '' } }] });
        for (const piece of args.match(/[^]{1,5}/g) ?? [])
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
      });
    else
      for (const w of words(said)) {
        if (n === limit) break;
        if (mood === 'rubbish')
          res.write(': a comment\r\n\r\nevent: ping\r\nid: 7\r\nretry: 10\r\nwhat is this\r\n\r\ndata: ping\r\n\r\ndata:\r\n\r\n');
        if (mood === 'garbled' && n === 1) put('{"choices":[{"delta":{"content":"lost');
        if (mood === 'error' && n === 2) put(JSON.stringify({ error: { message: rest, code: 502 } }));
        if (mood === 'pause' && n === 1) await sleep(numbers[0]);
        if (numbers[1] && mood === 'count' && n) await sleep(numbers[1]);
        if (res.destroyed) return;
        chunk({ content: w });
        n++;
      }
    usage.completion_tokens = n;
    if (mood === 'reset') return setTimeout(() => res.destroy(), 50);
    if (mood === 'stop') return res.end();
    const finish = mood === 'length' ? 'length' : mood === 'filter' ? 'content_filter'
      : tools ? 'tool_calls' : 'stop';
    if (mood === 'noline')
      return res.end(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: finish }] })}`);
    chunk({}, finish);
    if (body.stream_options?.include_usage)
      put(JSON.stringify({ id, object: 'chat.completion.chunk', created, model: body.model, choices: [],
                           usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }));
    if (mood !== 'nodone') put('[DONE]');
    if (mood !== 'hang') res.end();
  }

  const listen = (req, res) => {
    const pieces = [];
    req.on('data', (d) => pieces.push(d));
    req.on('error', () => {});
    res.on('error', () => {});
    req.on('end', async () => {
      const raw = Buffer.concat(pieces).toString('utf8');
      if (req.method === 'GET' && req.url === '/log') return res.end(JSON.stringify(log));
      const entry = { path: req.url, headers: req.headers, raw, version: req.httpVersion, connection: req.socket.remotePort };
      log.push(entry);
      res.on('close', () => { entry.closed = true; entry.whole = res.writableFinished; });
      try {
        if (req.method !== 'POST' || req.url !== '/v1/chat/completions')
          throw new Refused(404, `Invalid URL (${req.method} ${req.url})`);
        if (key && req.headers.authorization !== `Bearer ${key}`)
          throw new Refused(401, `Incorrect API key provided: ${(req.headers.authorization ?? '').slice(7)}.`,
                            'invalid_api_key');
        try {
          entry.body = JSON.parse(raw);
        } catch {
          refuse('We could not parse the JSON body of your request.');
        }
        check(entry.body);
        await answer(res, entry.body);
      } catch (e) {
        if (!(e instanceof Refused)) throw e;
        fail(res, e.status, e.message, e.code);
      }
    });
  };
  const sockets = new Set();
  const server = tls ? http2.createSecureServer({ ...tls, allowHTTP1: true }, listen) : http.createServer(listen);
  server.on('connection', (c) => { sockets.add(c); c.on('close', () => sockets.delete(c)); });
  server.keepAliveTimeout = keepAlive;
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return {
    log, port: server.address().port, url: `http${tls ? 's' : ''}://127.0.0.1:${server.address().port}/v1`,
    stop: () => new Promise((done) => { server.close(done); for (const c of sockets) c.destroy(); }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const model = await startModel({ port: Number(process.argv[2] ?? 0), key: process.env.MODEL_KEY });
  console.log(`listening on ${model.url}`);
}
