/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c: rules remove what they name and nothing else, only after a dry run, and say why.
 */
#include "help.h"
#include "turn.h"
#include "ramet/branches.h"
#include "ramet/memory.h"
#include "ramet/merge.h"
#include "ramet/retention.h"
#include "ramet/templates.h"

#include <pthread.h>
#include <stdio.h>

TestSuite(retention, .init = scratch_open, .fini = scratch_close);

static ramet_status rules_set(const ramet_rule *rules, size_t n, bool enabled)
{
    return ramet_retention_set(
        T.call, &(ramet_retention_in){.rules = rules, .n = n, .enabled = enabled}, NULL);
}

static ramet_retention_out run(ramet_retention_run_in in)
{
    ramet_retention_out out;
    ok(ramet_retention_run(T.call, &in, NULL, NULL, &out));
    return out;
}

static const char *listed(const ramet_retention_out *out)
{
    static char text[512];
    text[0] = 0;
    for (size_t i = 0; i < out->n; i++) {
        size_t have = strlen(text);
        snprintf(text + have, sizeof text - have, "%s%s", have ? " " : "",
                 out->removals[i].session);
    }
    return text;
}

/* Stores one rule, tries it and gives the ids that it would take, newest session first. */
static const char *would_take(const ramet_rule *rule)
{
    ok(rules_set(rule, 1, false));
    ramet_retention_out out = run((ramet_retention_run_in){.dry_run = true});
    cr_assert(out.dry_run);
    return listed(&out);
}

static bool there(const char *session)
{
    ramet_session *s;
    ramet_status st = ramet_session_get(T.call, session, &s);
    cr_assert(st == RAMET_OK || st == RAMET_SESSION_NOT_FOUND, "%s", ramet_status_code(st));
    return st == RAMET_OK;
}

static void tag(const char *session, const char *name)
{
    ok(ramet_tags_add(T.call, session, &name, 1, NULL));
}

static const ramet_explanation *explain(const char *session)
{
    ramet_explanation *e;
    ok(ramet_retention_explain(T.call, session, &e));
    return e;
}

Test(retention, off_and_empty_by_default)
{
    ramet_retention *r;
    make("s");
    tick(1000 * DAY);
    ok(ramet_retention_get(T.call, &r));
    cr_assert_eq(r->n, 0);
    cr_assert_not(r->enabled);
    cr_assert_eq(r->tried, 0);
    ramet_retention_out out = run((ramet_retention_run_in){0});
    cr_assert_eq(out.sessions, 0);
    cr_assert(run((ramet_retention_run_in){.scheduled = true}).skipped);
    cr_assert(there("s"));
}

Test(retention, a_dry_run_comes_first)
{
    ramet_retention *r;
    ramet_retention_out out;
    ramet_rule rule = {.name = "old", .age_us = DAY};
    make("s");
    tick(2 * DAY);
    refused(RAMET_DRY_RUN_FIRST, "enabled", rules_set(&rule, 1, true));
    ok(rules_set(&rule, 1, false));
    refused(RAMET_DRY_RUN_FIRST, "dry_run",
            ramet_retention_run(T.call, &(ramet_retention_run_in){0}, NULL, NULL, &out));
    refused(RAMET_DRY_RUN_FIRST, "enabled", rules_set(&rule, 1, true));
    cr_assert_str_eq(would_take(&rule), "s");
    cr_assert(there("s"), "a dry run removes nothing");
    ok(ramet_retention_get(T.call, &r));
    cr_assert_eq(r->tried, T.now);
    ok(rules_set(&rule, 1, true));
    /* Another rule has not been tried, and switches them off. */
    ramet_rule other = {.name = "old", .age_us = DAY / 2};
    refused(RAMET_DRY_RUN_FIRST, "enabled", rules_set(&other, 1, true));
    ok(rules_set(&other, 1, false));
    cr_assert(run((ramet_retention_run_in){.scheduled = true}).skipped);
    refused(RAMET_DRY_RUN_FIRST, "dry_run",
            ramet_retention_run(T.call, &(ramet_retention_run_in){0}, NULL, NULL, &out));
    cr_assert(there("s"));
}

