/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode.c: the agent kind `opencode`, an OpenCode server: its settings and its turns.
 *
 * A turn listens to the server's events, sends its prompt once it hears them, and follows them
 * until the inner session is idle. Events are lost with a connection: a turn that connects again
 * first reads what it may have missed.
 */
#include "agent/opencode/opencode.h"

#include "agent/transcript.h"
#include "base/base64.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_PASSWORD = 4096,
    ABORT_MS = 3000,
    MAX_LOST = 120,     /* connections in a row that told nothing: a minute */
    LOST_WAIT_MS = 500, /* before the next one */
    MAX_DIFF_BYTES = 256 << 10,
    STREAM_FIRST_MS = 8000 /* a server that is starting may never answer: ask it again */
};

static const agent_setting settings[] = {
    {"url", NULL, "base URL of the server (`opencode serve`)", false},
    {"user", "opencode", "user name, if the server has a password", false},
    {"password", "", "its password; $NAME reads it from the environment", true},
    {"password_file", "", "a file that holds the password, on its first line", false},
    {"folder", "", "the folder it works in; none: that of the server", false},
    {"mode", "", "its agent (build, plan ...); a session's options may name another", false},
    {"model", "", "PROVIDER/MODEL; none: as the server is configured", false},
    {"transcript_kb", "256", "maximum size of the transcript for a new inner session", false},
    {"connect_s", "10", "seconds to connect", false},
    {"first_byte_s", "20", "seconds until the first byte of a response", false},
    {"idle_s", "60", "seconds between events, of which one comes every 10 s", false},
    {"timeout_s", "3600", "seconds for the whole turn", false},
    {"fork_s", "60", "seconds that a copy of an inner session may take", false},
    {"retries", "2", "retries if no connection could be made", false},
    {"backoff_ms", "500", "wait before the first retry; doubles each time", false},
    {NULL, NULL, NULL, false}};

/* ------------------------------------------------------------------ settings */

static bool password_read(const agent *a, opencode *own, char *message)
{
    const char *path = agent_get(a, "password_file"), *given = agent_get(a, "password");
    char line[MAX_PASSWORD] = "";
    own->set.secret = given;
    if (*path && *given) {
        snprintf(message, AGENT_MESSAGE, "password and password_file exclude each other");
        return false;
    }
    if (!*path)
        return true;
    FILE *f = fopen(path, "re");
    bool fine = f && fgets(line, sizeof line, f);
    if (f)
        fclose(f);
    line[strcspn(line, "\r\n")] = 0;
    if (!fine || !*line)
        return agent_wrong(message, "password_file", path, "a file with a password in it");
    own->set.secret = arena_strdup(own->arena, line);
    return true;
}

static void auth_make(const agent *a, opencode *own)
{
    const char *pair = arena_printf(own->arena, "%s:%s", agent_get(a, "user"), own->set.secret);
    char *text = arena_alloc(own->arena, BASE64_LEN(strlen(pair)) + 1);
    if (!*own->set.secret)
        return;
    base64_encode(pair, strlen(pair), text);
    own->set.auth = arena_printf(own->arena, "Authorization: Basic %s", text);
}

static bool settings_read(const agent *a, opencode *own, char *message)
{
    oc_settings *o = &own->set;
    o->name = a->name;
    o->store = "";
    o->url = agent_get(a, "url");
    o->folder = agent_get(a, "folder");
    o->mode = agent_get(a, "mode");
    o->model = agent_get(a, "model");
    if (!agent_url_plain(o->url) || strchr(o->url, '?'))
        return agent_wrong(message, "url", o->url, "http(s)://HOST/PATH, without a query");
    if (*o->model && (!strchr(o->model, '/') || o->model[0] == '/'))
        return agent_wrong(message, "model", o->model, "PROVIDER/MODEL");
    if (*o->folder && o->folder[0] != '/')
        return agent_wrong(message, "folder", o->folder, "an absolute path");
    if (!password_read(a, own, message))
        return false;
    auth_make(a, own);
    return agent_span(a, "connect_s", &o->limits.connect_ms, message) &&
           agent_span(a, "first_byte_s", &o->limits.first_byte_ms, message) &&
           agent_span(a, "idle_s", &o->limits.idle_ms, message) &&
           agent_span(a, "timeout_s", &o->limits.total_ms, message) &&
           agent_span(a, "fork_s", &o->fork_ms, message) &&
           agent_number(a, "transcript_kb", 1, 16384, &o->transcript, message) &&
           agent_number(a, "retries", 0, 10, &o->retries, message) &&
           agent_number(a, "backoff_ms", 1, 10000, &o->backoff_ms, message);
}

