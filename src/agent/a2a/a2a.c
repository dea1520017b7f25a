/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a.c: the agent kind `a2a`, a remote agent that speaks A2A, 0.3 or 1.0: its settings, its card,
 * and the rounds of a turn. agent/a2a/request.c builds the messages, agent/a2a/answer.c reads the
 * answers.
 *
 * Credentials are sent only to the origin of `url`: if a card names another origin, it is not used.
 */
#include "agent/a2a/a2a.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CARD_BYTES = 1 << 20, CARD_FRESH_S = 300, CANCEL_MS = 2000, POLL_MS = 500 };

static const agent_setting settings[] = {
    {"url", NULL, "base URL of the agent; its card is at .well-known/agent-card.json below it",
     false},
    {"version", "auto", "protocol version: auto (as its card says), 0.3, 1.0", false},
    {"binding", "auto",
     "how it is called: auto (as its card says, JSON-RPC if the version is set), JSONRPC, "
     "HTTP+JSON "
     "(1.0 only)",
     false},
    {"key", "", "bearer token to send; $NAME reads it from the environment", true},
    {"user", "off", "send the user as X-User-Id: on, off", false},
    {"history", "context",
     "how it knows the history: context (it remembers each context), reads-back (it reads the "
     "session from this server, as kagent's agents do), every-turn (sent with every message)",
     false},
    {"transcript_kb", "256", "maximum size of the transcript sent to a new context", false},
    {"stream", "on", "request a stream: on, off", false},
    {"connect_s", "10", "seconds to connect", false},
    {"first_byte_s", "120", "seconds until the first byte of the answer", false},
    {"idle_s", "120", "seconds between bytes", false},
    {"timeout_s", "900", "seconds for the whole turn", false},
    {"retries", "2", "retries if no connection could be made", false},
    {"backoff_ms", "500", "wait before the first retry; doubles each time", false},
    {NULL, NULL, NULL, false}};

typedef struct a2a {
    arena *arena;
    a2a_settings set;
    pthread_mutex_t lock; /* guards the card */
    char *card_url;       /* NULL: no card was read */
    char *card_tenant;    /* NULL: none */
    bool card_v1, card_rest, card_stream;
    int64_t card_at; /* time_mono_us() */
} a2a;

/* ------------------------------------------------------------------ settings */

/* Parses a setting that is one of two words. */
static bool word_read(const agent *a, const char *setting, const char *yes, const char *no,
                      bool *out, char *message)
{
    const char *value = agent_get(a, setting);
    char must[64];
    *out = strcmp(value, yes) == 0;
    snprintf(must, sizeof must, "%s or %s", yes, no);
    return *out || strcmp(value, no) == 0 ? true : agent_wrong(message, setting, value, must);
}

static bool choices_read(const agent *a, a2a_settings *o, char *message)
{
    const char *history = agent_get(a, "history"), *version = agent_get(a, "version");
    static const char *const memories[] = {"context", "reads-back", "every-turn"};
    size_t i = 0;
    while (i < 3 && strcmp(memories[i], history) != 0)
        i++;
    if (i == 3)
        return agent_wrong(message, "history", history, "context, reads-back or every-turn");
    o->memory = (a2a_memory)i;
    o->v1 = strcmp(version, "1.0") == 0;
    o->fixed = o->v1 || strcmp(version, "0.3") == 0;
    if (!o->fixed && strcmp(version, "auto") != 0)
        return agent_wrong(message, "version", version, "auto, 0.3 or 1.0");
    const char *binding = agent_get(a, "binding");
    o->is_rest = strcmp(binding, "HTTP+JSON") == 0;
    o->any_binding = strcmp(binding, "auto") == 0;
    if (!o->is_rest && !o->any_binding && strcmp(binding, "JSONRPC") != 0)
        return agent_wrong(message, "binding", binding, "auto, JSONRPC or HTTP+JSON");
    if (o->is_rest && o->fixed && !o->v1)
        return agent_wrong(message, "binding", binding, "JSONRPC with version=0.3");
    return word_read(a, "stream", "on", "off", &o->stream, message) &&
           word_read(a, "user", "on", "off", &o->user, message);
}

