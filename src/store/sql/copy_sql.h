/* SPDX-License-Identifier: Apache-2.0
 *
 * copy_sql.h: every table of facts with all its columns, and the statements that copy its rows from
 * one store to another (core/upkeep/copy.h).
 *
 * A table is read in the order of a key, a page at a time, from after the key of the last row.
 * Texts are ordered by their bytes on every engine. `read` returns a page, `add` writes a row,
 * `cut` removes the row with that key; `drop`, where part of the key may change, the row with that
 * number or id.
 */
#ifndef STORE_SQL_COPY_SQL_H
#define STORE_SQL_COPY_SQL_H

/* One table or statement per row: keep the layout. */
/* clang-format off */

/* Columns: F the first, C the others: (number, name, type); i: integer, t: text, b: bytes. */
#define COPY_COLS_entry(F, C)                                                                      \
    F(1, k, 'i') C(2, tree, 'i') C(3, id, 't') C(4, hash, 'b') C(5, role, 'i')                     \
    C(6, channel, 't') C(7, format, 't') C(8, turn_id, 't') C(9, author, 't')                      \
    C(10, client, 't') C(11, created, 'i') C(12, text, 't') C(13, parts, 't') C(14, body, 't')     \
    C(15, flags, 'i') C(16, peer, 'i') C(17, key_id, 'i')
#define COPY_COLS_body(F, C)                                                                       \
    F(1, k, 'i') C(2, tree, 'i') C(3, packed, 'b') C(4, key_id, 'i')
#define COPY_COLS_usage(F, C)                                                                      \
    F(1, k, 'i') C(2, tree, 'i') C(3, input, 'i') C(4, output, 'i') C(5, cached, 'i')              \
    C(6, cost, 'i') C(7, currency, 't') C(8, n, 'i') C(9, cum_input, 'i')                          \
    C(10, cum_output, 'i') C(11, cum_cached, 'i') C(12, cum_cost, 'i') C(13, cum_currency, 't')    \
    C(14, mixed, 'i')
#define COPY_COLS_delta(F, C)                                                                      \
    F(1, k, 'i') C(2, tree, 'i') C(3, prev, 'i') C(4, weight, 'i') C(5, snap_len, 'i')             \
    C(6, json, 't') C(7, snap, 't')
#define COPY_COLS_attached(F, C)                                                                   \
    F(1, tree, 'i') C(2, k, 'i') C(3, attachment, 't')
#define COPY_COLS_feedback(F, C)                                                                   \
    F(1, tree, 'i') C(2, k, 'i') C(3, user_id, 't') C(4, value, 'i') C(5, comment, 't')            \
    C(6, at, 'i')
#define COPY_COLS_branch(F, C)                                                                     \
    F(1, id, 'i') C(2, tree, 'i') C(3, session, 'i') C(4, log, 'i') C(5, parent, 'i')              \
    C(6, base, 'i') C(7, depth, 'i') C(8, jump, 'i') C(9, jump_base, 'i') C(10, over, 'i')         \
    C(11, delta, 'i') C(12, type, 'i') C(13, created, 'i') C(14, len, 'i') C(15, tip, 'b')         \
    C(16, live, 'i') C(17, touched, 'i') C(18, run, 'i') C(19, overlay, 'i') C(20, filled, 'i')  \
    C(21, seal, 'i')
#define COPY_COLS_overlay(F, C)                                                                    \
    F(1, tree, 'i') C(2, no, 'i') C(3, prev, 'i') C(4, prev2, 'i') C(5, size, 'i')                 \
    C(6, bytes, 'i') C(7, action, 'i') C(8, k, 'i') C(9, removes, 'i') C(10, text, 't')            \
    C(11, ties, 't') C(12, who, 't') C(13, at, 'i') C(14, seal, 'i')
#define COPY_COLS_prompt(F, C)                                                                     \
    F(1, tree, 'i') C(2, turn, 't') C(3, session, 'i') C(4, branch, 'i') C(5, len, 'i')            \
    C(6, agent, 't') C(7, digest, 'b') C(8, packed, 'b')
#define COPY_COLS_run(F, C)                                                                        \
    F(1, tree, 'i') C(2, session, 'i') C(3, log, 'i') C(4, rec, 'i') C(5, k, 'i')
