/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.h: creating a fork as part of another write (core/ext/make.c).
 */
#ifndef CORE_CHANGE_FORK_H
#define CORE_CHANGE_FORK_H

#include "core/model/branch.h"
#include "core/session/session.h"
#include "core/txn.h"

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

/* Creates a fork of a session that was opened with its head: writes *f and its head *b. The caller
 * has checked access and that the id is free. Not in a guarded write: it sets no guards. */
ramet_status fork_make(txn *tx, const fork_job *j, session_full *s, const branch_row *head,
                       session_full *f, branch_row *b);

#endif
