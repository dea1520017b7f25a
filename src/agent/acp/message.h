/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h: one message of ACP (a line of JSON-RPC), taken apart, and the same line with a few
 * tokens changed: all other bytes stay as they came. For the agent (agent/acp) and the proxy
 * (acp/).
 */
#ifndef AGENT_ACP_MESSAGE_H
#define AGENT_ACP_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/jsonrpc.h"

enum { JSONRPC_CANCELLED = -32800, JSONRPC_AUTH = -32000, JSONRPC_NOT_FOUND = -32002 };

#define ACP_LINE_MAX ((size_t)64 << 20) /* of one line */

/* Lives until its arena is reset and its line goes. Halves of surrogate pairs, which JavaScript can
 * send and no text can hold, are read as U+FFFD; the line itself stays as it is. */
typedef struct message {
    arena *arena;
    const char *line;
    size_t n;
    json_doc doc;
    const json_node *id, *params, *result, *error; /* NULL: not there */
    const char *id_raw;                            /* the token, NULL when there is no id */
    const char *method;                            /* NULL: it is a response */
    const char *session;                           /* params.sessionId; NULL: none */
} message;

typedef enum { MESSAGE_FINE, MESSAGE_NOT_JSON, MESSAGE_BATCH, MESSAGE_NOT_JSONRPC } message_state;
message_state message_read(message *m, arena *a, const char *line, size_t n);

/* Shortcuts. `path` is keys parted by dots; NULL when something on the way is missing. */
const json_node *message_at(const message *m, const json_node *from, const char *path);
const char *message_text(const message *m, const json_node *from, const char *path);
const char *message_raw(const message *m, const json_node *from, const char *path);
/* A text as a JSON string, and a JSON text with U+0000 in it without. */
const char *json_quote(arena *a, const char *text);
const char *json_without_nul(arena *a, const char *json);

/* An object with some members changed, added behind the others, or (value NULL) taken out; all else
 * stays as it was. `json` NULL is an empty object. */
typedef struct member {
    const char *key, *value;
} member;
const char *json_with(arena *a, const char *json, const member *changes, size_t n);

/* Changes to a line, in any order; they must not overlap. */
typedef struct text_change {
    size_t start, end; /* the bytes that go */
    const char *text;  /* what comes in their place */
} text_change;
typedef struct splices {
    text_change items[12];
    size_t n;
} splices;
void splice_node(splices *s, const json_node *v, const char *text);
/* A member of an object: replaced when it is there, else put first. */
void splice_member(splices *s, const message *m, const json_node *object, const char *key,
                   const char *value);
/* Items (JSON, parted by commas) at the start of an array. */
void splice_first(splices *s, const message *m, const json_node *array, const char *items);
/* The bytes [start, end) of the line with the changes in them, in the message's arena. */
const char *splice_text(const message *m, const splices *s, size_t start, size_t end, size_t *n);

#endif
