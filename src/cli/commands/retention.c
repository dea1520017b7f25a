/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c: `ramet retention` manages the rules that remove sessions, runs and explains them.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SHOWN = 20 };

/* The administrator's name, for the log. */
static const char *asking(cli *c)
{
    const char *user = opt_text(c, "user");
    if (!user)
        user = getenv("RAMET_USER");
    return user && *user ? user : NULL;
}

/* "90 days", as a rule says it. */
static const char *age_text(cli *c, int64_t us)
{
    static const struct {
        int64_t us;
        const char *one, *many;
    } units[] = {{INT64_C(86400000000), "day", "days"},
                 {INT64_C(3600000000), "hour", "hours"},
                 {INT64_C(60000000), "minute", "minutes"},
                 {INT64_C(1000000), "second", "seconds"}};
    size_t i = 0;
    while (i < 3 && us % units[i].us)
        i++;
    return us ? count_text(c, us / units[i].us, units[i].one, units[i].many) : "at once";
}

static int rules_show(cli *c, const ramet_retention *r)
{
    if (c->json) {
        form_write(json_begin(c), &form_retention, r, NULL);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    printf("rules are %s; %s\n", r->enabled ? "on" : "off",
           r->tried ? arena_printf(c->mem, "tried %s", time_full(c, r->tried))
                    : "not tried yet: 'ramet retention run --dry-run'");
    if (!r->n)
        return 0;
    grid *t = grid_new(c, 8, 3);
    grid_head(t, "RULE", "OLDER THAN", "SINCE", "TAG", "AGENT", "EPHEMERAL", "ARCHIVED", "PRIVATE");
    for (size_t i = 0; i < r->n; i++) {
        const ramet_rule *x = &r->rules[i];
        grid_row(t);
        grid_cell(t, ST_BOLD, text_cut(c, x->name, 40));
        grid_cell(t, ST_OFF, age_text(c, x->age_us));
        grid_cell(t, ST_OFF, ramet_since_name(x->since));
        grid_cell(t, ST_OFF, x->tag ? text_cut(c, x->tag, 30) : "any");
        grid_cell(t, ST_OFF, x->agent ? text_cut(c, x->agent, 30) : "any");
        grid_cell(t, ST_OFF, ramet_condition_name(x->ephemeral));
        grid_cell(t, ST_OFF, ramet_condition_name(x->archived));
        grid_cell(t, ST_OFF, x->private_too ? "include" : "exclude");
    }
    grid_print(t);
    return 0;
}

static int action_show(cli *c)
{
    ramet_retention *r;
    return lib->ramet_retention_get(c->call, &r) == RAMET_OK ? rules_show(c, r) : cli_fail(c);
}

static int rules_set(cli *c, const ramet_rule *rules, size_t n, bool enabled)
{
    ramet_retention *r;
    ramet_retention_in in = {.enabled = enabled, .rules = rules, .n = n, .by = asking(c)};
    return lib->ramet_retention_set(c->call, &in, &r) == RAMET_OK ? rules_show(c, r) : cli_fail(c);
}

static int name_lacks(cli *c)
{
    return cli_error(c, RAMET_INVALID, "name", "which rule? give its name");
}

static int action_add(cli *c)
{
    ramet_retention *r;
    const char *since = opt_text(c, "since"), *ephemeral = opt_text(c, "ephemeral"),
               *archived = opt_text(c, "archived");
    if (c->argc < 2)
        return name_lacks(c);
    if (lib->ramet_retention_get(c->call, &r) != RAMET_OK)
        return cli_fail(c);
    ramet_rule *rules = arena_array(c->mem, r->n + 1, sizeof *rules);
    for (size_t i = 0; i < r->n; i++)
        rules[i] = r->rules[i];
    rules[r->n] = (ramet_rule){
        .name = c->argv[1],
        .age_us = opt_span(c, "older-than"),
        .since = since ? (ramet_since)ramet_since_parse(since) : RAMET_SINCE_UPDATED,
        .tag = opt_text(c, "tag"),
        .agent = opt_text(c, "agent"),
        .ephemeral = ephemeral ? (ramet_condition)ramet_condition_parse(ephemeral) : RAMET_EITHER,
        .archived = archived ? (ramet_condition)ramet_condition_parse(archived) : RAMET_EITHER,
        .private_too = opt_flag(c, "private")};
    return rules_set(c, rules, r->n + 1, false);
}

static int action_rm(cli *c)
{
    ramet_retention *r;
    size_t kept = 0;
    if (c->argc < 2)
        return name_lacks(c);
    if (lib->ramet_retention_get(c->call, &r) != RAMET_OK)
        return cli_fail(c);
    for (size_t i = 0; i < r->n; i++)
        if (strcmp(r->rules[i].name, c->argv[1]) != 0)
            r->rules[kept++] = r->rules[i];
    if (kept == r->n)
        return cli_error(c, RAMET_INVALID, "name",
                         "there is no rule %s; 'ramet retention' shows them", c->argv[1]);
    return rules_set(c, r->rules, kept, false);
}

static int rules_switch(cli *c, bool on)
{
    ramet_retention *r;
    if (lib->ramet_retention_get(c->call, &r) != RAMET_OK)
        return cli_fail(c);
    return rules_set(c, r->rules, r->n, on);
}

static int action_on(cli *c)
{
    return rules_switch(c, true);
}

static int action_off(cli *c)
{
    return rules_switch(c, false);
}

static int action_run(cli *c)
{
    ramet_retention_out out;
    progress p;
    ramet_retention_run_in in = {.dry_run = opt_flag(c, "dry-run"), .by = asking(c)};
    progress_begin(&p, c);
    ramet_status status = lib->ramet_retention_run(c->call, &in, progress_step, &p, &out);
    progress_end(&p);
    if (status != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_write(json_begin(c), &form_retention_report, &out, NULL);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    if (out.skipped) {
        printf("another server is running the rules\n");
        return 0;
    }
    printf("%s %s of %s, with %s of their own\n", out.dry_run ? "would remove" : "removed",
           count_text(c, out.sessions, "session", "sessions"), number_text(c, out.looked_at),
           count_text(c, out.entries, "entry", "entries"));
    for (size_t i = 0; i < out.n && i < MAX_SHOWN; i++)
        printf("  %s%s%s (%s)\n", st(c, ST_ID), text_cut(c, out.removals[i].session, 0),
               st(c, ST_OFF), text_cut(c, out.removals[i].rule, 0));
    if (out.sessions > MAX_SHOWN)
        printf("  and %s more\n", number_text(c, out.sessions - MAX_SHOWN));
    return 0;
}

static void needed_show(cli *c, const ramet_explanation *e)
{
    const char *dash = c->unicode ? "\xe2\x80\x93" : "-";
    for (size_t i = 0; i < e->n_needed; i++) {
        const ramet_needed_by *x = &e->needed[i];
        char branch[24];
        const char *who = x->session ? arena_printf(c->mem, "fork %s", text_cut(c, x->session, 60))
                                     : "a session that you may not see";
        const char *which = x->first == x->last
                                ? arena_printf(c->mem, "entry %lld", (long long)x->first)
                                : arena_printf(c->mem, "entries %lld%s%lld", (long long)x->first,
                                               dash, (long long)x->last);
        printf("  %s needs %s of %s\n", who, which, ramet_branch_text(x->branch, branch));
    }
    if (e->n_needed_all > (int64_t)e->n_needed)
        printf("  and %s more\n", number_text(c, e->n_needed_all - (int64_t)e->n_needed));
}

static int action_explain(cli *c)
{
    ramet_explanation *e;
    int code = 0;
    if (c->argc < 2)
        return cli_error(c, RAMET_INVALID, "session", "which session?");
    const ramet_session *s = session_named(c, c->argv[1], &code);
    if (!s)
        return code;
    if (lib->ramet_retention_explain(c->call, s->id, &e) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_write(json_begin(c), &form_explanation, e, NULL);
        return json_end(c);
    }
    printf("%s%s%s %s: %s\n", st(c, ST_BOLD), text_cut(c, e->session, 0), st(c, ST_OFF),
           e->goes ? "goes" : "stays",
           e->goes ? arena_printf(c->mem, "rule %s matches it", text_cut(c, e->rule, 0)) : e->kept);
    for (size_t i = 0; i < e->n; i++)
        printf("  rule %s %s: %s\n", text_cut(c, e->rules[i].rule, 0),
               e->rules[i].matches ? "matches" : "does not match", text_cut(c, e->rules[i].why, 0));
    printf("  %s of its own; gc would remove %s with it\n",
           count_text(c, e->entries, "entry", "entries"), number_text(c, e->freed));
    needed_show(c, e);
    return 0;
}

static int action_log(cli *c)
{
    ramet_removal *list;
    size_t n;
    const char *next;
    int64_t limit = opt_count(c, "limit", 50);
    if (lib->ramet_removals(c->call, limit > 1000 ? 1000 : (int)limit, opt_text(c, "cursor"), &list,
                            &n, &next) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_list all = {.items = list, .n = n, .next_cursor = next};
        form_write(json_begin(c), &form_removal_list, &all, NULL);
        return json_end(c);
    }
    if (!n) {
        cli_note(c, "no rule has removed anything");
        return 0;
    }
    grid *t = grid_new(c, 5, 0);
    grid_head(t, "SESSION", "RULE", "ENTRIES", "BY", "REMOVED");
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, ST_ID, text_cut(c, list[i].session, 60));
        grid_cell(t, ST_OFF, text_cut(c, list[i].rule, 40));
        grid_cell(t, ST_OFF, number_text(c, list[i].entries));
        grid_cell(t, ST_OFF, list[i].who ? text_cut(c, list[i].who, 30) : "-");
        grid_cell(t, ST_DIM, time_ago(c, list[i].at));
    }
    grid_print(t);
    if (next)
        cli_note(c, "more with --cursor '%s'", next);
    return 0;
}

int cmd_retention(cli *c)
{
    static const struct {
        const char *word;
        int (*run)(cli *c);
        int max; /* words */
    } actions[] = {{"show", action_show, 1},       {"add", action_add, 2}, {"rm", action_rm, 2},
                   {"on", action_on, 1},           {"off", action_off, 1}, {"run", action_run, 1},
                   {"explain", action_explain, 2}, {"log", action_log, 1}};
    if (!c->argc)
        return action_show(c);
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(c->argv[0], actions[i].word) != 0)
            continue;
        if (c->argc > actions[i].max)
            return cli_error(c, RAMET_INVALID, "action", "'%s' is one word too many",
                             c->argv[actions[i].max]);
        return actions[i].run(c);
    }
    return cli_error(c, RAMET_INVALID, "action",
                     "'%s' is no action; take show, add, rm, on, off, run, explain or log",
                     c->argv[0]);
}
