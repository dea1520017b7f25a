/* SPDX-License-Identifier: Apache-2.0
 *
 * formats.c: the formats that can be imported.
 */
#include "foreign/foreign.h"

#include <string.h>

static const struct {
    ramet_foreign_format about;
    const foreign_reader *reader;
} formats[] = {
#define X(reader, name, reads) {{name, reads}, &foreign_##reader},
    RAMET_FOREIGN_FORMATS(X)
#undef X
};
#define N_FORMATS (sizeof formats / sizeof *formats)

const foreign_reader *foreign_find(const char *name)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].about.name, name) == 0)
            return formats[i].reader;
    return NULL;
}

const ramet_foreign_format *ramet_foreign_format_at(size_t i)
{
    return i < N_FORMATS ? &formats[i].about : NULL;
}
