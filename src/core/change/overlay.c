/* SPDX-License-Identifier: Apache-2.0
 *
 * Setting, removing and listing overlays.
 *
 * A change writes one row, whose set is that of the head with this change (O2 in overlay_set.c),
 * and moves the head to a new, empty branch at its end that carries the row's number. So the
 * history stays as it is, and everything that holds for moves holds for overlays.
 *
 * `ties` of a hide is what belongs to its entry: {"also": [keys of entries], "calls": [tool ids]}.
 * The references to one tool id fall into groups along a path, each a run of calls and the results
 * behind them; entries that have a part in one group are hidden together. `also` has those that
 * were there when the overlay was set. A result that comes later is recognised by `calls` when it
 * is read (context.c).
 */
#include "core/change/overlay.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/entry.h"
#include "core/change/move.h"
#include "core/view/overlay_set.h"
#include "core/model/path.h"
#include "core/turn/turn.h"
#include "core/turn/turn_idle.h"

#include <stdlib.h>

#define TIE_WINDOW 2000 /* entries looked at to either side for calls and results */

/* --------------------------------------------------------------------- ties */

typedef struct tie_ref {
    size_t entry; /* index */
    const char *id;
    bool result;
    size_t group;
} tie_ref;

typedef struct tie_entry {
    int64_t key;
    bool hidden;
} tie_entry;

typedef struct tie_scan {
    arena *keep, *scratch;
    int64_t seen;
    VEC(tie_entry) entries; /* those with calls or results */
    VEC(tie_ref) refs;      /* in order of the path */
} tie_scan;

static bool tie_take(void *arg, ramet_entry *e)
{
    tie_scan *s = arg;
    tool_ref *refs = NULL;
    size_t n = entry_tools(s->scratch, e->parts, &refs);
    for (size_t i = 0; i < n; i++) {
        tie_ref r = {s->entries.n, arena_strdup(s->keep, refs[i].id), refs[i].result, 0};
        VEC_PUSH(s->keep, &s->refs, r);
    }
    if (n) {
        tie_entry t = {KEY(e->branch, e->position), false};
        VEC_PUSH(s->keep, &s->entries, t);
    }
    s->seen = e->position;
    return arena_used(s->scratch) < PAGE_BYTES;
}

/* In steps, so that large entries do not pile up. */
static void tie_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, tie_scan *s)
{
    while (lo < hi && db_status(tx->db) == RAMET_OK) {
        s->seen = lo - 1;
        path_read(tx, head, lo, hi, s->scratch, tie_take, s);
        arena_reset(s->scratch);
        lo = s->seen + 1;
    }
}

/* The last group of each id, by open addressing. */
typedef struct tie_last {
    const char *id; /* NULL: free */
    size_t group;
    bool answered; /* a result was seen: the next call begins another group */
} tie_last;

/* Numbers the groups; how many there are. */
static size_t tie_group(tie_scan *s)
{
    size_t slots = 8, n = 0;
    while (slots < 2 * s->refs.n)
        slots *= 2;
    tie_last *last = arena_array(s->keep, slots, sizeof *last);
    for (size_t i = 0; i < s->refs.n; i++) {
        tie_ref *r = &s->refs.items[i];
        size_t at = hash_text(r->id) & (slots - 1);
        while (last[at].id && strcmp(last[at].id, r->id) != 0)
            at = (at + 1) & (slots - 1);
        if (!last[at].id || (!r->result && last[at].answered))
            last[at] = (tie_last){.id = r->id, .group = n++};
        last[at].answered = last[at].answered || r->result;
        r->group = last[at].group;
    }
    return n;
}

/* An entry of a group that has a hidden one is hidden, and so are all groups that it is in. */
static void tie_spread(tie_scan *s, size_t n_groups)
{
    bool *hidden = arena_array(s->keep, n_groups, sizeof *hidden);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < s->refs.n; i++) {
            const tie_ref *r = &s->refs.items[i];
            bool *entry = &s->entries.items[r->entry].hidden, either = *entry || hidden[r->group];
            changed = changed || *entry != either || hidden[r->group] != either;
            *entry = hidden[r->group] = either;
        }
    }
}

