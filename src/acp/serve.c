/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c: `ramet acp --agent NAME`: Ramet as an agent for an editor. Sessions are those of the
 * server's store, and one of its agents answers. The parts of the proxy that use only the store
 * (lists, trees, moves, replay) are used here, too: there is just no agent inside.
 */
#include "acp/serve.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static run *run_of(serve *v, const char *outer)
{
    for (run *r = v->runs; r; r = r->next)
        if (outer && strcmp(r->session, outer) == 0)
            return r;
    return NULL;
}

/* ------------------------------------------------------------------ setup */

static void hello(proxy *p, const message *m)
{
    editor_answer(
        p, m->id_raw,
        "{\"protocolVersion\":1,\"agentCapabilities\":{\"loadSession\":true,\"promptCapabilities\":"
        "{"
        "\"embeddedContext\":true},\"sessionCapabilities\":{\"list\":{},\"resume\":{},\"close\":{},"
        "\"delete\":{},\"fork\":{\"_meta\":{\"ramet\":{\"messageId\":true,\"position\":[\"before\","
        "\"after\"]}}}},\"_meta\":{\"ramet\":{\"version\":\"" RAMET_VERSION "\",\"methods\":["
        "\"_ramet/session/rewind\",\"_ramet/session/undo\",\"_ramet/session/redo\","
        "\"_ramet/session/tree\",\"_ramet/session/compare\",\"_ramet/session/"
        "merge\"]}}},\"authMethods\":[],\"agentInfo\":{"
        "\"name\":\"ramet\",\"title\":\"Ramet\",\"version\":\"" RAMET_VERSION "\"}}");
}

static session *session_known(proxy *p, const ramet_session *r)
{
    session *s = session_outer(p, r->id);
    if (!s) {
        s = session_add(p, r->id, r->id);
        s->open = true;
    }
    session_put_text(&s->title, r->shown_title);
    return s;
}

void serve_refuse(proxy *p, const message *m, ramet_status rc)
{
    flow *f = flow_new(p, m);
    flow_store_fail(p, f, rc);
}

static void new_session(proxy *p, const message *m)
{
    ramet_session *out;
    const char *cwd = message_text(m, m->params, "cwd");
    ramet_session_in in = {.agent = {.name = p->options->name, .folder = cwd}};
    if (!cwd || cwd[0] != '/') {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "cwd is not an absolute path", NULL);
        return;
    }
    ramet_status rc = p->lib->ramet_session_create(p->call, &in, &out);
    if (rc != RAMET_OK) {
        serve_refuse(p, m, rc);
        return;
    }
    session_known(p, out);
    editor_answer(p, m->id_raw, setup_text(p, out->id, &out->agent));
}

static void load_session(proxy *p, const message *m)
{
    ramet_session *r;
    ramet_status rc =
        m->session ? p->lib->ramet_session_get(p->call, m->session, &r) : RAMET_SESSION_NOT_FOUND;
    const char *setup = NULL;
    if (rc == RAMET_OK) {
        settings_send(p, session_known(p, r), &r->agent);
        setup = setup_text(p, NULL, &r->agent);
        if (strcmp(m->method, "session/load") == 0)
            rc = replay_send(p, m->session);
    }
    if (rc != RAMET_OK)
        serve_refuse(p, m, rc);
    else
        editor_answer(p, m->id_raw, setup);
}

static void fork_session(proxy *p, const message *m)
{
    serve *v = SERVE(p);
    ramet_session *r;
    ramet_status rc =
        m->session ? p->lib->ramet_session_get(p->call, m->session, &r) : RAMET_SESSION_NOT_FOUND;
    if (rc != RAMET_OK) {
        serve_refuse(p, m, rc);
        return;
    }
    const char *cwd = message_text(m, m->params, "cwd");
    ramet_agent agent = r->agent;
    flow *f = flow_new(p, m);
    if (!anchor_take(p, f, m))
        return;
    const ramet_entry *begun =
        !f->entry && run_of(v, m->session) ? turn_back(p, m->session, 1) : NULL;
    if (begun) {
        session_put_text(&f->entry, begun->id);
        f->side = RAMET_BEFORE;
    }
    if (cwd)
        agent.folder = cwd;
    ramet_fork_in in = {.at = {f->entry, f->side}, .agent = &agent};
    rc = p->lib->ramet_fork(p->call, m->session, &in, &r, NULL);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    session_known(p, r);
    flow_answer(p, f, setup_text(p, r->id, &r->agent));
}

/* ------------------------------------------------------------------ prompts */

