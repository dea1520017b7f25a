/* SPDX-License-Identifier: Apache-2.0
 *
 * base_lines.c: whole lines from one descriptor and to another.
 */
#include "base/lines.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void put(int fd, const char *bytes, size_t n)
{
    cr_assert_eq(write(fd, bytes, n), (ssize_t)n);
}

static void line_is(lines_in *l, const char *want)
{
    char *text;
    size_t n;
    cr_assert_eq(lines_next(l, &text, &n), LINE_WHOLE);
    cr_assert_eq(n, strlen(want));
    cr_assert_str_eq(text, want);
}

Test(base_lines, lines_come_whole_however_they_are_cut)
{
    int ends[2];
    lines_in l;
    char *text;
    size_t n;
    cr_assert_eq(pipe(ends), 0);
    lines_in_init(&l, ends[0], 100);
    lines_read(&l);
    cr_assert_eq(lines_next(&l, &text, &n), LINE_NONE, "nothing is there, and nobody waits");
    static const char all[] = "one\ntwo\r\n\n three \nend";
    for (size_t i = 0; i < sizeof all - 1; i++) {
        put(ends[1], all + i, 1);
        lines_read(&l);
        if (all[i] != '\n')
            cr_assert_eq(lines_next(&l, &text, &n), LINE_NONE, "byte %zu", i);
        else
            line_is(&l, i == 3 ? "one" : i == 8 ? "two" : i == 9 ? "" : " three ");
    }
    cr_assert_not(l.ended);
    close(ends[1]);
    lines_read(&l);
    cr_assert(l.ended);
    line_is(&l, "end"); /* without its end */
    cr_assert_eq(lines_next(&l, &text, &n), LINE_NONE);
    lines_in_release(&l);
    close(ends[0]);
}

Test(base_lines, a_line_that_is_too_long_is_told_once_and_left_out)
{
    int ends[2];
    lines_in l;
    char *text, *big = malloc(300000);
    size_t n;
    cr_assert_eq(pipe(ends), 0);
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    lines_in_init(&l, ends[0], 1000);
    memset(big, 'x', 300000);
    put(ends[1], "a\n", 2);
    put(ends[1], big, 300000);
    put(ends[1], "\nb\n", 3);
    put(ends[1], big, 1000);
    put(ends[1], "\n", 1);
    int told = 0, lines = 0;
    for (int i = 0; i < 1000 && lines < 3; i++) {
        line_kind kind;
        lines_read(&l);
        while ((kind = lines_next(&l, &text, &n)) != LINE_NONE) {
            told += kind == LINE_TOO_LONG;
            if (kind == LINE_WHOLE)
                cr_assert_eq(n, lines++ < 2 ? 1u : 1000u, "as long as it may be");
        }
    }
    cr_assert_eq(told, 1);
    cr_assert_eq(lines, 3);
    cr_assert_leq(l.cap, (size_t)1 << 20, "what is left out takes no memory");
    free(big);
    lines_in_release(&l);
    close(ends[0]);
    close(ends[1]);
}

Test(base_lines, what_is_not_taken_waits_in_its_order)
{
    int ends[2];
    lines_out o;
    lines_in l;
    char *text;
    size_t n, seen = 0;
    char line[1024];
    cr_assert_eq(pipe(ends), 0);
    lines_out_init(&o, ends[1]);
    lines_in_init(&l, ends[0], 2000);
    for (int i = 0; i < 1000; i++) {
        memset(line, 'a' + i % 26, sizeof line);
        lines_add(&o, line, 600);
        lines_add(&o, line, 400);
        lines_end(&o);
    }
    cr_assert_gt(lines_left(&o), 500000u, "more than a pipe takes");
    while (seen < 1000) {
        lines_read(&l);
        while (lines_next(&l, &text, &n) == LINE_WHOLE) {
            cr_assert_eq(n, 1000);
            cr_assert_eq(text[0], 'a' + (int)(seen % 26));
            cr_assert_eq(text[999], text[0]);
            seen++;
        }
        lines_write(&o);
    }
    cr_assert_eq(lines_left(&o), 0);
    cr_assert_leq(o.cap, (size_t)1 << 20, "a queue that was long gives its memory back");
    lines_in_release(&l);
    lines_out_release(&o);
    close(ends[0]);
    close(ends[1]);
}

Test(base_lines, who_is_not_heard_any_more_is_told_so)
{
    int ends[2];
    lines_out o;
    cr_assert_eq(pipe(ends), 0);
    signal(SIGPIPE, SIG_IGN);
    lines_out_init(&o, ends[1]);
    close(ends[0]);
    lines_add(&o, "x", 1);
    lines_end(&o);
    cr_assert(o.broken);
    lines_add(&o, "y", 1);
    lines_end(&o);
    cr_assert_eq(lines_left(&o), 0);
    lines_out_release(&o);
    close(ends[1]);
}
