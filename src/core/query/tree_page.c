/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages over several sessions of a tree at once: what each has appended itself, by time or by key.
 *
 * Each session is a sorted run. The runs are merged, and only as much is read of each as the page
 * needs. So the cost of a page depends on its size and the number of sessions, not on the entries
 * that they hold.
 *
 *   A1  By time: (created, session, position). Times rise along a run; an entry whose time a caller
 *       set otherwise stays with its neighbours.
 *   A2  By key: (key, entry id). Keys are compared as text; those of one kind have one length.
 */
#include "ramet/memory.h"
#include "core/access/member.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"
#include "core/view/context.h"

#include <stdlib.h>

#define MAX_STEP 256 /* positions read at once */

/* The rest of one session. */
typedef struct run {
    int64_t no, head;
    int64_t lo, hi;      /* remaining positions */
    int64_t first, last; /* times of the first and last entry */
    int64_t bound;       /* its next entry is not older than this; backwards: not newer */
    branch_row *path;    /* the path that its entries must be on; loaded when needed */
    context *view;       /* its context view; opened when needed */
    const char *key;     /* key of `next`, without the prefix */
    ramet_entry *next;   /* NULL: not read yet */
} run;

typedef struct tree_page {
    txn *tx;
    const ramet_across_in *in;
    const ramet_entry *from; /* the cursor; NULL: from the start, or backwards from the end */
    const char *from_key;
    int64_t tree;
    bool back, by_key;
    run **heap;
    size_t n;
    VEC(context *) views; /* to be closed */
    arena *keep;          /* memory of the answer */
    arena *scratch;
} tree_page;

/* ------------------------------------------------------------------------- order */

static int spot_order(int64_t created, int64_t no, int64_t position, const ramet_entry *e)
{
    if (created != e->created)
        return created < e->created ? -1 : 1;
    if (no != e->owner_no)
        return no < e->owner_no ? -1 : 1;
    return position < e->position ? -1 : position > e->position;
}

static bool run_before(const tree_page *w, const run *a, const run *b)
{
    int order;
    if (w->by_key) {
        order = strcmp(a->key, b->key);
        order = order ? order : strcmp(a->next->id, b->next->id);
    } else {
        order = a->bound < b->bound ? -1 : a->bound > b->bound;
        order = order ? order : (a->no > b->no) - (a->no < b->no);
    }
    return w->back ? order > 0 : order < 0;
}

static void heap_swap(tree_page *w, size_t a, size_t b)
{
    run *t = w->heap[a];
    w->heap[a] = w->heap[b];
    w->heap[b] = t;
}

static void heap_sink(tree_page *w, size_t i)
{
    for (;;) {
        size_t best = i;
        for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < w->n; k++)
            if (run_before(w, w->heap[k], w->heap[best]))
                best = k;
        if (best == i)
            return;
        heap_swap(w, i, best);
        i = best;
    }
}

static void heap_drop(tree_page *w)
{
    w->heap[0] = w->heap[--w->n];
    heap_sink(w, 0);
}

/* ------------------------------------------------------------------------ entries */

static bool entry_wanted(const tree_page *w, const ramet_entry *e)
{
    const ramet_across_in *in = w->in;
    if (in->upto && spot_order(e->created, e->owner_no, e->position, in->upto) > 0)
        return false;
    return (!in->end || e->position < in->end) && (!in->want || in->want(in->want_arg, e));
}

static branch_row *run_path(tree_page *w, run *r)
{
    if (!r->path) {
        r->path = arena_alloc(w->tx->arena, sizeof *r->path);
        if (!branch_load(w->tx, w->tree, r->head, r->path))
            *r->path = (branch_row){0};
    }
    return r->path;
}

/* Whether the overlays on the path of its run leave the entry, which then says what they say. No
 * statement may be open. */
static bool entry_shown(tree_page *w, run *r, ramet_entry *e)
{
    if (w->in->view != RAMET_VIEW_CONTEXT)
        return true;
    if (!r->view) {
        r->view = arena_alloc(w->tx->arena, sizeof *r->view);
        context_open(w->tx, run_path(w, r), r->view);
        VEC_PUSH(w->tx->arena, &w->views, r->view);
    }
    return context_filter(w->tx, r->view, e, 1, w->keep) == 1;
}

