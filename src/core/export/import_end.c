/* SPDX-License-Identifier: Apache-2.0
 *
 * The last transaction of a tree's import: its sessions take the place of their tombstones, and it
 * gets its members, its holds, its id and its events (M2 in import.h). Before it is committed,
 * fsck's checks of everything but the content of branches, which the first pass has checked, must
 * find nothing.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/event.h"
#include "core/export/import.h"
#include "core/model/key.h"
#include "core/model/state.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/upkeep/fsck.h"

#include <stdio.h>

#define CELL(name) row[record_column_at(table, name)]

typedef struct ending {
    import_job *j;
    const import_mark *mark;
    import_reader in;
    txn *tx;
    int64_t root;
} ending;

/* --------------------------------------------------------------------- sessions */

static void tags_write(ending *e, record *r, int64_t no)
{
    const json_node *tags = json_get(&r->doc, r->doc.nodes, "tags");
    for (const json_node *v = tags ? json_first(&r->doc, tags) : NULL; v;
         v = json_next(&r->doc, tags, v)) {
        db_stmt *q = db_query(e->tx->db, Q_tag_add);
        q_int(q, 1, e->j->t.tree);
        q_int(q, 2, no);
        q_text(q, 3, json_text(r->arena, &r->doc, v));
        q_run(q);
    }
}

/* The session that started it is known when it is in the store, and the importer may see it. */
static void origin_write(ending *e, record *r, int64_t no)
{
    const json_node *origin = json_get(&r->doc, r->doc.nodes, "origin");
    session_full from;
    if (!origin)
        return;
    const char *client = json_text(r->arena, &r->doc, json_get(&r->doc, origin, "client")),
               *session = json_text(r->arena, &r->doc, json_get(&r->doc, origin, "session")),
               *entry = json_text(r->arena, &r->doc, json_get(&r->doc, origin, "entry"));
    bool there = session && session_load(e->tx, session, &from) &&
                 !session_gone(e->tx, &from.access) && session_visible(e->tx, &from.access);
    db_stmt *q = db_query(e->tx->db, Q_origin_add);
    q_int(q, 1, e->j->t.tree);
    q_int(q, 2, no);
    q_text(q, 3, client ? client : "");
    q_int(q, 4, there ? from.tree : 0);
    q_int(q, 5, there ? from.no : 0);
    q_text(q, 6, there ? entry : NULL);
    q_run(q);
}

/* What the row's own record does not say. */
static void session_fill(ending *e, const import_session *s, copy_cell *row)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    import_job *j = e->j;
    session_full full = {.parent = CELL("parent").number,
                         .depth = s->depth,
                         .created = s->created,
                         .type = (int)CELL("type").number,
                         .fork_side = (int)CELL("fork_side").number,
                         .fork_entry = CELL("fork_entry").null ? NULL : CELL("fork_entry").bytes};
    full.no = s->no;
    full.tree = j->t.tree;
    CELL("no").number = s->no;
    CELL("tree").number = j->t.tree;
    CELL("depth").number = s->depth;
    CELL("seal").number = session_seal(j->call->hasher, &full);
    if (j->user)
        CELL("owner") = (copy_cell){.bytes = j->user};
}

/* Branches that it names are heads, and the record goes on at one of each log. */
static ramet_status heads_mark(ending *e, const import_session *s, int64_t n, copy_cell *row,
                               int64_t line)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    import_tree *t = &e->j->t;
    const int64_t heads[] = {CELL("head").number, CELL("adk").number};
    for (int log = 0; log < 2; log++) {
        if (heads[log] > t->have_branches || s->last[log] > t->have_branches)
            return import_damaged(e->j, line, "it names a branch that is not there");
        if (heads[log] && t->branches[heads[log] - 1].session == n)
            t->branches[heads[log] - 1].live = true;
        if (s->last[log] && t->branches[s->last[log] - 1].session == n)
            t->branches[s->last[log] - 1].last = true;
    }
    return RAMET_OK;
}

static ramet_status session_put(ending *e, record *r, int64_t n, int64_t line)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    import_job *j = e->j;
    const import_session *s = &j->t.sessions[n - 1];
    copy_cell row[RECORD_COLUMNS];
    record_row(r, row);
    TRY(heads_mark(e, s, n, row, line));
    TRY(import_refs(j, RECORD_SESSION, row, line, true));
    session_fill(e, s, row);
    TRY(session_id_free(e->tx, CELL("id").bytes));
    tags_write(e, r, s->no);
    origin_write(e, r, s->no);
    db_stmt *q = db_query(e->tx->db, Q_copy_session_drop);
    q_int(q, 1, j->t.tree);
    q_int(q, 2, s->no);
    q_run(q);
    import_row_add(e->tx, COPY_T_session, row);
    event_add(e->tx, j->t.tree, s->no, s->parent ? RAMET_EVENT_FORKED : RAMET_EVENT_CREATED,
              CELL("head").number, 0);
    return RAMET_OK;
}

static void member_put(ending *e, const char *user, int64_t level, int64_t since)
{
    db_stmt *q = db_query(e->tx->db, Q_member_set);
    q_int(q, 1, e->j->t.tree);
    q_text(q, 2, user);
    q_int(q, 3, level);
    q_int(q, 4, since);
    q_run(q);
}

/* In the last transaction: gc would keep what a dead import left on hold. */
static ramet_status holds_put(ending *e)
{
    import_job *j = e->j;
    for (;;) {
        record r;
        copy_cell row[RECORD_COLUMNS];
        int64_t line = e->in.line;
        arena_reset(j->line);
        TRY(import_next(j, &e->in, j->line, &r));
        if (r.kind != RECORD_HOLD)
            return RAMET_OK;
        record_row(&r, row);
        TRY(import_refs(j, RECORD_HOLD, row, line, true));
        import_row_add(e->tx, COPY_T_held, row);
    }
}

