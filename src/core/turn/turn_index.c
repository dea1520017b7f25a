/* SPDX-License-Identifier: Apache-2.0
 *
 * The turn index (table `place`): where a turn begins, by its id or another name (an invocation),
 * so that a cut before it does not read the history.
 *
 *   P1  A row is written with an entry that names a turn which its path does not hold yet. So the
 *       first entry of a turn on any path has one. Under another name of the turn the row points at
 *       the question: the last message of the user in that turn at or before the entry.
 *   P2  It is only an index. A row may belong to an entry that is gone: every entry is looked up on
 *       the path before it counts, and branch numbers are never reused.
 */
#include "core/turn/turn_index.h"

#include "ramet/tasks.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <assert.h>

void turn_index_add(txn *tx, int64_t tree, const char *name, ramet_log log, int64_t k)
{
    assert(tx->writing);
    db_stmt *q = db_query(tx->db, Q_place_add);
    q_int(q, 1, tree);
    q_text(q, 2, name);
    q_int(q, 3, log);
    q_int(q, 4, k);
    q_run(q);
}

typedef VEC(int64_t) key_list;

static void turn_index_keys(txn *tx, int64_t tree, const char *name, int log, key_list *out)
{
    db_stmt *q = db_query(tx->db, Q_place_of);
    q_int(q, 1, tree);
    q_text(q, 2, name);
    q_int(q, 3, log);
    while (q_row(q))
        VEC_PUSH(tx->arena, out, q_col_int(q, 0));
}

static bool key_on(txn *tx, const branch_meta *head, int64_t len, int64_t k)
{
    branch_meta o;
    return KEY_POS(k) < len && path_owner(tx, head, KEY_POS(k), &o) && o.id == KEY_BRANCH(k);
}

int64_t turn_index_on_path(txn *tx, const branch_row *head, const char *name)
{
    key_list keys = {0};
    int64_t found = -1;
    turn_index_keys(tx, head->meta.tree, name, head->meta.log, &keys);
    for (size_t i = 0; i < keys.n; i++) {
        int64_t k = keys.items[i];
        if ((found < 0 || KEY_POS(k) < found) && key_on(tx, &head->meta, head->len, k))
            found = KEY_POS(k);
    }
    return found;
}

/* The number of an entry of the session in its record; -1: it is not in it. */
static int64_t record_number(txn *tx, const session_access *s, ramet_log log, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_run_holding);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, log);
    q_int(q, 4, KEY(KEY_BRANCH(k), 0));
    q_int(q, 5, k);
    int64_t rec = q_row(q) ? col_record(q, 0) + (KEY_POS(k) - KEY_POS(q_col_int(q, 1))) : -1;
    q_end(q);
    return rec;
}

/* `hidden`: what was pruned counts, too. */
static bool record_find(txn *tx, const session_access *s, int64_t first_branch, ramet_log log,
                        const char *name, int64_t but, bool hidden, branch_row *out, int64_t *pos)
{
    note_list notes = {0};
    key_list keys = {0};
    branch_row first = {0}, b;
    int64_t best = 0;
    bool found = false;
    turn_index_keys(tx, s->tree, name, (int)log, &keys);
    if (!keys.n || !first_branch || !branch_load(tx, s->tree, first_branch, &first))
        return false;
    if (!hidden)
        notes_of(tx, s->tree, s->no, &notes);
    for (size_t i = 0; i < keys.n; i++) {
        int64_t k = keys.items[i], order;
        if (k == but || notes_hide(&notes, k) || !branch_load(tx, s->tree, KEY_BRANCH(k), &b) ||
            KEY_POS(k) >= b.len)
            continue;
        if (b.meta.session == s->no)
            order = POS_MAX + 1 + record_number(tx, s, log, k);
        else if (key_on(tx, &first.meta, first.meta.base, k))
            order = KEY_POS(k);
        else
            continue;
        if (found && order >= best)
            continue;
        found = true;
        best = order;
        *out = b;
        *pos = KEY_POS(k);
    }
    return found;
}

bool turn_index_in_record(txn *tx, const session_access *s, int64_t first_branch, ramet_log log,
                          const char *name, int64_t but, branch_row *out, int64_t *pos)
{
    return record_find(tx, s, first_branch, log, name, but, false, out, pos);
}

bool turn_index_ever(txn *tx, const session_access *s, int64_t first_branch, ramet_log log,
                     const char *name)
{
    branch_row b;
    int64_t pos;
    return record_find(tx, s, first_branch, log, name, 0, true, &b, &pos);
}

/* ------------------------------------------------------------------- noting */

