/* SPDX-License-Identifier: Apache-2.0
 *
 * Group commit for PostgreSQL (group_commit.h). Writes that arrive while all commit slots are busy
 * are queued. When a slot frees up, the first queued write becomes the leader: it runs every queued
 * operation on one connection and commits them in a single transaction.
 *
 * An operation takes one of three paths:
 *
 *   GUARDED        it ran entirely from cached rows, or from rows that it read outside a
 *                  transaction. Its statements carry guards, which make the commit fail when one of
 *                  those rows has changed. When a guard fails, the group is run once more, on rows
 *                  that it reads itself.
 *   SOLO           it has to read, so it runs as a group of one on another connection rather than
 *                  delay its group.
 *   SERIALIZABLE   it cannot be guarded, it refused or had nothing to write, or its group failed.
 *                  The caller runs it in a serializable transaction of its own.
 *
 * States of an operation (op_move() knows the legal moves; the last four are final here):
 *
 *   QUEUED ──▶ IN_GROUP ──▶ COMMITTED
 *                │  ▲  ├──▶ NEEDS_SERIALIZABLE
 *                ▼  │  ├──▶ UNKNOWN
 *            NEEDS_SOLO └─▶ FAILED
 *
 * Invariants
 *
 *   G1  An operation is answered OK only after the transaction that contains it has committed:
 *       OP_COMMITTED is set in one place, behind a commit that the server has acknowledged, for the
 *       operations whose writes are in that transaction. Every other path leaves it uncommitted.
 *   G2  If the connection is lost before the commit is sent, no operation of the group is answered
 *       OK. Nothing has happened, so all of them are run again.
 *   G3  If it is lost after the commit was sent, the outcome is unknown: every operation in the
 *       transaction reports that, and none is run again here.
 *   G4  An operation that leaves its group leaves nothing behind: its writes are cut from the
 *       batch, and its failure is cleared from the connection before the next operation runs
 *       (pg_operation_undo()).
 *   G5  An operation stays in its group only if it ran nothing but marked statements and has a
 *       guard for each tree whose rights it used (P9). The connection finds that out; the operation
 *       need not know that it is guarded.
 *   G6  Every operation that was taken from the queue ends in a final state, and its caller is
 *       woken exactly once after that; an operation that is still queued is woken only to lead.
 */
#include "store/postgres/group_commit.h"

#include "base/util.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One commit slot a processor, within these bounds: more slots would make smaller groups, and a
 * commit, a start of the executor and two context switches are most of what a write costs. But when
 * a small group is slow, it waits for a disk or a replica and not for a processor; then all slots
 * are used, since the server lets commits share such a wait. */
#define MIN_COMMIT_SLOTS 2
#define MAX_COMMIT_SLOTS 8
#define SMALL_GROUP_OPS 4
#define SLOW_GROUP_US 1500
#define SLOW_GROUPS_MEASURED 256 /* after this many slow groups, the speed is measured again */
#define MAX_GROUP_OPS 256
#define MAX_GROUP_BYTES ((size_t)4 << 20)
#define MAX_GATHER_US 5000 /* then a group starts, however small it is */

typedef enum {
    OP_QUEUED,
    OP_IN_GROUP,
    OP_NEEDS_SOLO,
    OP_NEEDS_SERIALIZABLE,
    OP_COMMITTED,
    OP_UNKNOWN, /* G3 */
    OP_FAILED   /* it was a leader and got no connection */
} op_state;

/* One write, on the stack of its caller, which waits for `wake`. */
typedef struct write_op {
    struct write_op *next;
    store_op run;
    void *arg;
    op_state state;
    ramet_status status; /* OP_UNKNOWN, OP_FAILED: the answer */
    char *message;       /* ... and its text; 512 bytes of the caller */
    sem_t wake;          /* posted when it must lead (OP_QUEUED), or its group is done */
} write_op;

typedef struct group {
    write_op *ops[MAX_GROUP_OPS]; /* the leader first */
    size_t n;
    int64_t begun_us; /* when it got its connection */
} group;

