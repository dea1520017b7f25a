/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h: shared by the files of the memory-service face; README.md lists them.
 *
 * A conversation is a session, its group a tree. An entry of this face has the format "memory"; its
 * body is {"contentType", "agentId"?, "epoch"?, "seq"?, "content"}, with the content byte for byte.
 */
#ifndef FACE_MEMORY_MEMORY_H
#define FACE_MEMORY_MEMORY_H

#include "face/kit/face.h"
#include "ramet/memory.h"

extern const face face_memory;

/* ---- errors */

void memory_fail(request *q, const char *code, const char *field, const char *message);
/* A member of an error's `details`: a text, or any JSON. */
typedef struct memory_details {
    const char *key, *text, *json;
} memory_details;
/* {"code", "error", "requestId", "details"?}; over gRPC q->failure. `code` NULL: the default of the
 * status; `details` NULL: none. */
void memory_refuse(request *q, int status, const char *code, const char *error,
                   const memory_details *details);
/* 400 validation_error with details.message. */
void memory_invalid(request *q, const char *message);
/* Answers with the last error of the call, about a conversation: 404, 403, 400 validation_error,
 * 409. `id` is the conversation in the path. */
void memory_error(request *q, const char *id);
/* Whether to reveal that an attachment exists which the client may not see: memory-service answers
 * 403 for its own, which have random ids. Those of other faces get 404. */
bool memory_file_is_disclosed(const ramet_error *e, const char *id);
/* For memory_refuse(): {"key": "value"}. */
const memory_details *memory_detail(request *q, const char *key, const char *value);

/* ---- ids and shapes */

/* The id of an entry: its own if it is a UUID, otherwise one derived from its position. */
const char *memory_entry_id(arena *a, const ramet_entry *e);
/* The entry with that id on the path of a session; NULL: there is none (or the call has failed). */
const ramet_entry *memory_entry_find(ramet_call *c, arena *a, const char *session, const char *id);
/* The same on the current path of any session of its tree. */
const ramet_entry *memory_entry_across(ramet_call *c, arena *a, const char *session,
                                       const char *id);
/* The same in the whole store, and the session that appended it; for calls with the rights of the
 * program. */
const ramet_entry *memory_entry_anywhere(ramet_call *c, arena *a, const char *id,
                                         const char **session);
const char *memory_lower(arena *a, const char *uuid);
/* Parses the body of an entry; false: it is an entry of another face. */
typedef struct memory_body {
    const char *content_type, *agent, *content;
    int64_t epoch, seq; /* -1: none */
} memory_body;
/* The items of an entry as JSON: those that were sent, or the role and text of an entry of another
 * face, or of one that an overlay replaces. */
const char *memory_content(arena *a, const ramet_entry *e, const memory_body *b);
bool memory_body_read(arena *a, const ramet_entry *e, memory_body *out);
/* Entries of a session as JSON objects, into the open array. False: the answer is filled in. */
bool memory_entries_write(request *q, const char *session, const ramet_entry *list, size_t n,
                          bool array);
/* A conversation. detail: with hasResponseInProgress; admin: with clientId. */
bool memory_talk_write(request *q, const ramet_session *s, bool detail, bool admin);
/* The members of a conversation, into the open object. False: the call has failed. */
bool memory_talk_fields(ramet_call *c, arena *a, json_writer *w, const ramet_session *s,
                        bool detail, bool admin);
/* The session that the path names. False: the answer is filled in. */
bool memory_session(request *q, ramet_call *c, const char *id, ramet_session **out);
/* `limit` of the query, or a default. */
int memory_limit(request *q, int otherwise);
/* Ends {"data": [...: writes the cursor (NULL: null). The second also ends the answer. */
void memory_page_close(request *q, void *after);
void memory_page_end(request *q, const char *after);

/* The access level of the client. */
bool memory_level(request *q, const char *session, ramet_origin *out);

/* ---- reading channels */

