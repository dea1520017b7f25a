/* SPDX-License-Identifier: Apache-2.0
 *
 * Content of attachments as rows of the database: attach_part(sha, n, bytes), parts of PART_BYTES
 * each, the last one shorter. Every content has part 0, even an empty one.
 *
 * Each part is written as it arrives, in its own transaction, under a key of KEY_BYTES: the time,
 * and random bytes. The transaction that writes the row of the attachment adds the last part and
 * renames all of them to their SHA-256; if that content exists already, it drops them. So content
 * and row are committed together, and removing content without a row cannot race with adding one:
 * the engine lets only one of the two commit. gc removes the parts that a crash leaves under such a
 * key.
 */
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/handle.h"
#include "core/txn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KEY_BYTES 16
#define BEGUN_US (INT64_C(24) * 3600 * 1000000) /* an upload may take this long */
#define SWEEP 64                                /* contents per query */

typedef struct coming {
    incoming base;
    uint8_t key[KEY_BYTES], digest[HASH_LEN];
    int64_t n; /* full parts written */
    size_t have;
    char bytes[PART_BYTES]; /* the part being filled */
} coming;

/* ---------------------------------------------------------------------- writes */

/* Runs a write outside the group of the call's own write. */
static ramet_status run(ramet_call *c, store_op op, void *arg)
{
    char message[512] = "";
    ramet_status st = store_write(c->ramet->store, op, arg, message);
    return st == RAMET_OK
               ? st
               : call_fail(c, st, NULL, "%s", message[0] ? message : ramet_status_text(st));
}

static void part_add(db *d, const void *name, size_t len, const coming *w)
{
    db_stmt *q = db_query(d, Q_part_add);
    q_blob(q, 1, name, len);
    q_int(q, 2, w->n);
    q_blob(q, 3, w->bytes, w->have);
    q_run(q);
}

static ramet_status add_run(db *d, void *arg)
{
    coming *w = arg;
    part_add(d, w->key, KEY_BYTES, w);
    return db_status(d);
}

static void parts_drop(db *d, const void *name, size_t len)
{
    db_stmt *q = db_query(d, Q_part_drop);
    q_blob(q, 1, name, len);
    q_run(q);
}

static ramet_status drop_run(db *d, void *arg)
{
    parts_drop(d, ((coming *)arg)->key, KEY_BYTES);
    return db_status(d);
}

/* ------------------------------------------------------------------ on its way */

static void key_make(uint8_t key[KEY_BYTES])
{
    uint64_t ms = (uint64_t)time_now_us() / 1000;
    for (int i = 5; i >= 0; i--, ms >>= 8)
        key[i] = (uint8_t)ms;
    random_bytes(key + 6, KEY_BYTES - 6);
}

static int64_t key_time(const uint8_t *key)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | key[i];
    return ms * 1000;
}

static ramet_status tables_begin(ramet_call *c, incoming **out)
{
    coming *w = xmalloc(sizeof *w);
    w->base = (incoming){&files_tables, c};
    w->n = 0;
    w->have = 0;
    key_make(w->key);
    *out = &w->base;
    return RAMET_OK;
}

/* A full part waits for the next byte, because the last part is written only at the end. */
static ramet_status tables_add(incoming *base, const void *bytes, size_t n)
{
    coming *w = (coming *)base;
    const char *p = bytes;
    while (n) {
        if (w->have == PART_BYTES) {
            TRY(run(base->call, add_run, w));
            w->n++;
            w->have = 0;
        }
        size_t some = PART_BYTES - w->have < n ? PART_BYTES - w->have : n;
        memcpy(w->bytes + w->have, p, some);
        w->have += some;
        p += some;
        n -= some;
    }
    return RAMET_OK;
}

static ramet_status tables_seal(incoming *base, const uint8_t digest[HASH_LEN])
{
    memcpy(((coming *)base)->digest, digest, HASH_LEN);
    return RAMET_OK;
}

