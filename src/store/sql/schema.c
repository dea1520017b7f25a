/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables, by schema version. docs/data-model.md describes what each is for.
 *
 * Positions are absolute; k = branch << 24 | position. Times are microseconds. "No row" is 0 in a
 * key column. key_id columns are for encryption at rest: 0 is clear text.
 *
 * One text serves both engines. On PostgreSQL the tables with the rows of trees are partitioned by
 * hash of the tree, which leads their keys; ids that are looked up without the tree are in `dir`.
 * The marks:
 *
 *   @KEY            a column that is the row's own number
 *   @KEYED(column)  the end of such a table: PostgreSQL's key is (tree, column)
 *   @SPREAD         the end of another table with the rows of trees
 *   @CLUSTERED      the end of a table that belongs to no tree
 *   @BYTES          the type of bytes
 *   @SQLITE{…}      only on SQLite, and @POSTGRES{…} only on PostgreSQL
 */
#include "store/sql/schema.h"

#include <stdio.h>

static const char step_1[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)@CLUSTERED;"
    "CREATE TABLE tree(tree @KEY, id TEXT NOT NULL, root BIGINT NOT NULL, created BIGINT NOT NULL"
    "@KEYED(tree);"
    "@SQLITE{CREATE UNIQUE INDEX tree_by_id ON tree(id);}"
    "CREATE TABLE member(tree BIGINT NOT NULL, user_id TEXT NOT NULL, level INT NOT NULL,"
    " PRIMARY KEY(tree,user_id))@SPREAD;"
    "CREATE INDEX member_by_user ON member(user_id,tree);"

    "CREATE TABLE session(no @KEY, tree BIGINT NOT NULL, id TEXT, parent BIGINT NOT NULL,"
    " depth INT NOT NULL, owner TEXT NOT NULL, visibility INT NOT NULL, title TEXT NOT NULL,"
    " title_key INT NOT NULL, agent TEXT, agent_config TEXT, metadata TEXT, type INT NOT NULL,"
    " reason TEXT NOT NULL, by_kind INT NOT NULL, by_id TEXT, fork_entry TEXT,"
    " fork_side INT NOT NULL, merged_into BIGINT NOT NULL, first BIGINT NOT NULL,"
    " first_adk BIGINT NOT NULL, head BIGINT NOT NULL, adk BIGINT NOT NULL, undo INT NOT NULL,"
    " redo INT NOT NULL, moves INT NOT NULL, archived INT NOT NULL, expires BIGINT NOT NULL,"
    " created BIGINT NOT NULL, updated BIGINT NOT NULL, deleted BIGINT NOT NULL,"
    " delete_op BIGINT NOT NULL, purging INT NOT NULL, seal BIGINT NOT NULL, from_title TEXT NOT "
    "NULL@KEYED(no);"
    "@SQLITE{CREATE UNIQUE INDEX session_by_id ON session(id);}"
    /* On PostgreSQL no index except the key begins with tree: while a table is small, or was never
     * analyzed, the planner chooses either, and would then walk all sessions of a tree to find
     * one. */
    "CREATE INDEX session_by_tree ON session@SQLITE{(tree,parent)}@POSTGRES{(parent,tree)};"
    "CREATE INDEX session_by_owner ON session(owner,created,no);"

    "CREATE TABLE branch(id @KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL, log INT NOT NULL,"
    " parent BIGINT NOT NULL, base INT NOT NULL, depth INT NOT NULL, jump BIGINT NOT NULL,"
    " jump_base INT NOT NULL, over BIGINT NOT NULL, delta BIGINT NOT NULL, type INT NOT NULL,"
    " created BIGINT NOT NULL, len INT NOT NULL, tip @BYTES NOT NULL, live INT NOT NULL,"
    " touched BIGINT NOT NULL, run INT NOT NULL@KEYED(id);"
    "CREATE INDEX branch_at ON branch@SQLITE{(tree,parent,base,session)}"
    "@POSTGRES{(parent,tree,base,session)};"

    "CREATE TABLE entry(k @KEY, tree BIGINT NOT NULL, id TEXT NOT NULL, hash @BYTES NOT NULL,"
    " role INT NOT NULL, channel TEXT, format TEXT, turn_id TEXT, author TEXT, client TEXT,"
    " created BIGINT NOT NULL, text TEXT, parts TEXT, body TEXT, flags INT NOT NULL,"
    " peer INT NOT NULL, key_id INT NOT NULL@KEYED(k);"
    /* Must not begin with tree: the planner would use it instead of the key range. */
    "@SQLITE{CREATE INDEX entry_by_id ON entry(id,tree);}"
    /* With concurrent writers, this rejects an id that another writer has just added to the same
     * branch; below its base nothing changes any more. */
    "@POSTGRES{CREATE UNIQUE INDEX entry_by_id ON entry(id,tree,(k>>24));}"
    "CREATE TABLE body(k @KEY, tree BIGINT NOT NULL, packed @BYTES NOT NULL, key_id INT NOT NULL"
    "@KEYED(k);"

    "CREATE TABLE usage(k @KEY, tree BIGINT NOT NULL, input BIGINT NOT NULL, output BIGINT NOT "
    "NULL,"
    " cached BIGINT NOT NULL, cost BIGINT NOT NULL, currency TEXT NOT NULL, n BIGINT NOT NULL,"
    " cum_input BIGINT NOT NULL, cum_output BIGINT NOT NULL, cum_cached BIGINT NOT NULL,"
    " cum_cost BIGINT NOT NULL, cum_currency TEXT NOT NULL, mixed INT NOT NULL@KEYED(k);"
    "CREATE TABLE delta(k @KEY, tree BIGINT NOT NULL, prev BIGINT NOT NULL, weight BIGINT NOT NULL,"
    " snap_len BIGINT NOT NULL, json TEXT NOT NULL, snap TEXT@KEYED(k);"
    "CREATE TABLE run(tree BIGINT NOT NULL, session BIGINT NOT NULL, log INT NOT NULL,"
    " rec BIGINT NOT NULL, k BIGINT NOT NULL, PRIMARY KEY(tree,session,log,rec))@SPREAD;"
    "CREATE TABLE move(tree BIGINT NOT NULL, session BIGINT NOT NULL, seq INT NOT NULL,"
    " kind INT NOT NULL, f BIGINT NOT NULL, t BIGINT NOT NULL, fa BIGINT NOT NULL,"
    " ta BIGINT NOT NULL, undo_under INT NOT NULL, redo_under INT NOT NULL, at BIGINT NOT NULL,"
    " who TEXT, why TEXT NOT NULL, PRIMARY KEY(tree,session,seq))@SPREAD;"
    "CREATE TABLE tag(tree BIGINT NOT NULL, session BIGINT NOT NULL, tag TEXT NOT NULL,"
    " PRIMARY KEY(tree,session,tag))@SPREAD;"
    "CREATE INDEX tag_by_name ON tag(tag,tree,session);"
    "CREATE TABLE verdict(no @KEY, tree BIGINT NOT NULL, sides TEXT NOT NULL, winner INT NOT NULL,"
    " reason TEXT NOT NULL, who TEXT, at BIGINT NOT NULL@KEYED(no);"
    "@SQLITE{CREATE INDEX verdict_by_tree ON verdict(tree,no);}"
    "CREATE TABLE event(no @KEY@POSTGRES{ PRIMARY KEY}, tree BIGINT NOT NULL,"
    " session BIGINT NOT NULL, kind INT NOT NULL, k BIGINT NOT NULL, n INT NOT NULL,"
    " at BIGINT NOT NULL);"

    /* Ids: of a session (kind 1), a tree (2) and a turn (3). */
    "@POSTGRES{CREATE TABLE dir(id TEXT NOT NULL, kind INT NOT NULL, tree BIGINT NOT NULL,"
    " no BIGINT NOT NULL, PRIMARY KEY(id,kind));"
    /* The next free number of each kind (db_kind). */
    "CREATE TABLE counter(kind INT PRIMARY KEY, next BIGINT NOT NULL);"
    "INSERT INTO counter(kind,next) SELECT kind,1 FROM generate_series(0,15) kind;"
    /* Committed events that have no number yet, in order of arrival. */
    "CREATE TABLE outbox(no BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, tree BIGINT NOT NULL,"
    " session BIGINT NOT NULL, kind INT NOT NULL, k BIGINT NOT NULL, n INT NOT NULL,"
    " at BIGINT NOT NULL);"
    /* Numbers need not rise with time there, and do not order a whole table. */
    "CREATE INDEX session_by_time ON session(created,no);"
    "CREATE INDEX session_ending ON session(no) WHERE deleted>0 OR expires>0 OR purging>0;"
    "CREATE INDEX verdict_by_no ON verdict(no);"
    /* The search index: see store/postgres/fulltext.c. */
    "CREATE TABLE word_state(one INT PRIMARY KEY CHECK(one=1), mark BIGINT NOT NULL,"
    " done BIGINT NOT NULL, scan_tree BIGINT NOT NULL, scan BIGINT NOT NULL, bytes BIGINT NOT NULL,"
    " top BIGINT NOT NULL, print TEXT NOT NULL);"
    "INSERT INTO word_state VALUES(1,0,0,0,0,0,0,'');"
    "CREATE TABLE word_span(block BIGINT PRIMARY KEY, lo BIGINT NOT NULL, hi BIGINT NOT NULL);"
    "CREATE TABLE word_tree(tree BIGINT PRIMARY KEY, owner BIGINT NOT NULL)"
    " PARTITION BY HASH(tree);"
    "CREATE INDEX word_tree_by_owner ON word_tree(owner,tree);"
    "CREATE TABLE words(tree BIGINT NOT NULL, k BIGINT NOT NULL, no BIGINT NOT NULL,"
    " session BIGINT NOT NULL, role INT NOT NULL, created BIGINT NOT NULL, bytes INT NOT NULL,"
    " unsure INT NOT NULL, tsv tsvector NOT NULL, PRIMARY KEY(tree,k)) PARTITION BY HASH(tree);"
    "CREATE INDEX words_by_word ON words USING gin(tsv);}";

