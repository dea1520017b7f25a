/* SPDX-License-Identifier: Apache-2.0
 *
 * Append: I5. Nothing is written before every entry of the batch has been checked.
 */
#include "core/ext/adk.h"
#include "core/attachment/attachment.h"
#include "core/ext/make.h"
#include "core/ext/task.h"

typedef struct append_job {
    const char *session;
    append_work w;
    const ramet_task_in *task; /* may be NULL */
    const char *before;        /* the entry is a rewind event; may be NULL */
    const ramet_make *make;    /* may be NULL */
    const ramet_again *again;
    size_t n_again;
} append_job;

ramet_status entries_known(txn *tx, const branch_row *b, entry_new *list, size_t n, size_t *fresh)
{
    *fresh = 0;
    for (size_t i = 0; i < n; i++) {
        entry_new *e = &list[i];
        e->existing = false; /* may run twice */
        if (e->same_as >= 0)
            continue;
        int64_t k = 0;
        if (!e->in->id || path_find(tx, b, e->e.id, &k) < 0) {
            (*fresh)++;
            if (e->n_files)
                TRY(attachments_check(tx, e));
            continue;
        }
        ramet_entry have;
        uint8_t hash[HASH_LEN];
        if (!entry_load(tx, b->m.tree, k, &have, hash))
            return txn_status(tx);
        if (!entry_same(tx->c, e, &have))
            return call_fail(tx->c, RAMET_ENTRY_EXISTS, arena_printf(tx->a, "entries[%zu].id", i),
                             "entry %s is in the history already, with other content", e->e.id);
        branch_meta owner;
        if (branch_meta_load(tx, b->m.tree, have.branch, &owner))
            have.owner_no = owner.session;
        e->existing = true;
        e->found = have;
    }
    return txn_status(tx);
}

void append_answer(txn *tx, const branch_row *b, entry_new *list, size_t n, ramet_append_out *out)
{
    const char *newest = NULL; /* of those written now: the head */
    ANSWER(tx, out);
    *out = (ramet_append_out){.entries = arena_array(tx->a, n + 1, sizeof *out->entries), .n = n};
    for (size_t i = 0; i < n; i++) {
        const entry_new *e = list[i].same_as >= 0 ? &list[list[i].same_as] : &list[i];
        out->entries[i] = e->existing ? e->found : e->e;
        if (list[i].same_as < 0 && !e->existing) {
            out->added++;
            newest = e->e.id;
        }
    }
    if (!newest) {
        head_fill(tx, b, &out->head);
        return;
    }
    out->head = (ramet_head){.branch = b->m.id, .length = b->len, .entry_id = newest};
    hex_encode(b->tip, HASH_LEN, out->head.hash);
}

/* The branch to append to, given the head of the main log; the adk log of a session begins with its
 * first entry. */
static ramet_status target(txn *tx, const session_row *s, const append_work *w, branch_row *b)
{
    bool head = w->log == RAMET_LOG_MAIN && (!w->branch || w->branch == s->head);
    if (head && b->m.id && b->m.session == s->no && b->m.log == RAMET_LOG_MAIN)
        return RAMET_OK;
    if (w->log == RAMET_LOG_ADK && w->branch && w->branch != s->adk && adk_is(tx, s))
        return call_fail(tx->c, RAMET_INVALID, "branch_id",
                         "events of ADK are appended at the head alone"); /* K3 */
    if (w->log == RAMET_LOG_ADK && !w->branch && !s->adk) {
        *b = (branch_row){.m = {.tree = s->tree, .session = s->no, .log = RAMET_LOG_ADK}};
        return RAMET_OK;
    }
    return branch_open(tx, s, w->log, w->branch, b);
}

void adk_begin(txn *tx, session_row *s, branch_row *b)
{
    branch_create(tx, NULL, 0, s, RAMET_LOG_ADK, RAMET_EXPLICIT, false, b);
    s->adk = b->m.id;
    if (!s->first_adk)
        s->first_adk = b->m.id;
    db_stmt *q = db_query(tx->d, Q_session_adk);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->m.id);
    q_run(q);
    access_changed(tx, s->tree);
}

/* A new entry of a turn that was cut off comes too late. */
static ramet_status fence_check(txn *tx, const session_row *s, const branch_row *b,
                                const append_work *w)
{
    branch_row at;
    int64_t pos;
    for (size_t i = 0; i < w->n; i++) {
        const char *turn = w->list[i].e.turn_id;
        if (!turn || w->list[i].existing || w->list[i].same_as >= 0 ||
            (b->m.id && place_on(tx, b, turn) >= 0))
            continue;
        if (place_raw(tx, s, w->log, turn, 0, &at, &pos))
            return call_fail(tx->c, RAMET_TURN_OVER, "turn_id",
                             "the turn %s was rewound; what comes late of it is not taken", turn);
    }
    return txn_status(tx);
}

