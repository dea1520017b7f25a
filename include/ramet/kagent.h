/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/kagent.h: calls that only the kagent protocol needs: the adk log as its runtime reads it,
 * share links that a user has opened, and feedback that names no entry.
 */
#ifndef RAMET_KAGENT_H
#define RAMET_KAGENT_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the adk log, oldest first, in constant memory: what the session inherited, then its record,
 * with every rewind event; or (`effective`) its path, without them. `own`: the session appended it
 * itself. The callback must not use the call; it returns false to stop. Needs writer. */
typedef bool (*ramet_each)(void *arg, const ramet_entry *e, bool own);
RAMET_API ramet_status ramet_adk_each(ramet_call *c, const char *session, bool effective,
                                      ramet_each each, void *arg);
/* Reads a part of it, by numbers that count its events from 0. The event of a number never changes:
 * a record only grows at its end, and so does the path of one branch. */
typedef struct ramet_adk_span {
    bool effective;
    int64_t branch;      /* effective: whose path; 0: the present one, and set to it */
    int64_t from, until; /* numbers; until 0: all that exist now, and set to how many */
    int64_t at;          /* set to the number of the event that the callback gets */
} ramet_adk_span;
RAMET_API ramet_status ramet_adk_span_each(ramet_call *c, const char *session, ramet_adk_span *span,
                                           ramet_each each, void *arg);
/* Its state: the fold of the deltas on the path. Keys that begin with "app:" or "user:" do not
 * belong to a session, and keep the last value that any event of the record gave them. */
RAMET_API ramet_status ramet_adk_state(ramet_call *c, const char *session, const char **json);

/* Records that the call's user has used its link, if the user sees the session only through the
 * link; no error otherwise. From then on the id of the link works like its token, for that user
 * only. Only the first call writes. */
RAMET_API ramet_status ramet_share_visit(ramet_call *c);
/* The links that the call's user has used and that still give access to a session: at most 1,000,
 * newest first. */
RAMET_API ramet_status ramet_shares_visited(ramet_call *c, ramet_share **out, size_t *n);

/* Feedback that names no entry: a user's opinion of an answer. */
typedef struct ramet_remark {
    int64_t number;
    const char *user;
    int64_t message; /* as the caller counts messages */
    bool has_message;
    bool positive;
    const char *text;  /* at most 10,000 characters */
    const char *issue; /* at most 100; "" when none */
    int64_t at;
} ramet_remark;
RAMET_API ramet_status ramet_remark_add(ramet_call *c, const ramet_remark *in);
/* The caller's own, oldest first, with a number above `after`. limit 1-1000; 0 = 50. */
RAMET_API ramet_status ramet_remarks(ramet_call *c, int64_t after, int limit, ramet_remark **out,
                                     size_t *n);

#ifdef __cplusplus
}
#endif
#endif