/* Data of the server beside the conversations. A secret is stored only as its SHA-256, or encrypted
 * with a key that is stored so (once). */
static const char step_2[] =
    "CREATE TABLE once(user_id TEXT NOT NULL, scope TEXT NOT NULL, key @BYTES NOT NULL,"
    " digest @BYTES NOT NULL, status INT NOT NULL, answer @BYTES NOT NULL, size INT NOT NULL,"
    " expires BIGINT NOT NULL, PRIMARY KEY(user_id,scope,key))@CLUSTERED;"
    "CREATE INDEX once_by_time ON once(expires);"
    "CREATE TABLE share(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " secret @BYTES NOT NULL, write INT NOT NULL, who TEXT, created BIGINT NOT NULL,"
    " expires BIGINT NOT NULL)@CLUSTERED;"
    "CREATE UNIQUE INDEX share_by_secret ON share(secret);"
    "CREATE INDEX share_by_session ON share(tree,session);"
    "CREATE TABLE token(id TEXT PRIMARY KEY, secret @BYTES NOT NULL, user_id TEXT NOT NULL,"
    " client TEXT, roles TEXT NOT NULL, note TEXT NOT NULL, created BIGINT NOT NULL,"
    " expires BIGINT NOT NULL, used BIGINT NOT NULL, revoked BIGINT NOT NULL)@CLUSTERED;"
    "CREATE UNIQUE INDEX token_by_secret ON token(secret);"
    "CREATE TABLE attachment(id TEXT PRIMARY KEY, sha @BYTES NOT NULL, size BIGINT NOT NULL,"
    " name TEXT NOT NULL, media_type TEXT NOT NULL, owner TEXT NOT NULL, created BIGINT NOT NULL,"
    " expires BIGINT NOT NULL, key_id INT NOT NULL)@CLUSTERED;"
    "CREATE INDEX attachment_by_sha ON attachment(sha);"
    "CREATE INDEX attachment_by_time ON attachment(expires);"
    /* Which entries refer to an attachment: one row per entry, however many forks share it. */
    "CREATE TABLE attached(tree BIGINT NOT NULL, k BIGINT NOT NULL, attachment TEXT NOT NULL,"
    " PRIMARY KEY(tree,k,attachment))@SPREAD;"
    "CREATE INDEX attached_by_id ON attached(attachment);"
    "CREATE TABLE feedback(tree BIGINT NOT NULL, k BIGINT NOT NULL, user_id TEXT NOT NULL,"
    " value INT NOT NULL, comment TEXT NOT NULL, at BIGINT NOT NULL,"
    " PRIMARY KEY(tree,k,user_id))@SPREAD;";

