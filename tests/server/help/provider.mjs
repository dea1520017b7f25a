// SPDX-License-Identifier: Apache-2.0
//
// provider.mjs: an issuer of identities with pages of its own (oidc-provider), for sign-ins as a
// browser makes them.
import http from 'node:http';
import net from 'node:net';
import { makeKey } from './issuer.mjs';
import { load } from './packages.mjs';

/** A real issuer (oidc-provider): {url, clients…, stop()}; whoever signs in is the login name. */
export async function realIssuer(redirects, { secret } = {}) {
  const { default: Provider } = await load('oidc-provider');
  const server = http.createServer();
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${server.address().port}`;
  const signing = makeKey('sig', 'RS256');
  const provider = new Provider(url, {
    clients: [{ client_id: 'ramet-page', redirect_uris: redirects, grant_types: ['authorization_code'], response_types: ['code'],
                ...(secret ? { client_secret: secret } : { token_endpoint_auth_method: 'none' }) }],
    jwks: { keys: [{ ...signing.private.export({ format: 'jwk' }), kid: 'sig', use: 'sig', alg: 'RS256' }] },
    cookies: { keys: ['test'] },
    pkce: { required: () => true },
    claims: { openid: ['sub', 'roles'] },
    conformIdTokenClaims: false,
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, roles: id === 'root' ? ['admin'] : ['auditor'] }) }),
  });
  server.on('request', provider.callback());
  return { url, signing, stop: () => { server.closeAllConnections(); return new Promise((done) => server.close(done)); } };
}

/** A port that is free now, so that a redirect URI can be registered before the server starts. */
export async function freePort() {
  const socket = net.createServer();
  await new Promise((done) => socket.listen(0, '127.0.0.1', done));
  const { port } = socket.address();
  await new Promise((done) => socket.close(done));
  return port;
}
