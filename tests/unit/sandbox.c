/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox.c: sandboxes and what is in them; versions of all messages of a session at once.
 */
#include "help.h"
#include "ramet/agentpod.h"
#include "ramet/sandboxes.h"

#include <stdio.h>

TestSuite(sandbox, .init = scratch_open, .fini = scratch_close);

/* "f>s r": the sessions in order, each with its parent. */
static const char *sessions(ramet_call *c, const char *sandbox)
{
    static char text[1024];
    ramet_session *list;
    size_t n;
    text[0] = 0;
    ok_for(c, ramet_sandbox_sessions(c, sandbox, &list, &n));
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s%s%s", have ? " " : "", list[i].id,
                 list[i].is_fork ? ">" : "", list[i].parent_id ? list[i].parent_id : "");
    }
    return text;
}

static void make_in(ramet_call *c, const char *id, const char *sandbox)
{
    ramet_session *s;
    tick(SECOND);
    ok_for(c, ramet_session_create(c, &(ramet_session_in){.id = id, .sandbox = sandbox}, &s));
}

static void fork_as(ramet_call *c, const char *from, const char *id, ramet_visibility seen)
{
    ramet_session *s;
    tick(SECOND);
    ok_for(c, ramet_fork(c, from, &(ramet_fork_in){.id = id, .visibility = seen}, &s, NULL));
}

Test(sandbox, is_its_owners_alone)
{
    ramet_call *bob = as("bob");
    ramet_sandbox *b, *list;
    ramet_session *s;
    size_t n;
    ok(ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "box"}, &b));
    cr_assert_str_eq(b->id, "box");
    cr_assert_eq(ramet_sandbox_add(bob, &(ramet_sandbox_in){.id = "box"}, NULL),
                 RAMET_SANDBOX_EXISTS);
    cr_assert_eq(ramet_sandbox_add(bob, &(ramet_sandbox_in){.id = "default"}, NULL),
                 RAMET_SANDBOX_EXISTS);
    cr_assert_eq(ramet_sandbox_add(bob, &(ramet_sandbox_in){.id = "a\nb"}, NULL), RAMET_BAD_ID);
    ok(ramet_sandboxes(T.call, &list, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(list[0].id, "default");
    ok_for(bob, ramet_sandboxes(bob, &list, &n));
    cr_assert_eq(n, 1);
    ramet_session_in in = {.id = "x", .sandbox = "box"};
    cr_assert_eq(ramet_session_create(bob, &in, &s), RAMET_SANDBOX_NOT_FOUND);
    cr_assert_eq(ramet_session_get(bob, "x", &s), RAMET_SESSION_NOT_FOUND);
    cr_assert_eq(ramet_sandbox_remove(bob, "box", NULL), RAMET_SANDBOX_NOT_FOUND);
    cr_assert_eq(ramet_sandbox_sessions(bob, "box", &s, &n), RAMET_SANDBOX_NOT_FOUND);
    ramet_sandbox_counts counts;
    cr_assert_eq(ramet_sandbox_count(bob, "box", &counts), RAMET_SANDBOX_NOT_FOUND);
}

Test(sandbox, holds_trees)
{
    ok(ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "box"}, NULL));
    make_in(T.call, "r", "box");
    make_in(T.call, "other", NULL);
    fork_as(T.call, "r", "f", RAMET_TREE_VISIBLE);
    fork_as(T.call, "f", "g", RAMET_TREE_VISIBLE);
    cr_assert_str_eq(sessions(T.call, "box"), "g>f f>r r");
    cr_assert_str_eq(sessions(T.call, "default"), "other");
    ok(ramet_sandbox_check(T.call, "box", "g"));
    cr_assert_eq(ramet_sandbox_check(T.call, "default", "g"), RAMET_SESSION_NOT_FOUND);
    cr_assert_eq(ramet_sandbox_check(T.call, "box", "nowhere"), RAMET_SESSION_NOT_FOUND);
    const char *name;
    ok(ramet_sandbox_of(T.call, "g", &name));
    cr_assert_str_eq(name, "box");
    ramet_session_list list;
    ok(ramet_session_find(T.call, &(ramet_list_in){.sandbox = "box"}, &list));
    cr_assert_eq(list.n, 3);
    ramet_delete_out gone;
    ok(ramet_session_delete(T.call, "f", false, false, &gone));
    cr_assert_str_eq(sessions(T.call, "box"), "g>f r");
    int64_t trees;
    ok(ramet_sandbox_remove(T.call, "box", &trees));
    cr_assert_eq(trees, 1);
    cr_assert_str_eq(sessions(T.call, "default"), "g>f other r");
}

