/* SPDX-License-Identifier: Apache-2.0
 *
 * The part of store/search/search_index.h that is common to both indexes, and the calls into the
 * one in use. Their tables have different names, hence two texts for some of the statements
 * (store/sql/search_sql.h, postgres_sql.h).
 */
#include "store/search/search_index_internal.h"

#include <stdio.h>

void fts_close(fts *f)
{
    if (!f)
        return;
    tokenizer_free(f->cut);
    f->kind->close(f);
}

db *fts_db(fts *f)
{
    return f->db;
}

ramet_status fts_begin_write(fts *f)
{
    return f->kind->begin_write(f);
}

ramet_status fts_reset(fts *f)
{
    return f->kind->reset(f);
}

/* Numbers of the state are incremented: there must be room for that. */
#define STATE_MAX (INT64_MAX / 4)

void fts_state_get(fts *f, fts_state *s)
{
    *s = (fts_state){0};
    db_stmt *q = db_query(f->db, Q_fts_state_get);
    if (q_row(q)) {
        const char *print = q_col_text(q, 6);
        s->mark = q_col_range(q, 0, 0, STATE_MAX, "state.mark");
        s->done = q_col_range(q, 1, 0, STATE_MAX, "state.done");
        s->scan_tree = q_col_int(q, 2);
        s->scan = q_col_int(q, 3);
        s->bytes = q_col_range(q, 4, 0, STATE_MAX, "state.bytes");
        s->top = q_col_range(q, 5, 0, STATE_MAX, "state.top");
        snprintf(s->print, sizeof s->print, "%s", print ? print : "");
    } else {
        db_fail(f->db, RAMET_DAMAGED, "the index has lost its state");
    }
    q_end(q);
}

void fts_state_set(fts *f, const fts_state *s)
{
    db_stmt *q = db_query(f->db, Q_fts_state_set);
    q_int(q, 1, s->mark);
    q_int(q, 2, s->done);
    q_int(q, 3, s->scan_tree);
    q_int(q, 4, s->scan);
    q_int(q, 5, s->bytes);
    q_int(q, 6, s->top);
    q_text(q, 7, s->print);
    q_run(q);
}

void fts_clear(fts *f)
{
    f->kind->clear(f);
    q_run(db_query(f->db, Q_fts_clear_span));
    q_run(db_query(f->db, Q_fts_clear_tree));
    fts_state_set(f, &(fts_state){0});
}

const char *fts_whole(arena *a, const char *text, const char *given)
{
    return given ? arena_printf(a, "%s\n%s", text, given) : text;
}

bool fts_add(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
             const char *given)
{
    return f->kind->add(f, tmp, d, owner, text, given);
}

void fts_forget(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text)
{
    f->kind->forget(f, tmp, tree, k, text);
}

void fts_span_add(fts *f, int64_t block, int64_t lo, int64_t hi)
{
    db_stmt *q = db_query(f->db, Q_fts_span_add);
    q_int(q, 1, block);
    q_int(q, 2, lo);
    q_int(q, 3, hi);
    q_run(q);
}

int64_t fts_owner(fts *f, const char *name, bool make)
{
    return f->kind->owner(f, name, make);
}

int64_t fts_tree_owner(fts *f, int64_t tree)
{
    db_stmt *q = db_query(f->db, Q_fts_tree_get);
    q_int(q, 1, tree);
    int64_t owner = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return owner;
}

void fts_tree_add(fts *f, int64_t tree, int64_t owner)
{
    db_stmt *q = db_query(f->db, Q_fts_tree_add);
    q_int(q, 1, tree);
    q_int(q, 2, owner);
    q_run(q);
}

void fts_tidy(fts *f, int64_t from, int64_t upto)
{
    if (f->kind->tidy)
        f->kind->tidy(f, from, upto);
}

const fts_window *fts_window_of(const fts *f)
{
    return &f->kind->window;
}

void fts_find(fts *f, fts_want *w, int64_t low, int64_t high)
{
    f->kind->find(f, w, low, high);
}

bool fts_next(fts *f, fts_doc *d)
{
    return f->kind->next(f, d);
}

void fts_end(fts *f)
{
    f->kind->end(f);
}
