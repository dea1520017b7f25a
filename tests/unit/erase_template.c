/* SPDX-License-Identifier: Apache-2.0
 *
 * erase_template.c: values of placeholders, templates, names of branches and summaries, erased.
 */
#include "attach.h"
#include "erase.h"

#include "ramet/branches.h"
#include "ramet/merge.h"
#include "ramet/templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(erase_template, .init = scratch_open, .fini = scratch_close);

#define NAME "Zebulon Quirk"

/* ---- steps and looks */

/* t has the entries a ("Dear {{who}}") and b ("about {{what}}"), and is a template. */
static const char *stage(void)
{
    static const char *const names[] = {"who", "what"};
    ramet_template *t;
    make("t");
    put("t", &(ramet_entry_in){.id = "a", .role = RAMET_USER, .text = "Dear {{who}}"});
    put("t", &(ramet_entry_in){.id = "b", .role = RAMET_USER, .text = "about {{what}}"});
    ok(ramet_template_add(
        T.call,
        &(ramet_template_in){
            .session = "t", .name = "A letter", .placeholders = names, .n_placeholders = 2},
        &t));
    return t->id;
}

static void chat(const char *template, const char *id, const char *who, const char *what)
{
    ramet_session *s;
    const ramet_template_value values[] = {{"who", who}, {"what", what}};
    ok(ramet_template_chat(
        T.call, template,
        &(ramet_template_use){.values = values, .n_values = 2, .fork = {.id = id}}, &s));
}

static const char *text_of(const char *session, const char *id)
{
    ramet_entry *e;
    ok(ramet_entry_get(T.call, session, 0, id, &e));
    return e->text;
}

static const char *value_of(const char *session, const char *name)
{
    ramet_template_origin o;
    ok(ramet_template_values(T.call, session, &o));
    for (size_t i = 0; i < o.n_values; i++)
        if (strcmp(o.values[i].name, name) == 0)
            return o.values[i].text;
    cr_assert(false, "%s has no value of %s", session, name);
    return NULL;
}

static size_t n_templates(void)
{
    ramet_template *list;
    size_t n;
    const char *next;
    ok(ramet_templates(T.call, 0, NULL, &list, &n, &next));
    return n;
}

static void session_erase(const char *id)
{
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = id, .by = "root"}, &erase_receipt));
}

/* ---- values */

