/* SPDX-License-Identifier: Apache-2.0
 *
 * remote.c: runs of other nodes on the same database, as this node knows them.
 *
 * A node broadcasts the progress of its runs. Every other node mirrors them as runs of its own
 * (`is_remote`), which are in its table as if they ran there. So running turns, watchers and
 * requests that join are served without asking another node.
 */
/* clang-format off */
/*
 * Invariants
 *   F1  Messages about a run are queued under its lock, and received in that order.
 *   F2  `said` counts the bytes of all deltas of a run; it detects duplicates and gaps. A duplicate
 *       is dropped. After a gap, or for an unknown run, we request a snapshot from the node that owns
 *       the run, and merge it the same way. So nothing is published twice here, and no gap is passed
 *       over.
 *   F3  Entries are not sent: they are in the store, and are read from there for requests that
 *       joined.
 *   F4  If the end of a run is not received (its node died, a message was lost), it is found in the
 *       store.
 */
/* clang-format on */
#include "turns/turns_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE = 1000,
    SNAPSHOT_RETRY_MS = 1000, /* for one run */
    UNKNOWN_RETRY_MS = 50,    /* for all unknown runs together */
    FIND_MS = 3000,
    SILENT_S = 5
};

/* ------------------------------------------------------------------ sending */

static bool has_remote_followers(const run *r)
{
    return !r->is_remote && !r->is_past && !r->is_unrecorded && nodes_has_others(r->turns->nodes);
}

/* A message with the current position of the run; later deltas are counted from there. */
static node_message message_of(const run *r, node_message_kind kind)
{
    return (node_message){.kind = kind,
                          .turn = r->id,
                          .said = r->said - (int64_t)r->bytes_pending,
                          .begin = r->begin,
                          .upto = r->upto};
}

static const turn_question *question_of(const run *r)
{
    return r->question.id ? &r->question : NULL;
}

void remote_send_run(run *r)
{
    if (!has_remote_followers(r))
        return;
    node_message m = message_of(r, NODE_RUN);
    m.host = r->turns->host;
    m.session = r->session;
    m.tree = r->tree;
    m.branch = r->branch;
    m.entry_id = r->entry_id;
    m.agent = r->agent_name;
    m.group = r->group;
    m.first = r->first;
    m.begun_us = r->begun_us;
    m.question = question_of(r);
    m.plan = r->plan;
    m.n_parts = r->parts.n;
    m.parts = xcalloc(m.n_parts + 1, sizeof *m.parts);
    for (size_t i = 0; i < m.n_parts; i++)
        m.parts[i] = (node_part){.is_thinking = r->parts.items[i].is_thinking,
                                 .text = r->parts.items[i].text.data,
                                 .n = r->parts.items[i].text.n};
    nodes_send(r->turns->nodes, &m);
    free(m.parts);
}

void remote_send_delta(run *r, bool is_thinking, const char *text, size_t n)
{
    if (!has_remote_followers(r))
        return;
    node_message m = message_of(r, NODE_DELTA);
    m.at = r->said - (int64_t)n;
    m.delta = (node_part){.is_thinking = is_thinking, .text = text, .n = n};
    nodes_send(r->turns->nodes, &m);
}

void remote_send_appended(run *r)
{
    node_message m = message_of(r, NODE_APPENDED);
    if (has_remote_followers(r))
        nodes_send(r->turns->nodes, &m);
}

void remote_send_question(run *r)
{
    node_message m = message_of(r, NODE_QUESTION);
    m.question = question_of(r);
    if (has_remote_followers(r))
        nodes_send(r->turns->nodes, &m);
}

void remote_send_plan(run *r)
{
    node_message m = message_of(r, NODE_PLAN);
    m.plan = r->plan;
    if (has_remote_followers(r))
        nodes_send(r->turns->nodes, &m);
}

