/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates: what a chat from one shows, and that nothing else shows it.
 */
#include "help.h"
#include "ramet/branches.h"
#include "ramet/export.h"
#include "ramet/kagent.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/templates.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(template, .init = scratch_open, .fini = scratch_close);

#define NAMES(...)                                                                                 \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define COUNT(...) (sizeof NAMES(__VA_ARGS__) / sizeof(const char *))

/* ------------------------------------------------------------------- steps */

static const char *pin_at(const char *session, const char *entry, const char *const *names,
                          size_t n)
{
    ramet_template *t;
    ramet_template_in in = {.session = session,
                            .entry_id = entry,
                            .name = "A template",
                            .placeholders = names,
                            .n_placeholders = n};
    tick(SECOND);
    ok(ramet_template_add(T.call, &in, &t));
    return t->id;
}
#define PIN(session, entry, ...) pin_at(session, entry, NAMES(__VA_ARGS__), COUNT(__VA_ARGS__))

/* A chat whose values are given as "name=text". */
static ramet_session *chat_as(ramet_call *c, const char *template, const char *id,
                              const char *const *values, size_t n)
{
    ramet_session *s;
    ramet_template_value list[8];
    char room[8][200];
    for (size_t i = 0; i < n; i++) {
        snprintf(room[i], sizeof room[i], "%s", values[i]);
        char *equals = strchr(room[i], '=');
        *equals = '\0';
        list[i] = (ramet_template_value){room[i], equals + 1};
    }
    tick(SECOND);
    ok_for(c, ramet_template_chat(
                  c, template,
                  &(ramet_template_use){.values = list, .n_values = n, .fork = {.id = id}}, &s));
    return s;
}
#define CHAT(template, id, ...)                                                                    \
    chat_as(T.call, template, id, NAMES(__VA_ARGS__), COUNT(__VA_ARGS__))

static ramet_status chat_status(const char *template, const ramet_template_value *values, size_t n)
{
    ramet_session *s;
    return ramet_template_chat(T.call, template,
                               &(ramet_template_use){.values = values, .n_values = n}, &s);
}

/* The texts of a path, parted by " | ". */
static const char *texts_in(const char *session, const ramet_read_in *in)
{
    static char out[4][4000];
    static int at;
    char *to = out[at++ % 4];
    ramet_page page;
    *to = '\0';
    ok(ramet_read(T.call, session, in, &page));
    for (size_t i = 0; i < page.n; i++)
        snprintf(to + strlen(to), 4000 - strlen(to), "%s%s", i ? " | " : "", page.entries[i].text);
    return to;
}
static const char *texts(const char *session)
{
    return texts_in(session, &(ramet_read_in){.limit = 100});
}
static const char *record(const char *session)
{
    return texts_in(session, &(ramet_read_in){.limit = 100, .view = RAMET_VIEW_RECORD});
}

static void sound(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

/* A session with two messages, pinned after them. */
static const char *plan(void)
{
    make("t");
    ask("t", "q", "Go to {{city}}, not {{else}} or {city}.");
    answer("t", "a", "{{city}} in {{month}}, yes: {{{city}}}");
    const char *id = PIN("t", NULL, "city", "month");
    ask("t", "later", "And {{city}}?");
    return id;
}

/* ------------------------------------------------------------------- tests */

Test(template, a_chat_shows_the_values_and_keeps_the_record)
{
    const char *t = plan();
    ramet_session *s = CHAT(t, "c", "city=Porto", "month=May {{city}}");
    cr_assert_eq(s->head.length, 2, "what came later does not get in");
    cr_assert_str_eq(s->parent_id, "t");
    cr_assert_str_eq(s->shown_title, "Fork of Go to Porto, not {{else}} or {city}.");
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}. | "
                                 "Porto in May {{city}}, yes: {Porto}");
    cr_assert_str_eq(record("c"), "Go to {{city}}, not {{else}} or {city}. | "
                                  "{{city}} in {{month}}, yes: {{{city}}}");
    cr_assert_str_eq(texts("t"), "Go to {{city}}, not {{else}} or {city}. | "
                                 "{{city}} in {{month}}, yes: {{{city}}} | And {{city}}?");
    ramet_page in_t, in_c;
    ok(ramet_read(T.call, "t", &(ramet_read_in){.limit = 2}, &in_t));
    ok(ramet_read(T.call, "c", &(ramet_read_in){0}, &in_c));
    for (int i = 0; i < 2; i++) {
        cr_assert_str_eq(in_t.entries[i].id, in_c.entries[i].id);
        cr_assert_str_eq(in_t.entries[i].hash, in_c.entries[i].hash, "hashes are the record's");
    }
    cr_assert_str_eq(in_c.entries[0].parts,
                     "[{\"type\":\"text\",\"text\":\"Go to Porto, not {{else}} or {city}.\"}]");
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "c", 0, "q", &e));
    cr_assert_str_eq(e->text, "Go to Porto, not {{else}} or {city}.");
    ramet_template_origin o;
    ok(ramet_template_values(T.call, "c", &o));
    cr_assert_str_eq(o.template_id, t);
    cr_assert_eq(o.n_values, 2);
    cr_assert_str_eq(o.values[1].text, "May {{city}}");
    ok(ramet_template_values(T.call, "t", &o));
    cr_assert_null(o.template_id);
    sound();
}

