/* SPDX-License-Identifier: Apache-2.0
 *
 * lockstep.h: stands between the store and PostgreSQL and ends a connection at a chosen exchange.
 *
 * An exchange ends with a Sync or a simple query of the client, and is answered up to the server's
 * ReadyForQuery. The proxy passes one exchange at a time: what the client has sent behind it
 * reaches the server only when the client has the whole answer. So it is certain what the server
 * has seen and what it has not when a connection is cut, however the two sides run.
 */
#ifndef TESTS_LIB_LOCKSTEP_H
#define TESTS_LIB_LOCKSTEP_H

#include <stddef.h>

typedef struct lockstep lockstep;

/* Before the server of a URL, which must be one of a socket in a folder. `dir` must be there, and
 * is the caller's. One connection at a time; others wait. Ends the process with a message when it
 * cannot. */
lockstep *lockstep_new(const char *url, const char *dir);
/* All connections must be closed. */
void lockstep_free(lockstep *l);
/* The URL with the proxy in place of the server. */
void lockstep_url(const lockstep *l, const char *url, char *out, size_t size);

/* From now on `exchanges` more are answered; then the connection is cut on both sides. Below 0: no
 * limit. The connection must be idle. */
void lockstep_cut_after(lockstep *l, int exchanges);
/* Exchanges that were answered since. */
int lockstep_answered(lockstep *l);

#endif
