/* SPDX-License-Identifier: Apache-2.0
 *
 * own.h: shared by the files of the ACP proxy.
 *
 * The editor knows a session by its *outer* id, which is its id in the store; the agent knows it by
 * its *inner* id. They are the same until the history moves (a rewind, a write by another client):
 * then a new inner session continues under the old outer id.
 *
 *   P1  Requests are forwarded with their own ids. Requests that the proxy makes have string ids
 *       with a prefix (OWN_ID), so the two never collide.
 *   P2  `held` of a session names the history that its inner session contains: its hash, its
 *       overlays, and how many of its entries were erased when the inner session got it. A prompt
 *       goes to an inner session only if that is the head in the store, or with the transcript
 *       before it (`seed`).
 *   P3  A turn is in the store before its response is sent.
 *   P4  Output of an abandoned inner session (`left`), or of a session that was closed (`closed`),
 *       is discarded.
 *
 * One thread, one loop: a line is parsed in p->mem, which is reset after it. What lives longer is
 * allocated with xmalloc.
 */
#ifndef ACP_OWN_H
#define ACP_OWN_H

#include "acp/acp.h"
#include "agent/acp/message.h"
#include "base/child.h"
#include "base/lines.h"
#include "base/util.h"

#define OWN_ID "ramet:"
enum {
    HASH_TEXT = 65,
    ERASED_TEXT = 48,
    HELD_TEXT = HASH_TEXT + 24 + ERASED_TEXT,
    FORMAT_MAX = 32
};
#define ACP_FORMAT "acp"

typedef struct proxy proxy;
typedef struct session session;
typedef struct turn turn;
typedef struct flow flow;

/* ------------------------------------------------------------------ sessions */

/* An abandoned inner session, and the history it contains. */
typedef struct left {
    struct left *next;
    char *inner;
    char held[HELD_TEXT];
} left;

struct session {
    session *next;
    char *outer, *inner;
    char *tree;
    char *cwd;        /* plain text */
    char *mcp, *dirs; /* JSON as given; mcp may contain secrets: never stored. NULL: not given */
    char *modes, *config;     /* JSON, as last sent by the agent; NULL: none */
    char *commands;           /* JSON array of the agent's own; NULL: not known */
    char *title;              /* sent by the agent and not stored yet; NULL: none */
    char held[HELD_TEXT];     /* P2; "" if unknown */
    char erased[ERASED_TEXT]; /* what was erased when the inner session got it; a part of `held` */
    bool seed;                /* the transcript goes before the next prompt */
    bool seeding;             /* it went before the current one */
    bool open;                /* the editor knows it */
    turn *turn;               /* in progress, or unsolicited output; NULL: none */
    char *aside;              /* inner session of a side question in progress; NULL: none */
    char *landing;            /* the summary for /land, as the agent says it aside; NULL: none */
    left *left;
};

session *session_outer(proxy *p, const char *outer);
session *session_inner(proxy *p, const char *inner);
/* The session that abandoned this inner session; NULL: none. */
session *session_left(proxy *p, const char *inner);
session *session_add(proxy *p, const char *outer, const char *inner);
void session_drop(proxy *p, session *s);
/* The same for one that the editor has closed: P4. */
void session_close(proxy *p, session *s);
/* What was erased of a session's history up to now; "" if nothing. */
const char *erased_text(proxy *p, const char *outer, char out[ERASED_TEXT]);
/* What an inner session holds that was told the context view of this head. */
const char *held_text(const ramet_head *h, const char *erased, char out[HELD_TEXT]);
/* Whether the inner session holds this head, as it is now. */
bool session_holds(proxy *p, const session *s, const ramet_head *h);
/* The inner session holds this head, with what is erased now. */
void session_held_set(proxy *p, session *s, const ramet_head *h);
/* Continues the session with another inner one, which contains that history. */
void session_move(session *s, const char *inner, const char *held, const char *erased);
/* Abandons an inner session for good. */
void session_leave(session *s, const char *inner, const char *held);
/* What the store keeps besides the history: the inner session, the history it contains, names of
 * servers. */
const char *session_metadata(proxy *p, const session *s, const char *old);
void session_save(proxy *p, session *s);
/* Reads the agent's answer to new, load, resume or fork. */
void session_read_setup(session *s, const message *m, const json_node *result);
void session_put_text(char **place, const char *text); /* replaces it with a copy */
/* Called for a session that the editor may now learn about. */
void session_announce(proxy *p, session *s, bool replay);
/* Sends the agent's commands and ours. */
void commands_send(proxy *p, session *s);
const char *commands_merged(proxy *p, const char *own);

