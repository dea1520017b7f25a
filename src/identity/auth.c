/* SPDX-License-Identifier: Apache-2.0
 *
 * auth.c: identifies the caller of a request: which credential it carries, who owns it, and which
 * roles that user has. What a protocol does differently is in its identity_rule (rule.h); core
 * decides what a user may do with a session.
 *
 * Invariants
 *   A1  In the modes `tokens` and `oidc` only the credential names the user. A request that names
 *       another one is refused, unless the rule lets a trusted client act for it.
 *   A2  A credential that is present and invalid is refused; no other credential is tried.
 *   A3  The reason goes to the log, never to the caller. The credential goes to neither.
 *   A4  A request that asks for the rights of its share link alone has no others: no other
 *       credential of it is read, in any mode.
 */
#include "identity/auth.h"

#include "ramet/tokens.h"

#include "base/util.h"
#include "base/words.h"

#include <assert.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SECRET_MAX JWT_MAX

static const char *const mode_names[] = {"local", "tokens", "oidc"};

bool identity_id_valid(const char *s)
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
    /* A client that lies here gets a cookie that its browser does not store, which is harmless. */
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

static bool refuse_stranger(request *q, const char *message)
{
    request_fail(q, 401, "unauthenticated", NULL, "%s", message);
    request_add_header(q, "WWW-Authenticate", "Bearer realm=\"ramet\"");
    return false;
}

bool identity_refuse_id(request *q, const char *field)
{
    request_fail(q, 400, "invalid_id", field,
                 "%s must be 1 to 255 bytes of UTF-8 without control characters", field);
    return false;
}

/* ------------------------------------------------------------------ what a request carries */

static const char *header_text(request *q, const char *name)
{
    const char *s = name ? q->header(q, name) : NULL;
    return s && *s ? s : NULL;
}

/* The text of "Authorization: Bearer …"; NULL if the scheme differs or it is empty. The origin of a
 * request is checked before its route is known, when it has no rule yet. */
static const char *bearer_text(request *q)
{
    const char *s = q->header(q, "Authorization");
    const char *parameter = q->identity_rule ? q->identity_rule->token_parameter : NULL;
    const char *in_query = parameter ? request_query(q, parameter) : NULL;
    if (!s && in_query && *in_query)
        return in_query;
    if (!s || strncasecmp(s, "Bearer", 6) != 0 || s[6] != ' ')
        return NULL;
    s += 6 + strspn(s + 6, " ");
    size_t n = strlen(s);
    while (n && s[n - 1] == ' ')
        n--;
    return n ? arena_memdup(q->arena, s, n) : NULL;
}

const char *identity_api_key(request *q)
{
    return header_text(q, "X-API-Key");
}

const char *auth_secret(request *q)
{
    const char *bearer = bearer_text(q);
    return bearer ? bearer : identity_api_key(q);
}

/* False: the answer is filled in. */
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

/* Whether a comma-separated list contains the name; an item that ends in * matches every name that
 * begins with the rest. */
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

bool identity_has_role(const request_caller *caller, unsigned roles)
{
    if (caller->link)
        return roles & ROLE_LINK;
    return caller->mode && ((roles & ROLE_USER) || ((roles & ROLE_CLIENT) && caller->client) ||
                            ((roles & ROLE_ADMIN) && caller->admin) ||
                            ((roles & ROLE_AUDITOR) && caller->auditor) ||
                            ((roles & ROLE_INDEXER) && caller->indexer));
}

bool identity_client_trusted(const auth *a, const char *client)
{
    return list_has(a->cfg->trusted_clients, client);
}

static bool role_fill(request *q, const char *role, bool listed)
{
    if (word_in(q->caller.roles, ", ", role))
        return true;
    if (!listed)
        return false;
    q->caller.roles =
        arena_printf(q->arena, "%s%s%s", q->caller.roles, *q->caller.roles ? "," : "", role);
    return true;
}

