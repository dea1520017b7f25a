/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of the adk log in a session whose runtime is ADK. That runtime reads the record of
 * events and decides by its own rule which of them count: going back from the last event, it skips
 * a rewind event "before X" together with everything from the first event of X in the record up to
 * it.
 *
 *   K1  Every move of the head appends one rewind event to the branch that it leaves, in the same
 *       commit, so that the rule over the record gives the path of the new head. Rewind events are
 *       not part of the effective history, on whichever path they are.
 *   K2  The rule returns to what counted just before the first event of X. So a cut must be at an
 *       event that is the first of its invocation in the record; the state that a move left is
 *       named by the invocation of the rewind event that left it. A rewind event that names itself
 *       cuts nothing off.
 *   K3  Nothing is appended to a branch that is not the head: it would come later in the record and
 *       therefore count.
 *   K4  Only that runtime uses the deltas of rewind events: the fold along a path does not need
 *       them.
 *   K5  No branch of such a log is pruned: the rule needs the whole record.
 */
#include "core/ext/adk.h"

#include "ramet/kagent.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/change/log_rules.h"
#include "core/change/move.h"
#include "core/model/path.h"
#include "core/view/record.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/model/state.h"
#include "core/turn/turn_cut.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

#define CHUNK 256
#define REWIND_CHANNEL "rewind" /* of rewind events in the adk log */
#define ADK_FORMAT "adk"        /* of events that ADK sent */

static bool is_rewind_event(const entry_kind *kind)
{
    return kind->channel && strcmp(kind->channel, REWIND_CHANNEL) == 0;
}

/* The first event of the record: inherited, or appended by the session. */
static bool first_event(txn *tx, const session_brief *s, entry_kind *out)
{
    branch_row b;
    if (!s->first_adk || !branch_load(tx, s->tree, s->first_adk, &b))
        return false;
    if (b.meta.base > 0)
        return entry_kind_at(tx, &b.meta, 0, out);
    db_stmt *q = db_query(tx->db, Q_run_at);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, RAMET_LOG_ADK);
    q_int(q, 4, 0);
    int64_t k = q_row(q) ? q_col_int(q, 1) : 0;
    q_end(q);
    return k && branch_load(tx, s->tree, KEY_BRANCH(k), &b) &&
           entry_kind_at(tx, &b.meta, KEY_POS(k), out);
}

static bool adk_is(txn *tx, const session_brief *s)
{
    entry_kind kind;
    return first_event(tx, s, &kind) && kind.turn && kind.format &&
           strcmp(kind.format, ADK_FORMAT) == 0;
}

/* ------------------------------------------------------------------ the cut */

static bool same_turn(const entry_kind *a, const entry_kind *b)
{
    return a->turn && b->turn && strcmp(a->turn, b->turn) == 0;
}

/* Whether ADK can rewind to before the entry at a position of a path (K2). */
static bool can_rewind(txn *tx, const session_brief *s, const branch_row *adk, int64_t pos,
                       const entry_kind *kind)
{
    branch_row b;
    branch_meta o;
    int64_t first;
    if (!kind->turn || is_rewind_event(kind))
        return false;
    return turn_index_in_record(tx, &s->access, s->first_adk, RAMET_LOG_ADK, kind->turn, 0, &b,
                                &first) &&
           first == pos && path_owner(tx, &adk->meta, pos, &o) && o.id == b.meta.id;
}

/* Moves a cut back to the beginning of the invocation that it would split. */
static int64_t run_start(txn *tx, const branch_row *adk, int64_t at)
{
    entry_kind here, prev;
    if (!entry_kind_at(tx, &adk->meta, at, &here))
        return at;
    for (int64_t p = at - 1; p >= 0 && entry_kind_at(tx, &adk->meta, p, &prev); p--) {
        if (is_rewind_event(&prev))
            continue;
        if (!same_turn(&prev, &here))
            break;
        at = p;
    }
    return at;
}