/* ------------------------------------------------------------------ ids of a tree */

typedef struct ids {
    struct ids *next;
    char *tree;
    uint64_t *slots;
    size_t n, cap;
    bool known; /* all ids in the store are in the set */
} ids;
ids *ids_of(proxy *p, const char *tree);
bool ids_add(ids *set, const char *id); /* false: it was there already */
bool ids_has(const ids *set, const char *id);
/* Reads all entries of the session's tree. */
void ids_learn(proxy *p, session *s);

/* ------------------------------------------------------------------ flows */

typedef void (*flow_step)(proxy *p, flow *f, const message *m);

/* A request of the editor that the proxy answers itself, in several steps; or a request that waits
 * for such steps. */
struct flow {
    flow *next;
    char *id;     /* the editor's id, raw; NULL: no answer expected */
    char *line;   /* the editor's request; NULL: none */
    size_t n;     /* length of `line` */
    char *outer;  /* the session, or the source of a fork */
    char *inner;  /* the session being opened in the agent; NULL: not known yet */
    char *result; /* JSON: the agent's answer */
    char *cwd, *mcp, *dirs, *system; /* for the new inner session; cwd is text, the others JSON */
    char *want_mode;                 /* to be restored */
    char *want_config;               /* JSON: options to be restored */
    size_t want_at;
    char *entry; /* where a fork or rewind cuts; NULL: the head */
    ramet_side side;
    int64_t keep; /* entries kept; -1: all */
    char *title;
    bool seeded;    /* the transcript was sent in systemPrompt */
    bool swallow;   /* do not pass what the agent replays to the editor */
    bool loads;     /* the editor requested a replay */
    bool slash;     /* from a slash command: the answer is a text */
    bool native;    /* the agent's own fork */
    session *own;   /* collects what the agent replays of a session that the store does not know */
    flow_step step; /* handles the next answer */
    char step_id[32];                /* of the current request; "": none */
    void (*made)(proxy *p, flow *f); /* called when the inner session is ready */
};
flow *flow_new(proxy *p, const message *m);
void flow_end(proxy *p, flow *f);
void flow_answer(proxy *p, flow *f, const char *result);
void flow_fail(proxy *p, flow *f, int code, const char *text, const char *data);
/* Passes the agent's refusal on. */
void flow_refused(proxy *p, flow *f, const message *m);
void flow_ask(proxy *p, flow *f, const char *method, const char *params, flow_step step);
flow *flow_of_inner(proxy *p, const char *inner);
/* Parses the editor's request again, in the current arena. */
void flow_message(proxy *p, const flow *f, message *m);

/* inner.c */
void inner_make(proxy *p, flow *f, void (*made)(proxy *p, flow *f));   /* session/new, settings */
void inner_settle(proxy *p, flow *f, void (*made)(proxy *p, flow *f)); /* settings only */
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

/* A request that the agent has not answered yet. */
typedef struct asked {
    struct asked *next;
    char *id; /* raw */
    ask_kind kind;
    bool cancelled; /* the editor has cancelled it */
    flow *flow;     /* the flow that made it; NULL: the editor's own */
    char *outer;    /* session; NULL: none */
    char *line;     /* the editor's request, if its answer needs it */
    size_t n;
} asked;

/* A line of the agent about a session that the editor does not know yet. */
typedef struct waiting {
    struct waiting *next;
    char *inner;
    char *line;
    size_t n;
} waiting;

/* ------------------------------------------------------------------ the proxy */

struct proxy {
    const acp_options *options;
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
    ids closed; /* inner ids; a reopened one is found among the sessions first */
    unsigned long long last_id;
    struct {
        bool load, fork, list, resume, close, del, system;
    } has;                 /* the agent's own capabilities */
    bool started;          /* it has answered initialize */
    bool conducts;         /* runs under a conductor */
    const char *successor; /* the conductor's method for them; NULL: unknown yet */
};

/* proxy.c: output */
void editor_put(proxy *p, const char *line, size_t n);
void editor_answer(proxy *p, const char *id, const char *result);
void editor_error(proxy *p, const char *id, int code, const char *text, const char *data);
void editor_update(proxy *p, const char *outer, const char *update);
void agent_put(proxy *p, const char *line, size_t n);
void agent_notify(proxy *p, const char *method, const char *params);
/* Records that the agent owes an answer. */
asked *ask_note(proxy *p, const char *id, ask_kind kind, const char *outer);
asked *ask_find(proxy *p, const char *id);
void ask_drop(proxy *p, asked *a);
bool opening(const proxy *p); /* an outstanding answer may name a session */
/* {"sessionId": …} */
const char *data_session(proxy *p, const char *outer);
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
const char *store_error(proxy *p);
/* Answers with an error of the store: -32002 for what does not exist. */
void flow_store_fail(proxy *p, flow *f, ramet_status rc);