#define COPY_COLS_move(F, C)                                                                       \
    F(1, tree, 'i') C(2, session, 'i') C(3, seq, 'i') C(4, kind, 'i') C(5, f, 'i') C(6, t, 'i')    \
    C(7, fa, 'i') C(8, ta, 'i') C(9, undo_under, 'i') C(10, redo_under, 'i') C(11, at, 'i')        \
    C(12, who, 't') C(13, why, 't')
#define COPY_COLS_branch_note(F, C)                                                                \
    F(1, tree, 'i') C(2, session, 'i') C(3, branch, 'i') C(4, name, 't') C(5, favourite, 'i')      \
    C(6, state, 'i') C(7, pruned, 'i') C(8, prune_op, 'i') C(9, keep, 'i')
#define COPY_COLS_tag(F, C)                                                                        \
    F(1, tree, 'i') C(2, session, 'i') C(3, tag, 't')
#define COPY_COLS_member(F, C)                                                                     \
    F(1, tree, 'i') C(2, user_id, 't') C(3, level, 'i') C(4, created, 'i')
#define COPY_COLS_tree(F, C)                                                                       \
    F(1, tree, 'i') C(2, id, 't') C(3, root, 'i') C(4, created, 'i') C(5, stamp, 'i')              \
    C(6, sandbox, 't')
#define COPY_COLS_session(F, C)                                                                    \
    F(1, no, 'i') C(2, tree, 'i') C(3, id, 't') C(4, parent, 'i') C(5, depth, 'i')                 \
    C(6, owner, 't') C(7, visibility, 'i') C(8, title, 't') C(9, title_key, 'i')                   \
    C(10, agent, 't') C(11, agent_config, 't') C(12, metadata, 't') C(13, type, 'i')               \
    C(14, reason, 't') C(15, by_kind, 'i') C(16, by_id, 't') C(17, fork_entry, 't')                \
    C(18, fork_side, 'i') C(19, merged_into, 'i') C(20, first, 'i') C(21, first_adk, 'i')          \
    C(22, head, 'i') C(23, adk, 'i') C(24, undo, 'i') C(25, redo, 'i') C(26, moves, 'i')           \
    C(27, archived, 'i') C(28, expires, 'i') C(29, created, 'i') C(30, updated, 'i')               \
    C(31, deleted, 'i') C(32, delete_op, 'i') C(33, purging, 'i') C(34, seal, 'i')                 \
    C(35, from_title, 't') C(36, fill, 't')
#define COPY_COLS_turn(F, C)                                                                       \
    F(1, id, 't') C(2, tree, 'i') C(3, session, 'i') C(4, branch, 'i') C(5, agent, 't')            \
    C(6, entry, 't') C(7, grp, 't') C(8, who, 't') C(9, status, 'i') C(10, error, 't')             \
    C(11, host, 't') C(12, started, 'i') C(13, ended, 'i')
#define COPY_COLS_share(F, C)                                                                      \
    F(1, id, 't') C(2, tree, 'i') C(3, session, 'i') C(4, secret, 'b') C(5, write, 'i')            \
    C(6, who, 't') C(7, created, 'i') C(8, expires, 'i')
#define COPY_COLS_template(F, C)                                                                   \
    F(1, id, 't') C(2, tree, 'i') C(3, session, 'i') C(4, branch, 'i') C(5, len, 'i')              \
    C(6, adk_branch, 'i') C(7, adk_len, 'i') C(8, name, 't') C(9, placeholders, 't')               \
    C(10, most, 'i') C(11, who, 't') C(12, created, 'i') C(13, updated, 'i')
#define COPY_COLS_verdict(F, C)                                                                    \
    F(1, no, 'i') C(2, tree, 'i') C(3, sides, 't') C(4, winner, 'i') C(5, reason, 't')             \
    C(6, who, 't') C(7, at, 'i')
#define COPY_COLS_attachment(F, C)                                                                 \
    F(1, id, 't') C(2, sha, 'b') C(3, size, 'i') C(4, name, 't') C(5, media_type, 't')             \
    C(6, owner, 't') C(7, created, 'i') C(8, expires, 'i') C(9, key_id, 'i')
#define COPY_COLS_token(F, C)                                                                      \
    F(1, id, 't') C(2, secret, 'b') C(3, user_id, 't') C(4, client, 't') C(5, roles, 't')          \
    C(6, note, 't') C(7, created, 'i') C(8, expires, 'i') C(9, used, 'i') C(10, revoked, 'i')
