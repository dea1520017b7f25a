/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.h: one HTTP exchange of an agent, on the thread of its turn. It ends within a slice of
 * waiting when the turn is cancelled or a limit has passed.
 */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include "agent/agent.h"

enum { WIRE_ERROR_BYTES = 64 << 10, WIRE_WHY = 256 };

typedef struct wire_limits {
    int64_t connect_ms, first_byte_ms, idle_ms;
    int64_t total_ms; /* for messages only: see wire_in.deadline */
} wire_limits;

/* Connections kept for the next exchange. Usable from any thread. */
typedef struct wire_pool wire_pool;
wire_pool *wire_pool_new(void);
void wire_pool_free(wire_pool *p);

typedef struct wire_in {
    const char *url;
    const char *method;         /* NULL: POST with a body, GET without */
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    const char *body; /* NULL: none */
    size_t n;
    wire_pool *pool;     /* NULL: open a connection for this exchange */
    const char *ca_file; /* NULL or "": the system's */
    const wire_limits *limits;
    int64_t deadline;       /* time_mono_us() */
    const agent_sink *sink; /* may cancel; NULL: cannot be cancelled */
    /* Called for each piece of the body of a 2xx response; false: stop. */
    bool (*piece)(void *arg, const char *type, const char *p, size_t n);
    /* How long to wait for more, in ms, once something arrived; NULL: limits->idle_ms. */
    int64_t (*patience)(void *arg);
    void *arg;
} wire_in;

typedef struct wire_out {
    long status;            /* 0: no response */
    bool cancelled;         /* the sink asked for it */
    bool enough;            /* piece() asked to stop */
    bool late;              /* a limit has passed */
    bool unsent;            /* not connected: it may be retried */
    bool untrusted;         /* certificate not trusted: nothing was sent */
    int64_t retry_after_ms; /* requested by the server; 0: none */
    buf error;              /* the body of a response other than 2xx, up to WIRE_ERROR_BYTES */
    char why[WIRE_WHY];     /* why it broke off; "" if it did not */
} wire_out;

/* Fills *out, which wire_release() frees. Redirects are not followed. */
void wire_run(const wire_in *in, wire_out *out);
void wire_release(wire_out *out);
bool wire_fine(const wire_out *out); /* 2xx */
/* Each wire_open() needs one wire_close(). */
void wire_open(void);
void wire_close(void);

#endif
