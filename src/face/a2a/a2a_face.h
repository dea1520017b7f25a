/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_face.h: shared by the files of the A2A face. Only they include it.
 */
/* clang-format off */
/*
 * Files
 *   routes.c      routes; which agent is addressed
 *   card.c        agent cards
 *   jsonrpc.c     a call of a method, and its JSON-RPC envelope: versions, errors, results
 *   rest.c        the same methods over HTTP+JSON
 *   grpc.c        the same methods over gRPC
 *   binding.c     what the three have in common: errors, names of parameters
 *   send.c        messages: new turns, answers to questions, rewinds
 *   task.c        tasks: get, list, cancel, subscribe
 *   push.c        push notifications: where they are sent to
 *   push_send.c   which of them are due, and how they ended
 *   push_post.c   the requests that deliver them
 *   subscriber.c  the events of a turn as an A2A client receives them
 */
/* clang-format on */
#ifndef FACE_A2A_A2A_FACE_H
#define FACE_A2A_A2A_FACE_H

#include "base/jsonrpc.h"
#include "base/util.h"
#include "face/kit/a2a_question.h"
#include "form/a2a/a2a.h"
#include "face/kit/face.h"

#define A2A_JSON "application/a2a+json"

extern const identity_rule a2a_identity, a2a_kagent_identity;

#define A2A_REWIND_URI "urn:ramet:ext:session-rewind:v1"
#define A2A_REWIND_KEY "kagent_rewind_before_invocation_id"
#define A2A_INITIATED_KEY "initiated_by"

/* Error codes of A2A. */
enum {
    JSONRPC_TASK_NOT_FOUND = -32001,
    JSONRPC_NOT_CANCELABLE = -32002,
    JSONRPC_NO_PUSH = -32003,
    JSONRPC_UNSUPPORTED = -32004,
    JSONRPC_CONTENT_TYPE = -32005,
    JSONRPC_NO_EXTENDED_CARD = -32007,
    JSONRPC_EXTENSION = -32008,
    JSONRPC_VERSION = -32009
};

/* How a method is called. Version 0.3 exists over JSON-RPC alone. */
typedef enum { A2A_OVER_JSONRPC, A2A_OVER_REST, A2A_OVER_GRPC } a2a_binding;

typedef struct jsonrpc_call jsonrpc_call;

typedef struct jsonrpc_method {
    const char *name[2]; /* in 0.3 and in 1.0; NULL: does not exist */
    bool stream;         /* answers with an event stream */
    void (*run)(jsonrpc_call *r);
} jsonrpc_method;

/* One call of a method, over any binding. Over HTTP+JSON and gRPC it has no id, and its answers no
 * envelope. */
struct jsonrpc_call {
    request *request;
    a2a_binding binding;
    const char *agent; /* its configured name */
    bool kagent;       /* called at kagent's path */
    a2a_version version;
    const char *id; /* of the call, as raw JSON; NULL: not over JSON-RPC */
    const jsonrpc_method *method;
    json_doc doc;
    const json_node *params; /* NULL: none */
    bool rewinds;            /* the rewind extension is active */
};

/* ---- face/a2a/card.c */

/* Answers with the card of an agent. */
void a2a_card_answer(request *q, const char *agent, const char *about, bool kagent);
/* The method that returns the extended card. */
void jsonrpc_card(jsonrpc_call *r);
/* The URL of the agent. */
const char *a2a_agent_url(request *q, const char *agent, bool kagent);

/* ---- face/a2a/binding.c */

/* An error in the terms of each binding. */
typedef struct a2a_error {
    int code;           /* of JSON-RPC */
    const char *reason; /* of google.rpc.ErrorInfo; NULL: it has none */
    int http;
    const char *status; /* its name in an answer over HTTP+JSON */
    int grpc;
} a2a_error;
const a2a_error *a2a_error_of(int code); /* never NULL */
const a2a_error *a2a_error_by_reason(const char *reason);
const a2a_error *a2a_error_by_http(int status);
/* {"@type", "reason", "domain", "metadata"} */
void a2a_error_info_write(json_writer *w, const char *reason, const char *request_id);
/* Fails a call that is not one of JSON-RPC. */
void a2a_binding_fail(jsonrpc_call *r, int code, const char *message);
/* Writes an error of the server in the form of HTTP+JSON, or keeps it for gRPC. */
void a2a_rest_fail(request *q, const char *code, const char *field, const char *message);
/* The message of version 1.0 that holds the parameters of a method. */
const struct ProtobufCMessageDescriptor *a2a_params_shape(const char *method);
/* Brings the parameters of version 1.0 into the spelling that the methods read. False: the answer
 * is filled in. */
bool a2a_params_names(jsonrpc_call *r);

/* ---- face/a2a/routes.c */

typedef struct a2a_found {
    const char *name, *about;
} a2a_found;
/* Finds an agent by name; at kagent's path by the id made of namespace and name. */
bool a2a_agent_find(request *q, const char *id, bool kagent, a2a_found *out);
/* The agent of the card at the root. */
bool a2a_root_find(request *q, a2a_found *out);

