/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.h: what the files of a copy from one store to another share.
 *
 *   C1  Both sides are walked in the order of a table's key and compared row by row. A row that is
 *       missing or different in the target is written, one that the source does not have is
 *       removed: so it does not matter how far an earlier copy came. The same walk verifies.
 *   C2  The source is read in snapshots, each with whole trees. Within a tree content is copied
 *       first, then branches, then sessions; rows are removed in the opposite order.
 *   C3  Entries never change, and the tip of a branch is the hash of everything below it. So where
 *       the branches of a tree are equal on both sides, its entries are.
 *   C4  The target records in `meta` which store it is a copy of, how far the copy came, and which
 *       process is writing it; an unfinished store is not opened. Every write to it checks in the
 *       same transaction that this copy still holds the lock (`copy_lock`).
 *   C5  Not every change has an event (gc, feedback, shares, turns have none). Events lead quickly
 *       to most of what changed; comparing all trees without their content finds the rest.
 *
 *   copy_rows.c    tables, cursors, the walk over two of them, writes in bounded transactions
 *   copy_tree.c    one tree, and walks over trees
 *   copy_whole.c   tables that belong to no tree, attachments
 *   copy.c         the two stores, the passes
 */
#ifndef CORE_UPKEEP_COPY_H
#define CORE_UPKEEP_COPY_H

#include "core/txn.h"
#include "base/host.h"

/* Keys of `meta`. */
#define COPY_IDENTITY "identity" /* of a store that was copied */
#define COPY_FROM "copy_from"    /* identity of the source */
#define COPY_STATE "copy_state"  /* COPY_BEGUN or COPY_DONE */
#define COPY_TREE_AT "copy_tree" /* all trees up to this one are copied and verified */
#define COPY_EVENT "copy_event"  /* events up to this one may be copied */
#define COPY_SEEN "copy_seen"    /* the trees that events up to this one name are copied */
#define COPY_LOCK "copy_lock"    /* "OWNER DEADLINE HOST" of the writer */
#define COPY_BEGUN "begun"
#define COPY_DONE "done"

#define COPY_LOCK_US (INT64_C(20) * 1000000) /* it expires this long after it was renewed */
#define COPY_LOCK_TEXT (UUID_TEXT + 32 + HOST_TEXT)

/* ramet_open() that also opens the unfinished target of a copy (core/handle.c). */
ramet_status copy_target_open(const char *where, const ramet_options *opt, ramet **out,
                              ramet_error *err);

/* ---- rows (core/upkeep/copy_rows.c) */

typedef struct copy_cell {
    bool null;
    int64_t number;
    const char *bytes; /* texts and bytes */
    size_t n;
} copy_cell;
/* A column of a row, in an arena. Type 'i' is a number, 't' a text, else bytes. */
copy_cell copy_cell_read(db_stmt *q, int n, char type, arena *a);

#define COPY_KEY 5 /* most columns of a key */

typedef enum { COPY_RANGE, COPY_TREE, COPY_WHOLE, COPY_SPAN } copy_reach;

typedef struct copy_table {
    const char *name;
    const char *const *columns;
    const char *types;
    size_t n;
    copy_reach reach;
    bool moves; /* its key may change */
    size_t key[COPY_KEY], n_key;
    sql_id read, add, cut, drop;
} copy_table;

#define T(name, ...) COPY_T_##name,
enum { COPY_TABLES(T) COPY_N_TABLES };
#undef T
extern const copy_table copy_tables[COPY_N_TABLES];

typedef struct copy_cursor {
    db *db;
    const copy_table *table;
    int64_t tree, upto;
    arena *arena, *spare; /* memory of the page, and of the previous one, which has the last key */
    copy_cell after[COPY_KEY];
    copy_cell *rows;
    size_t n, at, limit;
    bool last;     /* there is no page after this one */
    int64_t spent; /* reading all pages so far, in microseconds */
} copy_cursor;

typedef struct copy_change {
    const copy_table *table;
    const copy_cell *row;
    bool cut, there; /* remove it; it exists with other content */
} copy_change;

typedef struct copy_mark {
    const char *key, *value;
} copy_mark;

