/* SPDX-License-Identifier: Apache-2.0
 *
 * idempotency.h: answers kept by an idempotency key (ramet_call_once()).
 */
#ifndef CORE_IDEMPOTENCY_H
#define CORE_IDEMPOTENCY_H

#include "core/txn.h"

/* Takes what ramet_call_once() set for this write; *out is NULL when there is nothing. */
ramet_status idempotency_take(ramet_call *c, ramet_once **out);
/* Runs a write unless its key was used already, and stores its answer. */
ramet_status idempotency_run(txn *tx, ramet_once *o, txn_op run, void *arg);
/* For a call that must read before it can write: an earlier execution may have changed what it
 * reads. *done: the key was used already, `repeated` is filled in and nothing is left to do. */
ramet_status idempotency_early(ramet_call *c, bool *done);
ramet_status idempotency_prune(ramet_call *c);

#endif
