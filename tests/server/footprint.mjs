// SPDX-License-Identifier: Apache-2.0
//
// footprint.mjs: the memory of the server: what each thread carries, and what stays after a burst.
// `make bench` measures the same with tighter bounds.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { RAMET, append, assert, call, eventually, finish, must, newSession, start, test } from './lib.mjs';

const MIB = 1 << 20;
const sanitized = /\/t?san\//.test(RAMET) && 'the memory of a sanitizer is its own';
const resident = (s) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${s.pid}/status`, 'utf8'))[1]) * 1024;

test('no thread carries large memory of its own', () => {
  const line = execFileSync('readelf', ['-lW', RAMET], { encoding: 'utf8' }).split('\n').find((l) => /^ *TLS /.test(l));
  if (!line) return;
  const size = Number(line.trim().split(/ +/)[5]);
  assert.ok(size < 64 * 1024, `each thread has ${size} bytes of thread-local memory`);
});

test('memory comes back after a burst', async () => {
  if (sanitized) return { skip: sanitized };
  const s = await start();
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'first');
  const before = resident(s);
  assert.ok(before < 48 * MIB, `${before / MIB} MiB at the start`);
  // Large bodies at once, pages of them, and searches.
  const text = 'word '.repeat(40000);
  for (let round = 0; round < 4; round++) {
    await Promise.all(Array.from({ length: 32 }, () =>
      must(s, 'POST', 'sessions/a/entries', { json: { entries: [{ role: 'user', text }] } })));
    await Promise.all(Array.from({ length: 32 }, () => must(s, 'GET', 'sessions/a/entries?tail=true&limit=20')));
    await Promise.all(Array.from({ length: 8 }, () => must(s, 'GET', 'search?q=word')));
  }
  await eventually(() => assert.ok(resident(s) < 64 * MIB, `${resident(s) / MIB} MiB after the burst`), 50000);
  assert.equal((await call(s, 'GET', '/healthz')).status, 200);
}, { seconds: 120 });

await finish();
