/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a file is in the store already (M4 in import.h).
 *
 * Sessions are known by their ids. A tree is known when the store has every session of it, and
 * every branch of each with at least the entries of the file: what was appended in the store since,
 * and moves, titles or tags that changed, are left as they are. A tree of which the store has
 * nothing is new. Anything in between is a conflict, which changes nothing: the file has more than
 * the store, or another history.
 */
#include "core/export/import.h"

#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/model/key.h"
#include "core/session/session_open.h"

#include <stdlib.h>

typedef struct known {
    import_job *j;
    txn tx;
    int64_t tree;      /* of the store, with the first session that is there */
    branch_row *there; /* branches of that tree, by id */
    size_t n;
    bool *matched;
    size_t next; /* where to look first */
} known;

static ramet_status conflict(import_job *j, int64_t line, const char *id, const char *what)
{
    return call_fail(j->call, RAMET_IMPORT_CONFLICT, "session",
                     "line %lld: session %s is there already %s; nothing was imported",
                     (long long)line, id, what);
}

static void branches_load(known *k)
{
    VEC(branch_row) v = {0};
    db_stmt *q = db_query(k->tx.db, Q_branch_of_tree);
    q_int(q, 1, k->tree);
    while (q_row(q)) {
        branch_row b;
        branch_from(q, 0, &b);
        VEC_PUSH(k->j->tree, &v, b);
    }
    k->there = v.items;
    k->n = v.n;
    k->matched = arena_array(k->j->tree, v.n + 1, sizeof *k->matched);
}

/* The hash of a stored branch after n entries of its path, of which it owns the last. */
static bool hash_is(known *k, const branch_row *b, int64_t n, const uint8_t want[HASH_LEN])
{
    size_t len = 0;
    if (n == b->len)
        return memcmp(b->tip, want, HASH_LEN) == 0;
    db_stmt *q = db_query(k->tx.db, Q_entry_hash);
    q_int(q, 1, k->tree);
    q_int(q, 2, KEY(b->meta.id, n - 1));
    const void *hash = q_row(q) ? q_col_blob(q, 0, &len) : NULL;
    bool same = hash && len == HASH_LEN && memcmp(hash, want, HASH_LEN) == 0;
    q_end(q);
    return same;
}

/* Whether a stored branch holds what the file's has. */
static bool branch_holds(known *k, const branch_row *b, const import_branch *f)
{
    return b->meta.log == f->log && b->meta.base == f->base && b->meta.type == f->type &&
           b->created == f->created && b->len >= f->len &&
           (f->len == f->base || hash_is(k, b, f->len, f->tip));
}

static bool branch_there(known *k, const import_branch *f, int64_t session)
{
    /* Both sides are in the order of their numbers: most often it is the next one. */
    for (size_t n = 0; n < k->n; n++) {
        size_t i = (k->next + n) % k->n;
        if (!k->matched[i] && k->there[i].meta.session == session &&
            branch_holds(k, &k->there[i], f)) {
            k->matched[i] = true;
            k->next = i + 1;
            return true;
        }
    }
    return false;
}

/* The sessions of the file, by their records: ids are not kept in the model. */
static ramet_status sessions_look(known *k, import_reader *in, int64_t *there, int64_t *missing)
{
    import_job *j = k->j;
    import_tree *t = &j->t;
    for (int64_t n = 0; n < t->have_sessions;) {
        record r;
        session_full s;
        int64_t line = in->line;
        arena_reset(j->scratch);
        TRY(import_next(j, in, j->scratch, &r));
        if (r.kind != RECORD_SESSION && r.kind != RECORD_GONE)
            continue;
        import_session *f = &t->sessions[n++];
        const char *id = r.kind == RECORD_SESSION ? record_text(&r, "id") : NULL;
        if (!id)
            continue;
        bool found = session_load(&k->tx, id, &s);
        TRY(txn_status(&k->tx));
        if (found && (session_gone(&k->tx, &s.access) || !session_visible(&k->tx, &s.access)))
            return conflict(j, line, id, "and is deleted, or another user's");
        f->no = found ? s.no : 0;
        *(found ? there : missing) += 1;
        if (found && !k->tree) {
            k->tree = s.tree;
            branches_load(k);
        }
        if (found && (*missing > 0 || s.tree != k->tree))
            return conflict(j, line, id, "in a tree that lacks other sessions of the file");
        if (!found && *there > 0)
            return call_fail(j->call, RAMET_IMPORT_CONFLICT, "session",
                             "line %lld: other sessions of its tree are there already, and session "
                             "%s is not; nothing was imported",
                             (long long)line, id);
    }
    return txn_status(&k->tx);
}

