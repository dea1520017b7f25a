/* SPDX-License-Identifier: Apache-2.0
 *
 * make.c: conversations that are made by their first entries, archived with their tree, and handed
 * over.
 */
#include "help.h"

#include <stdio.h>

TestSuite(make, .init = scratch_open, .fini = scratch_close);

static ramet_append_out out;

static ramet_status talk(ramet_call *c, const char *session, const char *text,
                         const ramet_make *how)
{
    ramet_entry_in e = {.role = RAMET_USER, .text = text};
    ramet_append_in in = {.entries = &e, .n = 1, .make = how};
    return ramet_append(c, session, &in, &out);
}

static int64_t length(ramet_call *c, const char *session)
{
    ramet_session *s;
    cr_assert_eq(ramet_session_get(c, session, &s), RAMET_OK);
    return s->head.length;
}

static void sound(void)
{
    ramet_fsck_out found;
    cr_assert_eq(ramet_fsck(T.call, NULL, NULL, &found), RAMET_OK);
    cr_expect_eq(found.n, 0, "%s", found.n ? found.faults[0].what : "");
}

Test(make, a_fork_is_made_by_its_first_entry)
{
    ramet_call *ann = as("ann"), *bob = as("bob");
    ramet_session *s;
    cr_assert_eq(talk(ann, "root", "A", &(ramet_make){.title = "t"}), RAMET_OK);
    cr_expect(out.made);
    const char *first = out.entries[0].id;
    cr_assert_eq(talk(ann, "root", "B", &(ramet_make){.title = "other"}), RAMET_OK);
    cr_expect_not(out.made);
    const char *second = out.entries[0].id;
    ramet_make fork = {.fork_of = "root", .fork_at = second};
    cr_assert_eq(talk(ann, "fork", "C", &fork), RAMET_OK);
    cr_expect_eq(length(ann, "fork"), 2);
    cr_assert_eq(ramet_session_get(ann, "fork", &s), RAMET_OK);
    cr_expect_str_eq(s->fork_entry_id, second);
    cr_expect_eq(s->fork_side, RAMET_BEFORE);
    /* At the very first one, and without any. */
    cr_assert_eq(talk(ann, "none", "D", &(ramet_make){.fork_of = "root", .fork_at = first}),
                 RAMET_OK);
    cr_expect_eq(length(ann, "none"), 1);
    cr_assert_eq(talk(ann, "blank", "E", &(ramet_make){.fork_of = "fork"}), RAMET_OK);
    cr_expect_eq(length(ann, "blank"), 1);
    /* What fails leaves nothing. */
    cr_expect_eq(talk(bob, "x", "x", &fork), RAMET_HIDDEN);
    cr_expect_eq(talk(ann, "x", "x", &(ramet_make){.fork_of = "no"}), RAMET_SESSION_NOT_FOUND);
    cr_expect_eq(talk(ann, "x", "x", &(ramet_make){.fork_of = "root", .fork_at = "no"}),
                 RAMET_ENTRY_NOT_FOUND);
    cr_expect_eq(talk(ann, "x", "x", &(ramet_make){.fork_of = "root", .started_by = "root"}),
                 RAMET_INVALID);
    cr_expect_eq(ramet_session_get(ann, "x", &s), RAMET_SESSION_NOT_FOUND);
    sound();
}

Test(make, keys_are_once_a_session)
{
    ramet_call *ann = as("ann");
    ramet_entry_in e = {.role = RAMET_USER, .text = "x", .key = "seq 1"};
    ramet_append_in in = {.entries = &e, .n = 1, .make = &(ramet_make){0}};
    cr_assert_eq(ramet_append(ann, "a", &in, &out), RAMET_OK);
    cr_expect_eq(ramet_append(ann, "a", &in, &out), RAMET_KEY_TAKEN);
    cr_expect_eq(ramet_append(ann, "b", &in, &out), RAMET_OK);
    ramet_entry_in twice[] = {{.role = RAMET_USER, .key = "k"}, {.role = RAMET_USER, .key = "k"}};
    in.entries = twice;
    in.n = 2;
    cr_expect_eq(ramet_append(ann, "c", &in, &out), RAMET_KEY_TAKEN);
    sound();
}

/* The texts of a page, in a row. */
static const char *across(ramet_call *c, const char *session, ramet_across_in in)
{
    static char text[128];
    ramet_page page;
    text[0] = 0;
    cr_assert_eq(ramet_across(c, session, &in, &page), RAMET_OK);
    for (size_t i = 0; i < page.n; i++)
        strncat(text, page.entries[i].text, sizeof text - strlen(text) - 1);
    if (page.more_before || page.more_after)
        strncat(text, page.more_before ? "<" : ">", sizeof text - strlen(text) - 1);
    return text;
}

