/* SPDX-License-Identifier: Apache-2.0
 *
 * log.h: writes log lines to standard error, as logfmt or JSON, one write() each.
 */
#ifndef RUNTIME_LOG_H
#define RUNTIME_LOG_H

#include "base/buf.h"
#include "runtime/config.h"

typedef enum { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG } log_level;
void log_setup(const server_config *cfg);
/* Writes one line: time, level, message, then pairs of name and value, ending with NULL. */
void log_line(log_level level, const char *message, ...) __attribute__((sentinel));

/* The parts of a line, for lines that are not made of fixed pairs. */
bool log_wants(log_level level);
void log_begin(buf *out, log_level level, const char *message);
void log_pair(buf *out, const char *name, const char *value);
void log_end(buf *out); /* writes the line and releases the buffer */

#endif
