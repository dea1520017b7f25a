/* SPDX-License-Identifier: Apache-2.0
 *
 * A pruned export as records: of each session only chosen paths, as if nothing else had ever
 * happened in it.
 *
 *   N1  Chosen branches are whole. Of the others of the session what the chosen ones share is left,
 *       and its first branch, which may be empty then: a session begins there.
 *   N2  The head log has the moves that made these branches, in their order, each with its kind,
 * time and reason; then a switch to the head, when that is not the last one. So undo leads back
 * from path to path. Where overlays were changed between two of them, by moves that are left out,
 * the second one changes them. N3  The record has the entries that are left, branch by branch. N4
 * The adk log is left out.
 */
#include "core/export/export.h"

#include "core/model/key.h"

static int64_t session_cell(const export_session *s, const char *column)
{
    return s->row[record_column_at(&copy_tables[COPY_T_session], column)].number;
}

bool export_prunes(const export_job *j)
{
    return j->in->path || j->in->n_branches;
}

bool export_chosen(const export_job *j, const export_session *s, const branch_row *b)
{
    if (b->meta.log != RAMET_LOG_MAIN)
        return false;
    for (size_t i = 0; i < j->in->n_branches; i++)
        if (j->in->branches[i] == b->meta.id)
            return true;
    return j->in->path && b->meta.id == session_cell(s, "head");
}

bool export_begins(const export_session *s, const branch_row *b)
{
    return s->full && b->meta.id == session_cell(s, "first");
}

/* The head, or the newest of the branches that were chosen. */
static const export_branch *pruned_head(const export_tree *t, const export_session *s)
{
    const export_branch *newest = NULL;
    for (size_t i = 0; i < t->n_branches; i++) {
        const export_branch *b = &t->branches[i];
        if (b->row.meta.session != s->access.no || !b->full)
            continue;
        newest = b;
        if (b->row.meta.id == session_cell(s, "head"))
            return b;
    }
    return newest ? newest : export_branch_at(t, session_cell(s, "first"));
}

/* Branches of the session that a move made, oldest first; how many. */
static int64_t moves_count(const export_tree *t, const export_session *s, int64_t *last)
{
    int64_t n = 0;
    *last = session_cell(s, "first");
    for (size_t i = 0; i < t->n_branches; i++) {
        const export_branch *b = &t->branches[i];
        if (b->n && b->row.meta.session == s->access.no && !export_begins(s, &b->row)) {
            n++;
            *last = b->row.meta.id;
        }
    }
    return n;
}

void export_pruned_session(const export_tree *t, const export_session *s, copy_cell *row)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    int64_t last, head = pruned_head(t, s)->row.meta.id, n = moves_count(t, s, &last);
    n += head != last;
    row[record_column_at(table, "head")].number = head;
    row[record_column_at(table, "adk")].number = 0;
    row[record_column_at(table, "first_adk")].number = 0;
    row[record_column_at(table, "undo")].number = n;
    row[record_column_at(table, "redo")].number = 0;
    row[record_column_at(table, "moves")].number = n;
}

void export_pruned_branch(const export_tree *t, const export_branch *b, int *type, int64_t *kind)
{
    if (!b->before)
        return;
    bool same = export_branch_overlay(t, b) == export_branch_overlay(t, b->before);
    if (!same)
        *type = RAMET_EXPLICIT;
    if (!same && *kind != RAMET_MOVE_MERGE)
        *kind = RAMET_MOVE_OVERLAY;
    else if (same && *kind == RAMET_MOVE_OVERLAY)
        *kind = RAMET_MOVE_REWIND;
}

typedef struct prune_writer {
    export_job *job;
    export_tree *tree;
    const export_session *session;
    int64_t seq, at; /* moves written; the branch that the last one led to */
    int64_t time;    /* of the last one */
} prune_writer;

