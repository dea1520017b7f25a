/* SPDX-License-Identifier: Apache-2.0
 *
 * work.h: what a request is to the threads that it shares with others (server/pool.h).
 */
#ifndef SERVER_WORK_H
#define SERVER_WORK_H

#include "server/pool.h"
#include "server/server.h"

/* `admitted`: its user is known, or it needs none. */
work_kind work_of(const face_req *q, bool admitted);
/* The user, or, while that is not known, the address that the request came from. */
const char *work_client(face_req *q);

/* Read connections to a file. */
int work_readers(const server_config *cfg);
/* The same to the store at that place: a database keeps a quarter of its connections from reads. */
int work_store_readers(const server_config *cfg, const char *where);

#endif
