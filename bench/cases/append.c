/* SPDX-License-Identifier: Apache-2.0
 *
 * The append benchmark: many concurrent appenders, compared with plain SQLite that writes the same
 * rows to the same disk from one thread, 64 a transaction.
 */
#include "bench/suite.h"

#include <stdio.h>
#include <stdlib.h>

#define APPENDERS 64
#define TEXTS 256 /* different texts, made before the measurement */

typedef struct appender {
    ramet *store;
    const char *session;
    const char *texts; /* TEXTS of them */
    int64_t n;
    bool own_ids;
    sample times;
} appender;

typedef struct load {
    size_t threads;
    int64_t each;
    bool own_ids;
} load;

typedef struct load_result {
    sample rate, p50, p99, group;
} load_result;

static char *texts_make(void)
{
    words w = {7};
    char *texts = xmalloc((size_t)TEXTS * (ENTRY_BYTES + 1));
    for (size_t i = 0; i < TEXTS; i++)
        words_fill(&w, texts + i * (ENTRY_BYTES + 1), ENTRY_BYTES);
    return texts;
}

static const char *text_at(const char *texts, int64_t i)
{
    return texts + (size_t)(i % TEXTS) * (ENTRY_BYTES + 1);
}

static void appender_run(void *arg)
{
    appender *a = arg;
    ramet_call *c = scratch_call(a->store);
    for (int64_t i = 0; i < a->n; i++) {
        char id[80];
        snprintf(id, sizeof id, "%s-%06lld", a->session, (long long)i);
        ramet_entry_in entry = {.role = i % 2 ? RAMET_ASSISTANT : RAMET_USER,
                                .text = text_at(a->texts, i),
                                .id = a->own_ids ? id : NULL};
        ramet_append_in in = {.entries = &entry, .n = 1};
        ramet_append_out out;
        double start = now_us();
        must(c, ramet_append(c, a->session, &in, &out), "append");
        sample_add(&a->times, now_us() - start);
        ramet_call_reset(c);
    }
    ramet_call_free(c);
}

static void load_run(ramet *store, const load *l, const char *texts, load_result *out)
{
    ramet_call *c = ramet_call_new(store, NULL, NULL), *user = scratch_call(store);
    appender *list = xcalloc(l->threads, sizeof *list);
    for (size_t i = 0; i < l->threads; i++)
        list[i] = (appender){store, scratch_session(user), texts, l->each, l->own_ids, {0}};
    ramet_stats before, after;
    sample all = {0};
    must(c, ramet_stat(c, &before), "stat");
    double start = now_us();
    threads_run(l->threads, appender_run, list, sizeof *list);
    double took = now_us() - start;
    must(c, ramet_stat(c, &after), "stat");
    for (size_t i = 0; i < l->threads; i++) {
        for (size_t k = 0; k < list[i].times.n; k++)
            sample_add(&all, list[i].times.items[k]);
        sample_free(&list[i].times);
        free((char *)list[i].session);
    }
    sample_add(&out->rate, (double)l->threads * (double)l->each / took * 1e6);
    sample_add(&out->p50, sample_at(&all, 0.5));
    sample_add(&out->p99, sample_at(&all, 0.99));
    sample_add(&out->group,
               (double)(after.writes - before.writes) / (double)(after.commits - before.commits));
    sample_free(&all);
    free(list);
    ramet_call_free(user);
    ramet_call_free(c);
}

static void result_free(load_result *l)
{
    sample_free(&l->rate);
    sample_free(&l->p50);
    sample_free(&l->p99);
    sample_free(&l->group);
}

double appenders_rate(ramet *store, int64_t each)
{
    char *texts = texts_make();
    load l = {APPENDERS, each, false};
    load_result got = {0};
    load_run(store, &l, texts, &got);
    double rate = sample_at(&got.rate, 0.5);
    result_free(&got);
    free(texts);
    return rate;
}

static void fresh_run(bench *b, const load *l, const char *texts, load_result *out)
{
    ramet *store = scratch_open(b, "append.db");
    load_run(store, l, texts, out);
    ramet_close(store);
    file_remove(scratch_path(b, "append.db"));
}

