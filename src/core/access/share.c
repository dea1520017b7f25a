/* SPDX-License-Identifier: Apache-2.0
 *
 * Share links: a secret that gives its holder one session, to read or to write (I10).
 *
 *   H1  A call remembers the digest of its link's secret, not what the link allows. Every read and
 *       write looks that up in its own snapshot or transaction, so a link that was revoked or has
 *       expired allows nothing from then on.
 *   H2  A link grants NEED_READ and, for writing, NEED_WRITE on its session. Every access check
 *       consults it in one place (access_check() in session_open.c); lists consider the caller's
 *       own rights only.
 *   H3  A caller who sees a session only through a link gets its path and versions. share_only() is
 *       checked wherever an answer holds more than that.
 *   H4  A link of a deleted session is not found. It works again when the session is restored, and
 *       gc removes it together with the session (gc.c).
 *   H5  A user who was shown a session only through a link has visited it: from then on the id of
 *       the link works like its secret, for that user only and while the link is valid.
 */
#include "core/access/share.h"

#include "ramet/kagent.h"
#include "core/access/token.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#define PREFIX "rms_"
#define SHARES_MAX 1000 /* per session */
#define VISITS_MAX 1000 /* shown to one user: the newest links */

typedef struct share_row {
    int64_t tree, session;
    bool write;
    int64_t expires;
} share_row;

/* Reads SHARE_COLS. */
static void share_from(db_stmt *q, arena *a, share_row *row, ramet_share *out)
{
    *row = (share_row){.tree = q_col_int(q, 1),
                       .session = q_col_int(q, 2),
                       .write = q_col_int(q, 4) != 0,
                       .expires = q_col_int(q, 7)};
    if (out)
        *out = (ramet_share){.id = q_need_text(q, 0, a, "share.id"),
                             .write = row->write,
                             .by = q_keep_text(q, 5, a),
                             .created = q_col_int(q, 6),
                             .expires = row->expires};
}

static bool expired(const txn *tx, const share_row *row)
{
    return row->expires && row->expires <= tx->now;
}

/* Finds the link with that secret, unless it has expired. */
static bool share_find(txn *tx, const uint8_t secret[HASH_LEN], share_row *row, ramet_share *out)
{
    db_stmt *q = db_query(tx->db, Q_share_by_secret);
    q_blob(q, 1, secret, HASH_LEN);
    bool found = q_row(q) && secret_is(q, 3, secret);
    if (found)
        share_from(q, tx->arena, row, out);
    q_end(q);
    return found && !expired(tx, row);
}

/* ------------------------------------------------------------------- access */

bool share_gives(txn *tx, const session_access *s, need what)
{
    const ramet_call *c = tx->call;
    if (!c->share.on || c->share.session != s->no || c->share.tree != s->tree)
        return false;
    if (tx->link == LINK_UNKNOWN) {
        share_row row;
        tx->link = LINK_NONE;
        if (share_find(tx, c->share.secret, &row, NULL) && row.session == s->no &&
            row.tree == s->tree)
            tx->link = row.write ? LINK_WRITE : LINK_READ;
    }
    return what == NEED_READ ? tx->link != LINK_NONE : what == NEED_WRITE && tx->link == LINK_WRITE;
}

bool share_only(txn *tx, const session_access *s)
{
    return share_gives(tx, s, NEED_READ) && !session_visible(tx, s);
}

void share_trim(ramet_session *out)
{
    static const ramet_head no_log = {0};
    out->tags = NULL;
    out->n_tags = 0;
    out->adk = no_log;
    out->is_fork = false;
    out->parent_id = NULL;
    out->fork_entry_id = NULL;
    out->fork_side = RAMET_AFTER;
    out->type = RAMET_EXPLICIT;
    out->reason = "";
    out->by_kind = RAMET_BY_USER;
    out->by_id = NULL;
    out->merged_into = NULL;
    out->from_title = "";
    out->cache_root = out->id;
    out->cache_root_shared = out->head.length;
    out->metadata = "{}";
    out->depth = 0;
}

/* --------------------------------------------------------------------- adding */

typedef struct share_job {
    const char *session, *id;
    bool write;
    int64_t life;
    char token[SECRET_TEXT];
    uint8_t secret[HASH_LEN];
    ramet_share **out;
} share_job;

static ramet_status room_check(txn *tx, const session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_share_count);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, tx->now);
    int64_t n = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    if (n >= SHARES_MAX)
        return call_fail(tx->call, RAMET_TOO_LARGE, "shares",
                         "session %s has %lld share links, the most that it may have; revoke some",
                         s->id, (long long)n);
    return txn_status(tx);
}

