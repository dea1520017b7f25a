/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment_upkeep.h: what gc and fsck call about attachments and feedback.
 */
#ifndef CORE_ATTACHMENT_ATTACHMENT_UPKEEP_H
#define CORE_ATTACHMENT_ATTACHMENT_UPKEEP_H

#include "core/txn.h"
#include "core/upkeep/fsck.h"

/* ---- gc */

/* Removes what belongs to the entries of a range: their references to attachments, and the feedback
 * on them. An attachment that nothing else refers to expires then. */
void attached_cut(txn *tx, int64_t tree, int64_t lo, int64_t hi);
/* Removes expired attachments, and files that no row names. */
ramet_status attachments_reap(ramet_call *c, ramet_progress progress, void *arg, ramet_gc_out *out);

/* For a dry run: collects the references from ranges that gc would remove, and counts what would go
 * with them. */
typedef VEC(const char *) attached_refs;
void attached_note(txn *tx, arena *a, int64_t tree, int64_t lo, int64_t hi, attached_refs *refs);
void attachments_would_go(txn *tx, attached_refs *refs, ramet_gc_out *out);
/* How many different attachments of these are still referred to. Sorts them. */
int64_t attached_left(txn *tx, attached_refs *refs);

/* ---- fsck */

/* Checks every attachment: its file, and whether it is in use. Must come last: it ends the
 * snapshot. */
void fsck_attachments(fsck *f);
/* What is wrong with the references of an entry that has some; NULL: nothing. */
const char *fsck_files_fault(fsck *f, int64_t k, const ramet_entry *e);

#endif
