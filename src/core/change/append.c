/* SPDX-License-Identifier: Apache-2.0
 *
 * Appending entries to a branch (I5). Nothing is written before every entry of the batch has been
 * checked.
 */
#include "core/change/append.h"

#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/entry_key.h"
#include "core/model/key.h"
#include "core/change/log_rules.h"
#include "core/model/path.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_cache.h"
#include "core/session/session_open.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

#include <assert.h>

typedef struct append_job {
    const char *session;
    const ramet_append_in *in;
    append_work work;
} append_job;

void append_extension_register(ramet *r, const append_extension *x)
{
    assert(r->n_append_extensions < MAX_APPEND_EXTENSIONS);
    r->append_extensions[r->n_append_extensions++] = x;
}

ramet_status entries_known(txn *tx, const branch_row *b, entry_new *list, size_t n, size_t *fresh)
{
    *fresh = 0;
    for (size_t i = 0; i < n; i++) {
        entry_new *e = &list[i];
        e->existing = false; /* this may run twice */
        if (e->same_as >= 0)
            continue;
        int64_t k = 0;
        if (!e->in->id || path_find(tx, b, e->entry.id, &k) < 0) {
            (*fresh)++;
            if (e->n_files)
                TRY(attachments_check(tx, e));
            continue;
        }
        ramet_entry have;
        uint8_t hash[HASH_LEN];
        if (!entry_load(tx, b, k, &have, hash))
            return txn_status(tx);
        if (!entry_same(tx->call, e, &have))
            return call_fail(tx->call, RAMET_ENTRY_EXISTS,
                             arena_printf(tx->arena, "entries[%zu].id", i),
                             "entry %s is in the history already, with other content", e->entry.id);
        branch_meta owner;
        if (branch_meta_load(tx, b->meta.tree, have.branch, &owner))
            have.owner_no = owner.session;
        e->existing = true;
        e->found = have;
    }
    return txn_status(tx);
}

void append_answer(txn *tx, const branch_row *b, entry_new *list, size_t n, ramet_append_out *out)
{
    const char *newest = NULL; /* the newest entry written now: the head */
    ANSWER(tx, out);
    *out =
        (ramet_append_out){.entries = arena_array(tx->arena, n + 1, sizeof *out->entries), .n = n};
    for (size_t i = 0; i < n; i++) {
        const entry_new *e = list[i].same_as >= 0 ? &list[list[i].same_as] : &list[i];
        out->entries[i] = e->existing ? e->found : e->entry;
        if (list[i].same_as < 0 && !e->existing) {
            out->added++;
            newest = e->entry.id;
        }
    }
    if (!newest) {
        head_fill(tx, b, &out->head);
        return;
    }
    out->head = (ramet_head){
        .branch = b->meta.id, .length = b->len, .entry_id = newest, .overlay = b->overlay};
    hex_encode(b->tip, HASH_LEN, out->head.hash);
}

/* Finds the branch to append to, given the head of the main log; the adk log of a session is
 * created with its first entry. */
static ramet_status target(txn *tx, const session_brief *s, const append_work *w, branch_row *b)
{
    bool head = w->log == RAMET_LOG_MAIN && (!w->branch || w->branch == s->head);
    if (head && b->meta.id && b->meta.session == s->no && b->meta.log == RAMET_LOG_MAIN)
        return RAMET_OK;
    if (w->log == RAMET_LOG_ADK && w->branch && w->branch != s->adk)
        TRY(log_rules_of(tx, w->log)->append_check(tx, s, w->branch));
    if (w->log == RAMET_LOG_ADK && !w->branch && !s->adk) {
        *b = (branch_row){.meta = {.tree = s->tree, .session = s->no, .log = RAMET_LOG_ADK}};
        return RAMET_OK;
    }
    return branch_open(tx, s, w->log, w->branch, b);
}

void adk_begin(txn *tx, session_brief *s, branch_row *b)
{
    branch_create(tx, NULL, 0, s, BRANCH_FIRST, 0, RAMET_LOG_ADK, RAMET_EXPLICIT, b);
    s->adk = b->meta.id;
    if (!s->first_adk)
        s->first_adk = b->meta.id;
    db_stmt *q = db_query(tx->db, Q_session_adk);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->meta.id);
    q_run(q);
    access_changed(tx, s->tree);
}

/* The first branch of a log. A session_brief does not have that of main. */
static int64_t first_branch(txn *tx, const session_brief *s, ramet_log log)
{
    session_full full;
    if (log == RAMET_LOG_ADK)
        return s->first_adk;
    return session_by_no(tx, s->tree, s->no, &full) ? full.first : 0;
}

/* Refuses new entries of a turn that a move has cut off. */
static ramet_status fence_check(txn *tx, const session_brief *s, const branch_row *b,
                                const append_work *w)
{
    int64_t first = first_branch(tx, s, w->log);
    for (size_t i = 0; i < w->n; i++) {
        const char *turn = w->list[i].entry.turn_id;
        if (!turn || w->list[i].existing || w->list[i].same_as >= 0 ||
            (b->meta.id && turn_index_on_path(tx, b, turn) >= 0))
            continue;
        if (turn_index_ever(tx, &s->access, first, w->log, turn))
            return call_fail(tx->call, RAMET_TURN_OVER, "turn_id",
                             "the turn %s was rewound; what comes late of it is not taken", turn);
    }
    return txn_status(tx);
}

