/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers events on PostgreSQL, after their commit.
 *
 *   E1  A write puts its events into `outbox`, in its own transaction, without numbers.
 *   E2  The process that numbers events holds one advisory lock until its own commit, and moves
 *       what it sees in the outbox to `event` with the numbers after the last one. So a number
 *       becomes visible after all smaller ones, whichever node assigned it. Any node may number:
 *       the lock decides.
 *   E3  A process numbers soon after its own commits, on a separate thread, many commits at once;
 *       what a process left behind when it died is numbered by the next pass of any other.
 */
#include "store/postgres/postgres.h"

#include "base/util.h"
#include "store/sql/postgres_sql.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 5000
#define REST_US 30000   /* between two passes: a commit each would cost as much as the writes */
#define LOOK_US 1000000 /* how often the outbox is checked for what other processes have left */

/* All of a pass is sent at once. If only a part of it arrived, and the connection stayed open, no
 * other process could number events until the server ends the transaction. */
static const char idle_sql[] = "SET LOCAL idle_in_transaction_session_timeout=5000";
static const char lock_sql[] =
    "SELECT pg_advisory_xact_lock(hashtext('ramet events'),hashtext(current_schema()))";
static const char move_sql[] = EVENTS_MOVE;
/* Sent after the commit: wakes every process that listens. */
static const char notify_sql[] = "SELECT pg_notify(" BUS_CHANNEL ",'e'||$1)";

struct sequencer {
    db_site *site;
    event_callback on_event;
    void *arg;
    pg *connection; /* used by the thread only */

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    int64_t wanted, finished; /* passes requested, and done or abandoned */
    int64_t looked;           /* when the last one ended */
    int settling;             /* callers that wait for numbers: then there is no pause */
    bool running, stop, resting;
    pthread_t thread;
};

/* Runs one transaction in one round trip; -1 when it failed. */
static int64_t move_some(sequencer *s, int64_t *newest)
{
    static const int64_t max = BATCH;
    pg *d = s->connection;
    if (db_begin_schema(&d->base) != RAMET_OK)
        return -1;
    link_begin(d, "BEGIN ISOLATION LEVEL READ COMMITTED", FOR_NOTHING);
    link_text(d, idle_sql, FOR_NOTHING);
    link_text(d, lock_sql, FOR_NOTHING);
    link_ints(d, move_sql, &max, 1, FOR_READ);
    if (db_commit(&d->base) != RAMET_OK || !d->answer || !PQntuples(d->answer))
        return -1;
    *newest = value_int(d->answer, 0, 1);
    return value_int(d->answer, 0, 0);
}

static void pass(sequencer *s)
{
    char message[512];
    int64_t n = BATCH, newest = 0;
    if (!s->connection && pg_connect(s->site, &s->connection, message) != RAMET_OK)
        return;
    while (n == BATCH) {
        n = move_some(s, &newest);
        if (n > 0) {
            link_ints(s->connection, notify_sql, &newest, 1, FOR_NOTHING);
            link_sync(s->connection);
        }
        if (n >= 0 && s->on_event)
            s->on_event(s->arg, newest);
    }
    if (n < 0 && s->connection->link == LINK_LOST) {
        pg_close(s->connection);
        s->connection = NULL;
    }
}

/* The first event after a pause is numbered at once, those that follow it together. */
static void rest(sequencer *s)
{
    int64_t until = s->looked + REST_US;
    struct timespec t = time_spec(until);
    s->resting = true; /* sequencer_wrote() need not wake the thread meanwhile */
    while (!s->stop && !s->settling && time_mono_us() < until &&
           pthread_cond_timedwait(&s->work, &s->lock, &t) == 0)
        ;
    s->resting = false;
}

static void *sequencer_run(void *arg)
{
    sequencer *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stop || s->finished < s->wanted) {
        if (s->finished == s->wanted) {
            pthread_cond_wait(&s->work, &s->lock);
            continue;
        }
        rest(s);
        int64_t upto = s->wanted;
        pthread_mutex_unlock(&s->lock);
        pass(s);
        pthread_mutex_lock(&s->lock);
        s->finished = upto;
        s->looked = time_mono_us();
        pthread_cond_broadcast(&s->done);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

sequencer *sequencer_new(db_site *site, event_callback on_event, void *arg)
{
    sequencer *s = xcalloc(1, sizeof *s);
    s->site = site;
    s->on_event = on_event;
    s->arg = arg;
    pthread_mutex_init(&s->lock, NULL);
    cond_init(&s->work);
    pthread_cond_init(&s->done, NULL);
    return s;
}

/* Requests a pass; the first request starts the thread. Call with the lock held. */
static void want(sequencer *s)
{
    s->wanted++;
    if (!s->running)
        s->running = pthread_create(&s->thread, NULL, sequencer_run, s) == 0;
    if (!s->running)
        s->finished = s->wanted; /* give up: a later pass numbers them */
    if (!s->resting)
        pthread_cond_signal(&s->work);
}

void sequencer_wrote(sequencer *s)
{
    pthread_mutex_lock(&s->lock);
    want(s);
    pthread_mutex_unlock(&s->lock);
}

void sequencer_settle(sequencer *s, bool all)
{
    pthread_mutex_lock(&s->lock);
    if (all || (s->finished == s->wanted && time_mono_us() - s->looked > LOOK_US))
        want(s);
    int64_t upto = s->wanted;
    s->settling++;
    pthread_cond_signal(&s->work);
    while (s->finished < upto)
        pthread_cond_wait(&s->done, &s->lock);
    s->settling--;
    pthread_mutex_unlock(&s->lock);
}

int64_t sequencer_mark(sequencer *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t mark = s->wanted;
    pthread_mutex_unlock(&s->lock);
    return mark;
}

void sequencer_upto(sequencer *s, int64_t mark)
{
    pthread_mutex_lock(&s->lock);
    while (s->finished < mark)
        pthread_cond_wait(&s->done, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void sequencer_free(sequencer *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
    if (s->running)
        pthread_join(s->thread, NULL);
    pg_close(s->connection);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->done);
    free(s);
}
