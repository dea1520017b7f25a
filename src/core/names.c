/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of the values in ramet.h, and the table of statuses by column.
 */
#include "ramet.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"

#include "core/model/key.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#define X(name, code, http, exit_code, text) code,
static const char *const codes[] = {RAMET_STATUSES(X)};
#undef X
#define X(name, code, http, exit_code, text) text,
static const char *const texts[] = {RAMET_STATUSES(X)};
#undef X
#define X(name, code, http, exit_code, text) http,
static const short https[] = {RAMET_STATUSES(X)};
#undef X
#define X(name, code, http, exit_code, text) exit_code,
static const short exits[] = {RAMET_STATUSES(X)};
#undef X

static size_t known(ramet_status s)
{
    return (size_t)s < RAMET_STATUS_COUNT ? (size_t)s : RAMET_INTERNAL;
}

const char *ramet_status_code(ramet_status s)
{
    return codes[known(s)];
}

const char *ramet_status_text(ramet_status s)
{
    return texts[known(s)];
}

int ramet_status_http(ramet_status s)
{
    return https[known(s)];
}

int ramet_status_exit(ramet_status s)
{
    return exits[known(s)];
}

/* Names by value, from 0; NULL where there is none. */
static const char *const roles[] = {NULL, "user", "assistant", "tool", "system"};
static const char *const sides[] = {"after", "before"};
static const char *const cuts[] = {"exact", "snap_before", "snap_after"};
static const char *const types[] = {"explicit", "auto-edit", "auto-regenerate"};
static const char *const visibilities[] = {"tree", "private"};
static const char *const actors[] = {"user", "system"};
static const char *const levels[] = {"none", "reader", "writer", "manager", "owner"};
static const char *const views[] = {NULL, "context", "record"};
static const char *const moves[] = {NULL,   "rewind",     "undo", "redo",  "switch",
                                    "edit", "regenerate", "sync", "merge", "overlay"};
static const char *const modes[] = {NULL, "fast_forward", "splice", "pick", "land"};
static const char *const overlays[] = {NULL, "hide", "replace", "hide_before"};
static const char *const since[] = {"updated", "created", "archived"};
static const char *const conditions[] = {"include", "only", "exclude"};
static const char *const turns[] = {NULL, "running", "done", "cancelled", "failed", "interrupted"};

#define COUNT(t) (sizeof(t) / sizeof(t)[0])

static const char *word(const char *const *t, size_t n, int v)
{
    return v >= 0 && (size_t)v < n && t[v] ? t[v] : "unknown";
}

static int value(const char *const *t, size_t n, const char *s)
{
    for (size_t i = 0; s && i < n; i++)
        if (t[i] && strcmp(t[i], s) == 0)
            return (int)i;
    return -1;
}

const char *ramet_role_name(ramet_role v)
{
    return word(roles, COUNT(roles), (int)v);
}

int ramet_role_parse(const char *s)
{
    return value(roles, COUNT(roles), s);
}

const char *ramet_side_name(ramet_side v)
{
    return word(sides, COUNT(sides), (int)v);
}

int ramet_side_parse(const char *s)
{
    return value(sides, COUNT(sides), s);
}

const char *ramet_view_name(ramet_view v)
{
    return word(views, COUNT(views), (int)v);
}

int ramet_view_parse(const char *s)
{
    return value(views, COUNT(views), s);
}

const char *ramet_overlay_action_name(ramet_overlay_action v)
{
    return word(overlays, COUNT(overlays), (int)v);
}

int ramet_overlay_action_parse(const char *s)
{
    return value(overlays, COUNT(overlays), s);
}

const char *ramet_since_name(ramet_since v)
{
    return word(since, COUNT(since), (int)v);
}

int ramet_since_parse(const char *s)
{
    return value(since, COUNT(since), s);
}

const char *ramet_condition_name(ramet_condition v)
{
    return word(conditions, COUNT(conditions), (int)v);
}

int ramet_condition_parse(const char *s)
{
    return value(conditions, COUNT(conditions), s);
}

const char *ramet_cut_name(ramet_cut_policy v)
{
    return word(cuts, COUNT(cuts), (int)v);
}

int ramet_cut_parse(const char *s)
{
    return value(cuts, COUNT(cuts), s);
}

const char *ramet_fork_type_name(ramet_fork_type v)
{
    return word(types, COUNT(types), (int)v);
}

int ramet_fork_type_parse(const char *s)
{
    return value(types, COUNT(types), s);
}

const char *ramet_visibility_name(ramet_visibility v)
{
    return word(visibilities, COUNT(visibilities), (int)v);
}

int ramet_visibility_parse(const char *s)
{
    return value(visibilities, COUNT(visibilities), s);
}

const char *ramet_actor_name(ramet_actor v)
{
    return word(actors, COUNT(actors), (int)v);
}

const char *ramet_level_name(ramet_level v)
{
    return word(levels, COUNT(levels), (int)v);
}

int ramet_level_parse(const char *s)
{
    return value(levels, COUNT(levels), s);
}

const char *ramet_move_name(ramet_move_kind v)
{
    return word(moves, COUNT(moves), (int)v);
}

const char *ramet_merge_mode_name(ramet_merge_mode v)
{
    return word(modes, COUNT(modes), (int)v);
}

int ramet_merge_mode_parse(const char *s)
{
    return value(modes, COUNT(modes), s);
}

const char *ramet_turn_status_name(ramet_turn_status v)
{
    return word(turns, COUNT(turns), (int)v);
}

const char *ramet_branch_text(int64_t branch, char out[24])
{
    snprintf(out, 24, "b%lld", (long long)branch);
    return out;
}

/* In the notation of PostgreSQL. */
const char *ramet_position_text(int64_t position, char out[24])
{
    uint64_t p = (uint64_t)position;
    snprintf(out, 24, "%X/%X", (unsigned)(p >> 32), (unsigned)(p & UINT32_MAX));
    return out;
}

/* Reads up to 8 hex digits; returns where they end. NULL: there are none, or too many. */
static const char *half_parse(const char *s, uint64_t *out)
{
    size_t n = strspn(s, "0123456789abcdefABCDEF");
    char digits[9];
    if (n < 1 || n > 8)
        return NULL;
    memcpy(digits, s, n);
    digits[n] = 0;
    *out = *out << 32 | strtoul(digits, NULL, 16);
    return s + n;
}

int64_t ramet_position_parse(const char *s)
{
    uint64_t v = 0;
    s = s ? half_parse(s, &v) : NULL;
    s = s && *s == '/' ? half_parse(s + 1, &v) : NULL;
    return s && !*s && v <= INT64_MAX ? (int64_t)v : -1;
}

/* A letter and a number above 0; 0 when it is none. */
static int64_t number_parse(const char *s, char letter)
{
    if (!s || s[0] != letter || s[1] < '1' || s[1] > '9')
        return 0;
    int64_t v = 0;
    for (const char *p = s + 1; *p; p++) {
        if (*p < '0' || *p > '9' || v > (INT64_MAX >> POS_BITS) / 10 - 1)
            return 0;
        v = v * 10 + (*p - '0');
    }
    return v;
}

int64_t ramet_branch_parse(const char *s)
{
    return number_parse(s, 'b');
}

const char *ramet_overlay_text(int64_t overlay, char out[24])
{
    snprintf(out, 24, "o%lld", (long long)overlay);
    return out;
}

int64_t ramet_overlay_parse(const char *s)
{
    return number_parse(s, 'o');
}
