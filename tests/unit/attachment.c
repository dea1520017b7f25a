/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment.c: uploads, who may read one, how entries keep it, and what the limits are.
 * attachment_upkeep.c beside it has gc, fsck and backup.
 */
#include "attach.h"
#include "ramet/memory.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(attachment, .init = scratch_open, .fini = scratch_close);

#define HELLO_SHA "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

/* The ids of a list, in their order: numbers of `all`. */
static const char *listed(ramet_attachments_in in, const char *const *all, size_t n, bool *more)
{
    static char text[64];
    ramet_attachments out;
    char *to = text;
    ok(ramet_attachment_list(T.call, &in, &out));
    for (size_t i = 0; i < out.n; i++)
        for (size_t k = 0; k < n; k++)
            if (strcmp(all[k], out.items[i].attachment.id) == 0)
                *to++ = (char)('0' + k);
    *to = 0;
    *more = out.more;
    return text;
}

Test(attachment, the_program_lists_those_of_everybody)
{
    bool more;
    ramet_call *ann = as("ann"), *bob = as("bob");
    make("s");
    const char *all[4] = {upload(ann, "one"), upload(bob, "two"), upload(ann, "two"),
                          upload(bob, "three")};
    attach("s", "e", all[1]);
    attach("s", "f", all[2]);
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "s", 0, "f", &e));
    cr_assert_str_eq(listed((ramet_attachments_in){0}, all, 4, &more), "0123");
    cr_assert_not(more);
    cr_assert_str_eq(listed((ramet_attachments_in){.limit = 2}, all, 4, &more), "01");
    cr_assert(more);
    cr_assert_str_eq(listed((ramet_attachments_in){.limit = 2, .after = all[1]}, all, 4, &more),
                     "23");
    cr_assert_not(more);
    cr_assert_str_eq(listed((ramet_attachments_in){.owner = "bob"}, all, 4, &more), "13");
    cr_assert_str_eq(listed((ramet_attachments_in){.which = RAMET_ATTACHED_LINKED}, all, 4, &more),
                     "12");
    cr_assert_str_eq(
        listed((ramet_attachments_in){.which = RAMET_ATTACHED_UNLINKED}, all, 4, &more), "03");
    cr_assert_str_eq(listed((ramet_attachments_in){.which = RAMET_ATTACHED_EXPIRED}, all, 4, &more),
                     "");
    cr_assert_str_eq(
        listed((ramet_attachments_in){.session = "s", .branch = e->branch, .position = e->position},
               all, 4, &more),
        "2");
    tick(2 * DAY);
    cr_assert_str_eq(listed((ramet_attachments_in){.which = RAMET_ATTACHED_EXPIRED}, all, 4, &more),
                     "03");
    ramet_attachments out;
    ok(ramet_attachment_list(T.call, &(ramet_attachments_in){.only = all[2]}, &out));
    cr_assert_eq(out.items[0].sharing, 2);
    refused_for(ann, RAMET_FORBIDDEN, "",
                ramet_attachment_list(ann, &(ramet_attachments_in){0}, &out));
    refused(RAMET_INVALID, "limit",
            ramet_attachment_list(T.call, &(ramet_attachments_in){.limit = 1001}, &out));
}

Test(attachment, comes_in_pieces_and_is_kept_by_content)
{
    ramet_upload *u;
    ramet_attachment *a;
    ramet_call *ann = as("ann");
    ramet_upload_in in = {.name = "grüße.txt", .media_type = "text/plain", .sha256 = HELLO_SHA};
    ok_for(ann, ramet_upload_begin(ann, &in, &u));
    ok_for(ann, ramet_upload_add(u, "he", 2));
    ok_for(ann, ramet_upload_add(u, "", 0));
    ok_for(ann, ramet_upload_add(u, "llo", 3));
    ok_for(ann, ramet_upload_finish(u, &a));
    cr_assert_eq(strlen(a->id), 36);
    cr_assert_str_eq(a->name, "grüße.txt");
    cr_assert_str_eq(a->media_type, "text/plain");
    cr_assert_str_eq(a->sha256, HELLO_SHA);
    cr_assert_str_eq(a->owner, "ann");
    cr_assert_eq(a->size, 5);
    cr_assert_eq(a->created, T.now);
    cr_assert_eq(a->expires, T.now + DAY);
    cr_assert(file_there(HELLO_SHA));
    cr_assert_str_eq(content(ann, a->id), "hello");
    cr_assert_eq(files(), 1);
    const char *again = upload(ann, "hello");
    cr_assert_str_neq(again, a->id, "one row an upload");
    cr_assert_eq(files(), 1, "the same content lies there once");
    ramet_stats st;
    ok(ramet_stat(T.call, &st));
    cr_assert_eq(st.attachments, 2);
    cr_assert_eq(st.attachment_bytes, 5);
}

