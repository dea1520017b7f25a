/* SPDX-License-Identifier: Apache-2.0
 *
 * Reference-counted immutable bytes (shared_buf.h).
 */
#include "base/shared_buf.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static _Atomic int64_t total;

shared_buf *shared_buf_new(const void *p, size_t n)
{
    shared_buf *b = xmalloc(sizeof *b + n);
    atomic_init(&b->holders, 1);
    b->n = n;
    memcpy(b->bytes, p, n);
    atomic_fetch_add_explicit(&total, (int64_t)(sizeof *b + n), memory_order_relaxed);
    return b;
}

shared_buf *shared_buf_hold(shared_buf *b)
{
    atomic_fetch_add_explicit(&b->holders, 1, memory_order_relaxed);
    return b;
}

void shared_buf_drop(shared_buf *b)
{
    if (!b || atomic_fetch_sub_explicit(&b->holders, 1, memory_order_acq_rel) != 1)
        return;
    atomic_fetch_sub_explicit(&total, (int64_t)(sizeof *b + b->n), memory_order_relaxed);
    free(b);
}

int64_t shared_buf_total(void)
{
    return atomic_load_explicit(&total, memory_order_relaxed);
}
