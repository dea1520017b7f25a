// SPDX-License-Identifier: Apache-2.0
// What the binary serves of the page: caching, compression, and what no page may do.
import http from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect, test } from './lib';

/** As it comes over the wire: fetch() would unpack it. */
const ask = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: http.IncomingHttpHeaders; body: Buffer }>((done, fail) => {
    http
      .request(url, { headers, method }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on('data', (piece: Buffer) => pieces.push(piece));
        answer.on('end', () => done({ status: answer.statusCode!, headers: answer.headers, body: Buffer.concat(pieces) }));
      })
      .on('error', fail)
      .end();
  });

test('index.html is asked for anew, and answered with 304', async ({ server }) => {
  const plain = await ask(`${server.url}/`);
  expect(plain.status).toBe(200);
  expect(plain.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(plain.headers['cache-control']).toBe('no-cache');
  expect(plain.headers['content-encoding']).toBeUndefined();
  const again = await ask(`${server.url}/`, { 'If-None-Match': plain.headers.etag! });
  expect(again.status).toBe(304);
  expect(again.body.length).toBe(0);
  for (const path of ['/chat/abc', '/chat/a%2Fb%20%F0%9F%8C%B1?entry=x', '/timeline/abc', '/compare?side=a&side=b']) {
    const answer = await ask(server.url + path);
    expect([path, answer.status, answer.body.equals(plain.body)]).toEqual([path, 200, true]);
  }
});

test('files with a hash in their name are kept for ever, packed as the browser takes them', async ({ server }) => {
  const index = (await ask(`${server.url}/`)).body.toString();
  const name = /src="(\/assets\/[^"]+\.js)"/.exec(index)![1]!;
  const plain = await ask(server.url + name);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.headers['content-type']).toBe('text/javascript; charset=utf-8');
  expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(plain.headers.vary).toBe('Accept-Encoding');
  const brotli = await ask(server.url + name, { 'Accept-Encoding': 'gzip, deflate, br' });
  expect(brotli.headers['content-encoding']).toBe('br');
  expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true);
  const gzip = await ask(server.url + name, { 'Accept-Encoding': 'gzip, br;q=0' });
  expect(gzip.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true);
  expect(new Set([plain.headers.etag, brotli.headers.etag, gzip.headers.etag]).size).toBe(3);
  const head = await ask(server.url + name, { 'Accept-Encoding': 'br' }, 'HEAD');
  expect([head.status, head.body.length, head.headers['content-length']]).toEqual([200, 0, String(brotli.body.length)]);
});

test('what is not there is 404, and only reading is possible', async ({ server }) => {
  for (const path of ['/assets/nothing.js', '/assets/', '/assets/..%2Findex.html', '/nothing', '/chat', '/chat/a/b'])
    expect([path, (await ask(server.url + path)).status]).toEqual([path, 404]);
  expect((await ask(`${server.url}/chat/abc`, {}, 'POST')).status).toBe(405);
});

test('the page runs no script but its own, and nobody frames it', async ({ server, page }) => {
  const { headers } = await ask(`${server.url}/`);
  const policy = headers['content-security-policy'] as string;
  const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule]));
  expect(rules.get('default-src')).toBe("default-src 'none'");
  expect(rules.get('script-src')).toBe("script-src 'self'");
  expect(rules.get('connect-src')).toBe("connect-src 'self'");
  expect(rules.get('frame-ancestors')).toBe("frame-ancestors 'none'");
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['cross-origin-opener-policy']).toBe('same-origin');
  // Nothing that the page holds asks another host.
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'New chat' })).toBeVisible();
  expect([...hosts]).toEqual([new URL(server.url).host]);
});

test('the first view needs at most 300 KB', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByRole('button', { name: 'New chat' })).toBeVisible();
  const files = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .map((each) => each as PerformanceResourceTiming)
      .filter((each) => !new URL(each.name).pathname.startsWith('/ramet/'))
      .map((each) => [new URL(each.name).pathname, each.encodedBodySize] as const),
  );
  const sum = files.reduce((all, [, size]) => all + size, 0);
  expect(sum, JSON.stringify(files)).toBeGreaterThan(10_000);
  expect(sum, JSON.stringify(files)).toBeLessThanOrEqual(300 * 1024);
});
