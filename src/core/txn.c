/* SPDX-License-Identifier: Apache-2.0
 *
 * Transactions: how a read and a write run (txn.h).
 */
#include "core/txn.h"

#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/event.h"
#include "core/idempotency.h"
#include "core/model/lineage_cache.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_cache.h"
#include "core/session/session_open.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAX_PREFETCH_PASSES 12 /* the deepest chain of dependent reads */

/* The past that a transaction belongs to. When a new past begins, caches of the previous one are
 * dropped: after a fail-over that lost something, the same numbers may mean other things. A replica
 * shares the caches until the first fail-over; after that it may be of either past. */
static int64_t past_enter(ramet *r, db *d)
{
    int64_t past = db_past(d), newest = r->past;
    if (past == DB_PAST_UNKNOWN)
        return newest ? DB_PAST_UNKNOWN : 0;
    if (past > newest) {
        lineage_enter(r->lineage, past);
        session_cache_enter(r->session_cache, past);
    }
    while (past > newest && !atomic_compare_exchange_weak(&r->past, &newest, past))
        ;
    return past;
}

static txn txn_of(ramet_call *c, db *d, bool writing)
{
    return (txn){.ramet = c->ramet,
                 .call = c,
                 .db = d,
                 .arena = c->arena,
                 .now = ramet_now(c->ramet),
                 .past = past_enter(c->ramet, d),
                 .writing = writing};
}

/* Begins a read that may come from a replica. Reads of one call never go back in time, whichever
 * replicas they come from. The rights of a link are always read from the primary, where it is
 * revoked. */
static db *page_begin(ramet_call *c, ramet_status *st, char *message)
{
    if (!c->replica.may || c->share.on)
        return store_read_begin(c->ramet->store, st, message);
    int64_t at = c->replica.since > c->replica.wrote ? c->replica.since : c->replica.wrote;
    db *d = store_page_begin(c->ramet->store, &at, st, message);
    if (d && at > 0) {
        c->replica.used = true;
        c->replica.since = at;
    } else if (c->replica.used) {
        c->replica.may = false; /* the primary is ahead of all replicas */
    }
    return d;
}

bool txn_read(txn *tx, ramet_call *c)
{
    ramet_status st;
    char message[512] = "";
    memset(&c->err, 0, sizeof c->err);
    db *d = page_begin(c, &st, message);
    if (!d) {
        call_fail(c, st, NULL, "%s", message);
        return false;
    }
    db_stop_when(d, c->stop.when, c->stop.arg);
    *tx = txn_of(c, d, false);
    return true;
}

size_t txn_page_bytes(const txn *tx)
{
    return tx->call->page_bytes ? tx->call->page_bytes : PAGE_BYTES;
}

ramet_status txn_status(txn *tx)
{
    ramet_status st = db_status(tx->db);
    return st == RAMET_OK ? st : call_fail(tx->call, st, NULL, "%s", db_message(tx->db));
}

void txn_prefetch(txn *tx, txn_make make, void *arg, size_t n)
{
    if (n < 2)
        return;
    arena *scratch = arena_new();
    ramet_error before = tx->call->err;
    bool more = true;
    for (int pass = 0; pass < MAX_PREFETCH_PASSES && more && db_prefetch(tx->db); pass++) {
        for (size_t i = 0; i < n; i++) {
            txn look = *tx;
            look.arena = scratch;
            make(&look, arg, i);
            db_clear(tx->db); /* rows that are not prefetched yet look like damage */
        }
        more = db_prefetched(tx->db);
        arena_reset(scratch);
    }
    tx->call->err = before;
    arena_free(scratch);
}

ramet_status txn_done(txn *tx, ramet_status st)
{
    assert(!tx->writing);
    /* On a damaged file "not found" means damage. */
    if (db_status(tx->db) != RAMET_OK)
        st = txn_status(tx);
    db_stop_when(tx->db, NULL, NULL);
    store_read_end(tx->ramet->store, tx->db);
    return st;
}

