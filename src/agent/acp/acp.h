/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.h: programs that speak the Agent Client Protocol, one for each working folder, and the turns
 * that use them.
 *
 * A program belongs to a thread of its own (agent/acp/program.c), which starts the process, does
 * the handshake, reads the output and hands each line to the turn that it is for, writes what turns
 * have queued, and ends and reaps the process. Turns use a program between program_enter() and
 * program_leave(); cancelling one of them does nothing to the others, also during the start.
 *
 *   STARTING   the process is being started, or has not yet answered `initialize`; turns wait
 *   READY      turns run
 *   ENDING     the process has exited or is being ended: turns that use it fail, and a new turn in
 *              the folder starts another one. When the last turn has left, the program is freed.
 *
 * Invariants
 *   P1  Only the program's thread touches its process and moves it to READY. Any thread may move it
 *       to ENDING, with a reason; the first reason stays.
 *   P2  The exit of the process ends the program, whoever holds the other end of its pipes.
 *   P3  An agent has at most `most` programs, those that are ENDING included.
 *
 * LOCKS   The agent's lock covers all but what is queued for a program, which has its own; the
 *         agent's lock is never taken within that one.
 */
#ifndef AGENT_ACP_ACP_H
#define AGENT_ACP_ACP_H

#include "agent/agent.h"
#include "base/child.h"
#include "base/lines.h"
#include "agent/acp/message.h"

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

typedef enum { PROGRAM_STARTING, PROGRAM_READY, PROGRAM_ENDING } program_state;

struct program {
    program *next;
    acp *own;
    char *folder;
    program_state state;
    char why[256];                                /* ENDING: the reason, for people */
    bool takes_images, takes_sounds, takes_files; /* in a message; known once READY */
    int users;                                    /* turns between enter and leave */
    int64_t due; /* mono: STARTING, when it must have answered; READY and no users: when it ends */
    child child; /* of the program's thread */
    pthread_mutex_t saying; /* of `to` */
    lines_out to;
    int wake; /* an eventfd: something is queued, or the state or `due` has changed */
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
    int64_t overlay; /* what was hidden or replaced when it was told: the hash does not tell */
    program *in;
} held;

struct acp {
    pthread_mutex_t lock;
    pthread_cond_t some; /* a line has come, or a program or its users have changed */
    program *programs;
    size_t n_programs, most;
    int64_t idle_us; /* a program without turns is ended after that time */
    held *held;
    char **argv;
    char **env;            /* of programs and terminals */
    const char *roots;     /* folders that a session's must lie in, parted by colons */
    const char *folder;    /* of sessions that have none; "": none */
    bool any_folder;       /* without roots: whether a session may name any folder */
    char *modes, *options; /* JSON: what the program told last that it has; NULL: nothing yet */
    arena *a;
    bool reads, writes, terminals;
};

/* The program of a folder, READY; started when there is none. Given back with program_leave().
 * NULL: *why says why; "": the turn was cancelled. */
program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n);
void program_leave(program *p);
/* Whether it is ENDING, and why. */
bool program_ended(program *p, char *why, size_t n);
/* Ends all of them; no turn may run. */
void programs_stop(acp *own);
void held_free(held *h);

void listener_add(acp *own, program *p, listener *l);
void listener_remove(acp *own, program *p, listener *l);
void program_say(program *p, const char *line);
/* Asks, and remembers in *l that an answer is waited for. `params` is JSON. */
void program_ask(acp *own, program *p, listener *l, const char *method, const char *params);

/* ---- folders and files (agent/acp/folder.c) */

/* Whether a folder is another one or lies in it, whatever links are on the way. */
bool path_within(const char *path, const char *folder);
/* Whether the settings `roots` and `folder` make sense; *why (AGENT_MESSAGE bytes) says why not. */
bool folders_check(const acp *own, char *why);
/* The real path of a turn's folder, of xmalloc; NULL: it has none that the agent may work in, and
 * *out says so. */
char *folder_of(const acp *own, const agent_turn *t, agent_result *out);
/* fs/read_text_file: the text from `line` on, at most `limit` lines; NULL: there is none such. */
const char *folder_read(const acp *own, arena *a, const char *folder, const message *m);
bool folder_write(const acp *own, const char *folder, const message *m);

/* ---- environments (agent/acp/env.c) */

/* The environment of programs: the variables of this process that no secret stands in, and those
 * that `names` lists, parted by blanks; a * at the end of a name stands for the rest. NULL: a name
 * is none, *wrong. */
char **env_make(arena *a, const char *names, const char **wrong);
/* The same with other variables, NAME=VALUE, in it or in their place. */
char **env_join(arena *a, char *const *base, char *const *more, size_t n);

/* ---- terminals (agent/acp/terminal.c) */

/* Answers a request terminal/…, at once or (wait_for_exit) when it has ended. `folder` is that of
 * the session. */
void terminal_request(program *p, arena *a, const message *m, const char *folder);
/* Ends all of them. Without the lock. */
void terminals_stop(program *p);

/* ---- content blocks (agent/acp/blocks.c): JSON, behind the others in an open array */

void block_add_text(buf *to, arena *a, const char *text);
/* What an entry of the user says. *room: bytes of attachments that may still go along; larger ones
 * are named only. */
void blocks_put(buf *to, arena *a, const program *p, const agent_turn *t, const ramet_entry *e,
                size_t *room);

/* The next line for it, of xmalloc; NULL: none within the time, or the program is ENDING. */
char *listener_next(acp *own, program *p, listener *l, int ms, size_t *n);

#endif
