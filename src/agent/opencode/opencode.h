/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode.h: shared by the files of the agent kind `opencode`: an OpenCode server, its sessions,
 * and what it answers.
 *
 * OpenCode remembers each of its sessions itself, and its ways to go back have traps: a revert
 * destroys what it hides at the next prompt, a fork is exclusive, copies everything for an id it
 * does not know, brings reverted messages back, and is not atomic. So an *inner* session (one of
 * OpenCode's) is only ever continued, or copied and checked:
 *
 *   O1  A prompt is sent to an inner session only if that holds exactly the history before it, with
 *       the same overlays and erasures. Its newest messages are read before each prompt.
 *   O2  What a prompt belongs to is written where it cannot get lost: in the metadata of its part
 *       (turn, hash of the history with it, view), in the same request. Copies keep it.
 *   O3  An inner session belongs to one session of ours, which its metadata names. Another session
 *       with the same history gets a copy.
 *   O4  The source of a copy is marked before it is copied, so a copy that was never finished has
 *       the mark, and is removed once the process that made it is dead.
 *   O5  Where no inner session holds the history, a new one gets it as a transcript.
 */
#ifndef AGENT_OPENCODE_OPENCODE_H
#define AGENT_OPENCODE_OPENCODE_H

#include "agent/agent.h"
#include "agent/wire.h"
#include "base/host.h"
#include "base/util.h"

#include <pthread.h>

enum {
    OC_REPLY_BYTES = 256 << 20, /* one response */
    OC_EVENT_BYTES = 32 << 20,  /* one event of the stream */
    OC_REQUEST_BYTES = 64 << 20,
    OC_FILES_BYTES = 8 << 20, /* of all attachments of a message */
    OC_REASON = 400,
    OC_LIST_MAX = 100000 /* sessions that are listed */
};

/* The checked settings. Texts live as long as the agent. */
typedef struct oc_settings {
    const char *name; /* of the agent */
    const char *url;
    const char *auth;   /* the header that carries the password; NULL: none */
    const char *secret; /* "": none */
    const char *folder, *mode, *model;
    const char *store;  /* stands for the store in marks: several may use one server; "": none */
    int64_t transcript; /* maximum size in bytes */
    wire_limits limits;
    int64_t fork_ms; /* how long a copy may take */
    int64_t retries, backoff_ms;
} oc_settings;

/* ------------------------------------------------------------------ requests (api.c) */

typedef struct oc_api {
    const oc_settings *set;
    wire_pool *pool;
    arena *arena;           /* for replies */
    const agent_sink *sink; /* may cancel; NULL: cannot be cancelled */
    int64_t deadline;       /* time_mono_us() */
    const char *folder;     /* `directory` of each request; "": the server's own */
    wire_limits limits;
} oc_api;

typedef struct oc_reply {
    long status; /* 0: no response */
    bool cancelled;
    json_doc doc; /* n = 0: there was no JSON */
    char why[OC_REASON];
} oc_reply;

/* One request. `body` NULL: none. False: no 2xx response, and out->why says what happened. */
bool oc_call(const oc_api *api, const char *method, const char *path, const char *body,
             oc_reply *out);
/* The URL of a path of the server, with `directory`. */
const char *oc_url(const oc_api *api, const char *path);
size_t oc_headers(const oc_api *api, const char *accept, const char **out); /* at most 3 */
const char *oc_text(arena *a, const json_doc *d, const json_node *v, const char *key);
bool oc_is(arena *a, const json_doc *d, const json_node *v, const char *key, const char *text);

/* ------------------------------------------------------------------ answers (answer.c) */

typedef enum {
    OC_OPEN,   /* more will follow */
    OC_ASKS,   /* a question waits to be answered */
    OC_IDLE,   /* the session has come to rest */
    OC_STOPPED /* the sink has asked to stop */
} oc_state;

/* What is known of a part that was reported. */
typedef struct oc_part {
    const char *id;
    size_t said; /* bytes of its text that were reported */
    bool is_thinking;
    bool has_gap;         /* pieces may have been missed: only its whole text counts */
    bool called, settled; /* a tool: the call, and its result, were reported */
} oc_part;

/* A message of OpenCode's assistant. */
typedef struct oc_message {
    const char *id;
    int64_t input, output, cached, cost;
    const char *error;     /* NULL: none */
    bool aborted, is_over; /* over: it has a time of completion */
} oc_message;

/* An answer while it is made. It is fed with events and with whole messages, in any order and as
 * often as wanted: each part is reported once. */
typedef struct oc_answer {
    arena *arena, *scratch; /* for the turn; for one event */
    const agent_sink *sink;
    const char *session, *turn;
    const char *message;       /* OpenCode's id of the prompt; NULL: not seen yet */
    VEC(const char *) prompts; /* it, and what OpenCode itself adds to go on */
    VEC(oc_message) answers;
    VEC(oc_part) parts;
    VEC(const char *) sessions; /* the session and those of its subagents */
    VEC(const char *) asked;    /* ids of questions that were answered */
    const char *speaking;       /* the part whose text was reported last; NULL: an entry was made */
    size_t n_calls;             /* tool calls that were reported */
    bool has_changes;           /* files were changed */
    bool is_catching_up;        /* whole messages are read, because events may have been missed */
    oc_state state;
    const char *error; /* of the session; NULL: none */
    struct {
        const char *id;
        bool is_permission;
        const char *text, *options; /* for the user */
        const char *raw;            /* JSON of a question */
    } question;
} oc_answer;

void oc_answer_init(oc_answer *an, arena *a, const agent_sink *s, const char *session,
                    const char *turn);
void oc_answer_release(oc_answer *an);
/* An event of the stream: the text behind `data:`. */
void oc_answer_event(oc_answer *an, const char *text, size_t n);
/* A list of messages, as the server gives it, after events may have been missed. */
void oc_answer_messages(oc_answer *an, const json_doc *d, const json_node *list);
/* Lists of open questions and permissions. */
void oc_answer_questions(oc_answer *an, const json_doc *d, const json_node *list,
                         bool is_permission);
/* Remembers a subagent's session. */
void oc_answer_child(oc_answer *an, const char *id);

/* ------------------------------------------------------------------ inner sessions (inner.c) */

/* A message of the user in an inner session. */
typedef struct oc_prompt {
    const char *message;    /* OpenCode's id; NULL: not known yet */
    const char *key, *turn; /* hash, and turn, of our prompt; else both its id there */
    const char *view;       /* overlays and erasures; NULL: not our prompt */
    size_t before;          /* messages of the session before it */
    size_t n_calls;         /* tool calls of its answer */
} oc_prompt;

typedef struct oc_inner {
    struct oc_inner *next;
    arena *arena;
    const char *id, *session, *root; /* its id; the session of ours; see agent_turn.cache_key */
    bool is_new;                     /* its metadata does not say yet that it was used */
    VEC(oc_prompt) prompts;
    size_t n_messages;
    const char *last;   /* id of its newest message; NULL: none */
    const char *revert; /* the first message that is hidden; NULL: none */
    const char *keys;   /* JSON: ids that messages of the user had before they were copied */
    const char *rest;   /* JSON: other members of its metadata, ",..." or "" */
    bool is_adopted;    /* it was made in OpenCode */
} oc_inner;

typedef struct opencode {
    arena *arena;
    oc_settings set;
    wire_pool *pool;
    pthread_mutex_t lock; /* guards the inner sessions */
    oc_inner *inners;
    bool is_mended;
    char host[HOST_TEXT];
} opencode;

/* What a turn needs of an inner session. */
typedef struct oc_want {
    const agent_turn *turn;
    size_t message;   /* index of the message */
    const char *view; /* of the history before it */
} oc_want;

typedef struct oc_found {
    const char *id;
    bool is_complete; /* it holds everything before the message */
    bool is_new;
} oc_found;

/* Chooses or makes the inner session for a turn. False: *why has the reason, or the turn was
 * cancelled. */
bool oc_inner_open(opencode *own, oc_api *api, const oc_want *want, oc_found *out,
                   char why[OC_REASON]);
/* A prompt was sent, and answered as far as it was. */
void oc_inner_prompted(opencode *own, oc_api *api, const oc_want *want, const oc_found *found,
                       const oc_answer *answer);
/* Reads a session and its messages; its arena holds it. NULL: *got says why. */
oc_inner *oc_inner_read(const oc_api *api, const char *id, oc_reply *got);
/* Writes our mark into the metadata of a session of OpenCode. */
bool oc_mark_put(opencode *own, const oc_api *api, const oc_inner *in, bool is_forking,
                 oc_reply *got);
/* The ids of entries made of the first n messages that were written in OpenCode, as JSON; NULL:
 * there are none. */
const char *oc_keys_make(arena *a, const oc_inner *in, size_t n);
/* Whether a mark is of this store and agent. */
bool oc_mark_is_ours(const oc_api *api, const json_doc *d, const json_node *mark);
/* Whether the process that has left a mark is gone for good. */
bool oc_host_is_dead(const char *host);
/* Removes what dead processes have left half made; once in each process. */
void oc_mend(opencode *own, oc_api *api);
void oc_inners_free(opencode *own);

/* ------------------------------------------------------------------ entries (entries.c) */

/* The id of the k-th entry that is made of a message of OpenCode: always the same, so that nothing
 * is read in twice, and OpenCode's ids stay there. */
const char *oc_entry_id(arena *a, const char *message, size_t k);

typedef VEC(ramet_entry_in) oc_entries;
/* Makes entries of a message {info, parts}; `turn` is that of the message it belongs to. */
void oc_entries_add(arena *a, oc_entries *to, const json_doc *d, const json_node *message,
                    const char *turn, const char *author);
/* The files that the answer to a message of the user has changed, as a data part; NULL: none. */
const char *oc_changes(arena *a, const json_doc *d, const json_node *info);

/* ------------------------------------------------------------------ files (files.c) */

const char *oc_files(agent *a, const agent_files *in, arena *mem, char *why); /* agent_kind.files */

/* ------------------------------------------------------------------ prompts (prompt.c) */

/* The body of a prompt; NULL: it would be too large. */
const char *oc_prompt_body(arena *a, const oc_settings *set, const oc_want *want, bool is_complete);

#endif
