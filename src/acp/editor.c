/* SPDX-License-Identifier: Apache-2.0
 *
 * editor.c: handles one line of the editor: classifies it and passes it on.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

/* Forwards the line with the agent's session id; unchanged if the two are the same. */
static void forward(proxy *p, const message *m, const char *inner)
{
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (inner && m->session && strcmp(inner, m->session) != 0) {
        splice_node(&changes, message_at(m, m->params, "sessionId"), json_quote(p->mem, inner));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    agent_put(p, line, n);
}

static void pass_as(proxy *p, const message *m, ask_kind kind)
{
    session *s = session_outer(p, m->session);
    if (m->id_raw) {
        asked *a = ask_note(p, m->id_raw, kind, m->session);
        if (kind != ASK_OTHER) {
            a->line = xmalloc(m->n + 1);
            memcpy(a->line, m->line, m->n + 1);
            a->n = m->n;
        }
    }
    forward(p, m, s ? s->inner : NULL);
}

static void pass_other(proxy *p, const message *m)
{
    pass_as(p, m, ASK_OTHER);
}
static void pass_mode(proxy *p, const message *m)
{
    pass_as(p, m, ASK_SET_MODE);
}
static void pass_option(proxy *p, const message *m)
{
    pass_as(p, m, ASK_SET_CONFIG);
}

static void initialize(proxy *p, const message *m)
{
    size_t n;
    if (m->id_raw)
        ask_note(p, m->id_raw, ASK_INITIALIZE, NULL);
    const char *line = initialize_request(p, m, &n);
    agent_put(p, line, n);
}

static void cancel_turn(proxy *p, const message *m)
{
    session *s = session_outer(p, m->session);
    for (asked *a = m->session ? p->asked : NULL; a; a = a->next)
        a->cancelled |= a->kind == ASK_PROMPT && strcmp(a->outer, m->session) == 0;
    forward(p, m, s && s->aside ? s->aside : s ? s->inner : NULL);
}

/* A request that the proxy handles has another id towards the agent. */
static void cancel_request(proxy *p, const message *m)
{
    const char *id = message_raw(m, m->params, "requestId");
    for (flow *f = p->flows; id && f; f = f->next)
        if (f->id && strcmp(f->id, id) == 0) {
            if (f->step_id[0])
                agent_notify(p, "$/cancel_request",
                             arena_printf(p->mem, "{\"requestId\":%s}", f->step_id));
            return;
        }
    asked *a = id ? ask_find(p, id) : NULL;
    if (a)
        a->cancelled = true;
    agent_put(p, m->line, m->n);
}

static const struct {
    const char *method;
    void (*take)(proxy *p, const message *m);
    bool request; /* requires an id: as a notification it makes no sense, and passes through */
} methods[] = {
    {"initialize", initialize, true},
    {"session/new", open_new, true},
    {"session/load", open_load, true},
    {"session/resume", open_load, true},
    {"session/fork", open_fork, true},
    {"session/list", list_ask, true},
    {"session/close", list_close, true},
    {"session/delete", list_delete, true},
    {"session/prompt", prompt_take, true},
    {"session/set_mode", pass_mode, true},
    {"session/set_config_option", pass_option, true},
    {"session/cancel", cancel_turn, false},
    {"$/cancel_request", cancel_request, false},
};

void editor_receive(proxy *p, char *line, size_t n)
{
    message m;
    if (strspn(line, " \t") == n)
        return;
    switch (message_read(&m, p->mem, line, n)) {
    case MESSAGE_NOT_JSON:
        editor_error(p, "null", JSONRPC_PARSE, "Parse error: the line is not JSON", NULL);
        return;
    case MESSAGE_BATCH:
        editor_error(p, "null", JSONRPC_INVALID, "Invalid request: ACP has no batches", NULL);
        return;
    case MESSAGE_NOT_JSONRPC:
        editor_error(p, "null", JSONRPC_INVALID, "Invalid request: it is not JSON-RPC 2.0", NULL);
        return;
    case MESSAGE_FINE:
        break;
    }
    if (!m.method) { /* an answer to the agent */
        agent_put(p, line, n);
        return;
    }
    if (m.id_raw && ask_find(p, m.id_raw) && !ask_find(p, m.id_raw)->flow) {
        editor_error(p, m.id_raw, JSONRPC_INVALID, "a request with this id is not yet answered",
                     NULL);
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].method, m.method) == 0 && (m.id_raw || !methods[i].request)) {
            methods[i].take(p, &m);
            return;
        }
    if (!move_take(p, &m))
        pass_other(p, &m);
}
