/* SPDX-License-Identifier: Apache-2.0
 *
 * Events: what was committed, in commit order, for subscribers and the search index.
 *
 *   V1  Numbers are assigned in order, inside the write transaction, or after it where several
 *       transactions write at once (store_settle()): a reader that has seen number n never meets a
 *       smaller one later.
 *   V2  The newest event is never removed, so that no number is used twice. Older ones are removed
 *       from the oldest on, so that the remaining numbers have no gap.
 *   V3  An event is shown to callers who may see its session now (I10). Of a session that is gone
 *       only its end is shown. The removal of a member is also shown to that member: nothing else
 *       would explain why the stream falls silent.
 *   V4  Entries of the adk log may hold credentials: their events are for the search index only,
 *       as are changes of the texts that entries are found by.
 */
#include "core/event.h"

#include "ramet/sandboxes.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/idempotency.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/search/search_upkeep.h"
#include "core/txn.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#define ENTRIES_MAX 1000
#define PRUNE_BATCH 1000 /* rows in one transaction */
#define LOOKS 256        /* a power of two */
#define CHUNK 1000       /* rows at a time */

const char *ramet_event_name(ramet_event_kind v)
{
    static const char *const names[] = {
        [RAMET_EVENT_CREATED] = "session.created",   [RAMET_EVENT_UPDATED] = "session.updated",
        [RAMET_EVENT_FORKED] = "session.forked",     [RAMET_EVENT_REWOUND] = "session.rewound",
        [RAMET_EVENT_SWITCHED] = "session.switched", [RAMET_EVENT_MERGED] = "session.merged",
        [RAMET_EVENT_DELETED] = "session.deleted",   [RAMET_EVENT_RESTORED] = "session.restored",
        [RAMET_EVENT_APPENDED] = "entry.appended",
    };
    bool known = v >= RAMET_EVENT_CREATED && v <= RAMET_EVENT_APPENDED;
    return known ? names[v] : "unknown";
}

static int64_t number(db *d, sql_id what)
{
    db_stmt *q = db_query(d, what);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

void event_add(txn *tx, int64_t tree, int64_t session, ramet_event_kind kind, int64_t k, int64_t n)
{
    assert(tx->writing);
    int64_t no = db_number(tx->db, DB_EVENT, NULL);
    tx->event = no;
    db_stmt *q = db_query(tx->db, Q_event_add);
    q_int(q, 1, no);
    q_int(q, 2, tree);
    q_int(q, 3, session);
    q_int(q, 4, kind);
    q_int(q, 5, k);
    q_int(q, 6, n);
    q_int(q, 7, tx->now);
    q_run(q);
}

void event_add_member(txn *tx, const session_brief *s, const char *user, ramet_level before,
                      ramet_level after)
{
    tx->event = db_number(tx->db, DB_EVENT, NULL);
    db_stmt *q = db_query(tx->db, Q_event_member);
    q_int(q, 1, tx->event);
    q_int(q, 2, s->tree);
    q_int(q, 3, s->no);
    q_int(q, 4, RAMET_EVENT_UPDATED);
    q_int(q, 5, s->head);
    q_int(q, 6, (int64_t)before * EVENT_LEVELS + (int64_t)after);
    q_int(q, 7, tx->now);
    q_text(q, 8, user);
    q_run(q);
}

/* ---------------------------------------------------------------- visibility */

/* What the caller may see of the session of an event. */
typedef struct look {
    int64_t session; /* 0: an empty slot */
    bool seen, gone; /* visible to the caller; deleted, expired or purged */
    const char *id, *tree, *sandbox;
} look;

/* `keep` gets the names of a session that is visible, or (`named`) of any; NULL: not needed. */
static look look_at(txn *tx, int64_t tree, int64_t no, arena *keep, bool named)
{
    look l = {.session = no};
    db_stmt *q = db_query(tx->db, Q_event_session);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    if (q_row(q) && !q_col_null(q, 0) && !q_col_null(q, 1)) {
        session_access s = {.no = no,
                            .tree = tree,
                            .id = q_col_text(q, 0),
                            .owner = q_col_text(q, 1),
                            .visibility = col_visibility(q, 2),
                            .expires = q_col_int(q, 3),
                            .deleted = q_col_int(q, 4),
                            .purging = col_purging(q, 5)};
        l.gone = session_gone(tx, &s);
        l.seen = session_visible(tx, &s) || share_gives(tx, &s, NEED_READ);
        if ((l.seen || named) && keep) {
            l.id = q_keep_text(q, 0, keep);
            l.tree = q_keep_text(q, 6, keep);
            l.sandbox = q_keep_text(q, 7, keep);
        }
    }
    q_end(q);
    return l;
}

static bool look_shows(const look *l, ramet_event_kind kind)
{
    return l->seen && (!l->gone || kind == RAMET_EVENT_DELETED);
}

/* Whether an event is the removal of the caller. */
static bool removes_caller(const ramet_call *c, const char *member, ramet_level after)
{
    return member && !after && c->user && strcmp(member, c->user) == 0;
}

/* The numbers of the session that has, or had, that id. */
static bool session_numbers(txn *tx, const char *id, int64_t *tree, int64_t *no)
{
    db_stmt *q = db_query(tx->db, Q_session_place);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found) {
        *tree = q_col_int(q, 0);
        *no = q_col_int(q, 1);
    }
    q_end(q);
    return found;
}