static const char *ties_write(arena *a, const tie_scan *s, int64_t k)
{
    buf out;
    json_writer w;
    buf_init(&out, (size_t)1 << 30);
    jw_init(&w, &out, 0);
    jw_object(&w);
    jw_key(&w, "also");
    jw_array(&w);
    for (size_t i = 0; i < s->entries.n; i++)
        if (s->entries.items[i].hidden && s->entries.items[i].key != k)
            jw_int(&w, s->entries.items[i].key);
    jw_end_array(&w);
    jw_key(&w, "calls");
    jw_array(&w);
    for (size_t i = 0; i < s->refs.n; i++)
        if (!s->refs.items[i].result && s->entries.items[s->refs.items[i].entry].hidden)
            jw_str(&w, s->refs.items[i].id);
    jw_end_array(&w);
    jw_end_object(&w);
    const char *text = arena_memdup(a, out.data, out.n);
    buf_release(&out);
    return text;
}

/* What belongs to the entry at `pos`; NULL: nothing does. */
static const char *ties_find(txn *tx, const branch_row *head, int64_t pos, int64_t k)
{
    tie_scan s = {.keep = arena_new(), .scratch = arena_new()};
    const char *text = NULL;
    tie_read(tx, head, pos, pos + 1, &s);
    if (s.entries.n) {
        int64_t lo = pos > TIE_WINDOW ? pos - TIE_WINDOW : 0;
        int64_t hi = head->len - pos > TIE_WINDOW ? pos + 1 + TIE_WINDOW : head->len;
        memset(&s.entries, 0, sizeof s.entries);
        memset(&s.refs, 0, sizeof s.refs);
        tie_read(tx, head, lo, hi, &s);
        for (size_t i = 0; i < s.entries.n; i++)
            s.entries.items[i].hidden = s.entries.items[i].key == k;
        tie_spread(&s, tie_group(&s));
        text = ties_write(tx->arena, &s, k);
    }
    arena_free(s.keep);
    arena_free(s.scratch);
    return text;
}

/* --------------------------------------------------------------------- rows */

static bool row_load(txn *tx, int64_t tree, int64_t no, overlay_row *r)
{
    db_stmt *q = db_query(tx->db, Q_overlay_get);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    bool found = q_row(q), sane = found && overlay_row_from(tx, q, tree, r);
    q_end(q);
    if (!found)
        db_fail(tx->db, RAMET_DAMAGED, "overlay o%lld is missing", (long long)no);
    return sane;
}

/* The highest number of a tree; 0: there is none. */
static int64_t number_last(txn *tx, int64_t tree)
{
    db_stmt *q = db_query(tx->db, Q_overlay_last);
    q_int(q, 1, tree);
    int64_t last = q_row(q) ? col_last(q, 0, "overlay.no") : 0;
    q_end(q);
    return last;
}

static void row_insert(txn *tx, int64_t tree, overlay_row *row)
{
    row->seal = overlay_seal(tx->call->hasher, tree, row);
    db_stmt *q = db_query(tx->db, Q_overlay_add);
    q_int(q, 1, tree);
    q_int(q, 2, row->no);
    q_int(q, 3, row->prev);
    q_int(q, 4, row->prev2);
    q_int(q, 5, row->size);
    q_int(q, 6, row->bytes);
    q_int(q, 7, row->action);
    q_int(q, 8, row->key);
    q_int(q, 9, row->removes);
    q_text(q, 10, row->text);
    q_text(q, 11, row->ties);
    q_text(q, 12, row->who);
    q_int(q, 13, row->at);
    q_int(q, 14, row->seal);
    q_run(q);
}

/* The highest number must not come back (O1): its row leaves an empty one behind. */
void overlays_prune(txn *tx, int64_t tree)
{
    int64_t last = number_last(tx, tree);
    if (!last)
        return;
    db_stmt *q = db_query(tx->db, Q_overlay_prune);
    q_int(q, 1, tree);
    q_run(q);
    if (number_last(tx, tree) != last)
        row_insert(tx, tree, &(overlay_row){.no = last, .size = 1, .action = OVERLAY_REMOVE});
}

