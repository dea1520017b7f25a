/* SPDX-License-Identifier: Apache-2.0
 *
 * live_internal.h: shared by the files of src/live. Only they include it.
 */
/* clang-format off */
/*
 * Files
 *   live.c             opens streams; the follower sends them what is committed
 *   replay.c           the replayer sends streams that are behind what they missed, from the store
 *   ephemeral_queue.c  events that are delivered but not stored, on their way to the follower
 *   sse.c              the framing of an event in a stream
 */
/* clang-format on */
#ifndef LIVE_LIVE_INTERNAL_H
#define LIVE_LIVE_INTERNAL_H

#include "http/stream.h"
#include "live/ephemeral_queue.h"
#include "live/live.h"
#include "runtime/config.h"
#include "runtime/log.h"

#define LIVE_EVENT_MAX ((size_t)256 << 20) /* one event; a page of the store ends at 32 MiB */
#define LIVE_KEEP ((size_t)1 << 20)        /* memory kept from one event to the next */

enum { LOOKS = 16 /* a power of two */ };

/* A user with open streams, which share the access checks. */
typedef struct viewer {
    struct viewer *next;
    char *user, *share; /* user NULL: the program itself; share NULL: no link */
    int streams;
    size_t replayed;  /* of the replayer: bytes sent to its streams and not read yet */
    ramet_call *call; /* of the follower, while it delivers a page */
    struct {
        const char *session; /* in the page */
        bool deleted, seen;
    } looks[LOOKS];
} viewer;

typedef struct reader {
    struct reader *next;
    body_stream *out;
    viewer *viewer;
    char *session, *tree;      /* filters; NULL = all */
    int64_t after;             /* it has everything up to this event */
    int64_t began;             /* … when it was opened */
    int64_t written_us;        /* when something was last written or read */
    size_t behind;             /* unread bytes at the last check */
    bool fell_behind;          /* it was live before */
    int64_t unrepeatable_seen; /* live.unrepeatable at that time */
    int page;                  /* replay: events to read per turn, fewer if they are large */
    size_t wants;              /* replay: size of the event that did not fit */
    live_feed feed;
} reader;

struct live {
    const server_config *cfg;
    ramet *store;
    pthread_t follower, replayer;

    pthread_mutex_t lock; /* guards everything up to the counters */
    pthread_cond_t wake;  /* for the replayer */
    reader *joining, *behind;
    viewer *viewers;
    int64_t last;
    bool stop;

    pthread_mutex_t settle_lock; /* guards these, and is held while settle() runs */
    void (*settle)(void *arg, int64_t event);
    void *settle_arg;

    ephemeral_queue ephemeral;
    int64_t unrepeatable; /* of the follower: ephemeral events so far, except deltas */

    _Atomic int64_t open, replaying, sent, dropped, fallen, resets;
};

/* ---- live.c */

/* Whether the event is the viewer's own removal, which the feed does not report. */
bool reader_skips(const reader *r, const ramet_event *e);
/* A call with the viewer's rights. A share link that was revoked meanwhile grants nothing. */
ramet_call *viewer_call(ramet *store, const viewer *v);
void reader_free(live *l, reader *r);
/* Adds bytes for this stream only; nothing if `text` is empty. False: its client has
 * disconnected. */
bool reader_add(reader *r, const buf *text, int64_t number);
/* Ends the stream of a client that was too slow, with a last event that says so. reader_free() must
 * follow. */
void reader_close(live *l, reader *r);

/* ---- live/replay.c */
void *replayer_main(void *arg);

#endif