/* The number of parts under a name, and their total bytes. */
static int64_t parts_sum(db *d, const void *name, size_t len, int64_t *bytes)
{
    db_stmt *q = db_query(d, Q_part_sums);
    q_blob(q, 1, name, len);
    int64_t n = 0;
    *bytes = 0;
    if (q_row(q)) {
        n = q_col_int(q, 0);
        *bytes = q_col_int(q, 1);
    }
    q_end(q);
    return n;
}

/* Replaces parts that are missing or short. */
static ramet_status tables_keep(incoming *base, txn *tx)
{
    coming *w = (coming *)base;
    int64_t bytes, size = w->n * (int64_t)PART_BYTES + (int64_t)w->have;
    int64_t n = parts_sum(tx->db, w->digest, HASH_LEN, &bytes);
    if (n == w->n + 1 && bytes == size) {
        if (w->n)
            parts_drop(tx->db, w->key, KEY_BYTES);
        return RAMET_OK;
    }
    if (n)
        parts_drop(tx->db, w->digest, HASH_LEN);
    if (w->n) {
        n = parts_sum(tx->db, w->key, KEY_BYTES, &bytes);
        TRY(txn_status(tx));
        if (n != w->n)
            return call_fail(tx->call, RAMET_IO, NULL,
                             "the upload took too long: what had come was removed");
        db_stmt *q = db_query(tx->db, Q_part_name);
        q_blob(q, 1, w->key, KEY_BYTES);
        q_blob(q, 2, w->digest, HASH_LEN);
        q_run(q);
    }
    part_add(tx->db, w->digest, HASH_LEN, w);
    return RAMET_OK;
}

static void tables_end(incoming *base, bool kept)
{
    coming *w = (coming *)base;
    if (w->n && !kept) {
        ramet_error why = base->call->err;
        run(base->call, drop_run, w);
        base->call->err = why;
    }
    free(w);
}

/* --------------------------------------------------------------------- reading */

static const char *tables_size(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN],
                               int64_t *out)
{
    txn tx;
    int64_t n = 0;
    if (txn_read(&tx, c)) {
        n = parts_sum(tx.db, digest, HASH_LEN, out);
        txn_done(&tx, RAMET_OK);
    }
    if (c->err.status != RAMET_OK)
        return arena_printf(a, "cannot be read: %s", c->err.message);
    return n ? NULL : "is missing";
}

/* Reads one part in its own transaction, so that no connection is held while the caller uses the
 * bytes. -1: it is missing, or the call has failed. */
static ssize_t part_load(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t n, char *to)
{
    txn tx;
    ssize_t got = -1;
    if (!txn_read(&tx, c))
        return -1;
    db_stmt *q = db_query(tx.db, Q_part_get);
    q_blob(q, 1, digest, HASH_LEN);
    q_int(q, 2, n);
    if (q_row(q)) {
        size_t len = 0;
        const void *p = q_col_blob(q, 0, &len);
        if (len <= PART_BYTES) {
            memcpy(to, p ? p : "", len);
            got = (ssize_t)len;
        }
    }
    q_end(q);
    return txn_done(&tx, RAMET_OK) == RAMET_OK ? got : -1;
}

static const char *tables_read(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN],
                               int64_t from, int64_t n, file_take take, void *arg)
{
    const char *fault = NULL;
    char *bytes = xmalloc(PART_BYTES);
    while (n > 0 && !fault) {
        int64_t skip = from % (int64_t)PART_BYTES;
        ssize_t got = part_load(c, digest, from / (int64_t)PART_BYTES, bytes);
        int64_t some = got - skip < n ? got - skip : n;
        if (got < 0 && c->err.status != RAMET_OK)
            fault = arena_printf(a, "cannot be read: %s", c->err.message);
        else if (some <= 0)
            fault = "is too short";
        else if (!take(arg, bytes + skip, (size_t)some))
            fault = arena_printf(a, "cannot be read: %s", strerror(errno));
        from += some;
        n -= some;
    }
    free(bytes);
    return fault;
}

