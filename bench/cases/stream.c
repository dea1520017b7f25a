/* SPDX-License-Identifier: Apache-2.0
 *
 * The stream benchmark: memory of a process while it streams a long session.
 */
#include "bench/suite.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct stream_result {
    double start, tenth, peak; /* resident KiB: before, after a tenth, peak */
    double seconds;
    int64_t entries;
} stream_result;

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

static stream_result stream_run(bench *b, const big_store *big)
{
    stream_result out = {0};
    malloc_trim(0);
    out.start = resident_kib();
    ramet *store = scratch_open(b, big->name);
    ramet_call *c = scratch_call(store);
    ramet_stream *s;
    const ramet_entry *e;
    double begin = now_us();
    must(c, ramet_stream_open(c, big->session, NULL, &s), "stream");
    for (;;) {
        must(c, ramet_stream_next(s, &e), "stream");
        if (!e)
            break;
        out.entries++;
        if (out.entries % 1000)
            continue;
        double now = resident_kib();
        if (now > out.peak)
            out.peak = now;
        if (out.entries == big->entries / 10)
            out.tenth = now;
    }
    out.seconds = (now_us() - begin) / 1e6;
    ramet_stream_close(s);
    ramet_call_free(c);
    ramet_close(store);
    return out;
}

void case_stream(bench *b)
{
    const big_store *big = big_open(b);
    stream_result r;
    int ends[2], status;
    bench_note("streaming %lld entries", (long long)big->entries);
    fflush(stdout);
    if (pipe(ends) != 0)
        bench_die("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        r = stream_run(b, big);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? 0 : 1);
    }
    close(ends[1]);
    if (pid < 0 || read(ends[0], &r, sizeof r) != (ssize_t)sizeof r ||
        waitpid(pid, &status, 0) != pid || status != 0)
        bench_die("the streaming process failed");
    close(ends[0]);
    report_row(b, "stream", "memory while a session is streamed out", r.peak / 1024, "MiB",
               BAR_MOST, 64,
               "resident at most; %.1f MiB before it began, %.1f MiB after a tenth; %lld entries, "
               "%.0f a second",
               r.start / 1024, r.tenth / 1024, (long long)r.entries, (double)r.entries / r.seconds);
    report_number(b, "start_mib", r.start / 1024);
    report_number(b, "tenth_mib", r.tenth / 1024);
    report_number(b, "entries_per_second", (double)r.entries / r.seconds);
}
