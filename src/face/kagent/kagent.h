/* SPDX-License-Identifier: Apache-2.0
 *
 * kagent.h: shared by the files of the kagent face; README.md lists them.
 *
 * Answers have an envelope: {"error": false, "data": …, "message": …}; an empty list leaves `data`
 * out. Errors are {"error": "text"}.
 */
#ifndef FACE_KAGENT_KAGENT_H
#define FACE_KAGENT_KAGENT_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

extern const identity_rule kagent_identity;

/* ---- clients and agents */

/* The library call for the client: the user's; for an agent that acts for no user, one with the
 * rights of the program, whose sessions kagent_session() checks. NULL: the answer is filled in. */
ramet_call *kagent_call(request *q);
/* Loads a session that the client may use. False: the answer is filled in, 404 with this text. */
bool kagent_session(request *q, const char *id, const char *missing, ramet_session **out);
/* The name under which sessions store the agent of a ref: the name of an agent of this server, or
 * its id. NULL: this server has no such agent and accepts no other. */
const char *kagent_agent_name(request *q, const char *ref);

/* ---- answers */

/* {"error": false, "data": … the handler writes one value next. */
void kagent_data(request *q);
/* , "message": …} */
void kagent_end(request *q, const char *message);
/* The same without data. */
void kagent_done(request *q, const char *message);
/* Answers with the error of the call: 404 with `missing` if something does not exist, otherwise
 * `what` and the reason. */
void kagent_error(request *q, ramet_status st, const char *what, const char *missing);
void kagent_refuse(request *q, int status, const char *message);
void kagent_fail(request *q, const char *code, const char *field, const char *message);
/* RFC 3339 with microseconds, without trailing zeros. */
void kagent_time(request *q, const char *key, int64_t us);
void kagent_session_write(request *q, const ramet_session *s);
/* The same without the braces. */
void kagent_session_members(request *q, const ramet_session *s);
/* Every session that the client owns (or, for an agent without a user, that names it), newest
 * first.
 */
bool kagent_sessions(request *q, ramet_session **out, size_t *n);
/* Parses the header A2A-Version. False: the answer is filled in. */
bool kagent_version(request *q, a2a_version *out);

/* ---- handlers */
typedef void kagent_handler(request *q);
kagent_handler kagent_health, kagent_version_get, kagent_me, kagent_agents_list, kagent_agent_get,
    kagent_toolservers, kagent_namespaces, kagent_feedback_post, kagent_feedback_list;
kagent_handler kagent_sessions_list, kagent_session_post, kagent_session_put, kagent_session_delete,
    kagent_sessions_of_agent, kagent_share_post, kagent_shares_list, kagent_share_delete;
kagent_handler kagent_session_get, kagent_event_post;
kagent_handler kagent_fork, kagent_rewind, kagent_undo, kagent_redo;
kagent_handler kagent_tasks_list, kagent_task_get, kagent_task_post, kagent_task_delete,
    kagent_history_put;

#endif
