/* SPDX-License-Identifier: Apache-2.0
 *
 * Ephemeral events on their way to those who watch (live/ephemeral_queue.h).
 */
#include "live/ephemeral_queue.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool publish(ephemeral_queue *q, int64_t after, const char *bytes, bool is_delta)
{
    ephemeral_event e = {
        .session = "s", .tree = "t", .is_delta = is_delta, .bytes = bytes, .n = strlen(bytes)};
    return ephemeral_put(q, ephemeral_new(after, &e));
}

static bool tell(ephemeral_queue *q, int64_t after, const char *bytes)
{
    return publish(q, after, bytes, true);
}

static void is(ephemeral *list, const char *want)
{
    char got[64] = "";
    for (; list; list = list->next)
        strncat(got, list->event.bytes, sizeof got - strlen(got) - 1);
    cr_assert_str_eq(got, want);
}

Test(ephemeral_queue, events_of_several_nodes_stand_in_the_order_of_events)
{
    ephemeral_queue q = {0};
    ephemeral *list = NULL;
    ephemeral_queue_init(&q);
    cr_assert(tell(&q, 5, "e"));
    cr_assert_not(tell(&q, 3, "a"));
    tell(&q, 5, "f");
    tell(&q, 4, "d");
    tell(&q, 3, "b");
    ephemeral_take(&q, &list);
    is(list, "abdef");
    cr_assert(tell(&q, 3, "c"), "nothing waits any more");
    tell(&q, 9, "g");
    ephemeral_take(&q, &list);
    is(list, "abcdefg");
    ephemeral_take(&q, &list);
    is(list, "abcdefg");
    ephemeral_free(&list);
    tell(&q, 1, "left");
    ephemeral_queue_free(&q);
}

Test(ephemeral_queue, deltas_have_a_bound_and_the_rest_a_greater_one)
{
    enum { MIB = 1 << 20 };
    ephemeral_queue q = {0};
    ephemeral *list = NULL;
    char *text = calloc(1, MIB + 1);
    int deltas = 0, rest = 0;
    memset(text, 'x', MIB);
    ephemeral_queue_init(&q);
    for (int i = 0; i < 40; i++)
        tell(&q, i, text);
    for (int i = 0; i < 40; i++)
        publish(&q, 0, text, false);
    ephemeral_take(&q, &list);
    for (const ephemeral *t = list; t; t = t->next)
        *(t->event.is_delta ? &deltas : &rest) += 1;
    cr_assert_eq(deltas, 15, "%d", deltas);
    cr_assert_eq(rest, 16, "%d", rest);
    ephemeral_free(&list);
    ephemeral_queue_free(&q);
    free(text);
}
