/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.c: one HTTP exchange of an agent.
 *
 * libcurl's multi interface is used for one transfer, because it hands back control between slices
 * of waiting.
 */
#include "agent/wire.h"

#include "base/util.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

enum { SLICE_MS = 50 };

typedef struct transfer {
    const wire_in *in;
    wire_out *out;
    CURL *curl;
    CURLM *multi;
    struct curl_slist *headers;
    int64_t started, last; /* last: the newest byte; 0 before the first */
    CURLcode rc;
} transfer;

void wire_open(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

void wire_close(void)
{
    curl_global_cleanup();
}

static bool status_fine(long status)
{
    return status >= 200 && status < 300;
}

static size_t body_add(char *p, size_t size, size_t n, void *arg)
{
    transfer *t = arg;
    const char *type = NULL;
    n *= size;
    if (!t->last)
        curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &t->out->status);
    t->last = time_mono_us();
    if (!status_fine(t->out->status)) {
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
    t->multi = curl_multi_init();
    if (!t->curl || !t->multi)
        return false;
    for (size_t i = 0; i < in->n_headers; i++)
        t->headers = curl_slist_append(t->headers, in->headers[i]);
    t->headers = curl_slist_append(t->headers, "Expect:");
    curl_easy_setopt(t->curl, CURLOPT_URL, in->url);
    curl_easy_setopt(t->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(t->curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(t->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(t->curl, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(t->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)in->limits->connect_ms);
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers);
    if (in->body) {
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, in->body);
        curl_easy_setopt(t->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)in->n);
    }
    curl_easy_setopt(t->curl, CURLOPT_WRITEFUNCTION, body_add);
    curl_easy_setopt(t->curl, CURLOPT_WRITEDATA, t);
    return curl_multi_add_handle(t->multi, t->curl) == CURLM_OK;
}

static void transfer_close(transfer *t)
{
    if (t->multi && t->curl)
        curl_multi_remove_handle(t->multi, t->curl);
    curl_easy_cleanup(t->curl);
    if (t->multi)
        curl_multi_cleanup(t->multi);
    curl_slist_free_all(t->headers);
}

/* Milliseconds until the next limit; 0 and `why` when one is passed. */
static int64_t limit_next(transfer *t)
{
    const wire_limits *l = t->in->limits;
    int64_t now = time_mono_us(), wait = t->last ? l->idle_ms : l->first_byte_ms;
    int64_t end = (t->last ? t->last : t->started) + wait * 1000;
    bool total = t->in->deadline < end;
    if (total)
        end = t->in->deadline;
    if (end > now)
        return (end - now) / 1000 + 1;
    if (total)
        snprintf(t->out->why, WIRE_WHY, "the time of the turn is over");
    else
        snprintf(t->out->why, WIRE_WHY, "nothing came %s %.7g s", t->last ? "for" : "within",
                 (double)wait / 1000);
    return 0;
}

/* True: the transfer has ended, with t->rc. False: we ended it. */
static bool transfer_run(transfer *t)
{
    const agent_sink *s = t->in->s;
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

void wire_run(const wire_in *in, wire_out *out)
{
    transfer t = {.in = in, .out = out, .started = time_mono_us()};
    *out = (wire_out){0};
    buf_init(&out->error, WIRE_ERROR_BYTES + 1);
    if (!transfer_open(&t))
        snprintf(out->why, WIRE_WHY, "no request can be made");
    else if (transfer_run(&t)) {
        curl_off_t connected = 0;
        curl_easy_getinfo(t.curl, CURLINFO_RESPONSE_CODE, &out->status);
        curl_easy_getinfo(t.curl, CURLINFO_PRETRANSFER_TIME_T, &connected);
        out->unsent = t.rc != CURLE_OK && !connected;
        bool ours = t.rc == CURLE_WRITE_ERROR && (out->enough || !status_fine(out->status));
        if (t.rc != CURLE_OK && !ours)
            snprintf(out->why, WIRE_WHY, "%s", curl_easy_strerror(t.rc));
    }
    transfer_close(&t);
}

void wire_release(wire_out *out)
{
    buf_release(&out->error);
}
