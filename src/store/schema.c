/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables. docs/data-model.md tells what each is for.
 *
 * Positions are absolute; k = branch << 24 | position. Times are microseconds.
 * "No row" is 0 in a key column. key_id columns are for encryption at rest: 0
 * is clear text.
 */
#include "store/schema.h"

#include <stdio.h>

static const char step_1[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL)@CLUSTERED;"
    "CREATE TABLE tree(tree @KEY, id TEXT NOT NULL, root BIGINT NOT NULL, created BIGINT NOT NULL);"
    "CREATE UNIQUE INDEX tree_by_id ON tree(id);"
    "CREATE TABLE member(tree BIGINT NOT NULL, user_id TEXT NOT NULL, level INT NOT NULL,"
    " PRIMARY KEY(tree,user_id))@CLUSTERED;"
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
    "NULL);"
    "CREATE UNIQUE INDEX session_by_id ON session(id);"
    "CREATE INDEX session_by_tree ON session(tree,parent);"
    "CREATE INDEX session_by_owner ON session(owner,created,no);"

    "CREATE TABLE branch(id @KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL, log INT NOT NULL,"
    " parent BIGINT NOT NULL, base INT NOT NULL, depth INT NOT NULL, jump BIGINT NOT NULL,"
    " jump_base INT NOT NULL, over BIGINT NOT NULL, delta BIGINT NOT NULL, type INT NOT NULL,"
    " created BIGINT NOT NULL, len INT NOT NULL, tip @BYTES NOT NULL, live INT NOT NULL,"
    " touched BIGINT NOT NULL, run INT NOT NULL);"
    "CREATE INDEX branch_at ON branch(tree,parent,base,session);"

    "CREATE TABLE entry(k @KEY, tree BIGINT NOT NULL, id TEXT NOT NULL, hash @BYTES NOT NULL,"
    " role INT NOT NULL, channel TEXT, format TEXT, turn_id TEXT, author TEXT, client TEXT,"
    " created BIGINT NOT NULL, text TEXT, parts TEXT, body TEXT, flags INT NOT NULL,"
    " peer INT NOT NULL, key_id INT NOT NULL);"
    /* Must not begin with tree: the planner would take it instead of the key range. */
    "CREATE INDEX entry_by_id ON entry(id,tree);"
    "CREATE TABLE body(k @KEY, tree BIGINT NOT NULL, packed @BYTES NOT NULL, key_id INT NOT NULL);"

    "CREATE TABLE usage(k @KEY, tree BIGINT NOT NULL, input BIGINT NOT NULL, output BIGINT NOT "
    "NULL,"
    " cached BIGINT NOT NULL, cost BIGINT NOT NULL, currency TEXT NOT NULL, n BIGINT NOT NULL,"
    " cum_input BIGINT NOT NULL, cum_output BIGINT NOT NULL, cum_cached BIGINT NOT NULL,"
    " cum_cost BIGINT NOT NULL, cum_currency TEXT NOT NULL, mixed INT NOT NULL);"
    "CREATE TABLE delta(k @KEY, tree BIGINT NOT NULL, prev BIGINT NOT NULL, weight BIGINT NOT NULL,"
    " snap_len BIGINT NOT NULL, json TEXT NOT NULL, snap TEXT);"
    "CREATE TABLE run(tree BIGINT NOT NULL, session BIGINT NOT NULL, log INT NOT NULL,"
    " rec BIGINT NOT NULL, k BIGINT NOT NULL, PRIMARY KEY(tree,session,log,rec))@CLUSTERED;"
    "CREATE TABLE move(tree BIGINT NOT NULL, session BIGINT NOT NULL, seq INT NOT NULL,"
    " kind INT NOT NULL, f BIGINT NOT NULL, t BIGINT NOT NULL, fa BIGINT NOT NULL,"
    " ta BIGINT NOT NULL, undo_under INT NOT NULL, redo_under INT NOT NULL, at BIGINT NOT NULL,"
    " who TEXT, why TEXT NOT NULL, PRIMARY KEY(tree,session,seq))@CLUSTERED;"
    "CREATE TABLE tag(tree BIGINT NOT NULL, session BIGINT NOT NULL, tag TEXT NOT NULL,"
    " PRIMARY KEY(tree,session,tag))@CLUSTERED;"
    "CREATE INDEX tag_by_name ON tag(tag,tree,session);"
    "CREATE TABLE verdict(no @KEY, tree BIGINT NOT NULL, sides TEXT NOT NULL, winner INT NOT NULL,"
    " reason TEXT NOT NULL, who TEXT, at BIGINT NOT NULL);"
    "CREATE INDEX verdict_by_tree ON verdict(tree,no);"
    "CREATE TABLE event(no @KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL, kind INT NOT NULL,"
    " k BIGINT NOT NULL, n INT NOT NULL, at BIGINT NOT NULL);";

