/* SPDX-License-Identifier: Apache-2.0
 *
 * plans_list.h: how each statement that reads tables is executed by tests/unit/plans.c.
 *
 * LOOKUPS: statements with the values of their parameters. What one of them reads must not depend
 * on how many rows lie beside those it returns, so the values pick few rows of many: one session of
 * a tree of thousands, one entry of a long branch. Where all rows of a tree are read, as for the
 * pages of a copy, the tree is a small one. A number is a bigint, a text that begins with \x is
 * bytea.
 *
 * WALKS: statements that read a table, or all rows of one tree, session or user, on purpose.
 */
#ifndef TESTS_UNIT_PLANS_LIST_H
#define TESTS_UNIT_PLANS_LIST_H

/* Keys of entries: of branch 1, of the forks 5 and 6, of tree 2. */
#define K_LONG "16777716"
#define K_LONG_NEXT "16777720"
#define K_FORK "1677805748165"
#define K_FORK_END "1677822525381"
#define K_TREE_2 "33554432"
#define K_TREE_2_END "33554440"
#define SHA "'\\xc4ca4238a0b923820dcc509a6f75849b'"
#define SESSION_VALUES                                                                             \
    "900000,1,'new',1,1,'ann',0,'t',NULL,NULL,NULL,0,'',0,NULL,NULL,0,900000,0,0,9000,0,''"

