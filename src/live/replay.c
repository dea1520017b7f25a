/* SPDX-License-Identifier: Apache-2.0
 *
 * replay.c: sends streams that are behind what they missed, from the store.
 *
 * One thread, the replayer. Streams take turns; in its turn a stream gets a page of events, as far
 * as there is room for them: in the stream itself, among the streams of its user, and among all. A
 * stream that has caught up joins the follower (L1 in live.c).
 */
#include "live/live_internal.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

enum { REPLAY_PAGE = 100 /* events per turn */, SAME = 128 /* a power of two */ };

typedef struct replay {
    live *live;
    reader *readers;
    /* Events of this round, by number: streams that get equal bytes share them. */
    shared_buf *same[SAME];
} replay;

typedef enum { TURN_AGAIN, TURN_WAIT, TURN_PLACED, TURN_OVER } turn;

/* Whether n more bytes may wait for the client. Once it has read everything, one event of any size
 * may, unless the total is used up. */
static bool replay_room(const live *l, const reader *r, size_t n)
{
    size_t waiting = body_stream_behind(r->out), all = (size_t)l->cfg->streams_bytes;
    size_t total = (size_t)shared_buf_total(), mine = r->viewer->replayed;
    size_t share = all / 100 * (size_t)l->cfg->user_share;
    if (total + n > all && (waiting || total > all / 2))
        return false;
    if (mine + n > share && mine)
        return false;
    return !waiting || waiting + n <= (size_t)l->cfg->stream_bytes / 2;
}

/* The bytes of an event, shared with another stream if possible. */
static shared_buf *replay_share(replay *p, int64_t number, const buf *text)
{
    shared_buf **same = &p->same[number & (SAME - 1)];
    if (!*same || (*same)->n != text->n || memcmp((*same)->bytes, text->data, text->n) != 0) {
        shared_buf_drop(*same);
        *same = shared_buf_new(text->data, text->n);
    }
    return *same;
}

static void same_forget(replay *p)
{
    for (int i = 0; i < SAME; i++) {
        shared_buf_drop(p->same[i]);
        p->same[i] = NULL;
    }
}

/* Sends one event if there is room for it. */
static turn replay_event(replay *p, reader *r, const ramet_event *e, buf *text)
{
    live *l = p->live;
    buf_clear(text);
    if (!reader_skips(r, e))
        r->feed.event(r->feed.arg, e, text);
    if (!replay_room(l, r, text->n)) {
        r->wants = text->n;
        return TURN_WAIT;
    }
    r->after = e->number;
    atomic_fetch_add_explicit(&l->sent, 1, memory_order_relaxed);
    if (!text->n)
        return TURN_AGAIN;
    r->written_us = time_mono_us();
    r->viewer->replayed += text->n;
    return stream_share(r->out, replay_share(p, e->number, text), e->number, false) ? TURN_AGAIN
                                                                                    : TURN_OVER;
}

/* Sends a page as far as there is room; the rest is read again, in a smaller page. */
static turn replay_give(replay *p, reader *r, const ramet_events_out *out)
{
    live *l = p->live;
    turn t = TURN_AGAIN;
    size_t given = 0;
    buf text;
    buf_init(&text, LIVE_EVENT_MAX);
    r->wants = 0;
    if (out->lost) {
        r->feed.reset(r->feed.arg, out->next, &text);
        atomic_fetch_add(&l->resets, 1);
        t = reader_add(r, &text, out->next) ? t : TURN_OVER;
    }
    while (given < out->n && t == TURN_AGAIN) {
        t = replay_event(p, r, &out->items[given], &text);
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

static turn replay_page(replay *p, reader *r)
{
    live *l = p->live;
    ramet_events_in in = {
        .after = r->after, .session = r->session, .tree = r->tree, .limit = r->page};
    ramet_events_out out;
    ramet_call *c = viewer_call(l->store, r->viewer);
    turn t = TURN_WAIT;
    if (ramet_events(c, &in, &out) == RAMET_OK)
        t = replay_give(p, r, &out);
    ramet_call_free(c);
    return t;
}

/* There is no room: wait for the client, but not for ever. */
static turn replay_wait(live *l, reader *r, size_t behind)
{
    int64_t now = time_mono_us();
    if (!behind || now - r->written_us < l->cfg->stall_s * INT64_C(1000000))
        return TURN_WAIT;
    reader_close(l, r);
    return TURN_OVER;
}

static turn replay_turn(replay *p, reader *r)
{
    live *l = p->live;
    if (body_stream_gone(r->out))
        return TURN_OVER;
    size_t behind = body_stream_behind(r->out);
    if (behind < r->behind)
        r->written_us = time_mono_us();
    r->behind = behind;
    if (!replay_room(l, r, r->wants))
        return replay_wait(l, r, behind);
    /* Read the last page with the follower blocked, so that a replay ends however fast events
     * arrive. */
    pthread_mutex_lock(&l->lock);
    bool near = l->last - r->after <= r->page;
    if (!near)
        pthread_mutex_unlock(&l->lock);
    turn t = replay_page(p, r);
    if (near && t == TURN_AGAIN && r->after >= l->last) {
        r->next = l->joining;
        l->joining = r;
        t = TURN_PLACED;
    }
    if (near)
        pthread_mutex_unlock(&l->lock);
    return t;
}

/* Gives each stream one turn; returns whether any made progress. */
static bool replay_round(replay *p)
{
    bool on = false;
    for (reader *r = p->readers; r; r = r->next)
        r->viewer->replayed = 0;
    for (reader *r = p->readers; r; r = r->next)
        r->viewer->replayed += body_stream_behind(r->out);
    for (reader **at = &p->readers; *at;) {
        reader *r = *at, *next = r->next;
        turn t = replay_turn(p, r);
        on |= t != TURN_WAIT;
        if (t == TURN_AGAIN || t == TURN_WAIT) {
            at = &r->next;
            continue;
        }
        *at = next;
        atomic_fetch_sub(&p->live->replaying, 1);
        if (t == TURN_OVER)
            reader_free(p->live, r);
    }
    same_forget(p);
    return on;
}

/* Takes over new streams. Waits until there is one if there are none, and briefly if all streams
 * must wait. */
static bool replay_take(replay *p, bool on)
{
    live *l = p->live;
    pthread_mutex_lock(&l->lock);
    while (!l->stop && !l->behind && !p->readers)
        pthread_cond_wait(&l->wake, &l->lock);
    if (!l->stop && !l->behind && !on) {
        struct timespec until = time_after(20000);
        pthread_cond_timedwait(&l->wake, &l->lock, &until);
    }
    while (l->behind) {
        reader *r = l->behind;
        l->behind = r->next;
        r->next = p->readers;
        r->page = REPLAY_PAGE;
        r->wants = 0;
        r->behind = 0;
        p->readers = r;
        atomic_fetch_add(&l->replaying, 1);
    }
    bool stop = l->stop;
    pthread_mutex_unlock(&l->lock);
    return !stop;
}

void *replayer_main(void *arg)
{
    replay p = {.live = arg};
    bool on = true;
    while (replay_take(&p, on))
        on = replay_round(&p);
    while (p.readers) {
        reader *r = p.readers;
        p.readers = r->next;
        atomic_fetch_sub(&p.live->replaying, 1);
        reader_free(p.live, r);
    }
    return NULL;
}
