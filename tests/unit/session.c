/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: make, look at, list and change sessions.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(session, .init = scratch_open, .fini = scratch_close);

Test(session, a_new_one_holds_what_was_given)
{
    ramet_session *s = NULL;
    const char *tags[] = {"Zebra ", "apple"};
    ramet_session_in in = {
        .id = "s1",
        .title = "A plan",
        .agent = {"echo", "openai", "gpt", "/src", "{\"temperature\":0.10}"},
        .tags = tags,
        .n_tags = 2,
        .metadata = "{\"n\":1.0}",
        .visibility = RAMET_PRIVATE,
        .owner = "ann",
    };
    ok(ramet_session_create(T.call, &in, &s));
    for (int round = 0; round < 2; round++) {
        cr_assert_str_eq(s->id, "s1");
        cr_assert_str_eq(s->title, "A plan");
        cr_assert_str_eq(s->shown_title, "A plan");
        cr_assert_str_eq(s->owner, "ann");
        cr_assert_eq(s->visibility, RAMET_PRIVATE);
        cr_assert_str_eq(s->agent.name, "echo");
        cr_assert_str_eq(s->agent.provider, "openai");
        cr_assert_str_eq(s->agent.model, "gpt");
        cr_assert_str_eq(s->agent.folder, "/src");
        cr_assert_str_eq(s->agent.options, "{\"temperature\":0.10}");
        cr_assert_eq(s->n_tags, 2);
        cr_assert_str_eq(s->tags[0], "apple");
        cr_assert_str_eq(s->tags[1], "zebra");
        cr_assert_str_eq(s->metadata, "{\"n\":1.0}");
        cr_assert_eq(s->created, T0);
        cr_assert_eq(s->updated, T0);
        cr_assert_eq(s->head.length, 0);
        cr_assert_gt(s->head.branch, 0);
        cr_assert_null(s->head.entry_id);
        cr_assert_str_eq(s->head.hash, NO_HASH);
        cr_assert_eq(s->adk.branch, 0);
        cr_assert_not(s->is_fork);
        cr_assert_null(s->parent_id);
        cr_assert_null(s->merged_into);
        cr_assert_not(s->archived);
        cr_assert_not(s->deleted);
        cr_assert_eq(s->expires, 0);
        cr_assert_eq(s->depth, 0);
        cr_assert(s->tree_id && s->tree_id[0]);
        s = get("s1");
    }
}

Test(session, nothing_need_be_given)
{
    ramet_session *s = NULL, *t = NULL;
    ok(ramet_session_create(T.call, &(ramet_session_in){0}, &s));
    cr_assert_eq(strlen(s->id), 36);
    cr_assert_eq(s->id[14], '7');
    cr_assert_str_eq(s->title, "");
    cr_assert_not_null(s->shown_title);
    cr_assert_null(s->agent.name);
    cr_assert_eq(s->n_tags, 0);
    cr_assert_str_eq(s->metadata, "{}");
    cr_assert_eq(s->visibility, RAMET_TREE_VISIBLE);
    ok(ramet_session_create(T.call, &(ramet_session_in){0}, &t));
    cr_assert_lt(strcmp(s->id, t->id), 0, "made ids grow");
    cr_assert_str_neq(s->tree_id, t->tree_id, "a tree of its own");
}

Test(session, the_caller_owns_what_he_makes)
{
    ramet_call *bob = as("bob");
    ramet_session *s = NULL;
    ok_for(bob, ramet_session_create(bob, &(ramet_session_in){.id = "b"}, &s));
    cr_assert_str_eq(s->owner, "bob");
    ramet_member *m;
    size_t n;
    ok_for(bob, ramet_members(bob, "b", &m, &n));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(m[0].user, "bob");
    cr_assert_eq(m[0].level, RAMET_OWNER);
    ok_for(bob, ramet_session_create(bob, &(ramet_session_in){.id = "b2", .owner = "bob"}, &s));
    const char *before = mark();
    refused_for(bob, RAMET_FORBIDDEN, "owner",
                ramet_session_create(bob, &(ramet_session_in){.id = "b3", .owner = "ann"}, &s));
    cr_assert_str_eq(mark(), before);
}

