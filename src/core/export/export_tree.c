/* SPDX-License-Identifier: Apache-2.0
 *
 * What of a tree is exported (export.h).
 *
 * A branch of an exported session is exported whole. Of any other branch the beginning is, as far
 * as exported branches start on it: the same need that gc computes for what is left of a session
 * (reach_find() in core/model/reach.c).
 */
#include "core/export/export.h"

#include "core/access/member.h"
#include "core/model/key.h"
#include "core/session/session_open.h"

#include <stdio.h>
#include <stdlib.h>

#define PAGE_ROWS 500
#define PAGE_ENTRIES 256
#define PAGE_BYTES_MOST ((size_t)1 << 20)

/* ---------------------------------------------------------------------- rows */

static void cell_bind(db_stmt *q, int n, char type, const copy_cell *c)
{
    if (type == 'i')
        q_int(q, n, c->number);
    else
        q_text(q, n, c->bytes);
}

/* The keys of these tables begin with the tree. */
void export_rows(txn *tx, arena *page, const copy_table *t, int64_t tree, const copy_cell *after,
                 export_row each, void *arg)
{
    copy_cell key[COPY_KEY] = {{.number = tree, .bytes = ""}};
    char text[2][512];
    size_t got = PAGE_ROWS;
    for (size_t i = 1; i < t->n_key; i++)
        key[i] = after ? after[i] : (copy_cell){.number = INT64_MIN, .bytes = ""};
    if (t->n_key == 1)
        key[0].number--;
    while (got == PAGE_ROWS && db_status(tx->db) == RAMET_OK) {
        copy_cell *rows = arena_array(page, PAGE_ROWS * t->n, sizeof *rows);
        int n = 1;
        db_stmt *q = db_query(tx->db, t->read);
        for (size_t i = 0; i < t->n_key; i++)
            cell_bind(q, n++, t->types[t->key[i] - 1], &key[i]);
        q_int(q, n++, tree);
        q_int(q, n, PAGE_ROWS);
        for (got = 0; got < PAGE_ROWS && q_row(q); got++)
            for (size_t i = 0; i < t->n; i++)
                rows[got * t->n + i] = copy_cell_read(q, (int)i, t->types[i], page);
        q_end(q);
        for (size_t i = 0, kept = 0; got && i < t->n_key; i++) {
            key[i] = rows[(got - 1) * t->n + t->key[i] - 1];
            /* The page goes before the next one is asked for. An id has at most 255 bytes. */
            if (t->types[t->key[i] - 1] != 'i') {
                snprintf(text[kept], sizeof text[kept], "%s", key[i].bytes);
                key[i].bytes = text[kept++];
            }
        }
        for (size_t r = 0; r < got; r++)
            if (!each(arg, t, &rows[r * t->n])) {
                arena_reset(page);
                return;
            }
        arena_reset(page);
    }
}

/* ------------------------------------------------------------------- sessions */

typedef VEC(export_session) session_list;

typedef struct session_take {
    export_tree *tree;
    session_list list;
    size_t no, id, parent, owner, visibility, expires, deleted, purging, created; /* columns */
} session_take;

static copy_cell cell_keep(arena *a, char type, const copy_cell *c)
{
    copy_cell kept = *c;
    if (!c->null && type != 'i')
        kept.bytes = arena_memdup(a, c->bytes, c->n);
    return kept;
}

static copy_cell *row_keep(arena *a, const copy_table *t, const copy_cell *row)
{
    copy_cell *kept = arena_array(a, t->n, sizeof *kept);
    for (size_t i = 0; i < t->n; i++)
        kept[i] = cell_keep(a, t->types[i], &row[i]);
    return kept;
}

static bool session_each(void *arg, const copy_table *t, copy_cell *row)
{
    session_take *k = arg;
    const copy_cell *r = row_keep(k->tree->arena, t, row);
    export_session s = {.row = r,
                        .access = {.no = r[k->no].number,
                                   .tree = k->tree->tree,
                                   .id = r[k->id].null ? NULL : r[k->id].bytes,
                                   .owner = r[k->owner].bytes,
                                   .visibility = (int)r[k->visibility].number,
                                   .expires = r[k->expires].number,
                                   .deleted = r[k->deleted].number,
                                   .purging = (int)r[k->purging].number},
                        .parent = r[k->parent].number,
                        .created = r[k->created].number};
    VEC_PUSH(k->tree->arena, &k->list, s);
    return true;
}

