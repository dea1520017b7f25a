/* SPDX-License-Identifier: Apache-2.0
 *
 * merge_sql.h: the statements on copies that merges made, and where they came from.
 */
#ifndef STORE_SQL_MERGE_SQL_H
#define STORE_SQL_MERGE_SQL_H

/* What decides whether a caller may see a session. */
#define COPIED_SESSION "s.no,s.id,s.owner,s.visibility,s.expires,s.deleted,s.purging"

/* A table reads by its rows. */
/* clang-format off */
#define MERGE_STATEMENTS(X)                                                                        \
    X(copied_add, "INSERT INTO copied(tree,k,n,from_tree,from_session,from_k,span) "               \
                  "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                  \
    /* Where the copies in a run of keys came from; NULL: what they name is gone. Only the first   \
     * origin of a summary is shown. */                                                            \
    X(copied_range, "SELECT o.k,o.from_tree," COPIED_SESSION ",e.id,o.from_k FROM copied o "       \
                    LOOK_LEFT("session", "s", PK_IS("s.", "no", "o.from_tree", "o.from_session"))  \
                    LOOK_LEFT("entry", "e", PK_LOOK("e.", "k", "o.from_tree", "o.from_k"))         \
                    "WHERE o.tree=$1 AND o.k>=$2 AND o.k<=$3 AND o.n=0 ORDER BY o.k")              \
    /* Which copies came from an entry. */                                                         \
    X(copied_to, "SELECT o.k,o.tree," COPIED_SESSION ",e.id,o.k FROM copied o "                    \
                 LOOK("branch", "b", PK_LOOK("b.", "id", "o.tree", "(o.k>>24)"))                   \
                 LOOK("session", "s", PK_IS("s.", "no", "o.tree", "b.session"))                    \
                 LOOK("entry", "e", PK_LOOK("e.", "k", "o.tree", "o.k"))                           \
                 "WHERE " AT_INDEX("o.from_tree", "o.from_k", "$1", "$2")                          \
                 " ORDER BY " NO_INDEX("o.tree") "," NO_INDEX("o.k"))                              \
    X(copied_of, "SELECT from_tree,from_session,from_k,span FROM copied "                         \
                 "WHERE tree=$1 AND k=$2 ORDER BY n")                                               \
    /* Which summaries stand for an entry that is not the last of their run: $3 ends its branch.   \
     * span>1 is written out: that is what lets the small index of summaries be used. */           \
    X(copied_over, "SELECT o.k,o.tree," COPIED_SESSION ",e.id,o.k FROM copied o "                  \
                   LOOK("branch", "b", PK_LOOK("b.", "id", "o.tree", "(o.k>>24)"))                 \
                   LOOK("session", "s", PK_IS("s.", "no", "o.tree", "b.session"))                  \
                   LOOK("entry", "e", PK_LOOK("e.", "k", "o.tree", "o.k"))                         \
                   "WHERE o.span>1 AND o.from_tree=$1 AND o.from_k>$2 AND o.from_k<=$3 "           \
                   BY_INDEX("o.from_tree", "o.from_k", "$1", "$2")                                 \
                   "AND o.from_k-o.span<$2 ORDER BY o.from_tree,o.from_k")                         \
    /* -- when gc takes a copy, what was made from it names its origins instead */                 \
    X(copied_leaving, "SELECT k,from_tree,from_session,from_k,span FROM copied "                   \
                      "WHERE tree=$1 AND k>=$2 AND k<=$3 ORDER BY k,n")                            \
    X(copied_naming, "SELECT tree,k,n,from_session,span FROM copied WHERE "                        \
                     AT_INDEX("from_tree", "from_k", "$1", "$2"))                                  \
    X(copied_next, "SELECT coalesce(max(n)+1,0) FROM copied WHERE tree=$1 AND k=$2")               \
    X(copied_set, "UPDATE copied SET from_tree=$4,from_session=$5,from_k=$6,span=$7 "              \
                  "WHERE tree=$1 AND k=$2 AND n=$3")                                               \
    X(copied_has, "SELECT 1 FROM copied WHERE tree=$1 AND k=$2 LIMIT 1")                           \
    X(copied_del, "DELETE FROM copied WHERE tree=$1 AND k>=$2 AND k<=$3")                          \
    /* An origin in another tree, which was imported behind the copy. */                           \
    X(copied_link, "UPDATE copied SET from_tree=$4,from_session=$5,from_k=$6 WHERE tree=$1 AND "   \
                   "k=$2 AND n=$3 AND from_tree=0")                                                \
    /* The number is written out: that is what lets the small index of merges be used. */          \
    X(move_merges, "SELECT t FROM move WHERE kind=8 AND session=$2 AND "                           \
                   EITHER("+tree=$1", "(tree+0)=$1"))                                              \
    X(session_merged, "UPDATE session SET merged_into=$3,updated=$4 WHERE " PK("", "no"))          \
    X(orphan_copied, "SELECT o.tree,o.k,'' FROM copied o WHERE NOT EXISTS (SELECT 1 FROM entry e " \
                     "WHERE e.tree=o.tree AND e.k=o.k AND (e.flags&32)<>0) LIMIT $1")              \
    X(odd_copied, "SELECT tree,k,'' FROM copied WHERE n<0 OR span<1 LIMIT $1")
/* clang-format on */

#endif
