/* SPDX-License-Identifier: Apache-2.0
 *
 * base_base64.c: both alphabets, and the one encoding that each value has.
 */
#include "base/base64.h"

#include <criterion/criterion.h>
#include <string.h>

Test(base_base64, text_is_padded_and_ends)
{
    static const char *const of[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="};
    for (size_t n = 0; n < 5; n++) {
        char text[16] = "";
        cr_expect_eq(base64_encode("foob", n, text), BASE64_LEN(n));
        cr_expect_str_eq(text, of[n]);
    }
}

Test(base_base64, plain_form_is_strict)
{
    unsigned char out[8];
    size_t n = 99;
    /* A lone character, unused bits, the digits of the other alphabet, padding, spaces, NUL. */
    static const char *const bad[] = {"A", "AAAAA", "+/9", "-_8", "AA==", "AA ", "A\nA", "AB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_not(base64_decode(bad[i], strlen(bad[i]), out, &n), "%s", bad[i]);
    cr_expect_not(base64_decode("AA\0A", 4, out, &n));
    cr_expect_eq(n, 99); /* untouched */
    cr_expect(base64_decode("+/8", 3, out, &n));
    cr_expect(n == 2 && memcmp(out, "\xfb\xff", 2) == 0);
    cr_expect(base64_decode("", 0, out, &n) && n == 0);
    for (size_t i = 0; i < 64; i++) {
        char text[] = {'A', 'A', 'A', BASE64_DIGITS[i]};
        cr_expect(base64_decode(text, 4, out, &n) && n == 3 && out[2] == i);
    }
}

Test(base_base64, url_form_is_strict)
{
    arena *a = arena_new();
    size_t n = 0;
    cr_assert_str_eq(b64url_encode(a, "", 0), "");
    cr_assert_str_eq(b64url_encode(a, "\xfb\xff", 2), "-_8");
    cr_assert_str_eq(b64url_decode(a, "-_8", 3, &n), "\xfb\xff");
    cr_assert_eq(n, 2);
    static const char *const bad[] = {"A", "AAAAA", "-_9", "+/8", "AA==", "AA ", "A\nA", "AB"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_null(b64url_decode(a, bad[i], strlen(bad[i]), &n), "%s", bad[i]);
    for (size_t len = 0; len < 100; len++) {
        unsigned char raw[100];
        for (size_t i = 0; i < len; i++)
            raw[i] = (unsigned char)(i * 37 + len);
        const char *text = b64url_encode(a, raw, len);
        const char *back = b64url_decode(a, text, strlen(text), &n);
        cr_assert(back && n == len && memcmp(back, raw, len) == 0);
    }
    arena_free(a);
}
