/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a copy: the tables, pages of rows, the walk over both sides, and writes (copy.h).
 */
#include "core/call.h"
#include "core/txn.h"
#include "core/upkeep/copy.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_ROWS 1000
#define PAGE_FIRST 64 /* until the size of the rows is known */
#define COPY_BYTES ((size_t)4 << 20)
#define FAULTS_MAX 1000
#define KEEP_US (INT64_C(3) * 1000000) /* how often the lock is renewed */

/* ------------------------------------------------------------------- tables */

#define COLUMN_TYPE(n, name, type) type,
#define COLUMN_NAME(n, name, type) #name,
#define T(name, ...)                                                                               \
    static const char name##_types[] = {COPY_COLS_##name(COLUMN_TYPE, COLUMN_TYPE)};               \
    static const char *const name##_columns[] = {COPY_COLS_##name(COLUMN_NAME, COLUMN_NAME)};
COPY_TABLES(T)
#undef T

#define DROP_FIXED(name) Q_copy_##name##_cut
#define DROP_MOVES(name) Q_copy_##name##_drop
#define IS_FIXED false
#define IS_MOVES true
#define T(t, how, fixed, k1, k2, k3, k4, k5)                                                       \
    {.name = #t,                                                                                   \
     .columns = t##_columns,                                                                       \
     .types = t##_types,                                                                           \
     .n = sizeof t##_types,                                                                        \
     .reach = COPY_##how,                                                                          \
     .moves = IS_##fixed,                                                                          \
     .key = {k1, k2, k3, k4, k5},                                                                  \
     .n_key = 1 + (k2 > 0) + (k3 > 0) + (k4 > 0) + (k5 > 0),                                       \
     .read = Q_copy_##t##_read,                                                                    \
     .add = Q_copy_##t##_add,                                                                      \
     .cut = Q_copy_##t##_cut,                                                                      \
     .drop = DROP_##fixed(t)},
const copy_table copy_tables[COPY_N_TABLES] = {COPY_TABLES(T)};
#undef T

static const copy_cell *key_cell(const copy_table *t, const copy_cell *row, size_t i)
{
    return &row[t->key[i] - 1];
}

int64_t copy_tree_of(const copy_table *t, const copy_cell *row)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->columns[i], "tree") == 0)
            return row[i].number;
    return 0;
}

/* ------------------------------------------------------------------ failures */

void copy_fail(copy_job *j, ramet_status st, const char *field, const char *fmt, ...)
{
    if (j->err.status != RAMET_OK)
        return;
    j->err.status = st;
    if (field)
        snprintf(j->err.field, sizeof j->err.field, "%s", field);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->err.message, sizeof j->err.message, fmt, ap);
    va_end(ap);
}

/* Records the failure of a connection, or of a call. */
static void side_failed(copy_job *j, const char *side, ramet_status st, const char *message)
{
    if (st != RAMET_OK)
        copy_fail(j, st, NULL, "the %s: %s", side, message);
}

static const char *cell_text(arena *a, char type, const copy_cell *c)
{
    if (c->null)
        return "null";
    if (type == 'i')
        return arena_printf(a, "%lld", (long long)c->number);
    if (type == 't')
        return arena_printf(a, "%.80s", c->bytes);
    size_t n = c->n < HASH_LEN ? c->n : HASH_LEN;
    char hex[2 * HASH_LEN + 1];
    hex_encode((const uint8_t *)c->bytes, n, hex);
    return arena_strdup(a, hex);
}

static const char *key_text(arena *a, const copy_table *t, const copy_cell *row)
{
    const char *s = "";
    if (t->reach == COPY_RANGE)
        s = arena_printf(a, "tree=%lld", (long long)copy_tree_of(t, row));
    for (size_t i = 0; i < t->n_key; i++) {
        size_t at = t->key[i] - 1;
        s = arena_printf(a, "%s%s%s=%s", s, s[0] ? " " : "", t->columns[at],
                         cell_text(a, t->types[at], &row[at]));
    }
    return s;
}