struct group_commit {
    const group_connections *connections;
    store *base;
    int usual_slots, max_slots; /* while commits are fast; while they are slow */

    pthread_mutex_t lock;
    write_op *first, *last; /* the queue */
    size_t queued;
    size_t in_flight; /* operations taken from the queue and not done */
    int busy_slots;   /* groups being written */
    int64_t small_us; /* recent duration of small groups */
    int slow_groups;  /* groups since commits were found slow */
};

/* ------------------------------------------------------------ an operation */

#define TO(state) (1u << (state))

static void op_move(write_op *op, op_state to)
{
    static const unsigned legal[] = {
        [OP_QUEUED] = TO(OP_IN_GROUP),
        [OP_IN_GROUP] = TO(OP_NEEDS_SOLO) | TO(OP_NEEDS_SERIALIZABLE) | TO(OP_COMMITTED) |
                        TO(OP_UNKNOWN) | TO(OP_FAILED),
        [OP_NEEDS_SOLO] = TO(OP_IN_GROUP),
        [OP_NEEDS_SERIALIZABLE] = 0,
        [OP_COMMITTED] = 0,
        [OP_UNKNOWN] = 0,
        [OP_FAILED] = 0,
    };
    assert(legal[op->state] & TO(to));
    op->state = to;
}

static void op_fail(write_op *op, op_state to, ramet_status st, const char *message)
{
    op_move(op, to);
    op->status = st;
    snprintf(op->message, 512, "%s", message);
}

/* Moves all operations that are still in the group. */
static void group_move(group *ops, op_state to)
{
    for (size_t i = 0; i < ops->n; i++)
        if (ops->ops[i]->state == OP_IN_GROUP)
            op_move(ops->ops[i], to);
}

static size_t group_left(const group *ops)
{
    size_t n = 0;
    for (size_t i = 0; i < ops->n; i++)
        n += ops->ops[i]->state == OP_IN_GROUP;
    return n;
}

/* ------------------------------------------------- the queue; with the lock */

static void queue_put(group_commit *g, write_op *op)
{
    ASSERT_LOCKED(&g->lock);
    assert(op->state == OP_QUEUED);
    if (g->last)
        g->last->next = op;
    else
        g->first = op;
    g->last = op;
    g->queued++;
}

static write_op *queue_take(group_commit *g)
{
    write_op *op = g->first;
    ASSERT_LOCKED(&g->lock);
    if (!op)
        return NULL;
    assert(g->queued && op->state == OP_QUEUED);
    g->first = op->next;
    if (!g->first)
        g->last = NULL;
    g->queued--;
    g->in_flight++;
    return op;
}

static bool commits_are_slow(const group_commit *g)
{
    return g->small_us > SLOW_GROUP_US;
}

/* The operation that must lead a group now; NULL: none. While other groups are running, one begins
 * only when it is as large as they are together: the callers that were just answered come back one
 * by one, and the first of them would take a slot for itself. An operation that has `waited` for
 * long leads anyway: the other groups may wait for a lock. */
static write_op *leader_next(group_commit *g, bool waited)
{
    int slots = commits_are_slow(g) ? g->max_slots : g->usual_slots;
    bool too_small = g->busy_slots && !commits_are_slow(g) && g->queued < g->in_flight;
    if (g->busy_slots >= slots || (too_small && !waited))
        return NULL;
    write_op *op = queue_take(g);
    g->busy_slots += op != NULL;
    return op;
}

/* Records how long a group took. When more slots than usual are in use, groups wait for each other,
 * and the time says nothing about the disk. */
static void speed_note(group_commit *g, size_t n, int64_t us)
{
    if (commits_are_slow(g)) {
        g->slow_groups = (g->slow_groups + 1) % SLOW_GROUPS_MEASURED;
        if (!g->slow_groups)
            g->small_us = 0;
    } else if (n <= SMALL_GROUP_OPS && g->busy_slots <= g->usual_slots) {
        g->small_us += (us - g->small_us) / 8;
    }
}

/* ------------------------------------------------------------------ writing */

