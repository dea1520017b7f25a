/* SPDX-License-Identifier: Apache-2.0
 *
 * service_calls.c: calls of registered services: unary calls, files in pieces both ways, and events
 * for as long as the client listens. The service defines what a message means (service.h).
 */
#include "grpc/grpc_internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PIECE (32 * 1024) /* file bytes per message */
#define MAX_DETAILS_BYTES 4096

/* -------------------------------------------------------------------------- finding */

static const grpc_method *method_at(const grpc_service *h, size_t i)
{
    return (const grpc_method *)(const void *)((const char *)h->methods + i * h->method_size);
}

bool service_call_find(rpc *r, const char *path)
{
    const rpc_config *cfg = &r->server->cfg;
    for (size_t i = 0; *path == '/' && i < cfg->n_services; i++)
        for (size_t k = 0; k < cfg->services[i]->n_methods; k++) {
            const grpc_method *m = method_at(cfg->services[i], k);
            size_t n = strlen(m->service->name);
            if (strncmp(path + 1, m->service->name, n) == 0 && path[n + 1] == '/' &&
                strcmp(path + n + 2, m->name) == 0) {
                r->handler = cfg->services[i];
                r->method = m;
                return true;
            }
        }
    return false;
}

bool service_is_known(const rpc_server *s, const char *name)
{
    for (size_t i = 0; i < s->cfg.n_services; i++)
        for (size_t k = 0; k < s->cfg.services[i]->n_methods; k++)
            if (strcmp(method_at(s->cfg.services[i], k)->service->name, name) == 0)
                return true;
    return false;
}

/* -------------------------------------------------------------------------- answers */

static void details_make(rpc *r, int code, const char *text)
{
    buf b;
    if (!r->handler->details || r->has_details || !r->request.id[0])
        return;
    buf_init(&b, MAX_DETAILS_BYTES);
    r->handler->details(&r->request, code, text, &b);
    r->has_details = b.n > 0 && !b.over;
    if (r->has_details) {
        r->about[1].key = grpc_slice_from_static_string("grpc-status-details-bin");
        r->about[1].value = grpc_slice_from_copied_buffer(b.data, b.n);
    }
    buf_release(&b);
}

static void answer_error(rpc *r)
{
    const char *text;
    int code = r->handler->status(&r->request, &text);
    code = code == RPC_OK ? RPC_INTERNAL : code;
    details_make(r, code, text);
    call_finish(r, code, text, false);
}

static void answer(rpc *r)
{
    const char *text;
    int code = r->handler->status(&r->request, &text);
    buf_clear(&r->packed);
    if (code == RPC_OK && r->handler->write(&r->request, r->method, &r->packed)) {
        buf_release(&r->request.out); /* the message may wait long for its client */
        call_finish(r, RPC_OK, "", true);
    } else {
        answer_error(r);
    }
}

/* Ends the call if its client has disconnected or cancelled it. False: the call is finished. */
static bool client_waits(rpc *r)
{
    if (!atomic_load(&r->cancelled))
        return true;
    r->request.left = true;
    call_finish(r, RPC_CANCELLED, "", false);
    return false;
}

static bool admitted(rpc *r)
{
    const grpc_service *h = r->handler;
    return r->server->cfg.admit(&r->request, r->server->cfg.arg) &&
           (!h->admit || h->admit(&r->request, r->method));
}

static void run(rpc *r)
{
    request *q = &r->request;
    r->server->cfg.run(q, r->server->cfg.arg);
    q->left = atomic_load(&r->cancelled);
}

/* -------------------------------------------------------------------------- uploads */

static void step_chunk(rpc *r);

static void step_upload_run(rpc *r)
{
    if (!client_waits(r))
        return;
    r->server->cfg.run(&r->request, r->server->cfg.arg);
    answer(r);
}

static void upload_whole(rpc *r)
{
    call_pool(r, step_upload_run);
}

static void step_chunk(rpc *r)
{
    const void *chunk;
    size_t n;
    request *q = &r->request;
    if (!client_waits(r))
        return;
    /* The client sends no more. That is the end of the file only if the client is still there,
     * which sending the metadata proves. */
    if (!r->in) {
        call_send(r, false, upload_whole);
        return;
    }
    grpc_slice bytes = call_bytes(r);
    arena_reset(r->scratch);
    bool fine = r->handler->chunk_read(q, r->scratch, GRPC_SLICE_START_PTR(bytes),
                                       GRPC_SLICE_LENGTH(bytes), &chunk, &n) &&
                (!n || r->server->cfg.sink(q, chunk, n));
    grpc_slice_unref(bytes);
    if (fine)
        call_receive(r, step_chunk);
    else
        answer_error(r);
}

