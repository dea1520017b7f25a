/* SPDX-License-Identifier: Apache-2.0
 *
 * Beginning a turn: the message, the edit or the regenerate that it answers, and its row, in one
 * commit. turn.c has the invariants.
 *
 * Where a regenerated answer begins (`regenerate`):
 *
 *   ""      after the last message of the user, so that the whole answer is replaced, its tool
 *           calls included; or after the last entry of the message that its turn answered, when
 *           that is later (a message may end with an entry of another role) or when the last
 *           message of the user answers a question of that turn. A message that has no answer yet
 *           is answered.
 *   ENTRY   at that entry, or further back where a tool call would be separated from its result.
 *           A message of the user only when it is the last entry: then it is answered.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/change/edit.h"
#include "core/idempotency.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/turn/prompt.h"
#include "core/turn/turn.h"
#include "core/txn.h"

#include <stdio.h>

typedef struct begin_job {
    const char *session;
    const ramet_turn_in *in;
    ramet_turn turn;  /* the row to be inserted */
    append_work work; /* the message; its fields also serve edit and regenerate */
    ramet_turn **out;
} begin_job;

/* ------------------------------------------------------- where an answer begins */

/* The position of the last message of the user on a path; -1 when there is none. */
static int64_t asked_last(txn *tx, const branch_row *head)
{
    int64_t pos = head->len - 1;
    branch_meta o;
    while (pos >= 0 && path_owner(tx, &head->meta, pos, &o)) {
        db_stmt *q = db_query(tx->db, Q_entry_asked);
        q_int(q, 1, o.tree);
        q_int(q, 2, KEY(o.id, o.base));
        q_int(q, 3, KEY(o.id, pos));
        int64_t k = q_row(q) ? q_col_int(q, 0) : 0;
        q_end(q);
        if (k)
            return KEY_POS(k);
        pos = o.base - 1;
    }
    return -1;
}

static void entry_part(txn *tx, int64_t tree, int64_t k, ramet_role *role, const char **turn)
{
    db_stmt *q = db_query(tx->db, Q_entry_part);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    bool found = q_row(q);
    *role = found ? col_role(q, 0) : 0;
    *turn = found ? q_keep_text(q, 1, tx->arena) : NULL;
    q_end(q);
}

/* The position of the last entry of the message that the turn of the last entry answered; -1 when
 * there is none. *id: that turn. A fork finds the turns of its ancestors. */
static int64_t answered_last(txn *tx, const branch_row *head, const char **id)
{
    branch_meta o;
    turn_row t;
    ramet_role role;
    const char *turn;
    int64_t k;
    if (!head->len || !path_owner(tx, &head->meta, head->len - 1, &o))
        return -1;
    entry_part(tx, o.tree, KEY(o.id, head->len - 1), &role, &turn);
    *id = turn;
    if (!turn || !turn_load(tx, turn, &t) || t.tree != o.tree || !t.shown.entry_id)
        return -1;
    return path_find(tx, head, t.shown.entry_id, &k);
}

static ramet_status cut_last(txn *tx, const branch_row *head, ramet_at *at)
{
    const char *turn = NULL, *of = NULL;
    ramet_role role;
    branch_meta o;
    int64_t asked = asked_last(tx, head), answered = answered_last(tx, head, &turn);
    int64_t last = asked > answered ? asked : answered;
    /* What the user says within a turn answers one of its questions. */
    if (answered >= 0 && asked > answered && path_owner(tx, &head->meta, asked, &o)) {
        entry_part(tx, o.tree, KEY(o.id, asked), &role, &of);
        if (of && strcmp(of, turn) == 0)
            last = answered;
    }
    TRY(txn_status(tx));
    if (last < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "regenerate",
                         "there is no message on the path that could be answered");
    *at = (ramet_at){path_entry_id(tx, head, last), RAMET_AFTER};
    return txn_status(tx);
}