Test(sandbox, counts_what_the_caller_sees)
{
    ramet_call *ann = as("ann"), *bob = as("bob");
    make_in(ann, "r", NULL);
    ok_for(ann, ramet_member_set(ann, "r", "bob", RAMET_WRITER));
    fork_as(bob, "r", "private", RAMET_PRIVATE);
    fork_as(bob, "private", "below", RAMET_TREE_VISIBLE);
    const char *tags[] = {"b", "a"};
    ok_for(bob, ramet_tags_set(bob, "below", tags, 2, NULL));
    ok_for(bob, ramet_tags_set(bob, "private", tags, 1, NULL));
    cr_assert_str_eq(sessions(ann, "default"), "below> r");
    cr_assert_str_eq(sessions(bob, "default"), "below>private private>r r");
    ramet_sandbox_counts n;
    ok_for(ann, ramet_sandbox_count(ann, "default", &n));
    cr_assert_eq(n.sessions * 100 + n.roots * 10 + n.forks, 211);
    cr_assert_eq(n.n_tags, 2);
    cr_assert_str_eq(n.tags[0].tag, "a");
    ok_for(bob, ramet_sandbox_count(bob, "default", &n));
    cr_assert_eq(n.sessions * 100 + n.roots * 10 + n.forks, 312);
    cr_assert_eq(n.max_depth, 2);
    cr_assert_str_eq(n.tags[0].tag, "b");
    cr_assert_eq(n.tags[0].sessions, 2);
    /* Who is no member any more keeps his private one, and is not told where it came from. */
    ok_for(ann, ramet_member_remove(ann, "r", "bob"));
    cr_assert_str_eq(sessions(bob, "default"), "private>");
}

/* "m 1/2 a, m 2/2 b*": each version of each message, the current ones with a star. */
static const char *picks(const char *session)
{
    static char text[1024];
    ramet_pick *v;
    size_t n;
    int now;
    text[0] = 0;
    ok(ramet_picks(T.call, session, &v, &n, &now));
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s %d/%d %s%s%s", have ? ", " : "",
                 v[i].message_id, v[i].number, v[i].count, v[i].entry_id, v[i].current ? "*" : "",
                 (int)i == now ? "!" : "");
    }
    return text;
}

static void edit(const char *session, const char *old, const char *id)
{
    ramet_append_out out;
    tick(SECOND);
    ok(ramet_edit(T.call, session, old, &(ramet_entry_in){.id = id, .text = id}, NULL, &out));
}

Test(sandbox, picks_are_all_versions)
{
    make("s");
    say("s", "a b c");
    cr_assert_str_eq(picks("s"), "");
    edit("s", "b", "b2");
    say("s", "d");
    edit("s", "d", "d2");
    cr_assert_str_eq(picks("s"), "b 1/2 b, b 2/2 b2*, d 1/2 d, d 2/2 d2*!");
    ramet_pick *v;
    size_t n;
    int now;
    ok(ramet_picks(T.call, "s", &v, &n, &now));
    cr_assert_eq(v[0].within, -1);
    cr_assert_eq(v[2].within, 1);
    ramet_session *s;
    ok(ramet_switch(T.call, "s", v[0].branch, NULL, &s));
    cr_assert_str_eq(picks("s"), "b 1/2 b*!, b 2/2 b2, d 1/2 d, d 2/2 d2");
    /* A rewind alone makes no version. */
    rewind_to("s", "a");
    cr_assert_str_eq(picks("s"), "b 1/2 b, b 2/2 b2, d 1/2 d, d 2/2 d2");
    fork_at("s", "a", "f");
    cr_assert_str_eq(picks("f"), "");
    edit("f", "a", "a2");
    cr_assert_str_eq(picks("f"), "a 1/2 a, a 2/2 a2*!");
}

Test(sandbox, a_fork_by_role)
{
    ramet_session *s;
    ramet_cut cut;
    make("s");
    ask("s", "q", "a question");
    answer("s", "r", "an answer");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"q", RAMET_AFTER}, .by_role = true}, &s,
                  &cut));
    cr_assert_eq(cut.position, 0);
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"r", RAMET_BEFORE}, .by_role = true}, &s,
                  &cut));
    cr_assert_eq(cut.position, 2);
    ramet_fork_in gone = {.at = {.entry_id = "x"}, .by_role = true};
    cr_assert_eq(ramet_fork(T.call, "s", &gone, &s, &cut), RAMET_ENTRY_NOT_FOUND);
}

Test(sandbox, link)
{
    ramet_sandbox *list;
    size_t n;
    cr_assert_eq(
        ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "a", .opencode = "ftp://x"}, NULL),
        RAMET_INVALID);
    cr_assert_str_eq(ramet_call_error(T.call)->field, "opencode");
    cr_assert_eq(
        ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "a", .opencode = "http://u@x"}, NULL),
        RAMET_INVALID);
    cr_assert_eq(
        ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "a", .password_file = "/etc/x"}, NULL),
        RAMET_INVALID);
    cr_assert_str_eq(ramet_call_error(T.call)->field, "password_file");
    ok(ramet_sandbox_add(
        T.call,
        &(ramet_sandbox_in){.id = "a", .opencode = "http://127.0.0.1:1", .password_file = "/p"},
        NULL));
    ok(ramet_sandboxes(T.call, &list, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(list[1].opencode, "http://127.0.0.1:1");
    ramet_session *session;
    ok(ramet_session_create(T.call, &(ramet_session_in){.sandbox = "a"}, &session));
    cr_assert_str_eq(session->agent.name, RAMET_SANDBOX_AGENT "a");
    ok(ramet_sandbox_remove(T.call, "a", NULL));
    ok(ramet_sandbox_add(T.call, &(ramet_sandbox_in){.id = "a"}, NULL));
    ok(ramet_sandboxes(T.call, &list, &n));
    cr_assert_null(list[1].opencode, "a link goes with its sandbox");
}
