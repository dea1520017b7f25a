/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.h: a merge as a request, for the faces that have one. They differ in how the session that
 * was merged into is shown.
 */
#ifndef FACE_KIT_MERGE_H
#define FACE_KIT_MERGE_H

#include "face/kit/face.h"
#include "form/native.h"
#include "ramet/merge.h"

/* What a merge answers with. */
typedef struct face_merged {
    ramet_merge_out out;
    ramet_merge_mode mode;
} face_merged;

/* Reads the body (MERGE_BODY), has a summary written where none is given, merges, and answers: by
 * `show` with a face_merged, or in a dry run with a MergePreview. q->c is there already. */
void face_merge(request *q, const char *session, void (*show)(request *q, const void *answer));

/* A table reads by its rows. */
/* clang-format off */
#define MERGE_BODY                                                                                 \
    F("from", OBJECT, "the source; may be left out with `pick`", .of = &form_merge_from),          \
    R("mode", ENUM, "how", .values = "fast_forward|splice|pick|land"),                              \
    F("entries", ARRAY, "`pick`: the entries, in the order in which they are appended",            \
      .of = &form_pick),                                                                           \
    F("text", TEXT, "`land`: the summary; an agent writes it when it is not given"),               \
    F("agent", OBJECT, "`land` without a text: who writes it; the source's agent when not given",  \
      .of = &form_agent_in),                                                                       \
    F("when", ENUM, "`idle`: wait for the end of a running turn", .values = "idle"),                \
    F("dry_run", BOOL, "only tells what would be appended; of `land` the text, which may be "      \
                       "changed and sent back")
/* clang-format on */

#endif
