/* SPDX-License-Identifier: Apache-2.0
 *
 * Pruning and restoring branches; names of branches and the favourite of a session.
 *
 *   P1  A prune marks branches; gc removes their entries after the grace time. What is pruned of a
 *       branch are its entries behind the place where the path of the head leaves it.
 *   P2  A branch is pruned only if no remaining path needs one of those entries. Paths of deleted
 *       sessions that can be restored count, and so does the place where a session was forked.
 *   P3  The pruned branches determine how much of each of them is still on a path. So every prune
 *       and restore updates `keep` wherever it has changed.
 *   P4  An adk branch that was beside pruned branches of main only is pruned with them. The owner
 * of the log may refuse that (log_rules.h); then it stays. P5  A fork or a merge that commits at
 * the same time may still need what is pruned here. It keeps it: gc goes by the branches, not by
 * the notes (N4).
 */
#include "ramet/branches.h"

#include "core/access/hold.h"
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/change/log_rules.h"
#include "core/view/version.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/turn/turn.h"
#include "core/txn.h"
#include "core/model/reach.h"

#define MAX_KEPT 100

/* ------------------------------------------------------------------ planning */

typedef struct plan {
    txn *tx;
    session_full session;
    reach_tree tree;
    int64_t before; /* entries that gc could remove already */
    VEC(ramet_kept_branch) kept;
} plan;

static bool is_own(const plan *p, const reach_branch *b, ramet_log log)
{
    return b->session == p->session.no && b->log == (int)log;
}

/* Sets how far the path of a branch follows each of its ancestors. */
static void path_hold(const reach_tree *t, int64_t branch)
{
    reach_branch *b = branch ? reach_branch_at(t, branch) : NULL;
    for (int64_t upto = b ? b->len : 0; b; b = b->parent ? reach_branch_at(t, b->parent) : NULL) {
        b->held = upto;
        upto = b->base;
    }
}

static ramet_status plan_begin(txn *tx, const char *session, plan *p)
{
    *p = (plan){.tx = tx};
    TRY(session_open(tx, session, NEED_MANAGE, &p->session));
    reach_load(tx, tx->arena, p->session.tree, &p->tree);
    TRY(txn_status(tx));
    for (size_t i = 0; i < p->tree.n_sessions; i++)
        p->tree.sessions[i].dead = p->tree.sessions[i].purging != 0;
    for (size_t i = 0; i < p->tree.n_branches; i++) {
        reach_branch *b = &p->tree.branches[i];
        b->out = b->note && b->note->state != NOTE_KEPT;
    }
    path_hold(&p->tree, p->session.head);
    path_hold(&p->tree, p->session.adk);
    reach_find(&p->tree, NULL, NULL);
    p->before = reach_entries(&p->tree);
    return RAMET_OK;
}

/* What stays of a branch that is pruned (P1). */
static int64_t floor_of(const reach_branch *b)
{
    return b->held > b->base ? b->held : b->base;
}

static const char *turn_reason(plan *p, const reach_branch *b)
{
    turn_row t;
    if (!turn_on(p->tx, &p->session.access, b->id, &t))
        return NULL;
    return arena_printf(p->tx->arena, "turn %s writes to it", t.shown.id);
}

/* A chat from a template begins with what is on its branch, now and later. */
static const char *template_reason(plan *p, const reach_branch *b)
{
    db_stmt *q = db_query(p->tx->db, Q_template_on);
    q_int(q, 1, p->tree.tree);
    q_int(q, 2, b->session);
    q_int(q, 3, b->id);
    const char *id = q_row(q) ? q_keep_text(q, 0, p->tx->arena) : NULL;
    q_end(q);
    return id ? arena_printf(p->tx->arena, "template %s is pinned on it", id) : NULL;
}

/* Names the path that needs entries of a branch that is to be pruned. */
static const char *need_reason(plan *p, const reach_branch *b)
{
    arena *a = p->tx->arena;
    session_full s;
    const reach_branch *by = b->by;
    while (by && !reach_is_needed(by))
        by = by->by;
    int64_t from = floor_of(b) + 1;
    const char *what = from == b->need ? arena_printf(a, "needs its entry %lld", (long long)from)
                                       : arena_printf(a, "needs its entries %lld to %lld",
                                                      (long long)from, (long long)b->need);
    if (!by)
        return what;
    if (by->session == p->session.no)
        return arena_printf(a, "branch b%lld %s", (long long)by->id, what);
    bool found = session_by_no(p->tx, p->tree.tree, by->session, &s);
    if (!found || !session_visible(p->tx, &s.access))
        return arena_printf(a, "another session %s", what);
    if (session_gone(p->tx, &s.access))
        return arena_printf(a, "the deleted session %s, which can be restored, %s", s.id, what);
    return arena_printf(a, "session %s %s", s.id, what);
}

