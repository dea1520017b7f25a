/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics: which users did what in the last days, computed from sessions, moves and entries.
 *
 * Nothing is counted while writing, so the cost is here, and it is bounded: at most SESSIONS_MOST
 * session rows are read (for the embedding program the newest ones, for a user those of the user's
 * trees). Branches and the newest moves are read only for sessions that changed in that time. In a
 * branch, a bisection over its entries finds where the time begins, and the newest WRITERS_MOST of
 * them name their authors.
 */
#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <stdlib.h>

#define MAX_SESSIONS 100000
#define CHUNK 1000
#define MAX_WRITERS 256
#define MAX_DAYS 366
#define DAYS_DEFAULT 30
#define DAY_US ((int64_t)86400 * 1000000)

/* ---------------------------------------------------------------- sets of users */

enum { DID_SOMETHING = 1, DID_FORK = 2, DID_MOVE = 4 };

typedef struct user_did {
    const char *name; /* NULL: empty */
    int what;
} user_did;

typedef struct users {
    user_did *slots;
    size_t n, cap;
} users;

static user_did *user_slot(const users *u, const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (const char *p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t i = (size_t)(h ^ h >> 32) & (u->cap - 1);
    while (u->slots[i].name && strcmp(u->slots[i].name, name) != 0)
        i = (i + 1) & (u->cap - 1);
    return &u->slots[i];
}

static void user_note(arena *a, users *u, const char *name, int what)
{
    if (!name || !*name)
        return;
    if (u->n * 2 >= u->cap) {
        users old = *u;
        u->cap = old.cap ? old.cap * 2 : 64;
        u->slots = arena_array(a, u->cap, sizeof *u->slots);
        for (size_t i = 0; i < old.cap; i++)
            if (old.slots[i].name)
                *user_slot(u, old.slots[i].name) = old.slots[i];
    }
    user_did *d = user_slot(u, name);
    if (!d->name) {
        d->name = arena_strdup(a, name);
        u->n++;
    }
    d->what |= what | DID_SOMETHING;
}

static int64_t users_count(const users *u, int what)
{
    int64_t n = 0;
    for (size_t i = 0; i < u->cap; i++)
        n += u->slots[i].name && (u->slots[i].what & what);
    return n;
}

/* -------------------------------------------------------------------- the survey */

typedef struct survey {
    txn *tx;             /* its arena is reset for each session */
    arena *arena;        /* lives as long as the survey */
    int64_t since, left; /* session rows that may still be read */
    users who;
    VEC(int64_t) trees; /* active trees; a tree may occur more than once */
    ramet_activity *out;
} survey;

/* The columns of STATISTICS_COLS. */
typedef struct session_look {
    session_full session;
    branch_row head; /* its position, and when it was touched */
} session_look;

static session_look look_from(db_stmt *q, arena *a)
{
    session_look l = {.session = {.no = q_col_int(q, 0),
                                  .tree = q_col_int(q, 1),
                                  .id = q_keep_text(q, 2, a),
                                  .parent = q_col_int(q, 3),
                                  .owner = q_keep_text(q, 4, a),
                                  .visibility = col_visibility(q, 5),
                                  .by_kind = col_actor(q, 6),
                                  .moves = q_col_int(q, 7),
                                  .expires = q_col_int(q, 8),
                                  .created = q_col_int(q, 9),
                                  .updated = q_col_int(q, 10),
                                  .deleted = q_col_int(q, 11),
                                  .purging = col_purging(q, 12)},
                      .head = {.meta = {.id = q_col_int(q, 13), .base = q_col_int(q, 14)},
                               .len = q_col_int(q, 15),
                               .touched = q_col_int(q, 16)}};
    l.head.meta.tree = l.session.tree;
    if (!l.session.owner)
        l.session.owner = "";
    return l;
}

static void writers_note(survey *v, const branch_row *b, int64_t from)
{
    db_stmt *q = db_query(v->tx->db, Q_statistics_writers);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, KEY(b->meta.id, from));
    q_int(q, 3, KEY(b->meta.id, b->len) - 1);
    q_int(q, 4, MAX_WRITERS);
    while (q_row(q))
        if (q_col_int(q, 0) == RAMET_USER)
            user_note(v->arena, &v->who, q_col_text(q, 1), DID_SOMETHING);
}

/* The first of a branch's own entries that is not older than the time. Times rise along a branch,
 * except where a caller set them. */
