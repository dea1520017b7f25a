/* SPDX-License-Identifier: Apache-2.0
 *
 * turns_own.h: what the files of turns share. Nobody else includes it.
 *
 *   turns.c        the table of runs, the threads and the queue, time limits, start and stop
 *   turns_send.c   requests: begin, join, fan-out, cancel, answer
 *   turns_run.c    one run: the agent's words, and how they are recorded
 *   turns_hear.c   who listens to a run, and what is told
 *   turns_title.c  titles by an agent
 *   turns_host.c   which process runs a turn, and whether it still does
 *
 * A run is one turn of the store while this process makes it. It has owners: the table, the thread
 * or the queue, and whoever looks at it just now.
 *
 * While the message of a turn is being stored, a thread already gets ready to run it (it wakes up,
 * and reads the history up to there). What it does then is thrown away if the turn does not begin.
 *
 *   R1  The library is never called with a lock of this module held: answers that show `running`
 *       are written inside commits, and take these locks.
 *
 *   R2  One at a time writes to the store for a run (`writing`); what is written is taken out of
 *       the run when it is durable. Who sets `closed` ends the turn, once; from then on the agent's
 *       words go nowhere.
 *
 *   R3  A run is in the table before its turn is in the store, and until that has ended there: so a
 *       turn that runs here is always found.
 *
 *   R4  Locks are taken in this order: table, run, listener.
 *
 *   R5  No agent is asked before the turn, with its message, is durable (`fate`).
 */
#ifndef SERVER_TURNS_OWN_H
#define SERVER_TURNS_OWN_H

#include "base/util.h"
#include "server/server.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* One request that waits for one or more runs. */
typedef struct listener listener;

typedef struct ear {
    struct ear *next;
    listener *who;
    size_t index;      /* which of its runs */
    size_t part, byte; /* how much of the run's parts it was told */
    bool held;         /* it is behind: words wait in the run, and are then told as one */
} ear;

typedef struct run_part {
    bool thinking;
    buf text;
} run_part;

/* What becomes of a run whose turn is being begun. */
typedef enum { FATE_OPEN, FATE_RUN, FATE_NEVER } run_fate;

typedef struct run {
    struct run *next;   /* in the table */
    struct run *queued; /* the next one that waits for a thread */
    turns *t;
    _Atomic int owners;

    /* fixed once the turn has begun */
    arena *mem;
    char id[UUID_TEXT];
    const char *session, *tree, *user, *group, *entry_id;
    const char *cache_key;
    ramet_agent settings; /* of the session, or of the request */
    agent *who;
    const char *agent; /* its name */
    int64_t branch;
    int64_t length; /* entries of the history that it answers */
    bool untitled;
    bool past; /* made from the store, for one who comes late: not in the table */

    /* what may be read before the turn has begun: so many entries of that branch */
    int64_t ahead, ahead_branch;
    ramet_entry *message; /* as stored, in `mem` */
    size_t n_message;
    bool prepared; /* a thread waits for its fate */
    _Atomic int fate;
    sem_t decided; /* posted when there is one */

    bool begun; /* the turn is in the store; changes under both locks */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;  /* writing ended, a question was answered, it was closed */
    atomic_bool closed;
    bool writing, over;
    bool unsaved; /* over, but the store took no writes when it ended: tried again now and then */
    ramet_entry_in last; /* the last entry of the answer, in `mem` */
    size_t n_last;
    bool kept; /* the head may leave its branch */
    VEC(run_part) parts;
    size_t bytes;         /* in parts */
    int64_t chars, begin; /* said so far; said before the text in parts */
    buf entries;          /* JSON of those that were appended, parted by commas */
    VEC(size_t) ends;     /* of each of them in it */
    bool recorded;        /* an entry of the answer is in the store */
    ramet_usage usage;
    bool has_usage;
    char currency[16];
    char *question, *question_id; /* JSON; NULL: none is open */
    char *options;                /* of a permission; NULL: any answer will do */
    char *answer;
    char *plan;    /* JSON */
    bool plan_new; /* it is in no entry yet */
    ear *ears;
    ramet_turn_status status;
    char error[512];
    buf json, line; /* the event that is being told */

    /* times by time_mono_us() */
    int64_t started, heard, asked, waited, told;

    /* the watcher's own */
    int64_t looked;
    bool left;
} run;

