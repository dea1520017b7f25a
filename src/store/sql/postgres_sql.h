/* SPDX-License-Identifier: Apache-2.0
 *
 * postgres_sql.h: the statements of store/sql/sql.h that have another text on PostgreSQL.
 *
 * There an id leads to its tree and number through `dir` (kind 1: sessions, 2: trees, 3: turns),
 * numbers do not rise with time, and events are written to the outbox
 * (store/postgres/event_sequencer.c).
 */
#ifndef STORE_SQL_POSTGRES_SQL_H
#define STORE_SQL_POSTGRES_SQL_H

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define BY_DIR "FROM dir i " LOOK("session", "s", PK_IS("s.", "no", "i.tree", "i.no"))
#define WHERE_DIR "WHERE i.id=$1 AND i.kind=1"

/* The owner of the tree `x`, for the search index: the number of the user, or, for a tree that the
 * index does not know yet, the name. */
#define WORD_OWNER(x)                                                                              \
    "t.owner,CASE WHEN t.owner IS NULL THEN coalesce((SELECT m.user_id FROM member m "             \
    "WHERE m.tree=" x ".tree AND m.level=4 "                                                       \
    BY_INDEX("m.tree", "m.user_id", x ".tree", "''") "ORDER BY m.user_id LIMIT 1),'') END"

/* A queue in front of the row of a tree, for FOR SHARE on it and for the update of its stamp.
 * PostgreSQL lets a share lock on a row join others while an update waits for them, so a stream of
 * them would keep the update waiting for ever; advisory locks are granted in order of request
 * (decision 0043). The number 1380011348 ("RAMT") distinguishes them from the locks of other
 * programs. */
#define TREE_QUEUE(shared)                                                                         \
    "WITH queue AS MATERIALIZED (SELECT pg_advisory_xact_lock" shared                              \
    "(1380011348,($1&2147483647)::int)) "

#define DIR_TAKE "ON CONFLICT(id,kind) DO UPDATE SET tree=excluded.tree,no=excluded.no"
/* Removes the id of the row in `g`. */
#define DIR_DROP(kind_)                                                                            \
    "DELETE FROM dir WHERE id=(SELECT g.id FROM g) AND kind=" #kind_                               \
    " AND tree=(SELECT g.tree FROM g)"

/* Adds the tag $3 to the session ($1, $2), or removes it. */
#define TAGS_WITH                                                                                  \
    "UPDATE session SET tags=array_append(array_remove(tags,$3),$3) WHERE " PK("", "no")
#define TAGS_WITHOUT                                                                               \
    "UPDATE session SET tags=nullif(array_remove(tags,$3),'{}') WHERE " PK("", "no")

/* Numbers events (store/postgres/event_sequencer.c): returns how many got one, and the newest
 * number, which another process may have assigned. */
#define EVENTS_MOVE                                                                                \
    "WITH gone AS (DELETE FROM outbox WHERE no=ANY(ARRAY("                                         \
    "SELECT o.no FROM outbox o ORDER BY o.no LIMIT $1)) "                                          \
    "RETURNING no,tree,session,kind,k,n,at,who),"                                                  \
    "last AS (SELECT coalesce(max(no),0) AS no FROM event),"                                       \
    "moved AS (INSERT INTO event(no,tree,session,kind,k,n,at,who) "                                \
    "SELECT l.no+row_number() OVER (ORDER BY g.no),g.tree,g.session,g.kind,g.k,g.n,g.at,g.who "    \
    "FROM gone g CROSS JOIN last l RETURNING no) "                                                 \
    "SELECT count(*),coalesce(max(m.no),(SELECT l.no FROM last l)) FROM moved m"

