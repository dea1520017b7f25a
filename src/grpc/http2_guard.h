/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_guard.h: stands between HTTP/2 clients and the gRPC core, and cuts off abusive connections.
 *
 * The gRPC core allocates a call as soon as its header has arrived, and queues it until the server
 * asks for it. A limit on the server's side of that queue comes too late: a client that opens and
 * resets streams as fast as it can fills memory with calls that nobody has seen. So the core never
 * gets the client's socket. It gets one end of a socket pair; a thread of the guard copies bytes
 * both ways and reads the frame headers on their way.
 *
 *   client socket <──> guard (http2_guard.c) <── socket pair ──> gRPC core
 *                        │
 *                        ├ http2_frames.c   what one connection may do
 *                        └ http2_shares.c   what all connections, and those of one address, may do
 *
 * Invariants
 *   H1  The guard never changes or reorders what a client sends. Of what the core sends, it delays
 *       window updates of streams, and nothing else.
 *   H2  Memory for bytes in transit is bounded: while one side does not take what it was sent,
 *       the guard does not read from the other.
 *   H3  Every stream that the core knows was counted by the guard before the core saw it.
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
/* An address that connections come from, and its part in what is shared. IPv6 addresses of one /64
 * are one: a single client can have all of them. */
typedef struct http2_address http2_address;

/* Kinds of calls that are limited apart from each other. */
typedef enum { CALL_ORDINARY, CALL_WATCH, CALL_KINDS } call_kind;

typedef struct call_limit {
    int64_t total, per_address; /* open at once; per_address 0: no limit */
} call_limit;

typedef struct http2_config {
    size_t header_max; /* bytes of one header block, as it is on the wire */
    int streams;       /* open at once on one connection; the core must announce the same */
    int window;        /* bytes; the initial window of a stream that the core announces */
    int resets;        /* young streams that a connection may reset at once; see http2_shares.c */
    int64_t message_bytes;        /* of messages larger than `window` that arrive or run at once */
    call_limit calls[CALL_KINDS]; /* for http2_call_open() */
    int request_s;                /* for a header block, and for the first one of a connection */
    int idle_s;                   /* for a client that takes nothing of what it was sent */
    bool refuse;                  /* HTTP/2 is off: each connection gets a GOAWAY that says so */
    /* Takes the server's end of a connection. It has to close it. */
    void (*serve)(int fd, void *arg);
    void *arg;
} http2_config;

http2_guard *http2_guard_start(const http2_config *cfg);
/* Takes a client's socket on which nothing was read yet. False: it stays the caller's. */
bool http2_guard_take(http2_guard *g, int fd);
/* Cuts all connections, and takes no more. Returns before that is done. */
void http2_guard_end(http2_guard *g);
/* When the core has closed its ends: what it has written still goes to the clients, for a moment.
 * NULL is fine. */
void http2_guard_free(http2_guard *g);
/* Connections that were cut for what they did. */
int64_t http2_guard_cuts(const http2_guard *g);

/* The address behind a server's end that is open; the caller holds it until
 * http2_address_release(). `remote` gets it as text. */
http2_address *http2_address_of(http2_guard *g, int fd, char remote[INET6_ADDRSTRLEN]);
void http2_address_release(http2_guard *g, http2_address *a);
/* Counts a call. False: it is not counted, and *per_address tells which limit was reached. */
bool http2_call_open(http2_guard *g, http2_address *a, call_kind kind, bool *per_address);
void http2_call_close(http2_guard *g, http2_address *a, call_kind kind);
int64_t http2_calls(http2_guard *g, call_kind kind);

#endif