Test(session, any_id_without_control_characters_will_do)
{
    char longest[256];
    memset(longest, 'x', 255);
    longest[255] = 0;
    const char *good[] = {"a",    "/", "a/b%2Fc", " ", "ключ", "😀", "'; DROP TABLE session; --",
                          longest};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        make(good[i]);
        cr_assert_str_eq(get(good[i])->id, good[i]);
    }
    char over[257];
    memset(over, 'x', 256);
    over[256] = 0;
    const char *bad[] = {"", "a\nb", "\x01", "\x7f", "tab\t", "\xff", "\xc3", over, "c1\xc2\x85"};
    const char *before = mark();
    ramet_session *s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        refused(RAMET_BAD_ID, "id",
                ramet_session_create(T.call, &(ramet_session_in){.id = bad[i]}, &s));
        ramet_status st = ramet_session_get(T.call, bad[i], &s);
        cr_assert(st == RAMET_SESSION_NOT_FOUND || st == RAMET_BAD_ID, "get of bad id %zu", i);
    }
    cr_assert_str_eq(mark(), before);
}

Test(session, an_id_is_taken_once)
{
    make("s");
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_SESSION_EXISTS, "id",
            ramet_session_create(T.call, &(ramet_session_in){.id = "s"}, &s));
    ramet_call *bob = as("bob");
    refused_for(bob, RAMET_SESSION_EXISTS, "id",
                ramet_session_create(bob, &(ramet_session_in){.id = "s"}, &s));
    cr_assert_null(strstr(ramet_call_error(bob)->message, "ann"), "nothing is told about it");
    refused(RAMET_SESSION_EXISTS, "id",
            ramet_fork(T.call, "s", &(ramet_fork_in){.id = "s"}, &s, NULL));
    cr_assert_str_eq(mark(), before);
    drop("s");
    refused(RAMET_SESSION_DELETED, "id",
            ramet_session_create(T.call, &(ramet_session_in){.id = "s"}, &s));
}

Test(session, what_is_not_there_is_not_found)
{
    ramet_session *s;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_get(T.call, "none", &s));
    cr_assert(strstr(ramet_call_error(T.call)->message, "none"), "the message names it");
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_promote(T.call, "none", &s));
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_session_update(T.call, "none", &(ramet_session_patch){.title = "x"}, &s));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_session_restore(T.call, "none", false, &s));
}

Test(session, a_title_is_shown_also_when_none_was_given)
{
    make("s");
    put("s", &(ramet_entry_in){.role = RAMET_SYSTEM, .text = "You are helpful."});
    put("s", &(ramet_entry_in){.role = RAMET_USER, .text = "\n  First line of it  \nsecond"});
    ask("s", "u2", "Another");
    cr_assert_str_eq(get("s")->title, "");
    cr_assert_str_eq(get("s")->shown_title, "First line of it");
    make("long");
    ask("long", "u", "0123456789012345678901234567890123456789012345678901234567890123456789");
    const char *shown = get("long")->shown_title;
    cr_assert(strncmp(shown, "0123456789012345678901234567890123456789012345678901234567", 58) == 0,
              "%s", shown);
    cr_assert_eq(strcmp(shown + strlen(shown) - 3, "…"), 0, "%s", shown);
    ramet_session *f = fork_at("s", NULL, "f");
    cr_assert_str_eq(f->title, "");
    cr_assert_str_eq(f->shown_title, "Fork of First line of it");
    ramet_session *s;
    ok(ramet_session_update(T.call, "f", &(ramet_session_patch){.title = "Mine"}, &s));
    cr_assert_str_eq(s->shown_title, "Mine");
    ok(ramet_session_update(T.call, "f", &(ramet_session_patch){.title = ""}, &s));
    cr_assert_str_eq(s->shown_title, "Fork of First line of it");
}

