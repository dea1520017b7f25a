/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how A2A clients identify themselves: at /a2a like those of the native API, at
 * kagent's path (/api/a2a) like kagent's own.
 */
#include "face/a2a/a2a_face.h"

const identity_rule a2a_identity = {
    .local_order = {USER_FROM_BEARER, USER_FROM_QUERY, USER_FROM_HEADER, USER_FROM_SETTING},
};

const identity_rule a2a_kagent_identity = {
    .local_order = {USER_FROM_QUERY, USER_FROM_HEADER, USER_FROM_BEARER, USER_FROM_SETTING},
    .share_header = "X-Share-Token",
    .agent_header = "X-Agent-Name",
};
