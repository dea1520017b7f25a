// SPDX-License-Identifier: Apache-2.0
//
// Live events: what is told, to whom, in which order; replay, reset, slow readers, other processes.
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  test, finish, start, call, must, metric, ramet, append, newSession, sse, eventParser, assert, slow, eventually, enc,
} from './lib.mjs';

const kinds = (stream) => stream.events.map((e) => e.event);
const texts = (stream) => stream.events.filter((e) => e.event === 'entry.appended').map((e) => e.json.entry.text);

test('what happens is told as it happens', async () => {
  const s = await start();
  const stream = await sse(s);
  assert.equal(stream.status, 200);
  assert.match(stream.headers['content-type'], /^text\/event-stream/);
  await newSession(s, { id: 'a', title: 'A' });
  const made = await stream.next();
  assert.equal(made.event, 'session.created');
  assert.match(made.id, /^[0-9]+$/);
  assert.equal(made.json.type, 'session.created');
  assert.equal(made.json.session_id, 'a');
  assert.ok(made.json.tree_id);
  const { entries } = await append(s, 'a', 'hello');
  const said = await stream.next();
  assert.equal(said.event, 'entry.appended');
  const { versions, ...entry } = (await must(s, 'GET', 'sessions/a/entries')).entries[0];
  assert.deepEqual(said.json.entry, entry);
  assert.deepEqual(versions, { number: 1, count: 1 });
  assert.ok(Number(said.id) > Number(made.id));
  await must(s, 'PATCH', 'sessions/a', { json: { title: 'B' } });
  await must(s, 'POST', 'sessions/a/fork', { json: { id: 'f' } });
  await append(s, 'a', 'more');
  await must(s, 'POST', 'sessions/a/rewind', { json: { at: { entry_id: entries[0].id } } });
  const { branches } = await must(s, 'GET', 'sessions/a/branches');
  await must(s, 'POST', 'sessions/a/switch', { json: { branch_id: branches[0].branch_id } });
  await stream.until(() => stream.events.length >= 7); // of what is gone only its end is told
  await must(s, 'DELETE', 'sessions/a');
  await must(s, 'POST', 'sessions/a/restore', { json: {} });
  await stream.until(() => stream.events.length >= 9);
  assert.deepEqual(kinds(stream), ['session.created', 'entry.appended', 'session.updated', 'session.forked',
    'entry.appended', 'session.rewound', 'session.switched', 'session.deleted', 'session.restored']);
  for (const e of stream.events) {
    assert.equal(e.json.type, e.event);
    assert.equal(e.json.session_id, e.event === 'session.forked' ? 'f' : 'a');
    assert.equal(e.json.tree_id, made.json.tree_id);
  }
});

test('a batch: one event an entry, the last one has the number', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  let bare = '';
  const request = net.connect(s.port, '127.0.0.1');
  request.on('data', (d) => (bare += d));
  request.write('GET /ramet/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await eventually(() => assert.match(bare, /retry/));
  bare = '';
  await append(s, 'a', ['one', 'two', 'three']);
  await eventually(() => assert.equal(bare.split('event: entry.appended').length, 4));
  const blocks = bare.split('\n\n').filter((b) => b.includes('event:'));
  assert.deepEqual(blocks.map((b) => /^id: \d+$/m.test(b)), [false, false, true]);
  request.destroy();
});

test('bodies with line ends arrive whole', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const stream = await sse(s);
  const body = '{"a":\n1,\r\n\r"b":"x\\ny", "n": 0.10}';
  await must(s, 'POST', 'sessions/a/entries', {
    json: `{"entries":[{"role":"user","text":"l1\\nl2\\r\\u2028","format":"a2a","body":${body}}]}`,
  });
  const e = await stream.next();
  assert.equal(e.json.entry.text, 'l1\nl2\r\u2028');
  assert.deepEqual(e.json.entry.body, JSON.parse(body));
  assert.ok(e.data.includes('0.10'));
});

