/* SPDX-License-Identifier: Apache-2.0
 *
 * template.c: `ramet template` pins sessions and starts chats from them.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"
#include "form/native.h"

#include <string.h>

typedef VEC(ramet_template) template_list;

static bool templates_all(cli *c, template_list *out)
{
    const char *cursor = NULL;
    do {
        ramet_template *page;
        size_t n;
        if (lib->ramet_templates(c->call, 1000, cursor, &page, &n, &cursor) != RAMET_OK)
            return false;
        for (size_t i = 0; i < n; i++)
            VEC_PUSH(c->mem, out, page[i]);
    } while (cursor);
    return true;
}

/* The id of a template by a word: its id or a part of that, or its name. NULL: *code is set. */
static const char *template_named(cli *c, const char *word, int *code)
{
    template_list all = {0};
    const char *named = NULL;
    size_t hits = 0;
    if (!templates_all(c, &all)) {
        *code = cli_fail(c);
        return NULL;
    }
    const char **ids = arena_array(c->mem, all.n + 1, sizeof *ids);
    for (size_t i = 0; i < all.n; i++) {
        ids[i] = all.items[i].id;
        if (strcmp(all.items[i].name, word) == 0) {
            named = ids[i];
            hits++;
        }
    }
    const char *id = id_named(ids, all.n, word);
    if (id && id != word)
        return id;
    if (hits == 1)
        return named;
    if (id && !hits)
        return id;
    *code = cli_error(c, RAMET_TEMPLATE_NOT_FOUND, "template",
                      "'%s' fits more than one template; 'ramet template list' shows them", word);
    return NULL;
}

static const char *names_text(cli *c, const ramet_template *t)
{
    const char *text = "";
    for (size_t i = 0; i < t->n_placeholders; i++)
        text = arena_printf(c->mem, "%s%s%s", text, i ? ", " : "", t->placeholders[i]);
    return text;
}

static int template_answer(cli *c, const ramet_template *t, const char *done)
{
    if (c->json) {
        form_write(json_begin(c), &form_template, t, NULL);
        return json_end(c);
    }
    puts(t->id);
    cli_note(c, "%s '%s': %s%s%s", done, text_cut(c, t->name, 60),
             count_text(c, t->length, "entry", "entries"), t->n_placeholders ? ", with " : "",
             names_text(c, t));
    return 0;
}

static int template_add(cli *c)
{
    ramet_template *out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[1], &code);
    ramet_entry *e = s && c->argc > 2 ? entry_named(c, s->id, 0, c->argv[2], &code) : NULL;
    if (!s || (c->argc > 2 && !e))
        return code;
    ramet_template_in in = {.session = s->id, .entry_id = e ? e->id : NULL};
    in.name = opt_text(c, "name") ? opt_text(c, "name") : s->shown_title;
    in.placeholders = opt_list(c, "placeholder", &in.n_placeholders);
    if (lib->ramet_template_add(c->call, &in, &out) != RAMET_OK)
        return cli_fail(c);
    return template_answer(c, out, "pinned the template");
}

static int template_list_show(cli *c)
{
    template_list all = {0};
    if (!templates_all(c, &all))
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "templates");
        for (size_t i = 0; i < all.n; i++)
            form_write(&c->jw, &form_template, &all.items[i], NULL);
        return json_list_end(c);
    }
    if (!all.n) {
        cli_note(c, "no templates; 'ramet template add SESSION' makes one");
        return 0;
    }
    grid *t = grid_new(c, 5, 1);
    grid_head(t, "ID", "NAME", "ENTRIES", "PLACEHOLDERS", "MADE");
    for (size_t i = 0; i < all.n; i++) {
        const ramet_template *one = &all.items[i];
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, one->id));
        grid_cell(t, ST_BOLD, text_cut(c, one->name, 60));
        grid_cell(t, ST_OFF, arena_printf(c->mem, "%lld", (long long)one->length));
        grid_cell(t, ST_OFF, text_cut(c, names_text(c, one), 40));
        grid_cell(t, ST_DIM, time_ago(c, one->created));
    }
    grid_print(t);
    return 0;
}

static int template_show(cli *c)
{
    ramet_template *t;
    int code = 0;
    const char *id = template_named(c, c->argv[1], &code);
    if (!id)
        return code;
    if (lib->ramet_template_get(c->call, id, &t) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_write(json_begin(c), &form_template, t, NULL);
        return json_end(c);
    }
    printf("%s\n  name          %s\n  session       %s\n  entries       %lld, up to %s\n"
           "  placeholders  %s\n",
           t->id, text_cut(c, t->name, 200), t->session, (long long)t->length, t->entry_id,
           t->n_placeholders ? names_text(c, t) : "none");
    return 0;
}