typedef struct looking {
    tree_page *page;
    run *run;
    ramet_entry *found;
    int64_t seen; /* last position read */
} looking;

static bool look_take(void *arg, ramet_entry *e)
{
    looking *l = arg;
    l->seen = e->position;
    if (e->owner_no != l->run->no || !entry_wanted(l->page, e))
        return true;
    if (!l->found)
        l->found = arena_alloc(l->page->keep, sizeof *l->found);
    *l->found = entry_keep(l->page->keep, e);
    return l->page->back;
}

/* Finds the next matching entry of a run, in steps that grow while there is none. */
static bool run_look(tree_page *w, run *r)
{
    r->next = NULL;
    for (int64_t step = 1; r->lo < r->hi && db_status(w->tx->db) == RAMET_OK;
         step = step * 2 < MAX_STEP ? step * 2 : MAX_STEP) {
        looking l = {.page = w, .run = r};
        int64_t lo = w->back && r->hi - step > r->lo ? r->hi - step : r->lo;
        int64_t hi = !w->back && r->lo + step < r->hi ? r->lo + step : r->hi;
        path_read(w->tx, run_path(w, r), lo, hi, w->scratch, look_take, &l);
        arena_reset(w->scratch);
        if (w->back)
            r->hi = l.found ? l.found->position : lo;
        else
            r->lo = l.found ? l.found->position + 1 : hi;
        if (l.found && entry_shown(w, r, l.found)) {
            r->next = l.found;
            r->bound = l.found->created;
            return true;
        }
    }
    return false;
}

static bool time_take(void *arg, ramet_entry *e)
{
    *(int64_t *)arg = e->created;
    return true;
}

