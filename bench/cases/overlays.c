/* SPDX-License-Identifier: Apache-2.0
 *
 * The context view: a page of a path with 1,000 overlays, against the same page without.
 */
#include "bench/suite.h"

#include "ramet/overlays.h"

#include <stdlib.h>

#define PATH 10000
#define OVERLAYS 1000

static double context_us(ramet_call *c, const char *session, bool tail)
{
    ramet_read_in in = {.tail = tail, .limit = 50, .view = RAMET_VIEW_CONTEXT};
    ramet_page page;
    double start = now_us();
    must(c, ramet_read(c, session, &in, &page), "read");
    double took = now_us() - start;
    if (page.n != 50)
        bench_die("a page of %zu entries instead of 50", page.n);
    ramet_call_reset(c);
    return took;
}

/* Every n-th entry, hidden and replaced in turns; or the last ones before the page. */
static void overlays_set(ramet_call *c, const char *session, bool in_a_row)
{
    for (int i = 0; i < OVERLAYS; i++) {
        int64_t at = in_a_row ? PATH - 25 - OVERLAYS + i : (int64_t)i * (PATH / OVERLAYS) + 5;
        ramet_read_in in = {.limit = 1, .by_position = true, .position = at};
        ramet_overlay_in set = {.action =
                                    in_a_row || i % 2 ? RAMET_OVERLAY_HIDE : RAMET_OVERLAY_REPLACE};
        ramet_overlay_out out;
        ramet_page page;
        set.text = set.action == RAMET_OVERLAY_REPLACE ? "a few other words" : NULL;
        must(c, ramet_read(c, session, &in, &page), "read");
        set.entry_id = page.entries[0].id;
        must(c, ramet_overlay_set(c, session, &set, &out), "overlay");
        ramet_call_reset(c);
    }
}

static void page_row(bench *b, ramet_call *c, const char *laid, const char *plain, const char *name,
                     const char *what)
{
    sample with = {0}, without = {0};
    for (int i = 0; i < (b->quick ? 200 : 2000); i++) {
        sample_add(&with, context_us(c, laid, true));
        sample_add(&without, context_us(c, plain, true));
    }
    report_row(b, name, what, sample_at(&with, 0.5) / sample_at(&without, 0.5), "x", BAR_MOST, 2,
               "median %.0f us against %.0f us", sample_at(&with, 0.5), sample_at(&without, 0.5));
    report_number(b, "us", sample_at(&with, 0.5));
    report_number(b, "against_us", sample_at(&without, 0.5));
    sample_free(&with);
    sample_free(&without);
}

void case_overlays(bench *b)
{
    words w = {17};
    ramet *store = scratch_open(b, "overlays.db");
    ramet_call *c = scratch_call(store);
    const char *plain = scratch_session(c);
    bench_note("%d entries, %d overlays", PATH, OVERLAYS);
    scratch_load(c, plain, PATH, &w);
    const char *spread = scratch_fork(c, plain), *row = scratch_fork(c, plain);
    overlays_set(c, spread, false);
    overlays_set(c, row, true);
    page_row(b, c, spread, plain, "overlays",
             "last 50 entries of the context view, 1,000 overlays on the path against none");
    page_row(b, c, row, plain, "overlays_row",
             "the same, the overlays in a row in the middle of the page");
    free((char *)plain);
    free((char *)spread);
    free((char *)row);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "overlays.db"));
}