/* ------------------------------------------------------------------------ downloads */

static void step_piece(rpc *r);

static void piece_sent(rpc *r)
{
    call_pool(r, step_piece);
}

static void step_piece(rpc *r)
{
    request *q = &r->request;
    char piece[PIECE];
    if (!client_waits(r))
        return;
    size_t n = q->file_size < PIECE ? (size_t)q->file_size : PIECE;
    ssize_t got = n ? pread(q->file, piece, n, q->file_from) : 0;
    if (n && got <= 0) {
        call_finish(r, RPC_INTERNAL, "internal server error", false);
        return;
    }
    if (!n) {
        call_finish(r, RPC_OK, "", false);
        return;
    }
    q->file_from += got;
    q->file_size -= got;
    buf_clear(&r->packed);
    r->handler->chunk_write(piece, (size_t)got, &r->packed);
    call_send(r, true, piece_sent);
}

static void download_begin(rpc *r)
{
    request *q = &r->request;
    buf_clear(&r->packed);
    if (q->status == 200 && r->handler->write(q, r->method, &r->packed) && r->handler->open(q))
        call_send(r, true, piece_sent);
    else
        answer_error(r);
}

/* --------------------------------------------------------------------------- events */

typedef struct rpc_stream {
    body_stream base; /* first: a body_stream of a call is one of these */
    rpc *call;
} rpc_stream;

static void step_events(rpc *r);
static void step_collect(rpc *r);

/* Caller holds the stream's lock. The call sleeps, so no other thread uses it. */
static void events_wake(body_stream *s)
{
    rpc *r = ((rpc_stream *)s)->call;
    call_pool(r, r->method->kind == RPC_EVENTS ? step_events : step_collect);
}

static void events_cut(body_stream *s)
{
    grpc_call_cancel(((rpc_stream *)s)->call->call, NULL);
}

static void events_abandon(body_stream *s)
{
    pthread_mutex_lock(&s->lock);
    s->gone = true;
    pthread_mutex_unlock(&s->lock);
    atomic_store(&((rpc_stream *)s)->call->stream, NULL);
    stream_leave(s);
}

static const stream_taker over_rpc = {
    .wake = events_wake, .cut = events_cut, .linger = events_cut, .abandon = events_abandon};

static body_stream *events_new(request *q, size_t max)
{
    rpc *r = q->inner;
    body_stream *s = stream_make(sizeof(rpc_stream), &over_rpc, max);
    ((rpc_stream *)s)->call = r;
    atomic_store(&r->stream, s);
    return s;
}

/* Packs the next event that is not skipped. False: none is complete. */
static bool event_next(rpc *r)
{
    buf_clear(&r->packed);
    for (size_t used = 1; used && !r->packed.n; r->taken += used) {
        arena_reset(r->scratch);
        r->handler->event(&r->request, r->scratch, r->pending.data + r->taken,
                          r->pending.n - r->taken, &used, &r->packed);
    }
    return r->packed.n > 0;
}

/* Takes the next piece of the stream; the rest stays there, where its memory is counted and shared.
 * False: the stream was empty; *over: for good. */
static bool events_take(rpc *r, bool *over)
{
    body_stream *s = atomic_load(&r->stream);
    *over = !s;
    if (!s)
        return false;
    memmove(r->pending.data, r->pending.data + r->taken, r->pending.n - r->taken);
    r->pending.n -= r->taken;
    r->taken = 0;
    pthread_mutex_lock(&s->lock);
    bool some = !s->gone && stream_take_piece(s, &r->pending);
    *over = !some && (s->gone || s->ended || atomic_load(&r->cancelled));
    s->asleep = !some && !*over;
    pthread_mutex_unlock(&s->lock);
    return some;
}

static void events_sent(rpc *r)
{
    call_pool(r, step_events);
}

