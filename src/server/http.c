/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP over libmicrohttpd: start, stop, and the way of a request.
 *
 * request_seen() begins an exchange when the request line is there. on_access() comes when the
 * header is there: it is routed; then for each piece of the body; then when all is there: it is
 * run, at once or, with the connection suspended, by the pool; and once more to be answered.
 * request_completed() ends it. Nothing is answered in the first call when there is no body, since
 * libmicrohttpd closes a connection that is answered so early.
 */
#include "server/http_own.h"

#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define OVER_CONNECTIONS 64  /* let in past the limit, to be told so */
#define BODY_FIRST (1 << 18) /* trusted of a Content-Length before the bytes are there */

/* -------------------------------------------------------------------- exchanges */

typedef struct values {
    arena *a;
    const char *name, *all;
} values;

static enum MHD_Result value_add(void *arg, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    values *v = arg;
    (void)kind;
    if (value && *value && strcasecmp(name, v->name) == 0)
        v->all = v->all ? arena_printf(v->a, "%s\n%s", v->all, value) : value;
    return MHD_YES;
}

/* Of the user all values count, a line each: no id has two lines, so that one who is named twice is
 * refused. */
static const char *request_header(face_req *q, const char *name)
{
    static const char user[] = "X-User-Id";
    exchange *x = q->inner;
    const char *first = MHD_lookup_connection_value(x->conn, MHD_HEADER_KIND, name);
    values v = {.a = q->a, .name = user};
    if (!first || strcasecmp(name, user) != 0)
        return first;
    MHD_get_connection_values(x->conn, MHD_HEADER_KIND, value_add, &v);
    return v.all ? v.all : first;
}

static void buf_again(buf *b, size_t max)
{
    buf_clear(b);
    if (b->cap > KEEP_MAX)
        buf_release(b);
    b->max = max;
}

/* An upload that is not wanted any more is answered in mid-body. */
static void exchange_answered(exchange *x)
{
    answer_prepare(x);
    atomic_store(&x->at, x->ended ? AT_ANSWER : AT_REFUSED);
}

/* The rest of an upload, then the request itself. */
static void exchange_run(exchange *x)
{
    face_req *q = &x->q;
    bool wanted = true;
    if (x->to.sink) {
        wanted = !q->body.n || x->to.sink(q, q->body.p, q->body.n);
        buf_clear(&q->body);
        x->paused_us += time_mono_us() - x->handed_us;
        if (wanted && !x->ended) {
            atomic_store(&x->at, AT_BODY);
            return;
        }
    }
    if (wanted)
        x->to.run(q, x->to.arg);
    exchange_answered(x);
}

/* Who asks, once. False: it is answered, or waits for its turn among the requests of that user. */
static bool exchange_admit(exchange *x, bool *queued)
{
    face_req *q = &x->q;
    *queued = false;
    if (!x->admitted) {
        x->admitted = true;
        if (x->to.admit && !x->to.admit(q, x->to.arg))
            return false;
        *queued = !pool_claim(x->h->cfg.pool, &x->job, work_of(q, true), work_client(q));
    }
    return !*queued;
}

static void exchange_job(pool_job *job)
{
    exchange *x = (exchange *)((char *)job - offsetof(exchange, job));
    struct MHD_Connection *conn = x->conn;
    peer *p = x->p;
    bool queued = false;
    if (!atomic_load(&p->gone)) {
        if (exchange_admit(x, &queued))
            exchange_run(x);
        else if (!queued)
            exchange_answered(x);
    }
    if (queued)
        return; /* another thread may have it already */
    wait_end(p);
    x->q.left = atomic_load(&p->gone);
    if (x->q.left) {
        x->q.status = 0;
        atomic_store(&x->at, AT_GONE);
    }
    MHD_resume_connection(conn);
}

