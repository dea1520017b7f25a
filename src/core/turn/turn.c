/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns: answers being generated. turn_begin.c begins them.
 *
 *   T1  A turn writes to the branch that it began on, and only while it is running. Each write
 *       checks both in its own transaction, so that late output ends up there or nowhere,
 *       wherever the head is by then.
 *   T2  At most one turn runs on a branch: begin checks that in its own transaction, and an edit
 *       or a regenerate begins on a branch that no other call knows yet.
 *   T3  The id of a turn grants no access: access to the session decides who may read and write it;
 *       to other callers the turn does not exist.
 */
#include "core/turn/turn.h"

#include "ramet/tasks.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/turn/prompt.h"
#include "core/txn.h"

#include <stdio.h>

#define ERROR_CHARS 2000
#define INTERRUPT_BATCH 500

/* ----------------------------------------------------------------------- rows */

/* Reads TURN_COLS. */
static void turn_from(db_stmt *q, arena *a, turn_row *t)
{
    *t = (turn_row){.tree = q_col_int(q, 1),
                    .session = q_col_int(q, 2),
                    .shown = {.id = q_need_text(q, 0, a, "turn.id"),
                              .branch = q_col_int(q, 3),
                              .agent = q_keep_text(q, 4, a),
                              .entry_id = q_keep_text(q, 5, a),
                              .group = q_keep_text(q, 6, a),
                              .by = q_keep_text(q, 7, a),
                              .status = col_turn_status(q, 8),
                              .error = q_need_text(q, 9, a, "turn.error"),
                              .started = q_col_int(q, 10),
                              .ended = q_col_int(q, 11)}};
}

bool turn_load(txn *tx, const char *id, turn_row *t)
{
    db_stmt *q = db_query(tx->db, Q_turn_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        turn_from(q, tx->arena, t);
        t->shown.session = q_keep_text(q, 12, tx->arena);
    }
    q_end(q);
    return found;
}

bool turn_on(txn *tx, const session_access *s, int64_t branch, turn_row *t)
{
    db_stmt *q = db_query(tx->db, Q_turn_on_branch);
    q_int(q, 1, s->tree);
    q_int(q, 2, branch);
    bool found = q_row(q);
    if (found) {
        turn_from(q, tx->arena, t);
        t->shown.session = s->id;
    }
    q_end(q);
    return found;
}

ramet_status turn_none_on(txn *tx, const session_brief *s)
{
    turn_row t;
    if (!turn_on(tx, &s->access, s->head, &t))
        return RAMET_OK;
    call_fail(tx->call, RAMET_TURN_RUNNING_ALREADY, "session",
              "a turn runs on branch b%lld already: %s", (long long)s->head, t.shown.id);
    snprintf(tx->call->err.subject, sizeof tx->call->err.subject, "%s", t.shown.id);
    return RAMET_TURN_RUNNING_ALREADY;
}

/* Hides the user and the fan-out group from the holder of a link. */
static void turn_trim(ramet_turn *t)
{
    t->by = NULL;
    t->group = NULL;
}

static ramet_turn *turn_show(txn *tx, const session_full *s, const turn_row *t)
{
    ramet_turn *out = arena_alloc(tx->arena, sizeof *out);
    *out = t->shown;
    if (share_only(tx, &s->access))
        turn_trim(out);
    return out;
}

static ramet_status turn_unknown(ramet_call *c, const char *id)
{
    return call_fail(c, RAMET_TURN_NOT_FOUND, "turn", "there is no turn %s", id);
}

/* -------------------------------------------------------------------- writing */

ramet_status turn_entries(ramet_call *c, const char *turn, const ramet_entry_in *in, size_t n,
                          ramet_role first, entry_new **out)
{
    ramet_entry_in *copy = arena_array(c->arena, n + 1, sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = in[i];
        copy[i].turn_id = turn;
    }
    if (n && !copy[0].role)
        copy[0].role = first;
    TRY(entries_prepare(c, copy, n, c->ramet->limits.batch, ramet_now(c->ramet), out));
    /* The caller did not choose the turn: an entry that is sent again counts as the same one in
     * another turn. */
    for (size_t i = 0; i < n; i++)
        copy[i].turn_id = NULL;
    return RAMET_OK;
}

typedef struct write_job {
    const char *turn;
    append_work work;
    ramet_turn_status status; /* 0: it continues */
    const char *error;
} write_job;

