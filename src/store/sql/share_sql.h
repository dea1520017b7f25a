/* SPDX-License-Identifier: Apache-2.0
 *
 * share_sql.h: the statements on share links, tokens and statistics.
 */
#ifndef STORE_SQL_SHARE_SQL_H
#define STORE_SQL_SHARE_SQL_H

#define SHARE_COLS "id,tree,session,secret,write,who,created,expires"
#define TOKEN_COLS "id,secret,user_id,client,roles,note,created,expires,used,revoked"
#define STATISTICS_COLS                                                                            \
    "s.no,s.tree,s.id,s.parent,s.owner,s.visibility,s.by_kind,s.moves,s.expires,s.created,"        \
    "s.updated,s.deleted,s.purging,b.id,b.base,b.len,b.touched"
#define STATISTICS_FROM                                                                            \
    " FROM session s " LOOK_LEFT("branch", "b", PK_IS("b.", "id", "s.tree", "s.head"))

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define SHARE_STATEMENTS(X)                                                                        \
    X(share_add, "INSERT INTO share(" SHARE_COLS ") VALUES($1,$2,$3,$4,$5,$6,$7,$8)")              \
    X(share_by_secret, "SELECT " SHARE_COLS " FROM share WHERE secret=$1")                         \
    X(share_get, "SELECT " SHARE_COLS " FROM share WHERE id=$1")                                   \
    /* Ids rise with time. */                                                                      \
    X(share_of_session, "SELECT " SHARE_COLS " FROM share WHERE tree=$1 AND session=$2 "           \
                        "ORDER BY " NO_INDEX_TEXT("id"))                                           \
    X(share_count, "SELECT count(*) FROM share WHERE tree=$1 AND session=$2 "                      \
                   "AND (expires=0 OR expires>$3)")                                                \
    X(share_del, "DELETE FROM share WHERE id=$1")                                                  \
    X(share_clear, "DELETE FROM share WHERE tree=$1 AND session=$2")                               \
    X(share_expired_of, "DELETE FROM share WHERE tree=$1 AND session=$2 "                          \
                        "AND expires>0 AND expires<=$3")                                           \
    X(share_expired, "DELETE FROM share WHERE expires>0 AND expires<=$1")                          \
    /* -- which users have used which link */                                                      \
    X(visit_add, "INSERT INTO visit(user_id,share,at) VALUES($1,$2,$3) "                           \
                 "ON CONFLICT(user_id,share) DO NOTHING")                                          \
    X(visit_get, "SELECT 1 FROM visit WHERE user_id=$1 AND share=$2")                              \
    X(visit_of_user, "SELECT h.id,h.tree,h.session,h.secret,h.write,h.who,h.created,h.expires "    \
                     "FROM visit v " LOOK("share", "h", "h.id=v.share") "WHERE v.user_id=$1 "      \
                     "ORDER BY v.share DESC LIMIT $2")                                             \
    X(visit_prune, "DELETE FROM visit WHERE NOT EXISTS (SELECT 1 FROM share h "                    \
                   "WHERE h.id=visit.share)")                                                      \
    X(orphan_share, "SELECT o.tree,o.session,o.id FROM share o WHERE NOT EXISTS (SELECT 1 FROM "   \
                    "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                  \
    X(token_add, "INSERT INTO token(" TOKEN_COLS ") VALUES($1,$2,$3,$4,$5,$6,$7,$8,0,0)")          \
    X(token_by_secret, "SELECT " TOKEN_COLS " FROM token WHERE secret=$1")                         \
    X(token_get, "SELECT " TOKEN_COLS " FROM token WHERE id=$1")                                   \
    X(token_all, "SELECT " TOKEN_COLS " FROM token ORDER BY id")                                   \
    X(token_revoke, "UPDATE token SET revoked=$2 WHERE id=$1 AND revoked=0")                       \
    X(token_used, "UPDATE token SET used=$2 WHERE id=$1 AND used<$2")                              \
    /* Numbers of sessions rise with time. */                                                      \
    X(statistics_all, "SELECT " STATISTICS_COLS STATISTICS_FROM "WHERE s.no<$2 "                   \
                      "ORDER BY s.no DESC LIMIT $3")                                               \
    X(statistics_by_time,                                                                          \
      "SELECT " STATISTICS_COLS STATISTICS_FROM "WHERE (s.created,s.no)<($1,$2) "                  \
      "ORDER BY s.created DESC,s.no DESC LIMIT $3")                                                \
    X(statistics_of_tree, "SELECT " STATISTICS_COLS STATISTICS_FROM "WHERE s.tree=$1 LIMIT $2")    \
    X(statistics_writers, "SELECT role,author FROM entry WHERE tree=$1 AND k>=$2 AND k<=$3 "       \
                          "ORDER BY k DESC LIMIT $4")
/* clang-format on */

#endif
