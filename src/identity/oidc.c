/* SPDX-License-Identifier: Apache-2.0
 *
 * oidc.c: an OpenID Connect issuer: its keys, the owner of a token that it signed, and the code
 * flow of a browser.
 *
 * Keys are fetched at start, when they are old, and when a token names an unknown one.
 *
 * Invariants
 *   O1  Two fetches are at least `min_us` apart: tokens cannot make us flood the issuer.
 *   O2  A new set replaces the old one as a whole; keys that the issuer has withdrawn are gone.
 *   O3  When a fetch fails, the last good set stays.
 *   O4  One thread fetches at a time. Only requests that need the result wait for it, and only a
 *       few of them.
 */
#include "identity/auth.h"

#include "base/util.h"
#include "base/words.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define MAX_WAITING 4
#define ROLES_BYTES 1024

typedef struct endpoints {
    char *authorize, *token, *jwks;
    bool secret_in_form; /* the token endpoint does not accept Basic */
} endpoints;

struct oidc {
    const server_config *cfg;
    const char *audience;
    unsigned algorithms;
    bool file;              /* keys come from a file */
    int64_t min_us, max_us; /* between two fetches; age of a set */

    pthread_mutex_t lock;
    pthread_cond_t fetched;
    bool fetching;
    unsigned rounds; /* completed fetches */
    int waiting;
    jwks *set; /* NULL: none yet */
    int64_t tried_us, got_us;

    pthread_mutex_t endpoints_lock;
    bool endpoints_busy;
    endpoints known;         /* authorize NULL: not known yet */
    int64_t endpoints_us;    /* when they were fetched */
    int64_t endpoints_tried; /* when a fetch was last tried */
};

static bool given(const char *s)
{
    return s && *s;
}

bool oidc_has_login(const oidc *o)
{
    return given(o->cfg->oidc_client_id);
}

const char *oidc_issuer(const oidc *o)
{
    return o->cfg->oidc_issuer;
}

/* ------------------------------------------------------------------ discovery */

static void endpoints_release(endpoints *e)
{
    free(e->authorize);
    free(e->token);
    free(e->jwks);
    *e = (endpoints){0};
}

static void endpoints_copy(const endpoints *from, endpoints *to)
{
    *to = (endpoints){xstrdup(from->authorize), xstrdup(from->token), xstrdup(from->jwks),
                      from->secret_in_form};
}

static char *url_member(arena *a, const json_doc *d, const char *name)
{
    const json_node *v = json_get(d, &d->nodes[0], name);
    const char *s = json_text(a, d, v);
    return s && !v->has_nul && fetch_is_url(s) ? xstrdup(s) : NULL;
}

static bool basic_refused(arena *a, const json_doc *d)
{
    const json_node *list = json_get(d, &d->nodes[0], "token_endpoint_auth_methods_supported");
    if (!json_is(list, JSON_ARRAY))
        return false;
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *s = json_text(a, d, v);
        if (s && strcmp(s, "client_secret_basic") == 0)
            return false;
    }
    return true;
}

static bool endpoints_fetch(oidc *o, endpoints *out, const char **why)
{
    arena *a = arena_new();
    buf body;
    json_doc d;
    const char *issuer = o->cfg->oidc_issuer;
    size_t n = strlen(issuer);
    while (n && issuer[n - 1] == '/')
        n--;
    fetch in = {.url = arena_printf(a, "%.*s/.well-known/openid-configuration", (int)n, issuer)};
    bool ok = fetch_run(&in, &body, why);
    if (ok && !json_parse(a, body.data, body.n, 32, &d, NULL)) {
        *why = "the issuer's discovery document is not JSON";
        ok = false;
    }
    if (ok) {
        const char *said = json_text(a, &d, json_get(&d, &d.nodes[0], "issuer"));
        *why = "the issuer's discovery document is of another issuer";
        ok = said && strcmp(said, issuer) == 0;
    }
    if (ok) {
        *out = (endpoints){url_member(a, &d, "authorization_endpoint"),
                           url_member(a, &d, "token_endpoint"), url_member(a, &d, "jwks_uri"),
                           basic_refused(a, &d)};
        *why = "the issuer's discovery document names no endpoints";
        ok = out->jwks && out->authorize && out->token;
        if (!ok)
            endpoints_release(out);
    }
    buf_release(&body);
    arena_free(a);
    return ok;
}

