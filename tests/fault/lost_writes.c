/* SPDX-License-Identifier: Apache-2.0
 *
 * lost_writes.c: no acknowledged write is lost while connections to PostgreSQL die (I1).
 *
 * Many writers append to a few sessions through two open stores. Each store writes mostly to
 * sessions of its own, so that large groups are committed, and now and then to one of the other
 * store, whose cached head is out of date then: the guards of its next group fail. A proxy cuts a
 * connection shortly after a guard failed on it, which is while the group runs for the second time
 * or commits; other connections are terminated by the server at random. Every answer is remembered,
 * and compared with what the store holds in the end:
 *
 *   OK                      the entry, or the fork, is there, once
 *   "nothing was written"   it is not there
 *   another failure         a status of 503; it may be there or not, but not twice
 *
 * No call is repeated, so that a write that is there twice was run twice by the store. Afterwards
 * fsck finds nothing.
 */
#include "../lib/scratch_db.h"
#include "help.h"
#include "proxy.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "fault_lost_writes"
#define APPLICATION "ramet_lost_writes"
#define GUARD_FAILED "22012" /* the SQLSTATE of a failed guard (store/postgres/batch.c) */

enum {
    WRITERS = 32,
    SESSIONS = 4,
    STORES = 2,
    FOREIGN_ONE_IN = 200, /* appends that go to a session of the other store */
    POOL = 8,
    FUSE_BYTES = 900, /* a few reads, or a small commit */
    KILL_EVERY_US = 40000,
    LEAST_CUTS = 20, /* the test goes on until that many happened */
};

typedef enum { KIND_APPEND, KIND_SERIAL, KIND_FORK } kind;

/* What a call was answered, and how often its write was found in the end. */
typedef struct answer {
    enum { SAID_NOTHING, SAID_OK, SAID_NOT_WRITTEN, SAID_UNKNOWN } said;
    int found;
} answer;

typedef struct writer {
    struct stage *stage;
    int who;
    answer *answers;
    size_t n, cap;
} writer;

typedef struct stage {
    proxy *p;
    char url[1200], through[1500];
    ramet *stores[STORES];
    PGconn *sql;
    writer writers[WRITERS];
    atomic_bool stop;
    int64_t terminated;
} stage;

/* Few calls fork, or append what cannot be guarded: both are slow where all write to one session.
 */
static kind kind_of(size_t i)
{
    return i % 64 == 7 ? KIND_FORK : i % 64 == 39 ? KIND_SERIAL : KIND_APPEND;
}

/* Session i is the own one of store i % STORES. */
static int session_pick(rng *r, int store)
{
    int other = rng_below(r, FOREIGN_ONE_IN) == 0;
    return rng_below(r, SESSIONS / STORES) * STORES + (store + other) % STORES;
}

/* ---- the load */

/* `id` names a fork, or is the text of an entry. */
static ramet_status call_do(ramet_call *c, int session, const char *id, kind what)
{
    static const ramet_usage usage = {.input = 1, .output = 1};
    char name[16];
    ramet_session *made;
    ramet_append_out out;
    snprintf(name, sizeof name, "s-%d", session);
    if (what == KIND_FORK)
        return ramet_fork(c, name, &(ramet_fork_in){.id = id}, &made, NULL);
    /* Without an id of its own: then an append to a cached session reads nothing, and is grouped.
     */
    ramet_entry_in e = {
        .role = RAMET_ASSISTANT, .text = id, .usage = what == KIND_SERIAL ? &usage : NULL};
    return ramet_append(c, name, &(ramet_append_in){.entries = &e, .n = 1}, &out);
}

static void answer_note(writer *w, const ramet_call *c, const char *id, ramet_status st)
{
    const char *message = ramet_call_error(c)->message;
    if (w->n == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 1024;
        w->answers = mem_grow(w->answers, w->cap * sizeof *w->answers);
    }
    answer *a = &w->answers[w->n++];
    *a = (answer){.said = SAID_OK};
    if (st == RAMET_OK)
        return;
    if (ramet_status_http(st) != 503)
        wrong("%s: %s (%s)", id, ramet_status_code(st), message);
    bool nothing = strstr(message, "nothing was written") || strstr(message, "cannot be reached");
    a->said = nothing ? SAID_NOT_WRITTEN : SAID_UNKNOWN;
}

static void *writer_run(void *arg)
{
    writer *w = arg;
    rng r = {mix(opt.seed, 100 + (uint64_t)w->who)};
    int store = w->who % STORES;
    ramet_call *c = ramet_call_new(w->stage->stores[store], NULL, NULL);
    while (!w->stage->stop && wrong_count() < 5) {
        char id[32];
        snprintf(id, sizeof id, "w-%d-%zu", w->who, w->n);
        answer_note(w, c, id, call_do(c, session_pick(&r, store), id, kind_of(w->n)));
        ramet_call_reset(c);
    }
    ramet_call_free(c);
    return NULL;
}