typedef struct write_job {
    ramet_call *call;
    txn_op run;
    void *arg;
    bool append, guarded, revokes;
    const char *expect; /* session whose history must end in `head`; NULL: none */
    uint8_t head[HASH_LEN];
    ramet_once *idempotency; /* may be NULL */
    int64_t event;           /* the last event it has written; 0 = none */
    branch_seen seen;
    answer_list answers;
    tree_uses uses;
} write_job;

void txn_answers(txn *tx, void *out, size_t size)
{
    answer_list *l = tx->answers;
    if (!l || !out)
        return;
    assert(l->n < MAX_ANSWERS);
    l->at[l->n].out = out;
    l->at[l->n++].size = size;
}

/* Clears the answers of a run that did not count. */
static void answers_empty(answer_list *l)
{
    while (l->n) {
        l->n--;
        memset(l->at[l->n].out, 0, l->at[l->n].size);
    }
}

static ramet_status expect_take(ramet_call *c, write_job *j)
{
    bool given;
    const char *head = c->expect.head;
    c->expect.head = NULL;
    TRY(check_hash(c, head, j->head, &given));
    if (given)
        j->expect = c->expect.session;
    return RAMET_OK;
}

/* Runs the operation if the session has the expected history. */
static ramet_status expect_run(txn *tx, void *arg)
{
    write_job *j = arg;
    session_full s;
    branch_row head;
    if (j->expect) {
        TRY(session_open(tx, j->expect, NEED_READ, &s));
        TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
        TRY(head_check(tx, &head, j->head, true));
    }
    return j->run(tx, j->arg);
}

static ramet_status write_run(db *d, void *arg)
{
    write_job *j = arg;
    txn tx = txn_of(j->call, d, true);
    tx.seen = &j->seen;
    tx.answers = &j->answers;
    tx.uses = &j->uses;
    /* This may run twice. */
    memset(&j->call->err, 0, sizeof j->call->err);
    answers_empty(&j->answers);
    j->seen = (branch_seen){.past = tx.past};
    j->uses.n = 0;
    if (!j->append)
        session_cache_forget(j->call->ramet->session_cache);
    ramet_status st =
        j->idempotency ? idempotency_run(&tx, j->idempotency, expect_run, j) : expect_run(&tx, j);
    j->event = tx.event;
    if (st != RAMET_OK)
        return st;
    access_settle(&tx);
    return txn_status(&tx);
}

static ramet_status write_do(ramet_call *c, write_job *job)
{
    char message[512];
    memset(&c->err, 0, sizeof c->err);
    TRY(idempotency_take(c, &job->idempotency));
    TRY(expect_take(c, job));
    if (c->user)
        TRY(check_id(c, "user", c->user));
    /* The rows behind a key or an expected history have no guard. */
    bool use_guards = job->guarded && !job->idempotency && !job->expect;
    ramet_status st = use_guards ? store_write_guarded(c->ramet->store, write_run, job, message)
                                 : store_write(c->ramet->store, write_run, job, message);
    /* The operation reported its own refusals; the store reports the rest. */
    if (st != RAMET_OK && (c->err.status != st || message[0]))
        call_fail(c, st, NULL, "%s", message[0] ? message : ramet_status_text(st));
    c->replica.wrote = store_position(c->ramet->store);
    if (st == RAMET_OK) {
        lineage_keep(c->ramet->lineage, &job->seen);
        event_notify(c->ramet, job->event);
        if (job->revokes && (st = store_fence(c->ramet->store, message)) != RAMET_OK)
            call_fail(c, st, NULL, "%s", message);
    } else if (job->idempotency) {
        job->idempotency->repeated = false;
    }
    return st;
}

ramet_status txn_write(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg};
    return write_do(c, &j);
}

ramet_status txn_revoke(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .revokes = true};
    return write_do(c, &j);
}

ramet_status txn_append(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .append = true};
    return write_do(c, &j);
}

ramet_status txn_write_guarded(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .append = true, .guarded = true};
    return write_do(c, &j);
}
