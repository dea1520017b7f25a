/* SPDX-License-Identifier: Apache-2.0
 *
 * The content of attachments, independent of where it is stored (files.h).
 */
#include "core/attachment/files.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/txn.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The folder beside the file itself, as with the engine's own files: a link to the file names the
 * same store. */
static char *default_root(const char *file)
{
    char *real = realpath(file, NULL);
    const char *path = real ? real : file;
    size_t n = strlen(path) + sizeof ".files";
    char *root = xmalloc(n);
    snprintf(root, n, "%s.files", path);
    free(real);
    return root;
}

struct files *files_open(const store *st, const char *folder)
{
    struct files *f = xcalloc(1, sizeof *f);
    bool given = folder && *folder;
    if (given || store_file(st)) {
        f->kind = &files_folder;
        f->root = given ? xstrdup(folder) : default_root(store_file(st));
    } else {
        f->kind = &files_tables;
    }
    return f;
}

void files_close(struct files *f)
{
    if (!f)
        return;
    free(f->root);
    free(f);
}

static const files_kind *kind_of(const ramet_call *c)
{
    return c->ramet->files->kind;
}

/* ------------------------------------------------------------------ on its way */

ramet_status content_begin(ramet_call *c, incoming **out)
{
    return kind_of(c)->begin(c, out);
}

ramet_status content_add(incoming *w, const void *bytes, size_t n)
{
    return w->kind->add(w, bytes, n);
}

ramet_status content_seal(incoming *w, const uint8_t digest[HASH_LEN])
{
    return w->kind->seal(w, digest);
}

ramet_status content_keep(incoming *w, txn *tx)
{
    return w->kind->keep ? w->kind->keep(w, tx) : RAMET_OK;
}

void content_end(incoming *w, bool kept)
{
    if (w)
        w->kind->end(w, kept);
}

/* ------------------------------------------------------------------------ bytes */

bool bytes_write(int fd, const void *bytes, size_t n)
{
    const char *p = bytes;
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        p += done;
        n -= (size_t)done;
    }
    return true;
}

static bool take_hash(void *arg, const void *bytes, size_t n)
{
    sha_add(arg, bytes, n);
    return true;
}

ramet_status file_open(ramet_call *c, const uint8_t digest[HASH_LEN], int64_t size, int *fd)
{
    *fd = -1;
    return kind_of(c)->open(c, digest, size, fd);
}

static const char *fault_text(ramet_call *c, arena *a, const char *fault)
{
    return fault ? arena_printf(a, "its %s %s", kind_of(c)->word, fault) : NULL;
}

const char *file_read(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t from,
                      int64_t n, file_take take, void *arg)
{
    return fault_text(c, a, kind_of(c)->read(c, a, digest, from, n, take, arg));
}

const char *file_fault(ramet_call *c, arena *a, const uint8_t digest[HASH_LEN], int64_t size)
{
    int64_t have = 0;
    uint8_t got[HASH_LEN];
    const char *fault = kind_of(c)->size(c, a, digest, &have);
    if (!fault && have != size)
        fault = arena_printf(a, "has %lld bytes and should have %lld", (long long)have,
                             (long long)size);
    if (fault)
        return fault_text(c, a, fault);
    sha_begin(c->hasher);
    fault = kind_of(c)->read(c, a, digest, 0, size, take_hash, c->hasher);
    sha_end(c->hasher, got);
    if (!fault && memcmp(got, digest, HASH_LEN) != 0)
        fault = "is damaged: the hash is wrong";
    return fault_text(c, a, fault);
}

/* --------------------------------------------------------------------- removing */

bool file_named(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    txn tx;
    if (!txn_read(&tx, c))
        return true;
    db_stmt *q = db_query(tx.db, Q_attachment_of_sha);
    q_blob(q, 1, digest, HASH_LEN);
    bool any = q_row(q);
    q_end(q);
    return txn_done(&tx, RAMET_OK) != RAMET_OK || any;
}

void file_reap(ramet_call *c, const uint8_t digest[HASH_LEN])
{
    kind_of(c)->reap(c, digest);
    /* Drop the error: what is left is removed by the next gc. */
    memset(&c->err, 0, sizeof c->err);
}

ramet_status files_sweep(ramet_call *c, sweep_each each, void *arg)
{
    return kind_of(c)->sweep(c, each, arg);
}

/* ------------------------------------------------------------------- carrying */

typedef struct carry {
    incoming *to;
    ramet_status st;
} carry;

static bool take_carry(void *arg, const void *bytes, size_t n)
{
    carry *j = arg;
    j->st = content_add(j->to, bytes, n);
    return j->st == RAMET_OK;
}

static ramet_status carry_keep(txn *tx, void *arg)
{
    TRY(content_keep(arg, tx));
    return txn_status(tx);
}

static ramet_status carry_into(ramet_call *c, ramet_call *to, arena *a,
                               const uint8_t digest[HASH_LEN], int64_t size)
{
    carry j = {.st = RAMET_OK};
    TRY(content_begin(to, &j.to));
    const char *fault = file_read(c, a, digest, 0, size, take_carry, &j);
    ramet_status st = j.st;
    if (st == RAMET_OK && fault)
        st = call_fail(c, RAMET_IO, NULL, "an attachment that is copied: %s", fault);
    if (st == RAMET_OK)
        st = content_seal(j.to, digest);
    if (st == RAMET_OK && j.to->kind->keep)
        st = txn_write(to, carry_keep, j.to);
    content_end(j.to, st == RAMET_OK);
    return st;
}

ramet_status file_carry(ramet_call *c, ramet_call *to, arena *a, const uint8_t digest[HASH_LEN],
                        int64_t size, const char **fault)
{
    *fault = NULL;
    if (!file_fault(to, a, digest, size))
        return RAMET_OK;
    *fault = file_fault(c, a, digest, size);
    if (*fault)
        return RAMET_OK;
    TRY(carry_into(c, to, a, digest, size));
    const char *bad = file_fault(to, a, digest, size);
    return bad ? call_fail(to, RAMET_IO, NULL, "an attachment that was copied: %s", bad) : RAMET_OK;
}