/* Converts content blocks to the parts of a message. */
static const char *parts_text(proxy *p, const message *m, const json_node *prompt)
{
    buf b;
    json_writer w;
    buf_init(&b, ACP_LINE_MAX * 2);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_key(&w, "parts");
    jw_array(&w);
    for (const json_node *v = json_first(&m->doc, prompt); v; v = json_next(&m->doc, prompt, v)) {
        const char *type = message_text(m, v, "type"), *uri = message_text(m, v, "uri");
        const char *inside = message_text(m, v, "resource.text");
        if (!type)
            continue;
        jw_object(&w);
        if (strcmp(type, "resource_link") == 0 && uri) {
            jw_kstr(&w, "type", "file");
            jw_kstr(&w, "url", uri);
            jw_kstr(&w, "name", message_text(m, v, "name"));
        } else {
            const char *where = message_text(m, v, "resource.uri");
            jw_kstr(&w, "type", "text");
            jw_kstr(&w, "text",
                    inside ? arena_printf(p->mem, "%s:\n%s", where ? where : "resource", inside)
                    : message_text(m, v, "text") ? message_text(m, v, "text")
                                                 : arena_printf(p->mem, "[%s]", type));
        }
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    return buf_keep(&b, p->mem);
}

static void prompt(proxy *p, const message *m)
{
    serve *v = SERVE(p);
    const json_node *blocks = message_at(m, m->params, "prompt");
    if (!m->session || !json_is(blocks, JSON_ARRAY)) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "sessionId or prompt is missing", NULL);
        return;
    }
    run *r = xcalloc(1, sizeof *r);
    r->lib = p->lib;
    r->store = p->options->store;
    r->user = p->options->user;
    r->to = &v->posts;
    r->id = xstrdup(m->id_raw);
    r->session = xstrdup(m->session);
    r->body = xstrdup(parts_text(p, m, blocks));
    r->next = v->runs;
    v->runs = r;
    if (!talk_start(r))
        abort();
}

static void cancel(proxy *p, const message *m)
{
    if (m->session && run_of(SERVE(p), m->session))
        client_post(p->call, m->session, "cancel", "{}");
}

static void close_session(proxy *p, const message *m)
{
    cancel(p, m);
    list_close(p, m);
}

static void delete_session(proxy *p, const message *m)
{
    cancel(p, m);
    list_delete(p, m);
}

/* ------------------------------------------------------------------ questions */

static void question_ask(serve *v, const post *o)
{
    proxy *p = &v->proxy;
    message m = {.arena = p->mem};
    if (!json_parse(p->mem, o->text, strlen(o->text), 0, &m.doc, NULL))
        return;
    const json_node *options = message_at(&m, m.doc.nodes, "options");
    const char *text = message_text(&m, m.doc.nodes, "text");
    const char *own = message_text(&m, m.doc.nodes, "id");
    buf b;
    buf_init(&b, 1 << 20);
    for (const json_node *x = json_is(options, JSON_ARRAY) ? json_first(&m.doc, options) : NULL; x;
         x = json_next(&m.doc, options, x)) {
        const char *id = message_text(&m, x, "id"), *name = message_text(&m, x, "name");
        bool no = id && (strstr(id, "deny") || strstr(id, "reject") || strstr(id, "no"));
        buf_printf(&b, "%s{\"optionId\":%s,\"name\":%s,\"kind\":\"%s\"}", b.n ? "," : "",
                   json_quote(p->mem, id ? id : ""), json_quote(p->mem, name ? name : ""),
                   no ? "reject_once" : "allow_once");
    }
    question *q = xcalloc(1, sizeof *q);
    q->id = xstrdup(arena_printf(p->mem, "\"" OWN_ID "%llu\"", ++p->last_id));
    q->session = xstrdup(o->run->session);
    q->turn = xstrdup(o->id);
    q->own = xstrdup(own);
    q->next = v->questions;
    v->questions = q;
    bool choice = b.n > 0;
    const char *line = arena_printf(
        p->mem,
        choice
            ? "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"session/request_permission\",\"params\""
              ":{\"sessionId\":%s,\"toolCall\":{\"toolCallId\":%s,\"title\":%s},\"options\":[%s]}}"
            : "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"elicitation/create\",\"params\":{"
              "\"sessionId\":%s,\"toolCallId\":%s,\"mode\":\"form\",\"message\":%s,"
              "\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":"
              "\"string\"}},\"required\":[\"answer\"]}%s}}",
        q->id, json_quote(p->mem, q->session), json_quote(p->mem, own ? own : ""),
        json_quote(p->mem, text ? text : ""), b.data);
    buf_release(&b);
    editor_put(p, line, strlen(line));
}