Test(template, json_is_filled_inside_strings_alone)
{
    make("t");
    put("t",
        &(ramet_entry_in){
            .id = "x",
            .role = RAMET_ASSISTANT,
            .parts = "[{\"type\":\"tool_call\",\"id\":\"{{v}}\",\"name\":\"n\",\"input\":{"
                     "\"{{v}}\":\"a{{v}}\\u007b\\u007bv}}\\\\{{v}}\"}},"
                     "{\"type\":\"data\",\"data\":{\"contextId\":\"{{v}}\",\"say\":[\"{{v}}\","
                     "1]}}]",
            .format = "a2a",
            .body = "{ \"messageId\" : \"{{v}}\", \"kind\":\"{{v}}\", \"text\" : \"{{v}}\" }"});
    const char *t = PIN("t", NULL, "v");
    CHAT(t, "c", "v=\"q\"\n\\{{v}}");
    ramet_entry *e;
    ok(ramet_entry_get(T.call, "c", 0, "x", &e));
#define V "\\\"q\\\"\\n\\\\{{v}}"
    cr_assert_str_eq(e->body,
                     "{ \"messageId\" : \"{{v}}\", \"kind\":\"{{v}}\", \"text\" : \"" V "\" }");
    cr_assert_str_eq(
        e->parts, "[{\"type\":\"tool_call\",\"id\":\"{{v}}\",\"name\":\"n\",\"input\":{"
                  "\"{{v}}\":\"a" V V "\\\\" V "\"}},"
                  "{\"type\":\"data\",\"data\":{\"contextId\":\"{{v}}\",\"say\":[\"" V "\",1]}}]");
#undef V
}

Test(template, forks_moves_and_edits_keep_the_values)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    ask("c", "own", "{{city}} again");
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}. | "
                                 "Porto in May, yes: {Porto} | {{city}} again");
    fork_at("c", "own", "f");
    fork_at("f", "q", "g");
    ask("g", "own2", "{{city}}!");
    cr_assert_str_eq(texts("g"), "Go to Porto, not {{else}} or {city}. | {{city}}!",
                     "what is appended below the pin is not filled");
    fork_at("g", "own2", "h");
    cr_assert_str_eq(texts("h"), texts("g"));
    cr_assert_str_eq(texts("f"), texts("c"));
    ramet_session *s;
    ramet_append_out out;
    ok(ramet_edit(T.call, "c", "a", &(ramet_entry_in){.text = "{{month}}"}, NULL, &out));
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}. | {{month}}");
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, "c", 0, out.entries[0].id, &v, &n));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(v[0].preview, "Porto in May, yes: {Porto}");
    cr_assert_str_eq(v[1].preview, "{{month}}");
    ok(ramet_undo(T.call, "c", NULL, &s));
    cr_assert_str_eq(texts("c"), texts("f"));
    rewind_to("c", "q");
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}.");
    ramet_fork_in blank = {.id = "e", .blank = true};
    ok(ramet_fork(T.call, "c", &blank, &s, NULL));
    ramet_template_origin o;
    ok(ramet_template_values(T.call, "e", &o));
    cr_assert_null(o.template_id, "a fork that inherits nothing has no values");
    sound();
}

