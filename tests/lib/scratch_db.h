/* SPDX-License-Identifier: Apache-2.0
 *
 * scratch_db.h: a schema of its own for each test, in the database that RAMET_TEST_DB names.
 */
#ifndef TESTS_LIB_SCRATCH_DB_H
#define TESTS_LIB_SCRATCH_DB_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether tests run on a database. */
bool scratch_db_on(void);
/* Makes an empty schema of that name, and the URL of a store in it. */
void scratch_db_make(const char *name, char *url, size_t size);
void scratch_db_drop(const char *name);
/* A connection to such a store. Ends the process with a message when there is none. */
PGconn *scratch_db_connect(const char *url);
/* Runs statements on such a store; the first number that the last one gives, else 0. Ends the
 * process with a message when it cannot. */
int64_t scratch_db_run(const char *url, const char *sql);

#endif
