/* SPDX-License-Identifier: Apache-2.0
 *
 * api.c: `ramet help --api NAME|list` and `--openapi`: the server's routes, from its tables.
 */
#include "cli/help.h"

#include "server/server.h"

#include <string.h>

enum { DOCUMENT_MAX = 16 << 20 };

static int print_all(buf *out)
{
    fwrite(out->data, 1, out->n, stdout);
    buf_release(out);
    return 0;
}

int help_api(cli *c, const char *name)
{
    size_t n;
    const face *const *faces = server_faces(&n);
    const char *known = "";
    bool list = strcmp(name, "list") == 0;
    buf out;
    buf_init(&out, DOCUMENT_MAX);
    for (size_t i = 0; list && i < n; i++)
        buf_printf(&out, "%s\n", faces[i]->name);
    if (list)
        return print_all(&out);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(faces[i]->name, name) == 0) {
            face_docs_markdown(faces[i], &out);
            return print_all(&out);
        }
        known = arena_printf(c->mem, "%s%s%s", known, i ? ", " : "", faces[i]->name);
    }
    return cli_error(c, RAMET_INVALID, "api", "there is no protocol '%s'; there are: %s", name,
                     known);
}

int help_openapi(cli *c)
{
    size_t n;
    const face *const *faces = server_faces(&n);
    buf out;
    (void)c;
    buf_init(&out, DOCUMENT_MAX);
    face_openapi(faces, n, RAMET_VERSION, &out);
    buf_putc(&out, '\n');
    return print_all(&out);
}
