/* SPDX-License-Identifier: Apache-2.0
 *
 * live.c: delivers committed events to every stream that asked for them.
 *
 * Two threads. The follower reads each event once, without access limits, renders it once for feeds
 * that share their bytes, and adds these to every stream whose filter matches and whose viewer may
 * see the event now. The replayer (replay.c) sends streams that are behind what they missed, page
 * by page and in turns, as fast as they read. So neither a pool thread nor the follower ever waits
 * for a slow client.
 */
/* clang-format off */
/*
 * Invariants
 *   L1  `last` is the number up to which the follower has delivered (or is about to deliver)
 *       everything to its streams. A stream joins it under the lock, when it has everything up to
 *       `last`; the follower skips events not past the stream's own `after`. So between replay and
 *       live nothing is lost and nothing is sent twice.
 *   L2  A stream belongs to one thread: to the replayer while it is on `behind`, to the follower
 *       from `joining` on. Only these two lists are shared, under the lock.
 *   L3  An ephemeral event (live_publish()) carries the number of the newest event at that moment, on
 *       this node or on the node that it comes from. It is delivered after the events up to that
 *       number and before later ones; the follower waits a little for other nodes (live_settle()).
 *   L4  Bytes that clients do not read are bounded, for each stream (stream-bytes) and for all
 *       together (streams-bytes). A stream over a bound falls behind: what its client has not begun
 *       to read is dropped, and the replayer sends it again, from the store.
 *   L5  Nothing is lost silently. A stream that would miss an ephemeral event, or whose client reads
 *       nothing for stall-seconds during replay, gets a last event that says so and ends. Only deltas
 *       may be missing: the entry that follows has their text.
 */
/* clang-format on */
#include "live/live_internal.h"

#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE = 500,      /* events the follower reads per call */
    MAX_SINGLE = 16, /* up to this many events of a page are read one by one */
    TICK_MS = 1000
};

/* ------------------------------------------------------------------ viewers and readers */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static viewer *viewer_get(live *l, const char *user, const char *share)
{
    viewer *v = l->viewers;
    while (v && !(same(v->user, user) && same(v->share, share)))
        v = v->next;
    if (!v) {
        v = xcalloc(1, sizeof *v);
        v->user = xstrdup(user);
        v->share = xstrdup(share);
        v->next = l->viewers;
        l->viewers = v;
    }
    v->streams++;
    return v;
}

static void viewer_put(live *l, viewer *v)
{
    viewer **at = &l->viewers;
    if (--v->streams)
        return;
    while (*at != v)
        at = &(*at)->next;
    *at = v->next;
    ramet_call_free(v->call);
    free(v->user);
    free(v->share);
    free(v);
}

ramet_call *viewer_call(ramet *store, const viewer *v)
{
    ramet_call *c = ramet_call_new(store, v->user, NULL);
    if (v->share)
        ramet_call_share(c, v->share, NULL);
    return c;
}

void reader_free(live *l, reader *r)
{
    body_stream_end(r->out);
    pthread_mutex_lock(&l->lock);
    viewer_put(l, r->viewer);
    pthread_mutex_unlock(&l->lock);
    atomic_fetch_sub(&l->open, 1);
    if (r->feed.release)
        r->feed.release(r->feed.arg);
    free(r->session);
    free(r->tree);
    free(r);
}

bool reader_add(reader *r, const buf *text, int64_t number)
{
    if (!text->n)
        return true;
    shared_buf *b = shared_buf_new(text->data, text->n);
    bool open = stream_share(r->out, b, number, false);
    shared_buf_drop(b);
    r->written_us = time_mono_us();
    return open;
}

void reader_close(live *l, reader *r)
{
    buf text;
    buf_init(&text, 256);
    if (r->feed.closed)
        r->feed.closed(r->feed.arg, r->after, &text);
    stream_close_slow(r->out, text.data, text.n);
    buf_release(&text);
    atomic_fetch_add(&l->dropped, 1);
}

/* Puts a new stream on its list (L1). The number a client sends may be anything: the replayer
 * checks it. */