/* The endpoints of the issuer; the caller releases them. They are cached, and used longer while the
 * issuer does not answer. */
static bool endpoints_get(oidc *o, endpoints *out, const char **why)
{
    *why = "the issuer did not answer a moment ago";
    pthread_mutex_lock(&o->endpoints_lock);
    int64_t now = time_mono_us();
    bool old = !o->known.authorize || now - o->endpoints_us >= 600 * SECOND;
    if (old && !o->endpoints_busy && now - o->endpoints_tried >= 5 * SECOND) {
        endpoints fresh = {0};
        o->endpoints_busy = true;
        pthread_mutex_unlock(&o->endpoints_lock);
        bool ok = endpoints_fetch(o, &fresh, why);
        pthread_mutex_lock(&o->endpoints_lock);
        o->endpoints_busy = false;
        o->endpoints_tried = time_mono_us();
        if (ok) {
            endpoints_release(&o->known);
            o->known = fresh;
            o->endpoints_us = o->endpoints_tried;
        }
    }
    bool have = o->known.authorize != NULL;
    if (have)
        endpoints_copy(&o->known, out);
    pthread_mutex_unlock(&o->endpoints_lock);
    return have;
}

/* ------------------------------------------------------------------ keys */

static bool file_read(const char *path, buf *out, const char **why)
{
    buf_init(out, JWKS_BYTES);
    FILE *f = fopen(path, "re");
    if (!f) {
        *why = strerror(errno);
        return false;
    }
    char piece[8192];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0 && !out->over)
        buf_add(out, piece, n);
    bool ok = !ferror(f) && !out->over;
    fclose(f);
    *why = out->over ? "the file is over 1 MiB" : "the file cannot be read";
    return ok;
}

/* Loads a new set; on failure returns NULL and fills the message. */
static jwks *keys_load(oidc *o, char *message)
{
    const char *why = "", *where = o->cfg->oidc_jwks;
    endpoints found = {0};
    buf text;
    buf_init(&text, 0);
    bool ok = true;
    if (!given(where)) {
        ok = endpoints_get(o, &found, &why);
        where = found.jwks;
    }
    if (ok) {
        fetch in = {.url = where};
        ok = o->file ? file_read(where, &text, &why) : fetch_run(&in, &text, &why);
    }
    jwks *set = NULL;
    if (ok)
        set = jwks_parse(text.data, text.n, message);
    else
        snprintf(message, AUTH_MESSAGE, "%s", why);
    buf_release(&text);
    endpoints_release(&found);
    return set;
}

/* Caller holds o->lock, which is released while the fetch runs. */
static void keys_refresh(oidc *o)
{
    char message[AUTH_MESSAGE];
    o->fetching = true;
    pthread_mutex_unlock(&o->lock);
    jwks *set = keys_load(o, message);
    if (!set)
        log_line(LOG_WARN, "the issuer's keys cannot be read", "why", message, NULL);
    else if (!set->n)
        log_line(LOG_WARN, "the issuer has no key that can be used", NULL);
    pthread_mutex_lock(&o->lock);
    o->tried_us = time_mono_us();
    if (set) {
        jwks_free(o->set);
        o->set = set;
        o->got_us = o->tried_us;
    }
    o->fetching = false;
    o->rounds++;
    pthread_cond_broadcast(&o->fetched);
}

/* A reference to the set; NULL if there is none yet. `stale` (or NULL) is a set that lacked a key:
 * a newer one is fetched if O1 allows it. *busy: too many requests wait for that already. */
