/* SPDX-License-Identifier: Apache-2.0
 *
 * agentpod.h: shared by the files of the AgentPod face: routes.c (the table), identity.c (clients),
 * agentpod.c (errors, forms), fork.c, branch.c, live.c.
 *
 * Errors are {"error": "text", "details"?: "text"}. Every route of a session first checks that the
 * session is in the sandbox of its path and that the client may see both.
 */
#ifndef FACE_AGENTPOD_AGENTPOD_H
#define FACE_AGENTPOD_AGENTPOD_H

#include "face/kit/face.h"
#include "ramet/agentpod.h"
#include "form/native.h"

extern const identity_rule agentpod_identity;

/* The library call for the client, after checking the sandbox of the path and that the session is
 * in it. NULL: the answer is filled in. */
ramet_call *agentpod_call(request *q);
/* The session of the path. */
const char *agentpod_session(request *q);

void agentpod_fail(request *q, const char *code, const char *field, const char *message);

/* ---- JSON forms */
void agentpod_fork_write(arena *a, json_writer *w, const ramet_session *s);
/* All versions in a session. */
typedef struct agentpod_branches {
    const char *session;
    ramet_pick *items;
    size_t n;
    int now;
} agentpod_branches;
ramet_status agentpod_branches_read(ramet_call *c, const char *session, agentpod_branches *out);
/* The members `branches`, `currentBranch`, `currentBranchId`. */
void agentpod_branches_write(arena *a, json_writer *w, const agentpod_branches *b);
/* The entry on the current path for a message id: that message, or its current version. */
const char *agentpod_entry(const agentpod_branches *b, const char *message);

/* ---- handlers */
typedef void agentpod_handler(request *q);
agentpod_handler agentpod_forks_list, agentpod_statistics, agentpod_fork, agentpod_ancestry,
    agentpod_children, agentpod_fork_info, agentpod_tag_post, agentpod_tag_delete,
    agentpod_tags_put, agentpod_tree_delete, agentpod_merge;
agentpod_handler agentpod_branches_list, agentpod_branch_switch, agentpod_messages_sync,
    agentpod_compare;
agentpod_handler agentpod_events;

#endif