Test(retention, removing_is_deleting)
{
    ramet_session *s;
    ramet_removal *log;
    const char *next;
    size_t n;
    ramet_gc_out gone;
    ramet_rule rule = {.name = "old", .age_us = DAY};
    make("s");
    say("s", "a b c d");
    fork_at("s", "b", "f");
    tick(DAY);
    say("f", "x");
    cr_assert_str_eq(would_take(&rule), "s");
    ramet_retention_out out = run((ramet_retention_run_in){.by = "root"});
    cr_assert_str_eq(listed(&out), "s");
    cr_assert_eq(out.sessions, 1);
    cr_assert_eq(out.entries, 4);
    cr_assert_not(there("s"));
    cr_assert_str_eq(ids("f"), "a b x", "a fork stays as it was");
    cr_assert_eq(run((ramet_retention_run_in){0}).sessions, 0, "once");
    ok(ramet_session_restore(T.call, "s", false, &s));
    cr_assert_str_eq(ids("s"), "a b c d");
    cr_assert_eq(run((ramet_retention_run_in){0}).sessions, 0, "a restored one has just changed");
    tick(2 * DAY);
    say("f", "y");
    cr_assert_eq(run((ramet_retention_run_in){0}).sessions, 1);
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(gone.sessions, 1);
    cr_assert_eq(gone.entries, 2, "c and d: the fork has a and b");
    cr_assert_str_eq(ids("f"), "a b x y");
    ok(ramet_removals(T.call, 0, NULL, &log, &n, &next));
    cr_assert_eq(n, 2, "the log survives gc");
    cr_assert_str_eq(log[0].session, "s");
    cr_assert_str_eq(log[0].tree_id, get("f")->tree_id);
    cr_assert_str_eq(log[0].rule, "old");
    cr_assert_eq(log[0].entries, 4);
    cr_assert_null(log[0].who);
    cr_assert_str_eq(log[1].who, "root");
    cr_assert_lt(log[1].at, log[0].at);
    ramet_fsck_out checked;
    ok(ramet_fsck(T.call, NULL, NULL, &checked));
    cr_assert_eq(checked.n_all, 0);
}

Test(retention, each_condition)
{
    ramet_session *s;
    make("plain");
    make("tagged");
    tag("tagged", "scratch");
    ok(ramet_session_create(
        T.call, &(ramet_session_in){.id = "brief", .owner = "ann", .ephemeral_us = 100 * DAY}, &s));
    ok(ramet_session_create(
        T.call, &(ramet_session_in){.id = "bot", .owner = "ann", .agent = {.name = "echo"}}, &s));
    make("put-away");
    ok(ramet_archive(T.call, "put-away", true, &s));
    ok(ramet_session_create(
        T.call, &(ramet_session_in){.id = "mine", .owner = "ann", .visibility = RAMET_PRIVATE},
        &s));
    tick(10 * DAY);
    say("plain", "a");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .age_us = DAY}),
                     "put-away bot brief tagged");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .age_us = DAY, .private_too = true}),
                     "mine put-away bot brief tagged");
    cr_assert_str_eq(
        would_take(&(ramet_rule){.name = "r", .age_us = DAY, .since = RAMET_SINCE_CREATED}),
        "put-away bot brief tagged plain");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .age_us = 20 * DAY}), "");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .tag = " Scratch "}), "tagged");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .agent = "echo"}), "bot");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .ephemeral = RAMET_ONLY}), "brief");
    cr_assert_str_eq(
        would_take(&(ramet_rule){.name = "r", .age_us = DAY, .ephemeral = RAMET_EXCEPT}),
        "put-away bot tagged");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .archived = RAMET_ONLY}), "put-away");
    cr_assert_str_eq(
        would_take(&(ramet_rule){.name = "r", .age_us = DAY, .archived = RAMET_EXCEPT}),
        "bot brief tagged");
    cr_assert_str_eq(
        would_take(&(ramet_rule){.name = "r", .age_us = DAY, .since = RAMET_SINCE_ARCHIVED}),
        "put-away");
    cr_assert_str_eq(would_take(&(ramet_rule){.name = "r", .agent = "echo", .tag = "scratch"}), "",
                     "all that a rule names must hold");
}

Test(retention, the_first_rule_that_matches)
{
    ramet_rule rules[] = {{.name = "never", .agent = "nobody"},
                          {.name = "tag", .tag = "x"},
                          {.name = "age", .age_us = DAY}};
    make("a");
    tag("a", "x");
    make("b");
    tick(2 * DAY);
    ok(rules_set(rules, 3, false));
    ramet_retention_out out = run((ramet_retention_run_in){.dry_run = true});
    cr_assert_eq(out.n, 2);
    cr_assert_str_eq(out.removals[0].rule, "age");
    cr_assert_str_eq(out.removals[1].rule, "tag");
    const ramet_explanation *e = explain("a");
    cr_assert(e->goes);
    cr_assert_str_eq(e->rule, "tag");
    cr_assert_null(e->kept);
    cr_assert_eq(e->n, 3);
    cr_assert_not(e->rules[0].matches);
    cr_assert_str_eq(e->rules[0].why, "its agent is none, not nobody");
    cr_assert(e->rules[1].matches);
    e = explain("b");
    cr_assert_str_eq(e->rules[1].why, "it does not have the tag x");
}

