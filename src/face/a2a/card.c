/* SPDX-License-Identifier: Apache-2.0
 *
 * card.c: agent cards.
 *
 * A card names every interface that reaches its agent, and what the server asks of clients. There
 * are two forms. The union has the members of 0.3 and those of 1.0 and serves both generations of
 * clients; the pure card has the members of 1.0 only, because a strict client refuses others. A
 * client that names version 1.0 gets the pure one, and so do all if the settings say so.
 *
 * The extended card, for authenticated clients, says what the agent is made of.
 */
#include "face/a2a/a2a_face.h"

#include <string.h>

typedef struct card {
    request *request;
    const char *agent, *about, *url;
    bool kagent, pure, extended;
    const char *kind, *models; /* extended: of the agent; NULL: unknown */
} card;

/* ------------------------------------------------------------------ addresses */

/* The URL of the server, without a slash at the end. */
static const char *server_url(request *q)
{
    const char *base = q->host->public_url, *host = request_header(q, "Host");
    size_t n = base ? strlen(base) : 0;
    while (n && base[n - 1] == '/')
        n--;
    return n ? arena_memdup(q->arena, base, n)
             : arena_printf(q->arena, "http://%s", host && *host ? host : "localhost");
}

const char *a2a_agent_url(request *q, const char *agent, bool kagent)
{
    const char *ns, *name, *front = server_url(q);
    if (!kagent)
        return arena_printf(q->arena, "%s/a2a/%s", front, face_escape(q, agent));
    a2a_agent_split(q->arena, agent, &ns, &name);
    return arena_printf(q->arena, "%s/api/a2a/%s/%s", front, face_escape(q, ns),
                        face_escape(q, name));
}

/* "HOST:PORT". NULL: gRPC is off, or the server is below a path, where gRPC cannot be. */
static const char *grpc_target(request *q)
{
    const char *url = server_url(q), *host = strstr(url, "://");
    if (!q->host->grpc || !host || strchr(host + 3, '/'))
        return NULL;
    host += 3;
    const char *after = *host == '[' ? strchr(host, ']') : host;
    if (after && strchr(after, ':'))
        return host;
    return arena_printf(q->arena, "%s:%s", host, strncmp(url, "https", 5) == 0 ? "443" : "80");
}

static void interface_write(json_writer *w, const char *url, const char *binding,
                            const char *tenant, const char *version)
{
    jw_object(w);
    jw_kstr(w, "url", url);
    jw_kstr(w, "protocolBinding", binding);
    if (tenant)
        jw_kstr(w, "tenant", tenant);
    jw_kstr(w, "protocolVersion", version);
    jw_end_object(w);
}

static void interfaces_write(json_writer *w, const card *c)
{
    request *q = c->request;
    const char *target = c->kagent ? NULL : grpc_target(q);
    jw_key(w, "supportedInterfaces");
    jw_array(w);
    interface_write(w, c->url, "JSONRPC", NULL, "1.0");
    if (!c->kagent)
        interface_write(w, arena_printf(q->arena, "%s/v1", c->url), "HTTP+JSON", NULL, "1.0");
    if (target)
        interface_write(w, target, "GRPC", c->agent, "1.0");
    interface_write(w, c->url, "JSONRPC", NULL, "0.3");
    jw_end_array(w);
}

/* ------------------------------------------------------------------ members */

static void text_modes(json_writer *w, const char *key)
{
    jw_key(w, key);
    jw_array(w);
    jw_str(w, "text");
    jw_str(w, "text/plain");
    jw_end_array(w);
}

static void extension_write(json_writer *w)
{
    jw_key(w, "extensions");
    jw_array(w);
    jw_object(w);
    jw_kstr(w, "uri", A2A_REWIND_URI);
    jw_kstr(w, "description",
            "A message whose metadata names an invocation rewinds its context to before that one");
    jw_kbool(w, "required", false);
    jw_key(w, "params");
    jw_object(w);
    jw_kstr(w, "metadataKey", A2A_REWIND_KEY);
    jw_kstr(w, "forkPath", "/api/sessions/{session_id}/fork");
    jw_end_object(w);
    jw_end_object(w);
    jw_end_array(w);
}

