/* SPDX-License-Identifier: Apache-2.0
 *
 * auth.c: who asks. One answer for every face; what he may do is core's to say.
 *
 * 1. In the modes `tokens` and `oidc` nothing that a caller says about himself counts, but what his
 *    token says; a user_id that says otherwise is refused.
 * 2. A credential that is there and is not good is refused: the next one is not tried.
 * 3. Why it was refused goes to the log, never to the caller; the credential goes to neither.
 */
#include "identity/auth.h"

#include "face/kit/face.h"
#include "ramet/tokens.h"

#include "base/util.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECRET_MAX JWT_MAX

static const char *const mode_names[] = {"local", "tokens", "oidc"};

bool auth_id_valid(const char *s)
{
    size_t n = strnlen(s, 256);
    if (n < 1 || n > 255)
        return false;
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        size_t step = utf8_next(s + i, n - i, &cp);
        if (!step || cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
            return false;
        i += step;
    }
    return true;
}

bool auth_secure(auth *a, request *q)
{
    /* A client that lies here gets a cookie that its browser does not keep: no harm. */
    const char *proto = q->header(q, "X-Forwarded-Proto");
    return (proto && strcasecmp(proto, "https") == 0) ||
           (a->cfg->oidc_redirect && strncasecmp(a->cfg->oidc_redirect, "https://", 8) == 0);
}

/* ------------------------------------------------------------------ answers */

void auth_refuse(request *q, auth_verdict v, const char *why)
{
    log_line(v == AUTH_REFUSED ? LOG_INFO : LOG_WARN, "not identified", "why", why, "remote",
             q->remote ? q->remote : "", "request", q->id, NULL);
    if (v == AUTH_UNAVAILABLE) {
        request_fail(q, 503, "identity_unavailable", NULL,
                     "who you are cannot be told now; try again");
        request_add_header(q, "Retry-After", "1");
        return;
    }
    request_fail(q, 401, "unauthenticated", NULL, "the token is unknown, expired or revoked");
    request_add_header(q, "WWW-Authenticate", "Bearer realm=\"ramet\", error=\"invalid_token\"");
}

static bool refuse_missing(request *q, const char *what)
{
    request_fail(q, 401, "unauthenticated", NULL, "%s", what);
    request_add_header(q, "WWW-Authenticate", "Bearer realm=\"ramet\"");
    return false;
}

static bool refuse_id(request *q, const char *field)
{
    request_fail(q, 400, "invalid_id", field,
                 "%s must be 1 to 255 bytes of UTF-8 without control characters", field);
    return false;
}

/* ------------------------------------------------------------------ what a request says */

/* The text of "Authorization: Bearer …"; NULL when it is another scheme, or empty. */
static const char *bearer_text(request *q)
{
    const char *s = q->header(q, "Authorization");
    /* AgentPod's clients may put it into the query where they cannot send headers. */
    const char *asked = q->face && q->face->who == WHO_AGENTPOD ? request_query(q, "token") : NULL;
    if (!s && asked && *asked)
        return asked;
    if (!s || strncasecmp(s, "Bearer", 6) != 0 || s[6] != ' ')
        return NULL;
    s += 6 + strspn(s + 6, " ");
    size_t n = strlen(s);
    while (n && s[n - 1] == ' ')
        n--;
    return n ? arena_memdup(q->a, s, n) : NULL;
}

static const char *key_text(request *q)
{
    const char *s = q->header(q, "X-API-Key");
    return s && *s ? s : NULL;
}

const char *auth_secret(request *q)
{
    const char *bearer = bearer_text(q);
    return bearer ? bearer : key_text(q);
}

/* False: the answer is filled. */
static bool query_user(request *q, const char **out)
{
    const char **all = NULL;
    size_t n = request_query_all(q, "user_id", &all);
    *out = n ? all[0] : NULL;
    if (n < 2)
        return true;
    request_fail(q, 400, "invalid_request", "user_id", "user_id stands there more than once");
    return false;
}

