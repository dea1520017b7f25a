/* SPDX-License-Identifier: Apache-2.0
 *
 * guarded_sql.h: the statements that may run in a guarded transaction (DB_GUARDED, store/db.h),
 * each with the reason why that is safe.
 *
 * A guarded transaction reads row by row, outside any snapshot, and sends its writes at the commit
 * together with guards: the branch that grows, or is forked, still ends as it was read, and the
 * tree still has the same stamp. A statement without a mark moves its operation to a serializable
 * transaction (store/postgres/group_commit.c). So a mark is an optimization that has to be argued
 * for, and a statement that has none is always safe.
 *
 * A read may be marked when a guard of the same transaction covers what the caller relies on, or
 * when the row never changes. A write may be marked when it carries its own condition, or belongs
 * to a row that does and is written in the same transaction.
 *
 * tests/unit/guarded.c holds a copy of the list of names.
 */
#ifndef STORE_SQL_GUARDED_SQL_H
#define STORE_SQL_GUARDED_SQL_H

#define BY_STAMP "every change of it but that of a head counts up the stamp of its tree"
#define NEVER_CHANGES "an entry, and what belongs to it, never changes"
#define NEW_ROW "a new row under a number that no other row has"
#define OF_ENTRY "belongs to an entry that is added in the same transaction"

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define GUARDED_STATEMENTS(X)                                                                      \
    /* -- guards */                                                                                \
    X(guard_tree, "a guard")                                                                       \
    X(guard_fork, "a guard")                                                                       \
    X(hold_tree, "not sent: there must be a guard of that tree instead (engine_hold())")           \
    /* -- writes */                                                                                \
    X(branch_grow, "a guard: it changes the branch only when that still ends as it was read")      \
    X(entry_add, "belongs to a branch that grows in the same transaction")                         \
    X(body_add, OF_ENTRY)                                                                          \
    X(indexed_set, OF_ENTRY)                                                                       \
    X(branch_add, NEW_ROW)                                                                         \
    X(session_add, NEW_ROW "; whether an id is free is asked without a mark")                      \
    X(event_add, NEW_ROW)                                                                          \
    X(task_put, "a guard: it changes only a task of its own session")                              \
    /* -- reads: rights */                                                                         \
    X(session_open, BY_STAMP ", and the end of the head is guarded")                               \
    X(session_brief, BY_STAMP ", and the end of the head is guarded")                              \
    X(session_by_no, BY_STAMP)                                                                     \
    X(session_origin, BY_STAMP)                                                                     \
    X(session_name, BY_STAMP)                                                                      \
    X(member_level, "every change of it counts up the stamp of its tree")                          \
    X(share_by_secret, "every change of it counts up the stamp of its tree")                       \
    /* -- reads: history */                                                                        \
    X(tree_id, "never changes")                                                                    \
    X(branch_lineage, "of a branch it gives what never changes")                                   \
    X(move_merges, "asked about a path, whose merges were committed before its last branch")       \
    X(entry_by_id, "where an id stands up to the end of a branch, which is guarded")               \
    X(entry_get, NEVER_CHANGES)                                                                    \
    X(entry_name, NEVER_CHANGES)                                                                   \
    X(entry_hash, NEVER_CHANGES)                                                                   \
    X(entry_kind, NEVER_CHANGES)                                                                   \
    X(entry_range, NEVER_CHANGES)                                                                  \
    X(entry_segments, NEVER_CHANGES)                                                               \
    X(body_get, NEVER_CHANGES)                                                                     \
    X(usage_get, NEVER_CHANGES)                                                                    \
    X(delta_json, NEVER_CHANGES)                                                                   \
    X(delta_last, NEVER_CHANGES "; it looks below a fork's cut")                                   \
    X(task_get, "only task_put, which has its own condition, and refusals rely on it")
/* clang-format on */

#endif