/* Their records are read once more: rows of many sessions are not kept in memory. */
static ramet_status sessions_put(ending *e)
{
    import_job *j = e->j;
    const copy_table *members = &copy_tables[COPY_T_member];
    reader_seek(&e->in, e->mark->sessions_offset, e->mark->sessions_line);
    for (int64_t n = 0; n < j->t.have_sessions;) {
        record r;
        copy_cell row[RECORD_COLUMNS];
        int64_t line = e->in.line;
        arena_reset(j->line);
        TRY(import_next(j, &e->in, j->line, &r));
        if (r.kind == RECORD_MEMBER && !j->user) {
            record_row(&r, row);
            member_put(e, row[record_column_at(members, "user_id")].bytes,
                       row[record_column_at(members, "level")].number,
                       row[record_column_at(members, "created")].number);
        }
        if (r.kind == RECORD_SESSION)
            TRY(session_put(e, &r, ++n, line));
        else if (r.kind == RECORD_GONE)
            n++;
    }
    return j->user ? RAMET_OK : holds_put(e);
}

/* -------------------------------------------------------------- tree and branches */

/* A sandbox is its owner's; a new one belongs to who owns the tree. */
static void sandbox_restore(ending *e)
{
    import_job *j = e->j;
    if (j->user || !j->t.sandbox[0])
        return;
    db_stmt *q = db_query(e->tx->db, Q_import_sandbox);
    q_text(q, 1, j->t.sandbox);
    q_int(q, 2, j->t.tree);
    q_int(q, 3, j->t.created);
    q_run(q);
}

static void tree_put(ending *e)
{
    const copy_table *table = &copy_tables[COPY_T_tree];
    import_tree *t = &e->j->t;
    copy_cell row[RECORD_COLUMNS];
    memset(row, 0, sizeof row);
    db_stmt *q = db_query(e->tx->db, Q_copy_tree_cut);
    q_int(q, 1, t->tree);
    q_run(q);
    CELL("tree").number = t->tree;
    CELL("id").bytes = t->id;
    for (int64_t i = 0; i < t->have_sessions; i++)
        if (!t->sessions[i].parent)
            CELL("root").number = t->sessions[i].no;
    CELL("created").number = t->created;
    CELL("sandbox").bytes = e->j->user ? "" : t->sandbox;
    import_row_add(e->tx, COPY_T_tree, row);
    sandbox_restore(e);
}

static void branches_put(ending *e)
{
    import_tree *t = &e->j->t;
    for (int64_t i = 0; i < t->have_branches; i++) {
        import_branch *b = &t->branches[i];
        const branch_meta *m = &b->row.meta;
        /* One without entries has not been looked at yet. */
        if (b->parent && b->len == b->base) {
            const import_branch *p = &t->branches[b->parent - 1];
            b->row.delta = delta_before_on(e->tx, &p->row.meta, p->row.delta, b->base);
        }
        b->row.overlay = b->overlay; /* numbers of overlays are those of the file */
        import_branch_update(e->tx, b);
        if (b->len > b->base)
            event_add(e->tx, t->tree, m->session, RAMET_EVENT_APPENDED, KEY(m->id, b->base),
                      b->len - b->base);
    }
}

/* ------------------------------------------------------------------------- check */

static bool no_content(void *arg, int64_t branch)
{
    (void)arg;
    (void)branch;
    return false;
}

static ramet_status tree_check(ending *e)
{
    import_job *j = e->j;
    ramet_fsck_out out = {0};
    char what[300];
    arena *of_tree = arena_new(), *of_entry = arena_new();
    fsck f = {.tx = *e->tx, .entry = of_entry, .out = &out, .tree = j->t.tree};
    f.tx.arena = of_tree;
    f.wanted = no_content;
    fsck_tree(&f);
    bool bad = out.n_all > 0;
    snprintf(what, sizeof what, "%s", f.faults.n ? f.faults.items[0].what : "it is damaged");
    arena_free(of_tree);
    arena_free(of_entry);
    TRY(txn_status(e->tx));
    return bad ? import_damaged(j, j->t.line, "the tree does not fit together: %s", what)
               : RAMET_OK;
}

static ramet_status end_do(ending *e)
{
    import_job *j = e->j;
    for (int64_t i = 0; i < j->t.have_branches; i++)
        j->t.branches[i].live = j->t.branches[i].last = false; /* it may run twice */
    if (j->user)
        member_put(e, j->user, RAMET_OWNER, j->t.created);
    TRY(sessions_put(e));
    tree_put(e);
    branches_put(e);
    import_lock(e->tx, j->t.tree, NULL);
    TRY(txn_status(e->tx));
    TRY(tree_check(e));
    return txn_status(e->tx);
}

static ramet_status end_run(txn *tx, void *arg)
{
    ending *e = arg;
    txn own = *tx;
    own.arena = e->j->scratch;
    arena_reset(e->j->scratch);
    e->tx = &own;
    ramet_status st = end_do(e);
    tx->event = own.event; /* wakes the readers that wait for events */
    return st;
}

ramet_status import_tree_end(import_job *j, const import_mark *m)
{
    ending e = {.j = j, .mark = m};
    reader_init(&e.in, j->in.fd, j->in.most);
    ramet_status st = txn_write(j->call, end_run, &e);
    reader_release(&e.in);
    if (st != RAMET_OK)
        return st;
    j->out->trees_added++;
    j->out->sessions_added += j->t.have_full;
    j->out->entries_added += j->t.n_entries;
    return RAMET_OK;
}
