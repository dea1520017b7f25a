// SPDX-License-Identifier: Apache-2.0
//
// face.mjs: a protocol is a folder and a line. The server here was built with tests/face/toy and
// FACE(toy) (docs/add-a-face.md); everything else in it is what ramet has.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const top = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
process.env.RAMET = join(process.env.B ?? join(top, 'build'), 'tests', 'toy-ramet');
const { test, finish, start, call, must, ramet, assert } = await import('./lib.mjs');

const as = (name, more = {}) => ({ headers: { 'X-Toy-Name': name }, ...more });

test('a new protocol is served beside the others', async () => {
  const s = await start();
  assert.deepEqual(await must(s, 'GET', '/toy/health'), { ok: true });
  const made = await call(s, 'POST', '/toy/notebooks', as('ann', { json: { name: 'shopping' } }));
  assert.deepEqual([made.status, made.body], [201, { ok: true, notebook: 'shopping', owner: 'ann' }]);
  for (const text of ['milk', 'bread', 'tea'])
    assert.equal((await call(s, 'POST', '/toy/notebooks/shopping/notes', as('ann', { json: { text } }))).status, 201);
  assert.deepEqual(await must(s, 'GET', '/toy/notebooks/shopping/notes?last=2', as('ann')), { ok: true, notes: ['bread', 'tea'] });
  // The same store, by another protocol.
  const entries = await must(s, 'GET', 'sessions/shopping/entries', { user: 'ann' });
  assert.deepEqual(entries.entries.map((e) => e.text), ['milk', 'bread', 'tea']);
  assert.match((await call(s, 'GET', '/metrics')).text, /face="toy"/);
});

test('its errors have its shape, wherever they are found', async () => {
  const s = await start();
  const refused = async (status, body, method, path, options) => {
    const r = await call(s, method, path, options);
    assert.deepEqual([r.status, r.body], [status, { ok: false, ...body }], `${method} ${path}`);
  };
  await refused(400, { problem: '"name" is missing', where: 'name' }, 'POST', '/toy/notebooks', as('ann', { json: {} }));
  await refused(404, { problem: 'there is nothing at this path; /docs lists all' }, 'GET', '/toy/nowhere', as('ann'));
  const other = await call(s, 'GET', '/toy/notebooks/none/notes', as('ann'));
  assert.deepEqual([other.status, other.body.ok, typeof other.body.problem], [404, false, 'string']);
});

test('callers are named by its rule, and held to the roles of a route', async () => {
  const s = await start({ args: ['--admins', 'root', '--auditors', 'eve'] });
  await must(s, 'POST', '/toy/notebooks', as('ann', { json: { name: 'diary' } }));
  const said = async (path, options) => {
    const { status, body } = await call(s, 'GET', path, options);
    return [status, body.problem];
  };
  // The default user and X-User-Id are not in its rule.
  assert.deepEqual(await said('/toy/notebooks/diary/notes', { user: 'ann' }), [401, 'say who you are: X-Toy-Name']);
  assert.equal((await said('/toy/notebooks/diary/notes', as('bob')))[0], 404);
  assert.deepEqual(await said('/toy/census', as('ann')), [403, 'the census is not for you']);
  for (const name of ['root', 'eve'])
    assert.deepEqual(await must(s, 'GET', '/toy/census', as(name)), { ok: true, notebooks: 1 });
});

test('an answer is streamed in its own words, and recorded', async () => {
  const s = await start();
  await must(s, 'POST', '/toy/notebooks', as('ann', { json: { name: 'chat' } }));
  const answer = await call(s, 'POST', '/toy/notebooks/chat/ask', as('ann', { json: { text: 'is there milk?' } }));
  assert.equal(answer.status, 200);
  assert.match(answer.headers['content-type'] ?? answer.headers.get('content-type'), /^text\/plain/);
  const lines = answer.text.trim().split('\n');
  assert.equal(lines.at(-1), '. "done"');
  const said = lines.slice(0, -1).map((line) => JSON.parse(line.replace(/^\+ /, ''))).join('');
  assert.match(said, /is there milk\?/);
  const { notes } = await must(s, 'GET', '/toy/notebooks/chat/notes', as('ann'));
  assert.deepEqual(notes, ['is there milk?', said]);
  const none = await call(s, 'POST', '/toy/notebooks/none/ask', as('ann', { json: { text: 'hello?' } }));
  assert.deepEqual([none.status, none.body.ok], [404, false]);
});

test('with tokens its rule starts from the token', async () => {
  const s = await start({ args: ['--auth', 'tokens'] });
  const { secret } = JSON.parse((await ramet(['--db', s.db, 'token', 'create', '--user', 'ann', '--json'])).out);
  const notes = (headers) => call(s, 'GET', '/toy/notebooks/none/notes', { token: secret, headers });
  assert.equal((await notes({})).status, 404);
  assert.equal((await notes({ 'X-Toy-Name': 'ann' })).status, 404);
  const bob = await notes({ 'X-Toy-Name': 'bob' });
  assert.deepEqual([bob.status, bob.body], [403, { ok: false, problem: "the token is not bob's", where: 'X-Toy-Name' }]);
  assert.equal((await call(s, 'GET', '/toy/notebooks/none/notes', as('ann'))).status, 401);
});

test('the documents know it', async () => {
  const names = (await ramet(['help', '--api', 'list'])).out.trim().split('\n');
  assert.equal(names.at(-1), 'toy');
  const page = (await ramet(['help', '--api', 'toy'])).out;
  for (const name of ['toyHealth', 'toyCreateNotebook', 'toyAddNote', 'toyListNotes', 'toyAsk', 'toyCensus'])
    assert.match(page, new RegExp(`### ${name}\\n`));
  const s = await start();
  const openapi = await must(s, 'GET', '/openapi.json');
  assert.equal(openapi.paths['/toy/notebooks'].post.operationId, 'toyCreateNotebook');
});

test('a toy stays a toy: at most 300 lines', () => {
  const folder = join(top, 'tests', 'face', 'toy');
  const lines = readdirSync(folder).map((f) => readFileSync(join(folder, f), 'utf8').split('\n').length - 1);
  assert.ok(lines.reduce((a, b) => a + b) <= 300);
});

test('a route without roles does not compile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ramet-roles.'));
  const compile = (roles) => {
    const path = join(folder, 'a.c');
    writeFileSync(path, `#include "face/kit/face.h"
extern const face_route routes[];
const face_route routes[] = {ROUTE("GET", "/x", ${roles} .name = "x", .flags = ROUTE_QUICK), ROUTES_END};\n`);
    const [cc, ...words] = (process.env.CC ?? 'gcc').split(' ');
    return spawnSync(cc, [...words, '-std=c11', '-D_GNU_SOURCE', '-fsyntax-only', '-Iinclude', '-Isrc', path],
                     { cwd: top, encoding: 'utf8' });
  };
  try {
    const fine = compile('ROLE_USER | ROLE_ADMIN,');
    assert.equal(fine.status, 0, fine.stderr);
    for (const wrong of ['', '0,', 'ROUTE_QUICK,', 'ROLE_USER | ROUTE_WRITE,'])
      assert.notEqual(compile(wrong).status, 0, `roles '${wrong}'`);
    assert.match(compile('0,').stderr, /a route names the roles that may call it/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

await finish();