Test(template, what_is_sent_again_is_compared_with_what_is_shown)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    ramet_entry_in list[] = {
        {.id = "q", .role = RAMET_USER, .text = "Go to Porto, not {{else}} or {city}."},
        {.id = "a", .role = RAMET_ASSISTANT, .text = "Porto in May, yes: {Porto}"},
        {.id = "n", .role = RAMET_USER, .text = "new"}};
    ramet_sync_out synced;
    ok(ramet_sync(T.call, "c", list, 3, NULL, &synced));
    cr_assert_not(synced.moved, "a client sends what it has read");
    cr_assert_eq(synced.matched, 2);
    ramet_append_out out;
    ramet_append_in again = {.entries = list, .n = 1};
    ok(ramet_append(T.call, "c", &again, &out));
    cr_assert_str_eq(out.entries[0].text, "Go to Porto, not {{else}} or {city}.");
    cr_assert_eq(out.head.length, 3);
    list[0].text = "Go to {{city}}, not {{else}} or {city}.";
    refused(RAMET_ENTRY_EXISTS, "entries[0].id", ramet_append(T.call, "c", &again, &out));
    const char *head = get("c")->head.hash;
    again = (ramet_append_in){.entries = &(ramet_entry_in){.role = RAMET_USER, .text = "more"},
                              .n = 1,
                              .expected_head = head};
    ok(ramet_append(T.call, "c", &again, &out));
}

Test(template, merges_copy_what_is_shown)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    CHAT(t, "d", "city=Faro", "month=June");
    ask("c", "own", "{{city}} is text");
    ramet_merge_out out;
    ramet_merge_in ff = {.mode = RAMET_FAST_FORWARD, .from = "c"};
    refused(RAMET_MERGE_REFUSED, "mode", ramet_merge(T.call, "d", &ff, &out));
    rewind_to("t", "a");
    refused(RAMET_MERGE_REFUSED, "mode", ramet_merge(T.call, "t", &ff, &out));
    fork_at("c", "a", "twin");
    ok(ramet_merge(T.call, "twin", &ff, &out));
    cr_assert_str_eq(texts("twin"), texts("c"), "the same values: nothing changes its meaning");
    /* A target that has less of the template than the source. */
    fork_at("c", "q", "less");
    ok(ramet_merge(T.call, "less", &ff, &out));
    cr_assert_str_eq(texts("less"), texts("c"));
    ramet_merge_pick pick = {.session = "c", .entry_id = "q"};
    make("x");
    drop("x");
    ok(ramet_merge(T.call, "t", &(ramet_merge_in){.mode = RAMET_PICK, .picks = &pick, .n_picks = 1},
                   &out));
    cr_assert_str_eq(texts("t"), "Go to {{city}}, not {{else}} or {city}. | "
                                 "{{city}} in {{month}}, yes: {{{city}}} | "
                                 "Go to Porto, not {{else}} or {city}.");
    ok(ramet_merge(T.call, "d", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "c"}, &out));
    cr_assert_str_eq(texts("d"), "Go to Faro, not {{else}} or {city}. | "
                                 "Faro in June, yes: {Faro} | {{city}} is text");
    sound();
}

Test(template, overlays_and_state_are_not_filled)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    ramet_overlay_out out;
    ramet_overlay_in in = {
        .entry_id = "a", .action = RAMET_OVERLAY_REPLACE, .text = "{{city}} replaced"};
    ok(ramet_overlay_set(T.call, "c", &in, &out));
    cr_assert_str_eq(texts_in("c", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}),
                     "Go to Porto, not {{else}} or {city}. | {{city}} replaced");
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}. | "
                                 "Porto in May, yes: {Porto}");
    fork_at("c", NULL, "f");
    cr_assert_str_eq(texts_in("f", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}),
                     "Go to Porto, not {{else}} or {city}. | {{city}} replaced");
    sound();
}

