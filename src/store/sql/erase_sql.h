/* SPDX-License-Identifier: Apache-2.0
 *
 * erase_sql.h: what every text and byte column of the store holds, and the statements that erase it
 * (core/erase/).
 *
 * ERASE_COLUMNS lists every column of type text or bytes, on either engine, with its class:
 *
 *   KEEP     neither content nor a person: ids, hashes, names of kinds. Nothing erases it.
 *   ENTRY    what an entry says, or was made from it: it goes with the entry.
 *   SESSION  what was written about a session: it goes with the session, and with an entry when it
 *            shares a word with it.
 *   PERSON   names a user: an alias takes its place when the user is erased.
 *   OWNER    names the user whom the row belongs to: the row goes when the user is erased.
 *   OWNED    goes with its row, which an OWNER or an ENTRY column takes away.
 *   INDEX    repeats other columns for search: it is built anew.
 *
 * A unit test compares the list with the tables of a real store, and with the statements below: a
 * column that is not in it, or whose class no statement serves, fails the test. For PERSON and
 * OWNER the list itself makes the statements.
 */
#ifndef STORE_SQL_ERASE_SQL_H
#define STORE_SQL_ERASE_SQL_H

/* clang-format off */
#define ERASE_COLUMNS(C, X)                                                                        \
    C(X, meta, key, KEEP) C(X, meta, value, KEEP)                                                  \
    C(X, tree, id, KEEP) C(X, tree, sandbox, KEEP)                                                 \
    C(X, member, user_id, PERSON)                                                                  \
    C(X, session, id, KEEP) C(X, session, owner, PERSON) C(X, session, title, SESSION)             \
    C(X, session, agent, KEEP) C(X, session, agent_config, SESSION)                                \
    C(X, session, metadata, SESSION) C(X, session, reason, SESSION) C(X, session, by_id, PERSON)   \
    C(X, session, fork_entry, KEEP) C(X, session, from_title, SESSION) C(X, session, tags, SESSION) \
    C(X, branch, tip, KEEP)                                                                        \
    C(X, entry, id, KEEP) C(X, entry, hash, KEEP) C(X, entry, channel, KEEP)                       \
    C(X, entry, format, ENTRY) C(X, entry, turn_id, KEEP) C(X, entry, author, ENTRY)               \
    C(X, entry, client, ENTRY) C(X, entry, text, ENTRY) C(X, entry, parts, ENTRY)                  \
    C(X, entry, body, ENTRY)                                                                       \
    C(X, body, packed, ENTRY)                                                                      \
    C(X, usage, currency, KEEP) C(X, usage, cum_currency, KEEP)                                    \
    C(X, delta, json, ENTRY) C(X, delta, snap, ENTRY)                                              \
    C(X, move, who, PERSON) C(X, move, why, SESSION)                                               \
    C(X, tag, tag, SESSION)                                                                        \
    C(X, verdict, sides, KEEP) C(X, verdict, reason, SESSION) C(X, verdict, who, PERSON)           \
    C(X, event, who, PERSON)                                                                       \
    C(X, once, user_id, OWNER) C(X, once, scope, KEEP) C(X, once, key, KEEP)                       \
    C(X, once, digest, KEEP) C(X, once, answer, ENTRY)                                             \
    C(X, share, id, KEEP) C(X, share, secret, KEEP) C(X, share, who, PERSON)                       \
    C(X, token, id, KEEP) C(X, token, secret, KEEP) C(X, token, user_id, OWNER)                    \
    C(X, token, client, OWNED) C(X, token, roles, OWNED) C(X, token, note, OWNED)                  \
    C(X, attachment, id, KEEP) C(X, attachment, sha, KEEP) C(X, attachment, name, OWNED)           \
    C(X, attachment, media_type, OWNED) C(X, attachment, owner, PERSON)                            \
    C(X, attached, attachment, ENTRY)                                                              \
    C(X, attach_part, sha, KEEP) C(X, attach_part, bytes, OWNED)                                   \
    C(X, feedback, user_id, OWNER) C(X, feedback, comment, ENTRY)                                  \
    C(X, turn, id, KEEP) C(X, turn, agent, KEEP) C(X, turn, entry, KEEP) C(X, turn, grp, KEEP)     \
    C(X, turn, who, PERSON) C(X, turn, error, SESSION) C(X, turn, host, KEEP)                      \
    C(X, place, name, KEEP)                                                                        \
    C(X, task, id, KEEP) C(X, task, data, ENTRY)                                                   \
    C(X, remark, user_id, OWNER) C(X, remark, text, OWNED) C(X, remark, issue, OWNED)              \
    C(X, visit, user_id, OWNER) C(X, visit, share, KEEP)                                           \
    C(X, origin, client, SESSION) C(X, origin, started_entry, KEEP)                                \
    C(X, transfer, id, KEEP) C(X, transfer, giver, OWNER) C(X, transfer, taker, OWNER)             \
    C(X, indexed, text, ENTRY)                                                                     \
    C(X, errand, id, KEEP) C(X, errand, url, OWNED) C(X, errand, name, OWNED)                      \
    C(X, errand, media_type, OWNED) C(X, errand, owner, OWNER)                                     \
    C(X, sandbox, id, KEEP) C(X, sandbox, owner, PERSON)                                           \
    C(X, overlay, text, ENTRY) C(X, overlay, ties, KEEP) C(X, overlay, who, PERSON)                \
    C(X, prompt, turn, KEEP) C(X, prompt, agent, KEEP) C(X, prompt, digest, ENTRY)                 \
    C(X, prompt, packed, ENTRY)                                                                    \
    /* Nothing is erased while it is on hold. */                                                   \
    C(X, held, who, PERSON) C(X, held, why, KEEP)                                                  \
    C(X, rule, name, KEEP) C(X, rule, tag, KEEP) C(X, rule, agent, KEEP) C(X, rule, who, PERSON)   \
    C(X, removed, id, KEEP) C(X, removed, tree, KEEP) C(X, removed, rule, KEEP)                    \
    C(X, removed, who, PERSON)                                                                     \
    C(X, branch_note, name, SESSION)                                                               \
    C(X, template, id, KEEP) C(X, template, name, SESSION) C(X, template, placeholders, OWNED)     \
    C(X, template, who, PERSON) C(X, session, fill, SESSION)                                       \
    C(X, push, task, KEEP) C(X, push, id, KEEP) C(X, push, owner, OWNER) C(X, push, config, OWNED) \
    C(X, erased, digest, KEEP) C(X, erased, who, PERSON) C(X, erased, why, KEEP)                   \
    /* Only on PostgreSQL. An event leaves the outbox before anything is erased. */                \
    C(X, outbox, who, KEEP) C(X, dir, id, KEEP) C(X, node, host, KEEP) C(X, job, name, KEEP)       \
    C(X, word_state, print, KEEP) C(X, words, tsv, INDEX)

