/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.c: the agent kind `acp`, a program that speaks the Agent Client Protocol: Claude Code, Codex,
 * OpenCode, Gemini, Qwen … If its session does not contain exactly the history of the turn, a new
 * one is started, with the conversation so far as text.
 */
#include "agent/acp/acp.h"
#include "agent/transcript.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_MS = 100,
    CANCEL_MS = 5000,
    FILES_BYTES = 8 << 20, /* of all attachments of a message: they go in one line */
    SEED_BYTES = 1 << 20,
    MAX_ARGV = 64
};

static const agent_setting settings[] = {
    {"command", NULL, "the program and its arguments, separated by blanks", false},
    {"folder", "", "the working folder of sessions that have none", false},
    {"roots", "",
     "folders that must contain a session's folder, separated by colons; none: any with auth "
     "local, "
     "else "
     "only `folder`",
     false},
    {"programs", "16", "maximum number of programs, one per folder; idle ones make room for others",
     false},
    {"idle_s", "600", "seconds after which a program without turns is ended", false},
    {"env", "",
     "variables of the server's environment to pass to the program, besides PATH, HOME and the "
     "like, "
     "separated by blanks; a trailing * matches a prefix",
     false},
    {"files", "off", "access to files in the folder through Ramet: off, read, write", false},
    {"terminal", "off", "let it run commands through Ramet: off, on", false},
    {"mode", "", "the initial mode of its sessions; a session's options may name another", false},
    {NULL, NULL, NULL, false}};

/* A tool call in progress. */
typedef struct call {
    struct call *next;
    char *id, *name;
    char *input, *output; /* JSON; NULL: not known yet */
    bool is_emitted;      /* reported to the sink */
} call;

/* One turn. */
typedef struct talk {
    acp *own;
    program *program;
    inbox inbox;
    arena *arena; /* reset after each line */
    const agent_turn *turn;
    const agent_sink *sink;
    agent_result *out;
    const char *folder;
    const char *mode;  /* requested mode; "": the program's default */
    const char *setup; /* everything requested, as one text */
    call *calls;
    char *model_option; /* of the inner session; "": session/set_model; NULL: none */
    bool stop;          /* the sink has asked to stop */
    int64_t since;      /* when the agent was asked to stop; 0: it was not */
} talk;

/* ------------------------------------------------------------------ opening */

/* Reads the settings into *own; on failure returns false and sets *why. */
static bool settings_read(const agent *a, acp *own, char *why)
{
    const char *files = agent_get(a, "files"), *runs = agent_get(a, "terminal"), *name = "";
    int64_t max = 0, idle_s = 0;
    own->argv = arena_array(own->arena, MAX_ARGV + 1, sizeof *own->argv);
    char *words = arena_strdup(own->arena, agent_get(a, "command"));
    size_t n = 0;
    for (char *w; n < MAX_ARGV && (w = strsep(&words, " \t"));)
        if (*w)
            own->argv[n++] = w;
    own->writes = strcmp(files, "write") == 0;
    own->reads = own->writes || strcmp(files, "read") == 0;
    own->terminals = strcmp(runs, "on") == 0;
    own->roots = agent_get(a, "roots");
    own->folder = agent_get(a, "folder");
    own->any_folder = !a->shared;
    const char *wrong = !n ? "command must name a program"
                        : !own->reads && strcmp(files, "off") != 0
                            ? "files must be off, read or write"
                        : !own->terminals && strcmp(runs, "off") != 0 ? "terminal must be off or on"
                                                                      : NULL;
    if (wrong) {
        snprintf(why, AGENT_MESSAGE, "%s", wrong);
        return false;
    }
    own->env = env_make(own->arena, agent_get(a, "env"), &name);
    if (!own->env) {
        snprintf(why, AGENT_MESSAGE, "env must name variables, and '%.60s' is no name", name);
        return false;
    }
    if (!agent_number(a, "programs", 1, 4096, &max, why) ||
        !agent_number(a, "idle_s", 1, 604800, &idle_s, why))
        return false;
    own->max = (size_t)max;
    own->idle_us = idle_s * 1000000;
    return folders_check(own, why);
}

static bool acp_open(agent *a, char *why)
{
    acp *own = xcalloc(1, sizeof *own);
    own->arena = arena_new();
    if (!settings_read(a, own, why)) {
        arena_free(own->arena);
        free(own);
        return false;
    }
    pthread_mutex_init(&own->lock, NULL);
    cond_init(&own->some);
    a->own = own;
    return true;
}

