/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.h: runs agents on threads of its own and records their answers.
 */
#ifndef TURNS_TURNS_H
#define TURNS_TURNS_H

#include "http/request.h"
#include "live/live.h"

struct server_config;
struct agents;

enum { TURNS_MAX_PER_REQUEST = 16 };

/* How a request hears a turn, when it wants other words than the events of the native API. Called
 * with locks held: it does not use the library. */
typedef struct turn_listener {
    const char *type; /* Content-Type */
    bool whole;       /* one answer at the end, else events */
    /* One event, as the native API names it, with its data; "turn.joined" when those that came
     * before were told. What goes to the caller is added to `out`. False: it wants no more. */
    bool (*event)(void *arg, const char *event, const char *json, size_t n, buf *out);
    void (*release)(void *arg);
    void *arg;
} turn_listener;

/* One turn that a request asks for. */
typedef struct turn_request {
    const char *session;
    const ramet_fork_in *fork; /* it happens in this fork of the session; NULL: in the session */
    const ramet_agent *agent;  /* who answers; NULL: the session's agent */
    ramet_turn_in turn;        /* its id, agent, group and host are filled by who runs it */
} turn_request;

typedef struct turns turns;
/* What was left running by a server that died is marked as interrupted. NULL and *err. */
turns *turns_new(const struct server_config *cfg, ramet *store, struct agents *who, live *l,
                 ramet_error *err);
/* No new ones; those that run are cancelled after that many seconds. False: an agent did not stop,
 * and what it uses must not be freed. */
bool turns_stop(turns *t, int seconds);
void turns_free(turns *t);
/* What faces ask for (face_host). */
void turns_run(turns *t, request *q, const turn_request *in, size_t n, bool many);
void turns_join(turns *t, request *q, const char *session, const char *turn);
void turns_cancel(turns *t, request *q, const char *session, const char *turn);
void turns_answer(turns *t, request *q, const char *session, const char *turn, const char *question,
                  const char *answer);
void turns_moved(turns *t, const char *session, bool keep);
void turns_running(turns *t, const ramet_session *s, json_writer *w);
typedef struct turns_numbers {
    int64_t running, waiting;        /* now */
    int64_t done, cancelled, failed; /* since the start */
} turns_numbers;
void turns_count(turns *t, turns_numbers *out);

#endif
