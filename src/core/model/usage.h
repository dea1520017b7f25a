/* SPDX-License-Identifier: Apache-2.0
 *
 * usage.h: sums of usage over branches and paths.
 */
#ifndef CORE_MODEL_USAGE_H
#define CORE_MODEL_USAGE_H

#include "core/model/path.h"

void usage_write(txn *tx, int64_t tree, int64_t k, const ramet_usage *u);
typedef struct usage_acc usage_acc;
usage_acc *usage_acc_new(arena *a);
/* Adds [lo, hi) of one branch, or of a path, to a sum. */
void usage_acc_add(txn *tx, usage_acc *acc, int64_t tree, int64_t branch, int64_t lo, int64_t hi);
void usage_acc_path(txn *tx, usage_acc *acc, const branch_row *head, int64_t lo, int64_t hi);
ramet_usage_sum usage_acc_sum(usage_acc *acc);

#endif
