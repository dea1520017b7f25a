/* SPDX-License-Identifier: Apache-2.0
 *
 * work.h: what a request is to the threads that it shares with others (runtime/pool.h).
 */
#ifndef HTTP_WORK_H
#define HTTP_WORK_H

#include "runtime/pool.h"
#include "http/request.h"
#include "runtime/config.h"

/* `admitted`: its user is known, or it needs none. */
work_kind work_of(const request *q, bool admitted);
/* The user, or, while that is not known, the address that the request came from. */
const char *work_client(request *q);

/* Read connections to a file. */
int work_readers(const server_config *cfg);
/* The same to the store at that place: a database keeps a quarter of its connections from reads. */
int work_store_readers(const server_config *cfg, const char *where);

#endif