Test(template, a_stream_a_comparison_and_a_link_show_it)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    CHAT(t, "d", "city=Faro", "month=May");
    ask("d", "d1", "{{city}}");
    ramet_stream *stream;
    const ramet_entry *e;
    ok(ramet_stream_open(T.call, "c", NULL, &stream));
    ok(ramet_stream_next(stream, &e));
    cr_assert_str_eq(e->text, "Go to Porto, not {{else}} or {city}.");
    ramet_stream_close(stream);
    ok(ramet_stream_open(T.call, "c", &(ramet_read_in){.view = RAMET_VIEW_RECORD}, &stream));
    ok(ramet_stream_next(stream, &e));
    cr_assert_str_eq(e->text, "Go to {{city}}, not {{else}} or {city}.");
    ramet_stream_close(stream);
    ramet_share *share;
    ok(ramet_share_add(T.call, "c", false, 0, &share));
    ramet_call *eve = as("eve");
    ramet_page page;
    ok_for(eve, ramet_call_share(eve, share->token, NULL));
    ok_for(eve, ramet_read(eve, "c", &(ramet_read_in){0}, &page));
    cr_assert_str_eq(page.entries[0].text, "Go to Porto, not {{else}} or {city}.");
    ramet_template_origin o;
    ok_for(eve, ramet_template_values(eve, "c", &o));
    cr_assert_null(o.template_id);
    ramet_session *f;
    ok_for(eve, ramet_fork(eve, "c", &(ramet_fork_in){.id = "f", .visibility = RAMET_PRIVATE}, &f,
                           NULL));
    ok_for(eve, ramet_read(eve, "f", &(ramet_read_in){0}, &page));
    cr_assert_str_eq(page.entries[1].text, "Porto in May, yes: {Porto}");
}

