/* SPDX-License-Identifier: Apache-2.0
 *
 * Turns: what the server adds to a model's stream. The model is a small program of this file that
 * streams words at a fixed pace, as an OpenAI-compatible endpoint; it is read with curl alone, and
 * through a turn of the server.
 */
#include "bench/suite.h"

#include "base/util.h"
#include "bench/child.h"
#include "client/client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WORDS 40
#define FIRST_US 20000 /* the model thinks */
#define EACH_US 2000
#define CROWD 200

/* ----------------------------------------------------------------- the model */

static void pause_us(long us)
{
    struct timespec ts = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&ts, NULL);
}

static bool send_all(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* Reads a request to its end; what it says does not matter here. */
static bool request_read(int fd)
{
    static _Thread_local char in[1 << 20];
    size_t n = 0;
    for (;;) {
        ssize_t got = recv(fd, in + n, sizeof in - 1 - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
        in[n] = 0;
        const char *end = strstr(in, "\r\n\r\n"), *length = strcasestr(in, "content-length:");
        if (end && n >= (size_t)(end + 4 - in) + (length ? strtoul(length + 15, NULL, 10) : 0))
            return true;
    }
}

static void *model_answer(void *arg)
{
    int fd = (int)(intptr_t)arg;
    char line[256];
    bool ok = request_read(fd) && send_all(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream"
                                               "\r\nConnection: close\r\n\r\n");
    pause_us(FIRST_US);
    for (int i = 0; ok && i < WORDS; i++) {
        snprintf(line, sizeof line,
                 "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"}%s}]}\n\n", i,
                 i + 1 < WORDS ? "" : ",\"finish_reason\":\"stop\"");
        ok = send_all(fd, line);
        pause_us(EACH_US);
    }
    if (ok)
        send_all(fd, "data: [DONE]\n\n");
    close(fd);
    return NULL;
}

static _Noreturn void model_main(int out)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t len = sizeof at;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        _exit(1);
    int port = ntohs(at.sin_port);
    if (write(out, &port, sizeof port) != (ssize_t)sizeof port)
        _exit(1);
    for (;;) {
        pthread_t t;
        int conn = accept(fd, NULL, NULL);
        if (conn >= 0 && pthread_create(&t, NULL, model_answer, (void *)(intptr_t)conn) == 0)
            pthread_detach(t);
    }
}

/* -------------------------------------------------------------- two readers */

typedef struct heard {
    double first, end; /* when the first word came, and the last */
    size_t bytes;
} heard;

static size_t on_curl(char *p, size_t size, size_t n, void *arg)
{
    heard *h = arg;
    (void)p;
    if (!h->first)
        h->first = now_us();
    h->end = now_us();
    h->bytes += size * n;
    return size * n;
}

/* Straight from the model. */
static void read_alone(const child *model, double *first, double *total)
{
    heard h = {0};
    CURL *c = curl_easy_init();
    curl_easy_setopt(c, CURLOPT_URL, child_url(model, "/v1/chat/completions"));
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, "{\"model\":\"m\",\"stream\":true,\"messages\":[]}");
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_curl);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &h);
    double start = now_us();
    if (curl_easy_perform(c) != CURLE_OK || !h.first)
        bench_die("the model cannot be read");
    *first = h.first - start;
    *total = h.end - start;
    curl_easy_cleanup(c);
}

static void on_event(void *arg, const char *name, arena *a, const json_doc *d)
{
    heard *h = arg;
    if (strcmp(name, "turn.delta") == 0) {
        const char *text = json_text(a, d, json_get(d, d->nodes, "text"));
        if (!h->first)
            h->first = now_us();
        h->bytes += text ? strlen(text) : 0;
    }
    if (strcmp(name, "turn.done") == 0)
        h->end = now_us();
}

/* Through a turn. */
static void read_turn(ramet_call *c, const char *session, double *first, double *total)
{
    heard h = {0};
    client_heard ears = {.event = on_event, .arg = &h};
    double start = now_us();
    if (client_message(c, session, "messages", "{\"text\":\"go on\"}", &ears) != RAMET_OK)
        bench_die("a turn failed: %s", client_http.ramet_call_error(c)->message);
    if (!h.first || !h.end)
        bench_die("a turn said nothing");
    *first = h.first - start;
    *total = h.end - start;
    client_http.ramet_call_reset(c);
}

