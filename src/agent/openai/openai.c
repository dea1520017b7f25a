/* SPDX-License-Identifier: Apache-2.0
 *
 * openai.c: the agent kind `openai`, for any OpenAI-compatible chat endpoint: its settings, and the
 * rounds of a turn. agent/openai/request.c builds requests, agent/openai/http.c sends them,
 * agent/openai/stream.c reads the answers.
 *
 * No tools run here. A model's tool call is recorded and ends the turn; the client that runs the
 * tool appends the result. With tool_calls=ask the user is asked for it, and the turn continues.
 */
#include "agent/openai/openai.h"

#include "base/util.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const agent_setting settings[] = {
    {"url", NULL, "base URL of the API, up to /v1", false},
    {"model", NULL, "the model, as the endpoint names it", false},
    {"models", "", "other models that a session may choose, separated by blanks", false},
    {"context", "0", "size of the model's context in tokens; 0: unknown", false},
    {"key", "", "the API key; $NAME reads it from the environment", true},
    {"ca_file", "", "certificates to trust (PEM) instead of the system's", false},
    {"system", "", "the system prompt, before everything else", false},
    {"temperature", "", "sampling temperature, as the endpoint defines it", false},
    {"max_tokens", "", "maximum number of tokens in an answer", false},
    {"extra", "{}", "a JSON object whose members are added to the request", false},
    {"cache", "prompt_cache_key", "the member for the cache key: prompt_cache_key, user, none",
     false},
    {"usage", "on", "request token usage: on, off", false},
    {"tool_calls", "end",
     "what a tool call does: end the turn, or ask the user for its result: end, ask", false},
    {"connect_s", "10", "seconds to connect", false},
    {"first_byte_s", "120", "seconds until the first byte of the answer", false},
    {"idle_s", "60", "seconds between bytes", false},
    {"timeout_s", "900", "seconds for the whole turn", false},
    {"retries", "2", "retries if no answer arrived", false},
    {"backoff_ms", "500", "wait before the first retry; doubles each time", false},
    {"retry_after_s", "30", "maximum wait that a provider may ask for", false},
    {NULL, NULL, NULL, false}};

typedef struct openai {
    arena *arena;
    openai_settings set;
    openai_http *http;
} openai;

/* ------------------------------------------------------------------ settings */

static bool wrong(char *message, const char *setting, const char *value, const char *must)
{
    snprintf(message, AGENT_MESSAGE, "%s is '%.80s'; it must be %s", setting, value, must);
    return false;
}

static bool json_of(arena *a, const char *text, json_type type, json_doc *d)
{
    return json_parse(a, text, strlen(text), 0, d, NULL) && json_is(&d->nodes[0], type);
}

/* Parses seconds with a fraction, up to a day. */
static bool span_read(const agent *a, arena *mem, const char *setting, int64_t *ms, char *message)
{
    json_doc d;
    int64_t nano = 0;
    const char *value = agent_get(a, setting);
    if (!json_of(mem, value, JSON_NUMBER, &d) || !json_nano(&d, &d.nodes[0], &nano) ||
        nano < 1000000 || nano > INT64_C(86400000000000))
        return wrong(message, setting, value, "a number of seconds from 0.001 to 86400");
    *ms = nano / 1000000;
    return true;
}

static bool url_read(openai *own, const char *value, char *message)
{
    size_t n = strlen(value), skip = strncasecmp(value, "https://", 8) == 0  ? 8
                                     : strncasecmp(value, "http://", 7) == 0 ? 7
                                                                             : 0;
    bool plain = n < 2000;
    for (size_t i = 0; i < n; i++)
        plain = plain && value[i] > ' ' && value[i] < 127 && value[i] != '?' && value[i] != '#';
    if (!skip || !plain || n == skip || value[skip] == '/')
        return wrong(message, "url", value, "http(s)://HOST/PATH, without a query");
    static const char end[] = "/chat/completions";
    while (n > skip && value[n - 1] == '/')
        n--;
    bool whole = n > sizeof end && memcmp(value + n - (sizeof end - 1), end, sizeof end - 1) == 0;
    own->set.url = arena_printf(own->arena, "%.*s%s", (int)n, value, whole ? "" : end);
    return true;
}

