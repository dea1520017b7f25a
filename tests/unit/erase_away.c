/* SPDX-License-Identifier: Apache-2.0
 *
 * erase_away.c: erased entries in exports, imports and copies of a store.
 */
#include "away.h"

#include "ramet/erase.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(erase_away, .init = open_both, .fini = close_both);

#define SECRET "hunter2-swordfish"

static ramet_receipt *receipt;

static void stage(void)
{
    make("s");
    put("s", &(ramet_entry_in){.id = "a",
                               .role = RAMET_USER,
                               .text = SECRET,
                               .usage = &(ramet_usage){.input = 3, .currency = ""},
                               .state_delta = "{\"pin\":1}"});
    say("s", "b");
    fork_at("s", NULL, "f");
    say("f", "c");
}

static void erase_it(void)
{
    tick(SECOND);
    ok(ramet_erase(
        T.call,
        &(ramet_erase_in){.session = "s", .entry_id = "a", .reason = "a leak", .by = "root"},
        &receipt));
}

Test(erase_away, there_and_back_has_the_same_bytes)
{
    ramet_entry *e;
    stage();
    erase_it();
    file a = all_of(T.call);
    cr_assert_null(strstr(a.p, SECRET));
    cr_assert_not_null(strstr(a.p, "{\"type\":\"erased\""));
    import_file(other.call, &a);
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
    ok_for(other.call, ramet_entry_get(other.call, "f", 0, "a", &e));
    cr_assert_not_null(e->erased);
    cr_assert_str_eq(e->erased->by, "root");
    cr_assert_str_eq(e->erased->reason, "a leak");
    cr_assert_eq(e->usage->input, 3);
    cr_assert_str_eq(e->text, RAMET_ERASED_TEXT);
    /* What a user imports was erased by that user. */
    other_anew();
    ramet_call *bob = ramet_call_new(other.store, "bob", NULL);
    import_file(bob, &a);
    ok_for(bob, ramet_entry_get(bob, "s", 0, "a", &e));
    cr_assert_str_eq(e->erased->by, "bob");
    ramet_call_free(bob);
    sound_other();
}

Test(erase_away, an_older_export_brings_nothing_back)
{
    ramet_entry *e;
    stage();
    file before = all_of(T.call);
    cr_assert_not_null(strstr(before.p, SECRET));
    erase_it();
    import_file(T.call, &before);
    cr_assert_eq(imported.entries_added, 0);
    ok(ramet_entry_get(T.call, "s", 0, "a", &e));
    cr_assert_not_null(e->erased);
}

Test(erase_away, a_forged_digest_is_refused)
{
    stage();
    erase_it();
    file a = all_of(T.call);
    char *digest = strstr(a.p, "\"digest\":\"");
    cr_assert_not_null(digest);
    digest[10] = digest[10] == '0' ? '1' : '0';
    resign(&a);
    refused_for(other.call, RAMET_IMPORT_DAMAGED, NULL, import_bytes(other.call, a.p, a.n));
}

Test(erase_away, texts_for_people_have_the_placeholder)
{
    stage();
    erase_it();
    file md = file_of(T.call, &(ramet_export_in){.session = "s", .format = RAMET_EXPORT_MARKDOWN});
    cr_assert_null(strstr(md.p, SECRET));
    cr_assert_not_null(strstr(md.p, "erased"));
    file html = file_of(T.call, &(ramet_export_in){.session = "s", .format = RAMET_EXPORT_HTML});
    cr_assert_null(strstr(html.p, SECRET));
    cr_assert_not_null(strstr(html.p, RAMET_ERASED_TEXT));
}

/* Erasing changes neither the length nor the tip of a branch: a copy must see it all the same. */
Test(erase_away, a_copy_that_catches_up_loses_it_too)
{
    ramet_copy_out out;
    char target[600];
    ramet_error err;
    ramet *copy;
    stage();
    if (T.database)
        return;
    snprintf(target, sizeof target, "%s/copy.db", T.dir);
    ramet_copy_in in = {.passes = 8};
    ok(ramet_copy(T.call, target, &in, NULL, NULL, &out));
    erase_it();
    ok(ramet_copy(T.call, target, &in, NULL, NULL, &out));
    cr_assert_eq(ramet_open(target, &(ramet_options){.must_exist = true}, &copy, &err), RAMET_OK);
    ramet_call *c = ramet_call_new(copy, NULL, NULL);
    ramet_entry *e;
    ok_for(c, ramet_entry_get(c, "f", 0, "a", &e));
    cr_assert_not_null(e->erased);
    ramet_fsck_out fsck;
    ok_for(c, ramet_fsck(c, NULL, NULL, &fsck));
    cr_assert_eq(fsck.n, 0);
    cr_assert_eq(fsck.erased, 1);
    ramet_call_free(c);
    ramet_close(copy);
}