/* The memory of the last request of this connection is used again. */
static exchange *exchange_begin(http *h, peer *p, struct MHD_Connection *conn)
{
    exchange *x = p->x;
    if (!x) {
        x = p->x = xcalloc(1, sizeof *x);
        x->q.a = arena_new();
        buf_init(&x->q.body, 0);
        buf_init(&x->q.out, 0);
        buf_init(&x->packed, 0);
        x->q.out.budget = x->packed.budget = h->cfg.answers;
    }
    arena *a = x->q.a;
    buf body = x->q.body, out = x->q.out, packed = x->packed;
    arena_reset(a);
    buf_again(&body, h->cfg.body_max);
    buf_again(&out, ANSWER_MAX);
    buf_again(&packed, ANSWER_MAX);
    memset(x, 0, sizeof *x);
    x->h = h;
    x->p = p;
    x->conn = conn;
    x->packed = packed;
    x->length = -1;
    face_req *q = &x->q;
    q->a = a;
    q->body = body;
    q->out = out;
    q->file = -1;
    q->inner = x;
    q->header = request_header;
    q->stream_new = http_stream_new;
    q->gone = &p->gone;
    x->job.run = exchange_job;
    q->start_us = time_mono_us();
    jw_init(&q->w, &q->out, 0);
    return x;
}

static void *request_seen(void *cls, const char *uri, struct MHD_Connection *conn)
{
    http *h = cls;
    peer *p = peer_of(conn);
    if (!p)
        return NULL;
    exchange *x = exchange_begin(h, p, conn);
    x->uri = arena_strdup(x->q.a, uri ? uri : "");
    atomic_store_explicit(&p->arriving, true, memory_order_relaxed);
    atomic_store_explicit(&p->busy, true, memory_order_relaxed);
    if (!p->over)
        peer_limit(p, (int64_t)h->cfg.request_s * 1000000, 0);
    return x;
}

static void request_completed(void *cls, struct MHD_Connection *conn, void **context,
                              enum MHD_RequestTerminationCode why)
{
    (void)conn;
    (void)why;
    http *h = cls;
    exchange *x = *context;
    if (!x)
        return;
    *context = NULL;
    face_req *q = &x->q;
    if (x->response)
        MHD_destroy_response(x->response);
    else if (q->stream && !x->stream_given)
        stream_abandon(q->stream);
    x->response = NULL;
    /* What it has of its own may use the call, which goes with `done`. */
    if (q->user && q->user_free)
        q->user_free(q->user);
    q->user = NULL;
    if (q->method)
        h->cfg.done(q, x->sent, h->cfg.arg);
    if (q->file >= 0)
        close(q->file);
    q->file = -1;
    peer *p = x->p;
    atomic_store_explicit(&p->arriving, false, memory_order_relaxed);
    atomic_store_explicit(&p->sending, false, memory_order_relaxed);
    atomic_store_explicit(&p->busy, false, memory_order_relaxed);
    /* An answer that is gone gives its memory back, also when the connection stays. */
    if (q->out.cap > KEEP_MAX)
        buf_release(&q->out);
    if (x->packed.cap > KEEP_MAX)
        buf_release(&x->packed);
    peer_limit(p, (int64_t)h->cfg.idle_s * 1000000, 0);
}

/* -------------------------------------------------------------------- the header */

/* False: the answer is filled. */
static bool header_route(exchange *x, const char *method, const char *version)
{
    face_req *q = &x->q;
    http *h = x->h;
    bool fine = target_read(x, method, version);
    x->http11 = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    if (atomic_load_explicit(&h->stopping, memory_order_relaxed)) {
        x->close = true;
        face_fail(q, 503, "stopping", NULL, "the server is going down");
        return false;
    }
    if (x->p->over) {
        x->close = true;
        face_add(q, "Retry-After", "1");
        face_fail(q, 503, "too_many_connections", NULL, "too many connections are open");
        return false;
    }
    if (!fine || !h->cfg.route(q, h->cfg.arg, &x->to))
        return false;
    size_t most = x->to.body_max ? x->to.body_max : h->cfg.body_max;
    if (x->length > 0 && (uint64_t)x->length > most) {
        face_fail(q, 413, "too_large", NULL, "the body is over %zu bytes", most);
        return false;
    }
    x->to.body_max = most;
    q->body.max = x->to.sink ? PIECE_MAX : most;
    if (x->length > 0)
        buf_reserve(&q->body, (size_t)(x->length < BODY_FIRST ? x->length : BODY_FIRST));
    return true;
}

/* No answer can be given to libmicrohttpd in mid-body: so it is written to the socket, and what
 * the client still sends is read for a while, lest the answer is lost in a reset. */
