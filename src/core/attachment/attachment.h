/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment.h: rows of attachments, and how entries refer to them.
 *
 *   A1  A row of `attachment` is one upload. Its content is named by its SHA-256 and stored once,
 *       however many rows name it. In a folder (PATH.files beside the database file, or the folder
 *       given in the options) it is the file FOLDER/ab/cdef…; files.h describes the other kind.
 *   A2  The file is complete, in its final location and synced before the row is committed, and is
 *       removed only after the last row that names it. So a crash leaves at most a file without a
 *       row, which gc removes.
 *   A3  A writer of a file holds a shared lock on its folder (ab) from before the rename until the
 *       row is committed. A remover holds that lock exclusively, and looks for rows once it has
 *       it. A remover also shares the lock of PATH.files, which a backup holds exclusively: no
 *       file is removed while a snapshot that names it is copied. Locks are flock(2), so they end
 *       with their process. No thread waits for a lock while it has a read connection.
 *   A4  An entry that refers to attachments has a row in `attached` for each, written in the same
 *       commit. An attachment with such a row does not expire, one without does.
 */
#ifndef CORE_ATTACHMENT_ATTACHMENT_H
#define CORE_ATTACHMENT_ATTACHMENT_H

#include "ramet/memory.h"
#include "core/model/entry.h"
#include "core/txn.h"

#define UNUSED_US (INT64_C(24) * 3600 * 1000000) /* the life of one that no entry refers to */

typedef struct attachment_row {
    const char *id, *name, *media_type, *owner;
    uint8_t sha[HASH_LEN];
    int64_t size, created, expires;
} attachment_row;

bool attachment_load(txn *tx, const char *id, attachment_row *r);
void attachment_insert(txn *tx, const attachment_row *r);
ramet_attachment *attachment_show(txn *tx, const attachment_row *r);
/* `hidden`: it exists, but the caller may not know that. */
ramet_status attachment_missing(ramet_call *c, const char *field, const char *id, bool hidden);
/* Makes another attachment with the content of one that the tree refers to. */
ramet_status attachment_again(txn *tx, int64_t tree, const ramet_again *a);
/* RAMET_ATTACHMENT_NOT_FOUND when the caller may not refer to one of the entry's attachments. */
ramet_status attachments_check(txn *tx, const entry_new *n);
/* Records that an entry refers to its attachments. */
void attachments_link(txn *tx, int64_t tree, int64_t k, const entry_new *n);

#endif
