/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of store/db.h that is common to both engines, and the calls into the engine of a
 * connection.
 */
#include "store/engine.h"

#include "base/util.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool db_is_url(const char *name)
{
    return strncmp(name, "postgres://", 11) == 0 || strncmp(name, "postgresql://", 13) == 0;
}

ramet_status db_open(const db_config *cfg, db **out, char *message)
{
    const db_engine *e = db_is_url(cfg->path) ? &postgres_engine : &sqlite_engine;
    return e->open(cfg, out, message);
}

void db_close(db *d)
{
    if (d)
        d->engine->close(d);
}

/* -------------------------------------------- calls that the engine answers */

/* Defines a function with a result, and one without, so that the calls below read as a table. */
#define CALL(type, name, params, call)                                                             \
    type name params                                                                               \
    {                                                                                              \
        return call;                                                                               \
    }
#define DO(name, params, call)                                                                     \
    void name params                                                                               \
    {                                                                                              \
        call;                                                                                      \
    }

/* clang-format off */
CALL(ramet_status, db_begin_read, (db *d), d->engine->begin(d, DB_READ))
CALL(ramet_status, db_begin_write, (db *d), d->engine->begin(d, DB_WRITE))
CALL(ramet_status, db_begin_schema, (db *d), d->engine->begin(d, DB_SCHEMA))
DO(db_end_read, (db *d), d->engine->end_read(d))
CALL(ramet_status, db_commit, (db *d), d->engine->commit(d))
DO(db_rollback, (db *d), d->engine->rollback(d))
CALL(int64_t, db_changes, (db *d), d->engine->changes(d))
CALL(int64_t, db_past, (db *d), d->engine->past ? d->engine->past(d) : 0)
CALL(int64_t, db_epoch, (db *d), d->engine->epoch(d))
CALL(int64_t, db_number, (db *d, db_kind what, int64_t *at), d->engine->number(d, what, at, false))
CALL(int64_t, db_number_above, (db *d, db_kind what), d->engine->number(d, what, NULL, true))
CALL(int64_t, db_highest, (db *d, db_kind what), d->engine->highest(d, what))
CALL(bool, db_concurrent, (const db *d), d->engine->hold != NULL)

DO(q_int, (db_stmt *q, int n, int64_t v), q->engine->bind_int(q, n, v))
DO(q_text, (db_stmt *q, int n, const char *s), q->engine->bind_text(q, n, s))
DO(q_blob, (db_stmt *q, int n, const void *p, size_t len), q->engine->bind_blob(q, n, p, len))
CALL(bool, q_row, (db_stmt *q), q->engine->row(q))
DO(q_run, (db_stmt *q), q->engine->run(q))
DO(q_change, (db_stmt *q), q->engine->change(q))
DO(q_guard, (db_stmt *q), if (q->engine->guard) q->engine->guard(q))
DO(q_hold, (db_stmt *q), assert(q->engine->hold); q->engine->hold(q))
DO(q_end, (db_stmt *q), q->engine->end(q))
CALL(int64_t, q_col_int, (db_stmt *q, int n), q->engine->col_int(q, n))
CALL(double, q_col_real, (db_stmt *q, int n), q->engine->col_real(q, n))
CALL(const void *, q_col_blob, (db_stmt *q, int n, size_t *len), q->engine->col_bytes(q, n, false, len))
CALL(bool, q_col_null, (db_stmt *q, int n), q->engine->col_null(q, n))

CALL(bool, db_prefetch, (db *d), d->engine->prefetch_begin && d->engine->prefetch_begin(d))
CALL(bool, db_prefetched, (db *d), d->engine->prefetch_end(d))
DO(db_performed, (db *d), if (d->engine->prefetch_forget) d->engine->prefetch_forget(d))

CALL(ramet_status, db_script, (db *d, const char *sql), d->engine->script(d, sql))
CALL(int64_t, db_one, (db *d, const char *sql), d->engine->one(d, sql))
CALL(int64_t, db_version, (db *d), d->engine->version(d))
DO(db_set_version, (db *d, int64_t v), d->engine->set_version(d, v))
CALL(bool, db_marked, (db *d), d->engine->marked(d))
DO(db_mark, (db *d), d->engine->mark(d))
CALL(bool, db_empty, (db *d), d->engine->empty(d))

DO(db_sizes, (db *d, int64_t *data, int64_t *log), *data = *log = 0; d->engine->sizes(d, data, log))
CALL(bool, db_check, (db *d, void (*line)(void *arg, const char *text), void *arg),
     d->engine->check(d, line, arg))
CALL(ramet_status, db_backup, (db *d, const char *path, ramet_progress progress, void *arg),
     d->engine->backup(d, path, progress, arg))
CALL(int, db_log_pages, (const db *d), d->engine->log_pages ? d->engine->log_pages(d) : 0)
CALL(ramet_status, db_checkpoint, (db *d), d->engine->checkpoint(d))
/* clang-format on */

/* ------------------------------------------------------------------- status */

