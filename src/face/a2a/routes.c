/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: the routes of A2A over JSON-RPC: /a2a/{agent}, and the path of kagent's controller,
 * /api/a2a/{namespace}/{name}. The two differ in the interfaces of the card, in how clients are
 * identified, and in the keys of metadata.
 */
#include "face/a2a/a2a_face.h"

#include <string.h>

/* ------------------------------------------------------------------ which agent */

bool a2a_agent_find(request *q, const char *id, bool kagent, a2a_found *out)
{
    const face_host *host = q->host;
    const char *name;
    for (size_t i = 0; (name = host->agent_name(host->arg, i)); i++) {
        if (strcmp(kagent ? a2a_agent_id(q->arena, name) : name, id) != 0)
            continue;
        *out = (a2a_found){name, host->agent_about(host->arg, i)};
        return true;
    }
    return false;
}

bool a2a_root_find(request *q, a2a_found *out)
{
    const face_host *host = q->host;
    const char *name = *host->a2a_root ? host->a2a_root : host->agent_default(host->arg);
    return a2a_agent_find(q, name, false, out);
}

static bool agent_of(request *q, bool kagent, a2a_found *out)
{
    const char *ns = kagent ? face_path(q, "namespace") : NULL;
    const char *name = face_path(q, kagent ? "name" : "agent");
    const char *id = kagent ? a2a_agent_id_of(q->arena, ns, name) : name;
    if (a2a_agent_find(q, id, kagent, out))
        return true;
    buf_clear(&q->out);
    q->status = 404;
    q->type = "text/plain; charset=utf-8";
    buf_printf(&q->out, "Agent %s%s%s not found\n", kagent ? ns : "", kagent ? "/" : "", name);
    return false;
}

/* ------------------------------------------------------------------ routes */

/* Whether the path is the endpoint itself, or a path under it that ends like that of a card. */
static bool card_is_meant(const request *q, size_t own)
{
    if (q->n_segments == own || (q->n_segments == own + 1 && !*q->segments[own]))
        return true;
    const char *last = q->segments[q->n_segments - 1];
    return q->n_segments >= own + 2 && strcmp(q->segments[q->n_segments - 2], ".well-known") == 0 &&
           (strcmp(last, "agent-card.json") == 0 || strcmp(last, "agent.json") == 0);
}

static void card_get(request *q, bool kagent)
{
    a2a_found agent;
    if (!agent_of(q, kagent, &agent))
        return;
    if (card_is_meant(q, kagent ? 4 : 2))
        a2a_card_answer(q, agent.name, agent.about, kagent);
    else
        request_fail(q, 404, "not_found", NULL,
                     "there is nothing at this path; the card is at .well-known/agent-card.json");
}

static void plain_card(request *q)
{
    card_get(q, false);
}

static void kagent_card(request *q)
{
    card_get(q, true);
}

static void root_card(request *q)
{
    a2a_found agent;
    if (a2a_root_find(q, &agent))
        a2a_card_answer(q, agent.name, agent.about, false);
    else
        request_fail(q, 404, "not_found", NULL, "there is no agent");
}

static void call_post(request *q, bool kagent)
{
    a2a_found agent;
    if (agent_of(q, kagent, &agent))
        jsonrpc_run(q, agent.name, kagent);
}

static void plain_call(request *q)
{
    call_post(q, false);
}

static void kagent_call(request *q)
{
    call_post(q, true);
}

#define CARD(where, id, handler)                                                                   \
    ROUTE("GET", where, ROLE_ANYONE, .name = id, .group = "A2A", .summary = "Get the agent card",  \
          .about = "At the endpoint itself and any path under it that ends in "                    \
                   "`.well-known/agent-card.json` (or `agent.json`); at the root, the one of the " \
                   "setting `a2a-root`. See docs/a2a.md.",                                         \
          .flags = ROUTE_LOOSE, .success = 200, .run = handler)
#define CALL(where, id, handler)                                                                   \
    ROUTE("POST", where, ROLE_USER, .name = id, .group = "A2A",                                    \
          .summary = "Call an A2A method, 0.3 or 1.0",                                             \
          .about =                                                                                 \
              "One JSON-RPC 2.0 request. `A2A-Version: 1.0` and the methods of 1.0 "               \
              "(`SendMessage`), or no such header and those of 0.3 (`message/send`). Streaming "   \
              "methods answer with server-sent events. See docs/a2a.md.",                          \
          .flags = ROUTE_LOOSE | ROUTE_STREAM, .success = 200, .run = handler)

static const face_route plain_routes[] = {
    CARD("/.well-known/agent-card.json", "a2aRootCard", root_card),
    CARD("/.well-known/agent.json", "a2aRootCardOld", root_card),
    CARD("/a2a/{agent}", "a2aCard", plain_card),
    CALL("/a2a/{agent}", "a2aCall", plain_call),
    CARD("/a2a/{agent}/{*rest}", "a2aCardUnder", plain_card),
    CALL("/a2a/{agent}/{*rest}", "a2aCallUnder", plain_call),
    ROUTES_END};

static const face_route kagent_routes[] = {
    CARD("/api/a2a/{namespace}/{name}", "a2aKagentCard", kagent_card),
    CALL("/api/a2a/{namespace}/{name}", "a2aKagentCall", kagent_call),
    CARD("/api/a2a/{namespace}/{name}/{*rest}", "a2aKagentCardUnder", kagent_card),
    CALL("/api/a2a/{namespace}/{name}/{*rest}", "a2aKagentCallUnder", kagent_call), ROUTES_END};

static const face_param params[] = {
    {"agent", "an agent, by its name in the settings", "echo"},
    {"namespace", "the namespace of an agent; `kagent` if its name has none", "kagent"},
    {"name", "its name in that namespace; a dash may stand for an underscore", "echo"},
    {"*rest", "any path", ".well-known/agent-card.json"},
    {0}};

const face face_a2a = {.name = "a2a",
                       .title = "A2A",
                       .prefix = "/a2a",
                       .identity = &a2a_identity,
                       .about = "Agents over A2A, with their cards.",
                       .routes = plain_routes,
                       .params = params};

const face face_a2a_kagent = {.name = "a2a-kagent",
                              .title = "A2A at kagent's path",
                              .prefix = "/api/a2a",
                              .identity = &a2a_kagent_identity,
                              .about = "Agents over A2A, as kagent's controller has them.",
                              .routes = kagent_routes,
                              .params = params};
