/* SPDX-License-Identifier: Apache-2.0
 *
 * Full-text search: the open index and the public calls. search.h tells the parts.
 *
 * The index follows the commit: appends know nothing of it, and a search first indexes
 * what it has not seen yet. So it can be lost at any time, and its failures are those
 * of a search, never of a write.
 */
#include "core/search.h"

#include <inttypes.h>
#include <stdlib.h>

#define TEXT_BYTES ((size_t)256 << 10)

static pthread_mutex_t first_use = PTHREAD_MUTEX_INITIALIZER;

const char *search_path(arena *a, const ramet *r)
{
    return arena_printf(a, "%s-search", store_path(r->st));
}

const char *search_text(arena *a, const char *text)
{
    size_t n = strlen(text);
    if (n <= TEXT_BYTES)
        return text;
    n = TEXT_BYTES;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return arena_memdup(a, text, n);
}

const char *search_scope(arena *a, int64_t tree, int64_t session, int role, int64_t owner)
{
    return arena_printf(a, "t%" PRId64 " s%" PRId64 " r%d u%" PRId64, tree, session, role, owner);
}

/* ---------------------------------------------------------------- the index */

static struct search *search_lock(ramet *r)
{
    pthread_mutex_lock(&first_use);
    if (!r->search) {
        r->search = xcalloc(1, sizeof *r->search);
        pthread_mutex_init(&r->search->lock, NULL);
    }
    struct search *s = r->search;
    pthread_mutex_unlock(&first_use);
    pthread_mutex_lock(&s->lock);
    return s;
}

static void search_unlock(struct search *s)
{
    pthread_mutex_unlock(&s->lock);
}

static ramet_status index_open(ramet *r, struct search *s, bool create, char *message)
{
    if (s->f)
        return RAMET_OK;
    arena *a = arena_new();
    db_config cfg = {.path = search_path(a, r),
                     .vfs = r->vfs,
                     .busy_ms = r->busy_ms,
                     .create = create,
                     .writer = true,
                     .index = true};
    ramet_status st = fts_open(&cfg, &s->f, message);
    arena_free(a);
    return st;
}

ramet_status index_fail(ramet_call *c, fts *f)
{
    return call_fail(c, db_status(fts_db(f)), NULL,
                     "the search index failed; the store is not touched: %s",
                     db_message(fts_db(f)));
}

void search_close(ramet *r)
{
    if (!r->search)
        return;
    fts_close(r->search->f);
    pthread_mutex_destroy(&r->search->lock);
    free(r->search);
    r->search = NULL;
}

int64_t search_mark(ramet *r)
{
    char message[512];
    struct search *s = search_lock(r);
    int64_t mark = index_open(r, s, false, message) == RAMET_OK ? follow_mark(s->f) : 0;
    search_unlock(s);
    return mark;
}

/* ----------------------------------------------------------------- forgetting */

static void forget_one(fts *f, arena *a, int64_t k, const char *text)
{
    db *d = fts_db(f);
    db_stmt *q = db_query(d, Q_fts_doc_by_key);
    q_int(q, 1, k);
    if (!q_row(q))
        return;
    int64_t no = q_col_int(q, 0), tree = q_col_int(q, 1), session = q_col_int(q, 2), owner = 0;
    int role = (int)q_col_int(q, 3);
    q_end(q);
    q = db_query(d, Q_fts_tree_get);
    q_int(q, 1, tree);
    if (q_row(q))
        owner = q_col_int(q, 0);
    q_end(q);
    /* Must be the very words that were added. */
    q = db_query(d, Q_fts_del);
    q_int(q, 1, no);
    q_text(q, 2, search_text(a, text));
    q_text(q, 3, search_scope(a, tree, session, role, owner));
    q_run(q);
    q = db_query(d, Q_fts_doc_del);
    q_int(q, 1, no);
    q_run(q);
}

void search_forget(ramet *r, const int64_t *keys, const char *const *texts, size_t n)
{
    char message[512];
    arena *a = arena_new();
    struct search *s = search_lock(r);
    if (index_open(r, s, false, message) == RAMET_OK && db_begin_write(fts_db(s->f)) == RAMET_OK) {
        for (size_t i = 0; i < n; i++) {
            if (texts[i] && *texts[i])
                forget_one(s->f, a, keys[i], texts[i]);
            arena_reset(a);
        }
        /* When it fails, the documents stay; a search skips those whose entry is gone. */
        db_commit(fts_db(s->f));
    }
    search_unlock(s);
    arena_free(a);
}

/* --------------------------------------------------------------- public calls */

typedef ramet_status (*index_work)(ramet_call *c, fts *f, void *arg);

/* Runs work on the open index; once more on an empty one when it proved to be damaged. */
static ramet_status index_run(ramet_call *c, index_work work, void *arg)
{
    char message[512] = "";
    struct search *s = search_lock(c->r);
    ramet_status st = index_open(c->r, s, true, message);
    if (st != RAMET_OK) {
        call_fail(c, st, NULL, "the search index cannot be opened: %s", message);
    } else {
        st = work(c, s->f, arg);
        if (db_status(fts_db(s->f)) == RAMET_DAMAGED) {
            memset(&c->err, 0, sizeof c->err);
            st = fts_reset(s->f) == RAMET_OK ? work(c, s->f, arg) : index_fail(c, s->f);
        }
    }
    search_unlock(s);
    return st;
}

typedef struct search_job {
    const ramet_search_in *in;
    int limit;
    query q;
    ramet_hits *out;
} search_job;

static ramet_status search_run(ramet_call *c, fts *f, void *arg)
{
    search_job *j = arg;
    int64_t indexed = 0;
    query q = j->q;
    TRY(query_cut(c, f, &q));
    TRY(follow_all(c, f, &indexed));
    *j->out = (ramet_hits){0};
    return find_page(c, f, j->in, j->limit, &q, j->out);
}

ramet_status ramet_search(ramet_call *c, const ramet_search_in *in, ramet_hits *out)
{
    search_job j = {.in = in, .out = out};
    *out = (ramet_hits){0};
    TRY(query_parse(c, in->query, &j.q));
    TRY(check_limit(c, in->limit, 200, 20, &j.limit));
    if ((unsigned)in->role > RAMET_SYSTEM)
        return call_fail(c, RAMET_INVALID, "role", "there is no role %d", (int)in->role);
    if (in->agent)
        TRY(check_id(c, "agent", in->agent));
    if (in->tree)
        TRY(check_id(c, "tree", in->tree));
    ramet_status st = index_run(c, search_run, &j);
    if (st != RAMET_OK)
        *out = (ramet_hits){0};
    return st;
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

ramet_status ramet_search_update(ramet_call *c, bool rebuild, int64_t *indexed)
{
    update_job j = {.rebuild = rebuild};
    if (indexed)
        *indexed = 0;
    if (rebuild && c->user)
        return call_fail(c, RAMET_FORBIDDEN, NULL,
                         "only the program that opened the store may make the index anew, not %s",
                         c->user);
    ramet_status st = index_run(c, update_run, &j);
    if (indexed)
        *indexed = j.indexed;
    return st;
}