/* editor.c, agent.c: one line each */
void editor_receive(proxy *p, char *line, size_t n);
void agent_receive(proxy *p, char *line, size_t n);
/* For a session that the editor knows; also for lines that waited. */
void update_receive(proxy *p, session *s, const message *m);
void waiting_add(proxy *p, const char *inner, const char *line, size_t n);
/* Passes on the lines that waited for a session; drops history if `replay` is false. */
void waiting_release(proxy *p, session *s, bool replay);
void waiting_drop(proxy *p, const char *inner);
void waiting_flush(proxy *p); /* no session is being opened: passes the rest on unchanged */

/* conduct.c: a line to the agent, and one from it, under a conductor */
void conduct_put(proxy *p, const char *line, size_t n);
void conduct_receive(proxy *p, char *line, size_t n);

/* initialize.c */
const char *initialize_request(proxy *p, const message *m, size_t *n);
const char *initialize_answer(proxy *p, const message *m, size_t *n);

/* open.c */
void open_new(proxy *p, const message *m);
void open_new_done(proxy *p, asked *a, const message *m);
void open_load(proxy *p, const message *m); /* session/load and session/resume */
void open_fork(proxy *p, const message *m);
/* Reads the place from _meta: f->entry, side and keep. False: it was invalid, and answered. */
bool anchor_take(proxy *p, flow *f, const message *m);
/* Continues once the place is known. */
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

/* moves.c: `_ramet/session/…`; false: another method */
bool move_take(proxy *p, const message *m);
/* Moves the head; the next prompt notices that the inner session does not contain it (P2). A rewind
 * goes to f->entry and f->side. NULL: it failed, and was answered. */
const ramet_session *move_do(proxy *p, flow *f, ramet_move_kind kind);
/* Sends the session's place in its tree, as an update. */
void info_send(proxy *p, const ramet_session *r);
/* Where the n-th turn from the end begins, in the call's memory. NULL: there are fewer. */
const ramet_entry *turn_back(proxy *p, const char *outer, int64_t n);
/* tree.c: the forks of a session and its branches, for programs and for users. */
void tree_take(proxy *p, flow *f);
void compare_take(proxy *p, flow *f, const message *m);
/* merge.c */
void merge_take(proxy *p, flow *f, const message *m);
/* Lands a text in the session that this one was forked from. */
void land_do(proxy *p, flow *f, const char *text);
const char *tree_text(proxy *p, const char *outer);

/* commands.c: a prompt that is a command of ours. False: it is not. */
bool command_take(proxy *p, session *s, const message *m);
/* Answers a slash command: a text, and the end of its turn. */
void command_say(proxy *p, flow *f, const char *text);
void aside_receive(proxy *p, session *s, const message *m);

/* ------------------------------------------------------------------ the record */

/* The part of a turn that is not in the store yet. */
turn *turn_new(session *s);
void turn_free(turn *t);
const char *turn_id(const turn *t);
bool turn_asked(const turn *t);           /* a prompt waits for its end */
const char *turn_question(const turn *t); /* entry id of the prompt; NULL: not stored */
bool turn_has_output(const turn *t);      /* the agent has sent something */
/* The user's message, as a JSON array of content blocks. */
void turn_prompt(proxy *p, session *s, const json_doc *d, const json_node *blocks);
/* Reads one update of the agent, and records it if it is history. Returns the id to give the
 * message on the wire; NULL: none, or the agent's own is kept. */
const char *turn_record_update(proxy *p, session *s, const message *m, const json_node *update);
bool update_is_history(const char *kind);
/* Writes complete items; `all`: everything. False: the store refused; see the error of p->call. */
bool turn_store(proxy *p, session *s, bool all);
/* Ends and frees the turn. `why` NULL: it ended normally. */
bool turn_end(proxy *p, session *s, const char *why, const ramet_usage *usage);

/* inline.c: a content block or an update as it is stored, and an update as it was received */
const char *inline_keep(proxy *p, const char *raw);
const char *inline_restore(proxy *p, const char *update);
/* The attachment with the content of an object; NULL: none. */
const char *inline_kept(proxy *p, const json_doc *d, const json_node *object);

/* replay.c */
/* Sends the editor everything the store has of a session. */
ramet_status replay_send(proxy *p, const char *outer);
/* The first `keep` entries (-1: all) as text for a model; NULL: there is none, or an error. */
const char *transcript(proxy *p, const char *outer, int64_t keep);

#endif
