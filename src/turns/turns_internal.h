/* SPDX-License-Identifier: Apache-2.0
 *
 * turns_internal.h: what the files of turns share. Only they include it.
 *
 * A run is one turn of the store while this process follows it: it runs here, it runs on another
 * node (`is_remote`), or it is over and made up from the store for a request that comes late
 * (`is_past`). A run has owners: the table, the thread or the queue, and every function that uses
 * it at the moment.
 *
 * While the message of a turn is being stored, a thread already prepares to run it: it wakes up,
 * reads the history up to there, and asks an agent that may be asked early. That work is discarded
 * if the turn does not begin, or does not begin there.
 */
/* clang-format off */
/*
 * Files
 *   turns.c         the table of runs, the threads and the queue, time limits, start and stop
 *   send.c          requests that begin or join turns: messages, forks, fan-outs, repeated requests
 *   control.c       requests that cancel a turn or answer its question
 *   run.c           one run: the history for the agent, its output, and how that is recorded
 *   subscribers.c   publishes events of a run to requests and to watchers
 *   title.c         titles by an agent
 *   host.c          which process runs a turn, and whether that process is alive
 *   nodes.c         the queues and threads between this node and the others
 *   node_message.c  what nodes send each other, as bytes
 *   remote.c        runs of other nodes: what is sent about a run, and how it is followed
 *
 * Invariants
 *   R1  The library is never called with a lock of this module held: answers that show a running
 *       turn are written inside commits, and take these locks.
 *   R2  One thread at a time writes to the store for a run (`writing`); what it writes is taken out
 *       of the run when it is durable. The thread that sets `closed` ends the turn, exactly once;
 *       output of the agent after that point is discarded.
 *   R3  A run is in the table before its turn is in the store, and until the turn has ended there:
 *       a turn that runs here is always found.
 *   R4  Locks are taken in this order: table, run, subscriber.
 *   R5  No output of an agent is accepted before the turn, with its message, is durable (`fate`);
 *       and an agent is asked before that only if asking has no effect (agent_kind.early).
 */
/* clang-format on */
#ifndef TURNS_TURNS_INTERNAL_H
#define TURNS_TURNS_INTERNAL_H

#include "base/host.h"
#include "base/util.h"
#include "agent/agent.h"
#include "runtime/config.h"
#include "runtime/log.h"
#include "turns/node_message.h"
#include "turns/turns.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* One request that follows one or more runs. */
typedef struct subscriber subscriber;

typedef struct subscription {
    struct subscription *next;
    subscriber *subscriber;
    size_t index;      /* which of the subscriber's runs */
    size_t part, byte; /* how much of the run's parts was sent */
    bool is_held;      /* it is behind: deltas stay in the run, and are then sent as one */
} subscription;

typedef struct run_part {
    bool is_thinking;
    buf text;
} run_part;

/* What becomes of a run whose turn is being begun. */
typedef enum { FATE_OPEN, FATE_RUN, FATE_NEVER } run_fate;

typedef struct run {
    struct run *next;   /* in the table */
    struct run *queued; /* the next one that waits for a thread */
    turns *turns;
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
    bool is_untitled;
    bool is_past;   /* made up from the store: not in the table */
    bool is_remote; /* it runs on another node, and is followed here */

    /* what may be read before the turn has begun: that many entries of that branch */
    int64_t prefetch_length, prefetch_branch;
    ramet_entry *early; /* the message as it was sent, for an agent that is asked early; in `mem` */
    size_t n_early;
    ramet_entry *message; /* as stored, in `mem` */
    size_t n_message;
    bool is_prepared; /* a thread waits for its fate */
    _Atomic int fate;
    sem_t decided; /* posted when there is one */

    bool begun; /* the turn is in the store; changes under both locks */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* writing ended, a question was answered, it was closed */
    atomic_bool closed;
    bool writing, over;
    bool unsaved; /* over, but the store accepted no writes when it ended: retried now and then */
    ramet_entry_in last; /* the last entry of the answer, in `mem` */
    size_t n_last;
    bool is_kept; /* the head may leave its branch */
    VEC(run_part) parts;
    size_t bytes_pending;     /* in parts */
    int64_t chars, begin;     /* characters said so far; said before the text in parts */
    int64_t said;             /* bytes of all deltas so far */
    int64_t first, upto;      /* its entries lie there on the path, among others */
    VEC(ramet_entry) entries; /* that were appended, in `mem` */
    bool recorded;            /* an entry of the answer is in the store */
    ramet_usage usage;
    bool has_usage;
    char currency[16];
    turn_question question; /* its texts are on the heap; id NULL: none is open */
    char *answer;
    char *plan;       /* JSON */
    bool plan_is_new; /* it is in no entry yet */
    subscription *subscriptions;
    ramet_turn_status status;
    char error[512];
    bool end_published;
    buf bytes; /* of the event that is being published */

    /* of a remote run */
    int64_t entries_upto;       /* entries before this position are in `entries` */
    int64_t after;              /* what is published now comes behind that event */
    int64_t snapshot_requested; /* when a snapshot was; 0: no delta is missing */
    bool deltas_ignored;        /* past the limit of this node: the entry will have the text */

    /* times by time_mono_us() */
    int64_t started;   /* the agent was asked */
    int64_t heard;     /* the agent, or the other node, said something last */
    int64_t asked;     /* its question; 0: none is open */
    int64_t waited;    /* so long for answers */
    int64_t published; /* the last event */

    /* the watchdog's own */
    int64_t looked;
    bool left; /* the head was on another branch then */
} run;

