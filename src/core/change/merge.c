/* SPDX-License-Identifier: Apache-2.0
 *
 * Merge: bringing what one session has into another (include/ramet/merge.h).
 *
 * A merge is planned first, in one snapshot, and then written: what it reads and what it would
 * append is the same for a dry run.
 *
 *   G1  A merge moves the target's head to a new branch, by one row of the head log; what is
 *       appended goes to that branch. So undo takes back the whole merge, and no other session is
 *       touched (I3): of the source only `merged_into` changes.
 *   G2  A fast-forward writes a constant number of rows. The new branch begins at the end of the
 *       source's path, so its entries are the source's own (I4).
 *   G3  A copy has a new id, no usage (I9), the turn ids of its origins made anew, and a row that
 *       names its origin (copied.c). Everything else of the entry is kept, state deltas too: the
 *       state of the target is then what its own history says.
 *   G4  The adk log is not merged. Its head moves to a new branch at its end, as in every move
 *       that cuts nothing off there (K1 in core/ext/adk.c).
 *   G5  Nothing is written before everything was checked: the target has no running turn, the
 *       caller may read every entry, the limits hold.
 */
#include "ramet/merge.h"

#include "core/access/member.h"
#include "core/access/share.h"
#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/copied.h"
#include "core/model/entry.h"
#include "core/model/fill.h"
#include "core/model/key.h"
#include "core/change/move.h"
#include "core/change/overlay.h"
#include "core/model/path.h"
#include "core/model/tool_group.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/turn/turn.h"
#include "core/turn/turn_idle.h"
#include "core/txn.h"

#include <stdio.h>

#define SHOWN_MAX 1000 /* entries of a fast-forward that a dry run shows */

typedef struct merge_job {
    const char *session;
    const ramet_merge_in *in;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_merge_out *out;
} merge_job;

/* A session that entries come from, with the path that they are on. */
typedef struct source {
    session_full session;
    branch_row branch;
} source;

/* An entry that is copied. */
typedef struct merge_item {
    ramet_entry entry;
    copied_from from;
    const char *session; /* id of the one that it was taken from */
} merge_item;

typedef struct merge_plan {
    const ramet_merge_in *in;
    session_full target;
    branch_row head;
    source from;    /* only if in->from is given */
    int64_t shared; /* entries that the target and the source share */
    segment *runs;  /* land: what the summary stands for */
    size_t n_runs;
    VEC(merge_item) items;
    size_t bytes;    /* of the items */
    entry_new *list; /* the copies, prepared */
} merge_plan;

static ramet_status refuse(txn *tx, const char *field, const char *why)
{
    return call_fail(tx->call, RAMET_MERGE_REFUSED, field, "%s", why);
}

/* --------------------------------------------------------------- the two ends */

static ramet_status target_open(txn *tx, const merge_job *j, merge_plan *p)
{
    turn_row t;
    TRY(session_open_head(tx, j->session, NEED_WRITE, &p->target, &p->head));
    TRY(head_check(tx, &p->head, j->expected, j->given));
    if (!turn_on(tx, &p->target.access, p->target.head, &t))
        return txn_status(tx);
    call_fail(tx->call, RAMET_TURN_RUNNING_ALREADY, "session",
              "a turn runs in session %s; merge when it has ended: %s", p->target.id, t.shown.id);
    snprintf(tx->call->err.subject, sizeof tx->call->err.subject, "%s", t.shown.id);
    return RAMET_TURN_RUNNING_ALREADY;
}

/* Whether all that may come from there is a summary that the caller gives. */
static bool is_foreign(txn *tx, const merge_plan *p, const session_full *s)
{
    return s->tree != p->target.tree || share_only(tx, &s->access);
}

/* Opens a session to take entries from. `field` is the argument that names it. */
static ramet_status source_open(txn *tx, const merge_plan *p, const char *session, int64_t branch,
                                const char *field, source *out)
{
    ramet_status st = session_open(tx, session, NEED_READ, &out->session);
    if (st == RAMET_OK)
        st = branch_open(tx, &out->session.brief, RAMET_LOG_MAIN, branch, &out->branch);
    if (st != RAMET_OK) {
        snprintf(tx->call->err.field, sizeof tx->call->err.field, "%s", field);
        return st;
    }
    if (!is_foreign(tx, p, &out->session) || (p->in->mode == RAMET_LAND && !p->in->written))
        return RAMET_OK;
    bool far = out->session.tree != p->target.tree;
    if (p->in->mode == RAMET_LAND)
        return refuse(tx, "text",
                      far ? "the source is in another tree; give the text to land from there"
                          : "the source is seen through a share link; give the text to land from "
                            "there");
    return refuse(tx, field,
                  far ? "the source is in another tree; only a summary can be landed from there"
                      : "the source is seen through a share link; only a summary can be landed "
                        "from there");
}

