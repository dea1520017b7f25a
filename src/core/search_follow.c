/* SPDX-License-Identifier: Apache-2.0
 *
 * Brings the search index up to the store's last commit.
 *
 * The events of the store say what was appended, in commit order. The index keeps the
 * number of the last event that it has seen, and what that event was: when the store
 * has another one there, the index belongs to another store or to another past of this
 * one, and is filled anew.
 *
 * The work goes in steps, each one transaction of the index. Its lock is taken before
 * the snapshot of the store: so entries that gc takes out of both are never put back.
 * The snapshot ends before the words are indexed, which takes much longer than reading
 * them: a long snapshot would keep the writer's log from being reset.
 */
#include "core/search.h"

#include <inttypes.h>
#include <stdio.h>

#define STEP_ENTRIES 8000
#define STEP_BYTES ((int64_t)8 << 20)
#define STEP_EVENTS 8000
#define PRINT_LEN 192

/* An entry that was read and is to be indexed. */
typedef struct item {
    fts_doc doc;
    int64_t owner;
    const char *text;
} item;

typedef struct step {
    fts *f;
    db *d;       /* the index */
    cx x;        /* the store */
    arena *keep; /* for the step */
    arena *tmp;  /* for one entry */
    VEC(item) items;
    int64_t mark, done, scan; /* last event seen; entries of the next one done; see scan_some() */
    char print[PRINT_LEN];    /* what the event `mark` was */
    int64_t next;             /* number of the next document */
    int64_t tree, owner;      /* the last tree looked up */
    int64_t block, lo, hi;    /* block of the time table not yet written, -1 = none */
    int64_t entries, bytes;   /* looked at, and of texts taken, in this step */
    int64_t all_bytes;        /* of texts indexed since the beginning */
    bool more;
} step;

