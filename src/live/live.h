/* SPDX-License-Identifier: Apache-2.0
 *
 * live.h: live events. One thread reads events from the store and hands them to all streams.
 */
#ifndef LIVE_LIVE_H
#define LIVE_LIVE_H

#include "http/request.h"

struct server_config;

/* How a request is told of events, when it wants other words than the native API's. Called on a
 * thread of the server, which it holds up for all others; with locks held: of the library it uses
 * reads alone, through calls of its own. */
typedef struct live_feed {
    const char *hello, *pulse;                                /* first bytes; signs of life */
    void (*event)(void *arg, const ramet_event *e, buf *out); /* nothing is added: it is not told */
    void (*lost)(void *arg, int64_t number, buf *out);
    void (*release)(void *arg);
    void *arg;
    bool everybody; /* of all sessions, whoever may see them */
    bool removal;   /* a member who is removed is told so; else the stream falls silent */
} live_feed;

typedef struct live live;
live *live_new(const struct server_config *cfg, ramet *store);
void live_stop(live *l); /* ends its streams, takes no new ones */
void live_free(live *l); /* after live_stop(), when no request runs any more */
/* Takes the request over: replays past `in->after` (or from now on), then goes on. */
void live_open(live *l, request *q, const ramet_events_in *in, bool from_now);
typedef struct live_numbers {
    int64_t streams, replaying;            /* now */
    int64_t sent, dropped, fallen, resets; /* since the start */
    int64_t buffered;                      /* bytes that wait in streams */
} live_numbers;
void live_count(live *l, live_numbers *out);

/* A line for everyone who watches a session now and may see it, not numbered and not replayed
 * (turn.delta …): it comes behind the event with the number `after`, and before those past it. -1:
 * behind what was committed before the call. Never waits: who is too slow for it goes without.
 * `json` is the data. */
void live_publish(live *l, int64_t after, const char *session, const char *tree, const char *event,
                  const char *json, size_t n);
bool live_watched(live *l); /* somebody listens */
/* Who is asked before events are handed out up to that number: when it returns, what was told
 * elsewhere before they were committed has been told here, as far as possible. NULL: nobody, and
 * nobody is being asked when it returns. */
void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg);

#endif
