/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h: which process has something in its hands, and whether it still lives.
 *
 * A host is "BOOT/PID/START": the boot of the machine, the process, and when it was started.
 */
#ifndef BASE_HOST_H
#define BASE_HOST_H

enum { HOST_TEXT = 128 };

/* HOST_ELSEWHERE: of another boot, or another machine. HOST_UNKNOWN: a name of another form. */
typedef enum { HOST_ALIVE, HOST_DEAD, HOST_ELSEWHERE, HOST_UNKNOWN } host_life;

/* This process. */
void host_name(char out[HOST_TEXT]);
host_life host_look(const char *host);

#endif