Test(attachment, may_be_empty_and_without_a_name)
{
    const char *id = upload(T.call, "");
    ramet_attachment *a;
    ok(ramet_attachment_get(T.call, id, &a));
    cr_assert_eq(a->size, 0);
    cr_assert_str_eq(a->name, "");
    cr_assert_str_eq(a->media_type, "");
    cr_assert_null(a->owner, "the program's own");
    cr_assert_str_eq(content(T.call, id), "");
}

Test(attachment, an_aborted_upload_leaves_nothing)
{
    ramet_upload *u;
    in_folder();
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    ok(ramet_upload_add(u, "half", 4));
    cr_assert_eq(files(), 1, "bytes go to disk as they come");
    ramet_upload_abort(u);
    ramet_upload_abort(NULL);
    cr_assert_eq(files(), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
}

Test(attachment, wrong_content_is_refused)
{
    ramet_upload *u;
    ramet_attachment *a;
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){.sha256 = HELLO_SHA}, &u));
    ok(ramet_upload_add(u, "hallo", 5));
    refused(RAMET_DIGEST_MISMATCH, "sha256", ramet_upload_finish(u, &a));
    cr_assert_null(a);
    ramet_upload_abort(u);
    cr_assert_eq(files(), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
}

Test(attachment, limits)
{
    ramet_upload *u;
    char name[300], type[300];
    memset(name, 'n', 256);
    name[256] = 0;
    memset(type, 't', 256);
    type[256] = 0;
    refused(RAMET_TOO_LARGE, "name",
            ramet_upload_begin(T.call, &(ramet_upload_in){.name = name}, &u));
    cr_assert_null(u);
    refused(RAMET_TOO_LARGE, "media_type",
            ramet_upload_begin(T.call, &(ramet_upload_in){.media_type = type}, &u));
    refused(RAMET_INVALID, "media_type",
            ramet_upload_begin(T.call, &(ramet_upload_in){.media_type = "a\r\nSet-Cookie: b"}, &u));
    refused(RAMET_INVALID, "name",
            ramet_upload_begin(T.call, &(ramet_upload_in){.name = "\xff"}, &u));
    refused(RAMET_INVALID, "sha256",
            ramet_upload_begin(T.call, &(ramet_upload_in){.sha256 = "2cf2"}, &u));
    refused(RAMET_INVALID, "max_bytes",
            ramet_upload_begin(T.call, &(ramet_upload_in){.max_bytes = -1}, &u));
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){.max_bytes = 4}, &u));
    ok(ramet_upload_add(u, "1234", 4));
    refused(RAMET_TOO_LARGE, "attachment", ramet_upload_add(u, "5", 1));
    ramet_upload_abort(u);
    ramet_options opt = scratch_options();
    opt.limits.attachment_bytes = 8;
    scratch_reopen(&opt);
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){.max_bytes = 100}, &u));
    refused(RAMET_TOO_LARGE, "attachment", ramet_upload_add(u, "123456789", 9));
    ramet_upload_abort(u);
    upload(T.call, "12345678");
    cr_assert_eq(files(), 1);
}

