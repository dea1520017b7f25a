/* SPDX-License-Identifier: Apache-2.0
 *
 * base_seal.c: what is sealed opens with its key and as it was, else not.
 */
#include "base/seal.h"

#include <criterion/criterion.h>
#include <string.h>

static arena *a;
static const uint8_t key[SEAL_KEY] = {1, 2, 3};

static void set_up(void)
{
    a = arena_new();
}

static void tear_down(void)
{
    arena_free(a);
}

TestSuite(base_seal, .init = set_up, .fini = tear_down);

Test(base_seal, it_opens_as_it_was)
{
    static char bytes[70000];
    static const size_t sizes[] = {0, 1, 15, 16, 17, 70000};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i % 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n, back = 0;
        const char *sealed = seal_make(a, key, "about", bytes, sizes[i], &n);
        cr_assert_eq(n, sizes[i] + SEAL_MORE);
        const char *plain = seal_open(a, key, "about", sealed, n, &back);
        cr_assert(plain);
        cr_assert_eq(back, sizes[i]);
        cr_assert_eq(memcmp(plain, bytes, back), 0);
        cr_assert_eq(plain[back], 0);
    }
}

Test(base_seal, two_seals_of_the_same_differ)
{
    size_t n, m;
    const char *one = seal_make(a, key, "", "text", 4, &n),
               *two = seal_make(a, key, "", "text", 4, &m);
    cr_assert_eq(n, m);
    cr_assert_neq(memcmp(one, two, 12), 0);
    cr_assert_neq(memcmp(one + 12, two + 12, 4), 0);
}

Test(base_seal, nothing_else_opens)
{
    size_t n, back;
    uint8_t other[SEAL_KEY] = {1, 2, 4};
    char *sealed = (char *)seal_make(a, key, "about", "secret", 6, &n);
    cr_assert_null(memmem(sealed, n, "secret", 6));
    cr_assert_null(seal_open(a, other, "about", sealed, n, &back));
    cr_assert_null(seal_open(a, key, "abouT", sealed, n, &back));
    cr_assert_null(seal_open(a, key, "", sealed, n, &back));
    cr_assert_null(seal_open(a, key, "about", NULL, 0, &back));
    for (size_t len = 0; len < n; len++)
        cr_assert_null(seal_open(a, key, "about", sealed, len, &back));
    for (size_t i = 0; i < n; i++) {
        sealed[i] ^= 1;
        cr_assert_null(seal_open(a, key, "about", sealed, n, &back), "byte %zu", i);
        sealed[i] ^= 1;
    }
    cr_assert(seal_open(a, key, "about", sealed, n, &back));
}
