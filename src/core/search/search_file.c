/* SPDX-License-Identifier: Apache-2.0
 *
 * Full-text search in an index file beside the store. search.h lists the parts.
 *
 * The index follows the commit: appends do not know it, and a search first indexes what is new. So
 * the index can be lost at any time, and its failures are failures of a search, never of a write.
 */
#include "core/call.h"
#include "core/handle.h"
#include "core/search/search.h"
#include "core/txn.h"

static const char *search_path(arena *a, const ramet *r)
{
    return arena_printf(a, "%s-search", store_path(r->store));
}

/* Whether only writing failed: then what was indexed before can still be read. */
static bool only_writes_fail(ramet_status st)
{
    return st == RAMET_FULL || st == RAMET_IO || st == RAMET_STOPPED;
}

/* Opens the index. Even reading it needs some disk space beside it; when there is none, it is
 * opened as if it were on a read-only file system. */
static ramet_status index_open(ramet *r, struct search *s, bool create, char *message)
{
    if (s->index && !s->no_room)
        return RAMET_OK;
    fts_close(s->index);
    s->index = NULL;
    arena *a = arena_new();
    db_config cfg = {.path = search_path(a, r),
                     .vfs = r->vfs,
                     .busy_ms = r->busy_ms,
                     .create = create,
                     .mode_from = store_path(r->store),
                     .writer = true,
                     .index = true};
    ramet_status st = fts_open(&cfg, &s->index, message);
    s->no_room = only_writes_fail(st) && store_file_size(cfg.path) > 0;
    if (s->no_room) {
        cfg.read_only = true;
        st = fts_open(&cfg, &s->index, message);
    }
    arena_free(a);
    return st;
}

static int64_t file_mark(ramet *r)
{
    char message[512];
    int64_t mark = 0;
    struct search *s = search_lock(r);
    if (index_open(r, s, false, message) == RAMET_OK &&
        db_begin_read(fts_db(s->index)) == RAMET_OK) {
        mark = follow_mark(s->index);
        db_end_read(fts_db(s->index));
    }
    search_unlock(s);
    return mark;
}

static void file_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts,
                        size_t n)
{
    char message[512];
    struct search *s = search_lock(r);
    if (index_open(r, s, false, message) == RAMET_OK)
        follow_forget(s->index, tree, keys, texts, n);
    search_unlock(s);
}

/* ------------------------------------------------------------------ the engine */

typedef ramet_status (*index_work)(ramet_call *c, fts *f, void *arg);

/* Runs work on the open index; if the index proves to be damaged, runs it again on an empty one. */
static ramet_status index_run(ramet_call *c, index_work work, void *arg)
{
    char message[512] = "";
    struct search *s = search_lock(c->ramet);
    ramet_status st = index_open(c->ramet, s, true, message);
    if (st != RAMET_OK) {
        call_fail(c, st, NULL, "the search index cannot be opened: %s", message);
    } else {
        st = work(c, s->index, arg);
        if (db_status(fts_db(s->index)) == RAMET_DAMAGED) {
            memset(&c->err, 0, sizeof c->err);
            st = fts_reset(s->index) == RAMET_OK ? work(c, s->index, arg) : index_fail(c, s->index);
        }
    }
    search_unlock(s);
    return st;
}

typedef struct search_job {
    const ramet_search_in *in;
    int limit;
    query query;
    ramet_hits *out;
} search_job;

static ramet_status search_run(ramet_call *c, fts *f, void *arg)
{
    search_job *j = arg;
    int64_t indexed = 0;
    query q = j->query;
    TRY(query_cut(c, f, &q));
    ramet_status followed = follow_all(c, f, &indexed);
    /* While the disk is full or read-only, a search finds what was indexed before. */
    if (followed != RAMET_OK && !only_writes_fail(followed))
        return followed;
    memset(&c->err, 0, sizeof c->err);
    *j->out = (ramet_hits){0};
    finder s = {.call = c, .in = j->in, .query = &q, .index = f};
    fts_state state;
    /* Begin with the index: then the snapshot of the store has everything that is in it. */
    if (db_begin_read(fts_db(f)) != RAMET_OK)
        return index_fail(c, f);
    db_stop_when(fts_db(f), c->stop.when, c->stop.arg);
    fts_state_get(f, &state); /* the snapshot begins with the first read */
    ramet_status st =
        txn_read(&s.tx, c) ? txn_done(&s.tx, find_page(&s, j->limit, j->out)) : c->err.status;
    db_stop_when(fts_db(f), NULL, NULL);
    if (db_status(fts_db(f)) != RAMET_OK)
        st = index_fail(c, f);
    db_end_read(fts_db(f));
    return st;
}

static ramet_status file_find(ramet_call *c, const ramet_search_in *in, int limit, const query *q,
                              ramet_hits *out)
{
    search_job j = {.in = in, .limit = limit, .query = *q, .out = out};
    return index_run(c, search_run, &j);
}

typedef struct update_job {
    bool rebuild;
    int64_t indexed;
} update_job;

static ramet_status update_run(ramet_call *c, fts *f, void *arg)
{
    update_job *j = arg;
    j->indexed = 0;
    if (j->rebuild)
        TRY(follow_restart(c, f));
    return follow_all(c, f, &j->indexed);
}

static ramet_status file_update(ramet_call *c, bool rebuild, int64_t *indexed)
{
    update_job j = {.rebuild = rebuild};
    ramet_status st = index_run(c, update_run, &j);
    *indexed = j.indexed;
    return st;
}

/* There may be no index yet, or one that this process has not opened. */
static ramet_status file_scrub(ramet_call *c, bool whole)
{
    char message[512] = "";
    (void)whole;
    arena *a = arena_new();
    bool there = store_file_size(search_path(a, c->ramet)) > 0;
    arena_free(a);
    if (!there)
        return RAMET_OK;
    struct search *s = search_lock(c->ramet);
    ramet_status st = index_open(c->ramet, s, true, message);
    if (st != RAMET_OK)
        call_fail(c, st, NULL, "the search index cannot be opened: %s", message);
    else if (fts_reset(s->index) != RAMET_OK || db_scrub(fts_db(s->index)) != RAMET_OK)
        st = index_fail(c, s->index);
    search_unlock(s);
    return st;
}

static int64_t file_bytes(ramet *r)
{
    arena *a = arena_new();
    const char *path = search_path(a, r);
    int64_t n = store_file_size(path) + store_file_size(arena_printf(a, "%s-wal", path));
    arena_free(a);
    return n;
}

/* The event that the index has seen last must stay: by that event it recognizes the store it
 * belongs to. An index that is created later reads the entries themselves. */
static int64_t file_needs(ramet *r)
{
    arena *a = arena_new();
    bool index = store_file_size(search_path(a, r)) > 0;
    arena_free(a);
    return index ? file_mark(r) : INT64_MAX;
}

static void file_release(ramet *r)
{
    struct search *s = search_lock(r);
    if (s->index)
        db_release(fts_db(s->index));
    search_unlock(s);
}

const search_engine search_in_file = {
    .find = file_find,
    .update = file_update,
    .forget = file_forget,
    .mark = file_mark,
    .bytes = file_bytes,
    .needs = file_needs,
    .release = file_release,
    .scrub = file_scrub,
};
