/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.c: `ramet fsck`, `gc`, `backup`, `stat` and `reindex` maintain the store.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"
#include "form/native.h"

#include <sys/stat.h>

int cmd_fsck(cli *c)
{
    ramet_fsck_out out;
    progress p;
    int64_t began = time_mono_us();
    progress_begin(&p, c);
    ramet_status status = lib->ramet_fsck(c->call, progress_step, &p, &out);
    progress_end(&p);
    if (status != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_fsck(json_begin(c), &out);
        json_end(c);
        return out.n_all ? ramet_status_exit(RAMET_DAMAGED) : 0;
    }
    for (size_t i = 0; i < out.n; i++)
        printf("%s%s%s %s\n", st(c, ST_WARN), gl(c, G_CROSS), st(c, ST_OFF),
               text_cut(c, out.faults[i].what, 0));
    if (out.n_all > (int64_t)out.n)
        printf("and %s more\n", number_text(c, out.n_all - (int64_t)out.n));
    if (!c->quiet)
        printf("%s%s%s %s, %s, %s, %s: %s in %s\n", st(c, out.n_all ? ST_WARN : ST_HERE),
               gl(c, out.n_all ? G_CROSS : G_CHECK), st(c, ST_OFF),
               count_text(c, out.trees, "tree", "trees"),
               count_text(c, out.sessions, "session", "sessions"),
               count_text(c, out.branches, "branch", "branches"),
               count_text(c, out.entries, "entry", "entries"),
               out.n_all ? count_text(c, out.n_all, "fault", "faults") : "no faults",
               span_text(c, time_mono_us() - began));
    if (!c->quiet && out.erased)
        printf("%s: 'ramet show' tells by whom, when and why\n",
               count_text(c, out.erased, "entry was erased", "entries were erased"));
    return out.n_all ? ramet_status_exit(RAMET_DAMAGED) : 0;
}

int cmd_gc(cli *c)
{
    ramet_gc_out out;
    progress p;
    progress_begin(&p, c);
    ramet_status status = lib->ramet_gc(c->call, opt_flag(c, "dry-run"), progress_step, &p, &out);
    progress_end(&p);
    if (status != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_gc(json_begin(c), &out);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    printf("%s %s, %s, %s (%s)", out.dry_run ? "would remove" : "removed",
           count_text(c, out.sessions, "session", "sessions"),
           count_text(c, out.branches, "branch", "branches"),
           count_text(c, out.entries, "entry", "entries"), bytes_text(c, out.bytes));
    if (out.expired)
        printf("; %s expired", count_text(c, out.expired, "session has", "sessions have"));
    if (out.attachments)
        printf("; %s (%s)", count_text(c, out.attachments, "attachment", "attachments"),
               bytes_text(c, out.attachment_bytes));
    putchar('\n');
    return 0;
}

int cmd_backup(cli *c)
{
    struct stat file;
    progress p;
    progress_begin(&p, c);
    ramet_status status = lib->ramet_backup(c->call, c->argv[0], progress_step, &p);
    progress_end(&p);
    if (status != RAMET_OK)
        return cli_fail(c);
    int64_t bytes = stat(c->argv[0], &file) == 0 ? (int64_t)file.st_size : 0;
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kstr(w, "path", c->argv[0]);
        jw_kint(w, "bytes", bytes);
        jw_end_object(w);
        return json_end(c);
    }
    if (!c->quiet)
        printf("copied the store to %s (%s)\n", text_cut(c, c->argv[0], 0), bytes_text(c, bytes));
    if (lib != &client_local)
        cli_note(c, "attachments are files beside the server's store: they are not in the copy");
    return 0;
}

static void fact(cli *c, const char *name, const char *value)
{
    printf("%s%-10s%s %s\n", st(c, ST_DIM), name, st(c, ST_OFF), value);
}

int cmd_stat(cli *c)
{
    ramet_stats s;
    if (lib->ramet_stat(c->call, &s) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        native_stats(json_begin(c), &s);
        return json_end(c);
    }
    fact(c, "store", text_cut(c, s.path, 0));
    fact(c, "schema", number_text(c, s.schema));
    fact(c, "trees", number_text(c, s.trees));
    fact(c, "sessions",
         arena_printf(c->mem, "%s (%s; %s deleted, not yet gone)", number_text(c, s.sessions),
                      count_text(c, s.forks, "fork", "forks"), number_text(c, s.deleted)));
    fact(c, "branches", number_text(c, s.branches));
    fact(c, "entries", number_text(c, s.entries));
    if (s.attachments)
        fact(c, "attached",
             arena_printf(c->mem, "%s (%s)",
                          count_text(c, s.attachments, "attachment", "attachments"),
                          bytes_text(c, s.attachment_bytes)));
    fact(c, "file",
         arena_printf(c->mem, "%s, and %s not yet folded in", bytes_text(c, s.file_bytes),
                      bytes_text(c, s.wal_bytes)));
    fact(c, "search",
         arena_printf(c->mem, "%s, %s behind", bytes_text(c, s.search_bytes),
                      count_text(c, s.unindexed, "event", "events")));
    fact(c, "events", number_text(c, s.events));
    return 0;
}

int cmd_reindex(cli *c)
{
    int64_t indexed;
    if (lib->ramet_search_update(c->call, true, &indexed) != RAMET_OK)
        return cli_fail(c);
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kint(w, "indexed", indexed);
        jw_end_object(w);
        return json_end(c);
    }
    if (!c->quiet)
        printf("made the search index anew: %s\n", count_text(c, indexed, "entry", "entries"));
    return 0;
}
