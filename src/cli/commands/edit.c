/* SPDX-License-Identifier: Apache-2.0
 *
 * edit.c: `ramet edit`, `regenerate` and `sync`: new versions of messages.
 */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/render.h"

#include "form/native.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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
    printf("%s in %s%s%s: %s on %s%s%s; 'ramet undo' goes back\n", done, st(c, ST_ID),
           text_cut(c, session, 0), st(c, ST_OFF),
           count_text(c, out->head.length, "entry", "entries"), st(c, ST_HERE),
           ramet_branch_text(out->head.branch, branch), st(c, ST_OFF));
    return 0;
}

/* Runs the user's editor on a file, through the shell: it may be a command with words. Meanwhile
 * Ctrl-C belongs to the editor. */
static bool editor_run(cli *c, const char *editor, const char *path)
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", arena_printf(c->mem, "%s \"$@\"", editor), editor, path,
              (char *)NULL);
        _exit(127);
    }
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    signal(SIGINT, before);
    return child > 0 && status == 0;
}

static const char *editor_name(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");
    return visual && *visual ? visual : editor && *editor ? editor : "vi";
}

/* A new file with the text; NULL: reported. */
static char *editor_file(cli *c, const char *text, int *code)
{
    const char *folder = getenv("TMPDIR");
    char *path = arena_printf(c->mem, "%s/ramet-edit-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!f) {
        *code = cli_error(c, RAMET_IO, "", "%s cannot be made: %s", path, strerror(errno));
        return NULL;
    }
    fprintf(f, "%s\n", text);
    fclose(f);
    return path;
}

static char *editor_result(cli *c, const char *path)
{
    enum { MAX_TEXT_BYTES = 16 << 20 };
    buf text;
    FILE *f = fopen(path, "r");
    buf_init(&text, MAX_TEXT_BYTES);
    for (int ch; f && (ch = getc(f)) != EOF;)
        buf_putc(&text, (char)ch);
    if (f)
        fclose(f);
    size_t n = text.n;
    while (n && text.data[n - 1] == '\n')
        n--;
    char *out = arena_memdup(c->mem, text.data, n);
    buf_release(&text);
    return out;
}

/* Lets the user change the old text in an editor; the result becomes the words of the
 * command line. -1, or an exit code. */
static int edit_in_editor(cli *c, const ramet_entry *e)
{
    const char *editor = editor_name();
    int code = 0;
    char *path = editor_file(c, e->text, &code);
    if (!path)
        return code;
    bool ran = editor_run(c, editor, path);
    char *text = editor_result(c, path);
    unlink(path);
    if (!ran)
        return cli_error(c, RAMET_STOP, "", "the editor '%s' failed; nothing was changed", editor);
    if (!*text || strcmp(text, e->text) == 0)
        return cli_error(c, RAMET_STOP, "", "the text is %s; nothing was changed",
                         *text ? "the same" : "empty");
    c->argv[2] = text;
    c->argc = 3;
    return -1;
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
    code =
        words_given(c) ? input_words(&in, c, 2) : input_begin(&in, c, stdin, opt_text(c, "format"));
    if (code < 0)
        code = input_all(&in, role_option(c, e->role), 1, &entries, &n);
    if (code < 0 && !n)
        code = cli_error(c, RAMET_INVALID, "text", "the input holds no entry; nothing was changed");
    if (code < 0 &&
        lib->ramet_edit(c->call, s->id, e->id, entries, opt_text(c, "expect"), &out) != RAMET_OK)
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
        code = words_given(c) ? input_words(&in, c, 2)
                              : input_begin(&in, c, stdin, opt_text(c, "format"));
        if (code < 0)
            code = input_all(&in, role_option(c, e->role), 1000, &entries, &n);
    }
    if (code < 0 && lib->ramet_regenerate(c->call, s->id, e->id, entries, n, opt_text(c, "expect"),
                                          &out) != RAMET_OK)
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
    printf("synced %s%s%s: %s matched, %s added, %s %s%s%s\n", st(c, ST_ID),
           text_cut(c, out->session->id, 0), st(c, ST_OFF), number_text(c, out->matched),
           number_text(c, out->added), out->moved ? "the head moved to" : "the head is still",
           st(c, ST_HERE), ramet_branch_text(out->session->head.branch, branch), st(c, ST_OFF));
    return 0;
}

int cmd_sync(cli *c)
{
    enum { MAX_ENTRIES = 100000 };
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
        return cli_error(c, RAMET_INVALID, "file", "%s cannot be read: %s", c->argv[1],
                         strerror(errno));
    code = input_begin(&in, c, f, NULL);
    if (code < 0 && in.format == INPUT_TEXT)
        code =
            cli_error(c, RAMET_INVALID, "entries", "the input is neither a JSON array nor JSONL");
    if (code < 0)
        code = input_all(&in, RAMET_USER, MAX_ENTRIES, &entries, &n);
    if (code < 0 &&
        lib->ramet_sync(c->call, s->id, entries, n, opt_text(c, "expect"), &out) != RAMET_OK)
        code = cli_fail(c);
    input_end(&in);
    if (from_file)
        fclose(f);
    return code < 0 ? sync_answer(c, &out) : code;
}
