/* SPDX-License-Identifier: Apache-2.0
 *
 * retention.c: JSON shapes of holds, of the rules of retention and of what they removed.
 */
#include "form/rows.h"

#define SECOND_US INT64_C(1000000)

/* An age in whole seconds. */
static void age_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_rule *rule = owner;
    (void)context;
    jw_int(w, rule->age_us / SECOND_US);
}

static void age_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_rule *rule = owner;
    int64_t seconds = 0;
    (void)a;
    rule->age_us = json_int(d, v, &seconds) && seconds >= 0 && seconds < INT64_MAX / SECOND_US
                       ? seconds * SECOND_US
                       : -1;
}

/* clang-format off */

#define SINCE      "updated|created|archived", ramet_since_name
#define CONDITIONS "include|only|exclude", ramet_condition_name

#define S ramet_hold
const form_schema form_hold = STRUCT("Hold", "What is on hold is neither deleted nor collected, pruned, erased or removed by a rule.",
    R("tree_id", TEXT, "", AT(STRING, tree_id)),
    R("session_id", TEXT, "null: the whole tree", NUL, AT(TEXT, session)),
    R("administrator", BOOL, "set by an administrator, who alone can release it", AT(BOOL, administrator)),
    R("by", TEXT, "who set it; for the owner of the tree and administrators", NUL, AT(TEXT, who)),
    R("reason", TEXT, "for the owner of the tree and administrators", AT(STRING, reason)),
    CREATED_AT(at));
#undef S
const form_schema form_hold_list = LIST("HoldList", "holds", form_hold, "");

#define S ramet_rule
#define RULE_ROWS                                                                                  \
    R("name", TEXT, "1-64 characters", AT(TEXT, name)),                                            \
    R("older_than_seconds", INT, "at least so old; 0: at once, which needs another condition", .max = INT64_C(3155760000), HOOK(age_write, age_read)), \
    F("since", ENUM, "what the age counts from: the last change, its creation, or archiving; default `updated`", WORD(SINCE, since)), \
    F("tag", TEXT, "only sessions with this tag; null: any", NUL, AT(TEXT, tag)),                  \
    F("agent", TEXT, "only sessions of this agent; null: any", NUL, AT(TEXT, agent)),              \
    F("ephemeral", ENUM, "ephemeral sessions; default `include`", WORD(CONDITIONS, ephemeral)),    \
    F("archived", ENUM, "archived sessions; default `include`", WORD(CONDITIONS, archived)),       \
    F("private", BOOL, "private sessions, too; default false", AT(BOOL, private_too))
const form_schema form_rule_in = STRUCT("RuleIn", "A rule. All that it names must hold.", RULE_ROWS);
const form_schema form_rule = STRUCT("Rule", "A rule of retention.", RULE_ROWS,
    R("by", TEXT, "who set it", NUL, AT(TEXT, who)), CREATED_AT(at));
#undef S

#define S ramet_retention
const form_schema form_retention = STRUCT("Retention", "",
    R("enabled", BOOL, "the server applies the rules by itself", AT(BOOL, enabled)),
    R("tried_at", TIME, "when a dry run was made with exactly these rules; null: not yet", NUL, AT(TIME, tried)),
    R("rules", ARRAY, "in order: the first that matches takes a session", LIST_OF(form_rule, rules, n)));
#undef S

#define S ramet_removal
const form_schema form_removal = STRUCT("Removal", "A session that a rule has removed, or would.",
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("tree_id", TEXT, "", AT(STRING, tree_id)),
    R("rule", TEXT, "", AT(STRING, rule)),
    R("entries", INT, "that the session had appended itself; forks may still have some of them", AT(INT64, entries)),
    R("by", TEXT, "who ran the rules; null: the server by itself", NUL, AT(TEXT, who)),
    R("removed_at", TIME, "null in a dry run", NUL, AT(TIME, at)));
#undef S
const form_schema form_removal_list = LIST("RemovalList", "removals", form_removal, "Newest first.");

#define S ramet_retention_out
const form_schema form_retention_report = STRUCT("RetentionReport", "",
    R("dry_run", BOOL, "", AT(BOOL, dry_run)),
    R("skipped", BOOL, "another node is running the rules", AT(BOOL, skipped)),
    R("looked_at", INT, "sessions", AT(INT64, looked_at)),
    R("sessions", INT, "removed, or what would be", AT(INT64, sessions)),
    R("entries", INT, "that these sessions had appended themselves", AT(INT64, entries)),
    R("removals", ARRAY, "the first 1,000", LIST_OF(form_removal, removals, n)));
#undef S

#define S ramet_rule_verdict
const form_schema form_rule_verdict = STRUCT("RuleVerdict", "",
    R("rule", TEXT, "", AT(STRING, rule)), R("matches", BOOL, "", AT(BOOL, matches)), R("why", TEXT, "in words", AT(STRING, why)));
#undef S

#define S ramet_needed_by
const form_schema form_needed_by = STRUCT("NeededBy", "Another session that keeps entries of the explained one.",
    R("session_id", TEXT, "null: one that the caller may not see", NUL, AT(TEXT, session)),
    R("branch_id", TEXT, "the branch of the explained session", AT(BRANCH, branch)),
    R("first", INT, "the first entry that it needs, counted from 1 along the path", AT(INT64, first)),
    R("last", INT, "the last one", AT(INT64, last)));
#undef S

#define S ramet_explanation
const form_schema form_explanation = STRUCT("RetentionExplanation", "",
    R("session_id", TEXT, "", AT(STRING, session)),
    R("goes", BOOL, "a run of the rules would remove it", AT(BOOL, goes)),
    R("rule", TEXT, "the first that matches; null: none does", NUL, AT(TEXT, rule)),
    R("kept", TEXT, "why it stays, in words; null: it goes", NUL, AT(TEXT, kept)),
    R("rules", ARRAY, "", LIST_OF(form_rule_verdict, rules, n)),
    R("entries", INT, "that the session has appended itself", AT(INT64, entries)),
    R("freed", INT, "that gc would remove with it", AT(INT64, freed)),
    R("needed_by", ARRAY, "the first 100", LIST_OF(form_needed_by, needed, n_needed)),
    R("needed_by_count", INT, "all of them", AT(INT64, n_needed_all)));
#undef S
