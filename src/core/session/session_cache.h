/* SPDX-License-Identifier: Apache-2.0
 *
 * session_cache.h: a cache of sessions that were appended to recently. Only for writes;
 * session_cache.c has the invariants.
 */
#ifndef CORE_SESSION_SESSION_CACHE_H
#define CORE_SESSION_SESSION_CACHE_H

#include "core/model/branch.h"

struct session_cache *session_cache_new(void);
void session_cache_free(struct session_cache *cache);
/* Empties it when `past` is newer than the one it belongs to (db_past()). */
void session_cache_enter(struct session_cache *cache, int64_t past);
void session_cache_forget(struct session_cache *cache); /* drops all of them */
/* Finds the session, the caller's level in its tree where it is cached, and the head of main, as
 * session_open_brief() returns them. */
bool session_cache_get(txn *tx, const char *id, session_brief *s, branch_row *head);
void session_cache_put(txn *tx, const session_brief *s, const branch_row *head);
/* The same with the whole row, only for guarded writes, as session_open_head() returns it. */
bool session_cache_whole(txn *tx, const char *id, session_full *s, branch_row *head);
void session_cache_put_whole(txn *tx, const session_full *s, const branch_row *head);
void session_cache_drop(txn *tx, const char *id);

#endif