typedef struct turn_thread turn_thread;
typedef struct nodes nodes;

struct turns {
    const server_config *cfg;
    ramet *store;
    agents *agents;
    live *live;
    turn_event_writer watch;    /* how events are written for watchers */
    nodes *nodes;               /* NULL: the store is not shared */
    int64_t snapshot_requested; /* of a run that is not known; of the thread that receives */
    char host[HOST_TEXT];       /* this process */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* a thread ended; the watchdog is to stop */
    run *runs;
    run *first, **last; /* waiting for a thread */
    int64_t threads;    /* that run agents, or are about to */
    int64_t alive;      /* these, and the idle ones */
    turn_thread *idle;  /* the one that became idle last is first */
    int64_t n_idle;
    int64_t admitted; /* turns that run, wait or are about to begin */
    int64_t waiting;
    int64_t ended[RAMET_TURN_INTERRUPTED + 1]; /* by status */
    bool stopping, watchdog_stop, threads_stop;
    pthread_t watchdog;
};

/* ---- turns.c */

/* Waits until it has begun; false: it did not. */
bool run_wait_begun(run *r);
/* Room for n more; false: there is none. Given back by turns_leave(), or by the end of each run. */
bool turns_admit(turns *t, int64_t n);
void turns_leave(turns *t, int64_t n);
run *run_alloc(turns *t, const char *session);
/* A run in the table, and owned by the caller. run_begun() follows, or run_remove(). */
run *run_new(turns *t, const char *session);
/* No other run of its session is in the table. */
bool run_is_alone(run *r);
/* Wakes a thread for it, if one is free. The turn is being begun on this head; NULL: its history is
 * not known yet. */
void run_prepare(run *r, const ramet_head *head);
/* The turn is in the store. Returns with the lock of the run. */
void run_begun(run *r);
/* It is not to run, although it has begun. */
void run_drop(run *r);
/* All that run now; or those of one session, also such that are just beginning. The caller owns
 * each of them, and the list. */
run **runs_held(turns *t, const char *session, size_t *n);
void runs_put(run **list, size_t n);
/* Puts a run of another node, made by run_alloc(), into the table. */
void run_add(run *r);
/* NULL: there is none. The caller becomes an owner; waits for one that is just beginning. session
 * NULL: any. */
run *run_find(turns *t, const char *session, const char *id);
void run_put(run *r);
/* Takes it out of the table: the turn has ended, or did not begin. */
void run_remove(run *r);
/* Lets the prepared thread go on (calling it twice is fine); else gives it a thread, or a place in
 * the queue. */
void run_start(run *r);
/* The head moved: ends the runs of this node that it left behind. */
void turns_moved_here(turns *t, const char *session, bool keep);
/* Waits; false as soon as the server stops. */
bool turns_wait(turns *t, int64_t ms);

/* ---- turns/run.c */

/* A copy of an entry, in the arena. */
ramet_entry entry_copy(arena *a, const ramet_entry *e);
/* With the lock: adds a delta, and publishes it. */
void run_delta(run *r, bool is_thinking, const char *text, size_t n);
/* The same for one that was published before. */
void run_delta_add(run *r, bool is_thinking, const char *text, size_t n);
/* With the lock: what was pending is in the store. */
void run_pending_clear(run *r);
/* With the lock: sets the open question, as a copy; NULL: there is none. */
void run_question_set(run *r, const turn_question *q);
/* Keeps the message of the turn for its thread. */
void run_message(run *r, const ramet_append_out *out);
/* Waits for the fate of the run, and runs it. False: it was not to be. */
bool run_main(run *r);
/* Ends the turn, with what came so far; waits until that is in the store. False: it had ended. */
bool run_close(run *r, ramet_turn_status status, const char *error);
/* Tries to record the end of one that is `unsaved`; false: it still is. */
bool run_save(run *r);

