// SPDX-License-Identifier: Apache-2.0
//
// A fail-over that loses something: the second server is an asynchronous replica, and is cut off
// before the first one is killed. Numbers that nodes had reserved are among what it lacks. The nodes
// go on without being restarted, no number is given twice, and nothing that a node remembers of the
// first server is taken for true of the second.
import { chmodSync } from 'node:fs';
import net from 'node:net';
import { dirname } from 'node:path';
import {
  test, finish, start, call, must, newSession, run, scratch, sleep, assert, eventually, postgresScript, RAMET,
} from './lib.mjs';

chmodSync(dirname(scratch()), 0o755); // PostgreSQL runs as another user

async function postgres(...args) {
  const r = await run(postgresScript, args);
  assert.equal(r.code, 0, r.err);
  return r.out.trim();
}

/** One URL of both: postgres://…?host=A,B&port=1,2 */
function together(...urls) {
  const of = (name) => urls.map((u) => new RegExp(`[?&]${name}=([^&]*)`).exec(u)[1]).join(',');
  return `${urls[0].split('?')[0]}?host=${of('host')}&port=${of('port')}&target_session_attrs=read-write`;
}

/** Through a node until it is not refused for the moment. */
async function until(node, method, path, json, user) {
  for (let tries = 0; ; tries++) {
    const r = await call(node, method, path, json ? { json, user } : { user });
    if (r.status !== 503) return r;
    assert.ok(tries < 300, r.text);
    await sleep(50);
  }
}

for (const way of ['by the hosts of the URL', 'through pgbouncer']) {
  const folder = { first: scratch('first'), second: scratch('second'), bouncer: scratch('bouncer') };
  const sql = (where, text) => postgres('psql', folder[where], '-Atc', text);
  const bounced = way === 'through pgbouncer', nodes = [];
  let guarded, secret;

  test(`${way}: numbers are reserved that the replica never hears of`, async () => {
    const first = await postgres('start', folder.first);
    const second = await postgres('replica', folder.second, folder.first), both = together(first, second);
    const db = bounced ? await postgres('bouncer', folder.bouncer, folder.first) : both;
    const args = bounced ? ['--db-direct', both] : [];
    for (let i = 0; i < 2; i++) nodes.push(await start({ db, args, keep: true }));
    guarded = await start({ db, args: [...args, '--auth', 'tokens'], keep: true });
    for (const [i, node] of nodes.entries()) {
      await newSession(node, { id: `kept-${i}` });
      await must(node, 'POST', `sessions/kept-${i}/entries`, { json: { entries: [{ role: 'user', text: 'kept' }] } });
    }
    await eventually(async () => assert.equal(
      await sql('second', "SELECT count(*) FROM dir WHERE id LIKE 'kept-%' AND kind=1"), '2'));
    await sql('second', "ALTER SYSTEM SET primary_conninfo=''");
    await sql('second', 'SELECT pg_reload_conf()');
    await eventually(async () => assert.equal(await sql('first', 'SELECT count(*) FROM pg_stat_replication'), '0'));
    // The first node begins a larger block; the second one still has some of its first, and is given
    // those of the first node again when that is used up.
    for (let k = 0; k < 20; k++) await must(nodes[0], 'POST', 'sessions/kept-0/fork', { json: {} });
    const reserved = (where) => sql(where, 'SELECT next FROM counter WHERE kind=2');
    assert.ok(Number(await reserved('first')) > Number(await reserved('second')));
    secret = (await run(RAMET, ['token', 'create', '--user', 'ann', '--db', both])).out.match(/rmt_\S+/)[0];
    assert.equal((await call(guarded, 'GET', 'sessions', { token: secret })).status, 200);
  });

  test(`${way}: the nodes go on, and give each number once`, async () => {
    await postgres('kill', folder.first);
    await postgres('promote', folder.second);
    if (bounced) await postgres('repoint', folder.bouncer, folder.second);
    await Promise.all(nodes.map(async (node, i) => {
      for (let k = 0; k < 60; k++) {
        const made = await until(node, 'POST', 'sessions', { id: `new-${i}-${k}` });
        assert.ok(made.status === 201 || made.status === 200, made.text);
        const r = await until(node, 'POST', `sessions/new-${i}-${k}/entries`, { entries: [{ role: 'user', text: `n ${i} ${k}` }] });
        assert.ok(r.status < 300, r.text);
        const f = await until(node, 'POST', `sessions/kept-${i}/fork`, {});
        assert.ok(f.status < 300, f.text);
      }
    }));
    for (const [table, no] of [['tree', 'tree'], ['session', 'no'], ['branch', 'id']])
      assert.equal(await sql('second', `SELECT count(*) FROM (SELECT ${no} FROM ${table} GROUP BY ${no} HAVING count(*)>1) t`), '0', table);
  });

  test(`${way}: what is left reads as it was written, through both nodes; a token that was lost is known no more`, async () => {
    for (const node of nodes)
      for (let i = 0; i < 2; i++) {
        const kept = await must(node, 'GET', `sessions/kept-${i}/entries`);
        assert.equal(kept.entries[0].text, 'kept');
        for (let k = 0; k < 60; k += 7) {
          const r = await must(node, 'GET', `sessions/new-${i}-${k}/entries`);
          assert.deepEqual(r.entries.map((e) => e.text), [`n ${i} ${k}`]);
        }
      }
    await eventually(async () => assert.equal((await call(guarded, 'GET', 'sessions', { token: secret })).status, 401));
    for (const node of [...nodes, guarded]) await node.stop();
    for (const each of bounced ? ['bouncer', 'second', 'first'] : ['second', 'first']) await postgres('remove', folder[each]);
  });
}

