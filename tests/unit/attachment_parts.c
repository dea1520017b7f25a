/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment_parts.c: content that lies in the database, in parts; and a shared folder beside one.
 */
#include "attach.h"

#include "core/attachment/files.h"
#include "core/call.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(attachment_parts, .init = scratch_open, .fini = scratch_close);

#define only_tables()                                                                              \
    do {                                                                                           \
        if (!T.database)                                                                           \
            cr_skip_test("only of a database");                                                    \
    } while (0)

/* Bytes that say where they stand. */
static void fill(char *p, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)((from + i) * 31 + ((from + i) >> 12));
}

static ramet_attachment *put_bytes(ramet_call *c, size_t size, size_t piece)
{
    ramet_upload *u;
    ramet_attachment *a;
    char *bytes = malloc(piece);
    ok_for(c, ramet_upload_begin(c, &(ramet_upload_in){0}, &u));
    for (size_t at = 0; at < size; at += piece) {
        size_t n = size - at < piece ? size - at : piece;
        fill(bytes, at, n);
        ok_for(c, ramet_upload_add(u, bytes, n));
    }
    ok_for(c, ramet_upload_finish(u, &a));
    free(bytes);
    return a;
}

static void has_bytes(ramet_call *c, const char *id, size_t size)
{
    ramet_attachment *a;
    int fd;
    char *have = malloc(size + 1), *want = malloc(size + 1);
    ok_for(c, ramet_attachment_open(c, id, &a, &fd));
    cr_assert_eq(a->size, (int64_t)size);
    size_t n = 0;
    for (ssize_t got; (got = read(fd, have + n, size + 1 - n)) > 0;)
        n += (size_t)got;
    close(fd);
    fill(want, 0, size);
    cr_assert_eq(n, size);
    cr_assert_eq(memcmp(have, want, size), 0);
    free(have);
    free(want);
}

static int64_t parts(void)
{
    return sql_number("SELECT count(*) FROM attach_part");
}

Test(attachment_parts, sizes_around_a_part)
{
    static const size_t sizes[] = {
        0, 1, PART_BYTES - 1, PART_BYTES, PART_BYTES + 1, 3 * PART_BYTES, 3 * PART_BYTES + 17};
    static const int64_t want[] = {1, 1, 1, 1, 2, 3, 4};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int64_t before = T.database ? parts() : 0;
        const ramet_attachment *a = put_bytes(T.call, sizes[i], 100000);
        if (T.database)
            cr_assert_eq(parts() - before, want[i], "%zu bytes", sizes[i]);
        has_bytes(T.call, a->id, sizes[i]);
    }
    sound();
}

Test(attachment_parts, the_same_content_is_kept_once)
{
    only_tables();
    const ramet_attachment *one = put_bytes(T.call, 3 * PART_BYTES, PART_BYTES * 2),
                           *two = put_bytes(T.call, 3 * PART_BYTES, 1000);
    cr_assert_str_eq(one->sha256, two->sha256);
    cr_assert_eq(parts(), 3);
    ok(ramet_attachment_delete(T.call, one->id));
    cr_assert_eq(parts(), 3);
    has_bytes(T.call, two->id, 3 * PART_BYTES);
    ok(ramet_attachment_delete(T.call, two->id));
    cr_assert_eq(parts(), 0);
}

Test(attachment_parts, parts_come_as_the_bytes_do_and_go_with_an_abort)
{
    only_tables();
    ramet_upload *u;
    static char bytes[PART_BYTES + 1];
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_upload_add(u, bytes, PART_BYTES));
    cr_assert_eq(parts(), 0, "it may be the last one");
    ok(ramet_upload_add(u, bytes, PART_BYTES + 1));
    cr_assert_eq(parts(), 2);
    ramet_upload_abort(u);
    cr_assert_eq(parts(), 0);
}

/* ---- ranges */

typedef struct range {
    char bytes[64];
    size_t n;
} range;

static bool range_take(void *arg, const void *bytes, size_t n)
{
    range *r = arg;
    cr_assert_leq(r->n + n, sizeof r->bytes);
    memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
    return true;
}

Test(attachment_parts, a_range_reads_only_what_it_needs)
{
    uint8_t digest[HASH_LEN];
    char want[64];
    const ramet_attachment *a = put_bytes(T.call, 3 * PART_BYTES + 5, 65536);
    hex_decode(a->sha256, digest, HASH_LEN);
    static const int64_t from[] = {0, 7, (int64_t)PART_BYTES - 20, (int64_t)PART_BYTES,
                                   3 * (int64_t)PART_BYTES - 59};
    for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
        range r = {.n = 0};
        cr_assert_null(
            file_read(T.call, T.call->arena, digest, from[i], sizeof want, range_take, &r));
        fill(want, (size_t)from[i], sizeof want);
        cr_assert_eq(r.n, sizeof want);
        cr_assert_eq(memcmp(r.bytes, want, sizeof want), 0);
    }
    range r = {.n = 0};
    const char *fault =
        file_read(T.call, T.call->arena, digest, 3 * (int64_t)PART_BYTES, 10, range_take, &r);
    cr_assert_not_null(strstr(fault, "too short"), "%s", fault);
    if (!T.database)
        return;
    sql_number("DELETE FROM attach_part WHERE n<>1");
    r.n = 0;
    cr_assert_null(
        file_read(T.call, T.call->arena, digest, (int64_t)PART_BYTES + 3, 20, range_take, &r));
}