static void reader_place(live *l, reader *r, bool from_now)
{
    pthread_mutex_lock(&l->lock);
    reader **list = from_now && r->after >= l->last ? &l->joining : &l->behind;
    r->next = *list;
    *list = r;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

int64_t live_max_streams(const live *l)
{
    return l->cfg->stream_max;
}

bool live_open(live *l, request *q, const ramet_events_in *in, bool from_now, const live_feed *feed)
{
    buf hello;
    if (atomic_fetch_add(&l->open, 1) >= l->cfg->stream_max) {
        atomic_fetch_sub(&l->open, 1);
        if (feed->release)
            feed->release(feed->arg);
        return false;
    }
    reader *r = xcalloc(1, sizeof *r);
    r->session = xstrdup(in->session);
    r->tree = xstrdup(in->tree);
    r->feed = *feed;
    r->after = r->began = from_now ? ramet_event_last(l->store) : in->after;
    pthread_mutex_lock(&l->lock);
    r->viewer = viewer_get(l, feed->sees_all ? NULL : q->caller.user,
                           feed->sees_all ? NULL : q->caller.share);
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    q->status = 200;
    q->type = "text/event-stream";
    request_add_header(q, "X-Accel-Buffering", "no");
    r->out = body_stream_new(q, (size_t)l->cfg->stream_bytes);
    buf_init(&hello, 256);
    feed->hello(feed->arg, from_now ? r->after : -1, &hello);
    bool taken = reader_add(r, &hello, -1);
    buf_release(&hello);
    if (taken && !stop)
        reader_place(l, r, from_now);
    else
        reader_free(l, r);
    return true;
}

void live_count(live *l, live_numbers *out)
{
    *out = (live_numbers){.replaying = l->replaying,
                          .sent = l->sent,
                          .dropped = l->dropped,
                          .fallen = l->fallen,
                          .resets = l->resets,
                          .buffered = shared_buf_total()};
    out->streams = l->open - out->replaying;
}

/* ------------------------------------------------------------------ the follower */

typedef struct follow {
    live *live;
    ramet_call *call;
    reader *readers;
    int64_t last;
    buf text;           /* buffer for rendering */
    shared_buf *shared; /* the event being delivered, in shared bytes; NULL: not rendered yet */
    shared_buf *own;    /* likewise, for the last stream with a feed of its own */
    const ramet_event *whole; /* the event with its entries; NULL: not read yet */
    ramet_call *full;         /* for its entries */
    ephemeral *ephemeral;     /* taken from the queue, not delivered yet */
    ephemeral *past;          /* delivered, but `looks` may still point to them */
    bool failed;              /* the store could not be read; it was logged */
} follow;

bool reader_skips(const reader *r, const ramet_event *e)
{
    return !r->feed.reports_removal && e->member && !e->after && r->viewer->user &&
           strcmp(e->member, r->viewer->user) == 0;
}

static bool reader_wants(const reader *r, const ramet_event *e)
{
    return e->number > r->after && !reader_skips(r, e) &&
           (!r->session || strcmp(r->session, e->session) == 0) &&
           (!r->tree || strcmp(r->tree, e->tree) == 0);
}

/* Everything in a page was committed before the first check, so one check per session is enough. */
static bool viewer_sees(live *l, viewer *v, const ramet_event *e)
{
    size_t slot = 0;
    bool deleted = e->kind == RAMET_EVENT_DELETED;
    if (!v->call)
        v->call = viewer_call(l->store, v);
    /* A member sees their own removal, and nothing else of that session: do not cache that. */
    if (e->member && !e->after) {
        bool seen = ramet_event_seen(v->call, e);
        ramet_call_reset(v->call);
        return seen;
    }
    for (const char *p = e->session; *p; p++)
        slot = slot * 31 + (uint8_t)*p;
    slot &= LOOKS - 1;
    if (!v->looks[slot].session || v->looks[slot].deleted != deleted ||
        strcmp(v->looks[slot].session, e->session) != 0) {
        v->looks[slot].session = e->session;
        v->looks[slot].deleted = deleted;
        v->looks[slot].seen = ramet_event_seen(v->call, e);
        ramet_call_reset(v->call);
    }
    return v->looks[slot].seen;
}

/* Clears cached checks before the page's memory is freed. */
static void looks_forget(live *l)
{
    pthread_mutex_lock(&l->lock);
    for (viewer *v = l->viewers; v; v = v->next) {
        if (!v->call)
            continue;
        ramet_call_free(v->call);
        v->call = NULL;
        memset(v->looks, 0, sizeof v->looks);
    }
    pthread_mutex_unlock(&l->lock);
}

/* What happens to a stream after a delivery. */
typedef enum { STAYS, FALLS_BEHIND, ENDS } fate;
typedef fate (*giver)(follow *f, reader *r, void *arg);

/* Delivers something to each stream. Streams that do not stay leave the list. */
static void readers_give(follow *f, giver give, void *arg)
{
    for (reader **at = &f->readers; *at;) {
        reader *r = *at;
        fate now = give(f, r, arg);
        if (now == STAYS) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        if (now == ENDS) {
            reader_free(f->live, r);
            continue;
        }
        pthread_mutex_lock(&f->live->lock);
        r->next = f->live->behind;
        f->live->behind = r;
        pthread_cond_signal(&f->live->wake);
        pthread_mutex_unlock(&f->live->lock);
    }
}

/* Handles a stream over a bound (L4, L5). */
static fate reader_fall(live *l, reader *r)
{
    int64_t number;
    if (body_stream_gone(r->out))
        return ENDS;
    if (!stream_unwind(r->out, &number)) {
        reader_close(l, r);
        return ENDS;
    }
    r->after = number >= 0 ? number : r->began;
    r->fell_behind = true;
    r->unrepeatable_seen = l->unrepeatable;
    atomic_fetch_add(&l->fallen, 1);
    return FALLS_BEHIND;
}

/* A client that has read everything is not slow: one event may exceed the bound. */
static bool reader_full(const live *l, const reader *r, size_t n)
{
    size_t behind = body_stream_behind(r->out);
    return behind && behind + n > (size_t)l->cfg->stream_bytes;
}

static fate reader_share(follow *f, reader *r, shared_buf *b, int64_t number, bool is_unrepeatable)
{
    if (reader_full(f->live, r, b->n)) {
        fate now = is_unrepeatable ? ENDS : reader_fall(f->live, r);
        if (is_unrepeatable)
            reader_close(f->live, r);
        return now;
    }
    r->written_us = time_mono_us();
    return stream_share(r->out, b, number, is_unrepeatable) ? STAYS : ENDS;
}

static fate give_lost(follow *f, reader *r, void *arg)
{
    int64_t number = *(int64_t *)arg;
    buf_clear(&f->text);
    r->feed.reset(r->feed.arg, number, &f->text);
    return reader_add(r, &f->text, number) ? STAYS : ENDS;
}

/* The event with its entries, which the page lacks. NULL: not available. */
static const ramet_event *event_full(follow *f, const ramet_event *e)
{
    ramet_events_in in = {
        .after = e->number - 1, .session = e->session, .tree = e->tree, .limit = 1};
    ramet_events_out out;
    if (e->kind != RAMET_EVENT_APPENDED)
        return e;
    ramet_call_reset(f->full);
    if (ramet_events(f->full, &in, &out) != RAMET_OK || !out.n || out.items[0].number != e->number)
        return NULL;
    return out.items;
}

/* The bytes of the event for a stream; streams with equal bytes share them. NULL: its feed writes
 * nothing for it. */
static shared_buf *event_render(follow *f, const reader *r)
{
    shared_buf **kept = r->feed.is_shared ? &f->shared : &f->own;
    if (r->feed.is_shared && f->shared)
        return f->shared;
    buf_clear(&f->text);
    r->feed.event(r->feed.arg, f->whole, &f->text);
    if (*kept && (*kept)->n == f->text.n && memcmp((*kept)->bytes, f->text.data, f->text.n) == 0)
        return *kept;
    shared_buf_drop(*kept);
    *kept = f->text.n ? shared_buf_new(f->text.data, f->text.n) : NULL;
    return *kept;
}

static fate give_event(follow *f, reader *r, void *arg)
{
    const ramet_event *e = arg;
    if (!reader_wants(r, e) || !viewer_sees(f->live, r->viewer, e))
        return STAYS;
    if (!f->whole)
        f->whole = e->kind == RAMET_EVENT_APPENDED && !e->entries ? event_full(f, e) : e;
    /* Its session was purged meanwhile: there is nothing to send. */
    if (!f->whole)
        return STAYS;
    r->after = e->number;
    atomic_fetch_add_explicit(&f->live->sent, 1, memory_order_relaxed);
    shared_buf *b = event_render(f, r);
    return b ? reader_share(f, r, b, e->number, false) : STAYS;
}

/* ---- all streams together (L4) */

static fate give_relief(follow *f, reader *r, void *arg)
{
    return body_stream_behind(r->out) > *(size_t *)arg ? reader_fall(f->live, r) : STAYS;
}

/* Drops what was delivered. While too much is waiting in total, the streams with most bytes waiting
 * fall behind first. */
static void given(follow *f)
{
    shared_buf_drop(f->shared);
    shared_buf_drop(f->own);
    f->shared = f->own = NULL;
    size_t allowed = (size_t)f->live->cfg->stream_bytes / 2;
    while (f->readers && shared_buf_total() > f->live->cfg->streams_bytes) {
        readers_give(f, give_relief, &allowed);
        if (!allowed)
            break;
        allowed /= 16;
    }
}

static size_t events_wanted(const follow *f, const ramet_events_out *out)
{
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        const reader *r = f->readers;
        while (r && !reader_wants(r, &out->items[i]))
            r = r->next;
        n += r && out->items[i].kind == RAMET_EVENT_APPENDED;
    }
    return n;
}

