/* SPDX-License-Identifier: Apache-2.0
 *
 * share.c: share links: made, held and revoked; what they leave out, and forks through them.
 */
#include "link.h"
#include "ramet/kagent.h"

#include <stdio.h>

TestSuite(share, .init = scratch_open, .fini = scratch_close);

static ramet_session *out_session;
static ramet_append_out a_out;
static const ramet_entry_in one = {.role = RAMET_USER, .text = "x"};

/* ---- a link of one session opens no other */

Test(share, a_link_opens_one_session)
{
    static const char *const others[] = {"p", "q", "h", "k"};
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const char *s = others[i];
        ramet_page page;
        ramet_compare_out cmp;
        refused_for(c, RAMET_HIDDEN, NULL, ramet_session_get(c, s, &out_session));
        refused_for(c, RAMET_HIDDEN, NULL, ramet_read(c, s, &(ramet_read_in){0}, &page));
        refused_for(c, RAMET_HIDDEN, NULL,
                    ramet_append(c, s, &(ramet_append_in){.entries = &one, .n = 1}, &a_out));
        refused_for(
            c, RAMET_HIDDEN, NULL,
            ramet_fork(c, s, &(ramet_fork_in){.visibility = RAMET_PRIVATE}, &out_session, NULL));
        refused_for(c, RAMET_HIDDEN, NULL,
                    ramet_compare(c, (ramet_side_in[]){{"s", 0}, {s, 0}}, 2, 0, &cmp));
        refused_for(c, RAMET_HIDDEN, NULL, ramet_session_restore(c, s, false, &out_session));
    }
    int64_t foreign = get("p")->head.branch;
    ramet_page page;
    refused_for(c, RAMET_BRANCH_NOT_FOUND, NULL,
                ramet_read(c, "s", &(ramet_read_in){.branch = foreign}, &page));
    refused_for(c, RAMET_BRANCH_NOT_FOUND, NULL, ramet_switch(c, "s", foreign, NULL, &out_session));
    ramet_entry *e;
    refused_for(c, RAMET_ENTRY_NOT_FOUND, NULL, ramet_entry_get(c, "s", 0, "p3", &e));
}

Test(share, lists_do_not_show_it)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    ramet_session_list list;
    ok_for(c, ramet_session_find(c, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0);
    ok_for(c, ramet_session_find(c, &(ramet_list_in){.tree = get("s")->tree_id}, &list));
    cr_assert_eq(list.n, 0);
    ok_for(c, ramet_session_find(c, &(ramet_list_in){.owner = "ann"}, &list));
    cr_assert_eq(list.n, 0);
    ramet_tag_count *tags;
    ramet_verdict *v;
    ramet_hits hits;
    size_t n;
    bool more;
    ok_for(c, ramet_tags_all(c, &tags, &n));
    cr_assert_eq(n, 0);
    ok(ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"s", link_branch}}, 2, 0, "r", &v));
    ok_for(c, ramet_verdicts(c, NULL, 0, 0, &v, &n, &more));
    cr_assert_eq(n, 0);
    ok_for(c, ramet_search(c, &(ramet_search_in){.query = "text"}, &hits));
    cr_assert_eq(hits.n, 0);
    refused_for(
        c, RAMET_TREE_NOT_FOUND, NULL,
        ramet_search(c, &(ramet_search_in){.query = "text", .tree = get("s")->tree_id}, &hits));
    ramet_activity act;
    ok_for(c, ramet_statistics(c, 30, &act));
    cr_assert_eq(act.sessions, 0);
    cr_assert_eq(act.entries, 0);
}

/* ---- what an answer leaves out */

