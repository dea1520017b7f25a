/* SPDX-License-Identifier: Apache-2.0
 *
 * sql.h: every statement of the store, once, by name.
 *
 * The text serves SQLite and PostgreSQL alike: parameters are $1…, "no row" is 0 and not NULL in
 * key columns, every statement on a tree's rows names the tree (the key leads with it where tables
 * are distributed), `k` packs a branch and an absolute position: k = branch << 24 | position.
 *
 * Facts are the tables of the schema; the statements named fts_ run on the search index, a file of
 * its own that can be rebuilt at any time.
 *
 * PostgreSQL makes one plan of a statement for all values, and keeps it as long as the connection.
 * It may have been made when the tables were empty, never analyzed, or analyzed long ago, so the
 * text must leave no choice that depends on their statistics. SQLite follows the text as it is. The
 * macros below expand to what either engine needs (sql.c); decision 0044 explains why each works.
 *
 *   PK(p, c)              the row with the primary key (tree, c)=($1,$2); p: the alias and a dot
 *   PK_IS(p, c, x, y)     the row with the primary key (tree, c)=(x, y)
 *   PK_LOOK(p, c, x, y)   the same at the end of LOOK
 *   PK_RANGE(p, c)        the rows of the tree $1 with c from $2 to $3
 *   AT_INDEX(a, b, x, y)  a=x and b=y, by an index that begins with (a, b) and by no other
 *   BY_INDEX(a, b, x, y)  where a=x and b>=y hold anyway: prefers an index that begins so
 *   NO_INDEX(n)           a number in a condition or an order that must not use an index
 *   NO_INDEX_TEXT(t)      the same for a text
 *   LOOK(t, a, on)        joins the table t as a: its rows are looked up for each row before it
 *   LOOK_LEFT(t, a, on)   the same as a LEFT JOIN
 *   APART                 the end of a subquery that is executed as it is written
 *   EITHER(s, p)          for SQLite, and for PostgreSQL
 *   HINT(text)            for PostgreSQL alone
 */
#ifndef STORE_SQL_SQL_H
#define STORE_SQL_SQL_H

/* One statement per row: keep the layout of the table. */
/* clang-format off */
#define HINT(text) EITHER("", text)
#define BY_INDEX(a, b, x, y) HINT("AND (" a "," b ")>=(" x "," y ") ")
#define AT_INDEX(a, b, x, y)                                                                       \
    EITHER(a "=" x " AND " b "=" y,                                                                \
           "(" a "," b ")>=(" x "," y ") AND (" a "," b ")<=(" x "," y ")")
#define PK_IS(p, c, x, y)                                                                          \
    p "tree=" x " AND " p c "=" y HINT(" AND (" p "tree," p c ")>=(" x "," y ")")
#define PK_LOOK(p, c, x, y)                                                                        \
    EITHER(p "tree=" x " AND " p c "=" y,                                                          \
           p "tree=" x " AND " p c ">=" y " AND " p c "<=" y " ORDER BY " p c)
#define PK(p, c) PK_IS(p, c, "$1", "$2")
#define PK_RANGE(p, c)                                                                             \
    p "tree=$1 AND " p c ">=$2 AND " p c "<=$3" HINT(" AND (" p "tree," p c ")>=($1,$2)")

#define NO_INDEX(number) EITHER(number, "(" number "+0)")
#define NO_INDEX_TEXT(text) EITHER(text, "(" text "||'')")
#define APART HINT(" OFFSET 0")
#define LOOK_JOIN(kind, table, alias, on, end)                                                     \
    EITHER(kind table " " alias " ON " on " ",                                                     \
           kind "LATERAL (SELECT * FROM " table " " alias " WHERE " on " OFFSET 0) " alias end)
#define LOOK(table, alias, on) LOOK_JOIN("CROSS JOIN ", table, alias, on, " ")
#define LOOK_LEFT(table, alias, on) LOOK_JOIN("LEFT JOIN ", table, alias, on, " ON true ")

#define SESSION_COLS                                                                               \
    "s.no,s.tree,s.id,s.parent,s.depth,s.owner,s.visibility,s.title,s.agent,s.agent_config,"       \
    "s.metadata,s.type,s.reason,s.by_kind,s.by_id,s.fork_entry,s.fork_side,s.merged_into,s.first," \
    "s.first_adk,s.head,s.adk,s.undo,s.redo,s.moves,s.archived,s.expires,s.created,s.updated,"     \
    "s.deleted,s.delete_op,s.purging,s.seal,s.from_title"
