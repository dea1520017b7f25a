/* SPDX-License-Identifier: Apache-2.0
 *
 * cookie.c: a browser's two cookies: the cookie of a sign-in, and that of a sign-in in progress at
 * the issuer.
 *
 * The key that seals them is derived from the setting cookie-key. Without it, nodes that share a
 * database use a secret stored there; with a file the key is generated at start and never leaves
 * memory, so a stolen file contains no sign-in, and a restart signs all browsers out.
 *
 * Invariants
 *   C1  A cookie is JSON sealed with AES-256-GCM: a browser can neither read, change nor make one.
 *   C2  It is valid until the expiry inside it, whatever the browser does.
 *   C3  An API key in a cookie is looked up at each request, so that it can be revoked.
 *   C4  A sign-out is remembered until the cookie would have expired: in the database that nodes
 *       share, else in memory (the last ENDED_MOST). One that cannot be looked up counts as ended.
 */
#include "identity/auth.h"

#include "base/base64.h"
#include "base/seal.h"
#include "base/util.h"
#include "ramet/nodes.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_BYTES 16
#define COOKIE_MAX 4096
#define MAX_ENDED 4096
#define MIN_KEY_CHARS 32

/* The purpose is sealed in, so that one cookie cannot be used as the other. */
#define FOR_SESSION "ramet session"
#define FOR_LOGIN "ramet login"

struct cookies {
    unsigned char key[SEAL_KEY];
    ramet *store; /* keeps sign-outs; NULL: `ended` does */
    pthread_mutex_t lock;
    char ended[MAX_ENDED][2 * ID_BYTES + 1]; /* a ring */
    size_t n_ended;                          /* number of sign-outs ever */
};

/* A shorter setting could be guessed. */
static void key_from(const char *text, uint8_t out[SEAL_KEY])
{
    static const char label[] = "ramet cookie";
    sha *h = sha_new();
    sha_begin(h);
    sha_add(h, label, sizeof label);
    sha_add(h, text, strlen(text));
    sha_end(h, out);
    sha_free(h);
}

cookies *cookies_new(ramet *store, const char *setting, char *message)
{
    cookies *c = xcalloc(1, sizeof *c);
    ramet_call *call = ramet_call_new(store, NULL, NULL);
    bool kept = false;
    pthread_mutex_init(&c->lock, NULL);
    c->store = ramet_shared(store) ? store : NULL;
    ramet_status st = *setting ? RAMET_OK : ramet_secret(call, "cookies", c->key, &kept);
    if (*setting && strlen(setting) < MIN_KEY_CHARS) {
        snprintf(message, AUTH_MESSAGE, "cookie-key must have at least %d characters",
                 MIN_KEY_CHARS);
        st = RAMET_INVALID;
    } else if (st != RAMET_OK) {
        snprintf(message, AUTH_MESSAGE, "%.200s", ramet_call_error(call)->message);
    } else if (*setting) {
        key_from(setting, c->key);
    } else if (!kept) {
        random_bytes(c->key, sizeof c->key);
    }
    ramet_call_free(call);
    if (st == RAMET_OK)
        return c;
    cookies_free(c);
    return NULL;
}

