/* SPDX-License-Identifier: Apache-2.0
 *
 * native.c: the list of all shapes of Ramet's own API, and its errors. The shapes themselves are in
 * one file per noun. See native.h.
 */
#include "form/rows.h"

#include "base/util.h"

static bool is_head_moved(const void *owner)
{
    return ((const ramet_error *)owner)->status == RAMET_HEAD_MOVED;
}

static const char *status_code(unsigned status)
{
    return ramet_status_code((ramet_status)status);
}

/* clang-format off */

#define S ramet_error
const form_schema form_error = STRUCT("Error", "Every error of ours.",
    R("code", TEXT, "stable, for machines", AT(WORD, status), .word_of = status_code),
    R("error", TEXT, "one line: what, which value, what to do", CHARS(message)),
    F("field", TEXT, "the parameter or member at fault", CHARS(field), OMIT),
    F("head", OBJECT, "409 `head_moved`: the present head", PART(form_head, head), OMIT, WHEN(is_head_moved)),
    F("turn_id", TEXT, "409 `turn_running`: the turn that runs"),
    R("request_id", TEXT, "X-Request-ID of the request"));
#undef S

/* clang-format on */

const form_schema *const native_schemas[] = {
#define X(name) &form_##name,
    NATIVE_SCHEMAS(X)
#undef X
        NULL};

void native_error_fields(json_writer *w, const ramet_error *e)
{
    form_write_members(w, &form_error, e, NULL);
}

void native_ktime(json_writer *w, const char *key, int64_t us)
{
    char text[TIME_TEXT];
    jw_kstr(w, key, us ? time_text(us, text) : NULL);
}

void native_kbranch(json_writer *w, const char *key, int64_t branch)
{
    char text[24];
    jw_kstr(w, key, branch ? ramet_branch_text(branch, text) : NULL);
}
