/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.h: runs agents on its own threads and records their answers.
 *
 * A turn is one answer of an agent to a message. Its events are published as turn_event structs; a
 * face turns them into the bytes of its protocol through a turn_listener. A request that waits for
 * a turn holds no thread: its answer is a stream that the listener fills.
 *
 * THREADS    Every function here may be called from any thread.
 * OWNERSHIP  A function that gets a listener takes ownership of it, even if it fails: its release()
 *            is called exactly once.
 * ERRORS     A function that fails returns false and fills a turn_error. It writes nothing to the
 *            request: the face writes the error in its own form.
 */
#ifndef TURNS_TURNS_H
#define TURNS_TURNS_H

#include "ramet/suggest.h"
#include "http/request.h"
#include "live/live.h"

struct server_config;
struct agents;

enum { TURNS_MAX_PER_REQUEST = 16 };

typedef struct turns turns;

/* ------------------------------------------------------------------ events */

/* A question of an agent to the user, as agent_question describes it. */
typedef struct turn_question {
    const char *id, *kind, *text;
    const char *options;            /* JSON array of {id, name}; NULL: none */
    const char *request, *metadata; /* as in agent_question; NULL: none */
    int64_t asked_us;               /* the time of its entry; 0: not known */
} turn_question;
/* The parts of the entry that a question is: its text, and a data part
 * {"type":"question","id","kind","text","options"?,"request"?,"metadata"?}. Its id is that of the
 * question. */
const char *turn_question_parts(arena *a, const turn_question *q);

typedef enum turn_event_kind {
    TURN_STARTED,
    TURN_DELTA,    /* a piece of the answer's text */
    TURN_THINKING, /* a piece of the agent's thinking */
    TURN_ENTRY,    /* an entry was appended: the message, text, a tool call or its result */
    TURN_PLAN,
    TURN_QUESTION,
    TURN_CAUGHT_UP, /* for a listener only: all earlier events happened before it subscribed */
    TURN_ENDED,
    TURN_DETACHED /* the turn continues on another server, but this one stops and cannot follow it
                   */
} turn_event_kind;

/* One event. All pointers are valid during the call; entries live until the listener is released.
 */
typedef struct turn_event {
    turn_event_kind kind;
    const char *session, *tree, *turn;
    int64_t branch;
    size_t index; /* which of the request's turns */
    union {
        struct {
            const char *agent, *group; /* group NULL: not part of a fan-out */
            int64_t at;                /* when the turn began; 0: not known */
        } started;
        struct {
            const char *text; /* not terminated */
            size_t n;
            int64_t offset;       /* TURN_DELTA: characters of the answer before it */
            const char *entry_id; /* the entry that it will be part of; "": not known yet */
            size_t part;          /* … and which part */
        } delta;                  /* TURN_DELTA, TURN_THINKING */
        const ramet_entry *entry;
        const char *plan; /* JSON */
        const turn_question *question;
        struct {
            ramet_turn_status status;
            const char *error;          /* "" when none */
            int64_t at;                 /* when it ended; 0: not known */
            const ramet_entry *entries; /* everything the turn appended, including the message */
            size_t n;
        } ended; /* TURN_ENDED, TURN_DETACHED */
    };
} turn_event;

/* Appends the bytes of an event to `out`; nothing if the protocol has none for it. Called with
 * locks held: it must not call the library or this module. False: send no more events. */
typedef bool (*turn_event_writer)(void *arg, const turn_event *e, buf *out);

/* How a request follows turns. */
typedef struct turn_listener {
    const char *content_type;
    bool whole; /* one answer at the end, otherwise a stream of server-sent events */
    turn_event_writer event;
    void (*release)(void *arg); /* may be NULL */
    void *arg; /* NULL: event() depends only on the event, so its bytes may be shared */
} turn_listener;

/* ------------------------------------------------------------------ requests */

/* One turn that a request begins. */
typedef struct turn_request {
    const char *session;
    const ramet_fork_in *fork; /* run the turn in this fork of the session; NULL: in the session */
    const ramet_agent *agent;  /* the agent; NULL: the session's */
    ramet_turn_in turn;        /* this module fills in its id, agent, group and host */
    /* JSON object: what the client asked for in the words of its protocol, kept with the turn
     * (`request` in agent/prompt.h). Deltas of such a turn name their entry. NULL: none. */
    const char *request;
    /* Record nothing: the agent is given this history and the turn's entries, and its answer goes
     * to the listener alone. `session` and `fork` are not used; such a turn is not found again. */
    bool unrecorded;
    const ramet_entry *history;
    size_t n_history;
} turn_request;

/* All turns of one request. */
typedef struct turn_batch {
    const turn_request *items;
    size_t n;
    bool fan_out;      /* run them in parallel, in forks that share a group */
    bool keep_running; /* let a turn continue on a branch that the head leaves */
    /* Called for each turn that this request has begun, before it runs; `forked`: its fork was
     * created, too. May be NULL. */
    void (*begun)(void *arg, const turn_request *in, bool forked);
    void *arg;
    bool replayed; /* out: an earlier try of the request (same idempotency key) began them */
} turn_batch;

