/* SPDX-License-Identifier: Apache-2.0
 *
 * Tags: short words on a session, trimmed and lower case (check_tags).
 */
#include "core/call.h"
#include "core/check.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/event.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdlib.h>

typedef enum { TAGS_SET, TAGS_ADD, TAGS_REMOVE } tag_change;

typedef struct tag_job {
    tag_change change;
    const char *session;
    const char **tags; /* checked and sorted */
    size_t n;
    ramet_tags *out;
} tag_job;

static bool tag_in(const char *const *list, size_t n, const char *tag)
{
    return n && bsearch(&tag, list, n, sizeof *list, text_order);
}

/* The session's tags after the change, sorted. */
static size_t tags_after(arena *a, const tag_job *j, const char *const *have, size_t n_have,
                         const char ***out)
{
    const char **list = arena_array(a, n_have + j->n + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < n_have && j->change != TAGS_SET; i++)
        if (!tag_in(j->tags, j->n, have[i]))
            list[n++] = have[i];
    for (size_t i = 0; i < j->n && j->change != TAGS_REMOVE; i++)
        list[n++] = j->tags[i];
    if (n)
        qsort(list, n, sizeof *list, text_order);
    *out = list;
    return n;
}

static void tag_write(txn *tx, const session_full *s, sql_id what, const char *tag)
{
    db_stmt *q = db_query(tx->db, what);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, tag);
    q_run(q);
}

static ramet_status tags_run(txn *tx, void *arg)
{
    tag_job *j = arg;
    session_full s;
    TRY(session_open(tx, j->session, NEED_CHANGE, &s));
    const char *const *have;
    const char **now;
    size_t n_have, changed = 0;
    tags_of(tx, &s.access, &have, &n_have);
    size_t n = tags_after(tx->arena, j, have, n_have, &now);
    TRY(txn_status(tx));
    /* A session that has more, from an older limit, may still lose some. */
    if (n > tx->ramet->limits.tags && n > n_have)
        return call_fail(tx->call, RAMET_TOO_MANY_TAGS, "tags",
                         "session %s would have %zu tags; at most %zu are allowed", s.id, n,
                         tx->ramet->limits.tags);
    for (size_t i = 0; i < n_have; i++)
        if (!tag_in(now, n, have[i])) {
            tag_write(tx, &s, Q_tag_del, have[i]);
            changed++;
        }
    for (size_t i = 0; i < n; i++)
        if (!tag_in(have, n_have, now[i])) {
            tag_write(tx, &s, Q_tag_add, now[i]);
            changed++;
        }
    if (changed)
        event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
    ANSWER(tx, j->out);
    j->out->items = now;
    j->out->n = n;
    return txn_status(tx);
}

static ramet_status tags_change(ramet_call *c, tag_change change, const char *id,
                                const char *const *tags, size_t n, ramet_tags *out)
{
    ramet_tags ignored = {0};
    tag_job j = {.change = change, .session = id, .out = out ? out : &ignored};
    *j.out = (ramet_tags){0};
    TRY(check_tags(c, tags, n, &j.tags, &j.n));
    return txn_write(c, tags_run, &j);
}

ramet_status ramet_tags_set(ramet_call *c, const char *id, const char *const *tags, size_t n,
                            ramet_tags *out)
{
    return tags_change(c, TAGS_SET, id, tags, n, out);
}

ramet_status ramet_tags_add(ramet_call *c, const char *id, const char *const *tags, size_t n,
                            ramet_tags *out)
{
    return tags_change(c, TAGS_ADD, id, tags, n, out);
}

ramet_status ramet_tags_remove(ramet_call *c, const char *id, const char *const *tags, size_t n,
                               ramet_tags *out)
{
    return tags_change(c, TAGS_REMOVE, id, tags, n, out);
}

ramet_status ramet_tags_all(ramet_call *c, ramet_tag_count **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    VEC(ramet_tag_count) v = {0};
    db_stmt *q = db_query(tx.db, Q_tag_sessions);
    q_text(q, 1, c->user ? c->user : "");
    while (q_row(q)) {
        ramet_level level = c->user ? col_level(q, 1) : RAMET_OWNER;
        session_access s = {.owner = q_col_text(q, 2),
                            .visibility = col_visibility(q, 3),
                            .deleted = q_col_int(q, 4),
                            .expires = q_col_int(q, 5),
                            .purging = col_purging(q, 6)};
        if (session_gone(&tx, &s) || !session_seen(&tx, level, &s))
            continue;
        const char *tag = q_col_text(q, 0);
        if (!tag)
            continue;
        if (!v.n || strcmp(v.items[v.n - 1].tag, tag) != 0) {
            ramet_tag_count fresh = {.tag = arena_strdup(tx.arena, tag)};
            VEC_PUSH(tx.arena, &v, fresh);
        }
        v.items[v.n - 1].sessions++;
    }
    *out = v.items;
    *n = v.n;
    return txn_done(&tx, RAMET_OK);
}
