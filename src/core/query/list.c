/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of sessions, newest first, by cursor.
 *
 * The cursor is (created, number) of the last session returned, so a session created or removed
 * between two pages makes no other one repeat or disappear. The narrowest filter selects the index
 * to walk; its rows are then filtered one by one, in chunks, until the page is full.
 */
#include "core/access/member.h"
#include "core/access/sandbox.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/session/life.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/search/search.h"
#include "core/txn.h"

#include <stdio.h>

#define CHUNK 256
#define FILL_AT_ONCE 64
#define FEW_TREES 2000 /* up to this many trees: by tree; else walk all sessions */

typedef struct list_spot {
    int64_t created, no;
} list_spot;

typedef struct lister {
    txn *tx;
    const ramet_list_in *in;
    const char *tag, *title; /* normalized */
    int64_t tree;
    sql_id source;
    arena *keep; /* memory for `latest` */
    map latest;  /* by tree: when one of its sessions was last touched */
} lister;

static bool cursor_read(const char *s, list_spot *p)
{
    unsigned long long created, no;
    char canonical[64];
    if (strlen(s) > 40 || sscanf(s, "%llx-%llx", &created, &no) != 2)
        return false;
    snprintf(canonical, sizeof canonical, "%llx-%llx", created, no);
    if (strcmp(canonical, s) != 0 || created > INT64_MAX || no > INT64_MAX)
        return false;
    *p = (list_spot){(int64_t)created, (int64_t)no};
    return true;
}

static const char *cursor_make(arena *a, const session_full *s)
{
    return arena_printf(a, "%llx-%llx", (unsigned long long)s->created, (unsigned long long)s->no);
}

static bool few_trees(txn *tx)
{
    db_stmt *q = db_query(tx->db, Q_member_trees);
    q_text(q, 1, tx->call->user);
    q_int(q, 2, FEW_TREES + 1);
    int n = 0;
    while (q_row(q))
        n++;
    return n <= FEW_TREES;
}

static void pick_source(lister *l)
{
    if (l->in->tree)
        l->source = Q_session_in_tree;
    else if (l->tag)
        l->source = Q_session_tagged;
    else if (l->in->owner)
        l->source = Q_session_owned;
    else if (l->tx->call->user && few_trees(l->tx))
        l->source = Q_session_of_member;
    else
        l->source = Q_session_newest;
}

typedef VEC(session_full) row_list;

static void fetch_from(lister *l, sql_id source, list_spot at, row_list *out)
{
    db_stmt *q = db_query(l->tx->db, source);
    int n = 1;
    if (source == Q_session_in_tree)
        q_int(q, n++, l->tree);
    else if (source == Q_session_tagged)
        q_text(q, n++, l->tag);
    else if (source == Q_session_owned)
        q_text(q, n++, l->in->owner ? l->in->owner : l->tx->call->user);
    else if (source == Q_session_of_member)
        q_text(q, n++, l->tx->call->user);
    q_int(q, n++, at.created);
    q_int(q, n++, at.no);
    q_int(q, n, CHUNK);
    while (q_row(q)) {
        session_full s;
        session_from(q, l->tx->arena, &s);
        VEC_PUSH(l->tx->arena, out, s);
    }
}

static bool newer(const session_full *a, const session_full *b)
{
    return a->created != b->created ? a->created > b->created : a->no > b->no;
}

/* Reads the next chunk. A member's sessions are those of the member's trees, and the member's own
 * private sessions elsewhere. */
static void fetch(lister *l, list_spot at, row_list *out)
{
    out->n = 0;
    if (l->source != Q_session_of_member) {
        fetch_from(l, l->source, at, out);
        return;
    }
    row_list a = {0}, b = {0};
    fetch_from(l, Q_session_of_member, at, &a);
    fetch_from(l, Q_session_owned, at, &b);
    size_t i = 0, k = 0;
    /* Merge only as far as both chunks reach: past that one of them may lack rows. */
    while ((i < a.n || k < b.n) && out->n < CHUNK) {
        bool take_a = k >= b.n || (i < a.n && !newer(&b.items[k], &a.items[i]));
        if (i < a.n && k < b.n && a.items[i].no == b.items[k].no)
            k++;
        if (take_a)
            VEC_PUSH(l->tx->arena, out, a.items[i++]);
        else
            VEC_PUSH(l->tx->arena, out, b.items[k++]);
    }
}

static bool has_tag(txn *tx, const session_full *s, const char *tag)
{
    db_stmt *q = db_query(tx->db, Q_tag_has);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, tag);
    bool yes = q_row(q);
    q_end(q);
    return yes;
}

