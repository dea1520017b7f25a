/* SPDX-License-Identifier: Apache-2.0
 *
 * turns_internal.h: shared by the files of src/turns. Only they include it.
 *
 * A run represents a turn while this process follows it: it runs here, it runs on another node
 * (`is_remote`), or it is over and was rebuilt from the store for a request that arrived late
 * (`is_past`). A run has owners: the table, the thread or the queue, and every function that is
 * using it.
 *
 * While the message of a turn is being stored, a thread already prepares to run it: it wakes up,
 * reads the history so far, and asks the agent if its kind may be asked early. That work is
 * discarded if the turn does not begin, or does not begin there.
 */
/* clang-format off */
/*
 * Files
 *   turns.c         the table of runs, the threads and the queue, time limits, start and stop
 *   send.c          requests that begin or join turns: messages, forks, fan-outs, repeated requests
 *   control.c       requests that cancel a turn or answer its question
 *   run.c           one run: asks the agent, takes its output and records it
 *   run_state.c     the states of a run, and the legal moves between them
 *   run_history.c   reads the history for the agent
 *   run_parts.c     the parts of the entries that a run records
 *   run_entry.c     entries in the memory of a run
 *   unrecorded.c    runs of which nothing is stored
 *   run_prompt.c    what the agent of a run was sent, until that is in the store
 *   subscribers.c   publishes events of a run to requests and to watchers
 *   aside.c         a question to an agent outside any conversation, in an ephemeral fork
 *   title.c         titles by an agent
 *   summary.c       summaries by an agent
 *   host.c          which process runs a turn, and whether that process is alive
 *   nodes.c         the queues and threads between this node and the others
 *   node_message.c  the messages between nodes, as bytes
 *   remote.c        runs of other nodes: what is sent about a run, and how it is followed
 *
 * Invariants
 *   R1  The library is never called with a lock of this module held: answers that show a running
 *       turn are written inside commits, and take these locks.
 *   R2  One thread at a time writes to the store for a run (`writing`); what it writes is removed
 *       from the run when it is durable. The thread that moves it to RUN_CLOSING ends the turn,
 *       exactly once; output of the agent after that point is discarded.
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
    size_t part, byte; /* how far the run's parts were sent */
    bool is_held;      /* behind: its deltas stay in the run, and are sent as one later */
} subscription;

typedef struct run_part {
    bool is_thinking;
    buf text;
} run_part;

/* Where a run stands; run_state.c draws the moves. */
typedef enum run_state {
    RUN_BEGINNING, /* its turn is not in the store yet */
    RUN_ABANDONED, /* its turn did not begin */
    RUN_RUNNING,   /* its turn is in the store, and output is accepted */
    RUN_CLOSING,   /* output is discarded; a thread writes the last entry and the end */
    RUN_UNSAVED,   /* published as over, but the store accepted no writes: retried now and then */
    RUN_SAVING,    /* a thread retries that */
    RUN_OVER
} run_state;

/* What becomes of a run whose turn is being begun. It is no part of run_state: the turns of a
 * fan-out have begun, each in turn, before it is known whether any of them is to run. */
typedef enum { FATE_OPEN, FATE_RUN, FATE_NEVER } run_fate;

