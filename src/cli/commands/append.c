/* SPDX-License-Identifier: Apache-2.0
 *
 * append.c: `ramet append` adds messages at the end of a history.
 *
 * JSONL of any length is added in batches, each durable before the next is read, so memory stays
 * flat. Each batch is conditional on the head that the previous one left.
 */
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/render.h"

#include "form/native.h"

#include <string.h>
#include <sys/stat.h>

enum { BATCH = 1000, BATCH_BYTES = 8 << 20 };

typedef struct appending {
    cli *cli;
    const char *session;
    ramet_append_in in;
    ramet_entry_in entries[BATCH + 1];
    char expected[65];
    int64_t given, added;
    ramet_head head;
} appending;

static int send_batch(appending *a, input *in)
{
    ramet_append_out out;
    cli *c = a->cli;
    a->in.entries = a->entries;
    if (lib->ramet_append(c->walk, a->session, &a->in, &out) != RAMET_OK) {
        ramet_error e = *lib->ramet_call_error(c->walk);
        if (a->given) {
            char why[sizeof e.message];
            memcpy(why, e.message, sizeof why);
            snprintf(e.message, sizeof e.message,
                     "%.400s (in the batch up to %s; the first %s were added)", why,
                     input_place(in), count_text(c, a->given, "entry", "entries"));
        }
        return cli_report(c, &e);
    }
    for (size_t i = 0; c->json && i < out.n; i++) {
        native_entry(&c->jw, &out.entries[i]);
        json_flush(c);
    }
    a->given += (int64_t)out.n;
    in->added = a->given;
    a->added += (int64_t)out.added;
    a->head = out.head;
    a->head.entry_id = arena_strdup(c->mem, out.head.entry_id);
    memcpy(a->expected, out.head.hash, sizeof a->expected);
    a->in.expected_head = a->expected;
    a->in.n = 0;
    lib->ramet_call_reset(c->walk);
    return -1;
}

/* Measured in bytes if the input is a file: its entries cannot be counted beforehand. */
static bool append_progress(const appending *a, const input *in, progress *p)
{
    struct stat file;
    if (!in->file || fstat(fileno(in->file), &file) != 0 || !S_ISREG(file.st_mode))
        return progress_step(p, "appending", a->given, 0);
    p->bytes = true;
    return progress_step(p, "appending", (int64_t)ftello(in->file), (int64_t)file.st_size);
}

static int append_all(appending *a, input *in, ramet_role role)
{
    arena *mem = arena_new();
    progress p;
    bool got = true;
    int code = -1;
    /* A document is one batch, however long: all or nothing. */
    bool split = in->format == INPUT_JSONL;
    progress_begin(&p, a->cli);
    while (code < 0 && got) {
        code = input_next(in, mem, role, &a->entries[a->in.n], &got);
        if (code < 0 && got)
            a->in.n++;
        bool full = a->in.n == BATCH || arena_used(mem) > BATCH_BYTES;
        if (code < 0 && a->in.n && (!got || (split && full))) {
            code = send_batch(a, in);
            arena_reset(mem);
            if (code < 0 && !append_progress(a, in, &p))
                code = cli_error(a->cli, RAMET_STOP, "",
                                 "stopped; the first %lld entries were added", (long long)a->given);
        } else if (code < 0 && got && a->in.n > BATCH) {
            code = cli_error(a->cli, RAMET_BATCH_TOO_LARGE, "entries",
                             "the array holds more than %d entries; send them as JSONL", BATCH);
        }
    }
    progress_end(&p);
    arena_free(mem);
    return code;
}

static int append_answer(appending *a)
{
    cli *c = a->cli;
    if (c->json) {
        jw_end_array(&c->jw);
        jw_key(&c->jw, "head");
        native_head(&c->jw, &a->head);
        jw_end_object(&c->jw);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    char branch[24];
    printf("%s %s to %s%s%s: %s on %s%s%s", "added", count_text(c, a->added, "entry", "entries"),
           st(c, ST_ID), text_cut(c, a->session, 0), st(c, ST_OFF),
           count_text(c, a->head.length, "entry", "entries"), st(c, ST_HERE),
           ramet_branch_text(a->head.branch, branch), st(c, ST_OFF));
    if (a->head.entry_id)
        printf(", last is %s", short_id(c, a->head.entry_id));
    if (a->given > a->added)
        printf(" (%s there already)", number_text(c, a->given - a->added));
    putchar('\n');
    return 0;
}

int cmd_append(cli *c)
{
    appending *a = arena_alloc(c->mem, sizeof *a);
    const char *role = opt_text(c, "role"), *log = opt_text(c, "log");
    bool words = c->argc > 1 && !(c->argc == 2 && strcmp(c->argv[1], "-") == 0);
    input in;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &a->in.branch, &code))
        return code;
    a->cli = c;
    a->session = s->id;
    a->in.expected_head = opt_text(c, "expect");
    a->in.log = log && strcmp(log, "adk") == 0 ? RAMET_LOG_ADK : RAMET_LOG_MAIN;
    code = words ? input_words(&in, c, 1) : input_begin(&in, c, stdin, opt_text(c, "format"));
    if (c->json)
        json_list_begin(c, "entries");
    if (code < 0)
        code = append_all(a, &in, role ? (ramet_role)ramet_role_parse(role) : RAMET_USER);
    if (code < 0 && !a->given)
        code =
            cli_error(c, RAMET_INVALID, "entries", "the input holds no entry; nothing was added");
    input_end(&in);
    return code < 0 ? append_answer(a) : code;
}
