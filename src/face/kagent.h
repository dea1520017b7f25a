/* SPDX-License-Identifier: Apache-2.0
 *
 * kagent.h: what the files of the kagent face share: kagent_api.c (the table), kagent.c (who asks,
 * the envelope), kagent_session.c, kagent_event.c, kagent_move.c, kagent_task.c, kagent_about.c.
 *
 * Answers are an envelope: {"error": false, "data": …, "message": …}; an empty list leaves `data`
 * out. Errors are {"error": "text"}.
 */
#ifndef FACE_KAGENT_H
#define FACE_KAGENT_H

#include "face/a2a_model.h"
#include "face/face.h"

extern const face_schema kagent_schemas[];

/* ---- who asks */

/* The call of who asks: of the user; of the program itself for an agent in nobody's name, whose
 * sessions are checked by kagent_session(). NULL: the answer is filled. */
ramet_call *kagent_call(face_req *q);
/* Loads a session that the caller may use. False: the answer is filled, 404 with these words. */
bool kagent_session(face_req *q, const char *id, const char *missing, ramet_session **out);
/* Whether the session is of that agent (name, ref or id). */
bool kagent_is_agents(face_req *q, const ramet_session *s, const char *agent);
/* The name that a session keeps of the agent with a ref: that of one that answers here, or its id.
 * NULL: there is none, and others are not taken. */
const char *kagent_agent_name(face_req *q, const char *ref);

/* ---- answers */

/* {"error": false, "data": the caller goes on with one value. */
void kagent_data(face_req *q);
/* , "message": …} */
void kagent_end(face_req *q, const char *message);
/* The same without data. */
void kagent_done(face_req *q, const char *message);
/* The error of the call as an answer: 404 with `missing` when something is not there, else `what`
 * and the reason. */
void kagent_error(face_req *q, ramet_status st, const char *what, const char *missing);
void kagent_refuse(face_req *q, int status, const char *message);
void kagent_fail(face_req *q, const char *code, const char *field, const char *message);
/* RFC 3339 with microseconds, zeros at the end cut. */
void kagent_time(face_req *q, const char *key, int64_t us);
void kagent_session_write(face_req *q, const ramet_session *s);
/* The same without the braces. */
void kagent_session_members(face_req *q, const ramet_session *s);
/* Metadata with `source` set, or (NULL) without it. */
const char *kagent_source_set(arena *a, const char *metadata, const char *source);
const char *kagent_source(arena *a, const ramet_session *s);
/* Every session that the caller owns (or, in nobody's name, that is the agent's): newest first. */
bool kagent_sessions(face_req *q, ramet_session **out, size_t *n);
/* Header A2A-Version. False: the answer is filled. */
bool kagent_version(face_req *q, a2a_version *out);

/* ---- handlers */
typedef void kagent_handler(face_req *q);
kagent_handler kagent_health, kagent_version_get, kagent_me, kagent_agents_list, kagent_agent_get,
    kagent_toolservers, kagent_namespaces, kagent_feedback_post, kagent_feedback_list;
kagent_handler kagent_sessions_list, kagent_session_post, kagent_session_put, kagent_session_delete,
    kagent_sessions_of_agent, kagent_share_post, kagent_shares_list, kagent_share_delete;
kagent_handler kagent_session_get, kagent_event_post;
kagent_handler kagent_fork, kagent_rewind, kagent_undo, kagent_redo;
kagent_handler kagent_tasks_list, kagent_task_get, kagent_task_post, kagent_task_delete,
    kagent_history_put;

#endif
