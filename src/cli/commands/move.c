/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c: `ramet rewind`, `undo`, `redo` and `switch` move a session's head.
 */
#include "cli/commands/move.h"

#include "cli/commands.h"
#include "cli/render.h"

#include <string.h>

bool cut_options(cli *c, const char *session, int64_t branch, ramet_at *at, ramet_cut_policy *cut,
                 int *code)
{
    const char *policy = opt_text(c, "cut");
    memset(at, 0, sizeof *at);
    *cut = policy ? (ramet_cut_policy)ramet_cut_parse(policy) : RAMET_CUT_EXACT;
    at->side = opt_flag(c, "before") ? RAMET_BEFORE : RAMET_AFTER;
    const char *name = c->argc > 1 ? c->argv[1] : opt_text(c, "at");
    if (c->argc > 1 && opt_text(c, "at")) {
        *code = cli_error(c, RAMET_INVALID, "entry", "give the entry once: as ENTRY or with --at");
        return false;
    }
    if (!name) {
        if (at->side == RAMET_AFTER)
            return true;
        *code = cli_error(c, RAMET_INVALID, "entry", "--before needs an ENTRY to cut before");
        return false;
    }
    ramet_entry *e = entry_named(c, session, branch, name, code);
    if (!e)
        return false;
    at->entry_id = e->id;
    return true;
}

int cmd_rewind(cli *c)
{
    ramet_move_in in = {0};
    ramet_session *out;
    ramet_cut cut;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !cut_options(c, s->id, 0, &in.at, &in.cut, &code))
        return code;
    if (!in.at.entry_id)
        return cli_error(c, RAMET_INVALID, "entry",
                         "rewind needs the ENTRY to go back to; 'ramet log' shows them");
    in.reason = opt_text(c, "reason");
    in.expected_head = opt_text(c, "expect");
    if (lib->ramet_rewind(c->call, s->id, &in, &out, &cut) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, &cut, "rewound");
}

typedef ramet_status (*step_fn)(ramet_call *c, const char *session, const char *expected,
                                ramet_session **out);

static int step(cli *c, step_fn go, const char *done)
{
    ramet_session *out;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    if (go(c->call, s->id, opt_text(c, "expect"), &out) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, NULL, done);
}

int cmd_undo(cli *c)
{
    return step(c, lib->ramet_undo, "undone in");
}

int cmd_redo(cli *c)
{
    return step(c, lib->ramet_redo, "redone in");
}

/* ------------------------------------------------------------------ switch */

/* Where the head was before its last move. False: reported. */
static bool branch_before(cli *c, const char *session, int64_t *branch, int *code)
{
    ramet_move *list;
    size_t n;
    bool more;
    if (lib->ramet_head_log(c->call, session, 0, 1, &list, &n, &more) != RAMET_OK) {
        *code = cli_fail(c);
        return false;
    }
    if (!n) {
        *code = cli_error(c, RAMET_BRANCH_NOT_FOUND, "branch",
                          "there is no branch before this one: the head was never moved");
        return false;
    }
    *branch = list[0].from;
    return true;
}

static bool branch_of_version(cli *c, const char *session, int64_t *branch, int *code)
{
    const char *at = opt_text(c, "at");
    int64_t pick = opt_count(c, "pick", 0);
    ramet_version *list;
    size_t n;
    if (!at || !pick) {
        *code =
            cli_error(c, RAMET_INVALID, "branch", "give a BRANCH, or both --at ENTRY and --pick N");
        return false;
    }
    ramet_entry *e = entry_named(c, session, 0, at, code);
    if (!e)
        return false;
    if (lib->ramet_versions(c->call, session, 0, e->id, &list, &n) != RAMET_OK) {
        *code = cli_fail(c);
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].number == pick) {
            *branch = list[i].branch;
            return true;
        }
    *code = cli_error(c, RAMET_BRANCH_NOT_FOUND, "pick", "--pick is %lld; the message at %s has %s",
                      (long long)pick, at, count_text(c, (int64_t)n, "version", "versions"));
    return false;
}

int cmd_switch(cli *c)
{
    ramet_session *out;
    int64_t branch = 0;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    bool ok = c->argc < 2                    ? branch_of_version(c, s->id, &branch, &code)
              : strcmp(c->argv[1], "-") == 0 ? branch_before(c, s->id, &branch, &code)
                                             : branch_named(c, s->id, c->argv[1], &branch, &code);
    if (!ok)
        return code;
    if (lib->ramet_switch(c->call, s->id, branch, opt_text(c, "expect"), &out) != RAMET_OK)
        return cli_fail(c);
    return session_answer(c, out, NULL, "switched");
}
