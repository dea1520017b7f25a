/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c: JSON shapes of entries: pages, entries to append, usage, state and feedback.
 */
#include "form/rows.h"

#include <string.h>

/* ---------------------------------------------------------------------- hooks */

/* For our own format the parts are the body. */
static void body_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_entry *e = owner;
    (void)context;
    jw_raw(w, e->body ? e->body : e->parts);
}

static void body_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_entry *e = owner;
    if (!e->format || strcmp(e->format, "ramet") != 0)
        e->body = json_raw(a, d, v);
}

static bool has_versions(const void *owner)
{
    return ((const ramet_entry *)owner)->versions > 0;
}

static const char *feedback_name(unsigned value)
{
    return (int)value > 0 ? "up" : (int)value < 0 ? "down" : NULL;
}

/* A total has a cost and a currency only if all its entries share one currency. */
static bool has_one_currency(const void *owner)
{
    return ((const ramet_usage_sum *)owner)->n_money < 2;
}

static void cost_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_usage_sum *sum = owner;
    (void)context;
    jw_nano(w, sum->n_money ? sum->money[0].cost : 0);
}

static void currency_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_usage_sum *sum = owner;
    (void)context;
    jw_str(w, sum->n_money && sum->money[0].currency ? sum->money[0].currency : "");
}

/* --------------------------------------------------------------------- tables */

/* clang-format off */

#define FEEDBACK "up|down", feedback_name

#define S ramet_entry
const form_schema form_entry = STRUCT("Entry", "One immutable item of history.",
    R("id", TEXT, "unique on a path", AT(TEXT, id)),
    R("position", INT, "from 0", AT(INT64, position)),
    R("branch_id", TEXT, "the branch that owns it", AT(BRANCH, branch)),
    R("role", ENUM, "", WORD(ROLES, role)),
    R("text", TEXT, "the text parts joined by a blank line", AT(STRING, text)),
    R("parts", ARRAY, "the normal form", .of = &form_part, AT(JSON, parts)),
    R("format", TEXT, "the protocol of `body`", AT(TEXT, format)),
    R("body", ANY, "the content as sent by the client; the parts if format is `ramet`", HOOK(body_write, body_read)),
    R("turn_id", TEXT, "", NUL, AT(TEXT, turn_id)),
    R("channel", TEXT, "", AT(TEXT, channel)),
    R("author", TEXT, "", NUL, AT(TEXT, author)),
    R("client", TEXT, "the program that appended it", NUL, AT(TEXT, client)),
    R("usage", OBJECT, "", NUL, POINTER(form_usage, usage)),
    R("state_delta", OBJECT, "", NUL, AT(JSON, state_delta)),
    F("versions", OBJECT, "which of its versions it is, for example 2 of 3", SELF(form_version_of), OMIT, WHEN(has_versions)),
    F("origins", ARRAY, "a copy that a merge made: where it came from, as far as the caller may see it", LIST_OF(form_origin, origins, n_origins), OMIT),
    F("erased", OBJECT, "its content was erased: `text` is `[erased]`", POINTER(form_erased, erased), OMIT),
    F("feedback", ENUM, "the caller's own, if requested and given", WORD(FEEDBACK, feedback), OMIT),
    R("prefix_hash", TEXT, "hash of the path up to it", CHARS(hash)),
    CREATED_AT(created));
const form_schema form_version_of = STRUCT("VersionOf", "The place of an entry among the versions of a message.",
    R("number", INT, "from 1", AT(INT, version)), R("count", INT, "number of versions", AT(INT, versions)));
#undef S

#define S ramet_entry_in
#define ENTRY_IN_ROWS(role_row)                                                                                    \
    F("id", TEXT, "1-255 bytes; default: a new UUIDv7", AT(TEXT, id), OMIT), role_row,                             \
    F("text", TEXT, "the text; alternative to `parts`", AT(TEXT, text), OMIT),                                     \
    F("parts", ARRAY, "the parts; alternative to `text`", .of = &form_part, AT(JSON, parts), OMIT),                \
    F("format", TEXT, "the protocol of `body`; default `ramet`", AT(TEXT, format), OMIT),                          \
    F("body", ANY, "any JSON value, stored byte for byte; not with format `ramet`", AT(JSON, body), OMIT),         \
    F("turn_id", TEXT, "the turn it belongs to", AT(TEXT, turn_id), OMIT),                                         \
    F("channel", TEXT, "default `history`", AT(TEXT, channel), OMIT),                                              \
    F("author", TEXT, "the author; default for role user: the caller", AT(TEXT, author), OMIT),                    \
    F("usage", OBJECT, "tokens and cost", POINTER(form_usage_in, usage), OMIT),                                    \
    F("state_delta", OBJECT, "changes to the state; null removes a key", AT(JSON, state_delta), OMIT)
const form_schema form_entry_in = {
    .name = "EntryIn", .text = "An entry to append.", .size = sizeof(S),
    .refused_field = "entries", .refused_text = "an entry must be an object like {\"role\": \"user\", \"text\": \"hello\"}",
    .fields = FIELDS(ENTRY_IN_ROWS(R("role", ENUM, "", WORD(ROLES, role), OMIT)))};
const form_schema form_entry_edit = STRUCT("EntryEdit", "A new version of an entry.",
    ENTRY_IN_ROWS(F("role", ENUM, "default: that of the old version", WORD(ROLES, role), OMIT)));
