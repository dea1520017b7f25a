/* SPDX-License-Identifier: Apache-2.0
 *
 * request_log.h: writes a log line for a request.
 */
#ifndef SERVER_REQUEST_LOG_H
#define SERVER_REQUEST_LOG_H

#include "http/request.h"
#include "runtime/config.h"

void request_log_setup(const server_config *cfg);
/* Logs the request if every request is logged, if it was slow, or if the server failed. */
void log_request(const request *q, int64_t sent, int64_t us);

#endif
