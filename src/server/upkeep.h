/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.h: the periodic work of a server, on its own thread.
 */
#ifndef SERVER_UPKEEP_H
#define SERVER_UPKEEP_H

#include "live/live.h"
#include "runtime/config.h"
#include "runtime/log.h"
#include "server/metrics.h"

typedef struct upkeep upkeep;

/* The arguments must outlive it. */
upkeep *upkeep_start(const server_config *cfg, ramet *store, metrics *m);
/* Interrupts running work, ends the thread and frees it. */
void upkeep_stop(upkeep *u);

#endif
