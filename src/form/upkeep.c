/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.c: JSON shapes of statistics and maintenance reports.
 */
#include "form/rows.h"

/* ----------------------------------------------------------------- statistics */

/* As a fraction of the active users, from 0 to 1. */
static void share_write(json_writer *w, const ramet_activity *a, int64_t users)
{
    double active = a->active_users ? (double)a->active_users : 1;
    jw_nano(w, (int64_t)((double)users / active * 1e9));
}

static void forked_share_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_activity *a = owner;
    (void)context;
    share_write(w, a, a->forked_users);
}

static void switched_share_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_activity *a = owner;
    (void)context;
    share_write(w, a, a->switched_users);
}

static const char *const *statistics_order(const void *value)
{
    static const char *const order[] = {"days",         "active_users",   "forked_users",
                                        "forked_share", "switched_users", "switched_share",
                                        "sessions",     "forks",          "trees",
                                        "entries",      "forks_per_tree", NULL};
    (void)value;
    return order;
}

/* --------------------------------------------------------------------- tables */

/* clang-format off */

#define S ramet_activity
const form_schema form_statistics = {
    .name = "Statistics", .text = "Statistics of the last days.", .size = sizeof(S), .order = statistics_order, .fields = FIELDS(
    R("days", INT, "", AT(INT, days)),
    R("active_users", INT, "number of users who wrote, forked or moved", AT(INT64, active_users)),
    R("forked_users", INT, "of these, users who forked", AT(INT64, forked_users)),
    R("switched_users", INT, "of these, users who rewound, switched or undid", AT(INT64, switched_users)),
    R("forked_share", NUMBER, "forked_users / active_users", HOOK(forked_share_write, NULL)),
    R("switched_share", NUMBER, "switched_users / active_users", HOOK(switched_share_write, NULL)),
    R("sessions", INT, "created in that time", AT(INT64, sessions)),
    R("forks", INT, "created in that time", AT(INT64, forks)),
    R("trees", INT, "created in that time", AT(INT64, trees)),
    R("entries", INT, "appended in that time", AT(INT64, entries)),
    R("forks_per_tree", NUMBER, "average over active trees", AT(DOUBLE, forks_per_tree)))};
#undef S

#define S ramet_stats
const form_schema form_store_stats = STRUCT("StoreStats", "",
    R("path", TEXT, "path of the file", AT(STRING, path)),
    R("schema", INT, "version of the tables", AT(INT64, schema)),
    R("trees", INT, "", AT(INT64, trees)),
    R("sessions", INT, "", AT(INT64, sessions)),
    R("forks", INT, "", AT(INT64, forks)),
    R("deleted", INT, "", AT(INT64, deleted)),
    R("branches", INT, "", AT(INT64, branches)),
    R("entries", INT, "", AT(INT64, entries)),
    R("attachments", INT, "", AT(INT64, attachments)),
    R("attachment_bytes", INT, "identical content counts once", AT(INT64, attachment_bytes)),
    R("file_bytes", INT, "", AT(INT64, file_bytes)),
    R("wal_bytes", INT, "", AT(INT64, wal_bytes)),
    R("search_bytes", INT, "", AT(INT64, search_bytes)),
    R("events", INT, "number of the newest event", AT(INT64, events)),
    R("unindexed", INT, "number of events not indexed yet", AT(INT64, unindexed)));
#undef S

#define S ramet_gc_out
const form_schema form_gc_report = STRUCT("GcReport", "",
    R("sessions", INT, "removed for good after their grace period", AT(INT64, sessions)),
    R("expired", INT, "expired ephemeral sessions", AT(INT64, expired)),
    R("branches", INT, "", AT(INT64, branches)),
    R("entries", INT, "", AT(INT64, entries)),
    R("bytes", INT, "", AT(INT64, bytes)),
    R("attachments", INT, "attachments that no entry refers to", AT(INT64, attachments)),
    R("attachment_bytes", INT, "", AT(INT64, attachment_bytes)),
    R("dry_run", BOOL, "", AT(BOOL, dry_run)));
#undef S

#define S ramet_fsck_out
const form_schema form_fsck_report = STRUCT("FsckReport", "",
    R("trees", INT, "", AT(INT64, trees)),
    R("sessions", INT, "", AT(INT64, sessions)),
    R("branches", INT, "", AT(INT64, branches)),
    R("entries", INT, "", AT(INT64, entries)),
    R("erased", INT, "entries whose content was erased", AT(INT64, erased)),
    R("fault_count", INT, "", AT(INT64, n_all)),
    R("faults", ARRAY, "the first 1,000", LIST_OF(form_fault, faults, n)));
#undef S

#define S ramet_import_skip
const form_schema form_import_skip = STRUCT("ImportSkip", "",
    R("what", TEXT, "what was left out, and why", AT(STRING, what)),
    R("count", INT, "how many of them", AT(INT64, count)),
    R("first", TEXT, "where the first one is: `FILE:LINE`; empty when that is unknown", AT(STRING, first)));
#undef S

#define S ramet_import_out
static bool is_foreign(const void *s)
{
    return ((const ramet_import_out *)s)->conversations > 0;
}

const form_schema form_import_report = STRUCT("ImportReport", "",
    R("sessions_added", INT, "", AT(INT64, sessions_added)),
    R("entries_added", INT, "", AT(INT64, entries_added)),
    R("sessions_known", INT, "there before", AT(INT64, sessions_known)),
    F("conversations", INT, "with `from`: conversations read", AT(INT64, conversations), OMIT, WHEN(is_foreign)),
    F("messages", INT, "with `from`: messages read", AT(INT64, messages), OMIT, WHEN(is_foreign)),
    F("forks_added", INT, "with `from`: sessions added that are forks of others", AT(INT64, forks_added), OMIT, WHEN(is_foreign)),
    F("entries_shared", INT, "with `from`: messages that are copies, and are stored once", AT(INT64, entries_shared), OMIT, WHEN(is_foreign)),
    F("bytes_shared", INT, "with `from`: their size", AT(INT64, bytes_shared), OMIT, WHEN(is_foreign)),
    F("skipped", ARRAY, "with `from`: what was left out", LIST_OF(form_import_skip, skipped, n_skipped), OMIT, WHEN(is_foreign)));
#undef S

#define S native_offset
const form_schema form_import_offset = STRUCT("ImportOffset", "",
    R("upload", TEXT, "its name", AT(STRING, upload)),
    R("offset", INT, "bytes that are there; 0: none", AT(INT64, offset)));
#undef S

#define S ramet_fault
const form_schema form_fault = STRUCT("Fault", "",
    R("what", TEXT, "", AT(STRING, what)),
    R("session_id", TEXT, "", NUL, AT(TEXT, session)),
    R("entry_id", TEXT, "", NUL, AT(TEXT, entry_id)),
    R("branch_id", TEXT, "", NUL, AT(BRANCH, branch), .none = -1),
    R("position", INT, "", NUL, AT(INT64, position), .none = -1));
#undef S

#define S native_indexed
const form_schema form_index_report = STRUCT("IndexReport", "", R("indexed", INT, "entries", AT(INT64, entries)));
#undef S