Test(session, an_update_changes_only_what_it_names)
{
    make("s");
    say("s", "a");
    tick(SECOND);
    ramet_session *s = NULL;
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.title = "T"}, &s));
    cr_assert_str_eq(s->title, "T");
    cr_assert_eq(s->updated, T.now);
    cr_assert_eq(s->created, T0 + SECOND);
    ramet_agent agent = {.name = "echo", .model = "m"};
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.agent = &agent}, &s));
    cr_assert_str_eq(s->agent.model, "m");
    cr_assert_str_eq(s->title, "T");
    agent = (ramet_agent){.name = "other"};
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.agent = &agent}, &s));
    cr_assert_str_eq(s->agent.name, "other");
    cr_assert_null(s->agent.model, "the whole agent is replaced");
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.metadata = "{\"a\":[1]}"}, &s));
    cr_assert_str_eq(s->metadata, "{\"a\":[1]}");
    bool yes = true, no = false;
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.archived = &yes}, &s));
    cr_assert(s->archived);
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.title = "U"}, &s));
    cr_assert(s->archived);
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.archived = &no}, &s));
    cr_assert_not(s->archived);
    cr_assert_str_eq(s->metadata, "{\"a\":[1]}");
    cr_assert_str_eq(ids("s"), "a");
}

Test(session, broken_arguments_change_nothing)
{
    make("s");
    ramet_session *s;
    const char *before = mark();
    refused(RAMET_INVALID, "metadata",
            ramet_session_update(T.call, "s",
                                 &(ramet_session_patch){.title = "x", .metadata = "[]"}, &s));
    refused(
        RAMET_INVALID, "metadata",
        ramet_session_create(T.call, &(ramet_session_in){.id = "n", .metadata = "{\"a\":1,}"}, &s));
    refused(RAMET_INVALID, "metadata",
            ramet_session_create(T.call, &(ramet_session_in){.metadata = "{\"a\":1,\"a\":2}"}, &s));
    refused(RAMET_INVALID, "agent.options",
            ramet_session_create(T.call,
                                 &(ramet_session_in){.agent = {.name = "e", .options = "1"}}, &s));
    refused(RAMET_INVALID, "title",
            ramet_session_create(T.call, &(ramet_session_in){.title = "bad \xff"}, &s));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(get("s")->title, "");
}

Test(session, an_update_can_depend_on_the_head)
{
    make("s");
    say("s", "a");
    char seen[65];
    memcpy(seen, get("s")->head.hash, 65);
    ramet_session *s = NULL;
    ok(ramet_session_update(T.call, "s",
                            &(ramet_session_patch){.title = "1", .expected_head = seen}, &s));
    say("s", "b");
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_session_update(T.call, "s",
                                 &(ramet_session_patch){.title = "2", .expected_head = seen}, &s));
    ramet_head told = ramet_call_error(T.call)->head;
    cr_assert_eq(told.length, 2);
    cr_assert_str_eq(told.hash, get("s")->head.hash);
    cr_assert_str_eq(get("s")->title, "1");
}

Test(session, merged_into_is_a_session_of_the_same_tree)
{
    make("s");
    make("other");
    fork_at("s", NULL, "f");
    ramet_session *s;
    ok(ramet_session_update(T.call, "f", &(ramet_session_patch){.merged_into = "s"}, &s));
    cr_assert_str_eq(s->merged_into, "s");
    cr_assert_str_eq(get("f")->merged_into, "s");
    refused(RAMET_INVALID, "merged_into",
            ramet_session_update(T.call, "f", &(ramet_session_patch){.merged_into = "other"}, &s));
    cr_assert_neq(
        ramet_session_update(T.call, "f", &(ramet_session_patch){.merged_into = "none"}, &s),
        RAMET_OK);
    cr_assert_str_eq(get("f")->merged_into, "s");
    ok(ramet_session_update(T.call, "f", &(ramet_session_patch){.merged_into = ""}, &s));
    cr_assert_null(s->merged_into);
}

/* ---- lists */

static const char *listed(ramet_call *c, const ramet_list_in *in)
{
    static char text[4096];
    ramet_session_list list;
    ok_for(c, ramet_session_find(c, in, &list));
    text[0] = 0;
    for (size_t i = 0; i < list.n; i++) {
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "", list.items[i].id);
    }
    if (list.next_cursor)
        strncat(text, " +", sizeof text - strlen(text) - 1);
    return text;
}

