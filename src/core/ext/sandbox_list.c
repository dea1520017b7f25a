/* SPDX-License-Identifier: Apache-2.0
 *
 * The sessions of a sandbox, listed and counted, for AgentPod.
 *
 *   S1  A list or a count is one query over the trees of a sandbox. It returns one row per session
 *       and one per tag, in any order, including sessions that the caller may not see.
 */
#include "ramet/sandboxes.h"
#include "core/access/sandbox.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <stdlib.h>

/* A session that the query returned (S1). */
typedef struct member_row {
    int64_t no, parent, depth, merged, created;
    const char *id, *owner, *reason, *metadata, *entry, *from_title;
    const char **tags;
    size_t n_tags;
    uint8_t type, by_kind, visibility;
    bool seen, gone;
} member_row;

typedef struct tag_row {
    int64_t no;
    const char *tag;
} tag_row;

typedef struct members {
    VEC(member_row) all; /* newest first */
    VEC(tag_row) tags;
    member_row **by_no;
} members;

static const char *text_of(db_stmt *q, int n, arena *a, const char *otherwise)
{
    const char *s = q_col_text(q, n);
    return s && *s ? arena_strdup(a, s) : otherwise;
}

static member_row member_from(txn *tx, db_stmt *q, bool whole)
{
    const char *owner = q_col_text(q, 3);
    session_access s = {.owner = owner ? owner : "",
                        .visibility = col_visibility(q, 4),
                        .expires = q_col_int(q, 7),
                        .deleted = q_col_int(q, 8),
                        .purging = col_purging(q, 9)};
    member_row r = {.no = q_col_int(q, 0),
                    .parent = q_col_int(q, 1),
                    .depth = q_col_int(q, 2),
                    .visibility = (uint8_t)s.visibility,
                    .type = (uint8_t)col_session_type(q, 5),
                    .created = q_col_int(q, 6),
                    .seen = session_seen(tx, col_level(q, 10), &s),
                    .gone = session_gone(tx, &s)};
    if (!whole)
        return r;
    r.owner = arena_strdup(tx->arena, s.owner);
    r.id = s.purging ? NULL : q_keep_text(q, 12, tx->arena);
    r.by_kind = (uint8_t)col_actor(q, 13);
    r.merged = q_col_int(q, 14);
    r.reason = text_of(q, 15, tx->arena, "");
    r.metadata = text_of(q, 16, tx->arena, "{}");
    r.entry = q_keep_text(q, 17, tx->arena);
    r.from_title = text_of(q, 18, tx->arena, "");
    return r;
}

static int newest_first(const void *a, const void *b)
{
    const member_row *p = a, *q = b;
    if (p->created != q->created)
        return p->created > q->created ? -1 : 1;
    return p->no > q->no ? -1 : p->no < q->no;
}

static int by_number(const void *a, const void *b)
{
    const member_row *p = *(const member_row *const *)a, *q = *(const member_row *const *)b;
    return p->no < q->no ? -1 : p->no > q->no;
}

static int by_session(const void *a, const void *b)
{
    const tag_row *p = a, *q = b;
    if (p->no != q->no)
        return p->no < q->no ? -1 : 1;
    return strcmp(p->tag, q->tag);
}

/* Assigns tags to their sessions: both lists are sorted by session number. */
static void tags_give(txn *tx, members *m)
{
    const char **room = arena_array(tx->arena, m->tags.n + 1, sizeof *room);
    size_t at = 0;
    if (m->tags.n)
        qsort(m->tags.items, m->tags.n, sizeof *m->tags.items, by_session);
    for (size_t i = 0; i < m->all.n; i++) {
        member_row *r = m->by_no[i];
        while (at < m->tags.n && m->tags.items[at].no < r->no)
            at++;
        for (r->tags = room; at < m->tags.n && m->tags.items[at].no == r->no; at++)
            r->tags[r->n_tags++] = m->tags.items[at].tag;
        room += r->n_tags;
    }
}

/* `which` holds the statements for a named sandbox, for the default one of the embedding program,
 * and for that of a user. */
static ramet_status members_gather(txn *tx, const char *id, const sql_id which[3], bool whole,
                                   members *m)
{
    const char *mark = sandbox_is_default(id) ? NULL : id;
    TRY(sandbox_open(tx, id));
    db_stmt *q = db_query(tx->db, mark ? which[0] : tx->call->user ? which[2] : which[1]);
    q_text(q, 1, mark ? mark : "");
    q_text(q, 2, tx->call->user);
    while (q_row(q)) {
        tag_row t = {q_col_int(q, 0), q_keep_text(q, 11, tx->arena)};
        if (t.tag)
            VEC_PUSH(tx->arena, &m->tags, t);
        else
            VEC_PUSH(tx->arena, &m->all, member_from(tx, q, whole));
    }
    TRY(txn_status(tx));
    if (m->all.n)
        qsort(m->all.items, m->all.n, sizeof *m->all.items, newest_first);
    m->by_no = arena_array(tx->arena, m->all.n + 1, sizeof *m->by_no);
    for (size_t i = 0; i < m->all.n; i++)
        m->by_no[i] = &m->all.items[i];
    if (m->all.n)
        qsort(m->by_no, m->all.n, sizeof *m->by_no, by_number);
    tags_give(tx, m);
    return RAMET_OK;
}