static bool choices_read(const agent *a, openai_settings *o, char *message)
{
    const char *cache = agent_get(a, "cache"), *usage = agent_get(a, "usage");
    const char *calls = agent_get(a, "tool_calls");
    o->cache_field = strcmp(cache, "none") == 0 ? "" : cache;
    o->usage = strcmp(usage, "on") == 0;
    o->ask_tools = strcmp(calls, "ask") == 0;
    if (*o->cache_field && strcmp(cache, "prompt_cache_key") != 0 && strcmp(cache, "user") != 0)
        return wrong(message, "cache", cache, "prompt_cache_key, user or none");
    if (!o->usage && strcmp(usage, "off") != 0)
        return wrong(message, "usage", usage, "on or off");
    if (!o->ask_tools && strcmp(calls, "end") != 0)
        return wrong(message, "tool_calls", calls, "end or ask");
    return true;
}

static bool texts_read(const agent *a, openai *own, char *message)
{
    openai_settings *o = &own->set;
    json_doc d;
    int64_t n;
    o->model = agent_get(a, "model");
    o->key = agent_get(a, "key");
    o->system = agent_get(a, "system");
    o->temperature = agent_get(a, "temperature");
    o->max_tokens = agent_get(a, "max_tokens");
    o->extra = agent_get(a, "extra");
    if (!*o->model)
        return wrong(message, "model", o->model, "a name");
    for (const char *s = o->key; *s; s++)
        if (*s <= ' ' || *s > '~') {
            snprintf(message, AGENT_MESSAGE, "key holds a character that no key can have");
            return false;
        }
    if (strlen(o->key) > 32768)
        return wrong(message, "key", "(hidden)", "at most 32768 bytes long");
    if (*o->temperature && !json_of(own->arena, o->temperature, JSON_NUMBER, &d))
        return wrong(message, "temperature", o->temperature, "a number");
    if (*o->max_tokens && (!json_of(own->arena, o->max_tokens, JSON_NUMBER, &d) ||
                           !json_int(&d, &d.nodes[0], &n) || n < 1))
        return wrong(message, "max_tokens", o->max_tokens, "a whole number from 1 on");
    if (!json_of(own->arena, o->extra, JSON_OBJECT, &d))
        return wrong(message, "extra", o->extra, "a JSON object");
    return true;
}

/* Checks that the file can be read now rather than at the first message. */
static bool ca_read(const agent *a, openai_settings *o, char *message)
{
    o->ca_file = agent_get(a, "ca_file");
    if (!*o->ca_file)
        return true;
    X509_STORE *store = X509_STORE_new();
    bool fine = store && X509_STORE_load_file(store, o->ca_file) == 1;
    X509_STORE_free(store);
    ERR_clear_error();
    return fine || wrong(message, "ca_file", o->ca_file, "a file with certificates (PEM)");
}

static bool settings_read(const agent *a, openai *own, char *message)
{
    openai_settings *o = &own->set;
    return url_read(own, agent_get(a, "url"), message) && texts_read(a, own, message) &&
           choices_read(a, o, message) && ca_read(a, o, message) &&
           span_read(a, own->arena, "connect_s", &o->connect_ms, message) &&
           span_read(a, own->arena, "first_byte_s", &o->first_byte_ms, message) &&
           span_read(a, own->arena, "idle_s", &o->idle_ms, message) &&
           span_read(a, own->arena, "timeout_s", &o->total_ms, message) &&
           span_read(a, own->arena, "retry_after_s", &o->retry_after_ms, message) &&
           agent_number(a, "retries", 0, 10, &o->retries, message) &&
           agent_number(a, "backoff_ms", 1, 10000, &o->backoff_ms, message) &&
           agent_number(a, "context", 0, AGENT_MAX_CONTEXT, &(int64_t){0}, message);
}

static bool openai_open(agent *a, char *message)
{
    arena *mem = arena_new();
    openai *own = arena_alloc(mem, sizeof *own);
    own->arena = mem;
    if (!settings_read(a, own, message)) {
        arena_free(mem);
        return false;
    }
    own->http = openai_http_new(&own->set);
    a->own = own;
    return true;
}

static void openai_close(agent *a)
{
    openai *own = a->own;
    openai_http_free(own->http);
    arena_free(own->arena);
}

/* ------------------------------------------------------------------ a turn */

typedef struct rounds {
    arena *arena;
    const agent_sink *sink;
    VEC(ramet_entry) history; /* of the turn, plus what earlier rounds added */
    ramet_usage usage;
    bool usage_came;
    int64_t deadline; /* time_mono_us() */
} rounds;

static void usage_sum(rounds *r, const openai_stream *st)
{
    r->usage.input += st->usage.input;
    r->usage.output += st->usage.output;
    r->usage.cached += st->usage.cached;
    r->usage.cost += st->usage.cost;
    r->usage_came = r->usage_came || st->usage_came;
}

