/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.c: `ramet merge` brings what one session has into another.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"
#include "form/native.h"

#include <string.h>

/* What the other options say when none is named. */
static ramet_merge_mode mode_option(const cli *c, const ramet_merge_in *in)
{
    const char *mode = opt_text(c, "mode");
    if (mode)
        return (ramet_merge_mode)ramet_merge_mode_parse(mode);
    bool lands = opt_text(c, "text") || opt_text(c, "agent");
    return in->n_picks ? RAMET_PICK : lands ? RAMET_LAND : RAMET_FAST_FORWARD;
}

/* ENTRY of the source, or SESSION::ENTRY. False: reported. */
static bool pick_named(cli *c, const ramet_merge_in *in, const char *target, const char *word,
                       ramet_merge_pick *out, int *code)
{
    const char *session = in->from ? in->from : target, *parted = strstr(word, "::");
    int64_t branch = in->from_branch;
    if (parted) {
        ramet_side_in side;
        if (!side_named(c, arena_memdup(c->mem, word, (size_t)(parted - word)), &side, code))
            return false;
        session = side.session;
        branch = side.branch;
        word = parted + 2;
    }
    ramet_entry *e = entry_named(c, session, branch, word, code);
    if (!e)
        return false;
    *out = (ramet_merge_pick){session, branch, e->id};
    return true;
}

static bool picks_option(cli *c, const char *target, ramet_merge_in *in, int *code)
{
    const char *const *words = opt_list(c, "entry", &in->n_picks);
    ramet_merge_pick *picks = arena_array(c->mem, in->n_picks + 1, sizeof *picks);
    for (size_t i = 0; words && i < in->n_picks; i++)
        if (!pick_named(c, in, target, words[i], &picks[i], code))
            return false;
    if (!words)
        in->n_picks = 0;
    in->picks = picks;
    return true;
}

/* A text, or what standard input holds. False: reported. */
static bool text_option(cli *c, ramet_merge_in *in, int *code)
{
    buf text;
    char piece[4096];
    size_t n;
    in->text = opt_text(c, "text");
    if (!in->text || strcmp(in->text, "-") != 0)
        return true;
    buf_init(&text, (size_t)16 << 20);
    while (!text.over && (n = fread(piece, 1, sizeof piece, stdin)) > 0)
        buf_add(&text, piece, n);
    if (text.over)
        *code = cli_error(c, RAMET_TOO_LARGE, "text", "the text has more than 16 MiB");
    in->text = text.over ? NULL : buf_keep(&text, c->mem);
    return in->text != NULL;
}

static int preview_answer(cli *c, const ramet_session *target, const ramet_merge_out *out)
{
    if (c->json) {
        form_write(json_begin(c), &form_merge_preview, out, NULL);
        return json_end(c);
    }
    int digits = snprintf(NULL, 0, "%lld", (long long)(target->head.length + out->count));
    for (size_t i = 0; i < out->n; i++)
        entry_print_line(c, &out->entries[i], digits);
    cli_note(c, "%s would come to %s; nothing was changed",
             count_text(c, out->count, "entry", "entries"), short_id(c, target->id));
    return 0;
}

static int merge_answer(cli *c, const ramet_merge_in *in, const ramet_merge_out *out)
{
    if (c->json) {
        native_merge_done done = {in->mode, out->count};
        native_session_more(json_begin(c), out->session, &(native_more){.merge = &done});
        return json_end(c);
    }
    const char *what = count_text(c, out->count, "entry", "entries");
    return session_answer(c, out->session, NULL, arena_printf(c->mem, "merged %s into", what));
}

int cmd_merge(cli *c)
{
    ramet_merge_in in = {.share = opt_text(c, "share"),
                         .agent = opt_text(c, "agent"),
                         .when_idle = opt_flag(c, "wait"),
                         .dry_run = opt_flag(c, "dry-run"),
                         .expected_head = opt_text(c, "expect")};
    ramet_merge_out out;
    ramet_side_in from = {0};
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || (c->argc > 1 && !side_named(c, c->argv[1], &from, &code)))
        return code;
    in.from = from.session;
    in.from_branch = from.branch;
    if (!picks_option(c, s->id, &in, &code) || !text_option(c, &in, &code))
        return code;
    in.mode = mode_option(c, &in);
    if (lib->ramet_merge(c->call, s->id, &in, &out) != RAMET_OK)
        return cli_fail(c);
    return in.dry_run ? preview_answer(c, s, &out) : merge_answer(c, &in, &out);
}