typedef struct run {
    struct run *next;   /* in the table */
    struct run *queued; /* next in the queue for a thread */
    turns *turns;
    _Atomic int owners;

    /* fixed once the turn has begun */
    arena *mem;
    char id[UUID_TEXT];
    const char *session, *tree, *user, *group, *entry_id;
    const char *cache_key;
    ramet_agent settings; /* from the session or the request */
    const char *request;  /* turn_request.request; NULL: none */
    agent *agent;
    const char *agent_name;
    int64_t branch;
    int64_t length;   /* entries in the history it answers */
    int64_t begun_us; /* when its turn began, by the store; 0: not known */
    bool is_untitled;
    bool is_past;       /* rebuilt from the store: not in the table */
    bool is_remote;     /* runs on another node, and is followed here */
    bool is_unrecorded; /* turn_request.unrecorded: nothing of it is in the store */

    /* the entries that may be read before the turn has begun: their number and branch */
    int64_t prefetch_length, prefetch_branch;
    ramet_entry *early; /* the message as sent, for an agent that is asked early; in `mem` */
    size_t n_early;
    ramet_entry *message; /* as stored, in `mem` */
    size_t n_message;
    bool is_prepared; /* a thread waits for `fate` */
    _Atomic int fate;
    sem_t decided; /* posted when `fate` is set */

    /* Changes under the lock of the run, by run_move(); from RUN_BEGINNING to RUN_RUNNING under
     * that of the table, too. May be read without either. */
    _Atomic run_state state;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* writing ended, a question was answered, or the run was closed */
    bool writing;         /* a thread writes to the store for it (R2) */
    ramet_entry_in last;  /* the last entry of the answer, in `mem`; RUN_UNSAVED keeps it */
    size_t n_last;
    bool is_kept; /* continues when the head leaves its branch */
    VEC(run_part) parts;
    size_t bytes_pending;       /* in parts */
    char entry_next[UUID_TEXT]; /* the id that their entry will have; "": the store makes one */
    int64_t chars, begin;       /* characters sent so far; sent before the text in parts */
    int64_t said;               /* bytes of all deltas so far */
    int64_t first, upto;        /* range on the path that contains its entries */
    VEC(ramet_entry) entries;   /* entries appended, in `mem` */
    bool recorded;              /* an entry of the answer is in the store */
    int64_t recorded_length;    /* of the path behind the last of them; 0: none is */
    struct {
        char *data; /* of ramet_prompt_in; NULL: none */
        int64_t length;
        bool is_new; /* it is not in the store yet */
    } prompt;        /* what the agent was sent last */
    ramet_usage usage;
    bool has_usage;
    char currency[16];
    turn_question question;            /* its texts are on the heap; id NULL: none is open */
    bool is_answered;                  /* an answer to it is being recorded, or was given */
    char *answer, *decision;           /* to it; NULL: none yet */
    char *answer_format, *answer_body; /* the message that holds the answer; NULL: none does */
    char *plan;                        /* JSON */
    bool plan_is_new;                  /* not in any entry yet */
    char *data; /* JSON: facts about the answer that are in no entry yet; NULL: none */
    subscription *subscriptions;
    ramet_turn_status status;
    int64_t ended_us; /* when its turn ended, by the store; 0: not known */
    char error[512];
    buf bytes; /* of the event that is being published */

    /* of a remote run */
    int64_t entries_upto;       /* entries before this position are in `entries` */
    int64_t after;              /* what is published now follows that event */
    int64_t snapshot_requested; /* when one was requested; 0: no delta is missing */
    bool deltas_ignored;        /* over the limit of this node: the entry will have the text */

    /* times by time_mono_us() */
    int64_t started;        /* when the agent was asked */
    int64_t last_output_us; /* when the agent, or the other node, last sent something */
    int64_t asked;          /* when its question was asked; 0: none is open */
    int64_t waited;         /* total time spent waiting for answers */
    int64_t published;      /* when the last event was published */

    /* of the watchdog */
    int64_t looked;
    bool left; /* the head was on another branch at that time */
} run;

/* How far the stop of the server has come; it only goes forward. */
typedef enum turns_stage {
    TURNS_OPEN,
    TURNS_DRAINING, /* no turn is admitted; those that run may end */
    TURNS_STOPPED   /* all threads are to end */
} turns_stage;

typedef struct turn_thread turn_thread;
typedef struct nodes nodes;

