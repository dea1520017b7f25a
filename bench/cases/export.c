/* SPDX-License-Identifier: Apache-2.0
 *
 * A long session exported to a file and imported into an empty store, in a process of its own.
 */
#include "bench/suite.h"
#include "ramet/export.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct side {
    double seconds, start, peak; /* resident, KiB: before, at most */
} side;

typedef struct export_result {
    side out, in;
    int64_t entries, bytes;
} export_result;

static double resident_kib(void)
{
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %lf", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib;
}

static bool measure(void *arg, const char *what, int64_t done, int64_t total)
{
    side *s = arg;
    double now = resident_kib();
    (void)what, (void)done, (void)total;
    s->peak = now > s->peak ? now : s->peak;
    return true;
}

static bool file_take(void *arg, const void *bytes, size_t n)
{
    return write(*(int *)arg, bytes, n) == (ssize_t)n;
}

static void side_begin(side *s)
{
    malloc_trim(0);
    s->start = resident_kib();
    s->seconds = now_us();
}

static void side_end(side *s)
{
    s->seconds = (now_us() - s->seconds) / 1e6;
}

static void export_side(bench *b, const big_store *big, const char *path, export_result *r)
{
    ramet_export_out out;
    ramet *store = scratch_open(b, big->name);
    ramet_call *c = scratch_call(store);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    side_begin(&r->out);
    must(c,
         ramet_export(c, &(ramet_export_in){.session = big->session}, file_take, &fd, measure,
                      &r->out, &out),
         "export");
    side_end(&r->out);
    close(fd);
    r->entries = out.entries;
    r->bytes = out.bytes;
    ramet_call_free(c);
    ramet_close(store);
}

static void import_side(bench *b, const char *path, export_result *r)
{
    static char part[1 << 16];
    ramet_import_out out;
    ramet_import *m;
    ssize_t got;
    ramet *store = scratch_open(b, "imported.db");
    ramet_call *c = scratch_call(store);
    int fd = open(path, O_RDONLY);
    side_begin(&r->in);
    must(c, ramet_import_begin(c, NULL, 0, &m), "import");
    while ((got = read(fd, part, sizeof part)) > 0)
        must(c, ramet_import_add(m, part, (size_t)got), "import");
    must(c, ramet_import_run(m, measure, &r->in, &out), "import");
    side_end(&r->in);
    ramet_import_close(m);
    close(fd);
    if (out.entries_added != r->entries)
        bench_die("%lld entries were imported, of %lld", (long long)out.entries_added,
                  (long long)r->entries);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "imported.db"));
}

static void side_report(bench *b, const char *name, const char *what, const side *s,
                        const export_result *r)
{
    report_row(b, name, what, (double)r->entries / s->seconds, "entries/s", BAR_LEAST, 50000,
               "%lld entries of %d bytes, %.0f MiB in %.1f s; %.1f MiB resident at most, %.1f "
               "before",
               (long long)r->entries, ENTRY_BYTES, (double)r->bytes / 1048576, s->seconds,
               s->peak / 1024, s->start / 1024);
    report_number(b, "peak_mib", s->peak / 1024);
}

void case_export(bench *b)
{
    const big_store *big = big_open(b);
    const char *path = scratch_path(b, "exported.jsonl");
    export_result r = {0};
    int ends[2], status;
    bench_note("exporting and importing %lld entries", (long long)big->entries);
    fflush(stdout);
    if (pipe(ends) != 0)
        bench_die("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        export_side(b, big, path, &r);
        import_side(b, path, &r);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &r, sizeof r) != (ssize_t)sizeof r ||
        waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("the exporting process failed");
    close(ends[0]);
    unlink(path);
    side_report(b, "export", "a session exported as JSONL", &r.out, &r);
    side_report(b, "import", "the same imported into an empty store", &r.in, &r);
    double most = r.out.peak > r.in.peak ? r.out.peak : r.in.peak;
    report_row(b, "export memory", "memory while exporting and importing", most / 1024, "MiB",
               BAR_MOST, 96, "resident at most, of %lld entries", (long long)r.entries);
}
