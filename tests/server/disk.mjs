// SPDX-License-Identifier: Apache-2.0
//
// disk.mjs: the server and the tool on disks that are full, limited or read-only, the rights of the
// files that they make, and values that were damaged behind their back.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { RAMET, append, assert, call, eventually, finish, must, newSession, ramet, run, scratch, start, test } from './lib.mjs';

/** About 80 KB that cannot be packed. */
const noise = () => Array.from({ length: 20000 }, () => Math.random().toString(36).slice(2, 6)).join('');
const post = (s, text) => call(s, 'POST', 'sessions/a/entries', { json: { entries: [{ role: 'user', text }] } });
const found = async (s, word) => (await must(s, 'GET', `search?q=${word}`)).hits.length;
/** Appends until the store refuses; the answer that did. */
async function fill(s) {
  for (let i = 0; i < 200; i++) {
    const r = await post(s, noise());
    if (r.status !== 201) return r;
  }
  throw new Error('the disk does not get full');
}

/** A checkpoint beside the writes may be the first to find it out. */
const isFull = ({ status, body, text }) => status === 503 && (body.code === 'disk_full' || (body.code === 'store_stopped' && /full/.test(text)));

/** Why a file system cannot be mounted here; null when it can. */
const noMounts = (() => {
  try {
    execFileSync('unshare', ['-m', 'bash', '-c', 'd=$(mktemp -d) && mount -t tmpfs t "$d" && mount -o remount,ro "$d"; rc=$?; umount "$d"; rmdir "$d"; exit $rc'],
      { stdio: 'pipe' });
    return null;
  } catch (e) {
    return `a file system cannot be mounted here: ${e.stderr ?? e}`.trim();
  }
})();

// ------------------------------------------------------------------ limits

test('a limit of the size of files is a full disk', async () => {
  const s = await start({ db: scratch('limit.db'), through: ['bash', '-c', 'ulimit -S -f 600; exec "$@"', 'small'] });
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'kept');
  const full = await fill(s);
  assert.equal(full.status, 503, full.text);
  assert.ok(isFull(full), full.text);
  assert.ok(isFull(await fill(s)));
  assert.equal((await call(s, 'GET', '/readyz')).status, 503);
  assert.equal((await call(s, 'GET', '/healthz')).status, 200);
  assert.equal((await must(s, 'GET', 'sessions/a/entries?limit=1')).entries[0].text, 'kept');
  execFileSync('prlimit', ['--pid', String(s.pid), '--fsize=unlimited']);
  await eventually(async () => assert.equal((await post(s, 'room again')).status, 201));
  assert.equal((await call(s, 'GET', '/readyz')).status, 200);
});

test('a limit of the size of files ends no command', async () => {
  const db = scratch('limit.db');
  assert.equal((await ramet(['new', '--id', 'a', '--db', db])).code, 0);
  const file = scratch('long.txt');
  writeFileSync(file, Array.from({ length: 40 }, noise).join(''));
  const r = await run('bash', ['-c', 'ulimit -S -f 600; exec "$@" < "$0"', file, RAMET, 'append', 'a', '-', '--db', db]);
  assert.equal(r.signal, null);
  assert.notEqual(r.code, 0);
  assert.match(r.err, /full/);
});

// ------------------------------------------------------------------ rights

/** Every file and folder below, with its rights in octal. */
function rights(path) {
  const st = statSync(path), mode = (st.mode & 0o777).toString(8);
  return st.isDirectory() ? [[`${path}/`, mode], ...readdirSync(path).flatMap((n) => rights(join(path, n)))] : [[path, mode]];
}

