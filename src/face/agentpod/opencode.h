/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode.h: sessions in the shapes of OpenCode's API, for the routes that AgentPod keeps beside
 * its own: opencode.c (handlers), opencode_shape.c (ids and shapes), opencode_live.c (events).
 *
 * Ids have OpenCode's form and are made of ours: `ses_` and the id of the session, `msg_` and the
 * place and id of the first entry of the message, in base64url. So messages sort as they follow
 * each other, and the session and the entry are found from the id alone.
 */
#ifndef FACE_AGENTPOD_OPENCODE_H
#define FACE_AGENTPOD_OPENCODE_H

#include "face/agentpod/agentpod.h"

/* A message: an entry of the user, or all entries of an answer. */
typedef struct pod_message {
    const ramet_entry *entries;
    size_t n;
    const ramet_entry *prompt; /* of an answer: what it answers; NULL: unknown */
} pod_message;

const char *pod_session_id(arena *a, const char *session);
const char *pod_message_id(arena *a, const ramet_entry *e);
/* The session, or the entry, of an id; the id itself if it does not have the form. */
const char *pod_session_of(arena *a, const char *id);
const char *pod_entry_of(arena *a, const char *id);

/* The messages of a part of a history; the list is in the arena. */
pod_message *pod_messages(arena *a, const ramet_entry *entries, size_t n, size_t *count);

/* `hidden`: the first entry that a rewind has hidden; NULL: none. */
void pod_session_write(arena *a, json_writer *w, const ramet_session *s, const ramet_entry *hidden);
/* {info, parts}; and its members. */
void pod_message_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m);
void pod_info_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m);
/* Calls `each` once for every part, written to w as an object. */
void pod_parts_write(arena *a, json_writer *w, const ramet_session *s, const pod_message *m,
                     void (*before)(void *arg), void (*after)(void *arg), void *arg);

agentpod_handler pod_sessions_list, pod_session_create, pod_session_get, pod_session_patch,
    pod_session_delete, pod_children, pod_status, pod_messages_list, pod_message_get, pod_prompt,
    pod_prompt_async, pod_fork, pod_revert, pod_unrevert, pod_abort, pod_events;

#endif