static void stay(plan *p, reach_branch *b, const char *reason)
{
    b->out = b->asked = false;
    if (p->kept.n == MAX_KEPT)
        return;
    ramet_kept_branch k = {b->id, reason};
    VEC_PUSH(p->tx->arena, &p->kept, k);
}

/* P2. Children come first, so what stays of them counts. */
static void look_main(void *arg, reach_branch *b)
{
    plan *p = arg;
    if (b->asked && b->log == RAMET_LOG_MAIN && b->need > floor_of(b))
        stay(p, b, p->kept.n < MAX_KEPT ? need_reason(p, b) : "");
}

static void look_adk(void *arg, reach_branch *b)
{
    (void)arg;
    if (b->asked && b->log == RAMET_LOG_ADK && b->need > floor_of(b))
        b->out = b->asked = false;
}

static void ask(plan *p, reach_branch *b)
{
    const char *turn = turn_reason(p, b);
    const char *pin = turn ? NULL : template_reason(p, b);
    b->asked = b->out = true;
    if (turn || pin)
        stay(p, b, turn ? turn : pin);
}

/* Its path is the beginning of the head's path: a prune would remove nothing. */
static bool is_on_path(const plan *p, const reach_branch *b)
{
    if (b->len > b->base)
        return b->held == b->len;
    const reach_branch *up = b->parent ? reach_branch_at(&p->tree, b->parent) : NULL;
    return !up || up->held >= b->base;
}

static ramet_status ask_others(plan *p, const ramet_prune_in *in)
{
    if (in->branch && in->branch != p->session.head)
        return call_fail(p->tx->call, RAMET_BRANCH_NEEDED, "branch_id",
                         "the head of session %s is b%lld, which is not on the path of b%lld; "
                         "switch there first",
                         p->session.id, (long long)p->session.head, (long long)in->branch);
    for (size_t i = 0; i < p->tree.n_branches; i++) {
        reach_branch *b = &p->tree.branches[i];
        if (is_own(p, b, RAMET_LOG_MAIN) && !b->out && b->id != p->session.head &&
            !is_on_path(p, b))
            ask(p, b);
    }
    return txn_status(p->tx);
}

static ramet_status ask_one(plan *p, int64_t branch)
{
    reach_branch *b = branch > 0 ? reach_branch_at(&p->tree, branch) : NULL;
    if (!b || !is_own(p, b, RAMET_LOG_MAIN))
        return branch_missing(p->tx->call, p->session.id, branch);
    if (branch == p->session.head)
        return call_fail(p->tx->call, RAMET_BRANCH_NEEDED, "branch_id",
                         "b%lld is the head of session %s; switch to another branch first",
                         (long long)branch, p->session.id);
    if (b->out)
        return RAMET_OK;
    const char *pin = template_reason(p, b);
    TRY(txn_status(p->tx));
    if (pin)
        return call_fail(p->tx->call, RAMET_BRANCH_NEEDED, "branch_id",
                         "branch b%lld cannot be pruned: %s", (long long)branch, pin);
    ask(p, b);
    TRY(txn_status(p->tx));
    if (!b->asked)
        return call_fail(p->tx->call, RAMET_TURN_RUNNING_ALREADY, "branch_id",
                         "branch b%lld cannot be pruned: %s", (long long)branch,
                         p->kept.items[0].reason);
    return RAMET_OK;
}

/* ----------------------------------------------------------------- the adk log */

typedef struct beside {
    bool gone, left; /* beside a pruned branch of main; beside another one */
} beside;

static void beside_note(const plan *p, beside *v, int64_t main, int64_t adk)
{
    const reach_branch *m = reach_branch_at(&p->tree, main);
    const reach_branch *a = adk ? reach_branch_at(&p->tree, adk) : NULL;
    if (!m || !a)
        return;
    if (m->out)
        v[a - p->tree.branches].gone = true;
    else
        v[a - p->tree.branches].left = true;
}

