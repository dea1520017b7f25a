/* SPDX-License-Identifier: Apache-2.0
 *
 * http.h: HTTP/1.1 for the faces. Knows nothing of conversations. What turns out to be HTTP/2 by
 * its first bytes is handed on; its connections count, and are limited, like all others.
 *
 * A worker (one a core, epoll) reads a request. When it is whole, it is run: short ones at once, on
 * the worker; all others on a thread of a pool, so that a write that waits for its commit, or a
 * long search, never holds a worker. A request with a long body is admitted by its header first.
 *
 * Everything from outside is bounded: the header, the body (refused as soon as it is over), all
 * bodies together and those of one user, the number of connections, also of one address, the time
 * that a request may take to arrive and that a connection may be idle.
 *
 * What is no HTTP is answered in the form of all other errors, and the connection is closed.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "http/request.h"
#include "runtime/pool.h"

typedef struct http http;

/* What a request is run by. */
typedef struct http_target {
    void (*run)(request *q, void *arg); /* fills the answer */
    /* Finds out who asks, from the header, before a body is read; on a thread of the pool. False:
     * the answer is filled. A small body may be read first. NULL: anybody may. Threads are shared
     * between the users that it finds. */
    bool (*admit)(request *q, void *arg);
    void *arg;
    bool quick;      /* may run on the worker */
    size_t body_max; /* 0 = the server's */
    /* An upload: pieces of the body go here instead of q->body, on a thread of the pool. */
    bool (*sink)(request *q, const void *bytes, size_t n);
} http_target;

typedef struct http_config {
    const char *address; /* a literal */
    int port;            /* 0 picks a free one */
    size_t header_max, body_max;
    size_t bodies_max, bodies_per_user; /* held at once; at least one of body_max always fits */
    int connections, connections_per_address;
    int idle_s, request_s;
    int stall_s; /* how long a client may take nothing of what waits for it */
    int workers;
    pool *pool;          /* runs requests; outlives the server */
    buf_budget *answers; /* memory of answers; outlives the server; NULL: without a bound */
    /* Takes a connection that begins as HTTP/2 does: the socket is its own from then on, and
     * nothing was read of it. False: it was not taken. NULL: there is nobody who does. */
    bool (*h2)(int fd, void *arg);
    const char *h2_address; /* a second address, for HTTP/2 alone; NULL: none */
    int h2_port;            /* of it; 0 picks a free one */
    /* Finds what runs a request, when its header is there. False: the answer is filled already
     * (404, 405, 401 …) and the body is not read. */
    bool (*route)(request *q, void *arg, http_target *to);
    /* A request is done, or its client went away: for logs and metrics, and to free what hangs on
     * it (q->call). Once for each request whose header was read; q->status is 0 when it was not
     * answered. `sent` bytes of body. On a worker. */
    void (*done)(request *q, int64_t sent, void *arg);
    void *arg;
} http_config;

/* NULL and *message (256 bytes) on failure. */
http *http_start(const http_config *cfg, char *message);
int http_port(const http *h);
int http_h2_port(const http *h); /* of the second address */
/* Lets nobody in any more, and hands nothing on. NULL is fine; http_stop() does it, too. */
void http_shut(http *h);
/* No new connections and requests; those that run finish, at most within `seconds`; streams end.
 * False: some still run on threads of the pool; nothing was freed, and what they use (the store)
 * must not be either: the process can only exit. */
bool http_stop(http *h, int seconds);
size_t http_open_connections(http *h);
size_t http_open_streams(http *h);
/* Whether an Accept-Encoding like "br;q=1, gzip;q=0.5" (NULL: none) takes a coding. */
bool http_takes(const char *list, const char *coding);
size_t http_queued(http *h); /* requests that wait for a thread of the pool, or run on one */

#endif