/* Turns, and how they ended. */
static const char step_3[] =
    "CREATE TABLE turn(id TEXT @SQLITE{PRIMARY KEY}@POSTGRES{NOT NULL}, tree BIGINT NOT NULL, "
    "session BIGINT NOT NULL,"
    " branch BIGINT NOT NULL, agent TEXT, entry TEXT, grp TEXT, who TEXT, status INT NOT NULL,"
    " error TEXT NOT NULL, host TEXT, started BIGINT NOT NULL, ended BIGINT NOT NULL"
    "@POSTGRES{, PRIMARY KEY(tree,id)})@SPREAD;"
    "CREATE INDEX turn_by_session ON turn(tree,session,started);"
    /* Few turns run at a time. */
    "CREATE INDEX turn_running ON turn(branch) WHERE status=1;";

/* Where turns begin, by their names; data of A2A tasks apart from their messages; feedback that
 * names no entry. */
static const char step_4[] =
    "CREATE TABLE place(tree BIGINT NOT NULL, name TEXT NOT NULL, log INT NOT NULL,"
    " k BIGINT NOT NULL, PRIMARY KEY(tree,name,log,k))@SPREAD;"
    "INSERT INTO place(tree,name,log,k) SELECT e.tree,e.turn_id,b.log,min(e.k) FROM entry e"
    " JOIN branch b ON b.tree=e.tree AND b.id=(e.k>>24) WHERE e.turn_id IS NOT NULL"
    " GROUP BY e.tree,e.turn_id,b.log,b.id;"
    "CREATE TABLE task(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " data TEXT NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL,"
    " deleted BIGINT NOT NULL)@CLUSTERED;"
    "CREATE INDEX task_by_session ON task(tree,session,created);"
    "CREATE TABLE remark(no @KEY, user_id TEXT NOT NULL, message BIGINT, positive INT NOT NULL,"
    " text TEXT NOT NULL, issue TEXT NOT NULL, at BIGINT NOT NULL@POSTGRES{, PRIMARY KEY(no)});"
    "CREATE INDEX remark_by_user ON remark(user_id,no);";

/* stamp counts changes of the access rights in a tree: see core/session/rights.c. */
static const char step_5[] =
    "ALTER TABLE tree ADD COLUMN stamp BIGINT NOT NULL DEFAULT 0;"
    /* The content of attachments that is not stored in files; sha is a temporary key during the
     * upload (core/attachment/files_tables.c). It is not compressed: most of it is already. */
    "CREATE TABLE attach_part(sha @BYTES NOT NULL, n BIGINT NOT NULL, bytes @BYTES NOT NULL,"
    " PRIMARY KEY(sha,n))@CLUSTERED;"
    "@POSTGRES{ALTER TABLE attach_part ALTER COLUMN bytes SET STORAGE EXTERNAL;"
    /* Servers that are alive, and jobs that only one of them does (store/postgres/node_table.c). */
    "CREATE TABLE node(host TEXT PRIMARY KEY, seen BIGINT NOT NULL);"
    "CREATE TABLE job(name TEXT PRIMARY KEY, at BIGINT NOT NULL, runs BIGINT NOT NULL);}";

