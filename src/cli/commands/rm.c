/* SPDX-License-Identifier: Apache-2.0
 *
 * rm.c: `ramet rm` deletes sessions, `ramet restore` restores them.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

static void report(cli *c, const ramet_session *s, const ramet_delete_out *out)
{
    enum { MAX_SHOWN = 20 };
    printf("%s %s; 'ramet gc' takes %s and %s for good, 7 days later at the earliest\n",
           out->dry_run ? "would delete" : "deleted",
           count_text(c, (int64_t)out->n, "session", "sessions"), out->n == 1 ? "it" : "them",
           count_text(c, out->entries, "entry", "entries"));
    for (size_t i = 0; i < out->n && i < MAX_SHOWN; i++)
        printf("  %s%s%s\n", st(c, ST_ID), text_cut(c, out->ids[i], 0), st(c, ST_OFF));
    if (out->n > MAX_SHOWN)
        printf("  and %s more\n", number_text(c, (int64_t)(out->n - MAX_SHOWN)));
    if (!out->dry_run)
        printf("back with: ramet restore %s%s\n", out->n > 1 ? "--tree " : "",
               text_cut(c, s->id, 0));
}

int cmd_rm(cli *c)
{
    bool tree = opt_flag(c, "tree"), dry = opt_flag(c, "dry-run");
    ramet_delete_out out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (tree && !dry && !opt_flag(c, "yes")) {
        if (lib->ramet_session_delete(c->call, s->id, true, true, &out) != RAMET_OK)
            return cli_fail(c);
        if (!term_ask(c, arena_printf(c->mem, "delete %s?",
                                      count_text(c, (int64_t)out.n, "session", "sessions"))))
            return cli_error(c, RAMET_STOP, "", "%s not deleted; --yes does it without asking",
                             count_text(c, (int64_t)out.n, "session was", "sessions were"));
    }
    if (lib->ramet_session_delete(c->call, s->id, tree, dry, &out) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_deleted(json_begin(c), &out);
        return json_end(c);
    }
    if (!c->quiet)
        report(c, s, &out);
    return 0;
}

int cmd_restore(cli *c)
{
    ramet_session *out;
    if (lib->ramet_session_restore(c->call, c->argv[0], opt_flag(c, "tree"), &out) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, NULL, "restored");
}