static void acp_close(agent *a)
{
    acp *own = a->own;
    programs_stop(own);
    pthread_mutex_destroy(&own->lock);
    pthread_cond_destroy(&own->some);
    arena_free(own->arena);
    free(own->modes);
    free(own->options);
    free(own);
}

/* Writes the choices that the program offers for a session. */
static void acp_describe(agent *a, json_writer *w)
{
    acp *own = a->own;
    pthread_mutex_lock(&own->lock);
    if (own->modes)
        jw_kraw(w, "modes", own->modes);
    if (own->options)
        jw_kraw(w, "config_options", own->options);
    pthread_mutex_unlock(&own->lock);
}

/* ------------------------------------------------------------------ what it asks */

static void reply(talk *k, const message *m, const char *result)
{
    program_say(k->program, arena_printf(k->arena, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}",
                                         m->id_raw, result));
}

static void refuse(talk *k, const message *m, int code, const char *text)
{
    program_say(
        k->program,
        arena_printf(k->arena,
                     "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%s}}",
                     m->id_raw, code, json_quote(k->arena, text)));
}

/* ---- tool calls: a call is described in pieces */

static call *call_of(talk *k, const char *id)
{
    for (call *c = k->calls; c; c = c->next)
        if (strcmp(c->id, id) == 0)
            return c;
    call *c = xcalloc(1, sizeof *c);
    c->id = xstrdup(id);
    c->next = k->calls;
    k->calls = c;
    return c;
}

static void call_drop(talk *k, call *c)
{
    call **at = &k->calls;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    free(c->id);
    free(c->name);
    free(c->input);
    free(c->output);
    free(c);
}

/* Reports a call. It is recorded once, so this waits until its input is known or it is executed. */
static void call_emit(talk *k, call *c)
{
    if (!c->is_emitted)
        k->stop |= !k->sink->tool_call(k->sink->arg, c->id, c->name && *c->name ? c->name : "tool",
                                       c->input ? c->input : "{}");
    c->is_emitted = true;
}

static void field_take(char **place, const char *value)
{
    if (!value)
        return;
    free(*place);
    *place = xstrdup(value);
}

/* Reads a tool_call, a tool_call_update, or the call in a permission request. */
static call *call_update(talk *k, const message *m, const json_node *u)
{
    const char *id = message_text(m, u, "toolCallId"), *name = message_text(m, u, "name");
    const char *content = message_raw(m, u, "content"), *output = message_raw(m, u, "rawOutput");
    if (!id)
        return NULL;
    call *c = call_of(k, id);
    field_take(&c->name, name ? name : message_text(m, u, "title"));
    field_take(&c->input, message_raw(m, u, "rawInput"));
    field_take(&c->output, output ? output : content);
    return c;
}

static void tool(talk *k, const message *m, const json_node *u)
{
    call *c = call_update(k, m, u);
    const char *status = message_text(m, u, "status");
    bool failed = status && strcmp(status, "failed") == 0;
    bool ended = failed || (status && strcmp(status, "completed") == 0);
    if (ended || (status && strcmp(status, "in_progress") == 0) ||
        (c->input && strcmp(c->input, "{}") != 0))
        call_emit(k, c);
    if (!ended)
        return;
    k->stop |= !k->sink->tool_result(k->sink->arg, c->id, c->output ? c->output : "null", failed);
    call_drop(k, c); /* some programs restart their numbering in every turn, or sooner */
}