Test(share, a_session_through_a_link_shows_only_itself)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    ramet_session *s;
    ok_for(c, ramet_session_get(c, "s", &s));
    cr_assert_str_eq(s->id, "s");
    cr_assert_str_eq(s->shown_title, "text of a", "not what its parent was called");
    cr_assert_eq(s->head.length, 2);
    cr_assert_not(s->is_fork);
    cr_assert_null(s->parent_id);
    cr_assert_null(s->fork_entry_id);
    cr_assert_null(s->by_id);
    cr_assert_eq(s->depth, 0);
    cr_assert_eq(s->n_tags, 0);
    cr_assert_str_eq(s->metadata, "{}");
    cr_assert_str_eq(s->cache_root, "s");
    cr_assert_eq(s->adk.branch, 0);
    cr_assert_str_eq(s->agent.name, "bot");
    cr_assert_str_eq(s->agent.model, "big");
    cr_assert_null(s->agent.folder);
    cr_assert_null(s->agent.options);
    ok_for(c, ramet_rewind(c, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}}, &s, NULL));
    cr_assert_null(s->agent.folder, "nor does the answer of a move");
    cr_assert_null(s->parent_id);
    cr_assert_eq(s->adk.branch, 0);
    ramet_compare_out cmp;
    ok_for(c, ramet_compare(c, (ramet_side_in[]){{"s", 0}, {"s", link_branch}}, 2, 0, &cmp));
    cr_assert_null(cmp.sides[0].agent.folder);
    cr_assert_null(cmp.sides[0].agent.options);
    cr_assert_str_eq(cmp.sides[0].title, "text of a");
    ramet_hits hits;
    ok_for(c, ramet_search(c, &(ramet_search_in){.query = "text", .session = "s"}, &hits));
    cr_assert_eq(hits.n, 3, "a, b and the abandoned d");
    ok_for(c,
           ramet_search(c, &(ramet_search_in){.query = "text", .session = "s", .tag = "x"}, &hits));
    cr_assert_eq(hits.n, 0, "tags are not told this way, either");
    ok_for(c, ramet_search(c, &(ramet_search_in){.query = "cookie", .session = "s"}, &hits));
    cr_assert_eq(hits.n, 0);
}

Test(share, sums_logs_and_points_leave_others_out)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    ramet_usage_out u;
    ok_for(c, ramet_usage_get(c, "s", &u));
    cr_assert_eq(u.own.input, 7, "c, on the branch that was left; not the adk log");
    cr_assert_eq(u.path.input, 0);
    cr_assert_eq(u.tree.input, 0);
    ok(ramet_usage_get(T.call, "s", &u));
    cr_assert_eq(u.own.input, 14);
    cr_assert_eq(u.tree.input, 21);
    ramet_move *m;
    size_t n;
    bool more;
    ok_for(c, ramet_head_log(c, "s", 0, 0, &m, &n, &more));
    cr_assert_eq(n, 1);
    cr_assert_null(m->who);
    cr_assert_str_eq(m->reason, "");
    ramet_fork_point *p;
    ok_for(c, ramet_fork_points(c, "s", &p, &n));
    cr_assert_gt(n, 0);
    for (size_t i = 0; i < n; i++)
        cr_assert_null(p[i].session, "forks of others are not told");
    ramet_move_in in = {.at = {"a", RAMET_AFTER}, .adk_at = {"raw", RAMET_BEFORE}};
    refused_for(c, RAMET_ENTRY_NOT_FOUND, "adk_at.entry_id",
                ramet_rewind(c, "s", &in, &out_session, NULL));
}

Test(share, events_are_those_of_the_session)
{
    link_stage();
    ramet_call *c = link_hold("eve", link_make("s", false, 0));
    say("p", "p4");
    say("s", "e");
    ramet_events_out out;
    ok_for(c, ramet_events(c, &(ramet_events_in){.limit = 1000}, &out));
    cr_assert_gt(out.n, 0);
    for (size_t i = 0; i < out.n; i++) {
        cr_assert_str_eq(out.items[i].session, "s");
        for (size_t k = 0; k < out.items[i].n; k++)
            cr_assert_str_neq(out.items[i].entries[k].id, "raw");
    }
}

static const char *attach(const char *session, const char *bytes)
{
    ramet_upload *u;
    ramet_attachment *file;
    char parts[300];
    ok(ramet_upload_begin(T.call, &(ramet_upload_in){.name = "f"}, &u));
    ok(ramet_upload_add(u, bytes, strlen(bytes)));
    ok(ramet_upload_finish(u, &file));
    snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", file->id);
    put(session, &(ramet_entry_in){.role = RAMET_USER, .parts = parts});
    return file->id;
}

Test(share, attachments_are_those_of_its_path_and_versions)
{
    make("p");
    const char *shared = attach("p", "shared");
    fork_at("p", NULL, "s");
    const char *later = attach("p", "later"), *own = attach("s", "own");
    ramet_call *c = link_hold("eve", link_make("s", false, 0)), *plain = as("eve");
    ramet_attachment *file;
    ok_for(c, ramet_attachment_get(c, shared, &file));
    ok_for(c, ramet_attachment_get(c, own, &file));
    refused_for(c, RAMET_ATTACHMENT_NOT_FOUND, NULL, ramet_attachment_get(c, later, &file));
    refused_for(plain, RAMET_ATTACHMENT_NOT_FOUND, NULL, ramet_attachment_get(plain, own, &file));
    cr_assert_neq(ramet_attachment_delete(c, own), RAMET_OK);
}

