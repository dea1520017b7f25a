/* SPDX-License-Identifier: Apache-2.0
 *
 * adk.h: ADK as the owner of the adk log.
 */
#ifndef CORE_EXT_ADK_H
#define CORE_EXT_ADK_H

#include "core/model/branch_note.h"
#include "ramet.h"

void adk_register(ramet *r);

/* The adk log of the session holds events of ADK. */
bool adk_is(txn *tx, const session_brief *s);
/* log_rules.may_hide of that log. */
bool adk_may_hide(txn *tx, const session_brief *s, const note_list *before, const note_list *after);

#endif
