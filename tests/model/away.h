/* SPDX-License-Identifier: Apache-2.0
 *
 * away.h: an export in a store of its own.
 */
#ifndef AWAY_H
#define AWAY_H

#include "ramet.h"

#include <stdio.h>

/* Imports a file into an empty store of its own and exports that; the error of either is `err`. */
ramet_status away_and_back(const char *path, const ramet_options *opt, const char *user,
                           const char *text, size_t n, FILE *out, ramet_fsck_out *checked,
                           ramet_error *err);

#endif
