/* SPDX-License-Identifier: Apache-2.0
 *
 * memory.h: settings of the allocator for a program that runs for months: the number of its arenas,
 * and when free memory is returned to the system.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdint.h>

/* Call it before the first thread starts. Bounds the number of arenas, each of which retains what
 * its threads have freed, and lets large blocks be returned to the system as soon as they are
 * freed. */
void memory_setup(void);
/* Returns free memory to the system. Takes some milliseconds, and every arena's lock in turn. */
void memory_trim(void);
int64_t memory_resident(void); /* bytes; 0: not known */

#endif
