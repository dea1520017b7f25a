/* SPDX-License-Identifier: Apache-2.0
 *
 * shared_buf.h: reference-counted immutable bytes.
 *
 * An event is rendered once, and every stream that sends it shares the result. All calls are safe
 * from any thread; the bytes never change.
 */
#ifndef BASE_SHARED_BUF_H
#define BASE_SHARED_BUF_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct shared_buf {
    atomic_int holders;
    size_t n;
    char bytes[];
} shared_buf;

shared_buf *shared_buf_new(const void *p, size_t n); /* the caller holds the one reference */
shared_buf *shared_buf_hold(shared_buf *b);
void shared_buf_drop(shared_buf *b); /* frees it with the last reference; NULL is fine */

/* Bytes of all shared buffers in this process. */
int64_t shared_buf_total(void);

#endif
