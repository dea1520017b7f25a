/* SPDX-License-Identifier: Apache-2.0
 *
 * export.h: what the files of an export share.
 *
 *   X1  A tree is read in one snapshot. Its sessions and branches are in memory while it is
 *       written, its entries are not: memory does not grow with the length of histories.
 *   X2  A session that is not exported (deleted, another user's private one, not asked for) is
 *       never named. Where an exported session was forked from it, or shares entries with it, its
 *       place stands in the file as a session that is gone, and of its branches exactly the entries
 *       that exported sessions hold. That is what gc leaves of a session, too.
 *   X3  Everything is written in an order that an import keeps (R2 in record.h).
 *
 *   export.c        scope, trees one after the other
 *   export_tree.c   which sessions, branches and entries of a tree are exported
 *   export_jsonl.c  a tree as records
 *   export_prune.c  a tree of which only chosen paths are exported, as records
 *   export_text.c   a tree as Markdown or HTML
 */
#ifndef CORE_EXPORT_EXPORT_H
#define CORE_EXPORT_EXPORT_H

#include "ramet/export.h"
#include "core/export/record.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/entry.h"

typedef struct export_session {
    const copy_cell *row; /* of the table */
    session_access access;
    int64_t parent, created;
    int64_t n;   /* its number in the file; 0: it is not in it */
    bool full;   /* exported; else it is gone, as far as the file tells */
    bool hidden; /* not even the time of its creation may be told */
} export_session;

typedef struct export_branch {
    branch_row row;
    int64_t n;                              /* its number in the file; 0: it is not in it */
    int64_t len;                            /* entries up to here are in the file */
    int64_t need;                           /* entries up to here are on a path that is exported */
    bool full;                              /* of a session that is exported */
    uint8_t start[HASH_LEN], tip[HASH_LEN]; /* hashes at its base, and at `len` */
} export_branch;

typedef struct export_tree {
    txn *tx;
    arena *arena; /* of the tree */
    int64_t tree, root;
    const copy_cell *row;
    const char *id;           /* the tree's own, or one for this part of it */
    export_session *sessions; /* by number */
    size_t n_sessions;
    export_branch *branches; /* by number */
    size_t n_branches;
    note_list notes; /* of all its sessions */
    int64_t sessions_out, branches_out, entries_out;
    bool pruned;                        /* something of an exported session is left out */
    struct attachment_row *attachments; /* that exported entries refer to, each once */
    size_t n_attachments;
} export_tree;

typedef struct export_job {
    ramet_call *call;
    const ramet_export_in *in;
    ramet_write write;
    void *arg;
    ramet_progress progress;
    void *progress_arg;
    ramet_export_out *out;
    int64_t total; /* entries, as far as known */
    buf text;      /* what was not handed out yet */
    json_writer w; /* on `text` */
    sha *digest;   /* of what was written */
    arena *tree, *page, *entry;
    bool stopped; /* by the caller */
} export_job;

/* Hands out what is there, when it is enough or at the end. False: stop. */
bool export_flush(export_job *j, bool all);
/* A record ends: its line does. */
bool export_line(export_job *j);
/* Counts entries and tells progress. False: stop. */
bool export_tick(export_job *j, int64_t entries);

/* ---- export_tree.c */

/* Reads the rows of a table that belong to a tree, in order, a page at a time. False from `each`
 * ends it; rows live until the next page. */
typedef bool (*export_row)(void *arg, const copy_table *t, copy_cell *row);
void export_rows(txn *tx, arena *page, const copy_table *t, int64_t tree, const copy_cell *after,
                 export_row each, void *arg);
/* `session` 0: all that the caller may see. False: nothing of the tree is exported. */
bool export_tree_load(export_job *j, txn *tx, int64_t tree, int64_t session, export_tree *t);
export_session *export_session_at(const export_tree *t, int64_t no);
export_branch *export_branch_at(const export_tree *t, int64_t id);
/* Reads the entries of a branch that are in the file. The entry lives until the next one. */
typedef bool (*export_entry)(void *arg, const export_branch *b, const ramet_entry *e,
                             const entry_cols *cols, int64_t peer);
bool export_entries(export_job *j, const export_tree *t, const export_branch *b, int64_t from,
                    int64_t to, export_entry each, void *arg);

/* ---- export_prune.c */

/* Whether only chosen paths are exported. */
bool export_prunes(const export_job *j);
/* Whether a branch of an exported session was chosen. */
bool export_chosen(const export_job *j, const export_session *s, const branch_row *b);
/* Whether it is the session's first branch. */
bool export_begins(const export_session *s, const branch_row *b);
/* The row of a session, its head log and its record, as they are with what is left. */
void export_pruned_session(const export_tree *t, const export_session *s, copy_cell *row);
void export_pruned_moves(export_job *j, export_tree *t);
void export_pruned_runs(export_job *j, const export_tree *t);

/* ---- formats */

ramet_status export_jsonl_begin(export_job *j);
/* Within the snapshot of the tree, and what comes behind it when that has ended: content is read in
 * reads of its own, and no read may wait for another one. */
ramet_status export_jsonl_tree(export_job *j, export_tree *t);
ramet_status export_jsonl_contents(export_job *j, const export_tree *t);
ramet_status export_jsonl_end(export_job *j);

ramet_status export_text_begin(export_job *j);
ramet_status export_text_tree(export_job *j, export_tree *t);
ramet_status export_text_end(export_job *j);

#endif
