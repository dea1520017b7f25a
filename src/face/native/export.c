/* SPDX-License-Identifier: Apache-2.0
 *
 * export.c: exports and imports over HTTP. An export is made into a file without a name and then
 * sent: a slow client holds no snapshot of the store, and what goes wrong is answered with its
 * status. An import is streamed into its spool as it comes.
 */
#include "base/util.h"
#include "face/native/native_face.h"
#include "ramet/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------ export */

static int temporary(request *q)
{
    const char *base = getenv("TMPDIR");
    char *path = arena_printf(q->arena, "%s/ramet-export.XXXXXX", base && *base ? base : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    else
        request_fail(q, 503, ramet_status_code(RAMET_IO), NULL,
                     "there is no room for the export: a file could not be made");
    return fd;
}

typedef struct export_file {
    int fd;
    int error; /* errno of a write that failed */
} export_file;

static bool file_write(void *arg, const void *bytes, size_t n)
{
    export_file *f = arg;
    const char *p = bytes;
    while (n) {
        ssize_t done = write(f->fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            f->error = errno ? errno : EIO;
            return false;
        }
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static void export_answer(request *q, ramet_call *c, const ramet_export_in *in, const char *name)
{
    static const char *const types[] = {"application/x-ndjson", "text/markdown; charset=utf-8",
                                        "text/html; charset=utf-8"};
    static const char *const ends[] = {"jsonl", "md", "html"};
    ramet_export_out out;
    export_file f = {.fd = temporary(q)};
    if (f.fd < 0)
        return;
    ramet_status st = ramet_export(c, in, file_write, &f, NULL, NULL, &out);
    if (f.error) {
        close(f.fd);
        request_fail(q, 503, ramet_status_code(error_is_full(f.error) ? RAMET_FULL : RAMET_IO),
                     NULL, "the export could not be written: %s", strerror(f.error));
        return;
    }
    if (!face_answer(q, st)) {
        close(f.fd);
        return;
    }
    q->file = f.fd;
    q->file_size = out.bytes;
    q->type = types[in->format];
    request_add_header(
        q, "Content-Disposition",
        face_disposition(q, "attachment", arena_printf(q->arena, "%s.%s", name, ends[in->format])));
    request_add_header(q, "Content-Security-Policy",
                       "default-src 'none'; style-src 'unsafe-inline'; sandbox");
}

static void export_format(request *q, ramet_export_in *in)
{
    const char *word = request_query(q, "format");
    in->format = word ? (ramet_export_format)ramet_export_format_parse(word) : RAMET_EXPORT_JSONL;
    in->with_adk = face_query_bool(q, "with_adk");
    in->path = face_query_bool(q, "path");
    const char *view = request_query(q, "view");
    in->context = view && strcmp(view, "context") == 0;
}

void api_export_session(request *q)
{
    const char **words;
    ramet_export_in in = {.session = face_path(q, "id"), .tree = face_query_bool(q, "tree")};
    ramet_call *c = face_call(q);
    if (!c)
        return;
    export_format(q, &in);
    in.n_branches = request_query_all(q, "branch", &words);
    int64_t *branches = arena_array(q->arena, in.n_branches + 1, sizeof *branches);
    for (size_t i = 0; i < in.n_branches; i++)
        if (!api_branch(q, "branch", words[i], &branches[i]))
            return;
    in.branches = branches;
    export_answer(q, c, &in, in.session);
}

/* Administrators alone act for the store itself. */
static ramet_call *store_call(request *q, const char *parameter)
{
    if (!face_query_bool(q, parameter))
        return face_call(q);
    if (!q->caller.admin) {
        request_fail(q, 403, ramet_status_code(RAMET_FORBIDDEN), parameter,
                     "%s is for administrators", parameter);
        return NULL;
    }
    q->call = ramet_call_new(q->host->store, NULL, q->caller.client);
    return q->call;
}

void api_export_all(request *q)
{
    ramet_export_in in = {0};
    ramet_call *c = store_call(q, "all_users");
    if (!c)
        return;
    export_format(q, &in);
    export_answer(q, c, &in, "ramet");
}

/* ------------------------------------------------------------------------ import */

static void import_free(void *user)
{
    ramet_import_close(user);
}

static bool import_begin(request *q)
{
    const char *upload = request_query(q, "upload"), *at = request_query(q, "offset");
    int64_t offset = at ? strtoll(at, NULL, 10) : 0;
    ramet_import *m;
    if (request_query(q, "from") && face_query_bool(q, "owners")) {
        request_fail(q, 400, ramet_status_code(RAMET_INVALID), "owners",
                     "files of other programs have no owners of this store; leave owners out");
        return false;
    }
    ramet_call *c = store_call(q, "owners");
    if (!c)
        return false;
    if (ramet_import_begin(c, upload, 0, &m) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return false;
    }
    q->user = m;
    q->user_free = import_free;
    if (ramet_import_offset(m) == offset)
        return true;
    request_fail(q, 409, ramet_status_code(RAMET_IMPORT_CONFLICT), "offset",
                 "%lld bytes of the upload are there, and the body begins at %lld",
                 (long long)ramet_import_offset(m), (long long)offset);
    return false;
}

bool api_import_sink(request *q, const void *bytes, size_t n)
{
    if (!q->user && !import_begin(q))
        return false;
    if (ramet_import_add(q->user, bytes, n) == RAMET_OK)
        return true;
    request_error(q, ramet_call_error(q->call));
    return false;
}

void api_import_post(request *q)
{
    ramet_import_out out = {0};
    const char *from = request_query(q, "from");
    if (!q->user && !import_begin(q))
        return;
    api_show(q, &form_import_report, &out);
    face_answer(q, from ? ramet_import_foreign(q->user, from, NULL, NULL, &out)
                        : ramet_import_run(q->user, NULL, NULL, &out));
}

void api_import_offset(request *q)
{
    ramet_call *c = store_call(q, "owners");
    if (!c)
        return;
    native_offset out = {.upload = face_path(q, "upload")};
    out.offset = ramet_import_spooled(c, out.upload);
    api_show(q, &form_import_offset, &out);
    face_answer(q, RAMET_OK);
}