static void permission(talk *k, const message *m)
{
    const json_node *all = message_at(m, m->params, "options");
    const char *title = message_text(m, m->params, "toolCall.title");
    call *c = call_update(k, m, message_at(m, m->params, "toolCall"));
    char id[AGENT_CALL_ID];
    agent_reply answer = {0};
    if (c && c->name && *c->name) {
        call_emit(k, c);
        title = title ? title : c->name;
    }
    buf b;
    buf_init(&b, 1 << 20);
    buf_putc(&b, '[');
    for (const json_node *v = json_is(all, JSON_ARRAY) ? json_first(&m->doc, all) : NULL; v;
         v = json_next(&m->doc, all, v)) {
        const char *own = message_raw(m, v, "optionId"), *name = message_raw(m, v, "name");
        if (own)
            buf_printf(&b, "%s{\"id\":%s,\"name\":%s}", b.n > 1 ? "," : "", own, name ? name : own);
    }
    buf_putc(&b, ']');
    agent_question q = {.id = agent_call_id(id),
                        .kind = "permission",
                        .text = title ? title : "May I?",
                        .options = b.data};
    k->stop |= !k->sink->ask(k->sink->arg, &q, &answer);
    buf_release(&b);
    reply(k, m,
          k->stop || !answer.text
              ? "{\"outcome\":{\"outcome\":\"cancelled\"}}"
              : arena_printf(k->arena, "{\"outcome\":{\"outcome\":\"selected\",\"optionId\":%s}}",
                             json_quote(k->arena, answer.text)));
}

static void request(talk *k, const message *m)
{
    if (strcmp(m->method, "session/request_permission") == 0) {
        permission(k, m);
    } else if (strcmp(m->method, "fs/read_text_file") == 0) {
        const char *text = folder_read(k->own, k->arena, k->folder, m);
        if (text)
            reply(k, m, arena_printf(k->arena, "{\"content\":%s}", json_quote(k->arena, text)));
        else
            refuse(k, m, JSONRPC_NOT_FOUND, "there is no such text in the session's folder");
    } else if (strcmp(m->method, "fs/write_text_file") == 0) {
        if (folder_write(k->own, k->folder, m))
            reply(k, m, "{}");
        else
            refuse(k, m, JSONRPC_PARAMS, "this cannot be written in the session's folder");
    } else if (strncmp(m->method, "terminal/", 9) == 0) {
        terminal_request(k->program, k->arena, m, k->folder);
    } else {
        refuse(k, m, JSONRPC_NO_METHOD, "Method not found");
    }
}

/* ------------------------------------------------------------------ its messages */

static void update(talk *k, const message *m)
{
    const json_node *u = message_at(m, m->params, "update");
    const char *kind = message_text(m, u, "sessionUpdate");
    const char *text = message_text(m, u, "content.text");
    if (!kind)
        return;
    if (strcmp(kind, "agent_message_chunk") == 0 && text)
        k->stop |= !k->sink->delta(k->sink->arg, text, strlen(text));
    else if (strcmp(kind, "agent_thought_chunk") == 0 && text)
        k->stop |= !k->sink->thinking(k->sink->arg, text, strlen(text));
    else if (strncmp(kind, "tool_call", 9) == 0 && message_text(m, u, "toolCallId"))
        tool(k, m, u);
    else if (strcmp(kind, "plan") == 0 && message_raw(m, u, "entries"))
        k->stop |= !k->sink->plan(k->sink->arg,
                                  arena_printf(k->arena, "{\"type\":\"plan\",\"entries\":%s}",
                                               message_raw(m, u, "entries")));
}

static void usage(talk *k, const message *m)
{
    ramet_usage u = {0};
    const json_node *all = message_at(m, m->result, "usage");
    json_int(&m->doc, message_at(m, all, "inputTokens"), &u.input);
    json_int(&m->doc, message_at(m, all, "outputTokens"), &u.output);
    json_int(&m->doc, message_at(m, all, "cachedReadTokens"), &u.cached);
    if (json_is(all, JSON_OBJECT) && u.input >= 0 && u.output >= 0 && u.cached >= 0)
        k->sink->usage(k->sink->arg, &u);
}

/* ------------------------------------------------------------------ talking */

/* Asks the program to stop, once, and gives it some time. False: the time is over. */
static bool stop_send(talk *k)
{
    if (!k->stop && !k->sink->cancelled(k->sink->arg))
        return true;
    if (k->since)
        return time_mono_us() - k->since < (int64_t)CANCEL_MS * 1000;
    k->since = time_mono_us();
    if (k->inbox.inner)
        program_say(k->program,
                    arena_printf(k->arena,
                                 "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{"
                                 "\"sessionId\":%s}}",
                                 json_quote(k->arena, k->inbox.inner)));
    return k->inbox.inner != NULL;
}