/* ---- turns/subscribers.c. With the lock of the run, but for the first and the last of them. */

/* The answer of the request becomes a stream. Takes the listener over. */
subscriber *subscriber_new(turns *t, request *q, size_t n_runs, const turn_listener *listener);
/* Sends what came so far, then follows the run. */
void run_subscribe(run *r, subscriber *s, size_t index);
void publish_started(run *r);
/* A delta that was added to the parts of the run. */
void publish_delta(run *r, bool is_thinking, const char *text, size_t n, int64_t offset);
/* Deltas that were held, as far as their subscribers can take them now. */
void publish_held(run *r);
/* The parts are about to become an entry, which is published next. */
void publish_parts_recorded(run *r);
void publish_entries(run *r, const ramet_append_out *out);
void publish_plan(run *r);
void publish_question(run *r);
void publish_heartbeat(run *r);
/* The last event; ends all subscriptions. */
void publish_ended(run *r, const char *error);
/* The same for a run that goes on, but cannot be followed here any more. */
void publish_detached(run *r);
/* Ends the subscriptions of a subscriber of this run alone. False: the run had ended them. */
bool run_unsubscribe(run *r, const subscriber *s);

/* ---- turns/send.c */

/* Errors of the functions in turns.h; all return false. `turn` may be NULL. */
bool turn_refuse(turn_error *err, ramet_status st, const char *field, const char *turn,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool turn_refuse_call(turn_error *err, const ramet_call *c); /* with the error of the call */

/* ---- turns/host.c */

/* `shared`: other machines have the store open. */
void turns_host_name(char out[HOST_TEXT], bool shared);
/* Marks as interrupted what dead processes left running: *gone turns. Of a shared store it also
 * records that `host` is alive, and counts the nodes that are; else *alive is 0. */
ramet_status hosts_bury(ramet *store, const char *host, int64_t *alive, int64_t *gone,
                        ramet_error *err);

/* ---- turns/remote.c. The first six with the lock of the run; they do nothing where there are no
 * other nodes. */

void remote_send_run(run *r); /* a snapshot: it has begun, or a node requested it */
void remote_send_delta(run *r, bool is_thinking, const char *text, size_t n);
void remote_send_appended(run *r);
void remote_send_question(run *r);
void remote_send_plan(run *r);
void remote_send_ended(run *r, const char *error);
/* A message of another node about a run. */
void remote_receive(turns *t, const node_message *m);
/* Finds a run, also one of another node: that is asked for a snapshot, and waited for a little.
 * NULL: there is none, or its node does not answer. */
run *remote_find(turns *t, const char *session, const char *id);
/* run_subscribe() to a run of any node, without its lock. */
void remote_subscribe(run *r, subscriber *s, size_t index);
/* Looks up remote runs that have been silent for a while: their end may have been missed. */
void remote_check_silent(turns *t);

/* ---- turns/nodes.c. Any thread, also with the lock of a run. */

nodes *nodes_new(turns *t);
/* From then on messages are received. `others`: some nodes are alive, and are waited for a little.
 */
void nodes_listen(nodes *n, bool others);
/* Sends what is queued, and stops. After the runs of this node have ended. */
void nodes_stop(nodes *n);
void nodes_free(nodes *n);             /* NULL is fine */
bool nodes_has_others(const nodes *n); /* NULL is fine */
/* Queues a message to the others. It comes behind what was committed by now. */
void nodes_send(nodes *n, const node_message *m);
/* Queues an event for watchers of this node, in line with the messages. */
void nodes_publish(nodes *n, const ephemeral_event *e);
/* Waits until the place of all that was queued is known; before a commit that is to come behind it.
 * NULL is fine. */
void nodes_settle(nodes *n);
/* Has the node that runs a turn do something, and waits until it has; false: no node answered in
 * time. */
bool nodes_request(nodes *n, const node_command *what, int ms, char outcome[OUTCOME_TEXT]);

/* ---- turns/control.c */

/* Does what another node requests; false: no run of this node is concerned. */
bool turns_execute(turns *t, arena *a, const node_command *what, char outcome[OUTCOME_TEXT]);

/* ---- turns/title.c */
void title_make(run *r);
/* Asks an agent about the branch of a run in an ephemeral fork that goes afterwards. *text is its
 * answer, which the caller releases; false: there is none. */
bool aside_ask(run *r, ramet_call *c, const char *agent_name, const char *reason,
               const char *question, buf *text);
/* tag.c: tags for a session that has none, when the setting auto-tag is on. */
void tags_make(run *r);

#endif