struct turns {
    const server_config *cfg;
    ramet *store;
    agents *agents;
    live *live;
    turn_event_writer watch;    /* how events are written for watchers */
    nodes *nodes;               /* NULL: the store is not shared */
    int64_t snapshot_requested; /* for unknown runs; used by the receiving thread only */
    char host[HOST_TEXT];       /* this process */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* a thread ended, or the watchdog must stop */
    run *runs;
    run *first, **last; /* waiting for a thread */
    int64_t threads;    /* threads that run agents, or are about to */
    int64_t alive;      /* these plus the idle ones */
    turn_thread *idle;  /* a stack: most recently idle first */
    int64_t n_idle;
    int64_t admitted; /* turns that run, wait or are about to begin */
    int64_t waiting;
    int64_t asides; /* requests that wait for an agent: see aside_enter() */
    int64_t ended[RAMET_TURN_INTERRUPTED + 1]; /* by status */
    turns_stage stage;
    pthread_t watchdog;
};

/* ---- run_state.c */

/* With the lock, unless no other thread knows the run yet. Wakes the threads that wait for it. */
void run_move(run *r, run_state to);
bool run_has_begun(const run *r); /* its turn is, or was, in the store */
bool run_is_closed(const run *r); /* output of its agent is discarded */
bool run_is_over(const run *r);   /* its end was published, or it did not begin */

/* ---- turns.c */

/* Waits until the turn has begun; false: it did not. */
bool run_wait_begun(run *r);
/* Reserves room for n more turns; false: there is none. Released by turns_leave(), or by the end of
 * each run. */
bool turns_admit(turns *t, int64_t n);
void turns_leave(turns *t, int64_t n);
run *run_alloc(turns *t, const char *session);
/* Creates a run in the table, owned by the caller. run_begun() or run_remove() must follow. */
run *run_new(turns *t, const char *session);
/* Whether no other run of its session is in the table. */
bool run_is_alone(run *r);
/* Wakes a thread for the run, if one is free. The turn is about to begin on this head; NULL: its
 * history is not known yet. */
void run_prepare(run *r, const ramet_head *head);
/* Called when the turn is in the store. Returns with the lock of the run held. */
void run_begun(run *r);
/* Prevents the run, although the turn has begun. */
void run_drop(run *r);
/* All current runs, or those of one session, including those just beginning. The caller owns each
 * of them, and the list. */
run **runs_held(turns *t, const char *session, size_t *n);
void runs_put(run **list, size_t n);
/* Puts a run of another node, made by run_alloc(), into the table. */
void run_add(run *r);
/* NULL if there is none. The caller becomes an owner; waits for a run that is just beginning.
 * session NULL: any. */
run *run_find(turns *t, const char *session, const char *id);
void run_put(run *r);
/* Removes the run from the table: the turn has ended, or did not begin. */
void run_remove(run *r);
/* Lets the prepared thread continue (calling it twice is fine); otherwise assigns a thread, or a
 * place in the queue. */
void run_start(run *r);
/* Called when the head moved: ends the runs of this node that it left behind. */
void turns_moved_here(turns *t, const char *session, bool keep);
/* Waits; returns false as soon as the server stops. */
bool turns_wait(turns *t, int64_t ms);

/* ---- turns/run.c */

/* A copy of an entry, in the arena. */
ramet_entry entry_copy(arena *a, const ramet_entry *e);
/* Adds a delta and publishes it. Caller holds the lock. */
void run_delta(run *r, bool is_thinking, const char *text, size_t n);
/* The same without publishing. */
void run_delta_add(run *r, bool is_thinking, const char *text, size_t n);
/* Clears pending output, which is in the store now. Caller holds the lock. */
void run_pending_clear(run *r);
/* Sets the open question, as a copy; NULL: none. Caller holds the lock. */
void run_question_set(run *r, const turn_question *q);
/* Records pending output and one entry, on the thread that calls. RAMET_TURN_OVER: the turn is
 * closed. */
ramet_status run_entry_append(run *r, ramet_call *c, const ramet_entry_in *entry);
/* Keeps the message of the turn for its thread. */
void run_message(run *r, const ramet_append_out *out);
/* Waits for the fate of the run, and runs it. False: it was dropped. */
bool run_main(run *r);
/* Ends the turn with its output so far; waits until that is in the store. False: it had ended. */
bool run_close(run *r, ramet_turn_status status, const char *error);
/* Tries to record the end of a run that is `unsaved`; false: it still is. */
bool run_save(run *r);