Test(session, a_list_has_the_newest_first)
{
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){0}), "");
    make("a");
    make("b");
    make("c");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){0}), "c b a");
    say("a", "x");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){0}), "c b a", "by creation, not by use");
    ramet_session *s;
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "d"}, &s));
    ok(ramet_session_create(T.call, &(ramet_session_in){.id = "e"}, &s));
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){0}), "e d c b a", "also within one instant");
}

Test(session, pages_neither_repeat_nor_skip)
{
    char id[8];
    for (int i = 0; i < 10; i++) {
        snprintf(id, sizeof id, "s%d", i);
        make(id);
    }
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.limit = 3}), "s9 s8 s7 +");
    ramet_session_list page;
    ok(ramet_session_find(T.call, &(ramet_list_in){.limit = 3}, &page));
    make("late");
    drop("s7");
    drop("s6");
    ramet_list_in next = {.limit = 3, .cursor = page.next_cursor};
    cr_assert_str_eq(listed(T.call, &next), "s5 s4 s3 +");
    ok(ramet_session_find(T.call, &next, &page));
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.limit = 3, .cursor = page.next_cursor}),
                     "s2 s1 s0");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.limit = 9}), "late s9 s8 s5 s4 s3 s2 s1 s0");
}

Test(session, the_size_of_a_page_and_its_cursor_are_checked)
{
    ramet_session_list page;
    refused(RAMET_INVALID, "limit",
            ramet_session_find(T.call, &(ramet_list_in){.limit = 1001}, &page));
    refused(RAMET_INVALID, "limit",
            ramet_session_find(T.call, &(ramet_list_in){.limit = -1}, &page));
    refused(RAMET_BAD_CURSOR, "cursor",
            ramet_session_find(T.call, &(ramet_list_in){.cursor = "x"}, &page));
    refused(RAMET_BAD_CURSOR, "cursor",
            ramet_session_find(T.call, &(ramet_list_in){.cursor = ""}, &page));
    char id[8];
    for (int i = 0; i < 51; i++) {
        snprintf(id, sizeof id, "s%d", i);
        make(id);
    }
    ok(ramet_session_find(T.call, &(ramet_list_in){0}, &page));
    cr_assert_eq(page.n, 50);
    cr_assert_not_null(page.next_cursor);
    ok(ramet_session_find(T.call, &(ramet_list_in){.limit = 1000}, &page));
    cr_assert_eq(page.n, 51);
    cr_assert_null(page.next_cursor);
    ok(ramet_session_find(T.call, &(ramet_list_in){.limit = 51}, &page));
    cr_assert_null(page.next_cursor, "a full last page is the last");
}

Test(session, filters_narrow_a_list)
{
    ramet_session *s;
    const char *tags[] = {"red"};
    ok(ramet_session_create(
        T.call,
        &(ramet_session_in){.id = "a", .owner = "ann", .title = "Ärger", .agent = {.name = "echo"}},
        &s));
    tick(SECOND);
    ok(ramet_session_create(
        T.call, &(ramet_session_in){.id = "b", .owner = "bob", .tags = tags, .n_tags = 1}, &s));
    ask("b", "u", "Make COFFEE now");
    fork_at("a", NULL, "f");
    bool yes = true;
    make("old");
    ok(ramet_session_update(T.call, "old", &(ramet_session_patch){.archived = &yes}, &s));
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){0}), "f b a");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.archived = RAMET_ARCHIVED_INCLUDE}),
                     "old f b a");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.archived = RAMET_ARCHIVED_ONLY}), "old");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.owner = "bob"}), "b");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.owner = "nobody"}), "");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.agent = "echo"}), "f a",
                     "a fork has the agent too");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.tag = "red"}), "b");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.tag = "re"}), "");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.tree = get("a")->tree_id}), "f a");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.title = "äRG"}), "f a");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.title = "coffee"}), "b",
                     "the shown title counts");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.title = "100%"}), "");
    cr_assert_str_eq(listed(T.call, &(ramet_list_in){.agent = "echo", .title = "fork of"}), "f");
}

