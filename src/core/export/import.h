/* SPDX-License-Identifier: Apache-2.0
 *
 * import.h: what the files of an import share.
 *
 *   M1  The file lies in a spool. It is read twice: once to check everything, the hash of every
 *       entry and how the records of a tree fit together included; then to write. Nothing is
 * written before the first pass has come to its end. M2  While a tree is being written, its
 * sessions are tombstones (G5 in core/upkeep/gc.c), and each branch is as long as the entries that
 * were written to it, and starts on its parent only when that is complete. So at any time the store
 * is sound, nobody sees anything of the tree, and gc removes it when the import died. The last
 * transaction puts the sessions in place of their tombstones, after fsck's own checks of how they,
 * their moves, records and branches refer to each other have found nothing in the rows either. M3
 * A note in `meta` ("import TREE") says which process writes a tree and until when; gc leaves the
 * tree alone until then. M4  What is in the store already is compared and not written. So an import
 * that was interrupted is done again from the start, and writes only what is missing. M5  Memory
 * grows with the sessions, branches and overlays of one tree, with one batch of rows, and by some
 * bytes for each reference from one tree to another. M6  References between trees are set when all
 * trees are there, whichever comes first; also those that an import which died had not set yet.
 *
 * Files of other programs come into the same spool; src/foreign reads them.
 *
 *   import.c         spools, the two passes
 *   import_read.c    lines, and the sessions and branches of a tree
 *   import_check.c   the first pass
 *   import_ids.c     in the first pass: no id is on a path twice
 *   import_unique.c  in the first pass: no session, turn or other thing is in the file twice
 *   import_fit.c     in the first pass: sessions, branches, moves and records fit together
 *   import_known.c   what of a tree is in the store already
 *   import_write.c   the second pass: rows in bounded transactions
 *   import_more.c    overlays, what agents were sent, origins of copies, erased entries
 *   import_end.c     the last transaction of a tree
 *   import_links.c   references between trees
 */
#ifndef CORE_EXPORT_IMPORT_H
#define CORE_EXPORT_IMPORT_H

#include "ramet/export.h"
#include "core/export/import_lock.h"
#include "core/export/record.h"
#include "core/model/branch_note.h"
#include "core/model/copied.h"
#include "core/model/branch.h"
#include "core/model/entry.h"

/* Lines of a file, each with its number. */
typedef struct import_reader {
    int fd;
    char *p;
    size_t at, n, cap, most; /* [at, n) was read and not given out; most bytes of a line */
    int64_t offset, line;    /* of the next line; lines count from 1 */
    sha *digest;             /* of the lines before the last one given; NULL: not wanted */
    const char *last;        /* the line given last */
    size_t last_n;
} import_reader;

typedef struct import_session {
    int64_t parent, created, no, depth;
    bool gone;
    bool has_values; /* for entries that it was made with */
    int64_t line;
    /* the first pass; the second reads the record again */
    const char *id;
    int type;
    int64_t head, adk, first, first_adk, undo, redo, moves, merged_into;
    int64_t fill_len[RAMET_LOG_ADK + 1]; /* entries that its values are meant for, by log */
    /* the second pass */
    int64_t last[RAMET_LOG_ADK + 1]; /* the branch where its record goes on, by log */
} import_session;

typedef struct import_branch {
    int64_t session, parent, over, base, len, created, touched, overlay, filled;
    int log, type;
    uint8_t start[HASH_LEN], tip[HASH_LEN];
    /* the first pass */
    int64_t next;         /* position that must come */
    uint8_t at[HASH_LEN]; /* hash before it */
    int64_t line;
    size_t kids, n_kids; /* branches that start on it, in import_tree.kids, by base */
    branch_note note;    /* note.branch 0: there is none */
    /* the second pass */
    branch_row row;
    int64_t jump;    /* number in the file of the branch that row.meta.jump names */
    bool live, last; /* a head; the record goes on here */
} import_branch;

/* Of an overlay: what its set takes (O3 in core/model/overlay_set.c). */
typedef struct import_overlay_sum {
    int64_t size, bytes;
} import_overlay_sum;

