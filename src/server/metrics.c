/* SPDX-License-Identifier: Apache-2.0
 *
 * metrics.c: the server's metrics, as Prometheus text (version 0.0.4).
 *
 * Counters are relaxed atomics in a few copies; a thread always adds to the same copy, so counting
 * neither locks nor moves cache lines between cores. A scrape adds the copies up. What must be read
 * from the store is read by the timer, from time to time, never by a request.
 */
#include "server/server.h"

#include "base/util.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { COPIES = 8, FACES_MAX = 16, FORK_TYPES = 3, REFRESH_US = 5000000, REFRESH_SHARE = 50 };

static const int statuses[] = {200, 201, 202, 204, 206, 301, 302, 303, 304, 307, 400, 401,
                               403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415,
                               416, 417, 421, 422, 426, 429, 431, 500, 501, 502, 503, 504};
enum { STATUSES = sizeof statuses / sizeof *statuses };

static const struct {
    int64_t us;
    const char *le;
} buckets[] = {{500, "0.0005"},  {1000, "0.001"},  {2500, "0.0025"}, {5000, "0.005"},
               {10000, "0.01"},  {25000, "0.025"}, {50000, "0.05"},  {100000, "0.1"},
               {250000, "0.25"}, {500000, "0.5"},  {1000000, "1"},   {2500000, "2.5"},
               {5000000, "5"},   {10000000, "10"}, {30000000, "30"}};
enum { BUCKETS = sizeof buckets / sizeof *buckets };

/* The cells of one route: a counter for each status and one for all others, the times by bucket and
 * one beyond the last, and their sum. */
enum {
    AT_STATUS = 0,
    AT_BUCKET = STATUSES + 1,
    AT_SUM = AT_BUCKET + BUCKETS + 1,
    CELLS = AT_SUM + 1
};

typedef atomic_int_fast64_t cell;

struct metrics {
    const face *faces[FACES_MAX];
    size_t first[FACES_MAX + 1]; /* index of each face's first route; the last one: "no route" */
    size_t n_faces, n_routes;
    cell *copies[COPIES];
    cell forks[FACES_MAX + 1][FORK_TYPES];
    cell rewinds, switches, merges, cancelled;
    int64_t started_us;

    pthread_mutex_t lock; /* guards what follows */
    ramet_stats stats;    /* its texts are not used */
    int64_t read_at, read_took;
};

