/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that entries are found by, stored beside their content. The embedding program sets and
 * reads them, for a protocol whose clients send such texts (memory-service).
 */
#include "ramet/memory.h"
#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/entry_key.h"
#include "core/event.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

ramet_status ramet_entry_known(ramet_call *c, const char *session, const char *id, bool *known)
{
    txn tx;
    session_full s;
    *known = false;
    TRY(check_id(c, "entry_id", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = session_open(&tx, session, NEED_TREE, &s);
    if (st == RAMET_OK)
        *known = key_in_tree(&tx, s.tree, id) != 0;
    return txn_done(&tx, st);
}

typedef struct indexed_job {
    const char *session, *entry, *text;
} indexed_job;

static ramet_status indexed_run(txn *tx, void *arg)
{
    const indexed_job *j = arg;
    session_full s;
    branch_row head;
    int64_t k;
    TRY(session_open_head(tx, j->session, NEED_READ, &s, &head));
    if (path_find(tx, &head, j->entry, &k) < 0) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                         "entry %s is not on this path", j->entry);
    }
    indexed_write(tx, s.tree, k, j->text);
    event_add(tx, s.tree, s.no, EVENT_INDEXED, k, 1);
    return txn_status(tx);
}

ramet_status ramet_indexed_set(ramet_call *c, const char *session, const char *entry_id,
                               const char *text)
{
    indexed_job j = {session, entry_id, text};
    TRY(program_only(c));
    TRY(check_id(c, "entry_id", entry_id));
    TRY(check_chars(c, "text", text, INDEXED_CHARS, RAMET_TOO_LARGE));
    return txn_write(c, indexed_run, &j);
}

static const char *name_seen(txn *tx, int64_t tree, int64_t no)
{
    session_full s;
    return session_by_no(tx, tree, no, &s) && s.id && !session_gone(tx, &s.access) &&
                   session_visible(tx, &s.access)
               ? s.id
               : NULL;
}

static ramet_status indexed_read(txn *tx, const char *session, const ramet_entry *e, size_t n,
                                 ramet_indexed *out)
{
    session_full s;
    int64_t last = 0;
    const char *name = NULL;
    TRY(session_open(tx, session, NEED_READ, &s));
    for (size_t i = 0; i < n; i++) {
        db_stmt *q = db_query(tx->db, Q_indexed_get);
        q_int(q, 1, s.tree);
        q_int(q, 2, KEY(e[i].branch, e[i].position));
        if (q_row(q))
            out[i] = (ramet_indexed){.text = q_need_text(q, 0, tx->arena, "indexed.text"),
                                     .at = q_col_int(q, 1)};
        q_end(q);
        if (e[i].owner_no != last) {
            last = e[i].owner_no;
            name = last == s.no ? s.id : name_seen(tx, s.tree, last);
        }
        out[i].session = name;
    }
    return txn_status(tx);
}

ramet_status ramet_indexed_get(ramet_call *c, const char *session, const ramet_entry *entries,
                               size_t n, ramet_indexed **out)
{
    txn tx;
    *out = arena_array(c->arena, n + 1, sizeof **out);
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, indexed_read(&tx, session, entries, n, *out));
}

static ramet_status lacking_read(txn *tx, int64_t after, int limit, ramet_lacking **out, size_t *n)
{
    typedef struct spot {
        int64_t tree, key;
        const char *session;
    } spot;
    VEC(spot) at = {0};
    VEC(ramet_lacking) v = {0};
    uint8_t hash[HASH_LEN];
    db_stmt *q = db_query(tx->db, Q_indexed_lacking);
    q_int(q, 1, after);
    q_int(q, 2, limit);
    while (q_row(q)) {
        spot s = {q_col_int(q, 0), q_col_int(q, 1), q_keep_text(q, 2, tx->arena)};
        VEC_PUSH(tx->arena, &at, s);
    }
    size_t start = arena_used(tx->arena), max = txn_page_bytes(tx);
    for (size_t i = 0; i < at.n && arena_used(tx->arena) - start < max; i++) {
        ramet_entry *e = arena_alloc(tx->arena, sizeof *e);
        if (!entry_load_record(tx, at.items[i].tree, at.items[i].key, e, hash))
            return txn_status(tx);
        ramet_lacking l = {at.items[i].session, e, at.items[i].key};
        VEC_PUSH(tx->arena, &v, l);
    }
    *out = v.items;
    *n = v.n;
    return txn_status(tx);
}

ramet_status ramet_indexed_lacking(ramet_call *c, int64_t after, int limit, ramet_lacking **out,
                                   size_t *n)
{
    txn tx;
    int max;
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    TRY(check_limit(c, limit, 1001, 100, &max));
    if (!txn_read(&tx, c))
        return c->err.status;
    return txn_done(&tx, lacking_read(&tx, after, max, out, n));
}
