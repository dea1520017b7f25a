/* SPDX-License-Identifier: Apache-2.0
 *
 * openai_http.c: one request to a chat endpoint, on the thread of its turn.
 *
 * libcurl's multi interface is used for one transfer at a time, because it hands back control: a
 * turn that is cancelled, or past a limit, ends within a slice of waiting. A multi handle keeps its
 * connections, so idle ones wait for the next turn.
 *
 * A request is sent again only when nothing of an answer came: the connection could not be made, or
 * the provider said 408, 429 or 5xx. After the first byte of an answer never: the model has run.
 */
#include "agent/openai.h"

#include "base/util.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    IDLE_MOST = 32, /* handles that are kept */
    SLICE_MS = 50,  /* how long a cancel may go unnoticed */
    CLOSE_MS = 50,  /* how long the end of a stream behind [DONE] is waited for */
    TAIL_MS = 5000, /* how long usage behind the finish_reason is waited for */
    BACKOFF_MOST_MS = 20000,
    ERROR_BYTES = 64 << 10 /* of an error's body */
};

struct openai_http {
    const openai_settings *set;
    struct curl_slist *headers;
    pthread_mutex_t lock;
    CURLM *idle[IDLE_MOST];
    size_t n;
};

/* One try. */
typedef struct transfer {
    openai_http *http;
    const buf *request;
    openai_stream *st;
    CURL *curl;
    CURLM *multi;
    int64_t deadline, started, last; /* last: the newest byte; 0 before the first */
    int64_t done_at;                 /* when [DONE] came; 0: it did not */
    long status;
    bool streams; /* events, else one JSON text */
    buf body;     /* of an error, or of an answer in one piece */
    CURLcode rc;
    const char *cut; /* why we stopped reading; NULL: we did not */
    char why[96];
    char told[CURL_ERROR_SIZE]; /* by libcurl, about rc; may be empty */
} transfer;

/* ------------------------------------------------------------------ handles */

openai_http *openai_http_new(const openai_settings *o)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    openai_http *h = xcalloc(1, sizeof *h);
    h->set = o;
    pthread_mutex_init(&h->lock, NULL);
    h->headers = curl_slist_append(NULL, "Content-Type: application/json");
    h->headers = curl_slist_append(h->headers, "Accept: text/event-stream");
    h->headers = curl_slist_append(h->headers, "Expect:");
    if (*o->key) {
        buf b;
        buf_init(&b, 64 << 10);
        buf_printf(&b, "Authorization: Bearer %s", o->key);
        h->headers = curl_slist_append(h->headers, b.p);
        buf_release(&b);
    }
    return h;
}

void openai_http_free(openai_http *h)
{
    for (size_t i = 0; i < h->n; i++)
        curl_multi_cleanup(h->idle[i]);
    curl_slist_free_all(h->headers);
    pthread_mutex_destroy(&h->lock);
    free(h);
    curl_global_cleanup();
}

static CURLM *multi_take(openai_http *h)
{
    pthread_mutex_lock(&h->lock);
    CURLM *m = h->n ? h->idle[--h->n] : NULL;
    pthread_mutex_unlock(&h->lock);
    return m ? m : curl_multi_init();
}

static void multi_give(openai_http *h, CURLM *m)
{
    pthread_mutex_lock(&h->lock);
    bool kept = h->n < IDLE_MOST;
    if (kept)
        h->idle[h->n++] = m;
    pthread_mutex_unlock(&h->lock);
    if (!kept)
        curl_multi_cleanup(m);
}

/* ------------------------------------------------------------------ one try */

/* The first bytes of a body tell what it is. */
static void answer_begin(transfer *t)
{
    const char *type = NULL;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->status);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_TYPE, &type);
    bool json = type && strncasecmp(type, "application/json", 16) == 0;
    t->streams = t->status >= 200 && t->status < 300 && !json;
}