typedef enum turn_error_kind {
    TURN_ERROR_STATUS,            /* `error` is complete */
    TURN_ERROR_NODE_GONE,         /* the server that runs the turn does not answer */
    TURN_ERROR_QUESTION_NOT_FOUND /* the turn is not waiting for an answer to that question */
} turn_error_kind;

typedef struct turn_error {
    turn_error_kind kind;
    ramet_error error; /* for other kinds than TURN_ERROR_STATUS: message and field only */
    char turn_id[256]; /* the turn that is in the way, or over; "" if there is none */
} turn_error;

/* An answer to the question of a turn. */
typedef struct turn_answer {
    const char *session, *turn;
    const char *question; /* its id */
    const char *text;
    const char *decision;        /* as in agent_reply; NULL: none */
    const ramet_entry_in *entry; /* the message that holds it, which becomes its entry; NULL: one is
                                    made of the text, with a data part
                                    {"type":"answer","question_id"} */
} turn_answer;

/* These functions use the request's call, caller, idempotency key and arena. If they succeed, its
 * answer becomes a stream of the listener's bytes. */

/* Begins turns, or joins those that an earlier try of the request began. */
bool turns_run(turns *t, request *q, turn_batch *batch, const turn_listener *listener,
               turn_error *err);
/* Joins a turn that runs or is over; its past events are sent first. */
bool turns_join(turns *t, request *q, const char *session, const char *turn,
                const turn_listener *listener, turn_error *err);
/* Ends a turn (NULL: the one on the head). *out: its state afterwards. */
bool turns_cancel(turns *t, request *q, const char *session, const char *turn, ramet_turn **out,
                  turn_error *err);
/* Records an answer and delivers it. With a listener, subscribes to the turn first, so that no
 * event after the answer is missed, and *out is NULL. Without one, or if the turn cannot be
 * followed, *out is the turn. `listener` may be NULL. */
bool turns_answer(turns *t, request *q, const turn_answer *in, const turn_listener *listener,
                  ramet_turn **out, turn_error *err);
/* What is summarised, and by whom. */
typedef struct turn_summary {
    const char *session;
    int64_t branch;    /* 0: its head */
    const char *agent; /* NULL: that of the session, else the default one */
} turn_summary;
/* Has an agent write a summary, in an ephemeral fork of the session, and waits for it on this
 * thread; *text is in the arena of the request. At most a quarter of the server's threads do. */
bool turns_summarise(turns *t, request *q, const turn_summary *in, const char **text,
                     turn_error *err);
/* If the setting suggest-agent names an agent, has it choose among suggestions, and waits for it on
 * this thread, as turns_summarise() does. Suggestions that it does not refine stay as they are. */
void turns_refine(turns *t, request *q, const char *session, int64_t branch, ramet_suggestions *v);
/* The head of a session has moved: turns on branches that it left are cancelled, unless `keep`.
 * NULL is fine: no turns run here. */
void turns_moved(turns *t, const char *session, bool keep);

/* The messages that an agent of a kind was sent for a history, made again; NULL: they would not be
 * the ones with that digest (agent/prompt.h). In the arena. */
const char *turns_prompt(arena *a, const char *kind, const ramet_entry *history, size_t n,
                         const char *instructions, const char *digest);

/* Why an answer ended early although its provider did not fail, by the error of its turn. */
typedef enum { TURN_END_OTHER, TURN_END_TOKENS, TURN_END_FILTER } turn_end;
turn_end turns_end_of(const char *error);

/* A turn that runs, as it stands now. */
typedef struct turn_running {
    const char *turn, *entry_id, *agent;
    int64_t branch;
    const char *text; /* output since the last entry */
    size_t n_text;
    int64_t offset; /* characters of the answer before it */
    const char *thinking;
    size_t n_thinking;
    const turn_question *question; /* NULL: none is open */
    const char *plan;              /* JSON; NULL: none */
} turn_running;
/* The turn on the head of a session, otherwise one kept running on another branch; its texts are in
 * the arena. False: none runs. Does not call the library, so it may be used inside commits. NULL is
 * fine: no turns run here. */
bool turns_running_get(turns *t, const ramet_session *s, arena *a, turn_running *out);

/* ------------------------------------------------------------------ all of it */

/* Marks turns that a dead server left running as interrupted. `watch` writes events for the streams
 * that watch a session (live_publish()). On failure returns NULL and fills *err. */
turns *turns_new(const struct server_config *cfg, ramet *store, struct agents *who, live *l,
                 turn_event_writer watch, ramet_error *err);
/* Begins no new turns; cancels those still running after that many seconds. False: an agent did not
 * stop, and what it uses must not be freed. */
bool turns_stop(turns *t, int seconds);
void turns_free(turns *t);

typedef struct turns_numbers {
    int64_t running, waiting;        /* current */
    int64_t done, cancelled, failed; /* since the start */
} turns_numbers;
void turns_count(turns *t, turns_numbers *out);

#endif
