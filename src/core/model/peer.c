/* SPDX-License-Identifier: Apache-2.0
 *
 * The peer of an entry of the adk log: the length of main when it was appended. A cut of main finds
 * its place in adk by it.
 *
 *   P1  Among the entries that one branch owns, the stored peer never falls.
 *   P2  Where a path goes from one branch to the next, it can: a move may keep events that arrived
 *       when main was longer than it is afterwards (the events that ADK repeats before each turn,
 *       or those of turns that ran at the same time). On such a path they belong to the main that
 *       the move left, so the least stored peer from an entry to the end of the path counts.
 *   P3  So a cut of main at n keeps adk up to the last entry whose stored peer is at most n.
 *
 * A cut looks at the first entry of each branch from the head back until one belongs to n, and then
 * searches that branch: O(branches after the cut + log length).
 */
#include "core/model/peer.h"

#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/txn.h"

static int64_t peer_stored(txn *tx, const branch_meta *owner, int64_t pos)
{
    db_stmt *q = db_query(tx->db, Q_entry_peer);
    q_int(q, 1, owner->tree);
    q_int(q, 2, KEY(owner->id, pos));
    int64_t peer = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return peer;
}

int64_t peer_new(txn *tx, const session_brief *s, const branch_row *b)
{
    branch_row head;
    branch_meta o;
    int64_t last = 0;
    bool is_own = false;
    if (b->meta.log != RAMET_LOG_ADK)
        return 0;
    if (b->len > 0 && path_owner(tx, &b->meta, b->len - 1, &o)) {
        last = peer_stored(tx, &o, b->len - 1);
        is_own = o.id == b->meta.id;
    }
    /* A turn may keep writing to a branch that is no longer the head: nothing tells then how long
     * its main is. */
    if (b->meta.id != s->adk || !branch_load(tx, s->tree, s->head, &head))
        return last;
    return is_own && last > head.len ? last : head.len;
}

int64_t peer_at(txn *tx, const branch_row *adk, int64_t pos)
{
    branch_meta o;
    int64_t least = INT64_MAX;
    for (int64_t end = adk->len; end > pos; end = o.base) {
        if (!path_owner(tx, &adk->meta, end - 1, &o))
            return 0;
        int64_t peer = peer_stored(tx, &o, o.base > pos ? o.base : pos);
        least = peer < least ? peer : least;
    }
    return least;
}

int64_t peer_cut(txn *tx, const branch_row *adk, int64_t main_len)
{
    branch_meta o;
    int64_t hi = adk->len;
    for (; hi > 0; hi = o.base) {
        if (!path_owner(tx, &adk->meta, hi - 1, &o))
            return 0;
        if (peer_stored(tx, &o, o.base) <= main_len)
            break;
    }
    if (hi == 0)
        return 0;
    int64_t lo = o.base + 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (peer_stored(tx, &o, mid) <= main_len)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
