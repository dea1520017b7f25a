/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a.h: the parts of the agent kind `a2a`: settings, what is said to the remote agent, what comes
 * back.
 */
#ifndef AGENT_A2A_A2A_H
#define AGENT_A2A_A2A_H

#include "agent/agent.h"
#include "agent/wire.h"
#include "base/util.h"

#include <pthread.h>

enum {
    A2A_REQUEST_BYTES = 64 << 20,
    A2A_EVENT_BYTES = 16 << 20,  /* one event of a stream, or one answer */
    A2A_ANSWER_BYTES = 16 << 20, /* words of one turn */
    A2A_STREAM_BYTES = 512 << 20,
    A2A_ROUNDS = 64, /* questions of one turn, and streams that broke off */
    A2A_REASON = 400
};

/* How the remote agent knows what was said before. */
typedef enum {
    A2A_BY_CONTEXT, /* it remembers each context by itself */
    A2A_READS_BACK, /* it reads the session from us: the context is the session */
    A2A_EVERY_TURN  /* it does not: it is told everything each time */
} a2a_memory;

/* The settings, read and checked. Texts live as long as the agent. */
typedef struct a2a_settings {
    const char *name; /* of the agent: author of its entries */
    const char *url;
    const char *key;
    bool fixed, v1; /* version is set, and which it is */
    bool stream, user;
    a2a_memory memory;
    int64_t transcript; /* bytes of it, at most */
    wire_limits limits;
    int64_t retries, backoff_ms;
} a2a_settings;

/* Where and how the remote agent is spoken to. */
typedef struct a2a_remote {
    const char *url;
    bool v1;     /* A2A 1.0, else 0.3 */
    bool stream; /* it can */
} a2a_remote;

/* ------------------------------------------------------------------ what is said */

/* What of the history the remote agent knows. */
typedef struct a2a_place {
    const char *context; /* NULL: it shall make one */
    size_t message;      /* index of the first entry of the new message */
    bool is_complete;    /* the context holds everything before it */
} a2a_place;

/* A context belongs to one run of turns of one branch that this agent answered without a break, and
 * its id is made from where that begins. So a fork, a rewind, an edit, an answer of somebody else
 * or a turn that broke off each lead to a context that is new, and coming back to a branch leads
 * to the one that was there. */
void a2a_place_find(arena *a, const a2a_settings *o, const agent_turn *t, a2a_place *out);

/* The message of a turn, as a JSON object; with the transcript of what the context does not hold.
 * NULL: it grows too large. */
const char *a2a_message_first(arena *a, const a2a_settings *o, const agent_turn *t, bool v1,
                              const a2a_place *at);

/* ------------------------------------------------------------------ what comes back */

typedef enum {
    A2A_OPEN,   /* more is to come */
    A2A_DONE,   /* the answer is whole */
    A2A_ASKS,   /* the agent waits for an answer to `question` */
    A2A_FAILED, /* `reason` */
    A2A_STOPPED /* the turn was cancelled */
} a2a_state;

typedef struct a2a_answer {
    arena *arena;   /* of the turn */
    arena *scratch; /* of one event */
    const agent_sink *sink;
    bool keeps;      /* the agent records calls of tools itself: they are not told */
    buf line, event; /* of the stream, as far as they came */
    buf whole;       /* an answer that is no stream */
    size_t bytes;
    buf said;                /* words so far */
    size_t from;             /* in said: where the message begins that comes in pieces */
    bool after;              /* the last words were a whole message: others follow in a paragraph */
    bool apart;              /* an entry of its own was made since: no paragraph is needed */
    const char *artifact;    /* the last one that words came of */
    VEC(const char *) seen;  /* ids of messages that were told */
    VEC(const char *) calls; /* ids of calls that were told */
    const char *task, *context; /* as the agent names them; NULL: not yet */
    a2a_state state;
    const char *question; /* what it asks */
    bool confirm;         /* it asks for yes or no */
    char reason[A2A_REASON];
    int64_t code; /* of a JSON-RPC error; 0: none */
} a2a_answer;

void a2a_answer_init(a2a_answer *an, arena *a, const agent_sink *s);
void a2a_answer_release(a2a_answer *an);
/* A new request: what came of the last one is done with. */
void a2a_answer_next(a2a_answer *an);
/* Bytes of an answer of that type; false: stop reading. */
bool a2a_answer_add(a2a_answer *an, const char *type, const char *p, size_t n);
/* No more bytes come. */
void a2a_answer_end(a2a_answer *an);

#endif
