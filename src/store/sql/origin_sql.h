/* SPDX-License-Identifier: Apache-2.0
 *
 * origin_sql.h: the statements on how sessions were created, on offers to transfer trees, on texts
 * that entries are found by, and on files to fetch.
 */
#ifndef STORE_SQL_ORIGIN_SQL_H
#define STORE_SQL_ORIGIN_SQL_H

/* clang-format off */
#define TRANSFER_COLS "t.id,t.tree,t.session,t.giver,t.taker,t.created"

#define ORIGIN_STATEMENTS(X)                                                                       \
    X(origin_add, "INSERT INTO origin(tree,session,client,started_tree,started,started_entry) "    \
                  "VALUES($1,$2,$3,$4,$5,$6)")                                                     \
    X(origin_link, "UPDATE origin SET started_tree=$3,started=$4,started_entry=$5 "                \
                   "WHERE tree=$1 AND session=$2 AND started=0")                                   \
    X(origin_get, "SELECT client,started_tree,started,started_entry FROM origin "                  \
                  "WHERE tree=$1 AND session=$2")                                                  \
    X(origin_clear, "DELETE FROM origin WHERE tree=$1 AND session=$2")                             \
    X(origin_started, "SELECT tree,session FROM origin WHERE started_tree=$1 AND started=$2 "      \
                      "ORDER BY session")                                                          \
    X(origin_trees, "SELECT tree FROM origin WHERE started_tree=$1")                               \
    X(orphan_origin, "SELECT o.tree,o.session,'' FROM origin o WHERE NOT EXISTS (SELECT 1 FROM "      \
                     "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                 \
    /* What an append to a conversation needs in addition to session_brief. */                     \
    X(session_origin, "SELECT s.title,s.archived,o.client FROM session s "                          \
                     LOOK_LEFT("origin", "o", PK_IS("o.", "session", "s.tree", "s.no"))            \
                     "WHERE " PK("s.", "no"))                                                      \
    X(session_title, "UPDATE session SET title=$3 WHERE " PK("", "no"))                            \
    X(session_archive, "UPDATE session SET archived=$2 WHERE tree=$1 "                             \
                       "AND (archived=0)<>($2=0)")                                                 \
    X(session_owner, "UPDATE session SET owner=$2 WHERE tree=$1 AND visibility=0 AND deleted=0")   \
    X(session_latest, "SELECT s.owner,s.visibility,s.archived,s.deleted,s.expires,s.purging,"      \
                      "CASE WHEN b.touched>s.updated THEN b.touched ELSE s.updated END "           \
                      "FROM session s "                                                            \
                      LOOK_LEFT("branch", "b", PK_IS("b.", "id", "s.tree", "s.head"))              \
                      "WHERE s.tree=$1")                                                           \
    X(member_copy, "INSERT INTO member(tree,user_id,level,created) SELECT CAST($1 AS BIGINT),"     \
                   "m.user_id,m.level,CAST($3 AS BIGINT) FROM member m WHERE m.tree=$2")           \
    /* What each session of a tree has appended: where, and between which times. */                \
    X(across_runs, "SELECT s.no,s.owner,s.visibility,s.expires,s.deleted,s.purging,s.head,b.len,"  \
                   "f.base,e.created,CASE WHEN l.created IS NULL THEN b.touched ELSE l.created "   \
                   "END FROM session s "                                                           \
                   LOOK("branch", "b", PK_IS("b.", "id", "s.tree", "s.head"))                      \
                   LOOK("branch", "f", PK_IS("f.", "id", "s.tree", "s.first"))                     \
                   LOOK_LEFT("entry", "e", PK_LOOK("e.", "k", "s.tree", "f.id*16777216+f.base"))   \
                   LOOK_LEFT("entry", "l", PK_LOOK("l.", "k", "s.tree", "b.id*16777216+b.len-1"))  \
                   "WHERE s.tree=$1")                                                              \
    X(transfer_add, "INSERT INTO transfer(id,tree,session,giver,taker,created) "                   \
                    "VALUES($1,$2,$3,$4,$5,$6)")                                                   \
    X(transfer_get, "SELECT " TRANSFER_COLS " FROM transfer t WHERE t.id=$1")                      \
    X(transfer_of_tree, "SELECT " TRANSFER_COLS " FROM transfer t WHERE t.tree=$1")                \
    X(transfer_given, "SELECT " TRANSFER_COLS " FROM transfer t WHERE t.giver=$1 "                 \
                      "ORDER BY t.created,t.id")                                                   \
    X(transfer_taken, "SELECT " TRANSFER_COLS " FROM transfer t WHERE t.taker=$1 "                 \
                      "ORDER BY t.created,t.id")                                                   \
    X(transfer_del, "DELETE FROM transfer WHERE id=$1")                                            \
    X(transfer_to, "DELETE FROM transfer WHERE tree=$1 AND " NO_INDEX_TEXT("taker") "=$2")         \
    X(transfer_clear, "DELETE FROM transfer WHERE tree=$1")                                        \
    X(orphan_transfer, "SELECT o.tree,o.session,'' FROM transfer o WHERE NOT EXISTS (SELECT 1 FROM "  \
                       "tree s WHERE s.tree=o.tree) LIMIT $1")                                     \
    X(indexed_set, "INSERT INTO indexed(tree,k,text,at) VALUES($1,$2,$3,$4) ON CONFLICT(tree,k) "  \
                   "DO UPDATE SET text=excluded.text,at=excluded.at")                              \
    X(indexed_get, "SELECT text,at FROM indexed WHERE tree=$1 AND k=$2")                           \
    X(indexed_del, "DELETE FROM indexed WHERE tree=$1 AND k>=$2 AND k<=$3")                        \
    X(indexed_lacking, "SELECT e.tree,e.k,s.id FROM entry e CROSS JOIN branch b "                  \
                       "CROSS JOIN session s WHERE b.tree=e.tree AND b.id=(e.k>>24) "              \
                       "AND s.tree=b.tree AND s.no=b.session AND s.deleted=0 AND s.purging=0 "     \
                       "AND b.log=0 AND e.k>$1 AND e.channel IS NULL AND NOT EXISTS (SELECT 1 "    \
                       "FROM indexed i WHERE i.tree=e.tree AND i.k=e.k) ORDER BY e.k LIMIT $2")    \
    X(orphan_indexed, "SELECT o.tree,o.k,'' FROM indexed o WHERE NOT EXISTS (SELECT 1 FROM entry e "  \
                      "WHERE e.tree=o.tree AND e.k=o.k) LIMIT $1")                                 \
    X(entry_home, "SELECT s.id,e.id FROM entry e "                                                 \
                  LOOK("branch", "b", PK_LOOK("b.", "id", "e.tree", "(e.k>>24)"))                  \
                  LOOK("session", "s", PK_IS("s.", "no", "b.tree", "b.session"))                   \
                  "WHERE e.id=$1 AND s.deleted=0 AND s.purging=0 "                                 \
                  BY_INDEX("e.id", "e.tree", "$1", "0") "ORDER BY " NO_INDEX("e.k") " LIMIT 1")    \
    /* PostgreSQL scans all branches: an index for this alone would cost every fork. */            \
    X(branch_home, "SELECT s.id FROM branch b "                                                    \
                   LOOK("session", "s", PK_IS("s.", "no", "b.tree", "b.session"))                  \
                   "WHERE b.id=$1 AND s.deleted=0 AND s.purging=0")                                \
    X(attached_home, "SELECT s.id,e.id FROM attached a "                                           \
                     LOOK("entry", "e", PK_IS("e.", "k", "a.tree", "a.k"))                         \
                     LOOK("branch", "b", PK_LOOK("b.", "id", "a.tree", "(a.k>>24)"))               \
                     LOOK("session", "s", PK_IS("s.", "no", "b.tree", "b.session"))                \
                     "WHERE a.attachment=$1 AND s.deleted=0 AND s.purging=0 "                      \
                     "ORDER BY " NO_INDEX("a.k") " LIMIT 1")                                       \
    X(fetch_add, "INSERT INTO errand(id,url,name,media_type,owner,created,expires,failed) "        \
                 "VALUES($1,$2,$3,$4,$5,$6,$7,0)")                                                 \
    X(fetch_get, "SELECT url,name,media_type,owner,created,expires,failed FROM errand WHERE id=$1") \
    X(fetch_failed, "UPDATE errand SET failed=1 WHERE id=$1")                                      \
    X(fetch_del, "DELETE FROM errand WHERE id=$1")                                                 \
    X(fetch_expired, "DELETE FROM errand WHERE expires<=$1")                                       \
    X(attached_in, "SELECT 1 FROM attached WHERE attachment=$1 AND tree=$2 LIMIT 1")
/* clang-format on */

#endif