static bool opencode_open(agent *a, char *message)
{
    arena *mem = arena_new();
    opencode *own = arena_alloc(mem, sizeof *own);
    own->arena = mem;
    if (!settings_read(a, own, message)) {
        arena_free(mem);
        return false;
    }
    own->set.transcript <<= 10;
    pthread_mutex_init(&own->lock, NULL);
    host_name(own->host);
    wire_open();
    own->pool = wire_pool_new();
    a->own = own;
    return true;
}

static void opencode_close(agent *a)
{
    opencode *own = a->own;
    oc_inners_free(own);
    wire_pool_free(own->pool);
    wire_close();
    pthread_mutex_destroy(&own->lock);
    arena_free(own->arena);
}

/* ------------------------------------------------------------------ a turn */

typedef struct talk {
    opencode *own;
    oc_api api;
    oc_want want;
    oc_found found;
    oc_answer answer;
    const char *prompt; /* the body to send; NULL: it was sent */
    agent_result *out;
    buf line;       /* of the stream */
    bool has_heard; /* this connection has told something */
} talk;

static bool failed(talk *k, const oc_reply *got)
{
    if (got->cancelled)
        k->out->end = AGENT_CANCELLED;
    else
        agent_fail(k->out, "%s", got->why);
    k->answer.state = OC_STOPPED;
    return false;
}

/* The stream is open: nothing that happens from here on is missed. */
static bool prompt_send(talk *k)
{
    oc_reply got;
    const char *path = arena_printf(k->api.arena, "/session/%s/prompt_async", k->found.id),
               *body = k->prompt;
    k->prompt = NULL;
    return oc_call(&k->api, "POST", path, body, &got) || failed(k, &got);
}

static bool list_read(talk *k, const char *path, oc_reply *got)
{
    return oc_call(&k->api, "GET", path, NULL, got) && got->doc.n;
}

/* Reads what events may have told before this connection. */
static bool catch_up(talk *k)
{
    oc_reply got;
    arena *a = k->api.arena;
    oc_answer *an = &k->answer;
    const char *id = k->found.id;
    if (!list_read(k, arena_printf(a, "/session/%s/children", id), &got))
        return failed(k, &got);
    for (const json_node *c = json_first(&got.doc, got.doc.nodes); c;
         c = json_next(&got.doc, got.doc.nodes, c))
        oc_answer_child(an, oc_text(a, &got.doc, c, "id"));
    if (!list_read(k, arena_printf(a, "/session/%s/message", id), &got))
        return failed(k, &got);
    oc_answer_messages(an, &got.doc, got.doc.nodes);
    for (int i = 0; i < 2; i++)
        if (list_read(k, i ? "/question" : "/permission", &got))
            oc_answer_questions(an, &got.doc, got.doc.nodes, !i);
    if (!list_read(k, "/session/status", &got))
        return failed(k, &got);
    const json_node *status = json_get(&got.doc, got.doc.nodes, id);
    if (an->state == OC_OPEN && (!status || oc_is(a, &got.doc, status, "type", "idle")))
        an->state = OC_IDLE;
    return true;
}

