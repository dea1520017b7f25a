/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading histories: pages, single entries, streams, the record.
 *
 * A path never changes: entries are only added at the end of its branch. So a page that names
 * entries by id neither skips nor repeats one while the session grows.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/view/context.h"
#include "core/model/copied.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/view/record.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/view/version.h"
#include "core/txn.h"

#include <stdlib.h>

#define CHUNK 256

/* The positions that a request admits, before limit and tail. */
typedef struct window {
    int64_t lo, hi;
} window;

static ramet_status find_or_fail(txn *tx, const branch_row *b, const char *field, const char *id,
                                 int64_t *pos, int64_t *k)
{
    TRY(check_id(tx->call, field, id));
    *pos = path_find(tx, b, id, k);
    TRY(txn_status(tx));
    if (*pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, field, "entry %s is not on this path",
                         id);
    return RAMET_OK;
}

static ramet_status window_of(txn *tx, const branch_row *b, const ramet_read_in *in, window *w)
{
    int64_t pos, k;
    *w = (window){0, b->len};
    if (in->by_position) {
        if (in->position < 0)
            return call_fail(tx->call, RAMET_INVALID, "position",
                             "the position must not be negative");
        w->lo = in->position < b->len ? in->position : b->len;
    } else if (in->after) {
        TRY(find_or_fail(tx, b, "after", in->after, &pos, &k));
        w->lo = pos + 1;
    }
    if (in->before) {
        TRY(find_or_fail(tx, b, "before", in->before, &pos, &k));
        w->hi = pos;
    }
    if (in->end && in->end < w->hi)
        w->hi = in->end;
    if (w->hi < w->lo)
        w->hi = w->lo;
    return RAMET_OK;
}

/* ------------------------------------------------------------------ collect */

/* Filters entries: by channel (NULL = any), and by `want` (may be NULL). */
typedef struct sieve {
    const char *channel;
    bool (*want)(void *arg, const ramet_entry *e);
    void *arg;
} sieve;

static bool sieve_any(const sieve *s)
{
    return !s->channel && !s->want;
}

static bool sieve_takes(const sieve *s, const ramet_entry *e)
{
    return (!s->channel || strcmp(s->channel, e->channel) == 0) && (!s->want || s->want(s->arg, e));
}

typedef struct collect {
    sieve of;
    size_t bytes; /* a page is full past these; 0: PAGE_BYTES */
    size_t max;
    arena *arena; /* holds what is kept */
    size_t start_bytes;
    arena *scratch; /* with a filter: entries are read into it, and matching ones copied */
    int64_t seen;   /* last position read */
    VEC(ramet_entry) v;
} collect;

static size_t collect_bytes(const collect *c)
{
    return c->bytes ? c->bytes : PAGE_BYTES;
}

static bool collect_room(const collect *c)
{
    return c->v.n < c->max && arena_used(c->arena) - c->start_bytes < collect_bytes(c);
}

/* False when the page is full, or when the scratch memory must be released first. */
static bool collect_take(void *arg, ramet_entry *e)
{
    collect *c = arg;
    bool room = !c->scratch || arena_used(c->scratch) < PAGE_BYTES;
    c->seen = e->position;
    if (!sieve_takes(&c->of, e))
        return room;
    ramet_entry kept = c->scratch && c->scratch != c->arena ? entry_keep(c->arena, e) : *e;
    VEC_PUSH(c->arena, &c->v, kept);
    return room && collect_room(c);
}

/* There may be many entries of other channels: read them in steps and drop them. */
static void collect_channel(txn *tx, const branch_row *b, int64_t lo, int64_t hi, collect *c)
{
    c->scratch = arena_new();
    while (lo < hi && collect_room(c) && db_status(tx->db) == RAMET_OK) {
        c->seen = lo - 1;
        path_read(tx, b, lo, lo + CHUNK < hi ? lo + CHUNK : hi, c->scratch, collect_take, c);
        arena_reset(c->scratch);
        lo = c->seen + 1;
    }
    arena_free(c->scratch);
    c->scratch = NULL;
}

