/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a.h: shared by the files of the agent kind `a2a`: settings, messages to the remote agent, and
 * its answers.
 */
#ifndef AGENT_A2A_A2A_H
#define AGENT_A2A_A2A_H

#include "agent/agent.h"
#include "agent/wire.h"
#include "base/util.h"

#include <pthread.h>

enum {
    A2A_REQUEST_BYTES = 64 << 20,
    A2A_EVENT_BYTES = 16 << 20,  /* one event of a stream, or one response */
    A2A_ANSWER_BYTES = 16 << 20, /* text of one turn */
    A2A_STREAM_BYTES = 512 << 20,
    A2A_ROUNDS = 64, /* questions and broken streams per turn */
    A2A_REASON = 400
};

/* How the remote agent knows the history. */
typedef enum {
    A2A_BY_CONTEXT, /* it remembers each context itself */
    A2A_READS_BACK, /* it reads the session from us: the context is the session */
    A2A_EVERY_TURN  /* it does not: every message contains the history */
} a2a_memory;

/* The checked settings. Texts live as long as the agent. */
typedef struct a2a_settings {
    const char *name; /* the agent's name: author of its entries */
    const char *url;
    const char *key;
    bool fixed, v1;   /* whether `version` is set, and to what */
    bool is_rest;     /* `binding` is HTTP+JSON */
    bool any_binding; /* … or what the card prefers */
    bool stream, user;
    a2a_memory memory;
    int64_t transcript; /* maximum size in bytes */
    wire_limits limits;
    int64_t retries, backoff_ms;
} a2a_settings;

/* Where to reach the remote agent, and what it supports. */
typedef struct a2a_remote {
    const char *url;
    bool v1;            /* A2A 1.0, otherwise 0.3 */
    bool is_rest;       /* over HTTP+JSON, otherwise JSON-RPC */
    const char *tenant; /* to be named in every call; NULL: none */
    bool stream;        /* it supports streaming */
} a2a_remote;

/* ------------------------------------------------------------------ calls (agent/a2a/binding.c) */

typedef enum { A2A_SEND, A2A_SEND_STREAM, A2A_GET, A2A_SUBSCRIBE, A2A_CANCEL } a2a_method;
typedef struct a2a_call {
    a2a_method method;
    int id;              /* of the JSON-RPC call */
    const char *message; /* to send, a JSON object; */
    const char *task;    /* or else the id of the task */
} a2a_call;
/* The HTTP request of a call: a POST with a body, a GET without. */
typedef struct a2a_request {
    const char *url, *body;
} a2a_request;
void a2a_call_make(arena *a, const a2a_remote *r, const a2a_call *in, a2a_request *out);

/* ------------------------------------------------------------------ what is said */

/* How much of the history the remote agent knows. */
typedef struct a2a_context {
    const char *id;   /* NULL: let it create one */
    size_t message;   /* index of the first entry of the new message */
    bool is_complete; /* the context contains everything before it */
} a2a_context;

/* A context belongs to an unbroken sequence of turns on one branch that this agent answered; its id
 * is derived from where the sequence begins. So a fork, a rewind, an edit, an answer by another
 * agent or a turn that broke off each lead to a new context, and returning to a branch leads back
 * to the context it had. */
void a2a_context_choose(arena *a, const a2a_settings *o, const agent_turn *t, a2a_context *out);

/* The message of a turn, as a JSON object, with a transcript of what the context does not contain.
 * NULL: it would be too large. */
const char *a2a_message_first(arena *a, const a2a_settings *o, const agent_turn *t, bool v1,
                              const a2a_context *at);

/* The user's answer to a question of the remote agent. */
typedef struct a2a_reply {
    const char *task, *context; /* as named by the agent; context NULL: it did not name it */
    const agent_reply *given;
    const char *decision; /* JSON object: the decision of which the message begins; NULL: none */
} a2a_reply;
/* The same as a message: without a decision with the parts, and always with the metadata, of the
 * client's message. NULL: it would be too large. */
const char *a2a_message_reply(arena *a, const a2a_reply *in, bool v1);

/* ------------------------------------------------------------------ parts (agent/a2a/part.c) */