test('from now on without Last-Event-ID; everything after it with one', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await append(s, 'a', ['1', '2']);
  const now = await sse(s);
  await append(s, 'a', '3');
  await now.until(() => now.events.length === 1);
  assert.deepEqual(texts(now), ['3']);
  const all = await sse(s, '', { lastEventId: 0 });
  await all.until(() => all.events.length === 4);
  assert.deepEqual(kinds(all)[0], 'session.created');
  assert.deepEqual(texts(all), ['1', '2', '3']);
  const some = await sse(s, '', { lastEventId: all.events[0].id });
  await some.until(() => some.events.length === 3);
  assert.deepEqual(texts(some), ['1', '2', '3']);
  await append(s, 'a', '4');
  for (const x of [now, all, some]) await x.until(() => texts(x).at(-1) === '4');
  assert.deepEqual(all.events.map((e) => e.id).slice(-2), some.events.map((e) => e.id).slice(-2));
});

test('a reader that comes back before its first event misses nothing', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const first = await sse(s);
  await first.until(() => first.lastId() !== '');
  first.close();
  await append(s, 'a', 'between');
  const second = await sse(s, '', { lastEventId: first.lastId() });
  await second.until(() => second.events.length === 1);
  assert.deepEqual(texts(second), ['between']);
});

test('Last-Event-ID that is none', async () => {
  const s = await start();
  for (const lastEventId of ['x', '-1', '1.5', '99999999999999999999'])
    assert.equal((await sse(s, '', { lastEventId })).status, 400, lastEventId);
  assert.equal((await call(s, 'GET', 'events?sesion=x')).status, 400);
});

test('HEAD tells what GET would be, and ends', async () => {
  const s = await start();
  const r = await call(s, 'HEAD', 'events');
  assert.equal(r.status, 200);
  assert.match(r.headers.get('content-type'), /^text\/event-stream/);
  await newSession(s, { id: 'a' });
  await eventually(async () => assert.equal(await metric(s, 'ramet_live_streams'), 0));
});

test('filters by session and by tree', async () => {
  const s = await start();
  const a = await newSession(s, { id: 'a' });
  await newSession(s, { id: 'b' });
  await append(s, 'a', 'a0');
  const session = await sse(s, '?session=a'), tree = await sse(s, `?tree=${enc(a.tree_id)}`);
  await append(s, 'b', 'b1');
  await append(s, 'a', 'a1');
  await must(s, 'POST', 'sessions/a/fork', { json: { id: 'f' } });
  await append(s, 'f', 'f1');
  await append(s, 'b', 'b2');
  await append(s, 'a', 'a2');
  for (const x of [session, tree]) await x.until(() => texts(x).at(-1) === 'a2');
  assert.deepEqual(texts(session), ['a1', 'a2']);
  assert.deepEqual(texts(tree), ['a1', 'f1', 'a2']);
  assert.ok(!kinds(session).includes('session.forked') && kinds(tree).includes('session.forked'));
  const replayed = await sse(s, '?session=a', { lastEventId: 0 });
  await replayed.until(() => texts(replayed).at(-1) === 'a2');
  assert.deepEqual(texts(replayed), ['a0', 'a1', 'a2']);
});

