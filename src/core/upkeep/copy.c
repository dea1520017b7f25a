/* SPDX-License-Identifier: Apache-2.0
 *
 * Copying a store to another one: locking the target, and the passes (copy.h).
 */
#include "core/upkeep/copy.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/txn.h"

#include <stdio.h>
#include <stdlib.h>

#define PASSES 8

/* --------------------------------------------------------------------- meta */

/* NULL when there is none. */
static const char *meta_get(txn *tx, const char *key)
{
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, key);
    const char *v = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return v;
}

static int64_t meta_number(txn *tx, const char *key, int64_t otherwise)
{
    const char *v = meta_get(tx, key);
    return v ? strtoll(v, NULL, 10) : otherwise;
}

static void meta_set(txn *tx, const char *key, const char *value)
{
    db_stmt *q = db_query(tx->db, value ? Q_meta_set : Q_meta_del);
    q_text(q, 1, key);
    if (value)
        q_text(q, 2, value);
    q_run(q);
}

/* The source gets its identity when it is first copied. */
static ramet_status identity_run(txn *tx, void *arg)
{
    char uuid[UUID_TEXT];
    const char **id = arg;
    *id = meta_get(tx, COPY_IDENTITY);
    if (!*id && db_status(tx->db) == RAMET_OK) {
        *id = arena_strdup(tx->arena, uuid7(time_now_us(), uuid));
        meta_set(tx, COPY_IDENTITY, *id);
    }
    return txn_status(tx);
}

/* ---------------------------------------------------------------- the target */

typedef struct claim {
    copy_job *job;
    const char *source; /* its identity */
    int64_t tree, seen; /* how far an earlier copy came; seen -1: none */
} claim;

/* Whether the holder of the lock is alive, as far as can be determined, and has renewed it
 * recently. */
static bool lock_held(const char *lock)
{
    char host[HOST_TEXT] = "";
    long long deadline;
    if (!lock || sscanf(lock, "%*s %lld %127s", &deadline, host) < 1)
        return false;
    return deadline > time_now_us() && host_look(host) != HOST_DEAD;
}

static ramet_status belongs(txn *tx, const claim *k)
{
    const char *of = meta_get(tx, COPY_FROM), *own = meta_get(tx, COPY_IDENTITY);
    if (own && strcmp(own, k->source) == 0)
        return call_fail(tx->call, RAMET_INVALID, "to", "source and target are the same store");
    if (!of && copy_number(tx->db, Q_copy_any))
        return call_fail(tx->call, RAMET_INVALID, "to",
                         "the target has sessions of its own; a copy goes to a new store");
    if (of && strcmp(of, k->source) != 0)
        return call_fail(tx->call, RAMET_INVALID, "to", "the target is a copy of another store");
    if (of && copy_number(tx->db, Q_max_event) > meta_number(tx, COPY_EVENT, 0))
        return call_fail(
            tx->call, RAMET_INVALID, "to",
            "the target was written to since it was copied; a copy goes to a new store");
    return txn_status(tx);
}

static ramet_status claim_run(txn *tx, void *arg)
{
    claim *k = arg;
    copy_job *j = k->job;
    char lock[COPY_LOCK_TEXT];
    TRY(belongs(tx, k));
    if (lock_held(meta_get(tx, COPY_LOCK)))
        return call_fail(tx->call, RAMET_BUSY, "to", "another copy into the target is running");
    const char *state = meta_get(tx, COPY_STATE);
    j->out->resumed = state && strcmp(state, COPY_BEGUN) == 0;
    k->tree = meta_number(tx, COPY_TREE_AT, INT64_MIN);
    k->seen = meta_number(tx, COPY_SEEN, -1);
    copy_lock_text(j, lock);
    meta_set(tx, COPY_LOCK, lock);
    meta_set(tx, COPY_FROM, k->source);
    meta_set(tx, COPY_STATE, COPY_BEGUN);
    return txn_status(tx);
}

/* Makes new numbers continue above those of the copied rows, and lists go by time when the numbers
 * do not rise with it. */
static void copy_counters(txn *tx)
{
    q_run(db_query(tx->db, Q_copy_counters));
    db_stmt *q = db_query(tx->db, Q_copy_unordered);
    bool unordered = q_row(q);
    q_end(q);
    if (unordered)
        q_run(db_query(tx->db, Q_copy_by_time));
}