/* -------------------------------------------------------------------- the plan */

static ramet_status item_add(txn *tx, merge_plan *p, const source *s, const ramet_entry *e)
{
    const ramet_limits *most = &tx->ramet->limits;
    merge_item item = {.entry = *e,
                       .from = {.tree = s->session.tree,
                                .session = s->session.no,
                                .key = KEY(e->branch, e->position),
                                .span = 1},
                       .session = s->session.id};
    p->bytes += strlen(e->parts) + (e->body ? strlen(e->body) : 0) +
                (e->state_delta ? strlen(e->state_delta) : 0);
    if (p->items.n >= most->merge)
        return call_fail(tx->call, RAMET_BATCH_TOO_LARGE, "entries",
                         "a merge copies at most %zu entries; pick fewer, or land a summary",
                         most->merge);
    if (p->bytes > most->merge_bytes)
        return call_fail(tx->call, RAMET_TOO_LARGE, "entries",
                         "a merge copies at most %zu bytes; pick fewer entries, or land a summary",
                         most->merge_bytes);
    VEC_PUSH(tx->arena, &p->items, item);
    return RAMET_OK;
}

typedef struct item_walk {
    txn *tx;
    merge_plan *plan;
    const source *from;
    ramet_status status;
} item_walk;

static bool item_take(void *arg, ramet_entry *e)
{
    item_walk *w = arg;
    if (e->erased && w->plan->in->mode == RAMET_SPLICE)
        return true; /* there is nothing to copy */
    if (e->erased) {
        w->status = refuse(w->tx, "entries", "an entry that was picked has been erased");
        return false;
    }
    w->status = item_add(w->tx, w->plan, w->from, e);
    return w->status == RAMET_OK;
}

static ramet_status items_read(txn *tx, merge_plan *p, const source *s, int64_t lo, int64_t hi)
{
    item_walk w = {.tx = tx, .plan = p, .from = s};
    path_read(tx, &s->branch, lo, hi, tx->arena, item_take, &w);
    TRY(w.status);
    return txn_status(tx);
}

static ramet_status plan_splice(txn *tx, merge_plan *p)
{
    int64_t own = p->from.branch.len - p->shared;
    if (own > (int64_t)tx->ramet->limits.merge)
        return call_fail(tx->call, RAMET_BATCH_TOO_LARGE, "entries",
                         "the source has %lld entries of its own and a merge copies at most %zu; "
                         "pick some of them, or land a summary",
                         (long long)own, tx->ramet->limits.merge);
    TRY(items_read(tx, p, &p->from, p->shared, p->from.branch.len));
    return p->items.n || !own ? RAMET_OK
                              : refuse(tx, "from", "all entries of the source have been erased");
}

static bool is_planned(const merge_plan *p, int64_t key)
{
    for (size_t i = p->items.n; i-- > 0;)
        if (p->items.items[i].from.key == key)
            return true;
    return false;
}

static ramet_status pick_add(txn *tx, merge_plan *p, const source *s, const char *field,
                             const char *entry_id)
{
    int64_t k, *group;
    size_t n;
    TRY(check_id(tx->call, field, entry_id));
    int64_t pos = path_find(tx, &s->branch, entry_id, &k);
    TRY(txn_status(tx));
    if (pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, field,
                         "entry %s is not on the path of session %s", entry_id, s->session.id);
    if (is_planned(p, k))
        return RAMET_OK;
    size_t bytes = p->bytes;
    TRY(items_read(tx, p, s, pos, pos + 1));
    if (!strstr(p->items.items[p->items.n - 1].entry.parts, "tool_"))
        return RAMET_OK;
    p->items.n--; /* it comes in the order of its group */
    p->bytes = bytes;
    tool_group(tx, &s->branch, pos, &group, &n);
    TRY(txn_status(tx));
    for (size_t i = 0; i < n; i++) {
        branch_meta o;
        if (!path_owner(tx, &s->branch.meta, group[i], &o))
            return txn_status(tx);
        if (!is_planned(p, KEY(o.id, group[i])))
            TRY(items_read(tx, p, s, group[i], group[i] + 1));
    }
    return RAMET_OK;
}

