/* SPDX-License-Identifier: Apache-2.0
 *
 * The read benchmarks: deep forks, wide trees, comparison, state; and the start of the program.
 */
#include "bench/suite.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ------------------------------------------------------------------- nested */

double tail_us(ramet_call *c, const char *session, bool versions)
{
    ramet_read_in in = {.tail = true, .limit = 50, .versions = versions};
    ramet_page page;
    double start = now_us();
    must(c, ramet_read(c, session, &in, &page), "read");
    double took = now_us() - start;
    if (page.n != 50)
        bench_die("a tail of %zu entries instead of 50", page.n);
    ramet_call_reset(c);
    return took;
}

static void tail_row(bench *b, ramet_call *c, const char *deep, const char *flat, bool versions,
                     const char *name, const char *what)
{
    sample nested = {0}, plain = {0};
    for (int i = 0; i < (b->quick ? 200 : 2000); i++) {
        sample_add(&nested, tail_us(c, deep, versions));
        sample_add(&plain, tail_us(c, flat, versions));
    }
    report_row(b, name, what, sample_at(&nested, 0.5) / sample_at(&plain, 0.5), "x", BAR_MOST, 3,
               "median %.0f us against %.0f us", sample_at(&nested, 0.5), sample_at(&plain, 0.5));
    report_number(b, "us", sample_at(&nested, 0.5));
    report_number(b, "against_us", sample_at(&plain, 0.5));
    sample_free(&nested);
    sample_free(&plain);
}

/* Adds a move, so that reading versions costs something: without one, a session has one branch. */
static void edit_last(ramet_call *c, const char *session)
{
    ramet_read_in in = {.tail = true, .limit = 1};
    ramet_page page;
    ramet_append_out out;
    ramet_entry_in text = {.text = "another version"};
    must(c, ramet_read(c, session, &in, &page), "read");
    must(c, ramet_edit(c, session, page.entries[0].id, &text, NULL, &out), "edit");
    ramet_call_reset(c);
}

/* Measures what checking the hash chain adds to a read: one file, opened with and without the
 * check. */
static void checked_row(bench *b, ramet_call *checked, const char *session)
{
    ramet_options o = {.unverified_reads = true};
    ramet_error err;
    ramet *store;
    sample with = {0}, without = {0};
    if (ramet_open(scratch_path(b, "nested.db"), &o, &store, &err) != RAMET_OK)
        bench_die("%s", err.message);
    ramet_call *trusting = scratch_call(store);
    for (int i = 0; i < (b->quick ? 200 : 2000); i++) {
        sample_add(&with, tail_us(checked, session, false));
        sample_add(&without, tail_us(trusting, session, false));
    }
    report_row(b, "read_checked", "last 50 entries, hash chain checked against not checked",
               sample_at(&with, 0.5) / sample_at(&without, 0.5), "x", BAR_NONE, 0,
               "median %.0f us against %.0f us", sample_at(&with, 0.5), sample_at(&without, 0.5));
    report_number(b, "us", sample_at(&with, 0.5));
    report_number(b, "against_us", sample_at(&without, 0.5));
    sample_free(&with);
    sample_free(&without);
    ramet_call_free(trusting);
    ramet_close(store);
}

static void nested_run(bench *b, int64_t each, const char *name, const char *what,
                       const char *name_versions, const char *what_versions)
{
    int depth = b->quick ? 200 : 1000;
    words w = {13};
    ramet *store = scratch_open(b, "nested.db");
    ramet_call *c = scratch_call(store);
    const char *deep = scratch_session(c), *flat = scratch_session(c);
    bench_note("%d nested forks with %lld entries each", depth, (long long)each);
    scratch_load(c, deep, each, &w);
    for (int i = 0; i < depth; i++) {
        const char *up = deep;
        deep = scratch_fork(c, up);
        free((char *)up);
        scratch_load(c, deep, each, &w);
    }
    scratch_load(c, flat, (depth + 1) * each, &w);
    tail_row(b, c, deep, flat, false, name, what);
    if (each > 1) /* once is enough */
        checked_row(b, c, flat);
    edit_last(c, deep);
    edit_last(c, flat);
    tail_row(b, c, deep, flat, true, name_versions, what_versions);
    free((char *)deep);
    free((char *)flat);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "nested.db"));
}

void case_nested(bench *b)
{
    nested_run(b, 1, "nested", "last 50 behind 1,000 nested forks of 1 entry against flat",
               "nested_versions", "  ... with the versions of each");
    nested_run(b, 10, "nested_10", "last 50 behind 1,000 nested forks of 10 entries against flat",
               "nested_10_versions", "  ... with the versions of each");
}