static const char *member_id(const members *m, int64_t no)
{
    member_row key = {.no = no}, *k = &key;
    if (!no)
        return NULL;
    member_row **at = bsearch(&k, m->by_no, m->all.n, sizeof *m->by_no, by_number);
    return at && (*at)->seen ? (*at)->id : NULL;
}

static void member_show(const members *m, const member_row *r, ramet_session *out)
{
    *out = (ramet_session){.id = r->id,
                           .tree_id = "",
                           .title = "",
                           .shown_title = "",
                           .owner = r->owner,
                           .visibility = (ramet_visibility)r->visibility,
                           .tags = r->tags,
                           .n_tags = r->n_tags,
                           .is_fork = r->parent != 0,
                           .parent_id = member_id(m, r->parent),
                           .fork_entry_id = r->entry,
                           .type = (ramet_fork_type)r->type,
                           .reason = r->reason,
                           .by_kind = (ramet_actor)r->by_kind,
                           .from_title = r->from_title,
                           .merged_into = member_id(m, r->merged),
                           .metadata = r->metadata,
                           .created = r->created,
                           .depth = r->depth,
                           .number = r->no};
}

static ramet_status sessions_run(txn *tx, const char *id, ramet_session **out, size_t *n)
{
    static const sql_id which[3] = {Q_sandbox_named, Q_sandbox_none, Q_sandbox_user};
    members m = {0};
    TRY(members_gather(tx, id, which, true, &m));
    *out = arena_array(tx->arena, m.all.n + 1, sizeof **out);
    for (size_t i = 0; i < m.all.n; i++) {
        const member_row *r = &m.all.items[i];
        if (r->seen && !r->gone && r->id)
            member_show(&m, r, &(*out)[(*n)++]);
    }
    return RAMET_OK;
}

ramet_status ramet_sandbox_sessions(ramet_call *c, const char *id, ramet_session **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, sessions_run(&tx, id, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

/* ------------------------------------------------------------------ counted */

static int by_count_falling(const void *a, const void *b)
{
    const ramet_tag_count *p = a, *q = b;
    if (p->sessions != q->sessions)
        return p->sessions > q->sessions ? -1 : 1;
    return strcmp(p->tag, q->tag);
}

static void tags_count(arena *a, const char **tags, size_t n, ramet_sandbox_counts *out)
{
    out->tags = arena_array(a, n + 1, sizeof *out->tags);
    if (!n)
        return;
    qsort(tags, n, sizeof *tags, text_order);
    for (size_t i = 0; i < n; i++) {
        if (!out->n_tags || strcmp(out->tags[out->n_tags - 1].tag, tags[i]) != 0)
            out->tags[out->n_tags++].tag = tags[i];
        out->tags[out->n_tags - 1].sessions++;
    }
    qsort(out->tags, out->n_tags, sizeof *out->tags, by_count_falling);
}

static ramet_status count_run(txn *tx, const char *id, ramet_sandbox_counts *out)
{
    static const sql_id which[3] = {Q_sandbox_named_count, Q_sandbox_none_count,
                                    Q_sandbox_user_count};
    members m = {0};
    TRY(members_gather(tx, id, which, false, &m));
    const char **tags = arena_array(tx->arena, m.tags.n + 1, sizeof *tags);
    size_t n_tags = 0;
    for (size_t i = 0; i < m.all.n; i++) {
        const member_row *r = &m.all.items[i];
        if (!r->seen || r->gone)
            continue;
        for (size_t k = 0; k < r->n_tags; k++)
            tags[n_tags++] = r->tags[k];
        out->sessions++;
        out->roots += !r->parent;
        out->forks += r->parent != 0;
        if (r->parent && r->type <= RAMET_AUTO_REGENERATE)
            out->by_type[r->type]++;
        if (r->depth > out->max_depth)
            out->max_depth = r->depth;
    }
    tags_count(tx->arena, tags, n_tags, out);
    return RAMET_OK;
}

ramet_status ramet_sandbox_count(ramet_call *c, const char *id, ramet_sandbox_counts *out)
{
    txn tx;
    *out = (ramet_sandbox_counts){0};
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, count_run(&tx, id, out));
    if (st != RAMET_OK)
        *out = (ramet_sandbox_counts){0};
    return st;
}
