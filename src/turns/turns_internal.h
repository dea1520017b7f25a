/* SPDX-License-Identifier: Apache-2.0
 *
 * turns_internal.h: what the files of turns share. Nobody else includes it.
 *
 *   turns.c        the table of runs, the threads and the queue, time limits, start and stop
 *   turns/send.c   requests: begin, join, fan-out, cancel, answer
 *   turns/run.c    one run: the agent's words, and how they are recorded
 *   turns/subscribers.c   who listens to a run, and what is told
 *   turns/title.c  titles by an agent
 *   turns/host.c   which process runs a turn, and whether it still does
 *   turns/remote.c    runs of other nodes: what is told about a run, and what becomes of that
 * elsewhere nodes.c        what nodes tell and ask each other; that they live
 *
 * A run is one turn of the store while this process makes it. It has owners: the table, the thread
 * or the queue, and whoever looks at it just now.
 *
 * While the message of a turn is being stored, a thread already gets ready to run it (it wakes up,
 * reads the history up to there, and asks an agent that may be asked early). What it does then is
 * thrown away if the turn does not begin, or not there.
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
 *   R5  Nothing that an agent says is taken before the turn, with its message, is durable (`fate`);
 *       and none is asked before that for whom it makes a difference (agent_kind.early).
 */
#ifndef TURNS_TURNS_INTERNAL_H
#define TURNS_TURNS_INTERNAL_H

#include "base/host.h"
#include "base/util.h"
#include "agent/agent.h"
#include "face/kit/face.h"
#include "runtime/log.h"
#include "turns/turns.h"

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
    bool past;       /* made from the store, for one who comes late: not in the table */
    const char *far; /* it runs on that node, and is followed here; NULL: it runs here */

    /* what may be read before the turn has begun: so many entries of that branch */
    int64_t ahead, ahead_branch;
    ramet_entry *early; /* the message as it was sent, for an agent that is asked early; in `mem` */
    size_t n_early;
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
    int64_t said;         /* bytes of all words so far */
    int64_t first, upto;  /* its entries lie there on the path, among others */
    int64_t shown;        /* far: those before it stand in `entries` */
    int64_t after;        /* far: what is told now comes behind that event */
    int64_t asked_far;    /* far: when a snapshot was asked for; 0: all words are there */
    bool deaf;            /* far: its words are no longer followed, the entry will have them */
    bool done_told;
    buf entries;      /* JSON of those that were appended, parted by commas */
    VEC(size_t) ends; /* of each of them in it */
    bool recorded;    /* an entry of the answer is in the store */
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

typedef struct turn_thread turn_thread;
typedef struct nodes nodes;

