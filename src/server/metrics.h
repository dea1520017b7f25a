/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.h: the server's metrics, as Prometheus text.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "face/kit/face.h"
#include "grpc/grpc_server.h"
#include "http/http.h"
#include "live/live.h"
#include "turns/turns.h"

typedef struct metrics metrics;
metrics *metrics_new(const face *const *faces, size_t n);
void metrics_free(metrics *m);
void metrics_request(metrics *m, const request *q, int64_t us);
void metrics_count(metrics *m, const char *what, const char *type, const char *face);
/* Writes Prometheus text. `http`, `live`, `turns` and `store` supply the gauges. */
void metrics_write(metrics *m, const buf_budget *answers, http *h, rpc_server *r, live *l, turns *t,
                   ramet *store, buf *out);
/* Counts what is in the store, if it is due: that reads rows. For the timer. */
void metrics_refresh(metrics *m, ramet *store);

#endif
