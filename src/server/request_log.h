/* SPDX-License-Identifier: Apache-2.0
 *
 * request_log.h: a line of the log for a request.
 */
#ifndef SERVER_REQUEST_LOG_H
#define SERVER_REQUEST_LOG_H

#include "http/request.h"
#include "runtime/config.h"

void request_log_setup(const server_config *cfg);
/* A line when every request is logged, when this one was slow, or when the server failed. */
void log_request(const request *q, int64_t sent, int64_t us);

#endif