/* --------------------------------------------------------------------- tree */

typedef struct forker {
    ramet *store;
    const char *root;
    int n;
    uint64_t seed;
} forker;

/* Forks the root, or one of its own forks: a tree of random shape. */
static void forker_run(void *arg)
{
    forker *f = arg;
    ramet_call *c = scratch_call(f->store);
    words w = {f->seed};
    const char **made = xcalloc((size_t)f->n + 1, sizeof *made);
    made[0] = f->root;
    for (int i = 0; i < f->n; i++) {
        made[i + 1] = scratch_fork(c, made[words_number(&w) % (uint64_t)(i + 1)]);
        ramet_call_reset(c);
    }
    for (int i = 0; i < f->n; i++)
        free((char *)made[i + 1]);
    free(made);
    ramet_call_free(c);
}

static double tree_ms(ramet_call *c, const char *root, bool light, size_t want)
{
    ramet_session *list;
    size_t n;
    double start = now_us();
    must(c, ramet_tree(c, root, light, &list, &n), "tree");
    double took = now_us() - start;
    if (n != want)
        bench_die("a tree of %zu sessions instead of %zu", n, want);
    ramet_call_reset(c);
    return took / 1e3;
}

void case_tree(bench *b)
{
    enum { THREADS = 16 };
    int each = b->quick ? 60 : 625;
    ramet *store = scratch_open(b, "tree.db");
    ramet_call *c = scratch_call(store);
    words w = {17};
    forker forkers[THREADS];
    sample light = {0}, full = {0};
    const char *root = scratch_session(c);
    scratch_load(c, root, 10, &w);
    ramet_call_reset(c);
    bench_note("a tree of %d forks", each * THREADS);
    for (int i = 0; i < THREADS; i++)
        forkers[i] = (forker){store, root, each, (uint64_t)i + 1};
    double start = now_us();
    threads_run(THREADS, forker_run, forkers, sizeof forkers[0]);
    double rate = each * THREADS / (now_us() - start) * 1e6;
    size_t want = (size_t)each * THREADS + 1;
    for (int i = 0; i < (b->quick ? 5 : 31); i++)
        sample_add(&light, tree_ms(c, root, true, want));
    for (int i = 0; i < 5; i++)
        sample_add(&full, tree_ms(c, root, false, want));
    report_row(b, "tree", b->quick ? "tree of 960 forks listed" : "tree of 10,000 forks listed",
               sample_at(&light, 0.5), "ms", BAR_MOST, 50,
               "worst %.1f ms; with titles, cache roots and head entries %.1f ms; "
               "16 threads made %.0f forks a second",
               sample_at(&light, 1), sample_at(&full, 0.5), rate);
    report_number(b, "worst_ms", sample_at(&light, 1));
    report_number(b, "full_ms", sample_at(&full, 0.5));
    report_number(b, "forks_per_second", rate);
    sample_free(&light);
    sample_free(&full);
    free((char *)root);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "tree.db"));
}

/* ------------------------------------------------------------------ compare */

void case_compare(bench *b)
{
    int64_t half = b->quick ? 5000 : 50000;
    ramet *store = scratch_open(b, "compare.db");
    ramet_call *c = scratch_call(store);
    words w = {19};
    static const int limits[] = {0, 1, 1000};
    sample times[3] = {{0}};
    bench_note("two branches of %lld entries", (long long)half * 2);
    const char *one = scratch_session(c);
    scratch_load(c, one, half, &w);
    const char *two = scratch_fork(c, one);
    scratch_load(c, one, half, &w);
    scratch_load(c, two, half, &w);
    ramet_side_in sides[2] = {{one, 0}, {two, 0}};
    for (int i = 0; i < (b->quick ? 50 : 300); i++) {
        for (int k = 0; k < 3; k++) {
            ramet_compare_out out;
            double start = now_us();
            must(c, ramet_compare(c, sides, 2, limits[k], &out), "compare");
            sample_add(&times[k], (now_us() - start) / 1e3);
            if (out.shared != half)
                bench_die("%lld entries shared instead of %lld", (long long)out.shared,
                          (long long)half);
            ramet_call_reset(c);
        }
    }
    report_row(b, "compare", "compare of two 100,000-entry branches that part in the middle",
               sample_at(&times[0], 0.5), "ms", BAR_MOST, 2,
               "p99 %.2f ms; with 1 entry of each side %.2f ms, with 1,000 %.2f ms",
               sample_at(&times[0], 0.99), sample_at(&times[1], 0.5), sample_at(&times[2], 0.5));
    report_number(b, "p99_ms", sample_at(&times[0], 0.99));
    report_number(b, "limit_1_ms", sample_at(&times[1], 0.5));
    report_number(b, "limit_1000_ms", sample_at(&times[2], 0.5));
    for (int k = 0; k < 3; k++)
        sample_free(&times[k]);
    free((char *)one);
    free((char *)two);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "compare.db"));
}

