/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a.h: A2A messages and tasks against entries and sessions, both ways; for the kagent and
 * the A2A face. Both generations of the wire, 0.3 and 1.0, are read alike and written by version.
 *
 *   context   a session: contextId is the session's id
 *   message   an entry of the main log. format "a2a", body = the bytes that came, role user or
 *             assistant, parts = the normal form, turn_id = id of its task. The entry's id is the
 *             messageId (unless another message of the path has that). An entry of any other
 *             format is a message too, made of its normal form; its messageId is the entry's id.
 *   task      the messages of one turn_id on the session's path, in order of the path, and a row
 *             (ramet_task) with what is no message: status, artifacts, metadata. A turn that the
 *             server runs is a task by the id of the turn, with or without a row.
 *   history   what a session did not append itself (the inherited part of a fork) is one completed
 *             task, whose id is the session's id. A fork always has it, also when it is empty.
 *   invocation  id in a message's metadata (kagent_invocation_id, adk_invocation_id); of a turn
 *             that the server ran, and of entries in another format: the turn's id.
 *
 * contextId and taskId are written for the session that is read (I4), never taken from the body.
 * All memory is in the arena, or the call, that is handed in.
 */
#ifndef FORM_A2A_A2A_H
#define FORM_A2A_A2A_H

#include "base/arena.h"
#include "base/json.h"
#include "ramet.h"

typedef enum { A2A_03, A2A_10 } a2a_version;

/* Of the header A2A-Version (or the parameter): none, "", 0.3 and 1.0 (0.3.0 and 1.0.0, too). */
bool a2a_version_of(const char *text, a2a_version *out);

/* Task states, by the words of 0.3 ("completed") and of 1.0 ("TASK_STATE_COMPLETED"). */
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
int a2a_state_parse(const char *word); /* either generation's; -1: unknown */
bool a2a_state_over(a2a_state s);      /* completed, canceled, failed, rejected */

/* ------------------------------------------------------------------ messages */

/* A message of either generation, read. */
typedef struct a2a_message {
    const char *id; /* messageId */
    ramet_role role;
    const char *parts;          /* the normal form: a JSON array for ramet_entry_in */
    const char *body;           /* the bytes that came */
    const char *context, *task; /* as the caller says; NULL: not, or "" */
    const char *invocation;     /* of its metadata; NULL: none */
    const char *rewind;         /* metadata kagent_rewind_before_invocation_id; NULL: none */
    bool blank;                 /* no part but empty texts */
    const json_doc *doc;        /* where it stands */
    const json_node *node;
} a2a_message;

/* False: *why tells which member is wrong ("parts[1].kind is …"). */
bool a2a_message_read(arena *a, const json_doc *d, const json_node *v, a2a_message *out,
                      const char **why);
/* The entry that it becomes, in that task. */
ramet_entry_in a2a_entry_in(const a2a_message *m, const char *task);

/* Who reads a message. */
typedef struct a2a_view {
    a2a_version version;
    const char *session;   /* contextId */
    const char *task;      /* taskId */
    bool stamp;            /* give messages without one the invocation id kagent_invocation_id */
    const char *stamp_key; /* another key for it; NULL: kagent_invocation_id */
    size_t room;           /* for the artifacts and messages of a task, in bytes; 0: no limit */
} a2a_view;
/* Where a task lacks what there was no room for, its metadata tells how many of its messages, the
 * oldest, and whether its artifacts are left out. */
#define A2A_HISTORY_OMITTED "urn:ramet:ext:session-rewind:v1/historyOmitted"
#define A2A_ARTIFACTS_OMITTED "urn:ramet:ext:session-rewind:v1/artifactsOmitted"
/* The room of an event: readers of streams (JS SDK 1.3) take 4 MiB. */
#define A2A_EVENT_ROOM ((size_t)3 << 20)

/* An entry as a message. `invocation`: what it is stamped with (NULL: its own, as a2a_invocation()
 * has it). */
void a2a_message_write(json_writer *w, const a2a_view *view, const ramet_entry *e,
                       const char *invocation);
/* The invocation id of an entry; NULL: it has none of its own. */
const char *a2a_invocation(arena *a, const ramet_entry *e);
/* Members of a message, or parts, that stand somewhere as JSON of either generation (a status's
 * message, artifacts): written for the view. */
void a2a_message_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                         const json_node *v);
void a2a_artifact_rewrite(arena *a, json_writer *w, const a2a_view *view, const json_doc *d,
                          const json_node *v);

/* --------------------------------------------------------------------- tasks */

/* Positions of a path whose messages (entries of the channel history) are all of one task. */
typedef struct a2a_span {
    int64_t lo, hi;
    size_t n; /* messages */
} a2a_span;

