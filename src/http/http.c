/* SPDX-License-Identifier: Apache-2.0
 *
 * http.c: starts and stops the HTTP/1.1 server.
 */
#include "http/http_internal.h"

#include "base/util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OVER_CONNECTIONS 64 /* accepted beyond the limit, to be refused with an error */

static void http_free(http *h)
{
    workers_stop(h);
    bodies_free(h->bodies);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

http *http_start(const http_config *cfg, char *message)
{
    http *h = xcalloc(1, sizeof *h);
    h->cfg = *cfg;
    h->max = (size_t)cfg->connections + OVER_CONNECTIONS;
    random_bytes(&h->id_salt, sizeof h->id_salt);
    pthread_mutex_init(&h->lock, NULL);
    h->bodies = bodies_new(cfg);
    if (!listen_open(h, message)) {
        http_free(h);
        return NULL;
    }
    watch_start(h);
    if (workers_start(h) && listen_start(h))
        return h;
    snprintf(message, 256, "the HTTP server could not be started: %s", strerror(errno));
    listen_close(h);
    watch_stop(h);
    http_free(h);
    return NULL;
}

int http_port(const http *h)
{
    return h->doors[0].port;
}

int http_h2_port(const http *h)
{
    return h->doors[1].port;
}

/* Waits until nothing is arriving, running or being answered; false if the time runs out. */
static bool drain(http *h, int64_t until, bool all)
{
    for (;;) {
        streams_end(h);
        if (!peers_end(h, all) && !pool_busy(h->cfg.pool))
            return true;
        if (time_mono_us() > until)
            return false;
        usleep(2000);
    }
}

void http_shut(http *h)
{
    if (h && !h->shut)
        listen_stop(h);
    if (h)
        h->shut = true;
}

bool http_stop(http *h, int seconds)
{
    atomic_store(&h->stopping, true);
    http_shut(h);
    bool fine = drain(h, time_mono_us() + (int64_t)seconds * 1000000, false);
    pool_close(h->cfg.pool);
    if (!fine && !drain(h, time_mono_us() + 1000000, true) && pool_busy(h->cfg.pool))
        return false;
    watch_stop(h);
    http_free(h);
    return true;
}

size_t http_open_connections(http *h)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->n_peers;
    pthread_mutex_unlock(&h->lock);
    return n;
}

size_t http_open_streams(http *h)
{
    pthread_mutex_lock(&h->lock);
    size_t n = h->n_streams;
    pthread_mutex_unlock(&h->lock);
    return n;
}

size_t http_queued(http *h)
{
    return pool_busy(h->cfg.pool);
}
