/* SPDX-License-Identifier: Apache-2.0
 *
 * native.h: the JSON shapes of Ramet's own API, for writing and reading.
 *
 * The server, the command-line tool (--json) and the HTTP client use the same tables, so a program
 * sees the same objects everywhere; request checks and the documents come from them, too. Branch
 * ids are "b17", times RFC 3339 with milliseconds, hashes lower-case hex, money a decimal number.
 * Parts, bodies, metadata and states are passed through byte for byte.
 */
#ifndef FORM_NATIVE_H
#define FORM_NATIVE_H

#include "form/form.h"
#include "ramet/branches.h"
#include "ramet/erase.h"
#include "ramet/export.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/sandboxes.h"
#include "ramet/suggest.h"
#include "ramet/templates.h"
#include "ramet/tokens.h"

/* clang-format off */
/* Every documented shape, in documentation order: X(name) is `const form_schema form_NAME`. */
#define NATIVE_SCHEMAS(X)                                                                          \
    X(error) X(session) X(session_list) X(head) X(expected_head) X(agent) X(agent_in)              \
    X(forked_from) X(created_by) X(at) X(cut) X(sync_done) X(deleted)                              \
    X(entry) X(version_of) X(entry_in) X(entry_edit) X(part) X(entry_page) X(appended) X(record)   \
    X(usage) X(usage_in) X(usage_sum) X(money) X(usage_report) X(session_state) X(feedback)                \
    X(feedback_list)                                                                               \
    X(origin) X(origin_list) X(destination_list) X(pick) X(merge_from) X(merge_preview)            \
    X(merge_done)                                                                                  \
    X(running) X(question) X(option) X(turn) X(turn_list) X(turn_done) X(fan_done) X(prompt) X(fork_in) \
    X(move) X(move_list) X(branch) X(branch_list) X(fork_point) X(fork_point_list)                 \
    X(overlay) X(overlay_list) X(overlay_done)                                                     \
    X(pruned) X(kept_branch) X(suggestions) X(suggestion)                                          \
    X(template) X(template_list) X(template_origin)                                                \
    X(tags) X(tag_count) X(tag_list) X(member) X(member_list)                                      \
    X(comparison) X(turn_row) X(compare_side) X(side) X(side_in) X(verdict) X(verdict_list)        \
    X(hit) X(mark) X(hit_list)                                                                     \
    X(attachment) X(share) X(sandbox) X(sandbox_list) X(sandbox_removed) X(share_list)             \
    X(shared_session)                                                                              \
    X(me) X(agent_info) X(agent_list) X(agent_name) X(nearby) X(nearby_list) X(statistics)         \
    X(import_report) X(import_skip) X(import_offset)                                               \
    X(hold) X(hold_list) X(rule) X(rule_in) X(retention) X(removal) X(removal_list)                \
    X(retention_report) X(explanation) X(rule_verdict) X(needed_by)                                \
    X(erased) X(erasure) X(erasure_list) X(erase_entry) X(erase_done) X(receipt) X(erase_line) X(erase_place)                 \
    X(store_stats) X(gc_report) X(fsck_report) X(fault) X(index_report) X(token) X(token_list)
/* clang-format on */

#define X(name) extern const form_schema form_##name;
NATIVE_SCHEMAS(X)
#undef X
/* All of them, ending with NULL. */
extern const form_schema *const native_schemas[];
/* A version of a message, and a list of versions; documented as a Branch. */
extern const form_schema form_version, form_version_list;

/* ---- structs that no library call returns */

typedef struct native_record {
    ramet_page page;
    int64_t total;
} native_record;

typedef struct native_shared_session {
    const ramet_share *share;
    const ramet_session *session;
} native_shared_session;

typedef struct native_state {
    const char *json; /* a JSON object */
} native_state;

/* Where a merge comes from. */
typedef struct native_merge_from {
    const char *session, *share;
    int64_t branch;
} native_merge_from;

typedef struct native_merge_done {
    ramet_merge_mode mode;
    int64_t count;
} native_merge_done;

typedef struct native_indexed {
    int64_t entries;
} native_indexed;

/* An entry to erase. */
typedef struct native_erase_entry {
    const char *session, *entry;
    int64_t branch;
} native_erase_entry;

typedef struct native_receipt {
    const ramet_receipt *receipt;
} native_receipt;

typedef struct native_offset {
    const char *upload;
    int64_t offset;
} native_offset;

typedef struct native_removed {
    const char *id;
    int64_t trees;
} native_removed;

typedef struct native_me {
    const char *user, *client, *roles, *auth; /* roles: separated by commas */
    bool admin, auditor, indexer;
} native_me;

/* ---- writing: each function writes one value */

/* clang-format off */
#define NATIVE_WRITERS(X)                                                                          \
    X(head, ramet_head, head) X(session, ramet_session, session)                                   \
    X(entry, ramet_entry, entry) X(turn, ramet_turn, turn) X(usage_out, ramet_usage_out, usage_report) \
    X(move, ramet_move, move) X(version, ramet_version, version) X(branch, ramet_branch, branch)   \
    X(tags, ramet_tags, tags) X(member, ramet_member, member)                                      \
    X(deleted, ramet_delete_out, deleted) X(share, ramet_share, share) X(token, ramet_token, token) \
    X(sandbox, ramet_sandbox, sandbox) X(compare, ramet_compare_out, comparison)                   \
    X(verdict, ramet_verdict, verdict) X(hit, ramet_hit, hit) X(fsck, ramet_fsck_out, fsck_report) \
    X(erase, native_receipt, erase_done) X(gc, ramet_gc_out, gc_report) X(stats, ramet_stats, store_stats) X(error, ramet_error, error)
/* clang-format on */
#define X(name, type, schema)                                                                      \
    static inline void native_##name(json_writer *w, const type *value)                            \
    {                                                                                              \
        form_write(w, &form_##schema, value, NULL);                                                \
    }
NATIVE_WRITERS(X)
#undef X

void native_agent(json_writer *w, const ramet_agent *a); /* null if it has no name */
/* A session with members that only some responses have; each of them may be NULL. */
typedef struct native_more {
    const ramet_cut *cut;       /* fork, rewind: where it was cut */
    const ramet_sync_out *sync; /* sync: its result */
    const native_merge_done *merge;
    const form_context *context;
} native_more;
void native_session_more(json_writer *w, const ramet_session *s, const native_more *more);
void native_session_cut(json_writer *w, const ramet_session *s, const ramet_cut *cut);
/* `turns` of a comparison. */
void native_turn_rows(json_writer *w, const ramet_compare_out *c);
/* Writes the members of an error without the enclosing object. */
void native_error_fields(json_writer *w, const ramet_error *e);
/* Writes key and value. */
void native_ktime(json_writer *w, const char *key, int64_t us); /* 0 writes null */
void native_kbranch(json_writer *w, const char *key, int64_t branch);

/* The members of an object of texts; a value that is no text is NULL. */
ramet_template_value *native_values(arena *a, const json_doc *d, const json_node *v, size_t *n);

/* ---- reading client input: on failure returns false and fills *err (status, message, field) */

#define NATIVE_READERS(X)                                                                          \
    X(entry_in, ramet_entry_in) X(usage_in, ramet_usage) X(agent_in, ramet_agent)
#define X(name, type)                                                                              \
    static inline bool native_##name(arena *a, const json_doc *d, const json_node *v, type *out,   \
                                     ramet_error *err)                                             \
    {                                                                                              \
        return form_read(a, d, v, &form_##name, out, err);                                         \
    }
NATIVE_READERS(X)
#undef X

#endif
