/* SPDX-License-Identifier: Apache-2.0
 *
 * Merges against forks: picking one entry, and a fast-forward over a long history.
 */
#include "bench/suite.h"

#include "ramet/merge.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct merges {
    ramet_call *call;
    const char *source;          /* the long one */
    const char *picker, *behind; /* forks of its root: one picks, the other is fast-forwarded */
    ramet_merge_in pick, forward;
    sample forks, picks, forwards;
} merges;

static void merge_time(merges *m, const char *into, const ramet_merge_in *in, sample *times)
{
    ramet_merge_out out;
    double start = now_us();
    must(m->call, ramet_merge(m->call, into, in, &out), "merge");
    sample_add(times, now_us() - start);
    ramet_call_reset(m->call);
}

static void merge_round(merges *m)
{
    ramet_session *s;
    double start = now_us();
    must(m->call, ramet_fork(m->call, m->source, &(ramet_fork_in){0}, &s, NULL), "fork");
    sample_add(&m->forks, now_us() - start);
    ramet_call_reset(m->call);
    merge_time(m, m->picker, &m->pick, &m->picks);
    merge_time(m, m->behind, &m->forward, &m->forwards);
    must(m->call, ramet_undo(m->call, m->behind, NULL, &s), "undo");
    ramet_call_reset(m->call);
}

static void merge_row(bench *b, const char *name, const char *title, sample *times, sample *forks)
{
    double us = sample_at(times, 0.5), against = sample_at(forks, 0.5);
    report_row(b, name, title, us / against, "x", BAR_MOST, 1.5,
               "median %.0f us against %.0f us; p99 %.0f and %.0f", us, against,
               sample_at(times, 0.99), sample_at(forks, 0.99));
    report_number(b, "us", us);
    report_number(b, "us_p99", sample_at(times, 0.99));
    report_number(b, "against_us", against);
}

void case_merge(bench *b)
{
    ramet *store = scratch_open(b, "merge.db");
    merges m = {.call = scratch_call(store)};
    words w = {9};
    int64_t entries = b->quick ? 10000 : 100000;
    bench_note("merges");
    const char *root = scratch_session(m.call);
    scratch_load(m.call, root, 10, &w);
    m.source = scratch_fork(m.call, root);
    m.picker = scratch_fork(m.call, root);
    m.behind = scratch_fork(m.call, root);
    scratch_load(m.call, m.source, entries, &w);
    ramet_page page;
    ramet_read_in in = {.by_position = true, .position = entries / 2, .limit = 1};
    must(m.call, ramet_read(m.call, m.source, &in, &page), "read");
    char *id = xstrdup(page.entries[0].id);
    ramet_merge_pick pick = {m.source, 0, id};
    m.pick = (ramet_merge_in){.mode = RAMET_PICK, .picks = &pick, .n_picks = 1};
    m.forward = (ramet_merge_in){.mode = RAMET_FAST_FORWARD, .from = m.source};
    for (int i = 0; i < 20; i++)
        merge_round(&m);
    m.forks.n = m.picks.n = m.forwards.n = 0;
    for (int i = 0; i < (b->quick ? 100 : 1000); i++)
        merge_round(&m);
    merge_row(b, "merge_pick", "merge by pick of one entry against fork", &m.picks, &m.forks);
    merge_row(b, "merge_forward",
              b->quick ? "fast_forward of 10,000 entries against fork"
                       : "fast_forward of 100,000 entries against fork",
              &m.forwards, &m.forks);
    sample_free(&m.forks);
    sample_free(&m.picks);
    sample_free(&m.forwards);
    free(id);
    ramet_call_free(m.call);
    ramet_close(store);
}
