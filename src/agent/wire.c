/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.c: one HTTP exchange of an agent.
 *
 * libcurl's multi interface is used for a single transfer, because it returns control between
 * slices of waiting. A multi handle keeps its connections, so idle handles are pooled.
 */
#include "agent/wire.h"

#include "base/curl_setup.h"
#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_IDLE = 32, /* handles kept in a pool */
    SLICE_MS = 50  /* how long a cancellation may go unnoticed */
};

typedef struct transfer {
    const wire_in *in;
    wire_out *out;
    CURL *curl;
    CURLM *multi;
    struct curl_slist *headers;
    int64_t started, last; /* last: time of the newest byte; 0 before the first */
    CURLcode rc;
    char detail[CURL_ERROR_SIZE]; /* libcurl's message for rc; may be empty */
} transfer;

void wire_open(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void wire_close(void)
{
    curl_global_cleanup();
}

bool wire_fine(const wire_out *out)
{
    return out->status >= 200 && out->status < 300;
}

/* ------------------------------------------------------------------ handles */

struct wire_pool {
    pthread_mutex_t lock;
    CURLM *idle[MAX_IDLE];
    size_t n;
};

wire_pool *wire_pool_new(void)
{
    wire_pool *p = xcalloc(1, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void wire_pool_free(wire_pool *p)
{
    for (size_t i = 0; i < p->n; i++)
        curl_multi_cleanup(p->idle[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

static CURLM *multi_take(wire_pool *p)
{
    CURLM *m = NULL;
    if (p) {
        pthread_mutex_lock(&p->lock);
        m = p->n ? p->idle[--p->n] : NULL;
        pthread_mutex_unlock(&p->lock);
    }
    return m ? m : curl_multi_init();
}

static void multi_give(wire_pool *p, CURLM *m)
{
    bool kept = false;
    if (p) {
        pthread_mutex_lock(&p->lock);
        kept = p->n < MAX_IDLE;
        if (kept)
            p->idle[p->n++] = m;
        pthread_mutex_unlock(&p->lock);
    }
    if (!kept)
        curl_multi_cleanup(m);
}

/* ------------------------------------------------------------------ one transfer */

static size_t body_add(char *p, size_t size, size_t n, void *arg)
{
    transfer *t = arg;
    const char *type = NULL;
    n *= size;
    if (!t->last)
        curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->out->status);
    t->last = time_mono_us();
    if (!wire_fine(t->out)) {
        size_t room = WIRE_ERROR_BYTES - t->out->error.n;
        buf_add(&t->out->error, p, n < room ? n : room);
        return n <= room ? n : 0;
    }
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_TYPE, &type);
    t->out->enough = !t->in->piece(t->in->arg, type ? type : "", p, n);
    return t->out->enough ? 0 : n;
}

static bool transfer_open(transfer *t)
{
    const wire_in *in = t->in;
    t->curl = curl_easy_init();
    t->multi = multi_take(in->pool);
    if (!t->curl || !t->multi)
        return false;
    for (size_t i = 0; i < in->n_headers; i++)
        t->headers = curl_slist_append(t->headers, in->headers[i]);
    t->headers = curl_slist_append(t->headers, "Expect:");
    /* limit_next() bounds the whole. */
    curl_setup(t->curl, in->url, (long)in->limits->connect_ms, 0, body_add, t);
    curl_easy_setopt(t->curl, CURLOPT_QUICK_EXIT, 1L); /* do not wait for a slow name server */
    curl_easy_setopt(t->curl, CURLOPT_ERRORBUFFER, t->detail);
    if (in->ca_file && *in->ca_file) {
        curl_easy_setopt(t->curl, CURLOPT_CAINFO, in->ca_file);
        curl_easy_setopt(t->curl, CURLOPT_CAPATH, NULL);
    }
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers);
    if (in->body) {
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, in->body);
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)in->n);
    }
    if (in->method)
        curl_easy_setopt(t->curl, CURLOPT_CUSTOMREQUEST, in->method);
    return curl_multi_add_handle(t->multi, t->curl) == CURLM_OK;
}

