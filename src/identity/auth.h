/* SPDX-License-Identifier: Apache-2.0
 *
 * auth.h: shared by the files of src/identity and the sign-in pages (face/login): auth.c
 * (identifies callers), origin.c (checks the page that sent a request), oidc.c (an issuer),
 * cookie.c (signed-in browsers).
 */
#ifndef IDENTITY_AUTH_H
#define IDENTITY_AUTH_H

#include "identity/jwt.h"
#include "identity/identity.h"
#include "runtime/log.h"

#define AUTH_MESSAGE 256

typedef enum {
    AUTH_OK,
    AUTH_REFUSED,    /* unknown, expired, revoked, forged */
    AUTH_UNAVAILABLE /* undecided: the store or the issuer does not answer */
} auth_verdict;

/* ---- an issuer (oidc.c). Callable from any thread. */

typedef struct oidc oidc;
oidc *oidc_new(const server_config *cfg, char *message);
void oidc_free(oidc *o);
/* The owner of a JWT. *why is for the log. May fetch keys. */
auth_verdict oidc_identify(oidc *o, arena *a, const char *token, identity *out, const char **why);
/* The code flow (RFC 6749 4.1, RFC 7636). On failure returns NULL and sets *why. */
typedef struct oidc_start {
    const char *redirect, *state, *nonce, *challenge;
} oidc_start;
const char *oidc_authorize(oidc *o, arena *a, const oidc_start *in, const char **why);
typedef struct oidc_code {
    const char *code, *verifier, *redirect, *nonce;
} oidc_code;
auth_verdict oidc_exchange(oidc *o, arena *a, const oidc_code *in, identity *out, const char **why);
bool oidc_has_login(const oidc *o); /* a client id is set */
const char *oidc_issuer(const oidc *o);

/* ---- requests to an issuer (issuer_fetch.c) */

typedef struct fetch {
    const char *url;
    const char *form;            /* NULL: GET */
    const char *user, *password; /* NULL: none */
    long status;                 /* of the answer; 0: there was none */
} fetch;
/* Stores the body of a 200 answer, at most JWKS_BYTES, in *out, which the caller always releases.
 * On failure returns false and sets *why. */
bool fetch_run(fetch *f, buf *out, const char **why);
bool fetch_is_url(const char *s); /* http:// or https:// */
/* A text encoded for a query or a form. */
const char *form_encode(arena *a, const char *s);
/* The value of a name in a form body; NULL when it is not there, or not well formed. */
const char *form_value(arena *a, const char *form, const char *name);

/* ---- signed-in browsers (cookie.c). Callable from any thread. `header`: the value of Cookie, or
 * NULL. */

typedef struct cookies cookies;
/* setting: cookie-key, may be "". NULL: *message (AUTH_MESSAGE bytes) is filled. */
cookies *cookies_new(ramet *store, const char *setting, char *message);
void cookies_free(cookies *c);

#define SESSION_SECONDS (12 * 3600)
#define LOGIN_SECONDS 600

/* A signed-in browser: `token` (an API key, looked up at each request), or `identity`. */
typedef struct cookie_session {
    const char *token;
    identity identity;
    const char *id; /* of this sign-in */
} cookie_session;
/* The value of the Set-Cookie header that starts it. */
const char *cookie_session_make(cookies *c, arena *a, const cookie_session *in, bool secure);
/* The sign-in of a request. False: it has none, or one that is not (or no longer) valid. */
bool cookie_session_read(cookies *c, arena *a, const char *header, bool secure,
                         cookie_session *out);
/* Ends the sign-in everywhere, for every holder of a copy. False: that could not be stored. */
bool cookie_session_end(cookies *c, const char *id);
bool cookie_session_there(const char *header, bool secure); /* a cookie was sent, valid or not */

/* A sign-in that is under way at the issuer. */
typedef struct cookie_login {
    const char *state, *nonce, *verifier, *next;
} cookie_login;
const char *cookie_login_make(cookies *c, arena *a, const cookie_login *in, bool secure);
bool cookie_login_read(cookies *c, arena *a, const char *header, bool secure, cookie_login *out);
/* Set-Cookie values that delete them. */
const char *cookie_session_none(bool secure);
const char *cookie_login_none(bool secure);

/* ---- the whole module (auth.c) */

typedef enum { MODE_LOCAL, MODE_TOKENS, MODE_OIDC } auth_mode;

struct auth {
    const server_config *cfg;
    ramet *store;
    auth_mode mode;
    int port;      /* of the listening socket; 0: not known yet. Atomic */
    oidc *issuer;  /* MODE_OIDC */
    cookies *jar;  /* not in MODE_LOCAL */
    char host[64]; /* of cfg->listen, without brackets */
};

/* The owner of an API key. */
auth_verdict auth_token(auth *a, arena *ar, const char *secret, identity *out, const char **why);
/* The API key or token in the headers of a request (not its cookie); NULL: none. */
const char *auth_secret(request *q);
/* Refuses a credential; `why` goes to the log, not to the caller. */
void auth_refuse(request *q, auth_verdict v, const char *why);
/* Whether the browser uses https, as far as the request shows. */
bool auth_secure(auth *a, request *q);
bool auth_is_loopback(const char *host); /* 127.0.0.0/8, ::1 (no brackets), localhost */
bool auth_any_origin(const char *list);  /* cors-origins has a * */

#endif