static void question_answered(serve *v, const message *m)
{
    proxy *p = &v->proxy;
    question **at = &v->questions;
    while (*at && strcmp((*at)->id, m->id_raw) != 0)
        at = &(*at)->next;
    question *q = *at;
    if (!q)
        return;
    *at = q->next;
    const char *answer = message_text(m, m->result, "outcome.optionId");
    if (!answer)
        answer = message_text(m, m->result, "content.answer");
    if (answer)
        client_post(p->call, q->session, arena_printf(p->mem, "turns/%s/answer", q->turn),
                    arena_printf(p->mem, "{\"question_id\":%s,\"answer\":%s}",
                                 json_quote(p->mem, q->own ? q->own : ""),
                                 json_quote(p->mem, answer)));
    else /* no answer will come, and the turn would wait for ever */
        client_post(p->call, q->session, "cancel", "{}");
    free(q->id);
    free(q->session);
    free(q->turn);
    free(q->own);
    free(q);
}

/* ------------------------------------------------------------------ the end of a turn */

/* Reports what the turn, or another client meanwhile, has changed in the session. */
static void changes_send(proxy *p, const run *done)
{
    const char *outer = done->session;
    session *s = session_outer(p, outer);
    ramet_session *r;
    char when[TIME_TEXT];
    if (!s || p->lib->ramet_session_get(p->call, outer, &r) != RAMET_OK)
        return;
    settings_send(p, s, &r->agent);
    usage_send(p, done, &r->agent);
    if (s->title && strcmp(s->title, r->shown_title) == 0)
        return;
    session_put_text(&s->title, r->shown_title);
    editor_update(p, outer,
                  arena_printf(p->mem,
                               "{\"sessionUpdate\":\"session_info_update\",\"title\":%s,"
                               "\"updatedAt\":\"%s\"}",
                               json_quote(p->mem, r->shown_title), time_text(r->updated, when)));
}

static void run_done(serve *v, run *r)
{
    proxy *p = &v->proxy;
    run **at = &v->runs;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    changes_send(p, r);
    bool failed = strcmp(r->status, "failed") == 0 || strcmp(r->status, "interrupted") == 0;
    if (r->rc == RAMET_SESSION_NOT_FOUND || r->rc == RAMET_BAD_ID)
        editor_error(p, r->id, JSONRPC_NOT_FOUND, r->error, data_session(p, r->session));
    else if (r->rc != RAMET_OK || failed)
        editor_error(p, r->id, JSONRPC_INTERNAL, *r->error ? r->error : "the turn failed", NULL);
    else
        editor_answer(p, r->id,
                      arena_printf(p->mem,
                                   "{\"stopReason\":\"%s\",\"usage\":{\"totalTokens\":%lld,"
                                   "\"inputTokens\":%lld,\"outputTokens\":%lld}}",
                                   strcmp(r->status, "cancelled") == 0 ? "cancelled" : "end_turn",
                                   (long long)(r->input + r->output), (long long)r->input,
                                   (long long)r->output));
    talk_free(r);
}

static void posts_receive(serve *v)
{
    for (post *o = posts_take(&v->posts); o;) {
        post *next = o->next;
        if (o->kind == POST_UPDATE)
            editor_update(&v->proxy, o->run->session, o->text);
        else if (o->kind == POST_QUESTION)
            question_ask(v, o);
        else
            run_done(v, o->run);
        post_free(o);
        o = next;
        v->proxy.lib->ramet_call_reset(v->proxy.call);
        arena_reset(v->proxy.mem);
    }
}

/* ------------------------------------------------------------------ lines */

static void nothing(proxy *p, const message *m)
{
    editor_answer(p, m->id_raw, "{}");
}

static const struct {
    const char *method;
    void (*take)(proxy *p, const message *m);
    bool request;
} methods[] = {
    {"initialize", hello, true},
    {"authenticate", nothing, true},
    {"session/new", new_session, true},
    {"session/load", load_session, true},
    {"session/resume", load_session, true},
    {"session/fork", fork_session, true},
    {"session/list", list_ask, true},
    {"session/close", close_session, true},
    {"session/delete", delete_session, true},
    {"session/prompt", prompt, true},
    {"session/set_mode", mode_take, true},
    {"session/set_config_option", option_take, true},
    {"session/cancel", cancel, false},
};

