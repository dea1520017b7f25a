/* SPDX-License-Identifier: Apache-2.0
 *
 * Moving the head: cut points, rewind, undo, redo, switch, the head log (I6).
 *
 *   M1  The head is stored. A move writes one row into the head log, which is never changed.
 *   M2  Undo and redo are two stacks linked through those rows. A new move stores the top of the
 *       undo stack in undo_under, becomes its top and empties the redo stack. Undoing the top row u
 *       writes a row that goes back to where u came from, with redo_under = the top of the redo
 *       stack; it pops u and pushes the new row for redo. Redo is the mirror image. So both are
 *       O(1) and without limit, and appends touch neither.
 *   M3  Both logs move in one commit, each at its own cut. adk 0 means: the log is empty.
 *   M4  What a move means to the reader of the adk log is up to the owner of that log: each move
 *       calls the rules that the owner registered (log_rules.h).
 *   M5  A move into a pruned branch is refused. It stays on its stack: after a restore of the
 *       branch it works again.
 */
#include "core/change/move.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/entry.h"
#include "core/event.h"
#include "core/model/key.h"
#include "core/change/log_rules.h"
#include "core/model/path.h"
#include "core/model/peer.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/turn/turn_cut.h"
#include "core/txn.h"

#include <assert.h>

#define SNAP_WINDOW 2000 /* entries searched on either side of a cut for split tool calls */

/* --------------------------------------------------------------- cut points */

/* A tool call and its result. */
typedef struct tool_pair {
    const char *id;
    int64_t call;   /* position of the call */
    int64_t result; /* position of the result, -1 while there is none */
    size_t next;    /* index + 1 of the next open pair in its bucket; 0 at the end */
} tool_pair;

#define BUCKETS 256

typedef struct snap_scan {
    arena *keep, *scratch;
    VEC(tool_pair) pairs; /* by position of the call */
    VEC(int64_t) users;   /* positions of user entries */
    size_t open[BUCKETS], last[BUCKETS], n_open;
    int64_t cut, seen;
    bool done;
} snap_scan;

static size_t bucket_of(const char *id)
{
    return hash_text(id) % BUCKETS;
}

static void pair_open(snap_scan *s, const char *id, int64_t pos)
{
    size_t b = bucket_of(id);
    tool_pair p = {arena_strdup(s->keep, id), pos, -1, 0};
    VEC_PUSH(s->keep, &s->pairs, p);
    *(s->open[b] ? &s->pairs.items[s->last[b] - 1].next : &s->open[b]) = s->pairs.n;
    s->last[b] = s->pairs.n;
    s->n_open++;
}

/* A result answers every open call with its id. */
static void pair_close(snap_scan *s, const char *id, int64_t pos)
{
    size_t b = bucket_of(id), last = 0, next;
    for (size_t i = s->open[b]; i; i = next) {
        tool_pair *p = &s->pairs.items[i - 1];
        next = p->next;
        if (strcmp(p->id, id) != 0) {
            last = i;
            continue;
        }
        p->result = pos;
        *(last ? &s->pairs.items[last - 1].next : &s->open[b]) = next;
        s->n_open--;
    }
    s->last[b] = last;
}

static bool snap_take(void *arg, ramet_entry *e)
{
    snap_scan *s = arg;
    tool_ref *refs = NULL;
    size_t n = entry_tools(s->scratch, e->parts, &refs);
    if (e->role == RAMET_USER)
        VEC_PUSH(s->keep, &s->users, e->position);
    for (size_t i = 0; i < n; i++) {
        if (refs[i].result)
            pair_close(s, refs[i].id, e->position);
        else
            pair_open(s, refs[i].id, e->position);
    }
    s->seen = e->position;
    /* After the cut, no pair spans a position where no call is open. */
    s->done = e->position >= s->cut && !s->n_open;
    return !s->done && arena_used(s->scratch) < PAGE_BYTES;
}

/* Reads in steps, so that large entries do not accumulate in memory. */
static void snap_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, snap_scan *s)
{
    while (lo < hi && !s->done && db_status(tx->db) == RAMET_OK) {
        s->seen = lo - 1;
        path_read(tx, head, lo, hi, s->scratch, snap_take, s);
        arena_reset(s->scratch);
        lo = s->seen + 1;
    }
}

/* The nearest position before the cut that separates no pair and leaves no call of the last turn
 * open. */
