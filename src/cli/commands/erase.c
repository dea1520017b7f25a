/* SPDX-License-Identifier: Apache-2.0
 *
 * erase.c: `ramet erase` takes content out of the store for good.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

static void lines_print(cli *c, const char *head, const ramet_erase_line *lines, size_t n)
{
    if (n)
        printf("%s\n", head);
    for (size_t i = 0; i < n; i++) {
        printf("  %s %s", number_text(c, lines[i].n), lines[i].what);
        if (lines[i].why)
            printf(": %s", lines[i].why);
        putchar('\n');
    }
}

static void receipt_print(cli *c, const ramet_receipt *r)
{
    enum { MAX_SHOWN = 20 };
    printf("%s %s", r->dry_run ? "would erase" : "erased",
           count_text(c, r->entries, "entry", "entries"));
    if (r->already)
        printf("; %s erased before", count_text(c, r->already, "was", "were"));
    putchar('\n');
    for (size_t i = 0; i < r->n_places && i < MAX_SHOWN; i++)
        printf("  %s%s%s  %s\n", st(c, ST_ID), text_cut(c, r->places[i].session, 0), st(c, ST_OFF),
               number_text(c, r->places[i].entries));
    int64_t more = r->elsewhere;
    for (size_t i = MAX_SHOWN; i < r->n_places; i++)
        more += r->places[i].entries;
    if (more)
        printf("  %s in other sessions\n", number_text(c, more));
    lines_print(c, r->dry_run ? "would go:" : "gone:", r->went, r->n_went);
    lines_print(c, r->dry_run ? "would stay:" : "stayed:", r->stayed, r->n_stayed);
    for (size_t i = 0; i < r->n_notes; i++)
        printf("note: %s\n", r->notes[i]);
}

static int erasures_list(cli *c, const char *session, int64_t branch)
{
    ramet_erasure *list;
    size_t n;
    if (lib->ramet_erasures(c->call, session, branch, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        form_list all = {.items = list, .n = n};
        form_write(json_begin(c), &form_erasure_list, &all, NULL);
        return json_end(c);
    }
    if (!n) {
        cli_note(c, "nothing of this history was erased");
        return 0;
    }
    grid *t = grid_new(c, 4, 0);
    grid_head(t, "ENTRIES", "BY", "ERASED", "REASON");
    for (size_t i = 0; i < n; i++) {
        grid_row(t);
        grid_cell(t, ST_OFF, number_text(c, list[i].entries));
        grid_cell(t, ST_OFF, list[i].by ? text_cut(c, list[i].by, 30) : "-");
        grid_cell(t, ST_DIM, time_ago(c, list[i].at));
        grid_cell(t, ST_OFF, text_cut(c, list[i].reason, 60));
    }
    grid_print(t);
    return 0;
}

/* --list: what was erased before. */
static int erase_list(cli *c)
{
    int64_t branch = 0;
    int code = 0;
    if (c->argc != 1 || opt_text(c, "user") || opt_flag(c, "tree"))
        return cli_error(c, RAMET_INVALID, "list",
                         "with --list give one SESSION, and nothing else");
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    return erasures_list(c, s->id, branch);
}

/* What the words name. False: `code` says how it ended. */
static bool target_read(cli *c, ramet_erase_in *in, int *code)
{
    in->user = opt_text(c, "user");
    if (in->user ? c->argc > 0 : c->argc == 0) {
        *code = cli_error(c, RAMET_INVALID, "erase",
                          "name one thing to erase: SESSION, SESSION ENTRY, SESSION --tree, or "
                          "--user USER");
        return false;
    }
    if (in->user)
        return true;
    bool tree = opt_flag(c, "tree");
    if (tree && c->argc > 1) {
        *code = cli_error(c, RAMET_INVALID, "tree", "with --tree no ENTRY is given");
        return false;
    }
    ramet_session *s = tree && strlen(c->argv[0]) == 36 ? NULL : session_named(c, c->argv[0], code);
    if (tree) {
        in->tree = s ? s->tree_id : c->argv[0];
        return s || strlen(c->argv[0]) == 36;
    }
    if (!s)
        return false;
    in->session = s->id;
    if (c->argc < 2)
        return true;
    if (!branch_option(c, &in->branch, code))
        return false;
    const ramet_entry *e = entry_named(c, s->id, in->branch, c->argv[1], code);
    in->entry_id = e ? e->id : NULL;
    return e != NULL;
}

/* A user is erased by an administrator: by the program itself, or by one whom the server knows. */
static ramet_call *erase_call(cli *c, ramet_erase_in *in)
{
    if (!in->user || lib != &client_local)
        return c->call;
    in->by = getenv("RAMET_USER");
    return lib->ramet_call_new(c->store, NULL, "ramet-cli");
}

static bool is_confirmed(cli *c, ramet_call *call, const ramet_erase_in *in, int *code)
{
    ramet_erase_in dry = *in;
    ramet_receipt *r;
    dry.dry_run = true;
    if (in->dry_run || opt_flag(c, "yes"))
        return true;
    if (lib->ramet_erase(call, &dry, &r) != RAMET_OK) {
        *code = cli_report(c, lib->ramet_call_error(call));
        return false;
    }
    const char *count = count_text(c, r->entries, "entry", "entries");
    if (term_ask(c, arena_printf(c->mem, "erase %s for good?", count)))
        return true;
    *code = cli_error(c, RAMET_STOP, "", "nothing was erased; --yes does it without asking");
    return false;
}

int cmd_erase(cli *c)
{
    ramet_erase_in in = {.reason = opt_text(c, "reason"), .dry_run = opt_flag(c, "dry-run")};
    ramet_receipt *r;
    int code = 0;
    if (opt_flag(c, "list"))
        return erase_list(c);
    if (!target_read(c, &in, &code))
        return code;
    ramet_call *call = erase_call(c, &in);
    if (is_confirmed(c, call, &in, &code)) {
        if (lib->ramet_erase(call, &in, &r) != RAMET_OK) {
            code = cli_report(c, lib->ramet_call_error(call));
        } else if (c->json) {
            native_erase(json_begin(c), &(native_receipt){r});
            code = json_end(c);
        } else if (!c->quiet) {
            receipt_print(c, r);
        }
    }
    if (call != c->call)
        lib->ramet_call_free(call);
    return code;
}
