/* SPDX-License-Identifier: Apache-2.0
 *
 * conduct.c: runs under a conductor, which starts the proxy, speaks as the editor, and carries the
 * messages to and from the agent inside `proxy/successor` messages.
 *
 * The two directions share one connection, so a request to the agent gets another id: a prefix
 * followed by the old one. So no table of ids is needed.
 */
#include "acp/own.h"

#include <string.h>

#define AWAY_ID OWN_ID "away:"
static const char *const methods[][2] = {{"proxy/initialize", "proxy/successor"},
                                         {"_proxy/initialize", "_proxy/successor"}};

static const char *away_id(proxy *p, const char *raw)
{
    return json_quote(p->mem, arena_printf(p->mem, AWAY_ID "%s", raw));
}

/* ------------------------------------------------------------------ to the agent */

void conduct_put(proxy *p, const char *line, size_t n)
{
    message m;
    if (message_read(&m, p->mem, line, n) != MESSAGE_FINE)
        return;
    if (!m.method) { /* an answer to a wrapped request: under its original id */
        editor_put(p, line, n);
        return;
    }
    /* A cancellation names a request of the connection that it travels on. */
    const json_node *named = message_at(&m, m.params, "requestId");
    if (strcmp(m.method, "$/cancel_request") == 0 && named) {
        const char *raw = json_raw(p->mem, &m.doc, named);
        bool away = ask_find(p, raw) != NULL;
        splices changes = {0};
        if (away)
            splice_node(&changes, named, away_id(p, raw));
        const char *out = splice_text(&m, &changes, 0, n, &n);
        editor_put(p, out, n);
        return;
    }
    member inside[] = {{"method", json_quote(p->mem, m.method)},
                       {"params", m.params ? json_raw(p->mem, &m.doc, m.params) : NULL}};
    member all[] = {{"jsonrpc", "\"2.0\""},
                    {"id", m.id_raw ? away_id(p, m.id_raw) : NULL},
                    {"method", json_quote(p->mem, p->successor)},
                    {"params", json_with(p->mem, NULL, inside, 2)}};
    const char *out = json_with(p->mem, NULL, all, 4);
    editor_put(p, out, strlen(out));
}

/* ------------------------------------------------------------------ from the conductor */

/* Unwraps a message of the agent. */
static void inner_receive(proxy *p, const message *m)
{
    member all[] = {{"jsonrpc", "\"2.0\""},
                    {"id", m->id_raw},
                    {"method", message_raw(m, m->params, "method")},
                    {"params", message_raw(m, m->params, "params")}};
    char *line = arena_strdup(p->mem, json_with(p->mem, NULL, all, 4));
    agent_receive(p, line, strlen(line));
}

static bool answer_away(proxy *p, const message *m)
{
    const char *id = json_text(p->mem, &m->doc, m->id);
    splices changes = {0};
    size_t n;
    if (!id || strncmp(id, AWAY_ID, sizeof AWAY_ID - 1) != 0)
        return false;
    splice_node(&changes, m->id, id + sizeof AWAY_ID - 1);
    char *line = arena_strdup(p->mem, splice_text(m, &changes, 0, m->n, &n));
    agent_receive(p, line, n);
    return true;
}

/* Decides by the first request what the other side is. False: nothing runs an agent. */
static bool began(proxy *p, const message *m)
{
    for (size_t i = 0; i < 2; i++)
        if (strcmp(m->method, methods[i][0]) == 0)
            p->successor = methods[i][1];
    if (!p->successor && m->id_raw)
        editor_error(p, m->id_raw, JSONRPC_INVALID,
                     "there is no agent: start 'ramet acp -- AGENT', or let a conductor send "
                     "proxy/initialize first",
                     NULL);
    return p->successor != NULL;
}

void conduct_receive(proxy *p, char *line, size_t n)
{
    message m;
    splices changes = {0};
    if (message_read(&m, p->mem, line, n) != MESSAGE_FINE) {
        editor_receive(p, line, n);
        return;
    }
    if (!m.method) {
        if (!answer_away(p, &m))
            editor_receive(p, line, n);
        return;
    }
    if (!p->successor && !began(p, &m))
        return;
    if (strcmp(m.method, methods[0][0]) == 0 || strcmp(m.method, methods[1][0]) == 0) {
        splice_node(&changes, message_at(&m, m.doc.nodes, "method"), "\"initialize\"");
        line = arena_strdup(p->mem, splice_text(&m, &changes, 0, n, &n));
        editor_receive(p, line, n);
    } else if (strcmp(m.method, methods[0][1]) == 0 || strcmp(m.method, methods[1][1]) == 0) {
        inner_receive(p, &m);
    } else {
        editor_receive(p, line, n);
    }
}
