/* SPDX-License-Identifier: Apache-2.0
 *
 * subscribers.c: publishes the events of a run to the requests that follow it and to the streams
 * that watch its session.
 *
 * A subscriber is one request. It may follow several runs (a fan-out) and has a subscription to
 * each. Its listener writes the bytes of its protocol; listeners without state share them.
 *
 * Invariants
 *   S1  Events of a run are published under the lock of the run, so each subscriber sees them in
 *       order.
 *   S2  A slow subscriber never delays a run. Its deltas stay in the run (`is_held`) and are sent
 *       as one event when it has caught up, or not at all: the entry that follows has their text.
 *   S3  All other events are sent at once. A subscriber that does not read them either is dropped
 *       by its stream.
 */
#include "turns/turns_internal.h"

#include "http/stream.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES ((size_t)256 << 20)

struct subscriber {
    pthread_mutex_t lock; /* guards the rest: runs of a fan-out publish concurrently */
    body_stream *stream;
    turn_listener listener;
    bool is_gone;            /* its stream accepts no more */
    atomic_bool is_finished; /* its listener wants no more events */
    size_t hold_bytes;       /* hold its deltas while more bytes than this wait in the stream */
    size_t runs_left;        /* freed when this reaches 0 */
};

/* ------------------------------------------------------------------ subscribers */

subscriber *subscriber_new(turns *t, request *q, size_t n_runs, const turn_listener *listener)
{
    subscriber *s = xcalloc(1, sizeof *s);
    size_t events = (size_t)(t->cfg->stream_bytes + 4 * t->cfg->answer_max);
    pthread_mutex_init(&s->lock, NULL);
    s->listener = *listener;
    s->runs_left = n_runs;
    s->hold_bytes = (size_t)t->cfg->stream_bytes / 2;
    buf_clear(&q->out);
    q->status = 200;
    q->type = listener->content_type;
    request_add_header(q, "X-Accel-Buffering", "no");
    s->stream = body_stream_new(q, listener->whole ? ANSWER_BYTES : events);
    return s;
}

/* Caller holds the subscriber's lock. */
static void subscriber_share(subscriber *s, shared_buf *bytes)
{
    s->is_gone = s->is_gone || !body_stream_share(s->stream, bytes);
}

static void subscriber_write(subscriber *s, const char *bytes, size_t n)
{
    shared_buf *b = shared_buf_new(bytes, n);
    subscriber_share(s, b);
    shared_buf_drop(b);
}

static void subscriber_send(subscriber *s, const turn_event *e, size_t index)
{
    turn_event own = *e;
    buf out;
    own.index = index;
    buf_init(&out, ANSWER_BYTES);
    pthread_mutex_lock(&s->lock);
    if (!s->is_finished) {
        s->is_finished = !s->listener.event(s->listener.arg, &own, &out);
        if (!out.over && out.n)
            subscriber_write(s, out.data, out.n);
    }
    pthread_mutex_unlock(&s->lock);
    buf_release(&out);
}

