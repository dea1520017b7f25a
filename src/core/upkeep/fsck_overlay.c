/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck of overlays (O1 to O3 in core/view/overlay_set.c), and of what agents were sent.
 */
#include "core/upkeep/fsck.h"

#include "core/view/overlay_set.h"
#include "core/turn/prompt.h"

#include <string.h>

typedef struct overlay_sum {
    int64_t no, size, bytes;
} overlay_sum;
typedef VEC(overlay_sum) overlay_sums;

/* Numbers rise. NULL: there is none. */
static const overlay_sum *overlay_at(const overlay_sums *v, int64_t no)
{
    size_t lo = 0, hi = v->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v->items[mid].no < no)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < v->n && v->items[lo].no == no ? &v->items[lo] : NULL;
}

/* O2 and O3 in overlay_set.c; reading the row has checked its seal. */
static bool overlay_fits(const overlay_sums *before, const overlay_row *r)
{
    const overlay_sum *p = overlay_at(before, r->prev), *p2 = overlay_at(before, r->prev2);
    int64_t own =
        (r->text ? (int64_t)strlen(r->text) : 0) + (r->ties ? (int64_t)strlen(r->ties) : 0);
    return (!r->prev || p) && (!r->prev2 || p2) &&
           r->size == 1 + (p ? p->size : 0) + (p2 ? p2->size : 0) &&
           r->bytes == own + (p ? p->bytes : 0) + (p2 ? p2->bytes : 0);
}

void fsck_overlays(fsck *f)
{
    overlay_sums v = {0};
    txn own = f->tx;
    own.arena = f->entry;
    db_stmt *q = db_query(f->tx.db, Q_overlay_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        overlay_row r;
        arena_reset(f->entry);
        bool read = overlay_row_from(&own, q, f->tree, &r);
        fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading an overlay");
        if (read && !overlay_fits(&v, &r))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE},
                       "overlay o%lld does not follow from those before it", (long long)r.no);
        overlay_sum sum = {r.no, r.size, r.bytes};
        VEC_PUSH(f->tx.arena, &v, sum);
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the overlays of a tree");
    for (size_t i = 0; i < f->n_branches; i++) {
        const branch_row *b = &f->branches[i].row;
        if (b->overlay && (b->meta.log != RAMET_LOG_MAIN || !overlay_at(&v, b->overlay)))
            fsck_fault(f, fsck_in(&f->branches[i], -1, NULL), "overlay o%lld is missing",
                       (long long)b->overlay);
    }
}

void fsck_prompts(fsck *f)
{
    txn own = f->tx;
    own.arena = f->entry;
    db_stmt *q = db_query(f->tx.db, Q_prompt_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        arena_reset(f->entry);
        const char *turn = q_keep_text(q, 0, f->entry);
        int64_t session = q_col_int(q, 1), branch = q_col_int(q, 2), len = q_col_int(q, 3);
        bool fits = false;
        for (size_t i = 0; i < f->n_branches; i++)
            fits = fits || (f->branches[i].row.meta.id == branch &&
                            f->branches[i].row.meta.session == session && len >= 0 &&
                            len <= f->branches[i].row.len);
        bool dying = false;
        for (size_t i = 0; i < f->n_sessions; i++)
            dying = dying || (f->sessions[i].row.no == session && f->sessions[i].row.purging);
        if ((!fits && !dying) || !prompt_data(&own, q, 4, 5))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE},
                       "what the agent of turn %s was sent is damaged", turn ? turn : "");
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading what agents were sent");
}