/* Which entries a client sees; `channel` NULL: all that it may see. */
typedef struct memory_sieve {
    const char *channel, *client;
    bool everybody;   /* channels of all clients */
    int64_t epoch;    /* of context entries; -1: any */
    int64_t from_seq; /* -1: any */
    bool has_view;    /* the caller chose one: */
    ramet_view view;
    arena *scratch;
    int64_t highest; /* highest epoch seen so far */
} memory_sieve;
bool memory_sieve_takes(void *arg, const ramet_entry *e);
/* The channel `context` is what an agent gives to its model: the context view, unless the caller
 * asks for another one. */
ramet_view memory_view(const memory_sieve *s);
/* The highest epoch among the context entries that it takes, below `end` (0: all); -1: there is
 * none. False: the call failed. */
bool memory_epoch(ramet_call *c, const char *session, const memory_sieve *s, int64_t end,
                  int64_t *out);

/* ---- appending */

typedef struct memory_new {
    const char *content_type, *channel, *agent, *content, *indexed, *fork_of, *fork_at;
    const char *started_by, *started_at, *title;
    bool explicit_channel;
    int64_t epoch, seq;
    ramet_entry_in in;
} memory_new;
typedef VEC(ramet_again) memory_again;
/* Checks a new entry, claims its attachments and fills `in`. False: the answer is filled in. */
bool memory_prepare(request *q, memory_new *n, const char *session, memory_again *again);
/* Reads a new entry from a JSON object. False: the answer is filled in. */
bool memory_new_read(request *q, const json_doc *d, const json_node *v, memory_new *n);
/* Appends; on failure calls memory_error(). */
bool memory_append(request *q, const char *session, memory_new *list, size_t n,
                   const char *expected, ramet_append_out *out);
/* The parts of the normal form of a content array, and its first text. */
bool memory_json_same(const json_doc *a, const json_node *x, const json_doc *b, const json_node *y,
                      arena *ar);

/* ---- handlers */
typedef void memory_handler(request *q);
memory_handler memory_talks_list, memory_talk_post, memory_talk_get, memory_talk_patch,
    memory_children_list, memory_admin_talk;
memory_handler memory_entries_list, memory_entry_post, memory_sync_post, memory_chat_post,
    memory_cancel;
memory_handler memory_forks_get, memory_admin_forks;
memory_handler memory_members_list, memory_member_post, memory_member_patch, memory_member_delete;
memory_handler memory_transfers_list, memory_transfer_post, memory_transfer_get,
    memory_transfer_delete, memory_transfer_accept;
void memory_file_error(request *q, const char *id);
memory_handler memory_file_post, memory_file_get, memory_file_delete, memory_file_url,
    memory_file_signed;
bool memory_file_sink(request *q, const void *bytes, size_t n);
/* Begins an upload that is not a form: everything passed to the sink is the file. False: the answer
 * is filled in.
 */
bool memory_file_begin(request *q, const char *name, const char *type);
memory_handler memory_file_about;
/* The first entry that refers to an attachment; NULL: there is none, or the client may not see
 * it. */
const char *memory_file_entry(request *q, const char *id);
/* The error of an attachment that is still being fetched. */
#define MEMORY_NOT_READY "attachment is not ready"
/* Whether the route is one for administrators and auditors. */
bool memory_is_admin(const request *q);
/* Makes q->c a call with the rights of the program, which sees everything. Only for routes not open
 * to every user. */
void memory_program_call(request *q);
extern const identity_rule memory_identity;
memory_handler memory_admin_talks, memory_admin_talk_patch, memory_admin_entries,
    memory_admin_entry, memory_admin_members, memory_admin_children, memory_admin_events,
    memory_admin_search, memory_admin_files, memory_admin_file, memory_admin_file_get,
    memory_admin_file_url, memory_admin_file_delete;
memory_handler memory_search, memory_index, memory_unindexed, memory_events, memory_capabilities,
    memory_health;

#endif
