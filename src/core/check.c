/* SPDX-License-Identifier: Apache-2.0
 *
 * Validation of arguments from outside. Each error names the field and the limit.
 */
#include "core/check.h"

#include "core/call.h"
#include "core/handle.h"

#include <assert.h>
#include <stdlib.h>

ramet_status check_utf8(ramet_call *c, const char *field, const char *s)
{
    if (s && !utf8_valid(s, strlen(s)))
        return call_fail(c, RAMET_INVALID, field, "%s is not valid UTF-8", field);
    return RAMET_OK;
}

ramet_status check_id(ramet_call *c, const char *field, const char *id)
{
    size_t n = id ? strlen(id) : 0;
    if (n < 1 || n > c->ramet->limits.id_bytes)
        return call_fail(c, RAMET_BAD_ID, field, "%s has %zu bytes; an id has 1 to %zu", field, n,
                         c->ramet->limits.id_bytes);
    for (size_t i = 0; i < n;) {
        uint32_t cp = 0;
        size_t step = utf8_next(id + i, n - i, &cp);
        if (!step)
            return call_fail(c, RAMET_BAD_ID, field, "%s is not valid UTF-8", field);
        if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
            return call_fail(c, RAMET_BAD_ID, field, "%s holds the control character U+%04X", field,
                             (unsigned)cp);
        i += step;
    }
    return RAMET_OK;
}

ramet_status check_chars(ramet_call *c, const char *field, const char *s, size_t chars,
                         ramet_status over)
{
    if (!s)
        return RAMET_OK;
    TRY(check_utf8(c, field, s));
    size_t n = utf8_count(s);
    if (n > chars)
        return call_fail(c, over, field, "%s has %zu characters; at most %zu are allowed", field, n,
                         chars);
    return RAMET_OK;
}

ramet_status check_object(ramet_call *c, const char *field, const char *json)
{
    if (!json)
        return RAMET_OK;
    size_t n = strlen(json);
    if (n > c->ramet->limits.meta_bytes)
        return call_fail(c, RAMET_TOO_LARGE, field, "%s has %zu bytes; at most %zu are allowed",
                         field, n, c->ramet->limits.meta_bytes);
    json_doc doc;
    json_error err;
    if (!json_parse(c->arena, json, n, c->ramet->limits.json_depth, &doc, &err))
        return call_fail(c, RAMET_INVALID, field, "%s is not valid JSON: %s at byte %zu", field,
                         err.message, err.offset);
    if (!json_is(&doc.nodes[0], JSON_OBJECT))
        return call_fail(c, RAMET_INVALID, field, "%s must be a JSON object", field);
    return RAMET_OK;
}

ramet_status check_agent(ramet_call *c, const ramet_agent *a)
{
    if (a->name)
        TRY(check_id(c, "agent.name", a->name));
    TRY(check_chars(c, "agent.provider", a->provider, 255, RAMET_TOO_LARGE));
    TRY(check_chars(c, "agent.model", a->model, 255, RAMET_TOO_LARGE));
    TRY(check_chars(c, "agent.folder", a->folder, 4096, RAMET_TOO_LARGE));
    TRY(check_object(c, "agent.options", a->options));
    if (!a->name && (a->provider || a->model || a->folder || a->options))
        return call_fail(c, RAMET_INVALID, "agent.name", "an agent needs a name");
    return RAMET_OK;
}

static ramet_status tag_clean(ramet_call *c, const char *tag, const char **out)
{
    TRY(check_utf8(c, "tags", tag));
    size_t n = strlen(tag), from = 0;
    uint32_t cp = 0;
    while (from < n) {
        size_t step = utf8_next(tag + from, n - from, &cp);
        if (!step || !utf8_is_space(cp))
            break;
        from += step;
    }
    while (n > from) {
        size_t at = n - 1;
        while (at > from && ((unsigned char)tag[at] & 0xc0) == 0x80)
            at--;
        if (!utf8_next(tag + at, n - at, &cp) || !utf8_is_space(cp))
            break;
        n = at;
    }
    char *low = utf8_lower(c->arena, tag + from, n - from);
    size_t chars = utf8_count(low);
    if (chars < 1 || chars > c->ramet->limits.tag_chars)
        return call_fail(c, RAMET_BAD_TAG, "tags", "a tag of %zu characters; it must have 1 to %zu",
                         chars, c->ramet->limits.tag_chars);
    for (const char *p = low; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return call_fail(c, RAMET_BAD_TAG, "tags", "a tag holds a control character");
    *out = low;
    return RAMET_OK;
}

ramet_status check_tags(ramet_call *c, const char *const *tags, size_t n, const char ***out,
                        size_t *n_out)
{
    *out = NULL;
    *n_out = 0;
    /* Duplicates are allowed, but not without bound. */
    if (n > c->ramet->limits.tags * 4)
        return call_fail(c, RAMET_TOO_MANY_TAGS, "tags", "%zu tags; a session has at most %zu", n,
                         c->ramet->limits.tags);
    const char **list = arena_array(c->arena, n + 1, sizeof *list);
    for (size_t i = 0; i < n; i++) {
        if (!tags[i])
            return call_fail(c, RAMET_BAD_TAG, "tags", "a tag is missing");
        TRY(tag_clean(c, tags[i], &list[i]));
    }
    qsort(list, n, sizeof *list, text_order);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (!k || strcmp(list[k - 1], list[i]) != 0)
            list[k++] = list[i];
    if (k > c->ramet->limits.tags)
        return call_fail(c, RAMET_TOO_MANY_TAGS, "tags", "%zu tags; a session has at most %zu", k,
                         c->ramet->limits.tags);
    *out = list;
    *n_out = k;
    return RAMET_OK;
}

ramet_status check_hash(ramet_call *c, const char *hex, uint8_t out[HASH_LEN], bool *given)
{
    *given = hex != NULL;
    if (hex && !hex_decode(hex, out, HASH_LEN))
        return call_fail(c, RAMET_INVALID, "expected_head",
                         "expected_head must be a prefix_hash: 64 lower-case hex digits");
    return RAMET_OK;
}

ramet_status check_limit(ramet_call *c, int limit, int max, int deflt, int *out)
{
    assert(deflt >= 1 && deflt <= max);
    if (limit < 0 || limit > max)
        return call_fail(c, RAMET_INVALID, "limit", "limit is %d; it must be 1 to %d", limit, max);
    *out = limit ? limit : deflt;
    return RAMET_OK;
}

/* Far longer than useful, and small enough that adding it to the current time cannot overflow. */
#define LIFE_MAX (INT64_C(100) * 366 * 86400 * 1000000)

ramet_status check_life(ramet_call *c, const char *field, int64_t us)
{
    if (us < 0 || us > LIFE_MAX)
        return call_fail(c, RAMET_INVALID, field, "the time to live must be 0 to 100 years");
    return RAMET_OK;
}
