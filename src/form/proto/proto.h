/* SPDX-License-Identifier: Apache-2.0
 *
 * proto.h: messages of protobuf as JSON and back, by their descriptors.
 *
 * owner_user_id is "ownerUserId"; bytes are UUIDs (16 of them, 8-4-4-4-12 digits as text); a value
 * of an enumeration is its name without the name of the enumeration, in small letters and with
 * dashes (CONVERSATION_ANCESTRY_FILTER_ROOTS: "roots"), the one of number 0 is left out;
 * google.protobuf.Value and Struct are whatever they hold, Timestamp is a text.
 *
 * What comes from outside is walked once before protobuf-c takes it apart: that has no bound of its
 * own on how deep messages stand in each other, and takes any bytes for text.
 */
#ifndef FORM_PROTO_PROTO_H
#define FORM_PROTO_PROTO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"

#include <protobuf-c/protobuf-c.h>

#define PROTO_MAX_DEPTH 400      /* of messages; a level of JSON takes up to three */
#define PROTO_MAX_FIELDS 1000000 /* in one message, with all that it holds */

/* NULL: *why tells what is wrong with the bytes. The message lives in the arena. */
ProtobufCMessage *proto_unpack(arena *a, const ProtobufCMessageDescriptor *d, const void *bytes,
                               size_t n, const char **why);
/* A message with nothing in it, in the arena. */
ProtobufCMessage *proto_new(arena *a, const ProtobufCMessageDescriptor *d);

/* ---- fields */

/* Whether a field holds anything: it was set, or (where that cannot be told) is not its default. */
bool proto_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
const void *proto_at(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f);
/* Names as JSON has them. */
const char *proto_json_name(arena *a, const ProtobufCFieldDescriptor *f);
/* The word for a value of an enumeration; NULL: it has no such value, or it is number 0. */
const char *proto_word(arena *a, const ProtobufCEnumDescriptor *d, int value);

/* ---- a message as JSON */

/* Members of an open object. False: *why names the field. */
bool proto_members(arena *a, json_writer *w, const ProtobufCMessage *m, const char **why);
/* The value of one field that is set. */
bool proto_value(arena *a, json_writer *w, const ProtobufCMessage *m,
                 const ProtobufCFieldDescriptor *f, const char **why);

/* ---- JSON as a message */

/* Fills the fields of a message from the members of an object. What the message does not have is
 * left out; texts that end in _at are cut to seconds; bytes take a UUID, or any other JSON as it
 * stands. */
void proto_fill(arena *a, ProtobufCMessage *m, const json_doc *d, const json_node *object);
/* One field; `v` NULL or null: nothing. */
void proto_set(arena *a, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, const json_doc *d,
               const json_node *v);

#endif
