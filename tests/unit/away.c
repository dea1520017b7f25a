/* SPDX-License-Identifier: Apache-2.0
 *
 * away.c: the helpers of away.h.
 */
#include "away.h"

#include "base/util.h"

#include "../lib/scratch_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

away_store other;

void other_open(void)
{
    ramet_error err;
    if (!other.where[0]) {
        if (scratch_db_on()) {
            char name[64];
            snprintf(name, sizeof name, "import_%ld", (long)getpid());
            scratch_db_make(name, other.where, sizeof other.where);
        } else {
            snprintf(other.where, sizeof other.where, "%s/other.db", T.dir);
        }
    }
    cr_assert_eq(ramet_open(other.where, NULL, &other.store, &err), RAMET_OK, "%s", err.message);
    other.call = ramet_call_new(other.store, NULL, NULL);
}

void other_shut(void)
{
    if (other.call)
        ramet_call_free(other.call);
    if (other.store)
        ramet_close(other.store);
    other.call = NULL;
    other.store = NULL;
}

void open_both(void)
{
    scratch_open();
    other_open();
}

void close_both(void)
{
    other_shut();
    if (scratch_db_on()) {
        char name[64];
        snprintf(name, sizeof name, "import_%ld", (long)getpid());
        scratch_db_drop(name);
    }
    scratch_close();
}

void other_anew(void)
{
    static int n;
    other_shut();
    if (scratch_db_on()) {
        char name[64];
        snprintf(name, sizeof name, "import_%ld", (long)getpid());
        scratch_db_drop(name);
        other.where[0] = 0;
        other_open();
        return;
    }
    snprintf(other.where, sizeof other.where, "%s/other-%d.db", T.dir, n++);
    other_open();
}

/* ---------------------------------------------------------------------- files */

bool file_take(void *arg, const void *bytes, size_t n)
{
    file *f = arg;
    if (f->n + n + 1 > f->cap) {
        f->cap = (f->n + n + 1) * 2;
        f->p = realloc(f->p, f->cap);
    }
    memcpy(f->p + f->n, bytes, n);
    f->n += n;
    f->p[f->n] = 0;
    return true;
}

ramet_export_out exported;

file file_of(ramet_call *c, const ramet_export_in *in)
{
    file f = {0};
    file_take(&f, "", 0);
    ok_for(c, ramet_export(c, in, file_take, &f, NULL, NULL, &exported));
    cr_assert_eq(exported.bytes, (int64_t)f.n);
    return f;
}

file all_of(ramet_call *c)
{
    return file_of(c, &(ramet_export_in){.with_adk = true});
}

ramet_import_out imported;

ramet_status import_bytes(ramet_call *c, const char *p, size_t n)
{
    ramet_import *m;
    ok_for(c, ramet_import_begin(c, NULL, 0, &m));
    for (size_t at = 0; at < n; at += 70000)
        ok_for(c, ramet_import_add(m, p + at, n - at < 70000 ? n - at : 70000));
    ramet_status st = ramet_import_run(m, NULL, NULL, &imported);
    ramet_import_close(m);
    return st;
}

void import_file(ramet_call *c, const file *f)
{
    ok_for(c, import_bytes(c, f->p, f->n));
}

void same_file(const file *a, const file *b)
{
    const char *x = a->p, *y = b->p;
    for (int line = 1; *x || *y; line++) {
        size_t n = strcspn(x, "\n"), m = strcspn(y, "\n");
        cr_assert(n == m && memcmp(x, y, n) == 0, "line %d:\n%.600s\n%.600s", line, x, y);
        x += n + (x[n] != 0);
        y += m + (y[m] != 0);
    }
    cr_assert_eq(a->n, b->n);
}

void sound_other(void)
{
    ramet_fsck_out out;
    ok_for(other.call, ramet_fsck(other.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

file changed(const file *f, const char *from, const char *to)
{
    file g = {0};
    file_take(&g, f->p, f->n);
    size_t n = strlen(from);
    cr_assert_eq(n, strlen(to));
    char *at = strstr(g.p, from);
    cr_assert(at, "%s is not in the file", from);
    memcpy(at, to, n);
    return g;
}

file replaced(const file *f, const char *from, const char *to)
{
    file g = {0};
    const char *at = strstr(f->p, from);
    cr_assert(at, "%s is not in the file", from);
    file_take(&g, f->p, (size_t)(at - f->p));
    file_take(&g, to, strlen(to));
    file_take(&g, at + strlen(from), f->n - (size_t)(at - f->p) - strlen(from));
    return g;
}

void resign(file *f)
{
    uint8_t h[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    char *end = strstr(f->p, "{\"type\":\"end\"");
    sha *s = sha_new();
    sha_begin(s);
    sha_add(s, f->p, (size_t)(end - f->p));
    sha_end(s, h);
    sha_free(s);
    hex_encode(h, HASH_LEN, hex);
    memcpy(strstr(end, "\"sha256\":\"") + 10, hex, 2 * HASH_LEN);
}
