/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment_upkeep.c: gc, fsck and backup of attachments, also after what a crash leaves.
 */
#include "attach.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(attachment_upkeep, .init = scratch_open, .fini = scratch_close);

#define HOUR (3600 * SECOND)
#define HELLO_SHA "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define OTHER_SHA "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9825"

static const char *sha_rest(const char *sha256)
{
    static char name[80];
    snprintf(name, sizeof name, "%.2s/%s", sha256, sha256 + 2);
    return name;
}

static ramet_gc_out collect(bool dry)
{
    ramet_gc_out out;
    ok(ramet_gc(T.call, dry, NULL, NULL, &out));
    return out;
}

static bool there(const char *id)
{
    ramet_attachment *a;
    ramet_status st = ramet_attachment_get(T.call, id, &a);
    cr_assert(st == RAMET_OK || st == RAMET_ATTACHMENT_NOT_FOUND);
    return st == RAMET_OK;
}

/* ---- gc */

Test(attachment_upkeep, gc_takes_what_expired_unused)
{
    make("s");
    const char *used = upload(T.call, "used"), *unused = upload(T.call, "hello");
    attach("s", "e", used);
    ramet_gc_out out = collect(false);
    cr_assert_eq(out.attachments, 0);
    cr_assert(there(unused));
    tick(DAY);
    const char *young = upload(T.call, "young");
    out = collect(true);
    cr_assert_eq(out.attachments, 1);
    cr_assert_eq(out.attachment_bytes, 5);
    cr_assert_eq(files(), 3, "a dry run takes nothing");
    out = collect(false);
    cr_assert_eq(out.attachments, 1);
    cr_assert_eq(out.attachment_bytes, 5);
    cr_assert_not(file_there(HELLO_SHA));
    cr_assert_eq(files(), 2);
    cr_assert(there(used));
    cr_assert(there(young));
    sound();
}

Test(attachment_upkeep, a_file_stays_while_any_row_names_it)
{
    make("s");
    upload(T.call, "hello");
    const char *used = upload(T.call, "hello");
    attach("s", "e", used);
    tick(2 * DAY);
    cr_assert_eq(collect(false).attachments, 1);
    cr_assert_str_eq(content(T.call, used), "hello");
    sound();
}

Test(attachment_upkeep, a_fork_keeps_what_it_shares)
{
    make("s");
    const char *shared = upload(T.call, "shared"), *own = upload(T.call, "own"),
               *forks = upload(T.call, "forks");
    attach("s", "a", shared);
    fork_at("s", "a", "f");
    attach("s", "b", own);
    attach("f", "c", forks);
    drop("s");
    collect(false);
    cr_assert(there(own), "it can be restored");
    tick(8 * DAY);
    ramet_gc_out dry = collect(true), out = collect(false);
    cr_assert_eq(dry.attachments, 1);
    cr_assert_eq(dry.attachment_bytes, 3);
    cr_assert_eq(out.attachments, 1);
    cr_assert_eq(out.attachment_bytes, 3);
    cr_assert_str_eq(content(T.call, shared), "shared");
    cr_assert_str_eq(content(T.call, forks), "forks");
    cr_assert_not(there(own));
    cr_assert_eq(files(), 2);
    sound();
    drop("f");
    tick(8 * DAY);
    dry = collect(true);
    out = collect(false);
    cr_assert_eq(dry.attachments, 2);
    cr_assert_eq(out.attachments, 2);
    cr_assert_eq(files(), 0);
    sound();
}

Test(attachment_upkeep, restored_sessions_have_theirs)
{
    make("s");
    const char *id = upload(T.call, "back");
    attach("s", "e", id);
    drop("s");
    tick(6 * DAY);
    cr_assert_eq(collect(false).attachments, 0);
    ramet_session *x;
    ok(ramet_session_restore(T.call, "s", false, &x));
    tick(30 * DAY);
    collect(false);
    cr_assert_str_eq(content(T.call, id), "back");
    sound();
}

