/* SPDX-License-Identifier: Apache-2.0
 *
 * Erasing one entry, and what was made from it.
 *
 *   X1  An entry, its copies and their copies, and the raw events of its turn are erased in one
 *       transaction. So an interrupted erasure never leaves a copy of an erased entry behind, and
 *       going on needs to look only at entries that are not erased yet.
 *   X2  The row stays, with place, id, role, turn, channel, time and hash; the digest goes to the
 *       table `erased`. It is checked against the chain first: a damaged entry is not erased.
 *   X3  Usage stays, because sums are built on it and a number of tokens is not content.
 *   X4  A state delta stays as an empty one, because others refer to it. Snapshots behind it are
 *       made anew, in the order of their positions, so that each builds on one that is clean.
 */
#include "core/erase/erase.h"

#include "core/access/hold.h"
#include "core/attachment/attachment_upkeep.h"
#include "core/call.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/model/state.h"
#include "core/view/overlay_set.h"

#include <stdlib.h>

erase_tree *batch_tree(erase_batch *b, int64_t tree)
{
    for (size_t i = 0; i < b->trees.n; i++)
        if (b->trees.items[i]->tree == tree)
            return b->trees.items[i];
    erase_tree *t = arena_alloc(b->arena, sizeof *t);
    t->tree = tree;
    t->words.arena = b->arena;
    t->delta_from = -1;
    VEC_PUSH(b->arena, &b->trees, t);
    return t;
}

void batch_run(txn *tx, erase_batch *b, db_stmt *q, erase_count as)
{
    int64_t before = db_changes(tx->db);
    q_run(q);
    b->counts[as] += db_changes(tx->db) - before;
}

bool entry_is_erased(txn *tx, int64_t tree, int64_t k, bool *there)
{
    db_stmt *q = db_query(tx->db, Q_entry_flags);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    *there = q_row(q);
    bool erased = *there && (q_col_int(q, 0) & FLAG_ERASED);
    q_end(q);
    return erased;
}

/* ------------------------------------------------------------- what depends on it */

/* Landed summaries of a run of entries that it is in, but not the last of (O4 in
 * core/model/copied.c). */
static void summaries_find(txn *tx, arena *a, int64_t tree, int64_t k, erase_keys *out)
{
    db_stmt *q = db_query(tx->db, Q_copied_over);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_int(q, 3, KEY(KEY_BRANCH(k), POS_MAX));
    while (q_row(q)) {
        erase_key summary = {q_col_int(q, 1), q_col_int(q, 0), ERASE_COPIES};
        VEC_PUSH(a, out, summary);
    }
}

void copies_find(txn *tx, arena *a, int64_t tree, int64_t k, erase_keys *out)
{
    db_stmt *q = db_query(tx->db, Q_copied_into);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    while (q_row(q)) {
        erase_key copy = {q_col_int(q, 0), q_col_int(q, 1), ERASE_COPIES};
        VEC_PUSH(a, out, copy);
    }
    summaries_find(tx, a, tree, k, out);
}

typedef VEC(const char *) names;
typedef VEC(int64_t) numbers;

static void places_load(txn *tx, arena *a, int64_t tree, const char *name, int log, numbers *out)
{
    db_stmt *q = db_query(tx->db, Q_place_of);
    q_int(q, 1, tree);
    q_text(q, 2, name);
    q_int(q, 3, log);
    while (q_row(q)) {
        int64_t k = q_col_int(q, 0);
        VEC_PUSH(a, out, k);
    }
}

static bool is_named(const names *v, const char *name)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->items[i], name) == 0)
            return true;
    return false;
}

/* All names of the turn of an entry: it may have others (an invocation), which stand at its
 * question. */
static void turn_names(txn *tx, arena *a, int64_t tree, const char *turn, names *out)
{
    numbers first = {0};
    VEC_PUSH(a, out, turn);
    places_load(tx, a, tree, turn, RAMET_LOG_MAIN, &first);
    for (size_t i = 0; i < first.n; i++) {
        db_stmt *q = db_query(tx->db, Q_turn_names);
        q_int(q, 1, tree);
        q_int(q, 2, first.items[i]);
        while (q_row(q)) {
            const char *name = q_keep_text(q, 0, a);
            if (name && !is_named(out, name))
                VEC_PUSH(a, out, name);
        }
    }
}