/* Which users have used a share link; the link may be gone. */
static const char step_6[] =
    "CREATE TABLE visit(user_id TEXT NOT NULL, share TEXT NOT NULL, at BIGINT NOT NULL,"
    " PRIMARY KEY(user_id,share))@CLUSTERED;";

/* How a session was created other than by forking, since when a user is a member, offers to
 * transfer trees, texts that entries are found by, files to fetch from a URL, and the user whose
 * level an event changed. */
static const char step_7[] =
    "ALTER TABLE member ADD COLUMN created BIGINT NOT NULL DEFAULT 0;"
    "UPDATE member SET created=(SELECT t.created FROM tree t WHERE t.tree=member.tree)"
    " WHERE EXISTS (SELECT 1 FROM tree t WHERE t.tree=member.tree);"
    "CREATE TABLE origin(tree BIGINT NOT NULL, session BIGINT NOT NULL, client TEXT NOT NULL,"
    " started_tree BIGINT NOT NULL, started BIGINT NOT NULL, started_entry TEXT,"
    " PRIMARY KEY(tree,session))@SPREAD;"
    "CREATE INDEX origin_by_started ON origin(started_tree,started,session);"
    "CREATE TABLE transfer(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " giver TEXT NOT NULL, taker TEXT NOT NULL, created BIGINT NOT NULL)@CLUSTERED;"
    "CREATE UNIQUE INDEX transfer_by_tree ON transfer(tree);"
    "CREATE INDEX transfer_by_giver ON transfer(giver,created,id);"
    "CREATE INDEX transfer_by_taker ON transfer(taker,created,id);"
    "CREATE TABLE indexed(tree BIGINT NOT NULL, k BIGINT NOT NULL, text TEXT NOT NULL,"
    " at BIGINT NOT NULL, PRIMARY KEY(tree,k))@SPREAD;"
    "CREATE TABLE errand(id TEXT PRIMARY KEY, url TEXT NOT NULL, name TEXT NOT NULL,"
    " media_type TEXT NOT NULL, owner TEXT NOT NULL, created BIGINT NOT NULL,"
    " expires BIGINT NOT NULL, failed INT NOT NULL)@CLUSTERED;"
    "CREATE INDEX errand_by_time ON errand(expires);"
    "ALTER TABLE event ADD COLUMN who TEXT;"
    "@POSTGRES{ALTER TABLE outbox ADD COLUMN who TEXT;}";

/* The present time in microseconds, and a time as the views show it. */
#define NOW_US                                                                                     \
    "@SQLITE{CAST(strftime('%s','now') AS INT)*1000000}"                                           \
    "@POSTGRES{CAST(extract(epoch FROM now())*1000000 AS bigint)}"
#define SHOWN(us)                                                                                  \
    "@SQLITE{strftime('%Y-%m-%d %H:%M:%f'," us "/1000000.0,'unixepoch')}"                          \
    "@POSTGRES{to_timestamp(" us "/1000000.0) AT TIME ZONE 'UTC'}"
#define LIVING                                                                                     \
    "s.id IS NOT NULL AND s.deleted=0 AND s.purging=0 AND (s.expires=0 OR s.expires>" NOW_US ")"

/* core/query/picker.c does the same for one session, and explains the terms. `own`: a branch of the
 * group itself; the entry that was there before it has no branch of its own in the group. The
 * arguments are conditions: on branches, on what a fork had inherited there (with a table that they
 * use), and on what the session itself had there before. */