Test(session, filtered_pages_are_full_and_end)
{
    char id[8];
    for (int i = 0; i < 30; i++) {
        snprintf(id, sizeof id, "s%d", i);
        ramet_session *s;
        tick(SECOND);
        ok(ramet_session_create(
            T.call, &(ramet_session_in){.id = id, .title = i % 10 == 0 ? "needle" : "hay"}, &s));
    }
    ramet_list_in in = {.title = "NEEDLE", .limit = 2};
    cr_assert_str_eq(listed(T.call, &in), "s20 s10 +");
    ramet_session_list page;
    ok(ramet_session_find(T.call, &in, &page));
    in.cursor = page.next_cursor;
    cr_assert_str_eq(listed(T.call, &in), "s0");
}

/* Whether a user should see it: what is open in his trees, and his own private ones anywhere. */
static bool should_see(const char *user, const ramet_session *s, const bool member[3], int tree)
{
    return s->visibility == RAMET_PRIVATE ? strcmp(s->owner, user) == 0 : member[tree];
}

/* Three trees of 60 sessions each, by three people, every fifth private. */
static void crowd(void)
{
    static const char *const people[] = {"ann", "bob", "cat"};
    char root[8], id[16];
    ramet_session *s;
    for (int t = 0; t < 3; t++) {
        snprintf(root, sizeof root, "r%d", t);
        make(root);
        join(root, "bob", t == 1 ? RAMET_READER : RAMET_WRITER);
        join(root, "cat", RAMET_WRITER);
    }
    for (int i = 0; i < 180; i++) {
        snprintf(root, sizeof root, "r%d", i % 3);
        snprintf(id, sizeof id, "t%d-%d", i % 3, i);
        bool hidden = i % 5 == 0 || (i % 3 == 1 && i % 7 % 3 == 1);
        ramet_call *c = ramet_call_new(T.store, people[i % 7 % 3], NULL);
        tick(i % 2 ? SECOND : 0);
        ok_for(c,
               ramet_fork(c, root,
                          &(ramet_fork_in){
                              .id = id, .visibility = hidden ? RAMET_PRIVATE : RAMET_TREE_VISIBLE},
                          &s, NULL));
        ramet_call_free(c);
    }
    ok(ramet_member_remove(T.call, "r0", "bob"));
    ok(ramet_member_remove(T.call, "r2", "cat"));
}

Test(session, everyone_pages_through_exactly_what_he_may_see, .timeout = 60)
{
    crowd();
    static const char *const people[] = {"ann", "bob", "cat", "eve"};
    static const bool member[4][3] = {{1, 1, 1}, {0, 1, 1}, {1, 1, 0}, {0, 0, 0}};
    ramet_session_list all, page;
    ok(ramet_session_find(T.call, &(ramet_list_in){.limit = 1000}, &all));
    cr_assert_eq(all.n, 183);
    for (int p = 0; p < 4; p++) {
        ramet_call *c = as(people[p]);
        for (size_t i = 0; i < all.n; i++) {
            ramet_session *s;
            bool see = should_see(people[p], &all.items[i], member[p], all.items[i].id[1] - '0');
            cr_assert_eq(ramet_session_get(c, all.items[i].id, &s), see ? RAMET_OK : RAMET_HIDDEN);
        }
        for (int limit = 1; limit <= 200; limit = limit * 3 + 4) {
            ramet_list_in in = {.limit = limit};
            size_t i = 0;
            do {
                ok_for(c, ramet_session_find(c, &in, &page));
                for (size_t k = 0; k < page.n; k++, i++) {
                    while (i < all.n && !should_see(people[p], &all.items[i], member[p],
                                                    all.items[i].id[1] - '0'))
                        i++;
                    cr_assert_lt(i, all.n, "%s sees %s", people[p], page.items[k].id);
                    cr_assert_str_eq(page.items[k].id, all.items[i].id, "%s, %d a page", people[p],
                                     limit);
                }
                cr_assert(!page.next_cursor || page.n == (size_t)limit);
                in.cursor = page.next_cursor;
            } while (in.cursor);
            for (; i < all.n; i++)
                cr_assert_not(
                    should_see(people[p], &all.items[i], member[p], all.items[i].id[1] - '0'),
                    "%s does not see %s", people[p], all.items[i].id);
        }
    }
}

