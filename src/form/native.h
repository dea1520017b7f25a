/* SPDX-License-Identifier: Apache-2.0
 *
 * native.h: the JSON shapes of Ramet's own API, both ways.
 *
 * The server, the command-line tool (--json) and the HTTP client write and read through these
 * tables, so that a program sees the same objects everywhere; the checks of request bodies and the
 * documents come from them, too. Branch ids are "b17", times RFC 3339 with milliseconds, hashes
 * lower-case hex, money a decimal number; parts, bodies, metadata and states pass through as the
 * bytes that were stored.
 */
#ifndef FORM_NATIVE_H
#define FORM_NATIVE_H

#include "form/form.h"
#include "ramet/branches.h"
#include "ramet/sandboxes.h"
#include "ramet/suggest.h"
#include "ramet/tokens.h"

/* clang-format off */
/* Every documented shape, in the order of the documents: X(name) is `const form_schema form_NAME`. */
#define NATIVE_SCHEMAS(X)                                                                          \
    X(error) X(session) X(session_list) X(head) X(expected_head) X(agent) X(agent_in)              \
    X(forked_from) X(created_by) X(at) X(cut) X(sync_done) X(deleted)                              \
    X(entry) X(version_of) X(entry_in) X(entry_edit) X(part) X(entry_page) X(appended) X(record)   \
    X(usage) X(usage_in) X(usage_sum) X(money) X(usage_report) X(session_state) X(feedback)                \
    X(feedback_list)                                                                               \
    X(running) X(question) X(option) X(turn) X(turn_list) X(turn_done) X(fan_done) X(fork_in)      \
    X(move) X(move_list) X(branch) X(branch_list) X(fork_point) X(fork_point_list)                 \
    X(pruned) X(kept_branch) X(suggestions) X(suggestion)                                                                      \
    X(tags) X(tag_count) X(tag_list) X(member) X(member_list)                                      \
    X(comparison) X(turn_row) X(compare_side) X(side) X(side_in) X(verdict) X(verdict_list)        \
    X(hit) X(mark) X(hit_list)                                                                     \
    X(attachment) X(share) X(sandbox) X(sandbox_list) X(sandbox_removed) X(share_list)             \
    X(shared_session)                                                                              \
    X(me) X(agent_info) X(agent_list) X(agent_name) X(nearby) X(nearby_list) X(statistics)         \
    X(store_stats) X(gc_report) X(fsck_report) X(fault) X(index_report) X(token) X(token_list)
/* clang-format on */

#define X(name) extern const form_schema form_##name;
NATIVE_SCHEMAS(X)
#undef X
/* All of them; NULL ends it. */
extern const form_schema *const native_schemas[];
/* A version of a message, and a list of them: documented as a Branch. */
extern const form_schema form_version, form_version_list;

/* ---- structs that no call of the library answers with */

typedef struct native_record {
    ramet_page page;
    int64_t total;
} native_record;

typedef struct native_shared_session {
    const ramet_share *share;
    const ramet_session *session;
} native_shared_session;

typedef struct native_state {
    const char *json; /* an object */
} native_state;

typedef struct native_indexed {
    int64_t entries;
} native_indexed;

typedef struct native_removed {
    const char *id;
    int64_t trees;
} native_removed;

typedef struct native_me {
    const char *user, *client, *roles, *auth; /* roles are parted by commas */
    bool admin, auditor, indexer;
} native_me;

/* ---- writing: each writes one value */

/* clang-format off */
#define NATIVE_WRITERS(X)                                                                          \
    X(head, ramet_head, head) X(session, ramet_session, session)                                   \
    X(entry, ramet_entry, entry) X(turn, ramet_turn, turn) X(usage_out, ramet_usage_out, usage_report) \
    X(move, ramet_move, move) X(version, ramet_version, version) X(branch, ramet_branch, branch)   \
    X(tags, ramet_tags, tags) X(member, ramet_member, member)                                      \
    X(deleted, ramet_delete_out, deleted) X(share, ramet_share, share) X(token, ramet_token, token) \
    X(sandbox, ramet_sandbox, sandbox) X(compare, ramet_compare_out, comparison)                   \
    X(verdict, ramet_verdict, verdict) X(hit, ramet_hit, hit) X(fsck, ramet_fsck_out, fsck_report) \
    X(gc, ramet_gc_out, gc_report) X(stats, ramet_stats, store_stats) X(error, ramet_error, error)
/* clang-format on */
#define X(name, type, schema)                                                                      \
    static inline void native_##name(json_writer *w, const type *value)                            \
    {                                                                                              \
        form_write(w, &form_##schema, value, NULL);                                                \
    }
NATIVE_WRITERS(X)
#undef X

void native_agent(json_writer *w, const ramet_agent *a); /* null when it has no name */
/* A session with what only some answers have; all of `more` may be NULL. */
typedef struct native_more {
    const ramet_cut *cut;       /* fork, rewind: where it really cut */
    const ramet_sync_out *sync; /* sync: what it did */
    const form_context *context;
} native_more;
void native_session_more(json_writer *w, const ramet_session *s, const native_more *more);
void native_session_cut(json_writer *w, const ramet_session *s, const ramet_cut *cut);
/* `turns` of a comparison. */
void native_turn_rows(json_writer *w, const ramet_compare_out *c);
/* The members of an error alone. */
void native_error_fields(json_writer *w, const ramet_error *e);
/* key and value at once */
void native_ktime(json_writer *w, const char *key, int64_t us); /* 0 writes null */
void native_kbranch(json_writer *w, const char *key, int64_t branch);

/* ---- reading what a caller sent: false fills *err (status, message, field) */

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