static void adk_snap(txn *tx, const session_brief *s, const branch_row *adk, int64_t *cut,
                     const char **before)
{
    entry_kind kind;
    *before = NULL;
    if (!adk_is(tx, s))
        return;
    int64_t at = *cut;
    while (at < adk->len && entry_kind_at(tx, &adk->meta, at, &kind) && is_rewind_event(&kind))
        at++;
    at = at < adk->len ? run_start(tx, adk, at) : at;
    /* Move forward over events that repeat before each turn. */
    for (; at < adk->len && entry_kind_at(tx, &adk->meta, at, &kind); at++)
        if (can_rewind(tx, s, adk, at, &kind))
            break;
    *cut = at;
    if (at < adk->len)
        *before = kind.turn;
}

/* ---------------------------------------------------------- the rewind event */

static bool is_shared_key(const char *key)
{
    return strncmp(key, "app:", 4) == 0 || strncmp(key, "user:", 5) == 0;
}

static const char *state_on(txn *tx, const branch_row *b)
{
    return b->meta.id ? state_fold(tx, b->meta.tree, delta_before(tx, b, b->len)) : "{}";
}

/* Writes the delta from `from` to `to`: the keys that differ, and null for those that disappear. */
static void delta_between(arena *a, const char *from, const char *to, json_writer *w)
{
    json_doc f, t;
    jw_object(w);
    if (json_parse(a, from, strlen(from), STORED_DEPTH, &f, NULL) &&
        json_parse(a, to, strlen(to), STORED_DEPTH, &t, NULL)) {
        const json_node *v;
        for (const json_node *k = json_first(&t, &t.nodes[0]); k;
             k = json_next(&t, &t.nodes[0], v)) {
            const char *key = json_text(a, &t, k);
            v = json_next(&t, &t.nodes[0], k);
            const json_node *had = json_get(&f, &f.nodes[0], key);
            const char *value = json_raw(a, &t, v);
            if (!is_shared_key(key) && (!had || strcmp(json_raw(a, &f, had), value) != 0))
                jw_kraw(w, key, value);
        }
        for (const json_node *k = json_first(&f, &f.nodes[0]); k;
             k = json_next(&f, &f.nodes[0], v)) {
            const char *key = json_text(a, &f, k);
            v = json_next(&f, &f.nodes[0], k);
            if (!is_shared_key(key) && !json_get(&t, &t.nodes[0], key))
                jw_kraw(w, key, "null");
        }
    }
    jw_end_object(w);
}

/* Only keys that every version of ADK with rewind knows: it rejects others. */
static const char *rewind_body(txn *tx, const char *id, const char *invocation, const char *before,
                               const branch_row *left, const branch_row *to)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "id", id);
    jw_kstr(&w, "invocation_id", invocation);
    jw_kstr(&w, "author", "user");
    jw_kraw(&w, "timestamp",
            arena_printf(tx->arena, "%lld.%06lld", (long long)(tx->now / 1000000),
                         (long long)(tx->now % 1000000)));
    jw_key(&w, "actions");
    jw_object(&w);
    jw_kstr(&w, "rewind_before_invocation_id", before ? before : invocation);
    jw_key(&w, "state_delta");
    delta_between(tx->arena, state_on(tx, left), state_on(tx, to), &w);
    jw_kraw(&w, "artifact_delta", "{}");
    jw_end_object(&w);
    jw_end_object(&w);
    return buf_keep(&b, tx->arena);
}

static const char *move_name(txn *tx, const session_brief *s, int64_t seq)
{
    return arena_printf(tx->arena, "move %lld %lld", (long long)s->no, (long long)seq);
}

