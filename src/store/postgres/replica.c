/* SPDX-License-Identifier: Apache-2.0
 *
 * Read replicas of a PostgreSQL store.
 *
 * A replica is asked for its position each time it is used: that shows whether it has what the
 * reader must see, and that it is alive. When none has it within WAIT_US, or none is left, the
 * reader goes to the primary. A replica that failed is left out until the background thread has
 * reached it again; so only that thread waits for a host that is gone.
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAIT_US 200000
#define NAP_US 3000     /* between two checks of a replica that is behind */
#define ANSWER_MS 500   /* a replica that has not reported its position by then is down */
#define LOOK_US 1000000 /* how often a replica that is down is tried */
#define CONNECT_S "2"   /* the minimum of libpq */

/* A promoted replica has replayed everything that it ever will. */
static const char position_sql[] =
    "SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn()-'0/0')::bigint "
    "ELSE (pg_current_wal_insert_lsn()-'0/0')::bigint END";

struct pg_replica {
    replicas *all;
    db_site *site;
    bool up;
    int n_idle, n_open;
    pg **idle; /* room for `most` */
};

struct replicas {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_t thread;
    bool stop;
    int max; /* connections to each replica */
    size_t n, next;
    pg_replica items[];
};

/* -------------------------------------------------------------- connections */

static pg *idle_take(pg_replica *p, bool *room)
{
    pthread_mutex_lock(&p->all->lock);
    pg *d = p->up && p->n_idle ? p->idle[--p->n_idle] : NULL;
    *room = p->up && !d && p->n_open < p->all->max;
    p->n_open += *room;
    pthread_mutex_unlock(&p->all->lock);
    return d;
}

static void connection_drop(pg_replica *p, pg *d)
{
    pg_close(d);
    pthread_mutex_lock(&p->all->lock);
    p->n_open--;
    pthread_mutex_unlock(&p->all->lock);
}

/* Leaves it out: its idle connections are probably dead too. */
static void replica_down(pg_replica *p)
{
    for (;;) {
        pthread_mutex_lock(&p->all->lock);
        p->up = false;
        pg *d = p->n_idle ? p->idle[--p->n_idle] : NULL;
        pthread_cond_signal(&p->all->work);
        pthread_mutex_unlock(&p->all->lock);
        if (!d)
            return;
        connection_drop(p, d);
    }
}

static pg *connection_make(pg_replica *p)
{
    char message[512];
    pg *d;
    if (pg_connect(p->site, &d, message) != RAMET_OK) {
        connection_drop(p, NULL);
        replica_down(p);
        return NULL;
    }
    d->replica = p;
    return d;
}

void replica_give(pg *d)
{
    pg_replica *p = d->replica;
    if (!link_alive(d)) {
        connection_drop(p, d);
        return;
    }
    pthread_mutex_lock(&p->all->lock);
    p->idle[p->n_idle++] = d;
    pthread_mutex_unlock(&p->all->lock);
}

/* --------------------------------------------------------------- how far it is */

static bool answers(pg *d)
{
    struct pollfd p = {.fd = PQsocket(d->conn), .events = POLLIN};
    return d->link != LINK_LOST && PQflush(d->conn) >= 0 && poll(&p, 1, ANSWER_MS) > 0;
}

/* The replica's position; -1: no answer, the connection is unusable. */
static int64_t replayed(pg *d)
{
    db_clear(&d->base);
    PQclear(d->answer);
    d->answer = NULL;
    link_text(d, position_sql, FOR_READ);
    link_sync(d);
    if (!answers(d) || !link_settle(d) || d->base.status != RAMET_OK || !d->answer ||
        PQntuples(d->answer) != 1 || PQgetisnull(d->answer, 0, 0)) {
        d->link = LINK_LOST;
        return -1;
    }
    return value_int(d->answer, 0, 0);
}

typedef enum { REPLICA_OK, REPLICA_BEHIND, REPLICA_NONE } replica_state;

/* Tries to get a connection to a replica that has reached the position. */
static replica_state replica_try(pg_replica *p, int64_t *position, pg **out)
{
    bool room;
    pg *d = idle_take(p, &room);
    if (!d && room)
        d = connection_make(p);
    if (!d)
        return REPLICA_NONE;
    int64_t at = replayed(d);
    if (at >= *position && db_begin_read(&d->base) == RAMET_OK) {
        *position = at;
        *out = d;
        return REPLICA_OK;
    }
    if (at < 0)
        replica_down(p);
    replica_give(d);
    return at < 0 ? REPLICA_NONE : REPLICA_BEHIND;
}

