/* SPDX-License-Identifier: Apache-2.0
 *
 * stopped.c: I8. Once a write has failed, nothing but reopening the store lets writes in again.
 *
 * Commits and checkpoints fail independently, on different threads. The order of their failures
 * must not matter: a full disk that a checkpoint meets after a broken commit does not turn the
 * broken store into one that a probe may reopen.
 */
#include "vfs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_ENTRIES = 60, FILL_BYTES = 60000, WRITERS = 4, TRIES_AFTER = 20, WRITES_BEFORE = 10 };

typedef struct bench {
    char *dir, *db;
    ramet *r;
    ramet_call *c;
} bench;

static ramet_status append_text(ramet_call *c, const char *id, const char *text)
{
    ramet_append_out out;
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = text};
    ramet_status st = ramet_append(c, "s", &(ramet_append_in){.entries = &e, .n = 1}, &out);
    ramet_call_reset(c);
    return st;
}

/* A store whose write-ahead log is long enough for ramet_tidy() to checkpoint it. */
static void bench_open(bench *b)
{
    ramet_session *session;
    rng r = {mix(opt.seed, 41)};
    char *text = mem_new(FILL_BYTES + 1);
    b->dir = tmp_new("stopped");
    b->db = text_new("%s/s.db", b->dir);
    shim_arm(b->db, &(shim_plan){.files = SHIM_STORE, .ops = SHIM_ALL_OPS});
    b->r = open_store(b->db, &(ramet_options){.engine_vfs = SHIM_NAME});
    b->c = ramet_call_new(b->r, NULL, NULL);
    if (ramet_session_create(b->c, &(ramet_session_in){.id = "s"}, &session))
        wrong("the session cannot be made: %s", ramet_call_error(b->c)->message);
    for (int i = 0; i < FILL_ENTRIES; i++) {
        char id[24];
        snprintf(id, sizeof id, "fill-%d", i);
        for (int k = 0; k < FILL_BYTES; k++) /* too random to be packed */
            text[k] = (char)('!' + rng_below(&r, 90));
        if (append_text(b->c, id, text))
            wrong("%s on a good disk: %s", id, ramet_call_error(b->c)->message);
    }
    free(text);
}

static void bench_close(bench *b)
{
    ramet_call_free(b->c);
    ramet_close(b->r);
    free(b->db);
    tmp_remove(b->dir);
}

static void expect_status(ramet_status got, ramet_status want, const char *what)
{
    if (got != want)
        wrong("%s: %s, not %s", what, ramet_status_code(got), ramet_status_code(want));
}

static void test_order(void)
{
    bench b;
    bench_open(&b);
    shim_arm(b.db, &(shim_plan){.files = SHIM_WAL, .ops = SHIM_SYNC, .at = 1, .lasting = true});
    expect_status(append_text(b.c, "broken", "x"), RAMET_IO, "an append whose sync fails");
    expect_status(ramet_health(b.r), RAMET_IO, "health after it");
    shim_arm(
        b.db,
        &(shim_plan){.files = SHIM_DB, .ops = SHIM_WRITE, .at = 1, .full = true, .lasting = true});
    ramet_tidy(b.r);
    if (!shim_failures())
        wrong("no checkpoint has met the full disk");
    expect_status(ramet_health(b.r), RAMET_IO, "health after a checkpoint on a full disk");
    shim_heal();
    for (int i = 0; i < 3; i++)
        expect_status(append_text(b.c, "later", "x"), RAMET_STOPPED, "an append on a healed disk");
    bench_close(&b);
    tap_verdict("stopped: a full disk does not reopen a broken store");
}

static void test_full_then_broken(void)
{
    bench b;
    bench_open(&b);
    shim_arm(
        b.db,
        &(shim_plan){.files = SHIM_WAL, .ops = SHIM_WRITE, .at = 1, .full = true, .lasting = true});
    expect_status(append_text(b.c, "full", "x"), RAMET_FULL, "an append on a full disk");
    shim_arm(b.db, &(shim_plan){.files = SHIM_DB, .ops = SHIM_SYNC, .at = 1});
    ramet_tidy(b.r);
    if (!shim_failures())
        wrong("no checkpoint has met the broken disk");
    shim_heal();
    expect_status(append_text(b.c, "later", "x"), RAMET_STOPPED, "an append on a healed disk");
    expect_status(ramet_health(b.r), RAMET_IO, "health");
    bench_close(&b);
    tap_verdict("stopped: a checkpoint that fails on a full disk breaks the store for good");
}

/* ---- many threads */

typedef struct crowd {
    bench *b;
    _Atomic int written; /* by all writers, on the good disk */
    _Atomic bool end;
} crowd;

typedef struct writer {
    crowd *of;
    int no;
    pthread_t thread;
} writer;

/* Appends until a checkpoint has failed; from then on every append must be refused. */
static void *writer_run(void *arg)
{
    writer *w = arg;
    ramet_call *c = ramet_call_new(w->of->b->r, NULL, NULL);
    char id[32];
    ramet_status st = RAMET_OK;
    for (int i = 0; st == RAMET_OK; i++) {
        snprintf(id, sizeof id, "w%d-%d", w->no, i);
        st = append_text(c, id, "x");
        w->of->written++;
    }
    expect_status(st, RAMET_STOPPED, "the first append after the failure");
    for (int i = 0; i < TRIES_AFTER; i++) {
        snprintf(id, sizeof id, "w%d-after-%d", w->no, i);
        expect_status(append_text(c, id, "x"), RAMET_STOPPED, "an append after the failure");
    }
    ramet_call_free(c);
    return NULL;
}

/* Checkpoints as a server's timer does; the disk fails the first one. */
static void *keeper_run(void *arg)
{
    crowd *all = arg;
    while (!all->end) {
        if (all->written >= WRITERS * WRITES_BEFORE)
            ramet_tidy(all->b->r);
        ramet_health(all->b->r);
        sleep_us(100);
    }
    return NULL;
}

static void test_together(void)
{
    bench b;
    bench_open(&b);
    crowd all = {.b = &b};
    writer w[WRITERS];
    pthread_t keeper;
    shim_arm(b.db, &(shim_plan){.files = SHIM_DB, .ops = SHIM_ALL_OPS, .at = 1, .lasting = true});
    pthread_create(&keeper, NULL, keeper_run, &all);
    for (int i = 0; i < WRITERS; i++) {
        w[i] = (writer){.of = &all, .no = i};
        pthread_create(&w[i].thread, NULL, writer_run, &w[i]);
    }
    for (int i = 0; i < WRITERS; i++)
        pthread_join(w[i].thread, NULL);
    all.end = true;
    pthread_join(keeper, NULL);
    expect_status(ramet_health(b.r), RAMET_IO, "health");
    bench_close(&b);
    tap_verdict("stopped: a failed checkpoint stops %d writers beside it", WRITERS);
}

void test_stopped(void)
{
    shim_register();
    test_order();
    test_full_then_broken();
    test_together();
}
