/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.h: programs that speak the Agent Client Protocol, one a working folder, and the turns that
 * hear them.
 *
 * A thread a program reads what it says and hands each line to the turn that it is for. Everything
 * is under the one lock of the agent, but writing to a program: that may wait for it.
 */
#ifndef AGENT_ACP_H
#define AGENT_ACP_H

#include "agent/agent.h"
#include "base/child.h"
#include "base/lines.h"
#include "base/message.h"

#include <pthread.h>

typedef struct heard_line {
    struct heard_line *next;
    char *text;
    size_t n;
} heard_line;

/* A turn that hears. */
typedef struct listener {
    struct listener *next;
    char *inner;    /* the agent's id of its session; NULL: not yet known */
    char asked[32]; /* id of the request that it waits for the answer of, raw */
    heard_line *first, **last;
} listener;

typedef struct program {
    struct program *next;
    char *folder;
    child child;
    pthread_t reader;
    bool gone;  /* it has ended: the next turn starts another */
    bool ready; /* it has said hello */
    int users;
    pthread_mutex_t saying; /* one line at a time; never taken with the agent's lock */
    listener *listeners;
    unsigned long long last_id;
} program;

/* What an inner session of a program holds: the history up to a message, and its answer. */
typedef struct held {
    struct held *next;
    char *session, *inner, *turn;
    int64_t branch;
    char hash[65];
    program *in;
} held;

typedef struct acp {
    pthread_mutex_t lock;
    pthread_cond_t some; /* a line has come, or a program is gone */
    program *programs;
    held *held;
    char **argv;
    arena *a;
    bool reads, writes;
} acp;

/* The program of a folder, started when there is none; given back with program_leave(). NULL: *why
 * tells. */
program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n);
void program_leave(acp *own, program *p);
void programs_stop(acp *own);

void listener_add(acp *own, program *p, listener *l);
void listener_remove(acp *own, program *p, listener *l);
void program_say(program *p, const char *line);
/* Asks, and remembers in *l that an answer is waited for. `params` is JSON. */
void program_ask(acp *own, program *p, listener *l, const char *method, const char *params);
/* The next line for it, of xmalloc; NULL: none within the time, or (p->gone) there will be none. */
char *listener_next(acp *own, program *p, listener *l, int ms, size_t *n);

#endif