/* Processes lines until the answer to our request arrives: *m, whose line is *line. */
static bool answer_wait(talk *k, message *m, char **line)
{
    size_t n;
    char why[sizeof k->program->why];
    for (;;) {
        if (!stop_send(k)) {
            k->out->end = AGENT_CANCELLED;
            return false;
        }
        *line = inbox_next(k->own, k->program, &k->inbox, WAIT_MS, &n);
        if (!*line && program_ended(k->program, why, sizeof why)) {
            agent_fail(k->out, "%s", why);
            return false;
        }
        if (!*line)
            continue;
        if (message_read(m, k->arena, *line, n) == MESSAGE_FINE) {
            if (!m->method)
                return true;
            if (m->id_raw)
                request(k, m);
            else if (strcmp(m->method, "session/update") == 0)
                update(k, m);
        }
        free(*line);
        arena_reset(k->arena);
    }
}

static bool refused(talk *k, const message *m)
{
    if (!m->error)
        return false;
    const char *text = message_text(m, m->error, "message");
    agent_fail(k->out, "the agent refused: %s", text ? text : "it did not say why");
    return true;
}

/* ------------------------------------------------------------------ what it holds */

/* The index of the new message: the last entries of the user. */
static size_t message_at_end(const agent_turn *t)
{
    size_t n = t->n;
    while (n && t->history[n - 1].role == RAMET_USER)
        n--;
    return n;
}

/* Whether an inner session contains everything before `n`: the history up to the hash it was given,
 * followed by its own answer. */
static bool holds(const held *h, const agent_turn *t, size_t n)
{
    while (n && t->history[n - 1].turn_id && strcmp(t->history[n - 1].turn_id, h->turn) == 0 &&
           strcmp(t->history[n - 1].hash, h->hash) != 0)
        n--;
    return n && strcmp(t->history[n - 1].hash, h->hash) == 0;
}

/* *as: it has the requested setup already. */
static bool inner_find(talk *k, size_t n, bool *as)
{
    pthread_mutex_lock(&k->own->lock);
    for (held **at = &k->own->held; *at; at = &(*at)->next) {
        held *h = *at;
        if (h->in != k->program || !k->turn->session_id ||
            strcmp(h->session, k->turn->session_id) != 0 || h->overlay != k->turn->overlay ||
            h->n_erased != agent_erased_count(k->turn, n) || !holds(h, k->turn, n))
            continue;
        *at = h->next;
        k->inbox.inner = h->inner;
        k->model_option = h->model_option;
        *as = strcmp(h->setup, k->setup) == 0;
        h->inner = h->model_option = NULL;
        held_free(h);
        break;
    }
    pthread_mutex_unlock(&k->own->lock);
    return k->inbox.inner != NULL;
}

static void inner_keep(talk *k)
{
    if (!k->turn->session_id || !k->turn->n)
        return;
    held *h = xcalloc(1, sizeof *h);
    h->session = xstrdup(k->turn->session_id);
    h->inner = xstrdup(k->inbox.inner);
    h->turn = xstrdup(k->turn->turn_id);
    h->setup = xstrdup(k->setup);
    h->model_option = xstrdup(k->model_option);
    h->in = k->program;
    h->overlay = k->turn->overlay;
    h->n_erased = agent_erased_count(k->turn, k->turn->n);
    memcpy(h->hash, k->turn->history[k->turn->n - 1].hash, sizeof h->hash);
    pthread_mutex_lock(&k->own->lock);
    h->next = k->own->held;
    k->own->held = h;
    pthread_mutex_unlock(&k->own->lock);
}

/* Reads the choices in the program's answer to session/new. */
static void setup_read(talk *k, const message *m)
{
    const char *modes = message_raw(m, m->result, "modes");
    const json_node *all = message_at(m, m->result, "configOptions");
    for (const json_node *v = json_is(all, JSON_ARRAY) ? json_first(&m->doc, all) : NULL; v;
         v = json_next(&m->doc, all, v)) {
        const char *kind = message_text(m, v, "category"), *id = message_text(m, v, "id");
        if (kind && id && strcmp(kind, "model") == 0 && !k->model_option)
            k->model_option = xstrdup(id);
    }
    if (!k->model_option && message_at(m, m->result, "models.availableModels"))
        k->model_option = xstrdup("");
    pthread_mutex_lock(&k->own->lock);
    free(k->own->modes);
    free(k->own->options);
    k->own->modes = xstrdup(modes);
    k->own->options = xstrdup(json_is(all, JSON_ARRAY) ? json_raw(k->arena, &m->doc, all) : NULL);
    pthread_mutex_unlock(&k->own->lock);
}

