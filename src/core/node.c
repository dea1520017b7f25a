/* SPDX-License-Identifier: Apache-2.0
 *
 * Several servers on one store: what they tell each other, which of them live, what only one of
 * them does, and what all of them know.
 */
#include "core/core.h"

#define DEAD_US INT64_C(15000000)
#define SECRET_BYTES 32

bool ramet_shared(ramet *r)
{
    return store_shared(r->st);
}

void ramet_tell(ramet *r, const char *text, size_t n)
{
    store_publish(r->st, text, n);
}

bool ramet_hear(ramet *r, ramet_heard heard, void *arg)
{
    return store_subscribe(r->st, heard, arg);
}

void ramet_tell_settle(ramet *r, int ms)
{
    store_flush(r->st, ms);
}

void ramet_hear_upto(ramet *r, int64_t no, int ms)
{
    store_wait_event(r->st, no, ms);
}

ramet_status ramet_node_beat(ramet_call *c, const char *host, const char *const **out, size_t *n)
{
    char message[512] = "";
    store_hosts live;
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    TRY(check_id(c, "host", host));
    ramet_status st = store_beat(c->r->st, host, DEAD_US, c->a, &live, message);
    if (st != RAMET_OK)
        return call_fail(c, st, NULL, "%s", message);
    *out = live.items;
    *n = live.n;
    return RAMET_OK;
}

void ramet_node_leave(ramet *r, const char *host)
{
    store_leave(r->st, host);
}

bool ramet_job_begin(ramet *r, const char *job, int64_t every_us)
{
    return store_job(r->st, job, every_us);
}

void ramet_job_end(ramet *r, const char *job)
{
    store_job_end(r->st, job);
}

/* ------------------------------------------------------------------ secrets */

typedef struct secret_job {
    const char *key; /* of its row */
    uint8_t *out;
} secret_job;

/* The first one to ask makes it. */
static ramet_status secret_run(txn *tx, void *arg)
{
    secret_job *j = arg;
    char text[2 * SECRET_BYTES + 1];
    db_stmt *q = db_query(tx->d, Q_meta_get);
    q_text(q, 1, j->key);
    const char *have = q_row(q) ? q_keep_text(q, 0, tx->a) : NULL;
    q_end(q);
    TRY(txn_status(tx));
    if (have && !hex_decode(have, j->out, SECRET_BYTES))
        return call_fail(tx->c, RAMET_DAMAGED, NULL, "%s in the table meta is damaged", j->key);
    if (have)
        return RAMET_OK;
    random_bytes(j->out, SECRET_BYTES);
    hex_encode(j->out, SECRET_BYTES, text);
    q = db_query(tx->d, Q_meta_set);
    q_text(q, 1, j->key);
    q_text(q, 2, arena_strdup(tx->a, text));
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_secret(ramet_call *c, const char *name, uint8_t out[32], bool *kept)
{
    secret_job j = {.key = arena_printf(c->a, "secret %s", name), .out = out};
    *kept = false;
    TRY(program_only(c));
    if (!store_shared(c->r->st))
        return RAMET_OK;
    TRY(txn_append(c, secret_run, &j));
    *kept = true;
    return RAMET_OK;
}
