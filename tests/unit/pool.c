/* SPDX-License-Identifier: Apache-2.0
 *
 * The pool of connections to a database: who waits for one gets it in the order of coming, and
 * writes that wait go together without one being lost.
 */
#include "help.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { READERS = 48, READS = 9600, WRITERS = 12, WRITES = 40 };

TestSuite(pool, .init = scratch_open, .fini = scratch_close);

static ramet *narrow; /* the same store, through a pool of two */
static atomic_int left;
static pthread_barrier_t begin;

static void *read_on(void *arg)
{
    int *mine = arg;
    ramet_call *c = ramet_call_new(narrow, NULL, NULL);
    ramet_session *s;
    pthread_barrier_wait(&begin);
    while (atomic_fetch_sub(&left, 1) > 0) {
        ok_for(c, ramet_session_get(c, "s", &s));
        ramet_call_reset(c);
        ++*mine;
    }
    ramet_call_free(c);
    return NULL;
}

static void narrow_open(void)
{
    ramet_options o = scratch_options();
    o.pool = 2;
    cr_assert_eq(ramet_open(T.path, &o, &narrow, NULL), RAMET_OK);
}

static void threads(int n, void *(*run)(void *), int *each)
{
    pthread_t list[READERS + WRITERS];
    for (int i = 0; i < n; i++)
        cr_assert_eq(pthread_create(&list[i], NULL, run, &each[i]), 0);
    for (int i = 0; i < n; i++)
        pthread_join(list[i], NULL);
}

Test(pool, who_reads_gets_a_connection_in_turn)
{
    int each[READERS] = {0};
    make("s");
    narrow_open();
    left = READS;
    pthread_barrier_init(&begin, NULL, READERS);
    threads(READERS, read_on, each);
    pthread_barrier_destroy(&begin);
    ramet_close(narrow);
    for (int i = 0; i < READERS; i++)
        cr_expect_gt(each[i], READS / READERS * 4 / 5, "reader %d had %d of %d", i, each[i], READS);
}

/* Appends to its own session and to one of all, and forks. */
static void *write_on(void *arg)
{
    int me = *(const int *)arg;
    char own[16];
    ramet_call *c = ramet_call_new(narrow, "ann", NULL);
    ramet_session *made;
    snprintf(own, sizeof own, "own-%d", me);
    for (int i = 0; i < WRITES; i++) {
        char id[32];
        snprintf(id, sizeof id, "%d-%d", me, i);
        ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = id};
        ramet_append_in in = {.entries = &e, .n = 1};
        ramet_append_out out;
        ok_for(c, ramet_append(c, i % 2 ? own : "s", &in, &out));
        if (i % 4 == 0)
            ok_for(c, ramet_fork(c, i % 8 ? own : "s", &(ramet_fork_in){0}, &made, NULL));
        ramet_call_reset(c);
    }
    ramet_call_free(c);
    return NULL;
}

Test(pool, writes_of_many_are_all_there_and_each_once)
{
    int each[WRITERS];
    make("s");
    for (int i = 0; i < WRITERS; i++) {
        char own[16];
        snprintf(own, sizeof own, "own-%d", i);
        make(own);
        each[i] = i;
    }
    narrow_open();
    threads(WRITERS, write_on, each);
    ramet_close(narrow);
    cr_expect_eq(get("s")->head.length, WRITERS * WRITES / 2);
    cr_expect_eq(get("own-0")->head.length, WRITES / 2);
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_expect_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}
