// SPDX-License-Identifier: Apache-2.0
//
// retention.mjs: holds, and the rules by which sessions go.
import { test, finish, start, call, must, enc, newSession, append, eventually, ramet, scratch, assert } from './lib.mjs';

const at = (session, rest = '') => `sessions/${enc(session)}${rest}`;
const admins = ['--admins', 'root'];
const root = { user: 'root' }, ann = { user: 'ann' }, bob = { user: 'bob' };
const status = async (s, id, who = ann) => (await call(s, 'GET', at(id), who)).status;
const rules = (s, json, who = root) => call(s, 'PUT', 'retention', { ...who, json });
const run = (s, dry_run, who = root) => call(s, 'POST', 'retention/run', { ...who, json: { dry_run } });
const scratchRule = { name: 'scratch', older_than_seconds: 0, tag: 'scratch' };
const refused = (r, code, field) => {
  assert.deepEqual([r.body.code, r.body.field ?? null], [code, field ?? null], r.text);
};

async function withSessions(args = []) {
  const s = await start({ args: [...admins, ...args] });
  await newSession(s, { id: 'trip' }, ann);
  await append(s, 'trip', ['a', 'b', 'c'], ann);
  await must(s, 'POST', at('trip', '/fork'), { ...ann, json: { id: 'bus' } });
  await newSession(s, { id: 'old', tags: ['scratch'] }, ann);
  await append(s, 'old', ['x'], ann);
  return s;
}

async function tried(s, list = [scratchRule]) {
  assert.equal((await rules(s, { rules: list })).status, 200);
  const r = await run(s, true);
  assert.equal(r.status, 200, r.text);
  return r.body;
}

test('what is on hold is not deleted, through any face', async () => {
  const s = await withSessions();
  const held = await must(s, 'PUT', at('bus', '/hold'), { ...ann, json: { reason: 'case 7' } });
  assert.deepEqual([held.session_id, held.administrator, held.by, held.reason], ['bus', false, 'ann', 'case 7']);
  let r = await call(s, 'DELETE', at('bus'), ann);
  assert.equal(r.status, 409);
  refused(r, 'held', 'session');
  assert.equal((await call(s, 'DELETE', at('trip', '?tree=true'), ann)).status, 409);
  assert.equal((await call(s, 'DELETE', at('trip', '?tree=true&dry_run=true'), ann)).status, 409);
  r = await call(s, 'DELETE', '/api/sessions/bus?user_id=ann', { headers: { 'X-User-ID': 'ann' } });
  assert.equal(r.status, 409, r.text);
  r = await call(s, 'DELETE', '/api/v2/sandboxes/default/sessions/trip/tree', { headers: { 'X-User-Id': 'ann' } });
  assert.equal(r.status, 409, r.text);
  assert.equal(await status(s, 'bus'), 200);
  assert.equal((await call(s, 'DELETE', at('bus', '/hold'), ann)).status, 204);
  assert.equal((await call(s, 'DELETE', at('bus'), ann)).status, 200);
});

test('a tree on hold, by the id of a session or its own', async () => {
  const s = await withSessions();
  const { tree_id } = await must(s, 'GET', at('trip'), ann);
  const held = await must(s, 'PUT', at(tree_id, '/hold'), { ...ann, json: { tree: true } });
  assert.deepEqual([held.tree_id, held.session_id], [tree_id, null]);
  assert.equal((await call(s, 'DELETE', at('bus'), ann)).status, 409);
  const { holds } = await must(s, 'GET', at('bus', '/hold'), ann);
  assert.deepEqual(holds.map((h) => h.session_id), [null]);
  assert.equal((await call(s, 'DELETE', at('trip', '/hold?tree=true'), ann)).status, 204);
  refused(await call(s, 'DELETE', at('trip', '/hold?tree=true'), ann), 'hold_not_found', 'session');
});