test('files are for their owner alone, whatever the umask', async () => {
  const dir = scratch('rights');
  mkdirSync(dir, { mode: 0o700 });
  const db = join(dir, 'store.db');
  const s = await start({ db, through: ['bash', '-c', 'umask 000; exec "$@"', 'open'], args: ['--admins', '*'] });
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'a river');
  const up = await call(s, 'POST', 'attachments?name=n.txt', { body: 'content', headers: { 'Content-Type': 'text/plain' } });
  assert.equal(up.status, 201, up.text);
  assert.equal(await found(s, 'river'), 1);
  for (const [i, words] of [['--server', s.url], ['--db', db]].entries()) {
    const out = await run('bash', ['-c', 'umask 000; exec "$@"', 'open', RAMET, 'backup', join(dir, `copy-${i}.db`), ...words]);
    assert.equal(out.code, 0, out.err);
  }
  const all = rights(dir);
  for (const name of ['store.db', 'store.db-wal', 'store.db-shm', 'store.db-search', 'store.db-search-wal', 'store.db.files/', 'copy-0.db', 'copy-1.db', 'copy-1.db.files/'])
    assert.ok(all.some(([path]) => path === join(dir, name)), `${name} is not among ${all.map(([path]) => basename(path))}`);
  for (const [path, mode] of all)
    assert.equal(mode, path.endsWith('/') ? '700' : '600', path);
});

// ------------------------------------------------------------------ read-only

/** Runs a script of bash with a folder that is a file system of its own; $ramet is the tool. */
const mounted = (script, args = []) =>
  run('unshare', ['-m', 'bash', '-c', `d=$1; shift; mount -t tmpfs -o size=8m t "$d" || exit 99; ramet() { '${RAMET}' "$@" --db "$d/s.db"; }\n${script}`,
    'mounted', (() => { const d = scratch('mount'); mkdirSync(d); return d; })(), ...args]);
const READS = `
  mount -o remount,ro "$d" || exit 98
  ramet log a || exit 1
  ramet list || exit 2
  ramet search river || exit 3
  ramet fsck || exit 4
  ramet show a || exit 5
  ramet append a 'no more' && exit 6
  exit 0`;

test('a store on a read-only file system is read', async () => {
  if (noMounts) return { skip: noMounts };
  const r = await mounted(`ramet new --id a && ramet append a 'a river' && ramet search river || exit 97
    [ ! -e "$d/s.db-wal" ] || exit 96 ${READS}`);
  assert.deepEqual({ code: r.code, signal: r.signal }, { code: 0, signal: null }, r.out + r.err);
  assert.match(r.out, /a river/);
  assert.match(r.err, /writes are stopped: \S*s\.db cannot be written: it or its file system is read-only/);
});

test('a log that was left on a read-only file system is read, too', async () => {
  if (noMounts) return { skip: noMounts };
  const s = await start();
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'a river');
  assert.equal(await found(s, 'river'), 1);
  const dir = dirname(s.db), name = basename(s.db), left = scratch('left');
  mkdirSync(left);
  for (const file of readdirSync(dir).filter((n) => n.startsWith(name) && statSync(join(dir, n)).isFile()))
    copyFileSync(join(dir, file), join(left, file.replace(name, 's.db')));
  assert.ok(statSync(join(left, 's.db-wal')).size > 0);
  for (const shm of ['', 'rm -f "$d"/*-shm\n']) {
    const r = await mounted(`cp "$1"/* "$d" && ${shm || ':\n'} ${READS}`, [left]);
    assert.deepEqual({ code: r.code, signal: r.signal }, { code: 0, signal: null }, `${shm}${r.out}${r.err}`);
    assert.match(r.out, /a river/);
  }
});

// ------------------------------------------------------------------ full

test('a full disk leaves search readable', async () => {
  if (noMounts) return { skip: noMounts };
  const dir = scratch('full');
  mkdirSync(dir);
  const s = await start({ db: join(dir, 's.db'), through: ['unshare', '-m', 'bash', '-c', `mount -t tmpfs -o size=8m t '${dir}' && exec "$@"`, 'full'] });
  await newSession(s, { id: 'a' });
  await append(s, 'a', 'a river');
  assert.equal(await found(s, 'river'), 1);
  // What comes now is not indexed when the room ends.
  assert.ok(isFull(await fill(s)));
  assert.equal(await found(s, 'river'), 1);
  // A process that opens the index only now.
  const late = await run('nsenter', ['-t', String(s.pid), '-m', RAMET, 'search', 'river', '--db', join(dir, 's.db')]);
  assert.equal(late.code, 0, late.err);
  assert.match(late.out, /river/);
});

