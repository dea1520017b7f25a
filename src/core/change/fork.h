/* SPDX-License-Identifier: Apache-2.0
 *
 * fork.h: creating a fork as part of another write (core/ext/make.c).
 */
#ifndef CORE_CHANGE_FORK_H
#define CORE_CHANGE_FORK_H

#include "core/change/move.h"
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
    ramet_cut *cut;          /* may be NULL */
    const struct fill *fill; /* from a template: the values of the new session; else NULL */
} fork_job;

/* Checks what the caller gave for a fork. */
ramet_status fork_check(ramet_call *c, const ramet_fork_in *in, fork_job *j);
/* Whether the caller may have the adk log of a session through a fork. */
bool fork_reads_adk(txn *tx, const session_full *s);
/* Creates a fork at a cut that is known, where the caller may fork the session and the id is free.
 * s->adk is the adk branch to inherit. Not in a guarded write. */
ramet_status fork_at_pin(txn *tx, const fork_job *j, const session_full *s, const branch_row *from,
                         const cut_result *cut, session_full *f, branch_row *b);

/* Creates a fork of a session that was opened with its head: writes *f and its head *b. The caller
 * has checked access and that the id is free. Not in a guarded write: it sets no guards. */
ramet_status fork_make(txn *tx, const fork_job *j, session_full *s, const branch_row *head,
                       session_full *f, branch_row *b);

#endif
