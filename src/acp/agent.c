/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.c: handles one line of the agent: an answer, an update, or a request to the editor.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_BYTES = 64 << 20 };

/* ------------------------------------------------------------------ lines that wait */

void waiting_add(proxy *p, const char *inner, const char *line, size_t n)
{
    if (p->waiting_bytes + n > WAITING_BYTES) {
        editor_put(p, line, n);
        return;
    }
    waiting *w = xcalloc(1, sizeof *w);
    w->inner = xstrdup(inner);
    w->line = xmalloc(n + 1);
    memcpy(w->line, line, n);
    w->line[n] = 0;
    w->n = n;
    *p->waiting_end = w;
    p->waiting_end = &w->next;
    p->waiting_bytes += n;
}

static void waiting_free(proxy *p, waiting **at)
{
    waiting *w = *at;
    *at = w->next;
    if (!w->next)
        p->waiting_end = at;
    p->waiting_bytes -= w->n;
    free(w->inner);
    free(w->line);
    free(w);
}

void waiting_release(proxy *p, session *s, bool replay)
{
    for (waiting **at = &p->waiting; *at;) {
        message m;
        if (strcmp((*at)->inner, s->inner) != 0) {
            at = &(*at)->next;
            continue;
        }
        message_read(&m, p->mem, (*at)->line, (*at)->n);
        if (replay || !update_is_history(message_text(&m, m.params, "update.sessionUpdate")))
            update_receive(p, s, &m);
        waiting_free(p, at);
    }
}

void waiting_drop(proxy *p, const char *inner)
{
    for (waiting **at = &p->waiting; *at;) {
        if (strcmp((*at)->inner, inner) == 0)
            waiting_free(p, at);
        else
            at = &(*at)->next;
    }
}

void waiting_flush(proxy *p)
{
    while (p->waiting) {
        editor_put(p, p->waiting->line, p->waiting->n);
        waiting_free(p, &p->waiting);
    }
}

/* ------------------------------------------------------------------ updates */

/* Replaces session ids inside an update. */
static void nested_ids(proxy *p, const message *m, const json_node *update, splices *changes)
{
    static const char *const keys[] = {"sessionId", "senderSessionId", "recipientSessionId"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *id = message_text(m, update, keys[i]);
        const session *s = session_inner(p, id);
        if (s && strcmp(s->outer, id) != 0)
            splice_node(changes, message_at(m, update, keys[i]), json_quote(p->mem, s->outer));
    }
}

/* Reads what the proxy must know of a session's settings. */
static void settings_receive(proxy *p, session *s, const message *m, const json_node *update,
                             splices *changes)
{
    const char *kind = message_text(m, update, "sessionUpdate");
    if (strcmp(kind, "available_commands_update") == 0) {
        const json_node *list = message_at(m, update, "availableCommands");
        if (json_is(list, JSON_ARRAY)) {
            session_put_text(&s->commands, json_raw(p->mem, &m->doc, list));
            splice_node(changes, list, commands_merged(p, s->commands));
        }
    } else if (strcmp(kind, "current_mode_update") == 0) {
        const char *mode = message_raw(m, update, "currentModeId");
        member now = {"currentModeId", mode ? mode : message_raw(m, update, "modeId")};
        if (s->modes && now.value)
            session_put_text(&s->modes, json_with(p->mem, s->modes, &now, 1));
    } else if (strcmp(kind, "config_option_update") == 0) {
        const char *options = message_raw(m, update, "configOptions");
        if (options)
            session_put_text(&s->config, options);
    } else if (strcmp(kind, "session_info_update") == 0) {
        const char *title = message_text(m, update, "title");
        if (title && utf8_count(title) <= 500)
            session_put_text(&s->title, title);
    }
}

void update_receive(proxy *p, session *s, const message *m)
{
    const json_node *update = message_at(m, m->params, "update");
    const char *kind = message_text(m, update, "sessionUpdate");
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (kind) {
        const char *id = turn_record_update(p, s, m, update);
        if (id)
            splice_member(&changes, m, update, "messageId", json_quote(p->mem, id));
        settings_receive(p, s, m, update, &changes);
        nested_ids(p, m, update, &changes);
    }
    if (strcmp(s->outer, m->session) != 0)
        splice_node(&changes, message_at(m, m->params, "sessionId"), json_quote(p->mem, s->outer));
    if (changes.n)
        line = splice_text(m, &changes, 0, m->n, &n);
    editor_put(p, line, n);
    /* Record the question as soon as the agent works on it. */
    if (s->open && turn_asked(s->turn) && !turn_question(s->turn) && turn_has_output(s->turn) &&
        !turn_store(p, s, false))
        complain("the message could not be recorded yet: %s", store_error(p));
}

/* An update for a session that is being opened. */
static void flow_update(proxy *p, flow *f, const message *m)
{
    bool history = update_is_history(message_text(m, m->params, "update.sessionUpdate"));
    if (f->own && history) {
        if (f->loads)
            update_receive(p, f->own, m);
        else
            turn_record_update(p, f->own, m, message_at(m, m->params, "update"));
    } else if (!history || !f->swallow) {
        waiting_add(p, m->session, m->line, m->n);
    }
}