/* ---- face/a2a/grpc.c */

extern const struct grpc_service a2a_grpc;
extern const face face_a2a_grpc;

/* ---- face/a2a/jsonrpc.c */

void jsonrpc_run(request *q, const char *agent, bool kagent);
/* Runs a method of version 1.0, or 0.3, whose parameters are r->params. */
void jsonrpc_call_run(jsonrpc_call *r, const char *method);
/* Reads and checks the version; false: the answer is filled in. */
bool jsonrpc_version_read(jsonrpc_call *r);
void jsonrpc_fail(jsonrpc_call *r, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Fails with the error of the library call that has just failed. */
void jsonrpc_refuse(jsonrpc_call *r);
/* Fails with an error of turns_run() and its relatives. */
void jsonrpc_refuse_turn(jsonrpc_call *r, const turn_error *e);
/* The answer of a method that is not a stream: the result is written between these two calls. */
json_writer *jsonrpc_result(jsonrpc_call *r);
void jsonrpc_result_end(jsonrpc_call *r);
/* How to write messages for this client. */
a2a_view jsonrpc_view(const jsonrpc_call *r, const char *session, const char *task);
/* Reads an optional integer; false: it is invalid, and the answer is filled in. */
bool jsonrpc_number(jsonrpc_call *r, const json_node *of, const char *name, int64_t min,
                    int64_t max, int64_t *out);
/* Reads a required text that is not empty. NULL: the answer is filled in. */
const char *jsonrpc_text(jsonrpc_call *r, const json_node *of, const char *name);
/* Read an optional text (NULL if missing or empty) or boolean; false: it has another type, and the
 * answer is filled in. */
bool jsonrpc_word(jsonrpc_call *r, const json_node *of, const char *name, const char **out);
bool jsonrpc_flag(jsonrpc_call *r, const json_node *of, const char *name, bool *out);
/* The number of messages of a history to show, by the rules of each version: -1 all. */
bool jsonrpc_history(jsonrpc_call *r, const json_node *of, int64_t *out);
/* Whether a session belongs to the agent that was called. */
bool jsonrpc_agent_fits(const jsonrpc_call *r, const ramet_session *s);
/* A task of that agent in its current state. NULL: the answer is filled in. */
a2a_task *jsonrpc_task(jsonrpc_call *r, const char *id, ramet_session **session);

/* ---- face/a2a/send.c, face/a2a/task.c */

void jsonrpc_send(jsonrpc_call *r);
void jsonrpc_get(jsonrpc_call *r);
void jsonrpc_list(jsonrpc_call *r);
void jsonrpc_cancel(jsonrpc_call *r);
void jsonrpc_subscribe(jsonrpc_call *r);
/* Answers with a task. If it has no artifact, one is made from its answers; with `sent`, the answer
 * has the form of the answer to a message. */
void jsonrpc_task_answer(jsonrpc_call *r, const a2a_task *t, int64_t history, bool sent);

/* ---- face/a2a/push.c */

struct push_target;
/* Reads a destination. False: it is invalid, and the answer is filled in. */
bool push_target_read(jsonrpc_call *r, const json_node *v, struct push_target *out);
/* Stores it for a task; it gets an id if it has none. False: the answer is filled in. */
bool push_target_put(jsonrpc_call *r, const char *session, const char *task, struct push_target *t);
/* The same without an answer. */
ramet_status push_target_store(const jsonrpc_call *r, const char *session, const char *task,
                               struct push_target *t);
void jsonrpc_push_set(jsonrpc_call *r);
void jsonrpc_push_get(jsonrpc_call *r);
void jsonrpc_push_list(jsonrpc_call *r);
void jsonrpc_push_delete(jsonrpc_call *r);

/* ---- face/a2a/subscriber.c */

typedef struct follow_in {
    int64_t history;
    bool stream, immediate; /* immediate: return after the first answer */
    bool to_the_end;        /* a question does not end the stream */
    const char *answered;   /* id of a question not to be asked again */
} follow_in;
/* A listener that answers the call with the events of the turn. */
turn_listener jsonrpc_listener(const jsonrpc_call *r, const char *session, const follow_in *in);
/* One complete event of a stream. */
typedef enum { JSONRPC_EVENT_TASK, JSONRPC_EVENT_STATUS, JSONRPC_EVENT_ARTIFACT } jsonrpc_event;
/* Begins the response of an event, up to its object; jsonrpc_event_end() closes it. `id` NULL:
 * without the envelope of JSON-RPC. */
void jsonrpc_event_begin(json_writer *w, a2a_version version, const char *id, jsonrpc_event kind);
/* … after the beginning of a result: only 1.0 has an object around it. */
void jsonrpc_event_open(json_writer *w, jsonrpc_event kind);
void jsonrpc_event_end(json_writer *w, a2a_version version, const char *id);
/* Writes a status event of a task. */
void jsonrpc_status_event(arena *a, json_writer *w, const a2a_view *view, const char *id,
                          const a2a_task *t, bool final);
/* A message of the agent with that text, as JSON of version 0.3. */
const char *jsonrpc_message_json(arena *a, const char *text);

#endif