#undef S

const form_schema form_part = {
    .name = "Part", .open = true,
    .text = "`{type: text, text}`, `{type: thinking, text}`, `{type: tool_call, id, name, input}`, `{type: tool_result, id, output, is_error?}`, "
            "`{type: file, attachment_id | url, name?, media_type?}` or `{type: data, data}`.",
    .fields = FIELDS(R("type", ENUM, "", .values = "text|thinking|tool_call|tool_result|file|data"),
    F("text", TEXT, ""), F("id", TEXT, "links a tool call and its result"), F("name", TEXT, "name of the tool or file"),
    F("input", ANY, "of a tool call"), F("output", ANY, "of a tool result"), F("is_error", BOOL, "of a tool result"),
    F("attachment_id", TEXT, "of a file"), F("url", TEXT, "of a file"), F("media_type", TEXT, "of a file"), F("data", ANY, "any JSON value"))};

#define S ramet_page
const form_schema form_entry_page = STRUCT("EntryPage", "A page of a history, oldest first.",
    R("entries", ARRAY, "", LIST_OF(form_entry, entries, n)),
    R("head", OBJECT, "head of the path read", PART(form_head, head)),
    R("more_before", BOOL, "there are entries before the first one", AT(BOOL, more_before)),
    R("more_after", BOOL, "there are entries after the last one", AT(BOOL, more_after)));
#undef S

#define S ramet_append_out
const form_schema form_appended = STRUCT("Appended", "What was appended.",
    R("entries", ARRAY, "as stored, in the order given", LIST_OF(form_entry, entries, n)),
    R("head", OBJECT, "head of the branch written to", PART(form_head, head)),
    R("added", INT, "number of new entries", AT(COUNT, added)));
#undef S

#define S native_record
const form_schema form_record = STRUCT("Record", "A page of the record.",
    R("entries", ARRAY, "", LIST_OF(form_entry, page.entries, page.n)),
    R("total", INT, "length of the record", AT(INT64, total)),
    R("more_after", BOOL, "there are entries after the last one", AT(BOOL, page.more_after)));
#undef S

/* ---------------------------------------------------------------------- usage */

#define TOKENS R("input", INT, "tokens read", AT(INT64, input)), R("output", INT, "tokens written", AT(INT64, output)), \
    R("cached", INT, "tokens read from a cache", AT(INT64, cached))

#define S ramet_usage
const form_schema form_usage = STRUCT("Usage", "Tokens and cost of one entry.", TOKENS,
    R("cost", NUMBER, "", AT(NANO, cost)), R("currency", TEXT, "empty if there is no cost", AT(STRING, currency)));
const form_schema form_usage_in = {
    .name = "UsageIn", .text = "Tokens and cost of one entry.", .size = sizeof(S),
    .refused_field = "usage", .refused_text = "\"usage\" must be an object like {\"input\": 10, \"output\": 20}",
    .fields = FIELDS(
    F("input", INT, "tokens read", .max = INT64_MAX, AT(INT64, input)),
    F("output", INT, "tokens written", .max = INT64_MAX, AT(INT64, output)),
    F("cached", INT, "tokens read from a cache", .max = INT64_MAX, AT(INT64, cached)),
    F("cost", NUMBER, "with at most 9 decimal digits", AT(NANO, cost)),
    F("currency", TEXT, "default USD", AT(STRING, currency), OMIT))};
#undef S

#define S ramet_usage_sum
const form_schema form_usage_sum = STRUCT("UsageSum", "A sum of usage.",
    R("entries", INT, "number of entries with usage", AT(INT64, entries)), TOKENS,
    R("cost", NUMBER, "null if there is more than one currency", NUL, HOOK(cost_write, NULL), WHEN(has_one_currency)),
    R("currency", TEXT, "null if there is more than one", NUL, HOOK(currency_write, NULL), WHEN(has_one_currency)),
    R("costs", ARRAY, "by currency", LIST_OF(form_money, money, n_money)));
#undef S

#define S ramet_money
const form_schema form_money = STRUCT("Money", "",
    R("cost", NUMBER, "", AT(NANO, cost)), R("currency", TEXT, "", AT(STRING, currency)));
#undef S

#define S ramet_usage_out
const form_schema form_usage_report = STRUCT("UsageReport", "No entry is counted twice.",
    R("own", OBJECT, "entries that this session appended, including abandoned ones", PART(form_usage_sum, own)),
    R("path", OBJECT, "entries on the current path", PART(form_usage_sum, path)),
    R("tree", OBJECT, "every entry of the tree, once", PART(form_usage_sum, tree)));
#undef S

/* --------------------------------------------------------- state and feedback */

#define S native_state
const form_schema form_session_state = STRUCT("State", "", R("state", OBJECT, "with sorted keys", AT(JSON, json)));
#undef S

#define S ramet_feedback
const form_schema form_feedback = STRUCT("Feedback", "A user's feedback on an entry.",
    R("user", TEXT, "", AT(TEXT, user)),
    R("value", ENUM, "null: removed", NUL, WORD(FEEDBACK, value)),
    R("comment", TEXT, "", AT(STRING, comment)),
    F("created_at", TIME, "when it was given", AT(TIME, at), OMIT));
#undef S
const form_schema form_feedback_list = LIST("FeedbackList", "feedback", form_feedback, "The feedback of all users, oldest first.");
