/* SPDX-License-Identifier: Apache-2.0
 *
 * shim.h: SQLite's own file system, that fails when it is told to.
 */
#ifndef TESTS_UNIT_SHIM_H
#define TESTS_UNIT_SHIM_H

#include <stdatomic.h>

/* A code of SQLite that every write, or sync, gives; 0: none. */
extern atomic_int shim_write_error, shim_sync_error;
/* Its name, for ramet_options. */
const char *shim_vfs(void);

#endif
