/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprint benchmark: resident memory of the server when idle, a minute after a burst of load,
 * and during ten minutes of load.
 */
#include "bench/suite.h"

#include "base/util.h"
#include "bench/ask.h"
#include "bench/child.h"
#include "bench/wrk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIB 1048576.0
#define CONNECTIONS 64
#define SEARCHES 20
#define SETTLE_S 15 /* after the start: the first indexing is over and its memory released */
#define REST_S 60   /* after the burst */
#define CHURN_S 600 /* the first part is not compared: caches are still filling */
#define CHURN_WARM_S 120

static double resident_mib(const child *c)
{
    return (double)child_resident(c) / MIB;
}

/* Appends and pages, each for some seconds, then searches. */
static void burst(bench *b, const child *server, const char *script, const char *session)
{
    char page[256];
    snprintf(page, sizeof page, "/ramet/v1/sessions/%s/entries?tail=true&limit=50", session);
    wrk_run(b, child_url(server, "/"), script, CONNECTIONS);
    wrk_run(b, child_url(server, page), NULL, CONNECTIONS);
    /* The first search indexes what was appended, which takes longer than the timeout of wrk. */
    asker a = ask_new("X-User-Id: local");
    for (int i = 0; i < SEARCHES; i++)
        bench_ask(&a, child_url(server, "/ramet/v1/search?q=the"), NULL, 0, 200);
    ask_free(&a);
}

/* Makes a store with a session of a thousand entries, and the script that appends to other
 * sessions. */
static const char *store_make(bench *b, const char *script)
{
    ramet *store = scratch_open(b, "footprint.db");
    ramet_call *c = ramet_call_new(store, "local", "bench");
    words w = {31};
    const char *session = scratch_session(c);
    scratch_load(c, session, 1000, &w);
    wrk_append_script(store, CONNECTIONS, script);
    ramet_call_free(c);
    ramet_close(store);
    return session;
}

void case_footprint(bench *b)
{
    char *script = xstrdup(scratch_path(b, "footprint.lua"));
    signal(SIGPIPE, SIG_IGN);
    const char *session = store_make(b, script);
    child server = child_serve(b, "footprint.db", NULL);
    bench_note("memory of the idle server");
    sleep(SETTLE_S);
    double before = resident_mib(&server);
    report_row(b, "footprint_idle", "memory of the idle server", before, "MiB", BAR_MOST, 32,
               "%d seconds after it has started", SETTLE_S);
    bench_note("memory after a burst of load");
    burst(b, &server, script, session);
    double peak = resident_mib(&server);
    unsigned rest = b->quick ? REST_S / 4 : REST_S;
    sleep(rest);
    report_row(b, "footprint_burst",
               b->quick ? "memory 15 seconds after a burst" : "memory a minute after a burst",
               resident_mib(&server), "MiB", BAR_MOST, 64,
               "%.1f MiB before, %.1f MiB at the end of the burst", before, peak);
    report_number(b, "peak_mib", peak);
    child_end(&server);
    file_remove(scratch_path(b, "footprint.db"));
    free((char *)session);
    free(script);
}

void case_churn(bench *b)
{
    char *script = xstrdup(scratch_path(b, "churn.lua"));
    signal(SIGPIPE, SIG_IGN);
    const char *session = store_make(b, script);
    child server = child_serve(b, "footprint.db", NULL);
    double length = b->quick ? CHURN_S / 20.0 : CHURN_S, warm = length * CHURN_WARM_S / CHURN_S;
    double start = now_us(), first = 0, most = 0;
    bench_note("memory during %.0f seconds of churn", length);
    while (now_us() - start < length * 1e6) {
        burst(b, &server, script, session);
        double now = resident_mib(&server);
        if (now_us() - start < warm * 1e6 || first == 0)
            first = now > first ? now : first;
        most = now > most ? now : most;
    }
    report_row(b, "footprint_churn", "growth of memory during ten minutes of churn",
               (most / first - 1) * 100, "%", BAR_MOST, 10,
               "%.1f MiB at most in the first %.0f seconds, %.1f MiB in all %.0f", first, warm,
               most, length);
    child_end(&server);
    file_remove(scratch_path(b, "footprint.db"));
    free((char *)session);
    free(script);
}