Test(attachment, the_limit_is_64_mib_by_default)
{
    ramet_upload *u;
    ramet_attachment *a;
    size_t step = 1 << 20;
    char *bytes = calloc(1, step);
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    for (int i = 0; i < 64; i++)
        ok(ramet_upload_add(u, bytes, step));
    refused(RAMET_TOO_LARGE, "attachment", ramet_upload_add(u, bytes, 1));
    ok(ramet_upload_finish(u, &a));
    cr_assert_eq(a->size, 64 << 20);
    free(bytes);
}

Test(attachment, bad_ids_and_unknown_ones)
{
    ramet_attachment *a;
    int fd = 7;
    refused(RAMET_BAD_ID, "attachment_id", ramet_attachment_get(T.call, "", &a));
    refused(RAMET_BAD_ID, "attachment_id", ramet_attachment_get(T.call, NULL, &a));
    refused(RAMET_BAD_ID, "attachment_id", ramet_attachment_delete(T.call, "a\nb"));
    refused(RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
            ramet_attachment_get(T.call, "../../etc/passwd", &a));
    refused(RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
            ramet_attachment_open(T.call, "nothing", &a, &fd));
    cr_assert_eq(fd, -1);
    refused(RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
            ramet_attachment_delete(T.call, "nothing"));
}

/* ---- entries */

Test(attachment, an_entry_keeps_it)
{
    ramet_attachment *a;
    make("s");
    const char *id = upload(as("ann"), "pixels");
    attach("s", "e", id);
    ok(ramet_attachment_get(T.call, id, &a));
    cr_assert_eq(a->expires, 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 1);
    tick(10 * DAY);
    cr_assert_str_eq(content(as("ann"), id), "pixels");
}

Test(attachment, a_batch_with_an_unknown_one_writes_nothing)
{
    make("s");
    const char *id = upload(T.call, "good"), *before = mark();
    char parts[200];
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", id);
    ramet_entry_in in[] = {
        {.role = RAMET_USER, .parts = parts},
        {.role = RAMET_USER, .parts = "[{\"type\":\"file\",\"attachment_id\":\"nope\"}]"}};
    ramet_append_out out;
    ramet_append_in batch = {.entries = in, .n = 2};
    refused(RAMET_ATTACHMENT_NOT_FOUND, "entries[1].parts",
            ramet_append(T.call, "s", &batch, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 0);
    in[1].parts = "[{\"type\":\"file\",\"attachment_id\":\"\"}]";
    refused(RAMET_BAD_ID, "entries[1].parts", ramet_append(T.call, "s", &batch, &out));
    ramet_attachment *a;
    ok(ramet_attachment_get(T.call, id, &a));
    cr_assert_neq(a->expires, 0, "still unused");
    in[1].parts = "[{\"type\":\"file\",\"url\":\"https://example.org/a\"}]";
    ok(ramet_append(T.call, "s", &batch, &out));
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 1, "an url is nothing of ours");
    cr_assert_eq(sql_number("SELECT count(*) FROM entry WHERE (flags&16)<>0"), 1);
}

Test(attachment, too_many_in_one_entry)
{
    make("s");
    char *parts = malloc(300 * 64), *p = parts;
    for (int i = 0; i < 257; i++)
        p += sprintf(p, "%s{\"type\":\"file\",\"attachment_id\":\"x%d\"}", i ? "," : "[", i);
    sprintf(p, "]");
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .parts = parts};
    refused(RAMET_TOO_LARGE, "entries[0].parts",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    free(parts);
}