/* The token of the request's share link; NULL: none. */
static const char *share_token(request *q)
{
    const char *share = header_text(q, "X-Ramet-Share");
    if (!share)
        share = header_text(q, q->identity_rule->share_header);
    if (!share)
        share = request_query(q, "share");
    return share && *share ? share : NULL;
}

/* Fills q->caller. */
static bool caller_fill(auth *a, request *q, const identity *id)
{
    const char *client = header_text(q, "X-Client-ID");
    if (client && !identity_id_valid(client))
        return identity_refuse_id(q, "X-Client-ID");
    q->caller.user = id->user;
    q->caller.client = id->client ? id->client : client;
    q->caller.roles = id->roles ? id->roles : "";
    q->caller.share = share_token(q);
    /* In local mode the default user owns the machine, and administers the store unless the setting
     * names another user. */
    bool own = a->mode == MODE_LOCAL && !*a->cfg->admins &&
               strcmp(q->caller.user, a->cfg->default_user) == 0;
    q->caller.admin = role_fill(q, "admin", own || list_has(a->cfg->admins, q->caller.user));
    q->caller.auditor = role_fill(q, "auditor", list_has(a->cfg->auditors, q->caller.user));
    q->caller.indexer = role_fill(q, "indexer", list_has(a->cfg->indexers, q->caller.user));
    return true;
}

/* ------------------------------------------------------------------ agents as callers */

/* The agent itself is the caller: for `user`, or (NULL) on its own. */
static bool agent_fill(auth *a, request *q, const char *name, const char *user,
                       const identity *token)
{
    if (!identity_id_valid(name))
        return identity_refuse_id(q, q->identity_rule->agent_header);
    if (user && !*user)
        user = NULL;
    if (user && !identity_id_valid(user))
        return identity_refuse_id(q, "user_id");
    identity id = {.user = user ? user : name, .client = token ? token->client : NULL};
    q->caller.agent = name;
    q->caller.as_agent = token || !user;
    q->caller.no_user = !user;
    q->caller.named = user != NULL;
    return caller_fill(a, q, &id);
}

/* ------------------------------------------------------------------ share links alone */

static bool wants_link_alone(request *q)
{
    const char *only = header_text(q, "X-Ramet-Share-Only");
    if (!only)
        only = request_query(q, "share_only");
    return q->identity_rule->link_alone && only && strcmp(only, "true") == 0;
}

/* The link itself is the credential: no other credential is read, so that a page opened by a
 * link can do what the link allows and nothing else, in every mode. Its user is made from the link
 * and is a member of nothing. */
static bool link_identify(auth *a, request *q)
{
    const char *client = header_text(q, "X-Client-ID"), *token = share_token(q);
    ramet_share *share = NULL;
    if (client && !identity_id_valid(client))
        return identity_refuse_id(q, "X-Client-ID");
    if (!token) {
        request_fail(q, 400, "invalid_request", "share",
                     "X-Ramet-Share-Only needs the token of a share link in X-Ramet-Share");
        return false;
    }
    ramet_call *c = ramet_call_new(a->store, "link:", NULL);
    ramet_status st = ramet_call_share(c, token, &share);
    if (st == RAMET_OK)
        q->caller.user = arena_printf(q->arena, "link:%s", share->id);
    else
        request_fail(q, ramet_status_http(st), ramet_status_code(st), "share", "%s",
                     ramet_call_error(c)->message);
    ramet_call_free(c);
    q->caller.client = client;
    q->caller.roles = "";
    q->caller.share = token;
    q->caller.link = true;
    return st == RAMET_OK;
}

/* ------------------------------------------------------------------ local */