void copy_fault(copy_job *j, const copy_table *t, const copy_cell *row, const char *fmt, ...)
{
    if (j->out->n_all++ >= FAULTS_MAX)
        return;
    arena *a = j->call->arena;
    char what[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    ramet_copy_fault f = {.table = t ? t->name : "", .key = row ? key_text(a, t, row) : ""};
    f.what = row ? arena_printf(a, "%s %s: %s", f.table, f.key, what) : arena_strdup(a, what);
    VEC_PUSH(a, &j->faults, f);
}

bool copy_tick(copy_job *j)
{
    if (j->err.status != RAMET_OK)
        return false;
    if (j->progress && !j->progress(j->arg, j->doing, j->done, j->total))
        copy_fail(j, RAMET_STOP, NULL, "the copy was stopped; the next one goes on with it");
    else if (j->owner[0] && time_mono_us() - j->written_at > KEEP_US)
        copy_flush(j);
    return j->err.status == RAMET_OK;
}

/* ------------------------------------------------------------------- cursors */

static void cell_bind(db_stmt *q, int n, char type, const copy_cell *c)
{
    if (c->null)
        q_text(q, n, NULL);
    else if (type == 'i')
        q_int(q, n, c->number);
    else if (type == 't')
        q_text(q, n, c->bytes);
    else
        q_blob(q, n, c->bytes, c->n);
}

copy_cell copy_cell_read(db_stmt *q, int n, char type, arena *a)
{
    copy_cell c = {.null = q_col_null(q, n), .bytes = ""};
    if (c.null)
        return c;
    if (type == 'i') {
        c.number = q_col_int(q, n);
        return c;
    }
    const void *p = type == 't' ? q_col_text(q, n) : q_col_blob(q, n, &c.n);
    if (type == 't')
        c.n = p ? strlen(p) : 0;
    c.bytes = arena_memdup(a, p ? p : "", c.n);
    return c;
}

static int cell_order(char type, const copy_cell *a, const copy_cell *b)
{
    if (type == 'i')
        return a->number < b->number ? -1 : a->number > b->number;
    size_t n = a->n < b->n ? a->n : b->n;
    int order = memcmp(a->bytes, b->bytes, n);
    return order ? order : a->n < b->n ? -1 : a->n > b->n;
}

static int row_order(const copy_table *t, const copy_cell *a, const copy_cell *b)
{
    int order = 0;
    for (size_t i = 0; i < t->n_key && !order; i++)
        order = cell_order(t->types[t->key[i] - 1], key_cell(t, a, i), key_cell(t, b, i));
    return order;
}

bool copy_same(const copy_table *t, const copy_cell *a, const copy_cell *b)
{
    for (size_t i = 0; i < t->n; i++) {
        if (a[i].null != b[i].null)
            return false;
        if (!a[i].null && cell_order(t->types[i], &a[i], &b[i]) != 0)
            return false;
    }
    return true;
}

static void cursor_start(copy_cursor *k, db *d, const copy_table *t, int64_t tree, int64_t lo,
                         int64_t upto)
{
    k->db = d;
    k->table = t;
    k->tree = tree;
    k->upto = upto;
    k->n = k->at = 0;
    k->limit = PAGE_FIRST;
    k->last = false;
    for (size_t i = 0; i < t->n_key; i++)
        k->after[i] = (copy_cell){.number = i ? INT64_MIN : lo, .bytes = ""};
    /* Start after the previous tree when the key has no other column. */
    if (t->reach == COPY_TREE && t->n_key == 1)
        k->after[0].number--;
}

static void cursor_bind(const copy_cursor *k, db_stmt *q)
{
    const copy_table *t = k->table;
    int n = 1;
    if (t->reach == COPY_RANGE)
        q_int(q, n++, k->tree);
    for (size_t i = 0; i < t->n_key; i++)
        cell_bind(q, n++, t->types[t->key[i] - 1], &k->after[i]);
    if (t->reach != COPY_WHOLE)
        q_int(q, n++, k->upto);
    q_int(q, n, (int64_t)k->limit);
}

/* Reads a page. Its rows are contiguous, t->n cells each. */
static void cursor_page(copy_cursor *k)
{
    const copy_table *t = k->table;
    arena *a = k->spare;
    k->spare = k->arena;
    k->arena = a;
    arena_reset(a);
    k->rows = arena_array(a, k->limit * t->n, sizeof *k->rows);
    k->n = k->at = 0;
    db_stmt *q = db_query(k->db, t->read);
    cursor_bind(k, q);
    while (k->n < k->limit && q_row(q)) {
        copy_cell *row = &k->rows[k->n++ * t->n];
        for (size_t i = 0; i < t->n; i++)
            row[i] = copy_cell_read(q, (int)i, t->types[i], a);
    }
    q_end(q);
    k->last = k->n < k->limit;
    for (size_t i = 0; k->n && i < t->n_key; i++)
        k->after[i] = *key_cell(t, &k->rows[(k->n - 1) * t->n], i);
    if (arena_used(a) > COPY_BYTES)
        k->limit = k->limit > 4 ? k->limit / 4 : 1;
    else if (arena_used(a) < COPY_BYTES / 8)
        k->limit = k->limit * 4 < PAGE_ROWS ? k->limit * 4 : PAGE_ROWS;
}

/* The walk needs both sides in the same order: bytewise. */
static void cursor_check(copy_job *j, const copy_cursor *k, const copy_cell *before)
{
    for (size_t i = 0; i < k->n; i++) {
        const copy_cell *row = &k->rows[i * k->table->n];
        if (before && row_order(k->table, before, row) >= 0)
            copy_fail(j, RAMET_DAMAGED, NULL, "the %s: the rows of %s come out of order",
                      k == &j->from ? "source" : "target", k->table->name);
        before = row;
    }
}

/* The current row; NULL at the end. It lives until the page after the next one is read. */
static const copy_cell *cursor_row(copy_job *j, copy_cursor *k)
{
    if (k->at == k->n && !k->last && copy_tick(j)) {
        const copy_cell *before = k->n ? &k->rows[(k->n - 1) * k->table->n] : NULL;
        int64_t began = time_mono_us();
        cursor_page(k);
        k->spent += time_mono_us() - began;
        side_failed(j, k == &j->from ? "source" : "target", db_status(k->db), db_message(k->db));
        cursor_check(j, k, before);
    }
    return k->at < k->n && j->err.status == RAMET_OK ? &k->rows[k->at * k->table->n] : NULL;
}

void copy_merge(copy_job *j, const copy_table *t, int64_t tree, int64_t lo, int64_t upto,
                copy_each each)
{
    cursor_start(&j->from, j->src.db, t, tree, lo, upto);
    cursor_start(&j->with, j->dst.db, t, tree, lo, upto);
    for (;;) {
        const copy_cell *a = cursor_row(j, &j->from), *b = cursor_row(j, &j->with);
        if (j->err.status != RAMET_OK || (!a && !b))
            return;
        int order = !a ? 1 : !b ? -1 : row_order(t, a, b);
        j->from.at += order <= 0;
        j->with.at += order >= 0;
        if (!each(j, t, order <= 0 ? a : NULL, order >= 0 ? b : NULL))
            return;
    }
}

/* ------------------------------------------------------------ what is done to a row */

bool copy_put_each(copy_job *j, const copy_table *t, const copy_cell *from, const copy_cell *with)
{
    if (!from)
        j->extra[t - copy_tables]++;
    else if (!with || !copy_same(t, from, with))
        copy_change_add(j, &(copy_change){.table = t, .row = from, .there = with != NULL});
    if (from && t == &copy_tables[COPY_T_entry])
        j->done++;
    return true;
}

bool copy_cut_each(copy_job *j, const copy_table *t, const copy_cell *from, const copy_cell *with)
{
    if (!from)
        copy_change_add(j, &(copy_change){.table = t, .row = with, .cut = true});
    return true;
}

/* Hashes a row in canonical form: the table, then each cell with its type and length. */
static void row_digest(sha *h, const copy_table *t, const copy_cell *row)
{
    sha_add(h, t->name, strlen(t->name) + 1);
    for (size_t i = 0; i < t->n; i++) {
        uint8_t head[9] = {(uint8_t)(row[i].null ? 'n' : t->types[i])};
        uint64_t v = row[i].null ? 0 : t->types[i] == 'i' ? (uint64_t)row[i].number : row[i].n;
        for (int b = 0; b < 8; b++)
            head[1 + b] = (uint8_t)(v >> (56 - 8 * b));
        sha_add(h, head, sizeof head);
        if (!row[i].null && t->types[i] != 'i')
            sha_add(h, row[i].bytes, row[i].n);
    }
}

bool copy_check_each(copy_job *j, const copy_table *t, const copy_cell *from, const copy_cell *with)
{
    if (from)
        row_digest(j->digest[0], t, from);
    if (with)
        row_digest(j->digest[1], t, with);
    if (!with)
        copy_fault(j, t, from, "it is missing in the target");
    else if (!from)
        copy_fault(j, t, with, "it is in the target alone");
    for (size_t i = 0; from && with && i < t->n; i++)
        if (from[i].null != with[i].null ||
            (!from[i].null && cell_order(t->types[i], &from[i], &with[i]) != 0)) {
            copy_fault(j, t, from, "its %s differs", t->columns[i]);
            break;
        }
    if (j->in->verify_only && from && t == &copy_tables[COPY_T_entry])
        j->done++;
    return true;
}

/* -------------------------------------------------------------------- writes */

void copy_change_add(copy_job *j, const copy_change *change)
{
    const copy_table *t = change->table;
    copy_change mine = *change;
    copy_cell *row = arena_array(j->batch, t->n, sizeof *row);
    for (size_t i = 0; i < t->n; i++) {
        row[i] = change->row[i];
        if (!row[i].null && t->types[i] != 'i')
            row[i].bytes = arena_memdup(j->batch, row[i].bytes ? row[i].bytes : "", row[i].n);
    }
    mine.row = row;
    VEC_PUSH(j->batch, &j->changes, mine);
    j->changed++;
    if (j->changes.n >= PAGE_ROWS || arena_used(j->batch) > COPY_BYTES)
        copy_flush(j);
}

void copy_mark_add(copy_job *j, const char *key, int64_t value)
{
    copy_mark m = {key, arena_printf(j->batch, "%lld", (long long)value)};
    VEC_PUSH(j->batch, &j->marks, m);
}

/* Frees a unique id that another row of the target has, which the source no longer has. */
static void row_free(txn *tx, sql_id what, char type, const copy_cell *id, int64_t number)
{
    db_stmt *q = db_query(tx->db, what);
    cell_bind(q, 1, type, id);
    q_int(q, 2, number);
    q_run(q);
}

static void row_remove(txn *tx, const copy_table *t, const copy_cell *row, bool dropped)
{
    int n = 1;
    db_stmt *q = db_query(tx->db, dropped ? t->drop : t->cut);
    if (dropped || t->reach == COPY_RANGE)
        q_int(q, n++, copy_tree_of(t, row));
    if (dropped)
        cell_bind(q, n, t->types[0], &row[0]);
    for (size_t i = 0; !dropped && i < t->n_key; i++)
        cell_bind(q, n++, t->types[t->key[i] - 1], key_cell(t, row, i));
    q_run(q);
}

static void change_do(txn *tx, const copy_change *change)
{
    const copy_table *t = change->table;
    const copy_cell *row = change->row;
    if (change->cut || change->there || t->moves)
        row_remove(tx, t, row, t->moves && !change->cut);
    if (change->cut)
        return;
    if (t == &copy_tables[COPY_T_session] && !row[2].null)
        row_free(tx, Q_copy_session_free, 't', &row[2], row[0].number);
    if (t == &copy_tables[COPY_T_tree])
        row_free(tx, Q_copy_tree_free, 't', &row[1], row[0].number);
    if (t == &copy_tables[COPY_T_verdict])
        row_free(tx, Q_copy_verdict_free, 'i', &row[0], row[1].number);
    if (t == &copy_tables[COPY_T_transfer]) /* a tree has at most one */
        row_free(tx, Q_copy_transfer_free, 't', &row[0], row[1].number);
    db_stmt *q = db_query(tx->db, t->add);
    for (size_t i = 0; i < t->n; i++)
        cell_bind(q, (int)i + 1, t->types[i], &row[i]);
    q_run(q);
}

void copy_lock_text(const copy_job *j, char out[COPY_LOCK_TEXT])
{
    snprintf(out, COPY_LOCK_TEXT, "%s %lld %s", j->owner, (long long)(time_now_us() + COPY_LOCK_US),
             j->host);
}

static ramet_status flush_run(txn *tx, void *arg)
{
    copy_job *j = arg;
    char mine[COPY_LOCK_TEXT];
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, COPY_LOCK);
    const char *lock = q_row(q) ? q_col_text(q, 0) : NULL;
    bool held = lock && strncmp(lock, j->owner, strlen(j->owner)) == 0;
    q_end(q);
    if (!held && db_status(tx->db) == RAMET_OK)
        return call_fail(tx->call, RAMET_BUSY, NULL, "another copy has taken over");
    copy_lock_text(j, mine);
    q = db_query(tx->db, Q_meta_set);
    q_text(q, 1, COPY_LOCK);
    q_text(q, 2, mine);
    q_run(q);
    for (size_t i = 0; i < j->marks.n; i++) {
        q = db_query(tx->db, Q_meta_set);
        q_text(q, 1, j->marks.items[i].key);
        q_text(q, 2, j->marks.items[i].value);
        q_run(q);
    }
    for (size_t i = 0; i < j->changes.n; i++)
        change_do(tx, &j->changes.items[i]);
    return txn_status(tx);
}

