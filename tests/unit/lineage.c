/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage.c: ancestry, children, the whole tree, and where forks leave a history.
 */
#include "help.h"

#include <stdio.h>

TestSuite(lineage, .init = scratch_open, .fini = scratch_close);

static const char *names(const ramet_session *s, size_t n)
{
    static char text[1024];
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s%s", have ? " " : "",
                 s[i].deleted ? "!" : "", s[i].id ? s[i].id : "?");
    }
    return text;
}

static const char *ancestry(ramet_call *c, const char *session)
{
    ramet_session *s;
    size_t n;
    ok_for(c, ramet_ancestry(c, session, &s, &n));
    return names(s, n);
}

static const char *children(ramet_call *c, const char *session)
{
    ramet_session *s;
    size_t n;
    ok_for(c, ramet_children(c, session, &s, &n));
    return names(s, n);
}

static const char *tree(ramet_call *c, const char *session, bool light)
{
    ramet_session *s;
    size_t n;
    ok_for(c, ramet_tree(c, session, light, &s, &n));
    return names(s, n);
}

/* root -> f1 -> g1, g2; root -> f2 */
static void family(void)
{
    make("root");
    say("root", "a b c d");
    fork_at("root", "b", "f1");
    fork_at("root", "d", "f2");
    say("f1", "x");
    fork_at("f1", "x", "g1");
    fork_at("f1", "a", "g2");
}

Test(lineage, from_the_root_down)
{
    family();
    cr_assert_str_eq(ancestry(T.call, "root"), "root");
    cr_assert_str_eq(ancestry(T.call, "f2"), "root f2");
    cr_assert_str_eq(ancestry(T.call, "g2"), "root f1 g2");
    cr_assert_str_eq(children(T.call, "root"), "f1 f2");
    cr_assert_str_eq(children(T.call, "f1"), "g1 g2");
    cr_assert_str_eq(children(T.call, "g1"), "");
    ramet_session *s;
    size_t n;
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_ancestry(T.call, "none", &s, &n));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_children(T.call, "none", &s, &n));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_tree(T.call, "none", false, &s, &n));
}

Test(lineage, the_whole_tree_from_any_of_its_sessions)
{
    family();
    make("other");
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "g2", (const char *[]){"y", "x"}, 2, &tags));
    ramet_append_out adk;
    ramet_entry_in raw = {.id = "k", .role = RAMET_USER};
    ok(ramet_append(T.call, "g2", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &adk));
    for (int light = 0; light < 2; light++) {
        static const char *const asked[] = {"root", "f1", "g2"};
        for (int i = 0; i < 3; i++) {
            ramet_session *s;
            size_t n;
            ok(ramet_tree(T.call, asked[i], light, &s, &n));
            cr_assert_eq(n, 5);
            int at[5] = {-1, -1, -1, -1, -1};
            static const char *const all[] = {"root", "f1", "f2", "g1", "g2"};
            static const int64_t depth[] = {0, 1, 1, 2, 2};
            for (int k = 0; k < 5; k++) {
                for (size_t j = 0; j < n; j++)
                    if (strcmp(s[j].id, all[k]) == 0)
                        at[k] = (int)j;
                cr_assert_geq(at[k], 0, "%s is there", all[k]);
                cr_assert_eq(s[at[k]].depth, depth[k]);
            }
            cr_assert_eq(at[0], 0);
            cr_assert_lt(at[1], at[2], "forks of one parent oldest first");
            cr_assert_lt(at[1], at[3], "parents before their forks");
            cr_assert_lt(at[3], at[4]);
            const ramet_session *g2 = &s[at[4]];
            cr_assert_eq(g2->n_path, 3);
            cr_assert_str_eq(g2->path[0], "root");
            cr_assert_str_eq(g2->path[1], "f1");
            cr_assert_str_eq(g2->path[2], "g2");
            cr_assert_str_eq(g2->parent_id, "f1");
            cr_assert_eq(g2->head.length, 1);
            cr_assert_eq(g2->n_tags, 2);
            cr_assert_str_eq(g2->tags[0], "x");
            cr_assert_eq(g2->adk.length, 1);
            cr_assert_eq(s[0].n_tags, 0);
            cr_assert_eq(s[0].n_path, 1);
            if (!light)
                cr_assert_str_eq(g2->head.entry_id, "a");
        }
    }
}

Test(lineage, private_sessions_of_others_are_left_out)
{
    family();
    join("root", "bob", RAMET_WRITER);
    ramet_call *bob = as("bob"), *ann = as("ann");
    ramet_session *s = NULL;
    ok_for(bob, ramet_fork(bob, "f1", &(ramet_fork_in){.id = "secret", .visibility = RAMET_PRIVATE},
                           &s, NULL));
    tick(SECOND);
    ok_for(bob, ramet_fork(bob, "secret", &(ramet_fork_in){.id = "open"}, &s, NULL));
    cr_assert_str_eq(s->parent_id, "secret");
    cr_assert_str_eq(ancestry(bob, "open"), "root f1 secret open");
    cr_assert_str_eq(ancestry(ann, "open"), "root f1 open");
    cr_assert_str_eq(children(bob, "f1"), "g1 g2 secret");
    cr_assert_str_eq(children(ann, "f1"), "g1 g2");
    cr_assert_null(strstr(tree(ann, "root", false), "secret"));
    cr_assert_null(strstr(tree(ann, "root", true), "secret"));
    cr_assert_not_null(strstr(tree(ann, "root", true), "open"));
    cr_assert_not_null(strstr(tree(bob, "root", false), "secret"));
    ok_for(ann, ramet_session_get(ann, "open", &s));
    cr_assert(s->is_fork);
    cr_assert_null(s->parent_id, "the caller may not see it");
    ramet_session *all;
    size_t n;
    ok_for(ann, ramet_tree(ann, "root", false, &all, &n));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all[i].n_path; j++)
            cr_assert_str_neq(all[i].path[j], "secret");
}