/* clang-format off */
#define MESSAGE_BRANCHES(table, shown, inherited, replaced)                                        \
    "CREATE VIEW message_branches AS WITH RECURSIVE " table \
    "v(tree,session,g,p,owner,own) AS (" \
    "SELECT b.tree,b.session,b.parent,b.base,b.id,1 FROM branch b WHERE b.log=0 " \
    "AND b.len>b.base" shown \
    " UNION SELECT b.tree,b.session,b.parent,b.base,b.over,0 FROM branch b " \
    "WHERE b.log=0 AND b.over<>0" shown inherited \
    " UNION SELECT b.tree,b.session,b.parent,b.base,g.id,0 FROM branch b " \
    "JOIN branch g ON g.tree=b.tree AND g.id=b.parent " \
    "WHERE b.log=0 AND g.session=b.session AND g.len>b.base" shown replaced ")," \
    "w AS (SELECT v.tree,v.session,v.g,v.p,v.owner,v.own,e.k,e.created," \
    "count(*) OVER (PARTITION BY v.tree,v.session,v.g,v.p) AS n," \
    "min(CASE WHEN v.own=1 THEN v.owner END) OVER (PARTITION BY " \
    "v.tree,v.session,v.g,v.p) AS lead_," \
    "first_value(e.id) OVER (PARTITION BY v.tree,v.session,v.g,v.p ORDER BY " \
    "e.created,e.k) " \
    "AS message FROM v JOIN entry e ON e.tree=v.tree AND " \
    "e.k=v.owner*16777216+v.p)," \
    "x AS (SELECT " \
    "w.tree,w.session,w.g,w.p,w.owner,w.own,w.lead_,w.created,w.message," \
    "row_number() OVER (PARTITION BY w.tree,w.session,w.message ORDER BY " \
    "w.created,w.k) AS number " \
    "FROM w WHERE w.n>1)," \
    "up(tree,session,g,p,branch,reach) AS (" \
    "SELECT DISTINCT x.tree,x.session,x.g,x.p,x.g,x.p FROM x WHERE x.g<>0 " \
    "UNION ALL SELECT u.tree,u.session,u.g,u.p,b.parent,b.base FROM up u " \
    "JOIN branch b ON b.tree=u.tree AND b.id=u.branch WHERE b.parent<>0)," \
    "path(tree,session,branch,reach) AS (" \
    "SELECT s.tree,s.no,b.id,b.len FROM session s " \
    "JOIN branch b ON b.tree=s.tree AND b.id=s.head WHERE s.moves>0 " \
    "UNION ALL SELECT h.tree,h.session,b.parent,b.base FROM path h " \
    "JOIN branch b ON b.tree=h.tree AND b.id=h.branch WHERE b.parent<>0) " \
    "SELECT CASE WHEN x.own=1 THEN 2*x.owner ELSE 2*x.lead_+1 END AS id,s.id AS " \
    "session_id," \
    "x.message||'-branch-'||x.number AS branch_id,x.message AS message_id," \
    "x.number AS branch_number," \
    "(SELECT y.message||'-branch-'||y.number FROM up u JOIN x y ON y.tree=u.tree " \
    "AND y.session=u.session AND y.owner=u.branch AND y.p<u.reach WHERE " \
    "u.tree=x.tree " \
    "AND u.session=x.session AND u.g=x.g AND u.p=x.p ORDER BY y.p DESC LIMIT 1) " \
    "AS parent_branch_id,h.branch IS NOT NULL AS is_current," SHOWN( \
    "x.created") " AS created_at," \
    "CASE WHEN t.sandbox='' THEN 'default' ELSE t.sandbox END AS " \
    "sandbox_id " \
    "FROM x JOIN session s ON s.tree=x.tree AND s.no=x.session " \
    "JOIN tree t ON t.tree=x.tree " \
    "LEFT JOIN path h ON h.tree=x.tree AND h.session=x.session " \
    "AND h.branch=x.owner " \
    "AND x.p<h.reach WHERE " LIVING ";"
/* clang-format on */

/* Sandboxes, the sandbox of each tree ('': none), and AgentPod's two tables as views. */
static const char step_8[] =
    "CREATE TABLE sandbox(id TEXT PRIMARY KEY, owner TEXT NOT NULL, created BIGINT NOT NULL)"
    "@CLUSTERED;"
    "CREATE INDEX sandbox_by_owner ON sandbox(owner,id);"
    "ALTER TABLE tree ADD COLUMN sandbox TEXT NOT NULL DEFAULT '';"
    "CREATE INDEX tree_by_sandbox ON tree(sandbox) WHERE sandbox<>'';"

    "CREATE VIEW session_forks AS SELECT s.id AS id,p.id AS parent_session_id,"
    "s.fork_entry AS forked_at_message_id,CASE s.type WHEN 1 THEN 'auto-edit' "
    "WHEN 2 THEN 'auto-regenerate' ELSE 'explicit' END AS fork_type," SHOWN(
        "s.created") " AS "
                     "created_at,CASE s.by_kind WHEN 1 THEN 'system' ELSE 'user' END AS created_by,"
                     "@SQLITE{(SELECT json_group_array(g.tag) FROM (SELECT i.tag AS tag FROM tag i "
                     "WHERE i.tree=s.tree AND i.session=s.no ORDER BY i.tag) g)}"
                     "@POSTGRES{ARRAY(SELECT g.tag FROM tag g WHERE g.tree=s.tree AND "
                     "g.session=s.no "
                     "ORDER BY g.tag)} AS tags,nullif(s.reason,'') AS reason,"
                     /* PostgreSQL's jsonb does not accept U+0000. */
                     "CASE WHEN s.metadata LIKE '%agentConfig%' THEN "
                     "@SQLITE{json_extract(s.metadata,'$.agentConfig')}"
                     "@POSTGRES{CASE WHEN strpos(s.metadata,'\\u0000')=0 THEN "
                     "CAST(CAST(s.metadata AS json)->'agentConfig' AS jsonb) END} END AS "
                     "agent_config,"
                     "j.id AS merged_into,CASE WHEN t.sandbox='' THEN 'default' ELSE t.sandbox END "
                     "AS sandbox_id,"
                     "CASE WHEN s.parent<>0 AND s.from_title<>'' THEN 'Fork of '||s.from_title END "
                     "AS original_title FROM session s JOIN tree t ON t.tree=s.tree "
                     "LEFT JOIN session p ON p.tree=s.tree AND p.no=s.parent "
                     "LEFT JOIN session j ON j.tree=s.tree AND j.no=s.merged_into WHERE " LIVING ";"

    MESSAGE_BRANCHES("", "", "", "");

/* at: when a task reached its status, according to the client; 0: unknown. tags: those of the rows
 * in `tag`, so that a list by tag finds sessions with one lookup. Most have none, and are not in
 * the index. */