void remote_send_ended(run *r, const char *error)
{
    node_message m = message_of(r, NODE_ENDED);
    m.status = r->status;
    m.error = error;
    m.ended_us = r->ended_us;
    if (has_remote_followers(r))
        nodes_send(r->turns->nodes, &m);
}

static void snapshot_request(turns *t, const char *id)
{
    nodes_send(t->nodes, &(node_message){.kind = NODE_SNAPSHOT_REQUEST, .turn = id});
}

/* Requests a snapshot again, at most once in a while. Caller holds the lock. */
static void snapshot_request_again(run *r)
{
    int64_t now = time_mono_us();
    if (r->snapshot_requested && now - r->snapshot_requested < SNAPSHOT_RETRY_MS * INT64_C(1000))
        return;
    r->snapshot_requested = now;
    snapshot_request(r->turns, r->id);
}

/* ------------------------------------------------------------------ following */

static run *remote_make(turns *t, const node_message *m)
{
    run *r = run_alloc(t, m->session);
    snprintf(r->id, sizeof r->id, "%s", m->turn);
    r->is_remote = true;
    r->tree = arena_strdup(r->mem, m->tree ? m->tree : "");
    r->agent_name = arena_strdup(r->mem, m->agent ? m->agent : "");
    r->group = arena_strdup(r->mem, m->group);
    r->entry_id = arena_strdup(r->mem, m->entry_id);
    r->branch = m->branch;
    r->begun_us = m->begun_us;
    r->first = r->entries_upto = m->first;
    r->said = m->said;
    r->chars = r->begin = m->begin;
    run_move(r, RUN_RUNNING);
    return r;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* Caller holds the lock, here and in the other *_take() functions. */
static void plan_take(run *r, const char *plan)
{
    if (is_same(r->plan, plan))
        return;
    free(r->plan);
    r->plan = xstrdup(plan);
    if (plan)
        publish_plan(r);
}

static void question_take(run *r, const turn_question *q)
{
    const turn_question *have = question_of(r);
    bool same = have && q ? is_same(have->id, q->id) && is_same(have->kind, q->kind) &&
                                is_same(have->text, q->text) && is_same(have->options, q->options)
                          : !have && !q;
    if (same)
        return;
    run_question_set(r, q);
    if (q)
        publish_question(r);
}

/* Over the limit of this node, ignore the text: the entry will have it. */
static void delta_take(run *r, bool is_thinking, const char *text, size_t n, bool is_published)
{
    r->deltas_ignored =
        r->deltas_ignored || r->bytes_pending + n > (size_t)r->turns->cfg->answer_max;
    if (r->deltas_ignored || !n)
        return;
    if (is_published)
        run_delta_add(r, is_thinking, text, n);
    else
        run_delta(r, is_thinking, text, n);
}

/* Takes the pending parts of a snapshot, and publishes only those not published before (F2). */
static void parts_take(run *r, const node_message *m)
{
    int64_t had = r->said;
    run_pending_clear(r);
    r->deltas_ignored = false;
    r->said = m->said;
    r->chars = r->begin = m->begin;
    for (size_t i = 0; i < m->n_parts; i++) {
        const node_part *p = &m->parts[i];
        size_t known = had <= r->said                  ? 0
                       : had - r->said < (int64_t)p->n ? (size_t)(had - r->said)
                                                       : p->n;
        delta_take(r, p->is_thinking, p->text, known, true);
        delta_take(r, p->is_thinking, p->text + known, p->n - known, false);
    }
    r->snapshot_requested = 0;
}

static int64_t parts_until(const node_message *m)
{
    int64_t end = m->said;
    for (size_t i = 0; i < m->n_parts; i++)
        end += (int64_t)m->parts[i].n;
    return end;
}

static void run_receive(turns *t, const node_message *m, run *r)
{
    bool is_new = !r;
    if (is_new && (!m->session || !m->host))
        return;
    r = is_new ? remote_make(t, m) : r;
    pthread_mutex_lock(&r->lock);
    r->after = m->after;
    r->upto = m->upto;
    if (is_new)
        publish_started(r);
    plan_take(r, m->plan);
    /* A snapshot that another node requested may contain nothing new. */
    if (r->snapshot_requested || r->said - (int64_t)r->bytes_pending != m->said ||
        r->said < parts_until(m))
        parts_take(r, m);
    question_take(r, m->question);
    r->last_output_us = time_mono_us();
    pthread_mutex_unlock(&r->lock);
    if (is_new)
        run_add(r);
}

/* Caller holds the lock. */
static void delta_receive(const node_message *m, run *r)
{
    int64_t n = (int64_t)m->delta.n;
    if (m->at > r->said && !r->deltas_ignored) {
        snapshot_request_again(r);
        return;
    }
    if (m->at + n > r->said && m->at <= r->said) {
        int64_t known = r->said - m->at;
        delta_take(r, m->delta.is_thinking, m->delta.text + known, (size_t)(n - known), false);
    }
}

/* Pending output has become an entry. Caller holds the lock. */
static void progress_take(const node_message *m, run *r)
{
    run_pending_clear(r);
    r->said = m->said;
    r->chars = r->begin = m->begin;
    r->upto = m->upto;
    r->deltas_ignored = false;
    r->snapshot_requested = 0;
}

/* ------------------------------------------------------------------ entries */

/* Publishes the turn's entries in [from, to). Called without the lock, by one thread at a time. */
static ramet_status entries_read(run *r, ramet_call *c, int64_t from, int64_t to)
{
    while (from < to) {
        ramet_read_in in = {
            .limit = PAGE, .by_position = true, .branch = r->branch, .position = from};
        ramet_page page;
        ramet_status st = ramet_read(c, r->session, &in, &page);
        if (st != RAMET_OK || !page.n)
            return st;
        pthread_mutex_lock(&r->lock);
        for (size_t i = 0; i < page.n && page.entries[i].position < to; i++)
            if (page.entries[i].turn_id && strcmp(page.entries[i].turn_id, r->id) == 0)
                publish_entries(r, &(ramet_append_out){.entries = &page.entries[i], .n = 1});
        pthread_mutex_unlock(&r->lock);
        from = page.entries[page.n - 1].position + 1;
        ramet_call_reset(c);
    }
    return RAMET_OK;
}

/* Updates `entries` and publishes the new ones. Returns with the lock held. Entries that cannot be
 * read (the session was deleted) are left out. */
static void entries_follow(run *r)
{
    pthread_mutex_lock(&r->lock);
    for (;;) {
        while (r->writing)
            pthread_cond_wait(&r->wake, &r->lock);
        int64_t from = r->entries_upto, to = r->upto;
        if (from >= to)
            return;
        r->writing = true;
        pthread_mutex_unlock(&r->lock);
        ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
        entries_read(r, c, from, to);
        ramet_call_free(c);
        pthread_mutex_lock(&r->lock);
        r->entries_upto = to;
        r->writing = false;
        pthread_cond_broadcast(&r->wake);
    }
}

void remote_subscribe(run *r, subscriber *s, size_t index)
{
    if (r->is_remote)
        entries_follow(r);
    else
        pthread_mutex_lock(&r->lock);
    run_subscribe(r, s, index);
    pthread_mutex_unlock(&r->lock);
}

/* ------------------------------------------------------------------ ending */

static void remote_end(run *r, ramet_turn_status status, const char *error, int64_t ended_us)
{
    pthread_mutex_lock(&r->lock);
    bool is_followed = r->subscriptions != NULL;
    pthread_mutex_unlock(&r->lock);
    if (is_followed)
        entries_follow(r);
    else
        pthread_mutex_lock(&r->lock);
    if (!run_is_over(r)) { /* the message and the look-up may both find it */
        r->status = status;
        r->ended_us = ended_us;
        snprintf(r->error, sizeof r->error, "%s", error ? error : "");
        run_move(r, RUN_OVER);
        publish_ended(r, r->error);
    }
    pthread_mutex_unlock(&r->lock);
    run_remove(r);
}

/* See F4. */
static void end_look_up(run *r)
{
    ramet_turn *turn;
    ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
    ramet_status st = ramet_turn_get(c, r->session, r->id, &turn);
    bool gone = st == RAMET_SESSION_NOT_FOUND || st == RAMET_TURN_NOT_FOUND;
    if (gone || (st == RAMET_OK && turn->status != RAMET_TURN_RUNNING)) {
        int64_t newest = ramet_event_wait(r->turns->store, -1, 1);
        pthread_mutex_lock(&r->lock);
        r->after = newest;
        pthread_mutex_unlock(&r->lock);
        remote_end(r, gone ? RAMET_TURN_CANCELLED : turn->status, gone ? "" : turn->error,
                   gone ? 0 : turn->ended);
    }
    ramet_call_free(c);
}

void remote_check_silent(turns *t)
{
    size_t n;
    int64_t now = time_mono_us();
    run **list = runs_held(t, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        run *r = list[i];
        pthread_mutex_lock(&r->lock);
        bool silent = r->is_remote && !run_is_over(r) &&
                      now - r->last_output_us > SILENT_S * INT64_C(1000000);
        if (silent && r->snapshot_requested)
            snapshot_request_again(r);
        pthread_mutex_unlock(&r->lock);
        if (silent)
            end_look_up(r);
    }
    runs_put(list, n);
}

/* ------------------------------------------------------------------ receiving */

static void progress_receive(const node_message *m, run *r)
{
    bool appended = m->kind == NODE_APPENDED, ended = m->kind == NODE_ENDED;
    pthread_mutex_lock(&r->lock);
    r->after = m->after;
    r->last_output_us = time_mono_us();
    if (appended || ended)
        progress_take(m, r);
    else if (m->kind == NODE_DELTA)
        delta_receive(m, r);
    else if (m->kind == NODE_QUESTION)
        question_take(r, m->question);
    else
        plan_take(r, m->plan);
    bool is_followed = r->subscriptions != NULL;
    pthread_mutex_unlock(&r->lock);
    if (ended) {
        remote_end(r, m->status, m->error, m->ended_us);
    } else if (appended && is_followed) {
        entries_follow(r);
        pthread_mutex_unlock(&r->lock);
    }
}

/* Called when another node has missed something about a run. */
static void snapshot_send(run *r)
{
    pthread_mutex_lock(&r->lock);
    if (!run_is_over(r))
        remote_send_run(r);
    pthread_mutex_unlock(&r->lock);
}

void remote_receive(turns *t, const node_message *m)
{
    run *r = run_find(t, NULL, m->turn);
    if (m->kind == NODE_SNAPSHOT_REQUEST) {
        if (r && !r->is_remote)
            snapshot_send(r);
    } else if (m->kind == NODE_RUN) {
        if (!r || r->is_remote)
            run_receive(t, m, r);
    } else if (r && r->is_remote) {
        progress_receive(m, r);
    } else if (!r && m->kind != NODE_ENDED &&
               time_mono_us() - t->snapshot_requested > UNKNOWN_RETRY_MS * INT64_C(1000)) {
        t->snapshot_requested = time_mono_us();
        snapshot_request(t, m->turn);
    }
    if (r)
        run_put(r);
}

run *remote_find(turns *t, const char *session, const char *id)
{
    int64_t until = time_mono_us() + FIND_MS * INT64_C(1000);
    run *r = run_find(t, session, id);
    if (r || !t->nodes)
        return r;
    snapshot_request(t, id);
    while (!r && time_mono_us() < until && turns_wait(t, 20))
        r = run_find(t, session, id);
    return r;
}
