/* SPDX-License-Identifier: Apache-2.0
 *
 * live.c: what is committed, handed on to everyone who listens.
 *
 * Two threads. The follower reads each event once, as the embedding program, writes it down once
 * and gives the bytes to every stream whose filter it passes and whose user may see it now. The
 * replayer gives streams that come back what they missed, page by page and in turns, as fast as
 * they take it; so neither a thread of the pool nor the follower waits for a slow reader.
 *
 *   L1  `last` is the number up to which the follower has handed out (or is about to hand out)
 *       everything to its streams. A stream joins it under the lock, when it has everything up to
 *       `last`; the follower leaves out what is not past the stream's own `after`. So nothing is
 *       missing and nothing comes twice between replay and live.
 *   L2  A stream belongs to one thread: to the replayer while it is on `behind`, to the follower
 *       from `joining` on. Only these two lists are shared, under the lock.
 *   L3  A line that is told (live_tell()) has the number of the newest event at that moment, here
 *       or on the node that it comes from. It is handed out behind the events up to that number
 *       and before those past it; lines of other nodes are waited for a little (live_settle()).
 *   L4  Bytes that a reader does not take are bounded: live, the reader is dropped; in a replay the
 *       next page waits for it, and a reader that takes nothing for STALL_S is dropped.
 */
#include "server/live_text.h"
#include "server/live_told.h"

#include "base/util.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PAGE = 500,        /* events that the follower reads at once */
    REPLAY_PAGE = 100, /* events of one turn of a replay */
    FEW = 16,          /* so many events of a page are read one by one */
    TICK_MS = 1000,
    STALL_S = 30,
    LOOKS = 16 /* a power of two */
};

/* Who listens; streams of the same user share what he may see. */
typedef struct viewer {
    struct viewer *next;
    char *user, *share; /* NULL: the program itself; no link */
    int streams;
    ramet_call *c; /* the follower's, while it hands out a page */
    struct {
        const char *session; /* in the page */
        bool deleted, seen;
    } looks[LOOKS];
} viewer;

typedef struct reader {
    struct reader *next;
    face_stream *out;
    viewer *who;
    char *session, *tree; /* filters; NULL = all */
    int64_t after;        /* it has everything up to this number */
    int64_t told_us;      /* when something was written last */
    int page;             /* replay: events to read at once, fewer when they are large */
    size_t wants;         /* replay: bytes of the event that there was no room for */
    face_feed feed;       /* its own words; event NULL: those of the native API */
} reader;

struct live {
    const server_config *cfg;
    ramet *store;
    pthread_t follower, replayer;

    pthread_mutex_t lock; /* guards the rest up to the counters */
    pthread_cond_t wake;  /* of the replayer */
    reader *joining, *behind;
    viewer *viewers;
    int64_t last;
    bool stop;

    pthread_mutex_t settle_lock; /* held while somebody is asked, and of these */
    void (*settle)(void *arg, int64_t event);
    void *settle_arg;

    told_queue told;

