// SPDX-License-Identifier: Apache-2.0
//
// embed.mjs: makes what the binary holds of the page: a file with the bytes of all files one behind
// the other, each as it is and packed by brotli and gzip where that is smaller, and a C table that
// says where each begins.
//
//   node embed.mjs DIST OUT NAME    writes OUT/page_data and OUT/page_data.c, which includes NAME/page_data
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const [dist, out, name] = process.argv.slice(2);
const types = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
};
const packs = /^(html|js|css|svg|json|webmanifest|txt)$/;

const files = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((each) => each.isFile())
  .map((each) => join(each.parentPath ?? each.path, each.name).slice(dist.length + 1))
  .sort();
const pieces = [];
let at = 0;
const put = (bytes) => {
  pieces.push(bytes);
  at += bytes.length;
  return `{${at - bytes.length}, ${bytes.length}}`;
};
const rows = files.map((path) => {
  const bytes = readFileSync(join(dist, path));
  const ending = path.slice(path.lastIndexOf('.') + 1);
  if (!types[ending]) throw new Error(`${path}: no media type is known for .${ending}`);
  const variants = [put(bytes)];
  for (const pack of [
    () => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }),
    () => gzipSync(bytes, { level: 9 }),
  ]) {
    const packed = packs.test(ending) ? pack() : bytes;
    variants.push(packed.length < bytes.length ? put(packed) : '{0, 0}');
  }
  const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return `    {"${path}", "${types[ending]}", "${tag}", {${variants.join(', ')}}},\n`;
});
if (!files.includes('index.html')) throw new Error(`${dist} has no index.html`);

writeFileSync(join(out, 'page_data'), Buffer.concat(pieces));
writeFileSync(
  join(out, 'page_data.c'),
  `/* SPDX-License-Identifier: Apache-2.0
 *
 * Made by web/tools/embed.mjs. */
#include "server/page.h"

__asm__(".section .rodata\\n"
        ".global page_bytes\\n"
        ".hidden page_bytes\\n"
        "page_bytes: .incbin \\"${name}/page_data\\"\\n"
        ".previous\\n");

const page_file page_files[] = {
${rows.join('')}    {NULL, NULL, NULL, {{0, 0}, {0, 0}, {0, 0}}},
};
`,
);