static jwks *keys_take(oidc *o, const jwks *stale, bool *busy)
{
    pthread_mutex_lock(&o->lock);
    bool need = !o->set || o->set == stale;
    if (need && o->fetching && o->waiting < MAX_WAITING) {
        unsigned round = o->rounds;
        o->waiting++;
        while (o->rounds == round)
            pthread_cond_wait(&o->fetched, &o->lock);
        o->waiting--;
        need = !o->set || o->set == stale;
    }
    int64_t now = time_mono_us();
    if (!o->fetching && now - o->tried_us >= o->min_us && (need || now - o->got_us >= o->max_us))
        keys_refresh(o);
    *busy = o->fetching && (!o->set || o->set == stale);
    jwks *set = o->set ? jwks_ref(o->set) : NULL;
    pthread_mutex_unlock(&o->lock);
    return set;
}

/* ------------------------------------------------------------------ tokens */

static auth_verdict token_check(oidc *o, arena *a, const char *token, const char *audience,
                                json_doc *claims, const char **why)
{
    bool busy = false;
    jwt_rules rules = {o->cfg->oidc_issuer, audience, o->algorithms, time_now_us() / SECOND};
    jwks *set = keys_take(o, NULL, &busy);
    if (!set) {
        *why = "there are no keys of the issuer yet";
        return AUTH_UNAVAILABLE;
    }
    jwt_verdict v = jwt_check(a, token, set, &rules, claims, why);
    if (v == JWT_NO_KEY) {
        jwks *newer = keys_take(o, set, &busy);
        if (newer != set)
            v = jwt_check(a, token, newer, &rules, claims, why);
        jwks_free(newer);
    }
    jwks_free(set);
    if (v == JWT_GOOD)
        return AUTH_OK;
    return v == JWT_NO_KEY && busy ? AUTH_UNAVAILABLE : AUTH_REFUSED;
}

/* A claim by its name, or by a path of names separated by dots. */
static const json_node *claim_find(arena *a, const json_doc *d, const char *name)
{
    const json_node *at = &d->nodes[0], *whole = json_get(d, at, name);
    if (whole)
        return whole;
    while (at && *name) {
        size_t n = strcspn(name, ".");
        at = json_get(d, at, arena_memdup(a, name, n));
        name += n + (name[n] == '.');
    }
    return at == &d->nodes[0] ? NULL : at;
}

/* Roles are separated by commas and spaces: a name that contains one would become two roles. */
static void role_add(buf *out, const char *s, size_t n)
{
    if (!n || memchr(s, ',', n) || memchr(s, ' ', n))
        return;
    if (out->n)
        buf_putc(out, ',');
    buf_add(out, s, n);
}

/* From an array of strings, or a string separated by spaces or commas; the result is separated by
 * commas. */
static const char *roles_read(arena *a, const json_doc *d, const json_node *v)
{
    buf out;
    buf_init(&out, ROLES_BYTES);
    if (json_is(v, JSON_ARRAY)) {
        for (const json_node *r = json_first(d, v); r; r = json_next(d, v, r)) {
            const char *s = json_text(a, d, r);
            if (s && identity_id_valid(s) && !r->has_nul)
                role_add(&out, s, strlen(s));
        }
    } else {
        const char *s = json_text(a, d, v);
        size_t n;
        if (s && !v->has_nul)
            for (const char *role; (role = word_next(&s, ", ", &n));)
                role_add(&out, role, n);
    }
    return buf_keep_whole(&out, a);
}

static const char *claim_text(arena *a, const json_doc *d, const char *name)
{
    const json_node *v = claim_find(a, d, name);
    const char *s = json_text(a, d, v);
    return s && !v->has_nul && identity_id_valid(s) ? s : NULL;
}

