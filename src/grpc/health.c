/* SPDX-License-Identifier: Apache-2.0
 *
 * health.c: the services grpc.health.v1 and grpc.reflection. Both are quick, so they run on the
 * threads that handle the core's events.
 */
#include "grpc/grpc_internal.h"

#include "base/util.h"
#include "form/proto/proto.h"

#include <grpc/health/v1/health.pb-c.h>
#include <string.h>

typedef Grpc__Health__V1__HealthCheckResponse health_response;

enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static void message_pack(rpc *r, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    buf_clear(&r->packed);
    buf_reserve(&r->packed, n);
    r->packed.n = n ? protobuf_c_message_pack(m, (uint8_t *)r->packed.data) : 0;
}

/* ---------------------------------------------------------------------------- health */

static bool known(const rpc_server *s, const char *service)
{
    static const char *const own[] = {"", "grpc.health.v1.Health",
                                      "grpc.reflection.v1.ServerReflection",
                                      "grpc.reflection.v1alpha.ServerReflection"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], service) == 0)
            return true;
    return service_is_known(s, service);
}

static int status_of(rpc *r)
{
    if (!known(r->server, r->service))
        return SERVICE_UNKNOWN;
    bool serves = !atomic_load(&r->server->stopping) && r->server->cfg.serving(r->server->cfg.arg);
    return serves ? SERVING : NOT_SERVING;
}

static void status_pack(rpc *r, int status)
{
    health_response m = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    m.status = (Grpc__Health__V1__HealthCheckResponse__ServingStatus)status;
    message_pack(r, &m.base);
}

/* Reads the name of the service to check. False: the call is finished. */
static bool service_read(rpc *r)
{
    const char *why = "no message came";
    grpc_slice bytes = call_bytes(r);
    const Grpc__Health__V1__HealthCheckRequest *in = NULL;
    if (r->in)
        in = (const Grpc__Health__V1__HealthCheckRequest *)(const void *)proto_unpack(
            r->request.arena, &grpc__health__v1__health_check_request__descriptor,
            GRPC_SLICE_START_PTR(bytes), GRPC_SLICE_LENGTH(bytes), &why);
    grpc_slice_unref(bytes);
    r->service = in ? in->service : NULL;
    if (!in)
        call_finish(r, RPC_INVALID_ARGUMENT, why, false);
    return in != NULL;
}

static void step_check(rpc *r)
{
    if (!service_read(r))
        return;
    int status = status_of(r);
    if (status == SERVICE_UNKNOWN) {
        call_finish(r, RPC_NOT_FOUND, "there is no such service", false);
        return;
    }
    status_pack(r, status);
    call_finish(r, RPC_OK, "", true);
}

/* ---- watches: calls that get the status whenever it changes */

static void watch_sent(rpc *r);

/* Caller holds the server's lock. */
static void watch_look(rpc *r)
{
    int status = r->busy ? r->status_sent : status_of(r);
    if (status == r->status_sent)
        return;
    r->status_sent = status;
    r->busy = true;
    status_pack(r, status);
    call_send(r, true, watch_sent);
}

/* Caller holds the server's lock. */
static void watch_unlink(rpc *r)
{
    if (r->watch_prev)
        r->watch_prev->watch_next = r->watch_next;
    else
        r->server->watchers = r->watch_next;
    if (r->watch_next)
        r->watch_next->watch_prev = r->watch_prev;
    r->watching = false;
}

static void watch_sent(rpc *r)
{
    pthread_mutex_lock(&r->server->lock);
    r->busy = false;
    bool over = !r->watching;
    if (!over)
        watch_look(r);
    pthread_mutex_unlock(&r->server->lock);
    if (over)
        call_finish(r, RPC_UNAVAILABLE, "the server is going down", false);
}

