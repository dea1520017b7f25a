/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP benchmark: the server in a process of its own, driven by wrk over loopback, compared
 * with a bare libmicrohttpd program and with the store without HTTP.
 */
#include "bench/suite.h"

#include "base/util.h"
#include "bench/child.h"
#include "bench/wrk.h"
#include "client/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONNECTIONS 64
#define STREAMS 1000

/* ----------------------------------------------------------- the bare program */

static enum MHD_Result hello(void *cls, struct MHD_Connection *conn, const char *url,
                             const char *method, const char *version, const char *data,
                             size_t *size, void **state)
{
    (void)cls, (void)url, (void)method, (void)version, (void)data, (void)size;
    static char text[] = "{\"status\":\"ok\"}";
    static int seen;
    if (!*state) { /* the first call has only the headers */
        *state = &seen;
        return MHD_YES;
    }
    struct MHD_Response *r =
        MHD_create_response_from_buffer(sizeof text - 1, text, MHD_RESPMEM_PERSISTENT);
    enum MHD_Result rc = MHD_queue_response(conn, 200, r);
    MHD_destroy_response(r);
    return rc;
}

static _Noreturn void hello_main(int out)
{
    unsigned workers = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    struct MHD_Daemon *d =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, hello, NULL,
                         MHD_OPTION_THREAD_POOL_SIZE, workers, MHD_OPTION_END);
    const union MHD_DaemonInfo *info = d ? MHD_get_daemon_info(d, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    int port = info ? info->port : 0;
    if (write(out, &port, sizeof port) != (ssize_t)sizeof port)
        _exit(1);
    for (;;)
        pause();
}

/* -------------------------------------------------------------------- health */

static void health_rows(bench *b)
{
    sample ours = {0}, bare = {0};
    child server = child_serve(b, "http.db", NULL), plain = child_fork(hello_main);
    bench_note("GET /healthz against a bare program");
    for (int i = 0; i < (b->quick ? 1 : 5); i++) {
        sample_add(&bare, wrk_run(b, child_url(&plain, "/healthz"), NULL, CONNECTIONS).rate);
        sample_add(&ours, wrk_run(b, child_url(&server, "/healthz"), NULL, CONNECTIONS).rate);
    }
    child_end(&plain);
    child_end(&server);
    double a = sample_at(&ours, 0.5), p = sample_at(&bare, 0.5);
    report_row(b, "http_health", "GET /healthz against a bare libmicrohttpd program", a / p * 100,
               "%", BAR_LEAST, 80, "%.0f a second against %.0f", a, p);
    sample_free(&ours);
    sample_free(&bare);
}

/* -------------------------------------------------------------------- append */

static void append_rows(bench *b)
{
    sample ours = {0}, own = {0}, p99 = {0}, p50 = {0};
    const char *script = xstrdup(scratch_path(b, "append.lua"));
    bench_note("durable appends over HTTP");
    for (int i = 0; i < (b->quick ? 1 : 3); i++) {
        ramet *store = scratch_open(b, "own.db");
        sample_add(&own, appenders_rate(store, b->quick ? 100 : 600));
        ramet_close(store);
        file_remove(scratch_path(b, "own.db"));
        store = scratch_open(b, "posts.db");
        wrk_append_script(store, CONNECTIONS, script);
        ramet_close(store);
        child server = child_serve(b, "posts.db", NULL);
        wrk_result r = wrk_run(b, child_url(&server, "/"), script, CONNECTIONS);
        child_end(&server);
        file_remove(scratch_path(b, "posts.db"));
        sample_add(&ours, r.rate);
        sample_add(&p50, r.p50_ms);
        sample_add(&p99, r.p99_ms);
    }
    double a = sample_at(&ours, 0.5), p = sample_at(&own, 0.5);
    report_row(b, "http_append", "durable appends over HTTP against the store's own rate",
               a / p * 100, "%", BAR_LEAST, 40,
               "%.0f a second against %.0f; latency p50 %.2f ms, p99 %.2f ms", a, p,
               sample_at(&p50, 0.5), sample_at(&p99, 0.5));
    free((char *)script);
    sample_free(&ours);
    sample_free(&own);
    sample_free(&p50);
    sample_free(&p99);
}

/* ---------------------------------------------------------------------- tail */

