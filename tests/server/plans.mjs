// SPDX-License-Identifier: Apache-2.0
//
// What PostgreSQL really does: a server of its own that writes down the plan of every statement,
// and nodes that are used in every way, on whole tables and on partitions. No statement of a request
// walks a table; rows are spread over all partitions; what an append or a fork reads does not depend
// on the length of the session. The tables are never analyzed. (Each statement by itself is tested
// in tests/unit/plans.c.)
import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  test, finish, start, call, must, newSession, append, run, scratch, assert, postgresScript, eventually,
} from './lib.mjs';

const folder = scratch('postgres');
chmodSync(dirname(folder), 0o755); // PostgreSQL runs as another user
const conf = ['session_preload_libraries=auto_explain', 'auto_explain.log_min_duration=0',
  'auto_explain.log_nested_statements=on', 'max_wal_senders=0', 'wal_level=minimal', 'autovacuum=off',
  'shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.max=5000'].join(' ');

async function postgres(...args) {
  const r = await run(postgresScript, args, { env: { PG_CONF: conf } });
  assert.equal(r.code, 0, r.err);
  return r.out.trim();
}
const sql = async (...texts) =>
  (await postgres('psql', folder, '-qAt', '-F', ' ', ...texts.flatMap((text) => ['-c', text]))).split('\n');
const parted = (text) => sql('\\c parted', text);

const SESSIONS = 64, PARTS = 8;
let node, whole;
const ids = Array.from({ length: SESSIONS }, (_, i) => `s${i}`);
const all = (work) => Promise.all(ids.map(work));

async function load(db) {
  node = await start({ db, keep: true, args: ['--admins', 'local'] });
  await all((id) => newSession(node, { id, title: `Title ${id}`, tags: ['all', id] }));
  for (let i = 0; i < 5; i++) await all((id) => append(node, id, [`a${i} of ${id}`, `b${i} of ${id}`]));
  await all((id) => append(node, id, { id: `${id}-e`, role: 'assistant', text: `the end of ${id}` }));
  await all((id) => must(node, 'POST', `sessions/${id}/fork`, { json: { id: `${id}-fork` } }));
  await all((id) => append(node, `${id}-fork`, [`fork of ${id}`]));
  await all((id) => must(node, 'POST', `sessions/${id}/edit`, {
    json: { entry_id: `${id}-e`, entry: { role: 'assistant', text: 'another end' } } }).catch(() => {}));
  await all((id) => must(node, 'POST', `sessions/${id}/undo`, { json: {} }).catch(() => {}));
  await all((id) => must(node, 'PUT', `sessions/${id}/members/bob`, { json: { level: 'writer' } }));
  await all((id) => must(node, 'PUT', `sessions/${id}/tags`, { json: { tags: ['all', 'changed'] } }));
  for (const path of ['', '/entries?tail=true&limit=20', '/entries?limit=5', '/tree', '/ancestry', '/branches',
    '/head-log', '/record', '/state', '/usage', '/members', '/turns', '/children', '/fork-points'])
    await all(async (id) => {
      const r = await call(node, 'GET', `sessions/${id}-fork${path}`);
      assert.ok(r.status === 200 || r.status === 404 && !r.body.code?.startsWith('session'), `${path}: ${r.status} ${r.text}`);
    });
  for (const query of ['', '?tag=changed', '?limit=3', '?q=Title'])
    assert.ok((await call(node, 'GET', `sessions${query}`)).status < 500);
  for (const user of ['bob', 'eve']) await must(node, 'GET', 'sessions', { user });
  await must(node, 'POST', `sessions/s1/messages`, { json: { text: 'hello' } });
  await must(node, 'POST', '/a2a/echo', { headers: { 'A2A-Version': '1.0' }, json: { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} } });
  await eventually(async () => assert.ok((await must(node, 'GET', 'search?q=end')).hits.length > 0));
  for (const id of ids.slice(0, 8)) await must(node, 'DELETE', `sessions/${id}`);
}

test('a load of every kind, on whole tables', async () => {
  whole = await postgres('start', folder);
  await load(whole);
  const parts = await sql("SELECT count(*) FROM pg_class WHERE relkind='p'");
  assert.deepEqual(parts, ['0']);
  await node.stop();
}, { seconds: 120 });

test('a load of every kind, on partitions', async () => {
  await load(`${await postgres('database', whole, 'parted')}&partitions=${PARTS}`);
}, { seconds: 120 });

test('rows are spread over all partitions', async () => {
  for (const [table, most] of [['tree', 0.35], ['session', 0.35], ['branch', 0.35], ['entry', 0.35]]) {
    const rows = await parted(`SELECT tableoid::regclass,count(*) FROM ${table} GROUP BY 1`);
    const counts = rows.map((r) => Number(r.split(' ')[1])), total = counts.reduce((a, b) => a + b);
    assert.equal(counts.length, PARTS, `${table}: ${rows}`);
    assert.ok(Math.max(...counts) < total * most, `${table}: ${rows}`);
  }
  const plain = await parted("SELECT count(*) FROM pg_inherits WHERE inhparent='dir'::regclass");
  assert.deepEqual(plain, ['0'], 'ids are looked up in one table');
});

