/* SPDX-License-Identifier: Apache-2.0
 *
 * group_commit.h: runs the guarded writes of many threads in few PostgreSQL transactions.
 *
 * An operation is run once or several times, on the thread of any caller, while its own caller
 * waits. Every function may be called by any thread.
 */
#ifndef STORE_POSTGRES_GROUP_COMMIT_H
#define STORE_POSTGRES_GROUP_COMMIT_H

#include "store/postgres/postgres.h"
#include "store/store_internal.h"

typedef struct group_commit group_commit;

/* Where the connections of groups come from. */
typedef struct group_connections {
    ramet_status (*take)(store *s, pg **out, char *message);
    void (*give)(store *s, pg *d);
    void (*wrote_events)(store *s); /* after a commit that has events */
} group_connections;

/* `base` is passed to the functions of `connections`, and counts commits. slots: the number of
 * groups written at once; 0: one per processor, and more while commits are slow. */
group_commit *group_commit_new(const group_connections *connections, store *base, int slots);
/* No write may be in progress. */
void group_commit_free(group_commit *g);

/* True: *st is the answer. RAMET_OK: it is committed. Otherwise message (512) says what is known
 * about it, and it must not be run again. False: nothing of it is committed, and it must be run in
 * a serializable transaction. */
bool group_commit_write(group_commit *g, store_op run, void *arg, ramet_status *st, char *message);

/* The number of operations waiting for a group, without leaders. */
size_t group_commit_queued(group_commit *g);

#endif
