/* SPDX-License-Identifier: Apache-2.0
 *
 * The history benchmark: forks and moves, compared with a plain commit, with copying, and with each
 * other.
 */
#include "bench/suite.h"

#include <stdio.h>
#include <stdlib.h>

#define COPY_ENTRIES 10000

typedef enum { OP_COMMIT, OP_FORK_SHORT, OP_FORK_LONG, OP_REWIND, OP_UNDO, OP_SWITCH, OP_N } op;

typedef struct race {
    ramet_call *call;
    raw *plain;
    const char *short_one, *long_one;
    const char *short_entry, *long_entry; /* in the middle of each session */
    int64_t head;                         /* of the long session, before any move */
    int64_t rewound;                      /* the branch that the last rewind made */
    sample times[OP_N];
} race;

/* The id of the entry at a position; never freed. */
static const char *entry_at(ramet_call *c, const char *session, int64_t position)
{
    ramet_read_in in = {.by_position = true, .position = position, .limit = 1};
    ramet_page page;
    must(c, ramet_read(c, session, &in, &page), "read");
    const char *id = xstrdup(page.entries[0].id);
    ramet_call_reset(c);
    return id;
}

static void fork_at(ramet_call *c, const char *session, const char *entry)
{
    ramet_fork_in in = {.at = {.entry_id = entry}};
    ramet_session *s;
    must(c, ramet_fork(c, session, &in, &s, NULL), "fork");
}

static void race_op(race *r, op what)
{
    ramet_move_in move = {.at = {.entry_id = r->long_entry}};
    ramet_session *s;
    switch (what) {
    case OP_COMMIT:
        raw_one(r->plain);
        break;
    case OP_FORK_SHORT:
        fork_at(r->call, r->short_one, r->short_entry);
        break;
    case OP_FORK_LONG:
        fork_at(r->call, r->long_one, r->long_entry);
        break;
    case OP_REWIND:
        must(r->call, ramet_rewind(r->call, r->long_one, &move, &s, NULL), "rewind");
        r->rewound = s->head.branch;
        break;
    case OP_UNDO:
        must(r->call, ramet_undo(r->call, r->long_one, NULL, &s), "undo");
        break;
    default:
        must(r->call, ramet_switch(r->call, r->long_one, r->rewound, NULL, &s), "switch");
    }
}

static void race_time(race *r, op what)
{
    double start = now_us();
    race_op(r, what);
    sample_add(&r->times[what], now_us() - start);
    ramet_call_reset(r->call);
}

/* Times each operation once. Their order rotates, because the first operation after an idle moment
 * pays for it. */
static void race_round(race *r, int i)
{
    for (int k = 0; k < 3; k++)
        race_time(r, (op)(OP_COMMIT + (i + k) % 3));
    race_time(r, OP_REWIND);
    race_time(r, OP_UNDO);
    race_time(r, OP_SWITCH);
    ramet_session *s;
    must(r->call, ramet_switch(r->call, r->long_one, r->head, NULL, &s), "switch");
    ramet_call_reset(r->call);
}

/* Fills both write-ahead logs once. From then on they are overwritten and no longer grow, as in a
 * store that is in use; growing a file costs the file system a commit of its own. */
static void logs_fill(race *r)
{
    enum { ENTRIES = 16000, BATCH = 1000 };
    words w = {4};
    char text[ENTRY_BYTES + 1];
    words_fill(&w, text, ENTRY_BYTES);
    for (int64_t i = 0; i < ENTRIES; i++) {
        if (i % BATCH == 0)
            raw_begin(r->plain);
        raw_insert(r->plain, i + 1, "an entry of the warm-up", text);
        if (i % BATCH == BATCH - 1)
            raw_commit(r->plain);
    }
    const char *session = scratch_session(r->call);
    scratch_load(r->call, session, ENTRIES, &w);
    free((char *)session);
}

static void ratio_row(bench *b, race *r, op what, op against, const char *name, const char *title,
                      double bar)
{
    sample *a = &r->times[what], *z = &r->times[against];
    report_row(b, name, title, sample_at(a, 0.5) / sample_at(z, 0.5), "x", BAR_MOST, bar,
               "median %.0f us against %.0f us; mean %.0f and %.0f; p99 %.0f and %.0f",
               sample_at(a, 0.5), sample_at(z, 0.5), sample_mean(a), sample_mean(z),
               sample_at(a, 0.99), sample_at(z, 0.99));
    report_number(b, "us", sample_at(a, 0.5));
    report_number(b, "us_mean", sample_mean(a));
    report_number(b, "us_p99", sample_at(a, 0.99));
    report_number(b, "against_us", sample_at(z, 0.5));
    report_number(b, "against_us_mean", sample_mean(z));
}