/* The first position of a run after the cursor (A1). */
static int64_t run_behind(tree_page *w, run *r)
{
    int64_t lo = r->lo, hi = r->hi;
    while (lo < hi && db_status(w->tx->db) == RAMET_OK) {
        int64_t mid = lo + (hi - lo) / 2, created = 0;
        path_read(w->tx, run_path(w, r), mid, mid + 1, w->scratch, time_take, &created);
        arena_reset(w->scratch);
        if (spot_order(created, r->no, mid, w->from) <= 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Positions a run at the cursor; false: nothing of it is left. */
static bool run_seek(tree_page *w, run *r)
{
    const ramet_entry *c = w->from;
    if (c && r->no == c->owner_no) {
        if (w->back)
            r->hi = c->position;
        else
            r->lo = w->in->with_after ? c->position : c->position + 1;
    } else if (c && r->first <= c->created && r->last >= c->created) {
        int64_t at = run_behind(w, r);
        if (w->back)
            r->hi = at;
        else
            r->lo = at;
    } else if (c && (w->back ? r->first > c->created : r->last < c->created)) {
        return false;
    }
    r->bound = w->back ? r->last : r->first;
    if (c && (w->back ? r->bound > c->created : r->bound < c->created))
        r->bound = c->created;
    return r->lo < r->hi;
}

/* --------------------------------------------------------------------------- keys */

/* Whether the cursor is already past that entry: entries with the same key are ordered by id. */
static bool key_passed(const tree_page *w, const char *key, const char *id)
{
    if (!w->from || strcmp(key, w->from_key) != 0)
        return false;
    int order = strcmp(id, w->from->id);
    return w->back ? order >= 0 : w->in->with_after ? order < 0 : order <= 0;
}

/* Finds the next matching entry of a run by key; r->key is the previous key, NULL at the
 * beginning. */
static bool run_key(tree_page *w, run *r)
{
    txn *tx = w->tx;
    const char *before = arena_printf(tx->arena, "key %lld ", (long long)r->no);
    const char *lo = w->in->key_from, *hi = w->in->key_to;
    size_t skip = strlen(before);
    bool open = r->key != NULL; /* exclude that key itself */
    const char *start = r->key ? r->key : w->from_key;
    for (;;) {
        ramet_entry e;
        uint8_t hash[HASH_LEN];
        branch_meta o;
        db_stmt *q = db_query(tx->db, w->back ? Q_place_down : Q_place_up);
        q_int(q, 1, w->tree);
        q_text(q, 2, arena_printf(tx->arena, "%s%s", before, !w->back && start ? start : lo));
        q_text(q, 3, arena_printf(tx->arena, "%s%s", before, w->back && start ? start : hi));
        q_int(q, 4, open ? 2 : 1);
        int64_t k = 0;
        while (!k && q_row(q)) {
            const char *name = q_keep_text(q, 0, tx->arena) + skip;
            if (open && strcmp(name, start) == 0)
                continue;
            r->key = name;
            k = q_col_int(q, 1);
        }
        q_end(q);
        if (!k || db_status(tx->db) != RAMET_OK)
            return false;
        start = r->key;
        open = true;
        branch_row *path = run_path(w, r);
        if (KEY_POS(k) >= path->len || !path_owner(tx, &path->meta, KEY_POS(k), &o) ||
            o.id != KEY_BRANCH(k) || !entry_load(tx, path, k, &e, hash))
            continue;
        e.owner_no = o.session;
        if (!entry_wanted(w, &e))
            continue;
        if (key_passed(w, r->key, e.id) || !entry_shown(w, r, &e))
            continue;
        r->next = arena_alloc(tx->arena, sizeof *r->next);
        *r->next = e;
        return true;
    }
}

/* --------------------------------------------------------------------------- runs */

static void run_add(tree_page *w, const run *r)
{
    run *own = arena_alloc(w->tx->arena, sizeof *own);
    *own = *r;
    if (w->by_key ? run_key(w, own) : run_seek(w, own))
        w->heap[w->n++] = own;
}

typedef VEC(run) run_list;

static void runs_of_tree(txn *tx, const session_full *of, run_list *out)
{
    ramet_level level = level_in(tx, of->tree);
    db_stmt *q = db_query(tx->db, Q_across_runs);
    q_int(q, 1, of->tree);
    while (q_row(q)) {
        session_access s = {.no = q_col_int(q, 0),
                            .tree = of->tree,
                            .owner = q_col_text(q, 1),
                            .visibility = col_visibility(q, 2),
                            .expires = q_col_int(q, 3),
                            .deleted = q_col_int(q, 4),
                            .purging = col_purging(q, 5)};
        run r = {.no = s.no,
                 .head = q_col_int(q, 6),
                 .lo = q_col_int(q, 8),
                 .hi = q_col_int(q, 7),
                 .first = q_col_int(q, 9),
                 .last = q_col_int(q, 10)};
        if (!session_gone(tx, &s) && session_seen(tx, level, &s) && r.lo < r.hi)
            VEC_PUSH(tx->arena, out, r);
    }
}

/* The runs of a session and its ancestors: its path consists of their entries. */
static void runs_of_path(txn *tx, const session_full *of, branch_row *head, run_list *out)
{
    session_full s = *of;
    for (;;) {
        run r = {.no = s.no, .path = head};
        VEC_PUSH(tx->arena, out, r);
        if (!s.parent || !session_by_no(tx, of->tree, s.parent, &s))
            return;
    }
}

static void page_fill(tree_page *w, int limit, ramet_page *out)
{
    txn *tx = w->tx;
    VEC(ramet_entry) v = {0};
    size_t start = arena_used(tx->arena), max = txn_page_bytes(tx);
    while (w->n && db_status(tx->db) == RAMET_OK) {
        run *r = w->heap[0];
        if (!r->next && !run_look(w, r)) {
            heap_drop(w);
            continue;
        }
        if (w->n > 1 && !w->by_key) { /* the entry found may sort after those of other runs */
            heap_sink(w, 0);
            r = w->heap[0];
            if (!r->next)
                continue;
        }
        if (v.n == (size_t)limit || (v.n && arena_used(tx->arena) - start >= max)) {
            out->more_after = !w->back;
            out->more_before = w->back;
            break;
        }
        VEC_PUSH(tx->arena, &v, *r->next);
        r->next = NULL;
        if (w->by_key) {
            if (run_key(w, r))
                heap_sink(w, 0);
            else
                heap_drop(w);
        }
    }
    for (size_t i = 0; w->back && i < v.n / 2; i++) {
        ramet_entry t = v.items[i];
        v.items[i] = v.items[v.n - 1 - i];
        v.items[v.n - 1 - i] = t;
    }
    out->entries = v.items;
    out->n = v.n;
}

static ramet_status tree_page_run(txn *tx, const char *session, const ramet_across_in *in,
                                  int limit, ramet_page *out)
{
    session_full s;
    branch_row head;
    run_list runs = {0};
    TRY(session_open_head(tx, session, NEED_READ, &s, &head));
    tree_page w = {.tx = tx,
                   .in = in,
                   .tree = s.tree,
                   .from = in->before ? in->before : in->after,
                   .from_key = in->before ? in->before_key : in->after_key,
                   .back = in->before || in->tail,
                   .by_key = in->key_from != NULL,
                   .keep = tx->arena,
                   .scratch = arena_new()};
    if (in->tree)
        runs_of_tree(tx, &s, &runs);
    else
        runs_of_path(tx, &s, &head, &runs);
    w.heap = arena_array(tx->arena, runs.n + 1, sizeof *w.heap);
    for (size_t i = 0; i < runs.n; i++)
        run_add(&w, &runs.items[i]);
    for (size_t i = w.n / 2; i-- > 0;)
        heap_sink(&w, i);
    page_fill(&w, limit, out);
    for (size_t i = 0; i < w.views.n; i++)
        context_close(w.views.items[i]);
    arena_free(w.scratch);
    return txn_status(tx);
}

ramet_status ramet_across(ramet_call *c, const char *session, const ramet_across_in *in,
                          ramet_page *out)
{
    txn tx;
    int limit;
    *out = (ramet_page){0};
    TRY(check_limit(c, in->limit, 1000, 50, &limit));
    if (!in->tree && !in->key_from)
        return call_fail(c, RAMET_INVALID, "tree", "a path by time is read with ramet_read()");
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, tree_page_run(&tx, session, in, limit, out));
    if (st != RAMET_OK)
        *out = (ramet_page){0};
    return st;
}

/* -------------------------------------------------------------------------- one entry */

static ramet_status entry_run(txn *tx, const char *session, const char *id, int64_t branch,
                              int64_t position, ramet_entry *out)
{
    session_full s, of;
    branch_row own, head;
    branch_meta o;
    uint8_t hash[HASH_LEN];
    TRY(session_open(tx, session, NEED_READ, &s));
    int64_t k = id ? key_in_tree(tx, s.tree, id) : KEY(branch, position);
    bool found =
        k > 0 && branch_load(tx, s.tree, KEY_BRANCH(k), &own) && own.meta.log == RAMET_LOG_MAIN &&
        session_by_no(tx, s.tree, own.meta.session, &of) && !session_gone(tx, &of.access) &&
        session_visible(tx, &of.access) && branch_load(tx, s.tree, of.head, &head) &&
        KEY_POS(k) < head.len && path_owner(tx, &head.meta, KEY_POS(k), &o) &&
        o.id == KEY_BRANCH(k) && entry_load(tx, &head, k, out, hash);
    TRY(txn_status(tx));
    if (found)
        out->owner_no = of.no;
    return found ? RAMET_OK
                 : call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                             "no session of the tree has that entry");
}

ramet_status ramet_across_entry(ramet_call *c, const char *session, const char *id, int64_t branch,
                                int64_t position, ramet_entry **out)
{
    txn tx;
    *out = NULL;
    if (id)
        TRY(check_id(c, "entry_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_entry *e = arena_alloc(c->arena, sizeof *e);
    ramet_status st = txn_done(&tx, entry_run(&tx, session, id, branch, position, e));
    if (st == RAMET_OK)
        *out = e;
    return st;
}