static int64_t snap_back(const snap_scan *s)
{
    int64_t to = s->cut;
    size_t u = s->users.n;
    for (size_t i = s->pairs.n; i-- > 0;) {
        const tool_pair *p = &s->pairs.items[i];
        if (p->call >= to)
            continue;
        while (u && s->users.items[u - 1] >= to)
            u--;
        bool last_turn = !u || s->users.items[u - 1] <= p->call;
        if (p->result >= to || (p->result < 0 && last_turn))
            to = p->call;
    }
    return to;
}

/* The nearest position after the cut that separates no pair. */
static int64_t snap_forward(const snap_scan *s)
{
    int64_t to = s->cut;
    for (size_t i = 0; i < s->pairs.n && s->pairs.items[i].call < to; i++)
        if (s->pairs.items[i].result >= to)
            to = s->pairs.items[i].result + 1;
    return to;
}

static int64_t snap(txn *tx, const branch_row *head, int64_t cut, ramet_cut_policy policy)
{
    if (policy == RAMET_CUT_EXACT)
        return cut;
    snap_scan s = {.keep = arena_new(), .scratch = arena_new(), .cut = cut};
    int64_t lo = cut > SNAP_WINDOW ? cut - SNAP_WINDOW : 0;
    int64_t hi = head->len - cut > SNAP_WINDOW ? cut + SNAP_WINDOW : head->len;
    snap_read(tx, head, lo, cut, &s);
    if (s.n_open)
        snap_read(tx, head, cut, hi, &s);
    int64_t to = policy == RAMET_CUT_SNAP_BEFORE ? snap_back(&s) : snap_forward(&s);
    arena_free(s.keep);
    arena_free(s.scratch);
    return to;
}

static ramet_status at_position(txn *tx, const branch_row *head, const ramet_at *at,
                                const char *field, int64_t *n)
{
    int64_t k;
    if (at->side != RAMET_AFTER && at->side != RAMET_BEFORE)
        return call_fail(tx->call, RAMET_INVALID, "at.side", "the side must be before or after");
    if (!at->entry_id) {
        *n = head->len;
        return RAMET_OK;
    }
    TRY(check_id(tx->call, field, at->entry_id));
    int64_t pos = path_find(tx, head, at->entry_id, &k);
    TRY(txn_status(tx));
    if (pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, field, "entry %s is not on this path",
                         at->entry_id);
    *n = at->side == RAMET_BEFORE ? pos : pos + 1;
    return RAMET_OK;
}

ramet_status cut_find(txn *tx, const branch_row *head, const ramet_at *at, ramet_cut_policy policy,
                      cut_result *out)
{
    int64_t n;
    if (policy < RAMET_CUT_EXACT || policy > RAMET_CUT_SNAP_AFTER)
        return call_fail(tx->call, RAMET_INVALID, "cut",
                         "cut must be exact, snap_before or snap_after");
    TRY(at_position(tx, head, at, "at.entry_id", &n));
    out->main = snap(tx, head, n, policy);
    txn_assert(tx, out->main >= 0 && out->main <= head->len);
    ramet_cut *c = &out->shown;
    *c = (ramet_cut){.policy = policy, .position = out->main, .side = RAMET_AFTER};
    if (at->entry_id && out->main == n) {
        c->entry_id = arena_strdup(tx->arena, at->entry_id);
        c->side = at->side;
    } else if (out->main > 0) {
        c->entry_id = path_entry_id(tx, head, out->main - 1);
    } else {
        c->side = RAMET_BEFORE;
    }
    return txn_status(tx);
}

ramet_status cut_adk(txn *tx, const branch_row *head, const branch_row *adk, const ramet_at *at,
                     cut_result *out)
{
    if (at->entry_id)
        return at_position(tx, adk, at, "adk_at.entry_id", &out->adk);
    out->adk = out->main == head->len ? adk->len : peer_cut(tx, adk, out->main);
    return txn_status(tx);
}

/* -------------------------------------------------------------------- moves */

static void set_live(txn *tx, int64_t tree, int64_t id, bool live)
{
    db_stmt *q = db_query(tx->db, Q_branch_live);
    q_int(q, 1, tree);
    q_int(q, 2, id);
    q_int(q, 3, live);
    q_run(q);
}

static ramet_event_kind event_of(ramet_move_kind kind)
{
    return kind == RAMET_MOVE_SWITCH  ? RAMET_EVENT_SWITCHED
           : kind == RAMET_MOVE_MERGE ? RAMET_EVENT_MERGED
                                      : RAMET_EVENT_REWOUND;
}

