/* SPDX-License-Identifier: Apache-2.0
 *
 * retention_sql.h: the statements on holds, on the rules of retention, and on its log.
 */
#ifndef STORE_SQL_RETENTION_SQL_H
#define STORE_SQL_RETENTION_SQL_H

/* clang-format off */
#define RETENTION_STATEMENTS(X)                                                                    \
    X(held_set, "INSERT INTO held(tree,session,kind,who,at,why) VALUES($1,$2,$3,$4,$5,$6) "        \
                "ON CONFLICT(tree,session,kind) DO UPDATE SET who=excluded.who,at=excluded.at,"    \
                "why=excluded.why")                                                                \
    X(held_del, "DELETE FROM held WHERE tree=$1 AND session=$2 AND kind=$3")                       \
    X(held_of_tree, "SELECT h.session,h.kind,h.who,h.at,h.why FROM held h WHERE h.tree=$1 "        \
                    "ORDER BY h.session,h.kind")                                                   \
    X(held_all, "SELECT h.session,h.kind,h.who,h.at,h.why,h.tree FROM held h "                     \
                "ORDER BY h.tree,h.session,h.kind LIMIT $1")                                       \
    X(rule_all, "SELECT r.name,r.age,r.since,r.tag,r.agent,r.ephemeral,r.archived,r.private,"      \
                "r.who,r.at FROM rule r ORDER BY r.no,r.name")                                     \
    X(rule_add, "INSERT INTO rule(no,name,age,since,tag,agent,ephemeral,archived,private,who,at) " \
                "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11)")                                      \
    X(rule_clear, "DELETE FROM rule")                                                              \
    X(removed_add, "INSERT INTO removed(at,id,tree,rule,entries,who) VALUES($1,$2,$3,$4,$5,$6)")   \
    X(removed_page, "SELECT r.at,r.id,r.tree,r.rule,r.entries,r.who FROM removed r "               \
                    "WHERE (r.at,r.id)<($1,$2) ORDER BY r.at DESC,r.id DESC LIMIT $3")             \
    /* Few turns run at a time. */                                                                 \
    X(turn_in_session, "SELECT 1 FROM turn t WHERE t.status=1 AND t.branch>=0 AND "                \
                       NO_INDEX("t.tree") "=$1 AND " NO_INDEX("t.session") "=$2 LIMIT 1")          \
    X(orphan_held, "SELECT o.tree,o.session,'' FROM held o WHERE NOT EXISTS (SELECT 1 FROM tree t " \
                   "WHERE t.tree=o.tree) OR (o.session<>0 AND NOT EXISTS (SELECT 1 FROM session s " \
                   "WHERE s.tree=o.tree AND s.no=o.session AND s.purging=0)) LIMIT $1")            \
    X(odd_held, "SELECT tree,session,'' FROM held WHERE kind<0 OR kind>1 LIMIT $1")    \
    X(odd_rule, "SELECT 0,no,name FROM rule WHERE age<0 OR age>3155760000000000 OR since<0 OR "    \
                "since>2 OR ephemeral<0 OR ephemeral>2 OR archived<0 OR archived>2 OR private<0 "  \
                "OR private>1 LIMIT $1")
/* clang-format on */

#endif