static const char step_9[] =
    "ALTER TABLE task ADD COLUMN at BIGINT NOT NULL DEFAULT 0;"
    "@SQLITE{UPDATE task SET at=coalesce(json_extract(data,'$.at'),0);}"
    "@POSTGRES{UPDATE task SET at=coalesce(CAST(CAST(data AS jsonb)->>'at' AS bigint),0);}"
    "CREATE INDEX task_by_time ON task(tree,session,at);"
    /* The first branch of a session is as old as the session. */
    "UPDATE branch SET created=(SELECT s.created FROM session s WHERE s.tree=branch.tree AND "
    "s.no=branch.session) WHERE EXISTS (SELECT 1 FROM session s WHERE s.tree=branch.tree AND "
    "s.no=branch.session AND s.first=branch.id AND s.created<>branch.created);"
    "@POSTGRES{ALTER TABLE session ADD COLUMN tags text[] COLLATE \"C\" NOT NULL DEFAULT "
    "ARRAY[]::text[];"
    "UPDATE session s SET tags=ARRAY(SELECT t.tag FROM tag t WHERE t.tree=s.tree AND "
    "t.session=s.no "
    "ORDER BY t.tag) WHERE EXISTS (SELECT 1 FROM tag t WHERE t.tree=s.tree AND t.session=s.no);"
    "CREATE INDEX session_by_tags ON session USING gin(tags) WHERE tags<>ARRAY[]::text[];}";

/* A session without tags has NULL there, which the condition of the index tests: for a comparison
 * the server would do setup work for each row added. Existing rows may have an empty array. put_…:
 * the row types of merged writes, with the parameters of one statement each
 * (store/postgres/batch.c). */
static const char step_10[] =
    "@POSTGRES{DROP INDEX session_by_tags;"
    "ALTER TABLE session ALTER COLUMN tags DROP NOT NULL, ALTER COLUMN tags DROP DEFAULT;"
    "CREATE INDEX session_by_tags ON session USING gin(tags) WHERE tags IS NOT NULL;"
    "CREATE TYPE put_stamp AS (tree BIGINT, stamp BIGINT);"
    "CREATE TYPE put_head AS (tree BIGINT, stamp BIGINT, id BIGINT, tip BYTEA);"
    "CREATE TYPE put_branch AS (id BIGINT, tree BIGINT, session BIGINT, log BIGINT, parent BIGINT,"
    " base BIGINT, depth BIGINT, jump BIGINT, jump_base BIGINT, over BIGINT, delta BIGINT,"
    " type BIGINT, created BIGINT, tip BYTEA);"
    "CREATE TYPE put_session AS (no BIGINT, tree BIGINT, id TEXT, parent BIGINT, depth BIGINT,"
    " owner TEXT, visibility BIGINT, title TEXT, agent TEXT, agent_config TEXT, metadata TEXT,"
    " type BIGINT, reason TEXT, by_kind BIGINT, by_id TEXT, fork_entry TEXT, fork_side BIGINT,"
    " head BIGINT, adk BIGINT, expires BIGINT, created BIGINT, seal BIGINT, from_title TEXT);"
    "CREATE TYPE put_growth AS (tree BIGINT, id BIGINT, len BIGINT, tip BYTEA, touched BIGINT,"
    " old BYTEA, live BIGINT, run BIGINT);"
    "CREATE TYPE put_entry AS (k BIGINT, tree BIGINT, id TEXT, hash BYTEA, role BIGINT,"
    " channel TEXT, format TEXT, turn_id TEXT, author TEXT, client TEXT, created BIGINT,"
    " text TEXT, parts TEXT, body TEXT, flags BIGINT, peer BIGINT);"
    "CREATE TYPE put_event AS (no BIGINT, tree BIGINT, session BIGINT, kind BIGINT, k BIGINT,"
    " n BIGINT, at BIGINT);}";

/* Where copies that a merge made came from: the n-th origin of the entry at k is the entry at
 * from_k of from_tree, as the session from_session had it; it stands for `span` entries of that
 * branch that end there (core/model/copied.c). What it names may be gone. */
static const char step_11[] =
    "CREATE TABLE copied(tree BIGINT NOT NULL, k BIGINT NOT NULL, n INT NOT NULL,"
    " from_tree BIGINT NOT NULL, from_session BIGINT NOT NULL, from_k BIGINT NOT NULL,"
    " span BIGINT NOT NULL, PRIMARY KEY(tree,k,n))@SPREAD;"
    "CREATE INDEX copied_by_origin ON copied(from_tree,from_k);"
    /* Few moves are merges. */
    "CREATE INDEX move_merges ON move(session) WHERE kind=8;";

/* overlay: of a branch, the set in force on it. A set is the row of its number and what `prev` and
 * `prev2` lead to (core/change/overlay.c); a number is of a tree, and no row changes. prompt: what
 * the agent of a turn was sent (core/turn/prompt.c). */