Test(retention, pins_holds_and_running_turns_stay)
{
    ramet_rule rule = {.name = "old", .age_us = DAY};
    make("pinned");
    tag("pinned", "pinned");
    make("held");
    make("tree");
    make("busy");
    make("free");
    make("template");
    say("template", "a");
    ramet_template *made;
    ok(ramet_template_add(T.call, &(ramet_template_in){.session = "template", .name = "t"}, &made));
    ramet_turn *t = turn_start("busy", &(ramet_turn_in){MESSAGE("m")});
    ok(ramet_hold_set(T.call, "held", &(ramet_hold_in){0}, NULL));
    ok(ramet_hold_set(T.call, "tree", &(ramet_hold_in){.tree = true}, NULL));
    tick(2 * DAY);
    cr_assert_str_eq(would_take(&rule), "free");
    cr_assert_str_eq(explain("pinned")->kept, "it is pinned");
    cr_assert_str_eq(explain("held")->kept, "it is on hold");
    cr_assert_str_eq(explain("tree")->kept, "its tree is on hold");
    cr_assert_str_eq(explain("busy")->kept, "a turn is running in it");
    cr_assert_str_eq(explain("template")->kept, "chats are made from it: it is a template");
    cr_assert_eq(run((ramet_retention_run_in){0}).sessions, 1);
    turn_stop(t->id, RAMET_TURN_DONE);
    cr_assert(explain("busy")->goes, "the turn has ended");
    cr_assert(there("pinned") && there("held") && there("tree") && there("busy"));
    refused(RAMET_INVALID, "tag", rules_set(&(ramet_rule){.name = "r", .tag = "Pinned"}, 1, false));
}

Test(retention, explain_says_what_other_sessions_need)
{
    char list[512] = "";
    ramet_merge_out merged;
    ramet_delete_out deleted;
    for (int i = 1; i <= 50; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%se%d", i > 1 ? " " : "", i);
    make("s");
    say("s", list);
    fork_at("s", "e40", "x");
    fork_at("s", "e10", "y");
    say("y", "z");
    const ramet_explanation *e = explain("s");
    cr_assert_str_eq(e->kept, "no rule matches it");
    cr_assert_eq(e->entries, 50);
    cr_assert_eq(e->freed, 10);
    cr_assert_eq(e->n_needed, 2);
    cr_assert_str_eq(e->needed[0].session, "x");
    cr_assert_eq(e->needed[0].first, 1);
    cr_assert_eq(e->needed[0].last, 40);
    cr_assert_str_eq(e->needed[1].session, "y");
    cr_assert_eq(e->needed[1].last, 10);
    /* A deleted fork needs nothing, unless it is on hold. */
    ok(ramet_session_delete(T.call, "x", false, false, &deleted));
    cr_assert_eq(explain("s")->n_needed, 1);
    cr_assert_eq(explain("s")->freed, 40);
    ok(ramet_hold_set(T.call, "x", &(ramet_hold_in){0}, NULL));
    cr_assert_eq(explain("s")->n_needed, 2);
    cr_assert_eq(explain("s")->freed, 10);
    /* A fast-forward shares the entries of its source. */
    ok(ramet_merge(T.call, "s",
                   &(ramet_merge_in){.mode = RAMET_PICK,
                                     .from = "y",
                                     .picks = &(ramet_merge_pick){.session = "y", .entry_id = "z"},
                                     .n_picks = 1},
                   &merged));
    fork_at("y", NULL, "ahead");
    say("ahead", "w");
    ok(ramet_merge(T.call, "y", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "ahead"},
                   &merged));
    e = explain("ahead");
    cr_assert_eq(e->n_needed, 1);
    cr_assert_str_eq(e->needed[0].session, "y");
    cr_assert_eq(e->freed, 0);
}

