/* SPDX-License-Identifier: Apache-2.0
 *
 * member.c: every level against every call, and how levels are given and taken.
 */
#include "help.h"

#include <stdio.h>

TestSuite(member, .init = scratch_open, .fini = scratch_close);

/* ---- every level against every call */

static int64_t first_branch; /* of the session under test; it holds a b c, its head a */

static ramet_session *s_out;
static ramet_append_out a_out;
static const ramet_entry_in one = {.role = RAMET_USER, .text = "x"};

static ramet_status do_get(ramet_call *c, const char *s)
{
    return ramet_session_get(c, s, &s_out);
}
static ramet_status do_read(ramet_call *c, const char *s)
{
    ramet_page page;
    return ramet_read(c, s, &(ramet_read_in){0}, &page);
}
static ramet_status do_read_adk(ramet_call *c, const char *s)
{
    ramet_page page;
    return ramet_read(c, s, &(ramet_read_in){.log = RAMET_LOG_ADK}, &page);
}
static ramet_status do_record(ramet_call *c, const char *s)
{
    ramet_page page;
    int64_t total;
    return ramet_record(c, s, RAMET_LOG_MAIN, 0, 0, &page, &total);
}
static ramet_status do_record_adk(ramet_call *c, const char *s)
{
    ramet_page page;
    int64_t total;
    return ramet_record(c, s, RAMET_LOG_ADK, 0, 0, &page, &total);
}
static ramet_status do_entry(ramet_call *c, const char *s)
{
    ramet_entry *e;
    return ramet_entry_get(c, s, 0, "a", &e);
}
static ramet_status do_stream(ramet_call *c, const char *s)
{
    ramet_stream *st = NULL;
    ramet_status r = ramet_stream_open(c, s, &(ramet_read_in){0}, &st);
    ramet_stream_close(st);
    return r;
}
static ramet_status do_stream_adk(ramet_call *c, const char *s)
{
    ramet_stream *st = NULL;
    ramet_status r = ramet_stream_open(c, s, &(ramet_read_in){.log = RAMET_LOG_ADK}, &st);
    ramet_stream_close(st);
    return r;
}
static ramet_status do_versions(ramet_call *c, const char *s)
{
    ramet_version *v;
    size_t n;
    return ramet_versions(c, s, 0, "a", &v, &n);
}
static ramet_status do_branches(ramet_call *c, const char *s)
{
    ramet_branch *b;
    size_t n;
    return ramet_branches(c, s, &b, &n);
}
static ramet_status do_head_log(ramet_call *c, const char *s)
{
    ramet_move *m;
    size_t n;
    bool more;
    return ramet_head_log(c, s, 0, 0, &m, &n, &more);
}
static ramet_status do_ancestry(ramet_call *c, const char *s)
{
    size_t n;
    return ramet_ancestry(c, s, &s_out, &n);
}
static ramet_status do_children(ramet_call *c, const char *s)
{
    size_t n;
    return ramet_children(c, s, &s_out, &n);
}
static ramet_status do_tree(ramet_call *c, const char *s)
{
    size_t n;
    return ramet_tree(c, s, false, &s_out, &n);
}
static ramet_status do_tree_branches(ramet_call *c, const char *s)
{
    ramet_branch *b;
    size_t n;
    bool more;
    return ramet_tree_branches(c, s, 0, 0, &b, &n, &more);
}
static ramet_status do_fork_points(ramet_call *c, const char *s)
{
    ramet_fork_point *p;
    size_t n;
    return ramet_fork_points(c, s, &p, &n);
}
static ramet_status do_compare(ramet_call *c, const char *s)
{
    ramet_compare_out out;
    return ramet_compare(c, (ramet_side_in[]){{s, 0}, {s, first_branch}}, 2, 0, &out);
}
static ramet_status do_verdicts(ramet_call *c, const char *s)
{
    ramet_verdict *v;
    size_t n;
    bool more;
    return ramet_verdicts(c, s, 0, 0, &v, &n, &more);
}
static ramet_status do_verdict_add(ramet_call *c, const char *s)
{
    ramet_verdict *v;
    return ramet_verdict_add(c, (ramet_side_in[]){{s, 0}, {s, first_branch}}, 2, 0, "r", &v);
}
static ramet_status do_search(ramet_call *c, const char *s)
{
    ramet_hits hits;
    return ramet_search(c, &(ramet_search_in){.query = "text", .session = s}, &hits);
}
static ramet_status do_state(ramet_call *c, const char *s)
{
    const char *json;
    return ramet_state(c, s, NULL, &json);
}
static ramet_status do_usage(ramet_call *c, const char *s)
{
    ramet_usage_out u;
    return ramet_usage_get(c, s, &u);
}
static ramet_status do_members(ramet_call *c, const char *s)
{
    ramet_member *m;
    size_t n;
    return ramet_members(c, s, &m, &n);
}
static ramet_status do_append(ramet_call *c, const char *s)
{
    return ramet_append(c, s, &(ramet_append_in){.entries = &one, .n = 1}, &a_out);
}
static ramet_status do_append_adk(ramet_call *c, const char *s)
{
    return ramet_append(c, s, &(ramet_append_in){.entries = &one, .n = 1, .log = RAMET_LOG_ADK},
                        &a_out);
}
static ramet_status do_update(ramet_call *c, const char *s)
{
    return ramet_session_update(c, s, &(ramet_session_patch){.title = "t"}, &s_out);
}
static ramet_status do_promote(ramet_call *c, const char *s)
{
    return ramet_session_promote(c, s, &s_out);
}
static ramet_status do_tags_set(ramet_call *c, const char *s)
{
    ramet_tags out;
    return ramet_tags_set(c, s, (const char *[]){"x"}, 1, &out);
}
static ramet_status do_tags_add(ramet_call *c, const char *s)
{
    ramet_tags out;
    return ramet_tags_add(c, s, (const char *[]){"x"}, 1, &out);
}
static ramet_status do_tags_remove(ramet_call *c, const char *s)
{
    ramet_tags out;
    return ramet_tags_remove(c, s, (const char *[]){"x"}, 1, &out);
}
static ramet_status do_fork(ramet_call *c, const char *s)
{
    return ramet_fork(c, s, &(ramet_fork_in){0}, &s_out, NULL);
}
static ramet_status do_fork_private(ramet_call *c, const char *s)
{
    return ramet_fork(c, s, &(ramet_fork_in){.visibility = RAMET_PRIVATE}, &s_out, NULL);
}
static ramet_status do_rewind(ramet_call *c, const char *s)
{
    return ramet_rewind(c, s, &(ramet_move_in){.at = {"a", RAMET_BEFORE}}, &s_out, NULL);
}
static ramet_status do_undo(ramet_call *c, const char *s)
{
    return ramet_undo(c, s, NULL, &s_out);
}
static ramet_status do_redo(ramet_call *c, const char *s)
{
    ramet_session *x;
    ok(ramet_undo(T.call, s, NULL, &x));
    return ramet_redo(c, s, NULL, &s_out);
}
static ramet_status do_switch(ramet_call *c, const char *s)
{
    return ramet_switch(c, s, first_branch, NULL, &s_out);
}
static ramet_status do_edit(ramet_call *c, const char *s)
{
    return ramet_edit(c, s, "a", &one, NULL, &a_out);
}
static ramet_status do_regenerate(ramet_call *c, const char *s)
{
    return ramet_regenerate(c, s, "a", NULL, 0, NULL, &a_out);
}
static ramet_status do_sync(ramet_call *c, const char *s)
{
    ramet_sync_out out;
    return ramet_sync(c, s, &one, 1, NULL, &out);
}
static ramet_status do_delete_dry(ramet_call *c, const char *s)
{
    ramet_delete_out out;
    return ramet_session_delete(c, s, true, true, &out);
}
static ramet_status do_delete(ramet_call *c, const char *s)
{
    ramet_delete_out out;
    return ramet_session_delete(c, s, false, false, &out);
}
static ramet_status do_restore(ramet_call *c, const char *s)
{
    drop(s);
    return ramet_session_restore(c, s, false, &s_out);
}
static ramet_status do_member_set(ramet_call *c, const char *s)
{
    return ramet_member_set(c, s, "guest", RAMET_READER);
}
static ramet_status do_member_remove(ramet_call *c, const char *s)
{
    return ramet_member_remove(c, s, "rest");
}
static ramet_status do_hand_over(ramet_call *c, const char *s)
{
    return ramet_member_set(c, s, "rest", RAMET_OWNER);
}

