/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark behind the storage of entry bodies: is a body better kept in its row, or compressed
 * in a table of its own? Two plain tables stand for the store's `entry` and `body`, so that the
 * size threshold and the compression level can vary.
 */
#include "bench/suite.h"

#include "core/pack.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BRANCHES 16 /* histories that grow in turns */
#define POOL ((size_t)4 << 20)
#define TAIL 50

typedef struct spec {
    bool random;   /* not compressible */
    size_t lo, hi; /* bytes of a body, spread evenly in the logarithm */
    size_t inline_max;
    int level;
} spec;

typedef struct outcome {
    double rate, bytes, tail_us;
} outcome;

typedef struct yard {
    sqlite3 *db;
    sqlite3_stmt *entry, *body, *tail, *get;
    const char *pool; /* the text that bodies are cut from */
    char *packed;
    size_t packed_cap;
    ZSTD_CCtx *packer;
    ZSTD_DCtx *opener;
} yard;

static char *pool_make(bool random)
{
    words w = {29};
    char *p = xmalloc(POOL + 1);
    if (!random) {
        words_fill(&w, p, POOL);
        return p;
    }
    /* Every byte except NUL: as dense as text can be. */
    for (size_t i = 0; i < POOL; i++)
        p[i] = (char)(words_number(&w) % 255 + 1);
    p[POOL] = 0;
    return p;
}

static size_t size_pick(const spec *s, words *w)
{
    double u = (double)(words_number(w) >> 11) / 9007199254740992.0;
    return (size_t)((double)s->lo * pow((double)s->hi / (double)s->lo, u));
}

static void step(yard *y, sqlite3_stmt *s)
{
    if (sqlite3_step(s) != SQLITE_DONE)
        bench_die("plain SQLite: %s", sqlite3_errmsg(y->db));
    sqlite3_reset(s);
}

static void put(yard *y, const spec *s, int64_t k, const char *text, size_t n)
{
    char id[40];
    bool large = n > s->inline_max;
    snprintf(id, sizeof id, "%032llx", (unsigned long long)k * 2654435761u);
    sqlite3_bind_int64(y->entry, 1, k);
    sqlite3_bind_text(y->entry, 2, id, -1, SQLITE_STATIC);
    if (large)
        sqlite3_bind_null(y->entry, 3);
    else
        sqlite3_bind_blob(y->entry, 3, text, (int)n, SQLITE_STATIC);
    step(y, y->entry);
    if (!large)
        return;
    size_t packed = ZSTD_compressCCtx(y->packer, y->packed, y->packed_cap, text, n, s->level);
    bool plain = ZSTD_isError(packed) || packed > n - n / 8;
    sqlite3_bind_int64(y->body, 1, k);
    sqlite3_bind_int64(y->body, 2, plain ? 0 : (int64_t)n);
    sqlite3_bind_blob(y->body, 3, plain ? text : y->packed, (int)(plain ? n : packed),
                      SQLITE_STATIC);
    step(y, y->body);
}

/* Reads and decompresses the last 50 bodies of a branch; returns their bytes. */
static size_t tail_read(yard *y, int64_t branch)
{
    size_t got = 0;
    sqlite3_bind_int64(y->tail, 1, branch << 24);
    sqlite3_bind_int64(y->tail, 2, (branch + 1) << 24);
    while (sqlite3_step(y->tail) == SQLITE_ROW) {
        if (sqlite3_column_type(y->tail, 2) != SQLITE_NULL) {
            got += (size_t)sqlite3_column_bytes(y->tail, 2);
            continue;
        }
        sqlite3_bind_int64(y->get, 1, sqlite3_column_int64(y->tail, 0));
        if (sqlite3_step(y->get) != SQLITE_ROW)
            bench_die("a body is missing");
        size_t plain = (size_t)sqlite3_column_int64(y->get, 0);
        const void *p = sqlite3_column_blob(y->get, 1);
        size_t n = (size_t)sqlite3_column_bytes(y->get, 1);
        if (plain && ZSTD_decompressDCtx(y->opener, y->packed, y->packed_cap, p, n) != plain)
            bench_die("a body is damaged");
        got += plain ? plain : n;
        sqlite3_reset(y->get);
    }
    sqlite3_reset(y->tail);
    return got;
}

static void yard_open(yard *y, raw *plain, const char *pool)
{
    sqlite3 *h = raw_handle(plain);
    raw_exec(h, "CREATE TABLE e(k INTEGER PRIMARY KEY, id TEXT NOT NULL, text);"
                "CREATE TABLE b(k INTEGER PRIMARY KEY, plain INT NOT NULL, packed BLOB NOT NULL)");
    *y = (yard){.db = h, .pool = pool, .packed_cap = ZSTD_compressBound((size_t)64 << 10)};
    y->packed = xmalloc(y->packed_cap);
    y->packer = ZSTD_createCCtx();
    y->opener = ZSTD_createDCtx();
    y->entry = raw_prepare(h, "INSERT INTO e(k,id,text) VALUES(?1,?2,?3)");
    y->body = raw_prepare(h, "INSERT INTO b(k,plain,packed) VALUES(?1,?2,?3)");
    y->tail =
        raw_prepare(h, "SELECT k,id,text FROM e WHERE k>=?1 AND k<?2 ORDER BY k DESC LIMIT 50");
    y->get = raw_prepare(h, "SELECT plain,packed FROM b WHERE k=?1");
}