static enum MHD_Result answer_early(exchange *x)
{
    if (!peer_limit(x->p, LINGER_US, 0))
        return MHD_NO;
    atomic_store_explicit(&x->p->arriving, false, memory_order_relaxed);
    if (x->response)
        MHD_destroy_response(x->response);
    x->response = NULL;
    answer_on_wire(x);
    atomic_store(&x->at, AT_LINGER);
    return MHD_YES;
}

/* The answer is there before the body. */
static enum MHD_Result header_refused(exchange *x)
{
    answer_prepare(x);
    bool body = x->chunked || x->length > 0;
    atomic_store(&x->at, body ? AT_REFUSED : AT_ANSWER);
    if (!body)
        return MHD_YES;
    if (x->expects || x->malformed)
        return answer_send(x);
    return x->length > DROP_MAX ? answer_early(x) : MHD_YES;
}

/* ---------------------------------------------------------------------- the body */

static enum MHD_Result to_pool(exchange *x)
{
    if (!pool_enter(x->h->cfg.pool))
        return MHD_NO;
    x->handed_us = time_mono_us();
    peer_unlimit(x->p);
    MHD_suspend_connection(x->conn);
    atomic_store(&x->at, AT_POOL);
    wait_begin(x->p, x->http11);
    pool_put(x->h->cfg.pool, &x->job, work_of(&x->q, x->admitted), work_client(&x->q));
    return MHD_YES;
}

/* The body has request_s, and more when it is long and keeps coming. */
static enum MHD_Result body_goes_on(exchange *x)
{
    int64_t gone = time_mono_us() - x->q.start_us - x->paused_us;
    int64_t left = (int64_t)x->h->cfg.request_s * 1000000 - gone;
    return peer_limit(x->p, left, x->received) ? MHD_YES : MHD_NO;
}

static enum MHD_Result body_over(exchange *x)
{
    face_fail(&x->q, 413, "too_large", NULL, "the body is over %zu bytes", x->to.body_max);
    return answer_early(x);
}

/* A piece of an upload goes to the pool when it is full. Then some of the data is left here on
 * purpose: libmicrohttpd goes on calling for further chunks after all was taken, suspended or
 * not. */
static enum MHD_Result body_upload(exchange *x, const char *data, size_t *size)
{
    buf *b = &x->q.body;
    size_t room = PIECE_MAX - b->n, n = *size < room ? *size : room;
    buf_add(b, data, n);
    x->received += (int64_t)n;
    *size -= n;
    if (x->received > (int64_t)x->to.body_max) {
        *size = 0;
        return body_over(x);
    }
    if (*size)
        return to_pool(x);
    return body_goes_on(x);
}

static enum MHD_Result body_piece(exchange *x, const char *data, size_t *size)
{
    if (x->to.sink)
        return body_upload(x, data, size);
    x->received += (int64_t)*size;
    buf_add(&x->q.body, data, *size);
    *size = 0;
    return x->q.body.over ? body_over(x) : body_goes_on(x);
}

/* The answer is there, but the body goes on: a short rest is read, so that the connection can be
 * used again; a long one is not waited for. */
static enum MHD_Result body_drop(exchange *x, size_t *size)
{
    x->received += (int64_t)*size;
    x->dropped += (int64_t)*size;
    *size = 0;
    if (atomic_load(&x->at) == AT_LINGER)
        return x->dropped <= LINGER_MAX ? MHD_YES : MHD_NO;
    if (x->dropped > DROP_MAX || x->length - x->received > DROP_MAX)
        return answer_early(x);
    return body_goes_on(x);
}

static enum MHD_Result body_whole(exchange *x)
{
    x->ended = true;
    atomic_store_explicit(&x->p->arriving, false, memory_order_relaxed);
    if (!x->to.quick)
        return to_pool(x);
    x->to.run(&x->q, x->to.arg);
    answer_prepare(x);
    return answer_send(x);
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *conn, const char *url,
                                 const char *method, const char *version, const char *data,
                                 size_t *size, void **context)
{
    (void)cls;
    (void)conn;
    (void)url;
    exchange *x = *context;
    if (!x)
        return MHD_NO;
    switch (atomic_load(&x->at)) {
    case AT_HEADER:
        if (!header_route(x, method, version))
            return header_refused(x);
        atomic_store(&x->at, AT_BODY);
        return MHD_YES;
    case AT_BODY:
        return *size ? body_piece(x, data, size) : body_whole(x);
    case AT_REFUSED:
        return *size ? body_drop(x, size) : answer_send(x);
    case AT_LINGER:
        return *size ? body_drop(x, size) : MHD_NO;
    case AT_ANSWER:
        return answer_send(x);
    case AT_GONE:
        return MHD_NO;
    default:
        return MHD_YES;
    }
}

