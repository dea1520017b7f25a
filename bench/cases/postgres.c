/* SPDX-License-Identifier: Apache-2.0
 *
 * The PostgreSQL benchmark: the store on a private PostgreSQL server, compared with the least work
 * that can be done there (minimum.h); forks of long histories, pages behind nested forks, two
 * nodes, and the bytes of a row.
 */
#include "bench/child.h"
#include "bench/minimum.h"
#include "bench/wrk.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORE "ramet"
#define NODES "nodes"
#define CONNECTIONS 64
#define WARM_US 300000 /* not measured: connections are opened, statements prepared */

static ramet *store_open(const server_pg *s, const char *database)
{
    ramet *r;
    ramet_error err;
    if (ramet_open(server_pg_url(s, database), NULL, &r, &err) != RAMET_OK)
        bench_die("%s", err.message);
    return r;
}

/* ------------------------------------------------- many clients at one time */

typedef struct client {
    ramet *store;
    const char *session, *text;
    minimum_kind kind;
    double begin, end; /* the time that is measured */
    sample times;
} client;

static void client_op(ramet_call *c, const client *me)
{
    ramet_entry_in entry = {.role = RAMET_USER, .text = me->text};
    ramet_append_in in = {.entries = &entry, .n = 1};
    ramet_fork_in fork_in = {0};
    ramet_append_out out;
    ramet_session *made;
    if (me->kind == MINIMUM_APPEND)
        must(c, ramet_append(c, me->session, &in, &out), "append");
    else
        must(c, ramet_fork(c, me->session, &fork_in, &made, NULL), "fork");
    ramet_call_reset(c);
}

static void client_run(void *arg)
{
    client *me = arg;
    ramet_call *c = scratch_call(me->store);
    for (double at = now_us(), done; at < me->end; at = done) {
        client_op(c, me);
        done = now_us();
        if (at >= me->begin && done <= me->end)
            sample_add(&me->times, done - at);
    }
    ramet_call_free(c);
}

typedef struct cell {
    sample ours, least, share, p50, p99;
} cell;

static void store_run(ramet *store, minimum_kind kind, int clients, int seconds, cell *out)
{
    words w = {37};
    char text[ENTRY_BYTES + 1];
    client *list = xcalloc((size_t)clients, sizeof *list);
    ramet_call *c = scratch_call(store);
    sample all = {0};
    words_fill(&w, text, ENTRY_BYTES);
    for (int i = 0; i < clients; i++) {
        list[i] =
            (client){.store = store, .session = scratch_session(c), .text = text, .kind = kind};
        scratch_load(c, list[i].session, 10, &w);
    }
    ramet_call_free(c);
    double begin = now_us() + WARM_US;
    for (int i = 0; i < clients; i++) {
        list[i].begin = begin;
        list[i].end = begin + seconds * 1e6;
    }
    threads_run((size_t)clients, client_run, list, sizeof *list);
    for (int i = 0; i < clients; i++) {
        for (size_t k = 0; k < list[i].times.n; k++)
            sample_add(&all, list[i].times.items[k]);
        sample_free(&list[i].times);
        free((char *)list[i].session);
    }
    sample_add(&out->ours, (double)all.n / seconds);
    sample_add(&out->p50, sample_at(&all, 0.5));
    sample_add(&out->p99, sample_at(&all, 0.99));
    sample_free(&all);
    free(list);
}

