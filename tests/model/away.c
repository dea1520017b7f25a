/* SPDX-License-Identifier: Apache-2.0
 *
 * away.c: an export in a store of its own. The library is called as it is: the store has no server
 * (via.h is not included).
 */
#include "away.h"
#include "ramet/export.h"

static bool file_take(void *arg, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, arg) == n;
}

ramet_status away_and_back(const char *path, const ramet_options *opt, const char *user,
                           const char *text, size_t n, FILE *out, ramet_fsck_out *checked,
                           ramet_error *err)
{
    ramet *r;
    ramet_import *m = NULL;
    ramet_import_out added;
    ramet_export_out sums;
    ramet_status st = ramet_open(path, opt, &r, err);
    if (st)
        return st;
    ramet_call *c = ramet_call_new(r, user, NULL), *program = ramet_call_new(r, NULL, NULL);
    st = ramet_import_begin(c, NULL, 0, &m);
    if (!st)
        st = ramet_import_add(m, text, n);
    if (!st)
        st = ramet_import_run(m, NULL, NULL, &added);
    ramet_import_close(m);
    if (!st)
        st = ramet_export(c, &(ramet_export_in){.with_adk = !user}, file_take, out, NULL, NULL,
                          &sums);
    *err = *ramet_call_error(c);
    ramet_fsck(program, NULL, NULL, checked);
    checked->faults = NULL;
    ramet_call_free(c);
    ramet_call_free(program);
    ramet_close(r);
    return st;
}
