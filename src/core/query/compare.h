/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.h: the sides of a comparison.
 */
#ifndef CORE_QUERY_COMPARE_H
#define CORE_QUERY_COMPARE_H

#include "core/call.h"

ramet_status sides_check(ramet_call *c, const ramet_side_in *sides, size_t n);

#endif