static void cell_row(bench *b, minimum_kind kind, int clients, cell *r)
{
    static const char *const called[] = {"appends", "forks"};
    static char what[8][80];
    static size_t at;
    char name[40];
    char *text = what[at++ % 8];
    snprintf(name, sizeof name, "pg_%s_%d", kind == MINIMUM_APPEND ? "append" : "fork", clients);
    snprintf(text, sizeof what[0], "PostgreSQL: %s by %d client%s against the least possible",
             called[kind], clients, clients > 1 ? "s" : "");
    report_row(
        b, name, text, sample_at(&r->share, 0.5) * 100, "%", BAR_LEAST, clients >= 32 ? 100 : 70,
        "%.0f a second against %.0f; latency p50 %.2f ms, p99 %.2f ms", sample_at(&r->ours, 0.5),
        sample_at(&r->least, 0.5), sample_at(&r->p50, 0.5) / 1e3, sample_at(&r->p99, 0.5) / 1e3);
    report_number(b, "rate", sample_at(&r->ours, 0.5));
    report_number(b, "against_rate", sample_at(&r->least, 0.5));
    report_number(b, "p50_us", sample_at(&r->p50, 0.5));
    report_number(b, "p99_us", sample_at(&r->p99, 0.5));
}

static void cell_free(cell *r)
{
    sample_free(&r->ours);
    sample_free(&r->least);
    sample_free(&r->share);
    sample_free(&r->p50);
    sample_free(&r->p99);
}

/* Measures the store and the minimum as a pair; they take turns at being first. */
static void pair_run(bench *b, const server_pg *s, ramet *store, minimum_kind kind, int clients,
                     int round, cell *out)
{
    int seconds = b->quick ? 1 : 3;
    for (int k = 0; k < 2; k++) {
        if ((round + k) % 2)
            store_run(store, kind, clients, seconds, out);
        else
            sample_add(&out->least, minimum_rate(b, s, STORE, kind, clients, seconds));
    }
    sample_add(&out->share, out->ours.items[round] / out->least.items[round]);
}

static void least_rows(bench *b, const server_pg *s)
{
    static const int clients[] = {1, 8, 32, 64};
    cell cells[2][4];
    int rounds = b->quick ? 1 : 3;
    ramet *store = store_open(s, STORE);
    memset(cells, 0, sizeof cells);
    minimum_make(b, s, STORE);
    for (int round = 0; round < rounds; round++)
        for (int kind = 0; kind < 2; kind++)
            for (int i = 0; i < 4; i++) {
                bench_note("%s by %d clients against pgbench, %d of %d",
                           kind == MINIMUM_APPEND ? "appends" : "forks", clients[i], round + 1,
                           rounds);
                pair_run(b, s, store, kind, clients[i], round, &cells[kind][i]);
            }
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < 4; i++) {
            cell_row(b, kind, clients[i], &cells[kind][i]);
            cell_free(&cells[kind][i]);
        }
    ramet_close(store);
}

/* ------------------------------------------------------------ long and deep */

static double fork_us(ramet_call *c, const char *session)
{
    ramet_fork_in in = {0};
    ramet_session *out;
    double start = now_us();
    must(c, ramet_fork(c, session, &in, &out, NULL), "fork");
    double took = now_us() - start;
    ramet_call_reset(c);
    return took;
}

static void ratio_row(bench *b, const char *name, const char *what, sample *one, sample *other,
                      double bar)
{
    double a = sample_at(one, 0.5), p = sample_at(other, 0.5);
    report_row(b, name, what, a / p, "x", BAR_MOST, bar, "median %.0f us against %.0f us", a, p);
    report_number(b, "us", a);
    report_number(b, "against_us", p);
    sample_free(one);
    sample_free(other);
}

static void long_row(bench *b, ramet *store)
{
    int64_t n = b->quick ? 20000 : 1000000;
    words w = {41};
    sample long_ = {0}, short_ = {0};
    ramet_call *c = scratch_call(store);
    const char *big = scratch_session(c), *small = scratch_session(c);
    bench_note("a session of %lld entries on PostgreSQL", (long long)n);
    double start = now_us();
    scratch_load(c, big, n, &w);
    double rate = (double)n / (now_us() - start) * 1e6;
    scratch_load(c, small, 10, &w);
    for (int i = 0; i < (b->quick ? 50 : 500); i++) {
        sample_add(&short_, fork_us(c, small));
        sample_add(&long_, fork_us(c, big));
    }
    ratio_row(b, "pg_fork_long",
              b->quick ? "PostgreSQL: fork of 20,000 entries against fork of 10"
                       : "PostgreSQL: fork of 1,000,000 entries against fork of 10",
              &long_, &short_, 1.2);
    report_number(b, "load_rate", rate);
    ramet_call_free(c);
    free((char *)big);
    free((char *)small);
}