/* Adds an entry of one part, which `part` contains. It equals the entry that will be recorded, so
 * the next turn sends the same bytes. */
static void entry_push(rounds *r, ramet_role role, const char *part)
{
    ramet_entry e = {
        .role = role, .text = "", .parts = arena_printf(r->arena, "[%s]", part), .format = "ramet"};
    VEC_PUSH(r->arena, &r->history, e);
}

/* {type, id?, name?, key: json} */
static const char *part_write(arena *a, const char *type, const char *id, const char *name,
                              const char *key, const char *json)
{
    buf b;
    json_writer w;
    buf_init(&b, OPENAI_REQUEST_BYTES);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "type", type);
    if (id)
        jw_kstr(&w, "id", id);
    if (name)
        jw_kstr(&w, "name", name);
    jw_kraw(&w, key, json);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

/* Asks the user for the result of each call; false if the turn was cancelled. */
static bool results_ask(rounds *r, openai_stream *st)
{
    if (st->text.n)
        entry_push(
            r, RAMET_ASSISTANT,
            part_write(r->arena, "text", NULL, NULL, "text", json_quote(r->arena, st->text.data)));
    for (size_t i = 0; i < st->n_calls; i++)
        entry_push(r, RAMET_ASSISTANT,
                   part_write(r->arena, "tool_call", st->calls[i].id, st->calls[i].name, "input",
                              openai_call_input(st, &st->calls[i])));
    for (size_t i = 0; i < st->n_calls; i++) {
        const openai_call *c = &st->calls[i];
        agent_reply answer = {0};
        char id[AGENT_CALL_ID];
        agent_question q = {.id = agent_call_id(id),
                            .kind = "input",
                            .text = arena_printf(r->arena,
                                                 "The model calls %s with %s. What is the result?",
                                                 c->name, openai_call_input(st, c))};
        int64_t asked = time_mono_us();
        if (!r->sink->ask(r->sink->arg, &q, &answer))
            return false;
        r->deadline += time_mono_us() - asked; /* a person's time is not the model's */
        const char *output = json_quote(r->arena, answer.text ? answer.text : "");
        if (!r->sink->tool_result(r->sink->arg, c->id, output, false))
            return false;
        entry_push(r, RAMET_TOOL,
                   part_write(r->arena, "tool_result", c->id, NULL, "output", output));
    }
    return true;
}

/* Runs one request and its answer. Returns true if another round follows. */
static bool round_run(openai *own, const agent_turn *turn, rounds *r, agent_result *out)
{
    agent_turn t = *turn;
    t.history = r->history.items;
    t.n = r->history.n;
    buf request;
    if (!openai_request(&own->set, &t, r->sink, &request)) {
        agent_fail(out, "the history is over %d MiB", OPENAI_REQUEST_BYTES >> 20);
        buf_release(&request);
        return false;
    }
    openai_stream *st = xcalloc(1, sizeof *st);
    openai_stream_init(st, r->sink);
    openai_http_run(own->http, &request, r->deadline, st, out);
    usage_sum(r, st);
    bool more = out->end == AGENT_DONE && own->set.ask_tools && st->n_calls;
    if (more && !results_ask(r, st)) {
        *out = (agent_result){.end = AGENT_CANCELLED};
        more = false;
    }
    openai_stream_release(st);
    free(st);
    buf_release(&request);
    return more;
}

static void openai_run(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out)
{
    openai *own = a->own;
    rounds r = {.arena = arena_new(), .sink = s};
    r.deadline = time_mono_us() + own->set.total_ms * 1000;
    for (size_t i = 0; i < t->n; i++)
        VEC_PUSH(r.arena, &r.history, t->history[i]);
    *out = (agent_result){.end = AGENT_DONE};
    int n = 0;
    while (round_run(own, t, &r, out))
        if (++n == OPENAI_ROUNDS) {
            agent_fail(out, "the model called tools %d times in one turn", OPENAI_ROUNDS);
            break;
        }
    if (r.usage_came)
        s->usage(s->arg, &r.usage);
    arena_free(r.arena);
}

const agent_kind agent_openai = {
    .name = "openai",
    .about = "a model behind an OpenAI-compatible chat endpoint",
    .settings = settings,
    .early = true,
    .takes_options = true,
    .open = openai_open,
    .close = openai_close,
    .run = openai_run,
    .messages = openai_messages,
};