/* ---- ephemeral events */

bool live_watched(live *l)
{
    return atomic_load_explicit(&l->open, memory_order_relaxed) > 0;
}

void live_publish(live *l, int64_t after, const ephemeral_event *e)
{
    if (!live_watched(l))
        return;
    /* What this process has committed; this does not read the file. */
    after = after >= 0 ? after : ramet_event_wait(l->store, -1, 1);
    if (ephemeral_put(&l->ephemeral, ephemeral_new(after, e)))
        ramet_event_wake(l->store);
}

void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg)
{
    pthread_mutex_lock(&l->settle_lock);
    l->settle = settle;
    l->settle_arg = arg;
    pthread_mutex_unlock(&l->settle_lock);
}

/* Makes L3 hold for ephemeral events of other nodes, too. */
static void nodes_settle_upto(live *l, int64_t event)
{
    pthread_mutex_lock(&l->settle_lock);
    if (l->settle)
        l->settle(l->settle_arg, event);
    pthread_mutex_unlock(&l->settle_lock);
}

/* A client that is far behind gets no deltas: the entry that follows has their text (L5). */
static fate give_ephemeral(follow *f, reader *r, void *arg)
{
    const ephemeral_event *e = arg;
    const ramet_event as = {.kind = RAMET_EVENT_APPENDED, .session = e->session, .tree = e->tree};
    if (!r->feed.takes_ephemeral || (r->session && strcmp(r->session, e->session) != 0) ||
        (r->tree && strcmp(r->tree, e->tree) != 0) || !viewer_sees(f->live, r->viewer, &as))
        return STAYS;
    if (!f->shared)
        f->shared = shared_buf_new(e->bytes, e->n);
    if (e->is_delta && body_stream_behind(r->out) + e->n > (size_t)f->live->cfg->stream_bytes / 2)
        return STAYS;
    return reader_share(f, r, f->shared, -1, !e->is_delta);
}

