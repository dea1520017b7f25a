// SPDX-License-Identifier: Apache-2.0
//
// peers.mjs: the benchmark of Ramet beside its peers (bench/peers): its rows of Ramet and of plain SQL can
// be measured, a peer that is not there is named, and the documents show the run that is kept with them.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test, finish, assert, run, scratch, RAMET } from './lib.mjs';
import { FULL, PEERS, QUICK } from '../../bench/peers/peers.mjs';
import { IMAGE, RESULT, bars, marked, shown, tables } from '../../bench/peers/report.mjs';
import { plot } from '../../bench/peers/plot.mjs';

const main = join(dirname(fileURLToPath(import.meta.url)), '../../bench/peers/main.mjs');
const result = JSON.parse(readFileSync(RESULT, 'utf8'));

/** A quick run of some peers: {out: what it printed, result, svg}. */
async function measure(peers, env = {}) {
  const to = scratch('peers');
  const { code, out, err } = await run(process.execPath, [main, to], { env: { QUICK: '1', PEERS: peers, RAMET, ...env } });
  assert.equal(code, 0, err);
  return { out, result: JSON.parse(readFileSync(`${to}.json`, 'utf8')), svg: readFileSync(`${to}.svg`, 'utf8') };
}

test('the rows of Ramet and of plain SQL', async () => {
  const keys = ['ramet-sqlite', 'sql-sqlite'];
  const { out, result: r, svg } = await measure(keys.join());
  assert.deepEqual(Object.keys(r.versions), keys);
  assert.deepEqual(r.missing, {});
  for (const key of keys) {
    for (const n of QUICK.sizes) {
      assert.equal(r.fork[n][key].messages, n / 2, `messages of a fork of ${key}`);
      assert.equal(r.fork[n][key].samples, QUICK.rounds);
      assert.ok(r.read[n][key].readAll > 0 && r.read[n][key].readLast > 0);
    }
    assert.equal(r.forks[key].made, QUICK.forks);
    assert.equal(r.write[key].kept, QUICK.writers * QUICK.each);
    for (const t of QUICK.turns) assert.ok(r.turns[t][key].bytes > 0);
    assert.ok(svg.includes(`<title>${key}</title>`));
  }
  assert.ok(r.forks['sql-sqlite'].bytes > r.forks['ramet-sqlite'].bytes);
  const { answered, lost, partial } = r.kill['ramet-sqlite'];
  assert.ok(answered >= 50);
  assert.deepEqual({ lost, partial }, { lost: 0, partial: 0 });
  assert.deepEqual(bars(r), [], 'a quick run has no bars');
  for (const { title } of tables(r)) assert.ok(out.includes(title));
});

test('a peer that is not there is named, the others are measured', async () => {
  const { out, result: r } = await measure('ramet-sqlite,sql-sqlite', { RAMET: scratch('no-ramet') });
  assert.deepEqual(Object.keys(r.versions), ['sql-sqlite']);
  assert.match(out, /^Ramet, SQLite: not measured, .*ENOENT/m);
});

test('the documents show the run that is kept with them', () => {
  assert.equal(shown(), marked(result));
  assert.equal(readFileSync(IMAGE, 'utf8'), plot(result));
  assert.equal(result.quick, false);
  assert.deepEqual(result.scale, FULL);
});

test('that run has every peer, measured or named, and every row', () => {
  assert.deepEqual([...new Set([...Object.keys(result.versions), ...Object.keys(result.missing)])].sort(), PEERS.map((p) => p.key).sort());
  for (const { key } of PEERS.filter((p) => !p.turnsOnly && !(p.key in result.missing))) {
    for (const n of FULL.sizes) assert.ok(result.fork[n][key].ms > 0, `${key}, ${n} messages`);
    assert.ok(result.forks[key].made > 1);
  }
  for (const table of tables(result)) for (const row of table.rows) assert.equal(row.length, table.head.length, table.title);
  assert.equal(bars(result).length, 6);
});

await finish();
