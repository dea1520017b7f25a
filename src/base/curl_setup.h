/* SPDX-License-Identifier: Apache-2.0
 *
 * curl_setup.h: what every request by libcurl has in common.
 *
 * These functions are inline because base is a part of libramet, which is not linked with libcurl.
 */
#ifndef BASE_CURL_SETUP_H
#define BASE_CURL_SETUP_H

#include "base/buf.h"

#include <curl/curl.h>

/* A write function for a `buf`: a body over its limit ends the transfer with CURLE_WRITE_ERROR. */
static inline size_t curl_into_buf(char *p, size_t size, size_t n, void *out)
{
    buf *b = out;
    buf_add(b, p, size * n);
    return b->over ? 0 : size * n;
}

/* Safe defaults for a new or reset handle: HTTP alone, no redirects, no signals (they are not for
 * programs with threads), and limits in time. 0: curl's own limit for connecting, which is five
 * minutes, and none for the whole. `sink` gets the body. */
static inline void curl_setup(CURL *h, const char *url, long connect_ms, long whole_ms,
                              curl_write_callback sink, void *arg)
{
    curl_easy_setopt(h, CURLOPT_URL, url);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, whole_ms);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, sink);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, arg);
}

#endif