static void line_read(talk *k, const char *s, size_t n)
{
    if (n && s[n - 1] == '\r')
        n--;
    if (n < 6 || memcmp(s, "data:", 5) != 0)
        return;
    bool is_first = !k->has_heard;
    k->has_heard = true;
    if (is_first && (k->prompt ? !prompt_send(k) : !catch_up(k)))
        return;
    oc_answer_event(&k->answer, s + 5, n - 5);
}

static bool events_piece(void *arg, const char *type, const char *p, size_t n)
{
    talk *k = arg;
    (void)type;
    while (n && k->answer.state == OC_OPEN) {
        const char *end = memchr(p, '\n', n);
        size_t len = end ? (size_t)(end - p) : n;
        buf_add(&k->line, p, len);
        if (end && !k->line.over)
            line_read(k, k->line.data, k->line.n);
        if (k->line.over) {
            agent_fail(k->out, "OpenCode sent an event over %d MiB", OC_EVENT_BYTES >> 20);
            k->answer.state = OC_STOPPED;
        }
        if (end)
            buf_clear(&k->line);
        len += end != NULL;
        p += len;
        n -= len;
    }
    return k->answer.state == OC_OPEN;
}

/* Follows the events of one connection. */
static void events_follow(talk *k, char why[WIRE_WHY])
{
    const char *headers[3];
    wire_out got;
    wire_limits limits = k->api.limits;
    if (limits.first_byte_ms > STREAM_FIRST_MS)
        limits.first_byte_ms = STREAM_FIRST_MS;
    wire_in in = {.url = oc_url(&k->api, "/event"),
                  .headers = headers,
                  .n_headers = oc_headers(&k->api, "Accept: text/event-stream", headers),
                  .limits = &limits,
                  .deadline = k->api.deadline,
                  .sink = k->api.sink,
                  .piece = events_piece,
                  .arg = k};
    buf_init(&k->line, OC_EVENT_BYTES);
    k->has_heard = false;
    wire_run(&in, &got);
    if (got.cancelled && k->answer.state == OC_OPEN)
        k->answer.state = OC_STOPPED;
    if (got.status == 401)
        snprintf(why, WIRE_WHY, "OpenCode refuses the password");
    else if (got.status && !wire_fine(&got))
        snprintf(why, WIRE_WHY, "OpenCode answered %ld", got.status);
    else
        snprintf(why, WIRE_WHY, "%.200s", *got.why ? got.why : "the connection was closed");
    wire_release(&got);
    buf_release(&k->line);
}

/* ------------------------------------------------------------------ questions */

static bool permission_reply(talk *k)
{
    oc_answer *an = &k->answer;
    const agent_sink *s = k->api.sink;
    agent_reply reply = {0};
    char id[AGENT_CALL_ID];
    oc_reply got;
    agent_question q = {.id = agent_call_id(id),
                        .kind = "permission",
                        .text = an->question.text,
                        .options = an->question.options};
    if (!s->ask(s->arg, &q, &reply))
        return false;
    const char *answer = reply.text;
    bool known = answer && (strcmp(answer, "once") == 0 || strcmp(answer, "always") == 0);
    oc_call(&k->api, "POST", arena_printf(k->api.arena, "/permission/%s/reply", an->question.id),
            arena_printf(k->api.arena, "{\"reply\":\"%s\"}", known ? answer : "reject"), &got);
    return !got.cancelled;
}

/* Asks one of the questions; the answer, as a JSON list of labels, goes to *out. */
static bool question_ask(talk *k, const json_doc *d, const json_node *one, buf *out)
{
    arena *a = k->api.arena;
    const agent_sink *s = k->api.sink;
    const json_node *list = json_get(d, one, "options");
    const char *text = oc_text(a, d, one, "question");
    agent_reply reply = {0};
    char id[AGENT_CALL_ID];
    buf options;
    buf_init(&options, 1 << 20);
    for (const json_node *v = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; v;
         v = json_next(d, list, v)) {
        const char *label = oc_text(a, d, v, "label");
        if (label)
            buf_printf(&options, "%s{\"id\":%s,\"name\":%s}", options.n ? "," : "",
                       json_quote(a, label), json_quote(a, label));
    }
    bool has_options = options.n > 0;
    agent_question q = {.id = agent_call_id(id),
                        .kind = has_options ? "permission" : "input",
                        .text = text ? text : "OpenCode asks for more.",
                        .options = has_options ? arena_printf(a, "[%s]", options.data) : NULL};
    buf_release(&options);
    if (!s->ask(s->arg, &q, &reply))
        return false;
    buf_printf(out, "%s[%s]", out->n > 1 ? "," : "", json_quote(a, reply.text ? reply.text : ""));
    return true;
}

