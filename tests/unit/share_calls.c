/* SPDX-License-Identifier: Apache-2.0
 *
 * share_calls.c: every call against every kind of share link: what it gives, and that it gives
 * nothing else (I10).
 */
#include "link.h"
#include "ramet/branches.h"
#include "ramet/erase.h"
#include "ramet/suggest.h"

TestSuite(share_calls, .init = scratch_open, .fini = scratch_close);

/* ---- the stage */

int64_t link_branch;

void link_stage(void)
{
    ramet_session *s_out;
    ramet_append_out a_out;
    make("p");
    ok(ramet_session_update(T.call, "p", &(ramet_session_patch){.title = "Parent's title"},
                            &s_out));
    say("p", "a b");
    fork_at("p", "b", "s");
    fork_at("p", "b", "q");
    ramet_fork_in hidden = {.id = "h", .visibility = RAMET_PRIVATE};
    ramet_call *ann = as("ann");
    ok_for(ann, ramet_fork(ann, "p", &hidden, &s_out, NULL));
    ramet_usage usage = {.input = 7};
    put("p", &(ramet_entry_in){.id = "p3", .role = RAMET_ASSISTANT, .usage = &usage});
    put("s", &(ramet_entry_in){.id = "c", .role = RAMET_ASSISTANT, .text = "c", .usage = &usage});
    say("s", "d");
    ramet_agent agent = {"bot", "prov", "big", "/secret/folder", "{\"key\":\"credential\"}"};
    ramet_session_patch facts = {.agent = &agent, .metadata = "{\"private\":1}"};
    ok(ramet_session_update(T.call, "s", &facts, &s_out));
    ok(ramet_tags_set(T.call, "s", (const char *[]){"x"}, 1, &(ramet_tags){0}));
    ramet_entry_in raw = {.id = "raw", .role = RAMET_TOOL, .text = "cookie", .usage = &usage};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &a_out));
    fork_at("s", NULL, "k");
    link_branch = get("s")->head.branch;
    ok_for(ann,
           ramet_rewind(ann, "s", &(ramet_move_in){.at = {"b", RAMET_AFTER}, .reason = "my reason"},
                        &s_out, NULL));
}

ramet_share *link_make(const char *session, bool write, int64_t life)
{
    ramet_share *out = NULL;
    ramet_call *ann = as("ann");
    tick(SECOND);
    ok_for(ann, ramet_share_add(ann, session, write, life, &out));
    return out;
}

ramet_call *link_hold(const char *user, const ramet_share *link)
{
    ramet_call *c = as(user);
    ok_for(c, ramet_call_share(c, link->token, NULL));
    return c;
}

/* ---- the calls, on s */

static ramet_session *s_out;
static ramet_append_out a_out;
static const ramet_entry_in one = {.role = RAMET_USER, .text = "x"};

