/* SPDX-License-Identifier: Apache-2.0
 *
 * The second pass of an import: the rows of a tree, in bounded transactions (import.h).
 *
 * The first transaction takes the numbers: the tree, a tombstone for each session, and each branch,
 * empty. Then come the attachments, the entries and the other rows; import_end.c has the last one.
 */
#include "core/export/import.h"

#include "core/attachment/attachment.h"
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/model/state.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH_OPS 4000
#define BATCH_BYTES ((size_t)8 << 20)

static void cell_bind(db_stmt *q, int n, char type, const copy_cell *c)
{
    if (c->null)
        q_text(q, n, NULL);
    else if (type == 'i')
        q_int(q, n, c->number);
    else if (type == 't')
        q_text(q, n, c->bytes ? c->bytes : "");
    else
        q_blob(q, n, c->bytes, c->n);
}

void import_row_add(txn *tx, int table, const copy_cell *row)
{
    const copy_table *t = &copy_tables[table];
    db_stmt *q = db_query(tx->db, t->add);
    for (size_t i = 0; i < t->n; i++)
        cell_bind(q, (int)i + 1, t->types[i], &row[i]);
    q_run(q);
}

/* --------------------------------------------------------------- taking numbers */

/* A file's next numbers follow each other; elsewhere each is asked for. */
static int64_t number_next(txn *tx, db_kind kind, int64_t before, int64_t *at)
{
    if (before && !db_concurrent(tx->db))
        return before + 1;
    return db_number(tx->db, kind, at);
}

void import_branch_number(import_branch *b, int64_t tree, int64_t id, int64_t session)
{
    b->row = (branch_row){.meta = {.id = id,
                                   .tree = tree,
                                   .session = session,
                                   .base = b->base,
                                   .log = b->log,
                                   .type = b->type},
                          .created = b->created,
                          .len = b->base,
                          .touched = b->touched,
                          .filled = b->filled};
    memcpy(b->row.tip, b->start, HASH_LEN);
}

/* B3 in core/model/branch.c. */
void import_lineage(import_tree *t, const size_t *order)
{
    for (int64_t i = 0; i < t->have_branches; i++) {
        import_branch *b = &t->branches[order[i]];
        branch_meta *m = &b->row.meta;
        const import_branch *p = b->parent ? &t->branches[b->parent - 1] : NULL;
        b->jump = (int64_t)order[i] + 1;
        if (p) {
            const import_branch *up = &t->branches[p->jump - 1],
                                *upper = &t->branches[up->jump - 1];
            bool even = p->row.meta.depth - up->row.meta.depth ==
                        up->row.meta.depth - upper->row.meta.depth;
            b->jump = even ? up->jump : b->parent;
            m->depth = p->row.meta.depth + 1;
            m->parent = p->row.meta.id;
        }
        b->row.over = b->over ? t->branches[b->over - 1].row.meta.id : 0;
        m->jump = t->branches[b->jump - 1].row.meta.id;
        m->jump_base = b->parent ? t->branches[b->jump - 1].base : 0;
    }
}

static void numbers_take(import_job *j, txn *tx, bool *unordered)
{
    import_tree *t = &j->t;
    int64_t no = 0, id = 0, last = 0;
    t->tree = db_number(tx->db, DB_TREE, NULL);
    for (int64_t i = 0; i < t->have_sessions; i++) {
        no = number_next(tx, DB_SESSION, no, i ? NULL : &last);
        t->sessions[i].no = no;
        *unordered |= t->sessions[i].created < last;
        last = t->sessions[i].created > last ? t->sessions[i].created : last;
    }
    for (int64_t i = 0; i < t->have_branches; i++) {
        import_branch *b = &t->branches[i];
        id = number_next(tx, DB_BRANCH, id, NULL);
        import_branch_number(b, t->tree, id, t->sessions[b->session - 1].no);
    }
}

#define SET(name, value) row[record_column_at(table, name)].number = (value)
#define SET_TEXT(name, value)                                                                      \
    row[record_column_at(table, name)] = (copy_cell)                                               \
    {                                                                                              \
        .bytes = (value)                                                                           \
    }

