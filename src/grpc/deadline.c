/* SPDX-License-Identifier: Apache-2.0
 *
 * deadline.c: deadlines of calls that wait for their client. A client need not set a deadline, so
 * the server sets one for each wait: request-seconds, plus a second for each 16 KiB that have
 * arrived or are to be taken. HTTP/1.1 has the same minimum rate.
 *
 * The time for messages is shared by all messages of a call: a client that sends a file byte by
 * byte does not extend its deadline. Time spent in the server does not count. Reflection is the
 * exception: each of its messages is a request of its own.
 */
#include "grpc/grpc_internal.h"

#include "base/util.h"

#define RATE_SHIFT 14 /* 16 KiB a second */

static int64_t rate_us(int64_t bytes)
{
    return (bytes >> RATE_SHIFT) * 1000000;
}

void wait_begin(rpc *r, wait_kind kind, int64_t bytes)
{
    rpc_server *s = r->server;
    int64_t now = time_mono_us(), max = s->cfg.request_s * INT64_C(1000000);
    if (kind == WAIT_MESSAGE && r->handler)
        max += rate_us(r->in_bytes) - r->wait_us;
    r->wait_begun_us = now;
    r->wait_for = kind;
    pthread_mutex_lock(&s->wait_lock);
    r->wait_until_us = now + max + rate_us(bytes);
    r->wait_prev = NULL;
    r->wait_next = s->waiting;
    if (r->wait_next)
        r->wait_next->wait_prev = r;
    s->waiting = r;
    pthread_mutex_unlock(&s->wait_lock);
}

void wait_end(rpc *r)
{
    rpc_server *s = r->server;
    pthread_mutex_lock(&s->wait_lock);
    if (r->wait_prev)
        r->wait_prev->wait_next = r->wait_next;
    else
        s->waiting = r->wait_next;
    if (r->wait_next)
        r->wait_next->wait_prev = r->wait_prev;
    pthread_mutex_unlock(&s->wait_lock);
    if (r->wait_for != WAIT_MESSAGE)
        return;
    r->wait_us += time_mono_us() - r->wait_begun_us;
    r->in_bytes += r->in ? (int64_t)grpc_byte_buffer_length(r->in) : 0;
}

/* A call in the list cannot be freed: the operation that it waits for is not complete. */
void waits_tick(rpc_server *s)
{
    int64_t now = time_mono_us();
    pthread_mutex_lock(&s->wait_lock);
    for (rpc *r = s->waiting; r; r = r->wait_next) {
        if (now < r->wait_until_us)
            continue;
        r->wait_until_us = INT64_MAX;
        grpc_call_cancel_with_status(r->call, GRPC_STATUS_DEADLINE_EXCEEDED,
                                     r->wait_for == WAIT_MESSAGE
                                         ? "the message did not arrive in time (request-seconds)"
                                         : "the answer was not taken in time (request-seconds)",
                                     NULL);
    }
    pthread_mutex_unlock(&s->wait_lock);
}
