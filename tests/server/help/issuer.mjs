// SPDX-License-Identifier: Apache-2.0
//
// issuer.mjs: an issuer of tokens for tests: keys of every kind, good tokens and bad ones, a key set
// and a discovery document over HTTP that can be changed, delayed and broken at will.
import crypto from 'node:crypto';
import http from 'node:http';

const b64 = (x) => Buffer.from(typeof x === 'string' || Buffer.isBuffer(x) ? x : JSON.stringify(x)).toString('base64url');

/** A key pair: {kid, alg, private, public, jwk}. */
export function makeKey(kid, alg = 'RS256', extra = {}) {
  const curve = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' }[alg];
  const pair = curve ? crypto.generateKeyPairSync('ec', { namedCurve: curve })
                     : crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...pair.publicKey.export({ format: 'jwk' }), use: 'sig', ...(kid ? { kid } : {}), ...extra };
  return { kid, alg, private: pair.privateKey, public: pair.publicKey, jwk };
}

/** The signature of a text by an algorithm, whether it fits the key or not. */
export function signature(alg, key, text) {
  const hash = `sha${alg.slice(2)}`;
  const data = Buffer.from(text);
  if (alg === 'none') return Buffer.alloc(0);
  if (alg.startsWith('HS')) return crypto.createHmac(hash, key).update(data).digest();
  if (alg.startsWith('ES')) return crypto.sign(hash, data, { key, dsaEncoding: 'ieee-p1363' });
  if (alg.startsWith('PS'))
    return crypto.sign(hash, data, { key, padding: crypto.constants.RSA_PKCS1_PSS_PADDING, saltLength: Number(alg.slice(2)) / 8 });
  return crypto.sign(hash, data, key);
}

/** A token; `header` is added to {alg, kid}; undefined members are left out. */
export function sign(claims, key, { alg = key.alg, header = {}, secret = key.private } = {}) {
  const text = `${b64({ alg, typ: 'JWT', kid: key.kid, ...header })}.${b64(claims)}`;
  return `${text}.${signature(alg, secret, text).toString('base64url')}`;
}

export class Issuer {
  constructor() {
    this.keys = [makeKey('one')];
    this.hits = { jwks: 0, discovery: 0 };
    this.answer = null; // instead of the key set: (response) => …
  }

  async start() {
    this.server = http.createServer((request, response) => {
      const json = (x) => response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(x));
      if (request.url === '/jwks') {
        this.hits.jwks++;
        if (this.answer) this.answer(response);
        else json(this.set());
      } else if (request.url === '/.well-known/openid-configuration') {
        this.hits.discovery++;
        json({ issuer: this.said ?? this.url, jwks_uri: `${this.url}/jwks`, authorization_endpoint: `${this.url}/auth`,
               token_endpoint: `${this.url}/token` });
      } else response.writeHead(404).end();
    });
    await new Promise((done) => this.server.listen(0, '127.0.0.1', done));
    this.url = `http://127.0.0.1:${this.server.address().port}`;
    return this;
  }

  stop() {
    this.server.closeAllConnections();
    return new Promise((done) => this.server.close(done));
  }

  set() {
    return { keys: this.keys.map((k) => k.jwk) };
  }

  /** Claims that are good for ten minutes. */
  claims(more = {}) {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.url, aud: 'ramet', sub: 'ann', iat: now, exp: now + 600, ...more };
  }

  token(more = {}, options = {}) {
    return sign(this.claims(more), options.key ?? this.keys[0], options);
  }
}