/* Opens a turn (T3). *head gets the session's head. */
static ramet_status turn_open(txn *tx, const char *id, turn_row *t, session_brief *s,
                              branch_row *head)
{
    bool found = turn_load(tx, id, t);
    TRY(txn_status(tx));
    if (!found || !t->shown.session)
        return turn_unknown(tx->call, id);
    ramet_status st = session_open_brief(tx, t->shown.session, NEED_WRITE, s, head);
    if (st == RAMET_HIDDEN)
        return turn_unknown(tx->call, id);
    if (st == RAMET_SESSION_NOT_FOUND)
        return call_fail(tx->call, st, "turn", "the session of turn %s was deleted", id);
    return st;
}

static void turn_finish(txn *tx, const char *id, ramet_turn_status status, const char *error)
{
    db_stmt *q = db_query(tx->db, Q_turn_end);
    q_text(q, 1, id);
    q_int(q, 2, status);
    q_text(q, 3, error);
    q_int(q, 4, tx->now);
    q_run(q);
}

static ramet_status write_run(txn *tx, void *arg)
{
    write_job *j = arg;
    turn_row t;
    session_brief s;
    branch_row b;
    ramet_status st = turn_open(tx, j->turn, &t, &s, &b);
    /* A deleted session can be restored, and its turn must not be running then. */
    if (st == RAMET_SESSION_NOT_FOUND && j->status && !j->work.n && !tx->call->user) {
        turn_finish(tx, j->turn, j->status, j->error);
        return txn_status(tx);
    }
    TRY(st);
    bool over = t.shown.status != RAMET_TURN_RUNNING;
    if (over && !j->status)
        return call_fail(tx->call, RAMET_TURN_OVER, "turn", "turn %s is over: it was %s", j->turn,
                         ramet_turn_status_name(t.shown.status));
    j->work.branch = t.shown.branch;
    if (over || !j->work.n) {
        TRY(branch_open(tx, &s, RAMET_LOG_MAIN, t.shown.branch, &b));
        append_answer(tx, &b, NULL, 0, j->work.out);
    } else {
        TRY(append_do(tx, &s, &b, &j->work));
    }
    if (!over)
        prompt_write(tx, &t);
    if (j->status)
        turn_finish(tx, j->turn, j->status, j->error);
    if (j->status) /* as the statement sets it */
        j->work.out->ended = over                        ? t.shown.ended
                             : t.shown.started > tx->now ? t.shown.started
                                                         : tx->now;
    return txn_status(tx);
}

static ramet_status turn_write(ramet_call *c, write_job *j, const ramet_entry_in *entries, size_t n,
                               ramet_append_out *out)
{
    j->work.n = n;
    j->work.out = out;
    TRY(prompt_check(c));
    TRY(turn_entries(c, j->turn, entries, n, 0, &j->work.list));
    ramet_status st = txn_append(c, write_run, j);
    c->prompt = NULL;
    if (st != RAMET_OK)
        *out = (ramet_append_out){0};
    return st;
}

ramet_status ramet_turn_append(ramet_call *c, const char *turn, const ramet_entry_in *entries,
                               size_t n, ramet_append_out *out)
{
    write_job j = {.turn = turn};
    *out = (ramet_append_out){0};
    TRY(check_id(c, "turn", turn));
    if (!n)
        return call_fail(c, RAMET_INVALID, "entries", "there is nothing to append");
    return turn_write(c, &j, entries, n, out);
}

ramet_status ramet_turn_end(ramet_call *c, const char *turn, ramet_turn_status status,
                            const char *error, const ramet_entry_in *entries, size_t n,
                            ramet_append_out *out)
{
    write_job j = {.turn = turn, .status = status, .error = error ? error : ""};
    *out = (ramet_append_out){0};
    TRY(check_id(c, "turn", turn));
    if (status <= RAMET_TURN_RUNNING || status > RAMET_TURN_INTERRUPTED)
        return call_fail(c, RAMET_INVALID, "status",
                         "a turn ends done, cancelled, failed or interrupted");
    TRY(check_chars(c, "error", error, ERROR_CHARS, RAMET_TOO_LARGE));
    return turn_write(c, &j, entries, n, out);
}

/* -------------------------------------------------------------------- reading */