Test(template, the_adk_log_is_filled_too)
{
    make("t");
    ramet_entry_in event = {.id = "k",
                            .role = RAMET_USER,
                            .format = "adk",
                            .body = "{\"id\":\"{{v}}\",\"content\":\"{{v}}\"}"};
    ask("t", "q", "{{v}}");
    ramet_append_out out;
    ramet_append_in in = {.entries = &event, .n = 1, .log = RAMET_LOG_ADK};
    ok(ramet_append(T.call, "t", &in, &out));
    answer("t", "a", "ok");
    const char *t = PIN("t", NULL, "v");
    event.id = "k2";
    ok(ramet_append(T.call, "t", &in, &out));
    CHAT(t, "c", "v=w");
    ramet_page page;
    ok(ramet_read(T.call, "c", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_eq(page.n, 1);
    cr_assert_str_eq(page.entries[0].body, "{\"id\":\"{{v}}\",\"content\":\"w\"}");
    ok(ramet_append(T.call, "c", &in, &out));
    ok(ramet_read(T.call, "c", &(ramet_read_in){.log = RAMET_LOG_ADK}, &page));
    cr_assert_str_eq(page.entries[1].body, event.body);
    sound();
}

Test(template, a_search_shows_the_values_and_finds_none)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    ramet_hits hits;
    ok(ramet_search(T.call, &(ramet_search_in){.query = "go", .session = "c"}, &hits));
    cr_assert_eq(hits.n, 1);
    cr_assert_str_eq(hits.items[0].session, "c");
    cr_assert_str_eq(hits.items[0].snippet, "Go to Porto, not {{else}} or {city}.");
    rewind_to("c", "q");
    ok(ramet_search(T.call, &(ramet_search_in){.query = "yes", .session = "c"}, &hits));
    cr_assert_eq(hits.n, 1);
    cr_assert(hits.items[0].abandoned);
    cr_assert_str_eq(hits.items[0].snippet, "Porto in May, yes: {Porto}");
    ok(ramet_search(T.call, &(ramet_search_in){.query = "porto"}, &hits));
    cr_assert_eq(hits.n, 0, "values are not in the index");
    ok(ramet_search(T.call, &(ramet_search_in){.query = "go"}, &hits));
    cr_assert_eq(hits.n, 1);
    cr_assert_str_eq(hits.items[0].session, "t");
    cr_assert_str_eq(hits.items[0].snippet, "Go to {{city}}, not {{else}} or {city}.");
}

Test(template, values_are_checked_by_name)
{
    const char *t = plan();
    const char *before = mark();
    ramet_template_value one[] = {{"city", "Porto"}, {"month", "May"}, {"year", "1"}};
    refused(RAMET_INVALID, "values.month", chat_status(t, one, 1));
    refused(RAMET_INVALID, "values.year", chat_status(t, one, 3));
    one[1].name = "city";
    refused(RAMET_INVALID, "values.city", chat_status(t, one, 2));
    one[1] = (ramet_template_value){"month", NULL};
    refused(RAMET_INVALID, "values.month", chat_status(t, one, 2));
    one[1].text = "\xff";
    refused(RAMET_INVALID, "values.month", chat_status(t, one, 2));
    char *large = malloc((64 << 10) + 2);
    memset(large, 'x', (64 << 10) + 1);
    large[(64 << 10) + 1] = '\0';
    one[1].text = large;
    refused(RAMET_TOO_LARGE, "values.month", chat_status(t, one, 2));
    cr_assert_str_eq(mark(), before);
    large[64 << 10] = '\0';
    ok(chat_status(t, one, 2));
    ramet_session *s;
    refused(RAMET_TEMPLATE_NOT_FOUND, "template",
            ramet_template_chat(T.call, "nope", &(ramet_template_use){0}, &s));
    free(large);
}

Test(template, a_filled_entry_is_bounded)
{
    make("t");
    char *text = malloc(5 * 300 + 1);
    for (int i = 0; i < 300; i++)
        memcpy(text + (size_t)i * 5, "{{v}}", 6);
    ask("t", "q", text);
    const char *t = PIN("t", NULL, "v");
    char *value = malloc((64 << 10) + 1);
    memset(value, '\n', 64 << 10);
    value[64 << 10] = '\0';
    ramet_template_value v = {"v", value};
    refused(RAMET_TOO_LARGE, "values.v", chat_status(t, &v, 1));
    value[6000] = '\0'; /* 12,000 bytes in JSON, 600 times */
    ok(chat_status(t, &v, 1));
    free(value);
    free(text);
}

Test(template, names_are_checked)
{
    plan();
    ramet_template *t;
    ramet_template_in in = {.session = "t", .name = "x"};
#define REFUSED(status, field, ...)                                                                \
    in.placeholders = NAMES(__VA_ARGS__);                                                          \
    in.n_placeholders = COUNT(__VA_ARGS__);                                                        \
    refused(status, field, ramet_template_add(T.call, &in, &t))
    REFUSED(RAMET_INVALID, "placeholders[0]", "");
    REFUSED(RAMET_INVALID, "placeholders[1]", "a", "a b");
    REFUSED(RAMET_INVALID, "placeholders[0]", "{a");
    REFUSED(RAMET_INVALID, "placeholders", "a", "a");
    REFUSED(RAMET_INVALID, "placeholders[0]",
            "0123456789012345678901234567890123456789012345678901234567890123456789");
    in.n_placeholders = 0;
    in.name = "";
    refused(RAMET_INVALID, "name", ramet_template_add(T.call, &in, &t));
    in.name = "x";
    in.entry_id = "nope";
    refused(RAMET_ENTRY_NOT_FOUND, "entry_id", ramet_template_add(T.call, &in, &t));
    make("empty");
    in = (ramet_template_in){.session = "empty", .name = "x"};
    refused(RAMET_INVALID, "session_id", ramet_template_add(T.call, &in, &t));
    in.session = "nope";
    refused(RAMET_SESSION_NOT_FOUND, NULL, ramet_template_add(T.call, &in, &t));
    ask("empty", "u", "Grüße {{имя}}");
    CHAT(PIN("empty", NULL, "имя"), "c", "имя=Öl");
    cr_assert_str_eq(texts("c"), "Grüße Öl");
}

Test(template, list_describe_update_and_unpin)
{
    const char *a = plan(), *b = PIN("t", "q", "city"), *next;
    ramet_template *t, *list;
    size_t n;
    ok(ramet_templates(T.call, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 2);
    cr_assert_null(next);
    cr_assert_str_eq(list[0].id, b);
    cr_assert_str_eq(list[0].entry_id, "q");
    cr_assert_eq(list[0].length, 1);
    ok(ramet_templates(T.call, 1, NULL, &list, &n, &next));
    cr_assert_eq(n, 1);
    cr_assert_not_null(next);
    ok(ramet_templates(T.call, 1, next, &list, &n, &next));
    cr_assert_str_eq(list[0].id, a);
    cr_assert_null(next);
    refused(RAMET_BAD_CURSOR, "cursor", ramet_templates(T.call, 1, "x", &list, &n, &next));
    CHAT(a, "c", "city=Porto", "month=May");
    ramet_template_patch patch = {.name = "Other",
                                  .entry_id = "later",
                                  .placeholders = NAMES("city"),
                                  .n_placeholders = 1,
                                  .set_placeholders = true};
    ok(ramet_template_update(T.call, a, &patch, &t));
    cr_assert_str_eq(t->name, "Other");
    cr_assert_eq(t->length, 3);
    cr_assert_eq(t->n_placeholders, 1);
    CHAT(a, "d", "city=Faro");
    cr_assert_str_eq(texts("d"), "Go to Faro, not {{else}} or {city}. | "
                                 "Faro in {{month}}, yes: {Faro} | And Faro?");
    cr_assert_str_eq(texts("c"), "Go to Porto, not {{else}} or {city}. | "
                                 "Porto in May, yes: {Porto}");
    ok(ramet_template_remove(T.call, a));
    refused(RAMET_TEMPLATE_NOT_FOUND, "template", ramet_template_get(T.call, a, &t));
    refused(RAMET_TEMPLATE_NOT_FOUND, "template", ramet_template_remove(T.call, a));
    cr_assert_str_eq(texts("d"), "Go to Faro, not {{else}} or {city}. | "
                                 "Faro in {{month}}, yes: {Faro} | And Faro?");
    sound();
}

Test(template, permissions_are_those_of_forks)
{
    const char *t = plan();
    join("t", "will", RAMET_WRITER);
    join("t", "rita", RAMET_READER);
    ramet_call *will = as("will"), *rita = as("rita"), *eve = as("eve");
    ramet_template *out, *list;
    const char *next;
    size_t n;
    ramet_session *s;
    ramet_template_value v[] = {{"city", "Porto"}, {"month", "May"}};
    ramet_template_use use = {.values = v, .n_values = 2};
    refused_for(eve, RAMET_TEMPLATE_NOT_FOUND, "template", ramet_template_get(eve, t, &out));
    refused_for(eve, RAMET_TEMPLATE_NOT_FOUND, "template", ramet_template_chat(eve, t, &use, &s));
    ok_for(eve, ramet_templates(eve, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 0);
    ok_for(rita, ramet_templates(rita, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 1);
    refused_for(rita, RAMET_FORBIDDEN, "visibility", ramet_template_chat(rita, t, &use, &s));
    refused_for(rita, RAMET_FORBIDDEN, NULL, ramet_template_remove(rita, t));
    refused_for(rita, RAMET_FORBIDDEN, NULL,
                ramet_template_update(rita, t, &(ramet_template_patch){.name = "x"}, &out));
    refused_for(rita, RAMET_FORBIDDEN, NULL,
                ramet_template_add(rita, &(ramet_template_in){.session = "t", .name = "x"}, &out));
    use.fork = (ramet_fork_in){.id = "hers", .visibility = RAMET_PRIVATE};
    ok_for(rita, ramet_template_chat(rita, t, &use, &s));
    cr_assert_str_eq(s->owner, "rita");
    refused_for(will, RAMET_HIDDEN, NULL, ramet_session_get(will, "hers", &s));
    use.fork = (ramet_fork_in){.id = "his"};
    ok_for(will, ramet_template_chat(will, t, &use, &s));
    /* A template of a private session is its owner's alone. */
    ok_for(rita,
           ramet_template_add(rita, &(ramet_template_in){.session = "hers", .name = "mine"}, &out));
    ok_for(rita, ramet_templates(rita, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 2);
    ok_for(will, ramet_templates(will, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 1);
    ok_for(will, ramet_template_remove(will, t));
    /* It stays listed when she has left the tree, also one that an administrator made there. */
    ok(ramet_template_add(T.call, &(ramet_template_in){.session = "hers", .name = "too"}, &out));
    ok(ramet_member_remove(T.call, "t", "rita"));
    ok_for(rita, ramet_templates(rita, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 2);
    cr_assert_str_eq(list[0].name, "too");
}

Test(template, deletion_of_the_source_changes_no_chat)
{
    const char *t = plan(), *next;
    ramet_template *out, *list;
    size_t n;
    ramet_gc_out gc;
    CHAT(t, "c", "city=Porto", "month=May");
    fork_at("c", "q", "f");
    const char *was = strdup(dump("c", 0)), *fork = strdup(dump("f", 0));
    drop("t");
    refused(RAMET_TEMPLATE_NOT_FOUND, "template", ramet_template_get(T.call, t, &out));
    ok(ramet_templates(T.call, 0, NULL, &list, &n, &next));
    cr_assert_eq(n, 0);
    ramet_session *s;
    ok(ramet_session_restore(T.call, "t", false, &s));
    ok(ramet_template_get(T.call, t, &out));
    drop("t");
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_str_eq(dump("c", 0), was);
    cr_assert_eq(sql_number("SELECT count(*) FROM template"), 0);
    drop("c");
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    cr_assert_str_eq(dump("f", 0), fork);
    cr_assert_str_eq(texts("f"), "Go to Porto, not {{else}} or {city}.");
    cr_assert_eq(sql_number("SELECT count(*) FROM session WHERE fill IS NOT NULL"), 1);
    sound();
}

Test(template, a_branch_with_a_pin_is_not_pruned)
{
    const char *t = plan();
    int64_t pinned = get("t")->head.branch;
    rewind_to("t", "q");
    ask("t", "other", "another way");
    ramet_prune_out out;
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "t", &(ramet_prune_in){.branch = pinned}, &out));
    ok(ramet_prune(T.call, "t", &(ramet_prune_in){.others = true}, &out));
    cr_assert_eq(out.n_kept, 1);
    CHAT(t, "c", "city=Porto", "month=May");
    cr_assert_eq(get("c")->head.length, 2);
    ok(ramet_template_remove(T.call, t));
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, "t", &(ramet_prune_in){.branch = pinned}, &out));
    drop("c");
    ramet_gc_out gc;
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gc));
    ok(ramet_prune(T.call, "t", &(ramet_prune_in){.branch = pinned}, &out));
    sound();
}

Test(template, templates_of_templates)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto {{who}}", "month=May");
    ask("c", "own", "{{who}} and {{city}}");
    const char *t2 = PIN("c", NULL, "who", "city");
    CHAT(t2, "d", "who=Ann", "city=Rome");
    cr_assert_str_eq(texts("d"), "Go to Porto Ann, not {{else}} or {city}. | "
                                 "Porto Ann in May, yes: {Porto Ann} | Ann and Rome");
    ask("d", "x", "{{who}}");
    fork_at("d", "q", "e");
    cr_assert_str_eq(texts("e"), "Go to Porto Ann, not {{else}} or {city}.");
    rewind_to("c", "q");
    ask("c", "own2", "{{who}}, {{month}}");
    CHAT(PIN("c", NULL, "who"), "g", "who=Bob");
    cr_assert_str_eq(texts("g"), "Go to Porto Bob, not {{else}} or {city}. | Bob, {{month}}",
                     "the first template covers what is left of it");
    const char *deep = "g";
    char id[16];
    for (int i = 0; i < 6; i++) {
        snprintf(id, sizeof id, "deep%d", i);
        CHAT(PIN(deep, NULL, "who"), id, "who=x");
        deep = strdup(id);
    }
    ramet_template *out;
    refused(RAMET_TOO_LARGE, "session_id",
            ramet_template_add(T.call, &(ramet_template_in){.session = deep, .name = "x"}, &out));
    sound();
}

