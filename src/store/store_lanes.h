/* SPDX-License-Identifier: Apache-2.0
 *
 * store_lanes.h: light writes of many callers in few transactions (DB_LIGHT), a few at a time.
 */
#ifndef STORE_STORE_LANES_H
#define STORE_STORE_LANES_H

#include "store/postgres.h"
#include "store/store_own.h"

typedef struct lanes lanes;

/* Where lanes get their connections. */
typedef struct lane_pool {
    ramet_status (*take)(store *s, pg **out, char *message);
    void (*give)(store *s, pg *d);
    void (*told)(store *s); /* what was committed has events */
} lane_pool;

lanes *lanes_new(const lane_pool *pool, store *base);
void lanes_free(lanes *s);
/* False: nothing happened, and it has to be run in a general transaction. */
bool lanes_write(lanes *s, store_op run, void *arg, ramet_status *st, char *message);

#endif
