/* SPDX-License-Identifier: Apache-2.0
 *
 * message.h: an ACP message (a line of JSON-RPC), parsed, and the same line with a few tokens
 * changed: all other bytes stay as received. For the agent (agent/acp) and the proxy (acp/).
 */
#ifndef AGENT_ACP_MESSAGE_H
#define AGENT_ACP_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/jsonrpc.h"

enum { JSONRPC_CANCELLED = -32800, JSONRPC_AUTH = -32000, JSONRPC_NOT_FOUND = -32002 };

#define ACP_LINE_MAX ((size_t)64 << 20) /* per line */

/* Valid until its arena is reset or its line is freed. Lone surrogates, which JavaScript can send
 * and UTF-8 cannot represent, are read as U+FFFD; the line itself is unchanged. */
typedef struct message {
    arena *arena;
    const char *line;
    size_t n;
    json_doc doc;
    const json_node *id, *params, *result, *error; /* NULL: absent */
    const char *id_raw;                            /* the token; NULL if there is no id */
    const char *method;                            /* NULL: it is a response */
    const char *session;                           /* params.sessionId; NULL: none */
} message;

typedef enum { MESSAGE_FINE, MESSAGE_NOT_JSON, MESSAGE_BATCH, MESSAGE_NOT_JSONRPC } message_state;
message_state message_read(message *m, arena *a, const char *line, size_t n);

/* Shortcuts. `path` is keys separated by dots; NULL if one of them is missing. */
const json_node *message_at(const message *m, const json_node *from, const char *path);
const char *message_text(const message *m, const json_node *from, const char *path);
const char *message_raw(const message *m, const json_node *from, const char *path);
/* A JSON text with U+0000 in it without. */
const char *json_without_nul(arena *a, const char *json);

/* Changes an object: members are replaced, appended, or removed (value NULL); everything else stays
 * as it was. `json` NULL is an empty object. */
typedef struct member {
    const char *key, *value;
} member;
const char *json_with(arena *a, const char *json, const member *changes, size_t n);

/* Changes to a line, in any order; they must not overlap. */
typedef struct text_change {
    size_t start, end; /* the bytes to replace */
    const char *text;  /* their replacement */
} text_change;
typedef struct splices {
    text_change items[12];
    size_t n;
} splices;
void splice_node(splices *s, const json_node *v, const char *text);
/* Sets a member of an object: replaces it, or adds it at the front. */
void splice_member(splices *s, const message *m, const json_node *object, const char *key,
                   const char *value);
/* Inserts items (JSON, separated by commas) at the start of an array. */
void splice_first(splices *s, const message *m, const json_node *array, const char *items);
/* The bytes [start, end) of the line with the changes applied, in the message's arena. */
const char *splice_text(const message *m, const splices *s, size_t start, size_t end, size_t *n);

#endif
