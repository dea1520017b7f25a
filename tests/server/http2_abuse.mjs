// SPDX-License-Identifier: Apache-2.0
//
// http2_abuse.mjs: clients of HTTP/2 that misuse what the protocol allows: streams that are reset at
// once, header blocks without an end, messages that never become complete, calls that last for ever.
// The attackers speak frames over raw sockets; beside them an ordinary client of gRPC must be served.
import { test, finish, start, RAMET, assert, eventually, metric, call as http, ramet, scratch, slow } from './lib.mjs';
import { client, closeAll, memory, health, grpc, value, metadata } from './help/grpc.mjs';
import { readFileSync } from 'node:fs';
import http2 from 'node:http2';
import net from 'node:net';

const { SystemService, EntriesService, EventStreamService, AttachmentsService: Files } = memory;
const { Health } = health;
const alice = { Authorization: 'Bearer alice' };
const say = (text) => ({ channel: 'HISTORY', contentType: 'history', content: [value({ role: 'USER', text })] });
const append = (c, id, text, o) => c.call(EntriesService, 'appendEntry', { conversationId: id, entry: say(text) }, alice, o);
const ok = async (answer) => {
  const r = await answer;
  assert.equal(r.code, 'OK', `${r.code}: ${r.message}`);
  return r.value;
};
const residentMb = (s) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${s.pid}/status`, 'latin1'))[1]) / 1024;
const MiB = 1 << 20;
/** A sanitizer keeps what was freed for a while. */
const memoryFactor = RAMET.includes('/san/') ? 4 : 1;

// ------------------------------------------------------------------ frames

const DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8, CONTINUATION = 9;
const END_STREAM = 1, END_HEADERS = 4, ACK = 1;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const PROTOCOL_ERROR = 1, FLOW_CONTROL_ERROR = 3, CANCEL = 8, ENHANCE_YOUR_CALM = 11, HTTP_1_1_REQUIRED = 13;

function frame(type, flags, id, payload = Buffer.alloc(0)) {
  const f = Buffer.alloc(9 + payload.length);
  f.writeUIntBE(payload.length, 0, 3);
  f[3] = type;
  f[4] = flags;
  f.writeUInt32BE(id, 5);
  payload.copy(f, 9);
  return f;
}
const u32 = (n) => { const b = Buffer.alloc(4); b.writeUInt32BE(n); return b; };
const reset = (id) => frame(RST_STREAM, 0, id, u32(CANCEL));
/** HPACK literals, not indexed: each block stands for itself. */
const field = (name, text) => Buffer.concat([Buffer.from([0, name.length]), Buffer.from(name), Buffer.from([text.length]), Buffer.from(text)]);
const block = (path, more = {}) => Buffer.concat(Object.entries({
  ':method': 'POST', ':scheme': 'http', ':path': path, ':authority': 'x', te: 'trailers', 'content-type': 'application/grpc',
  authorization: 'Bearer alice', ...more }).map(([k, v]) => field(k, v)));
const APPEND = '/memory.v1.EntriesService/AppendEntry';
const WATCH = '/grpc.health.v1.Health/Watch';
const REFLECT = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
const begin = (id, path, flags = END_HEADERS) => frame(HEADERS, flags, id, block(path));
/** The beginning of a message of gRPC that says it has `length` bytes. */
const message = (length, bytes = Buffer.alloc(0)) => Buffer.concat([Buffer.from([0]), u32(length), bytes]);

/**
 * A connection by raw frames: {send(...buffers), frames, goaway, closed, open}. It answers settings and
 * pings, as the protocol asks for. send() resolves when the socket has taken the bytes or is closed.
 */
function connect(port, { localAddress = '127.0.0.1', hello = true } = {}) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: false });
  const c = { socket, frames: [], goaway: null, open: true };
  let rest = Buffer.alloc(0);
  c.closed = new Promise((done) => socket.on('close', () => { c.open = false; done(c); }));
  socket.on('error', () => {});
  socket.on('data', (d) => {
    rest = Buffer.concat([rest, d]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const n = rest.readUIntBE(0, 3);
      const f = { type: rest[3], flags: rest[4], id: rest.readUInt32BE(5), payload: rest.subarray(9, 9 + n) };
      rest = rest.subarray(9 + n);
      c.frames.push(f);
      if (f.type === SETTINGS && !(f.flags & ACK)) c.send(frame(SETTINGS, ACK, 0));
      if (f.type === PING && !(f.flags & ACK)) c.send(frame(PING, ACK, 0, f.payload));
      if (f.type === GOAWAY) c.goaway = { code: f.payload.readUInt32BE(4), text: f.payload.subarray(8).toString() };
    }
  });
  c.send = (...list) => new Promise((done) => {
    if (!c.open) return done();
    socket.write(Buffer.concat(list), () => done());
    c.closed.then(() => done());
  });
  c.ended = (id) => c.frames.find((f) => f.id === id && ((f.type === HEADERS && f.flags & END_STREAM) || f.type === RST_STREAM));
  /** What the trailers of a stream say; the server sends them as literals. */
  c.trailers = (id) => c.frames.filter((f) => f.id === id && f.type === HEADERS).map((f) => f.payload.toString('latin1')).join('');
  if (hello) c.send(PREFACE, frame(SETTINGS, 0, 0));
  return c;
}
/** One whose settings were exchanged: nothing is sent by itself any more. */
async function connected(port, options) {
  const c = connect(port, options);
  await eventually(() => assert.equal(c.frames.filter((f) => f.type === SETTINGS).length, 2), 10000 * slow);
  return c;
}
const cutWith = async (c, code, text) => {
  await c.closed;
  assert.ok(c.goaway, 'the connection ends with a GOAWAY');
  assert.equal(c.goaway.code, code, c.goaway.text);
  assert.match(c.goaway.text, text);
};

/** What a client sends behind the cut may reset the connection, which takes an unread GOAWAY with it. */
const cutWhileSending = async (c, code, text) => {
  await c.closed;
  if (c.goaway) await cutWith(c, code, text);
};

/** Calls of an ordinary client, one after the other, until stop(): how many were served; one that fails is an error. */
function ordinary(s) {
  const c = client(s.port, { 'grpc.use_local_subchannel_pool': 1 });
  let on = true, served = 0;
  const work = (async () => {
    while (on) {
      await ok(append(c, 'ordinary', `n${served}`));
      served++;
    }
  })();
  work.catch(() => {});
  return {
    stop: async () => {
      const before = served;
      await eventually(() => assert.ok(served > before, 'calls are served'), 20000 * slow);
      on = false;
      await work;
      c.close();
      return served;
    },
  };
}

// ------------------------------------------------------------------ resets

test('rapid reset: the connection is cut, memory stays, and others are served', async () => {
  const s = await start();
  const other = ordinary(s);
  const before = residentMb(s);
  let most = 0, peak = 0, cuts = 0, on = true;
  const watch = (async () => {
    while (on) {
      most = Math.max(most, await metric(s, 'ramet_grpc_calls'));
      peak = Math.max(peak, residentMb(s));
    }
  })();
  watch.catch(() => {}); // it is waited for below
  // Each sender opens and resets 20,000 streams, 1,000 on a connection: more than one may.
  const sender = async () => {
    for (let k = 0; k < 20; k++) {
      const c = connect(s.port);
      for (let id = 1; c.open && id < 2000; ) {
        const list = [];
        for (let i = 0; i < 100; i++, id += 2) list.push(begin(id, APPEND), reset(id));
        await c.send(...list);
      }
      await eventually(() => assert.ok(!c.open, 'the connection is cut'), 10000 * slow);
      cuts++;
      if (c.goaway) assert.equal(c.goaway.code, ENHANCE_YOUR_CALM, c.goaway.text);
    }
  };
  await Promise.all([sender(), sender()]);
  await other.stop();
  on = false;
  await watch;
  assert.equal(await metric(s, 'ramet_http2_cut_total'), cuts);
  assert.ok(most <= 4096, `${most} calls`);
  assert.ok(peak < before + 300 * memoryFactor, `${before} MB, then ${peak} MB`);
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_calls'), 0), 20000 * slow);
}, { seconds: 120 });

test('streams that are reset with a message, or by the server, count as well', async () => {
  const s = await start({ args: ['--http2-resets', '50'] });
  const whole = connect(s.port);
  for (let id = 1; whole.open && id < 4000; id += 2)
    await whole.send(begin(id, APPEND), frame(DATA, END_STREAM, id, message(0)), reset(id));
  await cutWhileSending(whole, ENHANCE_YOUR_CALM, /opened and reset/);
  // A window update of nothing is an error of the stream: the server resets it.
  const made = connect(s.port);
  for (let id = 1; made.open && id < 4000; id += 2)
    await made.send(begin(id, APPEND), frame(WINDOW_UPDATE, 0, id, u32(0)));
  await made.closed;
  await ok(append(client(s.port), 'a', 'served'));
});

test('a client may cancel calls that were answered, and some others', async () => {
  const s = await start({ args: ['--http2-resets', '20'] });
  const c = client(s.port);
  for (let i = 0; i < 60; i++) {
    const one = c.listen(Health, 'watch', { service: '' });
    await eventually(() => assert.equal(one.list.length, 1));
    one.cancel();
    assert.equal(await one.ended, 'CANCELLED');
  }
  const early = [...Array(15)].map(() => c.listen(EventStreamService, 'subscribeEvents', {}, alice));
  for (const one of early) one.cancel();
  await Promise.all(early.map((one) => one.ended));
  await ok(append(c, 'a', 'on the same connection'));
  assert.equal(await metric(s, 'ramet_http2_cut_total'), 0);
});

// ------------------------------------------------------------------ headers and other frames

test('a header block without an end is cut', async () => {
  const s = await start();
  const before = residentMb(s);
  const flood = await connected(s.port);
  await flood.send(frame(HEADERS, 0, 1, block(APPEND)));
  const many = frame(CONTINUATION, 0, 1, Buffer.concat(Array(100).fill(field('x', 'y'.repeat(100)))));
  for (let i = 0; flood.open && !flood.goaway && i < 30000; i++) {
    await flood.send(many);
    await new Promise(setImmediate); // and it hears what comes
  }
  await cutWhileSending(flood, ENHANCE_YOUR_CALM, /header block is too large/);
  const empty = await connected(s.port);
  await empty.send(frame(HEADERS, 0, 1, block(APPEND)), Buffer.concat(Array(200).fill(frame(CONTINUATION, 0, 1))));
  await cutWith(empty, ENHANCE_YOUR_CALM, /header block is too large/);
  // One that has many pieces and ends is a call like all others.
  const fine = await connected(s.port);
  const piece = frame(CONTINUATION, 0, 1, field('x', 'y'.repeat(100)));
  await fine.send(frame(HEADERS, 0, 1, block(WATCH)), piece, piece, frame(CONTINUATION, END_HEADERS, 1), frame(DATA, END_STREAM, 1, message(0)));
  await eventually(() => assert.ok(fine.frames.some((f) => f.type === DATA && f.id === 1)));
  fine.socket.destroy();
  const between = await connected(s.port);
  await between.send(frame(HEADERS, 0, 1, block(WATCH)), frame(PING, 0, 0, Buffer.alloc(8)));
  await cutWith(between, PROTOCOL_ERROR, /stands where it must not/);
  assert.ok(residentMb(s) < before + 100 * memoryFactor);
  await ok(append(client(s.port), 'a', 'served'));
});

test('floods of settings and pings, windows and streams past what was announced are cut', async () => {
  const s = await start();
  for (const one of [frame(SETTINGS, 0, 0), frame(PING, ACK, 0, Buffer.alloc(8)), frame(99, 0, 0), frame(DATA, 0, 1)]) {
    const c = connect(s.port);
    const many = Buffer.concat(Array(2000).fill(one));
    await c.send(begin(1, REFLECT));
    for (let i = 0; c.open && i < 100; i++) await c.send(many);
    await c.closed;
  }
  const wide = connect(s.port);
  const piece = Buffer.alloc(16384);
  await wide.send(begin(1, WATCH), frame(DATA, 0, 1, message(1 << 24, piece.subarray(5))), ...Array(5).fill(frame(DATA, 0, 1, piece)));
  await wide.closed;
  const large = connect(s.port);
  await large.send(begin(1, APPEND), frame(DATA, 0, 1, Buffer.alloc(20000)));
  await cutWith(large, PROTOCOL_ERROR, /too large/);
  const many = connect(s.port);
  await many.send(...[...Array(300).keys()].map((i) => begin(1 + 2 * i, APPEND)));
  await cutWith(many, ENHANCE_YOUR_CALM, /more streams/);
  await ok(append(client(s.port), 'a', 'served'));
});

// ------------------------------------------------------------------ calls that last

test('unfinished messages: others are served, and the deadline ends them', async () => {
  // All hoards must be open before the deadline ends the first; a connection that is silent for as long is cut.
  const s = await start({ args: ['--request-seconds', String(3 * slow), '--grpc-calls', '400', '--grpc-calls-per-address', '200'] });
  const hoards = [];
  for (let k = 0; k < 4; k++) {
    const c = connect(s.port, { localAddress: '127.0.0.2' });
    hoards.push(c);
    await c.send(...[...Array(100).keys()].map((i) => begin(1 + 2 * i, APPEND)));
    for (let i = 0; i < 100; i++) await c.send(frame(DATA, 0, 1 + 2 * i, message(1000, Buffer.alloc(10))));
  }
  await eventually(() => assert.equal(hoards.reduce((n, c) => n + c.frames.filter((f) => f.type === HEADERS).length, 0) >= 200, true), 10000 * slow);
  assert.ok(await metric(s, 'ramet_grpc_calls') <= 400);
  const refusals = hoards.map((c) => [...Array(100).keys()].map((i) => c.trailers(1 + 2 * i)).join('')).join('');
  assert.match(refusals, /too many calls of this address are open/);
  await ok(append(client(s.port), 'a', 'served while they hold their share'));
  const ended = (c) => [...Array(100).keys()].every((i) => c.ended(1 + 2 * i));
  const state = () => hoards.map((c) => [c.open, c.goaway?.text, [...Array(100).keys()].filter((i) => c.ended(1 + 2 * i)).length]);
  await eventually(() => assert.ok(hoards.every(ended), JSON.stringify(state())), 20000 * slow);
  const ends = hoards.flatMap((c) => [...Array(100).keys()].map((i) => c.trailers(1 + 2 * i))).join('');
  assert.match(ends, /did not arrive in time/);
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_calls'), 0), 10000 * slow);
});

test('calls over the limit are refused, however many', async () => {
  const s = await start({ args: ['--grpc-calls', '1'] });
  const holder = await connected(s.port);
  await holder.send(begin(1, APPEND));
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_calls'), 1), 10000 * slow);
  // Each is answered before the next 100 are sent: none is reset by its client.
  await Promise.all([...Array(4)].map(async () => {
    const c = await connected(s.port);
    for (let first = 1; first < 4000; first += 200) {
      const ids = [...Array(100).keys()].map((i) => first + 2 * i);
      await c.send(...ids.map((id) => begin(id, APPEND, END_HEADERS | END_STREAM)));
      await eventually(() => assert.ok(ids.every((id) => c.ended(id)), c.goaway?.text), 10000 * slow);
      assert.match(c.trailers(ids[50]), /too many calls are open/);
    }
    c.socket.destroy();
  }));
  assert.equal(await metric(s, 'ramet_grpc_calls'), 1);
  holder.socket.destroy();
}, { seconds: 120 });

test('the status of a late call is DEADLINE_EXCEEDED; an upload that goes on has more time', async () => {
  const s = await start({ args: ['--request-seconds', '1'] });
  const c = client(s.port);
  const up = c.of(Files).uploadAttachment(metadata(alice), () => {});
  const status = new Promise((done) => up.on('status', done));
  up.on('error', () => {});
  up.write({ metadata: { filename: 'late' } });
  const st = await status;
  assert.equal(st.code, grpc.status.DEADLINE_EXCEEDED);
  assert.match(st.details, /did not arrive in time/);
  // Its first chunks are worth ten seconds by the least rate: then it may take longer than request-seconds.
  const began = Date.now();
  const pieces = async function* () {
    yield { metadata: { filename: 'slow' } };
    for (let i = 0; i < 5; i++) yield { chunk: Buffer.alloc(32768) };
    while (Date.now() - began < 2000) {
      await new Promise((go) => setTimeout(go, 100));
      yield { chunk: Buffer.alloc(10) };
    }
  };
  await ok(c.send(Files, 'uploadAttachment', pieces(), alice));
  const silent = connect(s.port);
  await cutWith(silent, ENHANCE_YOUR_CALM, /in time/);
  const half = await connected(s.port);
  await half.send(frame(HEADERS, 0, 1, block(APPEND)));
  await cutWith(half, ENHANCE_YOUR_CALM, /in time/);
  await ok(append(c, 'a', 'served'));
});

test('an answer that nobody takes ends with its deadline', async () => {
  const s = await start({ args: ['--request-seconds', '1'] });
  const c = connect(s.port, { hello: false });
  // A window of nothing: no byte of an answer may be sent.
  await c.send(PREFACE, frame(SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), u32(0)])));
  await c.send(...[...Array(50).keys()].map((i) => Buffer.concat([begin(1 + 2 * i, WATCH), frame(DATA, END_STREAM, 1 + 2 * i, message(0))])));
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_watches'), 50), 10000 * slow);
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_watches'), 0), 20000 * slow);
});

test('large messages: bytes that arrive at once are bounded, and others get their turn', async () => {
  const s = await start({ args: ['--request-seconds', '4', '--grpc-message-bytes', String(32 * MiB)] });
  const before = residentMb(s);
  const c = connect(s.port, { localAddress: '127.0.0.2' });
  const n = 60, piece = Buffer.alloc(16384);
  const window = (id) => 65535 + c.frames.filter((f) => f.type === WINDOW_UPDATE && f.id === id).reduce((sum, f) => sum + f.payload.readUInt32BE(0), 0);
  const sent = Array(n).fill(0);
  await c.send(...[...Array(n).keys()].map((i) => begin(1 + 2 * i, APPEND)));
  // Each says that it has 3 MiB, and sends all but the last of what the windows allow.
  for (let round = 0; round < 400 && c.open; round++) {
    const connection = window(0) - sent.reduce((a, b) => a + b, 0);
    const list = [];
    let left = connection;
    for (let i = 0; i < n; i++) {
      const most = Math.min(16384, window(1 + 2 * i) - sent[i], left, 3 * MiB - sent[i] - 1);
      if (most < 6) continue;
      list.push(frame(DATA, 0, 1 + 2 * i, sent[i] ? piece.subarray(0, most) : message(3 * MiB, piece.subarray(0, most - 5))));
      sent[i] += most;
      left -= most;
    }
    if (list.length) await c.send(...list);
    else await new Promise((go) => setTimeout(go, 5));
  }
  assert.ok(c.open, c.goaway?.text);
  const total = sent.reduce((a, b) => a + b, 0);
  assert.ok(total < 8 * MiB + 3 * MiB + n * 65536, `${total} bytes were let in`);
  assert.ok(residentMb(s) < before + 120 * memoryFactor);
  await ok(append(client(s.port), 'a', 'x'.repeat(3 * MiB)));
  await eventually(() => assert.ok([...Array(n).keys()].every((i) => c.ended(1 + 2 * i))), 20000 * slow);
  await ok(append(client(s.port), 'a', 'x'.repeat(3 * MiB)));
});

test('watches and reflection are counted apart, and end', async () => {
  const s = await start({ args: ['--grpc-watches', '40', '--grpc-watches-per-address', '20', '--grpc-watch-seconds', '3', '--request-seconds', '3', '--grpc-calls', '30'] });
  const c = connect(s.port, { localAddress: '127.0.0.2' });
  const ids = [...Array(60).keys()].map((i) => 1 + 2 * i);
  await c.send(...ids.map((id, i) => Buffer.concat([begin(id, i % 2 ? WATCH : REFLECT), frame(DATA, 0, id, message(0))])));
  await eventually(() => assert.equal(ids.filter((id) => c.ended(id)).length, 40), 10000 * slow);
  assert.match(ids.map(c.trailers).join(''), /too many watches of this address/);
  assert.equal(await metric(s, 'ramet_grpc_watches'), 20);
  assert.equal(await metric(s, 'ramet_grpc_calls'), 0);
  const other = client(s.port);
  const watch = other.listen(Health, 'watch', { service: '' });
  await eventually(() => assert.equal(watch.list.length, 1));
  await ok(append(other, 'a', 'served'));
  assert.equal(await watch.ended, 'UNAVAILABLE');
  await eventually(async () => assert.equal(await metric(s, 'ramet_grpc_watches'), 0), 20000 * slow);
});

test('the server stops while guarded connections are open', async () => {
  const s = await start({ args: ['--stop-seconds', '1'] });
  const all = [...Array(6)].map(() => connect(s.port));
  for (const [i, c] of all.entries())
    await c.send(begin(1, [APPEND, WATCH, REFLECT][i % 3]), frame(DATA, 0, 1, message(1000)), i < 3 ? Buffer.alloc(4) : Buffer.alloc(0));
  await eventually(async () => assert.ok(await metric(s, 'ramet_grpc_calls') >= 2));
  const listening = client(s.port).listen(EventStreamService, 'subscribeEvents', {}, alice);
  await eventually(() => assert.ok(listening.headers));
  await s.stop();
  await Promise.all(all.map((c) => c.closed));
  assert.equal(await listening.ended, 'UNAVAILABLE');
});

// ------------------------------------------------------------------ ordinary clients

test('node:http2: many streams at once, and both HTTP on one port', async () => {
  const s = await start();
  const session = http2.connect(s.url);
  const one = (i) => new Promise((done, fail) => {
    const r = session.request({ ':method': 'POST', ':path': '/grpc.health.v1.Health/Check', 'content-type': 'application/grpc', te: 'trailers' });
    r.on('trailers', (t) => done(t['grpc-status']));
    r.on('error', fail);
    r.resume();
    r.end(i % 2 ? message(0) : Buffer.concat([message(0)]));
  });
  const answers = await Promise.all([...Array(1000).keys()].map(one));
  assert.ok(answers.every((a) => a === '0'));
  assert.equal((await http(s, 'GET', '/healthz')).status, 200);
  session.close();
  assert.equal(await metric(s, 'ramet_http2_cut_total'), 0);
});

test('messages in pieces and frames in single bytes pass as they are', async () => {
  const s = await start();
  const c = connect(s.port, { hello: false });
  const all = Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), begin(1, '/grpc.health.v1.Health/Check'),
                             frame(DATA, END_STREAM, 1, message(0)),
                             begin(3, '/grpc.health.v1.Health/Check'), frame(DATA, 0, 3, message(0).subarray(0, 2)),
                             frame(DATA, END_STREAM, 3, message(0).subarray(2))]);
  c.socket.setNoDelay(true);
  for (const b of all) await c.send(Buffer.from([b]));
  await eventually(() => assert.ok(c.ended(1) && c.ended(3)));
  const serving = message(2, Buffer.from([8, 1]));
  // the two calls run at once, and may be answered in any order
  const answers = c.frames.filter((f) => f.type === DATA).map((f) => [f.id, f.payload]).sort((a, b) => a[0] - b[0]);
  assert.deepEqual(answers, [[1, serving], [3, serving]]);
  c.socket.destroy();
});

test('a message of the largest size comes through', async () => {
  const s = await start();
  const c = client(s.port, { 'grpc.max_send_message_length': -1, 'grpc.max_receive_message_length': -1 });
  const most = 4 * MiB - 4096;
  const all = await Promise.all([...Array(6).keys()].map((i) => append(c, `c${i}`, 'x'.repeat(most))));
  for (const r of all) assert.equal(r.code, 'OK', r.message);
});

test('http2 off: a connection is refused with a reason, and HTTP/1.1 is served', async () => {
  const s = await start({ args: ['--http2', 'off'] });
  const c = connect(s.port);
  await cutWith(c, HTTP_1_1_REQUIRED, /gRPC, is off/);
  const r = await append(client(s.port), 'a', 'x', { deadline: Date.now() + 20000 });
  assert.match(r.code, /UNAVAILABLE|INTERNAL/, r.message); // what a client makes of HTTP_1_1_REQUIRED
  assert.equal((await http(s, 'GET', '/healthz')).status, 200);
  assert.equal(await metric(s, 'ramet_grpc_calls'), 0);
  const both = await ramet(['serve', '--listen', '127.0.0.1:0', '--grpc', '127.0.0.1:0', '--http2', 'off', '--db', scratch('x')]);
  assert.notEqual(both.code, 0);
  assert.match(both.err, /http2 is off/);
});

process.on('exit', closeAll);
await finish();
