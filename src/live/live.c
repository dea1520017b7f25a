/* SPDX-License-Identifier: Apache-2.0
 *
 * live.c: delivers committed events to the streams that subscribed to them.
 *
 * Two threads. The follower reads each event once, as the embedding program, renders it once, and
 * appends the same bytes to every stream whose filter matches and whose user may see it now. The
 * replayer (live/replay.c) sends streams that are behind the events they missed, page by page and
 * in turn, at the speed of each client. So a slow client delays neither the pool nor the follower.
 *
 *   L1  `last` is the number of the newest event that the follower has delivered, or is about to
 *       deliver, to its streams. A stream joins the follower under the lock, once it has everything
 *       up to `last`; the follower skips events up to the stream's own `after`. So there is neither
 *       a gap nor a duplicate between replay and live delivery.
 *   L2  A stream belongs to one thread: to the replayer while it is on `behind`, to the follower
 *       from `joining` on. Only these two lists are shared, under the lock.
 *   L3  A line that is not stored (live_publish()) carries the number of the newest event at that
 *       moment, here or on the node it comes from. It is delivered after the events up to that
 *       number and before later ones; the follower waits a little for lines of other nodes
 *       (live_settle()).
 *   L4  Bytes that clients have not taken are bounded, per stream (stream-bytes) and in total
 *       (streams-bytes). A stream past a bound falls behind: events that its client has not begun
 *       to receive are dropped, and the replayer reads them from the store again.
 *   L5  Nothing is omitted silently. A stream that would miss a line that cannot be sent again, or
 *       whose client takes nothing for stall-seconds during a replay, is ended with an event that
 *       says so. Only deltas of an answer may be missing: the entry that follows has their text.
 */
#include "live/live_internal.h"

#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE = 500, /* events that the follower reads at once */
    FEW = 16,   /* up to this many events of a page are read one by one */
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
    ramet_call_free(v->c);
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
    viewer_put(l, r->who);
    pthread_mutex_unlock(&l->lock);
    atomic_fetch_sub(&l->open, 1);
    if (r->feed.release)
        r->feed.release(r->feed.arg);
    free(r->session);
    free(r->tree);
    free(r);
}

bool reader_add(live *l, reader *r, const buf *text, int64_t number)
{
    (void)l;
    if (!text->n)
        return true;
    shared_buf *b = shared_buf_new(text->p, text->n);
    bool open = stream_share(r->out, b, number, false);
    shared_buf_drop(b);
    r->told_us = time_mono_us();
    return open;
}

void reader_close(live *l, reader *r)
{
    buf text;
    buf_init(&text, 256);
    live_text_closed(&text, &r->feed, r->after);
    stream_close_slow(r->out, text.p, text.n);
    buf_release(&text);
    atomic_fetch_add(&l->dropped, 1);
}

/* Adds a new stream to its list (L1). A number that came from the client may be wrong; the replayer
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

void live_open(live *l, request *q, const ramet_events_in *in, bool from_now)
{
    buf hello;
    if (atomic_fetch_add(&l->open, 1) >= l->cfg->stream_max) {
        atomic_fetch_sub(&l->open, 1);
        if (q->feed && q->feed->release)
            q->feed->release(q->feed->arg);
        request_fail(q, q->feed ? 429 : 503, "too_many_streams", NULL,
                     "%lld streams are open, which is the most this server has",
                     (long long)l->cfg->stream_max);
        return;
    }
    reader *r = xcalloc(1, sizeof *r);
    r->session = xstrdup(in->session);
    r->tree = xstrdup(in->tree);
    if (q->feed)
        r->feed = *q->feed;
    r->after = r->began = from_now ? ramet_event_last(l->store) : in->after;
    pthread_mutex_lock(&l->lock);
    bool everybody = r->feed.everybody;
    r->who = viewer_get(l, everybody ? NULL : q->who.user, everybody ? NULL : q->who.share);
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    q->status = 200;
    q->type = "text/event-stream";
    request_add_header(q, "X-Accel-Buffering", "no");
    r->out = body_stream_new(q, (size_t)l->cfg->stream_bytes);
    buf_init(&hello, 256);
    live_text_hello(&hello, &r->feed, from_now ? r->after : -1);
    bool taken = reader_add(l, r, &hello, -1);
    buf_release(&hello);
    if (taken && !stop)
        reader_place(l, r, from_now);
    else
        reader_free(l, r);
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
    live *l;
    ramet_call *c;
    reader *readers;
    int64_t last;
    buf text;                 /* scratch space for rendering */
    shared_buf *shared;       /* the event or line being delivered; NULL: not rendered yet */
    shared_buf *own;          /* the same, in the format of the last stream that has its own */
    const ramet_event *whole; /* the event with its entries; NULL: not read yet */
    ramet_call *full;         /* reads its entries */
    told *told;               /* taken from the queue, not delivered yet */
    told *past;               /* delivered, but `looks` may still point to them */
    bool failed;              /* the store could not be read; logged once */
} follow;