static const char step_12[] =
    "ALTER TABLE branch ADD COLUMN overlay BIGINT NOT NULL DEFAULT 0;"
    "@POSTGRES{ALTER TYPE put_branch ADD ATTRIBUTE overlay BIGINT;}"
    "CREATE TABLE overlay(tree BIGINT NOT NULL, no BIGINT NOT NULL, prev BIGINT NOT NULL,"
    " prev2 BIGINT NOT NULL, size INT NOT NULL, bytes BIGINT NOT NULL, action INT NOT NULL,"
    " k BIGINT NOT NULL, removes BIGINT NOT NULL, text TEXT, ties TEXT, who TEXT,"
    " at BIGINT NOT NULL, seal BIGINT NOT NULL, PRIMARY KEY(tree,no))@SPREAD;"
    "CREATE TABLE prompt(tree BIGINT NOT NULL, turn TEXT NOT NULL, session BIGINT NOT NULL,"
    " branch BIGINT NOT NULL, len INT NOT NULL, agent TEXT NOT NULL,"
    " digest @BYTES NOT NULL, packed @BYTES NOT NULL, PRIMARY KEY(tree,turn))@SPREAD;";

/* Few copies stand for more than one entry. */
static const char step_13[] = "CREATE INDEX copied_spans ON copied(from_tree,from_k) WHERE span>1;";

#define NOT_PRUNED                                                                                 \
    " AND NOT EXISTS (SELECT 1 FROM branch_note n WHERE n.tree=b.tree AND n.session=b.session "    \
    "AND n.branch=b.id AND n.state>0)"

/* What is known about a branch beside its row: a name, whether its session opens at it, and whether
 * it was pruned (core/model/branch_note.c). There are rows only where one of these is set. */
static const char step_14[] =
    "CREATE TABLE branch_note(tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " branch BIGINT NOT NULL, name TEXT NOT NULL, favourite BIGINT NOT NULL,"
    " state BIGINT NOT NULL, pruned BIGINT NOT NULL, prune_op BIGINT NOT NULL,"
    " keep BIGINT NOT NULL, PRIMARY KEY(tree,session,branch))@CLUSTERED;"
    "CREATE INDEX branch_note_pruned ON branch_note(branch) WHERE state>0 AND state<3;"
    "DROP VIEW message_branches;" MESSAGE_BRANCHES(
        /* The branches that are left, where some were pruned, each with those of its session that
         * its path runs over: what it inherited lies below the least base of them. */
        "h(tree,session,branch,base,up) AS (SELECT b.tree,b.session,b.id,b.base,b.parent FROM "
        "branch b WHERE b.log=0 AND EXISTS (SELECT 1 FROM branch_note n WHERE n.tree=b.tree AND "
        "n.session=b.session AND n.state>0)" NOT_PRUNED
        " UNION ALL SELECT h.tree,h.session,h.branch,o.base,o.parent FROM h JOIN branch o ON "
        "o.tree=h.tree AND o.id=h.up WHERE o.session=h.session),",
        NOT_PRUNED,
        " AND (NOT EXISTS (SELECT 1 FROM branch_note n WHERE n.tree=b.tree AND "
        "n.session=b.session AND n.state>0) OR EXISTS (SELECT 1 FROM h WHERE h.tree=b.tree AND "
        "h.session=b.session GROUP BY h.branch HAVING min(h.base)>b.base))",
        " AND NOT EXISTS (SELECT 1 FROM branch_note n WHERE n.tree=g.tree AND n.session=g.session "
        "AND n.branch=g.id AND n.state>0 AND n.keep<=b.base)");

/* held: holds, of a session or of the whole tree (session 0); kind 0 is the hold of the tree's
 * owner, 1 an administrator's (core/access/hold.c). rule: the rules of retention, in order of `no`;
 * removed: the sessions that they have removed (core/upkeep/retention.c). */
static const char step_15[] =
    "CREATE TABLE held(tree BIGINT NOT NULL, session BIGINT NOT NULL, kind INT NOT NULL, who TEXT,"
    " at BIGINT NOT NULL, why TEXT NOT NULL, PRIMARY KEY(tree,session,kind))@SPREAD;"
    "CREATE TABLE rule(name TEXT PRIMARY KEY, no INT NOT NULL, age BIGINT NOT NULL,"
    " since INT NOT NULL, tag TEXT, agent TEXT, ephemeral INT NOT NULL, archived INT NOT NULL,"
    " private INT NOT NULL, who TEXT, at BIGINT NOT NULL)@CLUSTERED;"
    "CREATE TABLE removed(at BIGINT NOT NULL, id TEXT NOT NULL, tree TEXT NOT NULL,"
    " rule TEXT NOT NULL, entries BIGINT NOT NULL, who TEXT,"
    " PRIMARY KEY(at,id))@CLUSTERED;";

/* template: a session that is pinned after `len` entries of a branch, and `adk_len` of the adk log;
 * `most`: how often its placeholders occur in one entry, at most. fill, of a session that was made
 * from one: what its placeholders stand for. filled, of a branch: how many entries at the start of
 * its path that is meant for (core/model/fill.c). */