static void kept(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 201;
    *bytes = "made";
    *n = 4;
}

Test(template, an_idempotency_key_makes_one_chat)
{
    const char *t = plan();
    ramet_template_value v[] = {{"city", "Porto"}, {"month", "May"}};
    ramet_template_use use = {.values = v, .n_values = 2, .fork = {.id = "c"}};
    for (int i = 0; i < 2; i++) {
        ramet_session *s;
        ramet_once once = {.scope = "chat", .key = "k", .answer = kept};
        ramet_call_once(T.call, &once);
        ok(ramet_template_chat(T.call, t, &use, &s));
        cr_assert_eq(once.repeated, i == 1);
    }
    ramet_session *s;
    refused(RAMET_SESSION_EXISTS, "id", ramet_template_chat(T.call, t, &use, &s));
}

/* ------------------------------------------------------------------ exports */

static bool keep(void *arg, const void *bytes, size_t n)
{
    char *to = arg;
    size_t have = strlen(to);
    cr_assert_lt(have + n, 60000);
    memcpy(to + have, bytes, n);
    to[have + n] = '\0';
    return true;
}

Test(template, texts_of_exports_are_filled)
{
    static char text[60000];
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    ask("c", "own", "{{city}} is text");
    ramet_export_out out;
    ramet_export_in in = {.session = "t", .tree = true, .format = RAMET_EXPORT_MARKDOWN};
    ok(ramet_export(T.call, &in, keep, text, NULL, NULL, &out));
    cr_assert(strstr(text, "> Go to Porto, not"), "%s", text);
    cr_assert(strstr(text, "> Go to {{city}}, not"), "%s", text);
    cr_assert(strstr(text, "> Porto in May, yes: {Porto}"));
    cr_assert(strstr(text, "> {{city}} is text"));
    *text = '\0';
    in.session = "c";
    in.tree = false;
    in.format = RAMET_EXPORT_HTML;
    ok(ramet_export(T.call, &in, keep, text, NULL, NULL, &out));
    cr_assert(strstr(text, "Porto in May, yes: {Porto}"));
    cr_assert_not(strstr(text, "Go to {{city}}"));
}