static ramet_entry *tell(ramet_call *c, const char *session, const char *text, const char *key,
                         const ramet_make *how)
{
    ramet_entry_in e = {.role = RAMET_USER, .text = text, .key = key};
    ramet_append_in in = {.entries = &e, .n = 1, .make = how};
    cr_assert_eq(ramet_append(c, session, &in, &out), RAMET_OK);
    tick(1000);
    return &out.entries[0];
}

Test(make, pages_over_all_forks_by_time_and_by_key)
{
    ramet_call *ann = as("ann"), *bob = as("bob");
    ramet_make root = {0};
    ramet_session *s;
    ramet_entry *e, *cursor;
    tell(ann, "r", "a", "k3", &root);
    e = tell(ann, "r", "b", NULL, &root);
    ramet_make fork = {.fork_of = "r", .fork_at = e->id};
    tell(ann, "f", "c", "k1", &fork);
    tell(ann, "r", "d", "k1", &root);
    tell(ann, "f", "e", "k2", &root);
    cr_assert_eq(ramet_member_add(ann, "r", "bob", RAMET_READER), RAMET_OK);
    cr_assert_eq(ramet_session_make(bob, "his", &fork, &s), RAMET_OK);
    tell(bob, "his", "x", "k1", &root);

    ramet_across_in all = {.tree = true};
    cr_expect_str_eq(across(ann, "f", all), "abcde", "not what is private of another");
    cr_expect_str_eq(across(bob, "f", all), "abcdex");
    cr_assert_eq(ramet_across_entry(ann, "f", e->id, 0, 0, &cursor), RAMET_OK);
    cr_expect_str_eq(across(ann, "f", (ramet_across_in){.tree = true, .limit = 2}), "ab>");
    cr_expect_str_eq(across(ann, "f", (ramet_across_in){.tree = true, .limit = 2, .after = cursor}),
                     "cd>");
    cr_expect_str_eq(
        across(ann, "f",
               (ramet_across_in){.tree = true, .limit = 2, .after = cursor, .with_after = true}),
        "bc>");
    cr_expect_str_eq(across(ann, "f", (ramet_across_in){.tree = true, .limit = 2, .tail = true}),
                     "de<");
    cr_expect_str_eq(across(ann, "f", (ramet_across_in){.tree = true, .before = cursor}), "a");
    cr_expect_str_eq(across(ann, "f", (ramet_across_in){.tree = true, .upto = cursor}), "ab");

    ramet_across_in keys = {.key_from = "k1", .key_to = "k9"};
    cr_expect_str_eq(across(ann, "f", keys), "cea", "its path: c, e, and a of the parent");
    cr_expect_str_eq(across(ann, "r", keys), "da");
    keys.limit = 1;
    keys.tail = true;
    cr_expect_str_eq(across(ann, "f", keys), "a<");
    keys.tail = false;
    keys.key_from = "k2";
    cr_expect_str_eq(across(ann, "f", keys), "e>");
    keys.limit = 0;
    keys.tree = true;
    cr_expect_str_eq(across(ann, "f", keys), "ea");
    cr_expect_eq(ramet_across_entry(ann, "f", NULL, 1 << 20, 5, &cursor), RAMET_ENTRY_NOT_FOUND);
    sound();
}

Test(make, a_tree_is_archived_with_what_it_started)
{
    ramet_call *ann = as("ann");
    ramet_session *s;
    ramet_session *started;
    size_t n;
    cr_assert_eq(talk(ann, "root", "A", &(ramet_make){0}), RAMET_OK);
    cr_assert_eq(talk(ann, "fork", "B", &(ramet_make){.fork_of = "root"}), RAMET_OK);
    cr_assert_eq(talk(ann, "kid", "C", &(ramet_make){.started_by = "fork"}), RAMET_OK);
    cr_assert_eq(ramet_started(ann, "fork", &started, &n), RAMET_OK);
    cr_expect_eq(n, 1);
    cr_assert_eq(ramet_archive(ann, "fork", true, &s), RAMET_OK);
    cr_expect(s->archived);
    cr_assert_eq(ramet_session_get(ann, "kid", &s), RAMET_OK);
    cr_expect(s->archived);
    cr_expect_eq(ramet_archive(ann, "root", true, &s), RAMET_SESSION_NOT_FOUND);
    cr_expect_eq(talk(ann, "root", "x", &(ramet_make){0}), RAMET_SESSION_NOT_FOUND);
    cr_expect_eq(talk(ann, "new", "x", &(ramet_make){.fork_of = "root"}), RAMET_SESSION_NOT_FOUND);
    cr_assert_eq(ramet_archive(ann, "root", false, &s), RAMET_OK);
    cr_expect_eq(talk(ann, "root", "x", &(ramet_make){0}), RAMET_OK);
    sound();
}

