/* SPDX-License-Identifier: Apache-2.0
 *
 * note_sql.h: the statements on notes of branches: names, the favourite, what was pruned.
 */
#ifndef STORE_SQL_NOTE_SQL_H
#define STORE_SQL_NOTE_SQL_H

/* A table reads by its rows. */
/* clang-format off */
#define NOTE_COLS "branch,name,favourite,state,pruned,prune_op,keep"

#define NOTE_STATEMENTS(X)                                                                         \
    X(note_get, "SELECT " NOTE_COLS " FROM branch_note "                                           \
                "WHERE tree=$1 AND session=$2 AND branch=$3")                                      \
    X(note_of_session, "SELECT " NOTE_COLS " FROM branch_note "                                    \
                       "WHERE tree=$1 AND session=$2 ORDER BY branch")                             \
    X(note_of_tree, "SELECT " NOTE_COLS ",session FROM branch_note "                               \
                    "WHERE tree=$1 ORDER BY session,branch")                                       \
    /* Whether an entry was pruned; the number of a branch is unique in the store. */              \
    X(note_hides, "SELECT 1 FROM branch_note WHERE branch=$2 AND state>0 AND state<3 AND "         \
                  "keep<=$3 AND " EITHER("+tree=$1", "(tree+0)=$1"))                               \
    X(note_put, "INSERT INTO branch_note(tree,session,branch,name,favourite,state,pruned,"         \
                "prune_op,keep) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9) "                               \
                "ON CONFLICT(tree,session,branch) DO UPDATE SET name=excluded.name,"               \
                "favourite=excluded.favourite,state=excluded.state,pruned=excluded.pruned,"        \
                "prune_op=excluded.prune_op,keep=excluded.keep")                                   \
    X(note_del, "DELETE FROM branch_note WHERE tree=$1 AND session=$2 AND branch=$3")              \
    X(note_clear, "DELETE FROM branch_note WHERE tree=$1 AND session=$2")                          \
    /* -- gc: those to remove, and those that are being removed */                                 \
    X(note_due, "SELECT tree,branch FROM branch_note WHERE state>0 AND state<3 AND branch>$1 "     \
                "AND (state=2 OR pruned<=$2) ORDER BY branch LIMIT $3")                            \
    X(note_mark, "UPDATE branch_note SET state=2 WHERE tree=$1 AND state=1 AND pruned<=$2")        \
    X(note_taken, "UPDATE branch_note SET state=3 WHERE tree=$1 AND state=2")                      \
    X(branch_run_on, "UPDATE branch SET run=1 WHERE " PK("", "id"))                                \
    X(orphan_note, "SELECT o.tree,o.branch,o.name FROM branch_note o WHERE NOT EXISTS (SELECT 1 "  \
                   "FROM branch b WHERE b.tree=o.tree AND b.id=o.branch AND "                      \
                   "b.session=o.session) LIMIT $1")                                                \
    X(odd_note, "SELECT tree,branch,name FROM branch_note WHERE state<0 OR state>3 OR "            \
                "(state=0)<>(pruned=0) OR keep<0 OR favourite<0 OR favourite>1 LIMIT $1")
/* clang-format on */

#endif
