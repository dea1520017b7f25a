/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers kept by an idempotency key: a repeated request is not executed again.
 *
 *   O1  The key is looked up and the answer stored in the transaction of the write itself: neither
 *       is ever visible without the other.
 *   O2  A failure is not kept: the request may be tried again with the same key.
 *   O3  An expired answer counts as none, whether it was removed already or not.
 *   O4  The key itself is not stored, and the answer is encrypted with it: an answer may hold a
 *       secret, which a reader of the file must not get. An altered answer does not decrypt.
 *   O5  Work of several commits, for which O1 cannot hold, looks up the key first and stores its
 *       answer at the end.
 */
#include "core/idempotency.h"

#include "core/call.h"
#include "core/check.h"
#include "core/pack.h"
#include "core/txn.h"
#include "base/seal.h"

#include <assert.h>
#include <openssl/crypto.h>

#define KEEP_US (INT64_C(24) * 3600 * 1000000)
#define SCOPE_BYTES 1000
#define KEY_BYTES 255
#define ANSWER_BYTES ((size_t)256 << 20)
#define PRUNE_BATCH 500

void ramet_call_once(ramet_call *c, ramet_once *once)
{
    c->idempotency = once;
    c->idempotency_held = NULL;
}

static ramet_status check_text(ramet_call *c, const char *field, const char *s, size_t max)
{
    size_t n = s ? strnlen(s, max + 1) : 0;
    if (!n || n > max)
        return call_fail(c, RAMET_INVALID, field, "the %s must have 1 to %zu bytes", field, max);
    return check_utf8(c, field, s);
}

ramet_status idempotency_take(ramet_call *c, ramet_once **out)
{
    ramet_once *o = c->idempotency;
    c->idempotency = NULL;
    *out = o;
    if (!o)
        return RAMET_OK;
    o->repeated = false;
    o->status = 0;
    o->bytes = NULL;
    o->n = 0;
    TRY(check_text(c, "scope", o->scope, SCOPE_BYTES));
    return check_text(c, "idempotency_key", o->key, KEY_BYTES);
}

static const char *idempotency_user(const txn *tx)
{
    return tx->call->user ? tx->call->user : "";
}

/* ---- rows */

typedef struct idempotency_row {
    uint8_t digest[HASH_LEN];
    int64_t status, size, expires;
    const void *sealed; /* the answer, compressed, then sealed */
    size_t n_sealed;
} idempotency_row;

static void key_hash(txn *tx, const char *label, size_t n_label, const ramet_once *o,
                     uint8_t out[HASH_LEN])
{
    sha *h = tx->call->hasher;
    sha_begin(h);
    sha_add(h, label, n_label);
    sha_add(h, o->key, strlen(o->key));
    sha_end(h, out);
}

/* Binds the columns of the key; `name` must live until the statement has run. */
static void bind_key(txn *tx, db_stmt *q, const ramet_once *o, uint8_t name[HASH_LEN])
{
    key_hash(tx, "", 0, o, name);
    q_text(q, 1, idempotency_user(tx));
    q_text(q, 2, o->scope);
    q_blob(q, 3, name, HASH_LEN);
}

static void seal_key(txn *tx, const ramet_once *o, uint8_t out[SEAL_KEY])
{
    static const char label[] = "ramet kept answer";
    key_hash(tx, label, sizeof label, o, out);
}

/* The rest of the row, which is authenticated with the answer. It is unambiguous: a user contains
 * no line break, and the scope comes last. */
static const char *row_about(txn *tx, const ramet_once *o, const idempotency_row *r)
{
    char digest[2 * HASH_LEN + 1];
    hex_encode(r->digest, HASH_LEN, digest);
    return arena_printf(tx->arena, "%s %lld %lld %lld\n%s\n%s", digest, (long long)r->status,
                        (long long)r->size, (long long)r->expires, idempotency_user(tx), o->scope);
}

/* Decrypts the answer; false when the row is damaged. */
static bool row_open(txn *tx, const ramet_once *o, const idempotency_row *r, const char **bytes,
                     size_t *len)
{
    uint8_t key[SEAL_KEY];
    size_t n = 0;
    seal_key(tx, o, key);
    const char *packed = seal_open(tx->arena, key, row_about(tx, o, r), r->sealed, r->n_sealed, &n);
    OPENSSL_cleanse(key, sizeof key);
    return packed && unpack_bytes(tx->arena, packed, n, bytes, len) && (int64_t)*len == r->size;
}

static void row_seal(txn *tx, const ramet_once *o, const char *bytes, idempotency_row *r)
{
    uint8_t key[SEAL_KEY];
    size_t n;
    const char *packed = pack_bytes(tx->arena, bytes ? bytes : "", (size_t)r->size, &n);
    seal_key(tx, o, key);
    r->sealed = seal_make(tx->arena, key, row_about(tx, o, r), packed, n, &r->n_sealed);
    OPENSSL_cleanse(key, sizeof key);
}