/* Texts that are not given are empty, or NULL where a tombstone has that. */
static void row_blank(const copy_table *table, copy_cell *row)
{
    static const char *const null[] = {"id",    "agent",      "agent_config", "metadata",
                                       "by_id", "fork_entry", "fill"};
    memset(row, 0, table->n * sizeof *row);
    for (size_t i = 0; i < table->n; i++)
        row[i].bytes = "";
    for (size_t i = 0; table == &copy_tables[COPY_T_session] && i < 7; i++)
        row[record_column_at(table, null[i])].null = true;
}

static void tree_add(import_job *j, txn *tx)
{
    const copy_table *table = &copy_tables[COPY_T_tree];
    import_tree *t = &j->t;
    copy_cell row[RECORD_COLUMNS];
    char uuid[UUID_TEXT];
    row_blank(table, row);
    SET("tree", t->tree);
    /* Its own id comes with its sessions. */
    SET_TEXT("id", uuid7(tx->now, uuid));
    for (int64_t i = 0; i < t->have_sessions; i++)
        if (!t->sessions[i].parent)
            SET("root", t->sessions[i].no);
    SET("created", t->created);
    import_row_add(tx, COPY_T_tree, row);
}

static void session_add(import_job *j, txn *tx, const import_session *s)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    copy_cell row[RECORD_COLUMNS];
    row_blank(table, row);
    SET("no", s->no);
    SET("tree", j->t.tree);
    SET("parent", s->parent ? j->t.sessions[s->parent - 1].no : 0);
    SET("depth", s->depth);
    SET("created", s->created);
    SET("updated", s->created);
    SET("purging", 2);
    import_row_add(tx, COPY_T_session, row);
}

/* It starts nowhere until its parent is complete: as gc leaves one that only keeps its number. */
static void branch_add(txn *tx, const import_branch *b)
{
    static const char zeros[HASH_LEN];
    const copy_table *table = &copy_tables[COPY_T_branch];
    const branch_meta *m = &b->row.meta;
    copy_cell row[RECORD_COLUMNS];
    row_blank(table, row);
    SET("id", m->id);
    SET("tree", m->tree);
    SET("session", m->session);
    SET("log", m->log);
    SET("jump", m->id);
    SET("type", m->type);
    SET("created", b->created);
    row[record_column_at(table, "tip")] = (copy_cell){.bytes = zeros, .n = HASH_LEN};
    SET("touched", b->touched);
    import_row_add(tx, COPY_T_branch, row);
}

static ramet_status claim_run(txn *tx, void *arg)
{
    import_job *j = arg;
    import_tree *t = &j->t;
    txn own = *tx;
    bool unordered = false;
    own.arena = j->scratch;
    arena_reset(j->scratch);
    numbers_take(j, &own, &unordered);
    TRY(txn_status(tx));
    import_lineage(t, import_order(j));
    tree_add(j, &own);
    import_lock(&own, t->tree, j->host);
    for (int64_t i = 0; i < t->have_sessions; i++)
        session_add(j, &own, &t->sessions[i]);
    for (int64_t i = 0; i < t->have_branches; i++)
        branch_add(&own, &t->branches[i]);
    /* Lists of a file go by numbers, unless these do not rise with time. */
    if (unordered)
        q_run(db_query(tx->db, Q_copy_by_time));
    return txn_status(tx);
}

/* ---------------------------------------------------------------------- batches */

void import_branch_update(txn *tx, const import_branch *b)
{
    const branch_meta *m = &b->row.meta;
    db_stmt *q = db_query(tx->db, Q_import_branch);
    q_int(q, 1, m->tree);
    q_int(q, 2, m->id);
    q_int(q, 3, m->parent);
    q_int(q, 4, m->base);
    q_int(q, 5, m->depth);
    q_int(q, 6, m->jump);
    q_int(q, 7, m->jump_base);
    q_int(q, 8, b->row.over);
    q_int(q, 9, b->row.delta);
    q_int(q, 10, b->row.len);
    q_blob(q, 11, b->row.tip, HASH_LEN);
    q_int(q, 12, b->live);
    q_int(q, 13, b->last);
    q_int(q, 14, b->row.overlay);
    q_int(q, 15, b->row.filled);
    q_int(q, 16, branch_seal(tx->call->hasher, &b->row));
    q_run(q);
}

