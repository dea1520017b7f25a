/* SPDX-License-Identifier: Apache-2.0
 *
 * argument.c: whatever the numbers and words are, a call answers with an error, changes nothing
 * and keeps nothing that belongs to the caller.
 */
#include "help.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static void set_up(void)
{
    scratch_open();
    make("s");
    say("s", "a b c");
    rewind_to("s", "b");
    fork_at("s", NULL, "f");
}

TestSuite(argument, .init = set_up, .fini = scratch_close);

static const int64_t odd_numbers[] = {-1,      INT64_MIN,       INT64_MAX,       INT32_MAX,
                                      1 << 24, (1LL << 39) - 1, (1LL << 39) + 1, 1LL << 62};
#define ODD (sizeof odd_numbers / sizeof *odd_numbers)

Test(argument, branches_that_cannot_be)
{
    const char *before = mark();
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    for (size_t i = 0; i < ODD; i++) {
        int64_t b = odd_numbers[i];
        ramet_page page;
        ramet_entry *e;
        ramet_append_out out;
        ramet_session *s;
        ramet_version *v;
        ramet_stream *st = NULL;
        ramet_compare_out cmp;
        ramet_verdict *verdict;
        size_t n;
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
                ramet_read(T.call, "s", &(ramet_read_in){.branch = b}, &page));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_entry_get(T.call, "s", b, "a", &e));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
                ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1, .branch = b},
                             &out));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_switch(T.call, "s", b, NULL, &s));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_versions(T.call, "s", b, "a", &v, &n));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
                ramet_fork(T.call, "s", &(ramet_fork_in){.branch = b}, &s, NULL));
        refused(RAMET_BRANCH_NOT_FOUND, "branch_id",
                ramet_stream_open(T.call, "s", &(ramet_read_in){.branch = b}, &st));
        refused(RAMET_BRANCH_NOT_FOUND, NULL,
                ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"s", b}}, 2, 0, &cmp));
        refused(
            RAMET_BRANCH_NOT_FOUND, NULL,
            ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"s", b}}, 2, 0, NULL, &verdict));
    }
    cr_assert_str_eq(mark(), before);
}

Test(argument, limits_that_cannot_be)
{
    static const int limits[] = {-1, INT_MIN, INT_MAX, 1001};
    for (size_t i = 0; i < 4; i++) {
        int l = limits[i];
        ramet_page page;
        ramet_move *m;
        ramet_session_list list;
        ramet_compare_out cmp;
        ramet_verdict *v;
        ramet_hits hits;
        size_t n;
        bool more;
        int64_t total;
        refused(RAMET_INVALID, "limit",
                ramet_read(T.call, "s", &(ramet_read_in){.limit = l}, &page));
        refused(RAMET_INVALID, "limit",
                ramet_record(T.call, "s", RAMET_LOG_MAIN, 0, l, &page, &total));
        refused(RAMET_INVALID, "limit", ramet_head_log(T.call, "s", 0, l, &m, &n, &more));
        refused(RAMET_INVALID, "limit",
                ramet_session_find(T.call, &(ramet_list_in){.limit = l}, &list));
        refused(RAMET_INVALID, "limit",
                ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, l, &cmp));
        refused(RAMET_INVALID, "limit", ramet_verdicts(T.call, NULL, 0, l, &v, &n, &more));
        refused(RAMET_INVALID, "limit",
                ramet_search(T.call, &(ramet_search_in){.query = "text", .limit = l}, &hits));
    }
}

Test(argument, positions_and_numbers_out_of_range)
{
    for (size_t i = 0; i < ODD; i++) {
        ramet_page page;
        ramet_move *m;
        ramet_verdict *v;
        ramet_hits hits;
        size_t n;
        bool more;
        int64_t total;
        int64_t at = odd_numbers[i];
        ramet_status st =
            ramet_read(T.call, "s", &(ramet_read_in){.by_position = true, .position = at}, &page);
        cr_assert_eq(st, at < 0 ? RAMET_INVALID : RAMET_OK);
        st = ramet_record(T.call, "s", RAMET_LOG_MAIN, at, 0, &page, &total);
        cr_assert_eq(st, at < 0 ? RAMET_INVALID : RAMET_OK);
        st = ramet_head_log(T.call, "s", at, 0, &m, &n, &more);
        cr_assert(st == RAMET_OK || st == RAMET_INVALID);
        st = ramet_verdicts(T.call, NULL, at, 0, &v, &n, &more);
        cr_assert(st == RAMET_OK || st == RAMET_INVALID);
        st = ramet_search(T.call, &(ramet_search_in){.query = "text", .since = at, .until = at},
                          &hits);
        cr_assert(st == RAMET_OK || st == RAMET_INVALID);
    }
}