static bool question_reply(talk *k)
{
    arena *a = k->api.arena;
    const char *raw = k->answer.question.raw;
    json_doc d;
    oc_reply got;
    buf answers;
    if (!json_parse(a, raw, strlen(raw), 0, &d, NULL))
        return true;
    const json_node *list = json_get(&d, d.nodes, "questions");
    bool on = true;
    buf_init(&answers, 1 << 20);
    buf_putc(&answers, '[');
    for (const json_node *v = json_is(list, JSON_ARRAY) ? json_first(&d, list) : NULL; on && v;
         v = json_next(&d, list, v))
        on = question_ask(k, &d, v, &answers);
    buf_putc(&answers, ']');
    if (on)
        oc_call(&k->api, "POST", arena_printf(a, "/question/%s/reply", k->answer.question.id),
                arena_printf(a, "{\"answers\":%s}", answers.data), &got);
    buf_release(&answers);
    return on;
}

/* Asks the user, with no connection open: that may take long. */
static void question_settle(talk *k)
{
    int64_t asked = time_mono_us();
    bool on = k->answer.question.is_permission ? permission_reply(k) : question_reply(k);
    k->api.deadline += time_mono_us() - asked; /* the user's time does not count */
    k->answer.state = on ? OC_OPEN : OC_STOPPED;
}

/* ------------------------------------------------------------------ the end */

static void usage_report(talk *k)
{
    ramet_usage u = {0};
    for (size_t i = 0; i < k->answer.answers.n; i++) {
        const oc_message *m = &k->answer.answers.items[i];
        u.input += m->input;
        u.output += m->output;
        u.cached += m->cached;
        u.cost += m->cost;
    }
    if (u.cost > 0)
        u.currency = "USD";
    if (u.input > 0 || u.output > 0)
        k->api.sink->usage(k->api.sink->arg, &u);
}

/* Records which files the answer has changed, and how, as far as OpenCode has snapshots. */
static void changes_report(talk *k)
{
    oc_reply got;
    arena *a = k->api.arena;
    if (!k->answer.has_changes || !k->answer.message ||
        !list_read(k,
                   arena_printf(a, "/session/%s/diff?messageID=%s", k->found.id, k->answer.message),
                   &got) ||
        !json_is(got.doc.nodes, JSON_ARRAY) || !got.doc.nodes->count)
        return;
    buf b;
    buf_init(&b, MAX_DIFF_BYTES);
    buf_puts(&b, "{\"type\":\"files\",\"changes\":");
    buf_puts(&b, json_raw(a, &got.doc, got.doc.nodes));
    buf_putc(&b, '}');
    if (!b.over)
        agent_data(k->api.sink, b.data);
    buf_release(&b);
}

static void end_judge(talk *k)
{
    const oc_answer *an = &k->answer;
    const oc_message *last = an->answers.n ? &an->answers.items[an->answers.n - 1] : NULL;
    if (last && last->aborted)
        agent_fail(k->out, "the answer was stopped in OpenCode");
    else if (last && last->error)
        agent_fail(k->out, "OpenCode failed: %.300s", last->error);
    else if ((!last || !last->is_over) && an->error)
        agent_fail(k->out, "OpenCode failed: %.300s", an->error);
    else if (!last || !last->is_over)
        agent_fail(k->out, "OpenCode stopped in the middle of the answer");
    else
        k->out->end = AGENT_DONE;
}

