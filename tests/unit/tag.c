/* SPDX-License-Identifier: Apache-2.0
 *
 * tag.c: tags are trimmed, lower case, sorted, and bounded.
 */
#include "help.h"

#include <stdio.h>

TestSuite(tag, .init = scratch_open, .fini = scratch_close);

static const char *joined(const char *const *tags, size_t n)
{
    static char text[2048];
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s", have ? "," : "", tags[i]);
    }
    return text;
}

static const char *tags_of(const char *session)
{
    ramet_session *s = get(session);
    return joined(s->tags, s->n_tags);
}

Test(tag, set_replaces_add_adds_remove_removes)
{
    make("s");
    ramet_tags out;
    ok(ramet_tags_set(T.call, "s", (const char *[]){" Beta ", "ALPHA", "alpha"}, 3, &out));
    cr_assert_str_eq(joined(out.items, out.n), "alpha,beta");
    cr_assert_str_eq(tags_of("s"), "alpha,beta");
    ok(ramet_tags_add(T.call, "s", (const char *[]){"gamma", "Alpha"}, 2, &out));
    cr_assert_str_eq(joined(out.items, out.n), "alpha,beta,gamma");
    ok(ramet_tags_remove(T.call, "s", (const char *[]){" BETA", "not there"}, 2, &out));
    cr_assert_str_eq(joined(out.items, out.n), "alpha,gamma");
    cr_assert_str_eq(tags_of("s"), "alpha,gamma");
    ok(ramet_tags_set(T.call, "s", (const char *[]){"new"}, 1, &out));
    cr_assert_str_eq(tags_of("s"), "new");
    ok(ramet_tags_set(T.call, "s", NULL, 0, &out));
    cr_assert_eq(out.n, 0);
    cr_assert_str_eq(tags_of("s"), "");
}

Test(tag, lower_case_and_trimming_know_unicode)
{
    make("s");
    ramet_tags out;
    ok(ramet_tags_set(T.call, "s", (const char *[]){"\xc2\xa0ÄRGER\xe3\x80\x80", "two words"}, 2,
                      &out));
    cr_assert_str_eq(joined(out.items, out.n), "two words,ärger");
}

Test(tag, one_to_fifty_characters)
{
    make("s");
    ramet_tags out;
    char fifty[201] = "", more[205];
    for (int i = 0; i < 50; i++)
        strcat(fifty, "ä");
    snprintf(more, sizeof more, "%sx", fifty);
    ok(ramet_tags_set(T.call, "s", (const char *[]){fifty}, 1, &out));
    cr_assert_str_eq(out.items[0], fifty);
    const char *before = mark();
    refused(RAMET_BAD_TAG, "tags", ramet_tags_set(T.call, "s", (const char *[]){more}, 1, &out));
    refused(RAMET_BAD_TAG, "tags", ramet_tags_add(T.call, "s", (const char *[]){"a", ""}, 2, &out));
    refused(RAMET_BAD_TAG, "tags", ramet_tags_add(T.call, "s", (const char *[]){"  \t "}, 1, &out));
    refused(RAMET_INVALID, "tags", ramet_tags_add(T.call, "s", (const char *[]){"\xff"}, 1, &out));
    ramet_session *s;
    refused(RAMET_BAD_TAG, "tags",
            ramet_session_create(
                T.call, &(ramet_session_in){.tags = (const char *[]){""}, .n_tags = 1}, &s));
    refused(RAMET_BAD_TAG, "tags",
            ramet_fork(T.call, "s", &(ramet_fork_in){.tags = (const char *[]){more}, .n_tags = 1},
                       &s, NULL));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(tags_of("s"), fifty);
}

Test(tag, sixty_four_a_session)
{
    make("s");
    char names[65][4];
    const char *list[65];
    for (int i = 0; i < 65; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        list[i] = names[i];
    }
    ramet_tags out;
    ok(ramet_tags_set(T.call, "s", list, 64, &out));
    cr_assert_eq(out.n, 64);
    refused(RAMET_TOO_MANY_TAGS, "tags", ramet_tags_add(T.call, "s", list + 64, 1, &out));
    refused(RAMET_TOO_MANY_TAGS, "tags", ramet_tags_set(T.call, "s", list, 65, &out));
    ok(ramet_tags_add(T.call, "s", list, 3, &out));
    cr_assert_eq(get("s")->n_tags, 64);
    ramet_session *s;
    refused(RAMET_TOO_MANY_TAGS, "tags",
            ramet_session_create(T.call, &(ramet_session_in){.id = "x", .tags = list, .n_tags = 65},
                                 &s));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_get(T.call, "x", &s));
}

Test(tag, a_fork_has_its_own)
{
    make("s");
    ramet_tags out;
    ok(ramet_tags_set(T.call, "s", (const char *[]){"root"}, 1, &out));
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s",
                  &(ramet_fork_in){.id = "f", .tags = (const char *[]){"Fork"}, .n_tags = 1}, &f,
                  NULL));
    cr_assert_str_eq(joined(f->tags, f->n_tags), "fork");
    ok(ramet_tags_add(T.call, "f", (const char *[]){"more"}, 1, &out));
    cr_assert_str_eq(tags_of("s"), "root");
    cr_assert_str_eq(tags_of("f"), "fork,more");
}

Test(tag, all_tags_are_counted_as_far_as_they_may_be_seen)
{
    make("a");
    make("b");
    ramet_tags out;
    ok(ramet_tags_set(T.call, "a", (const char *[]){"x", "y"}, 2, &out));
    ok(ramet_tags_set(T.call, "b", (const char *[]){"x"}, 1, &out));
    ramet_session *s;
    ramet_visibility hidden = RAMET_PRIVATE;
    ok(ramet_session_create(T.call,
                            &(ramet_session_in){.id = "c",
                                                .owner = "bob",
                                                .visibility = hidden,
                                                .tags = (const char *[]){"secret", "x"},
                                                .n_tags = 2},
                            &s));
    ramet_tag_count *all;
    size_t n;
    ok(ramet_tags_all(T.call, &all, &n));
    cr_assert_eq(n, 3);
    cr_assert_str_eq(all[0].tag, "secret");
    cr_assert_str_eq(all[1].tag, "x");
    cr_assert_eq(all[1].sessions, 3);
    cr_assert_str_eq(all[2].tag, "y");
    cr_assert_eq(all[2].sessions, 1);
    ramet_call *ann = as("ann");
    ok_for(ann, ramet_tags_all(ann, &all, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(all[0].tag, "x");
    cr_assert_eq(all[0].sessions, 2);
    drop("a");
    ok_for(ann, ramet_tags_all(ann, &all, &n));
    cr_assert_eq(n, 1);
    cr_assert_eq(all[0].sessions, 1);
    ramet_call *eve = as("eve");
    ok_for(eve, ramet_tags_all(eve, &all, &n));
    cr_assert_eq(n, 0);
}