/* The events behind a number, as "USER BEFORE>AFTER", "archived", "back" or "-". */
static const char *changes(int64_t after)
{
    static char text[512];
    ramet_events_out e;
    text[0] = 0;
    cr_assert_eq(ramet_events(T.call, &(ramet_events_in){.after = after}, &e), RAMET_OK);
    for (size_t i = 0; i < e.n; i++) {
        const ramet_event *v = &e.items[i];
        size_t n = strlen(text);
        if (v->member)
            snprintf(text + n, sizeof text - n, "%s %d>%d;", v->member, (int)v->before,
                     (int)v->after);
        else
            snprintf(text + n, sizeof text - n, "%s;",
                     v->archived > 0   ? "archived"
                     : v->archived < 0 ? "back"
                                       : "-");
    }
    return text;
}

Test(make, events_tell_of_members_and_of_archiving)
{
    ramet_call *ann = as("ann"), *bob = as("bob");
    ramet_session *s;
    ramet_transfer *t;
    char want[128];
    cr_assert_eq(talk(ann, "root", "A", &(ramet_make){0}), RAMET_OK);
    int64_t at = ramet_event_last(T.store);
    cr_assert_eq(ramet_member_add(ann, "root", "bob", RAMET_READER), RAMET_OK);
    cr_assert_eq(ramet_member_change(ann, "root", "bob", RAMET_WRITER), RAMET_OK);
    cr_assert_eq(ramet_archive(ann, "root", true, &s), RAMET_OK);
    cr_assert_eq(ramet_archive(ann, "root", false, &s), RAMET_OK);
    cr_assert_eq(ramet_transfer_add(ann, "root", "bob", &t), RAMET_OK);
    cr_assert_eq(ramet_transfer_accept(bob, t->id), RAMET_OK);
    cr_assert_eq(ramet_member_remove(bob, "root", "ann"), RAMET_OK);
    snprintf(want, sizeof want, "bob 0>%d;bob %d>%d;archived;back;ann %d>%d;bob %d>%d;-;ann %d>0;",
             RAMET_READER, RAMET_READER, RAMET_WRITER, RAMET_OWNER, RAMET_MANAGER, RAMET_WRITER,
             RAMET_OWNER, RAMET_MANAGER);
    cr_expect_str_eq(changes(at), want);
    sound();
}

Test(make, a_tree_is_handed_over_when_it_is_accepted)
{
    ramet_call *ann = as("ann"), *bob = as("bob"), *eve = as("eve");
    ramet_transfer *t, *again;
    ramet_session *s;
    ramet_member *m;
    size_t n;
    cr_assert_eq(talk(ann, "root", "A", &(ramet_make){0}), RAMET_OK);
    cr_assert_eq(talk(ann, "fork", "B", &(ramet_make){.fork_of = "root"}), RAMET_OK);
    cr_expect_eq(ramet_transfer_add(ann, "root", "bob", &t), RAMET_INVALID);
    cr_assert_eq(ramet_member_add(ann, "root", "bob", RAMET_READER), RAMET_OK);
    cr_expect_eq(ramet_member_add(ann, "root", "bob", RAMET_READER), RAMET_MEMBER_EXISTS);
    cr_expect_eq(ramet_member_change(ann, "root", "eve", RAMET_READER), RAMET_MEMBER_NOT_FOUND);
    cr_expect_eq(ramet_transfer_add(bob, "root", "ann", &t), RAMET_FORBIDDEN);
    cr_assert_eq(ramet_transfer_add(ann, "root", "bob", &t), RAMET_OK);
    cr_expect_eq(ramet_transfer_add(ann, "fork", "bob", &again), RAMET_TRANSFER_PENDING);
    cr_expect_eq(ramet_transfer_get(eve, t->id, &again), RAMET_TRANSFER_NOT_FOUND);
    cr_expect_eq(ramet_transfer_accept(ann, t->id), RAMET_FORBIDDEN);
    cr_assert_eq(ramet_transfer_accept(bob, t->id), RAMET_OK);
    cr_expect_eq(ramet_transfer_accept(bob, t->id), RAMET_TRANSFER_NOT_FOUND);
    cr_assert_eq(ramet_session_get(ann, "fork", &s), RAMET_OK);
    cr_expect_str_eq(s->owner, "bob");
    cr_assert_eq(ramet_members(bob, "fork", &m, &n), RAMET_OK);
    cr_assert_eq(n, 2);
    cr_expect_str_eq(m[0].user, "bob");
    cr_expect_eq(m[0].level, RAMET_OWNER);
    cr_expect_eq(m[1].level, RAMET_MANAGER);
    sound();
}