void copy_flush(copy_job *j)
{
    if (j->err.status == RAMET_OK) {
        ramet_status st = txn_write(j->to, flush_run, j);
        side_failed(j, "target", st, j->to->err.message);
        for (size_t i = 0; st == RAMET_OK && i < j->changes.n; i++)
            *(j->changes.items[i].cut ? &j->out->removed : &j->out->written) += 1;
    }
    if (j->moving && j->reading)
        copy_read_target(j);
    j->written_at = time_mono_us();
    memset(&j->changes, 0, sizeof j->changes);
    memset(&j->marks, 0, sizeof j->marks);
    arena_reset(j->batch);
}

/* ----------------------------------------------------------------- snapshots */

bool copy_read_begin(copy_job *j)
{
    if (j->err.status != RAMET_OK)
        return false;
    if (!txn_read(&j->src, j->call)) {
        side_failed(j, "source", j->call->err.status, j->call->err.message);
        return false;
    }
    if (!txn_read(&j->dst, j->to)) {
        side_failed(j, "target", j->to->err.status, j->to->err.message);
        txn_done(&j->src, RAMET_OK);
        return false;
    }
    j->reading = true;
    return true;
}

bool copy_read_target(copy_job *j)
{
    if (j->err.status != RAMET_OK)
        return false;
    db_end_read(j->dst.db);
    side_failed(j, "target", db_begin_read(j->dst.db), db_message(j->dst.db));
    return j->err.status == RAMET_OK;
}

void copy_read_end(copy_job *j)
{
    if (!j->reading)
        return;
    j->reading = false;
    side_failed(j, "source", txn_done(&j->src, RAMET_OK), j->call->err.message);
    side_failed(j, "target", txn_done(&j->dst, RAMET_OK), j->to->err.message);
}