void head_move(txn *tx, session_full *s, const head_to *at, ramet_move_kind kind, const char *why,
               int64_t undo_under, int64_t redo_under, int64_t undo, int64_t redo)
{
    assert(tx->writing);
    txn_assert(tx, at->main);
    int64_t seq = s->moves + 1, to = at->main, to_adk = at->adk;
    /* Not before the branches of the session, including those that this move made: see
     * branch_create(). */
    int64_t updated = tx->now > s->updated ? tx->now : s->updated;
    log_rules_of(tx, RAMET_LOG_ADK)->mark(tx, &s->brief, at, seq); /* M4 */
    db_stmt *q = db_query(tx->db, Q_move_add);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, seq);
    q_int(q, 4, kind);
    q_int(q, 5, s->head);
    q_int(q, 6, to);
    q_int(q, 7, s->adk);
    q_int(q, 8, to_adk);
    q_int(q, 9, undo_under);
    q_int(q, 10, redo_under);
    q_int(q, 11, updated);
    q_text(q, 12, tx->call->user);
    q_text(q, 13, why ? why : "");
    q_run(q);
    if (to != s->head) {
        set_live(tx, s->tree, s->head, false);
        set_live(tx, s->tree, to, true);
    }
    if (to_adk != s->adk) {
        if (s->adk)
            set_live(tx, s->tree, s->adk, false);
        if (to_adk)
            set_live(tx, s->tree, to_adk, true);
    }
    q = db_query(tx->db, Q_session_move);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, to);
    q_int(q, 4, to_adk);
    q_int(q, 5, undo);
    q_int(q, 6, redo);
    q_int(q, 7, seq);
    q_int(q, 8, updated);
    q_run(q);
    event_add(tx, s->tree, s->no, event_of(kind), to, kind);
    s->head = to;
    s->adk = to_adk;
    s->undo = undo;
    s->redo = redo;
    s->moves = seq;
    s->updated = updated;
}

void move_new(txn *tx, session_full *s, const head_to *to, ramet_move_kind kind, const char *why)
{
    head_move(tx, s, to, kind, why, s->undo, 0, s->moves + 1, 0);
}

void move_to_cut(txn *tx, session_full *s, const branch_row *head, const cut_result *cut,
                 ramet_fork_type type, ramet_move_kind kind, const char *why, branch_row *out)
{
    branch_row adk, to_adk = {0};
    branch_create(tx, head, cut->main, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_MAIN, type,
                  out);
    /* Branch even when nothing is cut off there: what is appended from now on must not go to the
     * old head. */
    if (s->adk && branch_load(tx, s->tree, s->adk, &adk))
        branch_create(tx, &adk, cut->adk, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_ADK, type,
                      &to_adk);
    move_new(tx, s, &(head_to){out->meta.id, to_adk.meta.id, cut->before, 0}, kind, why);
}

/* Moves a cut of main that splits a turn back to the start of the turn, whose events go as a
 * whole. */
static int64_t turn_start(txn *tx, const branch_row *head, int64_t cut)
{
    entry_kind at, prev;
    if (cut >= head->len || !entry_kind_at(tx, &head->meta, cut, &at) || !at.turn)
        return cut;
    while (cut > 0 && entry_kind_at(tx, &head->meta, cut - 1, &prev) && prev.turn &&
           strcmp(prev.turn, at.turn) == 0)
        cut--;
    return cut;
}

ramet_status cut_both(txn *tx, const session_full *s, const branch_row *head, const ramet_at *at,
                      const ramet_at *adk_at, ramet_cut_policy policy, cut_result *cut)
{
    branch_row adk;
    const log_rules *rules = log_rules_of(tx, RAMET_LOG_ADK);
    *cut = (cut_result){0};
    TRY(cut_find(tx, head, at, policy, cut));
    /* The adk log is hidden from the holder of a link: it moves along, and the holder must not
     * notice it. */
    bool hidden = adk_at->entry_id && share_only(tx, &s->access);
    if (!hidden && s->adk && branch_load(tx, s->tree, s->adk, &adk)) {
        cut_result whole = *cut;
        if (!adk_at->entry_id && rules->whole_turns(tx, &s->brief))
            whole.main = turn_start(tx, head, cut->main);
        TRY(cut_adk(tx, head, &adk, adk_at, &whole));
        cut->adk = whole.adk;
        rules->snap(tx, &s->brief, &adk, &cut->adk, &cut->before);
        txn_assert(tx, cut->adk >= 0 && cut->adk <= adk.len);
        return txn_status(tx);
    }
    if (adk_at->entry_id)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "adk_at.entry_id",
                         "the session has no adk log, so entry %s is not in it", adk_at->entry_id);
    return txn_status(tx);
}

