/* SPDX-License-Identifier: Apache-2.0
 *
 * The turns benchmark: the time that the server adds to a model's stream. The model is a small
 * program in this file, an OpenAI-compatible endpoint that streams words at a fixed pace. It is
 * read by curl directly, and through a turn of the server. The first segment of its path selects
 * how it treats a connection: on /kept it keeps it open for the next request, on all others it
 * closes it after each.
 */
#include "bench/suite.h"

#include "base/util.h"
#include "bench/child.h"
#include "client/client.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WORDS 20
#define CROWD_WORDS 40 /* words of an answer on /crowd */
#define FIRST_US 20000 /* until the first word */
#define EACH_US 2000
#define REST_US 5000 /* between two readings, so that one does not affect the next */
#define PAIRS 300
#define CROWD 200
#define REQUEST_BYTES ((size_t)1 << 20)

/* ----------------------------------------------------------------- the model */

static void pause_us(long us)
{
    struct timespec ts = time_spec(us);
    nanosleep(&ts, NULL);
}

static bool send_all(int fd, const char *text)
{
    return send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text);
}

/* Reads a whole request; NULL: there is none. Only its first line matters here. `in` has room for
 * REQUEST_BYTES and belongs to the caller, because thread-local memory of this size would be part
 * of every thread of the server, which is the same program. */
static const char *request_read(int fd, char *in)
{
    size_t n = 0;
    for (;;) {
        ssize_t got = recv(fd, in + n, REQUEST_BYTES - 1 - n, 0);
        if (got <= 0)
            return NULL;
        n += (size_t)got;
        in[n] = 0;
        const char *end = strstr(in, "\r\n\r\n"), *length = strcasestr(in, "content-length:");
        if (end && n >= (size_t)(end + 4 - in) + (length ? strtoul(length + 15, NULL, 10) : 0))
            return in;
    }
}

/* Sends an event; as a chunk when the connection is kept open, so that the client sees its end. */
static bool event_send(int fd, bool kept, const char *data)
{
    char event[320];
    if (kept)
        snprintf(event, sizeof event, "%zx\r\ndata: %s\n\n\r\n", strlen(data) + 8, data);
    else
        snprintf(event, sizeof event, "data: %s\n\n", data);
    return send_all(fd, event);
}

static bool words_send(int fd, bool kept, int n)
{
    char data[256];
    bool ok = send_all(fd, kept ? "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Transfer-Encoding: chunked\r\n\r\n"
                                : "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                                  "Connection: close\r\n\r\n");
    pause_us(FIRST_US);
    for (int i = 0; ok && i < n; i++) {
        snprintf(data, sizeof data,
                 "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"}%s}]}", i,
                 i + 1 < n ? "" : ",\"finish_reason\":\"stop\"");
        ok = event_send(fd, kept, data);
        pause_us(EACH_US);
    }
    return ok && event_send(fd, kept, "[DONE]") && (!kept || send_all(fd, "0\r\n\r\n"));
}

static void *model_answer(void *arg)
{
    int fd = (int)(intptr_t)arg, on = 1;
    const char *line;
    char *in = xmalloc(REQUEST_BYTES);
    bool kept = true;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    while (kept && (line = request_read(fd, in))) {
        kept = strncmp(line, "POST /kept/", 11) == 0;
        bool crowd = strncmp(line, "POST /crowd/", 12) == 0;
        kept = words_send(fd, kept, crowd ? CROWD_WORDS : WORDS) && kept;
    }
    close(fd);
    free(in);
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

typedef struct received {
    double first, end; /* times of the first and the last word */
    size_t bytes;
} received;

static size_t on_curl(char *p, size_t size, size_t n, void *arg)
{
    received *h = arg;
    (void)p;
    if (!h->first)
        h->first = now_us();
    h->end = now_us();
    h->bytes += size * n;
    return size * n;
}

/* Reads directly from the model. The handle keeps its connection open when the model does. */
static void read_alone(CURL *c, const char *url, double *first, double *total)
{
    received h = {0};
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, "{\"model\":\"m\",\"stream\":true,\"messages\":[]}");
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_curl);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &h);
    double start = now_us();
    if (curl_easy_perform(c) != CURLE_OK || !h.first)
        bench_die("the model cannot be read");
    *first = h.first - start;
    *total = h.end - start;
}

