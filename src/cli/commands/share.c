/* SPDX-License-Identifier: Apache-2.0
 *
 * share.c: `ramet share`, `shares` and `unshare`: links to one session for users outside its tree.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

int cmd_share(cli *c)
{
    int code = 0;
    ramet_share *share;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (lib->ramet_share_add(c->call, s->id, opt_flag(c, "write"), opt_span(c, "expires"),
                             &share) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_share(json_begin(c), share);
        return json_end(c);
    }
    puts(share->token);
    cli_note(c, "whoever has it may %s %s; it is not shown again, 'ramet unshare %s %s' ends it",
             share->write ? "read and write" : "read", short_id(c, s->id), short_id(c, s->id),
             short_id(c, share->id));
    return 0;
}

int cmd_shares(cli *c)
{
    int code = 0;
    size_t n;
    ramet_share *list;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (lib->ramet_shares(c->call, s->id, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_list_begin(c, "shares");
        for (size_t i = 0; i < n; i++)
            native_share(&c->jw, &list[i]);
        return json_list_end(c);
    }
    if (!n) {
        cli_note(c, "no share links; 'ramet share SESSION' makes one");
        return 0;
    }
    grid *t = grid_new(c, 5, -1);
    grid_head(t, "ID", "ACCESS", "BY", "MADE", "EXPIRES");
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, list[i].id));
        grid_cell(t, ST_OFF, list[i].write ? "write" : "read");
        grid_cell(t, ST_OFF, list[i].by ? text_cut(c, list[i].by, 30) : "");
        grid_cell(t, ST_DIM, time_ago(c, list[i].created));
        grid_cell(t, ST_OFF, list[i].expires ? time_full(c, list[i].expires) : "never");
    }
    grid_print(t);
    return 0;
}

/* The full id of a link; NULL if the word matches several. */
static const char *share_named(cli *c, const char *session, const char *word)
{
    ramet_share *list;
    size_t n;
    if (lib->ramet_shares(c->call, session, &list, &n) != RAMET_OK)
        return word;
    const char **ids = arena_array(c->mem, n, sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = list[i].id;
    return id_named(ids, n, word);
}

int cmd_unshare(cli *c)
{
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    const char *id = share_named(c, s->id, c->argv[1]);
    if (!id)
        return cli_error(c, RAMET_SHARE_NOT_FOUND, "id",
                         "'%s' fits more than one share link; give more of the id", c->argv[1]);
    if (lib->ramet_share_revoke(c->call, s->id, id) != RAMET_OK)
        return cli_fail(c);
    return answer_revoked(c, "ended the share link", id);
}