/* Completes and writes a row behind row->prev and row->prev2. */
static ramet_status row_add(txn *tx, int64_t tree, overlay_row *row)
{
    overlay_row before[2] = {{0}, {0}};
    if ((row->prev && !row_load(tx, tree, row->prev, &before[0])) ||
        (row->prev2 && !row_load(tx, tree, row->prev2, &before[1])))
        return txn_status(tx);
    row->size = 1 + before[0].size + before[1].size;
    row->bytes = (row->text ? (int64_t)strlen(row->text) : 0) +
                 (row->ties ? (int64_t)strlen(row->ties) : 0) + before[0].bytes + before[1].bytes;
    if (row->size > OVERLAY_SIZE_MAX)
        return call_fail(tx->call, RAMET_TOO_LARGE, "entry_id",
                         "the overlays of this path were changed %d times, which is the limit; "
                         "rewind to before some of them, or fork from there",
                         OVERLAY_SIZE_MAX);
    if (row->bytes > OVERLAY_BYTES_MAX)
        return call_fail(tx->call, RAMET_TOO_LARGE, "text",
                         "the overlays of this path would hold %lld bytes of text, at most %lld "
                         "are possible",
                         (long long)row->bytes, (long long)OVERLAY_BYTES_MAX);
    row->no = number_last(tx, tree) + 1;
    row->who = tx->call->user;
    row->at = tx->now;
    row_insert(tx, tree, row);
    return txn_status(tx);
}

ramet_status overlay_union(txn *tx, int64_t tree, int64_t first, int64_t second, int64_t *out)
{
    *out = first ? first : second;
    if (!first || !second || first == second)
        return RAMET_OK;
    overlay_row row = {.action = OVERLAY_UNION, .prev = first, .prev2 = second};
    TRY(row_add(tx, tree, &row));
    *out = row.no;
    return RAMET_OK;
}

/* ------------------------------------------------------------------- moving */

typedef struct overlay_job {
    const char *session;
    const ramet_overlay_in *in; /* NULL: `removes` */
    int64_t removes;
    const char *reason;
    uint8_t expected[HASH_LEN];
    bool given;
    bool when_idle;
    ramet_overlay_out *out;
} overlay_job;

static ramet_status set_row(txn *tx, const overlay_job *j, const branch_row *head, overlay_row *row)
{
    int64_t pos = path_find(tx, head, j->in->entry_id, &row->key);
    TRY(txn_status(tx));
    if (pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                         "entry %s is not on this path", j->in->entry_id);
    row->action = (overlay_action)j->in->action;
    row->text = j->in->text;
    if (row->action == OVERLAY_HIDE)
        row->ties = ties_find(tx, head, pos, row->key);
    return txn_status(tx);
}

static ramet_status remove_row(txn *tx, const overlay_job *j, const branch_row *head,
                               overlay_row *row)
{
    overlay_set *set = overlay_set_get(tx, head->meta.tree, head->overlay);
    const overlay_item *items;
    size_t n = set ? overlay_set_items(set, &items) : 0;
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found = found || items[i].no == j->removes;
    overlay_set_put(set);
    TRY(txn_status(tx));
    if (!found)
        return j->removes == INT64_MAX
                   ? call_fail(tx->call, RAMET_OVERLAY_NOT_FOUND, "overlay",
                               "there is no such overlay in force on the head")
                   : call_fail(tx->call, RAMET_OVERLAY_NOT_FOUND, "overlay",
                               "overlay o%lld is not in force on the head", (long long)j->removes);
    row->action = OVERLAY_REMOVE;
    row->removes = j->removes;
    return RAMET_OK;
}

static ramet_status overlay_run(txn *tx, void *arg)
{
    overlay_job *j = arg;
    session_full s;
    branch_row head, to;
    cut_result cut;
    ramet_at end = {0}, adk_end = {0};
    TRY(session_open_head(tx, j->session, NEED_WRITE, &s, &head));
    TRY(head_check(tx, &head, j->expected, j->given));
    /* A set must not change under a turn: its agent was given the one before. */
    TRY(turn_none_on(tx, &s.brief));
    overlay_row row = {.prev = head.overlay};
    TRY(j->in ? set_row(tx, j, &head, &row) : remove_row(tx, j, &head, &row));
    TRY(cut_both(tx, &s, &head, &end, &adk_end, RAMET_CUT_EXACT, &cut));
    TRY(row_add(tx, s.tree, &row));
    head.overlay = row.no;
    move_to_cut(tx, &s, &head, &cut, RAMET_EXPLICIT, RAMET_MOVE_OVERLAY, j->reason, &to);
    ANSWER(tx, j->out);
    *j->out = (ramet_overlay_out){.id = j->in ? row.no : j->removes};
    head_fill(tx, &to, &j->out->head);
    return txn_status(tx);
}

