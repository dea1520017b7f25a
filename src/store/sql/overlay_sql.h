/* SPDX-License-Identifier: Apache-2.0
 *
 * overlay_sql.h: the statements on overlays, and on what the agents of turns were sent.
 */
#ifndef STORE_SQL_OVERLAY_SQL_H
#define STORE_SQL_OVERLAY_SQL_H

#define OVERLAY_COLS                                                                               \
    "o.no,o.prev,o.prev2,o.size,o.bytes,o.action,o.k,o.removes,o.text,o.ties,o.who,o.at,o.seal"
/* What a row of `from` leads to: `prev`, then `prev2`. */
#define OVERLAY_BEFORE(from) "CASE v.column1 WHEN 1 THEN " from ".prev ELSE " from ".prev2 END"

/* A table reads by its rows. */
/* clang-format off */
#define OVERLAY_STATEMENTS(X)                                                                      \
    X(overlay_last, "SELECT o.no FROM overlay o WHERE o.tree=$1 AND o.no>0 "                       \
                    "ORDER BY o.no DESC LIMIT 1")                                                  \
    X(overlay_add, "INSERT INTO overlay(tree,no,prev,prev2,size,bytes,action,k,removes,text,ties," \
                   "who,at,seal) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)")          \
    X(overlay_get, "SELECT " OVERLAY_COLS " FROM overlay o WHERE " PK("o.", "no"))                 \
    /* A set, newest first. UNION: ends also when the file is damaged. */                          \
    X(overlay_set,                                                                                 \
      "WITH RECURSIVE c(no,prev,prev2) AS ("                                                       \
      "SELECT o.no,o.prev,o.prev2 FROM overlay o WHERE " PK("o.", "no")                            \
      " UNION SELECT o.no,o.prev,o.prev2 FROM c CROSS JOIN (VALUES(1),(2)) v "                     \
      LOOK("overlay", "o", PK_LOOK("o.", "no", "$1", OVERLAY_BEFORE("c"))) ") "                    \
      "SELECT " OVERLAY_COLS " FROM c " LOOK("overlay", "o", PK_LOOK("o.", "no", "$1", "c.no"))    \
      "ORDER BY c.no DESC")                                                                        \
    X(overlay_of_tree, "SELECT " OVERLAY_COLS " FROM overlay o WHERE o.tree=$1 AND o.no>0 "        \
                       "ORDER BY o.no")                                                            \
    X(overlay_clear, "DELETE FROM overlay WHERE tree=$1")                                          \
    /* Those that no branch leads to. */                                                           \
    X(overlay_prune,                                                                               \
      "WITH RECURSIVE c(no) AS (SELECT b.overlay FROM branch b WHERE b.tree=$1 AND b.overlay>0 "   \
      "UNION SELECT " OVERLAY_BEFORE("o") " FROM c CROSS JOIN (VALUES(1),(2)) v "                  \
      LOOK("overlay", "o", PK_LOOK("o.", "no", "$1", "c.no")) ") "                                 \
      "DELETE FROM overlay WHERE tree=$1 AND no>0 AND no NOT IN (SELECT c.no FROM c)")             \
    X(orphan_overlay, "SELECT o.tree,o.no,'' FROM overlay o WHERE NOT EXISTS "                     \
                      "(SELECT 1 FROM tree t WHERE t.tree=o.tree) LIMIT $1")                       \
    /* -- what the agents of turns were sent */                                                    \
    X(prompt_add, "INSERT INTO prompt(tree,turn,session,branch,len,agent,digest,packed) "          \
                  "VALUES($1,$2,$3,$4,$5,$6,$7,$8) ON CONFLICT(tree,turn) DO UPDATE SET "          \
                  "len=excluded.len,agent=excluded.agent,digest=excluded.digest,"                  \
                  "packed=excluded.packed")                                                        \
    X(prompt_get, "SELECT p.branch,p.len,p.agent,p.digest,p.packed FROM prompt p "                 \
                  "WHERE p.tree=$1 AND p.turn=$2")                                                 \
    X(prompt_of_tree, "SELECT p.turn,p.session,p.branch,p.len,p.digest,p.packed FROM prompt p "    \
                      "WHERE p.tree=$1 ORDER BY p.turn")                                           \
    X(prompt_clear, "DELETE FROM prompt WHERE tree=$1 AND session=$2")                             \
    X(prompt_prune, "DELETE FROM prompt WHERE tree=$1 AND branch IN (SELECT n.branch FROM "        \
                    "branch_note n WHERE n.tree=$1 AND n.state=2)")                                \
    X(orphan_prompt, "SELECT o.tree,o.session,o.turn FROM prompt o WHERE NOT EXISTS (SELECT 1 "    \
                     "FROM session s WHERE s.tree=o.tree AND s.no=o.session) LIMIT $1")
/* clang-format on */

#endif