/* Terminates one connection of the stores. */
static void connection_kill(stage *s)
{
    PGresult *r = PQexec(s->sql, "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM "
                                 "pg_stat_activity WHERE application_name='" APPLICATION "' "
                                 "ORDER BY random() LIMIT 1) one");
    s->terminated += PQresultStatus(r) == PGRES_TUPLES_OK && PQntuples(r) == 1;
    PQclear(r);
}

static void load_run(stage *s)
{
    pthread_t threads[WRITERS];
    int64_t until = mono_us() + (int64_t)opt.budget * 1000000;
    proxy_cut_after(s->p, GUARD_FAILED, FUSE_BYTES);
    for (int i = 0; i < WRITERS; i++) {
        s->writers[i] = (writer){.stage = s, .who = i};
        pthread_create(&threads[i], NULL, writer_run, &s->writers[i]);
    }
    while ((mono_us() < until || proxy_cuts(s->p) < LEAST_CUTS) && wrong_count() < 5) {
        connection_kill(s);
        sleep_us(KILL_EVERY_US);
    }
    s->stop = true;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    proxy_cut_after(s->p, NULL, 0);
}

/* ---- what is there */

static void found_note(stage *s, const char *id)
{
    int who;
    size_t i;
    if (sscanf(id, "w-%d-%zu", &who, &i) != 2 || who >= WRITERS || i >= s->writers[who].n)
        wrong("%s is in the store, and was never sent", id);
    else
        s->writers[who].answers[i].found++;
}

static void rows_note(stage *s, const char *sql)
{
    PGresult *r = PQexec(s->sql, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK)
        wrong("%s: %s", sql, PQerrorMessage(s->sql));
    for (int i = 0; i < PQntuples(r); i++)
        found_note(s, PQgetvalue(r, i, 0));
    PQclear(r);
}

/* Through the library: what a client sees of a session, in order. */
static void session_note(stage *s, ramet_call *c, int session)
{
    char name[16];
    ramet_stream *stream;
    const ramet_entry *e = NULL;
    snprintf(name, sizeof name, "s-%d", session);
    ramet_status st = ramet_stream_open(c, name, &(ramet_read_in){0}, &stream);
    if (st == RAMET_OK) {
        while (!(st = ramet_stream_next(stream, &e)) && e)
            found_note(s, e->text);
        ramet_stream_close(stream);
    }
    if (st != RAMET_OK)
        wrong("%s cannot be read: %s", name, ramet_call_error(c)->message);
}

static void answers_check(stage *s)
{
    int64_t ok = 0, not_written = 0, unknown = 0;
    for (int w = 0; w < WRITERS; w++)
        for (size_t i = 0; i < s->writers[w].n; i++) {
            const answer *a = &s->writers[w].answers[i];
            ok += a->said == SAID_OK;
            not_written += a->said == SAID_NOT_WRITTEN;
            unknown += a->said == SAID_UNKNOWN;
            if (a->said == SAID_OK && !a->found)
                wrong("w-%d-%zu was acknowledged and is not there", w, i);
            if (a->said == SAID_NOT_WRITTEN && a->found)
                wrong("w-%d-%zu is there, and was answered \"nothing was written\"", w, i);
            if (a->found > 1)
                wrong("w-%d-%zu is there %d times", w, i, a->found);
        }
    tap_verdict("%d writers: %lld writes acknowledged, none lost (%lld not written, %lld unknown; "
                "%lld connections cut after a failed guard, %lld terminated)",
                WRITERS, (long long)ok, (long long)not_written, (long long)unknown,
                (long long)proxy_cuts(s->p), (long long)s->terminated);
}

void test_lost_writes(void)
{
    stage *s = mem_new(sizeof *s);
    ramet_options narrow = {.pool = POOL};
    scratch_db_make(SCHEMA, s->url, sizeof s->url);
    s->p = proxy_new(s->url);
    proxy_url(s->p, s->url, s->through, sizeof s->through);
    strcat(s->through, "&application_name=" APPLICATION);
    ramet *direct = open_store(s->url, NULL);
    ramet_call *c = ramet_call_new(direct, NULL, NULL);
    for (int i = 0; i < SESSIONS; i++) {
        char name[16];
        ramet_session *made;
        snprintf(name, sizeof name, "s-%d", i);
        if (ramet_session_create(c, &(ramet_session_in){.id = name}, &made) != RAMET_OK)
            wrong("%s: %s", name, ramet_call_error(c)->message);
    }
    for (int i = 0; i < STORES; i++)
        s->stores[i] = open_store(s->through, &narrow);
    s->sql = scratch_db_connect(s->url);
    load_run(s);
    for (int i = 0; i < STORES; i++)
        ramet_close(s->stores[i]);
    for (int i = 0; i < SESSIONS; i++)
        session_note(s, c, i);
    rows_note(s, "SELECT id FROM session WHERE id LIKE 'w-%'");
    answers_check(s);
    check_store(direct, "lost writes");
    tap_verdict("lost writes: fsck clean");
    for (int i = 0; i < WRITERS; i++)
        free(s->writers[i].answers);
    PQfinish(s->sql);
    ramet_call_free(c);
    ramet_close(direct);
    proxy_free(s->p);
    free(s);
    scratch_db_drop(SCHEMA);
}