static bool settings_read(const agent *a, a2a *own, char *message)
{
    a2a_settings *o = &own->set;
    o->name = a->name;
    o->url = agent_get(a, "url");
    o->key = agent_get(a, "key");
    if (!agent_url_plain(o->url) || strchr(o->url, '?'))
        return agent_wrong(message, "url", o->url, "http(s)://HOST/PATH, without a query");
    for (const char *s = o->key; *s; s++)
        if (*s <= ' ' || *s > '~') {
            snprintf(message, AGENT_MESSAGE, "key holds a character that no key can have");
            return false;
        }
    return choices_read(a, o, message) &&
           agent_span(a, "connect_s", &o->limits.connect_ms, message) &&
           agent_span(a, "first_byte_s", &o->limits.first_byte_ms, message) &&
           agent_span(a, "idle_s", &o->limits.idle_ms, message) &&
           agent_span(a, "timeout_s", &o->limits.total_ms, message) &&
           agent_number(a, "transcript_kb", 1, 16384, &o->transcript, message) &&
           agent_number(a, "retries", 0, 10, &o->retries, message) &&
           agent_number(a, "backoff_ms", 1, 10000, &o->backoff_ms, message);
}

static bool a2a_open(agent *a, char *message)
{
    arena *mem = arena_new();
    a2a *own = arena_alloc(mem, sizeof *own);
    own->arena = mem;
    if (!settings_read(a, own, message)) {
        arena_free(mem);
        return false;
    }
    own->set.transcript <<= 10;
    pthread_mutex_init(&own->lock, NULL);
    wire_open();
    a->own = own;
    return true;
}

static void a2a_close(agent *a)
{
    a2a *own = a->own;
    free(own->card_url);
    free(own->card_tenant);
    pthread_mutex_destroy(&own->lock);
    wire_close();
    arena_free(own->arena);
}

/* ------------------------------------------------------------------ a turn */

typedef struct talk {
    a2a *own;
    const a2a_settings *set;
    const agent_turn *turn;
    const agent_sink *sink;
    arena *arena;
    a2a_remote remote;
    a2a_context context;
    a2a_answer answer;
    int64_t deadline;
    int calls; /* JSON-RPC ids */
} talk;

static size_t headers_fill(const talk *t, bool v1, const char *accept, const char **out)
{
    size_t n = 0;
    out[n++] = "Content-Type: application/json";
    out[n++] = arena_printf(t->arena, "Accept: %s", accept);
    if (v1)
        out[n++] = "A2A-Version: 1.0";
    if (*t->set->key)
        out[n++] = arena_printf(t->arena, "Authorization: Bearer %s", t->set->key);
    const char *user = t->turn->user;
    if (t->set->user && user && !strpbrk(user, "\r\n"))
        out[n++] = arena_printf(t->arena, "X-User-Id: %s", user);
    return n;
}

/* ---- the card */

static bool card_piece(void *arg, const char *type, const char *p, size_t n)
{
    buf *to = arg;
    (void)type;
    buf_add(to, p, n);
    return !to->over;
}

static bool same_origin(const char *a, const char *b)
{
    size_t n = agent_origin_length(a);
    return n && n == agent_origin_length(b) && strncasecmp(a, b, n) == 0;
}

/* How good an interface is: JSON-RPC before HTTP+JSON, and 1.0 before 0.3; 0: it cannot be used. */
static int interface_rank(const a2a_settings *o, const char *binding, const char *version)
{
    bool v1 = strncmp(version, "1.", 2) == 0, v03 = strncmp(version, "0.3", 3) == 0;
    bool rpc = strcasecmp(binding, "JSONRPC") == 0, rest = strcasecmp(binding, "HTTP+JSON") == 0;
    if (rpc && (o->any_binding || !o->is_rest))
        return v1 ? 3 : v03 ? 1 : 0;
    return rest && v1 && (o->any_binding || o->is_rest) ? 2 : 0;
}

/* Finds the best interface that we speak; otherwise uses the members of a 0.3 card. */
static void card_interface(talk *t, const json_doc *d, a2a_remote *out)
{
    const json_node *root = &d->nodes[0], *list = json_get(d, root, "supportedInterfaces");
    int best = 0;
    *out = (a2a_remote){.url = json_text(t->arena, d, json_get(d, root, "url"))};
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *binding = json_text(t->arena, d, json_get(d, v, "protocolBinding"));
        const char *version = json_text(t->arena, d, json_get(d, v, "protocolVersion"));
        const char *tenant = json_text(t->arena, d, json_get(d, v, "tenant"));
        int rank = binding && version ? interface_rank(t->set, binding, version) : 0;
        if (rank <= best)
            continue;
        best = rank;
        *out = (a2a_remote){.url = json_text(t->arena, d, json_get(d, v, "url")),
                            .v1 = rank > 1,
                            .is_rest = rank == 2,
                            .tenant = tenant && *tenant ? tenant : NULL};
    }
}