/* A tree of the file: what is known of it from its first records. */
typedef struct import_tree {
    const char *id, *sandbox;
    int64_t created, line;
    int64_t n_sessions, n_branches, n_entries; /* as the tree's record has them */
    import_session *sessions;                  /* by number, from 1 */
    import_branch *branches;
    size_t *kids;
    import_overlay_sum *overlays; /* by number, from 1 */
    int64_t have_sessions, have_branches, have_entries, have_full, have_overlays;
    int64_t tree; /* its number in the store, once it is being written */
} import_tree;

/* A record that refers to another tree. */
typedef struct import_link {
    int64_t offset, line;
    size_t mark; /* of its tree */
} import_link;

/* Where a tree lies in the file. */
typedef struct import_mark {
    int64_t offset, line;
    int64_t sessions_offset, sessions_line; /* its members, then its sessions */
    int64_t contents_offset, contents_line; /* its attachments; 0: none */
    bool known;
} import_mark;

/* What an entry's record says beside the entry. */
typedef struct import_about {
    int64_t branch, peer;
    copied_from *origins; /* of a copy */
    size_t n_origins;
    bool foreign; /* one of them is in another tree */
} import_about;

typedef struct import_op {
    enum { OP_ROW, OP_ENTRY } kind;
    record_kind of; /* OP_ROW */
    copy_cell *row;
    entry_new *entry; /* OP_ENTRY */
    import_about about;
    import_branch *branch;
    int64_t line;
} import_op;

/* Ids that came in the first pass: those of a tree's entries, or of the file's other things. */
typedef struct import_ids {
    arena *arena;
    uint64_t *bits, mask; /* a Bloom filter of all */
    uint64_t *slots;      /* hashes of ids that came twice, or seem to; 0: free */
    size_t n_slots, n_suspects;
    bool all;             /* there are too many: all ids are looked at again */
    char last[64];        /* the greatest id so far, of those that fit */
    int64_t n_all;        /* ids that came */
    int64_t n_again;      /* those of them that were in the filter */
    int64_t offset, line; /* of the first entry */
} import_ids;

typedef struct import_job {
    ramet_call *call;
    import_reader in;
    ramet_progress progress;
    void *arg;
    ramet_import_out *out;
    const char *user; /* NULL: owners and members are those of the file */
    arena *all, *tree, *line, *batch, *scratch;
    VEC(import_mark) marks;
    VEC(import_link) links; /* in `all` */
    import_ids unique;      /* ids of the file, in `all` */
    int64_t total, done;    /* entries */
    import_tree t;
    VEC(import_op) ops; /* in `batch` */
    char host[HOST_TEXT];
} import_job;

