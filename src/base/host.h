/* SPDX-License-Identifier: Apache-2.0
 *
 * host.h: names of processes, which record the process that owns something, and a test of whether
 * that process is still alive.
 *
 * A host is "BOOT/PID/START": the boot id of the machine, the process id, and when it was started.
 */
#ifndef BASE_HOST_H
#define BASE_HOST_H

enum { HOST_TEXT = 128 };

/* HOST_ELSEWHERE: another boot, or another machine. HOST_UNKNOWN: a name of another form. */
typedef enum { HOST_ALIVE, HOST_DEAD, HOST_ELSEWHERE, HOST_UNKNOWN } host_life;

/* The name of this process. */
void host_name(char out[HOST_TEXT]);
host_life host_look(const char *host);

#endif
