/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers kept by a key: a request that is sent again is not done again.
 *
 *   O1  The key is looked up and the answer stored in the transaction of the write itself: there is
 *       no moment at which one is there without the other.
 *   O2  What failed is not kept: it may be tried again with the same key.
 *   O3  An answer past its time counts as none, whether it was removed already or not.
 */
#include "core/core.h"

#include "core/pack.h"

#define KEEP_US (INT64_C(24) * 3600 * 1000000)
#define SCOPE_BYTES 1000
#define KEY_BYTES 255
#define ANSWER_BYTES ((size_t)256 << 20)
#define PRUNE_BATCH 500

void ramet_call_once(ramet_call *c, ramet_once *once)
{
    c->once = once;
}

static ramet_status check_words(ramet_call *c, const char *field, const char *s, size_t most)
{
    size_t n = s ? strnlen(s, most + 1) : 0;
    if (!n || n > most)
        return call_fail(c, RAMET_INVALID, field, "the %s must have 1 to %zu bytes", field, most);
    return check_utf8(c, field, s);
}

ramet_status once_take(ramet_call *c, ramet_once **out)
{
    ramet_once *o = c->once;
    c->once = NULL;
    *out = o;
    if (!o)
        return RAMET_OK;
    o->repeated = false;
    o->status = 0;
    o->bytes = NULL;
    o->n = 0;
    TRY(check_words(c, "scope", o->scope, SCOPE_BYTES));
    return check_words(c, "idempotency_key", o->key, KEY_BYTES);
}

static const char *once_user(const cx *x)
{
    return x->c->user ? x->c->user : "";
}

static void bind_key(cx *x, db_stmt *q, const ramet_once *o)
{
    q_text(q, 1, once_user(x));
    q_text(q, 2, o->scope);
    q_text(q, 3, o->key);
}

/* Whether the key is there; with the same digest its answer is filled in. */
static ramet_status once_find(cx *x, ramet_once *o, bool *found)
{
    size_t n = 0, n_answer = 0;
    bool same = false, whole = false;
    o->repeated = false; /* may run twice */
    db_stmt *q = db_query(x->d, Q_once_get);
    bind_key(x, q, o);
    q_int(q, 4, x->now);
    *found = q_row(q);
    if (*found) {
        const void *digest = q_col_blob(q, 0, &n);
        same = digest && n == sizeof o->digest && memcmp(digest, o->digest, n) == 0;
        const void *answer = q_col_blob(q, 2, &n_answer);
        o->status = (int)q_col_int(q, 1);
        whole = !same || (answer && unpack_bytes(x->a, answer, n_answer, &o->bytes, &o->n) &&
                          (int64_t)o->n == q_col_int(q, 3));
    }
    q_end(q);
    TRY(cx_status(x));
    if (!*found)
        return RAMET_OK;
    if (!same)
        return call_fail(x->c, RAMET_KEY_MISMATCH, "idempotency_key",
                         "the idempotency key %s was used for another request", o->key);
    if (!whole) {
        db_fail(x->d, RAMET_DAMAGED, "the answer kept for the idempotency key %s is damaged",
                o->key);
        return cx_status(x);
    }
    o->repeated = true;
    return RAMET_OK;
}

static ramet_status once_keep(cx *x, const ramet_once *o)
{
    int status = 0;
    const char *bytes = NULL;
    size_t n = 0, n_packed;
    o->answer(o->arg, &status, &bytes, &n);
    if (n > ANSWER_BYTES)
        return call_fail(x->c, RAMET_TOO_LARGE, "idempotency_key",
                         "the answer has %zu bytes; under an idempotency key at most %zu are kept",
                         n, ANSWER_BYTES);
    const char *packed = pack_bytes(x->a, bytes ? bytes : "", n, &n_packed);
    db_stmt *q = db_query(x->d, Q_once_set);
    bind_key(x, q, o);
    q_blob(q, 4, o->digest, sizeof o->digest);
    q_int(q, 5, status);
    q_blob(q, 6, packed, n_packed);
    q_int(q, 7, (int64_t)n);
    q_int(q, 8, x->now + (o->keep_us > 0 ? o->keep_us : KEEP_US));
    q_run(q);
    return cx_status(x);
}

ramet_status once_run(cx *x, ramet_once *o, cx_op run, void *arg)
{
    bool found;
    TRY(once_find(x, o, &found));
    if (found)
        return RAMET_OK;
    TRY(run(x, arg));
    return once_keep(x, o);
}

ramet_status once_early(ramet_call *c, bool *done)
{
    cx x;
    ramet_once *o;
    *done = false;
    if (!c->once)
        return RAMET_OK;
    TRY(once_take(c, &o));
    if (!cx_read(&x, c))
        return c->err.status;
    ramet_status st = cx_done(&x, once_find(&x, o, done));
    if (st == RAMET_OK && !*done)
        c->once = o;
    return st;
}

static ramet_status prune_run(cx *x, void *arg)
{
    int64_t *removed = arg, before = db_changes(x->d);
    db_stmt *q = db_query(x->d, Q_once_del);
    q_int(q, 1, x->now);
    q_int(q, 2, PRUNE_BATCH);
    q_run(q);
    *removed = db_changes(x->d) - before;
    return cx_status(x);
}

ramet_status once_prune(ramet_call *c)
{
    int64_t removed;
    do
        TRY(cx_write(c, prune_run, &removed));
    while (removed);
    return RAMET_OK;
}