/* One of its runs has ended, or it has unsubscribed from it. */
static void subscriber_end(subscriber *s)
{
    pthread_mutex_lock(&s->lock);
    bool last = --s->runs_left == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    body_stream_end(s->stream);
    if (s->listener.release)
        s->listener.release(s->listener.arg);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ------------------------------------------------------------------ publishing */

static turn_event event_of(const run *r, turn_event_kind kind)
{
    return (turn_event){
        .kind = kind, .session = r->session, .tree = r->tree, .turn = r->id, .branch = r->branch};
}

static turn_event event_started(const run *r)
{
    turn_event e = event_of(r, TURN_STARTED);
    e.started.agent = r->agent_name;
    e.started.group = r->group;
    e.started.at = r->begun_us;
    return e;
}

static turn_event event_delta(const run *r, bool is_thinking, const char *text, size_t n,
                              int64_t offset, size_t part)
{
    turn_event e = event_of(r, is_thinking ? TURN_THINKING : TURN_DELTA);
    e.delta.text = text;
    e.delta.n = n;
    e.delta.offset = offset;
    e.delta.entry_id = r->entry_next;
    e.delta.part = part;
    return e;
}

static turn_event event_ended(const run *r, turn_event_kind kind, const char *error)
{
    turn_event e = event_of(r, kind);
    e.ended.status = r->status;
    e.ended.error = error;
    e.ended.at = r->ended_us;
    e.ended.entries = r->entries.items;
    e.ended.n = r->entries.n;
    return e;
}

static bool is_shared(const run *r, const subscriber *s)
{
    return !s->listener.arg && s->listener.event == r->turns->watch;
}

/* The bytes that watchers and subscribers without state share. NULL: not needed, or the protocol
 * has none for this event. */
static shared_buf *event_bytes(run *r, const turn_event *e, bool is_watched)
{
    const subscription *s = r->subscriptions;
    while (s && !is_shared(r, s->subscriber))
        s = s->next;
    if (!s && !is_watched)
        return NULL;
    buf_clear(&r->bytes);
    r->turns->watch(NULL, e, &r->bytes);
    return r->bytes.over || !r->bytes.n ? NULL : shared_buf_new(r->bytes.data, r->bytes.n);
}

static void subscription_send(const run *r, subscription *s, const turn_event *e, shared_buf *bytes)
{
    if (!is_shared(r, s->subscriber)) {
        subscriber_send(s->subscriber, e, s->index);
    } else if (bytes) {
        pthread_mutex_lock(&s->subscriber->lock);
        subscriber_share(s->subscriber, bytes);
        pthread_mutex_unlock(&s->subscriber->lock);
    }
}

/* Sends an event to the streams that watch the session. It goes through the queue to other nodes,
 * so that here and there it follows the same commits. */
static void watchers_send(run *r, const turn_event *e, const shared_buf *bytes)
{
    turns *t = r->turns;
    if (!bytes)
        return;
    ephemeral_event line = {.session = r->session,
                            .tree = r->tree,
                            .is_delta = e->kind == TURN_DELTA || e->kind == TURN_THINKING,
                            .bytes = bytes->bytes,
                            .n = bytes->n};
    if (t->nodes && !r->is_remote)
        nodes_publish(t->nodes, &line);
    else
        live_publish(t->live, r->is_remote ? r->after : -1, &line);
}

/* Ends the subscriptions whose listeners want no more events. */
static void subscriptions_sweep(run *r)
{
    for (subscription **at = &r->subscriptions; *at;) {
        subscription *s = *at;
        if (!s->subscriber->is_finished) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        subscriber_end(s->subscriber);
        free(s);
    }
}

static void publish(run *r, const turn_event *e, bool to_watchers)
{
    bool is_watched = to_watchers && !r->is_unrecorded && live_watched(r->turns->live);
    r->published = time_mono_us();
    shared_buf *bytes = event_bytes(r, e, is_watched);
    for (subscription *s = r->subscriptions; s; s = s->next)
        subscription_send(r, s, e, bytes);
    if (is_watched)
        watchers_send(r, e, bytes);
    shared_buf_drop(bytes);
    subscriptions_sweep(r);
}

void publish_started(run *r)
{
    turn_event e = event_started(r);
    publish(r, &e, true);
}

void publish_plan(run *r)
{
    turn_event e = event_of(r, TURN_PLAN);
    e.plan = r->plan;
    publish(r, &e, true);
}

void publish_question(run *r)
{
    turn_event e = event_of(r, TURN_QUESTION);
    e.question = &r->question;
    publish(r, &e, true);
}

/* Watchers get entries from the store. */
void publish_entries(run *r, const ramet_append_out *out)
{
    if (out->n && !r->is_remote)
        r->upto = out->entries[out->n - 1].position + 1;
    for (size_t i = 0; i < out->n; i++) {
        turn_event e = event_of(r, TURN_ENTRY);
        ramet_entry kept = entry_copy(r->mem, &out->entries[i]);
        VEC_PUSH(r->mem, &r->entries, kept);
        e.entry = &r->entries.items[r->entries.n - 1];
        publish(r, &e, false);
    }
}

void publish_heartbeat(run *r)
{
    for (subscription *s = r->subscriptions; s; s = s->next) {
        const char *sign = s->subscriber->listener.whole ? " " : ": \n\n";
        pthread_mutex_lock(&s->subscriber->lock);
        subscriber_write(s->subscriber, sign, strlen(sign));
        pthread_mutex_unlock(&s->subscriber->lock);
    }
    r->published = time_mono_us();
}

static void subscriptions_end(run *r)
{
    while (r->subscriptions) {
        subscription *s = r->subscriptions;
        r->subscriptions = s->next;
        subscriber_end(s->subscriber);
        free(s);
    }
}

/* A request that joins a turn that is over is its only subscriber. */
void publish_ended(run *r, const char *error)
{
    turn_event e = event_ended(r, TURN_ENDED, error);
    publish(r, &e, true);
    remote_send_ended(r, error);
    subscriptions_end(r);
}

/* To a request that joins a turn that is over: it is the only subscriber then. */
static void publish_ended_again(run *r)
{
    turn_event e = event_ended(r, TURN_ENDED, r->error);
    publish(r, &e, false);
    subscriptions_end(r);
}

void publish_detached(run *r)
{
    r->status = RAMET_TURN_RUNNING;
    turn_event e =
        event_ended(r, TURN_DETACHED, "this server was stopped; the turn goes on on another one");
    publish(r, &e, false);
    subscriptions_end(r);
}

/* ---- deltas (S2) */

/* Counts the characters of the answer's text from a place in the parts on. */
static int64_t chars_from(const run *r, size_t part, size_t byte)
{
    int64_t n = 0;
    for (size_t i = part; i < r->parts.n; i++, byte = 0)
        if (!r->parts.items[i].is_thinking)
            n += (int64_t)utf8_count(r->parts.items[i].text.data + byte);
    return n;
}

static void subscription_set_current(const run *r, subscription *s)
{
    s->part = r->parts.n ? r->parts.n - 1 : 0;
    s->byte = r->parts.n ? r->parts.items[s->part].text.n : 0;
    s->is_held = false;
}

/* Sends all deltas that the subscriber lacks, one event per part. */
static void subscription_catch_up(const run *r, subscription *s)
{
    for (; s->part < r->parts.n; s->part++, s->byte = 0) {
        const run_part *p = &r->parts.items[s->part];
        if (s->byte == p->text.n)
            continue;
        turn_event e = event_delta(r, p->is_thinking, p->text.data + s->byte, p->text.n - s->byte,
                                   r->chars - chars_from(r, s->part, s->byte), s->part);
        subscriber_send(s->subscriber, &e, s->index);
    }
    subscription_set_current(r, s);
}

static bool is_behind(const subscription *s, size_t bytes)
{
    return body_stream_behind(s->subscriber->stream) > bytes;
}

void publish_held(run *r)
{
    for (subscription *s = r->subscriptions; s; s = s->next)
        if (s->is_held && !is_behind(s, s->subscriber->hold_bytes / 2))
            subscription_catch_up(r, s);
}

void publish_delta(run *r, bool is_thinking, const char *text, size_t n, int64_t offset)
{
    turn_event e = event_delta(r, is_thinking, text, n, offset, r->parts.n ? r->parts.n - 1 : 0);
    bool any_held = false, is_watched = !r->is_unrecorded && live_watched(r->turns->live);
    r->published = time_mono_us();
    shared_buf *bytes = event_bytes(r, &e, is_watched);
    if (is_watched)
        watchers_send(r, &e, bytes);
    for (subscription *s = r->subscriptions; s; s = s->next) {
        s->is_held = s->is_held || is_behind(s, s->subscriber->hold_bytes);
        any_held |= s->is_held;
        if (s->is_held)
            continue;
        subscription_send(r, s, &e, bytes);
        subscription_set_current(r, s);
    }
    shared_buf_drop(bytes);
    if (any_held)
        publish_held(r);
}

void publish_parts_recorded(run *r)
{
    publish_held(r);
    for (subscription *s = r->subscriptions; s; s = s->next) {
        s->part = s->byte = 0;
        s->is_held = false;
    }
}

/* ------------------------------------------------------------------ subscribing */

bool run_unsubscribe(run *r, const subscriber *s)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (subscription *each = r->subscriptions; each; each = each->next)
        if (each->subscriber == s)
            each->subscriber->is_finished = found = true;
    subscriptions_sweep(r);
    pthread_mutex_unlock(&r->lock);
    return found;
}

