/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how AgentPod's clients identify themselves. Where they cannot send headers
 * (EventSource), they send the token in the query.
 */
#include "face/agentpod/agentpod.h"

const identity_rule agentpod_identity = {
    .local_order = {USER_FROM_BEARER, USER_FROM_QUERY, USER_FROM_HEADER, USER_FROM_SETTING},
    .token_parameter = "token",
};
