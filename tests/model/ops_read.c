/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_read.c: reads of one session's history: pages, streams, the record, versions, state.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* The session that a read is about, and objections to reading its log. */
static m_set read_open(world *w, const char *id, ramet_log log, m_session **s)
{
    m_set bad = m_open(&w->m, w->user, id, log ? RAMET_WRITER : RAMET_READER, s);
    return bad;
}

static m_set limit_check(int limit, int most)
{
    return limit < 0 || limit > most ? M(INVALID) : 0;
}

void run_get(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_session *got = NULL;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_session_get(w->call, id, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    same_session(w, got, s, w->user, false);
    int64_t favourite = 0;
    for (size_t i = 0; i < s->branches.n; i++) {
        const m_branch *b = s->branches.items[i];
        favourite = b->favourite && !b->pruned ? b->id : favourite;
    }
    same_int(w, "session.favourite", got->favourite, favourite);
}

/* ------------------------------------------------------------------- pages */

static bool in_channel(const m_entry *e, const char *channel)
{
    return !channel || strcmp(e->channel, channel) == 0;
}

/* What a page of [lo, hi) of the path must hold. */
static void page_want(const m_branch *b, const ramet_read_in *in, size_t lo, size_t hi,
                      m_list *want)
{
    size_t limit = in->limit ? (size_t)in->limit : 50;
    for (size_t i = lo; b && i < hi; i++)
        if (in_channel(b->path[i], in->channel))
            m_list_add(want, b->path[i]);
    if (want->n <= limit)
        return;
    if (in->tail)
        memmove(want->items, want->items + want->n - limit, limit * sizeof *want->items);
    want->n = limit;
}

static void page_compare(world *w, const ramet_page *got, const ramet_read_in *in,
                         const m_session *s, const m_branch *b, const m_list *want)
{
    same_int(w, "page.n", (int64_t)got->n, (int64_t)want->n);
    for (size_t i = 0; i < got->n && i < want->n; i++)
        same_entry(w, &got->entries[i], want->items[i], s, b, in->versions);
    same_head(w, "page.head", &got->head, b);
    if (!want->n || !b)
        return;
    const m_entry *first = want->items[0], *last = want->items[want->n - 1];
    bool before = false, after = false;
    for (size_t i = 0; i < b->n; i++) {
        before |= in_channel(b->path[i], in->channel) && (int64_t)i < first->position;
        after |= in_channel(b->path[i], in->channel) && (int64_t)i > last->position;
    }
    same_int(w, "page.more_before", got->more_before, before);
    same_int(w, "page.more_after", got->more_after, after);
}

static void page_read(world *w, const char *id, const ramet_read_in *in)
{
    m_session *s;
    m_list want = {0};
    m_branch *b = NULL;
    ramet_page got = {0};
    size_t lo = 0, hi = 0;
    m_set bad = read_open(w, id, in->log, &s);
    if (s) {
        b = m_branch_find(s, in->log, in->branch);
        if (!b && in->branch)
            bad |= m_branch_missing(s, in->log, in->branch);
        hi = b ? b->n : 0;
        const m_entry *after = in->after ? m_branch_entry(b, in->after) : NULL;
        const m_entry *before = in->before ? m_branch_entry(b, in->before) : NULL;
        if ((in->after && !after) || (in->before && !before))
            bad |= M(ENTRY_NOT_FOUND);
        lo = after ? (size_t)after->position + 1 : in->by_position ? (size_t)in->position : 0;
        hi = before ? (size_t)before->position : hi;
    }
    bad |= limit_check(in->limit, 1000);
    ramet_status st = ramet_read(w->call, id, in, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st == RAMET_OK && !world_failed(w)) {
        page_want(b, in, lo, hi, &want);
        page_compare(w, &got, in, s, b, &want);
    }
    free(want.items);
}

void run_read(world *w, const op *o)
{
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_log log = (ramet_log)o->a[A_LOG];
    int64_t branch = branch_ref(w, s, log, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, log, branch) : NULL;
    ramet_read_in in = {.limit = limit_ref(o->a[A_LIM]),
                        .after = entry_ref(w, s, b, o->a[A_AFTER]),
                        .before = entry_ref(w, s, b, o->a[A_BEFORE]),
                        .tail = o->a[A_TAIL],
                        .by_position = o->a[A_POS] > 0 && !o->a[A_AFTER],
                        .position = o->a[A_POS] ? o->a[A_POS] - 1 : 0,
                        .channel = content_channel(o->a[A_CH]),
                        .branch = branch,
                        .log = log,
                        .versions = o->a[A_VER] && !log};
    page_read(w, slot_id(w, o->a[A_S]), &in);
}

void run_entry(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    const char *at = entry_named(w, s, b, o->a[A_AT]);
    const m_entry *e = m_branch_entry(b, at);
    ramet_entry *got = NULL;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    if (s && !e)
        bad |= b ? M(ENTRY_NOT_FOUND) : m_branch_missing(s, RAMET_LOG_MAIN, branch);
    ramet_status st = ramet_entry_get(w->call, id, branch, at, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st == RAMET_OK && !world_failed(w))
        same_entry(w, got, e, s, b, got->versions != 0);
}

/* ----------------------------------------------------------------- streams */

/* Takes up to n entries from the open stream. */
static void stream_take(world *w, size_t n)
{
    for (; n-- > 0 && w->stream && !world_failed(w);) {
        const ramet_entry *got = NULL;
        ramet_status st = ramet_stream_next(w->stream, &got);
        bool end = w->stream_at == w->stream_want.n;
        if (st || (got == NULL) != end) {
            world_fail(w, "stream.next", "%s, %s after %zu of %zu entries", ramet_status_code(st),
                       got ? "an entry" : "end", w->stream_at, w->stream_want.n);
        } else if (got) {
            same_entry(w, got, w->stream_want.items[w->stream_at++], w->stream_session,
                       w->stream_branch, false);
        }
        if (!got) {
            ramet_stream_close(w->stream);
            ramet_call_free(w->stream_call);
            w->stream = NULL;
        }
    }
}

static void stream_end(world *w)
{
    if (!w->stream)
        return;
    ramet_stream_close(w->stream);
    ramet_call_free(w->stream_call);
    w->stream = NULL;
}

void run_stream(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_log log = (ramet_log)o->a[A_LOG];
    int64_t branch = branch_ref(w, s, log, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, log, branch) : NULL;
    bool keep_open = o->a[A_K] & 1 && o->a[A_K] > 8;
    ramet_read_in in = {.channel = content_channel(o->a[A_CH]), .branch = branch, .log = log};
    stream_end(w);
    m_set bad = read_open(w, id, log, &s);
    if (s && !b && branch)
        bad |= m_branch_missing(s, log, branch);
    w->stream_call = ramet_call_new(w->r[0], w->user, w->client);
    ramet_status st = ramet_stream_open(w->stream_call, id, &in, &w->stream);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w)) {
        if (st == RAMET_OK)
            ramet_stream_close(w->stream);
        ramet_call_free(w->stream_call);
        w->stream = NULL;
        return;
    }
    same_int(w, "stream.length", ramet_stream_length(w->stream), b ? (int64_t)b->n : 0);
    w->stream_want.n = 0;
    for (size_t i = 0; b && i < b->n; i++)
        if (in_channel(b->path[i], in.channel))
            m_list_add(&w->stream_want, b->path[i]);
    w->stream_session = s;
    w->stream_branch = b;
    w->stream_at = 0;
    stream_take(w, keep_open ? (size_t)o->a[A_K] / 4 : SIZE_MAX);
}