void run_subscribe(run *r, subscriber *s, size_t index)
{
    subscription *own = xcalloc(1, sizeof *own);
    turn_event e = event_started(r);
    subscriber_send(s, &e, index);
    e = event_of(r, TURN_ENTRY);
    for (size_t i = 0; i < r->entries.n; i++) {
        e.entry = &r->entries.items[i];
        subscriber_send(s, &e, index);
    }
    e = event_of(r, TURN_PLAN);
    e.plan = r->plan;
    if (r->plan)
        subscriber_send(s, &e, index);
    own->subscriber = s;
    own->index = index;
    own->next = r->subscriptions;
    r->subscriptions = own;
    subscription_catch_up(r, own);
    e = event_of(r, TURN_QUESTION);
    e.question = &r->question;
    if (r->question.id && !r->is_answered && (r->question.asked_us || r->is_remote))
        subscriber_send(s, &e, index);
    e = event_of(r, TURN_CAUGHT_UP);
    if (!run_is_over(r))
        subscriber_send(s, &e, index);
    subscriptions_sweep(r);
    if (run_is_over(r))
        publish_ended_again(r);
}

/* ------------------------------------------------------------------ running */

static const char *running_text(const run *r, bool is_thinking, arena *a, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < r->parts.n; i++)
        if (r->parts.items[i].is_thinking == is_thinking)
            *n += r->parts.items[i].text.n;
    char *text = arena_alloc(a, *n + 1), *at = text;
    for (size_t i = 0; i < r->parts.n; i++)
        if (r->parts.items[i].is_thinking == is_thinking) {
            memcpy(at, r->parts.items[i].text.data, r->parts.items[i].text.n);
            at += r->parts.items[i].text.n;
        }
    *at = 0;
    return text;
}