/* Appends the event; returns its key. */
static int64_t rewind_write(txn *tx, session_brief *s, branch_row *left, const head_to *to)
{
    branch_row target = {0};
    entry_new *list;
    char id[UUID_TEXT], own[UUID_TEXT];
    if (to->adk && !branch_load(tx, s->tree, to->adk, &target))
        return 0;
    uuid7(tx->now, id);
    const char *invocation = arena_printf(tx->arena, "e-%s", uuid7(tx->now, own));
    ramet_entry_in in = {.id = arena_strdup(tx->arena, id),
                         .role = RAMET_USER,
                         .format = ADK_FORMAT,
                         .channel = REWIND_CHANNEL,
                         .turn_id = invocation,
                         .body = rewind_body(tx, id, invocation, to->before, left, &target)};
    if (entries_prepare(tx->call, &in, 1, 1, tx->now, &list) != RAMET_OK) {
        db_fail(tx->db, RAMET_TOO_LARGE, "the rewind event of session %s would be too large",
                s->id);
        return 0;
    }
    entries_write(tx, s, left, list, 1);
    return KEY(left->meta.id, left->len - 1);
}

static void adk_mark(txn *tx, session_brief *s, const head_to *to, int64_t seq)
{
    branch_row left;
    if (!adk_is(tx, s))
        return;
    int64_t k = to->marked;
    if (!k) {
        if (!s->adk)
            adk_begin(tx, s, &left);
        else if (!branch_load(tx, s->tree, s->adk, &left))
            return;
        k = rewind_write(tx, s, &left, to);
    }
    if (k)
        turn_index_add(tx, s->tree, move_name(tx, s, seq), RAMET_LOG_ADK, k);
}

static const char *adk_left(txn *tx, const session_brief *s, int64_t adk)
{
    entry_kind kind;
    branch_row b;
    int64_t pos;
    if (adk == s->adk || !adk_is(tx, s))
        return NULL;
    /* Nothing was appended to the branch since the last move that left it (K3). */
    db_stmt *q = db_query(tx->db, Q_move_left);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, adk);
    int64_t seq = adk && q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    if (seq &&
        turn_index_in_record(tx, &s->access, s->first_adk, RAMET_LOG_ADK, move_name(tx, s, seq), 0,
                             &b, &pos) &&
        entry_kind_at(tx, &b.meta, pos, &kind))
        return kind.turn;
    /* The branch was left before there were events: go back to before the first one. */
    return first_event(tx, s, &kind) ? kind.turn : NULL;
}

/* ------------------------------------------------------ the rules of the log */

static ramet_status adk_append_check(txn *tx, const session_brief *s, int64_t branch)
{
    (void)branch;
    if (!adk_is(tx, s))
        return RAMET_OK;
    return call_fail(tx->call, RAMET_INVALID, "branch_id",
                     "events of ADK are appended at the head alone"); /* K3 */
}

/* Appends a rewind event that the runtime sent: it is the event of the move that it requests
 * (K1). */
static ramet_status adk_append_rewind(txn *tx, const char *session, const append_work *w,
                                      const char *before_turn)
{
    session_full s;
    branch_row head, b, to;
    turn_cut cut;
    TRY(session_open_head(tx, session, NEED_CHANGE, &s, &head));
    b = head;
    TRY(append_do(tx, &s.brief, &b, w));
    if (!w->out->added)
        return RAMET_OK;
    int64_t k = KEY(b.meta.id, b.len - 1), pos;
    if (!turn_index_in_record(tx, &s.access, s.first_adk, RAMET_LOG_ADK, before_turn, k, &to, &pos))
        return txn_status(tx);
    TRY(turn_cut_find(tx, &s, &head, before_turn, TURN_IN_RECORD, k, &cut));
    move_to_turn(tx, &s, &cut, "", k, &to);
    return txn_status(tx);
}

/* What counts is worked out from the whole record, by moves that may name any part of it: so none
 * of it is left out. */
static bool adk_may_hide(txn *tx, const session_brief *s)
{
    return !adk_is(tx, s);
}

void adk_register(ramet *r)
{
    static const log_rules rules = {
        .append_check = adk_append_check,
        .whole_turns = adk_is,
        .snap = adk_snap,
        .mark = adk_mark,
        .left = adk_left,
        .append_rewind = adk_append_rewind,
        .may_hide = adk_may_hide,
        /* kagent stores request headers there, which may hold credentials. */
        .private_state_key = "headers"};
    log_rules_register(r, RAMET_LOG_ADK, &rules);
}

/* ------------------------------------------------------------------ reading */