static ramet_status plan_picks(txn *tx, merge_plan *p)
{
    const ramet_merge_in *in = p->in;
    source s;
    const char *open = NULL; /* the session that `s` holds */
    int64_t branch = 0;
    for (size_t i = 0; i < in->n_picks; i++) {
        const ramet_merge_pick *pick = &in->picks[i];
        const char *session = pick->session ? pick->session : in->from ? in->from : p->target.id;
        int64_t of = pick->branch || pick->session ? pick->branch : in->from_branch;
        if (!open || strcmp(open, session) != 0 || of != branch)
            TRY(source_open(tx, p, session, of,
                            arena_printf(tx->arena, "entries[%zu].session_id", i), &s));
        open = session;
        branch = of;
        TRY(pick_add(tx, p, &s, arena_printf(tx->arena, "entries[%zu].entry_id", i),
                     pick->entry_id));
    }
    return RAMET_OK;
}

static copied_from run_from(const merge_plan *p, const segment *run)
{
    return (copied_from){.tree = p->from.branch.meta.tree,
                         .session = p->from.session.no,
                         .key = KEY(run->meta.id, run->hi - 1),
                         .span = run->hi - run->lo};
}

/* The summary stands for everything that the source has of its own, up to its last entry. */
static ramet_status plan_land(txn *tx, merge_plan *p)
{
    const branch_row *b = &p->from.branch;
    if (!path_segments(tx, &b->meta, p->shared, b->len, &p->runs, &p->n_runs) || !p->n_runs)
        return txn_status(tx);
    if (p->n_runs > tx->call->ramet->limits.merge)
        return call_fail(tx->call, RAMET_BATCH_TOO_LARGE, "from",
                         "the source lies on %zu branches, a summary stands for at most %zu",
                         p->n_runs, tx->call->ramet->limits.merge);
    const segment *last = &p->runs[p->n_runs - 1];
    merge_item item = {.entry = {.id = path_entry_id(tx, b, b->len - 1), .branch = last->meta.id},
                       .from = run_from(p, last),
                       .session = p->from.session.id};
    VEC_PUSH(tx->arena, &p->items, item);
    return txn_status(tx);
}

/* What the source and the target share, and whether the source has anything else. */
/* A fast forward copies nothing, so the entries that it brings must say in the target what they say
 * in the source: both have the same values (core/model/fill.c), or none. */
static ramet_status values_check(txn *tx, const merge_plan *p)
{
    const session_full *a = &p->from.session, *b = &p->target;
    if (a->no == b->no || (!p->from.branch.filled && !p->head.filled))
        return RAMET_OK;
    const char *have = fill_text(tx, a->tree, a->no), *want = fill_text(tx, b->tree, b->no);
    TRY(txn_status(tx));
    if (have && want && strcmp(have, want) == 0)
        return RAMET_OK;
    return refuse(tx, "mode",
                  "the two sessions fill the placeholders of a template differently; splice, pick "
                  "or land instead");
}

static ramet_status plan_from(txn *tx, merge_plan *p)
{
    const ramet_merge_in *in = p->in;
    TRY(source_open(tx, p, in->from, in->from_branch, "from", &p->from));
    bool same_tree = p->from.session.tree == p->target.tree;
    p->shared = same_tree ? path_shared(tx, &p->head, &p->from.branch, POS_MAX) : 0;
    TRY(txn_status(tx));
    if (in->mode == RAMET_PICK)
        return RAMET_OK;
    if (p->from.branch.len == p->shared)
        return refuse(tx, "from", "the source has nothing that the target does not have already");
    int64_t own = p->head.len - p->shared;
    if (in->mode == RAMET_FAST_FORWARD && own)
        return call_fail(tx->call, RAMET_MERGE_REFUSED, "mode",
                         "session %s has %lld entr%s of its own since the two parted; splice, pick "
                         "or land instead",
                         p->target.id, (long long)own, own == 1 ? "y" : "ies");
    return in->mode == RAMET_FAST_FORWARD ? values_check(tx, p) : RAMET_OK;
}

