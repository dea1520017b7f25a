/* SPDX-License-Identifier: Apache-2.0
 *
 * The report of a benchmark: a table for people while it runs, JSON for programs at the end.
 */
#include "bench/suite.h"

#include "base/json.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 40
#define ROWS_MAX 256
#define FACTS_MAX 24
#define NUMBERS_MAX 16

typedef struct number {
    char name[NAME_MAX_LEN];
    double value;
} number;

typedef struct row {
    char name[NAME_MAX_LEN];
    const char *what, *unit;
    double value, bar;
    bar_kind kind;
    bool ok;
    number numbers[NUMBERS_MAX];
    size_t n;
} row;

typedef struct fact {
    const char *name;
    char text[200];
} fact;

struct report {
    row rows[ROWS_MAX];
    size_t n;
    fact facts[FACTS_MAX];
    size_t n_facts;
};

struct report *report_new(void)
{
    return xcalloc(1, sizeof(struct report));
}

void report_free(struct report *r)
{
    free(r);
}

void report_fact(struct report *r, const char *name, const char *fmt, ...)
{
    if (r->n_facts == FACTS_MAX)
        bench_die("too many facts");
    fact *f = &r->facts[r->n_facts++];
    f->name = name;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, ap);
    va_end(ap);
}

/* Formats a value with three significant digits. */
static const char *figure(double v, const char *unit, char out[32])
{
    int digits = v == floor(v) && fabs(v) < 1e6 ? 0 : fabs(v) < 10 ? 2 : fabs(v) < 100 ? 1 : 0;
    snprintf(out, 32, "%.*f%s%s", digits, v, *unit ? " " : "", unit);
    return out;
}

void report_begin(const struct report *r)
{
    for (size_t i = 0; i < r->n_facts; i++)
        printf("%-12s %s\n", r->facts[i].name, r->facts[i].text);
    printf("\n%-64s %14s %14s  %s\n", "what", "measured", "bar", "");
    fflush(stdout);
}

void report_row(bench *b, const char *name, const char *what, double value, const char *unit,
                bar_kind kind, double bar, const char *detail, ...)
{
    struct report *r = b->report;
    char measured[32], limit[32], with_sign[40] = "-";
    if (r->n == ROWS_MAX)
        bench_die("too many rows");
    row *w = &r->rows[r->n++];
    *w = (row){.what = what, .unit = unit, .value = value, .bar = bar, .kind = kind};
    snprintf(w->name, sizeof w->name, "%s", name);
    w->ok = kind == BAR_NONE || (kind == BAR_MOST ? value <= bar : value >= bar);
    if (kind != BAR_NONE)
        snprintf(with_sign, sizeof with_sign, "%s %s",
                 kind == BAR_MOST ? "<=" : ">=", figure(bar, unit, limit));
    printf("%-64s %14s %14s  %s\n", what, figure(value, unit, measured), with_sign,
           kind == BAR_NONE ? ""
           : w->ok          ? "ok"
                            : "MISSED");
    if (detail) {
        va_list ap;
        va_start(ap, detail);
        printf("    ");
        vprintf(detail, ap);
        printf("\n");
        va_end(ap);
    }
    fflush(stdout);
}

void report_number(bench *b, const char *name, double value)
{
    row *w = &b->report->rows[b->report->n - 1];
    if (w->n == NUMBERS_MAX)
        bench_die("too many numbers in the row %s", w->name);
    snprintf(w->numbers[w->n].name, NAME_MAX_LEN, "%s", name);
    w->numbers[w->n++].value = value;
}

void report_end(const struct report *r)
{
    size_t bars = 0, missed = 0;
    for (size_t i = 0; i < r->n; i++) {
        bars += r->rows[i].kind != BAR_NONE;
        missed += !r->rows[i].ok;
    }
    if (bars)
        printf("\n%zu of %zu bars reached\n", bars - missed, bars);
}

static void json_number(json_writer *w, const char *key, double v)
{
    char text[40];
    snprintf(text, sizeof text, "%.6g", isfinite(v) ? v : 0);
    jw_kraw(w, key, text);
}

static void row_json(json_writer *w, const row *r)
{
    static const char *const kinds[] = {"none", "most", "least"};
    jw_object(w);
    jw_kstr(w, "name", r->name);
    jw_kstr(w, "what", r->what);
    json_number(w, "value", r->value);
    jw_kstr(w, "unit", r->unit);
    jw_kstr(w, "bar_kind", kinds[r->kind]);
    if (r->kind != BAR_NONE) {
        json_number(w, "bar", r->bar);
        jw_kbool(w, "ok", r->ok);
    }
    jw_key(w, "numbers");
    jw_object(w);
    for (size_t i = 0; i < r->n; i++)
        json_number(w, r->numbers[i].name, r->numbers[i].value);
    jw_end_object(w);
    jw_end_object(w);
}

void report_json(const struct report *r, const char *path)
{
    buf out;
    json_writer w;
    buf_init(&out, 1 << 20);
    jw_init(&w, &out, 2);
    jw_object(&w);
    jw_key(&w, "machine");
    jw_object(&w);
    for (size_t i = 0; i < r->n_facts; i++)
        jw_kstr(&w, r->facts[i].name, r->facts[i].text);
    jw_end_object(&w);
    jw_key(&w, "rows");
    jw_array(&w);
    for (size_t i = 0; i < r->n; i++)
        row_json(&w, &r->rows[i]);
    jw_end_array(&w);
    jw_end_object(&w);
    buf_putc(&out, '\n');
    FILE *f = fopen(path, "w");
    bool written = f && fwrite(out.data, 1, out.n, f) == out.n;
    if (!f || fclose(f) != 0 || !written)
        bench_die("%s could not be written", path);
    buf_release(&out);
}
