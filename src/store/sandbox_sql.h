/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox_sql.h: the statements on sandboxes.
 */
#ifndef STORE_SANDBOX_SQL_H
#define STORE_SANDBOX_SQL_H

/* clang-format off */
/* A row a session and tag. What is not for the caller is left out by core: whose parent it is must
 * be known, and one walk over a tree is cheaper than a look for each. */
#define SANDBOX_SELECT                                                                             \
    "SELECT s.no,s.tree,s.id,s.parent,s.depth,s.owner,s.visibility,s.type,s.by_kind,"              \
    "s.merged_into,s.expires,s.created,s.deleted,s.purging,coalesce(m.level,0),s.reason,"          \
    "s.metadata,s.fork_entry,s.from_title,g.tag "
#define SANDBOX_COUNTED                                                                            \
    "SELECT s.no,s.tree,NULL,s.parent,s.depth,s.owner,s.visibility,s.type,0,"                      \
    "0,s.expires,s.created,s.deleted,s.purging,coalesce(m.level,0),NULL,NULL,NULL,NULL,g.tag "
#define SANDBOX_JOIN                                                                               \
    "CROSS JOIN session s LEFT JOIN member m ON m.tree=s.tree AND m.user_id=$2 "                   \
    "LEFT JOIN tag g ON g.tree=s.tree AND g.session=s.no "                                         \
    "WHERE t.sandbox=$1 AND s.tree=t.tree "
/* Of a sandbox by its name; of none, all of them, and those of one user. */
#define SANDBOX_NAMED "FROM tree t " SANDBOX_JOIN "AND t.sandbox<>''"
#define SANDBOX_NONE "FROM tree t " SANDBOX_JOIN
#define SANDBOX_USER                                                                               \
    "FROM (SELECT tree FROM member WHERE user_id=$2 "                                              \
    "UNION SELECT tree FROM session WHERE owner=$2) u CROSS JOIN tree t " SANDBOX_JOIN             \
    "AND t.tree=u.tree"

#define SANDBOX_STATEMENTS(X)                                                                      \
    X(sandbox_add, "INSERT INTO sandbox(id,owner,created) VALUES($1,$2,$3)")                       \
    X(sandbox_get, "SELECT id,owner,created FROM sandbox WHERE id=$1")                             \
    X(sandbox_all, "SELECT id,owner,created FROM sandbox ORDER BY id")                             \
    X(sandbox_of_owner, "SELECT id,owner,created FROM sandbox WHERE owner=$1 ORDER BY id")         \
    X(sandbox_del, "DELETE FROM sandbox WHERE id=$1")                                              \
    X(sandbox_trees, "SELECT t.tree,t.root FROM tree t WHERE t.sandbox=$1 AND t.sandbox<>''")      \
    X(tree_sandbox, "SELECT sandbox FROM tree WHERE tree=$1")                                      \
    X(tree_sandbox_set, "UPDATE tree SET sandbox=$2 WHERE tree=$1")                                \
    X(sandbox_named, SANDBOX_SELECT SANDBOX_NAMED)                                                 \
    X(sandbox_none, SANDBOX_SELECT SANDBOX_NONE)                                                   \
    X(sandbox_user, SANDBOX_SELECT SANDBOX_USER)                                                   \
    X(sandbox_named_count, SANDBOX_COUNTED SANDBOX_NAMED)                                          \
    X(sandbox_none_count, SANDBOX_COUNTED SANDBOX_NONE)                                            \
    X(sandbox_user_count, SANDBOX_COUNTED SANDBOX_USER)
/* clang-format on */

#endif
