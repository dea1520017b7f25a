/* SPDX-License-Identifier: Apache-2.0
 *
 * Brings the search index up to the store's last commit.
 *
 * The events of the store list what was appended, in commit order. The index stores the number of
 * the last event that it has seen, and what that event was: when the store has another event there,
 * the index belongs to another store or to another past of this one, and is rebuilt.
 *
 * The work is done in steps, each one transaction of the index. The lock of the index is taken
 * before the snapshot of the store, so that entries which gc removes from both are never added
 * again. The snapshot ends before the words are indexed, which takes much longer than reading them:
 * a long snapshot would keep the write-ahead log from being reset.
 */
#include "core/call.h"
#include "core/handle.h"
#include "core/model/entry.h"
#include "core/event.h"
#include "core/search/search.h"
#include "core/txn.h"

#include <inttypes.h>
#include <stdio.h>

#define STEP_ENTRIES 8000
#define STEP_EVENTS 8000
#define STEP_BYTES ((int64_t)8 << 20)
#define EVENTS 500        /* read by one statement */
#define SCAN_ENTRIES 1000 /* read by one statement */

/* Columns of event_texts and entry_scan; the former appends the event. */
enum { K, TREE, ROLE, TEXT, FLAGS, CREATED, LOG, SESSION, OWNER, OWNER_NAME, GIVEN, EVENT };
enum { EVENT_NO = EVENT, EVENT_KIND = EVENT + 3, EVENT_K = EVENT + 4 };
#define EVENT_COLS 7

/* An entry that was read and is to be indexed. */
typedef struct item {
    fts_doc doc;
    int64_t owner;
    const char *text;
    const char *given; /* another text that it is found by; may be NULL */
    bool again;        /* because of `given`: it may have been indexed without */
} item;

typedef enum { PLAIN, ONE, BARE } step_care; /* ONE: one entry a step; BARE: without its words */

typedef struct step {
    fts *index;
    txn tx;      /* the store */
    arena *keep; /* for the step */
    arena *tmp;  /* for one entry */
    VEC(item) items;
    fts_state state;
    map owners;                     /* by tree, for this step */
    int64_t block, lo, hi;          /* block of the time table not yet written, -1 = none */
    int64_t events, entries, bytes; /* examined in this step; bytes of text collected */
    int64_t indexed;
    bool more;
    step_care care;
} step;

