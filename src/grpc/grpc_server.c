/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_server.c: the gRPC server, on top of the gRPC C core: start, stop, the threads that handle
 * the core's events, and what every call does: it arrives, receives, sends and ends.
 */
#include "grpc/grpc_internal.h"

#include "base/util.h"
#include "runtime/log.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The limit of one message; pages end far below it. */
#define ANSWER_MAX ((size_t)128 << 20)
#define MAX_STREAMS 256     /* concurrent calls per connection */
#define STREAM_WINDOW 65535 /* bytes; the initial value in HTTP/2 */
#define FRAME_BYTES 16384   /* likewise */
#define HEADER_FACTOR 4 /* over header_max the core refuses the call; over this the guard cuts */
#define TICK_US 500000
#define PING_MS 10000 /* minimum time between keepalive pings of a client */

static void arrive(rpc_server *s);

/* ------------------------------------------------------------------------- the end */

static void message_count(rpc *r, size_t n);

static void call_free(rpc *r)
{
    rpc_server *s = r->server;
    message_count(r, 0);
    if (r->handler)
        service_call_free(r);
    if (r->in)
        grpc_byte_buffer_destroy(r->in);
    if (r->out)
        grpc_byte_buffer_destroy(r->out);
    if (r->call)
        grpc_call_unref(r->call);
    grpc_call_details_destroy(&r->details);
    grpc_metadata_array_destroy(&r->metadata);
    grpc_slice_unref(r->about[0].value);
    grpc_slice_unref(r->about[1].value);
    grpc_slice_unref(r->status_text);
    buf_release(&r->request.body);
    buf_release(&r->request.out);
    buf_release(&r->packed);
    buf_release(&r->pending);
    arena_free(r->request.arena);
    arena_free(r->scratch);
    if (r->counted)
        http2_call_close(s->guard, r->from, r->kind);
    if (r->from)
        http2_address_release(s->guard, r->from);
    if (r->arrived_ok)
        atomic_fetch_sub(&s->alive, 1);
    free(r);
}

static void late_run(pool_job *job)
{
    rpc *r = (rpc *)((char *)job - offsetof(rpc, job));
    r->handler->undo(&r->request);
    call_free(r);
}

static void call_leave(rpc *r)
{
    if (atomic_fetch_sub(&r->owners, 1) != 1)
        return;
    r->job.run = late_run;
    if (r->handler && service_call_late(r) && pool_enter(r->server->cfg.pool))
        pool_put(r->server->cfg.pool, &r->job, WORK_WRITE, work_client(&r->request));
    else
        call_free(r);
}

static void on_finished(rpc *r, bool fine)
{
    (void)fine;
    wait_end(r);
    call_leave(r);
}

static void on_closed(rpc *r, bool fine)
{
    (void)fine;
    atomic_store(&r->cancelled, true);
    if (r->handler)
        service_call_closed(r);
    else
        tool_call_closed(r);
    call_leave(r);
}

/* ----------------------------------------------------------------- sending, receiving */

static void begin(rpc *r, const grpc_op *ops, size_t n, rpc_tag *tag)
{
    /* The core refuses only programming errors. */
    if (grpc_call_start_batch(r->call, ops, n, tag, NULL) != GRPC_CALL_OK)
        abort();
}

static size_t op_greet(rpc *r, grpc_op *op)
{
    if (r->greeted)
        return 0;
    r->greeted = true;
    *op = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    op->data.send_initial_metadata.count = r->request.id[0] ? 1 : 0;
    op->data.send_initial_metadata.metadata = r->about;
    return 1;
}

/* The core holds a message until its client has read it, so it counts as memory of answers. */
static void message_count(rpc *r, size_t n)
{
    size_t counted = n > BUF_FREE ? n : 0;
    if (r->server->cfg.answers)
        atomic_fetch_add(&r->server->cfg.answers->used,
                         (int64_t)counted - (int64_t)r->message_bytes);
    r->message_bytes = counted;
}