static bool title_matches(lister *l, const session_full *s)
{
    arena *a = l->tx->arena;
    if (strstr(utf8_lower(a, s->title, strlen(s->title)), l->title))
        return true;
    if (l->in->stored_title)
        return false;
    const char *shown = session_shown_title(l->tx, s);
    return strstr(utf8_lower(a, shown, strlen(shown)), l->title) != NULL;
}

static bool archive_lets(const ramet_list_in *in, int64_t archived)
{
    int64_t at = archive_time(archived);
    if (in->archived_when && (!archived || at < in->archived_from || at >= in->archived_to))
        return false;
    return in->archived == RAMET_ARCHIVED_EXCLUDE ? !archived
                                                  : in->archived != RAMET_ARCHIVED_ONLY || archived;
}

/* Whether a session is there for the list: the living ones or, if they are asked for, the deleted
 * ones that can be restored. `level`: the caller's in its tree. */
static bool life_lets(const lister *l, ramet_level level, const session_access *s)
{
    if (l->in->deleted)
        return session_restorable(l->tx, level, s);
    return !session_gone(l->tx, s) && session_seen(l->tx, level, s);
}

/* When a session of the tree, among those that the list could show, was last touched. */
static int64_t latest_in(lister *l, int64_t tree)
{
    txn *tx = l->tx;
    int64_t *known = map_get(&l->latest, tree);
    if (known)
        return *known;
    known = arena_alloc(l->keep, sizeof *known);
    ramet_level level = level_in(tx, tree);
    db_stmt *q = db_query(tx->db, Q_session_latest);
    q_int(q, 1, tree);
    while (q_row(q)) {
        const char *owner = q_col_text(q, 0);
        session_access s = {.tree = tree,
                            .owner = owner ? owner : "",
                            .visibility = col_visibility(q, 1),
                            .deleted = q_col_int(q, 3),
                            .expires = q_col_int(q, 4),
                            .purging = col_purging(q, 5)};
        int64_t at = q_col_int(q, 6);
        if (life_lets(l, level, &s) && archive_lets(l->in, q_col_int(q, 2)) && at > *known)
            *known = at;
    }
    map_put(l->keep, &l->latest, tree, known);
    return *known;
}

static bool is_latest(lister *l, const session_full *s)
{
    branch_row head;
    int64_t at = s->updated;
    if (branch_load(l->tx, s->tree, s->head, &head) && head.touched > at)
        at = head.touched;
    return at == latest_in(l, s->tree);
}

static bool was_started(txn *tx, const session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_origin_get);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    bool yes = q_row(q) && q_col_int(q, 2);
    q_end(q);
    return yes;
}

static bool lineage_fits(lister *l, const session_full *s)
{
    const ramet_list_in *in = l->in;
    if (in->forks == RAMET_NO_FORKS && s->parent)
        return false;
    if (in->start != RAMET_ANY_START && was_started(l->tx, s) != (in->start == RAMET_STARTED))
        return false;
    return in->forks != RAMET_LATEST_FORK || is_latest(l, s);
}

static bool wanted(lister *l, const session_full *s)
{
    const ramet_list_in *in = l->in;
    /* Look the level up only where it matters. */
    bool by_level = l->tx->call->user && s->visibility != RAMET_PRIVATE;
    if (session_gone(l->tx, &s->access) != in->deleted ||
        !life_lets(l, by_level ? level_in(l->tx, s->tree) : RAMET_NO_LEVEL, &s->access))
        return false;
    if (!archive_lets(in, s->archived))
        return false;
    if (in->owner && strcmp(in->owner, s->owner) != 0)
        return false;
    if (in->agent && (!s->agent || strcmp(in->agent, s->agent) != 0))
        return false;
    if (in->tree && s->tree != l->tree)
        return false;
    if (in->sandbox && strcmp(sandbox_name(l->tx, s->tree), in->sandbox) != 0)
        return false;
    if (l->tag && !has_tag(l->tx, s, l->tag))
        return false;
    return (!l->title || title_matches(l, s)) && lineage_fits(l, s);
}

typedef struct chunk_look {
    lister *lister;
    const session_full *rows;
} chunk_look;

static void wanted_make(txn *tx, void *arg, size_t i)
{
    const chunk_look *k = arg;
    lister l = *k->lister;
    l.tx = tx;
    wanted(&l, &k->rows[i]);
}

/* Finds up to one more than the limit. A filter may reject most of a large store, so rows that are
 * only examined live in an arena of their own. */
