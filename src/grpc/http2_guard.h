/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_guard.h: a proxy between HTTP/2 clients and the gRPC core that cuts off abusive
 * connections.
 *
 * The gRPC core allocates a call as soon as its header has arrived, and queues it until the server
 * requests it. A limit on the server's side of that queue comes too late: a client that opens and
 * resets streams as fast as it can fills memory with calls that the server has never seen. So the
 * core never gets the client's socket. It gets one end of a socket pair; a thread of the guard
 * copies bytes both ways and reads the frame headers on their way.
 *
 *   client socket <──> guard (http2_guard.c) <── socket pair ──> gRPC core
 *                        │
 *                        ├ http2_frames.c   limits of one connection
 *                        └ http2_shares.c   limits of all connections, and of those of one address
 *
 * Invariants
 *   H1  The guard never changes or reorders what a client sends. Of what the core sends, it delays
 *       window updates of streams, and nothing else.
 *   H2  Memory for bytes in transit is bounded: while one side does not read what it was sent, the
 *       guard does not read from the other.
 *   H3  The guard counts every stream before the core sees it.
 *   H4  A connection that is cut gets a GOAWAY that names the reason, unless the guard is in the
 *       middle of a frame; its streams end in the core at once.
 *
 * The functions may be called from any thread.
 */
#ifndef GRPC_HTTP2_GUARD_H
#define GRPC_HTTP2_GUARD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct http2_guard http2_guard;
/* A client address and its part of the shared limits. IPv6 addresses of one /64 count as one: a
 * single client can have all of them. */
typedef struct http2_address http2_address;

/* Kinds of calls with separate limits. */
typedef enum { CALL_ORDINARY, CALL_WATCH, CALL_KINDS } call_kind;

typedef struct call_limit {
    int64_t total, per_address; /* open at once; per_address 0: no limit */
} call_limit;

typedef struct http2_config {
    size_t header_max; /* bytes of one header block, as it is on the wire */
    int streams;       /* open at once on one connection; the core must announce the same */
    int window;        /* bytes; the initial window of a stream that the core announces */
    int resets;        /* young streams that a connection may reset at once; see http2_shares.c */
    int64_t message_bytes;        /* for messages larger than `window` that arrive or run at once */
    call_limit calls[CALL_KINDS]; /* for http2_call_open() */
    int request_s; /* time for a header block, and for the first one of a connection */
    int idle_s;    /* longest time a client may read nothing of what it was sent */
    bool refuse;   /* HTTP/2 is off: each connection gets a GOAWAY that says so */
    /* Takes over the server's end of a connection, and must close it. */
    void (*serve)(int fd, void *arg);
    void *arg;
} http2_config;

http2_guard *http2_guard_start(const http2_config *cfg);
/* Takes over a client's socket from which nothing was read. False: the caller keeps it. */
bool http2_guard_take(http2_guard *g, int fd);
/* Cuts all connections, and accepts no more. Returns before that is done. */
void http2_guard_end(http2_guard *g);
/* Call when the core has closed its ends: delivers what it has written, for a moment. NULL is
 * fine. */
void http2_guard_free(http2_guard *g);
/* The number of connections cut for what they did. */
int64_t http2_guard_cuts(const http2_guard *g);

/* The address behind an open server's end; the caller holds it until http2_address_release().
 * `remote` gets it as text. */
http2_address *http2_address_of(http2_guard *g, int fd, char remote[INET6_ADDRSTRLEN]);
void http2_address_release(http2_guard *g, http2_address *a);
/* Counts a call. False: not counted, and *per_address says which limit was reached. */
bool http2_call_open(http2_guard *g, http2_address *a, call_kind kind, bool *per_address);
void http2_call_close(http2_guard *g, http2_address *a, call_kind kind);
int64_t http2_calls(http2_guard *g, call_kind kind);

#endif
