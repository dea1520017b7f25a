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
void session_cache_forget(struct session_cache *cache); /* all of them */
/* The session, the caller's level in its tree where it is known, and its head of main, as
 * session_open_brief() gives them. */
bool session_cache_get(txn *tx, const char *id, session_brief *s, branch_row *head);
void session_cache_put(txn *tx, const session_brief *s, const branch_row *head);
/* The same with the whole row, for guarded writes alone, as session_open_head() gives it. */
bool session_cache_whole(txn *tx, const char *id, session_full *s, branch_row *head);
void session_cache_put_whole(txn *tx, const session_full *s, const branch_row *head);
void session_cache_drop(txn *tx, const char *id);

#endif