Test(argument, words_that_are_none)
{
    const char *before = mark();
    ramet_session *s;
    ramet_page page;
    ramet_append_out out;
    ramet_hits hits;
    ramet_session_list list;
    int64_t total;
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    ramet_visibility bad = (ramet_visibility)7;
    refused(RAMET_INVALID, "visibility",
            ramet_session_create(T.call, &(ramet_session_in){.visibility = bad}, &s));
    refused(RAMET_INVALID, "visibility",
            ramet_fork(T.call, "s", &(ramet_fork_in){.visibility = bad}, &s, NULL));
    refused(RAMET_INVALID, "visibility",
            ramet_session_update(T.call, "s", &(ramet_session_patch){.visibility = &bad}, &s));
    refused(RAMET_INVALID, "type",
            ramet_fork(T.call, "s", &(ramet_fork_in){.type = (ramet_fork_type)9}, &s, NULL));
    refused(RAMET_INVALID, NULL,
            ramet_fork(T.call, "s", &(ramet_fork_in){.by_kind = (ramet_actor)9}, &s, NULL));
    refused(RAMET_INVALID, "cut",
            ramet_fork(T.call, "s", &(ramet_fork_in){.cut = (ramet_cut_policy)-1}, &s, NULL));
    refused(RAMET_INVALID, "at.side",
            ramet_fork(T.call, "s", &(ramet_fork_in){.at = {"a", (ramet_side)3}}, &s, NULL));
    refused(RAMET_INVALID, "log",
            ramet_read(T.call, "s", &(ramet_read_in){.log = (ramet_log)2}, &page));
    refused(RAMET_INVALID, "log", ramet_record(T.call, "s", (ramet_log)2, 0, 0, &page, &total));
    refused(RAMET_INVALID, "log",
            ramet_append(T.call, "s",
                         &(ramet_append_in){.entries = &in, .n = 1, .log = (ramet_log)-1}, &out));
    refused(RAMET_INVALID, "role",
            ramet_search(T.call, &(ramet_search_in){.query = "x", .role = (ramet_role)77}, &hits));
    refused(RAMET_INVALID, "archived",
            ramet_session_find(T.call, &(ramet_list_in){.archived = (ramet_archived)9}, &list));
    cr_assert_str_eq(mark(), before);
}

Test(argument, times_that_overflow)
{
    const char *before = mark();
    ramet_session *s;
    static const int64_t spans[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX - T0};
    for (size_t i = 0; i < 4; i++) {
        refused(RAMET_INVALID, NULL,
                ramet_session_create(T.call, &(ramet_session_in){.ephemeral_us = spans[i]}, &s));
        refused(RAMET_INVALID, NULL,
                ramet_fork(T.call, "s", &(ramet_fork_in){.ephemeral_us = spans[i]}, &s, NULL));
    }
    cr_assert_str_eq(mark(), before);
}

Test(argument, usage_that_overflows)
{
    int64_t most = INT64_MAX;
    ramet_append_out out;
    while (most > 0) {
        ramet_usage u = {most, most, most, most, "EUR"};
        ramet_entry_in in = {.role = RAMET_ASSISTANT, .text = "x", .usage = &u};
        ramet_status st =
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out);
        if (st == RAMET_OK)
            break;
        cr_assert_eq(st, RAMET_INVALID);
        most /= 10;
    }
    ramet_usage u = {most, most, most, most, "EUR"};
    ramet_entry_in in[1000];
    for (int i = 0; i < 1000; i++)
        in[i] = (ramet_entry_in){.role = RAMET_ASSISTANT, .usage = &u};
    ramet_usage_out last = {0}, now;
    for (int round = 0; round < 5; round++) {
        ramet_status st =
            ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 1000}, &out);
        if (st != RAMET_OK)
            return;
        ok(ramet_usage_get(T.call, "s", &now));
        cr_assert_gt(now.own.input, last.own.input, "a sum never turns over");
        cr_assert_gt(now.path.input, 0);
        last = now;
    }
}