/* ------------------------------------------------------------------ roles */

/* Names parted by commas; one with a * at the end stands for all that begin with the rest. */
static bool list_has(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *p = list ? list : ""; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ",");
        const char *next = p + n;
        while (n && p[n - 1] == ' ')
            n--;
        bool prefix = n && p[n - 1] == '*';
        if (prefix ? len >= n - 1 && strncmp(p, name, n - 1) == 0
                   : n && len == n && strncmp(p, name, n) == 0)
            return true;
        p = next;
    }
    return false;
}

/* A role as such: no * in it means anything. */
static bool roles_have(const char *roles, const char *role)
{
    size_t len = strlen(role);
    for (const char *p = roles; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", ");
        if (n == len && strncmp(p, role, n) == 0)
            return true;
        p += n;
    }
    return false;
}

static bool role_fill(request *q, const char *role, bool listed)
{
    if (roles_have(q->who.roles, role))
        return true;
    if (!listed)
        return false;
    q->who.roles = arena_printf(q->a, "%s%s%s", q->who.roles, *q->who.roles ? "," : "", role);
    return true;
}

/* Fills q->who. */
static bool who_fill(auth *a, request *q, const identity *id)
{
    const char *client = q->header(q, "X-Client-ID"), *share = q->header(q, "X-Ramet-Share");
    if (client && !*client)
        client = NULL;
    if (client && !auth_id_valid(client))
        return refuse_id(q, "X-Client-ID");
    if ((!share || !*share) && q->face->who == WHO_KAGENT)
        share = q->header(q, "X-Share-Token");
    if (!share || !*share)
        share = request_query(q, "share");
    q->who.user = id->user;
    q->who.client = id->client ? id->client : client;
    q->who.roles = id->roles ? id->roles : "";
    q->who.share = share && *share ? share : NULL;
    /* Whose machine it is looks after its store, unless somebody else is named for it. */
    bool own =
        a->mode == MODE_LOCAL && !*a->cfg->admins && strcmp(q->who.user, a->cfg->default_user) == 0;
    q->who.admin = role_fill(q, "admin", own || list_has(a->cfg->admins, q->who.user));
    q->who.auditor = role_fill(q, "auditor", list_has(a->cfg->auditors, q->who.user));
    q->who.indexer = role_fill(q, "indexer", list_has(a->cfg->indexers, q->who.user));
    return true;
}

/* ------------------------------------------------------------------ agents that ask */

/* X-Agent-Name where it is heard; NULL: none. */
static const char *agent_header(request *q)
{
    const char *s = q->face->who == WHO_KAGENT ? q->header(q, "X-Agent-Name") : NULL;
    return s && *s ? s : NULL;
}

/* The agent itself asks, for `user` or (NULL) in nobody's name. */
static bool agent_fill(auth *a, request *q, const char *name, const char *user,
                       const identity *token)
{
    if (!auth_id_valid(name))
        return refuse_id(q, "X-Agent-Name");
    if (user && !*user)
        user = NULL;
    if (user && !auth_id_valid(user))
        return refuse_id(q, "user_id");
    identity id = {.user = user ? user : name, .client = token ? token->client : NULL};
    q->who.agent = name;
    q->who.as_agent = token || !user;
    q->who.no_user = !user;
    q->who.named = user != NULL;
    return who_fill(a, q, &id);
}

/* ------------------------------------------------------------------ local */