static ramet_status overlay_attempt(ramet_call *c, void *arg)
{
    return txn_write(c, overlay_run, arg);
}

static ramet_status overlay_do(ramet_call *c, overlay_job *j, const char *expected)
{
    TRY(check_chars(c, "reason", j->reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    TRY(check_hash(c, expected, j->expected, &j->given));
    ramet_status st = turn_idle_write(c, j->when_idle, overlay_attempt, j);
    if (st != RAMET_OK)
        *j->out = (ramet_overlay_out){0};
    return st;
}

static ramet_status text_check(ramet_call *c, const ramet_overlay_in *in)
{
    bool replaces = in->action == RAMET_OVERLAY_REPLACE;
    if (replaces != (in->text != NULL))
        return call_fail(c, RAMET_INVALID, "text",
                         replaces ? "replace needs the text that the entry says instead"
                                  : "only replace has a text");
    if (!in->text)
        return RAMET_OK;
    if (strlen(in->text) > OVERLAY_TEXT_MAX)
        return call_fail(c, RAMET_TOO_LARGE, "text",
                         "the text has %zu bytes, at most %zu are possible", strlen(in->text),
                         OVERLAY_TEXT_MAX);
    return check_utf8(c, "text", in->text);
}

ramet_status ramet_overlay_set(ramet_call *c, const char *session, const ramet_overlay_in *in,
                               ramet_overlay_out *out)
{
    overlay_job j = {
        .session = session, .in = in, .reason = in->reason, .when_idle = in->when_idle, .out = out};
    *out = (ramet_overlay_out){0};
    TRY(check_id(c, "entry_id", in->entry_id));
    if (in->action < RAMET_OVERLAY_HIDE || in->action > RAMET_OVERLAY_HIDE_BEFORE)
        return call_fail(c, RAMET_INVALID, "action",
                         "the action must be hide, replace or hide_before");
    TRY(text_check(c, in));
    return overlay_do(c, &j, in->expected_head);
}

ramet_status ramet_overlay_remove(ramet_call *c, const char *session, int64_t overlay,
                                  const char *reason, const char *expected_head, bool when_idle,
                                  ramet_overlay_out *out)
{
    overlay_job j = {.session = session,
                     .removes = overlay,
                     .reason = reason,
                     .when_idle = when_idle,
                     .out = out};
    *out = (ramet_overlay_out){0};
    return overlay_do(c, &j, expected_head);
}

/* ------------------------------------------------------------------ listing */

static int by_position(const void *a, const void *b)
{
    const ramet_overlay *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static ramet_status list_run(txn *tx, const char *session, int64_t branch, ramet_overlay **out,
                             size_t *n)
{
    session_full s;
    branch_row b;
    VEC(ramet_overlay) v = {0};
    const overlay_item *items;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, branch, &b));
    bool linked = share_only(tx, &s.access);
    overlay_set *set = overlay_set_fresh(tx, s.tree, b.overlay);
    size_t n_items = set ? overlay_set_items(set, &items) : 0;
    for (size_t i = 0; i < n_items && db_status(tx->db) == RAMET_OK; i++) {
        branch_meta o;
        int64_t pos = KEY_POS(items[i].key);
        if (pos >= b.len || !path_owner(tx, &b.meta, pos, &o) || o.id != KEY_BRANCH(items[i].key))
            continue;
        ramet_overlay one = {.id = items[i].no,
                             .entry_id = path_entry_id(tx, &b, pos),
                             .position = pos,
                             .action = (ramet_overlay_action)items[i].action,
                             .text = arena_strdup(tx->arena, items[i].text),
                             .who = linked ? NULL : arena_strdup(tx->arena, items[i].who),
                             .at = items[i].at};
        VEC_PUSH(tx->arena, &v, one);
    }
    overlay_set_put(set);
    if (v.n)
        qsort(v.items, v.n, sizeof *v.items, by_position);
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_overlays(ramet_call *c, const char *session, int64_t branch, ramet_overlay **out,
                            size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, list_run(&tx, session, branch, out, n));
    if (st != RAMET_OK) {
        *out = NULL;
        *n = 0;
    }
    return st;
}