/* The last state delta below the base of a branch: its parent is complete by now. */
static void delta_inherit(import_job *j, txn *tx, import_branch *b)
{
    const import_branch *p = b->parent ? &j->t.branches[b->parent - 1] : NULL;
    b->row.delta = p ? delta_before_on(tx, &p->row.meta, p->row.delta, b->base) : 0;
}

static void entry_do(import_job *j, txn *tx, const import_op *op)
{
    import_branch *b = op->branch;
    int64_t position = op->entry->entry.position;
    if (position == b->base)
        delta_inherit(j, tx, b);
    entry_insert(tx, &b->row, op->entry, op->about.peer);
    for (size_t i = 0; i < op->about.n_origins; i++)
        copied_restore(tx, j->t.tree, KEY(b->row.meta.id, position), (int)i, &op->about.origins[i]);
    b->row.len = position + 1;
    memcpy(b->row.tip, op->entry->hash, HASH_LEN);
}

static ramet_status id_free(import_job *j, txn *tx, const import_op *op)
{
    const copy_table *t = &copy_tables[record_defs[op->of].table];
    const char *id = op->row[record_column_at(t, "id")].bytes;
    int64_t left_in;
    bool taken = import_id_taken(tx, op->of, id, &left_in);
    if (left_in) {
        db_stmt *q = db_query(tx->db, t->drop);
        q_int(q, 1, left_in);
        q_text(q, 2, id);
        q_run(q);
    }
    if (!taken)
        return RAMET_OK;
    return call_fail(j->call, RAMET_IMPORT_CONFLICT, record_defs[op->of].type,
                     "line %lld: the %s %s is there already", (long long)op->line,
                     record_defs[op->of].type, id);
}

/* Rows that a file may have twice replace each other. */
static ramet_status row_do(import_job *j, txn *tx, const import_op *op)
{
    const copy_table *t = &copy_tables[record_defs[op->of].table];
    sql_id add = op->of == RECORD_PLACE         ? Q_place_add
                 : op->of == RECORD_SEARCH_TEXT ? Q_indexed_set
                 : op->of == RECORD_FEEDBACK    ? Q_feedback_set
                 : op->of == RECORD_PROMPT      ? Q_prompt_add
                                                : t->add;
    if (op->of == RECORD_TURN || op->of == RECORD_TASK || op->of == RECORD_TEMPLATE)
        TRY(id_free(j, tx, op));
    if (op->of == RECORD_VERDICT)
        op->row[record_column_at(t, "no")].number = db_number(tx->db, DB_VERDICT, NULL);
    db_stmt *q = db_query(tx->db, add);
    for (size_t i = 0; i < t->n; i++)
        cell_bind(q, (int)i + 1, t->types[i], &op->row[i]);
    q_run(q);
    return RAMET_OK;
}

static ramet_status flush_run(txn *tx, void *arg)
{
    import_job *j = arg;
    txn own = *tx;
    ramet_status st = RAMET_OK;
    own.arena = j->scratch;
    arena_reset(j->scratch);
    import_lock(&own, j->t.tree, j->host);
    for (size_t i = 0; i < j->ops.n && st == RAMET_OK; i++) {
        const import_op *op = &j->ops.items[i];
        const import_op *next = i + 1 < j->ops.n ? op + 1 : NULL;
        if (op->kind == OP_ROW) {
            st = row_do(j, &own, op);
            continue;
        }
        entry_do(j, &own, op);
        if (!next || next->branch != op->branch)
            import_branch_update(&own, op->branch);
    }
    return st == RAMET_OK ? txn_status(tx) : st;
}

static ramet_status batch_flush(import_job *j)
{
    ramet_status st = j->ops.n ? txn_write(j->call, flush_run, j) : RAMET_OK;
    memset(&j->ops, 0, sizeof j->ops);
    arena_reset(j->batch);
    return st;
}

static ramet_status op_add(import_job *j, const import_op *op)
{
    VEC_PUSH(j->batch, &j->ops, *op);
    if (j->ops.n < BATCH_OPS && arena_used(j->batch) < BATCH_BYTES)
        return RAMET_OK;
    return batch_flush(j);
}

/* ------------------------------------------------------------------ attachments */

typedef struct attach {
    import_job *j;
    attachment_row row;
    incoming *to; /* NULL: it is there */
    bool there;
} attach;

