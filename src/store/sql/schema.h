/* SPDX-License-Identifier: Apache-2.0
 *
 * schema.h: the tables, by version. One list serves both engines.
 */
#ifndef STORE_SQL_SCHEMA_H
#define STORE_SQL_SCHEMA_H

#include "store/db.h"

typedef struct schema_step {
    int64_t version;
    const char *script;
} schema_step;

extern const schema_step schema_steps[];
extern const size_t schema_n_steps;

/* Upgrades a store to the last step, in one transaction. A newer store is RAMET_NEWER, a file of
 * something else RAMET_NOT_A_STORE. `create` allows an empty one. */
ramet_status schema_migrate(db *d, const schema_step *steps, size_t n, bool create, char *message);

/* See ramet_schema(). */
ramet_status schema_write(const ramet_schema_in *in, void (*statement)(void *arg, const char *sql),
                          void *arg);

#endif
