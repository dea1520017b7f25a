/* SPDX-License-Identifier: Apache-2.0
 *
 * session.h: rows of sessions. Three types state how much of a row was loaded; each contains the
 * one before it:
 *
 *   session_access   its owner and visibility, and whether it is gone
 *   session_brief    the same with its heads: what an append needs
 *   session_full     the whole row
 *
 * Their members have the same names, so `s->tree` works for each. A function takes the smallest
 * type that it needs; `&s->brief` and `&s->access` convert. There is no conversion the other way:
 * load the row again (session_by_no()).
 */
#ifndef CORE_SESSION_SESSION_H
#define CORE_SESSION_SESSION_H

#include "core/txn.h"

/* A row that was selected for a list may lack number, tree and id where the caller's level in the
 * tree is known (session_seen()). */
#define SESSION_ACCESS_MEMBERS                                                                     \
    int64_t no, tree;                                                                              \
    const char *id; /* NULL: purged, only its position in the tree is left */                      \
    const char *owner;                                                                             \
    int visibility;                                                                                \
    int64_t expires, deleted;                                                                      \
    int purging;
typedef struct session_access {
    SESSION_ACCESS_MEMBERS
} session_access;

#define SESSION_BRIEF_MEMBERS                                                                      \
    union {                                                                                        \
        session_access access;                                                                     \
        struct {                                                                                   \
            SESSION_ACCESS_MEMBERS                                                                 \
        };                                                                                         \
    };                                                                                             \
    int64_t head, adk; /* branches; adk 0: that log is empty */                                    \
    int64_t first_adk; /* 0: the log was always empty */                                           \
    int64_t stamp;     /* of its tree, or SESSION_NO_STAMP (core/session/rights.c) */
typedef struct session_brief {
    SESSION_BRIEF_MEMBERS
} session_brief;

typedef struct session_full {
    union {
        session_brief brief;
        struct {
            SESSION_BRIEF_MEMBERS
        };
    };
    int64_t parent, depth;
    const char *title, *agent, *agent_config, *metadata;
    int type;
    const char *reason;
    int by_kind;
    const char *by_id, *fork_entry;
    int fork_side;
    int64_t merged_into, first, undo, redo, moves;
    int64_t archived; /* archive_stamp(); 0: not archived */
    int64_t created, updated, delete_op;
    int64_t seal;           /* session_seal() of what never changes about it */
    const char *from_title; /* of a fork: the name of its parent at that time */
} session_full;
#define SESSION_N_COLS 34

/* The stamp was not read with the row, so a guarded write must not rely on it. Only
 * session_open_head(), session_open_brief() and the session cache set it. */
#define SESSION_NO_STAMP INT64_C(-1)

/* The time of archiving as it is stored: in seconds since 2020, which 31 bits hold until 2088, and
 * never 0. 1 also stands for sessions archived before the time was recorded. */
#define ARCHIVE_EPOCH_S INT64_C(1577836800)
static inline int64_t archive_stamp(int64_t us)
{
    int64_t s = us / 1000000 - ARCHIVE_EPOCH_S;
    return s < 1 ? 1 : s > INT32_MAX ? INT32_MAX : s;
}
/* Converts a stamp back to a time, whatever a damaged store holds. */
static inline int64_t archive_time(int64_t stamp)
{
    return ((stamp & INT32_MAX) + ARCHIVE_EPOCH_S) * 1000000;
}

/* Reads SESSION_COLS. */
void session_from(db_stmt *q, arena *a, session_full *s);
/* A short digest of a session's origin, for fsck: no hash chain covers its position in the tree. */
int64_t session_seal(sha *h, const session_full *s);
bool session_load(txn *tx, const char *id, session_full *s);
bool session_by_no(txn *tx, int64_t tree, int64_t no, session_full *s);
/* RAMET_DAMAGED when the row found by `id` belongs to another session: the index may be damaged. */
bool session_has_id(txn *tx, const session_access *s, const char *id);
bool session_gone(const txn *tx, const session_access *s); /* deleted, expired or purged */
int64_t tree_number(txn *tx, const char *id);              /* 0: there is no such tree */
/* A copy whose texts are in another arena. */
session_full session_keep(arena *a, const session_full *row);
/* RAMET_SESSION_EXISTS or RAMET_SESSION_DELETED when the id is not available for a new session. */
ramet_status session_id_free(txn *tx, const char *id);
/* Inserts a session row with its tags. */
void session_insert(txn *tx, const session_full *s, const char *const *tags, size_t n_tags);
/* Inserts a root with an empty branch in a new tree, whose number is s->tree. The caller adds the
 * members. */
struct branch_row;
void session_plant(txn *tx, session_full *s, const char *const *tags, size_t n_tags,
                   struct branch_row *b);
/* Marks the session as changed now, although nothing was appended to its logs. */
void session_touch(txn *tx, const session_brief *s);

#endif