static void capabilities_write(json_writer *w, const card *c)
{
    jw_key(w, "capabilities");
    jw_object(w);
    jw_kbool(w, "streaming", true);
    jw_kbool(w, "pushNotifications", true);
    if (!c->pure)
        jw_kbool(w, "stateTransitionHistory", false);
    jw_kbool(w, "extendedAgentCard", true);
    extension_write(w);
    jw_end_object(w);
}

static void skill_begin(json_writer *w, const char *id, const char *name, const char *about,
                        const char *tag)
{
    jw_object(w);
    jw_kstr(w, "id", id);
    jw_kstr(w, "name", name);
    jw_kstr(w, "description", about);
    jw_key(w, "tags");
    jw_array(w);
    jw_str(w, tag);
}

static void skill_end(json_writer *w)
{
    jw_end_array(w);
    jw_end_object(w);
}

static void skills_write(json_writer *w, const card *c)
{
    const char *about = c->about;
    if (c->models)
        about = arena_printf(c->request->arena, "%s (models: %s)", about, c->models);
    jw_key(w, "skills");
    jw_array(w);
    skill_begin(w, "chat", "Chat", about, "chat");
    if (c->kind)
        jw_str(w, c->kind);
    skill_end(w);
    if (c->extended) {
        skill_begin(w, "rewind", "Rewind",
                    "Takes a conversation back to before one of its invocations", "history");
        skill_end(w);
    }
    jw_end_array(w);
}

/* The members that 0.3 requires and 1.0 does not know. */
static void old_members(json_writer *w, const card *c)
{
    jw_kstr(w, "protocolVersion", "0.3.0");
    jw_kstr(w, "url", c->url);
    jw_kstr(w, "preferredTransport", "JSONRPC");
    jw_key(w, "additionalInterfaces");
    jw_array(w);
    jw_object(w);
    jw_kstr(w, "url", c->url);
    jw_kstr(w, "transport", "JSONRPC");
    jw_end_object(w);
    jw_end_array(w);
    jw_kbool(w, "supportsAuthenticatedExtendedCard", true);
}

static void bearer_write(json_writer *w, const card *c, bool jwt)
{
    jw_key(w, "bearer");
    jw_object(w);
    if (!c->pure) {
        jw_kstr(w, "type", "http");
        jw_kstr(w, "scheme", "bearer");
        if (jwt)
            jw_kstr(w, "bearerFormat", "JWT");
    }
    jw_key(w, "httpAuthSecurityScheme");
    jw_object(w);
    jw_kstr(w, "scheme", "Bearer");
    if (jwt)
        jw_kstr(w, "bearerFormat", "JWT");
    jw_end_object(w);
    jw_end_object(w);
}

static void issuer_write(json_writer *w, const card *c, const char *issuer)
{
    size_t n = strlen(issuer);
    const char *url = arena_printf(c->request->arena, "%s%s.well-known/openid-configuration",
                                   issuer, n && issuer[n - 1] == '/' ? "" : "/");
    jw_key(w, "oidc");
    jw_object(w);
    if (!c->pure) {
        jw_kstr(w, "type", "openIdConnect");
        jw_kstr(w, "openIdConnectUrl", url);
    }
    jw_key(w, "openIdConnectSecurityScheme");
    jw_object(w);
    jw_kstr(w, "openIdConnectUrl", url);
    jw_end_object(w);
    jw_end_object(w);
}

static void requirement_write(json_writer *w, const card *c, const char *name)
{
    if (!c->pure)
        jw_kraw(w, "security", arena_printf(c->request->arena, "[{\"%s\":[]}]", name));
    jw_kraw(w, "securityRequirements",
            arena_printf(c->request->arena, "[{\"schemes\":{\"%s\":{\"list\":[]}}}]", name));
}