/* --------------------------------------------------------------------- copies */

/* New turn ids by the old ones. */
typedef struct turn_names {
    size_t slots; /* a power of two */
    struct {
        const char *old, *name;
    } * table;
} turn_names;

static const char *turn_rename(txn *tx, turn_names *t, const char *old)
{
    char uuid[UUID_TEXT];
    size_t at = hash_text(old) & (t->slots - 1);
    while (t->table[at].old && strcmp(t->table[at].old, old) != 0)
        at = (at + 1) & (t->slots - 1);
    if (!t->table[at].old) {
        t->table[at].old = old;
        t->table[at].name = arena_strdup(tx->arena, uuid7(tx->now, uuid));
    }
    return t->table[at].name;
}

static ramet_status copies_prepare(txn *tx, merge_plan *p)
{
    size_t n = p->items.n;
    turn_names turns = {.slots = 16};
    while (turns.slots < n * 2)
        turns.slots *= 2;
    turns.table = arena_array(tx->arena, turns.slots, sizeof *turns.table);
    ramet_entry_in *in = arena_array(tx->arena, n, sizeof *in);
    for (size_t i = 0; i < n; i++) {
        const ramet_entry *e = &p->items.items[i].entry;
        bool plain = strcmp(e->format, "ramet") == 0;
        in[i] = (ramet_entry_in){.role = e->role,
                                 .parts = e->parts,
                                 .format = plain ? NULL : e->format,
                                 .body = plain ? NULL : e->body,
                                 .channel = e->channel,
                                 .turn_id = e->turn_id ? turn_rename(tx, &turns, e->turn_id) : NULL,
                                 .author = e->author,
                                 .state_delta = e->state_delta};
    }
    return entries_prepare_copies(tx->call, in, n, tx->now, &p->list);
}

/* Prepares what is appended, and gives each its origin. */
static ramet_status list_prepare(txn *tx, merge_plan *p)
{
    ramet_entry_in *summary = arena_alloc(tx->arena, sizeof *summary);
    *summary = (ramet_entry_in){.role = RAMET_USER, .text = p->in->text};
    if (p->in->mode == RAMET_LAND)
        TRY(entries_prepare(tx->call, summary, 1, 1, tx->now, &p->list));
    else
        TRY(copies_prepare(tx, p));
    for (size_t i = 0; i < p->items.n; i++) {
        const merge_item *item = &p->items.items[i];
        entry_new *e = &p->list[i];
        ramet_entry_ref *o = arena_alloc(tx->arena, sizeof *o);
        *o = (ramet_entry_ref){item->session, item->entry.id, item->entry.branch};
        e->flags |= FLAG_COPY;
        e->entry.copied = true;
        e->entry.origins = o;
        e->entry.n_origins = 1;
        e->entry.position = p->head.len + (int64_t)i;
        if (e->n_files)
            TRY(attachments_check(tx, e));
    }
    if (p->head.len + (int64_t)p->items.n > POS_MAX)
        return call_fail(tx->call, RAMET_PATH_FULL, "entries", "the history would be too long");
    return tip_check(tx, &p->head);
}

static ramet_status plan_make(txn *tx, const merge_job *j, merge_plan *p)
{
    *p = (merge_plan){.in = j->in};
    TRY(target_open(tx, j, p));
    if (j->in->from)
        TRY(plan_from(tx, p));
    switch (j->in->mode) {
    case RAMET_FAST_FORWARD:
        return tip_check(tx, &p->from.branch);
    case RAMET_SPLICE:
        TRY(plan_splice(tx, p));
        break;
    case RAMET_PICK:
        TRY(plan_picks(tx, p));
        break;
    case RAMET_LAND:
        TRY(plan_land(tx, p));
        break;
    }
    return list_prepare(tx, p);
}

/* -------------------------------------------------------------------- writing */

