/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports and imports, of a file's store or a server's.
 */
#include "client/internal.h"

#include "base/util.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES 6 /* an upload that makes no headway so often is given up */

/* ------------------------------------------------------------------------ export */

typedef struct taker {
    ramet_write write;
    void *arg;
    int64_t bytes;
} taker;

static size_t export_take(char *p, size_t size, size_t n, void *arg)
{
    taker *t = arg;
    t->bytes += (int64_t)(size * n);
    return t->write(t->arg, p, size * n) ? size * n : 0;
}

static ramet_status http_export(client_call *c, const ramet_export_in *in, bool all_users,
                                taker *to, ramet_progress progress, void *arg)
{
    static const char *const formats[] = {"jsonl", "md", "html"};
    ask_pipe p = {.sink = export_take,
                  .arg = to,
                  .progress = progress,
                  .progress_arg = arg,
                  .doing = "download"};
    target t;
    if (in->session)
        target_init(&t, c, "/sessions/%s/export", in->session);
    else
        target_init(&t, c, "/export");
    target_add(&t, "format", formats[in->format]);
    target_bool(&t, "tree", in->tree);
    target_bool(&t, "with_adk", in->with_adk);
    target_bool(&t, "path", in->path);
    if (in->context)
        target_add(&t, "view", "context");
    target_bool(&t, "all_users", all_users);
    for (size_t i = 0; i < in->n_branches; i++)
        target_branch(&t, "branch", in->branches[i]);
    ramet_status st = ask_through(&t, "GET", &p);
    buf_release(&p.text);
    return st;
}

ramet_status client_export(const ramet_calls *lib, ramet_call *c, const ramet_export_in *in,
                           bool all_users, ramet_write write, void *arg, ramet_progress progress,
                           void *progress_arg, ramet_export_out *out)
{
    if (lib == &client_local)
        return ramet_export(c, in, write, arg, progress, progress_arg, out);
    taker to = {.write = write, .arg = arg};
    *out = (ramet_export_out){0};
    ramet_status st = http_export(CALL(c), in, all_users, &to, progress, progress_arg);
    out->bytes = to.bytes;
    return st;
}

/* ------------------------------------------------------------------------ import */

static ramet_status local_import(ramet_call *c, const client_import_in *in, ramet_progress progress,
                                 void *arg, ramet_import_out *out)
{
    char part[1 << 16];
    ramet_import *m;
    ssize_t got = 1;
    int64_t at = 0;
    TRY(ramet_import_begin(c, NULL, 0, &m));
    ramet_status st = RAMET_OK;
    for (; st == RAMET_OK && got > 0; at += got) {
        got = pread(in->fd, part, sizeof part, at);
        if (got > 0)
            st = ramet_import_add(m, part, (size_t)got);
    }
    if (st == RAMET_OK)
        st = got < 0    ? RAMET_IO
             : in->from ? ramet_import_foreign(m, in->from, progress, arg, out)
                        : ramet_import_run(m, progress, arg, out);
    ramet_import_close(m);
    return st;
}

typedef struct giver {
    int fd;
    int64_t at;
} giver;

static size_t import_give(char *p, size_t size, size_t n, void *arg)
{
    giver *g = arg;
    ssize_t got = pread(g->fd, p, size * n, g->at);
    if (got < 0)
        return CURL_READFUNC_ABORT;
    g->at += got;
    return (size_t)got;
}

static ramet_status offset_ask(client_call *c, const client_import_in *in, int64_t *offset)
{
    target t;
    json_doc d;
    *offset = 0;
    if (!in->upload)
        return RAMET_OK;
    target_init(&t, c, "/import/%s", in->upload);
    target_bool(&t, "owners", in->owners);
    TRY(ask(&t, "GET", NULL, &d));
    *offset = get_int(&d, d.nodes, "offset");
    return RAMET_OK;
}

static ramet_status rest_send(client_call *c, const client_import_in *in, int64_t offset,
                              ramet_progress progress, void *arg, ramet_import_out *out)
{
    giver from = {in->fd, offset};
    ask_pipe p = {.source = import_give,
                  .arg = &from,
                  .size = in->size - offset,
                  .progress = progress,
                  .progress_arg = arg,
                  .doing = "upload"};
    target t;
    json_doc d;
    target_init(&t, c, "/import");
    target_bool(&t, "owners", in->owners);
    if (in->from)
        target_add(&t, "from", in->from);
    target_add(&t, "upload", in->upload);
    target_int(&t, "offset", offset);
    ramet_status st = ask_through(&t, "POST", &p);
    if (st == RAMET_OK &&
        !json_parse(c->arena, arena_memdup(c->arena, p.text.data, p.text.n), p.text.n, 0, &d, NULL))
        st = answer_error(c, &p.text);
    else if (st == RAMET_OK)
        form_read(c->arena, &d, d.nodes, &form_import_report, out, NULL);
    buf_release(&p.text);
    return st;
}

ramet_status client_import(const ramet_calls *lib, ramet_call *call, const client_import_in *in,
                           ramet_progress progress, void *arg, ramet_import_out *out)
{
    client_call *c = CALL(call);
    int64_t before = -1;
    *out = (ramet_import_out){0};
    if (lib == &client_local)
        return local_import(call, in, progress, arg, out);
    for (int tries = 0;;) {
        int64_t offset;
        ramet_status st = offset_ask(c, in, &offset);
        if (st == RAMET_OK && offset > in->size)
            return client_fail(c, RAMET_INVALID, "upload",
                               "the server has more of the upload than the file");
        if (st == RAMET_OK)
            st = rest_send(c, in, offset, progress, arg, out);
        /* The connection broke off: as long as the upload grows, it is worth another one. */
        if (st != RAMET_CANNOT_OPEN || !in->upload || ++tries == TRIES)
            return st;
        if (offset > before)
            tries = 1;
        before = offset;
        struct timespec wait = time_spec(INT64_C(200000) << tries);
        nanosleep(&wait, NULL);
    }
}