static int64_t number(db *d, sql_id what)
{
    db_stmt *q = db_query(d, what);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

/* ------------------------------------------------------------------- state */

static void event_print(db_stmt *q, int at, char out[FTS_PRINT])
{
    size_t n = 0;
    for (int i = 0; i < EVENT_COLS; i++)
        n += (size_t)snprintf(out + n, FTS_PRINT - n, "%" PRId64 ".", q_col_int(q, at + i));
}

/* Whether the store still has the last event that the index has seen. */
static bool state_fits(txn *tx, const fts_state *s)
{
    char print[FTS_PRINT] = "";
    if (!s->mark)
        return true;
    db_stmt *q = db_query(tx->db, Q_event_get);
    q_int(q, 1, s->mark);
    if (q_row(q))
        event_print(q, 0, print);
    q_end(q);
    return strcmp(print, s->print) == 0;
}

/* ----------------------------------------------------------------- one entry */

/* The first owner of a tree, as the index stores it. */
static int64_t owner_make(step *w, db_stmt *row, int64_t tree)
{
    const char *name = q_col_text(row, OWNER_NAME);
    if (!name) {
        int64_t known = fts_tree_owner(w->index, tree);
        if (known)
            return known;
        db_stmt *q = db_query(w->tx.db, Q_member_all);
        q_int(q, 1, tree);
        name = q_row(q) && q_col_int(q, 1) == RAMET_OWNER ? q_keep_text(q, 0, w->tmp) : "";
        q_end(q);
    }
    int64_t owner = fts_owner(w->index, name, true);
    fts_tree_add(w->index, tree, owner);
    return owner;
}

static int64_t owner_of(step *w, db_stmt *row, int64_t tree)
{
    int64_t *known = map_get(&w->owners, tree);
    if (known)
        return *known;
    known = arena_alloc(w->keep, sizeof *known);
    *known = q_col_null(row, OWNER) ? owner_make(w, row, tree) : q_col_int(row, OWNER);
    map_put(w->keep, &w->owners, tree, known);
    return *known;
}

static void span_flush(step *w)
{
    if (w->block >= 0)
        fts_span_add(w->index, w->block, w->lo, w->hi);
    w->block = -1;
}

static void span_note(step *w, int64_t no, int64_t created)
{
    if (w->block != no >> FTS_SPAN_BITS) {
        span_flush(w);
        w->block = no >> FTS_SPAN_BITS;
        w->lo = w->hi = created;
    }
    w->lo = created < w->lo ? created : w->lo;
    w->hi = created > w->hi ? created : w->hi;
}

static void doc_add(step *w, item *i)
{
    bool bare = w->care == BARE;
    i->doc.no = w->state.top + 1;
    if (i->again)
        fts_forget(w->index, w->tmp, i->doc.tree, i->doc.key, i->text);
    if (fts_add(w->index, w->tmp, &i->doc, i->owner, bare ? "" : i->text, bare ? NULL : i->given)) {
        w->state.top++;
        w->state.bytes += (int64_t)strlen(i->text);
        w->indexed++;
        span_note(w, i->doc.no, i->doc.created);
    }
    arena_reset(w->tmp);
}

static void entry_take(step *w, db_stmt *q, bool again)
{
    item i = {.again = again,
              .doc = {.key = q_col_int(q, K),
                      .tree = q_col_int(q, TREE),
                      .session = q_col_int(q, SESSION),
                      .role = (int)q_col_int(q, ROLE),
                      .created = q_col_int(q, CREATED)}};
    w->entries++;
    /* Skip a damaged entry: reading it reports the damage, and it must not block the rest. */
    bool damaged = i.doc.role < RAMET_USER || i.doc.role > RAMET_SYSTEM;
    if (damaged || q_col_null(q, LOG) || q_col_int(q, LOG) != RAMET_LOG_MAIN)
        return;
    const char *text = q_col_int(q, FLAGS) & FLAG_LARGE ? body_text(&w->tx, i.doc.tree, i.doc.key)
                                                        : q_col_text(q, TEXT);
    if ((text && *text) || !q_col_null(q, GIVEN)) {
        i.text = arena_strdup(w->keep, search_text(w->tmp, text ? text : ""));
        if (!q_col_null(q, GIVEN))
            i.given = arena_strdup(w->keep, search_text(w->tmp, q_col_text(q, GIVEN)));
        i.owner = owner_of(w, q, i.doc.tree);
        VEC_PUSH(w->keep, &w->items, i);
        w->bytes += (int64_t)(strlen(i.text) + (i.given ? strlen(i.given) : 0));
    }
    arena_reset(w->tmp);
}

static bool step_full(const step *w)
{
    return w->entries >= (w->care == PLAIN ? STEP_ENTRIES : 1) || w->events >= STEP_EVENTS ||
           w->bytes >= STEP_BYTES || w->tx.ramet->search_stopped;
}

/* ------------------------------------------------------------------ one step */

/* An event whose entries are being read. */
typedef struct event_open {
    int64_t no;
    char print[FTS_PRINT];
} event_open;

static void event_done(step *w, const event_open *e)
{
    if (!e->no)
        return;
    w->state.mark = e->no;
    w->state.done = 0;
    memcpy(w->state.print, e->print, sizeof e->print);
}

/* Handles one row: an event, with one of its entries if it has any. False when the step is full. */
static bool event_row(step *w, db_stmt *q, event_open *e)
{
    int64_t no = q_col_int(q, EVENT_NO), first = q_col_int(q, EVENT_K), k = q_col_int(q, K);
    if (no != e->no) {
        event_done(w, e);
        e->no = 0;
        if (step_full(w))
            return false;
        e->no = no;
        w->events++;
        event_print(q, EVENT, e->print);
    }
    if (q_col_null(q, K) || k < first + w->state.done)
        return true;
    if (step_full(w)) {
        w->state.done = k - first;
        e->no = 0;
        return false;
    }
    entry_take(w, q, q_col_int(q, EVENT_KIND) == EVENT_INDEXED);
    return true;
}

static void events_take(step *w)
{
    int64_t before;
    do {
        event_open e = {0};
        before = w->state.mark;
        db_stmt *q = db_query(w->tx.db, Q_event_texts);
        q_int(q, 1, w->state.mark);
        q_int(q, 2, EVENTS);
        q_int(q, 3, RAMET_EVENT_APPENDED);
        while (!w->more && q_row(q))
            w->more = !event_row(w, q, &e);
        q_end(q);
        event_done(w, &e);
    } while (!w->more && w->state.mark > before && !step_full(w));
    w->more |= step_full(w);
}

/* When the events do not reach back to the first one, the entries themselves are scanned, ordered
 * by key; the state keeps the last one scanned. Events after the mark follow, and an entry found by
 * both is indexed once. */
static void scan_begin(step *w)
{
    db_stmt *q = db_query(w->tx.db, Q_event_get);
    w->state.mark = number(w->tx.db, Q_max_event);
    q_int(q, 1, w->state.mark);
    if (q_row(q))
        event_print(q, 0, w->state.print);
    q_end(q);
    w->state.done = w->state.scan_tree = 0;
    w->state.scan = 1;
}

static void scan_some(step *w)
{
    int64_t count;
    do {
        count = 0;
        db_stmt *q = db_query(w->tx.db, Q_entry_scan);
        q_int(q, 1, w->state.scan_tree);
        q_int(q, 2, w->state.scan);
        q_int(q, 3, SCAN_ENTRIES);
        while (!step_full(w) && q_row(q)) {
            w->state.scan_tree = q_col_int(q, TREE);
            w->state.scan = q_col_int(q, K);
            entry_take(w, q, false);
            count++;
        }
        q_end(q);
    } while (count && !step_full(w));
    if (!count)
        w->state.scan = w->state.scan_tree = 0;
    w->more = true;
}

static void step_read(step *w)
{
    fts_state_get(w->index, &w->state);
    if (!state_fits(&w->tx, &w->state)) {
        fts_clear(w->index);
        w->state = (fts_state){0};
    }
    if (!w->state.mark && !w->state.scan && number(w->tx.db, Q_min_event) > 1)
        scan_begin(w);
    if (w->state.scan)
        scan_some(w);
    else
        events_take(w);
}

/* False: the store is about to be closed, and the step must be rolled back. */
static bool step_write(step *w)
{
    w->block = -1;
    for (size_t i = 0; i < w->items.n && !w->tx.ramet->search_stopped; i++)
        doc_add(w, &w->items.items[i]);
    if (w->tx.ramet->search_stopped)
        return false; /* reading stopped early, too, so nothing of the step is complete */
    span_flush(w);
    fts_state_set(w->index, &w->state);
    return true;
}

static ramet_status step_run(step *w, ramet_call *c)
{
    if (fts_begin_write(w->index) != RAMET_OK)
        return index_fail(c, w->index);
    if (!txn_read(&w->tx, c)) {
        db_rollback(fts_db(w->index));
        return c->err.status;
    }
    w->tx.arena = w->tmp;
    step_read(w);
    ramet_status st = txn_done(&w->tx, RAMET_OK);
    if (st != RAMET_OK) {
        db_rollback(fts_db(w->index));
        return st;
    }
    int64_t top = w->state.top;
    if (!step_write(w)) {
        db_rollback(fts_db(w->index));
        w->indexed = 0;
        return RAMET_OK;
    }
    if (db_commit(fts_db(w->index)) != RAMET_OK)
        return index_fail(c, w->index);
    fts_tidy(w->index, top, w->state.top);
    return RAMET_OK;
}

/* -------------------------------------------------------------------- calls */

static bool is_fresh(const fts_state *s, int64_t last)
{
    return !s->scan && !s->done && s->mark == last;
}

bool follow_fresh(txn *tx, fts *f)
{
    fts_state s;
    fts_state_get(f, &s);
    return is_fresh(&s, number(tx->db, Q_max_event));
}

/* Whether there is nothing to do; checks without a lock. *last gets the store's last event. */
static bool nothing_new(ramet_call *c, fts *f, int64_t *last)
{
    fts_state s;
    txn tx;
    *last = 0;
    if (db_begin_read(fts_db(f)) != RAMET_OK)
        return false;
    fts_state_get(f, &s);
    bool good = db_status(fts_db(f)) == RAMET_OK;
    db_end_read(fts_db(f));
    if (!txn_read(&tx, c))
        return false;
    *last = number(tx.db, Q_max_event);
    good = good && is_fresh(&s, *last) && state_fits(&tx, &s);
    return txn_done(&tx, RAMET_OK) == RAMET_OK && good;
}

/* An entry that the index rejects must not block the rest: after a failure that is not one of the
 * disk or the connection, entries are indexed one by one, and the one that fails is indexed without
 * its words. */
static bool step_again(ramet_call *c, ramet_status st, step_care *care)
{
    if (st != RAMET_INTERNAL || *care == BARE) {
        *care = *care == BARE ? PLAIN : *care;
        return false;
    }
    memset(&c->err, 0, sizeof c->err);
    *care = *care == PLAIN ? ONE : BARE;
    return true;
}

ramet_status follow_all(ramet_call *c, fts *f, int64_t *indexed)
{
    int64_t last;
    if (c->ramet->search_stopped || nothing_new(c, f, &last))
        return RAMET_OK;
    arena *keep = arena_new(), *tmp = arena_new();
    step_care care = PLAIN;
    ramet_status st;
    bool more;
    do {
        step w = {.index = f, .keep = keep, .tmp = tmp, .care = care};
        st = step_run(&w, c);
        /* Leave what is appended meanwhile to the next call: it may arrive faster than we index. */
        more = w.more && (w.state.scan || w.state.mark < last);
        if (st == RAMET_OK)
            *indexed += w.indexed;
        if (step_again(c, st, &care)) {
            st = RAMET_OK;
            more = true;
        }
        arena_reset(keep);
        arena_reset(tmp);
    } while (more && st == RAMET_OK && !c->ramet->search_stopped);
    arena_free(keep);
    arena_free(tmp);
    return st;
}

ramet_status follow_restart(ramet_call *c, fts *f)
{
    if (fts_begin_write(f) != RAMET_OK)
        return index_fail(c, f);
    fts_clear(f);
    return db_commit(fts_db(f)) == RAMET_OK ? RAMET_OK : index_fail(c, f);
}

int64_t follow_mark(fts *f)
{
    fts_state s;
    fts_state_get(f, &s);
    return s.scan ? 0 : s.mark;
}

/* If this fails, the documents stay; a search skips those whose entry is gone. */
void follow_forget(fts *f, int64_t tree, const int64_t *keys, const char *const *texts, size_t n)
{
    if (fts_begin_write(f) != RAMET_OK)
        return;
    arena *a = arena_new();
    for (size_t i = 0; i < n; i++) {
        fts_forget(f, a, tree, keys[i], search_text(a, texts[i]));
        arena_reset(a);
    }
    db_commit(fts_db(f));
    arena_free(a);
}
