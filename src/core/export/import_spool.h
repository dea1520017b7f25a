/* SPDX-License-Identifier: Apache-2.0
 *
 * import_spool.h: uploads that wait to be imported.
 */
#ifndef CORE_EXPORT_IMPORT_SPOOL_H
#define CORE_EXPORT_IMPORT_SPOOL_H

#include "core/handle.h"

/* Removes the spools that nobody is writing to, whatever their age: they may hold what was erased.
 * Returns how many. An upload that was to go on begins anew. */
int64_t import_spools_drop(ramet_call *c);

#endif
