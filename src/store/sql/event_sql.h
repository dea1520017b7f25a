/* SPDX-License-Identifier: Apache-2.0
 *
 * event_sql.h: the statements on live events and on answers kept by an idempotency key.
 */
#ifndef STORE_SQL_EVENT_SQL_H
#define STORE_SQL_EVENT_SQL_H

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define EVENT_STATEMENTS(X)                                                                        \
    /* -- events */                                                                                \
    X(event_session, "SELECT s.id,s.owner,s.visibility,s.expires,s.deleted,s.purging,t.id,"        \
                     "t.sandbox FROM session s " LOOK("tree", "t", "t.tree=s.tree")                \
                     "WHERE " PK("s.", "no"))                                                      \
    X(session_place, "SELECT tree,no FROM session WHERE id=$1")                                    \
    /* Whether some have no number yet: in a file all have one from the beginning. */              \
    X(event_waiting, "SELECT 1 FROM event WHERE no<0")                                             \
    X(event_del, "DELETE FROM event WHERE no<=$1")                                                 \
    /* -- answers by a key */                                                                      \
    X(once_get, "SELECT digest,status,answer,size,expires FROM once "                              \
                "WHERE user_id=$1 AND scope=$2 AND key=$3 AND " NO_INDEX("expires") ">$4")         \
    X(once_set, "INSERT INTO once(user_id,scope,key,digest,status,answer,size,expires) "           \
                "VALUES($1,$2,$3,$4,$5,$6,$7,$8) ON CONFLICT(user_id,scope,key) DO UPDATE SET "    \
                "digest=excluded.digest,status=excluded.status,answer=excluded.answer,"            \
                "size=excluded.size,expires=excluded.expires")                                     \
    X(once_del,                                                                                    \
      "DELETE FROM once WHERE (user_id,scope,key) IN "                                             \
      "(SELECT user_id,scope,key FROM once WHERE expires<=$1 ORDER BY expires LIMIT $2)")
/* clang-format on */

#endif