void cookies_free(cookies *c)
{
    if (!c)
        return;
    OPENSSL_cleanse(c->key, sizeof c->key);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ------------------------------------------------------------------ sealing */

/* In base64url; NULL if it would be too long for a browser. */
static const char *cookie_seal(const cookies *c, arena *a, const char *use, const char *text,
                               size_t n)
{
    size_t all;
    if (n + SEAL_MORE > COOKIE_MAX / 4 * 3 - 64)
        return NULL;
    const char *sealed = seal_make(a, c->key, use, text, n, &all);
    return b64url_encode(a, sealed, all);
}

static const char *cookie_unseal(const cookies *c, arena *a, const char *use, const char *sealed,
                                 size_t *n)
{
    size_t all = 0;
    const char *in = b64url_decode(a, sealed, strlen(sealed), &all);
    return in ? seal_open(a, c->key, use, in, all, n) : NULL;
}

/* ------------------------------------------------------------------ the header */

#define SESSION_NAME "ramet_session"
#define LOGIN_NAME "ramet_login"

/* The prefix __Host- keeps other hosts of the same domain from setting it. */
static const char *name_of(const char *name, bool secure)
{
    if (!secure)
        return name;
    return strcmp(name, SESSION_NAME) == 0 ? "__Host-" SESSION_NAME : "__Host-" LOGIN_NAME;
}

static const char *cookie_find(arena *a, const char *header, const char *name)
{
    size_t len = strlen(name);
    for (const char *s = header; s && *s;) {
        s += strspn(s, "; ");
        size_t n = strcspn(s, ";");
        if (n > len && s[len] == '=' && strncmp(s, name, len) == 0 && n - len <= COOKIE_MAX)
            return arena_memdup(a, s + len + 1, n - len - 1);
        s += n;
    }
    return NULL;
}

bool cookie_session_there(const char *header, bool secure)
{
    const char *name = name_of(SESSION_NAME, secure);
    size_t len = strlen(name);
    for (const char *s = header; s && *s;) {
        s += strspn(s, "; ");
        if (strncmp(s, name, len) == 0 && s[len] == '=')
            return true;
        s += strcspn(s, ";");
    }
    return false;
}

/* The JSON in a cookie of the request; NULL when it is missing, not ours or expired. */
static bool cookie_open(cookies *c, arena *a, const char *value, const char *use, json_doc *d)
{
    size_t n = 0;
    int64_t end = 0;
    const char *text = value ? cookie_unseal(c, a, use, value, &n) : NULL;
    return text && json_parse(a, text, n, 4, d, NULL) &&
           json_int(d, json_get(d, &d->nodes[0], "end"), &end) && time_now_us() / 1000000 < end;
}

/* Members as alternating names and values, ending with NULL; a NULL value is left out. */
static const char *cookie_close(cookies *c, arena *a, const char *use, int seconds,
                                const char *const *members)
{
    buf out;
    json_writer w;
    buf_init(&out, COOKIE_MAX);
    jw_init(&w, &out, 0);
    jw_object(&w);
    jw_kint(&w, "end", time_now_us() / 1000000 + seconds);
    for (; members[0]; members += 2)
        if (members[1])
            jw_kstr(&w, members[0], members[1]);
    jw_end_object(&w);
    const char *sealed = out.over ? NULL : cookie_seal(c, a, use, out.data, out.n);
    OPENSSL_cleanse(out.data, out.n);
    buf_release(&out);
    return sealed;
}

static const char *member(arena *a, const json_doc *d, const char *name)
{
    return json_text(a, d, json_get(d, &d->nodes[0], name));
}

/* ------------------------------------------------------------------ sign-ins */

const char *cookie_session_make(cookies *c, arena *a, const cookie_session *in, bool secure)
{
    uint8_t raw[ID_BYTES];
    char id[2 * ID_BYTES + 1];
    random_bytes(raw, sizeof raw);
    hex_encode(raw, sizeof raw, id);
    const char *members[] = {"id",     id,
                             "token",  in->token,
                             "user",   in->identity.user,
                             "client", in->identity.client,
                             "roles",  in->identity.roles,
                             NULL};
    const char *sealed = cookie_close(c, a, FOR_SESSION, SESSION_SECONDS, members);
    if (!sealed)
        return NULL;
    return arena_printf(a, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Strict%s",
                        name_of(SESSION_NAME, secure), sealed, SESSION_SECONDS,
                        secure ? "; Secure" : "");
}

/* A sign-out is stored as the kept answer of an idempotency key, which expires by itself. */
static void ended_answer(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 204;
    *bytes = "";
    *n = 0;
}

static ramet_once ended_once(const char *id)
{
    return (ramet_once){.scope = "signed out",
                        .key = id,
                        .answer = ended_answer,
                        .keep_us = SESSION_SECONDS * INT64_C(1000000)};
}

/* See C4. */
static bool ended_there(cookies *c, const char *id)
{
    ramet_once once = ended_once(id);
    ramet_call *call = ramet_call_new(c->store, NULL, NULL);
    ramet_call_once(call, &once);
    bool ended = ramet_once_look(call) != RAMET_OK || once.repeated;
    ramet_call_free(call);
    return ended;
}

static bool session_ended(cookies *c, const char *id)
{
    bool found = false;
    if (c->store)
        return ended_there(c, id);
    pthread_mutex_lock(&c->lock);
    size_t n = c->n_ended < MAX_ENDED ? c->n_ended : MAX_ENDED;
    for (size_t i = 0; i < n && !found; i++)
        found = memcmp(c->ended[i], id, 2 * ID_BYTES) == 0;
    pthread_mutex_unlock(&c->lock);
    return found;
}

bool cookie_session_read(cookies *c, arena *a, const char *header, bool secure, cookie_session *out)
{
    json_doc d;
    const char *value = cookie_find(a, header, name_of(SESSION_NAME, secure));
    if (!cookie_open(c, a, value, FOR_SESSION, &d))
        return false;
    *out = (cookie_session){
        .token = member(a, &d, "token"),
        .identity = {member(a, &d, "user"), member(a, &d, "client"), member(a, &d, "roles")},
        .id = member(a, &d, "id")};
    return out->id && strlen(out->id) == 2 * ID_BYTES && (out->token || out->identity.user) &&
           !session_ended(c, out->id);
}

static bool end_there(cookies *c, const char *id)
{
    ramet_once once = ended_once(id);
    ramet_call *call = ramet_call_new(c->store, NULL, NULL);
    ramet_call_once(call, &once);
    bool noted = ramet_once_look(call) == RAMET_OK && ramet_once_keep(call) == RAMET_OK;
    if (!noted)
        log_line(LOG_WARN, "a sign-out could not be noted", "error",
                 ramet_call_error(call)->message, NULL);
    ramet_call_free(call);
    return noted;
}

bool cookie_session_end(cookies *c, const char *id)
{
    if (c->store)
        return end_there(c, id);
    pthread_mutex_lock(&c->lock);
    memcpy(c->ended[c->n_ended++ % MAX_ENDED], id, 2 * ID_BYTES);
    pthread_mutex_unlock(&c->lock);
    return true;
}

const char *cookie_session_none(bool secure)
{
    return secure ? "__Host-" SESSION_NAME "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure"
                  : SESSION_NAME "=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict";
}

/* ------------------------------------------------------------------ a sign-in under way */

/* SameSite=Lax: the issuer's redirect back to us comes from another site and must carry it. */
const char *cookie_login_make(cookies *c, arena *a, const cookie_login *in, bool secure)
{
    const char *members[] = {"state",      in->state, "nonce",  in->nonce, "verifier",
                             in->verifier, "next",    in->next, NULL};
    const char *sealed = cookie_close(c, a, FOR_LOGIN, LOGIN_SECONDS, members);
    if (!sealed)
        return NULL;
    return arena_printf(a, "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax%s",
                        name_of(LOGIN_NAME, secure), sealed, LOGIN_SECONDS,
                        secure ? "; Secure" : "");
}

bool cookie_login_read(cookies *c, arena *a, const char *header, bool secure, cookie_login *out)
{
    json_doc d;
    const char *value = cookie_find(a, header, name_of(LOGIN_NAME, secure));
    if (!cookie_open(c, a, value, FOR_LOGIN, &d))
        return false;
    *out = (cookie_login){member(a, &d, "state"), member(a, &d, "nonce"), member(a, &d, "verifier"),
                          member(a, &d, "next")};
    return out->state && out->nonce && out->verifier;
}

const char *cookie_login_none(bool secure)
{
    return secure ? "__Host-" LOGIN_NAME "=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure"
                  : LOGIN_NAME "=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax";
}
