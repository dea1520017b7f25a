/* SPDX-License-Identifier: Apache-2.0
 *
 * export_more.c: exports and imports of what lies beside the history: overlays, merges and the
 * origins of copies, what agents were sent.
 */
#include "attach.h"
#include "away.h"
#include "core/change/overlay.h"
#include "ramet/branches.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "turn.h"

#include "../lib/scratch_db.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(export_more, .init = open_both, .fini = close_both);

static int64_t overlay(const char *session, ramet_overlay_action action, const char *entry,
                       const char *text)
{
    ramet_overlay_out out;
    ok(ramet_overlay_set(
        T.call, session,
        &(ramet_overlay_in){.entry_id = entry, .action = action, .text = text, .reason = "why"},
        &out));
    return out.id;
}

static void merge(const char *into, const ramet_merge_in *in)
{
    ramet_merge_out out;
    ok(ramet_merge(T.call, into, in, &out));
}

static void land(const char *into, const char *from)
{
    merge(into, &(ramet_merge_in){.mode = RAMET_LAND, .from = from, .text = "what came out"});
}

/* There and back the same, in every scope of a session. */
static void there_and_back(void)
{
    file a = all_of(T.call);
    import_file(other.call, &a);
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
    import_file(other.call, &a);
    cr_assert_eq(imported.sessions_added, 0);
    b = all_of(other.call);
    same_file(&a, &b);
    free(a.p);
    free(b.p);
}

static void alone_and_back(const ramet_export_in *in)
{
    other_anew();
    file a = file_of(T.call, in);
    import_file(other.call, &a);
    sound_other();
    file b = file_of(other.call, in->n_branches ? &(ramet_export_in){.session = in->session} : in);
    same_file(&a, &b);
    free(a.p);
    free(b.p);
}

/* The context view of a session's present path, as ids. */
static const char *context_of(ramet_call *c, const char *session)
{
    static char text[2][4096];
    static int turn;
    ramet_page page;
    char *out = text[turn = !turn];
    ok_for(c, ramet_read(c, session, &(ramet_read_in){.view = RAMET_VIEW_CONTEXT, .limit = 100},
                         &page));
    out[0] = 0;
    for (size_t i = 0; i < page.n; i++)
        snprintf(out + strlen(out), sizeof text[0] - strlen(out), "%s=%s ", page.entries[i].id,
                 page.entries[i].text);
    return out;
}

static void same_context(const char *session)
{
    cr_assert_str_eq(context_of(other.call, session), context_of(T.call, session));
}

/* -------------------------------------------------------------------- overlays */

static void tools(const char *session)
{
    put(session,
        &(ramet_entry_in){.id = "call",
                          .role = RAMET_ASSISTANT,
                          .parts = "[{\"type\":\"tool_call\",\"id\":\"c1\",\"name\":\"ls\","
                                   "\"input\":{}}]"});
    put(session, &(ramet_entry_in){.id = "result",
                                   .role = RAMET_TOOL,
                                   .parts = "[{\"type\":\"tool_result\",\"id\":\"c1\","
                                            "\"output\":\"files\"}]"});
}

