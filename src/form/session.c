/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: JSON shapes of sessions: a session with its head, agent and fork origin; the body of a
 * fork; the responses to rewinds, syncs and deletes.
 */
#include "form/rows.h"

/* ---------------------------------------------------------------------- hooks */

static bool has_agent(const void *owner)
{
    return ((const ramet_session *)owner)->agent.name != NULL;
}

static bool has_adk_head(const void *owner)
{
    return ((const ramet_session *)owner)->adk.branch != 0;
}

/* A fork whose parent the user may not see looks like a root. */
static bool has_visible_parent(const void *owner)
{
    const ramet_session *s = owner;
    return s->is_fork && s->parent_id;
}

static void title_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_session *s = owner;
    (void)context;
    jw_str(w, s->shown_title ? s->shown_title : s->title);
}

static void title_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_session *s = owner;
    s->title = s->shown_title = json_text(a, d, v);
}

static void running_write(json_writer *w, const void *owner, const form_context *context)
{
    if (context->running)
        context->running(context->arg, owner, w);
    else
        jw_null(w);
}

static void session_read_end(void *value)
{
    ramet_session *s = value;
    if (!s->title)
        s->title = s->shown_title = "";
}

static void forked_from_read_end(void *value)
{
    ((ramet_session *)value)->is_fork = true;
}

/* A deleted session keeps its place in the tree; everything else is left out. */
static const char *const *session_order(const void *value)
{
    static const char *const place_holder[] = {"id", "deleted", "depth", "path", NULL};
    return ((const ramet_session *)value)->deleted ? place_holder : NULL;
}

/* ---- the request body of a fork */

/* An agent without a name counts as absent: the fork keeps its parent's. */
static bool fork_has_agent(const void *owner)
{
    const ramet_fork_in *in = owner;
    return in->agent && in->agent->name;
}

static bool fork_has_at(const void *owner)
{
    return ((const ramet_fork_in *)owner)->at.entry_id != NULL;
}

static bool fork_has_adk_at(const void *owner)
{
    return ((const ramet_fork_in *)owner)->adk_at.entry_id != NULL;
}

static bool fork_is_ephemeral(const void *owner)
{
    return ((const ramet_fork_in *)owner)->ephemeral_us > 0;
}

static bool fork_names_maker(const void *owner)
{
    const ramet_fork_in *in = owner;
    return in->by_kind != RAMET_BY_USER || in->by_id;
}

static void life_write(json_writer *w, const void *owner, const form_context *context)
{
    (void)context;
    jw_nano(w, ((const ramet_fork_in *)owner)->ephemeral_us * 1000);
}

static void life_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    int64_t nano = 0;
    (void)a;
    if (json_nano(d, v, &nano))
        ((ramet_fork_in *)owner)->ephemeral_us = nano / 1000;
}

static const char *const *fork_in_order(const void *value)
{
    static const char *const order[] = {
        "at",   "adk_at", "branch_id", "cut",  "id",         "title",      "reason",
        "tags", "agent",  "metadata",  "type", "visibility", "created_by", "ephemeral_seconds",
        NULL};
    (void)value;
    return order;
}

/* --------------------------------------------------------------------- tables */

/* clang-format off */

