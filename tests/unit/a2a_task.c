/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_task.c: the tasks of a session, built from its history: long sessions, and tasks that a move
 * has cut off.
 */
#include "turn.h"

#include "form/a2a/a2a.h"
#include "ramet/tasks.h"

#include <stdio.h>

TestSuite(a2a_task, .init = scratch_open, .fini = scratch_close);

static void turn_run(const char *id, const char *error)
{
    ramet_entry_in q = {.role = RAMET_USER, .text = "q"},
                   a = {.role = RAMET_ASSISTANT, .text = "a"};
    ramet_turn *t;
    ramet_append_out out;
    ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.id = id, .entries = &q, .n = 1}, &t, &out));
    ok(ramet_turn_end(T.call, id, error ? RAMET_TURN_FAILED : RAMET_TURN_DONE, error, &a, 1, &out));
    cr_assert_eq(out.ended, turn_look("s", id)->ended, "the call tells when the turn ended");
    ramet_call_reset(T.call);
}

Test(a2a_task, a_failed_task_stays_failed_past_a_thousand_turns)
{
    char id[16];
    a2a_task *list, *one;
    size_t n;
    make("s");
    turn_run("t-first", "too bad");
    for (int i = 0; i < 1000; i++) {
        snprintf(id, sizeof id, "t%d", i);
        turn_run(id, NULL);
    }
    ok(a2a_tasks(T.call, "s", &list, &n));
    cr_assert_eq(n, 1001);
    cr_assert_str_eq(list[0].id, "t-first");
    cr_assert_eq(list[0].state, A2A_FAILED);
    cr_assert(strstr(list[0].status_message, "too bad"));
    cr_assert_eq(list[0].status_at, turn_look("s", "t-first")->ended);
    cr_assert_eq(list[1000].state, A2A_COMPLETED);
    ok(a2a_task_get(T.call, NULL, "t-first", &one));
    cr_assert_eq(one->state, A2A_FAILED);
    cr_assert(strstr(one->status_message, "too bad"));
}

Test(a2a_task, the_task_of_a_rewind_is_found_whatever_follows)
{
    a2a_task *rewound, *got;
    char id[256];
    make("s");
    turn_run("t1", NULL);
    turn_run("t2", "no");
    ok(a2a_rewind(T.call, "s", "t2", true, &rewound));
    cr_assert_eq(rewound->n, 2);
    snprintf(id, sizeof id, "%s", rewound->id);
    int64_t at = rewound->status_at;
    turn_run("t3", NULL);
    ok(a2a_task_get(T.call, NULL, id, &got));
    cr_assert_eq(got->n, 2, "it is the history that the rewind left");
    cr_assert_eq(got->status_at, at);
    cr_assert_eq(got->state, A2A_COMPLETED);
    ok(a2a_task_get(T.call, NULL, "t2", &got));
    cr_assert(got->off_head);
    cr_assert_eq(got->n, 2);
    cr_assert_eq(got->state, A2A_FAILED);
    ok(ramet_task_delete(T.call, "s", "t2"));
    cr_assert_eq(a2a_task_get(T.call, NULL, "t2", &got), RAMET_TURN_NOT_FOUND);
    cr_assert_eq(a2a_task_get(T.call, NULL, "s~rewound-99999-1-5", &got), RAMET_TURN_NOT_FOUND);
    cr_assert_eq(a2a_task_get(T.call, NULL, "nobody~rewound-1-1-5", &got), RAMET_SESSION_NOT_FOUND);
}
