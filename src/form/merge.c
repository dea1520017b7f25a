/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: merges as JSON: where they come from, what they take, what they did, and the origins and
 * destinations of entries.
 */
#include "form/rows.h"

/* clang-format off */

#define MODES "fast_forward|splice|pick|land", ramet_merge_mode_name

#define S ramet_entry_ref
const form_schema form_origin = STRUCT("Origin", "Where a copy came from, or where an entry went.",
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("entry_id", TEXT, "", AT(TEXT, entry_id)),
    R("branch_id", TEXT, "the branch that owns the entry, which may be another than the head of the session", AT(BRANCH, branch)));
#undef S
const form_schema form_origin_list = LIST("OriginList", "origins", form_origin, "Where an entry came from.");
const form_schema form_destination_list = LIST("DestinationList", "destinations", form_origin, "Where an entry went.");

#define S ramet_merge_pick
const form_schema form_pick = STRUCT("Pick", "An entry to copy.",
    F("session_id", TEXT, "the source when not given, or the target itself when there is none", AT(TEXT, session), OMIT),
    F("branch_id", TEXT, "a branch of that session whose path holds the entry; its head when not given", AT(BRANCH, branch), OMIT),
    R("entry_id", TEXT, "", AT(TEXT, entry_id)));
#undef S

#define S native_merge_from
const form_schema form_merge_from = {
    .name = "MergeFrom", .text = "The source of a merge; a string is its session id.", .or_text = true, .size = sizeof(S),
    .refused_field = "from", .refused_text = "\"from\" must be an object like {\"session_id\": \"trip\"}, or a string that is a session id",
    .fields = FIELDS(
    F("session_id", TEXT, "a session", AT(TEXT, session), OMIT),
    F("branch_id", TEXT, "a branch of it; its head when not given", AT(BRANCH, branch), OMIT),
    F("share", TEXT, "instead of them: token of a share link. Only `land` with a text works from there", .secret = true, AT(TEXT, share), OMIT))};
#undef S

#define S ramet_merge_out
const form_schema form_merge_preview = STRUCT("MergePreview", "What a merge would bring.",
    R("entries", ARRAY, "as they would be appended, but for ids, turn ids and times, which the merge itself makes; of a fast-forward the entries that "
      "would be shared, at most 1,000", LIST_OF(form_entry, entries, n)),
    R("count", INT, "of all of them", AT(INT64, count)));
#undef S

#define S native_merge_done
const form_schema form_merge_done = STRUCT("MergeDone", "What a merge did.",
    R("mode", ENUM, "", WORD(MODES, mode)),
    R("count", INT, "entries that came onto the path", AT(INT64, count)));
#undef S