static ramet_status attach_look(txn *tx, attach *a, int64_t line)
{
    attachment_row have;
    a->there = attachment_load(tx, a->row.id, &have);
    TRY(txn_status(tx));
    if (a->there && memcmp(have.sha, a->row.sha, HASH_LEN) != 0)
        return call_fail(tx->call, RAMET_IMPORT_CONFLICT, "attachment",
                         "line %lld: attachment %s is there already with another content",
                         (long long)line, a->row.id);
    return RAMET_OK;
}

static ramet_status attach_run(txn *tx, void *arg)
{
    attach *a = arg;
    TRY(attach_look(tx, a, 0));
    if (a->there)
        return RAMET_OK;
    TRY(content_keep(a->to, tx));
    /* Until an entry refers to it: the rest of the import may fail. */
    a->row.expires = tx->now + UNUSED_US;
    attachment_insert(tx, &a->row);
    return txn_status(tx);
}

static ramet_status attach_end(attach *a)
{
    ramet_status st = RAMET_OK;
    if (!a->to)
        return st;
    st = content_seal(a->to, a->row.sha);
    if (st == RAMET_OK)
        st = txn_write(a->j->call, attach_run, a);
    content_end(a->to, st == RAMET_OK && !a->there);
    a->to = NULL;
    return st;
}

static ramet_status attach_begin(attach *a, record *r, int64_t line)
{
    import_job *j = a->j;
    txn tx;
    const char *name = record_maybe(r, "name"), *type = record_maybe(r, "media_type"),
               *owner = record_text(r, "owner");
    a->row = (attachment_row){.id = arena_strdup(j->tree, record_text(r, "id")),
                              .name = arena_strdup(j->tree, name ? name : ""),
                              .media_type = arena_strdup(j->tree, type ? type : ""),
                              .owner = j->user ? j->user : arena_strdup(j->tree, owner),
                              .created = record_int(r, "created", 0, INT64_MAX / 4),
                              .size = record_int(r, "size", 0, INT64_MAX / 4)};
    record_hash(r, "sha256", a->row.sha);
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    tx.arena = j->scratch;
    ramet_status st = attach_look(&tx, a, line);
    tx.arena = j->call->arena;
    TRY(txn_done(&tx, st));
    return a->there ? RAMET_OK : content_begin(j->call, &a->to);
}

static ramet_status content_put(attach *a, record *r)
{
    const char *data = record_text(r, "data");
    size_t n = strlen(data), got;
    uint8_t *bytes = arena_alloc(r->arena, n + 3);
    if (!a->to || !record_bytes(data, n, bytes, &got))
        return RAMET_OK;
    return content_add(a->to, bytes, got);
}

static ramet_status attachments_write(import_job *j, const import_mark *m)
{
    attach a = {.j = j};
    ramet_status st = RAMET_OK;
    if (!m->contents_offset)
        return st;
    reader_seek(&j->in, m->contents_offset, m->contents_line);
    while (st == RAMET_OK) {
        record r;
        int64_t line = j->in.line;
        arena_reset(j->line);
        st = import_next(j, &j->in, j->line, &r);
        if (st != RAMET_OK || (r.kind != RECORD_ATTACHMENT && r.kind != RECORD_CONTENT_PART))
            break;
        if (r.kind == RECORD_CONTENT_PART) {
            st = content_put(&a, &r);
            continue;
        }
        st = attach_end(&a);
        if (st == RAMET_OK)
            st = attach_begin(&a, &r, line);
    }
    if (st == RAMET_OK)
        return attach_end(&a);
    content_end(a.to, false);
    return st;
}

/* ------------------------------------------------------------------------- rows */

/* The name of a place may hold the number of a session. */
static void place_name(import_job *j, record *r, copy_cell *row)
{
    const copy_table *t = &copy_tables[COPY_T_place];
    copy_cell *name = &row[record_column_at(t, "name")];
    const char *of = record_maybe(r, "of");
    if (!of)
        return;
    int64_t s = record_int(r, "session", 1, j->t.have_sessions);
    name->bytes = arena_printf(j->batch, "%s %lld %s", strcmp(of, "key") == 0 ? "key" : "move",
                               (long long)j->t.sessions[s - 1].no, name->bytes);
    name->n = strlen(name->bytes);
}