test('only what the caller may see, live and replayed', async () => {
  const s = await start();
  const ann = await sse(s, '', { user: 'ann' }), bob = await sse(s, '', { user: 'bob' });
  const as = (user) => ({ user });
  await newSession(s, { id: 'a' }, as('ann'));
  await append(s, 'a', 'secret', as('ann'));
  await newSession(s, { id: 'b' }, as('bob'));
  await append(s, 'b', 'own', as('bob'));
  // Who may see an event is asked when it is told: after that bob may see more.
  await bob.until(() => texts(bob).length === 1);
  await must(s, 'PUT', 'sessions/a/members/bob', { ...as('ann'), json: { level: 'reader' } });
  await append(s, 'a', 'shared', as('ann'));
  await must(s, 'POST', 'sessions/a/fork', { ...as('ann'), json: { id: 'p', visibility: 'private' } });
  await append(s, 'p', 'private', as('ann'));
  await ann.until(() => texts(ann).length === 3);
  await bob.until(() => texts(bob).length === 2);
  await must(s, 'DELETE', 'sessions/a/members/bob', as('ann'));
  await append(s, 'a', 'alone again', as('ann'));
  await append(s, 'b', 'last', as('bob'));
  await ann.until(() => texts(ann).length === 4);
  await bob.until(() => texts(bob).at(-1) === 'last');
  assert.deepEqual(texts(ann), ['secret', 'shared', 'private', 'alone again']);
  assert.deepEqual(texts(bob), ['own', 'shared', 'last']);
  assert.ok(!JSON.stringify(bob.events).includes('"p"'));
  const again = await sse(s, '', { user: 'bob', lastEventId: 0 });
  await again.until(() => texts(again).at(-1) === 'last');
  assert.deepEqual(texts(again), ['own', 'last']);
  const stranger = await sse(s, '?session=a', { user: 'bob' });
  assert.equal(stranger.status, 404);
});

test('the holder of a link sees that session, until it is revoked', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'other' });
  const share = await must(s, 'POST', 'sessions/a/shares', { json: {} });
  const guest = await sse(s, '?session=a', { user: 'guest', headers: { 'X-Ramet-Share': share.token } });
  assert.equal(guest.status, 200, guest.text);
  await append(s, 'a', 'one');
  await append(s, 'other', 'not for guests');
  await append(s, 'a', 'two');
  await guest.until(() => texts(guest).length === 2);
  await must(s, 'DELETE', `sessions/a/shares/${enc(share.id)}`);
  await append(s, 'a', 'three');
  await sleep(500);
  assert.deepEqual(texts(guest), ['one', 'two']);
});

test('writes of another process appear within a second', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const stream = await sse(s);
  await sleep(300);
  for (let i = 0; i < 3; i++) {
    const r = await ramet(['append', 'a', `by the tool ${i}`, '--db', s.db]);
    const done = Date.now();
    assert.equal(r.code, 0, r.err);
    await stream.until(() => stream.events.length === i + 1);
    assert.ok(stream.events[i].at - done < 1000 * slow, `${stream.events[i].at - done} ms`);
  }
  assert.deepEqual(texts(stream), ['by the tool 0', 'by the tool 1', 'by the tool 2']);
});

test('past the window: one reset, then what comes', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  for (let i = 0; i < 30; i++) await append(s, 'a', `${i}`);
  const last = await sse(s, '', { lastEventId: 0 });
  await last.until(() => last.events.length === 31);
  await s.stop();
  // The window is cut when the server looks after the store; the tool's search makes the index follow.
  await ramet(['search', 'x', '--db', s.db]);
  const again = await start({ db: s.db, args: ['--event-window', '5'] });
  const future = await sse(again, '', { lastEventId: 1000000 });
  const reset = await future.next();
  assert.equal(reset.event, 'reset');
  assert.equal(reset.json.type, 'reset');
  assert.equal(reset.id, last.events.at(-1).id);
  await append(again, 'a', 'after');
  await future.until(() => texts(future).length === 1);
  assert.deepEqual(kinds(future), ['reset', 'entry.appended']);
  await eventually(async () => {
    const old = await sse(again, '', { lastEventId: 1 });
    const first = await old.next();
    old.close();
    assert.equal(first.event, 'reset');
    assert.ok(Number(first.id) > 30);
  }, 20000 * slow);
});

test('signs of life', async () => {
  const s = await start({ args: ['--heartbeat-seconds', '1'] });
  await newSession(s, { id: 'a' });
  const stream = await sse(s, '?session=a');
  const begin = stream.comments.length;
  await stream.until(() => stream.comments.length >= begin + 3, 6000 * slow);
  assert.equal(stream.events.length, 0);
  // They move the number on, past what the filter left out.
  await newSession(s, { id: 'b' });
  const before = Number(stream.lastId());
  await stream.until(() => Number(stream.lastId()) > before, 4000 * slow);
});