/* -------------------------------------------------------------------- state */

enum { STATE_BATCH = 1000, STATE_KEYS = 200 };

/* Appends entries that each set one of 200 keys. Keeps the id of one entry a batch. */
static size_t state_load(ramet_call *c, const char *session, size_t n, const char **ids)
{
    char(*deltas)[64] = xcalloc(STATE_BATCH, sizeof *deltas);
    ramet_entry_in *in = xcalloc(STATE_BATCH, sizeof *in);
    size_t kept = 0;
    for (size_t at = 0; at < n; at += STATE_BATCH) {
        for (size_t i = 0; i < STATE_BATCH; i++) {
            snprintf(deltas[i], sizeof deltas[i], "{\"key_%zu\":\"value %zu\"}",
                     (at + i) * 7919 % STATE_KEYS, at + i);
            in[i] =
                (ramet_entry_in){.role = RAMET_ASSISTANT, .text = "done", .state_delta = deltas[i]};
        }
        ramet_append_in batch = {.entries = in, .n = STATE_BATCH};
        ramet_append_out out;
        must(c, ramet_append(c, session, &batch, &out), "append");
        ids[kept++] = xstrdup(out.entries[at / STATE_BATCH * 37 % STATE_BATCH].id);
        ramet_call_reset(c);
    }
    free(in);
    free(deltas);
    return kept;
}

void case_state(bench *b)
{
    size_t n = b->quick ? 10000 : 100000;
    ramet *store = scratch_open(b, "state.db");
    ramet_call *c = scratch_call(store);
    const char **ids = xcalloc(n / STATE_BATCH, sizeof *ids), *json;
    sample head = {0}, past = {0};
    bench_note("state at %zu entries", n);
    const char *session = scratch_session(c);
    double start = now_us();
    size_t kept = state_load(c, session, n, ids);
    double rate = (double)n / (now_us() - start) * 1e6;
    for (size_t i = 0; i < kept * 4; i++) {
        start = now_us();
        must(c, ramet_state(c, session, NULL, &json), "state");
        sample_add(&head, now_us() - start);
        ramet_call_reset(c);
        start = now_us();
        must(c, ramet_state(c, session, ids[i % kept], &json), "state");
        sample_add(&past, now_us() - start);
        ramet_call_reset(c);
    }
    report_row(b, "state", "state at the end of 100,000 entries with a delta each",
               sample_at(&head, 0.5), "us", BAR_NONE, 0,
               "at any entry: median %.0f us, p99 %.0f us; %.0f such entries a second written",
               sample_at(&past, 0.5), sample_at(&past, 0.99), rate);
    report_number(b, "any_us", sample_at(&past, 0.5));
    report_number(b, "any_p99_us", sample_at(&past, 0.99));
    report_number(b, "load_rate", rate);
    sample_free(&head);
    sample_free(&past);
    for (size_t i = 0; i < kept; i++)
        free((char *)ids[i]);
    free(ids);
    free((char *)session);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "state.db"));
}

/* ------------------------------------------------------------------ startup */

void case_startup(bench *b)
{
    char version[] = "version";
    char *argv[] = {(char *)b->program, version, NULL};
    posix_spawn_file_actions_t quiet;
    sample times = {0};
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    for (int i = 0; i < 31; i++) {
        pid_t pid;
        int status;
        double start = now_us();
        if (posix_spawn(&pid, b->program, &quiet, NULL, argv, environ) != 0)
            bench_die("%s cannot be started", b->program);
        if (waitpid(pid, &status, 0) != pid || status != 0)
            bench_die("`ramet version` failed");
        sample_add(&times, (now_us() - start) / 1e3);
    }
    posix_spawn_file_actions_destroy(&quiet);
    report_row(b, "startup", "start of the program (ramet version)", sample_at(&times, 0.5), "ms",
               BAR_MOST, 50, "worst of 31: %.1f ms", sample_at(&times, 1));
    report_number(b, "worst_ms", sample_at(&times, 1));
    sample_free(&times);
}