static void collect_forward(txn *tx, const branch_row *b, int64_t lo, int64_t hi, collect *c)
{
    if (!sieve_any(&c->of))
        collect_channel(tx, b, lo, hi, c);
    else
        path_read(tx, b, lo, lo + (int64_t)c->max < hi ? lo + (int64_t)c->max : hi, tx->arena,
                  collect_take, c);
}

/* The last `most` of [lo, hi): in steps from the end. A step whose entries are too large to be read
 * at once is repeated with a smaller size, so that the newest entries are never left out. */
static void collect_backward(txn *tx, const branch_row *b, int64_t lo, int64_t hi, collect *c)
{
    VEC(ramet_entry) all = {0};
    bool any = sieve_any(&c->of);
    int64_t step = any ? (int64_t)c->max : CHUNK;
    size_t bytes = 0;
    arena *scratch = any ? NULL : arena_new();
    while (hi > lo && all.n < c->max && bytes < collect_bytes(c)) {
        int64_t from = hi - step > lo ? hi - step : lo;
        collect part = {.of = c->of,
                        .bytes = c->bytes,
                        .max = SIZE_MAX,
                        .arena = tx->arena,
                        .scratch = scratch};
        part.start_bytes = arena_used(tx->arena);
        path_read(tx, b, from, hi, scratch ? scratch : tx->arena, collect_take, &part);
        if (db_status(tx->db) != RAMET_OK)
            break;
        if (scratch)
            arena_reset(scratch);
        if (part.seen < hi - 1 && step > 1) {
            step = step > 8 ? step / 8 : 1;
            continue;
        }
        for (size_t i = part.v.n; i-- > 0 && all.n < c->max;)
            VEC_PUSH(tx->arena, &all, part.v.items[i]);
        bytes += arena_used(tx->arena) - part.start_bytes;
        hi = from;
    }
    arena_free(scratch);
    c->seen = hi;
    for (size_t i = all.n; i-- > 0;)
        VEC_PUSH(c->arena, &c->v, all.items[i]);
}

/* ---- of the context view: the same by spans of what is shown */

static bool span_take(void *arg, ramet_entry *e)
{
    collect *span = arg;
    VEC_PUSH(span->arena, &span->v, *e);
    span->seen = e->position;
    return arena_used(span->arena) < PAGE_BYTES;
}

/* What is shown of a span that is wanted, in memory of its own, which is emptied first;
 * span->seen is the last position that was read. What is wanted is decided by what was appended: an
 * entry that is replaced has lost its body. */
static void span_read(txn *tx, const context *view, const sieve *of, int64_t from, int64_t to,
                      collect *span)
{
    size_t taken = 0, at = 0;
    VEC(int64_t) wanted = {0}; /* positions */
    arena_reset(span->arena);
    *span = (collect){.arena = span->arena, .seen = from - 1};
    path_read(tx, view->head, from, to, span->arena, span_take, span);
    for (size_t i = 0; i < span->v.n; i++)
        if (sieve_takes(of, &span->v.items[i]))
            VEC_PUSH(span->arena, &wanted, span->v.items[i].position);
    span->v.n = context_filter(tx, view, span->v.items, span->v.n, span->arena);
    for (size_t i = 0; i < span->v.n && at < wanted.n; i++) {
        while (at < wanted.n && wanted.items[at] < span->v.items[i].position)
            at++;
        if (at < wanted.n && wanted.items[at] == span->v.items[i].position)
            span->v.items[taken++] = span->v.items[i];
    }
    span->v.n = taken;
}

static void context_forward(txn *tx, const context *view, int64_t lo, int64_t hi, collect *c)
{
    collect span = {.arena = arena_new()};
    while (lo < hi && collect_room(c) && db_status(tx->db) == RAMET_OK) {
        int64_t from, to;
        context_span(tx, view, lo, hi, c->max - c->v.n, false, &from, &to);
        c->seen = hi - 1;
        if (from >= to)
            break;
        span_read(tx, view, &c->of, from, to, &span);
        c->seen = span.seen;
        for (size_t i = 0; i < span.v.n; i++) {
            if (!collect_room(c)) {
                c->seen = span.v.items[i].position - 1;
                break;
            }
            VEC_PUSH(c->arena, &c->v, entry_keep(c->arena, &span.v.items[i]));
        }
        lo = c->seen + 1;
    }
    arena_free(span.arena);
}