/** The lines of an export with about as many bytes; a session `long`. */
async function exported(bytes) {
  const s = await start(), text = noise().slice(0, 1000);
  await newSession(s, { id: 'long' });
  for (let n = 0; n < bytes; n += 100 * 1200) await append(s, 'long', Array.from({ length: 100 }, (_, i) => `${n} ${i} ${text}`));
  const r = await call(s, 'GET', '/ramet/v1/export');
  assert.equal(r.status, 200);
  await s.stop();
  return r.text;
}

const importing = (s, text, more = '') => call(s, 'POST', `/ramet/v1/import${more}`, { body: text, headers: { 'Content-Type': 'application/x-ndjson' } });

test('an import onto a full disk is refused whole, and goes on when there is room', async () => {
  // The upload fits, what is written from it does not; then not even the upload.
  for (const [bytes, room] of [[400000, 8], [1200000, -400]]) {
    const text = await exported(bytes), limit = Math.ceil(text.length / 1024) + room;
    const s = await start({ db: scratch(`import-${limit}.db`), through: ['bash', '-c', `ulimit -S -f ${limit}; exec "$@"`, 'small'] });
    await newSession(s, { id: 'a' });
    await append(s, 'a', 'kept');
    const full = await importing(s, text, '?upload=again');
    assert.ok(isFull(full), `${limit}: ${full.text}`);
    assert.deepEqual((await must(s, 'GET', 'sessions')).sessions.map((x) => x.id), ['a']);
    assert.equal((await call(s, 'GET', 'sessions/long')).status, 404);
    execFileSync('prlimit', ['--pid', String(s.pid), '--fsize=unlimited']);
    await eventually(async () => assert.equal((await post(s, 'room again')).status, 201));
    const { offset } = await must(s, 'GET', 'import/again');
    const rest = await call(s, 'POST', `/ramet/v1/import?upload=again&offset=${offset}`,
      { body: Buffer.from(text).subarray(offset), headers: { 'Content-Type': 'application/x-ndjson' } });
    assert.equal(rest.status, 200, rest.text);
    assert.equal(rest.body.sessions_added, 1);
    const checked = await ramet(['--db', s.db, 'fsck']);
    assert.equal(checked.code, 0, checked.out + checked.err);
    assert.match((await call(s, 'GET', '/ramet/v1/sessions/long/export')).text, /"type":"end"/);
  }
});

test('an import with attachments onto a disk that gets full leaves nothing to be seen, and is done again', async () => {
  if (noMounts) return { skip: noMounts };
  const from = await start(), content = noise().repeat(40);
  await newSession(from, { id: 'long' });
  await append(from, 'long', Array.from({ length: 100 }, (_, i) => `${i} ${'x'.repeat(1000)}`));
  const up = await call(from, 'POST', 'attachments?name=n.txt', { body: content, headers: { 'Content-Type': 'text/plain' } });
  assert.equal(up.status, 201, up.text);
  await must(from, 'POST', 'sessions/long/entries', { json: { entries: [{ role: 'user', parts: [{ type: 'file', attachment_id: up.body.id }] }] } });
  const { text } = await call(from, 'GET', '/ramet/v1/export');
  assert.ok(text.length > content.length);
  await from.stop();
  const dir = scratch('full-import');
  mkdirSync(dir);
  const s = await start({ db: join(dir, 's.db'), through: ['unshare', '-m', 'bash', '-c', `mount -t tmpfs -o size=${Math.ceil(text.length / 1024) + 2048}k t '${dir}' && exec "$@"`, 'full'] });
  const inside = (...words) => run('nsenter', ['-t', String(s.pid), '-m', ...words]);
  const full = await importing(s, text, '?upload=again');
  assert.ok(isFull(full), full.text);
  assert.deepEqual((await must(s, 'GET', 'sessions')).sessions, []);
  assert.equal((await call(s, 'GET', `attachments/${up.body.id}`)).status, 404);
  const grown = await inside('mount', '-o', 'remount,size=64m', dir);
  assert.equal(grown.code, 0, grown.err);
  await eventually(async () => assert.equal((await call(s, 'POST', 'sessions', { json: {} })).status, 201));
  const { offset } = await must(s, 'GET', 'import/again');
  assert.equal(offset, Buffer.byteLength(text), 'the upload is kept');
  const rest = await importing(s, '', `?upload=again&offset=${offset}`);
  assert.equal(rest.status, 200, rest.text);
  assert.equal(rest.body.sessions_added, 1);
  assert.equal((await call(s, 'GET', `attachments/${up.body.id}`)).text, content);
  const checked = await inside(RAMET, 'fsck', '--db', join(dir, 's.db'));
  assert.equal(checked.code, 0, checked.out + checked.err);
});