static ramet_status get_run(txn *tx, const char *session, const char *turn, ramet_turn **out)
{
    session_full s;
    turn_row t;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(check_id(tx->call, "turn", turn));
    bool found = turn_load(tx, turn, &t) && t.tree == s.tree && t.session == s.no;
    TRY(txn_status(tx));
    if (!found)
        return turn_unknown(tx->call, turn);
    *out = turn_show(tx, &s, &t);
    return txn_status(tx);
}

ramet_status ramet_turn_get(ramet_call *c, const char *session, const char *turn, ramet_turn **out)
{
    txn tx;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, get_run(&tx, session, turn, out));
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

static ramet_status list_run(txn *tx, const char *session, int64_t before, int limit,
                             ramet_turn **out, size_t *n)
{
    session_full s;
    turn_row t;
    VEC(ramet_turn) v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    bool linked = share_only(tx, &s.access);
    db_stmt *q = db_query(tx->db, Q_turn_of_session);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_int(q, 3, limit);
    q_int(q, 4, before ? before : INT64_MAX);
    while (q_row(q)) {
        turn_from(q, tx->arena, &t);
        t.shown.session = s.id;
        if (linked)
            turn_trim(&t.shown);
        VEC_PUSH(tx->arena, &v, t.shown);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_turns_before(ramet_call *c, const char *session, int64_t before, int limit,
                                ramet_turn **out, size_t *n)
{
    txn tx;
    int max;
    *out = NULL;
    *n = 0;
    TRY(check_limit(c, limit, 1000, 50, &max));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, list_run(&tx, session, before, max, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

ramet_status ramet_turns(ramet_call *c, const char *session, int limit, ramet_turn **out, size_t *n)
{
    return ramet_turns_before(c, session, 0, limit, out, n);
}

static ramet_status running_run(txn *tx, const char *session, ramet_turn **out)
{
    session_full s;
    turn_row t;
    TRY(session_open(tx, session, NEED_READ, &s));
    if (turn_on(tx, &s.access, s.head, &t) && t.session == s.no)
        *out = turn_show(tx, &s, &t);
    return txn_status(tx);
}

ramet_status ramet_turn_running(ramet_call *c, const char *session, ramet_turn **out)
{
    txn tx;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, running_run(&tx, session, out));
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* ---------------------------------------------------------------- interrupting */

typedef VEC(const char *) turn_ids;

typedef struct interrupt_job {
    const char *const *ids;
    size_t n;
    int64_t done;
} interrupt_job;

static ramet_status interrupt_run(txn *tx, void *arg)
{
    interrupt_job *j = arg;
    int64_t before = db_changes(tx->db);
    for (size_t i = 0; i < j->n; i++)
        turn_finish(tx, j->ids[i], RAMET_TURN_INTERRUPTED, "");
    j->done = db_changes(tx->db) - before;
    return txn_status(tx);
}

static void running_find(txn *tx, const char *host, turn_ids *out)
{
    db_stmt *q = db_query(tx->db, Q_turn_all_running);
    while (q_row(q)) {
        const char *of = q_col_text(q, 1);
        if (host && (!of || strcmp(of, host) != 0))
            continue;
        const char *id = q_keep_text(q, 0, tx->arena);
        VEC_PUSH(tx->arena, out, id);
    }
}

ramet_status ramet_turns_interrupt(ramet_call *c, const char *host, int64_t *n)
{
    txn tx;
    turn_ids ids = {0};
    *n = 0;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    running_find(&tx, host, &ids);
    TRY(txn_done(&tx, RAMET_OK));
    for (size_t i = 0; i < ids.n; i += INTERRUPT_BATCH) {
        interrupt_job j = {ids.items + i, ids.n - i < INTERRUPT_BATCH ? ids.n - i : INTERRUPT_BATCH,
                           0};
        TRY(txn_append(c, interrupt_run, &j));
        *n += j.done;
    }
    return RAMET_OK;
}

ramet_status ramet_turn_hosts(ramet_call *c, const char *const **out, size_t *n)
{
    txn tx;
    VEC(const char *) v = {0};
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_turn_all_running);
    while (q_row(q)) {
        const char *host = q_keep_text(q, 1, tx.arena);
        bool known = !host;
        for (size_t i = 0; i < v.n && !known; i++)
            known = strcmp(v.items[i], host) == 0;
        if (!known)
            VEC_PUSH(tx.arena, &v, host);
    }
    TRY(txn_done(&tx, RAMET_OK));
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}
