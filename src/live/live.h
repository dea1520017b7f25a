/* SPDX-License-Identifier: Apache-2.0
 *
 * live.h: live events. Every open stream gets events as they are committed; a client that
 * reconnects gets what it missed, from the store.
 *
 * THREADS    Every function here may be called from any thread.
 * OWNERSHIP  live_open() takes ownership of the feed, even if it fails: its release() is called
 *            exactly once.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "http/request.h"

struct server_config;

/* How events become the bytes of a protocol. Each function appends to `out`; if it appends nothing,
 * nothing is sent. They run on a thread that serves all streams, with locks held: they may read the
 * store through calls of their own, and use nothing else of the library. */
typedef struct live_feed {
    /* The first bytes of a stream. `number`: it has everything up to that event; -1: unknown. */
    void (*hello)(void *arg, int64_t number, buf *out);
    void (*event)(void *arg, const ramet_event *e, buf *out);
    /* Events up to the number are no longer available. */
    void (*reset)(void *arg, int64_t number, buf *out);
    /* A heartbeat for a stream that has everything up to the number. */
    void (*heartbeat)(void *arg, int64_t number, buf *out);
    /* The last bytes for a client that was too slow; it has everything up to the number. May be
     * NULL. */
    void (*closed)(void *arg, int64_t number, buf *out);
    void (*release)(void *arg); /* may be NULL */
    void *arg;
    bool is_shared; /* event() writes the same bytes for all such feeds, so it is called once */
    bool takes_ephemeral; /* also send ephemeral events */
    bool sees_all;        /* events of all sessions, ignoring access rights */
    bool reports_removal; /* send a removed member that event; otherwise the stream falls silent */
} live_feed;

typedef struct live live;
live *live_new(const struct server_config *cfg, ramet *store);
void live_stop(live *l); /* ends its streams, accepts no new ones */
void live_free(live *l); /* after live_stop(), once no request runs */
/* Turns the request's answer into a stream: replays what came after `in->after` (or starts from
 * now), then continues. False: too many streams are open, and the request is not answered. */
bool live_open(live *l, request *q, const ramet_events_in *in, bool from_now,
               const live_feed *feed);
int64_t live_max_streams(const live *l);

typedef struct live_numbers {
    int64_t streams, replaying;            /* current */
    int64_t sent, dropped, fallen, resets; /* since the start */
    int64_t buffered;                      /* bytes waiting in streams */
} live_numbers;
void live_count(live *l, live_numbers *out);

/* An event for all streams that currently watch its session and may see it. It is neither stored,
 * numbered nor replayed. */
typedef struct ephemeral_event {
    const char *session, *tree;
    bool is_delta; /* a later entry has its text, so a slow client may miss it */
    const char *bytes;
    size_t n;
} ephemeral_event;
/* Delivers a copy of the event: after the event with the number `after` and before later ones. -1:
 * after everything committed before the call. Never blocks. */
void live_publish(live *l, int64_t after, const ephemeral_event *e);
bool live_watched(live *l); /* any streams are open */
/* Sets a function that is called before events up to that number are delivered. When it returns,
 * what other nodes published before these events were committed has been published here, as far as
 * possible. NULL: none; no call of the previous function is running when this returns. */
void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg);

#endif