/** Opens a new store with ever more room (or files) until there is enough; each refusal must say why. */
const growing = (room) => `
  for k in $(seq 0 12) $(seq 20 20 2000); do
    rm -f "$d"/s.db*
    ${room}
    out=$(ramet new --id a 2>&1) && exit $((k == 0))
    case "$out" in *full*) ;; *) echo "with $k: $out"; exit 1 ;; esac
  done
  exit 2`;

test('a store that is made on a full disk says so, however little room there is', async () => {
  if (noMounts) return { skip: noMounts };
  const fill = 'dd if=/dev/zero of="$d/fill" bs=4096 2>/dev/null; pages=$(($(stat -c %s "$d/fill") / 4096))\n';
  const space = await mounted(fill + growing('truncate -s $(((pages - k) * 4096)) "$d/fill"'));
  assert.deepEqual({ code: space.code, signal: space.signal }, { code: 0, signal: null }, space.out + space.err);
  const files = await mounted(`used=$(df --output=iused "$d" | tail -n 1)\n${
    growing('mount -o remount,nr_inodes=$((used + k)) "$d" || exit 98')}`);
  assert.deepEqual({ code: files.code, signal: files.signal }, { code: 0, signal: null }, files.out + files.err);
});

test('a store that is made under a limit of the size of files says so', async () => {
  const d = scratch('limited');
  mkdirSync(d);
  const r = await run('bash', ['-c', `d=$1; ramet() { (ulimit -S -f "$k"; exec '${RAMET}' "$@" --db "$d/s.db"); }
    ${growing(':')}`, 'limited', d]);
  assert.deepEqual({ code: r.code, signal: r.signal }, { code: 0, signal: null }, r.out + r.err);
});

// ------------------------------------------------------------------ damage

test('a damaged value is reported, not followed', async () => {
  const db = scratch('damaged.db');
  let s = await start({ db });
  const sent = await call(s, 'POST', '/a2a/echo', { json: { jsonrpc: '2.0', id: 1, method: 'message/send',
    params: { message: { kind: 'message', messageId: 'm', role: 'user', contextId: 'a', parts: [{ kind: 'text', text: 'hello' }] } } } });
  assert.ok(sent.body.result, sent.text);
  const session = sent.body.result.contextId;
  await s.stop();
  for (const status of ['99', '-1', '4294967298', "'x'"]) {
    assert.equal(execFileSync('sqlite3', [db, `UPDATE turn SET status=${status}; SELECT changes()`], { encoding: 'utf8' }), '1\n');
    s = await start({ db });
    const tasks = await call(s, 'GET', `/api/sessions/${session}/tasks?user_id=local`);
    assert.equal(tasks.status, 500, tasks.text);
    const turns = await call(s, 'GET', `sessions/${session}/turns`);
    assert.equal(turns.status, 500, turns.text);
    assert.equal(turns.body.code, 'store_damaged');
    assert.match(turns.text, /turn\.status is -?\d+/);
    assert.equal((await call(s, 'GET', '/healthz')).status, 200);
    await s.stop();
    const checked = await ramet(['fsck', '--db', db]);
    assert.notEqual(checked.code, 0);
    assert.match(checked.out + checked.err, /turn \S+ has no known status/);
  }
});

await finish();
