/* SPDX-License-Identifier: Apache-2.0
 *
 * In the first pass of an import: how the sessions, branches, moves, records, notes and values of a
 * tree fit together (M1 in import.h). fsck's own checks run on the numbers of the file, so that a
 * file which they would refuse is refused before anything was written.
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/model/reach.h"
#include "core/upkeep/fsck.h"

#include <string.h>

typedef struct fit {
    import_job *j;
    fsck fsck;
    ramet_fsck_out out;
    import_reader in; /* runs, then moves */
    arena *line;      /* of the row that comes next: */
    record_kind kind; /* RECORD_UNKNOWN: neither a run nor a move */
    copy_cell row[RECORD_COLUMNS];
    int64_t session, row_line;
} fit;

/* ------------------------------------------------------------------- the model */

static void session_row(fit *x, int64_t i)
{
    const import_session *s = &x->j->t.sessions[i];
    session_full *row = &x->fsck.sessions[i].row;
    row->no = i + 1;
    row->id = s->id;
    row->parent = s->parent;
    row->depth = s->depth;
    row->created = s->created;
    row->purging = s->gone ? 2 : 0;
    row->type = s->type;
    row->head = s->head;
    row->adk = s->adk;
    row->first = s->first;
    row->first_adk = s->first_adk;
    row->undo = s->undo;
    row->redo = s->redo;
    row->moves = s->moves;
    row->seal = session_seal(x->j->call->hasher, row);
}

static void branch_row_of(fit *x, int64_t i)
{
    const import_branch *b = &x->j->t.branches[i];
    fsck_branch *out = &x->fsck.branches[i];
    fsck_session *of = &x->fsck.sessions[b->session - 1];
    *out = (fsck_branch){.row = b->row, .of = of, .recorded = b->base};
    out->row.live = i + 1 == of->row.head || i + 1 == of->row.adk;
    out->sane = branch_sane(&out->row);
    out->removed = b->note.state >= NOTE_TAKING;
    of->has_removed = of->has_removed || out->removed;
    if (out->sane)
        of->entries[b->log] += b->len - b->base;
}

/* Rows as the second pass writes them, with the numbers of the file. */
static void model_load(fit *x, const size_t *order)
{
    import_job *j = x->j;
    import_tree *t = &j->t;
    fsck *f = &x->fsck;
    f->n_sessions = (size_t)t->have_sessions;
    f->n_branches = (size_t)t->have_branches;
    f->sessions = arena_array(j->tree, f->n_sessions, sizeof *f->sessions);
    f->branches = arena_array(j->tree, f->n_branches, sizeof *f->branches);
    for (int64_t i = 0; i < t->have_branches; i++) {
        import_branch *b = &t->branches[i];
        import_branch_number(b, 0, i + 1, b->session);
        b->row.len = b->len;
        b->row.overlay = b->overlay;
    }
    import_lineage(t, order);
    for (int64_t i = 0; i < t->have_sessions; i++)
        session_row(x, i);
    for (int64_t i = 0; i < t->have_branches; i++)
        branch_row_of(x, i);
}

/* The line of the first fault, unless the caller knows a better one. */
static ramet_status faults_tell(fit *x, int64_t line)
{
    const import_tree *t = &x->j->t;
    if (!x->out.n_all)
        return RAMET_OK;
    const ramet_fault *first = &x->fsck.faults.items[0];
    if (!line && first->branch > 0 && first->branch <= t->have_branches)
        line = t->branches[first->branch - 1].line;
    for (int64_t i = 0; !line && first->session && i < t->have_sessions; i++)
        if (t->sessions[i].id && strcmp(t->sessions[i].id, first->session) == 0)
            line = t->sessions[i].line;
    return import_damaged(x->j, line ? line : t->line, "the tree does not fit together: %s",
                          first->what);
}

static ramet_status model_check(fit *x)
{
    import_job *j = x->j;
    int64_t root = 0;
    for (int64_t i = 0; i < j->t.have_sessions; i++) {
        const import_session *s = &j->t.sessions[i];
        int64_t merged_into = s->merged_into;
        root = s->parent ? root : i + 1;
        TRY(import_session_ref(j, s->line, false, false, &merged_into));
    }
    fsck_model(&x->fsck, root);
    return faults_tell(x, 0);
}

/* ------------------------------------------------------------ records and moves */

static ramet_status row_next(fit *x)
{
    record r;
    arena_reset(x->line);
    x->row_line = x->in.line;
    TRY(import_next(x->j, &x->in, x->line, &r));
    x->kind = r.kind == RECORD_RUN || r.kind == RECORD_MOVE ? r.kind : RECORD_UNKNOWN;
    if (x->kind == RECORD_UNKNOWN)
        return RAMET_OK;
    record_row(&r, x->row);
    x->session =
        x->row[record_column_at(&copy_tables[record_defs[r.kind].table], "session")].number;
    return RAMET_OK;
}

#define CELL(table, name) x->row[record_column_at(&copy_tables[COPY_T_##table], name)].number

