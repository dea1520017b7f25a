/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck.h: what the files of fsck share. fsck.c checks how rows refer to each other, fsck_log.c head
 * logs and records, fsck_entry.c the content of a branch. The first pass of an import runs the
 * checks of a tree's model on the numbers of a file (core/export/import_fit.c).
 *
 * Every number may be damaged, so the check follows no reference that it has not validated, and
 * walks no chain: it compares each row with its neighbour only. A statement that fails is a fault
 * like any other, and the check continues.
 */
#ifndef CORE_UPKEEP_FSCK_H
#define CORE_UPKEEP_FSCK_H

#include "core/model/branch.h"
#include "core/session/session.h"
#include "core/txn.h"

typedef struct fsck_session {
    session_full row;
    int64_t entries[2]; /* in its branches, by log */
    bool has_removed;   /* gc has removed one of its pruned branches */
} fsck_session;

typedef struct fsck_branch {
    branch_row row;
    fsck_session *of; /* NULL: belongs to no session */
    const struct fsck_branch *parent;
    bool sane;        /* its numbers can be used */
    bool linked;      /* its lineage is right */
    int64_t recorded; /* the record covers its entries up to this position */
    bool last;        /* the record continues here */
    bool named;       /* it is, or was, a head of its session */
    bool removed;     /* it was pruned, and gc removes or has removed it */
} fsck_branch;

typedef struct fsck {
    txn tx;       /* its arena holds one tree */
    arena *entry; /* a few entries */
    ramet_fsck_out *out;
    VEC(ramet_fault) faults;
    ramet_progress progress;
    void *arg;
    int64_t total;
    bool stopped;

    bool (*wanted)(void *arg, int64_t branch); /* which content to check; NULL: all */
    void *wanted_arg;

    int64_t tree;
    fsck_session *sessions; /* by number */
    size_t n_sessions;
    fsck_branch *branches; /* by id */
    size_t n_branches;
} fsck;

/* Where a fault was found; FSCK_NOWHERE followed by what is known. */
typedef struct fsck_location {
    const char *session, *entry;
    int64_t branch, position;
} fsck_location;
#define FSCK_NOWHERE .branch = -1, .position = -1

void fsck_fault(fsck *f, fsck_location at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* False when the last statements failed: the failure is reported, and cleared. */
bool fsck_read_ok(fsck *f, fsck_location at, const char *what);
/* Counts checked entries, and reports progress. False: stop. */
bool fsck_tick(fsck *f, int64_t entries);

/* Checks everything about f->tree; f->tx.arena must be reset before. */
void fsck_tree(fsck *f);
/* Sessions and branches alone, which must be loaded, with what was removed of them. */
void fsck_model(fsck *f, int64_t root);
/* After the logs of all sessions were checked: the record covers the branch, and a move made it. */
void fsck_recorded(fsck *f, const fsck_branch *b);
/* NULL: the tree has no such branch. */
fsck_branch *fsck_branch_at(const fsck *f, int64_t id);
fsck_location fsck_in(const fsck_branch *b, int64_t position, const char *entry);
/* Checks entries, usage and deltas of one branch. */
void fsck_content(fsck *f, const fsck_branch *b);
void fsck_overlays(fsck *f); /* fsck_overlay.c, and: */
void fsck_prompts(fsck *f);
/* fsck_note.c: sets what was removed after a prune. */
void fsck_notes_load(fsck *f);
void fsck_notes(fsck *f);
/* The same for rows that were loaded otherwise. */
struct reach_tree;
void fsck_notes_of(fsck *f, struct reach_tree *t);

/* What the branches of a session may be filled up to. */
typedef struct fsck_fill {
    int64_t session, len[2];
    bool used; /* by a branch that the session began with */
} fsck_fill;
void fsck_templates(fsck *f); /* fsck_template.c, and: */
void fsck_values(fsck *f);
void fsck_values_of(fsck *f, fsck_fill *list, size_t n);

/* ---- fsck_log.c: a session's head log and record, row by row */

fsck_location fsck_at_session(const fsck_session *s);
/* Whether this is a branch of the session, in that log. */
bool fsck_has_branch(const fsck *f, const fsck_session *s, int64_t id, int log);

typedef struct fsck_move {
    int64_t seq, kind, from, to, from_adk, to_adk, undo_under, redo_under, at;
} fsck_move;

/* The moves so far, and the tops of both stacks after them (M2). */
typedef struct fsck_moves {
    arena *arena;
    VEC(fsck_move) rows;
    int64_t undo, redo;
    int64_t first;             /* the session's first branch */
    const fsck_branch *newest; /* of main */
} fsck_moves;
void fsck_moves_begin(fsck *f, const fsck_session *s, arena *a, fsck_moves *l);
/* False: the moves after it cannot be checked, and fsck_moves_end() must not be called. */
bool fsck_moves_add(fsck *f, const fsck_session *s, fsck_moves *l, const fsck_move *m);
void fsck_moves_end(fsck *f, const fsck_session *s, const fsck_moves *l);

/* A stretch of the record, which begins with entry `rec` of it. */
typedef struct fsck_run {
    int64_t rec, key;
    int log;
} fsck_run;
typedef struct fsck_record {
    fsck_run before;
    bool open, good;
} fsck_record;
void fsck_record_begin(fsck_record *k);
/* False: it does not follow. */
bool fsck_record_add(fsck *f, const fsck_session *s, fsck_record *k, const fsck_run *r);
void fsck_record_end(fsck *f, const fsck_session *s, fsck_record *k);

#endif
