// SPDX-License-Identifier: Apache-2.0
//
// wire.mjs: HTTP byte by byte: connections that are written to and read from step by step.
import net from 'node:net';
import { assert, slow, sleep } from '../lib.mjs';

export const CRLF = '\r\n';
export const HOST = `Host: localhost${CRLF}`;

const show = (bytes) => JSON.stringify(bytes.slice(0, 600));

/** A connection that is written to and read from step by step. */
export class Wire {
  constructor(port, { paused = false, allowHalfOpen = false } = {}) {
    this.got = '';
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen });
    this.socket.setEncoding('latin1');
    this.socket.on('error', (e) => (this.error = e.code));
    this.closed = new Promise((done) => this.socket.on('close', () => { this.over = true; done(); }));
    this.socket.on('data', (d) => (this.got += d));
    if (paused) this.socket.pause();
  }
  send(bytes) {
    if (!this.over) this.socket.write(bytes, 'latin1');
    return this;
  }
  async drip(bytes, ms) {
    for (const b of bytes) {
      if (this.over) return;
      this.send(b);
      await sleep(ms);
    }
  }
  /** Waits until what came fits. */
  async until(pattern, ms = 5000 * slow) {
    const end = Date.now() + ms;
    while (!pattern.test(this.got)) {
      assert.ok(!this.over || pattern.test(this.got), `closed (${this.error ?? 'in order'}) after: ${show(this.got)}`);
      assert.ok(Date.now() < end, `not within ${ms} ms; got: ${show(this.got)}`);
      await sleep(5);
    }
    return this;
  }
  /** Waits until the server closes it: how long that took. */
  async end(ms = 10000 * slow) {
    const before = Date.now();
    const late = sleep(ms).then(() => assert.ok(this.over, `still open after ${ms} ms; got: ${show(this.got)}`));
    await Promise.race([this.closed, late]);
    return Date.now() - before;
  }
  close() {
    this.socket.destroy();
  }
  /** The answers that came, all of them whole: [{status, headers, text, body}]. */
  answers({ head = false } = {}) {
    const list = [];
    let left = this.got;
    while (left) {
      const end = left.indexOf(CRLF + CRLF);
      assert.ok(end >= 0, `the end of a header in: ${left}`);
      const [first, ...lines] = left.slice(0, end).split(CRLF);
      const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(first) ?? assert.fail(`a status line: ${first}`);
      const headers = Object.fromEntries(lines.map((l) => {
        const [, name, value] = /^([^:\s]+): (.*)$/.exec(l) ?? assert.fail(`a header: ${l}`);
        return [name.toLowerCase(), value];
      }));
      left = left.slice(end + 4);
      const bare = head || status === '100' || status === '204' || status === '304';
      const n = bare ? 0 : Number(headers['content-length'] ?? 0);
      assert.ok(left.length >= n, 'the whole body is there');
      const text = left.slice(0, n);
      left = left.slice(n);
      const json = text && !headers['content-encoding'] && (headers['content-type'] ?? '').includes('json');
      list.push({ status: Number(status), headers, text, body: json ? JSON.parse(text) : undefined });
    }
    return list;
  }
}

/** Sends bytes and gives the answers when the connection is closed, or `n` of them are there. */
export async function talk(s, bytes, { n = 0, head = false, ms = 10000 } = {}) {
  const w = new Wire(s.port).send(bytes);
  const end = Date.now() + ms * slow;
  for (;;) {
    let list = [];
    try { list = w.answers({ head }); } catch (e) { if (w.over) throw e; }
    if (w.over || (n && list.length >= n)) {
      w.close();
      return list;
    }
    assert.ok(Date.now() < end, `no end of it: ${show(w.got)}`);
    await sleep(5);
  }
}

export const get = (path, more = '') => `GET ${path} HTTP/1.1${CRLF}${HOST}${more}${CRLF}`;
export const post = (path, body, more = '') =>
  `POST ${path} HTTP/1.1${CRLF}${HOST}Content-Type: application/json${CRLF}` +
  `Content-Length: ${Buffer.byteLength(body)}${CRLF}${more}${CRLF}${body}`;
export const isError = (a, status, code) => {
  assert.equal(a.status, status, JSON.stringify(a));
  assert.match(a.headers['content-type'] ?? '', /^application\/json/, a.text);
  assert.equal(a.body.code, code);
  assert.ok(a.body.error.length > 5);
  assert.equal(a.body.request_id, a.headers['x-request-id']);
};
