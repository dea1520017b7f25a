/* SPDX-License-Identifier: Apache-2.0
 *
 * exchange.c: takes a request from its first byte to the last byte of its answer; see the state
 * diagram in http/http_internal.h.
 *
 * Invariants
 *   E1  Before the client is identified, at most UNKNOWN_BODY_MAX bytes of a body are read, and
 *       they are charged to its address. A request is identified by its header first if its body is
 *       longer or chunked, if its client waits for 100 Continue, or if unidentified clients already
 *       hold too much. That happens on a pool thread, since it may read the store.
 *   E2  A request refused before its body was read is answered at once. If the rest of the body is
 *       short and its length known, it is dropped and the connection stays open; otherwise the
 *       connection is closed, after a delay in which the client can read the answer.
 *   E3  A client may shut down its side after its last request: all requests before that point are
 *       answered.
 *   E4  A body has request_s to arrive. A user's body has longer while it keeps arriving at the
 *       minimum rate, but may never pause for request_s.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_FIRST (1 << 18) /* allocated for a Content-Length before the bytes arrive */

static int64_t request_us(const http *h)
{
    return (int64_t)h->cfg.request_s * 1000000;
}

/* -------------------------------------------------------------------- exchanges */

/* All values of a repeated user header count, joined by newlines: no id contains a newline, so a
 * request that names two users is refused. */
static const char *exchange_header(request *q, const char *name)
{
    static const char user[] = "X-User-Id";
    exchange *x = q->inner;
    const char *all = head_get(&x->head, name);
    if (!all || strcasecmp(name, user) != 0)
        return all;
    all = NULL;
    for (size_t i = 0; i < x->head.n; i++) {
        const http_field *f = &x->head.fields[i];
        if (*f->value && strcasecmp(f->name, user) == 0)
            all = all ? arena_printf(q->arena, "%s\n%s", all, f->value) : f->value;
    }
    return all ? all : "";
}

static void buf_again(buf *b, size_t max)
{
    buf_clear(b);
    if (b->cap > KEEP_MAX)
        buf_release(b);
    b->max = max;
}

static void exchange_job(pool_job *job);

/* Reuses the memory of the connection's previous request. */
static exchange *exchange_begin(peer *p)
{
    exchange *x = p->exchange;
    http *h = p->http;
    if (!x) {
        x = p->exchange = xcalloc(1, sizeof *x);
        x->request.arena = arena_new();
        buf_init(&x->request.body, 0);
        buf_init(&x->request.out, 0);
        buf_init(&x->start, 0);
        buf_init(&x->packed, 0);
        buf_init(&x->piece, 0);
        x->request.out.budget = x->packed.budget = h->cfg.answers;
    }
    arena *a = x->request.arena;
    buf body = x->request.body, out = x->request.out, start = x->start, packed = x->packed;
    buf piece = x->piece;
    size_t max = ANSWER_BODIES * h->cfg.body_max;
    if (max < ANSWER_MAX)
        max = ANSWER_MAX;
    arena_reset(a);
    buf_again(&body, h->cfg.body_max);
    buf_again(&out, max);
    buf_again(&start, max);
    buf_again(&packed, max);
    buf_again(&piece, max);
    memset(x, 0, sizeof *x);
    x->http = h;
    x->peer = p;
    x->start = start;
    x->packed = packed;
    x->piece = piece;
    x->length = -1;
    request *q = &x->request;
    q->arena = a;
    q->body = body;
    q->out = out;
    q->file = -1;
    q->inner = x;
    q->method = q->path = "";
    q->remote = p->remote;
    q->header = exchange_header;
    q->stream_new = http_stream_new;
    q->gone = &p->gone;
    x->job.run = exchange_job;
    q->start_us = time_mono_us();
    jw_init(&q->writer, &q->out, 0);
    atomic_store_explicit(&p->busy, true, memory_order_relaxed);
    return x;
}