static ramet_status cut_entry(txn *tx, const branch_row *head, const char *id, ramet_at *at)
{
    int64_t k = 0;
    ramet_role role;
    const char *turn;
    *at = (ramet_at){id, RAMET_BEFORE};
    int64_t pos = path_find(tx, head, id, &k);
    if (pos < 0)
        return txn_status(tx); /* the cut reports that it is missing */
    entry_part(tx, head->meta.tree, k, &role, &turn);
    if (role == RAMET_USER && pos == head->len - 1)
        at->side = RAMET_AFTER;
    else if (role == RAMET_USER)
        return call_fail(tx->call, RAMET_INVALID, "regenerate",
                         "entry %s is a message of the user; name an answer, or replace it", id);
    return txn_status(tx);
}

/* ------------------------------------------------------------------- beginning */

static ramet_status begin_branch(txn *tx, begin_job *j, branch_row *to)
{
    const ramet_turn_in *in = j->in;
    session_full s;
    branch_row head;
    edit_work w = {.list = j->work.list,
                   .n = j->work.n,
                   .kind = in->replace ? RAMET_MOVE_EDIT : RAMET_MOVE_REGENERATE,
                   .given = j->work.given,
                   .out = j->work.out};
    memcpy(w.expected, j->work.expected, HASH_LEN);
    TRY(session_open_head(tx, j->session, NEED_WRITE, &s, &head));
    if (in->replace) {
        w.at = (ramet_at){in->replace, RAMET_BEFORE};
    } else if (in->regenerate[0]) {
        w.cut = RAMET_CUT_SNAP_BEFORE;
        TRY(cut_entry(tx, &head, in->regenerate, &w.at));
    } else {
        TRY(cut_last(tx, &head, &w.at));
    }
    j->turn.session = s.id;
    return edit_do(tx, &s, &head, &w, to);
}

static ramet_status begin_append(txn *tx, begin_job *j, branch_row *b)
{
    session_brief s;
    TRY(session_open_brief(tx, j->session, NEED_WRITE, &s, b));
    TRY(turn_none_on(tx, &s));
    if (!j->work.n)
        TRY(head_check(tx, b, j->work.expected, j->work.given));
    TRY(append_do(tx, &s, b, &j->work));
    const ramet_append_out *a = j->work.out;
    /* A message that existed already is answered only while it is the last entry. */
    if (a->n && strcmp(a->entries[a->n - 1].id, a->head.entry_id) != 0)
        return call_fail(tx->call, RAMET_ENTRY_EXISTS, "id",
                         "entry %s is in the history already, and others came after it",
                         a->entries[a->n - 1].id);
    j->turn.session = arena_strdup(tx->arena, s.id);
    return RAMET_OK;
}

/* After the start of the last turn, whatever the clock did: the list is sorted by this time. */
static int64_t start_time(txn *tx, const branch_row *b)
{
    db_stmt *q = db_query(tx->db, Q_turn_last);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, b->meta.session);
    int64_t last = q_row(q) ? col_last(q, 0, "turn.started") : 0;
    q_end(q);
    return tx->now > last ? tx->now : last + 1;
}

static void turn_insert(txn *tx, const branch_row *b, const ramet_turn *t, const char *host)
{
    db_stmt *q = db_query(tx->db, Q_turn_add);
    q_text(q, 1, t->id);
    q_int(q, 2, b->meta.tree);
    q_int(q, 3, b->meta.session);
    q_int(q, 4, t->branch);
    q_text(q, 5, t->agent);
    q_text(q, 6, t->entry_id);
    q_text(q, 7, t->group);
    q_text(q, 8, t->by);
    q_text(q, 9, host);
    q_int(q, 10, t->started);
    q_run(q);
}

