/* SPDX-License-Identifier: Apache-2.0
 *
 * Garbage collection: permanently removes what no session can reach.
 *
 *   G1  A session is dead when it was deleted, or expired, longer ago than the grace time. First
 *       dead sessions are marked (purging = 1) and that is committed: from then on they cannot be
 *       restored. Marking is a revocation, so every fork that may have missed the marks has ended
 *       before anything is removed, in each run anew (dead_find() returns marked ones, too).
 *   G2  How much of a dead session's branch is still needed can then only fall: a new fork into
 *       it must come along a live path, whose cut is already counted.
 *   G3  Entries are removed in small writes, children before parents, the newest positions first,
 *       and each write leaves the branch shorter but complete. If gc is interrupted, the store is
 *       sound and the next gc continues.
 *   G4  A number must never be reused. So the branch, session and tree that the next number is
 *       derived from (db_highest()) stay, emptied, until they are no longer the highest.
 *   G5  A session with forks in the tree, or with branches that other sessions need, leaves a
 *       tombstone (purging = 2): only its position in the tree.
 *   G6  A branch that was pruned longer ago than the grace time is removed in the same way: marked
 *       (NOTE_TAKING), cut down to what is needed, then NOTE_TAKEN. Its row stays, detached if
 *       nothing of it is needed: moves and turns refer to it. What is removed from the end of a
 *       branch is removed from the record of its session in the same write.
 *   G7  A session on hold is neither marked nor counted as dead, however long ago it was deleted.
 */
#include "core/upkeep/gc.h"

#include "ramet/erase.h"
#include "ramet/export.h"
#include "core/access/hold.h"
#include "core/access/share.h"
#include "core/attachment/attachment_upkeep.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/export/import_lock.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/copied.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/change/overlay.h"
#include "core/model/path.h"
#include "core/view/record.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/search/search_upkeep.h"
#include "core/txn.h"
#include "core/model/reach.h"

#include <assert.h>
#include <stdlib.h>

#define MARK_BATCH 500
#define ENTRY_BATCH 1000             /* entries per write */
#define STEP_BATCH 256               /* branches or sessions per write */
#define TEXT_BATCH ((size_t)8 << 20) /* bytes of text kept for the search index per write */

/* ------------------------------------------------------------- reachability */

int64_t gc_would_take(txn *tx, int64_t tree, const int64_t *sessions, size_t n)
{
    reach_tree t;
    arena *a = arena_new();
    reach_load(tx, a, tree, &t);
    int64_t before = 0, after = 0;
    if (db_status(tx->db) == RAMET_OK) {
        for (size_t i = 0; i < t.n_sessions; i++) {
            reach_session *s = &t.sessions[i];
            s->dead = s->purging ||
                      (!s->on_hold && (s->deleted || (s->expires && s->expires <= tx->now)));
        }
        for (size_t i = 0; i < t.n_branches; i++)
            t.branches[i].out = t.branches[i].note && t.branches[i].note->state >= NOTE_TAKING;
        for (size_t i = 0; i < n; i++)
            if (reach_session_at(&t, sessions[i]))
                reach_session_at(&t, sessions[i])->dead = false;
        reach_find(&t, NULL, NULL);
        before = reach_entries(&t);
        for (size_t i = 0; i < n; i++)
            if (reach_session_at(&t, sessions[i]))
                reach_session_at(&t, sessions[i])->dead = true;
        reach_find(&t, NULL, NULL);
        after = reach_entries(&t);
    }
    arena_free(a);
    return after - before;
}

/* ------------------------------------------------------------------- planning */

typedef struct gc {
    ramet_call *call;
    int64_t cutoff;
    ramet_progress progress;
    void *arg;
    int64_t taken; /* entries removed, for progress */
    ramet_gc_out *out;
    attached_refs refs; /* dry run: references from entries that would be removed */
    arena *arena;       /* lives as long as the run */
} gc;

typedef struct gc_name {
    int64_t tree, no;
} gc_name;

typedef VEC(gc_name) gc_names;

static bool is_dead(int64_t deleted, int64_t expires, int64_t cutoff)
{
    return (deleted && deleted <= cutoff) || (expires && expires <= cutoff);
}

