/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests from a benchmark to a server, one at a time over one connection.
 */
#include "bench/ask.h"

#include "bench/suite.h"

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    buf_add(arg, p, size * n);
    return size * n;
}

asker ask_new(const char *header)
{
    asker a = {.curl = curl_easy_init()};
    a.headers = curl_slist_append(NULL, "Content-Type: application/json");
    a.headers = curl_slist_append(a.headers, header);
    a.headers = curl_slist_append(a.headers, "Expect:"); /* send large bodies without waiting */
    buf_init(&a.answer, (size_t)1 << 30);
    return a;
}

void ask_free(asker *a)
{
    curl_slist_free_all(a->headers);
    curl_easy_cleanup(a->curl);
    buf_release(&a->answer);
}

void bench_ask(asker *a, const char *url, const char *body, size_t n, long want)
{
    long status = 0;
    buf_clear(&a->answer);
    curl_easy_setopt(a->curl, CURLOPT_URL, url);
    curl_easy_setopt(a->curl, CURLOPT_HTTPHEADER, a->headers);
    if (body) {
        curl_easy_setopt(a->curl, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(a->curl, CURLOPT_POSTFIELDSIZE, (long)n);
    } else {
        curl_easy_setopt(a->curl, CURLOPT_HTTPGET, 1L);
    }
    curl_easy_setopt(a->curl, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(a->curl, CURLOPT_WRITEDATA, &a->answer);
    if (curl_easy_perform(a->curl) != CURLE_OK ||
        curl_easy_getinfo(a->curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK || status != want)
        bench_die("%s: %ld %.200s", url, status, a->answer.n ? a->answer.data : "");
}
