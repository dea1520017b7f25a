// SPDX-License-Identifier: Apache-2.0
//
// The files of deploy/: units that systemd takes, compose files that are YAML and say what they should,
// and settings that the server has.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RAMET, assert, call, finish, ramet, run, scratch, start, test } from './lib.mjs';
import { load } from './help/packages.mjs';

const deploy = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'deploy');
const text = (name) => readFileSync(join(deploy, name), 'utf8');
const { parse } = await load('yaml');
const settings = new Set(execFileSync(RAMET, ['help', '--settings'], { encoding: 'utf8' })
  .split('\n').map((line) => /^\| `([a-z-]+)` \|/.exec(line)?.[1]).filter(Boolean));

/** The words of a command line that starts a node: every flag is a setting, or names the file of them. */
function nodeWords(words) {
  assert.equal(words[0], 'serve');
  for (const word of words.filter((w) => w.startsWith('--')))
    assert.ok(word === '--config' || settings.has(word.slice(2)), `${word} is no setting`);
  return words;
}

/** A unit as it would be installed, but with the program of this build. */
function unitVerify(name, as) {
  const dir = scratch('units');
  mkdirSync(dir);
  writeFileSync(join(dir, as), text(name).replaceAll('/usr/local/bin/ramet', RAMET));
  return run('systemd-analyze', ['verify', '--man=no', join(dir, as)]);
}

test('units', async () => {
  for (const [name, as] of [['ramet.service', 'ramet.service'], ['ramet@.service', 'ramet@7077.service']]) {
    const line = /^ExecStart=(.*)$/m.exec(text(name))[1].split(' ');
    assert.equal(line[0], '/usr/local/bin/ramet');
    nodeWords(line.slice(1));
    assert.match(text(name), /^TimeoutStopSec=60$/m);
    assert.match(text(name), /^UMask=0077$/m);
    assert.match(text(name), /^StateDirectoryMode=0700$/m);
    if (!existsSync('/usr/bin/systemd-analyze')) continue;
    const out = await unitVerify(name, as);
    assert.equal(out.code, 0, out.err);
    assert.equal(out.err.split('\n').filter((l) => l.includes('ramet')).join('\n'), '');
  }
});

test('settings of the configuration files are known', () => {
  for (const name of ['ramet.conf', 'cluster.conf'])
    for (const line of text(name).split('\n').filter((l) => l && !l.startsWith('#')))
      assert.ok(settings.has(line.split('=')[0].trim()), `${name}: ${line}`);
});

test('a node starts with the configuration of one', async () => {
  const s = await start({ args: ['--config', join(deploy, 'ramet.conf')] });
  assert.equal((await call(s, 'GET', '/ramet/v1/sessions')).status, 401);
});

test('compose: one node', () => {
  const { services, volumes } = parse(text('compose.yaml'));
  assert.deepEqual(Object.keys(services), ['ramet']);
  assert.equal(services.ramet.build.dockerfile, 'deploy/Dockerfile');
  assert.ok(services.ramet.ports.every((p) => p.startsWith('127.0.0.1:')), 'not open to the network');
  assert.deepEqual(Object.keys(volumes), ['store']);
});

test('compose: a cluster', () => {
  const { services, volumes } = parse(text('compose-cluster.yaml'), { merge: true });
  assert.deepEqual(Object.keys(services).sort(), ['db', 'front', 'node1', 'node2']);
  assert.deepEqual(services.node1, services.node2);
  const words = nodeWords(services.node1.command);
  assert.ok(words.includes('postgres://ramet@db/ramet'));
  assert.match(services.node1.environment.PGPASSWORD, /^\$\{DB_PASSWORD:\?/, 'there is no password in the file');
  assert.deepEqual(Object.keys(volumes), ['data']);
  const servers = [...text('haproxy.cfg').matchAll(/^ *server ([a-z0-9]+) /gm)].map((m) => m[1]);
  assert.deepEqual(servers, ['node1', 'node2']);
});

test('the image starts a node', () => {
  const words = JSON.parse(/^CMD (\[.*\])$/m.exec(text('Dockerfile'))[1]);
  nodeWords(words);
  assert.match(text('Dockerfile'), /^STOPSIGNAL SIGTERM$/m);
});

test('the database waits for a second machine', () => {
  const { bootstrap } = parse(text('patroni.yml'));
  assert.equal(bootstrap.dcs.synchronous_mode, true);
  assert.equal(bootstrap.dcs.synchronous_mode_strict, true);
  assert.equal(bootstrap.dcs.postgresql.parameters.synchronous_commit, 'on');
  assert.equal(bootstrap.dcs.postgresql.parameters.hot_standby_feedback, 'on');
});

test('what docs/operations.md names is there', async () => {
  const page = readFileSync(join(deploy, '..', 'docs', 'operations.md'), 'utf8');
  for (const [, name] of page.matchAll(/\]\(\.\.\/deploy\/([^)]+)\)/g)) assert.ok(existsSync(join(deploy, name)), name);
  const help = (await ramet(['help', '--markdown'])).out;
  for (const [, command] of page.matchAll(/^(?:PGPASSFILE=\S+ )?ramet (?:--db \S+ )?([a-z]+)/gm))
    assert.ok(help.includes(`### \`ramet ${command}`), `ramet ${command}`);
});

await finish();