static bool is_due(const branch_note *n, int64_t cutoff)
{
    return n->state == NOTE_PRUNED && n->pruned <= cutoff;
}

/* A living session's first branches keep their place (R2). */
static bool stays_linked(const reach_branch *b)
{
    return !b->of->dead && reach_is_first(b);
}

static int64_t number_of(txn *tx, sql_id what, int64_t a, int64_t b, int64_t c)
{
    db_stmt *q = db_query(tx->db, what);
    q_int(q, 1, a);
    q_int(q, 2, b);
    q_int(q, 3, c);
    int64_t v = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return v;
}

static void names_load(txn *tx, const gc *g, sql_id what, gc_names *v)
{
    bool dead = what == Q_session_dead || what == Q_note_due;
    int64_t after = 0;
    size_t got = MARK_BATCH;
    while (got == MARK_BATCH) {
        db_stmt *q = db_query(tx->db, what);
        q_int(q, 1, after);
        q_int(q, 2, dead ? g->cutoff : MARK_BATCH);
        q_int(q, 3, MARK_BATCH);
        for (got = 0; q_row(q); got++) {
            gc_name m = {q_col_int(q, 0), q_col_int(q, 1)};
            VEC_PUSH(g->arena, v, m);
            after = m.no;
        }
    }
}

