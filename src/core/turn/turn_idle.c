/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting for the end of a turn.
 *
 * A turn may run in another process, and ends in the store, so the waiting thread looks there. At
 * most options.idle_waiters calls wait at once: each holds a thread of its program.
 */
#include "core/turn/turn_idle.h"

#include "core/handle.h"
#include "core/turn/turn.h"
#include "core/txn.h"

#include <stdatomic.h>
#include <time.h>

#define MIN_WAIT_MS 10
#define MAX_WAIT_MS 200

/* The parts of a call that an attempt uses up. */
typedef struct call_inputs {
    ramet_once *idempotency;
    const char *session, *head;
} call_inputs;

/* Whether the turn still runs. It may be gone with its session. */
static ramet_status turn_look(ramet_call *c, const char *id, bool *runs)
{
    txn tx;
    turn_row t;
    *runs = false;
    if (!txn_read(&tx, c))
        return c->err.status;
    *runs = turn_load(&tx, id, &t) && t.shown.status == RAMET_TURN_RUNNING;
    return txn_done(&tx, RAMET_OK);
}

static ramet_status turn_wait(ramet_call *c, const char *id)
{
    bool runs = true;
    for (int ms = MIN_WAIT_MS; runs; ms = ms * 2 < MAX_WAIT_MS ? ms * 2 : MAX_WAIT_MS) {
        if (c->stop.when && c->stop.when(c->stop.arg))
            return call_fail(c, RAMET_STOP, NULL, "stopped while turn %s was running", id);
        if (atomic_load(&c->ramet->idle_closed))
            return call_fail(c, RAMET_TOO_BUSY, "when",
                             "turn %s still runs, and this process is stopping", id);
        nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
        TRY(turn_look(c, id, &runs));
    }
    return RAMET_OK;
}

/* Waits for the end of the turn that the last attempt was refused for. */
static ramet_status idle_wait(ramet_call *c)
{
    ramet *r = c->ramet;
    const char *id = arena_strdup(c->arena, c->err.subject);
    ramet_status st;
    if (atomic_fetch_add(&r->idle_waiting, 1) < r->idle_waiters)
        st = turn_wait(c, id);
    else
        st = call_fail(c, RAMET_TOO_BUSY, "when", "%d calls wait for the end of a turn already",
                       r->idle_waiters > 0 ? r->idle_waiters : 0);
    atomic_fetch_sub(&r->idle_waiting, 1);
    return st;
}

ramet_status turn_idle_write(ramet_call *c, bool when_idle, turn_idle_attempt attempt, void *arg)
{
    call_inputs in = {c->idempotency, c->expect.session, c->expect.head};
    ramet_status st = attempt(c, arg);
    while (st == RAMET_TURN_RUNNING_ALREADY && when_idle) {
        TRY(idle_wait(c));
        c->idempotency = in.idempotency;
        c->expect.session = in.session;
        c->expect.head = in.head;
        st = attempt(c, arg);
    }
    return st;
}

void ramet_idle_close(ramet *r)
{
    atomic_store(&r->idle_closed, true);
}