struct turns {
    const server_config *cfg;
    ramet *store;
    agents *agents;
    live *live;
    nodes *nodes;         /* NULL: the store is not shared */
    int64_t asked_far;    /* when a run that is not known was asked for; of the thread that hears */
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
/* No other of its session is in the table. */
bool run_alone(run *r);
/* Wakes a thread for it, if there is one to have. The turn is being begun on this head; NULL: its
 * history is not known yet. */
void run_prepare(run *r, const ramet_head *head);
/* The turn is in the store. Returns with the lock of the run. */
void run_begun(run *r);
/* It is not to run, although it has begun. */
void run_drop(run *r);
/* All that run now; or those of one session, also such that are just beginning. The caller owns
 * each of them, and the list. */
run **runs_held(turns *t, const char *session, size_t *n);
void runs_put(run **list, size_t n);
/* A run of another node, made by run_make(), is followed from now on. */
void run_add(run *r);
/* NULL: there is none. The caller becomes an owner; one that is just beginning is waited for.
 * session NULL: whichever. */
run *run_find(turns *t, const char *session, const char *id);
void run_put(run *r);
/* Takes it out of the table: the turn has ended, or did not begin. */
void run_remove(run *r);
/* Lets the thread go on that was prepared (that may be said twice); else gives it a thread, or a
 * place in the queue. */
void run_start(run *r);

/* A move of the head: ends what runs here and was left behind. */
void turns_moved_here(turns *t, const char *session, bool keep);

/* Waits, and tells whether agents may go on: false when the server stops. */
bool turns_wait(turns *t, int64_t ms);

/* ---- turns/run.c */

/* With the lock: words are added, and told. */
void run_words(run *r, bool thinking, const char *text, size_t n);
/* The same for words that were told. */
void run_words_known(run *r, bool thinking, const char *text, size_t n);
/* With the lock: what was pending is in the store. */
void run_pending_clear(run *r);
/* Keeps the message of the turn for its thread. */
void run_message(run *r, const ramet_append_out *out);
/* Waits for the fate of the run, and runs it. False: it was not to be. */
bool run_main(run *r);
/* Ends the turn, with what came so far; waits until that is in the store. False: it had ended. */
bool run_close(run *r, ramet_turn_status status, const char *error);
/* Tries to record the end of one that is `unsaved`; false: it still is. */
bool run_save(run *r);

/* ---- turns/subscribers.c */

listener *listener_new(turns *t, request *q, size_t n, const char *group);
/* Joins a run: what came so far is told first. With its lock. */
void run_join(run *r, listener *l, size_t index);
/* Takes a listener of this run alone away, without its lock. False: it has heard the end. */
bool run_leave(run *r, const listener *l);
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
/* It goes on elsewhere, but nobody can listen to it here any more. */
void tell_leave(run *r);
/* The last event; nobody listens from then on. */
void tell_over(run *r, const char *error);

/* ---- turns/host.c */

/* `shared`: other machines have the store open. */
void turns_host_name(char out[HOST_TEXT], bool shared);
/* Marks as interrupted what processes that are no more have left running: *gone turns. Of a shared
 * store: says that `host` lives, too, and counts those that do; else *alive is 0. */
ramet_status hosts_bury(ramet *store, const char *host, int64_t *alive, int64_t *gone,
                        ramet_error *err);

/* ---- turns/remote.c. With the lock of the run; where nobody is to be told they do nothing. */

void far_say_all(run *r); /* it has begun, or somebody asked */
void far_say_words(run *r, bool thinking, const char *text, size_t n);
void far_say_appended(run *r);
void far_say_question(run *r);
void far_say_plan(run *r);
void far_say_over(run *r, const char *error);
/* A message of another node about a run. False: it is none. */
bool far_hear(turns *t, arena *a, const json_doc *d, const char *what);
/* A run of another node; it is asked for, and waited for a little. NULL: it is not to be had. */
run *far_find(turns *t, const char *session, const char *id);
/* Joins a run of whichever node, without its lock. */
void far_join(run *r, listener *l, size_t index);
/* Looks up what was not heard of for a while: its end may have been missed. */
void far_look(turns *t);

/* ---- nodes.c. Any thread, also with the lock of a run. */

nodes *nodes_new(turns *t);
/* From then on t->nodes is used. `others`: some live, and are waited for a little. */
void nodes_hear(nodes *n, bool others);
/* What was said goes out. After the runs of this node have ended. */
void nodes_stop(nodes *n);
void nodes_free(nodes *n);         /* NULL is fine */
bool nodes_others(const nodes *n); /* somebody is there to be told */
/* A message to the others, as an object without its end; it is released. It is put behind what was
 * committed by now. */
void nodes_say(nodes *n, buf *text);
/* The event in r->json, to those who watch here; in line with the messages. */
void nodes_line(nodes *n, const run *r, const char *event);
/* Waits until the place of all that was said is known; before something is committed that is to
 * come behind it. NULL is fine. */
void nodes_settle(nodes *n);

/* What one node wants of the one that runs a turn. */
typedef struct node_do {
    const char *op; /* cancel, answer, moved */
    const char *session, *turn, *question, *answer;
    bool keep;
} node_do;
enum { DID_TEXT = 32 };
/* Waits until it was done; false: nobody said so in time. */
bool nodes_do(nodes *n, const node_do *what, int ms, char did[DID_TEXT]);
/* Does it here; false: this node has nothing to do with it. (turns/send.c) */
bool turns_do(turns *t, arena *a, const node_do *what, char did[DID_TEXT]);

/* ---- turns/title.c */
void title_make(run *r);

#endif
