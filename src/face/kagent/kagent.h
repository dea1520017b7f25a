/* SPDX-License-Identifier: Apache-2.0
 *
 * kagent.h: what the files of the kagent face share: kagent_api.c (the table), kagent.c (who asks,
 * the envelope), face/kagent/session.c, face/kagent/event.c, face/kagent/move.c,
 * face/kagent/task.c, face/kagent/about.c.
 *
 * Answers are an envelope: {"error": false, "data": …, "message": …}; an empty list leaves `data`
 * out. Errors are {"error": "text"}.
 */
#ifndef FACE_KAGENT_KAGENT_H
#define FACE_KAGENT_KAGENT_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

extern const form_schema kagent_schemas[];
extern const identity_rule kagent_identity;

/* ---- who asks */

/* The call of who asks: of the user; of the program itself for an agent in nobody's name, whose
 * sessions are checked by kagent_session(). NULL: the answer is filled. */
ramet_call *kagent_call(request *q);
/* Loads a session that the caller may use. False: the answer is filled, 404 with these words. */
bool kagent_session(request *q, const char *id, const char *missing, ramet_session **out);
/* The name that a session keeps of the agent with a ref: that of one that answers here, or its id.
 * NULL: there is none, and others are not taken. */
const char *kagent_agent_name(request *q, const char *ref);

/* ---- answers */

/* {"error": false, "data": the caller goes on with one value. */
void kagent_data(request *q);
/* , "message": …} */
void kagent_end(request *q, const char *message);
/* The same without data. */
void kagent_done(request *q, const char *message);
/* The error of the call as an answer: 404 with `missing` when something is not there, else `what`
 * and the reason. */
void kagent_error(request *q, ramet_status st, const char *what, const char *missing);
void kagent_refuse(request *q, int status, const char *message);
void kagent_fail(request *q, const char *code, const char *field, const char *message);
/* RFC 3339 with microseconds, zeros at the end cut. */
void kagent_time(request *q, const char *key, int64_t us);
void kagent_session_write(request *q, const ramet_session *s);
/* The same without the braces. */
void kagent_session_members(request *q, const ramet_session *s);
/* Every session that the caller owns (or, in nobody's name, that is the agent's): newest first. */
bool kagent_sessions(request *q, ramet_session **out, size_t *n);
/* Header A2A-Version. False: the answer is filled. */
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