/* Creates an unnamed temporary file. */
static int temp_make(void)
{
    char path[4096];
    const char *base = getenv("TMPDIR");
    base = base && *base ? base : "/tmp";
    int fd = open(base, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    snprintf(path, sizeof path, "%s/ramet-file.XXXXXX", base);
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

typedef struct temp {
    int fd;
    bool failed;
} temp;

static bool take_temp(void *arg, const void *bytes, size_t n)
{
    temp *t = arg;
    t->failed = !bytes_write(t->fd, bytes, n);
    return !t->failed;
}

/* If the parts do not add up to the size, the file has another size; if parts disappear meanwhile,
 * the content is missing. */
static ramet_status tables_file(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size,
                                int *fd)
{
    int64_t have;
    const char *fault = tables_size(c, c->arena, digest, &have);
    if (fault)
        return c->err.status;
    temp t = {.fd = temp_make()};
    t.failed = t.fd < 0;
    if (!t.failed && have == size)
        fault = tables_read(c, c->arena, digest, 0, size, take_temp, &t);
    if (!t.failed && !fault && lseek(t.fd, 0, SEEK_SET) == 0) {
        *fd = t.fd;
        return RAMET_OK;
    }
    if (t.failed)
        call_fail(c, error_is_full(errno) ? RAMET_FULL : RAMET_IO, NULL,
                  "a file for the attachment cannot be written: %s", strerror(errno));
    if (t.fd >= 0)
        close(t.fd);
    return c->err.status;
}

/* --------------------------------------------------------------------- removing */

typedef struct reap_job {
    uint8_t name[HASH_LEN];
    size_t len;
} reap_job;

static ramet_status reap_run(db *d, void *arg)
{
    const reap_job *j = arg;
    db_stmt *q = db_query(d, Q_part_reap);
    q_blob(q, 1, j->name, j->len);
    q_run(q);
    return db_status(d);
}

static void tables_reap(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    reap_job j = {.len = HASH_LEN};
    memcpy(j.name, digest, HASH_LEN);
    run(c, reap_run, &j);
}

/* Loads the names after `last` that no row has. */
static ramet_status orphans_load(ramet_call *c, const reap_job *last, reap_job *out, size_t *n)
{
    txn tx;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_part_orphans);
    q_blob(q, 1, last->name, last->len);
    q_int(q, 2, SWEEP);
    while (*n < SWEEP && q_row(q)) {
        size_t len = 0;
        const void *name = q_col_blob(q, 0, &len);
        reap_job *o = &out[*n];
        o->len = len < sizeof o->name ? len : sizeof o->name;
        memcpy(o->name, name ? name : "", o->len);
        ++*n;
    }
    q_end(q);
    return txn_done(&tx, RAMET_OK);
}

static bool under_way(const reap_job *o)
{
    return o->len == KEY_BYTES && key_time(o->name) > time_now_us() - BEGUN_US;
}

static ramet_status tables_sweep(ramet_call *c, sweep_each each, void *arg)
{
    reap_job last = {.len = 0}, found[SWEEP];
    size_t n = SWEEP;
    while (n == SWEEP) {
        TRY(orphans_load(c, &last, found, &n));
        for (size_t i = 0; i < n; i++) {
            TRY(each(arg));
            if (!under_way(&found[i]))
                TRY(run(c, reap_run, &found[i]));
            last = found[i];
        }
    }
    return RAMET_OK;
}

const files_kind files_tables = {
    .word = "content",
    .begin = tables_begin,
    .add = tables_add,
    .seal = tables_seal,
    .keep = tables_keep,
    .end = tables_end,
    .open = tables_file,
    .size = tables_size,
    .read = tables_read,
    .reap = tables_reap,
    .sweep = tables_sweep,
};