/* Looks up the key; with the same digest, fills in its answer. */
static ramet_status idempotency_find(txn *tx, ramet_once *o, bool *found)
{
    uint8_t name[HASH_LEN];
    const char *bytes = NULL;
    size_t n = 0, n_bytes = 0;
    bool whole = false;
    idempotency_row r = {0};
    o->repeated = false; /* this may run twice */
    db_stmt *q = db_query(tx->db, Q_once_get);
    bind_key(tx, q, o, name);
    q_int(q, 4, tx->now);
    *found = q_row(q);
    if (*found) {
        const void *digest = q_col_blob(q, 0, &n);
        if (digest && n == HASH_LEN)
            memcpy(r.digest, digest, n);
        r.status = q_col_int(q, 1);
        r.size = q_col_int(q, 3);
        r.expires = q_col_int(q, 4);
        r.sealed = q_col_blob(q, 2, &r.n_sealed);
        whole = !r.n_sealed || row_open(tx, o, &r, &bytes, &n_bytes);
    }
    q_end(q);
    TRY(txn_status(tx));
    if (!*found)
        return RAMET_OK;
    if (!whole) {
        db_fail(tx->db, RAMET_DAMAGED, "the answer kept for the idempotency key is damaged");
        return txn_status(tx);
    }
    if (memcmp(r.digest, o->digest, HASH_LEN) != 0)
        return call_fail(tx->call, RAMET_KEY_MISMATCH, "idempotency_key",
                         "the idempotency key was used for another request");
    if (!r.n_sealed)
        return call_fail(tx->call, RAMET_ANSWER_ERASED, "idempotency_key",
                         "the request was done, and its answer was erased with what it said");
    o->repeated = true;
    o->status = (int)r.status;
    o->bytes = bytes;
    o->n = n_bytes;
    return RAMET_OK;
}

static ramet_status idempotency_keep(txn *tx, const ramet_once *o)
{
    int status = 0;
    const char *bytes = NULL;
    size_t n = 0;
    uint8_t name[HASH_LEN];
    o->answer(o->arg, &status, &bytes, &n);
    if (n > ANSWER_BYTES)
        return call_fail(tx->call, RAMET_TOO_LARGE, "idempotency_key",
                         "the answer has %zu bytes; under an idempotency key at most %zu are kept",
                         n, ANSWER_BYTES);
    idempotency_row r = {.status = status,
                         .size = (int64_t)n,
                         .expires = tx->now + (o->keep_us > 0 ? o->keep_us : KEEP_US)};
    memcpy(r.digest, o->digest, HASH_LEN);
    row_seal(tx, o, bytes, &r);
    db_stmt *q = db_query(tx->db, Q_once_set);
    bind_key(tx, q, o, name);
    q_blob(q, 4, r.digest, HASH_LEN);
    q_int(q, 5, r.status);
    q_blob(q, 6, r.sealed, r.n_sealed);
    q_int(q, 7, r.size);
    q_int(q, 8, r.expires);
    q_run(q);
    return txn_status(tx);
}

/* ---- work under a key */

ramet_status idempotency_run(txn *tx, ramet_once *o, txn_op run, void *arg)
{
    assert(tx->writing);
    bool found;
    TRY(idempotency_find(tx, o, &found));
    if (found)
        return RAMET_OK;
    TRY(run(tx, arg));
    return idempotency_keep(tx, o);
}

ramet_status idempotency_early(ramet_call *c, bool *done)
{
    txn tx;
    ramet_once *o;
    *done = false;
    if (!c->idempotency)
        return RAMET_OK;
    TRY(idempotency_take(c, &o));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, idempotency_find(&tx, o, done));
    if (st == RAMET_OK && !*done)
        c->idempotency = o;
    return st;
}

ramet_status ramet_once_look(ramet_call *c)
{
    bool done;
    c->idempotency_held = NULL;
    memset(&c->err, 0, sizeof c->err);
    TRY(idempotency_early(c, &done));
    c->idempotency_held = c->idempotency;
    c->idempotency = NULL;
    return RAMET_OK;
}

static ramet_status nothing_run(txn *tx, void *arg)
{
    (void)tx, (void)arg;
    return RAMET_OK;
}

ramet_status ramet_once_keep(ramet_call *c)
{
    memset(&c->err, 0, sizeof c->err);
    if (!c->idempotency_held)
        return RAMET_OK;
    c->idempotency = c->idempotency_held;
    c->idempotency_held = NULL;
    return txn_write(c, nothing_run, NULL);
}

static ramet_status prune_run(txn *tx, void *arg)
{
    int64_t *removed = arg, before = db_changes(tx->db);
    db_stmt *q = db_query(tx->db, Q_once_del);
    q_int(q, 1, tx->now);
    q_int(q, 2, PRUNE_BATCH);
    q_run(q);
    *removed = db_changes(tx->db) - before;
    return txn_status(tx);
}

ramet_status idempotency_prune(ramet_call *c)
{
    int64_t removed;
    do
        TRY(txn_write(c, prune_run, &removed));
    while (removed);
    return RAMET_OK;
}
