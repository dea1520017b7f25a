/* SPDX-License-Identifier: Apache-2.0
 *
 * Several servers on one store: messages between them, which of them are alive, jobs that only one
 * of them does, and secrets that all of them share.
 */
#include "ramet/nodes.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/txn.h"

#define DEAD_US INT64_C(15000000)
#define SECRET_BYTES 32

bool ramet_shared(ramet *r)
{
    return store_shared(r->store);
}

void ramet_tell(ramet *r, const char *text, size_t n)
{
    store_publish(r->store, text, n);
}

bool ramet_hear(ramet *r, ramet_heard heard, void *arg)
{
    return store_subscribe(r->store, heard, arg);
}

void ramet_tell_settle(ramet *r, int ms)
{
    store_flush(r->store, ms);
}

void ramet_hear_upto(ramet *r, int64_t no, int ms)
{
    store_wait_event(r->store, no, ms);
}

ramet_status ramet_node_beat(ramet_call *c, const char *host, const char *const **out, size_t *n)
{
    char message[512] = "";
    store_hosts live;
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    TRY(check_id(c, "host", host));
    ramet_status st = store_beat(c->ramet->store, host, DEAD_US, c->arena, &live, message);
    if (st != RAMET_OK)
        return call_fail(c, st, NULL, "%s", message);
    *out = live.items;
    *n = live.n;
    return RAMET_OK;
}

void ramet_node_leave(ramet *r, const char *host)
{
    store_leave(r->store, host);
}

bool ramet_job_begin(ramet *r, const char *job, int64_t every_us)
{
    return store_job(r->store, job, every_us);
}

void ramet_job_end(ramet *r, const char *job)
{
    store_job_end(r->store, job);
}

/* ------------------------------------------------------------------ secrets */

typedef struct secret_job {
    const char *key; /* the key of its row */
    uint8_t *out;
} secret_job;

/* The first caller creates it. */
static ramet_status secret_run(txn *tx, void *arg)
{
    secret_job *j = arg;
    char text[2 * SECRET_BYTES + 1];
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, j->key);
    const char *have = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    TRY(txn_status(tx));
    if (have && !hex_decode(have, j->out, SECRET_BYTES))
        return call_fail(tx->call, RAMET_DAMAGED, NULL, "%s in the table meta is damaged", j->key);
    if (have)
        return RAMET_OK;
    random_bytes(j->out, SECRET_BYTES);
    hex_encode(j->out, SECRET_BYTES, text);
    q = db_query(tx->db, Q_meta_set);
    q_text(q, 1, j->key);
    q_text(q, 2, arena_strdup(tx->arena, text));
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_store_id(ramet_call *c, char out[33])
{
    uint8_t random[SECRET_BYTES];
    secret_job j = {.key = "store id", .out = random};
    *out = 0;
    TRY(program_only(c));
    TRY(txn_write(c, secret_run, &j));
    hex_encode(random, 16, out);
    return RAMET_OK;
}

ramet_status ramet_secret_keep(ramet_call *c, const char *name, uint8_t out[32])
{
    secret_job j = {.key = arena_printf(c->arena, "secret %s", name), .out = out};
    TRY(program_only(c));
    return txn_append(c, secret_run, &j);
}

ramet_status ramet_secret(ramet_call *c, const char *name, uint8_t out[32], bool *kept)
{
    *kept = false;
    TRY(program_only(c));
    if (!store_shared(c->ramet->store))
        return RAMET_OK;
    TRY(ramet_secret_keep(c, name, out));
    *kept = true;
    return RAMET_OK;
}
