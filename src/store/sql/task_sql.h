/* SPDX-License-Identifier: Apache-2.0
 *
 * task_sql.h: the statements on the turn index (`place`), tasks and remarks.
 */
#ifndef STORE_SQL_TASK_SQL_H
#define STORE_SQL_TASK_SQL_H

/* clang-format off */
#define TASK_COLS "t.id,t.tree,t.session,t.data,t.created,t.updated,t.deleted"

/* Only its own session can put a task again, and not after it was deleted. */
#define TASK_PUT                                                                                   \
    "VALUES($1,$2,$3,$4,$5,$5,0,$6) ON CONFLICT(id) DO UPDATE SET data=excluded.data,"             \
    "updated=excluded.updated,at=excluded.at WHERE task.tree=excluded.tree AND "                   \
    "task.session=excluded.session AND task.deleted=0"

/* `most` and `least`: the engine's functions for the maximum and minimum of several values. A
 * session runs one turn at a time, so the one that began last ended last. */
#define ACTIVE(most, least, from, where)                                                           \
    "SELECT x.tree,x.no,x.last,x.first FROM (SELECT s.tree AS tree,s.no AS no," most               \
    "(s.updated,coalesce(b.touched,0),coalesce((SELECT " most "(t.started,t.ended) FROM turn t "   \
    "WHERE t.tree=s.tree AND t.session=s.no ORDER BY t.started DESC LIMIT 1),0),coalesce((SELECT " \
    "max(k.at) FROM task k WHERE k.tree=s.tree AND k.session=s.no),0)) AS last," least             \
    "(s.created,coalesce((SELECT min(k.at) FROM task k WHERE k.tree=s.tree AND k.session=s.no "    \
    "AND k.at>0),s.created)) AS first FROM " from                                                  \
    LOOK_LEFT("branch", "b", PK_IS("b.", "id", "s.tree", "s.head")) where                          \
    "s.purging=0 AND s.deleted=0" APART ") x "                                                     \
    "WHERE (x.last,x.no)<($1,$2) AND x.first<=$3 ORDER BY x.last DESC,x.no DESC LIMIT $4"

/* Which sessions: of the trees of the user $5; owned by that user; all. */
#define ACTIVE_OF_MEMBER(most, least)                                                              \
    ACTIVE(most, least, "member m " LOOK("session", "s", "s.tree=m.tree" HINT(" ORDER BY s.no")),  \
           "WHERE m.user_id=$5 " BY_INDEX("m.user_id", "m.tree", "$5", "0") "AND ")
#define ACTIVE_OWNED(most, least)                                                                  \
    ACTIVE(most, least, "session s ",                                                              \
           "WHERE s.owner=$5 " BY_INDEX("s.owner", "s.created", "$5", "0") "AND ")
#define ACTIVE_ALL(most, least) ACTIVE(most, least, "session s ", "WHERE ")

#define TASK_STATEMENTS(X)                                                                         \
    X(place_add, "INSERT INTO place(tree,name,log,k) VALUES($1,$2,$3,$4) "                         \
                 "ON CONFLICT(tree,name,log,k) DO NOTHING")                                        \
    X(place_of, "SELECT k FROM place WHERE tree=$1 AND name=$2 AND log=$3 ORDER BY k")             \
    X(place_up, "SELECT name,k FROM place WHERE tree=$1 AND log=0 AND name>=$2 AND name<=$3 "      \
                "ORDER BY name LIMIT $4")                                                          \
    X(place_down, "SELECT name,k FROM place WHERE tree=$1 AND log=0 AND name>=$2 AND name<=$3 "    \
                  "ORDER BY name DESC LIMIT $4")                                                   \
    X(place_prune, "DELETE FROM place WHERE tree=$1 AND NOT EXISTS (SELECT 1 FROM entry e "        \
                   "WHERE e.tree=place.tree AND e.k=place.k)")                                     \
    X(place_clear, "DELETE FROM place WHERE tree=$1")                                              \
    X(entry_kind, "SELECT e.role,e.turn_id,e.channel,e.format FROM entry e "                       \
                  "WHERE " PK("e.", "k"))                                                          \
    X(run_holding, "SELECT rec,k FROM run WHERE tree=$1 AND session=$2 AND log=$3 AND k>=$4 "      \
                   "AND k<=$5 ORDER BY rec DESC LIMIT 1")                                          \
    X(move_left, "SELECT seq,f FROM move WHERE tree=$1 AND session=$2 AND fa=$3 "                    \
                 "ORDER BY seq DESC LIMIT 1")                                                      \
    X(session_rename, "UPDATE session SET id=$3 WHERE " PK("", "no"))                              \
    /* -- tasks; with the session's id: NULL when it was purged */                                 \
    X(task_get, "SELECT " TASK_COLS ",s.id FROM task t "                                           \
                LOOK_LEFT("session", "s", PK_IS("s.", "no", "t.tree", "t.session"))                \
                "WHERE t.id=$1")                                                                   \
    X(task_put, "INSERT INTO task(id,tree,session,data,created,updated,deleted,at) "               \
                TASK_PUT)                                                                  \
    X(task_deleted, "UPDATE task SET deleted=$2 WHERE id=$1")                                      \
    X(task_take, "DELETE FROM task WHERE id=$1")                                                   \
    X(task_of_session, "SELECT " TASK_COLS " FROM task t WHERE t.tree=$1 AND t.session=$2 "        \
                       "ORDER BY t.created,t.id")                                                  \
    X(task_clear, "DELETE FROM task WHERE tree=$1 AND session=$2")                                 \
    X(orphan_task, "SELECT o.tree,o.session,o.id FROM task o WHERE NOT EXISTS (SELECT 1 FROM "     \
                   "session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")                   \
    /* -- sessions by last activity (core/query/active_list.c) */                                  \
    X(active_of_member, ACTIVE_OF_MEMBER("max", "min"))                                            \
    X(active_owned, ACTIVE_OWNED("max", "min"))                                                    \
    X(active_all, ACTIVE_ALL("max", "min"))                                                        \
    X(max_remark, "SELECT coalesce(max(no),0) FROM remark")                                        \
    X(remark_add, "INSERT INTO remark(no,user_id,message,positive,text,issue,at) "                 \
                  "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                  \
    X(remark_add_bare, "INSERT INTO remark(no,user_id,positive,text,issue,at) "                    \
                       "VALUES($1,$2,$3,$4,$5,$6)")                                                \
    X(remark_page, "SELECT no,user_id,coalesce(message,0),CASE WHEN message IS NULL THEN 0 "       \
                   "ELSE 1 END,positive,text,issue,at FROM remark "                                \
                   "WHERE user_id=$1 AND no>$2 ORDER BY no LIMIT $3")
/* clang-format on */

#endif
