/* SPDX-License-Identifier: Apache-2.0
 *
 * id.c: ids of the protocol, derived from those of sessions, turns and entries.
 *
 *   conv_ID                      a session
 *   resp_ID                      a turn
 *   msg_ENTRY[-TURN][_PART]      an item: part PART (0 when it is left out) of an entry; rs_, fc_ …
 *                                alike. The turn leads to the session where only the item is named.
 *
 * A UUID is written as 32 digits; any other id as x and its bytes in hex.
 */
#include "face/openai/openai_face.h"

#include <stdlib.h>
#include <string.h>

enum { UUID_DIGITS = 32, ID_BYTES = 255 };

static bool is_plain_uuid(const char *id)
{
    for (const char *s = id; *s; s++)
        if (*s >= 'A' && *s <= 'F')
            return false; /* it would come back in lower case */
    return uuid_valid(id);
}

static const char *encode(arena *a, const char *id)
{
    char *out;
    if (is_plain_uuid(id)) {
        uint8_t raw[16];
        out = arena_alloc(a, UUID_DIGITS + 1);
        uuid_parse(id, raw);
        hex_encode(raw, sizeof raw, out);
        return out;
    }
    out = arena_alloc(a, 2 * strlen(id) + 2);
    *out = 'x';
    hex_encode((const uint8_t *)id, strlen(id), out + 1);
    return out;
}

static const char *decode(arena *a, const char *text)
{
    size_t n = strlen(text);
    if (n == UUID_DIGITS) {
        uint8_t raw[16];
        char uuid[UUID_TEXT];
        return hex_decode(text, raw, sizeof raw) ? arena_strdup(a, uuid_text(raw, uuid)) : NULL;
    }
    if (*text != 'x' || n < 3 || n % 2 == 0 || n / 2 > ID_BYTES)
        return NULL;
    char *id = arena_alloc(a, n / 2 + 1);
    bool fine = hex_decode(text + 1, (uint8_t *)id, n / 2) && strlen(id) == n / 2;
    return fine && utf8_valid(id, n / 2) ? id : NULL;
}

const char *openai_id(arena *a, const char *prefix, const char *id)
{
    return arena_printf(a, "%s%s", prefix, encode(a, id));
}

const char *openai_id_parse(arena *a, const char *prefix, const char *text)
{
    size_t n = strlen(prefix);
    return text && strncmp(text, prefix, n) == 0 ? decode(a, text + n) : NULL;
}

const char *openai_item_id(arena *a, const char *prefix, const item_place *at)
{
    const char *turn = at->turn ? encode(a, at->turn) : NULL;
    const char *part = at->part ? arena_printf(a, "_%zu", at->part) : "";
    return arena_printf(a, "%s%s%s%s%s", prefix, encode(a, at->entry), turn ? "-" : "",
                        turn ? turn : "", part);
}

bool openai_item_parse(arena *a, const char *text, item_place *out)
{
    const char *from = text ? strchr(text, '_') : NULL;
    if (!from || strlen(text) > 4 * ID_BYTES + 64)
        return false;
    char *entry = arena_strdup(a, from + 1), *part = strchr(entry, '_');
    *out = (item_place){0};
    if (part) {
        char *end;
        *part++ = 0;
        out->part = strtoul(part, &end, 10);
        if (*end || *part < '1' || *part > '9' || strlen(part) > 9)
            return false;
    }
    char *turn = strchr(entry, '-');
    if (turn)
        *turn++ = 0;
    out->turn = turn ? decode(a, turn) : NULL;
    out->entry = decode(a, entry);
    return out->entry && (!turn || out->turn);
}
