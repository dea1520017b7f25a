/* SPDX-License-Identifier: Apache-2.0
 *
 * References from one tree to another: which session started a session, and where a summary was
 * landed from (M6 in import.h).
 *
 * They are set when every tree of the file is in the store, and only where nothing is set yet. So
 * it does not matter which of two trees comes first, and an import that is done again completes
 * what one that died has left. What the importer may not see stays unknown.
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/model/key.h"
#include "core/session/session_open.h"

#define BATCH_LINKS 500

typedef struct linking {
    import_job *j;
    import_reader in, trees; /* a record lives until its reader goes on */
    size_t at;               /* the first link of the batch */
    txn *tx;
} linking;

/* A session that the importer may see. */
static bool session_there(linking *l, const char *id, session_full *s)
{
    return session_load(l->tx, id, s) && !session_gone(l->tx, &s->access) &&
           session_visible(l->tx, &s->access);
}

/* The entry of a tree with that id and hash; 0: there is none. */
static int64_t entry_there(linking *l, int64_t tree, const char *id, const uint8_t hash[HASH_LEN])
{
    VEC(int64_t) keys = {0};
    int64_t found = 0;
    db_stmt *q = db_query(l->tx->db, Q_entry_by_id);
    q_int(q, 1, tree);
    q_text(q, 2, id);
    while (q_row(q))
        VEC_PUSH(l->tx->arena, &keys, q_col_int(q, 0));
    q_end(q);
    for (size_t i = 0; i < keys.n && !found; i++) {
        size_t n = 0;
        q = db_query(l->tx->db, Q_entry_hash);
        q_int(q, 1, tree);
        q_int(q, 2, keys.items[i]);
        const void *have = q_row(q) ? q_col_blob(q, 0, &n) : NULL;
        if (have && n == HASH_LEN && memcmp(have, hash, HASH_LEN) == 0)
            found = keys.items[i];
        q_end(q);
    }
    return found;
}

static void session_link(linking *l, record *r)
{
    const json_node *origin = json_get(&r->doc, r->doc.nodes, "origin");
    const char *session = json_text(r->arena, &r->doc, json_get(&r->doc, origin, "session")),
               *entry = json_text(r->arena, &r->doc, json_get(&r->doc, origin, "entry"));
    session_full own, from;
    if (!session || !session_there(l, record_text(r, "id"), &own) ||
        !session_there(l, session, &from))
        return;
    db_stmt *q = db_query(l->tx->db, Q_origin_link);
    q_int(q, 1, own.tree);
    q_int(q, 2, own.no);
    q_int(q, 3, from.tree);
    q_int(q, 4, from.no);
    q_text(q, 5, entry);
    q_run(q);
}

/* The number of the tree that a link is in; 0: the store has it under another id, and so had it
 * before. */
static ramet_status link_tree(linking *l, const import_mark *m, int64_t *tree)
{
    record r;
    reader_seek(&l->trees, m->offset, m->line);
    TRY(import_next(l->j, &l->trees, l->j->line, &r));
    *tree = tree_number(l->tx, record_text(&r, "id"));
    return RAMET_OK;
}

static ramet_status entry_link(linking *l, const import_mark *m, record *r)
{
    uint8_t hash[HASH_LEN];
    import_foreign other;
    int64_t tree;
    size_t n = json_get(&r->doc, r->doc.nodes, "origins")->count;
    record_hash(r, "prefix_hash", hash);
    const char *id = record_text(r, "id");
    TRY(link_tree(l, m, &tree));
    int64_t k = tree ? entry_there(l, tree, id, hash) : 0;
    for (size_t i = 0; k && i < n; i++) {
        session_full from;
        if (!import_origin_foreign(r, i, &other) || !session_there(l, other.session, &from))
            continue;
        int64_t from_k = entry_there(l, from.tree, other.entry, other.hash);
        if (!from_k)
            continue;
        db_stmt *q = db_query(l->tx->db, Q_copied_link);
        q_int(q, 1, tree);
        q_int(q, 2, k);
        q_int(q, 3, (int64_t)i);
        q_int(q, 4, from.tree);
        q_int(q, 5, from.no);
        q_int(q, 6, from_k);
        q_run(q);
    }
    return RAMET_OK;
}

static ramet_status batch_run(txn *tx, void *arg)
{
    linking *l = arg;
    import_job *j = l->j;
    txn own = *tx;
    own.arena = j->scratch;
    l->tx = &own;
    for (size_t i = 0; i < BATCH_LINKS && l->at + i < j->links.n; i++) {
        const import_link *link = &j->links.items[l->at + i];
        record r;
        arena_reset(j->scratch);
        arena_reset(j->line);
        reader_seek(&l->in, link->offset, link->line);
        TRY(import_next(j, &l->in, j->line, &r));
        if (r.kind == RECORD_SESSION)
            session_link(l, &r);
        else
            TRY(entry_link(l, &j->marks.items[link->mark], &r));
        TRY(txn_status(tx));
    }
    return txn_status(tx);
}

ramet_status import_links_write(import_job *j)
{
    linking l = {.j = j};
    ramet_status st = RAMET_OK;
    reader_init(&l.in, j->in.fd, j->in.most);
    reader_init(&l.trees, j->in.fd, j->in.most);
    for (; l.at < j->links.n && st == RAMET_OK; l.at += BATCH_LINKS)
        st = txn_write(j->call, batch_run, &l);
    reader_release(&l.in);
    reader_release(&l.trees);
    return st;
}