typedef struct copy_job {
    ramet_call *call; /* of the source: the caller's */
    ramet_call *to;   /* of the target */
    const ramet_copy_in *in;
    ramet_copy_out *out;
    ramet_progress progress;
    void *arg;
    const char *doing;
    int64_t done, total;
    ramet_error err; /* the first failure, which ends the copy */

    txn src, dst; /* snapshots, while `reading` */
    bool reading;
    bool moving; /* rows are being written: the snapshot of the target is renewed after each write,
                    so that its log does not grow; no statement is open on it then */
    copy_cursor from, with;

    char owner[UUID_TEXT], host[HOST_TEXT];
    int64_t written_at;       /* last write to the target, by time_mono_us() */
    arena *batch;             /* memory of pending changes */
    VEC(copy_change) changes; /* in `batch` */
    VEC(copy_mark) marks;     /* in `batch` */

    sha *digest[2]; /* over the rows compared, for each side */
    VEC(ramet_copy_fault) faults;
    int64_t extra[COPY_N_TABLES]; /* rows that the source does not have, in the last walk */
    int64_t changed;              /* changes so far */
    VEC(int64_t) otherwise;       /* trees with a row that differs; in `tree` */
    arena *chunk, *tree;          /* memory for a few trees, and for one */
} copy_job;

/* Sets the first failure. */
void copy_fail(copy_job *j, ramet_status st, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void copy_fault(copy_job *j, const copy_table *t, const copy_cell *row, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* False when the copy has failed or was stopped. Reports progress, and renews the lock. */
bool copy_tick(copy_job *j);

/* Walks a table on both sides: rows after `lo` up to `upto` (RANGE, SPAN), of a tree (RANGE, TREE).
 * One of the two rows is NULL when only one side has it. `each` returns false to stop. */
typedef bool (*copy_each)(copy_job *j, const copy_table *t, const copy_cell *from,
                          const copy_cell *with);
void copy_merge(copy_job *j, const copy_table *t, int64_t tree, int64_t lo, int64_t upto,
                copy_each each);
/* The tree that a row belongs to; 0: none. */
int64_t copy_tree_of(const copy_table *t, const copy_cell *row);
bool copy_same(const copy_table *t, const copy_cell *a, const copy_cell *b);
/* Writes what the target lacks; removes what the source lacks; reports what differs. */
bool copy_put_each(copy_job *j, const copy_table *t, const copy_cell *from, const copy_cell *with);
bool copy_cut_each(copy_job *j, const copy_table *t, const copy_cell *from, const copy_cell *with);
bool copy_check_each(copy_job *j, const copy_table *t, const copy_cell *from,
                     const copy_cell *with);

/* Queues a change, or a mark in the target's meta, for the next write. */
void copy_change_add(copy_job *j, const copy_change *change);
void copy_mark_add(copy_job *j, const char *key, int64_t value);
void copy_flush(copy_job *j);
/* The text of the lock from now on. */
void copy_lock_text(const copy_job *j, char out[COPY_LOCK_TEXT]);

/* Takes snapshots of both sides, or a new one of the target alone; ends them. */
bool copy_read_begin(copy_job *j);
bool copy_read_target(copy_job *j);
void copy_read_end(copy_job *j);

/* ---- trees (core/upkeep/copy_tree.c) */

typedef enum {
    COPY_ALL,      /* everything of every tree after `at` */
    COPY_NAMED,    /* what differs in the trees of the list */
    COPY_COMPARED, /* what differs in any tree, compared without its content */
    COPY_VERIFY    /* nothing is written */
} copy_mode;

typedef struct copy_walk {
    copy_mode mode;
    int64_t at;
    const int64_t *list;
    size_t n;
    size_t size;     /* trees in one snapshot; adapts to how long they take */
    int64_t changed; /* trees that differed */
} copy_walk;
void copy_walk_run(copy_job *j, copy_walk *w);
/* Reports rows of the source that belong to nothing. In the target such rows are left over from an
 * earlier copy of a tree that has since been removed; they are deleted (not when verifying). */
void copy_orphans(copy_job *j);

/* ---- tables of no tree (core/upkeep/copy_whole.c) */

/* `upto`: the last event that may be copied. `cut`: remove attachments that the source lacks. */
void copy_whole(copy_job *j, int64_t upto, bool cut);
void copy_whole_verify(copy_job *j);
/* Runs a statement without parameters that returns a number. */
int64_t copy_number(db *d, sql_id what);

#endif