#define BRANCH_COLS                                                                                \
    "b.id,b.tree,b.session,b.log,b.parent,b.base,b.depth,b.jump,b.jump_base,b.over,b.delta,"       \
    "b.type,b.created,b.len,b.tip,b.live,b.touched,b.run,b.overlay,b.filled,b.seal"
#define ENTRY_COLS                                                                                 \
    "e.k,e.id,e.hash,e.role,e.channel,e.format,e.turn_id,e.author,e.client,e.created,e.text,"      \
    "e.parts,e.body,e.flags,e.peer"

/* New rows: the columns, and their values, where P(n) is the n-th parameter of the statement that
 * adds one. Shared with the statements that add many at once (store/postgres/batch.c). */
#define SESSION_ADD_COLS                                                                           \
    "no,tree,id,parent,depth,owner,visibility,title,agent,agent_config,metadata,type,reason,"      \
    "by_kind,by_id,fork_entry,fork_side,merged_into,first,first_adk,head,adk,undo,redo,moves,"     \
    "archived,expires,created,updated,deleted,delete_op,purging,title_key,seal,from_title"
#define SESSION_ADD_ROW(P)                                                                         \
    P(1) "," P(2) "," P(3) "," P(4) "," P(5) "," P(6) "," P(7) "," P(8) "," P(9) "," P(10) ","     \
    P(11) "," P(12) "," P(13) "," P(14) "," P(15) "," P(16) "," P(17) ",0," P(18) "," P(19) ","    \
    P(18) "," P(19) ",0,0,0,0," P(20) "," P(21) "," P(21) ",0,0,0,0," P(22) "," P(23)
#define BRANCH_ADD_COLS                                                                            \
    "id,tree,session,log,parent,base,depth,jump,jump_base,over,delta,type,created,len,tip,live,"   \
    "touched,run,overlay,filled,seal"
#define BRANCH_ADD_ROW(P)                                                                          \
    P(1) "," P(2) "," P(3) "," P(4) "," P(5) "," P(6) "," P(7) "," P(8) "," P(9) "," P(10) ","     \
    P(11) "," P(12) "," P(13) "," P(6) "," P(14) ",1," P(13) ",0," P(15) "," P(16) "," P(17)
#define ENTRY_ADD_COLS                                                                             \
    "k,tree,id,hash,role,channel,format,turn_id,author,client,created,text,parts,body,flags,peer," \
    "key_id"
#define PARAM(n) "$" #n

/* The branches that are, or were, a head of a session. */
#define BRANCHES_OF                                                                                \
    "SELECT f FROM move WHERE tree=$1 AND session=$2 "                                             \
    "UNION SELECT t FROM move WHERE tree=$1 AND session=$2 "                                       \
    "UNION SELECT fa FROM move WHERE tree=$1 AND session=$2 "                                      \
    "UNION SELECT ta FROM move WHERE tree=$1 AND session=$2 "                                      \
    "UNION SELECT first FROM session WHERE " PK("", "no") " "                                      \
    "UNION SELECT first_adk FROM session WHERE " PK("", "no") " "                                  \
    "UNION SELECT head FROM session WHERE " PK("", "no") " "                                       \
    "UNION SELECT adk FROM session WHERE " PK("", "no")

#define BY_ID "WHERE s.no=(SELECT i.no FROM session i WHERE i.id=$1)"
/* The rows that are read with a session for the user $2. */
#define SESSION_LOOKS                                                                              \
    LOOK_LEFT("tree", "t", "t.tree=s.tree")                                                        \
    LOOK_LEFT("member", "m", "m.tree=s.tree AND m.user_id=$2")                                     \
    LOOK_LEFT("branch", "b", PK_IS("b.", "id", "s.tree", "s.head"))