/* ---- own rights and a link's */

Test(share, a_link_adds_to_the_callers_own_rights)
{
    link_stage();
    join("s", "rita", RAMET_READER);
    ramet_share *write = link_make("s", true, 0), *read = link_make("s", false, 0);
    ramet_call *rita = as("rita");
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("append", rita));
    ok_for(rita, ramet_call_share(rita, write->token, NULL));
    ok_for(rita, link_do("append", rita));
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("update", rita));
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("read adk", rita));
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("append adk", rita));
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("fork for the tree", rita));
    ramet_session *s;
    ok_for(rita, ramet_session_get(rita, "s", &s));
    cr_assert_str_eq(s->parent_id, "p", "she sees what a reader sees");
    cr_assert_eq(s->n_tags, 1);
    ok_for(rita, link_do("tree", rita));
    ramet_call *ann = link_hold("ann", read);
    ok_for(ann, link_do("append", ann));
    ok_for(ann, link_do("update", ann));
    ok_for(ann, link_do("shares", ann));
    ok_for(rita, ramet_call_share(rita, NULL, NULL));
    refused_for(rita, RAMET_FORBIDDEN, NULL, link_do("append", rita));
}

Test(share, a_link_to_a_private_session_keeps_its_adk_log)
{
    link_stage();
    ramet_call *ann = as("ann");
    ok_for(ann, link_do("visibility", ann));
    ramet_call *c = link_hold("eve", link_make("s", true, 0));
    ok_for(c, link_do("read", c));
    ok_for(c, link_do("append", c));
    refused_for(c, RAMET_FORBIDDEN, NULL, link_do("read adk", c));
    ok_for(c, ramet_fork(c, "s", &(ramet_fork_in){.id = "mine", .visibility = RAMET_PRIVATE},
                         &out_session, NULL));
    cr_assert_eq(out_session->adk.branch, 0);
    ramet_page page;
    ok_for(c, ramet_read(c, "mine", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_eq(page.n, 0);
    cr_assert_null(out_session->agent.folder);
    cr_assert_null(out_session->agent.options);
    cr_assert_str_eq(out_session->agent.model, "big");
}

/* An append remembers the session's row and the caller's level for the next one. What a link gave
 * must not be among it. */
Test(share, what_an_append_remembers_is_not_the_link)
{
    link_stage();
    ramet_share *link = link_make("s", true, 0);
    ramet_call *eve = link_hold("eve", link), *plain = as("eve"), *ann = as("ann");
    ok_for(eve, link_do("append", eve));
    ok_for(eve, link_do("append", eve));
    refused_for(plain, RAMET_HIDDEN, NULL, link_do("append", plain));
    ok_for(ann, link_do("append", ann));
    ok_for(eve, link_do("append", eve));
    refused_for(plain, RAMET_HIDDEN, NULL, link_do("append", plain));
    ok_for(ann, ramet_share_revoke(ann, "s", link->id));
    refused_for(eve, RAMET_HIDDEN, NULL, link_do("append", eve));
    ok_for(ann, link_do("append", ann));
    refused_for(eve, RAMET_HIDDEN, NULL, link_do("append", eve));
}

/* ---- forks through a link */

Test(share, continuing_a_read_link_forks_it_and_outlives_the_tree)
{
    link_stage();
    ramet_share *link = link_make("s", false, 0);
    ramet_call *eve = link_hold("eve", link), *ann = as("ann"), *later = as("eve");
    ramet_session *s;
    ok_for(eve, ramet_fork(eve, "s",
                           &(ramet_fork_in){
                               .id = "mine", .branch = link_branch, .visibility = RAMET_PRIVATE},
                           &s, NULL));
    cr_assert_str_eq(s->owner, "eve");
    cr_assert_eq(s->visibility, RAMET_PRIVATE);
    cr_assert_null(s->parent_id);
    cr_assert_str_eq(s->shown_title, "Fork of text of a");
    ok_for(later, ramet_append(later, "mine", &(ramet_append_in){.entries = &one, .n = 1}, &a_out));
    refused_for(ann, RAMET_HIDDEN, NULL, ramet_session_get(ann, "mine", &s));
    ramet_delete_out gone;
    ok_for(ann, ramet_session_delete(ann, "p", true, false, &gone));
    for (size_t i = 0; i < gone.n; i++)
        cr_assert_str_neq(gone.ids[i], "mine");
    refused_for(eve, RAMET_SESSION_NOT_FOUND, NULL, ramet_session_get(eve, "s", &s));
    refused_for(later, RAMET_SHARE_NOT_FOUND, NULL, ramet_call_share(later, link->token, NULL));
    tick(30 * DAY);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_gt(gc.sessions, 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM share"), 0);
    ramet_page page;
    ok_for(later, ramet_read(later, "mine", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.n, 5, "a b c d and her own");
    cr_assert_str_eq(page.entries[3].id, "d");
    ok_for(later, ramet_append(later, "mine", &(ramet_append_in){.entries = &one, .n = 1}, &a_out));
    ramet_usage_out u;
    ok_for(later, ramet_usage_get(later, "mine", &u));
    cr_assert_eq(u.path.input, 7, "c");
    cr_assert_eq(u.tree.input, 0, "nothing of the others, who are no concern of hers");
    size_t n;
    ok_for(later, ramet_tree(later, "mine", false, &s, &n));
    cr_assert_eq(n, 1);
    ramet_fsck_out fsck;
    ok(ramet_fsck(T.call, NULL, NULL, &fsck));
    cr_assert_eq(fsck.n_all, 0, "%s", fsck.n ? fsck.faults[0].what : "");
}

Test(share, ephemeral_and_restored_sessions)
{
    link_stage();
    ramet_share *link = link_make("s", false, 0);
    ramet_call *eve = link_hold("eve", link);
    drop("s");
    refused_for(eve, RAMET_SESSION_NOT_FOUND, NULL, link_do("get", eve));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_session_restore(eve, "s", false, &out_session));
    refused_for(eve, RAMET_SESSION_EXISTS, NULL,
                ramet_session_create(eve, &(ramet_session_in){.id = "s"}, &out_session));
    ok(ramet_session_restore(T.call, "s", false, &out_session));
    ok_for(eve, link_do("get", eve));
    ok_for(eve, ramet_call_share(eve, link->token, NULL));
}

/* ---- making, listing, revoking */

Test(share, links_are_made_listed_and_revoked)
{
    link_stage();
    join("s", "mona", RAMET_MANAGER);
    join("s", "will", RAMET_WRITER);
    ramet_share *link = link_make("s", true, 3600 * SECOND), *list, *out;
    size_t n;
    cr_assert_str_eq(link->session, "s");
    cr_assert_str_eq(link->by, "ann");
    cr_assert(link->write);
    cr_assert_eq(strlen(link->token), 68);
    cr_assert_eq(strncmp(link->token, "rms_", 4), 0);
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM share WHERE hex(secret) LIKE '%%%s%%'",
             link->token + 4);
    cr_assert_eq(sql_number(sql), 0, "it is kept hashed");
    ramet_call *mona = as("mona"), *will = as("will"), *eve = as("eve");
    ok_for(mona, ramet_share_add(mona, "s", false, 0, &out));
    cr_assert_eq(out->expires, 0);
    refused_for(will, RAMET_FORBIDDEN, NULL, ramet_share_add(will, "s", false, 0, &out));
    refused_for(will, RAMET_FORBIDDEN, NULL, ramet_shares(will, "s", &list, &n));
    refused_for(will, RAMET_FORBIDDEN, NULL, ramet_share_revoke(will, "s", link->id));
    refused_for(mona, RAMET_HIDDEN, NULL, ramet_share_add(mona, "h", false, 0, &out));
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_share_add(eve, "s", false, 0, &out));
    refused_for(mona, RAMET_INVALID, "expires", ramet_share_add(mona, "s", false, -1, &out));
    refused_for(mona, RAMET_SHARE_NOT_FOUND, "id", ramet_share_revoke(mona, "p", link->id));
    refused_for(mona, RAMET_SHARE_NOT_FOUND, "id", ramet_share_revoke(mona, "s", "none"));
    ok_for(mona, ramet_shares(mona, "s", &list, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(list[0].id, link->id);
    cr_assert_null(list[0].token);
    cr_assert_str_eq(list[1].by, "mona");
    tick(3600 * SECOND);
    ok_for(mona, ramet_shares(mona, "s", &list, &n));
    cr_assert_eq(n, 1, "what has expired is not listed");
    ok_for(mona, ramet_share_revoke(mona, "s", list[0].id));
    ok_for(mona, ramet_shares(mona, "s", &list, &n));
    cr_assert_eq(n, 0);
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_eq(sql_number("SELECT count(*) FROM share"), 0, "gc takes the expired");
}

Test(share, fsck_finds_a_link_to_nothing)
{
    link_stage();
    link_make("s", false, 0);
    sql_run(T.path, "UPDATE share SET session=999");
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 1);
    cr_assert(strstr(out.faults[0].what, "share link"), "%s", out.faults[0].what);
}

static const char *visited(ramet_call *c)
{
    ramet_share *list;
    size_t n;
    ok_for(c, ramet_shares_visited(c, &list, &n));
    cr_assert_leq(n, 1);
    return n ? list[0].session : "";
}

/* Who followed a link finds it again, by an id that is nobody else's key. */
Test(share, who_has_used_a_link_finds_it_again)
{
    link_stage();
    ramet_share *link = link_make("s", false, 0), *out;
    ramet_call *eve = link_hold("eve", link);
    cr_assert_str_eq(visited(eve), "", "holding it is not using it");
    ok_for(eve, ramet_share_visit(eve));
    const char *before = mark();
    ok_for(eve, ramet_share_visit(eve));
    cr_assert_str_eq(mark(), before, "the second time nothing is written");
    cr_assert_str_eq(visited(eve), "s");
    ramet_call *again = as("eve");
    refused_for(again, RAMET_HIDDEN, NULL, link_do("get", again));
    ok_for(again, ramet_call_share(again, link->id, &out));
    cr_assert_str_eq(out->session, "s");
    ok_for(again, link_do("get", again));
    refused_for(again, RAMET_FORBIDDEN, NULL, ramet_shares(again, "s", &out, &(size_t){0}));
    static const char *const others[] = {"zoe", NULL};
    for (size_t i = 0; i < 2; i++) {
        ramet_call *c = as(others[i]);
        refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, link->id, &out));
        cr_assert_str_eq(visited(c), "");
    }
    ok(ramet_share_revoke(T.call, "s", link->id));
    cr_assert_str_eq(visited(as("eve")), "");
    refused_for(eve, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(eve, link->id, &out));
    ramet_gc_out gc;
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_eq(sql_number("SELECT count(*) FROM visit"), 0, "gc takes what leads nowhere");
}

