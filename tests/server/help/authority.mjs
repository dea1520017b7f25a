// SPDX-License-Identifier: Apache-2.0
//
// authority.mjs: a certificate authority for tests, and certificates by it.
//
//   const ca = authority(scratch('ca'));       // {file, sign()}; file: its certificate
//   const tls = ca.sign('IP:127.0.0.1');       // {key, cert} for a server of that name
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function authority(folder) {
  mkdirSync(folder);
  const file = join(folder, 'ca.pem'), secret = join(folder, 'ca.key');
  let number = 0;
  const make = (cert, key, ...words) => execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt',
    'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-out', cert, '-keyout', key, ...words], { stdio: 'pipe' });
  make(file, secret, '-subj', '/CN=An authority for tests');
  return {
    file,
    sign(name) {
      const cert = join(folder, `${++number}.pem`), key = join(folder, `${number}.key`);
      make(cert, key, '-subj', '/CN=A server', '-CA', file, '-CAkey', secret, '-addext', `subjectAltName=${name}`,
           '-addext', 'basicConstraints=critical,CA:FALSE');
      return { key: readFileSync(key), cert: readFileSync(cert) };
    },
  };
}