/* Delivers the ephemeral events that were published before event `before` was committed (L3). */
static void ephemeral_give(follow *f, int64_t before)
{
    while (f->ephemeral && f->ephemeral->after < before) {
        ephemeral *e = f->ephemeral;
        f->ephemeral = e->next;
        e->next = f->past;
        f->past = e;
        f->live->unrepeatable += !e->event.is_delta;
        readers_give(f, give_ephemeral, &e->event);
        given(f);
    }
}

/* ---- pages */

/* Reads a page, without entries first: most events concern few streams. */
static bool page_read(follow *f, ramet_events_out *out)
{
    ramet_events_in in = {.after = f->last, .limit = PAGE, .bare = true};
    if (ramet_events(f->call, &in, out) != RAMET_OK)
        return false;
    size_t wanted = events_wanted(f, out);
    if (wanted <= MAX_SINGLE || wanted * 4 < out->n)
        return true;
    in.bare = false;
    return ramet_events(f->call, &in, out) == RAMET_OK;
}

/* From here on the follower has everything up to `last`, and streams that join must, too (L1).
 * `idle`: only if no stream would have to get it. */
static void last_set(follow *f, int64_t last, bool idle)
{
    live *l = f->live;
    reader *missed = NULL;
    pthread_mutex_lock(&l->lock);
    while (l->joining) {
        reader *r = l->joining;
        l->joining = r->next;
        /* L5: a stream that was live before has missed these ephemeral events. */
        reader **list =
            r->fell_behind && r->unrepeatable_seen != l->unrepeatable ? &missed : &f->readers;
        r->fell_behind = false;
        r->next = *list;
        *list = r;
    }
    if (!idle || !f->readers)
        f->last = l->last = last;
    pthread_mutex_unlock(&l->lock);
    while (missed) {
        reader *r = missed;
        missed = r->next;
        reader_close(l, r);
        reader_free(l, r);
    }
}

