/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox_sql.h: the statements on sandboxes.
 */
#ifndef STORE_SQL_SANDBOX_SQL_H
#define STORE_SQL_SANDBOX_SQL_H

/* clang-format off */
/* A row per session, followed by a row per tag, which has only its session's number and the tag.
 * Core leaves out what the caller may not see: it needs to know whose parent a session is, and one
 * walk over a tree is cheaper than a lookup for each. */
#define SANDBOX_SESSION                                                                            \
    "SELECT s.no,s.parent,s.depth,s.owner,s.visibility,s.type,s.created,s.expires,s.deleted,"      \
    "s.purging,coalesce(m.level,0),NULL,s.id,s.by_kind,s.merged_into,s.reason,s.metadata,"         \
    "s.fork_entry,s.from_title "
#define SANDBOX_TAG "SELECT g.session,0,0,NULL,0,0,0,0,0,0,0,g.tag,NULL,0,0,NULL,NULL,NULL,NULL "
#define SANDBOX_SESSION_N                                                                          \
    "SELECT s.no,s.parent,s.depth,s.owner,s.visibility,s.type,s.created,s.expires,s.deleted,"      \
    "s.purging,coalesce(m.level,0),NULL "
#define SANDBOX_TAG_N "SELECT g.session,0,0,NULL,0,0,0,0,0,0,0,g.tag "
/* Which trees: of a sandbox by its name; in none; in none, of one user. */
#define SANDBOX_TREES "FROM tree t "
#define SANDBOX_TREES_OF_USER                                                                      \
    "FROM (SELECT tree FROM member WHERE user_id=$2 "                                              \
    "UNION SELECT tree FROM session WHERE owner=$2) u " LOOK("tree", "t", "t.tree=u.tree")
#define SANDBOX_NAMED "t.sandbox=$1 AND t.sandbox<>''"
#define SANDBOX_NONE "t.sandbox=$1"
#define SANDBOX_ALL(session, tag, trees, which)                                                    \
    session trees LOOK("session", "s", "s.tree=t.tree" HINT(" ORDER BY s.no"))                     \
    LOOK_LEFT("member", "m", "m.tree=s.tree AND m.user_id=$2") "WHERE " which                      \
    " UNION ALL " tag trees LOOK("tag", "g", "g.tree=t.tree" HINT(" ORDER BY g.session"))          \
    "WHERE " which
#define SANDBOX_LIST(trees, which) SANDBOX_ALL(SANDBOX_SESSION, SANDBOX_TAG, trees, which)
#define SANDBOX_COUNT(trees, which) SANDBOX_ALL(SANDBOX_SESSION_N, SANDBOX_TAG_N, trees, which)

#define SANDBOX_STATEMENTS(X)                                                                      \
    X(sandbox_add, "INSERT INTO sandbox(id,owner,created) VALUES($1,$2,$3)")                       \
    X(sandbox_get, "SELECT id,owner,created FROM sandbox WHERE id=$1")                             \
    X(sandbox_all, "SELECT id,owner,created FROM sandbox ORDER BY id")                             \
    X(sandbox_of_owner, "SELECT id,owner,created FROM sandbox WHERE owner=$1 ORDER BY id")         \
    X(sandbox_del, "DELETE FROM sandbox WHERE id=$1")                                              \
    X(sandbox_trees, "SELECT t.tree,t.root FROM tree t WHERE t.sandbox=$1 AND t.sandbox<>''")      \
    X(tree_sandbox, "SELECT sandbox FROM tree WHERE tree=$1")                                      \
    X(tree_sandbox_set, "UPDATE tree SET sandbox=$2 WHERE tree=$1")                                \
    X(sandbox_named, SANDBOX_LIST(SANDBOX_TREES, SANDBOX_NAMED))                                   \
    X(sandbox_none, SANDBOX_LIST(SANDBOX_TREES, SANDBOX_NONE))                                     \
    X(sandbox_user, SANDBOX_LIST(SANDBOX_TREES_OF_USER, SANDBOX_NONE))                             \
    X(sandbox_named_count, SANDBOX_COUNT(SANDBOX_TREES, SANDBOX_NAMED))                            \
    X(sandbox_none_count, SANDBOX_COUNT(SANDBOX_TREES, SANDBOX_NONE))                              \
    X(sandbox_user_count, SANDBOX_COUNT(SANDBOX_TREES_OF_USER, SANDBOX_NONE))
/* clang-format on */

#endif