static ramet_status do_get(ramet_call *c)
{
    return ramet_session_get(c, "s", &s_out);
}
static ramet_status do_read(ramet_call *c)
{
    ramet_page page;
    return ramet_read(c, "s", &(ramet_read_in){.versions = true}, &page);
}
static ramet_status do_read_branch(ramet_call *c)
{
    ramet_page page;
    return ramet_read(c, "s", &(ramet_read_in){.branch = link_branch}, &page);
}
static ramet_status do_read_adk(ramet_call *c)
{
    ramet_page page;
    return ramet_read(c, "s", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page);
}
static ramet_status do_record(ramet_call *c)
{
    ramet_page page;
    int64_t total;
    return ramet_record(c, "s", RAMET_LOG_MAIN, 0, 0, &page, &total);
}
static ramet_status do_record_adk(ramet_call *c)
{
    ramet_page page;
    int64_t total;
    return ramet_record(c, "s", RAMET_LOG_ADK, 0, 0, &page, &total);
}
static ramet_status do_entry(ramet_call *c)
{
    ramet_entry *e;
    return ramet_entry_get(c, "s", 0, "a", &e);
}
static ramet_status do_stream(ramet_call *c)
{
    ramet_stream *st = NULL;
    const ramet_entry *e;
    ramet_status r = ramet_stream_open(c, "s", NULL, &st);
    if (r == RAMET_OK)
        r = ramet_stream_next(st, &e);
    ramet_stream_close(st);
    return r;
}
static ramet_status do_stream_adk(ramet_call *c)
{
    ramet_stream *st = NULL;
    ramet_status r = ramet_stream_open(c, "s", &(ramet_read_in){.log = RAMET_LOG_ADK}, &st);
    ramet_stream_close(st);
    return r;
}
static ramet_status do_versions(ramet_call *c)
{
    ramet_version *v;
    size_t n;
    return ramet_versions(c, "s", 0, "a", &v, &n);
}
static ramet_status do_branches(ramet_call *c)
{
    ramet_branch *b;
    size_t n;
    return ramet_branches(c, "s", &b, &n);
}
static ramet_status do_head_log(ramet_call *c)
{
    ramet_move *m;
    size_t n;
    bool more;
    return ramet_head_log(c, "s", 0, 0, &m, &n, &more);
}
static ramet_status do_fork_points(ramet_call *c)
{
    ramet_fork_point *p;
    size_t n;
    return ramet_fork_points(c, "s", &p, &n);
}
static ramet_status do_compare(ramet_call *c)
{
    ramet_compare_out out;
    return ramet_compare(c, (ramet_side_in[]){{"s", 0}, {"s", link_branch}}, 2, 0, &out);
}
static ramet_status do_search(ramet_call *c)
{
    ramet_hits hits;
    return ramet_search(c, &(ramet_search_in){.query = "text", .session = "s"}, &hits);
}
static ramet_status do_state(ramet_call *c)
{
    const char *json;
    return ramet_state(c, "s", NULL, &json);
}
static ramet_status do_usage(ramet_call *c)
{
    ramet_usage_out u;
    return ramet_usage_get(c, "s", &u);
}
static ramet_status do_events(ramet_call *c)
{
    ramet_events_out out;
    ramet_status st = ramet_events(c, &(ramet_events_in){.session = "s"}, &out);
    return st == RAMET_OK && !out.n ? RAMET_HIDDEN : st; /* a list is empty, not refused */
}
static ramet_status do_ancestry(ramet_call *c)
{
    size_t n;
    return ramet_ancestry(c, "s", &s_out, &n);
}
static ramet_status do_children(ramet_call *c)
{
    size_t n;
    return ramet_children(c, "s", &s_out, &n);
}
static ramet_status do_tree(ramet_call *c)
{
    size_t n;
    return ramet_tree(c, "s", false, &s_out, &n);
}
static ramet_status do_tree_light(ramet_call *c)
{
    size_t n;
    return ramet_tree(c, "s", true, &s_out, &n);
}
static ramet_status do_tree_branches(ramet_call *c)
{
    ramet_branch *b;
    size_t n;
    bool more;
    return ramet_tree_branches(c, "s", 0, 0, &b, &n, &more);
}
static ramet_status do_members(ramet_call *c)
{
    ramet_member *m;
    size_t n;
    return ramet_members(c, "s", &m, &n);
}
static ramet_status do_verdicts(ramet_call *c)
{
    ramet_verdict *v;
    size_t n;
    bool more;
    return ramet_verdicts(c, "s", 0, 0, &v, &n, &more);
}
static ramet_status do_feedback_get(ramet_call *c)
{
    ramet_feedback *f;
    size_t n;
    return ramet_feedback_get(c, "s", "a", &f, &n);
}
static ramet_status do_feedback_set(ramet_call *c)
{
    return ramet_feedback_set(c, "s", "a", 1, NULL);
}
static ramet_status do_append(ramet_call *c)
{
    return ramet_append(c, "s", &(ramet_append_in){.entries = &one, .n = 1}, &a_out);
}
static ramet_status do_append_branch(ramet_call *c)
{
    ramet_append_in in = {.entries = &one, .n = 1, .branch = link_branch};
    return ramet_append(c, "s", &in, &a_out);
}
static ramet_status do_append_adk(ramet_call *c)
{
    ramet_append_in in = {.entries = &one, .n = 1, .log = RAMET_LOG_ADK};
    return ramet_append(c, "s", &in, &a_out);
}
static ramet_status do_rewind(ramet_call *c)
{
    return ramet_rewind(c, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}}, &s_out, NULL);
}
static ramet_status do_undo(ramet_call *c)
{
    return ramet_undo(c, "s", NULL, &s_out);
}
static ramet_status do_redo(ramet_call *c)
{
    ramet_session *x;
    ok(ramet_undo(T.call, "s", NULL, &x));
    return ramet_redo(c, "s", NULL, &s_out);
}
static ramet_status do_switch(ramet_call *c)
{
    return ramet_switch(c, "s", link_branch, NULL, &s_out);
}
static ramet_status do_edit(ramet_call *c)
{
    return ramet_edit(c, "s", "a", &(ramet_entry_in){.text = "x"}, NULL, &a_out);
}
static ramet_status do_regenerate(ramet_call *c)
{
    return ramet_regenerate(c, "s", "b", NULL, 0, NULL, &a_out);
}
static ramet_status do_sync(ramet_call *c)
{
    ramet_sync_out out;
    return ramet_sync(c, "s", &one, 1, NULL, &out);
}
static ramet_status do_turns(ramet_call *c)
{
    ramet_turn *t;
    size_t n;
    ramet_status st = ramet_turns(c, "s", 0, &t, &n);
    return st == RAMET_OK ? ramet_turn_running(c, "s", &t) : st;
}
static ramet_status do_turn(ramet_call *c)
{
    ramet_turn *t;
    ramet_status st =
        ramet_turn_begin(c, "s", &(ramet_turn_in){.entries = &one, .n = 1}, &t, &a_out);
    return st == RAMET_OK ? ramet_turn_end(c, t->id, RAMET_TURN_DONE, NULL, &one, 1, &a_out) : st;
}
static ramet_status do_turn_regenerate(ramet_call *c)
{
    ramet_turn *t;
    return ramet_turn_begin(c, "s", &(ramet_turn_in){.regenerate = ""}, &t, &a_out);
}
static ramet_status do_fork_private(ramet_call *c)
{
    return ramet_fork(c, "s", &(ramet_fork_in){.visibility = RAMET_PRIVATE}, &s_out, NULL);
}
static ramet_status do_fork(ramet_call *c)
{
    return ramet_fork(c, "s", &(ramet_fork_in){0}, &s_out, NULL);
}
static ramet_status do_update(ramet_call *c)
{
    return ramet_session_update(c, "s", &(ramet_session_patch){.title = "t"}, &s_out);
}
static ramet_status do_visibility(ramet_call *c)
{
    ramet_visibility v = RAMET_PRIVATE;
    return ramet_session_update(c, "s", &(ramet_session_patch){.visibility = &v}, &s_out);
}
static ramet_status do_promote(ramet_call *c)
{
    return ramet_session_promote(c, "s", &s_out);
}
static ramet_status do_tags_set(ramet_call *c)
{
    ramet_tags out;
    return ramet_tags_set(c, "s", (const char *[]){"y"}, 1, &out);
}
static ramet_status do_tags_add(ramet_call *c)
{
    ramet_tags out;
    return ramet_tags_add(c, "s", (const char *[]){"y"}, 1, &out);
}
static ramet_status do_tags_remove(ramet_call *c)
{
    ramet_tags out;
    return ramet_tags_remove(c, "s", (const char *[]){"x"}, 1, &out);
}
static ramet_status do_verdict_add(ramet_call *c)
{
    ramet_verdict *v;
    ramet_side_in sides[] = {{"s", 0}, {"s", link_branch}};
    return ramet_verdict_add(c, sides, 2, 0, "r", &v);
}
static ramet_status do_delete_dry(ramet_call *c)
{
    ramet_delete_out out;
    return ramet_session_delete(c, "s", true, true, &out);
}
static ramet_status do_delete(ramet_call *c)
{
    ramet_delete_out out;
    return ramet_session_delete(c, "s", false, false, &out);
}
static ramet_status do_member_set(ramet_call *c)
{
    return ramet_member_set(c, "s", "eve", RAMET_READER);
}
static ramet_status do_member_remove(ramet_call *c)
{
    return ramet_member_remove(c, "s", "ann");
}
static ramet_status do_share_add(ramet_call *c)
{
    ramet_share *x;
    return ramet_share_add(c, "s", true, 0, &x);
}
static ramet_status do_shares(ramet_call *c)
{
    ramet_share *x;
    size_t n;
    return ramet_shares(c, "s", &x, &n);
}
static ramet_status do_share_revoke(ramet_call *c)
{
    return ramet_share_revoke(c, "s", "any");
}