static ramet_status begin_run(txn *tx, void *arg)
{
    begin_job *j = arg;
    const ramet_turn_in *in = j->in;
    ramet_turn *t = arena_alloc(tx->arena, sizeof *t);
    branch_row b;
    turn_row taken;
    if (turn_load(tx, j->turn.id, &taken))
        return call_fail(tx->call, RAMET_INVALID, "id", "there is a turn with the id %s already",
                         j->turn.id);
    TRY(in->replace || in->regenerate ? begin_branch(tx, j, &b) : begin_append(tx, j, &b));
    *t = j->turn;
    t->branch = b.meta.id;
    t->entry_id = j->work.out->head.entry_id;
    t->started = start_time(tx, &b);
    turn_insert(tx, &b, t, in->host);
    prompt_write(tx, &(turn_row){.shown = *t, .tree = b.meta.tree, .session = b.meta.session});
    ANSWER(tx, j->out);
    *j->out = t;
    return txn_status(tx);
}

static ramet_status begin_check(ramet_call *c, const ramet_turn_in *in)
{
    if (in->replace && in->regenerate)
        return call_fail(c, RAMET_INVALID, "regenerate", "give replace or regenerate, not both");
    if (in->replace && !in->n)
        return call_fail(c, RAMET_INVALID, "entries", "what shall stand in place of entry %s?",
                         in->replace);
    if (in->id)
        TRY(check_id(c, "id", in->id));
    if (in->replace)
        TRY(check_id(c, "replace", in->replace));
    if (in->regenerate && in->regenerate[0])
        TRY(check_id(c, "regenerate", in->regenerate));
    if (in->agent)
        TRY(check_id(c, "agent", in->agent));
    if (in->group)
        TRY(check_id(c, "group", in->group));
    if (in->host)
        TRY(check_id(c, "host", in->host));
    return RAMET_OK;
}

/* `done`: the same request, with the same key, has replaced the entry meanwhile. */
static ramet_status role_look(ramet_call *c, const char *session, const char *entry,
                              ramet_role *role, bool *done)
{
    ramet_status st = role_of(c, session, entry, role);
    ramet_error err = c->err;
    if (st == RAMET_OK)
        return st;
    TRY(idempotency_early(c, done));
    if (*done)
        err = (ramet_error){0};
    c->err = err;
    return *done ? RAMET_OK : st;
}

static ramet_status begin(ramet_call *c, begin_job *j)
{
    const ramet_turn_in *in = j->in;
    char uuid[UUID_TEXT];
    ramet_role role = 0;
    TRY(check_id(c, "session", j->session));
    TRY(begin_check(c, in));
    TRY(prompt_check(c));
    TRY(check_hash(c, in->expected_head, j->work.expected, &j->work.given));
    if (in->replace && !in->entries[0].role) {
        bool done;
        TRY(idempotency_early(c, &done));
        if (done)
            return RAMET_OK;
        TRY(role_look(c, j->session, in->replace, &role, &done));
        if (done)
            return RAMET_OK;
    }
    j->turn = (ramet_turn){
        .id = arena_strdup(c->arena, in->id ? in->id : uuid7(ramet_now(c->ramet), uuid)),
        .agent = arena_strdup(c->arena, in->agent),
        .group = arena_strdup(c->arena, in->group),
        .by = arena_strdup(c->arena, c->user),
        .status = RAMET_TURN_RUNNING,
        .error = ""};
    TRY(turn_entries(c, j->turn.id, in->entries, in->n, role, &j->work.list));
    /* Edit and regenerate move the head, so they are more than an append. */
    return in->replace || in->regenerate ? txn_write(c, begin_run, j) : txn_append(c, begin_run, j);
}

ramet_status ramet_turn_begin(ramet_call *c, const char *session, const ramet_turn_in *in,
                              ramet_turn **out, ramet_append_out *appended)
{
    begin_job j = {.session = session, .in = in, .work = {.n = in->n, .out = appended}, .out = out};
    *out = NULL;
    *appended = (ramet_append_out){0};
    ramet_status st = begin(c, &j);
    c->prompt = NULL;
    if (st == RAMET_OK)
        return st;
    *out = NULL;
    *appended = (ramet_append_out){0};
    /* The functions that look for the cut and the role know the argument by another name. */
    if (st == RAMET_ENTRY_NOT_FOUND)
        snprintf(c->err.field, sizeof c->err.field, "%s", in->replace ? "replace" : "regenerate");
    return st;
}