static ramet_status add_run(txn *tx, void *arg)
{
    share_job *j = arg;
    session_full s;
    TRY(session_open(tx, j->session, NEED_MANAGE, &s));
    TRY(room_check(tx, &s));
    ramet_share *out = arena_alloc(tx->arena, sizeof *out);
    *out = (ramet_share){.id = arena_strdup(tx->arena, j->id),
                         .session = s.id,
                         .write = j->write,
                         .by = arena_strdup(tx->arena, tx->call->user),
                         .created = tx->now,
                         .expires = j->life ? tx->now + j->life : 0,
                         .token = arena_strdup(tx->arena, j->token)};
    db_stmt *q = db_query(tx->db, Q_share_expired_of); /* so that they do not accumulate */
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_int(q, 3, tx->now);
    q_run(q);
    q = db_query(tx->db, Q_share_add);
    q_text(q, 1, out->id);
    q_int(q, 2, s.tree);
    q_int(q, 3, s.no);
    q_blob(q, 4, j->secret, HASH_LEN);
    q_int(q, 5, out->write);
    q_text(q, 6, out->by);
    q_int(q, 7, out->created);
    q_int(q, 8, out->expires);
    q_run(q);
    ANSWER(tx, j->out);
    *j->out = out;
    return txn_status(tx);
}

