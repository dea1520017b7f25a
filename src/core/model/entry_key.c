/* SPDX-License-Identifier: Apache-2.0
 *
 * Data stored beside an entry: a key that is unique in its session, and a text that the entry is
 * found by. Neither is part of the entry or of its hash.
 */
#include "core/model/entry_key.h"

#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

/* A key is a row of the turn index (core/turn/turn_index.c), prefixed with the number of its
 * session. */
static const char *key_name(txn *tx, const session_brief *s, const char *key)
{
    return arena_printf(tx->arena, "key %lld %s", (long long)s->no, key);
}

ramet_status keys_check(txn *tx, const session_brief *s, const entry_new *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *key = list[i].in->key;
        bool taken = false;
        if (!key)
            continue;
        for (size_t k = 0; k < i; k++)
            taken |= list[k].in->key && strcmp(list[k].in->key, key) == 0;
        db_stmt *q = db_query(tx->db, Q_place_of);
        q_int(q, 1, s->tree);
        q_text(q, 2, key_name(tx, s, key));
        q_int(q, 3, RAMET_LOG_MAIN);
        taken |= q_row(q);
        q_end(q);
        TRY(txn_status(tx));
        if (taken)
            return call_fail(tx->call, RAMET_KEY_TAKEN,
                             arena_printf(tx->arena, "entries[%zu].key", i),
                             "an entry of session %s has the key %s already", s->id, key);
    }
    return RAMET_OK;
}

void indexed_write(txn *tx, int64_t tree, int64_t k, const char *text)
{
    db_stmt *q = db_query(tx->db, Q_indexed_set);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_text(q, 3, text);
    q_int(q, 4, tx->now);
    q_run(q);
}

void keys_write(txn *tx, const session_brief *s, const branch_row *b, const entry_new *list,
                size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t k = KEY(b->meta.id, list[i].entry.position);
        if (list[i].existing || list[i].same_as >= 0)
            continue;
        if (list[i].in->key)
            turn_index_add(tx, s->tree, key_name(tx, s, list[i].in->key), RAMET_LOG_MAIN, k);
        if (list[i].in->indexed)
            indexed_write(tx, s->tree, k, list[i].in->indexed);
    }
}
