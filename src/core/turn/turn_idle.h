/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_idle.h: waiting for the end of a turn, for calls that are refused while one runs.
 */
#ifndef CORE_TURN_TURN_IDLE_H
#define CORE_TURN_TURN_IDLE_H

#include "core/call.h"

/* What a writing call needs again when it is repeated: the first attempt has used it up. */
typedef struct turn_idle {
    ramet_once *idempotency;
    const char *session, *head;
} turn_idle;
/* Before the first attempt. */
turn_idle turn_idle_begin(const ramet_call *c);
/* After an attempt that failed with RAMET_TURN_RUNNING_ALREADY: waits on this thread until that
 * turn has ended, then the caller tries again. RAMET_STOP: the caller of the library asked to stop
 * (ramet_call_stop_when()). RAMET_TOO_BUSY: too many calls wait already. */
ramet_status turn_idle_wait(ramet_call *c, const turn_idle *w);

#endif
