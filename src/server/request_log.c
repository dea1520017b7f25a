/* SPDX-License-Identifier: Apache-2.0
 *
 * request_log.c: writes a log line for a request.
 *
 * Headers are never logged. What the tables of the faces mark as a secret in a path or a query is
 * replaced, and so is every parameter that they do not know.
 */
#include "server/request_log.h"

#include "runtime/log.h"
#include "server/server.h"

#include <stdio.h>

enum { TARGET_MAX_BYTES = 65536 };

static struct {
    bool access;
    int64_t slow_us;
} setup;

void request_log_setup(const server_config *cfg)
{
    setup.access = cfg->access_log;
    setup.slow_us = cfg->slow_ms * 1000;
}

static void target_add(buf *out, const request *q)
{
    size_t n;
    const face *const *faces = server_faces(&n);
    buf text;
    buf_init(&text, TARGET_MAX_BYTES);
    face_path_show(faces, n, q, &text);
    log_pair(out, "path", text.over ? "***" : text.data);
    buf_release(&text);
    if (!q->n_query)
        return;
    buf_init(&text, TARGET_MAX_BYTES);
    face_query_show(q, &text);
    log_pair(out, "query", text.over ? "***" : text.data);
    buf_release(&text);
}

void log_request(const request *q, int64_t sent, int64_t us)
{
    char number[32];
    buf line;
    bool slow = setup.slow_us && us > setup.slow_us && !q->stream;
    log_level level = q->status >= 500 ? LOG_ERROR : slow ? LOG_WARN : LOG_INFO;
    /* 503 reports a known condition, which is logged once where it is detected; other 5xx are
     * bugs. */
    bool failed = q->status >= 500 && q->status != 503;
    if (!log_wants(level) || !(setup.access || slow || failed))
        return;
    log_begin(&line, level, slow ? "slow request" : failed ? "failed request" : "request");
    log_pair(&line, "method", q->method ? q->method : "");
    target_add(&line, q);
    snprintf(number, sizeof number, "%d", q->status);
    log_pair(&line, "status", number);
    snprintf(number, sizeof number, "%lld", (long long)sent);
    log_pair(&line, "bytes", number);
    snprintf(number, sizeof number, "%.3f", (double)us / 1000);
    log_pair(&line, "ms", number);
    if (q->route)
        log_pair(&line, "route", q->route->name);
    if (q->caller.user)
        log_pair(&line, "user", q->caller.user);
    if (q->caller.client)
        log_pair(&line, "client", q->caller.client);
    if (q->remote)
        log_pair(&line, "remote", q->remote);
    log_pair(&line, "request_id", q->id);
    log_end(&line);
}
