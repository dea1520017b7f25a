/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.h: forks as a part of other work (core/ext/make.c).
 */
#ifndef CORE_MODEL_FORK_H
#define CORE_MODEL_FORK_H

#include "core/ext/adk.h"

typedef struct fork_job {
    const char *session;
    const ramet_fork_in *in;
    const char *id;
    const char **tags;
    size_t n_tags;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_session **out;
    ramet_cut *cut; /* may be NULL */
} fork_job;

/* A fork of a session that is open with its head: *f and its head *b are written. Who may is the
 * caller's matter, and that the id is free. Only in a transaction that sees all others. */
ramet_status fork_make(txn *tx, const fork_job *j, session_row *s, const branch_row *head,
                       session_row *f, branch_row *b);

#endif