static bool claims_identity(const oidc *o, arena *a, const json_doc *d, identity *out,
                            const char **why)
{
    const char *claim = given(o->cfg->oidc_user_claim) ? o->cfg->oidc_user_claim : "sub";
    const char *roles = given(o->cfg->oidc_roles_claim) ? o->cfg->oidc_roles_claim : "roles";
    out->user = claim_text(a, d, claim);
    if (!out->user) {
        *why = "the token does not name a user";
        return false;
    }
    /* Until it is verified, an account may contain any address. */
    if (strcmp(claim, "email") == 0 &&
        json_is(json_get(d, &d->nodes[0], "email_verified"), JSON_FALSE)) {
        *why = "the token's email is not verified";
        return false;
    }
    out->client = claim_text(a, d, "client_id");
    if (!out->client)
        out->client = claim_text(a, d, "azp");
    out->roles = roles_read(a, d, claim_find(a, d, roles));
    if (!out->roles)
        *why = "the token has too many roles";
    return out->roles != NULL;
}

auth_verdict oidc_identify(oidc *o, arena *a, const char *token, identity *out, const char **why)
{
    json_doc claims;
    auth_verdict v = token_check(o, a, token, o->audience, &claims, why);
    if (v == AUTH_OK && !claims_identity(o, a, &claims, out, why))
        v = AUTH_REFUSED;
    return v;
}

/* ------------------------------------------------------------------ the code flow */

const char *oidc_authorize(oidc *o, arena *a, const oidc_start *in, const char **why)
{
    endpoints found;
    if (!endpoints_get(o, &found, why))
        return NULL;
    const char *url = arena_printf(
        a,
        "%s%cresponse_type=code&scope=openid%%20profile%%20email&client_id=%s&redirect_uri=%s"
        "&state=%s&nonce=%s&code_challenge=%s&code_challenge_method=S256",
        found.authorize, strchr(found.authorize, '?') ? '&' : '?',
        form_encode(a, o->cfg->oidc_client_id), form_encode(a, in->redirect),
        form_encode(a, in->state), form_encode(a, in->nonce), form_encode(a, in->challenge));
    endpoints_release(&found);
    return url;
}

/* Exchanges a code for an id_token. */
static auth_verdict code_redeem(oidc *o, arena *a, const oidc_code *in, const char **token,
                                const char **why)
{
    endpoints found;
    if (!endpoints_get(o, &found, why))
        return AUTH_UNAVAILABLE;
    const char *id = form_encode(a, o->cfg->oidc_client_id), *secret = NULL;
    if (given(o->cfg->oidc_client_secret))
        secret = form_encode(a, o->cfg->oidc_client_secret);
    fetch ask = {.url = found.token};
    ask.form = arena_printf(
        a, "grant_type=authorization_code&code=%s&redirect_uri=%s&code_verifier=%s&client_id=%s",
        form_encode(a, in->code), form_encode(a, in->redirect), form_encode(a, in->verifier), id);
    if (secret && found.secret_in_form) {
        ask.form = arena_printf(a, "%s&client_secret=%s", ask.form, secret);
    } else if (secret) {
        ask.user = id;
        ask.password = secret;
    }
    buf body;
    json_doc d;
    *token = NULL;
    if (fetch_run(&ask, &body, why)) {
        *why = "the issuer's answer to the code holds no id_token";
        const char *text = arena_memdup(a, body.data, body.n);
        if (json_parse(a, text, body.n, 32, &d, NULL))
            *token = json_text(a, &d, json_get(&d, &d.nodes[0], "id_token"));
    }
    buf_release(&body);
    endpoints_release(&found);
    if (*token)
        return AUTH_OK;
    return ask.status >= 400 && ask.status < 500 ? AUTH_REFUSED : AUTH_UNAVAILABLE;
}