#define S ramet_session
const form_schema form_session = {
    .name = "Session", .text = "A chat: an owner, an agent, tags, and a head, which is its current branch.",
    .size = sizeof(S), .order = session_order, .read_end = session_read_end, .fields = FIELDS(
    R("id", TEXT, "unique in the store", AT(TEXT, id)),
    F("tree_id", TEXT, "the tree it belongs to", AT(TEXT, tree_id)),
    F("title", TEXT, "as given; default: the first line of the first user message, `Fork of …` for a fork", HOOK(title_write, title_read)),
    F("owner", TEXT, "a user", AT(TEXT, owner)),
    F("visibility", ENUM, "who may see it", WORD(SEEN, visibility)),
    F("agent", OBJECT, "the agent that answers", NUL, PART(form_agent, agent), WHEN(has_agent)),
    F("tags", ARRAY, "sorted", TEXTS(tags, n_tags)),
    F("head", OBJECT, "its position in its history", PART(form_head, head)),
    F("adk_head", OBJECT, "the head of its second log, if it has one", PART(form_head, adk), OMIT, WHEN(has_adk_head)),
    F("forked_from", OBJECT, "null for a root, or if the caller may not see the parent", NUL, SELF(form_forked_from), WHEN(has_visible_parent)),
    F("merged_into", TEXT, "the session that it was last merged into", NUL, AT(TEXT, merged_into)),
    F("cache_root", TEXT, "the session whose provider cache contains the beginning of this history", NUL, AT(TEXT, cache_root)),
    F("cache_root_shared", INT, "number of entries up to the last one that it appended; all, if it is this session", AT(INT64, cache_root_shared)),
    F("running", OBJECT, "the running turn", NUL, .of = &form_running, HOOK(running_write, NULL)),
    F("metadata", OBJECT, "as given", AT(SETTINGS, metadata)),
    F("archived", BOOL, "hidden from lists that do not ask for archived sessions", AT(BOOL, archived)),
    F("expires_at", TIME, "when an ephemeral session is deleted", NUL, AT(TIME, expires)),
    F("deleted_at", TIME, "in the list of deleted sessions: when it was deleted, or expired", AT(TIME, deleted_at), OMIT),
    F("created_at", TIME, "when it was created", AT(TIME, created)),
    F("updated_at", TIME, "when it last changed", AT(TIME, updated)),
    F("level", ENUM, "the caller's access level; only if the session is read alone", WORD(LEVELS, level), OMIT),
    F("favourite", TEXT, "the branch that it opens at, if it has one; only if the session is read alone", AT(BRANCH, favourite), OMIT),
    F("cut", OBJECT, "in the answer to fork and rewind: where it was really cut", .of = &form_cut),
    F("sync", OBJECT, "in the answer to sync: what was done", .of = &form_sync_done),
    F("merge", OBJECT, "in the answer of merge: what was done", .of = &form_merge_done),
    F("depth", INT, "number of forks above it", AT(INT64, depth)),
    F("path", ARRAY, "in trees: the ids from the root, at most the last 64", TEXTS(path, n_path), OMIT),
    F("deleted", BOOL, "in trees and ancestries: a placeholder with only its id and place", AT(BOOL, deleted), OMIT))};
const form_schema form_session_list = LIST("SessionList", "sessions", form_session, "A page of sessions.");

const form_schema form_forked_from = {
    .name = "ForkedFrom", .text = "Where a fork left its parent.", .size = sizeof(S), .read_end = forked_from_read_end, .fields = FIELDS(
    R("session_id", TEXT, "the parent", AT(TEXT, parent_id)),
    R("entry_id", TEXT, "null: nothing is shared", NUL, AT(TEXT, fork_entry_id)),
    R("side", ENUM, "", WORD(SIDES, fork_side)),
    R("type", ENUM, "", WORD(TYPES, type)),
    R("reason", TEXT, "", AT(STRING, reason)),
    R("created_by", OBJECT, "its creator", SELF(form_created_by)))};
const form_schema form_created_by = STRUCT("CreatedBy", "The creator of a fork.",
    R("kind", ENUM, "", WORD(ACTORS, by_kind)),
    F("id", TEXT, "default: the caller", NUL, AT(TEXT, by_id)));
#undef S

#define S ramet_head
const form_schema form_head = STRUCT("Head", "A session's position in its history.",
    R("branch_id", TEXT, "such as `b17`", NUL, AT(BRANCH, branch)),
    R("length", INT, "number of entries on the path", AT(INT64, length)),
    R("entry_id", TEXT, "the last entry; null if the history is empty", NUL, AT(TEXT, entry_id)),
    R("prefix_hash", TEXT, "hash of the whole path; two histories are equal if and only if these are", CHARS(hash)),
    F("overlay_set", TEXT, "stands for the overlays in force; left out when there are none", AT(OVERLAY, overlay), OMIT));
#undef S

const form_schema form_expected_head = {
    .name = "ExpectedHead", .text = "The head as it was read. Only `prefix_hash` is compared; it may also be sent alone, as a string.",
    .or_text = true, .open = true, .fields = FIELDS(R("prefix_hash", TEXT, "64 hex digits"))};

#define S ramet_agent
#define AGENT_ROWS(name_row, options_text) name_row,                                               \
    F("provider", TEXT, "", AT(TEXT, provider), OMIT), F("model", TEXT, "", AT(TEXT, model), OMIT), \
    F("folder", TEXT, "its working folder", AT(TEXT, folder), OMIT),                               \
    F("options", OBJECT, options_text, AT(JSON, options), OMIT)
const form_schema form_agent = STRUCT("Agent", "The agent that answers.",
    AGENT_ROWS(R("name", TEXT, "", AT(TEXT, name)), "its other settings"));
const form_schema form_agent_in = {
    .name = "AgentIn", .text = "The agent that answers; a string is its name.", .or_text = true, .size = sizeof(S),
    .refused_field = "agent", .refused_text = "\"agent\" must be an object, or a string that is its name",
    .fields = FIELDS(AGENT_ROWS(F("name", TEXT, "", AT(TEXT, name)), "its other settings, at most 64 KiB"))};