/* Runs one operation. Afterwards either it is still in the group and its writes are in the batch,
 * or it has left the group (G4). */
static void member_run(pg *d, write_op *op)
{
    batch_operation_begin(d->batch);
    if (batch_bytes(d->batch) <= MAX_GROUP_BYTES && op->run(&d->base, op->arg) == RAMET_OK &&
        db_status(&d->base) == RAMET_OK && batch_operation_count(d->batch) > 0)
        return;
    op_move(op, d->failure == FAILURE_NEEDS_READ ? OP_NEEDS_SOLO : OP_NEEDS_SERIALIZABLE);
    pg_operation_undo(d);
}

/* Runs the group in one transaction. FAILURE_NONE: the operations that are still in the group, if
 * any, are committed. Otherwise none is, or FAILURE_UNKNOWN. */
static pg_failure transaction_run(pg *d, db_work how, group *ops)
{
    if (d->base.engine->begin(&d->base, how) != RAMET_OK)
        return FAILURE_LOST;
    if (how == DB_GUARDED && ops->n > 1)
        d->reads = READS_REFUSED;
    for (size_t i = 0; i < ops->n && d->link != LINK_LOST; i++)
        if (ops->ops[i]->state == OP_IN_GROUP)
            member_run(d, ops->ops[i]);
    d->reads = READS_SENT;
    if (d->link == LINK_LOST || !group_left(ops)) {
        db_rollback(&d->base);
        return d->link == LINK_LOST ? FAILURE_LOST : FAILURE_NONE;
    }
    if (db_commit(&d->base) == RAMET_OK)
        return FAILURE_NONE;
    return d->failure == FAILURE_NONE ? FAILURE_REFUSED : d->failure;
}

/* G1: the only place where an operation becomes OP_COMMITTED. */
static void group_committed(group_commit *g, pg *d, group *ops)
{
    size_t n = group_left(ops);
    if (!n)
        return;
    assert(d->acknowledged == d->turn);
    group_move(ops, OP_COMMITTED);
    store_count(g->base, n);
    if (d->progress == DID_WRITE_EVENTS)
        g->connections->wrote_events(g->base);
}

/* Writes the group on a connection. Afterwards no operation is in it any more. */
static void group_write(group_commit *g, pg *d, group *ops)
{
    pg_failure failure = transaction_run(d, DB_GUARDED, ops);
    if (failure == FAILURE_CONFLICT)
        failure = transaction_run(d, DB_GUARDED_FRESH, ops);
    switch (failure) {
    case FAILURE_NONE:
        group_committed(g, d, ops);
        break;
    case FAILURE_UNKNOWN:
        for (size_t i = 0; i < ops->n; i++)
            if (ops->ops[i]->state == OP_IN_GROUP)
                op_fail(ops->ops[i], OP_UNKNOWN, db_status(&d->base), db_message(&d->base));
        break;
    case FAILURE_NEEDS_READ:
    case FAILURE_UNGUARDED:
    case FAILURE_CONFLICT:
    case FAILURE_LOST:
    case FAILURE_REFUSED:
        group_move(ops, OP_NEEDS_SERIALIZABLE);
        break;
    }
    assert(!group_left(ops));
}

/* Takes a connection, gathers the group, and writes it. The first operation is in it already; the
 * queue is added when `gather`. */
static void group_run(group_commit *g, group *ops, bool gather)
{
    char message[512] = "";
    pg *d = NULL;
    op_move(ops->ops[0], OP_IN_GROUP);
    ramet_status st = g->connections->take(g->base, &d, message);
    if (gather) {
        pthread_mutex_lock(&g->lock);
        while (ops->n < MAX_GROUP_OPS && g->first) {
            ops->ops[ops->n++] = queue_take(g);
            op_move(ops->ops[ops->n - 1], OP_IN_GROUP);
        }
        pthread_mutex_unlock(&g->lock);
    }
    ops->begun_us = time_mono_us();
    if (st != RAMET_OK) {
        op_fail(ops->ops[0], OP_FAILED, st, message);
        group_move(ops, OP_NEEDS_SERIALIZABLE);
        return;
    }
    group_write(g, d, ops);
    g->connections->give(g->base, d);
}

