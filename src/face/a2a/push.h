/* SPDX-License-Identifier: Apache-2.0
 *
 * push.h: push notifications: where the changes of a task are sent to (push.c), and their delivery
 * (push_send.c, push_post.c).
 */
#ifndef FACE_A2A_PUSH_H
#define FACE_A2A_PUSH_H

#include "form/a2a/a2a.h"
#include "ramet/push.h"
#include "turns/turns.h"

/* A destination as the client gave it. */
typedef struct push_target {
    const char *id, *url;
    const char *token;                /* NULL: none */
    const char *scheme, *credentials; /* of the header Authorization; NULL: none. A client of 0.3
                                         may have given several schemes: see push_scheme_length() */
} push_target;

/* The length of the first scheme, which is the one that counts; a comma follows if there are more.
 */
size_t push_scheme_length(const char *schemes);

/* Seals a target for its row, and opens the target of a row; false: it cannot be opened. */
const void *push_target_seal(arena *a, const uint8_t key[32], const char *task,
                             const push_target *t, size_t *n);
bool push_target_open(arena *a, const uint8_t key[32], const ramet_push *row, push_target *out);

/* ---- delivery, for the server */

typedef struct a2a_push_config {
    ramet *store;
    turns *turns;
    const uint8_t *key; /* 32 bytes, the same on all nodes and after a restart */
    bool private_urls;  /* private and loopback addresses are allowed */
} a2a_push_config;
typedef struct a2a_push a2a_push;
a2a_push *a2a_push_start(const a2a_push_config *cfg);
/* A destination was added: look at once. */
void a2a_push_wake(a2a_push *p);
/* Interrupts deliveries; they are made again later. NULL is fine. */
void a2a_push_stop(a2a_push *p);

#endif
