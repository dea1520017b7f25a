/* SPDX-License-Identifier: Apache-2.0
 *
 * suggest.c: suggestions on the labelled conversations of tests/suggest/sample.json: how many
 * places are found, how many found are right. docs/suggestions.md must have the same numbers.
 */
#include "erase.h"
#include "help.h"

#include "base/buf.h"
#include "base/json.h"
#include "ramet/suggest.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(suggest, .init = scratch_open, .fini = scratch_close);

#define SAMPLE "tests/suggest/sample.json"
#define PAGE "docs/suggestions.md"

static char *file_read(arena *a, const char *path)
{
    FILE *f = fopen(path, "rb");
    cr_assert(f, "%s cannot be read: tests run in the folder of the project", path);
    char *text = arena_alloc(a, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    text[n] = 0;
    fclose(f);
    return text;
}

typedef struct tally {
    int labelled, found, right;
} tally;

/* One entry of the sample as parts of an entry; the n-th call and result have the same id. */
static ramet_entry_in entry_of(arena *a, const json_doc *d, const json_node *v, int *calls,
                               size_t number)
{
    const char *role = json_text(a, d, json_get(d, v, "role"));
    const json_node *call = json_get(d, v, "call"), *result = json_get(d, v, "result");
    ramet_entry_in in = {.id = arena_printf(a, "e%zu", number),
                         .role = (ramet_role)ramet_role_parse(role),
                         .text = json_text(a, d, json_get(d, v, "text"))};
    if (call)
        in.parts = arena_printf(
            a, "[{\"type\":\"tool_call\",\"id\":\"c%d\",\"name\":%s,\"input\":%s}]", ++*calls,
            json_raw(a, d, json_get(d, call, "name")), json_raw(a, d, json_get(d, call, "input")));
    if (result)
        in.parts = arena_printf(a, "[{\"type\":\"tool_result\",\"id\":\"c%d\",\"output\":%s}]",
                                *calls, json_raw(a, d, result));
    return in;
}

static const char *found_at(const ramet_suggestions *v, const char *id)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->items[i].entry_id, id) == 0)
            return ramet_suggestion_name(v->items[i].kind);
    return NULL;
}

/* Tallies by kind; the one behind the last kind is for tags. */
static void judge(arena *a, const json_doc *d, const json_node *talk, tally *all)
{
    tally *tags = &all[RAMET_SUGGEST_TOPIC + 1];
    const char *name = json_text(a, d, json_get(d, talk, "name"));
    const json_node *entries = json_get(d, talk, "entries"), *wanted = json_get(d, talk, "tags");
    ramet_suggestions out;
    int calls = 0;
    size_t n = 0;
    make(name);
    for (const json_node *v = json_first(d, entries); v; v = json_next(d, entries, v)) {
        ramet_append_out added;
        ramet_entry_in in = entry_of(a, d, v, &calls, n++);
        ok(ramet_append(T.call, name, &(ramet_append_in){.entries = &in, .n = 1}, &added));
    }
    ok(ramet_suggest(T.call, name, 0, &out));
    n = 0;
    for (const json_node *v = json_first(d, entries); v; v = json_next(d, entries, v), n++) {
        const char *label = json_text(a, d, json_get(d, v, "label"));
        const char *found = found_at(&out, arena_printf(a, "e%zu", n));
        tally *want = &all[ramet_suggestion_parse(label)],
              *got = &all[ramet_suggestion_parse(found)];
        want->labelled += label != NULL;
        got->found += found != NULL;
        want->right += label && found && strcmp(label, found) == 0;
        if ((label || found) && !(label && found && strcmp(label, found) == 0))
            printf("# %s e%zu: labelled %s, found %s\n", name, n, label ? label : "-",
                   found ? found : "-");
    }
    for (size_t i = 0; i < out.n_tags; i++, tags->found++)
        for (const json_node *v = json_first(d, wanted); v; v = json_next(d, wanted, v))
            tags->right += strcmp(json_text(a, d, v), out.tags[i]) == 0;
    tags->labelled += (int)wanted->count;
}