static void context_backward(txn *tx, const context *view, int64_t lo, int64_t hi, collect *c)
{
    VEC(ramet_entry) all = {0};
    collect span = {.arena = arena_new()};
    size_t step = c->max;
    while (hi > lo && all.n < c->max && db_status(tx->db) == RAMET_OK &&
           arena_used(c->arena) - c->start_bytes < collect_bytes(c)) {
        int64_t from, to;
        size_t left = c->max - all.n;
        context_span(tx, view, lo, hi, step < left ? step : left, true, &from, &to);
        if (from >= to) {
            hi = lo;
            break;
        }
        span_read(tx, view, &c->of, from, to, &span);
        /* The newest must not be the ones left out. */
        if (span.seen < to - 1 && step > 1) {
            step = step > 8 ? step / 8 : 1;
            continue;
        }
        hi = from;
        for (size_t i = span.v.n; i-- > 0 && all.n < c->max;) {
            VEC_PUSH(c->arena, &all, entry_keep(c->arena, &span.v.items[i]));
            hi = all.n == c->max ? span.v.items[i].position : from;
        }
    }
    arena_free(span.arena);
    c->seen = hi;
    for (size_t i = all.n; i-- > 0;)
        VEC_PUSH(c->arena, &c->v, all.items[i]);
}

/* Whether [lo, hi) holds an entry that is shown, of the channel. */
static bool context_any(txn *tx, const context *view, int64_t lo, int64_t hi, const char *channel)
{
    collect c = {.of.channel = channel, .max = 1, .arena = arena_new()};
    if (!channel && context_shows(tx, view, lo, hi)) {
        arena_free(c.arena);
        return true;
    }
    context_forward(tx, view, lo, hi, &c);
    arena_free(c.arena);
    return c.v.n > 0;
}

/* Whether [lo, hi) holds an entry of the channel. */
static bool any_in(txn *tx, const branch_row *b, int64_t lo, int64_t hi, const char *channel)
{
    if (!channel || lo >= hi)
        return lo < hi;
    arena *scratch = arena_new();
    bool found = false;
    while (lo < hi && !found && db_status(tx->db) == RAMET_OK) {
        collect c = {
            .of.channel = channel, .max = 1, .arena = scratch, .scratch = scratch, .seen = lo - 1};
        path_read(tx, b, lo, lo + CHUNK < hi ? lo + CHUNK : hi, scratch, collect_take, &c);
        found = c.v.n > 0;
        lo = c.seen + 1;
        arena_reset(scratch);
    }
    arena_free(scratch);
    return found;
}

/* `moved`: the head of the session has moved at least once. */
static void versions_fill(txn *tx, const session_access *s, bool moved, ramet_entry *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        version_row *v = NULL;
        size_t count = 1, number = 1;
        branch_meta o;
        /* A session that never moved has one branch per log, and every message one version. */
        if (moved && branch_meta_load(tx, s->tree, list[i].branch, &o)) {
            versions_at(tx, s, &o, list[i].position, &v, &count);
            for (size_t k = 0; k < count; k++)
                if (v[k].owner == list[i].branch)
                    number = k + 1;
        }
        list[i].version = (int)number;
        list[i].versions = (int)count;
    }
}

/* Fills in the caller's own feedback, a run of entries of one branch at a time. */
static void feedback_fill(txn *tx, const session_full *s, ramet_entry *list, size_t n)
{
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && list[to].branch == list[i].branch; to++)
            continue;
        db_stmt *q = db_query(tx->db, Q_feedback_mine);
        q_int(q, 1, s->tree);
        q_int(q, 2, KEY(list[i].branch, list[i].position));
        q_int(q, 3, KEY(list[i].branch, list[to - 1].position));
        q_text(q, 4, tx->call->user ? tx->call->user : "");
        while (q_row(q)) {
            int64_t pos = KEY_POS(q_col_int(q, 0));
            for (size_t at = i; at < to; at++)
                if (list[at].position == pos)
                    list[at].feedback = col_feedback(q, 1);
        }
    }
}

/* --------------------------------------------------------------------- page */

static bool passed_over(void *arg, ramet_entry *e)
{
    (void)arg, (void)e;
    return true;
}

