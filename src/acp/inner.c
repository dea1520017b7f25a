/* SPDX-License-Identifier: Apache-2.0
 *
 * inner.c: flows (requests that take several steps), and the step that most of them need: a new
 * session inside the agent, with the mode and the options of the old one.
 */
#include "acp/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ flows */

flow *flow_new(proxy *p, const message *m)
{
    flow *f = xcalloc(1, sizeof *f);
    f->id = xstrdup(m->id_raw);
    f->line = xmalloc(m->n + 1);
    memcpy(f->line, m->line, m->n + 1);
    f->n = m->n;
    f->outer = xstrdup(m->session);
    f->keep = -1;
    f->next = p->flows;
    p->flows = f;
    return f;
}

static void own_session_free(session *s)
{
    proxy none = {0};
    if (s)
        session_drop(&none, s);
}

void flow_end(proxy *p, flow *f)
{
    flow **at = &p->flows;
    while (*at && *at != f)
        at = &(*at)->next;
    if (*at)
        *at = f->next;
    char *all[] = {f->id,   f->line,   f->outer,     f->inner,       f->result, f->cwd,  f->mcp,
                   f->dirs, f->system, f->want_mode, f->want_config, f->entry,  f->title};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    own_session_free(f->own);
    for (asked *a = p->asked; a; a = a->next)
        if (a->flow == f)
            a->flow = NULL;
    free(f);
    if (!opening(p))
        waiting_flush(p);
}

void flow_answer(proxy *p, flow *f, const char *result)
{
    if (f->id)
        editor_answer(p, f->id, result);
    flow_end(p, f);
}

void flow_fail(proxy *p, flow *f, int code, const char *text, const char *data)
{
    if (f->slash)
        command_say(p, f, text);
    else {
        if (f->id)
            editor_error(p, f->id, code, text, data);
        flow_end(p, f);
    }
}

void flow_store_fail(proxy *p, flow *f, ramet_status rc)
{
    const char *why = arena_strdup(p->mem, store_error(p));
    if (rc == RAMET_SESSION_NOT_FOUND || rc == RAMET_HIDDEN || rc == RAMET_SESSION_DELETED)
        flow_fail(p, f, JSONRPC_NOT_FOUND, why, data_session(p, f->outer));
    else if (rc == RAMET_ENTRY_NOT_FOUND)
        flow_fail(p, f, JSONRPC_PARAMS, why,
                  arena_printf(p->mem, "{\"messageId\":%s}",
                               json_quote(p->mem, f->entry ? f->entry : "")));
    else
        flow_fail(p, f, JSONRPC_INTERNAL, why, NULL);
}

/* Passes the agent's error on, with the session's id replaced. */
void flow_refused(proxy *p, flow *f, const message *m)
{
    if (f->slash) {
        const char *text = message_text(m, m->error, "message");
        command_say(p, f, arena_printf(p->mem, "The agent refused: %s", text ? text : "?"));
        return;
    }
    const json_node *id = message_at(m, m->error, "data.sessionId");
    splices s = {0};
    size_t n;
    if (id && f->outer)
        splice_node(&s, id, json_quote(p->mem, f->outer));
    splice_node(&s, m->id, f->id ? f->id : "null");
    const char *line = splice_text(m, &s, 0, m->n, &n);
    if (f->id)
        editor_put(p, line, n);
    flow_end(p, f);
}

void flow_ask(proxy *p, flow *f, const char *method, const char *params, flow_step step)
{
    snprintf(f->step_id, sizeof f->step_id, "\"" OWN_ID "%llu\"", ++p->last_id);
    asked *a = ask_note(p, f->step_id, ASK_OTHER, NULL);
    a->flow = f;
    f->step = step;
    buf b;
    buf_init(&b, 4 * ACP_LINE_MAX);
    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":", f->step_id,
               method);
    buf_puts(&b, params);
    buf_putc(&b, '}');
    agent_put(p, b.data, b.n);
    buf_release(&b);
}

flow *flow_of_inner(proxy *p, const char *inner)
{
    for (flow *f = p->flows; f; f = f->next)
        if (f->inner && strcmp(f->inner, inner) == 0)
            return f;
    return NULL;
}

void flow_message(proxy *p, const flow *f, message *m)
{
    message_read(m, p->mem, f->line, f->n);
}

void flow_like(flow *f, const session *s)
{
    if (!f->cwd)
        f->cwd = xstrdup(s->cwd);
    if (!f->mcp)
        f->mcp = xstrdup(s->mcp);
    session_put_text(&f->want_mode, s->modes);
    session_put_text(&f->want_config, s->config);
}

/* ------------------------------------------------------------------ a new session inside */

void flow_take_setup(proxy *p, flow *f, const message *m)
{
    const char *id = message_text(m, m->result, "sessionId");
    if (id)
        session_put_text(&f->inner, id);
    session_put_text(&f->result,
                     json_is(m->result, JSON_OBJECT) ? json_raw(p->mem, &m->doc, m->result) : "{}");
}

static void options_next(proxy *p, flow *f, const message *m);

/* Sets a member of the answer that the editor will see. */
static void result_set(proxy *p, flow *f, const char *key, const char *value)
{
    member change = {key, value};
    session_put_text(&f->result, json_with(p->mem, f->result, &change, 1));
}