bool ramet_event_seen(ramet_call *c, const ramet_event *e)
{
    txn tx;
    int64_t tree, no;
    if (!c->user || removes_caller(c, e->member, e->after))
        return true;
    if (!txn_read(&tx, c))
        return false;
    bool seen = false;
    /* The id may have been reused since, in another tree. */
    if (session_numbers(&tx, e->session, &tree, &no) && tree == tree_number(&tx, e->tree)) {
        look l = look_at(&tx, tree, no, NULL, false);
        seen = look_shows(&l, e->kind);
    }
    return txn_done(&tx, RAMET_OK) == RAMET_OK && seen;
}

/* ------------------------------------------------------------------- reading */

typedef struct walk {
    txn *tx;
    bool bare;
    int64_t session, tree; /* what to report; 0 = all */
    look looks[LOOKS];     /* by the number of the session: consecutive events often share one */
    VEC(ramet_event) found;
    size_t begin; /* memory used by the call before the first event */
} walk;

typedef struct row {
    int64_t no, tree, session, key, count, at;
    ramet_event_kind kind;
    const char *who; /* valid until the next row */
} row;

typedef struct taken {
    VEC(ramet_entry) v;
    const walk *walk;
} taken;

static bool walk_room(const walk *w)
{
    return arena_used(w->tx->arena) - w->begin < PAGE_BYTES;
}

static bool entry_add(void *arg, ramet_entry *e)
{
    taken *t = arg;
    VEC_PUSH(t->walk->tx->arena, &t->v, *e);
    return walk_room(t->walk);
}

/* A damaged entry does not end the stream; reading the entry reports the damage. */
static void entries_take(walk *w, const row *r, ramet_event *e)
{
    txn *tx = w->tx;
    branch_row b;
    taken t = {.walk = w};
    int64_t from = KEY_POS(r->key), n = r->count < ENTRIES_MAX ? r->count : ENTRIES_MAX;
    if (branch_load(tx, r->tree, e->branch, &b))
        path_read(tx, &b, from, from + n, tx->arena, entry_add, &t);
    if (db_status(tx->db) == RAMET_DAMAGED && !db_engine_failed(tx->db)) {
        db_clear(tx->db);
        t.v.n = 0;
    }
    e->entries = t.v.items;
    e->n = t.v.n;
    e->more = (int64_t)t.v.n < r->count;
}

static void change_take(txn *tx, const row *r, ramet_event *e)
{
    if (r->who) {
        e->member = arena_strdup(tx->arena, r->who);
        e->before = (ramet_level)(r->count / EVENT_LEVELS);
        e->after = (ramet_level)(r->count % EVENT_LEVELS);
    } else {
        e->archived = r->count == EVENT_ARCHIVED ? 1 : r->count == EVENT_BACK ? -1 : 0;
    }
}

static void event_take(walk *w, const row *r)
{
    txn *tx = w->tx;
    look *l = &w->looks[r->session & (LOOKS - 1)];
    if (r->kind == EVENT_INDEXED)
        return;
    if (l->session != r->session)
        *l = look_at(tx, r->tree, r->session, tx->arena, false);
    look last;
    if (!look_shows(l, r->kind)) {
        if (r->kind != RAMET_EVENT_UPDATED ||
            !removes_caller(tx->call, r->who, (ramet_level)(r->count % EVENT_LEVELS)))
            return;
        last = look_at(tx, r->tree, r->session, tx->arena, true);
        if (!last.id || last.gone)
            return;
        l = &last;
    }
    ramet_event e = {.number = r->no,
                     .kind = r->kind,
                     .session = l->id,
                     .tree = l->tree,
                     .at = r->at,
                     .sandbox = l->sandbox && *l->sandbox ? l->sandbox : RAMET_SANDBOX_DEFAULT};
    e.branch = r->key;
    if (r->kind == RAMET_EVENT_APPENDED) {
        branch_meta m;
        e.branch = KEY_BRANCH(r->key);
        if (branch_meta_load(tx, r->tree, e.branch, &m) && m.log != RAMET_LOG_MAIN)
            return;
        if (!w->bare)
            entries_take(w, r, &e);
    } else if (r->kind == RAMET_EVENT_UPDATED) {
        change_take(tx, r, &e);
    }
    VEC_PUSH(tx->arena, &w->found, e);
}

