/* SPDX-License-Identifier: Apache-2.0
 *
 * base_words.c: lists of words in one text.
 */
#include "base/words.h"

#include <criterion/criterion.h>
#include <string.h>

Test(base_words, next_gives_every_word_and_none_that_is_empty)
{
    static const char *const lists[] = {"a|bc|d", "|a||bc|d|", "||a|bc||d"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const char *list = lists[i], *word;
        char all[16] = "";
        size_t n;
        while ((word = word_next(&list, "|", &n))) {
            cr_assert_gt(n, 0u);
            strncat(all, word, n);
            strncat(all, ";", 2);
        }
        cr_expect_str_eq(all, "a;bc;d;", "%s", lists[i]);
        cr_expect_null(word_next(&list, "|", &n)); /* the end stays the end */
    }
    static const char *const none[] = {"", "|", "|||", NULL};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const char *list = none[i];
        size_t n;
        cr_expect_null(word_next(&list, "|", &n));
    }
}

Test(base_words, in_compares_whole_words)
{
    cr_expect(word_in("asc|desc", "|", "asc"));
    cr_expect(word_in("asc|desc", "|", "desc"));
    cr_expect(word_in(" \tclose,, keep-alive ", " \t,", "keep-alive"));
    static const char *const others[] = {"", "as", "ascd", "sc", "asc|desc", "|", "ASC", "des"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        cr_expect_not(word_in("asc||desc|", "|", others[i]), "%s", others[i]);
    cr_expect_not(word_in("", "|", ""));
    cr_expect_not(word_in(NULL, "|", "asc"));
    cr_expect_not(word_in("a b", ",", "b"));
}

Test(base_words, in_any_case_does_not_look_at_it)
{
    cr_expect(word_in_any_case("Keep-Alive, CLOSE", ", ", "close"));
    cr_expect(word_in_any_case("close", ", ", "CLOSE"));
    cr_expect_not(word_in_any_case("closed", ", ", "CLOSE"));
    cr_expect_not(word_in_any_case("a,,b", ",", ""));
}
