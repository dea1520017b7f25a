/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.h: one HTTP exchange of an agent, on the thread of its turn: it ends within a slice of
 * waiting when the turn is cancelled or a limit is passed.
 */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include "agent/agent.h"

enum { WIRE_ERROR_BYTES = 64 << 10, WIRE_WHY = 256 };

typedef struct wire_limits {
    int64_t connect_ms, first_byte_ms, idle_ms;
    int64_t total_ms; /* only told: see wire_in.deadline */
} wire_limits;

/* Connections that are kept for the next exchange. Any thread. */
typedef struct wire_pool wire_pool;
wire_pool *wire_pool_new(void);
void wire_pool_free(wire_pool *p);

typedef struct wire_in {
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    const char *body; /* NULL: a GET */
    size_t n;
    wire_pool *pool;     /* NULL: the connection is made for this exchange */
    const char *ca_file; /* NULL or "": the system's */
    const wire_limits *limits;
    int64_t deadline;       /* time_mono_us() */
    const agent_sink *sink; /* who may cancel; NULL: nobody */
    /* Each piece of the body of an answer 2xx; false: enough. */
    bool (*piece)(void *arg, const char *type, const char *p, size_t n);
    /* How long more is waited for, in ms, once something came; NULL: limits->idle_ms. */
    int64_t (*patience)(void *arg);
    void *arg;
} wire_in;

typedef struct wire_out {
    long status;            /* 0: no answer came */
    bool cancelled;         /* the sink said so */
    bool enough;            /* piece() said so */
    bool late;              /* a limit was passed */
    bool unsent;            /* no connection was made: it may be tried again */
    bool untrusted;         /* by its certificate: nothing was sent */
    int64_t retry_after_ms; /* what the server asks for; 0: nothing */
    buf error;              /* the body of an answer that is not 2xx, up to WIRE_ERROR_BYTES */
    char why[WIRE_WHY];     /* why it broke off; "" when it did not */
} wire_out;

/* Fills *out, which wire_release() frees. Redirects are not followed. */
void wire_run(const wire_in *in, wire_out *out);
void wire_release(wire_out *out);
bool wire_fine(const wire_out *out); /* 2xx */
/* As often as it is opened, it is closed. */
void wire_open(void);
void wire_close(void);

#endif
