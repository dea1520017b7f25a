/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.h: the rules of retention, and what they say about a session.
 */
#ifndef CORE_UPKEEP_RETENTION_H
#define CORE_UPKEEP_RETENTION_H

#include "ramet/retention.h"
#include "core/session/session.h"

/* The rules in force, and whether they are switched on. */
void retention_load(txn *tx, ramet_retention *out);

typedef struct judgement {
    const ramet_rule *rule; /* the first that matches; NULL: none does */
    const char *kept;       /* why the session stays; NULL: it goes */
} judgement;
/* What the rules say about a session that is not gone. */
judgement session_judge(txn *tx, const session_full *s, const ramet_retention *rules);
/* The number of entries that the session has appended itself, in both logs. */
int64_t session_own_entries(txn *tx, const session_access *s);

#endif