Test(retention, explain_hides_what_the_caller_may_not_see)
{
    ramet_explanation *e;
    ramet_session *s;
    ramet_call *ann = as("ann"), *bob = as("bob"), *eve = as("eve");
    make("s");
    say("s", "a b");
    join("s", "bob", RAMET_WRITER);
    ok_for(bob, ramet_fork(bob, "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &s,
                           NULL));
    ok_for(ann, ramet_retention_explain(ann, "s", &e));
    cr_assert_eq(e->n_needed, 1);
    cr_assert_null(e->needed[0].session);
    refused_for(bob, RAMET_FORBIDDEN, "session", ramet_retention_explain(bob, "s", &e));
    refused_for(eve, RAMET_HIDDEN, "session", ramet_retention_explain(eve, "s", &e));
    ok_for(bob, ramet_retention_explain(bob, "p", &e));
    cr_assert_eq(e->entries, 0);
}

Test(retention, only_for_the_program)
{
    ramet_retention *r;
    ramet_retention_out out;
    ramet_removal *log;
    ramet_hold *holds;
    const char *next;
    size_t n;
    ramet_call *ann = as("ann");
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_retention_get(ann, &r));
    refused_for(ann, RAMET_FORBIDDEN, NULL,
                ramet_retention_set(ann, &(ramet_retention_in){0}, NULL));
    refused_for(
        ann, RAMET_FORBIDDEN, NULL,
        ramet_retention_run(ann, &(ramet_retention_run_in){.dry_run = true}, NULL, NULL, &out));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_removals(ann, 0, NULL, &log, &n, &next));
    refused_for(ann, RAMET_FORBIDDEN, NULL, ramet_holds(ann, NULL, &holds, &n));
}

Test(retention, bad_rules_change_nothing)
{
    ramet_retention *r;
    static ramet_rule many[RAMET_MAX_RULES + 1];
    static char names[RAMET_MAX_RULES + 1][16];
    char long_name[80];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    ramet_rule good = {.name = "good", .age_us = DAY};
    ramet_rule twice[] = {good, good};
    ok(rules_set(&good, 1, false));
    refused(RAMET_INVALID, "name", rules_set(&(ramet_rule){.age_us = DAY}, 1, false));
    refused(RAMET_TOO_LARGE, "name",
            rules_set(&(ramet_rule){.name = long_name, .age_us = DAY}, 1, false));
    refused(RAMET_INVALID, "older_than_seconds",
            rules_set(&(ramet_rule){.name = "r", .age_us = -1}, 1, false));
    refused(RAMET_INVALID, "older_than_seconds", rules_set(&(ramet_rule){.name = "all"}, 1, false));
    refused(RAMET_INVALID, "older_than_seconds",
            rules_set(&(ramet_rule){.name = "all", .ephemeral = RAMET_EXCEPT}, 1, false));
    refused(RAMET_INVALID, "archived",
            rules_set(&(ramet_rule){.name = "r",
                                    .age_us = DAY,
                                    .since = RAMET_SINCE_ARCHIVED,
                                    .archived = RAMET_EXCEPT},
                      1, false));
    refused(RAMET_BAD_TAG, "tags", rules_set(&(ramet_rule){.name = "r", .tag = ""}, 1, false));
    refused(RAMET_INVALID, "name", rules_set(twice, 2, false));
    for (size_t i = 0; i <= RAMET_MAX_RULES; i++) {
        snprintf(names[i], sizeof names[i], "r%zu", i);
        many[i] = (ramet_rule){.name = names[i], .age_us = DAY};
    }
    refused(RAMET_TOO_LARGE, "rules", rules_set(many, RAMET_MAX_RULES + 1, false));
    ok(ramet_retention_get(T.call, &r));
    cr_assert_eq(r->n, 1);
    cr_assert_str_eq(r->rules[0].name, "good");
    ok(rules_set(many, RAMET_MAX_RULES, false));
    ok(ramet_retention_get(T.call, &r));
    cr_assert_eq(r->n, RAMET_MAX_RULES);
    cr_assert_str_eq(r->rules[99].name, "r99", "in the order given");
}

Test(retention, many_sessions_go_in_pages)
{
    ramet_removal *log;
    const char *next, *cursor = NULL;
    size_t n, seen = 0;
    ramet_rule rule = {.name = "old", .age_us = DAY};
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        make(id);
    }
    make("last");
    tag("last", "pinned");
    tick(2 * DAY);
    would_take(&rule);
    ramet_retention_out out = run((ramet_retention_run_in){0});
    cr_assert_eq(out.looked_at, 301);
    cr_assert_eq(out.sessions, 300);
    cr_assert_eq(out.n, 300);
    cr_assert(there("last"));
    do {
        ok(ramet_removals(T.call, 77, cursor, &log, &n, &next));
        seen += n;
        cursor = next;
    } while (cursor);
    cr_assert_eq(seen, 300);
    refused(RAMET_BAD_CURSOR, "cursor", ramet_removals(T.call, 0, "x", &log, &n, &next));
    refused(RAMET_INVALID, "limit", ramet_removals(T.call, 1001, NULL, &log, &n, &next));
}

