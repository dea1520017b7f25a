/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/suggest.h: Places of a conversation that are worth forking, and tags for it, found without
 * a model. docs/suggestions.md has the method, and how often it is right.
 */
#ifndef RAMET_SUGGEST_H
#define RAMET_SUGGEST_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ramet_suggestion_kind {
    RAMET_SUGGEST_CORRECTION = 1, /* the user corrects the answer before it */
    RAMET_SUGGEST_FAILED_TOOL,    /* the result of a tool call that failed */
    RAMET_SUGGEST_RETRY,          /* the same was asked, or done, again */
    RAMET_SUGGEST_TOPIC           /* the user begins another topic */
} ramet_suggestion_kind;

typedef struct ramet_suggestion {
    const char *entry_id; /* where it shows; a fork `before` it can go another way */
    ramet_suggestion_kind kind;
    const char *why; /* one line */
} ramet_suggestion;

typedef struct ramet_suggestions {
    const ramet_suggestion *items; /* by position; at most 100, the last ones */
    size_t n;
    const char *const *tags; /* at most 5, the best first; none that the session has already */
    size_t n_tags;
} ramet_suggestions;

/* Looks at the last 1,000 entries of the channel `history` on the path of a branch (0 = the head).
 * Needs reader. The same entries give the same suggestions. O(entries looked at), in flat memory.
 */
RAMET_API ramet_status ramet_suggest(ramet_call *c, const char *session, int64_t branch,
                                     ramet_suggestions *out);

RAMET_API const char *ramet_suggestion_name(ramet_suggestion_kind k);
RAMET_API int ramet_suggestion_parse(const char *name); /* 0 when it is none */

#ifdef __cplusplus
}
#endif

#endif