/* The user that one source of a rule names; *field is the source's name in an error. */
static const char *source_user(auth *a, request *q, user_source from, const char *query,
                               const char **field)
{
    switch (from) {
    case USER_FROM_BEARER:
        *field = "Authorization";
        return bearer_text(q);
    case USER_FROM_QUERY:
        *field = "user_id";
        return query;
    case USER_FROM_HEADER:
        *field = "X-User-Id";
        return q->header(q, "X-User-Id");
    case USER_FROM_SETTING:
        *field = "default-user";
        return a->cfg->default_user && *a->cfg->default_user ? a->cfg->default_user : NULL;
    case USER_FROM_NOTHING:
        break;
    }
    return NULL;
}

static bool local_identify(auth *a, request *q)
{
    const identity_rule *rule = q->identity_rule;
    const char *header = q->header(q, "X-User-Id"), *query = NULL, *field = "X-User-Id";
    identity id = {0};
    if (rule->claim && !rule->claim(a, q, &id))
        return false;
    if (!query_user(q, &query))
        return false;
    const char *agent = header_text(q, rule->agent_header);
    if (agent)
        return agent_fill(a, q, agent, query ? query : header, NULL);
    q->caller.named = query || header;
    for (const user_source *from = rule->local_order; !id.user && *from; from++)
        id.user = source_user(a, q, *from, query, &field);
    if (!id.user)
        return refuse_stranger(q, rule->stranger ? rule->stranger(q)
                                                 : "the request does not say who asks");
    return identity_id_valid(id.user) ? caller_fill(a, q, &id) : identity_refuse_id(q, field);
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
        return auth_token(a, q->arena, secret, out, why);
    return oidc_identify(a->issuer, q->arena, secret, out, why);
}

/* A user named by the request must be the token's. */
static bool user_agrees(request *q, const identity *id)
{
    const char *query = NULL, *header = q->header(q, "X-User-Id");
    if (!query_user(q, &query))
        return false;
    if ((!query || strcmp(query, id->user) == 0) && (!header || strcmp(header, id->user) == 0))
        return true;
    request_fail(q, 403, "forbidden",
                 query && strcmp(query, id->user) != 0 ? "user_id" : "X-User-Id",
                 "the token belongs to another user");
    return false;
}

/* Finds the owner of a request's credential: its token, or the cookie of a signed-in browser.
 * False: the answer is filled in. */
static bool credential_check(auth *a, request *q, identity *id)
{
    const char *why = "", *secret = auth_secret(q);
    cookie_session session;
    auth_verdict v = AUTH_OK;
    if (secret)
        v = secret_identify(a, q, secret, id, &why);
    else if (!cookie_session_read(a->jar, q->arena, q->header(q, "Cookie"), auth_secure(a, q),
                                  &session))
        return refuse_stranger(q, "a token is needed: Authorization: Bearer …, or X-API-Key");
    else if (session.token)
        v = secret_identify(a, q, session.token, id, &why);
    else
        *id = session.identity;
    if (v != AUTH_OK)
        auth_refuse(q, v, why);
    return v == AUTH_OK;
}

static bool verified_identify(auth *a, request *q)
{
    const identity_rule *rule = q->identity_rule;
    identity id = {0};
    if (!credential_check(a, q, &id))
        return false;
    const char *agent = header_text(q, rule->agent_header), *user = NULL;
    if (agent && word_in(id.roles, ", ", "agent")) {
        if (!query_user(q, &user))
            return false;
        return agent_fill(a, q, agent, user ? user : q->header(q, "X-User-Id"), &id);
    }
    q->caller.agent = agent;
    q->caller.named = true;
    return (rule->act ? rule->act(a, q, &id) : user_agrees(q, &id)) && caller_fill(a, q, &id);
}

bool auth_identify(auth *a, request *q)
{
    assert(q->identity_rule);
    q->caller = (request_caller){.mode = mode_names[a->mode]};
    if (wants_link_alone(q))
        return link_identify(a, q);
    return a->mode == MODE_LOCAL ? local_identify(a, q) : verified_identify(a, q);
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
        if (cfg->default_user && *cfg->default_user && !identity_id_valid(cfg->default_user)) {
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