bool reader_skips(const reader *r, const ramet_event *e)
{
    return !r->feed.removal && e->member && !e->after && r->who->user &&
           strcmp(e->member, r->who->user) == 0;
}

static bool reader_wants(const reader *r, const ramet_event *e)
{
    return e->number > r->after && !reader_skips(r, e) &&
           (!r->session || strcmp(r->session, e->session) == 0) &&
           (!r->tree || strcmp(r->tree, e->tree) == 0);
}

/* Every event of a page was committed before the first check: one check a session is enough. */
static bool viewer_sees(live *l, viewer *v, const ramet_event *e)
{
    size_t slot = 0;
    bool deleted = e->kind == RAMET_EVENT_DELETED;
    if (!v->c)
        v->c = viewer_call(l->store, v);
    /* A removed member sees the removal and nothing else of that session: it is not cached. */
    if (e->member && !e->after) {
        bool seen = ramet_event_seen(v->c, e);
        ramet_call_reset(v->c);
        return seen;
    }
    for (const char *p = e->session; *p; p++)
        slot = slot * 31 + (uint8_t)*p;
    slot &= LOOKS - 1;
    if (!v->looks[slot].session || v->looks[slot].deleted != deleted ||
        strcmp(v->looks[slot].session, e->session) != 0) {
        v->looks[slot].session = e->session;
        v->looks[slot].deleted = deleted;
        v->looks[slot].seen = ramet_event_seen(v->c, e);
        ramet_call_reset(v->c);
    }
    return v->looks[slot].seen;
}

/* Clears the cached checks: they point into a page that is about to be freed. */
static void looks_forget(live *l)
{
    pthread_mutex_lock(&l->lock);
    for (viewer *v = l->viewers; v; v = v->next) {
        if (!v->c)
            continue;
        ramet_call_free(v->c);
        v->c = NULL;
        memset(v->looks, 0, sizeof v->looks);
    }
    pthread_mutex_unlock(&l->lock);
}

/* What happens to a stream after a delivery. */
typedef enum { STAYS, FALLS_BEHIND, ENDS } fate;
typedef fate (*giver)(follow *f, reader *r, void *arg);

/* Delivers something to each stream, and removes the streams that do not stay. */
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
            reader_free(f->l, r);
            continue;
        }
        pthread_mutex_lock(&f->l->lock);
        r->next = f->l->behind;
        f->l->behind = r;
        pthread_cond_signal(&f->l->wake);
        pthread_mutex_unlock(&f->l->lock);
    }
}

/* The stream is past a bound (L4, L5). */
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
    r->once_seen = l->once;
    atomic_fetch_add(&l->fallen, 1);
    return FALLS_BEHIND;
}

/* A client that has taken everything is not slow: one event may be larger than the bound. */
static bool reader_full(const live *l, const reader *r, size_t n)
{
    size_t behind = body_stream_behind(r->out);
    return behind && behind + n > (size_t)l->cfg->stream_bytes;
}

static fate reader_share(follow *f, reader *r, shared_buf *b, int64_t number, bool once)
{
    if (reader_full(f->l, r, b->n)) {
        fate now = once ? ENDS : reader_fall(f->l, r);
        if (once)
            reader_close(f->l, r);
        return now;
    }
    r->told_us = time_mono_us();
    return stream_share(r->out, b, number, once) ? STAYS : ENDS;
}

static fate give_lost(follow *f, reader *r, void *arg)
{
    int64_t number = *(int64_t *)arg;
    buf_clear(&f->text);
    live_text_reset(&f->text, &r->feed, number);
    return reader_add(f->l, r, &f->text, number) ? STAYS : ENDS;
}