test('a limit on streams', async () => {
  const s = await start({ args: ['--streams', '2'] });
  const a = await sse(s), b = await sse(s), c = await sse(s);
  assert.deepEqual([a.status, b.status, c.status], [200, 200, 503]);
  assert.equal(JSON.parse(c.text).code, 'too_many_streams');
  a.close();
  b.close();
  await newSession(s, { id: 'x' });
  await eventually(async () => {
    const d = await sse(s);
    assert.equal(d.status, 200);
    d.close();
  }, 20000);
});

/** A stream on a bare socket, which can be left unread: {socket, text, numbers(), over}. */
function bareStream(s, { query = '', user = 'local', after } = {}) {
  const bare = { text: '', over: false };
  const socket = (bare.socket = net.connect(s.port, '127.0.0.1'));
  socket.setEncoding('latin1');
  socket.on('data', (d) => (bare.text += d));
  socket.on('error', () => (bare.over = true));
  socket.on('close', () => (bare.over = true));
  socket.write(`GET /ramet/v1/events${query} HTTP/1.0\r\nHost: localhost\r\nX-User-Id: ${user}\r\n` +
               (after === undefined ? '\r\n' : `Last-Event-ID: ${after}\r\n\r\n`));
  /** Of the events, not of signs of life. */
  bare.numbers = () => [...bare.text.matchAll(/^id: (\d+)\nevent: /gm)].map((m) => Number(m[1]));
  return bare;
}
/** Opened, greeted, and not read any more. */
async function unread(s, options) {
  const bare = bareStream(s, options);
  await eventually(() => assert.match(bare.text, /retry/), 20000 * slow);
  bare.socket.pause();
  return bare;
}
/**
 * Opened, and not read any more from the first bytes of an event on that is larger than what the
 * kernel can hold for both sockets: so the rest of it stays in the server until the stream is read,
 * and the stream falls behind at the next event, once. (One that was given smaller events may catch
 * up when the kernel takes more, and fall behind again.) An event has its text three times.
 */
async function clogged(s, session, { writer, ...options } = {}) {
  const most = (name) => Number(readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/)[2]);
  const bare = bareStream(s, options);
  await eventually(() => assert.match(bare.text, /retry/), 20000 * slow);
  let begun = false;
  bare.socket.on('data', () => {
    if (begun || !/^event: /m.test(bare.text)) return;
    begun = true;
    bare.socket.pause();
  });
  const kernel = most('tcp_wmem') + most('tcp_rmem');
  await append(s, session, 'x'.repeat(Math.ceil(kernel / 3) + (1 << 20)), { user: writer });
  await eventually(() => assert.ok(begun), 20000 * slow);
  return bare;
}
const fallen = (s) => metric(s, 'ramet_live_behind_total');
const upTo = (first, n) => Array.from({ length: n }, (_, i) => first + i);

test('a client that falls behind is given the rest from the store, the others go on', async () => {
  const s = await start({ args: ['--stream-bytes', '65536', '--heartbeat-seconds', '1'] });
  await newSession(s, { id: 'a' });
  await newSession(s, { id: 'large' });
  // All that `good` is given, and what comes behind the large event, fits into stream-bytes: neither can fall behind
  // by it.
  const good = await sse(s, '?session=a'), lazy = await clogged(s, 'large'), count = 20, text = 'x'.repeat(200);
  for (let n = 1; n <= count; n++) {
    await append(s, 'a', text);
    await good.until(() => good.events.length === n);
  }
  await eventually(async () => assert.equal(await fallen(s), 1), 20000 * slow);
  lazy.socket.resume();
  const first = Number(good.events[0].id) - 1;
  await eventually(() => assert.equal(lazy.numbers().length, count + 1), 20000 * slow);
  await append(s, 'a', 'live again');
  await eventually(() => assert.deepEqual(lazy.numbers(), upTo(first, count + 2)), 20000 * slow);
  assert.equal(await fallen(s), 1);
  assert.equal(await metric(s, 'ramet_live_dropped_total'), 0);
  await eventually(async () => assert.equal(await metric(s, 'ramet_live_streams'), 2));
}, { seconds: 90 });