/* For a page that ends where the path changes to another branch: reads across that position,
 * because only the next entry shows whether the branch really begins there. */
static void seam_check(txn *tx, const branch_row *b, int64_t at)
{
    branch_meta o;
    if (at > 0 && at < b->len && path_owner(tx, &b->meta, at, &o) && o.base == at)
        path_read(tx, b, at - 1, at + 1, tx->arena, passed_over, NULL);
}

/* What the page says beside its entries. */
static ramet_status page_fill(txn *tx, const session_full *s, const branch_row *b,
                              const context *view, const ramet_read_in *in, const window *w,
                              const collect *c, ramet_page *out)
{
    TRY(txn_status(tx));
    int64_t first = c->v.n ? c->v.items[0].position : in->tail ? w->hi : w->lo;
    int64_t last = c->v.n ? c->v.items[c->v.n - 1].position + 1 : first;
    out->entries = c->v.items;
    out->n = c->v.n;
    if (in->want) {
        bool cut = c->v.n < c->max;
        out->more_before = cut && in->tail && c->seen > w->lo;
        out->more_after = cut && !in->tail && c->seen < w->hi - 1;
    } else if (view->set) {
        out->more_before = context_any(tx, view, 0, first, in->channel);
        out->more_after = context_any(tx, view, last, b->len, in->channel);
    } else {
        out->more_before = any_in(tx, b, 0, first, in->channel);
        out->more_after = any_in(tx, b, last, b->len, in->channel);
    }
    head_fill(tx, b, &out->head);
    seam_check(tx, b, last);
    if (in->versions)
        versions_fill(tx, &s->access, s->moves != 0, out->entries, out->n);
    if (in->feedback)
        feedback_fill(tx, s, out->entries, out->n);
    origins_fill(tx, s->tree, out->entries, out->n);
    return txn_status(tx);
}

static ramet_status read_page(txn *tx, const char *session, const ramet_read_in *in, int limit,
                              ramet_page *out)
{
    session_full s;
    branch_row b;
    window w;
    TRY(session_open(tx, session, in->log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_READ, &s));
    if (in->log == RAMET_LOG_ADK && !in->branch && !s.adk) {
        b = (branch_row){0};
        *out = (ramet_page){0};
        head_fill(tx, &b, &out->head);
        return window_of(tx, &b, in, &w);
    }
    TRY(branch_open(tx, &s.brief, in->log, in->branch, &b));
    if (in->view == RAMET_VIEW_RECORD)
        b.filled = 0;
    TRY(window_of(tx, &b, in, &w));
    collect c = {.of = {in->channel, in->want, in->want_arg},
                 .bytes = tx->call->page_bytes,
                 .max = (size_t)limit,
                 .arena = tx->arena};
    c.start_bytes = arena_used(tx->arena);
    c.seen = w.lo - 1;
    context view = {0};
    if (in->view == RAMET_VIEW_CONTEXT)
        context_open(tx, &b, &view);
    if (view.set && in->tail)
        context_backward(tx, &view, w.lo, w.hi, &c);
    else if (view.set)
        context_forward(tx, &view, w.lo, w.hi, &c);
    else if (in->tail)
        collect_backward(tx, &b, w.lo, w.hi, &c);
    else
        collect_forward(tx, &b, w.lo, w.hi, &c);
    ramet_status st = page_fill(tx, &s, &b, &view, in, &w, &c, out);
    context_close(&view);
    return st;
}

static ramet_status read_check(ramet_call *c, const ramet_read_in *in)
{
    if (in->log != RAMET_LOG_MAIN && in->log != RAMET_LOG_ADK)
        return call_fail(c, RAMET_INVALID, "log", "the log must be main or adk");
    if (in->by_position && in->after)
        return call_fail(c, RAMET_INVALID, "after", "give a position or after, not both");
    if (in->view < RAMET_VIEW_SHOWN || in->view > RAMET_VIEW_RECORD)
        return call_fail(c, RAMET_INVALID, "view", "the view must be record or context");
    return in->channel ? check_id(c, "channel", in->channel) : RAMET_OK;
}