/* The event with its entries, which the page omits. NULL: it cannot be read. */
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

/* The event in the format of a stream; equal bytes are shared. NULL: the format omits it. */
static shared_buf *event_render(follow *f, const reader *r)
{
    shared_buf **kept = r->feed.event ? &f->own : &f->shared;
    if (!r->feed.event && f->shared)
        return f->shared;
    buf_clear(&f->text);
    live_text_event(&f->text, &r->feed, f->whole);
    if (*kept && (*kept)->n == f->text.n && memcmp((*kept)->bytes, f->text.p, f->text.n) == 0)
        return *kept;
    shared_buf_drop(*kept);
    *kept = f->text.n ? shared_buf_new(f->text.p, f->text.n) : NULL;
    return *kept;
}

static fate give_event(follow *f, reader *r, void *arg)
{
    const ramet_event *e = arg;
    if (!reader_wants(r, e) || !viewer_sees(f->l, r->who, e))
        return STAYS;
    if (!f->whole)
        f->whole = e->kind == RAMET_EVENT_APPENDED && !e->entries ? event_full(f, e) : e;
    /* Its session was purged meanwhile. */
    if (!f->whole)
        return STAYS;
    r->after = e->number;
    atomic_fetch_add_explicit(&f->l->sent, 1, memory_order_relaxed);
    shared_buf *b = event_render(f, r);
    return b ? reader_share(f, r, b, e->number, false) : STAYS;
}

/* ---- all streams together (L4) */

static fate give_relief(follow *f, reader *r, void *arg)
{
    return body_stream_behind(r->out) > *(size_t *)arg ? reader_fall(f->l, r) : STAYS;
}

/* After each delivery: lets go of its bytes. When too many wait in all streams, those with the most
 * fall behind first. */