/* Writes a part of either version in the one that is wanted. */
void a2a_part_write(arena *a, json_writer *w, const json_doc *d, const json_node *v, bool v1);
/* Whether it is a file, or a JSON value that is not empty. */
bool a2a_part_is_value(const json_doc *d, const json_node *v);
/* Such a part as the list of parts of an entry; NULL: it is too large. */
const char *a2a_part_normal(arena *a, const json_doc *d, const json_node *v);

/* ------------------------------------------------------------------ messages (agent/a2a/message.c)
 */

/* The metadata of a remote message that are kept with its entry, all but ids of invocations; NULL:
 * there are none. */
const char *a2a_metadata_keep(arena *a, const json_doc *d, const json_node *metadata);
/* A metadata member of a message or a part, under the names that ADK, kagent and another Ramet use;
 * NULL: there is none. */
const json_node *a2a_meta_get(const json_doc *d, const json_node *of, const char *key);
/* What is known about a message or an artifact beside its parts. */
typedef struct a2a_about {
    const char *metadata; /* as a2a_metadata_keep() gives them */
    bool has_usage;
    ramet_usage usage;
} a2a_about;
void a2a_about_read(arena *a, const json_doc *d, const json_node *of, a2a_about *out);
/* A message of an agent in the form of 1.0. `id` NULL: it is that of its entry. NULL: it is too
 * large. */
const char *a2a_body_make(arena *a, const char *id, const char *parts, const char *metadata);

/* Text parts of a message that stand together. */
typedef struct a2a_texts {
    buf text;       /* all of it */
    buf parts;      /* the parts, in the form of 1.0: an array that is not closed */
    bool is_marked; /* a part has metadata or a media type of its own */
} a2a_texts;
void a2a_texts_begin(a2a_texts *t);
void a2a_texts_add(a2a_texts *t, arena *a, const json_doc *d, const json_node *part,
                   const char *text);
void a2a_texts_clear(a2a_texts *t);
void a2a_texts_release(a2a_texts *t);

/* ------------------------------------------------------------------ what comes back */

typedef enum {
    A2A_OPEN,   /* more will follow */
    A2A_DONE,   /* the answer is complete */
    A2A_ASKS,   /* the agent waits for an answer to `question` */
    A2A_FAILED, /* see `reason` */
    A2A_STOPPED /* the turn was cancelled */
} a2a_state;

typedef struct a2a_answer {
    arena *arena;   /* for the turn */
    arena *scratch; /* for one event */
    const agent_sink *sink;
    bool keeps;      /* the agent records tool calls itself: do not report them */
    bool is_bare;    /* responses have no envelope of JSON-RPC */
    buf line, event; /* current line and event of the stream */
    buf whole;       /* a response that is not a stream */
    size_t bytes;
    buf said;                   /* text so far */
    size_t from;                /* offset in said of the message being streamed */
    bool after;                 /* the last text was a complete message: begin a new paragraph */
    bool apart;                 /* another entry was made since: no new paragraph needed */
    size_t recorded;            /* bytes of said that are in entries already */
    const char *artifact;       /* the last one that produced text */
    buf chunks;                 /* text of it, while it comes in chunks */
    const char *chunk_metadata; /* its metadata, in the form that is kept; NULL: none yet */
    VEC(const char *) seen;     /* ids of messages already reported */
    VEC(const char *) calls;    /* ids of tool calls already reported */
    const char *task, *context; /* as named by the agent; NULL: not yet */
    a2a_state state;
    const char *question;          /* the agent's question */
    const char *question_metadata; /* of its message; NULL: none */
    const char *request; /* JSON array: the confirmations of ADK that ask it; NULL: none */
    size_t questions;    /* those of the tool ask_user among them; 0: a yes-or-no question */
    char reason[A2A_REASON];
    int64_t code; /* JSON-RPC error code; 0: none */
} a2a_answer;

void a2a_answer_init(a2a_answer *an, arena *a, const agent_sink *s);
void a2a_answer_release(a2a_answer *an);
/* Prepares for a new request: discards the state of the last one. */
void a2a_answer_next(a2a_answer *an);
/* Processes bytes of a response of that type; false: stop reading. */
bool a2a_answer_add(a2a_answer *an, const char *type, const char *p, size_t n);
/* A response other than 2xx; false: it is no error in the form of A2A. */
bool a2a_answer_refuse(a2a_answer *an, long status, const char *body, size_t n);
/* Called when no more bytes will come. */
void a2a_answer_end(a2a_answer *an);

#endif