static void nested_row(bench *b, ramet *store, int each, const char *name, const char *what)
{
    enum { DEPTH = 100 };
    words w = {43};
    sample nested = {0}, plain = {0};
    ramet_call *c = scratch_call(store);
    const char *deep = scratch_session(c), *flat = scratch_session(c);
    bench_note("%d nested forks on PostgreSQL", DEPTH);
    scratch_load(c, deep, each, &w);
    for (int i = 0; i < DEPTH; i++) {
        const char *up = deep;
        deep = scratch_fork(c, up);
        free((char *)up);
        scratch_load(c, deep, each, &w);
    }
    scratch_load(c, flat, (DEPTH + 1) * each, &w);
    for (int i = 0; i < (b->quick ? 100 : 1000); i++) {
        sample_add(&nested, tail_us(c, deep, false));
        sample_add(&plain, tail_us(c, flat, false));
    }
    ratio_row(b, name, what, &nested, &plain, 2);
    ramet_call_free(c);
    free((char *)deep);
    free((char *)flat);
}

static void deep_rows(bench *b, const server_pg *s)
{
    ramet *store = store_open(s, STORE);
    long_row(b, store);
    nested_row(b, store, 1, "pg_nested",
               "PostgreSQL: last 50 behind 100 nested forks of 1 against flat");
    nested_row(b, store, 10, "pg_nested_10",
               "PostgreSQL: last 50 behind 100 nested forks of 10 against flat");
    ramet_close(store);
}

/* ---------------------------------------------------------------- two nodes */

/* Sends the load to one node, then half of it to each of two nodes. */
static void nodes_run(const bench *b, const child nodes[2], const char *path, const char *script,
                      sample *one, sample *two)
{
    char *urls[2] = {xstrdup(child_url(&nodes[0], path)), xstrdup(child_url(&nodes[1], path))};
    sample_add(one, wrk_run(b, urls[0], script, CONNECTIONS).rate);
    wrk first = wrk_start(b, urls[0], script, CONNECTIONS / 2);
    wrk second = wrk_start(b, urls[1], script, CONNECTIONS / 2);
    double rate = wrk_end(&first).rate;
    sample_add(two, rate + wrk_end(&second).rate);
    free(urls[0]);
    free(urls[1]);
}

static void nodes_row(bench *b, const char *name, const char *what, sample *one, sample *two)
{
    double a = sample_at(two, 0.5), p = sample_at(one, 0.5);
    report_row(b, name, what, a / p, "x", BAR_NONE, 0, "%.0f a second against %.0f", a, p);
    report_number(b, "rate", a);
    report_number(b, "against_rate", p);
    sample_free(one);
    sample_free(two);
}

static void nodes_rows(bench *b, const server_pg *s)
{
    words w = {47};
    char path[256];
    sample append[2] = {{0}}, page[2] = {{0}};
    const char *script = xstrdup(scratch_path(b, "nodes.lua"));
    server_pg_database(s, NODES); /* its own: nodes would index the entries of other cases */
    ramet *store = store_open(s, NODES);
    ramet_call *c = ramet_call_new(store, "local", "bench");
    const char *session = scratch_session(c);
    scratch_load(c, session, 1000, &w);
    wrk_append_script(store, CONNECTIONS, script);
    ramet_call_free(c);
    ramet_close(store);
    snprintf(path, sizeof path, "/ramet/v1/sessions/%s/entries?tail=true&limit=50", session);
    child nodes[2] = {child_serve(b, server_pg_url(s, NODES), NULL),
                      child_serve(b, server_pg_url(s, NODES), NULL)};
    bench_note("two nodes against one");
    for (int i = 0; i < (b->quick ? 1 : 3); i++) {
        nodes_run(b, nodes, "/", script, &append[0], &append[1]);
        nodes_run(b, nodes, path, NULL, &page[0], &page[1]);
    }
    child_end(&nodes[0]);
    child_end(&nodes[1]);
    nodes_row(b, "pg_nodes_append", "PostgreSQL: appends over HTTP to two nodes against one",
              &append[0], &append[1]);
    nodes_row(b, "pg_nodes_page", "PostgreSQL: the last 50 over HTTP from two nodes against one",
              &page[0], &page[1]);
    free((char *)script);
    free((char *)session);
}

