/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h: tasks as an extension of append, which stores one in the same commit.
 */
#ifndef CORE_EXT_TASK_H
#define CORE_EXT_TASK_H

#include "ramet.h"

void task_register(ramet *r);

#endif
