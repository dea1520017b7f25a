/* SPDX-License-Identifier: Apache-2.0
 *
 * fts_sql.h: the statements of the search index. They run on its own file (store/fts.h).
 */
#ifndef STORE_FTS_SQL_H
#define STORE_FTS_SQL_H

#define FTS_STATEMENTS(X)                                                                          \
    /* -- how far it has come */                                                                   \
    X(fts_state_get, "SELECT mark,done,scan,print,bytes FROM state WHERE one=1")                   \
    X(fts_state_set, "UPDATE state SET mark=$1,done=$2,scan=$3,print=$4,bytes=$5 WHERE one=1")     \
    /* -- documents */                                                                             \
    X(fts_top, "SELECT coalesce(max(no),0) FROM doc")                                              \
    X(fts_doc_by_key, "SELECT no,tree,session,role FROM doc WHERE k=$1")                           \
    X(fts_doc_add, "INSERT INTO doc(no,tree,k,session,role,created,bytes) "                        \
                   "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                 \
    X(fts_doc_del, "DELETE FROM doc WHERE no=$1")                                                  \
    /* -- parts (fts_part.c) */                                                                    \
    X(fts_part_add, "INSERT INTO part(no) VALUES($1) ON CONFLICT(no) DO NOTHING")                  \
    X(fts_part_at, "SELECT no FROM part WHERE no<=$1 ORDER BY no DESC LIMIT 1")                    \
    /* -- everything out */                                                                        \
    X(fts_clear_part, "DELETE FROM part")                                                          \
    X(fts_clear_doc, "DELETE FROM doc")                                                            \
    X(fts_clear_span, "DELETE FROM span")                                                          \
    X(fts_clear_tree, "DELETE FROM tree")                                                          \
    X(fts_clear_owner, "DELETE FROM owner")                                                        \
    /* -- when the documents of a block were created */                                            \
    X(fts_span_add, "INSERT INTO span(block,lo,hi) VALUES($1,$2,$3) ON CONFLICT(block) DO UPDATE " \
                    "SET lo=min(lo,excluded.lo),hi=max(hi,excluded.hi)")                           \
    X(fts_span_find, "SELECT min(block),max(block) FROM span WHERE hi>=$1 AND lo<$2")              \
    /* -- who owned a tree when it was first indexed */                                            \
    X(fts_owner_add, "INSERT INTO owner(name) VALUES($1) ON CONFLICT(name) DO NOTHING")            \
    X(fts_owner_get, "SELECT no FROM owner WHERE name=$1")                                         \
    X(fts_tree_add, "INSERT INTO tree(tree,owner) VALUES($1,$2)")                                  \
    X(fts_tree_get, "SELECT owner FROM tree WHERE tree=$1")                                        \
    X(fts_trees_of, "SELECT tree FROM tree WHERE owner=$1 ORDER BY tree")

#endif
