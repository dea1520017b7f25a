/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c: `ramet search` searches the text of all messages.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

/* Prints the snippet with its marks coloured, or between asterisks without colour. */
static void print_snippet(cli *c, const ramet_hit *h)
{
    size_t at = 0, n = strlen(h->snippet);
    const char *open = c->color ? st(c, ST_MARK) : "*", *close = c->color ? st(c, ST_OFF) : "*";
    fputs("    ", stdout);
    for (size_t i = 0; i <= h->n_marks; i++) {
        size_t from = i < h->n_marks ? (size_t)h->marks[i].start : n;
        size_t len = i < h->n_marks ? (size_t)h->marks[i].length : 0;
        if (from < at || from + len > n)
            continue;
        fputs(text_safe(c->mem, arena_memdup(c->mem, h->snippet + at, from - at), false), stdout);
        if (len)
            printf("%s%s%s", open,
                   text_safe(c->mem, arena_memdup(c->mem, h->snippet + from, len), false), close);
        at = from + len;
    }
    putchar('\n');
}

static void print_hit(cli *c, const ramet_hit *h)
{
    char branch[24];
    printf("%s%s%s  %s%s%s  %s@%lld%s %s%s%s  %s%s%s", st(c, ST_BOLD), text_cut(c, h->title, 48),
           st(c, ST_OFF), st(c, ST_ID), short_id(c, h->session), st(c, ST_OFF), st(c, ST_ID),
           (long long)h->position + 1, st(c, ST_OFF), st(c, role_style(h->role)),
           ramet_role_name(h->role), st(c, ST_OFF), st(c, ST_DIM), time_ago(c, h->created),
           st(c, ST_OFF));
    if (h->abandoned)
        printf("  %son %s, abandoned%s", st(c, ST_NOTE), ramet_branch_text(h->branch, branch),
               st(c, ST_OFF));
    putchar('\n');
    print_snippet(c, h);
}

static int answer(cli *c, const ramet_hits *hits, const char *query)
{
    if (c->json) {
        json_list_begin(c, "hits");
        for (size_t i = 0; i < hits->n; i++)
            native_hit(&c->jw, &hits->items[i]);
        jw_end_array(&c->jw);
        jw_kstr(&c->jw, "next_cursor", hits->next_cursor);
        jw_kbool(&c->jw, "bounded", hits->bounded);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    for (size_t i = 0; i < hits->n; i++) {
        if (i)
            putchar('\n');
        print_hit(c, &hits->items[i]);
    }
    if (!hits->n)
        cli_note(c, "nothing found for '%s'", text_cut(c, query, 60));
    else if (hits->next_cursor)
        cli_note(c, "\nthere are more; -n N shows the first N");
    if (hits->bounded)
        cli_note(c, "ranked among the newest matches only: there were very many");
    return 0;
}

/* A session named by an option; NULL if the option is missing. */
static bool session_option(cli *c, const char *name, ramet_session **out, int *code)
{
    const char *word = opt_text(c, name);
    *out = word ? session_named(c, word, code) : NULL;
    return !word || *out;
}

int cmd_search(cli *c)
{
    ramet_search_in in = {0};
    ramet_hits hits;
    ramet_session *session, *tree;
    const char *role = opt_text(c, "role");
    int64_t limit = opt_count(c, "limit", 20);
    int code = 0;
    buf query;
    if (!c->argc)
        return cli_error(c, RAMET_INVALID, "words",
                         "WORDS is missing; usage: ramet search WORDS...");
    if (!session_option(c, "session", &session, &code) || !session_option(c, "tree", &tree, &code))
        return code;
    buf_init(&query, 1 << 16);
    for (int i = 0; i < c->argc; i++)
        buf_printf(&query, "%s%s", i ? " " : "", c->argv[i]);
    in.query = query.data;
    in.session = session ? session->id : NULL;
    in.tree = tree ? tree->tree_id : NULL;
    in.tag = opt_text(c, "tag");
    in.agent = opt_text(c, "agent");
    in.role = role ? (ramet_role)ramet_role_parse(role) : 0;
    in.since = opt_time(c, "since");
    in.until = opt_time(c, "until");
    in.limit = limit > 200 ? 200 : (int)limit;
    in.cursor = opt_text(c, "cursor");
    code = lib->ramet_search(c->call, &in, &hits) == RAMET_OK ? answer(c, &hits, query.data)
                                                              : cli_fail(c);
    buf_release(&query);
    return code;
}