static const char step_16[] =
    "ALTER TABLE branch ADD COLUMN filled BIGINT NOT NULL DEFAULT 0;"
    "@POSTGRES{ALTER TYPE put_branch ADD ATTRIBUTE filled BIGINT;}"
    "ALTER TABLE session ADD COLUMN fill TEXT;"
    "CREATE TABLE template(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " branch BIGINT NOT NULL, len BIGINT NOT NULL, adk_branch BIGINT NOT NULL,"
    " adk_len BIGINT NOT NULL, name TEXT NOT NULL, placeholders TEXT NOT NULL,"
    " most BIGINT NOT NULL, who TEXT NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL)"
    "@CLUSTERED;"
    "CREATE INDEX template_by_session ON template(tree,session,id);"
    "CREATE INDEX template_by_user ON template(who,id);";

/* Entries whose content was erased: the digest that the hash chain needs, and who erased it, when
 * and why (core/erase/erase.c). */
static const char step_17[] =
    "CREATE TABLE erased(tree BIGINT NOT NULL, k BIGINT NOT NULL, digest @BYTES NOT NULL,"
    " at BIGINT NOT NULL, who TEXT, why TEXT NOT NULL, PRIMARY KEY(tree,k))@SPREAD;";

/* push: where the changes of A2A tasks are sent to, and what was sent last (core/ext/push.c). seal,
 * of a branch: a digest of what never changes about it; 0: it was made by an older version. */
static const char step_18[] =
    "ALTER TABLE branch ADD COLUMN seal BIGINT NOT NULL DEFAULT 0;"
    "@POSTGRES{ALTER TYPE put_branch ADD ATTRIBUTE seal BIGINT;}"
    "CREATE TABLE push(task TEXT NOT NULL, id TEXT NOT NULL, tree BIGINT NOT NULL,"
    " session BIGINT NOT NULL, owner TEXT NOT NULL, wire INT NOT NULL, config @BYTES NOT NULL,"
    " sent BIGINT NOT NULL, tries BIGINT NOT NULL, due BIGINT NOT NULL, created BIGINT NOT NULL,"
    " PRIMARY KEY(task,id))@CLUSTERED;"
    "CREATE INDEX push_by_session ON push(tree,session);"
    "CREATE INDEX push_by_owner ON push(owner,due);"
    "CREATE INDEX push_by_due ON push(due,task,id);";

const schema_step schema_steps[] = {
    {1, step_1},   {2, step_2},   {3, step_3},   {4, step_4},   {5, step_5},   {6, step_6},
    {7, step_7},   {8, step_8},   {9, step_9},   {10, step_10}, {11, step_11}, {12, step_12},
    {13, step_13}, {14, step_14}, {15, step_15}, {16, step_16}, {17, step_17}, {18, step_18}};
const size_t schema_n_steps = sizeof schema_steps / sizeof schema_steps[0];

static ramet_status check(db *d, int64_t have, int64_t newest, bool create, char *message)
{
    if (have > newest) {
        snprintf(
            message, 512,
            "the store has schema version %lld and this Ramet knows up to %lld; use a newer Ramet",
            (long long)have, (long long)newest);
        return RAMET_NEWER;
    }
    if (db_marked(d) && have > 0)
        return RAMET_OK;
    if (!db_empty(d)) {
        snprintf(message, 512, "it is a database of something else, not a Ramet store");
        return RAMET_NOT_A_STORE;
    }
    if (!create) {
        snprintf(message, 512, "it is empty, not a Ramet store");
        return RAMET_NOT_A_STORE;
    }
    return RAMET_OK;
}

/* An older store is upgraded only when it has the tables that it must have. */
static bool has_tables(db *d)
{
    for (int kind = 0; kind < DB_REMARK; kind++) /* those of the first version */
        db_highest(d, (db_kind)kind);
    return db_status(d) == RAMET_OK;
}

static ramet_status migrate(db *d, const schema_step *steps, size_t n, bool create, char *message)
{
    /* Checked again under the lock: another process may have upgraded it meanwhile. */
    int64_t have = db_version(d);
    ramet_status st = check(d, have, steps[n - 1].version, create, message);
    if (st != RAMET_OK)
        return st;
    if (have > 0 && !has_tables(d)) {
        snprintf(message, 512, "%s", db_message(d));
        return db_status(d);
    }
    for (size_t i = 0; i < n; i++) {
        if (steps[i].version <= have)
            continue;
        st = db_script(d, steps[i].script);
        if (st != RAMET_OK) {
            snprintf(message, 512, "schema step %lld failed: %s", (long long)steps[i].version,
                     db_message(d));
            return st;
        }
    }
    db_mark(d);
    db_set_version(d, steps[n - 1].version);
    return db_status(d);
}

ramet_status schema_migrate(db *d, const schema_step *steps, size_t n, bool create, char *message)
{
    db_clear(d);
    int64_t newest = steps[n - 1].version, have = db_version(d);
    if (db_status(d) != RAMET_OK) {
        snprintf(message, 512, "%s", db_message(d));
        return db_status(d);
    }
    if (have == newest && db_marked(d))
        return RAMET_OK;
    ramet_status st = check(d, have, newest, create, message);
    if (st != RAMET_OK)
        return st;
    st = db_begin_schema(d);
    if (st == RAMET_OK) {
        st = migrate(d, steps, n, create, message);
        if (st == RAMET_OK) {
            st = db_commit(d);
            if (st == RAMET_OK)
                return st;
        } else {
            db_rollback(d);
            return st;
        }
    }
    snprintf(message, 512, "the schema could not be written: %s", db_message(d));
    return st;
}