static int name_order(const void *a, const void *b)
{
    const gc_name *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

/* Finds the dead sessions, the pruned branches, and the trees to process: theirs, and those of
 * tombstones that waited (G4). */
static ramet_status dead_find(gc *g, gc_names *dead, gc_names *pruned, gc_names *trees)
{
    txn tx;
    gc_names all = {0};
    if (!txn_read(&tx, g->call))
        return g->call->err.status;
    g->out->expired = number_of(&tx, Q_session_expired, tx.now, 0, 0);
    names_load(&tx, g, Q_session_dead, dead);
    for (size_t i = 0; i < dead->n; i++)
        VEC_PUSH(g->arena, &all, dead->items[i]);
    names_load(&tx, g, Q_session_tomb_leaf, &all);
    size_t others = all.n;
    names_load(&tx, g, Q_note_due, &all);
    for (size_t i = others; i < all.n; i++)
        VEC_PUSH(g->arena, pruned, all.items[i]);
    if (all.n)
        qsort(all.items, all.n, sizeof *all.items, name_order);
    for (size_t i = 0; i < all.n; i++)
        if ((!i || all.items[i].tree != all.items[i - 1].tree) &&
            !import_running(&tx, all.items[i].tree))
            VEC_PUSH(g->arena, trees, all.items[i]);
    return txn_done(&tx, RAMET_OK);
}

/* Plans what to remove from a tree. In a dry run, sessions and branches that would be marked count
 * as dead. */
static void tree_plan(txn *tx, const gc *g, arena *a, int64_t tree, reach_tree *t)
{
    int64_t highest = db_highest(tx->db, DB_BRANCH);
    reach_load(tx, a, tree, t);
    if (db_status(tx->db) != RAMET_OK)
        return;
    for (size_t i = 0; i < t->n_sessions; i++) {
        reach_session *s = &t->sessions[i];
        s->dead = s->purging ||
                  (g->out->dry_run && !s->on_hold && is_dead(s->deleted, s->expires, g->cutoff));
    }
    for (size_t i = 0; i < t->n_branches; i++) {
        reach_branch *b = &t->branches[i];
        b->out = b->note && (b->note->state >= NOTE_TAKING ||
                             (g->out->dry_run && !b->of->on_hold && is_due(b->note, g->cutoff)));
    }
    reach_find(t, NULL, NULL);
    for (size_t i = 0; i < t->n_branches; i++) {
        reach_branch *b = &t->branches[i];
        bool goes = b->of->dead && b->need <= b->base && b->id != highest;
        bool loose = b->parent == 0 && b->len == 0;
        bool detached = b->need <= b->base && !stays_linked(b);
        b->of->left |= !goes;
        b->work = reach_free(b) && (goes || reach_keep(b) < b->len || (detached && !loose));
    }
}

static void tree_count(txn *tx, gc *g, const reach_tree *t)
{
    int64_t highest = db_highest(tx->db, DB_BRANCH);
    ramet_gc_out *out = g->out;
    for (size_t i = 0; i < t->n_sessions; i++)
        out->sessions += t->sessions[i].dead && t->sessions[i].purging < 2;
    for (size_t i = 0; i < t->n_branches; i++) {
        const reach_branch *b = &t->branches[i];
        int64_t keep = reach_keep(b), lo = KEY(b->id, keep), hi = KEY(b->id, b->len) - 1;
        if (!b->work)
            continue;
        out->branches += b->need <= b->base && (b->id != highest || !b->of->dead);
        out->entries += b->len - keep;
        if (keep == b->len)
            continue;
        out->bytes += number_of(tx, Q_entry_sizes, t->tree, lo, hi) +
                      number_of(tx, Q_body_sizes, t->tree, lo, hi);
        if (out->dry_run)
            attached_note(tx, g->arena, t->tree, lo, hi, &g->refs);
    }
}

static ramet_status trees_count(gc *g, const gc_names *trees)
{
    txn tx;
    if (!txn_read(&tx, g->call))
        return g->call->err.status;
    arena *a = arena_new();
    for (size_t i = 0; i < trees->n && db_status(tx.db) == RAMET_OK; i++) {
        reach_tree t;
        arena_reset(a);
        tree_plan(&tx, g, a, trees->items[i].tree, &t);
        if (db_status(tx.db) == RAMET_OK)
            tree_count(&tx, g, &t);
    }
    arena_free(a);
    if (g->out->dry_run)
        attachments_would_go(&tx, &g->refs, g->out);
    return txn_done(&tx, RAMET_OK);
}

/* -------------------------------------------------------------------- marking */

typedef struct mark_job {
    const gc *gc;
    const gc_name *names;
    size_t n;
} mark_job;

static void tree_write(txn *tx, sql_id what, int64_t tree, int64_t no)
{
    assert(tx->writing);
    db_stmt *q = db_query(tx->db, what);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    q_run(q);
}

static bool is_held(txn *tx, int64_t tree, int64_t session)
{
    tree_holds holds;
    holds_load(tx, tx->arena, tree, &holds);
    return holds_have(&holds, session);
}

static ramet_status mark_run(txn *tx, void *arg)
{
    const mark_job *j = arg;
    txn look = *tx;
    look.arena = arena_new();
    for (size_t i = 0; i < j->n; i++) {
        session_full s;
        /* It may have been restored meanwhile, or put on hold. */
        if (session_by_no(&look, j->names[i].tree, j->names[i].no, &s) && !s.purging &&
            is_dead(s.deleted, s.expires, j->gc->cutoff) && !is_held(&look, s.tree, s.no)) {
            tree_write(tx, Q_session_purging, s.tree, s.no);
            access_changed(tx, s.tree);
        }
    }
    arena_free(look.arena);
    return txn_status(tx);
}

/* Marks what was pruned, once for each tree. From then on no prompt of its turns can be read. */
static ramet_status notes_mark_run(txn *tx, void *arg)
{
    const mark_job *j = arg;
    for (size_t i = 0; i < j->n; i++) {
        if (i && j->names[i].tree == j->names[i - 1].tree)
            continue;
        tree_write(tx, Q_note_mark, j->names[i].tree, j->gc->cutoff);
        tree_write(tx, Q_prompt_prune, j->names[i].tree, 0);
    }
    return txn_status(tx);
}

static ramet_status dead_mark(gc *g, const gc_names *dead, const gc_names *pruned)
{
    for (size_t i = 0; i < pruned->n; i += MARK_BATCH) {
        size_t left = pruned->n - i;
        mark_job j = {g, pruned->items + i, left < MARK_BATCH ? left : MARK_BATCH};
        TRY(txn_write(g->call, notes_mark_run, &j));
    }
    for (size_t i = 0; i < dead->n; i += MARK_BATCH) {
        size_t left = dead->n - i;
        mark_job j = {g, dead->items + i, left < MARK_BATCH ? left : MARK_BATCH};
        TRY(txn_revoke(g->call, mark_run, &j));
    }
    return RAMET_OK;
}

/* ------------------------------------------------------------ taking branches */

typedef struct take_job {
    const reach_tree *tree;
    size_t at, next; /* indexes into t->down: where a write begins, and how far it came */
    arena *arena;    /* memory of one write */
    int64_t entries;
    size_t bytes;
    VEC(int64_t) records; /* live sessions whose record was cut */
    VEC(int64_t) keys;    /* for the search index: removed entries and their texts */
    VEC(const char *) texts;
} take_job;

static bool take_full(const take_job *j)
{
    return j->entries >= ENTRY_BATCH || j->bytes >= TEXT_BATCH;
}

/* Walks from the end of a branch as far as one write goes, and collects the texts for the search
 * index. Returns the new length. */
static int64_t texts_collect(txn *tx, take_job *j, const branch_row *b, int64_t keep)
{
    int64_t len = b->len;
    db_stmt *q = db_query(tx->db, Q_entry_range_desc);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, KEY(b->meta.id, keep));
    q_int(q, 3, KEY(b->meta.id, b->len) - 1);
    while (!take_full(j)) {
        if (!q_row(q)) {
            len = keep;
            break;
        }
        int64_t k = q_col_int(q, 0);
        bool large = q_col_int(q, 13) & FLAG_LARGE;
        len = KEY_POS(k);
        j->entries++;
        if (b->meta.log != RAMET_LOG_MAIN)
            continue;
        const char *text = large ? body_text(tx, b->meta.tree, k) : q_keep_text(q, 10, tx->arena);
        if (!text)
            text = "";
        VEC_PUSH(tx->arena, &j->keys, k);
        VEC_PUSH(tx->arena, &j->texts, text);
        j->bytes += strlen(text);
    }
    q_end(q);
    return len;
}