static int session_order(const void *a, const void *b)
{
    const erase_session *x = a, *y = b;
    if (x->tree != y->tree)
        return x->tree < y->tree ? -1 : 1;
    return x->no < y->no ? -1 : x->no > y->no;
}

void sessions_sort(erase_sessions *v)
{
    if (v->n)
        qsort(v->items, v->n, sizeof *v->items, session_order);
}

/* Whether all entries of a session are to be erased anyway. */
static bool goes_whole(const erase_job *j, int64_t tree, int64_t session)
{
    const erase_session key = {tree, session};
    return (j->kind == ERASE_SESSION || j->kind == ERASE_TREE) && j->sessions.n &&
           bsearch(&key, j->sessions.items, j->sessions.n, sizeof key, session_order);
}

/* The entries of the turn that a branch of the adk log owns, from a key on. One that names no turn
 * belongs to that of the entry before it. */
static void events_scan(txn *tx, arena *a, int64_t tree, int64_t from, const names *turn,
                        erase_keys *out)
{
    bool inside = false;
    db_stmt *q = db_query(tx->db, Q_turn_scan);
    q_int(q, 1, tree);
    q_int(q, 2, from);
    q_int(q, 3, KEY(KEY_BRANCH(from), POS_MAX));
    while (q_row(q)) {
        const char *of = q_col_text(q, 1);
        erase_key event = {tree, q_col_int(q, 0), ERASE_EVENTS};
        inside = of ? is_named(turn, of) : inside;
        if (inside)
            VEC_PUSH(a, out, event);
    }
}

/* Adds the branches that begin behind a key, and those below them: the first of their own keys. */
static void branches_below(txn *tx, arena *a, int64_t tree, int64_t k, numbers *out)
{
    int64_t from = KEY_POS(k);
    size_t at = out->n;
    for (int64_t branch = KEY_BRANCH(k);; branch = KEY_BRANCH(out->items[at++])) {
        db_stmt *q = db_query(tx->db, Q_branch_off);
        q_int(q, 1, tree);
        q_int(q, 2, branch);
        q_int(q, 3, from);
        q_int(q, 4, POS_MAX);
        while (q_row(q)) {
            int64_t first = KEY(q_col_int(q, 0), q_col_int(q, 2));
            VEC_PUSH(a, out, first);
        }
        if (at == out->n || db_status(tx->db) != RAMET_OK)
            return;
    }
}

/* Interleaved turns, and forks while a turn runs, spread the events of one turn over a branch and
 * those below it. The first one on each path is in the turn index, so all others are behind it. */
void events_find(txn *tx, arena *a, const erase_job *j, int64_t tree, int64_t k, const char *turn,
                 erase_turn *last, erase_keys *out)
{
    names all = {0};
    numbers at = {0};
    branch_meta m;
    if (!turn || !branch_meta_load(tx, tree, KEY_BRANCH(k), &m) || m.log != RAMET_LOG_MAIN ||
        (last->name && last->tree == tree && strcmp(last->name, turn) == 0))
        return;
    *last = (erase_turn){tree, arena_strdup(a, turn)};
    turn_names(tx, a, tree, last->name, &all);
    for (size_t i = 0; i < all.n; i++)
        places_load(tx, a, tree, all.items[i], RAMET_LOG_ADK, &at);
    for (size_t i = 0, first = at.n; i < first; i++)
        branches_below(tx, a, tree, at.items[i], &at);
    for (size_t i = 0; i < at.n && db_status(tx->db) == RAMET_OK; i++)
        if (branch_meta_load(tx, tree, KEY_BRANCH(at.items[i]), &m) &&
            !goes_whole(j, tree, m.session))
            events_scan(tx, a, tree, at.items[i], &all, out);
}