static ramet_status do_suggest(ramet_call *c)
{
    ramet_suggestions out;
    return ramet_suggest(c, "s", 0, &out);
}
static ramet_status do_erasures(ramet_call *c)
{
    ramet_erasure *list;
    size_t n;
    return ramet_erasures(c, "s", 0, &list, &n);
}
static ramet_status do_branches_pruned(ramet_call *c)
{
    ramet_branch *b;
    size_t n;
    return ramet_branches_pruned(c, "s", &b, &n);
}
static ramet_status do_branch_update(ramet_call *c)
{
    ramet_branch *b;
    return ramet_branch_update(c, "s", link_branch, &(ramet_branch_patch){.name = "mine"}, &b);
}
static ramet_status do_prune(ramet_call *c)
{
    ramet_prune_out out;
    return ramet_prune(c, "s", &(ramet_prune_in){.others = true}, &out);
}
static ramet_status do_prune_dry(ramet_call *c)
{
    ramet_prune_out out;
    return ramet_prune(c, "s", &(ramet_prune_in){.others = true, .dry_run = true}, &out);
}
static ramet_status do_branch_restore(ramet_call *c)
{
    ramet_prune_out out;
    return ramet_branch_restore(c, "s", link_branch, false, &out);
}

/* What a link gives; what it does not is RAMET_FORBIDDEN, as the session itself is no secret. */
typedef enum { NOBODY, WRITERS, READERS } given;