/* Cuts a branch at a length and removes its entries from there on (G3). */
static void branch_cut(txn *tx, const branch_row *b, int64_t len)
{
    assert(tx->writing);
    static const sql_id tables[] = {Q_entry_del, Q_body_del,   Q_usage_del,
                                    Q_delta_del, Q_copied_del, Q_erased_del};
    uint8_t tip[HASH_LEN];
    if (!path_hash(tx, b, len, tip))
        return;
    copied_relink(tx, b->meta.tree, KEY(b->meta.id, len), KEY(b->meta.id, POS_MAX));
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        db_stmt *q = db_query(tx->db, tables[i]);
        q_int(q, 1, b->meta.tree);
        q_int(q, 2, KEY(b->meta.id, len));
        q_int(q, 3, KEY(b->meta.id, POS_MAX));
        q_run(q);
    }
    attached_cut(tx, b->meta.tree, KEY(b->meta.id, len), KEY(b->meta.id, POS_MAX));
    db_stmt *q = db_query(tx->db, Q_branch_shrink);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, b->meta.id);
    q_int(q, 3, len);
    q_blob(q, 4, tip, HASH_LEN);
    q_run(q);
}

/* Keeps the highest branch (G4), and one of a live session (G6), but detaches it from its
 * ancestors, so that those can be removed. */
static void branch_drop(txn *tx, const branch_row *b, bool living)
{
    assert(tx->writing);
    static const uint8_t zeros[HASH_LEN];
    bool stays = living || db_highest(tx->db, DB_BRANCH) == b->meta.id;
    db_stmt *q = db_query(tx->db, stays ? Q_branch_detach : Q_branch_del);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, b->meta.id);
    q_blob(q, 3, zeros, HASH_LEN);
    q_run(q);
}

/* False when the write is full before the branch is done. */
static bool branch_take(txn *tx, take_job *j, const reach_branch *g)
{
    branch_row b;
    int64_t keep = reach_keep(g);
    /* Removed or detached already: another gc was here. */
    if (!branch_load(tx, j->tree->tree, g->id, &b) || b.meta.base != g->base)
        return true;
    if (b.len > keep) {
        int64_t len = texts_collect(tx, j, &b, keep);
        if (db_status(tx->db) != RAMET_OK)
            return false;
        branch_cut(tx, &b, len);
        if (!g->of->dead)
            VEC_PUSH(tx->arena, &j->records, g->session);
        if (len > keep)
            return false;
    }
    if (g->need <= g->base && !stays_linked(g))
        branch_drop(tx, &b, !g->of->dead);
    return true;
}

/* G6: what was cut off is no part of a record any more. */
static void records_trim(txn *tx, const take_job *j)
{
    for (size_t i = 0; i < j->records.n; i++)
        if (!i || j->records.items[i] != j->records.items[i - 1])
            record_trim(tx, j->tree->tree, j->records.items[i]);
    if (j->records.n)
        access_changed(tx, j->tree->tree);
}

