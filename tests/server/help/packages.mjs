// SPDX-License-Identifier: Apache-2.0
//
// packages.mjs: npm packages for tests and for bench/peers, pinned by package-lock.json (the agents, whose
// locks would be of one platform, by package.json), installed once into the build
// folder. Two suites may ask at the same time: a process of this file installs, under a lock that
// goes with it, and the other waits.
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const self = fileURLToPath(import.meta.url);
const tests = join(dirname(self), '..');
const build = process.env.B ?? join(tests, '..', '..', 'build');
// Where a package.json stands, and where its packages go. The agents are large: only those who run them wait for that.
const sets = { server: [tests, join(build, 'node-server')], agents: [join(tests, 'agents'), join(build, 'node-agents')],
  agents22: [join(tests, 'agents22'), join(build, 'node-agents22')], writers: [join(tests, 'writers'), join(build, 'node-writers')],
  openai: [join(tests, 'openai_clients'), join(build, 'node-openai')],
  peers: [join(tests, '..', '..', 'bench', 'peers'), join(build, 'node-peers'), 'better-sqlite3'] };

const files = (here) => ['package.json', 'package-lock.json'].filter((f) => existsSync(join(here, f)));

function installed([here, home]) {
  return files(here).every((f) => existsSync(join(home, f)) &&
    readFileSync(join(home, f), 'utf8') === readFileSync(join(here, f), 'utf8'));
}

/** Runs npm; compilers of packages use the headers that were installed with Node, where there are some. */
function npm(cwd, ...args) {
  const nodedir = join(dirname(process.execPath), '..');
  const headers = existsSync(join(nodedir, 'include', 'node', 'node.h')) ? { npm_config_nodedir: nodedir } : {};
  execFileSync('npm', args, { cwd, stdio: 'pipe', env: { ...process.env, ...headers, npm_config_update_notifier: 'false' } });
}

/** The third member of a set names a package that is compiled when it is installed. */
function install([here, home, compiled]) {
  const fresh = `${home}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const f of files(here)) copyFileSync(join(here, f), join(fresh, f));
  const how = files(here).length > 1 ? ['ci'] : ['install', '--no-package-lock'];
  for (let left = 3; left--;) // a registry may be busy
    try {
      npm(fresh, ...how, '--no-audit', '--no-fund', '--ignore-scripts');
      if (compiled) npm(fresh, 'rebuild', compiled);
      break;
    } catch (e) {
      if (!left) throw e;
    }
  rmSync(home, { recursive: true, force: true });
  renameSync(fresh, home);
}

async function ready(set) {
  const home = sets[set][1];
  if (installed(sets[set])) return home;
  mkdirSync(dirname(home), { recursive: true });
  await promisify(execFile)('flock', [`${home}.flock`, process.execPath, self, set], { maxBuffer: 1 << 26 });
  return home;
}

/** The module of a package of package.json. */
export async function load(name, set = 'server') {
  return import(pathToFileURL(createRequire(join(await ready(set), 'package.json')).resolve(name)));
}

/** A file of a package, or (`.bin/NAME`) a program. */
export const file = async (path, set = 'agents') => join(await ready(set), 'node_modules', path);

if (process.argv[1] === self && !installed(sets[process.argv[2]])) install(sets[process.argv[2]]);
