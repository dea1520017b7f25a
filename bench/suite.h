/* SPDX-License-Identifier: Apache-2.0
 *
 * suite.h: what the files of bench/ share.
 *
 * A case is a function that measures and adds rows to the report. When it compares two things it
 * alternates between them, so that a slow moment of the machine affects both, and reports medians.
 * Nothing here returns an error: a benchmark that cannot continue says why and ends.
 */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "ramet.h"
#include "base/arena.h"
#include "base/buf.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENTRY_BYTES 1024 /* the text of an entry */

typedef struct big_store big_store;

typedef struct bench {
    bool quick;
    const char *dir; /* the scratch folder */
    const char *program;
    struct report *report;
    big_store *big; /* made by the first case that needs it */
} bench;

typedef struct bench_case {
    const char *name, *about;
    void (*run)(bench *b);
    bool extra; /* runs only when named */
} bench_case;

void case_fork(bench *b);
void case_merge(bench *b);
void case_bytes(bench *b);
void case_append(bench *b);
void case_nested(bench *b);
void case_tree(bench *b);
void case_compare(bench *b);
void case_state(bench *b);
void case_overlays(bench *b);
void case_templates(bench *b);
void case_startup(bench *b);
void case_search(bench *b);
void case_stream(bench *b);
void case_export(bench *b);
void case_foreign(bench *b);
void case_http(bench *b);
void case_footprint(bench *b);
void case_churn(bench *b);
void case_turns(bench *b);
void case_postgres(bench *b);
void case_kagent(bench *b);
void case_memory(bench *b);
void case_grpc(bench *b);
void case_acp(bench *b);
void case_sandbox(bench *b);
void case_bodies(bench *b);

/* Prints the reason to standard error and ends the process. */
_Noreturn void bench_die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Prints progress, for the person waiting. */
void bench_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- numbers (sample.c) */

typedef struct sample {
    double *items;
    size_t n, cap;
} sample;
double now_us(void);
void sample_add(sample *s, double v);
void sample_free(sample *s);
/* The q-quantile; 0.5 is the median. */
double sample_at(sample *s, double q);
double sample_mean(const sample *s);

/* ---- text (sample.c): words distributed by Zipf's law, as in natural language */

typedef struct words {
    uint64_t seed;
} words;
#define WORD_RANKS 50000
#define WORD_BYTES 8
/* The word of a rank; rank 1 is the most common. */
const char *word_at(unsigned rank, char out[WORD_BYTES]);
uint64_t words_number(words *w); /* random */
/* Fills exactly n bytes and a NUL. */
void words_fill(words *w, char *out, size_t n);

/* ---- the report (report.c) */

typedef enum { BAR_NONE, BAR_MOST, BAR_LEAST } bar_kind;

/* Adds and prints a row. `unit` is printed after the number; `detail` holds the raw numbers for
 * people. */
void report_row(bench *b, const char *name, const char *what, double value, const char *unit,
                bar_kind kind, double bar, const char *detail, ...)
    __attribute__((format(printf, 8, 9)));
/* Adds a raw number to the last row, for the JSON. */
void report_number(bench *b, const char *name, double value);
struct report *report_new(void);
void report_free(struct report *r);
/* Facts about the machine and the run: printed first, and put into the JSON. */
void report_fact(struct report *r, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void report_begin(const struct report *r);
void report_end(const struct report *r);
void report_json(const struct report *r, const char *path);

/* ---- scratch stores (scratch.c) */

/* DIR/NAME; in a ring of a few static buffers. */
const char *scratch_path(const bench *b, const char *name);
int64_t file_bytes(const char *path); /* 0 when it does not exist */
void file_remove(const char *path);   /* a store: with its log and its index */
ramet *scratch_open(const bench *b, const char *name);
/* A call on behalf of a user, so that access is checked as in real use. */
ramet_call *scratch_call(ramet *r);
/* Ends the process when a call failed. */
void must(ramet_call *c, ramet_status st, const char *what);
/* Creates a session; the caller may free() its id. */
const char *scratch_session(ramet_call *c);
const char *scratch_fork(ramet_call *c, const char *session);
/* Appends n entries of ENTRY_BYTES in batches of 1,000; roles alternate. */
void scratch_load(ramet_call *c, const char *session, int64_t n, words *w);

/* A store with a session of 1,000,000 entries (20,000 when quick). */
struct big_store {
    const char *name;    /* for scratch_open() */
    const char *session; /* the long one */
    int64_t entries;
    double load_rate; /* entries a second */
};
const big_store *big_open(bench *b);

/* Runs a function in n threads at once and waits for all of them; the i-th gets the i-th element of
 * args. */
void threads_run(size_t n, void (*run)(void *arg), void *args, size_t arg_size);

/* Appends a second by 64 threads, each with its own session and `each` entries (append.c). */
double appenders_rate(ramet *store, int64_t each);

/* The time to read the last 50 entries (reads.c). */
double tail_us(ramet_call *c, const char *session, bool versions);

/* ---- plain SQLite with the store's settings (raw.c) */

typedef struct raw raw;
typedef enum { RAW_KEYED, RAW_KEYED_INDEX, RAW_ARRIVAL } raw_order;
raw *raw_open(const bench *b, const char *name, raw_order order);
void raw_close(raw *r); /* also removes the file */
void raw_begin(raw *r);
void raw_commit(raw *r);
/* Inserts a row like one of the store's entry table. */
void raw_insert(raw *r, int64_t k, const char *id, const char *text);
/* Commits one short row durably. */
void raw_one(raw *r);
/* Copies the n rows from key 1 on to new keys, in one transaction. */
void raw_copy(raw *r, int64_t n);
/* For tables that a case creates itself. */
sqlite3 *raw_handle(raw *r);
void raw_exec(sqlite3 *h, const char *sql);
sqlite3_stmt *raw_prepare(sqlite3 *h, const char *sql);

#endif