test('who may set and release a hold', async () => {
  const s = await withSessions();
  const put = (who, json) => call(s, 'PUT', at('trip', '/hold'), { ...who, json });
  assert.equal((await put(bob, {})).status, 404, 'not a member');
  await must(s, 'PUT', at('trip', '/members/bob'), { ...ann, json: { level: 'manager' } });
  assert.equal((await put(bob, {})).status, 403);
  assert.equal((await put(root, {})).status, 404, 'an administrator says that he acts as one');
  let r = await put(ann, { administrator: true });
  assert.equal(r.status, 403);
  refused(r, 'forbidden', 'administrator');
  r = await put(root, { administrator: true, reason: 'court' });
  assert.deepEqual([r.status, r.body.administrator, r.body.by], [200, true, 'root']);
  assert.equal((await call(s, 'DELETE', at('trip', '/hold'), ann)).status, 403);
  const seen = async (who) => (await must(s, 'GET', at('trip', '/hold'), who)).holds.map((h) => [h.by, h.reason]);
  assert.deepEqual(await seen(ann), [['root', 'court']]);
  assert.deepEqual(await seen(bob), [[null, '']]);
  assert.equal((await call(s, 'GET', 'holds', ann)).status, 403);
  assert.deepEqual((await must(s, 'GET', 'holds', root)).holds.map((h) => h.session_id), ['trip']);
  assert.equal((await call(s, 'DELETE', at('trip', '/hold?administrator=true'), root)).status, 204);
  for (const [json, status, field] of [[{ reason: 'x'.repeat(2001) }, 413, 'reason'], [{ tree: 1 }, 400, 'tree'], [{ why: 'x' }, 400, 'why']]) {
    r = await put(ann, json);
    assert.deepEqual([r.status, r.body.field], [status, field], r.text);
  }
  assert.deepEqual((await must(s, 'GET', 'holds', root)).holds, [], 'a refused hold sets nothing');
});

test('rules are off, and need a dry run', async () => {
  const s = await withSessions();
  assert.deepEqual(await must(s, 'GET', 'retention', root), { enabled: false, tried_at: null, rules: [] });
  refused(await rules(s, { enabled: true, rules: [scratchRule] }), 'dry_run_first', 'enabled');
  assert.equal((await rules(s, { rules: [scratchRule] })).status, 200);
  let r = await run(s, false);
  assert.equal(r.status, 409);
  refused(r, 'dry_run_first', 'dry_run');
  r = await run(s, true);
  assert.deepEqual([r.body.dry_run, r.body.sessions, r.body.entries, r.body.looked_at], [true, 1, 1, 3]);
  assert.deepEqual(r.body.removals.map((x) => [x.session_id, x.rule, x.entries, x.removed_at]), [['old', 'scratch', 1, null]]);
  assert.equal(await status(s, 'old'), 200);
  r = await rules(s, { enabled: true, rules: [scratchRule] });
  assert.deepEqual([r.status, r.body.enabled], [200, true]);
  assert.deepEqual(Object.entries(r.body.rules[0]).slice(0, 8).map((x) => x[1]),
                   ['scratch', 0, 'updated', 'scratch', null, 'include', 'include', false]);
  r = await rules(s, { rules: [{ ...scratchRule, private: true }] });
  assert.deepEqual([r.body.enabled, r.body.tried_at], [false, null]);
});

test('a rule removes as a deletion does, and its log outlives gc', async () => {
  const db = scratch('store.db');
  const s = await start({ db, args: admins });
  await newSession(s, { id: 'old', tags: ['scratch'] }, ann);
  await append(s, 'old', ['x', 'y'], ann);
  await must(s, 'POST', at('old', '/fork'), { ...ann, json: { id: 'new' } });
  const { tree_id } = await must(s, 'GET', at('old'), ann);
  await tried(s);
  await must(s, 'DELETE', at('new', '/tags/scratch'), ann);
  const r = await run(s, false);
  assert.deepEqual(r.body.removals.map((x) => [x.session_id, x.by]), [['old', 'root']]);
  assert.equal(await status(s, 'old'), 404);
  assert.equal((await must(s, 'GET', at('new', '/entries'), ann)).entries.length, 2, 'its fork stays');
  await must(s, 'POST', at('old', '/restore'), { ...ann, json: {} });
  assert.equal((await run(s, false)).body.sessions, 1);
  const grace = ['gc', '--db', db, '--grace', '1s'];
  await eventually(async () => {
    const out = await ramet(grace);
    assert.match(out.out, /removed 1 session/);
  }, 15000);
  const log = await must(s, 'GET', 'retention/log?limit=1', root);
  assert.deepEqual(log.removals.map((x) => [x.session_id, x.tree_id, x.rule, x.entries]), [['old', tree_id, 'scratch', 2]]);
  const rest = await must(s, 'GET', `retention/log?cursor=${enc(log.next_cursor)}`, root);
  assert.deepEqual([rest.removals.length, rest.next_cursor], [1, null]);
  assert.equal((await must(s, 'GET', at('new', '/entries'), ann)).entries.length, 2);
  refused(await call(s, 'GET', 'retention/log?cursor=zzz', root), 'invalid_cursor', 'cursor');
});