Test(export_more, overlays_there_and_back)
{
    ramet_overlay_out out;
    ramet_session *x;
    make("s");
    say("s", "a b c d");
    tools("s");
    say("s", "e");
    overlay("s", RAMET_OVERLAY_HIDE, "b", NULL);
    overlay("s", RAMET_OVERLAY_REPLACE, "c", "shorter");
    fork_at("s", "d", "f");
    int64_t hidden = overlay("s", RAMET_OVERLAY_HIDE, "call", NULL);
    overlay("f", RAMET_OVERLAY_HIDE_BEFORE, "b", NULL);
    ok(ramet_overlay_remove(T.call, "s", hidden, NULL, NULL, false, &out));
    overlay("s", RAMET_OVERLAY_HIDE, "result", NULL);
    ok(ramet_undo(T.call, "s", NULL, &x));
    ok(ramet_redo(T.call, "s", NULL, &x));
    say("f", "g");
    /* Both have overlays: a fast-forward joins them. */
    fork_at("s", "e", "g");
    overlay("g", RAMET_OVERLAY_HIDE, "a", NULL);
    say("g", "h");
    overlay("s", RAMET_OVERLAY_REPLACE, "d", "other");
    merge("s", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "g"});
    there_and_back();
    same_context("s");
    same_context("f");
    same_context("g");
    /* The next one has a number of its own, and undo leads back. */
    ok_for(other.call,
           ramet_overlay_set(other.call, "s",
                             &(ramet_overlay_in){.entry_id = "h", .action = RAMET_OVERLAY_HIDE},
                             &out));
    for (int i = 0; i < 3; i++)
        ok_for(other.call, ramet_undo(other.call, "s", NULL, &x));
    sound_other();
    const char *sessions[] = {"s", "f", "g"};
    for (int i = 0; i < 3; i++) {
        alone_and_back(&(ramet_export_in){.session = sessions[i]});
        same_context(sessions[i]);
        alone_and_back(&(ramet_export_in){.session = sessions[i], .path = true});
        same_context(sessions[i]);
    }
    alone_and_back(&(ramet_export_in){.session = "s", .tree = true, .path = true});
}

/* Overlays set while another branch was the head: a pruned session has the sets of its branches. */
Test(export_more, pruned_between_overlays)
{
    make("s");
    say("s", "a b c");
    overlay("s", RAMET_OVERLAY_HIDE, "a", NULL);
    rewind_to("s", "b");
    say("s", "d");
    ramet_append_out out;
    ramet_entry_in other_d = {.id = "e", .role = RAMET_USER, .text = "e"};
    ok(ramet_edit(T.call, "s", "d", &other_d, NULL, &out));
    int64_t edited = get("s")->head.branch;
    overlay("s", RAMET_OVERLAY_HIDE, "b", NULL);
    alone_and_back(&(ramet_export_in){.session = "s", .path = true});
    same_context("s");
    alone_and_back(&(ramet_export_in){.session = "s", .branches = &edited, .n_branches = 1});
    cr_assert_str_eq(context_of(other.call, "s"), "b=text of b e=e ");
}

/* An overlay that a fork took over, of an entry that it does not have. */
Test(export_more, overlays_of_what_is_not_exported)
{
    ramet_session *x;
    make("s");
    say("s", "a b secret");
    overlay("s", RAMET_OVERLAY_HIDE, "a", NULL);
    overlay("s", RAMET_OVERLAY_REPLACE, "secret", "hush");
    int64_t late = overlay("s", RAMET_OVERLAY_HIDE, "b", NULL);
    fork_at("s", "b", "f");
    say("f", "c");
    /* It may be removed there, too. */
    ramet_overlay_out out;
    ok(ramet_overlay_remove(T.call, "f", late, NULL, NULL, false, &out));
    ok(ramet_overlay_remove(T.call, "f", late - 1, NULL, NULL, false, &out));
    file a = file_of(T.call, &(ramet_export_in){.session = "f"});
    cr_assert_not(strstr(a.p, "hush"));
    alone_and_back(&(ramet_export_in){.session = "f"});
    same_context("f");
    ok_for(other.call, ramet_undo(other.call, "f", NULL, &x));
    sound_other();
}

/* What a private session of another hides is not told. */
Test(export_more, overlays_of_private_sessions_are_not_exported)
{
    ramet_session *x;
    ramet_overlay_out out;
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_WRITER);
    ramet_call *bob = as("bob");
    ok_for(bob, ramet_fork(bob, "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &x,
                           NULL));
    ok_for(bob, ramet_overlay_set(bob, "p",
                                  &(ramet_overlay_in){.entry_id = "a",
                                                      .action = RAMET_OVERLAY_REPLACE,
                                                      .text = "bob's words"},
                                  &out));
    file a = file_of(as("ann"), &(ramet_export_in){.session = "s", .tree = true});
    cr_assert_not(strstr(a.p, "bob's words"));
    cr_assert_not(strstr(a.p, "\"overlay\""));
    file b = file_of(as("bob"), &(ramet_export_in){0});
    cr_assert(strstr(b.p, "bob's words"));
}

