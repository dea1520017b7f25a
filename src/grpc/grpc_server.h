/* SPDX-License-Identifier: Apache-2.0
 *
 * grpc_server.h: gRPC over its C core, for the services that are registered (service.h); health
 * checks and reflection for the usual tools.
 *
 * Connections are accepted elsewhere and handed over. The core reads and writes them through a
 * guard (http2_guard.h), keeps the deadlines that clients set and refuses messages that are too
 * large; a few threads take its events. Calls run on the pool, like requests of HTTP.
 */
#ifndef GRPC_GRPC_SERVER_H
#define GRPC_GRPC_SERVER_H

#include "grpc/http2_guard.h"
#include "http/request.h"
#include "runtime/pool.h"

typedef struct rpc_server rpc_server;

typedef struct rpc_config {
    pool *pool;
    buf_budget *answers; /* memory of answers; NULL: without a bound */
    const struct face_host *host;
    const struct grpc_service *const *services; /* outlives the server */
    size_t n_services;
    size_t message_max, header_max;
    bool off;                  /* every connection is refused */
    call_limit calls, watches; /* open at once; watches are the endless calls of grpc/health.c */
    int watch_s;               /* how long a watch lasts at most */
    int resets;                /* see http2_guard.h */
    int64_t message_bytes;     /* the same */
    int idle_s;                /* how long a connection may have no call */
    int request_s;             /* how long a message may take, and 1 s more for each 16 KiB */
    int threads;               /* that take the events of the core */
    /* What a request goes through, see server/serve.c. */
    bool (*admit)(request *q, void *arg); /* false: the answer is filled */
    void (*run)(request *q, void *arg);
    bool (*sink)(request *q, const void *bytes, size_t n);
    void (*done)(request *q, int64_t sent, void *arg);
    bool (*serving)(void *arg); /* for health checks */
    void *arg;
} rpc_config;

rpc_server *rpc_start(const rpc_config *cfg);
/* Takes a socket on which nothing was read yet. False: not any more; it stays the caller's. */
bool rpc_take(rpc_server *s, int fd);
/* No new calls; those that run finish, at most within `seconds`, then they are cancelled. False:
 * some still run on threads of the pool; nothing was freed. NULL is fine. */
bool rpc_stop(rpc_server *s, int seconds);
/* Calls that are open, by kind; never more than the limit. */
int64_t rpc_open_calls(rpc_server *s, call_kind kind);
int64_t rpc_cut_connections(rpc_server *s);

#endif
