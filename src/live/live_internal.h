/* SPDX-License-Identifier: Apache-2.0
 *
 * live_internal.h: what the files of live events share. Nobody else includes it.
 *
 *   live.c         streams are opened; the follower gives them what is committed
 *   live/replay.c  the replayer gives those that are behind what they missed, from the store
 *   live/ephemeral_queue.c    lines that are told once, on their way to the follower
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

/* A user who listens; streams of the same user share what it may see. */
typedef struct viewer {
    struct viewer *next;
    char *user, *share; /* NULL: the program itself; no link */
    int streams;
    size_t replayed; /* of the replayer: bytes that its streams were given and have not taken */
    ramet_call *c;   /* the follower's, while it hands out a page */
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
    int64_t after;        /* it has everything up to this number */
    int64_t began;        /* ... when it was opened */
    int64_t told_us;      /* when something was written, or taken, last */
    size_t behind;        /* bytes that it had not taken when that was looked at last */
    bool fell_behind;     /* it was live before */
    int64_t once_seen;    /* live.once when it fell behind */
    int page;             /* replay: events to read at once, fewer when they are large */
    size_t wants;         /* replay: bytes of the event that there was no room for */
    live_feed feed;       /* its own words; event NULL: those of the native API */
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

    ephemeral_queue told;
    int64_t once; /* of the follower: lines so far that are told once */

    _Atomic int64_t open, replaying, sent, dropped, fallen, resets;
};

/* ---- live.c */

/* Whether the event is the removal of the viewer, and the stream has no word for that. */
bool reader_skips(const reader *r, const ramet_event *e);
/* What the viewer may see. A link that was revoked meanwhile gives nothing any more. */
ramet_call *viewer_call(ramet *store, const viewer *v);
void reader_free(live *l, reader *r);
/* Adds bytes that only this stream is given; with none, nothing. False: its client is gone. */
bool reader_add(live *l, reader *r, const buf *text, int64_t number);
/* Tells the client that it was too slow, and ends its stream: reader_free() is to follow. */
void reader_close(live *l, reader *r);

/* ---- live/replay.c */
void *replayer_main(void *arg);

#endif