static void given(follow *f)
{
    shared_buf_drop(f->shared);
    shared_buf_drop(f->own);
    f->shared = f->own = NULL;
    size_t allowed = (size_t)f->l->cfg->stream_bytes / 2;
    while (f->readers && shared_buf_total() > f->l->cfg->streams_bytes) {
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

/* ---- lines that are not stored */

bool live_watched(live *l)
{
    return atomic_load_explicit(&l->open, memory_order_relaxed) > 0;
}

void live_publish(live *l, int64_t after, const char *session, const char *tree, const char *event,
                  const char *json, size_t n)
{
    if (!live_watched(l))
        return;
    /* The newest event of this process, without reading the store. */
    after = after >= 0 ? after : ramet_event_wait(l->store, -1, 1);
    if (ephemeral_put(&l->told, ephemeral_new(after, session, tree, event, json, n)))
        ramet_event_wake(l->store);
}

void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg)
{
    pthread_mutex_lock(&l->settle_lock);
    l->settle = settle;
    l->settle_arg = arg;
    pthread_mutex_unlock(&l->settle_lock);
}

/* L3, for lines of other nodes. */
static void elsewhere_settle(live *l, int64_t event)
{
    pthread_mutex_lock(&l->settle_lock);
    if (l->settle)
        l->settle(l->settle_arg, event);
    pthread_mutex_unlock(&l->settle_lock);
}

/* A client that is far behind misses deltas: the entry that follows has their text (L5). */
static fate give_told(follow *f, reader *r, void *arg)
{
    const told *t = arg;
    const ramet_event as = {.kind = RAMET_EVENT_APPENDED, .session = t->session, .tree = t->tree};
    if (r->feed.event || (r->session && strcmp(r->session, t->session) != 0) ||
        (r->tree && strcmp(r->tree, t->tree) != 0) || !viewer_sees(f->l, r->who, &as))
        return STAYS;
    if (!f->shared) {
        buf_clear(&f->text);
        live_text_line(&f->text, t->event, t->json, t->n);
        f->shared = shared_buf_new(f->text.p, f->text.n);
    }
    if (t->words && body_stream_behind(r->out) + f->shared->n > (size_t)f->l->cfg->stream_bytes / 2)
        return STAYS;
    return reader_share(f, r, f->shared, -1, !t->words);
}

/* Delivers the lines that precede event `before` (L3). */
static void told_give(follow *f, int64_t before)
{
    while (f->told && f->told->after < before) {
        told *t = f->told;
        f->told = t->next;
        t->next = f->past;
        f->past = t;
        f->l->once += !t->words;
        readers_give(f, give_told, t);
        given(f);
    }
}

/* ---- pages */

/* Reads a page, at first without entries: most events concern few streams. */
static bool page_read(follow *f, ramet_events_out *out)
{
    ramet_events_in in = {.after = f->last, .limit = PAGE, .bare = true};
    if (ramet_events(f->c, &in, out) != RAMET_OK)
        return false;
    size_t wanted = events_wanted(f, out);
    if (wanted <= FEW || wanted * 4 < out->n)
        return true;
    in.bare = false;
    return ramet_events(f->c, &in, out) == RAMET_OK;
}

/* Takes over the streams that have joined, and moves `last` on (L1). `idle`: moves it only if no
 * stream would miss an event. */
static void last_set(follow *f, int64_t last, bool idle)
{
    live *l = f->l;
    reader *missed = NULL;
    pthread_mutex_lock(&l->lock);
    while (l->joining) {
        reader *r = l->joining;
        l->joining = r->next;
        /* L5: a stream that was live before has missed lines. */
        reader **list = r->fell_behind && r->once_seen != l->once ? &missed : &f->readers;
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
            log_line(LOG_ERROR, "events cannot be read", "error", ramet_call_error(f->c)->message,
                     NULL);
        f->failed = true;
        ramet_call_reset(f->c);
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        return;
    }
    f->failed = false;
    last_set(f, out.next, false);
    if (f->readers)
        elsewhere_settle(f->l, out.next);
    ephemeral_take(&f->l->told, &f->told);
    if (out.lost) {
        atomic_fetch_add(&f->l->resets, 1);
        readers_give(f, give_lost, &out.next);
    }
    for (size_t i = 0; i < out.n; i++) {
        told_give(f, out.items[i].number);
        f->whole = NULL;
        readers_give(f, give_event, &out.items[i]);
        given(f);
    }
    told_give(f, f->last + 1);
    looks_forget(f->l);
    ephemeral_free(&f->past);
    ramet_call_reset(f->c);
    ramet_call_reset(f->full);
    if (f->text.cap > LIVE_KEEP) {
        buf_release(&f->text);
        buf_init(&f->text, LIVE_EVENT_MAX);
    }
}

/* Delivers lines while there is no new event. */
static void told_only(follow *f)
{
    ephemeral_take(&f->l->told, &f->told);
    told_give(f, f->last + 1);
    if (!f->past)
        return;
    looks_forget(f->l);
    ephemeral_free(&f->past);
}

/* A heartbeat carries the position of the stream: a client that reconnects resumes from there. */
static fate give_pulse(follow *f, reader *r, void *arg)
{
    int64_t now = *(int64_t *)arg;
    if (body_stream_gone(r->out))
        return ENDS;
    /* A client that has bytes to take needs no heartbeat. */
    if (now - r->told_us < f->l->cfg->heartbeat_s * INT64_C(1000000) || body_stream_behind(r->out))
        return STAYS;
    buf_clear(&f->text);
    live_text_pulse(&f->text, &r->feed, f->last);
    return reader_add(f->l, r, &f->text, f->last) ? STAYS : ENDS;
}

static void pulse(follow *f, int64_t *due)
{
    int64_t now = time_mono_us();
    if (now < *due)
        return;
    *due = now + TICK_MS * 1000;
    readers_give(f, give_pulse, &now);
}

static void *follower_main(void *arg)
{
    live *l = arg;
    follow f = {.l = l,
                .c = ramet_call_new(l->store, NULL, NULL),
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
            told_only(&f);
        pulse(&f, &due);
        pthread_mutex_lock(&l->lock);
        stop = l->stop;
        pthread_mutex_unlock(&l->lock);
    }
    while (f.readers) {
        reader *r = f.readers;
        f.readers = r->next;
        reader_free(l, r);
    }
    ephemeral_take(&l->told, &f.told);
    ephemeral_free(&f.told);
    buf_release(&f.text);
    ramet_call_free(f.full);
    ramet_call_free(f.c);
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

live *live_new(const server_config *cfg, ramet *store)
{
    live *l = xcalloc(1, sizeof *l);
    l->cfg = cfg;
    l->store = store;
    l->last = ramet_event_last(store);
    ephemeral_queue_init(&l->told);
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
    /* Streams that were opened while the threads were ending. */
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
    ephemeral_queue_free(&l->told);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
