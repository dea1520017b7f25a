/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a.h: maps A2A messages and tasks to entries and sessions, and back, for the kagent and A2A
 * faces. Both protocol versions, 0.3 and 1.0, are accepted as input; output is written in the
 * version that the view names.
 *
 *   context   a session: contextId is the session's id
 *   message   an entry of the main log with format "a2a": body = the message as received, role
 *             user or assistant, parts = the normal form, turn_id = the id of its task. The entry's
 *             id is the messageId, unless another message of the path already has that id. An entry
 *             of any other format is a message too, built from its normal form; its messageId is
 *             the entry's id.
 *   task      the messages with one turn_id on the session's path, in path order, plus a row
 *             (ramet_task) for what is not a message: status, artifacts, metadata. A turn that the
 *             server runs is a task with the turn's id, with or without a row.
 *   history   the entries a session inherited from its parent form one completed task, whose id is
 *             the session's id. A fork always has this task, even when it is empty.
 *   invocation  an id in a message's metadata (kagent_invocation_id, adk_invocation_id). For a turn
 *             that the server ran, and for entries in another format, it is the turn's id.
 *
 * contextId and taskId always name the session being read (I4); they are never copied from the
 * body. All memory belongs to the arena, or to the call, that the caller passes in.
 */
#ifndef FORM_A2A_A2A_H
#define FORM_A2A_A2A_H

#include "base/arena.h"
#include "base/json.h"
#include "ramet.h"

typedef enum { A2A_03, A2A_10 } a2a_version;

/* Parses the value of the A2A-Version header (or parameter): absent, "", 0.3 and 1.0, also written
 * 0.3.0 and 1.0.0. */
bool a2a_version_of(const char *text, a2a_version *out);

/* Task states, as 0.3 ("completed") and 1.0 ("TASK_STATE_COMPLETED") name them. */
typedef enum {
    A2A_SUBMITTED,
    A2A_WORKING,
    A2A_INPUT_REQUIRED,
    A2A_COMPLETED,
    A2A_CANCELED,
    A2A_FAILED,
    A2A_REJECTED,
    A2A_AUTH_REQUIRED,
    A2A_UNKNOWN,
    A2A_N_STATES
} a2a_state;
const char *a2a_state_name(a2a_state s, a2a_version v);
int a2a_state_parse(const char *word); /* in either version; -1: unknown */
bool a2a_state_over(a2a_state s);      /* completed, canceled, failed, rejected */

/* ------------------------------------------------------------------ messages */

/* A parsed message of either version. */
typedef struct a2a_message {
    const char *id; /* messageId */
    ramet_role role;
    const char *parts;          /* the normal form: a JSON array for ramet_entry_in */
    const char *body;           /* the message as received */
    const char *context, *task; /* as sent by the client; NULL: absent or "" */
    const char *invocation;     /* from its metadata; NULL: none */
    const char *rewind;         /* metadata kagent_rewind_before_invocation_id; NULL: none */
    bool blank;                 /* every part is an empty text */
    const json_doc *doc;        /* the document that holds it */
    const json_node *node;
} a2a_message;

/* On failure returns false and sets *why to the member that is wrong ("parts[1].kind is …"). */
bool a2a_message_read(arena *a, const json_doc *d, const json_node *v, a2a_message *out,
                      const char **why);
/* Whether each part of a message says its kind, as version 0.3 requires; *part: the first that does
 * not. */
bool a2a_kinds_fit(const json_doc *d, const json_node *message, size_t *part);
/* The entry to append for a message, as part of that task. */
ramet_entry_in a2a_entry_in(const a2a_message *m, const char *task);

/* How to write a message for one reader. */
typedef struct a2a_view {
    a2a_version version;
    const char *session;   /* contextId */
    const char *task;      /* taskId */
    bool page;             /* for kagent's page: questions as confirmations of ADK, and neither
                              thoughts nor plans, which it would show as text */
    bool stamp;            /* add an invocation id to messages that have none */
    const char *stamp_key; /* its metadata key; NULL: kagent_invocation_id */
    size_t room;           /* bytes for the artifacts and messages of a task; 0: no limit */
} a2a_view;
/* When a task does not fit into `room`, its metadata says how many of its oldest messages are
 * omitted, and whether its artifacts are. */
