/* SPDX-License-Identifier: Apache-2.0
 *
 * via.h: with OVER_HTTP the driver's calls as a user go through a server in this process and the
 * HTTP client; those of the embedding program, and upkeep, go to the library as they are.
 *
 * A `ramet` and a `ramet_call` are then via.c's own; each call is handed to the table that it was
 * made for.
 */
#ifndef VIA_H
#define VIA_H

#include "ramet.h"
#include "ramet/memory.h"
#include "ramet/merge.h"
#include "ramet/retention.h"
#include "ramet/templates.h"

#ifndef OVER_HTTP
enum { OVER_WIRE = 0 };
#define append_at_home ramet_append
#else
enum { OVER_WIRE = 1 };

#include "client/client.h"

typedef struct via_call {
    const ramet_calls *t;
    ramet_call *c;
    ramet_call *local; /* the same user at the library itself */
    bool at_home;      /* the last call was there */
} via_call;

ramet_status via_open(const char *where, const ramet_options *opt, ramet **out, ramet_error *err);
void via_close(ramet *r);
ramet_call *via_call_new(ramet *r, const char *user, const char *client);
void via_call_reset(ramet_call *c);
void via_call_free(ramet_call *c);
const ramet_error *via_call_error(const ramet_call *c);
ramet_status via_stream_open(ramet_call *c, const char *session, const ramet_read_in *in,
                             ramet_stream **out);
ramet_status via_stream_next(ramet_stream *s, const ramet_entry **out);
int64_t via_stream_length(const ramet_stream *s);
void via_stream_close(ramet_stream *s);
via_call *via_of(ramet_call *c);   /* for a call over the wire */
via_call *via_home(ramet_call *c); /* for one that stays at home */

#define ramet_open via_open
#define ramet_close via_close
#define ramet_call_new via_call_new
#define ramet_call_reset via_call_reset
#define ramet_call_free via_call_free
#define ramet_call_error via_call_error
#define ramet_stream_open via_stream_open
#define ramet_stream_next via_stream_next
#define ramet_stream_length via_stream_length
#define ramet_stream_close via_stream_close

#define VIA(call, name, ...) (via_of(call)->t->name(((via_call *)(void *)(call))->c, ##__VA_ARGS__))
#define HOME(call, name, ...) (client_local.name(via_home(call)->local, ##__VA_ARGS__))

#define ramet_session_create(c, in, out)                                                           \
    ((in)->owner ? HOME(c, ramet_session_create, in, out) : VIA(c, ramet_session_create, in, out))
#define ramet_session_get(c, ...) VIA(c, ramet_session_get, __VA_ARGS__)
#define ramet_session_find(c, ...) VIA(c, ramet_session_find, __VA_ARGS__)
#define ramet_session_update(c, ...) VIA(c, ramet_session_update, __VA_ARGS__)
#define ramet_session_promote(c, ...) VIA(c, ramet_session_promote, __VA_ARGS__)
#define ramet_session_delete(c, ...) VIA(c, ramet_session_delete, __VA_ARGS__)
#define ramet_session_restore(c, ...) VIA(c, ramet_session_restore, __VA_ARGS__)
#define ramet_tags_set(c, ...) VIA(c, ramet_tags_set, __VA_ARGS__)
#define ramet_tags_add(c, ...) VIA(c, ramet_tags_add, __VA_ARGS__)
/* The API takes tags off one by one: several at once, and their limit, are the library's. */
#define ramet_tags_remove(c, id, tags, n, out)                                                     \
    ((n) == 1 ? VIA(c, ramet_tags_remove, id, tags, n, out)                                        \
              : HOME(c, ramet_tags_remove, id, tags, n, out))
#define ramet_tags_all(c, ...) VIA(c, ramet_tags_all, __VA_ARGS__)
#define ramet_append(c, ...) VIA(c, ramet_append, __VA_ARGS__)
#define ramet_read(c, ...) VIA(c, ramet_read, __VA_ARGS__)
#define ramet_entry_get(c, ...) VIA(c, ramet_entry_get, __VA_ARGS__)
#define ramet_record(c, ...) VIA(c, ramet_record, __VA_ARGS__)
#define ramet_fork(c, ...) VIA(c, ramet_fork, __VA_ARGS__)
/* The API wants a place to rewind to. */
#define ramet_rewind(c, id, in, ...)                                                               \
    ((in)->at.entry_id ? VIA(c, ramet_rewind, id, in, __VA_ARGS__)                                 \
                       : HOME(c, ramet_rewind, id, in, __VA_ARGS__))
