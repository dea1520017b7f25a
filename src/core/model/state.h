/* SPDX-License-Identifier: Apache-2.0
 *
 * state.h: the state of a session: the fold of the deltas on a path.
 */
#ifndef CORE_MODEL_STATE_H
#define CORE_MODEL_STATE_H

#include "core/model/path.h"

/* Key of the last delta on a path before position n; 0 when none. */
int64_t delta_before(txn *tx, const branch_row *head, int64_t n);
int64_t delta_before_on(txn *tx, const branch_meta *owner, int64_t inherited, int64_t n);
void delta_write(txn *tx, const branch_row *b, int64_t k, const char *json);
/* The state at the delta with that key, as JSON. */
const char *state_fold(txn *tx, int64_t tree, int64_t k);
/* The same with one more delta applied. */
const char *state_after(txn *tx, int64_t tree, int64_t prev, const char *json);

#endif