static size_t body_add(char *p, size_t size, size_t n, void *arg)
{
    transfer *t = arg;
    n *= size;
    if (!t->last)
        answer_begin(t);
    t->last = time_mono_us();
    if (t->streams) {
        if (!t->st->done && !openai_stream_add(t->st, p, n) && !t->st->done)
            return 0;
        if (t->st->done && !t->done_at)
            t->done_at = t->last;
        return n;
    }
    bool whole = t->status >= 200 && t->status < 300;
    if (!whole && t->body.n + n > ERROR_BYTES)
        n = ERROR_BYTES - t->body.n;
    buf_add(&t->body, p, n);
    return t->body.over || (!whole && t->body.n == ERROR_BYTES) ? 0 : n;
}

static bool transfer_open(transfer *t)
{
    const openai_settings *o = t->http->set;
    t->curl = curl_easy_init();
    t->multi = multi_take(t->http);
    if (!t->curl || !t->multi)
        return false;
    curl_easy_setopt(t->curl, CURLOPT_URL, o->url);
    curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->curl, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a slow name server */
    curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
    curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, t->told);
    if (*o->ca_file) {
        curl_easy_setopt(t->curl, CURLOPT_CAINFO, o->ca_file);
        curl_easy_setopt(t->curl, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->http->headers);
    curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, t->request->p);
    curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->request->n);
    curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, body_add);
    curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, t);
    buf_init(&t->body, OPENAI_ANSWER_BYTES);
    return curl_multi_add_handle(t->multi, t->curl) == CURLM_OK;
}

static void transfer_close(transfer *t)
{
    if (t->multi && t->curl)
        curl_multi_remove_handle(t->multi, t->curl);
    curl_easy_cleanup(t->curl);
    if (t->multi)
        multi_give(t->http, t->multi);
    if (t->body.p)
        buf_release(&t->body);
}

/* Milliseconds until the next limit; 0 and `cut` when one is passed. */
static int64_t limit_next(transfer *t)
{
    const openai_settings *o = t->http->set;
    int64_t now = time_mono_us();
    int64_t idle = t->st->finished && o->idle_ms > TAIL_MS ? TAIL_MS : o->idle_ms;
    int64_t wait = t->last ? idle : o->first_byte_ms;
    int64_t end = (t->last ? t->last : t->started) + wait * 1000;
    if (t->done_at)
        end = t->done_at + CLOSE_MS * 1000;
    bool total = t->deadline < end;
    if (total)
        end = t->deadline;
    if (end > now)
        return (end - now) / 1000 + 1;
    if (total)
        snprintf(t->why, sizeof t->why, "the turn took over %.7g s", (double)o->total_ms / 1000);
    else
        snprintf(t->why, sizeof t->why, "nothing came %s %.7g s", t->last ? "for" : "within",
                 (double)wait / 1000);
    t->cut = t->why;
    return 0;
}

/* Until the transfer has ended (t->rc), a limit is passed (t->cut), or the turn is cancelled. */
static void transfer_run(transfer *t)
{
    const agent_sink *s = t->st->s;
    for (;;) {
        int running, left;
        CURLMcode mc = curl_multi_perform(t->multi, &running);
        CURLMsg *m;
        while ((m = curl_multi_info_read(t->multi, &left)))
            if (m->msg == CURLMSG_DONE) {
                t->rc = m->data.result;
                return;
            }
        if (mc != CURLM_OK || !running) {
            t->rc = CURLE_FAILED_INIT;
            return;
        }
        if (!t->st->cancelled && s->cancelled(s->arg))
            t->st->cancelled = true;
        int64_t wait = t->st->cancelled ? 0 : limit_next(t);
        if (!wait)
            return;
        curl_multi_poll(t->multi, NULL, 0, (int)(wait < SLICE_MS ? wait : SLICE_MS), NULL);
    }
}

/* ------------------------------------------------------------------ what came of it */

