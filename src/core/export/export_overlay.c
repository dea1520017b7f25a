/* SPDX-License-Identifier: Apache-2.0
 *
 * What beside the history belongs to a tree as records: notes on branches, overlays, what the
 * agents of turns were sent, and where copies came from (export.h).
 *
 * A set of overlays is a chain of rows. Those of exported sessions are in the file, each under a
 * number of its own. One that names an entry which is not in the file (it was set in another
 * session, or on a path that was not chosen) is emptied: it keeps its place in the chain, and
 * nothing else.
 */
#include "core/export/export.h"

#include "core/model/copied.h"
#include "core/model/key.h"
#include "core/view/overlay_set.h"
#include "core/pack.h"
#include "core/turn/prompt.h"

#include <stdlib.h>

/* -------------------------------------------------------------------- overlays */

typedef struct overlay_take {
    export_tree *tree;
    VEC(export_overlay) list;
    size_t no, prev, prev2, k; /* columns */
} overlay_take;

static bool overlay_each(void *arg, const copy_table *table, copy_cell *row)
{
    overlay_take *take = arg;
    export_overlay o = {.no = row[take->no].number,
                        .prev = row[take->prev].number,
                        .prev2 = row[take->prev2].number,
                        .k = row[take->k].number};
    (void)table;
    VEC_PUSH(take->tree->arena, &take->list, o);
    return true;
}

static int overlay_order(const void *a, const void *b)
{
    int64_t x = ((const export_overlay *)a)->no, y = ((const export_overlay *)b)->no;
    return x < y ? -1 : x > y;
}

static export_overlay *overlay_find(const export_tree *t, int64_t no)
{
    export_overlay key = {.no = no};
    return no && t->n_overlays
               ? bsearch(&key, t->overlays, t->n_overlays, sizeof key, overlay_order)
               : NULL;
}

static void overlay_need(const export_tree *t, int64_t no)
{
    export_overlay *o = overlay_find(t, no);
    if (o)
        o->n = 1; /* the number comes later */
}

void export_overlays_load(export_job *j, export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_overlay];
    overlay_take take = {.tree = t,
                         .no = record_column_at(table, "no"),
                         .prev = record_column_at(table, "prev"),
                         .prev2 = record_column_at(table, "prev2"),
                         .k = record_column_at(table, "k")};
    export_rows(t->tx, j->page, table, t->tree, NULL, overlay_each, &take);
    t->overlays = take.list.items;
    t->n_overlays = take.list.n;
    for (size_t i = 0; i < t->n_branches; i++)
        if (t->branches[i].n)
            overlay_need(t, export_branch_overlay(t, &t->branches[i]));
    /* What a row leads to is older. */
    for (size_t i = t->n_overlays; i-- > 0;)
        if (t->overlays[i].n) {
            overlay_need(t, t->overlays[i].prev);
            overlay_need(t, t->overlays[i].prev2);
        }
    int64_t n = 0;
    for (size_t i = 0; i < t->n_overlays; i++) {
        export_overlay *o = &t->overlays[i];
        int64_t k = o->k;
        if (o->n)
            o->n = ++n;
        o->empty = k && !export_key_number(t, &k);
    }
}

int64_t export_overlay_at(const export_tree *t, int64_t no)
{
    const export_overlay *o = overlay_find(t, no);
    return o ? o->n : 0;
}

int64_t export_branch_overlay(const export_tree *t, const export_branch *b)
{
    const export_session *s = export_session_at(t, b->row.meta.session);
    return s && s->full ? b->row.overlay : 0;
}

/* `also` and `calls`: what is hidden along with the entry, as far as it is in the file. */
static void ties_write(const row_writer *w, int64_t no, const char *ties)
{
    json_writer *to = &w->job->w;
    json_doc d;
    if (!json_parse(w->job->entry, ties, strlen(ties), STORED_DEPTH, &d, NULL)) {
        db_fail(w->tree->tx->db, RAMET_DAMAGED, "overlay o%lld is damaged", (long long)no);
        return;
    }
    const json_node *also = json_get(&d, d.nodes, "also"), *calls = json_get(&d, d.nodes, "calls");
    jw_key(to, "also");
    jw_array(to);
    for (const json_node *v = json_first(&d, also); v; v = json_next(&d, also, v)) {
        int64_t k;
        if (!json_int(&d, v, &k) || !export_key_number(w->tree, &k))
            continue;
        jw_array(to);
        jw_int(to, KEY_BRANCH(k));
        jw_int(to, KEY_POS(k));
        jw_end_array(to);
    }
    jw_end_array(to);
    jw_key(to, "calls");
    jw_array(to);
    for (const json_node *v = json_first(&d, calls); v; v = json_next(&d, calls, v))
        jw_str(to, json_text(w->job->entry, &d, v));
    jw_end_array(to);
    arena_reset(w->job->entry);
}