ramet_status append_do(txn *tx, session_brief *s, branch_row *b, const append_work *w)
{
    size_t fresh;
    TRY(target(tx, s, w, b));
    TRY(entries_known(tx, b, w->list, w->n, &fresh));
    if (fresh && w->fenced)
        TRY(fence_check(tx, s, b, w));
    /* A retry of an append that was done already succeeds, whatever came after it. */
    if (fresh)
        TRY(head_check(tx, b, w->expected, w->given));
    if (b->len + (int64_t)fresh > POS_MAX)
        return call_fail(tx->call, RAMET_PATH_FULL, "entries",
                         "the history has %lld entries; it is full", (long long)b->len);
    TRY(tip_check(tx, b));
    if (fresh && !b->meta.id)
        adk_begin(tx, s, b);
    /* Without a write there is nothing to guard: the store then runs the call on committed rows. */
    if (fresh)
        access_guard(tx, s);
    entries_write(tx, s, b, w->list, w->n);
    if (b->meta.id == s->head)
        session_cache_put(tx, s, b);
    else
        session_cache_drop(tx, s->id); /* the session or other branches may have changed */
    append_answer(tx, b, w->list, w->n, w->out);
    return txn_status(tx);
}

static ramet_status append_open(txn *tx, const append_job *j, session_brief *s, branch_row *b,
                                bool *made)
{
    const ramet *r = tx->ramet;
    bool opened = false;
    for (size_t i = 0; i < r->n_append_extensions && !opened; i++)
        if (r->append_extensions[i]->open)
            TRY(r->append_extensions[i]->open(tx, j->session, j->in, s, b, &opened, made));
    if (opened)
        return RAMET_OK;
    need what = j->work.log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_WRITE;
    return session_open_brief(tx, j->session, what, s, b);
}

static ramet_status append_run(txn *tx, void *arg)
{
    append_job *j = arg;
    const ramet *r = tx->ramet;
    session_brief s;
    branch_row b;
    bool made = false;
    TRY(append_open(tx, j, &s, &b, &made));
    for (size_t i = 0; i < r->n_append_extensions; i++)
        if (r->append_extensions[i]->before)
            TRY(r->append_extensions[i]->before(tx, &s, j->in));
    TRY(keys_check(tx, &s, j->work.list, j->work.n));
    for (size_t i = 0; i < j->in->n_again; i++)
        TRY(attachment_again(tx, s.tree, &j->in->again[i]));
    TRY(append_do(tx, &s, &b, &j->work));
    keys_write(tx, &s, &b, j->work.list, j->work.n);
    j->work.out->made = made;
    for (size_t i = 0; i < r->n_append_extensions; i++)
        if (r->append_extensions[i]->after)
            TRY(r->append_extensions[i]->after(tx, &s, j->in, j->work.out->added));
    return txn_status(tx);
}

/* Appends an entry that requests a move: the owner of the log defines what that means. */
static ramet_status append_rewind_run(txn *tx, void *arg)
{
    const append_job *j = arg;
    return log_rules_of(tx, j->work.log)
        ->append_rewind(tx, j->session, &j->work, j->in->before_turn);
}

ramet_status ramet_append(ramet_call *c, const char *session, const ramet_append_in *in,
                          ramet_append_out *out)
{
    const ramet *r = c->ramet;
    append_job j = {
        .session = session,
        .in = in,
        .work = {
            .log = in->log, .branch = in->branch, .n = in->n, .fenced = in->fenced, .out = out}};
    *out = (ramet_append_out){0};
    if (!in->n && !in->task)
        return call_fail(c, RAMET_INVALID, "entries", "there is nothing to append");
    if (in->log != RAMET_LOG_MAIN && in->log != RAMET_LOG_ADK)
        return call_fail(c, RAMET_INVALID, "log", "the log must be main or adk");
    TRY(check_id(c, "session", session));
    TRY(check_hash(c, in->expected_head, j.work.expected, &j.work.given));
    for (size_t i = 0; i < r->n_append_extensions; i++)
        if (r->append_extensions[i]->check)
            TRY(r->append_extensions[i]->check(c, in));
    if (in->before_turn) {
        TRY(check_id(c, "before_turn", in->before_turn));
        if (in->log != RAMET_LOG_ADK || in->n != 1 || in->branch)
            return call_fail(c, RAMET_INVALID, "before_turn",
                             "a rewind event is one entry at the head of the adk log");
    }
    TRY(entries_prepare(c, in->entries, in->n, c->ramet->limits.batch, ramet_now(c->ramet),
                        &j.work.list));
    if (in->before_turn)
        return txn_write(c, append_rewind_run, &j);
    return txn_write_guarded(c, append_run, &j);
}