typedef struct adk_walk {
    arena *page;
    ramet_each each;
    void *arg;
    ramet_adk_span *span;
    int64_t until;   /* end of the span, or INT64_MAX */
    int64_t shift;   /* added to a position gives its number */
    int64_t session; /* its number */
    int64_t seen;
    bool markers, stopped;
} adk_walk;

static bool walk_take(void *arg, ramet_entry *e)
{
    adk_walk *w = arg;
    w->seen = e->position;
    w->span->at = e->position + w->shift;
    if (w->markers || strcmp(e->channel, REWIND_CHANNEL) != 0)
        w->stopped = !w->each(w->arg, e, e->owner_no == w->session);
    return !w->stopped && arena_used(w->page) < PAGE_BYTES;
}

static void walk_path(txn *tx, adk_walk *w, const branch_row *b, int64_t lo, int64_t hi)
{
    while (lo < hi && !w->stopped && db_status(tx->db) == RAMET_OK) {
        w->seen = lo - 1;
        path_read(tx, b, lo, lo + CHUNK < hi ? lo + CHUNK : hi, w->page, walk_take, w);
        arena_reset(w->page);
        lo = w->seen + 1;
    }
}

/* Visits those positions of [lo, hi) that are in the span; the first position has that number. */
static void walk_part(txn *tx, adk_walk *w, const branch_row *b, int64_t lo, int64_t hi,
                      int64_t number)
{
    w->shift = number - lo;
    if (w->until - w->shift < hi)
        hi = w->until - w->shift;
    if (w->span->from - w->shift > lo)
        lo = w->span->from - w->shift;
    walk_path(tx, w, b, lo, hi);
}

/* Visits the record of a session; `number` is that of its first event. Returns the number after its
 * last event. */
static int64_t walk_record(txn *tx, adk_walk *w, const session_full *s, int64_t number)
{
    note_list notes;
    record_parts parts;
    branch_row b;
    notes_of(tx, s->tree, s->no, &notes);
    record_parts_of(tx, &s->access, RAMET_LOG_ADK, &notes, &parts);
    for (size_t i = 0; i < parts.n; i++) {
        const record_part *p = &parts.items[i];
        int64_t at = number + p->rec, lo = KEY_POS(p->key);
        if (w->stopped || at + p->n <= w->span->from || at >= w->until)
            continue;
        if (!branch_load(tx, s->tree, KEY_BRANCH(p->key), &b)) {
            db_fail(tx->db, RAMET_DAMAGED, "the record of session %s is damaged", s->id);
            return number;
        }
        walk_part(tx, w, &b, lo, lo + p->n, at);
    }
    return number + parts.total;
}

/* Sets *length to the number of events. */
static ramet_status span_run(txn *tx, const char *session, adk_walk *w, int64_t *length)
{
    session_full s;
    branch_row b;
    ramet_adk_span *span = w->span;
    TRY(session_open(tx, session, NEED_CHANGE, &s));
    w->session = s.no;
    *length = 0;
    if (span->effective) {
        if (!span->branch && !s.adk)
            return RAMET_OK;
        TRY(branch_open(tx, &s.brief, RAMET_LOG_ADK, span->branch, &b));
        span->branch = b.meta.id;
        *length = b.len;
        walk_part(tx, w, &b, 0, b.len, 0);
        return txn_status(tx);
    }
    if (s.first_adk && branch_load(tx, s.tree, s.first_adk, &b)) {
        walk_part(tx, w, &b, 0, b.meta.base, 0);
        *length = b.meta.base;
    }
    w->markers = true;
    *length = walk_record(tx, w, &s, *length);
    return txn_status(tx);
}

ramet_status ramet_adk_span_each(ramet_call *c, const char *session, ramet_adk_span *span,
                                 ramet_each each, void *arg)
{
    txn tx;
    int64_t length = 0;
    adk_walk w = {
        .each = each, .arg = arg, .span = span, .until = span->until ? span->until : INT64_MAX};
    if (!txn_read(&tx, c))
        return c->err.status;
    w.page = arena_new();
    ramet_status st = txn_done(&tx, span_run(&tx, session, &w, &length));
    arena_free(w.page);
    if (st == RAMET_OK && !span->until)
        span->until = length;
    return st;
}