void db_fail(db *d, ramet_status s, const char *fmt, ...)
{
    if (d->status != RAMET_OK)
        return;
    d->status = s;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->message, sizeof d->message, fmt, ap);
    va_end(ap);
}

ramet_status db_status(const db *d)
{
    return d->status;
}

bool db_engine_failed(const db *d)
{
    return d->engine_failed;
}

const char *db_message(const db *d)
{
    return d->message;
}

void db_clear(db *d)
{
    d->status = RAMET_OK;
    d->engine_failed = false;
    d->message[0] = 0;
    if (d->engine->cleared)
        d->engine->cleared(d);
}

void db_stop_when(db *d, bool (*stop)(void *arg), void *arg)
{
    d->stop = stop;
    d->stop_arg = arg;
    d->statements = 0;
}

bool db_stopping(db *d)
{
    if (!d->stop || !d->stop(d->stop_arg))
        return false;
    db_fail(d, RAMET_STOP, "the read was stopped: nobody waits for it any more");
    return true;
}

int db_on_progress(void *d)
{
    return db_stopping(d);
}

bool db_guarded(const db *d)
{
    return d->guarded;
}

bool db_fresh(const db *d)
{
    return d->fresh;
}

void db_conflict(db *d)
{
    if (d->engine->conflict && d->status == RAMET_OK)
        d->engine->conflict(d);
    db_fail(d, RAMET_BUSY, "the write has to be run again");
}

/* --------------------------------------------------------------- statements */

/* Many short statements are a long read, too: check for a stop after this many. */
#define STATEMENTS_PER_STOP 16

db_stmt *db_query(db *d, sql_id q)
{
    if (d->stop && ++d->statements >= STATEMENTS_PER_STOP) {
        d->statements = 0;
        db_stopping(d);
    }
    return d->engine->query(d, q);
}

const char *q_col_text(db_stmt *q, int n)
{
    size_t len = 0;
    const char *text = q->engine->col_bytes(q, n, true, &len);
    return text;
}

const char *q_keep_text(db_stmt *q, int n, arena *a)
{
    size_t len;
    const char *p = q->engine->col_bytes(q, n, true, &len);
    return p ? arena_memdup(a, p, len) : NULL;
}

int64_t q_col_range(db_stmt *q, int n, int64_t low, int64_t high, const char *what)
{
    int64_t v = q->engine->col_int(q, n);
    if (v >= low && v <= high)
        return v;
    db_fail(q->connection, RAMET_DAMAGED,
            "%s is %lld, which no store holds there; it must be %lld to %lld", what, (long long)v,
            (long long)low, (long long)high);
    return low;
}

const char *q_need_text(db_stmt *q, int n, arena *a, const char *what)
{
    const char *text = q_keep_text(q, n, a);
    if (text)
        return text;
    db_fail(q->connection, RAMET_DAMAGED, "%s is missing in a row", what);
    return "";
}

/* ------------------------------------------------------------------- schema */

typedef struct expansion {
    char *text;
    size_t n, cap;
} expansion;

static void expand_add(expansion *x, const char *s, size_t n)
{
    if (x->n + n + 1 > x->cap) {
        x->cap = (x->n + n + 1) * 2;
        x->text = xrealloc(x->text, x->cap);
    }
    memcpy(x->text + x->n, s, n);
    x->n += n;
    x->text[x->n] = 0;
}

static void expand_text(expansion *x, const char *s)
{
    expand_add(x, s, strlen(s));
}

/* Expands the mark at `sql`; returns what follows it. */
static const char *expand_mark(expansion *x, const char *sql, const db_engine *e,
                               const db_word *words, size_t n, const char *keyed)
{
    size_t name = strlen(e->name);
    if (strncmp(sql, "@KEYED(", 7) == 0) {
        size_t len = strcspn(sql + 7, ")");
        bool tree = len == 4 && strncmp(sql + 7, "tree", 4) == 0;
        if (keyed) {
            expand_text(x, tree ? ", PRIMARY KEY(tree" : ", PRIMARY KEY(tree,");
            expand_add(x, sql + 7, tree ? 0 : len);
            expand_text(x, keyed);
        } else {
            expand_text(x, ")");
        }
        return sql + 7 + len + 1;
    }
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(words[i].mark);
        if (strncmp(sql, words[i].mark, len) == 0) {
            expand_text(x, words[i].word);
            return sql + len;
        }
    }
    /* @ENGINE{…} */
    const char *body = strchr(sql, '{'), *end = strchr(sql, '}');
    if ((size_t)(body - sql - 1) == name && strncmp(sql + 1, e->name, name) == 0)
        expand_add(x, body + 1, (size_t)(end - body - 1));
    return end + 1;
}

char *script_expand(const char *sql, const db_engine *e, const db_word *words, size_t n,
                    const char *keyed)
{
    expansion x = {0};
    expand_text(&x, "");
    while (*sql) {
        size_t plain = strcspn(sql, "@");
        expand_add(&x, sql, plain);
        sql += plain;
        if (*sql)
            sql = expand_mark(&x, sql, e, words, n, keyed);
    }
    return x.text;
}