/* Both heads go to new branches: main at the end of `path`, adk at its own end (G4). */
static ramet_status heads_move(txn *tx, merge_plan *p, const branch_row *path, branch_row *to)
{
    session_full *s = &p->target;
    branch_row adk, to_adk = {0}, from = *path;
    TRY(overlay_union(tx, s->tree, path->overlay, p->head.overlay, &from.overlay));
    branch_create(tx, &from, path->len, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_MAIN,
                  RAMET_EXPLICIT, to);
    if (s->adk && branch_load(tx, s->tree, s->adk, &adk))
        branch_create(tx, &adk, adk.len, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_ADK,
                      RAMET_EXPLICIT, &to_adk);
    move_new(tx, s, &(head_to){.main = to->meta.id, .adk = to_adk.meta.id}, RAMET_MOVE_MERGE,
             ramet_merge_mode_name(p->in->mode));
    return RAMET_OK;
}

static void copies_write(txn *tx, merge_plan *p, branch_row *to)
{
    entries_write(tx, &p->target.brief, to, p->list, p->items.n);
    for (size_t i = 0; i < p->items.n; i++)
        copied_write(tx, to->meta.tree, KEY(to->meta.id, p->list[i].entry.position), 0,
                     &p->items.items[i].from);
    for (size_t i = 1; i < p->n_runs; i++) {
        copied_from from = run_from(p, &p->runs[p->n_runs - 1 - i]);
        copied_write(tx, to->meta.tree, KEY(to->meta.id, p->list[0].entry.position), (int)i, &from);
    }
}

/* Whether the caller may change the source: it is then marked as merged. */
static bool may_mark(txn *tx, const merge_plan *p)
{
    const session_full *s = &p->from.session;
    if (p->in->mode == RAMET_PICK || s->no == p->target.no || is_foreign(tx, p, s))
        return false;
    return s->visibility == RAMET_PRIVATE || level_in(tx, s->tree) >= RAMET_WRITER;
}

static void source_mark(txn *tx, const merge_plan *p)
{
    const session_full *s = &p->from.session;
    db_stmt *q = db_query(tx->db, Q_session_merged);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, p->target.no);
    /* Not before the branches that it has: see branch_create(). */
    q_int(q, 4, tx->now > s->updated ? tx->now : s->updated);
    q_run(q);
    access_changed(tx, s->tree);
    event_add(tx, s->tree, s->no, RAMET_EVENT_MERGED, s->head, 0);
}

static ramet_status merge_write(txn *tx, merge_plan *p)
{
    branch_row to;
    bool mark = p->in->from && may_mark(tx, p);
    bool forward = p->in->mode == RAMET_FAST_FORWARD;
    TRY(heads_move(tx, p, forward ? &p->from.branch : &p->head, &to));
    if (!forward)
        copies_write(tx, p, &to);
    if (mark)
        source_mark(tx, p);
    p->head = to;
    return txn_status(tx);
}

/* --------------------------------------------------------------------- answer */

typedef struct shown {
    arena *arena;
    VEC(ramet_entry) v;
    size_t begin;
} shown;

static bool shown_take(void *arg, ramet_entry *e)
{
    shown *s = arg;
    VEC_PUSH(s->arena, &s->v, *e);
    return s->v.n < SHOWN_MAX && arena_used(s->arena) - s->begin < PAGE_BYTES;
}

static void shared_show(txn *tx, const merge_plan *p, ramet_merge_out *out)
{
    shown s = {.arena = tx->arena, .begin = arena_used(tx->arena)};
    int64_t lo = p->shared, hi = p->from.branch.len;
    path_read(tx, &p->from.branch, lo, hi - lo > SHOWN_MAX ? lo + SHOWN_MAX : hi, tx->arena,
              shown_take, &s);
    origins_fill(tx, p->target.tree, s.v.items, s.v.n);
    out->entries = s.v.items;
    out->n = s.v.n;
}

/* What the write would fill in. The branch is made by the merge: a preview names the present one.
 */
static void preview_fill(txn *tx, const merge_plan *p, ramet_merge_out *out)
{
    uint8_t tip[HASH_LEN];
    memcpy(tip, p->head.tip, HASH_LEN);
    for (size_t i = 0; i < out->n; i++) {
        sha_chain(tx->call->hasher, tip, p->list[i].digest, tip);
        hex_encode(tip, HASH_LEN, out->entries[i].hash);
        out->entries[i].branch = p->head.meta.id;
    }
}