#define POSTGRES_STATEMENTS(X)                                                                     \
    /* -- ids */                                                                                   \
    X(session_by_id, "SELECT " SESSION_COLS " " BY_DIR WHERE_DIR)                                  \
    X(session_open, "SELECT " SESSION_COLS ",coalesce(m.level,0),t.id,t.stamp," BRANCH_COLS        \
                    " " BY_DIR SESSION_LOOKS WHERE_DIR)                                            \
    X(session_brief, "SELECT s.no,s.tree,s.owner,s.visibility,s.head,s.adk,s.first_adk,s.expires," \
                     "s.deleted,s.purging,s.id,coalesce(m.level,0),t.stamp," BRANCH_COLS " "       \
                     BY_DIR SESSION_LOOKS WHERE_DIR)                                               \
    X(session_place, "SELECT tree,no FROM dir WHERE id=$1 AND kind=1")                             \
    X(tree_by_id, "SELECT tree FROM dir WHERE id=$1 AND kind=2")                                   \
    X(tree_add, "WITH d AS (INSERT INTO dir(id,kind,tree,no) VALUES($2,2,$1,0)) "                  \
                "INSERT INTO tree(tree,id,root,created) VALUES($1,$2,$3,$4)")                      \
    X(tree_del, "WITH d AS (DELETE FROM dir WHERE kind=2 AND id="                                  \
                "(SELECT t.id FROM tree t WHERE t.tree=$1)) DELETE FROM tree WHERE tree=$1")       \
    X(session_add,                                                                                 \
      "WITH d AS (INSERT INTO dir(id,kind,tree,no) VALUES($3,1,$2,$1)) "                           \
      "INSERT INTO session(" SESSION_ADD_COLS ") VALUES(" SESSION_ADD_ROW(PARAM) ")")              \
    X(session_rename, "WITH d AS (UPDATE dir SET id=$3 WHERE kind=1 AND id="                       \
                      "(SELECT s.id FROM session s WHERE " PK("s.", "no") ")) "                    \
                      "UPDATE session SET id=$3 WHERE " PK("", "no"))                              \
    X(session_tomb,                                                                                \
      "WITH d AS (DELETE FROM dir WHERE kind=1 AND id="                                            \
      "(SELECT s.id FROM session s WHERE " PK("s.", "no") ")) "                                    \
      "UPDATE session SET id=NULL,title='',from_title='',agent=NULL,agent_config=NULL,"            \
      "fill=NULL,metadata=NULL,reason='',by_id=NULL,fork_entry=NULL,owner='',first=0,first_adk=0,head=0,"    \
      "adk=0,purging=2 WHERE " PK("", "no"))                                                       \
    X(session_del, "WITH d AS (DELETE FROM dir WHERE kind=1 AND id="                               \
                   "(SELECT s.id FROM session s WHERE " PK("s.", "no") ")) "                       \
                   "DELETE FROM session WHERE " PK("", "no"))                                      \
    X(turn_add, "WITH d AS (INSERT INTO dir(id,kind,tree,no) VALUES($1,3,$2,0)) "                  \
                "INSERT INTO turn(id,tree,session,branch,agent,entry,grp,who,host,started,status," \
                "error,ended) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,1,'',0)")                      \
    X(turn_get, "SELECT " TURN_COLS ",s.id FROM dir i "                                            \
                LOOK("turn", "t", PK_LOOK("t.", "id", "i.tree", "i.id"))                           \
                LOOK_LEFT("session", "s", PK_IS("s.", "no", "t.tree", "t.session"))                \
                "WHERE i.id=$1 AND i.kind=3")                                                      \
    X(turn_end, "UPDATE turn SET status=$2,error=$3,"                                              \
                "ended=CASE WHEN started>$4 THEN started ELSE $4 END WHERE "                       \
                PK_IS("", "id", "(SELECT i.tree FROM dir i WHERE i.id=$1 AND i.kind=3)", "$1")     \
                " AND " NO_INDEX("status") "=1")                                                   \
    X(turn_clear, "WITH gone AS (DELETE FROM turn WHERE tree=$1 AND session=$2 "                   \
                  BY_INDEX("tree", "session", "$1", "$2") "RETURNING id) "                         \
                  "DELETE FROM dir WHERE id=ANY(ARRAY(SELECT g.id FROM gone g)) AND kind=3")       \
    /* -- guards: finding nothing divides by zero, so that the transaction fails at once */        \
    /* For a serializable transaction: refused when the row was changed since it began; a later    \
     * change waits for the commit. (KEY SHARE would do neither: a stamp is not a key.) */         \
    X(hold_tree, TREE_QUEUE("_shared")                                                             \
                 "SELECT 1 FROM queue,tree WHERE tree=$1 FOR SHARE OF tree")                       \
    X(tree_stamp, TREE_QUEUE("") "UPDATE tree SET stamp=stamp+1 FROM queue WHERE tree=$1")         \
    X(guard_tree, "SELECT 1/count(*) FROM tree WHERE tree=$1 AND stamp=$2")                        \
    X(guard_fork, "SELECT 1/count(*) FROM "                                                        \
                  "(SELECT 1 FROM tree t JOIN branch b ON b.tree=t.tree "                          \
                  "WHERE t.tree=$1 AND t.stamp=$2 AND b.id=$3 AND b.tip=$4 AND b.live=1 "          \
                  BY_INDEX("b.tree", "b.id", "$1", "$3") "OFFSET 0) found")                        \
    X(branch_grow, "WITH done AS (UPDATE branch SET len=$3,tip=$4,touched=$5,run=1 "               \
                   "WHERE " PK("", "id") " AND tip=$6 AND live=$7 AND run=$8 RETURNING 1) "        \
                   "SELECT 1/count(*) FROM done")                                                  \
    X(task_put, "WITH put AS (INSERT INTO task(id,tree,session,data,created,updated,deleted,at) "  \
                TASK_PUT " RETURNING 1) SELECT 1/count(*) FROM put")                               \
    /* -- by time, where SQLite goes by number */                                                  \
    /* One row after the other, whatever the server knows about the tables. */                     \
    X(once_del, "DELETE FROM once WHERE ctid=ANY(ARRAY(SELECT o.ctid FROM once o "                 \
                "WHERE o.expires<=$1 ORDER BY o.expires LIMIT $2))")                               \
    X(attachment_release,                                                                          \
      "UPDATE attachment SET expires=$4 WHERE id=ANY(ARRAY(SELECT r.attachment "                   \
      "FROM attached r WHERE r.tree=$1 AND r.k>=$2 AND r.k<=$3 ORDER BY r.k)) AND NOT EXISTS "     \
      "(SELECT 1 FROM attached o WHERE o.attachment=attachment.id "                                \
      "AND NOT (o.tree=$1 AND o.k>=$2 AND o.k<=$3)" APART ")")                                     \
    X(session_newest, "SELECT " SESSION_COLS " FROM session s WHERE (s.created,s.no)<($1,$2) "     \
                      "ORDER BY s.created DESC,s.no DESC LIMIT $3")                                \
    X(statistics_all, "SELECT " STATISTICS_COLS STATISTICS_FROM                                    \
                      "WHERE (s.created,s.no)<($1,$2) "                                            \
                      "ORDER BY s.created DESC,s.no DESC LIMIT $3")                                \
    X(active_of_member, ACTIVE_OF_MEMBER("greatest", "least"))                                     \
    X(active_owned, ACTIVE_OWNED("greatest", "least"))                                             \
    X(active_all, ACTIVE_ALL("greatest", "least"))                                                 \
    /* -- tags are in their session, too, where a GIN index finds them */                          \
    X(tag_add, "WITH t AS (INSERT INTO tag(tree,session,tag) VALUES($1,$2,$3) "                    \
               "ON CONFLICT(tree,session,tag) DO NOTHING) " TAGS_WITH)                             \
    X(tag_del, "WITH t AS (DELETE FROM tag WHERE tree=$1 AND session=$2 AND tag=$3) "              \
               TAGS_WITHOUT)                                                                       \
    X(tag_clear, "WITH t AS (DELETE FROM tag WHERE tree=$1 AND session=$2) UPDATE session "        \
                 "SET tags=NULL WHERE " PK("", "no") " AND tags IS NOT NULL")                      \
    /* OFFSET 0: otherwise the LIMIT makes the planner walk all sessions by time. */               \
    X(session_tagged, "SELECT " SESSION_COLS " FROM (SELECT * FROM session x WHERE "               \
                      "x.tags@>ARRAY[$1] AND x.tags IS NOT NULL OFFSET 0) s "                      \
                      "WHERE s.created<$2 OR (s.created=$2 AND s.no<$3) "                          \
                      "ORDER BY s.created DESC,s.no DESC LIMIT $4")                                \
    X(orphan_tag, "SELECT o.tree,o.session,o.tag FROM tag o WHERE NOT EXISTS (SELECT 1 FROM "      \
                  "session s WHERE s.tree=o.tree AND s.no=o.session AND s.tags@>ARRAY[o.tag]) "    \
                  "LIMIT $1")                                                                      \
    X(copy_tag_add, "WITH t AS (" COPY_ADD(tag) ") " TAGS_WITH)                                    \
    X(copy_tag_cut, "WITH t AS (DELETE FROM tag WHERE tree=$1 AND session=$2 AND tag=$3) "         \
                    TAGS_WITHOUT)                                                                  \
    /* -- LATERAL with a LIMIT is evaluated range by range; a plain join would walk the tree */    \
    X(entry_segments,                                                                              \
      "SELECT " ENTRY_COLS " FROM (VALUES(1,$2,$3),(2,$4,$5),(3,$6,$7),(4,$8,$9),(5,$10,$11),"     \
      "(6,$12,$13),(7,$14,$15),(8,$16,$17),(9,$18,$19),(10,$20,$21)) r CROSS JOIN LATERAL "        \
      "(SELECT x.* FROM entry x WHERE x.tree=$1 AND x.k>=r.column2 AND x.k<=r.column3 "            \
      BY_INDEX("x.tree", "x.k", "$1", "r.column2")                                                 \
      "ORDER BY x.k LIMIT 16777216) e ORDER BY r.column1,e.k")                                     \
    /* -- events: $1 is the number that SQLite assigns */                                          \
    X(event_add, "INSERT INTO outbox(tree,session,kind,k,n,at) VALUES($2,$3,$4,$5,$6,$7)")         \
    X(event_member, "INSERT INTO outbox(tree,session,kind,k,n,at,who) "                            \
                    "VALUES($2,$3,$4,$5,$6,$7,$8)")                                                \
    X(event_waiting, "SELECT 1 FROM outbox LIMIT 1")                                               \
    /* -- the search index, in the same database (store/postgres/fulltext.c) */                    \
    X(event_texts,                                                                                 \
      "SELECT e.k,v.tree,e.role,e.text,e.flags,e.created,b.log,b.session," WORD_OWNER("v")         \
      ",i.text,v.no,v.tree,v.session,v.kind,v.k,v.n,v.at FROM "                                    \
      "(SELECT no,tree,session,kind,k,n,at FROM event WHERE no>$1 ORDER BY no LIMIT $2) v "        \
      LOOK_LEFT("branch", "b", "v.kind>=$3 AND " PK_LOOK("b.", "id", "v.tree", "v.k/16777216"))    \
      LOOK_LEFT("entry", "e", "v.kind>=$3 AND e.tree=v.tree AND e.k>=v.k AND e.k<v.k+v.n "         \
                              "ORDER BY e.k")                                                      \
      LOOK_LEFT("indexed", "i", "i.tree=e.tree AND i.k=e.k")                                       \
      LOOK_LEFT("word_tree", "t", "t.tree=v.tree") "ORDER BY v.no,e.k")                            \
    X(entry_scan, "SELECT e.k,e.tree,e.role,e.text,e.flags,e.created,b.log,b.session,"             \
                  WORD_OWNER("e") ",i.text FROM (SELECT tree,k,role,text,flags,created FROM entry " \
                  "WHERE (tree,k)>($1,$2) ORDER BY tree,k LIMIT $3) e "                            \
                  LOOK_LEFT("branch", "b", PK_LOOK("b.", "id", "e.tree", "e.k/16777216"))          \
                  LOOK_LEFT("indexed", "i", "i.tree=e.tree AND i.k=e.k")                           \
                  LOOK_LEFT("word_tree", "t", "t.tree=e.tree") "ORDER BY e.tree,e.k")              \
    X(fts_state_get,                                                                               \
      "SELECT mark,done,scan_tree,scan,bytes,top,print FROM word_state WHERE one=1")               \
    X(fts_state_set, "UPDATE word_state SET mark=$1,done=$2,scan_tree=$3,scan=$4,bytes=$5,top=$6," \
                     "print=$7 WHERE one=1")                                                       \
    X(fts_add, "INSERT INTO words(tree,k,no,session,role,created,bytes,unsure,tsv) "               \
               "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9) ON CONFLICT(tree,k) DO NOTHING")                \
    X(fts_del, "DELETE FROM words WHERE tree=$1 AND k=$2")                                         \
    X(fts_clear, "TRUNCATE words")                                                                 \
    X(fts_clear_span, "DELETE FROM word_span")                                                     \
    X(fts_clear_tree, "DELETE FROM word_tree")                                                     \
    X(fts_span_add, "INSERT INTO word_span(block,lo,hi) VALUES($1,$2,$3) ON CONFLICT(block) "      \
                    "DO UPDATE SET lo=least(word_span.lo,excluded.lo),"                            \
                    "hi=greatest(word_span.hi,excluded.hi)")                                       \
    X(fts_span_find, "SELECT min(block),max(block) FROM word_span WHERE hi>=$1 AND lo<$2")         \
    X(fts_tree_add,                                                                                \
      "INSERT INTO word_tree(tree,owner) VALUES($1,$2) ON CONFLICT(tree) DO NOTHING")              \
    X(fts_tree_get, "SELECT owner FROM word_tree WHERE tree=$1")                                   \
    X(fts_trees_of, "SELECT tree FROM word_tree WHERE owner>=$1 AND owner<=$1 "                    \
                    "ORDER BY owner,tree")                                                         \
    X(fts_find, "SELECT w.no,w.k,w.tree,w.session,w.role,w.created,w.bytes,w.unsure,"              \
                "CAST(ts_rank(w.tsv,CAST($4 AS tsquery)) AS float8) FROM words w "                 \
                "WHERE w.tsv @@ CAST($1 AS tsquery) AND w.no>$2 AND w.no<=$3 "                     \
                "ORDER BY w.no DESC LIMIT $5")                                                     \
    X(fts_bytes, "SELECT coalesce(sum(pg_total_relation_size(oid)),0) FROM pg_class "              \
                 "WHERE relkind='r' AND relnamespace=current_schema()::regnamespace "              \
                 "AND relname LIKE 'word%'")                                                       \
    /* -- copies: the row in dir is written with its own row */                                    \
    X(copy_session_add, "WITH d AS (INSERT INTO dir(id,kind,tree,no) SELECT $3,1,$2,$1 "           \
                        "WHERE $3 IS NOT NULL " DIR_TAKE ") INSERT INTO session("                  \
                        COPY_COLS_session(COPY_NAME_F, COPY_NAME_C) ",tags) VALUES("               \
                        COPY_COLS_session(COPY_MARK_F, COPY_MARK_C) ",(SELECT "                    \
                        "array_agg(t.tag ORDER BY t.tag) FROM tag t WHERE t.tree=$2 "              \
                        "AND t.session=$1))")                                                      \
    X(copy_session_cut, "WITH g AS (DELETE FROM session WHERE " PK_IS("", "no", "$1", "$3")        \
                        " AND " NO_INDEX("parent") "=$2 RETURNING id,tree,no) " DIR_DROP(1)        \
                        " AND no=(SELECT g.no FROM g)")                                            \
    X(copy_session_drop, "WITH g AS (DELETE FROM session WHERE " PK("", "no") " "                  \
                         "RETURNING id,tree,no) " DIR_DROP(1) " AND no=(SELECT g.no FROM g)")      \
    X(copy_session_free, "UPDATE session SET id=NULL WHERE (tree,no)=(SELECT i.tree,i.no FROM dir i " \
                         "WHERE i.id=$1 AND i.kind=1 AND i.no<>$2)")                               \
    X(copy_tree_add, "WITH d AS (INSERT INTO dir(id,kind,tree,no) VALUES($2,2,$1,0) " DIR_TAKE ") " \
                     COPY_ADD(tree))                                                               \
    X(copy_tree_cut, "WITH g AS (DELETE FROM tree WHERE tree=$1 RETURNING id,tree) "               \
                     DIR_DROP(2))                                                                  \
    X(copy_tree_free, "DELETE FROM tree WHERE tree=(SELECT i.tree FROM dir i "                     \
                      "WHERE i.id=$1 AND i.kind=2 AND i.tree<>$2)")                                \
    X(copy_turn_add, "WITH d AS (INSERT INTO dir(id,kind,tree,no) VALUES($1,3,$2,0) " DIR_TAKE ") " \
                     COPY_ADD(turn))                                                               \
    X(copy_turn_cut, "WITH g AS (DELETE FROM turn WHERE " PK_IS("", "id", "$1", "$4")              \
                     " AND " NO_INDEX("session") "=$2 AND started=$3 RETURNING id,tree) "          \
                     DIR_DROP(3))                                                                  \
    X(copy_turn_drop, "WITH g AS (DELETE FROM turn WHERE " PK("", "id") " RETURNING id,tree) "     \
                      DIR_DROP(3))                                                                 \
    /* Lists are ordered by time here anyway. */                                                   \
    X(copy_unordered, "SELECT 1 WHERE false")                                                      \
    X(copy_by_time, "SELECT 1")                                                                    \
    X(copy_counters, "UPDATE counter c SET next=greatest(c.next,v.n) FROM ("                       \
                     "SELECT 0 AS kind,coalesce(max(tree),0)+1 AS n FROM tree "                    \
                     "UNION ALL SELECT 1,coalesce(max(no),0)+1 FROM session "                      \
                     "UNION ALL SELECT 2,coalesce(max(id),0)+1 FROM branch "                       \
                     "UNION ALL SELECT 3,coalesce(max(no),0)+1 FROM verdict "                      \
                     "UNION ALL SELECT 4,coalesce(max(delete_op),0)+1 FROM session "               \
                     "UNION ALL SELECT 6,coalesce(max(no),0)+1 FROM remark) v "                    \
                     "WHERE c.kind=v.kind")
/* clang-format on */

#endif