test('explain says why a session stays, and who needs its entries', async () => {
  const s = await withSessions();
  await tried(s);
  let e = await must(s, 'GET', at('trip', '/retention/explain'), ann);
  assert.deepEqual([e.goes, e.kept, e.entries, e.freed], [false, 'no rule matches it', 3, 0]);
  assert.deepEqual(e.needed_by.map((n) => [n.session_id, n.first, n.last]), [['bus', 1, 3]]);
  assert.deepEqual(e.rules, [{ rule: 'scratch', matches: false, why: 'it does not have the tag scratch' }]);
  e = await must(s, 'GET', at('old', '/retention/explain'), ann);
  assert.deepEqual([e.goes, e.rule, e.kept], [true, 'scratch', null]);
  await must(s, 'POST', at('old', '/tags'), { ...ann, json: { tags: ['pinned'] } });
  e = await must(s, 'GET', at('old', '/retention/explain?administrator=true'), root);
  assert.deepEqual([e.goes, e.kept], [false, 'it is pinned']);
  assert.equal((await run(s, false)).body.sessions, 0);
  assert.equal((await call(s, 'GET', at('old', '/retention/explain'), bob)).status, 404);
  assert.equal((await call(s, 'GET', at('old', '/retention/explain?administrator=true'), bob)).status, 403);
});

test('bad rules are refused by name and change nothing', async () => {
  const s = await withSessions();
  await tried(s);
  for (const [rule, code, field] of [
    [{ name: 'a' }, 400, 'rules[0].older_than_seconds'],
    [{ name: 'a', older_than_seconds: 0 }, 400, 'older_than_seconds'],
    [{ name: 'a', older_than_seconds: -1 }, 400, 'rules[0].older_than_seconds'],
    [{ name: 'a', older_than_seconds: 1e12 }, 400, 'rules[0].older_than_seconds'],
    [{ name: '', older_than_seconds: 5 }, 400, 'name'],
    [{ name: 'x'.repeat(65), older_than_seconds: 5 }, 413, 'name'],
    [{ name: 'a', older_than_seconds: 5, archived: 'maybe' }, 400, 'rules[0].archived'],
    [{ name: 'a', older_than_seconds: 5, tag: 'pinned' }, 400, 'tag'],
    [{ name: 'a', older_than_seconds: 5, tag: 'x'.repeat(51) }, 400, 'tags'],
    [{ name: 'a', older_than_seconds: 5, colour: 'red' }, 400, 'rules[0].colour'],
  ]) {
    const r = await rules(s, { rules: [rule] });
    assert.deepEqual([r.status, r.body.field], [code, field], `${JSON.stringify(rule)} ${r.text}`);
  }
  assert.equal((await rules(s, { rules: Array.from({ length: 101 }, (_, i) => ({ name: `r${i}`, older_than_seconds: 5 })) })).status, 413);
  const { tried_at, rules: kept } = await must(s, 'GET', 'retention', root);
  assert.ok(tried_at);
  assert.deepEqual(kept.map((r) => r.name), ['scratch']);
  for (const [method, path, json] of [['GET', 'retention'], ['PUT', 'retention', { rules: [] }], ['POST', 'retention/run', {}], ['GET', 'retention/log']])
    assert.equal((await call(s, method, path, { ...ann, json })).status, 403, `${method} ${path}`);
});

test('the same run with the same key is made once', async () => {
  const s = await withSessions();
  await tried(s);
  const options = { ...root, headers: { 'Idempotency-Key': 'run-1' }, json: {} };
  const a = await call(s, 'POST', 'retention/run', options), b = await call(s, 'POST', 'retention/run', options);
  assert.equal(a.body.sessions, 1);
  assert.deepEqual(b.body, a.body);
  assert.equal(b.headers.get('idempotency-replayed'), 'true');
});

test('the server applies rules that are on by itself', async () => {
  const s = await withSessions(['--retention-seconds', '1']);
  await tried(s);
  assert.equal((await rules(s, { rules: [scratchRule], enabled: true })).status, 200);
  await eventually(async () => assert.equal(await status(s, 'old'), 404), 10000);
  const { removals } = await must(s, 'GET', 'retention/log', root);
  assert.deepEqual(removals.map((r) => [r.session_id, r.by]), [['old', null]]);
  assert.equal(await status(s, 'trip'), 200);
});

test('of several servers one removes a session', async () => {
  const db = scratch('store.db');
  const nodes = [];
  for (let i = 0; i < 2; i++) nodes.push(await start({ db, args: [...admins, '--retention-seconds', '1'] }));
  const ids = Array.from({ length: 40 }, (_, i) => `s${i}`);
  for (const id of ids) await newSession(nodes[0], { id, tags: ['scratch'] }, ann);
  await tried(nodes[0]);
  assert.equal((await rules(nodes[1], { rules: [scratchRule], enabled: true })).status, 200);
  await Promise.all(nodes.map((s) => run(s, false)));
  await eventually(async () => assert.deepEqual(await Promise.all(ids.map((id) => status(nodes[1], id))), ids.map(() => 404)), 20000);
  const { removals } = await must(nodes[0], 'GET', 'retention/log?limit=1000', root);
  assert.deepEqual(removals.map((r) => r.session_id).sort(), [...ids].sort());
});

await finish();
