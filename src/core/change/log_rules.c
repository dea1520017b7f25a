/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules of logs: those that were registered, and default ones for a log without an owner.
 */
#include "core/change/log_rules.h"

#include "core/call.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/change/move.h"
#include "core/session/session.h"
#include "core/txn.h"

#include <assert.h>

static ramet_status plain_append_check(txn *tx, const session_brief *s, int64_t branch)
{
    (void)tx;
    (void)s;
    (void)branch;
    return RAMET_OK;
}

static bool plain_whole_turns(txn *tx, const session_brief *s)
{
    (void)tx;
    (void)s;
    return false;
}

static void plain_snap(txn *tx, const session_brief *s, const branch_row *log, int64_t *cut,
                       const char **before)
{
    (void)tx;
    (void)s;
    (void)log;
    (void)cut;
    *before = NULL;
}

static void plain_mark(txn *tx, session_brief *s, const head_to *to, int64_t seq)
{
    (void)tx;
    (void)s;
    (void)to;
    (void)seq;
}

static const char *plain_left(txn *tx, const session_brief *s, int64_t branch)
{
    (void)tx;
    (void)s;
    (void)branch;
    return NULL;
}

static ramet_status plain_append_rewind(txn *tx, const char *session, const append_work *w,
                                        const char *before_turn)
{
    (void)session;
    (void)w;
    return call_fail(tx->call, RAMET_INVALID, "before_turn",
                     "entries of this log do not move the head; %s cannot be gone back before",
                     before_turn);
}

static bool plain_may_hide(txn *tx, const session_brief *s)
{
    (void)tx;
    (void)s;
    return true;
}

static const log_rules plain = {.append_check = plain_append_check,
                                .whole_turns = plain_whole_turns,
                                .snap = plain_snap,
                                .mark = plain_mark,
                                .left = plain_left,
                                .append_rewind = plain_append_rewind,
                                .may_hide = plain_may_hide};

void log_rules_register(ramet *r, ramet_log log, const log_rules *rules)
{
    assert(log == RAMET_LOG_MAIN || log == RAMET_LOG_ADK);
    assert(!r->log_rules[log]); /* a log has one owner */
    assert(rules->append_check && rules->whole_turns && rules->snap && rules->mark && rules->left &&
           rules->append_rewind && rules->may_hide);
    r->log_rules[log] = rules;
}

const log_rules *log_rules_of(const txn *tx, ramet_log log)
{
    assert(log == RAMET_LOG_MAIN || log == RAMET_LOG_ADK);
    const log_rules *rules = tx->ramet->log_rules[log];
    return rules ? rules : &plain;
}