static char *session_make(ramet_call *c)
{
    ramet_session *s;
    if (client_http.ramet_session_create(c, &(ramet_session_in){0}, &s) != RAMET_OK)
        bench_die("create: %s", client_http.ramet_call_error(c)->message);
    char *id = xstrdup(s->id);
    client_http.ramet_call_reset(c);
    return id;
}

/* A conversation has some ten turns; then another one begins. */
static void stream_rows(bench *b, const child *model, ramet *remote)
{
    sample first = {0}, total = {0}, alone = {0};
    ramet_call *c = client_http.ramet_call_new(remote, "ann", "bench");
    char *session = NULL;
    bench_note("turns against the model alone");
    for (int i = 0; i < (b->quick ? 10 : 200); i++) {
        double f0, t0, f1, t1;
        if (i % 10 == 0) {
            free(session);
            session = session_make(c);
        }
        read_alone(model, &f0, &t0);
        read_turn(c, session, &f1, &t1);
        sample_add(&alone, f0);
        sample_add(&first, (f1 - f0) / 1000);
        sample_add(&total, (t1 - t0) / 1000);
    }
    report_row(b, "turn_first", "first word of a turn against the model alone, p99 added",
               sample_at(&first, 0.99), "ms", BAR_MOST, 2,
               "p50 %.2f ms; the model's own takes %.1f ms", sample_at(&first, 0.5),
               sample_at(&alone, 0.5) / 1000);
    report_row(b, "turn_total", "a whole turn against the model alone, p50 added",
               sample_at(&total, 0.5), "ms", BAR_NONE, 0, "p99 %.2f ms; recorded and durable",
               sample_at(&total, 0.99));
    client_http.ramet_call_free(c);
    free(session);
    sample_free(&first);
    sample_free(&total);
    sample_free(&alone);
}

/* --------------------------------------------------------------------- crowd */

typedef struct talker {
    ramet *remote;
    size_t bytes;
    int64_t recorded;
} talker;

static void talk(void *arg)
{
    talker *t = arg;
    heard h = {0};
    client_heard ears = {.event = on_event, .arg = &h};
    ramet_page page;
    ramet_call *c = client_http.ramet_call_new(t->remote, "ann", "bench");
    char *session = session_make(c);
    if (client_message(c, session, "messages", "{\"text\":\"go on\"}", &ears) != RAMET_OK)
        bench_die("a turn failed: %s", client_http.ramet_call_error(c)->message);
    t->bytes = h.bytes;
    ramet_read_in in = {.tail = true, .limit = 1};
    if (client_http.ramet_read(c, session, &in, &page) == RAMET_OK && page.n)
        t->recorded = (int64_t)strlen(page.entries[0].text);
    client_http.ramet_call_free(c);
    free(session);
}

static void crowd_row(bench *b, ramet *remote)
{
    size_t want = 0, n = b->quick ? 20 : CROWD, whole = 0;
    for (int i = 0; i < WORDS; i++)
        want += strlen("word ") + (i < 10 ? 1 : 2);
    talker *list = xcalloc(n, sizeof *list);
    for (size_t i = 0; i < n; i++)
        list[i].remote = remote;
    bench_note("many turns at once");
    double start = now_us();
    threads_run(n, talk, list, sizeof *list);
    double took = (now_us() - start) / 1000;
    for (size_t i = 0; i < n; i++)
        whole += list[i].bytes == want && list[i].recorded == (int64_t)want;
    report_row(b, "turn_crowd", "turns at once, streamed and recorded without a lost word",
               (double)whole, "", BAR_LEAST, (double)n, "%.0f ms for all; the model alone takes %d",
               took, (FIRST_US + WORDS * EACH_US) / 1000);
    free(list);
}

void case_turns(bench *b)
{
    char setting[160];
    ramet *remote;
    ramet_error err;
    signal(SIGPIPE, SIG_IGN);
    child model = child_fork(model_main);
    snprintf(setting, sizeof setting, "m=openai,url=http://127.0.0.1:%d/v1,model=m", model.port);
    const char *more[] = {"--agent", setting, "--default-agent", "m", "--turns", "256", NULL};
    child server = child_serve(b, "turns.db", more);
    if (client_open(child_url(&server, ""), NULL, &remote, &err) != RAMET_OK)
        bench_die("%s", err.message);
    stream_rows(b, &model, remote);
    crowd_row(b, remote);
    client_http.ramet_close(remote);
    child_end(&server);
    child_end(&model);
    file_remove(scratch_path(b, "turns.db"));
}