/* -------------------------------------------------------------- bytes a row */

/* Bytes a row of a table with its partitions: of the table itself (with what PostgreSQL moved out
 * of the rows), and of its indexes. */
static void bytes_row(bench *b, const server_pg *s, const char *table, const char *what)
{
    char sql[512], name[40];
    static const char *const sizes[] = {"pg_table_size", "pg_indexes_size"};
    double v[3];
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT sum(%s(r)) FROM (SELECT relid FROM pg_partition_tree('%s') WHERE isleaf "
                 "UNION SELECT '%s'::regclass) parts(r)",
                 sizes[i], table, table);
        v[i] = server_pg_run(s, "size", sql);
    }
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", table);
    v[2] = server_pg_run(s, "size", sql);
    snprintf(name, sizeof name, "pg_bytes_%s", table);
    report_row(b, name, what, (v[0] + v[1]) / v[2], "B", BAR_NONE, 0,
               "table %.0f, indexes %.0f; %.0f rows", v[0] / v[2], v[1] / v[2], v[2]);
    report_number(b, "table", v[0] / v[2]);
    report_number(b, "indexes", v[1] / v[2]);
    report_number(b, "rows", v[2]);
}

/* Makes histories of 100 entries that grow side by side, two entries at a time, as conversations
 * do, with 20 forks each, so that there are enough sessions and branches to fill pages. */
static void size_fill(ramet *store, int sessions)
{
    words w = {53};
    ramet_call *c = scratch_call(store);
    const char **ids = xcalloc((size_t)sessions, sizeof *ids);
    int64_t indexed;
    for (int i = 0; i < sessions; i++)
        ids[i] = scratch_session(c);
    for (int turn = 0; turn < 50; turn++)
        for (int i = 0; i < sessions; i++)
            scratch_load(c, ids[i], 2, &w);
    for (int i = 0; i < sessions * 20; i++) {
        free((char *)scratch_fork(c, ids[i % sessions]));
        ramet_call_reset(c);
    }
    must(c, ramet_search_update(c, false, &indexed), "search");
    for (int i = 0; i < sessions; i++)
        free((char *)ids[i]);
    free(ids);
    ramet_call_free(c);
}

static void size_rows(bench *b, const server_pg *s)
{
    bench_note("the bytes of a row");
    server_pg_database(s, "size");
    ramet *store = store_open(s, "size");
    size_fill(store, b->quick ? 40 : 800);
    ramet_close(store);
    server_pg_run(s, "size", "VACUUM");
    bytes_row(b, s, "entry", "PostgreSQL: bytes of an entry with 1 KiB of text");
    bytes_row(b, s, "words", "  ... and of its place in the search index");
    bytes_row(b, s, "session", "PostgreSQL: bytes of a session");
    bytes_row(b, s, "dir", "  ... and of its id in the directory");
    bytes_row(b, s, "branch", "PostgreSQL: bytes of a branch");
}

void case_postgres(bench *b)
{
    server_pg s = {0};
    signal(SIGPIPE, SIG_IGN);
    server_pg_start(b, &s);
    server_pg_database(&s, STORE);
    least_rows(b, &s);
    deep_rows(b, &s);
    nodes_rows(b, &s);
    size_rows(b, &s);
    server_pg_stop(&s);
}
