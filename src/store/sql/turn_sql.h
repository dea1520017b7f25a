/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_sql.h: the statements on turns.
 */
#ifndef STORE_SQL_TURN_SQL_H
#define STORE_SQL_TURN_SQL_H

#define TURN_COLS                                                                                  \
    "t.id,t.tree,t.session,t.branch,t.agent,t.entry,t.grp,t.who,t.status,t.error,t.started,t."     \
    "ended"

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define TURN_STATEMENTS(X)                                                                         \
    X(turn_add, "INSERT INTO turn(id,tree,session,branch,agent,entry,grp,who,host,started,status," \
                "error,ended) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,1,'',0)")                      \
    /* With the session's id: NULL when it was purged. */                                          \
    X(turn_get, "SELECT " TURN_COLS ",s.id FROM turn t "                                           \
                LOOK_LEFT("session", "s", PK_IS("s.", "no", "t.tree", "t.session"))                \
                "WHERE t.id=$1")                                                                   \
    /* The status is a literal, so that the small index of running turns can be used. */           \
    X(turn_on_branch, "SELECT " TURN_COLS " FROM turn t "                                          \
                      "WHERE t.status=1 AND t.branch=$2 AND " NO_INDEX("t.tree") "=$1")            \
    X(turn_of_session, "SELECT " TURN_COLS " FROM turn t WHERE t.tree=$1 AND t.session=$2 "        \
                       "AND t.started<$4 ORDER BY t.started DESC LIMIT $3")                                         \
    X(turn_last, "SELECT t.started FROM turn t WHERE t.tree=$1 AND t.session=$2 "                  \
                 "ORDER BY t.started DESC LIMIT 1")                                                \
    X(turn_all_running, "SELECT t.id,t.host FROM turn t WHERE t.status=1 AND t.branch>=0")         \
    X(turn_end, "UPDATE turn SET status=$2,error=$3,"                                              \
                "ended=CASE WHEN started>$4 THEN started ELSE $4 END WHERE id=$1 AND status=1")    \
    X(turn_clear, "DELETE FROM turn WHERE tree=$1 AND session=$2")                                 \
    /* The last message of the user in a range of one branch. */                                   \
    X(entry_asked, "SELECT e.k FROM entry e WHERE " PK_RANGE("e.", "k") " "                        \
                   "AND e.role=1 AND e.channel IS NULL ORDER BY e.k DESC LIMIT 1")                 \
    X(entry_part, "SELECT e.role,e.turn_id FROM entry e WHERE " PK("e.", "k"))                     \
    X(orphan_turn, "SELECT o.tree,o.session,o.id FROM turn o WHERE NOT EXISTS (SELECT 1 FROM "     \
                   "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")
/* clang-format on */

#endif