static ramet_status record_fits(fit *x, int64_t session)
{
    fsck_record k;
    const fsck_session *s = &x->fsck.sessions[session - 1];
    fsck_record_begin(&k);
    while (x->kind == RECORD_RUN && x->session == session) {
        fsck_run r = {.rec = CELL(run, "rec"), .key = CELL(run, "k"), .log = (int)CELL(run, "log")};
        if (!fsck_record_add(&x->fsck, s, &k, &r)) {
            fsck_record_end(&x->fsck, s, &k);
            return faults_tell(x, x->row_line);
        }
        TRY(row_next(x));
    }
    fsck_record_end(&x->fsck, s, &k);
    return faults_tell(x, 0);
}

static ramet_status moves_fit(fit *x, int64_t session, arena *kept)
{
    fsck_moves l;
    const fsck_session *s = &x->fsck.sessions[session - 1];
    fsck_moves_begin(&x->fsck, s, kept, &l);
    while (x->kind == RECORD_MOVE && x->session == session) {
        fsck_move m = {.seq = CELL(move, "seq"),
                       .kind = CELL(move, "kind"),
                       .from = CELL(move, "f"),
                       .to = CELL(move, "t"),
                       .from_adk = CELL(move, "fa"),
                       .to_adk = CELL(move, "ta"),
                       .undo_under = CELL(move, "undo_under"),
                       .redo_under = CELL(move, "redo_under"),
                       .at = CELL(move, "at")};
        fsck_moves_add(&x->fsck, s, &l, &m);
        TRY(faults_tell(x, x->row_line));
        TRY(row_next(x));
    }
    fsck_moves_end(&x->fsck, s, &l);
    return faults_tell(x, 0);
}

/* Both come session by session (key_check() in import_check.c). */
static ramet_status logs_check(fit *x)
{
    import_tree *t = &x->j->t;
    TRY(row_next(x));
    for (int64_t n = 1; n <= t->have_sessions; n++)
        if (!t->sessions[n - 1].gone)
            TRY(record_fits(x, n));
    for (int64_t n = 1; n <= t->have_sessions; n++) {
        arena *kept = arena_new();
        ramet_status st = t->sessions[n - 1].gone ? RAMET_OK : moves_fit(x, n, kept);
        arena_free(kept);
        TRY(st);
    }
    for (size_t i = 0; i < x->fsck.n_branches; i++) {
        fsck_branch *b = &x->fsck.branches[i];
        b->row.run = b->last; /* the second pass marks it so */
        fsck_recorded(&x->fsck, b);
    }
    return faults_tell(x, 0);
}

/* ------------------------------------------------------------- notes and values */

static void notes_check(fit *x)
{
    import_tree *t = &x->j->t;
    reach_tree r = {.n_sessions = (size_t)t->have_sessions, .n_branches = (size_t)t->have_branches};
    r.sessions = arena_array(x->j->tree, r.n_sessions, sizeof *r.sessions);
    r.branches = arena_array(x->j->tree, r.n_branches, sizeof *r.branches);
    for (size_t i = 0; i < r.n_sessions; i++) {
        const import_session *s = &t->sessions[i];
        r.sessions[i] = (reach_session){.no = (int64_t)i + 1,
                                        .parent = s->parent,
                                        .depth = s->depth,
                                        .first = s->first,
                                        .first_adk = s->first_adk,
                                        .purging = s->gone ? 2 : 0};
    }
    for (size_t i = 0; i < r.n_branches; i++) {
        import_branch *b = &t->branches[i];
        r.branches[i] = (reach_branch){.id = (int64_t)i + 1,
                                       .session = b->session,
                                       .parent = b->parent,
                                       .base = b->base,
                                       .len = b->len,
                                       .log = b->log,
                                       .note = b->note.branch ? &b->note : NULL,
                                       .of = &r.sessions[b->session - 1]};
    }
    reach_sort(x->j->tree, &r);
    fsck_notes_of(&x->fsck, &r);
}

static void values_check(fit *x)
{
    import_tree *t = &x->j->t;
    VEC(fsck_fill) v = {0};
    for (int64_t i = 0; i < t->have_sessions; i++) {
        const import_session *s = &t->sessions[i];
        fsck_fill one = {.session = i + 1, .len = {s->fill_len[0], s->fill_len[1]}};
        if (s->has_values)
            VEC_PUSH(x->j->tree, &v, one);
    }
    fsck_values_of(&x->fsck, v.items, v.n);
}

ramet_status import_fit(import_job *j, const size_t *order, int64_t offset, int64_t line)
{
    fit x = {.j = j, .line = arena_new()};
    x.fsck = (fsck){.tx = {.call = j->call, .arena = j->tree}, .out = &x.out};
    model_load(&x, order);
    reader_init(&x.in, j->in.fd, j->in.most);
    reader_seek(&x.in, offset, line);
    ramet_status st = model_check(&x);
    if (st == RAMET_OK)
        st = logs_check(&x);
    if (st == RAMET_OK) {
        notes_check(&x);
        values_check(&x);
        st = faults_tell(&x, 0);
    }
    reader_release(&x.in);
    arena_free(x.line);
    return st;
}
