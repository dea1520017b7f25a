/* SPDX-License-Identifier: Apache-2.0
 *
 * http.c: sends one request to a chat endpoint, on the thread of its turn (wire.h).
 *
 * A request is retried only if no part of an answer arrived: the connection failed, or the provider
 * answered 408, 429 or 5xx. After the first byte of an answer it is never retried: the model has
 * run.
 */
#include "agent/openai/openai.h"

#include "agent/wire.h"
#include "base/util.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    CLOSE_MS = 50,  /* to wait for the end of a stream after [DONE] */
    TAIL_MS = 5000, /* to wait for usage after the finish_reason */
    MAX_BACKOFF_MS = 20000
};

struct openai_http {
    const openai_settings *set;
    wire_limits limits;
    wire_pool *pool;
    char *key; /* its header; NULL: none */
};

openai_http *openai_http_new(const openai_settings *o)
{
    wire_open();
    openai_http *h = xcalloc(1, sizeof *h);
    h->set = o;
    h->limits = (wire_limits){o->connect_ms, o->first_byte_ms, o->idle_ms, o->total_ms};
    h->pool = wire_pool_new();
    if (*o->key) {
        buf b;
        buf_init(&b, 64 << 10);
        buf_printf(&b, "Authorization: Bearer %s", o->key);
        h->key = xstrdup(b.data);
        buf_release(&b);
    }
    return h;
}

void openai_http_free(openai_http *h)
{
    wire_pool_free(h->pool);
    free(h->key);
    free(h);
    wire_close();
}

/* ------------------------------------------------------------------ one try */

/* The state of one try. */
typedef struct attempt {
    const openai_http *http;
    openai_stream *st;
    int64_t done_at; /* when [DONE] arrived; 0: not yet */
    bool whole;      /* a single JSON text, otherwise events */
    buf body;        /* for a single JSON text */
} attempt;

static bool piece_add(void *arg, const char *type, const char *p, size_t n)
{
    attempt *t = arg;
    openai_stream *st = t->st;
    t->whole = strncasecmp(type, "application/json", 16) == 0;
    if (t->whole) {
        buf_add(&t->body, p, n);
        return !t->body.over;
    }
    if (st->done)
        return time_mono_us() - t->done_at < CLOSE_MS * 1000;
    if (!openai_stream_add(st, p, n) && !st->done)
        return false;
    if (st->done)
        t->done_at = time_mono_us();
    return true;
}

static int64_t patience(void *arg)
{
    const attempt *t = arg;
    int64_t idle = t->http->set->idle_ms;
    if (t->done_at)
        return CLOSE_MS;
    return t->st->finished && idle > TAIL_MS ? TAIL_MS : idle;
}

static bool status_passes(long status)
{
    return status == 408 || status == 429 || (status >= 500 && status <= 599);
}

/* Some providers quote the key that they refuse. */
static const char *key_hide(arena *a, const char *text, const char *key)
{
    char *out = arena_strdup(a, text);
    agent_hide(out, key);
    return out;
}

static void status_fail(const attempt *t, const wire_out *got, agent_result *out)
{
    arena *a = arena_new();
    const char *text = openai_error_text(a, got->error.data, got->error.n);
    if (text)
        agent_fail(out, "the provider answered %ld: %s", got->status,
                   key_hide(a, text, t->http->set->key));
    else
        agent_fail(out, "the provider answered %ld", got->status);
    arena_free(a);
}

static void answer_end(attempt *t, const wire_out *got, agent_result *out)
{
    openai_stream *st = t->st;
    if (t->whole && !*got->why && !got->enough && t->body.n)
        openai_stream_whole(st, t->body.data, t->body.n);
    else if (t->body.over)
        st->error = "the answer is over 16 MiB";
    if (st->error)
        st->error = key_hide(st->arena, st->error, t->http->set->key);
    openai_stream_end(st, *got->why ? got->why : NULL, out);
}

/* Returns true if it may be retried. */
static bool attempt_judge(attempt *t, const wire_out *got, agent_result *out)
{
    t->st->cancelled = t->st->cancelled || got->cancelled;
    if (t->st->cancelled) {
        *out = (agent_result){.end = AGENT_CANCELLED};
    } else if (wire_fine(got)) {
        answer_end(t, got, out);
    } else if (got->status) {
        status_fail(t, got, out);
        return status_passes(got->status) && !got->late;
    } else if (got->late) {
        agent_fail(out, "the provider did not answer: %s", got->why);
    } else if (got->untrusted) {
        agent_fail(out, "the provider cannot be trusted, and was sent nothing: %s", got->why);
    } else {
        agent_fail(out, "the provider cannot be reached: %s", got->why);
        return got->unsent;
    }
    return false;
}

/* False if the wait would be too long: the provider asks for more, or the turn would time out. */
static bool backoff_span(const openai_settings *o, int64_t tries, int64_t asked, int64_t deadline,
                         int64_t *ms)
{
    uint8_t dice;
    random_bytes(&dice, 1);
    int64_t span = o->backoff_ms << (tries < 8 ? tries : 8);
    span = span > MAX_BACKOFF_MS ? MAX_BACKOFF_MS : span;
    span += span * dice / 1024; /* spread out retries of clients refused together */
    *ms = asked > span ? asked : span;
    return asked <= o->retry_after_ms && time_mono_us() / 1000 + *ms < deadline / 1000;
}

void openai_http_run(openai_http *h, const buf *request, int64_t deadline, openai_stream *st,
                     agent_result *out)
{
    const char *headers[] = {"Content-Type: application/json", "Accept: text/event-stream", h->key};
    for (int64_t tries = 0;; tries++) {
        attempt t = {.http = h, .st = st};
        wire_in in = {.url = h->set->url,
                      .headers = headers,
                      .n_headers = h->key ? 3 : 2,
                      .body = request->data,
                      .n = request->n,
                      .pool = h->pool,
                      .ca_file = h->set->ca_file,
                      .limits = &h->limits,
                      .deadline = deadline,
                      .sink = st->sink,
                      .piece = piece_add,
                      .patience = patience,
                      .arg = &t};
        wire_out got;
        int64_t ms;
        buf_init(&t.body, OPENAI_ANSWER_BYTES);
        wire_run(&in, &got);
        bool again = attempt_judge(&t, &got, out) && tries < h->set->retries &&
                     backoff_span(h->set, tries, got.retry_after_ms, deadline, &ms);
        buf_release(&t.body);
        wire_release(&got);
        if (!again)
            return;
        if (!agent_sleep(st->sink, ms)) {
            *out = (agent_result){.end = AGENT_CANCELLED};
            return;
        }
    }
}
