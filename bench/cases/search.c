/* SPDX-License-Identifier: Apache-2.0
 *
 * The search benchmark: queries on the large store, and what they cost concurrent appends.
 */
#include "bench/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ queries */

typedef struct query_set {
    char text[64][80];
    size_t n;
} query_set;

static void query_add(query_set *q, const char *before, unsigned one, const char *between,
                      unsigned two, const char *after)
{
    char a[WORD_BYTES], z[WORD_BYTES] = "";
    if (two)
        word_at(two, z);
    snprintf(q->text[q->n++], sizeof q->text[0], "%s%s%s%s%s", before, word_at(one, a), between, z,
             after);
}

/* Single words and pairs, from the commonest to the rarest. */
static void words_make(query_set *q)
{
    static const unsigned ranks[] = {1,  2,  3,   4,   5,   8,    13,   21,    34,
                                     55, 89, 144, 233, 610, 1597, 4181, 10946, 46368};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        query_add(q, "", ranks[i], "", 0, "");
        query_add(q, "", ranks[i], " ", ranks[i] + 1, "");
    }
    query_add(q, "", 1, " ", 40000, "");
    query_add(q, "", 3, " ", 900, "");
}

/* Queries that are harder for an index: phrases, prefixes, exclusions. */
static void rest_make(query_set *q)
{
    query_add(q, "", 2, " -", 1, "");
    query_add(q, "", 500, " -", 3, "");
    query_add(q, "\"", 1, " ", 2, "\"");
    query_add(q, "\"", 30, " ", 7, "\"");
    query_add(q, "", 7, "", 0, "*");
    query_add(q, "", 300, "", 0, "*");
    query_add(q, "", 9000, "", 0, "*");
}

typedef struct search_times {
    sample all;
    double worst;
    char worst_query[80];
    size_t bounded;
} search_times;

static void query_time(ramet_call *c, const char *text, search_times *t)
{
    ramet_search_in in = {.query = text};
    ramet_hits hits;
    double start = now_us();
    must(c, ramet_search(c, &in, &hits), text);
    double took = (now_us() - start) / 1e3;
    sample_add(&t->all, took);
    t->bounded += hits.bounded;
    if (took > t->worst) {
        t->worst = took;
        snprintf(t->worst_query, sizeof t->worst_query, "%s", text);
    }
    ramet_call_reset(c);
}

static void query_row(bench *b, ramet_call *c, const query_set *q, const char *name,
                      const char *what, bar_kind kind)
{
    search_times t = {.worst = 0};
    for (int round = 0; round < (b->quick ? 3 : 12); round++)
        for (size_t i = 0; i < q->n; i++)
            query_time(c, q->text[i], &t);
    report_row(b, name, what, sample_at(&t.all, 0.95), "ms", kind, 50,
               "%zu queries, p50 %.1f ms, worst %.1f ms (%s); %zu %% ranked among the newest", q->n,
               sample_at(&t.all, 0.5), t.worst, t.worst_query, t.bounded * 100 / t.all.n);
    report_number(b, "p50_ms", sample_at(&t.all, 0.5));
    report_number(b, "worst_ms", t.worst);
    sample_free(&t.all);
}

static void query_rows(bench *b, ramet_call *c)
{
    query_set easy = {.n = 0}, hard = {.n = 0};
    words_make(&easy);
    rest_make(&hard);
    query_row(b, c, &easy, "search",
              b->quick ? "search over 20,000 entries, words and pairs, p95"
                       : "search over 1,000,000 entries, words and pairs, p95",
              BAR_MOST);
    query_row(b, c, &hard, "search_hard", "  ... phrases, beginnings and exclusions, p95",
              BAR_NONE);
}

static void index_row(bench *b, ramet_call *program, const big_store *big)
{
    int64_t indexed;
    bench_note("indexing %lld entries", (long long)big->entries);
    double start = now_us();
    must(program, ramet_search_update(program, false, &indexed), "index");
    double seconds = (now_us() - start) / 1e6;
    double bytes = (double)file_bytes(scratch_path(b, "big.db-search"));
    report_row(
        b, "search_index", "entries indexed a second", (double)indexed / seconds, "/s", BAR_NONE, 0,
        "%lld entries in %.1f s; %.0f MiB of index for %.0f MiB of store; loading had %.0f/s",
        (long long)indexed, seconds, bytes / 1048576,
        (double)file_bytes(scratch_path(b, big->name)) / 1048576, big->load_rate);
    report_number(b, "seconds", seconds);
    report_number(b, "index_bytes", bytes);
    report_number(b, "load_rate", big->load_rate);
}

/* ----------------------------------------------------- appends beside searches */

typedef struct searcher {
    ramet *store;
    atomic_bool stop;
    int64_t searches;
} searcher;

static void *searcher_main(void *arg)
{
    searcher *s = arg;
    ramet_call *c = scratch_call(s->store);
    char word[WORD_BYTES];
    while (!atomic_load(&s->stop)) {
        ramet_search_in in = {.query = word_at((unsigned)(s->searches % 300) + 1, word)};
        ramet_hits hits;
        must(c, ramet_search(c, &in, &hits), "search");
        ramet_call_reset(c);
        s->searches++;
    }
    ramet_call_free(c);
    return NULL;
}

static double rate_beside(ramet *store, int64_t each, int64_t *searches)
{
    searcher s = {.store = store};
    pthread_t id;
    if (pthread_create(&id, NULL, searcher_main, &s) != 0)
        bench_die("a thread cannot be started");
    double rate = appenders_rate(store, each);
    atomic_store(&s.stop, true);
    pthread_join(id, NULL);
    *searches += s.searches;
    return rate;
}

static void slow_row(bench *b)
{
    ramet *store = scratch_open(b, "slow.db");
    ramet_call *program = ramet_call_new(store, NULL, NULL), *c = scratch_call(store);
    words w = {23};
    int64_t each = b->quick ? 60 : 400, indexed, searches = 0;
    sample alone = {0}, beside = {0};
    bench_note("64 appenders while a thread searches all the time");
    scratch_load(c, scratch_session(c), b->quick ? 5000 : 50000, &w);
    for (int i = 0; i < (b->quick ? 1 : 4); i++) {
        must(program, ramet_search_update(program, false, &indexed), "index");
        sample_add(&alone, appenders_rate(store, each));
        must(program, ramet_search_update(program, false, &indexed), "index");
        sample_add(&beside, rate_beside(store, each, &searches));
    }
    double quiet = sample_at(&alone, 0.5), busy = sample_at(&beside, 0.5);
    report_row(b, "search_slowdown", "64 appenders slowed by a thread that always searches",
               (1 - busy / quiet) * 100, "%", BAR_MOST, 30,
               "%.0f appends a second against %.0f; %lld searches meanwhile", busy, quiet,
               (long long)searches);
    report_number(b, "rate", busy);
    report_number(b, "against_rate", quiet);
    report_number(b, "searches", (double)searches);
    sample_free(&alone);
    sample_free(&beside);
    ramet_call_free(c);
    ramet_call_free(program);
    ramet_close(store);
    file_remove(scratch_path(b, "slow.db"));
}

void case_search(bench *b)
{
    const big_store *big = big_open(b);
    ramet *store = scratch_open(b, big->name);
    ramet_call *program = ramet_call_new(store, NULL, NULL), *c = scratch_call(store);
    index_row(b, program, big);
    bench_note("searching");
    query_rows(b, c);
    ramet_call_free(c);
    ramet_call_free(program);
    ramet_close(store);
    slow_row(b);
}