Test(attachment, edit_regenerate_and_sync_refer_too)
{
    make("s");
    say("s", "a b");
    const char *one = upload(T.call, "one"), *two = upload(T.call, "two"),
               *three = upload(T.call, "three");
    char parts[3][200];
    const char *made[] = {one, two, three};
    for (int i = 0; i < 3; i++)
        snprintf(parts[i], sizeof parts[i], "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]",
                 made[i]);
    ramet_append_out out;
    ramet_sync_out synced;
    ramet_entry_in bad = {.role = RAMET_USER,
                          .parts = "[{\"type\":\"file\",\"attachment_id\":\"nope\"}]"};
    const char *before = mark();
    refused(RAMET_ATTACHMENT_NOT_FOUND, "parts", ramet_edit(T.call, "s", "a", &bad, NULL, &out));
    refused(RAMET_ATTACHMENT_NOT_FOUND, "entries[0].parts",
            ramet_sync(T.call, "s", &bad, 1, NULL, &synced));
    cr_assert_str_eq(mark(), before);
    ok(ramet_edit(T.call, "s", "a", &(ramet_entry_in){.parts = parts[0]}, NULL, &out));
    ok(ramet_regenerate(T.call, "s", out.entries[0].id,
                        &(ramet_entry_in){.role = RAMET_ASSISTANT, .parts = parts[1]}, 1, NULL,
                        &out));
    ok(ramet_sync(T.call, "s", &(ramet_entry_in){.role = RAMET_USER, .parts = parts[2]}, 1, NULL,
                  &synced));
    cr_assert_eq(sql_number("SELECT count(*) FROM attached"), 3);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment WHERE expires<>0"), 0);
    sound();
}

Test(attachment, a_retry_needs_it_no_more)
{
    make("s");
    char parts[200];
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]",
             upload(T.call, "x"));
    ramet_entry_in in = {.id = "e", .role = RAMET_USER, .parts = parts};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    sql_run(T.path, "UPDATE attachment SET expires=1");
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_eq(out.added, 0);
}

/* ---- who may read it */

static void hidden(const char *user, const char *id)
{
    ramet_call *c = as(user);
    ramet_attachment *a;
    int fd;
    refused_for(c, RAMET_ATTACHMENT_NOT_FOUND, "attachment_id", ramet_attachment_get(c, id, &a));
    refused_for(c, RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
                ramet_attachment_open(c, id, &a, &fd));
    refused_for(c, RAMET_ATTACHMENT_NOT_FOUND, "attachment_id", ramet_attachment_delete(c, id));
}

Test(attachment, only_its_uploader_reads_an_unused_one)
{
    const char *id = upload(as("bob"), "secret");
    cr_assert_str_eq(content(as("bob"), id), "secret");
    hidden("ann", id);
    make("s");
    ramet_call *ann = as("ann");
    char parts[200];
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", id);
    ramet_entry_in in = {.role = RAMET_USER, .parts = parts};
    ramet_append_out out;
    refused_for(ann, RAMET_ATTACHMENT_NOT_FOUND, "entries[0].parts",
                ramet_append(ann, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
}

Test(attachment, members_read_what_a_session_of_theirs_refers_to)
{
    make("s");
    const char *id = upload(T.call, "plan");
    attach("s", "e", id);
    hidden("bob", id);
    join("s", "bob", RAMET_READER);
    cr_assert_str_eq(content(as("bob"), id), "plan");
    cr_assert_str_eq(content(as("ann"), id), "plan");
    ramet_session *x;
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"e", RAMET_BEFORE}}, &x, NULL));
    cr_assert_str_eq(content(as("bob"), id), "plan", "an abandoned branch is the session's too");
    ramet_call *bob = as("bob");
    refused_for(bob, RAMET_FORBIDDEN, "attachment_id", ramet_attachment_delete(bob, id));
    ok(ramet_member_remove(T.call, "s", "bob"));
    hidden("bob", id);
}

static void fork_private(const char *user, const char *session, const char *entry, const char *id)
{
    ramet_call *c = as(user);
    ramet_session *x;
    ramet_fork_in in = {.at = {entry, RAMET_AFTER}, .id = id, .visibility = RAMET_PRIVATE};
    tick(SECOND);
    ok_for(c, ramet_fork(c, session, &in, &x, NULL));
}