static int64_t number(db *d, sql_id what)
{
    db_stmt *q = db_query(d, what);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

static void event_print(db_stmt *q, char out[PRINT_LEN])
{
    size_t n = 0;
    for (int i = 0; i < 7; i++)
        n += (size_t)snprintf(out + n, PRINT_LEN - n, "%" PRId64 ".", q_col_int(q, i));
}

/* ------------------------------------------------------------------- state */

static void state_load(step *w)
{
    db_stmt *q = db_query(w->d, Q_fts_state_get);
    if (q_row(q)) {
        const char *print = q_col_text(q, 3);
        w->mark = q_col_int(q, 0);
        w->done = q_col_int(q, 1);
        w->scan = q_col_int(q, 2);
        w->all_bytes = q_col_int(q, 4);
        snprintf(w->print, sizeof w->print, "%s", print ? print : "");
    } else {
        db_fail(w->d, RAMET_DAMAGED, "the index has lost its state");
    }
    q_end(q);
}

static void state_save(step *w)
{
    db_stmt *q = db_query(w->d, Q_fts_state_set);
    q_int(q, 1, w->mark);
    q_int(q, 2, w->done);
    q_int(q, 3, w->scan);
    q_text(q, 4, w->print);
    q_int(q, 5, w->all_bytes);
    q_run(q);
}

static void index_clear(step *w)
{
    static const sql_id all[] = {Q_fts_clear, Q_fts_clear_doc, Q_fts_clear_span, Q_fts_clear_tree,
                                 Q_fts_clear_owner};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        q_run(db_query(w->d, all[i]));
    w->mark = w->done = w->scan = w->all_bytes = 0;
    w->print[0] = 0;
    state_save(w);
}

/* Whether the store still has the event that the index has seen last. */
static bool state_fits(step *w)
{
    char print[PRINT_LEN] = "";
    if (!w->mark)
        return true;
    db_stmt *q = db_query(w->x.d, Q_event_get);
    q_int(q, 1, w->mark);
    if (q_row(q))
        event_print(q, print);
    q_end(q);
    return strcmp(print, w->print) == 0;
}

/* ----------------------------------------------------------------- one entry */

static void tree_find(step *w, int64_t tree)
{
    if (w->tree == tree)
        return;
    w->tree = tree;
    db_stmt *q = db_query(w->d, Q_fts_tree_get), *add;
    q_int(q, 1, tree);
    bool known = q_row(q);
    if (known)
        w->owner = q_col_int(q, 0);
    q_end(q);
    if (known)
        return;
    q = db_query(w->x.d, Q_member_all);
    q_int(q, 1, tree);
    const char *name = q_row(q) && q_col_int(q, 1) == RAMET_OWNER ? q_keep_text(q, 0, w->tmp) : "";
    q_end(q);
    add = db_query(w->d, Q_fts_owner_add);
    q_text(add, 1, name);
    q_run(add);
    q = db_query(w->d, Q_fts_owner_get);
    q_text(q, 1, name);
    w->owner = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    add = db_query(w->d, Q_fts_tree_add);
    q_int(add, 1, tree);
    q_int(add, 2, w->owner);
    q_run(add);
}

static void span_flush(step *w)
{
    if (w->block < 0)
        return;
    db_stmt *q = db_query(w->d, Q_fts_span_add);
    q_int(q, 1, w->block);
    q_int(q, 2, w->lo);
    q_int(q, 3, w->hi);
    q_run(q);
    w->block = -1;
}

static void span_note(step *w, int64_t no, int64_t created)
{
    if (w->block != no >> SPAN_BITS) {
        span_flush(w);
        w->block = no >> SPAN_BITS;
        w->lo = w->hi = created;
    }
    w->lo = created < w->lo ? created : w->lo;
    w->hi = created > w->hi ? created : w->hi;
}

static bool doc_there(step *w, int64_t k)
{
    db_stmt *q = db_query(w->d, Q_fts_doc_by_key);
    q_int(q, 1, k);
    bool there = q_row(q);
    q_end(q);
    return there;
}

static void doc_add(step *w, const item *i)
{
    const fts_doc *e = &i->doc;
    int64_t no = w->next++, bytes = (int64_t)strlen(i->text);
    db_stmt *q = db_query(w->d, Q_fts_add);
    q_int(q, 1, no);
    q_text(q, 2, i->text);
    q_text(q, 3, search_scope(w->tmp, e->tree, e->session, e->role, i->owner));
    q_run(q);
    q = db_query(w->d, Q_fts_doc_add);
    q_int(q, 1, no);
    q_int(q, 2, e->tree);
    q_int(q, 3, e->k);
    q_int(q, 4, e->session);
    q_int(q, 5, e->role);
    q_int(q, 6, e->created);
    q_int(q, 7, bytes);
    q_run(q);
    span_note(w, no, e->created);
    w->all_bytes += bytes;
    arena_reset(w->tmp);
}

/* A row of entry_texts or entry_scan. */
static void entry_take(step *w, db_stmt *q)
{
    branch_meta m;
    item i = {.doc = {.k = q_col_int(q, 0),
                      .tree = q_col_int(q, 1),
                      .role = (int)q_col_int(q, 2),
                      .created = q_col_int(q, 5)}};
    fts_doc *e = &i.doc;
    bool large = q_col_int(q, 4) & FLAG_LARGE;
    w->entries++;
    if (!branch_meta_load(&w->x, e->tree, KEY_BRANCH(e->k), &m) || m.log != RAMET_LOG_MAIN)
        return;
    e->session = m.session;
    const char *text = large ? body_text(&w->x, e->tree, e->k) : q_col_text(q, 3);
    if (text && *text && !doc_there(w, e->k)) {
        tree_find(w, e->tree);
        i.owner = w->owner;
        i.text = arena_strdup(w->keep, search_text(w->tmp, text));
        VEC_PUSH(w->keep, &w->items, i);
        w->bytes += (int64_t)strlen(i.text);
    }
    arena_reset(w->tmp);
}

static bool step_full(const step *w)
{
    return w->entries >= STEP_ENTRIES || w->bytes >= STEP_BYTES;
}

/* ------------------------------------------------------------------ one step */

/* The entries of one event, from w->done on; false when the step is full before its end. */
static bool event_take(step *w, int64_t tree, int64_t k, int64_t n)
{
    db_stmt *q = db_query(w->x.d, Q_entry_texts);
    q_int(q, 1, tree);
    q_int(q, 2, k + w->done);
    q_int(q, 3, k + n - 1);
    while (q_row(q)) {
        if (step_full(w)) {
            w->done = q_col_int(q, 0) - k;
            q_end(q);
            return false;
        }
        entry_take(w, q);
    }
    w->done = 0;
    return true;
}

static void events_take(step *w)
{
    int64_t count = 0;
    db_stmt *q = db_query(w->x.d, Q_event_after);
    q_int(q, 1, w->mark);
    q_int(q, 2, STEP_EVENTS);
    while (!w->more && q_row(q)) {
        bool appended = q_col_int(q, 3) == RAMET_EVENT_APPENDED;
        if (appended && !event_take(w, q_col_int(q, 1), q_col_int(q, 4), q_col_int(q, 5))) {
            w->more = true;
            break;
        }
        w->mark = q_col_int(q, 0);
        event_print(q, w->print);
        count++;
        w->more = step_full(w);
    }
    q_end(q);
    if (count == STEP_EVENTS)
        w->more = true;
}

/* When the events do not reach back to the first, the entries themselves are gone through,
 * by key. w->scan is the key that was looked at last. Events after the mark come behind
 * that, and what both have is taken once. */
static void scan_begin(step *w)
{
    db_stmt *q = db_query(w->x.d, Q_event_get);
    w->mark = number(w->x.d, Q_max_event);
    q_int(q, 1, w->mark);
    if (q_row(q))
        event_print(q, w->print);
    q_end(q);
    w->done = 0;
    w->scan = 1;
}

static void scan_some(step *w)
{
    int64_t count = 0;
    db_stmt *q = db_query(w->x.d, Q_entry_scan);
    q_int(q, 1, w->scan);
    q_int(q, 2, STEP_ENTRIES);
    while (!step_full(w) && q_row(q)) {
        w->scan = q_col_int(q, 0);
        entry_take(w, q);
        count++;
    }
    q_end(q);
    if (!count)
        w->scan = 0;
    w->more = true;
}

static void step_read(step *w)
{
    state_load(w);
    if (!state_fits(w))
        index_clear(w);
    if (!w->mark && !w->scan && number(w->x.d, Q_min_event) > 1)
        scan_begin(w);
    if (w->scan)
        scan_some(w);
    else
        events_take(w);
}

static void step_write(step *w)
{
    w->next = number(w->d, Q_fts_top) + 1;
    w->block = -1;
    for (size_t i = 0; i < w->items.n; i++)
        doc_add(w, &w->items.items[i]);
    span_flush(w);
    state_save(w);
}

static ramet_status step_run(step *w, ramet_call *c)
{
    if (db_begin_write(w->d) != RAMET_OK)
        return index_fail(c, w->f);
    if (!cx_read(&w->x, c)) {
        db_rollback(w->d);
        return c->err.status;
    }
    w->x.a = w->tmp;
    step_read(w);
    ramet_status st = cx_done(&w->x, RAMET_OK);
    if (st != RAMET_OK) {
        db_rollback(w->d);
        return st;
    }
    step_write(w);
    return db_commit(w->d) == RAMET_OK ? RAMET_OK : index_fail(c, w->f);
}

/* -------------------------------------------------------------------- calls */

/* Whether there is nothing to do; looks without a lock. *last is the store's last event. */
static bool is_fresh(ramet_call *c, step *w, int64_t *last)
{
    *last = 0;
    if (db_begin_read(w->d) != RAMET_OK)
        return false;
    state_load(w);
    bool fresh = db_status(w->d) == RAMET_OK && !w->scan && !w->done;
    db_end_read(w->d);
    if (!cx_read(&w->x, c))
        return false;
    *last = number(w->x.d, Q_max_event);
    fresh = fresh && *last == w->mark && state_fits(w);
    return cx_done(&w->x, RAMET_OK) == RAMET_OK && fresh;
}

ramet_status follow_all(ramet_call *c, fts *f, int64_t *indexed)
{
    int64_t last;
    step first = {.f = f, .d = fts_db(f)};
    if (is_fresh(c, &first, &last))
        return RAMET_OK;
    arena *keep = arena_new(), *tmp = arena_new();
    ramet_status st;
    bool more;
    do {
        step w = {.f = f, .d = fts_db(f), .keep = keep, .tmp = tmp};
        st = step_run(&w, c);
        /* What is appended meanwhile is for the next call: it may come faster than this. */
        more = w.more && (w.scan || w.mark < last);
        if (st == RAMET_OK)
            *indexed += (int64_t)w.items.n;
        arena_reset(keep);
    } while (more && st == RAMET_OK);
    arena_free(keep);
    arena_free(tmp);
    return st;
}

ramet_status follow_restart(ramet_call *c, fts *f)
{
    step w = {.f = f, .d = fts_db(f)};
    if (db_begin_write(w.d) != RAMET_OK)
        return index_fail(c, f);
    index_clear(&w);
    return db_commit(w.d) == RAMET_OK ? RAMET_OK : index_fail(c, f);
}

int64_t follow_mark(fts *f)
{
    step w = {.f = f, .d = fts_db(f)};
    if (db_begin_read(w.d) != RAMET_OK)
        return 0;
    state_load(&w);
    db_end_read(w.d);
    return w.scan ? 0 : w.mark;
}

int64_t follow_bytes(fts *f)
{
    step w = {.f = f, .d = fts_db(f)};
    state_load(&w);
    return w.all_bytes;
}
