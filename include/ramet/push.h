/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/push.h: where the changes of A2A tasks are sent to.
 *
 * A row names a destination of one task and says which change was sent there last. A node that
 * delivers claims a row first, so that on several nodes one of them does; what is to be sent is
 * found by comparing the row with the turn of the task, so nothing is lost when a node dies.
 */
#ifndef RAMET_PUSH_H
#define RAMET_PUSH_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RAMET_PUSH_PER_TASK = 10, RAMET_PUSH_PER_USER = 1000 };
#define RAMET_PUSH_NEVER INT64_MAX /* `due` of a row with nothing more to be sent */
#define RAMET_PUSH_NOTHING (-1)    /* `sent` of a row before the first change */

typedef struct ramet_push {
    const char *task, *id;
    const char *session;
    const char *owner;  /* who asked for it, and with whose rights the task is read */
    int wire;           /* the protocol's version; opaque to the library */
    const void *config; /* sealed by the protocol; opaque to the library */
    size_t n;
    int64_t sent;             /* what was sent last, as the protocol numbers it */
    int64_t tries;            /* how often the current change could not be delivered */
    int64_t due;              /* not to be looked at before that time */
    bool gone;                /* the session or the task is deleted */
    bool has_turn;            /* the task is a turn of this store, */
    ramet_turn_status status; /* … in that status */
} ramet_push;
typedef struct ramet_push_in {
    const char *task, *id;
    int wire;
    const void *config;
    size_t n; /* at most 16 KiB */
} ramet_push_in;

/* Adds a destination, or replaces the caller's with that id. Needs reader, and a caller that is a
 * user. RAMET_TOO_LARGE: the task has RAMET_PUSH_PER_TASK of them, or the user RAMET_PUSH_PER_USER
 * to which something may still be sent. */
RAMET_API ramet_status ramet_push_put(ramet_call *c, const char *session, const ramet_push_in *in);
/* Whether the caller may have another one; RAMET_TOO_LARGE if not. */
RAMET_API ramet_status ramet_push_room(ramet_call *c);
/* The caller's destinations of a task, by id. */
RAMET_API ramet_status ramet_push_list(ramet_call *c, const char *session, const char *task,
                                       ramet_push **out, size_t *n);
/* Removes one of the caller's; nothing happens if there is none. */
RAMET_API ramet_status ramet_push_delete(ramet_call *c, const char *session, const char *task,
                                         const char *id);

/* ---- for the program that delivers */

/* Rows that are due at a time, of all users; `after`: the last one of the page before, NULL: from
 * the start. */
RAMET_API ramet_status ramet_push_due(ramet_call *c, int64_t now, const ramet_push *after,
                                      int limit, ramet_push **out, size_t *n);
/* Takes a row until a time; *got false: another node has it, or it was changed. */
RAMET_API ramet_status ramet_push_claim(ramet_call *c, ramet_push *p, int64_t until, bool *got);
/* Writes `sent`, `tries` and the next `due` of a row that was claimed; nothing happens if it was
 * changed since. */
RAMET_API ramet_status ramet_push_settle(ramet_call *c, const ramet_push *p, int64_t due);
/* Removes a row whose task is gone. */
RAMET_API ramet_status ramet_push_drop(ramet_call *c, const ramet_push *p);

#ifdef __cplusplus
}
#endif
#endif