ramet_status ramet_read(ramet_call *c, const char *session, const ramet_read_in *in,
                        ramet_page *out)
{
    txn tx;
    int limit;
    *out = (ramet_page){0};
    TRY(check_limit(c, in->limit, in->want ? 1001 : 1000, 50, &limit));
    TRY(read_check(c, in));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, read_page(&tx, session, in, limit, out));
    if (st != RAMET_OK)
        *out = (ramet_page){0};
    return st;
}

static ramet_status get_run(txn *tx, const char *session, int64_t branch, const char *id,
                            ramet_entry **out)
{
    session_full s;
    branch_row b;
    int64_t pos, k;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, branch, &b));
    TRY(find_or_fail(tx, &b, "entry_id", id, &pos, &k));
    collect c = {.max = 1, .arena = tx->arena};
    path_read(tx, &b, pos, pos + 1, tx->arena, collect_take, &c);
    TRY(txn_status(tx));
    versions_fill(tx, &s.access, s.moves != 0, c.v.items, c.v.n);
    origins_fill(tx, s.tree, c.v.items, c.v.n);
    *out = c.v.items;
    return txn_status(tx);
}

ramet_status ramet_entry_get(ramet_call *c, const char *session, int64_t branch,
                             const char *entry_id, ramet_entry **out)
{
    txn tx;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, get_run(&tx, session, branch, entry_id, out));
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* ------------------------------------------------------------------- stream */

/* Pages of CHUNK entries, each in its own snapshot: branch and length fix the path, so no long
 * transaction keeps the write-ahead log from being reset. */
struct ramet_stream {
    ramet_call *call;
    char *session, *channel;
    session_access row; /* only its numbers are set */
    bool moved;
    branch_row branch;
    bool versions;
    ramet_view view;
    int64_t next, hi;
    arena *page;
    collect got;
    size_t at;
    bool done;
};

static ramet_status stream_start(txn *tx, const char *session, const ramet_read_in *in,
                                 ramet_stream *s)
{
    session_full row;
    window w;
    TRY(session_open(tx, session, in->log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_READ, &row));
    if (in->log == RAMET_LOG_ADK && !in->branch && !row.adk) {
        s->done = true;
        return window_of(tx, &s->branch, in, &w);
    }
    TRY(branch_open(tx, &row.brief, in->log, in->branch, &s->branch));
    if (in->view == RAMET_VIEW_RECORD)
        s->branch.filled = 0;
    ramet_head head;
    head_fill(tx, &s->branch, &head); /* also checks that the path has the stated length */
    TRY(window_of(tx, &s->branch, in, &w));
    s->row = (session_access){.no = row.no, .tree = row.tree};
    s->moved = row.moves != 0;
    s->versions = in->versions;
    s->view = in->view;
    s->next = w.lo;
    s->hi = w.hi;
    if (in->limit && in->tail && w.hi - in->limit > w.lo && !in->channel &&
        in->view != RAMET_VIEW_CONTEXT)
        s->next = w.hi - in->limit;
    return RAMET_OK;
}

ramet_status ramet_stream_open(ramet_call *c, const char *session, const ramet_read_in *in,
                               ramet_stream **out)
{
    static const ramet_read_in all;
    txn tx;
    *out = NULL;
    if (!in)
        in = &all;
    TRY(read_check(c, in));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_stream *s = xcalloc(1, sizeof *s);
    ramet_status st = txn_done(&tx, stream_start(&tx, session, in, s));
    if (st != RAMET_OK) {
        free(s);
        return st;
    }
    s->call = c;
    s->session = xstrdup(session);
    s->channel = xstrdup(in->channel);
    s->page = arena_new();
    *out = s;
    return RAMET_OK;
}

static bool stream_take(void *arg, ramet_entry *e)
{
    ramet_stream *s = arg;
    s->next = e->position + 1;
    return collect_take(&s->got, e);
}

