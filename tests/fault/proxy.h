/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.h: stands between the store and PostgreSQL, counts what passes and cuts a connection in the
 * middle of it.
 */
#ifndef FAULT_PROXY_H
#define FAULT_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct proxy proxy;

typedef enum { PROXY_UP, PROXY_DOWN } proxy_way; /* to the server, from it */

/* A proxy before the server of a URL, which must be one of a socket in a folder. */
proxy *proxy_new(const char *url);
void proxy_free(proxy *p);
/* The URL with the proxy in place of the server. */
void proxy_url(const proxy *p, const char *url, char *out, size_t size);

/* Bytes that passed since the last proxy_arm() or proxy_disarm(). */
int64_t proxy_bytes(proxy *p, proxy_way way);
/* The connection through which byte n + 1 would pass that way is closed on both sides instead. */
void proxy_arm(proxy *p, proxy_way way, int64_t n);
/* From now on nothing is cut; whether something was. */
bool proxy_disarm(proxy *p);
/* Closes all connections. */
void proxy_drop(proxy *p);
/* From now on, a connection on which the server has sent `text` (a constant) is cut after at most
 * `most` more bytes to the server; how many is random. NULL: none is. */
void proxy_cut_after(proxy *p, const char *text, int most);
/* Connections that proxy_cut_after() has cut so far. */
int64_t proxy_cuts(proxy *p);

#endif
