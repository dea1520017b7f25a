/* SPDX-License-Identifier: Apache-2.0
 *
 * edit.c: `ramet edit`, `regenerate` and `sync`: new versions of what was said.
 */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/render.h"

#include "face/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int answer(cli *c, const char *session, const ramet_append_out *out, const char *done)
{
    char branch[24];
    if (c->json) {
        json_list_begin(c, "entries");
        for (size_t i = 0; i < out->n; i++)
            native_entry(&c->jw, &out->entries[i]);
        jw_end_array(&c->jw);
        jw_key(&c->jw, "head");
        native_head(&c->jw, &out->head);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    printf("%s in %s%s%s: %s on %s%s%s; 'ramet undo' goes back\n", done, st(c, ST_ID), text_cut(c, session, 0),
           st(c, ST_OFF), count_text(c, out->head.length, "entry", "entries"), st(c, ST_HERE),
           ramet_branch_text(out->head.branch, branch), st(c, ST_OFF));
    return 0;
}

/* Lets the user change the old text in an editor; the result replaces the words of the
 * command line. */
static int edit_in_editor(cli *c, const ramet_entry *e)
{
    const char *editor = getenv("VISUAL"), *tmp = getenv("TMPDIR");
    if (!editor || !*editor)
        editor = getenv("EDITOR");
    if (!editor || !*editor)
        editor = "vi";
    char *path = arena_printf(c->mem, "%s/ramet-edit-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w+") : NULL;
    if (!f)
        return cli_error(c, RAMET_IO, "", "%s cannot be made: %s", path, strerror(errno));
    fprintf(f, "%s\n", e->text);
    fclose(f);
    int rc = system(arena_printf(c->mem, "%s '%s'", editor, path));
    buf text;
    buf_init(&text, 16 << 20);
    f = fopen(path, "r");
    for (int ch; f && (ch = getc(f)) != EOF;)
        buf_putc(&text, (char)ch);
    if (f)
        fclose(f);
    unlink(path);
    while (text.n && text.p[text.n - 1] == '\n')
        text.p[--text.n] = 0;
    int code = -1;
    if (rc != 0)
        code = cli_error(c, RAMET_STOP, "", "the editor '%s' failed; nothing was changed", editor);
    else if (!text.n || strcmp(text.p, e->text) == 0)
        code = cli_error(c, RAMET_STOP, "", "the text is %s; nothing was changed", text.n ? "the same" : "empty");
    c->argv[2] = arena_strdup(c->mem, text.p);
    c->argc = 3;
    buf_release(&text);
    return code;
}

static bool words_given(const cli *c)
{
    return c->argc > 2 && !(c->argc == 3 && strcmp(c->argv[2], "-") == 0);
}

static ramet_role role_option(const cli *c, ramet_role otherwise)
{
    const char *word = opt_text(c, "role");
    return word ? (ramet_role)ramet_role_parse(word) : otherwise;
}

int cmd_edit(cli *c)
{
    input in;
    ramet_entry_in *entries;
    ramet_append_out out;
    size_t n;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    ramet_entry *e = s ? entry_named(c, s->id, 0, c->argv[1], &code) : NULL;
    if (!e)
        return code;
    if (c->argc == 2 && isatty(STDIN_FILENO) == 1 && (code = edit_in_editor(c, e)) >= 0)
        return code;
    code = words_given(c) ? input_words(&in, c, 2) : input_begin(&in, c, stdin, opt_text(c, "format"));
    if (code < 0)
        code = input_all(&in, role_option(c, e->role), 1, &entries, &n);
    if (code < 0 && !n)
        code = cli_error(c, RAMET_INVALID, "text", "the input holds no entry; nothing was changed");
    if (code < 0 && ramet_edit(c->call, s->id, e->id, entries, opt_text(c, "expect"), &out) != RAMET_OK)
        code = cli_fail(c);
    input_end(&in);
    return code < 0 ? answer(c, s->id, &out, "new version") : code;
}

int cmd_regenerate(cli *c)
{
    input in = {0};
    ramet_entry_in *entries = NULL;
    ramet_append_out out;
    size_t n = 0;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    ramet_entry *e = s ? entry_named(c, s->id, 0, c->argv[1], &code) : NULL;
    if (!e)
        return code;
    code = -1;
    if (c->argc > 2) {
        code = words_given(c) ? input_words(&in, c, 2) : input_begin(&in, c, stdin, opt_text(c, "format"));
        if (code < 0)
            code = input_all(&in, role_option(c, e->role), 1000, &entries, &n);
    }
    if (code < 0 && ramet_regenerate(c->call, s->id, e->id, entries, n, opt_text(c, "expect"), &out) != RAMET_OK)
        code = cli_fail(c);
    if (c->argc > 2)
        input_end(&in);
    return code < 0 ? answer(c, s->id, &out, n ? "new answer" : "ready for a new answer") : code;
}

static int sync_answer(cli *c, const ramet_sync_out *out)
{
    char branch[24];
    if (c->json) {
        native_session(json_begin(c), out->session);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    printf("synced %s%s%s: %s matched, %s added, %s %s%s%s\n", st(c, ST_ID), text_cut(c, out->session->id, 0),
           st(c, ST_OFF), number_text(c, out->matched), number_text(c, out->added),
           out->moved ? "the head moved to" : "the head is still", st(c, ST_HERE),
           ramet_branch_text(out->session->head.branch, branch), st(c, ST_OFF));
    return 0;
}

int cmd_sync(cli *c)
{
    enum { MOST = 100000 };
    bool from_file = c->argc > 1 && strcmp(c->argv[1], "-") != 0;
    input in;
    ramet_entry_in *entries;
    ramet_sync_out out;
    size_t n;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    FILE *f = from_file ? fopen(c->argv[1], "r") : stdin;
    if (!f)
        return cli_error(c, RAMET_INVALID, "file", "%s cannot be read: %s", c->argv[1], strerror(errno));
    code = input_begin(&in, c, f, NULL);
    if (code < 0 && in.format == INPUT_TEXT)
        code = cli_error(c, RAMET_INVALID, "entries", "the input is neither a JSON array nor JSONL");
    if (code < 0)
        code = input_all(&in, RAMET_USER, MOST, &entries, &n);
    if (code < 0 && ramet_sync(c->call, s->id, entries, n, opt_text(c, "expect"), &out) != RAMET_OK)
        code = cli_fail(c);
    input_end(&in);
    if (from_file)
        fclose(f);
    return code < 0 ? sync_answer(c, &out) : code;
}