static void mode_set(proxy *p, flow *f, const message *m)
{
    json_doc d;
    if (m->result && json_parse(p->mem, f->result, strlen(f->result), 0, &d, NULL)) {
        json_doc want;
        if (json_parse(p->mem, f->want_mode, strlen(f->want_mode), 0, &want, NULL)) {
            const json_node *now = json_get(&want, want.nodes, "currentModeId");
            member change = {"currentModeId", json_raw(p->mem, &want, now)};
            const char *modes = json_raw(p->mem, &d, json_get(&d, d.nodes, "modes"));
            result_set(p, f, "modes", json_with(p->mem, modes, &change, 1));
        }
    }
    options_next(p, f, NULL);
}

/* The mode to restore, raw; NULL: it is set already, or the agent has no such mode. */
static const char *mode_wanted(proxy *p, const flow *f)
{
    json_doc d, want;
    if (!f->want_mode || !json_parse(p->mem, f->want_mode, strlen(f->want_mode), 0, &want, NULL) ||
        !json_parse(p->mem, f->result, strlen(f->result), 0, &d, NULL))
        return NULL;
    const json_node *modes = json_get(&d, d.nodes, "modes");
    const json_node *all = json_get(&d, modes, "availableModes");
    const char *mode = json_text(p->mem, &want, json_get(&want, want.nodes, "currentModeId"));
    const char *now = json_text(p->mem, &d, json_get(&d, modes, "currentModeId"));
    if (!mode || !now || strcmp(mode, now) == 0)
        return NULL;
    for (const json_node *v = all ? json_first(&d, all) : NULL; v; v = json_next(&d, all, v)) {
        const char *id = json_text(p->mem, &d, json_get(&d, v, "id"));
        if (id && strcmp(id, mode) == 0)
            return json_quote(p->mem, mode);
    }
    return NULL;
}

/* The current value of an option in the agent's answer; NULL: no such option. */
static const char *option_now(proxy *p, const json_doc *d, const char *id)
{
    const json_node *all = json_get(d, d->nodes, "configOptions");
    for (const json_node *v = json_is(all, JSON_ARRAY) ? json_first(d, all) : NULL; v;
         v = json_next(d, all, v)) {
        const char *own = json_text(p->mem, d, json_get(d, v, "id"));
        const json_node *now = json_get(d, v, "currentValue");
        if (own && now && strcmp(own, id) == 0)
            return json_raw(p->mem, d, now);
    }
    return NULL;
}

static void option_ask(proxy *p, flow *f, const char *id, const char *value)
{
    bool flag = value[0] == 't' || value[0] == 'f';
    flow_ask(p, f, "session/set_config_option",
             arena_printf(p->mem, "{\"sessionId\":%s,\"configId\":%s,%s\"value\":%s}",
                          json_quote(p->mem, f->inner), json_quote(p->mem, id),
                          flag ? "\"type\":\"boolean\"," : "", value),
             options_next);
}

/* Sets the next option that differs; after the last one the session is ready. */
static void options_next(proxy *p, flow *f, const message *m)
{
    json_doc d, want;
    const char *options = m && m->result ? message_raw(m, m->result, "configOptions") : NULL;
    if (options)
        result_set(p, f, "configOptions", options);
    if (f->want_config &&
        json_parse(p->mem, f->want_config, strlen(f->want_config), 0, &want, NULL) &&
        json_parse(p->mem, f->result, strlen(f->result), 0, &d, NULL)) {
        size_t i = 0;
        for (const json_node *v = json_first(&want, want.nodes); v;
             v = json_next(&want, want.nodes, v)) {
            const char *id = json_text(p->mem, &want, json_get(&want, v, "id"));
            const json_node *value = json_get(&want, v, "currentValue");
            if (i++ < f->want_at || !id || !value)
                continue;
            f->want_at = i;
            const char *raw = json_raw(p->mem, &want, value), *now = option_now(p, &d, id);
            if (now && strcmp(now, raw) != 0) {
                option_ask(p, f, id, raw);
                return;
            }
        }
    }
    f->made(p, f);
}

void inner_settle(proxy *p, flow *f, void (*made)(proxy *p, flow *f))
{
    f->made = made;
    const char *mode = mode_wanted(p, f);
    if (mode)
        flow_ask(p, f, "session/set_mode",
                 arena_printf(p->mem, "{\"sessionId\":%s,\"modeId\":%s}",
                              json_quote(p->mem, f->inner), mode),
                 mode_set);
    else
        options_next(p, f, NULL);
}

static void new_done(proxy *p, flow *f, const message *m)
{
    if (!m->result || !message_text(m, m->result, "sessionId")) {
        flow_refused(p, f, m);
        return;
    }
    flow_take_setup(p, f, m);
    inner_settle(p, f, f->made);
}

void inner_make(proxy *p, flow *f, void (*made)(proxy *p, flow *f))
{
    const char *seed = p->has.system && !f->system ? transcript(p, f->outer, f->keep) : NULL;
    f->made = made;
    f->seeded = seed != NULL;
    buf b;
    json_writer w;
    buf_init(&b, 4 * ACP_LINE_MAX);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "cwd", f->cwd ? f->cwd : "/");
    jw_kraw(&w, "mcpServers", f->mcp ? f->mcp : "[]");
    if (f->dirs)
        jw_kraw(&w, "additionalDirectories", f->dirs);
    if (f->system)
        jw_kraw(&w, "systemPrompt", f->system);
    if (seed)
        jw_kraw(&w, "systemPrompt",
                arena_printf(p->mem,
                             "{\"mode\":\"append\",\"content\":[{\"type\":\"text\",\"text\":%s}]}",
                             json_quote(p->mem, seed)));
    jw_end_object(&w);
    flow_ask(p, f, "session/new", b.data, new_done);
    buf_release(&b);
}
