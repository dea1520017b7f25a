/* SPDX-License-Identifier: Apache-2.0
 *
 * task.h: tasks as an extension of append, which puts one in its own commit.
 */
#ifndef CORE_EXT_TASK_H
#define CORE_EXT_TASK_H

#include "ramet.h"

void task_register(ramet *r);

#endif