/* Ends the copy: done, or (arg->err) left for the next call to continue. */
static ramet_status release_run(txn *tx, void *arg)
{
    const copy_job *j = arg;
    const char *lock = meta_get(tx, COPY_LOCK);
    if (!lock || strncmp(lock, j->owner, strlen(j->owner)) != 0)
        return call_fail(tx->call, RAMET_BUSY, NULL, "another copy has taken over");
    meta_set(tx, COPY_LOCK, NULL);
    if (j->err.status == RAMET_OK) {
        meta_set(tx, COPY_STATE, COPY_DONE);
        copy_counters(tx);
    }
    return txn_status(tx);
}

static void release(copy_job *j)
{
    copy_flush(j);
    ramet_status st = txn_write(j->to, release_run, j);
    if (st != RAMET_OK)
        copy_fail(j, st, NULL, "the target: %s", j->to->err.message);
}

/* --------------------------------------------------------------------- passes */

static int64_t source_number(copy_job *j, sql_id what, int column, int64_t arg)
{
    txn tx;
    if (j->err.status != RAMET_OK || !txn_read(&tx, j->call))
        return 0;
    db_stmt *q = db_query(tx.db, what);
    q_int(q, 1, arg);
    int64_t v = q_row(q) ? q_col_int(q, column) : 0;
    q_end(q);
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        copy_fail(j, st, NULL, "the source: %s", j->call->err.message);
    return v;
}

/* The number of the last event, once everything committed by now has a number. */
static int64_t newest(copy_job *j)
{
    store_settle_all(j->call->ramet->store);
    return source_number(j, Q_max_event, 0, 0);
}

typedef VEC(int64_t) trees;

/* The trees that events name, in order. */
static void trees_since(copy_job *j, arena *a, int64_t after, int64_t upto, trees *v)
{
    txn tx;
    if (j->err.status != RAMET_OK || !txn_read(&tx, j->call))
        return;
    db_stmt *q = db_query(tx.db, Q_copy_trees_since);
    q_int(q, 1, after);
    q_int(q, 2, upto);
    while (q_row(q))
        VEC_PUSH(a, v, q_col_int(q, 0));
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        copy_fail(j, st, NULL, "the source: %s", j->call->err.message);
}

static void doing(copy_job *j, const char *what, int64_t done, int64_t total)
{
    j->doing = what;
    j->done = done;
    j->total = total;
}

/* Copies the trees that events after `after` name; returns the number of trees that differed. */
static int64_t pass_named(copy_job *j, int64_t after, int64_t upto)
{
    trees v = {0};
    arena *a = arena_new();
    trees_since(j, a, after, upto, &v);
    doing(j, "copying what changed", 0, 0);
    copy_walk w = {.mode = COPY_NAMED, .list = v.items, .n = v.n};
    copy_walk_run(j, &w);
    copy_mark_add(j, COPY_SEEN, upto);
    arena_free(a);
    return w.changed;
}

static int64_t pass_compared(copy_job *j)
{
    doing(j, "comparing trees", 0, source_number(j, Q_tree_count, 0, 0));
    copy_walk w = {.mode = COPY_COMPARED, .at = INT64_MIN};
    copy_walk_run(j, &w);
    return w.changed;
}

/* Runs passes until nothing has changed (C5), or there were too many. */
static void passes_run(copy_job *j, int64_t seen)
{
    int max = j->in->passes > 0 ? j->in->passes : PASSES;
    int64_t changed = 0;
    bool settled = false;
    while (!settled && j->out->passes < max && j->err.status == RAMET_OK) {
        j->out->passes++;
        int64_t upto = newest(j);
        changed = pass_named(j, seen, upto);
        if (!changed)
            changed = pass_compared(j);
        copy_whole(j, upto, !changed);
        seen = upto;
        settled = !changed && newest(j) == upto;
    }
    if (settled || j->err.status != RAMET_OK)
        return;
    trees v = {0};
    arena *a = arena_new();
    trees_since(j, a, seen, INT64_MAX, &v);
    /* Without events, the trees of the last pass may have changed again. */
    j->out->behind = v.n ? (int64_t)v.n : changed;
    arena_free(a);
}