void run_stream_next(world *w, const op *o)
{
    stream_take(w, (size_t)o->a[A_K] + 1);
}

/* ------------------------------------------------------------------ record */

static void record_read(world *w, const char *id, ramet_log log, int64_t from, int limit)
{
    m_session *s;
    ramet_page got = {0};
    int64_t total = -1;
    m_set bad = read_open(w, id, log, &s);
    bad |= limit_check(limit, 1000);
    ramet_status st = ramet_record(w->call, id, log, from, limit, &got, &total);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    m_list shown = {0};
    for (size_t i = 0; i < s->record[log].n; i++)
        if (!m_hidden(s->record[log].items[i]))
            m_list_add(&shown, s->record[log].items[i]);
    int64_t n = (int64_t)shown.n, most = limit ? limit : 50;
    int64_t want = n > from ? n - from : 0;
    want = want > most ? most : want;
    same_int(w, "record.total", total, n);
    same_int(w, "record.n", (int64_t)got.n, want);
    for (int64_t i = 0; i < want && i < (int64_t)got.n; i++) {
        const m_entry *e = shown.items[from + i];
        same_entry(w, &got.entries[i], e, s, e->owner, false);
    }
    free(shown.items);
    if (!want)
        return;
    same_int(w, "record.more_before", got.more_before, from > 0);
    same_int(w, "record.more_after", got.more_after, from + want < n);
}