static const struct {
    const char *name;
    ramet_level need;
    ramet_status (*run)(ramet_call *c, const char *session);
} matrix[] = {
    {"get", RAMET_READER, do_get},
    {"read", RAMET_READER, do_read},
    {"read adk", RAMET_WRITER, do_read_adk},
    {"record", RAMET_READER, do_record},
    {"record adk", RAMET_WRITER, do_record_adk},
    {"entry", RAMET_READER, do_entry},
    {"stream", RAMET_READER, do_stream},
    {"stream adk", RAMET_WRITER, do_stream_adk},
    {"versions", RAMET_READER, do_versions},
    {"branches", RAMET_READER, do_branches},
    {"head log", RAMET_READER, do_head_log},
    {"ancestry", RAMET_READER, do_ancestry},
    {"children", RAMET_READER, do_children},
    {"tree", RAMET_READER, do_tree},
    {"branches of the tree", RAMET_READER, do_tree_branches},
    {"fork points", RAMET_READER, do_fork_points},
    {"compare", RAMET_READER, do_compare},
    {"verdicts", RAMET_READER, do_verdicts},
    {"verdict add", RAMET_WRITER, do_verdict_add},
    {"search", RAMET_READER, do_search},
    {"state", RAMET_READER, do_state},
    {"usage", RAMET_READER, do_usage},
    {"members", RAMET_READER, do_members},
    {"append", RAMET_WRITER, do_append},
    {"append adk", RAMET_WRITER, do_append_adk},
    {"update", RAMET_WRITER, do_update},
    {"promote", RAMET_WRITER, do_promote},
    {"tags set", RAMET_WRITER, do_tags_set},
    {"tags add", RAMET_WRITER, do_tags_add},
    {"tags remove", RAMET_WRITER, do_tags_remove},
    {"fork", RAMET_WRITER, do_fork},
    {"fork private", RAMET_READER, do_fork_private},
    {"rewind", RAMET_WRITER, do_rewind},
    {"undo", RAMET_WRITER, do_undo},
    {"redo", RAMET_WRITER, do_redo},
    {"switch", RAMET_WRITER, do_switch},
    {"edit", RAMET_WRITER, do_edit},
    {"regenerate", RAMET_WRITER, do_regenerate},
    {"sync", RAMET_WRITER, do_sync},
    {"delete, dry", RAMET_MANAGER, do_delete_dry},
    {"delete", RAMET_MANAGER, do_delete},
    {"restore", RAMET_MANAGER, do_restore},
    {"member set", RAMET_MANAGER, do_member_set},
    {"member remove", RAMET_MANAGER, do_member_remove},
    {"hand over", RAMET_OWNER, do_hand_over},
};

