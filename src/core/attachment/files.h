/* SPDX-License-Identifier: Apache-2.0
 *
 * files.h: where the content of attachments is stored. Two kinds, chosen when the store is opened:
 *
 *   folder  a file for each content, named by its SHA-256 (files_folder.c); invariants A1 to A3 in
 *           attachment.h are about it
 *   tables  rows of the database, in parts of PART_BYTES (files_tables.c). They change in the
 *           transaction that writes or removes the row which names them, so no lock is needed; what
 *           is under way lies under a key of its own, which tells when it was begun
 *
 * Nothing here holds more than one part of a content in memory.
 */
#ifndef CORE_ATTACHMENT_FILES_H
#define CORE_ATTACHMENT_FILES_H

#include "core/txn.h"

#include <sys/stat.h>

#define PART_BYTES ((size_t)256 << 10)

typedef struct files_kind files_kind;

struct files {
    const files_kind *kind;
    char *root; /* of a folder, else NULL */
};

/* `folder` NULL: beside the store when that is a file, else in its tables. */
struct files *files_open(const store *st, const char *folder);
void files_close(struct files *f);

/* Pieces of a content; false: no more of it is wanted, errno says why. */
typedef bool (*file_take)(void *arg, const void *bytes, size_t n);

/* ---- content on its way in */

typedef struct incoming {
    const files_kind *kind;
    ramet_call *call;
} incoming;

ramet_status content_begin(ramet_call *c, incoming **out);
ramet_status content_add(incoming *w, const void *bytes, size_t n);
/* All of it is there: brings it to where that content belongs, as far as it can before the row. */
ramet_status content_seal(incoming *w, const uint8_t digest[HASH_LEN]);
/* The rest, in the transaction that writes the row. */
ramet_status content_keep(incoming *w, txn *tx);
/* After the row is committed (`kept`), or instead of all that. NULL is fine. */
void content_end(incoming *w, bool kept);

/* ---- content that is there */

/* A file to read it from; *fd is -1 when it is missing. */
ramet_status file_open(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size, int *fd);
/* Hands over `n` bytes from an offset on. NULL, or what is wrong with it. */
const char *file_read(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t from,
                      int64_t n, file_take take, void *arg);
/* NULL when it has that content, else what is wrong with it. */
const char *file_fault(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t size);
/* Whether a row names the content; true also when that cannot be told. */
bool file_named(ramet_call *c, const uint8_t digest[HASH_LEN]);
/* Removes it when no row names it. */
void file_reap(ramet_call *c, const uint8_t digest[HASH_LEN]);
/* Removes all that no row names and nobody is about to. `each` is called before each look, and
 * answers RAMET_OK to go on. */
typedef ramet_status (*sweep_each)(void *arg);
ramet_status files_sweep(ramet_call *c, sweep_each each, void *arg);
/* Brings content to another store, unless it is there and whole. *fault: NULL, or what is wrong
 * with the content here, which is then not brought. */
ramet_status file_carry(ramet_call *c, ramet_call *to, arena *a, const uint8_t digest[HASH_LEN],
                        int64_t size, const char **fault);

/* ---- backup of a folder; the tables are in the database's own */

/* Keeps files from being removed until it is closed; -1: there are none. */
int files_hold(ramet_call *c);
/* Copies them to a folder, which must not exist. On failure nothing is left there. */
ramet_status files_copy(ramet_call *c, const char *target, ramet_progress progress, void *arg);

/* ---- what a kind is */

struct files_kind {
    const char *word; /* for messages: "its file is missing" */
    ramet_status (*begin)(ramet_call *c, incoming **out);
    ramet_status (*add)(incoming *w, const void *bytes, size_t n);
    ramet_status (*seal)(incoming *w, const uint8_t digest[HASH_LEN]);
    ramet_status (*keep)(incoming *w, txn *tx); /* NULL: nothing is left to do then */
    void (*end)(incoming *w, bool kept);
    ramet_status (*open)(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size, int *fd);
    /* Both: NULL, or what is wrong, without the word. */
    const char *(*size)(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t *out);
    const char *(*read)(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t from,
                        int64_t n, file_take take, void *arg);
    void (*reap)(ramet_call *c, const uint8_t digest[HASH_LEN]);
    ramet_status (*sweep)(ramet_call *c, sweep_each each, void *arg);
};

extern const files_kind files_folder, files_tables;

/* Writes all of it; false and errno when that fails. */
bool bytes_write(int fd, const void *bytes, size_t n);

#endif