/* An agent may require that its clients know an extension. We know the one of another Ramet. */
static bool extensions_fit(talk *t, const json_doc *d, agent_result *out)
{
    const json_node *list = json_get(d, json_get(d, &d->nodes[0], "capabilities"), "extensions");
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *uri = json_text(t->arena, d, json_get(d, v, "uri"));
        if (!json_is(json_get(d, v, "required"), JSON_TRUE) ||
            (uri && strcmp(uri, "urn:ramet:ext:session-rewind:v1") == 0))
            continue;
        agent_fail(out, "the agent requires the extension '%.200s', which is not supported here",
                   uri ? uri : "");
        return false;
    }
    return true;
}

static bool card_read(talk *t, const buf *text, agent_result *out)
{
    json_doc d;
    a2a_remote found;
    if (!json_parse(t->arena, text->data, text->n, 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_OBJECT)) {
        agent_fail(out, "the agent's card is no JSON object");
        return false;
    }
    if (!extensions_fit(t, &d, out))
        return false;
    card_interface(t, &d, &found);
    if (!found.url && json_first(&d, json_get(&d, &d.nodes[0], "supportedInterfaces"))) {
        agent_fail(out,
                   "the agent's card names no interface over JSON-RPC or HTTP+JSON that can be "
                   "used");
        return false;
    }
    const json_node *can = json_get(&d, json_get(&d, &d.nodes[0], "capabilities"), "streaming");
    bool there = found.url && agent_url_plain(found.url) && same_origin(found.url, t->set->url);
    pthread_mutex_lock(&t->own->lock);
    free(t->own->card_url);
    free(t->own->card_tenant);
    t->own->card_url = xstrdup(there ? found.url : t->set->url);
    t->own->card_tenant = xstrdup(found.tenant);
    t->own->card_v1 = found.v1;
    t->own->card_rest = found.is_rest;
    t->own->card_stream = json_is(can, JSON_TRUE);
    t->own->card_at = time_mono_us();
    pthread_mutex_unlock(&t->own->lock);
    return true;
}

static bool card_known(talk *t)
{
    a2a *own = t->own;
    pthread_mutex_lock(&own->lock);
    bool fresh = own->card_url && time_mono_us() - own->card_at < CARD_FRESH_S * INT64_C(1000000);
    if (fresh)
        t->remote = (a2a_remote){.url = arena_strdup(t->arena, own->card_url),
                                 .v1 = own->card_v1,
                                 .is_rest = own->card_rest,
                                 .tenant = arena_strdup(t->arena, own->card_tenant),
                                 .stream = own->card_stream && t->set->stream};
    pthread_mutex_unlock(&own->lock);
    return fresh;
}

/* Waits before the next try; false if there is none. */
static bool again(const talk *t, int64_t attempt, const wire_out *got)
{
    return got->unsent && !got->cancelled && attempt < t->set->retries &&
           agent_sleep(t->sink, t->set->backoff_ms << attempt);
}

static bool exchange_failed(const talk *t, const wire_out *got, agent_result *out)
{
    if (got->cancelled || t->sink->cancelled(t->sink->arg))
        *out = (agent_result){.end = AGENT_CANCELLED};
    else if (!got->status)
        agent_fail(out, "the agent cannot be reached: %s", got->why);
    else
        agent_fail(out, "the agent answered %ld%s%.200s", got->status, got->error.n ? ": " : "",
                   got->error.data);
    return false;
}

static bool card_fetch(talk *t, agent_result *out)
{
    const char *headers[6], *base = t->set->url;
    size_t n = strlen(base);
    buf text;
    wire_out got;
    wire_in in = {.url = arena_printf(t->arena, "%s%s.well-known/agent-card.json", base,
                                      base[n - 1] == '/' ? "" : "/"),
                  .headers = headers,
                  .n_headers = headers_fill(t, false, "application/json", headers),
                  .limits = &t->set->limits,
                  .deadline = t->deadline,
                  .sink = t->sink,
                  .piece = card_piece,
                  .arg = &text};
    for (int64_t attempt = 0;; attempt++) {
        buf_init(&text, CARD_BYTES);
        wire_run(&in, &got);
        bool fine = wire_fine(&got) && !*got.why && !got.cancelled;
        bool more = !fine && again(t, attempt, &got);
        bool read = fine ? card_read(t, &text, out) : more ? false : exchange_failed(t, &got, out);
        buf_release(&text);
        wire_release(&got);
        if (!more)
            return read && card_known(t);
    }
}

static bool remote_find(talk *t, agent_result *out)
{
    if (t->set->fixed) {
        t->remote = (a2a_remote){.url = t->set->url,
                                 .v1 = t->set->v1,
                                 .is_rest = t->set->is_rest,
                                 .stream = t->set->stream};
        return true;
    }
    return card_known(t) || card_fetch(t, out);
}

