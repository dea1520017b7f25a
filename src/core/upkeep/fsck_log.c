/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck of a session's head log (M2 in core/change/move.c) and of its record. Both are fed row by
 * row: fsck reads the rows from the store, the first pass of an import from a file.
 */
#include "core/upkeep/fsck.h"

#include "core/model/key.h"

fsck_location fsck_at_session(const fsck_session *s)
{
    return (fsck_location){.session = s->row.id, FSCK_NOWHERE};
}

bool fsck_has_branch(const fsck *f, const fsck_session *s, int64_t id, int log)
{
    const fsck_branch *b = fsck_branch_at(f, id);
    return b && b->row.meta.session == s->row.no && b->row.meta.log == log;
}

/* ---------------------------------------------------------------------- moves */

/* Whether the row can follow the moves before it; updates the tops. */
static bool move_follows(fsck_moves *l, const fsck_move *m)
{
    int64_t top = m->kind == RAMET_MOVE_UNDO ? l->undo : l->redo, seq = (int64_t)l->rows.n + 1;
    bool fits = m->from == (l->rows.n ? l->rows.items[l->rows.n - 1].to : l->first);
    if (m->kind != RAMET_MOVE_UNDO && m->kind != RAMET_MOVE_REDO) {
        fits = fits && m->undo_under == l->undo && m->redo_under == 0;
        l->undo = seq;
        l->redo = 0;
        return fits;
    }
    if (!top)
        return false;
    const fsck_move *back = &l->rows.items[top - 1];
    fits = fits && m->to == back->from;
    if (m->kind == RAMET_MOVE_UNDO) {
        fits = fits && m->redo_under == l->redo && m->undo_under == 0;
        l->undo = back->undo_under;
        l->redo = seq;
    } else {
        fits = fits && m->undo_under == l->undo && m->redo_under == 0;
        l->undo = seq;
        l->redo = back->redo_under;
    }
    return fits && l->undo >= 0 && l->undo <= seq && l->redo >= 0 && l->redo <= seq;
}

static void branch_name(const fsck *f, int64_t id)
{
    fsck_branch *b = fsck_branch_at(f, id);
    if (b)
        b->named = true;
}

/* The kind of a move determines the type of the branch that it made; a sync may make any of
 * them. */
static bool type_fits(int64_t kind, int type)
{
    if (kind == RAMET_MOVE_SYNC)
        return type >= RAMET_EXPLICIT && type <= RAMET_AUTO_REGENERATE;
    return type == (kind == RAMET_MOVE_EDIT         ? RAMET_AUTO_EDIT
                    : kind == RAMET_MOVE_REGENERATE ? RAMET_AUTO_REGENERATE
                                                    : RAMET_EXPLICIT);
}

/* The first move to a branch created it; so branches are ordered as their moves. */
static const char *made_fault(fsck_moves *l, const fsck_move *m, const fsck_branch *from,
                              const fsck_branch *b)
{
    const fsck_branch *before = l->newest;
    if (m->kind == RAMET_MOVE_UNDO || m->kind == RAMET_MOVE_REDO || m->kind == RAMET_MOVE_SWITCH)
        return "leads to a branch that it cannot have made";
    if (!type_fits(m->kind, b->row.meta.type))
        return "made a branch of another type";
    if (b->row.created != m->at)
        return "made a branch of another time";
    if (b->row.meta.log != RAMET_LOG_MAIN)
        return NULL;
    /* A merge may bring those of its source along, and gc removes those of pruned branches. */
    if (from && m->kind != RAMET_MOVE_MERGE && !from->removed && !b->removed &&
        (b->row.overlay == from->row.overlay) != (m->kind != RAMET_MOVE_OVERLAY))
        return "made a branch with other overlays";
    /* A merge may bring more entries of the template along. */
    if (from && m->kind != RAMET_MOVE_MERGE && !from->removed && !b->removed &&
        b->row.filled !=
            (from->row.filled < b->row.meta.base ? from->row.filled : b->row.meta.base))
        return "made a branch that is filled otherwise";
    l->newest = b;
    if (before && (b->row.created < before->row.created ||
                   (b->row.created == before->row.created && b->row.meta.id < before->row.meta.id)))
        return "made a branch that is older than the one before it";
    return NULL;
}