/* ------------------------------------------------------------------ leading */

/* op may be NULL: then no operation must lead. */
static void leader_wake(write_op *op)
{
    if (op)
        sem_post(&op->wake);
}

static void group_lead(group_commit *g, write_op *self)
{
    group ops = {.ops = {self}, .n = 1};
    group_run(g, &ops, true);
    pthread_mutex_lock(&g->lock);
    assert(g->busy_slots > 0 && g->in_flight >= ops.n);
    speed_note(g, ops.n, time_mono_us() - ops.begun_us);
    g->busy_slots--;
    g->in_flight -= ops.n;
    write_op *next = leader_next(g, false);
    pthread_mutex_unlock(&g->lock);
    leader_wake(next);
    for (size_t i = 1; i < ops.n; i++)
        sem_post(&ops.ops[i]->wake);
}

/* Waits until the operation must lead, or its group is done. */
static void op_wait(group_commit *g, write_op *op)
{
    for (;;) {
        struct timespec until = time_after(MAX_GATHER_US);
        if (sem_clockwait(&op->wake, CLOCK_MONOTONIC, &until) == 0)
            return;
        if (errno != ETIMEDOUT)
            continue; /* interrupted by a signal */
        pthread_mutex_lock(&g->lock);
        write_op *next = leader_next(g, true);
        pthread_mutex_unlock(&g->lock);
        leader_wake(next);
    }
}

/* Whether the operation has its answer; false: it must be run in a serializable transaction. */
static bool op_answer(const write_op *op, ramet_status *st)
{
    switch (op->state) {
    case OP_COMMITTED:
        *st = RAMET_OK;
        return true;
    case OP_UNKNOWN:
    case OP_FAILED:
        assert(op->status != RAMET_OK);
        *st = op->status;
        return true;
    case OP_NEEDS_SERIALIZABLE:
        return false;
    case OP_QUEUED:
    case OP_IN_GROUP:
    case OP_NEEDS_SOLO:
        break;
    }
    assert(!"an operation is answered that is still under way");
    return false;
}

bool group_commit_write(group_commit *g, store_op run, void *arg, ramet_status *st, char *message)
{
    write_op op = {.run = run, .arg = arg, .state = OP_QUEUED, .message = message};
    message[0] = 0;
    sem_init(&op.wake, 0, 0);
    pthread_mutex_lock(&g->lock);
    queue_put(g, &op);
    write_op *next = leader_next(g, false);
    pthread_mutex_unlock(&g->lock);
    if (next != &op) {
        leader_wake(next);
        op_wait(g, &op);
    }
    if (op.state == OP_QUEUED)
        group_lead(g, &op);
    if (op.state == OP_NEEDS_SOLO)
        group_run(g, &(group){.ops = {&op}, .n = 1}, false);
    sem_destroy(&op.wake);
    return op_answer(&op, st);
}

/* -------------------------------------------------------------- open, close */

static int slots_of(long processors)
{
    return processors < MIN_COMMIT_SLOTS   ? MIN_COMMIT_SLOTS
           : processors > MAX_COMMIT_SLOTS ? MAX_COMMIT_SLOTS
                                           : (int)processors;
}

group_commit *group_commit_new(const group_connections *connections, store *base, int slots)
{
    group_commit *g = xcalloc(1, sizeof *g);
    g->connections = connections;
    g->base = base;
    g->usual_slots = slots ? slots : slots_of(sysconf(_SC_NPROCESSORS_ONLN));
    g->max_slots = slots ? slots : MAX_COMMIT_SLOTS;
    pthread_mutex_init(&g->lock, NULL);
    return g;
}

void group_commit_free(group_commit *g)
{
    if (!g)
        return;
    assert(!g->queued && !g->busy_slots);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

size_t group_commit_queued(group_commit *g)
{
    pthread_mutex_lock(&g->lock);
    size_t n = g->queued;
    pthread_mutex_unlock(&g->lock);
    return n;
}