static void inner_abort(talk *k)
{
    oc_reply got;
    oc_api api = k->api;
    api.sink = NULL;
    api.deadline = time_mono_us() + ABORT_MS * 1000;
    oc_call(&api, "POST", arena_printf(api.arena, "/session/%s/abort", k->found.id), "{}", &got);
}

/* ------------------------------------------------------------------ all of it */

/* Follows the answer over as many connections as it takes; false: *out is filled in. */
static bool answer_follow(talk *k)
{
    char why[WIRE_WHY] = "";
    const agent_sink *s = k->api.sink;
    for (int lost = 0; lost < MAX_LOST;) {
        events_follow(k, why);
        if (k->answer.state == OC_ASKS)
            question_settle(k);
        if (k->answer.state == OC_IDLE)
            return true;
        if (k->answer.state == OC_STOPPED)
            return false;
        if (k->prompt && !k->has_heard && lost >= k->own->set.retries)
            break;
        lost = k->has_heard ? 0 : lost + 1;
        if (!k->has_heard && !agent_sleep(s, LOST_WAIT_MS))
            return false;
    }
    agent_fail(k->out, "OpenCode cannot be reached: %s", why);
    return false;
}

static const char *view_of(arena *a, const agent_turn *t, size_t n)
{
    return arena_printf(a, "%lld.%zu", (long long)t->overlay, agent_erased_count(t, n));
}

static void talk_run(talk *k)
{
    char why[OC_REASON] = "";
    const agent_sink *s = k->api.sink;
    oc_mend(k->own, &k->api);
    if (!oc_inner_open(k->own, &k->api, &k->want, &k->found, why)) {
        if (!s->cancelled(s->arg))
            agent_fail(k->out, "%s", why);
        return;
    }
    k->prompt = oc_prompt_body(k->api.arena, &k->own->set, &k->want, k->found.is_complete);
    if (!k->prompt) {
        agent_fail(k->out, "the message is over %d MiB", OC_REQUEST_BYTES >> 20);
        return;
    }
    agent_sent(s, &(agent_prompt){.instructions = "",
                                  .settings = "{}",
                                  .messages = arena_printf(k->api.arena, "[%s]", k->prompt)});
    oc_answer_init(&k->answer, k->api.arena, s, k->found.id, k->want.turn->turn_id);
    bool over = answer_follow(k);
    if (k->answer.message)
        oc_inner_prompted(k->own, &k->api, &k->want, &k->found, &k->answer);
    if (over) {
        changes_report(k);
        usage_report(k);
        end_judge(k);
    } else if (!k->prompt) {
        inner_abort(k);
    }
    oc_answer_release(&k->answer);
}

/* A session of several people's server may not choose the folder. */
static const char *folder_of(const agent *a, const opencode *own, const agent_turn *t)
{
    const char *folder = t->session.folder;
    return folder && *folder == '/' && !a->shared ? folder : own->set.folder;
}

static void opencode_run(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out)
{
    opencode *own = a->own;
    arena *mem = arena_new();
    size_t message = agent_message_index(t);
    talk k = {.own = own, .out = out};
    out->end = AGENT_CANCELLED;
    k.want = (oc_want){.turn = t, .message = message, .view = view_of(mem, t, message)};
    k.api = (oc_api){.set = &own->set,
                     .pool = own->pool,
                     .arena = mem,
                     .sink = s,
                     .deadline = time_mono_us() + own->set.limits.total_ms * 1000,
                     .folder = folder_of(a, own, t),
                     .limits = own->set.limits};
    talk_run(&k);
    if (s->cancelled(s->arg))
        out->end = AGENT_CANCELLED;
    agent_hide(out->message, own->set.secret);
    arena_free(mem);
}

const agent_kind agent_opencode = {
    .name = "opencode",
    .about = "an OpenCode server",
    .settings = settings,
    .open = opencode_open,
    .close = opencode_close,
    .run = opencode_run,
    .files = oc_files,
};