static void *run_one(void *arg)
{
    ramet_retention_out *out = arg;
    ramet_call *c = ramet_call_new(T.store, NULL, NULL);
    ramet_status st = ramet_retention_run(c, &(ramet_retention_run_in){0}, NULL, NULL, out);
    cr_expect_eq(st, RAMET_OK, "%s", ramet_call_error(c)->message);
    ramet_call_free(c);
    return NULL;
}

Test(retention, several_runs_at_once_remove_each_session_once)
{
    enum { RUNS = 4 };
    pthread_t threads[RUNS];
    ramet_retention_out out[RUNS];
    ramet_rule rule = {.name = "old", .age_us = DAY};
    int64_t sum = 0;
    for (int i = 0; i < 120; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        make(id);
    }
    tick(2 * DAY);
    would_take(&rule);
    for (int i = 0; i < RUNS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, run_one, &out[i]), 0);
    for (int i = 0; i < RUNS; i++) {
        pthread_join(threads[i], NULL);
        sum += out[i].sessions;
    }
    cr_assert_eq(sum, 120);
    cr_assert_eq(sql_number("SELECT count(*) FROM removed"), 120);
}

static bool change_rules(void *arg, const char *what, int64_t done, int64_t total)
{
    ramet_call *c = arg;
    ramet_rule other = {.name = "other", .age_us = DAY};
    cr_assert_str_eq(what, "retention");
    cr_assert_leq(done, total);
    return ramet_retention_set(c, &(ramet_retention_in){.rules = &other, .n = 1}, NULL) == RAMET_OK;
}

static bool refuse(void *arg, const char *what, int64_t done, int64_t total)
{
    (void)arg, (void)what, (void)done, (void)total;
    return false;
}

Test(retention, a_run_ends_when_the_rules_change)
{
    ramet_retention_out out;
    ramet_rule rule = {.name = "old", .age_us = DAY};
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "s%d", i);
        make(id);
    }
    tick(2 * DAY);
    would_take(&rule);
    ramet_call *other = ramet_call_new(T.store, NULL, NULL);
    ok(ramet_retention_run(T.call, &(ramet_retention_run_in){0}, change_rules, other, &out));
    cr_assert_eq(out.sessions, 256, "the first page, not the second");
    ramet_call_free(other);
    would_take(&rule);
    refused(RAMET_STOP, NULL,
            ramet_retention_run(T.call, &(ramet_retention_run_in){0}, refuse, NULL, &out));
}

Test(retention, a_share_link_works_again_after_restoring)
{
    ramet_share *share;
    ramet_session *s;
    ramet_call *guest = as("guest");
    ramet_rule rule = {.name = "old", .age_us = DAY};
    make("s");
    say("s", "a");
    ok(ramet_share_add(T.call, "s", false, 0, &share));
    ok_for(guest, ramet_call_share(guest, share->token, NULL));
    tick(2 * DAY);
    would_take(&rule);
    cr_assert_eq(run((ramet_retention_run_in){0}).sessions, 1);
    cr_assert_neq(ramet_session_get(guest, "s", &s), RAMET_OK);
    ok(ramet_session_restore(T.call, "s", false, &s));
    ok_for(guest, ramet_session_get(guest, "s", &s));
}

Test(retention, a_pruned_branch_of_a_fork_needs_nothing)
{
    ramet_prune_out out;
    ramet_merge_out merged;
    make("s");
    say("s", "a b c d");
    fork_at("s", "b", "f");
    ok(ramet_merge(T.call, "f", &(ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = "s"},
                   &merged));
    int64_t further = get("f")->head.branch;
    rewind_to("f", "b");
    say("f", "y");
    cr_assert_eq(explain("s")->needed[0].last, 4);
    cr_assert_eq(explain("s")->freed, 0);
    ok(ramet_prune(T.call, "f", &(ramet_prune_in){.branch = further}, &out));
    const ramet_explanation *e = explain("s");
    cr_assert_eq(e->needed[0].last, 2);
    cr_assert_eq(e->n_needed, 1);
}