static bool inner_make(talk *k)
{
    message m;
    char *line;
    program_ask(
        k->own, k->program, &k->inbox, "session/new",
        arena_printf(k->arena, "{\"cwd\":%s,\"mcpServers\":[]}", json_quote(k->arena, k->folder)));
    if (!answer_wait(k, &m, &line))
        return false;
    const char *id = message_text(&m, m.result, "sessionId");
    bool fine = !refused(k, &m) && id;
    if (fine) {
        pthread_mutex_lock(&k->own->lock);
        k->inbox.inner = xstrdup(id);
        pthread_mutex_unlock(&k->own->lock);
        setup_read(k, &m);
    } else if (!m.error)
        agent_fail(k->out, "the agent did not name its new session");
    free(line);
    arena_reset(k->arena);
    return fine;
}

/* ------------------------------------------------------------------ mode and options */

static bool setup_ask(talk *k, const char *method, const char *params)
{
    message m;
    char *line;
    program_ask(k->own, k->program, &k->inbox, method, params);
    if (!answer_wait(k, &m, &line))
        return false;
    bool fine = !refused(k, &m);
    free(line);
    arena_reset(k->arena);
    return fine;
}

static bool option_set(talk *k, const char *id, const char *value)
{
    bool flag = value[0] == 't' || value[0] == 'f';
    return setup_ask(k, "session/set_config_option",
                     arena_printf(k->arena, "{\"sessionId\":%s,\"configId\":%s,%s\"value\":%s}",
                                  json_quote(k->arena, k->inbox.inner), json_quote(k->arena, id),
                                  flag ? "\"type\":\"boolean\"," : "", value));
}

/* Applies the requested setup; false: the program refused, and the turn has failed. */
static bool setup_do(talk *k)
{
    const char *model = k->turn->session.model, *options = k->turn->session.options;
    arena *mem = arena_new();
    message m = {.arena = mem};
    bool fine = true;
    if (*k->mode)
        fine = setup_ask(k, "session/set_mode",
                         arena_printf(k->arena, "{\"sessionId\":%s,\"modeId\":%s}",
                                      json_quote(k->arena, k->inbox.inner),
                                      json_quote(k->arena, k->mode)));
    if (fine && model && *model && !k->model_option) {
        agent_fail(k->out, "the agent has no models to choose from");
        fine = false;
    } else if (fine && model && *model) {
        fine = *k->model_option
                   ? option_set(k, k->model_option, json_quote(mem, model))
                   : setup_ask(k, "session/set_model",
                               arena_printf(k->arena, "{\"sessionId\":%s,\"modelId\":%s}",
                                            json_quote(k->arena, k->inbox.inner),
                                            json_quote(k->arena, model)));
    }
    if (fine && options && json_parse(mem, options, strlen(options), 0, &m.doc, NULL)) {
        const json_node *all = message_at(&m, m.doc.nodes, "config");
        for (const json_node *id = json_is(all, JSON_OBJECT) ? json_first(&m.doc, all) : NULL;
             fine && id;) {
            const json_node *value = json_next(&m.doc, all, id);
            fine = option_set(k, json_text(mem, &m.doc, id), json_raw(mem, &m.doc, value));
            id = json_next(&m.doc, all, value);
        }
    }
    arena_free(mem);
    return fine;
}

/* Writes the conversation before the message; only its newest part if it is long. */
static void seed_put(buf *b, const agent_turn *t, size_t n)
{
    size_t bytes = 0, from = n;
    while (from && bytes + strlen(t->history[from - 1].text) < SEED_BYTES)
        bytes += strlen(t->history[--from].text) + 16;
    buf_puts(b, "The conversation so far, which you are part of; go on from its end. Do not answer "
                "it again and do not mention this note.\n<conversation>\n");
    for (size_t i = from; i < n; i++)
        if (*t->history[i].text && t->history[i].role != RAMET_SYSTEM)
            buf_printf(b, "%s:\n%s\n\n", t->history[i].role == RAMET_USER ? "User" : "Assistant",
                       t->history[i].text);
    buf_puts(b, "</conversation>\n");
}