Test(suggest, the_sample_is_judged_as_the_page_says)
{
    arena *a = arena_new();
    const char *sample = file_read(a, SAMPLE), *page = file_read(a, PAGE);
    tally all[2][6] = {{{0}}};
    json_doc d;
    cr_assert(json_parse(a, sample, strlen(sample), 128, &d, NULL));
    for (const json_node *t = json_first(&d, d.nodes); t; t = json_next(&d, d.nodes, t))
        judge(a, &d, t, all[json_is(json_get(&d, t, "held_out"), JSON_TRUE)]);
    for (int i = 0; i < 10; i++) {
        const tally *t = &all[i / 5][i % 5 + 1];
        const char *name = ramet_suggestion_name((ramet_suggestion_kind)(i % 5 + 1));
        const char *row =
            arena_printf(a, "| %s%s | %d | %d | %d | %.2f | %.2f |", name ? name : "tags",
                         i >= 5 ? ", held out" : "", t->labelled, t->found, t->right,
                         (double)t->right / t->found, (double)t->right / t->labelled);
        cr_expect(strstr(page, row), "%s does not have the row %s", PAGE, row);
    }
    arena_free(a);
}

Test(suggest, the_same_entries_give_the_same)
{
    ramet_suggestions one, two;
    make("s");
    ask("s", "q1", "How do I bake bread with rye flour?");
    answer("s", "a1", "Mix rye flour, water and sourdough.");
    ask("s", "q2", "No, without sourdough.");
    ok(ramet_suggest(T.call, "s", 0, &one));
    ok(ramet_suggest(T.call, "s", 0, &two));
    cr_assert_eq(one.n, 1);
    cr_assert_str_eq(one.items[0].entry_id, "q2");
    cr_assert_eq(one.items[0].kind, RAMET_SUGGEST_CORRECTION);
    cr_assert_str_eq(one.items[0].why, two.items[0].why);
    cr_assert_eq(one.n_tags, two.n_tags);
    ramet_tags tags;
    const char *have[] = {"rye"};
    ok(ramet_tags_add(T.call, "s", have, 1, &tags));
    ok(ramet_suggest(T.call, "s", 0, &two));
    for (size_t i = 0; i < two.n_tags; i++)
        cr_assert_str_neq(two.tags[i], "rye", "it is there already");
}

Test(suggest, an_erased_entry_says_nothing)
{
    ramet_suggestions out;
    make("s");
    ask("s", "q1", "How do I bake bread with rye flour?");
    answer("s", "a1", "Mix rye flour, water and sourdough.");
    ask("s", "q2", "No, without sourdough.");
    answer("s", "a2", "Then with yeast.");
    ask("s", "q3", "My key is swordfish.");
    answer("s", "a3", "Your key is swordfish.");
    for (const char *const *id = (const char *const[]){"q2", "q3", "a3", NULL}; *id; id++)
        erase_it("s", *id);
    ok(ramet_suggest(T.call, "s", 0, &out));
    cr_assert_eq(out.n, 0);
    for (size_t i = 0; i < out.n_tags; i++)
        cr_assert_str_neq(out.tags[i], "erased");
    ask("s", "q4", "No, without yeast.");
    ok(ramet_suggest(T.call, "s", 0, &out));
    cr_assert_eq(out.n, 1, "an erased answer is an answer");
    cr_assert_str_eq(out.items[0].entry_id, "q4");
}

Test(suggest, whatever_is_read)
{
    ramet_suggestions out;
    make("s");
    ok(ramet_suggest(T.call, "s", 0, &out));
    cr_assert_eq(out.n + out.n_tags, 0);
    say("s", "a b c");
    int64_t b0 = get("s")->head.branch;
    rewind_to("s", "a");
    ok(ramet_suggest(T.call, "s", b0, &out));
    refused(RAMET_BRANCH_NOT_FOUND, "branch_id", ramet_suggest(T.call, "s", 999, &out));
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_suggest(T.call, "none", 0, &out));
    ramet_call *eve = as("eve");
    refused_for(eve, RAMET_HIDDEN, NULL, ramet_suggest(eve, "s", 0, &out));
    cr_assert_eq(ramet_suggestion_parse("retry"), RAMET_SUGGEST_RETRY);
    cr_assert_eq(ramet_suggestion_parse("other"), 0);
}
