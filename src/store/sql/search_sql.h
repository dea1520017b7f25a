/* SPDX-License-Identifier: Apache-2.0
 *
 * search_sql.h: the statements on the search index. They run on its own file
 * (store/search/search_index.h).
 */
#ifndef STORE_SQL_SEARCH_SQL_H
#define STORE_SQL_SEARCH_SQL_H

#define FTS_STATEMENTS(X)                                                                          \
    /* -- how far indexing has come */                                                             \
    X(fts_state_get, "SELECT mark,done,scan_tree,scan,bytes,top,print FROM state WHERE one=1")     \
    X(fts_state_set, "UPDATE state SET mark=$1,done=$2,scan_tree=$3,scan=$4,bytes=$5,top=$6,"      \
                     "print=$7 WHERE one=1")                                                       \
    /* -- documents */                                                                             \
    X(fts_doc_by_key, "SELECT no,tree,session,role FROM doc WHERE k=$1")                           \
    X(fts_doc_add, "INSERT INTO doc(no,tree,k,session,role,created,bytes) "                        \
                   "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                 \
    X(fts_doc_del, "DELETE FROM doc WHERE no=$1")                                                  \
    X(fts_given_add, "INSERT INTO given(no,text) VALUES($1,$2)")                                   \
    X(fts_given_get, "SELECT text FROM given WHERE no=$1")                                         \
    X(fts_given_del, "DELETE FROM given WHERE no=$1")                                              \
    X(fts_add, "INSERT INTO fts(rowid,text,scope) VALUES($1,$2,$3)")                               \
    X(fts_del, "INSERT INTO fts(fts,rowid,text,scope) VALUES('delete',$1,$2,$3)")                  \
    /* -- removing everything */                                                                   \
    X(fts_clear, "INSERT INTO fts(fts) VALUES('delete-all')")                                      \
    X(fts_clear_doc, "DELETE FROM doc")                                                            \
    X(fts_clear_given, "DELETE FROM given")                                                        \
    X(fts_clear_span, "DELETE FROM span")                                                          \
    X(fts_clear_tree, "DELETE FROM tree")                                                          \
    X(fts_clear_owner, "DELETE FROM owner")                                                        \
    /* -- when the documents of a block were created */                                            \
    X(fts_span_add, "INSERT INTO span(block,lo,hi) VALUES($1,$2,$3) ON CONFLICT(block) DO UPDATE " \
                    "SET lo=min(lo,excluded.lo),hi=max(hi,excluded.hi)")                           \
    X(fts_span_find, "SELECT min(block),max(block) FROM span WHERE hi>=$1 AND lo<$2")              \
    /* -- the owner of a tree when it was first indexed */                                         \
    X(fts_owner_add, "INSERT INTO owner(name) VALUES($1) ON CONFLICT(name) DO NOTHING")            \
    X(fts_owner_get, "SELECT no FROM owner WHERE name=$1")                                         \
    X(fts_tree_add, "INSERT INTO tree(tree,owner) VALUES($1,$2)")                                  \
    X(fts_tree_get, "SELECT owner FROM tree WHERE tree=$1")                                        \
    X(fts_trees_of, "SELECT tree FROM tree WHERE owner=$1 ORDER BY tree")                          \
    /* -- size on disk; that of a file comes from the file system */                               \
    X(fts_bytes, "SELECT 0")                                                                       \
    /* -- newest first; the score is NULL for a document that the filter rejects */                \
    X(fts_find, "SELECT fts.rowid,d.k,d.tree,d.session,d.role,d.created,"                          \
                "ramet_rank(fts,d.k,d.tree,d.session,d.created,d.bytes) "                          \
                "FROM fts CROSS JOIN doc d ON d.no=fts.rowid "                                     \
                "WHERE fts MATCH $1 AND fts.rowid>=$2 AND fts.rowid<=$3 "                          \
                "ORDER BY fts.rowid DESC")

#endif