enum { HOST_TEXT = 128 };

typedef struct turn_thread turn_thread;

struct turns {
    const server_config *cfg;
    ramet *store;
    agents *agents;
    live *live;
    char host[HOST_TEXT]; /* this process */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;  /* a thread ended; the watcher is to stop */
    run *runs;
    run *first, **last; /* waiting for a thread */
    int64_t threads;    /* that run agents, or are about to */
    int64_t alive;      /* these, and the idle ones */
    turn_thread *idle;  /* the one that became idle last is first */
    int64_t n_idle;
    int64_t admitted; /* turns that run, wait or are about to begin */
    int64_t waiting;
    int64_t ended[RAMET_TURN_INTERRUPTED + 1]; /* by status */
    bool stopping, watch_stop, threads_stop;
    pthread_t watcher;
};

/* ---- turns.c */

/* Waits until it has begun; false: it did not. */
bool run_is_there(run *r);
/* Room for n more; false: there is none. Given back by turns_leave(), or by the end of each run. */
bool turns_admit(turns *t, int64_t n);
void turns_leave(turns *t, int64_t n);
run *run_make(turns *t, const char *session);
/* A run in the table, and owned by the caller. run_begun() follows, or run_remove(). */
run *run_new(turns *t, const char *session);
/* Wakes a thread for it, if there is one to have. The turn is being begun on this head; NULL: its
 * history is not known yet. */
void run_prepare(run *r, const ramet_head *head);
/* The turn is in the store. Returns with the lock of the run. */
void run_begun(run *r);
/* It is not to run, although it has begun. */
void run_drop(run *r);
/* NULL: there is none. The caller becomes an owner; one that is just beginning is waited for. */
run *run_find(turns *t, const char *session, const char *id);
void run_put(run *r);
/* Takes it out of the table: the turn has ended, or did not begin. */
void run_remove(run *r);
/* Lets the thread go on that was prepared (that may be said twice); else gives it a thread, or a
 * place in the queue. */
void run_start(run *r);

/* Waits, and tells whether agents may go on: false when the server stops. */
bool turns_wait(turns *t, int64_t ms);

/* ---- turns_run.c */

/* Keeps the message of the turn for its thread. */
void run_message(run *r, const ramet_append_out *out);
/* Waits for the fate of the run, and runs it. False: it was not to be. */
bool run_main(run *r);
/* Ends the turn, with what came so far; waits until that is in the store. False: it had ended. */
bool run_close(run *r, ramet_turn_status status, const char *error);
/* Tries to record the end of one that is `unsaved`; false: it still is. */
bool run_save(run *r);

/* ---- turns_hear.c */

listener *listener_new(turns *t, face_req *q, size_t n, const char *group);
/* Joins a run: what came so far is told first. With its lock. */
void run_join(run *r, listener *l, size_t index);
/* For a turn that did not begin, or is over: its events and its JSON. */
void listener_done(listener *l, size_t index, const char *json, size_t n);
void listener_tell(listener *l, const char *event, const char *json, size_t n);

/* Writes the front of an event; the rest and its end are the caller's. With the lock of the run. */
json_writer tell_begin(run *r, const char *event);
/* To those who listen to the run, and to everyone who watches the session. */
void tell_end(run *r, json_writer *w, const char *event, bool to_watchers);
/* The same for words that were added to the parts of the run. */
void tell_words(run *r, json_writer *w, const char *event);
/* The words that some were not told yet, as far as they can take them. */
void tell_held(run *r);
/* The parts are about to become an entry, which is told next. */
void tell_parts_over(run *r);
void tell_entries(run *r, const ramet_append_out *out);
void tell_sign_of_life(run *r);
/* The last event; nobody listens from then on. */
void tell_over(run *r, const char *error);

/* ---- turns_host.c */

void host_name(char out[HOST_TEXT]);
/* Marks as interrupted what processes that are no more have left running. */
ramet_status hosts_bury(ramet_call *c, int64_t *n);

/* ---- turns_title.c */
void title_make(run *r);

#endif
