/* SPDX-License-Identifier: Apache-2.0
 *
 * sync.c: the path becomes a client's list: what is the same stays, what differs is a branch.
 */
#include "help.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(sync, .init = scratch_open, .fini = scratch_close);

/* A list "a b c" as say() would append it. */
static ramet_sync_out sync_list(const char *list)
{
    static char copy[1024], texts[64][64];
    ramet_entry_in in[64];
    size_t n = 0;
    char *save = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *id = strtok_r(copy, " ", &save); id; id = strtok_r(NULL, " ", &save)) {
        snprintf(texts[n], sizeof texts[n], "text of %.40s", id);
        in[n] = (ramet_entry_in){.id = id, .role = RAMET_USER, .text = texts[n]};
        n++;
    }
    ramet_sync_out out;
    tick(SECOND);
    ok(ramet_sync(T.call, "s", in, n, NULL, &out));
    cr_assert_str_eq(ids("s"), list);
    cr_assert_eq(out.session->head.length, (int64_t)n);
    cr_assert_str_eq(out.session->id, "s");
    return out;
}

static void did(ramet_sync_out out, int64_t matched, int64_t added, bool moved)
{
    cr_assert_eq(out.matched, matched, "%d matched", (int)out.matched);
    cr_assert_eq(out.added, added, "%d added", (int)out.added);
    cr_assert_eq(out.moved, moved);
}

Test(sync, an_equal_list_writes_nothing)
{
    make("s");
    say("s", "a b c");
    const char *before = mark();
    did(sync_list("a b c"), 3, 0, false);
    cr_assert_str_eq(mark(), before);
}

Test(sync, a_longer_list_is_appended)
{
    make("s");
    did(sync_list("a b"), 0, 2, false);
    int64_t branch = get("s")->head.branch;
    did(sync_list("a b c d"), 2, 2, false);
    cr_assert_eq(get("s")->head.branch, branch);
}

Test(sync, a_prefix_is_a_rewind)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch;
    did(sync_list("a"), 1, 0, true);
    cr_assert_str_eq(ids_on("s", old), "a b c");
    did(sync_list(""), 0, 0, true);
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), "a b c");
}

Test(sync, a_different_list_branches_at_the_first_difference)
{
    make("s");
    say("s", "a b c");
    int64_t old = get("s")->head.branch;
    did(sync_list("a x c"), 1, 2, true);
    cr_assert_str_eq(ids_on("s", old), "a b c");
    ramet_move *m;
    size_t n;
    bool more;
    ok(ramet_head_log(T.call, "s", 0, 0, &m, &n, &more));
    cr_assert_eq(n, 1, "one move");
    cr_assert_eq(m[0].kind, RAMET_MOVE_SYNC);
    cr_assert_eq(m[0].from, old);
}

Test(sync, entries_match_by_role_and_content_too)
{
    make("s");
    ask("s", "a", "hello");
    answer("s", "b", "hi");
    ramet_sync_out out;
    ramet_entry_in in[] = {{.role = RAMET_USER, .text = "hello"},
                           {.role = RAMET_ASSISTANT, .text = "hi"}};
    const char *before = mark();
    ok(ramet_sync(T.call, "s", in, 2, NULL, &out));
    did(out, 2, 0, false);
    cr_assert_str_eq(mark(), before, "an id need not be given");
    in[1].id = "other";
    ok(ramet_sync(T.call, "s", in, 2, NULL, &out));
    did(out, 1, 1, true);
    cr_assert_str_eq(ids("s"), "a other");
    in[1].text = "changed";
    ok(ramet_sync(T.call, "s", in, 2, NULL, &out));
    did(out, 1, 1, true);
    in[0].role = RAMET_SYSTEM;
    ok(ramet_sync(T.call, "s", in, 2, NULL, &out));
    did(out, 0, 2, true);
    cr_assert_eq(get("s")->head.length, 2);
}

