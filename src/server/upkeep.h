/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.h: what a server does now and then by itself, on a thread of its own.
 */
#ifndef SERVER_UPKEEP_H
#define SERVER_UPKEEP_H

#include "live/live.h"
#include "runtime/config.h"
#include "runtime/log.h"
#include "server/metrics.h"

typedef struct upkeep upkeep;

/* What it is given must outlive it. */
upkeep *upkeep_start(const server_config *cfg, ramet *store, metrics *m);
/* Ends the thread, a removal that is under way included, and frees it. */
void upkeep_stop(upkeep *u);

#endif