static const struct {
    const char *name;
    given to;
    ramet_status (*run)(ramet_call *c);
} matrix[] = {
    {"get", READERS, do_get},
    {"read", READERS, do_read},
    {"read a branch", READERS, do_read_branch},
    {"record", READERS, do_record},
    {"entry", READERS, do_entry},
    {"stream", READERS, do_stream},
    {"versions", READERS, do_versions},
    {"branches", READERS, do_branches},
    {"head log", READERS, do_head_log},
    {"fork points", READERS, do_fork_points},
    {"compare", READERS, do_compare},
    {"search", READERS, do_search},
    {"state", READERS, do_state},
    {"usage", READERS, do_usage},
    {"events", READERS, do_events},
    {"turns", READERS, do_turns},
    {"fork private", READERS, do_fork_private},
    {"append", WRITERS, do_append},
    {"append to a branch", WRITERS, do_append_branch},
    {"rewind", WRITERS, do_rewind},
    {"undo", WRITERS, do_undo},
    {"redo", WRITERS, do_redo},
    {"switch", WRITERS, do_switch},
    {"edit", WRITERS, do_edit},
    {"regenerate", WRITERS, do_regenerate},
    {"sync", WRITERS, do_sync},
    {"turn", WRITERS, do_turn},
    {"turn, regenerate", WRITERS, do_turn_regenerate},
    {"read adk", NOBODY, do_read_adk},
    {"record adk", NOBODY, do_record_adk},
    {"stream adk", NOBODY, do_stream_adk},
    {"append adk", NOBODY, do_append_adk},
    {"ancestry", NOBODY, do_ancestry},
    {"children", NOBODY, do_children},
    {"tree", NOBODY, do_tree},
    {"tree, light", NOBODY, do_tree_light},
    {"branches of the tree", NOBODY, do_tree_branches},
    {"members", NOBODY, do_members},
    {"verdicts", NOBODY, do_verdicts},
    {"feedback", NOBODY, do_feedback_get},
    {"feedback set", NOBODY, do_feedback_set},
    {"fork for the tree", NOBODY, do_fork},
    {"update", NOBODY, do_update},
    {"visibility", NOBODY, do_visibility},
    {"promote", NOBODY, do_promote},
    {"tags set", NOBODY, do_tags_set},
    {"tags add", NOBODY, do_tags_add},
    {"tags remove", NOBODY, do_tags_remove},
    {"verdict add", NOBODY, do_verdict_add},
    {"delete, dry", NOBODY, do_delete_dry},
    {"delete", NOBODY, do_delete},
    {"member set", NOBODY, do_member_set},
    {"member remove", NOBODY, do_member_remove},
    {"share add", NOBODY, do_share_add},
    {"shares", NOBODY, do_shares},
    {"share revoke", NOBODY, do_share_revoke},
    {"suggest", READERS, do_suggest},
    {"erasures", READERS, do_erasures},
    {"pruned branches", NOBODY, do_branches_pruned},
    {"branch update", NOBODY, do_branch_update},
    {"prune", NOBODY, do_prune},
    {"prune, dry", NOBODY, do_prune_dry},
    {"branch restore", NOBODY, do_branch_restore},
};
#define N_MATRIX (sizeof matrix / sizeof *matrix)

