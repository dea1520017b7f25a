/* SPDX-License-Identifier: Apache-2.0
 *
 * columns.h: reading columns whose values are used as an enum, an index or a set of flags.
 *
 * The file may be damaged, so such a value is checked where the row is read: a value outside the
 * enum fails the connection with RAMET_DAMAGED and names the column (q_col_range()). The function
 * still returns a legal value, so that the caller can finish the row; the call fails nevertheless.
 * So code that uses a row may rely on every enum in it being one that its `switch` and its tables
 * know.
 */
#ifndef CORE_COLUMNS_H
#define CORE_COLUMNS_H

#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/event.h"

static inline ramet_role col_role(db_stmt *q, int n)
{
    return (ramet_role)q_col_range(q, n, RAMET_USER, RAMET_SYSTEM, "entry.role");
}

static inline int col_flags(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, 0, FLAGS_ALL, "entry.flags");
}

/* A column of an outer join may be NULL, which reads as RAMET_NO_LEVEL. */
static inline ramet_level col_level(db_stmt *q, int n)
{
    return (ramet_level)q_col_range(q, n, RAMET_NO_LEVEL, RAMET_OWNER, "member.level");
}

static inline int col_visibility(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, RAMET_TREE_VISIBLE, RAMET_PRIVATE, "session.visibility");
}

static inline int col_session_type(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, RAMET_EXPLICIT, RAMET_AUTO_REGENERATE, "session.type");
}

static inline int col_actor(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, RAMET_BY_USER, RAMET_BY_SYSTEM, "session.by_kind");
}

static inline int col_fork_side(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, RAMET_AFTER, RAMET_BEFORE, "session.fork_side");
}

/* 1: gc is removing the session; 2: only its place in the tree is left. */
static inline int col_purging(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, 0, 2, "session.purging");
}

static inline ramet_move_kind col_move_kind(db_stmt *q, int n)
{
    return (ramet_move_kind)q_col_range(q, n, RAMET_MOVE_REWIND, RAMET_MOVE_OVERLAY, "move.kind");
}

static inline ramet_turn_status col_turn_status(db_stmt *q, int n)
{
    return (ramet_turn_status)q_col_range(q, n, RAMET_TURN_RUNNING, RAMET_TURN_INTERRUPTED,
                                          "turn.status");
}

static inline ramet_event_kind col_event_kind(db_stmt *q, int n)
{
    return (ramet_event_kind)q_col_range(q, n, RAMET_EVENT_CREATED, EVENT_INDEXED, "event.kind");
}

static inline int col_feedback(db_stmt *q, int n)
{
    return (int)q_col_range(q, n, -1, 1, "feedback.value");
}

/* A column of an outer join may be NULL, which reads as 0. */
static inline int64_t col_branch(db_stmt *q, int n)
{
    return q_col_range(q, n, 0, BRANCH_MAX, "branch.id");
}

/* The length of a path, or a position on one: keys are made of it. */
static inline int64_t col_length(db_stmt *q, int n, const char *what)
{
    return q_col_range(q, n, 0, POS_MAX, what);
}

/* A number or a time that the next one is counted from. */
static inline int64_t col_last(db_stmt *q, int n, const char *what)
{
    return q_col_range(q, n, 0, INT64_MAX - 1, what);
}

/* A number in the record of a session; it must leave room for sums with positions. */
static inline int64_t col_record(db_stmt *q, int n)
{
    return q_col_range(q, n, 0, INT64_MAX / 4, "run.rec");
}

/* A running sum of usage: at most 2^24 entries of at most 2^38 each. */
static inline int64_t col_sum(db_stmt *q, int n)
{
    return q_col_range(q, n, 0, (int64_t)1 << 62, "usage.cum");
}

static inline int64_t col_size(db_stmt *q, int n)
{
    return q_col_range(q, n, 0, INT64_MAX, "attachment.size");
}

#endif