static size_t op_message(rpc *r, grpc_op *op)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(r->packed.data, r->packed.n);
    message_count(r, r->packed.n);
    if (r->out)
        grpc_byte_buffer_destroy(r->out);
    r->out = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    r->bytes += (int64_t)r->packed.n;
    if (r->packed.cap > BUF_FREE)
        buf_release(&r->packed);
    *op = (grpc_op){.op = GRPC_OP_SEND_MESSAGE};
    op->data.send_message.send_message = r->out;
    return 1;
}

void call_finish(rpc *r, int code, const char *text, bool message)
{
    grpc_op ops[3];
    size_t n = op_greet(r, ops);
    if (message)
        n += op_message(r, ops + n);
    grpc_slice_unref(r->status_text);
    r->status_text = grpc_slice_from_copied_string(text ? text : "");
    ops[n] = (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER};
    ops[n].data.send_status_from_server.status = (grpc_status_code)code;
    ops[n].data.send_status_from_server.status_details = &r->status_text;
    ops[n].data.send_status_from_server.trailing_metadata_count = r->has_details     ? 2
                                                                  : r->request.id[0] ? 1
                                                                                     : 0;
    ops[n].data.send_status_from_server.trailing_metadata = r->about;
    r->sent.fired = on_finished;
    wait_begin(r, WAIT_TAKEN, message ? (int64_t)r->packed.n : 0);
    begin(r, ops, n + 1, &r->sent);
}

static void on_sent(rpc *r, bool fine)
{
    wait_end(r);
    if (fine)
        r->next(r);
    else
        call_finish(r, RPC_CANCELLED, "", false);
}

void call_send(rpc *r, bool message, rpc_step *next)
{
    grpc_op ops[2];
    size_t n = op_greet(r, ops);
    if (message)
        n += op_message(r, ops + n);
    r->next = next;
    if (!n) {
        next(r);
        return;
    }
    r->sent.fired = on_sent;
    wait_begin(r, WAIT_TAKEN, message ? (int64_t)r->packed.n : 0);
    begin(r, ops, n, &r->sent);
}

static void job_run(pool_job *job)
{
    rpc *r = (rpc *)((char *)job - offsetof(rpc, job));
    r->next(r);
}

void call_pool(rpc *r, rpc_step *next)
{
    r->next = next;
    r->job.run = job_run;
    if (pool_enter(r->server->cfg.pool))
        pool_put(r->server->cfg.pool, &r->job, WORK_SHORT, work_client(&r->request));
    else
        call_finish(r, RPC_UNAVAILABLE, "the server is going down", false);
}

bool call_claim(rpc *r, rpc_step *next)
{
    r->next = next;
    return pool_claim(r->server->cfg.pool, &r->job, work_of(&r->request, true),
                      work_client(&r->request));
}

static void on_received(rpc *r, bool fine)
{
    (void)fine;
    wait_end(r);
    call_pool(r, r->next);
}

static void on_received_here(rpc *r, bool fine)
{
    (void)fine;
    wait_end(r);
    r->next(r);
}

static void receive(rpc *r, rpc_step *next, void (*fired)(rpc *, bool))
{
    grpc_op want = {.op = GRPC_OP_RECV_MESSAGE};
    if (r->in)
        grpc_byte_buffer_destroy(r->in);
    r->in = NULL;
    want.data.recv_message.recv_message = &r->in;
    r->next = next;
    r->received.fired = fired;
    wait_begin(r, WAIT_MESSAGE, 0);
    begin(r, &want, 1, &r->received);
}

void call_receive(rpc *r, rpc_step *next)
{
    receive(r, next, on_received);
}

void call_receive_here(rpc *r, rpc_step *next)
{
    receive(r, next, on_received_here);
}

grpc_slice call_bytes(rpc *r)
{
    grpc_byte_buffer_reader reader;
    if (!r->in || !grpc_byte_buffer_reader_init(&reader, r->in))
        return grpc_empty_slice();
    grpc_slice all = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    return all;
}

/* ------------------------------------------------------------------------- requests */

/* The metadata that requests may read; other HTTP headers would change a route's answer. All values
 * of a repeated key count, joined by newlines: no id contains one, so a request that names two
 * users is refused. */