#undef S

#define S ramet_at
const form_schema form_at = STRUCT("At", "A cut point: an entry and a side of it.",
    R("entry_id", TEXT, "an entry on the path", AT(TEXT, entry_id)),
    F("side", ENUM, "default `after`: the entry is kept", WORD(SIDES, side)));
#undef S

#define S ramet_cut
const form_schema form_cut = STRUCT("Cut", "Where a fork or rewind was really cut.",
    R("policy", ENUM, "", WORD(CUTS, policy)),
    R("entry_id", TEXT, "null: nothing was kept", NUL, AT(TEXT, entry_id)),
    R("side", ENUM, "", WORD(SIDES, side)),
    R("position", INT, "number of entries kept", AT(INT64, position)));
#undef S

#define S ramet_sync_out
const form_schema form_sync_done = STRUCT("SyncDone", "What a sync did.",
    R("matched", INT, "number of entries of the list that existed already", AT(INT64, matched)),
    R("added", INT, "number of entries appended", AT(INT64, added)),
    R("moved", BOOL, "the head moved to a new branch", AT(BOOL, moved)));
#undef S

#define S ramet_delete_out
const form_schema form_deleted = STRUCT("Deleted", "What was deleted, or would be.",
    R("sessions", ARRAY, "ids of sessions", TEXTS(ids, n)),
    R("entries", INT, "number of entries that no other session shares", AT(INT64, entries)),
    R("dry_run", BOOL, "nothing was done", AT(BOOL, dry_run)));
#undef S

/* The same shape as CreatedBy, in another struct. */
#define S ramet_fork_in
static const form_schema fork_created_by = STRUCT("CreatedBy", NULL,
    R("kind", ENUM, "", WORD(ACTORS, by_kind)),
    F("id", TEXT, "", AT(TEXT, by_id), OMIT));
const form_schema form_fork_in = {
    .name = "ForkIn", .text = "The body of `fork`.", .size = sizeof(S), .order = fork_in_order, .fields = FIELDS(
    F("at", OBJECT, "where to cut; default: the head", PART(form_at, at), OMIT, WHEN(fork_has_at)),
    F("branch_id", TEXT, "the branch of the session whose path contains `at`", AT(BRANCH, branch), OMIT),
    F("cut", ENUM, "default `exact`", WORD(CUTS, cut), OMIT),
    F("adk_at", OBJECT, "where to cut the `adk` log", PART(form_at, adk_at), OMIT, WHEN(fork_has_adk_at)),
    F("id", TEXT, "1-255 bytes; default: a new UUIDv7", AT(TEXT, id), OMIT),
    F("title", TEXT, "at most 500 characters", AT(TEXT, title), OMIT),
    F("reason", TEXT, "at most 2,000 characters", AT(TEXT, reason), OMIT),
    F("tags", ARRAY, "at most 64", TEXTS(tags, n_tags), OMIT),
    F("agent", OBJECT, "default: the parent's", POINTER(form_agent_in, agent), OMIT, WHEN(fork_has_agent)),
    F("metadata", OBJECT, "at most 64 KiB", AT(JSON, metadata), OMIT),
    F("type", ENUM, "default `explicit`", WORD(TYPES, type), OMIT),
    F("visibility", ENUM, "", WORD(SEEN, visibility), OMIT),
    F("ephemeral_seconds", NUMBER, "delete it after this many seconds", HOOK(life_write, life_read), OMIT, WHEN(fork_is_ephemeral)),
    F("created_by", OBJECT, "default: the caller", SELF(fork_created_by), OMIT, WHEN(fork_names_maker)))};
#undef S

/* clang-format on */

/* -------------------------------------------------------------------- writing */

void native_agent(json_writer *w, const ramet_agent *a)
{
    if (a->name)
        form_write(w, &form_agent, a, NULL);
    else
        jw_null(w);
}

void native_session_more(json_writer *w, const ramet_session *s, const native_more *more)
{
    jw_object(w);
    form_write_members(w, &form_session, s, more->context);
    if (more->cut) {
        jw_key(w, "cut");
        form_write(w, &form_cut, more->cut, NULL);
    }
    if (more->sync) {
        jw_key(w, "sync");
        form_write(w, &form_sync_done, more->sync, NULL);
    }
    if (more->merge) {
        jw_key(w, "merge");
        form_write(w, &form_merge_done, more->merge, NULL);
    }
    jw_end_object(w);
}

void native_session_cut(json_writer *w, const ramet_session *s, const ramet_cut *cut)
{
    native_session_more(w, s, &(native_more){.cut = cut});
}
