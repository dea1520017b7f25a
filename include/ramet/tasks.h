/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/tasks.h: A2A tasks, stored beside the entries of a session, and the positions at which
 * their turns begin.
 */
#ifndef RAMET_TASKS_H
#define RAMET_TASKS_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the protocol stores about an A2A task, except its messages: those are the entries of the
 * turn with its id. */
typedef struct ramet_task {
    const char *id, *session;
    const char *data; /* JSON object; opaque to the library */
    int64_t created, updated;
    bool deleted;
} ramet_task;
typedef struct ramet_task_in {
    const char *id;
    const char *data;
    int64_t at;             /* when it reached its status; 0: not known */
    const char *invocation; /* another name of its turn (ramet_entry_in); NULL: none */
} ramet_task_in;

/* A session in a list ordered by time. */
typedef struct ramet_active {
    const char *session, *agent; /* its id; the name of its agent, NULL: none */
    int64_t first, last;         /* nothing in it reached its status earlier, or later */
} ramet_active;
typedef struct ramet_active_in {
    int64_t last, number; /* where the previous page ended (0, 0: from the start) */
    int64_t until;        /* only sessions with something at least as old as this; 0: any */
    int limit;            /* 1 … 1000; 0: 100 */
} ramet_active_in;
typedef struct ramet_active_list {
    ramet_active *items;
    size_t n;
    bool more;            /* there may be more sessions, */
    int64_t last, number; /* whose `last` is not above this one */
} ramet_active_list;

/* Ids of tasks are unique in the store. Putting needs writer; RAMET_ENTRY_EXISTS: the id belongs to
 * a task of another session, or to a deleted one. ramet_task_get() also gives deleted tasks; *out
 * is NULL when there is none that the caller may see. */
RAMET_API ramet_status ramet_task_put(ramet_call *c, const char *session, const ramet_task_in *in,
                                      ramet_task **out);
RAMET_API ramet_status ramet_task_get(ramet_call *c, const char *id, ramet_task **out);
RAMET_API ramet_status ramet_task_delete(ramet_call *c, const char *session, const char *id);
/* The tasks of a session, oldest first, with deleted ones. */
RAMET_API ramet_status ramet_tasks(ramet_call *c, const char *session, ramet_task **out, size_t *n);
/* Sessions that the caller may see, ordered by their last activity, newest first: for listing their
 * contents by time. Reads each session, but not its contents. */
RAMET_API ramet_status ramet_active_find(ramet_call *c, const ramet_active_in *in,
                                         ramet_active_list *out);

/* The turns of a session that began before a time (0: all), newest first, to page through them: no
 * two of them began at the same time. limit 1-1000; 0 = 50. Needs reader. */
RAMET_API ramet_status ramet_turns_before(ramet_call *c, const char *session, int64_t before,
                                          int limit, ramet_turn **out, size_t *n);

/* Where a turn, or an invocation, begins. */
typedef struct ramet_turn_at {
    bool on_path;     /* on the path of the head; else a move has cut it off */
    int64_t branch;   /* the branch that holds it */
    int64_t position; /* of its first entry (main: the question) */
} ramet_turn_at;
RAMET_API ramet_status ramet_turn_find(ramet_call *c, const char *session, ramet_log log,
                                       const char *turn, ramet_turn_at *out);

#ifdef __cplusplus
}
#endif
#endif
