/* SPDX-License-Identifier: Apache-2.0
 *
 * adk.h: ADK as the owner of the adk log.
 */
#ifndef CORE_EXT_ADK_H
#define CORE_EXT_ADK_H

#include "ramet.h"

void adk_register(ramet *r);

#endif
