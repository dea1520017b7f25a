/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which requests of several clients get a thread.
 */
#include "runtime/pool.h"

#include <criterion/criterion.h>

enum { JOBS = 64 };

static void add(work_queue *q, const char *client, work_kind kind, pool_job *jobs, int n)
{
    for (int i = 0; i < n; i++)
        work_queue_add(q, work_lane_get(q, kind, client), &jobs[i]);
}

static void end_all(work_queue *q, work_lane **lanes, int n)
{
    for (int i = 0; i < n; i++)
        work_lane_end(q, lanes[i]);
}

Test(work_queue, clients_take_turns)
{
    work_queue q;
    pool_job a[JOBS], b[2];
    work_lane *lanes[8];
    work_queue_init(&q, &(work_limits){.threads = 8, .share = 100});
    add(&q, "ann", WORK_WRITE, a, JOBS);
    add(&q, "bob", WORK_WRITE, b, 2);
    const pool_job *want[] = {&a[0], &b[0], &a[1], &b[1], &a[2], &a[3]};
    for (int i = 0; i < 6; i++)
        cr_assert_eq(work_queue_take(&q, &lanes[i]), want[i], "turn %d", i);
    end_all(&q, lanes, 6);
}

Test(work_queue, a_client_alone_leaves_a_quarter_free)
{
    work_queue q;
    pool_job a[JOBS], b[2];
    work_lane *lanes[8];
    work_queue_init(&q, &(work_limits){.threads = 8, .share = 50});
    add(&q, "ann", WORK_WRITE, a, JOBS);
    for (int i = 0; i < 6; i++)
        cr_assert_eq(work_queue_take(&q, &lanes[i]), &a[i]);
    cr_assert_null(work_queue_take(&q, &lanes[6]));
    add(&q, "bob", WORK_WRITE, b, 2);
    cr_assert_eq(work_queue_take(&q, &lanes[6]), &b[0]);
    /* While others wait, one over its share gets nothing. */
    end_all(&q, lanes, 1);
    cr_assert_eq(work_queue_take(&q, &lanes[0]), &b[1]);
    end_all(&q, lanes, 7);
    cr_assert_eq(work_queue_take(&q, &lanes[0]), &a[6]);
    end_all(&q, lanes, 1);
}

Test(work_queue, reads_are_bounded_by_the_readers_and_do_not_hold_up_writes)
{
    work_queue q;
    pool_job reads[JOBS], writes[2];
    work_lane *lanes[8];
    work_queue_init(&q, &(work_limits){.threads = 64, .readers = 4, .share = 50});
    add(&q, "ann", WORK_READ, reads, JOBS);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(work_queue_take(&q, &lanes[i]), &reads[i]);
    cr_assert_null(work_queue_take(&q, &lanes[3]));
    add(&q, "ann", WORK_WRITE, writes, 2);
    cr_assert_eq(work_queue_take(&q, &lanes[3]), &writes[0]);
    end_all(&q, lanes, 4);
}

Test(work_queue, a_lane_is_open_when_nobody_below_his_share_waits)
{
    work_queue q;
    pool_job b[1];
    work_lane *lane, *taken;
    work_queue_init(&q, &(work_limits){.threads = 4, .share = 25});
    lane = work_lane_get(&q, WORK_WRITE, "ann");
    for (int i = 0; i < 3; i++) {
        cr_assert(work_lane_open(&q, lane));
        work_lane_begin(lane);
    }
    cr_assert_not(work_lane_open(&q, lane), "the most is reached");
    work_lane_end(&q, lane);
    cr_assert(work_lane_open(&q, lane));
    add(&q, "bob", WORK_WRITE, b, 1);
    cr_assert_not(work_lane_open(&q, lane), "bob goes first");
    cr_assert_eq(work_queue_take(&q, &taken), &b[0]);
    cr_assert(work_lane_open(&q, lane));
    work_lane_end(&q, taken);
    work_lane_end(&q, lane);
    work_lane_end(&q, lane);
}

Test(work_queue, one_thread_serves_all)
{
    work_queue q;
    pool_job a[2], b[1];
    work_lane *lane;
    const pool_job *want[] = {&a[0], &b[0], &a[1]};
    work_queue_init(&q, &(work_limits){.threads = 1, .share = 1});
    add(&q, "ann", WORK_READ, a, 2);
    add(&q, "bob", WORK_READ, b, 1);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(work_queue_take(&q, &lane), want[i]);
        work_lane_end(&q, lane);
    }
    cr_assert_null(work_queue_take(&q, &lane));
}