Test(attachment_upkeep, two_sessions_of_two_trees_share_one)
{
    make("s");
    make("t");
    const char *id = upload(T.call, "both");
    attach("s", "e", id);
    attach("t", "e", id);
    attach("t", "f", id);
    drop("s");
    tick(8 * DAY);
    cr_assert_eq(collect(true).attachments, 0);
    cr_assert_eq(collect(false).attachments, 0);
    cr_assert_str_eq(content(T.call, id), "both");
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 2);
    sound();
    drop("t");
    tick(8 * DAY);
    cr_assert_eq(collect(true).attachments, 1, "two references, both go");
    cr_assert_eq(collect(false).attachments, 1);
    cr_assert_eq(files(), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 0);
    sound();
}

Test(attachment_upkeep, both_trees_deleted_at_once)
{
    make("s");
    make("t");
    const char *id = upload(T.call, "both");
    attach("s", "e", id);
    attach("t", "e", id);
    drop("s");
    drop("t");
    tick(8 * DAY);
    cr_assert_eq(collect(true).attachments, 1);
    cr_assert_eq(collect(false).attachments, 1);
    cr_assert_not(there(id));
    cr_assert_eq(files(), 0);
}

Test(attachment_upkeep, many_go_in_several_writes)
{
    for (int i = 0; i < 300; i++) {
        char text[16];
        ramet_upload *u;
        ramet_attachment *a;
        int n = snprintf(text, sizeof text, "%d", i);
        ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
        ok(ramet_upload_add(u, text, (size_t)n));
        ok(ramet_upload_finish(u, &a));
    }
    cr_assert_eq(files(), 300);
    tick(DAY);
    cr_assert_eq(collect(false).attachments, 300);
    cr_assert_eq(files(), 0);
}

/* ---- what a crash leaves */

Test(attachment_upkeep, an_orphan_file_goes_when_it_is_old)
{
    in_folder();
    make("s");
    const char *id = upload(T.call, "hello");
    attach("s", "e", id);
    file_put(OTHER_SHA, "hello?");
    file_put("00" HELLO_SHA, "not a name of ours");
    sound();
    collect(false);
    cr_assert(file_there(OTHER_SHA), "an upload may be under way");
    file_age(sha_rest(OTHER_SHA), HOUR + SECOND);
    file_age(sha_rest(HELLO_SHA), HOUR + SECOND);
    file_age(sha_rest("00" HELLO_SHA), HOUR + SECOND);
    collect(true);
    cr_assert(file_there(OTHER_SHA));
    collect(false);
    cr_assert_not(file_there(OTHER_SHA));
    cr_assert(file_there("00" HELLO_SHA), "what is not ours stays");
    cr_assert_str_eq(content(T.call, id), "hello");
}

Test(attachment_upkeep, an_upload_cut_short_goes_when_it_is_old)
{
    char name[300];
    ramet_upload *u;
    ramet_attachment *a;
    in_folder();
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_upload_add(u, "hello", 5));
    snprintf(name, sizeof name, "%s/up-left-by-a-crash", T.files);
    FILE *f = fopen(name, "w");
    fputs("he", f);
    fclose(f);
    collect(false);
    cr_assert_eq(files(), 2);
    file_age("up-left-by-a-crash", 2 * HOUR);
    collect(false);
    cr_assert_eq(files(), 1, "the one under way stays");
    ok(ramet_upload_finish(u, &a));
    cr_assert_str_eq(content(T.call, a->id), "hello");
    sound();
}

/* ---- fsck */

static void fault(const char *what)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 1, "%lld faults, first: %s", (long long)out.n_all,
                 out.n ? out.faults[0].what : "");
    cr_assert_not_null(strstr(out.faults[0].what, what), "%s", out.faults[0].what);
}

Test(attachment_upkeep, fsck_names_what_is_wrong_with_a_file)
{
    make("s");
    const char *id = upload(T.call, "hello");
    attach("s", "e", id);
    sound();
    file_put(HELLO_SHA, "hell");
    fault("has 4 bytes and should have 5");
    file_put(HELLO_SHA, "hallo");
    fault("is damaged: the hash is wrong");
    fault(id);
    file_drop(HELLO_SHA);
    fault("is missing");
    upload(T.call, "hello");
    sound();
}