ramet_status link_do(const char *name, ramet_call *c)
{
    size_t i = 0;
    while (i < N_MATRIX && strcmp(matrix[i].name, name) != 0)
        i++;
    cr_assert_lt(i, N_MATRIX, "there is no call %s", name);
    return matrix[i].run(c);
}

/* ---- every call against every link */

static void check_row(size_t i, ramet_call *c, const char *who, ramet_status want)
{
    const char *before = mark();
    ramet_status got = matrix[i].run(c);
    cr_expect_eq(got, want, "%s with %s: %s, not %s (%s)", matrix[i].name, who,
                 ramet_status_code(got), ramet_status_code(want), ramet_call_error(c)->message);
    if (want != RAMET_OK && matrix[i].run != do_redo)
        cr_expect_str_eq(mark(), before, "%s with %s wrote something", matrix[i].name, who);
}

Test(share_calls, every_call_with_a_read_link, .timeout = 120)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", false, 0));
    for (size_t i = 0; i < N_MATRIX; i++)
        check_row(i, c, "a read link", matrix[i].to == READERS ? RAMET_OK : RAMET_FORBIDDEN);
}

Test(share_calls, every_call_with_a_write_link, .timeout = 120)
{
    link_stage();
    ramet_share *link = link_make("s", true, 0);
    ramet_call *c = link_hold("eve", link);
    for (size_t i = 0; i < N_MATRIX; i++) {
        ramet_session *x;
        int64_t head = get("s")->head.branch;
        check_row(i, c, "a write link", matrix[i].to == NOBODY ? RAMET_FORBIDDEN : RAMET_OK);
        if (get("s")->head.branch != head)
            ok(ramet_switch(T.call, "s", head, NULL, &x));
    }
}

/* A call that had the link when it was still good gets nothing any more, not even that the session
 * is there. */
static void check_nothing(ramet_call *c, const char *why)
{
    for (size_t i = 0; i < N_MATRIX; i++)
        check_row(i, c, why, RAMET_HIDDEN);
}

Test(share_calls, every_call_with_a_revoked_link, .timeout = 120)
{
    link_stage();
    ramet_share *link = link_make("s", true, 0);
    ramet_call *ann = as("ann"), *c = link_hold("eve", link);
    ok_for(c, do_get(c));
    ok_for(c, do_append(c));
    ok_for(ann, ramet_share_revoke(ann, "s", link->id));
    check_nothing(c, "a revoked link");
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, link->token, NULL));
}

Test(share_calls, every_call_with_an_expired_link, .timeout = 120)
{
    link_stage();
    ramet_share *link = link_make("s", true, 60 * SECOND);
    ramet_call *c = link_hold("eve", link);
    cr_assert_eq(link->expires, T.now + 60 * SECOND);
    tick(60 * SECOND - 1);
    ok_for(c, do_get(c));
    ok_for(c, do_append(c));
    tick(1);
    check_nothing(c, "an expired link");
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, link->token, NULL));
}

Test(share_calls, every_call_without_a_link, .timeout = 120)
{
    link_stage();
    link_make("s", true, 0);
    ramet_call *c = as("eve");
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, "rms_", NULL));
    check_nothing(c, "no link");
}
