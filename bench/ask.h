/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.h: requests to a server that a benchmark has started.
 */
#ifndef BENCH_ASK_H
#define BENCH_ASK_H

#include "base/buf.h"

#include <curl/curl.h>

typedef struct asker {
    CURL *curl;
    struct curl_slist *headers;
    buf answer; /* to the last request */
} asker;

/* `header` identifies the user. */
asker ask_new(const char *header);
void ask_free(asker *a);
/* Sends a POST with a body, or a GET when the body is NULL. Ends the process unless the response
 * has the status `want`. */
void bench_ask(asker *a, const char *url, const char *body, size_t n, long want);

#endif
