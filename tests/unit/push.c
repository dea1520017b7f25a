/* SPDX-License-Identifier: Apache-2.0
 *
 * push.c: destinations of notifications: whose they are, how many, and that one node has a row at a
 * time (N1 to N3 of core/ext/push.c).
 */
#include "help.h"
#include "ramet/push.h"

#include <stdio.h>

static ramet_call *ann, *bob, *eve;

static void open_all(void)
{
    scratch_open();
    make("s");
    ann = as("ann");
    bob = as("bob");
    eve = as("eve");
}

TestSuite(push, .init = open_all, .fini = scratch_close);

static ramet_status put_as(ramet_call *c, const char *task, const char *id)
{
    return ramet_push_put(
        c, "s", &(ramet_push_in){.task = task, .id = id, .wire = 10, .config = "sealed", .n = 6});
}

/* "task/id …" of the rows that are due. */
static const char *due(ramet_push **rows)
{
    static char text[512];
    size_t n;
    text[0] = 0;
    ok(ramet_push_due(T.call, T.now, NULL, 100, rows, &n));
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s/%s", have ? " " : "", (*rows)[i].task,
                 (*rows)[i].id);
    }
    return text;
}

Test(push, belongs_to_who_made_it)
{
    ramet_push *list;
    size_t n;
    join("s", "bob", RAMET_READER);
    ok_for(ann, put_as(ann, "t", "a"));
    cr_assert_eq(put_as(bob, "t", "a"), RAMET_INVALID);
    ok_for(bob, put_as(bob, "t", "b"));
    ok_for(bob, ramet_push_list(bob, "s", "t", &list, &n));
    cr_assert(n == 1 && strcmp(list[0].id, "b") == 0 && list[0].n == 6 &&
              memcmp(list[0].config, "sealed", 6) == 0);
    ok_for(bob, ramet_push_delete(bob, "s", "t", "a"));
    ok_for(ann, ramet_push_list(ann, "s", "t", &list, &n));
    cr_assert_eq(n, 1);
    cr_assert_eq(ramet_push_list(eve, "s", "t", &list, &n), RAMET_HIDDEN);
    cr_assert_eq(put_as(eve, "t", "e"), RAMET_HIDDEN);
    refused(RAMET_FORBIDDEN, NULL, ramet_push_list(T.call, "s", "t", &list, &n));
    cr_assert_eq(ramet_push_due(ann, T.now, NULL, 9, &list, &n), RAMET_FORBIDDEN);
}

Test(push, has_limits)
{
    char id[32];
    ramet_push *rows;
    bool got;
    for (int i = 0; i < RAMET_PUSH_PER_TASK; i++) {
        snprintf(id, sizeof id, "%d", i);
        ok_for(ann, put_as(ann, "t", id));
    }
    cr_assert_eq(put_as(ann, "t", "more"), RAMET_TOO_LARGE);
    ok_for(ann, put_as(ann, "t", "3")); /* replaces */
    for (int i = RAMET_PUSH_PER_TASK; i < RAMET_PUSH_PER_USER; i++) {
        snprintf(id, sizeof id, "u%d", i);
        ok_for(ann, put_as(ann, id, "x"));
    }
    cr_assert_eq(put_as(ann, "last", "x"), RAMET_TOO_LARGE);
    cr_assert_eq(ramet_push_room(ann), RAMET_TOO_LARGE);
    due(&rows);
    ok(ramet_push_claim(T.call, &rows[0], T.now + SECOND, &got));
    cr_assert(got);
    ok(ramet_push_settle(T.call, &rows[0], RAMET_PUSH_NEVER));
    ok_for(ann, put_as(ann, "last", "x")); /* the one that was settled made room */
    cr_assert_eq(put_as(ann, "after that", "x"), RAMET_TOO_LARGE);
}

Test(push, is_delivered_by_one)
{
    ramet_push *rows, *again, first;
    bool got;
    ok_for(ann, put_as(ann, "t", "a"));
    ok_for(ann, put_as(ann, "t", "b"));
    cr_assert_str_eq(due(&rows), "t/a t/b");
    first = rows[0];
    due(&again);
    ok(ramet_push_claim(T.call, &first, T.now + 60 * SECOND, &got));
    cr_assert(got);
    ok(ramet_push_claim(T.call, &again[0], T.now + 60 * SECOND, &got));
    cr_assert_not(got, "another node has it");
    cr_assert_str_eq(due(&rows), "t/b");
    first.sent = 2;
    ok(ramet_push_settle(T.call, &first, T.now));
    due(&rows);
    ok(ramet_push_claim(T.call, &again[0], T.now + 60 * SECOND, &got));
    cr_assert_not(got, "what it knows is old");
    ok(ramet_push_claim(T.call, &rows[1], T.now + 60 * SECOND, &got));
    cr_assert(got && rows[1].sent == 2);
    tick(61 * SECOND);
    cr_assert_str_eq(due(&rows), "t/b t/a", "a claim ends");
    ok_for(ann, put_as(ann, "t", "a"));
    ok(ramet_push_settle(T.call, &first, RAMET_PUSH_NEVER));
    cr_assert_str_eq(due(&rows), "t/a t/b", "a row that was replaced is not settled");
}

Test(push, goes_with_its_session)
{
    ramet_push *rows;
    ramet_gc_out out;
    ok_for(ann, put_as(ann, "t", "a"));
    drop("s");
    cr_assert_str_eq(due(&rows), "t/a");
    cr_assert(rows[0].gone);
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    cr_assert_str_eq(due(&rows), "");
}