ramet_status ramet_adk_each(ramet_call *c, const char *session, bool effective, ramet_each each,
                            void *arg)
{
    ramet_adk_span all = {.effective = effective};
    return ramet_adk_span_each(c, session, &all, each, arg);
}

/* -------------------------------------------------------------------- state */

/* The newest values of the keys that do not belong to a session. */
typedef struct shared_keys {
    arena *arena;
    const char *json; /* an object */
} shared_keys;

static bool shared_take(void *arg, const ramet_entry *e, bool own)
{
    shared_keys *k = arg;
    json_doc old, d;
    buf b;
    json_writer w;
    (void)own;
    if (!e->state_delta || !(strstr(e->state_delta, "\"app:") || strstr(e->state_delta, "\"user:")))
        return true;
    if (!json_parse(k->arena, e->state_delta, strlen(e->state_delta), STORED_DEPTH, &d, NULL) ||
        !json_parse(k->arena, k->json, strlen(k->json), STORED_DEPTH, &old, NULL))
        return true;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    const json_node *v;
    for (const json_node *n = json_first(&old, &old.nodes[0]); n;
         n = json_next(&old, &old.nodes[0], v)) {
        v = json_next(&old, &old.nodes[0], n);
        if (!json_get(&d, &d.nodes[0], json_text(k->arena, &old, n)))
            jw_kraw(&w, json_text(k->arena, &old, n), json_raw(k->arena, &old, v));
    }
    for (const json_node *n = json_first(&d, &d.nodes[0]); n; n = json_next(&d, &d.nodes[0], v)) {
        v = json_next(&d, &d.nodes[0], n);
        if (is_shared_key(json_text(k->arena, &d, n)) && !json_is(v, JSON_NULL))
            jw_kraw(&w, json_text(k->arena, &d, n), json_raw(k->arena, &d, v));
    }
    jw_end_object(&w);
    k->json = buf_keep(&b, k->arena);
    return true;
}

static ramet_status state_run(txn *tx, const char *session, const char **json)
{
    session_full s;
    branch_row b = {0};
    TRY(session_open(tx, session, NEED_CHANGE, &s));
    if (s.adk)
        branch_load(tx, s.tree, s.adk, &b);
    *json = state_on(tx, &b);
    return txn_status(tx);
}

/* Joins two objects: `own` without shared keys, then `shared`. */
static const char *state_join(arena *a, const char *own, const char *shared)
{
    json_doc d, t;
    buf b;
    json_writer w;
    const json_node *v;
    if (!json_parse(a, own, strlen(own), STORED_DEPTH, &d, NULL) ||
        !json_parse(a, shared, strlen(shared), STORED_DEPTH, &t, NULL))
        return own;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (const json_node *n = json_first(&d, &d.nodes[0]); n; n = json_next(&d, &d.nodes[0], v)) {
        v = json_next(&d, &d.nodes[0], n);
        if (!is_shared_key(json_text(a, &d, n)))
            jw_kraw(&w, json_text(a, &d, n), json_raw(a, &d, v));
    }
    for (const json_node *n = json_first(&t, &t.nodes[0]); n; n = json_next(&t, &t.nodes[0], v)) {
        v = json_next(&t, &t.nodes[0], n);
        jw_kraw(&w, json_text(a, &t, n), json_raw(a, &t, v));
    }
    jw_end_object(&w);
    return buf_keep(&b, a);
}

ramet_status ramet_adk_state(ramet_call *c, const char *session, const char **json)
{
    txn tx;
    shared_keys keys = {.arena = c->arena, .json = "{}"};
    *json = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    TRY(txn_done(&tx, state_run(&tx, session, json)));
    TRY(ramet_adk_each(c, session, false, shared_take, &keys));
    *json = state_join(c->arena, *json, keys.json);
    return RAMET_OK;
}