Test(attachment, a_private_session_keeps_its_own_to_itself)
{
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_READER);
    join("s", "cat", RAMET_MANAGER);
    fork_private("bob", "s", "a", "mine");
    const char *id = upload(as("bob"), "diary");
    attach("mine", "e", id);
    say("mine", "f");
    hidden("ann", id);
    hidden("cat", id);
    cr_assert_str_eq(content(as("bob"), id), "diary");
    /* bob lets others in by a fork that they may see */
    ramet_session *x;
    ok(ramet_fork(T.call, "mine", &(ramet_fork_in){.at = {"e", RAMET_BEFORE}, .id = "before"}, &x,
                  NULL));
    hidden("cat", id);
    ok(ramet_fork(T.call, "mine", &(ramet_fork_in){.at = {"e", RAMET_AFTER}, .id = "open"}, &x,
                  NULL));
    say("open", "g");
    cr_assert_str_eq(content(as("cat"), id), "diary");
    ok(ramet_fork(T.call, "open", &(ramet_fork_in){.at = {"g", RAMET_AFTER}, .id = "deep"}, &x,
                  NULL));
    say("deep", "h");
    drop("open");
    cr_assert_str_eq(content(as("cat"), id), "diary", "by a fork of the fork");
    drop("deep");
    hidden("cat", id);
    cr_assert_str_eq(content(as("bob"), id), "diary");
}

Test(attachment, a_private_fork_reads_what_it_shares_after_its_source_is_gone)
{
    make("s");
    const char *id = upload(T.call, "map");
    attach("s", "e", id);
    say("s", "z");
    join("s", "bob", RAMET_READER);
    fork_private("bob", "s", "e", "mine");
    ok(ramet_member_remove(T.call, "s", "bob"));
    cr_assert_str_eq(content(as("bob"), id), "map", "he owns a session that holds it");
    drop("s");
    cr_assert_str_eq(content(as("bob"), id), "map");
    hidden("cat", id);
}

Test(attachment, the_adk_log_shows_its_own_to_writers)
{
    make("s");
    const char *id = upload(T.call, "raw");
    char parts[200];
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", id);
    ramet_entry_in in = {.role = RAMET_TOOL, .parts = parts};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    join("s", "bob", RAMET_READER);
    hidden("bob", id);
    join("s", "bob", RAMET_WRITER);
    cr_assert_str_eq(content(as("bob"), id), "raw");
}

Test(attachment, the_holder_of_a_link_reads_what_that_session_holds)
{
    make("s");
    const char *shared = upload(T.call, "shared"), *other = upload(T.call, "other");
    attach("s", "e", shared);
    fork_at("s", "e", "f");
    attach("s", "o", other);
    ramet_share *link;
    ok(ramet_share_add(T.call, "f", false, 0, &link));
    ramet_call *eve = as("eve");
    ok_for(eve, ramet_call_share(eve, link->token, NULL));
    cr_assert_str_eq(content(eve, shared), "shared", "by the path that f shares with s");
    ramet_attachment *a;
    refused_for(eve, RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
                ramet_attachment_get(eve, other, &a));
    hidden("eve", shared);
    ok(ramet_share_revoke(T.call, "f", link->id));
    refused_for(eve, RAMET_ATTACHMENT_NOT_FOUND, "attachment_id",
                ramet_attachment_get(eve, shared, &a));
}

Test(attachment, many_entries_and_forks_of_one)
{
    make("s");
    join("s", "bob", RAMET_READER);
    fork_private("ann", "s", NULL, "p");
    const char *id = upload(as("ann"), "x");
    char name[32];
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "e%d", i);
        attach("p", name, id);
    }
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "f%d", i);
        fork_private("ann", "p", "e5", name);
    }
    hidden("bob", id);
    fork_at("f7", "e2", "open");
    cr_assert_str_eq(content(as("bob"), id), "x");
    sound();
}

/* ---- deleting */

Test(attachment, is_deleted_by_its_uploader_while_unused)
{
    ramet_call *ann = as("ann");
    const char *one = upload(ann, "same"), *two = upload(ann, "same");
    make("s");
    ok_for(ann, ramet_attachment_delete(ann, one));
    hidden("ann", one);
    cr_assert_eq(files(), 1, "the other row names the file");
    attach("s", "e", two);
    refused_for(ann, RAMET_ATTACHMENT_IN_USE, "attachment_id", ramet_attachment_delete(ann, two));
    refused(RAMET_ATTACHMENT_IN_USE, "attachment_id", ramet_attachment_delete(T.call, two));
    cr_assert_str_eq(content(ann, two), "same");
    const char *three = upload(ann, "more");
    cr_assert_eq(files(), 2);
    ok_for(ann, ramet_attachment_delete(ann, three));
    cr_assert_eq(files(), 1);
}

