/* SPDX-License-Identifier: Apache-2.0
 *
 * form.c: what the tables of src/form write, they read again; what a caller must not send is
 * refused by name.
 */
#include "form_fill.h"

#include <criterion/criterion.h>

static arena *a;

static void set_up(void)
{
    a = arena_new();
}

static void tear_down(void)
{
    arena_free(a);
}

TestSuite(form, .init = set_up, .fini = tear_down);

static const char *written(const form_schema *s, const void *value)
{
    buf out;
    json_writer w;
    buf_init(&out, 1 << 24);
    jw_init(&w, &out, 0);
    form_write(&w, s, value, NULL);
    const char *text = arena_memdup(a, out.data, out.n);
    buf_release(&out);
    return text;
}

static json_doc parsed(const char *text)
{
    json_doc d;
    cr_assert(json_parse(a, text, strlen(text), 0, &d, NULL), "%s", text);
    return d;
}

static const form_field *field_of(const form_schema *s, const char *name)
{
    for (const form_field *f = s->fields; f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

/* Required members are there, and none that the documents do not have. */
static void check_members(const form_schema *s, const char *text)
{
    json_doc d = parsed(text);
    for (const form_field *f = s->fields; f->name; f++)
        if (f->required && f->member != MEMBER_NONE && !f->omit)
            cr_assert(json_get(&d, d.nodes, f->name), "%s lacks %s: %s", s->name, f->name, text);
    for (const json_node *key = json_first(&d, d.nodes); key;) {
        const json_node *value = json_next(&d, d.nodes, key);
        cr_assert(field_of(s, json_text(a, &d, key)), "%s", text);
        key = json_next(&d, d.nodes, value);
    }
}

static void check_round_trip(const form_schema *s, uint64_t seed)
{
    form_dice dice = {a, seed};
    void *value = arena_alloc(a, s->size), *again = arena_alloc(a, s->size);
    form_fill(&dice, s, value);
    const char *text = written(s, value);
    json_doc d = parsed(text);
    memset(again, 0xa5, s->size);
    cr_assert(form_read(a, &d, d.nodes, s, again, NULL));
    check_members(s, text);
    cr_assert_str_eq(written(s, again), text, "%s was written as\n%s\nand read as\n%s", s->name,
                     text, written(s, again));
}

Test(form, what_is_written_is_read)
{
    for (const form_schema *const *s = native_schemas; *s; s++)
        for (uint64_t seed = 0; (*s)->size && *s != &form_error && seed < 200; seed++)
            check_round_trip(*s, seed);
    for (uint64_t seed = 0; seed < 200; seed++)
        check_round_trip(&form_version_list, seed);
}

/* Only the documents know what a row without a member in the struct is. */
Test(form, tables_are_sound)
{
    for (const form_schema *const *s = native_schemas; *s; s++)
        for (const form_field *f = (*s)->fields; f && f->name; f++) {
            cr_expect(f->member != MEMBER_WORD || f->word_of, "%s.%s", (*s)->name, f->name);
            cr_expect(f->member != MEMBER_HOOK || f->write, "%s.%s", (*s)->name, f->name);
            cr_expect(f->member != MEMBER_STRUCTS || f->of, "%s.%s", (*s)->name, f->name);
            cr_expect(f->kind != FIELD_ENUM || f->values, "%s.%s", (*s)->name, f->name);
            cr_expect(f->offset < ((*s)->size ? (*s)->size : 1), "%s.%s", (*s)->name, f->name);
        }
}

Test(form, a_newer_server_may_say_more)
{
    json_doc d = parsed("{\"user\":\"ada\",\"level\":\"emperor\",\"since\":{\"a\":[1]}}");
    ramet_member m;
    cr_assert(form_read(a, &d, d.nodes, &form_member, &m, NULL));
    cr_expect_str_eq(m.user, "ada");
    cr_expect_eq(m.level, RAMET_NO_LEVEL);
    cr_assert(form_read(a, &d, NULL, &form_member, &m, NULL));
    cr_expect_null(m.user);
}

Test(form, members_in_any_order_and_escaped_keys)
{
    json_doc d = parsed("{\"marks\":[{\"start\":1,\"length\":1}],\"h\\u0069ghlight\":"
                        "\"\303\244\303\266\",\"branch_id\":\"b9\"}");
    ramet_hit hit;
    cr_assert(form_read(a, &d, d.nodes, &form_hit, &hit, NULL));
    cr_assert_eq(hit.n_marks, 1);
    cr_expect_eq(hit.marks[0].start, 2);
    cr_expect_eq(hit.marks[0].length, 2);
    cr_expect_eq(hit.branch, 9);
}

static void check_refused(const char *json, const char *field, const char *message)
{
    json_doc d = parsed(json);
    ramet_entry_in in;
    ramet_error err = {0};
    cr_expect(!native_entry_in(a, &d, d.nodes, &in, &err), "%s", json);
    cr_expect_eq(err.status, RAMET_INVALID);
    cr_expect_str_eq(err.field, field);
    cr_expect_str_eq(err.message, message);
}

Test(form, what_a_caller_must_not_send)
{
    check_refused("[]", "entries",
                  "an entry must be an object like {\"role\": \"user\", \"text\": \"hello\"}");
    check_refused("{\"role\":7}", "role",
                  "\"role\" is 7; it is one of user, assistant, tool, system");
    check_refused("{\"text\":[]}", "text", "\"text\" must be a string");
    check_refused("{\"text\":\"\\u0000\"}", "text", "\"text\" holds U+0000, which text may not");
    check_refused("{\"parts\":{}}", "parts", "\"parts\" must be an array");
    check_refused("{\"state_delta\":[]}", "state_delta", "\"state_delta\" must be an object");
    check_refused("{\"usage\":1}", "usage",
                  "\"usage\" must be an object like {\"input\": 10, \"output\": 20}");
    check_refused("{\"usage\":{\"input\":-1}}", "input",
                  "\"input\" must be a whole number that is not negative");
    check_refused("{\"usage\":{\"cost\":-0.5}}", "cost",
                  "\"cost\" must be a number that is not negative");
    check_refused("{\"role\":\"user\",\"txt\":1}", "txt",
                  "unknown key \"txt\"; known are id, role, text, parts, format, body, turn_id, "
                  "channel, author, usage, state_delta");
}

Test(form, null_is_not_given_but_for_a_body)
{
    json_doc d = parsed("{\"role\":\"user\",\"text\":null,\"usage\":null,\"body\":null}");
    ramet_entry_in in;
    ramet_error err;
    cr_assert(native_entry_in(a, &d, d.nodes, &in, &err));
    cr_expect_null(in.text);
    cr_expect_null(in.usage);
    cr_expect_str_eq(in.body, "null");
}

Test(form, an_agent_is_its_name)
{
    json_doc d = parsed("\"claude\"");
    ramet_agent agent;
    ramet_error err;
    cr_assert(native_agent_in(a, &d, d.nodes, &agent, &err));
    cr_expect_str_eq(agent.name, "claude");
    d = parsed("1");
    cr_expect(!native_agent_in(a, &d, d.nodes, &agent, &err));
    cr_expect_str_eq(err.field, "agent");
}
