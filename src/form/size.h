/* SPDX-License-Identifier: Apache-2.0
 *
 * size.h: how large the pieces of a long answer are, and about how many bytes an entry adds.
 */
#ifndef FORM_SIZE_H
#define FORM_SIZE_H

#include "ramet.h"

#define PIECE_BYTES ((size_t)2 << 20) /* a piece ends with the first step past so many bytes */

size_t form_entry_bytes(const ramet_entry *e);

#endif
