/* SPDX-License-Identifier: Apache-2.0
 *
 * Packing the texts of an entry into one compressed blob (pack.h).
 *
 * Layout: one byte method (0 plain, 1 zstd), eight bytes plain size (big-endian), then the plain
 * bytes or their zstd frame. Plain: for each of three texts eight bytes length (all ones: there is
 * none) and the bytes.
 */
#include "core/pack.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
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

/* ----------------------------------------------------------------- contexts */

/* A context takes some hundred kilobytes: creating one costs more than packing a message. A few are
 * kept for reuse. */
#define KEPT 8

static struct {
    pthread_mutex_t lock;
    ZSTD_CCtx *packers[KEPT];
    ZSTD_DCtx *openers[KEPT];
    size_t n_packers, n_openers;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static ZSTD_CCtx *packer_take(void)
{
    pthread_mutex_lock(&kept.lock);
    ZSTD_CCtx *c = kept.n_packers ? kept.packers[--kept.n_packers] : NULL;
    pthread_mutex_unlock(&kept.lock);
    if (!c && !(c = ZSTD_createCCtx()))
        abort();
    return c;
}

static void packer_give(ZSTD_CCtx *c)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.n_packers < KEPT) {
        kept.packers[kept.n_packers++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
    ZSTD_freeCCtx(c);
}

static ZSTD_DCtx *opener_take(void)
{
    pthread_mutex_lock(&kept.lock);
    ZSTD_DCtx *c = kept.n_openers ? kept.openers[--kept.n_openers] : NULL;
    pthread_mutex_unlock(&kept.lock);
    if (!c && !(c = ZSTD_createDCtx()))
        abort();
    return c;
}

static void opener_give(ZSTD_DCtx *c)
{
    pthread_mutex_lock(&kept.lock);
    if (kept.n_openers < KEPT) {
        kept.openers[kept.n_openers++] = c;
        c = NULL;
    }
    pthread_mutex_unlock(&kept.lock);
    ZSTD_freeDCtx(c);
}

static size_t compress(char *to, size_t room, const char *from, size_t n)
{
    ZSTD_CCtx *c = packer_take();
    size_t got = ZSTD_compressCCtx(c, to, room, from, n, 3);
    packer_give(c);
    return got;
}

static size_t decompress(char *to, size_t room, const char *from, size_t n)
{
    ZSTD_DCtx *c = opener_take();
    size_t got = ZSTD_decompressDCtx(c, to, room, from, n);
    opener_give(c);
    return got;
}

/* ------------------------------------------------------------------ packing */

/* `out` has HEAD bytes of room, followed by the plain bytes. */
static const char *squeeze(arena *a, char *out, size_t plain, bool pays, size_t *len)
{
    out[0] = 0;
    put64(out + 1, plain);
    *len = HEAD + plain;
    if (!pays)
        return out;
    size_t bound = ZSTD_compressBound(plain);
    char *packed = arena_alloc(a, HEAD + bound);
    size_t n = compress(packed + HEAD, bound, out + HEAD, plain);
    if (ZSTD_isError(n) || n > plain - plain / 8)
        return out;
    packed[0] = 1;
    put64(packed + 1, plain);
    *len = HEAD + n;
    return packed;
}

const char *pack_bytes(arena *a, const char *p, size_t n, size_t *len)
{
    char *out = arena_alloc(a, HEAD + n);
    memcpy(out + HEAD, p, n);
    return squeeze(a, out, n, n > INLINE_MAX, len);
}

const char *pack_make(arena *a, const pack_texts *t, size_t *len)
{
    size_t size[3], plain = 0;
    for (int i = 0; i < 3; i++) {
        size[i] = t->item[i] ? strlen(t->item[i]) : 0;
        plain += 8 + size[i];
    }
    char *out = arena_alloc(a, HEAD + plain), *p = out + HEAD;
    for (int i = 0; i < 3; i++) {
        put64(p, t->item[i] ? size[i] : NONE);
        if (size[i])
            memcpy(p + 8, t->item[i], size[i]);
        p += 8 + size[i];
    }
    return squeeze(a, out, plain, true, len);
}

/* Whether both records of the plain size agree: a damaged one must not decide how much memory is
 * allocated. */
static bool size_agrees(const char *p, size_t n)
{
    uint64_t plain = n < HEAD ? NONE : get64(p + 1);
    if (plain > PLAIN_MAX)
        return false;
    return p[0] == 0 ? plain == n - HEAD
                     : p[0] == 1 && plain == ZSTD_getFrameContentSize(p + HEAD, n - HEAD);
}

bool unpack_bytes(arena *a, const void *data, size_t n, const char **out, size_t *len)
{
    const char *p = data;
    if (!size_agrees(p, n))
        return false;
    size_t plain = (size_t)get64(p + 1);
    char *bytes = arena_alloc(a, plain + 1);
    if (p[0] == 0)
        memcpy(bytes, p + HEAD, plain);
    else if (decompress(bytes, plain, p + HEAD, n - HEAD) != plain)
        return false;
    *out = bytes;
    *len = plain;
    return true;
}

bool pack_open(arena *a, const void *data, size_t n, pack_texts *t)
{
    const char *bytes;
    size_t plain, at = 0;
    if (!unpack_bytes(a, data, n, &bytes, &plain))
        return false;
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
