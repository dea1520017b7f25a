/* SPDX-License-Identifier: Apache-2.0
 *
 * size.h: the size of the pieces in which a long response is sent, and an estimate of the bytes an
 * entry adds to it.
 */
#ifndef FORM_SIZE_H
#define FORM_SIZE_H

#include "ramet.h"

#define PIECE_BYTES ((size_t)2 << 20) /* a piece ends once it has passed this size */

size_t form_entry_bytes(const ramet_entry *e);

#endif
