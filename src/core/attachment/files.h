/* SPDX-License-Identifier: Apache-2.0
 *
 * files.h: where the content of attachments is stored. Two kinds, chosen when the store is opened:
 *
 *   folder  a file for each content, named by its SHA-256 (files_folder.c); invariants A1 to A3 in
 *           attachment.h describe it
 *   tables  rows of the database, in parts of PART_BYTES (files_tables.c). They change in the
 *           transaction that writes or removes the row which names them, so no lock is needed. An
 *           upload in progress has a key of its own, which records when it began
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

/* Receives a piece of a content; returns false to stop, with errno. */
typedef bool (*file_take)(void *arg, const void *bytes, size_t n);

/* ---- writing content */

typedef struct incoming {
    const files_kind *kind;
    ramet_call *call;
} incoming;

ramet_status content_begin(ramet_call *c, incoming **out);
ramet_status content_add(incoming *w, const void *bytes, size_t n);
/* All bytes have arrived: moves them to their final location, as far as possible before the row. */
ramet_status content_seal(incoming *w, const uint8_t digest[HASH_LEN]);
/* Does the rest, in the transaction that writes the row. */
ramet_status content_keep(incoming *w, txn *tx);
/* Called after the row is committed (`kept`), or to abandon the content. NULL is fine. */
void content_end(incoming *w, bool kept);

/* ---- stored content */

/* Opens a file to read it from; *fd is -1 when it is missing. */
ramet_status file_open(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size, int *fd);
/* Passes `n` bytes from an offset on to `take`. Returns NULL, or what is wrong with it. */
const char *file_read(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t from,
                      int64_t n, file_take take, void *arg);
/* NULL when it has that content, else what is wrong with it. */
const char *file_fault(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t size);
/* Whether a row names the content; also true when the lookup fails. */
bool file_named(ramet_call *c, const uint8_t digest[HASH_LEN]);
/* Removes it when no row names it. */
void file_reap(ramet_call *c, const uint8_t digest[HASH_LEN]);
/* Removes all content that no row names or is about to name. Calls `each` before each one, which
 * returns RAMET_OK to continue. */
typedef ramet_status (*sweep_each)(void *arg);
ramet_status files_sweep(ramet_call *c, sweep_each each, void *arg);
/* Copies content to another store, unless it is complete there. *fault gets NULL, or what is wrong
 * with the content here, which is not copied then. */
ramet_status file_carry(ramet_call *c, ramet_call *to, arena *a, const uint8_t digest[HASH_LEN],
                        int64_t size, const char **fault);

/* ---- backup of a folder; content in tables is part of the database's own backup */

/* Keeps files from being removed until the descriptor is closed; -1: there are none. */
int files_hold(ramet_call *c);
/* Copies the files to a folder, which must not exist. A failed copy leaves nothing there. */
ramet_status files_copy(ramet_call *c, const char *target, ramet_progress progress, void *arg);

/* ---- the interface of a kind */

struct files_kind {
    const char *word; /* names it in messages: "its file is missing" */
    ramet_status (*begin)(ramet_call *c, incoming **out);
    ramet_status (*add)(incoming *w, const void *bytes, size_t n);
    ramet_status (*seal)(incoming *w, const uint8_t digest[HASH_LEN]);
    ramet_status (*keep)(incoming *w, txn *tx); /* NULL: nothing to do */
    void (*end)(incoming *w, bool kept);
    ramet_status (*open)(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size, int *fd);
    /* Both return NULL, or what is wrong, without the word. */
    const char *(*size)(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t *out);
    const char *(*read)(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t from,
                        int64_t n, file_take take, void *arg);
    void (*reap)(ramet_call *c, const uint8_t digest[HASH_LEN]);
    ramet_status (*sweep)(ramet_call *c, sweep_each each, void *arg);
};

extern const files_kind files_folder, files_tables;

/* Writes all bytes; false with errno on failure. */
bool bytes_write(int fd, const void *bytes, size_t n);

#endif