/* --------------------------------------------------------------- the context view */

Test(export_more, overlays_are_baked_in)
{
    ramet_session_list list;
    make("s");
    say("s", "a b secret");
    tools("s");
    attach("s", "with", upload(T.call, "hello"));
    attach("s", "hidden", upload(T.call, "not this"));
    say("s", "e");
    overlay("s", RAMET_OVERLAY_HIDE, "b", NULL);
    overlay("s", RAMET_OVERLAY_HIDE, "hidden", NULL);
    overlay("s", RAMET_OVERLAY_REPLACE, "secret", "hush");
    overlay("s", RAMET_OVERLAY_REPLACE, "result", "some files");
    overlay("s", RAMET_OVERLAY_REPLACE, "call", "a call");
    int64_t branch = get("s")->head.branch;
    rewind_to("s", "a");
    say("s", "other");
    ramet_session *x;
    ok(ramet_switch(T.call, "s", branch, NULL, &x));
    static const ramet_export_format formats[] = {RAMET_EXPORT_MARKDOWN, RAMET_EXPORT_HTML};
    for (int i = 0; i < 2; i++) {
        file f = file_of(T.call, &(ramet_export_in){.session = "s", .format = formats[i]});
        cr_assert(strstr(f.p, "text of secret") && !strstr(f.p, "hush"));
        f = file_of(T.call,
                    &(ramet_export_in){.session = "s", .format = formats[i], .context = true});
        cr_assert(!strstr(f.p, "text of secret") && strstr(f.p, "hush"));
        cr_assert_not(strstr(f.p, "text of b"));
        cr_assert(strstr(f.p, "some files") && strstr(f.p, "text of other"));
    }
    file a = file_of(T.call, &(ramet_export_in){.session = "s", .path = true, .context = true});
    cr_assert_eq(exported.entries, 6);
    cr_assert(!strstr(a.p, "text of secret") && !strstr(a.p, "text of b"));
    cr_assert(strstr(a.p, "\"type\":\"attachment\"") && !strstr(a.p, "bm90IHRoaXM"));
    /* By the branch it is the same; it goes beside the session that it was made of. */
    file b = file_of(
        T.call,
        &(ramet_export_in){.session = "s", .branches = &branch, .n_branches = 1, .context = true});
    same_file(&a, &b);
    import_file(T.call, &a);
    cr_assert_eq(imported.sessions_added, 1);
    import_file(T.call, &a);
    cr_assert_eq(imported.sessions_known, 1);
    import_file(other.call, &a);
    sound_other();
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 1);
    cr_assert_str_neq(list.items[0].id, "s");
    const char *id = strdup(list.items[0].id);
    cr_assert_str_eq(context_of(other.call, id), context_of(T.call, id));
    b = file_of(other.call, &(ramet_export_in){.session = id});
    same_file(&a, &b);
    ramet_export_out out;
    refused(RAMET_INVALID, "context",
            ramet_export(T.call, &(ramet_export_in){.session = "s", .context = true}, file_take, &b,
                         NULL, NULL, &out));
    refused(RAMET_INVALID, "context",
            ramet_export(T.call, &(ramet_export_in){.context = true, .path = true}, file_take, &b,
                         NULL, NULL, &out));
    int64_t none = 99;
    refused(RAMET_BRANCH_NOT_FOUND, "branch",
            ramet_export(T.call,
                         &(ramet_export_in){.session = "s", .branches = &none, .n_branches = 1},
                         file_take, &b, NULL, NULL, &out));
}