#define A2A_HISTORY_OMITTED "urn:ramet:ext:session-rewind:v1/historyOmitted"
#define A2A_ARTIFACTS_OMITTED "urn:ramet:ext:session-rewind:v1/artifactsOmitted"
/* In the metadata of a task that a move has cut off; the second for strict 1.0 clients. */
#define A2A_OFF_HEAD "kagent_off_head"
#define A2A_OFF_HEAD_URI "urn:ramet:ext:session-rewind:v1/offHead"
/* The room of one event: clients that read streams (JS SDK 1.3) accept 4 MiB. */
#define A2A_EVENT_ROOM ((size_t)3 << 20)

/* Writes an entry as a message. `invocation` is the id to add to it; NULL: the entry's own, as
 * a2a_invocation() returns it. */
void a2a_message_write(json_writer *w, const a2a_view *view, const ramet_entry *e,
                       const char *invocation);
/* Whether there is anything to write of an entry: a message without parts is none. */
bool a2a_message_shown(const a2a_view *view, const ramet_entry *e);
/* Whether an entry is a question to the user (turn_question_parts() in turns/turns.h). */
bool a2a_entry_asks(const ramet_entry *e);
/* Writes the token usage of an entry as a member of metadata. */
void a2a_usage_write(json_writer *w, const a2a_view *view, const ramet_usage *u);
/* The invocation id of an entry; NULL if it has none of its own. */
const char *a2a_invocation(arena *a, const ramet_entry *e);
/* Rewrites the members of a message, or an artifact, from stored JSON of either version (a status
 * message, for example) for the view. */
void a2a_message_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                         const json_node *v);
void a2a_artifact_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *v);

/* --------------------------------------------------------------------- tasks */

/* A range of positions on a path whose messages (entries of the channel history) belong to one
 * task. */
typedef struct a2a_span {
    int64_t lo, hi;
    size_t n; /* number of messages */
} a2a_span;

typedef struct a2a_task {
    const char *id, *session;
    a2a_state state;
    int64_t status_at;           /* time of the status; 0: unknown */
    const char *status_time;     /* the same, as the client wrote it; NULL: it did not */
    const char *status_message;  /* JSON of a message in either version; NULL: none */
    const ramet_entry *question; /* instead of it: the entry that asks the user; NULL: none does */
    const char *artifacts;       /* JSON array in either version; NULL: none */
    const char *metadata;        /* JSON object; NULL: none */
    const char *invocation;      /* from its metadata; NULL: none */
    size_t n;                    /* number of messages, oldest first, on the session's path */
    int64_t branch;              /* the branch whose path that is */
    const a2a_span *spans;       /* their positions on it */
    size_t n_spans;
    ramet_entry *history; /* the messages; NULL: too large to keep in memory (a2a_pieces.h) */
    int64_t created, updated;
    bool by_row;    /* status, artifacts and metadata come from its row */
    bool kept;      /* … and are reread from there, as the messages are: a2a_task_keep() */
    bool inherited; /* the inherited history of a fork, or the history that a rewind left */
    bool running;   /* the server is running its turn now */
    bool off_head;  /* a move has cut it off: its messages are on a branch that was left */
} a2a_task;

/* The tasks on the session's current path, oldest first. */
ramet_status a2a_tasks(ramet_call *c, const char *session, a2a_task **out, size_t *n);
/* Finds a task by its id, also one that a move has cut off (off_head), else RAMET_TURN_NOT_FOUND.
 * `session` NULL: in any session. */
ramet_status a2a_task_get(ramet_call *c, const char *session, const char *id, a2a_task **out);
/* The whole effective history as one completed task with the session's id; it is not stored. */
ramet_status a2a_task_effective(ramet_call *c, const char *session, a2a_task **out);

/* A task as a client sends it. */
typedef struct a2a_task_in {
    const char *id;             /* task id */
    const a2a_message *history; /* used if has_history */
    size_t n;
    bool has_history;
    a2a_state state;
    int64_t status_at;
    const char *status_time;                           /* as the client wrote it; may be NULL */
    const char *status_message, *artifacts, *metadata; /* JSON; NULL: none */
    const char *invocation;                            /* from its metadata; NULL: none */
} a2a_task_in;
/* Parses a Task of either version. *context is its contextId, NULL when empty. */
bool a2a_task_read(arena *a, const json_doc *d, const json_node *v, a2a_task_in *out,
                   const char **context, const char **why);