/* clang-format off */
#define LOOKUPS(X)                                                                                 \
    X(meta_get, "'schema'")                                                                        \
    X(meta_set, "'schema','1'")                                                                    \
    X(meta_del, "'schema'")                                                                        \
    X(max_event, "")                                                                               \
    X(min_event, "")                                                                               \
    X(tree_add, "900000,'new',1,1")                                                                \
    X(tree_id, "1")                                                                                \
    X(tree_by_id, "'t5'")                                                                          \
    X(tree_all, "5,5")                                                                             \
    X(tree_stamp, "1")                                                                             \
    X(tree_root, "1")                                                                              \
    X(tree_del, "5")                                                                               \
    X(tree_sandbox, "1")                                                                           \
    X(tree_sandbox_set, "1,'b2'")                                                                  \
    X(tree_empty, "5,0")                                                                           \
    X(hold_tree, "1")                                                                              \
    X(guard_tree, "1,0")                                                                           \
    X(guard_fork, "1,0,100005,'\\x00'")                                                            \
    X(member_level, "1,'ann'")                                                                     \
    X(member_all, "2")                                                                             \
    X(member_set, "1,'u5',1,1")                                                                    \
    X(member_del, "1,'u5'")                                                                        \
    X(member_clear, "2")                                                                           \
    X(member_copy, "900000,2,1")                                                                   \
    X(member_trees, "'ann',5")                                                                     \
    X(session_by_id, "'f5'")                                                                       \
    X(session_by_no, "1,100005")                                                                   \
    X(session_name, "1,100005")                                                                    \
    X(session_open, "'f5','ann'")                                                                  \
    X(session_brief, "'f5','ann'")                                                                 \
    X(session_add, SESSION_VALUES)                                                                 \
    X(session_set, "1,100005,'t',NULL,NULL,NULL,0,0,0,0,1")                                        \
    X(session_touch, "1,100005,9000000")                                                           \
    X(session_move, "1,100005,1,1,1,1,1,1")                                                        \
    X(session_adk, "1,100005,1")                                                                   \
    X(session_deleted, "1,100005,1,1,1,1")                                                         \
    X(session_purging, "1,100005")                                                                 \
    X(session_tomb, "1,100005")                                                                    \
    X(session_del, "1,100005")                                                                     \
    X(session_rename, "1,100005,'new'")                                                            \
    X(session_title, "1,100005,'new'")                                                             \
    X(session_origin, "1,100005")                                                                   \
    X(session_place, "'f5'")                                                                       \
    X(session_of_tree, "2")                                                                        \
    X(session_heads, "2")                                                                          \
    X(session_states, "2")                                                                         \
    X(session_children, "1,100005")                                                                \
    X(session_has_children, "1,100005")                                                            \
    X(session_newest, "9000000,0,5")                                                               \
    X(session_by_time, "9000000,0,5")                                                              \
    X(session_owned, "'ann',9000000,0,5")                                                          \
    X(session_in_tree, "2,9000000,0,5")                                                            \
    X(session_tagged, "'rare',9000000,0,5")                                                        \
    X(session_of_member, "'few',9000000,0,5")                                                      \
    X(session_dead, "0,9000000,5")                                                                 \
    X(session_expired, "9000000")                                                                  \
    X(session_tomb_leaf, "0,5")                                                                    \
    X(session_archive, "2,1")                                                                      \
    X(session_owner, "2,'bob'")                                                                    \
    X(session_latest, "2")                                                                         \
    X(event_session, "1,100005")                                                                   \
    X(across_runs, "2")                                                                            \
    X(tag_add, "1,100005,'new'")                                                                   \
    X(tag_del, "1,100005,'rare'")                                                                  \
    X(tag_clear, "1,100005")                                                                       \
    X(tag_of, "1,100005")                                                                          \
    X(tag_has, "1,100005,'rare'")                                                                  \
    X(tag_of_tree, "2")                                                                            \
    X(tag_trees, "'rare',5")                                                                       \
    X(user_trees, "'few'")                                                                         \
    X(branch_get, "1,100005")                                                                      \
    X(branch_lineage, "1,100005")                                                                  \
    X(branch_grow, "1,100005,7,'\\x01',1,'\\x00',1,1")                                             \
    X(branch_live, "1,100005,1")                                                                   \
    X(branch_run_off, "1,100005")                                                                  \
    X(branch_shrink, "1,100005,1,'\\x00'")                                                         \
    X(import_branch, "1,100005,1,0,0,1,0,0,0,1,'\\x00',0,0,0,0,0")                                 \
    X(import_sandbox, "'new',2,1")                                                                 \
    X(branch_del, "1,100005")                                                                      \
    X(branch_detach, "1,100005,'\\x00'")                                                           \
    X(branch_group, "1,1,5,1,0")                                                                   \
    X(branch_off, "1,1,5,8")                                                                       \
    X(branch_off_root, "2")                                                                        \
    X(branch_of_tree, "2")                                                                         \
    X(branch_of_session, "1,100005")                                                               \
    X(branch_heirs, "1,100005")                                                                    \
    X(entry_get, "1," K_LONG)                                                                      \
    X(entry_range, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(entry_range_desc, "1," K_LONG "," K_LONG_NEXT)                                               \
    X(entry_segments, "1," K_LONG "," K_LONG_NEXT "," K_FORK "," K_FORK                            \
                      ",1,0,1,0,1,0,1,0,1,0,1,0,1,0,1,0")                                          \
    X(entry_hash, "1," K_LONG)                                                                     \
    X(entry_name, "1," K_LONG)                                                                     \
    X(entry_peer, "1," K_LONG)                                                                     \
    X(entry_kind, "1," K_LONG)                                                                     \
    X(entry_part, "1," K_LONG)                                                                     \
    X(entry_found, "1," K_LONG)                                                                    \
    X(entry_by_id, "1,'e500'")                                                                     \
    X(entry_home, "'e500'")                                                                        \
    X(entry_asked, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(entry_del, "1," K_LONG "," K_LONG_NEXT)                                                      \
    X(entry_sizes, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(entry_scan, "1," K_LONG ",5")                                                                \
    X(statistics_writers, "1," K_LONG "," K_LONG_NEXT ",5")                                        \
    X(body_get, "1," K_LONG)                                                                       \
    X(body_del, "1," K_LONG "," K_LONG_NEXT)                                                       \
    X(body_sizes, "1," K_LONG "," K_LONG_NEXT)                                                     \
    X(usage_get, "1," K_LONG)                                                                      \
    X(usage_last, "1," K_LONG "," K_FORK)                                                          \
    X(usage_by_currency, "1," K_LONG "," K_LONG_NEXT)                                              \
    X(usage_range, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(usage_del, "1," K_LONG "," K_LONG_NEXT)                                                      \
    X(delta_get, "1," K_LONG)                                                                      \
    X(delta_json, "1," K_LONG)                                                                     \
    X(delta_last, "1," K_LONG "," K_FORK)                                                          \
    X(delta_range, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(delta_del, "1," K_LONG "," K_LONG_NEXT)                                                      \
    X(run_last, "1,1,0")                                                                           \
    X(run_at, "1,1,0,500")                                                                         \
    X(run_after, "1,1,0,500")                                                                      \
    X(run_on_branch, "1,100005,0,-1,0," K_FORK_END)                                                \
    X(run_holding, "1,100005,0,0," K_FORK_END)                                                     \
    X(run_all, "1,100005")                                                                         \
    X(run_del, "1,100005")                                                                         \
    X(move_get, "1,1,500")                                                                         \
    X(move_adk_of, "1,100005,0")                                                                   \
    X(move_left, "1,100005,0")                                                                     \
    X(move_page, "1,1,500,5")                                                                      \
    X(move_all, "1,100005")                                                                        \
    X(move_del, "1,100005")                                                                        \
    X(verdict_page, "500,5")                                                                       \
    X(verdict_of_tree, "1,500,5")                                                                  \
    X(verdict_del_tree, "2")                                                                       \
    X(event_get, "500")                                                                            \
    X(event_after, "500,5")                                                                        \
    X(event_texts, "500,5,1")                                                                      \
    X(event_waiting, "")                                                                           \
    X(event_add, "0,1,1,1,1,1,1")                                                                  \
    X(event_member, "0,1,1,1,1,1,1,'ann'")                                                         \
    X(event_del, "3")                                                                              \
    X(attachment_get, "'a5'")                                                                      \
    X(attachment_page, "'a5',5")                                                                   \
    X(attachment_listed, "'a5'")                                                                   \
    X(attachment_del, "'a5'")                                                                      \
    X(attachment_used, "'z5'")                                                                     \
    X(attachment_of_sha, SHA)                                                                      \
    X(attached_add, "1," K_LONG ",'a5'")                                                           \
    X(attached_any, "'a5'")                                                                        \
    X(attached_in, "'a5',1")                                                                       \
    X(attached_has, "1," K_LONG ",'a500'")                                                         \
    X(attached_homes, "'a5'")                                                                      \
    X(attached_home, "'a5'")                                                                       \
    X(attached_heirs, "'a3','few',0")                                                              \
    X(attached_count, "'a5'")                                                                      \
    X(attached_range, "1," K_LONG "," K_LONG_NEXT)                                                 \
    X(attached_del, "1," K_LONG "," K_LONG_NEXT)                                                   \
    X(attachment_release, "1," K_LONG "," K_LONG_NEXT ",1")                                        \
    X(attachment_spent, "3,5")                                                                     \
    X(attachment_spent_sums, "3")                                                                  \
    X(part_get, SHA ",0")                                                                          \
    X(part_sums, SHA)                                                                              \
    X(part_name, SHA ",'\\x0101'")                                                                 \
    X(part_drop, SHA)                                                                              \
    X(part_reap, SHA)                                                                              \
    X(feedback_set, "1," K_LONG ",'ann',1,'',1")                                                   \
    X(feedback_unset, "1," K_LONG ",'ann'")                                                        \
    X(feedback_of, "1," K_LONG)                                                                    \
    X(feedback_mine, "1," K_LONG "," K_LONG_NEXT ",'ann'")                                         \
    X(feedback_del, "1," K_LONG "," K_LONG_NEXT)                                                   \
    X(once_get, "'u5','s'," SHA ",0")                                                              \
    X(once_set, "'u5','s'," SHA ",'\\x00',1,'\\x00',1,1")                                          \
    X(once_del, "3,5")                                                                             \
    X(share_by_secret, SHA)                                                                        \
    X(share_get, "'l5'")                                                                           \
    X(share_of_session, "2,2")                                                                     \
    X(share_count, "2,2,1")                                                                        \
    X(share_del, "'l5'")                                                                           \
    X(share_clear, "2,2")                                                                          \
    X(share_expired_of, "2,2,1")                                                                   \
    X(visit_add, "'ann','l5',1")                                                                   \
    X(visit_get, "'ann','l5'")                                                                     \
    X(visit_of_user, "'ann',5")                                                                    \
    X(token_by_secret, SHA)                                                                        \
    X(token_get, "'k5'")                                                                           \
    X(token_revoke, "'k5',1")                                                                      \
    X(token_used, "'k5',1")                                                                        \
    X(statistics_all, "9000000,0,5")                                                               \
    X(statistics_by_time, "9000000,0,5")                                                           \
    X(statistics_of_tree, "2,5")                                                                   \
    X(turn_add, "'new',1,1,1,NULL,NULL,NULL,NULL,NULL,1")                                          \
    X(turn_get, "'r5'")                                                                            \
    X(turn_on_branch, "1,1")                                                                       \
    X(turn_of_session, "1,1,5,9")                                                                  \
    X(turn_last, "1,1")                                                                            \
    X(turn_all_running, "")                                                                        \
    X(turn_end, "'r3',2,'',1")                                                                     \
    X(turn_clear, "2,2")                                                                           \
    X(place_add, "1,'turn500',0," K_LONG)                                                          \
    X(place_of, "1,'turn500',0")                                                                   \
    X(place_up, "1,'turn500','turn9',5")                                                           \
    X(place_down, "1,'turn500','turn9',5")                                                         \
    X(overlay_last, "1")                                                                           \
    X(overlay_add, "1,900000,0,0,1,0,1,1,0,NULL,NULL,NULL,1,1")                                    \
    X(overlay_get, "1,500")                                                                        \
    X(overlay_set, "1,505")                                                                        \
    X(overlay_of_tree, "2")                                                                        \
    X(overlay_clear, "2")                                                                          \
    X(overlay_prune, "2")                                                                          \
    X(template_add, "'new',1,1,1,1,0,0,'a','[]',0,'ann',1")                                        \
    X(template_get, "'p5'")                                                                        \
    X(template_home, "'p5'")                                                                       \
    X(template_set, "'p5',1,1,0,0,'a','[]',0,1")                                                   \
    X(template_del, "'p5'")                                                                        \
    X(template_clear, "2,2")                                                                       \
    X(template_count, "2,2")                                                                       \
    X(template_on, "2,2,2")                                                                        \
    X(template_all, "'p5',5")                                                                      \
    X(template_of_member, "'few','~',5")                                                           \
    X(template_of_owner, "'few','~',5")                                                            \
    X(template_of_tree, "2")                                                                       \
    X(fill_get, "1,100005")                                                                        \
    X(fill_set, "1,100009,'[]'")                                                                   \
    X(fill_of_tree, "2")                                                                           \
    X(prompt_add, "1,'new',1,1,1,'a','\\x00','\\x00'")                                             \
    X(prompt_of_tree, "2")                                                                         \
    X(prompt_get, "1,'r5'")                                                                        \
    X(place_prune, "2")                                                                            \
    X(place_clear, "2")                                                                            \
    X(task_get, "'k5'")                                                                            \
    X(task_put, "'k5',1,1,'{}',1,1")                                                               \
    X(task_deleted, "'k5',1")                                                                      \
    X(task_take, "'k5'")                                                                           \
    X(task_of_session, "2,2")                                                                      \
    X(push_put, "'p5','a',2,2,'few',10,'\\x00',5")                                                 \
    X(push_of_task, "'p5'")                                                                        \
    X(push_del, "'p5','a'")                                                                        \
    X(push_count, "'few'")                                                                         \
    X(push_shed, "'few',5")                                                                        \
    X(push_due, "5,'','',6,5")                                                                     \
    X(push_claim, "'p5','a',5,6,1")                                                                \
    X(push_settle, "'p5','a',5,6,1,0")                                                             \
    X(push_clear, "2,2")                                                                           \
    X(task_clear, "2,2")                                                                           \
    X(active_of_member, "9000000,0,9000000,5,'few'")                                               \
    X(active_owned, "9000000,0,9000000,5,'few'")                                                   \
    X(remark_page, "'ann',5,5")                                                                    \
    X(held_set, "2,9,0,'ann',1,''")                                                                \
    X(held_del, "1,100005,0")                                                                      \
    X(held_of_tree, "2")                                                                           \
    X(rule_add, "1,'new',1,0,NULL,NULL,0,0,0,NULL,1")                                              \
    X(removed_add, "1,'new','t','r',1,NULL")                                                       \
    X(removed_page, "100,'',5")                                                                    \
    X(turn_in_session, "1,1")                                                                      \
    X(copy_held_read, "5,0,0,6,5")                                                                 \
    X(copy_held_add, "3,900001,0,NULL,1,''")                                                       \
    X(copy_held_cut, "1,100005,0")                                                                 \
    X(copy_rule_read, "'r5',5")                                                                    \
    X(copy_rule_add, "'new2',1,1,0,NULL,NULL,0,0,0,NULL,1")                                        \
    X(copy_rule_cut, "'r5'")                                                                       \
    X(copy_removed_read, "5,'',5")                                                                 \
    X(copy_removed_add, "1,'new2','t','r',1,NULL")                                                 \
    X(copy_removed_cut, "5,'s5'")                                                                  \
    X(sandbox_get, "'b5'")                                                                         \
    X(sandbox_of_owner, "'few'")                                                                   \
    X(sandbox_del, "'b5'")                                                                         \
    X(sandbox_trees, "'b1'")                                                                       \
    X(sandbox_named, "'b1','ann'")                                                                 \
    X(sandbox_named_count, "'b1','ann'")                                                           \
    X(sandbox_user, "'','few'")                                                                    \
    X(sandbox_user_count, "'','few'")                                                              \
    X(copied_range, "1," K_LONG "," K_LONG_NEXT)                                                   \
    X(copied_to, "1," K_LONG)                                                                      \
    X(copied_of, "1," K_LONG)                                                                      \
    X(copied_over, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(copied_has, "1," K_LONG)                                                                     \
    X(copied_link, "1," K_LONG ",0,2,2,2")                                                         \
    X(move_merges, "1,100005")                                                                     \
    X(copied_del, "1," K_LONG "," K_LONG_NEXT)                                                     \
    X(session_merged, "1,100009,1,1")                                                              \
    X(origin_link, "5,5,2,2,NULL")                                                                 \
    X(note_get, "5,5,5")                                                                           \
    X(note_of_session, "5,5")                                                                      \
    X(note_of_tree, "5")                                                                           \
    X(note_hides, "5,5,5")                                                                         \
    X(note_put, "5,5,5,'n',0,1,1,1,1")                                                             \
    X(note_del, "5,5,5")                                                                           \
    X(note_clear, "5,5")                                                                           \
    X(note_due, "5,9000000,5")                                                                     \
    X(note_mark, "5,1")                                                                            \
    X(note_taken, "5")                                                                             \
    X(branch_run_on, "1,100005")                                                                   \
    X(copy_branch_note_read, "5,5,5,9000000,5")                                                    \
    X(copy_branch_note_cut, "5,5,5")                                                               \
    X(origin_get, "5,5")                                                                           \
    X(origin_clear, "5,5")                                                                         \
    X(origin_started, "2,1")                                                                       \
    X(origin_trees, "2")                                                                           \
    X(transfer_get, "'x5'")                                                                        \
    X(transfer_of_tree, "5")                                                                       \
    X(transfer_given, "'few'")                                                                     \
    X(transfer_taken, "'few'")                                                                     \
    X(transfer_del, "'x5'")                                                                        \
    X(transfer_to, "5,'bob'")                                                                      \
    X(transfer_clear, "5")                                                                         \
    X(indexed_set, "1," K_LONG ",'x',1")                                                           \
    X(indexed_get, "1," K_LONG)                                                                    \
    X(indexed_del, "1," K_LONG "," K_LONG_NEXT)                                                    \
    X(fetch_get, "'w5'")                                                                           \
    X(fetch_failed, "'w5'")                                                                        \
    X(fetch_del, "'w5'")                                                                           \
    X(fetch_expired, "1003")                                                                       \
    X(fts_state_get, "")                                                                           \
    X(fts_state_set, "1,1,1,1,1,1,''")                                                             \
    X(fts_del, "1," K_LONG)                                                                        \
    X(fts_span_add, "1,1,1")                                                                       \
    X(fts_tree_add, "900000,1")                                                                    \
    X(fts_tree_get, "5")                                                                           \
    X(fts_trees_of, "2")                                                                           \
    X(fts_find, "'''e500''',0,9000000,'''e500''',5")                                               \
    X(copy_entry_read, "1," K_LONG "," K_FORK ",5")                                                \
    X(copy_entry_cut, "1," K_LONG)                                                                 \
    X(copy_body_read, "1," K_LONG "," K_FORK ",5")                                                 \
    X(copy_body_cut, "1," K_LONG)                                                                  \
    X(copy_usage_read, "1," K_LONG "," K_FORK ",5")                                                \
    X(copy_usage_cut, "1," K_LONG)                                                                 \
    X(copy_delta_read, "1," K_LONG "," K_FORK ",5")                                                \
    X(copy_delta_cut, "1," K_LONG)                                                                 \
    X(copy_attached_read, "1," K_LONG ",'',3,5")                                                   \
    X(copy_attached_cut, "1," K_LONG ",'a500'")                                                    \
    X(copy_feedback_read, "1," K_LONG ",'',3,5")                                                   \
    X(copy_feedback_cut, "1," K_LONG ",'ann'")                                                     \
    X(copy_branch_read, "2,0,0,0,0,3,5")                                                           \
    X(copy_session_read, "2,0,0,3,5")                                                              \
    X(copy_branch_cut, "1,1,5,100005,100005")                                                      \
    X(copy_branch_drop, "1,100005")                                                                \
    X(copy_run_read, "1,1,0,500,3,5")                                                              \
    X(copy_run_cut, "1,1,0,500")                                                                   \
    X(copy_move_read, "1,1,500,3,5")                                                               \
    X(copy_move_cut, "1,1,500")                                                                    \
    X(copy_overlay_read, "5,5,6,5")                                                                \
    X(copy_overlay_add, "1,900001,0,0,1,0,1,1,0,NULL,NULL,NULL,1,1")                               \
    X(copy_overlay_cut, "1,500")                                                                   \
    X(copy_prompt_read, "5,'',6,5")                                                                \
    X(copy_prompt_add, "1,'new2',1,1,1,'a','\\x00','\\x00'")                                       \
    X(copy_prompt_cut, "1,'r5'")                                                                   \
    X(copy_tag_read, "1,1,'x',3,5")                                                                \
    X(copy_tag_add, "1,100005,'new'")                                                              \
    X(copy_tag_cut, "1,100005,'rare'")                                                             \
    X(copy_member_read, "1,'u5',3,5")                                                              \
    X(copy_member_cut, "1,'u5'")                                                                   \
    X(copy_tree_read, "5,9000000,5")                                                               \
    X(copy_tree_add, "900000,'new',1,1,0,''")                                                      \
    X(copy_tree_cut, "5")                                                                          \
    X(copy_session_add, "900000,1,'new',1,0,'ann',0,'t',0,NULL,NULL,NULL,0,'',0,NULL,NULL,0,0,0,"  \
                        "0,0,0,0,0,0,0,0,1,1,0,0,0,0,'',NULL")                                     \
    X(copy_session_cut, "1,1,100005")                                                              \
    X(copy_session_drop, "1,100005")                                                               \
    X(copy_session_free, "'f5',1")                                                                 \
    X(copy_tree_free, "'t5',1")                                                                    \
    X(copy_turn_add, "'new',1,1,1,NULL,NULL,NULL,NULL,1,'',NULL,1,1")                              \
    X(copy_turn_cut, "1,1,5,'r5'")                                                                 \
    X(copy_turn_drop, "1,'r5'")                                                                    \
    X(copy_turn_read, "5,5,5,'',6,5")                                                              \
    X(copy_place_read, "1,'turn500',0,0,3,5")                                                      \
    X(copy_place_cut, "1,'turn500',0," K_LONG)                                                     \
    X(copy_task_read, "5,5,5,'',6,5")                                                              \
    X(copy_task_cut, "1,1,5,'k5'")                                                                 \
    X(copy_task_drop, "1,'k5'")                                                                    \
    X(copy_indexed_read, "1," K_LONG ",3,5")                                                       \
    X(copy_indexed_cut, "1," K_LONG)                                                               \
    X(copy_erased_read, "1," K_LONG ",3,5")                                                        \
    X(copy_erased_cut, "1," K_LONG)                                                                \
    X(erased_get, "1," K_LONG)                                                                     \
    X(erased_add, "1,5,'\\x00',1,NULL,''")                                                         \
    X(erased_del, "1," K_LONG "," K_LONG_NEXT)                                                     \
    X(erased_sums, "2")                                                                            \
    X(erased_of_tree, "2")                                                                         \
    X(entry_flags, "1," K_LONG)                                                                    \
    X(erase_entry, "1," K_LONG)                                                                    \
    X(erase_delta, "1," K_LONG)                                                                    \
    X(erase_snapshot, "1," K_LONG ",'{}',2")                                                       \
    X(erase_overlay, "1,5,0,'',NULL,0")                                                            \
    X(erase_prompt, "1,'r5'")                                                                      \
    X(erase_verdict, "1,500")                                                                      \
    X(erase_task, "'k5','{}'")                                                                     \
    X(erase_turn, "1,'r5'")                                                                        \
    X(copied_leaving, "1," K_LONG "," K_LONG_NEXT)                                                 \
    X(copied_naming, "1," K_LONG)                                                                  \
    X(copied_next, "1," K_LONG)                                                                    \
    X(copied_set, "1," K_LONG ",0,1,1," K_LONG ",1")                                               \
    X(turn_scan, "1," K_LONG "," K_LONG_NEXT)                                                      \
    X(copied_into, "1," K_LONG)                                                                    \
    X(erase_once, "'u5','s'," SHA ",'\\x00'")                                                      \
    X(erase_session, "1,100009,'',NULL,NULL,'',''")                                                \
    X(erase_move, "1,1,5")                                                                         \
    X(erase_origin, "5,5")                                                                         \
    X(erase_note, "1,1,5")                                                                         \
    X(erase_note_bare, "1,1,5")                                                                    \
    X(note_names, "1,1")                                                                           \
    X(erase_template, "'t5','[erased]'")                                                           \
    X(person_entries, "1," K_LONG "," K_LONG_NEXT ",'ann'")                                        \
    X(copy_copied_read, "1," K_LONG ",0,3,5")                                                      \
    X(copy_copied_cut, "1," K_LONG ",0")                                                           \
    X(copy_origin_read, "5,5,9000000,5")                                                           \
    X(copy_origin_cut, "5,5")                                                                      \
    X(copy_transfer_cut, "5,5,'x5'")                                                               \
    X(copy_transfer_drop, "5,'x5'")                                                                \
    X(copy_transfer_free, "'x6',5")                                                                \
    X(copy_transfer_read, "5,5,'x5',6,5")                                                          \
    X(copy_push_read, "'p5','a',5")                                                                \
    X(copy_push_cut, "'p5','a'")                                                                   \
    X(copy_errand_read, "'w5',5")                                                                  \
    X(copy_errand_cut, "'w5'")                                                                     \
    X(copy_remark_read, "5,5")                                                                     \
    X(copy_remark_cut, "5")                                                                        \
    X(copy_share_read, "5,5,'',6,5")                                                               \
    X(copy_share_cut, "1,1,'l5'")                                                                  \
    X(copy_share_drop, "1,'l5'")                                                                   \
    X(copy_template_read, "5,5,'',6,5")                                                            \
    X(copy_template_cut, "1,1,'p5'")                                                               \
    X(copy_template_drop, "1,'p5'")                                                                \
    X(copy_verdict_read, "1,500,3,5")                                                              \
    X(copy_verdict_cut, "1,500")                                                                   \
    X(copy_verdict_free, "500,2")                                                                  \
    X(copy_attachment_read, "'a5',5")                                                              \
    X(copy_attachment_cut, "'a5'")                                                                 \
    X(copy_token_read, "'k5',5")                                                                   \
    X(copy_token_cut, "'k5'")                                                                      \
    X(copy_once_read, "'u5','s','\\x00',5")                                                        \
    X(copy_once_cut, "'u5','s'," SHA)                                                              \
    X(copy_visit_read, "'ann','l5',5")                                                             \
    X(copy_visit_cut, "'ann','l5'")                                                                \
    X(copy_sandbox_read, "'b5',5")                                                                 \
    X(copy_sandbox_cut, "'b5'")                                                                    \
    X(copy_event_read, "500,9000000,5")                                                            \
    X(copy_event_cut, "500")                                                                       \
    X(copy_branches, "2")                                                                          \
    X(copy_trees_since, "500,510")

#define WALKS(X)                                                                                   \
    X(erased_by_time, "the last step of an erasure")                                               \
    X(erased_count, "counts all erased entries")                                                   \
    X(orphan_erased, "fsck compares whole tables")                                                 \
    X(delta_snapshots, "erasing reads the snapshots of a tree")                                    \
    X(overlay_trees_of, "erasing a user reads whole tables")                                       \
    X(turn_errors, "erasing reads all turns of a session")                                         \
    X(turn_names, "erasing reads the names of all turns of a tree")                                \
    X(once_scopes, "erasing looks through all kept answers")                                       \
    X(move_reasons, "erasing reads all moves of a session")                                        \
    X(turn_in_tree, "erasing looks for running turns, which are few")                              \
    X(owner_sessions, "erasing a user reads all sessions of the user")                             \
    X(author_entries, "erasing a user reads whole tables")                                         \
    X(erase_uploads, "erasing a user reads whole tables")                                          \
    X(erasures, "notes in meta, which are few")                                                    \
    X(erase_member_user_id, "erasing a user reads whole tables")                                   \
    X(erase_session_owner, "erasing a user reads whole tables")                                    \
    X(erase_session_by_id, "erasing a user reads whole tables")                                    \
    X(erase_move_who, "erasing a user reads whole tables")                                         \
    X(erase_verdict_who, "erasing a user reads whole tables")                                      \
    X(erase_event_who, "erasing a user reads whole tables")                                        \
    X(erase_once_by, "erasing a user reads whole tables")                                          \
    X(erase_once_user_id, "erasing a user reads whole tables")                                     \
    X(erase_share_who, "erasing a user reads whole tables")                                        \
    X(erase_token_user_id, "erasing a user reads whole tables")                                    \
    X(erase_attachment_owner, "erasing a user reads whole tables")                                 \
    X(erase_feedback_user_id, "erasing a user reads whole tables")                                 \
    X(erase_turn_who, "erasing a user reads whole tables")                                         \
    X(erase_remark_user_id, "erasing a user reads whole tables")                                   \
    X(erase_visit_user_id, "erasing a user reads whole tables")                                    \
    X(erase_transfer_giver, "erasing a user reads whole tables")                                   \
    X(erase_transfer_taker, "erasing a user reads whole tables")                                   \
    X(erase_push_owner, "erasing a user reads whole tables")                                       \
    X(erase_errand_owner, "erasing a user reads whole tables")                                     \
    X(erase_sandbox_owner, "erasing a user reads whole tables")                                    \
    X(erase_overlay_who, "erasing a user reads whole tables")                                      \
    X(erase_held_who, "erasing a user reads whole tables")                                         \
    X(erase_rule_who, "erasing a user reads whole tables")                                         \
    X(erase_removed_who, "erasing a user reads whole tables")                                      \
    X(erase_template_who, "erasing a user reads whole tables")                                     \
    X(erase_erased_who, "erasing a user reads whole tables")                                       \
    X(session_counts, "counts all sessions")                                                       \
    X(session_count_deleted, "counts deleted sessions")                                            \
    X(tree_count, "counts all trees")                                                              \
    X(branch_count, "counts all branches and entries")                                             \
    X(tag_sessions, "lists all tags")                                                              \
    X(attachment_sums, "adds up all attachments")                                                  \
    X(attachment_all, "fsck compares all attachments with their files")                            \
    X(part_orphans, "gc, a page of all parts at a time")                                           \
    X(share_expired, "gc, once a run")                                                             \
    X(visit_prune, "gc, once a run")                                                               \
    X(session_any, "gc, for each tree that it has taken sessions from")                            \
    X(token_all, "lists all tokens")                                                               \
    X(held_all, "lists all holds")                                                                 \
    X(rule_all, "lists all rules, of which there are few")                                         \
    X(rule_clear, "replaces all rules")                                                            \
    X(orphan_held, "fsck compares whole tables")                                                   \
    X(odd_held, "fsck reads whole tables")                                                         \
    X(odd_rule, "fsck reads whole tables")                                                         \
    X(sandbox_all, "lists all sandboxes")                                                          \
    X(sandbox_none, "lists all trees outside of sandboxes, for administrators")                    \
    X(sandbox_none_count, "the same, counted")                                                     \
    X(active_all, "lists all sessions by their last activity, for administrators")                 \
    X(branch_home, "by a number alone: an index for it would cost every fork")                     \
    X(indexed_lacking, "an indexing client reads all entries, a page at a time")                   \
    X(copy_any, "once, when a copy begins")                                                        \
    X(copy_entries_upto, "the progress of a copy")                                                 \
    X(copy_counters, "once, when a copy ends")                                                     \
    X(fts_span_find, "reads a row for each 1024 documents")                                        \
    X(fts_clear, "makes the search index anew")                                                    \
    X(fts_clear_span, "makes the search index anew")                                               \
    X(fts_clear_tree, "makes the search index anew")                                               \
    X(fts_bytes, "measures the search index")                                                      \
    X(odd_member, "fsck reads whole tables")                                                       \
    X(odd_feedback, "fsck reads whole tables")                                                     \
    X(odd_share, "fsck reads whole tables")                                                        \
    X(odd_token, "fsck reads whole tables")                                                        \
    X(odd_event, "fsck reads whole tables")                                                        \
    X(odd_once, "fsck reads whole tables")                                                         \
    X(odd_attachment, "fsck reads whole tables")                                                   \
    X(orphan_attached, "fsck compares whole tables")                                               \
    X(orphan_reference, "fsck compares whole tables")                                              \
    X(orphan_feedback, "fsck compares whole tables")                                               \
    X(orphan_session, "fsck compares whole tables")                                                \
    X(orphan_branch, "fsck compares whole tables")                                                 \
    X(orphan_entry, "fsck compares whole tables")                                                  \
    X(orphan_body, "fsck compares whole tables")                                                   \
    X(orphan_usage, "fsck compares whole tables")                                                  \
    X(orphan_delta, "fsck compares whole tables")                                                  \
    X(orphan_run, "fsck compares whole tables")                                                    \
    X(orphan_move, "fsck compares whole tables")                                                   \
    X(orphan_tag, "fsck compares whole tables")                                                    \
    X(orphan_member, "fsck compares whole tables")                                                 \
    X(orphan_verdict, "fsck compares whole tables")                                                \
    X(orphan_share, "fsck compares whole tables")                                                  \
    X(orphan_overlay, "fsck compares whole tables")                                                \
    X(orphan_template, "fsck compares whole tables")                                               \
    X(orphan_prompt, "fsck compares whole tables")                                                 \
    X(prompt_clear, "gc removes all prompts of a session")                                         \
    X(prompt_prune, "gc removes all prompts of pruned branches")                                   \
    X(orphan_turn, "fsck compares whole tables")                                                   \
    X(orphan_push, "fsck compares whole tables")                                                   \
    X(orphan_task, "fsck compares whole tables")                                                   \
    X(orphan_copied, "fsck compares whole tables")                                                 \
    X(odd_copied, "fsck reads whole tables")                                                       \
    X(orphan_note, "fsck compares whole tables")                                                   \
    X(odd_note, "fsck reads whole tables")                                                         \
    X(orphan_origin, "fsck compares whole tables")                                                 \
    X(orphan_transfer, "fsck compares whole tables")                                               \
    X(orphan_indexed, "fsck compares whole tables")

/* Statements of SQLite alone: numbers come from the table of counters on PostgreSQL, and the search
 * index has other tables there. */
#define SQLITE_ONLY(X)                                                                             \
    X(max_tree) X(max_session) X(max_branch) X(max_verdict) X(max_remark) X(fts_doc_by_key)        \
    X(fts_doc_add) X(fts_doc_del) X(fts_given_add) X(fts_given_get) X(fts_given_del)               \
    X(fts_clear_doc) X(fts_clear_given) X(fts_clear_owner) X(fts_owner_add) X(fts_owner_get)

/* Statements that are put together elsewhere: one operation or many in one (store/postgres/batch.c), and
 * the numbering of events. Name, a part of the text that no other has, types, values. */
#define OTHERS                                                                                     \
    {"whole_append", "UPDATE branch b SET len=$5",                                                 \
     "(bigint,bigint,bigint,bigint,bigint,bytea,bigint,bytea,bigint,bigint,bigint,bigint,"         \
     "text,bytea,bigint,text,text,text,text,text,bigint,text,text,text,bigint,bigint,bigint,"      \
     "bigint,bigint,bigint,bigint,bigint,bigint)",                                                 \
     "1,0,1,100005,7,'\\x01',1,'\\x00',1,1,900000,1,'new','\\x00',1,NULL,NULL,NULL,NULL,"          \
     "NULL,1,NULL,NULL,NULL,0,0,0,1,1,1,1,1,1"},                                                   \
    {"whole_fork", "SELECT $46,$47",                                                               \
     "(bigint,bigint,bigint,bytea,bigint,bigint,bigint,bigint,bigint,bigint,bigint,bigint,"        \
     "bigint,bigint,bigint,bigint,bigint,bytea,bigint,bigint,bigint,bigint,bigint,text,bigint,bigint,text,"  \
     "bigint,text,text,text,text,bigint,text,bigint,text,text,bigint,bigint,bigint,bigint,bigint,"      \
     "bigint,text,bigint,bigint,bigint,bigint,bigint,bigint,bigint)",                              \
     "1,0,100005,'\\x00',900000,1,900000,0,1,5,1,1,0,0,0,0,1,'\\x00',0,0,0,900000,1,'new',1,1,"      \
     "'ann',0,'t',NULL,NULL,NULL,0,'',0,NULL,NULL,0,900000,0,0,1,0,'',0,1,1,1,1,1,1"},             \
    {"many_stamp", "put_stamp",                                                                    \
     "(put_stamp[],bigint)",                                                                       \
     "ARRAY[ROW(1,0),ROW(5,0)]::put_stamp[],2"},                                                   \
    {"many_head", "put_head",                                                                      \
     "(put_head[],bigint)",                                                                        \
     "ARRAY[ROW(1,0,100005,'\\x00'),ROW(5,0,5,'\\x00')]::put_head[],2"},                           \
    {"many_growth", "put_growth",                                                                  \
     "(put_growth[],bigint)",                                                                      \
     "ARRAY[ROW(1,100005,7,'\\x01',1,'\\x00',1,1),ROW(5,5,7,'\\x01',1,'\\x00',1,"                  \
     "1)]::put_growth[],2"},                                                                       \
    {"many_branch", "put_branch",                                                                  \
     "(put_branch[])",                                                                             \
     "ARRAY[ROW(900000,1,1,0,1,5,1,1,0,0,0,0,1,'\\x00',0,0,0)]::put_branch[]"},                      \
    {"many_session", "put_session",                                                                \
     "(put_session[])",                                                                            \
     "ARRAY[ROW(900000,1,'new',1,1,'ann',0,'t',NULL,NULL,NULL,0,'',0,NULL,NULL,0,1,0,0,1,0,"       \
     "'')]::put_session[]"},                                                                       \
    {"many_entry", "put_entry",                                                                    \
     "(put_entry[])",                                                                              \
     "ARRAY[ROW(900000,1,'new','\\x00',1,NULL,NULL,NULL,NULL,NULL,1,NULL,NULL,NULL,0,"             \
     "0)]::put_entry[]"},                                                                          \
    {"many_event", "put_event",                                                                    \
     "(put_event[])",                                                                              \
     "ARRAY[ROW(0,1,1,1,1,1,1)]::put_event[]"},                                                    \
    {"events_move", "FROM gone g CROSS JOIN last",                                                 \
     "(bigint)",                                                                                   \
     "5"},
/* clang-format on */

#endif