/* ------------------------------------------------------------------- the entry */

/* The digest of an entry, as the chain confirms it (X2). */
static bool digest_make(txn *tx, int64_t tree, int64_t k, const ramet_entry *e,
                        const entry_cols *cols, const uint8_t hash[HASH_LEN],
                        uint8_t digest[HASH_LEN])
{
    branch_row b;
    uint8_t before[HASH_LEN], want[HASH_LEN];
    if (!branch_load(tx, tree, KEY_BRANCH(k), &b) || !path_hash(tx, &b, KEY_POS(k), before))
        return false;
    entry_digest(tx->call->hasher, e, cols, digest);
    sha_chain(tx->call->hasher, before, digest, want);
    if (memcmp(want, hash, HASH_LEN) == 0)
        return true;
    db_fail(tx->db, RAMET_DAMAGED,
            "entry %s is damaged: its hash is wrong. It cannot be erased; run fsck", e->id);
    return false;
}

static void span_note(erase_batch *b, erase_tree *t, int64_t k, int64_t session)
{
    int64_t branch = KEY_BRANCH(k), pos = KEY_POS(k);
    for (size_t i = 0; i < t->spans.n; i++) {
        erase_span *s = &t->spans.items[i];
        if (s->branch == branch && pos >= s->lo - 1 && pos <= s->hi + 1) {
            s->lo = pos < s->lo ? pos : s->lo;
            s->hi = pos > s->hi ? pos : s->hi;
            return;
        }
    }
    erase_span fresh = {branch, session, pos, pos};
    VEC_PUSH(b->arena, &t->spans, fresh);
}

static void row_erase(txn *tx, erase_batch *b, const erase_key *key, const ramet_entry *e,
                      const uint8_t digest[HASH_LEN])
{
    const erase_job *j = b->job;
    attached_note(tx, b->arena, key->tree, key->k, key->k, &b->files);
    erased_write(tx, key->tree, key->k, digest, e,
                 &(ramet_erased){.at = j->at, .by = j->who, .reason = j->why});
    db_stmt *q = db_query(tx->db, Q_erase_entry);
    q_int(q, 1, key->tree);
    q_int(q, 2, key->k);
    batch_run(tx, b, q, key->as);
    q = db_query(tx->db, Q_body_del);
    q_int(q, 1, key->tree);
    q_int(q, 2, key->k);
    q_int(q, 3, key->k);
    q_run(q);
    int64_t before = db_changes(tx->db);
    attached_cut(tx, key->tree, key->k, key->k);
    b->counts[ERASE_ATTACHMENTS] += db_changes(tx->db) - before;
    q = db_query(tx->db, Q_erase_delta);
    q_int(q, 1, key->tree);
    q_int(q, 2, key->k);
    batch_run(tx, b, q, ERASE_DELTAS);
}

/* Erases one entry; what depends on it goes onto `more`. */
static void one_erase(txn *tx, erase_batch *b, const erase_key *key, erase_keys *more)
{
    ramet_entry e;
    entry_cols cols;
    uint8_t hash[HASH_LEN], digest[HASH_LEN];
    bool there;
    branch_meta m;
    if (entry_is_erased(tx, key->tree, key->k, &there) || !there) {
        b->already += there && key->as == ERASE_ENTRIES;
        return;
    }
    if (hold_check_entry(tx, key->tree, key->k) != RAMET_OK) {
        db_fail(tx->db, tx->call->err.status, "%s", tx->call->err.message);
        return;
    }
    db_stmt *q = db_query(tx->db, Q_entry_get);
    q_int(q, 1, key->tree);
    q_int(q, 2, key->k);
    bool ok = q_row(q) && entry_from(tx, q, key->tree, &e, hash, &cols);
    q_end(q);
    if (!ok || !digest_make(tx, key->tree, key->k, &e, &cols, hash, digest) ||
        !branch_meta_load(tx, key->tree, KEY_BRANCH(key->k), &m))
        return;
    erase_tree *t = batch_tree(b, key->tree);
    span_note(b, t, key->k, m.session);
    words_add(&t->words, e.text);
    words_add(&t->words, cols.parts);
    words_add(&t->words, e.body);
    words_add(&t->words, e.state_delta);
    if (e.turn_id)
        VEC_PUSH(b->arena, &t->turns, e.turn_id);
    VEC_PUSH(b->arena, &t->ids, e.id);
    if (e.state_delta && (t->delta_from < 0 || KEY_POS(key->k) < t->delta_from))
        t->delta_from = KEY_POS(key->k);
    if (b->job->kind == ERASE_ENTRY && b->job->session && key->k == b->job->k &&
        key->tree == b->job->tree)
        values_shown_erase(tx, b, key->tree, b->job->session, &e);
    copies_find(tx, b->arena, key->tree, key->k, more);
    events_find(tx, b->arena, b->job, key->tree, key->k, e.turn_id, &b->turn, more);
    row_erase(tx, b, key, &e, digest);
    VEC_PUSH(b->arena, &b->done, *key);
}

