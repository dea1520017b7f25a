/* SPDX-License-Identifier: Apache-2.0
 *
 * wire.h: one HTTP exchange of an agent, on the thread of its turn: it ends within a slice of
 * waiting when the turn is cancelled or a limit is passed.
 */
#ifndef AGENT_WIRE_H
#define AGENT_WIRE_H

#include "agent/agent.h"

enum { WIRE_ERROR_BYTES = 64 << 10, WIRE_WHY = 160 };

typedef struct wire_limits {
    int64_t connect_ms, first_byte_ms, idle_ms;
} wire_limits;

typedef struct wire_in {
    const char *url;
    const char *const *headers; /* "Name: value" */
    size_t n_headers;
    const char *body; /* NULL: a GET */
    size_t n;
    const wire_limits *limits;
    int64_t deadline;    /* time_mono_us() */
    const agent_sink *s; /* who may cancel; NULL: nobody */
    /* Each piece of the body of an answer 2xx; false: enough. */
    bool (*piece)(void *arg, const char *type, const char *p, size_t n);
    void *arg;
} wire_in;

typedef struct wire_out {
    long status;        /* 0: no answer came */
    bool cancelled;     /* the sink said so */
    bool enough;        /* piece() said so */
    bool unsent;        /* no connection was made: it may be tried again */
    buf error;          /* the body of an answer that is not 2xx, up to WIRE_ERROR_BYTES */
    char why[WIRE_WHY]; /* why it broke off; "" when it did not */
} wire_out;

/* Fills *out, which wire_release() frees. Redirects are not followed. */
void wire_run(const wire_in *in, wire_out *out);
void wire_release(wire_out *out);
/* As often as it is opened, it is closed. */
void wire_open(void);
void wire_close(void);

#endif