static void tail_row(bench *b)
{
    ramet *store = scratch_open(b, "http.db");
    ramet_call *c = ramet_call_new(store, "local", "bench");
    words w = {22};
    char path[256];
    const char *session = scratch_session(c);
    scratch_load(c, session, 1000, &w);
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, "http.db", NULL);
    snprintf(path, sizeof path, "/ramet/v1/sessions/%s/entries?tail=true&limit=50", session);
    bench_note("tail pages over HTTP");
    wrk_result r = wrk_run(b, child_url(&server, path), NULL, CONNECTIONS);
    child_end(&server);
    report_row(b, "http_tail", "the last 50 entries over HTTP, 64 connections", r.rate, "/s",
               BAR_NONE, 0, "latency p50 %.2f ms, p99 %.2f ms", r.p50_ms, r.p99_ms);
    report_number(b, "p99_ms", r.p99_ms);
    free((char *)session);
}

/* ---------------------------------------------------------------------- fork */

static double fork_us(ramet_call *c, const char *session)
{
    ramet_fork_in in = {0};
    ramet_session *out;
    double start = now_us();
    if (client_http.ramet_fork(c, session, &in, &out, NULL) != RAMET_OK)
        bench_die("fork over HTTP: %s", client_http.ramet_call_error(c)->message);
    double took = now_us() - start;
    client_http.ramet_call_reset(c);
    return took;
}

static void fork_row(bench *b)
{
    const big_store *big = big_open(b);
    ramet *store = scratch_open(b, big->name), *remote;
    ramet_call *c = scratch_call(store);
    words w = {23};
    ramet_error err;
    const char *small = scratch_session(c);
    scratch_load(c, small, 10, &w);
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, big->name, NULL);
    if (client_open(child_url(&server, ""), NULL, &remote, &err) != RAMET_OK)
        bench_die("%s", err.message);
    c = client_http.ramet_call_new(remote, "ann", "bench");
    sample long_ = {0}, short_ = {0};
    bench_note("forks over HTTP");
    for (int i = 0; i < (b->quick ? 50 : 500); i++) {
        sample_add(&short_, fork_us(c, small));
        sample_add(&long_, fork_us(c, big->session));
    }
    double l = sample_at(&long_, 0.5), s = sample_at(&short_, 0.5);
    report_row(b, "http_fork",
               b->quick ? "fork over HTTP of 20,000 entries against 10"
                        : "fork over HTTP of 1,000,000 entries against 10",
               l / s, "x", BAR_MOST, 1.2, "%.0f us against %.0f us", l, s);
    client_http.ramet_call_free(c);
    client_http.ramet_close(remote);
    child_end(&server);
    sample_free(&long_);
    sample_free(&short_);
    free((char *)small);
}

/* ------------------------------------------------------------------- streams */

/* Opens a stream and waits for the response header, so that the stream is established. */
static int stream_open(const child *c)
{
    static const char ask[] = "GET /ramet/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)c->port)};
    char got[512];
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
        send(fd, ask, sizeof ask - 1, 0) != (ssize_t)sizeof ask - 1 ||
        recv(fd, got, sizeof got, 0) < 12 || strncmp(got, "HTTP/1.1 200", 12) != 0)
        bench_die("a stream could not be opened: %s", strerror(errno));
    return fd;
}

static void streams_row(bench *b)
{
    int fds[STREAMS], n = b->quick ? 100 : STREAMS;
    struct rlimit many;
    if (getrlimit(RLIMIT_NOFILE, &many) == 0) {
        many.rlim_cur = many.rlim_max;
        setrlimit(RLIMIT_NOFILE, &many);
    }
    child server = child_serve(b, "http.db", NULL);
    bench_note("idle streams");
    close(stream_open(&server)); /* do not count what the first stream initializes */
    int64_t before = child_resident(&server);
    for (int i = 0; i < n; i++)
        fds[i] = stream_open(&server);
    double mib = (double)(child_resident(&server) - before) / 1048576;
    for (int i = 0; i < n; i++)
        close(fds[i]);
    child_end(&server);
    report_row(b, "http_streams",
               b->quick ? "memory of 100 idle event streams" : "memory of 1,000 idle event streams",
               mib, "MiB", BAR_MOST, 64, "over %.1f MiB without them", (double)before / 1048576);
}

void case_http(bench *b)
{
    signal(SIGPIPE, SIG_IGN);
    health_rows(b);
    append_rows(b);
    tail_row(b);
    fork_row(b);
    streams_row(b);
    file_remove(scratch_path(b, "http.db"));
}