#define COPY_COLS_once(F, C)                                                                       \
    F(1, user_id, 't') C(2, scope, 't') C(3, key, 'b') C(4, digest, 'b') C(5, status, 'i')         \
    C(6, answer, 'b') C(7, size, 'i') C(8, expires, 'i')
#define COPY_COLS_place(F, C)                                                                      \
    F(1, tree, 'i') C(2, name, 't') C(3, log, 'i') C(4, k, 'i')
#define COPY_COLS_task(F, C)                                                                       \
    F(1, id, 't') C(2, tree, 'i') C(3, session, 'i') C(4, data, 't') C(5, created, 'i')            \
    C(6, updated, 'i') C(7, deleted, 'i') C(8, at, 'i')
#define COPY_COLS_remark(F, C)                                                                     \
    F(1, no, 'i') C(2, user_id, 't') C(3, message, 'i') C(4, positive, 'i') C(5, text, 't')        \
    C(6, issue, 't') C(7, at, 'i')
#define COPY_COLS_origin(F, C)                                                                     \
    F(1, tree, 'i') C(2, session, 'i') C(3, client, 't') C(4, started_tree, 'i')                   \
    C(5, started, 'i') C(6, started_entry, 't')
#define COPY_COLS_transfer(F, C)                                                                   \
    F(1, id, 't') C(2, tree, 'i') C(3, session, 'i') C(4, giver, 't') C(5, taker, 't')             \
    C(6, created, 'i')
#define COPY_COLS_indexed(F, C)                                                                    \
    F(1, tree, 'i') C(2, k, 'i') C(3, text, 't') C(4, at, 'i')
#define COPY_COLS_copied(F, C)                                                                     \
    F(1, tree, 'i') C(2, k, 'i') C(3, n, 'i') C(4, from_tree, 'i') C(5, from_session, 'i')         \
    C(6, from_k, 'i') C(7, span, 'i')
#define COPY_COLS_erased(F, C)                                                                     \
    F(1, tree, 'i') C(2, k, 'i') C(3, digest, 'b') C(4, at, 'i') C(5, who, 't') C(6, why, 't')
#define COPY_COLS_errand(F, C)                                                                     \
    F(1, id, 't') C(2, url, 't') C(3, name, 't') C(4, media_type, 't') C(5, owner, 't')            \
    C(6, created, 'i') C(7, expires, 'i') C(8, failed, 'i')
#define COPY_COLS_push(F, C)                                                                       \
    F(1, task, 't') C(2, id, 't') C(3, tree, 'i') C(4, session, 'i') C(5, owner, 't')              \
    C(6, wire, 'i') C(7, config, 'b') C(8, sent, 'i') C(9, tries, 'i') C(10, due, 'i')             \
    C(11, created, 'i')
#define COPY_COLS_visit(F, C)                                                                      \
    F(1, user_id, 't') C(2, share, 't') C(3, at, 'i')
#define COPY_COLS_sandbox(F, C)                                                                    \
    F(1, id, 't') C(2, owner, 't') C(3, created, 'i')
#define COPY_COLS_held(F, C)                                                                       \
    F(1, tree, 'i') C(2, session, 'i') C(3, kind, 'i') C(4, who, 't') C(5, at, 'i') C(6, why, 't')
#define COPY_COLS_rule(F, C)                                                                       \
    F(1, name, 't') C(2, no, 'i') C(3, age, 'i') C(4, since, 'i') C(5, tag, 't') C(6, agent, 't')  \
    C(7, ephemeral, 'i') C(8, archived, 'i') C(9, private, 'i') C(10, who, 't') C(11, at, 'i')
#define COPY_COLS_removed(F, C)                                                                    \
    F(1, at, 'i') C(2, id, 't') C(3, tree, 't') C(4, rule, 't') C(5, entries, 'i') C(6, who, 't')
#define COPY_COLS_event(F, C)                                                                      \
    F(1, no, 'i') C(2, tree, 'i') C(3, session, 'i') C(4, kind, 'i') C(5, k, 'i') C(6, n, 'i')     \
    C(7, at, 'i') C(8, who, 't')

/* Every table, in the order in which rows are written: what a row refers to comes before it. How it
 * is read: RANGE by a tree and from one key to another, TREE from one tree to another, WHOLE all of
 * it, SPAN from one number to another. FIXED, or MOVES: its key may change. Then its key, as
 * numbers of the columns above (0: no more). */
