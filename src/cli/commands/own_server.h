/* SPDX-License-Identifier: Apache-2.0
 *
 * own_server.h: a server that runs as long as a command needs it.
 */
#ifndef CLI_COMMANDS_OWN_SERVER_H
#define CLI_COMMANDS_OWN_SERVER_H

#include <stdbool.h>

#define ATTEND_URL 128

/* Starts `ramet serve` on a free port of this machine; false if it did not start. db and config may
 * be NULL. One at a time. */
bool attend_start(const char *db, const char *config, char url[ATTEND_URL]);
void attend_end(void); /* stops it, and waits for it */

#endif