/* Resolves the requested ids to numbers; false when nothing has them. */
static bool filter_find(walk *w, const ramet_events_in *in)
{
    if (in->session && !session_numbers(w->tx, in->session, &w->tree, &w->session))
        return false;
    if (!in->tree)
        return true;
    int64_t tree = tree_number(w->tx, in->tree);
    bool fits = tree && (!w->session || w->tree == tree);
    w->tree = tree;
    return fits;
}

/* Reads up to CHUNK rows after out->next; false when there are no more, or the page is complete. */
static bool chunk_walk(walk *w, size_t limit, ramet_events_out *out)
{
    int n = 0;
    db_stmt *q = db_query(w->tx->db, Q_event_after);
    q_int(q, 1, out->next);
    q_int(q, 2, CHUNK);
    for (; w->found.n < limit && walk_room(w) && q_row(q); n++) {
        row r = {.no = q_col_int(q, 0),
                 .tree = q_col_int(q, 1),
                 .session = q_col_int(q, 2),
                 .kind = col_event_kind(q, 3),
                 .key = q_col_int(q, 4),
                 .count = q_col_int(q, 5),
                 .at = q_col_int(q, 6),
                 .who = q_col_text(q, 7)};
        out->next = r.no;
        if ((!w->tree || w->tree == r.tree) && (!w->session || w->session == r.session))
            event_take(w, &r);
    }
    q_end(q);
    return n == CHUNK;
}

static void events_walk(walk *w, size_t limit, ramet_events_out *out)
{
    while (chunk_walk(w, limit, out))
        ;
    out->items = w->found.items;
    out->n = w->found.n;
}

static void events_find(txn *tx, const ramet_events_in *in, size_t limit, ramet_events_out *out)
{
    walk w = {.tx = tx, .bare = in->bare, .begin = arena_used(tx->arena)};
    int64_t newest = number(tx->db, Q_max_event);
    /* The oldest number that is left shows whether events were lost (V2). */
    out->lost = in->after > newest || number(tx->db, Q_min_event) > in->after + 1;
    out->next = newest;
    if (out->lost || !filter_find(&w, in))
        return;
    out->next = in->after;
    events_walk(&w, limit, out);
}

ramet_status ramet_events(ramet_call *c, const ramet_events_in *in, ramet_events_out *out)
{
    txn tx;
    int limit;
    *out = (ramet_events_out){.next = in->after};
    TRY(check_limit(c, in->limit, 1000, 100, &limit));
    if (in->after < 0)
        return call_fail(c, RAMET_INVALID, "after", "there is no event number %lld",
                         (long long)in->after);
    if (in->session)
        TRY(check_id(c, "session", in->session));
    if (in->tree)
        TRY(check_id(c, "tree", in->tree));
    store_settle(c->ramet->store);
    if (!txn_read(&tx, c))
        return c->err.status;
    events_find(&tx, in, (size_t)limit, out);
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        *out = (ramet_events_out){.next = in->after};
    return st;
}

/* ------------------------------------------------------------------- waiting */

/* Threads that wait for events of one open store. At most one of them at a time polls for writes of
 * other processes. */
struct watch {
    pthread_mutex_t lock;
    pthread_cond_t moved; /* `last` or `wakes` has grown, or the polling thread has stopped */
    _Atomic int64_t last; /* newest number known */
    _Atomic int waiters;
    int64_t wakes, polled; /* calls of ramet_event_wake(); when the store was last polled */
    int64_t unheard;       /* wakes that found no thread waiting */
    bool polling;

    pthread_mutex_t look_lock;
    db *db; /* a connection of its own, opened on first use: polling must not wait for the pool */
};

struct watch *watch_new(void)
{
    struct watch *w = xcalloc(1, sizeof *w);
    cond_init(&w->moved);
    pthread_mutex_init(&w->lock, NULL);
    pthread_mutex_init(&w->look_lock, NULL);
    return w;
}

void watch_close(struct watch *w)
{
    db_close(w->db);
    w->db = NULL;
}

void watch_free(struct watch *w)
{
    pthread_cond_destroy(&w->moved);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->look_lock);
    free(w);
}

static bool watch_raise(struct watch *w, int64_t no)
{
    int64_t have = w->last;
    while (have < no)
        if (atomic_compare_exchange_weak(&w->last, &have, no))
            return true;
    return false;
}