test('a client that takes nothing is told that its stream ends, and can come back', async () => {
  const s = await start({ args: ['--stream-bytes', '65536', '--stall-seconds', '2'] });
  await newSession(s, { id: 'a' });
  const lazy = await unread(s), count = 40, big = 'x'.repeat(100000);
  for (let n = 1; n <= count; n++) await append(s, 'a', big);
  await eventually(async () => assert.equal(await metric(s, 'ramet_live_dropped_total'), 1), 20000 * slow);
  lazy.socket.resume();
  await eventually(() => assert.ok(lazy.over), 20000 * slow);
  assert.match(lazy.text, /event: closed\ndata: {"type":"closed","reason":"too_slow","number":\d+}\n\n$/);
  const got = lazy.numbers();
  const back = bareStream(s, { after: got.at(-1) ?? 1 });
  const first = got[0] ?? 2;
  await eventually(() => assert.deepEqual([...got, ...back.numbers()], upTo(first, count)), 20000 * slow);
  back.socket.destroy();
}, { seconds: 90 });

test('streams that nobody reads share what they hold', async () => {
  const s = await start({ args: ['--heartbeat-seconds', '3600'] });
  await newSession(s, { id: 'a' });
  const streams = [], count = 80, events = 50, big = 'x'.repeat(15000);
  for (let i = 0; i < count; i++) streams.push(await unread(s));
  const before = await metric(s, 'process_resident_memory_bytes');
  for (let n = 0; n < events; n++) await append(s, 'a', big);
  await eventually(async () => assert.equal(await metric(s, 'ramet_live_sent_total'), count * events), 20000 * slow);
  const grown = (await metric(s, 'process_resident_memory_bytes')) - before;
  if (!/san\//.test(process.env.RAMET ?? '')) assert.ok(grown < 50e6, `${grown} bytes more`);
  assert.ok(await metric(s, 'ramet_live_buffered_bytes') < 6e6);
  for (const each of streams) each.socket.resume();
  const first = 2;
  for (const each of streams) {
    await eventually(() => assert.ok(each.text.length > 3 * events * big.length), 60000 * slow);
    await eventually(() => assert.deepEqual(each.numbers(), upTo(first, events)), 60000 * slow);
  }
  for (const each of streams) each.socket.destroy();
}, { seconds: 180 });

test('all streams together hold a bounded number of bytes', async () => {
  const limit = 1 << 20;
  const s = await start({ args: ['--streams-bytes', String(limit), '--heartbeat-seconds', '3600'] });
  await newSession(s, { id: 'a' });
  const streams = [], count = 30, events = 80, big = 'x'.repeat(15000);
  for (let i = 0; i < count; i++) streams.push(await unread(s, i % 3 ? {} : { after: 0 }));
  let most = 0;
  for (let n = 0; n < events; n++) {
    await append(s, 'a', big);
    most = Math.max(most, await metric(s, 'ramet_live_buffered_bytes'));
  }
  assert.ok(most < limit + 200000, `${most} bytes at once`);
  assert.ok(await fallen(s) > 0); // how often each one did depends on the kernel
  for (const each of streams) each.socket.resume();
  for (const each of streams)
    await eventually(() => assert.deepEqual(each.numbers().slice(-events), upTo(2, events)), 60000 * slow);
  assert.equal(await metric(s, 'ramet_live_dropped_total'), 0);
  for (const each of streams) each.socket.destroy();
}, { seconds: 180 });

test('a member who is removed while behind is not given what came after', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  await newSession(s, { id: 'a' }, { user: 'ann' });
  await must(s, 'PUT', 'sessions/a/members/bob', { user: 'ann', json: { level: 'reader' } });
  const lazy = await clogged(s, 'a', { user: 'bob', writer: 'ann' });
  for (let n = 0; n < 20; n++) await append(s, 'a', 'x', { user: 'ann' });
  await eventually(async () => assert.equal(await fallen(s), 1), 20000 * slow);
  await must(s, 'DELETE', 'sessions/a/members/bob', { user: 'ann' });
  await append(s, 'a', 'secret', { user: 'ann' });
  await newSession(s, { id: 'b' }, { user: 'bob' });
  lazy.socket.resume();
  await eventually(() => assert.match(lazy.text, /"session_id":"b"/), 20000 * slow);
  assert.doesNotMatch(lazy.text, /secret/);
  const got = lazy.numbers();
  assert.deepEqual(got, [...got].sort((x, y) => x - y));
  lazy.socket.destroy();
}, { seconds: 90 });