static void on_event(void *arg, const char *name, arena *a, const json_doc *d)
{
    received *h = arg;
    if (strcmp(name, "turn.delta") == 0) {
        const char *text = json_text(a, d, json_get(d, d->nodes, "text"));
        if (!h->first)
            h->first = now_us();
        h->bytes += text ? strlen(text) : 0;
    }
    if (strcmp(name, "turn.done") == 0)
        h->end = now_us();
}

/* Reads through a turn of the server. */
static void read_turn(ramet_call *c, const char *session, const char *message, double *first,
                      double *total)
{
    received h = {0};
    client_events events = {.event = on_event, .arg = &h};
    double start = now_us();
    if (client_message(c, session, "messages", message, &events) != RAMET_OK)
        bench_die("a turn failed: %s", client_http.ramet_call_error(c)->message);
    if (!h.first || !h.end)
        bench_die("a turn had no output");
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

/* Times of one kind of connection, in milliseconds. */
typedef struct pairs {
    sample alone, turn;  /* time of the first word */
    sample added, total; /* added by the turn, pair by pair */
    sample disk;         /* durable writes alone, measured between the pairs */
} pairs;

static void pairs_free(pairs *p)
{
    sample_free(&p->alone);
    sample_free(&p->turn);
    sample_free(&p->added);
    sample_free(&p->total);
    sample_free(&p->disk);
}

/* Times a durable overwrite of the size of a commit: no turn can begin sooner. */
static void disk_time(int fd, int i, sample *out)
{
    static const char bytes[32768];
    double start = now_us();
    if (pwrite(fd, bytes, sizeof bytes, i % 32 * (off_t)sizeof bytes) != (ssize_t)sizeof bytes ||
        fdatasync(fd) != 0)
        bench_die("the scratch file cannot be written");
    sample_add(out, (now_us() - start) / 1000);
}

/* Measures pairs; each kind is first in every other pair. A conversation has ten turns, then a new
 * one begins. */
static void pairs_read(ramet_call *c, const child *model, const char *agent, int n, int disk,
                       pairs *p)
{
    char url[256], message[64], path[64];
    char *session = NULL;
    CURL *curl = curl_easy_init();
    snprintf(path, sizeof path, "/%s/v1/chat/completions", agent);
    snprintf(url, sizeof url, "%s", child_url(model, path));
    snprintf(message, sizeof message, "{\"text\":\"go on\",\"agent\":\"%s\"}", agent);
    for (int i = 0; i < n; i++) {
        double first[2] = {0}, total[2] = {0};
        if (i % 10 == 0) {
            free(session);
            session = session_make(c);
        }
        disk_time(disk, i, &p->disk);
        for (int k = 0; k < 2; k++) {
            pause_us(REST_US);
            if ((i + k) % 2)
                read_turn(c, session, message, &first[1], &total[1]);
            else
                read_alone(curl, url, &first[0], &total[0]);
        }
        sample_add(&p->alone, first[0] / 1000);
        sample_add(&p->turn, first[1] / 1000);
        sample_add(&p->added, (first[1] - first[0]) / 1000);
        sample_add(&p->total, (total[1] - total[0]) / 1000);
    }
    curl_easy_cleanup(curl);
    free(session);
}

static double added_at(pairs *p, double q)
{
    return sample_at(&p->turn, q) - sample_at(&p->alone, q);
}

/* The bar applies to what is added at p99: the p99 of the turns minus that of the model alone. */
static void first_row(bench *b, pairs *p, const char *name, const char *what)
{
    report_row(b, name, what, added_at(p, 0.99), "ms", BAR_MOST, 2,
               "p50 %.2f, p90 %.2f ms; p99 of the differences %.2f ms; a durable write alone: p50 "
               "%.2f, p99 %.2f ms",
               added_at(p, 0.5), added_at(p, 0.9), sample_at(&p->added, 0.99),
               sample_at(&p->disk, 0.5), sample_at(&p->disk, 0.99));
    report_number(b, "added_p50_ms", added_at(p, 0.5));
    report_number(b, "added_p90_ms", added_at(p, 0.9));
    report_number(b, "difference_p99_ms", sample_at(&p->added, 0.99));
    report_number(b, "disk_p99_ms", sample_at(&p->disk, 0.99));
    report_number(b, "alone_p50_ms", sample_at(&p->alone, 0.5));
    report_number(b, "alone_p99_ms", sample_at(&p->alone, 0.99));
    report_number(b, "turn_p99_ms", sample_at(&p->turn, 0.99));
}

/* Fills the write-ahead log once. From then on it is overwritten, as in a server that is in use;
 * growing a file costs the file system a commit of its own. */
static void log_fill(ramet_call *c, bool quick)
{
    enum { BATCH = 400 };
    words w = {4};
    char text[ENTRY_BYTES + 1];
    ramet_entry_in in[BATCH];
    ramet_append_out out;
    words_fill(&w, text, ENTRY_BYTES);
    for (int i = 0; i < BATCH; i++)
        in[i] = (ramet_entry_in){.role = RAMET_USER, .text = text};
    char *session = session_make(c);
    for (int i = 0; i < (quick ? 1 : 40); i++) {
        ramet_append_in batch = {.entries = in, .n = BATCH};
        if (client_http.ramet_append(c, session, &batch, &out) != RAMET_OK)
            bench_die("append: %s", client_http.ramet_call_error(c)->message);
        client_http.ramet_call_reset(c);
    }
    free(session);
    pause_us(quick ? 0 : 3000000); /* until the entries are indexed */
}

static void stream_rows(bench *b, const child *model, ramet *remote)
{
    pairs kept = {0}, fresh = {0};
    ramet_call *c = client_http.ramet_call_new(remote, "ann", "bench");
    bench_note("turns against the model alone");
    log_fill(c, b->quick);
    int disk = open(scratch_path(b, "turns.disk"), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; i < 32; i++)
        disk_time(disk, i, &kept.disk);
    kept.disk.n = 0; /* drop what was measured while the log grew */
    pairs_read(c, model, "kept", b->quick ? 10 : PAIRS, disk, &kept);
    pairs_read(c, model, "new", b->quick ? 10 : PAIRS, disk, &fresh);
    close(disk);
    first_row(b, &kept, "turn_first", "first word of a turn against the model alone, p99 added");
    first_row(b, &fresh, "turn_first_new", "... with a new connection to the model each time");
    report_row(b, "turn_total", "a whole turn against the model alone, p50 added",
               sample_at(&kept.total, 0.5), "ms", BAR_NONE, 0, "p99 %.2f ms; recorded and durable",
               sample_at(&kept.total, 0.99));
    client_http.ramet_call_free(c);
    pairs_free(&kept);
    pairs_free(&fresh);
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
    received h = {0};
    client_events events = {.event = on_event, .arg = &h};
    ramet_page page;
    ramet_call *c = client_http.ramet_call_new(t->remote, "ann", "bench");
    char *session = session_make(c);
    if (client_message(c, session, "messages", "{\"text\":\"go on\",\"agent\":\"crowd\"}",
                       &events) != RAMET_OK)
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
    for (int i = 0; i < CROWD_WORDS; i++)
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
               took, (FIRST_US + CROWD_WORDS * EACH_US) / 1000);
    free(list);
}

void case_turns(bench *b)
{
    static const char *const names[] = {"kept", "new", "crowd"};
    char settings[3][160];
    const char *more[16] = {"--turns", "256"};
    ramet *remote;
    ramet_error err;
    signal(SIGPIPE, SIG_IGN);
    child model = child_fork(model_main);
    for (size_t i = 0; i < 3; i++) {
        snprintf(settings[i], sizeof settings[i], "%s=openai,url=http://127.0.0.1:%d/%s/v1,model=m",
                 names[i], model.port, names[i]);
        more[2 + 2 * i] = "--agent";
        more[3 + 2 * i] = settings[i];
    }
    child server = child_serve(b, "turns.db", more);
    if (client_open(child_url(&server, ""), NULL, &remote, &err) != RAMET_OK)
        bench_die("%s", err.message);
    stream_rows(b, &model, remote);
    crowd_row(b, remote);
    client_http.ramet_close(remote);
    child_end(&server);
    child_end(&model);
    file_remove(scratch_path(b, "turns.db"));
    file_remove(scratch_path(b, "turns.disk"));
}