// ------------------------------------------------------------------ in the middle of a request

/** An address that leads to one server after another. Connections to the server before stay open, and
 * break when they are next used: as when an address moves and no packet says so. */
async function movingAddress(port) {
  const open = new Set();
  const server = net.createServer((client) => {
    const link = { client, server: net.connect(port, '127.0.0.1'), moved: false };
    open.add(link);
    client.on('data', (bytes) => link.moved ? client.destroy() : link.server.write(bytes));
    link.server.on('data', (bytes) => link.moved || client.write(bytes));
    link.server.on('close', () => link.moved || client.destroy());
    client.on('close', () => { open.delete(link); link.server.destroy(); });
    for (const end of [client, link.server]) end.on('error', () => {});
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: server.address().port,
    move(to) {
      port = to;
      for (const link of open) link.moved = true;
    },
    close() {
      server.close();
      for (const link of open) link.client.destroy();
    },
  };
}

{
  const folder = { first: scratch('first'), second: scratch('second') };
  const sql = (where, text) => postgres('psql', folder[where], '-Atc', text);
  const portOf = (url) => Number(/port=(\d+)/.exec(url)[1]);
  const texts = (r) => r.entries.map((e) => e.text);
  let address, reader, forker;

  const say = (node, session, ...list) => must(node, 'POST', `sessions/${session}/entries`,
    { json: { entries: list.map((text) => ({ role: 'user', text, id: `${session}-${text}` })) } });

  /** A fork of a fork: the first one is cut behind `at` entries of three and goes on by itself. */
  async function chain(node, name, at) {
    await newSession(node, { id: name });
    await say(node, name, 'one', 'two', 'three');
    await must(node, 'POST', `sessions/${name}/fork`,
      { json: { id: `${name}-fork`, at: { entry_id: `${name}-${['one', 'two'][at - 1]}` } } });
    await say(node, `${name}-fork`, 'four', 'five');
    await must(node, 'POST', `sessions/${name}-fork/fork`, { json: { id: `${name}-leaf` } });
    return must(node, 'GET', `sessions/${name}-leaf/entries`);
  }
  const numbers = (where, session) => sql(where,
    `SELECT s.tree,s.no,s.head FROM session s WHERE s.id='${session}'`);

  test('in the middle of a request: two sessions are made that the second server never hears of', async () => {
    const first = await postgres('start', folder.first);
    await postgres('replica', folder.second, folder.first);
    address = await movingAddress(portOf(first));
    const db = `postgres://ramet@/ramet?host=127.0.0.1&port=${address.port}`;
    reader = await start({ db, keep: true });
    await newSession(reader, { id: 'kept' });
    await eventually(async () => assert.equal(
      await sql('second', "SELECT count(*) FROM dir WHERE id='kept' AND kind=1"), '1'));
    await sql('second', "ALTER SYSTEM SET primary_conninfo=''");
    await sql('second', 'SELECT pg_reload_conf()');
    await eventually(async () => assert.equal(await sql('first', 'SELECT count(*) FROM pg_stat_replication'), '0'));
    // Up to the end of the block of numbers that the second server knows to be reserved.
    for (let i = 0; (await numbers('first', `pad-${i - 1}`)).split('|')[0] !== '17'; i++) {
      assert.ok(i < 40);
      await newSession(reader, { id: `pad-${i}` });
    }
    await chain(reader, 'gone', 2);
    await newSession(reader, { id: 'empty' }, { user: 'ann' });
    forker = await start({ db, keep: true });
    for (let i = 0; i < 2; i++)
      await must(forker, 'POST', 'sessions/empty/fork', { json: {}, user: 'ann' });
    assert.equal((await call(forker, 'POST', 'sessions/empty/fork', { json: {}, user: 'bob' })).status, 404);
  });

  test('in the middle of a request: others have their numbers there, and are what is read and forked', async () => {
    const were = { leaf: await numbers('first', 'gone-leaf'), empty: await numbers('first', 'empty') };
    await postgres('promote', folder.second);
    const second = await postgres('url', folder.second), other = await start({ db: second });
    await newSession(other, { id: 'pad' });
    const leaf = texts(await chain(other, 'new', 1));
    assert.deepEqual(leaf, ['one', 'four', 'five']);
    await newSession(other, { id: 'vacant' }, { user: 'bob' });
    assert.deepEqual({ leaf: await numbers('second', 'new-leaf'), empty: await numbers('second', 'vacant') }, were,
      'the same numbers mean other sessions');
    address.move(portOf(second));
    // Each request is the first one on a connection that breaks, of a node that remembers the first server.
    const read = await until(reader, 'GET', 'sessions/new-leaf/entries?limit=3');
    assert.equal(read.status, 200, read.text);
    assert.deepEqual(texts(read.body), leaf);
    const forked = await until(forker, 'POST', 'sessions/empty/fork', {}, 'bob');
    assert.equal(forked.status, 404, forked.text);
    assert.equal(await sql('second', "SELECT count(*) FROM session WHERE type=0 AND owner='bob' AND id<>'vacant'"), '0');
    const fsck = await run(RAMET, ['fsck', '--db', second]);
    assert.equal(fsck.code, 0, fsck.out + fsck.err);
    for (const node of [reader, forker]) await node.stop();
    address.close();
    for (const each of ['second', 'first']) await postgres('remove', folder[each]);
  });
}

await finish();