void entry_erase(txn *tx, erase_batch *b, const erase_key *key)
{
    erase_keys more = {0};
    one_erase(tx, b, key, &more);
    for (size_t i = 0; i < more.n && db_status(tx->db) == RAMET_OK; i++) {
        erase_key next = more.items[i];
        one_erase(tx, b, &next, &more);
    }
}

/* ---------------------------------------------------------------- made from it */

bool spans_on_path(txn *tx, const erase_tree *t, int64_t branch, int64_t len)
{
    branch_meta head, owner;
    if (!branch_meta_load(tx, t->tree, branch, &head))
        return false;
    for (size_t i = 0; i < t->spans.n; i++) {
        const erase_span *s = &t->spans.items[i];
        if (s->lo < len && path_owner(tx, &head, s->lo, &owner) && owner.id == s->branch)
            return true;
    }
    return false;
}

static void snapshots_erase(txn *tx, erase_batch *b, const erase_tree *t)
{
    typedef struct snapshot {
        int64_t k, prev;
        const char *json;
    } snapshot;
    VEC(snapshot) v = {0};
    if (t->delta_from < 0)
        return;
    db_stmt *q = db_query(tx->db, Q_delta_snapshots);
    q_int(q, 1, t->tree);
    q_int(q, 2, t->delta_from);
    while (q_row(q)) {
        snapshot s = {q_col_int(q, 0), q_col_int(q, 1), q_keep_text(q, 2, b->arena)};
        VEC_PUSH(b->arena, &v, s);
    }
    for (size_t i = 0; i < v.n && db_status(tx->db) == RAMET_OK; i++) {
        const char *made = state_after(tx, t->tree, v.items[i].prev, v.items[i].json);
        q = db_query(tx->db, Q_erase_snapshot);
        q_int(q, 1, t->tree);
        q_int(q, 2, v.items[i].k);
        q_text(q, 3, made);
        q_int(q, 4, (int64_t)strlen(made));
        batch_run(tx, b, q, ERASE_SNAPSHOTS);
    }
}

/* Rows are in order of their numbers. */
static int64_t overlay_bytes(const overlay_row *rows, size_t n, int64_t no)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (rows[mid].no < no)
            lo = mid + 1;
        else
            hi = mid;
    }
    return no && lo < n && rows[lo].no == no ? rows[lo].bytes : 0;
}

/* What a row says goes when its entry is erased. `bytes` is a sum along the rows (O3 in
 * core/view/overlay_set.c), so those behind it change, too. */