pg *replica_take(replicas *r, int64_t *position)
{
    int64_t until = time_mono_us() + WAIT_US;
    for (;;) {
        bool behind = false;
        pthread_mutex_lock(&r->lock);
        size_t first = r->next++;
        pthread_mutex_unlock(&r->lock);
        for (size_t i = 0; i < r->n; i++) {
            pg *d;
            replica_state st = replica_try(&r->items[(first + i) % r->n], position, &d);
            if (st == REPLICA_OK)
                return d;
            behind |= st == REPLICA_BEHIND;
        }
        if (!behind || time_mono_us() + NAP_US > until)
            return NULL;
        nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000}, NULL);
    }
}

/* ---------------------------------------------------------------- the thread */

static void replica_look(pg_replica *p)
{
    char message[512];
    pg *d;
    if (pg_connect(p->site, &d, message) != RAMET_OK)
        return;
    if (replayed(d) < 0) {
        pg_close(d);
        return;
    }
    d->replica = p;
    pthread_mutex_lock(&p->all->lock);
    bool room = p->n_open < p->all->max;
    p->n_open += room;
    p->up = true;
    if (room)
        p->idle[p->n_idle++] = d;
    pthread_mutex_unlock(&p->all->lock);
    if (!room)
        pg_close(d);
}

static void *look_run(void *arg)
{
    replicas *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        for (size_t i = 0; i < r->n && !r->stop; i++) {
            if (r->items[i].up)
                continue;
            pthread_mutex_unlock(&r->lock);
            replica_look(&r->items[i]);
            pthread_mutex_lock(&r->lock);
        }
        int64_t at = time_mono_us() + LOOK_US;
        struct timespec t = time_spec(at);
        while (!r->stop && pthread_cond_timedwait(&r->work, &r->lock, &t) == 0)
            ;
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* -------------------------------------------------------------- open, close */

/* A replica need not accept writes, and no caller waits long for it. */
static ramet_status site_make(const char *url, db_site **out, char *message)
{
    size_t size = strlen(url) + 80;
    char *text = xmalloc(size), join = strchr(url, '?') ? '&' : '?';
    size_t n = (size_t)snprintf(text, size, "%s", url);
    if (!strstr(url, "connect_timeout=")) {
        n += (size_t)snprintf(text + n, size - n, "%cconnect_timeout=" CONNECT_S, join);
        join = '&';
    }
    if (!strstr(url, "target_session_attrs="))
        snprintf(text + n, size - n, "%ctarget_session_attrs=any", join);
    ramet_status st = site_open(text, out, message);
    if (st == RAMET_OK)
        (*out)->replica = true;
    free(text);
    return st;
}

void replicas_close(replicas *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->work);
    pthread_mutex_unlock(&r->lock);
    if (r->thread)
        pthread_join(r->thread, NULL);
    for (size_t i = 0; i < r->n; i++) {
        pg_replica *p = &r->items[i];
        while (p->n_idle)
            pg_close(p->idle[--p->n_idle]);
        free(p->idle);
        site_close(p->site);
    }
    pthread_cond_destroy(&r->work);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

ramet_status replicas_open(const char *const *urls, size_t n, int max, replicas **out,
                           char *message)
{
    replicas *r = xcalloc(1, sizeof *r + n * sizeof *r->items);
    *out = NULL;
    r->max = max;
    pthread_mutex_init(&r->lock, NULL);
    cond_init(&r->work);
    for (size_t i = 0; i < n; i++) {
        pg_replica *p = &r->items[r->n];
        ramet_status st = RAMET_INVALID;
        if (db_is_url(urls[i]))
            st = site_make(urls[i], &p->site, message);
        else
            snprintf(message, 512, "a read replica is a postgres:// URL, not '%.200s'", urls[i]);
        if (st != RAMET_OK) {
            replicas_close(r);
            return st;
        }
        p->all = r;
        p->idle = xcalloc((size_t)max, sizeof *p->idle);
        r->n++;
    }
    if (pthread_create(&r->thread, NULL, look_run, r) != 0) {
        r->thread = 0;
        replicas_close(r);
        snprintf(message, 512, "a thread could not be started");
        return RAMET_NO_MEMORY;
    }
    *out = r;
    return RAMET_OK;
}