static bool local_identify(auth *a, request *q)
{
    const char *bearer = bearer_text(q), *key = key_text(q), *header = q->header(q, "X-User-Id");
    const char *query = NULL, *otherwise = a->cfg->default_user;
    /* There a key names the application, and a user that it is trusted to name may be any. */
    const char *client = q->face->who == WHO_MEMORY ? key : NULL;
    if (client && !auth_id_valid(client))
        return refuse_id(q, "X-API-Key");
    if (client && header && list_has(a->cfg->trusted_clients, client))
        bearer = header;
    if (!query_user(q, &query))
        return false;
    const char *name = agent_header(q);
    if (name)
        return agent_fill(a, q, name, query ? query : header, NULL);
    q->who.named = query || header;
    struct {
        const char *value, *field;
    } order[4] = {{bearer, "Authorization"}, {query, "user_id"}, {header, "X-User-Id"}};
    if (otherwise && *otherwise)
        order[3].value = otherwise;
    if (q->face->who == WHO_KAGENT) {
        order[0].value = query, order[0].field = "user_id";
        order[1].value = header, order[1].field = "X-User-Id";
        order[2].value = bearer, order[2].field = "Authorization";
    } else if (q->face->who == WHO_MEMORY) {
        order[1].value = order[2].value = order[3].value = NULL;
    }
    for (int i = 0; i < 4; i++)
        if (order[i].value) {
            if (!auth_id_valid(order[i].value))
                return refuse_id(q, order[i].field ? order[i].field : "default-user");
            return who_fill(a, q, &(identity){.user = order[i].value, .client = client});
        }
    if (q->face->who == WHO_MEMORY)
        return refuse_missing(q, key && !q->header(q, "Authorization")
                                     ? "user authentication required"
                                     : "missing credentials");
    return refuse_missing(q, "the request does not say who asks");
}

/* ------------------------------------------------------------------ tokens and oidc */

auth_verdict auth_token(auth *a, arena *ar, const char *secret, identity *out, const char **why)
{
    ramet_token *t = NULL;
    ramet_call *c = ramet_call_new(a->store, NULL, NULL);
    ramet_status st = ramet_token_check(c, secret, &t);
    if (st == RAMET_OK)
        *out = (identity){arena_strdup(ar, t->user), arena_strdup(ar, t->client),
                          t->roles ? arena_strdup(ar, t->roles) : ""};
    else
        *why = arena_strdup(ar, ramet_call_error(c)->message);
    ramet_call_free(c);
    if (st == RAMET_OK)
        return AUTH_OK;
    return ramet_status_http(st) < 500 ? AUTH_REFUSED : AUTH_UNAVAILABLE;
}

static auth_verdict secret_identify(auth *a, request *q, const char *secret, identity *out,
                                    const char **why)
{
    *why = "the credential is too long";
    if (strnlen(secret, SECRET_MAX + 1) > SECRET_MAX)
        return AUTH_REFUSED;
    if (a->mode == MODE_TOKENS)
        return auth_token(a, q->a, secret, out, why);
    return oidc_identify(a->issuer, q->a, secret, out, why);
}

/* A user that the request names must be the token's. */
static bool user_agrees(request *q, const identity *id)
{
    const char *query = NULL, *header = q->header(q, "X-User-Id");
    if (q->face->who == WHO_MEMORY)
        return true;
    if (!query_user(q, &query))
        return false;
    if ((!query || strcmp(query, id->user) == 0) && (!header || strcmp(header, id->user) == 0))
        return true;
    request_fail(q, 403, "forbidden",
                 query && strcmp(query, id->user) != 0 ? "user_id" : "X-User-Id",
                 "the token belongs to another user");
    return false;
}

static bool secret_check(auth *a, request *q)
{
    identity id = {0};
    const char *why = "";
    cookie_session session;
    const char *secret = auth_secret(q);
    auth_verdict v = AUTH_OK;
    if (secret)
        v = secret_identify(a, q, secret, &id, &why);
    else if (!cookie_session_read(a->jar, q->a, q->header(q, "Cookie"), auth_secure(a, q),
                                  &session))
        return refuse_missing(q, "a token is needed: Authorization: Bearer …, or X-API-Key");
    else if (session.token)
        v = secret_identify(a, q, session.token, &id, &why);
    else
        id = session.who;
    if (v != AUTH_OK) {
        auth_refuse(q, v, why);
        return false;
    }
    const char *name = agent_header(q), *user = NULL;
    if (name && roles_have(id.roles ? id.roles : "", "agent")) {
        if (!query_user(q, &user))
            return false;
        return agent_fill(a, q, name, user ? user : q->header(q, "X-User-Id"), &id);
    }
    q->who.agent = name;
    q->who.named = true;
    user = q->header(q, "X-User-Id");
    if (q->face->who == WHO_MEMORY && user && *user && id.client &&
        list_has(a->cfg->trusted_clients, id.client)) {
        if (!auth_id_valid(user))
            return refuse_id(q, "X-User-ID");
        id.user = user;
        id.roles = NULL;
    }
    return user_agrees(q, &id) && who_fill(a, q, &id);
}