/* A long path, most of it hidden, in steps. */
Test(export_more, a_long_context)
{
    char words[30000] = "", first[32];
    make("s");
    for (int i = 0; i < 600; i++) {
        snprintf(first, sizeof first, "e%d ", i);
        strcat(words, first);
        if (i % 100 == 99) {
            say("s", words);
            words[0] = 0;
        }
    }
    overlay("s", RAMET_OVERLAY_HIDE_BEFORE, "e20", NULL);
    for (int i = 30; i < 90; i += 2) {
        snprintf(first, sizeof first, "e%d", i);
        overlay("s", RAMET_OVERLAY_HIDE, first, NULL);
    }
    file a = file_of(T.call, &(ramet_export_in){.session = "s", .path = true, .context = true});
    cr_assert_eq(exported.entries, 550);
    import_file(other.call, &a);
    sound_other();
}

/* ---------------------------------------------------------------------- merges */

Test(export_more, merges_there_and_back)
{
    ramet_entry_ref *ends;
    size_t n;
    make("s");
    say("s", "a b");
    fork_at("s", "b", "f");
    say("f", "c d");
    fork_at("s", "b", "g");
    say("g", "e");
    say("s", "own");
    merge("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    ramet_merge_pick pick = {.session = "g", .entry_id = "e"};
    merge("s", &(ramet_merge_in){.mode = RAMET_PICK, .picks = &pick, .n_picks = 1});
    land("s", "g");
    /* Of other trees: one that is made before it, one behind it. */
    make("later");
    say("later", "l");
    land("s", "later");
    land("later", "s");
    there_and_back();
    ramet_session *x;
    ok_for(other.call, ramet_session_get(other.call, "f", &x));
    cr_assert_str_eq(x->merged_into, "s");
    ok_for(other.call, ramet_destinations(other.call, "later", 0, "l", &ends, &n));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(ends[0].session, "s");
    ok_for(other.call, ramet_destinations(other.call, "f", 0, "c", &ends, &n));
    cr_assert_eq(n, 1);
    ok_for(other.call, ramet_undo(other.call, "s", NULL, &x));
    sound_other();
    /* Alone, a session says that there was an origin, and not which one. */
    alone_and_back(&(ramet_export_in){.session = "s"});
    alone_and_back(&(ramet_export_in){.session = "later"});
    alone_and_back(&(ramet_export_in){.session = "s", .path = true});
    alone_and_back(&(ramet_export_in){.session = "s", .tree = true});
}

/* An import that died before references between trees were set: the next one sets them. */
Test(export_more, references_between_trees_are_completed)
{
    ramet_entry_ref *ends;
    size_t n;
    make("s");
    say("s", "a");
    make("later");
    say("later", "l");
    land("s", "later");
    file all = all_of(T.call);
    /* The first tree alone, with what only the whole file resolves. */
    const char *second = strstr(strstr(all.p, "\"type\":\"tree\"") + 10, "{\"type\":\"tree\"");
    char end[200];
    file part = {0};
    file_take(&part, all.p, (size_t)(second - all.p));
    snprintf(end, sizeof end,
             "{\"type\":\"end\",\"trees\":1,\"sessions\":1,\"entries\":2,\"sha256\":\"%064d\"}\n",
             0);
    file_take(&part, end, strlen(end));
    resign(&part);
    import_file(other.call, &part);
    sound_other();
    ramet_page page;
    ok_for(other.call, ramet_read(other.call, "s", &(ramet_read_in){.limit = 10}, &page));
    cr_assert(page.entries[1].copied);
    cr_assert_eq(page.entries[1].n_origins, 0);
    import_file(other.call, &all);
    cr_assert_eq(imported.sessions_added, 1);
    ok_for(other.call, ramet_destinations(other.call, "later", 0, "l", &ends, &n));
    cr_assert_eq(n, 1);
    file b = all_of(other.call);
    same_file(&all, &b);
}

/* ------------------------------------------------------------------------ notes */

Test(export_more, names_favourites_and_prunes)
{
    const bool yes = true;
    ramet_branch *x;
    ramet_prune_out out;
    ramet_branch *pruned;
    size_t n;
    make("s");
    say("s", "a b c");
    int64_t first = get("s")->head.branch;
    rewind_to("s", "b");
    say("s", "d e");
    int64_t second = get("s")->head.branch;
    rewind_to("s", "d");
    say("s", "f");
    int64_t third = get("s")->head.branch;
    ok(ramet_branch_update(T.call, "s", third, &(ramet_branch_patch){.name = "the last"}, &x));
    ok(ramet_branch_update(T.call, "s", first,
                           &(ramet_branch_patch){.name = "the first", .favourite = &yes}, &x));
    rewind_to("s", "d");
    say("s", "g");
    /* Two that one prune took, and one of another. */
    ok(ramet_prune(T.call, "s", &(ramet_prune_in){.branch = second}, &out));
    ok(ramet_prune(T.call, "s", &(ramet_prune_in){.others = true}, &out));
    there_and_back();
    ok_for(other.call, ramet_branches_pruned(other.call, "s", &pruned, &n));
    cr_assert_eq(n, 3);
    /* What people read does not show what was pruned. */
    file text =
        file_of(T.call, &(ramet_export_in){.session = "s", .format = RAMET_EXPORT_MARKDOWN});
    cr_assert_not(strstr(text.p, "text of c"));
    cr_assert_not(strstr(text.p, "text of f"));
    ramet_export_out sums;
    refused(RAMET_BRANCH_PRUNED, "branch_id",
            ramet_export(T.call,
                         &(ramet_export_in){.session = "s", .branches = &first, .n_branches = 1},
                         file_take, &text, NULL, NULL, &sums));
    ok_for(other.call, ramet_branch_restore(other.call, "s", pruned[2].id, true, &out));
    cr_assert_eq(out.n, 2, "those of one prune come back together");
    sound_other();
    alone_and_back(&(ramet_export_in){.session = "s", .path = true});
    alone_and_back(&(ramet_export_in){.session = "s"});
    ok(ramet_branch_restore(T.call, "s", first, false, &out));
    alone_and_back(&(ramet_export_in){.session = "s"});
    T.now += INT64_C(40) * 24 * 3600 * 1000000;
    ramet_gc_out gone;
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    alone_and_back(&(ramet_export_in){.session = "s"});
    ramet_session *s;
    ok_for(other.call, ramet_session_get(other.call, "s", &s));
    cr_assert_eq(s->favourite, 1);
}

/* -------------------------------------------------------------------- prompts */

static const char *prompt_of(ramet_call *c, const char *session, const char *turn)
{
    ramet_prompt *p;
    ok_for(c, ramet_turn_prompt(c, session, turn, &p));
    return p->known ? p->data : NULL;
}

Test(export_more, what_agents_were_sent)
{
    static char data[40000];
    make("s");
    say("s", "a b");
    memset(data, 'x', sizeof data - 1);
    memcpy(data, "{\"i\":\n\"", 7);
    memcpy(data + sizeof data - 4, "\"}", 3);
    ramet_turn *t = turn_start("s", &(ramet_turn_in){MESSAGE("m")});
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 3, .data = data});
    turn_speak(t->id, "answer");
    ramet_call_prompt(T.call, NULL);
    turn_stop(t->id, RAMET_TURN_DONE);
    const char *id = strdup(t->id);
    /* Of one that still runs, neither the turn nor what it was sent. */
    t = turn_start("s", &(ramet_turn_in){MESSAGE("n")});
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 5, .data = "{}"});
    turn_speak(t->id, "half");
    ramet_call_prompt(T.call, NULL);
    file a = all_of(T.call);
    cr_assert(strstr(a.p, "\"type\":\"prompt\""));
    cr_assert_not(strstr(a.p, "\"data\":{}"));
    import_file(other.call, &a);
    sound_other();
    file b = all_of(other.call);
    same_file(&a, &b);
    cr_assert_str_eq(prompt_of(other.call, "s", id), prompt_of(T.call, "s", id));
    turn_stop(t->id, RAMET_TURN_DONE);
    alone_and_back(&(ramet_export_in){.session = "s", .path = true});
}