static int session_order(const void *a, const void *b)
{
    int64_t x = ((const export_session *)a)->access.no, y = ((const export_session *)b)->access.no;
    return x < y ? -1 : x > y;
}

static void sessions_load(export_job *j, export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    session_take k = {.tree = t,
                      .no = record_column_at(table, "no"),
                      .id = record_column_at(table, "id"),
                      .parent = record_column_at(table, "parent"),
                      .owner = record_column_at(table, "owner"),
                      .visibility = record_column_at(table, "visibility"),
                      .expires = record_column_at(table, "expires"),
                      .deleted = record_column_at(table, "deleted"),
                      .purging = record_column_at(table, "purging"),
                      .created = record_column_at(table, "created")};
    export_rows(t->tx, j->page, table, t->tree, NULL, session_each, &k);
    t->sessions = k.list.items;
    t->n_sessions = k.list.n;
    if (t->n_sessions)
        qsort(t->sessions, t->n_sessions, sizeof *t->sessions, session_order);
}

export_session *export_session_at(const export_tree *t, int64_t no)
{
    export_session key = {.access = {.no = no}};
    return t->n_sessions ? bsearch(&key, t->sessions, t->n_sessions, sizeof key, session_order)
                         : NULL;
}

/* ------------------------------------------------------------------- branches */

static int branch_order(const void *a, const void *b)
{
    int64_t x = ((const export_branch *)a)->row.meta.id,
            y = ((const export_branch *)b)->row.meta.id;
    return x < y ? -1 : x > y;
}

static int down_order(const void *a, const void *b)
{
    const export_branch *x = *(export_branch *const *)a, *y = *(export_branch *const *)b;
    if (x->row.meta.base != y->row.meta.base)
        return x->row.meta.base > y->row.meta.base ? -1 : 1;
    return x->row.meta.id > y->row.meta.id ? -1 : x->row.meta.id < y->row.meta.id;
}

export_branch *export_branch_at(const export_tree *t, int64_t id)
{
    export_branch key = {.row = {.meta = {.id = id}}};
    return t->n_branches ? bsearch(&key, t->branches, t->n_branches, sizeof key, branch_order)
                         : NULL;
}

static void branches_load(export_tree *t)
{
    VEC(export_branch) v = {0};
    db_stmt *q = db_query(t->tx->db, Q_branch_of_tree);
    q_int(q, 1, t->tree);
    while (q_row(q)) {
        export_branch b = {0};
        branch_from(q, 0, &b.row);
        VEC_PUSH(t->arena, &v, b);
    }
    t->branches = v.items;
    t->n_branches = v.n;
}

/* Whether the adk log of a session is exported: for those who may read it (NEED_CHANGE). Of several
 * sessions either all logs are, or none: one may begin with entries of another. */
static bool adk_open(const export_job *j, const export_tree *t, const export_session *s)
{
    bool alone = j->in->session && !j->in->tree;
    if (!j->in->with_adk)
        return false;
    return (alone ? session_level(t->tx, &s->access) : level_in(t->tx, t->tree)) >= RAMET_WRITER;
}

/* A text leaves out what was not chosen when it is written. */
static bool prunes_records(const export_job *j)
{
    return export_prunes(j) && j->in->format == RAMET_EXPORT_JSONL;
}

/* Every branch of an exported session, and what those need of others: largest base first, so that
 * children are looked at before parents. */
