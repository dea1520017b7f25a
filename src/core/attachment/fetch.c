/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that the server is to fetch from a URL: the row that stands for one until its content has
 * arrived and it becomes an attachment (upload.c), or the fetch has failed.
 */
#include "ramet/memory.h"
#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/txn.h"

typedef struct fetch_job {
    ramet_fetch row;
    ramet_fetch **out;
} fetch_job;

static bool fetch_load(txn *tx, const char *id, ramet_fetch *f)
{
    db_stmt *q = db_query(tx->db, Q_fetch_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found)
        *f = (ramet_fetch){.id = arena_strdup(tx->arena, id),
                           .url = q_need_text(q, 0, tx->arena, "errand.url"),
                           .name = q_need_text(q, 1, tx->arena, "errand.name"),
                           .media_type = q_need_text(q, 2, tx->arena, "errand.media_type"),
                           .owner = q_need_text(q, 3, tx->arena, "errand.owner"),
                           .created = q_col_int(q, 4),
                           .expires = q_col_int(q, 5),
                           .failed = q_col_int(q, 6) != 0};
    q_end(q);
    return found && f->expires > tx->now;
}

static ramet_status fetch_open(txn *tx, const char *id, ramet_fetch *f)
{
    bool found = fetch_load(tx, id, f);
    TRY(txn_status(tx));
    bool mine = found && (!tx->call->user || strcmp(tx->call->user, f->owner) == 0);
    return mine ? RAMET_OK : attachment_missing(tx->call, "attachment_id", id, found);
}

static ramet_status add_run(txn *tx, void *arg)
{
    fetch_job *j = arg;
    const ramet_fetch *f = &j->row;
    db_stmt *q = db_query(tx->db, Q_fetch_add);
    q_text(q, 1, f->id);
    q_text(q, 2, f->url);
    q_text(q, 3, f->name);
    q_text(q, 4, f->media_type);
    q_text(q, 5, f->owner);
    q_int(q, 6, f->created);
    q_int(q, 7, f->expires);
    q_run(q);
    ANSWER(tx, j->out);
    *j->out = arena_alloc(tx->arena, sizeof **j->out);
    **j->out = *f;
    return txn_status(tx);
}

ramet_status ramet_fetch_add(ramet_call *c, const char *url, const char *name,
                             const char *media_type, int64_t life_us, ramet_fetch **out)
{
    char uuid[UUID_TEXT];
    fetch_job j = {.out = out};
    *out = NULL;
    TRY(check_chars(c, "url", url, 2000, RAMET_TOO_LARGE));
    TRY(check_chars(c, "name", name, 255, RAMET_TOO_LARGE));
    TRY(check_chars(c, "media_type", media_type, 255, RAMET_TOO_LARGE));
    TRY(check_life(c, "life", life_us));
    int64_t now = ramet_now(c->ramet);
    j.row = (ramet_fetch){.id = arena_strdup(c->arena, uuid4(uuid)),
                          .url = arena_strdup(c->arena, url),
                          .name = name ? arena_strdup(c->arena, name) : "",
                          .media_type = media_type ? arena_strdup(c->arena, media_type) : "",
                          .owner = c->user ? c->user : "",
                          .created = now,
                          .expires = now + (life_us ? life_us : UNUSED_US)};
    return txn_write(c, add_run, &j);
}

ramet_status ramet_fetch_get(ramet_call *c, const char *id, ramet_fetch **out)
{
    txn tx;
    *out = NULL;
    TRY(check_id(c, "attachment_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_fetch *f = arena_alloc(c->arena, sizeof *f);
    ramet_status st = txn_done(&tx, fetch_open(&tx, id, f));
    if (st == RAMET_OK)
        *out = f;
    return st;
}

static ramet_status end_run(txn *tx, const char *id, sql_id what)
{
    ramet_fetch f;
    TRY(fetch_open(tx, id, &f));
    db_stmt *q = db_query(tx->db, what);
    q_text(q, 1, id);
    q_run(q);
    return txn_status(tx);
}

static ramet_status fail_run(txn *tx, void *arg)
{
    return end_run(tx, arg, Q_fetch_failed);
}

static ramet_status delete_run(txn *tx, void *arg)
{
    return end_run(tx, arg, Q_fetch_del);
}

ramet_status ramet_fetch_fail(ramet_call *c, const char *id)
{
    return txn_write(c, fail_run, (void *)id);
}

ramet_status ramet_fetch_delete(ramet_call *c, const char *id)
{
    TRY(check_id(c, "attachment_id", id));
    return txn_write(c, delete_run, (void *)id);
}