static void stage(const char *id)
{
    make(id);
    say(id, "a b c");
    ok(ramet_append(T.call, id, &(ramet_append_in){.entries = &one, .n = 1, .log = RAMET_LOG_ADK},
                    &a_out));
    first_branch = get(id)->head.branch;
    rewind_to(id, "a");
    join(id, "rita", RAMET_READER);
    join(id, "will", RAMET_WRITER);
    join(id, "mona", RAMET_MANAGER);
    join(id, "rest", RAMET_READER);
}

Test(member, every_level_against_every_call, .timeout = 120)
{
    static const char *const users[] = {"eve", "rita", "will", "mona", "ann"};
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        for (int level = RAMET_NO_LEVEL; level <= RAMET_OWNER; level++) {
            char id[64];
            snprintf(id, sizeof id, "%s %d", matrix[i].name, level);
            stage(id);
            ramet_call *c = ramet_call_new(T.store, users[level], NULL);
            ramet_status want = level == RAMET_NO_LEVEL       ? RAMET_HIDDEN
                                : level < (int)matrix[i].need ? RAMET_FORBIDDEN
                                                              : RAMET_OK;
            ramet_status got = matrix[i].run(c, id);
            cr_expect_eq(got, want, "%s as %s: %s, not %s (%s)", matrix[i].name,
                         level ? ramet_level_name((ramet_level)level) : "nobody",
                         ramet_status_code(got), ramet_status_code(want),
                         ramet_call_error(c)->message);
            ramet_call_free(c);
        }
}

