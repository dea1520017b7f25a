/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.h: entries: preparing, writing and reading them.
 */
#ifndef CORE_MODEL_ENTRY_H
#define CORE_MODEL_ENTRY_H

#include "core/model/path.h"

#define INDEXED_CHARS 100000 /* longest text that an entry is found by */

enum {
    FLAG_LARGE = 1,
    FLAG_USAGE = 2,
    FLAG_DELTA = 4,
    FLAG_TOOL = 8,
    FLAG_FILE = 16,
    FLAG_COPY = 32,
    FLAG_ERASED = 64 /* its content is gone; table erased (core/erase/erase.c) */
};
#define FLAGS_ALL                                                                                  \
    (FLAG_LARGE | FLAG_USAGE | FLAG_DELTA | FLAG_TOOL | FLAG_FILE | FLAG_COPY | FLAG_ERASED)

/* An entry that was checked and prepared on the caller's thread. */
typedef struct entry_new {
    ramet_entry entry; /* the answer; the write fills in position, branch and hash */
    const ramet_entry_in *in;
    const char *text, *parts, *body; /* content; NULL where there is none */
    const char *packed;              /* FLAG_LARGE: text, parts and body together */
    size_t packed_len;
    int flags;
    const char **files; /* FLAG_FILE: ids of the attachments that it refers to */
    size_t n_files;
    const char *files_field; /* the field that named them, for messages */
    uint8_t digest[HASH_LEN], hash[HASH_LEN];
    bool existing;     /* already on the path: */
    ramet_entry found; /* the entry that is there */
    int64_t same_as;   /* index of an earlier entry of the batch with that id, else -1 */
} entry_new;

/* Checks and prepares a batch. */
ramet_status entries_prepare(ramet_call *c, const ramet_entry_in *in, size_t n, size_t max,
                             int64_t now, entry_new **out);
/* The same for copies of entries: the caller is the author of none of them. */
ramet_status entries_prepare_copies(ramet_call *c, const ramet_entry_in *in, size_t n, int64_t now,
                                    entry_new **out);
/* An entry's content as it is stored; NULL where a column is empty. */
typedef struct entry_cols {
    const char *text, *parts, *body;
    const uint8_t *erased; /* of an erased entry: the digest that it had; else NULL */
} entry_cols;
/* Checks an entry as a store had it, and prepares it: id, author, client and time are those of `e`,
 * and the content must be in the form in which it is stored, in valid UTF-8. `writing`: it was
 * checked before; its body is packed when it is large, and its digest is not computed. The parts of
 * one that is a text alone are not made. */
ramet_status entry_restore(ramet_call *c, const ramet_entry *e, const entry_cols *cols,
                           bool writing, entry_new *n);
/* The digest of an entry's stored fields; docs/data-model.md has the canonical form. */
void entry_digest(sha *h, const ramet_entry *e, const entry_cols *cols, uint8_t out[HASH_LEN]);
/* Reads one row of ENTRY_COLS. Large bodies, usage and deltas are loaded too. `cols` may be NULL.
 * False (sticky) when a part of it is missing or damaged. */
bool entry_from(txn *tx, db_stmt *q, int64_t tree, ramet_entry *e, uint8_t hash[HASH_LEN],
                entry_cols *cols);
/* Entry of a path, by key, as that path shows it; not checked against the hash chain. */
bool entry_load(txn *tx, const branch_row *head, int64_t k, ramet_entry *e, uint8_t hash[HASH_LEN]);
/* The same as it was appended, whatever path it is on. */
bool entry_load_record(txn *tx, int64_t tree, int64_t k, ramet_entry *e, uint8_t hash[HASH_LEN]);
/* A copy that shares no memory with it (core/view/read.c). */
ramet_entry entry_keep(arena *a, const ramet_entry *e);
const ramet_erased *erased_keep(arena *a, const ramet_erased *e); /* NULL of NULL */
/* The key of an entry with that id anywhere in the tree; 0: there is none. */
int64_t key_in_tree(txn *tx, int64_t tree, const char *id);
/* Whether a stored entry has the content that the caller sent (I5). */
bool entry_same(ramet_call *c, const entry_new *n, const ramet_entry *have);
/* Writes one row with what belongs to it, and nothing else. */
void entry_insert(txn *tx, const branch_row *b, const entry_new *n, int64_t peer);
/* What is left of an erased entry, beside its row. */
void erased_write(txn *tx, int64_t tree, int64_t k, const uint8_t digest[HASH_LEN],
                  const ramet_entry *e, const ramet_erased *x);
/* Writes prepared entries at the end of a branch and brings the row up to date. */
void entries_write(txn *tx, const session_brief *s, branch_row *b, entry_new *list, size_t n);
/* The parts of an entry that consists of one text, or (NULL) of nothing. */
const char *parts_of_text(arena *a, const char *text);
/* Decompresses the text of a large body. NULL when it has none, and when it is damaged: search and
 * gc must continue then. Reading the entry reports the damage. */
const char *body_text(txn *tx, int64_t tree, int64_t k);
/* Ids of the tool calls and results in an entry's parts. */
typedef struct tool_ref {
    const char *id;
    bool result;
} tool_ref;
size_t entry_tools(arena *a, const char *parts, tool_ref **out);
/* Ids of the attachments that an entry's parts refer to. */
size_t entry_files(arena *a, const char *parts, const char ***out);

/* What a walk over a path needs to know about an entry. */
typedef struct entry_kind {
    ramet_role role;
    const char *turn; /* NULL: none */
    const char *channel, *format;
} entry_kind;
/* False when the path has no entry at that position. */
bool entry_kind_at(txn *tx, const branch_meta *head, int64_t pos, entry_kind *out);

#endif
