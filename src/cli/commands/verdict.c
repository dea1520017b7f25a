/* SPDX-License-Identifier: Apache-2.0
 *
 * verdict.c: `ramet verdict` records which of several histories was better.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

static const char *side_text(cli *c, const ramet_side_in *s)
{
    char branch[24];
    return s->branch ? arena_printf(c->mem, "%s@%s", short_id(c, s->session),
                                    ramet_branch_text(s->branch, branch))
                     : short_id(c, s->session);
}

static void print_verdict(cli *c, const ramet_verdict *v)
{
    printf("%s%lld%s ", st(c, ST_ID), (long long)v->number, st(c, ST_OFF));
    for (size_t i = 0; i < v->n; i++) {
        bool won = (int)i == v->winner;
        printf(" %s%s%s%s%s", st(c, won ? ST_HERE : ST_OFF), won ? gl(c, G_CHECK) : "",
               won ? " " : "", side_text(c, &v->sides[i]), st(c, ST_OFF));
    }
    printf("%s  %s%s, %s%s\n", v->winner < 0 ? "  a tie" : "", st(c, ST_DIM),
           text_cut(c, v->who ? v->who : "", 40), time_ago(c, v->at), st(c, ST_OFF));
    if (v->reason && *v->reason)
        text_print(c, v->reason, 4, ST_OFF);
}

static int list_verdicts(cli *c, const char *session)
{
    ramet_verdict *list;
    size_t n;
    bool more;
    int64_t limit = opt_count(c, "limit", 50);
    if (lib->ramet_verdicts(c->call, session, 0, limit > 1000 ? 1000 : (int)limit, &list, &n,
                            &more) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "verdicts");
        for (size_t i = 0; i < n; i++)
            native_verdict(&c->jw, &list[i]);
        jw_end_array(&c->jw);
        jw_kbool(&c->jw, "more", more);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    for (size_t i = 0; i < n; i++)
        print_verdict(c, &list[i]);
    if (!n)
        cli_note(c, "no verdicts yet");
    return 0;
}

static int winner_option(cli *c, int *winner)
{
    const char *word = opt_text(c, "winner");
    char *end;
    if (!word)
        return cli_error(c, RAMET_INVALID, "winner",
                         "--winner is missing: the number of the better side, or tie");
    if (strcmp(word, "tie") == 0) {
        *winner = -1;
        return -1;
    }
    long n = strtol(word, &end, 10);
    if (*end || n < 1 || n > c->argc)
        return cli_error(c, RAMET_INVALID, "winner",
                         "--winner is '%s'; it must be a side from 1 to %d, or tie", word, c->argc);
    *winner = (int)n - 1;
    return -1;
}

int cmd_verdict(cli *c)
{
    ramet_side_in sides[16];
    ramet_verdict *v;
    int winner = -1, code = 0;
    if (c->argc > 16)
        return cli_error(c, RAMET_INVALID, "sides", "%d sides are too many; 16 at most", c->argc);
    for (int i = 0; i < c->argc; i++)
        if (!side_named(c, c->argv[i], &sides[i], &code))
            return code;
    if (c->argc < 2)
        return list_verdicts(c, c->argc ? sides[0].session : NULL);
    if ((code = winner_option(c, &winner)) >= 0)
        return code;
    if (lib->ramet_verdict_add(c->call, sides, (size_t)c->argc, winner, opt_text(c, "reason"),
                               &v) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_verdict(json_begin(c), v);
        return json_end(c);
    }
    if (!c->quiet)
        print_verdict(c, v);
    return 0;
}