static int64_t first_since(survey *v, const branch_row *b)
{
    int64_t lo = b->meta.base, hi = b->len;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        db_stmt *q = db_query(v->tx->db, Q_entry_name);
        q_int(q, 1, b->meta.tree);
        q_int(q, 2, KEY(b->meta.id, mid));
        int64_t created = q_row(q) ? q_col_int(q, 1) : 0;
        q_end(q);
        if (created >= v->since)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* True when something was written. */
static bool branch_survey(survey *v, const branch_row *b)
{
    if (b->meta.log != RAMET_LOG_MAIN || b->touched < v->since)
        return false;
    int64_t from = first_since(v, b);
    if (from >= b->len)
        return false;
    v->out->entries += b->len - from;
    writers_note(v, b, from);
    return true;
}

static bool entries_survey(survey *v, const session_look *l)
{
    branch_row *list;
    size_t n;
    bool any = false;
    if (!l->session.moves) /* then it has no other branch */
        return branch_survey(v, &l->head);
    branches_of(v->tx, &l->session.access, &list, &n);
    for (size_t i = 0; i < n; i++)
        any |= branch_survey(v, &list[i]);
    return any;
}

static bool moves_survey(survey *v, const session_full *s)
{
    bool any = false, in_time = s->moves > 0;
    int64_t before = INT64_MAX;
    while (in_time) {
        db_stmt *q = db_query(v->tx->db, Q_move_page);
        q_int(q, 1, s->tree);
        q_int(q, 2, s->no);
        q_int(q, 3, before);
        q_int(q, 4, CHUNK);
        int n = 0;
        for (; in_time && q_row(q); n++) {
            int64_t kind = q_col_int(q, 1);
            bool navigated = kind >= RAMET_MOVE_REWIND && kind <= RAMET_MOVE_SWITCH;
            before = q_col_int(q, 0);
            in_time = q_col_int(q, 4) >= v->since;
            any |= in_time;
            if (in_time)
                user_note(v->arena, &v->who, q_col_text(q, 5),
                          navigated ? DID_MOVE : DID_SOMETHING);
        }
        q_end(q);
        in_time = in_time && n == CHUNK;
    }
    return any;
}

static void session_survey(survey *v, const session_look *l)
{
    const session_full *s = &l->session;
    bool active = s->created >= v->since;
    if (!s->id || session_gone(v->tx, &s->access) || !session_visible(v->tx, &s->access))
        return;
    if (active) {
        v->out->sessions++;
        v->out->forks += s->parent != 0;
        v->out->trees += s->parent == 0;
        if (s->parent && s->by_kind == RAMET_BY_USER)
            user_note(v->arena, &v->who, s->owner, DID_FORK);
    }
    /* A move sets `updated`, an append `touched`. */
    if (active || s->updated >= v->since || l->head.touched >= v->since) {
        active |= entries_survey(v, l);
        active |= moves_survey(v, s);
    }
    if (active && (!v->trees.n || v->trees.items[v->trees.n - 1] != s->tree))
        VEC_PUSH(v->arena, &v->trees, s->tree);
}

typedef struct session_mark {
    int64_t created, no;
} session_mark;

/* Reads a whole chunk before it examines the rows, which runs other statements. */
static size_t chunk_survey(survey *v, db_stmt *q, session_mark *last)
{
    VEC(session_look) rows = {0};
    while (q_row(q)) {
        session_look l = look_from(q, v->tx->arena);
        VEC_PUSH(v->tx->arena, &rows, l);
    }
    for (size_t i = 0; i < rows.n; i++)
        session_survey(v, &rows.items[i]);
    if (rows.n)
        *last = (session_mark){rows.items[rows.n - 1].session.created,
                               rows.items[rows.n - 1].session.no};
    v->left -= (int64_t)rows.n;
    arena_reset(v->tx->arena);
    return rows.n;
}

static void all_survey(survey *v)
{
    session_mark last = {INT64_MAX, INT64_MAX};
    size_t got = CHUNK;
    while (got == CHUNK && v->left > 0 && db_status(v->tx->db) == RAMET_OK) {
        db_stmt *q = db_query(v->tx->db, Q_statistics_all);
        q_int(q, 1, last.created);
        q_int(q, 2, last.no);
        q_int(q, 3, CHUNK);
        got = chunk_survey(v, q, &last);
    }
}

static void trees_survey(survey *v, const char *user)
{
    VEC(int64_t) mine = {0};
    session_mark last;
    db_stmt *q = db_query(v->tx->db, Q_user_trees);
    q_text(q, 1, user);
    while (q_row(q))
        VEC_PUSH(v->arena, &mine, q_col_int(q, 0));
    for (size_t i = mine.n; i-- > 0 && v->left > 0 && db_status(v->tx->db) == RAMET_OK;) {
        q = db_query(v->tx->db, Q_statistics_of_tree);
        q_int(q, 1, mine.items[i]);
        q_int(q, 2, v->left);
        chunk_survey(v, q, &last);
    }
}

static void survey_end(survey *v)
{
    ramet_activity *out = v->out;
    int64_t trees = 0;
    if (v->trees.n)
        qsort(v->trees.items, v->trees.n, sizeof *v->trees.items, number_order);
    for (size_t i = 0; i < v->trees.n; i++)
        trees += !i || v->trees.items[i] != v->trees.items[i - 1];
    out->active_users = users_count(&v->who, DID_SOMETHING);
    out->forked_users = users_count(&v->who, DID_FORK);
    out->switched_users = users_count(&v->who, DID_MOVE);
    out->forks_per_tree = trees ? (double)out->forks / (double)trees : 0;
}

ramet_status ramet_statistics(ramet_call *c, int days, ramet_activity *out)
{
    txn tx;
    *out = (ramet_activity){0};
    if (days < 0 || days > MAX_DAYS)
        return call_fail(c, RAMET_INVALID, "days", "days is %d; it must be 1 to %d", days,
                         MAX_DAYS);
    if (!txn_read(&tx, c))
        return c->err.status;
    out->days = days ? days : DAYS_DEFAULT;
    survey v = {.tx = &tx,
                .arena = arena_new(),
                .since = tx.now - out->days * DAY_US,
                .left = MAX_SESSIONS,
                .out = out};
    tx.arena = arena_new();
    if (c->user)
        trees_survey(&v, c->user);
    else
        all_survey(&v);
    survey_end(&v);
    arena_free(tx.arena);
    arena_free(v.arena);
    tx.arena = c->arena;
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st != RAMET_OK)
        *out = (ramet_activity){0};
    return st;
}