void exchange_end(exchange *x)
{
    if (!x || !x->request.method)
        return;
    request *q = &x->request;
    peer *p = x->peer;
    if (q->stream && !x->stream_given)
        stream_abandon(q->stream);
    x->stream_given = true;
    /* The route's state may use the call, which `done` frees. */
    if (q->user && q->user_free)
        q->user_free(q->user);
    q->user = NULL;
    x->http->cfg.done(q, x->sent, x->http->cfg.arg);
    if (q->file >= 0)
        close(q->file);
    q->file = -1;
    body_release(x);
    q->method = NULL;
    /* Give back the memory of a large answer even if the connection stays. */
    if (q->out.cap > KEEP_MAX)
        buf_release(&q->out);
    if (x->packed.cap > KEEP_MAX)
        buf_release(&x->packed);
    atomic_store_explicit(&p->sending, false, memory_order_relaxed);
    atomic_store_explicit(&p->arriving, false, memory_order_relaxed);
    atomic_store_explicit(&p->busy, false, memory_order_relaxed);
}

/* ------------------------------------------------------------------- the answer */

static bool answer_begin(peer *p)
{
    exchange *x = p->exchange;
    bool endless = x->request.stream && !x->stream_given;
    bool open = endless
                    ? peer_unlimit(p)
                    : peer_limit(p, request_us(x->http) + (x->sent >> SEND_RATE_SHIFT) * 1000000);
    atomic_store_explicit(&p->arriving, false, memory_order_relaxed);
    atomic_store_explicit(&p->sending, !endless, memory_order_relaxed);
    p->at = AT_ANSWER;
    if (!open)
        peer_close(p);
    return open;
}

/* Sends an answer that the worker itself has filled in. */
static bool answer_now(peer *p)
{
    answer_prepare(p->exchange);
    return answer_begin(p);
}

static bool next_begin(peer *p)
{
    buf *b = &p->in;
    p->at = AT_HEADER;
    if (p->used == b->n) {
        buf_clear(b);
        p->used = 0;
        if (b->cap > 2 * READ_BYTES)
            buf_release(b);
    }
    if (peer_limit(p, (int64_t)p->http->cfg.idle_s * 1000000))
        return true;
    peer_close(p);
    return false;
}

/* Called when the answer was sent. */
static bool answer_over(peer *p)
{
    exchange *x = p->exchange;
    bool close = x->close, linger = x->in_doubt || (close && p->used < p->in.n);
    p->to_drop = x->ended ? 0 : x->length - x->received;
    exchange_end(x);
    p->at = linger ? AT_LINGER : AT_DROP;
    if (linger) {
        shutdown(p->fd, SHUT_WR);
        p->to_drop = LINGER_MAX;
        close = !peer_limit(p, LINGER_US);
    }
    if (close)
        peer_close(p);
    return !close;
}

static bool to_pool(peer *p, peer_at at);

static bool answer_step(peer *p)
{
    if (p->broken) {
        peer_close(p);
        return false;
    }
    switch (answer_send(p->exchange)) {
    case SEND_SOME:
        return true;
    case SEND_LATER:
        return false;
    case SEND_PIECE:
        return to_pool(p, AT_PIECE);
    case SEND_DONE:
        return answer_over(p);
    case SEND_BROKEN:
        break;
    }
    peer_close(p);
    return false;
}

/* Discards the rest of a refused body, or what arrives after the last answer. */
static bool drop_step(peer *p)
{
    size_t n = p->in.n - p->used;
    if ((int64_t)n > p->to_drop)
        n = (size_t)p->to_drop;
    p->used += n;
    p->to_drop -= (int64_t)n;
    if (!p->to_drop && p->at == AT_DROP)
        return next_begin(p);
    fill_result r = p->to_drop ? peer_fill(p) : FILL_END;
    if (r == FILL_END)
        peer_close(p);
    return r == FILL_SOME;
}

/* --------------------------------------------------------------------- the pool */

static bool to_pool(peer *p, peer_at at)
{
    exchange *x = p->exchange;
    if (!peer_unlimit(p) || !pool_enter(x->http->cfg.pool)) {
        peer_close(p);
        return false;
    }
    x->handed_us = time_mono_us();
    p->at = at;
    /* No interim response may be sent in the middle of an answer. */
    peer_wait_begin(p, x->head.minor > 0 && at != AT_PIECE);
    pool_put(x->http->cfg.pool, &x->job, work_of(&x->request, x->known || !x->to.admit),
             work_client(&x->request));
    return false;
}