test('a stream that falls behind on one node gets what other nodes write', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  const other = await start({ db: s.db });
  await newSession(s, { id: 'a' });
  const lazy = await clogged(s, 'a'), count = 20;
  for (let n = 0; n < count; n++) await append(n % 2 ? s : other, 'a', 'x');
  await eventually(async () => assert.equal(await fallen(s), 1), 20000 * slow);
  lazy.socket.resume();
  await append(other, 'a', 'the last one');
  await eventually(() => assert.equal(lazy.numbers().length, count + 2), 20000 * slow);
  const got = lazy.numbers();
  assert.deepEqual(got, upTo(got[0], count + 2));
  assert.equal(await metric(s, 'ramet_live_dropped_total'), 0);
  lazy.socket.destroy();
}, { seconds: 90 });

test('a stop does not wait for clients that do not read', async () => {
  const s = await start({ args: ['--stop-seconds', '60'] });
  await newSession(s, { id: 'a' });
  const lazy = [await unread(s), await unread(s)];
  for (let n = 0; n < 30; n++) await append(s, 'a', 'x'.repeat(100000));
  await s.stop();
  for (const each of lazy) each.socket.destroy();
});

test('an event larger than the limit reaches a reader that takes it', async () => {
  const s = await start({ args: ['--stream-bytes', '4096'] });
  await newSession(s, { id: 'a' });
  const live = await sse(s);
  const text = 'y'.repeat(3000000);
  await append(s, 'a', text);
  await live.until(() => live.events.length === 1);
  assert.equal(texts(live)[0].length, text.length);
  const replayed = await sse(s, '', { lastEventId: 0 });
  await replayed.until(() => replayed.events.length === 2);
  assert.equal(texts(replayed)[0].length, text.length);
});

test('what is told only once reaches a reader that is behind', async () => {
  const s = await start({ args: ['--stream-bytes', '32768'] });
  await newSession(s, { id: 'a' });
  const live = await sse(s, '?session=a'), turns = 40;
  const of = (name) => live.events.filter((e) => e.event === name).length;
  for (let i = 0; i < turns; i++) {
    const r = await call(s, 'POST', 'sessions/a/messages', { json: { text: 'w'.repeat(4500) } });
    assert.equal(r.status, 200, r.text);
    await live.until(() => of('turn.done') > i);
  }
  assert.deepEqual([of('turn.started'), of('turn.done')], [turns, turns]);
});

test('a long replay to a slow reader waits for it', async () => {
  const s = await start({ args: ['--stream-bytes', '65536'] });
  await newSession(s, { id: 'a' });
  const pad = 'z'.repeat(20000);
  for (let i = 0; i < 20; i++)
    await append(s, 'a', Array.from({ length: 20 }, (_, j) => `${i * 20 + j} ${pad}`));
  const got = [];
  const parser = eventParser((e) => e.event === 'entry.appended' && got.push(parseInt(JSON.parse(e.data).entry.text)));
  const socket = net.connect(s.port, '127.0.0.1');
  socket.setEncoding('utf8');
  socket.write('GET /ramet/v1/events HTTP/1.0\r\nHost: localhost\r\nLast-Event-ID: 0\r\n\r\n');
  let head = '', body = false;
  for await (const piece of socket) {
    if (!body) {
      head += piece;
      if (!head.includes('\r\n\r\n')) continue;
      body = true;
      assert.match(head, /^HTTP\/1\.[01] 200/);
      parser.feed(head.slice(head.indexOf('\r\n\r\n') + 4));
    } else parser.feed(piece);
    await sleep(1);
    if (got.length === 400) break;
  }
  assert.deepEqual(got, Array.from({ length: 400 }, (_, i) => i));
  assert.equal(await metric(s, 'ramet_live_dropped_total'), 0);
}, { seconds: 120 });

