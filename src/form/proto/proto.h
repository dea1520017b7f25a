/* SPDX-License-Identifier: Apache-2.0
 *
 * proto.h: converts protobuf messages to JSON and back, driven by their descriptors.
 *
 *   field names   owner_user_id is "ownerUserId"
 *   bytes         PROTO_SHORT: UUIDs: 16 bytes, as text 8-4-4-4-12 hex digits
 *                 PROTO_CANONICAL: base64
 *   enums         PROTO_SHORT: the value's name without the enum's name, in lower case with dashes
 *                 (CONVERSATION_ANCESTRY_FILTER_ROOTS is "roots")
 *                 PROTO_CANONICAL: the value's name; in both, value 0 is left out
 *   maps          an object
 *   Value, Struct the JSON they hold (google.protobuf)
 *   Timestamp     a string
 *
 * Input is checked in one pass before protobuf-c unpacks it: protobuf-c has no limit on nesting,
 * and accepts strings that are not UTF-8.
 */
#ifndef FORM_PROTO_PROTO_H
#define FORM_PROTO_PROTO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

#include <protobuf-c/protobuf-c.h>

#define PROTO_MAX_DEPTH 400      /* nested messages; one level of JSON takes up to three */
#define PROTO_MAX_FIELDS 1000000 /* in one message, nested ones included */

/* How bytes and enums appear in JSON. */
typedef enum {
    PROTO_SHORT,    /* as memory-service has them */
    PROTO_CANONICAL /* as protobuf itself defines them */
} proto_form;

/* Returns a message in the arena, or NULL with *why set to what is wrong with the bytes. */
ProtobufCMessage *proto_unpack(arena *a, const ProtobufCMessageDescriptor *d, const void *bytes,
                               size_t n, const char **why);
/* An empty message in the arena. */
ProtobufCMessage *proto_new(arena *a, const ProtobufCMessageDescriptor *d);

/* ---- fields */

/* Whether a field is set or, where presence is not tracked, differs from its default. */
bool proto_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
const void *proto_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* The JSON name of a field. */
const char *proto_json_name(arena *a, const ProtobufCFieldDescriptor *f);
/* The JSON name of an enum value; NULL if there is no such value or it is 0. */
const char *proto_word(arena *a, const ProtobufCEnumDescriptor *d, int value);

/* ---- a message as JSON */

/* Writes the members into an open object. On failure returns false; *why names the field. */
bool proto_members(arena *a, proto_form form, json_writer *w, const ProtobufCMessage *m,
                   const char **why);
/* Writes the value of a field that is set. */
bool proto_value(arena *a, proto_form form, json_writer *w, const ProtobufCMessage *m,
                 const ProtobufCFieldDescriptor *f, const char **why);

/* ---- JSON as a message */

/* Fills the fields of a message from the members of an object. Members the message does not have
 * are ignored. PROTO_SHORT: strings ending in _at are cut to seconds; bytes accept a UUID, or any
 * other JSON verbatim. */
void proto_fill(arena *a, proto_form form, ProtobufCMessage *m, const json_doc *d,
                const json_node *object);
/* Sets one field; does nothing if `v` is NULL or null. */
void proto_set(arena *a, proto_form form, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
               const json_doc *d, const json_node *v);
/* Whether a field is a map: in C, a list of messages with a key and a value. */
bool proto_is_map(const ProtobufCFieldDescriptor *f);

/* ---- JSON as clients may write it (form/proto/proto_names.c) */

/* The JSON form of a message has two names for a field (contextId, context_id), and numbers for
 * values of enums. Rewrites an object to the names that this server reads: *out is the result, NULL
 * if the object has them already. *unknown: the first member that the message does not have; NULL:
 * none. False: *why says what is wrong. */
bool proto_names(arena *a, const ProtobufCMessageDescriptor *m, const json_doc *d,
                 const json_node *object, const char **out, const char **unknown, const char **why);

#endif