static ramet_status row_take(import_job *j, record *r, int64_t line)
{
    const copy_table *t = &copy_tables[record_defs[r->kind].table];
    copy_cell *row = arena_array(j->batch, t->n, sizeof *row);
    if (r->kind == RECORD_OVERLAY || r->kind == RECORD_PROMPT) {
        TRY((r->kind == RECORD_OVERLAY ? import_overlay : import_prompt)(j, r, line, true, row));
        return op_add(j, &(import_op){.kind = OP_ROW, .of = r->kind, .row = row, .line = line});
    }
    record_row(r, row);
    if (r->kind == RECORD_RUN) /* the last one of a session and log stays */
        j->t.sessions[row[record_column_at(t, "session")].number - 1]
            .last[row[record_column_at(t, "log")].number] =
            KEY_BRANCH(row[record_column_at(t, "k")].number);
    TRY(import_refs(j, r->kind, row, line, true));
    if (r->kind == RECORD_PLACE)
        place_name(j, r, row);
    if (r->kind == RECORD_BRANCH_NOTE) /* below the numbers that prunes get here */
        row[record_column_at(t, "prune_op")].number *= -1;
    if (r->kind == RECORD_VERDICT) {
        copy_cell *sides = &row[record_column_at(t, "sides")];
        TRY(import_sides(j, r, line, true, &sides->bytes));
        sides->null = false;
    }
    /* The opinion of others is not for the importer to give. */
    if (r->kind == RECORD_FEEDBACK && j->user &&
        strcmp(row[record_column_at(t, "user_id")].bytes, j->user) != 0)
        return RAMET_OK;
    return op_add(j, &(import_op){.kind = OP_ROW, .of = r->kind, .row = row, .line = line});
}

static ramet_status entry_take(import_job *j, record *r, int64_t line)
{
    entry_new *n = arena_alloc(j->batch, sizeof *n);
    import_about about;
    TRY(import_entry(j, r, line, true, n, &about));
    if (!import_tick(j, "import", 1))
        return import_stopped(j);
    return op_add(j, &(import_op){.kind = OP_ENTRY,
                                  .entry = n,
                                  .about = about,
                                  .branch = &j->t.branches[about.branch - 1],
                                  .line = line});
}

static ramet_status rows_write(import_job *j)
{
    for (;;) {
        record r;
        int64_t line = j->in.line;
        TRY(import_next(j, &j->in, j->batch, &r));
        if (r.kind == RECORD_TREE || r.kind == RECORD_ATTACHMENT || r.kind == RECORD_END)
            return batch_flush(j);
        TRY(r.kind == RECORD_ENTRY || r.kind == RECORD_ERASED ? entry_take(j, &r, line)
                                                              : row_take(j, &r, line));
        if (arena_used(j->batch) > BATCH_BYTES) /* records that are not taken over */
            TRY(batch_flush(j));
    }
}

/* The tree's model again; the reader stands behind it. */
static ramet_status model_read(import_job *j, const import_mark *m)
{
    reader_seek(&j->in, m->offset, m->line);
    for (;;) {
        record r;
        int64_t offset = j->in.offset, line = j->in.line;
        arena_reset(j->line);
        TRY(import_next(j, &j->in, j->line, &r));
        if (r.kind == RECORD_MEMBER || r.kind == RECORD_HOLD)
            continue; /* written by the last transaction */
        bool other_tree = r.kind == RECORD_TREE && line != m->line;
        if (other_tree || (r.kind != RECORD_TREE && r.kind != RECORD_SESSION &&
                           r.kind != RECORD_GONE && r.kind != RECORD_BRANCH)) {
            reader_seek(&j->in, offset, line);
            return RAMET_OK;
        }
        TRY(import_model(j, &r, line));
    }
}

ramet_status import_tree_write(import_job *j, const import_mark *m)
{
    memset(&j->ops, 0, sizeof j->ops);
    arena_reset(j->batch);
    TRY(model_read(j, m));
    import_depths(&j->t);
    TRY(txn_write(j->call, claim_run, j));
    int64_t offset = j->in.offset, line = j->in.line;
    TRY(attachments_write(j, m));
    reader_seek(&j->in, offset, line);
    TRY(rows_write(j));
    return import_tree_end(j, m);
}