/* Loads the next page; an empty one is the end. */
static ramet_status stream_page(ramet_stream *s)
{
    txn tx;
    s->at = 0;
    do {
        arena_reset(s->page);
        s->got =
            (collect){.of.channel = s->channel, .max = CHUNK, .arena = s->page, .scratch = s->page};
        if (!txn_read(&tx, s->call))
            return s->call->err.status;
        arena *own = tx.arena;
        tx.arena = s->page;
        int64_t hi = s->next + CHUNK < s->hi ? s->next + CHUNK : s->hi;
        context view = {0};
        if (s->view == RAMET_VIEW_CONTEXT)
            context_open(&tx, &s->branch, &view);
        if (view.set) {
            context_forward(&tx, &view, s->next, s->hi, &s->got);
            s->next = s->got.seen + 1;
        } else {
            path_read(&tx, &s->branch, s->next, hi, s->page, stream_take, s);
        }
        context_close(&view);
        if (s->versions && txn_status(&tx) == RAMET_OK)
            versions_fill(&tx, &s->row, s->moved, s->got.v.items, s->got.v.n);
        origins_fill(&tx, s->row.tree, s->got.v.items, s->got.v.n);
        tx.arena = own;
        TRY(txn_done(&tx, RAMET_OK));
    } while (!s->got.v.n && s->next < s->hi);
    return RAMET_OK;
}

ramet_status ramet_stream_next(ramet_stream *s, const ramet_entry **out)
{
    *out = NULL;
    if (!s->done && s->at == s->got.v.n) {
        s->done = s->next >= s->hi;
        if (!s->done) {
            ramet_status st = stream_page(s);
            if (st != RAMET_OK) {
                s->done = true;
                return st;
            }
        }
    }
    if (s->at < s->got.v.n)
        *out = &s->got.v.items[s->at++];
    else
        s->done = true;
    return RAMET_OK;
}

int64_t ramet_stream_length(const ramet_stream *s)
{
    return s->branch.len;
}

void ramet_stream_close(ramet_stream *s)
{
    if (!s)
        return;
    arena_free(s->page);
    free(s->session);
    free(s->channel);
    free(s);
}

/* ------------------------------------------------------------------- record */

typedef struct run_row {
    int64_t rec, key;
} run_row;

static bool run_find(txn *tx, const session_full *s, int log, sql_id which, int64_t rec, run_row *r)
{
    db_stmt *q = db_query(tx->db, which);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, log);
    q_int(q, 4, rec);
    bool found = q_row(q);
    if (found)
        *r = (run_row){col_record(q, 0), q_col_int(q, 1)};
    q_end(q);
    return found;
}

/* Every entry that the session's branches own is in its record: a record that lost a part is
 * damaged, not shorter. */
static void record_check(txn *tx, const session_full *s, ramet_log log, int64_t total)
{
    branch_row *b;
    size_t n;
    int64_t own = 0;
    branches_of(tx, &s->access, &b, &n);
    for (size_t i = 0; i < n; i++)
        own += b[i].meta.log == (int)log ? b[i].len - b[i].meta.base : 0;
    if (own != total)
        db_fail(tx->db, RAMET_DAMAGED,
                "the record of session %s is damaged: it has %lld of %lld entries", s->id,
                (long long)total, (long long)own);
}

/* A run ends where its branch does, or where the next run on that branch begins. */
static bool run_ends_at(txn *tx, const session_full *s, const run_row *r, const branch_row *b,
                        int64_t end)
{
    if (end == b->len)
        return true;
    db_stmt *q = db_query(tx->db, Q_run_on_branch);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->meta.log);
    q_int(q, 4, r->rec);
    q_int(q, 5, KEY(b->meta.id, 0));
    q_int(q, 6, KEY(b->meta.id, POS_MAX));
    bool same = q_row(q) && KEY_POS(q_col_int(q, 0)) == end;
    q_end(q);
    return same;
}