Test(attachment_upkeep, fsck_names_rows_that_do_not_fit)
{
    make("s");
    const char *id = upload(T.call, "hello");
    attach("s", "e", id);
    sql_run(T.path, "UPDATE attachment SET expires=5");
    fault("is in use and would expire");
    sql_run(T.path, "UPDATE attachment SET expires=0");
    sql_run(T.path, "CREATE TABLE keep AS SELECT * FROM attached; DELETE FROM attached");
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 2);
    cr_assert_not_null(strstr(out.faults[0].what, "is not recorded"));
    cr_assert_str_eq(out.faults[0].entry_id, "e");
    cr_assert_not_null(strstr(out.faults[1].what, "would never expire"));
    sql_run(T.path, "INSERT INTO attached SELECT * FROM keep; DROP TABLE keep");
    sql_run(T.path, "INSERT INTO attached SELECT tree,k+1,attachment FROM attached");
    fault("a reference to an attachment belongs to no entry");
    sql_run(T.path, "DELETE FROM attached WHERE k=(SELECT max(k) FROM attached)");
    sound();
    sql_run(T.path, "DELETE FROM attachment");
    fault("the attachment that the entry refers to is missing");
}

Test(attachment_upkeep, gc_never_takes_one_in_use_that_seems_expired)
{
    make("s");
    const char *id = upload(T.call, "hello");
    attach("s", "e", id);
    sql_run(T.path, "UPDATE attachment SET expires=5");
    cr_assert_eq(collect(false).attachments, 0);
    cr_assert(file_there(HELLO_SHA));
    sql_run(T.path, "UPDATE attachment SET expires=0");
    cr_assert_str_eq(content(T.call, id), "hello");
}

/* ---- backup */

static const char *target(void)
{
    static char copy[200];
    snprintf(copy, sizeof copy, "%s/copy.db", T.dir);
    return copy;
}

Test(attachment_upkeep, a_backup_has_the_files)
{
    make("s");
    const char *one = upload(T.call, "one"), *two = upload(T.call, "two");
    attach("s", "e", one);
    ramet_upload *u;
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_backup(T.call, target(), NULL, NULL));
    ramet_upload_abort(u);
    drop("s");
    tick(8 * DAY);
    collect(false);
    cr_assert_eq(files(), 0);
    snprintf(T.path, sizeof T.path, "%s/copy.db", T.dir);
    snprintf(T.files, sizeof T.files, "%s/copy.db.files", T.dir);
    T.now -= 8 * DAY;
    scratch_reopen(NULL);
    cr_assert_eq(files(), 2, "and nothing that was only begun");
    cr_assert_str_eq(content(T.call, one), "one");
    cr_assert_str_eq(content(T.call, two), "two");
    sound();
}

Test(attachment_upkeep, a_backup_without_attachments_makes_no_folder)
{
    char name[300];
    make("s");
    ok(ramet_backup(T.call, target(), NULL, NULL));
    snprintf(name, sizeof name, "%s.files", target());
    cr_assert_neq(access(name, F_OK), 0);
}

Test(attachment_upkeep, a_backup_never_writes_into_a_folder_that_is_there)
{
    char name[300];
    upload(T.call, "one");
    snprintf(name, sizeof name, "%s.files", target());
    cr_assert_eq(mkdir(name, 0700), 0);
    refused(RAMET_INVALID, "path", ramet_backup(T.call, target(), NULL, NULL));
    cr_assert_neq(access(target(), F_OK), 0);
    cr_assert_eq(access(name, F_OK), 0);
}

static bool stop_at_files(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg;
    (void)total;
    return !strstr(what, "attachments") || done < 1;
}

Test(attachment_upkeep, a_stopped_backup_leaves_nothing)
{
    char name[300];
    upload(T.call, "one");
    upload(T.call, "two");
    refused(RAMET_STOP, NULL, ramet_backup(T.call, target(), stop_at_files, NULL));
    snprintf(name, sizeof name, "%s.files", target());
    cr_assert_neq(access(name, F_OK), 0);
    cr_assert_neq(access(target(), F_OK), 0);
    ok(ramet_backup(T.call, target(), NULL, NULL));
}