/* ------------------------------------------------------------------ answers */

/* Passes an answer on, with the editor's session id in an error. */
static void answer_pass(proxy *p, const message *m)
{
    const json_node *at = message_at(m, m->error, "data.sessionId");
    const char *id = at ? json_text(p->mem, &m->doc, at) : NULL;
    const session *s = session_inner(p, id);
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (s && strcmp(s->outer, id) != 0) {
        splice_node(&changes, at, json_quote(p->mem, s->outer));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    editor_put(p, line, n);
}

static void mode_receive(proxy *p, const asked *a, const message *m)
{
    session *s = session_outer(p, a->outer);
    message request;
    if (!s || !m->result || message_read(&request, p->mem, a->line, a->n) != MESSAGE_FINE)
        return;
    const char *options = message_raw(m, m->result, "configOptions");
    member mode = {"currentModeId", message_raw(&request, request.params, "modeId")};
    if (a->kind == ASK_SET_CONFIG && options)
        session_put_text(&s->config, options);
    if (a->kind == ASK_SET_MODE && s->modes && mode.value)
        session_put_text(&s->modes, json_with(p->mem, s->modes, &mode, 1));
}

static void answer_receive(proxy *p, const message *m)
{
    asked *a = ask_find(p, m->id_raw);
    if (!a) {
        if (strncmp(m->id_raw, "\"" OWN_ID, sizeof OWN_ID) != 0)
            editor_put(p, m->line, m->n);
        return;
    }
    flow *f = a->flow;
    size_t n;
    const char *line;
    switch (f ? ASK_OTHER : a->kind) {
    case ASK_INITIALIZE:
        line = initialize_answer(p, m, &n);
        editor_put(p, line, n);
        break;
    case ASK_NEW:
        a->kind = ASK_OTHER; /* no longer being opened */
        open_new_done(p, a, m);
        break;
    case ASK_PROMPT:
        prompt_done(p, a, m);
        break;
    case ASK_STRANGER:
        if (a->outer && refused_as_unknown(m, a->outer))
            editor_error(p, a->id, JSONRPC_NOT_FOUND, "no such session is open",
                         data_session(p, a->outer));
        else
            answer_pass(p, m);
        break;
    case ASK_CLOSE:
        list_close_done(p, a, m);
        break;
    case ASK_SET_MODE:
    case ASK_SET_CONFIG:
        mode_receive(p, a, m);
        answer_pass(p, m);
        break;
    default:
        if (!f && strncmp(a->id, "\"" OWN_ID, sizeof OWN_ID) != 0)
            answer_pass(p, m);
    }
    ask_drop(p, a);
    if (f) {
        f->step_id[0] = 0;
        f->step(p, f, m);
    }
    if (p->waiting && !opening(p))
        waiting_flush(p);
}

/* ------------------------------------------------------------------ requests */

/* Refuses a request of an abandoned inner session, since no user will answer it. */
static void request_of_left(proxy *p, const message *m)
{
    if (!m->id_raw)
        return;
    bool permission = strcmp(m->method, "session/request_permission") == 0;
    const char *line = arena_printf(
        p->mem, "{\"jsonrpc\":\"2.0\",\"id\":%s,%s}", m->id_raw,
        permission ? "\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}"
                   : "\"error\":{\"code\":-32603,\"message\":\"the session was left\"}");
    agent_put(p, line, strlen(line));
}

static session *session_aside(proxy *p, const char *inner)
{
    for (session *s = p->sessions; s; s = s->next)
        if (s->aside && strcmp(s->aside, inner) == 0)
            return s;
    return NULL;
}

static void request_pass(proxy *p, const session *s, const message *m)
{
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (strcmp(s->outer, m->session) != 0) {
        splice_node(&changes, message_at(m, m->params, "sessionId"), json_quote(p->mem, s->outer));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    editor_put(p, line, n);
}

static void session_receive(proxy *p, const message *m)
{
    bool update = strcmp(m->method, "session/update") == 0;
    session *s = session_inner(p, m->session), *aside = session_aside(p, m->session);
    flow *f = flow_of_inner(p, m->session);
    if (aside && update)
        aside_receive(p, aside, m);
    else if (aside)
        request_pass(p, aside, m);
    else if (f && update && !s)
        flow_update(p, f, m);
    else if (s && update)
        update_receive(p, s, m);
    else if (s)
        request_pass(p, s, m);
    else if (session_left(p, m->session) || (!f && ids_has(&p->closed, m->session)))
        request_of_left(p, m);
    else if (update && opening(p))
        waiting_add(p, m->session, m->line, m->n);
    else
        editor_put(p, m->line, m->n);
}

void agent_receive(proxy *p, char *line, size_t n)
{
    message m;
    if (strspn(line, " \t") == n)
        return;
    if (message_read(&m, p->mem, line, n) != MESSAGE_FINE)
        editor_put(p, line, n);
    else if (!m.method)
        answer_receive(p, &m);
    else if (m.session)
        session_receive(p, &m);
    else
        editor_put(p, line, n);
}
