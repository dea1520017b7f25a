/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h: the allocator of a program that runs for months: how many arenas it may have, and when
 * free memory goes back to the system.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Before the first thread. Bounds the arenas, each of which keeps what its threads have freed, and
 * lets large blocks go back to the system as soon as they are freed. */
void memory_setup(void);
/* Gives free memory back. Takes some milliseconds, and every arena's lock in turn. */
void memory_trim(void);
int64_t memory_resident(void); /* bytes; 0: not known */

#endif