/* Whether the producer has ended the stream, and all of it was taken. */
static bool stream_complete(rpc *r)
{
    body_stream *s = atomic_load(&r->stream);
    if (!s)
        return true;
    pthread_mutex_lock(&s->lock);
    bool complete = s->ended && !s->gone && !s->waiting;
    pthread_mutex_unlock(&s->lock);
    return complete;
}

/* Once the call sleeps, another thread may run it at once: it must not be used after that. */
static void step_events(rpc *r)
{
    bool over = false;
    while (!event_next(r)) {
        if (events_take(r, &over))
            continue;
        if (over && r->handler->streams_end && stream_complete(r))
            call_finish(r, RPC_OK, "", false);
        else if (over)
            call_finish(r, RPC_UNAVAILABLE, r->handler->stream_over, false);
        return;
    }
    call_send(r, true, events_sent);
}

/* Whether the answer is no stream because all its events are known already. */
static bool events_are_known(rpc *r)
{
    const char *text;
    request *q = &r->request;
    if (!r->handler->streams_end || r->handler->status(q, &text) != RPC_OK || !q->out.n)
        return false;
    buf_clear(&r->pending);
    buf_add(&r->pending, q->out.data, q->out.n);
    buf_release(&q->out);
    return !r->pending.over;
}

/* Waits for the end of a stream whose bytes are one answer. */
static void step_collect(rpc *r)
{
    bool over = false;
    while (events_take(r, &over))
        continue;
    if (!over || !client_waits(r))
        return;
    if (!stream_complete(r)) {
        call_finish(r, RPC_UNAVAILABLE, r->handler->stream_over, false);
        return;
    }
    buf_clear(&r->request.out);
    buf_add(&r->request.out, r->pending.data, r->pending.n);
    buf_release(&r->pending);
    answer(r);
}

/* --------------------------------------------------------------------------- a call */

static void step_run(rpc *r);

static void step_first(rpc *r)
{
    request *q = &r->request;
    if (!client_waits(r))
        return;
    if (!r->in) {
        call_finish(r, RPC_INVALID_ARGUMENT, "no message came", false);
        return;
    }
    grpc_slice bytes = call_bytes(r);
    bool fine =
        r->handler->read(q, r->method, GRPC_SLICE_START_PTR(bytes), GRPC_SLICE_LENGTH(bytes));
    grpc_slice_unref(bytes);
    rpc_kind kind = r->method->kind;
    if (!fine) {
        answer_error(r);
        return;
    }
    if (kind == RPC_UPLOAD) {
        if (admitted(r))
            call_receive(r, step_chunk);
        else
            answer_error(r);
        return;
    }
    if (!admitted(r))
        answer_error(r);
    else if (call_claim(r, step_run))
        step_run(r);
}

void service_call_begin(rpc *r)
{
    r->request.stream_new = events_new;
    call_receive(r, step_first);
}

/* The call may have waited for a thread. */
static void step_run(rpc *r)
{
    const request *q = &r->request;
    rpc_kind kind = r->method->kind;
    if (!client_waits(r))
        return;
    run(r);
    if (kind == RPC_DOWNLOAD)
        download_begin(r);
    else if (kind != RPC_EVENTS && q->stream)
        step_collect(r);
    else if (kind != RPC_EVENTS)
        answer(r);
    else if (q->stream || events_are_known(r))
        call_send(r, false, events_sent);
    else
        answer_error(r);
}

void service_call_closed(rpc *r)
{
    body_stream *s = atomic_load(&r->stream);
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    bool asleep = s->asleep;
    s->asleep = false;
    if (asleep)
        events_wake(s);
    pthread_mutex_unlock(&s->lock);
}

/* Some clients end a stream before they cancel it, so half a file looks like a whole one; and a
 * client that did not get the answer does not know that its file was stored. */
bool service_call_late(const rpc *r)
{
    return r->method->kind == RPC_UPLOAD && r->handler->undo && r->was_cancelled &&
           r->request.status >= 200 && r->request.status < 300;
}

void service_call_free(rpc *r)
{
    request *q = &r->request;
    body_stream *s = atomic_load(&r->stream);
    if (s)
        events_abandon(s);
    if (q->user && q->user_free)
        q->user_free(q->user);
    if (q->route)
        r->server->cfg.done(q, r->bytes, r->server->cfg.arg);
    if (q->file >= 0)
        close(q->file);
}