/* Inserts or updates a task: appends the messages that are new and replaces the row. If messages of
 * the task are missing from the list, or differ, the head moves (a sync of that task's messages
 * alone); messages of other tasks stay. A task that a rewind has cut off is updated on the branch
 * that holds it, not on the head. RAMET_ENTRY_EXISTS: the id belongs to a deleted task or to
 * another session. *moved (may be NULL): whether the head moved. */
ramet_status a2a_task_put(ramet_call *c, const char *session, const a2a_task_in *in, a2a_task **out,
                          bool *moved);
/* Makes the effective history equal to a list of messages. What is there already stays; the head
 * moves where the two differ or the list ends (a sync of the whole history). New messages belong to
 * the task they name, otherwise to the task with the session's id. *moved may be NULL. */
ramet_status a2a_history_put(ramet_call *c, const char *session, const a2a_message *list, size_t n,
                             bool *moved);
/* Writes the row alone, for a task whose messages a turn appends. */
ramet_status a2a_task_state_put(ramet_call *c, const char *session, const a2a_task_in *in);
/* Writes a task whose messages are in memory. `history`: at most that many of the newest messages;
 * -1: all; 0: no `history` member (1.0). */
void a2a_task_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t,
                    int64_t history);
/* The id of the message that says why a task failed. */
const char *a2a_error_id(arena *a, const char *task);
/* {"state", "message"?, "timestamp"} */
void a2a_status_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);

/* -------------------------------------------------------------------- rewind */

/* Moves the heads of a session to just before an invocation and returns the history that is left as
 * one completed task. It is not stored, but its id names the branch and its length there, so that
 * a2a_task_get() finds the same history whatever happens later. `in_memory`: load its messages,
 * however large they are. RAMET_TURN_NOT_FOUND: the session never had that invocation; for
 * RAMET_SESSION_NOT_FOUND and other errors see ramet_call_error(). The caller must then end the
 * turns that run on the abandoned part (turns_moved()). */
ramet_status a2a_rewind(ramet_call *c, const char *session, const char *invocation, bool in_memory,
                        a2a_task **out);

/* -------------------------------------------------------------------- agents */

/* The id of an agent: "kagent__NS__my_agent" for "kagent/my-agent" (or for the id itself). A name
 * without a namespace is in AGENT_NAMESPACE. */
#define AGENT_NAMESPACE "kagent"
const char *a2a_agent_id(arena *a, const char *ref);
const char *a2a_agent_id_of(arena *a, const char *ns, const char *name);
/* Splits an agent's name, ref or id into namespace and name. */
void a2a_agent_split(arena *a, const char *ref, const char **ns, const char **name);

/* ---- the answer of a task (form/a2a/artifact.c) */

#define A2A_ANSWER "answer" /* the id of that artifact */
void a2a_text_part_write(json_writer *w, a2a_version version, const char *text);
void a2a_artifact_write(json_writer *w, a2a_version version, const char *id, const char *text,
                        const char *metadata);
/* The metadata of the texts among the entries that came in the form of A2A, added to that `before`
 * them (NULL: none), as one JSON object, in which a later member replaces an earlier one of its
 * name; NULL: there are none. */
const char *a2a_answer_metadata(arena *a, const char *before, const ramet_entry *entries, size_t n);
/* The answer as an artifact list in JSON of version 0.3, followed by an artifact for each message
 * of files and values among the entries; NULL if there is none. */
const char *a2a_artifacts_of(arena *a, const char *text, const ramet_entry *entries, size_t n);
/* Whether an entry is such a message of the agent: it came in the form of A2A. */
bool a2a_entry_is_value(const ramet_entry *e);
/* Writes it as an artifact. */
void a2a_value_artifact_write(arena *a, json_writer *w, const a2a_view *view, const ramet_entry *e);
/* The text of the answer. */
const char *a2a_answer_text(arena *a, const a2a_task *t);

/* ---- sessions (form/a2a/session.c) */

/* Whether the session belongs to that agent (its name, ref or id). */
bool a2a_session_is_of(arena *a, const ramet_session *s, const char *agent);
/* `source` from the session's metadata; NULL: none. */
const char *a2a_source(arena *a, const ramet_session *s);
/* The metadata with `source` set, or without it if NULL. */
const char *a2a_source_set(arena *a, const char *metadata, const char *source);

#endif