test('under load, a reader that keeps coming back sees every entry once and in order', async () => {
  const s = await start();
  const writers = 6, each = slow > 1 ? 40 : 150;
  for (let w = 0; w < writers; w++) await newSession(s, { id: `w${w}` });
  const steady = await sse(s);
  let writing = true;
  const work = Promise.all(Array.from({ length: writers }, async (_, w) => {
    for (let i = 0; i < each; i++) await append(s, `w${w}`, i % 7 ? `${i}` : [`${i}`, `${i}b`, `${i}c`]);
  })).then(() => (writing = false));

  const seen = [];
  let last = 0, rounds = 0, patience = 1; // who comes too late to see anything stays longer next time
  const want = writers * (each + 2 * Math.ceil(each / 7));
  while (writing || seen.length < want) {
    const stream = await sse(s, '', { lastEventId: last });
    assert.equal(stream.status, 200);
    await sleep(1 + Math.random() * 15 * patience);
    stream.close();
    // What has no number of its own belongs to the next one that has: it comes again.
    let upTo = -1;
    stream.events.forEach((e, i) => { if (Number(e.id) === e.json.number) upTo = i; });
    for (const e of stream.events.slice(0, upTo + 1)) {
      assert.notEqual(e.event, 'reset');
      if (e.event === 'entry.appended') seen.push(e);
    }
    if (upTo >= 0) last = stream.events[upTo].id;
    patience = upTo >= 0 ? 1 : Math.min(2 * patience, 64);
    rounds++;
    assert.ok(rounds < 20000, `${seen.length} of ${want}`);
  }
  await work;
  await steady.until(() => texts(steady).length === want, 20000 * slow);
  assert.ok(rounds > 2, `${rounds} rounds`);
  const name = (e) => `${e.json.number} ${e.json.session_id} ${e.json.entry.position}`;
  assert.deepEqual(seen.map(name), steady.events.filter((e) => e.event === 'entry.appended').map(name));
  assert.equal(new Set(seen.map(name)).size, want);
  for (let w = 0; w < writers; w++) {
    const own = seen.filter((e) => e.json.session_id === `w${w}`).map((e) => e.json.entry.position);
    assert.deepEqual(own, own.map((_, i) => i));
  }
  for (let i = 1; i < seen.length; i++) assert.ok(seen[i].json.number >= seen[i - 1].json.number);
}, { seconds: 120 });

test('many streams, few bytes', async () => {
  const s = await start();
  await newSession(s, { id: 'a' });
  const count = 400;
  const before = await metric(s, 'process_resident_memory_bytes');
  const sockets = [], heard = new Array(count).fill('');
  for (let i = 0; i < count; i++) {
    const socket = net.connect(s.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.on('data', (d) => (heard[i] += d));
    socket.write(`GET /ramet/v1/events HTTP/1.1\r\nHost: localhost\r\nX-User-Id: local\r\n\r\n`);
    sockets.push(socket);
  }
  await eventually(() => assert.ok(heard.every((h) => h.includes('retry'))), 20000 * slow);
  assert.equal(await metric(s, 'ramet_live_streams'), count);
  const grown = (await metric(s, 'process_resident_memory_bytes')) - before;
  if (slow === 1) assert.ok(grown < count * 65536, `${grown / count} bytes a stream`);
  await append(s, 'a', 'to all of them');
  await eventually(() => assert.ok(heard.every((h) => h.includes('to all of them'))), 5000 * slow);
  for (const socket of sockets) socket.destroy();
  await append(s, 'a', 'to nobody');
  await eventually(async () => assert.equal(await metric(s, 'ramet_live_streams'), 0), 20000 * slow);
});

await finish();
