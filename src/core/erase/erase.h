/* SPDX-License-Identifier: Apache-2.0
 *
 * erase.h: what the files of erasure share.
 *
 *   erase.c         the calls: who may, the note that survives a crash, the steps in order
 *   erase_plan.c    which entries
 *   erase_entry.c   one entry and what was made from it, in one transaction
 *   erase_about.c   texts about sessions: titles, reasons, tasks, turns, kept answers
 *   erase_person.c  a user's name in every table (store/sql/erase_sql.h)
 *   erase_fill.c    templates, and the values of sessions made from them
 *   erase_list.c    what was erased of a history
 *   erase_words.c   whether a text shares a word with what is erased
 */
#ifndef CORE_ERASE_ERASE_H
#define CORE_ERASE_ERASE_H

#include "ramet/erase.h"
#include "core/attachment/attachment_upkeep.h"
#include "core/model/branch.h"
#include "core/txn.h"

/* What a receipt counts. */
#define ERASE_COUNTS(X)                                                                            \
    X(ENTRIES, "entries")                                                                          \
    X(COPIES, "copies and summaries")                                                              \
    X(EVENTS, "raw events of turns")                                                               \
    X(ATTACHMENTS, "references to attachments, feedback and search texts")                         \
    X(DELTAS, "state deltas")                                                                      \
    X(SNAPSHOTS, "snapshots of the state, made anew")                                              \
    X(OVERLAYS, "overlays")                                                                        \
    X(PROMPTS, "kept prompts")                                                                     \
    X(VERDICTS, "reasons of verdicts")                                                             \
    X(TASKS, "data of tasks")                                                                      \
    X(TURNS, "errors of turns")                                                                    \
    X(TEXTS, "titles, reasons, metadata and settings of sessions, names of branches")              \
    X(VALUES, "values of placeholders")                                                            \
    X(TEMPLATES, "templates, or their names")                                                      \
    X(MOVES, "reasons of moves")                                                                   \
    X(TAGS, "tags")                                                                                \
    X(ANSWERS, "kept answers")                                                                     \
    X(NAMES, "places that named the user")                                                         \
    X(FILES, "attachments")                                                                        \
    X(SPOOLS, "unfinished uploads")
typedef enum {
#define X(name, text) ERASE_##name,
    ERASE_COUNTS(X)
#undef X
        ERASE_N_COUNTS
} erase_count;

typedef enum { ERASE_NOTHING, ERASE_ENTRY, ERASE_SESSION, ERASE_TREE, ERASE_USER } erase_kind;

typedef struct erase_key {
    int64_t tree, k;
    erase_count as; /* ERASE_ENTRIES, ERASE_COPIES or ERASE_EVENTS */
} erase_key;
typedef VEC(erase_key) erase_keys;

typedef struct erase_session {
    int64_t tree, no;
} erase_session;
typedef VEC(erase_session) erase_sessions;

/* One erasure. Everything but the counts is in the note, or found again from it. */
typedef struct erase_job {
    ramet_call *call;
    arena *arena; /* lives as long as the job */
    erase_kind kind;
    const char *id; /* of the note */
    int64_t at;
    const char *who, *why;
    int64_t tree, session, k; /* the target, by kind. ERASE_ENTRY: the session that fills values
                                 into it, if it was named there; else 0 */
    const char *only_of;      /* ERASE_TREE: not the private sessions of others than this user;
                                 NULL: all */
    const char *user, *alias; /* ERASE_USER */
    erase_keys keys;          /* what is to be erased */
    erase_sessions sessions;  /* those that are erased whole */
    int64_t counts[ERASE_N_COUNTS];
    int64_t already, inherited, answers_left;
    erase_keys done;     /* erased entries, for the receipt */
    attached_refs files; /* attachments that they referred to, one more than once; for it, too */
} erase_job;

/* A turn whose raw events were looked for. */
typedef struct erase_turn {
    int64_t tree;
    const char *name; /* NULL: none */
} erase_turn;