static void needs_find(const export_job *j, export_tree *t)
{
    export_branch **down = arena_array(t->arena, t->n_branches + 1, sizeof *down);
    for (size_t i = 0; i < t->n_branches; i++) {
        export_branch *b = &t->branches[i];
        const export_session *s = export_session_at(t, b->row.meta.session);
        down[i] = b;
        b->full = s && s->full && (b->row.meta.log == RAMET_LOG_MAIN || adk_open(j, t, s));
        if (b->full && prunes_records(j))
            b->full = export_chosen(j, s, &b->row);
    }
    if (t->n_branches)
        qsort(down, t->n_branches, sizeof *down, down_order);
    for (size_t i = 0; i < t->n_branches; i++) {
        const export_branch *b = down[i];
        const export_session *s = export_session_at(t, b->row.meta.session);
        bool first = prunes_records(j) && s && export_begins(s, &b->row);
        bool needed = b->full || b->need > b->row.meta.base || first;
        export_branch *p = needed ? export_branch_at(t, b->row.meta.parent) : NULL;
        if (p && p->need < b->row.meta.base)
            p->need = b->row.meta.base;
    }
}

/* The hash after the first n entries of a path of which branch `id` owns entry n-1. */
static void hash_at(export_tree *t, int64_t id, int64_t n, uint8_t out[HASH_LEN])
{
    size_t len = 0;
    memset(out, 0, HASH_LEN);
    if (n == 0)
        return;
    db_stmt *q = db_query(t->tx->db, Q_entry_hash);
    q_int(q, 1, t->tree);
    q_int(q, 2, KEY(id, n - 1));
    const void *hash = q_row(q) ? q_col_blob(q, 0, &len) : NULL;
    if (hash && len == HASH_LEN)
        memcpy(out, hash, HASH_LEN);
    else
        db_fail(t->tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                (long long)n - 1, (long long)id);
    q_end(q);
}

static void place_mark(export_tree *t, export_session *s)
{
    for (; s && !s->n; s = export_session_at(t, s->parent))
        s->n = 1; /* the number comes later */
}

/* Numbers what is in the file, in order. */
static void numbers_give(const export_job *j, export_tree *t)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        export_branch *b = &t->branches[i];
        const branch_meta *m = &b->row.meta;
        export_session *s = export_session_at(t, m->session);
        bool first = prunes_records(j) && s && export_begins(s, &b->row);
        bool in = b->full || b->need > m->base || first;
        bool chosen = prunes_records(j) && s && s->full;
        t->pruned |= chosen && !in;
        if (!in)
            continue;
        b->n = ++t->branches_out;
        b->len = b->full ? b->row.len : b->need > m->base ? b->need : m->base;
        t->pruned |= chosen && b->len < b->row.len;
        t->entries_out += b->len - m->base;
        hash_at(t, m->parent, m->base, b->start);
        if (b->len == b->row.len)
            memcpy(b->tip, b->row.tip, HASH_LEN);
        else if (b->len == m->base)
            memcpy(b->tip, b->start, HASH_LEN);
        else
            hash_at(t, m->id, b->len, b->tip);
        place_mark(t, s);
        if (s && s->full && m->log == RAMET_LOG_MAIN) {
            b->before = s->newest;
            s->newest = b;
        }
    }
    for (size_t i = 0; i < t->n_sessions; i++)
        if (t->sessions[i].n)
            t->sessions[i].n = ++t->sessions_out;
}

/* --------------------------------------------------------------------- a tree */

static bool tree_each(void *arg, const copy_table *table, copy_cell *row)
{
    export_tree *t = arg;
    t->row = row_keep(t->arena, table, row);
    t->id = t->row[record_column_at(table, "id")].bytes;
    t->root = t->row[record_column_at(table, "root")].number;
    return true;
}

