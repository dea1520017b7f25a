/* SPDX-License-Identifier: Apache-2.0
 *
 * native_face.h: shared by the files of the native API. Its table is in routes.c, its JSON shapes
 * in src/form, its handlers in one file per noun. A handler translates: it reads the request, calls
 * the library once, and sets how the answer is written.
 */
#ifndef FACE_NATIVE_NATIVE_FACE_H
#define FACE_NATIVE_NATIVE_FACE_H

#include "face/kit/face.h"
#include "form/native.h"
#include "face/kit/pieces.h"

extern const identity_rule native_identity;

/* ---- reading parameters that several handlers share; false: the answer is filled in */

/* A list of EntryIn. */
bool api_entries(request *q, const char *name, ramet_entry_in **out, size_t *n);
/* An object with entry_id and side; missing: entry_id NULL. */
void api_at(request *q, const char *name, ramet_at *out);
/* *out is NULL if it is missing. */
bool api_agent(request *q, ramet_agent *room, const ramet_agent **out);
/* "b17" in a parameter or a member; missing: 0. */
bool api_branch(request *q, const char *name, const char *text, int64_t *out);
/* A member of an object (the body is q->json.nodes), in seconds with a fraction, as microseconds;
 * missing: 0. Zero and less are refused. */
bool api_life(request *q, const json_node *obj, const char *name, int64_t *us);
/* The number in the cursor of a numbered list; missing: 0. */
bool api_cursor(request *q, int64_t *out);
int api_limit(const request *q); /* 0: missing */
ramet_log api_log(const char *word);
/* SESSION or SESSION@BRANCH: split at the last @, and only if a branch of that session follows. */
void api_side(request *q, const char *text, ramet_side_in *out);

/* ---- writing: sets how the answer of the next call is written, see face_render() */

/* Renders a struct by its schema. */
void api_show(request *q, const form_schema *schema, const void *value);
/* The same for a call that returns a pointer to the struct: `pointer` is where it will be stored
 * (`ramet_share *out; api_show_at(q, &form_share, &out)`). */
void api_show_at(request *q, const form_schema *schema, const void *pointer);
/* The items of a form_list, for a call that fills them in. */
#define ITEMS(list, type) ((type **)&(list).items)
/* The cursor after the item numbered `last`; NULL if `last` is 0 or there are no more. */
const char *api_next_cursor(request *q, int64_t last, bool more);
/* Answers with a list of sessions, in pieces if it is long. */
void api_sessions_answer(request *q, const form_list *list);

extern const live_feed native_feed; /* native/live_feed.c */
/* Writes `running` of a session: `arg` is the server's turns. */
void native_running(void *arg, const ramet_session *s, json_writer *w);

/* Called when the head has moved (the write has just been answered): ends turns on the branch that
 * it left, unless `keep_running` was sent. */
void api_moved(request *q, const char *session);
/* Reads a fork from `obj`, the body or its member `fork`; without expected_head. */
bool api_fork_in(request *q, const json_node *obj, ramet_fork_in *in);

/* ---- calls of administrators, with the rights of the program; see store.c */

/* The call has no user, but an idempotency key still belongs to the user who sent it. */
ramet_call *api_program_call(request *q);
/* For work that is not one commit: NULL if its key has been answered already. */
ramet_call *api_work_call(request *q);
void api_work_answer(request *q, ramet_status st);

/* ---- handlers, by the file they are in */
typedef void api_handler(request *q);
api_handler api_sessions_list, api_session_create, api_session_get, api_session_patch,
    api_session_delete, api_session_restore, api_session_promote;
api_handler api_entries_list, api_entries_append, api_entry_get, api_entry_edit,
    api_entry_regenerate, api_record_get, api_feedback_put, api_feedback_list;
api_handler api_fork_create, api_rewind_to, api_rewind_files, api_move_undo, api_move_redo,
    api_move_switch, api_move_sync, api_moves_list, api_branches_list, api_branch_patch,
    api_branch_prune, api_branch_restore;
api_handler api_merge_post, api_origins_list, api_destinations_list;
api_handler api_overlay_post, api_overlays_list, api_overlay_delete;
api_handler api_template_post, api_templates_list, api_template_get, api_template_patch,
    api_template_delete, api_template_chat, api_template_values;
api_handler api_ancestry_list, api_children_list, api_tree_list, api_tree_branches_list,
    api_fork_points_list, api_state_get, api_usage_get, api_suggestions_get;
api_handler api_tags_put, api_tags_post, api_tag_delete, api_tags_list, api_members_list,
    api_member_put, api_member_delete;
api_handler api_compare_get, api_verdict_add, api_verdicts_list, api_search_get;
api_handler api_attachment_post, api_attachment_get, api_attachment_info, api_attachment_delete;
api_handler api_sandbox_post, api_sandboxes_list, api_sandbox_delete;
api_handler api_hold_put, api_hold_delete, api_hold_get, api_holds_list, api_retention_get,
    api_retention_put, api_retention_run, api_retention_log, api_retention_explain;
api_handler api_share_post, api_shares_list, api_share_delete, api_share_open;
api_handler api_events_open, api_me_get, api_agents_list, api_agents_nearby, api_agents_use,
    api_statistics_get;
api_handler api_erase_post, api_erasures_list, api_store_stats, api_store_gc, api_store_fsck,
    api_store_index, api_store_backup, api_token_post, api_tokens_list, api_token_delete;
api_handler api_message_post, api_turn_cancel, api_turns_list, api_turn_get, api_turn_find,
    api_turn_answer, api_fan_out, api_edit_post, api_regenerate_post, api_prompt_get;
api_handler api_export_session, api_export_all, api_import_post, api_import_offset;
bool api_attachment_sink(request *q, const void *bytes, size_t n);
bool api_import_sink(request *q, const void *bytes, size_t n);

/* ---- long pages, in pieces (face/native/long_page.c) */

/* Continues a page that was read up to PIECE_BYTES. False: it is complete. True: the beginning is
 * written, and q->more writes the rest, or the answer is an error. */
bool entries_begin(request *q, const ramet_read_in *in, const ramet_page *page);
bool record_begin(request *q, ramet_log log, int64_t from, const ramet_page *page, int64_t total);

#endif
