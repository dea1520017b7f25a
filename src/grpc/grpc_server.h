/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_server.h: a gRPC server, on top of the gRPC C core, for registered services (service.h),
 * with health checks and reflection for the usual tools.
 *
 * Connections are accepted elsewhere and handed over. The core reads and writes them through a
 * guard (http2_guard.h), enforces the deadlines that clients set and refuses messages that are too
 * large; a few threads handle its events. Calls run on the pool, like HTTP requests.
 */
#ifndef GRPC_GRPC_SERVER_H
#define GRPC_GRPC_SERVER_H

#include "grpc/http2_guard.h"
#include "http/request.h"
#include "runtime/pool.h"

typedef struct rpc_server rpc_server;

typedef struct rpc_config {
    pool *pool;
    buf_budget *answers; /* memory of answers; NULL: no limit */
    const struct face_host *host;
    const struct grpc_service *const *services; /* outlives the server */
    size_t n_services;
    size_t message_max, header_max;
    bool off;                  /* refuse every connection */
    call_limit calls, watches; /* open at once; watches are the endless calls of grpc/health.c */
    int watch_s;               /* longest duration of a watch */
    int resets;                /* see http2_guard.h */
    int64_t message_bytes;     /* likewise */
    int idle_s;                /* longest time a connection may have no call */
    int request_s;             /* time for a message, plus 1 s for each 16 KiB */
    int threads;               /* threads that handle the core's events */
    /* The steps of a request, see server/serve.c. */
    bool (*admit)(request *q, void *arg); /* false: the answer is filled in */
    void (*run)(request *q, void *arg);
    bool (*sink)(request *q, const void *bytes, size_t n);
    void (*done)(request *q, int64_t sent, void *arg);
    bool (*serving)(void *arg); /* for health checks */
    void *arg;
} rpc_config;

rpc_server *rpc_start(const rpc_config *cfg);
/* Takes over a socket from which nothing was read. False: the server is stopping, and the caller
 * keeps the socket. */
bool rpc_take(rpc_server *s, int fd);
/* Accepts no new calls; running ones get at most `seconds` to finish, then they are cancelled.
 * False: some still run on pool threads, and nothing was freed. NULL is fine. */
bool rpc_stop(rpc_server *s, int seconds);
/* The number of open calls of a kind; never above the limit. */
int64_t rpc_open_calls(rpc_server *s, call_kind kind);
int64_t rpc_cut_connections(rpc_server *s);

#endif