Test(erase_template, a_chat_loses_its_values_and_its_forks_their_copies)
{
    const char *t = stage();
    chat(t, "c", NAME, "a short");
    chat(t, "other", NAME, "a short");
    fork_at("c", NULL, "f");
    session_erase("c");
    cr_assert_str_eq(value_of("c", "who"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("c", "what"), "", "no longer than it was");
    cr_assert_str_eq(text_of("c", "a"), "Dear " RAMET_ERASED_TEXT);
    cr_assert_str_eq(text_of("f", "a"), "Dear " RAMET_ERASED_TEXT);
    /* The template, and what another chat shows, are their own. */
    cr_assert_str_eq(text_of("t", "a"), "Dear {{who}}");
    cr_assert_str_eq(text_of("other", "a"), "Dear " NAME);
    cr_assert_eq(n_templates(), 1);
    sound();
}

Test(erase_template, an_entry_takes_along_what_it_showed_in_the_chat_where_it_was_named)
{
    const char *t = stage();
    chat(t, "c", NAME, "the harvest");
    chat(t, "other", "Bertha Smith", "the harvest");
    erase_it("c", "a");
    cr_assert_str_eq(text_of("c", "a"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(text_of("other", "a"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("c", "who"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("c", "what"), "the harvest");
    cr_assert_str_eq(value_of("other", "who"), "Bertha Smith");
    cr_assert_str_eq(text_of("c", "b"), "about the harvest");
    sound();
}

/* A value of the first template names a placeholder of the second: what the chat shows there is the
 * value of the second one. */
Test(erase_template, an_entry_takes_along_what_it_showed_through_two_templates)
{
    static const char *const names[] = {"them", "unused"};
    const ramet_template_value values[] = {{"them", NAME}, {"unused", "the harvest"}};
    ramet_template *second;
    ramet_session *s;
    chat(stage(), "c", "{{them}}", "{{them}} and more");
    ok(ramet_template_add(
        T.call,
        &(ramet_template_in){
            .session = "c", .name = "Again", .placeholders = names, .n_placeholders = 2},
        &second));
    ok(ramet_template_chat(
        T.call, second->id,
        &(ramet_template_use){.values = values, .n_values = 2, .fork = {.id = "d"}}, &s));
    cr_assert_str_eq(text_of("d", "a"), "Dear " NAME);
    erase_it("d", "a");
    cr_assert_str_eq(value_of("d", "them"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("d", "unused"), "the harvest");
    cr_assert_str_eq(text_of("d", "b"), "about " RAMET_ERASED_TEXT " and more");
    cr_assert_not(erase_anywhere(NAME));
    sound();
}

/* The placeholders of the second template begin to count where the first entry ends. */
Test(erase_template, a_value_that_does_not_reach_the_entry_stays)
{
    static const char *const names[] = {"what"};
    const ramet_template_value values[] = {{"what", NAME}};
    ramet_template *t;
    ramet_session *s;
    stage();
    ok(ramet_template_add(T.call,
                          &(ramet_template_in){.session = "t",
                                               .entry_id = "b",
                                               .name = "Again",
                                               .placeholders = names,
                                               .n_placeholders = 1},
                          &t));
    ok(ramet_template_chat(
        T.call, t->id, &(ramet_template_use){.values = values, .n_values = 1, .fork = {.id = "c"}},
        &s));
    put("c", &(ramet_entry_in){.id = "own", .role = RAMET_USER, .text = "plain {{what}}"});
    cr_assert_str_eq(text_of("c", "own"), "plain {{what}}", "what is appended is not filled");
    erase_it("c", "own");
    cr_assert_str_eq(text_of("c", "b"), "about " NAME);
    sound();
}

Test(erase_template, a_value_that_shares_a_word_goes)
{
    const char *t = stage();
    chat(t, "c", NAME, "the " SECRET);
    ask("c", "said", "it is " SECRET);
    erase_it("c", "said");
    cr_assert_str_eq(value_of("c", "what"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("c", "who"), NAME);
    sound();
}

Test(erase_template, the_templates_of_an_erased_session_go)
{
    const char *t = stage();
    chat(t, "c", NAME, "the harvest");
    session_erase("t");
    cr_assert_eq(n_templates(), 0);
    cr_assert_str_eq(text_of("c", "a"), RAMET_ERASED_TEXT);
    cr_assert_str_eq(value_of("c", "who"), NAME, "it is another's");
    sound();
}

Test(erase_template, a_user_goes_with_the_values_and_the_name_on_a_template)
{
    chat(stage(), "c", NAME, "the harvest");
    char *user = strdup(get("c")->owner);
    ok(ramet_erase(T.call, &(ramet_erase_in){.user = user, .by = "root"}, &erase_receipt));
    cr_assert_str_eq(value_of("c", "who"), RAMET_ERASED_TEXT);
    char *left = NULL;
    cr_assert(asprintf(&left, "SELECT count(*) FROM template WHERE who='%s'", user) > 0);
    cr_assert_eq(sql_number(left), 0);
    free(left);
    free(user);
    sound();
}

/* ---- names and summaries */

Test(erase_template, a_name_of_a_branch_goes_with_what_it_is_made_of)
{
    ramet_branch *b;
    make("s");
    ask("s", "a", SECRET);
    int64_t branch = get("s")->head.branch;
    ok(ramet_branch_update(T.call, "s", branch, &(ramet_branch_patch){.name = "about " SECRET},
                           &b));
    erase_it("s", "a");
    size_t n;
    ok(ramet_branches(T.call, "s", &b, &n));
    for (size_t i = 0; i < n; i++)
        cr_assert(!b[i].name || !b[i].name[0], "%s", b[i].name);
    sound();
}

/* Entries of two branches, before the end of the run of each. */
Test(erase_template, a_summary_goes_with_any_entry_that_it_stands_for)
{
    for (size_t i = 0; i < 2; i++) {
        char target[8], source[8], deeper[8], summary[64];
        ramet_merge_out out;
        snprintf(target, sizeof target, "t%zu", i);
        snprintf(source, sizeof source, "s%zu", i);
        snprintf(deeper, sizeof deeper, "d%zu", i);
        make(target);
        ask(target, "a", "one");
        fork_at(target, NULL, source);
        ask(source, "c", "three");
        ask(source, "d", "four " SECRET);
        ask(source, "e", "five");
        fork_at(source, NULL, deeper);
        ask(deeper, "f", "six " SECRET);
        ask(deeper, "g", "seven");
        ok(ramet_merge(
            T.call, target,
            &(ramet_merge_in){.from = deeper, .mode = RAMET_LAND, .text = "in short: " SECRET},
            &out));
        snprintf(summary, sizeof summary, "%s", get(target)->head.entry_id);
        erase_it(deeper, i ? "f" : "d");
        cr_assert_str_eq(text_of(target, summary), RAMET_ERASED_TEXT);
    }
    sound();
}