/* ------------------------------------------------------------------- rewind */

typedef struct move_job {
    const char *session;
    const ramet_move_in *in;
    int64_t branch; /* switch */
    ramet_move_kind kind;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_session **out;
    ramet_cut *cut; /* may be NULL */
} move_job;

static ramet_status move_begin(txn *tx, move_job *j, session_full *s, branch_row *head)
{
    TRY(session_open_head(tx, j->session, NEED_WRITE, s, head));
    return head_check(tx, head, j->expected, j->given);
}

/* Answers from the row, which head_move() keeps up to date. `head` may be NULL. */
static ramet_status move_answer(txn *tx, move_job *j, const session_full *s, const branch_row *head)
{
    session_known known = {.head = head};
    ANSWER(tx, j->out);
    *j->out = session_show_with(tx, s, &known);
    return txn_status(tx);
}

static ramet_status rewind_turn(txn *tx, move_job *j, session_full *s, const branch_row *head)
{
    turn_cut cut;
    branch_row to;
    TRY(turn_cut_find(tx, s, head, j->in->before_turn, TURN_IN_RECORD, 0, &cut));
    move_to_turn(tx, s, &cut, j->in->reason, 0, &to);
    if (j->cut)
        *j->cut = cut.at.shown;
    return move_answer(tx, j, s, &to);
}

static ramet_status rewind_run(txn *tx, void *arg)
{
    move_job *j = arg;
    session_full s;
    branch_row head, to;
    cut_result cut;
    TRY(move_begin(tx, j, &s, &head));
    if (j->in->before_turn)
        return rewind_turn(tx, j, &s, &head);
    TRY(cut_both(tx, &s, &head, &j->in->at, &j->in->adk_at, j->in->cut, &cut));
    move_to_cut(tx, &s, &head, &cut, RAMET_EXPLICIT, RAMET_MOVE_REWIND, j->in->reason, &to);
    ANSWER(tx, j->cut);
    if (j->cut)
        *j->cut = cut.shown;
    return move_answer(tx, j, &s, &to);
}

/* Undo pops the undo stack, redo the redo stack (M2). */
static ramet_status undo_redo_run(txn *tx, void *arg)
{
    move_job *j = arg;
    session_full s;
    branch_row head;
    bool undo = j->kind == RAMET_MOVE_UNDO;
    TRY(move_begin(tx, j, &s, &head));
    int64_t top = undo ? s.undo : s.redo;
    if (!top)
        return call_fail(tx->call, undo ? RAMET_NOTHING_TO_UNDO : RAMET_NOTHING_TO_REDO, NULL,
                         undo ? "session %s has no move to undo" : "session %s has nothing to redo",
                         s.id);
    db_stmt *q = db_query(tx->db, Q_move_get);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_int(q, 3, top);
    if (!q_row(q)) {
        db_fail(tx->db, RAMET_DAMAGED, "move %lld of session %s is missing", (long long)top, s.id);
        return txn_status(tx);
    }
    int64_t to = q_col_int(q, 1), to_adk = q_col_int(q, 3);
    int64_t undo_under = q_col_int(q, 5), redo_under = q_col_int(q, 6), seq = s.moves + 1;
    q_end(q);
    TRY(pruned_check(tx, &s.access, to));
    head_to back = {to, to_adk, log_rules_of(tx, RAMET_LOG_ADK)->left(tx, &s.brief, to_adk), 0};
    if (undo)
        head_move(tx, &s, &back, j->kind, "", 0, s.redo, undo_under, seq);
    else
        head_move(tx, &s, &back, j->kind, "", s.undo, 0, seq, redo_under);
    return move_answer(tx, j, &s, NULL);
}

int64_t adk_head_of(txn *tx, const session_brief *s, int64_t branch)
{
    int64_t adk = s->adk;
    if (branch == s->head || !s->first_adk)
        return adk;
    db_stmt *q = db_query(tx->db, Q_move_adk_of);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, branch);
    if (q_row(q))
        adk = q_col_int(q, 0);
    q_end(q);
    return adk;
}