Test(member, a_refused_call_writes_nothing)
{
    stage("s");
    ramet_call *eve = as("eve"), *rita = as("rita");
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        if (matrix[i].run == do_redo || matrix[i].run == do_restore)
            continue;
        const char *before = mark(), *path = dump("s", 0);
        cr_assert_neq(matrix[i].run(eve, "s"), RAMET_OK);
        if (matrix[i].need > RAMET_READER)
            cr_assert_neq(matrix[i].run(rita, "s"), RAMET_OK);
        cr_assert_str_eq(mark(), before, "%s", matrix[i].name);
        cr_assert_str_eq(dump("s", 0), path);
    }
}

/* ---- giving and taking */

static const char *members(const char *session)
{
    static char text[512];
    ramet_member *m;
    size_t n;
    ok(ramet_members(T.call, session, &m, &n));
    text[0] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s:%s", have ? " " : "", m[i].user,
                 ramet_level_name(m[i].level));
    }
    return text;
}

static bool has(const char *session, const char *member)
{
    char list[600], want[64];
    snprintf(list, sizeof list, " %s ", members(session));
    snprintf(want, sizeof want, " %s ", member);
    return strstr(list, want) != NULL;
}

Test(member, levels_are_set_changed_and_removed)
{
    make("s");
    fork_at("s", NULL, "f");
    ramet_call *ann = as("ann");
    ok_for(ann, ramet_member_set(ann, "s", "bob", RAMET_READER));
    cr_assert(has("s", "bob:reader"));
    cr_assert(has("s", "ann:owner"));
    cr_assert(has("f", "bob:reader"), "members belong to the tree");
    ok_for(ann, ramet_member_set(ann, "f", "bob", RAMET_WRITER));
    cr_assert(has("s", "bob:writer"));
    ok_for(ann, ramet_member_remove(ann, "s", "bob"));
    cr_assert_str_eq(members("s"), "ann:owner");
    refused_for(ann, RAMET_MEMBER_NOT_FOUND, "user", ramet_member_remove(ann, "s", "bob"));
    refused_for(ann, RAMET_INVALID, "level", ramet_member_set(ann, "s", "bob", RAMET_NO_LEVEL));
    refused_for(ann, RAMET_INVALID, "level", ramet_member_set(ann, "s", "bob", (ramet_level)9));
    refused_for(ann, RAMET_BAD_ID, "user", ramet_member_set(ann, "s", "", RAMET_READER));
    refused_for(ann, RAMET_SESSION_NOT_FOUND, NULL,
                ramet_member_set(ann, "none", "bob", RAMET_READER));
}

Test(member, the_owner_stays_unless_he_hands_over)
{
    make("s");
    join("s", "mona", RAMET_MANAGER);
    join("s", "bob", RAMET_READER);
    ramet_call *ann = as("ann"), *mona = as("mona");
    cr_assert_neq(ramet_member_set(mona, "s", "ann", RAMET_READER), RAMET_OK);
    cr_assert_neq(ramet_member_remove(mona, "s", "ann"), RAMET_OK);
    cr_assert_neq(ramet_member_set(mona, "s", "mona", RAMET_OWNER), RAMET_OK);
    cr_assert_neq(ramet_member_set(ann, "s", "ann", RAMET_READER), RAMET_OK);
    cr_assert_neq(ramet_member_remove(ann, "s", "ann"), RAMET_OK, "a tree has an owner");
    cr_assert(has("s", "ann:owner"));
    cr_assert(has("s", "mona:manager"));
    ok_for(ann, ramet_member_set(ann, "s", "bob", RAMET_OWNER));
    cr_assert(has("s", "bob:owner"));
    cr_assert(has("s", "ann:manager"));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_member_set(ann, "s", "ann", RAMET_OWNER));
}