static bool connect_failed(const transfer *t)
{
    curl_off_t connected = 0;
    curl_easy_getinfo(t->curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
    return t->rc == CURLE_COULDNT_RESOLVE_HOST || t->rc == CURLE_COULDNT_RESOLVE_PROXY ||
           t->rc == CURLE_COULDNT_CONNECT ||
           ((t->rc == CURLE_OPERATION_TIMEDOUT || t->rc == CURLE_SSL_CONNECT_ERROR) && !connected);
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

static void status_fail(const transfer *t, agent_result *out)
{
    arena *a = arena_new();
    const char *text = openai_error_text(a, t->body.p, t->body.n);
    if (text)
        agent_fail(out, "the provider answered %ld: %s", t->status,
                   key_hide(a, text, t->http->set->key));
    else
        agent_fail(out, "the provider answered %ld", t->status);
    arena_free(a);
}

/* Why the stream broke off; NULL: it did not. Constant texts. */
static const char *broken_text(CURLcode rc)
{
    if (rc == CURLE_OK || rc == CURLE_WRITE_ERROR)
        return NULL;
    if (rc == CURLE_PARTIAL_FILE || rc == CURLE_RECV_ERROR)
        return "the connection was closed";
    return curl_easy_strerror(rc);
}

/* How long the provider asks to wait, in milliseconds; 0: it does not say. */
static int64_t retry_after(const transfer *t)
{
    curl_off_t s = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RETRY_AFTER, &s);
    return s > 0 && s < 1000000 ? (int64_t)s * 1000 : s > 0 ? INT64_MAX : 0;
}

/* True when it may be tried again; *wait is what the provider asks for. */
static bool transfer_judge(transfer *t, agent_result *out, int64_t *wait)
{
    *wait = 0;
    if (!t->last)
        curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->status);
    if (t->st->cancelled) {
        *out = (agent_result){.end = AGENT_CANCELLED};
    } else if (t->status >= 200 && t->status < 300) {
        if (!t->streams && !t->cut && t->rc == CURLE_OK && t->body.n)
            openai_stream_whole(t->st, t->body.p, t->body.n);
        else if (t->body.over)
            t->st->error = "the answer is over 16 MiB";
        if (t->st->error)
            t->st->error = key_hide(t->st->a, t->st->error, t->http->set->key);
        const char *broken = broken_text(t->rc);
        openai_stream_end(t->st, t->cut ? t->cut : broken, out);
    } else if (t->status) {
        status_fail(t, out);
        *wait = retry_after(t);
        return status_passes(t->status) && !t->cut;
    } else if (t->cut) {
        agent_fail(out, "the provider did not answer: %s", t->cut);
    } else if (t->rc == CURLE_PEER_FAILED_VERIFICATION) {
        agent_fail(out, "the provider cannot be trusted, and was sent nothing: %s",
                   *t->told ? t->told : curl_easy_strerror(t->rc));
    } else {
        agent_fail(out, "the provider cannot be reached: %s", curl_easy_strerror(t->rc));
        return connect_failed(t);
    }
    return false;
}

/* False when it would be too long: the provider wants more, or the turn's time is over by then. */
static bool backoff_span(const openai_settings *o, int64_t attempt, int64_t asked, int64_t deadline,
                         int64_t *ms)
{
    uint8_t dice;
    random_bytes(&dice, 1);
    int64_t span = o->backoff_ms << (attempt < 8 ? attempt : 8);
    span = span > BACKOFF_MOST_MS ? BACKOFF_MOST_MS : span;
    span +=
        span * dice / 1024; /* so that many that were refused at once do not come back at once */
    *ms = asked > span ? asked : span;
    return asked <= o->retry_after_ms && time_mono_us() / 1000 + *ms < deadline / 1000;
}

void openai_http_run(openai_http *h, const buf *request, int64_t deadline, openai_stream *st,
                     agent_result *out)
{
    for (int64_t attempt = 0;; attempt++) {
        transfer t = {.http = h,
                      .request = request,
                      .st = st,
                      .deadline = deadline,
                      .started = time_mono_us()};
        int64_t asked = 0, ms = 0;
        bool again = false;
        if (transfer_open(&t)) {
            transfer_run(&t);
            again = transfer_judge(&t, out, &asked);
        } else {
            agent_fail(out, "no request can be made");
        }
        transfer_close(&t);
        if (!again || attempt >= h->set->retries ||
            !backoff_span(h->set, attempt, asked, deadline, &ms))
            return;
        if (!agent_sleep(st->s, ms)) {
            *out = (agent_result){.end = AGENT_CANCELLED};
            return;
        }
    }
}