Test(lineage, a_deleted_session_keeps_its_place)
{
    family();
    drop("f1");
    cr_assert_str_eq(ancestry(T.call, "g1"), "root !f1 g1");
    cr_assert_str_eq(children(T.call, "root"), "f2");
    cr_assert_not_null(strstr(tree(T.call, "root", false), "!f1"));
    ramet_session *s;
    size_t n;
    ok(ramet_tree(T.call, "g1", false, &s, &n));
    cr_assert_eq(n, 5);
    for (size_t i = 0; i < n; i++)
        if (s[i].deleted) {
            cr_assert_eq(s[i].depth, 1);
            cr_assert_str_eq(s[i].title, "", "all else is empty");
        }
    cr_assert_str_eq(ids("g1"), "a b x", "and its forks their history");
    cr_assert_eq(get("g1")->depth, 2);
}

Test(lineage, a_deep_tree_tells_the_last_64_of_a_path)
{
    make("s0");
    char last[8] = "s0", id[8];
    for (int i = 1; i <= 80; i++) {
        snprintf(id, sizeof id, "s%d", i);
        fork_at(last, NULL, id);
        memcpy(last, id, sizeof last);
    }
    ramet_session *s;
    size_t n;
    ok(ramet_tree(T.call, "s0", true, &s, &n));
    cr_assert_eq(n, 81);
    cr_assert_eq(s[80].depth, 80);
    cr_assert_eq(s[80].n_path, 64);
    cr_assert_str_eq(s[80].path[63], "s80");
    cr_assert_str_eq(s[80].path[0], "s17");
    ok(ramet_ancestry(T.call, "s80", &s, &n));
    cr_assert_eq(n, 81);
    cr_assert_str_eq(s[0].id, "s0");
    cr_assert_str_eq(s[80].id, "s80");
}

Test(lineage, fork_points_of_the_present_path)
{
    make("s");
    say("s", "a b c d");
    fork_at("s", "c", "f3");
    fork_at("s", "a", "f1");
    ramet_session *s = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"a", RAMET_BEFORE}, .id = "f0"}, &s, NULL));
    int64_t old = get("s")->head.branch;
    rewind_to("s", "b");
    say("s", "x");
    fork_at("s", "x", "fx");
    ramet_fork_point *p;
    size_t n;
    ok(ramet_fork_points(T.call, "s", &p, &n));
    char text[512] = "";
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%d:%s:%s", have ? " " : "", (int)p[i].position,
                 p[i].entry_id ? p[i].entry_id : "-", p[i].session ? p[i].session : "branch");
        if (!p[i].session)
            cr_assert_eq(p[i].branch, old);
    }
    cr_assert_str_eq(text, "0:-:f0 1:a:f1 2:b:branch 3:x:fx");
}

Test(lineage, fork_points_that_the_caller_may_see)
{
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_READER);
    ramet_call *bob = as("bob"), *ann = as("ann");
    ramet_session *s;
    ok_for(bob, ramet_fork(bob, "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &s,
                           NULL));
    ramet_fork_point *p;
    size_t n;
    ok_for(ann, ramet_fork_points(ann, "s", &p, &n));
    cr_assert_eq(n, 0);
    ok_for(bob, ramet_fork_points(bob, "s", &p, &n));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(p[0].session, "p");
    cr_assert_eq(p[0].position, 2);
}

/* "SESSION:base-length …", with a star where a head is. */
static const char *tree_branches(ramet_call *c, const char *session, int64_t after, int limit,
                                 int64_t *last)
{
    static char text[512];
    ramet_branch *b;
    size_t n, have = 0;
    bool more;
    ok_for(c, ramet_tree_branches(c, session, after, limit, &b, &n, &more));
    text[0] = '\0';
    for (size_t i = 0; i < n; i++, have = strlen(text))
        snprintf(text + have, sizeof text - have, "%s%s:%d-%d%s", have ? " " : "", b[i].session,
                 (int)b[i].base, (int)b[i].length, b[i].current ? "*" : "");
    *last = more ? b[n - 1].id : 0;
    return text;
}

Test(lineage, branches_of_a_tree_that_the_caller_may_see)
{
    make("s");
    say("s", "a b c d");
    fork_at("s", "c", "f");
    say("f", "x");
    rewind_to("s", "b");
    say("s", "y");
    join("s", "bob", RAMET_READER);
    ramet_call *bob = as("bob"), *ann = as("ann");
    ramet_session *s;
    ok_for(bob, ramet_fork(bob, "f", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &s,
                           NULL));
    int64_t last;
    cr_assert_str_eq(tree_branches(ann, "f", 0, 0, &last), "s:0-4 f:3-4* s:2-3*");
    cr_assert_eq(last, 0);
    cr_assert_str_eq(tree_branches(bob, "s", 0, 0, &last), "s:0-4 f:3-4* s:2-3* p:4-4*");
    cr_assert_str_eq(tree_branches(bob, "s", 0, 2, &last), "s:0-4 f:3-4*");
    cr_assert_str_eq(tree_branches(bob, "s", last, 2, &last), "s:2-3* p:4-4*");
    cr_assert_eq(last, 0);
    drop("f");
    cr_assert_str_eq(tree_branches(ann, "s", 0, 0, &last), "s:0-4 s:2-3*");
}