Test(argument, nothing_given)
{
    ramet_session *s;
    ramet_page page;
    ramet_entry *e;
    ramet_append_out out;
    ramet_version *v;
    ramet_delete_out gone;
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    size_t n;
    const char *json, *before = mark();
    cr_assert_neq(ramet_session_get(T.call, NULL, &s), RAMET_OK);
    cr_assert_neq(ramet_read(T.call, NULL, &(ramet_read_in){0}, &page), RAMET_OK);
    cr_assert_neq(ramet_entry_get(T.call, "s", 0, NULL, &e), RAMET_OK);
    cr_assert_neq(ramet_append(T.call, NULL, &(ramet_append_in){.entries = &in, .n = 1}, &out),
                  RAMET_OK);
    cr_assert_neq(ramet_edit(T.call, "s", NULL, &in, NULL, &out), RAMET_OK);
    cr_assert_neq(ramet_regenerate(T.call, "s", NULL, &in, 1, NULL, &out), RAMET_OK);
    cr_assert_neq(ramet_versions(T.call, "s", 0, NULL, &v, &n), RAMET_OK);
    cr_assert_neq(ramet_session_delete(T.call, NULL, false, false, &gone), RAMET_OK);
    cr_assert_neq(ramet_member_set(T.call, "s", NULL, RAMET_READER), RAMET_OK);
    cr_assert_neq(ramet_member_remove(T.call, "s", NULL), RAMET_OK);
    cr_assert_neq(ramet_state(T.call, NULL, NULL, &json), RAMET_OK);
    cr_assert_neq(ramet_tree(T.call, NULL, false, &s, &n), RAMET_OK);
    cr_assert_str_eq(mark(), before);
}

static char *heap(const char *s)
{
    return strdup(s);
}

/* Overwrites and frees, so that an answer that points there shows. */
static void ruin(char *s)
{
    memset(s, '#', strlen(s));
    free(s);
}

Test(argument, an_appended_entry_keeps_nothing_of_the_callers)
{
    char *given[] = {heap("new"),       heap("hello"),     heap("a2a"),
                     heap("{\"x\":1}"), heap("turn"),      heap("side"),
                     heap("author"),    heap("{\"k\":1}"), heap("EUR")};
    ramet_usage u = {.cost = 1, .currency = given[8]};
    ramet_entry_in in = {.id = given[0],
                         .role = RAMET_USER,
                         .text = given[1],
                         .format = given[2],
                         .body = given[3],
                         .turn_id = given[4],
                         .channel = given[5],
                         .author = given[6],
                         .state_delta = given[7],
                         .usage = &u};
    ramet_append_out out;
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    for (size_t i = 0; i < 9; i++)
        ruin(given[i]);
    memset(&u, 0x55, sizeof u);
    const ramet_entry *e = &out.entries[0];
    cr_assert_str_eq(e->id, "new");
    cr_assert_str_eq(e->text, "hello");
    cr_assert_str_eq(e->format, "a2a");
    cr_assert_str_eq(e->body, "{\"x\":1}");
    cr_assert_str_eq(e->turn_id, "turn");
    cr_assert_str_eq(e->channel, "side");
    cr_assert_str_eq(e->author, "author");
    cr_assert_str_eq(e->state_delta, "{\"k\":1}");
    cr_assert_str_eq(e->usage->currency, "EUR");
    cr_assert_eq(e->usage->cost, 1);
    cr_assert_str_eq(out.head.entry_id, "new");
}