/* ------------------------------------------------------------------- damage */

Test(template, damage_is_found)
{
    const char *t = plan();
    CHAT(t, "c", "city=Porto", "month=May");
    static const char *const harm[] = {
        "UPDATE session SET fill=replace(fill,'Porto','Paris') WHERE id='c'",
        "UPDATE session SET fill=NULL WHERE id='c'",
        "UPDATE session SET fill=(SELECT s.fill FROM session s WHERE s.id='c') WHERE id='t'",
        "UPDATE branch SET filled=9 WHERE filled>0",
        "UPDATE template SET len=99",
        "UPDATE template SET branch=77",
        "UPDATE template SET session=77",
        "UPDATE template SET placeholders='x'"};
    static const char *const heal[] = {
        "UPDATE session SET fill=replace(fill,'Paris','Porto') WHERE id='c'",
        NULL, /* by what was read before */
        "UPDATE session SET fill=NULL WHERE id='t'",
        "UPDATE branch SET filled=2 WHERE filled>0",
        "UPDATE template SET len=2",
        "UPDATE template SET branch=1",
        "UPDATE template SET session=1",
        "UPDATE template SET placeholders='[\"city\",\"month\"]'"};
    for (size_t i = 0; i < sizeof harm / sizeof *harm; i++) {
        if (!heal[i])
            continue;
        scratch_shut();
        sql_run(T.path, harm[i]);
        scratch_reopen(NULL);
        ramet_fsck_out out;
        ok(ramet_fsck(T.call, NULL, NULL, &out));
        cr_expect_gt(out.n_all, 0, "not found: %s", harm[i]);
        ramet_page page;
        ramet_status st = ramet_read(T.call, "c", &(ramet_read_in){0}, &page);
        cr_expect_eq(st, i == 0 || i == 3 ? RAMET_DAMAGED : RAMET_OK, "%s: %s", harm[i],
                     ramet_call_error(T.call)->message);
        scratch_shut();
        sql_run(T.path, heal[i]);
        scratch_reopen(NULL);
        sound();
    }
    scratch_shut();
    sql_run(T.path, harm[1]);
    scratch_reopen(NULL);
    ramet_page page;
    refused(RAMET_DAMAGED, NULL, ramet_read(T.call, "c", &(ramet_read_in){0}, &page));
    ok(ramet_read(T.call, "c", &(ramet_read_in){.view = RAMET_VIEW_RECORD}, &page));
}
