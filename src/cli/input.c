/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c: reads entries from words, text, JSON and JSONL. See input.h.
 */
#include "cli/input.h"

#include "cli/term.h"
#include "form/native.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LINE_LIMIT = 64 << 20, DOCUMENT_LIMIT = 512 << 20 };

/* ------------------------------------------------------------------ bytes */

static int read_failed(input *in)
{
    return cli_error(in->cli, RAMET_IO, "", "the input cannot be read: %s", strerror(errno));
}

static int too_long(input *in, const char *what, int mib)
{
    return cli_error(in->cli, RAMET_TOO_LARGE, "",
                     "%s of the input is over %d MiB; send it in parts as JSONL", what, mib);
}

/* Adds one line with its newline; nothing at the end of the input. */
static int read_line(input *in)
{
    int ch;
    flockfile(in->file);
    while ((ch = getc_unlocked(in->file)) != EOF && !in->text.over) {
        buf_putc(&in->text, (char)ch);
        if (ch == '\n')
            break;
    }
    funlockfile(in->file);
    if (ferror(in->file))
        return read_failed(in);
    return in->text.over ? too_long(in, "a line", LINE_LIMIT >> 20) : -1;
}

static int read_rest(input *in)
{
    char chunk[65536];
    size_t n;
    in->text.max = DOCUMENT_LIMIT;
    while ((n = fread(chunk, 1, sizeof chunk, in->file)) > 0 && !in->text.over)
        buf_add(&in->text, chunk, n);
    if (ferror(in->file))
        return read_failed(in);
    return in->text.over ? too_long(in, "the whole", DOCUMENT_LIMIT >> 20) : -1;
}

static const char *skip_blank(const char *s)
{
    return s + strspn(s, " \t\r\n");
}

/* ------------------------------------------------------------------ what it is */

static int begin_text(input *in)
{
    in->format = INPUT_TEXT;
    if (memchr(in->text.data, 0, in->text.n))
        return cli_error(in->cli, RAMET_INVALID, "text",
                         "the message holds a zero byte, which text may not");
    if (in->text.n && in->text.data[in->text.n - 1] == '\n')
        in->text.data[--in->text.n] = 0;
    if (!*skip_blank(in->text.data))
        return cli_error(in->cli, RAMET_INVALID, "text",
                         "the message is empty; give it as words or on standard input");
    return -1;
}

static int begin_json(input *in)
{
    json_error error;
    in->format = INPUT_JSON;
    if (!json_parse(in->cli->mem, in->text.data, in->text.n, 0, &in->doc, &error))
        return cli_error(
            in->cli, RAMET_INVALID, "",
            "the input is not valid JSON: %s at byte %zu; --format text takes it as it is",
            error.message, error.offset);
    const json_node *root = &in->doc.nodes[0];
    in->next = json_is(root, JSON_ARRAY) ? json_first(&in->doc, root) : root;
    return -1;
}

static int detect(input *in)
{
    json_doc line;
    const char *start = skip_blank(in->text.data);
    if (*start == '{' && json_parse(in->cli->mem, in->text.data, in->text.n, 0, &line, NULL)) {
        in->format = INPUT_JSONL;
        in->pending = true;
        in->line = 1;
        return -1;
    }
    int code = read_rest(in);
    if (code >= 0)
        return code;
    start = skip_blank(in->text.data);
    const char *second = *start ? skip_blank(start + 1) : start;
    /* "[note] …" is a message, "[{" is a list. */
    if (*start == '{' || (*start == '[' && (*second == '{' || *second == ']')))
        return begin_json(in);
    return begin_text(in);
}

int input_begin(input *in, cli *c, FILE *file, const char *format)
{
    memset(in, 0, sizeof *in);
    in->cli = c;
    in->file = file;
    in->defaults = options_have(c->cmd, "role");
    buf_init(&in->text, LINE_LIMIT);
    if (file == stdin && isatty(STDIN_FILENO) == 1)
        cli_note(c, "reading from the terminal; end with Ctrl-D on a line of its own");
    if (format && strcmp(format, "jsonl") == 0) {
        in->format = INPUT_JSONL;
        return -1;
    }
    bool known = format && strcmp(format, "auto") != 0;
    int code = known ? read_rest(in) : read_line(in);
    while (code < 0 && !known && in->text.n && !*skip_blank(in->text.data) && !feof(file))
        code = read_line(in);
    if (code >= 0)
        return code;
    if (!known)
        return detect(in);
    return strcmp(format, "json") == 0 ? begin_json(in) : begin_text(in);
}

int input_words(input *in, cli *c, int from)
{
    memset(in, 0, sizeof *in);
    in->cli = c;
    in->defaults = true;
    buf_init(&in->text, LINE_LIMIT);
    for (int i = from; i < c->argc; i++) {
        buf_puts(&in->text, i > from ? " " : "");
        buf_puts(&in->text, c->argv[i]);
    }
    return begin_text(in);
}