static ramet_status take_run(txn *tx, void *arg)
{
    take_job *j = arg;
    txn own = *tx;
    own.arena = j->arena;
    arena_reset(j->arena);
    *j = (take_job){.tree = j->tree, .at = j->at, .next = j->at, .arena = j->arena};
    for (size_t steps = 0; j->next < j->tree->n_branches && !take_full(j) && steps < STEP_BATCH;) {
        const reach_branch *g = j->tree->down[j->next];
        if (g->work && !branch_take(&own, j, g))
            break;
        steps += g->work;
        j->next++;
    }
    records_trim(&own, j);
    return txn_status(tx);
}

static ramet_status progress_report(gc *g)
{
    if (!g->progress || g->progress(g->arg, "gc", g->taken, g->out->entries))
        return RAMET_OK;
    return call_fail(g->call, RAMET_STOP, NULL, "gc was stopped; the next one goes on");
}

static ramet_status branches_take(gc *g, const reach_tree *t)
{
    take_job j = {.tree = t, .arena = arena_new()};
    ramet_status st = RAMET_OK;
    for (;;) {
        while (j.at < t->n_branches && !t->down[j.at]->work)
            j.at++;
        if (st != RAMET_OK || j.at == t->n_branches)
            break;
        st = txn_write(g->call, take_run, &j);
        if (st != RAMET_OK)
            break;
        if (j.keys.n)
            search_forget(g->call->ramet, t->tree, j.keys.items, j.texts.items, j.keys.n);
        g->taken += j.entries;
        j.at = j.next;
        st = progress_report(g);
    }
    arena_free(j.arena);
    return st;
}

/* ------------------------------------------------------- burying the sessions */

typedef struct bury_job {
    int64_t tree;
    reach_session *const *list;
    size_t n;
} bury_job;

static ramet_status bury_run(txn *tx, void *arg)
{
    const bury_job *j = arg;
    for (size_t i = 0; i < j->n; i++) {
        const reach_session *s = j->list[i];
        bool stays = s->left || number_of(tx, Q_session_has_children, j->tree, s->no, 0) ||
                     db_highest(tx->db, DB_SESSION) == s->no;
        tree_write(tx, Q_tag_clear, j->tree, s->no);
        tree_write(tx, Q_move_del, j->tree, s->no);
        tree_write(tx, Q_run_del, j->tree, s->no);
        tree_write(tx, Q_share_clear, j->tree, s->no);
        tree_write(tx, Q_template_clear, j->tree, s->no);
        tree_write(tx, Q_turn_clear, j->tree, s->no);
        tree_write(tx, Q_prompt_clear, j->tree, s->no);
        tree_write(tx, Q_task_clear, j->tree, s->no);
        tree_write(tx, Q_push_clear, j->tree, s->no);
        tree_write(tx, Q_origin_clear, j->tree, s->no);
        tree_write(tx, Q_note_clear, j->tree, s->no);
        if (!stays)
            tree_write(tx, Q_session_del, j->tree, s->no);
        else if (s->purging == 1)
            tree_write(tx, Q_session_tomb, j->tree, s->no);
    }
    tree_write(tx, Q_place_prune, j->tree, 0);
    overlays_prune(tx, j->tree);
    return txn_status(tx);
}

static int bury_order(const void *a, const void *b)
{
    const reach_session *x = *(reach_session *const *)a, *y = *(reach_session *const *)b;
    return x->depth > y->depth ? -1 : x->depth < y->depth;
}

/* Forks before their parents, so that a tombstone is removed with its last fork (G5). */
static ramet_status sessions_bury(gc *g, arena *a, const reach_tree *t)
{
    VEC(reach_session *) v = {0};
    for (size_t i = 0; i < t->n_sessions; i++)
        if (t->sessions[i].purging)
            VEC_PUSH(a, &v, &t->sessions[i]);
    if (v.n)
        qsort(v.items, v.n, sizeof *v.items, bury_order);
    for (size_t i = 0; i < v.n; i += STEP_BATCH) {
        bury_job j = {t->tree, v.items + i, v.n - i < STEP_BATCH ? v.n - i : STEP_BATCH};
        TRY(txn_write(g->call, bury_run, &j));
    }
    return RAMET_OK;
}

