/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror_internal.h: shared by mirror.c and mirror_session.c.
 */
#ifndef AGENT_OPENCODE_MIRROR_INTERNAL_H
#define AGENT_OPENCODE_MIRROR_INTERNAL_H

#include "agent/opencode/opencode.h"

#include <stdatomic.h>

/* A session of OpenCode. */
typedef struct mirror_item {
    struct mirror_item *next;
    char *id;
    int64_t due;     /* monotonic: when to read it; 0: it has not changed */
    int64_t updated; /* its last change, as OpenCode says */
} mirror_item;

/* One linked sandbox. */
typedef struct mirror {
    struct mirror *next;
    char *sandbox, *owner;
    ramet *store;
    void (*note)(const char *sandbox, const char *text);
    opencode *own; /* of its agent */
    agent_sink sink;
    char job[300];
    _Atomic bool stop;
    bool is_off; /* it cannot be followed */
    pthread_t listener, worker;
    pthread_mutex_t lock; /* guards the rest */
    mirror_item *items;
    bool is_all_due, has_heard;
    buf line; /* of the listener */
} mirror;

typedef enum { MIRROR_DONE, MIRROR_LATER } mirror_result;

oc_api mirror_api(mirror *m, arena *a);
/* Removes from OpenCode what was erased, or collected, here. False: it cannot be reached. */
bool mirror_tidy(ramet *store, const oc_api *api);
/* Reads one session in, as far as it is new. MIRROR_LATER: it is busy, or the store is. */
mirror_result mirror_session(mirror *m, const oc_api *api, const char *id);

#endif