Test(share, a_visit_is_of_who_sees_the_session_by_the_link_alone)
{
    link_stage();
    ramet_share *link = link_make("s", true, SECOND * 10);
    ramet_call *ann = link_hold("ann", link), *eve = link_hold("eve", link);
    ok_for(ann, ramet_share_visit(ann));
    cr_assert_eq(sql_number("SELECT count(*) FROM visit"), 0, "it is her own");
    ok_for(eve, ramet_share_visit(eve));
    drop("s");
    cr_assert_str_eq(visited(eve), "", "not while it is deleted");
    ok(ramet_session_restore(T.call, "s", false, &out_session));
    cr_assert_str_eq(visited(eve), "s");
    join("s", "eve", RAMET_READER);
    cr_assert_str_eq(visited(eve), "", "a member has it in his own list");
    ok(ramet_member_remove(T.call, "s", "eve"));
    tick(SECOND * 20);
    cr_assert_str_eq(visited(eve), "", "nor after its end");
}

Test(share, bad_tokens_are_refused)
{
    link_stage();
    ramet_share *link = link_make("s", false, 0), *out = link;
    ramet_call *c = as("eve");
    char bad[80];
    static const char *const wrong[] = {"", "rms_", "rmt_", "x", "rms_00"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, wrong[i], &out));
    snprintf(bad, sizeof bad, "%s0", link->token);
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, bad, &out));
    snprintf(bad, sizeof bad, "%s", link->token);
    bad[67] = bad[67] == '0' ? '1' : '0';
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, bad, &out));
    cr_assert_null(out);
    ok_for(c, ramet_call_share(c, link->token, &out));
    cr_assert_str_eq(out->session, "s");
    cr_assert_null(out->token);
    ok_for(c, link_do("get", c));
    refused_for(c, RAMET_SHARE_NOT_FOUND, "share", ramet_call_share(c, bad, &out));
    refused_for(c, RAMET_HIDDEN, NULL, link_do("get", c));
}

Test(share, a_session_has_so_many_links_at_most, .timeout = 120)
{
    make("s");
    ramet_share *out;
    for (int i = 0; i < 1000; i++)
        ok(ramet_share_add(T.call, "s", false, i ? 0 : SECOND, &out));
    refused(RAMET_TOO_LARGE, "shares", ramet_share_add(T.call, "s", false, 0, &out));
    cr_assert_null(out);
    tick(SECOND);
    ok(ramet_share_add(T.call, "s", false, 0, &out));
    cr_assert_eq(sql_number("SELECT count(*) FROM share"), 1000);
}
