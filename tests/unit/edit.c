/* SPDX-License-Identifier: Apache-2.0
 *
 * edit.c: an edit is a branch before the old entry with the new one on it, in one commit.
 */
#include "help.h"

TestSuite(edit, .init = scratch_open, .fini = scratch_close);

static void talk(void)
{
    make("s");
    ask("s", "q1", "one");
    answer("s", "r1", "eins");
    ask("s", "q2", "two");
    answer("s", "r2", "zwei");
}

static ramet_branch head_branch(const char *session)
{
    ramet_branch *b;
    size_t n;
    ok(ramet_branches(T.call, session, &b, &n));
    for (size_t i = 0; i < n; i++)
        if (b[i].current)
            return b[i];
    cr_assert_fail("no branch is current");
    return b[0];
}

static ramet_move last_move(const char *session)
{
    ramet_move *m;
    size_t n;
    bool more;
    ok(ramet_head_log(T.call, session, 0, 1, &m, &n, &more));
    cr_assert_eq(n, 1);
    return m[0];
}

Test(edit, branches_before_the_entry_and_appends)
{
    talk();
    int64_t old = get("s")->head.branch;
    ramet_append_out out;
    ok(ramet_edit(T.call, "s", "q2", &(ramet_entry_in){.id = "q2b", .text = "two!"}, NULL, &out));
    cr_assert_eq(out.n, 1);
    cr_assert_eq(out.added, 1);
    cr_assert_str_eq(out.entries[0].id, "q2b");
    cr_assert_eq(out.entries[0].role, RAMET_USER, "the old role");
    cr_assert_eq(out.entries[0].position, 2);
    cr_assert_eq(out.head.length, 3);
    cr_assert_str_eq(ids("s"), "q1 r1 q2b");
    cr_assert_str_eq(ids_on("s", old), "q1 r1 q2 r2");
    ramet_branch b = head_branch("s");
    cr_assert_eq(b.type, RAMET_AUTO_EDIT);
    cr_assert_eq(b.id, out.head.branch);
    ramet_move m = last_move("s");
    cr_assert_eq(m.kind, RAMET_MOVE_EDIT);
    cr_assert_eq(m.from, old);
    cr_assert_eq(m.to, b.id);
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), "q1 r1 q2 r2");
}

Test(edit, may_keep_the_id_and_change_the_role)
{
    talk();
    ramet_append_out out;
    ok(ramet_edit(T.call, "s", "q2",
                  &(ramet_entry_in){.id = "q2", .role = RAMET_SYSTEM, .text = "new words"}, NULL,
                  &out));
    cr_assert_eq(out.entries[0].role, RAMET_SYSTEM);
    cr_assert_str_eq(ids("s"), "q1 r1 q2");
    ramet_entry *e = NULL;
    ok(ramet_entry_get(T.call, "s", 0, "q2", &e));
    cr_assert_str_eq(e->text, "new words");
    const char *before = mark();
    refused(RAMET_ENTRY_EXISTS, NULL,
            ramet_edit(T.call, "s", "q2", &(ramet_entry_in){.id = "q1", .text = "x"}, NULL, &out));
    cr_assert_str_eq(mark(), before, "an id further up is taken");
}

Test(edit, of_the_first_and_of_an_inherited_entry)
{
    talk();
    fork_at("s", "r1", "f");
    const char *source = dump("s", 0);
    ramet_append_out out;
    ok(ramet_edit(T.call, "f", "q1", &(ramet_entry_in){.id = "q1f", .text = "uno"}, NULL, &out));
    cr_assert_str_eq(ids("f"), "q1f");
    cr_assert_eq(out.head.length, 1);
    cr_assert_str_eq(dump("s", 0), source);
}

Test(edit, is_all_or_nothing)
{
    talk();
    char seen[65];
    memcpy(seen, get("s")->head.hash, 65);
    say("s", "more");
    const char *before = mark();
    ramet_append_out out;
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id",
            ramet_edit(T.call, "s", "none", &(ramet_entry_in){.text = "x"}, NULL, &out));
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_edit(T.call, "s", "q2", &(ramet_entry_in){.text = "x"}, seen, &out));
    cr_assert_eq(ramet_edit(T.call, "s", "q2", &(ramet_entry_in){.text = "\xff"}, NULL, &out),
                 RAMET_INVALID);
    refused(RAMET_HEAD_MOVED, "expected_head",
            ramet_regenerate(T.call, "s", "r2", NULL, 0, seen, &out));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(ids("s"), "q1 r1 q2 r2 more");
}

Test(edit, regenerate_takes_the_whole_new_answer)
{
    talk();
    ramet_entry_in in[] = {{.id = "t", .role = RAMET_ASSISTANT, .text = "thinking"},
                           {.id = "r2b", .role = RAMET_ASSISTANT, .text = "deux"}};
    ramet_append_out out;
    ok(ramet_regenerate(T.call, "s", "r2", in, 2, NULL, &out));
    cr_assert_eq(out.n, 2);
    cr_assert_str_eq(ids("s"), "q1 r1 q2 t r2b");
    cr_assert_eq(head_branch("s").type, RAMET_AUTO_REGENERATE);
    cr_assert_eq(last_move("s").kind, RAMET_MOVE_REGENERATE);
}

Test(edit, regenerate_may_leave_the_branch_to_be_appended_to)
{
    talk();
    ramet_append_out out;
    ok(ramet_regenerate(T.call, "s", "r2", NULL, 0, NULL, &out));
    cr_assert_eq(out.n, 0);
    cr_assert_eq(out.head.length, 3);
    cr_assert_str_eq(ids("s"), "q1 r1 q2");
    answer("s", "r2c", "due");
    cr_assert_str_eq(ids("s"), "q1 r1 q2 r2c");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "s", 0, "r2c", &v, &n));
    cr_assert_eq(n, 2);
    cr_assert_eq(v[1].type, RAMET_AUTO_REGENERATE);
}

Test(edit, an_id_of_the_kept_part_is_taken)
{
    talk();
    const char *before = mark();
    ramet_append_out out;
    ramet_entry_in in[] = {{.id = "fresh", .role = RAMET_ASSISTANT, .text = "x"},
                           {.id = "r1", .role = RAMET_ASSISTANT, .text = "eins"}};
    refused(RAMET_ENTRY_EXISTS, NULL, ramet_regenerate(T.call, "s", "r2", in, 2, NULL, &out));
    cr_assert_str_eq(mark(), before);
    in[1].id = "r2";
    ok(ramet_regenerate(T.call, "s", "r2", in, 2, NULL, &out));
    cr_assert_str_eq(ids("s"), "q1 r1 q2 fresh r2");
}
