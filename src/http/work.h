/* SPDX-License-Identifier: Apache-2.0
 *
 * work.h: classifies a request for the thread pool that requests share (runtime/pool.h).
 */
#ifndef HTTP_WORK_H
#define HTTP_WORK_H

#include "runtime/pool.h"
#include "http/request.h"
#include "runtime/config.h"

/* `admitted`: its user is known, or it needs none. */
work_kind work_of(const request *q, bool admitted);
/* The user or, while that is unknown, the address the request came from. */
const char *work_client(request *q);

/* The number of read connections to a file. */
int work_readers(const server_config *cfg);
/* The number of read connections to the store at that place: a database keeps a quarter of its
 * connections from reads. */
int work_store_readers(const server_config *cfg, const char *where);

#endif
