/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h: what the parts of the ACP proxy share.
 *
 * The editor knows a session by its *outer* id, which is its id in the store; the agent knows it by
 * its *inner* id. They are the same until the history moves (a rewind, somebody else's write): then
 * a new inner session goes on under the old outer id.
 *
 *   P1  Requests are forwarded with the id that they came with. Those that the proxy makes have
 *       string ids with a prefix of its own (OWN_ID), so the two never meet.
 *   P2  `held` of a session is the hash of the history that its inner session holds. A prompt goes
 *       to an inner session only if the head in the store has that hash, or with the transcript
 *       before it (`seed`).
 *   P3  A turn is in the store before its response leaves.
 *   P4  What is said by an inner session that was left (`left`), or whose session was closed
 *       (`closed`), goes nowhere.
 *
 * One thread, one loop: a line is taken apart in p->mem, which is emptied after it. What lives
 * longer is of xmalloc.
 */
#ifndef ACP_OWN_H
#define ACP_OWN_H

#include "acp/acp.h"
#include "agent/acp/message.h"
#include "base/child.h"
#include "base/lines.h"
#include "base/util.h"

#define OWN_ID "ramet:"
enum { HASH_TEXT = 65, FORMAT_MAX = 32 };
#define ACP_FORMAT "acp"

typedef struct proxy proxy;
typedef struct session session;
typedef struct turn turn;
typedef struct flow flow;

/* ------------------------------------------------------------------ sessions */

/* An inner session that was left, and the history that it holds. */
typedef struct left {
    struct left *next;
    char *inner;
    char held[HASH_TEXT];
} left;

struct session {
    session *next;
    char *outer, *inner;
    char *tree;
    char *cwd;            /* text */
    char *mcp, *dirs;     /* JSON as given; mcp may hold secrets: never stored. NULL: not given */
    char *modes, *config; /* JSON: as last told by the agent; NULL: it has none */
    char *commands;       /* JSON array of the agent's own; NULL: not told */
    char *title;          /* that the agent gave and that is not yet stored; NULL: none */
    char held[HASH_TEXT]; /* P2; "" when unknown */
    bool seed;            /* the transcript goes before the next prompt */
    bool seeding;         /* it went before the one that is under way */
    bool open;            /* the editor has been told of it */
    turn *turn;           /* under way, or said without being asked; NULL: none */
    char *aside;          /* inner session of a side question that is being answered; NULL: none */
    char *landing;        /* the summary for /land, as the agent says it aside; NULL: none */
    left *left;
};

session *session_outer(proxy *p, const char *outer);
session *session_inner(proxy *p, const char *inner);
/* Whose left inner session it is; NULL: nobody's. */
session *session_left(proxy *p, const char *inner);
session *session_add(proxy *p, const char *outer, const char *inner);
void session_drop(proxy *p, session *s);
/* The same for one that the editor has closed: P4. */
void session_close(proxy *p, session *s);
/* The session goes on with another inner one, which holds that history. */
void session_move(session *s, const char *inner, const char *held);
/* An inner session that is not come back to. */
void session_leave(session *s, const char *inner, const char *held);
/* What the store keeps beside the history: the inner session, what it holds, names of servers. */
const char *session_metadata(proxy *p, const session *s, const char *old);
void session_save(proxy *p, session *s);
/* From what an answer of the agent to new, load, resume or fork holds. */
void session_hear_setup(session *s, const message *m, const json_node *result);
void session_put_text(char **place, const char *text); /* replaces it by a copy */
/* What is called for a session that the editor may hear of now. */
void session_told(proxy *p, session *s, bool replay);
/* The agent's commands and ours. */
void commands_tell(proxy *p, session *s);
const char *commands_merged(proxy *p, const char *own);

/* ------------------------------------------------------------------ ids of a tree */

typedef struct ids {
    struct ids *next;
    char *tree;
    uint64_t *slots;
    size_t n, cap;
    bool known; /* all that the store has */
} ids;
ids *ids_of(proxy *p, const char *tree);
bool ids_add(ids *set, const char *id); /* false: it was there */
bool ids_has(const ids *set, const char *id);
/* Looks at all entries of the tree that the session is in. */
void ids_learn(proxy *p, session *s);

/* ------------------------------------------------------------------ flows */

typedef void (*flow_step)(proxy *p, flow *f, const message *m);

/* A request of the editor that the proxy answers itself, in several steps; or a request that waits
 * for such steps. */
struct flow {
    flow *next;
    char *id;     /* the editor's id, raw; NULL: nobody waits */
    char *line;   /* the editor's request; NULL: none */
    size_t n;     /* its bytes */
    char *outer;  /* the session, or the source of a fork */
    char *inner;  /* the session that is being opened inside; NULL: not known yet */
    char *result; /* JSON: what the agent answered */
    char *cwd, *mcp, *dirs, *system; /* of the new inner session; cwd is text, the others JSON */
    char *want_mode;                 /* to be applied again */
    char *want_config;               /* JSON: options to be applied again */
    size_t want_at;
    char *entry; /* where a fork or rewind cuts; NULL: the head */
    ramet_side side;
    int64_t keep; /* entries kept; -1: all */
    char *title;
    bool seeded;      /* the transcript went in with systemPrompt */
    bool swallow;     /* what the agent replays is not for the editor */
    bool loads;       /* the editor asked for a replay */
    bool slash;       /* asked by a slash command: the answer is a text */
    bool native;      /* the agent's own fork */
    session *own;     /* what the agent replays of a session that the store does not know */
    flow_step step;   /* takes the next answer */
    char step_id[32]; /* of the request that is under way; "": none */
    void (*made)(proxy *p, flow *f); /* the inner session is there */
};
flow *flow_new(proxy *p, const message *m);
void flow_end(proxy *p, flow *f);
void flow_answer(proxy *p, flow *f, const char *result);
void flow_fail(proxy *p, flow *f, int code, const char *text, const char *data);
/* Passes the agent's refusal on. */
void flow_refused(proxy *p, flow *f, const message *m);
void flow_ask(proxy *p, flow *f, const char *method, const char *params, flow_step step);
flow *flow_of_inner(proxy *p, const char *inner);
/* The editor's request again, in the present arena. */
void flow_message(proxy *p, const flow *f, message *m);

/* inner.c */
void inner_make(proxy *p, flow *f, void (*made)(proxy *p, flow *f));   /* session/new, settings */
void inner_settle(proxy *p, flow *f, void (*made)(proxy *p, flow *f)); /* settings alone */
void flow_take_setup(proxy *p, flow *f, const message *m);
void flow_like(flow *f, const session *s); /* folders, servers, mode and options of a session */

/* ------------------------------------------------------------------ open requests */

typedef enum {
    ASK_OTHER,
    ASK_INITIALIZE,
    ASK_NEW,
    ASK_PROMPT,
    ASK_STRANGER, /* a prompt to a session that the proxy does not know */
    ASK_SET_MODE,
    ASK_SET_CONFIG,
    ASK_CLOSE,
    ASK_LIST
} ask_kind;

/* A request that the agent has not answered. */
typedef struct asked {
    struct asked *next;
    char *id; /* raw */
    ask_kind kind;
    bool cancelled; /* the editor does not want it any more */
    flow *flow;     /* that made it; NULL: the editor's own */
    char *outer;    /* session; NULL: none */
    char *line;     /* the editor's request, where its answer needs it */
    size_t n;
} asked;

/* A line of the agent about a session that the editor has not been told of. */
typedef struct waiting {
    struct waiting *next;
    char *inner;
    char *line;
    size_t n;
} waiting;

/* ------------------------------------------------------------------ the proxy */

struct proxy {
    const acp_options *o;
    const ramet_calls *lib;
    ramet_call *call; /* reset with `mem` */
    arena *mem;
    child agent;
    lines_in from_editor, from_agent;
    lines_out to_editor, to_agent;
    session *sessions;
    flow *flows;
    asked *asked;
    waiting *waiting, **waiting_end;
    size_t waiting_bytes;
    ids *trees;
    ids closed; /* inner ids; one that is opened again is found among the sessions first */
    unsigned long long last_id;
    struct {
        bool load, fork, list, resume, close, del, system;
    } has;                 /* what the agent can do itself */
    bool started;          /* it has answered initialize */
    bool conducts;         /* a conductor stands on both sides */
    const char *successor; /* its word for a message to the agent; NULL: not yet told */
};

/* proxy.c: what goes out */
void editor_put(proxy *p, const char *line, size_t n);
void editor_answer(proxy *p, const char *id, const char *result);
void editor_error(proxy *p, const char *id, int code, const char *text, const char *data);
void editor_update(proxy *p, const char *outer, const char *update);
void agent_put(proxy *p, const char *line, size_t n);
void agent_notify(proxy *p, const char *method, const char *params);
/* Remembers that the agent owes an answer. */
asked *ask_note(proxy *p, const char *id, ask_kind kind, const char *outer);
asked *ask_find(proxy *p, const char *id);
void ask_drop(proxy *p, asked *a);
bool opening(const proxy *p); /* a session may be named by an answer that has not come */
/* {"sessionId": …} */
const char *data_session(proxy *p, const char *outer);
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *store_error(proxy *p);
/* A fault of the store as an answer: what is not there is -32002. */
void flow_store_fail(proxy *p, flow *f, ramet_status rc);

/* editor.c, agent.c: one line each */
void editor_hear(proxy *p, char *line, size_t n);
void agent_hear(proxy *p, char *line, size_t n);
/* Of a session that the editor knows; also for lines that waited. */
void update_hear(proxy *p, session *s, const message *m);
void waiting_add(proxy *p, const char *inner, const char *line, size_t n);
/* Hands on (or throws away: what is history, when `replay` is false) what waited for a session. */
void waiting_release(proxy *p, session *s, bool replay);
void waiting_drop(proxy *p, const char *inner);
void waiting_flush(proxy *p); /* nobody is being opened: the rest goes on as it is */

/* conduct.c: a line to the agent, and one that came, where a conductor stands on both sides */
void conduct_put(proxy *p, const char *line, size_t n);
void conduct_hear(proxy *p, char *line, size_t n);

/* initialize.c */
const char *initialize_request(proxy *p, const message *m, size_t *n);
const char *initialize_answer(proxy *p, const message *m, size_t *n);

/* open.c */
void open_new(proxy *p, const message *m);
void open_new_done(proxy *p, asked *a, const message *m);
void open_load(proxy *p, const message *m); /* session/load and session/resume */
void open_fork(proxy *p, const message *m);
/* What _meta says about the place: f->entry, side and keep. False: it was wrong, and answered. */
bool anchor_take(proxy *p, flow *f, const message *m);
/* The rest of it, once the place is known. */
void fork_recorded(proxy *p, flow *f, const ramet_session *r);
bool refused_as_unknown(const message *m, const char *inner);

/* list.c */
void lineage_write(json_writer *w, const ramet_session *r); /* the member _meta */
void list_ask(proxy *p, const message *m);
void list_delete(proxy *p, const message *m);
void list_close(proxy *p, const message *m);
void list_close_done(proxy *p, asked *a, const message *m);

/* prompt.c */
void prompt_take(proxy *p, const message *m);
void prompt_done(proxy *p, asked *a, const message *m);
void prompt_send(proxy *p, session *s, const message *m);

/* moves.c: `_ramet/session/…`; false: it is none of them */
bool move_take(proxy *p, const message *m);
/* Moves the head; the next prompt finds that the inner session does not hold it (P2). What f->entry
 * and f->side name is where a rewind goes. NULL: it failed, and was answered. */
const ramet_session *move_do(proxy *p, flow *f, ramet_move_kind kind);
/* Where the session stands in its tree, as an update. */
void info_tell(proxy *p, const ramet_session *r);
/* Where the n-th turn from the end begins, in the call's memory. NULL: there are not so many. */
const ramet_entry *turn_back(proxy *p, const char *outer, int64_t n);
/* tree.c: the forks of a session and its branches, for programs and for people. */
void tree_take(proxy *p, flow *f);
void compare_take(proxy *p, flow *f, const message *m);
/* merge.c */
void merge_take(proxy *p, flow *f, const message *m);
/* Lands a text in the session that this one was forked from. */
void land_do(proxy *p, flow *f, const char *text);
const char *tree_text(proxy *p, const char *outer);

/* commands.c: a prompt that is a command of ours. False: it is not. */
bool command_take(proxy *p, session *s, const message *m);
/* The answer to a slash command: a text, and the end of its turn. */
void command_say(proxy *p, flow *f, const char *text);
void aside_hear(proxy *p, session *s, const message *m);

/* ------------------------------------------------------------------ the record */

/* What was said in one turn and is not yet in the store. */
turn *turn_new(session *s);
void turn_free(turn *t);
const char *turn_id(const turn *t);
bool turn_asked(const turn *t);           /* a prompt waits for its end */
const char *turn_question(const turn *t); /* entry id of the prompt; NULL: not stored */
bool turn_heard(const turn *t);           /* the agent has said something */
/* The user's message, JSON array of content blocks. */
void turn_prompt(proxy *p, session *s, const json_doc *d, const json_node *blocks);
/* One update of the agent: recorded when it is history. Gives the id that the message has on the
 * wire; NULL: it has none, or the agent's own stands. */
const char *turn_hear(proxy *p, session *s, const message *m, const json_node *update);
bool update_is_history(const char *kind);
/* Writes what is whole; `all`: everything. False: the store refused, p->call tells why. */
bool turn_store(proxy *p, session *s, bool all);
/* Its end, after which there is no turn. `why` NULL: it ended well. */
bool turn_end(proxy *p, session *s, const char *why, const ramet_usage *usage);

/* inline.c: a content block or an update as it is kept, and an update as it was */
const char *inline_keep(proxy *p, const char *raw);
const char *inline_restore(proxy *p, const char *update);
/* The attachment that has what an object held; NULL: none. */
const char *inline_kept(proxy *p, const json_doc *d, const json_node *object);

/* replay.c */
/* Tells the editor all that the store has of a session. */
ramet_status replay_tell(proxy *p, const char *outer);
/* The first `keep` entries (-1: all) as a text for a model; NULL: there is none, or a fault. */
const char *transcript(proxy *p, const char *outer, int64_t keep);

#endif