static void transfer_close(transfer *t)
{
    if (t->multi && t->curl)
        curl_multi_remove_handle(t->multi, t->curl);
    curl_easy_cleanup(t->curl);
    if (t->multi)
        multi_give(t->in->pool, t->multi);
    curl_slist_free_all(t->headers);
}

static int64_t idle_ms(const transfer *t)
{
    return t->in->patience ? t->in->patience(t->in->arg) : t->in->limits->idle_ms;
}

/* Milliseconds until the next limit; 0, with `why` set, if one has passed. */
static int64_t limit_next(transfer *t)
{
    const wire_limits *l = t->in->limits;
    int64_t now = time_mono_us(), wait = t->last ? idle_ms(t) : l->first_byte_ms;
    int64_t end = (t->last ? t->last : t->started) + wait * 1000;
    bool total = t->in->deadline < end;
    if (total)
        end = t->in->deadline;
    if (end > now)
        return (end - now) / 1000 + 1;
    t->out->late = true;
    if (total)
        snprintf(t->out->why, WIRE_WHY, "the turn took over %.7g s", (double)l->total_ms / 1000);
    else
        snprintf(t->out->why, WIRE_WHY, "nothing came %s %.7g s", t->last ? "for" : "within",
                 (double)wait / 1000);
    return 0;
}

/* True: the transfer has ended, with t->rc. False: we aborted it. */
static bool transfer_run(transfer *t)
{
    const agent_sink *s = t->in->sink;
    for (;;) {
        int running, left;
        CURLMcode mc = curl_multi_perform(t->multi, &running);
        CURLMsg *m;
        while ((m = curl_multi_info_read(t->multi, &left)))
            if (m->msg == CURLMSG_DONE) {
                t->rc = m->data.result;
                return true;
            }
        if (mc != CURLM_OK || !running) {
            t->rc = CURLE_FAILED_INIT;
            return true;
        }
        t->out->cancelled = s && s->cancelled(s->arg);
        int64_t wait = t->out->cancelled ? 0 : limit_next(t);
        if (!wait)
            return false;
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

static const char *broken_text(const transfer *t)
{
    bool answered = t->out->status != 0;
    if (answered && (t->rc == CURLE_PARTIAL_FILE || t->rc == CURLE_RECV_ERROR))
        return "the connection was closed";
    return t->out->untrusted && *t->detail ? t->detail : curl_easy_strerror(t->rc);
}

static void transfer_end(transfer *t)
{
    wire_out *out = t->out;
    out->unsent = connect_failed(t);
    out->untrusted = t->rc == CURLE_PEER_FAILED_VERIFICATION;
    bool ours = t->rc == CURLE_WRITE_ERROR && (out->enough || !wire_fine(out));
    if (t->rc != CURLE_OK && !ours)
        snprintf(out->why, WIRE_WHY, "%s", broken_text(t));
}

void wire_run(const wire_in *in, wire_out *out)
{
    transfer t = {.in = in, .out = out, .started = time_mono_us()};
    curl_off_t wait = 0;
    *out = (wire_out){0};
    buf_init(&out->error, WIRE_ERROR_BYTES + 1);
    if (transfer_open(&t)) {
        bool ended = transfer_run(&t);
        curl_easy_getinfo(t.curl, CURLINFO_RESPONSE_CODE, &out->status);
        curl_easy_getinfo(t.curl, CURLINFO_RETRY_AFTER, &wait);
        out->retry_after_ms = wait <= 0 ? 0 : wait < 1000000 ? (int64_t)wait * 1000 : INT64_MAX;
        if (ended)
            transfer_end(&t);
    } else {
        snprintf(out->why, WIRE_WHY, "no request can be made");
    }
    transfer_close(&t);
}

void wire_release(wire_out *out)
{
    buf_release(&out->error);
}
