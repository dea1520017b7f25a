/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/nodes.h: several servers on one database: messages between nodes, liveness, jobs that one
 * node does for all, shared secrets.
 */
#ifndef RAMET_NODES_H
#define RAMET_NODES_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file is not shared: there are no other nodes, every job is this process's own, heartbeats are
 * not needed, and secrets are not stored. For the embedding program. */

RAMET_API bool ramet_shared(ramet *r);
/* Publishes a text (UTF-8, up to 64 MiB) to all other nodes that subscribe (ramet_hear()): in
 * order, once, not stored. Never blocks. */
RAMET_API void ramet_tell(ramet *r, const char *text, size_t n);
/* Waits until everything published so far is sent, at most `ms`, and not while it cannot be sent.
 * Another node receives it before its ramet_hear_upto() of anything committed later returns. */
RAMET_API void ramet_tell_settle(ramet *r, int ms);
/* Subscribes to what other nodes publish. text NULL: some texts may have been missed (the first
 * call says so). `heard` is called on a thread of the library; it must not block, nor call the
 * library. heard NULL ends the subscription; no callback is running when it returns. False: nothing
 * can be received (a file; pgbouncer without options.direct). */
typedef void (*ramet_heard)(void *arg, const char *text, size_t n);
RAMET_API bool ramet_hear(ramet *r, ramet_heard heard, void *arg);
/* Waits until `heard` was called with everything that was sent before the event of that number was
 * committed, at most `ms`, and not while nothing can be received. */
RAMET_API void ramet_hear_upto(ramet *r, int64_t event, int ms);
/* Heartbeat of a node, under the name that its turns have as host; call it every 3 seconds. Gives
 * the nodes that are alive, this one included: those with a heartbeat in the last 15 seconds by the
 * clock of the database. */
RAMET_API ramet_status ramet_node_beat(ramet_call *c, const char *host, const char *const **out,
                                       size_t *n);
RAMET_API void ramet_node_leave(ramet *r, const char *host);
/* Whether this process should do a job that one node does for all: no other one does it until
 * ramet_job_end(), and none did in the last every_us. `job` must live until then. */
RAMET_API bool ramet_job_begin(ramet *r, const char *job, int64_t every_us);
RAMET_API void ramet_job_end(ramet *r, const char *job);
/* A secret of that name shared by all nodes; the first call makes it. *kept false: there is none.
 */
RAMET_API ramet_status ramet_secret(ramet_call *c, const char *name, uint8_t out[32], bool *kept);
/* The same, also for a store in a file: for what must be readable after a restart. A reader of the
 * store gets it, too. */
RAMET_API ramet_status ramet_secret_keep(ramet_call *c, const char *name, uint8_t out[32]);
/* What stands for the store where several stores leave marks, in 32 hex digits; the first call
 * makes it. For the embedding program alone. */
RAMET_API ramet_status ramet_store_id(ramet_call *c, char out[33]);

#ifdef __cplusplus
}
#endif
#endif