/* What goes to the program depends on what its session holds: it is kept as it is sent. */
static void prompt_report(talk *k, const char *blocks)
{
    const ramet_agent *s = &k->turn->session;
    buf set;
    json_writer w;
    buf_init(&set, ACP_LINE_MAX);
    jw_init(&w, &set, 0);
    jw_object(&w);
    if (*k->mode)
        jw_kstr(&w, "mode", k->mode);
    if (s->model && *s->model)
        jw_kstr(&w, "model", s->model);
    if (s->options)
        jw_kraw(&w, "options", s->options);
    jw_end_object(&w);
    agent_prompt p = {.instructions = "",
                      .settings = set.data,
                      .messages =
                          arena_printf(k->arena, "[{\"role\":\"user\",\"content\":%s}]", blocks)};
    agent_sent(k->sink, &p);
    buf_release(&set);
}

static void prompt_ask(talk *k, size_t n, bool seed)
{
    buf text, params;
    size_t room = FILES_BYTES;
    buf_init(&text, ACP_LINE_MAX);
    buf_init(&params, 2 * ACP_LINE_MAX);
    buf_printf(&params, "{\"sessionId\":%s,\"prompt\":", json_quote(k->arena, k->inbox.inner));
    size_t first = params.n;
    buf_putc(&params, '[');
    if (seed) {
        seed_put(&text, k->turn, n);
        block_add_text(&params, k->arena, text.data);
    }
    size_t before = params.n;
    for (size_t i = n; i < k->turn->n; i++)
        blocks_put(&params, k->arena, k->program, k->turn, &k->turn->history[i], &room);
    if (params.n == before) /* a message without text */
        block_add_text(&params, k->arena, "");
    buf_putc(&params, ']');
    prompt_report(k, params.data + first);
    buf_putc(&params, '}');
    program_ask(k->own, k->program, &k->inbox, "session/prompt", params.data);
    buf_release(&text);
    buf_release(&params);
}

static void talk_run(talk *k)
{
    message m;
    char *line;
    size_t n = message_at_end(k->turn);
    bool as = false, there = inner_find(k, n, &as);
    if ((!there && !inner_make(k)) || (!as && !setup_do(k)))
        return;
    prompt_ask(k, n, !there && n > 0);
    if (!answer_wait(k, &m, &line))
        return;
    if (!refused(k, &m)) {
        const char *why = message_text(&m, m.result, "stopReason");
        k->out->end = why && strcmp(why, "cancelled") == 0 ? AGENT_CANCELLED : AGENT_DONE;
        usage(k, &m);
        if (k->out->end == AGENT_DONE)
            inner_keep(k);
    }
    free(line);
}

/* Collects the requested setup from the session's options and the agent's settings. */
static void setup_want(talk *k, arena *mem, const char *mode)
{
    const ramet_agent *s = &k->turn->session;
    message m = {.arena = mem};
    if (s->options && json_parse(mem, s->options, strlen(s->options), 0, &m.doc, NULL)) {
        const char *own = message_text(&m, m.doc.nodes, "mode");
        mode = own ? own : mode;
    }
    k->mode = mode;
    k->setup = arena_printf(mem, "%s\n%s\n%s", mode, s->model ? s->model : "",
                            s->options ? s->options : "");
}

static void acp_run(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out)
{
    talk k = {.own = a->own, .turn = t, .sink = s, .out = out};
    char why[400];
    char *folder = folder_of(k.own, t, out);
    if (!folder)
        return;
    k.folder = folder;
    k.program = program_enter(k.own, folder, s, why, sizeof why);
    if (!k.program) {
        if (*why)
            agent_fail(out, "%s", why);
        else
            out->end = AGENT_CANCELLED;
        free(folder);
        return;
    }
    arena *mem = arena_new();
    k.arena = arena_new();
    setup_want(&k, mem, agent_get(a, "mode"));
    inbox_add(k.own, k.program, &k.inbox);
    talk_run(&k);
    inbox_remove(k.own, k.program, &k.inbox);
    while (k.calls) {
        if (k.calls->name) /* begun, but without a result */
            call_emit(&k, k.calls);
        call_drop(&k, k.calls);
    }
    program_leave(k.program);
    free(k.model_option);
    free(folder);
    arena_free(k.arena);
    arena_free(mem);
}

const agent_kind agent_acp = {
    .name = "acp",
    .about = "a program that speaks the Agent Client Protocol",
    .settings = settings,
    .open = acp_open,
    .close = acp_close,
    .describe = acp_describe,
    .run = acp_run,
};