/* Whether each adk branch was the head beside pruned branches of main, and beside others. */
static beside *beside_find(plan *p)
{
    beside *v = arena_array(p->tx->arena, p->tree.n_branches + 1, sizeof *v);
    memset(v, 0, (p->tree.n_branches + 1) * sizeof *v);
    beside_note(p, v, p->session.head, p->session.adk);
    db_stmt *q = db_query(p->tx->db, Q_move_all);
    q_int(q, 1, p->session.tree);
    q_int(q, 2, p->session.no);
    while (q_row(q)) {
        beside_note(p, v, q_col_int(q, 2), q_col_int(q, 4));
        beside_note(p, v, q_col_int(q, 3), q_col_int(q, 5));
    }
    return v;
}

/* P4: prunes the adk branches that belong to it, or (without `prune`) restores them. */
static void adk_follow(plan *p, bool prune)
{
    const beside *v = p->session.first_adk ? beside_find(p) : NULL;
    for (size_t i = 0; v && i < p->tree.n_branches; i++) {
        reach_branch *b = &p->tree.branches[i];
        if (!is_own(p, b, RAMET_LOG_ADK) || b->id == p->session.adk)
            continue;
        bool goes = prune && !b->out && v[i].gone && !v[i].left;
        bool comes = !prune && b->out && v[i].left && b->note->state == NOTE_PRUNED;
        b->asked = goes || comes;
        if (b->asked)
            b->out = goes;
    }
    reach_find(&p->tree, prune ? look_adk : NULL, p);
    /* What comes back beside its branch of main cannot be refused: the head can move there. */
    if (!v || !prune || log_rules_of(p->tx, RAMET_LOG_ADK)->may_hide(p->tx, &p->session.brief))
        return;
    for (size_t i = 0; i < p->tree.n_branches; i++) {
        reach_branch *b = &p->tree.branches[i];
        if (b->asked && is_own(p, b, RAMET_LOG_ADK)) {
            b->asked = false;
            b->out = !b->out;
        }
    }
    reach_find(&p->tree, NULL, NULL);
}

/* ------------------------------------------------------------------- writing */

static void answer(plan *p, bool dry_run, bool prune, ramet_prune_out *out)
{
    VEC(const char *) ids = {0};
    int64_t now = reach_entries(&p->tree);
    for (size_t i = 0; i < p->tree.n_branches; i++) {
        const reach_branch *b = &p->tree.branches[i];
        if (b->asked && b->log == RAMET_LOG_MAIN)
            VEC_PUSH(p->tx->arena, &ids, arena_printf(p->tx->arena, "b%lld", (long long)b->id));
    }
    ANSWER(p->tx, out);
    *out = (ramet_prune_out){.branches = ids.items,
                             .n = ids.n,
                             .entries = prune ? now - p->before : p->before - now,
                             .kept = p->kept.items,
                             .n_kept = p->kept.n,
                             .dry_run = dry_run};
}

static void notes_save(plan *p)
{
    bool any = false;
    int64_t op = db_number(p->tx->db, DB_DELETION, NULL);
    for (size_t i = 0; i < p->tree.n_branches; i++) {
        const reach_branch *b = &p->tree.branches[i];
        branch_note n = b->note ? *b->note : (branch_note){.branch = b->id, .name = ""};
        bool moved = b->out && b->note && b->note->keep != reach_keep(b);
        if (!b->asked && !moved)
            continue;
        if (b->asked) {
            n.state = b->out ? NOTE_PRUNED : NOTE_KEPT;
            n.pruned = b->out ? p->tx->now : 0;
            n.prune_op = b->out ? op : 0;
        }
        n.keep = b->out ? reach_keep(b) : 0; /* P3 */
        note_write(p->tx, p->tree.tree, b->session, &n);
        any = true;
    }
    if (!any)
        return;
    event_add(p->tx, p->session.tree, p->session.no, RAMET_EVENT_UPDATED, p->session.head, 0);
    access_changed(p->tx, p->session.tree);
}

/* --------------------------------------------------------------------- prune */

typedef struct prune_job {
    const char *session;
    const ramet_prune_in *in;
    int64_t branch; /* restore */
    bool all;
    ramet_prune_out *out;
} prune_job;