void input_end(input *in)
{
    buf_release(&in->text);
}

const char *input_place(input *in)
{
    if (in->format == INPUT_JSONL)
        return arena_printf(in->cli->mem, "line %lld", (long long)in->line);
    return arena_printf(in->cli->mem, "entry %lld", (long long)in->number + 1);
}

/* ------------------------------------------------------------------ entries */

static int usage_option(cli *c, arena *a, const ramet_usage **out)
{
    const char *text = opt_text(c, "usage");
    json_doc d;
    ramet_error error;
    ramet_usage *u = arena_alloc(a, sizeof *u);
    if (!text)
        return -1;
    json_parse(a, text, strlen(text), 0, &d, NULL);
    if (!native_usage_in(a, &d, &d.nodes[0], u, &error))
        return cli_report(c, &error);
    *out = u;
    return -1;
}

static int next_text(input *in, arena *a, ramet_role role, ramet_entry_in *out)
{
    cli *c = in->cli;
    memset(out, 0, sizeof *out);
    out->role = role;
    out->text = in->text.data;
    out->id = opt_text(c, "id");
    out->state_delta = opt_text(c, "state");
    in->ended = true;
    return usage_option(c, a, &out->usage);
}

/* Reports an entry that is refused: its place, the reason, and what was added before. */
static int bad_entry(input *in, ramet_status status, const char *field, const char *why)
{
    const char *kept = "";
    if (in->added)
        kept = arena_printf(in->cli->mem, "; the first %s were added",
                            count_text(in->cli, in->added, "entry", "entries"));
    return cli_error(in->cli, status, field, "%s: %s%s", input_place(in), why, kept);
}

static int next_object(input *in, arena *a, const json_doc *d, const json_node *v,
                       ramet_entry_in *out)
{
    static const char *const alone[] = {"id", "usage", "state"};
    ramet_error error;
    if (native_entry_in(a, d, v, out, &error)) {
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
            if (in->defaults && opt_flag(in->cli, alone[i]))
                return cli_error(
                    in->cli, RAMET_INVALID, alone[i],
                    "--%s goes with a plain message; write it into the JSON entry instead",
                    alone[i]);
        return -1;
    }
    return bad_entry(in, error.status, error.field, error.message);
}

static int next_line(input *in, arena *a, ramet_entry_in *out, bool *got)
{
    json_doc d;
    json_error error;
    int code;
    while (!in->pending) {
        buf_clear(&in->text);
        if ((code = read_line(in)) >= 0)
            return code;
        if (!in->text.n)
            return -1;
        in->line++;
        in->pending = *skip_blank(in->text.data) != 0;
    }
    in->pending = false;
    char *line = arena_memdup(a, in->text.data, in->text.n);
    if (!json_parse(a, line, in->text.n, 0, &d, &error))
        return bad_entry(in, RAMET_INVALID, "",
                         arena_printf(in->cli->mem, "not valid JSON: %s at byte %zu", error.message,
                                      error.offset));
    *got = true;
    return next_object(in, a, &d, &d.nodes[0], out);
}

int input_next(input *in, arena *a, ramet_role role, ramet_entry_in *out, bool *got)
{
    int code = -1;
    *got = false;
    if (in->format == INPUT_JSONL) {
        code = next_line(in, a, out, got);
    } else if (in->format == INPUT_JSON && in->next) {
        const json_node *root = &in->doc.nodes[0], *v = in->next;
        code = next_object(in, a, &in->doc, v, out);
        in->next = v == root ? NULL : json_next(&in->doc, root, v);
        *got = true;
    } else if (in->format == INPUT_TEXT && !in->ended) {
        code = next_text(in, a, role, out);
        *got = true;
    }
    if (code >= 0 || !*got)
        return code;
    in->number++;
    if (!in->defaults)
        return -1;
    if (!out->role && opt_text(in->cli, "role"))
        out->role = role;
    out->turn_id = out->turn_id ? out->turn_id : opt_text(in->cli, "turn");
    out->channel = out->channel ? out->channel : opt_text(in->cli, "channel");
    out->author = out->author ? out->author : opt_text(in->cli, "author");
    return -1;
}

int input_all(input *in, ramet_role role, size_t max, ramet_entry_in **out, size_t *n)
{
    VEC(ramet_entry_in) list = {0};
    for (;;) {
        ramet_entry_in e;
        bool got;
        int code = input_next(in, in->cli->mem, role, &e, &got);
        if (code >= 0)
            return code;
        if (!got)
            break;
        if (list.n == max)
            return cli_error(in->cli, RAMET_BATCH_TOO_LARGE, "entries",
                             "the input holds more than %zu entries", max);
        VEC_PUSH(in->cli->mem, &list, e);
    }
    *out = list.items;
    *n = list.n;
    return -1;
}