#define ramet_undo(c, ...) VIA(c, ramet_undo, __VA_ARGS__)
#define ramet_redo(c, ...) VIA(c, ramet_redo, __VA_ARGS__)
#define ramet_switch(c, ...) VIA(c, ramet_switch, __VA_ARGS__)
#define ramet_overlay_set(c, ...) VIA(c, ramet_overlay_set, __VA_ARGS__)
#define ramet_overlay_remove(c, ...) VIA(c, ramet_overlay_remove, __VA_ARGS__)
#define ramet_template_add(c, ...) VIA(c, ramet_template_add, __VA_ARGS__)
#define ramet_template_update(c, ...) VIA(c, ramet_template_update, __VA_ARGS__)
#define ramet_template_remove(c, ...) VIA(c, ramet_template_remove, __VA_ARGS__)
#define ramet_templates(c, ...) VIA(c, ramet_templates, __VA_ARGS__)
#define ramet_template_chat(c, ...) VIA(c, ramet_template_chat, __VA_ARGS__)
#define ramet_edit(c, ...) VIA(c, ramet_edit, __VA_ARGS__)
#define ramet_regenerate(c, ...) VIA(c, ramet_regenerate, __VA_ARGS__)
#define ramet_sync(c, ...) VIA(c, ramet_sync, __VA_ARGS__)
#define ramet_merge(c, ...) VIA(c, ramet_merge, __VA_ARGS__)
#define ramet_origins(c, ...) VIA(c, ramet_origins, __VA_ARGS__)
#define ramet_destinations(c, ...) VIA(c, ramet_destinations, __VA_ARGS__)
#define ramet_head_log(c, ...) VIA(c, ramet_head_log, __VA_ARGS__)
#define ramet_versions(c, ...) VIA(c, ramet_versions, __VA_ARGS__)
#define ramet_branches(c, ...) VIA(c, ramet_branches, __VA_ARGS__)
#define ramet_branches_pruned(c, ...) VIA(c, ramet_branches_pruned, __VA_ARGS__)
#define ramet_branch_update(c, ...) VIA(c, ramet_branch_update, __VA_ARGS__)
#define ramet_suggest(c, ...) VIA(c, ramet_suggest, __VA_ARGS__)
#define ramet_prune(c, ...) VIA(c, ramet_prune, __VA_ARGS__)
#define ramet_branch_restore(c, ...) VIA(c, ramet_branch_restore, __VA_ARGS__)
#define ramet_ancestry(c, ...) VIA(c, ramet_ancestry, __VA_ARGS__)
#define ramet_children(c, ...) VIA(c, ramet_children, __VA_ARGS__)
#define ramet_tree(c, ...) VIA(c, ramet_tree, __VA_ARGS__)
#define ramet_fork_points(c, ...) VIA(c, ramet_fork_points, __VA_ARGS__)
#define ramet_compare(c, ...) VIA(c, ramet_compare, __VA_ARGS__)
#define ramet_verdict_add(c, ...) VIA(c, ramet_verdict_add, __VA_ARGS__)
#define ramet_verdicts(c, ...) VIA(c, ramet_verdicts, __VA_ARGS__)
#define ramet_search(c, ...) VIA(c, ramet_search, __VA_ARGS__)
#define ramet_state(c, ...) VIA(c, ramet_state, __VA_ARGS__)
#define ramet_usage_get(c, ...) VIA(c, ramet_usage_get, __VA_ARGS__)
#define ramet_members(c, ...) VIA(c, ramet_members, __VA_ARGS__)
#define ramet_member_set(c, ...) VIA(c, ramet_member_set, __VA_ARGS__)
#define ramet_member_remove(c, ...) VIA(c, ramet_member_remove, __VA_ARGS__)
#define ramet_search_update(c, ...) HOME(c, ramet_search_update, __VA_ARGS__)
#define ramet_fsck(c, ...) HOME(c, ramet_fsck, __VA_ARGS__)
#define ramet_hold_set(c, ...) VIA(c, ramet_hold_set, __VA_ARGS__)
#define ramet_hold_release(c, ...) VIA(c, ramet_hold_release, __VA_ARGS__)
#define ramet_erase(c, ...) VIA(c, ramet_erase, __VA_ARGS__)
#define ramet_erasures(c, ...) VIA(c, ramet_erasures, __VA_ARGS__)
#define ramet_retention_set(c, ...) HOME(c, ramet_retention_set, __VA_ARGS__)
#define ramet_retention_run(c, ...) HOME(c, ramet_retention_run, __VA_ARGS__)
#define ramet_gc(c, ...) HOME(c, ramet_gc, __VA_ARGS__)
#define ramet_backup(c, ...) HOME(c, ramet_backup, __VA_ARGS__)
#define ramet_copy(c, ...) (ramet_copy)(via_home(c)->local, __VA_ARGS__)
#define ramet_export(call, in, ...)                                                                \
    client_export(via_of(call)->t, via_of(call)->c, in, false, __VA_ARGS__)
/* What the client has no call for. */
#define append_at_home(c, ...) (ramet_append)(via_home(c)->local, __VA_ARGS__)
#define ramet_archive(c, ...) (ramet_archive)(via_home(c)->local, __VA_ARGS__)
#define ramet_transfer_add(c, ...) (ramet_transfer_add)(via_home(c)->local, __VA_ARGS__)
#define ramet_transfer_accept(c, id) (ramet_transfer_accept)(via_home(c)->local, id)
#define ramet_transfer_delete(c, id) (ramet_transfer_delete)(via_home(c)->local, id)
#define ramet_transfers(c, ...) (ramet_transfers)(via_home(c)->local, __VA_ARGS__)
#define ramet_stat(c, ...) HOME(c, ramet_stat, __VA_ARGS__)

#endif
#endif