metrics *metrics_new(const face *const *faces, size_t n)
{
    metrics *m = xcalloc(1, sizeof *m);
    for (size_t i = 0; i < n && i < FACES_MAX; i++) {
        m->faces[i] = faces[i];
        m->first[i] = m->n_routes;
        for (const face_route *r = faces[i]->routes; r->method; r++)
            m->n_routes++;
        m->n_faces++;
    }
    m->first[m->n_faces] = m->n_routes++;
    for (int i = 0; i < COPIES; i++)
        m->copies[i] = xcalloc(m->n_routes * CELLS, sizeof(cell));
    m->started_us = time_now_us();
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_free(metrics *m)
{
    if (!m)
        return;
    for (int i = 0; i < COPIES; i++)
        free(m->copies[i]);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* ------------------------------------------------------------------ counting */

static cell *own_copy(metrics *m)
{
    static atomic_uint threads;
    static _Thread_local unsigned mine;
    if (!mine)
        mine = 1 + atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) % COPIES;
    return m->copies[mine - 1];
}

static void add(cell *c, int64_t n)
{
    atomic_fetch_add_explicit(c, n, memory_order_relaxed);
}

static size_t route_index(const metrics *m, const request *q)
{
    for (size_t i = 0; q->route && i < m->n_faces; i++)
        if (m->faces[i] == q->face)
            return m->first[i] + (size_t)(q->route - q->face->routes);
    return m->first[m->n_faces];
}

void metrics_request(metrics *m, const request *q, int64_t us)
{
    cell *cells = own_copy(m) + route_index(m, q) * CELLS;
    int status = 0, bucket = 0;
    while (status < STATUSES && statuses[status] != q->status)
        status++;
    add(&cells[AT_STATUS + status], 1);
    /* A stream lasts as long as its reader stays: that is not a latency. */
    if (q->stream)
        return;
    while (bucket < BUCKETS && us > buckets[bucket].us)
        bucket++;
    add(&cells[AT_BUCKET + bucket], 1);
    add(&cells[AT_SUM], us);
}

void metrics_count(metrics *m, const char *what, const char *type, const char *face_name)
{
    if (strcmp(what, "rewind") == 0) {
        add(&m->rewinds, 1);
    } else if (strcmp(what, "switch") == 0) {
        add(&m->switches, 1);
    } else if (strcmp(what, "merge") == 0) {
        add(&m->merges, 1);
    } else if (strcmp(what, "cancelled") == 0) {
        add(&m->cancelled, 1);
    } else if (strcmp(what, "fork") == 0) {
        int kind = type ? ramet_fork_type_parse(type) : RAMET_EXPLICIT;
        size_t at = 0;
        while (at < m->n_faces && strcmp(m->faces[at]->name, face_name) != 0)
            at++;
        if (kind >= 0 && kind < FORK_TYPES)
            add(&m->forks[at][kind], 1);
    }
}

/* ------------------------------------------------------------------ the store's numbers */

void metrics_refresh(metrics *m, ramet *store)
{
    ramet_stats s;
    int64_t now = time_mono_us();
    pthread_mutex_lock(&m->lock);
    /* Counting takes long on a large store; then it is done less often. */
    bool fresh = m->read_at && now - m->read_at < REFRESH_US + REFRESH_SHARE * m->read_took;
    pthread_mutex_unlock(&m->lock);
    if (fresh)
        return;
    ramet_call *c = ramet_call_new(store, NULL, NULL);
    ramet_status st = ramet_stat(c, &s);
    int64_t end = time_mono_us();
    pthread_mutex_lock(&m->lock);
    if (st == RAMET_OK)
        m->stats = s;
    m->stats.path = NULL;
    m->read_at = end;
    m->read_took = end - now;
    pthread_mutex_unlock(&m->lock);
    ramet_call_free(c);
}

/* ------------------------------------------------------------------ writing */

static void head(buf *out, const char *name, const char *type, const char *help)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(buf *out, const char *name, const char *type, const char *help, int64_t value)
{
    head(out, name, type, help);
    buf_printf(out, "%s %lld\n", name, (long long)value);
}

static int64_t total(metrics *m, size_t route, int at)
{
    int64_t sum = 0;
    for (int i = 0; i < COPIES; i++)
        sum +=
            atomic_load_explicit(&m->copies[i][route * CELLS + (size_t)at], memory_order_relaxed);
    return sum;
}

/* face="native",route="forkSession"; "none" for both without a route. */
static void route_labels(const metrics *m, size_t route, char out[160])
{
    size_t i = 0;
    while (i < m->n_faces && route >= m->first[i + 1])
        i++;
    if (i == m->n_faces)
        snprintf(out, 160, "face=\"none\",route=\"none\"");
    else
        snprintf(out, 160, "face=\"%s\",route=\"%s\"", m->faces[i]->name,
                 m->faces[i]->routes[route - m->first[i]].name);
}

static void requests_write(metrics *m, buf *out)
{
    char labels[160];
    head(out, "ramet_http_requests_total", "counter", "Requests that were answered.");
    for (size_t r = 0; r < m->n_routes; r++) {
        route_labels(m, r, labels);
        for (int i = 0; i <= STATUSES; i++) {
            int64_t n = total(m, r, AT_STATUS + i);
            if (n && i < STATUSES)
                buf_printf(out, "ramet_http_requests_total{%s,status=\"%d\"} %lld\n", labels,
                           statuses[i], (long long)n);
            else if (n)
                buf_printf(out, "ramet_http_requests_total{%s,status=\"other\"} %lld\n", labels,
                           (long long)n);
        }
    }
}

static void latencies_write(metrics *m, buf *out)
{
    static const char name[] = "ramet_http_request_seconds";
    char labels[160];
    head(out, name, "histogram",
         "Time from the request's first byte to its whole answer; streams are left out.");
    for (size_t r = 0; r < m->n_routes; r++) {
        int64_t sum = total(m, r, AT_SUM), so_far = 0, counts[BUCKETS + 1], all = 0;
        for (int i = 0; i <= BUCKETS; i++)
            all += counts[i] = total(m, r, AT_BUCKET + i);
        if (!all)
            continue;
        route_labels(m, r, labels);
        for (int i = 0; i < BUCKETS; i++) {
            so_far += counts[i];
            buf_printf(out, "%s_bucket{%s,le=\"%s\"} %lld\n", name, labels, buckets[i].le,
                       (long long)so_far);
        }
        buf_printf(out, "%s_bucket{%s,le=\"+Inf\"} %lld\n", name, labels, (long long)all);
        buf_printf(out, "%s_sum{%s} %.6f\n", name, labels, (double)sum / 1e6);
        buf_printf(out, "%s_count{%s} %lld\n", name, labels, (long long)all);
    }
}

static void cancelled_write(metrics *m, buf *out)
{
    one(out, "ramet_requests_cancelled_total", "counter",
        "Requests that were not run, or whose reads were stopped, because their client had left.",
        m->cancelled);
}

static void moves_write(metrics *m, buf *out)
{
    head(out, "ramet_forks_total", "counter", "Sessions that were forked, by type and face.");
    for (size_t i = 0; i <= m->n_faces; i++)
        for (int type = 0; type < FORK_TYPES; type++) {
            int64_t n = atomic_load_explicit(&m->forks[i][type], memory_order_relaxed);
            /* List faces that can fork from the start, so that rates have a first value. */
            if (n || (i < m->n_faces && *m->faces[i]->prefix))
                buf_printf(out, "ramet_forks_total{type=\"%s\",face=\"%s\"} %lld\n",
                           ramet_fork_type_name((ramet_fork_type)type),
                           i < m->n_faces ? m->faces[i]->name : "none", (long long)n);
        }
    one(out, "ramet_rewinds_total", "counter", "Heads that were moved back.", m->rewinds);
    one(out, "ramet_switches_total", "counter", "Heads that were moved to another branch.",
        m->switches);
    one(out, "ramet_merges_total", "counter", "Merges into a session.", m->merges);
}

static void batches_write(buf *out, const ramet_stats *s)
{
    int64_t up_to = 0;
    head(out, "ramet_commit_batch_size", "histogram", "Writes that shared a commit.");
    for (size_t i = 0; i < RAMET_BATCH_SIZES; i++) {
        up_to += s->batches[i];
        buf_printf(out, "ramet_commit_batch_size_bucket{le=\"%d\"} %lld\n", 1 << i,
                   (long long)up_to);
    }
    buf_printf(out,
               "ramet_commit_batch_size_bucket{le=\"+Inf\"} %lld\n"
               "ramet_commit_batch_size_sum %lld\nramet_commit_batch_size_count %lld\n",
               (long long)up_to, (long long)s->writes, (long long)up_to);
}

static void store_write(metrics *m, ramet *store, buf *out)
{
    pthread_mutex_lock(&m->lock);
    ramet_stats s = m->stats;
    pthread_mutex_unlock(&m->lock);
    int64_t newest = ramet_event_last(store);
    one(out, "ramet_store_up", "gauge", "1 while the store takes writes.",
        ramet_health(store) == RAMET_OK);
    one(out, "ramet_commits_total", "counter", "Commits of this process.", s.commits);
    batches_write(out, &s);
    one(out, "ramet_sessions", "gauge", "Sessions in the store.", s.sessions);
    one(out, "ramet_trees", "gauge", "Trees in the store.", s.trees);
    one(out, "ramet_branches", "gauge", "Branches in the store.", s.branches);
    one(out, "ramet_entries", "gauge", "Entries in the store.", s.entries);
    one(out, "ramet_attachments", "gauge", "Attachments in the store.", s.attachments);
    head(out, "ramet_store_bytes", "gauge", "Size of the store's files.");
    buf_printf(out,
               "ramet_store_bytes{file=\"main\"} %lld\nramet_store_bytes{file=\"wal\"} %lld\n"
               "ramet_store_bytes{file=\"search\"} %lld\n"
               "ramet_store_bytes{file=\"attachments\"} %lld\n",
               (long long)s.file_bytes, (long long)s.wal_bytes, (long long)s.search_bytes,
               (long long)s.attachment_bytes);
    one(out, "ramet_events_total", "counter", "Number of the newest event.", newest);
    one(out, "ramet_search_lag_events", "gauge", "Events that the search index has not seen yet.",
        s.unindexed);
}

static void live_write(live *l, http *h, rpc_server *r, buf *out)
{
    live_numbers n;
    live_count(l, &n);
    one(out, "ramet_http_connections", "gauge", "Open connections.",
        (int64_t)http_open_connections(h));
    one(out, "ramet_http_queue", "gauge", "Requests that wait for a thread, or run on one.",
        (int64_t)http_queued(h));
    one(out, "ramet_grpc_calls", "gauge", "Open calls of gRPC, streams included.",
        r ? rpc_open_calls(r, CALL_ORDINARY) : 0);
    one(out, "ramet_grpc_watches", "gauge", "Open calls of Health/Watch and of reflection.",
        r ? rpc_open_calls(r, CALL_WATCH) : 0);
    one(out, "ramet_http2_cut_total", "counter", "Connections that were cut for what they did.",
        r ? rpc_cut_connections(r) : 0);
    one(out, "ramet_http_streams", "gauge", "Open streams of events.",
        (int64_t)http_open_streams(h));
    one(out, "ramet_live_streams", "gauge", "Streams that are up to date.", n.streams);
    one(out, "ramet_live_replaying", "gauge", "Streams that are being given what they missed.",
        n.replaying);
    one(out, "ramet_live_sent_total", "counter", "Events that were handed to streams.", n.sent);
    one(out, "ramet_live_buffered_bytes", "gauge", "Bytes that wait in streams for their clients.",
        n.buffered);
    one(out, "ramet_live_behind_total", "counter",
        "Times that a stream fell behind and was given the rest from the store.", n.fallen);
    one(out, "ramet_live_dropped_total", "counter",
        "Streams that ended because they were too slow.", n.dropped);
    one(out, "ramet_live_resets_total", "counter", "Streams that had to be told to read anew.",
        n.resets);
}

static void turns_write(turns *t, buf *out)
{
    static const char name[] = "ramet_turns_total";
    turns_numbers n;
    turns_count(t, &n);
    one(out, "ramet_turns_running", "gauge", "Turns that an agent works on.", n.running);
    one(out, "ramet_turns_waiting", "gauge", "Turns that wait for another one to end.", n.waiting);
    head(out, name, "counter", "Turns that have ended.");
    buf_printf(out, "%s{status=\"done\"} %lld\n", name, (long long)n.done);
    buf_printf(out, "%s{status=\"cancelled\"} %lld\n", name, (long long)n.cancelled);
    buf_printf(out, "%s{status=\"failed\"} %lld\n", name, (long long)n.failed);
}

static int64_t descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int64_t n = -3; /* not counting the folder itself, "." and ".." */
    if (!d)
        return 0;
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static void process_write(const metrics *m, buf *out)
{
    long long pages = 0, resident = 0;
    struct rlimit limit = {0};
    struct timespec cpu = {0};
    FILE *f = fopen("/proc/self/statm", "re");
    if (f) {
        if (fscanf(f, "%lld %lld", &pages, &resident) != 2)
            pages = resident = 0;
        fclose(f);
    }
    getrlimit(RLIMIT_NOFILE, &limit);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    long page = sysconf(_SC_PAGESIZE);
    one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident * page);
    one(out, "process_virtual_memory_bytes", "gauge", "Virtual memory.", pages * page);
    one(out, "process_open_fds", "gauge", "Open file descriptors.", descriptors());
    one(out, "process_max_fds", "gauge", "Most open file descriptors.", (int64_t)limit.rlim_cur);
    head(out, "process_cpu_seconds_total", "counter", "CPU time, user and system.");
    buf_printf(out, "process_cpu_seconds_total %.3f\n",
               (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9);
    head(out, "process_start_time_seconds", "gauge", "When the server was started.");
    buf_printf(out, "process_start_time_seconds %.3f\n", (double)m->started_us / 1e6);
}

void metrics_write(metrics *m, const buf_budget *answers, http *h, rpc_server *r, live *l, turns *t,
                   ramet *store, buf *out)
{
    head(out, "ramet_build_info", "gauge", "The version.");
    buf_printf(out, "ramet_build_info{version=\"%s\"} 1\n", RAMET_VERSION);
    requests_write(m, out);
    latencies_write(m, out);
    cancelled_write(m, out);
    one(out, "ramet_answers_buffered_bytes", "gauge",
        "Memory of answers that are being made, or wait for their clients; small ones do not "
        "count.",
        atomic_load_explicit(&answers->used, memory_order_relaxed));
    moves_write(m, out);
    store_write(m, store, out);
    live_write(l, h, r, out);
    turns_write(t, out);
    process_write(m, out);
}
