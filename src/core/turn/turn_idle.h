/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_idle.h: writes that are refused while a turn runs, and may wait for its end.
 */
#ifndef CORE_TURN_TURN_IDLE_H
#define CORE_TURN_TURN_IDLE_H

#include "core/call.h"

/* One attempt at a write. */
typedef ramet_status (*turn_idle_attempt)(ramet_call *c, void *arg);

/* Runs a write. With `when_idle`, an attempt that fails with RAMET_TURN_RUNNING_ALREADY is repeated
 * once that turn has ended; until then this thread waits. RAMET_STOP: the caller of the library
 * asked to stop (ramet_call_stop_when()). RAMET_TOO_BUSY: too many calls wait already, or
 * ramet_idle_close() was called. */
ramet_status turn_idle_write(ramet_call *c, bool when_idle, turn_idle_attempt attempt, void *arg);

#endif
