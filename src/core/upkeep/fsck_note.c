/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck of what is noted about branches (N1 to N4 in core/model/branch_note.c).
 */
#include "core/upkeep/fsck.h"

#include "core/model/reach.h"

void fsck_notes_load(fsck *f)
{
    note_list notes;
    notes_of_tree(&f->tx, f->tree, &notes);
    for (size_t i = 0; i < notes.n; i++) {
        fsck_branch *b = fsck_branch_at(f, notes.items[i].branch);
        if (!b || notes.items[i].state < NOTE_TAKING)
            continue;
        b->removed = true;
        if (b->of)
            b->of->has_removed = true;
    }
}

/* A pruned branch is never a head, and no remaining path needs what was pruned of it (N2). */
void fsck_notes_of(fsck *f, reach_tree *t)
{
    for (size_t i = 0; i < t->n_sessions; i++)
        t->sessions[i].dead = t->sessions[i].purging != 0;
    for (size_t i = 0; i < t->n_branches; i++)
        t->branches[i].out = t->branches[i].note && t->branches[i].note->state != NOTE_KEPT;
    reach_find(t, NULL, NULL);
    for (size_t i = 0; i < t->n_branches; i++) {
        const reach_branch *b = &t->branches[i];
        const fsck_branch *row = fsck_branch_at(f, b->id);
        if (!b->out || b->of->dead || !row)
            continue;
        if (row->row.live)
            fsck_fault(f, fsck_in(row, -1, NULL), "it was pruned and is a head");
        else if (b->note->keep < b->need)
            fsck_fault(f, fsck_in(row, b->note->keep, NULL), "it was pruned, and a path needs it");
    }
}

void fsck_notes(fsck *f)
{
    reach_tree t;
    reach_load(&f->tx, f->tx.arena, f->tree, &t);
    if (db_status(f->tx.db) == RAMET_OK)
        fsck_notes_of(f, &t);
    else
        db_clear(f->tx.db); /* the branches are damaged, which was reported */
}