ramet_status ramet_share_add(ramet_call *c, const char *session, bool write, int64_t life_us,
                             ramet_share **out)
{
    char uuid[UUID_TEXT];
    *out = NULL;
    TRY(check_life(c, "expires", life_us));
    share_job j = {.session = session,
                   .id = uuid7(ramet_now(c->ramet), uuid),
                   .write = write,
                   .life = life_us,
                   .out = out};
    secret_make(PREFIX, j.token);
    secret_digest(c->hasher, PREFIX, j.token, j.secret);
    ramet_status st = txn_write(c, add_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* -------------------------------------------------------------------- listing */

static ramet_status shares_run(txn *tx, const char *session, ramet_share **out, size_t *n)
{
    session_full s;
    share_row row;
    ramet_share one;
    VEC(ramet_share) v = {0};
    TRY(session_open(tx, session, NEED_MANAGE, &s));
    db_stmt *q = db_query(tx->db, Q_share_of_session);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        share_from(q, tx->arena, &row, &one);
        one.session = s.id;
        if (!expired(tx, &row))
            VEC_PUSH(tx->arena, &v, one);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_shares(ramet_call *c, const char *session, ramet_share **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, shares_run(&tx, session, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

/* ------------------------------------------------------------------- revoking */

static ramet_status revoke_run(txn *tx, void *arg)
{
    const share_job *j = arg;
    session_full s;
    share_row row = {0};
    TRY(session_open(tx, j->session, NEED_MANAGE, &s));
    db_stmt *q = db_query(tx->db, Q_share_get);
    q_text(q, 1, j->id);
    if (q_row(q))
        share_from(q, tx->arena, &row, NULL);
    q_end(q);
    TRY(txn_status(tx));
    if (row.tree != s.tree || row.session != s.no)
        return call_fail(tx->call, RAMET_SHARE_NOT_FOUND, "id", "session %s has no share link %s",
                         s.id, j->id);
    q = db_query(tx->db, Q_share_del);
    q_text(q, 1, j->id);
    q_run(q);
    access_changed(tx, s.tree);
    return txn_status(tx);
}

ramet_status ramet_share_revoke(ramet_call *c, const char *session, const char *id)
{
    TRY(check_id(c, "id", id));
    share_job j = {.session = session, .id = id};
    return txn_revoke(c, revoke_run, &j);
}

static ramet_status prune_run(txn *tx, void *arg)
{
    (void)arg;
    db_stmt *q = db_query(tx->db, Q_share_expired);
    q_int(q, 1, tx->now);
    q_run(q);
    q = db_query(tx->db, Q_fetch_expired);
    q_int(q, 1, tx->now);
    q_run(q);
    q_run(db_query(tx->db, Q_visit_prune));
    return txn_status(tx);
}

ramet_status share_prune(ramet_call *c)
{
    return txn_write(c, prune_run, NULL);
}

/* -------------------------------------------------------------------- holding */

static bool visited(txn *tx, const char *share)
{
    if (!tx->call->user)
        return false;
    db_stmt *q = db_query(tx->db, Q_visit_get);
    q_text(q, 1, tx->call->user);
    q_text(q, 2, share);
    bool found = q_row(q);
    q_end(q);
    return found;
}

/* The secret of a link that the caller has visited, by its id. */
static bool visited_secret(txn *tx, const char *id, uint8_t secret[HASH_LEN])
{
    if (!visited(tx, id))
        return false;
    db_stmt *q = db_query(tx->db, Q_share_get);
    q_text(q, 1, id);
    size_t n = 0;
    const void *have = q_row(q) ? q_col_blob(q, 3, &n) : NULL;
    bool found = have && n == HASH_LEN;
    if (found)
        memcpy(secret, have, HASH_LEN);
    q_end(q);
    return found;
}

static ramet_status hold_run(txn *tx, const char *id, uint8_t secret[HASH_LEN], ramet_share *out)
{
    ramet_call *c = tx->call;
    share_row row;
    session_full s;
    bool found = (!id || visited_secret(tx, id, secret)) && share_find(tx, secret, &row, out) &&
                 session_by_no(tx, row.tree, row.session, &s) && !session_gone(tx, &s.access);
    TRY(txn_status(tx));
    if (!found)
        return call_fail(c, RAMET_SHARE_NOT_FOUND, "share",
                         "the share link is not known, was revoked or has expired");
    out->session = s.id;
    c->share.on = true;
    c->share.tree = row.tree;
    c->share.session = row.session;
    memcpy(c->share.secret, secret, HASH_LEN);
    return RAMET_OK;
}

/* Whether a text has the form of a link's id. */
static bool is_share_id(const char *s)
{
    return strlen(s) == UUID_TEXT - 1 && strspn(s, "0123456789abcdef-") == UUID_TEXT - 1;
}

ramet_status ramet_call_share(ramet_call *c, const char *token, ramet_share **out)
{
    txn tx;
    uint8_t secret[HASH_LEN];
    if (out)
        *out = NULL;
    c->share.on = false;
    if (!token)
        return RAMET_OK;
    bool by_secret = secret_digest(c->hasher, PREFIX, token, secret);
    if (!by_secret && (!c->user || !is_share_id(token)))
        return call_fail(c, RAMET_SHARE_NOT_FOUND, "share",
                         "that is not the token of a share link; it begins with " PREFIX);
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_share *share = arena_alloc(c->arena, sizeof *share);
    ramet_status st = txn_done(&tx, hold_run(&tx, by_secret ? NULL : token, secret, share));
    if (st != RAMET_OK)
        c->share.on = false;
    else if (out)
        *out = share;
    return st;
}

/* ------------------------------------------------------------------- visiting */

/* Finds the call's link, when the user sees the session only through it. */
static bool visit_due(txn *tx, ramet_share *share)
{
    share_row row;
    session_full s;
    return share_find(tx, tx->call->share.secret, &row, share) &&
           session_by_no(tx, row.tree, row.session, &s) && share_only(tx, &s.access) &&
           !visited(tx, share->id);
}

static ramet_status visit_run(txn *tx, void *arg)
{
    ramet_share share;
    (void)arg;
    if (visit_due(tx, &share)) {
        db_stmt *q = db_query(tx->db, Q_visit_add);
        q_text(q, 1, tx->call->user);
        q_text(q, 2, share.id);
        q_int(q, 3, tx->now);
        q_run(q);
    }
    return txn_status(tx);
}

ramet_status ramet_share_visit(ramet_call *c)
{
    txn tx;
    ramet_share share;
    if (!c->user || !c->share.on)
        return RAMET_OK;
    if (!txn_read(&tx, c))
        return c->err.status;
    bool due = visit_due(&tx, &share);
    TRY(txn_done(&tx, RAMET_OK));
    return due ? txn_write(c, visit_run, NULL) : RAMET_OK;
}

/* A visited link, with the session that it leads to. */
typedef struct visit_row {
    ramet_share share;
    share_row row;
} visit_row;

static void visits_read(txn *tx, ramet_share **out, size_t *n)
{
    VEC(visit_row) rows = {0};
    VEC(ramet_share) v = {0};
    session_full s;
    db_stmt *q = db_query(tx->db, Q_visit_of_user);
    q_text(q, 1, tx->call->user);
    q_int(q, 2, VISITS_MAX);
    while (q_row(q)) {
        visit_row one;
        share_from(q, tx->arena, &one.row, &one.share);
        if (!expired(tx, &one.row))
            VEC_PUSH(tx->arena, &rows, one);
    }
    for (size_t i = 0; i < rows.n; i++) {
        visit_row *one = &rows.items[i];
        if (!session_by_no(tx, one->row.tree, one->row.session, &s) ||
            session_gone(tx, &s.access) || session_visible(tx, &s.access))
            continue;
        one->share.session = s.id;
        VEC_PUSH(tx->arena, &v, one->share);
    }
    *out = v.items;
    *n = v.n;
}

ramet_status ramet_shares_visited(ramet_call *c, ramet_share **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!c->user)
        return RAMET_OK;
    if (!txn_read(&tx, c))
        return c->err.status;
    visits_read(&tx, out, n);
    return txn_done(&tx, RAMET_OK);
}
