/* SPDX-License-Identifier: Apache-2.0
 *
 * adk.h: the rules that ADK, as its owner, imposes on the adk log.
 */
#ifndef CORE_EXT_ADK_H
#define CORE_EXT_ADK_H

#include "ramet.h"

void adk_register(ramet *r);

#endif