static void yard_close(yard *y)
{
    sqlite3_finalize(y->entry);
    sqlite3_finalize(y->body);
    sqlite3_finalize(y->tail);
    sqlite3_finalize(y->get);
    free(y->packed);
    ZSTD_freeCCtx(y->packer);
    ZSTD_freeDCtx(y->opener);
}

static outcome spec_run(bench *b, const spec *s, const char *pool)
{
    raw *plain = raw_open(b, "bodies.db", RAW_KEYED);
    yard y;
    words w = {31};
    double mean = s->hi > s->lo ? (double)(s->hi - s->lo) / log((double)s->hi / (double)s->lo)
                                : (double)s->lo;
    int64_t n = (int64_t)((b->quick ? 2e6 : 24e6) / mean);
    n = n > 16000 ? 16000 : n < BRANCHES * TAIL ? BRANCHES * TAIL : n;
    sample tails = {0};
    yard_open(&y, plain, pool);
    double start = now_us();
    for (int64_t i = 0; i < n;) {
        raw_begin(plain);
        for (int k = 0; k < 64 && i < n; k++, i++) {
            size_t size = size_pick(s, &w);
            put(&y, s, (i % BRANCHES + 1) << 24 | i / BRANCHES,
                pool + words_number(&w) % (POOL - size), size);
        }
        raw_commit(plain);
    }
    outcome out = {.rate = (double)n / (now_us() - start) * 1e6};
    raw_exec(y.db, "PRAGMA wal_checkpoint(TRUNCATE)");
    out.bytes = (double)file_bytes(scratch_path(b, "bodies.db")) / (double)n;
    for (int i = 0; i < BRANCHES * 8; i++) {
        start = now_us();
        tail_read(&y, i % BRANCHES + 1);
        sample_add(&tails, now_us() - start);
    }
    out.tail_us = sample_at(&tails, 0.5);
    sample_free(&tails);
    yard_close(&y);
    raw_close(plain);
    return out;
}

static void spec_row(bench *b, const spec *s, const char *what, const char *pool)
{
    char name[40];
    outcome rounds[3], *best = rounds;
    for (int i = 0; i < 3; i++)
        rounds[i] = spec_run(b, s, pool);
    for (int i = 1; i < 3; i++) {
        best->rate = rounds[i].rate > best->rate ? rounds[i].rate : best->rate;
        best->tail_us = rounds[i].tail_us < best->tail_us ? rounds[i].tail_us : best->tail_us;
    }
    snprintf(name, sizeof name, "%s_%zu_%zu_%d", s->random ? "random" : "chat", s->lo,
             s->inline_max > s->hi ? 0 : s->inline_max, s->level);
    report_row(b, name, what, best->rate, "/s", BAR_NONE, 0,
               "%.0f bytes an entry; last 50 in %.0f us", best->bytes, best->tail_us);
    report_number(b, "bytes", best->bytes);
    report_number(b, "tail_us", best->tail_us);
}

/* Labels must outlive the report. */
static const char *label(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *label(const char *fmt, ...)
{
    static char all[128][72];
    static size_t next;
    va_list ap;
    if (next == sizeof all / sizeof all[0])
        bench_die("too many labels");
    va_start(ap, fmt);
    vsnprintf(all[next], sizeof all[0], fmt, ap);
    va_end(ap);
    return all[next++];
}

static void sizes_run(bench *b, bool random, const char *kind, const char *pool)
{
    static const size_t sizes[] = {512, 1024, 2048, 3072, 4096, 6144, 8192, 16384, 65536};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        spec s = {random, sizes[i], sizes[i], SIZE_MAX, 3};
        spec_row(b, &s, label("%zu bytes of %s, in the row", sizes[i], kind), pool);
        s.inline_max = 0;
        for (s.level = 1; s.level <= 3; s.level += 2)
            spec_row(b, &s, label("%zu bytes of %s, packed at level %d", sizes[i], kind, s.level),
                     pool);
    }
}

static void thresholds_run(bench *b, bool random, const char *kind, const char *pool)
{
    static const size_t limits[] = {1000, 2000, INLINE_MAX, 8000, 16000, 65536};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        for (int level = 1; level <= 3; level += 2) {
            spec s = {random, 512, 65536, limits[i], level};
            spec_row(b, &s,
                     label("0.5-64 KiB of %s, packed over %zu, level %d", kind, limits[i], level),
                     pool);
        }
    }
}

void case_bodies(bench *b)
{
    char *chat = pool_make(false), *noise = pool_make(true);
    sizes_run(b, false, "chat", chat);
    sizes_run(b, true, "noise", noise);
    thresholds_run(b, false, "chat", chat);
    thresholds_run(b, true, "noise", noise);
    free(chat);
    free(noise);
}