static const turn_question *running_question(const run *r, arena *a)
{
    if (!r->question.id || r->is_answered)
        return NULL;
    turn_question *q = arena_alloc(a, sizeof *q);
    *q = (turn_question){.id = arena_strdup(a, r->question.id),
                         .kind = arena_strdup(a, r->question.kind),
                         .text = arena_strdup(a, r->question.text),
                         .options = arena_strdup(a, r->question.options),
                         .request = arena_strdup(a, r->question.request),
                         .metadata = arena_strdup(a, r->question.metadata),
                         .asked_us = r->question.asked_us};
    return q;
}

/* The run on the head, otherwise one kept running on another branch. */
static run *running_find(turns *t, const ramet_session *s)
{
    run *found = NULL;
    pthread_mutex_lock(&t->lock);
    for (run *r = t->runs; r; r = r->next)
        if (run_has_begun(r) && (!found || r->branch == s->head.branch) &&
            strcmp(r->session, s->id) == 0)
            found = r;
    if (found)
        atomic_fetch_add(&found->owners, 1);
    pthread_mutex_unlock(&t->lock);
    return found;
}

bool turns_running_get(turns *t, const ramet_session *s, arena *a, turn_running *out)
{
    run *r = t ? running_find(t, s) : NULL;
    if (!r)
        return false;
    pthread_mutex_lock(&r->lock);
    bool runs = !run_is_over(r);
    if (runs) {
        *out = (turn_running){.turn = arena_strdup(a, r->id),
                              .entry_id = arena_strdup(a, r->entry_id),
                              .agent = arena_strdup(a, r->agent_name),
                              .branch = r->branch,
                              .offset = r->begin,
                              .question = running_question(r, a),
                              .plan = arena_strdup(a, r->plan)};
        out->text = running_text(r, false, a, &out->n_text);
        out->thinking = running_text(r, true, a, &out->n_thinking);
    }
    pthread_mutex_unlock(&r->lock);
    run_put(r);
    return runs;
}
