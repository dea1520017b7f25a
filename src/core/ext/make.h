/* SPDX-License-Identifier: Apache-2.0
 *
 * make.h: conversations created by their first entries, as an extension of append.
 */
#ifndef CORE_EXT_MAKE_H
#define CORE_EXT_MAKE_H

#include "ramet.h"

void make_register(ramet *r);

#endif
