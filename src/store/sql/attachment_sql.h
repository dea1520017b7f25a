/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment_sql.h: the statements on attachments and feedback.
 */
#ifndef STORE_SQL_ATTACHMENT_SQL_H
#define STORE_SQL_ATTACHMENT_SQL_H

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define ATTACH_STATEMENTS(X)                                                                       \
    X(attachment_add, "INSERT INTO attachment(id,sha,size,name,media_type,owner,created,expires,"  \
                      "key_id) VALUES($1,$2,$3,$4,$5,$6,$7,$8,0)")                                 \
    X(attachment_get, "SELECT id,sha,size,name,media_type,owner,created,expires "                  \
                      "FROM attachment WHERE id=$1")                                               \
    /* A page of all attachments, with what a list adds to the row. */                             \
    /* Not EXISTS: PostgreSQL may evaluate that with a hash of the whole table. */                 \
    X(attachment_page, "SELECT a.id,coalesce((SELECT 1 FROM attached r "                           \
                       "WHERE r.attachment=a.id LIMIT 1),0),(SELECT count(*) "                     \
                       "FROM attachment o WHERE o.sha=a.sha) FROM attachment a WHERE a.id>$1 "     \
                       "ORDER BY a.id LIMIT $2")                                                   \
    X(attachment_listed, "SELECT a.id,coalesce((SELECT 1 FROM attached r "                         \
                         "WHERE r.attachment=a.id LIMIT 1),0),(SELECT count(*) "                   \
                         "FROM attachment o WHERE o.sha=a.sha) FROM attachment a WHERE a.id=$1")   \
    X(attachment_del, "DELETE FROM attachment WHERE id=$1")                                        \
    X(attachment_used, "UPDATE attachment SET expires=0 WHERE id=$1 AND expires<>0")               \
    X(attachment_of_sha, "SELECT 1 FROM attachment WHERE sha=$1 LIMIT 1")                          \
    /* The same content counts once. */                                                            \
    X(attachment_sums, "SELECT coalesce(sum(d.n),0),coalesce(sum(d.size),0) FROM "                 \
                       "(SELECT count(*) AS n,max(size) AS size FROM attachment GROUP BY sha) d")  \
    X(attached_add, "INSERT INTO attached(tree,k,attachment) VALUES($1,$2,$3) "                    \
                    "ON CONFLICT(tree,k,attachment) DO NOTHING")                                   \
    X(attached_any, "SELECT 1 FROM attached WHERE attachment=$1 LIMIT 1")                          \
    /* The sessions that appended an entry with it: one row each, however many entries. */         \
    X(attached_homes, "SELECT DISTINCT b.tree,b.session,b.log FROM attached a "                    \
                      LOOK("branch", "b", PK_LOOK("b.", "id", "a.tree", "(a.k>>24)"))              \
                      "WHERE a.attachment=$1")                                                     \
    /* Branches whose path holds such an entry without owning it. A branch that starts after the   \
     * first such entry of its parent holds it, and so do all below. Only in trees where the user  \
     * $2 is a member or has a session, or to which the user's link leads ($3): other callers must \
     * not cause a walk. Private sessions of other users are left out here; the caller checks      \
     * everything else. UNION terminates even when the file is damaged. */                         \
    X(attached_heirs,                                                                              \
      "WITH RECURSIVE home(tree,branch,pos) AS ("                                                  \
      "SELECT a.tree,(a.k>>24),min(a.k)&16777215 FROM attached a WHERE a.attachment=$1 AND "       \
      "(a.tree=$3 OR EXISTS (SELECT 1 FROM member m WHERE m.tree=a.tree AND m.user_id=$2" APART    \
      ") OR EXISTS (SELECT 1 FROM session s WHERE s.owner=$2 AND +s.tree=a.tree "                  \
      BY_INDEX("s.owner", "s.created", "$2", "0") APART ")) GROUP BY a.tree,(a.k>>24)),"           \
      "heir(tree,id,session,log) AS ("                                                             \
      "SELECT b.tree,b.id,b.session,b.log FROM home h "                                            \
      LOOK("branch", "b", AT_INDEX("b.parent", "b.tree", "h.branch", "h.tree")                     \
                          " AND b.base>h.pos")                                                     \
      "UNION SELECT b.tree,b.id,b.session,b.log FROM heir h "                                      \
      LOOK("branch", "b", AT_INDEX("b.parent", "b.tree", "h.id", "h.tree")) ") "                   \
      "SELECT h.tree,h.session,h.log FROM heir h "                                                 \
      LOOK("session", "s", PK_IS("s.", "no", "h.tree", "h.session"))                               \
      "WHERE s.deleted=0 AND s.purging=0 AND (s.visibility=0 OR s.owner=$2 OR s.tree=$3)")         \
    /* -- gc. Released: referred to only by entries of this range. */                              \
    X(attachment_release,                                                                          \
      "UPDATE attachment SET expires=$4 WHERE id IN "                                              \
      "(SELECT attachment FROM attached WHERE tree=$1 AND k>=$2 AND k<=$3) "                       \
      "AND NOT EXISTS (SELECT 1 FROM attached o WHERE o.attachment=attachment.id "                 \
      "AND NOT (o.tree=$1 AND o.k>=$2 AND o.k<=$3))")                                              \
    X(attached_del, "DELETE FROM attached WHERE tree=$1 AND k>=$2 AND k<=$3")                      \
    X(attached_range, "SELECT attachment FROM attached WHERE tree=$1 AND k>=$2 AND k<=$3")         \
    X(attached_count, "SELECT count(*) FROM attached WHERE attachment=$1")                         \
    X(attachment_spent,                                                                            \
      "SELECT id,sha,size FROM attachment a WHERE a.expires>0 AND a.expires<=$1 AND NOT EXISTS "   \
      "(SELECT 1 FROM attached r WHERE r.attachment=a.id" APART ") "                               \
      "ORDER BY a.expires,a.id LIMIT $2")                                                          \
    X(attachment_spent_sums,                                                                       \
      "SELECT count(*),coalesce(sum(size),0) FROM attachment a WHERE a.expires>0 "                 \
      "AND a.expires<=$1 AND NOT EXISTS "                                                          \
      "(SELECT 1 FROM attached r WHERE r.attachment=a.id" APART ")")                               \
    /* -- fsck */                                                                                  \
    X(attachment_all, "SELECT id,sha,size,expires,CASE WHEN EXISTS (SELECT 1 FROM attached r "     \
                      "WHERE r.attachment=a.id) THEN 1 ELSE 0 END FROM attachment a "              \
                      "ORDER BY sha,id")                                                           \
    X(attached_has, "SELECT 1 FROM attached WHERE tree=$1 AND k=$2 AND attachment=$3")             \
    X(orphan_attached, "SELECT o.tree,o.k,o.attachment FROM attached o WHERE NOT EXISTS "          \
                       "(SELECT 1 FROM entry e WHERE e.tree=o.tree AND e.k=o.k "                   \
                       "AND (e.flags&16)<>0) LIMIT $1")                                            \
    X(orphan_reference, "SELECT o.tree,o.k,o.attachment FROM attached o WHERE NOT EXISTS "         \
                        "(SELECT 1 FROM attachment a WHERE a.id=o.attachment) LIMIT $1")           \
    X(orphan_feedback, "SELECT o.tree,o.k,o.user_id FROM feedback o WHERE NOT EXISTS "             \
                       "(SELECT 1 FROM entry e WHERE e.tree=o.tree AND e.k=o.k) LIMIT $1")         \
    /* -- content in parts, stored in the database (core/attachment/files_tables.c) */             \
    X(part_add, "INSERT INTO attach_part(sha,n,bytes) VALUES($1,$2,$3)")                           \
    X(part_get, "SELECT bytes FROM attach_part WHERE sha=$1 AND n=$2")                             \
    X(part_sums, "SELECT count(*),coalesce(sum(length(bytes)),0) FROM attach_part WHERE sha=$1")   \
    X(part_name, "UPDATE attach_part SET sha=$2 WHERE sha=$1")                                     \
    X(part_drop, "DELETE FROM attach_part WHERE sha=$1")                                           \
    X(part_reap, "DELETE FROM attach_part WHERE sha=$1 AND NOT EXISTS "                            \
                 "(SELECT 1 FROM attachment a WHERE a.sha=attach_part.sha)")                       \
    X(part_orphans, "SELECT p.sha FROM attach_part p WHERE p.sha>$1 AND p.n=0 AND NOT EXISTS "     \
                    "(SELECT 1 FROM attachment a WHERE a.sha=p.sha) ORDER BY p.sha LIMIT $2")      \
    /* -- feedback */                                                                              \
    X(feedback_set, "INSERT INTO feedback(tree,k,user_id,value,comment,at) "                       \
                    "VALUES($1,$2,$3,$4,$5,$6) ON CONFLICT(tree,k,user_id) DO UPDATE SET "         \
                    "value=excluded.value,comment=excluded.comment,at=excluded.at")                \
    X(feedback_unset, "DELETE FROM feedback WHERE tree=$1 AND k=$2 AND user_id=$3")                \
    X(feedback_of, "SELECT user_id,value,comment,at FROM feedback WHERE tree=$1 AND k=$2 "         \
                   "ORDER BY at,user_id")                                                          \
    X(feedback_mine, "SELECT k,value FROM feedback WHERE tree=$1 AND k>=$2 AND k<=$3 "             \
                     "AND user_id=$4")                                                             \
    X(feedback_del, "DELETE FROM feedback WHERE tree=$1 AND k>=$2 AND k<=$3")
/* clang-format on */

#endif