static void run_now(exchange *x)
{
    x->to.run(&x->request, x->to.arg);
    /* Neither the answer nor a stream uses the body: both hold copies. */
    buf_again(&x->request.body, x->request.body.max);
    body_release(x);
}

/* Stores the rest of an upload, then runs the request. */
static void exchange_run(exchange *x)
{
    request *q = &x->request;
    bool wanted = true;
    if (x->to.sink) {
        wanted = !q->body.n || x->to.sink(q, q->body.data, q->body.n);
        buf_clear(&q->body);
        if (wanted && !x->ended)
            return;
    }
    if (wanted)
        run_now(x);
    answer_prepare(x);
}

/* Identifies the client, once. False: the answer is filled in or, with *queued, the request waits
 * for its turn among the requests of that user, and another thread may have it already. */
static bool exchange_admit(exchange *x, bool *queued)
{
    request *q = &x->request;
    if (x->known || !x->to.admit)
        return true;
    if (!x->to.admit(q, x->to.arg)) {
        answer_prepare(x);
        return false;
    }
    x->known = true;
    if (x->peer->at == AT_POOL)
        *queued = !pool_claim(x->http->cfg.pool, &x->job, work_of(q, true), work_client(q));
    return !*queued;
}

static void piece_make(exchange *x)
{
    request *q = &x->request;
    buf_clear(&q->out);
    x->then = q->more(q);
    if (q->out.over)
        x->then = PIECE_FAILED;
    answer_piece(x);
}

static void exchange_job(pool_job *job)
{
    exchange *x = (exchange *)((char *)job - offsetof(exchange, job));
    peer *p = x->peer;
    bool queued = false;
    if (!atomic_load(&p->gone)) {
        if (p->at == AT_PIECE)
            piece_make(x);
        else if (exchange_admit(x, &queued) && p->at == AT_POOL)
            exchange_run(x);
    }
    if (queued)
        return;
    peer_wait_end(p);
    x->request.left = atomic_load(&p->gone);
    if (x->request.left)
        x->request.status = 0;
    x->paused_us += time_mono_us() - x->handed_us;
    worker_hand_back(x->peer);
}

/* --------------------------------------------------------------------- the body */

/* True: the request goes on. False: it is closed. */
static bool body_goes_on(exchange *x)
{
    int64_t whole = request_us(x->http), left = whole;
    left -= time_mono_us() - x->request.start_us - x->paused_us;
    if (x->known)
        left += (x->received >> BODY_RATE_SHIFT) * 1000000;
    if (peer_limit(x->peer, left < whole ? left : whole))
        return true;
    peer_close(x->peer);
    return false;
}

static bool body_over(peer *p)
{
    request_fail(&p->exchange->request, 413, "too_large", NULL, "the body is over %zu bytes",
                 p->exchange->to.body_max);
    return answer_now(p);
}

static bool body_malformed(peer *p, const char *wrong)
{
    exchange *x = p->exchange;
    x->in_doubt = true;
    request_fail(&x->request, 400, "invalid_request", NULL, "%s", wrong);
    return answer_now(p);
}

static bool body_crowded(peer *p, int status)
{
    request_add_header(&p->exchange->request, "Retry-After", "1");
    if (status == 429)
        request_fail(&p->exchange->request, 429, "too_many_bodies", NULL,
                     "bodies of %zu bytes of yours are being read already; try again",
                     p->http->cfg.bodies_per_user);
    else
        request_fail(&p->exchange->request, 503, "too_many_bodies", NULL,
                     "too many bodies are being read now; try again");
    return answer_now(p);
}

/* Starts reading the body. False: the request is refused or closed instead. */
static bool body_read_on(peer *p)
{
    static const char go[] = "HTTP/1.1 100 Continue\r\n\r\n";
    exchange *x = p->exchange;
    if (x->expects && send(p->fd, go, sizeof go - 1, MSG_NOSIGNAL) != sizeof go - 1) {
        peer_close(p);
        return false;
    }
    x->expects = false;
    p->at = AT_BODY;
    if (x->length > 0)
        buf_reserve(&x->request.body, (size_t)(x->length < BODY_FIRST ? x->length : BODY_FIRST));
    return body_goes_on(x);
}