Test(argument, a_session_keeps_nothing_of_the_callers)
{
    for (int fork = 0; fork < 2; fork++) {
        char *id = heap(fork ? "g" : "n"), *title = heap("title"), *name = heap("agent"),
             *options = heap("{\"o\":1}"), *tag = heap("tag"), *meta = heap("{\"m\":1}"),
             *by = heap("by"), *reason = heap("reason"), *source = heap("s"), *at = heap("a");
        ramet_agent agent = {.name = name, .options = options};
        const char *tags[] = {tag};
        ramet_session *s = NULL;
        ramet_cut cut = {0};
        if (fork)
            ok(ramet_fork(T.call, source,
                          &(ramet_fork_in){.id = id,
                                           .title = title,
                                           .agent = &agent,
                                           .tags = tags,
                                           .n_tags = 1,
                                           .metadata = meta,
                                           .by_id = by,
                                           .reason = reason,
                                           .at = {at, RAMET_AFTER}},
                          &s, &cut));
        else
            ok(ramet_session_create(T.call,
                                    &(ramet_session_in){.id = id,
                                                        .title = title,
                                                        .agent = agent,
                                                        .tags = tags,
                                                        .n_tags = 1,
                                                        .metadata = meta,
                                                        .owner = by},
                                    &s));
        char *given[] = {id, title, name, options, tag, meta, by, reason, source, at};
        for (size_t i = 0; i < sizeof given / sizeof *given; i++)
            ruin(given[i]);
        cr_assert_str_eq(s->id, fork ? "g" : "n");
        cr_assert_str_eq(s->title, "title");
        cr_assert_str_eq(s->shown_title, "title");
        cr_assert_str_eq(s->agent.name, "agent");
        cr_assert_str_eq(s->agent.options, "{\"o\":1}");
        cr_assert_str_eq(s->tags[0], "tag");
        cr_assert_str_eq(s->metadata, "{\"m\":1}");
        if (!fork) {
            cr_assert_str_eq(s->owner, "by");
            continue;
        }
        cr_assert_str_eq(s->by_id, "by");
        cr_assert_str_eq(s->reason, "reason");
        cr_assert_str_eq(s->parent_id, "s");
        cr_assert_str_eq(s->fork_entry_id, "a");
        cr_assert_str_eq(cut.entry_id, "a");
        cr_assert_str_eq(s->cache_root, "s");
    }
}

Test(argument, other_answers_keep_nothing_of_the_callers)
{
    char *s = heap("s"), *f = heap("f"), *why = heap("why"), *tag = heap("tag"),
         *title = heap("title"), *name = heap("agent"), *into = heap("s");
    ramet_verdict *v = NULL;
    ok(ramet_verdict_add(T.call, (ramet_side_in[]){{s, 0}, {f, 0}}, 2, 0, why, &v));
    ramet_compare_out cmp;
    ok(ramet_compare(T.call, (ramet_side_in[]){{s, 0}, {f, 0}}, 2, 0, &cmp));
    ramet_tags tags;
    ok(ramet_tags_set(T.call, s, (const char *[]){tag}, 1, &tags));
    ramet_agent agent = {.name = name};
    ramet_session *u = NULL;
    ok(ramet_session_update(
        T.call, f, &(ramet_session_patch){.title = title, .agent = &agent, .merged_into = into},
        &u));
    ramet_delete_out gone;
    ok(ramet_session_delete(T.call, f, false, true, &gone));
    char *given[] = {s, f, why, tag, title, name, into};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        ruin(given[i]);
    cr_assert_str_eq(v->sides[0].session, "s");
    cr_assert_str_eq(v->sides[1].session, "f");
    cr_assert_str_eq(v->reason, "why");
    cr_assert_str_eq(cmp.sides[1].session, "f");
    cr_assert_str_eq(tags.items[0], "tag");
    cr_assert_str_eq(u->title, "title");
    cr_assert_str_eq(u->agent.name, "agent");
    cr_assert_str_eq(u->merged_into, "s");
    cr_assert_str_eq(gone.ids[0], "f");
}

Test(argument, a_call_keeps_who_asks)
{
    char *user = heap("ann"), *client = heap("app");
    ramet_call *c = ramet_call_new(T.store, user, client);
    ruin(user);
    ruin(client);
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = "x"};
    ok_for(c, ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_str_eq(out.entries[0].author, "ann");
    cr_assert_str_eq(out.entries[0].client, "app");
    ramet_call_reset(c);
    ok_for(c, ramet_append(c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_str_eq(out.entries[0].author, "ann");
    ramet_call_free(c);
}
