/* SPDX-License-Identifier: Apache-2.0
 *
 * http.h: an HTTP/1.1 server for the faces. It knows nothing of conversations. A connection whose
 * first bytes are HTTP/2 is handed on; it is counted and limited like every other.
 *
 * A worker (one per core, epoll) reads a request. Once complete, a short one runs on the worker,
 * any other on a thread of a pool, so that a write waiting for its commit, or a long search, never
 * blocks a worker. A request with a long body is admitted by its header first.
 *
 * Everything from outside is bounded: the header, the body (refused as soon as it exceeds the
 * limit), all bodies together and those of one user, the number of connections in total and per
 * address, the time a request may take to arrive, and the time a connection may be idle.
 *
 * Input that is not HTTP gets an error in the usual form, and the connection is closed.
 */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "http/request.h"
#include "runtime/pool.h"

typedef struct http http;

/* The handler of a request. */
typedef struct http_target {
    void (*run)(request *q, void *arg); /* fills in the answer */
    /* Identifies the client from the header, before the body is read, on a pool thread. False: the
     * answer is filled in. A small body may be read first. NULL: no identity is needed. Threads are
     * shared fairly between the users it finds. */
    bool (*admit)(request *q, void *arg);
    void *arg;
    bool quick;      /* may run on the worker */
    size_t body_max; /* 0 = the server's */
    /* For an upload: receives pieces of the body instead of q->body, on a pool thread. */
    bool (*sink)(request *q, const void *bytes, size_t n);
} http_target;

typedef struct http_config {
    const char *address; /* a literal */
    int port;            /* 0 picks a free one */
    size_t header_max, body_max;
    size_t bodies_max, bodies_per_user; /* held at once; one body of body_max always fits */
    int connections, connections_per_address;
    int idle_s, request_s;
    int stall_s; /* longest time a client may read nothing of its answer */
    int workers;
    pool *pool;          /* runs requests; outlives the server */
    buf_budget *answers; /* memory of answers; outlives the server; NULL: no limit */
    /* Takes over a connection that begins as HTTP/2: it owns the socket from then on, and no byte
     * was read from it. False: not accepted. NULL: HTTP/2 is not served. */
    bool (*h2)(int fd, void *arg);
    const char *h2_address; /* a second address, for HTTP/2 only; NULL: none */
    int h2_port;            /* its port; 0 picks a free one */
    /* Finds the handler of a request once its header has arrived. False: the answer is filled in
     * already (404, 405, 401 …) and the body is not read. */
    bool (*route)(request *q, void *arg, http_target *to);
    /* Called once for each request whose header was read, when it is done or its client has
     * disconnected: for logs and metrics, and to free what belongs to it (q->c). q->status is 0 if
     * it was not answered. `sent` bytes of body. On a worker. */
    void (*done)(request *q, int64_t sent, void *arg);
    void *arg;
} http_config;

/* Returns NULL and fills *message (256 bytes) on failure. */
http *http_start(const http_config *cfg, char *message);
int http_port(const http *h);
int http_h2_port(const http *h); /* of the second address */
/* Stops accepting connections and handing them on. http_stop() does so, too. NULL is fine. */
void http_shut(http *h);
/* Accepts no new connections and requests; running ones get at most `seconds` to finish; streams
 * end. False: some still run on pool threads. Then nothing was freed, and what they use (the store)
 * must not be freed either: the process can only exit. */
bool http_stop(http *h, int seconds);
size_t http_open_connections(http *h);
size_t http_open_streams(http *h);
/* Whether an Accept-Encoding like "br;q=1, gzip;q=0.5" (NULL: none) accepts a coding. */
bool http_takes(const char *list, const char *coding);
size_t http_queued(http *h); /* requests that wait for a pool thread, or run on one */

#endif