static bool body_begin(peer *p)
{
    exchange *x = p->exchange;
    int status;
    bool counted = x->to.sink || x->chunked;
    size_t first = x->to.body_max < PIECE_MAX ? x->to.body_max : PIECE_MAX;
    if (!body_reserve(x, counted ? first : (size_t)x->length, &status))
        return body_crowded(p, status);
    return body_read_on(p);
}

static bool body_plan(peer *p)
{
    exchange *x = p->exchange;
    size_t max = x->to.body_max ? x->to.body_max : x->http->cfg.body_max;
    if (!x->to.admit && max > UNKNOWN_BODY_MAX)
        max = UNKNOWN_BODY_MAX;
    x->to.body_max = max;
    x->request.body.max = x->to.sink ? PIECE_MAX : max;
    if (x->length > 0 && (uint64_t)x->length > max)
        return body_over(p);
    if (!x->to.admit)
        return body_begin(p);
    if (x->chunked || x->expects || (size_t)x->length > UNKNOWN_BODY_MAX)
        return to_pool(p, AT_ADMIT);
    int status;
    bool here = (size_t)x->length <= p->in.n - p->used;
    return here || body_reserve(x, (size_t)x->length, &status) ? body_read_on(p)
                                                               : to_pool(p, AT_ADMIT);
}

static bool body_whole(peer *p)
{
    exchange *x = p->exchange;
    x->ended = true;
    atomic_store_explicit(&p->arriving, false, memory_order_relaxed);
    if (!x->to.quick)
        return to_pool(p, AT_POOL);
    run_now(x);
    return answer_now(p);
}

/* Reserves room for a body of unknown length: what has arrived, and some more. */
static bool body_room(exchange *x, size_t more, int *status)
{
    size_t need = x->request.body.n + more, max = x->to.body_max;
    if (x->to.sink || !x->holder || need <= x->reserved)
        return true;
    return body_reserve(x, need < max / 2 ? 2 * need : max, status) ||
           body_reserve(x, need, status);
}

/* Consumes bytes of the body. False: the request is refused, or the pool has it. */
static bool body_take(peer *p, const char *data, size_t n)
{
    exchange *x = p->exchange;
    int status;
    if ((uint64_t)x->received + n > x->to.body_max)
        return body_over(p);
    if (!body_room(x, n, &status))
        return body_crowded(p, status);
    buf_add(&x->request.body, data, n);
    x->received += (int64_t)n;
    return true;
}

/* Consumes up to `n` bytes of a chunked body. */
static bool body_chunks(peer *p, size_t n)
{
    exchange *x = p->exchange;
    size_t used, piece;
    const char *bytes = p->in.data + p->used;
    chunk_state st = chunk_read(&x->chunks, bytes, n, &used, &piece);
    p->used += used;
    switch (st) {
    case CHUNK_MORE:
        return body_goes_on(x);
    case CHUNK_BYTES:
        return body_take(p, bytes + used - piece, piece) && body_goes_on(x);
    case CHUNK_END:
        return body_whole(p);
    case CHUNK_OVER:
        x->in_doubt = true;
        return body_over(p);
    case CHUNK_BAD:
        break;
    }
    return body_malformed(p, "the body is not in chunks as HTTP/1.1 has them");
}

static bool body_step(peer *p)
{
    exchange *x = p->exchange;
    if (!x->chunked && x->received == x->length)
        return body_whole(p);
    if (x->to.sink && x->request.body.n == PIECE_MAX)
        return to_pool(p, AT_POOL);
    size_t n = p->in.n - p->used;
    if (!n) {
        fill_result r = peer_fill(p);
        if (r == FILL_END)
            peer_close(p);
        return r == FILL_SOME;
    }
    if (x->to.sink && n > PIECE_MAX - x->request.body.n)
        n = PIECE_MAX - x->request.body.n;
    if (x->chunked)
        return body_chunks(p, n);
    if ((int64_t)n > x->length - x->received)
        n = (size_t)(x->length - x->received);
    const char *data = p->in.data + p->used;
    p->used += n;
    return body_take(p, data, n) && body_goes_on(x);
}