Test(attachment, an_expired_one_is_gone_before_gc)
{
    make("s");
    const char *id = upload(as("ann"), "late");
    tick(DAY - SECOND);
    cr_assert_str_eq(content(as("ann"), id), "late");
    tick(SECOND);
    hidden("ann", id);
    char parts[200];
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", id);
    ramet_entry_in in = {.role = RAMET_USER, .parts = parts};
    ramet_append_out out;
    refused(RAMET_ATTACHMENT_NOT_FOUND, "entries[0].parts",
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
}

/* ---- damage */

Test(attachment, a_damaged_file_is_not_handed_out)
{
    ramet_attachment *a;
    int fd;
    const char *id = upload(T.call, "hello");
    file_put(HELLO_SHA, "hell");
    refused(RAMET_DAMAGED, NULL, ramet_attachment_open(T.call, id, &a, &fd));
    cr_assert_eq(fd, -1);
    cr_assert_null(a);
    file_drop(HELLO_SHA);
    refused(RAMET_DAMAGED, NULL, ramet_attachment_open(T.call, id, &a, &fd));
    upload(T.call, "hello");
    cr_assert_str_eq(content(T.call, id), "hello", "the same content again heals it");
    file_put(HELLO_SHA, "hell");
    upload(T.call, "hello");
    cr_assert_str_eq(content(T.call, id), "hello");
}

Test(attachment, a_file_in_the_place_of_the_folder_is_told)
{
    char name[200];
    ramet_upload *u;
    ramet_gc_out out;
    in_folder();
    snprintf(name, sizeof name, "%s", T.files);
    FILE *f = fopen(name, "w");
    fclose(f);
    refused(RAMET_IO, NULL, ramet_upload_begin(T.call, &(ramet_upload_in){0}, &u));
    cr_assert_null(u);
    refused(RAMET_IO, NULL, ramet_gc(T.call, false, NULL, NULL, &out));
    make("s");
    say("s", "a");
}

Test(attachment, a_link_to_the_store_finds_its_files)
{
    char link[300];
    const char *id = upload(T.call, "near");
    snprintf(link, sizeof link, "%s/elsewhere", T.dir);
    cr_assert_eq(mkdir(link, 0700), 0);
    snprintf(link, sizeof link, "%s/elsewhere/l.db", T.dir);
    cr_assert_eq(symlink(T.path, link), 0);
    snprintf(T.path, sizeof T.path, "%.60s/elsewhere/l.db", T.dir);
    scratch_reopen(NULL);
    cr_assert_str_eq(content(T.call, id), "near");
}

/* ---- threads */

static void *uploads(void *arg)
{
    static char wrong[] = "an upload failed";
    ramet_call *c = arg;
    for (int i = 0; i < 25; i++) {
        ramet_upload *u;
        ramet_attachment *a;
        char text[16];
        int n = snprintf(text, sizeof text, "%d", i % 5);
        if (ramet_upload_begin(c, &(ramet_upload_in){0}, &u) != RAMET_OK ||
            ramet_upload_add(u, text, (size_t)n) != RAMET_OK ||
            ramet_upload_finish(u, &a) != RAMET_OK)
            return wrong;
        if (i % 2 && ramet_attachment_delete(c, a->id) != RAMET_OK)
            return wrong;
        int fd = -1;
        if (i % 2 == 0 && ramet_attachment_open(c, a->id, &a, &fd) != RAMET_OK)
            return wrong;
        if (fd >= 0)
            close(fd);
        ramet_call_reset(c);
    }
    return NULL;
}

Test(attachment, uploads_and_deletes_of_the_same_content_at_once)
{
    pthread_t thread[4];
    for (int i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&thread[i], NULL, uploads, as("ann")), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        cr_assert_null(wrong, "%s", (char *)wrong);
    }
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 4 * 13);
    cr_assert_eq(files(), 5);
    sound();
}