static ramet_status notes_taken_run(txn *tx, void *arg)
{
    const int64_t *tree = arg;
    overlays_prune(tx, *tree);
    tree_write(tx, Q_note_taken, *tree, 0);
    tree_write(tx, Q_place_prune, *tree, 0);
    return txn_status(tx);
}

static bool has_pruned(const reach_tree *t)
{
    for (size_t i = 0; i < t->n_branches; i++)
        if (t->branches[i].note && t->branches[i].note->state == NOTE_TAKING)
            return true;
    return false;
}

static ramet_status tree_take(gc *g, arena *a, int64_t tree)
{
    txn tx;
    reach_tree t;
    if (!txn_read(&tx, g->call))
        return g->call->err.status;
    tree_plan(&tx, g, a, tree, &t);
    TRY(txn_done(&tx, RAMET_OK));
    TRY(branches_take(g, &t));
    if (has_pruned(&t))
        TRY(txn_write(g->call, notes_taken_run, &tree));
    return sessions_bury(g, a, &t);
}

static ramet_status trees_run(txn *tx, void *arg)
{
    const gc_names *v = arg;
    int64_t highest = db_highest(tx->db, DB_TREE);
    for (size_t i = 0; i < v->n; i++) {
        int64_t tree = v->items[i].no;
        if (number_of(tx, Q_session_any, tree, 0, 0))
            continue;
        tree_write(tx, Q_member_clear, tree, 0);
        tree_write(tx, Q_verdict_del_tree, tree, 0);
        tree_write(tx, Q_place_clear, tree, 0);
        tree_write(tx, Q_overlay_clear, tree, 0);
        tree_write(tx, Q_transfer_clear, tree, 0);
        import_lock(tx, tree, NULL);
        if (tree != highest)
            tree_write(tx, Q_tree_del, tree, 0);
    }
    return txn_status(tx);
}

/* Removes trees that have no session left. */
static ramet_status trees_bury(gc *g)
{
    txn tx;
    gc_names empty = {0};
    if (!txn_read(&tx, g->call))
        return g->call->err.status;
    names_load(&tx, g, Q_tree_empty, &empty);
    TRY(txn_done(&tx, RAMET_OK));
    for (size_t i = 0; i < empty.n; i += STEP_BATCH) {
        gc_names part = {.items = empty.items + i,
                         .n = empty.n - i < STEP_BATCH ? empty.n - i : STEP_BATCH};
        TRY(txn_write(g->call, trees_run, &part));
    }
    return RAMET_OK;
}

static ramet_status run(gc *g)
{
    gc_names dead = {0}, pruned = {0}, trees = {0};
    TRY(dead_find(g, &dead, &pruned, &trees));
    if (!g->out->dry_run)
        TRY(dead_mark(g, &dead, &pruned));
    TRY(trees_count(g, &trees));
    if (g->out->dry_run)
        return RAMET_OK;
    ramet_status st = progress_report(g);
    arena *a = arena_new();
    for (size_t i = 0; i < trees.n && st == RAMET_OK; i++) {
        arena_reset(a);
        st = tree_take(g, a, trees.items[i].tree);
    }
    arena_free(a);
    if (st == RAMET_OK)
        st = trees_bury(g);
    if (st == RAMET_OK)
        st = share_prune(g->call);
    return st == RAMET_OK ? attachments_reap(g->call, g->progress, g->arg, g->out) : st;
}

ramet_status ramet_gc(ramet_call *c, bool dry_run, ramet_progress progress, void *arg,
                      ramet_gc_out *out)
{
    *out = (ramet_gc_out){.dry_run = dry_run};
    TRY(program_only(c));
    gc g = {.call = c,
            .cutoff = ramet_now(c->ramet) - c->ramet->grace_us,
            .progress = progress,
            .arg = arg,
            .out = out,
            .arena = arena_new()};
    ramet_status st = run(&g);
    arena_free(g.arena);
    if (st == RAMET_OK && !dry_run)
        st = ramet_import_tidy(c);
    return st == RAMET_OK && !dry_run ? ramet_erase_resume(c, NULL) : st;
}
