/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage.c: JSON shapes of moves, branches, versions and fork points.
 */
#include "form/rows.h"

static const char *const *branch_order(const void *value)
{
    static const char *const order[] = {"branch_id", "parent_id",  "base",    "length",
                                        "entry_id",  "type",       "current", "created_at",
                                        "preview",   "session_id", "name",    "favourite",
                                        "pruned_at", "removed",    NULL};
    (void)value;
    return order;
}

static void branch_read_end(void *value)
{
    ramet_branch *b = value;
    if (!b->name)
        b->name = "";
}

/* clang-format off */

#define S ramet_move
const form_schema form_move = STRUCT("Move", "A move of the head.",
    R("number", INT, "from 1", AT(INT64, number)),
    R("kind", ENUM, "", WORD(MOVES, kind)),
    R("from", TEXT, "branch", AT(BRANCH, from)),
    R("to", TEXT, "branch", AT(BRANCH, to)),
    R("from_length", INT, "its current length", AT(INT64, from_length)),
    R("to_length", INT, "its current length", AT(INT64, to_length)),
    BY(who),
    R("reason", TEXT, "", AT(STRING, reason)),
    CREATED_AT(at));
#undef S
const form_schema form_move_list = LIST("MoveList", "moves", form_move, "A page of the head log.");

#define S ramet_overlay
const form_schema form_overlay = STRUCT("Overlay", "What becomes of an entry in the context view.",
    R("id", TEXT, "like `o17`", AT(OVERLAY, id)),
    R("entry_id", TEXT, "", AT(TEXT, entry_id)),
    R("position", INT, "of the entry", AT(INT64, position)),
    R("action", ENUM, "", WORD(OVERLAY_ACTIONS, action)),
    F("text", TEXT, "of `replace`: what the entry says instead", AT(TEXT, text), OMIT),
    BY(who),
    CREATED_AT(at));
#undef S
const form_schema form_overlay_list = LIST("OverlayList", "overlays", form_overlay, "Those in force, in the order of the path; all of them.");
#define S ramet_overlay_out
const form_schema form_overlay_done = STRUCT("OverlayDone", "An overlay that was set or removed.",
    R("id", TEXT, "like `o17`", AT(OVERLAY, id)),
    R("head", OBJECT, "a new, empty branch; its `prefix_hash` is what it was", PART(form_head, head)));
#undef S

#define S ramet_branch
const form_schema form_branch = {
    .name = "Branch", .text = "A branch of a session, or (with `number`) a version of a message.",
    .size = sizeof(S), .order = branch_order, .read_end = branch_read_end, .fields = FIELDS(
    R("branch_id", TEXT, "for `switch`", AT(BRANCH, id)),
    R("entry_id", TEXT, "the version, or the last entry of the branch's path", NUL, AT(TEXT, tip_id)),
    F("number", INT, "version, from 1"),
    F("parent_id", TEXT, "the branch it left", NUL, AT(BRANCH, parent)),
    F("base", INT, "number of entries shared with it", AT(INT64, base)),
    F("length", INT, "length of its path", AT(INT64, length)),
    R("type", ENUM, "", WORD(TYPES, type)),
    R("current", BOOL, "on the current path", AT(BOOL, current)),
    CREATED_AT(created),
    R("preview", TEXT, "first line", AT(STRING, preview)),
    F("session_id", TEXT, "the session it belongs to, in a list of a tree's branches", AT(TEXT, session), OMIT),
    F("name", TEXT, "its name, if it has one", AT(STRING, name), OMIT),
    F("favourite", BOOL, "true: its session opens here", AT(BOOL, favourite), OMIT),
    F("pruned_at", TIME, "when it was pruned", AT(TIME, pruned), OMIT),
    F("removed", BOOL, "true: pruned, and garbage collection removed what nothing else needs", AT(BOOL, removed), OMIT))};
#undef S
const form_schema form_branch_list = LIST("BranchList", "branches", form_branch, "Versions of a message, or branches of a session or a tree, oldest first.");

#define S ramet_kept_branch
const form_schema form_kept_branch = STRUCT("KeptBranch", "A branch that was not pruned.",
    R("branch_id", TEXT, "", AT(BRANCH, branch)),
    R("reason", TEXT, "what needs it", AT(STRING, reason)));
#undef S

#define S ramet_prune_out
const form_schema form_pruned = STRUCT("Pruned", "What goes, or would go, or came back.",
    R("branches", ARRAY, "like `b17`", TEXTS(branches, n)),
    R("entries", INT, "entries that garbage collection will remove; of a restore: that it will not", AT(INT64, entries)),
    R("kept", ARRAY, "with `others`: what stays because something needs it, at most 100", LIST_OF(form_kept_branch, kept, n_kept)),
    R("dry_run", BOOL, "nothing was done", AT(BOOL, dry_run)));
#undef S

#define S ramet_version
const form_schema form_version = STRUCT(NULL, NULL,
    R("branch_id", TEXT, "", AT(BRANCH, branch)),
    R("entry_id", TEXT, "", AT(TEXT, entry_id)),
    R("number", INT, "", AT(INT, number)),
    R("type", ENUM, "", WORD(TYPES, type)),
    R("current", BOOL, "", AT(BOOL, current)),
    CREATED_AT(created),
    R("preview", TEXT, "", AT(STRING, preview)));
#undef S
const form_schema form_version_list = LIST(NULL, "branches", form_version, NULL);

#define S ramet_suggestion
const form_schema form_suggestion = STRUCT("Suggestion", "A place that is worth forking.",
    R("entry_id", TEXT, "where it shows; a fork `before` it can go another way", AT(TEXT, entry_id)),
    R("kind", ENUM, "", WORD(SUGGESTS, kind)),
    R("why", TEXT, "one line", AT(STRING, why)));
#undef S

#define S ramet_suggestions
const form_schema form_suggestions = STRUCT("Suggestions", "What a look at the text proposes.",
    R("suggestions", ARRAY, "by position, at most 100", LIST_OF(form_suggestion, items, n)),
    R("tags", ARRAY, "at most 5, the best first", TEXTS(tags, n_tags)));
#undef S

#define S ramet_fork_point
const form_schema form_fork_point = STRUCT("ForkPoint", "Where a fork or branch leaves the current path.",
    R("position", INT, "number of entries kept", AT(INT64, position)),
    R("entry_id", TEXT, "the last entry kept", NUL, AT(TEXT, entry_id)),
    R("session_id", TEXT, "the fork; null: a branch of this session", NUL, AT(TEXT, session)),
    R("branch_id", TEXT, "", NUL, AT(BRANCH, branch)));
#undef S
const form_schema form_fork_point_list = LIST("ForkPointList", "fork_points", form_fork_point, "By position.");