#define ERASE_FOR_KEEP(X, t, c)
#define ERASE_FOR_ENTRY(X, t, c)
#define ERASE_FOR_SESSION(X, t, c)
#define ERASE_FOR_OWNED(X, t, c)
#define ERASE_FOR_INDEX(X, t, c)
#define ERASE_FOR_PERSON(X, t, c)                                                                  \
    X(erase_##t##_##c, "UPDATE " #t " SET " #c "=$2 WHERE " #c "=$1")
#define ERASE_FOR_OWNER(X, t, c) X(erase_##t##_##c, "DELETE FROM " #t " WHERE " #c "=$1")
#define ERASE_BY_CLASS(X, t, c, class) ERASE_FOR_##class(X, t, c)

#define ERASE_STATEMENTS(X)                                                                        \
    /* -- an entry, and what was made from it */                                                   \
    X(erased_get, "SELECT digest,at,who,why FROM erased WHERE tree=$1 AND k=$2")                   \
    X(erased_add, "INSERT INTO erased(tree,k,digest,at,who,why) VALUES($1,$2,$3,$4,$5,$6)")        \
    X(erased_del, "DELETE FROM erased WHERE tree=$1 AND k>=$2 AND k<=$3")                          \
    X(erased_by_time, "SELECT tree,k FROM erased WHERE at=$1 ORDER BY tree,k")                     \
    X(erased_sums, "SELECT count(*),coalesce(sum(k%1000003),0) FROM erased WHERE tree=$1")         \
    X(erased_of_tree, "SELECT k,at,who,why FROM erased WHERE tree=$1 ORDER BY at DESC,why,k")      \
    X(erased_count, "SELECT count(*) FROM erased")                                                 \
    X(orphan_erased, "SELECT o.tree,o.k,'' FROM erased o WHERE NOT EXISTS (SELECT 1 FROM entry e " \
                     "WHERE e.tree=o.tree AND e.k=o.k AND (e.flags&64)<>0) LIMIT $1")              \
    X(entry_flags, "SELECT e.flags FROM entry e WHERE " PK("e.", "k"))                             \
    /* Usage (2), a delta without content (4) and the mark of a copy (32) stay. */                 \
    X(erase_entry, "UPDATE entry SET format=NULL,author=NULL,client=NULL,text=NULL,parts=NULL,"    \
                   "body=NULL,flags=(flags&38)+64,key_id=0 WHERE " PK("", "k"))                    \
    X(erase_delta, "UPDATE delta SET json='{}' WHERE tree=$1 AND k=$2")                            \
    X(delta_snapshots, "SELECT k,prev,json FROM delta WHERE tree=$1 AND snap IS NOT NULL AND "     \
                       "k%16777216>=$2 ORDER BY k%16777216")                                       \
    X(erase_snapshot, "UPDATE delta SET snap=$3,snap_len=$4 WHERE tree=$1 AND k=$2")               \
    X(erase_overlay, "UPDATE overlay SET bytes=$3,text=$4,who=$5,seal=$6 WHERE tree=$1 AND no=$2") \
    X(overlay_trees_of, "SELECT DISTINCT tree FROM overlay WHERE who=$1")                          \
    X(erase_prompt, "DELETE FROM prompt WHERE tree=$1 AND turn=$2")                                \
    X(erase_verdict, "UPDATE verdict SET reason='' WHERE tree=$1 AND no=$2")                       \
    X(erase_task, "UPDATE task SET data=$2 WHERE id=$1")                                           \
    X(erase_turn, "UPDATE turn SET error='' WHERE " PK("", "id"))                                  \
    X(turn_errors, "SELECT t.id,t.entry,t.error FROM turn t WHERE t.tree=$1 AND t.session=$2 "     \
                   "AND t.error<>''")                                                              \
    X(turn_names, "SELECT DISTINCT name FROM place WHERE tree=$1 AND log=0 AND k=$2")              \
    X(turn_scan, "SELECT e.k,e.turn_id FROM entry e WHERE " PK_RANGE("e.", "k") " ORDER BY e.k")   \
    X(copied_into, "SELECT tree,k FROM copied WHERE " AT_INDEX("from_tree", "from_k", "$1", "$2"))   \
    /* Answers are sealed: what they say is not known. The row stays, so that the request is not   \
     * executed a second time. */                                                                  \
    X(once_scopes, "SELECT user_id,scope,key FROM once WHERE size>0")                              \
    X(erase_once, "UPDATE once SET answer=$4,size=0 WHERE user_id=$1 AND scope=$2 AND key=$3")     \
    /* -- a session */                                                                             \
    X(erase_session, "UPDATE session SET title=$3,agent_config=$4,metadata=$5,reason=$6,"          \
                     "from_title=$7 WHERE " PK("", "no"))                                          \
    X(erase_move, "UPDATE move SET why='' WHERE tree=$1 AND session=$2 AND seq=$3")                \
    X(move_reasons, "SELECT seq,why FROM move WHERE tree=$1 AND session=$2 AND why<>''")           \
    X(note_names, "SELECT branch,name FROM branch_note WHERE tree=$1 AND session=$2 AND name<>''") \
    X(erase_note, "UPDATE branch_note SET name='' WHERE tree=$1 AND session=$2 AND branch=$3")     \
    /* A row says something (N1 in core/model/branch_note.c). */                                    \
    X(erase_note_bare, "DELETE FROM branch_note WHERE tree=$1 AND session=$2 AND branch=$3 AND "   \
                       "name='' AND favourite=0 AND state=0")                                      \
    X(erase_template, "UPDATE template SET name=$2 WHERE id=$1")                                   \
    X(erase_origin, "UPDATE origin SET client='' WHERE tree=$1 AND session=$2")                    \
    X(turn_in_tree, "SELECT t.id FROM turn t WHERE t.status=1 AND t.tree=$1 LIMIT 1")              \
    /* -- a person */                                                                              \
    X(owner_sessions, "SELECT s.tree,s.no FROM session s WHERE s.owner=$1 ORDER BY s.tree,s.no")   \
    X(author_entries, "SELECT e.tree,e.k FROM entry e WHERE e.author=$1 ORDER BY e.tree,e.k")      \
    /* Without an author: the answers in the user's own sessions. */                               \
    X(person_entries, "SELECT e.k,CASE WHEN e.author IS NULL OR e.author=$4 THEN 1 ELSE 0 END "    \
                      "FROM entry e WHERE " PK_RANGE("e.", "k") " ORDER BY e.k")                   \
    X(erase_uploads, "UPDATE attachment SET expires=$2 WHERE owner=$1 AND NOT EXISTS (SELECT 1 "   \
                     "FROM attached r WHERE r.attachment=attachment.id)")                          \
    /* The scope of an administrator's key ends with the name (face/native/store.c). */            \
    X(erase_once_by, "DELETE FROM once WHERE user_id='' AND "                                      \
                     "substr(scope,length(scope)-length(CAST($1 AS TEXT))-3)="                     \
                     "' by '||CAST($1 AS TEXT)")                                                   \
    X(erasures, "SELECT key,value FROM meta WHERE key>='erase ' AND key<'erase~' ORDER BY key")    \
    ERASE_COLUMNS(ERASE_BY_CLASS, X)
/* clang-format on */

#endif