void run_record(world *w, const op *o)
{
    record_read(w, slot_id(w, o->a[A_S]), (ramet_log)o->a[A_LOG], o->a[A_POS],
                limit_ref(o->a[A_LIM]));
}

/* --------------------------------------------------------------- head log */

static int64_t branch_length(const m_branch *b)
{
    return (int64_t)(b->removed ? b->left : b->n);
}

static void head_log_read(world *w, const char *id, int64_t before, int limit)
{
    m_session *s;
    ramet_move *got = NULL;
    size_t n = 0;
    bool more = false;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    bad |= limit_check(limit, 1000);
    ramet_status st = ramet_head_log(w->call, id, before, limit, &got, &n, &more);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    size_t from = before > 0 && (size_t)before - 1 < s->moves.n ? (size_t)before - 1 : s->moves.n;
    size_t most = limit ? (size_t)limit : 50, want = from < most ? from : most;
    same_int(w, "head_log.n", (int64_t)n, (int64_t)want);
    same_int(w, "head_log.more", more, from > want);
    for (size_t i = 0; i < n && i < want; i++) {
        const m_move *v = s->moves.items[from - 1 - i];
        same_int(w, "move.number", got[i].number, (int64_t)(from - i));
        same_int(w, "move.kind", (int64_t)got[i].kind, (int64_t)v->kind);
        same_int(w, "move.from", got[i].from, v->from->id);
        same_int(w, "move.to", got[i].to, v->to->id);
        same_int(w, "move.from_length", got[i].from_length, branch_length(v->from));
        same_int(w, "move.to_length", got[i].to_length, branch_length(v->to));
        same_text(w, "move.who", got[i].who, v->who);
        same_text(w, "move.reason", got[i].reason, v->reason);
    }
}

void run_head_log(world *w, const op *o)
{
    head_log_read(w, slot_id(w, o->a[A_S]), o->a[A_K], limit_ref(o->a[A_LIM]));
}

/* ---------------------------------------------------------------- versions */

void run_versions(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    const char *at = entry_named(w, s, b, o->a[A_AT]);
    const m_entry *e = m_branch_entry(b, at);
    ramet_version *got = NULL;
    size_t n = 0;
    m_list want = {0};
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    if (s && !e)
        bad |= b ? M(ENTRY_NOT_FOUND) : m_branch_missing(s, RAMET_LOG_MAIN, branch);
    ramet_status st = ramet_versions(w->call, id, branch, at, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st == RAMET_OK && !world_failed(w)) {
        m_branch_versions(s, b, (size_t)e->position, &want);
        same_int(w, "versions.n", (int64_t)n, (int64_t)want.n);
        for (size_t i = 0; i < n && i < want.n; i++) {
            const m_entry *v = want.items[i];
            size_t p = (size_t)v->position;
            same_text(w, "version.entry_id", got[i].entry_id, v->id);
            if (!OVER_WIRE)
                same_int(w, "version.owner", got[i].owner, v->owner->id);
            same_int(w, "version.branch", got[i].branch, m_version_branch(s, v)->id);
            same_int(w, "version.number", got[i].number, (int64_t)i + 1);
            same_int(w, "version.type", (int64_t)got[i].type, (int64_t)v->owner->type);
            same_int(w, "version.current", got[i].current, s->head->n > p && s->head->path[p] == v);
            same_time(w, "version.created", got[i].created, v->created);
            same_preview(w, "version.preview", got[i].preview,
                         m_entry_shown(m_version_branch(s, v), v)->text);
        }
    }
    free(want.items);
}