Test(member, a_member_may_leave)
{
    make("s");
    join("s", "bob", RAMET_READER);
    join("s", "cat", RAMET_READER);
    ramet_call *bob = as("bob");
    refused_for(bob, RAMET_FORBIDDEN, NULL, ramet_member_remove(bob, "s", "cat"));
    ok_for(bob, ramet_member_remove(bob, "s", "bob"));
    ramet_session *s;
    refused_for(bob, RAMET_HIDDEN, NULL, ramet_session_get(bob, "s", &s));
}

Test(member, a_private_session_is_its_owners)
{
    make("s");
    say("s", "a");
    join("s", "rita", RAMET_READER);
    join("s", "mona", RAMET_MANAGER);
    ramet_call *rita = as("rita"), *mona = as("mona"), *ann = as("ann");
    ramet_session *s = NULL;
    ok_for(rita, ramet_fork(rita, "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &s,
                            NULL));
    ramet_append_out out;
    ramet_append_in in = {.entries = &one, .n = 1};
    ok_for(rita, ramet_append(rita, "p", &in, &out));
    refused_for(rita, RAMET_FORBIDDEN, NULL, ramet_append(rita, "s", &in, &out));
    refused_for(mona, RAMET_HIDDEN, NULL, ramet_append(mona, "p", &in, &out));
    refused_for(ann, RAMET_HIDDEN, NULL, ramet_session_get(ann, "p", &s));
    ramet_visibility tree = RAMET_TREE_VISIBLE, hidden = RAMET_PRIVATE;
    refused_for(mona, RAMET_FORBIDDEN, NULL,
                ramet_session_update(mona, "s", &(ramet_session_patch){.visibility = &hidden}, &s));
    ok_for(ann, ramet_session_update(ann, "s", &(ramet_session_patch){.visibility = &hidden}, &s));
    cr_assert_eq(s->visibility, RAMET_PRIVATE);
    refused_for(mona, RAMET_HIDDEN, NULL, ramet_session_get(mona, "s", &s));
    ok_for(ann, ramet_session_update(ann, "s", &(ramet_session_patch){.visibility = &tree}, &s));
    ok_for(mona, ramet_session_get(mona, "s", &s));
    ok_for(rita, ramet_member_remove(rita, "s", "rita"));
    refused_for(rita, RAMET_HIDDEN, NULL, ramet_session_get(rita, "s", &s));
    ok_for(rita, ramet_session_get(rita, "p", &s));
    cr_assert_null(s->parent_id, "her own is left to her, and nothing else of the tree");
}

Test(member, the_owner_of_a_fork_may_delete_it)
{
    make("s");
    join("s", "will", RAMET_WRITER);
    join("s", "bob", RAMET_WRITER);
    ramet_call *will = as("will"), *bob = as("bob");
    ramet_session *s;
    ok_for(will, ramet_fork(will, "s", &(ramet_fork_in){.id = "f"}, &s, NULL));
    ramet_delete_out out;
    refused_for(bob, RAMET_FORBIDDEN, NULL, ramet_session_delete(bob, "f", false, false, &out));
    refused_for(will, RAMET_FORBIDDEN, NULL, ramet_session_delete(will, "s", false, false, &out));
    ok_for(will, ramet_session_delete(will, "f", false, false, &out));
    ok_for(will, ramet_session_restore(will, "f", false, &s));
}

Test(member, upkeep_is_for_the_embedding_program)
{
    make("s");
    ramet_call *ann = as("ann");
    ramet_fsck_out fsck;
    ramet_gc_out gc;
    ramet_stats st;
    char path[200];
    snprintf(path, sizeof path, "%s/copy.db", T.dir);
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_fsck(ann, NULL, NULL, &fsck));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_gc(ann, true, NULL, NULL, &gc));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_backup(ann, path, NULL, NULL));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_stat(ann, &st));
}