auth_verdict oidc_exchange(oidc *o, arena *a, const oidc_code *in, identity *out, const char **why)
{
    json_doc claims;
    const char *token, *client = o->cfg->oidc_client_id;
    auth_verdict v = code_redeem(o, a, in, &token, why);
    if (v == AUTH_OK)
        v = token_check(o, a, token, client, &claims, why);
    if (v != AUTH_OK)
        return v;
    const char *nonce = claim_text(a, &claims, "nonce"), *azp = claim_text(a, &claims, "azp");
    size_t n = strlen(in->nonce);
    if (!nonce || strlen(nonce) != n || CRYPTO_memcmp(nonce, in->nonce, n) != 0) {
        *why = "the id_token is not of this sign-in";
        return AUTH_REFUSED;
    }
    if (azp && strcmp(azp, client) != 0) {
        *why = "the id_token was given to another client";
        return AUTH_REFUSED;
    }
    return claims_identity(o, a, &claims, out, why) ? AUTH_OK : AUTH_REFUSED;
}

/* ------------------------------------------------------------------ begin and end */

static bool settings_check(const server_config *cfg, oidc *o, char *message)
{
    o->audience = given(cfg->oidc_audience) ? cfg->oidc_audience : cfg->oidc_client_id;
    o->algorithms =
        given(cfg->oidc_algorithms) ? jwt_algorithms(cfg->oidc_algorithms) : (unsigned)JWT_ALL;
    if (!given(cfg->oidc_issuer) || !fetch_is_url(cfg->oidc_issuer))
        snprintf(message, AUTH_MESSAGE, "auth oidc needs oidc-issuer, an http(s) URL");
    else if (!given(o->audience))
        snprintf(message, AUTH_MESSAGE, "auth oidc needs oidc-audience, or oidc-client-id");
    else if (!o->algorithms)
        snprintf(message, AUTH_MESSAGE,
                 "oidc-algorithms is '%.80s'; it may list RS256, RS384, RS512, PS256, PS384, "
                 "PS512, ES256, ES384 and ES512",
                 cfg->oidc_algorithms);
    else if (given(cfg->oidc_redirect) && !fetch_is_url(cfg->oidc_redirect))
        snprintf(message, AUTH_MESSAGE, "oidc-redirect is '%.80s'; it must be an http(s) URL",
                 cfg->oidc_redirect);
    else
        return true;
    return false;
}

oidc *oidc_new(const server_config *cfg, char *message)
{
    oidc *o = xcalloc(1, sizeof *o);
    o->cfg = cfg;
    o->file = given(cfg->oidc_jwks) && !fetch_is_url(cfg->oidc_jwks);
    o->min_us = o->file ? SECOND : cfg->oidc_keys_s * SECOND;
    o->max_us = o->file ? 5 * SECOND : 600 * SECOND;
    o->tried_us = o->got_us = o->endpoints_tried = INT64_MIN / 2;
    pthread_mutex_init(&o->lock, NULL);
    pthread_mutex_init(&o->endpoints_lock, NULL);
    pthread_cond_init(&o->fetched, NULL);
    bool ok = settings_check(cfg, o, message);
    if (ok && o->file) {
        char why[AUTH_MESSAGE];
        o->set = keys_load(o, why);
        o->tried_us = o->got_us = time_mono_us();
        ok = o->set && o->set->n;
        if (!ok)
            snprintf(message, AUTH_MESSAGE, "oidc-jwks: %.100s: %.120s", cfg->oidc_jwks,
                     o->set ? "it holds no key that can be used" : why);
    } else if (ok) {
        pthread_mutex_lock(&o->lock);
        keys_refresh(o);
        pthread_mutex_unlock(&o->lock);
    }
    if (ok)
        return o;
    oidc_free(o);
    return NULL;
}

void oidc_free(oidc *o)
{
    if (!o)
        return;
    jwks_free(o->set);
    endpoints_release(&o->known);
    pthread_mutex_destroy(&o->lock);
    pthread_mutex_destroy(&o->endpoints_lock);
    pthread_cond_destroy(&o->fetched);
    free(o);
}