void overlays_erase(txn *tx, erase_batch *b, int64_t tree, const char *user, const char *alias)
{
    VEC(overlay_row) v = {0};
    db_stmt *q = db_query(tx->db, Q_overlay_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        overlay_row r;
        if (!overlay_row_from(tx, q, tree, &r))
            break;
        VEC_PUSH(b->arena, &v, r);
    }
    q_end(q);
    for (size_t i = 0; i < v.n && db_status(tx->db) == RAMET_OK; i++) {
        overlay_row *r = &v.items[i];
        bool there, named = user && r->who && strcmp(r->who, user) == 0;
        bool gone = r->text && *r->text && entry_is_erased(tx, tree, r->key, &there);
        if (gone)
            r->text = "";
        if (named)
            r->who = alias;
        int64_t bytes = overlay_bytes(v.items, i, r->prev) + overlay_bytes(v.items, i, r->prev2) +
                        (r->text ? (int64_t)strlen(r->text) : 0) +
                        (r->ties ? (int64_t)strlen(r->ties) : 0);
        if (!gone && !named && bytes == r->bytes)
            continue;
        r->bytes = bytes;
        q = db_query(tx->db, Q_erase_overlay);
        q_int(q, 1, tree);
        q_int(q, 2, r->no);
        q_int(q, 3, r->bytes);
        q_text(q, 4, r->text);
        q_text(q, 5, r->who);
        q_int(q, 6, overlay_seal(tx->call->hasher, tree, r));
        q_run(q);
        b->counts[ERASE_OVERLAYS] += gone;
        b->counts[ERASE_NAMES] += named;
    }
}

static void prompts_erase(txn *tx, erase_batch *b, const erase_tree *t)
{
    typedef struct prompt {
        const char *turn;
        int64_t branch, len;
    } prompt;
    VEC(prompt) v = {0};
    db_stmt *q = db_query(tx->db, Q_prompt_of_tree);
    q_int(q, 1, t->tree);
    while (q_row(q)) {
        prompt p = {q_keep_text(q, 0, b->arena), q_col_int(q, 2), q_col_int(q, 3)};
        VEC_PUSH(b->arena, &v, p);
    }
    for (size_t i = 0; i < v.n; i++) {
        if (!spans_on_path(tx, t, v.items[i].branch, v.items[i].len))
            continue;
        q = db_query(tx->db, Q_erase_prompt);
        q_int(q, 1, t->tree);
        q_text(q, 2, v.items[i].turn);
        batch_run(tx, b, q, ERASE_PROMPTS);
    }
}

/* Whether one of a verdict's sides holds an erased entry. */
static bool sides_hold(txn *tx, arena *a, const erase_tree *t, const char *sides)
{
    json_doc d;
    branch_row row;
    if (!sides || !json_parse(a, sides, strlen(sides), STORED_DEPTH, &d, NULL))
        return true;
    const json_node *root = &d.nodes[0];
    for (const json_node *s = json_first(&d, root); s; s = json_next(&d, root, s)) {
        int64_t branch = 0;
        json_int(&d, json_get(&d, s, "branch"), &branch);
        if (branch_load(tx, t->tree, branch, &row) && spans_on_path(tx, t, branch, row.len))
            return true;
    }
    return false;
}

static void verdicts_erase(txn *tx, erase_batch *b, const erase_tree *t)
{
    typedef struct verdict {
        int64_t no;
        const char *sides;
    } verdict;
    VEC(verdict) v = {0};
    db_stmt *q = db_query(tx->db, Q_verdict_of_tree);
    q_int(q, 1, t->tree);
    q_int(q, 2, INT64_MAX);
    q_int(q, 3, INT64_MAX);
    while (q_row(q)) {
        verdict one = {q_col_int(q, 0), q_keep_text(q, 2, b->arena)};
        const char *reason = q_col_text(q, 4);
        if (reason && *reason)
            VEC_PUSH(b->arena, &v, one);
    }
    for (size_t i = 0; i < v.n; i++) {
        if (!sides_hold(tx, b->arena, t, v.items[i].sides))
            continue;
        q = db_query(tx->db, Q_erase_verdict);
        q_int(q, 1, t->tree);
        q_int(q, 2, v.items[i].no);
        batch_run(tx, b, q, ERASE_VERDICTS);
    }
}

void derived_erase(txn *tx, erase_batch *b, erase_tree *t)
{
    snapshots_erase(tx, b, t);
    overlays_erase(tx, b, t->tree, NULL, NULL);
    prompts_erase(tx, b, t);
    verdicts_erase(tx, b, t);
}