/* Rows a second. The 64 histories grow in turns, as they do beside each other in the store. */
static double plain_run(bench *b, raw_order order, int64_t n, const char *texts)
{
    raw *r = raw_open(b, "plain.db", order);
    words w = {11};
    double start = now_us();
    for (int64_t i = 0; i < n;) {
        raw_begin(r);
        for (int k = 0; k < APPENDERS && i < n; k++, i++) {
            char id[40];
            snprintf(id, sizeof id, "%08llx-%04llx-7000-8000-%012llx", (unsigned long long)i,
                     (unsigned long long)i % 0xffff, (unsigned long long)(words_number(&w) >> 16));
            raw_insert(r, (int64_t)(k + 1) << 24 | i / APPENDERS, id, text_at(texts, i));
        }
        raw_commit(r);
    }
    double rate = (double)n / (now_us() - start) * 1e6;
    raw_close(r);
    return rate;
}

static void rate_row(bench *b, const char *name, const char *what, load_result *l)
{
    report_row(b, name, what, sample_at(&l->rate, 0.5), "/s", BAR_NONE, 0,
               "latency p50 %.2f ms, p99 %.2f ms; %.1f writes a commit",
               sample_at(&l->p50, 0.5) / 1e3, sample_at(&l->p99, 0.5) / 1e3,
               sample_at(&l->group, 0.5));
    report_number(b, "p50_us", sample_at(&l->p50, 0.5));
    report_number(b, "p99_us", sample_at(&l->p99, 0.5));
    report_number(b, "group", sample_at(&l->group, 0.5));
}

static void share_row(bench *b, const char *name, const char *what, double ours, sample *plain,
                      bar_kind kind)
{
    double theirs = sample_at(plain, 0.5);
    report_row(b, name, what, ours / theirs * 100, "%", kind, 60, "%.0f a second against %.0f",
               ours, theirs);
    report_number(b, "rate", ours);
    report_number(b, "against_rate", theirs);
}

void case_append(bench *b)
{
    char *texts = texts_make();
    load many = {APPENDERS, b->quick ? 100 : 600, false}, named = many;
    load eight = {8, b->quick ? 200 : 1500, false}, one = {1, b->quick ? 500 : 3000, false};
    named.own_ids = true;
    load_result l64 = {0}, l64_named = {0}, l8 = {0}, l1 = {0};
    sample keyed = {0}, indexed = {0}, arrival = {0};
    int64_t rows = (int64_t)many.threads * many.each;
    bench_note("64 appenders");
    for (int i = 0; i < (b->quick ? 1 : 5); i++) {
        sample_add(&keyed, plain_run(b, RAW_KEYED, rows, texts));
        fresh_run(b, &many, texts, &l64);
        sample_add(&indexed, plain_run(b, RAW_KEYED_INDEX, rows, texts));
        fresh_run(b, &named, texts, &l64_named);
        sample_add(&arrival, plain_run(b, RAW_ARRIVAL, rows, texts));
        fresh_run(b, &eight, texts, &l8);
        fresh_run(b, &one, texts, &l1);
    }
    double ours = sample_at(&l64.rate, 0.5);
    share_row(b, "append", "64 appenders against plain SQLite, same rows and primary key", ours,
              &keyed, BAR_LEAST);
    share_row(b, "append_indexed", "  ... when it keeps the index of entry ids, too", ours,
              &indexed, BAR_NONE);
    share_row(b, "append_arrival", "  ... rows in arrival order, no index", ours, &arrival,
              BAR_NONE);
    rate_row(b, "append_64", "64 appenders, one entry a call", &l64);
    rate_row(b, "append_64_named", "64 appenders that give their own entry ids", &l64_named);
    rate_row(b, "append_8", "8 appenders", &l8);
    rate_row(b, "append_1", "1 appender", &l1);
    result_free(&l64);
    result_free(&l64_named);
    result_free(&l8);
    result_free(&l1);
    sample_free(&keyed);
    sample_free(&indexed);
    sample_free(&arrival);
    free(texts);
}