/* ---- calls */

static bool answer_piece(void *arg, const char *type, const char *p, size_t n)
{
    return a2a_answer_add(arg, type, p, n);
}

/* A call of a method with a message, or else about the task of the answer. */
static void call_make(talk *t, a2a_method method, const char *message, a2a_request *out)
{
    a2a_call_make(
        t->arena, &t->remote,
        &(a2a_call){.method = method, .id = ++t->calls, .message = message, .task = t->answer.task},
        out);
}

/* Makes one call; the response is passed to t->answer. False: *out is filled in. */
static bool call_run(talk *t, a2a_method method, const char *message, agent_result *out)
{
    const char *headers[6];
    bool stream = method == A2A_SEND_STREAM || method == A2A_SUBSCRIBE;
    const char *accept = stream ? "text/event-stream" : "application/json";
    a2a_request request;
    call_make(t, method, message, &request);
    wire_in in = {.url = request.url,
                  .headers = headers,
                  .n_headers = headers_fill(t, t->remote.v1, accept, headers),
                  .body = request.body,
                  .n = request.body ? strlen(request.body) : 0,
                  .limits = &t->set->limits,
                  .deadline = t->deadline,
                  .sink = t->sink,
                  .piece = answer_piece,
                  .arg = &t->answer};
    for (int64_t attempt = 0;; attempt++) {
        wire_out got;
        a2a_answer_next(&t->answer);
        wire_run(&in, &got);
        bool fine = wire_fine(&got) && !got.cancelled;
        if (fine && !*got.why)
            a2a_answer_end(&t->answer);
        bool more = !fine && again(t, attempt, &got);
        if (!fine && !more && !got.cancelled && got.status)
            fine = a2a_answer_refuse(&t->answer, got.status, got.error.data, got.error.n);
        if (!fine && !more)
            exchange_failed(t, &got, out);
        if (fine && *got.why)
            snprintf(t->answer.reason, A2A_REASON, "%s", got.why);
        wire_release(&got);
        if (!more)
            return fine;
    }
}

/* Fire and forget: it is sent after the turn was cancelled. */
static void remote_cancel(talk *t)
{
    const char *headers[6];
    a2a_request request;
    buf text;
    wire_out got;
    call_make(t, A2A_CANCEL, NULL, &request);
    buf_init(&text, CARD_BYTES);
    wire_in in = {.url = request.url,
                  .headers = headers,
                  .n_headers = headers_fill(t, t->remote.v1, "application/json", headers),
                  .body = request.body,
                  .n = strlen(request.body),
                  .limits = &t->set->limits,
                  .deadline = time_mono_us() + CANCEL_MS * 1000,
                  .piece = card_piece,
                  .arg = &text};
    wire_run(&in, &got);
    wire_release(&got);
    buf_release(&text);
}

/* ---- rounds */

/* The decision that an answer in words is, as kagent's page would send it: yes or no, or an answer
 * to each question, one a line. */
static const char *decision_make(talk *t, const char *answer)
{
    buf b;
    json_writer w;
    size_t n = t->answer.questions;
    buf_init(&b, A2A_REQUEST_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "decision_type", n || strcmp(answer, "approve") == 0 ? "approve" : "reject");
    if (n) {
        jw_key(&w, "ask_user_answers");
        jw_array(&w);
        for (size_t i = 0; i < n; i++) {
            size_t line = i + 1 < n ? strcspn(answer, "\n") : strlen(answer);
            jw_object(&w);
            jw_key(&w, "answer");
            jw_array(&w);
            jw_strn(&w, answer, line);
            jw_end_array(&w);
            jw_end_object(&w);
            answer += line + (answer[line] == '\n');
        }
        jw_end_array(&w);
    }
    jw_end_object(&w);
    return buf_keep(&b, t->arena);
}

/* The user's answer to a question, as a message of the same task. */
static const char *answer_message(talk *t, const agent_reply *given)
{
    a2a_reply reply = {.task = t->answer.task,
                       .context = t->answer.context,
                       .given = given,
                       .decision = given->decision};
    if (t->answer.request && !reply.decision)
        reply.decision = decision_make(t, given->text ? given->text : "");
    return a2a_message_reply(t->arena, &reply, t->remote.v1);
}

