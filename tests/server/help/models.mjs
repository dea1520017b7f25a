// SPDX-License-Identifier: Apache-2.0
//
// models.mjs: a model on this machine for programs that others have written. It speaks three interfaces
// (chat completions, responses, messages), answers with a number, and keeps what it was asked.
import assert from 'node:assert/strict';
import http from 'node:http';

/** What a model says, in the words of three interfaces: chat completions, responses, messages. */
const speak = {
  chat: (say, put) => {
    const chunk = (delta, finish_reason = null) => put(null, { id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
    chunk({ role: 'assistant', content: say });
    chunk({}, 'stop');
    put(null, '[DONE]');
  },
  responses: (say, put) => {
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: say, annotations: [] }] };
    const response = (status, output) => ({ id: 'resp_1', object: 'response', created_at: 1, status, model: 'm', output, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2, input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } } });
    const event = (type, rest) => put(type, { type, ...rest });
    event('response.created', { response: response('in_progress', []) });
    event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } });
    event('response.output_text.delta', { item_id: 'msg_1', output_index: 0, content_index: 0, delta: say });
    event('response.output_item.done', { output_index: 0, item });
    event('response.completed', { response: response('completed', [item]) });
  },
  messages: (say, put) => {
    const event = (type, rest = {}) => put(type, { type, ...rest });
    event('message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } });
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: say } });
    event('content_block_stop', { index: 0 });
    event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 1 } });
    event('message_stop');
  },
};

const flat = (c) => (typeof c === 'string' ? c : (c ?? []).map((x) => x.text ?? '').join('\n'));
/** All that a model is asked, in order; the interfaces have the system's words in other places. */
const texts = (q) => [flat(q.instructions), flat(q.system), ...(q.messages ?? q.input ?? []).map((m) => flat(m.content))].filter(Boolean);

/**
 * A model that says ANSWER and its number. `about(text)` is all that it was asked when the text was said: the
 * longest one, because agents ask for a title of it, too.
 */
export async function model() {
  const asked = [];
  const server = http.createServer((q, r) => {
    let body = '';
    q.on('data', (d) => (body += d));
    q.on('end', () => {
      const request = body && q.method === 'POST' ? JSON.parse(body) : {};
      const kind = Object.keys(speak).find((k) => q.url.split('?')[0].endsWith(`/${k === 'chat' ? 'chat/completions' : k}`));
      if (!kind) {
        r.writeHead(/count_tokens|models/.test(q.url) ? 200 : 404, { 'content-type': 'application/json' });
        r.end(JSON.stringify({ input_tokens: 1, data: [], models: [] }));
        return;
      }
      asked.push(texts(request).join('\n'));
      const say = `ANSWER${asked.length}.`;
      if (!request.stream && kind === 'chat') {
        r.setHeader('content-type', 'application/json');
        r.end(JSON.stringify({ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices: [{ index: 0, message: { role: 'assistant', content: say }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
        return;
      }
      r.writeHead(200, { 'content-type': 'text/event-stream' });
      speak[kind](say, (event, data) => r.write(`${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`));
      r.end();
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const at = `http://127.0.0.1:${server.address().port}`;
  const about = (text) => asked.filter((t) => t.includes(text)).sort((a, b) => b.length - a.length)[0] ?? assert.fail(`the model was never asked: ${text}`);
  return { about, at, url: `${at}/v1`, stop: () => { server.close(); server.closeAllConnections(); } };
}
