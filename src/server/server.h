/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h: the server as a whole: its own routes, the page, and the function that runs it.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "runtime/config.h"
#include "server/faces.h"
#include "server/metrics.h"

/* ---- the server's own routes (server/about.c): /healthz, /readyz, /metrics, /openapi.json,
 * /docs */

typedef struct about_parts {
    metrics *metrics;
    const buf_budget *answers;
    http **http; /* it is started after the routes are set up */
    rpc_server **rpc;
    live *live;
    turns *turns;
    ramet *store;
    const atomic_bool *stopping;
    const face *const *faces;
    size_t n_faces;
} about_parts;
void about_bind(const about_parts *p); /* copied; generates the documents */
void about_release(void);

/* ---- model servers on this machine (server/nearby.c): writes [{name, url, models}]. Takes up to a
 * second. */
void nearby_write(arena *a, json_writer *w);
/* Whether a URL is one of those that nearby_write() checks. */
bool nearby_is(const char *url);

/* ---- the whole (server/serve.c): runs until a signal ends it. On failure *err is filled. */
ramet_status server_run(const server_config *cfg, ramet_error *err);

#endif