/* RAMET_IMPORT_DAMAGED with the number of the line. */
ramet_status import_damaged(import_job *j, int64_t line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
bool import_tick(import_job *j, const char *doing, int64_t entries);
ramet_status import_stopped(import_job *j);

/* ---- import_read.c */

/* What a check of the library found wrong is wrong with the line. */
ramet_status import_checked(import_job *j, int64_t line, ramet_status st);
/* References to sessions, branches and entries of the tree, from 1; 0 is none. With `translate`
 * they become numbers of the store. */
ramet_status import_session_ref(import_job *j, int64_t line, bool may_be_gone, bool translate,
                                int64_t *v);
ramet_status import_branch_ref(import_job *j, int64_t line, bool translate, int64_t *v);
ramet_status import_key_ref(import_job *j, int64_t line, bool may_be_end, bool translate,
                            int64_t *v);
void reader_init(import_reader *r, int fd, size_t most);
void reader_release(import_reader *r);
void reader_seek(import_reader *r, int64_t offset, int64_t line);
/* The next line, without its end; NULL at the end of the file. *st: RAMET_IMPORT_DAMAGED when a
 * line is too long, RAMET_IO. */
const char *reader_next(import_job *j, import_reader *r, size_t *n, ramet_status *st);
/* The next record, in `a`; r->kind RECORD_UNKNOWN at the end of the file. */
ramet_status import_next(import_job *j, import_reader *in, arena *a, record *r);
/* How many forks are above each session. The first one that is not below the root, or 0. */
int64_t import_depths(import_tree *t);
/* The branches of the tree (indexes), parents before children: the order of their entries. */
size_t *import_order(import_job *j);
/* Takes a record of the tree's model: tree, session, gone, branch. */
ramet_status import_model(import_job *j, record *r, int64_t line);
/* An entry from its record. `writing`: it is made ready to be written, and its hash is not computed
 * again. */
ramet_status import_entry(import_job *j, record *r, int64_t line, bool writing, entry_new *n,
                          import_about *about);
/* References of a row to sessions and branches of the tree, checked; with `translate` they become
 * numbers of the store. */
ramet_status import_refs(import_job *j, record_kind kind, copy_cell *row, int64_t line,
                         bool translate);
/* The `sides` of a verdict; with `translate` as the store keeps them. */
ramet_status import_sides(import_job *j, record *r, int64_t line, bool translate, const char **out);

/* ---- import_more.c */

/* The member `origins` of an entry; with `translate` in numbers of the store. One in another tree
 * is empty until all trees are there (M6). */
ramet_status import_origins(import_job *j, record *r, int64_t line, bool translate,
                            import_about *about);
/* The n-th origin when it is in another tree; false: it is not. In the record's arena. */
typedef struct import_foreign {
    const char *session, *entry;
    uint8_t hash[HASH_LEN];
} import_foreign;
bool import_origin_foreign(record *r, size_t n, import_foreign *out);
/* Room for one more of `have` rows. */
void *import_grow(arena *a, void *items, int64_t have, size_t size);
/* The next overlay of the tree, checked; with `translate` a row as the store keeps it. */
ramet_status import_overlay(import_job *j, record *r, int64_t line, bool translate, copy_cell *row);
/* What the agent of a turn was sent, checked; `data` is packed with `translate`. */
ramet_status import_prompt(import_job *j, record *r, int64_t line, bool translate, copy_cell *row);

/* ---- import_ids.c */

void import_ids_begin(import_ids *ids, arena *a, int64_t n_entries);
void import_ids_add(import_ids *ids, const char *id);
/* RAMET_IMPORT_DAMAGED when an id is on a path twice. Reads the entries again if any may be. */
ramet_status import_ids_check(import_job *j, const import_ids *ids);

/* Suspects are looked at again in so many rounds, each with a part of them: the ids that came
 * before, or seem to. */
uint64_t import_ids_parts(const import_ids *ids);
bool import_ids_suspects(const import_ids *ids, const char *id, uint64_t part, uint64_t n_parts);

/* ---- import_unique.c */

/* Notes an id of the file, in the first pass. */
void import_unique_begin(import_job *j);
void import_unique_add(import_job *j, record *r);
/* RAMET_IMPORT_DAMAGED when two records have one id. Reads the file again if any may have. */
ramet_status import_unique_check(import_job *j);

/* ---- the passes */

ramet_status import_check(import_job *j);
/* Whether the records of a tree fit together. `order` is import_order(); its runs and moves begin
 * at that line. */
ramet_status import_fit(import_job *j, const size_t *order, int64_t offset, int64_t line);
/* Whether the store has the whole tree (*known), nothing of it, or something else of it, which is
 * RAMET_IMPORT_CONFLICT. After its branches were read. */
ramet_status import_known(import_job *j, const import_mark *m, bool *known);
/* Whether a turn or task of the store has the id. One that an import which died has left, in a tree
 * that nobody sees, does not count: *left_in is that tree, else 0. */
bool import_id_taken(txn *tx, record_kind kind, const char *id, int64_t *left_in);
/* RAMET_IMPORT_CONFLICT when the store has the attachment with another content. */
ramet_status import_attachment_free(import_job *j, const char *id, const uint8_t sha256[HASH_LEN],
                                    int64_t line);
/* RAMET_IMPORT_CONFLICT when the store has another thing of that kind with the id. */
ramet_status import_id_free(import_job *j, record_kind kind, const char *id, int64_t line);
ramet_status import_tree_write(import_job *j, const import_mark *m);
ramet_status import_tree_end(import_job *j, const import_mark *m);
ramet_status import_links_write(import_job *j);
/* The row of an empty branch with these numbers; then, for all of a tree, their lineage. */
void import_branch_number(import_branch *b, int64_t tree, int64_t id, int64_t session);
void import_lineage(import_tree *t, const size_t *order);
/* Length, tip and marks of a branch, as they are by now. */
void import_branch_update(txn *tx, const import_branch *b);
/* Inserts a row by its table. */
void import_row_add(txn *tx, int table, const copy_cell *row);

#endif