static ramet_status merge_answer(txn *tx, const merge_job *j, const merge_plan *p)
{
    ramet_merge_out *out = j->out;
    session_known known = {.head = &p->head};
    ANSWER(tx, out);
    *out = (ramet_merge_out){.session = session_show_with(tx, &p->target, &known),
                             .count = (int64_t)p->items.n};
    if (j->in->mode == RAMET_FAST_FORWARD) {
        out->count = p->from.branch.len - p->shared;
        if (j->in->dry_run)
            shared_show(tx, p, out);
        return txn_status(tx);
    }
    out->n = p->items.n;
    out->entries = arena_array(tx->arena, out->n, sizeof *out->entries);
    for (size_t i = 0; i < out->n; i++)
        out->entries[i] = p->list[i].entry;
    if (j->in->dry_run)
        preview_fill(tx, p, out);
    return txn_status(tx);
}

static ramet_status merge_run(txn *tx, void *arg)
{
    const merge_job *j = arg;
    merge_plan *p = arena_alloc(tx->arena, sizeof *p);
    TRY(plan_make(tx, j, p));
    if (!j->in->dry_run)
        TRY(merge_write(tx, p));
    return merge_answer(tx, j, p);
}

/* ----------------------------------------------------------------------- call */

static ramet_status merge_check(ramet_call *c, const ramet_merge_in *in)
{
    if (in->mode < RAMET_FAST_FORWARD || in->mode > RAMET_LAND)
        return call_fail(c, RAMET_INVALID, "mode",
                         "the mode must be fast_forward, splice, pick or land");
    if (!in->from && in->mode != RAMET_PICK)
        return call_fail(c, RAMET_INVALID, "from", "the session to merge from is missing");
    if (in->from)
        TRY(check_id(c, "from", in->from));
    if ((in->mode == RAMET_PICK) != (in->n_picks > 0))
        return call_fail(c, RAMET_INVALID, "entries",
                         in->n_picks ? "entries are chosen with the mode pick alone"
                                     : "name the entries to pick");
    if (in->n_picks > c->ramet->limits.merge)
        return call_fail(c, RAMET_BATCH_TOO_LARGE, "entries",
                         "%zu entries; at most %zu are allowed", in->n_picks,
                         c->ramet->limits.merge);
    for (size_t i = 0; i < in->n_picks; i++)
        if (!in->picks[i].entry_id)
            return call_fail(c, RAMET_INVALID, "entries", "an entry to pick has no entry_id");
    if (in->text && in->mode != RAMET_LAND)
        return call_fail(c, RAMET_INVALID, "text", "a text is landed with the mode land alone");
    if (in->mode == RAMET_LAND && !(in->text && in->text[0]))
        return call_fail(c, RAMET_INVALID, "text",
                         "the text to land is missing; a server can have an agent write it");
    return RAMET_OK;
}

static ramet_status merge_attempt(ramet_call *c, void *arg)
{
    merge_job *j = arg;
    txn tx;
    if (!j->in->dry_run)
        return txn_write(c, merge_run, j);
    return txn_read(&tx, c) ? txn_done(&tx, merge_run(&tx, j)) : c->err.status;
}

static ramet_status merge_do(ramet_call *c, const char *session, const ramet_merge_in *in,
                             ramet_merge_out *out)
{
    merge_job j = {.session = session, .in = in, .out = out};
    TRY(merge_check(c, in));
    TRY(check_hash(c, in->expected_head, j.expected, &j.given));
    return turn_idle_write(c, in->when_idle, merge_attempt, &j);
}

/* The call has the rights of the link while it merges. */
static ramet_status merge_shared(ramet_call *c, const char *session, const ramet_merge_in *in,
                                 ramet_merge_out *out)
{
    ramet_merge_in of = *in;
    ramet_share *link;
    if (c->share.on || in->from)
        return call_fail(c, RAMET_INVALID, "from",
                         in->from ? "give a session or a share link, not both"
                                  : "the call has a share link already");
    TRY(ramet_call_share(c, in->share, &link));
    of.from = link->session;
    ramet_status st = merge_do(c, session, &of, out);
    ramet_error err = c->err;
    ramet_call_share(c, NULL, NULL);
    c->err = err;
    return st;
}

ramet_status ramet_merge(ramet_call *c, const char *session, const ramet_merge_in *in,
                         ramet_merge_out *out)
{
    *out = (ramet_merge_out){0};
    ramet_status st = (in->share ? merge_shared : merge_do)(c, session, in, out);
    if (st != RAMET_OK)
        *out = (ramet_merge_out){0};
    return st;
}