typedef struct a2a_task {
    const char *id, *session;
    a2a_state state;
    int64_t status_at;          /* of the status; 0: not told */
    const char *status_time;    /* the same, as the caller wrote it; NULL: not */
    const char *status_message; /* JSON of a message, either generation; NULL: none */
    const char *artifacts;      /* JSON array, either generation; NULL: none */
    const char *metadata;       /* JSON object; NULL: none */
    size_t n;                   /* messages, oldest first, on the session's path: */
    int64_t branch;             /* … which is that of this branch, */
    const a2a_span *spans;      /* … at these positions */
    size_t n_spans;
    ramet_entry *history; /* the same; NULL: they are too large to be in memory (a2a_pieces.h) */
    int64_t created, updated;
    bool by_row;    /* status, artifacts and metadata are those of its row */
    bool kept;      /* … and are read from there again, as the messages are: a2a_task_keep() */
    bool inherited; /* the history of a fork */
    bool running;   /* a turn of the server makes it now */
} a2a_task;

/* The tasks of a session as its head shows them, oldest first. */
ramet_status a2a_tasks(ramet_call *c, const char *session, a2a_task **out, size_t *n);
/* One by its id: RAMET_TURN_NOT_FOUND. `session` may be NULL: any. */
ramet_status a2a_task_get(ramet_call *c, const char *session, const char *id, a2a_task **out);
/* One completed task with the whole effective history (the answer to a rewind); not stored.
 * `in_memory`: its messages are, however large they are. */
ramet_status a2a_task_effective(ramet_call *c, const char *session, bool in_memory, a2a_task **out);

/* What a caller says about a task. */
typedef struct a2a_task_in {
    const char *id;             /* of the task */
    const a2a_message *history; /* NULL: nothing is said about it */
    size_t n;
    bool has_history;
    a2a_state state;
    int64_t status_at;
    const char *status_time;                           /* as it was written; may be NULL */
    const char *status_message, *artifacts, *metadata; /* JSON; NULL: none */
} a2a_task_in;
/* Reads a Task of either generation. *context: its contextId, NULL when empty. */
bool a2a_task_read(arena *a, const json_doc *d, const json_node *v, a2a_task_in *out,
                   const char **context, const char **why);
/* Inserts or updates: messages that are new are appended, the row is replaced. Messages of the task
 * that are missing in the list, or differ, move the head (a sync of that task's messages alone);
 * those of other tasks stay. A task that a rewind has cut off is brought up to date on the branch
 * where it stands, not on the head. RAMET_ENTRY_EXISTS: the id is that of a deleted task, or of
 * another session's. *moved (may be NULL): the head moved. */
ramet_status a2a_task_put(ramet_call *c, const char *session, const a2a_task_in *in, a2a_task **out,
                          bool *moved);
/* Makes the effective history that list of messages: what is there already stays, the head moves
 * where it differs or ends (a sync of the whole history). New ones are of the task that they name,
 * else of the one with the session's id. *moved may be NULL. */
ramet_status a2a_history_put(ramet_call *c, const char *session, const a2a_message *list, size_t n,
                             bool *moved);
/* Only the row: for a task whose messages are appended by a turn. */
ramet_status a2a_task_state_put(ramet_call *c, const char *session, const a2a_task_in *in);
/* A task whose messages are in memory.
 * `history`: at most that many of the newest messages; -1: all; 0: no `history` at all (1.0). */
void a2a_task_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t,
                    int64_t history);
/* {"state", "message"?, "timestamp"} */
void a2a_status_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t);

/* -------------------------------------------------------------------- rewind */

/* Moves the heads of a session before an invocation and gives the effective history as one task.
 * RAMET_TURN_NOT_FOUND: no such invocation was ever there; RAMET_SESSION_NOT_FOUND and the like:
 * see ramet_call_error(). The caller then ends turns that run on what was left
 * (turns_moved()). */
ramet_status a2a_rewind(ramet_call *c, const char *session, const char *invocation, bool in_memory,
                        a2a_task **out);

/* -------------------------------------------------------------------- agents */

/* "kagent__NS__my_agent" of "kagent/my-agent" (or of itself). A name without a namespace is in
 * AGENT_NAMESPACE. */
#define AGENT_NAMESPACE "kagent"
const char *a2a_agent_id(arena *a, const char *ref);
const char *a2a_agent_id_of(arena *a, const char *ns, const char *name);
/* Namespace and name of an agent's name, ref or id. */
void a2a_agent_split(arena *a, const char *ref, const char **ns, const char **name);

/* ---- the answer of a task (form/a2a/artifact.c) */

void a2a_text_part_write(json_writer *w, a2a_version version, const char *text);
void a2a_artifact_write(json_writer *w, a2a_version version, const char *text);
/* The answer as the list of its artifact, JSON of 0.3; NULL: there is none. */
const char *a2a_artifacts_json(arena *a, const char *text);
/* The text of the answer. */
const char *a2a_answer_text(arena *a, const a2a_task *t);

/* ---- sessions (form/a2a/session.c) */

/* Whether the session belongs to that agent (its name, ref or id). */
bool a2a_session_is_of(arena *a, const ramet_session *s, const char *agent);
/* `source` of the session's metadata; NULL: none. */
const char *a2a_source(arena *a, const ramet_session *s);
/* Metadata with `source` set, or (NULL) without it. */
const char *a2a_source_set(arena *a, const char *metadata, const char *source);

#endif