/* ------------------------------------------------------------------- the header */

/* Refuses a malformed header. The connection cannot be used after it. */
static bool header_bad(peer *p, int status, const char *code, const char *wrong)
{
    exchange *x = p->exchange;
    x->in_doubt = true;
    if (!*x->request.id)
        request_id(x, NULL);
    request_fail(&x->request, status, code, NULL, "%s", wrong);
    return answer_now(p);
}

static bool header_long(peer *p)
{
    size_t max = p->http->cfg.header_max;
    const head_scan *s = &p->scan;
    bool line = (s->first_line ? s->first_line : s->at - s->begin) > max / 2;
    char text[64];
    snprintf(text, sizeof text,
             line ? "the request target is over %zu bytes" : "the header is over %zu bytes",
             line ? max / 2 : max);
    exchange_begin(p);
    return line ? header_bad(p, 414, "uri_too_long", text)
                : header_bad(p, 431, "header_too_large", text);
}

/* False: the answer is filled in. */
static bool header_route(exchange *x)
{
    request *q = &x->request;
    http *h = x->http;
    bool fine = target_read(x);
    x->ended = !x->chunked && x->length <= 0;
    if (atomic_load_explicit(&h->stopping, memory_order_relaxed)) {
        x->close = true;
        request_fail(q, 503, "stopping", NULL, "the server is going down");
        return false;
    }
    if (x->peer->over) {
        x->close = true;
        request_add_header(q, "Retry-After", "1");
        request_fail(q, 503, "too_many_connections", NULL, "too many connections are open");
        return false;
    }
    return fine && h->cfg.route(q, h->cfg.arg, &x->to);
}

static bool header_whole(peer *p)
{
    exchange *x = exchange_begin(p);
    head_scan s = p->scan;
    size_t n = s.at - s.begin;
    char *bytes = arena_memdup(x->request.arena, p->in.data + p->used + s.begin, n);
    p->used += s.at;
    p->scan = (head_scan){0};
    const char *wrong = head_split(x->request.arena, bytes, n, &x->head);
    x->request.method = x->head.method ? x->head.method : "";
    if (wrong)
        return header_bad(p, 400, "invalid_request", wrong);
    if (x->head.major != 1)
        return header_bad(p, 505, "http_version", "only HTTP/1.1 and HTTP/1.0 are spoken here");
    if (!header_route(x))
        return answer_now(p);
    return x->ended ? body_whole(p) : body_plan(p);
}

static bool header_step(peer *p)
{
    size_t n = p->in.n - p->used, max = p->http->cfg.header_max;
    if (n && !atomic_load_explicit(&p->arriving, memory_order_relaxed)) {
        atomic_store_explicit(&p->arriving, true, memory_order_relaxed);
        if (!p->over && !peer_limit(p, request_us(p->http))) {
            peer_close(p);
            return false;
        }
    }
    head_state st = head_look(&p->scan, p->in.data + p->used, n);
    if (st == HEAD_BAD) {
        exchange_begin(p);
        return header_bad(p, 400, "invalid_request", p->scan.wrong);
    }
    if (p->scan.at > max)
        return header_long(p);
    if (st == HEAD_WHOLE)
        return header_whole(p);
    fill_result r = peer_fill(p);
    if (r == FILL_END)
        peer_close(p);
    return r == FILL_SOME;
}

/* ------------------------------------------------------------------------- steps */

void way_back(peer *p)
{
    exchange *x = p->exchange;
    if (x->request.left)
        peer_close(p);
    else if (x->answered)
        answer_begin(p);
    else if (p->at == AT_ADMIT)
        body_begin(p);
    else if (body_goes_on(x))
        p->at = AT_BODY;
}

bool way_step(peer *p)
{
    switch (p->at) {
    case AT_HEADER:
        return header_step(p);
    case AT_BODY:
        return body_step(p);
    case AT_ANSWER:
        return answer_step(p);
    case AT_DROP:
    case AT_LINGER:
        return drop_step(p);
    case AT_ADMIT:
    case AT_POOL:
    case AT_PIECE:
        break;
    }
    return false;
}