void event_notify(ramet *r, int64_t no)
{
    struct watch *w = r->watch;
    /* A waiter registers before it reads `last`, so one of the two always sees the other. */
    if (!watch_raise(w, no) || !w->waiters)
        return;
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

/* The newest number in the store; 0 when it cannot be read. */
static int64_t store_newest(ramet *r)
{
    struct watch *w = r->watch;
    char message[512];
    int64_t no = 0;
    store_settle(r->store);
    pthread_mutex_lock(&w->look_lock);
    if (w->db || store_connect(r->store, &w->db, message) == RAMET_OK) {
        bool ok = db_begin_read(w->db) == RAMET_OK;
        no = ok ? number(w->db, Q_max_event) : 0;
        db_end_read(w->db);
        if (!ok || db_status(w->db) != RAMET_OK) {
            db_close(w->db);
            w->db = NULL;
        }
    }
    pthread_mutex_unlock(&w->look_lock);
    return no;
}

int64_t ramet_event_mark(ramet *r)
{
    return store_mark(r->store);
}

int64_t ramet_event_upto(ramet *r, int64_t mark)
{
    store_upto(r->store, mark);
    return r->watch->last;
}

int64_t ramet_event_last(ramet *r)
{
    event_notify(r, store_newest(r));
    return r->watch->last;
}

/* Reads the store without holding the lock. */
static void watch_poll(ramet *r, struct watch *w)
{
    w->polling = true;
    pthread_mutex_unlock(&w->lock);
    int64_t no = store_newest(r);
    pthread_mutex_lock(&w->lock);
    w->polling = false;
    w->polled = time_mono_us();
    if (watch_raise(w, no))
        pthread_cond_broadcast(&w->moved);
}

static void watch_sleep(struct watch *w, int64_t until)
{
    struct timespec t = time_spec(until);
    pthread_cond_timedwait(&w->moved, &w->lock, &t);
}

int64_t ramet_event_wait(ramet *r, int64_t after, int ms)
{
    struct watch *w = r->watch;
    if (ms <= 0)
        return ramet_event_last(r);
    if (w->last > after)
        return w->last;
    store_follow(r->store);
    int64_t end = time_mono_us() + (int64_t)ms * 1000;
    pthread_mutex_lock(&w->lock);
    w->waiters++;
    int64_t wakes = w->wakes - w->unheard;
    w->unheard = 0;
    while (w->last <= after && w->wakes == wakes) {
        int64_t now = time_mono_us(), due = w->polled + store_poll_us(r->store);
        bool mine = !w->polling;
        if (mine && now >= due) {
            watch_poll(r, w);
            continue;
        }
        if (now >= end)
            break;
        w->polling = true;
        watch_sleep(w, mine && due < end ? due : end);
        if (mine)
            w->polling = false;
    }
    /* If this thread was the poller, another waiter takes over. */
    if (--w->waiters && !w->polling)
        pthread_cond_signal(&w->moved);
    int64_t last = w->last;
    pthread_mutex_unlock(&w->lock);
    return last;
}

void ramet_event_wake(ramet *r)
{
    struct watch *w = r->watch;
    pthread_mutex_lock(&w->lock);
    w->wakes++;
    w->unheard += !w->waiters;
    pthread_cond_broadcast(&w->moved);
    pthread_mutex_unlock(&w->lock);
}

/* ---------------------------------------------------------------- forgetting */

typedef struct prune_job {
    int64_t keep;    /* newest events */
    int64_t seen;    /* only those before this number */
    int64_t removed; /* in the last transaction */
} prune_job;

static ramet_status prune_run(txn *tx, void *arg)
{
    prune_job *j = arg;
    int64_t first = number(tx->db, Q_min_event), to = number(tx->db, Q_max_event) - j->keep;
    to = to < j->seen ? to : j->seen - 1;
    to = to < first + PRUNE_BATCH ? to : first + PRUNE_BATCH - 1;
    j->removed = 0;
    if (!first || to < first)
        return txn_status(tx);
    int64_t before = db_changes(tx->db);
    db_stmt *q = db_query(tx->db, Q_event_del);
    q_int(q, 1, to);
    q_run(q);
    j->removed = db_changes(tx->db) - before;
    return txn_status(tx);
}

ramet_status ramet_events_prune(ramet_call *c, int64_t keep, int64_t *removed)
{
    if (removed)
        *removed = 0;
    TRY(program_only(c));
    if (keep < 1)
        return call_fail(c, RAMET_INVALID, "keep", "keep is %lld; the newest event has to stay",
                         (long long)keep);
    prune_job j = {.keep = keep, .seen = search_needs(c->ramet)};
    store_settle(c->ramet->store);
    do {
        TRY(txn_write(c, prune_run, &j));
        if (removed)
            *removed += j.removed;
    } while (j.removed);
    return idempotency_prune(c);
}
