/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout: one byte method (0 plain, 1 zstd), eight bytes plain size (big-endian), then the plain
 * bytes or their zstd frame. Plain: for each of three texts eight bytes length (all ones: there is
 * none) and the bytes.
 */
#include "core/pack.h"

#include <stdint.h>
#include <string.h>
#include <zstd.h>

#define HEAD 9
#define NONE UINT64_MAX
#define PLAIN_MAX ((uint64_t)1 << 30)

static void put64(char *p, uint64_t v)
{
    for (int i = 0; i < 8; i++)
        p[i] = (char)(v >> (56 - 8 * i));
}

static uint64_t get64(const char *p)
{
    uint64_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 8 | (unsigned char)p[i];
    return v;
}

const char *pack_make(arena *a, const pack_texts *t, size_t *len)
{
    size_t size[3], plain = 0;
    for (int i = 0; i < 3; i++) {
        size[i] = t->item[i] ? strlen(t->item[i]) : 0;
        plain += 8 + size[i];
    }
    char *out = arena_alloc(a, HEAD + plain), *p = out + HEAD;
    out[0] = 0;
    put64(out + 1, plain);
    for (int i = 0; i < 3; i++) {
        put64(p, t->item[i] ? size[i] : NONE);
        if (size[i])
            memcpy(p + 8, t->item[i], size[i]);
        p += 8 + size[i];
    }
    *len = HEAD + plain;
    size_t bound = ZSTD_compressBound(plain);
    char *packed = arena_alloc(a, HEAD + bound);
    size_t n = ZSTD_compress(packed + HEAD, bound, out + HEAD, plain, 3);
    if (ZSTD_isError(n) || n > plain - plain / 8)
        return out;
    packed[0] = 1;
    put64(packed + 1, plain);
    *len = HEAD + n;
    return packed;
}

/* The plain size, said twice: a damaged one must not decide how much memory is taken. */
static bool size_agrees(const char *p, size_t n)
{
    uint64_t plain = n < HEAD ? NONE : get64(p + 1);
    if (plain > PLAIN_MAX)
        return false;
    return p[0] == 0 ? plain == n - HEAD
                     : p[0] == 1 && plain == ZSTD_getFrameContentSize(p + HEAD, n - HEAD);
}

bool pack_open(arena *a, const void *data, size_t n, pack_texts *t)
{
    const char *p = data;
    if (!size_agrees(p, n))
        return false;
    size_t plain = (size_t)get64(p + 1);
    char *bytes = arena_alloc(a, plain + 1);
    if (p[0] == 0)
        memcpy(bytes, p + HEAD, plain);
    else if (ZSTD_decompress(bytes, plain, p + HEAD, n - HEAD) != plain)
        return false;
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        t->item[i] = NULL;
        if (plain - at < 8)
            return false;
        uint64_t len = get64(bytes + at);
        at += 8;
        if (len == NONE)
            continue;
        if (len > plain - at)
            return false;
        t->item[i] = arena_memdup(a, bytes + at, (size_t)len);
        at += (size_t)len;
    }
    return at == plain;
}