static void line_receive(serve *v, const char *line, size_t n)
{
    proxy *p = &v->proxy;
    message m;
    message_state state = message_read(&m, p->mem, line, n);
    if (strspn(line, " \t") == n)
        return;
    if (state != MESSAGE_FINE) {
        editor_error(p, "null", state == MESSAGE_NOT_JSON ? JSONRPC_PARSE : JSONRPC_INVALID,
                     state == MESSAGE_NOT_JSON ? "the line is not JSON"
                                               : "the line is no single JSON-RPC 2.0 message",
                     NULL);
        return;
    }
    if (!m.method) {
        question_answered(v, &m);
        return;
    }
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].method, m.method) == 0) {
            if (m.id_raw || !methods[i].request)
                methods[i].take(p, &m);
            return;
        }
    if (!move_take(p, &m) && m.id_raw)
        editor_error(p, m.id_raw, JSONRPC_NO_METHOD,
                     arena_printf(p->mem, "\"Method not found\": %s", m.method),
                     arena_printf(p->mem, "{\"method\":%s}", json_quote(p->mem, m.method)));
}

static bool serve_round(serve *v)
{
    proxy *p = &v->proxy;
    char *line;
    size_t n;
    line_kind kind;
    struct pollfd f[3] = {
        {.fd = p->from_editor.fd, .events = POLLIN},
        {.fd = v->posts.ends[0], .events = POLLIN},
        {.fd = lines_left(&p->to_editor) ? p->to_editor.fd : -1, .events = POLLOUT}};
    if (poll(f, 3, -1) <= 0)
        return true;
    if (f[2].revents)
        lines_write(&p->to_editor);
    if (f[1].revents)
        posts_receive(v);
    if (!f[0].revents)
        return !p->to_editor.broken;
    lines_read(&p->from_editor);
    while ((kind = lines_next(&p->from_editor, &line, &n)) != LINE_NONE) {
        if (kind == LINE_WHOLE)
            line_receive(v, line, n);
        else
            editor_error(p, "null", JSONRPC_INVALID, "the line is longer than 64 MiB", NULL);
        p->lib->ramet_call_reset(p->call);
        arena_reset(p->mem);
    }
    return !p->from_editor.ended && !p->to_editor.broken;
}

/* The editor has gone: cancels running turns and reads them to their end. */
static void serve_end(serve *v)
{
    proxy *p = &v->proxy;
    for (run *r = v->runs; r; r = r->next)
        client_post(p->call, r->session, "cancel", "{}");
    while (v->runs) {
        struct pollfd f = {.fd = v->posts.ends[0], .events = POLLIN};
        if (poll(&f, 1, -1) > 0)
            posts_receive(v);
    }
    while (v->questions) {
        question *q = v->questions;
        v->questions = q->next;
        free(q->id);
        free(q->session);
        free(q->turn);
        free(q->own);
        free(q);
    }
    while (p->sessions)
        session_drop(p, p->sessions);
    free(p->closed.slots);
    lines_in_release(&p->from_editor);
    lines_out_release(&p->to_editor);
    p->lib->ramet_call_free(p->call);
    arena_free(p->mem);
}

int acp_agent_run(const acp_options *o)
{
    serve v = {.proxy = {.options = o, .lib = o->lib}};
    proxy *p = &v.proxy;
    ramet_call *about = o->lib->ramet_call_new(o->store, o->user, "ramet-acp");
    bool known = false;
    signal(SIGPIPE, SIG_IGN);
    if (client_agents(about, &v.agents, &v.n_agents) != RAMET_OK) {
        complain("%s", o->lib->ramet_call_error(about)->message);
        o->lib->ramet_call_free(about);
        return 6;
    }
    for (size_t i = 0; i < v.n_agents; i++)
        known |= strcmp(v.agents[i].name, o->name) == 0;
    if (!known) {
        complain("the server has no agent '%s'", o->name);
        o->lib->ramet_call_free(about);
        return 2;
    }
    p->mem = arena_new();
    p->call = o->lib->ramet_call_new(o->store, o->user, "ramet-acp");
    p->waiting_end = &p->waiting;
    p->to_agent = (lines_out){.fd = -1, .broken = true};
    posts_init(&v.posts);
    lines_in_init(&p->from_editor, STDIN_FILENO, ACP_LINE_MAX);
    lines_out_init(&p->to_editor, STDOUT_FILENO);
    while (serve_round(&v))
        ;
    serve_end(&v);
    close(v.posts.ends[0]);
    close(v.posts.ends[1]);
    o->lib->ramet_call_free(about);
    return 0;
}
