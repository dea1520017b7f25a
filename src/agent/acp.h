/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.h: programs that speak the Agent Client Protocol, one a working folder, and the turns that
 * hear them.
 *
 * A thread a program reads what it says and hands each line to the turn that it is for, and writes
 * what it has not yet taken: nobody waits for a program that does not read. Everything is under the
 * one lock of the agent, but what is said to a program, which has its own.
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

typedef struct acp acp;
typedef struct program program;
typedef struct terminal terminal;

struct program {
    program *next;
    acp *own;
    char *folder;
    child child;
    pthread_t reader;
    bool gone;                                    /* it has ended: the next turn starts another */
    bool ready;                                   /* it has said hello */
    bool takes_images, takes_sounds, takes_files; /* in a message: so it said then */
    int users;
    pthread_mutex_t saying; /* of `to` and `wake`; the agent's lock is never taken within */
    lines_out to;
    int wake[2]; /* a pipe: something is left to be written */
    listener *listeners;
    terminal *terminals;
    unsigned long long last_id;
};

/* What an inner session of a program holds: the history up to a message, and its answer. */
typedef struct held {
    struct held *next;
    char *session, *inner, *turn;
    char *setup; /* what was set in it */
    char *model_option;
    char hash[65];
    program *in;
} held;

struct acp {
    pthread_mutex_t lock;
    pthread_cond_t some; /* a line has come, or a program is gone */
    program *programs;
    held *held;
    char **argv;
    const char *roots;     /* folders that a session's must lie in, parted by colons; "": any */
    char *modes, *options; /* JSON: what the program told last that it has; NULL: nothing yet */
    arena *a;
    bool reads, writes, terminals;
};

/* The program of a folder, started when there is none; given back with program_leave(). NULL: *why
 * tells. */
program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n);
void program_leave(acp *own, program *p);
void programs_stop(acp *own);
void held_free(held *h);

void listener_add(acp *own, program *p, listener *l);
void listener_remove(acp *own, program *p, listener *l);
void program_say(program *p, const char *line);
/* Asks, and remembers in *l that an answer is waited for. `params` is JSON. */
void program_ask(acp *own, program *p, listener *l, const char *method, const char *params);

/* Whether a folder is another one or lies in it, whatever links are on the way. */
bool path_within(const char *path, const char *folder);

/* ---- terminals (acp_terminal.c) */

/* Answers a request terminal/…, at once or (wait_for_exit) when it has ended. `folder` is that of
 * the session. */
void terminal_request(program *p, arena *a, const message *m, const char *folder);
/* Ends all of them. Without the lock. */
void terminals_stop(program *p);

/* ---- content blocks (acp_blocks.c): JSON, behind the others in an open array */

void block_add_text(buf *to, arena *a, const char *text);
/* What an entry of the user says. *room: bytes of attachments that may still go along; larger ones
 * are named only. */
void blocks_put(buf *to, arena *a, const program *p, const agent_turn *t, const ramet_entry *e,
                size_t *room);

/* The next line for it, of xmalloc; NULL: none within the time, or (p->gone) there will be none. */
char *listener_next(acp *own, program *p, listener *l, int ms, size_t *n);

#endif