#define COPY_TABLES(T)                                                                             \
    T(entry, RANGE, FIXED, 1, 0, 0, 0, 0)                                                          \
    T(body, RANGE, FIXED, 1, 0, 0, 0, 0)                                                           \
    T(usage, RANGE, FIXED, 1, 0, 0, 0, 0)                                                          \
    T(delta, RANGE, FIXED, 1, 0, 0, 0, 0)                                                          \
    T(attached, TREE, FIXED, 1, 2, 3, 0, 0)                                                        \
    T(feedback, TREE, FIXED, 1, 2, 3, 0, 0)                                                        \
    T(place, TREE, FIXED, 1, 2, 3, 4, 0)                                                           \
    T(indexed, TREE, FIXED, 1, 2, 0, 0, 0)                                                         \
    T(copied, TREE, FIXED, 1, 2, 3, 0, 0)                                                          \
    T(overlay, TREE, FIXED, 1, 2, 0, 0, 0)                                                         \
    T(erased, TREE, FIXED, 1, 2, 0, 0, 0)                                                          \
    T(branch, TREE, MOVES, 2, 5, 6, 3, 1)                                                          \
    T(run, TREE, FIXED, 1, 2, 3, 4, 0)                                                             \
    T(move, TREE, FIXED, 1, 2, 3, 0, 0)                                                            \
    T(branch_note, TREE, FIXED, 1, 2, 3, 0, 0)                                                     \
    T(tag, TREE, FIXED, 1, 2, 3, 0, 0)                                                             \
    T(member, TREE, FIXED, 1, 2, 0, 0, 0)                                                          \
    T(tree, TREE, FIXED, 1, 0, 0, 0, 0)                                                            \
    T(session, TREE, MOVES, 2, 4, 1, 0, 0)                                                         \
    T(origin, TREE, FIXED, 1, 2, 0, 0, 0)                                                          \
    T(transfer, TREE, MOVES, 2, 3, 1, 0, 0)                                                        \
    T(turn, TREE, MOVES, 2, 3, 12, 1, 0)                                                           \
    T(prompt, TREE, FIXED, 1, 2, 0, 0, 0)                                                          \
    T(task, TREE, MOVES, 2, 3, 5, 1, 0)                                                            \
    T(share, TREE, MOVES, 2, 3, 1, 0, 0)                                                           \
    T(template, TREE, MOVES, 2, 3, 1, 0, 0)                                                        \
    T(verdict, TREE, FIXED, 2, 1, 0, 0, 0)                                                         \
    T(held, TREE, FIXED, 1, 2, 3, 0, 0)                                                            \
    T(rule, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                           \
    T(removed, WHOLE, FIXED, 1, 2, 0, 0, 0)                                                        \
    T(attachment, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                     \
    T(errand, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                         \
    T(token, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                          \
    T(remark, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                         \
    T(once, WHOLE, FIXED, 1, 2, 3, 0, 0)                                                           \
    T(visit, WHOLE, FIXED, 1, 2, 0, 0, 0)                                                          \
    T(push, WHOLE, FIXED, 1, 2, 0, 0, 0)                                                           \
    T(sandbox, WHOLE, FIXED, 1, 0, 0, 0, 0)                                                        \
    T(event, SPAN, FIXED, 1, 0, 0, 0, 0)

#define COPY_NAME_F(n, name, type) #name
#define COPY_NAME_C(n, name, type) "," #name
#define COPY_MARK_F(n, name, type) "$" #n
#define COPY_MARK_C(n, name, type) ",$" #n
#define COPY_READ(t) "SELECT " COPY_COLS_##t(COPY_NAME_F, COPY_NAME_C) " FROM " #t " WHERE "
#define COPY_ADD(t)                                                                                \
    "INSERT INTO " #t "(" COPY_COLS_##t(COPY_NAME_F, COPY_NAME_C) ") VALUES("                      \
    COPY_COLS_##t(COPY_MARK_F, COPY_MARK_C) ")"

#define COPY_STATEMENTS(X)                                                                         \
    X(copy_entry_read, COPY_READ(entry)                                                            \
      "tree=$1 AND k>$2 AND k<=$3 ORDER BY k LIMIT $4")                                            \
    X(copy_entry_add, COPY_ADD(entry))                                                             \
    X(copy_entry_cut, "DELETE FROM entry WHERE " PK("", "k"))                                      \
    X(copy_body_read, COPY_READ(body)                                                              \
      "tree=$1 AND k>$2 AND k<=$3 ORDER BY k LIMIT $4")                                            \
    X(copy_body_add, COPY_ADD(body))                                                               \
    X(copy_body_cut, "DELETE FROM body WHERE tree=$1 AND k=$2")                                    \
    X(copy_usage_read, COPY_READ(usage)                                                            \
      "tree=$1 AND k>$2 AND k<=$3 ORDER BY k LIMIT $4")                                            \
    X(copy_usage_add, COPY_ADD(usage))                                                             \
    X(copy_usage_cut, "DELETE FROM usage WHERE tree=$1 AND k=$2")                                  \
    X(copy_delta_read, COPY_READ(delta)                                                            \
      "tree=$1 AND k>$2 AND k<=$3 ORDER BY k LIMIT $4")                                            \
    X(copy_delta_add, COPY_ADD(delta))                                                             \
    X(copy_delta_cut, "DELETE FROM delta WHERE tree=$1 AND k=$2")                                  \
    X(copy_attached_read, COPY_READ(attached)                                                      \
      "(tree,k,attachment)>($1,$2,$3) AND tree<=$4 ORDER BY tree,k,attachment LIMIT $5")           \
    X(copy_attached_add, COPY_ADD(attached))                                                       \
    X(copy_attached_cut, "DELETE FROM attached WHERE tree=$1 AND k=$2 AND attachment=$3")          \
    X(copy_feedback_read, COPY_READ(feedback)                                                      \
      "(tree,k,user_id)>($1,$2,$3) AND tree<=$4 ORDER BY tree,k,user_id LIMIT $5")                 \
    X(copy_feedback_add, COPY_ADD(feedback))                                                       \
    X(copy_feedback_cut, "DELETE FROM feedback WHERE tree=$1 AND k=$2 AND user_id=$3")             \
    X(copy_branch_read, COPY_READ(branch)                                                          \
      "(tree,parent,base,session,id)>($1,$2,$3,$4,$5) AND tree<=$6 "                               \
      "ORDER BY tree,parent,base,session,id LIMIT $7")                                             \
    X(copy_branch_add, COPY_ADD(branch))                                                           \
    X(copy_branch_cut, "DELETE FROM branch WHERE " PK_IS("", "id", "$1", "$5") " AND "             \
      NO_INDEX("parent") "=$2 AND base=$3 AND session=$4")                                         \
    X(copy_branch_drop, "DELETE FROM branch WHERE " PK("", "id"))                                  \
    X(copy_overlay_read, COPY_READ(overlay)                                                        \
      "(tree,no)>($1,$2) AND tree<=$3 ORDER BY tree,no LIMIT $4")                                  \
    X(copy_overlay_add, COPY_ADD(overlay))                                                         \
    X(copy_overlay_cut, "DELETE FROM overlay WHERE tree=$1 AND no=$2")                             \
    X(copy_prompt_read, COPY_READ(prompt)                                                          \
      "(tree,turn)>($1,$2) AND tree<=$3 ORDER BY tree,turn LIMIT $4")                              \
    X(copy_prompt_add, COPY_ADD(prompt))                                                           \
    X(copy_prompt_cut, "DELETE FROM prompt WHERE tree=$1 AND turn=$2")                             \
    X(copy_run_read, COPY_READ(run)                                                                \
      "(tree,session,log,rec)>($1,$2,$3,$4) AND tree<=$5 "                                         \
      "ORDER BY tree,session,log,rec LIMIT $6")                                                    \
    X(copy_run_add, COPY_ADD(run))                                                                 \
    X(copy_run_cut, "DELETE FROM run WHERE tree=$1 AND session=$2 AND log=$3 AND rec=$4")          \
    X(copy_move_read, COPY_READ(move)                                                              \
      "(tree,session,seq)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,seq LIMIT $5")             \
    X(copy_move_add, COPY_ADD(move))                                                               \
    X(copy_move_cut, "DELETE FROM move WHERE tree=$1 AND session=$2 AND seq=$3")                   \
    X(copy_tag_read, COPY_READ(tag)                                                                \
      "(tree,session,tag)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,tag LIMIT $5")             \
    X(copy_tag_add, COPY_ADD(tag))                                                                 \
    X(copy_tag_cut, "DELETE FROM tag WHERE tree=$1 AND session=$2 AND tag=$3")                     \
    X(copy_member_read, COPY_READ(member)                                                          \
      "(tree,user_id)>($1,$2) AND tree<=$3 ORDER BY tree,user_id LIMIT $4")                        \
    X(copy_branch_note_add, COPY_ADD(branch_note))                                                 \
    X(copy_branch_note_read, COPY_READ(branch_note)                                                \
      "(tree,session,branch)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,branch LIMIT $5")       \
    X(copy_branch_note_cut, "DELETE FROM branch_note WHERE tree=$1 AND session=$2 AND branch=$3")  \
    X(copy_member_add, COPY_ADD(member))                                                           \
    X(copy_member_cut, "DELETE FROM member WHERE tree=$1 AND user_id=$2")                          \
    X(copy_tree_read, COPY_READ(tree)                                                              \
      "tree>$1 AND tree<=$2 ORDER BY tree LIMIT $3")                                               \
    X(copy_tree_add, COPY_ADD(tree))                                                               \
    X(copy_tree_cut, "DELETE FROM tree WHERE tree=$1")                                             \
    X(copy_session_read, COPY_READ(session)                                                        \
      "(tree,parent,no)>($1,$2,$3) AND tree<=$4 ORDER BY tree,parent,no LIMIT $5")                 \
    X(copy_session_add, COPY_ADD(session))                                                         \
    X(copy_session_cut, "DELETE FROM session WHERE " PK_IS("", "no", "$1", "$3") " AND parent=$2") \
    X(copy_session_drop, "DELETE FROM session WHERE " PK("", "no"))                                \
    X(copy_turn_read, COPY_READ(turn)                                                              \
      "(tree,session,started,id)>($1,$2,$3,$4) AND tree<=$5 "                                      \
      "ORDER BY tree,session,started,id LIMIT $6")                                                 \
    X(copy_turn_add, COPY_ADD(turn))                                                               \
    X(copy_turn_cut, "DELETE FROM turn WHERE tree=$1 AND session=$2 AND started=$3 AND id=$4")     \
    X(copy_turn_drop, "DELETE FROM turn WHERE " PK("", "id"))                                      \
    X(copy_place_read, COPY_READ(place)                                                            \
      "(tree,name,log,k)>($1,$2,$3,$4) AND tree<=$5 ORDER BY tree,name,log,k LIMIT $6")            \
    X(copy_place_add, COPY_ADD(place))                                                             \
    X(copy_place_cut, "DELETE FROM place WHERE tree=$1 AND name=$2 AND log=$3 AND k=$4")           \
    X(copy_task_read, COPY_READ(task)                                                              \
      "(tree,session,created,id)>($1,$2,$3,$4) AND tree<=$5 "                                      \
      "ORDER BY tree,session,created,id LIMIT $6")                                                 \
    X(copy_task_add, COPY_ADD(task))                                                               \
    X(copy_task_cut, "DELETE FROM task WHERE id=$4 AND " NO_INDEX("tree") "=$1 AND "               \
                     NO_INDEX("session") "=$2 AND " NO_INDEX("created") "=$3")                     \
    X(copy_task_drop, "DELETE FROM task WHERE id=$2 AND " NO_INDEX("tree") "=$1")                  \
    X(copy_indexed_read, COPY_READ(indexed)                                                        \
      "(tree,k)>($1,$2) AND tree<=$3 ORDER BY tree,k LIMIT $4")                                    \
    X(copy_indexed_add, COPY_ADD(indexed))                                                         \
    X(copy_indexed_cut, "DELETE FROM indexed WHERE tree=$1 AND k=$2")                              \
    X(copy_copied_read, COPY_READ(copied)                                                          \
      "(tree,k,n)>($1,$2,$3) AND tree<=$4 ORDER BY tree,k,n LIMIT $5")                             \
    X(copy_copied_add, COPY_ADD(copied))                                                           \
    X(copy_copied_cut, "DELETE FROM copied WHERE tree=$1 AND k=$2 AND n=$3")                       \
    X(copy_erased_read, COPY_READ(erased)                                                          \
      "(tree,k)>($1,$2) AND tree<=$3 ORDER BY tree,k LIMIT $4")                                    \
    X(copy_erased_add, COPY_ADD(erased))                                                           \
    X(copy_erased_cut, "DELETE FROM erased WHERE tree=$1 AND k=$2")                                \
    X(copy_origin_read, COPY_READ(origin)                                                          \
      "(tree,session)>($1,$2) AND tree<=$3 ORDER BY tree,session LIMIT $4")                        \
    X(copy_origin_add, COPY_ADD(origin))                                                           \
    X(copy_origin_cut, "DELETE FROM origin WHERE tree=$1 AND session=$2")                          \
    X(copy_transfer_read, COPY_READ(transfer)                                                      \
      "(tree,session,id)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,id LIMIT $5")               \
    X(copy_transfer_add, COPY_ADD(transfer))                                                       \
    X(copy_transfer_cut, "DELETE FROM transfer WHERE id=$3 AND " NO_INDEX("tree") "=$1 "           \
                         "AND session=$2")                                                         \
    X(copy_transfer_drop, "DELETE FROM transfer WHERE id=$2 AND " NO_INDEX("tree") "=$1")          \
    X(copy_transfer_free, "DELETE FROM transfer WHERE id<>$1 AND tree=$2")                         \
    X(copy_errand_read, COPY_READ(errand) "id>$1 ORDER BY id LIMIT $2")                            \
    X(copy_errand_add, COPY_ADD(errand))                                                           \
    X(copy_errand_cut, "DELETE FROM errand WHERE id=$1")                                           \
    X(copy_remark_read, COPY_READ(remark) "no>$1 ORDER BY no LIMIT $2")                            \
    X(copy_remark_add, COPY_ADD(remark))                                                           \
    X(copy_remark_cut, "DELETE FROM remark WHERE no=$1")                                           \
    X(copy_share_read, COPY_READ(share)                                                            \
      "(tree,session,id)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,id LIMIT $5")               \
    X(copy_share_add, COPY_ADD(share))                                                             \
    X(copy_share_cut, "DELETE FROM share WHERE id=$3 AND " NO_INDEX("tree") "=$1 AND "             \
                      NO_INDEX("session") "=$2")                                                   \
    X(copy_share_drop, "DELETE FROM share WHERE id=$2 AND " NO_INDEX("tree") "=$1")                \
    X(copy_template_read, COPY_READ(template)                                                      \
      "(tree,session,id)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,id LIMIT $5")               \
    X(copy_template_add, COPY_ADD(template))                                                       \
    X(copy_template_cut, "DELETE FROM template WHERE id=$3 AND " NO_INDEX("tree") "=$1 AND "       \
                         NO_INDEX("session") "=$2")                                                \
    X(copy_template_drop, "DELETE FROM template WHERE id=$2 AND " NO_INDEX("tree") "=$1")          \
    X(copy_verdict_read, COPY_READ(verdict)                                                        \
      "(tree,no)>($1,$2) AND tree<=$3 ORDER BY tree,no LIMIT $4")                                  \
    X(copy_verdict_add, COPY_ADD(verdict))                                                         \
    X(copy_verdict_cut, "DELETE FROM verdict WHERE tree=$1 AND no=$2")                             \
    X(copy_verdict_free, "DELETE FROM verdict WHERE no=$1 AND tree<>$2")                           \
    X(copy_attachment_read, COPY_READ(attachment)                                                  \
      "id>$1 ORDER BY id LIMIT $2")                                                                \
    X(copy_attachment_add, COPY_ADD(attachment))                                                   \
    X(copy_attachment_cut, "DELETE FROM attachment WHERE id=$1")                                   \
    X(copy_token_read, COPY_READ(token)                                                            \
      "id>$1 ORDER BY id LIMIT $2")                                                                \
    X(copy_token_add, COPY_ADD(token))                                                             \
    X(copy_token_cut, "DELETE FROM token WHERE id=$1")                                             \
    X(copy_once_read, COPY_READ(once)                                                              \
      "(user_id,scope,key)>($1,$2,$3) ORDER BY user_id,scope,key LIMIT $4")                        \
    X(copy_once_add, COPY_ADD(once))                                                               \
    X(copy_once_cut, "DELETE FROM once WHERE user_id=$1 AND scope=$2 AND key=$3")                  \
    X(copy_visit_read, COPY_READ(visit)                                                            \
      "(user_id,share)>($1,$2) ORDER BY user_id,share LIMIT $3")                                   \
    X(copy_visit_add, COPY_ADD(visit))                                                             \
    X(copy_visit_cut, "DELETE FROM visit WHERE user_id=$1 AND share=$2")                           \
    X(copy_push_read, COPY_READ(push)                                                              \
      "(task,id)>($1,$2) ORDER BY task,id LIMIT $3")                                               \
    X(copy_push_add, COPY_ADD(push))                                                               \
    X(copy_push_cut, "DELETE FROM push WHERE task=$1 AND id=$2")                                   \
    X(copy_sandbox_read, COPY_READ(sandbox)                                                        \
      "id>$1 ORDER BY id LIMIT $2")                                                                \
    X(copy_sandbox_add, COPY_ADD(sandbox))                                                         \
    X(copy_sandbox_cut, "DELETE FROM sandbox WHERE id=$1")                                         \
    X(copy_held_read, COPY_READ(held)                                                              \
      "(tree,session,kind)>($1,$2,$3) AND tree<=$4 ORDER BY tree,session,kind LIMIT $5")           \
    X(copy_held_add, COPY_ADD(held))                                                               \
    X(copy_held_cut, "DELETE FROM held WHERE tree=$1 AND session=$2 AND kind=$3")                  \
    X(copy_rule_read, COPY_READ(rule)                                                              \
      "name>$1 ORDER BY name LIMIT $2")                                                            \
    X(copy_rule_add, COPY_ADD(rule))                                                               \
    X(copy_rule_cut, "DELETE FROM rule WHERE name=$1")                                             \
    X(copy_removed_read, COPY_READ(removed)                                                        \
      "(at,id)>($1,$2) ORDER BY at,id LIMIT $3")                                                   \
    X(copy_removed_add, COPY_ADD(removed))                                                         \
    X(copy_removed_cut, "DELETE FROM removed WHERE at=$1 AND id=$2")                               \
    X(copy_event_read, COPY_READ(event)                                                            \
      "no>$1 AND no<=$2 ORDER BY no LIMIT $3")                                                     \
    X(copy_event_add, COPY_ADD(event))                                                             \
    X(copy_event_cut, "DELETE FROM event WHERE no=$1")                                             \
    /* Differences in a tree show in the tips of its branches: a tip is a hash of everything       \
     * below. */                                                                                   \
    X(copy_branches, "SELECT id,base,len,tip FROM branch WHERE tree=$1 ORDER BY id")               \
    /* An id may have moved from one session to another since it was copied; the first is          \
     * stale. */                                                                                   \
    X(copy_session_free, "UPDATE session SET id=NULL WHERE id=$1 AND no<>$2")                      \
    X(copy_tree_free, "DELETE FROM tree WHERE id=$1 AND tree<>$2")                                 \
    X(copy_trees_since, "SELECT DISTINCT tree FROM event WHERE no>$1 AND no<=$2 ORDER BY tree")    \
    X(copy_entries_upto, "SELECT coalesce(sum(len-base),0) FROM branch WHERE tree<=$1")            \
    X(copy_any, "SELECT 1 FROM tree UNION ALL SELECT 1 FROM token UNION ALL SELECT 1 FROM attachment " \
                "UNION ALL SELECT 1 FROM event LIMIT 1")                                           \
    /* An engine with counters raises them; here a number is derived from the highest row. */      \
    X(copy_counters, "SELECT 1")                                                                   \
    /* Whether numbers do not rise with time, and the index that lists use then. */                \
    X(copy_unordered, "SELECT 1 FROM (SELECT s.created,lag(s.created) OVER (ORDER BY s.no) AS "    \
                      "before FROM session s) t WHERE t.created<t.before LIMIT 1")                 \
    X(copy_by_time, "CREATE INDEX IF NOT EXISTS session_by_time ON session(created,no)")           \
    X(meta_del, "DELETE FROM meta WHERE key=$1")                                                   \
    /* -- a branch that is being imported (core/export/import.h) */                                \
    X(import_branch, "UPDATE branch SET parent=$3,base=$4,depth=$5,jump=$6,jump_base=$7,over=$8,"  \
                     "delta=$9,len=$10,tip=$11,live=$12,run=$13,overlay=$14,filled=$15,"           \
                     "seal=$16 WHERE "                                                             \
                     PK("", "id"))                                                                  \
    X(import_sandbox, "INSERT INTO sandbox(id,owner,created) SELECT $1,m.user_id,CAST($3 AS BIGINT) " \
                      "FROM member m WHERE m.tree=$2 AND m.level=4 ON CONFLICT(id) DO NOTHING")
/* clang-format on */

#endif
