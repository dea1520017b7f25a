/* SPDX-License-Identifier: Apache-2.0
 *
 * facts.c: `ramet state` and `ramet usage`: totals over a history.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static int print_state(cli *c, const char *json)
{
    json_doc d;
    if (!json_parse(c->mem, json, strlen(json), 0, &d, NULL))
        return cli_error(c, RAMET_INTERNAL, "", "the state is not valid JSON");
    const json_node *root = &d.nodes[0];
    grid *t = grid_new(c, 2, 1);
    for (const json_node *k = json_first(&d, root), *v; k; k = json_next(&d, root, v)) {
        v = json_next(&d, root, k);
        grid_row(t);
        grid_cell(t, ST_BOLD, json_text(c->mem, &d, k));
        grid_cell(t, ST_OFF, json_raw(c->mem, &d, v));
    }
    if (root->count)
        grid_print(t);
    else
        cli_note(c, "the state is empty");
    return 0;
}

int cmd_state(cli *c)
{
    const char *at = opt_text(c, "at"), *json;
    ramet_entry *e = NULL;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || (at && !(e = entry_named(c, s->id, 0, at, &code))))
        return code;
    if (lib->ramet_state(c->call, s->id, e ? e->id : NULL, &json) != RAMET_OK)
        return cli_fail(c);
    if (!c->json)
        return print_state(c, json);
    json_writer *w = json_begin(c);
    jw_object(w);
    jw_kraw(w, "state", json);
    jw_end_object(w);
    return json_end(c);
}

static const char *costs(cli *c, const ramet_usage_sum *u)
{
    const char *s = "";
    for (size_t i = 0; i < u->n_money; i++)
        s = arena_printf(c->mem, "%s%s%s", s, i ? ", " : "",
                         money_text(c, u->money[i].cost, u->money[i].currency));
    return s;
}

int cmd_usage(cli *c)
{
    ramet_usage_out out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (lib->ramet_usage_get(c->call, s->id, &out) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_usage_out(json_begin(c), &out);
        return json_end(c);
    }
    const struct {
        const char *name;
        const ramet_usage_sum *sum;
    } rows[] = {{"own", &out.own}, {"path", &out.path}, {"tree", &out.tree}};
    grid *t = grid_new(c, 6, -1);
    for (int i = 1; i < 6; i++)
        grid_right(t, i);
    grid_head(t, "", "ENTRIES", "INPUT", "OUTPUT", "CACHED", "COST");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        grid_row(t);
        grid_cell(t, ST_BOLD, rows[i].name);
        grid_cell(t, ST_OFF, number_text(c, rows[i].sum->entries));
        grid_cell(t, ST_OFF, number_text(c, rows[i].sum->input));
        grid_cell(t, ST_OFF, number_text(c, rows[i].sum->output));
        grid_cell(t, ST_OFF, number_text(c, rows[i].sum->cached));
        grid_cell(t, ST_OFF, costs(c, rows[i].sum));
    }
    grid_print(t);
    return 0;
}
