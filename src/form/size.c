/* SPDX-License-Identifier: Apache-2.0
 *
 * size.c: see size.h.
 */
#include "form/size.h"

#include <string.h>

static size_t length_of(const char *s)
{
    return s ? strlen(s) : 0;
}

size_t form_entry_bytes(const ramet_entry *e)
{
    return length_of(e->text) + length_of(e->parts) + length_of(e->body) +
           length_of(e->state_delta);
}