static ramet_status switch_run(txn *tx, void *arg)
{
    move_job *j = arg;
    session_full s;
    branch_row head, to;
    TRY(move_begin(tx, j, &s, &head));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, j->branch, &to));
    head_to at = {.main = to.meta.id, .adk = adk_head_of(tx, &s.brief, to.meta.id)};
    at.before = log_rules_of(tx, RAMET_LOG_ADK)->left(tx, &s.brief, at.adk);
    move_new(tx, &s, &at, RAMET_MOVE_SWITCH, "");
    return move_answer(tx, j, &s, &to);
}

static ramet_status move_do(ramet_call *c, move_job *j, const char *expected, txn_op run,
                            ramet_session **out)
{
    *out = NULL;
    j->out = out;
    TRY(check_hash(c, expected, j->expected, &j->given));
    ramet_status st = txn_write(c, run, j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_rewind(ramet_call *c, const char *session, const ramet_move_in *in,
                          ramet_session **out, ramet_cut *cut)
{
    move_job j = {.session = session, .in = in, .kind = RAMET_MOVE_REWIND, .cut = cut};
    *out = NULL;
    if (cut)
        *cut = (ramet_cut){0};
    TRY(check_chars(c, "reason", in->reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    return move_do(c, &j, in->expected_head, rewind_run, out);
}

ramet_status ramet_undo(ramet_call *c, const char *session, const char *expected_head,
                        ramet_session **out)
{
    move_job j = {.session = session, .kind = RAMET_MOVE_UNDO};
    return move_do(c, &j, expected_head, undo_redo_run, out);
}

ramet_status ramet_redo(ramet_call *c, const char *session, const char *expected_head,
                        ramet_session **out)
{
    move_job j = {.session = session, .kind = RAMET_MOVE_REDO};
    return move_do(c, &j, expected_head, undo_redo_run, out);
}

ramet_status ramet_switch(ramet_call *c, const char *session, int64_t branch,
                          const char *expected_head, ramet_session **out)
{
    move_job j = {.session = session, .branch = branch, .kind = RAMET_MOVE_SWITCH};
    *out = NULL;
    if (branch <= 0)
        return call_fail(c, RAMET_BRANCH_NOT_FOUND, "branch_id", "there is no branch b%lld",
                         (long long)branch);
    return move_do(c, &j, expected_head, switch_run, out);
}

/* ----------------------------------------------------------------- head log */

static ramet_status log_run(txn *tx, const char *session, int64_t before, int limit,
                            ramet_move **out, size_t *n, bool *more)
{
    session_full s;
    VEC(ramet_move) v = {0};
    TRY(session_open(tx, session, NEED_READ, &s));
    db_stmt *q = db_query(tx->db, Q_move_page);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_int(q, 3, before ? before : INT64_MAX);
    q_int(q, 4, limit + 1);
    while (q_row(q)) {
        ramet_move m = {.number = q_col_int(q, 0),
                        .kind = col_move_kind(q, 1),
                        .from = q_col_int(q, 2),
                        .to = q_col_int(q, 3),
                        .at = q_col_int(q, 4),
                        .who = q_keep_text(q, 5, tx->arena),
                        .reason = q_need_text(q, 6, tx->arena, "move.why")};
        VEC_PUSH(tx->arena, &v, m);
    }
    *more = v.n > (size_t)limit;
    if (*more)
        v.n = (size_t)limit;
    bool linked = share_only(tx, &s.access);
    for (size_t i = 0; i < v.n; i++) {
        branch_row b;
        if (branch_load(tx, s.tree, v.items[i].from, &b))
            v.items[i].from_length = b.len;
        if (branch_load(tx, s.tree, v.items[i].to, &b))
            v.items[i].to_length = b.len;
        if (linked) {
            v.items[i].who = NULL;
            v.items[i].reason = "";
        }
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_head_log(ramet_call *c, const char *session, int64_t before, int limit,
                            ramet_move **out, size_t *n, bool *more)
{
    txn tx;
    int max;
    *out = NULL;
    *n = 0;
    *more = false;
    TRY(check_limit(c, limit, 1000, 50, &max));
    if (before < 0)
        return call_fail(c, RAMET_INVALID, "before", "before must not be negative");
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, log_run(&tx, session, before, max, out, n, more));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}