/* The record without what was pruned. */
static ramet_status record_left(txn *tx, const session_full *s, ramet_log log, int64_t from,
                                int limit, const note_list *notes, ramet_page *out, int64_t *total)
{
    record_parts parts;
    branch_row b;
    record_parts_of(tx, &s->access, log, notes, &parts);
    TRY(txn_status(tx));
    *total = parts.total;
    collect c = {.bytes = tx->call->page_bytes, .max = (size_t)limit, .arena = tx->arena};
    c.start_bytes = arena_used(tx->arena);
    int64_t at = from;
    for (size_t i = 0; i < parts.n && c.v.n < c.max && (!c.v.n || collect_room(&c)); i++) {
        const record_part *p = &parts.items[i];
        if (p->rec + p->n <= at)
            continue;
        int64_t lo = KEY_POS(p->key) + (at - p->rec), hi = KEY_POS(p->key) + p->n;
        int64_t room = (int64_t)(c.max - c.v.n);
        if (!branch_load(tx, s->tree, KEY_BRANCH(p->key), &b) || hi > b.len)
            db_fail(tx->db, RAMET_DAMAGED, "the record of session %s is damaged", s->id);
        size_t before = c.v.n;
        path_read(tx, &b, lo, hi - lo > room ? lo + room : hi, tx->arena, collect_take, &c);
        TRY(txn_status(tx));
        at += (int64_t)(c.v.n - before);
        if (at < p->rec + p->n)
            break;
    }
    if (branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, &b) == RAMET_OK)
        head_fill(tx, &b, &out->head);
    out->entries = c.v.items;
    out->n = c.v.n;
    out->more_before = from > 0 && *total > 0;
    out->more_after = at < *total;
    return txn_status(tx);
}

static ramet_status record_run(txn *tx, const char *session, ramet_log log, int64_t from, int limit,
                               ramet_page *out, int64_t *total)
{
    session_full s;
    run_row r, next;
    branch_row b;
    note_list notes = {0};
    TRY(session_open(tx, session, log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_READ, &s));
    *total = 0;
    if (s.moves)
        notes_of(tx, s.tree, s.no, &notes);
    if (notes.n_pruned)
        return record_left(tx, &s, log, from, limit, &notes, out, total);
    if (run_find(tx, &s, log, Q_run_last, 0, &r))
        *total = r.rec + run_last_length(tx, s.tree, r.key);
    TRY(txn_status(tx));
    collect c = {.bytes = tx->call->page_bytes, .max = (size_t)limit, .arena = tx->arena};
    c.start_bytes = arena_used(tx->arena);
    int64_t at = from;
    while (at < *total && c.v.n < c.max) {
        if (!run_find(tx, &s, log, Q_run_at, at, &r))
            db_fail(tx->db, RAMET_DAMAGED, "the record of session %s is damaged at %lld", s.id,
                    (long long)at);
        TRY(txn_status(tx));
        int64_t end = run_find(tx, &s, log, Q_run_after, at, &next) ? next.rec : *total;
        int64_t lo = KEY_POS(r.key) + (at - r.rec), hi = lo + (end - at);
        int64_t room = (int64_t)(c.max - c.v.n);
        if (!branch_load(tx, s.tree, KEY_BRANCH(r.key), &b) || hi > b.len ||
            !run_ends_at(tx, &s, &r, &b, hi))
            db_fail(tx->db, RAMET_DAMAGED, "the record of session %s is damaged", s.id);
        size_t before = c.v.n;
        path_read(tx, &b, lo, hi - lo > room ? lo + room : hi, tx->arena, collect_take, &c);
        TRY(txn_status(tx));
        at += (int64_t)(c.v.n - before);
        if (!collect_room(&c))
            break;
    }
    if (branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &b) == RAMET_OK)
        head_fill(tx, &b, &out->head);
    out->entries = c.v.items;
    out->n = c.v.n;
    origins_fill(tx, s.tree, c.v.items, c.v.n);
    out->more_before = from > 0 && *total > 0;
    out->more_after = at < *total;
    if (!out->more_after)
        record_check(tx, &s, log, *total);
    return txn_status(tx);
}

ramet_status ramet_record(ramet_call *c, const char *session, ramet_log log, int64_t from,
                          int limit, ramet_page *out, int64_t *total)
{
    txn tx;
    int max;
    *out = (ramet_page){0};
    TRY(check_limit(c, limit, 1000, 50, &max));
    if (from < 0)
        return call_fail(c, RAMET_INVALID, "from", "from must not be negative");
    if (log != RAMET_LOG_MAIN && log != RAMET_LOG_ADK)
        return call_fail(c, RAMET_INVALID, "log", "the log must be main or adk");
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, record_run(&tx, session, log, from, max, out, total));
    if (st != RAMET_OK)
        *out = (ramet_page){0};
    return st;
}
