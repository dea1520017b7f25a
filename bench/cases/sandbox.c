/* SPDX-License-Identifier: Apache-2.0
 *
 * The sandbox benchmark: AgentPod's list and statistics of a sandbox with many forks, over HTTP.
 */
#include "bench/suite.h"

#include "bench/child.h"
#include "ramet/sandboxes.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#define FORKS 10000
#define BAR_MS 50.0

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    buf_add(arg, p, size * n);
    return size * n;
}

/* Forks the root, and forks of it, ten deep; two tags each. */
static void sandbox_fill(ramet_call *c, int forks)
{
    static char last[64];
    ramet_session *s;
    must(c, ramet_sandbox_add(c, &(ramet_sandbox_in){.id = "bench"}, NULL), "add");
    must(c, ramet_session_create(c, &(ramet_session_in){.id = "root", .sandbox = "bench"}, &s),
         "create");
    words w = {21};
    scratch_load(c, "root", 20, &w);
    for (int i = 0; i < forks; i++) {
        char tag[16];
        snprintf(tag, sizeof tag, "tag-%d", i % 30);
        const char *tags[] = {"experiment", tag};
        ramet_fork_in in = {
            .tags = tags, .n_tags = 2, .reason = "another way", .type = (ramet_fork_type)(i % 3)};
        must(c, ramet_fork(c, i % 10 ? last : "root", &in, &s, NULL), "fork");
        snprintf(last, sizeof last, "%s", s->id);
        ramet_call_reset(c);
    }
}

static void get(CURL *curl, const char *url, buf *answer, const char *has)
{
    long status = 0;
    buf_clear(answer);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    if (curl_easy_perform(curl) != CURLE_OK ||
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status != 200 ||
        !strstr(answer->data, has))
        bench_die("GET %s: %ld %.200s", url, status, answer->data);
}

static void row(bench *b, const char *name, const char *what, sample *s, size_t bytes)
{
    report_row(b, name, what, sample_at(s, 0.5) / 1e3, "ms", BAR_MOST, BAR_MS,
               "p99 %.1f ms, %zu bytes", sample_at(s, 0.99) / 1e3, bytes);
    sample_free(s);
}

void case_sandbox(bench *b)
{
    sample list = {0}, numbers = {0};
    int forks = b->quick ? 1000 : FORKS;
    char has[48];
    buf answer;
    ramet *store = scratch_open(b, "sandbox.db");
    ramet_call *c = scratch_call(store);
    bench_note("a sandbox with %d forks", forks);
    sandbox_fill(c, forks);
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, "sandbox.db", NULL);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(NULL, "X-User-Id: ann");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    buf_init(&answer, (size_t)1 << 30);
    snprintf(has, sizeof has, "\"forkedSessions\":%d", forks);
    size_t bytes = 0;
    for (int i = 0; i < (b->quick ? 5 : 50); i++) {
        double start = now_us();
        get(curl, child_url(&server, "/api/v2/sandboxes/bench/forks"), &answer, "rootSessions");
        sample_add(&list, now_us() - start);
        bytes = answer.n;
        start = now_us();
        get(curl, child_url(&server, "/api/v2/sandboxes/bench/forks/statistics"), &answer, has);
        sample_add(&numbers, now_us() - start);
    }
    row(b, "sandbox_list", "GET …/forks of a sandbox with 10,000 forks, p50", &list, bytes);
    row(b, "sandbox_statistics", "GET …/forks/statistics of the same, p50", &numbers, answer.n);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    buf_release(&answer);
    child_end(&server);
    file_remove(scratch_path(b, "sandbox.db"));
}
