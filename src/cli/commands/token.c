/* SPDX-License-Identifier: Apache-2.0
 *
 * token.c: `ramet token` creates, lists and revokes the API keys of a server.
 */
#include "cli/commands.h"
#include "ramet/tokens.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>

static int token_create(cli *c)
{
    ramet_token *t;
    ramet_token_in in = {.user = opt_text(c, "user"),
                         .client = opt_text(c, "client"),
                         .roles = opt_text(c, "roles"),
                         .note = opt_text(c, "note"),
                         .life_us = opt_span(c, "expires")};
    if (!in.user)
        return cli_error(c, RAMET_INVALID, "user", "a token stands for a user; give --user USER");
    if (lib->ramet_token_add(c->call, &in, &t) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_token(json_begin(c), t);
        return json_end(c);
    }
    puts(t->secret);
    cli_note(c, "it stands for %s and is not shown again; 'ramet token revoke %s' ends it",
             text_cut(c, t->user, 40), short_id(c, t->id));
    return 0;
}

static const char *token_state(cli *c, const ramet_token *t)
{
    if (t->revoked)
        return "revoked";
    if (!t->expires)
        return "never";
    return t->expires <= c->now ? "expired" : time_full(c, t->expires);
}

static int token_list(cli *c)
{
    ramet_token *list;
    size_t n;
    if (lib->ramet_tokens(c->call, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "tokens");
        for (size_t i = 0; i < n; i++)
            native_token(&c->jw, &list[i]);
        return json_list_end(c);
    }
    if (!n) {
        cli_note(c, "no tokens; 'ramet token create --user USER' makes one");
        return 0;
    }
    grid *t = grid_new(c, 8, 7);
    grid_head(t, "ID", "USER", "CLIENT", "ROLES", "MADE", "USED", "EXPIRES", "NOTE");
    for (size_t i = 0; i < n; i++) {
        const ramet_token *x = &list[i];
        bool over = x->revoked || (x->expires && x->expires <= c->now);
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, x->id));
        grid_cell(t, over ? ST_GONE : ST_BOLD, text_cut(c, x->user, 30));
        grid_cell(t, ST_OFF, x->client ? text_cut(c, x->client, 30) : "");
        grid_cell(t, ST_OFF, text_cut(c, x->roles, 30));
        grid_cell(t, ST_DIM, time_ago(c, x->created));
        grid_cell(t, ST_DIM, x->used ? time_ago(c, x->used) : "never");
        grid_cell(t, over ? ST_GONE : ST_OFF, token_state(c, x));
        grid_cell(t, ST_OFF, text_first_line(c, x->note, 60));
    }
    grid_print(t);
    return 0;
}

/* The full id of a token; NULL if the word matches several. */
static const char *token_named(cli *c, const char *word)
{
    ramet_token *list;
    size_t n;
    if (lib->ramet_tokens(c->call, &list, &n) != RAMET_OK)
        return word;
    const char **ids = arena_array(c->mem, n, sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = list[i].id;
    return id_named(ids, n, word);
}

static int token_revoke(cli *c)
{
    if (c->argc < 2)
        return cli_error(c, RAMET_INVALID, "id", "which? 'ramet token list' shows the ids");
    const char *id = token_named(c, c->argv[1]);
    if (!id)
        return cli_error(c, RAMET_TOKEN_NOT_FOUND, "id",
                         "'%s' fits more than one token; give more of the id", c->argv[1]);
    if (lib->ramet_token_revoke(c->call, id) != RAMET_OK)
        return cli_fail(c);
    return answer_revoked(c, "revoked the token", id);
}

int cmd_token(cli *c)
{
    static const struct {
        const char *word;
        int (*run)(cli *c);
        int max; /* words */
    } actions[] = {
        {"create", token_create, 1}, {"list", token_list, 1}, {"revoke", token_revoke, 2}};
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
        if (strcmp(c->argv[0], actions[i].word) != 0)
            continue;
        if (c->argc > actions[i].max)
            return cli_error(c, RAMET_INVALID, "action", "'%s' is one word too many",
                             c->argv[actions[i].max]);
        return actions[i].run(c);
    }
    return cli_error(c, RAMET_INVALID, "action", "'%s' is no action; take create, list or revoke",
                     c->argv[0]);
}
