/* SPDX-License-Identifier: Apache-2.0
 *
 * erase.c: JSON shapes of erasure: what to erase, and the receipt.
 */
#include "form/rows.h"

/* clang-format off */

#define S ramet_erased
const form_schema form_erased = STRUCT("Erased", "An entry whose content was erased.",
    R("at", TIME, "when", AT(TIME, at)),
    F("by", TEXT, "by whom, if the caller may know", AT(TEXT, by), OMIT),
    R("reason", TEXT, "", AT(STRING, reason)));
#undef S

#define S ramet_erasure
const form_schema form_erasure = STRUCT("Erasure", "An erasure that took entries of a history.",
    R("at", TIME, "when", AT(TIME, at)),
    F("by", TEXT, "by whom, if the caller may know", AT(TEXT, by), OMIT),
    R("reason", TEXT, "", AT(STRING, reason)),
    R("entries", INT, "how many of this history", AT(INT64, entries)));
#undef S
const form_schema form_erasure_list = LIST("ErasureList", "erasures", form_erasure, "Newest first, at most the last 1,000.");

#define S native_erase_entry
const form_schema form_erase_entry = {
    .name = "EraseEntry", .text = "An entry of a session.", .size = sizeof(S),
    .refused_field = "entry", .refused_text = "\"entry\" must be an object like {\"session_id\": \"trip\", \"entry_id\": \"e1\"}",
    .fields = FIELDS(
    R("session_id", TEXT, "a session that has it", AT(TEXT, session), OMIT),
    R("entry_id", TEXT, "", AT(TEXT, entry), OMIT),
    F("branch_id", TEXT, "the branch whose path has it; the head when not given", AT(BRANCH, branch), OMIT))};
#undef S

#define S ramet_erase_line
const form_schema form_erase_line = STRUCT("EraseLine", "Something that went, or stayed.",
    R("what", TEXT, "", AT(STRING, what)),
    R("count", INT, "", AT(INT64, n)),
    F("why", TEXT, "why it stayed", AT(TEXT, why), OMIT));
#undef S

#define S ramet_erase_place
const form_schema form_erase_place = STRUCT("ErasePlace", "A session in which entries were erased.",
    R("session_id", TEXT, "", AT(STRING, session)),
    R("entries", INT, "", AT(INT64, entries)));
#undef S

#define S ramet_receipt
const form_schema form_receipt = STRUCT("Receipt", "What an erasure took, and what it left.",
    R("at", TIME, "", AT(TIME, at)),
    R("by", TEXT, "", NUL, AT(TEXT, by)),
    R("reason", TEXT, "", AT(STRING, reason)),
    R("dry_run", BOOL, "nothing was changed", AT(BOOL, dry_run)),
    R("entries", INT, "erased, with copies and raw events", AT(INT64, entries)),
    R("already", INT, "of those named: erased before", AT(INT64, already)),
    R("went", ARRAY, "", LIST_OF(form_erase_line, went, n_went)),
    R("stayed", ARRAY, "", LIST_OF(form_erase_line, stayed, n_stayed)),
    R("places", ARRAY, "sessions that the caller may see, at most 1,000", LIST_OF(form_erase_place, places, n_places)),
    R("elsewhere", INT, "entries in other sessions", AT(INT64, elsewhere)),
    R("notes", ARRAY, "what erasing cannot do", TEXTS(notes, n_notes)));
#undef S

#define S native_receipt
const form_schema form_erase_done = STRUCT("EraseDone", "", R("receipt", OBJECT, "", POINTER(form_receipt, receipt)));
#undef S