static const char *call_header(request *q, const char *name)
{
    static const char *const passed[] = {"authorization", "x-api-key",    "x-user-id",
                                         "x-client-id",   "x-request-id", "a2a-version",
                                         "a2a-extensions"};
    rpc *r = q->inner;
    const char *found = NULL;
    if (strcasecmp(name, "Content-Type") == 0)
        return "application/json";
    if (strcasecmp(name, "Host") == 0)
        return arena_memdup(q->arena, GRPC_SLICE_START_PTR(r->details.host),
                            GRPC_SLICE_LENGTH(r->details.host));
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        if (strcasecmp(name, passed[i]) != 0)
            continue;
        for (size_t k = 0; k < r->metadata.count; k++) {
            const grpc_metadata *m = &r->metadata.metadata[k];
            size_t n = GRPC_SLICE_LENGTH(m->value);
            if (!n || grpc_slice_str_cmp(m->key, passed[i]) != 0)
                continue;
            const char *value = arena_memdup(q->arena, GRPC_SLICE_START_PTR(m->value), n);
            found = found ? arena_printf(q->arena, "%s\n%s", found, value) : value;
        }
    }
    return found;
}

static void request_id(request *q)
{
    static const char fine[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *given = call_header(q, "x-request-id");
    char uuid[UUID_TEXT];
    size_t n = given ? strlen(given) : 0;
    if (!n || n > 128 || strspn(given, fine) != n)
        given = uuid7(time_now_us(), uuid);
    snprintf(q->id, sizeof q->id, "%s", given);
}

/* The core names a connection that was handed to it "fd:7". */
static const char *remote_of(rpc *r)
{
    char text[INET6_ADDRSTRLEN] = "";
    char *peer = grpc_call_get_peer(r->call);
    int fd;
    if (peer && sscanf(peer, "fd:%d", &fd) == 1)
        r->from = http2_address_of(r->server->guard, fd, text);
    gpr_free(peer);
    return arena_strdup(r->request.arena, text);
}

static void request_begin(rpc *r, char *path)
{
    request *q = &r->request;
    q->inner = r;
    q->gone = &r->cancelled;
    q->host = r->server->cfg.host;
    q->header = call_header;
    q->keeps_failure = true;
    q->start_us = time_mono_us();
    q->path = path;
    q->method = "POST";
    q->remote = remote_of(r);
    request_id(q);
    r->about[0].key = grpc_slice_from_static_string("x-request-id");
    r->about[0].value = grpc_slice_from_copied_string(q->id);
    q->whole = true;
    jw_init(&q->writer, &q->out, 0);
}

/* ------------------------------------------------------------------------- arriving */

/* False: too many calls are open, and this one is finished. */
static bool call_admit(rpc *r)
{
    static const struct {
        const char *total, *per_address;
    } texts[CALL_KINDS] = {
        [CALL_ORDINARY] = {"too many calls are open (grpc-calls)",
                           "too many calls of this address are open (grpc-calls-per-address)"},
        [CALL_WATCH] = {"too many watches are open (grpc-watches)",
                        "too many watches of this address are open (grpc-watches-per-address)"},
    };
    bool own = false;
    if (!r->from) { /* only a connection that has ended has none */
        call_finish(r, RPC_UNAVAILABLE, "the connection has ended", false);
        return false;
    }
    r->counted = http2_call_open(r->server->guard, r->from, r->kind, &own);
    if (r->counted)
        return true;
    call_finish(r, RPC_RESOURCE_EXHAUSTED, own ? texts[r->kind].per_address : texts[r->kind].total,
                false);
    return false;
}

static void on_arrived(rpc *r, bool fine)
{
    rpc_server *s = r->server;
    if (!fine) { /* the server is stopping */
        call_free(r);
        return;
    }
    r->arrived_ok = true;
    atomic_fetch_add(&s->alive, 1);
    if (!atomic_load(&s->stopping))
        arrive(s);
    char *path = arena_memdup(r->request.arena, GRPC_SLICE_START_PTR(r->details.method),
                              GRPC_SLICE_LENGTH(r->details.method));
    request_begin(r, path);
    r->begun_us = time_mono_us();
    r->kind = service_call_find(r, path) ? CALL_ORDINARY : tool_call_kind(path);
    atomic_fetch_add(&r->owners, 1);
    grpc_op want = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER};
    want.data.recv_close_on_server.cancelled = &r->was_cancelled;
    r->closed.fired = on_closed;
    begin(r, &want, 1, &r->closed);
    if (!call_admit(r))
        return;
    if (r->handler)
        service_call_begin(r);
    else if (!tool_call_begin(r, path))
        call_finish(r, RPC_UNIMPLEMENTED, "there is no such method", false);
}

