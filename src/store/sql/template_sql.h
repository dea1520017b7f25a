/* SPDX-License-Identifier: Apache-2.0
 *
 * template_sql.h: the statements on templates, and on the values of the sessions made from them.
 */
#ifndef STORE_SQL_TEMPLATE_SQL_H
#define STORE_SQL_TEMPLATE_SQL_H

#define TEMPLATE_COLS                                                                              \
    "t.id,t.tree,t.session,t.branch,t.len,t.adk_branch,t.adk_len,t.name,t.placeholders,t.most,"    \
    "t.who,t.created,t.updated"

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define TEMPLATE_STATEMENTS(X)                                                                     \
    X(template_add, "INSERT INTO template(id,tree,session,branch,len,adk_branch,adk_len,name,"     \
                    "placeholders,most,who,created,updated) "                                      \
                    "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$12)")                          \
    X(template_get, "SELECT " TEMPLATE_COLS " FROM template t WHERE t.id=$1")                      \
    X(template_home, "SELECT t.id,t.tree,s.id FROM template t "                                    \
                     LOOK_LEFT("session", "s", PK_IS("s.", "no", "t.tree", "t.session"))           \
                     "WHERE t.id=$1")                                                              \
    X(template_set, "UPDATE template SET branch=$2,len=$3,adk_branch=$4,adk_len=$5,name=$6,"       \
                    "placeholders=$7,most=$8,updated=$9 WHERE id=$1")                              \
    X(template_del, "DELETE FROM template WHERE id=$1")                                            \
    X(template_clear, "DELETE FROM template WHERE tree=$1 AND session=$2")                         \
    X(template_count, "SELECT count(*) FROM template t WHERE t.tree=$1 AND t.session=$2")          \
    X(template_on, "SELECT t.id FROM template t WHERE t.tree=$1 AND t.session=$2 "                 \
                   "AND t.branch=$3 LIMIT 1")                                                      \
    /* Ids rise with time. */                                                                      \
    X(template_all, "SELECT " TEMPLATE_COLS " FROM template t WHERE t.id<$1 "                      \
                    "ORDER BY t.id DESC LIMIT $2")                                                 \
    X(template_of_member, "SELECT " TEMPLATE_COLS " FROM member m "                                \
                          LOOK("template", "t", "t.tree=m.tree AND " NO_INDEX_TEXT("t.id") "<$2")  \
                          "WHERE m.user_id=$1 " BY_INDEX("m.user_id", "m.tree", "$1", "0")         \
                          "ORDER BY t.id DESC LIMIT $3")                                           \
    /* Of private sessions, which their owner may read without being a member of the tree. */       \
    X(template_of_owner, "SELECT " TEMPLATE_COLS " FROM session s "                                \
                         LOOK("template", "t", "t.tree=s.tree AND t.session=s.no AND "             \
                              NO_INDEX_TEXT("t.id") "<$2")                                         \
                         "WHERE s.owner=$1 AND s.visibility=1 "                                    \
                         BY_INDEX("s.owner", "s.created", "$1", "0")                               \
                         "ORDER BY t.id DESC LIMIT $3")                                            \
    X(template_of_tree, "SELECT " TEMPLATE_COLS " FROM template t WHERE t.tree=$1 "                \
                        "ORDER BY t.session,t.id")                                                 \
    X(orphan_template, "SELECT o.tree,o.session,o.id FROM template o WHERE NOT EXISTS (SELECT 1 "  \
                       "FROM session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")          \
    /* -- values */                                                                                \
    X(fill_get, "SELECT s.fill FROM session s WHERE " PK("s.", "no"))                              \
    X(fill_set, "UPDATE session SET fill=$3 WHERE " PK("", "no"))                                  \
    X(fill_of_tree, "SELECT s.no,s.fill FROM session s WHERE s.tree=$1 AND s.fill IS NOT NULL")
/* clang-format on */

#endif