    _Atomic int64_t open, replaying, sent, dropped, resets;
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

/* A link that was revoked meanwhile gives nothing any more. */
static ramet_call *viewer_call(ramet *store, const viewer *v)
{
    ramet_call *c = ramet_call_new(store, v->user, NULL);
    if (v->share)
        ramet_call_share(c, v->share, NULL);
    return c;
}

static void reader_free(live *l, reader *r)
{
    face_stream_end(r->out);
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

static bool reader_add(live *l, reader *r, const buf *text)
{
    bool gone = face_stream_gone(r->out), taken = face_stream_add(r->out, text->p, text->n);
    r->told_us = time_mono_us();
    if (!taken && !gone)
        atomic_fetch_add(&l->dropped, 1);
    return taken;
}

/* Puts a new one where it belongs (L1). The number that a client has brought along may be any: it
 * is looked at by the replayer. */
static void reader_place(live *l, reader *r, bool from_now)
{
    pthread_mutex_lock(&l->lock);
    reader **list = from_now && r->after >= l->last ? &l->joining : &l->behind;
    r->next = *list;
    *list = r;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
}

void live_open(live *l, face_req *q, const ramet_events_in *in, bool from_now)
{
    buf hello;
    if (atomic_fetch_add(&l->open, 1) >= l->cfg->stream_max) {
        atomic_fetch_sub(&l->open, 1);
        if (q->feed && q->feed->release)
            q->feed->release(q->feed->arg);
        face_fail(q, q->feed ? 429 : 503, "too_many_streams", NULL,
                  "%lld streams are open, which is the most this server has",
                  (long long)l->cfg->stream_max);
        return;
    }
    reader *r = xcalloc(1, sizeof *r);
    r->session = xstrdup(in->session);
    r->tree = xstrdup(in->tree);
    r->page = REPLAY_PAGE;
    if (q->feed)
        r->feed = *q->feed;
    r->after = from_now ? ramet_event_last(l->store) : in->after;
    pthread_mutex_lock(&l->lock);
    bool everybody = r->feed.everybody;
    r->who = viewer_get(l, everybody ? NULL : q->who.user, everybody ? NULL : q->who.share);
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    q->status = 200;
    q->type = "text/event-stream";
    face_add(q, "X-Accel-Buffering", "no");
    r->out = face_stream_new(q, (size_t)l->cfg->stream_bytes);
    buf_init(&hello, 256);
    live_text_hello(&hello, &r->feed, from_now ? r->after : -1);
    bool taken = reader_add(l, r, &hello);
    buf_release(&hello);
    if (taken && !stop)
        reader_place(l, r, from_now);
    else
        reader_free(l, r);
}

void live_count(live *l, live_numbers *out)
{
    *out = (live_numbers){
        .replaying = l->replaying, .sent = l->sent, .dropped = l->dropped, .resets = l->resets};
    out->streams = l->open - out->replaying;
}

/* ------------------------------------------------------------------ the follower */

typedef struct follow {
    live *l;
    ramet_call *c;
    reader *readers;
    int64_t last;
    buf text;                 /* the event that is being handed out */
    buf own;                  /* the same in the words of one stream */
    const ramet_event *whole; /* it, with its entries; NULL: not looked up yet */
    ramet_call *full;         /* for its entries */
    told *told;               /* taken, not handed out yet */
    told *past;               /* handed out, but looks may still point to them */
    bool failed;              /* the store could not be read; said once */
} follow;

static bool reader_wants(const reader *r, const ramet_event *e)
{
    return e->number > r->after && (!r->session || strcmp(r->session, e->session) == 0) &&
           (!r->tree || strcmp(r->tree, e->tree) == 0);
}

/* Everything in a page was committed before the first look, so one look a session is enough. */
static bool viewer_sees(live *l, viewer *v, const ramet_event *e)
{
    size_t slot = 0;
    bool deleted = e->kind == RAMET_EVENT_DELETED;
    if (!v->c)
        v->c = viewer_call(l->store, v);
    /* A member sees his own removal, and nothing else of that session: such a look is not kept. */
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

/* The texts of a page are about to go. */
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

/* Takes streams that go out of the list; `keep` says which stay. */
static void readers_sift(follow *f, bool (*keep)(follow *f, reader *r, void *arg), void *arg)
{
    for (reader **at = &f->readers; *at;) {
        reader *r = *at;
        if (keep(f, r, arg)) {
            at = &r->next;
            continue;
        }
        *at = r->next;
        reader_free(f->l, r);
    }
}

/* What only this stream is told. */
static bool give_own(live *l, reader *r, const buf *text)
{
    return !text->n || reader_add(l, r, text);
}

static bool give_lost(follow *f, reader *r, void *arg)
{
    buf_clear(&f->text);
    live_text_reset(&f->text, &r->feed, *(int64_t *)arg);
    return give_own(f->l, r, &f->text);
}

/* The event with its entries, which were left out of the page. NULL: it cannot be had. */
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

static bool give_event(follow *f, reader *r, void *arg)
{
    const ramet_event *e = arg;
    if (!reader_wants(r, e) || !viewer_sees(f->l, r->who, e))
        return true;
    if (!f->whole)
        f->whole = e->kind == RAMET_EVENT_APPENDED && !e->entries ? event_full(f, e) : e;
    /* Gone meanwhile (its session was removed for good): there is nothing to tell. */
    if (!f->whole)
        return true;
    r->after = e->number;
    atomic_fetch_add_explicit(&f->l->sent, 1, memory_order_relaxed);
    buf *text = r->feed.event ? &f->own : &f->text;
    if (r->feed.event)
        buf_clear(text);
    if (!text->n)
        live_text_event(text, &r->feed, f->whole);
    return give_own(f->l, r, text);
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

/* ---- lines that are told */

bool live_watched(live *l)
{
    return atomic_load_explicit(&l->open, memory_order_relaxed) > 0;
}

void live_tell(live *l, int64_t after, const char *session, const char *tree, const char *event,
               const char *json, size_t n)
{
    if (!live_watched(l))
        return;
    /* What this process has committed; it does not look into the file. */
    after = after >= 0 ? after : ramet_event_wait(l->store, -1, 1);
    if (told_put(&l->told, told_new(after, session, tree, event, json, n)))
        ramet_event_wake(l->store);
}

void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg)
{
    pthread_mutex_lock(&l->settle_lock);
    l->settle = settle;
    l->settle_arg = arg;
    pthread_mutex_unlock(&l->settle_lock);
}

/* L3: also for lines of other nodes. */
static void elsewhere_settle(live *l, int64_t event)
{
    pthread_mutex_lock(&l->settle_lock);
    if (l->settle)
        l->settle(l->settle_arg, event);
    pthread_mutex_unlock(&l->settle_lock);
}

/* Who is far behind goes without words: he has them in the entry that follows. Everything else that
 * is told is told once, so he gets it or is dropped (L4). */
static bool give_told(follow *f, reader *r, void *arg)
{
    const told *t = arg;
    const ramet_event as = {.kind = RAMET_EVENT_APPENDED, .session = t->session, .tree = t->tree};
    if (r->feed.event || (r->session && strcmp(r->session, t->session) != 0) ||
        (r->tree && strcmp(r->tree, t->tree) != 0) || !viewer_sees(f->l, r->who, &as))
        return true;
    if (!f->text.n)
        live_text_line(&f->text, t->event, t->json, t->n);
    if (t->words && face_stream_behind(r->out) + f->text.n > (size_t)f->l->cfg->stream_bytes / 2)
        return true;
    return reader_add(f->l, r, &f->text);
}

/* Hands out the lines that were told before event `before` was committed (L3). */
static void told_give(follow *f, int64_t before)
{
    while (f->told && f->told->after < before) {
        told *t = f->told;
        f->told = t->next;
        t->next = f->past;
        f->past = t;
        buf_clear(&f->text);
        readers_sift(f, give_told, t);
    }
}

/* ---- pages */

/* Reads a page, without entries first: most of what happens concerns few streams. */
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

/* From here on the follower has everything up to `last`, and those that join must, too (L1).
 * `idle`: only when there is no stream that would have to be given it. */
static void last_set(follow *f, int64_t last, bool idle)
{
    live *l = f->l;
    pthread_mutex_lock(&l->lock);
    while (l->joining) {
        reader *r = l->joining;
        l->joining = r->next;
        r->next = f->readers;
        f->readers = r;
    }
    if (!idle || !f->readers)
        f->last = l->last = last;
    pthread_mutex_unlock(&l->lock);
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
    told_take(&f->l->told, &f->told);
    if (out.lost) {
        atomic_fetch_add(&f->l->resets, 1);
        readers_sift(f, give_lost, &out.next);
    }
    for (size_t i = 0; i < out.n; i++) {
        told_give(f, out.items[i].number);
        buf_clear(&f->text);
        f->whole = NULL;
        readers_sift(f, give_event, &out.items[i]);
    }
    told_give(f, f->last + 1);
    looks_forget(f->l);
    told_free(&f->past);
    ramet_call_reset(f->c);
    ramet_call_reset(f->full);
    if (f->text.cap > LIVE_KEEP) {
        buf_release(&f->text);
        buf_init(&f->text, LIVE_EVENT_MAX);
    }
}

/* Nothing was committed, as far as the follower knows. */
static void told_only(follow *f)
{
    told_take(&f->l->told, &f->told);
    told_give(f, f->last + 1);
    if (!f->past)
        return;
    looks_forget(f->l);
    told_free(&f->past);
}

/* A sign of life tells how far the stream has come, too: who comes back then asks from there. */
static bool give_pulse(follow *f, reader *r, void *arg)
{
    int64_t now = *(int64_t *)arg;
    if (face_stream_gone(r->out))
        return false;
    if (now - r->told_us < f->l->cfg->heartbeat_s * INT64_C(1000000))
        return true;
    buf_clear(&f->text);
    live_text_pulse(&f->text, &r->feed, f->last);
    return reader_add(f->l, r, &f->text);
}

static void pulse(follow *f, int64_t *due)
{
    int64_t now = time_mono_us();
    if (now < *due)
        return;
    *due = now + TICK_MS * 1000;
    readers_sift(f, give_pulse, &now);
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
    buf_init(&f.own, LIVE_EVENT_MAX);
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
    told_take(&l->told, &f.told);
    told_free(&f.told);
    buf_release(&f.text);
    buf_release(&f.own);
    ramet_call_free(f.full);
    ramet_call_free(f.c);
    return NULL;
}

/* ------------------------------------------------------------------ the replayer */

typedef enum { TURN_AGAIN, TURN_WAIT, TURN_PLACED, TURN_OVER } turn;

static bool replay_room(const live *l, const reader *r, size_t n)
{
    size_t waiting = face_stream_behind(r->out);
    return !waiting || waiting + n <= (size_t)l->cfg->stream_bytes / 2;
}

/* Gives one event when there is room for it. */
static turn replay_event(live *l, reader *r, const ramet_event *e, buf *text)
{
    buf_clear(text);
    live_text_event(text, &r->feed, e);
    if (!replay_room(l, r, text->n)) {
        r->wants = text->n;
        return TURN_WAIT;
    }
    r->after = e->number;
    atomic_fetch_add_explicit(&l->sent, 1, memory_order_relaxed);
    return give_own(l, r, text) ? TURN_AGAIN : TURN_OVER;
}

/* Gives a page as far as there is room; the rest is read again, and less of it. */
static turn replay_give(live *l, reader *r, const ramet_events_out *out)
{
    turn t = TURN_AGAIN;
    size_t given = 0;
    buf text;
    buf_init(&text, LIVE_EVENT_MAX);
    r->wants = 0;
    if (out->lost) {
        live_text_reset(&text, &r->feed, out->next);
        atomic_fetch_add(&l->resets, 1);
        t = reader_add(l, r, &text) ? t : TURN_OVER;
    }
    while (given < out->n && t == TURN_AGAIN) {
        t = replay_event(l, r, &out->items[given], &text);
        given += t == TURN_AGAIN;
    }
    buf_release(&text);
    if (t == TURN_AGAIN) {
        r->after = out->next;
        r->page = r->page * 2 < REPLAY_PAGE ? r->page * 2 : REPLAY_PAGE;
    } else {
        r->page = given ? (int)given : 1;
    }
    return t;
}

static turn replay_page(live *l, reader *r)
{
    ramet_events_in in = {
        .after = r->after, .session = r->session, .tree = r->tree, .limit = r->page};
    ramet_events_out out;
    ramet_call *c = viewer_call(l->store, r->who);
    turn t = TURN_WAIT;
    if (ramet_events(c, &in, &out) == RAMET_OK)
        t = replay_give(l, r, &out);
    ramet_call_free(c);
    return t;
}

static turn replay_turn(live *l, reader *r)
{
    if (face_stream_gone(r->out))
        return TURN_OVER;
    if (!replay_room(l, r, r->wants)) {
        if (time_mono_us() - r->told_us < STALL_S * INT64_C(1000000))
            return TURN_WAIT;
        atomic_fetch_add(&l->dropped, 1);
        return TURN_OVER;
    }
    /* When one page is left, it is read while the follower stands still: so a replay ends, however
     * fast events come. */
    pthread_mutex_lock(&l->lock);
    bool near = l->last - r->after <= r->page;
    if (!near)
        pthread_mutex_unlock(&l->lock);
    turn t = replay_page(l, r);
    if (near && t == TURN_AGAIN && r->after >= l->last) {
        r->next = l->joining;
        l->joining = r;
        t = TURN_PLACED;
    }
    if (near)
        pthread_mutex_unlock(&l->lock);
    return t;
}

/* One turn for each; returns whether any got on. */
static bool replay_round(live *l, reader **readers)
{
    bool on = false;
    for (reader **at = readers; *at;) {
        reader *r = *at, *next = r->next;
        turn t = replay_turn(l, r);
        on |= t != TURN_WAIT;
        if (t == TURN_AGAIN || t == TURN_WAIT) {
            at = &r->next;
            continue;
        }
        *at = next;
        atomic_fetch_sub(&l->replaying, 1);
        if (t == TURN_OVER)
            reader_free(l, r);
    }
    return on;
}

/* Takes those that came; waits for some when there are none, and a little when all have to wait. */
static bool replay_take(live *l, reader **readers, bool on)
{
    pthread_mutex_lock(&l->lock);
    while (!l->stop && !l->behind && !*readers)
        pthread_cond_wait(&l->wake, &l->lock);
    if (!l->stop && !l->behind && !on) {
        struct timespec until = time_after(20000);
        pthread_cond_timedwait(&l->wake, &l->lock, &until);
    }
    while (l->behind) {
        reader *r = l->behind;
        l->behind = r->next;
        r->next = *readers;
        *readers = r;
        atomic_fetch_add(&l->replaying, 1);
    }
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return !stop;
}

static void *replayer_main(void *arg)
{
    live *l = arg;
    reader *readers = NULL;
    bool on = true;
    while (replay_take(l, &readers, on))
        on = replay_round(l, &readers);
    while (readers) {
        reader *r = readers;
        readers = r->next;
        reader_free(l, r);
    }
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

live *live_new(const server_config *cfg, ramet *store)
{
    live *l = xcalloc(1, sizeof *l);
    l->cfg = cfg;
    l->store = store;
    l->last = ramet_event_last(store);
    told_queue_init(&l->told);
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
    /* Those that came while the two were ending. */
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
    told_queue_free(&l->told);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
