/* SPDX-License-Identifier: Apache-2.0
 *
 * base_buf.c: memory that is freed at once, and bytes that grow up to a limit.
 */
#include "base/arena.h"
#include "base/buf.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(base_buf, an_arena_gives_zeroed_aligned_memory_of_any_size)
{
    arena *a = arena_new();
    char *kept[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t n = i * 7 % 300 + (i % 200 == 0 ? 100000 : 0);
        kept[i] = arena_alloc(a, n + 1);
        cr_assert_eq((uintptr_t)kept[i] % 16, 0);
        for (size_t j = 0; j <= n; j++)
            cr_assert_eq(kept[i][j], 0);
        memset(kept[i], (int)(i % 251) + 1, n + 1);
    }
    for (size_t i = 0; i < 2000; i++)
        cr_assert_eq((unsigned char)kept[i][0], i % 251 + 1, "block %zu was written over", i);
    cr_assert_gt(arena_used(a), 2000u * 16);
    arena_reset(a);
    cr_assert_eq(arena_used(a), 0);
    char *again = arena_alloc(a, 500);
    for (size_t j = 0; j < 500; j++)
        cr_assert_eq(again[j], 0);
    arena_free(a);
    arena_free(NULL);
}

Test(base_buf, an_arena_copies_and_prints)
{
    arena *a = arena_new();
    cr_assert_str_eq(arena_strdup(a, "text"), "text");
    cr_assert_null(arena_strdup(a, NULL));
    cr_assert_str_eq(arena_memdup(a, "texture", 4), "text");
    cr_assert_str_eq(arena_memdup(a, NULL, 0), "");
    cr_assert_str_eq(arena_printf(a, "%s-%d", "a", 7), "a-7");
    cr_assert_str_eq(arena_printf(a, "%s", ""), "");
    char *longer = arena_printf(a, "%020000d", 1);
    cr_assert_eq(strlen(longer), 20000);
    arena_free(a);
}

Test(base_buf, an_array_grows_and_keeps_its_items)
{
    arena *a = arena_new();
    VEC(int) v = {0};
    for (int i = 0; i < 5000; i++)
        VEC_PUSH(a, &v, i * 3);
    cr_assert_eq(v.n, 5000);
    for (int i = 0; i < 5000; i++)
        cr_assert_eq(v.items[i], i * 3);
    arena_free(a);
}

Test(base_buf, a_buffer_collects)
{
    buf b;
    buf_init(&b, 1000);
    cr_assert_str_eq(b.data, "");
    buf_puts(&b, "one");
    buf_puts(&b, NULL);
    buf_putc(&b, ' ');
    buf_add(&b, "two three", 3);
    buf_printf(&b, " %d%s", 3, "!");
    buf_printf(&b, "%s", "");
    buf_pad(&b, '-', 3);
    buf_pad(&b, '-', 0);
    cr_assert_str_eq(b.data, "one two 3!---");
    cr_assert_eq(b.n, 13);
    buf_clear(&b);
    cr_assert_str_eq(b.data, "");
    buf_puts(&b, "again");
    cr_assert_str_eq(b.data, "again");
    buf_release(&b);
    cr_assert_str_eq(b.data, "");
}

Test(base_buf, a_buffer_stops_at_its_limit)
{
    for (int how = 0; how < 3; how++) {
        buf b;
        buf_init(&b, 100);
        buf_pad(&b, 'x', 99);
        buf_putc(&b, 'y');
        cr_assert_not(b.over, "the limit itself fits");
        cr_assert_eq(b.n, 100);
        cr_assert_eq(b.data[100], 0);
        if (how == 0)
            buf_putc(&b, 'z');
        else if (how == 1)
            buf_printf(&b, "%d", 1);
        else
            buf_pad(&b, 'z', 1);
        cr_assert(b.over);
        cr_assert_str_eq(b.data, "");
        buf_puts(&b, "later");
        cr_assert_str_eq(b.data, "", "nothing is added any more");
        buf_clear(&b);
        buf_puts(&b, "fresh");
        cr_assert_str_eq(b.data, "fresh");
        buf_release(&b);
    }
    buf none;
    buf_init(&none, 0);
    buf_puts(&none, "");
    cr_assert_not(none.over);
    buf_putc(&none, 'x');
    cr_assert(none.over);
    buf_release(&none);
}

Test(base_buf, an_address_keeps_letters_digits_and_what_is_plain)
{
    buf b;
    buf_init(&b, 100);
    buf_percent(&b, "aZ09-._~/ %\xc3\xa9", "-._~");
    cr_assert_str_eq(b.data, "aZ09-._~%2F%20%25%C3%A9");
    buf_clear(&b);
    buf_percent(&b, "..", "-_~");
    cr_assert_str_eq(b.data, "%2E%2E");
    buf_release(&b);
}

Test(base_buf, is_kept_whole_or_not_at_all)
{
    arena *a = arena_new();
    buf b;
    buf_init(&b, 3);
    buf_puts(&b, "abc");
    cr_expect_str_eq(buf_keep_whole(&b, a), "abc");
    cr_expect_eq(b.cap, 0u);
    buf_init(&b, 3);
    buf_puts(&b, "abc");
    buf_putc(&b, 'd');
    cr_expect_null(buf_keep_whole(&b, a));
    cr_expect_eq(b.cap, 0u);
    buf_init(&b, 3);
    buf_puts(&b, "abcd");
    cr_expect_str_eq(buf_keep(&b, a), "");
    arena_free(a);
}