/* Copying is slow, so it gets fewer rounds, with its own forks to compare with. */
static void copy_row(bench *b, race *r)
{
    raw *plain = raw_open(b, "copy.db", RAW_KEYED_INDEX);
    char text[ENTRY_BYTES + 1], id[40];
    words w = {5};
    sample copies = {0}, forks = {0};
    raw_begin(plain);
    for (int64_t i = 1; i <= COPY_ENTRIES; i++) {
        words_fill(&w, text, ENTRY_BYTES);
        snprintf(id, sizeof id, "%016llx-%016llx", (unsigned long long)i,
                 (unsigned long long)words_number(&w));
        raw_insert(plain, i, id, text);
    }
    raw_commit(plain);
    for (int i = 0; i < (b->quick ? 3 : 11); i++) {
        double start = now_us();
        raw_copy(plain, COPY_ENTRIES);
        sample_add(&copies, now_us() - start);
        for (int k = 0; k < 20; k++) {
            start = now_us();
            race_op(r, OP_FORK_LONG);
            sample_add(&forks, now_us() - start);
            ramet_call_reset(r->call);
        }
    }
    raw_close(plain);
    double copy = sample_at(&copies, 0.5), made = sample_at(&forks, 0.5);
    report_row(b, "fork_copy", "fork against copying 10,000 entries in one transaction",
               copy / made, "x", BAR_LEAST, 300, "median %.0f us against %.1f ms", made,
               copy / 1e3);
    report_number(b, "us", made);
    report_number(b, "against_us", copy);
    sample_free(&copies);
    sample_free(&forks);
}

void case_fork(bench *b)
{
    const big_store *big = big_open(b);
    ramet *store = scratch_open(b, big->name);
    race r = {.call = scratch_call(store), .plain = raw_open(b, "plain.db", RAW_KEYED)};
    words w = {2};
    r.long_one = big->session;
    r.short_one = scratch_session(r.call);
    scratch_load(r.call, r.short_one, 10, &w);
    r.short_entry = entry_at(r.call, r.short_one, 4);
    r.long_entry = entry_at(r.call, r.long_one, big->entries / 2);
    ramet_session *s;
    must(r.call, ramet_session_get(r.call, r.long_one, &s), "get");
    r.head = s->head.branch;
    bench_note("forks, rewinds, undos and switches");
    logs_fill(&r);
    for (int i = 0; i < 20; i++)
        race_round(&r, i);
    for (int i = 0; i < OP_N; i++)
        r.times[i].n = 0;
    for (int i = 0; i < (b->quick ? 100 : 1000); i++)
        race_round(&r, i);
    ratio_row(b, &r, OP_FORK_LONG, OP_FORK_SHORT, "fork_length",
              b->quick ? "fork of 20,000 entries against fork of 10"
                       : "fork of 1,000,000 entries against fork of 10",
              1.2);
    ratio_row(b, &r, OP_FORK_LONG, OP_COMMIT, "fork_commit",
              "fork against one durable SQLite commit", 1.5);
    copy_row(b, &r);
    ratio_row(b, &r, OP_REWIND, OP_FORK_LONG, "rewind", "rewind against fork", 1.2);
    ratio_row(b, &r, OP_UNDO, OP_FORK_LONG, "undo", "undo against fork", 1.2);
    ratio_row(b, &r, OP_SWITCH, OP_FORK_LONG, "switch", "switch against fork", 1.2);
    for (int i = 0; i < OP_N; i++)
        sample_free(&r.times[i]);
    raw_close(r.plain);
    ramet_call_free(r.call);
    ramet_close(store);
}

/* Closing moves everything from the log into the file, so its size is what the forks cost. */
void case_bytes(bench *b)
{
    const char *name = "bytes.db";
    int forks = b->quick ? 500 : 4000;
    ramet *store = scratch_open(b, name);
    ramet_call *c = scratch_call(store);
    words w = {3};
    const char *session = scratch_session(c);
    scratch_load(c, session, 1000, &w);
    const char *entry = entry_at(c, session, 500);
    ramet_call_free(c);
    ramet_close(store);
    int64_t before = file_bytes(scratch_path(b, name));
    bench_note("bytes of a fork");
    store = scratch_open(b, name);
    c = scratch_call(store);
    for (int i = 0; i < forks; i++) {
        fork_at(c, session, entry);
        ramet_call_reset(c);
    }
    ramet_call_free(c);
    ramet_close(store);
    double each = (double)(file_bytes(scratch_path(b, name)) - before) / forks;
    report_row(b, "fork_bytes", "bytes added to the file by a fork", each, "B", BAR_MOST, 4096,
               "mean of %d forks of one session", forks);
    file_remove(scratch_path(b, name));
}