static void page_find(lister *l, int limit, list_spot at, row_list *page)
{
    txn *tx = l->tx, look = *tx;
    bool end = false;
    look.arena = arena_new();
    l->tx = &look;
    while (!end && page->n <= (size_t)limit && db_status(tx->db) == RAMET_OK) {
        row_list chunk = {0};
        arena_reset(look.arena);
        fetch(l, at, &chunk);
        end = chunk.n == 0;
        chunk_look ahead = {l, chunk.items};
        size_t left = (size_t)limit + 1 - page->n;
        txn_prefetch(&look, wanted_make, &ahead, chunk.n < left ? chunk.n : left);
        for (size_t i = 0; i < chunk.n && page->n <= (size_t)limit; i++) {
            const session_full *s = &chunk.items[i];
            at = (list_spot){s->created, s->no};
            if (wanted(l, s))
                VEC_PUSH(tx->arena, page, session_keep(tx->arena, s));
        }
        db_performed(tx->db);
    }
    l->tx = tx;
    arena_free(look.arena);
}

static void fill_make(txn *tx, void *arg, size_t i)
{
    const session_full *rows = arg;
    ramet_session out;
    session_fill(tx, &rows[i], &out);
}

/* In batches: what is prefetched for a batch is held until its sessions are filled in. */
void session_fill_all(txn *tx, session_full *rows, size_t n, ramet_session *out)
{
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < FILL_AT_ONCE ? n - at : FILL_AT_ONCE;
        txn_prefetch(tx, fill_make, &rows[at], some);
        for (size_t i = at; i < at + some; i++)
            session_fill(tx, &rows[i], &out[i]);
        db_performed(tx->db);
    }
}

static ramet_status find_run(lister *l, int limit, list_spot at, ramet_session_list *out)
{
    txn *tx = l->tx;
    row_list page = {0};
    page_find(l, limit, at, &page);
    if (page.n > (size_t)limit) {
        page.n = (size_t)limit;
        out->next_cursor = cursor_make(tx->arena, &page.items[page.n - 1]);
    }
    out->items = arena_array(tx->arena, page.n + 1, sizeof *out->items);
    session_fill_all(tx, page.items, page.n, out->items);
    for (size_t i = 0; i < page.n && l->in->deleted; i++) {
        const session_full *s = &page.items[i];
        out->items[i].deleted_at = s->deleted ? s->deleted : s->expires;
    }
    out->n = page.n;
    return txn_status(tx);
}

static ramet_status lister_check(ramet_call *c, lister *l)
{
    const ramet_list_in *in = l->in;
    if (in->owner)
        TRY(check_id(c, "owner", in->owner));
    if (in->agent)
        TRY(check_id(c, "agent", in->agent));
    if (in->tree)
        TRY(check_id(c, "tree", in->tree));
    if (in->archived < RAMET_ARCHIVED_EXCLUDE || in->archived > RAMET_ARCHIVED_ONLY)
        return call_fail(c, RAMET_INVALID, "archived", "archived must be exclude, include or only");
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    if (in->tag) {
        const char **tags;
        size_t n;
        TRY(check_tags(c, &in->tag, 1, &tags, &n));
        l->tag = tags[0];
    }
    if (in->title && *in->title)
        l->title = utf8_lower(c->arena, in->title, strlen(in->title));
    return RAMET_OK;
}

/* The list position of a session that the caller may see. */
static bool behind(txn *tx, const char *id, list_spot *at)
{
    session_full s;
    if (!session_load(tx, id, &s) || !session_visible(tx, &s.access))
        return false;
    *at = (list_spot){s.created, s.no};
    return true;
}

ramet_status ramet_session_find(ramet_call *c, const ramet_list_in *in, ramet_session_list *out)
{
    txn tx;
    int limit;
    list_spot at = {INT64_MAX, INT64_MAX};
    lister l = {.tx = &tx, .in = in};
    *out = (ramet_session_list){0};
    TRY(check_limit(c, in->limit, 1000, 50, &limit));
    TRY(lister_check(c, &l));
    if (in->cursor && !cursor_read(in->cursor, &at))
        return call_fail(c, RAMET_BAD_CURSOR, "cursor", "the cursor was not made by this list");
    if (!txn_read(&tx, c))
        return c->err.status;
    /* An unknown tree has no sessions; the answer does not reveal whether it exists. */
    l.tree = in->tree ? tree_number(&tx, in->tree) : 0;
    pick_source(&l);
    l.keep = arena_new();
    ramet_status st = in->sandbox ? sandbox_open(&tx, in->sandbox) : RAMET_OK;
    bool any = !in->after || behind(&tx, in->after, &at);
    if (st == RAMET_OK)
        st = any ? find_run(&l, limit, at, out) : txn_status(&tx);
    st = txn_done(&tx, st);
    arena_free(l.keep);
    if (st != RAMET_OK)
        *out = (ramet_session_list){0};
    return st;
}