bool auth_identify(auth *a, request *q)
{
    q->who = (request_caller){.mode = mode_names[a->mode]};
    return a->mode == MODE_LOCAL ? local_identify(a, q) : secret_check(a, q);
}

/* ------------------------------------------------------------------ begin and end */

void auth_port(auth *a, int port)
{
    __atomic_store_n(&a->port, port, __ATOMIC_RELAXED);
}

static bool host_read(const char *listen, char *host, size_t size)
{
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : 0;
    if (n >= 2 && listen[0] == '[' && listen[n - 1] == ']') {
        listen++;
        n -= 2;
    }
    if (!n || n >= size)
        return false;
    memcpy(host, listen, n);
    host[n] = 0;
    return true;
}

static bool auth_begin(auth *a, char *message)
{
    const server_config *cfg = a->cfg;
    for (size_t i = 0; i < sizeof mode_names / sizeof *mode_names; i++)
        if (strcmp(cfg->auth, mode_names[i]) == 0)
            a->mode = (auth_mode)i;
    char grpc[sizeof a->host] = "";
    bool own = cfg->grpc && *cfg->grpc, fine = host_read(cfg->listen, a->host, sizeof a->host);
    if (!fine || (own && !host_read(cfg->grpc, grpc, sizeof grpc))) {
        snprintf(message, AUTH_MESSAGE, "%s is '%.80s'; it must be ADDR:PORT",
                 fine ? "grpc" : "listen", fine ? cfg->grpc : cfg->listen);
        return false;
    }
    a->port = (int)strtol(strrchr(cfg->listen, ':') + 1, NULL, 10);
    if (a->mode == MODE_LOCAL) {
        bool loop = auth_is_loopback(a->host);
        if (!loop || (own && !auth_is_loopback(grpc))) {
            snprintf(message, AUTH_MESSAGE,
                     "auth local takes everyone for who he says he is, so it listens on loopback "
                     "only, not on %.63s; use auth tokens or oidc",
                     loop ? grpc : a->host);
            return false;
        }
        if (auth_any_origin(cfg->cors)) {
            snprintf(message, AUTH_MESSAGE,
                     "cors-origins is *, which would open auth local to every web page; name the "
                     "origins, or use auth tokens or oidc");
            return false;
        }
        if (cfg->default_user && *cfg->default_user && !auth_id_valid(cfg->default_user)) {
            snprintf(message, AUTH_MESSAGE, "default-user must be 1 to 255 bytes of UTF-8");
            return false;
        }
        return true;
    }
    a->jar = cookies_new(a->store, cfg->cookie_key, message);
    if (a->jar && a->mode == MODE_OIDC)
        a->issuer = oidc_new(cfg, message);
    return a->jar && (a->mode != MODE_OIDC || a->issuer);
}

auth *auth_new(const server_config *cfg, ramet *store, char *message)
{
    auth *a = xcalloc(1, sizeof *a);
    a->cfg = cfg;
    a->store = store;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    if (auth_begin(a, message))
        return a;
    auth_free(a);
    return NULL;
}

void auth_free(auth *a)
{
    if (!a)
        return;
    oidc_free(a->issuer);
    cookies_free(a->jar);
    free(a);
    curl_global_cleanup();
}