static ramet_status histories_look(known *k, import_reader *in)
{
    import_job *j = k->j;
    import_tree *t = &j->t;
    (void)in;
    for (int64_t i = 0; i < t->have_branches; i++) {
        const import_branch *f = &t->branches[i];
        const import_session *s = &t->sessions[f->session - 1];
        if (s->gone || branch_there(k, f, s->no))
            continue;
        TRY(txn_status(&k->tx));
        return call_fail(j->call, RAMET_IMPORT_CONFLICT, "session",
                         "line %lld: the session of line %lld is there already with another "
                         "history, or a shorter one; nothing was imported",
                         (long long)f->line, (long long)s->line);
    }
    return txn_status(&k->tx);
}

/* A tree of that id that has none of the sessions is another one. */
static ramet_status tree_free(known *k)
{
    db_stmt *q = db_query(k->tx.db, Q_tree_by_id);
    q_text(q, 1, k->j->t.id);
    bool there = q_row(q);
    q_end(q);
    TRY(txn_status(&k->tx));
    if (!there)
        return RAMET_OK;
    return call_fail(k->j->call, RAMET_IMPORT_CONFLICT, "tree",
                     "line %lld: the tree %s is there already with other sessions; nothing was "
                     "imported",
                     (long long)k->j->t.line, k->j->t.id);
}

static ramet_status look(known *k, const import_mark *m, bool *all)
{
    import_reader in;
    int64_t there = 0, missing = 0;
    reader_init(&in, k->j->in.fd, k->j->in.most);
    reader_seek(&in, m->sessions_offset, m->sessions_line);
    ramet_status st = sessions_look(k, &in, &there, &missing);
    if (st == RAMET_OK)
        st = there ? histories_look(k, &in) : tree_free(k);
    reader_release(&in);
    *all = there > 0;
    return st;
}

ramet_status import_known(import_job *j, const import_mark *m, bool *all)
{
    known k = {.j = j};
    *all = false;
    if (!txn_read(&k.tx, j->call))
        return j->call->err.status;
    k.tx.arena = j->scratch;
    ramet_status st = look(&k, m, all);
    k.tx.arena = j->call->arena;
    return txn_done(&k.tx, st);
}

/* --------------------------------------------------------------------- other ids */

bool import_id_taken(txn *tx, record_kind kind, const char *id, int64_t *left_in)
{
    /* The statement, and the column of the session's id: NULL before the import has ended. */
    static const struct {
        sql_id get;
        int session;
    } looks[RECORD_KINDS] = {[RECORD_TURN] = {Q_turn_get, 12},
                             [RECORD_TASK] = {Q_task_get, 7},
                             [RECORD_TEMPLATE] = {Q_template_home, 2}};
    db_stmt *q = db_query(tx->db, looks[kind].get);
    q_text(q, 1, id);
    bool there = q_row(q);
    bool dead = there && q_col_null(q, looks[kind].session);
    int64_t tree = there ? q_col_int(q, 1) : 0;
    q_end(q);
    *left_in = dead && !import_running(tx, tree) ? tree : 0;
    return there && !*left_in;
}

ramet_status import_id_free(import_job *j, record_kind kind, const char *id, int64_t line)
{
    txn tx;
    int64_t left_in;
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    tx.arena = j->scratch;
    arena_reset(j->scratch);
    bool taken = import_id_taken(&tx, kind, id, &left_in);
    tx.arena = j->call->arena;
    TRY(txn_done(&tx, RAMET_OK));
    if (!taken)
        return RAMET_OK;
    return call_fail(j->call, RAMET_IMPORT_CONFLICT, record_defs[kind].type,
                     "line %lld: the %s %s is there already, in another session; nothing was "
                     "imported",
                     (long long)line, record_defs[kind].type, id);
}

ramet_status import_attachment_free(import_job *j, const char *id, const uint8_t sha256[HASH_LEN],
                                    int64_t line)
{
    txn tx;
    attachment_row have;
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    tx.arena = j->scratch;
    arena_reset(j->scratch);
    bool differs = attachment_load(&tx, id, &have) && memcmp(have.sha, sha256, HASH_LEN) != 0;
    tx.arena = j->call->arena;
    TRY(txn_done(&tx, RAMET_OK));
    if (!differs)
        return RAMET_OK;
    return call_fail(j->call, RAMET_IMPORT_CONFLICT, "attachment",
                     "line %lld: attachment %s is there already with another content; nothing was "
                     "imported",
                     (long long)line, id);
}
