/* SPDX-License-Identifier: Apache-2.0
 *
 * export.h: what the files of an export share.
 *
 *   X1  A tree is read in one snapshot. Its sessions, branches and overlays (without their texts)
 *       are in memory while it is written, its entries are not: memory does not grow with the
 *       length of histories.
 *   X2  A session that is not exported (deleted, another user's private one, not asked for) is
 *       never named. Where an exported session was forked from it, or shares entries with it, its
 *       place stands in the file as a session that is gone, and of its branches exactly the entries
 *       that exported sessions hold. That is what gc leaves of a session, too.
 *   X3  Everything is written in an order that an import keeps (R2 in record.h).
 *   X4  A reference to a session of another tree is in the file when that session is: an import
 * finds it then.
 *
 *   export.c        scope, trees one after the other
 *   export_tree.c   which sessions, branches and entries of a tree are exported
 *   export_jsonl.c  a tree as records
 *   export_overlay.c  its overlays, what agents were sent, and where copies came from
 *   export_prune.c  a tree of which only chosen paths are exported, as records
 *   export_text.c   a tree as Markdown or HTML
 *   export_context.c  the context view of a path, for these; and as records
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
    int64_t n;                          /* its number in the file; 0: it is not in it */
    bool full;                          /* exported; else it is gone, as far as the file tells */
    bool hidden;                        /* not even the time of its creation may be told */
    const struct export_branch *newest; /* of its branches that were given a number */
} export_session;

typedef struct export_branch {
    branch_row row;
    int64_t n;                              /* its number in the file; 0: it is not in it */
    int64_t len;                            /* entries up to here are in the file */
    int64_t need;                           /* entries up to here are on a path that is exported */
    bool full;                              /* of a session that is exported */
    uint8_t start[HASH_LEN], tip[HASH_LEN]; /* hashes at its base, and at `len` */
    /* Of a pruned export: the branch of its session before it in the file; NULL: it is the first */
    const struct export_branch *before;
} export_branch;

typedef struct export_overlay {
    int64_t no, prev, prev2, k;
    int64_t n;  /* its number in the file; 0: it is not in it */
    bool empty; /* what it names is not in the file: it only keeps its place in sets */
} export_overlay;

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
    export_overlay *overlays; /* by number */
    size_t n_overlays;
    note_list notes; /* of all its sessions */
    int64_t sessions_out, branches_out, entries_out;
    bool pruned;                         /* something of an exported session is left out */
    struct attachment_row **attachments; /* that exported entries refer to, each once */
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
/* An id made of a hash. */
const char *export_id(arena *a, const uint8_t hash[HASH_LEN]);
/* Reads the entries of a branch that are in the file. The entry lives until the next one. */
typedef bool (*export_entry)(void *arg, const export_branch *b, const ramet_entry *e,
                             const entry_cols *cols, int64_t peer);
bool export_entries(export_job *j, const export_tree *t, const export_branch *b, int64_t from,
                    int64_t to, export_entry each, void *arg);

/* ---- export_jsonl.c, for the other writers of records */

typedef struct row_writer {
    export_job *job;
    export_tree *tree;
    record_kind kind;
} row_writer;
/* Replaces the numbers of the store in a row by those of the file. False: the row refers to
 * something that is not in the file, and is not either. */
bool export_row_numbers(const row_writer *w, copy_cell *row);
/* The same for the key of an entry. */
bool export_key_number(const export_tree *t, int64_t *k);
/* Writes the rows of a tree that become records of that kind. */
void export_records(export_job *j, export_tree *t, record_kind kind);
/* Whether a session of any tree is in the file, and which it is; in `j->entry`. */
bool export_session_named(export_job *j, const export_tree *t, int64_t tree, int64_t no,
                          const char **id);

/* Attachments of the file, each once. */
typedef struct attachment_finder {
    export_tree *tree;
    size_t k, id; /* columns */
    VEC(struct attachment_row *) list;
    uint32_t *slots; /* index into `list` + 1, by hash of the id */
    size_t n_slots;
} attachment_finder;
/* False (sticky): it is missing. */
bool export_attachment_add(attachment_finder *f, const char *id);
/* An entry as a record: `n` is the number of its branch. The caller adds what comes behind the
 * common members, and ends it with export_entry_end(). */
void export_entry_begin(export_job *j, int64_t n, const ramet_entry *e, const entry_cols *cols);
bool export_entry_end(export_job *j, const char *hash);
/* The record of a row, whose references are numbers of the file. */
void export_tree_record(export_job *j, const export_tree *t);
void export_session_record(export_job *j, const export_tree *t, const export_session *s,
                           const copy_cell *row);
void export_holds(export_job *j, export_tree *t); /* export_hold.c */
void export_members(export_job *j, export_tree *t);

/* ---- export_overlay.c */

/* Which overlays are in the file: those of the sets of exported sessions. */
void export_overlays_load(export_job *j, export_tree *t);
/* The number of a set in the file. */
int64_t export_overlay_at(const export_tree *t, int64_t no);
/* That of a branch: the overlays of sessions that are not exported are not either. */
int64_t export_branch_overlay(const export_tree *t, const export_branch *b);
void export_overlays(export_job *j, export_tree *t);
void export_prompts(export_job *j, export_tree *t);
/* The member `origins` of an entry that is a copy. */
void export_origins(export_job *j, const export_tree *t, const ramet_entry *e);

/* ---- export_prune.c */

/* Whether only chosen paths are exported. */
bool export_prunes(const export_job *j);
/* Whether a branch of an exported session was chosen. */
bool export_chosen(const export_job *j, const export_session *s, const branch_row *b);
/* Whether it is the session's first branch. */
bool export_begins(const export_session *s, const branch_row *b);
/* The row of a session, its head log and its record, as they are with what is left. */
void export_pruned_session(const export_tree *t, const export_session *s, copy_cell *row);
/* What a branch is made by when those before it are left out: its type, and the kind of its move.
 */
void export_pruned_branch(const export_tree *t, const export_branch *b, int *type, int64_t *kind);
void export_pruned_moves(export_job *j, export_tree *t);
void export_pruned_runs(export_job *j, const export_tree *t);

/* ---- export_context.c */

/* What the overlays of a path leave of its entries [from, to). The entry lives until the next one.
 */
typedef bool (*export_shown)(void *arg, const ramet_entry *e);
bool export_context(export_job *j, const export_tree *t, const export_branch *head, int64_t from,
                    int64_t to, export_shown each, void *arg);
/* The context view of the chosen path, as a tree of one session. */
ramet_status export_context_tree(export_job *j, export_tree *t);

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
