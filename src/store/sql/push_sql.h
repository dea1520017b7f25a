/* SPDX-License-Identifier: Apache-2.0
 *
 * push_sql.h: the statements on destinations of notifications (core/ext/push.c).
 */
#ifndef STORE_SQL_PUSH_SQL_H
#define STORE_SQL_PUSH_SQL_H

/* clang-format off */
#define PUSH_COLS "task,id,tree,session,owner,wire,config,sent,tries,due"

#define PUSH_STATEMENTS(X)                                                                         \
    X(push_put, "INSERT INTO push(task,id,tree,session,owner,wire,config,sent,tries,due,created) " \
                "VALUES($1,$2,$3,$4,$5,$6,$7,-1,0,0,$8) ON CONFLICT(task,id) DO UPDATE SET "       \
                "wire=excluded.wire,config=excluded.config,sent=-1,tries=0,due=0")                 \
    X(push_of_task, "SELECT " PUSH_COLS " FROM push WHERE task=$1 ORDER BY id")                    \
    X(push_del, "DELETE FROM push WHERE task=$1 AND id=$2")                                        \
    X(push_count, "SELECT count(*) FROM push WHERE owner=$1")                                      \
    X(push_shed, "DELETE FROM push WHERE owner=$1 AND due=$2")                                     \
    X(push_due, "SELECT " PUSH_COLS " FROM push WHERE (due,task,id)>($1,$2,$3) AND due<=$4 "       \
                "ORDER BY due,task,id LIMIT $5")                                                   \
    X(push_claim, "UPDATE push SET due=$4 WHERE task=$1 AND id=$2 AND " NO_INDEX("due") "=$3 "     \
                  "AND sent=$5")                                                                   \
    X(push_settle, "UPDATE push SET sent=$5,tries=$6,due=$4 WHERE task=$1 AND id=$2 AND "          \
                   NO_INDEX("due") "=$3")                                                          \
    X(push_clear, "DELETE FROM push WHERE tree=$1 AND session=$2")                                 \
    X(orphan_push, "SELECT o.tree,o.session,o.id FROM push o WHERE NOT EXISTS (SELECT 1 FROM "     \
                   "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")
/* clang-format on */

#endif
