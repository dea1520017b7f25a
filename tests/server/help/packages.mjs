// SPDX-License-Identifier: Apache-2.0
//
// packages.mjs: npm packages for tests, pinned by package-lock.json, installed once into the build
// folder. Two suites may ask at the same time: a process of this file installs, under a lock that
// goes with it, and the other waits.
import { execFile, execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const self = fileURLToPath(import.meta.url);
const here = join(dirname(self), '..'); // of package.json
const home = join(process.env.B ?? join(here, '..', '..', 'build'), 'node-server');

function installed() {
  const [want, have] = [here, home].map((d) => join(d, 'package-lock.json'));
  return existsSync(have) && readFileSync(have, 'utf8') === readFileSync(want, 'utf8');
}

function install() {
  const fresh = `${home}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const f of ['package.json', 'package-lock.json']) copyFileSync(join(here, f), join(fresh, f));
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'],
               { cwd: fresh, stdio: 'pipe', env: { ...process.env, npm_config_update_notifier: 'false' } });
  rmSync(home, { recursive: true, force: true });
  renameSync(fresh, home);
}

async function ready() {
  if (installed()) return;
  mkdirSync(dirname(home), { recursive: true });
  await promisify(execFile)('flock', [`${home}.flock`, process.execPath, self], { maxBuffer: 1 << 26 });
}

/** The module of a package of package.json. */
export async function load(name) {
  await ready();
  return import(pathToFileURL(createRequire(join(home, 'package.json')).resolve(name)));
}

if (process.argv[1] === self && !installed()) install();
