/* SPDX-License-Identifier: Apache-2.0
 *
 * Cuts before a named turn: main is cut at the question that began it, adk at its first event, in
 * whichever order the two arrived. A log that does not know the turn is cut at the position that
 * corresponds to the cut of the other log.
 */
#include "core/turn/turn_cut.h"

#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/change/log_rules.h"
#include "core/change/move.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

/* The length of main when an adk entry arrived, without trailing messages of the user that had no
 * answer by then: those belong to the turn itself. */
static int64_t main_position_of(txn *tx, const branch_row *main, const branch_row *adk, int64_t pos)
{
    branch_meta o;
    entry_kind kind;
    int64_t at = 0;
    if (!path_owner(tx, &adk->meta, pos, &o))
        return 0;
    db_stmt *q = db_query(tx->db, Q_entry_peer);
    q_int(q, 1, o.tree);
    q_int(q, 2, KEY(o.id, pos));
    if (q_row(q))
        at = q_col_int(q, 0);
    q_end(q);
    if (at > main->len)
        at = main->len;
    while (at > 0 && entry_kind_at(tx, &main->meta, at - 1, &kind) && kind.role == RAMET_USER)
        at--;
    return at;
}

static bool find_in(txn *tx, const session_full *s, const branch_row *path, ramet_log log,
                    const char *turn, bool in_record, int64_t but, branch_row *b, int64_t *pos)
{
    if (in_record)
        return turn_index_in_record(tx, &s->access, log == RAMET_LOG_ADK ? s->first_adk : s->first,
                                    log, turn, but, b, pos);
    *b = *path;
    *pos = path->meta.id ? turn_index_on_path(tx, path, turn) : -1;
    return *pos >= 0;
}

static void shown_fill(txn *tx, turn_cut *out)
{
    ramet_cut *c = &out->at.shown;
    *c = (ramet_cut){.policy = RAMET_CUT_EXACT, .position = out->at.main, .side = RAMET_BEFORE};
    if (out->at.main < out->main.len) {
        c->entry_id = path_entry_id(tx, &out->main, out->at.main);
    } else if (out->at.main > 0) {
        c->entry_id = path_entry_id(tx, &out->main, out->at.main - 1);
        c->side = RAMET_AFTER;
    }
}

/* Finds the cut of the adk log that corresponds to a cut of main. */
static ramet_status adk_side(txn *tx, const session_full *s, turn_cut *out)
{
    const log_rules *rules = log_rules_of(tx, RAMET_LOG_ADK);
    int64_t at = s->adk;
    if (out->main.meta.session == s->no)
        at = adk_head_of(tx, &s->brief, out->main.meta.id);
    out->adk = (branch_row){0};
    if (at && branch_load(tx, s->tree, at, &out->adk)) {
        ramet_at none = {0};
        TRY(cut_adk(tx, &out->main, &out->adk, &none, &out->at));
        rules->snap(tx, &s->brief, &out->adk, &out->at.adk, &out->before);
    }
    /* The whole of a branch that is not the head: its content when it was left. */
    if (!out->before)
        out->before = rules->left(tx, &s->brief, at);
    return txn_status(tx);
}

ramet_status turn_cut_find(txn *tx, const session_full *s, const branch_row *head, const char *turn,
                           bool in_record, int64_t but, turn_cut *out)
{
    branch_row adk = {0};
    TRY(check_id(tx->call, "before_turn", turn));
    *out = (turn_cut){.main = *head};
    if (s->adk)
        branch_load(tx, s->tree, s->adk, &adk);
    bool in_adk = s->first_adk && find_in(tx, s, &adk, RAMET_LOG_ADK, turn, in_record, but,
                                          &out->adk, &out->at.adk);
    /* In adk the first entry in the record counts, as for its reader; in main, entries on the path
     * come first. */
    bool in_main =
        find_in(tx, s, head, RAMET_LOG_MAIN, turn, false, 0, &out->main, &out->at.main) ||
        (in_record && turn_index_in_record(tx, &s->access, s->first, RAMET_LOG_MAIN, turn, 0,
                                           &out->main, &out->at.main));
    TRY(txn_status(tx));
    if (!in_adk && !in_main)
        return call_fail(tx->call, RAMET_TURN_NOT_FOUND, "before_turn",
                         "Invocation ID not found: %s is no turn of session %s", turn, s->id);
    if (!in_main) {
        out->main = *head;
        out->at.main = main_position_of(tx, head, &out->adk, out->at.adk);
    }
    if (in_adk)
        out->before = turn;
    else
        TRY(adk_side(tx, s, out));
    shown_fill(tx, out);
    return txn_status(tx);
}

void move_to_turn(txn *tx, session_full *s, const turn_cut *cut, const char *why, int64_t marked,
                  branch_row *out)
{
    branch_row to_adk = {0};
    branch_create(tx, &cut->main, cut->at.main, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_MAIN,
                  RAMET_EXPLICIT, out);
    if (cut->adk.meta.id)
        branch_create(tx, &cut->adk, cut->at.adk, &s->brief, BRANCH_NEXT, s->updated, RAMET_LOG_ADK,
                      RAMET_EXPLICIT, &to_adk);
    move_new(tx, s, &(head_to){out->meta.id, to_adk.meta.id, cut->before, marked},
             RAMET_MOVE_REWIND, why);
}