int64_t turn_question_start(txn *tx, const branch_meta *path, int64_t end)
{
    entry_kind kind, last = {0};
    int64_t at = end;
    for (; at > 0 && entry_kind_at(tx, path, at - 1, &kind) && kind.role == RAMET_USER; at--) {
        if (at < end && !(last.turn && kind.turn && strcmp(last.turn, kind.turn) == 0))
            break;
        last = kind;
    }
    return at;
}

/* The position of the question that the entry at `pos`, the last of the path, belongs to: searches
 * back to where its turn begins. */
static int64_t question_of(txn *tx, const branch_row *b, int64_t pos, const entry_new *e)
{
    entry_kind kind;
    int64_t at = pos, first = turn_index_on_path(tx, b, e->entry.turn_id);
    bool asked = e->entry.role == RAMET_USER;
    for (int64_t p = pos - 1; first >= 0 && p >= first && entry_kind_at(tx, &b->meta, p, &kind);
         p--) {
        bool own = kind.turn && strcmp(kind.turn, e->entry.turn_id) == 0;
        if (asked && (!own || kind.role != RAMET_USER))
            break;
        if (own)
            at = p;
        asked = asked || (own && kind.role == RAMET_USER);
    }
    /* The question may belong to another turn, named by the client that asks and not by the agent
     * that answers: it is just before. */
    return asked ? at : turn_question_start(tx, &b->meta, at);
}

void turn_index_note(txn *tx, const branch_row *b, const entry_new *e, const char *last_turn)
{
    const char *turn = e->entry.turn_id, *name = e->in->invocation;
    branch_meta o;
    if (!turn)
        return;
    if (!(last_turn && strcmp(last_turn, turn) == 0) && turn_index_on_path(tx, b, turn) < 0)
        turn_index_add(tx, b->meta.tree, turn, (ramet_log)b->meta.log, KEY(b->meta.id, b->len));
    if (!name || strcmp(name, turn) == 0 || turn_index_on_path(tx, b, name) >= 0)
        return;
    int64_t pos = question_of(tx, b, b->len, e);
    if (pos == b->len)
        turn_index_add(tx, b->meta.tree, name, (ramet_log)b->meta.log, KEY(b->meta.id, pos));
    else if (path_owner(tx, &b->meta, pos, &o))
        turn_index_add(tx, b->meta.tree, name, (ramet_log)b->meta.log, KEY(o.id, pos));
}

void turn_index_name(txn *tx, const branch_row *b, const char *turn, const char *name)
{
    entry_kind kind;
    branch_meta o;
    int64_t at = -1, first = turn_index_on_path(tx, b, turn);
    bool asked = false;
    if (first < 0 || strcmp(name, turn) == 0 || turn_index_on_path(tx, b, name) >= 0)
        return;
    for (int64_t p = b->len - 1; p >= first && entry_kind_at(tx, &b->meta, p, &kind); p--) {
        bool own = kind.turn && strcmp(kind.turn, turn) == 0;
        if (asked && (!own || kind.role != RAMET_USER))
            break;
        if (own)
            at = p;
        asked = asked || (own && kind.role == RAMET_USER);
    }
    if (at >= 0 && path_owner(tx, &b->meta, at, &o))
        turn_index_add(tx, b->meta.tree, name, (ramet_log)b->meta.log, KEY(o.id, at));
}

/* ------------------------------------------------------------------ looking */

static ramet_status find_run(txn *tx, const char *session, ramet_log log, const char *turn,
                             ramet_turn_at *out)
{
    session_full s;
    branch_row b;
    int64_t pos;
    TRY(session_open(tx, session, log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_READ, &s));
    int64_t head = log == RAMET_LOG_ADK ? s.adk : s.head;
    int64_t first = log == RAMET_LOG_ADK ? s.first_adk : s.first;
    if (head && branch_load(tx, s.tree, head, &b) &&
        (pos = turn_index_on_path(tx, &b, turn)) >= 0) {
        *out = (ramet_turn_at){.on_path = true, .branch = head, .position = pos};
        return txn_status(tx);
    }
    if (turn_index_in_record(tx, &s.access, first, log, turn, 0, &b, &pos)) {
        *out = (ramet_turn_at){.branch = b.meta.id, .position = pos};
        return txn_status(tx);
    }
    TRY(txn_status(tx));
    return call_fail(tx->call, RAMET_TURN_NOT_FOUND, "turn", "session %s never had a turn %s",
                     session, turn);
}

ramet_status ramet_turn_find(ramet_call *c, const char *session, ramet_log log, const char *turn,
                             ramet_turn_at *out)
{
    txn tx;
    *out = (ramet_turn_at){0};
    TRY(check_id(c, "turn", turn));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, find_run(&tx, session, log, turn, out));
}