static bool overlay_write(void *arg, const copy_table *table, copy_cell *row)
{
#define CELL(name) row[record_column_at(table, name)]
    row_writer *w = arg;
    int64_t no = CELL("no").number;
    const export_overlay *o = overlay_find(w->tree, no);
    const copy_cell ties = CELL("ties");
    if (!o || !o->n)
        return true;
    if (o->empty) {
        CELL("action").number = OVERLAY_REMOVE;
        CELL("k").number = CELL("removes").number = CELL("at").number = 0;
        CELL("text").null = CELL("who").null = true;
    }
    if (!export_row_numbers(w, row))
        return true;
    CELL("no").number = o->n;
    record_open(&w->job->w, RECORD_OVERLAY);
    record_columns(&w->job->w, RECORD_OVERLAY, row);
    if (!ties.null && !o->empty)
        ties_write(w, no, ties.bytes);
    return export_line(w->job);
#undef CELL
}

void export_overlays(export_job *j, export_tree *t)
{
    row_writer w = {j, t, RECORD_OVERLAY};
    if (t->n_overlays)
        export_rows(t->tx, j->page, &copy_tables[COPY_T_overlay], t->tree, NULL, overlay_write, &w);
}

/* --------------------------------------------------------------------- prompts */

/* Of a turn that is in the file: it has ended, on a branch that is there so far. */
static bool prompt_wanted(const row_writer *w, const copy_table *table, const copy_cell *row)
{
    const export_branch *b =
        export_branch_at(w->tree, row[record_column_at(table, "branch")].number);
    turn_row turn;
    txn look = *w->tree->tx;
    look.arena = w->job->entry;
    return b && b->n && row[record_column_at(table, "len")].number <= b->len &&
           turn_load(&look, row[record_column_at(table, "turn")].bytes, &turn) &&
           turn.shown.status != RAMET_TURN_RUNNING;
}

static bool prompt_each(void *arg, const copy_table *table, copy_cell *row)
{
    row_writer *w = arg;
    const copy_cell *packed = &row[record_column_at(table, "packed")];
    const char *data = NULL;
    size_t n;
    bool go_on = true;
    if (prompt_wanted(w, table, row) && export_row_numbers(w, row)) {
        if (!unpack_bytes(w->job->entry, packed->bytes, packed->n, &data, &n) ||
            strlen(data) != n) {
            db_fail(w->tree->tx->db, RAMET_DAMAGED, "what the agent of turn %s was sent is damaged",
                    row[record_column_at(table, "turn")].bytes);
            return false;
        }
        record_open(&w->job->w, RECORD_PROMPT);
        record_columns(&w->job->w, RECORD_PROMPT, row);
        record_json(&w->job->w, "data", data);
        go_on = export_line(w->job);
    }
    arena_reset(w->job->entry);
    return go_on;
}

void export_prompts(export_job *j, export_tree *t)
{
    row_writer w = {j, t, RECORD_PROMPT};
    export_rows(t->tx, j->page, &copy_tables[COPY_T_prompt], t->tree, NULL, prompt_each, &w);
}

/* --------------------------------------------------------------------- origins */

/* An origin of this tree by its numbers in the file, one of another tree by its ids; one that is
 * not in the file only says that there was one. */
static void origin_write(export_job *j, const export_tree *t, const copied_from *from)
{
    json_writer *w = &j->w;
    const char *session;
    int64_t k = from->key;
    jw_object(w);
    bool named = from->tree && export_session_named(j, t, from->tree, from->session, &session);
    if (named && from->tree == t->tree && export_key_number(t, &k)) {
        jw_kint(w, "session", export_session_at(t, from->session)->n);
        jw_kint(w, "branch", KEY_BRANCH(k));
        jw_kint(w, "position", KEY_POS(k));
    } else if (named && from->tree != t->tree) {
        txn look = *t->tx;
        look.arena = j->entry;
        if (path_mark(&look, from->tree, from->key)) {
            char hex[2 * HASH_LEN + 1];
            hex_encode(look.mark.hash, HASH_LEN, hex);
            jw_kstr(w, "session_id", session);
            jw_kstr(w, "entry_id", look.mark.id);
            jw_kstr(w, "prefix_hash", hex);
        }
    }
    if (from->span != 1)
        jw_kint(w, "span", from->span);
    jw_end_object(w);
}

void export_origins(export_job *j, const export_tree *t, const ramet_entry *e)
{
    VEC(copied_from) list = {0};
    db_stmt *q = db_query(t->tx->db, Q_copied_of);
    q_int(q, 1, t->tree);
    q_int(q, 2, KEY(e->branch, e->position));
    while (q_row(q)) {
        copied_from from = {.tree = q_col_int(q, 0),
                            .session = q_col_int(q, 1),
                            .key = q_col_int(q, 2),
                            .span = q_col_int(q, 3)};
        VEC_PUSH(j->entry, &list, from);
    }
    q_end(q);
    jw_key(&j->w, "origins");
    jw_array(&j->w);
    for (size_t i = 0; i < list.n; i++)
        origin_write(j, t, &list.items[i]);
    jw_end_array(&j->w);
}