ramet_status append_do(txn *tx, session_row *s, branch_row *b, const append_work *w)
{
    size_t fresh;
    TRY(target(tx, s, w, b));
    TRY(entries_known(tx, b, w->list, w->n, &fresh));
    if (fresh && w->fenced)
        TRY(fence_check(tx, s, b, w));
    /* A retry of something that was done already is answered, whatever came after it. */
    if (fresh)
        TRY(head_check(tx, b, w->expected, w->given));
    if (b->len + (int64_t)fresh > POS_MAX)
        return call_fail(tx->c, RAMET_PATH_FULL, "entries",
                         "the history has %lld entries; it is full", (long long)b->len);
    TRY(tip_check(tx, b));
    if (fresh && !b->m.id)
        adk_begin(tx, s, b);
    /* Where nothing is written nothing is guarded: then the store runs it on what is true now. */
    if (fresh)
        access_guard(tx, s);
    entries_write(tx, s, b, w->list, w->n);
    if (b->m.id == s->head)
        session_cache_put(tx, s, b);
    else
        session_cache_drop(tx, s->id); /* it may have changed the session and its other branches */
    append_answer(tx, b, w->list, w->n, w->out);
    return txn_status(tx);
}

static ramet_status append_run(txn *tx, void *arg)
{
    append_job *j = arg;
    session_row s;
    branch_row b;
    bool made = false;
    if (j->make)
        TRY(make_open(tx, j->session, j->make, &s, &b, &made));
    else
        TRY(session_open_brief(tx, j->session, j->w.log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_WRITE,
                               &s, &b));
    if (j->task)
        TRY(task_check(tx, &s, j->task->id));
    TRY(keys_check(tx, &s, j->w.list, j->w.n));
    for (size_t i = 0; i < j->n_again; i++)
        TRY(attachment_again(tx, s.tree, &j->again[i]));
    TRY(append_do(tx, &s, &b, &j->w));
    keys_write(tx, &s, &b, j->w.list, j->w.n);
    j->w.out->made = made;
    if (j->task)
        task_write(tx, &s, j->task);
    if (j->task && !j->w.out->added)
        session_touch(tx, &s);
    return txn_status(tx);
}

/* A rewind event of the runtime itself: it is the one of the move that it asks for (K1). */
static ramet_status append_rewind_run(txn *tx, void *arg)
{
    append_job *j = arg;
    session_row s;
    branch_row head, b, to;
    turn_cut cut;
    TRY(session_open_head(tx, j->session, NEED_CHANGE, &s, &head));
    b = head;
    TRY(append_do(tx, &s, &b, &j->w));
    if (!j->w.out->added)
        return RAMET_OK;
    int64_t k = KEY(b.m.id, b.len - 1), pos;
    if (!place_raw(tx, &s, RAMET_LOG_ADK, j->before, k, &to, &pos))
        return txn_status(tx);
    TRY(turn_cut_find(tx, &s, &head, j->before, true, k, &cut));
    move_to_turn(tx, &s, &cut, "", k, &to);
    return txn_status(tx);
}

ramet_status ramet_append(ramet_call *c, const char *session, const ramet_append_in *in,
                          ramet_append_out *out)
{
    append_job j = {
        .session = session,
        .w = {.log = in->log, .branch = in->branch, .n = in->n, .fenced = in->fenced, .out = out},
        .task = in->task,
        .before = in->before_turn,
        .make = in->make,
        .again = in->again,
        .n_again = in->n_again};
    *out = (ramet_append_out){0};
    if (!in->n && !in->task)
        return call_fail(c, RAMET_INVALID, "entries", "there is nothing to append");
    if (in->log != RAMET_LOG_MAIN && in->log != RAMET_LOG_ADK)
        return call_fail(c, RAMET_INVALID, "log", "the log must be main or adk");
    TRY(check_id(c, "session", session));
    TRY(check_hash(c, in->expected_head, j.w.expected, &j.w.given));
    if (in->make)
        TRY(make_check(c, in->make));
    if (in->task)
        TRY(task_in_check(c, in->task));
    if (in->before_turn) {
        TRY(check_id(c, "before_turn", in->before_turn));
        if (in->log != RAMET_LOG_ADK || in->n != 1 || in->branch)
            return call_fail(c, RAMET_INVALID, "before_turn",
                             "a rewind event is one entry at the head of the adk log");
    }
    TRY(entries_prepare(c, in->entries, in->n, c->r->lim.batch, ramet_now(c->r), &j.w.list));
    if (in->before_turn)
        return txn_write(c, append_rewind_run, &j);
    return txn_write_guarded(c, append_run, &j);
}