static void page_give(follow *f)
{
    ramet_events_out out;
    if (!page_read(f, &out)) {
        if (!f->failed)
            log_line(LOG_ERROR, "events cannot be read", "error",
                     ramet_call_error(f->call)->message, NULL);
        f->failed = true;
        ramet_call_reset(f->call);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        return;
    }
    f->failed = false;
    last_set(f, out.next, false);
    if (f->readers)
        nodes_settle_upto(f->live, out.next);
    ephemeral_take(&f->live->ephemeral, &f->ephemeral);
    if (out.lost) {
        atomic_fetch_add(&f->live->resets, 1);
        readers_give(f, give_lost, &out.next);
    }
    for (size_t i = 0; i < out.n; i++) {
        ephemeral_give(f, out.items[i].number);
        f->whole = NULL;
        readers_give(f, give_event, &out.items[i]);
        given(f);
    }
    ephemeral_give(f, f->last + 1);
    looks_forget(f->live);
    ephemeral_free(&f->past);
    ramet_call_reset(f->call);
    ramet_call_reset(f->full);
    if (f->text.cap > LIVE_KEEP) {
        buf_release(&f->text);
        buf_init(&f->text, LIVE_EVENT_MAX);
    }
}

/* Delivers ephemeral events when nothing new is known to be committed. */
static void ephemeral_give_only(follow *f)
{
    ephemeral_take(&f->live->ephemeral, &f->ephemeral);
    ephemeral_give(f, f->last + 1);
    if (!f->past)
        return;
    looks_forget(f->live);
    ephemeral_free(&f->past);
}

/* A heartbeat carries the number the stream has reached, so that a client resumes from there.
 */
static fate give_heartbeat(follow *f, reader *r, void *arg)
{
    int64_t now = *(int64_t *)arg;
    if (body_stream_gone(r->out))
        return ENDS;
    /* A client with unread bytes needs no heartbeat; it would only get more to read. */
    if (now - r->written_us < f->live->cfg->heartbeat_s * INT64_C(1000000) ||
        body_stream_behind(r->out))
        return STAYS;
    buf_clear(&f->text);
    r->feed.heartbeat(r->feed.arg, f->last, &f->text);
    return reader_add(r, &f->text, f->last) ? STAYS : ENDS;
}

static void heartbeats(follow *f, int64_t *due)
{
    int64_t now = time_mono_us();
    if (now < *due)
        return;
    *due = now + TICK_MS * 1000;
    readers_give(f, give_heartbeat, &now);
}

static void *follower_main(void *arg)
{
    live *l = arg;
    follow f = {.live = l,
                .call = ramet_call_new(l->store, NULL, NULL),
                .full = ramet_call_new(l->store, NULL, NULL),
                .last = l->last};
    int64_t due = 0;
    buf_init(&f.text, LIVE_EVENT_MAX);
    for (bool stop = false; !stop;) {
        int64_t newest = ramet_event_wait(l->store, f.last, TICK_MS);
        last_set(&f, newest, true);
        if (newest > f.last)
            page_give(&f);
        else
            ephemeral_give_only(&f);
        heartbeats(&f, &due);
        pthread_mutex_lock(&l->lock);
        stop = l->stop;
        pthread_mutex_unlock(&l->lock);
    }
    while (f.readers) {
        reader *r = f.readers;
        f.readers = r->next;
        reader_free(l, r);
    }
    ephemeral_take(&l->ephemeral, &f.ephemeral);
    ephemeral_free(&f.ephemeral);
    buf_release(&f.text);
    ramet_call_free(f.full);
    ramet_call_free(f.call);
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

live *live_new(const server_config *cfg, ramet *store)
{
    live *l = xcalloc(1, sizeof *l);
    l->cfg = cfg;
    l->store = store;
    l->last = ramet_event_last(store);
    ephemeral_queue_init(&l->ephemeral);
    pthread_mutex_init(&l->settle_lock, NULL);
    pthread_mutex_init(&l->lock, NULL);
    cond_init(&l->wake);
    if (pthread_create(&l->follower, NULL, follower_main, l) ||
        pthread_create(&l->replayer, NULL, replayer_main, l))
        abort();
    return l;
}

void live_stop(live *l)
{
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    ramet_event_wake(l->store);
    pthread_join(l->follower, NULL);
    pthread_join(l->replayer, NULL);
    /* Free streams that were opened while the two threads were ending. */
    pthread_mutex_lock(&l->lock);
    reader *left = l->joining, *more = l->behind;
    l->joining = l->behind = NULL;
    pthread_mutex_unlock(&l->lock);
    for (reader *r = left; r; r = left) {
        left = r->next;
        reader_free(l, r);
    }
    for (reader *r = more; r; r = more) {
        more = r->next;
        reader_free(l, r);
    }
}

void live_free(live *l)
{
    pthread_mutex_destroy(&l->settle_lock);
    ephemeral_queue_free(&l->ephemeral);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