/* --------------------------------------------------------------------- forged */

static void forged(const file *f, const char *from, const char *to, const char *why)
{
    file b = replaced(f, from, to);
    resign(&b);
    cr_assert_eq(import_bytes(other.call, b.p, b.n), RAMET_IMPORT_DAMAGED, "%s", to);
    const char *said = ramet_call_error(other.call)->message;
    cr_assert(strstr(said, why), "%s: %s", to, said);
    ramet_session_list list;
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0, "something was added");
    sound_other();
    free(b.p);
}

Test(export_more, forged_overlays_copies_and_prompts_are_refused)
{
    make("s");
    say("s", "a b c");
    tools("s");
    overlay("s", RAMET_OVERLAY_HIDE, "call", NULL);
    overlay("s", RAMET_OVERLAY_REPLACE, "b", "shorter");
    fork_at("s", "c", "f");
    say("f", "d");
    merge("s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"});
    ramet_turn *t = turn_start("s", &(ramet_turn_in){MESSAGE("m")});
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 3, .data = "{}"});
    turn_speak(t->id, "answer");
    ramet_call_prompt(T.call, NULL);
    turn_stop(t->id, RAMET_TURN_DONE);
    file a = all_of(T.call);
    static const struct {
        const char *from, *to, *why;
    } cases[] = {
        {"\"n\":2,\"prev\":1", "\"n\":2,\"prev\":2", "does not come before it"},
        {"\"n\":2,\"prev\":1", "\"n\":3,\"prev\":1", "overlay 3 is out of order"},
        {"\"n\":2,\"prev\":1", "\"n\":2,\"prev\":1,\"prev2\":1", "only then there are two"},
        {"\"action\":\"hide\"", "\"action\":\"show\"", "must be one of join"},
        {"\"action\":\"hide\"", "\"action\":\"remove\"", "name an entry"},
        {"\"action\":\"hide\"", "\"action\":\"hide_before\"", "that its action cannot have"},
        {"\"action\":\"replace\"", "\"action\":\"hide\"", "that its action cannot have"},
        {"\"also\":[[1,4]]", "\"also\":[[1,99]]", "branch 1 has no entry at position 99"},
        {"\"also\":[[1,4]]", "\"also\":[[0,4]]", "pairs of a branch and a position"},
        {"\"also\":[[1,4]]", "\"also\":[4]", "pairs of a branch and a position"},
        {"\"also\":[[1,4]]", "\"also\":{}", "must be arrays"},
        {",\"calls\":[\"c1\"]", "", "come together"},
        {"\"calls\":[\"c1\"]", "\"calls\":[1]", "ids of tool calls"},
        {"\"overlay\":1", "\"overlay\":9", "there is no overlay 9"},
        {"\"origins\":[{", "\"origins\":[{\"x\":1,", "members that it cannot have"},
        {"\"origins\":[{\"session\":2", "\"origins\":[{\"session\":9", "no session 9"},
        {"\"origins\":[{\"session\":2,", "\"origins\":[{", "members that it cannot have"},
        {"\"origins\":[{", "\"origins\":[{\"span\":0,", "members that it cannot have"},
        {"\"origins\":[", "\"origins\":[],\"x\":[", "array of 1 to"},
        {"\"length\":3,\"agent\"", "\"length\":99,\"agent\"", "or a shorter one"},
        {"\"data\":{}", "\"data\":[]", "JSON object"},
        {",\"data\":{}", "", "\"data\" is missing"},
        {"\"kind\":\"overlay\"", "\"kind\":\"rewind\"", "with other overlays"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        forged(&a, cases[i].from, cases[i].to, cases[i].why);
    import_file(other.call, &a);
    sound_other();
}

/* ---------------------------------------------------------------------- holds */

static size_t holds_of(ramet_call *c, const char *session)
{
    ramet_hold *list;
    size_t n;
    ok_for(c, ramet_holds(c, session, &list, &n));
    return n;
}

Test(export_more, holds_are_restored_for_administrators)
{
    ramet_session *x;
    ramet_delete_out gone;
    ramet_hold *list;
    size_t n;
    ramet_call *ann = as("ann"), *ben = ramet_call_new(other.store, "ben", NULL);
    ok_for(ann, ramet_session_create(ann, &(ramet_session_in){.id = "s"}, &x));
    say("s", "a b");
    fork_at("s", "a", "f");
    fork_at("s", "a", "g");
    ok_for(ann, ramet_hold_set(ann, "f", &(ramet_hold_in){.reason = "mine"}, NULL));
    ok(ramet_hold_set(T.call, "f", &(ramet_hold_in){.reason = "case 7", .by = "root"}, NULL));
    make("whole");
    say("whole", "c");
    ok(ramet_hold_set(T.call, "whole", &(ramet_hold_in){.tree = true}, NULL));

    file all = all_of(T.call), own = file_of(ann, &(ramet_export_in){.session = NULL}),
         part = file_of(T.call, &(ramet_export_in){.session = "f"});
    cr_assert_not_null(strstr(all.p, "\"type\":\"hold\""));
    cr_assert_null(strstr(own.p, "\"type\":\"hold\""), "only an administrator's export has them");
    cr_assert_null(strstr(part.p, "\"type\":\"hold\""), "a part becomes another tree");

    import_file(other.call, &all);
    sound_other();
    file again = all_of(other.call);
    same_file(&all, &again);
    ok_for(other.call, ramet_holds(other.call, "f", &list, &n));
    cr_assert_eq(n, 2);
    cr_assert(!list[0].administrator && list[1].administrator);
    cr_assert_str_eq(list[0].reason, "mine");
    cr_assert_str_eq(list[0].who, "ann");
    cr_assert_str_eq(list[1].who, "root");
    cr_assert_eq(holds_of(other.call, "g"), 0);
    cr_assert_eq(holds_of(other.call, "whole"), 1);
    refused_for(other.call, RAMET_HELD, "session",
                ramet_session_delete(other.call, "f", false, false, &gone));
    refused_for(other.call, RAMET_HELD, "tree",
                ramet_session_delete(other.call, "whole", true, false, &gone));
    ramet_call_free(ben);

    other_anew();
    ben = ramet_call_new(other.store, "ben", NULL);
    import_file(ben, &all);
    cr_assert_eq(holds_of(ben, "f") + holds_of(ben, "whole"), 0, "others cannot set them");
    ramet_call_free(ben);

    static const char *const damage[][3] = {
        {"\"kind\":\"owner\"", "\"kind\":\"anyone\"", "must be one of owner|administrator"},
        {"\"type\":\"hold\",\"session\":2", "\"type\":\"hold\",\"session\":9", "no session 9"},
        {"\"kind\":\"administrator\"", "\"kind\":\"owner\"", "a hold is out of order"}};
    for (size_t i = 0; i < sizeof damage / sizeof damage[0]; i++) {
        file bad = replaced(&all, damage[i][0], damage[i][1]);
        resign(&bad);
        other_anew();
        cr_assert_eq(import_bytes(other.call, bad.p, bad.n), RAMET_IMPORT_DAMAGED);
        cr_assert(strstr(ramet_call_error(other.call)->message, damage[i][2]), "%s",
                  ramet_call_error(other.call)->message);
    }
}