/* ---- turns/run_history.c */

/* The history for the agent. The entries of a branch never change, so what was read before the turn
 * began is still valid afterwards, if the turn began on that branch. */
typedef struct run_history {
    ramet_call *call; /* owns the texts */
    arena *mem;
    int64_t branch, position; /* read up to there */
    int64_t overlay;          /* set of the branch */
    VEC(ramet_entry) entries;
} run_history;
void history_add(run_history *h, const ramet_entry *e);
/* Called while the message is being stored. Reads at most one page, because it may be for
 * nothing. */
void history_prefetch(run_history *h, const run *r);
/* Called when the turn has begun. */
ramet_status history_read(run_history *h, const run *r);

/* ---- turns/run_parts.c */

/* A list of parts being written; its text goes to the arena. */
typedef struct parts_text {
    buf out;
    json_writer writer;
    arena *mem;
} parts_text;
void parts_begin(parts_text *p, arena *a);
/* Begins a part; the caller writes its members and ends the object. */
json_writer *part_begin(parts_text *p, const char *type);
const char *parts_end(parts_text *p);
/* Whether the output that is in no entry yet ends with that text. */
bool run_pending_ends(const run *r, const char *text);
/* The entry of output that is in none yet, without that text at its end (NULL: with all); false:
 * there is none. */
bool run_entry_pending(const run *r, arena *a, const char *without, ramet_entry_in *out);
/* The last entry of an answer; false: it needs none. An empty answer has one, too, if there is no
 * other entry or if there is something to record about it. */
bool run_entry_last(const run *r, arena *a, ramet_entry_in *out);

/* ---- turns/run_prompt.c */

/* The agent was sent something. Only on the thread that runs it. */
void run_prompt_note(run *r, const agent_prompt *p);
/* Has the next write of the turn through `c` keep what the agent was sent; `in` must live until
 * then. Only by the thread that writes. False: there is nothing new. */
bool run_prompt_keep(run *r, ramet_call *c, ramet_prompt_in *in);

/* ---- turns/unrecorded.c */

/* Fills the run of a turn that is not recorded, which then has begun. */
void run_unrecorded(run *r, const turn_request *in);
/* ramet_turn_append() for it: makes the entries without storing them. */
ramet_status unrecorded_append(run *r, const ramet_entry_in *in, size_t n, ramet_append_out *out);

/* ---- turns/subscribers.c. With the lock of the run, but for the first and the last of them. */

/* Turns the request's answer into a stream. Takes ownership of the listener. */
subscriber *subscriber_new(turns *t, request *q, size_t n_runs, const turn_listener *listener);
/* Sends the run's events so far, then follows it. */
void run_subscribe(run *r, subscriber *s, size_t index);
void publish_started(run *r);
/* A delta that was added to the parts of the run. */
void publish_delta(run *r, bool is_thinking, const char *text, size_t n, int64_t offset);
/* Sends held deltas, as far as their subscribers can accept them now. */
void publish_held(run *r);
/* Called before the parts become an entry, which is published next. */
void publish_parts_recorded(run *r);
void publish_entries(run *r, const ramet_append_out *out);
void publish_plan(run *r);
void publish_question(run *r);
void publish_heartbeat(run *r);
/* Publishes the last event; ends all subscriptions. */
void publish_ended(run *r, const char *error);
/* The same for a run that continues, but cannot be followed here any more. */
void publish_detached(run *r);
/* Ends the subscriptions of a subscriber to this run only. False: the run had ended them. */
bool run_unsubscribe(run *r, const subscriber *s);

/* ---- turns/send.c */

/* Errors of the functions in turns.h; all return false. `turn` may be NULL. */
bool turn_refuse(turn_error *err, ramet_status st, const char *field, const char *turn,
                 const char *fmt, ...) __attribute__((format(printf, 5, 6)));
bool turn_refuse_call(turn_error *err, const ramet_call *c); /* with the error of the call */

