// SPDX-License-Identifier: Apache-2.0
//
// A fail-over that loses something: the second server is an asynchronous replica, and is cut off
// before the first one is killed. Numbers that nodes had reserved are among what it lacks. The nodes
// go on without being restarted, and no number is given twice.
import { chmodSync } from 'node:fs';
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
async function until(node, method, path, json) {
  for (let tries = 0; ; tries++) {
    const r = await call(node, method, path, json ? { json } : {});
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

await finish();
