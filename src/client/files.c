/* SPDX-License-Identifier: Apache-2.0
 *
 * files.c: whole attachments, in a file's store or a server's.
 */
#include "client/internal.h"

#include <unistd.h>

ramet_status client_attach(const ramet_calls *lib, ramet_call *c, const char *media_type,
                           const void *bytes, size_t n, const char **id)
{
    ramet_upload *u;
    ramet_attachment *out;
    ramet_upload_in in = {.media_type = media_type};
    target t;
    json_doc d;
    if (lib != &client_local) {
        target_init(&t, CALL(c), "/attachments");
        TRY(ask_upload(&t, media_type, bytes, n, &d));
        *id = get_text(CALL(c), &d, d.nodes, "id");
        return *id ? RAMET_OK : answer_has(CALL(c), &d, "id");
    }
    TRY(ramet_upload_begin(c, &in, &u));
    ramet_status rc = ramet_upload_add(u, bytes, n);
    if (rc == RAMET_OK)
        rc = ramet_upload_finish(u, &out);
    if (rc != RAMET_OK) {
        ramet_upload_abort(u);
        return rc;
    }
    *id = out->id;
    return RAMET_OK;
}

ramet_status client_attached(const ramet_calls *lib, ramet_call *c, const char *id, buf *out)
{
    ramet_attachment *about;
    target t;
    char part[1 << 16];
    ssize_t got;
    int fd;
    if (lib != &client_local) {
        target_init(&t, CALL(c), "/attachments/%s", id);
        return ask_download(&t, out);
    }
    TRY(ramet_attachment_open(c, id, &about, &fd));
    while ((got = read(fd, part, sizeof part)) > 0)
        buf_add(out, part, (size_t)got);
    close(fd);
    return got < 0 ? RAMET_IO : RAMET_OK;
}