#define STATEMENTS(X)                                                                              \
    /* -- meta and numbers */                                                                      \
    X(meta_get, "SELECT value FROM meta WHERE key=$1")                                             \
    X(meta_set, "INSERT INTO meta(key,value) VALUES($1,$2) "                                       \
                "ON CONFLICT(key) DO UPDATE SET value=excluded.value")                             \
    X(max_tree, "SELECT coalesce(max(tree),0) FROM tree")                                          \
    X(max_session, "SELECT no,created FROM session ORDER BY no DESC LIMIT 1")                      \
    X(max_branch, "SELECT coalesce(max(id),0) FROM branch")                                        \
    X(max_event, "SELECT coalesce(max(no),0) FROM event")                                          \
    X(min_event, "SELECT coalesce(min(no),0) FROM event")                                          \
    X(max_verdict, "SELECT coalesce(max(no),0) FROM verdict")                                      \
    /* -- trees and members */                                                                     \
    X(tree_add, "INSERT INTO tree(tree,id,root,created) VALUES($1,$2,$3,$4)")                      \
    X(tree_id, "SELECT id FROM tree WHERE tree=$1")                                                \
    X(tree_by_id, "SELECT tree FROM tree WHERE id=$1")                                             \
    X(tree_all, "SELECT tree FROM tree WHERE tree>$1 ORDER BY tree LIMIT $2")                      \
    X(tree_stamp, "UPDATE tree SET stamp=stamp+1 WHERE tree=$1")                                   \
    /* Guards (store/db.h). A fork protects the session that it comes from against gc. */          \
    X(guard_tree, "SELECT 1 FROM tree WHERE tree=$1 AND stamp=$2")                                 \
    X(guard_fork, "SELECT 1 FROM tree t JOIN branch b ON b.tree=t.tree WHERE t.tree=$1 "           \
                  "AND t.stamp=$2 AND b.id=$3 AND b.tip=$4 AND b.live=1")                          \
    X(hold_tree, "SELECT 1 FROM tree WHERE tree=$1")                                               \
    X(tree_del, "DELETE FROM tree WHERE tree=$1")                                                  \
    X(member_level, "SELECT level FROM member WHERE tree=$1 AND user_id=$2")                       \
    X(member_all, "SELECT user_id,level,created FROM member WHERE tree=$1 ORDER BY level DESC,user_id") \
    X(member_set, "INSERT INTO member(tree,user_id,level,created) VALUES($1,$2,$3,$4) "            \
                  "ON CONFLICT(tree,user_id) DO UPDATE SET level=excluded.level")                  \
    X(member_del, "DELETE FROM member WHERE tree=$1 AND user_id=$2")                               \
    X(member_clear, "DELETE FROM member WHERE tree=$1")                                            \
    X(member_trees, "SELECT tree FROM member WHERE user_id=$1 ORDER BY tree LIMIT $2")             \
    /* -- sessions */                                                                              \
    /* Through the number, so that the id comes from the row and not from the index. */            \
    X(session_by_id, "SELECT " SESSION_COLS " FROM session s " BY_ID)                              \
    X(session_by_no, "SELECT " SESSION_COLS " FROM session s WHERE " PK("s.", "no"))               \
    X(session_name, "SELECT s.id,s.owner,s.visibility FROM session s WHERE " PK("s.", "no"))       \
    /* With the caller's level, the tree's id and the head, so that one query opens a session. */  \
    X(session_open, "SELECT " SESSION_COLS ",coalesce(m.level,0),t.id,t.stamp," BRANCH_COLS        \
                    " FROM session s " SESSION_LOOKS BY_ID)                                        \
    X(session_brief, "SELECT s.no,s.tree,s.owner,s.visibility,s.head,s.adk,s.first_adk,s.expires," \
                     "s.deleted,s.purging,s.id,coalesce(m.level,0),t.stamp," BRANCH_COLS           \
                     " FROM session s " SESSION_LOOKS BY_ID)                                       \
    X(session_add,                                                                                 \
      "INSERT INTO session(" SESSION_ADD_COLS ") VALUES(" SESSION_ADD_ROW(PARAM) ")")              \
    X(session_set,                                                                                 \
      "UPDATE session SET title=$3,agent=$4,agent_config=$5,metadata=$6,archived=$7,"              \
      "visibility=$8,merged_into=$9,expires=$10,updated=$11 WHERE " PK("", "no"))                  \
    X(session_touch, "UPDATE session SET updated=$3 WHERE " PK("", "no") " AND updated<$3")        \
    X(session_move, "UPDATE session SET head=$3,adk=$4,undo=$5,redo=$6,moves=$7,updated=$8 "       \
                    "WHERE " PK("", "no"))                                                         \
    X(session_adk, "UPDATE session SET adk=$3,"                                                    \
                   "first_adk=CASE WHEN first_adk=0 THEN $3 ELSE first_adk END "                   \
                   "WHERE " PK("", "no"))                                                          \
    X(session_deleted, "UPDATE session SET deleted=$3,delete_op=$4,expires=$5,updated=$6 "         \
                       "WHERE " PK("", "no"))                                                      \
    X(session_purging, "UPDATE session SET purging=1 WHERE " PK("", "no"))                         \
    X(session_tomb,                                                                                \
      "UPDATE session SET id=NULL,title='',from_title='',agent=NULL,agent_config=NULL,metadata=NULL,reason=''," \
      "fill=NULL,by_id=NULL,fork_entry=NULL,owner='',first=0,first_adk=0,head=0,adk=0,purging=2 "            \
      "WHERE " PK("", "no"))                                                                       \
    X(session_del, "DELETE FROM session WHERE " PK("", "no"))                                      \
    X(session_of_tree, "SELECT " SESSION_COLS " FROM session s WHERE s.tree=$1 "                   \
                       "ORDER BY " NO_INDEX("s.created") ",s.no")                                  \
    /* Not sorted: sorting all these columns takes as long as the rest of the query. */            \
    X(session_heads, "SELECT " SESSION_COLS                                                        \
                     ",b.len,b.tip,b.touched,a.len,a.tip,a.touched,f.base FROM session s "         \
                     LOOK_LEFT("branch", "b", PK_IS("b.", "id", "s.tree", "s.head"))               \
                     LOOK_LEFT("branch", "a", PK_IS("a.", "id", "s.tree", "s.adk"))                \
                     LOOK_LEFT("branch", "f", PK_IS("f.", "id", "s.tree", "s.first"))              \
                     "WHERE s.tree=$1")                                                            \
    X(session_children, "SELECT " SESSION_COLS " FROM session s WHERE "                            \
                        AT_INDEX("s.parent", "s.tree", "$2", "$1")                                 \
                        " ORDER BY " NO_INDEX("s.created") ",s.no")                                \
    X(session_has_children, "SELECT 1 FROM session s WHERE "                                       \
                            AT_INDEX("s.parent", "s.tree", "$2", "$1") " LIMIT 1")                 \
    /* Numbers of sessions rise with time. */                                                      \
    X(session_newest, "SELECT " SESSION_COLS " FROM session s WHERE s.no<$2 "                      \
                      "ORDER BY s.no DESC LIMIT $3")                                               \
    X(session_by_time, "SELECT " SESSION_COLS " FROM session s WHERE (s.created,s.no)<($1,$2) "    \
                       "ORDER BY s.created DESC,s.no DESC LIMIT $3")                               \
    X(session_owned, "SELECT " SESSION_COLS " FROM session s "                                     \
                     EITHER("WHERE s.owner=$1 AND (s.created,s.no)<($2,$3) ORDER BY ",             \
                            "WHERE s.owner>=$1 AND (s.owner,s.created,s.no)<($1,$2,$3) "           \
                            "ORDER BY s.owner DESC,")                                              \
                     "s.created DESC,s.no DESC LIMIT $4")                                          \
    X(session_in_tree, "SELECT " SESSION_COLS " FROM session s "                                   \
                       "WHERE s.tree=$1 AND (" NO_INDEX("s.created") ",s.no)<($2,$3) "             \
                       "ORDER BY " NO_INDEX("s.created") " DESC,s.no DESC LIMIT $4")               \
    X(session_tagged, "SELECT " SESSION_COLS " FROM tag t "                                        \
                      "CROSS JOIN session s WHERE s.tree=t.tree AND s.no=t.session "               \
                      "AND t.tag=$1 AND (s.created<$2 OR (s.created=$2 AND s.no<$3)) "             \
                      "ORDER BY s.created DESC,s.no DESC LIMIT $4")                                \
    X(session_of_member, "SELECT " SESSION_COLS " FROM member m "                                  \
                         LOOK("session", "s", "s.tree=m.tree AND (" NO_INDEX("s.created")          \
                              ",s.no)<($2,$3)" HINT(" ORDER BY s.no"))                             \
                         "WHERE m.user_id=$1 " BY_INDEX("m.user_id", "m.tree", "$1", "0")          \
                         "ORDER BY s.created DESC,s.no DESC LIMIT $4")                             \
    X(session_dead, "SELECT s.tree,s.no FROM session s WHERE s.no>$1 AND s.purging<2 AND "         \
                    "((s.deleted>0 AND s.deleted<=$2) OR s.purging=1 OR "                          \
                    "(s.expires>0 AND s.expires<=$2)) ORDER BY s.no LIMIT $3")                     \
    X(session_expired, "SELECT count(*) FROM session s WHERE s.deleted=0 AND s.purging=0 "         \
                       "AND s.expires>0 AND s.expires<=$1")                                        \
    X(session_counts,                                                                              \
      "SELECT count(*),coalesce(sum(CASE WHEN parent<>0 THEN 1 ELSE 0 END),0) FROM session "       \
      "WHERE deleted=0 AND purging=0 AND (expires=0 OR expires>$1)")                               \
    X(session_count_deleted, "SELECT count(*) FROM session WHERE purging<2 AND "                   \
                             "(deleted>0 OR (expires>0 AND expires<=$1))")                         \
    X(tree_count, "SELECT count(*) FROM tree")                                                     \
    X(branch_count, "SELECT count(*),coalesce(sum(len-base),0) FROM branch")                       \
    /* -- tags */                                                                                  \
    X(tag_add, "INSERT INTO tag(tree,session,tag) VALUES($1,$2,$3) "                               \
               "ON CONFLICT(tree,session,tag) DO NOTHING")                                         \
    X(tag_del, "DELETE FROM tag WHERE tree=$1 AND session=$2 AND tag=$3")                          \
    X(tag_clear, "DELETE FROM tag WHERE tree=$1 AND session=$2")                                   \
    X(tag_of, "SELECT tag FROM tag WHERE tree=$1 AND session=$2 ORDER BY tag")                     \
    X(tag_has, "SELECT 1 FROM tag WHERE tree=$1 AND session=$2 AND tag=$3")                        \
    X(tag_of_tree, "SELECT session,tag FROM tag WHERE tree=$1 ORDER BY session,tag")               \
    X(tag_sessions, "SELECT t.tag,coalesce(m.level,0),s.owner,s.visibility,s.deleted,s.expires,"   \
                    "s.purging FROM tag t CROSS JOIN session s "                                   \
                    "LEFT JOIN member m ON m.tree=t.tree AND m.user_id=$1 "                        \
                    "WHERE s.tree=t.tree AND s.no=t.session ORDER BY t.tag,t.tree,t.session")      \
    /* -- branches */                                                                              \
    X(branch_get, "SELECT " BRANCH_COLS " FROM branch b WHERE " PK("b.", "id"))                    \
    /* For callers that use only what never changes: not len, tip, live, touched and run. */       \
    X(branch_lineage, "SELECT " BRANCH_COLS " FROM branch b WHERE " PK("b.", "id"))                \
    X(branch_add,                                                                                  \
      "INSERT INTO branch(" BRANCH_ADD_COLS ") VALUES(" BRANCH_ADD_ROW(PARAM) ")")                 \
    X(branch_grow, "UPDATE branch SET len=$3,tip=$4,touched=$5,run=1 WHERE tree=$1 AND id=$2 "     \
                   "AND tip=$6 AND live=$7 AND run=$8")                                            \
    X(branch_live, "UPDATE branch SET live=$3 WHERE " PK("", "id"))                                \
    X(branch_run_off, "UPDATE branch SET run=0 WHERE " PK("", "id"))                               \
    X(branch_shrink, "UPDATE branch SET len=$3,tip=$4,live=0,run=0 WHERE " PK("", "id"))           \
    X(branch_del, "DELETE FROM branch WHERE " PK("", "id"))                                        \
    X(branch_group, "SELECT b.id,b.len,b.over FROM branch b WHERE "                                \
                    AT_INDEX("b.parent", "b.tree", "$2", "$1")                                     \
                    " AND b.base=$3 AND b.session=$4 AND b.log=$5 ORDER BY b.created,b.id")        \
    X(branch_off, "SELECT b.id,b.session,b.base,b.len FROM branch b WHERE "                        \
                  AT_INDEX("b.parent", "b.tree", "$2", "$1")                                       \
                  " AND b.base>$3 AND b.base<=$4 ORDER BY b.base,b.created,b.id")                  \
    X(branch_off_root, "SELECT b.id,b.session,b.base,b.len FROM branch b WHERE "                   \
                       AT_INDEX("b.parent", "b.tree", "0", "$1")                                   \
                       " AND b.base=0 AND b.log=0 ORDER BY b.created,b.id")                        \
    X(branch_of_tree, "SELECT " BRANCH_COLS " FROM branch b WHERE b.tree=$1 ORDER BY b.id")        \
    X(branch_of_session,                                                                           \
      "SELECT " BRANCH_COLS " FROM (" BRANCHES_OF ") x "                                           \
      LOOK("branch", "b", PK_IS("b.", "id", "$1", "x.f")) "WHERE b.session=$2 "                    \
      "ORDER BY b.created,b.id")                                                                   \
    /* -- entries */                                                                               \
    X(entry_add,                                                                                   \
      "INSERT INTO entry(" ENTRY_ADD_COLS ") "                                                     \
      "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,0)")                          \
    X(entry_get, "SELECT " ENTRY_COLS " FROM entry e WHERE " PK("e.", "k"))                        \
    X(entry_range, "SELECT " ENTRY_COLS " FROM entry e WHERE " PK_RANGE("e.", "k") " "             \
                   "ORDER BY e.k")                                                                 \
    /* Several ranges, in the order given; an empty one is from 1 to 0. */                         \
    X(entry_segments,                                                                              \
      "SELECT " ENTRY_COLS " FROM (VALUES(1,$2,$3),(2,$4,$5),(3,$6,$7),(4,$8,$9),(5,$10,$11),"     \
      "(6,$12,$13),(7,$14,$15),(8,$16,$17),(9,$18,$19),(10,$20,$21)) r CROSS JOIN entry e "        \
      "WHERE e.tree=$1 AND e.k>=r.column2 AND e.k<=r.column3 ORDER BY r.column1,e.k")              \
    X(entry_range_desc, "SELECT " ENTRY_COLS " FROM entry e "                                      \
                        "WHERE " PK_RANGE("e.", "k") " ORDER BY e.k DESC")                         \
    X(entry_hash, "SELECT e.hash FROM entry e WHERE " PK("e.", "k"))                               \
    X(entry_name, "SELECT e.id,e.created,e.hash FROM entry e WHERE " PK("e.", "k"))                \
    X(entry_peer, "SELECT e.peer FROM entry e WHERE " PK("e.", "k"))                               \
    /* An id is on a branch only once, so the order by branch is also that by key. */              \
    X(entry_by_id, "SELECT e.k FROM entry e WHERE e.id=$2 AND e.tree=$1 "                          \
                   "ORDER BY " EITHER("e.k", "(e.k>>24)") " DESC")                                 \
    X(entry_del, "DELETE FROM entry WHERE " PK_RANGE("", "k"))                                     \
    X(entry_sizes, "SELECT coalesce(sum(length(coalesce(e.text,''))+length(coalesce(e.parts,''))+" \
                   "length(coalesce(e.body,''))+160),0) FROM entry e "                             \
                   "WHERE " PK_RANGE("e.", "k"))                                                   \
    X(body_add, "INSERT INTO body(k,tree,packed,key_id) VALUES($1,$2,$3,0)")                       \
    X(body_get, "SELECT packed FROM body WHERE tree=$1 AND k=$2")                                  \
    X(body_del, "DELETE FROM body WHERE tree=$1 AND k>=$2 AND k<=$3")                              \
    X(body_sizes, "SELECT coalesce(sum(length(packed)),0) FROM body "                              \
                  "WHERE tree=$1 AND k>=$2 AND k<=$3")                                             \
    /* -- usage: cum_ are running sums within the branch */                                        \
    X(usage_add,                                                                                   \
      "INSERT INTO usage(k,tree,input,output,cached,cost,currency,n,cum_input,cum_output,"         \
      "cum_cached,cum_cost,mixed,cum_currency) "                                                   \
      "VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14)")                                    \
    X(usage_get, "SELECT input,output,cached,cost,currency FROM usage WHERE tree=$1 AND k=$2")     \
    X(usage_last, "SELECT n,cum_input,cum_output,cum_cached,cum_cost,cum_currency,mixed "          \
                  "FROM usage WHERE tree=$1 AND k>=$2 AND k<=$3 ORDER BY k DESC LIMIT 1")          \
    X(usage_by_currency, "SELECT currency,sum(cost) FROM usage WHERE tree=$1 AND k>=$2 AND k<=$3 " \
                         "AND currency<>'' GROUP BY currency ORDER BY currency")                   \
    X(usage_del, "DELETE FROM usage WHERE tree=$1 AND k>=$2 AND k<=$3")                            \
    /* -- state: deltas, linked along the path; now and then with a snapshot */                    \
    X(delta_add, "INSERT INTO delta(k,tree,prev,weight,snap_len,json,snap) "                       \
                 "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                   \
    X(delta_get, "SELECT prev,weight,snap_len,json,snap FROM delta WHERE tree=$1 AND k=$2")        \
    X(delta_json, "SELECT json FROM delta WHERE tree=$1 AND k=$2")                                 \
    X(delta_last, "SELECT k FROM delta WHERE tree=$1 AND k>=$2 AND k<=$3 ORDER BY k DESC LIMIT 1") \
    X(delta_del, "DELETE FROM delta WHERE tree=$1 AND k>=$2 AND k<=$3")                            \
    /* -- the record and the head log */                                                           \
    X(run_last, "SELECT rec,k FROM run WHERE tree=$1 AND session=$2 AND log=$3 "                   \
                "ORDER BY rec DESC LIMIT 1")                                                       \
    X(run_at, "SELECT rec,k FROM run WHERE tree=$1 AND session=$2 AND log=$3 AND rec<=$4 "         \
              "ORDER BY rec DESC LIMIT 1")                                                         \
    X(run_after, "SELECT rec,k FROM run WHERE tree=$1 AND session=$2 AND log=$3 AND rec>$4 "       \
                 "ORDER BY rec LIMIT 1")                                                           \
    X(run_on_branch, "SELECT k FROM run WHERE tree=$1 AND session=$2 AND log=$3 AND rec>$4 "       \
                     "AND k>=$5 AND k<=$6 ORDER BY rec LIMIT 1")                                   \
    X(run_add, "INSERT INTO run(tree,session,log,rec,k) VALUES($1,$2,$3,$4,$5)")                   \
    X(run_del, "DELETE FROM run WHERE tree=$1 AND session=$2")                                     \
    X(run_all, "SELECT log,rec,k FROM run WHERE tree=$1 AND session=$2 ORDER BY log,rec")          \
    X(move_add, "INSERT INTO move(tree,session,seq,kind,f,t,fa,ta,undo_under,redo_under,at,who,"   \
                "why) VALUES($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)")                         \
    X(move_get, "SELECT kind,f,t,fa,ta,undo_under,redo_under FROM move "                           \
                "WHERE tree=$1 AND session=$2 AND seq=$3")                                         \
    X(move_adk_of, "SELECT fa FROM move WHERE tree=$1 AND session=$2 AND f=$3 "                    \
                   "ORDER BY seq DESC LIMIT 1")                                                    \
    X(move_page, "SELECT seq,kind,f,t,at,who,why,fa,ta FROM move "                                 \
                 "WHERE tree=$1 AND session=$2 AND seq<$3 ORDER BY seq DESC LIMIT $4")             \
    X(move_del, "DELETE FROM move WHERE tree=$1 AND session=$2")                                   \
    /* -- verdicts */                                                                              \
    X(verdict_add, "INSERT INTO verdict(no,tree,sides,winner,reason,who,at) "                      \
                   "VALUES($1,$2,$3,$4,$5,$6,$7)")                                                 \
    X(verdict_page, "SELECT no,tree,sides,winner,reason,who,at FROM verdict WHERE no<$1 "          \
                    "ORDER BY no DESC LIMIT $2")                                                   \
    X(verdict_of_tree, "SELECT no,tree,sides,winner,reason,who,at FROM verdict "                   \
                       "WHERE tree=$1 AND no<$2 ORDER BY no DESC LIMIT $3")                        \
    X(verdict_del_tree, "DELETE FROM verdict WHERE tree=$1")                                       \
    /* -- events: what happened, in commit order */                                                \
    X(event_add, "INSERT INTO event(no,tree,session,kind,k,n,at) VALUES($1,$2,$3,$4,$5,$6,$7)")    \
    X(event_member, "INSERT INTO event(no,tree,session,kind,k,n,at,who) "                          \
                    "VALUES($1,$2,$3,$4,$5,$6,$7,$8)")                                             \
    X(event_after, "SELECT no,tree,session,kind,k,n,at,who FROM event WHERE no>$1 "                \
                   "ORDER BY no LIMIT $2")                                                         \
    /* -- for the search index */                                                                  \
    /* The texts that an entry is found by, and where it is; then the owner of its tree, if the    \
     * index is in the same database: the number if known, or the name of a new one. */            \
    X(event_texts,                                                                                 \
      "SELECT e.k,v.tree,e.role,e.text,e.flags,e.created,b.log,b.session,NULL,NULL,i.text,"        \
      "v.no,v.tree,v.session,v.kind,v.k,v.n,v.at FROM "                                            \
      "(SELECT no,tree,session,kind,k,n,at FROM event WHERE no>$1 ORDER BY no LIMIT $2) v "        \
      "LEFT JOIN branch b ON v.kind>=$3 AND b.tree=v.tree AND b.id=v.k/16777216 "                  \
      "LEFT JOIN entry e ON v.kind>=$3 AND e.tree=v.tree AND e.k>=v.k AND e.k<v.k+v.n "            \
      "LEFT JOIN indexed i ON i.tree=e.tree AND i.k=e.k")                                          \
    X(entry_scan, "SELECT e.k,e.tree,e.role,e.text,e.flags,e.created,b.log,b.session,NULL,NULL,"   \
                  "i.text FROM entry e LEFT JOIN branch b ON b.tree=e.tree AND b.id=e.k/16777216 " \
                  "LEFT JOIN indexed i ON i.tree=e.tree AND i.k=e.k "                              \
                  "WHERE e.k>$2 ORDER BY e.k LIMIT $3")                                            \
    X(entry_found, "SELECT e.id,e.text,e.flags,i.text FROM entry e "                               \
                   LOOK_LEFT("indexed", "i", "i.tree=e.tree AND i.k=e.k") "WHERE " PK("e.", "k"))  \
    ATTACH_STATEMENTS(X)                                                                           \
    EVENT_STATEMENTS(X)                                                                            \
    UPKEEP_STATEMENTS(X)                                                                           \
    SHARE_STATEMENTS(X)                                                                            \
    TURN_STATEMENTS(X)                                                                             \
    COPY_STATEMENTS(X)                                                                             \
    TASK_STATEMENTS(X)                                                                             \
    SANDBOX_STATEMENTS(X)                                                                          \
    ORIGIN_STATEMENTS(X)                                                                           \
    MERGE_STATEMENTS(X)                                                                            \
    OVERLAY_STATEMENTS(X)                                                                          \
    NOTE_STATEMENTS(X)                                                                             \
    RETENTION_STATEMENTS(X)                                                                        \
    TEMPLATE_STATEMENTS(X)                                                                         \
    PUSH_STATEMENTS(X)                                                                             \
    ERASE_STATEMENTS(X)                                                                            \
    X(event_get, "SELECT no,tree,session,kind,k,n,at FROM event WHERE no=$1")                      \
    X(user_trees, "SELECT tree FROM member WHERE user_id=$1 "                                      \
                  "UNION SELECT tree FROM session WHERE owner=$1 ORDER BY 1")                      \
    X(tag_trees, "SELECT DISTINCT tree FROM tag WHERE tag=$1 ORDER BY tree LIMIT $2")              \
    /* Sessions with a branch below this one, and how many entries of it they hold. UNION          \
     * terminates even when the file is damaged. */                                                \
    X(branch_heirs,                                                                                \
      "WITH RECURSIVE heir(id,reach,session) AS ("                                                 \
      "SELECT b.id,b.base,b.session FROM branch b WHERE "                                          \
      AT_INDEX("b.parent", "b.tree", "$2", "$1") " UNION SELECT b.id,h.reach,b.session "           \
      "FROM heir h " LOOK("branch", "b", AT_INDEX("b.parent", "b.tree", "h.id", "$1")) ") "        \
      "SELECT session,max(reach) FROM heir GROUP BY session ORDER BY session")                     \
    FTS_STATEMENTS(X)

/* clang-format on */

#include "store/sql/attachment_sql.h"
#include "store/sql/copy_sql.h"
#include "store/sql/erase_sql.h"
#include "store/sql/event_sql.h"
#include "store/sql/merge_sql.h"
#include "store/sql/search_sql.h"
#include "store/sql/sandbox_sql.h"
#include "store/sql/note_sql.h"
#include "store/sql/origin_sql.h"
#include "store/sql/overlay_sql.h"
#include "store/sql/push_sql.h"
#include "store/sql/retention_sql.h"
#include "store/sql/template_sql.h"
#include "store/sql/share_sql.h"
#include "store/sql/task_sql.h"
#include "store/sql/turn_sql.h"
#include "store/sql/upkeep_sql.h"

typedef enum {
#define X(name, text) Q_##name,
    STATEMENTS(X)
#undef X
        Q_COUNT
} sql_id;

/* The text of a statement, and its name. Few have another text on PostgreSQL (postgres_sql.h). */
const char *sql_text(sql_id q);
const char *sql_text_postgres(sql_id q);
const char *sql_name(sql_id q);
/* Why it may run in a guarded transaction; NULL: it may not (guarded_sql.h). */
const char *sql_guarded(sql_id q);

#endif