static void move_put(prune_writer *p, copy_cell *row, int64_t to)
{
    const copy_table *table = &copy_tables[COPY_T_move];
    const export_tree *t = p->tree;
#define SET(name, value) row[record_column_at(table, name)].number = (value)
    SET("session", p->session->n);
    SET("seq", ++p->seq);
    SET("f", export_branch_at(t, p->at)->n);
    SET("t", export_branch_at(t, to)->n);
    SET("fa", 0);
    SET("ta", 0);
    SET("undo_under", p->seq - 1);
    SET("redo_under", 0);
#undef SET
    p->at = to;
    p->time = row[record_column_at(table, "at")].number;
    record_open(&p->job->w, RECORD_MOVE);
    record_columns(&p->job->w, RECORD_MOVE, row);
    export_line(p->job);
}

/* The move behind the last one of a session: to its head, when it did not end there. */
static void session_end(prune_writer *p)
{
    const copy_table *table = &copy_tables[COPY_T_move];
    copy_cell row[RECORD_COLUMNS] = {{0}};
    if (!p->session)
        return;
    int64_t head = pruned_head(p->tree, p->session)->row.meta.id;
    if (head == p->at)
        return;
    row[record_column_at(table, "kind")].number = RAMET_MOVE_SWITCH;
    row[record_column_at(table, "at")].number = p->time;
    row[record_column_at(table, "who")].null = true;
    row[record_column_at(table, "why")].bytes = "";
    move_put(p, row, head);
}

static bool move_each(void *arg, const copy_table *table, copy_cell *row)
{
    prune_writer *p = arg;
    const export_session *s =
        export_session_at(p->tree, row[record_column_at(table, "session")].number);
    int64_t to = row[record_column_at(table, "t")].number,
            at = row[record_column_at(table, "at")].number;
    const export_branch *b = export_branch_at(p->tree, to);
    if (!s || !s->full)
        return true;
    if (s != p->session) {
        session_end(p);
        *p = (prune_writer){.job = p->job,
                            .tree = p->tree,
                            .session = s,
                            .at = session_cell(s, "first"),
                            .time = s->created};
    }
    /* The one that made it: it has its time, and comes before all others that lead to it. */
    if (b && b->n && !export_begins(s, &b->row) && b->row.meta.session == s->access.no &&
        b->row.created == at && row[record_column_at(table, "kind")].number != RAMET_MOVE_SWITCH &&
        row[record_column_at(table, "kind")].number != RAMET_MOVE_UNDO &&
        row[record_column_at(table, "kind")].number != RAMET_MOVE_REDO) {
        int type = b->row.meta.type;
        export_pruned_branch(p->tree, b, &type, &row[record_column_at(table, "kind")].number);
        move_put(p, row, to);
    }
    return !p->job->stopped;
}

void export_pruned_moves(export_job *j, export_tree *t)
{
    prune_writer p = {.job = j, .tree = t};
    export_rows(t->tx, j->page, &copy_tables[COPY_T_move], t->tree, NULL, move_each, &p);
    session_end(&p);
}

void export_pruned_runs(export_job *j, const export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_run];
    for (size_t i = 0; i < t->n_sessions; i++) {
        const export_session *s = &t->sessions[i];
        int64_t done = 0;
        for (size_t k = 0; s->full && k < t->n_branches; k++) {
            const export_branch *b = &t->branches[k];
            copy_cell row[RECORD_COLUMNS] = {{0}};
            if (b->row.meta.session != s->access.no || !b->n || b->len == b->row.meta.base)
                continue;
            row[record_column_at(table, "session")].number = s->n;
            row[record_column_at(table, "rec")].number = done;
            row[record_column_at(table, "k")].number = KEY(b->n, b->row.meta.base);
            record_open(&j->w, RECORD_RUN);
            record_columns(&j->w, RECORD_RUN, row);
            export_line(j);
            done += b->len - b->row.meta.base;
        }
    }
}