/* ---- turns/host.c */

/* `shared`: other machines may have the store open. */
void turns_host_name(char out[HOST_TEXT], bool shared);
/* Marks turns of dead processes as interrupted, and counts them in *gone. For a shared store it
 * also records that `host` is alive, and counts the live nodes; otherwise *alive is 0. */
ramet_status hosts_bury(ramet *store, const char *host, int64_t *alive, int64_t *gone,
                        ramet_error *err);

/* ---- turns/remote.c. Callers of the first six hold the run's lock; they do nothing if there are
 * no other nodes. */

void remote_send_run(run *r); /* a snapshot: the run has begun, or a node requested it */
void remote_send_delta(run *r, bool is_thinking, const char *text, size_t n);
void remote_send_appended(run *r);
void remote_send_question(run *r);
void remote_send_plan(run *r);
void remote_send_ended(run *r, const char *error);
/* Processes a message of another node about a run. */
void remote_receive(turns *t, const node_message *m);
/* Finds a run, including those of other nodes: requests a snapshot, and waits for it briefly. NULL:
 * there is none, or its node does not answer. */
run *remote_find(turns *t, const char *session, const char *id);
/* run_subscribe() to a run of any node, without its lock. */
void remote_subscribe(run *r, subscriber *s, size_t index);
/* Looks up remote runs that have been silent for a while: their end may have been missed. */
void remote_check_silent(turns *t);

/* ---- turns/nodes.c. Callable from any thread, also with the lock of a run held. */

nodes *nodes_new(turns *t);
/* Starts receiving messages. `others`: other nodes are alive; waits for them briefly.
 */
void nodes_listen(nodes *n, bool others);
/* Sends what is queued, and stops. Call after the runs of this node have ended. */
void nodes_stop(nodes *n);
void nodes_free(nodes *n);             /* NULL is fine */
bool nodes_has_others(const nodes *n); /* NULL is fine */
/* Queues a message to the other nodes. It follows what was committed by now. */
void nodes_send(nodes *n, const node_message *m);
/* Queues an event for watchers of this node, in order with the messages. */
void nodes_publish(nodes *n, const ephemeral_event *e);
/* Waits until the place of all queued messages is known. Call before a commit that must follow
 * them. NULL is fine. */
void nodes_settle(nodes *n);
/* Has the node that runs a turn execute a command, and waits for the result; false: no node
 * answered in time. */
bool nodes_request(nodes *n, const node_command *what, int ms, char outcome[OUTCOME_TEXT]);

/* ---- turns/control.c */

/* Executes a command of another node; false: it concerns no run of this node. */
bool turns_execute(turns *t, arena *a, const node_command *what, char outcome[OUTCOME_TEXT]);

/* ---- turns/aside.c */

typedef struct aside {
    turns *turns;
    agent *who;
    const char *user, *session;
    int64_t branch;        /* 0: the head */
    const char *cache_key; /* NULL: that of the session */
    const char *question, *reason;
    int64_t until;           /* by time_mono_us() */
    bool (*gone)(void *arg); /* ends it; may be NULL */
    void *gone_arg;
} aside;
/* Asks, and adds the answer to `text`. False: there was none, or it is no text. */
bool aside_ask(const aside *of, buf *text);

/* ---- turns/title.c */
void title_make(run *r);

/* aside.gone for the client of a request, which is the argument. */
bool aside_client_gone(void *arg);
/* A request that waits for an agent keeps its thread: at most a quarter of them do. False: there is
 * no room for another one. */
bool aside_enter(turns *t);
void aside_leave(turns *t);

/* ---- turns/refine.c */
/* Has the agent of `of` choose among suggestions; what it chose is in `a`. False: it did not answer
 * as it was asked to, and they stay as they are. `of` has no question yet. */
bool suggestions_refine(const aside *of, arena *a, ramet_suggestions *v);

/* ---- turns/tag.c */
/* Tags an untagged session; for runs of servers with the setting auto-tag. */
void tags_make(run *r);

#endif