/* Checks the destination of a move in each log. An adk log begins without a move. */
static void made_check(fsck *f, const fsck_session *s, fsck_moves *l, const fsck_move *m)
{
    const int64_t made[] = {m->to, m->to_adk};
    branch_name(f, m->from);
    branch_name(f, m->from_adk);
    for (size_t i = 0; i < 2; i++) {
        const fsck_branch *to = fsck_branch_at(f, made[i]);
        const char *fault =
            to && !to->named ? made_fault(l, m, fsck_branch_at(f, m->from), to) : NULL;
        if (fault)
            fsck_fault(f, fsck_at_session(s), "move %lld %s", (long long)m->seq, fault);
        branch_name(f, made[i]);
    }
}

void fsck_moves_begin(fsck *f, const fsck_session *s, arena *a, fsck_moves *l)
{
    *l = (fsck_moves){.arena = a, .first = s->row.first, .newest = fsck_branch_at(f, s->row.first)};
    if (l->newest &&
        (l->newest->row.meta.type != s->row.type || l->newest->row.created != s->row.created))
        fsck_fault(f, fsck_in(l->newest, -1, NULL), "it was not made with its session");
    branch_name(f, s->row.first);
    branch_name(f, s->row.first_adk);
}

bool fsck_moves_add(fsck *f, const fsck_session *s, fsck_moves *l, const fsck_move *m)
{
    const int64_t names[] = {m->from, m->to, m->from_adk, m->to_adk};
    if (m->seq != (int64_t)l->rows.n + 1) {
        fsck_fault(f, fsck_at_session(s), "move %lld of its head log is missing",
                   (long long)l->rows.n + 1);
        return false;
    }
    if (m->kind < RAMET_MOVE_REWIND || m->kind > RAMET_MOVE_OVERLAY) {
        fsck_fault(f, fsck_at_session(s), "move %lld is of no known kind", (long long)m->seq);
        return false;
    }
    for (size_t i = 0; i < 4; i++) {
        bool adk = i > 1;
        if ((names[i] || !adk) &&
            !fsck_has_branch(f, s, names[i], adk ? RAMET_LOG_ADK : RAMET_LOG_MAIN))
            fsck_fault(f, fsck_at_session(s), "move %lld names branch b%lld, which is missing",
                       (long long)m->seq, (long long)names[i]);
    }
    made_check(f, s, l, m);
    if (!move_follows(l, m)) {
        fsck_fault(f, fsck_at_session(s), "move %lld does not follow from the moves before it",
                   (long long)m->seq);
        return false;
    }
    VEC_PUSH(l->arena, &l->rows, *m);
    return true;
}

void fsck_moves_end(fsck *f, const fsck_session *s, const fsck_moves *l)
{
    branch_name(f, s->row.head);
    branch_name(f, s->row.adk);
    size_t n = l->rows.n;
    if ((int64_t)n != s->row.moves)
        fsck_fault(f, fsck_at_session(s), "its head log has %lld moves and should have %lld",
                   (long long)n, (long long)s->row.moves);
    else if (n && l->rows.items[n - 1].to != s->row.head)
        fsck_fault(f, fsck_at_session(s), "its head is not where its last move went");
    if (l->undo != s->row.undo || l->redo != s->row.redo)
        fsck_fault(f, fsck_at_session(s), "its undo or redo stack is wrong");
}

/* --------------------------------------------------------------------- record */

/* Checks a run of `n` entries: they must continue where the record left that branch. */
static bool run_take(fsck *f, const fsck_session *s, const fsck_run *r, int64_t n, bool last)
{
    fsck_branch *b = fsck_branch_at(f, KEY_BRANCH(r->key));
    if (!b || !b->sane || b->row.meta.session != s->row.no || b->row.meta.log != r->log)
        return false;
    if (n < (last ? 0 : 1) || b->recorded != KEY_POS(r->key) || n > b->row.len - b->recorded)
        return false;
    b->recorded += n;
    b->last = last;
    return true;
}

void fsck_record_begin(fsck_record *k)
{
    *k = (fsck_record){.good = true};
}

bool fsck_record_add(fsck *f, const fsck_session *s, fsck_record *k, const fsck_run *r)
{
    bool same = k->open && r->log == k->before.log;
    k->good = k->good && (r->log == RAMET_LOG_MAIN || r->log == RAMET_LOG_ADK) && r->rec >= 0 &&
              (same || r->rec == 0);
    if (k->good && k->open)
        k->good = run_take(f, s, &k->before,
                           (same ? r->rec : s->entries[k->before.log]) - k->before.rec, !same);
    k->before = *r;
    k->open = true;
    return k->good;
}

void fsck_record_end(fsck *f, const fsck_session *s, fsck_record *k)
{
    if (k->good && k->open)
        k->good = run_take(f, s, &k->before, s->entries[k->before.log] - k->before.rec, true);
    if (!k->good)
        fsck_fault(f, fsck_at_session(s), "its record does not follow its branches");
}
