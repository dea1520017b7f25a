/* SPDX-License-Identifier: Apache-2.0
 *
 * live.h: live events. Every stream that a client opened gets what is committed, as it is
 * committed; a client that comes back is given what it missed, from the store.
 *
 * THREADS    Every function here may be called from any thread.
 * OWNERSHIP  live_open() takes the feed over, also when it fails: its release() is called exactly
 *            once.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "http/request.h"

struct server_config;

/* How events become the bytes of a protocol. Each function adds bytes to `out`, or none: then
 * nothing is sent. They run on a thread that serves all streams, with locks held: they may read the
 * store through calls of their own, and use nothing else of the library. */
typedef struct live_feed {
    /* The first bytes of a stream. `number`: it has everything up to that event; -1: not known. */
    void (*hello)(void *arg, int64_t number, buf *out);
    void (*event)(void *arg, const ramet_event *e, buf *out);
    /* Events up to the number cannot be had any more. */
    void (*reset)(void *arg, int64_t number, buf *out);
    /* A sign of life of a stream that has everything up to the number. */
    void (*heartbeat)(void *arg, int64_t number, buf *out);
    /* The last bytes for a client that was too slow; it has everything up to the number. May be
     * NULL. */
    void (*closed)(void *arg, int64_t number, buf *out);
    void (*release)(void *arg); /* may be NULL */
    void *arg;
    bool is_shared;       /* event() writes the same bytes for all such feeds: it is called once */
    bool takes_ephemeral; /* ephemeral events are sent, too */
    bool sees_all;        /* events of all sessions, whatever the caller may see */
    bool
        reports_removal; /* a member who is removed gets that event; else the stream falls silent */
} live_feed;

typedef struct live live;
live *live_new(const struct server_config *cfg, ramet *store);
void live_stop(live *l); /* ends its streams, accepts no new ones */
void live_free(live *l); /* after live_stop(), when no request runs any more */
/* The answer of the request becomes a stream: it replays what came after `in->after` (or starts
 * from now on), then goes on. False: too many streams are open, and the request is not answered. */
bool live_open(live *l, request *q, const ramet_events_in *in, bool from_now,
               const live_feed *feed);
int64_t live_max_streams(const live *l);

typedef struct live_numbers {
    int64_t streams, replaying;            /* now */
    int64_t sent, dropped, fallen, resets; /* since the start */
    int64_t buffered;                      /* bytes that wait in streams */
} live_numbers;
void live_count(live *l, live_numbers *out);

/* An event that is delivered to all streams that watch its session now and may see it, but neither
 * stored nor numbered nor replayed. */
typedef struct ephemeral_event {
    const char *session, *tree;
    bool is_delta; /* an entry that follows has its text: a slow client goes without it */
    const char *bytes;
    size_t n;
} ephemeral_event;
/* Sends one, as a copy: behind the event with the number `after` and before those past it. -1:
 * behind what was committed before the call. Never waits. */
void live_publish(live *l, int64_t after, const ephemeral_event *e);
bool live_watched(live *l); /* streams are open */
/* A function that is called before events are handed out up to that number. When it returns, what
 * other nodes published before these events were committed has been published here, as far as
 * possible. NULL: none; no call of the former one is under way when this returns. */
void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg);

#endif
