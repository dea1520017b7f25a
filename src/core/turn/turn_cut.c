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
#include "core/model/peer.h"
#include "core/session/session.h"
#include "core/turn/turn_index.h"
#include "core/txn.h"

/* Where the messages of the user that end at `at` begin, and how many questions they are. */
static int64_t questions_start(txn *tx, const branch_row *main, int64_t at, size_t *n)
{
    *n = 0;
    for (int64_t from; (from = turn_question_start(tx, &main->meta, at)) < at; at = from)
        ++*n;
    return at;
}

typedef VEC(const char *) name_list;

static bool name_in(const name_list *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i], name) == 0)
            return true;
    return false;
}

/* The number of turns before an event that began when main had at least `from` entries: what was
 * there before then has its answer. Events of the system repeat before each turn and belong to
 * none. */
static size_t turns_open(txn *tx, const branch_row *adk, int64_t pos, const char *turn,
                         int64_t from)
{
    name_list open = {0};
    entry_kind kind;
    for (int64_t p = pos - 1; p >= 0 && entry_kind_at(tx, &adk->meta, p, &kind); p--) {
        const char *of = kind.turn ? kind.turn : "";
        if (kind.role == RAMET_SYSTEM || strcmp(of, turn) == 0 ||
            (kind.channel && strcmp(kind.channel, "history") != 0))
            continue;
        if (peer_at(tx, adk, p) < from)
            return open.n - name_in(&open, of); /* it began before */
        if (!name_in(&open, of)) {
            of = arena_strdup(tx->arena, of);
            VEC_PUSH(tx->arena, &open, of);
        }
    }
    return open.n;
}

/* Where a turn that only adk knows begins in main: the length of main when its first event arrived,
 * without its own question. The last questions of main may have no answer: one belongs to each turn
 * that was open by then, and only one more than these is the turn's own. */
static int64_t main_position_of(txn *tx, const branch_row *main, const branch_row *adk, int64_t pos,
                                const char *turn)
{
    size_t questions;
    int64_t at = peer_at(tx, adk, pos);
    if (at > main->len)
        at = main->len;
    int64_t from = questions_start(tx, main, at, &questions);
    if (questions <= turns_open(tx, adk, pos, turn, from))
        return at;
    return turn_question_start(tx, &main->meta, at);
}

/* The path of main that belongs to an entry of adk: the present one if the entry is on the path of
 * adk, else the one that was left together with its branch. */
static void main_path_of(txn *tx, const session_full *s, const branch_row *head,
                         const branch_row *adk, int64_t pos, branch_row *out)
{
    branch_row now;
    branch_meta o;
    int64_t main = 0;
    *out = *head;
    if (s->adk && branch_load(tx, s->tree, s->adk, &now) && pos < now.len &&
        path_owner(tx, &now.meta, pos, &o) && o.id == adk->meta.id)
        return;
    if (adk->meta.session == s->no) {
        db_stmt *q = db_query(tx->db, Q_move_left);
        q_int(q, 1, s->tree);
        q_int(q, 2, s->no);
        q_int(q, 3, adk->meta.id);
        main = q_row(q) ? q_col_int(q, 1) : 0;
        q_end(q);
    } else {
        main = s->first; /* inherited */
    }
    if (main && !branch_load(tx, s->tree, main, out))
        *out = *head;
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
    else /* inherited, and off the path */
        at = s->first_adk;
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

/* Finds the turn on the paths, or in the record; false: neither log has it there. */
static bool turn_find(txn *tx, const session_full *s, const branch_row *head, const char *turn,
                      bool in_record, int64_t but, turn_cut *out, bool *in_adk, bool *in_main)
{
    branch_row adk = {0};
    *out = (turn_cut){.main = *head};
    if (s->adk)
        branch_load(tx, s->tree, s->adk, &adk);
    *in_adk = s->first_adk &&
              find_in(tx, s, &adk, RAMET_LOG_ADK, turn, in_record, but, &out->adk, &out->at.adk);
    /* In adk the first entry in the record counts, as for its reader; in main, entries on the path
     * come first. */
    *in_main = find_in(tx, s, head, RAMET_LOG_MAIN, turn, false, 0, &out->main, &out->at.main) ||
               (in_record && turn_index_in_record(tx, &s->access, s->first, RAMET_LOG_MAIN, turn, 0,
                                                  &out->main, &out->at.main));
    return *in_adk || *in_main;
}

ramet_status turn_cut_find(txn *tx, const session_full *s, const branch_row *head, const char *turn,
                           turn_search where, int64_t but, turn_cut *out)
{
    bool in_adk, in_main, found = false;
    TRY(check_id(tx->call, "before_turn", turn));
    if (where != TURN_IN_RECORD)
        found = turn_find(tx, s, head, turn, false, but, out, &in_adk, &in_main);
    if (!found && where != TURN_ON_PATH)
        found = turn_find(tx, s, head, turn, true, but, out, &in_adk, &in_main);
    TRY(txn_status(tx));
    if (!found)
        return call_fail(tx->call, RAMET_TURN_NOT_FOUND, "before_turn",
                         "Invocation ID not found: %s is no turn of session %s", turn, s->id);
    if (!in_main) {
        main_path_of(tx, s, head, &out->adk, out->at.adk, &out->main);
        out->at.main = main_position_of(tx, &out->main, &out->adk, out->at.adk, turn);
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