Test(sync, only_the_channel_of_the_list_is_compared)
{
    make("s");
    ask("s", "a", "text of a");
    put("s",
        &(ramet_entry_in){.id = "m", .role = RAMET_SYSTEM, .text = "note", .channel = "memory"});
    ask("s", "b", "text of b");
    ramet_sync_out out;
    ramet_entry_in in[] = {{.id = "a", .role = RAMET_USER, .text = "text of a"},
                           {.id = "b", .role = RAMET_USER, .text = "text of b"},
                           {.id = "c", .role = RAMET_USER, .text = "text of c"}};
    ok(ramet_sync(T.call, "s", in, 3, NULL, &out));
    did(out, 2, 1, false);
    cr_assert_str_eq(ids("s"), "a m b c");
    ok(ramet_sync(T.call, "s", in, 1, NULL, &out));
    cr_assert(out.moved);
    ramet_page page;
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "history"}, &page));
    cr_assert_eq(page.n, 1);
    cr_assert_str_eq(page.entries[0].id, "a");
    ramet_entry_in note = {.id = "m2", .role = RAMET_SYSTEM, .text = "other", .channel = "memory"};
    ok(ramet_sync(T.call, "s", &note, 1, NULL, &out));
    ok(ramet_read(T.call, "s", &(ramet_read_in){.channel = "memory"}, &page));
    cr_assert_eq(page.n, 1);
    cr_assert_str_eq(page.entries[0].id, "m2");
    in[1].channel = "memory";
    refused(RAMET_INVALID, "entries", ramet_sync(T.call, "s", in, 2, NULL, &out));
}

Test(sync, works_on_inherited_history)
{
    make("root");
    say("root", "a b c");
    tick(SECOND);
    ramet_session *f;
    ok(ramet_fork(T.call, "root", &(ramet_fork_in){.id = "s"}, &f, NULL));
    did(sync_list("a b d"), 2, 1, true);
    did(sync_list("z"), 0, 1, true);
    cr_assert_str_eq(ids("root"), "a b c");
}

Test(sync, can_depend_on_the_head)
{
    make("s");
    say("s", "a");
    const char *before = mark();
    ramet_sync_out out;
    refused(RAMET_HEAD_MOVED, "expected_head", ramet_sync(T.call, "s", NULL, 0, NO_HASH, &out));
    ramet_entry_in twice[] = {{.id = "x", .role = RAMET_USER, .text = "1"},
                              {.id = "x", .role = RAMET_USER, .text = "2"}};
    cr_assert_eq(ramet_sync(T.call, "s", twice, 2, NULL, &out), RAMET_ENTRY_EXISTS);
    cr_assert_str_eq(mark(), before);
}

Test(sync, a_list_longer_than_a_batch)
{
    make("s");
    enum { N = 2500 };
    ramet_entry_in *in = calloc(N, sizeof *in);
    char(*names)[8] = calloc(N, sizeof *names);
    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "e%d", i);
        in[i] = (ramet_entry_in){.id = names[i], .role = RAMET_USER, .text = names[i]};
    }
    ramet_sync_out out;
    ok(ramet_sync(T.call, "s", in, N, NULL, &out));
    did(out, 0, N, false);
    in[1700].text = "changed";
    ok(ramet_sync(T.call, "s", in, N, NULL, &out));
    did(out, 1700, N - 1700, true);
    cr_assert_eq(get("s")->head.length, N);
    ramet_entry *e = NULL;
    ok(ramet_entry_get(T.call, "s", 0, "e1700", &e));
    cr_assert_str_eq(e->text, "changed");
    free(in);
    free(names);
}

Test(sync, an_id_stands_once_in_a_list_and_once_on_a_path)
{
    make("s");
    put("s",
        &(ramet_entry_in){.id = "m", .role = RAMET_SYSTEM, .text = "note", .channel = "memory"});
    say("s", "a");
    const char *before = mark();
    ramet_sync_out out;
    ramet_entry_in twice[] = {{.id = "x", .role = RAMET_USER, .text = "1"},
                              {.id = "x", .role = RAMET_USER, .text = "1"}};
    cr_assert_neq(ramet_sync(T.call, "s", twice, 2, NULL, &out), RAMET_OK);
    ramet_entry_in taken[] = {{.id = "a", .role = RAMET_USER, .text = "text of a"},
                              {.id = "m", .role = RAMET_SYSTEM, .text = "note"}};
    refused(RAMET_ENTRY_EXISTS, NULL, ramet_sync(T.call, "s", taken, 2, NULL, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(ids("s"), "m a");
}