static void arrive(rpc_server *s)
{
    rpc *r = xcalloc(1, sizeof *r);
    r->server = s;
    atomic_init(&r->owners, 1);
    r->arrived = (rpc_tag){r, on_arrived};
    r->closed.call = r->received.call = r->sent.call = r;
    r->status_text = r->about[0].key = r->about[0].value = grpc_empty_slice();
    r->about[1].key = r->about[1].value = grpc_empty_slice();
    r->request.arena = arena_new();
    r->request.file = -1;
    r->scratch = arena_new();
    buf_init(&r->request.body, 2 * s->cfg.message_max);
    buf_init(&r->request.out, ANSWER_MAX);
    buf_init(&r->packed, ANSWER_MAX);
    r->request.out.budget = r->packed.budget = s->cfg.answers;
    buf_init(&r->pending, ANSWER_MAX);
    grpc_call_details_init(&r->details);
    grpc_metadata_array_init(&r->metadata);
    if (grpc_server_request_call(s->core, &r->call, &r->details, &r->metadata, s->queue, s->queue,
                                 &r->arrived) != GRPC_CALL_OK)
        call_free(r);
}

static void on_stopped(rpc *r, bool fine)
{
    (void)fine;
    rpc_server *s = (rpc_server *)(void *)r;
    pthread_mutex_lock(&s->lock);
    s->stopped = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void *thread_main(void *arg)
{
    rpc_server *s = arg;
    for (;;) {
        gpr_timespec until =
            gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_micros(TICK_US, GPR_TIMESPAN));
        grpc_event e = grpc_completion_queue_next(s->queue, until, NULL);
        if (e.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (e.type == GRPC_OP_COMPLETE) {
            rpc_tag *t = e.tag;
            t->fired(t->call, e.success);
        }
        int64_t now = time_mono_us(), last = atomic_load(&s->ticked);
        if (now - last > TICK_US && atomic_compare_exchange_strong(&s->ticked, &last, now)) {
            watchers_tick(s);
            waits_tick(s);
        }
    }
}

/* --------------------------------------------------------------------- start and stop */

static grpc_server *server_make(const rpc_config *cfg)
{
#define INT(k, v) {.type = GRPC_ARG_INTEGER, .key = (char *)(k), .value.integer = (int)(v)}
    grpc_arg args[] = {
        INT(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, cfg->message_max),
        INT(GRPC_ARG_MAX_METADATA_SIZE, cfg->header_max),
        INT(GRPC_ARG_MAX_CONCURRENT_STREAMS, MAX_STREAMS),
        INT(GRPC_ARG_MAX_CONNECTION_IDLE_MS, cfg->idle_s * 1000),
        INT(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, PING_MS),
        INT(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        /* By default the core opens windows of 4 MiB, which each stream could fill and abandon. */
        INT(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        INT(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, STREAM_WINDOW),
        INT(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, FRAME_BYTES),
        /* Compressed messages are refused: a few bytes could expand to any number. */
        INT(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1),
    };
#undef INT
    grpc_channel_args all = {sizeof args / sizeof *args, args};
    return grpc_server_create(&all, NULL);
}

/* Forwards the core's log to ours. */
static void core_says(gpr_log_func_args *a)
{
    log_line(a->severity == GPR_LOG_SEVERITY_ERROR ? LOG_WARN : LOG_DEBUG, "gRPC", "text",
             a->message, NULL);
}

static void serve_fd(int fd, void *arg)
{
    rpc_server *s = arg;
    grpc_server_add_channel_from_fd(s->core, fd, s->insecure);
}

static http2_guard *guard_start(rpc_server *s)
{
    const rpc_config *cfg = &s->cfg;
    return http2_guard_start(&(http2_config){
        .header_max = HEADER_FACTOR * cfg->header_max,
        .streams = MAX_STREAMS,
        .window = STREAM_WINDOW,
        .resets = cfg->resets,
        .message_bytes = cfg->message_bytes,
        .calls = {[CALL_ORDINARY] = cfg->calls, [CALL_WATCH] = cfg->watches},
        .request_s = cfg->request_s,
        .idle_s = cfg->idle_s,
        .refuse = cfg->off,
        .serve = serve_fd,
        .arg = s,
    });
}

static void core_start(rpc_server *s)
{
    gpr_set_log_function(core_says);
    grpc_init();
    s->core = server_make(&s->cfg);
    s->insecure = grpc_insecure_server_credentials_create();
    s->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(s->core, s->queue, NULL);
    grpc_server_start(s->core);
    s->threads = xcalloc((size_t)s->cfg.threads, sizeof *s->threads);
    for (int i = 0; i < s->cfg.threads; i++) {
        arrive(s);
        if (pthread_create(&s->threads[s->n_threads], NULL, thread_main, s) == 0)
            s->n_threads++;
    }
    if (!s->n_threads)
        abort(); /* no thread can be created */
}

rpc_server *rpc_start(const rpc_config *cfg)
{
    rpc_server *s = xcalloc(1, sizeof *s);
    s->cfg = *cfg;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->wait_lock, NULL);
    cond_init(&s->changed);
    s->guard = guard_start(s);
    if (!cfg->off)
        core_start(s);
    return s;
}

bool rpc_take(rpc_server *s, int fd)
{
    return !atomic_load(&s->stopping) && http2_guard_take(s->guard, fd);
}

int64_t rpc_open_calls(rpc_server *s, call_kind kind)
{
    return http2_calls(s->guard, kind);
}

int64_t rpc_cut_connections(rpc_server *s)
{
    return http2_guard_cuts(s->guard);
}

static bool stopped_within(rpc_server *s, int seconds)
{
    struct timespec until = time_after(seconds * INT64_C(1000000));
    pthread_mutex_lock(&s->lock);
    while (!s->stopped && pthread_cond_timedwait(&s->changed, &s->lock, &until) == 0)
        continue;
    bool fine = s->stopped;
    pthread_mutex_unlock(&s->lock);
    return fine;
}

/* False: calls still run on pool threads. */
static bool core_stop(rpc_server *s, int seconds)
{
    watchers_end(s);
    s->stopped_tag = (rpc_tag){(rpc *)(void *)s, on_stopped};
    grpc_server_shutdown_and_notify(s->core, s->queue, &s->stopped_tag);
    if (!stopped_within(s, seconds)) {
        grpc_server_cancel_all_calls(s->core);
        http2_guard_end(s->guard);
        if (!stopped_within(s, 2))
            return false;
    }
    /* The core reports a call as done before its last event was taken. */
    for (int i = 0; atomic_load(&s->alive) && i < 1000; i++)
        usleep(2000);
    if (atomic_load(&s->alive))
        return false;
    grpc_server_destroy(s->core);
    grpc_completion_queue_shutdown(s->queue);
    for (int i = 0; i < s->n_threads; i++)
        pthread_join(s->threads[i], NULL);
    grpc_completion_queue_destroy(s->queue);
    grpc_server_credentials_release(s->insecure);
    return true;
}

bool rpc_stop(rpc_server *s, int seconds)
{
    if (!s)
        return true;
    atomic_store(&s->stopping, true);
    if (s->core && !core_stop(s, seconds))
        return false;
    http2_guard_free(s->guard);
    if (s->core)
        grpc_shutdown_blocking();
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->wait_lock);
    free(s->threads);
    free(s);
    return true;
}
