/* SPDX-License-Identifier: Apache-2.0
 *
 * Scratch stores that benchmarks measure on, and threads to load them.
 */
#include "bench/suite.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BATCH 1000

const char *scratch_path(const bench *b, const char *name)
{
    static _Thread_local char ring[4][512]; /* small: every thread of the server has one, too */
    static _Thread_local unsigned next;
    char *out = ring[next++ % 4];
    snprintf(out, sizeof ring[0], "%s/%s", b->dir, name);
    return out;
}

int64_t file_bytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

void file_remove(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-search", "-search-wal", "-search-shm"};
    char name[4200];
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

ramet *scratch_open(const bench *b, const char *name)
{
    ramet *r;
    ramet_error err;
    if (ramet_open(scratch_path(b, name), NULL, &r, &err) != RAMET_OK)
        bench_die("%s", err.message);
    return r;
}

ramet_call *scratch_call(ramet *r)
{
    return ramet_call_new(r, "ann", "bench");
}

void must(ramet_call *c, ramet_status st, const char *what)
{
    if (st != RAMET_OK)
        bench_die("%s: %s", what, ramet_call_error(c)->message);
}

const char *scratch_session(ramet_call *c)
{
    static const ramet_session_in in;
    ramet_session *s;
    must(c, ramet_session_create(c, &in, &s), "create");
    return xstrdup(s->id);
}

const char *scratch_fork(ramet_call *c, const char *session)
{
    static const ramet_fork_in in;
    ramet_session *s;
    must(c, ramet_fork(c, session, &in, &s, NULL), "fork");
    return xstrdup(s->id);
}

void scratch_load(ramet_call *c, const char *session, int64_t n, words *w)
{
    char *texts = xmalloc((size_t)BATCH * (ENTRY_BYTES + 1));
    ramet_entry_in *in = xcalloc(BATCH, sizeof *in);
    for (int64_t at = 0; at < n;) {
        size_t k = n - at < BATCH ? (size_t)(n - at) : BATCH;
        for (size_t i = 0; i < k; i++) {
            char *text = texts + i * (ENTRY_BYTES + 1);
            words_fill(w, text, ENTRY_BYTES);
            in[i] = (ramet_entry_in){.role = (at + (int64_t)i) % 2 ? RAMET_ASSISTANT : RAMET_USER,
                                     .text = text};
        }
        ramet_append_in batch = {.entries = in, .n = k};
        ramet_append_out out;
        must(c, ramet_append(c, session, &batch, &out), "append");
        ramet_call_reset(c);
        at += (int64_t)k;
    }
    free(in);
    free(texts);
}

const big_store *big_open(bench *b)
{
    if (b->big)
        return b->big;
    big_store *big = b->big = xcalloc(1, sizeof *big);
    big->name = "big.db";
    big->entries = b->quick ? 20000 : 1000000;
    bench_note("loading a session of %lld entries", (long long)big->entries);
    ramet *r = scratch_open(b, big->name);
    ramet_call *c = scratch_call(r);
    words w = {1};
    big->session = scratch_session(c);
    double start = now_us();
    scratch_load(c, big->session, big->entries, &w);
    big->load_rate = (double)big->entries / (now_us() - start) * 1e6;
    ramet_call_free(c);
    ramet_close(r);
    return big;
}

/* ------------------------------------------------------------------ threads */

typedef struct thread_arg {
    void (*run)(void *arg);
    void *arg;
} thread_arg;

static void *thread_main(void *p)
{
    thread_arg *t = p;
    t->run(t->arg);
    return NULL;
}

void threads_run(size_t n, void (*run)(void *arg), void *args, size_t arg_size)
{
    pthread_t *ids = xcalloc(n, sizeof *ids);
    thread_arg *t = xcalloc(n, sizeof *t);
    for (size_t i = 0; i < n; i++) {
        t[i] = (thread_arg){run, (char *)args + i * arg_size};
        if (pthread_create(&ids[i], NULL, thread_main, &t[i]) != 0)
            bench_die("a thread cannot be started");
    }
    for (size_t i = 0; i < n; i++)
        pthread_join(ids[i], NULL);
    free(t);
    free(ids);
}
