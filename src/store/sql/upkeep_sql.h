/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep_sql.h: the statements that only gc and fsck need. Those named odd_ find values that no
 * store holds in their columns (core/columns.h). Those named orphan_ scan a whole table for rows
 * that belong to nothing.
 */
#ifndef STORE_SQL_UPKEEP_SQL_H
#define STORE_SQL_UPKEEP_SQL_H

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define UPKEEP_STATEMENTS(X)                                                                       \
    /* -- gc */                                                                                    \
    X(session_states, "SELECT no,parent,depth,deleted,expires,purging,first,first_adk FROM session "\
                      "WHERE tree=$1 ORDER BY no")                                                 \
    X(session_tomb_leaf, "SELECT s.tree,s.no FROM session s WHERE s.no>$1 AND s.purging=2 "        \
                         "AND NOT EXISTS (SELECT 1 FROM session c "                                \
                         "WHERE c.tree=s.tree AND c.parent=s.no) ORDER BY s.no LIMIT $2")          \
    X(session_any, "SELECT 1 FROM session WHERE tree=$1 LIMIT 1")                                  \
    X(tree_empty, "SELECT t.tree,t.tree FROM tree t WHERE t.tree>$1 AND NOT EXISTS "               \
                  "(SELECT 1 FROM session s WHERE s.tree=t.tree) ORDER BY t.tree LIMIT $2")        \
    X(branch_detach, "UPDATE branch SET parent=0,base=0,depth=0,jump=id,jump_base=0,over=0,"       \
                     "delta=0,len=0,tip=$3,live=0,run=0,overlay=0,filled=0,seal=0 "            \
                     "WHERE " PK("", "id"))                                                        \
    /* -- fsck */                                                                                  \
    X(tree_root, "SELECT root FROM tree WHERE tree=$1")                                            \
    X(move_all, "SELECT seq,kind,f,t,fa,ta,undo_under,redo_under,at FROM move "                    \
                "WHERE tree=$1 AND session=$2 ORDER BY seq")                                       \
    X(usage_range, "SELECT k,input,output,cached,cost,currency,n,cum_input,cum_output,cum_cached," \
                   "cum_cost,cum_currency,mixed FROM usage "                                       \
                   "WHERE tree=$1 AND k>=$2 AND k<=$3 ORDER BY k")                                 \
    X(delta_range, "SELECT k,prev,weight,snap_len,json,snap FROM delta "                           \
                   "WHERE tree=$1 AND k>=$2 AND k<=$3 ORDER BY k")                                 \
    X(orphan_session, "SELECT s.tree,s.no,s.id FROM session s WHERE NOT EXISTS "                   \
                      "(SELECT 1 FROM tree t WHERE t.tree=s.tree) LIMIT $1")                       \
    X(orphan_branch, "SELECT b.tree,b.id,'' FROM branch b WHERE NOT EXISTS "                       \
                     "(SELECT 1 FROM tree t WHERE t.tree=b.tree) LIMIT $1")                        \
    X(orphan_entry, "SELECT e.tree,e.k,e.id FROM entry e WHERE NOT EXISTS "                        \
                    "(SELECT 1 FROM branch b WHERE b.tree=e.tree AND b.id=(e.k>>24)) LIMIT $1")    \
    X(orphan_body, "SELECT o.tree,o.k,'' FROM body o WHERE NOT EXISTS (SELECT 1 FROM entry e "     \
                   "WHERE e.tree=o.tree AND e.k=o.k AND (e.flags&1)<>0) LIMIT $1")                 \
    X(orphan_usage, "SELECT o.tree,o.k,'' FROM usage o WHERE NOT EXISTS (SELECT 1 FROM entry e "   \
                    "WHERE e.tree=o.tree AND e.k=o.k AND (e.flags&2)<>0) LIMIT $1")                \
    X(orphan_delta, "SELECT o.tree,o.k,'' FROM delta o WHERE NOT EXISTS (SELECT 1 FROM entry e "   \
                    "WHERE e.tree=o.tree AND e.k=o.k AND (e.flags&4)<>0) LIMIT $1")                \
    X(orphan_run, "SELECT o.tree,o.session,'' FROM run o WHERE NOT EXISTS (SELECT 1 FROM "         \
                  "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                    \
    X(orphan_move, "SELECT o.tree,o.session,'' FROM move o WHERE NOT EXISTS (SELECT 1 FROM "       \
                   "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                   \
    X(orphan_tag, "SELECT o.tree,o.session,o.tag FROM tag o WHERE NOT EXISTS (SELECT 1 FROM "      \
                  "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                    \
    X(orphan_member, "SELECT o.tree,o.tree,o.user_id FROM member o WHERE NOT EXISTS "              \
                     "(SELECT 1 FROM tree t WHERE t.tree=o.tree) LIMIT $1")                        \
    X(orphan_verdict, "SELECT o.tree,o.no,'' FROM verdict o WHERE NOT EXISTS "                     \
                      "(SELECT 1 FROM tree t WHERE t.tree=o.tree) LIMIT $1")                       \
    X(odd_member, "SELECT tree,tree,user_id FROM member WHERE level<1 OR level>4 LIMIT $1")        \
    X(odd_feedback, "SELECT tree,k,user_id FROM feedback WHERE value<>1 AND value<>-1 LIMIT $1")   \
    X(odd_share, "SELECT tree,session,id FROM share WHERE length(secret)<>32 LIMIT $1")            \
    X(odd_token, "SELECT 0,0,id FROM token WHERE length(secret)<>32 LIMIT $1")                     \
    X(odd_event, "SELECT tree,no,'' FROM event WHERE kind<1 OR kind>10 LIMIT $1")                  \
    X(odd_once, "SELECT 0,0,'' FROM once WHERE length(digest)<>32 OR size<0 LIMIT $1")             \
    X(odd_attachment, "SELECT 0,0,id FROM attachment WHERE size<0 LIMIT $1")
/* clang-format on */

#endif