static ramet_status prune_run(txn *tx, void *arg)
{
    prune_job *j = arg;
    plan p;
    TRY(plan_begin(tx, j->session, &p));
    TRY(hold_check(tx, p.session.tree, p.session.no));
    TRY(j->in->others ? ask_others(&p, j->in) : ask_one(&p, j->in->branch));
    reach_find(&p.tree, look_main, &p);
    TRY(txn_status(tx));
    if (!j->in->others && p.kept.n)
        return call_fail(tx->call, RAMET_BRANCH_NEEDED, "branch_id",
                         "branch b%lld cannot be pruned: %s", (long long)j->in->branch,
                         p.kept.items[0].reason);
    adk_follow(&p, true);
    TRY(txn_status(tx));
    answer(&p, j->in->dry_run, true, j->out);
    if (!j->in->dry_run)
        notes_save(&p);
    return txn_status(tx);
}

ramet_status ramet_prune(ramet_call *c, const char *session, const ramet_prune_in *in,
                         ramet_prune_out *out)
{
    prune_job j = {.session = session, .in = in, .out = out};
    *out = (ramet_prune_out){0};
    if (!in->dry_run)
        return txn_write(c, prune_run, &j);
    txn tx;
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, prune_run(&tx, &j));
}

/* ------------------------------------------------------------------- restore */

static ramet_status restore_run(txn *tx, void *arg)
{
    prune_job *j = arg;
    plan p;
    TRY(plan_begin(tx, j->session, &p));
    const reach_branch *want = j->branch > 0 ? reach_branch_at(&p.tree, j->branch) : NULL;
    if (!want || !is_own(&p, want, RAMET_LOG_MAIN))
        return branch_missing(tx->call, p.session.id, j->branch);
    if (want->out && want->note->state != NOTE_PRUNED)
        return pruned_check(tx, &p.session.access, j->branch);
    for (size_t i = 0; i < p.tree.n_branches; i++) {
        reach_branch *b = &p.tree.branches[i];
        bool same = j->all && b->out && want->out && is_own(&p, b, RAMET_LOG_MAIN) &&
                    b->note->state == NOTE_PRUNED && b->note->prune_op == want->note->prune_op;
        b->asked = b->out && (b == want || same);
    }
    for (size_t i = 0; i < p.tree.n_branches; i++)
        if (p.tree.branches[i].asked)
            p.tree.branches[i].out = false;
    adk_follow(&p, false);
    TRY(txn_status(tx));
    answer(&p, false, false, j->out);
    notes_save(&p);
    return txn_status(tx);
}

ramet_status ramet_branch_restore(ramet_call *c, const char *session, int64_t branch, bool all,
                                  ramet_prune_out *out)
{
    prune_job j = {.session = session, .branch = branch, .all = all, .out = out};
    *out = (ramet_prune_out){0};
    return txn_write(c, restore_run, &j);
}

/* --------------------------------------------------------- names, the favourite */

typedef struct patch_job {
    const char *session;
    int64_t branch;
    const ramet_branch_patch *in;
    ramet_branch **out;
} patch_job;

static ramet_status patch_run(txn *tx, void *arg)
{
    patch_job *j = arg;
    session_full s;
    branch_row b;
    note_list notes;
    TRY(session_open(tx, j->session, NEED_CHANGE, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, j->branch, &b));
    notes_of(tx, s.tree, s.no, &notes);
    TRY(txn_status(tx));
    const branch_note *had = note_find(&notes, j->branch);
    branch_note n = had ? *had : (branch_note){.branch = j->branch, .name = ""};
    bool favourite = j->in->favourite ? *j->in->favourite : n.favourite;
    const char *name = j->in->name ? j->in->name : n.name;
    bool changed = favourite != n.favourite || strcmp(name, n.name) != 0;
    n.favourite = favourite;
    n.name = arena_strdup(tx->arena, name);
    for (size_t i = 0; changed && favourite && i < notes.n; i++)
        if (notes.items[i].favourite && notes.items[i].branch != j->branch) {
            notes.items[i].favourite = false;
            note_write(tx, s.tree, s.no, &notes.items[i]);
        }
    if (changed) {
        note_write(tx, s.tree, s.no, &n);
        event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
    }
    ANSWER(tx, j->out);
    *j->out = arena_alloc(tx->arena, sizeof **j->out);
    branch_show(tx, &s.brief, &b, &n, *j->out);
    return txn_status(tx);
}

ramet_status ramet_branch_update(ramet_call *c, const char *session, int64_t branch,
                                 const ramet_branch_patch *in, ramet_branch **out)
{
    patch_job j = {session, branch, in, out};
    *out = NULL;
    if (in->name)
        TRY(branch_name_check(c, in->name));
    if (branch <= 0)
        return call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch_id", "there is no branch b%lld",
                         (long long)branch);
    ramet_status st = txn_write(c, patch_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
