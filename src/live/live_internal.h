/* SPDX-License-Identifier: Apache-2.0
 *
 * live_internal.h: what the files of live events share. No other file includes it.
 *
 *   live.c         opens streams; the follower, which delivers events as they are committed
 *   live/replay.c  the replayer, which sends the events that a stream has missed, from the store
 *   live/ephemeral_queue.c    lines that are not stored, on their way to the follower
 *   live/event_text.c    events as bytes
 */
#ifndef LIVE_LIVE_INTERNAL_H
#define LIVE_LIVE_INTERNAL_H

#include "live/event_text.h"
#include "runtime/config.h"
#include "runtime/log.h"
#include "live/ephemeral_queue.h"
#include "http/stream.h"

enum { LOOKS = 16 /* a power of two */ };

/* A user with open streams. What it may see is checked once for all of them. */
typedef struct viewer {
    struct viewer *next;
    char *user, *share; /* NULL: the program itself; no link */
    int streams;
    size_t replayed; /* the replayer's: bytes that its streams were sent and have not taken */
    ramet_call *c;   /* the follower's, while it delivers a page */
    struct {
        const char *session; /* in the page */
        bool deleted, seen;
    } looks[LOOKS];
} viewer;

typedef struct reader {
    struct reader *next;
    body_stream *out;
    viewer *who;
    char *session, *tree; /* filters; NULL = all */
    int64_t after;        /* number of the last event that it has */
    int64_t began;        /* the same, when it was opened */
    int64_t told_us;      /* when bytes were last added or taken */
    size_t behind;        /* bytes that it had not taken at the last check */
    bool fell_behind;     /* it was live before */
    int64_t once_seen;    /* live.once when it fell behind */
    int page;             /* replay: events to read at once; fewer if they are large */
    size_t wants;         /* replay: size of the event that there was no room for */
    live_feed feed;       /* its format; event NULL: that of the native API */
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

    pthread_mutex_t settle_lock; /* guards these, and is held during the call */
    void (*settle)(void *arg, int64_t event);
    void *settle_arg;

    ephemeral_queue told;
    int64_t once; /* the follower's: lines so far that cannot be sent again */

    _Atomic int64_t open, replaying, sent, dropped, fallen, resets;
};

/* ---- live.c */

/* Whether the event is the removal of the viewer, and the stream's format has no such event. */
bool reader_skips(const reader *r, const ramet_event *e);
/* A call with the rights of the viewer. A share link that was revoked gives none. */
ramet_call *viewer_call(ramet *store, const viewer *v);
void reader_free(live *l, reader *r);
/* Adds bytes for this stream alone; none are ignored. False: its client is gone. */
bool reader_add(live *l, reader *r, const buf *text, int64_t number);
/* Ends the stream with an event that says it was too slow. The caller calls reader_free() next. */
void reader_close(live *l, reader *r);

/* ---- live/replay.c */
void *replayer_main(void *arg);

#endif