static void copy_run(copy_job *j, const claim *k)
{
    copy_walk w = {.mode = COPY_ALL, .at = k->tree};
    int64_t seen = k->seen;
    if (seen < 0) {
        seen = newest(j);
        copy_mark_add(j, COPY_SEEN, seen);
    }
    if (k->tree < INT64_MAX) {
        bool begun = k->tree > INT64_MIN;
        int64_t before = begun ? source_number(j, Q_copy_entries_upto, 0, k->tree) : 0;
        doing(j, "copying entries", before, source_number(j, Q_branch_count, 1, 0));
        copy_walk_run(j, &w);
        j->out->entries = j->done - before;
        copy_orphans(j);
        copy_mark_add(j, COPY_TREE_AT, INT64_MAX);
    }
    passes_run(j, seen);
}

static void verify_run(copy_job *j)
{
    copy_walk w = {.mode = COPY_VERIFY, .at = INT64_MIN};
    store_settle_all(j->call->ramet->store);
    doing(j, "verifying entries", 0, source_number(j, Q_branch_count, 1, 0));
    copy_walk_run(j, &w);
    j->out->entries = j->done;
    copy_orphans(j);
    copy_whole_verify(j);
}

/* ----------------------------------------------------------------------- call */

static void job_begin(copy_job *j)
{
    j->batch = arena_new();
    j->chunk = arena_new();
    j->tree = arena_new();
    copy_cursor *both[] = {&j->from, &j->with};
    for (int i = 0; i < 2; i++) {
        both[i]->arena = arena_new();
        both[i]->spare = arena_new();
        j->digest[i] = sha_new();
        sha_begin(j->digest[i]);
    }
}

static void job_end(copy_job *j)
{
    char *hex[] = {j->out->source_digest, j->out->target_digest};
    copy_cursor *both[] = {&j->from, &j->with};
    for (int i = 0; i < 2; i++) {
        uint8_t digest[HASH_LEN];
        sha_end(j->digest[i], digest);
        hex_encode(digest, HASH_LEN, hex[i]);
        sha_free(j->digest[i]);
        arena_free(both[i]->arena);
        arena_free(both[i]->spare);
    }
    arena_free(j->batch);
    arena_free(j->chunk);
    arena_free(j->tree);
    j->out->faults = j->faults.items;
    j->out->n = j->faults.n;
}

static void copy_into(copy_job *j)
{
    char uuid[UUID_TEXT];
    claim k = {.job = j};
    ramet_status st = txn_write(j->call, identity_run, &k.source);
    if (st != RAMET_OK) {
        copy_fail(j, st, NULL, "the source: %s", j->call->err.message);
        return;
    }
    snprintf(j->owner, sizeof j->owner, "%s", uuid7(time_now_us(), uuid));
    host_name(j->host);
    st = txn_write(j->to, claim_run, &k);
    if (st != RAMET_OK) {
        copy_fail(j, st, "to", "%s", j->to->err.message);
        return;
    }
    j->written_at = time_mono_us();
    copy_run(j, &k);
    release(j);
}

ramet_status ramet_copy(ramet_call *c, const char *to, const ramet_copy_in *in,
                        ramet_progress progress, void *arg, ramet_copy_out *out)
{
    static const ramet_copy_in none;
    copy_job j = {.call = c, .in = in ? in : &none, .out = out, .progress = progress, .arg = arg};
    *out = (ramet_copy_out){0};
    TRY(program_only(c));
    if (!to || !*to)
        return call_fail(c, RAMET_INVALID, "to", "a copy needs a place to go to");
    ramet_options opt = j.in->target ? *j.in->target : (ramet_options){0};
    opt.must_exist |= j.in->verify_only;
    ramet *target;
    ramet_error err;
    ramet_status st = copy_target_open(to, &opt, &target, &err);
    if (st != RAMET_OK)
        return call_fail(c, st, "to", "%s", err.message);
    j.to = ramet_call_new(target, NULL, NULL);
    job_begin(&j);
    if (j.in->verify_only)
        verify_run(&j);
    else
        copy_into(&j);
    job_end(&j);
    if (out->behind)
        copy_fail(&j, RAMET_BEHIND, NULL, "%lld tree%s changed meanwhile; copy again to catch up",
                  (long long)out->behind, out->behind == 1 ? "" : "s");
    ramet_call_free(j.to);
    ramet_close(target);
    c->err = j.err;
    return j.err.status;
}