/* ---- damage, and what a crash leaves */

Test(attachment_parts, a_missing_part_is_told_and_healed)
{
    only_tables();
    ramet_attachment *a = put_bytes(T.call, 2 * PART_BYTES + 9, 70000), *again;
    const char *id = strdup(a->id);
    int fd;
    sql_number("DELETE FROM attach_part WHERE n=1");
    refused(RAMET_DAMAGED, NULL, ramet_attachment_open(T.call, id, &again, &fd));
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 1);
    cr_assert_not_null(strstr(out.faults[0].what, "its content has 262153 bytes"), "%s",
                       out.faults[0].what);
    put_bytes(T.call, 2 * PART_BYTES + 9, 70000);
    has_bytes(T.call, id, 2 * PART_BYTES + 9);
    sound();
    free((char *)id);
}

Test(attachment_parts, gc_takes_what_was_begun_long_ago)
{
    only_tables();
    ramet_upload *u;
    ramet_attachment *a;
    ramet_gc_out out;
    static char bytes[2 * PART_BYTES];
    const ramet_attachment *whole = put_bytes(T.call, PART_BYTES + 1, 65536);
    fill(bytes, 0, sizeof bytes);
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_upload_add(u, bytes, sizeof bytes));
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_eq(parts(), 3, "it may go on");
    sql_number("INSERT INTO attach_part VALUES('\\x00112233445566778899aabbccddeeff',0,'x'),"
               "('\\x00112233445566778899aabbccddeeff',1,'y')");
    ok(ramet_gc(T.call, true, NULL, NULL, &out));
    cr_assert_eq(parts(), 5);
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_eq(parts(), 3);
    ok(ramet_upload_finish(u, &a));
    has_bytes(T.call, a->id, sizeof bytes);
    has_bytes(T.call, whole->id, PART_BYTES + 1);
    /* Content without a row, as a copy that was cut short leaves it. */
    sql_number("DELETE FROM attachment");
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_eq(parts(), 0);
}

Test(attachment_parts, an_upload_whose_parts_went_is_refused)
{
    only_tables();
    ramet_upload *u;
    ramet_attachment *a;
    static char bytes[2 * PART_BYTES];
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_upload_add(u, bytes, sizeof bytes));
    sql_number("DELETE FROM attach_part");
    refused(RAMET_IO, NULL, ramet_upload_finish(u, &a));
    ramet_upload_abort(u);
    cr_assert_eq(parts(), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
}

/* ---- between stores */

static void carried(bool from_folder, bool to_folder)
{
    char path[300];
    ramet *other;
    ramet_error err;
    uint8_t digest[HASH_LEN];
    const char *fault;
    const size_t size = 2 * PART_BYTES + 3;
    if (from_folder)
        in_folder();
    ramet_attachment *a = put_bytes(T.call, size, 65536);
    hex_decode(a->sha256, digest, HASH_LEN);
    snprintf(path, sizeof path, "%s/other.db", T.dir);
    /* The same content in a file's folder, or back into the tables of the same store. */
    ramet_options opt = scratch_options();
    opt.attachments = NULL;
    cr_assert_eq(ramet_open(to_folder ? path : T.path, &opt, &other, &err), RAMET_OK, "%s",
                 err.message);
    ramet_call *to = ramet_call_new(other, NULL, NULL);
    ok_for(to, file_carry(T.call, to, T.call->arena, digest, (int64_t)size, &fault));
    cr_assert_null(fault);
    cr_assert_null(file_fault(to, to->arena, digest, (int64_t)size));
    ok_for(to, file_carry(T.call, to, T.call->arena, digest, (int64_t)size, &fault));
    file_drop(a->sha256);
    digest[0] ^= 1;
    ok_for(to, file_carry(T.call, to, T.call->arena, digest, (int64_t)size, &fault));
    cr_assert_not_null(strstr(fault, "is missing"), "%s", fault);
    ramet_call_free(to);
    ramet_close(other);
}

Test(attachment_parts, content_is_carried_to_a_file)
{
    carried(false, true);
}

Test(attachment_parts, content_is_carried_to_a_database)
{
    only_tables();
    carried(true, false);
}

Test(attachment_parts, a_folder_beside_a_database)
{
    in_folder();
    const ramet_attachment *a = put_bytes(T.call, PART_BYTES + 1, 65536);
    cr_assert_eq(files(), 1);
    cr_assert_eq(parts(), 0);
    has_bytes(T.call, a->id, PART_BYTES + 1);
    sound();
}