static void branches_read(world *w, const char *id)
{
    m_session *s;
    ramet_branch *got = NULL;
    size_t n = 0, k = 0;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_branches(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    for (size_t i = 0; st == RAMET_OK && i < s->branches.n && !world_failed(w); i++) {
        const m_branch *b = s->branches.items[i];
        if (b->log != RAMET_LOG_MAIN || b->pruned)
            continue;
        if (k == n) {
            world_fail(w, "branches.n", "only %zu", n);
            return;
        }
        same_int(w, "branch.id", got[k].id, b->id);
        same_int(w, "branch.parent", got[k].parent, b->parent ? b->parent->id : 0);
        same_int(w, "branch.base", got[k].base, b->base);
        same_int(w, "branch.length", got[k].length, (int64_t)b->n);
        same_int(w, "branch.type", (int64_t)got[k].type, (int64_t)b->type);
        same_int(w, "branch.current", got[k].current, b == s->head);
        same_text(w, "branch.name", got[k].name, b->name);
        same_int(w, "branch.favourite", got[k].favourite, b->favourite);
        same_text(w, "branch.tip_id", got[k].tip_id, b->n ? b->path[b->n - 1]->id : NULL);
        if ((size_t)b->base < b->n)
            same_preview(w, "branch.preview", got[k].preview, b->path[b->base]->text);
        k++;
    }
    if (st == RAMET_OK)
        same_int(w, "branches.n", (int64_t)n, (int64_t)k);
}

void run_branches(world *w, const op *o)
{
    branches_read(w, slot_id(w, o->a[A_S]));
}

/* ------------------------------------------------------------ state, usage */

static void state_read(world *w, const char *id, const char *at)
{
    m_session *s;
    const char *got = NULL;
    const m_entry *e = NULL;
    char want[800];
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    if (s && at) {
        e = m_branch_entry(s->head, at);
        bad |= e ? 0 : M(ENTRY_NOT_FOUND);
    }
    ramet_status st = ramet_state(w->call, id, at, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    m_path_state(s->head, e ? (size_t)e->position + 1 : s->head->n, s->adk, want, sizeof want);
    same_text(w, "state", got, want);
}

void run_state(world *w, const op *o)
{
    m_session *s = slot_session(w, o->a[A_S]);
    state_read(w, slot_id(w, o->a[A_S]), entry_ref(w, s, s ? s->head : NULL, o->a[A_AT]));
}

static void usage_read(world *w, const char *id)
{
    m_session *s;
    ramet_usage_out got = {0};
    m_sum own = {0}, path = {0}, tree = {0}, least = {0};
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_usage_get(w->call, id, &got);
    world_judge(w, st, bad ? bad : M(OK));
    if (st || world_failed(w))
        return;
    m_usage(&w->m, s, w->user, &own, &path, &tree, &least);
    same_sum(w, "own", &got.own, &own);
    same_sum(w, "path", &got.path, &path);
    same_sum(w, "tree", &got.tree, got.tree.entries == least.entries ? &least : &tree);
}

void run_usage(world *w, const op *o)
{
    usage_read(w, slot_id(w, o->a[A_S]));
}

/* ------------------------------------------------------------------- check */

void session_check(world *w, m_session *s)
{
    ramet_session *got = NULL;
    ramet_status st = ramet_session_get(w->call, s->id, &got);
    m_session *found = model_find(&w->m, s->id);
    if (found != s)
        return;
    world_judge(w, st, m_gone(&w->m, s) ? M(SESSION_NOT_FOUND) : M(OK));
    if (st || world_failed(w))
        return;
    same_session(w, got, s, NULL, false);
    for (size_t i = 0; i < s->branches.n && !world_failed(w); i++) {
        const m_branch *b = s->branches.items[i];
        ramet_read_in in = {.limit = 1000, .branch = b->id, .log = b->log, .versions = !b->log};
        if (b->id)
            page_read(w, s->id, &in);
    }
    for (int log = 0; log < 2; log++)
        record_read(w, s->id, (ramet_log)log, 0, 1000);
    head_log_read(w, s->id, 0, 1000);
    branches_read(w, s->id);
    state_read(w, s->id, NULL);
    usage_read(w, s->id);
    ramet_call_reset(w->call);
}
