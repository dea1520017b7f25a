/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <string.h>

/* The digits 62 and 63; the others are the same in both alphabets. */
static const char plain[] = "+/", url[] = "-_";

size_t base64_encode(const void *p, size_t n, char *out)
{
    return (size_t)EVP_EncodeBlock((unsigned char *)out, p, (int)n);
}

static int digit_value(char ch, const char *last)
{
    if (ch >= 'A' && ch <= 'Z')
        return ch - 'A';
    if (ch >= 'a' && ch <= 'z')
        return ch - 'a' + 26;
    if (ch >= '0' && ch <= '9')
        return ch - '0' + 52;
    return ch == last[0] ? 62 : ch == last[1] ? 63 : -1;
}

static bool decode(const char *s, size_t n, const char *last, void *out, size_t *out_n)
{
    uint8_t *to = out;
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < n; i++) {
        int v = digit_value(s[i], last);
        if (v < 0)
            return false;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            *to++ = (uint8_t)(bits >> have);
        }
    }
    if (have == 6 || (bits & ((1u << have) - 1)))
        return false;
    *out_n = (size_t)(to - (uint8_t *)out);
    return true;
}

bool base64_decode(const char *s, size_t n, void *out, size_t *out_n)
{
    return decode(s, n, plain, out, out_n);
}

char *b64url_encode(arena *a, const void *p, size_t n)
{
    char *out = arena_alloc(a, BASE64_LEN(n) + 1);
    base64_encode(p, n, out);
    out[strcspn(out, "=")] = 0;
    for (char *ch = out; *ch; ch++)
        *ch = *ch == plain[0] ? url[0] : *ch == plain[1] ? url[1] : *ch;
    return out;
}

char *b64url_decode(arena *a, const char *s, size_t n, size_t *out_n)
{
    char *out = arena_alloc(a, n / 4 * 3 + 4);
    return decode(s, n, url, out, out_n) ? out : NULL;
}