/* What a server keeps beside the conversations. Secrets are kept as SHA-256 alone, or sealed by a
 * key that is kept so (once). */
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
    /* Which entries refer to an attachment: a row an entry, however many forks share it. */
    "CREATE TABLE attached(tree BIGINT NOT NULL, k BIGINT NOT NULL, attachment TEXT NOT NULL,"
    " PRIMARY KEY(tree,k,attachment))@CLUSTERED;"
    "CREATE INDEX attached_by_id ON attached(attachment);"
    "CREATE TABLE feedback(tree BIGINT NOT NULL, k BIGINT NOT NULL, user_id TEXT NOT NULL,"
    " value INT NOT NULL, comment TEXT NOT NULL, at BIGINT NOT NULL,"
    " PRIMARY KEY(tree,k,user_id))@CLUSTERED;";

/* Answers being made, and how they ended. */
static const char step_3[] =
    "CREATE TABLE turn(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " branch BIGINT NOT NULL, agent TEXT, entry TEXT, grp TEXT, who TEXT, status INT NOT NULL,"
    " error TEXT NOT NULL, host TEXT, started BIGINT NOT NULL, ended BIGINT NOT NULL)@CLUSTERED;"
    "CREATE INDEX turn_by_session ON turn(tree,session,started);"
    /* Few run at a time. */
    "CREATE INDEX turn_running ON turn(branch) WHERE status=1;";

/* Where turns begin, by their names; what faces know about A2A tasks beside their messages;
 * opinions that name no entry. */
static const char step_4[] =
    "CREATE TABLE place(tree BIGINT NOT NULL, name TEXT NOT NULL, log INT NOT NULL,"
    " k BIGINT NOT NULL, PRIMARY KEY(tree,name,log,k))@CLUSTERED;"
    "INSERT INTO place(tree,name,log,k) SELECT e.tree,e.turn_id,b.log,min(e.k) FROM entry e"
    " JOIN branch b ON b.tree=e.tree AND b.id=(e.k>>24) WHERE e.turn_id IS NOT NULL"
    " GROUP BY e.tree,e.turn_id,b.log,b.id;"
    "CREATE TABLE task(id TEXT PRIMARY KEY, tree BIGINT NOT NULL, session BIGINT NOT NULL,"
    " data TEXT NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL,"
    " deleted BIGINT NOT NULL)@CLUSTERED;"
    "CREATE INDEX task_by_session ON task(tree,session,created);"
    "CREATE TABLE remark(no @KEY, user_id TEXT NOT NULL, message BIGINT, positive INT NOT NULL,"
    " text TEXT NOT NULL, issue TEXT NOT NULL, at BIGINT NOT NULL);"
    "CREATE INDEX remark_by_user ON remark(user_id,no);";

const schema_step schema_steps[] = {{1, step_1}, {2, step_2}, {3, step_3}, {4, step_4}};
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
        snprintf(message, 512, "the file is a database, but not a Ramet store");
        return RAMET_NOT_A_STORE;
    }
    if (!create) {
        snprintf(message, 512, "the file is empty, not a Ramet store");
        return RAMET_NOT_A_STORE;
    }
    return RAMET_OK;
}

/* An older store is added to only when what it must have is there. */
static bool has_tables(db *d)
{
    static const sql_id each[] = {Q_max_tree, Q_max_session, Q_max_branch, Q_max_event,
                                  Q_max_verdict};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        db_stmt *q = db_query(d, each[i]);
        q_row(q);
        q_end(q);
    }
    return db_status(d) == RAMET_OK;
}

static ramet_status migrate(db *d, const schema_step *steps, size_t n, bool create, char *message)
{
    /* Looked at again under the lock: another process may have upgraded it meanwhile. */
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
    st = db_begin_write(d);
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
