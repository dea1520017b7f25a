/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of sessions: reading, finding and inserting them.
 */
#include "core/session/session.h"

#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/session/session_cache.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>
#include <stdio.h>

void session_from(db_stmt *q, arena *a, session_full *s)
{
    *s = (session_full){
        .no = q_col_int(q, 0),
        .tree = q_col_int(q, 1),
        .id = q_keep_text(q, 2, a),
        .parent = q_col_int(q, 3),
        .depth = q_col_int(q, 4),
        .owner = q_keep_text(q, 5, a),
        .visibility = col_visibility(q, 6),
        .title = q_keep_text(q, 7, a),
        .agent = q_keep_text(q, 8, a),
        .agent_config = q_keep_text(q, 9, a),
        .metadata = q_keep_text(q, 10, a),
        .type = col_session_type(q, 11),
        .reason = q_keep_text(q, 12, a),
        .by_kind = col_actor(q, 13),
        .by_id = q_keep_text(q, 14, a),
        .fork_entry = q_keep_text(q, 15, a),
        .fork_side = col_fork_side(q, 16),
        .merged_into = q_col_int(q, 17),
        .first = q_col_int(q, 18),
        .first_adk = q_col_int(q, 19),
        .head = q_col_int(q, 20),
        .adk = q_col_int(q, 21),
        .undo = q_col_int(q, 22),
        .redo = q_col_int(q, 23),
        .moves = col_last(q, 24, "session.moves"),
        .archived = q_col_int(q, 25),
        .expires = q_col_int(q, 26),
        .created = q_col_int(q, 27),
        .updated = q_col_int(q, 28),
        .deleted = q_col_int(q, 29),
        .delete_op = q_col_int(q, 30),
        .purging = col_purging(q, 31),
        .seal = q_col_int(q, 32),
        .from_title = q_keep_text(q, 33, a),
        .stamp = SESSION_NO_STAMP,
    };
    if (!s->owner)
        s->owner = "";
    if (!s->title)
        s->title = "";
    if (!s->reason)
        s->reason = "";
    if (!s->from_title)
        s->from_title = "";
}

int64_t session_seal(sha *h, const session_full *s)
{
    char text[512];
    int n =
        snprintf(text, sizeof text, "%lld %lld %lld %lld %lld %d %d %s", (long long)s->no,
                 (long long)s->tree, (long long)s->parent, (long long)s->depth,
                 (long long)s->created, s->type, s->fork_side, s->fork_entry ? s->fork_entry : "");
    sha_begin(h);
    sha_add(h, text, (size_t)n);
    return sha_end_seal(h);
}

/* A damaged index could lead to another session. */
bool session_has_id(txn *tx, const session_access *s, const char *id)
{
    if (s->id && strcmp(s->id, id) == 0)
        return true;
    db_fail(tx->db, RAMET_DAMAGED, "the index of sessions is damaged: %s leads to another one", id);
    return false;
}

bool session_load(txn *tx, const char *id, session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_session_by_id);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found)
        session_from(q, tx->arena, s);
    q_end(q);
    return found && session_has_id(tx, &s->access, id);
}

bool session_by_no(txn *tx, int64_t tree, int64_t no, session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_session_by_no);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    bool found = q_row(q);
    if (found)
        session_from(q, tx->arena, s);
    q_end(q);
    return found;
}

bool session_gone(const txn *tx, const session_access *s)
{
    return s->deleted || s->purging || (s->expires && s->expires <= tx->now);
}

int64_t tree_number(txn *tx, const char *id)
{
    db_stmt *q = db_query(tx->db, Q_tree_by_id);
    q_text(q, 1, id);
    int64_t tree = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return tree;
}

/* ------------------------------------------------------------------- insert */

void session_insert(txn *tx, const session_full *s, const char *const *tags, size_t n_tags)
{
    assert(tx->writing);
    txn_assert(tx, s->id && s->first && s->created);
    db_stmt *q = db_query(tx->db, Q_session_add);
    q_int(q, 1, s->no);
    q_int(q, 2, s->tree);
    q_text(q, 3, s->id);
    q_int(q, 4, s->parent);
    q_int(q, 5, s->depth);
    q_text(q, 6, s->owner);
    q_int(q, 7, s->visibility);
    q_text(q, 8, s->title);
    q_text(q, 9, s->agent);
    q_text(q, 10, s->agent_config);
    q_text(q, 11, s->metadata);
    q_int(q, 12, s->type);
    q_text(q, 13, s->reason);
    q_int(q, 14, s->by_kind);
    q_text(q, 15, s->by_id);
    q_text(q, 16, s->fork_entry);
    q_int(q, 17, s->fork_side);
    q_int(q, 18, s->first);
    q_int(q, 19, s->first_adk);
    q_int(q, 20, s->expires);
    q_int(q, 21, s->created);
    q_int(q, 22, session_seal(tx->call->hasher, s));
    q_text(q, 23, s->from_title ? s->from_title : "");
    q_run(q);
    for (size_t i = 0; i < n_tags; i++) {
        q = db_query(tx->db, Q_tag_add);
        q_int(q, 1, s->tree);
        q_int(q, 2, s->no);
        q_text(q, 3, tags[i]);
        q_run(q);
    }
}

ramet_status session_id_free(txn *tx, const char *id)
{
    session_full s;
    if (!session_load(tx, id, &s))
        return txn_status(tx);
    /* Reveals nothing about other users' sessions: only a user who could restore it learns that it
     * can be. */
    if (session_gone(tx, &s.access) && session_visible(tx, &s.access))
        return call_fail(tx->call, RAMET_SESSION_DELETED, "id",
                         "session %s is deleted; restore it, or wait until gc has taken it", id);
    return call_fail(tx->call, RAMET_SESSION_EXISTS, "id", "the session id %s is taken", id);
}

void session_plant(txn *tx, session_full *s, const char *const *tags, size_t n_tags, branch_row *b)
{
    char tree[UUID_TEXT];
    branch_create(tx, NULL, 0, &s->brief, BRANCH_FIRST, s->created, RAMET_LOG_MAIN, RAMET_EXPLICIT,
                  b);
    s->first = s->head = b->meta.id;
    db_stmt *q = db_query(tx->db, Q_tree_add);
    q_int(q, 1, s->tree);
    q_text(q, 2, uuid7(tx->now, tree));
    q_int(q, 3, s->no);
    q_int(q, 4, tx->now);
    q_run(q);
    session_insert(tx, s, tags, n_tags);
}

void session_touch(txn *tx, const session_brief *s)
{
    db_stmt *q = db_query(tx->db, Q_session_touch);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, tx->now);
    q_run(q);
    session_cache_drop(tx, s->id);
}