static int template_set(cli *c)
{
    ramet_template *t;
    ramet_template_patch in = {.name = opt_text(c, "name")};
    int code = 0;
    const char *id = template_named(c, c->argv[1], &code), *at = opt_text(c, "at");
    if (!id)
        return code;
    in.placeholders = opt_list(c, "placeholder", &in.n_placeholders);
    in.set_placeholders = in.n_placeholders || opt_flag(c, "no-placeholders");
    if (!in.name && !at && !in.set_placeholders)
        return cli_error(c, RAMET_INVALID, "name",
                         "nothing to change; give --name, --placeholder or --at");
    if (at) {
        if (lib->ramet_template_get(c->call, id, &t) != RAMET_OK)
            return cli_fail(c);
        ramet_entry *e = entry_named(c, t->session, 0, at, &code);
        if (!e)
            return code;
        in.entry_id = e->id;
    }
    if (lib->ramet_template_update(c->call, id, &in, &t) != RAMET_OK)
        return cli_fail(c);
    return template_answer(c, t, "changed the template");
}

static int template_rm(cli *c)
{
    int code = 0;
    const char *id = template_named(c, c->argv[1], &code);
    if (!id)
        return code;
    if (lib->ramet_template_remove(c->call, id) != RAMET_OK)
        return cli_fail(c);
    return answer_revoked(c, "unpinned the template", id);
}

/* NAME=TEXT, from the third word on. */
static bool values_read(cli *c, ramet_template_use *in, int *code)
{
    ramet_template_value *list = arena_array(c->mem, (size_t)c->argc, sizeof *list);
    for (int i = 2; i < c->argc; i++) {
        const char *equals = strchr(c->argv[i], '=');
        if (!equals) {
            *code = cli_error(c, RAMET_INVALID, "values", "'%s' is not NAME=TEXT", c->argv[i]);
            return false;
        }
        list[in->n_values++] = (ramet_template_value){
            arena_memdup(c->mem, c->argv[i], (size_t)(equals - c->argv[i])), equals + 1};
    }
    in->values = list;
    return true;
}

static int template_new(cli *c)
{
    ramet_template_use in = {0};
    ramet_agent agent;
    ramet_session *out;
    int code = 0;
    const char *id = template_named(c, c->argv[1], &code);
    if (!id || !values_read(c, &in, &code))
        return code;
    in.fork.id = opt_text(c, "id");
    in.fork.title = opt_text(c, "title");
    in.fork.reason = opt_text(c, "reason");
    in.fork.tags = opt_list(c, "tag", &in.fork.n_tags);
    in.fork.agent = agent_options(c, &agent) ? &agent : NULL;
    in.fork.metadata = opt_text(c, "metadata");
    in.fork.visibility = opt_flag(c, "private") ? RAMET_PRIVATE : RAMET_TREE_VISIBLE;
    in.fork.ephemeral_us = opt_span(c, "ephemeral");
    if (lib->ramet_template_chat(c->call, id, &in, &out) != RAMET_OK)
        return cli_fail(c);
    if (c->quiet && !c->json) {
        puts(out->id);
        return 0;
    }
    return session_answer(c, out, NULL, "started from the template");
}

static int template_values(cli *c)
{
    ramet_template_origin out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[1], &code);
    if (!s)
        return code;
    if (lib->ramet_template_values(c->call, s->id, &out) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_write(json_begin(c), &form_template_origin, &out, NULL);
        return json_end(c);
    }
    if (!out.template_id)
        cli_note(c, "the session was not made from a template");
    for (size_t i = 0; i < out.n_values; i++)
        printf("%s=%s\n", out.values[i].name, out.values[i].text);
    return 0;
}

int cmd_template(cli *c)
{
    static const struct {
        const char *word;
        int (*run)(cli *c);
        int min, max; /* words */
        const char *missing;
    } actions[] = {{"add", template_add, 2, 3, "name the session to pin"},
                   {"list", template_list_show, 1, 1, ""},
                   {"show", template_show, 2, 2, "which? 'ramet template list' shows them"},
                   {"set", template_set, 2, 2, "which? 'ramet template list' shows them"},
                   {"rm", template_rm, 2, 2, "which? 'ramet template list' shows them"},
                   {"new", template_new, 2, 102, "from which? 'ramet template list' shows them"},
                   {"values", template_values, 2, 2, "name the session"}};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(c->argv[0], actions[i].word) != 0)
            continue;
        if (c->argc < actions[i].min)
            return cli_error(c, RAMET_INVALID, "action", "%s", actions[i].missing);
        if (c->argc > actions[i].max)
            return cli_error(c, RAMET_INVALID, "action", "'%s' is one word too many",
                             c->argv[actions[i].max]);
        return actions[i].run(c);
    }
    return cli_error(c, RAMET_INVALID, "action",
                     "'%s' is no action; take add, list, show, set, rm, new or values", c->argv[0]);
}