static void step_watch(rpc *r)
{
    rpc_server *s = r->server;
    if (!service_read(r))
        return;
    pthread_mutex_lock(&s->lock);
    bool late = atomic_load(&r->cancelled) || atomic_load(&s->stopping);
    if (!late) {
        r->watch_next = s->watchers;
        if (r->watch_next)
            r->watch_next->watch_prev = r;
        s->watchers = r;
        r->watching = true;
        watch_look(r);
    }
    pthread_mutex_unlock(&s->lock);
    if (late)
        call_finish(r, RPC_UNAVAILABLE, "the server is going down", false);
}

/* A call without authentication must not last for ever. */
static bool too_old(const rpc *r)
{
    return time_mono_us() - r->begun_us > r->server->cfg.watch_s * INT64_C(1000000);
}

static const char over_text[] = "this call has lasted for grpc-watch-seconds; begin it again";

/* While a message is being sent, its completion ends the call. */
static void watchers_expire(rpc_server *s)
{
    pthread_mutex_lock(&s->lock);
    for (rpc *r = s->watchers, *next; r; r = next) {
        next = r->watch_next;
        if (r->busy || !too_old(r))
            continue;
        watch_unlink(r);
        call_finish(r, RPC_UNAVAILABLE, over_text, false);
    }
    pthread_mutex_unlock(&s->lock);
}

void watchers_tick(rpc_server *s)
{
    watchers_expire(s);
    pthread_mutex_lock(&s->lock);
    for (rpc *r = s->watchers; r; r = r->watch_next)
        watch_look(r);
    pthread_mutex_unlock(&s->lock);
}

/* While a message is being sent, its completion ends the call. */
void tool_call_closed(rpc *r)
{
    pthread_mutex_lock(&r->server->lock);
    bool mine = r->watching && !r->busy;
    if (r->watching)
        watch_unlink(r);
    pthread_mutex_unlock(&r->server->lock);
    if (mine)
        call_finish(r, RPC_CANCELLED, "", false);
}

void watchers_end(rpc_server *s)
{
    for (;;) {
        pthread_mutex_lock(&s->lock);
        rpc *r = s->watchers;
        bool idle = r && !r->busy;
        if (r)
            watch_unlink(r);
        pthread_mutex_unlock(&s->lock);
        if (!r)
            return;
        if (idle)
            call_finish(r, RPC_UNAVAILABLE, "the server is going down", false);
    }
}

/* ------------------------------------------------------------------------ reflection */

static void step_reflect(rpc *r);

static void reflect_sent(rpc *r)
{
    if (too_old(r))
        call_finish(r, RPC_UNAVAILABLE, over_text, false);
    else
        call_receive_here(r, step_reflect);
}

static void step_reflect(rpc *r)
{
    if (!r->in) {
        call_finish(r, RPC_OK, "", false);
        return;
    }
    grpc_slice bytes = call_bytes(r);
    arena_reset(r->scratch);
    buf_clear(&r->packed);
    reflect_answer(r->scratch, GRPC_SLICE_START_PTR(bytes), GRPC_SLICE_LENGTH(bytes), &r->packed);
    grpc_slice_unref(bytes);
    call_send(r, true, reflect_sent);
}

static const struct {
    const char *path;
    rpc_step *first;
    call_kind kind;
} tools[] = {
    {"/grpc.health.v1.Health/Check", step_check, CALL_ORDINARY},
    {"/grpc.health.v1.Health/Watch", step_watch, CALL_WATCH},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", step_reflect, CALL_WATCH},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", step_reflect, CALL_WATCH},
};
enum { N_TOOLS = sizeof tools / sizeof *tools };

static size_t tool_find(const char *path)
{
    size_t i = 0;
    while (i < N_TOOLS && strcmp(tools[i].path, path) != 0)
        i++;
    return i;
}

call_kind tool_call_kind(const char *path)
{
    size_t i = tool_find(path);
    return i < N_TOOLS ? tools[i].kind : CALL_ORDINARY;
}

bool tool_call_begin(rpc *r, const char *path)
{
    size_t i = tool_find(path);
    if (i < N_TOOLS)
        call_receive_here(r, tools[i].first);
    return i < N_TOOLS;
}