/* ---- words */

typedef struct erase_words {
    arena *arena;
    uint64_t *slots; /* 0: free */
    size_t n_slots, n;
} erase_words;
void words_add(erase_words *w, const char *text);
bool words_share(const erase_words *w, const char *text); /* text may be NULL */

/* ---- one transaction */

/* Where entries of one branch were erased. */
typedef struct erase_span {
    int64_t branch, session, lo, hi; /* positions, both included */
} erase_span;

typedef struct erase_tree {
    int64_t tree;
    VEC(erase_span) spans;
    VEC(const char *) turns; /* ids of turns that lost an entry */
    VEC(const char *) ids;   /* of entries that were asked about */
    erase_words words;
    int64_t delta_from; /* the first position that lost a state delta; -1: none */
} erase_tree;

typedef struct erase_batch {
    erase_job *job;
    const erase_key *keys;
    size_t n;
    const erase_session *sessions;
    size_t n_sessions;
    arena *arena; /* memory of one run */
    VEC(erase_tree *) trees;
    erase_turn turn; /* of the entry before */
    int64_t counts[ERASE_N_COUNTS];
    int64_t already, answers_left;
    erase_keys done;
    attached_refs files;
} erase_batch;
erase_tree *batch_tree(erase_batch *b, int64_t tree);
/* Runs one statement that was bound, and counts what it has changed. */
void batch_run(txn *tx, erase_batch *b, db_stmt *q, erase_count as);

/* Erases an entry, the copies of it, and the raw events of its turn. */
void entry_erase(txn *tx, erase_batch *b, const erase_key *key);
/* After the entries: what was made from them in a tree. */
void derived_erase(txn *tx, erase_batch *b, erase_tree *t);
/* Writes the overlays of a tree again, without those of erased entries, and with `alias` for
 * `user` (NULL: as they are). */
void overlays_erase(txn *tx, erase_batch *b, int64_t tree, const char *user, const char *alias);
/* Whether an entry is in a span of the tree; the path of `head` up to `len` holds one. */
bool spans_on_path(txn *tx, const erase_tree *t, int64_t branch, int64_t len);
bool entry_is_erased(txn *tx, int64_t tree, int64_t k, bool *there);
/* Calls `each` for the entries that were copied from this one, or summarize it. */
void copies_find(txn *tx, arena *a, int64_t tree, int64_t k, erase_keys *out);
/* The raw events of the turn of an entry of the main log, except those of sessions that are erased
 * whole. None when `last` is that turn: entries of a turn follow each other. Sets `last`. */
void events_find(txn *tx, arena *a, const erase_job *j, int64_t tree, int64_t k, const char *turn,
                 erase_turn *last, erase_keys *out);
void sessions_sort(erase_sessions *v);

/* Texts about the sessions that hold erased entries, and about those that are erased whole. */
void about_erase(txn *tx, erase_batch *b, erase_tree *t);
void session_erase(txn *tx, erase_batch *b, const erase_session *s);
/* Values of a session that was made from a template: all (words NULL), or those that share a word;
 * those that an entry showed there. */
void values_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session, const erase_words *words);
void values_shown_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session,
                        const ramet_entry *e);
/* Templates of a session that is erased whole (words NULL), or names that share a word. */
void templates_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session,
                     const erase_words *words);
/* Kept answers, except those about other trees. */
void answers_erase(txn *tx, erase_batch *b);

ramet_status person_run(txn *tx, void *batch);

/* ---- the plan */

/* Fills keys, sessions and what stays. For a dry run also what depends on the entries. */
/* RAMET_TURN_RUNNING_ALREADY while a turn runs in a tree: it would write a prompt, or an answer,
 * from what it has read. */
ramet_status turns_check(txn *tx, int64_t tree);
ramet_status plan_make(txn *tx, erase_job *j, bool all);

#endif
