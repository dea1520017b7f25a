// SPDX-License-Identifier: Apache-2.0
//
// types.spec.ts: the shapes in src/api/schema.ts are those that the server tells.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from './lib';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');

test('the types of the API are not stale', async ({ server }) => {
  const check = promisify(execFile)(process.execPath, ['tools/types.mjs', '--check'], {
    cwd: web,
    env: { ...process.env, RAMET_URL: server.url },
  });
  await expect(check, 'npm run types').resolves.toBeTruthy();
});