/** The plans in the log: {query, plan} */
function plans() {
  const log = readFileSync(join(folder, 'data', 'log'), 'utf8');
  return [...log.matchAll(/LOG: {2}duration: [\d.]+ ms {2}plan:\n((?:\t.*\n)+)/g)].map(([, text]) => {
    const plain = text.replace(/^\t/gm, '');
    const at = plain.search(/^[A-Z][A-Za-z ]+(?: on [^\n]*| using [^\n]*)? {2}\(cost=/m);
    return { query: plain.slice('Query Text: '.length, at).trim(), plan: plain.slice(at) };
  });
}

const tables = 'tree|session|branch|entry|delta|usage|run|member|tag|move|turn|share|verdict|attached|feedback|dir|once|event|words';
// Upkeep, which walks on purpose and now and then; and what the tests ask themselves.
const upkeep = /tableoid|^SELECT (coalesce\()?(count|max|min|sum)\(|\bpg_|NOT EXISTS/;

test('no statement of a request walks a table', async () => {
  const seen = plans();
  assert.ok(seen.length > 500, `${seen.length} plans`);
  const walks = new Map();
  for (const { query, plan } of seen)
    if (new RegExp(`Seq Scan on (${tables})(_\\d+)?\\b`).test(plan) && !upkeep.test(query)) walks.set(query, plan);
  assert.deepEqual([...walks].map(([query, plan]) => `${query}\n${plan}`), []);
});

test('appends, forks and pages go by the key, in one partition', async () => {
  const hot = { append: /UPDATE branch b? ?SET len/, fork: /INSERT INTO dir.*INSERT INTO session/s,
    entries: /FROM entry e WHERE e\.tree=/, session: /FROM dir i|FROM session s/ };
  const seen = plans();
  for (const [name, text] of Object.entries(hot)) {
    const mine = seen.filter((s) => text.test(s.query) && !upkeep.test(s.query));
    assert.ok(mine.length > 10, `${name}: ${mine.length} plans`);
  }
  // Of a statement with the tree in it only one partition is looked at, or those that its rows need.
  for (const { query, plan } of seen)
    if (/\b[be]\.tree=\$\d/.test(query) && !upkeep.test(query))
      assert.match(plan, /Index Cond: .*tree = |never executed|Subplans Removed/, `${query}\n${plan}`);
});

test('a list by tag goes by the GIN index alone', async () => {
  const mine = plans().filter(({ query }) => query.includes('x.tags@>'));
  assert.ok(mine.length > 0);
  for (const { plan } of mine) {
    assert.match(plan, /Bitmap Index Scan on session_(by_tags|\d+_tags_idx)/);
    assert.doesNotMatch(plan, / on tag|Index Scan using/);
  }
  // What stands in the sessions is what stands in the rows.
  assert.deepEqual(await sql("SELECT count(*) FROM session s WHERE ARRAY(SELECT unnest(s.tags) ORDER BY 1)<>ARRAY(SELECT t.tag FROM tag t WHERE t.tree=s.tree AND t.session=s.no ORDER BY t.tag)"), ['0']);
  assert.ok(Number((await sql('SELECT count(*) FROM tag'))[0]) > 64);
});

/** Pages that the statements of requests touch while `work` runs: not those of the search index,
 *  which follows behind. */
async function pages(work) {
  await sql('SELECT pg_stat_statements_reset()');
  await work();
  const [n] = await sql(`SELECT sum(s.shared_blks_hit+s.shared_blks_read) FROM pg_stat_statements s
    JOIN pg_database d ON d.oid=s.dbid WHERE d.datname='grown'
    AND s.query!~'word|event|pg_stat|counter|outbox o'`);
  return Number(n);
}

test('what appends and forks touch does not grow with the session', async () => {
  await sql('CREATE EXTENSION pg_stat_statements');
  const grown = await start({ db: await postgres('database', whole, 'grown'), keep: true });
  const text = 'x'.repeat(400);
  let n = 0, forks = 0;
  const entry = () => ({ id: `e${n++}`, role: 'user', text });
  const ops = async () => {
    for (let i = 0; i < 10; i++) await append(grown, 'long', entry());
    for (let i = 0; i < 5; i++)
      await must(grown, 'POST', 'sessions/long/fork', { json: { id: `fork${forks++}`, at: { entry_id: `e${n >> 1}` } } });
  };
  // The connections are as old as the store, and so are their plans.
  await newSession(grown, { id: 'long', title: 'Long' });
  await ops();
  const few = await pages(ops);
  while (n < 5000) await append(grown, 'long', Array.from({ length: 100 }, entry));
  const many = await pages(ops);
  // A level more in each index.
  assert.ok(few > 100 && many < 2 * few, `${few} pages at first, ${many} behind ${n} entries`);
  await grown.stop();
}, { seconds: 120 });

test('the server is put away', async () => {
  await node.stop();
  await postgres('remove', folder);
});

await finish();
