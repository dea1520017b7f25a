// SPDX-License-Identifier: Apache-2.0
//
// packages.mjs: npm packages for tests, pinned by package-lock.json, installed once into the build
// folder. Two suites may ask at the same time: the one that makes the lock folder installs, the
// other waits.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, rmdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = join(dirname(fileURLToPath(import.meta.url)), '..'); // of package.json
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
  const lock = `${home}.lock`;
  mkdirSync(dirname(home), { recursive: true });
  for (let tries = 0; !installed(); tries++) {
    try {
      mkdirSync(lock);
    } catch (e) {
      if (e.code !== 'EEXIST') throw e;
      if (tries > 600) throw new Error(`${lock} stands there for a minute; remove it if no test is running`);
      await new Promise((done) => setTimeout(done, 100));
      continue;
    }
    try {
      if (!installed()) install();
    } finally {
      rmdirSync(lock);
    }
  }
}

/** The module of a package of package.json. */
export async function load(name) {
  await ready();
  return import(pathToFileURL(createRequire(join(home, 'package.json')).resolve(name)));
}
