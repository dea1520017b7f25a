/* SPDX-License-Identifier: Apache-2.0
 *
 * hold.c: `ramet hold` protects a session or a tree, `release` ends that, `holds` lists holds.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

typedef ramet_status (*hold_op)(ramet_call *call, const char *id, const ramet_hold_in *in,
                                ramet_hold **out);

static ramet_status op_set(ramet_call *call, const char *id, const ramet_hold_in *in,
                           ramet_hold **out)
{
    return lib->ramet_hold_set(call, id, in, out);
}

static ramet_status op_release(ramet_call *call, const char *id, const ramet_hold_in *in,
                               ramet_hold **out)
{
    *out = NULL;
    return lib->ramet_hold_release(call, id, in);
}

/* An administrator acts for the program itself, or is known to the server as one. */
static ramet_call *hold_call(cli *c, bool administrator)
{
    return administrator && lib == &client_local ? lib->ramet_call_new(c->store, NULL, "ramet-cli")
                                                 : c->call;
}

static bool not_found(ramet_status st)
{
    return st == RAMET_SESSION_NOT_FOUND || st == RAMET_HIDDEN;
}

/* The word is the id of a session, that of a tree, or what else names a session. */
static int hold_do(cli *c, hold_op op, ramet_hold_in *in, ramet_hold **out)
{
    int code = 0;
    bool tree = in->tree;
    ramet_call *call = hold_call(c, in->administrator);
    ramet_status st = op(call, c->argv[0], in, out);
    if (not_found(st) && !tree) {
        in->tree = true;
        st = op(call, c->argv[0], in, out);
        in->tree = not_found(st) ? tree : true;
    }
    if (not_found(st)) {
        ramet_session *s = session_named(c, c->argv[0], &code);
        if (s)
            st = op(call, s->id, in, out);
    }
    if (!code && st != RAMET_OK)
        code = cli_report(c, lib->ramet_call_error(call));
    if (*out && call != c->call) {
        ramet_hold *copy = arena_alloc(c->mem, sizeof *copy);
        *copy = **out;
        copy->tree_id = arena_strdup(c->mem, copy->tree_id);
        copy->session = copy->session ? arena_strdup(c->mem, copy->session) : NULL;
        copy->who = copy->who ? arena_strdup(c->mem, copy->who) : NULL;
        copy->reason = arena_strdup(c->mem, copy->reason);
        *out = copy;
    }
    if (call != c->call)
        lib->ramet_call_free(call);
    return code;
}

static const char *hold_what(cli *c, const char *session, const char *tree)
{
    return session ? arena_printf(c->mem, "session %s", text_cut(c, session, 60))
                   : arena_printf(c->mem, "tree %s", text_cut(c, tree, 60));
}

int cmd_hold(cli *c)
{
    ramet_hold *out = NULL;
    ramet_hold_in in = {.tree = opt_flag(c, "tree"),
                        .administrator = opt_flag(c, "admin"),
                        .reason = opt_text(c, "reason")};
    if (in.administrator && lib == &client_local)
        in.by = c->user;
    int code = hold_do(c, op_set, &in, &out);
    if (code)
        return code;
    if (c->json) {
        form_write(json_begin(c), &form_hold, out, NULL);
        return json_end(c);
    }
    cli_note(c, "%s is on hold; 'ramet release %s%s%s' ends that",
             hold_what(c, out->session, out->tree_id), text_cut(c, c->argv[0], 60),
             in.tree ? " --tree" : "", in.administrator ? " --admin" : "");
    return 0;
}

int cmd_release(cli *c)
{
    ramet_hold *none = NULL;
    ramet_hold_in in = {.tree = opt_flag(c, "tree"), .administrator = opt_flag(c, "admin")};
    int code = hold_do(c, op_release, &in, &none);
    if (code)
        return code;
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kbool(w, "released", true);
        jw_end_object(w);
        return json_end(c);
    }
    cli_note(c, "released %s", in.tree ? "the tree" : text_cut(c, c->argv[0], 60));
    return 0;
}

int cmd_holds(cli *c)
{
    ramet_hold *list;
    size_t n;
    int code = 0;
    const char *id = NULL;
    if (c->argc) {
        const ramet_session *s = session_named(c, c->argv[0], &code);
        if (!s)
            return code;
        id = s->id;
    }
    ramet_call *call = hold_call(c, !id);
    if (lib->ramet_holds(call, id, &list, &n) != RAMET_OK)
        code = cli_report(c, lib->ramet_call_error(call));
    else if (c->json) {
        json_list_begin(c, "holds");
        for (size_t i = 0; i < n; i++)
            form_write(&c->jw, &form_hold, &list[i], NULL);
        code = json_list_end(c);
    } else if (!n)
        cli_note(c, "nothing is on hold%s", id ? " there" : "");
    else {
        grid *t = grid_new(c, 4, 3);
        grid_head(t, "ON HOLD", "BY", "SINCE", "REASON");
        for (size_t i = 0; i < n; i++) {
            grid_row(t);
            grid_cell(t, ST_BOLD, hold_what(c, list[i].session, list[i].tree_id));
            grid_cell(t, ST_OFF,
                      arena_printf(c->mem, "%s%s", list[i].who ? text_cut(c, list[i].who, 30) : "-",
                                   list[i].administrator ? " (administrator)" : ""));
            grid_cell(t, ST_DIM, time_ago(c, list[i].at));
            grid_cell(t, ST_OFF, text_cut(c, list[i].reason, 0));
        }
        grid_print(t);
    }
    if (call != c->call)
        lib->ramet_call_free(call);
    return code;
}