/* ---- words */

Test(session, every_word_is_read_back)
{
    for (int v = RAMET_USER; v <= RAMET_SYSTEM; v++)
        cr_assert_eq(ramet_role_parse(ramet_role_name((ramet_role)v)), v);
    for (int v = 0; v <= RAMET_BEFORE; v++)
        cr_assert_eq(ramet_side_parse(ramet_side_name((ramet_side)v)), v);
    for (int v = 0; v <= RAMET_CUT_SNAP_AFTER; v++)
        cr_assert_eq(ramet_cut_parse(ramet_cut_name((ramet_cut_policy)v)), v);
    for (int v = 0; v <= RAMET_AUTO_REGENERATE; v++)
        cr_assert_eq(ramet_fork_type_parse(ramet_fork_type_name((ramet_fork_type)v)), v);
    for (int v = 0; v <= RAMET_PRIVATE; v++)
        cr_assert_eq(ramet_visibility_parse(ramet_visibility_name((ramet_visibility)v)), v);
    for (int v = RAMET_READER; v <= RAMET_OWNER; v++)
        cr_assert_eq(ramet_level_parse(ramet_level_name((ramet_level)v)), v);
    cr_assert_str_eq(ramet_role_name(RAMET_TOOL), "tool");
    cr_assert_str_eq(ramet_side_name(RAMET_BEFORE), "before");
    cr_assert_str_eq(ramet_cut_name(RAMET_CUT_SNAP_AFTER), "snap_after");
    cr_assert_str_eq(ramet_fork_type_name(RAMET_AUTO_EDIT), "auto-edit");
    cr_assert_str_eq(ramet_visibility_name(RAMET_TREE_VISIBLE), "tree");
    cr_assert_str_eq(ramet_visibility_name(RAMET_PRIVATE), "private");
    cr_assert_str_eq(ramet_actor_name(RAMET_BY_SYSTEM), "system");
    cr_assert_str_eq(ramet_level_name(RAMET_MANAGER), "manager");
    cr_assert_str_eq(ramet_move_name(RAMET_MOVE_REWIND), "rewind");
    cr_assert_eq(ramet_role_parse("User"), -1);
    cr_assert_eq(ramet_role_parse(""), -1);
    cr_assert_eq(ramet_role_parse(NULL), -1);
    cr_assert_eq(ramet_level_parse("boss"), -1);
    cr_assert_eq(ramet_cut_parse("snap"), -1);
}

Test(session, branch_ids_as_text)
{
    char text[24];
    cr_assert_str_eq(ramet_branch_text(17, text), "b17");
    cr_assert_eq(ramet_branch_parse("b17"), 17);
    static const char *const bad[] = {
        "", "b", "17", "b0", "b-1", "b17x", "B17", "b 17", "b+1", "b017", "b99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(ramet_branch_parse(bad[i]), 0, "%s", bad[i]);
    cr_assert_eq(ramet_branch_parse(NULL), 0);
}

Test(session, every_status_has_its_code)
{
    cr_assert_str_eq(ramet_status_code(RAMET_HEAD_MOVED), "head_moved");
    cr_assert_eq(ramet_status_http(RAMET_HEAD_MOVED), 409);
    cr_assert_eq(ramet_status_exit(RAMET_HEAD_MOVED), 5);
    cr_assert_str_eq(ramet_status_code(RAMET_HIDDEN), ramet_status_code(RAMET_SESSION_NOT_FOUND));
    for (int s = 0; s < RAMET_STATUS_COUNT; s++) {
        cr_assert(ramet_status_code((ramet_status)s)[0]);
        cr_assert(ramet_status_text((ramet_status)s)[0]);
        cr_assert_geq(ramet_status_http((ramet_status)s), 200);
    }
    cr_assert_str_eq(ramet_status_code(RAMET_STATUS_COUNT), "internal");
    cr_assert_not_null(ramet_status_code((ramet_status)999));
    cr_assert_not_null(ramet_status_text((ramet_status)-1));
}