/* ------------------------------------------------------------------- start, stop */

/* The target is split by us: see http_target.c. */
static size_t unescape_nothing(void *cls, struct MHD_Connection *conn, char *s)
{
    (void)cls;
    (void)conn;
    return strlen(s);
}

/* The memory of a connection holds some more than a header may have, so that many that are over can
 * be told so by us; far longer ones are answered by libmicrohttpd itself. It clears all of it
 * between two requests, so more would cost. */
static struct MHD_Daemon *daemon_start(http *h)
{
    /* The acceptor keeps the limit; that of a daemon is only for connections on their way in. */
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
                                MHD_USE_NO_LISTEN_SOCKET,
                            0, NULL, NULL, on_access, h, MHD_OPTION_CONNECTION_LIMIT,
                            (unsigned)h->most * 2, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                            h->cfg.header_max * 5 / 4, MHD_OPTION_UNESCAPE_CALLBACK,
                            unescape_nothing, NULL, MHD_OPTION_URI_LOG_CALLBACK, request_seen, h,
                            MHD_OPTION_NOTIFY_COMPLETED, request_completed, h,
                            MHD_OPTION_NOTIFY_CONNECTION, peer_changed, h, MHD_OPTION_END);
}

static bool daemons_start(http *h)
{
    size_t n = h->cfg.workers > 0 ? (size_t)h->cfg.workers : 1;
    h->daemons = xcalloc(n, sizeof *h->daemons);
    while (h->n_daemons < n) {
        struct MHD_Daemon *d = daemon_start(h);
        if (!d)
            return false;
        h->daemons[h->n_daemons++] = d;
    }
    return true;
}

static void http_free(http *h)
{
    for (size_t i = 0; i < h->n_daemons; i++)
        MHD_stop_daemon(h->daemons[i]);
    free(h->daemons);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

http *http_start(const http_config *cfg, char *message)
{
    http *h = xcalloc(1, sizeof *h);
    h->cfg = *cfg;
    h->most = (size_t)cfg->connections + OVER_CONNECTIONS;
    random_bytes(&h->id_salt, sizeof h->id_salt);
    pthread_mutex_init(&h->lock, NULL);
    if (!listen_open(h, message)) {
        http_free(h);
        return NULL;
    }
    watch_start(h);
    if (daemons_start(h) && listen_start(h))
        return h;
    snprintf(message, 256, "the HTTP server could not be started: %s", strerror(errno));
    listen_close(h);
    watch_stop(h);
    http_free(h);
    return NULL;
}

int http_port(const http *h)
{
    return h->doors[0].port;
}

int http_h2_port(const http *h)
{
    return h->doors[1].port;
}

/* Waits until nothing is arriving, running or being answered; false when time is over. */
static bool drain(http *h, int64_t until, bool all)
{
    for (;;) {
        streams_end(h);
        if (!peers_end(h, all) && !pool_busy(h->cfg.pool))
            return true;
        if (time_mono_us() > until)
            return false;
        usleep(2000);
    }
}

void http_shut(http *h)
{
    if (h && !h->shut)
        listen_stop(h);
    if (h)
        h->shut = true;
}

bool http_stop(http *h, int seconds)
{
    atomic_store(&h->stopping, true);
    http_shut(h);
    bool fine = drain(h, time_mono_us() + (int64_t)seconds * 1000000, false);
    pool_close(h->cfg.pool);
    if (!fine && !drain(h, time_mono_us() + 1000000, true) && pool_busy(h->cfg.pool))
        return false;
    watch_stop(h);
    http_free(h);
    return true;
}

size_t http_open_connections(http *h)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->n_peers;
    pthread_mutex_unlock(&h->lock);
    return n;
}

size_t http_open_streams(http *h)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->n_streams;
    pthread_mutex_unlock(&h->lock);
    return n;
}

size_t http_queued(http *h)
{
    return pool_busy(h->cfg.pool);
}