/* With an issuer, a client gets its token there and sends it as a bearer token. */
static void security_write(json_writer *w, const card *c)
{
    const char *issuer = c->request->host->issuer;
    if (!c->request->host->secured)
        return;
    jw_key(w, "securitySchemes");
    jw_object(w);
    bearer_write(w, c, issuer != NULL);
    if (issuer)
        issuer_write(w, c, issuer);
    jw_end_object(w);
    requirement_write(w, c, issuer ? "oidc" : "bearer");
}

/* Names in kagent's cards contain no dashes. */
static const char *card_name(const card *c)
{
    const char *ns, *name = c->agent;
    if (c->kagent)
        a2a_agent_split(c->request->arena, c->agent, &ns, &name);
    char *out = arena_strdup(c->request->arena, name);
    for (char *p = out; c->kagent && *p; p++)
        *p = *p == '-' ? '_' : *p;
    return out;
}

static void card_write(json_writer *w, card *c)
{
    request *q = c->request;
    c->url = a2a_agent_url(q, c->agent, c->kagent);
    c->about = c->about && *c->about ? c->about : "an agent";
    jw_object(w);
    jw_kstr(w, "name", card_name(c));
    jw_kstr(w, "description", c->about);
    jw_kstr(w, "version", q->host->version);
    if (c->extended)
        jw_kstr(w, "documentationUrl", arena_printf(q->arena, "%s/docs", server_url(q)));
    if (!c->pure)
        old_members(w, c);
    security_write(w, c);
    interfaces_write(w, c);
    capabilities_write(w, c);
    text_modes(w, "defaultInputModes");
    text_modes(w, "defaultOutputModes");
    skills_write(w, c);
    jw_end_object(w);
}

/* ------------------------------------------------------------------ answers */

/* Whether the client names version 1.0. A version that is not spoken here gets the union, which
 * says which ones are. */
static bool wants_pure(request *q)
{
    const char *text = request_header(q, "A2A-Version");
    a2a_version version;
    if (!text)
        text = request_query(q, "A2A-Version");
    return q->host->a2a_pure_cards || (a2a_version_of(text, &version) && version == A2A_10);
}

void a2a_card_answer(request *q, const char *agent, const char *about, bool kagent)
{
    card c = {
        .request = q, .agent = agent, .about = about, .kagent = kagent, .pure = wants_pure(q)};
    card_write(&q->writer, &c);
    q->cacheable = true;
    request_add_header(q, "Cache-Control", "public, max-age=60");
    request_add_header(q, "Vary", "A2A-Version, Host");
    face_etag(q, NULL, q->out.data, q->out.n);
    face_done(q);
}

/* What the agent is made of, as GET /agents tells it. */
static void card_extend(card *c)
{
    request *q = c->request;
    arena *a = q->arena;
    json_doc d;
    json_writer w;
    buf b;
    buf_init(&b, (size_t)16 << 20);
    jw_init(&w, &b, 0);
    q->host->agents(q->host->arg, &w);
    const char *json = buf_keep_whole(&b, a);
    if (!json || !json_parse(a, json, strlen(json), SIZE_MAX, &d, NULL))
        return;
    const json_node *root = &d.nodes[0];
    for (const json_node *v = json_first(&d, root); v; v = json_next(&d, root, v)) {
        const json_node *models = json_get(&d, v, "models");
        if (strcmp(json_text(a, &d, json_get(&d, v, "name")), c->agent) != 0)
            continue;
        c->kind = json_text(a, &d, json_get(&d, v, "kind"));
        c->models = json_text(a, &d, json_get(&d, v, "model"));
        for (const json_node *m = json_first(&d, models); m; m = json_next(&d, models, m)) {
            const char *name = json_text(a, &d, m);
            if (name)
                c->models = c->models ? arena_printf(a, "%s, %s", c->models, name) : name;
        }
    }
}

void jsonrpc_card(jsonrpc_call *r)
{
    request *q = r->request;
    a2a_found agent = {0};
    a2a_agent_find(q, r->agent, false, &agent);
    card c = {.request = q,
              .agent = r->agent,
              .about = agent.about,
              .kagent = r->kagent,
              .pure = r->version == A2A_10,
              .extended = true};
    card_extend(&c);
    card_write(jsonrpc_result(r), &c);
    jsonrpc_result_end(r);
}
