/* SPDX-License-Identifier: Apache-2.0
 *
 * log.c: `ramet log` shows a history, `ramet record` everything that was ever appended.
 *
 * Entries are printed as they are read and then freed: a million of them take no more memory than
 * ten.
 */
#include "cli/commands.h"
#include "cli/graph.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

typedef struct printer {
    cli *cli;
    arena *scratch; /* replaces c->mem while an entry is printed */
    bool oneline;
    int digits;
    bool any;
} printer;

static void printer_begin(printer *p, cli *c, int64_t length)
{
    memset(p, 0, sizeof *p);
    p->cli = c;
    p->scratch = arena_new();
    p->oneline = opt_flag(c, "oneline");
    p->digits = snprintf(NULL, 0, "%lld", (long long)length);
    if (c->json)
        json_list_begin(c, "entries");
}

static void printer_entry(printer *p, const ramet_entry *e)
{
    cli *c = p->cli;
    arena *keep = c->mem;
    if (c->json) {
        native_entry(&c->jw, e);
        json_flush(c);
        return;
    }
    c->mem = p->scratch;
    if (p->oneline) {
        entry_print_line(c, e, p->digits);
    } else {
        if (p->any)
            putchar('\n');
        entry_print(c, e);
    }
    p->any = true;
    c->mem = keep;
    arena_reset(p->scratch);
}

static void printer_end(printer *p)
{
    arena_free(p->scratch);
}

/* ------------------------------------------------------------------ ways to walk */

static ramet_status walk_forward(cli *c, const char *session, const ramet_read_in *in, printer *p)
{
    ramet_stream *stream;
    const ramet_entry *e = NULL;
    ramet_status s = lib->ramet_stream_open(c->walk, session, in, &stream);
    if (s != RAMET_OK)
        return s;
    while ((s = lib->ramet_stream_next(stream, &e)) == RAMET_OK && e)
        printer_entry(p, e);
    lib->ramet_stream_close(stream);
    return s;
}

/* The last `limit` entries, newest first if `print` is set; otherwise only finds where they begin.
 * limit 0: all. */
static ramet_status walk_back(cli *c, const char *session, const ramet_read_in *base, int64_t limit,
                              printer *p, int64_t *first)
{
    enum { PAGE = 500 };
    ramet_read_in in = *base;
    ramet_page page;
    char *before = NULL;
    int64_t left = limit ? limit : INT64_MAX;
    in.tail = true;
    do {
        in.limit = left < PAGE ? (int)left : PAGE;
        in.before = before;
        lib->ramet_call_reset(c->walk);
        ramet_status s = lib->ramet_read(c->walk, session, &in, &page);
        if (s != RAMET_OK)
            return s;
        for (size_t i = page.n; p && i-- > 0;)
            printer_entry(p, &page.entries[i]);
        left -= (int64_t)page.n;
        if (page.n) {
            *first = page.entries[0].position;
            /* Allocated separately: it must outlive the reset, and c->mem would grow with the
             * walk. */
            free(before);
            before = strdup(page.entries[0].id);
        }
    } while (page.more_before && page.n && left > 0);
    free(before);
    return RAMET_OK;
}

static ramet_status log_walk(cli *c, const ramet_session *s, ramet_read_in *in, printer *p)
{
    int64_t limit = opt_count(c, "limit", 0), first = 0;
    if (opt_flag(c, "reverse"))
        return walk_back(c, s->id, in, limit, p, &first);
    if (limit) {
        in->versions = false;
        ramet_status status = walk_back(c, s->id, in, limit, NULL, &first);
        if (status != RAMET_OK)
            return status;
        in->by_position = true;
        in->position = first;
        in->versions = true;
    }
    return walk_forward(c, s->id, in, p);
}

static int log_end(cli *c, const ramet_head *head)
{
    int64_t limit = opt_count(c, "limit", 0);
    if (!c->json)
        return 0;
    jw_end_array(&c->jw);
    jw_key(&c->jw, "head");
    native_head(&c->jw, head);
    jw_kbool(&c->jw, "more_before", limit && head->length > limit);
    jw_kbool(&c->jw, "more_after", false);
    jw_end_object(&c->jw);
    return json_end(c);
}

static int log_path(cli *c, const ramet_session *s, ramet_read_in *in)
{
    ramet_read_in last = {.limit = 1, .tail = true, .branch = in->branch, .log = in->log};
    ramet_page page;
    printer p;
    if (lib->ramet_read(c->call, s->id, &last, &page) != RAMET_OK)
        return cli_fail(c);
    printer_begin(&p, c, page.head.length);
    if (!c->json && !p.oneline && !c->quiet) {
        session_print_head(c, s, &page.head);
        putchar('\n');
    }
    /* The head may move while a long history is printed. */
    in->branch = page.head.branch;
    ramet_status status = page.head.length ? log_walk(c, s, in, &p) : RAMET_OK;
    printer_end(&p);
    if (status != RAMET_OK)
        return cli_report(c, lib->ramet_call_error(c->walk));
    if (!page.head.length && !c->json)
        cli_note(c, "no entries yet; 'ramet append %s TEXT' adds one", short_id(c, s->id));
    return log_end(c, &page.head);
}

int cmd_log(cli *c)
{
    ramet_read_in in = {.versions = true};
    const char *log = opt_text(c, "log");
    int code = 0;
    ramet_session *s = session_named(c, c->argc ? c->argv[0] : "@", &code);
    if (!s || !branch_option(c, &in.branch, &code))
        return code;
    if (opt_flag(c, "graph"))
        return graph_show(c, s);
    in.channel = opt_text(c, "channel");
    in.view = opt_flag(c, "context")  ? RAMET_VIEW_CONTEXT
              : opt_flag(c, "record") ? RAMET_VIEW_RECORD
                                      : RAMET_VIEW_SHOWN;
    in.log = log && strcmp(log, "adk") == 0 ? RAMET_LOG_ADK : RAMET_LOG_MAIN;
    return log_path(c, s, &in);
}

/* ------------------------------------------------------------------ record */

int cmd_record(cli *c)
{
    enum { PAGE = 500 };
    int64_t from = opt_count(c, "from", 1) - 1, left = opt_count(c, "limit", INT64_MAX), total = 0;
    const char *log = opt_text(c, "log");
    ramet_log which = log && strcmp(log, "adk") == 0 ? RAMET_LOG_ADK : RAMET_LOG_MAIN;
    ramet_page page = {0};
    printer p;
    int code = 0;
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s)
        return code;
    printer_begin(&p, c, s->head.length);
    do {
        lib->ramet_call_reset(c->walk);
        ramet_status status = lib->ramet_record(c->walk, s->id, which, from,
                                                left < PAGE ? (int)left : PAGE, &page, &total);
        if (status != RAMET_OK) {
            printer_end(&p);
            return cli_report(c, lib->ramet_call_error(c->walk));
        }
        for (size_t i = 0; i < page.n; i++)
            printer_entry(&p, &page.entries[i]);
        from += (int64_t)page.n;
        left -= (int64_t)page.n;
    } while (page.n && from < total && left > 0);
    printer_end(&p);
    if (!c->json)
        return 0;
    jw_end_array(&c->jw);
    jw_kint(&c->jw, "total", total);
    jw_end_object(&c->jw);
    return json_end(c);
}