const char *export_id(arena *a, const uint8_t hash[HASH_LEN])
{
    uint8_t h[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    memcpy(h, hash, HASH_LEN);
    h[6] = (uint8_t)(0x80 | (h[6] & 0x0f)); /* UUIDv8 */
    h[8] = (uint8_t)(0x80 | (h[8] & 0x3f));
    hex_encode(h, HASH_LEN, hex);
    return arena_printf(a, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

/* A part of a tree is another tree where it is imported: its id is made of the tree's and those of
 * the sessions in it. A tree that has nothing else for the caller keeps its own. */
static const char *part_id(export_job *j, const export_tree *t)
{
    uint8_t h[HASH_LEN];
    sha *s = j->call->hasher;
    sha_begin(s);
    sha_add(s, "ramet part\n", 11);
    sha_add(s, t->id, strlen(t->id) + 1);
    for (size_t i = 0; i < t->n_sessions; i++)
        if (t->sessions[i].full)
            sha_add(s, t->sessions[i].access.id, strlen(t->sessions[i].access.id) + 1);
    sha_end(s, h);
    return export_id(t->arena, h);
}

bool export_tree_load(export_job *j, txn *tx, int64_t tree, int64_t session, export_tree *t)
{
    *t = (export_tree){.tx = tx, .arena = j->tree, .tree = tree};
    size_t living = 0, full = 0;
    export_rows(tx, j->page, &copy_tables[COPY_T_tree], tree, NULL, tree_each, t);
    if (!t->row)
        return false;
    ramet_level level = level_in(tx, tree);
    sessions_load(j, t);
    for (size_t i = 0; i < t->n_sessions; i++) {
        export_session *s = &t->sessions[i];
        bool lives = !session_gone(tx, &s->access) && s->access.id;
        bool seen = lives && session_seen(tx, level, &s->access);
        s->hidden = lives && !seen;
        s->full = seen && (!session || s->access.no == session);
        living += seen;
        full += s->full;
    }
    if (!full)
        return false;
    branches_load(t);
    txn look = *tx;
    look.arena = t->arena;
    notes_of_tree(&look, tree, &t->notes);
    needs_find(j, t);
    for (size_t i = 0; i < t->n_sessions; i++)
        if (t->sessions[i].full)
            place_mark(t, &t->sessions[i]);
    numbers_give(j, t);
    export_overlays_load(j, t);
    if (full < living || t->pruned)
        t->id = part_id(j, t);
    return db_status(tx->db) == RAMET_OK;
}

/* -------------------------------------------------------------------- entries */

/* Checked against the hash chain as they are read, as every read is. */
bool export_entries(export_job *j, const export_tree *t, const export_branch *b, int64_t from,
                    int64_t to, export_entry each, void *arg)
{
    txn tx = *t->tx;
    uint8_t prev[HASH_LEN], hash[HASH_LEN], digest[HASH_LEN], want[HASH_LEN];
    bool go_on = true;
    int64_t next = from;
    tx.arena = j->entry;
    if (from == b->row.meta.base)
        memcpy(prev, b->start, HASH_LEN);
    else
        hash_at((export_tree *)t, b->row.meta.id, from, prev);
    for (int64_t lo = from; lo < to && go_on; lo += PAGE_ENTRIES) {
        int64_t hi = to - lo < PAGE_ENTRIES ? to : lo + PAGE_ENTRIES;
        db_stmt *q = db_query(tx.db, Q_entry_range);
        q_int(q, 1, t->tree);
        q_int(q, 2, KEY(b->row.meta.id, lo));
        q_int(q, 3, KEY(b->row.meta.id, hi - 1));
        while (go_on && q_row(q)) {
            ramet_entry e;
            entry_cols cols;
            int64_t peer = q_col_int(q, 14);
            if (!entry_from(&tx, q, t->tree, &e, hash, &cols))
                break;
            entry_digest(j->call->hasher, &e, &cols, digest);
            sha_chain(j->call->hasher, prev, digest, want);
            if (e.position != next || memcmp(want, hash, HASH_LEN) != 0) {
                db_fail(tx.db, RAMET_DAMAGED,
                        "entry %s at position %lld of branch b%lld is damaged: its hash is wrong",
                        e.id, (long long)e.position, (long long)b->row.meta.id);
                break;
            }
            memcpy(prev, hash, HASH_LEN);
            next++;
            go_on = each(arg, b, &e, &cols, peer);
            if (arena_used(j->entry) > PAGE_BYTES_MOST)
                arena_reset(j->entry);
        }
        q_end(q);
        if (db_status(tx.db) != RAMET_OK)
            return false;
        if (go_on && next != hi)
            db_fail(tx.db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                    (long long)next, (long long)b->row.meta.id);
    }
    arena_reset(j->entry);
    return go_on && db_status(tx.db) == RAMET_OK;
}
