/* SPDX-License-Identifier: Apache-2.0
 *
 * acp.h: programs that speak the Agent Client Protocol, one for each working folder, and the turns
 * that use them.
 *
 * Each program has its own thread (agent/acp/program.c), which starts the process, does the
 * handshake, reads the output and passes each line to its turn, writes what turns have queued, and
 * ends and reaps the process. Turns use a program between program_enter() and program_leave();
 * cancelling one of them does not affect the others, not even during the start.
 *
 *   STARTING   the process is being started, or has not yet answered `initialize`; turns wait
 *   READY      turns run
 *   ENDING     the process has exited or is being ended: turns that use it fail, and a new turn in
 *              the folder starts another one. When the last turn has left, the program is freed.
 *
 * Invariants
 *   P1  Only the program's thread touches its process and moves it to READY. Any thread may move it
 *       to ENDING, with a reason; the first reason stays.
 *   P2  The exit of the process ends the program, even if another process holds the other end of
 *       its pipes.
 *   P3  An agent has at most `most` programs, including those in state ENDING.
 *
 * LOCKS   The agent's lock covers everything except a program's output queue, which has its own
 * lock;
 *         the agent's lock is never taken while holding that one.
 */
#ifndef AGENT_ACP_ACP_H
#define AGENT_ACP_ACP_H

#include "agent/agent.h"
#include "base/child.h"
#include "base/lines.h"
#include "agent/acp/message.h"

#include <pthread.h>

typedef struct inbox_line {
    struct inbox_line *next;
    char *text;
    size_t n;
} inbox_line;

/* The lines received for one turn. */
typedef struct inbox {
    struct inbox *next;
    char *inner;    /* the agent's session id; NULL: not known yet */
    char asked[32]; /* id of the request that it waits for, raw */
    inbox_line *first, **last;
} inbox;

typedef struct acp acp;
typedef struct program program;
typedef struct terminal terminal;

typedef enum { PROGRAM_STARTING, PROGRAM_READY, PROGRAM_ENDING } program_state;

struct program {
    program *next;
    acp *own;
    char *folder;
    program_state state;
    char why[256];                                /* ENDING: the reason, for users */
    bool takes_images, takes_sounds, takes_files; /* accepted in a message; known once READY */
    int users;                                    /* turns between enter and leave */
    int64_t due; /* monotonic: STARTING: deadline of the handshake; READY without users: when to end
                    it */
    child child; /* used by the program's thread only */
    pthread_mutex_t saying; /* guards `to` */
    lines_out to;
    int wake; /* an eventfd: something is queued, or the state or `due` changed */
    inbox *inboxes;
    terminal *terminals;
    unsigned long long last_id;
};

/* The contents of a program's inner session: the history up to a message, and its answer. */
typedef struct held {
    struct held *next;
    char *session, *inner, *turn;
    char *setup; /* the setup applied to it */
    char *model_option;
    char hash[65];
    /* The overlays in effect, and the entries erased, when it was sent: the hash covers neither. */
    int64_t overlay;
    size_t n_erased;
    program *in;
} held;

struct acp {
    pthread_mutex_t lock;
    pthread_cond_t some; /* a line arrived, or a program or its users changed */
    program *programs;
    size_t n_programs, max;
    int64_t idle_us; /* a program without turns is ended after this time */
    held *held;
    char **argv;
    char **env;            /* for programs and terminals */
    const char *roots;     /* folders that must contain a session's folder, separated by colons */
    const char *folder;    /* for sessions that have none; "": none */
    bool any_folder;       /* without roots: whether a session may name any folder */
    char *modes, *options; /* JSON: the choices the program last offered; NULL: none yet */
    arena *arena;
    bool reads, writes, terminals;
};

/* The program of a folder, in state READY; started if there is none. Release it with
 * program_leave(). NULL: *why has the reason; "": the turn was cancelled. */
program *program_enter(acp *own, const char *folder, const agent_sink *s, char *why, size_t n);
void program_leave(program *p);
/* Whether the program is ENDING, and why. */
bool program_ended(program *p, char *why, size_t n);
/* Ends all programs; no turn may be running. */
void programs_stop(acp *own);
void held_free(held *h);

void inbox_add(acp *own, program *p, inbox *l);
void inbox_remove(acp *own, program *p, inbox *l);
void program_say(program *p, const char *line);
/* Sends a request, and records in *l that its answer is expected. `params` is JSON. */
void program_ask(acp *own, program *p, inbox *l, const char *method, const char *params);

/* ---- folders and files (agent/acp/folder.c) */

/* Whether a path is the folder or lies in it, after resolving links. */
bool path_within(const char *path, const char *folder);
/* Whether the settings `roots` and `folder` are valid; *why (AGENT_MESSAGE bytes) has the
 * reason. */
bool folders_check(const acp *own, char *why);
/* The real path of a turn's folder, allocated with xmalloc; NULL: the agent may not work there, and
 * *out is filled in. */
char *folder_of(const acp *own, const agent_turn *t, agent_result *out);
/* fs/read_text_file: the text from `line` on, at most `limit` lines; NULL: not found. */
const char *folder_read(const acp *own, arena *a, const char *folder, const message *m);
bool folder_write(const acp *own, const char *folder, const message *m);

/* ---- environments (agent/acp/env.c) */

/* The environment of programs: those variables of this process that contain no secrets, plus those
 * listed in `names`, separated by blanks; a trailing * matches any rest. NULL: *wrong is not a
 * valid name. */
char **env_make(arena *a, const char *names, const char **wrong);
/* The same with more variables, NAME=VALUE, added or replaced. */
char **env_join(arena *a, char *const *base, char *const *more, size_t n);

/* ---- terminals (agent/acp/terminal.c) */

/* Answers a request terminal/…, at once or (wait_for_exit) when the command has ended. `folder` is
 * the session's. */
void terminal_request(program *p, arena *a, const message *m, const char *folder);
/* Ends all terminals. Called without the lock. */
void terminals_stop(program *p);

/* ---- content blocks (agent/acp/blocks.c): JSON, appended to an open array */

void block_add_text(buf *to, arena *a, const char *text);
/* The content of a user's entry. *room: bytes left for attachments; larger ones are only named. */
void blocks_put(buf *to, arena *a, const program *p, const agent_turn *t, const ramet_entry *e,
                size_t *room);

/* The next line for the inbox, allocated with xmalloc; NULL: none within the time, or the
 * program is ENDING. */
char *inbox_next(acp *own, program *p, inbox *l, int ms, size_t *n);

#endif