/* NULL: the turn was cancelled. */
static const char *question_ask(talk *t)
{
    static const char options[] = "[{\"id\":\"approve\",\"name\":\"Approve\"},"
                                  "{\"id\":\"reject\",\"name\":\"Reject\"}]";
    char id[AGENT_CALL_ID];
    agent_reply answer = {0};
    bool confirm = t->answer.request && !t->answer.questions;
    agent_question q = {.id = agent_call_id(id),
                        .kind = confirm ? "permission" : "input",
                        .text = t->answer.question,
                        .options = confirm ? options : NULL,
                        .request = t->answer.request,
                        .metadata = t->answer.question_metadata};
    int64_t asked = time_mono_us();
    if (!t->sink->ask(t->sink->arg, &q, &answer))
        return NULL;
    t->deadline += time_mono_us() - asked; /* the user's time does not count */
    return answer_message(t, &answer);
}

/* Requests the rest of an answer whose stream broke off, or whose task continues after the
 * response. False: it is not available, and *out is filled in. */
static bool rest_ask(talk *t, agent_result *out)
{
    if (!t->answer.task) {
        agent_fail(out, "the answer broke off: %s",
                   *t->answer.reason ? t->answer.reason : "the connection was closed");
        return false;
    }
    if (t->remote.stream) {
        if (!call_run(t, A2A_SUBSCRIBE, NULL, out))
            return false;
        if (!t->answer.code)
            return true;
    }
    if (!agent_sleep(t->sink, POLL_MS)) {
        *out = (agent_result){.end = AGENT_CANCELLED};
        return false;
    }
    return call_run(t, A2A_GET, NULL, out);
}

/* Runs until the answer is complete; false: *out is filled in. */
static bool rounds_run(talk *t, const char *message, agent_result *out)
{
    bool stream = t->remote.stream;
    for (int round = 0, rests = 0; message || rests < A2A_ROUNDS; round++) {
        bool fine = message ? call_run(t, stream ? A2A_SEND_STREAM : A2A_SEND, message, out)
                            : rest_ask(t, out);
        if (!fine)
            return false;
        message = NULL;
        if (t->answer.state == A2A_ASKS && t->answer.task && round < A2A_ROUNDS) {
            message = question_ask(t);
            if (!message)
                break;
        } else if (t->answer.state != A2A_OPEN) {
            break;
        } else if (stream) {
            rests++;
        }
    }
    return true;
}

static void result_fill(const talk *t, agent_result *out)
{
    switch (t->answer.state) {
    case A2A_DONE:
        *out = (agent_result){.end = AGENT_DONE};
        break;
    case A2A_FAILED:
        agent_fail(out, "%s", t->answer.reason);
        break;
    case A2A_STOPPED:
        *out = (agent_result){.end = AGENT_CANCELLED};
        break;
    case A2A_ASKS:
    case A2A_OPEN:
        agent_fail(out, "the agent asked or broke off too often");
        break;
    }
}

static void a2a_run(agent *a, const agent_turn *turn, const agent_sink *s, agent_result *out)
{
    a2a *own = a->own;
    talk t = {.own = own, .set = &own->set, .turn = turn, .sink = s, .arena = arena_new()};
    t.deadline = time_mono_us() + own->set.limits.total_ms * 1000;
    a2a_answer_init(&t.answer, t.arena, s);
    t.answer.keeps = own->set.memory == A2A_READS_BACK;
    a2a_context_choose(t.arena, t.set, turn, &t.context);
    const char *message = NULL;
    if (remote_find(&t, out)) {
        t.answer.is_bare = t.remote.is_rest;
        message = a2a_message_first(t.arena, t.set, turn, t.remote.v1, &t.context);
        /* The message depends on what the context holds, so it is recorded as it is sent. */
        if (message)
            agent_sent(s, &(agent_prompt){.instructions = "",
                                          .settings = "{}",
                                          .messages = arena_printf(t.arena, "[%s]", message)});
        if (!message)
            agent_fail(out, "the message is over %d MiB", A2A_REQUEST_BYTES >> 20);
        else if (rounds_run(&t, message, out))
            result_fill(&t, out);
    }
    if (s->cancelled(s->arg)) {
        *out = (agent_result){.end = AGENT_CANCELLED};
        if (t.answer.task && t.answer.state != A2A_DONE && t.answer.state != A2A_FAILED)
            remote_cancel(&t);
    }
    agent_hide(out->message, own->set.key);
    out->keeps = t.answer.keeps;
    a2a_answer_release(&t.answer);
    arena_free(t.arena);
}

const agent_kind agent_a2a = {
    .name = "a2a",
    .about = "a remote agent that speaks A2A, 0.3 or 1.0",
    .settings = settings,
    .open = a2a_open,
    .close = a2a_close,
    .run = a2a_run,
};
